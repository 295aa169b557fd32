"""A store whose server runs: `braid.open` and the command line ask it, and a second process never meets a lock."""

import asyncio
import json
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.client.served import ServedStore
from braid.errors import AccessDeniedError
from braid.ledger.errors import ReadOnlyError, UnknownRecordError
from braid.registry import dispatch
from braid.store import Store
from braid.tools.cli import entry, served_recall
from tests.system.server.running import served
from tests.unit.api.test_operations import ALL, NOW, Scene, asked, scene, unlike  # noqa: F401 - a fixture


def opened(scene: Scene) -> Store:  # noqa: F811
    """Open a scene at one moment, which is the same for every call."""
    later = NOW + timedelta(minutes=5)
    return braid.open(scene.folder / "store", guard_dir=scene.folder / "guard", clock=lambda: later)


@pytest.mark.sample(96)
@pytest.mark.parametrize("name", ALL)
def test_a_store_that_is_served_dispatches_alike(name: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    known, mine = ALL[name], scene.copy(tmp_path / "one")
    exact = known.access == "read" and known.repeatable
    request = json.dumps(asked(known, mine)).encode()
    one, two = (str(tmp_path / name).encode() for name in ("one", "two"))
    with (
        opened(mine) as store,
        served(store),
        braid.open(store.path, guard_dir=mine.folder / "guard") as through,
    ):
        assert through.server == str(store.path)
        got = json.loads(dispatch(through.session, name, request))
        wanted = json.loads(dispatch(store.session, name, request)) if exact else None
    if not exact:
        with opened(scene.copy(tmp_path / "two")) as alone:
            wanted = json.loads(dispatch(alone.session, name, request.replace(one, two)))
        got = json.loads(json.dumps(got).encode().replace(one, two))
    assert unlike(got, wanted, exact=exact) == []


def test_a_transaction_of_an_event_loop_is_the_servers(tmp_path: Path) -> None:
    async def added(path: Path) -> tuple[str, ...]:
        async with braid.connect_async(path) as client:
            async with client.transaction() as both:
                first = both.append("One.")
                both.append("Two.", parents=[first])
            return both.ids

    with braid.open(tmp_path / "store") as store, served(store):
        assert [store.get(id).text for id in asyncio.run(added(store.path))] == ["One.", "Two."]


def test_whoever_opens_it_gets_the_same_store(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with braid.open(folder) as store, served(store):
        with braid.open(folder) as second, braid.open(folder, read_only=True) as third:
            assert isinstance(second, ServedStore)
            said = second.append("Maya moved to Porto.", user_id="maya")
            assert len(second) == len(store) == len(third)
            assert second.reader.get(said).text == third.get(said).text == "Maya moved to Porto."
            assert second.recall("Where did Maya move?", user_id="maya").results[0].id == said
            with second.transaction() as both:
                both.append("One.")
                both.append("Two.", parents=["$0"])
            assert [one.text for one in store.read(len(store) - 2)] == ["One.", "Two."]
            assert [store.get(id).text for id in both.ids] == ["One.", "Two."]
            with pytest.raises(ReadOnlyError, match="stop `braid serve`"):
                second.ask("Where?", composer=object(), write=True)  # type: ignore[arg-type]  # no data, so it can't be sent
            with pytest.raises(ReadOnlyError):
                third.append("Not by whoever only reads.")
            with pytest.raises(UnknownRecordError):
                second.get("exp_2025-05-17T09:00:00Z_0000000300ab")
            second.session.allowed = frozenset(("read",))
            with pytest.raises(AccessDeniedError):
                second.append("Not without its access.")
            with pytest.raises(braid.WalError, match="open for writing already in this process"):
                braid.open(folder, server=None)
        with pytest.raises(ValueError, match="was closed"):
            second.status()
        with pytest.raises(ValueError, match="was closed"):
            _ = second.reader
    with braid.open(folder) as alone:
        assert alone.server is None


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["braid", *words])
    try:
        entry.run()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_recall_through_the_socket_shows_what_the_command_shows(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "store"
    words = ["recall", "Where does she live?", "--user-id", "maya", "-o", output, "--store", str(folder)]
    with braid.open(folder) as store:
        first = store.append("Maya lives in Porto.\x1b[2J", user_id="maya")
        store.correct(first, "Maya lives in Leeds,\nnow.", reason="moved")
        store.append("Tom lives in Rome.", user_id="tom")
        assert served_recall.answered(words) is False  # no server, so the command must
        with served(store):
            assert run(monkeypatch, *words) == 0
            quick = capfd.readouterr()
            with monkeypatch.context() as patched:
                patched.setattr(served_recall, "answered", lambda _: False)
                assert run(patched, *words) == 0
            whole = capfd.readouterr()
            assert run(monkeypatch, *words[:2], "--user-id", "nobody", "--store", str(folder)) == 0
            nothing = capfd.readouterr()
    assert quick == whole
    assert "Leeds" in quick.out
    assert "\x1b" not in quick.out
    assert "nothing fits" in nothing.err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["recall", "cat"], {"question": "cat"}),
        (["--store", "s", "recall", "cat", "-k", "3"], {"store": "s", "question": "cat", "top_k": "3"}),
        (["recall", "cat", "--explain"], None),
        (["recall", "-"], None),
        (["recall", "cat", "dog"], None),
        (["recall", "cat", "-k", "0"], None),
        (["recall", "cat", "-k", "٣"], None),
        (["recall", "cat", "-o", "csv"], None),
        (["recall", "cat", "--user-id", ""], None),
        (["recall", " "], None),
        (["recall", "cat", "-k"], None),
        (["recall"], None),
        (["log", "recall"], None),
        (["recall", "recall"], {"question": "recall"}),
    ],
)
def test_what_is_not_plain_is_left_to_the_command(words: list[str], found: dict[str, Any] | None) -> None:
    assert served_recall.asked(words) == found


def test_commands_beside_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "store"
    at = ["--store", str(folder)]
    with braid.open(folder) as store, served(store):
        assert run(monkeypatch, "append", "The cat is called Miso.", "--key", "k", *at) == 0
        assert run(monkeypatch, "append", "The cat is called Miso.", "--key", "k", *at) == 0
        told = capfd.readouterr()
        id = told.out.split()[0]
        assert told.out.split() == [id, id]
        assert "1 of 1 were in the log already" in told.err
        assert run(monkeypatch, "correct", id, "The cat is called Mochi.", *at) == 0
        assert run(monkeypatch, "forget", "--only", id, *at) == 0
        assert run(monkeypatch, "log", *at) == 0
        assert run(monkeypatch, "verify", *at) == 0
        assert run(monkeypatch, "ask", "What is the cat called?", *at) == 0
        assert "Mochi" in capfd.readouterr().out
        assert run(monkeypatch, "key", "seal", *at) == 2
        assert "stop `braid serve`" in capfd.readouterr().err


def test_a_second_server_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with braid.open(folder) as store, served(store):
        command = [str(Path(sys.executable).parent / "braid"), "serve", "--store", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode != 0
        assert "a server may be running" in done.stderr
        with braid.connect(folder) as client:
            assert client.get(client.append("Still here.")).text == "Still here."


def test_a_key_that_is_taken_is_refused_alike_beside_a_server(tmp_path: Path) -> None:
    says, other = ([{"role": "user", "content": f"I keep {what}."}] for what in ("bees", "hens"))
    with braid.open(tmp_path / "store") as store, served(store), braid.open(tmp_path / "store") as through:
        assert through.server
        id = through.append("I live in Porto.", user_id="maya", idempotency_key="a")
        through.remember(says, user_id="maya", session_id="s", idempotency_key="b")
        through.modify(id, tags=["home"], reason="x", idempotency_key="c")
        for ask in (
            lambda: through.append("I live in Faro.", user_id="maya", idempotency_key="a"),
            lambda: through.remember(other, user_id="maya", session_id="s", idempotency_key="b"),
            lambda: through.modify(id, tags=["flat"], reason="x", idempotency_key="c"),
        ):
            with pytest.raises(braid.IdempotencyConflictError) as refused:
                ask()
            assert refused.value.unlike


def test_errors_that_the_docs_name_are_there() -> None:
    root = Path(__file__).parents[3]
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    named = {name for page in pages for name in re.findall(r"`braid\.([A-Z]\w+)", page.read_text("utf-8"))}
    assert len(named) > 3
    assert {name for name in named if not hasattr(braid, name)} == set()
