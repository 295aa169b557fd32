"""The extractor of events: preferences stated as data, and tools used again and again. No model. Pure.

    event `preference.stated`, data {"key": "notification_method", "value": "email", "polarity": "positive"}
    experience with structured {"preference.stated": {…}}, or a list of these
    experience of an actor tool(name); structured {"success": false} where it failed

A tool that was used 3 times within 30 days, with success in more than 7 of 10, is preferred (ADR-0013 §6): strength
.3 + uses ÷ 20, at most .9. It is noted when that becomes so, and at 6 and 12 uses: a busy tool doesn't fill the log.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

from braid.learn.candidate import Candidate, Category, Evidence, Maker
from braid.learn.gates.outcome import Sensitivity, kinds_of
from braid.learn.reading import made_of, reading
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim, Confidence, Draft, EventBody, ExperienceBody, Record, is_reading
from braid.stance.readings import certainty
from braid.stance.relations import name_of

MAKER: Final = Maker("events", "1")
STATED: Final = ("preference.stated", "user.preference.stated")
"""The names of the event, and of the member of an experience's structured content."""
USES: Final = (3, 6, 12)
SUCCESS: Final = 0.7
WINDOW: Final = timedelta(days=30)
MOST_STATED: Final = 50
"""So many preferences of one record are taken."""


class StatedPreference(msgspec.Struct, frozen=True):
    """A preference as an application states it."""

    value: str
    key: str | None = None
    category: Category | None = None
    polarity: Literal["positive", "negative", "neutral"] = "positive"
    strength: float | None = None
    subject: str | None = None
    context: str | None = None


class Found(NamedTuple):
    """What an event states, and the turn that it is judged by: its data as text, or what was counted."""

    candidate: Candidate
    turn: Turn


def stated(record: Record) -> Iterator[Found]:
    """Yield the preferences that a record states as data; nothing for what has no such form. Never of an agent's."""
    for given in _given(record)[:MOST_STATED]:
        try:
            found = msgspec.convert(given, StatedPreference)
        except (msgspec.ValidationError, RecursionError):
            continue
        if not found.value.strip() or found.polarity == "neutral":
            continue
        subject = found.subject or _subject(record)
        details = {"category": found.category, "key": found.key, "context": found.context}
        if found.strength is not None:
            details["strength"] = f"{found.strength:g}"
        rel = "prefers" if found.polarity == "positive" else "dislikes"
        yield _found(record, subject, rel, found.value, found, details=details)


def _given(record: Record) -> list[Any]:
    body = record.body
    if isinstance(body, EventBody):
        return [body.data] if body.name in STATED else []
    if not isinstance(body, ExperienceBody) or body.provenance.actor == "agent" or is_reading(body):
        return []
    held: list[Any] = []
    for name in STATED:
        said = body.content.structured.get(name)
        held += cast("list[object]", said) if isinstance(said, list) else [] if said is None else [said]
    return held


def _found(
    record: Record,
    subject: str,
    rel: str,
    object: str,
    said: StatedPreference,
    *,
    details: Mapping[str, str | None],
    source: Literal["explicit", "implicit_unintentional"] = "explicit",
    told: str | None = None,
) -> Found:
    """Return a candidate, and a turn that says it: what is data has no words of its own to be quoted."""
    text = told or f"{subject} {rel.replace('_', ' ')} {object}"
    claim = Claim(
        subject=subject,
        rel=rel,
        object=object,
        source_type=source,
        quote=text,
        at=0,
        type="preference",
        details={name: value for name, value in details.items() if value},
    )
    candidate = Candidate(
        claim=claim,
        type="preference",
        evidence=Evidence(record.index, 0, text),
        maker=MAKER,
        confidence=certainty(claim).p,
        category=said.category,
        key=said.key,
        strength=said.strength,
    )
    return Found(candidate, Turn(text, speaker=subject, when=_when(record), at=record.index))


def _subject(record: Record) -> str:
    body = record.body
    if isinstance(body, ExperienceBody) and body.provenance.actor == "user" and body.provenance.name:
        return body.provenance.name
    return (body.scope.user_id if body.scope else None) or "user"


def _when(record: Record) -> Any:
    return record.body.occurred_at or record.created_at


# -- use ------------------------------------------------------------------------------------------


def tool_of(record: Record) -> str | None:
    """Return the tool that a record is a use of; None for anything else."""
    body = record.body if record.kind == "experience" and record.raw is not None else None
    if not isinstance(body, ExperienceBody) or not body.provenance.actor.startswith("tool("):
        return None
    name = body.provenance.actor[5:-1].strip()
    return name if name and name != "tool" else None


def used(record: Record, earlier: Iterable[Record]) -> Found | None:
    """Return that a tool is preferred, where this use makes it so, or is the sixth or twelfth of 30 days.

    `earlier`: the uses of the same tool, within the same scope, before it.
    """
    tool = tool_of(record)
    if tool is None:
        return None
    window = [one for one in (*earlier, record) if _when(record) - WINDOW <= _when(one) <= _when(record)]
    uses = len(window)
    if not _is_preferred(window) or (uses not in USES and _is_preferred(window[:-1])):
        return None
    strength = round(min(0.9, 0.3 + uses / 20), 4)
    said = StatedPreference(
        value=tool, key=f"tool_usage_{name_of(tool)}"[:80], category="tool", strength=strength
    )
    details = {"category": "tool", "key": said.key, "strength": f"{strength:g}", "uses": str(uses)}
    subject = (record.body.scope.user_id if record.body.scope else None) or "user"
    told = f"{tool}: used {uses} times in {WINDOW.days} days"
    return _found(
        record, subject, "uses", tool, said, details=details, source="implicit_unintentional", told=told
    )


def _is_preferred(uses: Sequence[Record]) -> bool:
    return len(uses) >= USES[0] and sum(map(_succeeded, uses)) / len(uses) > SUCCESS


def _succeeded(record: Record) -> bool:
    """Whether a use went well: what says nothing of it did."""
    structured = cast("ExperienceBody", record.body).content.structured
    failed = structured.get("success") is False or structured.get("is_error") is True
    return not (failed or bool(structured.get("error")))


# -- records --------------------------------------------------------------------------------------


def draft(
    parent: Record, claims: Sequence[Claim], evidence: Iterable[str] = (), kinds: Sensitivity = frozenset()
) -> Draft:
    """Return the reading of what a record states as data; claims quote nothing, for there are no words."""
    bare = [msgspec.structs.replace(claim, quote=None, at=None) for claim in claims]
    sure: Confidence = min(map(certainty, bare), key=lambda one: one.p)
    return reading(made_of(MAKER, kinds), parent, bare, sure, evidence=evidence)


def rederive(record: Record, read: Callable[[int], Record]) -> Draft:
    """Return the reading that the records which `record` names give: each claim of it is found in them again."""
    parent = read(record.targets("parent")[0].index)
    evidence = record.targets("evidence")
    earlier = [read(link.index) for link in evidence]
    found = list(stated(parent))
    if (use := used(parent, earlier)) is not None:
        found.append(use)
    body = cast("ExperienceBody", record.body)
    held = body.symbolic
    claims = [claim for one in found if (claim := _as_held(one.candidate.claim, held)) is not None]
    if not claims:
        raise ValueError(f"{parent.id} states nothing of it")
    return draft(parent, claims, [link.id for link in evidence], kinds_of(body.provenance.method))


def _as_held(claim: Claim, held: Sequence[Claim]) -> Claim | None:
    """Return a claim with the level of privacy that the gates gave it; None where they let it not pass."""
    bare = msgspec.structs.replace(claim, quote=None, at=None)
    for one in held:
        details = {name: value for name, value in one.details.items() if name != "privacy"}
        if msgspec.structs.replace(one, details=details) == bare:
            return one
    return None
