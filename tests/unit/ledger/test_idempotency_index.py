"""Keys that make repeating harmless: found by what was signed, whatever becomes of the files that keep them."""

import shutil
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid.ledger.erase.erasure import erase, forget
from braid.ledger.errors import NoVaultError
from braid.ledger.read import spans
from braid.ledger.read.idempotency import KeyIndex, key_hash
from braid.ledger.read.reader import Reader
from braid.ledger.read.spans import FOLDER
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.write.create import create_store
from braid.ledger.write.sequence import Placed
from braid.ledger.write.writer import Writer

SPAN = 16


@pytest.fixture(autouse=True)
def short_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "SPAN_BITS", 4)
    monkeypatch.setattr("braid.ledger.read.idempotency._LEAST_KEPT", 1)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    create_store(tmp_path / "memory", now=datetime.now(UTC))
    return tmp_path / "memory"


def append(writer: Writer, *keys: str | None) -> list[Placed]:
    drafts = [
        Draft(
            kind="experience",
            type="occurrence",
            body=ExperienceBody(content=Content(text=f"said {key}"), once=key),
        )
        for key in keys
    ]
    return writer.append(drafts, keys=list(keys))


def files(store: Path) -> list[Path]:
    return sorted((store / FOLDER).glob("*.keys"))


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The log indexes that are read through."""
    seen: list[int] = []
    entries = Reader.entries

    def counting(self: Reader, start: int = 0, stop: int | None = None) -> Any:
        for some in entries(self, start, stop):
            seen.extend(entry.record.index for entry in some)
            yield some

    monkeypatch.setattr(Reader, "entries", counting)
    return seen


def test_repeating_is_harmless(store: Path) -> None:
    with closing(Writer(store)) as writer:
        one, two = append(writer, "a", "b")
        again, new = append(writer, "b", "c")
        assert (again.index, again.known, new.known) == (two.index, True, False)
        assert writer.key_index.find(["a", "b", "c", "d"]) == {"a": one.index, "b": two.index, "c": new.index}
    with closing(Writer(store)) as writer:
        assert writer.key_index.find(["a", "c", "d"]) == {"a": one.index, "c": new.index}
        assert append(writer, "a")[0].known


def test_what_this_process_appends_is_not_read_again(store: Path, decoded: list[int]) -> None:
    with closing(Writer(store)) as writer:
        append(writer, "first")
        decoded.clear()
        for k in range(50):
            append(writer, f"{k}a", None, f"{k}b")
            append(writer, None)
        assert writer.key_index.find(["3a", "49b", "none"]).keys() == {"3a", "49b"}
        assert decoded == []


def test_what_is_kept_is_not_read_again(store: Path, decoded: list[int]) -> None:
    with closing(Writer(store)) as writer:
        for k in range(50):
            append(writer, f"k{k}")
        size = writer.size
    assert len(files(store)) == size // SPAN + 1
    decoded.clear()
    with closing(Reader(store)) as reader:
        assert len(reader.key_index.find([f"k{k}" for k in range(60)])) == 50
    assert decoded == [], "the open span is kept, too"


def test_what_a_writer_that_shares_the_log_has_read_is_kept(store: Path, decoded: list[int]) -> None:
    with closing(Writer(store)) as writer:
        for _ in range(SPAN * 2 + SPAN // 2):
            append(writer, None)
    for path in files(store):
        path.unlink(missing_ok=True)
    with closing(Writer(store, shared=True)) as writer:
        append(writer, "k")
    decoded.clear()
    with closing(Writer(store, shared=True)) as writer:
        assert append(writer, "k")[0].known
    assert len(decoded) <= 1, "what the one before has read isn't read again"


@pytest.mark.parametrize("damage", ["gone", "emptied", "flipped", "older", "another span"])
def test_a_file_that_was_edited_lets_no_key_append_twice(store: Path, damage: str) -> None:
    with closing(Writer(store)) as writer:
        placed = {f"k{k}": append(writer, f"k{k}")[0].index for k in range(20)}
    older: dict[str, bytes] = {path.name: path.read_bytes() for path in files(store)}
    with closing(Writer(store)) as writer:
        placed |= {f"k{k}": append(writer, f"k{k}")[0].index for k in range(20, 45)}
    for path in files(store):
        if damage == "gone":
            path.unlink()
        elif damage == "emptied":
            path.write_bytes(b"")
        elif damage == "flipped":
            data = path.read_bytes()
            path.write_bytes(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
        elif damage == "older":
            path.write_bytes(older.get(path.name, b""))
        else:
            path.write_bytes(files(store)[0].read_bytes())
    with closing(Writer(store)) as writer:
        assert writer.key_index.find([f"k{k}" for k in range(50)]) == placed
        assert all(one.known for one in append(writer, *placed))


def test_two_writers_find_what_the_other_has_appended(store: Path) -> None:
    with closing(Writer(store, shared=True)) as first, closing(Writer(store, shared=True)) as second:
        for k in range(2 * SPAN):
            (one,) = append(first, f"k{k}")
            (again,) = append(second, f"k{k}")
            assert (again.known, again.index) == (True, one.index)
            (other,) = append(second, f"only {k}")
            (again,) = append(first, f"only {k}")
            assert (again.known, again.index) == (True, other.index)


def test_a_forgotten_record_keeps_its_key_and_an_erased_one_loses_it(store: Path) -> None:
    with closing(Writer(store)) as writer:
        one, two = append(writer, "kept", "lost")
        for _ in range(SPAN):
            append(writer, None)
        forget(writer, [one.id])
        erase(writer, lambda: [two.index], writer.key_index.purge)
        assert writer.key_index.find(["kept", "lost"]) == {"kept": one.index}
        lookup_key = writer.need_vault().lookup_key
    raw = b"".join(path.read_bytes() for path in (store / FOLDER).iterdir())
    assert key_hash(lookup_key, "kept").to_bytes(8, "little") in raw
    assert key_hash(lookup_key, "lost").to_bytes(8, "little") not in raw
    with closing(Writer(store)) as writer:
        (new,) = append(writer, "lost")
        assert not new.known
        assert writer.key_index.find(["lost"]) == {"lost": new.index}


def test_a_text_can_not_be_read_in_the_files(store: Path) -> None:
    with closing(Writer(store)) as writer:
        append(writer, "ann@example.org")
    assert all(b"ann@example" not in path.read_bytes() for path in files(store))
    assert {path.stat().st_mode & 0o777 for path in files(store)} == {0o600}


def test_records_that_are_shown_are_not_read_again(store: Path, decoded: list[int]) -> None:
    with closing(Writer(store)) as writer:
        append(writer, *[f"k{k}" for k in range(40)])
    shutil.rmtree(store / FOLDER)
    with closing(Reader(store)) as reader:
        shown = [entry for some in reader.entries() for entry in some]
        decoded.clear()
        index = KeyIndex(reader)
        index.take(shown)
        assert len(index.find([f"k{k}" for k in range(40)])) == 40
        assert decoded == []
        late = KeyIndex(reader)
        late.take(shown[3:])  # not those that are missing next: they are read when somebody asks
        assert len(late.find([f"k{k}" for k in range(40)])) == 40


def test_without_a_vault_no_key_can_be_known(store: Path) -> None:
    with closing(Writer(store)) as writer:
        append(writer, "a")
    (store / "vault").unlink()
    with closing(Reader(store)) as reader, pytest.raises(NoVaultError):
        reader.key_index.find(["a"])


def test_only_who_may_append_keeps_anything(store: Path) -> None:
    """A reader may not know yet what has been erased: it would put the hash of an erased key back."""
    with closing(Writer(store)) as writer:
        (lost,) = append(writer, "lost")
        lookup_key = writer.need_vault().lookup_key
        with closing(Reader(store)) as stale:
            assert stale.key_index.find(["lost"]) == {"lost": lost.index}
            erase(writer, lambda: [lost.index], writer.key_index.purge)
            (store / FOLDER).mkdir(parents=True, exist_ok=True)
            (store / FOLDER / ".00000000.keys.new").write_bytes(b"left by a crash")
            writer.key_index.purge()
    raw = b"".join(path.read_bytes() for path in (store / FOLDER).iterdir())
    assert key_hash(lookup_key, "lost").to_bytes(8, "little") not in raw
    assert b"left by a crash" not in raw


def test_an_obstacle_in_a_files_place_holds_up_no_erasure(store: Path) -> None:
    with closing(Writer(store)) as writer:
        (lost,) = append(writer, "lost")
        path = store / FOLDER / "00000000.keys"
        path.unlink(missing_ok=True)
        path.mkdir(parents=True)
        (path / "inside").write_text("x")
        assert erase(writer, lambda: [lost.index], writer.key_index.purge)
        assert not path.exists()


def test_a_damaged_body_holds_up_no_other_key(store: Path) -> None:
    with closing(Writer(store)) as writer:
        bad, good = append(writer, "bad")[0], append(writer, "good")[0]
        segment, extent = writer.log.locate(bad.index)
        writer.checkpoint()
        body = store / segment.name
    shutil.rmtree(store / FOLDER)
    data = bytearray(body.read_bytes())
    data[extent.body_at + 5] ^= 1
    body.write_bytes(data)
    with closing(Writer(store)) as writer:
        assert writer.key_index.find(["bad", "good"]) == {"good": good.index}
        assert not append(writer, "new")[0].known


def test_the_first_record_of_a_key_has_it_however_it_was_appended(store: Path) -> None:
    with closing(Writer(store)) as writer:
        body = ExperienceBody(content=Content(text="same"), once="k")
        draft = Draft(kind="experience", type="occurrence", body=body)
        first, _ = writer.append([draft, draft])
        assert writer.key_index.find(["k"]) == {"k": first.index}
