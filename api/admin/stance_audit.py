"""Stances and their reconciliations made again, of all that the log claimed of the question when each was taken: not of
what it names alone.

A key holder who signs "lives in Moscow" over records that say so finds that others of that time say otherwise. What
came from another log is made again of what it names: what else was known there is not here.
"""

from collections.abc import Callable

from braid.claims.applied import decisions_of
from braid.claims.reader import ClaimReader, in_time, voice_of_record
from braid.ledger.errors import NotRederivableError
from braid.ledger.read import prefix
from braid.ledger.read.backlinks import SignedEdges
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, ExperienceBody, Record, StanceBody
from braid.ledger.record.standing import Standings, supports_of
from braid.ledger.write.compose import encode_body
from braid.stance.claims import RecordedClaim, claims_of, is_meant
from braid.stance.entry import draft_of, is_older, is_own, reconciliation_key, reconciliation_of
from braid.stance.fold import GroundedRecord
from braid.stance.reconcile import METHOD, VERSION, Reconciliation, reconcile
from braid.stance.voice import backing

Read = Callable[[int], Record]


class StanceAudit:
    """What a walk along the log has met so far: whose claims stand where, and the newest version of a stance."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._edges = SignedEdges(reader, reader.backlinks)
        self._claiming: dict[str, list[int]] = {}
        """Subject, as it is written → the records that claim something of it."""
        self._newest: StanceBody | None = None
        self._last: tuple[str, Reconciliation, Draft] | None = None

    def note(self, record: Record) -> None:
        """Take the next record of the log into account."""
        body = record.body if record.raw is not None and record.kind == "experience" else None
        if isinstance(body, ExperienceBody):
            for subject in dict.fromkeys(claim.subject for claim in body.symbolic):
                self._claiming.setdefault(subject, []).append(record.index)

    def misplaced(self, record: Record) -> str | None:
        """Return how a stance can't be where it is: made by an older version than one before it."""
        body = record.body
        if not isinstance(body, StanceBody) or "imported" in record.members:
            return None
        if self._newest is not None and is_older(body, self._newest):
            return (
                f"it says that it was made by version {body.version or 'none'},"
                f" behind one of version {self._newest.version}"
            )
        if body.method == METHOD:
            self._newest = body
        return None

    def rederive(self, record: Record, read: Read) -> Draft:
        """Return the stance that all that was known gives. `read` reads the log that the stance was made in.

        Raises NotRederivableError for another method or version, ErasedError where what was weighed is erased.
        """
        return self._made(record, read)[1]

    def rederive_reconciliation(self, record: Record, read: Read) -> Draft:
        """Return the reconciliation that the stance which it names gives, made of all that was known; as `rederive`.

        Raises ValueError where it names no stance, or one that holds nothing.
        """
        named = [link.index for link in record.links if link.role == "evidence"]
        stance = read(named[0]) if len(named) == 1 else None
        body = stance.body if stance is not None else None
        if stance is None or not isinstance(body, StanceBody):
            raise ValueError("it names no stance")
        outcome, _ = self._made(stance, read)
        if not outcome.support:
            raise ValueError("the stance that it names holds nothing")
        return reconciliation_of(outcome, stance.id, body.scope, reconciliation_key(body.once))

    def _made(self, record: Record, read: Read) -> tuple[Reconciliation, Draft]:
        """Return what a stance comes to, and the stance; the last one is kept: its reconciliation is next."""
        if self._last is not None and self._last[0] == record.id:
            return self._last[1:]
        body = record.body
        if not isinstance(body, StanceBody) or not is_own(body) or body.known is None or body.asks is None:
            raise NotRederivableError(f"not made by {METHOD} {VERSION}")
        foreign = not self._is_of_here(record)
        outcome = _of_named(record, body, read) if foreign else self._of_all(record, body, read)
        before = next((link.id for link in record.links if link.role == "supersedes"), None)
        draft = draft_of(outcome, scope=body.scope, supersedes=before, known=body.known)
        if foreign and encode_body(draft) != record.raw:
            raise NotRederivableError("taken in from another log, and more was known there than it names")
        self._last = (record.id, outcome, draft)
        return outcome, draft

    def _is_of_here(self, record: Record) -> bool:
        reader = self._reader
        return record.index < reader.size and reader.envelope(record.index).id == record.id

    def _of_all(self, record: Record, body: StanceBody, read: Read) -> Reconciliation:
        size, asks = body.known or 0, body.asks
        assert asks is not None  # noqa: S101 - the caller's
        if size > record.index - record.envelope.tx[1]:
            raise ValueError(f"it was made of {size} records, which were not there yet")
        for link in record.links:
            read(link.index)  # erased since: nobody can tell any more
            for at in decisions_of(self._reader, link.index):
                if at < size:
                    read(at)
        then = prefix.control_at(self._reader, size)
        standings = Standings(self._reader.standing_facts(size, then.hidden, then.erased), self._edges)
        known = ClaimReader(self._reader, body.scope, standings, include_forgotten=True)
        subjects = [one for one in self._claiming if any(is_meant(name, one) for name in asks.subjects)]
        indexes = sorted({index for one in subjects for index in self._claiming[one] if index < size})
        claims = in_time(body.question, asks, known.claims(indexes))
        return reconcile(body.question, asks, claims, known.sources({said.index for said in claims}))


def _of_named(record: Record, body: StanceBody, read: Read) -> Reconciliation:
    def above(index: int) -> list[int]:
        return supports_of(read(index).links)

    asks = body.asks
    assert asks is not None  # noqa: S101 - the caller's
    named = dict.fromkeys(link.index for link in record.links if link.role != "supersedes")
    claims: list[RecordedClaim] = []
    sources: dict[int, GroundedRecord] = {}
    stack = list(named)
    while stack:
        index = stack.pop()
        if index not in sources:
            sources[index] = GroundedRecord(index, read(index).id, tuple(above(index)))
            stack += above(index)
    for index in named:
        behind = backing(index, above, lambda _: True, lambda at: voice_of_record(read(at)))
        claims += claims_of(read(index), behind)
    return reconcile(body.question, asks, in_time(body.question, asks, claims), sources.values())
