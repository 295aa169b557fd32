"""A key met again: with the same to say it names the first record, with something else it is refused."""

import asyncio
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid.caller import Caller, asked_by
from braid.errors import InvalidRequestError
from braid.ledger.errors import InvalidRecordError, UnknownRecordError
from braid.ledger.record.record import (
    AffectBody,
    Claim,
    Confidence,
    Content,
    Draft,
    EventBody,
    ExperienceBody,
    Media,
    Scope,
    ViewBody,
)
from braid.log.drafts import experience
from braid.log.operations import Earlier
from braid.tools.cli.draft_json import drafts_from


@pytest.fixture(params=[False, True], ids=["plain", "scope-chains"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[braid.Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", scope_chains=request.param)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as made:
        yield made


def put(store: braid.Store, draft: Draft) -> str:
    """Append a draft whose key, met again, must say the same."""
    return store.session.append_drafts([draft], held=1)[0].id


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


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("changed", "unlike"),
    [
        ({"type": "inference"}, "type"),
        ({"actor": "user"}, "provenance"),
        ({"user_id": None}, "scope"),
        ({"tags": []}, "tags"),
        ({"occurred_at": None}, "occurred_at"),
        ({"confidence": 0.9}, "confidence"),
        ({"claims": []}, "symbolic"),
        ({"structured": {"n": 2}}, "content"),
        ({"external_id": None}, "external_id"),
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
        put(store, event)
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
    conflict(store, lambda: store.remember(said, idempotency_key="chat"), ids[0], "scope")


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


def test_numbers_and_truth_values_that_only_python_takes_for_equal_are_something_else(
    store: braid.Store,
) -> None:
    def paid(value: Any) -> str:
        return store.append("The rent.", structured={"paid": value, "of": 2}, idempotency_key="k")

    id = paid(True)
    for value in (1, 1.0, None, "true"):
        conflict(store, partial(paid, value), id, "content")
    assert store.append("The rent.", structured={"of": 2, "paid": True}, idempotency_key="k") == id
    number = store.append("One.", structured={"n": 1}, idempotency_key="n")
    conflict(
        store,
        lambda: store.append("One.", structured={"n": 1.0}, idempotency_key="n"),
        number,
        "content",
    )


def test_a_number_where_the_format_has_a_fraction_is_the_same_with_and_without_a_point(
    store: braid.Store,
) -> None:
    def sure(p: float) -> Draft:
        body = ExperienceBody(content=Content(text="So."), confidence=Confidence(p=p), once="k")
        return Draft(kind="experience", type="occurrence", body=body)

    def calm(valence: float) -> Draft:
        body = AffectBody(actor="user", stage="after", valence=valence, arousal=0.0, dominance=0.0, once="a")
        return Draft(kind="affect", body=body)

    assert put(store, sure(1)) == put(store, sure(1.0))
    assert put(store, calm(0)) == put(store, calm(0.0))


def test_a_member_that_is_null_is_not_one_that_is_absent(store: braid.Store) -> None:
    id = put(store, experience("x", extra={"mood": None}, once="k"))
    assert put(store, experience("x", extra={"mood": None}, once="k")) == id
    conflict(store, lambda: store.append("x", idempotency_key="k"), id, "mood")
    other = store.append("x", idempotency_key="other")
    again = partial(put, store, experience("x", extra={"mood": None}, once="other"))
    conflict(store, again, other, "mood")


def test_what_stands_in_the_open_is_compared_too(store: braid.Store) -> None:
    def event(public: dict[str, Any]) -> Draft:
        return Draft(kind="event", body=EventBody(name="count", once="k"), public=public)

    id = put(store, event({"n": 1, "of": [2]}))
    assert put(store, event({"of": (2,), "n": 1})) == id
    for public in ({"n": 2, "of": [2]}, {"n": True, "of": [2]}, {}):
        conflict(store, partial(put, store, event(public)), id, "public")
    with pytest.raises(InvalidRecordError, match="only JSON values"):
        put(store, event({"n": object()}))


def test_tags_are_a_set(store: braid.Store) -> None:
    id = store.append("x", tags=["a", "b"], idempotency_key="k")
    several: list[Any] = [["b", "a"], {"a", "b"}, ("a", "b", "a")]
    for tags in several:
        assert store.append("x", tags=tags, idempotency_key="k") == id
    conflict(store, lambda: store.append("x", tags=["a"], idempotency_key="k"), id, "tags")


def test_an_instant_is_the_same_in_every_zone(store: braid.Store) -> None:
    def moved(hour: int, zone: str) -> str:
        at = f"2024-05-01T{hour}:00:00{zone}"
        moment = datetime.fromisoformat(at)
        claims = [
            Claim(subject="maya", rel="lives_in", object="Porto", valid_from=moment),
            Claim(subject="maya", rel="lived_in", object="Leeds", valid_to=moment),
        ]
        return store.append("She moved.", occurred_at=moment, claims=claims, idempotency_key="k")

    id = moved(12, "+02:00")
    assert moved(10, "Z") == moved(10, "+00:00") == moved(15, "+05:00") == id
    conflict(store, lambda: moved(12, "Z"), id, "symbolic", "occurred_at")
    with pytest.raises(InvalidRequestError, match="occurred_at has no time zone"):
        moved(10, "")
    plain = store.append("x", occurred_at=datetime(2024, 5, 1, 12, tzinfo=UTC), idempotency_key="p")
    east = datetime.fromisoformat("2024-05-01T14:00:00+02:00")
    assert store.append("x", occurred_at=east, idempotency_key="p") == plain
    before = datetime.fromisoformat("0001-01-01T00:00:00+05:00")
    first = partial(store.append, "x", occurred_at=before, idempotency_key="p")
    conflict(store, first, plain, "occurred_at")


@pytest.mark.parametrize(
    "media", ["photo.png", 3, None, ["photo.png"], [{"blob": "a", "key": "b"}, 4]], ids=repr
)
def test_content_of_a_kind_that_has_none_is_a_member_like_others(store: braid.Store, media: Any) -> None:
    def event(media: Any) -> Draft:
        return Draft(kind="event", body=EventBody(name="n", once="k"), extra={"content": {"media": media}})

    id = put(store, event(media))
    assert put(store, event(media)) == id
    other = [{"blob": "a", "key": "another"}, 4]
    conflict(store, partial(put, store, event(other)), id, "content")


def test_a_draft_of_no_known_kind_is_refused_as_with_a_new_key(store: braid.Store) -> None:
    id = store.append("x", idempotency_key="k")
    draft = Draft(kind="rumour", body=EventBody(name="n", once="k"))
    conflict(store, lambda: put(store, draft), id, "kind", "type")


def test_a_link_to_what_does_not_stand_earlier_is_refused_as_with_a_new_key(store: braid.Store) -> None:
    with store.transaction() as together:
        zero = together.append("Zero.")
        one = together.append("One.")
    id = store.append("From zero.", type="inference", parents=[zero.id], idempotency_key="k")

    class Before:
        place = -1

    drafted = partial(experience, "From zero.", type="inference")
    targets: list[Any] = [Earlier(0), None, Before()]
    for key in ("k", "new"):
        for target in targets:
            with pytest.raises(UnknownRecordError, match="earlier in the transaction"):
                put(store, drafted(parents=[target], once=key))
        for pending in (one, zero):
            with pytest.raises(InvalidRecordError, match="no earlier record"):
                store.append("From zero.", type="inference", parents=[pending], idempotency_key=key)
    assert store.append("From zero.", type="inference", parents=[zero.id], idempotency_key="k") == id


def test_a_link_to_what_stands_later_in_the_transaction_is_refused(store: braid.Store) -> None:
    def say(parent: int) -> list[str]:
        with store.transaction() as together:
            known = [together.append("First.", idempotency_key="a")]
            known.append(
                together.append("Second.", type="inference", parents=[known[0]], idempotency_key="b")
            )
            late = f"${parent}"
            known.append(together.append("Third.", type="inference", parents=[late], idempotency_key="c"))
        return [one.id for one in known]

    ids = say(0)
    assert say(0) == ids
    conflict(store, lambda: say(1), ids[2], "links")
    with pytest.raises(InvalidRecordError, match="no earlier record"):
        say(2)


def test_other_media_of_the_same_size_are_something_else(store: braid.Store) -> None:
    def album(*pictures: bytes) -> str:
        media = [store.attach(one, media_type="image/png", name="a.png") for one in pictures]
        return store.append("An album.", media=media, idempotency_key="k")

    cat, dog = b"the first picture, a cat", b"quite another one, dog!!"
    id = album(cat, dog)
    assert album(cat, dog) == id
    for pictures in ((dog, cat), (cat, cat), (cat, dog + b"!")):
        conflict(store, partial(album, *pictures), id, "content")


def test_media_that_differ_only_at_their_end_are_something_else(store: braid.Store) -> None:
    def film(end: bytes) -> str:
        media = [store.attach(bytes(200_000) + end, media_type="video/x")]
        return store.append("A film.", media=media, idempotency_key="k")

    id = film(b"THE END")
    assert film(b"THE END") == id
    for end in (b"the end", b"THE END\0", b"THE EN"):
        conflict(store, partial(film, end), id, "content")


def test_the_media_of_a_view_are_compared_too(store: braid.Store) -> None:
    one = store.append("One.")

    def view(content: bytes) -> Draft:
        media = store.attach(content, media_type="image/png")
        body = ViewBody(lens="drawn", content=Content(text="As drawn.", media=[media]), once="k")
        blobs = [(media.blob, media.size)]
        return Draft(kind="view", body=body, links=[("applied_to", one)], blobs=blobs)

    id = put(store, view(b"cat"))
    assert put(store, view(b"cat")) == id
    conflict(store, lambda: put(store, view(b"dog")), id, "content")


def test_media_that_cannot_be_opened_are_held_to_nothing(store: braid.Store) -> None:
    medium = store.attach(b"cat", media_type="image/png")

    def picture(*media: Media) -> str:
        return store.append("A picture.", media=list(media), idempotency_key="k")

    id = picture(medium)
    lost = store.path / "blobs" / medium.blob[:2] / medium.blob[2:]
    sealed = lost.read_bytes()
    other = store.attach(b"dog", media_type="image/png")
    lost.write_bytes(sealed[:-1] + bytes([sealed[-1] ^ 1]))
    assert picture(other) == id
    lost.unlink()
    assert picture(other) == picture(medium) == id
    lost.write_bytes(sealed)
    conflict(store, lambda: picture(other), id, "content")
    for unlike in ({"key": "AAAA"}, {"key": "no base64"}, {"blob": "no name"}, {"blob": "0" * 64}):
        assert picture(msgspec.structs.replace(other, **unlike)) == id


def test_the_refusal_can_be_handed_from_process_to_process() -> None:
    error = braid.IdempotencyConflictError("k", "ep_1", ["content", "tags"])
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is braid.IdempotencyConflictError
    assert (again.key, again.id, again.unlike) == ("k", "ep_1", ("content", "tags"))
    assert str(again) == str(error)


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

    (first,) = store.session.append_drafts([draft("As it was.")])
    (again,) = store.session.append_drafts([draft("As it is now.")])
    assert (again.id, again.known) == (first.id, True)


def test_of_two_that_meet_at_one_key_the_second_is_refused(store: braid.Store) -> None:
    """Also before the first one's key has reached the catalogue's file."""
    ids = {store.append(f"{n}", idempotency_key=f"k{n}") for n in range(50)}
    for n in range(50):
        assert store.append(f"{n}", idempotency_key=f"k{n}") in ids
        with pytest.raises(braid.IdempotencyConflictError):
            store.append("other", idempotency_key=f"k{n}")


def test_a_correction_under_a_key_is_made_once(store: braid.Store) -> None:
    id = store.append("I live in Porto.", user_id="maya")
    other = store.append("I live in Rome.", user_id="maya")
    right = store.correct(id, "I live in Faro.", reason="misheard", idempotency_key="k")
    size = len(store)
    assert store.correct(id, "I live in Faro.", reason="misheard", idempotency_key="k") == right
    assert store.correct(right, "I live in Faro.", idempotency_key="k") == right  # by any id of the memory
    assert len(store) == size
    conflict(store, lambda: store.correct(id, "I live in Lagos.", idempotency_key="k"), right, "text")
    conflict(store, lambda: store.correct(other, "I live in Faro.", idempotency_key="k"), right, "memory")
    later = store.correct(id, "I live in Lagos.", idempotency_key="l")
    assert store.correct(id, "I live in Faro.", idempotency_key="k") == right
    assert store.memories(user_id="maya").memories[1].id == later
    store.forget(id)
    assert store.correct(id, "I live in Lagos.", idempotency_key="l") == later


def test_the_key_of_what_was_said_corrects_nothing(store: braid.Store) -> None:
    id = store.append("I live in Porto.", user_id="maya", idempotency_key="k")
    conflict(store, lambda: store.correct(id, "I live in Porto.", idempotency_key="k"), id, "memory")


def test_a_key_of_one_user_is_none_of_anothers(store: braid.Store) -> None:
    """Who is held to no scope speaks for many users, who choose their keys apart from each other."""
    hers = store.append("I live in Porto.", user_id="maya", idempotency_key="k")
    his = store.append("I live in Leeds.", user_id="tom", idempotency_key="k")
    assert his != hers
    assert store.append("I live in Leeds.", user_id="tom", idempotency_key="k") == his
    assert store.append("I live in Porto.", user_id="maya", idempotency_key="k") == hers
    with pytest.raises(braid.IdempotencyConflictError, match="the key 'k' is that of") as told:
        store.append("It rained.", user_id="tom", idempotency_key="k")
    assert (told.value.key, told.value.id) == ("k", his)
    conflict(store, lambda: store.append("It rained.", user_id="maya", idempotency_key="k"), hers, "content")

    with store.transaction() as together:
        for user, key in (("maya", "t"), ("tom", "k2"), ("ada", "k")):
            together.append("I sing.", user_id=user, idempotency_key=key)
    assert [store.get(id).body.scope for id in together.ids] == [
        Scope(user_id=user) for user in ("maya", "tom", "ada")
    ]

    (first,) = store.remember("I keep bees.", user_id="maya", idempotency_key="m", learn=False)
    (second,) = store.remember("I keep hens.", user_id="tom", idempotency_key="m", learn=False)
    assert store.remember("I keep hens.", user_id="tom", idempotency_key="m", learn=False).ids == (second,)

    changed = [store.correct(id, text, idempotency_key="c") for id, text in ((hers, "Faro."), (his, "York."))]
    assert changed == [
        store.correct(id, text, idempotency_key="c") for id, text in ((hers, "Faro."), (his, "York."))
    ]
    assert [store.modify(id, pinned=True, reason="so", idempotency_key="p").known for id in changed] == [
        False, False,
    ]  # fmt: skip
    store.erase(first)  # and her key with it: his calls go on naming what is his
    assert store.remember("I keep hens.", user_id="tom", idempotency_key="m", learn=False).ids == (second,)


@pytest.mark.parametrize(
    "caller", [None, Caller(name="app", kind="person", user_id="tom")], ids=["all", "held"]
)
def test_a_key_that_another_user_takes_meanwhile_is_put_apart(
    store: braid.Store, caller: Caller | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at who has a key, and the append."""
    session, run = store.session, store.session._run
    hers = list[str]()

    def meanwhile(*asked: Any, **local: Any) -> Any:
        if not hers:
            with asked_by(None):
                hers.append(
                    put(store, experience("I live in Porto.", within=Scope(user_id="maya"), once="k"))
                )
        return run(*asked, **local)

    monkeypatch.setattr(session, "_run", meanwhile)
    with asked_by(caller):
        his = store.append("I live in Leeds.", user_id="tom", idempotency_key="k")
        assert store.append("I live in Leeds.", user_id="tom", idempotency_key="k") == his
    assert [store.get(id).text for id in (*hers, his)] == ["I live in Porto.", "I live in Leeds."]


def test_a_key_that_no_caller_may_give_any_more_stays_in_older_logs(store: braid.Store) -> None:
    odd = "k\n" + "x" * 100_000
    body = ExperienceBody(content=Content(text="said long ago"), once=odd)
    id = put(store, Draft(kind="experience", type="occurrence", body=body))
    assert store.get(id).body.once == odd
    assert store.reader.key_index.find([odd]) == {odd: store.get(id).index}
    assert store.verify(deep=True).findings == []


def test_the_longest_key_is_put_apart_as_a_short_one(store: braid.Store) -> None:
    key = "k" * 1_000
    first, other = (store.append("the same", user_id=user, idempotency_key=key) for user in ("maya", "ben"))
    assert first != other
    assert store.append("the same", user_id="ben", idempotency_key=key) == other
    hers = [store.remember(["one", "two"], user_id="ida", idempotency_key=key).ids for _ in range(2)]
    with asked_by(Caller(name="bot", kind="agent", user_id="kim")):
        mine = [store.remember(["one", "two"], user_id="kim", idempotency_key=key).ids for _ in range(2)]
    assert hers[0] == hers[1] != mine[0] == mine[1]


@pytest.mark.parametrize("key", ["", "k\x1b[2J", "k" * 1_001])
def test_a_draft_as_json_has_a_key_as_every_call(key: str) -> None:
    with pytest.raises(InvalidRecordError, match="an idempotency key is text"):
        drafts_from(msgspec.json.encode({"content": {"text": "x"}, "once": key}))
