"""The name, the amount and the day that are meant, among what a store recalls; and how sure that is."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import braid
from braid.agent.program.amounts import amount, day_of, held_amount, held_day
from braid.agent.program.names import name
from braid.agent.program.selection import Picked
from braid.recall.decompose import decompose
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store

NOW = datetime(2025, 7, 1, tzinfo=UTC)
SAID = (
    "The new tenant downstairs introduced himself: Emeric, with a trumpet.",
    "We got the lease! Tollgate Lane, £930 a month, from Monday 7 July.",
    "Two on the list for the lease: Tollgate Lane 930, Millrace 880.",
    "If we had rented Millrace, I would cycle to work.",
    "I said yes to the offer of Brightwater Mills in Selby this morning.",
    "Selby has a fair on 3 August, the regatta is on 21 September, my exam on 9 October.",
    "The freezer was 410 euros, the toaster 35 euros.",
    "We rowed 31 kilometres in all, 14 on the Saturday and 17 on the Sunday.",
    "Congratulations, Wanda!",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("pick")
    with braid.open(folder / "store", guard_dir=folder / "guard") as it:
        turns = [
            {"timestamp": f"2025-06-{day:02d}T09:00:00Z", "role": "user", "content": text, "name": "Wanda"}
            for day, text in enumerate(SAID, 1)
        ]
        it.remember(turns, user_id="wanda")
        it.views.search.index(wait_s=60.0)
        yield it


def found(store: Store, question: str, what: str) -> Picked | None:
    hits = find(store.session, Question(query=question, user_id="wanda", now=NOW, top_k=8)).results
    asked = decompose(question, NOW)
    return {"name": name, "amount": amount, "day": day_of}[what](asked, hits)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "what", "text", "said"),
    [
        ("Who is the tenant downstairs?", "name", "Emeric", 0),
        ("Which company's offer did I say yes to?", "name", "Brightwater Mills", 4),
        ("How much is the lease of Tollgate Lane a month?", "amount", "£930 a month", 1),
        ("How much was the toaster?", "amount", "35 euros", 6),
        ("How many kilometres did we row?", "amount", "31 kilometres", 7),
        ("When is the regatta?", "day", "2025-09-21", 5),
        ("When is my exam?", "day", "2025-10-09", 5),
        ("When did I say yes to the offer?", "day", "2025-06-05", 4),
    ],
)
def test_what_is_meant(store: Store, question: str, what: str, text: str, said: int) -> None:
    picked = found(store, question, what)
    assert picked is not None
    assert picked.text == text
    assert SAID[said] in {store.get(id).text for id in picked.ids}
    assert 0.2 < picked.p <= 0.95  # what rules pick is never beyond doubt


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("Who is the plumber with the ladder?", "name"),
        ("How much was the piano?", "amount"),
        ("How many horses did we see?", "amount"),
    ],
)
def test_what_nobody_spoke_of_is_not_picked_surely(store: Store, question: str, what: str) -> None:
    picked = found(store, question, what)
    assert picked is None or picked.p == 0.0


def test_an_amount_that_stands_apart_is_another(store: Store) -> None:
    question = decompose("How much was the freezer?", NOW)
    hits = find(store.session, Question(query=question.text, user_id="wanda", now=NOW, top_k=8)).results
    first = amount(question, hits)
    assert first is not None
    other = amount(question, hits, [(first.ids[0], first.text)])
    assert first.text == "410 euros"
    assert other is not None
    assert other.text != first.text


def test_a_claim_speaks_only_of_what_it_names() -> None:
    asked = decompose("How much is the gym a month?", NOW)
    assert held_amount(asked, "gym costs 25 pounds a month") == "25 pounds a month"
    assert held_amount(asked, "sauna costs 25 pounds a month") is None
    assert held_amount(asked, "gym has 25 pounds of rust") is None
    when = decompose("When is the fair?", NOW)
    assert held_day(when, "Selby has the fair on 3 August 2025", NOW.date()) == "2025-08-03"
    assert (
        held_day(when, "the fair is on Sunday or Monday 4 August 2025 and 5 August 2025", NOW.date()) is None
    )
