"""Why a request is refused, in plain words: what msgspec says of a member, said as a person would. Pure."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_AT: Final = re.compile(r" - at `(?:key in )?\$\.?(?P<path>[^`]*)`$")
_WORDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "nothing",
    "datetime": "a time such as 2025-05-17T10:00:00Z",
    "bytes": "bytes",
}
_RULES: Final = (
    (re.compile(r"Expected `str` of length >= 1"), "{path} is text that isn't empty"),
    (
        re.compile(r"Expected `str` of length <= (?P<limit>\d+)"),
        "{path} is text of at most {limit} characters",
    ),
    (re.compile(r"Expected `array` of length >= 1"), "{path} is a list that isn't empty"),
    (
        re.compile(r"Expected `(?P<kind>\w+)` (?P<bound>[<>]=?) (?P<limit>[-\d.]+)"),
        "{path} is {kind} {bound} {limit}",
    ),
    (
        re.compile(r"Expected `datetime` with a timezone component"),
        "{path} has no time zone: add one, such as Z",
    ),
    (re.compile(r"Expected `(?P<kind>[^`]+)`, got `(?P<given>[^`]+)`"), "{path} is {kind}, not {given}"),
    (re.compile(r"Invalid RFC3339 encoded datetime"), "{path} is a time such as 2025-05-17T10:00:00Z"),
    (re.compile(r"Invalid enum value (?P<value>'[^']*'|-?\d+)"), "{path} can't be {value}"),
    (re.compile(r"Object missing required field `(?P<name>[^`]+)`"), "{within}{name} is missing"),
)
_BOUNDS: Final = {">=": "of at least", ">": "above", "<=": "of at most", "<": "below"}
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]+)`")


def refusal(said: str, members: Collection[str]) -> str:
    """Return what is wrong with a request, by what msgspec said of it and the names of its members."""
    at = _AT.search(said)
    path = at["path"] if at else ""
    what = said[: at.start()] if at else said
    if unknown := _UNKNOWN.match(what):
        near = get_close_matches(unknown["name"], members, n=1)
        return f"there is no member {unknown['name']}" + (f": did you mean {near[0]}?" if near else "")
    for rule, words in _RULES:
        if match := rule.match(what):
            given = match.groupdict()
            told = {name: _told(name, value) for name, value in given.items()}
            return words.format(path=path or "what is given", within=f"{path}." if path else "", **told)
    return f"{path}: {what}" if path else what


def _told(name: str, value: str) -> str:
    if name == "bound":
        return _BOUNDS[value]
    if name == "limit":
        return value.removesuffix(".0")
    if name in ("kind", "given"):
        parts = [_WORDS.get(part.strip(), part.strip()) for part in value.split("|")]
        return " or ".join(part for part in parts if part != "nothing" or len(parts) == 1)
    return value
