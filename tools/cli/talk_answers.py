"""`braid evaluate answers --talks`: answers to what was asked about talks, judged and shown."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.tools.cli.output import line, put, put_table, say, to_json
from braid.tools.cli.progress import progress

if TYPE_CHECKING:
    from braid.tools.evaluation.answers import Written

_MEASURES: Final = (
    "right", "wrong", "in_part", "near_with", "near_without", "silent", "right_or_near_right", "never_said_told",
)  # fmt: skip


def evaluate_talks(
    paths: list[Path], output: str, *, details: bool = False, written: "Written | None" = None
) -> None:
    """Ask the questions of talks in some files or folders, and show how the answers were judged."""
    from braid.agent.answer.compose import Extractive
    from braid.tools.evaluation.talk_answers import ask_talks, read_questioned, summary

    contents = [(str(file), file.read_bytes()) for file in _files(paths)]
    talks = read_questioned(contents)
    composer = None if written is None else written(Extractive())
    with progress("asking", sum(len(talk.questions) for talk in talks)) as bar:
        asked = ask_talks(talks, composer=composer, progress=bar.reach)
    digest = hashlib.sha256(b"".join(raw for _, raw in contents)).hexdigest()
    result: dict[str, Any] = {"data": f"sha256:{digest}", "talks": len(talks), **summary(asked)}
    if output == "json":
        put(to_json(result | ({"questions": msgspec.to_builtins(asked)} if details else {}), indent=2))
        return
    groups = [("all", result["all"]), *result["kinds"].items(), ("what changed", result["changed"])]
    put_table(
        ["kind", "questions", *(name.replace("_", " ") for name in _MEASURES)],
        [
            [name, str(found["questions"]), *(_interval(found[each]) for each in _MEASURES)]
            for name, found in groups
        ],
    )
    if details:
        for one in asked:
            put("")
            put(line(f"{one.talk} {one.id}  {one.verdict}: {one.why}"))
            put(line(f"  asked     {one.question}"))
            put(line(f"  expected  {one.expected}  [{' '.join(one.turns)}]"))
            put(line(f"  {one.rung:<8}  {one.told}  [{' '.join(one.cited)}]"))
    say("told wrong: " + ", ".join(f"{why} {count}" for why, count in result["why"].items()))


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not found:
        raise ValueError("there is no talk to ask about; name .json files, or folders of them")
    return found


def _interval(found: dict[str, Any]) -> str:
    return "–" if found["share"] is None else f"{found['share']:.2f} [{found['low']:.2f} {found['high']:.2f}]"
