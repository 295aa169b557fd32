"""A briefing: who it is, what they always want, what the last day came to, and what they said lately. Each line is a
memory with its id."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Final, Protocol, cast

from braid.claims.topics import turn_index
from braid.knowledge.briefing_operations import Briefing
from braid.ledger.record.record import ExperienceBody, Record, is_reading
from braid.ledger.record.scope import in_scope
from braid.ledger.record.source import BELIEVED, is_least, voice
from braid.lenses.lens import is_spoken
from braid.lenses.preference import PreferenceLens
from braid.lenses.summary import SummaryLens
from braid.lenses.view import Ground, folded
from braid.log import drafts
from braid.recall.context import framed, memory_line
from braid.search.audience import may_hear
from braid.search.question import Question
from braid.search.retrieval import find
from braid.session import Session
from braid.stance.words import words_of
from braid.text.redact import Redactor
from braid.text.words import normal

_ASKED: Final = (
    "I prefer, like, love, hate, dislike, my favourite, always, never; my name, home, work, family"
)
"""What preferences are said with, and what a person is known by: a question that finds them."""
_CANDIDATES: Final = 60
_TAIL: Final = 800
"""How many of the log's newest records are looked through for what was said lately."""
_STEP: Final = 200
_SPOKEN: Final = 12
"""How many of the newest turns are told."""
_SHARE: Final = 0.35
"""Of the budget, for what is known and for preferences each at most; the rest is for what was said lately."""
_DAYS_SHARE: Final = 0.15
"""Of the budget, for the last day's summary at most."""
_SENTENCES: Final = 3
"""How many sentences stand for a day."""
_Lines = Sequence[str]


class _Line(Protocol):
    def __call__(self, record: Record, text: str, who: str | None = None) -> str: ...


def brief(session: Session, asked: Briefing) -> str:
    """Return the block; empty where there is nothing to tell. See `knowledge.briefing_operations.briefing`."""
    redact = Redactor().redact

    def line(record: Record, text: str, who: str | None = None) -> str:
        return memory_line(record.id, _at(record), who or _voice(session, record), text, redact)

    share = int(_SHARE * asked.budget)
    newest = [one for one in _newest(session, asked) if may_hear(session, one, asked.audience)]
    found = {one.index: one for one in (*_found(session, asked, _ASKED, _CANDIDATES), *newest)}
    records = [found[at] for at in sorted(found)]
    preferences, told = _preferences(records, line)
    spoken = [one for one in newest if one.id not in told and _is_told(one, asked)]
    lately = list(_lately(spoken))
    summary = _summary(spoken, {one.text for one in lately}, session.now(), line)
    parts = [
        ("profile", _profile(records, line), share),
        ("preferences", preferences, share),
        ("last-day", summary, int(_DAYS_SHARE * asked.budget)),
        ("lately", [line(one, one.text) for one in lately], asked.budget),
    ]
    return framed(parts, asked.budget)


def _profile(records: Sequence[Record], line: _Line) -> _Lines:
    """Return what readings claim, newest first, each claim once.

    By what was read, not by stances: those are asked of DuckDB, which would have to catch up first.
    """
    lines: dict[tuple[str, str, str], str] = {}
    for record in sorted(records, key=lambda one: one.index, reverse=True):
        body = record.body
        for claim in body.symbolic if isinstance(body, ExperienceBody) and is_reading(body) else ():
            key = (normal(claim.subject), claim.rel, normal(claim.object))
            if key not in lines:
                lines[key] = line(record, words_of(claim), claim.said_by)
    return list(lines.values())


def _preferences(found: Sequence[Record], line: _Line) -> tuple[_Lines, frozenset[str]]:
    """Return what is preferred, newest first, and the ids of the turns that say so. `found`: oldest first."""
    lens = PreferenceLens()
    records = [one for one in found if lens.takes(one)]  # what was said last holds
    form, _ = folded(lens, Ground(), records, {})
    items = sorted(form.items.values(), key=lambda one: one.places[-1], reverse=True)
    lines, ids = list[str](), set[str]()
    for item in items:
        record = records[item.places[-1]]
        ids.add(record.id)
        lines.append(line(record, item.text))
    return lines, frozenset(ids)


def _summary(spoken: Sequence[Record], shown: AbstractSet[str], now: datetime, line: _Line) -> _Lines:
    """Return the sentences that stand for the last day before today, of what isn't shown in full, in their order.

    Made from what stands now, so nothing has to be made again where a turn is forgotten. `spoken`: newest first;
    `shown`: the texts that are shown. Where those are all of that day, there are none: no older day stands in for it.
    """
    days = [day for one in spoken if (day := _at(one).date()) < now.astimezone(UTC).date()]
    of_day = [one for one in reversed(spoken) if days and _at(one).date() == max(days)]
    records = list({one.text: one for one in of_day if one.text not in shown}.values())
    lens = SummaryLens()
    form, _ = folded(lens, Ground(), records, lens.params)
    best = sorted(lens.order(form), key=lambda key: -form.items[key].data["score"])[:_SENTENCES]
    chosen = [form.items[key] for key in sorted(best)]
    return [line(records[one.places[0]], one.text.partition(": ")[2]) for one in chosen]


def _lately(spoken: Sequence[Record]) -> Iterator[Record]:
    """Yield the newest turns, the newest first, each text once."""
    said = set[str]()
    for record in spoken:
        if record.text not in said:
            yield record
        said.add(record.text)
        if len(said) == _SPOKEN:
            return


def _voice(session: Session, record: Record) -> str:
    """Return who says a record, or what a reading was read from."""
    said = session.reader.at(turn_index(session, record.index)) if is_reading(record.body) else record
    return voice(said)


def _is_told(record: Record, asked: Briefing) -> bool:
    """Whether a person said it in another session than the one that begins."""
    body = record.body
    if not is_spoken(record) or not isinstance(body, ExperienceBody) or not _is_worth_it(body):
        return False
    return asked.besides is None or body.scope is None or body.scope.session_id != asked.besides


def _is_worth_it(body: ExperienceBody) -> bool:
    """Whether a person said it, or an agent stored it on purpose."""
    came = body.content.structured.get("capture")
    stored = isinstance(came, dict) and cast("dict[str, object]", came).get("request") == "memory_store"
    return bool(body.content.text.strip()) and (body.provenance.actor == "user" or stored)


def _newest(session: Session, asked: Briefing) -> Iterator[Record]:
    """Yield what is in scope and stands among the log's newest records, the newest first; each is verified."""
    session.refresh()
    reader = session.reader
    reader.need_vault()
    standings, end = reader.standings(), reader.size
    scope = drafts.scope_of(asked)
    for stop in range(end, max(0, end - _TAIL), -_STEP):
        entries = [entry for some in reader.entries(max(0, stop - _STEP), stop) for entry in some]
        for entry in reversed(entries):
            record = entry.record
            if record.raw is None or not standings.lives(record.index) or record.kind != "experience":
                continue
            if in_scope(record.body.scope, scope) and is_least(reader.source_classes.note(record), BELIEVED):
                yield record


def _found(session: Session, asked: Briefing, query: str, top_k: int) -> list[Record]:
    question = Question(
        query=query,
        top_k=top_k,
        trust=BELIEVED,
        audience=asked.audience,
        user_id=asked.user_id,
        agent_id=asked.agent_id,
        run_id=asked.run_id,
        project_id=asked.project_id,
        session_id=asked.session_id,
    )
    return [hit.record for hit in find(session, question).results]


def _at(record: Record) -> datetime:
    return (record.body.occurred_at or record.created_at).astimezone(UTC)
