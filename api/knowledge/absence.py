"""Why something isn't known: the playbook, step by step — said, read, let through, left, believed, found.

Each step has an outcome and the records that it is about; what was forgotten is named by its id, never by its words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from math import log
from typing import Final, NamedTuple

from braid.caller import asking
from braid.claims.question import utc
from braid.claims.topics import Weighed, readings_of, weighed
from braid.knowledge.derivation import warnings_in
from braid.knowledge.operations import Outcome, PlaybookStep
from braid.knowledge.staging import staged_in
from braid.ledger.errors import ErasedError
from braid.ledger.record.record import Claim, ExperienceBody, Record, Scope, is_turn
from braid.ledger.record.scope import in_scope
from braid.search.question import MARKED, Question
from braid.search.retrieval import find
from braid.session import Session
from braid.stance.claims import FOREVER, RecordedClaim
from braid.stance.pool import BASE, HALF_LIFE_DAYS, decayed
from braid.stance.words import words_of
from braid.text.words import stem, telling

LOOKED: Final = 50
"""So many records of recall are looked at for who said it."""
SHARE: Final = 0.65
"""So much of the words that are looked for must stand in a record that says it, its speaker's name among them, or in a
claim that means it. Each counts by how rare it is among what recall finds: one that nobody said counts most."""
FORGOTTEN_READ: Final = 10_000
"""So many forgotten records are looked at, the newest."""
_FIRST: Final = re.compile(r"(?:^|[.!?…] +)[^\W\d]+")
"""The word that begins a sentence."""
USABLE: Final = 0.5
"""What is less sure than this is not relied on."""


class _Held(NamedTuple):
    """A claim that a reading makes, which may be what is looked for."""

    record: Record
    place: int
    claim: Claim


class _Case:
    """What is looked for, and what of it was found so far."""

    def __init__(self, session: Session, text: str, scope: Scope | None, top_k: int) -> None:
        self.session, self.text, self.scope, self.top_k = session, text, scope, top_k
        self.now = utc(session.now())
        self.standings = session.reader.standings()
        ids = scope or Scope()
        asked = Question(
            query=text, top_k=max(LOOKED, top_k), superseded=MARKED, user_id=ids.user_id, agent_id=ids.agent_id,
            run_id=ids.run_id,
            project_id=ids.project_id, session_id=ids.session_id,
        )  # fmt: skip
        found = find(session, asked).results
        self.forgotten = list(_forgotten(session, scope))
        told = [_stems(_said(record)) for record in (*(hit.record for hit in found), *self.forgotten)]
        self.weights = {
            one: log(1 + (len(told) + 1) / (sum(one in there for there in told) or 0.5))
            for one in _stems(text)
        }
        self.values = _values(text)
        # What a claim means tells more than the words of its turn: "Porto, I suppose" may be where somebody lives.
        read = {hit.record.index: readings_of(session, hit.record.index) for hit in found}
        like = [
            (rank, hit.record)
            for rank, hit in enumerate(found, 1)
            if self.is_near(hit.record)
            or any(self.is_meant_in(one, hit.record) for one in read[hit.record.index])
        ]
        self.said = [(rank, turn) for rank, turn in like if self.agrees(turn, read[turn.index])]
        self.near = [turn for _, turn in like if not self.agrees(turn, read[turn.index])]
        self.readings = [(one, turn) for _, turn in self.said for one in read[turn.index]]
        self.held = [
            _Held(record, place, claim)
            for record, turn in self.readings
            if isinstance(record.body, ExperienceBody)
            for place, claim in enumerate(record.body.symbolic)
            if self.means(claim, turn)
        ]

    def share(self, words: str) -> float:
        """Return how much of the words that are looked for stand in others."""
        there = _stems(words)
        return sum(weight for one, weight in self.weights.items() if one in there) / sum(
            self.weights.values()
        )

    def is_near(self, record: Record) -> bool:
        """Whether most of it stands in a record."""
        return self.share(_said(record)) >= SHARE

    def agrees(self, turn: Record, read: Iterable[Record] = ()) -> bool:
        """Whether every name and number that is looked for stands in a turn, or in what was read of it."""
        claimed = (_claim_words(claim) for record in read for claim in _claims_in(record))
        return self.values <= _stems(" ".join((_said(turn), *claimed)))

    def says(self, record: Record) -> bool:
        """Whether a record says it."""
        return self.is_near(record) and self.agrees(record)

    def means(self, claim: Claim, turn: Record) -> bool:
        """Whether a claim that was read from a turn may be what is looked for."""
        words = _claim_words(claim)
        return self.share(words) >= SHARE and self.values <= _stems(f"{words} {_said(turn)}")

    def is_meant_in(self, record: Record, turn: Record) -> bool:
        """Whether a reading of a turn claims what is looked for, or has it staged."""
        return any(self.means(claim, turn) for claim in _claims_in(record))

    def weighed(self) -> Weighed:
        """Return the claims that were found, with all that bear on them."""
        return weighed(self.session, self.scope, (one.claim.subject for one in self.held), self.now)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in telling(text))


def _values(text: str) -> frozenset[str]:
    """Return the stems of names and numbers that a text gives, without the words that begin a sentence: those are
    capitals anyway, and whom it is of may be "I" where it was said.
    """
    rest = _FIRST.sub(" ", text).split()
    return _stems(
        " ".join(one for one in rest if one.lstrip("([\"'“")[:1].isupper() or any(map(str.isdigit, one)))
    )


def _claims_in(record: Record) -> Iterator[Claim]:
    """Yield what a reading claims, and what it has staged."""
    yield from record.body.symbolic if isinstance(record.body, ExperienceBody) else ()
    yield from (one.claim for one in staged_in(record))


def _claim_words(claim: Claim) -> str:
    return f"{words_of(claim)} {claim.rel.replace('_', ' ')} {claim.quote or ''}"


def _said(record: Record) -> str:
    """Return what a record says, and who says so; nothing of what is no experience."""
    body = record.body
    if not isinstance(body, ExperienceBody):
        return ""
    who = body.provenance.name or (body.scope.user_id if body.scope else None) or ""
    return f"{who} {record.text}"


def playbook(
    session: Session, text: str, scope: Scope | None, top_k: int
) -> tuple[tuple[PlaybookStep, ...], str]:
    """Return the steps, and in a sentence where it ended; see `knowledge.operations.why_not_known`."""
    if not _stems(text):
        raise ValueError("a text that says nothing: name what should be known")
    case = _Case(session, text, scope, top_k)
    found = case.weighed() if case.held else None
    steps = (
        _was_said(case),
        _was_forgotten(case),
        _was_erased(case),
        _was_read(case),
        _was_gated(case),
        _was_retired(case),
        _was_superseded(case, found),
        _has_ended(case, found),
        _has_decayed(case, found),
        _was_ranked(case),
    )
    return steps, _conclusion(steps)


def _conclusion(steps: Sequence[PlaybookStep]) -> str:
    of = {one.step: one for one in steps}
    if of["said"].outcome == "no":
        if of["forgotten"].outcome == "yes":
            return "it was forgotten"
        return "nobody said it, as far as recall finds"
    for step, told in (
        ("retired", "the reader that read it was retired"),
        ("superseded", "something else was said in its place"),
        ("ended", "it does not hold any more"),
        ("decayed", "it has grown too old to be relied on"),
    ):
        if of[step].outcome == "yes":
            return told
    if of["read"].outcome == "no":
        return (
            "a gate let it wait or refused it" if of["gates"].outcome == "yes" else "it was said and not read"
        )
    if of["ranked"].outcome == "no":
        return "it is known, and other records rank before it"
    return "it is known"


def _step(name: str, outcome: Outcome, detail: str, ids: Iterable[str] = ()) -> PlaybookStep:
    return PlaybookStep(step=name, outcome=outcome, detail=detail, ids=tuple(dict.fromkeys(ids)))


def _was_said(case: _Case) -> PlaybookStep:
    if case.said:
        ids = [record.id for _, record in case.said]
        return _step("said", "yes", "the first of these says it best", ids)
    detail = f"none of the {LOOKED} records that recall looks at says so"
    if case.near:
        detail += "; these are near, with another name or number"
    return _step("said", "no", detail, [record.id for record in case.near])


def _was_forgotten(case: _Case) -> PlaybookStep:
    ids = [record.id for record in case.forgotten if case.says(record)]
    detail = (
        "forgotten records say so; `braid recover` brings them back" if ids else "no forgotten record says so"
    )
    return _step("forgotten", "yes" if ids else "no", detail, ids)


def _forgotten(session: Session, scope: Scope | None) -> Iterator[Record]:
    """Yield the turns of a scope that are forgotten, newest first."""
    reader = session.reader
    for index in sorted(reader.control.hidden, reverse=True)[:FORGOTTEN_READ]:
        if reader.envelope(index).kind != "experience":
            continue
        try:
            record = reader.at(index, include_forgotten=True)
        except ErasedError:
            continue
        body = record.body if record.raw is not None else None
        if (
            isinstance(body, ExperienceBody)
            and is_turn(record.type, body.provenance.method)
            and in_scope(body.scope, scope)
        ):
            yield record


def _was_erased(case: _Case) -> PlaybookStep:
    caller = asking()
    if (
        caller is not None and caller.scope
    ):  # what was erased has no scope: how much there is would be others' affair
        return _step("erased", "unknown", "nobody can tell what an erased record said")
    count = len(case.session.reader.control.erased)
    if not count:
        return _step("erased", "no", "nothing was erased")
    return _step(
        "erased", "unknown", f"nobody can tell what the erased said, nor of whom: {count} in the store"
    )


def _was_read(case: _Case) -> PlaybookStep:
    if not case.said:
        return _step("read", "no", "there was nothing to read")
    ids = [one.record.id for one in case.held]
    if ids:
        return _step("read", "yes", "; ".join(dict.fromkeys(words_of(one.claim) for one in case.held)), ids)
    if case.readings:
        return _step(
            "read", "no", "the turns were read, for other claims", [one.id for one, _ in case.readings]
        )
    return _step("read", "no", "no reading of these turns is in the log; `braid learn` reads what is new")


def _was_gated(case: _Case) -> PlaybookStep:
    told: list[str] = []
    ids: list[str] = []
    for record, turn in case.readings:
        for one in staged_in(record):
            if case.means(one.claim, turn):
                told.append(f"staged by {one.why or 'a gate'}: {words_of(one.claim)}")
                ids.append(record.id)
        for warned in warnings_in(record):
            told.append(f"{warned.gate} warned: {warned.name}")
            ids.append(record.id)
    return _step("gates", "yes" if told else "no", "; ".join(told) or "no gate held anything of it back", ids)


def _was_retired(case: _Case) -> PlaybookStep:
    states = [(one, case.standings.of(one.record.index)) for one in case.held]
    retired = [(one, standing) for one, standing in states if standing.state == "retired"]
    if not retired or any(standing.state == "living" for _, standing in states):
        return _step(
            "retired", "no", "a reading of it is in force" if retired else "no reader of it was retired"
        )
    by = [case.session.reader.envelope(standing.by).id for _, standing in retired if standing.by is not None]
    return _step("retired", "yes", "its reader was retired, and no other has read it", by)


def _was_superseded(case: _Case, found: Weighed | None) -> PlaybookStep:
    """By record: the turn was put right; or by claim: another takes its say."""
    reader = case.session.reader
    for _, record in case.said:
        standing = case.standings.of(record.index)
        if standing.state == "living" and not case.held:
            return _step("superseded", "no", "the turn stands")
    replaced = [case.standings.of(record.index) for _, record in case.said]
    if replaced and all(one.state == "replaced" for one in replaced):
        return _step(
            "superseded", "yes", "put right by", [reader.envelope(one.by).id for one in replaced if one.by]
        )
    if found is None:
        return _step("superseded", "no", "nothing stands in its place")
    nodes = {f"r:{one.record.index}/{one.place}" for one in case.held}
    if any(found.folded.stands(node) for node in nodes if node in found.folded.claims):
        return _step("superseded", "no", "a claim of it has a say")
    takers = [(one, why) for node in sorted(nodes) for one, why in found.takers(node)]
    if not takers:
        return _step("superseded", "no", "no other claim takes its say")
    told = "; ".join(dict.fromkeys(f"{one.text} ({why})" for one, why in takers))
    return _step("superseded", "yes", told, [one.id for one, _ in takers])


def _claims(case: _Case, found: Weighed | None) -> list[RecordedClaim]:
    if found is None:
        return []
    nodes = [f"r:{one.record.index}/{one.place}" for one in case.held]
    return [found.folded.claims[node] for node in nodes if node in found.folded.claims]


def _has_ended(case: _Case, found: Weighed | None) -> PlaybookStep:
    claims = _claims(case, found)
    over = [said for said in claims if said.until <= case.now]
    if claims and len(over) == len(claims):
        until = max(said.until for said in over)
        return _step("ended", "yes", f"it held until {until:%Y-%m-%d}", [said.id for said in over])
    last = max((said.until for said in claims), default=FOREVER)
    return _step("ended", "no", "it has no end" if last == FOREVER else f"it holds until {last:%Y-%m-%d}")


def _has_decayed(case: _Case, found: Weighed | None) -> PlaybookStep:
    claims = _claims(case, found)
    if not claims:
        return _step("decayed", "no", "there is no claim that could age")
    aged = max(_aged(said, case.now) for said in claims)
    fresh = max(said.worth for said in claims)
    detail = f"worth {fresh:.2f} when it was said, {aged:.2f} now"
    return _step("decayed", "yes" if aged < USABLE <= fresh else "no", detail, [said.id for said in claims])


def _aged(said: RecordedClaim, now: datetime) -> float:
    days = max(now - said.recency, timedelta()) / timedelta(days=1)
    return decayed(said.worth, BASE, days, HALF_LIFE_DAYS[said.relation.temporal])


def _was_ranked(case: _Case) -> PlaybookStep:
    if not case.said:
        return _step("ranked", "no", "there is nothing to rank")
    rank, record = case.said[0]
    within = rank <= case.top_k
    detail = f"place {rank} of what recall finds, of which {case.top_k} are told"
    return _step("ranked", "yes" if within else "no", detail, [record.id])
