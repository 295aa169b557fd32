"""The catalogue: keys that make repeating harmless, and who refers to whom."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from nacl.utils import random

from braid.ledger.errors import NoVaultError
from braid.ledger.reader import Reader
from braid.ledger.record import Content, Draft, ExperienceBody
from braid.ledger.writer import Writer
from braid.views import catalog as catalog_module
from braid.views.catalog import Catalog
from braid.views.catalog_file import VERSION, key_hash


def keyed(key: str) -> Draft:
    body = ExperienceBody(content=Content(text=f"said {key}"), once=key)
    return Draft(kind="experience", type="occurrence", body=body)


def append(writer: Writer, *keys: str) -> list[Any]:
    return writer.append([keyed(key) for key in keys], keys=list(keys))


@pytest.fixture
def known(bench: Any) -> Any:
    """A store whose writer asks the catalogue."""
    bench.writer.know(bench.views.catalog)
    return bench


def test_repeating_is_harmless(known: Any) -> None:
    one, two = append(known.writer, "a", "b")
    again, new = append(known.writer, "b", "c")
    assert (again.index, again.known, new.known) == (two.index, True, False)
    assert known.views.catalog.find(["a", "b", "c", "d"]) == {"a": one.index, "b": two.index, "c": new.index}
    known.reopen()
    assert known.views.catalog.find(["a", "c", "d"]) == {"a": one.index, "c": new.index}


def test_what_this_process_appends_is_not_decoded_again(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    append(known.writer, "first")
    decoded: list[int] = []
    entries = Reader.entries

    def counting(self: Reader, start: int = 0, stop: int | None = None) -> Any:
        for some in entries(self, start, stop):
            decoded.append(len(some))
            yield some

    monkeypatch.setattr(Reader, "entries", counting)
    for k in range(200):
        append(known.writer, f"{k}a", f"{k}b")
    assert sum(decoded) == 0
    known.say("without a key")
    append(known.writer, "after")
    assert sum(decoded) == 1
    assert known.views.catalog.find(["3a", "150b", "after"]).keys() == {"3a", "150b", "after"}


def test_the_file_follows_in_bulk(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_module, "FLUSH_RECORDS", 50)
    catalog = known.views.catalog
    positions = set()
    for k in range(120):
        append(known.writer, f"k{k}")
        positions.add(catalog._stands_at)
    assert 3 <= len(positions) <= 5
    assert len(catalog.find([f"k{k}" for k in range(120)])) == 120
    known.views.close()
    assert catalog.position() == known.writer.size


def test_others_append_too(bench: Any) -> None:
    bench.close()
    first, second = (Writer(bench.path, shared=True) for _ in range(2))
    catalogs = [Catalog(bench.path / "views", writer) for writer in (first, second)]
    first.know(catalogs[0])
    second.know(catalogs[1])
    for k in range(10):
        (one,) = append(first, f"k{k}")
        (again,) = append(second, f"k{k}")
        assert (again.known, again.index) == (True, one.index)
        (other,) = append(second, f"only {k}")
        (again,) = append(first, f"only {k}")
        assert (again.known, again.index) == (True, other.index)
    for writer, catalog in zip((first, second), catalogs, strict=True):
        catalog.close()
        writer.close()
    bench.writer = Writer(bench.path)


def test_a_forgotten_record_keeps_its_key_and_an_erased_one_loses_it(known: Any) -> None:
    one, two = append(known.writer, "kept", "lost")
    known.tombstone("forget", one.id)
    known.tombstone("erase", two.id)
    catalog = known.views.catalog
    assert catalog.find(["kept", "lost"]) == {"kept": one.index}
    known.views.purge()
    lookup_key = known.writer.need_vault().lookup_key
    raw = (known.path / "views" / "catalog.sqlite").read_bytes()
    assert key_hash(lookup_key, "kept") in raw
    assert key_hash(lookup_key, "lost") not in raw
    (new,) = append(known.writer, "lost")
    assert not new.known


def test_children(bench: Any, one_of_each: Any) -> None:
    ids = one_of_each(bench)
    first = bench.writer.index_of(ids["first"])
    children = bench.views.catalog.children(first)
    assert [(id, role) for _, id, role in children] == [
        (ids["inferred"], "parent"),
        (ids["view"], "applied_to"),
        (ids["stance"], "candidate"),
        (ids["affect"], "experience"),
        (ids["embedding"], "experience"),
    ]
    bench.tombstone("forget", ids["view"])
    bench.tombstone("erase", ids["affect"])
    assert bench.views.catalog.children(first) == children
    assert len(bench.views.catalog.children(bench.writer.index_of(ids["view"]))) == 1


@pytest.mark.parametrize("how", ["garbage", "missing", "foreign", "version"])
def test_a_file_that_cant_be_used_is_rebuilt(known: Any, how: str) -> None:
    (one,) = append(known.writer, "a")
    known.views.catch_up()
    path: Path = known.path / "views" / "catalog.sqlite"
    if how == "garbage":
        path.write_bytes(random(9000))
    elif how == "missing":
        path.unlink()
    else:
        con = sqlite3.connect(path)
        old, new = (
            ("braid.local", "elsewhere")
            if how == "foreign"
            else (
                f'"version":{VERSION}',
                '"version":0',
            )
        )
        con.execute("UPDATE meta SET stamp = replace(stamp, ?, ?)", [old, new])
        con.commit()
        con.close()
    known.reopen()
    assert known.views.catalog.find(["a"]) == {"a": one.index}
    assert known.views.catalog.position() == known.writer.size


def test_a_journal_left_by_a_crash_does_not_reach_the_new_file(known: Any) -> None:
    (one,) = append(known.writer, "a")
    known.views.catch_up()
    journal = known.path / "views" / "catalog.sqlite-journal"
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + random(4000))
    known.views.replay("catalog")
    assert not journal.exists()
    assert known.views.catalog.find(["a"]) == {"a": one.index}


def test_another_handle_sees_a_rebuilt_file(known: Any) -> None:
    one, two = append(known.writer, "a", "b")
    other = Catalog(known.path / "views", known.writer)
    assert other.find(["a", "b"]) == {"a": one.index, "b": two.index}
    known.views.replay("catalog")
    assert other.find(["a"]) == {"a": one.index}
    other.close()


def test_keys_are_not_readable_in_the_file(known: Any) -> None:
    append(known.writer, "ann@example.org")
    known.views.catch_up()
    assert b"ann@example" not in (known.path / "views" / "catalog.sqlite").read_bytes()


def test_without_a_vault_there_are_links_but_no_keys(known: Any, tmp_path: Path) -> None:
    import shutil

    (one,) = append(known.writer, "a")
    known.tombstone("forget", one.id)
    known.writer.checkpoint()
    copy = tmp_path / "copy"
    shutil.copytree(known.path, copy, ignore=shutil.ignore_patterns("vault", "views", "keys"))
    reader = Reader(copy)
    catalog = Catalog(copy / "views", reader)
    assert [role for _, _, role in catalog.children(one.index)] == ["target"]
    with pytest.raises(NoVaultError):
        catalog.find(["a"])
    catalog.close()
    reader.close()
