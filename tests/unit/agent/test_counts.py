"""Of several amounts in a sentence the one that stands with what is asked for is told."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.agent.answer.turn.counts import counted


@pytest.mark.parametrize(
    ("question", "sentence", "amount"),
    [
        ("how much is the deposit each", "130 each for the rest, 50 each for the deposit", "50"),
        (
            "how much does each of us pay for electricity",
            "electric bill came: 186 for the quarter, that's 62 each",
            "62",
        ),
        ("how much are the tolls", "fuel is 90 in all, tolls 24", "24"),
        ("how much is the garage?", "rent is 780 warm, plus 45 for the garage", "45"),
        ("how much did the trip cost", "trip to Ghent, 2 nights, 310 euros", "310 euros"),
        ("how much is the rent", "rent is due on the 3rd, 2,300 a month", "2,300"),
        ("how much is a ticket", "a ticket is 12 pounds no wait 14 pounds", "14 pounds"),
        ("how much were the tiles", "the tiles were 300, no, 320", "320"),
        ("how much is the club", "the club is thirty two a day no thirty four they put it up", "thirty four"),
        ("what's the rent", "1) rent is 980 from October", "980"),
        ("how many eggs", "six eggs no butter two spoons of sugar", "six eggs"),
        ("how much was the wood", "I had to buy wood, a hundred and forty", "a hundred and forty"),
        ("what did the hall cost", "for forty people it was 350", "350"),
        ("how much is the repair at Google", "Repair costs 140 at iFix, 210 at Google.", "210"),
        ("how much is the repair at iFix", "Repair costs 140 at iFix, 210 at Google.", "140"),
        ("how many tins do we need", "The paint is 38 a tin and we need three.", "three"),
        ("how many tickets did I buy", "Tickets for the concert are 55 each, I bought two.", "two"),
        ("how many hours a day does he work", "He works 6 hours a day.", "6 hours"),
        ("how much is a student ticket", "The museum tickets: adult 12, student 8.", "8"),
        ("how much does a sack cost", "flour from Dewaele, 25 kilo sacks, 31 euros each", "31 euros"),
        ("How many volunteers came?", "22 of the 30 volunteers came to the beach cleanup.", "22"),
        ("How many volunteers are there?", "22 of the 30 volunteers came.", "30 volunteers"),
        ("How many spaces in YAML?", "Use four spaces for indentation in Python and two in YAML.", "two"),
        ("How many people are coming?", "35 people said yes, six can't come.", "35 people"),
        (
            "How often does the blue bin go out?",
            "Bins go out on Mondays, the blue one every other week.",
            "every other week",
        ),
        ("How much was the compressor?", "Luca ordered a new one for 340.", "340"),
        ("How many did we get?", "We got one.", "one"),
        ("How many pupils does 9A have?", "Class 8B has 26 pupils, 9A has 24.", "24"),
        ("How many pupils are in 8B?", "Class 8B has 26 pupils, 9A has 24.", "26 pupils"),
        ("How often is judo?", "She has judo twice a week.", "twice a week"),
        ("How much do juniors pay?", "Membership is 30 a year, juniors pay half.", "half"),
    ],
)
def test_an_amount_is_told_by_its_label(question: str, sentence: str, amount: str) -> None:
    assert counted(question, sentence) == amount


def test_kids_are_children(tmp_path: Path) -> None:
    said = ("her party is on Saturday, eight kids", "ten kids now because of the twins")
    now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for days, text in enumerate(said):
            store.append(text, actor="user", user_id="u", occurred_at=now + timedelta(days=days))
        found = store.ask(
            "how many children are coming to the party", user_id="u", write=False, now=now + timedelta(days=9)
        )
    assert (found.rung, found.short) == ("said", "ten kids")
