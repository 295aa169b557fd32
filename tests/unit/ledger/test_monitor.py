"""A monitor over a real store: what it hears, what it remembers, and what two of them show together."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import braid
from braid.ledger.publish.offer import KeylessReader, OfferedStore
from braid.ledger.publish.remote import ServedLog
from braid.ledger.record.record import Content, Draft, EventBody, ExperienceBody
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.merkle import leaf_hash, root_of
from braid.ledger.tree.note import signing_key
from braid.ledger.witness.compact_range import MAX_ROW, Trail
from braid.ledger.witness.monitor import AlertLimits, Look, MonitorState, compare, look, read_state
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from tests.unit.ledger.made_log import MadeLog, counted, fetch_from

NOW, DAY = 1_700_000_000, 86_400


class Machine:
    """A store with its guard, as a monitor and its owner see it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = home / "memory"

    @property
    def guard(self) -> Guard:
        (path,) = (self.home / "guard").glob("*.guard")
        return Guard(path)

    def append(self, count: int = 1, word: str = "said") -> None:
        body = ExperienceBody(content=Content(text=word))
        writer = Writer(self.store, guard=self.guard)
        writer.append([Draft(kind="experience", type="occurrence", body=body) for _ in range(count)])
        writer.close()

    def look(self, state: MonitorState | None, now: int = NOW, limits: AlertLimits | None = None) -> Look:
        reader = KeylessReader(self.store, guard=self.guard)
        try:
            return look(
                ServedLog(OfferedStore(reader).fetch, reader.vkey), state, limits or AlertLimits(), now
            )
        finally:
            reader.close()

    def twin(self, name: str) -> "Machine":
        shutil.copytree(self.home, self.home.parent / name)
        return Machine(self.home.parent / name)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A new store with two records."""
    home = tmp_path / "home"
    home.mkdir()
    create_store(home / "memory", now=datetime.now(UTC), guard_folder=home / "guard")
    made = Machine(home)
    made.append(2)
    return made


def kinds(seen: Look) -> list[str]:
    return [alarm.kind for alarm in seen.alarms]


def test_a_quiet_log_is_quiet(machine: Machine) -> None:
    first = machine.look(None)
    assert (first.alarms, first.size, first.new) == ([], 5, 5)
    assert kinds(machine.look(first.state)) == []
    machine.append(3)
    assert machine.look(first.state, NOW + 60).new == 3


def test_it_hears_of_erasures_and_keys_once(machine: Machine) -> None:
    first = machine.look(None)
    with braid.open(machine.store, guard_dir=machine.home / "guard") as opened:
        opened.erase(opened.reader.envelope(3).id)
    seen = machine.look(first.state)
    assert kinds(seen) == ["erase"]
    assert "erases 1 record" in seen.alarms[0].what
    assert seen.alarms[0].index == 5
    assert kinds(machine.look(seen.state)) == []


def test_it_hears_of_a_rollback_and_keeps_the_evidence(machine: Machine) -> None:
    old = machine.twin("old")
    machine.append()
    seen = machine.look(None)
    back = old.look(seen.state)
    assert kinds(back) == ["rollback"]
    assert back.state
    assert len(back.state.conflicts) == 1
    assert back.state.trail == seen.state.trail if seen.state else False
    assert kinds(machine.look(back.state)) == []


def test_it_hears_of_forks_of_any_size(machine: Machine) -> None:
    other = machine.twin("other")
    machine.append(2)
    seen = machine.look(None)
    for count in (2, 4):
        other.append(count, "otherwise")
        assert kinds(other.look(seen.state)) == ["fork"]


def test_a_log_that_stands_still_is_stale(machine: Machine) -> None:
    first = machine.look(None, NOW)
    assert kinds(machine.look(first.state, NOW + DAY)) == []
    assert kinds(machine.look(first.state, NOW + DAY + 1)) == ["stale"]
    machine.append()
    assert kinds(machine.look(first.state, NOW + 2 * DAY)) == []


def test_rates_out_of_the_ordinary(machine: Machine) -> None:
    seen = machine.look(None, NOW)
    for hour in range(1, 8):
        machine.append(2)
        seen = machine.look(seen.state, NOW + hour * 3600)
        assert kinds(seen) == []
    machine.append(90)
    limits = AlertLimits(least=50)
    assert kinds(machine.look(seen.state, NOW + 8 * 3600, limits)) == ["rate"]
    assert kinds(machine.look(seen.state, NOW + 8 * 3600, AlertLimits(per_hour=80))) == ["rate"]
    assert kinds(machine.look(seen.state, NOW + 8 * 3600, AlertLimits(per_hour=100))) == []


def test_it_hears_of_the_note_of_a_fork_by_an_operator_alone(machine: Machine) -> None:
    """Also at the first look, which alarms for nothing else that is lawful."""
    first = machine.look(None)
    public = {"name": "fork", "size": 5, "root": "00" * 32, "seen": {"size": 9, "root": "11" * 32}}
    draft = Draft(kind="event", body=EventBody(name="fork"), public=public)
    notes: list[str] = []
    for role in ("recorder", "operator"):
        writer = Writer(machine.store, guard=machine.guard)
        (signer,) = [one.id for one in writer.signers.values() if one.role == role]
        notes.append(writer.append([draft], signer=signer)[0].id)
        writer.close()
    seen = machine.look(first.state)
    assert [(alarm.kind, alarm.what) for alarm in seen.alarms] == [
        ("forked", f"{notes[1]} notes a fork: a copy of 5 records goes on where 9 had been signed")
    ]
    assert kinds(machine.look(None)) == ["forked"]
    assert kinds(machine.look(seen.state)) == []


def test_entries_by_nobody_are_named(machine: Machine) -> None:
    """Under the log's key alone, without an author's: a head that holds a record nobody signed."""
    from braid.ledger.keys.logkeys import load_log_key
    from braid.ledger.record.envelope import unwrap, wrap

    reader = KeylessReader(machine.store, guard=machine.guard)
    entries = [reader.stored_envelope(index) for index in range(reader.published.size)]
    reader.close()
    key = load_log_key(machine.store)
    honest = MadeLog(entries, key)
    state = look(ServedLog(fetch_from(honest.files(4)), honest.vkey), None, AlertLimits(), NOW).state
    forged = MadeLog([*entries[:4], wrap(unwrap(entries[4]).payload, bytes(64)), b"{}", entries[3]], key)
    seen = look(ServedLog(fetch_from(forged.files(7)), forged.vkey), state, AlertLimits(), NOW)
    assert kinds(seen) == ["author", "record", "record"]
    assert [alarm.index for alarm in seen.alarms] == [4, 5, 6]


def test_an_admission_of_the_logs_own_key_is_named(machine: Machine) -> None:
    """A root key and the log's together can write it; from then on one signature might be taken for the other."""
    from braid.ledger.keys.author_key import Signer, load_signers
    from braid.ledger.keys.logkeys import load_log_key
    from braid.ledger.record.envelope import pae, unwrap, wrap
    from braid.ledger.write.create import admission

    reader = KeylessReader(machine.store, guard=machine.guard)
    entries = [reader.stored_envelope(index) for index in range(reader.published.size)]
    reader.close()
    key = load_log_key(machine.store)
    honest = MadeLog(entries, key)
    state = look(ServedLog(fetch_from(honest.files(2)), honest.vkey), None, AlertLimits(), NOW).state
    root = next(one for one in load_signers(machine.store / "keys").values() if one.role == "root")
    public = msgspec.json.encode(admission(key.name, Signer(key.seed, "agent")).public)
    payload = unwrap(entries[2]).payload
    payload = payload[: payload.index(b'"public":')] + b'"public":' + public + b"}"
    forged = MadeLog([*entries[:2], wrap(payload, root.sign(pae(payload)))], key)
    (alarm,) = look(ServedLog(fetch_from(forged.files(3)), forged.vkey), state, AlertLimits(), NOW).alarms
    assert (alarm.kind, alarm.index) == ("author", 2)
    assert "signs heads and nothing else" in alarm.what


def test_two_monitors_name_two_conflicting_heads(machine: Machine) -> None:
    other = machine.twin("other")
    machine.append(1)
    other.append(3, "otherwise")
    a, b = machine.look(None).state, other.look(None).state
    assert a
    assert b
    found = compare(a, b)
    assert found.conflict == (a.heads[-1].note, b.heads[-1].note)
    assert "between 5 and 5" in found.what
    assert compare(a, a).conflict is None


def test_two_heads_of_one_size_are_enough(machine: Machine) -> None:
    other = machine.twin("other")
    machine.append(1)
    other.append(1, "otherwise")
    a, b = machine.look(None).state, other.look(None).state
    assert a
    assert b
    found = compare(a, b)
    assert "two heads of 6 records" in found.what
    caught = other.look(a).state
    assert caught
    assert compare(caught, caught).conflict  # one monitor that saw both convicts the key alone


def test_monitors_of_different_logs_are_not_compared(machine: Machine) -> None:
    made = MadeLog(counted(5), signing_key("log.example/other", bytes(32)))
    a, b = (
        machine.look(None).state,
        look(ServedLog(fetch_from(made.files(5)), made.vkey), None, AlertLimits(), NOW).state,
    )
    assert a
    assert b
    with pytest.raises(ValueError, match="different logs"):
        compare(a, b)


def test_a_state_is_read_as_it_was_written(machine: Machine) -> None:
    state = machine.look(None).state
    data = msgspec.json.encode(state)
    assert read_state(data) == state


def test_a_state_that_was_changed_is_refused(machine: Machine) -> None:
    state = machine.look(None).state
    data = msgspec.json.encode(state)
    assert state
    for bad in (
        b"",
        b"{}",
        data[:-5],
        data.replace(b'"size":5', b'"size":6'),
        msgspec.json.encode(msgspec.structs.replace(state, heads=[])),
        msgspec.json.encode(msgspec.structs.replace(state, trail=Trail().to_text())),
        msgspec.json.encode(msgspec.structs.replace(state, vkey=str(MadeLog([]).vkey))),
    ):
        with pytest.raises(ValueError, match="not the state of a monitor"):
            read_state(bad)


@pytest.mark.parametrize(
    "size", [0, 1, 2, 3, 7, 255, 256, MAX_ROW, MAX_ROW + 1, 2 * MAX_ROW + 3, 3 * MAX_ROW]
)
def test_a_trail_has_the_root_of_its_tree(size: int) -> None:
    leaves = [leaf_hash(b"%d" % number) for number in range(size)]
    trail = Trail()
    trail.extend(leaves)
    assert trail.root() == root_of(leaves)
    assert Trail.from_text(trail.to_text()).root() == trail.root()
    assert len(trail.row) <= MAX_ROW
    more = Trail.from_text(trail.to_text())
    more.extend(leaf_hash(b"more") for _ in range(5))
    assert more.root() == root_of([*leaves, *[leaf_hash(b"more")] * 5])


PAIRS = [(100, 100, 50), (100, 300, 99), (5000, 20_000, 3), (9000, 9001, 8999), (9000, 9000, 8999)]


@pytest.mark.parametrize(("first", "second", "at"), PAIRS)
def test_trails_show_where_they_differ(first: int, second: int, at: int) -> None:
    one, other, alike = Trail(), Trail(), Trail()
    one.extend(leaf_hash(b"%d" % number) for number in range(first))
    alike.extend(leaf_hash(b"%d" % number) for number in range(second))
    other.extend(leaf_hash(b"%d%b" % (number, b"!" * (number == at))) for number in range(second))
    assert one.differ(alike) is None
    found = one.differ(other)
    if found is None:
        assert at >= one.shared(other)
    else:
        assert found[0] <= at < found[1]
    assert (first, second, at) == (9000, 9001, 8999) or found
