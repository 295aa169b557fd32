"""Dates in words, said and asked for: how many are told right, and how many wrong (tests/data/dates)."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import pytest

import braid
from braid.text.calendar import MONTHS, month_of

SET: Final = Path(__file__).parents[2] / "data" / "dates"
NOW: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)
_NOT_GIVEN: Final = re.compile(
    r"“[^”]*”|\[[^]]*\]|said on \d{1,2} \w+ \d{4}|\w+ \w+ (?:before|of|after) \d{1,2} \w+ \d{4}"
)
"""What was said, its id and its day, and what is told from a day: the week after 5 October 2026."""
_ISO: Final = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b")
_MONTH: Final = "|".join(name.title() for name in MONTHS)
_WRITTEN: Final = re.compile(rf"(?:\b(\d{{1,2}}) )?\b({_MONTH}) (\d{{4}})\b")
_BARE: Final = re.compile(rf"(\d{{1,2}}) ({_MONTH})")


class Case(msgspec.Struct, frozen=True):
    """One sentence, the day it was said on, a question, and the day that answers it."""

    text: str
    said_on: str
    question: str
    expected: str | None
    forbidden: tuple[str, ...] = ()


def given(short: str, text: str) -> set[str]:
    """Return the days and months that an answer gives: 2026-12-07, 2026-12, -12-07 for one without a year."""
    found: set[str] = set()
    for part in (_NOT_GIVEN.sub(" ", short), _NOT_GIVEN.sub(" ", text)):
        found |= set(_ISO.findall(part))
        for day, month, year in _WRITTEN.findall(part):
            found.add(f"{year}-{month_of(month):02d}" + (f"-{int(day):02d}" if day else ""))
    if (bare := _BARE.fullmatch(short)) is not None:
        found.add(f"-{month_of(bare[2]):02d}-{int(bare[1]):02d}")
    return found


def judged(case: Case, found: set[str]) -> str:
    """Return whether what an answer gives is right, wrong or none."""
    expected = set(case.expected.split("/")) if case.expected else set[str]()
    if found & {*case.forbidden} and found != expected:
        return "wrong"
    days = {one for one in found if len(one) == len("2026-12-07") or one.startswith("-")}
    if any(not any(right.endswith(day) for right in expected) for day in days):
        return "wrong"
    if expected and any(not any(right.startswith(month) for right in expected) for month in found - days):
        return "wrong"
    if not days:
        return "none"
    return "wrong" if len(days) < len(expected) else "right"


@pytest.mark.parametrize(
    ("name", "each", "right", "wrong"),
    [
        ("dev", 5, 9, 0),
        pytest.param("dev", 1, 40, 0, marks=pytest.mark.soak),
        pytest.param("held", 1, 38, 1, marks=pytest.mark.soak(first=True)),
    ],
)
def test_dates_in_words_are_told_right_or_not_at_all(
    tmp_path: Path, name: str, each: int, right: int, wrong: int
) -> None:
    cases = [
        msgspec.convert(json.loads(line), Case)
        for line in (SET / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(cases) == 60
    counts: Counter[str] = Counter()
    with braid.open(tmp_path / "memory") as store:
        for place, case in enumerate(cases[::each]):
            user = f"user-{place}"
            turn = {"role": "user", "content": case.text, "timestamp": f"{case.said_on}T10:00:00Z"}
            store.remember(turn, user_id=user, session_id=user)
            answer = store.ask(case.question, user_id=user, write=False, now=NOW)
            counts[judged(case, given(answer.short, answer.text))] += 1
    assert counts["wrong"] <= wrong, counts
    assert counts["right"] >= right, counts
