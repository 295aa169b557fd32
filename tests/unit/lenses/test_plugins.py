"""Lenses of other packages: found in the entry-point group, never in the way; and what a bad one comes to."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import braid
from braid.lens.operations import Reweighted
from braid.lenses.errors import LensError, LensFailedError, UnknownLensError
from braid.lenses.registry import OURS, by_name, installed
from braid.store import Store

Register = Callable[[str], None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store in which something was shouted."""
    with braid.open(tmp_path / "memory") as opened:
        opened.append("Look out!", user_id="maya")
        opened.append("Nothing happened.", user_id="maya")
        yield opened


@pytest.mark.usefixtures("shouting")
def test_a_lens_of_another_package_is_applied_and_verified(store: Store) -> None:
    view = store.apply_lens("shouts", user_id="maya")
    assert [item.text for item in view.items] == ["LOOK OUT!"]
    assert view.appended
    assert store.verify(rederive=True).exit_code == 0
    assert tuple(installed().lenses)[: len(OURS)] == OURS


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("broken = shouting:Missing", "AttributeError"),
        ("broken = no_such_module:X", "ModuleNotFoundError"),
        ("none = shouting:NoLens", "it is no Lens"),
        ("other = shouting:Shouts", "calls itself 'shouts', and is registered as 'other'"),
        ("temporal = shouting:Shouts", "'temporal' is taken"),
    ],
)
def test_one_that_does_not_load_is_left_out_and_told(shouting: Register, line: str, reason: str) -> None:
    shouting(f"[braid.lenses]\n{line}\n")
    (trouble,) = installed().troubles
    assert reason in trouble
    assert tuple(installed().lenses) == OURS


@pytest.mark.sample(4)
@pytest.mark.usefixtures("shouting")
@pytest.mark.parametrize(
    ("how", "error", "why"),
    [
        ("raises", LensFailedError, "the lens bad failed: RuntimeError: no idea"),
        ("type", LensFailedError, "gave a dict, not a form"),
        ("nothing", LensFailedError, "gave a NoneType, not a form"),
        ("outside", LensFailedError, "claims the record at place 2; it was given 2"),
        ("item", LensFailedError, "item 'x' rests on the record at place 99"),
        ("nan", LensFailedError, "the weight nan"),
        ("text", LensFailedError, "rendered its view as NoneType"),
        ("json", LensFailedError, "TypeError: Encoding objects of type object is unsupported"),
        ("number", LensFailedError, "ValueError: Out of range float"),
        ("exits", LensFailedError, "the lens bad failed: SystemExit: 0"),
        ("place", LensFailedError, "claims the record at place 0.0; it was given 2"),
        ("weight", LensFailedError, "at place 0 the weight True"),
        ("key", LensFailedError, "it says 1: Item; items are of the class Item, by keys that are text"),
        ("no item", LensFailedError, "it says 'x': str; items are of the class Item"),
        ("item place", LensFailedError, "item 'x' rests on the record at place '0'"),
        ("none", LensFailedError, "AttributeError"),
        ("order", LensFailedError, r"shows an item 'who\?' that its view doesn't have"),
        ("surrogate", LensFailedError, "UnicodeEncodeError"),
        ("long", LensFailedError, "in 2000000 bytes; at most 1048576 are kept"),
    ],
)
def test_a_bad_lens_writes_nothing(store: Store, how: str, error: type[Exception], why: str) -> None:
    before = len(store)
    with pytest.raises(error, match=why):
        store.apply_lens("bad", user_id="maya", params={"how": how})
    assert len(store) == before
    assert store.lens_standings() == ()


@pytest.mark.usefixtures("shouting")
def test_one_that_takes_too_long_is_left_behind(store: Store) -> None:
    before = len(store)
    with pytest.raises(LensFailedError, match=r"took longer than 0.05 s; nothing was written"):
        store.apply_lens("bad", user_id="maya", params={"how": "sleeps"}, limit_s=0.05)
    assert len(store) == before


def test_what_it_does_to_its_parameters_is_its_own_affair(store: Store, shouting: Register) -> None:
    view = store.apply_lens("bad", user_id="maya", params={"how": "params"})
    assert view.params == {"how": "params"}
    assert store.verify(rederive=True).exit_code == 0


@pytest.mark.parametrize(
    ("how", "why"),
    [("raises", "the lens picky failed: RuntimeError: no taste"), ("sleeps", "took longer than 0.05 s")],
)
def test_one_that_fails_to_choose_writes_nothing(
    store: Store, shouting: Register, how: str, why: str
) -> None:
    type(by_name("picky")).how = how  # type: ignore[attr-defined]
    before = len(store)
    with pytest.raises(LensFailedError, match=why):
        store.apply_lens("picky", user_id="maya", limit_s=0.05)
    assert len(store) == before


@pytest.mark.usefixtures("shouting")
def test_one_that_changes_what_it_was_given_is_refused(store: Store) -> None:
    """What is changed in place is in no delta: raw + delta would not give the view."""
    first = store.apply_lens("meddler")
    store.append("And now!", user_id="maya")
    before = len(store)
    with pytest.raises(LensFailedError, match="changed the view that it was given: it returns another"):
        store.apply_lens("meddler")
    assert len(store) == before
    assert store.lens_view(first.id).items[0].data == {"n": 2}
    assert store.verify(rederive=True).exit_code == 0


@pytest.mark.usefixtures("shouting")
def test_what_it_prints_is_no_data(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from braid.tools.cli.access import Chosen
    from braid.tools.cli.lenses import apply

    monkeypatch.setattr(
        Chosen, "guard_dir", None
    )  # a command that ran in this process may have chosen another
    folder = store.path
    store.close()
    apply("bad", params='{"how": "prints"}', output="json", store=folder)
    said = capsys.readouterr()
    assert json.loads(said.out)["lens"] == "bad"
    assert "so much to say" in said.err


@pytest.mark.usefixtures("shouting")
def test_one_that_never_ends_does_not_keep_an_audit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.apply_lens("shouts")
    lens = by_name("shouts")
    monkeypatch.setattr("braid.admin.rederivation.LIMIT_S", 0.05)
    monkeypatch.setattr(type(lens), "fold", lambda *_: time.sleep(30))
    report = store.verify(rederive=True)
    assert report.exit_code == 0
    assert any("its lens took longer than 0.05 s" in note for note in report.notes)


@pytest.mark.usefixtures("shouting")
@pytest.mark.parametrize("limit_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(store: Store, limit_s: float) -> None:
    with pytest.raises(ValueError, match="limit"):
        store.apply_lens("shouts", limit_s=limit_s)


def test_a_lens_that_nobody_has_is_refused(store: Store) -> None:
    with pytest.raises(
        UnknownLensError, match="no lens 'rosy' is installed or defined; there are: causal, policy"
    ):
        store.apply_lens("rosy")
    with pytest.raises(UnknownLensError, match="installed in version 2, not 7"):
        store.apply_lens("temporal", version="7")
    with pytest.raises(LensError, match="nothing that the lens temporal looks at in this scope"):
        store.apply_lens("temporal", user_id="nobody")


@pytest.mark.usefixtures("shouting")
def test_a_model_is_asked_once_and_its_words_are_kept(store: Store) -> None:
    import shouting as package  # type: ignore[import-not-found]

    view = store.apply_lens("oracle")
    assert store.apply_lens("oracle").items == view.items == store.lens_view(view.id).items
    store.replay()
    report = store.verify(deep=True, rederive=True)
    assert package.Oracle.asked == 1
    assert report.exit_code == 0
    assert [note for note in report.notes if "asks a model" in note] == [
        f"1 not made again: views: the lens oracle asks a model: what it said is recorded, not made again: {view.id}"
    ]


@pytest.mark.usefixtures("shouting")
def test_one_that_cannot_fold_is_given_everything(store: Store) -> None:
    assert store.apply_lens("whole").items[0].text == "2 records"
    store.append("Quick!", user_id="maya")
    second = store.apply_lens("whole")
    assert second.items[0].text == "3 records"
    assert second.stands_on == ()
    assert store.verify(rederive=True).exit_code == 0


def test_a_new_version_leaves_the_old_view_as_it_was(store: Store, shouting: Register) -> None:
    first = store.apply_lens("shouts", user_id="maya")
    shouting("[braid.lenses]\nshouts = shouting:Later\n")
    assert by_name("shouts").version == "2"
    (standing,) = store.lens_standings()
    assert standing.stale == ("not applied yet in version 2",)
    (second,) = store.refresh_lenses()
    assert (second.version, store.get(second.id).targets("supersedes")) == ("2", [])
    assert store.lens_view(first.id).stale == ()
    assert store.lens_difference(first.id, second.id).reweighted == tuple(
        Reweighted(exp=id, w_old=1.0, w_new=2.0) for id in first.weights
    )
    report = store.verify(rederive=True)
    assert report.exit_code == 0
    assert any("shouts is installed in version 2, not 1" in note for note in report.notes)


def test_views_outlive_their_lens(store: Store, shouting: Register) -> None:
    view = store.apply_lens("shouts", user_id="maya")
    shouting("")
    assert store.lens_view(view.id).items == view.items
    (standing,) = store.lens_standings()
    assert "no lens 'shouts' is installed" in standing.stale[0]
    assert store.refresh_lenses() == ()
