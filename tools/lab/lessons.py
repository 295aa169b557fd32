"""Conversations with questions in a compact form, which a cross-encoder learns from (tests/data/lessons).

# kind: messenger
T1|Speaker|what was said
Q|a question|T1 T4        the turns that answer, each alone
Q|another|-               nobody said that

And questions with single turns (tests/data/plain), or with those that were said after one that answered
(tests/data/changes):

I|a question
A|Speaker|what answered it once
B|Speaker|what answers it, or since
D|Speaker|what doesn't
"""

import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from braid.recall.rerank import stretch
from braid.tools.evaluation.answer_verdict import TalkQuestion
from braid.tools.evaluation.talk_answers import QuestionedTalk, TalkTurn

_TURN: Final = re.compile(r"T(?P<id>\d+)\|(?P<speaker>[^|]+)\|(?P<text>.+)")
_QUESTION: Final = re.compile(r"Q\|(?P<text>.+)\|(?P<turns>-|T\d+(?: +T\d+)*)\s*")
_ITEM: Final = re.compile(r"I\|(?P<text>.+)")
_SAID: Final = re.compile(r"(?P<as>[ABD])\|(?P<who>[^|]+)\|(?P<text>.+)")
_PROGRAM: Final = re.compile(r"assistant|\bAI\b|bot\b", re.IGNORECASE)
_BEGIN: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_SOON: Final = (1, 2, 3, 5, 8, 20)
_SOON_SHARE: Final = 0.75
OLDER_CHARS: Final = 200
"""So much of an older turn is read before a later one."""


class Said(NamedTuple):
    """Who said what."""

    who: str
    text: str


def behind(question: str, older: Said, newer: Sequence[Said]) -> list[str]:
    """Return each of some turns as it is read right behind an older one: "halve it, 200" says of what only so."""
    led = f"{older.who}: {stretch(question, older.text)[:OLDER_CHARS]} / "
    return [f"{led}{one.who}: {stretch(question, one.text)}" for one in newer]


class PairLesson(msgspec.Struct, frozen=True):
    """A question, and turns with which of them answer it: each by itself, or right behind an older one that did."""

    question: str
    older: Said | None
    turns: tuple[Said, ...]
    bears: tuple[bool, ...]


def read_pairs(folder: Path) -> list[PairLesson]:
    """Return the items of a folder's files; raise ValueError that names the file and what is none."""
    return [one for file in sorted(folder.glob("*.txt")) for one in _read_pairs(file)]


def _read_pairs(file: Path) -> Iterator[PairLesson]:
    question, said = "", list[re.Match[str]]()

    def item() -> PairLesson:
        if not question:
            raise ValueError(f"{file}: turns stand before the first question")
        older = [_said(one) for one in said if one["as"] == "A"]
        turns = [one for one in said if one["as"] != "A"]
        if len(older) > 1 or not turns:
            raise ValueError(f"{file}: {question!r} has {len(older)} A, and {len(turns)} B and D")
        bears = tuple(one["as"] == "B" for one in turns)
        return PairLesson(question, older[0] if older else None, tuple(map(_said, turns)), bears)

    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if asked := _ITEM.fullmatch(line):
            if question or said:
                yield item()
            question, said = asked["text"].strip(), []
        elif found := _SAID.fullmatch(line):
            said.append(found)
        elif line.strip():
            raise ValueError(f"{file}:{number}: no part of an item: {line[:80]}")
    if question or said:
        yield item()


def _said(found: re.Match[str]) -> Said:
    return Said(found["who"].strip(), found["text"].strip())


def read_lessons(folder: Path) -> list[QuestionedTalk]:
    """Return the talks of a folder's subfolders, by name; raise ValueError that names a line that is none."""
    return [read_lesson(file) for file in sorted(folder.glob("*/*.txt"))]


def read_lesson(file: Path) -> QuestionedTalk:
    """Return one talk. Times are made up, the same each time; whoever speaks first owns it."""
    chance = random.Random(file.stem)
    kind, at = "", _BEGIN
    turns: list[TalkTurn] = []
    asked: list[TalkQuestion] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# kind:"):
            kind = line.removeprefix("# kind:").strip()
        elif turn := _TURN.fullmatch(line):
            soon = chance.random() < _SOON_SHARE
            at += timedelta(minutes=chance.choice(_SOON) if soon else chance.randint(600, 3000))
            role = "assistant" if _PROGRAM.search(turn["speaker"]) else "user"
            who = turn["speaker"].strip()
            turns.append(TalkTurn(f"t{turn['id']}", who, role, at, turn["text"].strip()))
        elif question := _QUESTION.fullmatch(line):
            by = tuple(f"t{id}" for id in re.findall(r"\d+", question["turns"]))
            asked.append(
                TalkQuestion(
                    id=f"q{len(asked) + 1}", question=question["text"].strip(), asks="value", answer="", accept=(),
                    turns=by, never_said=not by,
                )
            )  # fmt: skip
        elif line.strip():
            raise ValueError(f"{file}:{number}: neither a turn nor a question: {line[:80]}")
    owner = next((one.speaker for one in turns if one.role == "user"), "owner")
    user_id = re.sub(r"[^a-z]", "", re.split(r"[ (]", owner.lower())[0]) or "owner"
    name = f"{file.parent.name}{file.stem}"
    return QuestionedTalk(kind, name, user_id, tuple(turns), tuple(asked), health=True)
