"""docs/sql.md: every question is answered with rows, and with those that stand below it.

With BRAID_WRITE_DOCS=1 the answers are written anew instead; read what came of it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import braid
from braid.tools.cli.answers import OutputTarget
from tests.system.cli.test_readme import ROOT, WRITE, Folder, converse, matches, same

if TYPE_CHECKING:
    from braid.store import Store
    from tests.system.cli.conftest import Block

PAGE = ROOT / "docs" / "sql.md"
_QUESTION = re.compile(
    r"^### (.+)\n\n(.+)\n\n```sql\n([^`]+)```\n\n```text\n((?:[^`]|`(?!``))*)```$", re.MULTILINE
)


class Question(NamedTuple):
    """A question of the page, the sentence that says what it answers, and the answer that is shown."""

    title: str
    sentence: str
    statement: str
    shown: str


def questions() -> list[Question]:
    return [Question(*found) for found in _QUESTION.findall(PAGE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def asked(study: Path) -> Iterator[Store]:
    with braid.open(study, read_only=True) as store:
        yield store


def test_there_are_many_and_each_is_explained() -> None:
    found = questions()
    assert len(found) >= 25
    assert len({question.title for question in found}) == len(found)
    assert PAGE.read_text(encoding="utf-8").count("```sql") == len(found)
    for question in found:
        assert question.sentence.endswith((".", ";")), question.title


@pytest.mark.sample(6)
@pytest.mark.parametrize("question", questions(), ids=lambda question: question.title)
def test_a_question_is_answered_as_the_page_says(asked: Store, question: Question) -> None:
    answer = asked.sql(question.statement)
    assert answer.num_rows > 0
    printed = io.StringIO()
    with redirect_stdout(printed):
        OutputTarget("table", None).put(answer)
    if WRITE:
        text = PAGE.read_text(encoding="utf-8")
        before = f"```sql\n{question.statement}```\n\n```text\n"
        text = text.replace(f"{before}{question.shown}```", f"{before}{printed.getvalue()}```")
        PAGE.write_text(text, encoding="utf-8")
        return
    assert matches(same(question.shown), same(printed.getvalue()))


@pytest.mark.soak
@pytest.mark.parametrize(("page", "least"), [("sql.md", 6), ("clients.md", 4)])
def test_the_other_blocks_run(
    page: str, least: int, tmp_path: Path, quick_path: str, read_blocks: Callable[[Path], list[Block]]
) -> None:
    here = tmp_path / "home"
    here.mkdir()
    (here / "examples").symlink_to(ROOT / "examples")
    folder = Folder(here, quick_path)
    path = ROOT / "docs" / page
    text = path.read_text(encoding="utf-8")
    ran = 0
    for language, block, line in read_blocks(path):
        where = f"{page}:{line}"
        if language == "console":
            real = converse(block, where, folder)
            text = text.replace(f"```console\n{block}```", f"```console\n{real}```")
        elif language == "python":
            for name in ("pandas", "polars"):
                if f"import {name}" in block:
                    pytest.importorskip(name, reason=f"{name} is a development extra")
            code, said = folder.run("python", "-c", block)
            assert code == 0, f"{where}\n{said}"
        else:  # questions are asked above; R is not here
            assert language in ("sql", "text", "r"), where
            continue
        ran += 1
    assert ran >= least
    if WRITE:
        path.write_text(text, encoding="utf-8")
