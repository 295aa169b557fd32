"""Measures stances on LoCoMo: claims read, contradictions found, and every temporal question asked.

    python -m braid.tools.lab.stance_evaluation FILE… [--failures N]

Each conversation goes into a temporary store, in a scope of its own, and is read by rules, as `braid ingest` does it. A
question of category 2 ("When did …?") has an answer that is a time: a stance agrees when its day lies in the gold
answer's span. Answers that name no span ("4 years") are counted, not judged.
"""

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.recall.samples import Sample, read_locomo
from braid.text.calendar import WEEKDAYS, Span
from braid.text.dates import span
from braid.tools.evaluation.recall import scope_of, store_of

if TYPE_CHECKING:
    from braid.claims.operations import Stance
    from braid.store import Store

TEMPORAL: Final = 2
_BEFORE: Final = re.compile(
    rf"(?:the )?(?P<unit>week(?:end)?|day|month|{'|'.join(WEEKDAYS)})s? (?:before|prior to) (?P<date>.+)",
    re.IGNORECASE,
)


class Question(msgspec.Struct, frozen=True):
    """A question of LoCoMo with its gold answer."""

    text: str
    answer: str


class Judged(msgspec.Struct, frozen=True):
    """What became of a question: the stance in words, and whether its time is gold's (None: gold names no span)."""

    question: str
    gold: str
    held: str | None
    undecided: str | None
    candidates: int
    claims: int
    """How many different claims were weighed."""
    agrees: bool | None


def gold_span(answer: str, now: datetime) -> Span | None:
    """Return the time that a gold answer names: "7 May 2023", "the week before 9 June 2023", "June 2023"."""
    if match := _BEFORE.fullmatch(answer.strip(" .")):
        day = span(match["date"], now)
        if day is None or day.since is None:
            return None
        unit = match["unit"].lower()
        if unit in WEEKDAYS:
            back = (day.since.weekday() - WEEKDAYS.index(unit)) % 7 or 7
            return Span(day.since - timedelta(days=back), day.since - timedelta(days=back - 1))
        back = {"day": 1, "month": 31}.get(
            unit, day.since.weekday() + 7
        )  # a week: from the Monday before last
        return Span(day.since - timedelta(days=back), day.since)
    if re.fullmatch(r"(?:19|20)\d\d", answer.strip()):
        return span(f"in {answer.strip()}", now)
    return span(answer, now) or span(f"in {answer}", now)


def judge(question: Question, stance: "Stance", since: datetime | None, now: datetime) -> Judged:
    """Compare a stance with the gold answer."""
    gold = gold_span(question.answer, now)
    agrees: bool | None = None
    if gold is not None and gold.since is not None and gold.until is not None and stance.claim is not None:
        agrees = since is not None and gold.since <= since < gold.until
    return Judged(
        question=question.text,
        gold=question.answer,
        held=stance.claim,
        undecided=stance.undecided,
        candidates=len(stance.candidates),
        claims=len({one.claim for one in stance.candidates}),
        agrees=agrees,
    )


def measure(store: "Store", scope: str, questions: Sequence[Question], now: datetime) -> Iterator[Judged]:
    """Ask every question of one conversation; nothing is appended."""
    for question in questions:
        found = store.stance(question.text, user_id=scope, at=None, append=False)
        said = re.search(r" on (\d{4}-\d\d-\d\d)$", found.claim or "")
        since = datetime.fromisoformat(said[1]).replace(tzinfo=UTC) if said else None
        yield judge(question, found, since, now)


def evaluate(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what was read, found and decided over conversations, with every judged question."""
    samples: list[Sample] = [read_locomo(document) for document in documents]
    judged: list[Judged] = []
    with store_of(samples) as (store, _):
        begun = perf_counter()
        learned = store.learn()
        reading_s = perf_counter() - begun
        begun = perf_counter()
        contradictions = sum(
            len(store.contradictions(user_id=scope_of(n, sample))) for n, sample in enumerate(samples)
        )
        contradictions_s = perf_counter() - begun
        begun = perf_counter()
        for number, (sample, document) in enumerate(zip(samples, documents, strict=True)):
            now = max(turn.when for turn in sample.turns)
            judged += measure(store, scope_of(number, sample), _temporal(document), now)
        asking_s = perf_counter() - begun
    return {
        "conversations": len(samples),
        "turns": sum(len(sample.turns) for sample in samples),
        "claims": learned.claims,
        "contradictions": contradictions,
        **_counts(judged),
        "seconds": {
            "reading": round(reading_s, 1),
            "contradictions": round(contradictions_s, 1),
            "a question": round(asking_s / max(len(judged), 1), 3),
        },
        "judged": judged,
    }


def _counts(judged: Sequence[Judged]) -> dict[str, Any]:
    decided = [one for one in judged if one.held]
    in_conflict = [one for one in judged if one.claims > 1]
    return {
        "temporal questions": len(judged),
        "with candidates": sum(one.candidates > 0 for one in judged),
        "decided": len(decided),
        "agree with gold": sum(one.agrees is True for one in decided),
        "differ from gold": sum(one.agrees is False for one in decided),
        "not judged": sum(one.agrees is None for one in decided),
        "with conflicting candidates": len(in_conflict),
        "of these decided": sum(one.held is not None for one in in_conflict),
        "of these agree": sum(one.agrees is True for one in in_conflict),
    }


def _temporal(document: dict[str, Any]) -> list[Question]:
    return [
        Question(str(qa["question"]), str(qa["answer"]))
        for qa in document["qa"]
        if qa.get("category") == TEMPORAL and "answer" in qa
    ]


def main() -> None:
    """Print the figures, and some of the failures."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--failures", type=int, default=10)
    asked = parser.parse_args()
    documents: list[dict[str, Any]] = []
    for file in asked.files:
        found = msgspec.json.decode(file.read_bytes())
        documents += found if isinstance(found, list) else [found]
    result = evaluate(documents)
    judged: list[Judged] = result.pop("judged")
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n")
    wrong = [one for one in judged if one.agrees is False or (one.undecided and one.candidates)]
    for one in wrong[: asked.failures]:
        sys.stdout.write(
            f"{one.question}\n  gold {one.gold!r}; {one.held or f'undecided: {one.undecided}'}\n"
        )


if __name__ == "__main__":
    main()
