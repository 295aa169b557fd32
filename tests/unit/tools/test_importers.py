"""Importers: each good and bad case of each format, the keys, and how little memory a giant line takes."""

import hashlib
import io
import json
import shutil
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from braid.tools.importers.detect import by_name, detect, installed, open_path
from braid.tools.importers.errors import UnknownFormatError
from braid.tools.importers.jsonl import JsonlImporter
from braid.tools.importers.locomo import LocomoImporter
from braid.tools.importers.message import HEAD_BYTES, Attachment, BadLine, Message
from braid.tools.importers.source import ImportSource, of_file, of_stream
from braid.tools.importers.times import AHEAD, in_zone

ROOT = Path(__file__).parents[3]
LOCOMO = ROOT.parent / "shared" / "data" / "locomo"
SHAPED = ROOT / "tests" / "data" / "locomo_shaped.json"
NOW = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
GOOD = b'{"role":"user","content":"hello"}'


def read_jsonl(data: bytes, max_line_bytes: int = 2**20) -> list[Message | BadLine]:
    importer = JsonlImporter(max_line_bytes=max_line_bytes)
    return list(importer.read(stream_of(data, "test:chat")))


def stream_of(data: bytes, uri: str = "stream:") -> ImportSource:
    return of_stream(io.BytesIO(data), uri, opened_at=NOW)


def one(data: bytes) -> Message:
    (found,) = read_jsonl(data)
    assert isinstance(found, Message), found
    return found


def line(**members: object) -> bytes:
    return json.dumps({"role": "user", "content": "hello"} | members).encode()


# JSONL: what is read


def test_every_field_is_read() -> None:
    raw = line(
        content="Grüße",
        timestamp="2025-05-17T09:30:00.25+02:00",
        name="Nadia",
        session="s1",
        conversation="c1",
        id="m-7",
        metadata={"mood": "calm"},
    )
    message = one(raw + b"\r\n")
    assert message.role == "user"
    assert message.text == "Grüße"
    assert message.occurred_at is not None
    assert message.occurred_at == datetime(2025, 5, 17, 7, 30, 0, 250_000, tzinfo=UTC)
    assert message.occurred_at.utcoffset() == timedelta(hours=2)
    assert (message.name, message.session, message.conversation) == ("Nadia", "s1", "c1")
    assert (message.external_id, message.ordinal) == ("m-7", 0)
    assert message.source_uri == "test:chat#L1"
    assert message.source_hash == f"sha256:{hashlib.sha256(raw).hexdigest()}"
    assert message.extra == {"mood": "calm"}


def test_what_is_absent_null_or_empty_is_none() -> None:
    message = one(line(timestamp=None, name="", session=None, id=""))
    assert message.occurred_at is None
    assert (message.name, message.session, message.conversation, message.external_id) == (None,) * 4


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_roles(role: str) -> None:
    assert one(line(role=role)).role == role


def test_integer_ids_are_kept_as_text() -> None:
    message = one(line(id=12, session=3))
    assert (message.external_id, message.session) == ("12", "3")


def test_parts_are_joined_and_images_are_media() -> None:
    audio = {"type": "input_audio", "input_audio": {"format": "wav"}}
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {"url": "https://images.example/a.png"}, "caption": "a cat"},
        "two",
        {"type": "input_image", "image_url": "https://images.example/b.png"},
        audio,
        {"type": "output_text", "text": "three"},
    ]
    message = one(line(content=parts))
    assert message.text == "one\ntwo\nthree"
    assert message.media == (
        Attachment(kind="image", uri="https://images.example/a.png", caption="a cat"),
        Attachment(kind="image", uri="https://images.example/b.png"),
    )
    assert message.extra == {"parts": [audio]}


def test_null_content_is_allowed_beside_tool_calls() -> None:
    calls = [{"id": "call_1", "function": {"name": "now"}}]
    message = one(line(role="assistant", content=None, tool_calls=calls))
    assert (message.text, message.extra) == ("", {"tool_calls": calls})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2025-01-02T03:04:05Z", datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2025-01-02t03:04:05.123456789z", datetime(2025, 1, 2, 3, 4, 5, 123_456, tzinfo=UTC)),
        ("2025-01-02 03:04:05-05:30", datetime(2025, 1, 2, 8, 34, 5, tzinfo=UTC)),
        ("1900-01-01T00:00:00Z", datetime(1900, 1, 1, tzinfo=UTC)),
        ((NOW + AHEAD).isoformat(), NOW + AHEAD),
    ],
)
def test_timestamps(written: str, meant: datetime) -> None:
    assert one(line(timestamp=written)).occurred_at == meant


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        ("2025-01-02T03:04:05", "2025-01-02T03:04:05+01:00"),
        ("2025-07-02 03:04:05.25", "2025-07-02T03:04:05.250000+02:00"),
        ("2025-07-02T03:04:05Z", "2025-07-02T03:04:05+00:00"),
        ("2025-03-30T01:59:59", "2025-03-30T01:59:59+01:00"),
        ("2025-03-30T03:00:00", "2025-03-30T03:00:00+02:00"),
        ("2025-10-26T02:30:00", "2025-10-26T02:30:00+02:00"),  # shown twice: the earlier
        ("2025-10-26T03:00:00", "2025-10-26T03:00:00+01:00"),
    ],
)
def test_a_time_without_an_offset_is_read_in_the_zone_that_a_person_names(shown: str, meant: str) -> None:
    source = stream_of(line(timestamp=shown))
    source.zone = BERLIN
    (message,) = JsonlImporter().read(source)
    assert isinstance(message, Message), message
    assert message.occurred_at is not None
    assert message.occurred_at.isoformat() == meant


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ("2025-03-30T02:00:00", "was never shown in Europe/Berlin, whose clocks leapt over it"),
        ("2025-03-30T02:59:59.5", "was never shown in Europe/Berlin"),
        ("2025-02-30T00:00:00", "names no time"),
        ("1899-12-31T00:00:00", "before 1900"),
        ("0001-01-01T00:00:00", "names no time"),
        ("9999-12-31T23:59:59", "more than ten years ahead"),
        ("17 May 2025", "is not RFC 3339"),
    ],
)
def test_a_time_that_no_clock_of_the_zone_showed_is_refused(shown: str, reason: str) -> None:
    source = stream_of(line(timestamp=shown))
    source.zone = BERLIN
    (refused,) = JsonlImporter().read(source)
    assert isinstance(refused, BadLine)
    assert reason in refused.reason


def test_an_offset_of_odd_seconds_becomes_utc() -> None:
    """Paris stood 9 minutes and 21 seconds ahead until 1911; RFC 3339 can't write that."""
    moment = in_zone(datetime.fromisoformat("1901-01-01T12:00:00"), ZoneInfo("Europe/Paris"))
    assert moment is not None
    assert moment.isoformat() == "1901-01-01T11:50:39+00:00"


def test_without_a_zone_the_refusal_says_what_to_do() -> None:
    (refused,) = read_jsonl(line(timestamp="2025-05-17T09:30:00"))
    assert isinstance(refused, BadLine)
    assert "--timezone says where it was written, as Europe/Berlin" in refused.reason


def test_byte_order_mark_blank_lines_and_a_missing_last_line_feed() -> None:
    found = read_jsonl(b"\xef\xbb\xbf" + GOOD + b"\n\n  \r\n" + GOOD)
    assert [message.ordinal for message in found if isinstance(message, Message)] == [0, 3]
    assert isinstance(found[0], Message)
    assert found[0].source_hash == f"sha256:{hashlib.sha256(GOOD).hexdigest()}"


# JSONL: what is refused, with its line and reason, and what follows is still read


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{oops", "not JSON: "),
        (b'{"role":"user","content":"cut off', "not JSON: "),
        (b'["role","content"]', "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'{"content":"x"}', 'no "role"'),
        (b'{"role":"user"}', 'no "content"'),
        (line(content=None), '"content" is neither text nor a list of parts'),
        (line(content=None, tool_calls=[]), '"content" is neither text nor a list of parts'),
        (line(content=5), '"content" is neither text nor a list of parts'),
        (line(content=[1]), 'a part of "content" is neither text nor an object'),
        (line(content=[{"type": "text"}]), 'a text part of "content" has no text'),
        (line(role="robot"), "unknown role 'robot': one of user, assistant, system, tool"),
        (line(role=["user"]), '"role" is not text'),
        (line(name=4), '"name" is not text'),
        (line(id=True), '"id" is not text'),
        (line(session={}), '"session" is not text'),
        (b'{"role":"user","content":"\xff"}', "not valid UTF-8 (byte 26)"),
        (b'{"role":"user","content":"x","n":NaN}', "NaN is not JSON"),
        (b'{"role":"user","content":"x","n":-Infinity}', "-Infinity is not JSON"),
        (b'{"role":"user","content":"x","n":1e999}', "a number is beyond the range of a double"),
        (b'{"role":"user","content":"x","n":' + b"9" * 5000 + b"}", "a number is too long"),
        (b'{"role":"user","content":"\\ud800"}', "a lone surrogate is not text"),
        (b'{"role":"user","role":"tool","content":"x"}', "duplicate member 'role'"),
        (b'{"role":"user","content":"x","a":[{"b":1,"b":2}]}', "duplicate member 'b'"),
        (b'{"role":"user","content":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (line(timestmap="2025-05-17T09:30:00Z"), 'unknown member "timestmap": did you mean "timestamp"?'),
        (line(occured_at="2025-05-17T09:30:00Z"), 'unknown member "occured_at": did you mean "timestamp"?'),
        (line(session_id="s1"), 'unknown member "session_id": did you mean "session"?'),
        (
            line(user_id="maya"),
            '"user_id" does not stand in a line: whose memory it is, is said for a whole source',
        ),
        (line(mood="calm"), 'unknown member "mood": what is your own goes under "metadata"'),
        (line(metadata="calm"), '"metadata" is not an object'),
        (line(timestamp="2025-05-17T09:30:00"), "\"timestamp\" has no offset: '2025-05-17T09:30:00'"),
        (line(timestamp="17 May 2025"), "\"timestamp\" is not RFC 3339: '17 May 2025'"),
        (line(timestamp="2025-05-17"), "\"timestamp\" is not RFC 3339: '2025-05-17'"),
        (line(timestamp="2025-02-30T00:00:00Z"), "\"timestamp\" names no time: '2025-02-30T00:00:00Z'"),
        (line(timestamp="2025-02-20T00:00:00+99:00"), '"timestamp" names no time: '),
        (line(timestamp=1747467000), '"timestamp" is not text'),
        (line(timestamp="1899-12-31T23:59:59Z"), '"timestamp" is before 1900 or more than ten years ahead'),
        (line(timestamp="9999-12-31T23:59:59Z"), '"timestamp" is before 1900 or more than ten years ahead'),
        (line(timestamp="0001-01-01T00:00:00+14:00"), '"timestamp" is before 1900'),
    ],
)
def test_bad_line(bad: bytes, reason: str) -> None:
    before, refused, after = read_jsonl(GOOD + b"\n" + bad + b"\n" + GOOD + b"\n")
    assert isinstance(refused, BadLine), refused
    assert refused.line == 2
    assert refused.reason.startswith(reason), refused.reason
    assert isinstance(before, Message)
    assert isinstance(after, Message)
    assert after.ordinal == 2


def test_an_escaped_pair_of_surrogates_is_text() -> None:
    assert one(b'{"role":"user","content":"\\ud83d\\ude00"}').text == "\U0001f600"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_line_of_just_the_limit_is_read_and_one_byte_more_is_not(end: bytes) -> None:
    fits = GOOD + b" " * (100 - len(GOOD))
    (read,) = read_jsonl(fits + end, max_line_bytes=100)
    assert isinstance(read, Message)
    assert read_jsonl(fits + b" " + end, max_line_bytes=100) == [BadLine(1, "longer than 100 bytes")]


@pytest.mark.parametrize("length", [101, 102, 103, 2**16, 2**16 + 102, 2**18])
def test_what_follows_a_long_line_is_read(length: int) -> None:
    found = read_jsonl(b"x" * length + b"\n" + GOOD + b"\n", max_line_bytes=100)
    assert found[0] == BadLine(1, "longer than 100 bytes")
    assert [message.ordinal for message in found[1:] if isinstance(message, Message)] == [1]


class Endless(io.RawIOBase):
    """So many bytes of one line, then a good line; they exist only while they are read."""

    def __init__(self, length: int) -> None:
        self._left = length
        self._tail = b"\n" + GOOD + b"\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._left:
            size = min(len(buffer), self._left)
            buffer[:size] = b"x" * size
            self._left -= size
            return size
        size = min(len(buffer), len(self._tail))
        buffer[:size] = self._tail[:size]
        self._tail = self._tail[size:]
        return size


def test_a_giant_line_takes_bounded_memory() -> None:
    mebi = 2**20
    importer = JsonlImporter(max_line_bytes=4 * mebi)
    tracemalloc.start()
    try:
        found = list(importer.read(of_stream(io.BufferedReader(Endless(200 * mebi)), "test:giant")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [type(each) for each in found] == [BadLine, Message]
    assert peak < 16 * mebi


# keys


def test_an_id_is_the_key_whatever_the_place() -> None:
    first = one(line(id="7", session="s"))
    moved = read_jsonl(GOOD + b"\n" + line(id="7", session="s", metadata={"mood": "x"}))[1]
    assert isinstance(moved, Message)
    assert first.key("src") == moved.key("src") == '["src","s","id","7"]'
    assert first.source_hash != moved.source_hash


def test_a_conversation_id_stands_for_the_source() -> None:
    message = one(line(id="7", conversation="c"))
    assert message.key("one") == message.key("two") == '["c",null,"id","7"]'


def test_without_an_id_place_and_bytes_are_the_key() -> None:
    keys = {m.key("src") for m in read_jsonl((GOOD + b"\n") * 3) if isinstance(m, Message)}
    assert len(keys) == 3
    assert one(GOOD).key("src") != one(line(content="other")).key("src")
    assert one(GOOD).key("src") != one(GOOD).key("another")


def test_no_choice_of_ids_makes_two_keys_meet() -> None:
    messages = [
        one(line(session='s","id', id="x")),
        one(line(session="s", id='id","x')),
        one(line(session="s", id="x")),
        one(line(id="x")),
        one(line(id="at")),
        one(line()),
    ]
    assert len({message.key("src") for message in messages}) == len(messages)


def test_a_moved_and_grown_file_has_the_same_keys(tmp_path: Path) -> None:
    first = tmp_path / "chat.jsonl"
    first.write_bytes(GOOD + b"\n" + line(content="two") + b"\n")
    second = tmp_path / "elsewhere" / "renamed.txt"
    second.parent.mkdir()
    shutil.copy(first, second)
    with second.open("ab") as stream:
        stream.write(line(content="three") + b"\n")
    old, new = keys_of(first), keys_of(second)
    assert old == new[: len(old)]
    assert len(new) == 3


def keys_of(path: Path) -> list[str]:
    with open_path(path) as source:
        importer = detect(source)
        id = importer.source_id(source)
        return [found.key(id) for found in importer.read(source) if isinstance(found, Message)]


# LoCoMo


def test_locomo_shaped_document() -> None:
    found = list(LocomoImporter().read(stream_of(SHAPED.read_bytes(), "test:mini")))
    messages = [each for each in found if isinstance(each, Message)]
    assert [message.external_id for message in messages] == [
        "mini-1/D1:1",
        "mini-1/D1:2",
        "mini-1/D2:1",
        "mini-1/D10:1",
        "mini-2/D2:1",
    ]
    assert [message.ordinal for message in messages] == [0, 1, 2, 4, 1]
    kite = messages[1]
    assert (kite.role, kite.name, kite.session) == ("user", "Ben", "mini-1/session_1")
    assert kite.occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert kite.source_uri == "test:mini#mini-1/D1:2"
    assert kite.media == (
        Attachment(
            kind="image", uri="https://images.example/kite.jpg", caption="a photo of a kite over a beach"
        ),
        Attachment(kind="image", uri="https://images.example/tail.jpg"),
    )
    assert messages[2].media == (Attachment(kind="image", caption="a photo of a torn kite"),)
    assert [message.occurred_at for message in messages[2:]] == [
        datetime(2023, 5, 9, 12, 30, tzinfo=UTC),
        datetime(2024, 2, 29, 0, 9, tzinfo=UTC),
        None,
    ]
    assert "SECRET" not in repr(messages)


def test_locomo_bad_turns_and_sessions() -> None:
    assert [each for each in LocomoImporter().read(of_file(SHAPED)) if isinstance(each, BadLine)] == [
        BadLine(4, 'session_2, turn 4: "speaker", "text" and "dia_id" must be text'),
        BadLine(6, "session_1: its date is not understood, its turns are left out: 'sometime in June'"),
        BadLine(8, "session_2, turn 3: not an object"),
    ]


def test_one_conversation_or_a_list_of_them_have_the_same_keys() -> None:
    samples = json.loads(SHAPED.read_bytes())
    alone = LocomoImporter().read(stream_of(json.dumps(samples[1]).encode(), "test:alone"))
    listed = [each for each in LocomoImporter().read(of_file(SHAPED)) if isinstance(each, Message)]
    (message,) = [each for each in alone if isinstance(each, Message)]
    assert message.key("locomo") == listed[-1].key("other")
    assert message.source_hash == listed[-1].source_hash


def test_without_a_sample_id_the_content_names_the_conversation() -> None:
    conversation = {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "hi"}]}
    data = json.dumps({"conversation": conversation}).encode()
    (first,) = LocomoImporter().read(stream_of(data))
    (again,) = LocomoImporter().read(stream_of(data, "test:moved"))
    assert isinstance(first, Message)
    assert isinstance(again, Message)
    assert first.key("locomo") == again.key("locomo")
    assert str(first.conversation).startswith("locomo-")


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("13:05 pm on 8 May, 2023", "its date is not understood"),
        ("1:05 pm on 8 Mayo, 2023", "its date is not understood"),
        ("1:05 pm on 31 June, 2023", "its date names no time"),
        (20230508, "its date is not text"),
    ],
)
def test_locomo_bad_dates(when: object, reason: str) -> None:
    turns = [{"speaker": "A", "dia_id": "D1:1", "text": "hi"}]
    document = {"sample_id": "x", "conversation": {"session_1_date_time": when, "session_1": turns}}
    (found,) = LocomoImporter().read(stream_of(json.dumps(document).encode()))
    assert isinstance(found, BadLine)
    assert found.reason.startswith(f"session_1: {reason}")


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"{", "cut off: "),
        (b"{x}", "not JSON: "),
        (b'{"a":"\xff"}', "not valid UTF-8"),
        (b"\xff", "neither a JSON array nor an object"),
        (b'{"conversation":[]}', 'no "conversation" object'),
        (b"[3]", 'no "conversation" object'),
        (b'{"conversation":{"session_1":"hello"}}', "session_1: not a list of turns"),
        (b'{"conversation":"' + b"x" * 100 + b'"}', "longer than 100 bytes"),
    ],
)
def test_locomo_bad_documents(document: bytes, reason: str) -> None:
    (found,) = LocomoImporter(max_bytes=100).read(stream_of(document))
    assert isinstance(found, BadLine)
    assert found.line == 1
    assert found.reason.startswith(reason)


LOCOMO_TURNS = {"conv-26": 419, "conv-30": 369, "conv-41": 663, "conv-42": 629, "conv-43": 680}


@pytest.mark.skipif(not LOCOMO.is_dir(), reason=f"LoCoMo is not part of the product and not at {LOCOMO}")
@pytest.mark.parametrize(("sample", "turns"), LOCOMO_TURNS.items())
def test_locomo_itself(sample: str, turns: int) -> None:
    path = LOCOMO / f"{sample}.json"
    with open_path(path) as source:
        importer = detect(source)
        found = list(importer.read(source))
    messages = [each for each in found if isinstance(each, Message)]
    assert (importer.name, len(messages), len(found)) == ("locomo", turns, turns)
    assert len({message.key("locomo") for message in messages}) == turns
    assert [message.ordinal for message in messages] == list(range(turns))
    times = [message.occurred_at for message in messages if message.occurred_at]
    assert len(times) == turns
    assert times == sorted(times)
    assert {message.conversation for message in messages} == {sample}


# choosing an importer


def chosen(head: bytes) -> str:
    return detect(stream_of(head)).name


def test_content_decides_not_the_extension(tmp_path: Path) -> None:
    misnamed = tmp_path / "chat.json"
    misnamed.write_bytes(GOOD + b"\n")
    other = tmp_path / "conv.jsonl"
    shutil.copy(SHAPED, other)
    assert detect(of_file(misnamed)).name == "jsonl"
    assert detect(of_file(other)).name == "locomo"


@pytest.mark.parametrize(
    "head",
    [
        b"\xef\xbb\xbf" + GOOD,
        b"garbage\n" + GOOD + b"\n",
        b"\n\n" + GOOD,
        (b'{"role":"user","content":"' + b"x" * HEAD_BYTES)[:HEAD_BYTES],
        GOOD + b"\n" + b"x" * HEAD_BYTES,
    ],
)
def test_jsonl_is_recognised(head: bytes) -> None:
    assert chosen(head) == "jsonl"


def test_locomo_is_recognised_by_its_questions_alone() -> None:
    questions = b'{"qa": [{"question": "' + b"x" * HEAD_BYTES
    assert chosen(questions[:HEAD_BYTES]) == "locomo"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b" \n",
        b'{"role":"user"}',
        b'{"conversation":"c"}',
        b"\x89PNG\r\n\x1a\n",
        b"two words\x00and a NUL",
        b"<html><body>two words</body></html>",
        b"%PDF-1.7 two words",
        b"caf\xe9 au lait",
        GOOD.decode().encode("utf-16"),
        "two words".encode("utf-16"),
        b"[" * HEAD_BYTES,
        b"x" * HEAD_BYTES,
    ],
)
def test_an_unknown_format_is_refused_with_the_known_ones(head: bytes) -> None:
    with pytest.raises(UnknownFormatError) as refusal:
        detect(stream_of(head), "some.file")
    message = str(refusal.value)
    assert message.startswith(
        f"some.file {'has no known format' if head.strip() else 'is empty'}; known formats:"
    )
    assert all(f"\n  {each.name}: {each.shape}" in message for each in installed().importers)


def test_a_format_by_its_name() -> None:
    importers = installed().importers
    assert [by_name(each.name) for each in importers] == list(importers)
    with pytest.raises(UnknownFormatError, match="unknown format 'xml'; known: chatgpt, claude"):
        by_name("xml")


def test_the_offset_that_the_source_wrote_is_kept() -> None:
    message = one(line(timestamp="2025-05-17T09:30:00-03:00"))
    assert message.occurred_at is not None
    assert message.occurred_at.tzinfo == timezone(timedelta(hours=-3))
