"""The labelled notebooks: how often the rules are right, and what is said of files that are none."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from braid.learn.model.decider import ModelDecider
from braid.tools.evaluation.decisions import Case, cases_of, errors, judged, scores, unlabelled
from tests.agreement import kappa
from tests.unit.learn.model_double import SaysInTurn

WIDE = Path(__file__).parents[2] / "data" / "decisions" / "wide"
HALVES = ("build", "held")


def cases(half: str) -> list[Case]:
    file = WIDE / f"{half}.jsonl"
    return cases_of(file.read_bytes(), str(file))


@pytest.mark.parametrize("half", HALVES)
def test_changes_are_right_on_the_labelled_notebooks(half: str) -> None:
    found = scores([judged(case) for case in cases(half)])
    count, of, share, *_ = found["changes"]
    print(f"{half}: {count} of {of} changes right; {found['right']} right, {found['recall']} found")  # noqa: T201
    assert share >= 0.95
    assert found["wrong_targets"] == 0
    assert found["recall"][2] >= 0.85
    count, of, share, *_ = found["reviews"]
    print(f"{half}: {count} of {of} questions to a person right; {found['reviews_found']} found")  # noqa: T201
    assert share >= 0.65  # docs/reliability.md says what that is
    assert found["reviews_found"][2] >= 0.95


def test_the_halves_are_parted_by_scene_and_hold_every_kind() -> None:
    every = [case for half in HALVES for case in cases(half)]
    assert len(every) >= 400
    assert len({case.labelled.id for case in every}) == len(every)
    assert len({case.scene.domain for case in every}) >= 6
    for half in HALVES:
        odd = {sha256(case.scene.scene.encode()).digest()[0] % 2 for case in cases(half)}
        assert odd == {int(half == "held")}
        assert min(Counter(case.labelled.label for case in cases(half)).values()) >= 10


def test_a_second_reader_sees_no_label() -> None:
    lines = unlabelled(cases("held"))
    assert {name for one in lines for name in one} == {"scene", "domain", "known", "id", "candidate"}
    assert sum("known" in one for one in lines) == 20


def test_a_second_reader_agrees() -> None:
    """Cohen's kappa of the actions, and how often both mean the same claim."""
    given = map(json.loads, (WIDE / "second.jsonl").read_text("utf-8").splitlines())
    second = {one["id"]: one for one in given}
    first = {case.labelled.id: case.labelled for half in HALVES for case in cases(half)}
    assert second.keys() == first.keys()
    pairs = [(first[id].action, second[id]["action"]) for id in first]
    agreed = kappa(pairs)
    meant = [
        second[id]["target"] in one.targets
        for id, one in first.items()
        if one.targets and one.action == second[id]["action"]
    ]
    same = sum(one == other for one, other in pairs)
    print(f"{same} of {len(pairs)} agree, kappa {agreed:.3f}; {sum(meant)} of {len(meant)} targets")  # noqa: T201
    assert agreed >= 0.9
    assert sum(meant) >= 0.98 * len(meant)


def test_a_model_is_judged_by_the_same_cases() -> None:
    some = cases("build")[:10]
    model = SaysInTurn('{"action": "ADD", "target": null, "confidence": 1, "reason": ""}', "nonsense")
    found = [judged(case, ModelDecider(model)) for case in some]
    assert [one.label for one in found] == ["ADD", *[None] * 9]
    wrong = errors(found)
    assert wrong[-1]["decided"] == "discarded"
    assert scores(found)["recall"][0] == 0


def test_an_empty_reply_is_no_answer() -> None:
    decider = ModelDecider(SaysInTurn(" \n"))
    found = [judged(case, decider) for case in cases("build") if case.scene.known][:3]
    account = decider.account()
    assert account.asked > 0
    assert account.answered == 0
    assert scores(found)["right"][0] == 0


SAID = '{"by": "A", "said": "2025-01-02", "subject": "A", "rel": "r", "object": "o"}'
SCENE = f'{{"scene": "s", "domain": "d", "known": [{SAID}]}}'
CASE = f'{{"id": "1", "kind": "k", "candidate": {SAID}, "action": "NONE", "targets": [0]}}'


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "holds no cases"),
        (SCENE, "holds no cases"),
        (CASE, "line 1: a case without a scene"),
        (f"{SCENE}\n{CASE.replace('[0]', '[1]')}", "line 2: a target that the scene doesn't hold"),
        (f"{SCENE}\n{CASE.replace('NONE', 'ERASE')}", "line 2"),
        (f"{SCENE}\n{CASE.replace('2025-01-02', 'May')}", "line 2"),
        (f"{SCENE}\n[]", "line 2"),
        ("{", "line 1"),
        ("[" * 100_000, "line 1: this is nested too deep"),
    ],
)
def test_what_is_no_file_of_cases_is_refused_with_its_line(raw: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        cases_of(raw.encode(), "file")
    assert cases_of(f"{SCENE}\n\n{CASE}".encode(), "file")
