"""Does the LanceDB projection hold what the log says? (SPEC §10.10; `braid verify --deep`)

Every row is made again from the log and compared, cell by cell; vectors of a model that is at hand are asked for again.
A remote model is never asked: its vectors are compared with those that were kept sealed, where they were.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np

from braid.ledger.audit.findings import Finding
from braid.ledger.crypto.seal import RecordKey
from braid.ledger.read.reader import Reader
from braid.views.embedder import Embedder, EmbeddingError, embedded
from braid.views.errors import DamagedViewError
from braid.views.lance.cache import CacheKey
from braid.views.lance.card import card_of
from braid.views.lance.folder import LanceHome
from braid.views.lance.model import VectorModel, model_of
from braid.views.lance.rows import rows_of
from braid.views.lance.schema import EXPERIENCE, SIGNATURE, STAMP, VERSION
from braid.views.lance.view import LanceView, told_as_damage
from braid.views.projection import HeadFacts
from braid.views.replay import refusal, standing_then, take_standing

_CHUNK: Final = 4_096
_NEAR: Final = 1e-4
_OF_THE_MODEL: Final = ("vector", "pending", "model", "card")
"""What doesn't follow from the record alone; the signatures' `model` does."""


def check_rows(
    reader: Reader, home: LanceHome, embedder: Embedder | None, standing: HeadFacts | None = None
) -> list[Finding]:
    """Return what is wrong with the current set, in log order; its lock is the caller's.

    `standing` is that of the prefix that the set was made from, where it is not the log's head. A set that stands
    before the head is compared with the log as it was then.
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
    reader: Reader, home: LanceHome, embedder: Embedder | None, standing: HeadFacts
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
    beyond = _count(
        view, f"log_index IS NULL OR (kind != '{STAMP}' AND (log_index >= {position} OR log_index < 0))"
    )
    if beyond:
        yield None, f"it holds {beyond} rows of no record of this log"
    # A crash between two batches leaves rows that were made with the head's standing, behind which the set is.
    standings = [standing] if position == standing.size else [standing, standing_then(reader, position)]
    for start in range(0, position, _CHUNK):
        stop = min(start + _CHUNK, position)
        held = _held(view, start, stop)
        made = [_made(reader, each, start, stop) for each in standings]
        yield from _against_log(held, made, view.model.name)
        if model is not None:
            yield from _against_model(held, model)
        elif reader.vault is not None and view.model.name:
            keys = dict(enumerate(reader.vault.keys(start, stop - start), start))
            yield from _against_cache(keys, home, view.model, held)


def _count(view: LanceView, where: str) -> int:
    with told_as_damage("read"):
        return view.table.count(where)


def _held(view: LanceView, start: int, stop: int) -> dict[int, list[dict[str, Any]]]:
    where = f"log_index >= {start} AND log_index < {stop}"
    with told_as_damage("read"):
        table = view.table.rows(where)
    held: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    vectors = table["vector"].combine_chunks()
    dense = np.zeros((len(table), vectors.type.list_size), dtype=np.float32)
    there = vectors.is_valid().to_numpy(zero_copy_only=False)
    dense[there] = vectors.flatten().to_numpy().reshape(-1, vectors.type.list_size)
    for row, vector, has in zip(table.drop_columns(["vector"]).to_pylist(), dense, there, strict=True):
        held[row["log_index"]].append(row | {"vector": vector if has else None})
    return {index: sorted(rows, key=lambda row: row["k"]) for index, rows in held.items()}


def _made(reader: Reader, standing: HeadFacts, start: int, stop: int) -> dict[int, list[dict[str, Any]]]:
    """Return the rows that are made from the records, all but what a model adds."""
    return {
        entry.record.envelope.index: rows_of(entry, standing)
        for entries in reader.entries(start, stop)
        for entry in entries
    }


def _against_log(
    held: dict[int, list[dict[str, Any]]], made: Sequence[dict[int, list[dict[str, Any]]]], model: str
) -> Iterator[tuple[int, str]]:
    """Compare rows with those that are made by one of these standings."""
    for index in sorted(held.keys() | {at for each in made for at, rows in each.items() if rows}):
        theirs = held.get(index, [])
        ways = [each.get(index, []) for each in made]
        if all(len(theirs) != len(ours) for ours in ways):
            yield index, "rows were removed" if len(theirs) < len(ways[0]) else "rows were added"
        elif wrong := min((_differing(theirs, ours) for ours in ways), key=len):
            yield index, f"its rows are not those that are made from the record ({', '.join(wrong)})"
        elif any(not _is_embedded(row, model) for row in theirs):
            yield index, "its row says otherwise than its vector whether it waits for one, or whose it is"
        elif any(row["card"] != _card(row) for row in theirs):
            yield index, "its card does not say what its row says"


def _differing(theirs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> list[str]:
    """Return the columns in which rows differ from those that were made, all of one record."""
    if len(theirs) != len(ours):
        return ["rows"]
    names: dict[str, None] = {}
    for held, made in zip(theirs, ours, strict=True):
        others = _OF_THE_MODEL if held["kind"] != SIGNATURE else ("vector", "pending", "card")
        compared = [name for name in held if name not in others]
        names |= {name: None for name in compared if not _same(held[name], made.get(name))}
    return list(names)


def _same(held: Any, made: Any) -> bool:
    if isinstance(made, float):
        return held is not None and float(held) == float(np.float32(made))
    return held == made or (not held and not made)


def _is_embedded(row: dict[str, Any], model: str) -> bool:
    """Whether what a row says of its vector is so: it has one, of the set's model, or waits for it, or has no words."""
    if row["kind"] != EXPERIENCE or not row["text"]:
        return row["vector"] is None and not row["pending"]
    has = row["vector"] is not None
    return row["pending"] is not has and row["model"] == (model if has else None)


def _card(row: dict[str, Any]) -> bytes | None:
    return card_of(row) if row["kind"] == EXPERIENCE else None


def _against_cache(
    keys: dict[int, RecordKey | None],
    home: LanceHome,
    model: VectorModel,
    held: dict[int, list[dict[str, Any]]],
) -> Iterator[tuple[int, str]]:
    """Compare vectors with those that were kept, sealed under their records' keys."""
    there = [row for rows in held.values() for row in rows if row["vector"] is not None and row["text"]]
    wanted = {
        row["log_index"]: CacheKey(row["log_index"], key.row, model.name, row["text"])
        for row in there
        if (key := keys.get(row["log_index"])) is not None
    }
    kept = home.cache.get(list(wanted.values()), model.dimensions)
    for row in there:
        vector = kept.get(row["log_index"])
        if vector is not None and float(np.abs(row["vector"] - vector).max()) > _NEAR:
            yield row["log_index"], "its vector is not the one that its model gave for its text"


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
