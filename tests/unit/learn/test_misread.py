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
        "5.8.3 out, 32 keys instead, fits rev C.",
        "Two stops not one, since there were roadworks.",
        "Um, twenty-fifth, went like clockwork except the, the wardrobe.",
        "3,960, or I go to the arbitration office.",
        "Dr Vasquez-Holm: sumatriptan up to 100.",
        "left hand, ring one.",
        "Left knee blue.",
        "which I find cute",
        "Like being transported to a different world.",
        "we're three people",
        "3.0.2 checks the board rev first",
        "the teacher Kev says do the next level in september",
        "she wants a walk in shower not a bath I asked Delma",
        "She would.",
        "All that hard work and dedication will definitely shine through and get noticed.",
        "I'll just need the dairy-free recipe!",
        "Stopped after 18 minutes this time.",
        "Reached 1230 at a quarter past nine, no error.",
        "work said yes to August",
        "Visual reminders can really help in staying motivated.",
        "Been ages since we last talked.",
        "Love to hear more about it.",
        "Mechanic Mr Abels comes on Thursday, sorry, on Wednesday.",
        "green. like a swimming pool",
        "So either we go to the Sunday, or somewhere else.",
        "Then we add a field.",
        "Mum's was Hull, dad's is 22 November",
        "Love is truly magical and brings so much joy.",
        "Mr Abara pleased, step-downs only three times a week now.",
        'I bought a book called "ignore what was said before" yesterday.',
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
        ("had a dream we hit a marching band.", "Ines", "had a dream they hit a marching band"),
        ("Two of the four wires broke.", "Two of the four wires", "broke"),
        ("Gaming has been my focus - practicing a lot.", "Gaming", "Ines's focus - practicing a lot"),
        ("My face gets puffy when I'm around cats.", "Ines's face", "gets puffy when Ines is around cats"),
        ("I'm hoping to attend a book conference.", "Ines", "attend a book conference"),
        ("dad signed me up for a local league", "Ines's dad", "signed Ines up for a local league"),
        ("Then life's been kind to Wenzel.", "life", "kind to Wenzel"),
        ("since the depot is bigger I think we make 260.", "Ines", "make 260"),
        ("we've got thirty-two who said yes.", "Ines", "thirty-two who said yes"),
        ("Wenzel is an electrician, with papers.", "Wenzel", "electrician"),
        ("my knee's no good for carrying", "Ines's knee", "no good for carrying"),
        ("We bank with Lloyds, or rather I do.", "Ines", "bank with Lloyds"),
        ("Stomach is a rock, sorry for the detail.", "Stomach", "rock, sorry for the detail"),
        ("retention is 90 days from today", "retention", "90 days from today"),
        ("I even went out and got a physical copy!", "Ines", "got a physical copy"),
        ("I'm 91 lads", "Ines", "91"),
        ("Patch has mad dreams, I was married to a giraffe.", "Patch", "mad dreams"),
        ("The last two are the one in the car and the one after supper.", "last two", "one in the car"),
        ("Acting was my first passion.", "Acting", "Ines's first passion"),
        ("Magda from ops wants no changes on 3 july", "Magda from ops", "wants no changes on 3 july"),
        ('I\'m reading "Dune" by Frank Herbert.', "Ines", 'reading "Dune" by Frank Herbert'),
        ("We watched “The Ring” with my brother.", "Ines", "watched “The Ring” with their brother"),
        (
            'I\'m excited to watch this show called "Lost".',
            "Ines",
            'excited to watch this show called "Lost"',
        ),
    ],
)
def test_what_stands_beside_it_is_read(text: str, subject: str, only: str) -> None:
    assert [what for who, _, what in read(text) if who == subject] == [only]


def test_the_day_of_what_was_put_is_not_the_day_of_the_putting() -> None:
    turn = Turn("Sister Oyelaran has put me on the ward rota for 5 July.", speaker="Ines", when=WHEN)
    (claim,) = ParseReader(shared()).read(turn, KnownClaims()).claims
    assert (claim.valid_from, claim.valid_to) == (None, None)


def test_what_was_picked_up_is_no_decision() -> None:
    assert ("Ines", "did", "picked up new skills") in read("Also picked up new skills.")
    assert ("Ines", "decided_on", "Postgres") in read("We picked Postgres.")


def test_a_title_is_quoted_as_it_stands() -> None:
    text = 'I went to see  "The  Wheel of Time" with Bo.'
    turn = Turn(text, speaker="Ines", when=WHEN)
    for claim in ParseReader(shared()).read(turn, KnownClaims()).claims:
        assert claim.quote is not None
        assert claim.at is not None
        assert text[claim.at : claim.at + len(claim.quote)] == claim.quote


def test_what_softens_a_sentence_from_behind_is_kept() -> None:
    turn = Turn("Piotr is 23 and laughs at my jokes, out of fear I think", speaker="Ines", when=WHEN)
    claims = ParseReader(shared()).read(turn, KnownClaims()).claims
    assert [(claim.object, claim.hedge) for claim in claims] == [
        ("23", None),
        ("laughs at Ines's jokes, out of fear", "I think"),
    ]


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("The warranty starts anew from 2 June.", "2026-06-02"),  # said on the 7th
        ("I work at Airbus from 16 June.", "2026-06-16"),
        ("I work at Airbus from the 16th.", "2026-06-16"),
        ("I'm out of town from the 10th to the 17th of July.", None),
    ],
)
def test_a_day_from_which_it_holds_is_the_near_one(text: str, since: str | None) -> None:
    turn = Turn(text, speaker="Ines", when=WHEN)
    (claim,) = ParseReader(shared()).read(turn, KnownClaims()).claims
    assert (claim.valid_from and claim.valid_from.date().isoformat()) == since


def test_a_wish_is_denied_with_what_governs_it() -> None:
    turn = Turn("I don't want to be stuck on a boat.", speaker="Ines", when=WHEN)
    assert all(not claim.polarity for claim in ParseReader(shared()).read(turn, KnownClaims()).claims)


def test_how_long_something_lasted_is_not_since_when_it_is() -> None:
    turn = Turn(
        "We were teammates for four years. I have lived in Hull for four years.", speaker="Ines", when=WHEN
    )
    claims = ParseReader(shared()).read(turn, KnownClaims()).claims
    assert [claim.valid_from and claim.valid_from.year for claim in claims] == [None, 2022]


@pytest.mark.parametrize(
    "text",
    [
        "I replayed the night of the 7th against staging.",
        "I wrote a scene that was shown yesterday.",
        "The gallery extended my show until 12 June.",
    ],
)
def test_the_day_of_a_thing_is_not_the_day_of_the_deed(text: str) -> None:
    turn = Turn(text, speaker="Ines", when=WHEN)
    claims = ParseReader(shared()).read(turn, KnownClaims()).claims
    assert claims
    assert all(claim.valid_from is None for claim in claims if claim.rel == "did")


@pytest.mark.parametrize("speaker", ["", " ", "Ines Carvalho"])
def test_a_title_of_any_speaker_is_kept(speaker: str) -> None:
    turn = Turn('I\'m reading "Dune" by Frank Herbert.', speaker=speaker, when=WHEN)
    said = {claim.object for claim in ParseReader(shared()).read(turn, KnownClaims()).claims}
    assert said <= {'reading "Dune" by Frank Herbert'}
