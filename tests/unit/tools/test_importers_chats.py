"""ChatGPT, Claude, Claude Code, OpenAI and REALTALK: what each says of a turn, and what of it is refused."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from braid.tools.importers.message import Attachment, Message
from tests.unit.tools.samples import EXPORTS, FILES, messages, read_bytes, reasons


def sample(name: str) -> list[Message]:
    return messages(read_bytes(name, (EXPORTS / FILES[name]).read_bytes()))


def document(name: str) -> Any:
    return json.loads((EXPORTS / FILES[name]).read_bytes())


# ChatGPT


def by_end(found: list[Message]) -> dict[str, Message]:
    """The first conversation's messages by the last digit of their ids."""
    return {str(each.external_id)[-1]: each for each in found if str(each.external_id).startswith("a")}


def test_chatgpt_takes_every_branch_and_tells_which_was_shown() -> None:
    tree = by_end(sample("chatgpt"))
    assert "".join(tree) == "23456789"
    assert {end: str(each.parent)[-1] for end, each in tree.items() if each.parent} == {
        "3": "2", "4": "3", "5": "2", "6": "5", "7": "6", "8": "7", "9": "7",
    }  # fmt: skip
    off = {end for end, each in tree.items() if each.extra.get("on_current_branch") is False}
    assert off == {
        "3",
        "4",
        "8",
    }  # the question before it was edited, its answer, the answer before it was made anew


def test_chatgpt_says_who_spoke_and_when() -> None:
    tree = by_end(sample("chatgpt"))
    assert [each.role for each in tree.values()] == [
        "user", "user", "assistant", "user", "assistant", "tool", "assistant", "assistant",
    ]  # fmt: skip
    assert tree["3"].occurred_at == datetime(2025, 5, 17, 7, 30, 0, 123456, tzinfo=UTC)
    assert tree["2"].text == "I live in Porto.\nBe brief."
    assert tree["7"].name == "browser"
    assert tree["6"].extra["recipient"] == "browser"
    assert tree["6"].extra["content_type"] == "code"
    assert tree["9"].extra["model_slug"] == "o3"
    assert {each.extra["title"] for each in tree.values()} == {"Tea in Porto"}
    assert {each.session for each in tree.values()} == {"c0000000-0000-4000-8000-000000000001"}


def test_chatgpt_tells_of_pictures_and_attachments() -> None:
    assert by_end(sample("chatgpt"))["5"].media == (
        Attachment(kind="image", uri="file-service://file-7Tea"),
        Attachment(kind="image/png", uri="file-7Tea", name="tea.png"),
    )


def test_chatgpt_thoughts_are_text() -> None:
    assert sample("chatgpt")[-1].text == "Weighing trains\nThe 9:15 is direct."


def chatgpt(change: Callable[[dict[str, Any]], object]) -> list[Message] | list[str]:
    """What is found when the first message that was asked is changed: messages, else reasons."""
    found = document("chatgpt")[1:]
    change(found[0])
    read = read_bytes("chatgpt", json.dumps(found).encode())
    return reasons(read) or messages(read)


def asked(conversation: dict[str, Any]) -> dict[str, Any]:
    node: dict[str, Any] = conversation["mapping"]["b0000000-0000-4000-8000-000000000001"]
    return node


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda c: c.pop("mapping"), 'no "mapping"'),
        (lambda c: (c.pop("id"), c.pop("conversation_id")), 'no "conversation_id"'),
        (lambda c: c.update(title=5), '"title" is not text'),
        (lambda c: asked(c)["message"].update(create_time=1e300), '"create_time" is out of range'),
        (
            lambda c: asked(c)["message"].update(create_time=9e10),
            '"create_time" is before 1900 or more than ten',
        ),
        (lambda c: asked(c)["message"].update(create_time="soon"), '"create_time" is not a number'),
        (lambda c: asked(c)["message"].update(create_time=True), '"create_time" is not a number'),
        (lambda c: asked(c)["message"].update(create_time=-(10.0**11)), '"create_time" names no time'),
        (lambda c: asked(c)["message"]["author"].update(role="robot"), "unknown role 'robot'"),
        (lambda c: asked(c)["message"].pop("author"), 'no "role"'),
    ],
)
def test_chatgpt_refusals(change: Callable[[dict[str, Any]], object], reason: str) -> None:
    (found,) = chatgpt(change)
    assert isinstance(found, str)
    assert reason in found


def test_chatgpt_nodes_in_a_circle_and_without_a_parent_are_taken_once() -> None:
    def close(conversation: dict[str, Any]) -> None:
        asked(conversation)["parent"] = "b0000000-0000-4000-8000-000000000002"

    assert len(chatgpt(close)) == 2
    assert len(chatgpt(lambda c: asked(c).update(parent="nowhere", children=["nowhere"]))) == 2
    assert len(chatgpt(lambda c: c.update(current_node=["no", "id"]))) == 2


def test_chatgpt_a_tree_as_deep_as_it_is_long() -> None:
    mapping = {
        str(n): {
            "parent": str(n - 1),
            "message": {"author": {"role": "user"}, "content": {"parts": [str(n)]}},
        }
        for n in range(5_000)
    }
    data = json.dumps([{"id": "c", "mapping": mapping, "current_node": "4999"}]).encode()
    found = messages(read_bytes("chatgpt", data))
    assert [each.text for each in found] == [str(n) for n in range(5_000)]
    assert found[-1].parent == "4998"


def test_chatgpt_a_later_export_has_the_same_hashes_though_ratings_changed() -> None:
    found = document("chatgpt")
    for node in found[0]["mapping"].values():
        if node["message"]:
            node["message"]["status"], node["message"]["weight"] = "other", 0.5
    again = messages(read_bytes("chatgpt", json.dumps(found).encode()))
    assert [each.source_hash for each in again] == [each.source_hash for each in sample("chatgpt")]


def test_chatgpt_keeps_a_content_that_it_does_not_know() -> None:
    content = {"content_type": "hologram", "frames": [1]}
    found = chatgpt(lambda c: asked(c)["message"].update(content=content))
    assert isinstance(found[0], Message)
    assert (found[0].text, found[0].extra["content"]) == ("", content)


# Claude


def test_claude_blocks_attachments_and_files() -> None:
    asked, answered, old = sample("claude")
    assert (asked.role, asked.parent, asked.session) == ("user", None, "d0000000-0000-4000-8000-000000000001")
    assert asked.media == (Attachment(kind="file", name="starter.jpg"),)
    attachments = asked.extra["attachments"]
    assert isinstance(attachments, list)
    assert attachments[0]["extracted_content"] == "fed on Monday, 1:1:1"
    assert (answered.role, answered.text, answered.parent) == (
        "assistant",
        "Feed it more often.",
        asked.external_id,
    )
    parts = answered.extra["parts"]
    assert isinstance(parts, list)
    assert [part["type"] for part in parts] == ["thinking", "tool_use", "tool_result"]
    assert answered.occurred_at == datetime(2025, 3, 1, 8, 0, 12, 345678, tzinfo=UTC)
    assert old.text == "An older export has no blocks."


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"uuid": None}, 'no "uuid"'),
        ({"sender": "robot"}, "unknown sender 'robot'"),
        ({"sender": ["human"]}, '"sender" is not text'),
        ({"created_at": "2025-03-01T08:00:00"}, '"created_at" has no offset'),
        ({"content": [7]}, 'a part of "content" is neither text nor an object'),
        ({"content": [{"type": []}], "text": 4}, '"text" is not text'),
    ],
)
def test_claude_refusals(change: dict[str, Any], reason: str) -> None:
    found = document("claude")
    found[0]["chat_messages"][0].update(change)
    read = read_bytes("claude", json.dumps(found).encode())
    assert [each for each in reasons(read) if reason in each], reasons(read)
    assert len(read) == 3


# Claude Code


def test_claude_code_turns_tools_and_side_chains() -> None:
    found = sample("claude-code")
    assert [each.role for each in found] == ["user", "assistant", "tool", "assistant", "assistant", "system"]
    assert [each.ordinal for each in found] == [2, 3, 4, 5, 6, 7]  # lines that are no turns are counted
    result = found[2]
    assert (result.name, result.text) == ("Read", "     1\tdef parse(text):\n     2\t    return text[0]")
    assert result.parent == found[1].external_id
    assert found[4].extra["isSidechain"] is True

    assert found[4].media == (
        Attachment(
            kind="image/png",
            uri="urn:sha256:929e08d597feae564ce98003c4a47ff5239a5b93681d186eda3a9871e5b62644",
        ),
    )
    assert {each.session for each in found} == {"5e551010-0000-4000-8000-000000000001"}


@pytest.mark.parametrize(
    ("mark", "role"), [("isSidechain", "assistant"), ("isCompactSummary", "assistant"), ("isMeta", "system")]
)
def test_claude_code_lines_that_a_program_wrote_are_not_the_users(mark: str, role: str) -> None:
    line = {
        "type": "user", "uuid": "u1", "sessionId": "s1", mark: True,
        "message": {"role": "user", "content": "I live in Lima."},
    }  # fmt: skip
    (found,) = messages(read_bytes("claude-code", json.dumps(line).encode()))
    assert (found.role, found.text) == (role, "I live in Lima.")
    told = line | {"message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}}
    (found,) = messages(read_bytes("claude-code", json.dumps(told).encode()))
    assert found.role == "tool"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "user", "sessionId": "s", "message": {"content": "x"}}, 'no "uuid" or no "sessionId"'),
        ({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": 5}}, '"content" is neither'),
        ({"type": "user", "uuid": 5, "sessionId": "s"}, '"uuid" is not text'),
        ({"type": "user", "uuid": "u", "sessionId": "s", "timestamp": "noon"}, '"timestamp" is not RFC 3339'),
    ],
)
def test_claude_code_refusals(line: dict[str, Any], reason: str) -> None:
    (found,) = reasons(read_bytes("claude-code", json.dumps(line).encode()))
    assert reason in found


@pytest.mark.parametrize("kind", ["summary", "progress", "queue-operation", None, [], {"a": 1}])
def test_claude_code_lines_that_are_no_turns_are_passed_over(kind: object) -> None:
    assert read_bytes("claude-code", json.dumps({"type": kind, "sessionId": "s"}).encode()) == []


# OpenAI


def test_openai_messages() -> None:
    found = sample("openai")
    assert [each.role for each in found] == [
        "system",
        "user",
        "assistant",
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert [each.ordinal for each in found] == list(range(7))
    assert len({each.session for each in found}) == 2
    assert str(found[0].session).endswith("/L1")
    assert found[3].extra["role_of_source"] == "developer"
    beside = found[3].extra["conversation_of_source"]
    assert isinstance(beside, dict)
    assert sorted(beside) == ["parallel_tool_calls", "tools"]
    assert (found[4].name, found[4].text) == ("Maya", "What is this?")
    assert found[4].media == (Attachment(kind="image", uri="https://images.example/cup.png"),)
    assert (found[5].text, found[5].extra["weight"]) == ("", 0)
    assert found[6].extra["tool_call_id"] == "call_1"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[]", 'no list of "messages"'),
        (b'{"messages": {}}', 'no list of "messages"'),
        (b'{"messages": [4]}', "message 1: not an object"),
        (b'{"messages": [{"role": "user"}]}', 'message 1: no "content"'),
        (b'{"messages": [{"role": "robot", "content": ""}]}', "message 1: unknown role"),
    ],
)
def test_openai_refusals(line: bytes, reason: str) -> None:
    found = read_bytes("openai", line + b'\n{"messages": [{"role": "user", "content": "next"}]}')
    assert reason in reasons(found)[0]
    assert [each.text for each in found if isinstance(each, Message)] == ["next"]


# REALTALK


def test_realtalk_turns_and_nothing_of_the_annotations() -> None:
    found = sample("realtalk")
    assert [each.name for each in found] == ["Emi", "Elise", "Emi"]
    assert found[0].occurred_at == datetime(2023, 12, 29, 15, 23, 45, tzinfo=UTC)
    assert found[1].media == (
        Attachment(kind="image", uri="https://images.example/desk.jpg", caption="a desk full of books"),
    )
    assert found[2].session == f"{found[2].conversation}/session_2"
    assert str(found[2].external_id).endswith("/D2:1")
    assert "SECRET" not in repr(found)


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ({"clean_text": 5}, '"clean_text", "speaker" and "dia_id" must be text'),
        ({"date_time": "29/12/2023"}, '"date_time" is not understood'),
        ({"date_time": "31.02.2023, 10:00:00"}, '"date_time" names no time'),
        ({"date_time": "01.01.0800, 10:00:00"}, "before 1900"),
    ],
)
def test_realtalk_refusals(turn: dict[str, Any], reason: str) -> None:
    found = document("realtalk")
    found["session_1"][1].update(turn)
    assert reason in reasons(read_bytes("realtalk", json.dumps(found).encode()))[0]
