"""The text of HTML mail, in one pass whatever the HTML is: tags out, entities resolved, blocks on lines of their own,
those of quotations begun with ">" as in plain mail.

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
_QUOTED = "\x00"
"""Begins a line for each quotation that it stands in: no text has it."""
_DEEPEST = 20
_BLANKS = re.compile(r"[ \t\r\n]++")


def text_of_html(html: str, *, marked: bool = True) -> str:
    """What a person would read of it. `marked`: lines of quotations begin with ">"."""
    shown: list[str] = []
    unseen, quoted = "", 0
    for piece in _TAG.split(html):
        match = _NAME.match(piece) if piece.startswith("<") and piece.endswith(">") else None
        if match is None:
            if not unseen and not piece.startswith("<!"):
                shown.append(_BLANKS.sub(" ", unescape(piece).replace(_QUOTED, "\ufffd")))
            continue
        name = match[2].lower()
        if unseen:
            unseen = "" if match[1] and name == unseen else unseen
        elif name in _UNSEEN and not match[1]:
            unseen = name
        elif name in _BLOCKS:
            quoted += (-1 if match[1] else 1) if name == "blockquote" else 0
            shown.append("\n" + _QUOTED * min(max(quoted, 0), _DEEPEST))
    lines = "".join(shown).split("\n")
    kept = ((line.count(_QUOTED), line.strip(f" {_QUOTED}")) for line in lines)
    return "\n".join(f"{'>' * depth} {line}" if depth and marked else line for depth, line in kept if line)
