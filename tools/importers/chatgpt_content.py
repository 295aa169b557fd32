"""What a message of ChatGPT says: text, code, tool output, thoughts, quotes, and pictures it points to."""

from typing import NamedTuple

from braid.tools.importers import fields
from braid.tools.importers.message import Attachment
from braid.tools.importers.strict import as_list, as_object

_PLAIN = ("text", "result", "content", "user_profile", "user_instructions")
"""Members that hold text, of the content types that have no parts."""
_ABOUT = ("language", "url", "title", "domain", "name")


class NodeContent(NamedTuple):
    """Text, media, and what else is kept; empty for a node that says nothing."""

    text: str = ""
    media: tuple[Attachment, ...] = ()
    extra: tuple[tuple[str, object], ...] = ()


def said_in(message: dict[str, object]) -> NodeContent:
    """What a message's content says; a type that is not known, and has no text, is kept as it is."""
    content = as_object(message.get("content")) or {}
    kind = fields.word(content, "content_type")
    texts: list[str] = []
    media: list[Attachment] = []
    others: list[object] = []
    for part in as_list(content.get("parts")) or ():
        _take(part, texts, media, others)
    texts += [value for name in _PLAIN if isinstance(value := content.get(name), str)]
    texts += [
        "\n".join(value for name in ("summary", "content") if isinstance(value := thought.get(name), str))
        for thought in fields.objects(content.get("thoughts"))
    ]
    text = "\n".join(each for each in texts if each)
    media += _attached(message)
    extra: list[tuple[str, object]] = []
    if others:
        extra.append(("parts", others))
    if text or media or others:
        extra += [(name, content[name]) for name in _ABOUT if content.get(name)]
    elif kind is not None and set(content) - {"content_type", "parts", *_PLAIN, "thoughts", *_ABOUT}:
        extra.append(("content", content))
    if extra or text or media:
        extra += [("content_type", kind)] if kind not in (None, "text") else []
    return NodeContent(text, tuple(media), tuple(extra))


def _take(part: object, texts: list[str], media: list[Attachment], others: list[object]) -> None:
    members = as_object(part)
    if isinstance(part, str):
        texts.append(part)
    elif members is None:
        if part is not None:
            others.append(part)
    elif isinstance(pointer := members.get("asset_pointer"), str):
        kind = str(members.get("content_type", "")).removesuffix("_asset_pointer") or "file"
        media.append(Attachment(kind=kind, uri=pointer))
    elif isinstance(text := members.get("text"), str):
        texts.append(text)
    else:
        others.append(part)


def _attached(message: dict[str, object]) -> list[Attachment]:
    """Files that were handed in with a message."""
    metadata = as_object(message.get("metadata")) or {}
    found: list[Attachment] = []
    for each in fields.objects(metadata.get("attachments")):
        kind, uri, name = (fields.word(each, member) for member in ("mime_type", "id", "name"))
        found.append(Attachment(kind=kind or "file", uri=uri, name=name))
    return found
