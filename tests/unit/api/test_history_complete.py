"""A history can't be incomplete: what stands in it is what the log alone says, whatever was done to a memory."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.ledger.errors import ErasedError
from braid.ledger.record.record import EventBody
from braid.store import Store
from tests.unit.views.drift import Drift

OPS: Final = {"forget": "DELETE", "recover": "RECOVER", "erase": "ERASE"}


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def pass_on(self, time: timedelta) -> None:
        self.now += time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


def derived(store: Store) -> dict[str, list[tuple[str, str]]]:
    """Return of each experience what changed its memory, in log order: by envelopes and links, and nothing else."""
    ids: list[str] = []
    memory: dict[int, int] = {}
    """The memory that an experience is of, by its first record."""
    changes: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for index, (envelope, links) in enumerate(store.session.reader.envelopes()):
        ids.append(envelope.id)
        to = {
            role: [one.index for one in links if one.role == role]
            for role in ("supersedes", "target", "evidence")
        }
        if envelope.kind == "experience":
            older = sorted({memory[at] for at in to["supersedes"]})
            memory[index] = older[0] if older else index
            for other in older[1:]:  # two memories are one from here on
                changes[older[0]] = sorted(
                    changes[older[0]] + changes.pop(other), key=lambda one: ids.index(one[1])
                )
                memory.update({at: older[0] for at, own in memory.items() if own == other})
            changes[memory[index]].append(("UPDATE" if older else "ADD", envelope.id))
            continue
        name, op = envelope.public.get("name"), str(envelope.public.get("op"))
        role, change = ("evidence", "NONE") if name == "decision" else ("target", "UPDATE")
        if envelope.kind == "tombstone" and op in OPS:
            change = OPS[op]
        elif envelope.kind != "event" or name not in ("memory", "decision"):
            continue
        for own in {memory[at] for at in to[role] if at in memory}:
            changes[own].append((change, envelope.id))
    for at, said in merged(store).items():
        for own in {memory[one] for one in said}:
            changes[own].append(("MERGE", ids[at]))
    place = {id: at for at, id in enumerate(ids)}
    for each in changes.values():
        each.sort(key=lambda one: place[one[1]])
    return {ids[at]: changes[own] for at, own in memory.items()}


def merged(store: Store) -> dict[int, set[int]]:
    """Return the turns that say a name, of each decision on it and each tombstone of that, whose words are there."""
    names: dict[int, set[int]] = {}
    decided: dict[int, set[int]] = {}
    stones: dict[int, set[int]] = {}
    for index, (envelope, links) in enumerate(store.session.reader.envelopes()):
        to = {
            role: [one.index for one in links if one.role == role]
            for role in ("parent", "evidence", "supersedes")
        }
        if envelope.kind == "tombstone" and envelope.public["op"] in ("forget", "recover"):
            about = [decided[one.index] for one in links if one.index in decided]
            stones |= {index: set().union(*about)} if about else {}
        if envelope.kind != "event" or envelope.public:
            continue
        try:
            body = store.session.reader.at(index, include_forgotten=True).body
        except ErasedError:
            continue
        assert isinstance(body, EventBody)
        if body.name == "entity_name":
            names[index] = {*to["evidence"]}
        elif body.name == "entity":
            decided[index] = {
                *to["evidence"],
                *(turn for name in to["parent"] for turn in names.get(name, ())),
                *(turn for older in to["supersedes"] for turn in decided.get(older, ())),
            }
    return decided | stones


def shown(store: Store, id: str) -> list[tuple[str, str]]:
    """Return what its history says of records; what is proposed is said by none."""
    return [(one.change, one.id) for one in store.history(id).changes if one.proposed is None]


def reported(store: Store) -> dict[str, set[tuple[str, str]]]:
    """Return of each experience what the report proposes for a claim of it, or about it: action, and for which one."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in store.decision_report(user_id="maya", limit=10_000, examples=1_000).examples:
        if one.target_id is not None:
            for id in (one.id, one.target_id):
                found[id].add((one.action, one.id))
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", [1, 2])
def test_each_change_of_each_memory_stands_in_its_history_once(store: Store, clock: Clock, seed: int) -> None:
    hand = Drift(store, seed, clock.pass_on)
    hand.append()
    for number in range(250):
        hand.change()
        if number % 5 == 0:  # half of them are there already
            store.remember(f"The code is {number % 40}.", user_id="maya", learn=False)
    wanted = derived(store)
    assert {kind for changes in wanted.values() for kind, _ in changes} == {
        "ADD", "UPDATE", "DELETE", "RECOVER", "ERASE", "MERGE", "NONE",
    }  # fmt: skip
    assert max(len(changes) for changes in wanted.values()) > 5
    for id, changes in wanted.items():
        assert shown(store, id) == changes, id


@pytest.mark.sample(2)
@pytest.mark.parametrize("phase", ["shadow", "add_only"])
def test_what_is_proposed_stands_in_the_history_as_the_report_has_it(store: Store, phase: str) -> None:
    store.change_setting("phase", phase, reason="to see it")
    said = [
        store.append(
            f"Maya {rel} {object_} ({number})",
            claims=[braid.Claim(subject="Maya", rel=rel, object=object_, polarity=polarity)],
            actor="user",
            name=("Maya", "Jonas")[number % 7 == 6],
            user_id="maya",
            occurred_at=datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=number),
        )
        for number, (rel, object_, polarity) in enumerate(
            (rel, object_, number % 5 != 4)
            for number in range(12)
            for rel, objects in (
                ("lives_in", ("Porto", "Lisbon", "Faro")),
                ("moved_to", ("Ghent", "Hull")),
                ("drinks", ("tea", "milk")),
                ("likes", ("chess",)),
                ("hates", ("chess", "rain")),
            )
            for object_ in (objects[number % len(objects)],)
        )
    ]
    wanted, actions = reported(store), set[str | None]()
    assert len(wanted) > 30
    for id in said:
        changes = store.history(id).changes
        rows = [one for one in changes if one.proposed is not None]
        actions |= {one.proposed for one in rows}
        assert [one.change for one in rows] == ["NONE"] * len(rows)
        assert {(one.proposed, one.id) for one in rows} == wanted[id], id
        assert len({(one.change, one.id) for one in changes}) == len(changes)
        assert store.history(id).version == 1
    assert actions == {"ADD", "UPDATE", "DELETE", "NONE"}


def test_a_row_says_what_would_be_done_and_why(store: Store) -> None:
    porto, lisbon = (
        store.append(
            f"I live in {place}.",
            claims=[braid.Claim(subject="Maya", rel="lives_in", object=place)],
            actor="user",
            name="Maya",
            user_id="maya",
            occurred_at=datetime(2025, month, 2, tzinfo=UTC),
        )
        for month, place in ((1, "Porto"), (4, "Lisbon"))
    )
    size = len(store)
    for id in (porto, lisbon):
        added, row = store.history(id).changes
        assert (added.change, row.change, row.proposed, row.id) == ("ADD", "NONE", "UPDATE", lisbon)
        assert row.reason == f"would UPDATE {porto}: newer: 2025-04-02 after 2025-01-02"
        assert (row.old, row.new) == ("Maya lives in Porto", "Maya lives in Lisbon")
        assert (row.record, row.actor, row.method) == (id, "autonomous", "rules@1")
    assert len(store) == size
    assert [one.change for one in store.history(porto, as_of=store.get(porto).index).changes] == ["ADD"]
    store.forget(lisbon)
    assert [one.proposed for one in store.history(porto).changes] == [None]


def test_each_change_names_its_session_and_what_set_it_going(store: Store) -> None:
    first = store.append("It rained.", user_id="maya", session_id="s1")
    said = store.append("I live in Porto.", user_id="maya", session_id="s1")
    store.modify(said, text="I live in Faro.", pinned=True, reason="misheard")
    store.modify(said, importance=0.9, reason="asked for often")
    store.forget(said, first, force=True)
    store.recover(said)
    found = store.history(said).changes
    assert [(one.change, one.session_id) for one in found] == [
        ("ADD", "s1"),
        ("UPDATE", "s1"),
        ("UPDATE", "s1"),
        ("UPDATE", "s1"),
        ("DELETE", None),
        ("RECOVER", None),
    ]
    assert found[2].correlation_id == found[1].correlation_id == found[1].id  # one call, two records
    rows = store.sql("SELECT id, correlation_id FROM audit_trail").to_pylist()
    of_log = {row["id"]: row["correlation_id"] for row in rows}
    assert all(of_log.get(one.id, one.correlation_id) == one.correlation_id for one in found)
    assert {one.id for one in found[1:]} <= of_log.keys()


def test_who_is_held_to_a_scope_is_shown_no_record_of_another_that_set_a_change_going(store: Store) -> None:
    with store.transaction() as together:
        together.append("I live in Faro.", user_id="ana")
        together.append("I live in Porto.", user_id="maya")
    other, own = (one.id for one in store.read() if one.text.startswith("I live"))
    assert [one.correlation_id for one in store.history(own).changes] == [other]
    maya = Caller(name="maya", kind="person", allowed=GRANTS["person"], user_id="maya")
    with asked_by(maya):
        assert [one.correlation_id for one in store.history(own).changes] == [own]
