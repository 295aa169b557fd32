"""What is held of a question: read by rules, or else by what recall finds; its claims gathered, and reconciled."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from braid.gathering import Holder, Known
from braid.ledger import asof
from braid.ledger.record import Asks, Scope
from braid.recall.decompose import decompose
from braid.recall.times import Span
from braid.stance.claims import ALWAYS, FOREVER, Said, relevant
from braid.stance.question import SPEAKER, Reading, readings
from braid.stance.reconcile import Outcome, reconcile
from braid.stance.relations import compared_as
from braid.stance.values import telling

HITS: Final = 12
"""How many records recall brings where the rules can't read a question."""


def size_of(store: Holder, as_of: int | datetime | None) -> int | None:
    """Return the size of the log that is meant, None for the present one."""
    return None if as_of is None else asof.size_at(store.reader, as_of)


def weigh(
    store: Holder,
    question: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
) -> tuple[Outcome, int | None]:
    """Return what the log lets hold of a question, and the size of the past log that was asked; nothing is appended.

    The time asked about is `at`, else what the question says ("before September"), else now, or the end of that past.
    Raises ValueError and TypeError for what can't be meant.
    """
    _refuse_empty(question)
    if at is not None:
        asof.zoned(at)
    store.reader.need_vault()
    size = size_of(store, as_of)
    known = Known(store, scope, size)
    now = store.now() if size is None else datetime.fromisoformat(store.reader.envelope(size - 1).created_at)
    asked = at or instant_of(question, now)
    found = list(readings(question))
    for reading in found:
        asks = _asks(reading, known, asked or now, dated=asked is not None)
        claims = _in_time(question, now, asks, known.claims(known.named(asks)))
        if bearing := relevant(claims, asks):
            return _reconciled(question, asks, bearing, claims, known), size
    guessed = None if found else _by_recall(store, question, known, asked, now)
    if guessed is not None:
        claims = _in_time(question, now, guessed, known.claims(known.named(guessed)))
        return _reconciled(question, guessed, relevant(claims, guessed), claims, known), size
    if found:
        asks = _asks(found[0], known, asked or now, dated=asked is not None)
    else:
        asks = Asks(subjects=[], rels=[], at=(asked or now).astimezone(UTC), dated=asked is not None)
    return reconcile(question, asks, [], []), size


def _refuse_empty(question: object) -> None:
    if not isinstance(question, str) or not question.strip():
        raise ValueError("a question is text that isn't empty")


def _reconciled(
    question: str, asks: Asks, bearing: Sequence[Said], claims: Sequence[Said], known: Known
) -> Outcome:
    return reconcile(question, asks, claims, known.sources({said.index for said in bearing}))


def _asks(reading: Reading, known: Known, at: datetime, *, dated: bool) -> Asks:
    subjects = [reading.subject]
    if reading.subject == SPEAKER or reading.subject.startswith(f"{SPEAKER}'s "):
        subjects += [reading.subject.replace(SPEAKER, name, 1) for name in known.speakers()]
    return Asks(
        subjects=subjects,
        rels=list(reading.rels),
        object=reading.object,
        at=at.astimezone(UTC),
        dated=dated,
        wants=reading.wants,
    )


def instant_of(question: str, now: datetime) -> datetime | None:
    """Return the instant that a question asks about, None for the present: the end of the time that it names."""
    span: Span | None = decompose(question, now).time
    if span is None or span.until is None:
        return None
    end = span.until - timedelta(microseconds=1)
    if end <= now:
        return end
    return span.since if span.since is not None and span.since > now else None


_AHEAD: Final = re.compile(
    r"when (?:is|are|will|'s)\b.*\b(?:plan|going|will|hosting|leav|mov|visit|start|mak|attend)", re.IGNORECASE
)


def _in_time(question: str, now: datetime, asks: Asks, claims: list[Said]) -> list[Said]:
    """Return the claims that a question for a time may mean: "in June" only what was so in June, "when is he going …"
    only what lay ahead when it was said. Any other question takes all: its instant is `asks.at`.
    """
    if asks.wants != "time":
        return claims
    if _AHEAD.match(question):
        claims = [said for said in claims if said.since > said.said]
    span = decompose(question, now).time
    if span is None:
        return claims
    since, until = span.since or ALWAYS, span.until or FOREVER
    return [said for said in claims if since <= said.since < until]


def _by_recall(
    store: Holder, question: str, known: Known, asked: datetime | None, now: datetime
) -> Asks | None:
    """Return what a question that no rule reads asks for, by the claims of recall's hits and what was drawn of them.

    Of the subjects and relations that these speak of, it is that one whose claim shares most words with the question.
    """
    scope = msgspec.structs.asdict(known.scope) if known.scope else {}
    past = {} if known.size == store.reader.size else {"as_of": known.size - 1}
    hits = store.answer(question, top_k=HITS, **scope, **past).results
    words = telling(question)
    best: tuple[float, Said] | None = None
    for place, hit in enumerate(hits):
        drawn = [child for child, _, role in store.views.catalog.children(hit.index) if role == "parent"]
        for said in known.claims((hit.index, *drawn)):
            shared = len(words & telling(f"{said.text} {said.claim.quote or ''}"))
            score = shared + 1 / (2 + place)
            if shared > 1 and (best is None or score > best[0]):
                best = (score, said)
    if best is None:
        return None
    claim = best[1].claim
    intent = decompose(question, now).intent
    if intent in ("duration", "count", "reason", "manner"):  # what a claim's object can't answer
        return None
    timed, check = intent == "time", intent == "check"
    return Asks(
        subjects=[claim.subject],
        rels=[] if timed else [compared_as(claim.rel).name],
        object=question if timed else claim.object if check else None,
        at=(asked or now).astimezone(UTC),
        dated=asked is not None,
        wants="time" if timed else "check" if check else "object",
    )
