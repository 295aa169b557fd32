"""What a chat message says, as chat APIs have it: text, or a list of parts that are text. Pure."""

from collections.abc import Mapping
from typing import Final, cast

from braid.ledger.errors import InvalidRecordError

_TEXT_PARTS: Final = frozenset(("text", "input_text", "output_text"))
_NO_CONTENT: Final = "a message has a member `content` that is text, or a list of parts with text"


def text_of(content: object) -> str:
    """Return the text of a message's content, of parts joined by line feeds; of a part nothing but its text is kept.

    Raises InvalidRecordError for what is neither, and for a part that is no text.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InvalidRecordError(_NO_CONTENT)
    parts = cast("list[object]", content)
    return "\n".join(_text_of_part(place, part) for place, part in enumerate(parts, 1))


def _text_of_part(place: int, part: object) -> str:
    given: Mapping[str, object] = cast("Mapping[str, object]", part) if isinstance(part, Mapping) else {}
    kind, text = given.get("type"), given.get("text")
    if kind in _TEXT_PARTS and isinstance(text, str):
        return text
    if kind in _TEXT_PARTS:
        raise InvalidRecordError(f"part {place} of the content has no member `text` that is text")
    if isinstance(kind, str):
        raise InvalidRecordError(
            f"part {place} of the content is of the type {kind[:40]!r}, and only text is remembered: leave it out, or "
            "keep media with attach and append(media=…)"
        )
    raise InvalidRecordError(
        f'part {place} of the content is no text part: write {{"type": "text", "text": …}}'
    )
