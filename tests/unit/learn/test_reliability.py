"""How often readings are right, by kind: the counts that set their confidence, made again."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from braid.learn.parse.reader import ParseReader
from braid.ledger.record.record import Claim
from braid.models.spacy_parser import shared
from braid.stance.readings import (
    COUNTED,
    COUNTS,
    OWN_WORDS,
    RULE,
    SOFTENED,
    UNCOUNTED,
    Count,
    certainty,
    kind_of,
)
from braid.tools.lab.claim_scores import is_labelled, labelled, read_of

HERE = Path(__file__).parent
READER = ParseReader(shared())


class JudgedClaim(msgspec.Struct, frozen=True):
    """One of 130 claims drawn at random from the utterances that no rule was made by, and what a reader said of it.

    `was`: its kind, own words apart.
    """

    turn: str
    claim: Claim
    right: bool
    was: str


class Measured(NamedTuple):
    """Claims by kind, right and read."""

    right: Counter[str]
    read: Counter[str]


def judged() -> list[JudgedClaim]:
    lines = (HERE / "judged.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=JudgedClaim) for line in lines]


@cache
def measured() -> Measured:
    """Count the judged claims, and what is read by the table of the held sentences, against their labels."""
    found = Measured(Counter(), Counter())
    for one in judged():
        own = one.claim.rel in OWN_WORDS and one.was in {"state", "episode", "trait"}
        kind = "own words" if own else one.was
        found.read[kind] += 1
        found.right[kind] += one.right
    for turn in labelled((HERE / "sentences.jsonl").read_bytes().splitlines()):
        for claim in read_of(READER, turn) if turn.half == "held" else ():
            if claim.rel in OWN_WORDS or any(is_labelled(claim, label) for label in turn.may):
                continue
            found.read[kind_of(claim)] += 1
            found.right[kind_of(claim)] += any(is_labelled(claim, label) for label in turn.claims)
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", COUNTS)
def test_the_confidence_of_a_kind_is_what_was_counted(kind: str) -> None:
    """A reader that has become better or worse by more than chance must be counted anew."""
    found = measured()
    now, then = Count(found.right[kind], found.read[kind]), COUNTS[kind]
    spread = (then.p * (1 - then.p) / (then.read + 1)) ** 0.5 + (now.p * (1 - now.p) / (now.read + 1)) ** 0.5
    assert abs(now.p - then.p) <= 2 * spread, (now, then)


def test_a_claim_is_as_sure_as_its_kind() -> None:
    said = Claim(subject="Ana", rel="lives_in", object="Leeds", source_type="explicit")
    assert certainty(said).method == COUNTED
    assert certainty(said).p == COUNTS["state"].p
    own = msgspec.structs.replace(said, rel="did", object="painted the fence")
    assert certainty(own).p == COUNTS["own words"].p
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
