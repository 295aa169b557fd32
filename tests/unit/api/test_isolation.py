"""Whoever is held to a scope sees it and no other, and nothing of theirs lands in another."""

import json
import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

import braid
from braid import wire
from braid.caller import GRANTS, Caller, CallerKind, asked_by
from braid.errors import AccessDeniedError, InvalidRequestError
from braid.exchange.capture_operations import Captured, PathDecision, RuntimePath, arbitration_key
from braid.isolation import is_offered
from braid.ledger.errors import (
    DestinationExistsError,
    ForgottenError,
    IdempotencyConflictError,
    UnknownRecordError,
)
from braid.ledger.record.record import ASKED_BY, Record, is_reading
from braid.log.operations import Append
from braid.memories.operations import Modify
from braid.operation import Operation
from braid.registry import dispatch
from braid.store import Store
from braid.tools.http.problem import problem
from tests.unit.api.test_operations import ALL, NOW, Scene, asked, scene  # noqa: F401 - a fixture

TOM: Final = Caller(name="tom's", kind="person", allowed=GRANTS["person"], user_id="tom")
DESK: Final = Caller(name="desk", kind="agent", allowed=GRANTS["agent"], user_id="tom", session_id="desk")
SCOPE: Final = ("user_id", "agent_id", "run_id", "project_id", "session_id")
OF_TOM: Final = ("split_entity",)
"""Operations that the scene asks of tom's."""
PAIRS: Final = 500
READS: Final = 10
WRITES: Final = 3
"""By how many pairs an operation that has a scope is asked; any other, which is refused at once, by all."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    clock = lambda: NOW + timedelta(seconds=next(ticks))  # noqa: E731
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


def scope_of(record: Record) -> dict[str, str]:
    found: dict[str, str] = record.members.get("scope") or {}
    return found


# -- what is asked ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["forget", "recover", "prove_many", "get"])
def test_an_id_that_is_none_is_in_no_scope_either(store: Store, name: str) -> None:
    named = {"id": "nonsense"} if name == "get" else {"ids": ["nonsense"]}
    with asked_by(TOM), pytest.raises(UnknownRecordError, match="nonsense: no such record"):
        dispatch(store.session, name, json.dumps(named).encode())


def test_what_is_not_offered_to_a_scope_is_refused_as_it(scene: Scene) -> None:  # noqa: F811
    boss = msgspec.structs.replace(TOM, kind="operator", allowed=GRANTS["operator"])
    hidden = [known for known in ALL.values() if not is_offered(boss, known)]
    assert {"status", "sql", "doctor"} <= {known.name for known in hidden}
    assert {"forget", "append_all", "recall"}.isdisjoint(known.name for known in hidden)
    with scene.open() as opened, asked_by(boss):
        for known in hidden:
            bare = {name: None if name == "id" else given for name, given in asked(known, scene).items()}
            with pytest.raises((AccessDeniedError, InvalidRequestError)):
                dispatch(opened.session, known.name, json.dumps(bare).encode())


@pytest.mark.parametrize(
    ("name", "member", "rest"),
    [
        ("sql", "parameters", {"query": "SELECT text FROM experiences WHERE id <> ?"}),
        ("freeze", "reason", {}),
        ("set_learning", "reason", {"health": True}),
        ("set_durability", "reason", {"mode": "none"}),
        ("verify", "vkey", {}),
        ("sense", "text", {}),
    ],
)
def test_an_id_of_their_own_in_a_text_leads_out_of_no_scope(
    store: Store, name: str, member: str, rest: dict[str, Any]
) -> None:
    """`sql` answered of the whole store to whoever gave an id of their own as a parameter."""
    store.append("My secret is zq7x.", user_id="maya")
    mine = store.append("I live in Leeds.", user_id="tom")
    boss = msgspec.structs.replace(TOM, kind="operator", allowed=GRANTS["operator"])
    given: Any = [mine] if member == "parameters" else mine
    with asked_by(boss), pytest.raises(AccessDeniedError, match="about the whole store"):
        dispatch(store.session, name, json.dumps({member: given, **rest}).encode())


# -- what is written ---------------------------------------------------------------------------------


def test_the_session_of_a_message_leads_out_of_no_session(store: Store) -> None:
    size = len(store)
    with asked_by(DESK):
        for said in ({"session": "phone"}, {"session": "desk "}):
            message = {"role": "user", "content": "I live in Porto.", **said}
            with pytest.raises(AccessDeniedError, match="session_id 'desk'"):
                store.remember([{"role": "user", "content": "Hello."}, message])
        assert len(store) == size
        (own,) = store.remember(
            [{"role": "user", "content": "I live in Faro.", "session": "desk"}], learn=False
        )
    assert scope_of(store.get(own)) == {"user_id": "tom", "session_id": "desk"}
    with asked_by(TOM):
        (free,) = store.remember([{"role": "user", "content": "Hello.", "session": "phone"}], learn=False)
    assert scope_of(store.get(free)) == {"user_id": "tom", "session_id": "phone"}


def test_a_key_means_nothing_beyond_its_scope(store: Store) -> None:
    hers = store.append("I live in Porto.", user_id="maya", idempotency_key="k")
    (said,) = store.remember("I live in Porto.", user_id="maya", idempotency_key="m", learn=False)
    mine = store.append("I live in Leeds.", user_id="tom")
    with asked_by(TOM):
        first = store.append("I live in Porto.", idempotency_key="k")
        (other,) = store.remember("We live in Porto.", idempotency_key="m", learn=False)
        pair = store.append_all([Append(text="Hello."), Append(text="Porto.", idempotency_key="k2")])
        changed = store.modify(mine, text="I live in York.", reason="moved", idempotency_key="k3")
        assert not {hers, said} & {first, other, *(one.id for one in pair.records), changed.id}
        assert store.append("I live in Porto.", idempotency_key="k") == first
        assert store.remember("We live in Porto.", idempotency_key="m", learn=False).ids == (other,)
        for ask in (
            lambda: store.append("It snowed.", idempotency_key="k"),
            lambda: store.remember("It snowed.", idempotency_key="m", learn=False),
        ):
            with pytest.raises(IdempotencyConflictError, match=r"the key '[km]' is that of exp_") as caught:
                ask()
            assert caught.value.key in ("k", "m")
            assert caught.value.id in (first, other)
    store.erase(hers, said)  # with it goes its key: tom's calls go on naming what is his
    with asked_by(TOM):
        assert store.append("I live in Porto.", idempotency_key="k") == first
        assert store.remember("We live in Porto.", idempotency_key="m", learn=False).ids == (other,)


def captured(store: Store, path: RuntimePath, user_id: str | None = None) -> Captured:
    turn = Append(text="I live in Leeds.", actor="user", idempotency_key="turn 1")
    decision = PathDecision(number=0, reason="the first that came")
    return store.capture(
        harness="claude-code", session="s", runtime_path=path, request="turn_end", decision=decision,
        turns=(turn,), user_id=user_id,
    )  # fmt: skip


def test_the_session_of_a_harness_that_another_scope_has_is_a_session_of_its_own(store: Store) -> None:
    ann = Caller(name="ann's", kind="autonomous", allowed=GRANTS["autonomous"], user_id="ann")
    with asked_by(ann):
        captured(store, "plugin")
    with asked_by(TOM):
        first, again = captured(store, "hook"), captured(store, "plugin")
        assert (first.taken, first.runtime_path) == (1, "hook")
        assert (again.taken, again.known, again.runtime_path) == (0, 1, "hook")
    decided = [one.once for one in bodies(store, "runtime_path")]
    assert decided[0] == arbitration_key("claude-code", "s", 0)
    assert len(set(decided)) == 2


def test_a_session_goes_on_under_the_key_that_it_has(store: Store) -> None:
    captured(store, "hook", "tom")
    assert captured(store, "plugin", "tom").runtime_path == "hook"
    with asked_by(TOM):
        assert captured(store, "plugin").runtime_path == "hook"
    assert [one.once for one in bodies(store, "runtime_path")] == [arbitration_key("claude-code", "s", 0)]


def bodies(store: Store, name: str) -> list[Any]:
    return [one.body for one in store.read() if one.members.get("name") == name]


def test_what_is_nested_too_deeply_is_refused(store: Store) -> None:
    for depth in range(50, 1_000, 50):
        deep = '{"NOT": ' * depth + '{"tags": "x"}' + "}" * depth
        with asked_by(TOM), pytest.raises(ValueError, match="nested") as caught:
            dispatch(store.session, "recall", f'{{"query": "x", "filters": {deep}}}'.encode())
        assert problem(caught.value).status == 400


def test_what_was_forgotten_is_shown_to_who_may_recover(store: Store) -> None:
    id = store.append("I live in Leeds.", user_id="tom")
    store.forget(id)
    reader = Caller(name="reader", kind="model", allowed=GRANTS["model"])
    asks: dict[str, dict[str, Any]] = {
        "get": {"id": id}, "read": {}, "tail": {"seconds": 0.0}, "sql": {"query": "SELECT 1"},
        "lens_view": {"id": id},
    }  # fmt: skip
    for held_to in ({}, {"user_id": "tom"}):
        caller = msgspec.structs.replace(reader, **held_to)
        for name, request in asks.items():
            sent = json.dumps({**request, "include_forgotten": True}).encode()
            with asked_by(caller), pytest.raises(AccessDeniedError, match="needs the access 'recover'"):
                dispatch(store.session, name, sent)
    with asked_by(TOM):
        assert store.get(id, include_forgotten=True).text == "I live in Leeds."


def test_what_others_derived_keeps_nobody_from_their_own_memory(store: Store) -> None:
    id = store.append("The locker code word of Dee is Wombat42.", user_id="dee", session_id="s")
    answer = store.append("Somebody asked for the word.", type="inference", parents=[id])  # of no scope
    dee = Caller(name="dee's", kind="operator", user_id="dee")
    with asked_by(dee):
        assert answer not in [*store.plan_forget(id), *(one.id for one in store.plan_erase(id).erased)]
        assert [node.id for node in store.trace(id).down] == []
        store.forget(id)
        assert answer not in store.plan_recover(id)
    assert store.get(answer, include_forgotten=True).id
    with pytest.raises(ForgottenError):  # it fell with it all the same
        store.get(answer)
    assert answer in store.plan_recover(id)
    with asked_by(dee):
        store.recover(id)
    assert store.get(answer).text
    other = store.append("Also of it.", user_id="ned", parents=[id])
    store.erase(other)
    with asked_by(dee):
        assert [node.id for node in store.trace(id).down if node.id == other] == []


def test_of_many_changes_one_of_anothers_memory_stops_no_other(store: Store) -> None:
    own, others = (store.append("It rained.", user_id=user) for user in ("tom", "maya"))
    none = own[:-3] + "zzz"
    with asked_by(TOM):
        told = store.modify_all([Modify(id=id, pinned=True, reason="keep") for id in (others, own, none)])
        named = store.modify_all([Modify(id=own, text=others, reason="x")])
    assert [one.error for one in (*told, *named)] == [
        "UnknownRecordError",
        None,
        "UnknownRecordError",
        "UnknownRecordError",
    ]
    assert str(told[0].message).replace(others, none) == told[2].message
    store.append("Mine.", user_id="maya", idempotency_key="order-1")
    with asked_by(TOM):
        taken, free = (
            store.modify_all(
                [Modify(id=own, tags=(f"{key}{n}",), reason="x", idempotency_key=key) for n in (1, 2)]
            )[1].message
            for key in ("order-1", "order-2")
        )
    assert str(taken).split("'")[1] == "order-1"
    assert str(free).split("'")[1] == "order-2"
    assert len(store.history(others).changes) == 1


def test_a_key_that_no_other_has_is_one_for_all_paths(store: Store) -> None:
    with asked_by(TOM):
        mine = store.append("It rained.", idempotency_key="turn 1")
        assert store.append("It rained.", idempotency_key="turn 1") == mine
    assert store.append("It rained.", user_id="tom", idempotency_key="turn 1") == mine
    with asked_by(DESK):  # a narrower scope, which the first is not in
        assert store.append("It rained.", idempotency_key="turn 1") != mine


def test_what_is_read_of_others_is_not_on_the_word_of_whoever_asked(store: Store) -> None:
    store.append("I live in Porto.", user_id="maya", name="Maya")
    with asked_by(TOM):
        (mine,) = store.remember({"role": "user", "content": "I live in Leeds.", "name": "Tom"})
    readings = [one for one in store.read() if one.kind == "experience" and is_reading(one.body)]
    assert {scope_of(one)["user_id"] for one in readings} == {"maya", "tom"}
    assert all(ASKED_BY not in one.members for one in readings)
    assert store.get(mine).members[ASKED_BY] == "person tom's"
    with asked_by(TOM):
        store.correct(mine, "I live in York.")
    told = [one for one in store.read() if one.kind == "experience" and is_reading(one.body)]
    assert len(told) > len(readings)
    assert all(ASKED_BY not in one.members for one in told)


def test_a_place_that_is_taken_is_refused_in_words(store: Store, tmp_path: Path) -> None:
    store.append("I live in Porto.", user_id="maya")
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine").write_text("mine")
    (tmp_path / "taken.zip").write_text("mine")
    for ask in (
        lambda: store.export_copy(str(taken)),
        lambda: store.export_copy(str(tmp_path / "taken.zip")),
        lambda: store.export_subject(str(taken), user_id="maya"),
        lambda: store.export_subject(str(tmp_path / "taken.zip"), user_id="maya"),
    ):
        with pytest.raises(DestinationExistsError, match="choose another") as caught:
            ask()
        told = problem(caught.value)
        assert (told.status, told.error) == (409, "DestinationExistsError")
        assert "choose another" in told.detail
    assert (taken / "mine").read_text() == "mine"
    assert [one.name for one in taken.iterdir()] == ["mine"]


# -- what is erased ----------------------------------------------------------------------------------


def test_an_id_of_their_own_is_erased_and_nothing_else_of_their_scope(store: Store) -> None:
    """The scope was demanded, and then added: whoever named one record of theirs erased all of them."""
    mine, kept = (store.append(text, user_id="tom") for text in ("I live in Leeds.", "I like tea."))
    hers = store.append("I live in Porto.", user_id="maya")
    boss = msgspec.structs.replace(TOM, kind="operator", allowed=GRANTS["operator"])
    with asked_by(boss):
        assert [one.id for one in store.plan_erase(mine).asked] == [mine]
        for ask in (store.plan_erase, store.erase):
            with pytest.raises(UnknownRecordError, match="no such record"):
                ask(mine, hers)
            with pytest.raises(InvalidRequestError, match="ids or by a scope"):
                ask(mine, user_id="tom")
            with pytest.raises(InvalidRequestError, match="ids or by a scope"):
                ask(mine, says=("tea",))
            with pytest.raises(AccessDeniedError, match="say so in the request"):
                ask(says=("tea",))
        (done,) = store.erase(mine)
    assert done.records == 1
    assert (store.get(kept).text, store.get(hers).text) == ("I like tea.", "I live in Porto.")


# -- every operation ---------------------------------------------------------------------------------


def covers(own: dict[str, str], scope: dict[str, str]) -> bool:
    return all(scope.get(name) == value for name, value in own.items())


def scopes(chance: random.Random) -> list[dict[str, Any]]:
    """Return scopes that share some of their ids: to be held to one isn't to be held to its neighbour."""
    found: list[dict[str, Any]] = [{"user_id": f"u{n}"} for n in range(4)]
    for _ in range(20):
        names = ["user_id", *chance.sample(SCOPE[1:], chance.randint(1, 3))]
        found.append({name: f"{name[0]}{chance.randrange(3)}" for name in names})
    return found


def request_of(
    known: Operation, made: Scene, own: dict[str, str], other: dict[str, str], chance: random.Random
) -> dict[str, Any]:
    """Return what an operation is asked for another's: within their scope, within none, or within one's own."""
    plain = asked(known, made)
    if "user_id" not in known.request.__struct_fields__:
        return plain
    bare = {name: value for name, value in plain.items() if name not in SCOPE}
    return bare | chance.choice((other, {}, own))


def told_of(store: Store, name: str, sent: str) -> str:
    """Return all that a caller is told: an answer, or an error by its text, its members, and as a server writes it."""
    try:
        return dispatch(store.session, name, sent.encode()).decode()
    except Exception as error:
        return f"{error} {error!r} {vars(error)} {wire.to_json(problem(error)).decode()}"


class Pair(NamedTuple):
    """A caller, and a record of a scope that isn't theirs."""

    caller: Caller
    own: dict[str, str]
    id: str
    other: dict[str, str]


def pairs(chance: random.Random, homes: dict[str, dict[str, str]]) -> list[Pair]:
    """`homes`: records by id, each of a scope of its own."""
    found: list[Pair] = []
    for number in range(PAIRS):
        own = chance.choice(list(homes.values()))
        id, other = chance.choice([one for one in homes.items() if not covers(own, one[1])])
        kind: CallerKind = chance.choice(list(GRANTS))
        caller = msgspec.structs.replace(
            Caller(name=f"caller {number}", kind=kind, allowed=GRANTS[kind]), **own
        )
        found.append(Pair(caller, own, id, other))
    return found


def asks(chance: random.Random, given: Sequence[Pair]) -> list[tuple[str, Pair]]:
    """Return what is asked: by each pair what has no scope, which is refused at once, and some of what has one.

    What only reads comes first: it needn't follow what was written meanwhile.
    """
    scoped = {name: known for name, known in ALL.items() if "user_id" in known.request.__struct_fields__}
    found = [(name, one) for name in ALL if name not in scoped for one in given]
    for name, known in scoped.items():
        found += [(name, one) for one in chance.sample(given, READS if _only_reads(known) else WRITES)]
    assert {name for name, _ in found} == set(ALL)
    return sorted(found, key=lambda one: not _only_reads(ALL[one[0]]))


def _only_reads(known: Operation) -> bool:
    return known.access == "read" and known.repeatable


@pytest.mark.soak(first=True)
def test_of_another_scope_no_operation_tells_and_to_none_it_does_anything(
    scene: Scene,  # noqa: F811
    tmp_path: Path,
) -> None:
    """500 seeded pairs of a caller and a scope that isn't theirs, over every operation of the registry."""
    chance = random.Random(24)
    made = scene.copy(tmp_path / "made")
    with made.open() as store:
        homes = dict[str, dict[str, str]]()
        words = dict[str, str]()
        for at, place in enumerate(scopes(chance)):
            id = store.append(f"I keep the word zq{at}x in {place['user_id']}'s drawer.", **place)
            homes[id], words[id] = place, f"zq{at}x"
        before = {str(record.id): scope_of(record) for record in store.read(include_forgotten=True)}
        control, size = store.session.reader.control, len(store)
        gone = set(control.hidden) | set(control.erased)
        given = pairs(chance, homes)
        for name, pair in asks(chance, given):
            target = Scene(made.folder, made.names | {"said": pair.id})
            sent = json.dumps(request_of(ALL[name], target, pair.own, pair.other, chance))
            with asked_by(pair.caller):
                answer = told_of(store, name, sent)
            assert "Unexpected error" not in answer, (name, sent, answer)
            for told, place in before.items():
                if place and not covers(pair.own, place):
                    assert told not in words or words[told] not in answer, (name, sent, pair, answer)
                    assert told not in answer or told in sent, (name, sent, pair, answer)
        own_of: dict[object, dict[str, str]] = {
            f"{one.caller.kind} {one.caller.name}": one.own for one in given
        }
        written = [one for one in store.read(include_forgotten=True) if one.members.get(ASKED_BY) in own_of]
        assert len(written) > 5
        for record in written:
            own = own_of[record.members[ASKED_BY]]
            token = record.members["data"] if record.members.get("name") == "token" else None
            assert covers(own, token["held_to"] if token else scope_of(record)), (record.raw, own)
            assert not token or token["op"] == "issue"
            assert all(covers(own, before[link.id]) for link in record.links if before.get(link.id))
        control = store.session.reader.control
        assert not [at for at in (set(control.hidden) | set(control.erased)) - gone if at < size]


@pytest.mark.sample(2)
@pytest.mark.parametrize("session_id", [None, "one"])
def test_what_is_their_own_a_caller_can_ask(
    scene: Scene,  # noqa: F811
    tmp_path: Path,
    session_id: str | None,
) -> None:
    """Held to their scope, or to a session of it, each operation that has one does what it does."""
    made = scene.copy(tmp_path / "made")
    caller = Caller(name="maya's", user_id="maya", session_id=session_id)
    refused: set[str] = set()
    with made.open() as store:
        # What is said comes first, and is read: it names the entities that others are about.
        for name, known in sorted(ALL.items(), key=lambda one: one[0] not in ("append", "remember")):
            if "user_id" not in known.request.__struct_fields__ or name in OF_TOM:
                continue
            request = {one: value for one, value in asked(known, made).items() if one not in SCOPE}
            with asked_by(caller):
                if "is not written" in told_of(store, name, json.dumps(request)):
                    refused.add(name)
    assert refused == set()
