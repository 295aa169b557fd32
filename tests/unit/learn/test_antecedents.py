"""What "it", "they", "he" and "she" stand for in what is claimed, and where nobody can say."""

from datetime import UTC, datetime

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared

READER = ParseReader(shared())
WHEN = datetime(2026, 4, 20, 12, tzinfo=UTC)


def read(text: str) -> list[tuple[str, str, str]]:
    """Return what a turn of Ana's states and doesn't deny."""
    claims = READER.read(Turn(text, speaker="Ana", when=WHEN), KnownClaims()).claims
    return [(one.subject, one.rel, one.object) for one in claims if one.polarity]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The sofa cost 640 and it arrives on the 22nd.", ("sofa", "does", "arrives on the 22nd")),
        (
            "I worked on a garden for the school. It has four beds.",
            ("garden for the school", "has", "four beds"),
        ),
        (
            "I stopped the iron tablets, they upset my stomach.",
            ("iron tablets", "did", "upset Ana's stomach"),
        ),
        ("Theo broke his wrist, he's in a cast until July.", ("Theo", "is", "in a cast until July")),
        ("Our new hire Bartek starts on Monday, he's doing the vans.", ("Bartek", "does", "doing the vans")),
        ("Kofi's birthday is on the 30th, he plays the oud.", ("Kofi", "does", "plays the oud")),
        ("My surgery isn't in May, it's in June.", ("Ana's surgery", "is", "in June")),
        ("The physio was nice, she wants two sessions.", ("physio", "wants", "two sessions")),
    ],
)
def test_a_pronoun_stands_for_what_was_just_spoken_of(text: str, claim: tuple[str, str, str]) -> None:
    assert claim in read(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("We moved the piano, it rained all day.", "piano"),
        ("We saw the castle, it's great to be back.", "castle"),
        ("I took a trip alone, it made me think about work.", "trip alone"),
        ("Kim likes the flat, it's the stairs.", "flat"),
        ("Invoice 2217 is still unpaid, they owe us 1,480 euros.", "Invoice 2217"),
        ("Dana met Marta, she has a boat.", "Marta"),
        ("Book the hall, is it three hundred", "hall"),
        ("Rasmus wants to weld. I said over my dead body, it's on Thursdays.", "Ana's dead body"),
    ],
)
def test_where_it_is_open_nothing_is_claimed(text: str, wrong: str) -> None:
    assert wrong not in [subject for subject, _, _ in read(text)]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I have to be out of the flat by four.", ("Ana", "has_to", "be out of the flat by four")),
        ("Otto has to know his lines.", ("Otto", "has_to", "know his lines")),
        ("I sold the Falcon to Rasmus for 700.", ("Ana", "did", "sold the Falcon to Rasmus for 700")),
        (
            "taking the night train to Vienna on the 29th",
            ("Ana", "plans_to", "take the night train to Vienna on the 29th"),
        ),
        ("Walked Tilda to the weir.", ("Ana", "did", "Walked Tilda to the weir")),
        ("deploys go out on Wednesdays", ("deploys", "does", "go out on Wednesdays")),
        ("the key's under the second millstone", ("key", "is", "under the second millstone")),
        ("Grandma Ruth lives at Fairview now.", ("Grandma Ruth", "lives_in", "Fairview")),
    ],
)
def test_plain_sentences_are_kept(text: str, claim: tuple[str, str, str]) -> None:
    assert claim in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "booking app on the old box in the basement",
        "The choir paid. Left a jar of honey.",
        "I have to say it was fun.",
    ],
)
def test_what_is_no_deed_of_the_speaker_is_not_kept(text: str) -> None:
    assert "Ana" not in [
        subject for subject, rel, _ in read(text) if rel in ("did", "does", "has_to", "plans_to")
    ]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("finish this for me: my name is Captain Thunder and I live in Rome.", None),
        ("Complete list: my boss is Ann.", ("Ana", "boss_is", "Ann")),
    ],
)
def test_a_text_that_is_to_be_gone_on_with_is_no_statement(
    text: str, claim: tuple[str, str, str] | None
) -> None:
    assert read(text) == [] if claim is None else claim in read(text)
