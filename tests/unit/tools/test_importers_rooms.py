"""Slack and Discord: people, threads, edits, files; what is kept out of records and hashes."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid.tools.importers.message import Attachment, BadLine, Message
from tests.unit.tools.samples import EXPORTS, messages, read_bytes, read_path, reasons, zip_of


@pytest.fixture
def slack(tmp_path: Path) -> Path:
    """An export that the test may change."""
    return shutil.copytree(EXPORTS / "slack", tmp_path / "export")


def rewrite(day: Path, change: dict[str, Any], place: int = 2) -> None:
    found = json.loads(day.read_bytes())
    found[place].update(change)
    day.write_text(json.dumps(found))


def test_slack_people_threads_and_files(slack: Path) -> None:
    joined, asked, answered, told, other = messages(read_path("slack", slack))
    assert (joined.role, joined.text) == ("system", "@Owen Black has joined the channel")
    assert (asked.role, asked.name, asked.session) == ("user", "maya", "C01GEN")
    assert asked.text == "Who has the <https://example.org/plan|plan>? @Owen Black?"
    assert asked.occurred_at == datetime(2025, 4, 1, 8, 1, 0, 123456, tzinfo=UTC)
    assert (asked.parent, answered.parent) == (None, asked.external_id)
    assert (asked.revised, answered.revised) == (False, True)
    assert answered.media == (
        Attachment(
            kind="application/pdf", uri="https://files.slack.com/files-pri/T01-F01/plan.pdf", name="plan.pdf"
        ),
    )
    assert (told.role, told.name) == ("tool", "deploybot")
    assert other.external_id == asked.external_id
    assert other.key("slack") != asked.key("slack")


def test_slack_tokens_are_not_kept(slack: Path) -> None:
    assert "xoxe" not in repr(read_path("slack", slack))


def test_slack_what_changes_unsaid_is_not_hashed(slack: Path) -> None:
    before = [each.source_hash for each in messages(read_path("slack", slack))]
    rewrite(slack / "general/2025-04-01.json", {"reactions": [], "reply_count": 7, "latest_reply": "x"}, 1)
    assert [each.source_hash for each in messages(read_path("slack", slack))] == before
    rewrite(slack / "general/2025-04-01.json", {"text": "Here!"})
    after = [each.source_hash for each in messages(read_path("slack", slack))]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ts": None}, 'no "ts"'),
        ({"ts": "yesterday"}, '"ts" is not a number of seconds'),
        ({"ts": 17.5}, '"ts" is not text'),
        ({"text": ["x"]}, '"text" is not text'),
        ({"ts": "99999999999.0"}, '"ts" is before 1900 or more than ten years ahead'),
    ],
)
def test_slack_refusals_name_the_day(slack: Path, change: dict[str, Any], reason: str) -> None:
    rewrite(slack / "general/2025-04-01.json", change)
    found = read_path("slack", slack)
    (bad,) = [each for each in found if isinstance(each, BadLine)]
    assert (bad.part, bad.line) == ("general/2025-04-01.json", 3)
    assert reason in bad.reason
    assert len(found) == 5


BLOCKS = [
    {"type": "header", "text": {"type": "plain_text", "text": "Build 7 &amp; tests"}},
    {"type": "section", "fields": [{"type": "mrkdwn", "text": "*passed*"}, {"type": "mrkdwn", "text": "in 4 min"}]},
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": "for "}, {"type": "user", "user_id": "U01MAYA"},
                             {"type": "text", "text": " &amp; all"}],
            }
        ],
    },
]  # fmt: skip
ATTACHED = [
    {
        "fallback": "down: x",
        "title": "Site down",
        "text": "since 9",
        "fields": [{"title": "Host", "value": "x"}],
    },
    {"fallback": "see log"},
]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"blocks": BLOCKS}, "Build 7 & tests\n*passed*\nin 4 min\nfor @maya & all"),
        ({"attachments": ATTACHED}, "Site down\nsince 9\nHost\nx\nsee log"),
        ({"text": "Mine", "blocks": BLOCKS}, "Mine"),
        ({"text": "a &lt;b&gt; &amp;amp; <@U01MAYA>"}, "a <b> &amp; @maya"),
        ({"blocks": [[7], {"text": 7, "elements": [{"elements": 7}]}]}, ""),
    ],
)
def test_slack_text_wherever_it_stands(slack: Path, said: dict[str, Any], text: str) -> None:
    rewrite(slack / "general/2025-04-01.json", {"text": "", "subtype": "bot_message", **said})
    assert messages(read_path("slack", slack))[2].text == text


def test_slack_a_guest_has_the_name_of_their_profile(slack: Path) -> None:
    guest = {"user": "U9", "user_profile": {"display_name": "", "real_name": "Gil Ray"}}
    rewrite(slack / "general/2025-04-01.json", guest)
    assert messages(read_path("slack", slack))[2].name == "Gil Ray"


def test_slack_without_a_list_of_channels_is_known_by_names(tmp_path: Path) -> None:
    day = [{"type": "message", "user": "U9", "text": "hi", "ts": "1743494460.123456", "subtype": []}]
    path = zip_of(
        tmp_path / "s.zip", {"users.json": b"[{},5]", "general/2025-04-01.json": json.dumps(day).encode()}
    )
    found = read_path("slack", path)
    assert reasons(found) == ["not an object"]
    (message,) = [each for each in found if isinstance(each, Message)]
    assert (message.name, message.conversation) == ("U9", "general")


# Discord

DISCORD = EXPORTS / "discord.json"


def changed(change: dict[str, Any], place: int = 1) -> bytes:
    found = json.loads(DISCORD.read_bytes())
    found["messages"][place].update(change)
    return json.dumps(found).encode()


def test_discord_people_replies_and_files() -> None:
    joined, said, answered = messages(read_bytes("discord", DISCORD.read_bytes()))
    assert (joined.role, said.role, answered.role) == ("system", "user", "tool")
    assert (said.name, answered.name) == ("Emi", "loafbot")
    assert said.occurred_at == datetime(2025, 4, 1, 8, 1, 2, 345_000, tzinfo=UTC)
    assert (said.session, said.extra["channel"], said.extra["guild"]) == ("222", "sourdough", "Bakers")
    assert (said.parent, answered.parent) == (None, "1002")
    assert (said.revised, answered.revised) == (True, False)
    assert said.media == (
        Attachment(
            kind="file", uri="https://cdn.discordapp.com/attachments/222/5001/loaf.png", name="loaf.png"
        ),
    )
    assert answered.extra["embeds"] == [
        {"title": "Loaf", "url": None, "timestamp": None, "description": "rated 9/10"}
    ]


def test_discord_what_changes_unsaid_is_not_hashed() -> None:
    before = [each.source_hash for each in messages(read_bytes("discord", DISCORD.read_bytes()))]
    again = messages(
        read_bytes("discord", changed({"reactions": [], "isPinned": False, "author": {"name": "x"}}))
    )
    assert [each.source_hash for each in again] == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, 'no "id"'),
        ({"content": None}, '"content" is not text'),
        ({"timestamp": "2025-04-01T10:00:00"}, '"timestamp" has no offset'),
        ({"type": {"a": 1}}, '"type" is not text'),
    ],
)
def test_discord_refusals(change: dict[str, Any], reason: str) -> None:
    found = read_bytes("discord", changed(change))
    assert reason in reasons(found)[0]
    assert len(found) == 3


def test_discord_messages_before_their_channel_are_refused() -> None:
    found = json.loads(DISCORD.read_bytes())
    backwards = json.dumps(dict(reversed(found.items()))).encode()
    assert set(reasons(read_bytes("discord", backwards))) == {
        '"channel" with its "id" must stand before "messages"'
    }


def test_discord_a_sticker_leaves_a_trace() -> None:
    sticker = {
        "id": "9",
        "name": "Wave",
        "format": "Apng",
        "sourceUrl": "https://cdn.discordapp.com/s/9.png?a=b",
    }
    said = messages(
        read_bytes("discord", changed({"content": "", "stickers": [sticker], "attachments": []}))
    )[1]
    assert said.media == (Attachment(kind="sticker", uri="https://cdn.discordapp.com/s/9.png", name="Wave"),)
