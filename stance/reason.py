"""Why something stands, as a tree of reasons, and that tree in indented lines. Pure."""

from collections.abc import Iterator

import msgspec


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One node of an explanation. `id` is the record that it is, or that makes it; `needs` is what it rests on, or
    lacks; `unless` what would defeat it, or does.
    """

    text: str
    label: str
    id: str = ""
    needs: tuple["Reason", ...] = ()
    unless: tuple["Reason", ...] = ()


def lines(reason: Reason, margin: str = "") -> Iterator[str]:
    """Yield an explanation as an indented tree."""
    stack = [(reason, margin, "")]
    while stack:
        one, indent, lead = stack.pop()
        mark = {"in": "+", "out": "-"}.get(one.label, "?")
        tail = f"  {one.id}" if one.id else ""
        yield f"{indent}{mark} {lead}{one.text}{tail}"
        word = "unless " if one.label == "in" else "but "
        below = [(each, f"{indent}  ", "needs " if one.label != "in" else "from ") for each in one.needs]
        below += [(each, f"{indent}  ", word) for each in one.unless]
        stack += reversed(below)
