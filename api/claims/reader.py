"""What records of the log claim, read verified: the living ones of a scope, as far as what they rest on is living."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from braid.claims.applied import decision_at, decisions_of
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Asks, Claim, ExperienceBody, Record, Scope
from braid.ledger.record.scope import in_scope
from braid.ledger.record.source import BELIEVED, SourceClass, is_least
from braid.ledger.record.standing import Standings
from braid.recall.decompose import decompose
from braid.stance.claims import ALWAYS, FOREVER, Place, RecordedClaim, claims_in, claims_of
from braid.stance.fold import GroundedRecord, Takes
from braid.stance.source import ClaimSources
from braid.stance.voice import backing, occurrences, voice_of

MOST_KEPT: Final = 20_000
"""The claims of so many records are kept from one question to the next, and no more."""


class _Known:
    """What was read, whoever asked: it holds as long as all records stand as they do."""

    def __init__(self) -> None:
        self.voices: dict[int, str] = {}
        self.claims: dict[int, tuple[Scope | None, Sequence[RecordedClaim]]] = {}


def _kept(standings: Standings) -> _Known:
    known = standings.kept.get(_Known)
    if not isinstance(known, _Known) or len(known.claims) > MOST_KEPT:
        known = standings.kept[_Known] = _Known()
    return known


class ClaimReader:
    """Claims of one scope, of a log at one moment of it. Reads each record once while none stands otherwise."""

    def __init__(
        self,
        reader: Reader,
        scope: Scope | None,
        standings: Standings,
        *,
        include_forgotten: bool = False,
        trust: SourceClass = BELIEVED,
    ) -> None:
        """`include_forgotten`: of a past moment, that what has been forgotten since may be read as well.

        `trust`: the lowest source class whose claims are taken.
        """
        self._reader = reader
        self._standings = standings
        self._include_forgotten = include_forgotten
        self._trust: SourceClass = trust
        self._sources = ClaimSources(reader.source_classes, reader.unless_erased, reader.role)
        self.scope = scope
        self.size = standings.past.size
        self._known = _Known() if include_forgotten else _kept(standings)

    def lives(self, index: int) -> bool:
        """Whether a record stands: it is there, nothing stands in its place, and it has not fallen."""
        return self._standings.lives(index)

    def source(self, index: int) -> GroundedRecord:
        """Return a record with the living ones that it was drawn from."""
        above = tuple(at for at in self._above(index) if self.lives(at))
        return GroundedRecord(index, self._reader.envelope(index).id, above)

    def sources(self, indexes: Iterable[int]) -> list[GroundedRecord]:
        """Return records with the decisions that rest on them, and the living ones above, all the way up."""
        found: dict[int, GroundedRecord] = {}
        for index in indexes:
            found[index] = msgspec.structs.replace(self.source(index), takes=self._takes(index))
        stack = [above for one in found.values() for above in one.parents]
        while stack:
            index = stack.pop()
            if index not in found:
                found[index] = self.source(index)
                stack += found[index].parents
        return list(found.values())

    def _takes(self, index: int) -> tuple[Takes, ...]:
        decided = (
            decision_at(self._reader, at) for at in decisions_of(self._reader, index) if self.lives(at)
        )
        return tuple(
            Takes(one.winner, one.target, one.why) for one in decided if one is not None and one.applied
        )

    def claims(self, indexes: Iterable[int]) -> list[RecordedClaim]:
        """Return what records claim, those that live and are in the scope."""
        found: list[RecordedClaim] = []
        for index in indexes:
            if not self.lives(index):
                continue
            if index not in self._known.claims:
                try:
                    self._known.claims[index] = self._read(index)
                except (ErasedError, ForgottenError):
                    if (
                        self._include_forgotten
                    ):  # of a past moment: erased since, so that nobody can tell any more
                        raise
                    continue  # gone since we looked
            scope, claims = self._known.claims[index]
            if in_scope(scope, self.scope):
                found += [said for said in claims if is_least(said.source, self._trust)]
        return found

    def _read(self, index: int) -> "tuple[Scope | None, Sequence[RecordedClaim]]":
        record = self._at(index)
        self._known.voices[index] = voice_of_record(record)
        behind = backing(index, self._above, self.lives, self._voice)
        if behind is None:
            return record.body.scope, ()
        return record.body.scope, list(
            claims_of(record, behind, lambda claim: self._sources.of(record, claim))
        )

    def as_claimed(self, record: Record, claim: Claim) -> RecordedClaim | None:
        """Return a claim that a record holds and doesn't make, as it would stand if it did; None where nothing that
        the record rests on is left."""
        body = record.body
        behind = backing(record.index, self._above, self.lives, self._voice)
        if behind is None or not isinstance(body, ExperienceBody):
            return None
        made = msgspec.structs.replace(body, symbolic=[claim])
        place = Place(record.index, record.id, record.created_at, record.envelope.tx[0], record.type)
        return next(claims_in(made, place, behind, lambda one: self._sources.of(record, one)))

    def roots(self, index: int) -> frozenset[int]:
        """Return the records without parents that a record descends from: itself, where it has none."""
        return occurrences(index, self._above)

    def _at(self, index: int) -> Record:
        return self._reader.at(index, include_forgotten=self._include_forgotten)

    def _above(self, index: int) -> Sequence[int]:
        return self._standings.supports(index)

    def _voice(self, index: int) -> str:
        if index not in self._known.voices:
            record = self._at(index)
            self._reader.source_classes.note(record)  # asked for next: it isn't read again for that
            self._known.voices[index] = voice_of_record(record)
        return self._known.voices[index]


def voice_of_record(record: Record) -> str:
    """Return who says what a record says; what is no experience speaks for itself."""
    body = record.body
    return voice_of(body) if isinstance(body, ExperienceBody) else record.kind


def within(record: Record, scope: Scope | None) -> bool:
    """Whether a record is of a scope: has every id that the scope gives."""
    return in_scope(record.body.scope, scope)


_AHEAD: Final = re.compile(
    r"when (?:is|are|will|'s)\b.*\b(?:plan|going|will|hosting|leav|mov|visit|start|mak|attend)", re.IGNORECASE
)


def in_time(question: str, asks: Asks, claims: Sequence[RecordedClaim]) -> Sequence[RecordedClaim]:
    """Return the claims that a question for a time may mean: "in June" only what was so in June, "when is he going …"
    only what lay ahead when it was said. Any other question takes all: its instant is `asks.at`.
    """
    if asks.wants != "time" or asks.at is None:
        return claims
    if _AHEAD.match(question):
        claims = [said for said in claims if said.since > said.said]
    span = decompose(question, asks.at).time
    if span is None:
        return claims
    since, until = span.since or ALWAYS, span.until or FOREVER
    return [said for said in claims if since <= said.since < until]
