"""Whatever a text says, reading it takes time in proportion to its length."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import process_time

import pytest

from braid.text import dates, numbers, quantities, ranges, sentences, words
from tests.unit.learn.hostile import SHAPES

NOW = datetime(2025, 3, 10, 12, tzinfo=UTC)
SMALL, LARGE = 4_000, 16_000
UNSEEN = 0.02
READERS: dict[str, Callable[[str], object]] = {
    "past": lambda text: list(dates.times(text, NOW)),
    "ahead": lambda text: list(dates.times(text, NOW, "ahead")),
    "days": lambda text: dates.iso_dates(text, NOW.date()),
    "day": lambda text: dates.day(text, NOW),
    "partial": dates.partial,
    "range": lambda text: ranges.asked_time(text, NOW),
    "quantities": lambda text: list(quantities.quantities(text)),
    "sole": quantities.sole,
    "spoken": lambda text: list(numbers.spoken(text)),
    "clauses": lambda text: [
        list(sentences.clauses(one)) for one in sentences.sentences(sentences.readable(text))
    ],
    "statements": sentences.statements,
    "normal": words.normal,
    "words": words.spoken,
}
RUNS = {
    unit: unit
    for unit in (
        "in the ", "a couple of ", "twenty-", "last ", "on ", "the day before ", "5 may ", "5,000,", "two hundred ",
        "etc. ", "e.g.", "5 p.m. ", "first quarter ", "year ", "from 5 to ", "£ ", "2025-", "1st of ",
    )
}  # fmt: skip


def forget() -> None:
    """Empty the caches: what is read again must cost what it costs."""
    dates.partial.cache_clear()
    quantities.sole.cache_clear()
    words.normal.cache_clear()


def seconds(read: Callable[[str], object], text: str) -> float:
    began = process_time()
    read(text)
    return process_time() - began


EACH = 3
"""Every reader meets a third of the shapes, and every shape a third of the readers; the others meet in the soak."""
PAIRS = [
    pytest.param(shape, name, marks=[] if (row + column) % EACH == 0 else [pytest.mark.soak])
    for row, shape in enumerate([*SHAPES, *RUNS])
    for column, name in enumerate(READERS)
]


@pytest.mark.sample(24)
@pytest.mark.parametrize(("shape", "name"), PAIRS)
def test_reading_takes_time_in_proportion_to_the_text(name: str, shape: str) -> None:
    def made(size: int) -> str:
        return SHAPES[shape](size) if shape in SHAPES else (RUNS[shape] * size)[:size]

    read = READERS[name]
    small, large = made(SMALL), made(LARGE)
    if seconds(read, large) < UNSEEN:
        return
    forget()
    least, most = seconds(read, small), seconds(read, large)
    for _ in range(4):
        if most < max(UNSEEN, 8 * least):
            return
        forget()
        least, most = min(least, seconds(read, small)), min(most, seconds(read, large))
    assert most < 8 * least
