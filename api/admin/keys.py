"""Keys of authors, the durability of appends, and the signed head."""

from typing import Final

from braid.admin.erasure import Noted
from braid.ledger.errors import KeyRefusedError, ReadOnlyError, UnknownKeyError, UnpublishedError
from braid.ledger.keys.author_key import Signer
from braid.ledger.record.record import Draft, KeyBody
from braid.ledger.settings import Durability
from braid.ledger.write.create import admission
from braid.operation import Index, Name, Request, Response, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)


class Admit(Request, frozen=True, kw_only=True):
    """For which role (user, agent, tool, system, operator …) a key is made, and for which actor."""

    role: Name
    actor: Name | None = None


class Admitted(Response, frozen=True, kw_only=True):
    """A key that was admitted: its id, and its public half in hex. The private half stays in `keys/`."""

    id: str
    role: str
    actor: str | None
    public: str


@operation(
    Admit,
    Admitted,
    access="keys",
    cost="record",
    positional=("role", "actor"),
    example=Admit(role="agent", actor="planner"),
    errors=(ValueError, *_WRITES),
)
def admit(session: Session, asked: Admit) -> Admitted:
    """Make a key for one role and actor, admit it to the log and keep its private half in `keys/`.

    Raises ValueError for an unknown role, KeyRefusedError where the root key is not here.
    """
    from braid.ledger.write.ceremony import take_in

    signer = Signer.fresh(asked.role, asked.actor)
    take_in(session.writer, signer, [admission(session.origin, signer)])
    return Admitted(id=signer.id, role=signer.role, actor=signer.actor, public=signer.public.hex())


class Revoke(Request, frozen=True, kw_only=True):
    """Which key is revoked. Records that it signed from `compromised_since` (an index) on become disputed."""

    id: Name
    compromised_since: Index | None = None
    reason: str | None = None


@operation(
    Revoke,
    Noted,
    access="keys",
    cost="record",
    positional=("id",),
    returns="id",
    example=Revoke(id="k_mfrggzdfmztwq2lknnwg", reason="the laptop was stolen"),
    errors=(UnknownKeyError, ValueError, *_WRITES),
)
def revoke(session: Session, asked: Revoke) -> Noted:
    """Revoke a key from here on; return the id of the record that says so.

    Raises UnknownKeyError for a key that was never admitted, ValueError for an index that the log doesn't have.
    """
    session.refresh()  # another process may have admitted it
    if asked.id not in session.reader.control.keys:
        raise UnknownKeyError(f"{asked.id} was never admitted to this log")
    since = asked.compromised_since
    if since is not None and since > len(session):
        raise ValueError(f"compromised since {since} disputes nothing: the log has {len(session)} records")
    public = {"op": "revoke", "id": asked.id, "compromised_since": since}
    draft = Draft(kind="key", body=KeyBody(reason=asked.reason), public=public)
    return Noted(id=session.append_drafts([draft])[0].id)


class SetDurability(Request, frozen=True, kw_only=True):
    """When an append is on disk: at once, within an interval, or when the system likes; and why."""

    mode: Durability
    reason: str | None = None


@operation(
    SetDurability,
    Noted,
    access="admin",
    cost="record",
    positional=("mode",),
    returns="id",
    example=SetDurability(mode="always"),
    errors=_WRITES,
)
def set_durability(session: Session, asked: SetDurability) -> Noted:
    """Choose when an append is on disk (`always`, `interval`, `none`) by a signed event; return its id.

    It counts here at once, in other handles when they are opened again. Raises KeyRefusedError without an operator's
    key.
    """
    from braid.ledger.write.durability import choose

    return Noted(id=choose(session.writer, asked.mode, asked.reason))


class Checkpoint(Request, frozen=True, kw_only=True):
    """The publishing of the present head."""


class Published(Response, frozen=True, kw_only=True):
    """The signed head: how many records it covers, its root in hex, and the note as c2sp.org/tlog-checkpoint has it."""

    size: int
    root: str
    note: str


@operation(
    Checkpoint,
    Published,
    access="operate",
    cost="record",
    repeatable=True,
    example=Checkpoint(),
    errors=(UnpublishedError, *_WRITES),
)
def checkpoint(session: Session, asked: Checkpoint) -> Published:
    """Sign and publish the present head now. Raises UnpublishedError where it can't be."""
    del asked
    session.writer.checkpoint()
    head = session.reader.published
    return Published(size=head.size, root=head.root.hex(), note=session.reader.checkpoint_note.decode())
