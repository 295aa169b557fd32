"""Whether something is in a scope: the one rule of whose memory it is. Pure."""

from typing import Final, Protocol

SCOPES: Final = ("user_id", "agent_id", "run_id", "session_id")


class Ids(Protocol):
    """Four ids, each of which may be missing: a record's scope, a row of an index, what a caller asks for."""

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
    def session_id(self) -> str | None:
        """The session's that it was said in."""
        ...


def in_scope(own: Ids | None, wanted: Ids | None) -> bool:
    """Whether what has the ids `own` belongs to all the ids that are wanted; no id stands in for another."""
    return wanted is None or all(
        (id := getattr(wanted, name)) is None or (own is not None and getattr(own, name) == id)
        for name in SCOPES
    )


def owner_of(own: Ids | None) -> str:
    """Return whose memory something with these ids is of: `user_id:ana`, else the agent's, else the run's; else
    nobody's, empty.

    What is known of people and things in one memory isn't known in another.
    """
    for name in SCOPES[:3]:
        if own is not None and (id := getattr(own, name)) is not None:
            return f"{name}:{id}"
    return ""
