"""Pseudonyms: every column is thought about, names join and can't be guessed, nothing else of a name is left."""

from typing import Any

import pytest

from braid.views.duck.arrow import to_arrow
from braid.views.duck.pseudonym import GIVEN, Pseudonyms, left, treatment_of
from braid.views.duck.schema import NUMBER, TABLES

KEY = bytes(range(32))


def test_every_column_of_every_table_is_thought_about() -> None:
    for table in GIVEN:
        for column in table.columns:
            assert treatment_of(table, column).how in ("keep", "hash", "text", "drop"), (
                table.name,
                column.name,
            )


def test_a_name_has_one_pseudonym_under_one_key() -> None:
    names = Pseudonyms(KEY)
    assert names.of("user", "maya") == Pseudonyms(KEY).of("user", "maya")
    assert names.of("user", "maya") != Pseudonyms(bytes(32)).of("user", "maya")
    assert names.of("user", "maya") != names.of("session", "maya")
    assert len(names.of("user", "maya")) == len("user_") + 32
    assert names.mark == Pseudonyms(KEY).mark != Pseudonyms(bytes(32)).mark


def test_the_hash_is_blake3_keyed_over_kind_and_value() -> None:
    from blake3 import blake3

    assert (
        Pseudonyms(KEY).of("name", "Zoë") == "name_" + blake3("name\0Zoë".encode(), key=KEY).digest(16).hex()
    )


def test_actors_that_are_words_of_ours_stay() -> None:
    names = Pseudonyms(KEY)
    assert [names.of("actor", word) for word in ("user", "agent", "system")] == ["user", "agent", "system"]
    assert names.of("actor", "tool(calendar)") == f"tool({names.of('name', 'calendar')})"
    assert names.of("actor", "Maya") == names.of("name", "Maya")


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_key_has_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Pseudonyms(bytes(size))


def filled(table: Any) -> Any:
    """Two rows of a table: one with every column filled in by a tell-tale value, one empty."""
    values = {
        "VARCHAR": "SECRET", "JSON": '{"SECRET":1}', "VARCHAR[]": ["SECRET"], "BIGINT": 3, "INTEGER": 0,
        "DOUBLE": 0.5, "BOOLEAN": True, "TIMESTAMP": 0,
    }  # fmt: skip
    row = tuple(values[column.type] for column in table.columns)
    return to_arrow(table, [row, (None,) * len(row)]).to_batches()[0]


@pytest.mark.parametrize("table", GIVEN, ids=lambda table: table.name)
def test_nothing_of_a_name_is_left(table: Any) -> None:
    kept = {column.name for column, how in left(table, keep_text=False) if how.how == "keep"}
    batch = Pseudonyms(KEY).conceal(table, filled(table), keep_text=False)
    for name, values in batch.to_pydict().items():
        if name not in kept:
            assert "SECRET" not in repr(values), name
            assert values[1] is None
    assert {"text", "quote", "reason", "question"}.isdisjoint(batch.schema.names)
    with_text = Pseudonyms(KEY).conceal(table, filled(table), keep_text=True)
    texts = {column.name for column, how in left(table, keep_text=True) if how.how == "text"}
    assert set(with_text.schema.names) - set(batch.schema.names) == texts
    assert {"once", "media", "sources", "public", "public_key", "data"}.isdisjoint(with_text.schema.names)


def test_words_that_are_kept_are_known() -> None:
    """A new column of text must not slip in: whoever adds one says what becomes of it."""
    words = {
        f"{table.name}.{column.name}"
        for table in TABLES
        for column, how in left(table, keep_text=False)
        if how.how == "keep" and column.type in ("VARCHAR", "VARCHAR[]", "JSON")
    }
    assert words == {
        "experiences.type", "experiences.method", "experiences.confidence_method", "experiences.affect_labels",
        "mentions.role", "mentions.type",
        "links.role", "claims.rel", "claims.source_type", "views.lens", "views.version", "views.reweighted",
        "views.affect_from", "views.affect_to", "stances.method", "affect_snapshots.stage",
        "affect_snapshots.primary_emotion", "experiences.affect_method",
        "claims.type", "claims.source_class", "experiences.source_class",
        "signatures.role", "signatures.model", "signatures.label", "events.op", "events.name", "tombstones.op",
        "tombstones.role", "transactions.name", "keys.role", "experiences.standing", "views.standing",
        "stances.standing", "affect_snapshots.standing", "events.standing",
    }  # fmt: skip


def test_open_tables_stand_still_and_in_the_order_of_the_log(bench: Any, one_of_each: Any) -> None:
    one_of_each(bench)
    with bench.views.tables() as opened:
        assert opened.stamp.position == bench.writer.size
        bench.say("meanwhile")
        indexes = [
            index
            for batch in opened.batches(TABLES[NUMBER["experiences"]])
            for index in batch.column("log_index").to_pylist()
        ]
    assert indexes == sorted(indexes)
    assert len(indexes) == 3
