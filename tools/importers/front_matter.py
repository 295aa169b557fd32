"""Front matter of a note: YAML between lines `---`, all of it text as it stands there; TOML between lines `+++`."""

import re
import tomllib
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import cast

from braid.tools.importers import times
from braid.tools.importers.errors import Refused
from braid.tools.importers.strict import as_object

MAX_CHARS = 65_536
_MAX_DEPTH = 20
_FENCED = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^\1[ \t]*$\n?", flags=re.DOTALL | re.MULTILINE)
_TIMES = ("timestamp", "date", "created")


def front_matter(text: str) -> tuple[dict[str, object], str, int]:
    """The front matter (empty without one), the text behind it, and how many lines it took. Refused if it is bad."""
    match = _FENCED.match(text[: MAX_CHARS + 8])
    if match is None:
        return {}, text, 0
    found = _yaml(match[2]) if match[1] == "---" else _toml(match[2])
    if found is None:  # two rules with a paragraph between them
        return {}, text, 0
    return found, text[match.end() :], match[0].count("\n")


def time_of(front: dict[str, object], now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """The first time in it, with an offset or in `zone`; another is left where it stands. Refused for an absurd one."""
    for name in _TIMES:
        value = front.get(name)
        try:
            moment = times.local(value, now, zone, f'"{name}"')
        except Refused as error:
            if "before 1900" in str(error):
                raise
            continue
        if moment is not None:
            return moment
    return None


def _yaml(text: str) -> dict[str, object] | None:
    """Plain YAML: no aliases, which can make a page of a line; every scalar is text, so that `no` stays `no`."""
    import yaml

    try:
        depth = 0
        for event in cast("Iterator[object]", yaml.parse(text, Loader=yaml.BaseLoader)):
            if isinstance(event, yaml.AliasEvent):
                raise Refused("front matter with aliases is not read")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise Refused(f"front matter is nested deeper than {_MAX_DEPTH}")
        found: object = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - builds text, lists and dicts only
    except yaml.YAMLError as error:
        raise Refused(f"front matter is not YAML: {' '.join(str(error).split())[:120]}") from error
    except Refused:
        raise
    except (RecursionError, TypeError, ValueError) as error:
        raise Refused("front matter is not YAML") from error
    if found is None:
        return {}
    return as_object(_plain(found))


def _toml(text: str) -> dict[str, object]:
    try:
        found = cast("dict[str, object]", _plain(tomllib.loads(text)))
    except Refused:
        raise
    except (RecursionError, ValueError) as error:
        raise Refused(f"front matter is not TOML: {' '.join(str(error).split())[:120]}") from error
    return found


def _plain(value: object, depth: int = 0) -> object:
    """JSON of what was read; what JSON has no type for becomes text."""
    if depth > _MAX_DEPTH:
        raise Refused(f"front matter is nested deeper than {_MAX_DEPTH}")
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return {str(name): _plain(each, depth + 1) for name, each in members.items()}
    if isinstance(value, list):
        return [_plain(each, depth + 1) for each in cast("list[object]", value)]
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, (bool, int)):
        return value
    text = str(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("a lone surrogate in front matter is not text") from error
    return text
