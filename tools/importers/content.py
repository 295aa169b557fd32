"""What a chat API calls content: text, or a list of parts, as text, media and the parts that are neither."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from braid.tools.importers import fields
from braid.tools.importers.errors import Refused
from braid.tools.importers.message import Attachment
from braid.tools.importers.strict import as_list, as_object

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})
_IMAGE_PARTS = frozenset({"image", "image_url", "input_image"})


class MessageContent(NamedTuple):
    """Text parts joined by line feeds, images, and other parts as they are."""

    text: str
    media: tuple[Attachment, ...] = ()
    parts: tuple[object, ...] = ()


def content_of(members: dict[str, object]) -> MessageContent:
    """The member `content`. Refused when it is missing, or neither text nor parts; null beside `tool_calls` is fine."""
    if "content" not in members and not as_list(members.get("tool_calls")):
        raise Refused('no "content"')
    content = members.get("content")
    if isinstance(content, str):
        return MessageContent(content)
    if content is None and as_list(members.get("tool_calls")):
        return MessageContent("")
    parts = as_list(content)
    if parts is None:
        raise Refused('"content" is neither text nor a list of parts')
    return join(parts)


def join(parts: Sequence[object]) -> MessageContent:
    """The content of a list of parts. Refused for a part that is neither text nor an object."""
    texts: list[str] = []
    media: list[Attachment] = []
    others: list[object] = []
    for part in parts:
        text = _text_of(part)
        image = None if text is not None else _image_of(part)
        if text is not None:
            texts.append(text)
        elif image is not None:
            media.append(image)
        elif as_object(part) is not None:
            others.append(part)
        else:
            raise Refused('a part of "content" is neither text nor an object')
    return MessageContent("\n".join(texts), tuple(media), tuple(others))


def _text_of(part: object) -> str | None:
    if isinstance(part, str):
        return part
    members = as_object(part)
    if members is None or fields.word(members, "type") not in _TEXT_PARTS:
        return None
    text = members.get("text", members.get("refusal"))
    if not isinstance(text, str):
        raise Refused('a text part of "content" has no text')
    return text


def _image_of(part: object) -> Attachment | None:
    members = as_object(part)
    if members is None or fields.word(members, "type") not in _IMAGE_PARTS:
        return None
    if (data := as_object(members.get("source"))) is not None:
        return _sealed_image(data)
    target = members.get("image_url", members.get("url"))
    inner = as_object(target)
    uri = inner.get("url") if inner is not None else target
    caption = members.get("caption", members.get("alt"))
    if not isinstance(uri, str) and not isinstance(caption, str):
        return None  # kept whole, in extra
    return Attachment(
        kind="image",
        uri=uri if isinstance(uri, str) else None,
        caption=caption if isinstance(caption, str) else None,
    )


def _sealed_image(source: dict[str, object]) -> Attachment:
    """An image whose bytes stand in the source: named by the hash of their base64 text, not taken in."""
    kind, data, url = (source.get(name) for name in ("media_type", "data", "url"))
    if isinstance(data, str):
        url = f"urn:sha256:{hashlib.sha256(data.encode()).hexdigest()}"
    return Attachment(
        kind=kind if isinstance(kind, str) else "image", uri=url if isinstance(url, str) else None
    )
