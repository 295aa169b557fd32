"""Conversations with questions in a compact form, which a cross-encoder learns from (tests/data/lessons).

# kind: messenger
T1|Speaker|what was said
Q|a question|T1 T4        the turns that answer, each alone
Q|another|-               nobody said that
"""

import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from braid.tools.evaluation.answer_verdict import TalkQuestion
from braid.tools.evaluation.talk_answers import QuestionedTalk, TalkTurn

_TURN: Final = re.compile(r"T(?P<id>\d+)\|(?P<speaker>[^|]+)\|(?P<text>.+)")
_QUESTION: Final = re.compile(r"Q\|(?P<text>.+)\|(?P<turns>-|T\d+(?: +T\d+)*)\s*")
_PROGRAM: Final = re.compile(r"assistant|\bAI\b|bot\b", re.IGNORECASE)
_BEGIN: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_SOON: Final = (1, 2, 3, 5, 8, 20)
_SOON_SHARE: Final = 0.75


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
