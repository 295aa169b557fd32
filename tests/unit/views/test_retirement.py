"""One event retires what a reader has read: its readings have no say from then on; without it they have it again."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from braid.ledger.read import retirement
from braid.ledger.record.record import Claim, Provenance
from braid.ledger.record.standing import Standing
from braid.views.duck.past import Past
from braid.views.store import Views

DAY = datetime(2025, 6, 1, tzinfo=UTC)
OLD, NEW = "read:plain@1", "read:parse@1"


def reading(bench: Any, turn: str, object: str, method: str, links: Sequence[tuple[str, str]] = ()) -> Any:
    return bench.say(
        f"Maya lives_in {object}",
        type="inference",
        links=[("parent", turn), *links],
        provenance=Provenance(actor="agent", method=method),
        symbolic=[Claim(subject="Maya", rel="lives_in", object=object)],
        occurred_at=DAY,
    )[0]


def retire(bench: Any, method: str = OLD, key: str = "once") -> Any:
    genesis = bench.writer.envelope(0).id
    return bench.writer.append([retirement.draft(method, genesis, key)])[0]


def claimed(bench: Any, past: Past | None = None) -> list[str]:
    found = bench.views.sql(
        "SELECT c.object FROM claims c JOIN experiences e USING (log_index) WHERE e.standing = 'living'"
        " ORDER BY c.log_index",
        past=past,
    )
    return found.table.column("object").to_pylist()  # type: ignore[no-any-return]


def same_as_rebuilt(bench: Any) -> None:
    bench.views.catch_up()
    other = Views(bench.path / "rebuilt", bench.writer)
    other.replay("duck")
    digests = [views.status()[0].digest for views in (bench.views, other)]
    other.close()
    assert digests[0] == digests[1]
    assert bench.views.check() == []


def state(bench: Any, record: Any) -> Standing:
    found: Standing = bench.writer.standings().of(record.index)
    return found


@pytest.mark.soak
def test_readings_of_a_retired_reader_have_no_say_and_come_back_without_the_event(bench: Any) -> None:
    turn = bench.say("I live in Porto.", occurred_at=DAY)[0]
    before = reading(bench, turn.id, "Porto", OLD)
    other = reading(bench, turn.id, "Porto by the sea", NEW)
    above = bench.say("and so in Portugal", type="inference", links=[("parent", before.id)])[0]
    assert claimed(bench) == ["Porto", "Porto by the sea"]
    event = retire(bench)
    assert state(bench, before) == Standing("retired", event.index)
    assert state(bench, above) == Standing("fallen", before.index)
    assert [state(bench, one).state for one in (turn, other)] == ["living", "living"]
    assert claimed(bench) == ["Porto by the sea"]
    same_as_rebuilt(bench)
    after = reading(bench, turn.id, "Porto, late", OLD)
    assert state(bench, after) == Standing("retired", event.index)
    same_as_rebuilt(bench)
    assert claimed(bench) == ["Porto by the sea"]
    bench.tombstone("forget", event.id)
    assert [state(bench, one).state for one in (before, above, after)] == ["living"] * 3
    assert claimed(bench) == ["Porto", "Porto by the sea", "Porto, late"]
    same_as_rebuilt(bench)
    bench.tombstone("recover", event.id)
    assert claimed(bench) == ["Porto by the sea"]
    same_as_rebuilt(bench)
    bench.tombstone("erase", event.id)
    assert claimed(bench) == ["Porto", "Porto by the sea", "Porto, late"]
    same_as_rebuilt(bench)


@pytest.mark.sample(2)
@pytest.mark.parametrize("published", [False, True])
def test_before_it_was_retired_it_had_its_say(bench: Any, *, published: bool) -> None:
    turn = bench.say("I live in Porto.", occurred_at=DAY)[0]
    before = reading(bench, turn.id, "Porto", OLD)
    size = bench.writer.size
    bench.say(*(f"filler {n}" for n in range(5)))
    event = retire(bench)
    if published:  # the past is made from the newest generation, back over the event
        bench.views.replay("duck")
    assert claimed(bench, Past(size)) == ["Porto"]
    assert claimed(bench, Past(event.index)) == ["Porto"]
    assert claimed(bench, Past(event.index + 1)) == []
    assert bench.writer.standings(size).lives(before.index)
    assert bench.writer.standings(size - 1).of(before.index) == Standing("later")
    assert claimed(bench) == []


def test_only_an_event_that_links_to_genesis_and_says_so_retires(bench: Any) -> None:
    turn = bench.say("I live in Porto.", occurred_at=DAY)[0]
    before = reading(bench, turn.id, "Porto", OLD)
    said = bench.say("retired", links=[("evidence", bench.writer.envelope(0).id)])[0]
    assert bench.writer.standings().lives(before.index)
    assert list(bench.writer.retirements.events()) == []
    retire(bench, NEW, "other")
    assert bench.writer.standings().lives(before.index)
    assert bench.writer.standings().lives(said.index)


def test_where_nothing_is_retired_no_body_is_read(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = bench.say("I live in Porto.", occurred_at=DAY)[0]
    before = reading(bench, turn.id, "Porto", OLD)

    def refuse(*_args: object) -> str:
        raise AssertionError("a body was read")

    monkeypatch.setattr(retirement.Retirements, "method_of", refuse)
    assert bench.writer.standings().lives(before.index)
    assert claimed(bench) == ["Porto"]
