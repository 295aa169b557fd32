"""Times of sources. One without an offset is no moment until somebody says its zone; one out of reason is an error."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from braid.tools.importers.errors import Refused

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=3653)
"""How far after the reader's clock a time may lie: ten years."""

_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?P<offset>[Zz]|[+-]\d\d:\d\d)?", flags=re.ASCII
)
_EPOCH = re.compile(r"\d{1,12}(?:\.\d{1,9})?", flags=re.ASCII)


def rfc3339(value: object, now: datetime, what: str = '"timestamp"') -> datetime | None:
    """`2025-05-17T09:30:00+02:00` with its offset; None if absent. Refused for anything else."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise Refused(f"{what} is not text")
    match = _RFC3339.fullmatch(value)
    if match is None:
        raise Refused(f"{what} is not RFC 3339: {value[:40]!r}")
    if match["offset"] is None:
        raise Refused(f"{what} has no offset: {match[0]!r}")
    try:
        moment = datetime.fromisoformat(match[0].upper())
    except ValueError as error:
        raise Refused(f"{what} names no time: {match[0]!r}") from error
    return within(moment, now, match[0], what)


def local(value: object, now: datetime, zone: tzinfo | None, what: str = '"timestamp"') -> datetime | None:
    """`rfc3339`, and without an offset the time that clocks of `zone` showed: of two the earlier.

    Refused for a time that these clocks leapt over, and for one without an offset where no zone is known.
    """
    match = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if match is None or match["offset"] is not None:
        return rfc3339(value, now, what)
    if zone is None:
        raise Refused(
            f"{what} has no offset: {match[0]!r}; --timezone says where it was written, as Europe/Berlin"
        )
    try:
        shown = datetime.fromisoformat(match[0].upper())
        moment = in_zone(shown, zone)
    except (ValueError, OverflowError) as error:
        raise Refused(f"{what} names no time: {match[0]!r}") from error
    if moment is None:
        raise Refused(f"{what} was never shown in {zone}, whose clocks leapt over it: {match[0]!r}")
    return within(moment, now, match[0], what)


def in_zone(shown: datetime, zone: tzinfo) -> datetime | None:
    """The moment at which clocks of `zone` showed a time, the earlier of two; None for one that they leapt over."""
    moment = shown.replace(tzinfo=zone, fold=0)
    if moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != shown:
        return None
    offset = moment.utcoffset() or timedelta()
    if offset % timedelta(minutes=1):  # before railways: RFC 3339 has no seconds in an offset
        return moment.astimezone(UTC)
    return shown.replace(tzinfo=timezone(offset))


def epoch(value: object, now: datetime, what: str) -> datetime | None:
    """Seconds since 1970 as a number or text, to the microsecond, in UTC; None if absent. Refused otherwise."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Refused(f"{what} is not a number of seconds")
    if isinstance(value, str):
        if _EPOCH.fullmatch(value) is None:
            raise Refused(f"{what} is not a number of seconds: {value[:40]!r}")
        whole, _, rest = value.partition(".")
        parts = int(whole), int(rest[:6].ljust(6, "0") or 0)
    elif not -(10.0**12) < value < 10.0**12:
        raise Refused(f"{what} is out of range")
    else:
        parts = divmod(round(value * 10**6), 10**6)
    try:
        moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=parts[0], microseconds=parts[1])
    except OverflowError as error:
        raise Refused(f"{what} names no time: {value!r}") from error
    return within(moment, now, str(value), what)


def within(moment: datetime, now: datetime, shown: str, what: str) -> datetime:
    """The moment, if it lies within reason. Refused otherwise; compared as instants, whatever their offsets."""
    if not EARLIEST <= moment <= now + AHEAD:
        raise Refused(f"{what} is before 1900 or more than ten years ahead: {shown[:40]!r}")
    return moment
