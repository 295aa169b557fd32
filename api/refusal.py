"""Why a request is refused, in plain words: what msgspec says of a member, said as a person would. Pure."""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from msgspec import Struct

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
    (re.compile(r"Expected `str` of length >= 1(?!\d)"), "{path} is text that isn't empty"),
    (
        re.compile(r"Expected `str` of length <= (?P<limit>\d+)"),
        "{path} is text of at most {limit} characters",
    ),
    (
        re.compile(r"Expected `str` of length >= (?P<limit>\d+)"),
        "{path} is text of at least {limit} characters",
    ),
    (re.compile(r"Expected `array` of length >= 1(?!\d)"), "{path} is a list that isn't empty"),
    (re.compile(r"Expected `array` of length <= (?P<limit>\d+)"), "{path} is a list of at most {limit}"),
    (re.compile(r"Expected `str` matching regex"), "{path} is {wanted}"),
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
    (re.compile(r"Invalid enum value (?P<value>'[^']*'|-?\d+)"), "{path} can't be {value}: it is {wanted}"),
    (
        re.compile(r"Input data was truncated"),
        "the JSON ends too early, or has half a surrogate pair, such as \\ud800",
    ),
    (re.compile(r"'utf-8' codec|Invalid UTF-8"), "the JSON is not valid UTF-8"),
    (re.compile(r"Object missing required field `(?P<name>[^`]+)`"), "{within}{name} is missing"),
)
_BOUNDS: Final = {">=": "of at least", ">": "above", "<=": "of at most", "<": "below"}
_STEP: Final = re.compile(r"[^.\[\]]+|\[[^\]]*\]")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]+)`")


def refusal(said: str, form: "type[Struct]") -> str:
    """Return what is wrong with a request, by what msgspec said of it and the type that it should have."""
    at = _AT.search(said)
    path = at["path"] if at else ""
    what = said[: at.start()] if at else said
    if unknown := _UNKNOWN.match(what):
        return _unknown(unknown["name"], path, form)
    for rule, words in _RULES:
        if match := rule.match(what):
            told = {name: _told(name, value) for name, value in match.groupdict().items()}
            wanted = wanted_at(form, path) if "{wanted}" in words else ""
            within = f"{path}." if path else ""
            return words.format(path=path or "what is given", within=within, wanted=wanted, **told)
    return f"{path}: {what}" if path else what


def _unknown(name: str, path: str, form: "type[Struct]") -> str:
    """Return that there is no such member, and the one that is spelt nearly so, or all: those first that are needed."""
    fields = [field for one in _plain(_at(form, path)) for field in getattr(one, "fields", ())]
    members = [field.encode_name for field in sorted(fields, key=lambda field: not field.required)]
    said = f"there is no member {name}" + (f" in {path}" if path else "")
    if near := get_close_matches(name, members, n=1):
        return f"{said}: did you mean {near[0]}?"
    return f"{said}: there are {', '.join(members)}" if members else f"{said}, nor any other"


def wanted_at(form: "type[Struct]", path: str) -> str:
    """Return what a member of a type takes, in plain words: its values, its bounds, or what is said of its pattern."""
    return _wanted(_at(form, path))


def _at(form: "type[Struct]", path: str) -> Any:
    """Return the type of what stands at a path of a type; None where that can't be known."""
    from msgspec import inspect  # late: only a refusal needs it

    kind: Any = inspect.type_info(form)
    for step in _STEP.findall(path):
        kind = _within(kind, step)
    return kind


def _within(kind: Any, step: str) -> Any:
    """Return the type of a member, or of an item, of a type; None where that can't be known."""
    for one in _plain(kind):
        for field in getattr(one, "fields", ()):
            if step == field.encode_name:
                return field.type
        for items in ("item_type", "value_type"):
            if step.startswith("[") and hasattr(one, items):
                return getattr(one, items)
    return None


def _plain(kind: Any) -> list[Any]:
    """Return the types of a union, without what is said about them."""
    if hasattr(kind, "types"):
        return [one for each in kind.types for one in _plain(each)]
    return _plain(kind.type) if hasattr(kind, "extra_json_schema") else [kind]


def _wanted(kind: Any) -> str:
    for one in (kind, *getattr(kind, "types", ())):
        extra: dict[str, str] = getattr(one, "extra", None) or {}
        if said := extra.get("refusal"):
            return said
    plain = _plain(kind)
    values = sorted({str(value) for one in plain for value in getattr(one, "values", ())})
    if values:
        return " or ".join([", ".join(values[:-1]), values[-1]] if values[1:] else values)
    return next((words for one in plain if (words := _bounded(one))), "something else")


def _bounded(kind: object) -> str:
    name = type(kind).__name__.removesuffix("Type").lower()
    words, low, high = _WORDS.get(name, ""), getattr(kind, "ge", None), getattr(kind, "le", None)
    if low is None or high is None:
        return words
    return f"{words} from {low} to {high}"


def _told(name: str, value: str) -> str:
    if name == "bound":
        return _BOUNDS[value]
    if name == "limit":
        return value.removesuffix(".0")
    if name in ("kind", "given"):
        parts = [_WORDS.get(part.strip(), part.strip()) for part in value.split("|")]
        return " or ".join(part for part in parts if part != "nothing" or len(parts) == 1)
    return value
