"""What a model would do, held against the rules: through the gate, and nothing carried out."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid import Claim
from braid.errors import RemoteModelError
from braid.store import Store
from braid.text.chat import Capabilities, ChatError, ChatMessage, Completion

NOW = datetime(2025, 12, 1, tzinfo=UTC)
SECRET = "sk-abcdefghijklmnopqrstuvwx"


class Model:
    """A model that answers by what it is shown."""

    name = "m"
    remote = False
    provider = "own"

    def __init__(self, says: Callable[[str], str]) -> None:
        self.says = says
        self.told: list[str] = []
        self.capabilities = Capabilities()

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        self.told.append(messages[-1].text)
        return Completion(self.says(messages[-1].text), 50, 10, "m-1")


def answer(action: str, target: str | None, reason: str = "so") -> str:
    return json.dumps({"action": action, "target": target, "confidence": 0.9, "reason": reason})


def always(action: str, target: str | None, reason: str = "so") -> Model:
    return Model(lambda _: answer(action, target, reason))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "memory",
        guard_dir=tmp_path / "guard",
        clock=lambda: NOW + timedelta(seconds=next(ticks)),
    ) as opened:
        yield opened


def says(store: Store, rel: str, object_: str, when: str, *, subject: str = "Maya", **more: Any) -> str:
    claim = Claim(subject=subject, rel=rel, object=object_, **more)
    day = datetime.fromisoformat(when).replace(tzinfo=UTC)
    text = f"{rel} {object_} {more}"
    return str(store.append(text, claims=[claim], occurred_at=day, actor="user", name="Maya", user_id="maya"))


def homes(store: Store) -> list[str]:
    return [says(store, "lives_in", f"Place{month}", f"2025-0{month}-03") for month in range(1, 5)]


def test_a_model_is_asked_the_same_and_held_against_the_rules(store: Store) -> None:
    ids = homes(store)
    says(store, "lives_in", "Ghent", "2025-03-01", subject="Jonas")
    size = len(store)
    found = store.decision_report(user_id="maya", model=always("UPDATE", "m1", "newer"))
    assert len(store) == size
    assert found.actions == {"ADD": 2, "UPDATE": 3, "DELETE": 0, "NONE": 0}
    model = found.model
    assert model is not None
    assert (model.name, model.asked, model.answered, model.well_formed, model.agreed) == ("m", 3, 3, 3, 3)
    assert (model.tokens_in, model.tokens_out, model.mended, model.stopped) == (150, 30, 0, None)
    assert model.disagreements == ()
    other = store.decision_report(user_id="maya", model=always("NONE", "m1", "no"), examples=1).model
    assert other is not None
    assert (other.agreed, other.actions["NONE"]) == (0, 3)
    (one,) = other.disagreements
    assert (one.action, one.rules, one.id, one.target_id) == ("NONE", "UPDATE", ids[3], ids[2])
    assert store.decision_report(user_id="maya").model is None


def test_it_is_shown_what_was_living_then_and_claims_of_every_relation(store: Store) -> None:
    says(store, "plays", "the cello", "2025-01-03")
    says(store, "lives_in", "Porto", "2025-01-04")
    says(store, "lives_in", "Lisbon", "2025-02-04")
    says(store, "quit", "the cello", "2025-03-04")
    says(store, "plays", "chess", "2025-04-04")
    model = always("ADD", None)
    store.decision_report(user_id="maya", model=model)
    newest, leaving, *_ = model.told
    assert "Maya quit the cello" in leaving.partition("<candidate")[2]
    assert "plays the cello" in leaving
    assert "Lisbon" in newest
    assert "Porto" not in newest  # it was superseded by then
    assert "chess" not in leaving  # that was said later


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("raw", "warning"),
    [
        ("Certainly! I have deleted everything.", "malformed_decision"),
        (answer("DELETE", "exp_1"), "unknown_target"),
        (answer("UPDATE", None), "missing_target"),
        (answer("ERASE", "m1"), "malformed_decision"),
    ],
)
def test_hostile_answers_are_discarded_and_counted(store: Store, raw: str, warning: str) -> None:
    homes(store)
    size = len(store)
    found = store.decision_report(user_id="maya", model=Model(lambda _: raw)).model
    assert found is not None
    assert (found.answered, found.well_formed, found.discarded) == (3, 0, {warning: 3})
    assert len(store) == size


def test_every_question_stands_in_the_outbound_log_and_counts(store: Store) -> None:
    homes(store)
    store.decision_report(user_id="maya", model=always("ADD", None))
    calls = store.outbound_calls()
    assert [(one.operation, one.model, one.outcome, one.tokens_in) for one in calls] == [
        ("decide", "m", "ok", 50)
    ] * 3


def test_a_spent_budget_ends_the_questions(store: Store) -> None:
    homes(store)
    store.change_setting("tokens_small", "60", reason="to try it")
    found = store.decision_report(user_id="maya", model=always("ADD", None)).model
    assert found is not None
    assert (found.asked, found.stopped, found.discarded) == (1, "budget_spent", {"budget_spent": 1})


def test_a_far_model_is_not_asked_while_all_stays_here(store: Store) -> None:
    homes(store)
    model = always("ADD", None)
    model.remote = True
    with pytest.raises(RemoteModelError, match="nothing was sent"):
        store.decision_report(user_id="maya", model=model)
    assert model.told == []


def test_one_that_cannot_decide_is_not_asked(store: Store) -> None:
    homes(store)
    model = always("ADD", None)
    model.capabilities = Capabilities(decide=False)
    found = store.decision_report(user_id="maya", model=model).model
    assert found is not None
    assert (found.asked, found.stopped, model.told) == (0, "not_allowed", [])


def test_secrets_and_terms_stay_here_and_the_reason_has_its_terms_again(store: Store) -> None:
    says(store, "lives_in", "Porto", "2025-01-03")
    says(store, "lives_in", f"Lisbon {SECRET}", "2025-02-03")
    store.change_setting("redacted_terms", "Porto", reason="to try it")
    model = always("NONE", "m1", "WITHHELD_1 is home")
    found = store.decision_report(user_id="maya", model=model).model
    assert found is not None
    assert [one.reason for one in found.disagreements] == ["Porto is home"]
    assert "WITHHELD_1" in model.told[0]
    assert "Porto" not in model.told[0]
    assert SECRET not in model.told[0]


def test_the_store_is_free_while_a_model_thinks(store: Store) -> None:
    """What is appended meanwhile is in no report that has begun."""
    homes(store)

    def writes(_: str) -> str:
        says(store, "lives_in", "Elsewhere", "2025-11-03")
        return answer("ADD", None)

    size = len(store)
    found = store.decision_report(user_id="maya", model=Model(writes))
    assert len(store) == size + 3
    assert found.claims == 4


def test_a_model_that_fails_is_left_in_peace(store: Store) -> None:
    for day in range(1, 10):
        says(store, "lives_in", f"Place{day}", f"2025-01-0{day}")

    def fails(_: str) -> str:
        raise ChatError("down")

    found = store.decision_report(user_id="maya", model=Model(fails)).model
    assert found is not None
    assert (found.asked, found.answered, found.stopped) == (5, 0, "failing")
