"""Whether something is in a scope: the one rule of whose memory it is. Pure."""

from collections.abc import Callable
from operator import attrgetter
from typing import Final, Protocol

SCOPES: Final = ("user_id", "agent_id", "run_id", "project_id", "session_id")
OWNERS: Final = SCOPES[:4]
"""Those that say whose memory it is; a session is a part of it."""


MOST_CHARS: Final = 1_000
"""Of an id of a scope that a caller gives."""
NO_CONTROL: Final = r"^(?![\s\S]*[\u0000-\u001f\u007f-\u009f\u2028\u2029])"
"""What such an id matches, as JSON Schema writes it: nothing in it moves a terminal's cursor or begins a line."""
SAID: Final = f"text of 1 to {MOST_CHARS} characters, without control characters"
"""What such an id is. Older logs have others, which stay what they are."""


class Ids(Protocol):
    """Ids, each of which may be missing: a record's scope, a row of an index, what a caller asks for."""

    @property
    def user_id(self) -> str | None:
        """Whose it is."""
        ...

    @property
    def agent_id(self) -> str | None:
        """The agent's that heard it."""
        ...

    @property
    def run_id(self) -> str | None:
        """The run's that it was heard in."""
        ...

    @property
    def project_id(self) -> str | None:
        """The project's that it is about."""
        ...

    @property
    def session_id(self) -> str | None:
        """The session's that it was said in."""
        ...


_IDS: Final[Callable[[Ids], tuple[str | None, ...]]] = attrgetter(*SCOPES)
_NONE: Final = (None,) * len(SCOPES)


def in_scope(own: Ids | None, wanted: Ids | None) -> bool:
    """Whether what has the ids `own` belongs to all the ids that are wanted; no id stands in for another."""
    if wanted is None:
        return True
    for name in SCOPES:  # a loop, since hundreds of rows are asked for each question
        id = getattr(wanted, name)
        if id is not None and (own is None or getattr(own, name) != id):
            return False
    return True


def ids_of(own: Ids | None) -> tuple[str | None, ...]:
    """Return the ids in the order of `SCOPES`."""
    return _NONE if own is None else _IDS(own)


def memory_of(own: Ids | None) -> tuple[str | None, ...]:
    """Return the ids of the memory that something is of: all but the session's. What is said in one memory corrects
    and repeats nothing in another."""
    return ids_of(own)[: len(OWNERS)]


def owner_of(own: Ids | None) -> str:
    """Return whose memory something with these ids is of: `user_id:ana`, else the agent's, else the run's, else the
    project's; else nobody's, empty.

    What is known of people and things in one memory isn't known in another.
    """
    for name in OWNERS:
        if own is not None and (id := getattr(own, name)) is not None:
            return f"{name}:{id}"
    return ""
