"""The projection as it was: what the log held then, without what has been erased since (SPEC §10.9)."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from braid.ledger.erase.erasure import erase
from braid.ledger.keys.author_key import Signer
from braid.ledger.read.prefix import control_at, size_at
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Claim, Draft, KeyBody
from braid.ledger.write.create import admission
from braid.views.duck import past as past_module
from braid.views.duck.past import Past
from braid.views.errors import ViewBusyError
from braid.views.store import Views
from braid.wal.lock import FileLock

DAY = datetime(2025, 6, 1, tzinfo=UTC)


def texts(bench: Any, past: Past | None) -> list[str]:
    table = bench.views.sql("SELECT text FROM experiences ORDER BY log_index", past=past).table
    found: list[str] = table.column("text").to_pylist()
    return found


def pasts(bench: Any) -> list[str]:
    return sorted(path.name for path in bench.duck.glob("past-*"))


def test_a_transaction_is_there_as_a_whole(bench: Any) -> None:
    first, _, last = bench.say("one", "two", "three")
    (later,) = bench.say("four")
    for index in (first.index, first.index + 1, last.index):
        assert size_at(bench.writer, index) == later.index
    assert size_at(bench.writer, later.index) == later.index + 1
    assert texts(bench, Past(later.index)) == ["one", "two", "three"]
    for index in (-1, later.index + 1):
        with pytest.raises(ValueError, match=f"there is no {index}"):
            size_at(bench.writer, index)
    for size in (0, later.index + 2):
        with pytest.raises(ValueError, match="never was"):
            bench.views.past(Past(size))


def test_a_time_stands_for_what_was_there_by_then(bench: Any) -> None:
    (one,) = bench.say("one")
    two = bench.say("two", "three")[0]
    reader = bench.writer
    at_one, at_two = (datetime.fromisoformat(reader.envelope(each.index).created_at) for each in (one, two))
    tick = timedelta(microseconds=1)
    assert size_at(reader, at_one) == two.index
    assert size_at(reader, at_two - tick) == two.index
    assert size_at(reader, at_two) == two.index + 2
    assert size_at(reader, at_two + timedelta(days=9)) == reader.size
    assert size_at(reader, at_one - tick) == one.index
    with pytest.raises(ValueError, match="the log begins at"):
        size_at(reader, DAY - timedelta(days=9000))
    with pytest.raises(ValueError, match="no time zone"):
        size_at(reader, DAY.replace(tzinfo=None))


def test_it_is_what_the_projection_was(bench: Any) -> None:
    then: dict[int, Any] = {}
    for n in range(6):
        bench.say(*(f"{n} {k}" for k in range(n + 1)))
        bench.views.catch_up()
        then[bench.writer.size] = bench.rows("FROM records ORDER BY ALL")
    for size in sorted(then, key=lambda size: size % 5):
        found = bench.views.sql("FROM records ORDER BY ALL", past=Past(size))
        assert found.table.to_pylist() == then[size]
        assert (found.position, found.behind_by) == (size, bench.writer.size - size)


def test_the_forgotten_are_shown_only_on_request(bench: Any) -> None:
    one, two, _three = bench.say("one", "two", "three")
    size = bench.writer.size
    bench.tombstone("forget", one.id)
    assert texts(bench, Past(size)) == ["two", "three"]
    assert texts(bench, Past(size, include_forgotten=True)) == ["one", "two", "three"]
    forgotten = bench.writer.size
    bench.tombstone("recover", one.id)
    bench.tombstone("forget", two.id)
    assert texts(bench, Past(size)) == ["one", "three"]
    assert texts(bench, Past(forgotten)) == ["three"]
    assert texts(bench, Past(forgotten, include_forgotten=True)) == ["one", "two", "three"]
    assert texts(bench, Past(bench.writer.size)) == ["one", "three"] == texts(bench, None)


def test_the_erased_never_come_back(bench: Any) -> None:
    needle = "the needle 7c1f"
    bench.say("one", needle)
    size = bench.writer.size
    bench.say("three")
    for include in (False, True):
        assert texts(bench, Past(size, include)) == ["one", needle]
    before = pasts(bench)
    index = bench.writer.size - 2
    erase(bench.writer, lambda: [index], bench.views.purge)
    assert pasts(bench) == []
    assert texts(bench, Past(size, include_forgotten=True)) == ["one"]
    assert not set(before) & set(pasts(bench))
    for path in (file for file in bench.duck.rglob("*") if file.is_file()):
        assert needle.encode() not in path.read_bytes(), path


def test_a_past_that_an_erasure_left_is_not_read(bench: Any) -> None:
    (one,) = bench.say("one")
    size = bench.writer.size
    texts(bench, Past(size))
    (name,) = pasts(bench)
    kept = (bench.duck / name).read_bytes()
    bench.tombstone("erase", one.id)
    (bench.duck / name).write_bytes(kept)
    assert texts(bench, Past(size, include_forgotten=True)) == []
    assert name not in pasts(bench)


def test_keys_are_as_they_were(bench: Any) -> None:
    signer = Signer.fresh("agent")
    bench.writer.append([admission(bench.writer.origin, signer)])
    size = bench.writer.size
    public = {"op": "revoke", "id": signer.id, "compromised_since": size}
    bench.writer.append([Draft(kind="key", body=KeyBody(), public=public)])
    question = "SELECT revoked_index, compromised_since FROM keys WHERE key_id = $id"
    for past, said in ((Past(size), (None, None)), (None, (size, size))):
        (row,) = bench.views.sql(question, {"id": signer.id}, past=past).table.to_pylist()
        assert tuple(row.values()) == said
    assert control_at(bench.writer, size).keys[signer.id].revoked is None
    assert control_at(bench.writer, size - 1).keys.get(signer.id) is None


def test_heads_are_those_of_the_time(bench: Any) -> None:
    bench.say("one")
    bench.writer.checkpoint()
    size = bench.writer.size
    bench.say("two")
    bench.writer.checkpoint()
    question = "SELECT max(size) AS size FROM checkpoints"
    assert bench.views.sql(question, past=Past(size)).table.to_pylist() == [{"size": size}]
    assert bench.rows(question) == [{"size": bench.writer.size}]


def test_what_held_at_a_time(bench: Any) -> None:
    def lives(place: str, since: datetime, until: datetime | None = None) -> Claim:
        return Claim(subject="Maya", rel="lives in", object=place, valid_from=since, valid_to=until)

    moved = DAY + timedelta(days=30)
    (first,) = bench.say("I live in Rome", occurred_at=DAY, symbolic=[lives("Rome", DAY, moved)])
    bench.say("I have moved to Oslo", occurred_at=moved, symbolic=[lives("Oslo", moved)])
    size = bench.writer.size
    question = "SELECT object FROM claims"

    def held(at: datetime, size: int = bench.writer.size) -> list[str]:
        table = bench.views.sql(question, past=Past(size, valid_at=at)).table
        found: list[str] = table.column("object").to_pylist()
        return found

    assert held(DAY - timedelta(days=1)) == []
    assert held(DAY) == held(moved - timedelta(seconds=1)) == ["Rome"]
    assert held(moved) == held(moved + timedelta(days=900)) == ["Oslo"]
    table = bench.views.sql("SELECT text FROM experiences", past=Past(size, valid_at=DAY)).table
    assert table.column("text").to_pylist() == ["I live in Rome"]
    bench.say(
        "No: in Pisa", occurred_at=DAY, symbolic=[lives("Pisa", DAY, moved)], links=[("supersedes", first.id)]
    )
    assert held(DAY, bench.writer.size) == ["Pisa"]
    assert held(DAY, size) == ["Rome"]  # as the log was, nobody knew better


def test_it_is_made_from_what_is_near(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(40):
        bench.say(str(n))
    bench.views.catch_up(publish=True)
    reads: list[int] = []
    real = bench.writer.entries

    def counted(start: int, stop: int) -> Any:
        reads.append(stop - start)
        return real(start, stop)

    monkeypatch.setattr(bench.writer, "entries", counted)
    size = bench.writer.size
    assert texts(bench, Past(size - 5))[-1] == "34"  # from the generation, backwards
    assert texts(bench, Past(size - 3))[-1] == "36"  # from either side
    assert texts(bench, Past(size - 9))[-1] == "30"
    assert sum(reads) <= 2
    assert texts(bench, Past(6))[-1] == "2"  # from nothing: nearer than any file
    assert reads[-1] == 6
    assert texts(bench, Past(9))[-1] == "5"
    assert reads[-1] == 3
    made = len(pasts(bench))
    texts(bench, Past(9))
    assert len(pasts(bench)) == made
    assert reads[-1] == 3


def test_what_others_have_brought_further_is_not_built_upon(bench: Any) -> None:
    """Another process has published more than this reader has followed."""
    bench.say("one")
    reader = Reader(bench.path)
    views = Views(bench.path / "views", reader)
    for _ in range(3):
        bench.say("later")
        bench.views.catch_up(publish=True)
        bench.views.past(Past(bench.writer.size))
    assert reader.size < bench.writer.size - 2
    table = views.sql("SELECT text FROM experiences ORDER BY log_index", past=Past(reader.size)).table
    assert table.column("text").to_pylist()[-1] == "one"
    views.close()
    reader.close()


def test_the_longest_unused_make_room(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.say(*map(str, range(9)))
    first = bench.views.past(Past(3))
    second = bench.views.past(Past(12))
    os.utime(second, (1, 1))
    monkeypatch.setattr(past_module, "KEPT_BYTES", first.stat().st_size + second.stat().st_size)
    third = bench.views.past(Past(12, include_forgotten=True))
    assert [path.exists() for path in (first, second, third)] == [True, False, True]


def test_what_a_crash_left_is_removed(bench: Any) -> None:
    bench.say("one")
    left = bench.duck / "past.new.duckdb"
    bench.duck.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half a file")
    assert texts(bench, Past(bench.writer.size)) == ["one"]
    assert not left.exists()


def test_a_damaged_source_is_not_built_upon(bench: Any) -> None:
    bench.say(*map(str, range(30)))
    bench.views.catch_up(publish=True)
    (generation,) = bench.duck.glob("gen-*")
    generation.chmod(0o600)
    generation.write_bytes(b"no database" * 4096)
    assert texts(bench, Past(bench.writer.size)) == list(map(str, range(30)))
    (past,) = bench.duck.glob("past-*")
    past.write_bytes(b"no database" * 4096)
    assert texts(bench, Past(bench.writer.size)) == list(map(str, range(30)))


def test_a_busy_view_still_shows_a_past_that_is_there(bench: Any) -> None:
    bench.say("one")
    size = bench.writer.size
    path = bench.views.past(Past(size))
    lock = FileLock(bench.duck / "lock")
    lock.acquire()
    try:
        assert bench.views.past(Past(size), wait_s=0) == path
        with pytest.raises(ViewBusyError, match="another process"):
            bench.views.past(Past(size - 1), wait_s=0)
    finally:
        lock.release()


def test_files_are_private(bench: Any) -> None:
    bench.say("one")
    path: Path = bench.views.past(Past(bench.writer.size))
    assert path.stat().st_mode & 0o777 == 0o600
