"""SQL tells how a record stands by the one rule of standing (SPEC §9.7, §10.1), whatever was forgotten in between."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import pytest

from braid.ledger.record.record import READING, Claim, Draft, EventBody, Provenance, Scope, ViewBody
from braid.views import replay as driver
from braid.views.duck.past import Past
from braid.views.store import Views

DAY = datetime(2025, 6, 1, tzinfo=UTC)
LATER = DAY + timedelta(days=1)


def allergic(to: str) -> dict[str, Any]:
    return {"symbolic": [Claim(subject="Maya", rel="is allergic to", object=to)], "occurred_at": DAY}


def chain(bench: Any) -> list[str]:
    """Nuts, put right to cats, put right to dogs; return their ids."""
    ids: list[str] = []
    for said in ("nuts", "cats", "dogs"):
        links = [("supersedes", ids[-1])] if ids else []
        ids.append(bench.say(said, links=links, **allergic(said))[0].id)
    return ids


def claimed(bench: Any) -> list[str]:
    return [row["object"] for row in bench.rows("FROM claims_at($at)", {"at": LATER})]


def narrowed(bench: Any) -> list[str]:
    past = Past(bench.writer.size, valid_at=LATER)
    table = bench.views.sql("SELECT object FROM claims ORDER BY log_index", past=past).table
    found: list[str] = table.column("object").to_pylist()
    texts = bench.views.sql("SELECT text FROM experiences ORDER BY log_index", past=past).table
    assert texts.column("text").to_pylist() == found
    return found


def stands(bench: Any, index: int) -> tuple[str, str | None]:
    (row,) = bench.rows(
        "SELECT standing, superseded_by FROM experiences WHERE log_index = $at",
        {"at": index},
    )
    return row["standing"], row["superseded_by"]


def same_as_rebuilt(bench: Any) -> None:
    """Catching up, what stands beside it, and the audit agree; the file that is followed goes on."""
    bench.views.catch_up()
    other = Views(bench.path / "rebuilt", bench.writer)
    other.replay("duck")
    digests = [views.status()[0].digest for views in (bench.views, other)]
    other.close()
    assert digests[0] == digests[1]
    assert bench.views.check() == []


HIDDEN = [
    frozenset(some) for size in range(4) for some in {frozenset(p[:size]) for p in permutations(range(3))}
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda some: "-".join(map(str, sorted(some))) or "none")
def test_the_last_of_a_chain_that_is_there_holds(bench: Any, hidden: frozenset[int]) -> None:
    ids = chain(bench)
    bench.views.catch_up()
    for at in sorted(hidden):
        bench.tombstone("forget", ids[at])
    left = [at for at in range(3) if at not in hidden]
    last = [("nuts", "cats", "dogs")[at] for at in left[-1:]]
    assert claimed(bench) == narrowed(bench) == last
    told = bench.rows("SELECT old_id, id FROM corrections ORDER BY old_index")
    expected = [(ids[at], ids[left[-1]]) for at in left[:-1]]
    # What is forgotten stays named by what corrected it.
    expected += [(ids[at], ids[left[-1]]) for at in hidden if left and at + 1 in left]
    assert sorted((row["old_id"], row["id"]) for row in told) == sorted(expected)
    history = bench.rows("SELECT object, corrected_by FROM history('Maya')")
    by = [ids[left[-1]] for _ in left[:-1]] + [None for _ in last]
    assert [row["corrected_by"] for row in history] == by


@pytest.mark.soak
def test_each_member_forgotten_and_recovered_in_every_order(bench: Any) -> None:
    ids = chain(bench)
    same_as_rebuilt(bench)
    for order in permutations(range(3)):
        hidden: set[int] = set()
        for op in ("forget", "recover"):
            for at in order:
                bench.tombstone(op, ids[at])
                (hidden.add if op == "forget" else hidden.discard)(at)
                left = [one for one in range(3) if one not in hidden]
                assert claimed(bench) == [("nuts", "cats", "dogs")[one] for one in left[-1:]]
    same_as_rebuilt(bench)


@pytest.mark.soak
def test_catching_up_after_each_step_is_a_rebuild(bench: Any) -> None:
    ids = chain(bench)
    same_as_rebuilt(bench)
    reading = bench.say("a reading of nuts", type="inference", links=[("parent", ids[0])])[0]
    same_as_rebuilt(bench)
    assert stands(bench, reading.index) == ("fallen", None)  # it was born so
    for op, at in (("forget", 2), ("forget", 1), ("recover", 2), ("recover", 1)):
        bench.tombstone(op, ids[at])
        same_as_rebuilt(bench)
    assert stands(bench, bench.writer.index_of(ids[0])) == ("replaced", ids[2])
    bench.tombstone("erase", ids[2])
    same_as_rebuilt(bench)
    assert stands(bench, bench.writer.index_of(ids[0])) == ("replaced", ids[1])
    bench.tombstone("erase", ids[1])
    same_as_rebuilt(bench)
    assert stands(bench, reading.index) == ("living", None)
    assert claimed(bench) == ["nuts"]


def test_a_reading_falls_and_comes_back_with_its_turn(bench: Any) -> None:
    turn = bench.say("I live in Porto.", occurred_at=DAY)[0]
    reading = bench.say(
        "Maya lives in Porto", type="inference", links=[("parent", turn.id)], **allergic("Porto")
    )[0]
    of_it = bench.say("and so in Portugal", type="inference", links=[("parent", reading.id)])[0]
    assert claimed(bench) == ["Porto"]
    right = bench.say("No, in Lisbon.", occurred_at=DAY, links=[("supersedes", turn.id)])[0]
    same_as_rebuilt(bench)
    assert claimed(bench) == []
    assert narrowed_texts(bench) == ["No, in Lisbon."]
    assert [stands(bench, one.index) for one in (turn, reading, of_it, right)] == [
        ("replaced", right.id), ("fallen", None), ("fallen", None), ("living", None),
    ]  # fmt: skip
    assert bench.rows("SELECT corrected_by AS by, standing FROM history('Maya')") == [
        {"by": right.id, "standing": "fallen"}
    ]
    bench.tombstone("forget", right.id)
    same_as_rebuilt(bench)
    assert claimed(bench) == ["Porto"]


def narrowed_texts(bench: Any) -> list[str]:
    past = Past(bench.writer.size, valid_at=LATER)
    table = bench.views.sql("SELECT text FROM experiences ORDER BY log_index", past=past).table
    found: list[str] = table.column("text").to_pylist()
    return found


def test_a_past_tells_how_records_stood_then(bench: Any) -> None:
    ids = chain(bench)
    bench.say(*map(str, range(9)))
    bench.views.catch_up(publish=True)

    def at(size: int) -> list[Any]:
        table = bench.views.sql(
            "SELECT standing FROM experiences WHERE text IN ('nuts', 'cats', 'dogs') ORDER BY log_index",
            past=Past(size),
        ).table
        found: list[Any] = table.column("standing").to_pylist()
        return found

    first = bench.writer.index_of(ids[0])
    assert at(first + 3) == ["replaced", "replaced", "living"]
    assert at(first + 2) == ["replaced", "living"]
    assert at(first + 1) == ["living"]


def test_stances_views_and_the_rest_tell_it_too(bench: Any, one_of_each: Any) -> None:
    ids = one_of_each(bench)
    right = bench.say("the right one", links=[("supersedes", ids["first"])])[0]
    same_as_rebuilt(bench)
    for table, of, state in (
        ("views", "view", "fallen"), ("affect_snapshots", "affect", "fallen"), ("stances", "stance", "living"),
        ("events", "event", "living"),
    ):  # fmt: skip
        (row,) = bench.rows(f"SELECT standing AS state FROM {table} WHERE id = $id", {"id": ids[of]})
        assert (table, row["state"]) == (table, state)
    links = [("applied_to", right.id), ("supersedes", ids["view"])]
    (new,) = bench.writer.append([Draft(kind="view", links=links, body=ViewBody(lens="causal"))])
    (row,) = bench.rows("SELECT standing, superseded_by AS by FROM views WHERE id = $id", {"id": ids["view"]})
    assert row == {"standing": "replaced", "by": new.id}
    same_as_rebuilt(bench)


def test_a_correction_by_another_kind_corrects_nothing(bench: Any) -> None:
    first = bench.say("one", **allergic("nuts"))[0]
    bench.writer.append([Draft(kind="event", links=[("supersedes", first.id)], body=EventBody(name="noise"))])
    assert claimed(bench) == ["nuts"]
    assert bench.rows("FROM corrections") == []


def test_turns_that_nothing_reaches_back_from_ask_nothing_of_the_log(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What catching up costs follows what is new: without links and tombstones nobody looks who links to what."""
    chain(bench)
    bench.views.catch_up()
    looked: list[int] = []
    real = type(bench.writer.backlinks).of

    def counted(self: Any, index: int) -> Any:
        looked.append(index)
        return real(self, index)

    monkeypatch.setattr(type(bench.writer.backlinks), "of", counted)
    bench.say("one", "two")
    bench.views.catch_up()
    assert looked == []
    bench.say("no: two", links=[("supersedes", bench.say("three")[0].id)])
    assert bench.views.catch_up()[0].again == 0
    assert len(looked) < 9


def test_a_crash_between_batches_is_mended(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file stands before the correction, with rows that know of it; then the correction is forgotten."""
    monkeypatch.setattr(driver, "BATCH_RECORDS", 1)
    monkeypatch.setattr(driver, "LEAST_BATCH_RECORDS", 1)
    bench.views.catch_up()
    first = bench.say("nuts", **allergic("nuts"))[0]
    right = bench.say("dogs", links=[("supersedes", first.id)], **allergic("dogs"))[0]
    real = driver.batches

    def cut_short(*args: Any, **more: Any) -> Any:
        for batch in real(*args, **more):
            if batch.stamp.position > right.index:
                raise KeyboardInterrupt
            yield batch

    bench.say("before")
    monkeypatch.setattr(driver, "batches", cut_short)
    with pytest.raises(KeyboardInterrupt):
        bench.views.catch_up()
    monkeypatch.setattr(driver, "batches", real)
    with duckdb.connect(bench.work, read_only=True) as con:
        assert con.sql("SELECT text, standing FROM experiences").fetchall() == [("nuts", "replaced")]
    bench.tombstone("forget", right.id)
    same_as_rebuilt(bench)
    assert claimed(bench) == ["nuts"]


def test_a_snapshot_and_the_rest_is_a_rebuild(tmp_path: Path) -> None:
    import braid

    with braid.open(tmp_path / "memory") as store:
        first = store.append("allergic to nuts")
        second = store.correct(first, "allergic to cats")
        store.snapshot()
        third = store.correct(second, "allergic to dogs")
        for id in (second, third):
            store.forget(id, only=True)
            assert store.replay("duck")[0].snapshot
            from_snapshot = store.views.status()[0].digest
            store.replay("duck", from_scratch=True)
            assert store.views.status()[0].digest == from_snapshot
            asked = "SELECT superseded_by FROM experiences WHERE id = $id"
            (row,) = store.sql(asked, {"id": first}).to_pylist()
            assert row["superseded_by"] == (third if id == second else None)


def test_whose_claims_are_asked_for(bench: Any) -> None:
    for user, place in (("maya", "Porto"), ("ben", "Faro")):
        scope = Scope(user_id=user)
        turn = bench.say(f"I live in {place}.", occurred_at=DAY, scope=scope)[0]
        made = Provenance(actor="agent", method=f"{READING}parse@15")
        lives = [Claim(subject="user", rel="lives_in", object=place)]
        links = [("parent", turn.id)]
        bench.say("so they said", links=links, scope=scope, provenance=made, symbolic=lives, occurred_at=DAY)
    bench.views.catch_up()
    of_ben = "SELECT object, user_id, who FROM history('user', user_id := 'ben')"
    assert bench.rows(of_ben) == [{"object": "Faro", "user_id": "ben", "who": "user"}]
    assert len(bench.rows("FROM history('user')")) == 2
    at = bench.rows("SELECT object FROM claims_at($at, user_id := 'maya')", {"at": LATER})
    assert at == [{"object": "Porto"}]
