"""Vectors for rows that are there already: pending ones filled, a whole set copied under another model."""

from collections.abc import Mapping
from typing import Any, Final

from braid.ledger.errors import LedgerError
from braid.ledger.read.reader import Reader
from braid.views.embedder import Embedder, Vectors, embedded
from braid.views.lance.arrow import pa, schema_of
from braid.views.lance.cache import Cache, CacheKey
from braid.views.lance.card import CARD_COLUMNS, card_of
from braid.views.lance.model import model_of
from braid.views.lance.schema import EXPERIENCE, WAITING
from braid.views.lance.view import COPY_ROWS, LanceView, told_as_damage

FILL_ROWS: Final = 512


def pending(view: LanceView, embedder: Embedder, most: int) -> dict[int, str]:
    """Return the texts of rows that wait for a vector, by log index; raise ValueError for another model's set."""
    model = model_of(embedder)
    if view.model != model:
        raise ValueError(
            f"the projection is of {view.model.name or 'no model'}, and this is {model.name}: open the store with it,"
            " and the projection changes over"
        )
    with told_as_damage("read"):
        rows = view.table.rows(WAITING, ["log_index", "text"], most=most).to_pylist()
    return {row["log_index"]: row["text"] for row in rows}


def asked(
    reader: Reader, cache: Cache, embedder: Embedder, texts: Mapping[int, str]
) -> tuple[dict[int, Vectors], dict[CacheKey, Vectors]]:
    """Return a vector for each text, from the cache or else from the model, and those that the cache lacks."""
    model = model_of(embedder)
    wanted = [
        CacheKey(index, key, model.name, text)
        for index, text in (texts.items() if embedder.remote else ())
        if (key := _row_key(reader, index)) is not None
    ]
    found = cache.get(wanted, model.dimensions)
    missing = [index for index in texts if index not in found]
    fresh = (
        dict(zip(missing, embedded(embedder, [texts[index] for index in missing]), strict=True))
        if missing
        else {}
    )
    return found | fresh, {one: fresh[one.record] for one in wanted if one.record in fresh}


def _row_key(reader: Reader, index: int) -> bytes | None:
    try:
        return reader.vault.key(index).row if reader.vault else None
    except LedgerError:  # erased meanwhile: nothing of it is kept
        return None


def put(view: LanceView, vectors: Mapping[int, Vectors]) -> int:
    """Give rows that still wait their vectors, in one commit; return how many. The lock is the caller's."""
    numbers = ", ".join(f"{index:d}" for index in vectors)
    with told_as_damage("written"):
        rows = view.table.rows(f"{WAITING} AND log_index IN ({numbers})").to_pylist()
        for row in rows:
            row |= {"vector": vectors[row["log_index"]], "model": view.model.name, "pending": False}
        if rows:
            view.replace(rows)
    return len(rows)


def copy(reader: Reader, source: LanceView, made: LanceView, embedder: Embedder, cache: Cache) -> None:
    """Fill an empty set with another set's rows and this model's vectors, some thousands of rows at a time."""
    schema = schema_of(made.model.dimensions)
    with told_as_damage("copied"):
        for batch in source.table.batches("log_index >= 0", None, COPY_ROWS):
            made.table.add(_embedded(reader, batch, embedder, cache, schema))
    made.set_stamp(source.stamp)


def _embedded(reader: Reader, batch: Any, embedder: Embedder, cache: Cache, schema: Any) -> Any:
    table = pa.Table.from_batches([batch])
    kinds, texts, indexes = (table[name].to_pylist() for name in ("kind", "text", "log_index"))
    said = {
        place: text
        for place, (kind, text) in enumerate(zip(kinds, texts, strict=True))
        if kind == EXPERIENCE and text
    }
    vectors, fresh = asked(reader, cache, embedder, {indexes[place]: text for place, text in said.items()})
    cache.put(fresh)  # an erasure waits for whoever makes a set, and takes out of the cache what is gone
    dense: list[Any] = [None] * len(table)
    models: list[str | None] = table["model"].to_pylist()
    for place in said:
        dense[place], models[place] = vectors[indexes[place]].tolist(), model_of(embedder).name
    held = table.select(CARD_COLUMNS[:-1]).to_pylist()
    cards = [
        card_of(row | {"vector": vector, "pending": False}) if row["kind"] == EXPERIENCE else None
        for row, vector in zip(held, dense, strict=True)
    ]
    columns = {
        "vector": pa.array(dense, schema.field("vector").type),
        "model": pa.array(models, pa.string()),
        "pending": pa.array([False] * len(table), pa.bool_()),
        "card": pa.array(cards, pa.binary()),
    }
    return pa.Table.from_arrays(
        [columns.get(name, table[name] if name in table.column_names else None) for name in schema.names],
        schema=schema,
    )
