"""What `doctor` finds, what it says to do, and that `--fix` changes nothing but what is safe (SPEC §12)."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.keys.logkeys import load_log_key
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.repair import condition, derived_files
from braid.ledger.repair.condition import Problem
from braid.ledger.repair.derived_files import examine, repair
from braid.ledger.settings import Settings, load_settings
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.write.ceremony import rotate_log_key
from braid.ledger.write.writer import Writer
from braid.wal import append as logs
from braid.wal import failpoint
from braid.wal.errors import LogLockedError, ObstructedError


@pytest.fixture
def filled(store: Path) -> Path:
    with braid.open(store) as opened:
        for number in range(4):
            opened.append(f"memory {number}")
    return store


def found(store: Path) -> list[str]:
    return [problem.name for problem in examine(store)]


def only(store: Path) -> Problem:
    (problem,) = examine(store)
    return problem


def signed(store: Path) -> dict[str, bytes]:
    """What --fix must never write: frames, vault, keys, settings."""
    paths = [*store.glob("log/*.seg"), *store.glob("keys/*"), store / "vault", store / "store.json"]
    return {str(path): path.read_bytes() for path in paths if path.exists()}


def test_nothing_is_wrong_with_a_new_store(filled: Path) -> None:
    assert found(filled) == []


def test_a_log_ahead_of_the_clock_is_named_until_that_is_accepted(filled: Path) -> None:
    now = datetime.now(UTC)
    with braid.open(filled, clock=lambda: now + timedelta(days=400, minutes=1)) as opened:
        opened.append("from a year ahead")
    (problem,) = examine(filled, now=now)
    assert problem.name == "clock"
    assert "400 days ahead of this machine's clock" in problem.detail
    assert "--accept-clock" in problem.remedy
    assert not problem.safe
    assert examine(filled, now=now + timedelta(days=400)) == []
    with braid.open(filled, clock=lambda: now) as opened:
        opened.writer.accept_clock("it was a year ahead")
        opened.append("accepted")
    assert examine(filled, now=now) == []


def test_a_head_that_is_published_meanwhile_is_no_fault(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = derived_files._expected_tiles

    def publishing(store: Path, settings: Settings, size: int) -> Iterator[tuple[str, bytes]]:
        tiles = list(expected(store, settings, size))
        with braid.open(store) as opened:
            opened.append("one more")
        assert any(not (store / path).exists() for path, _ in tiles)
        yield from tiles

    with monkeypatch.context() as patch:
        patch.setattr(derived_files, "_expected_tiles", publishing)
        assert found(filled) == []
    assert found(filled) == []


def test_an_index_is_mended_beside_what_a_killed_writer_left(filled: Path) -> None:
    """Room (SPEC §2.6) is nobody's fault; behind a torn tail the whole frames are indexed all the same."""
    (segment,) = filled.glob("log/*.seg")
    with segment.open("ab") as file:
        file.write(bytes(8192))
    assert found(filled) == []
    segment.with_suffix(".idx").write_bytes(b"x")
    assert found(filled) == ["index"]
    repair(filled)
    assert found(filled) == []
    segment.with_suffix(".idx").write_bytes(b"x")
    with segment.open("ab") as file:
        file.write(b"BRF1 and no more")
    with pytest.warns(braid.TornTailWarning):
        opened = braid.open(filled)
    with opened:
        assert len(opened) > 4
    assert found(filled) == []


def test_the_index_of_a_harmed_segment_is_left_as_it_is(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It alone still leads to what stands behind the harm."""
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 4096)
    with braid.open(filled) as opened:
        for number in range(20):
            opened.append(f"more {number}")
    first, *_, last = sorted(filled.glob("log/*.seg"))
    whole = first.with_suffix(".idx").read_bytes()
    data = bytearray(first.read_bytes())
    data[data.index(b"BRF1", 2000)] ^= 1
    first.write_bytes(data)
    last.with_suffix(".idx").write_bytes(b"x")
    assert {"log", "index"} <= set(found(filled))
    repair(filled)
    assert first.with_suffix(".idx").read_bytes() == whole
    assert "index" not in found(filled)


def test_a_log_that_ends_before_its_signed_head_is_named_and_no_tile_is(filled: Path, tmp_path: Path) -> None:
    """Brought back alone from an older copy, say: no tile can be derived from what is not there."""
    shutil.copytree(filled / "log", tmp_path / "log")
    with braid.open(filled) as opened:
        before = len(opened)
        opened.append("later")
    shutil.rmtree(filled / "log")
    shutil.copytree(tmp_path / "log", filled / "log")
    for _ in range(2):
        problem = next(one for one in examine(filled) if one.name == "log")
        assert (
            f"the log's whole frames end at {before} records, and its signed head covers {before + 1}"
            in problem.detail
        )
        assert ("the newest copy" in problem.remedy, problem.safe) == (True, False)
        assert "tiles" not in found(filled)
        assert repair(filled) == []


def test_tiles_are_not_promised_where_the_frames_contradict_the_signed_head(filled: Path) -> None:
    key = load_log_key(filled)
    head = Checkpoint(key.name, 7, bytes(32))
    (filled / "checkpoint").write_bytes(sign_checkpoint(head, [key]))
    next(path for path in (filled / "tile").rglob("*") if path.is_file()).unlink()
    problem = next(one for one in examine(filled) if one.name == "log")
    assert "the first 7 records don't give the root that was signed" in problem.detail
    assert not problem.safe
    assert "tiles" not in found(filled)


@pytest.mark.parametrize(
    ("harm", "name"),
    [
        (lambda store: (store / "log" / "000000000000.idx").write_bytes(b"x"), "index"),
        (lambda store: (store / "checkpoint").unlink(), "checkpoint"),
        (lambda store: (store / "checkpoint").write_bytes(b"nonsense"), "checkpoint"),
        (lambda store: next((store / "tile" / "0").rglob("7")).unlink(), "tiles"),
        (lambda store: (store / "reserve").unlink(), "reserve"),
        (lambda store: store.chmod(0o755), "modes"),
        (lambda store: next(store.glob("keys/root-*.key")).chmod(0o644), "modes"),
        (lambda store: (store / "vault").chmod(0o640), "modes"),
    ],
    ids=["index", "no-checkpoint", "bad-checkpoint", "tile", "reserve", "folder", "key", "vault"],
)
def test_what_is_safe_is_made_good(filled: Path, harm: Callable[[Path], object], name: str) -> None:
    harm(filled)
    before = signed(filled)
    problems = examine(filled)
    assert name in {problem.name for problem in problems}
    assert all(problem.safe for problem in problems)
    assert any("doctor --fix" in problem.remedy for problem in problems)
    done = repair(filled)
    assert any(line.startswith(f"{name}: ") for line in done)
    assert found(filled) == []
    assert signed(filled) == before
    assert verify(filled, workers=1).exit_code == 0


def _flip(tile: Path) -> None:
    data = bytearray(tile.read_bytes())
    data[-5] ^= 1
    tile.write_bytes(data)


def _obstruct(tile: Path) -> None:
    tile.unlink()
    tile.mkdir()


HARMS: dict[str, Callable[[Path], object]] = {
    "flipped": _flip,
    "cut": lambda tile: tile.write_bytes(tile.read_bytes()[:-9]),
    "longer": lambda tile: tile.write_bytes(tile.read_bytes() + bytes(32)),
    "empty": lambda tile: tile.write_bytes(b""),
    "missing": Path.unlink,
    "a folder in its place": _obstruct,
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_tile_is_listed_and_mended_wherever_it_stands(
    filled: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """At the right edge of each level no command opens the store: nothing that mends it may have to."""
    with braid.open(filled) as opened:
        opened.session.append_drafts(
            [Draft(kind="event", body=EventBody(name=f"e{number}")) for number in range(255)]
        )
    tiles = sorted(path for path in (filled / "tile").rglob("*") if path.is_file())
    assert len(tiles) == 3
    before = signed(filled)
    for tile in tiles:
        HARMS[harm](tile)
        problem = only(filled)
        assert (problem.name, problem.safe) == ("tiles", True)
        assert str(tile.relative_to(filled)) in problem.detail
        repair(filled)
        assert found(filled) == []
        braid.open(filled).close()
    assert signed(filled) == before


def test_what_is_no_tile_and_holds_something_is_left_and_named(filled: Path) -> None:
    (tile,) = (path for path in (filled / "tile").rglob("*") if path.is_file())
    _obstruct(tile)
    (tile / "letter").write_text("dear")
    with pytest.raises(ObstructedError, match="a folder stands where a tile belongs"):
        repair(filled)
    assert (tile / "letter").read_text() == "dear"


def test_without_a_guard_the_head_comes_from_its_history(filled: Path) -> None:
    with closing(braid.open(filled)) as opened:
        opened.append("one more")
        opened.checkpoint()
    note = (filled / "checkpoint").read_bytes()
    Guard.of_store(load_settings(filled).store_id).path.unlink()
    (filled / "checkpoint").unlink()
    next(path for path in (filled / "tile").rglob("*") if path.is_file()).unlink()
    assert [(one.name, one.safe) for one in examine(filled)] == [("guard", False), ("checkpoint", True)]
    repair(filled)
    assert found(filled) == ["guard"]
    assert (filled / "checkpoint").read_bytes() == note
    (filled / "checkpoint").unlink()
    (filled / "checkpoints").unlink()
    lost = next(one for one in examine(filled) if one.name == "checkpoint")
    assert (lost.safe, "doctor" in lost.remedy) == (False, False)


# -- the history of heads ---------------------------------------------------------------------------


def _with_heads(store: Path) -> bytes:
    """A history of several heads; its bytes."""
    for n in range(3):
        with braid.open(store) as opened:
            opened.append(f"head {n}")
    return (store / "checkpoints").read_bytes()


@pytest.mark.parametrize("at", ["name", "size", "root", "gap", "signature", "end", "between"])
def test_a_harmed_history_is_set_aside_and_its_whole_heads_go_on(filled: Path, at: str) -> None:
    whole = _with_heads(filled)
    second = whole.index(b"\n\nbraid") + 2
    gap = whole.index(b"\n\n", second)
    end = whole.index(b"\n\n", gap + 2)
    places = {
        "name": second,
        "root": gap - 5,
        "gap": gap,
        "signature": end - 5,
        "end": end,
        "between": end + 1,
    }
    places["size"] = whole.index(b"\n", second) + 1
    data = bytearray(whole)
    data[places[at]] ^= 2
    (filled / "checkpoints").write_bytes(data)
    problem = only(filled)
    assert (problem.name, problem.safe) == ("history", True)
    assert "checkpoints, offset" in problem.detail
    assert "no memory depends on it" in problem.detail
    before = signed(filled)
    (done,) = repair(filled)
    assert "kept as checkpoints.damaged-1" in done
    assert (filled / "checkpoints.damaged-1").read_bytes() == data
    assert found(filled) == []
    assert verify(filled).findings == []
    assert signed(filled) == before
    kept = (filled / "checkpoints").read_bytes()
    assert kept.count(b"\n\nbraid") >= whole.count(b"\n\nbraid") - 1
    with braid.open(filled) as opened:
        opened.append("and on")
    assert verify(filled).findings == []


def test_what_was_set_aside_before_is_kept(filled: Path) -> None:
    whole = _with_heads(filled)
    for n in (1, 2):
        (filled / "checkpoints").write_bytes(b"x" + whole)
        repair(filled)
        assert (filled / f"checkpoints.damaged-{n}").read_bytes() == b"x" + whole


def test_a_head_of_another_history_stays_in_sight(filled: Path) -> None:
    """It is signed: evidence of a fork, which setting the harm aside must not take out of sight."""
    key = load_log_key(filled)
    fork = sign_checkpoint(Checkpoint(key.name, 3, bytes(32)), [key])
    (filled / "checkpoints").write_bytes(b"x" + _with_heads(filled) + fork + b"\n")
    repair(filled)
    assert found(filled) == []
    (finding,) = verify(filled).findings
    assert "has another root" in finding.message


def test_an_unfinished_end_of_the_history_is_a_crash_and_no_harm(filled: Path) -> None:
    (filled / "checkpoints").write_bytes(_with_heads(filled)[:-40])
    assert found(filled) == []


def test_under_an_older_guard_a_newer_key_of_the_log_counts(filled: Path) -> None:
    path = Guard.of_store(load_settings(filled).store_id).path
    old = path.read_bytes()
    with closing(Writer(filled)) as writer:
        rotate_log_key(writer, lost=True)
    path.write_bytes(old)
    assert "history" not in found(filled)


def test_a_folder_in_the_place_of_a_head_or_the_history_is_named(filled: Path) -> None:
    for name in ("checkpoints", "checkpoint"):
        (filled / name).rename(filled / "kept")
        (filled / name).mkdir()
        problem = next(one for one in examine(filled) if name in one.detail)
        assert problem.detail == f"{name}: a folder stands where a file belongs"
        assert ("move it away" in problem.remedy, problem.safe) == (True, False)
        assert repair(filled) == []
        assert "a folder stands where a file belongs" in verify(filled).could_not_look[0]
        (filled / name).rmdir()
        (filled / "kept").rename(filled / name)
    assert found(filled) == []


@pytest.mark.parametrize(
    ("harm", "name", "remedy"),
    [
        (lambda store: next(store.glob("keys/recorder-*")).unlink(), "keys", "braid key admit recorder"),
        (lambda store: (store / "keys" / "log.key").unlink(), "keys", "key rotate log --lost"),
        (lambda store: next(store.glob("keys/root-*")).write_bytes(b"{"), "keys", "bring the file back"),
        (lambda store: (store / "vault").unlink(), "vault", "bring the vault back"),
        (
            lambda store: Guard.of_store(load_settings(store).store_id).path.unlink(),
            "guard",
            "braid doctor --adopt",
        ),
    ],
    ids=["recorder", "log-key", "damaged-key", "vault", "guard"],
)
def test_what_a_person_must_do(filled: Path, harm: Callable[[Path], object], name: str, remedy: str) -> None:
    harm(filled)
    problem = only(filled)
    assert (problem.name, problem.safe) == (name, False)
    assert remedy in problem.remedy
    before = signed(filled)
    assert repair(filled) == []
    assert signed(filled) == before
    assert found(filled) == [name]


def test_without_an_operator_and_the_root_nothing_can_be_erased(filled: Path) -> None:
    for path in [*filled.glob("keys/operator-*"), *filled.glob("keys/root-*")]:
        path.unlink()
    assert "nothing can be forgotten or erased" in only(filled).detail


def test_where_no_root_key_is_in_force_none_is_asked_for(filled: Path) -> None:
    with braid.open(filled) as opened:
        for role in ("operator", "root"):
            opened.revoke(next(one.id for one in opened.reader.control.keys.values() if one.role == role))
    problem = only(filled)
    assert "nothing can be forgotten or erased" in problem.detail
    assert "braid import" in problem.remedy


def test_the_root_key_may_be_offline(filled: Path) -> None:
    next(filled.glob("keys/root-*")).unlink()
    assert found(filled) == []


def test_an_older_copy_is_named(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled, tmp_path / "old")
    with braid.open(filled) as opened:
        opened.append("later")
    problem = only(tmp_path / "old")
    assert (problem.name, problem.safe) == ("opening", False)
    assert "older copy" in problem.detail
    assert "newest copy" in problem.remedy


def test_an_older_log_under_a_newer_vault_is_not_written(filled: Path, tmp_path: Path) -> None:
    """Else it would stop at the first index whose key is gone, and give indexes of lost records anew until then."""
    shutil.copytree(filled, tmp_path / "old")
    with braid.open(filled) as opened:
        opened.append("lost")
        opened.erase(opened.append("erased"))
    shutil.copyfile(filled / "vault", tmp_path / "old" / "vault")
    with pytest.raises(
        braid.LedgerError, match=r"erased the key of record 8, but this log ends at 7.*braid import"
    ):
        braid.open(tmp_path / "old", guard_dir=tmp_path / "none", adopt=True)
    with braid.open(tmp_path / "old", guard_dir=tmp_path / "none", read_only=True) as reader:
        assert [record.text for record in reader.read() if record.kind == "experience"][-1] == "memory 3"


def test_an_erasure_that_was_interrupted_is_no_older_log(
    filled: Path, drop: Callable[[Writer], None]
) -> None:
    opened = braid.open(filled)
    id = opened.append("to go")

    def die(name: str) -> None:
        if name == "erase.punctured":
            raise KeyboardInterrupt

    failpoint.arm(die)
    try:
        with pytest.raises(KeyboardInterrupt):
            opened.erase(id)
    finally:
        failpoint.arm(None)
        drop(opened.writer)
    problem = only(filled)
    assert (problem.name, problem.safe) == ("erasure", False)
    assert "is not finished" in problem.detail
    braid.open(filled).close()
    assert found(filled) == []


def test_little_room_is_told(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condition, "LEAST_FREE_BYTES", 1 << 62)
    assert only(filled).name == "space"


@pytest.mark.soak
def test_a_passphrase_is_asked_for_nothing(tmp_path: Path) -> None:
    braid.init(tmp_path / "locked", passphrase="secret")
    assert found(tmp_path / "locked") == []
    assert [problem.name for problem in examine(tmp_path / "locked", passphrase="wrong")] == ["vault"]
    assert examine(tmp_path / "locked", passphrase="secret") == []


def test_an_auditors_copy_lacks_vault_and_guard_alone(filled: Path, tmp_path: Path) -> None:
    from braid.exchange.copies import export_store

    with braid.open(filled, read_only=True) as opened:
        export_store(opened, tmp_path / "copy", audit=True)
    assert found(tmp_path / "copy") == ["vault", "reserve"]


def test_links_are_not_followed_when_modes_are_mended(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / "elsewhere").chmod(0o644)
    (filled / "blobs" / "ab").mkdir()
    (filled / "blobs" / "ab" / "link").symlink_to(tmp_path / "elsewhere")
    filled.chmod(0o755)
    repair(filled)
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o644
    assert filled.stat().st_mode & 0o777 == 0o700


def test_a_writer_at_work_is_not_disturbed(filled: Path) -> None:
    with closing(Writer(filled)), pytest.raises(LogLockedError):
        repair(filled)


def test_an_index_behind_its_frames_is_a_writer_at_work(
    filled: Path, drop: Callable[[Writer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer writes entries with each head: while it is open, and after it was killed, the index is shorter."""
    opened = braid.open(filled)
    for number in range(6):
        opened.append(f"more {number}")
    (segment,) = filled.glob("log/*.seg")
    index = segment.with_suffix(".idx")
    written = index.read_bytes()
    assert len(written) < len(opened) * 24
    assert found(filled) == []
    drop(opened.writer)
    assert found(filled) == []
    for harm in (written + bytes(24 * 100), written[:-1], bytes(24) + written[24:]):
        index.write_bytes(harm)
        assert found(filled) == ["index"]
    index.unlink()
    assert found(filled) == ["index"]
    repair(filled)
    whole = index.read_bytes()
    index.write_bytes(whole[:-24])
    assert found(filled) == []
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 4096)
    with braid.open(filled) as again:
        for number in range(20):
            again.append(f"other {number}")
    assert found(filled) == []
    index.write_bytes(index.read_bytes()[:-24])
    assert found(filled) == ["index"]


def test_a_head_is_not_published_again_for_altered_settings(filled: Path) -> None:
    path = filled / "store.json"
    path.write_text(path.read_text().replace("braid.local/", "braid.lokal/"), encoding="utf-8")
    problems = examine(filled)
    assert "settings" in {problem.name for problem in problems}
    assert not any("--fix" in problem.remedy or problem.safe for problem in problems)
