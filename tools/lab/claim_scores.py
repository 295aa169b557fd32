"""How well a reader reads: its claims against labelled turns, one by one, by subject, relation, object and polarity."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import msgspec

from braid.learn.turn import KnownClaims, Turn, TurnReader
from braid.ledger.record.record import Claim
from braid.stance.relations import compared_as
from braid.text.words import normal


class Label(msgspec.Struct, frozen=True):
    """A claim that is expected: any of these relations, of any of these objects."""

    subject: str
    rel: tuple[str, ...]
    object: tuple[str, ...]
    polarity: bool = True


class Before(msgspec.Struct, frozen=True):
    """What was said before the labelled turn."""

    name: str
    text: str


class Labelled(msgspec.Struct, frozen=True):
    """A turn, and all that it states. `may`: what is neither wrong to read nor to leave out."""

    id: str
    half: str
    name: str
    when: datetime
    text: str
    claims: tuple[Label, ...]
    may: tuple[Label, ...] = ()
    before: tuple[Before, ...] = ()


class Miss(NamedTuple):
    """A claim that was read wrongly, or left out."""

    id: str
    text: str
    what: str


class Score(NamedTuple):
    """Precision and recall over claims, with what went wrong."""

    right: int
    wrong: list[Miss]
    missed: list[Miss]

    @property
    def precision(self) -> float:
        """How many of the claims that were read are right, in [0, 1]."""
        read = self.right + len(self.wrong)
        return self.right / read if read else 1.0

    @property
    def recall(self) -> float:
        """How many of the expected claims were read, in [0, 1]."""
        expected = self.right + len(self.missed)
        return self.right / expected if expected else 1.0


def labelled(lines: Iterable[bytes]) -> list[Labelled]:
    """Return labelled turns from JSON Lines."""
    decode = msgspec.json.Decoder(Labelled).decode
    return [decode(line) for line in lines if line.strip()]


def measured(reader: TurnReader, turns: Iterable[Labelled]) -> Score:
    """Return how a reader does on labelled turns, each read with what was said before it."""
    score = Score(0, [], [])
    for one in turns:
        found, left = list(read_of(reader, one)), list(one.claims)
        right = 0
        for claim in found:
            expected = next((label for label in left if is_labelled(claim, label)), None)
            if expected is not None:
                left.remove(expected)
                right += 1
            elif not any(is_labelled(claim, label) for label in one.may):
                score.wrong.append(Miss(one.id, one.text, shown(claim)))
        score.missed.extend(Miss(one.id, one.text, str(label)) for label in left)
        score = score._replace(right=score.right + right)
    return score


def read_of(reader: TurnReader, one: Labelled) -> tuple[Claim, ...]:
    """Return what a reader reads of a labelled turn, with what was said before it."""
    known = KnownClaims()
    said: list[Turn] = []
    for at, before in enumerate(one.before):
        said.append(Turn(text=before.text, speaker=before.name, when=one.when, at=at))
        known.add(reader.read(said[-1], known).notes)
    previous = tuple(said[-reader.looks_back :]) if reader.looks_back else ()
    turn = Turn(text=one.text, speaker=one.name, when=one.when, at=len(said), previous=previous)
    return reader.read(turn, known).claims


def is_labelled(claim: Claim, label: Label) -> bool:
    """Say whether a claim is the one that a label expects."""
    objects = {normal(text) for text in label.object}
    if normal(claim.subject) != normal(label.subject) or normal(claim.object) not in objects:
        return False
    return any(_sense(claim.rel, claim.polarity) == _sense(rel, label.polarity) for rel in label.rel)


def _sense(rel: str, polarity: bool) -> tuple[str, bool]:
    """Return a relation and polarity so that "dislikes" and "doesn't like" are one."""
    known = compared_as(rel)
    return ("likes", not polarity) if known.name == "dislikes" else (known.name, polarity)


def shown(claim: Claim) -> str:
    """Return a claim as a line: subject, relation, object."""
    return f"{claim.subject} | {'' if claim.polarity else 'not '}{claim.rel} | {claim.object}"
