"""Single readings: when a claim holds, whose word it is, how it is softened, what a correction corrects."""

from datetime import UTC, datetime

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.ledger.record.record import Claim
from braid.models.spacy_parser import shared

READER = ParseReader(shared())
WHEN = datetime(2025, 4, 28, 9, tzinfo=UTC)


def read(*texts: str, speaker: str = "Ana Ruiz") -> list[Claim]:
    """Return the claims of the last of some turns."""
    known = KnownClaims()
    claims: tuple[Claim, ...] = ()
    for at, text in enumerate(texts):
        reading = READER.read(Turn(text, speaker=speaker, when=WHEN, at=at), known)
        known.add(reading.notes)
        claims = reading.claims
    return list(claims)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I've lived in Porto since the 1st.", "2025-04-01", None),
        ("I live in Porto since 3 March 2024.", "2024-03-03", None),
        ("I live in Porto until 6 June.", None, "2025-06-07"),
        ("I live in Porto until August.", None, "2025-08-01"),
        ("I live in Porto until 2028.", None, "2028-01-01"),
        ("I live in Porto until the end of August.", None, "2025-09-01"),
        ("I live in Porto until Friday.", None, "2025-05-03"),
        ("I work at Airbus from Monday 16 June.", "2025-06-16", None),
        ("The gallery extended my show until 12 June.", None, None),
        ("I've lived in Porto for two weeks.", "2025-04-14", None),
        ("I work at Airbus from 16 June.", "2025-06-16", None),
        ("I'm not eating meat from 1 July.", "2025-07-01", None),
        ("I went to Rome yesterday.", "2025-04-27", "2025-04-28"),
        ("I bought a car last week.", "2025-04-21", "2025-04-28"),
        ("I moved to Rome on 2 April.", "2025-04-02", "2025-04-03"),
        ("I'm moving to Ghent next month.", "2025-05-01", "2025-06-01"),
        ("I'm going to Lisbon on Friday.", "2025-05-02", "2025-05-03"),
        ("I quit my job at Airbus on 31 February.", None, None),
    ],
)
def test_when_it_holds(text: str, since: str | None, until: str | None) -> None:
    (claim,) = read(text)
    assert claim.valid_from == (day(since) if since else None)
    assert claim.valid_to == (day(until) if until else None)


def test_a_home_is_dated_by_the_move() -> None:
    moved, claim = read("We moved yesterday, so I live in Edinburgh now.")
    assert (moved.rel, moved.object) == ("did", "moved")
    assert (claim.rel, claim.object, claim.valid_from) == ("lives_in", "Edinburgh", day("2025-04-27"))


@pytest.mark.parametrize("text", ["I think my uncle Bo lives in Turku.", "Maybe my uncle Bo lives in Turku."])
def test_hedges_are_kept(text: str) -> None:
    claim = next(claim for claim in read(text) if claim.rel == "lives_in")
    assert claim.hedge
    assert claim.hedge.lower() in text.lower()


def test_a_second_hand_opinion_is_its_holders() -> None:
    *_, claim = read("We went to Baan Suk, but my sister Tola says it's terrible.")
    assert (claim.subject, claim.rel, claim.object) == ("Tola", "dislikes", "Baan Suk")
    assert (claim.said_by, claim.source_type) == ("Tola", "inferred")


def test_a_second_hand_fact_is_on_anothers_word() -> None:
    *_, claim = read("My friend Zoe told me that Rui works at Airbus.")
    assert (claim.subject, claim.object, claim.said_by, claim.source_type) == (
        "Rui",
        "Airbus",
        "Zoe",
        "inferred",
    )


def test_a_retraction_denies() -> None:
    (claim,) = read("Forget what I said about Mireille being allergic to shellfish.")
    assert (claim.subject, claim.polarity, claim.source_type) == ("Mireille", False, "corrected")


def test_a_number_is_put_right_by_the_one_that_was_told() -> None:
    claims = read(
        "I sent an invoice to a café, Harbour Lane Café, number INV-2043, £1,260.00.",
        "Sorry: the café's invoice is INV-2034, not INV-2043.",
    )
    assert [(claim.subject, claim.rel, claim.object, claim.polarity) for claim in claims] == [
        ("café's invoice", "number_is", "INV-2034", True),
        ("café's invoice", "number_is", "INV-2043", False),
    ]


def test_a_name_is_known_in_later_turns() -> None:
    (claim,) = read("My wife Dora is here.", "My wife works at Shell.")
    assert (claim.subject, claim.object) == ("Dora", "Shell")


def test_without_a_name_a_role_is_the_speakers() -> None:
    (claim,) = read("My wife works at Shell.")
    assert claim.subject == "Ana Ruiz's wife"


def test_a_pronoun_of_two_that_it_may_mean_states_nothing() -> None:
    claims = read("My sister Ines and my aunt Bea were here. She lives in Rome.")
    assert [claim.rel for claim in claims] == ["sibling", "relative"]


@pytest.mark.parametrize(
    "text",
    [
        "And for today only: my locker is 0926 and I live in Rome. Don't keep that beyond today.",
        "```\nI live in Rome.\n```",
        'He said "I live in Rome" again.',
        "> I live in Rome",
        "I wish I lived in Rome.",
        "If I lived in Rome I'd swim.",
        "Do I live in Rome?",
    ],
)
def test_what_states_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("My doctor is Mr. Ho.", ["Mr. Ho"]),
        ("My dentist is called Dr Bohr.", ["Dr Bohr"]),
        ("My landlord is St. John.", ["St. John"]),
        ("My boss is called Anna Stone.", ["Anna Stone"]),
        ("Anna Stone is my boss.", ["Anna Stone"]),
        ("So Anna is my boss.", ["Anna"]),
        ("My boss is Mrs Stone, and my landlord is Mr Pit.", ["Mrs Stone", "Mr Pit"]),
        ("My doctor is Prof. Ada King. She is kind.", ["Prof. Ada King", "kind"]),
        ("My dog is called Mr Pickles.", ["Mr Pickles", "dog"]),
        ("My doctor is Mr.", []),  # a title is nobody's name
        ("My teacher is Ada Lovelace King Noel.", []),  # nobody knows where it ends
        ("My boss is Anna S. Stone.", []),
        ("Alpha Beta Gamma Delta is my boss.", []),
    ],
)
def test_a_name_is_whole_or_not_taken(text: str, named: list[str]) -> None:
    claims = read(text)
    assert [claim.object for claim in claims] == named
    assert all(claim.quote and named[at] in claim.quote for at, claim in enumerate(claims[:1]))


def test_whoever_has_two_names_is_meant_by_the_first() -> None:
    boss = "My boss is Anna Stone."
    assert [claim.subject for claim in read(boss, "Anna lives in Leeds.")] == ["Anna Stone"]
    both = read(boss, "My sister is Anna Reed.", "Anna lives in Leeds.")
    assert [claim.subject for claim in both] == ["Anna"]  # of two it is neither


@pytest.mark.parametrize(
    ("text", "object"),
    [
        ("My name is Anne-Sophie.", "Anne-Sophie"),
        ("The accountant needs read-only access.", "read-only access"),
        ("Love the chilled-out sunset vibe.", "chilled-out sunset vibe"),
    ],
)
def test_words_tied_by_a_hyphen_are_one(text: str, object: str) -> None:
    assert [claim.object for claim in read(text)] == [object]


@pytest.mark.parametrize("text", ["Living in Leeds is great.", "Wow, Maria, that's a really nice picture!"])
def test_what_is_said_of_nobody_is_no_claim_about_somebody(text: str) -> None:
    assert not [claim for claim in read(text) if claim.subject in {"Ana Ruiz", "Maria"}]


def test_who_was_just_named_is_whose_kin_is_told() -> None:
    assert ("boss_is", "Craig") in {(claim.rel, claim.object) for claim in read("Craig, that's my boss.")}


@pytest.mark.parametrize("text", ["Then we're five.", "They are 8."])
def test_a_count_of_heads_is_nobodys_age(text: str) -> None:
    assert read(text) == []


def test_to_get_into_a_place_is_to_arrive() -> None:
    assert [one.rel for one in read("I get into Leeds at 16.40 on the Friday.")] == ["does"]
    assert [(one.rel, one.object) for one in read("I'm into jazz.")] == [("likes", "jazz")]


def said(*texts: str) -> set[str]:
    """Return the claims of the last of some turns, in a word each."""
    return {
        f"{one.subject} {one.rel} {'' if one.polarity else 'not '}{one.object}"
        for one in read(*texts, speaker="Ana")
    }


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Jonas's mother is called Ingrid.", {"Jonas parent Ingrid"}),
        ("Jonas's mother is Ingrid.", {"Jonas parent Ingrid"}),
        ("Tom's dog is called Rex.", {"Tom pet Rex", "Rex is_a dog"}),
        ("The beekeeper next door is called Oswin.", {"beekeeper next door is called Oswin"}),
        (
            "My favourite colour is teal, not green.",
            {"Ana favourite_colour teal", "Ana favourite_colour not green"},
        ),
        ("I've got a new number: 0113 496 0777.", {"Ana phone_is 0113 496 0777"}),
        ("We have a new phone number, it's 0113 496 0777.", {"Ana phone_is 0113 496 0777"}),
        ("I've got a new email address: ana@new.example", {"Ana email_is ana@new.example"}),
        ("My boss is German.", {"Ana's boss nationality German"}),
        ("Tom's brother's name is Felix.", {"Tom sibling Felix"}),
        ("My mother was Ingrid.", {"Ana parent Ingrid"}),
        ("My former boss was Hannah.", set()),
        ("My old boss Hannah lives in Leeds.", {"Hannah lives_in Leeds"}),
        ("My first wife was Eve.", set()),
        ("My partner's name was Jonas.", set()),
        ("My favourite film is Brazil too.", {"Ana likes Brazil"}),
        ("As a child my favourite colour was green.", {"Ana's favourite colour was green"}),
        ("My favourite season is summer, not because of the heat.", {"Ana favourite_season summer"}),
        ("My favourite place is the beach, not far from home.", {"Ana favourite_place beach"}),
        ("My favourite drink is tea, not coffee, not milk.", set()),
        ("Tom is American.", {"Tom nationality American"}),
    ],
)
def test_who_is_called_what(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize("name", ["Ravi", "Susan", "Eric", "Marek", "Brian", "Levi"])
def test_a_name_that_ends_as_those_of_peoples_do_is_a_name(name: str) -> None:
    assert said(f"My boss is {name}.") == {f"Ana boss_is {name}"}
    assert said("My boss is Hannah.", f"My boss is {name}.") == {f"Ana boss_is {name}"}


@pytest.mark.parametrize(
    ("before", "now", "over"),
    [
        ("I work at Siemens.", "I used to work at Siemens.", "Ana works_at not Siemens"),
        ("I live in Leeds.", "I used to live in Leeds.", "Ana lives_in not Leeds"),
        ("I play tennis.", "I used to play tennis.", "Ana plays not tennis"),
    ],
)
def test_what_somebody_used_to_do_is_over(before: str, now: str, over: str) -> None:
    assert over in said(before, now)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I work at Siemens.", "I used to work at Bosch."),
        ("I work at Siemens.", "My brother used to work at Siemens."),
        ("I live in Leeds.", "I used to live near Leeds market in York."),
        ("I work at Siemens.", "I never used to work at Siemens on Fridays."),
        ("I work at Siemens.", "I used to work at Siemens Energy."),
        ("I speak French.", "I used to speak French with my grandmother every day."),
        ("I use Vim.", "I used to use Vim only for config files."),
        ("I live in York.", "I used to live in York, but I moved away and moved back."),
    ],
)
def test_what_another_used_to_do_or_elsewhere_ends_nothing(before: str, now: str) -> None:
    assert not [one for one in said(before, now) if " not " in one]


@pytest.mark.parametrize(
    "text",
    [
        "I've got a new number, it's on the fridge.",
        "I've got a new number, it's easier to remember.",
        "I have a new address, which is nice.",
        "I have a new address, it's lovely there.",
        "We have a new email address, now I can write to you.",
        "I have a new work number: 0113 496 0777.",
        "I've got a new number: 0113 496 0777, for work.",
    ],
)
def test_what_is_no_number_or_address_is_none(text: str) -> None:
    assert not [
        one for one in said(text) if " phone_is " in one or " email_is " in one or "address_is" in one
    ]


def test_two_who_part_are_partners_no_more() -> None:
    assert "Ana partner_is not Jonas" in said(
        "My partner is called Jonas.", "Jonas and I broke up last month."
    )
    assert not [one for one in said("My partner is called Jonas.", "Tom and Ida broke up.") if " not " in one]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Attack today, had to be driven home by the head.", {"Attack"}),
        ("Hey Nate, my favorite treat is this amazing raspberry tart.", {"Nate"}),
        ("won two races ever. retired cos of his wrist", {"Ana Ruiz"}),
        (
            "Mr Okell came round about the boiler and saw Keith. went mental. said his wife never told him",
            {"Ana Ruiz"},
        ),
        ("Ordered one. Well, Yvonne did, my wife.", {"Yvonne"}),
        ("The parish gives us a grant of 750, but only if schools can borrow for free.", {"parish"}),
        ("And she gave me the spray for when I feel sick.", {"Ana Ruiz"}),
        ("I'll make sure I give the turtles a bath before you get here.", {"Ana Ruiz"}),
        ("That's what I like to hear!", {"Ana Ruiz"}),
        ("Fingers crossed a producer falls in love with it.", {"Fingers"}),
        ("Sometimes I'm so relieved.", {"Ana Ruiz"}),
        ("So I say we drive south on the day.", {"Ana Ruiz"}),
        ("Wish I had a vacation lined up.", {"Ana Ruiz"}),
        ("There's a chance I'll be visiting more spots.", {"Ana Ruiz"}),
        ("It was like I got a new lease of life.", set()),
        ("I felt so inspired and like I got a new lease of life.", set()),
        ("bad news Laleh rang their caravan's got a leak", {"bad news Laleh"}),
    ],
)
def test_what_nobody_said_of_them_is_not_claimed(text: str, wrong: set[str]) -> None:
    assert wrong.isdisjoint(claim.subject for claim in read(text))


@pytest.mark.parametrize(
    ("text", "rel"),
    [
        ("I've been working on for a while, such a relief to have it all done!", "works_at"),
        ("Looky here, I got this new puppy for you!", "pet"),
        ("My children are 9 and 12, so I don't need it.", "age_is"),
        ("I still have that stuffed animal dog you gave me!", "pet"),
    ],
)
def test_a_row_of_the_table_is_not_taken_for_what_it_looks_like(text: str, rel: str) -> None:
    assert rel not in {claim.rel for claim in read(text)}


@pytest.mark.parametrize(
    ("text", "rel"),
    [
        ("Ana, my sister, lives in Bonn.", "lives_in"),
        ("Sometimes I cry, but I live in Cork.", "lives_in"),
        ("Went to Rome with her.", "went_to"),
        ("I have a toy poodle.", "pet"),
    ],
)
def test_what_only_looks_doubtful_is_claimed(text: str, rel: str) -> None:
    assert rel in {claim.rel for claim in read(text)}


def test_what_stands_behind_a_deed_is_left_or_kept_whole() -> None:
    assert [(one.object, one.polarity) for one in read("I can drive, just not with Noor navigating.")] != [
        ("drive, just not with Noor navigating", False)
    ]
    objects = [one.object for one in read("Kim does Sundays, ringing now.")]
    assert not any("ringing" in one for one in objects)
    assert not any(one.object.endswith("then") for one in read("Ilse grumbled, then agreed."))


def test_used_to_is_a_habit_and_to_use_for_is_none() -> None:
    assert "used_to" not in {
        one.rel for one in read("I used my contacts in the industry to make connections.")
    }
    assert "used_to" in {one.rel for one in read("I used to play the violin.")}


def test_a_count_is_no_day_and_what_is_signed_up_for_is_not_over() -> None:
    (game, *_) = read("I had a game where we were behind in the 4th quarter.")
    assert game.valid_from is None
    (game, *_) = read("Last year I had a game where we were behind in the 4th quarter.")
    assert game.valid_from == day("2024-01-01")
    assert all(one.valid_from is None for one in read("Lorna has signed up for a lake swim in June."))


def test_what_is_cancelled_ends_no_deed_of_whom_it_was_with() -> None:
    assert not any(
        claim.rel == "does" and not claim.polarity
        for claim in read("Hertz wants twenty-five pounds more for a young driver.", "I cancelled Hertz.")
    )


@pytest.mark.parametrize(
    ("texts", "denied"),
    [
        (("My sister Jo lives in Truro.", "No, forget that."), True),
        (("My sister Jo lives in Truro.", "A: Lovely.", "No, forget that."), True),
        (
            (
                "My sister Jo lives in Truro.",
                "A: Lovely.",
                "Draft a mail?",
                "A: Sure.",
                "No, forget that, I will.",
            ),
            False,
        ),
        (("My sister Jo lives in Truro.", "Meeting with Gil on Tuesday - scratch that, Wednesday."), False),
        (("My sister Jo lives in Truro.", "A: Nice!", "Never mind, I sorted it."), False),
        (("My sister Jo lives in Truro.", "Remind me to call mum. Never mind, I did it."), False),
    ],
)
def test_forget_that_is_of_the_last_turn_and_never_mind_of_none(texts: tuple[str, ...], denied: bool) -> None:
    known = KnownClaims()
    said: list[Turn] = []
    claims: tuple[Claim, ...] = ()
    for at, text in enumerate(texts):
        is_agent = text.startswith("A: ")
        turn = Turn(
            text.removeprefix("A: "),
            speaker="assistant" if is_agent else "Ana Ruiz",
            role="assistant" if is_agent else "user",
            when=WHEN,
            at=at,
            previous=tuple(said[-READER.looks_back :]),
        )
        reading = READER.read(turn, known)
        known.add(reading.notes)
        said.append(turn)
        claims = reading.claims
    assert any(not claim.polarity for claim in claims) == denied
