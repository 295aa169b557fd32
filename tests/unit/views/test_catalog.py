"""The catalogue: which turns stand next to each other, in a file that may be thrown away."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from nacl.utils import random

from braid.views.catalog.file import VERSION
from braid.views.catalog.projection import Catalog


@pytest.fixture
def turns(bench: Any) -> list[int]:
    """Three turns of a session."""
    return [bench.say(text)[0].index for text in ("one", "two", "three")]


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
def test_a_file_that_cant_be_used_is_rebuilt(bench: Any, turns: list[int], how: str) -> None:
    bench.views.catch_up()
    path: Path = bench.path / "views" / "catalog.sqlite"
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
    bench.reopen()
    assert bench.views.catalog.before(turns[1:]) == {turns[1]: turns[0], turns[2]: turns[1]}
    assert bench.views.catalog.position() == bench.writer.size


def test_a_journal_left_by_a_crash_does_not_reach_the_new_file(bench: Any, turns: list[int]) -> None:
    bench.views.catch_up()
    journal = bench.path / "views" / "catalog.sqlite-journal"
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + random(4000))
    bench.views.replay("catalog")
    assert not journal.exists()
    assert bench.views.catalog.after(turns[:1]) == {turns[0]: turns[1]}


def test_another_handle_sees_a_rebuilt_file(bench: Any, turns: list[int]) -> None:
    other = Catalog(bench.path / "views", bench.writer)
    assert other.before(turns[1:]) == {turns[1]: turns[0], turns[2]: turns[1]}
    bench.views.replay("catalog")
    assert other.before(turns[2:]) == {turns[2]: turns[1]}
    other.close()
