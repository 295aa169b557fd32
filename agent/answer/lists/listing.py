"""A list as an answer: what was said or changed, oldest first, each piece with its day and its record. Pure."""

import re
from collections.abc import Sequence
from typing import Final, TypeVar

from braid.agent import bands
from braid.agent.answer.lists.request import ListRequest, list_request
from braid.agent.answer.lists.selection import chosen
from braid.agent.answer.lists.topic import TopicTurn
from braid.agent.answer.lists.values import values
from braid.agent.answer.wording.report import (
    MAX_QUOTE_CHARS,
    addressed,
    capital,
    clause,
    date,
    report_of,
    spoken_by,
    support_of,
)
from braid.agent.cite import marks
from braid.agent.composer import Composed, FactChange, KnownFact, QuestionContext
from braid.recall.hits import Hit
from braid.text.sentences import sentences
from braid.text.words import stems

T = TypeVar("T")
MOST: Final = 12
"""How many pieces are told, unless all are asked for."""
SURE: Final = bands.HEDGED + 0.1
"""How sure a list of turns is: that each was said is beyond doubt; that it is of the topic is judged by its words."""
HELD: Final = bands.PLAIN


def listed(asked: QuestionContext) -> Composed | None:
    """Return a list of what was found, None where the question asks for none or what was found is not surely of it."""
    findings = asked.listed
    wanted = list_request(asked.question) if findings is not None else None
    if findings is None or wanted is None:
        return None
    if (
        wanted.kind == "list"
        and wanted.value is None
        and asked.stance is not None
        and asked.stance.decision.claim
    ):
        return None  # what is held of it says more
    most = findings.most
    if wanted.kind == "known":
        return _known([one for one in findings.known if _is_of(wanted, one)], most, asked.given)
    if wanted.kind == "changes":
        changes = [one for one in findings.changes if _is_of(wanted, one.was) or _is_of(wanted, one.now)]
        if changes:
            return _changes(changes, most, asked.given)
        if not wanted.topic:
            return None
    turns = chosen(wanted, findings.hits)
    return _turns(wanted, turns, most, asked.given) if turns else None


def _is_of(wanted: ListRequest, fact: KnownFact) -> bool:
    """Whether a fact speaks of all that is asked about."""
    heard = stems(f"{fact.about} {fact.says}")
    return set(wanted.topic) <= heard


def _turns(wanted: ListRequest, turns: Sequence[TopicTurn], most: int | None, given: float) -> Composed:
    """Return what was said of it, quoted, oldest first; of what changed, all but the last as what was earlier."""
    shown = _last(turns, most)
    supports = [support_of(one.hit, _excerpt(wanted, one.hit)) for one in shown]
    reports = [capital(report_of(one, one.quote)) for one in supports]
    if wanted.kind == "changes" and len(reports) > 1:
        reports = [f"Earlier: {one}" for one in reports[:-1]] + [f"Last: {reports[-1]}"]
    p = given * SURE
    lead = (
        "I believe that this is what was said of it"
        if bands.band(p) == "hedged"
        else "This may be what was said of it"
    )
    lead = f"{lead}{', in its order' if len(reports) > 1 else ''}."
    return Composed(
        text=" ".join([lead, *reports, *_bound(len(shown), len(turns))]),
        citations=tuple(one.id for one in supports),
        short="; ".join(f"{one.quote} ({date(one.when)})" for one in supports),
        p=p,
    )


def _changes(changes: Sequence[FactChange], most: int | None, given: float) -> Composed:
    """Return each change: what was, what is, since when and by whose words."""
    ordered = sorted(changes, key=lambda one: (one.when, one.now.turn.index))
    shown = _last(ordered, most)
    told = [_change(one) for one in shown]
    cites = dict.fromkeys(id for one in shown for id in (one.was.turn.id, one.now.turn.id))
    return Composed(
        text=" ".join([*told, *_bound(len(shown), len(ordered))]),
        citations=tuple(cites),
        short="; ".join(f"{clause(one.was.says)} → {clause(one.now.says)}" for one in shown),
        p=given * HELD,
    )


def _change(one: FactChange) -> str:
    was = f"Until then: {clause(one.was.says)}{marks([one.was.turn.id])}."
    since = f"Since {date(one.when)}: {clause(one.now.says)}."
    return f"{since} {was} {capital(report_of(one.now.turn, one.now.turn.quote or one.now.turn.text))}"


def _known(known: Sequence[KnownFact], most: int | None, given: float) -> Composed | None:
    """Return what is known, each with who said it when."""
    if not known:
        return None
    shown = _last(known, most)
    told = [
        f"{capital(addressed(clause(one.says)))} ({spoken_by(one.said_by)}, {date(one.when)}){marks([one.turn.id])}."
        for one in shown
    ]
    return Composed(
        text=" ".join([*told, *_bound(len(shown), len(known))]),
        citations=tuple(dict.fromkeys(one.turn.id for one in shown)),
        short="; ".join(clause(one.says) for one in shown),
        p=given * HELD,
    )


def _last(some: Sequence[T], most: int | None) -> Sequence[T]:
    """Return the last of some, as many as are told."""
    return some if most is None else some[-most:]


def _bound(shown: int, of: int) -> list[str]:
    """Return how many of how many are told, where not all are."""
    return [f"These are the last {shown} of {of}."] if shown < of else []


def _excerpt(wanted: ListRequest, hit: Hit) -> str:
    """Return what of a turn is quoted: the whole where it is short, else the run of sentences that says most of it."""
    text = hit.text.strip()
    if len(text) <= MAX_QUOTE_CHARS:
        return text
    parts = [text[part.start : part.stop] for part in sentences(text)]
    worth = [_worth(wanted, part) for part in parts]
    best, span = -1.0, (0, 1)
    for start in range(len(parts)):
        stop, size = start, 0
        while stop < len(parts) and (stop == start or size + len(parts[stop]) < MAX_QUOTE_CHARS):
            size += len(parts[stop]) + 1
            stop += 1
        if (total := sum(worth[start:stop])) > best:
            best, span = total, (start, stop)
    return re.sub(
        r"\s+", " ", text[text.find(parts[span[0]]) : text.find(parts[span[1] - 1]) + len(parts[span[1] - 1])]
    )


def _worth(wanted: ListRequest, sentence: str) -> float:
    heard = stems(sentence)
    of_kind = len(values(wanted.value, sentence, frozenset(wanted.topic))) if wanted.value is not None else 0
    return sum(each in heard for each in wanted.topic) + of_kind + 0.01
