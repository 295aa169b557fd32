"""What the small model's parse sees and isn't there: nothing is read of it, and what stands beside it is."""

from datetime import UTC, datetime

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared

WHEN = datetime(2026, 6, 7, tzinfo=UTC)


def read(text: str) -> set[tuple[str, str, str]]:
    turn = Turn(text, speaker="Ines", when=WHEN)
    return {
        (claim.subject, claim.rel, claim.object)
        for claim in ParseReader(shared()).read(turn, KnownClaims()).claims
    }


@pytest.mark.parametrize(
    "text",
    [
        "Sat facing forward, stared at the driver's ear.",
        "5.8.3 out, 32 keys instead, fits rev C. tested on my desk board and on Pavel's.",
        "Two stops not one, since there were roadworks.",
        "Um, twenty-fifth, went like clockwork except the, the wardrobe.",
        "white housing instead of anthracite gets about 9 degrees.",
        "3,960, or I go to the arbitration office.",
        "Dr Vasquez-Holm: sumatriptan up to 100.",
        "Greeting should say we open 8.30 to 5.30 Monday to Thursday.",
        "Seven black phones and two white ones, and one of the white ones has a cracked screen.",
        "left hand, ring one.",
    ],
)
def test_nothing_is_read_where_there_is_nothing(text: str) -> None:
    assert read(text) == set()


@pytest.mark.parametrize(
    ("text", "subject", "only"),
    [
        (
            "Controller came a day late, fitted today, Marek rode up the hill with the sand.",
            "Marek",
            "rode up the hill with the sand",
        ),
        ("Dr Macrae doesn't want tablets yet, repeat in three months.", "Dr Macrae", "tablets"),
        ("Wenzel also found a mistake, braille for lift said 'left'.", "Wenzel", "found a mistake"),
        (
            "Desta here, Farouk is on paternity leave so I've picked this up.",
            "Farouk",
            "on paternity leave",
        ),
        ("had a dream we hit a marching band.", "Ines", "had a dream they hit a marching band"),
        ("Two of the four wires broke.", "Two of the four wires", "broke"),
    ],
)
def test_what_stands_beside_it_is_read(text: str, subject: str, only: str) -> None:
    assert [what for who, _, what in read(text) if who == subject] == [only]


def test_the_day_of_what_was_put_is_not_the_day_of_the_putting() -> None:
    turn = Turn("Sister Oyelaran has put me on the ward rota for 5 July.", speaker="Ines", when=WHEN)
    (claim,) = ParseReader(shared()).read(turn, KnownClaims()).claims
    assert (claim.valid_from, claim.valid_to) == (None, None)
