"""What is no argument is refused by name, in a sentence, and changes nothing."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.errors import InvalidRequestError
from braid.ledger.record.record import Content, Draft, EventBody, ExperienceBody, Scope


def _nested(depth: int) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    for _ in range(depth):
        filters = {"NOT": filters}
    return filters


SCOPES = ("user_id", "agent_id", "run_id", "project_id", "session_id")
DRAFT = Draft(kind="event", body=EventBody(name="x", scope=Scope(user_id="maya", run_id="")))


def _appended_to_nobody(name: str) -> Callable[[Any], Any]:
    return lambda store: store.append("x", **{name: ""})


def _scoped(name: str, value: str) -> Callable[[Any], Any]:
    return lambda store: store.append("x", **{name: value})


def _keyed(value: str) -> Callable[[Any], Any]:
    return lambda store: store.append("x", idempotency_key=value)


def _in_a_transaction(store: braid.Store) -> None:
    with store.transaction() as together:
        together.append("said first")
        together.append("x", agent_id="")


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a scope of None": (
        lambda store: store.erase(session_id="s", user_id=None),
        InvalidRequestError,
        "user_id is text, not nothing",
    ),
    "a scope that is a number": (
        lambda store: store.erase(session_id=5),
        InvalidRequestError,
        "session_id is text, not a whole number",
    ),
    "erasing nothing": (lambda store: store.erase(), ValueError, "nothing was named"),
    "erasing ids and a scope": (
        lambda store: store.erase("exp_x", user_id="maya"),
        InvalidRequestError,
        "by ids or by a scope and says, not by both",
    ),
    "planning to erase ids and a name": (
        lambda store: store.plan_erase("exp_x", says=("Jonas",)),
        InvalidRequestError,
        "by ids or by a scope and says, not by both",
    ),
    **{
        f"an empty {name}": (
            _appended_to_nobody(name),
            InvalidRequestError,
            f"append: {name} is text that isn't empty",
        )
        for name in SCOPES
    },
    **{
        f"a {name} with {said}": (
            _scoped(name, value),
            InvalidRequestError,
            f"append: {name} is text of 1 to 1000 characters, without control characters",
        )
        for name in SCOPES
        for said, value in (
            ("a line feed at its end", "maya\n"),
            ("an escape sequence", "\x1b[2Jmaya"),
            ("a separator of lines", "ma\u2028ya"),
            ("a NUL", "\0"),
        )
    },
    "a scope of a hundred thousand characters": (
        lambda store: store.append("x", user_id="m" * 100_000),
        InvalidRequestError,
        "user_id is text of at most 1000 characters",
    ),
    "an odd session of a message": (
        lambda store: store.remember([{"role": "user", "content": "x", "session": "s\x00"}]),
        ValueError,
        "session_id is text of 1 to 1000 characters, without control characters",
    ),
    "an odd scope of a question": (
        lambda store: store.recall("Where?", user_id="maya\r"),
        InvalidRequestError,
        "user_id is text of 1 to 1000 characters",
    ),
    "an empty scope of messages": (
        lambda store: store.remember(["x"], session_id=""),
        InvalidRequestError,
        "session_id is text that isn't empty",
    ),
    "an idempotency key of a hundred thousand characters": (
        lambda store: store.append("x", idempotency_key="k" * 100_000),
        InvalidRequestError,
        "append: idempotency_key is text of at most 1000 characters",
    ),
    **{
        f"an idempotency key with {said}": (
            _keyed(value),
            InvalidRequestError,
            "idempotency_key is text of 1 to 1000 characters, without control characters",
        )
        for said, value in (("a line feed", "k\n"), ("an escape sequence", "\x1b[2Jk"), ("a NUL", "k\0"))
    },
    "an odd key of messages": (
        lambda store: store.remember(["x"], idempotency_key="k\u2028"),
        InvalidRequestError,
        "remember: idempotency_key is text of 1 to 1000 characters",
    ),
    "an odd key of a correction": (
        lambda store: store.correct("exp_x", "y", idempotency_key="k\r"),
        InvalidRequestError,
        "correct: idempotency_key is text of 1 to 1000 characters",
    ),
    "a draft, which no face takes": (
        lambda store: store.append_all([DRAFT]),
        InvalidRequestError,
        "append_all: there is no member kind",
    ),
    "an empty scope in a transaction": (
        _in_a_transaction,
        InvalidRequestError,
        "append: agent_id is text that isn't empty",
    ),
    "an empty scope of a question": (
        lambda store: store.ask("Where?", user_id=""),
        InvalidRequestError,
        "user_id is text that isn't empty",
    ),
    "an empty scope of recall": (
        lambda store: store.recall("Where?", user_id=""),
        InvalidRequestError,
        "user_id is text that isn't empty",
    ),
    "an empty scope of a stance": (
        lambda store: store.stance("Where?", session_id=""),
        InvalidRequestError,
        "session_id is text that isn't empty",
    ),
    "forgetting nothing": (
        lambda store: store.forget(),
        InvalidRequestError,
        "ids is a list that isn't empty",
    ),
    "recovering nothing": (
        lambda store: store.recover(),
        InvalidRequestError,
        "ids is a list that isn't empty",
    ),
    "an id of None": (lambda store: store.get(None), InvalidRequestError, "id is text, not nothing"),
    "an id in a list": (
        lambda store: store.erase(["x"]),
        InvalidRequestError,
        r"ids\[0\] is text, not a list",
    ),
    "a place before the first": (
        lambda store: list(store.read(-1)),
        InvalidRequestError,
        "start is a whole number of at least 0",
    ),
    "a past in words": (lambda store: store.recall("x", as_of="2025"), InvalidRequestError, "not text"),
    "half a record": (
        lambda store: store.get("x", as_of=1.5),
        InvalidRequestError,
        "as_of is a whole number",
    ),
    "a day in words": (
        lambda store: store.recall("x", valid_at="2025"),
        InvalidRequestError,
        "valid_at is a time",
    ),
    "a now in words": (lambda store: store.ask("x", now="2025"), InvalidRequestError, "now is a time"),
    "an instant in words": (lambda store: store.stance("x", at="2025"), InvalidRequestError, "at is a time"),
    "a statement of None": (lambda store: store.sql(None), InvalidRequestError, "query is text"),
    "a confidence in words": (
        lambda store: store.append("x", confidence="high"),
        InvalidRequestError,
        "confidence is .*, not text",
    ),
    "half a claim": (
        lambda store: store.append("x", claims=[{"subject": "a", "rel": "b"}]),
        InvalidRequestError,
        "object is missing",
    ),
    "a claim as text": (
        lambda store: store.append("x", claims="abc"),
        InvalidRequestError,
        "claims is a list, not text",
    ),
    "a batch of texts": (
        lambda store: store.append_all(["x"]),
        InvalidRequestError,
        r"records\[0\] is an object, not text",
    ),
    "a message of None": (
        lambda store: store.remember(None),
        InvalidRequestError,
        "messages is .*, not nothing",
    ),
    "messages of None": (
        lambda store: store.remember([None]),
        InvalidRequestError,
        r"messages\[0\] is .*, not nothing",
    ),
    "filters without a floor": (
        lambda store: store.recall("x", filters=_nested(5000)),
        InvalidRequestError,
        "nested too deep",
    ),
    "a text as media": (
        lambda store: store.attach("x", media_type="text/plain"),
        InvalidRequestError,
        "content is bytes",
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_named_and_nothing_changes(tmp_path: Path, name: str) -> None:
    call, kind, said = REFUSED[name]
    with braid.open(tmp_path / "memory") as store:
        store.append("said to nobody")
        size = len(store)
        with pytest.raises(kind, match=said):
            call(store)
        assert len(store) == size
        assert store.read().__next__().index == 0


def test_a_naive_time_is_still_told_to_take_a_zone(tmp_path: Path) -> None:
    naive = datetime(2025, 1, 1)  # noqa: DTZ001 - what is refused
    with braid.open(tmp_path / "memory") as store:
        for call in (
            lambda: store.recall("x", valid_at=naive),
            lambda: store.ask("x", now=naive),
            lambda: store.stance("x", at=naive),
        ):
            with pytest.raises(ValueError, match="has no time zone"):
                call()


@pytest.mark.sample(3)
@pytest.mark.parametrize("user_id", ["", "maya\n\x1b[2J", "m" * 100_000], ids=["empty", "control", "long"])
def test_what_an_earlier_release_took_can_be_read_corrected_exported_and_erased(
    user_id: str, tmp_path: Path
) -> None:
    """Records of an odd scope are in older logs: they stay what they are."""
    with braid.open(tmp_path / "memory") as store:
        body = ExperienceBody(content=Content(text="I live in Faro."), scope=Scope(user_id=user_id))
        (old,) = store.session.append_drafts([Draft(kind="experience", type="occurrence", body=body)])
    with braid.open(tmp_path / "memory") as store:
        new = store.get(store.correct(old.id, "I live in Porto."))
        assert new.body.scope == Scope(user_id=user_id)
        store.replay()
        assert [hit.id for hit in store.recall("Where do I live?").results] == [new.id]
        assert [one.id for one in store.memories().memories] == [new.id]
        assert store.ask("Where do I live?").citations[0].id == new.id
        rows = store.sql("SELECT id FROM experiences WHERE user_id = $who", parameters={"who": user_id})
        assert {row["id"] for row in rows.to_pylist()} == {old.id, new.id}
        if user_id:
            assert store.export_subject(user_id=user_id).own >= 2
        assert [link.role for link in store.get(old.id).links] == []
        assert [link.id for link in new.links if link.role == "supersedes"] == [old.id]
        assert store.verify(deep=True).findings == []
        store.erase(user_id=user_id)
        assert old.index in store.reader.control.erased
