"""Labelled sentences: what the reader must read by its table of relations, and what it must leave alone.

`sentences.jsonl` was written for this project. Its half `held` was written before the rules, and no rule was made for
it; `seen` is what the rules were made with. Both have floors.
"""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared
from braid.stance.readings import OWN_WORDS
from braid.tools.lab.claim_scores import Labelled, labelled, measured

HERE = Path(__file__).parent
TURNS = labelled((HERE / "sentences.jsonl").read_bytes().splitlines())
READER = ParseReader(shared())
OPEN = OWN_WORDS
"""Relations that say it in the speaker's own words: the labels, which are of the table, judge none of them."""
WHEN = datetime(2025, 3, 10, 12, tzinfo=UTC)


def half(name: str) -> list[Labelled]:
    return [turn for turn in TURNS if turn.half == name]


def test_there_are_enough_of_both_halves_and_many_state_nothing() -> None:
    counts = Counter(turn.half for turn in TURNS)
    assert counts["held"] >= 150
    assert counts["seen"] >= 150
    assert sum(not turn.claims for turn in TURNS) >= 100
    assert len({turn.text for turn in TURNS}) >= 365


@pytest.mark.parametrize(("name", "recall"), [("held", 0.76), ("seen", 0.88)])
def test_what_is_read_is_right(name: str, recall: float) -> None:
    score = measured(READER, half(name))
    wrong = [miss for miss in score.wrong if miss.what.split(" | ")[1].removeprefix("not ") not in OPEN]
    assert score.right / (score.right + len(wrong)) >= (0.83 if name == "held" else 0.92), wrong
    assert score.recall >= recall, score.missed


def test_every_quote_stands_in_the_text() -> None:
    for turn in TURNS:
        for claim in READER.read(Turn(turn.text, speaker=turn.name, when=turn.when), KnownClaims()).claims:
            assert claim.quote
            assert claim.quote in turn.text, turn


@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                "I",
                "we",
                "my",
                "wife",
                "'",
                "live",
                "lives",
                "in",
                "Leeds",
                "not",
                ",",
                ".",
                ";",
                "never",
                "forget",
                "what",
                "said",
                "about",
                "being",
                ":",
                ",",
                "not",
                "that's",
                "45",
                "31",
                "February",
                "moved",
                "to",
                "the",
                "and",
                "-",
                "“",
                "”",
                "```",
                ">",
                "if",
                "2025-02-30",
                "on",
                "Friday",
            ]
        ),
        max_size=40,
    ).map(" ".join)
)
def test_no_text_makes_it_fail(text: str) -> None:
    for claim in READER.read(Turn(text, speaker="Ana", when=WHEN), KnownClaims()).claims:
        assert claim.quote is not None
        assert claim.quote in text


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_people_are_read(role: str) -> None:
    assert READER.read(Turn("I live in Leeds.", role=role, when=WHEN), KnownClaims()).claims == ()


def test_a_measure_that_reads_wrongly_says_what() -> None:
    turn = Labelled("x-1", "seen", "Ana", WHEN, "I live in Leeds.", claims=())
    score = measured(READER, [turn])
    assert (score.precision, score.recall) == (0.0, 1.0)
    assert score.wrong[0].what == "Ana | lives_in | Leeds"
