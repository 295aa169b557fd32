"""What a reply chooses of several memories that were shown."""

from __future__ import annotations

import pytest

from braid.agent.request.choice import Picked, picked

SHOWN = (
    "The tomatoes on the balcony get water every 2 days.",
    "The tomatoes in the greenhouse get water every 3 days.",
    "The cactus in the hall gets none.",
)


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ("1", (0,)),
        ("2.", (1,)),
        ("number 3 please", (2,)),
        ("the second one", (1,)),
        ("one", (0,)),
        ("the last", (2,)),
        ("1 and 3", (0, 2)),
        ("3, 1, 3", (2, 0)),
        ("all of them", (0, 1, 2)),
        ("the balcony one", (0,)),
        ("the tomatoes in the greenhouse", (1,)),
        ("the 3 days one", (1,)),
        ("no", ()),
        ("None of them.", ()),
        ("never mind", ()),
    ],
)
def test_it_chooses(reply: str, places: tuple[int, ...]) -> None:
    assert picked(reply, SHOWN) == Picked(places)


def test_to_agree_says_not_to_which() -> None:
    for reply in ("yes", "Yep!", "ok please", "both"):
        assert picked(reply, SHOWN) == Picked(is_clear=False)
    assert picked("both", SHOWN[:2]) == Picked((0, 1))


@pytest.mark.parametrize(
    "reply",
    [
        "4",
        "0",
        "12 eggs",
        "the tomatoes",
        "The balcony needs a new lamp.",
        "is it the balcony one?",
        "The tomatoes on the balcony get water every 5 days.",
        "",
        "I was first in line",
    ],
)
def test_what_says_something_else_chooses_nothing(reply: str) -> None:
    assert picked(reply, SHOWN) is None
