"""Where what commands write may go: never into a store, whole or not at all, and through what is no regular file."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from braid.tools.cli.destination import new_file, new_folder

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

SELECT = ("sql", "SELECT 1 AS a", "-o", "csv")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "views" not in path.parts and path.name != "lock"
    }


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "words",
    [
        (*SELECT, "--out", "memory/vault"),
        (*SELECT, "--out", "memory/new/answer.csv"),
        (*SELECT, "--out", "other/answer.csv"),
        (*SELECT, "--out", "link/vault"),
        (*SELECT, "--out", "to-vault"),
        (*SELECT, "--out", "guard/STORE.guard"),
        ("sql", "SELECT 1 AS a, 2 AS b", "--partition-by", "a", "--out", "memory/parts"),
        ("prove", "ID", "--out", "memory/keys/log.key"),
        ("prove", "ID", "--envelope", "memory/keys/log.key"),
        ("checkpoint", "--out", "memory/vault"),
        ("verify", "--report", "memory/vault"),
        ("verify", "--state", "memory/vault"),
        ("export", "memory/inner"),
        ("export", "--audit", "memory/views/inner"),
        ("export", "--jsonl", "memory/inner.jsonl"),
        ("export", "--subject", "user_id=maya", "memory/inner"),
        ("export", "--subject", "user_id=maya", "memory/inner.zip"),
        ("export", "--pseudonymise", "memory/inner"),
        ("export", "--pseudonymise", "study", "--key-file", "memory/new.key"),
    ],
)
def test_nothing_is_written_into_a_store(session: Session, words: tuple[str, ...]) -> None:
    session.well("init", "other")
    id = session.well("append", "x", "--user-id", "maya").id
    (session.folder / "link").symlink_to("memory")
    (session.folder / "to-vault").symlink_to(session.store / "vault")
    store_id = json.loads((session.store / "store.json").read_bytes())["store_id"]
    session.well("sql", "SELECT 1")
    before = contents(session.folder)
    said = session.refused(*(word.replace("ID", id).replace("STORE", store_id) for word in words))
    assert "choose another place" in said
    assert contents(session.folder) == before


def test_a_vault_and_a_passphrase_elsewhere_are_no_place_for_an_answer(session: Session) -> None:
    session.well("move-vault", "elsewhere")
    phrase = session.write("phrase", "correct horse\n")
    os.link(session.folder / "elsewhere", session.folder / "second-name")
    for name in ("elsewhere", "second-name", "phrase"):
        said = session.refused("--passphrase-file", phrase, *SELECT, "--out", name)
        assert "choose another place" in said
    session.well("verify", "--deep")


def test_a_link_is_followed_and_a_pipe_is_written_straight(session: Session) -> None:
    session.write("real.csv", "old")
    (session.folder / "link.csv").symlink_to("real.csv")
    session.well("sql", "SELECT 1 AS a", "--out", "link.csv")
    assert (session.folder / "link.csv").is_symlink()
    assert (session.folder / "real.csv").read_text(encoding="utf-8") == "a\n1\n"
    for form in ("csv", "arrow"):
        pipe = session.folder / "pipe"
        os.mkfifo(pipe)
        read: list[bytes] = []
        reader = threading.Thread(target=lambda pipe=pipe, read=read: read.append(pipe.read_bytes()))
        reader.start()
        session.well("sql", "SELECT 1 AS a", "-o", form, "--out", pipe)
        reader.join()
        assert pipe.is_fifo()
        assert read[0] == b"a\n1\n" if form == "csv" else pa.ipc.open_stream(read[0]).read_all().num_rows == 1
        pipe.unlink()
    assert session.well(*SELECT, "--out", "/dev/stdout").out == "a\n1\n"
    assert session.well(*SELECT, "--out", "/dev/null").out == ""
    assert not Path("/dev/null").is_file()
    assert list(session.folder.glob(".*partial")) == []


def test_a_place_that_is_none_is_named(session: Session) -> None:
    for words in (SELECT, ("checkpoint",)):
        assert "is a folder: name a file in it" in session.refused(*words, "--out", ".")
        said = session.refused(*words, "--out", "gone/x.csv")
        assert f"there is no folder {session.folder / 'gone'}" in said
        assert "partial" not in said
    session.write("file", "mine")
    assert "there is no folder" in session.refused(*SELECT, "--out", "file/x.csv")


def test_a_suffix_that_is_no_form_is_refused(session: Session) -> None:
    said = session.refused("sql", "SELECT 1 AS a", "--out", "x.xlsx")
    assert ".xlsx" in said
    assert "-o" in said
    assert not (session.folder / "x.xlsx").exists()
    session.well("sql", "SELECT 1 AS a", "--out", "x.xlsx", "-o", "csv")
    assert (session.folder / "x.xlsx").read_text(encoding="utf-8") == "a\n1\n"
    session.well("sql", "SELECT 1 AS a", "--out", "X.CSV")
    assert (session.folder / "X.CSV").read_text(encoding="utf-8") == "a\n1\n"
    for name in ("answer", "answer.txt"):
        session.well("sql", "SELECT 10 AS a", "--out", name)
        assert (session.folder / name).read_text(encoding="utf-8") == "a\n10\n"


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        _fail_in_file(tmp_path / "kept")
    with pytest.raises(ZeroDivisionError):
        _fail_in_folder(tmp_path / "deep" / "folder")
    assert contents(tmp_path) == {"kept": b"old"}
    assert not list((tmp_path / "deep").iterdir())


def _fail_in_file(file: Path) -> None:
    with new_file(file) as stream:
        stream.write(b"half")
        raise ZeroDivisionError


def _fail_in_folder(folder: Path) -> None:
    with new_folder(folder) as partial:
        (partial / "half").write_bytes(b"half")
        raise ZeroDivisionError
