"""The schema's first milestone, as it words it: recalled in time, cited, tone apart from facts, reflections found."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

import braid
from braid.affect.facts import facts
from braid.agent.cite import cited
from braid.ledger.record.ids import index_of
from braid.store import Store

EXAMPLES = Path(__file__).parents[3] / "examples"
WHO = "jonas"
THEN = datetime(2025, 8, 1, tzinfo=UTC)
PROMPTS = (
    "Where does Jonas live?",
    "Is Mireille allergic to shellfish?",
    "Who is my boss at Northlight?",
    "Which half marathon did Jonas sign up for?",
    "Why did Jonas give up coffee for good?",
)
MOODS = (
    "Thank you so much, you are wonderful, I love this! ",
    "It is a quiet evening and I feel tired and a little sad. ",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = tmp_path_factory.mktemp("thin")
    with braid.open(home / "memory", guard_dir=home / "guard") as opened:
        lines = (EXAMPLES / "assistant.jsonl").read_text("utf-8").splitlines()
        opened.remember([json.loads(line) for line in lines], user_id=WHO)
        opened.views.search.index(wait_s=60.0)
        yield opened


def test_fifty_experiences_are_recalled_within_half_a_second(store: Store) -> None:
    assert len(store) >= 50
    times: list[float] = []
    for prompt in PROMPTS:
        began = perf_counter()
        found = store.recall(prompt, user_id=WHO).results
        times.append(perf_counter() - began)
        assert found
    assert median(times) < 0.5


@pytest.mark.sample(3)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_an_answer_cites_an_earlier_record(store: Store, prompt: str) -> None:
    found = store.ask(prompt, user_id=WHO, now=THEN)
    assert found.question_id is not None
    assert not found.abstained
    assert [one.id for one in found.citations] == cited(found.text) == cited(found.plain)
    for one in found.citations:
        assert store.get(one.id).text == one.text
        assert one.index < index_of(found.question_id)


@pytest.mark.sample(5)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_tone_moves_and_facts_do_not(store: Store, prompt: str) -> None:
    given = [store.ask(mood + prompt, user_id=WHO, now=THEN, write=False) for mood in MOODS]
    for mood in MOODS:
        even = store.ask(mood + prompt, user_id=WHO, now=THEN, affect=False, write=False)
        toned = store.ask(mood + prompt, user_id=WHO, now=THEN, write=False)
        assert even.text == even.plain == toned.plain
        assert facts(toned.text) == facts(even.text)
        assert toned.citations == even.citations
        assert toned.residual_uncertainty == even.residual_uncertainty
    # What was asked for stands first in any mood; what is only near claims nothing, and is left plain.
    assert len({one.text[:20] for one in given}) == 1
    assert given[0].rung != "near" or len({one.text for one in given}) == 1


def test_reflections_are_appended_and_found(store: Store) -> None:
    found = store.ask(PROMPTS[0], user_id=WHO, now=THEN)
    rows = store.sql(
        "SELECT id, text FROM experiences WHERE type = 'observation' AND method = 'reflect' ORDER BY log_index"
    ).to_pylist()
    assert rows[-1] == {"id": found.reflection, "text": found.reflection_text}
    assert "the answer rests on 1 record" in rows[-1]["text"]
