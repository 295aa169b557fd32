"""Mail as mbox: messages one behind the other, each after a line `From …`.

A mail is known by its Message-ID; its `parent` is what In-Reply-To names, else the last of References; its session is
the mail that its thread began with. The text is that of the first part that is plain text, else of the first HTML
without its tags. Attachments are told of. A Date whose zone is not known (`-0000`, or a name that is none) is UTC
(RFC 5322 §3.3, §4.3); one without any is of the source's `zone`. Words that are none in the charset that a mail names
are read as UTF-8, else, where it names ASCII or none that is known, as Windows-1252: `charset` then says which. The
hash is over id, sender, date, subject and text: copies in several boxes are one mail.
"""

import codecs
import email
import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.utils import getaddresses, parsedate_to_datetime
from typing import NamedTuple

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.errors import Refused
from braid.tools.importers.html_text import text_of_html
from braid.tools.importers.lines import lines
from braid.tools.importers.message import Attachment, BadLine, Message, Read
from braid.tools.importers.source import ImportSource, SourceFile

MAX_MAIL_BYTES = 32 * 2**20
_MAX_LINE = 2**20
_MAX_WORK = 50_000_000
"""Lines × boundaries: what the parser of nested parts may cost."""
_FROM = re.compile(rb"From \S+ .*\d{4}|From -? ?.*\d{4}")
_HEADER = re.compile(rb"\AFrom [^\n]*\d{4}[^\n]*\n(?:>?[!-9;-~]+:|From )")
_ZONE = re.compile(r":\d\d\s*(?:[+-]\d{4}|(?![ap]m\b)[a-z]{1,5}\b)", re.IGNORECASE | re.ASCII)
"""A zone behind the time: one that is none, or unknown, is UTC."""
_ESCAPED = re.compile(rb">+From ")
_ID = re.compile(r"<([^<>\s]{1,998})>")
_UNREADABLE = (
    MessageError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
)
"""What the standard library's parser is known to raise for headers that are none."""
_NO_CHARSETS = frozenset(("idna", "punycode"))
"""Of host names, not of mail: the one knows no replacement, the other takes a time that grows with the square."""


class MboxImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads mbox, holding one mail at a time."""

    max_mail_bytes: int = MAX_MAIL_BYTES

    @property
    def name(self) -> str:
        return "mbox"

    @property
    def shape(self) -> str:
        return 'mail: mbox, each message after a line "From …"'

    def recognises(self, source: ImportSource) -> bool:
        """True if the head begins with a line `From …` and a header."""
        return _HEADER.match(source.head.replace(b"\r\n", b"\n")) is not None

    def source_id(self, source: ImportSource) -> str:
        """Always `mail`: a Message-ID stands for a mail wherever it lies."""
        del source
        return "mail"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the mail's in its box."""
        for part in source.parts():
            for number, raw in enumerate(_mails(part, self.max_mail_bytes), 1):
                try:
                    if raw is None:
                        raise Refused(f"longer than {self.max_mail_bytes} bytes")
                    yield _message(raw, number, part.uri, source)
                except Refused as error:
                    yield BadLine(number, str(error), part.name)


def _mails(part: SourceFile, limit: int) -> Iterator[bytes | None]:
    """The mails as they were sent; None for one that is too long, or has a line that is."""
    held: list[bytes] | None = None
    size, after_blank, begun = 0, True, False
    with part.open() as stream:
        for _, line in lines(stream, _MAX_LINE):
            if line is not None and after_blank and _FROM.match(line):
                if begun:
                    yield b"\n".join(held) if held is not None else None
                held, size, begun = [], 0, True
            elif line is None or size > limit:
                held = None
            elif held is not None:
                size += len(line) + 1
                held.append(line[1:] if _ESCAPED.match(line) else line)
                held = held if size <= limit else None
            after_blank = not line
        if begun:
            yield b"\n".join(held) if held is not None else None


def _message(raw: bytes, number: int, origin: str, source: ImportSource) -> Message:
    if raw.count(b"\n") * raw.count(b"boundary") > _MAX_WORK:
        raise Refused("too many parts for its length")
    try:
        mail = email.message_from_bytes(raw)
        content, media = _content(mail)
        headers = {name: _header(mail, name) for name in ("From", "To", "Cc", "Subject", "Date")}
        ids = {name: _ID.findall(_header(mail, name)) for name in ("Message-ID", "In-Reply-To", "References")}
    except _UNREADABLE as error:
        raise Refused(f"not readable as mail: {str(error)[:80]}") from error
    except RecursionError as error:
        raise Refused("not readable as mail: its parts are nested too deeply") from error
    own = ids["Message-ID"][0] if ids["Message-ID"] else None
    above = (ids["In-Reply-To"] or ids["References"])[-1:]
    thread = [*ids["References"], *ids["In-Reply-To"], *([own] if own else [])][:1]
    kept = {name.lower(): value for name, value in headers.items() if value and name != "Date"}
    return Message(
        role="user",
        text=content.text,
        ordinal=number - 1,
        source_uri=f"{origin}#mail{number}",
        source_hash=fields.hash_of(
            [own, headers["From"], headers["Date"], headers["Subject"], content.hashed]
        ),
        occurred_at=_when(headers["Date"], source),
        name=_sender(headers["From"]),
        session=thread[0] if thread else None,
        conversation="mail" if own else None,
        external_id=own,
        parent=above[0] if above else None,
        media=media,
        extra=dict[str, object](kept) | content.beside,
    )


def _sender(header: str) -> str | None:
    """The first name or address; None where its comments are nested too deeply: the header is kept as it stands."""
    try:
        return next((name or address for name, address in getaddresses([header]) if name or address), None)
    except (*_UNREADABLE, RecursionError):
        return None


def _header(mail: Mail, name: str) -> str:
    """A header as text; words that can't be decoded are shown as they stand."""
    value = mail.get(name)
    if value is None:
        return ""
    try:
        words = decode_header(value)
        for _, charset in words:
            _check_charset(charset or "ascii")
        shown = str(make_header(words))
    except (MessageError, LookupError, ValueError):
        shown = str(value)
    return " ".join(_sound(shown).split())


def _sound(text: str) -> str:
    """Text that can be stored: bytes that were no text become U+FFFD."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


class _Words(NamedTuple):
    """The text of a mail, what of it is hashed, and what is to be said of how it was read."""

    text: str
    hashed: str
    """The text in the charset that is named, quotations not marked: however it is read, it is the same mail."""
    beside: dict[str, object]


def _content(mail: Mail) -> tuple[_Words, tuple[Attachment, ...]]:
    plain: Mail | None = None
    html: Mail | None = None
    media: list[Attachment] = []
    for part in mail.walk():
        kind = part.get_content_type()
        name = part.get_filename()
        if part.is_multipart():
            continue
        is_attached = part.get_content_disposition() == "attachment"
        if kind == "text/plain" and not is_attached and plain is None:
            plain = part
        elif kind == "text/html" and not is_attached and html is None:
            html = part
        else:
            media.append(Attachment(kind=kind, name=_sound(name) if name else None))
    if plain is not None:
        words = _decoded(plain)
    elif html is not None:
        words = _decoded(html)
        words = _Words(text_of_html(words.text), text_of_html(words.hashed, marked=False), words.beside)
    else:
        words = _Words("", "", {})
    return _Words(words.text.strip("\n"), words.hashed.strip("\n"), words.beside), tuple(media)


def _decoded(part: Mail) -> _Words:
    """The words of a part, with the charset that they are in where it is not the one named, and the bytes lost."""
    data = part.get_payload(decode=True)
    raw = data if isinstance(data, bytes) else b""
    named = _charset(part)
    text, charset = _read(raw, named or "ascii")
    beside: dict[str, object] = {} if charset == named or raw.isascii() else {"charset": charset}
    hashed = raw.decode(named or "utf-8", "replace")
    if text is None:
        text = hashed
        beside = {"bytes_replaced": text.count("\ufffd")}
    return _Words(_sound(text).replace("\r\n", "\n"), _sound(hashed).replace("\r\n", "\n"), beside)


def _charset(part: Mail) -> str | None:
    """The charset that a part names, by its one name here; None where it names none that is known."""
    try:
        charset = part.get_content_charset("")
        _check_charset(charset)
        return codecs.lookup(charset).name
    except (LookupError, ValueError):
        return None


def _read(raw: bytes, named: str) -> tuple[str | None, str]:
    """The text and its charset; None where bytes have to be replaced.

    What names ASCII, or nothing, was mostly written on a system of one byte a letter. A mail that names another
    charset has a broken byte rather than another charset.
    """
    for charset in (named, "utf-8", *(("cp1252", "iso8859-1") if named == "ascii" else ())):
        try:
            return raw.decode(charset), charset
        except ValueError:
            continue
    return None, named


def _check_charset(name: str) -> None:
    """Raise LookupError for a charset that is not known, or none of text."""
    if codecs.lookup(name).name in _NO_CHARSETS:
        raise LookupError(f"{name} is no charset of mail")


def _when(value: str, source: ImportSource) -> datetime | None:
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = (
                moment.replace(tzinfo=UTC) if _ZONE.search(value) else _in_zone(moment, value, source.zone)
            )
        return times.within(moment, source.opened_at, value, '"Date"')
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f'"Date" names no time: {value[:40]!r}') from error


def _in_zone(shown: datetime, value: str, zone: tzinfo | None) -> datetime:
    if zone is None:
        raise Refused(
            f'"Date" has no offset: {value[:40]!r}; --timezone says where it was written, as Europe/Berlin'
        )
    moment = times.in_zone(shown, zone)
    if moment is None:
        raise Refused(f'"Date" was never shown in {zone}, whose clocks leapt over it: {value[:40]!r}')
    return moment
