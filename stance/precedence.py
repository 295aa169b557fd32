"""Which of two claims that exclude each other leaves the other no say. Pure.

A correction takes the say from what was said before it; what is only inferred gives way to what anybody stated,
observed or corrected; and each voice has one say, its last. Nothing else does: what is left is weighed
(`stance.belief`), and what is outweighed keeps its say.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from braid.ledger.record.source import RANK
from braid.stance.claims import RecordedClaim, clash
from braid.stance.culprit import STANDING
from braid.stance.rivals import RivalGroup, alikes

SURE: Final = 0.5
"""A claim that is worth so much is its voice's say until it says otherwise; one that is worth less replaces none."""
_CORRECTED: Final = STANDING["corrected"]
_INFERRED: Final = STANDING["inferred"]
_SOURCE: Final = {4: "corrected", 3: "stated", 2: "observed", 1: "inferred"}


def advantage(one: RecordedClaim, other: RecordedClaim) -> str:
    """Return in words what leaves the second of two claims that exclude each other no say; empty where nothing does."""
    return corrects(one, other) or outdoes(one, other) or follows(one, other)


def corrects(one: RecordedClaim, other: RecordedClaim) -> str:
    """Return in words that a claim corrects another, said before it, of what held by then; empty where it doesn't."""
    if one.rank != _CORRECTED or other.since > max(one.since, one.said) or _is_beneath(one, other):
        return ""
    if other.rank < _CORRECTED:
        return f"corrected over {_SOURCE[other.rank]}" if one.said >= other.said else ""
    when = f"{one.said:%Y-%m-%d} after {other.said:%Y-%m-%d}"
    return f"corrected again: {when}" if one.said > other.said else ""


def outdoes(one: RecordedClaim, other: RecordedClaim) -> str:
    """Return in words that a claim is more than inferred and the other is not; empty where it isn't so."""
    return f"{_SOURCE[one.rank]} over inferred" if other.rank == _INFERRED < one.rank else ""


def follows(one: RecordedClaim, other: RecordedClaim) -> str:
    """Return in words that a claim is a later say of the same voice; empty where it isn't, or more than that."""
    if one.voices != other.voices or one.kept < other.kept or say_order(one) <= say_order(other):
        return ""
    if _is_beneath(one, other):
        return ""
    if any(rule(*pair) for rule in (corrects, outdoes) for pair in ((one, other), (other, one))):
        return ""
    if one.worth >= SURE > other.worth and one.said <= other.said:
        return f"the same voice was surer: {one.worth:.2f} over {other.worth:.2f}"
    if one.since > other.since and one.recency > other.recency:
        return f"newer: {one.since:%Y-%m-%d} after {other.since:%Y-%m-%d}"
    newer, older = (one.recency, other.recency) if one.recency != other.recency else (one.said, other.said)
    return f"said later: {newer:%Y-%m-%d} after {older:%Y-%m-%d}"


def _is_beneath(one: RecordedClaim, other: RecordedClaim) -> bool:
    """Whether a claim is of a lower source class than another: it takes no say from that."""
    return RANK[one.source] < RANK[other.source]


def say_order(said: RecordedClaim) -> tuple[bool, datetime, datetime]:
    """Return the order of what a voice says: its say is the last of it that is sure, else the last."""
    return said.worth >= SURE, said.recency, said.said


Taken = dict[str, list[tuple[RecordedClaim, str]]]
"""Claims without a say, by node: what takes it, and why."""


def settled(claims: Iterable[RecordedClaim], *, timeless: bool) -> Taken:
    """Return what takes the say of claims by later words and by corrections; what was inferred is for `outdone`.

    `timeless`: the question is when something was so; of that a voice takes back only what it denies.
    """
    taken: Taken = {}
    for group in alikes(claims):
        _by_voice(group, taken, timeless=timeless)
        _by_correction(group, taken)
    return taken


def _by_voice(group: Sequence[RecordedClaim], taken: Taken, *, timeless: bool) -> None:
    says: dict[frozenset[str], RivalGroup] = {}
    for said in sorted(group, key=say_order, reverse=True):
        shelf = says.setdefault(said.voices, RivalGroup())
        if not _take(shelf, said, _denies if timeless else follows, taken):
            shelf.add(said)


def _denies(one: RecordedClaim, other: RecordedClaim) -> str:
    return follows(one, other) if clash(one, other) in ("denied", "opposite") else ""


def _by_correction(group: Sequence[RecordedClaim], taken: Taken) -> None:
    shelf = RivalGroup()
    others: list[RecordedClaim] = []
    for said in sorted(group, key=lambda said: said.said, reverse=True):
        if said.rank != _CORRECTED:
            others.append(said)
        elif not _take(shelf, said, corrects, taken) and said.node not in taken:
            shelf.add(said)
    for said in others:
        _take(shelf, said, corrects, taken)


def outdone(inferred: Sequence[RecordedClaim], standing: Sequence[RecordedClaim]) -> Taken:
    """Return what takes the say of inferred claims: any more than inferred that stands."""
    taken: Taken = {}
    guessed = {said.node for said in inferred}
    for group in alikes([*inferred, *standing]):
        shelf = RivalGroup()
        for said in reversed(group):
            if said.node not in guessed:
                shelf.add(said)
        for said in group:
            if said.node in guessed:
                _take(shelf, said, outdoes, taken)
    return taken


def _take(
    shelf: RivalGroup, said: RecordedClaim, why: Callable[[RecordedClaim, RecordedClaim], str], taken: Taken
) -> bool:
    """Note the first on a shelf that leaves a claim no say; return whether there is one."""
    for one in shelf.excluding(said):
        if reason := why(one, said):
            taken.setdefault(said.node, []).append((one, reason))
            return True
    return False


def backdated(claims: Sequence[RecordedClaim]) -> list[RecordedClaim]:
    """Return claims with the corrected ones dated: where one doesn't say since when it holds, since what it corrects.

    "INV-2034, not INV-2043": the right number was right all along, and no longer than the wrong one was believed.
    """
    return [said for group in alikes(claims) for said in _backdated(group)]


def _backdated(group: Sequence[RecordedClaim]) -> Iterator[RecordedClaim]:
    shelf = RivalGroup()
    for said in sorted(group, key=lambda one: (one.said, one.index, one.k)):
        one = said
        if one.claim.source_type == "corrected" and one.claim.valid_from is None:
            rivals = [other.since for other in shelf.excluding(one, latest=not one.claim.polarity, ever=True)]
            if rivals:
                since = min(rivals) if one.claim.polarity else rivals[0]
                one = msgspec.structs.replace(one, since=min(since, one.since))
        shelf.add(one)
        yield one
