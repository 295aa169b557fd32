"""A row's card: what recall reads of a memory, in one cell.

LanceDB reads some hundred scattered rows column by column, and each column costs about as much as all of a card
(measured at 10⁵ rows: 23 ms for thirteen columns and the vector, 7 ms for cards that hold them). The columns stay, to
narrow searches and to be compared with the log; a card follows from them.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import numpy as np

from braid.views.embedder import Vectors
from braid.views.errors import DamagedViewError
from braid.views.search import Fetched, Row

_HALF: Final = np.dtype("<f2")
"""Half the bytes of a vector, and less than 0.001 off in a cosine; `vector` keeps it whole."""
CARD_COLUMNS: Final = (
    "id", "text", "kind", "speaker", "name", "user_id", "agent_id", "run_id", "project_id", "session_id",
    "turn", "happened_us",
    "pending", "vector",
)  # fmt: skip
"""What a card is made from, in the order that it holds it."""


class RowCard(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The cells of a row, as MessagePack."""

    id: str
    text: str
    kind: str
    speaker: str | None
    name: str | None
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    project_id: str | None
    session_id: str | None
    turn: int | None
    happened_us: int
    pending: bool
    vector: bytes | None

    def row(self, index: int, salience: float = 1.0, label: str | None = None) -> Row:
        """Return the record as the room above knows it."""
        return Row(
            index, self.id, self.text, self.kind, self.speaker, self.name, self.user_id, self.agent_id, self.run_id,
            self.project_id, self.session_id, self.turn, self.happened_us, salience, label, self.pending,
        )  # fmt: skip


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(RowCard).decode


def card_of(row: Mapping[str, Any]) -> bytes:
    """Return the card of a living memory's row, given by column name."""
    *cells, vector = (row.get(name) for name in CARD_COLUMNS)
    cells[1] = cells[1] or ""
    return _encode([*cells, None if vector is None else np.asarray(vector).astype(_HALF).tobytes()])


def read_cards(cards: Mapping[int, bytes]) -> dict[int, RowCard]:
    """Return cards by log index; raise DamagedViewError for one that can't be read."""
    try:
        return {index: _decode(card) for index, card in cards.items()}
    except msgspec.MsgspecError as error:
        raise DamagedViewError(f"a row's card can't be read ({error})") from None


def vectors_of(cards: Mapping[int, RowCard], dimensions: int) -> dict[int, Vectors]:
    """Return the vectors that cards hold, by log index; raise DamagedViewError for one of another length."""
    held = {index: card.vector for index, card in cards.items() if card.vector is not None}
    joined = b"".join(held.values())
    if len(joined) != len(held) * dimensions * _HALF.itemsize:
        raise DamagedViewError("a row's card holds a vector of another length")
    dense: Any = np.frombuffer(joined, dtype=_HALF).astype(np.float32).reshape(len(held), dimensions)
    return dict(zip(held, dense, strict=True))


def rounded(vector: Vectors) -> Vectors:
    """Return a vector, float32[d], as a card gives it back."""
    return vector.astype(_HALF).astype(np.float32)


def fetched(
    cards: Mapping[int, RowCard], weights: Mapping[int, tuple[float, str | None]], dimensions: int
) -> Fetched:
    """Return what cards say: rows, weighed by salience where the log gives one, and vectors."""
    rows = {index: card.row(index, *weights.get(index, (1.0, None))) for index, card in cards.items()}
    return Fetched(rows, vectors_of(cards, dimensions))
