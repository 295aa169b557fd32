"""Questions to a store that can't be written: answered from what stands, or refused in words that are true."""

import errno
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

import braid
from braid.ledger.errors import ReadOnlyError
from braid.search.question import Question
from braid.search.retrieval import find
from braid.views.catalog import file, projection
from braid.views.lance import folder, search
from tests.system.ledger.test_open import read_only


def test_questions_are_answered_from_what_stands(store: Path) -> None:
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.", user_id="maya")
        opened.ask("Where does Maya live?", user_id="maya", write=False)
    with read_only(store), braid.open(store, read_only=True) as opened:
        (hit,) = find(opened.session, Question(query="Where does Maya live?", user_id="maya")).results
        assert hit.record.text == "Maya lives in Porto."
        answered = opened.ask("Where does Maya live?", user_id="maya")
        assert ("Porto" in answered.text, answered.answer_id) == (True, None)
        with pytest.raises(ReadOnlyError):
            opened.ask("Where does Maya live?", user_id="maya", write=True)
        assert opened.lag == 0
    with braid.open(store) as opened:
        opened.append("Maya lives in Lisbon.", user_id="maya")
    with read_only(store), braid.open(store, read_only=True) as opened:
        assert find(opened.session, Question(query="Where does Maya live?", user_id="maya")).results
        assert opened.lag == 1


def test_jobs_are_listed_as_the_log_has_them(store: Path) -> None:
    with braid.open(store) as opened:
        done = opened.remember("I live in Porto.", user_id="maya", mode="sync").status
        opened.remember("I like tea.", user_id="maya", mode="async")
        listed = {(one.consumer, one.state) for one in opened.jobs().jobs}
    assert done == "processed"
    with read_only(store), braid.open(store, read_only=True) as opened:
        assert {(one.consumer, one.state) for one in opened.jobs().jobs} == listed


@pytest.fixture
def evidence(store: Path) -> Path:
    """A store whose projections stand, some way behind the log."""
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.", user_id="maya")
        find(opened.session, Question(query="Where does Maya live?", user_id="maya"))
        opened.replay()
        opened.append("Maya lives in Lisbon.", user_id="maya")
    return store


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which this test's processes make temporary ones."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def test_evidence_is_verified_deeply_where_it_lies(evidence: Path, private: Path) -> None:
    with read_only(evidence), braid.open(evidence, read_only=True) as opened:
        report = opened.verify(deep=True, rederive=True, workers=1)
        assert (report.could_not_look, report.findings, report.records) == ([], [], len(opened))
    assert list(private.iterdir()) == []


def test_a_tampered_projection_shows_there_too(evidence: Path, private: Path) -> None:
    with duckdb.connect(str(evidence / "views" / "duck" / "work.duckdb")) as con:
        con.execute("UPDATE experiences SET text = 'Maya lives in Moscow.'")
    with read_only(evidence), braid.open(evidence, read_only=True) as opened:
        report = opened.verify(deep=True, workers=1)
    assert {finding.kind for finding in report.findings} == {"projection"}
    assert report.records == size_of(evidence)
    assert list(private.iterdir()) == []


def size_of(store: Path) -> int:
    with braid.open(store, read_only=True) as opened:
        return len(opened)


def test_projections_that_cannot_be_looked_at_hide_nothing_else(
    evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with braid.open(evidence, read_only=True) as opened:
        monkeypatch.setattr(type(opened.views), "check", full)
        report = opened.verify(deep=True, workers=1)
    assert report.records == size_of(evidence)
    assert report.could_not_look == ["projections: No space left on device"]
    assert report.exit_code == 2


def test_the_past_is_asked_in_a_private_folder_that_goes(evidence: Path, private: Path) -> None:
    with read_only(evidence), braid.open(evidence, read_only=True) as opened:
        asked = "SELECT text FROM experiences ORDER BY log_index"
        assert opened.sql(asked, as_of=len(opened) - 2).to_pylist() == [{"text": "Maya lives in Porto."}]
        (made,) = private.iterdir()
        assert made.stat().st_mode & 0o077 == 0
        assert opened.sql(asked, valid_at=datetime(2100, 1, 1, tzinfo=UTC)).num_rows == 2
        assert opened.status_at(as_of=len(opened) - 2).rows["experiences"] == 1
    assert list(private.iterdir()) == []


def test_where_no_projection_stands_sql_makes_one_there(store: Path, private: Path) -> None:
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.")
    with read_only(store), braid.open(store, read_only=True) as opened:
        for _ in range(2):
            assert opened.sql("SELECT text FROM experiences").to_pylist() == [
                {"text": "Maya lives in Porto."}
            ]
    assert list(private.iterdir()) == []


def test_where_no_projection_stands_questions_make_theirs_there(store: Path, private: Path) -> None:
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.", user_id="maya")
        gone = opened.append("Maya lives in Lisbon.", user_id="maya")
    shutil.rmtree(store / "views", ignore_errors=True)
    with read_only(store), braid.open(store, read_only=True) as opened:
        for _ in range(2):
            found = find(opened.session, Question(query="Where does Maya live?", user_id="maya"))
            assert {hit.record.text for hit in found.results} == {
                "Maya lives in Porto.",
                "Maya lives in Lisbon.",
            }
            assert found.degraded == []
        assert opened.ask("Where does Maya live?", user_id="maya", write=False).text
        assert opened.lag == 0
        (made,) = private.iterdir()
        assert made.stat().st_mode & 0o077 == 0
    assert list(private.iterdir()) == []
    assert not (store / "views").exists()
    with braid.open(store) as opened:
        opened.erase(gone)


def test_an_erasure_empties_the_private_folder(
    store: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk a writer asks there, too: what it made must not show what is erased."""
    with braid.open(store) as opened:
        opened.append("Maya lives in Porto.", user_id="maya")
        gone = opened.append("Maya lives in Lisbon.", user_id="maya")

        def full(path: Path) -> None:
            if path.is_relative_to(store):
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
            path.mkdir(mode=0o700, parents=True, exist_ok=True)

        for module in (projection, search, folder, file):
            monkeypatch.setattr(module, "make_folder", full)
        question = Question(query="Where does Maya live?", user_id="maya")
        assert len(find(opened.session, question).results) == 2
        assert len(list(private.iterdir())) == 1
        opened.erase(gone)
        assert list(private.iterdir()) == []
        (hit,) = find(opened.session, question).results
        assert hit.record.text == "Maya lives in Porto."
    assert list(private.iterdir()) == []
