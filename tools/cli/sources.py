"""Sources as a person names them: a file, a folder, a zip or stdin; and a turn of one as a draft."""

import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, tzinfo
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from braid.ledger.record.record import Draft, Scope
from braid.ledger.record.record import Source as Origin
from braid.ledger.record.source import WORDS
from braid.log import drafts
from braid.tools.importers import times
from braid.tools.importers.detect import by_name, detect, open_path, open_stream
from braid.tools.importers.errors import Refused
from braid.tools.importers.jsonl import FIELDS
from braid.tools.importers.message import Attachment, Importer, Message
from braid.tools.importers.source import ImportSource

_ACTORS = {"user": "user", "assistant": "agent", "system": "system"}
_TABLES = ("csv", "parquet")


class Opened(NamedTuple):
    """A source ready to be read."""

    name: str
    importer: Importer
    source: ImportSource
    source_id: str


@contextmanager
def open_source(
    name: str, form: str | None, columns: Mapping[str, str], zone: tzinfo | None = None
) -> Generator[Opened]:
    """Open a file, folder or zip (`-`: stdin) and find out its format; SourceError, OSError.

    `zone` is where its times without an offset were written.
    """
    with (
        open_stream(sys.stdin.buffer, columns=columns)
        if name == "-"
        else open_path(Path(name), columns=columns)
    ) as source:
        source.zone = zone
        importer = by_name(form) if form else detect(source, "stdin" if name == "-" else name)
        if columns and importer.name in known_without_columns():
            raise ValueError(f"{name} is {importer.name}: --map is for tables ({', '.join(_TABLES)})")
        yield Opened(name, importer, source, importer.source_id(source))


def known_without_columns() -> frozenset[str]:
    """The formats of this package that have no columns; another's may."""
    from braid.tools.importers.detect import OURS

    return frozenset(OURS) - frozenset(_TABLES)


def columns_of(said: Sequence[str]) -> dict[str, str]:
    """Return what `--map role=speaker,content=body` says. ValueError for what it can't say."""
    found: dict[str, str] = {}
    for pair in (pair for one in said for pair in one.split(",")):
        field, equals, column = pair.partition("=")
        if not equals or not column:
            raise ValueError(f"--map takes field=column, not {pair!r}")
        if field not in FIELDS:
            raise ValueError(f"--map knows no field {field!r}: one of {', '.join(sorted(FIELDS))}")
        if field in found:
            raise ValueError(f"--map says {field} twice")
        found[field] = column
    return found


def zone_of(said: str) -> ZoneInfo:
    """Return the zone of `--timezone`, by its name in the IANA database. ValueError, with the name that is meant."""
    try:
        return ZoneInfo(said)
    except (KeyError, ValueError, OSError):  # unknown, no name of a zone, a folder of the database
        known = {name.lower(): name for name in available_timezones()}
        near = get_close_matches(said.lower(), known, n=1)
        meant = (
            f"did you mean {known[near[0]]}?"
            if near
            else "for example Europe/Berlin, America/New_York or UTC"
        )
        raise ValueError(f"--timezone knows no zone {said!r}: {meant}") from None


def moment_of(said: str, zone: tzinfo | None = None) -> datetime:
    """Return the time of `--since`: RFC 3339, or the beginning of a date, in `zone` (UTC). ValueError."""
    try:
        begins = datetime.combine(date.fromisoformat(said), time())
        return times.in_zone(begins, zone or UTC) or begins.replace(
            tzinfo=zone
        )  # clocks may leap over midnight
    except ValueError:
        pass
    try:
        found = times.local(said, datetime.now(UTC), zone, "--since")
    except Refused as error:
        raise ValueError(f"{error}; for example 2025-01-31 or 2025-01-31T09:00:00+01:00") from None
    assert found is not None  # noqa: S101 - it is text
    return found


ROOMS = ("slack", "discord")
"""Formats in which a platform vouches for who said what."""
MAIL = "mbox"
"""A format in which anybody may say that they are anybody."""


class Mine(NamedTuple):
    """Whose words a person says are the owner's: names in rooms, and whether a box of mail is of what they sent."""

    names: frozenset[str] = frozenset()
    sent: bool = False

    def tags(self, form: str, message: Message) -> list[str]:
        """Return how a turn says whose words it is: in mail and in rooms most are others'."""
        if message.role != "user" or form not in (MAIL, *ROOMS):
            return []
        own = self.sent if form == MAIL else (message.name or "").casefold() in self.names
        return [f"{WORDS}{'owner' if own else 'outsider'}"]


def draft_of(
    message: Message,
    within: Scope | None,
    once: str,
    supersedes: Sequence[str] = (),
    *,
    tags: Sequence[str] = (),
) -> Draft:
    """Return the draft of a turn; nothing is inferred. Whom it answers is no link: a reply is not derived."""
    actor, name = speaker_of(message)
    return drafts.experience(
        message.text,
        actor=actor,
        name=name,
        method="import",
        sources=[Origin(uri=message.source_uri, hash=message.source_hash)],
        supersedes=supersedes,
        structured=structured_of(message),
        tags=tags,
        within=within,
        external_id=message.external_id,
        occurred_at=message.occurred_at,
        once=once,
    )


def speaker_of(message: Message) -> tuple[str, str | None]:
    """Return who said a turn: the actor, and a person's or an agent's own name."""
    actor = _ACTORS.get(message.role)
    if actor is None:
        return f"tool({message.name or message.extra.get('tool') or 'tool'})", None
    return actor, message.name


def structured_of(message: Message) -> dict[str, object]:
    """Return what a turn says beside its text, as its record keeps it."""
    structured = dict(message.extra)
    if message.parent is not None:
        structured["parent"] = message.parent
    if message.edited_at is not None:
        structured["edited_at"] = message.edited_at.isoformat()
    if message.media:
        name = "media" if "media" not in structured else "media_of_turn"
        structured[name] = [_told(media) for media in message.media]
    return structured


def _told(media: Attachment) -> dict[str, str]:
    members = {"kind": media.kind, "uri": media.uri, "caption": media.caption, "name": media.name}
    return {name: value for name, value in members.items() if value is not None}
