"""What is read is what was said: of whom, as a fact or a wish, whole; and what isn't clear is not read."""

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared

READER = ParseReader(shared())


def read(*texts: str) -> list[tuple[str, str, str, bool]]:
    """Return what a talk of one person states."""
    known = KnownClaims()
    found: list[tuple[str, str, str, bool]] = []
    for at, text in enumerate(texts):
        reading = READER.read(Turn(text=text, speaker="Ana", at=at), known)
        known.add(reading.notes)
        found += [(one.subject, one.rel, one.object, one.polarity) for one in reading.claims]
    return found


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "Hi Maria, since we last met, I'm volunteering at a school.",
            ("Ana", "does", "volunteering at a school", True),
        ),
        (
            "I want to help people who have gone through the same things as me.",
            ("Ana", "goal", "help people who have gone through the same things as them", True),
        ),
        ("I'm off to bake some cakes.", ("Ana", "plans_to", "bake some cakes", True)),
        ("Let's use Kafka.", ("Ana", "decided_on", "Kafka", True)),
        ("okay not now I'm draining pasta", ("Ana", "does", "draining pasta", True)),
        ("I live in Cork no wait in Cobh", ("Ana", "lives_in", "Cobh", True)),
    ],
)
def test_it_is_said_of_whom_and_as_it_was(text: str, claim: tuple[str, str, str, bool]) -> None:
    assert claim in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wow, Caroline, that sounds awesome!",
        "Sounds great, Caroline!",
        "Really made me think of you.",
        "Let's make a difference together.",
        "We'll keep pushing forward.",
        "Lena don't shout",
        "neither the api nor the worker has tracing",
        "it's false that I moved to Dubai",
        "mum can I put something on the list",
        "set LOG_LEVEL to warn in prod",
        "Wir haben die Küche letzte Woche gestrichen und sie ist sehr schön.",
        "Je préfère recevoir les factures par courriel pour ne pas les perdre.",
    ],
)
def test_what_states_nothing_is_not_read(text: str) -> None:
    assert read(text) == []


def test_another_language_is_counted_as_left() -> None:
    text = "Ich wohne nicht in der Stadt."
    assert READER.read(Turn(text=text, speaker="Ana"), KnownClaims()).left >= len(text) - 1


def test_things_that_look_up_are_not_the_speaker() -> None:
    found = read("I am still working on the dance studio and things are looking up!")
    assert ("Ana", "working_on", "dance studio", True) in found
    assert all("looking up" not in one[2] for one in found if one[0] == "Ana")


def test_what_is_booked_for_a_day_was_not_booked_on_it() -> None:
    turn = Turn(text="Gus booked the hall for the 9th.", speaker="Ana")
    claims = READER.read(turn, KnownClaims()).claims
    assert [one.valid_from for one in claims] == [None]


def test_a_correction_by_a_day_puts_right_the_day() -> None:
    days = [
        object
        for _, _, object, _ in read(
            "the freeze starts on the 19th", "Correction: 20th, the 19th is a Sunday."
        )
    ]
    assert [day[-2:] for day in days] == ["19", "20"]
