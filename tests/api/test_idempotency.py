"""A key met again: with the same to say it names the first record, with something else it is refused."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.ledger.errors import InvalidRecordError
from braid.ledger.record import Claim, Content, Draft, EventBody, ExperienceBody


@pytest.fixture(params=[False, True], ids=["plain", "scope-chains"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[braid.Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", scope_chains=request.param)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as made:
        yield made


def conflict(store: braid.Store, step: Callable[[], Any], id: str, *unlike: str) -> None:
    size = len(store)
    with pytest.raises(braid.IdempotencyConflictError, match="use another key") as told:
        step()
    assert isinstance(told.value, InvalidRecordError)
    assert (told.value.id, told.value.unlike) == (id, unlike)
    assert id in str(told.value)
    assert len(store) == size, "nothing was written"


FIELDS: dict[str, Any] = {
    "type": "observation",
    "actor": "agent",
    "user_id": "maya",
    "tags": ["home"],
    "name": "Ann",
    "occurred_at": "2025-05-17T10:00:00+01:00",
    "confidence": 0.8,
    "claims": [Claim(subject="maya", rel="lives_in", object="Porto")],
    "structured": {"n": 1},
    "sources": ["https://example.org/a"],
    "external_id": "x1",
    "extra": {"mood": "calm"},
}


def test_the_same_again_names_the_first_record(store: braid.Store) -> None:
    parent = store.append("I live in Porto.", user_id="maya")
    fields = FIELDS | {"parents": [parent], "evidence": [parent, "https://example.org/b"]}
    id = store.append("She lives there.", idempotency_key="k", **fields)
    size = len(store)
    assert store.append("She lives there.", idempotency_key="k", **fields) == id
    store.forget(id)
    assert store.append("She lives there.", idempotency_key="k", **fields) == id
    assert len(store) == size + 1


@pytest.mark.parametrize(
    ("changed", "unlike"),
    [
        ({"type": "inference"}, "type"),
        ({"actor": "user"}, "provenance"),
        ({"user_id": "noor"}, "scope"),
        ({"user_id": None}, "scope"),
        ({"tags": []}, "tags"),
        ({"occurred_at": None}, "occurred_at"),
        ({"confidence": 0.9}, "confidence"),
        ({"claims": []}, "symbolic"),
        ({"structured": {"n": 2}}, "content"),
        ({"external_id": None}, "external_id"),
        ({"extra": {}}, "mood"),
    ],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_something_else_is_refused_and_named(
    store: braid.Store, changed: dict[str, Any], unlike: str
) -> None:
    id = store.append("She lives there.", idempotency_key="k", **FIELDS)
    again = FIELDS | changed
    conflict(store, lambda: store.append("She lives there.", idempotency_key="k", **again), id, unlike)


def test_another_text_kind_or_link_is_refused(store: braid.Store) -> None:
    one, other = store.append("One."), store.append("Other.")
    id = store.append("From one.", type="inference", parents=[one], idempotency_key="k")
    conflict(
        store,
        lambda: store.append("From two.", type="inference", parents=[one], idempotency_key="k"),
        id,
        "content",
    )
    for parents in ([other], list[str](), [one, other]):
        again = partial(store.append, "From one.", type="inference", parents=parents, idempotency_key="k")
        conflict(store, again, id, "links")
    event = Draft(kind="event", body=EventBody(name="review", once="k"))
    with pytest.raises(braid.IdempotencyConflictError, match="kind, type"):
        store.append(event)
    assert store.append("From two.", type="inference", parents=[one], idempotency_key="k2") != id


def test_all_of_a_transaction_is_refused_with_one_of_it(store: braid.Store) -> None:
    def say(second: str, extra: str | None = None) -> list[str]:
        with store.transaction() as together:
            if extra:
                together.append(extra)
            one = together.append("First.", idempotency_key="a")
            other = together.append(second, type="inference", parents=[one], idempotency_key="b")
        return [one.id, other.id]

    ids = say("Second.")
    assert say("Second.") == ids
    assert say("Second.", extra="New, and without a key.") == ids
    conflict(store, lambda: say("Another.", extra="Never written."), ids[1], "content")


def test_a_link_to_what_has_no_key_in_a_transaction_is_no_conflict(store: braid.Store) -> None:
    """What has no key is appended anew at each call: the link leads to the first one."""

    def say() -> str:
        with store.transaction() as together:
            one = together.append("Unkeyed.")
            other = together.append("Keyed.", type="inference", parents=[one], idempotency_key="b")
        return other.id

    assert say() == say()


def test_messages_are_held_to_their_key_one_by_one(store: braid.Store) -> None:
    said = [{"role": "user", "content": "I live in Leeds."}, {"role": "assistant", "content": "Noted."}]
    ids = store.remember(said, user_id="jonas", idempotency_key="chat")
    assert store.remember(said, user_id="jonas", idempotency_key="chat") == ids
    other = [said[0], {"role": "assistant", "content": "I see."}]
    conflict(store, lambda: store.remember(other, user_id="jonas", idempotency_key="chat"), ids[1], "content")
    conflict(store, lambda: store.remember(said, user_id="ada", idempotency_key="chat"), ids[0], "scope")


def test_the_async_twin_refuses_too(store: braid.Store) -> None:
    async def again() -> None:
        twin = braid.AsyncStore(store)
        id = await twin.append("One.", idempotency_key="k")
        assert await twin.append("One.", idempotency_key="k") == id
        with pytest.raises(braid.IdempotencyConflictError):
            await twin.append("Two.", idempotency_key="k")
        ids = await twin.remember("One.", idempotency_key="chat")
        assert await twin.remember("One.", idempotency_key="chat") == ids
        with pytest.raises(braid.IdempotencyConflictError):
            await twin.remember("Two.", idempotency_key="chat")

    asyncio.run(again())


def test_the_same_media_attached_again_are_the_same(store: braid.Store) -> None:
    def picture(content: bytes, **how: Any) -> str:
        media = [store.attach(content, media_type="image/png", **how)]
        return store.append("A picture.", media=media, idempotency_key="k")

    id = picture(b"not really", name="a.png")
    assert picture(b"not really", name="a.png") == id
    conflict(store, lambda: picture(b"not really", name="b.png"), id, "content")


def test_nothing_is_compared_with_what_is_gone(store: braid.Store) -> None:
    id = store.append("Erased.", idempotency_key="k")
    store.erase(id)
    new = store.append("Another.", idempotency_key="k")
    assert new != id
    conflict(store, lambda: store.append("Erased.", idempotency_key="k"), new, "content")


def test_a_body_that_cannot_be_opened_is_compared_with_nothing(store: braid.Store) -> None:
    id = store.append("Damaged later.", idempotency_key="k")
    index = store.reader.index_of(id)
    (segment,) = (store.path / "log").glob("*.seg")
    body = store.reader.log.body(index)
    data = segment.read_bytes()
    assert data.count(body) == 1
    with segment.open("r+b") as file:
        file.seek(data.index(body))
        file.write(bytes(8))
        file.flush()
        assert store.append("Something else.", idempotency_key="k") == id
        file.seek(data.index(body))
        file.write(body[:8])


def test_who_takes_a_source_in_again_judges_by_himself(store: braid.Store) -> None:
    def draft(text: str) -> Draft:
        return Draft(
            kind="experience",
            type="occurrence",
            body=ExperienceBody(content=Content(text=text), once="turn-1"),
        )

    (first,) = store.append_all([draft("As it was.")])
    (again,) = store.append_all([draft("As it is now.")])
    assert (again.id, again.known) == (first.id, True)


def test_of_two_that_meet_at_one_key_the_second_is_refused(store: braid.Store) -> None:
    """Also before the first one's key has reached the catalogue's file."""
    ids = {store.append(f"{n}", idempotency_key=f"k{n}") for n in range(50)}
    for n in range(50):
        assert store.append(f"{n}", idempotency_key=f"k{n}") in ids
        with pytest.raises(braid.IdempotencyConflictError):
            store.append("other", idempotency_key=f"k{n}")
