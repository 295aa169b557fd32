"""How often readings are right, by kind: the counts that set their confidence, made again."""

from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from braid.learn.plain import PlainReader
from braid.learn.turn import KnownClaims, Turn
from braid.ledger.record.record import Claim
from braid.stance.readings import COUNTED, COUNTS, RULE, SOFTENED, UNCOUNTED, Count, certainty, kind_of
from braid.tools.lab.claim_scores import is_labelled, labelled, read_of, shown

HERE = Path(__file__).parent
READER = PlainReader()
WHEN = datetime(2025, 3, 10, 12, tzinfo=UTC)


class Judged(msgspec.Struct, frozen=True):
    """A sentence that was written before the reader was asked, and what was said of each claim that was read of it."""

    id: str
    text: str
    right: list[str]
    wrong: list[str]


class Measured(NamedTuple):
    """Claims by kind, right and read; and those that nobody has judged."""

    right: Counter[str]
    read: Counter[str]
    strange: list[str]


def fresh() -> list[Judged]:
    lines = (HERE / "fresh.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Judged) for line in lines]


@cache
def measured() -> Measured:
    found = Measured(Counter(), Counter(), [])
    for one in fresh():
        for claim in READER.read(Turn(one.text, speaker="Ana Ruiz", when=WHEN), KnownClaims()).claims:
            if shown(claim) not in one.right + one.wrong:
                found.strange.append(f"{one.id}: {shown(claim)}")
                continue
            found.read[kind_of(claim)] += 1
            found.right[kind_of(claim)] += shown(claim) in one.right
    for turn in labelled((HERE / "sentences.jsonl").read_bytes().splitlines()):
        if turn.half != "held":
            continue
        for claim in read_of(READER, turn):
            if any(is_labelled(claim, label) for label in turn.may):
                continue
            found.read[kind_of(claim)] += 1
            found.right[kind_of(claim)] += any(is_labelled(claim, label) for label in turn.claims)
    return found


def test_the_sentences_are_many_and_of_several_kinds() -> None:
    sentences = fresh()
    assert len({one.text for one in sentences}) == len(sentences) >= 150
    assert sum(not (one.right or one.wrong) for one in sentences) >= 50


@pytest.mark.parametrize("kind", COUNTS)
def test_the_confidence_of_a_kind_is_what_was_counted(kind: str) -> None:
    """A reader that has become better or worse by more than chance must be counted anew."""
    found = measured()
    now, then = Count(found.right[kind], found.read[kind]), COUNTS[kind]
    spread = (then.p * (1 - then.p) / (then.read + 1)) ** 0.5 + (now.p * (1 - now.p) / (now.read + 1)) ** 0.5
    assert abs(now.p - then.p) <= 2 * spread, (now, then)


def test_what_is_read_of_the_sentences_has_been_judged() -> None:
    found = measured()
    assert len(found.strange) <= 0.1 * sum(found.read.values()), found.strange


def test_a_claim_is_as_sure_as_its_kind() -> None:
    said = Claim(subject="Ana", rel="lives_in", object="Leeds", source_type="explicit")
    assert certainty(said).method == COUNTED
    assert certainty(said).p == COUNTS["state"].p
    soft = msgspec.structs.replace(said, hedge="I think")
    assert certainty(soft).p == pytest.approx(SOFTENED * COUNTS["hedged"].p, abs=1e-4)
    assert certainty(msgspec.structs.replace(said, polarity=False)).p == COUNTS["denied"].p
    assert certainty(msgspec.structs.replace(said, said_by="Tom")).p == COUNTS["reported"].p
    guess = certainty(msgspec.structs.replace(said, source_type="inferred"))
    assert (guess.p, guess.method) == (UNCOUNTED["inferred"], RULE)


def test_few_cases_make_nothing_certain() -> None:
    assert Count(1, 1).p == 0.75
    assert Count(10, 10).p == pytest.approx(0.9545, abs=1e-4)
    assert Count(0, 0).p == 0.5
