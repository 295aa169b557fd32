"""Parses as plain data: written down row by row, their places found in the text."""

import pytest

from braid.text.parse import from_rows

ROWS = [
    ("Kim", "Kim", "PROPN", "NNP", "nsubj", 1),
    ("does", "do", "VERB", "VBZ", "ROOT", 1),
    ("the", "the", "DET", "DT", "det", 3),
    ("does", "doe", "NOUN", "NNS", "dobj", 1),
]


def test_rows_are_found_in_order() -> None:
    parse = from_rows("Kim  does the does", ROWS)
    assert [(one.start, one.stop) for one in parse.tokens] == [(0, 3), (5, 9), (10, 13), (14, 18)]
    assert [one.text for one in parse.tokens] == ["Kim", "does", "the", "does"]


def test_children_hang_on_a_token_directly() -> None:
    parse = from_rows("Kim does the does", ROWS)
    assert list(parse.children(1)) == [0, 3]  # not itself, though the root names itself as its head
    assert list(parse.children(3)) == [2]
    assert list(parse.children(0)) == []


def test_a_row_that_is_not_in_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="substring"):
        from_rows("Kim does", ROWS)
