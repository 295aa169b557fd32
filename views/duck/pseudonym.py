"""Tables without names: what becomes of each column when a memory is given away for study. Pure.

Ids and names become keyed hashes: 128 bits of BLAKE3 over kind and value, under a key that the recipient doesn't have:
rows still join, and nobody can test a guess. Texts are left out or kept; what points outside is always left out.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from blake3 import blake3

from braid.views.duck.arrow import pa
from braid.views.duck.schema import TABLES, Column, Table

KEY_SIZE: Final = 32
_KEPT_ACTORS: Final = frozenset(("user", "agent", "system"))
_TOOL: Final = re.compile(r"tool\((.*)\)", re.DOTALL)


class Treatment(NamedTuple):
    """What becomes of a column: `how` is keep, hash, text or drop; `kind` says of what a hash is."""

    how: str
    kind: str = ""


KEEP, TEXT, DROP = Treatment("keep"), Treatment("text"), Treatment("drop")
_SCOPES: Final = ("user", "agent", "run", "project", "session", "external", "key")
_TEXTS: Final = (
    "text", "structured", "reason", "quote", "hedge", "notes", "question", "decision", "claim", "undecided",
    "would_change", "why", "added", "removed", "diff", "signals", "details",
)  # fmt: skip
_OUTSIDE: Final = (
    "once", "media", "sources", "evidence_uris", "embeddings", "hash", "metadata", "data", "public", "public_key",
)  # fmt: skip
"""What points outside the memory, or could be looked up there."""
_KEPT: Final = (
    "log_index", "k", "type", "kind", "role", "rel", "polarity", "created_at", "happened_at", "occurred_at",
    "valid_from", "valid_to", "admitted_at", "tx", "first_index", "records", "sealed_bytes", "disputed",
    "support_erased", "standing", "method", "confidence_p", "confidence_method", "valence", "arousal", "dominance",
    "affect_labels", "affect_intensity", "affect_confidence", "affect_method",
    "source_type", "quote_at", "target_index", "experience_index",
    "lens", "version", "reweighted", "affect_from", "affect_to", "residual_uncertainty", "p", "stage",
    "primary_emotion", "intensity", "confidence", "model", "label", "salience", "op", "epoch", "revoked_index",
    "compromised_since", "asked_at", "candidate", "held", "claim_k", "turn_index",
    "source_class",
)  # fmt: skip
_BY_NAME: Final[dict[str, Treatment]] = {
    **dict.fromkeys(
        ("id", "target_id", "experience_id", "turn_id", "superseded_by", "needs", "unless"),
        Treatment("hash", "record"),
    ),
    **{f"{kind}_id": Treatment("hash", kind) for kind in _SCOPES},
    **dict.fromkeys(("name", "subject", "object", "said_by", "key", "canonical"), Treatment("hash", "name")),
    "actor": Treatment("hash", "actor"),
    "owner": Treatment("hash", "owner"),
    "tags": Treatment("hash", "tag"),
    **dict.fromkeys(_TEXTS, TEXT),
    **dict.fromkeys(_OUTSIDE, DROP),
    **dict.fromkeys(_KEPT, KEEP),
}
_EXCEPTIONS: Final = {("transactions", "name"): KEEP, ("events", "name"): KEEP}
"""Names that are words of ours."""


def treatment_of(table: Table, column: Column) -> Treatment:
    """Return what becomes of a column; KeyError for one that nobody has thought about."""
    return _EXCEPTIONS.get((table.name, column.name)) or _BY_NAME[column.name]


def left(table: Table, *, keep_text: bool) -> list[tuple[Column, Treatment]]:
    """Return the columns that stay, and what becomes of them."""
    treated = [(column, treatment_of(table, column)) for column in table.columns]
    return [
        (column, treatment)
        for column, treatment in treated
        if treatment != DROP and (keep_text or treatment != TEXT)
    ]


class Pseudonyms:
    """Names → pseudonyms under one key: the same name has the same one, wherever it stands."""

    def __init__(self, key: bytes) -> None:
        """Raises ValueError for a key of another length than 32 bytes."""
        if len(key) != KEY_SIZE:
            raise ValueError(f"a key for pseudonyms has {KEY_SIZE} bytes, not {len(key)}")
        self._key = key
        self.of = lru_cache(maxsize=100_000)(self._make)

    def _make(self, kind: str, value: str) -> str:
        """Return the pseudonym of a value of some kind. `actor`: words of ours stay, a tool's name is a name."""
        if kind == "actor":
            if value in _KEPT_ACTORS:
                return value
            tool = _TOOL.fullmatch(value)
            return f"tool({self.of('name', tool[1])})" if tool else self.of("name", value)
        given = b"\0".join((kind.encode(), value.encode()))
        return f"{kind}_{blake3(given, key=self._key).hexdigest(length=16)}"

    @property
    def mark(self) -> str:
        """Eight letters that tell keys apart and give nothing of the key away."""
        return blake3(b"mark", key=self._key).hexdigest(length=4)

    def conceal(self, table: Table, batch: Any, *, keep_text: bool) -> Any:
        """Return a record batch of the table without what is left out, and with pseudonyms for names."""
        columns = left(table, keep_text=keep_text)
        arrays = [self._column(batch.column(column.name), treatment) for column, treatment in columns]
        return pa.RecordBatch.from_arrays(arrays, names=[column.name for column, _ in columns])

    def _column(self, values: Any, treatment: Treatment) -> Any:
        if treatment.how != "hash":
            return values
        made: Callable[[str], str] = lambda value: self.of(treatment.kind, value)  # noqa: E731 - used twice
        if pa.types.is_list(values.type):
            lists = [None if each is None else [made(one) for one in each] for each in values.to_pylist()]
            return pa.array(lists, pa.list_(pa.string()))
        return pa.array([None if each is None else made(each) for each in values.to_pylist()], pa.string())


GIVEN: Final = TABLES
"""The tables that are given away; checkpoints are not: their notes name the log, and the card says its root."""
