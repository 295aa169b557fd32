"""`evaluate gold` as a person types it, and `make gold`: own tasks, baselines, majorities, and with a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from braid.tools.gold.tasks import CLASSES, DATA
from braid.tools.lab.gold.__main__ import main
from braid.tools.lab.gold.baseline import NAME
from tests.system.cli.conftest import Done
from tests.system.models.chat_server import hang_up, prompt_of, says, speaks
from tests.system.models.model_server import ModelServer

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

TURNS = [
    ("t1", "2025-03-01T09:00:00Z", "I live in Leeds."),
    ("t2", "2025-05-18T09:00:00Z", "I live in Edinburgh now."),
    ("t3", "2025-06-02T09:00:00Z", "Yesterday I bought a red canoe for £320."),
]
TASKS: dict[str, list[dict[str, Any]]] = {
    "temporal": [
        {"question": "When did Ann buy the canoe?", "answer": "1 June 2025", "evidence": [["t3"]], "stance": "canoe"}
    ],
    "how-do-you-know": [
        {
            "question": "When did Ann buy the canoe?", "answer": "1 June 2025", "evidence": [["t3"]],
            "accept": [["Ann"], ["2 June 2025"]], "then": "how", "stance": "canoe",
        }
    ],
    "unanswerable": [{"question": "What did Bob study?", "answer": None, "stance": "none"}],
    "multi-hop": [
        {"question": "When did Ann buy the canoe?", "answer": "1 June 2025", "evidence": [["t3"]], "stance": "canoe"}
    ],
    "tool-use": [
        {
            "question": "What would ten canoes like Ann's cost?", "answer": "3,200", "evidence": [["t3"]],
            "stance": "none", "use": {
                "tool": "calculator", "of": ["How much did Ann pay for the canoe?"], "args": {"expression": "{1} * 10"},
            },
        }
    ],
}  # fmt: skip


@pytest.fixture
def own(empty: Session) -> Session:
    """A session with a folder `own` of ten tasks, half of them held."""
    (empty.folder / "own" / "tasks").mkdir(parents=True)
    (empty.folder / "own" / "histories").mkdir()
    turns = [
        {"id": id, "session": "s", "role": "user", "name": "Ann", "timestamp": at, "content": text}
        for id, at, text in TURNS
    ]
    empty.write("own/histories/ann.jsonl", "\n".join(map(json.dumps, turns)))
    for kind, tasks in TASKS.items():
        lines = [
            json.dumps({"id": f"{kind}-{part}", "part": part, "history": "ann", **task})
            for task in tasks
            for part in ("dev", "held")
        ]
        empty.write(f"own/tasks/{kind}.jsonl", "\n".join(lines))
    return empty


Lab = Callable[..., Done]


@pytest.fixture
def lab(own: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lab:
    """What `make gold` runs, in the session's folder."""
    monkeypatch.chdir(own.folder)

    def run(*words: str) -> Done:
        code = main(list(words))
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    yield made
    made.stop()


@pytest.mark.soak
def test_own_tasks_are_asked_kept_and_compared(own: Session, lab: Lab) -> None:
    own.write("page.md", (DATA.parents[2] / "docs" / "gold.md").read_bytes())
    baseline = f"own/{NAME}"
    done = lab("--tasks", "own", "--renew", baseline, "--report", "page.md", "-o", "json")
    assert done.code == 0, done.err
    sent = json.loads(done.out)
    assert {name: found["right"] for name, found in sent["classes"].items()} == {
        "multi-hop": 2, "temporal": 2, "unanswerable": 2, "how-do-you-know": 2, "tool-use": 2,
        "dev": 5, "held": 5, "all": 10,
    }  # fmt: skip
    assert sent["against"] is None
    assert {one["id"] for one in sent["answers"]} == {f"{kind}-dev" for kind in TASKS}
    computed = next(one for one in sent["answers"] if one["id"] == "tool-use-dev")
    assert (
        "It comes to £3,200. Ann said on 2 June 2025: “Yesterday I bought a red canoe"
        in computed["given"]["text"]
    )
    assert computed["given"]["cited"] == ["t3"]  # beside the result, what it was made of
    assert computed["given"]["p"] < 1.0
    how = next(one for one in sent["answers"] if one["id"] == "how-do-you-know-dev")
    assert how["given"]["text"].startswith("Ann said on 2 June 2025")
    assert how["given"]["cited"] == ["t3"]
    assert "| temporal | 2 | 1 of 1 | 1 of 1 |" in (own.folder / "page.md").read_text(encoding="utf-8")
    assert (own.folder / "page.svg").is_file()

    kept = json.loads((own.folder / baseline).read_text(encoding="utf-8"))
    assert set(kept["verdicts"]) == {f"{kind}-dev" for kind in TASKS}
    other = (own.folder / "own" / "tasks" / "temporal.jsonl").read_text(encoding="utf-8")
    own.write("own/tasks/temporal.jsonl", other.replace("1 June 2025", "Whitsun"))
    done = lab("--tasks", "own", "--check")
    assert done.code == 1
    assert done.out.startswith("class")
    assert "braid: - temporal-dev: right → wrong\n" in done.err
    assert "braid: - held, temporal: 1 → 0 right\n" in done.err
    assert "braid: ! dev: accuracy 1.000 → 0.800, beyond the band of 0.03\n" in done.err
    assert done.err.endswith("braid: worse than the baseline\n")


@pytest.mark.soak(first=True)
def test_a_model_answers_the_same_tasks(own: Session, server: ModelServer) -> None:
    """Borne out once, nonsense once, then it hangs up: each time there is an answer, and tokens count."""

    def speaks_of_the_canoe(message: dict[str, Any]) -> str:
        line = next(line for line in prompt_of(message).splitlines() if "red canoe" in line)
        id = re.findall(r"exp_[\w:-]+", line)[0]
        said = {"text": "Ann bought a red canoe for £320.", "cites": [id]}
        return json.dumps({"draft": "canoe", "known": True, "sentences": [said]})

    server.planned = [speaks(speaks_of_the_canoe), speaks("I like boats."), hang_up]
    server.otherwise = says(500, b"{}")
    words = ("evaluate", "gold", "--tasks", "own", "--part", "dev", "-o", "json")
    sent = json.loads(own.well(*words, "--model", f"openai:{server.url}/v1#m").out)
    assert sent["model"] == "model:m"
    by_id = {one["id"]: one for one in sent["answers"]}
    assert by_id["temporal-dev"]["given"]["model"] == "m-0613"
    assert by_id["temporal-dev"]["given"]["tokens"] == [120, 30]
    assert by_id["temporal-dev"]["verdict"] == "wrong"  # borne out, but no day
    assert by_id["how-do-you-know-dev"]["verdict"] == "right"  # what memory falls back to
    assert sent["classes"]["temporal"]["tokens_in"] == 120
    assert len(server.asked) >= 3


def test_what_a_majority_gains_and_costs_is_told(lab: Lab, server: ModelServer) -> None:
    server.otherwise = speaks("I like boats.")
    words = ("--tasks", "own", "--part", "dev", "--class", "temporal", "--samples", "3")
    done = lab(*words, "--model", f"openai:{server.url}/v1#m", "-o", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["majority"]["dev"]
    assert (found["samples"], found["tasks"], found["gained"], found["lost"]) == (3, 1, 0, 0)
    assert found["one"]["tokens"] == 150
    assert found["most"]["tokens"] == 3 * found["one"]["tokens"]
    assert len(server.asked) == 4
    assert "dev: the majority of 3 answers" in done.err
    assert "tokens 450, was 150" in done.err
    assert "--samples is 1 to 9, not 12" in refused(lab(*words[:-1], "12"))


def refused(done: Done) -> str:
    """What a refusal says, in one `braid:` line."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("braid: "), done
    return done.err


def test_what_can_not_be_meant(own: Session) -> None:
    said = own.refused("evaluate", "gold", "--class", "sums")
    assert "--class sums: the classes are single-fact, " in said
    assert "it has no such task" in own.refused("evaluate", "gold", "--tasks", "own", "--class", "tone")
    assert "it has no such task" in own.refused("evaluate", "gold", "--tasks", "nowhere")
    assert "--allow-remote" in own.refused("evaluate", "gold", "--model", "openai:https://x.example/v1#m")
    assert "--check" in own.refused("evaluate", "gold", "--check")  # the baseline isn't installed
    own.write("own/tasks/tone.jsonl", "{")
    assert "tone.jsonl:1: " in own.refused("evaluate", "gold", "--tasks", "own")


def test_what_a_maker_can_not_mean_is_refused_before_anything_is_asked(own: Session, lab: Lab) -> None:
    assert "--renew keeps the verdicts of all" in refused(lab("--renew", "b", "--part", "dev"))
    assert not (own.folder / "b").exists()
    own.write("page.md", "no markers")
    assert "page.md has no place for the results" in refused(lab("--report", "page.md"))
    assert "there is no folder nowhere" in refused(lab("--renew", "nowhere/b"))
    own.write("b.json", "{}")
    assert "b.json: it is no baseline" in refused(lab("--baseline", "b.json"))
    assert "it has no such task" in refused(lab("--tasks", "own", "--class", "tone"))


@pytest.mark.soak(first=True)
@pytest.mark.timeout(900)
def test_quality_is_within_the_band_of_the_baseline(lab: Lab) -> None:
    """The gate: all tasks, through the product."""
    done = lab("--check", "-o", "json")
    assert done.code == 0, done.err
    sent = json.loads(done.out)
    assert {part: found["all"]["tasks"] for part, found in sent["parts"].items()} == {"dev": 100, "held": 100}
    assert all(one["part"] == "dev" for one in sent["answers"])
    assert set(CLASSES) <= set(sent["classes"])
