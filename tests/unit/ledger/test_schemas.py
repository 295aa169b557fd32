"""Schemas of types hold no trace of how a docstring is indented, whichever msgspec makes them."""

import msgspec

from braid.ledger.record.schemas import components


class Told(msgspec.Struct):
    """What somebody told.

    `text`: the words, as they were said; a line that
    goes on here.
    """

    text: str


class Talk(msgspec.Struct):
    """A talk: what was told in it, in order,
    and when it began.
    """

    told: list[Told]


def test_a_description_has_no_indentation() -> None:
    (top,), named = components([Talk], ref_template="#/$defs/{name}")
    assert top == {"$ref": "#/$defs/Talk"}
    assert named["Talk"]["description"] == "A talk: what was told in it, in order,\nand when it began."
    assert named["Told"]["description"].splitlines()[2:] == [
        "`text`: the words, as they were said; a line that",
        "goes on here.",
    ]


def test_what_isnt_a_description_is_as_msgspec_makes_it() -> None:
    _, named = components([Talk])
    assert named["Talk"]["properties"] == {"told": {"type": "array", "items": {"$ref": "#/$defs/Told"}}}
    assert named["Talk"]["required"] == ["told"]
