"""Of what was moved from one to another, the one that holds is told."""

from datetime import UTC, datetime

import pytest

from braid.agent.answer.turn.spans import best_span
from braid.recall.decompose import decompose

SAID = datetime(2026, 6, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "sentence", "short"),
    [
        ("where is staging hosted", "Staging is moving from Frankfurt to Dublin on Friday", "Dublin"),
        ("where was staging before", "Staging is moving from Frankfurt to Dublin on Friday", "Frankfurt"),
        ("how much is the rent from May", "the rent goes up from 870 to 940 in May", "940"),
        ("how much is the rent now", "the rent goes up from 870 to 940 in May", "940"),
        ("how much was the rent", "the rent goes up from 870 to 940 in May", "870"),
        ("How much did the rent go up to?", "the rent went up from 870 to 940", "940"),
        ("how much do I pay for the gym", "they raised the gym from £29.50 to £35", "£35"),
        ("Where does the train leave from?", "the train goes from Leeds to York", "Leeds"),
        ("what did we pay in rent before", "rent goes up, 1,290 in place of 1,215", "1,215"),
        ("what did she get for her tooth", "Poppy lost her tooth. She got a pound for it", "a pound"),
        (
            "what kind of cake does Lotte want",
            "Lotte changed her mind, it has to be a mermaid cake",
            "it has to be a mermaid cake",
        ),
        ("what price per metre did we agree", "Priddy says 95's too much. settled on 88", "88"),
        ("how much is the hall", "they can't do 400, it's 450", "450"),
        ("how many guests do we have", "we have space for from 20 to 30 guests", "30 guests"),
    ],
)
def test_what_it_was_moved_from_is_not_what_it_is(question: str, sentence: str, short: str) -> None:
    found = best_span(decompose(question, SAID), sentence, SAID)
    assert found is not None
    assert found.short == short
