"""What is held of a question: read by rules, or else by what recall finds; its claims gathered, and reconciled."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from braid.claims.finder import ClaimFinder
from braid.claims.reader import in_time
from braid.ledger.read import prefix
from braid.ledger.record.record import Asks, Scope
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.recall.decompose import decompose
from braid.recall.hits import Hit
from braid.search.question import Question
from braid.session import Session
from braid.stance.answers import is_list
from braid.stance.claims import RecordedClaim, relevant
from braid.stance.question import SPEAKER, ParsedQuestion, readings
from braid.stance.reconcile import Reconciliation, reconcile
from braid.stance.relations import compared_as
from braid.stance.values import telling
from braid.text.calendar import Span

HITS: Final = 12
"""How many records recall brings where the rules can't read a question."""
MOST_LISTED: Final = 12
"""A question that no rule reads asks for a list no longer than this: all that somebody ever did is no answer to it."""


def size_of(session: Session, as_of: int | datetime | None) -> int | None:
    """Return the size of the log that is meant, None for the present one."""
    return None if as_of is None else prefix.size_at(session.reader, as_of)


def weigh(
    session: Session,
    question: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
    now: datetime | None = None,
    trust: SourceClass = BELIEVED,
    hits: Sequence[Hit] | None = None,
) -> tuple[Reconciliation, int]:
    """Return what the log lets hold of a question, and of how many of its records; nothing is appended.

    `trust`: the lowest source class that is believed; `hits`: what recall found for the question, where that is known.

    The time asked about is `at`, else what the question says ("before September"), else `now`: the end of a past that
    is asked, the store's time without one. Raises ValueError and TypeError for what can't be meant.
    """
    _refuse_empty(question)
    if at is not None:
        at = utc(at)
    session.reader.need_vault()
    known = ClaimFinder(session, scope, size_of(session, as_of), trust=trust)
    moment = Moment(utc(now) if now is not None else _now(session, known, as_of), at, now is not None)
    found = list(readings(question))
    for reading in found:
        asks = _asks(reading, known, question, moment)
        if (outcome := _held(question, asks, known)) is not None:
            return outcome, known.size
    guessed = None
    if not found:
        seen = _recalled(session, question, known, trust) if hits is None else hits[:HITS]
        guessed = _by_hits(session, question, known, moment, seen)
    if guessed is not None and (outcome := _held(question, guessed, known, MOST_LISTED)) is not None:
        return outcome, known.size
    anything = Asks(subjects=[], rels=[])
    asks = _asks(found[0], known, question, moment) if found else _timed(anything, question, moment)
    return reconcile(question, asks, [], []), known.size


def _now(session: Session, known: ClaimFinder, as_of: int | datetime | None) -> datetime:
    if as_of is None:
        return utc(session.now())
    return datetime.fromisoformat(session.reader.envelope(known.size - 1).created_at)


def utc(at: datetime) -> datetime:
    """Return an instant in UTC. Raises ValueError for one without a zone, and for one that is beyond the calendar
    there."""
    try:
        return prefix.zoned(at).astimezone(UTC)
    except OverflowError:
        raise ValueError(
            f"{at.isoformat()} is no instant: in UTC it lies outside the years 1 to 9999"
        ) from None


def _held(
    question: str, asks: Asks, known: ClaimFinder, most_listed: int | None = None
) -> Reconciliation | None:
    """Return what is held of a question in symbols; None where nothing is claimed of it, or more than may be listed."""
    claims = in_time(question, asks, known.claims(known.named(asks)))
    bearing = {said.index for said in relevant(claims, asks)}
    if not bearing or (most_listed is not None and is_list(asks) and len(bearing) > most_listed):
        return None
    return reconcile(question, asks, claims, known.sources(bearing))


def held_again(question: str, asks: Asks, known: ClaimFinder) -> Reconciliation:
    """Return what was held of a question in symbols by what was known: as `weigh` does it."""
    return _held(question, asks, known) or reconcile(question, asks, [], [])


def _refuse_empty(question: object) -> None:
    if not isinstance(question, str) or not question.strip():
        raise ValueError("a question is text that isn't empty")


class Moment(NamedTuple):
    """When a question is asked, at which instant it was said to ask about, and whether that now is another's."""

    now: datetime
    at: datetime | None
    given: bool


def _asks(reading: ParsedQuestion, known: ClaimFinder, question: str, moment: Moment) -> Asks:
    subjects = [reading.subject]
    if reading.subject == SPEAKER or reading.subject.startswith(f"{SPEAKER}'s "):
        subjects += [reading.subject.replace(SPEAKER, name, 1) for name in known.speakers]
    asks = Asks(subjects=subjects, rels=list(reading.rels), object=reading.object, wants=reading.wants)
    return _timed(asks, question, moment)


def _timed(asks: Asks, question: str, moment: Moment) -> Asks:
    """Return a question with the instant that it asks about. One for a time is of no instant: what it says of time is
    for `in_time`, seen from now.
    """
    now, at, given = moment
    asked = at or (None if asks.wants == "time" else instant_of(question, now)) or (now if given else None)
    return msgspec.structs.replace(asks, at=(asked or now).astimezone(UTC), dated=asked is not None)


def instant_of(question: str, now: datetime) -> datetime | None:
    """Return the instant that a question asks about, None for the present: the end of the time that it names."""
    span: Span | None = decompose(question, now).time
    if span is None or span.until is None:
        return None
    end = span.until - timedelta(microseconds=1)
    if end <= now:
        return end
    return span.since if span.since is not None and span.since > now else None


def _recalled(session: Session, question: str, known: ClaimFinder, trust: SourceClass) -> Sequence[Hit]:
    from braid.search.retrieval import NOT_OWN, find

    scope = msgspec.structs.asdict(known.scope) if known.scope else {}
    past = None if known.size == session.reader.size else known.size - 1
    asked = Question(query=question, top_k=HITS, as_of=past, filters=NOT_OWN, trust=trust, **scope)
    return find(session, asked).results


def _by_hits(
    session: Session, question: str, known: ClaimFinder, moment: Moment, hits: Sequence[Hit]
) -> Asks | None:
    """Return what a question that no rule reads asks for, by the claims of recall's hits and what was drawn of them.

    Of the subjects and relations that these speak of, it is that one whose claim shares most words with the question.
    """
    words = telling(question)
    best: tuple[float, RecordedClaim] | None = None
    for place, hit in enumerate(hits):
        drawn = [child for child, _, role in session.views.catalog.children(hit.index) if role == "parent"]
        for said in known.claims((hit.index, *drawn)):
            shared = len(words & telling(f"{said.text} {said.claim.quote or ''}"))
            score = shared + 1 / (2 + place)
            if shared > 1 and (best is None or score > best[0]):
                best = (score, said)
    if best is None:
        return None
    claim = best[1].claim
    intent = decompose(question, moment.now).intent
    if intent in ("duration", "count", "reason", "manner"):  # what a claim's object can't answer
        return None
    timed, check = intent == "time", intent == "check"
    asks = Asks(
        subjects=[claim.subject],
        rels=[] if timed else [compared_as(claim.rel).name],
        object=question if timed else claim.object if check else None,
        wants="time" if timed else "check" if check else "object",
    )
    return _timed(asks, question, moment)
