"""The board itself: what README says of it, its list, and a judge that can be failed."""

from pathlib import Path
from typing import Any

import pytest

from tests.truth import board
from tests.truth.play import judged, says
from tests.truth.scenes import DOORS, Scene, load
from tests.truth.world import Line


class Parrot:
    """A world that tells what it is given."""

    def __init__(self, *lines: Line) -> None:
        self.lines = lines

    def tell(self, door: str, about: str, **how: Any) -> list[Line]:
        return list(self.lines)

    def id(self, name: str) -> str:
        return name


def test_there_are_a_hundred_scenes_and_more_of_every_door() -> None:
    scenes = load()
    assert len(scenes) >= 100
    doors = {door for scene in scenes for step in scene.steps for door in step.get("by", ())}
    assert doors >= set(DOORS) - {"why"}


def test_readme_gives_the_figure() -> None:
    scenes = load()
    total = sum(len(scene.tellings()) for scene in scenes)
    assert board.figure_of() == (len(board.known()), total, len(scenes))


def test_what_is_listed_is_a_telling_of_a_scene() -> None:
    assert board.known() <= {name for scene in load() for name in scene.tellings()}


@pytest.mark.parametrize(
    ("step", "lines"),
    [
        ({"never": ["nuts"]}, [Line("allergic to Nuts.")]),
        ({"never": ["^yes"]}, [Line("Yes. You said …")]),
        ({"tells": ["cats"]}, [Line("allergic to catsup")]),
        ({"one_of": ["cats", "dogs"]}, [Line("nuts")]),
        ({"silence": True}, [Line("nuts")]),
        ({"past": ["nuts"]}, [Line("It is nuts.")]),
        ({"past": ["nuts"]}, [Line("It is.")]),
        ({"beneath": {"old": "new"}}, [Line("a", None, "new")]),
        ({"beneath": {"old": "new"}}, [Line("a", None, "new"), Line("b", None, "old")]),
        ({"beneath": {"old": "new"}}, [Line("b", "new", "old"), Line("a", None, "new")]),
    ],
)
def test_the_judge_finds_what_is_wrong(step: dict[str, Any], lines: list[Line]) -> None:
    assert judged(Parrot(*lines), "ask", {"told": "?", "by": ["ask"], **step}) is not None  # type: ignore[arg-type]


def test_the_judge_lets_pass_what_is_right() -> None:
    right = Parrot(Line("Until 3 May you said: nuts."), Line("cats", None, "new"), Line("nuts", "new", "old"))
    step = {"tells": ["cats"], "never": ["^yes", "cat"], "past": ["nuts"], "beneath": {"old": "new"}}
    assert judged(right, "ask", {"told": "?", "by": ["ask"], **step}) is None  # type: ignore[arg-type]
    assert judged(Parrot(Line("")), "ask", {"told": "?", "tells": ["cats"], "or_silence": True}) is None  # type: ignore[arg-type]


def test_the_list_is_held_to_what_is_told() -> None:
    scene = Scene("a/b", [{"told": "?", "by": ["ask", "recall"], "never": ["x"]}], held=False)
    ask, recall = scene.tellings()
    assert board.against(scene, {ask: None, recall: None}, set()) == []
    assert board.against(scene, {ask: "tells x", recall: None}, {ask}) == []
    assert [one[:5] for one in board.against(scene, {ask: "tells x", recall: None}, set())] == ["WRONG"]
    assert [one[:5] for one in board.against(scene, {ask: None, recall: None}, {ask})] == ["right"]


def test_a_scene_with_a_word_that_is_not_known_is_refused(tmp_path: Path) -> None:
    for steps in (
        "[{sing: x}]",
        "[{say: x, loudly: 1}]",
        "[{told: x, by: [ask]}]",
        "[{told: x, by: [dream], never: [y]}]",
    ):
        (tmp_path / "one.yaml").write_text(
            f"theme: t\nscenes: [{{scene: s, steps: {steps}}}]\n", encoding="utf-8"
        )
        with pytest.raises(ValueError, match=r"one/s|demands"):
            load(tmp_path)


def test_words_are_whole() -> None:
    assert says("rent is £950.", "£950")
    assert not says("concatenate", "cat")
