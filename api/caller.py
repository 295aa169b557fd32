"""Who asks: what a caller may do, and whose memory is theirs to see.

A session is opened with everything allowed; a server puts a caller between it and whoever asks from outside. What
holds a caller to their scope is `isolation`.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from braid.errors import AccessDeniedError
from braid.ledger.record.record import ASKED_BY
from braid.ledger.record.scope import SCOPES
from braid.operation import ALL_ACCESS, Access

if TYPE_CHECKING:
    from braid.ledger.record.record import Draft

CallerKind = Literal["operator", "person", "agent", "autonomous", "model"]
GRANTS: Final[dict[CallerKind, frozenset[Access]]] = {
    "operator": ALL_ACCESS,
    "person": frozenset(("read", "write", "modify", "forget", "recover")),
    "agent": frozenset(("read", "write", "modify")),
    "autonomous": frozenset(("read", "write")),
    "model": frozenset(("read",)),
}
"""What a caller of each kind is given where nothing narrower is said; more is never given but to an operator."""
_SPEAK_FOR_OWNER: Final[frozenset[CallerKind]] = frozenset(("operator", "person"))
"""Kinds whose callers may say what the owner says: what any other captures of a person is on the word of an agent."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever asks. Ids that are given hold them to that scope; `operations`, to those alone."""

    name: str
    kind: CallerKind = "operator"
    allowed: frozenset[Access] = ALL_ACCESS
    operations: frozenset[str] | None = None
    token: str | None = None
    """The id of the token that they ask with."""
    records: bool = False
    """Whether they bring a harness's own transcripts, in which it is a person who says what a person says."""
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    project_id: str | None = None
    session_id: str | None = None

    @property
    def scope(self) -> dict[str, str]:
        """The ids that hold them; empty for whoever may see the whole store."""
        return {name: value for name in SCOPES if (value := getattr(self, name)) is not None}


_ASKING: ContextVar[Caller | None] = ContextVar("braid_caller", default=None)


def asking() -> Caller | None:
    """Return who asks; None within the process that opened the store."""
    return _ASKING.get()


@contextmanager
def asked_by(caller: Caller | None) -> Generator[None]:
    """Let what is called in the block be asked by a caller."""
    token = _ASKING.set(caller)
    try:
        yield
    finally:
        _ASKING.reset(token)


THIS_MACHINE: Final = "this machine"
"""Who asks through the socket in the store's folder: whoever can open that folder has the store anyway."""


def asked_for() -> dict[str, str]:
    """Return what a body says of who asks; nothing within the process that opened the store."""
    caller = asking()
    if caller is None or (caller.kind == "operator" and caller.name == THIS_MACHINE):
        return {}
    return {ASKED_BY: f"{caller.kind} {caller.name}"}


def reason_or_asker(reason: str | None) -> str:
    """Return why something is forgotten or comes back: where nobody said, who asked for it."""
    caller = asking() if asked_for() else None
    return reason or f"asked by {'the owner' if caller is None else caller.name}"


def attributed(batch: "Sequence[Draft]") -> "Sequence[Draft]":
    """Return drafts that say who asked for them (`003_` §22.1)."""
    said = asked_for()
    if not said:
        return batch
    return [msgspec.structs.replace(one, extra={**one.extra, **said}) for one in batch]


def speaks_for_owner(caller: Caller | None) -> bool:
    """Whether what a caller says is the owner's word: a person's, an operator's, of whoever opened the store."""
    return caller is None or caller.kind in _SPEAK_FOR_OWNER


def require_person(what: str) -> None:
    """Raise AccessDeniedError where a program asks: `what` is decided by a person, whatever the phase."""
    caller = asking()
    if not speaks_for_owner(caller):
        raise AccessDeniedError(f"{what} is for a person or an operator")


def as_said_by(caller: Caller | None, batch: "Sequence[Draft]") -> "Sequence[Draft]":
    """Return drafts as a caller may say them: whoever speaks for no owner is no owner, whatever actor they name."""
    if (caller is not None and caller.records) or speaks_for_owner(caller):
        return batch
    return [_lowered(draft) for draft in batch]


def _lowered(draft: "Draft") -> "Draft":
    from braid.ledger.record.record import ExperienceBody
    from braid.ledger.record.source import WORDS

    body = draft.body
    if not isinstance(body, ExperienceBody) or body.provenance.actor.partition("(")[0] != "user":
        return draft
    tags = [tag for tag in body.tags if not tag.startswith(WORDS) or tag == f"{WORDS}outsider"]
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(body, tags=[*tags, f"{WORDS}agent"]))


def narrowed(kind: CallerKind, asked: Iterable[Access] | None) -> frozenset[Access]:
    """Return what a caller of a kind is given; AccessDeniedError for more than their kind may have."""
    given = GRANTS[kind] if asked is None else frozenset(asked)
    if over := sorted(given - GRANTS[kind]):
        raise AccessDeniedError(f"a caller of the kind {kind} is never given {', '.join(over)}")
    return given
