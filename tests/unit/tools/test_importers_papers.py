"""Mail, Markdown notes and plain text."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from braid.tools.importers.html_text import text_of_html
from braid.tools.importers.markdown import MarkdownImporter
from braid.tools.importers.mbox import MboxImporter
from braid.tools.importers.message import Attachment, BadLine, Message
from braid.tools.importers.text import TextImporter
from tests.unit.tools.samples import EXPORTS, messages, piped, read_bytes, read_path, reasons

# mbox


def mail(headers: str, body: str = "hi") -> bytes:
    return f"From x Sat May 17 09:30:00 2025\n{headers}\n\n{body}\n".encode()


def one(data: bytes) -> Message:
    (found,) = messages(read_bytes("mbox", data))
    return found


def test_mail_headers_threads_and_parts() -> None:
    first, answer, third = messages(read_bytes("mbox", (EXPORTS / "mail.mbox").read_bytes()))
    assert (first.name, first.extra["subject"]) == ("Maya Lind", "Grüße aus Porto")
    assert first.text == "Café at five?\n\nFrom here it is ten minutes."
    assert first.occurred_at is not None
    assert first.occurred_at.utcoffset() == timedelta(hours=2)
    assert (answer.parent, answer.session) == ("one@example.org", "one@example.org")
    assert answer.text == "Yes, at five."
    assert answer.occurred_at == datetime(2025, 5, 17, 8, tzinfo=UTC)
    assert answer.media == (Attachment(kind="application/pdf", name="map.pdf"),)
    assert (third.text, third.external_id, third.occurred_at) == ("One & two\nthree", None, None)


def test_mail_in_two_boxes_is_one_mail() -> None:
    data = mail("Message-ID: <a@b>\nSubject: x")
    moved = mail("X-Status: RO\nMessage-ID: <a@b>\nSubject: x")
    assert one(data).key("x") == one(moved).key("y")
    assert one(data).source_hash == one(moved).source_hash


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ("Date: nonsense", '"Date" names no time'),
        ("Date: Sat, 17 May 1066 09:30:00 +0000", '"Date" is before 1900'),
        ("Date: Sat, 17 May 2925 09:30:00 +0000", "more than ten years ahead"),
        ("Date: Sat, 99 May 2025 09:30:00 +0000", '"Date" names no time'),
        ("Date: Sat, 17 May 2025 09:30:00 +9999999999", '"Date" names no time'),
    ],
)
def test_mail_with_a_bad_date_is_refused_and_the_next_is_read(headers: str, reason: str) -> None:
    found = read_bytes("mbox", mail(headers) + b"\n" + mail("Subject: next"))
    assert reason in reasons(found)[0]
    assert isinstance(found[1], Message)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Subject: =?no-such-charset?q?x?=", "hi"),
        ("Subject: =?utf-8?b?*?=", "hi"),
        ("Content-Type: text/plain; charset=no-such", "hi"),
        ("Content-Transfer-Encoding: base64", "!!!!"),
        ("Content-Type: multipart/mixed", "no boundary"),
        ("Content-Type: text/plain; name*0*=no'such'%ff", "hi"),
        ("From: <<<@@@,;:", "hi"),
        ("Message-ID: " + "<" * 1000, "hi"),
        ("Content-Type: text/plain; charset=idna", "hi"),
        ("Content-Type: text/plain; charset=punycode", "hi"),
        ("Subject: =?idna?q?x?=", "hi"),
        ("Cc: =?punycode?q?x?=", "hi"),
    ],
)
def test_mail_with_strange_headers_is_read(headers: str, body: str) -> None:
    assert "hi" in one(mail(headers, body)).text or body != "hi"


@pytest.mark.parametrize("charset", ["idna", "punycode", "x-unknown"])
def test_mail_in_a_charset_that_is_none_keeps_its_words(charset: str) -> None:
    found = one(
        mail(f"Subject: =?{charset}?q?a-b?=\nContent-Type: text/plain; charset={charset}", "hi-9ab Ol\u00e1")
    )
    assert (found.text, found.extra["subject"]) == ("hi-9ab Ol\u00e1", f"=?{charset}?q?a-b?=")


@pytest.mark.parametrize(
    ("named", "body", "text", "beside"),
    [
        ("us-ascii", "Olá".encode(), "Olá", {"charset": "utf-8"}),
        ("", "Olá".encode(), "Olá", {"charset": "utf-8"}),
        ("us-ascii", "Olá – €".encode("cp1252"), "Olá – €", {"charset": "cp1252"}),
        ("us-ascii", b"Ol\xe1\x81", "Ol\xe1\x81", {"charset": "iso8859-1"}),
        ("iso-8859-1", "Olá".encode("latin-1"), "Olá", {}),
        ("utf-8", "Olá".encode() + b"\xff", "Olá\ufffd", {"bytes_replaced": 1}),
        ("iso-2022-jp", "Olá".encode(), "Olá", {"charset": "utf-8"}),
    ],
)
def test_mail_is_read_in_the_charset_that_it_is_in(
    named: str, body: bytes, text: str, beside: dict[str, object]
) -> None:
    headers = "Subject: x" + (f"\nContent-Type: text/plain; charset={named}" if named else "")
    found = one(mail(headers, "BODY").replace(b"BODY", body))
    assert found.text == text
    assert {name: found.extra[name] for name in found.extra if name != "subject"} == beside


@pytest.mark.parametrize(
    ("date", "zone", "moment"),
    [
        ("Sat, 17 May 2025 09:30:00", "Europe/Berlin", "2025-05-17T09:30:00+02:00"),
        ("Sat May 17 09:30:00 2025", "Europe/Berlin", "2025-05-17T09:30:00+02:00"),
        ("Sat, 17 May 2025 09:30:00 -0000", "Europe/Berlin", "2025-05-17T09:30:00+00:00"),
        ("Sat, 17 May 2025 09:30 XYZ", "Europe/Berlin", "2025-05-17T09:30:00+00:00"),
        ("Sat, 17 May 2025 09:30:00 +0100", "Europe/Berlin", "2025-05-17T09:30:00+01:00"),
        ("Sat, 17 May 2025 09:30:00 -0000", None, "2025-05-17T09:30:00+00:00"),
        ("Sat, 17 May 2025 09:30:00", None, '"Date" has no offset'),
        ("Sun, 30 Mar 2025 02:30:00", "Europe/Berlin", "whose clocks leapt over it"),
    ],
)
def test_mail_without_an_offset_is_of_the_zone_that_is_named(
    date: str, zone: str | None, moment: str
) -> None:
    source = piped("mbox", mail(f"Date: {date}"))
    source.zone = ZoneInfo(zone) if zone else None
    (found,) = MboxImporter().read(source)
    if isinstance(found, BadLine):
        assert moment in found.reason
    else:
        assert found.occurred_at is not None
        assert found.occurred_at.isoformat() == moment


def test_mail_from_a_sender_nested_too_deeply_keeps_the_header_as_it_stands() -> None:
    found = one(mail("From: Maya <m@x>" + "(" * 20_000 + "\nSubject: x"))
    assert (found.name, found.text, found.extra["subject"]) == (None, "hi", "x")
    assert str(found.extra["from"]).startswith("Maya <m@x>((((")


def test_mail_nested_too_deeply_is_refused_in_words() -> None:
    nested = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(2_000))
    found = read_bytes("mbox", mail(nested.rstrip("\n")) + b"\n" + mail("Subject: next"))
    assert reasons(found) == ["not readable as mail: its parts are nested too deeply"]
    assert isinstance(found[1], Message)


def test_mail_too_long_or_of_too_many_parts_is_refused() -> None:
    box = mail("Subject: long", "x\n" * 500) + b"\n" + mail("Subject: next")
    found = list(MboxImporter(max_mail_bytes=500).read(piped("mbox", box)))
    assert [type(each) for each in found] == [BadLine, Message]
    bomb = "Content-Type: multipart/mixed; boundary=b\n" * 2_000 + "\n" * 60_000
    assert reasons(read_bytes("mbox", mail("Subject: x", bomb))) == ["too many parts for its length"]


def test_mail_nested_without_end_is_refused_or_read_but_not_followed() -> None:
    depth = 2_000
    nested = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth))
    (found,) = read_bytes("mbox", mail("Subject: x\n" + nested, "hi"))
    assert isinstance(found, Message) or "not readable as mail" in found.reason


def test_html_quotations_are_marked_as_in_plain_mail() -> None:
    html = (
        "<div>Sure.</div><div>Bo wrote:<br><blockquote type='cite'>I live<br/>in Turin.<p>And you?</p>"
        "<BLOCKQUOTE>Hi\x00</BLOCKQUOTE>ok</blockquote></blockquote></div>Bye"
    )
    assert ">" not in text_of_html(html, marked=False)
    assert text_of_html(html).split("\n") == [
        "Sure.", "Bo wrote:", "> I live", "> in Turin.", "> And you?", ">> Hi\ufffd", "> ok", "Bye",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "html", ["<" * 200_000, "<!--" * 50_000, "<script>" * 30_000, "&" * 100_000, "<p" * 100_000]
)
def test_html_takes_no_longer_than_its_length(html: str) -> None:
    assert isinstance(text_of_html(html), str)


# Markdown


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return shutil.copytree(EXPORTS / "notes", tmp_path / "notes")


def test_notes_sections_headings_links_and_front_matter(notes: Path) -> None:
    first, tea, prices, again, lisbon = messages(read_path("markdown", notes))
    assert first.extra["front_matter"] == {
        "title": "Porto", "date": "2025-05-17T09:30:00+02:00", "tags": ["travel", "tea"], "draft": "no",
    }  # fmt: skip
    assert first.extra["links"] == ["https://example.org/trip", "lisbon"]
    assert first.occurred_at == tea.occurred_at == datetime(2025, 5, 17, 7, 30, tzinfo=UTC)
    assert tea.media == (Attachment(kind="image", uri="shop.jpg", caption="the shop"),)
    assert "# not a heading" in tea.text
    assert prices.extra["headings"] == ["Tea", "Prices"]
    assert [each.external_id for each in (tea, prices, again)] == [
        "porto.md#Tea", "porto.md#Tea / Prices", "porto.md#Tea (2)",
    ]  # fmt: skip
    assert lisbon.extra["headings"] == ["Lisbon"]  # underlined
    assert lisbon.session == "travel/lisbon.md"
    assert all(each.revised for each in (first, tea, prices, again, lisbon))


def test_notes_only_what_changed_has_another_hash(notes: Path) -> None:
    before = {each.external_id: each.source_hash for each in messages(read_path("markdown", notes))}
    text = (notes / "porto.md").read_text().replace("Three euros", "Four euros")
    (notes / "porto.md").write_text(text)
    after = {each.external_id: each.source_hash for each in messages(read_path("markdown", notes))}
    assert [id for id in before if before[id] != after[id]] == ["porto.md#Tea / Prices"]


def test_notes_hidden_files_links_and_other_files_are_passed_over(notes: Path, tmp_path: Path) -> None:
    before = read_path("markdown", notes)
    (notes / ".obsidian").mkdir()
    (notes / ".obsidian" / "x.md").write_text("# hidden")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    secret = tmp_path / "secret.md"
    secret.write_text("# secret")
    (notes / "link.md").symlink_to(secret)
    (notes / "around").symlink_to(notes, target_is_directory=True)
    assert read_path("markdown", notes) == before


def test_notes_whose_name_is_no_text_are_read(notes: Path) -> None:
    Path(os.fsdecode(os.fsencode(notes) + b"/caf\xe9.md")).write_text("# Accent")
    found = messages(read_path("markdown", notes))
    assert "caf\ufffd.md#Accent" in [each.external_id for each in found]
    assert any(each.source_uri.endswith("caf%E9.md#L1") for each in found)


def note(text: str) -> list[Message | BadLine]:
    return read_bytes("markdown", text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\na: &x [1]\nb: *x\n---\n# T", "aliases"),
        ("---\na: [" + "[" * 30 + "\n---\n# T", "nested deeper than 20"),
        ("---\na: b: c\n---\n# T", "front matter is not YAML"),
        ('---\na: "\\ud800"\n---\n# T', "surrogate"),
        ("---\ndate: 0800-01-01T00:00:00Z\n---\n# T", "before 1900"),
        ("+++\na = \n+++\n# T", "front matter is not TOML"),
        ("# T\n\x00", "a NUL byte is not text"),
        ("# T\n\ud800", "not valid UTF-8"),
        ("# T\n" + "x" * 2**20, "longer than 1048576 bytes"),
    ],
)
def test_notes_refusals(text: str, reason: str) -> None:
    (found,) = reasons(note(text))
    assert reason in found


def test_notes_toml_and_times_without_an_offset() -> None:
    (found,) = messages(note("+++\ntitle = 'T'\ndate = 2025-05-17T09:30:00Z\n+++\n# T"))
    assert found.occurred_at == datetime(2025, 5, 17, 9, 30, tzinfo=UTC)
    (found,) = messages(note("---\ndate: 2025-05-17\n---\n# T"))
    assert (found.occurred_at, found.extra["front_matter"]) == (None, {"date": "2025-05-17"})


def test_notes_two_rules_are_no_front_matter() -> None:
    assert [each.text for each in messages(note("---\njust words\n\n---\n"))] == ["---\njust words\n\n---"]


@pytest.mark.parametrize(
    "text", [">" * 100_000, "- " * 50_000, "[" * 100_000, "![" * 50_000, "#" * 100_000, "`" * 100_000]
)
def test_notes_take_no_longer_than_their_length(text: str) -> None:
    assert len(list(MarkdownImporter().read(piped("markdown", text.encode())))) == 1


# plain text


def test_text_paragraphs_and_where_they_begin() -> None:
    found = messages(read_bytes("text", (EXPORTS / "prose.txt").read_bytes()))
    assert [each.text for each in found] == [
        "Dear diary, the kettle broke.",
        "Owen lent me his; it whistles,\nand the cat hates it.",
        "The end.",
    ]
    assert [each.source_uri for each in found] == ["test:x#L1", "test:x#L3", "test:x#L7"]


def test_text_a_bad_paragraph_is_named_and_the_next_is_read() -> None:
    data = (
        b"two words\n\nbad \xff\n\nnull \x00\n\n"
        + b"x" * 300
        + b"\nmore\n\n"
        + b"y" * 150
        + b"\n"
        + b"y" * 150
        + b"\n\nlast one"
    )
    found = list(TextImporter(max_paragraph_bytes=200).read(piped("text", data)))
    assert [each.text for each in found if isinstance(each, Message)] == ["two words", "last one"]
    assert [(each.line, each.reason) for each in found if isinstance(each, BadLine)] == [
        (3, "not valid UTF-8 (byte 4)"),
        (5, "a NUL byte is not text"),
        (7, "a paragraph longer than 200 bytes"),
        (10, "a paragraph longer than 200 bytes"),
    ]
