"""Scope chains: who is shown a scope with a record left out can tell, and an erased one is no omission."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import braid
from braid.ledger.backup.restore import restore
from braid.ledger.errors import InvalidRecordError
from braid.ledger.read.scopechain import chain_of, check_chain, check_scope
from braid.ledger.record.record import Content, Draft, ExperienceBody, Scope
from braid.ledger.write.writer import Writer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    braid.init(tmp_path / "memory", scope_chains=True)
    return tmp_path / "memory"


def members(store: braid.Store, name: str, value: str) -> list[tuple[int, int, int | None]]:
    found: list[tuple[int, int, int | None]] = []
    for record in store.read(include_forgotten=True):
        found += [
            (record.index, count, before)
            for key, count, before in chain_of(record.raw)
            if key == (name, value)
        ]
    return sorted(found)


def test_each_record_names_the_one_before_it_in_each_of_its_scopes(path: Path) -> None:
    with braid.open(path) as store:
        for n in range(6):
            store.append(f"n {n}", user_id=("maya", "jonas")[n % 2], session_id="s")
        with store.transaction() as several:
            several.append("a", user_id="maya")
            several.append("b", user_id="maya")
            several.append("of nobody")
        assert members(store, "user_id", "maya") == [
            (3, 1, None),
            (5, 2, 3),
            (7, 3, 5),
            (9, 4, 7),
            (10, 5, 9),
        ]
        assert [one[1:] for one in members(store, "session_id", "s")] == [
            (n + 1, n + 2 if n else None) for n in range(6)
        ]
        report = check_scope(store.reader, "user_id", "maya")
        assert (report.records, report.unchained, report.problems) == (5, 0, [])
        assert store.verify(deep=True).findings == []


def test_the_chain_goes_on_after_reopening_and_between_writers(path: Path) -> None:
    for n in range(3):
        with braid.open(path) as store:
            store.append(f"n {n}", user_id="maya")
    one, other = braid.open(path, shared=True), braid.open(path, shared=True)
    for n in range(6):
        (one, other)[n % 2].append(f"m {n}", user_id="maya")
    one.close()
    other.close()
    with braid.open(path, read_only=True) as store:
        assert [count for _, count, _ in members(store, "user_id", "maya")] == list(range(1, 10))
        assert check_scope(store.reader, "user_id", "maya").problems == []


def test_without_what_is_kept_of_it_the_chain_is_found_again(path: Path) -> None:
    with braid.open(path) as store:
        for n in range(3):
            store.append(f"n {n}", user_id="maya")
    shutil.rmtree(path / "views", ignore_errors=True)
    with braid.open(path) as store:
        store.append("after", user_id="maya")
        assert [count for _, count, _ in members(store, "user_id", "maya")] == [1, 2, 3, 4]


def test_what_is_refused_leaves_no_gap(path: Path) -> None:
    with braid.open(path) as store:
        store.append("first", user_id="maya")
        body = ExperienceBody(content=Content(text="half"), scope=Scope(user_id="maya"))
        half = Draft(kind="experience", type="occurrence", body=body)
        wrong = Draft(kind="experience", type="no such type", body=body)
        with pytest.raises(InvalidRecordError):
            store.session.append_drafts([half, wrong])
        store.append("second", user_id="maya")
        assert [count for _, count, _ in members(store, "user_id", "maya")] == [1, 2]


def test_an_erased_record_is_no_omission(path: Path) -> None:
    with braid.open(path) as store:
        ids = [str(store.append(f"n {n}", user_id="maya")) for n in range(6)]
        store.erase(ids[1], ids[2])
        store.erase(ids[5])
        store.append("after", user_id="maya")
    with braid.open(path) as store:
        store.append("and after", user_id="maya")
        report = check_scope(store.reader, "user_id", "maya")
        assert (report.problems, report.records) == ([], 5)
        assert report.erased >= 2
        assert store.verify().findings == []


def test_an_omission_shows(path: Path) -> None:
    with braid.open(path) as store:
        for n in range(6):
            store.append(f"n {n}", user_id="maya")
        whole = members(store, "user_id", "maya")
    assert check_chain(whole, ()) == (0, [])
    for left_out in range(len(whole) - 1):  # behind the last one stands nothing that could name it
        _, problems = check_chain(whole[:left_out] + whole[left_out + 1 :], ())
        assert len(problems) == 1
        assert str(whole[left_out][0] if left_out else 3) in problems[0]
    index = whole[2][0]
    assert check_chain(whole[:2] + whole[3:], {index}) == (1, [])
    assert check_chain(whole[:2] + whole[4:], {whole[3][0]})[1], (
        "one erasure does not excuse two that are missing"
    )


@given(st.integers(2, 30), st.data())
def test_nothing_but_erasures_explains_a_gap(size: int, data: st.DataObject) -> None:
    whole = [(n * 3, n + 1, (n - 1) * 3 if n else None) for n in range(size)]
    erased = set(data.draw(st.lists(st.sampled_from([one[0] for one in whole[:-1]]), unique=True)))
    living = [one for one in whole if one[0] not in erased]
    assert check_chain(living, erased) == (len(erased), [])
    left = data.draw(st.sampled_from(living[:-1] or living))
    rest = [one for one in living if one != left]
    if rest and rest[-1][0] > left[0]:
        assert check_chain(rest, erased)[1]


def test_old_stores_write_none(tmp_path: Path) -> None:
    braid.init(tmp_path / "plain")
    with braid.open(tmp_path / "plain") as store:
        store.append("x", user_id="maya")
        assert members(store, "user_id", "maya") == []
        report = check_scope(store.reader, "user_id", "maya")
        assert (report.records, report.unchained, report.problems) == (1, 1, [])
        with pytest.raises(ValueError, match="a scope is user_id"):
            check_scope(store.reader, "color", "red")


def test_the_member_is_the_writers_own(path: Path) -> None:
    body = ExperienceBody(content=Content(text="x"), scope=Scope(user_id="maya"))
    forged = Draft(
        kind="experience", type="occurrence", body=body, extra={"scope_chain": {"user_id": [9, None]}}
    )
    with braid.open(path) as store, pytest.raises(InvalidRecordError, match="the writer's own"):
        store.session.append_drafts([forged])
    with closing(Writer(path)) as writer:
        writer.append([Draft(kind="experience", type="occurrence", body=body)])
    with braid.open(path) as store:
        assert [count for _, count, _ in members(store, "user_id", "maya")] == [1], "no handle leaves it out"


def test_a_restored_store_with_chains_goes_on_with_the_note_of_its_fork(path: Path, tmp_path: Path) -> None:
    """The ledger alone writes the note, without knowing a scope; the next memory follows the last one that is left."""
    with braid.open(path) as store:
        store.append("kept", user_id="maya")
        store.backup(tmp_path / "backup", with_vault=True)
        store.append("lost", user_id="maya")
    path.rename(tmp_path / "lost")
    assert restore(tmp_path / "backup", path, fork="the disk died").fork
    with braid.open(path) as store:
        store.append("after", user_id="maya")
        assert [count for _, count, _ in members(store, "user_id", "maya")] == [1, 2]
        assert check_scope(store.reader, "user_id", "maya").problems == []


def test_outside_nothing_shows_who_belongs_together(path: Path) -> None:
    with braid.open(path) as store:
        for n in range(3):
            store.append(f"n {n}", user_id="maya")
        stored = [store.reader.stored_envelope(index) for index in range(len(store))]
    assert not any(b"scope_chain" in _payload(one) or b"previous" in _payload(one) for one in stored[3:])


def _payload(stored: bytes) -> bytes:
    from braid.ledger.record.envelope import payload_of

    return payload_of(stored)
