"""What is asked of the memory, as data: the members that every question has."""

from typing import Annotated, Final, Literal

import msgspec

from braid.errors import InvalidRequestError
from braid.ledger.record.source import SourceClass
from braid.operation import Instant, Json, Name, ScopedAsOf

MAX_TOP_K: Final = 1_000
MARKED: Final = "marked"
"""What `superseded` is asked with."""

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
TopK = Annotated[int, msgspec.Meta(ge=1, le=MAX_TOP_K, description="How many records.")]


AskedText = Annotated[str, msgspec.Meta(min_length=1, description="A question that isn't empty.")]


def refuse_empty(question: str) -> None:
    """Refuse a question that says nothing. Raises InvalidRequestError."""
    if not question.strip():
        raise InvalidRequestError("a question is text that isn't empty")


class AskedTone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tone to be near: valence and dominance in [-1, 1], arousal in [0, 1]; `within`: at most so far away."""

    v: Annotated[float, msgspec.Meta(ge=-1, le=1)]
    a: Annotated[float, msgspec.Meta(ge=0, le=1)]
    d: Annotated[float, msgspec.Meta(ge=-1, le=1)]
    within: Annotated[float, msgspec.Meta(ge=0)] | None = None


Audience = Literal["owner", "group", "third_party"]


class Question(ScopedAsOf, frozen=True, kw_only=True):
    """A question, whose memory it is asked of, and what bounds its answer.

    `filters`: `{"type": {"eq": "observation"}}` with eq, ne, in, gt, gte, lt, lte, contains, joined by AND, OR, NOT.
    `valid_at`: only what had happened by then, less what has been superseded. `now`: what "last month" is relative to;
    nothing later is told. `superseded`: what was replaced is told too, marked. `affect`: tone has a say only then.
    `uncertainty`: the weight of disagreement among the hits, 0 for none. `lens`: the name of one. `limit_s`: how long
    each of the index's answers, the model and the encoder may take; `index_s`: how long the index, to catch up.
    `trust`: the lowest source class that is told. Outsiders' words are told as theirs where it admits them.
    `audience`: before whom it is said. A `group` is given what is of level L1 or less, a `third_party` L0.
    `rerank`: the best 30 are read once more, each together with the question, by the cross-encoder of the extra
    `answers`; without it, or where it takes longer than `limit_s`, the order is what it was.
    """

    query: str
    top_k: TopK = 10
    filters: dict[str, Json] | None = None
    valid_at: Instant | None = None
    now: Instant | None = None
    superseded: Literal["marked"] | None = None
    affect: AskedTone | None = None
    uncertainty: Annotated[float, msgspec.Meta(ge=0)] | None = None
    lens: Name | None = None
    limit_s: Seconds = 5.0
    index_s: Seconds = 60.0
    trust: SourceClass = "outsider"
    audience: Audience = "owner"
    rerank: bool = False
