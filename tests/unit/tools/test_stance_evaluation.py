"""Stances held against LoCoMo's gold answers: the time that an answer names, and a conversation asked."""

from datetime import UTC, datetime
from typing import Any

import pytest

from braid.tools.lab.stance_evaluation import evaluate, gold_span

NOW = datetime(2023, 7, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("answer", "since", "until"),
    [
        ("7 May 2023", "2023-05-07", "2023-05-08"),
        ("June 2023", "2023-06-01", "2023-07-01"),
        ("2022", "2022-01-01", "2023-01-01"),
        ("The sunday before 25 May 2023", "2023-05-21", "2023-05-22"),
        ("The day before 25 May 2023", "2023-05-24", "2023-05-25"),
    ],
)
def test_the_time_that_a_gold_answer_names(answer: str, since: str, until: str) -> None:
    found = gold_span(answer, NOW)
    assert found is not None
    assert found.since == datetime.fromisoformat(since).replace(tzinfo=UTC)
    assert found.until == datetime.fromisoformat(until).replace(tzinfo=UTC)


def test_an_answer_without_a_time_names_none() -> None:
    assert gold_span("because it rained", NOW) is None


def test_temporal_questions_are_asked_and_counted() -> None:
    said = [
        ("Ann", "Yesterday I bought a red canoe."),
        ("Bob", "Nice. I moved to Porto in March 2023."),
        ("Ann", "I will paint it on Sunday."),
    ]
    document: dict[str, Any] = {
        "sample_id": "c",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"dia_id": f"D1:{at}", "speaker": speaker, "text": text}
                for at, (speaker, text) in enumerate(said, 1)
            ],
        },
        "qa": [
            {"question": "When did Ann buy the canoe?", "answer": "7 May 2023", "evidence": ["D1:1"], "category": 2},
            {"question": "When did Bob move to Porto?", "answer": "in the snow", "evidence": ["D1:2"], "category": 2},
            {"question": "What did Ann buy?", "answer": "a canoe", "evidence": ["D1:1"], "category": 4},
        ],
    }  # fmt: skip
    found = evaluate([document])
    assert (found["conversations"], found["turns"], found["temporal questions"]) == (1, 3, 2)
    assert found["claims"] > 0
    assert [one.question for one in found["judged"]] == [qa["question"] for qa in document["qa"][:2]]
    assert [one.agrees for one in found["judged"]][1] is None, "a gold answer without a span isn't judged"
    assert found["decided"] == found["agree with gold"] + found["differ from gold"] + found["not judged"]
