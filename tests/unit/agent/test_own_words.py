"""Which questions are about the one who asks, and how pasted words are worded."""

from datetime import UTC, datetime

import pytest

from braid.agent.answer.question.asker import is_of_asker
from braid.agent.answer.wording.report import report_of
from braid.agent.composer import Support
from braid.recall.decompose import decompose

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Where do I live?", True),
        ("What is my dog called?", True),
        ("Do I work at Tesco?", True),
        ("Where did I say I live?", True),
        ("Is my wife called Anna?", True),
        ("Where does Bob live?", False),
        ("What did the mail say about my flat?", False),
        ("What did Bob tell me?", False),
        ("What is Bob's job at my firm?", False),
    ],
)
def test_what_asks_of_the_one_who_asks(text: str, found: bool) -> None:
    assert is_of_asker(decompose(text, NOW)) is found


def report(text: str, said: str) -> str:
    return report_of(Support(id="exp_1", index=1, text=text, quote=said, when=NOW, speaker="Maya"), said)


def test_what_was_pasted_was_not_said() -> None:
    text = "Look at this tweet:\n\nI live in Lima and I sing all day."
    assert report(text, "I live in Lima and I sing all day").startswith("Maya pasted on 1 June 2026: ")
    assert report(text, "Look at this tweet").startswith("Maya said on 1 June 2026: ")
