"""What a text must have so that it is told as a sum or as somebody, and not only shown."""

import pytest

from braid.agent.answer.question.reading import read
from braid.agent.answer.turn.bearing import Bearing, spelt_names


@pytest.mark.parametrize(
    ("question", "text", "plainly"),
    [
        ("How much is the dentist?", "The dentist is booked for 9:30 on Tuesday.", False),
        ("How much is the train?", "The train leaves at 14:05 from platform 7.", False),
        ("How much is the train?", "The train is 14.", True),
        ("How much does the database cost?", "The database is on gis-db-02.", False),
        ("How much was the mechanic?", "310 for the lot. ouch", True),
        ("How much was the room?", "Paid €80 for room 7.", True),
        ("Who is the new cook?", "Breakfast was burnt by the new cook.", False),
        ("Who is my husband?", "Tom is my husband.", True),
        ("Who teaches the yoga class?", "Hannah teaches the yoga class.", True),
        ("Who drives?", "Hm. Ruth will drive.", True),
        ("Who fixed the boiler?", "boilers dripping again, ive put the dish under it", False),
        ("How much does the port pay?", "They want a database: Postgres 16 on their server.", False),
        ("How much was the oven?", "We take the one from Cronin 9500.", True),
        ("What's the name of our lawyer?", "I was going for MIT but our lawyer wants Apache-2.0.", False),
        ("How many nodes do we run?", "It ate 150k messages.", False),
        ("How many nodes do we run?", "We run three nodes.", True),
        ("Who sings?", "The choir is at the Westbad on Tuesdays.", False),
        ("How much is the painter?", "He'd take eight hundred and fifty for the two rooms.", True),
        ("How much is the farm?", "They've got the small flat, seventy-four a night.", True),
        ("How much is the piano teacher?", "From now on it's one eighty for ten lessons.", True),
        ("How much did Simeon get?", "We paid Simeon 90.", True),
        ("How much is the dentist?", "The dentist is at four thirty.", False),
        ("How much is the church?", "The church holds two hundred people.", False),
        ("Who is baking the cake?", "Mum is baking the cake.", True),
        ("Who will paint the ceiling?", "Ned's dad will paint the ceiling.", True),
        ("Who told me of the move?", "Sofia told me of the move.", True),
        ("Who is my mum?", "Mum is ill.", False),
        ("Where is the spare key?", "The spare key is with Dilys.", True),
        ("How many tickets did I buy?", "Tickets are 55 each, I bought two.", True),
        ("How many tickets did I buy?", "Tickets are 55 each.", False),
        ("How many drafts are there?", "Client liked it. Draft 2.", False),
        ("How often is the retro?", "The retro is every second Friday.", True),
        ("How often is the retro?", "The retro is on Fridays.", False),
        ("What is the voucher code?", "The voucher code is LUNCH20.", True),
        ("How much is the voucher?", "The voucher is LUNCH20.", False),
        ("How long can we stay?", "Rent stays at 950.", False),
        ("How long can we stay?", "We can stay until the end of the year.", True),
        ("How long is the table?", "The table is 140 cm.", True),
        ("Who has a nut allergy?", "Jonas has a nut allergy.", True),
        ("Who was late?", "Breakfast was late.", False),
        ("How much is the rent?", "Rent stays at 950.", True),
        ("How much was the laptop?", "It is a 14 inch one.", False),
        ("What is the default branch called?", "The default branch is called trunk.", True),
        ("What is the default branch called?", "The default branch is protected.", False),
        ("Who looked at the house?", "The Kramers looked at it twice.", True),
        ("Who has a beagle?", "Our neighbours the Hendersons have a beagle.", True),
        ("Who approves changes?", "Nadja has to approve changes.", True),
        ("Who was at the concert?", "We heard the Fauré.", False),
    ],
)
def test_what_stands_plainly(question: str, text: str, plainly: bool) -> None:
    assert Bearing(read(question)).plainly(text) is plainly


@pytest.mark.parametrize(
    ("text", "is_sole"),
    [
        ("january was nine. NINE. sent home twice", True),
        ("the 120 we hung in august", True),
        ("We pay for 9, but 8 would do.", False),
        ("We talked of it on 3 May.", False),
        ("They are in room 7.", False),
    ],
)
def test_the_one_number_of_a_text_is_what_is_counted(text: str, is_sole: bool) -> None:
    assert Bearing(read("How many were there?")).is_sole(text) is is_sole


def test_a_name_that_is_known_is_one_in_lower_case_too() -> None:
    asked = read("Who has the bigger room?")
    said = "oh btw aisling has the bigger room"
    assert Bearing(asked, {"aisling", "maeve"}).plainly(said)
    assert not Bearing(asked).plainly(said)
    assert not Bearing(read("Has Aisling the bigger room?"), {"aisling"}).names(said)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My dentist is Dr. Kowalski.", ["Kowalski"]),
        ("Ask Prof. Mbeki or Mrs. Oyelaran, St. Ives knows them", ["Mbeki", "Oyelaran", "Ives"]),
        ("It rained. Kowalski came", []),  # what opens a sentence may be any word
        ("Kowalski came", []),
        ("I met Kowalski. Nice man", ["Kowalski"]),
    ],
)
def test_a_name_behind_a_title_opens_no_sentence(text: str, names: list[str]) -> None:
    found = [match[0] for match in spelt_names(text)]
    assert [name for name in found if name not in ("Prof", "St")] == names


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("how many times is a failed charge tried again", "number"),
        ("what does the 400 sell for", "money"),
        ("what do children pay", "money"),
        ("what is the blue key for", "reason"),
        ("what do I pay Netflix for", "reason"),
        ("what do I swallow when one starts?", "value"),
        ("where did Nele hurt herself when she fell", "place"),
        ("what dose was I on when I got so dizzy?", "number"),
        ("how low was my reading when I began", "number"),
        ("why is it me and not Huw who takes her", "reason"),
        ("what is the name of the driver who brought it", "person"),
        ("when did I say that I would go", "time"),
        ("where do we rent", "place"),
        ("where do I pay the bill", "place"),
    ],
)
def test_what_is_asked_for(question: str, wants: str) -> None:
    assert read(question).wants == wants


def test_an_age_and_how_long_something_takes_are_no_questions_of_before() -> None:
    assert read("how old is Josh").era == "any"
    assert read("how long does it take until the money is back").era == "any"
    assert read("which day was the visit moved to").era == "now"


def test_what_somebody_gets_for_a_birthday_is_no_day() -> None:
    assert read("what did we get Leila for her birthday").wants == "value"
    assert read("where's the birthday party").wants == "place"
    assert read("what's Leila's birthday").wants == "time"


@pytest.mark.parametrize(
    ("question", "text", "bears"),
    [
        ("how big is my flat?", "my flat is on Lindenweg 14, third floor", False),
        ("how big is my flat?", "my flat has 54 square metres", True),
        ("when was the dinner moved to?", "Fleur moved from room 12 to room 27", False),
        ("what day is the dinner?", "dinner is at 8.15", False),
        ("when is the dinner?", "dinner is at 8.15", True),
        ("where is Ilse moving to", "moving soon. Leiden, got the place", True),
        ("what do we use Redis for?", "Redis is used for sessions only", True),
        ("what is the shed for?", "the shed is green", False),
        ("when does my knee hurt?", "my knee hurts when I climb stairs", True),
    ],
)
def test_a_number_that_names_a_thing_says_neither_how_much_nor_when(
    question: str, text: str, bears: bool
) -> None:
    assert Bearing(read(question)).bears(text) is bears


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("what weight am I aiming for", False),
        ("what am I saving for", False),
        ("what is the red key for", True),
    ],
)
def test_what_a_verb_takes_with_for_is_no_reason(question: str, reason: bool) -> None:
    assert (read(question).wants == "reason") is reason
