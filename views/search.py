"""What a search index over the log answers: log indexes and scores. What is shown is read from the log, verified.

The room above asks through these protocols and never learns what keeps the index. Scopes are fields of their own in
`Where`, so that no key of anybody's metadata can stand in for one. Forgotten and erased records never come back.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

PROMPT = "prompt_semantic"
RESPONSE = "response_semantic"
TEMPORAL = "temporal_profile"
CAUSAL = "causal_profile"
AFFECT = "affect_profile"
ROLES = (PROMPT, RESPONSE, TEMPORAL, CAUSAL, AFFECT)
SEMANTIC = (PROMPT, RESPONSE)
"""The roles whose vectors an index keeps; those of profiles are computed of the record that is asked for."""
SHORT = {"sem": SEMANTIC, "temp": (TEMPORAL,), "caus": (CAUSAL,)}
"""The schema document's names for roles. `sem` is the meaning of what was said, whoever said it."""


def vector_address(uri: str) -> tuple[tuple[str, ...], str]:
    """Return the roles that may be meant and the id of `vec://role/id`; raise ValueError for anything else."""
    scheme, _, rest = uri.partition("://")
    role, _, id = rest.partition("/")
    if scheme != "vec" or (role not in ROLES and role not in SHORT) or not id:
        raise ValueError(f"{uri!r} is no vec://role/id with a role of {', '.join((*SHORT, *ROLES))}")
    return SHORT.get(role, (role,)), id


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """What a hit must satisfy; a field that is None admits everything. Times are microseconds since 1970, UTC."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    project_id: str | None = None
    session_id: str | None = None
    below: int | None = None
    """Only records with a smaller log index: the log as it was at this size."""
    since_us: int | None = None
    """Happened at this time or later."""
    until_us: int | None = None
    """Happened before this time."""
    among: frozenset[int] | None = None
    """Only these log indexes, whatever chose them."""


class IndexHit(msgspec.Struct, frozen=True, gc=False):
    """A record that was found. `score` rises with fitness: a cosine in [-1, 1] for vectors, BM25 (> 0) for words."""

    index: int
    score: float


class Row(msgspec.Struct, frozen=True, gc=False):
    """A record as the index holds it. `text` is for scoring alone: what is shown comes from the log.

    Salience in [0, 1].
    """

    index: int
    id: str
    text: str
    kind: str
    speaker: str | None
    """The role in the conversation: user, assistant, system, tool."""
    name: str | None
    """Who spoke, where the source names them."""
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    project_id: str | None
    session_id: str | None
    turn: int | None
    happened_us: int
    salience: float
    label: str | None
    pending: bool
    """Its meaning waits for a model: only words find it."""


class Fetched(NamedTuple):
    """Rows and unit vectors (float32[d]) by log index; a row whose meaning is pending has none."""

    rows: dict[int, Row]
    vectors: dict[int, Any]


class Index(Protocol):
    """A searchable state of the log; it stays as it is for as long as it is open."""

    @property
    def position(self) -> int:
        """How many records of the log it has taken in."""
        ...

    @property
    def model(self) -> str:
        """The name and version of the model whose vectors it holds, or '' where it holds none."""
        ...

    @property
    def pending(self) -> int:
        """How many records wait for their vector of that model, so that only words find them; 0 without a model."""
        ...

    def nearest(
        self, vector: Any, role: str | Sequence[str] = SEMANTIC, k: int = 10, where: Where | None = None
    ) -> list[IndexHit]:
        """Return the k records whose vectors of this role (or of any of these) are nearest by cosine, best first."""
        ...

    def words(self, text: str, k: int = 10, where: Where | None = None) -> list[IndexHit]:
        """Return the k records that fit the words best by BM25, best first. Any text is a legal question."""
        ...

    def rows(self, where: Where | None = None) -> Iterator[Row]:
        """Yield the records that satisfy `where` in the log's order, some thousands in memory at a time."""
        ...

    def take(self, indexes: Sequence[int]) -> dict[int, Row]:
        """Return the rows of these records, by index; hidden and unknown ones are left out."""
        ...

    def both(self, indexes: Sequence[int]) -> "Fetched":
        """Return rows and vectors of meaning of these records in one go."""
        ...

    def vectors(self, indexes: Sequence[int], role: str | Sequence[str] = SEMANTIC) -> dict[int, Any]:
        """Return unit vectors (float32[d]) of these records, by index; pending ones are left out."""
        ...
