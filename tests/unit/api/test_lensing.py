"""Views in the log: what a view record says, what it costs to make anew, when it is stale, what an erasure leaves."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import msgspec
import pytest

import braid
from braid.exchange.intake import import_jsonl
from braid.exchange.lines import export_jsonl
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Claim, Draft, ViewBody
from braid.ledger.record.shape import shape
from braid.lens.operations import View
from braid.lenses.errors import UnknownLensError, ViewUnreadableError
from braid.store import Store

DAY = datetime(2025, 3, 3, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of two people's memories."""
    with braid.open(tmp_path / "memory") as opened:
        yield opened


def say(store: Store, *texts: str, user_id: str = "maya", day: int = 0) -> list[str]:
    return [
        store.append(text, user_id=user_id, occurred_at=DAY + timedelta(days=day + at))
        for at, text in enumerate(texts)
    ]


def texts(view: View) -> list[str]:
    return [item.text for item in view.items]


def test_a_view_is_a_record_with_its_delta_and_its_braid(store: Store) -> None:
    one, two, three = say(store, "You must ask first.", "Nice weather.", "Never call before nine.")
    view = store.apply_lens("policy", user_id="maya")
    record = store.get(view.id)
    shown = shape(record)
    assert shown["lens"] == "policy"
    assert shown["version"] == "2"
    assert shown["applied_to"] == [one, two, three]
    assert shown["provenance_braid"][:3] == [one, two, three]
    assert shown["delta_from_raw"]["removed"] == {"records": [[1, 2]]}
    assert [item["text"] for item in shown["delta_from_raw"]["added"]["items"].values()] == [
        "user: You must ask first.",
        "user: Never call before nine.",
    ]
    assert set(shown["affect_delta"]) == {"from", "to", "by"}
    assert shown["content"]["text"] == view.text
    assert shown["sign"].startswith("ed25519:")
    assert set(view.weights) == {one, three}
    assert store.lens_view(view.id) == msgspec.structs.replace(view, read=0, appended=False)


def test_weights_that_change_name_their_records(store: Store) -> None:
    id = store.append("x", user_id="maya", claims=[Claim(subject="Maya", rel="lives_in", object="Leeds")])
    first = store.apply_lens("stance", user_id="maya")
    new = store.append("y", user_id="maya", claims=[Claim(subject="Maya", rel="lives_in", object="Porto")])
    second = store.apply_lens("stance", user_id="maya")
    for view in (first, second):
        weights = {
            each["exp"]: each["w_new"] for each in shape(store.get(view.id))["delta_from_raw"]["reweighted"]
        }
        assert weights == {exp: view.weights[exp] for exp in weights}
    assert second.weights[new] > second.weights[id]
    assert store.verify(rederive=True).exit_code == 0


def test_nothing_new_writes_nothing(store: Store) -> None:
    say(store, "You must ask first.")
    first = store.apply_lens("policy", user_id="maya")
    size = len(store)
    say(store, "Never mind me.", user_id="bob")
    again = store.apply_lens("policy", user_id="maya")
    assert (again.id, again.appended, len(store)) == (first.id, False, size + 1)


def test_scopes_parameters_and_ids_are_asked_apart(store: Store) -> None:
    one, two = say(store, "You must ask first.", "You must pay.")
    say(store, "You must wait.", user_id="bob")
    assert len(store.apply_lens("policy", user_id="maya").items) == 2
    assert len(store.apply_lens("policy").items) == 3
    assert texts(store.apply_lens("policy", ids=[two])) == ["user: You must pay."]
    assert texts(store.apply_lens("policy", ids=[two, one])) == [
        "user: You must pay.",
        "user: You must ask first.",
    ]
    assert store.apply_lens("summary", params={"sentences": 1}).params == {"sentences": 1}
    assert len(store.lens_standings()) == 5
    assert all(not standing.stale for standing in store.lens_standings())


@pytest.mark.parametrize(
    ("asked", "error", "why"),
    [
        ({"ids": [], "name": "policy"}, ValueError, "no record is named"),
        ({"ids": ["x"], "user_id": "maya", "name": "policy"}, ValueError, "not both"),
        ({"ids": ["x"], "name": "policy"}, UnknownRecordError, "x: no such record; an id is such as exp_"),
        ({"params": {"x": 1}, "name": "policy"}, ValueError, "has no parameter 'x'"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    store: Store, asked: dict[str, object], error: type[Exception], why: str
) -> None:
    size = len(store)
    with pytest.raises(error, match=why):
        store.apply_lens(**asked)  # type: ignore[arg-type]
    assert len(store) == size


class Counted:
    """Counts every body that is unsealed, wherever it is read from."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bodies = 0
        real = Reader.unseal

        def unseal(reader: Reader, *given: object) -> bytes:
            self.bodies += 1
            return real(reader, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(Reader, "unseal", unseal)

    def since(self) -> int:
        """How many since it was last asked."""
        counted, self.bodies = self.bodies, 0
        return counted


@pytest.mark.soak
def test_a_grown_log_costs_its_growth(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for start in range(0, 2_000, 500):
        store.remember([f"You must pay bill {at}." for at in range(start, start + 500)], user_id="maya")
    first = store.apply_lens("policy", user_id="maya")
    assert first.read >= 2_000
    counted = Counted(monkeypatch)
    view = first
    for growth in (1, 10, 100):
        store.remember([f"Never open door {at}." for at in range(growth)], user_id="maya")
        store.views.catalog.catch_up()
        counted.since()
        view = store.apply_lens("policy", user_id="maya")
        # the growth, the request and views that came meanwhile, and at most log2(n) views of the chain, twice
        assert counted.since() <= growth + 40
        assert view.read <= growth + 40
        assert len(view.stands_on) <= 11
    assert view.records == 2_111
    whole = store.apply_lens("policy", ids=[link.id for link in _applied(store, view)])
    assert texts(whole) == texts(view)
    assert whole.text == view.text


def _applied(store: Store, view: View) -> list[braid.Record]:
    ids = [*view.stands_on, view.id]
    return [store.get(link.id) for id in ids for link in store.get(id).targets("applied_to")]


@pytest.mark.soak
def test_a_chain_stays_short_and_each_record_is_linked_a_few_times(store: Store) -> None:
    for at in range(64):
        say(store, f"You must pay bill {at}.", day=at)
        view = store.apply_lens("policy", user_id="maya")
        assert len(view.stands_on) <= 6
    rows = store.sql(
        "SELECT max(n) AS n FROM (SELECT count(*) AS n FROM links WHERE role = 'applied_to' GROUP BY target_id)"
    )
    assert rows.to_pylist()[0]["n"] <= 7
    assert (
        store.verify(rederive=True)
        .checked[-1]
        .endswith("64 views, 0 claim records, 0 stances, 0 reconciliations")
    )


def test_a_forgotten_record_makes_it_stale_and_is_left_out(store: Store) -> None:
    one, two = say(store, "You must ask first.", "Never call before nine.")
    view = store.apply_lens("policy", user_id="maya")
    store.forget(one)
    with pytest.raises(ForgottenError, match=f"rests on {one}, which is forgotten"):
        store.lens_view(view.id)
    assert store.lens_view(view.id, include_forgotten=True).stale == (f"{one} is forgotten",)
    (standing,) = store.lens_standings()
    assert standing.stale == (f"{one} is forgotten",)
    (anew,) = store.refresh_lenses()
    assert set(anew.weights) == {two}
    assert store.get(anew.id).targets("supersedes")[0].id == view.id
    store.recover(one)
    assert store.lens_standings()[0].stale == (f"{one} is there again",)
    assert set(store.refresh_lenses()[0].weights) == {one, two}
    assert store.verify(rederive=True).exit_code == 0


def test_a_correction_takes_its_place_and_gives_it_back(store: Store) -> None:
    one, two = say(store, "You must ask first.", "Never call before nine.")
    view = store.apply_lens("policy", user_id="maya")
    new = store.correct(one, "You must ask last.")
    assert store.lens_view(view.id).stale == (f"{one} is superseded",)
    assert set(store.refresh_lenses()[0].weights) == {two, new}
    store.forget(new, only=True)
    assert set(store.refresh_lenses()[0].weights) == {one, two}
    assert store.lens_standings()[0].stale == ()


def test_what_changed_late_is_made_from_what_still_holds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.remember([f"You must pay bill {at}." for at in range(400)], user_id="maya")
    base = store.apply_lens("policy", user_id="maya")
    late = say(store, *[f"Never open door {at}." for at in range(5)])
    store.apply_lens("policy", user_id="maya")
    store.forget(late[3])
    store.views.catalog.catch_up()
    counted = Counted(monkeypatch)
    view = store.apply_lens("policy", user_id="maya")
    assert counted.since() < 60
    assert view.stands_on == (base.id,)
    assert view.records == 404


def test_an_erasure_takes_every_view_of_the_record_and_a_refresh_brings_the_rest(store: Store) -> None:
    one, two = say(store, "You must never say xyzzy.", "Never call before nine.")
    first = store.apply_lens("policy", user_id="maya")
    say(store, "From now on we pay at once.", day=9)
    second = store.apply_lens("policy", user_id="maya")
    (certificate,) = store.erase(one)
    assert certificate.records == 3
    for view in (first, second):
        with pytest.raises(ErasedError):
            store.get(view.id)
    (standing,) = store.lens_standings()
    assert standing.stale == ("it was erased with a record that it rests on",)
    (anew,) = store.refresh_lenses()
    assert "xyzzy" not in anew.text
    assert len(anew.weights) == 2
    assert two in anew.weights
    report = store.verify(deep=True, rederive=True)
    assert report.exit_code == 0


def test_what_stands_before_an_erased_record_is_kept(store: Store) -> None:
    store.remember([f"You must pay bill {at}." for at in range(50)], user_id="maya")
    base = store.apply_lens("policy", user_id="maya")
    (late,) = say(store, "Never open the door.")
    store.apply_lens("policy", user_id="maya")
    store.erase(late)
    assert store.get(base.id).id == base.id
    assert store.apply_lens("policy", user_id="maya").id == base.id
    assert store.lens_standings()[0].stale == ()


def test_erasing_a_person_takes_the_asking_too(store: Store) -> None:
    say(store, "You must ask first.")
    store.apply_lens("policy", user_id="maya")
    store.erase(user_id="maya")
    assert store.lens_standings() == ()
    assert store.lens_views() == ()


def test_superseded_views_stay_and_can_be_compared(store: Store) -> None:
    say(store, "You must ask first.")
    first = store.apply_lens("policy", user_id="maya")
    (new,) = say(store, "Never call before nine.", day=2)
    second = store.apply_lens("policy", user_id="maya")
    found = store.lens_difference(first.id, second.id)
    assert [item.text for item in found.added] == ["user: Never call before nine."]
    assert (found.removed, found.records_added, found.records_removed) == ((), (new,), ())
    assert store.lens_view(first.id).stale == (f"{second.id} came after it",)
    rows = store.lens_views()
    assert [row.id for row in rows] == [first.id, second.id]
    assert [row.stale for row in rows] == [("not the newest of its kind",), ()]


def test_a_view_that_was_made_by_hand_is_told_from_a_lens_s(store: Store) -> None:
    (one,) = say(store, "You must ask first.")
    id = store.session.append_drafts(
        [Draft(kind="view", body=ViewBody(lens="causal"), links=[("applied_to", one)])]
    )[0].id
    with pytest.raises(ViewUnreadableError, match="was not made by a lens: it names no version"):
        store.lens_view(id)
    with pytest.raises(ViewUnreadableError, match="is no view that a lens made"):
        store.refresh_lenses(id)
    report = store.verify(rederive=True)
    assert report.exit_code == 0
    assert any("was not made by a lens" in note for note in report.notes)


def test_a_view_that_is_named_is_made_anew(store: Store) -> None:
    say(store, "You must ask first.")
    view = store.apply_lens("policy", user_id="maya")
    store.apply_lens("temporal", user_id="maya")
    say(store, "Never call before nine.", day=2)
    assert [made.lens for made in store.refresh_lenses(view.id)] == ["policy"]
    with pytest.raises(UnknownRecordError):
        store.refresh_lenses("view_2025-05-17T09:00:00Z_0000000300ab")


def test_a_timeline_tells_no_answer_and_no_reflection(store: Store) -> None:
    moved, cost = say(store, "I moved to Porto on 3 March 2025.", "The van cost £214 in the end.")
    asked = store.ask("How much did the van cost?", user_id="maya")
    assert asked.answer_id is not None
    view = store.apply_lens("temporal", user_id="maya")
    (question,) = [one.id for one in store.read() if one.text == "How much did the van cost?"]
    assert {id for item in view.items for id in item.records} <= {moved, cost, question}
    assert store.verify(rederive=True).findings == []


def test_a_view_that_came_from_another_log_is_read_and_not_continued(store: Store, tmp_path: Path) -> None:
    say(store, "You must ask first.")
    store.apply_lens("policy", user_id="maya")
    exported = StringIO()
    export_jsonl(store, exported)
    with braid.open(tmp_path / "other") as other:
        other.append("Something before, so that places differ.")
        import_jsonl(other, exported.getvalue().encode().splitlines(keepends=True))
        (row,) = other.lens_views()
        assert texts(other.lens_view(row.id)) == ["user: You must ask first."]
        anew = other.apply_lens("policy", user_id="maya")
        assert anew.stands_on == ()
        assert texts(anew) == ["user: You must ask first."]
        assert other.verify(rederive=True).findings == []


def test_event_loops_have_the_same(tmp_path: Path) -> None:
    async def session() -> None:
        async with await braid.open_async(tmp_path / "memory") as store:
            await store.append("You must ask first.", user_id="maya")
            view = await store.apply_lens("policy", user_id="maya")
            assert (await store.lens_view(view.id)).text == view.text
            await store.append("Never call before nine.", user_id="maya")
            assert [one.stale for one in await store.lens_standings()] == [("1 more record in its scope",)]
            (anew,) = await store.refresh_lenses()
            assert len(await store.lens_views()) == 2
            assert (await store.lens_difference(view.id, anew.id)).added

    asyncio.run(session())


def test_hits_are_seen_through_a_lens(store: Store) -> None:
    say(
        store,
        "The cat moved on 9 March.",
        "The cat must never go out.",
        "The cat moved on 1 March.",
        "The cat!",
    )
    timeline = [hit.text for hit in store.recall("cat moved", user_id="maya", lens="temporal").results]
    assert timeline.index("The cat moved on 1 March.") < timeline.index("The cat moved on 9 March.")
    rules = store.recall("cat", user_id="maya", lens="policy").results
    assert [hit.text for hit in rules] == ["The cat must never go out."]
    assert rules[0].signals["lens"] == 1.0
    with pytest.raises(UnknownLensError, match="no lens 'rosy'"):
        store.recall("cat", lens="rosy")
