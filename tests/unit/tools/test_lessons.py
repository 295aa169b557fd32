"""What a cross-encoder learns from: every file is read whole, and a line that is none is named."""

from pathlib import Path

import pytest

from braid.tools.lab.fit_reading import is_untaught
from braid.tools.lab.lessons import PairLesson, Said, behind, read_lessons, read_pairs

DATA = Path(__file__).parents[2] / "data"


def test_the_lessons_are_as_many_as_their_readme_says() -> None:
    read = read_lessons(DATA / "lessons")
    asked = [question for talk in read for question in talk.questions]
    assert (len(read), len(asked), sum(one.never_said for one in asked)) == (202, 10_214, 2_478)
    ids = [{turn.id for turn in talk.turns} for talk in read]
    assert all(
        set(one.turns) <= known for talk, known in zip(read, ids, strict=True) for one in talk.questions
    )
    assert sum(map(is_untaught, read)) == 134


def test_the_pairs_are_as_many_as_their_readmes_say() -> None:
    changes, plain = read_pairs(DATA / "changes"), read_pairs(DATA / "plain")
    assert (len(changes), sum(any(one.bears) for one in changes)) == (640, 481)
    assert (len(plain), sum(any(one.bears) for one in plain)) == (520, 416)
    assert all(one.older for one in changes)
    assert not any(one.older for one in plain)


def test_an_item_is_a_question_with_turns(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text(
        "I|who bakes\nA|Ida|I bake\nB|Otto|I do now\nD|Ida|fine\n\nI|when\nB|Ida|at 5\n"
    )
    assert read_pairs(tmp_path) == [
        PairLesson(
            "who bakes", Said("Ida", "I bake"), (Said("Otto", "I do now"), Said("Ida", "fine")), (True, False)
        ),
        PairLesson("when", None, (Said("Ida", "at 5"),), (True,)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I|who\nA|Ida|me\n",
        "I|who\nA|Ida|me\nA|Ida|you\nB|Ida|us\n",
        "who?\n",
        "I|lost\nI|when\nB|Ida|at 5\n",
        "B|Ida|at 5\n",
    ],
)
def test_what_is_no_item_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "1.txt").write_text(text)
    with pytest.raises(ValueError, match=r"1\.txt"):
        read_pairs(tmp_path)


def test_a_later_turn_is_read_behind_an_older_one() -> None:
    newer = [Said("Otto", "so five then")]
    assert behind("how many come?", Said("Ida", "four of us"), newer) == [
        "Ida: four of us / Otto: so five then"
    ]
