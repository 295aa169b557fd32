"""What happens at a callback, with a store that fails on purpose: nothing is lost, nothing comes twice, all is told."""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from braid.tools.hooks import transcript
from braid.tools.hooks.events import Callback
from braid.tools.hooks.lifecycle import Lifecycle, harness_json
from braid.tools.hooks.state import SessionState, StateFolder
from braid.tools.hooks.troubles import MOST, Troubles

SESSION: Final = "5e551010-0000-4000-8000-000000000001"


class Log:
    """A store that polices its contract: a line that it has already is known, and a down store raises."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.known = 0
        self.headers: list[dict[str, Any]] = []
        self.down = False

    def ask(self, header: dict[str, Any], lines: bytes) -> dict[str, Any]:
        if self.down:
            raise ConnectionError("the store is down")
        self.headers.append(header)
        for line in lines.splitlines():
            if line in self.lines:
                self.known += 1
            else:
                self.lines.append(line)
        context = f"told at {header['want']}" if header.get("want") else ""
        return {"runtime_path": header["runtime_path"], "calls": {}, "refused": [], "context": context}


class Harness:
    """A conversation, and the paths by which its callbacks go."""

    def __init__(self, folder: Path) -> None:
        self.log = Log()
        self.file = folder / f"{SESSION}.jsonl"
        self.state = StateFolder(str(folder / "memory"), str(folder / "guards"))
        self.paths = {
            name: Lifecycle(self.state, name, self.log.ask, {"user_id": "maya"})
            for name in ("hook", "plugin")
        }
        self.count = 0

    def says(self, *texts: str) -> None:
        with self.file.open("a") as file:
            for text in texts:
                file.write(json.dumps({"text": text, "n": self.count}) + "\n")
                self.count += 1

    def calls(self, event: str, path: str = "hook", **said: str) -> dict[str, Any]:
        given = {"session_id": SESSION, "transcript_path": str(self.file), **said}
        callback = Callback(event, given)
        return harness_json(callback, self.paths[path].answer(callback))

    @property
    def troubles(self) -> list[str]:
        return [one["what"] for one in Troubles(self.state).all()]


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


def test_each_call_brings_what_is_new_and_only_that(harness: Harness) -> None:
    start = harness.calls("session_start", source="startup", hook_event_name="SessionStart")
    assert start["hookSpecificOutput"] == {
        "hookEventName": "SessionStart",
        "additionalContext": "told at briefing",
    }
    prompt = harness.calls("user_prompt_submit", prompt="Where?", hook_event_name="UserPromptSubmit")
    assert prompt["hookSpecificOutput"]["additionalContext"] == "told at context"
    harness.says("one", "two")
    assert harness.calls("turn_end") == {}
    assert harness.calls("turn_end") == {}
    harness.says("three")
    harness.calls("pre_compaction")
    again = harness.calls("SessionStart", source="compact", hook_event_name="SessionStart")
    assert again["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    harness.says("four")
    harness.calls("session_end")
    assert (len(harness.log.lines), harness.log.known) == (4, 0)
    assert [one["line"] for one in harness.log.headers if one["request"] in ("turn_end", "session_end")] == [
        0,
        3,
    ]
    assert harness.troubles == []


def test_an_unfinished_line_waits_for_its_end(harness: Harness) -> None:
    harness.file.write_text('{"text": "one"}\n{"text": "tw')
    harness.calls("turn_end")
    assert harness.log.lines == [b'{"text": "one"}']
    with harness.file.open("a") as file:
        file.write('o"}\n')
    harness.calls("turn_end")
    assert harness.log.lines == [b'{"text": "one"}', b'{"text": "two"}']


@pytest.mark.parametrize("cut", [True, False])
def test_a_rewritten_transcript_is_noticed_and_read_again(harness: Harness, cut: bool) -> None:
    harness.says("one", "two", "three")
    harness.calls("turn_end")
    lines = harness.file.read_bytes().splitlines(keepends=True)
    new = [lines[0], lines[2]] if cut else [lines[0], b'{"text": "another"}\n', *lines[1:]]
    harness.file.write_bytes(b"".join(new))
    harness.calls("turn_end")
    assert "was rewritten" in harness.troubles[0]
    assert len(harness.log.lines) == (3 if cut else 4)  # what was there is known by its key
    assert harness.log.known > 0


def test_a_line_that_is_too_long_is_passed_over_and_told(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "PIECE", 64)
    monkeypatch.setattr(transcript, "LONGEST", 256)
    harness.says("one", "x" * 500, "y" * 100, "two")
    for _ in range(4):
        harness.calls("turn_end")
    assert [json.loads(line)["text"][:3] for line in harness.log.lines] == ["one", "yyy", "two"]
    assert ":2 is longer than 256 bytes" in harness.troubles[0]


def test_what_failed_is_told_at_the_next_start_and_taken_in(harness: Harness) -> None:
    harness.calls("session_start", source="startup")
    harness.log.down = True
    harness.says("one", "two")
    assert harness.calls("turn_end") == {}
    assert harness.calls("session_end") == {}
    harness.log.down = False
    other = harness.file
    harness.file = other.with_name("other.jsonl")
    told = Callback("session_start", {"session_id": "other", "source": "startup"})
    said = harness_json(told, harness.paths["hook"].answer(told))
    assert said["systemMessage"].startswith(
        "Braid: 2 failures since the last start:\n"
    )  # as `hook status` counts
    assert "the store is down" in said["systemMessage"]
    assert "1 earlier sessions were taken in" in said["systemMessage"]
    assert len(harness.log.lines) == 2
    assert "systemMessage" not in harness_json(told, harness.paths["hook"].answer(told))


def test_a_session_that_was_killed_is_taken_in_at_the_next_start(harness: Harness) -> None:
    harness.calls("session_start", source="startup")
    harness.says("one")  # and the harness dies
    told = Callback("session_start", {"session_id": "other"})
    harness.paths["hook"].answer(told)
    assert len(harness.log.lines) == 1


def test_a_session_without_a_transcript_leaves_nothing_unread(harness: Harness) -> None:
    harness.paths["hook"].answer(Callback("session_start", {"session_id": "bare"}))
    state = harness.state.load("bare")
    assert (transcript.size_of(state), state.size, harness.troubles) == (None, 0, [])


def test_a_transcript_that_is_gone_is_told_with_what_is_lost(harness: Harness) -> None:
    harness.says("one")
    harness.log.down = True
    harness.calls("turn_end")
    harness.file.unlink()
    harness.log.down = False
    told = Callback("session_start", {"session_id": "other"})
    message = harness.paths["hook"].answer(told).message
    assert "is gone" in message
    assert harness.paths["hook"].answer(told).message == ""


def test_the_plugin_takes_a_session_over_and_each_callback_is_answered_once(harness: Harness) -> None:
    assert harness.calls("session_start", "hook", source="startup") != {}
    assert harness.calls("session_start", "plugin", source="startup") == {}  # answered already
    harness.says("one")
    first = harness.calls("user_prompt_submit", "hook", prompt="a")
    second = harness.calls("user_prompt_submit", "plugin", prompt="a")
    assert (first, bool(second)) == ({}, True)
    harness.says("two")
    harness.calls("turn_end", "plugin")
    harness.calls("turn_end", "hook")
    decisions = [
        (one["number"], one["reason"], one["runtime_path"]) for one in harness.log.headers if one["reason"]
    ]
    assert decisions == [(0, "the first that came", "hook"), (1, "the plugin is there", "plugin")]
    assert (len(harness.log.lines), harness.log.known) == (2, 0)


def test_the_hook_takes_a_session_back_where_the_plugin_is_silent(harness: Harness) -> None:
    harness.calls("session_start", "plugin", source="startup")
    for text in "abcd":
        harness.says(text)
        harness.calls("turn_end", "hook")
    assert [one["runtime_path"] for one in harness.log.headers if one["reason"]] == ["plugin", "hook"]
    assert len(harness.log.lines) == 4


@pytest.mark.parametrize("first", ["hook", "plugin"])
def test_two_paths_that_race_never_take_the_session_from_a_plugin_that_works(
    harness: Harness, first: str
) -> None:
    second = "plugin" if first == "hook" else "hook"
    for number in range(20):
        order = (first, second) if number % 3 else (second, first)
        for path in order:
            harness.calls("user_prompt_submit", path, prompt=f"{number}")
        harness.says(f"{number}")
    reasons = [one["reason"] for one in harness.log.headers if one["reason"]]
    assert reasons.count("the plugin was silent") == 0
    asked = [one["prompt"] for one in harness.log.headers if one.get("prompt")]
    assert sorted(asked, key=int) == [str(number) for number in range(20)]  # each once


def test_files_are_for_their_owner_alone(harness: Harness) -> None:
    harness.log.down = True
    harness.says("one")
    harness.calls("turn_end")
    assert harness.state.path.stat().st_mode & 0o777 == 0o700
    modes = {one.name: one.stat().st_mode & 0o777 for one in harness.state.path.iterdir()}
    assert set(modes.values()) == {0o600}
    assert not any(
        "one" in one.read_text() for one in harness.state.path.iterdir()
    )  # no words are kept there


def test_troubles_are_few_and_the_rest_is_counted(harness: Harness) -> None:
    troubles = Troubles(harness.state)
    for number in range(MOST + 25):
        troubles.add("s", "turn_end", f"failure {number}")
    troubles.add("s", "turn_end", f"failure {MOST}")
    kept = troubles.all()
    assert len(kept) == MOST
    assert sum(one["times"] for one in kept) == MOST + 26
    (harness.state.path / "troubles").write_text("[{]")
    assert "damaged" in troubles.take()[0]["what"]
    assert troubles.all() == []


@pytest.mark.parametrize("raw", [b"", b"null", b'{"offset": "x", "calls": 3}', b"\xff"])
def test_a_damaged_state_begins_again(harness: Harness, raw: bytes) -> None:
    harness.says("one")
    harness.calls("turn_end")
    harness.state.file(SESSION).write_bytes(raw)
    harness.calls("turn_end")
    assert len(harness.log.lines) == 1
    assert harness.state.load(SESSION).offset == harness.file.stat().st_size


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "x" * 300, "ä", ""])
def test_a_session_names_no_file_outside(tmp_path: Path, session: str) -> None:
    folder = StateFolder(str(tmp_path), str(tmp_path))
    assert folder.file(session).parent == folder.path
    assert len(os.fsencode(folder.file(session).name)) < 100


def test_a_busy_session_is_noted_and_waits(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("braid.tools.hooks.lifecycle._WAIT_S", -1.0)
    harness.says("one")
    harness.state.make()
    with harness.state.held(SESSION, 0.1):
        assert harness.calls("turn_end") == {}
    assert "still at work" in harness.troubles[0]
    harness.calls("turn_end")
    assert len(harness.log.lines) == 1


def test_a_state_is_whole_after_it_was_written(harness: Harness) -> None:
    state = SessionState({"session": SESSION, "offset": 7, "calls": {"a": "b"}, "path": "hook"})
    harness.state.make()
    harness.state.save(state)
    assert vars(harness.state.load(SESSION)) == vars(state)
