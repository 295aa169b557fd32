"""JSON out of what a model wrote in its place; each repair is named. Never raises, whatever was written. Pure.

    mended('Sure:\\n```json\\n{"facts": [],}\\n```')  ->  Mended({"facts": []}, ("fence", "preamble", "comma"))

`json-repair` does the work; what it had to mend is told from the text, by the table of the pipeline's design.
"""

import json
import re
from typing import Any, Final, Literal, NamedTuple, cast

MAX_CHARS: Final = 200_000
"""What a model wrote beyond this is not read: no answer that was asked for is a tenth as long."""
Mend = Literal["fence", "preamble", "explanation", "comma", "quotes", "truncated", "other", "cut"]
_FENCE: Final = re.compile(r"```(?:json|JSON)?[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_COMMA: Final = re.compile(r",\s*[}\]]")
_SINGLE: Final = re.compile(r"[{\[,:]\s*'")


class Mended(NamedTuple):
    """What was read, None where there is nothing to be read; and what had to be mended."""

    value: Any
    mends: tuple[Mend, ...] = ()


def mended(said: str) -> Mended:
    """Return the JSON object or list that a model meant."""
    text = said[:MAX_CHARS]
    if (value := _strict(text)) is not None:
        return Mended(value)
    mends: list[Mend] = ["cut"] if len(said) > MAX_CHARS else []
    if "```" in text and (inner := _largest(_FENCE.findall(text))):
        mends.append("fence")
        text = inner
    elif text.lstrip().startswith("```"):
        return Mended(None, (*mends, "fence"))
    first = min((at for at in (text.find("{"), text.find("[{")) if at >= 0), default=text.find("["))
    if first < 0:
        return Mended(None, tuple(mends))
    if text[:first].strip():
        mends.append("preamble")
        text = text[first:]
    value, end = _leading(text)
    if value is not None:
        return Mended(value, (*mends, "explanation") if text[end:].strip() else tuple(mends))
    return _repaired(text, mends)


def _strict(text: str) -> Any:
    """Return what is JSON as it stands, an object or a list; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _container(value)


def _container(value: Any) -> Any:
    """Return an object or a list; None for any other value."""
    return value if isinstance(value, dict | list) else None  # pyright: ignore[reportUnknownVariableType]


def _leading(text: str) -> tuple[Any, int]:
    """Return the JSON with which a text begins, and where that ends; None where it begins with none."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, 0
    return _container(value), end


def _repaired(text: str, mends: list[Mend]) -> Mended:
    import json_repair  # noqa: PLC0415 - 20 ms that only a broken answer needs

    named: list[Mend] = []
    if _COMMA.search(text):
        named.append("comma")
    if _SINGLE.search(text):
        named.append("quotes")
    if not _is_closed(text):
        named.append("truncated")
    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, AttributeError, KeyError):
        return Mended(None, tuple(mends))
    if isinstance(value, list):
        listed = cast("list[object]", value)
        if listed and all(isinstance(one, list | str) for one in listed):
            # JSON with talk behind it: the largest piece is the answer.
            pieces = [cast("list[object]", one) for one in listed if isinstance(one, list)]
            value = max(pieces, key=len, default=listed)
    if not _container(value):
        return Mended(None, tuple(mends))
    return Mended(value, (*mends, *(named or ("other",))))


def _is_closed(text: str) -> bool:
    """Whether as many brackets close as open, those within texts left out."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    return bare.count('"') == 0 and all(bare.count(one) <= bare.count(other) for one, other in ("{}", "[]"))


def _largest(pieces: list[str]) -> str:
    return max((piece.strip() for piece in pieces), key=len, default="")
