"""Sequencing: from what callers hand in to signed records with index, id and time (SPEC §8.2)."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import msgspec
from nacl.utils import random

from braid.ledger.crypto.seal import RecordKey
from braid.ledger.errors import (
    ClockError,
    ErasedError,
    ForgottenError,
    IntegrityError,
    InvalidRecordError,
    KeyRefusedError,
    UnknownRecordError,
)
from braid.ledger.keys.author_key import OWN_WORDS_ROLES, ROLE_KINDS, Signer
from braid.ledger.read.reader import Reader
from braid.ledger.read.scopechain import Chains, Links, scopes_of, spliced
from braid.ledger.record.envelope import DERIVATION_ROLES, Link
from braid.ledger.record.ids import RecordId, make_id, prefix_of
from braid.ledger.record.lattice import may_derive
from braid.ledger.record.record import (
    ANSWER,
    QUOTING,
    Draft,
    EventBody,
    ExperienceBody,
    Provenance,
    with_article,
)
from braid.ledger.record.source import SourceClass, at_first_hand, lowest
from braid.ledger.record.standing import SUPERSEDES
from braid.ledger.record.validate import check_draft, earlier_place
from braid.ledger.write.compose import Slot, Unsigned, compose, encode_body, sign_all
from braid.ledger.write.repetition import refuse_another
from braid.ledger.write.replacement import check_replacement, is_judged
from braid.wal.frame import MAX_FRAME_BYTES, Stored

CLOCK_TOLERANCE = timedelta(minutes=5)
TICK = timedelta(microseconds=1)
SIGN_CHUNK = 64
KEYS_AHEAD, MOST_AHEAD = 32, 128
SIGN_THREADS = min(os.cpu_count() or 1, 4)
_CHOICES = 256
_SECOND = timedelta(seconds=1)
_NO_TIME = timedelta(0)
Clock = Callable[[], datetime]


class Placed(msgspec.Struct, frozen=True, gc=False):
    """What became of a draft: its id, and whether it was in the log already."""

    id: RecordId
    index: int
    known: bool = False


_UNPLACED = Placed(RecordId(""), -1)
_NOBODY = Provenance()


class AppendRequest:
    """One transaction waiting for the writer."""

    __slots__ = ("done", "drafts", "error", "held", "keys", "placed", "signer")

    def __init__(
        self, drafts: Sequence[Draft], keys: Sequence[str | None], signer: str | None, held: int = 0
    ) -> None:
        """`held`: so many drafts, from the first on, are to say what the record of their key says."""
        self.drafts = drafts
        self.keys = keys
        self.signer = signer
        self.held = held
        self.placed: list[Placed] = []
        self.error: BaseException | None = None
        self.done = False


class SignedTransaction(msgspec.Struct):
    """A transaction ready to be written."""

    request: AppendRequest
    stored: list[Stored]
    new: list[int]
    """Places in the request of the drafts that are new."""
    ids: list[RecordId]
    time: datetime
    chains: Links | None = None


def _quotes(draft: Draft) -> bool:
    """Whether a draft is an answer, a program's step or a map of placeholders, which hold words of what they link to
    and may take a model long: they would show what was forgotten meanwhile (SPEC §9.1). What an import brings is
    hidden as it was there.
    """
    body = draft.body
    if "imported" in draft.extra:
        return False
    answers = isinstance(body, ExperienceBody) and body.provenance.method == ANSWER
    steps = isinstance(body, EventBody) and body.name in QUOTING
    return answers or steps


def is_lag_accepted(reader: Reader, last: datetime) -> bool:
    """Whether the clock's lag behind the record of `last`, the log's end, was accepted and has lasted since: then each
    transaction was one microsecond later.
    """
    if reader.control.clock is None:
        return False
    time_, tx = reader.control.clock
    return last - datetime.fromisoformat(time_) <= timedelta(microseconds=reader.log.next_tx - tx)


def is_clock_behind(reader: Reader, now: datetime) -> bool:
    """Whether the log takes no record, since the clock says `now` and that stands far behind the log's end."""
    last = datetime.fromisoformat(reader.envelope(reader.size - 1).created_at)
    return last - now > CLOCK_TOLERANCE and not is_lag_accepted(reader, last)


class Sequencer:
    """Gives drafts their places and signatures. Writes nothing; called under the writer's lock."""

    def __init__(self, reader: Reader, signers: dict[str, Signer], clock: Clock) -> None:
        """Resolve links and keys through `reader`, the writer itself."""
        self.signers = signers
        self.chains = Chains(lambda: reader.key_index)
        self._reader = reader
        self._clock = clock
        self._chosen: dict[tuple[object, ...], Signer] = {}
        self._ahead: tuple[int, int, list[RecordKey]] = (-1, 0, [])
        self._second = datetime.min.replace(tzinfo=UTC)
        self._second_text = ""
        self._pool = ThreadPoolExecutor(max(SIGN_THREADS - 1, 1), "braid-sign")

    def close(self) -> None:
        """Stop the signing threads."""
        self._pool.shutdown()

    def prepare(
        self, request: AppendRequest, first: int, tx: int, last: datetime
    ) -> SignedTransaction | None:
        """Check, seal and sign a transaction that will stand at `first`; None when all of it is known already."""
        new = self._unknown_places(request)
        if not new:
            return None
        drafts, count = request.drafts, len(new)
        if count < len(drafts):
            drafts = [drafts[place] for place in new]
        now = self._next_time(last, request.drafts)
        created_at = self._text_of(now)
        second = f"{created_at[:19]}Z"
        bits = random(3 * count)
        ids: list[RecordId] = []
        written: dict[int, tuple[int, RecordId]] = {}
        if count < len(request.drafts):
            for place, known in enumerate(request.placed):
                if known.known:
                    written[place] = (known.index, known.id)
        keys = self._keys(first, count)
        chains = self._chain(drafts, first) if self._reader.control.scope_chains else None
        control = max(self._reader.control.newest, 0)
        origin = self._reader.origin
        unsigned: list[tuple[Signer, Unsigned]] = []
        for k, draft in enumerate(drafts):
            index, place = first + k, new[k]
            raw = _checked(draft, now)
            if chains and index in chains.members:
                raw = spliced(raw, chains.members[index])
            links = self._resolve(draft, request, written, place) if draft.links else []
            signer = self._signer_for(draft, request.signer)
            number = int.from_bytes(bits[3 * k : 3 * k + 3], "big") >> 4
            id = make_id(prefix_of(draft.kind), second, index, number)
            slot = Slot(index, id, tx, k, count, control, created_at)
            record = compose(draft, raw, links, slot, origin=origin, key=keys[k], author=signer.id)
            unsigned.append((signer, record))
            ids.append(id)
            written[place] = (index, id)
            if "op" in draft.public:
                control = index
        stored = self._sign(unsigned)
        if sum([len(one.envelope) + len(one.links) + len(one.body) + 12 for one in stored]) > MAX_FRAME_BYTES:
            raise InvalidRecordError(f"a transaction holds up to {MAX_FRAME_BYTES} bytes: split it")
        if chains:
            self.chains.take(chains)
        return SignedTransaction(request, stored, new, ids, now, chains)

    def _chain(self, drafts: Sequence[Draft], first: int) -> Links | None:
        """Return the scope chains of records from `first` on, in a store that has chosen them (SPEC §4.8)."""
        if not any(scopes_of(draft.body.scope) for draft in drafts):
            return None  # a key, a tombstone, the note of a fork
        return self.chains.next([(first + k, draft.body.scope) for k, draft in enumerate(drafts)])

    def _sign(self, unsigned: list[tuple[Signer, Unsigned]]) -> list[Stored]:
        """Sign in order; a large transaction on all cores, after composing: hand-offs between the two
        would cost more.
        """
        if len(unsigned) < SIGN_CHUNK:
            return sign_all(unsigned)
        share = -(-len(unsigned) // SIGN_THREADS)
        parts = [unsigned[at : at + share] for at in range(0, len(unsigned), share)]
        others = [self._pool.submit(sign_all, part) for part in parts[1:]]
        signed = sign_all(parts[0])  # here: a thread that waits leaves its core to be found by another
        for other in others:
            signed += other.result()
        return signed

    def _keys(self, first: int, count: int) -> list[RecordKey]:
        """Return the keys of indexes that were never used. Some more are derived with them, at half the cost each:
        twice as many as last time. They are of one epoch of the vault: what an erasure destroys is not kept here.
        """
        vault = self._reader.need_vault()
        epoch, start, keys = self._ahead
        if epoch != vault.epoch or not 0 <= first - start <= len(keys) - count:
            ahead = min(max(KEYS_AHEAD, 2 * len(keys)), MOST_AHEAD) if count < SIGN_CHUNK else 0
            found = vault.keys(first, count + ahead)
            keys = [key for key in found if key is not None]
            if len(keys) != len(found):
                raise IntegrityError(
                    f"the vault lacks keys for indexes behind {first}, which were never used"
                )
            start, self._ahead = first, (vault.epoch, first, keys)
        return keys[first - start : first - start + count]

    def _unknown_places(self, request: AppendRequest) -> list[int]:
        """Return the places of drafts that are not in the log, filling in those that are."""
        if not any(request.keys):
            request.placed = [_UNPLACED] * len(request.drafts)
            return list(range(len(request.drafts)))
        wanted = [key for key in request.keys if key is not None]
        found = self._reader.key_index.find(wanted) if wanted else {}
        request.placed = [
            Placed(RecordId(self._reader.envelope(found[key]).id), found[key], known=True)
            if key is not None and key in found
            else _UNPLACED
            for key in request.keys
        ]
        self._refuse_others(request)
        seen: set[str] = set()
        new: list[int] = []
        for place, (key, placed) in enumerate(zip(request.keys, request.placed, strict=True)):
            if placed.known:
                continue
            if key is not None and key in seen:
                raise InvalidRecordError(f"the transaction uses the key {key!r} twice")
            if key is not None:
                seen.add(key)
            new.append(place)
        return new

    def _refuse_others(self, request: AppendRequest) -> None:
        """Raise IdempotencyConflictError where a key is in the log with something else than its draft says."""
        if not request.held or not any(placed.known for placed in request.placed):
            return
        earlier: list[str | None] = []
        for draft, placed in zip(request.drafts[: request.held], request.placed, strict=False):
            if placed.known:
                refuse_another(self._reader, placed.index, draft, earlier)
            earlier.append(placed.id if placed.known else None)

    def _next_time(self, last: datetime, drafts: Sequence[Draft]) -> datetime:
        """Return max(now, last + 1 µs); raise ClockError when the clock stands more than five minutes behind."""
        now = self._clock()
        if now > last:
            return now
        if last - now > CLOCK_TOLERANCE and not self._accepted(last, drafts):
            raise ClockError(
                f"the clock says {now:%Y-%m-%d %H:%M:%S}Z, but the log's last record is of "
                f"{last:%Y-%m-%d %H:%M:%S}Z; set the "
                "clock right, or accept it once with `braid doctor --accept-clock` (it is logged)"
            )
        return last + TICK

    def _text_of(self, now: datetime) -> str:
        """Return a time as records write it. Formatting costs more than the rest: once for each second it is enough."""
        since = now - self._second
        if not _NO_TIME <= since < _SECOND:
            self._second = now.replace(microsecond=0)
            self._second_text = self._second.isoformat()[:19]
            since = now - self._second
        return f"{self._second_text}.{since.microseconds:06}Z"

    def _accepted(self, last: datetime, drafts: Sequence[Draft]) -> bool:
        return any(draft.public.get("op") == "clock" for draft in drafts) or is_lag_accepted(
            self._reader, last
        )

    def _resolve(
        self, draft: Draft, request: AppendRequest, written: dict[int, tuple[int, RecordId]], place: int
    ) -> list[Link]:
        """Turn the draft's targets into links; raise for one that is unknown, erased, or below its parents."""
        links: list[Link] = []
        for role, target in draft.links:
            if isinstance(target, str):
                index = self._reader.index_of(target)
                envelope = self._reader.envelope(index)
                if envelope.id != target:
                    raise UnknownRecordError(f"{target}: no such record; index {index} is {envelope.id}")
                if index in self._reader.control.erased and draft.public.get("op") != "certify":
                    raise ErasedError(f"{target} was erased and can't be linked to")
                if index in self._reader.control.hidden and role in DERIVATION_ROLES and _quotes(draft):
                    raise ForgottenError(
                        f"{target} was forgotten meanwhile, and this may quote it: ask again"
                    )
                kind, type_, id = envelope.kind, envelope.type, RecordId(target)
            else:
                at = earlier_place(target, place)
                index, id = written[at]
                kind, type_ = request.drafts[at].kind, request.drafts[at].type
            if role == "parent" and draft.kind == kind == "experience" and not may_derive(type_, draft.type):
                raise InvalidRecordError(
                    f"{with_article(draft.type)} can't be derived from {id}, {with_article(type_)}: derivation goes up"
                )
            links.append(Link(role, index, id))
        self._refuse_beneath(request, written, place, links)
        return links

    def _refuse_beneath(
        self, request: AppendRequest, written: dict[int, tuple[int, RecordId]], place: int, links: list[Link]
    ) -> None:
        """Refuse what is said in place of what a higher class said (SPEC §4.9)."""
        size = self._reader.size
        replaced = [link.index for link in links if link.role == SUPERSEDES and link.index < size]
        if replaced and is_judged(request.drafts[place]):
            check_replacement(self._reader, self._class_of(request, written, place), replaced)

    def _class_of(
        self, request: AppendRequest, written: dict[int, tuple[int, RecordId]], place: int
    ) -> SourceClass:
        """Return whose words a draft is, by its signer, its actor and by all that it was made of."""
        draft = request.drafts[place]
        found: list[SourceClass] = [at_first_hand(self._signer_for(draft, request.signer).role, draft.body)]
        if found == ["owner"]:
            return "owner"  # on whatever they rest: who says so is the owner
        for role, target in draft.links:
            if role not in DERIVATION_ROLES:
                continue
            if isinstance(target, str):
                found.append(self._reader.source_classes.of(self._reader.index_of(target)))
                continue
            earlier = earlier_place(target, place)
            index = written[earlier][0]
            known = index < self._reader.size
            found.append(
                self._reader.source_classes.of(index) if known else self._class_of(request, written, earlier)
            )
        return lowest(found)

    def _signer_for(self, draft: Draft, wanted: str | None) -> Signer:
        """Return the key that may sign this draft; raise KeyRefusedError where there is none."""
        body, newest = draft.body, self._reader.control.newest
        said = body.provenance if isinstance(body, ExperienceBody) else _NOBODY
        alike = (draft.kind, "op" in draft.public, said.actor, said.name, wanted, newest, len(self.signers))
        signer = self._chosen.get(alike)
        if signer is None:
            if len(self._chosen) > _CHOICES:
                self._chosen.clear()
            signer = self._chosen[alike] = self._choose_signer(draft, wanted)
        return signer

    def _choose_signer(self, draft: Draft, wanted: str | None) -> Signer:
        control = "op" in draft.public
        if wanted is not None:
            signer = self.signers.get(wanted)
            if signer is None:
                raise KeyRefusedError(f"{wanted} is not a private key of this store")
            candidates = [signer]
        else:
            order = (
                ("root", "operator")
                if control or draft.kind in ("key", "tombstone")
                else ("recorder", "agent", "user", "tool")
            )
            candidates = [s for role in order for s in self.signers.values() if s.role == role]
        refusal = f"no private key here may sign {with_article(draft.kind)}: `braid key admit` makes one"
        if draft.kind == "key" and wanted is None:
            candidates = [signer for signer in candidates if signer.role == "root"]
            refusal = "only a root key admits and revokes keys, and none is here: bring keys/root-….key back for this"
        for signer in candidates:
            problem = self._signing_problem(signer, draft, control=control)
            if problem is None:
                return signer
            refusal = problem
        raise KeyRefusedError(refusal)

    def _signing_problem(self, signer: Signer, draft: Draft, *, control: bool) -> str | None:
        life = self._reader.control.keys.get(signer.id)
        if draft.kind != "genesis":
            if life is None:
                return f"key {signer.id} was never admitted to this log"
            if life.revoked is not None:
                return f"key {signer.id} was revoked at {life.revoked}"
        if draft.kind not in ROLE_KINDS[signer.role] or (control and signer.role not in ("root", "operator")):
            return f"a key of role {signer.role} may not sign this {draft.kind}"
        if signer.role in OWN_WORDS_ROLES and isinstance(draft.body, ExperienceBody):
            actor = draft.body.provenance.actor
            if actor.partition("(")[0] != signer.role or (
                signer.actor and signer.actor not in (actor, draft.body.provenance.name)
            ):
                return f"key {signer.id} signs for {signer.actor or signer.role}, not for {actor}"
        return None


def _checked(draft: Draft, now: datetime) -> bytes:
    """Return a draft's body as it will be sealed; raise InvalidRecordError for one that must not enter the log."""
    try:
        check_draft(draft, now)
    except (AttributeError, TypeError):  # a value of another type than its member's; its decoder says which
        encode_body(draft)
        raise
    return encode_body(draft)
