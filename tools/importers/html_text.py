"""The text of HTML mail, in one pass whatever the HTML is: tags out, entities resolved, blocks on lines of their own.

Not `html.parser`: unclosed declarations make it read the rest of its input again and again.
"""

import re
from html import unescape

_TAG = re.compile(r"(<[^<>]*+>)")
_NAME = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_UNSEEN = frozenset({"script", "style", "head", "title"})
_BLOCKS = frozenset(
    {"p", "br", "div", "tr", "li", "ul", "ol", "table", "blockquote", "h1", "h2", "h3", "h4", "hr"}
)
_BLANKS = re.compile(r"[ \t\r\n]++")


def text_of_html(html: str) -> str:
    """What a person would read of it."""
    shown: list[str] = []
    unseen = ""
    for piece in _TAG.split(html):
        match = _NAME.match(piece) if piece.startswith("<") and piece.endswith(">") else None
        if match is None:
            if not unseen and not piece.startswith("<!"):
                shown.append(_BLANKS.sub(" ", unescape(piece)))
            continue
        name = match[2].lower()
        if unseen:
            unseen = "" if match[1] and name == unseen else unseen
        elif name in _UNSEEN and not match[1]:
            unseen = name
        elif name in _BLOCKS:
            shown.append("\n")
    kept = (line.strip() for line in "".join(shown).split("\n"))
    return "\n".join(line for line in kept if line)
