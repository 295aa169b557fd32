"""Entries to look at: what was said, by whom, one day after the other; and strategies that make them up."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import strategies as st

from braid.ledger.record.record import Claim
from braid.lenses.entry import Entry
from braid.lenses.form import Form, joined, raw
from braid.lenses.lens import Lens
from braid.stance.claims import FOREVER, RecordedClaim

BEGUN = datetime(2025, 3, 3, 9, tzinfo=UTC)


def entry(place: int, text: str, who: str = "Maya", **given: Any) -> Entry:
    """Return what somebody said, on the place-th day."""
    at = BEGUN + timedelta(days=place)
    fields: dict[str, Any] = {"type": "occurrence", "actor": "user", "at": at, "created_at": at}
    return Entry(place=place, text=text, who=who, **(fields | given))


def claiming(place: int, *claims: Claim) -> Entry:
    """Return a record that makes claims."""
    made = entry(place, "; ".join(f"{one.subject} {one.rel} {one.object}" for one in claims), claims=claims)
    said = tuple(
        RecordedClaim(
            index=place, k=k, id=f"place {place}", claim=claim, known=made.at, said=made.at, since=made.at,
            until=FOREVER, tx=place, p=None,
        )
        for k, claim in enumerate(claims)
    )  # fmt: skip
    return msgspec.structs.replace(made, said=said)


def look(lens: Lens, entries: list[Entry], **params: Any) -> Form:
    """Return a lens's view of all entries at once."""
    return lens.fold(raw(range(len(entries))), entries, {**lens.params, **params})


def look_in_pieces(lens: Lens, entries: list[Entry], cuts: list[int]) -> Form:
    """Return a lens's view made piece by piece."""
    form, start = Form(), 0
    for end in [*sorted(cuts), len(entries)]:
        piece = entries[start:end]
        form = lens.fold(joined(form, raw(range(start, end))), piece, lens.params)
        start = end
    return form


_PHRASES = (
    "I moved to Porto on 17 May because the rent in Leeds was too high.",
    "The rent in Leeds was too high, so we looked for a flat in Porto.",
    "I love green tea.",
    "I don't like green tea any more.",
    "You must never call Duarte before nine.",
    "From now on, send the invoices to Ana Moreira.",
    "Yesterday Duarte built a cot for the baby.",
    "What is the cat called?",
    "ok",
    "```python\nnever = always\n```",
    "Ana Moreira and Duarte went to Ghent last week, which is why the flat was empty.",
    "My favourite colour is blue. I'd rather have coffee than tea.",
    "",
    "Ça va très bien, merci — à demain!",
)
_CLAIMS = st.builds(
    Claim,
    subject=st.sampled_from(("Maya", "Ana", "Ana Moreira")),
    rel=st.sampled_from(("lives_in", "likes", "dislikes", "works_as", "collects")),
    object=st.sampled_from(("Porto", "Leeds", "tea", "stamps", "12")),
    polarity=st.booleans(),
)
texts = st.one_of(
    st.sampled_from(_PHRASES),
    st.lists(st.sampled_from(_PHRASES), min_size=2, max_size=4).map(" ".join),
    st.text(max_size=60),
)


@st.composite
def conversations(draw: st.DrawFn, most: int = 12) -> list[Entry]:
    """Entries of some people, with claims and links now and then."""
    made: list[Entry] = []
    for place in range(draw(st.integers(0, most))):
        claims = draw(st.lists(_CLAIMS, max_size=2))
        links: tuple[tuple[str, int], ...] = ()
        if place and draw(st.booleans()):
            links = ((draw(st.sampled_from(("parent", "evidence"))), draw(st.integers(0, place - 1))),)
        base = claiming(place, *claims) if claims else entry(place, "")
        who = draw(st.sampled_from(("Maya", "Owen")))
        made.append(msgspec.structs.replace(base, text=draw(texts), who=who, links=links))
    return made
