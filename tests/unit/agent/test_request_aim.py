"""What a line says of something remembered, wherever in it: that it is over, or has another value."""

import pytest

from braid.agent.request.aim import Aimed, aimed
from braid.agent.request.slots import restated_in, slots

MEMORIES = (
    "My parking space at work is on level 2.",
    "The gym membership costs 29 euros a month.",
    "Spin class is on Mondays at 18:30.",
    "Grandma takes her heart pills at 8.",
    "Grandpa takes his heart pills at 9.",
    "My physio appointment is on 14 March.",
    "The hall on Mill Lane is booked on the second Sunday.",
    "The hall on Mill Lane has no stage.",
    "The statistics exam is in room H204.",
    "Kochs' order is 40 rolls on weekdays.",
    "Kochs' order is 60 rolls on Saturdays.",
    "Rita must not have nuts.",
)


def _aim(line: str) -> Aimed[str] | None:
    return aimed(line, [(text, text) for text in MEMORIES])


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("my parking at work is level 3 now btw", "My parking space at work is on level 3."),
        ("gym memebrship is 32 a month now", "The gym membership costs 32 euros a month."),
        ("they put the gym up, membership is 31,50 from today", "The gym membership costs 31,50 euros a month."),
        ("spin class starts 19:00 now", "Spin class is on Mondays at 19:00."),
        ("weds for spin class from now on", "Spin class is on Wednesdays at 18:30."),
        ("mondays don't work for spin any more, thursdays instead", "Spin class is on Thursdays at 18:30."),
        ("granma takes her heart pills at 10 from now on", "Grandma takes her heart pills at 10."),
        ("physio appt moved to 15 march", "My physio appointment is on 15 march."),
        ("I said 14 March for the physio when the card says 18 March", "My physio appointment is on 18 March."),
        ("mill lane hall: the fourth Sunday, my mistake", "The hall on Mill Lane is booked on the fourth Sunday."),
        ("stats exam room is H214, mixed up the digits", "The statistics exam is in room H214."),
        ("my physio appointment should say 18 March", "My physio appointment is on 18 March."),
        ("kochs want 80 on saturdays instead", "Kochs' order is 80 rolls on Saturdays."),
    ],
)  # fmt: skip
def test_a_value_is_put_where_the_memory_that_shares_most_has_one_of_its_kind(line: str, after: str) -> None:
    asked = _aim(line)
    assert asked is not None
    assert (len(asked.found), asked.text) == (1, after)


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("sat the statistics exam today so u can lose the exam room", [8]),
        ("quit the gym, no use keeping what the membership costs", [1]),
        ("the thing about my physio appointment isn't true anymore, they rang", [5]),
        ("got a stage for the hall so that's outdated", [7]),
        ("rita is allowed nuts again, blood test came back fine!", [11]),
        ("that business about the hall having no stage can go", [7]),
        ("kochs are closing down for good, throw out both their orders", [9, 10]),
        ("scrap the heart pills", [3, 4]),
        ("actually the one on the physio appointment can go", [5]),
    ],
)
def test_what_is_over_goes(line: str, gone: list[int]) -> None:
    asked = _aim(line)
    assert asked is not None
    assert asked.text is None
    assert [MEMORIES.index(text) for text in asked.found] == gone


@pytest.mark.parametrize(
    "line",
    [
        "my parking at work is level 2 now",  # as it is
        "heart pills are at 10 now",  # of two
        "so Jonas parks at work on level 3 now",
        "the gym closes at 9 now",
        "if the gym membership is 32 euros now, I leave",
        "is the gym membership 32 euros now?",
        "The gym was so full now, 40 people.",
        "don't forget my physio appointment",
        "rita told me to forget the nuts",
        "Exactly, spin class is on Mondays at 19:00.",
        "kochs want 50 rolls now",
        "the exam room changed, not sure which yet",
        "scrub the note about the van insurance",
        "Rita forgot the nuts again",
        "forget that Rita must have nuts",
        "wrong day for a physio appointment, it rained",
    ],
)
def test_a_remark_a_condition_and_what_fits_two_are_of_no_memory(line: str) -> None:
    asked = _aim(line)
    assert asked is None


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("The 46 leaves at 7:12 on weds and fri", ["amount", "days", "time"]),
        ("on the first Thursday, at 8pm", ["nth", "time"]),
        ("R8 is due on 14 Aug", ["code", "date"]),
        ("50mg every 3 weeks, in the evening", ["amount", "often", "part"]),
        ("It may march on; this morning it sat.", []),
    ],
)
def test_values_are_of_a_kind(text: str, kinds: list[str]) -> None:
    assert sorted(one.kind for one in slots(text)) == kinds


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("Mimi gets 60 grams in the morning.", "mimi gets 70 in the morning", "Mimi gets 70 grams in the morning."),
        ("Mimi gets 60 grams in the morning.", "mimi gets 70 in the evening", None),
        ("The under-9s train on pitch 2 at 17:00.", "U9 moved to pitch 4", "The under-9s train on pitch 4 at 17:00."),
        ("Colour 7.1 with 6 percent.", "the colour is 7.3", "Colour 7.3 with 6 percent."),
        ("R7 is due on 14 May.", "R8 is due on 15 May", None),
    ],
)  # fmt: skip
def test_one_value_stands_in_the_place_of_another(before: str, line: str, after: str | None) -> None:
    assert restated_in(before, line) == after


def test_all_of_a_number_is_not_of_its_neighbour() -> None:
    texts = (
        "The scaffold at 14 Elm Road comes down on Thursday.",
        "The scaffold at 40 Elm Road comes down on Friday.",
        "14 Elm Road needs 600 slates.",
        "22 Elm Road has no chimney.",
    )
    found = aimed("14 elm is all paid up, get rid of everything on it", [(text, text) for text in texts])
    assert found is not None
    assert (set(found.found), found.is_all, found.is_asked) == ({texts[0], texts[2]}, True, True)
