"""Does the LanceDB projection hold what the log says? (SPEC §10.10; `braid verify --deep`)

Every row is made anew from the log and compared, cell by cell; vectors of a model that is at hand are asked for again.
A remote model is never asked: its vectors are compared with nothing.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from braid.ledger.audit.findings import Finding
from braid.ledger.reader import Reader
from braid.views.embedder import Embedder, EmbeddingError, embedded
from braid.views.errors import DamagedViewError
from braid.views.lance.card import card_of
from braid.views.lance.home import LanceHome
from braid.views.lance.model import model_of
from braid.views.lance.rows import rows_of
from braid.views.lance.schema import EXPERIENCE, STAMP, VERSION
from braid.views.lance.view import LanceView, told_as_damage
from braid.views.projection import Standing
from braid.views.replay import refusal, take_standing

_CHUNK: Final = 4_096
_NEAR: Final = 1e-4
_MADE: Final = (
    "id", "kind", "role", "text", "speaker", "name", "user_id", "agent_id", "run_id", "session_id", "turn",
    "happened_us", "target", "salience", "label",
)  # fmt: skip
"""What follows from the record alone."""


def check_rows(
    reader: Reader, home: LanceHome, embedder: Embedder | None, standing: Standing | None = None
) -> list[Finding]:
    """Return what is wrong with the current set, in log order; its lock is the caller's.

    `standing` is that of the prefix that the set was made from, where it is not the log's head.
    """
    current = home.current()
    if current is None:
        return []
    where = f"views/lance/{current.folder}"
    try:
        return [
            Finding("projection", said, index, file=where)
            for index, said in _findings(reader, home, embedder, standing or take_standing(reader))
        ]
    except DamagedViewError as error:
        return [Finding("projection", f"the set can't be read: {error}", None, file=where)]


def _findings(
    reader: Reader, home: LanceHome, embedder: Embedder | None, standing: Standing
) -> Iterator[tuple[int | None, str]]:
    view = home.open()
    if view.stamp is None:
        yield None, "it was never finished: it has to be rebuilt"
        return
    if why := refusal(view.stamp, VERSION, reader, standing):
        yield None, f"it has to be rebuilt: {why}"
        return
    model = embedder if embedder and not embedder.remote and model_of(embedder) == view.model else None
    position = view.stamp.position
    beyond = _count(view, f"kind != '{STAMP}' AND (log_index >= {position} OR log_index < 0)")
    if beyond:
        yield None, f"it holds {beyond} rows of no record of this log"
    if position != standing.size:
        return  # rows follow from the log's head: a set that stands before it can't be compared with the log
    for start in range(0, position, _CHUNK):
        stop = min(start + _CHUNK, position)
        held = _held(view, start, stop)
        made = {
            entry.record.envelope.index: rows_of(entry, standing)
            for entries in reader.entries(start, stop)
            for entry in entries
        }
        yield from _against_log(held, made)
        if model is not None:
            yield from _against_model(held, model)


def _count(view: LanceView, where: str) -> int:
    with told_as_damage("read"):
        return int(view.table.count_rows(where))


def _held(view: LanceView, start: int, stop: int) -> dict[int, list[dict[str, Any]]]:
    where = f"log_index >= {start} AND log_index < {stop}"
    with told_as_damage("read"):
        columns = ["log_index", "k", "pending", "vector", "card", *_MADE]
        table = view.table.search().where(where).select(columns).to_arrow()
    held: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    vectors = table["vector"].combine_chunks()
    dense = np.zeros((len(table), vectors.type.list_size), dtype=np.float32)
    there = vectors.is_valid().to_numpy(zero_copy_only=False)
    dense[there] = vectors.flatten().to_numpy().reshape(-1, vectors.type.list_size)
    for row, vector, has in zip(table.drop_columns(["vector"]).to_pylist(), dense, there, strict=True):
        held[row["log_index"]].append(row | {"vector": vector if has else None})
    return {index: sorted(rows, key=lambda row: row["k"]) for index, rows in held.items()}


def _against_log(
    held: dict[int, list[dict[str, Any]]], made: dict[int, list[dict[str, Any]]]
) -> Iterator[tuple[int, str]]:
    for index in sorted(held.keys() | {at for at, rows in made.items() if rows}):
        theirs, ours = held.get(index, []), made.get(index, [])
        if len(theirs) != len(ours):
            yield index, "rows were removed" if len(theirs) < len(ours) else "rows were added"
        elif any(_cells(one) != _cells(other) for one, other in zip(theirs, ours, strict=True)):
            yield index, "its rows are not those that are made from the record"
        elif any(row["card"] != _card(row) for row in theirs):
            yield index, "its card does not say what its row says"


def _card(row: dict[str, Any]) -> bytes | None:
    return card_of(row) if row["kind"] == EXPERIENCE else None


def _cells(row: dict[str, Any]) -> list[Any]:
    cells = [row.get(name) for name in _MADE]
    return [float(np.float32(cell)) if isinstance(cell, float) else cell or None for cell in cells]


def _against_model(held: dict[int, list[dict[str, Any]]], model: Embedder) -> Iterator[tuple[int, str]]:
    rows = iter([row for each in held.values() for row in each if row["text"] and not row["pending"]])
    while some := list(islice(rows, 1_024)):
        try:
            vectors = embedded(model, [row["text"] for row in some])
        except EmbeddingError:
            return  # what can't be asked can't be compared
        for row, vector in zip(some, vectors, strict=True):
            if row["vector"] is None or float(np.abs(row["vector"] - vector).max()) > _NEAR:
                yield row["log_index"], "its vector is not the one that the model gives for its text"
