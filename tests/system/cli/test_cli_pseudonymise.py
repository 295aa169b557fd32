"""`braid export --pseudonymise`: nothing that names anybody leaves, what leaves joins, the card says what was done."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

NAMES = (
    "jonas", "ines", "nadia", "Jonas Adeyemi", "Owen Blackwood", "Nadia Ferreira", "extractor", "scanner", "asst-127",
    "2025-03-24-", "Craig", "Annelise", "Edinburgh", "Harbour Lane", "INV-2034", "exp_20", "k_", "braid.local",
)  # fmt: skip


@pytest.fixture
def asked(empty: Session, study: Path) -> Session:
    """A session that meets the store of examples/study.py."""
    empty.env |= {"BRAID_STORE": str(study), "BRAID_GUARD_DIR": str(study.parent / "guard")}
    return empty


def cells(folder: Path) -> list[str]:
    """Every value of every table, as text."""
    return [
        repr(value)
        for path in sorted(folder.glob("*.parquet"))
        for column in pq.read_table(path).columns
        for value in column.to_pylist()
        if value is not None
    ]


@pytest.mark.soak
def test_no_name_and_no_text_leaves(asked: Session) -> None:
    done = asked.well("export", "--pseudonymise", "open-data")
    assert "thrown away" in done.err
    folder = asked.folder / "open-data"
    left = cells(folder)
    assert len(left) > 5_000
    for name in NAMES:
        assert not any(value.startswith(f"'{name}") for value in left), name
    everything = "".join(left)
    for name in ("Jonas", "Edinburgh", "coffee", "shellfish", "misread", "Leeds"):
        assert name not in everything
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
        assert b"Jonas" not in path.read_bytes()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in asked.folder.iterdir() if path.name.startswith(".")) == []


@pytest.mark.soak
def test_what_leaves_joins_as_before(asked: Session) -> None:
    asked.well("export", "--pseudonymise", "open-data")
    folder = asked.folder / "open-data"
    by_role = """
        SELECT k.role, count(*) AS n, count(DISTINCT e.user_id) AS users
        FROM experiences e JOIN keys k USING (key_id) GROUP BY ALL ORDER BY ALL
    """
    linked = "SELECT count(*) AS n FROM links l JOIN experiences e ON l.target_id = e.id"
    with duckdb.connect() as con:
        for name in ("experiences", "keys", "links"):
            con.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.parquet'")
        for question in (by_role, linked):
            after: list[Any] = con.sql(question).fetchall()
            before = json.loads(asked.well("sql", question, "-o", "json").out)
            assert after == [tuple(row.values()) for row in before]


@pytest.mark.soak
def test_the_card_says_what_was_done(asked: Session) -> None:
    asked.well("export", "--pseudonymise", "open-data", "--keep-text")
    folder = asked.folder / "open-data"
    card = json.loads((folder / "datacard.json").read_bytes())
    status = json.loads(asked.well("status", "-o", "json").out)
    assert card["format"] == "braid-datacard/1"
    assert card["position"] == status["records"]
    assert card["root"] == status["checkpoint"]["root"]
    assert card["text"] == "kept"
    assert any("Texts were kept" in limit for limit in card["limits"])
    assert card["earliest"].startswith("2024-01-07")
    for table in card["tables"]:
        data = (folder / table["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == table["sha256"]
        assert len(data) == table["bytes"]
        read = pq.read_table(folder / table["file"])
        assert read.num_rows == table["rows"]
        assert read.column_names == [column["name"] for column in table["columns"]]
        assert not set(table["dropped"]) & set(read.column_names)
    page = (folder / "DATACARD.md").read_text(encoding="utf-8")
    for table in card["tables"]:
        assert f"| `{table['file']}` | {table['rows']} |" in page
    for limit in card["limits"]:
        assert limit in page
    texts = pq.read_table(folder / "experiences.parquet")["text"].to_pylist()
    assert "Jonas needs no car." in texts
    assert not any("allergic to shellfish, so no prawns" in text for text in texts)  # erased
    assert not any("0926" in text for text in texts)  # forgotten


@pytest.mark.soak
def test_a_key_that_is_kept_gives_the_same_pseudonyms_again(asked: Session) -> None:
    first = asked.well("export", "--pseudonymise", "one", "--key-file", "names.key")
    assert "holds a new key" in first.err
    key = asked.folder / "names.key"
    assert key.stat().st_mode & 0o777 == 0o600
    asked.well("export", "--pseudonymise", "two", "--key-file", "names.key")
    asked.well("export", "--pseudonymise", "three")

    def users(name: str) -> set[str]:
        return set(pq.read_table(asked.folder / name / "experiences.parquet")["user_id"].to_pylist())

    assert users("one") == users("two")
    assert users("one").isdisjoint(users("three") - {None})
    cards = [
        json.loads((asked.folder / name / "datacard.json").read_bytes()) for name in ("one", "two", "three")
    ]
    assert cards[0]["key"] == cards[1]["key"] != cards[2]["key"]
    assert key.read_text(encoding="ascii").strip() not in (asked.folder / "one" / "datacard.json").read_text(
        encoding="utf-8"
    )


@pytest.mark.soak
def test_refusals(asked: Session) -> None:
    (asked.folder / "full").mkdir()
    asked.write("full/file", "x")
    assert "not an empty folder" in asked.refused("export", "--pseudonymise", "full")
    asked.write("bad.key", "not a key")
    asked.write("short.key", "00" * 31)
    for bad in ("bad.key", "short.key"):
        assert "64 hexadecimal digits" in asked.refused("export", "--pseudonymise", "d", "--key-file", bad)
    inside = asked.refused("export", "--pseudonymise", "d", "--key-file", "d/names.key")
    assert "keep the key elsewhere" in inside
    assert "goes with a new folder" in asked.refused("export", "--pseudonymise")
    assert "goes with a new folder" in asked.refused("export", "--pseudonymise", "d", "--audit")
    assert "go with --pseudonymise" in asked.refused("export", "d", "--keep-text")
    assert not (asked.folder / "d").exists()
