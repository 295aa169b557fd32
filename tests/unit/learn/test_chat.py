"""What people type to an assistant: facts beside a question, several clauses, days that stand first, who is meant."""

from datetime import UTC, datetime

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.ledger.record.record import Claim
from braid.models.spacy_parser import shared

READER = ParseReader(shared())
WHEN = datetime(2026, 4, 20, 12, tzinfo=UTC)


def claims(text: str) -> tuple[Claim, ...]:
    return READER.read(Turn(text, speaker="Ana", when=WHEN), KnownClaims()).claims


def read(text: str) -> list[tuple[str, str, str, bool]]:
    """Return what a turn of Ana's states."""
    return [(one.subject, one.rel, one.object, one.polarity) for one in claims(text)]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I'm allergic to nuts, can I eat marzipan?", ("Ana", "allergic_to", "nuts", True)),
        ("Since I'm vegan, what can I use instead of cream?", ("Ana", "diet", "vegan", True)),
        ("I have a 2012 Octavia, what oil does it need?", ("Ana", "has", "a 2012 Octavia", True)),
        ("did you know I moved to Leeds?", ("Ana", "moved_to", "Leeds", True)),
        ("What should I cook, I'm vegan and I hate beans?", ("Ana", "diet", "vegan", True)),
    ],
)
def test_what_stands_beside_a_question_is_stated(text: str, claim: tuple[str, str, str, bool]) -> None:
    assert claim in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "My flight is at nine, isn't it?",
        "I'm on the old plan, is that right?",
        "I moved to Leeds, or did I?",
        "If I took the job, would I need a visa?",
        "Say I owned a boat, would I need insurance?",
        "I could sell my car, would that help?",
    ],
)
def test_what_a_question_asks_to_have_confirmed_is_not(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I drive a 2012 Skoda Octavia, diesel, 180k on the clock.",
            [("Ana", "drives", "2012 Skoda Octavia", True)],
        ),
        ("Sounds like you and the kids had a blast.", []),
    ],
)
def test_each_clause_has_its_own_subject_and_object(
    text: str, expected: list[tuple[str, str, str, bool]]
) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("Yesterday I bought a bike.", "2026-04-19"),
        ("In March I moved to Leeds.", "2026-03-01"),
        ("Last week, we painted the hall.", "2026-04-13"),
        ("Next month we're going to repaint the kitchen.", "2026-05-01"),
        ("Since 2019 I've worked at Airbus.", "2019-01-01"),
        ("And it's Lord's, 3 July, Leroy got the tickets.", None),
    ],
)
def test_a_time_before_the_subject_is_the_clauses_own(text: str, since: str | None) -> None:
    found = claims(text)[-1].valid_from
    assert (None if found is None else found.date().isoformat()) == since


def test_what_will_be_next_year_is_a_plan() -> None:
    assert read("Next year I'm only growing kale.") == [("Ana", "plans_to", "grow kale", True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mind that Leo eats his greens before he gets pudding.", []),
        ("If it's dry we paint the fence, otherwise we start on the loft.", []),
        ("The tomatoes have blight again.", []),
        ("We tried to fix it.", []),
        ("now im going with his mum haha", [("Ana", "does", "going with his mum", True)]),
        ("I never work on Fridays.", [("Ana", "does", "work on Fridays", False)]),
        ("I live on my own.", [("Ana", "does", "live on their own", True)]),
        ("My surgery isn't in May.", [("Ana's surgery", "is", "in May", False)]),
        ("I have time if it rains.", []),
        ("I tried to quit sugar.", [("Ana", "did", "tried to quit sugar", True)]),
        (
            "My brother's fiancée is Brazilian, her name's Luana.",
            [("Ana's brother's fiancée", "nationality", "Brazilian", True)],
        ),
        (
            "I work as a night nurse at St Jude's.",
            [("Ana", "works_as", "night nurse", True), ("Ana", "works_at", "St Jude's", True)],
        ),
        (
            "I'm a plumber from Gdynia.",
            [("Ana", "works_as", "plumber", True), ("Ana", "comes_from", "Gdynia", True)],
        ),
    ],
)
def test_it_is_read_as_it_was_meant(text: str, expected: list[tuple[str, str, str, bool]]) -> None:
    assert read(text) == expected


def test_it_means_the_thing_right_before_it() -> None:
    laptop = read("My laptop is a ThinkPad T14 with 16 GB of RAM and it runs Fedora.")
    assert ("Ana's laptop", "does", "runs Fedora", True) in laptop
    surgery = read("My surgery isn't in May, it's in June.")
    assert ("Ana's surgery", "is", "in June", True) in surgery
    assert len(read("My brother is a vet and it rains a lot.")) == 1


def test_an_apology_corrects_nothing_and_a_hedge_ends_at_but() -> None:
    assert all(one.source_type != "corrected" for one in claims("Sorry I've been quiet, it's been mad here."))
    left, heard = claims("Apparently Callum got the sack last week, but I only heard it from Jo.")
    assert (left.hedge, heard.hedge) == ("Apparently", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My mum's birthday is 3 March.", [("Ana's mum", "birthday", "3 March", True)]),
        ("My dog's name is Rufus.", [("Ana", "pet", "Rufus", True), ("Rufus", "is_a", "dog", True)]),
        ("The kids start school on 4 September.", [("kids", "does", "start school on 4 September", True)]),
        ("The meeting moved to Thursday.", [("meeting", "did", "moved to Thursday", True)]),
        ("Dad's 70th is on Sunday.", [("Dad's 70th", "is_on", "2026-04-26", True)]),
        ("We're a team of six.", []),
        ("So the name is decided.", [("name", "is", "decided", True)]),
    ],
)
def test_what_is_owned_or_dated_keeps_its_owner_and_its_day(
    text: str, expected: list[tuple[str, str, str, bool]]
) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I hardly ever eat meat.", []),
        ("We rarely cook fish.", []),
        ("Ed is convinced the neighbours stole his bins.", []),
        ("Sam is now married to a man from Leeds.", ["married"]),
        ("We're keeping the old boiler in case we need it for parts.", ["keeping the old boiler"]),
        ("So we went with NATS, three nodes, JetStream on, and retention set to seven days.", ["NATS"]),
        ("My blood pressure was 142 over 91 yesterday.", ["142 over 91 yesterday"]),
        ("I don't smoke.", ["smoke"]),
    ],
)
def test_what_is_rare_feared_or_meant_as_a_joke_is_no_fact(text: str, expected: list[str]) -> None:
    assert [one.object for one in claims(text)] == expected


def test_an_age_to_come_holds_from_its_day() -> None:
    (turns,) = claims("Grandad turns 90 on Sunday.")
    assert (turns.valid_from, turns.valid_to) == (datetime(2026, 4, 26, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oh sure, I adore being on hold.", []),
        ("Yeah because I'm made of money, obviously.", []),
        ("Haha I'm totally fluent in Dutch now.", []),
        ("My landlord thinks I've got a cat.", []),
        ("Say you're a dentist and I've come in with toothache.", []),
        ("I'm dying for a coffee.", []),
        ("I'm over the moon.", []),
        ("Uncle Falk can't, he's ill.", [("Uncle Falk", "is", "ill", True)]),
        ("The best film ever for me is Paddington 2.", []),
        ("wasn't the cone, the bracket was loose.", [("bracket", "was", "loose", True)]),
        ("My diet's going great, I've had one cake.", [("Ana", "did", "had one cake", True)]),
    ],
)
def test_what_is_not_meant_is_not_read(text: str, expected: list[tuple[str, str, str, bool]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Allergies: peanuts, shellfish",
            [("Ana", "allergic_to", "peanuts", True), ("Ana", "allergic_to", "shellfish", True)],
        ),
        (
            "Name: Oksana Bilyk, role: site manager",
            [("Ana", "name_is", "Oksana Bilyk", True), ("Ana", "works_as", "site manager", True)],
        ),
        ("Owner: Farid.", [("owner", "is", "Farid", True)]),
        ("Allergies: none", []),
        ("Bought a bike, second hand. Name: Gherkin.", [("Ana", "bought", "bike", True)]),
        ("My sister's details. Allergies: cats.", []),
        ("Job: I work as a welder.", [("Ana", "works_as", "welder", True)]),
    ],
)
def test_labels_with_their_values(text: str, expected: list[tuple[str, str, str, bool]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Lotte no longer works for us, she left in January.", ("Lotte", "did", "left", True)),
        ("I report to Mireille, she's based in Nantes.", ("Mireille", "lives_in", "Nantes", True)),
        ("The nursery takes another 780, Bea gets 210.", ("nursery", "does", "takes another 780", True)),
        ("My aunt Rosa is staying with us.", ("Rosa", "does", "staying with us", True)),
        ("We need 30 chairs, sorry, 40.", ("Ana", "needs", "40 chairs", True)),
        ("I'd rather have tea than coffee.", ("Ana", "prefers", "tea", True)),
        (
            "I used half of it to pay off the card.",
            ("Ana", "did", "used half of it to pay off the card", True),
        ),
        ("Not a fan of surprises.", ("Ana", "likes", "surprises", False)),
        ("I'm left-handed.", ("Ana", "is", "left-handed", True)),
        ("I don't drink.", ("Ana", "does", "drink", False)),
        ("Emil has judo on Tuesdays.", ("Emil", "has", "judo on Tuesdays", True)),
    ],
)
def test_clauses_beside_others_are_read(text: str, claim: tuple[str, str, str, bool]) -> None:
    assert claim in read(text)


def test_a_day_in_a_relative_clause_is_not_that_of_the_deed() -> None:
    (deposit,) = claims("I've put down a deposit on a greenhouse that comes in October.")
    (bought, stopped) = claims("The blender I bought on 2 May stopped working.")[::-1]
    assert (deposit.valid_from, stopped.valid_from) == (None, None)
    assert bought.valid_from == datetime(2025, 5, 2, tzinfo=UTC)


def test_days_of_the_week_begin_nothing() -> None:
    (nights,) = claims("I work nights from Sunday to Wednesday.")
    assert nights.valid_from is None


@pytest.mark.parametrize(
    ("turns", "over"),
    [
        (("I go to the gym on Mondays.", "I've packed in the gym."), ("does", "go to the gym on Mondays")),
        (("I play the cello.", "I stopped playing the cello."), ("plays", "cello")),
        (("I do judo on Fridays.", "I gave up on judo."), ("hobby", "judo")),
        (("I'm vegetarian.", "I started eating chicken last week."), ("diet", "vegetarian")),
    ],
)
def test_plain_words_end_what_was_so(turns: tuple[str, str], over: tuple[str, str]) -> None:
    known = KnownClaims()
    first, second = (Turn(text, speaker="Ana", when=WHEN, at=at) for at, text in enumerate(turns))
    known.add(READER.read(first, known).notes)
    found = {(one.rel, one.object) for one in READER.read(second, known).claims if not one.polarity}
    assert over in found


def test_what_is_packed_into_a_thing_ends_nothing() -> None:
    known = KnownClaims()
    known.add(READER.read(Turn("I drive to the van on Mondays.", speaker="Ana"), known).notes)
    found = READER.read(Turn("I packed the chairs in the van.", speaker="Ana", at=1), known).claims
    assert all(one.polarity for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "Either Paula or Gus has the spare key.",
        "Rhian reckons Callum works at Lidl.",
        "I rang her. Dagny's cousin had all three, or so she claims.",
        "One more call about solar panels and I'm moving to a cave.",
    ],
)
def test_what_is_open_doubted_or_threatened_is_no_fact(text: str) -> None:
    found = {(claim.subject, claim.rel) for claim in claims(text)}
    assert not found & {
        ("Gus", "has"),
        ("Callum", "works_at"),
        ("Dagny's cousin", "did"),
        ("Ana", "moving_to"),
    }
    assert all(claim.subject == "Ana" and claim.rel == "did" for claim in claims(text))


def test_no_longer_denies_its_own_end_of_a_clause_only() -> None:
    (closing,) = claims("From Monday we close at 5 and no longer at 6.")
    assert (closing.object, closing.polarity) == ("close at 5", True)


def test_a_plan_that_starts_some_day_holds_from_then_on() -> None:
    (plan,) = claims("We're going to stay open Mondays and close Tuesdays instead, starting next week.")
    assert plan.valid_from is not None
    assert plan.valid_to is None
