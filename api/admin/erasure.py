"""What leaves the memory: hidden, brought back, or erased with its key and all that was derived from it alone."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from braid.caller import asked_for, asking, reason_or_asker
from braid.errors import AccessDeniedError, InvalidRequestError, PinnedError
from braid.isolation import is_own, of_asker
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure as erasing
from braid.ledger.erase.cascade import Cascade
from braid.ledger.erase.erasure import Certificate
from braid.ledger.erase.withdrawal import falls_with, refuse_baseless, returns_with
from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    InvalidRecordError,
    KeyRefusedError,
    NoVaultError,
    ReadOnlyError,
    UnknownRecordError,
    UnpurgedError,
)
from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.ledger.record.scope import SCOPES
from braid.log.chain import chain_of, kept, present
from braid.log.lock import refuse_locked
from braid.log.operations import Read, read
from braid.operation import Id, Request, Response, operation
from braid.own_part import own_cascade
from braid.session import Session
from braid.settings import settings
from braid.wal.errors import NoRoomError, OutcomeUnknownError

_ID: Final = "exp_2025-05-17T09:00:00Z_0000000300ab"
_UNKNOWN: Final = (UnknownRecordError, ErasedError, ForgottenError, InvalidRecordError)
_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)

Name = Annotated[
    str,
    Meta(
        min_length=2,
        max_length=200,
        pattern=r"\w.*\w",
        description="A name or a word.",
        extra={"refusal": "a name or a word: two letters or digits at least"},
    ),
]
Ids = Annotated[tuple[Id, ...], Meta(min_length=1, description="The ids of records, at least one.")]


class Named(Response, frozen=True, kw_only=True):
    """The ids of records, in the order of the log."""

    ids: tuple[RecordId, ...]


class Noted(Response, frozen=True, kw_only=True):
    """The record in the log that says so."""

    id: RecordId


class Tombstone(Response, frozen=True, kw_only=True):
    """The tombstone that says so. `known`: it was so already, by this one, and nothing was appended."""

    id: RecordId
    known: bool = False


class Certified(Response, frozen=True, kw_only=True):
    """What was erased, as the signed certificates say; none where nothing was."""

    certificates: tuple[Certificate, ...]


class Forget(Request, frozen=True, kw_only=True):
    """Which memories and other records are hidden, and why. Any id of a memory names all of it: what it said before it
    was corrected too. `only`: just these records, so that what one of them corrected stands again. `force`: pinned ones
    too, which only an operator may ask. Without a `reason` the tombstone says who asked.
    """

    ids: Ids
    reason: str | None = None
    force: bool = False
    only: bool = False


@operation(
    Forget,
    Tombstone,
    access="forget",
    cost="index",
    positional=("*ids",),
    returns="id",
    example=Forget(ids=(_ID,), reason="she asked for it"),
    errors=(*_UNKNOWN, *_WRITES, PinnedError, AccessDeniedError),
)
def forget(session: Session, asked: Forget) -> Tombstone:
    """Hide memories and what falls with them (see `plan_forget`), until they are recovered or erased by `retain`.

    With `only`, a correction alone is taken back, and what it corrected stands again. Returns the tombstone's id: where
    all of them are forgotten already, the id of the one that says so, so a forget can be repeated. Raises
    UnknownRecordError, ErasedError, ForgottenError where some are forgotten already and others aren't;
    InvalidRecordError for what is no memory, PinnedError for a pinned one without `force`.
    """
    _require_force(asked)
    with session.writer.turn():  # nothing that quotes them comes between plan and tombstone
        session.refresh()
        if (done := _forgotten_by(session, asked)) is not None:
            return done
        if not asked.force or settings(session).forget_pinned == "never":
            _refuse_pinned(session, asked.ids)
        refuse_locked(session, asked.ids)
        falls = _falls(session, asked.ids, only=asked.only)
        named = [id for id in dict.fromkeys(asked.ids) if asked.only or not _stands_elsewhere(session, id)]
        return Tombstone(
            id=erasing.forget(session.writer, [*named, *falls], reason_or_asker(asked.reason), asked_for())
        )


def _forgotten_by(session: Session, asked: Forget) -> Tombstone | None:
    """Return the newest tombstone by which all of these are forgotten; None where one of them isn't."""
    reader, by = session.reader, list[int]()
    for id in asked.ids:
        index = reader.index_of(id)
        if index not in reader.control.hidden or reader.envelope(index).id != id:
            return None
        if not asked.only and _stands_elsewhere(session, id):
            return None
        by.append(reader.control.hidden[index][0])
    return Tombstone(id=RecordId(reader.envelope(max(by)).id), known=True)


def _require_force(asked: Forget) -> None:
    """Raise AccessDeniedError where somebody but an operator would force it."""
    caller = asking()
    if asked.force and caller is not None and caller.kind != "operator":
        raise AccessDeniedError(f"only an operator forgets what is pinned, and {caller.name} isn't one")


def _refuse_pinned(session: Session, ids: Iterable[str]) -> None:
    """Raise PinnedError for a record of a pinned memory."""
    reader = session.reader
    for id in ids:
        index = reader.index_of(id)
        if reader.envelope(index).kind == "experience" and kept(reader, chain_of(reader, index)).pinned:
            never = settings(session).forget_pinned == "never"
            how = "forget_pinned is never" if never else "an operator forgets it with force"
            raise PinnedError(f"{id} is pinned: {how}; nothing was changed")


class PlanForget(Request, frozen=True, kw_only=True):
    """Which memories and other records would be hidden; `only`: just these, and not all of the memories they are of."""

    ids: tuple[Id, ...]
    only: bool = False


@operation(
    PlanForget,
    Named,
    access="read",
    cost="index",
    positional=("*ids",),
    returns="ids",
    example=PlanForget(ids=(_ID,)),
    errors=_UNKNOWN,
)
def plan_forget(session: Session, asked: PlanForget) -> Named:
    """Return what would be hidden with these: the rest of their memories, and what rests on them alone or quotes them.

    What rests on them are answers, stances and views. Who is held to a scope is shown no records of others, which fall
    as well. Raises UnknownRecordError, ForgottenError, ErasedError.
    """
    session.refresh()
    return Named(ids=tuple(filter(of_asker(session), _falls(session, asked.ids, only=asked.only))))


def _falls(session: Session, ids: Sequence[str], *, only: bool) -> tuple[RecordId, ...]:
    reader = session.reader
    gone = [id for id in ids if not only and _stands_elsewhere(session, id)]
    targets = [reader.get(id).index for id in ids if id not in gone]
    named = [*targets, *(reader.index_of(id) for id in gone)]
    rest = [] if only else _rest_of(session, named)
    return _ids_of(session, [*rest, *falls_with(reader, [*targets, *rest])])


def _stands_elsewhere(session: Session, id: str) -> bool:
    """Whether a record is forgotten or erased, and other records of its memory stand: its id still names those."""
    reader = session.reader
    index = reader.index_of(id)
    if index not in reader.control.hidden and index not in reader.control.erased:
        return False
    return reader.envelope(index).kind == "experience" and bool(_rest_of(session, [index]))


def _rest_of(session: Session, targets: Sequence[int]) -> list[int]:
    """Return the other records of these memories, of the caller's scope: without them what was corrected would stand
    again, or the correction stay (`003_` §14: any id of a chain names the memory)."""
    reader, caller = session.reader, asking()
    found: set[int] = set()
    for index in targets:
        if index not in found and reader.envelope(index).kind == "experience":
            found.update(present(reader, chain_of(reader, index)))
    return [
        at
        for at in sorted(found.difference(targets))
        if caller is None or is_own(session, caller, reader.envelope(at).id)
    ]


class Recover(Request, frozen=True, kw_only=True):
    """Which forgotten records come back, and why: without a `reason` the tombstone says who asked."""

    ids: Ids
    reason: str | None = None


@operation(
    Recover,
    Tombstone,
    access="recover",
    cost="index",
    positional=("*ids",),
    returns="id",
    example=Recover(ids=(_ID,)),
    errors=(UnknownRecordError, ErasedError, InvalidRecordError, *_WRITES),
)
def recover(session: Session, asked: Recover) -> Tombstone:
    """Bring forgotten records, and what fell with them, back within the retention window; return the tombstone's id.

    Where all of them came back already, it is the id of the tombstone that says so. Raises InvalidRecordError for what
    was not forgotten, is past its window, or rests on what stays forgotten.
    """
    with session.writer.turn():
        session.refresh()
        if (done := _recovered_by(session.reader, asked.ids)) is not None:
            return done
        back = _back(session, asked.ids)
        ids = [*dict.fromkeys(asked.ids), *back]
        return Tombstone(
            id=erasing.recover(session.writer, ids, session.now(), reason_or_asker(asked.reason), asked_for())
        )


def _recovered_by(reader: Reader, ids: Iterable[str]) -> Tombstone | None:
    """Return the newest tombstone by which all of these came back; None where one is gone, or never was."""
    by: list[int] = []
    for id in ids:
        index = reader.index_of(id)
        ways = _ways(reader, index)
        if not ways or ways[-1][1] != "recover" or reader.envelope(index).id != id:
            return None
        by.append(ways[-1][0])
    return Tombstone(id=RecordId(reader.envelope(max(by)).id), known=True)


class PlanRecover(Request, frozen=True, kw_only=True):
    """Which forgotten records would come back."""

    ids: tuple[Id, ...]


@operation(
    PlanRecover,
    Named,
    access="read",
    cost="index",
    positional=("*ids",),
    returns="ids",
    example=PlanRecover(ids=(_ID,)),
    errors=(UnknownRecordError, ErasedError, InvalidRecordError),
)
def plan_recover(session: Session, asked: PlanRecover) -> Named:
    """Return what fell with these forgotten records and would come back with them: not what is past its window.

    A memory that was forgotten as a whole comes back as a whole, by any of its ids: else its old words would stand.

    Who is held to a scope is shown no records of others, which come back as well. Raises InvalidRecordError for a
    record of which all that it rests on stays forgotten.
    """
    session.refresh()
    return Named(ids=tuple(filter(of_asker(session), _back(session, asked.ids))))


def _back(session: Session, ids: Sequence[str]) -> tuple[RecordId, ...]:
    reader = session.reader
    indexes = [reader.get(id, include_forgotten=True).index for id in ids]
    refuse_baseless(reader, indexes)
    indexes += _of_one_memory(reader, indexes)
    late = set(erasing.due(reader, session.now()))
    again = sorted({*indexes, *returns_with(reader, indexes)} - late)
    return tuple(id for id in _ids_of(session, again) if id not in ids)


def _of_one_memory(reader: Reader, indexes: Sequence[int]) -> list[int]:
    """Return the other records that a tombstone hid of memories of which it left nothing."""
    hidden = reader.control.hidden
    found: set[int] = set()
    for index in indexes:
        if index not in hidden or reader.envelope(index).kind != "experience":
            continue
        tombstone = hidden[index][0]
        chain = chain_of(reader, index)
        if all(_was_gone(reader, at, tombstone) for at in chain.members if at < tombstone):
            found.update(at for at in chain.members if at in hidden and hidden[at][0] == tombstone)
    return sorted(found.difference(indexes))


def _was_gone(reader: Reader, index: int, by: int) -> bool:
    """Whether a record was hidden, or erased, once a tombstone had been appended, whatever became of it since."""
    if index in reader.control.erased:
        return True
    ways = [op for at, op in _ways(reader, index) if at <= by]
    return bool(ways) and ways[-1] == "forget"


def _ways(reader: Reader, index: int) -> list[tuple[int, object]]:
    """Return the tombstones that name a record, in log order, each with what it does."""
    named = [at for at, role in reader.backlinks.of(index) if role == "target"]
    return [
        (at, reader.envelope(at).public.get("op")) for at in named if reader.envelope(at).kind == "tombstone"
    ]


def _ids_of(session: Session, indexes: Iterable[int]) -> tuple[RecordId, ...]:
    return tuple(RecordId(session.reader.envelope(index).id) for index in indexes)


class Meant(Request, frozen=True, kw_only=True):
    """Records by their ids; or all of a scope: of all the scope ids that are given. `says`: of the scope, or of the
    store, only what says one of these names as whole words, in whatever case, in what was said or made of it.

    `whole`: with each record all of its memory, as `forget` takes it: what it was corrected to, and what it corrected.

    Ids together with a scope or a name are refused: does that mean both, or what is in both? A scope id may be empty
    here: records of older logs may have one. None is refused: a variable that isn't set must not widen what is erased
    for good.
    """

    ids: tuple[Id, ...] = ()
    user_id: str | msgspec.UnsetType = msgspec.UNSET
    agent_id: str | msgspec.UnsetType = msgspec.UNSET
    run_id: str | msgspec.UnsetType = msgspec.UNSET
    project_id: str | msgspec.UnsetType = msgspec.UNSET
    session_id: str | msgspec.UnsetType = msgspec.UNSET
    says: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    whole: bool = False

    @property
    def scope(self) -> dict[str, str]:
        """The scope ids that are given, by name."""
        return {name: value for name in SCOPES if isinstance(value := getattr(self, name), str)}


class PlanErase(Meant, frozen=True, kw_only=True):
    """What would be erased: records by their ids, or all of a scope, or what says a name."""


@operation(
    PlanErase,
    Cascade,
    access="read",
    cost="log",
    positional=("*ids",),
    example=PlanErase(ids=(_ID,)),
    errors=(UnknownRecordError, ErasedError, InvalidRecordError, NoVaultError),
)
def plan_erase(session: Session, asked: PlanErase) -> Cascade:
    """Return what erasing these records, or everything of a scope or of a name, would take and weaken.

    Who is held to a scope is shown no records of others, of which what rests on these alone goes as well.
    Raises InvalidRequestError for ids together with a scope or a name; UnknownRecordError, ErasedError;
    InvalidRecordError for what is no memory; NoVaultError for a scope or a name where bodies can't be read.
    """
    _require_one_way(asked)
    session.refresh()
    found = cascades.plan_whole(session.reader, _chosen(session, _indexes(session, asked.ids), asked))
    return own_cascade(found, of_asker(session))


class Erase(Meant, frozen=True, kw_only=True):
    """What is erased: records by their ids, or all of a scope, or what says a name; and why."""

    reason: str | None = None


@operation(
    Erase,
    Certified,
    access="erase",
    cost="log",
    repeatable=False,
    destructive=True,
    positional=("*ids",),
    returns="certificates",
    example=Erase(ids=(_ID,), reason="request of 3 June"),
    errors=(UnknownRecordError, ErasedError, InvalidRecordError, NoVaultError, ValueError, *_WRITES),
)
def erase(session: Session, asked: Erase) -> Certified:
    """Erase records and what is derived from them alone; signed certificates say what was done.

    Keys are destroyed, bodies blanked, projections rebuilt. What was derived meanwhile goes too: the cascade
    is planned in one turn with the tombstone. Without `whole`, what an erased correction had corrected stands again,
    and a correction of what is erased stays. Raises ValueError where neither a record, a scope nor a name is
    given, and as `plan_erase` does. SPEC §9.
    """
    if not asked.ids and not asked.scope and not asked.says:
        raise ValueError("nothing was named, and nothing was erased: give ids, the ids of a scope, or says")
    _require_one_way(asked)
    session.refresh()
    with suppress(UnpurgedError):  # what keeps an earlier one from its end must not keep these keys
        erasing.finish(session.writer, session.views.purge)
    choose = partial(_chosen, session, _indexes(session, asked.ids), asked)
    done = erasing.erase(session.writer, choose, session.views.purge, reason=asked.reason)
    return Certified(certificates=tuple(done))


def _require_one_way(asked: Meant) -> None:
    """Raise InvalidRequestError for ids beside a scope or a name: nobody shall erase a scope who meant a record."""
    if asked.ids and (asked.scope or asked.says):
        raise InvalidRequestError(
            "what is erased is named by ids or by a scope and says, not by both: nothing was erased; ask twice"
        )


def _indexes(session: Session, ids: Iterable[str]) -> list[int]:
    reader = session.reader
    found: list[int] = []
    for id in ids:
        found.append(reader.index_of(id))
        if reader.envelope(found[-1]).id != id:
            raise UnknownRecordError(f"{id}: no such record")
    return found


def _chosen(session: Session, indexes: list[int], asked: Meant) -> list[int]:
    if asked.whole:
        if not asked.ids:
            raise InvalidRequestError("whole goes with ids: name a record of each memory that is meant")
        indexes = _whole(session, indexes)
    within = _within(session, asked.scope, asked.says) if asked.scope or asked.says else []
    return indexes + [index for index in within if index not in session.reader.control.erased]


def _whole(session: Session, indexes: Iterable[int]) -> list[int]:
    """Return records and all others of their memories, of the caller's scope; forgotten ones too, which come back.

    One that was erased stands for what is left of its memory; where nothing is, for itself.
    """
    reader, caller = session.reader, asking()
    found: dict[int, None] = {}
    for index in indexes:
        if index in found:
            continue
        memory = chain_of(reader, index).members if reader.envelope(index).kind == "experience" else (index,)
        left = [
            at
            for at in memory
            if at not in reader.control.erased
            and (at == index or caller is None or is_own(session, caller, reader.envelope(at).id))
        ]
        found |= dict.fromkeys(left or [index])
    return list(found)


def _within(session: Session, scope: dict[str, str], says: Sequence[str]) -> list[int]:
    """Return the records of a scope, and of names, by reading the log itself: a projection may lag, or leave out the
    forgotten. What an operator signed about the store itself, such as a setting, is none of them.
    """
    from braid.text.naming import naming

    session.reader.need_vault()
    named = naming(says) if says else None
    found: list[int] = []
    for record in read(session, Read(include_forgotten=True)):
        if record.envelope.is_control or record.kind in ("genesis", "key", "tombstone"):
            continue
        given: dict[str, str] = record.members.get("scope") or {}
        if not all(given.get(name) == value for name, value in scope.items()):
            continue
        about_store = any(link.role == "target" and link.index == 0 for link in record.links)
        if named is None or (not about_store and named(record.members)):
            found.append(record.index)
    return found


class Compact(Request, frozen=True, kw_only=True):
    """The giving back of disk space."""


class Compacted(Response, frozen=True, kw_only=True):
    """How many bytes of disk were given back."""

    freed_bytes: int


@operation(
    Compact,
    Compacted,
    access="operate",
    cost="log",
    repeatable=True,
    returns="freed_bytes",
    example=Compact(),
    errors=(ReadOnlyError, NoRoomError),
)
def compact(session: Session, asked: Compact) -> Compacted:
    """Give back the disk space of erased bodies; return how many bytes. Raises NoRoomError where it has no room."""
    del asked
    return Compacted(freed_bytes=erasing.compact(session.writer))
