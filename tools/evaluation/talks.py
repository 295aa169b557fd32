"""Talks that a reader of claims is measured by: LoCoMo's conversations with their observations, labelled turns. Pure.

An observation is a sentence that LoCoMo's annotators found worth noting, with the turns it comes from. A line of labels
is `{"id", "domain", "case", "health", "turns": [{"speaker", "role", "text"}], "claims": [{"subject", "words",
"polarity", "type", "turn", "must", "gloss"?, "said_by"?}], "never": [{"subject", "words", "polarity"}]}`.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, cast

import msgspec

from braid.learn.turn import Turn
from braid.recall.samples import evidence_ids, lines_of, read_locomo

WHEN: Final = datetime(2025, 6, 2, 12, tzinfo=UTC)
"""When labelled turns were said that don't say it: a Monday."""


class Observation(msgspec.Struct, frozen=True):
    """What was worth noting, and the places of the turns that say it."""

    text: str
    turns: tuple[int, ...]


class LabelledClaim(msgspec.Struct, frozen=True):
    """A claim that is expected, or must not be: whom it is said of, the words it must hold, and whether it is denied.

    `must` false: fair to extract, and fair to leave out. `said_by`: whose word it is, where it isn't the speaker's.
    `gloss`: what it says, in plain words.
    """

    subject: str
    words: tuple[str, ...]
    polarity: bool = True
    type: str = "fact"
    turn: int = 0
    must: bool = True
    said_by: str | None = None
    gloss: str = ""


class Labels(msgspec.Struct, frozen=True):
    """All that a talk states, and what a bad reader would take from it. `health`: whether the owner lets claims of
    health and money be kept."""

    domain: str
    case: str
    health: bool
    claims: tuple[LabelledClaim, ...]
    never: tuple[LabelledClaim, ...]


class Talk(msgspec.Struct, frozen=True, dict=True):
    """Some turns, in order and numbered by it, and what is to be found in them: observations, labels, or neither."""

    name: str
    turns: tuple[Turn, ...]
    observations: tuple[Observation, ...] = ()
    unresolved: int = 0
    """Observations that name no turn of the talk."""
    labels: Labels | None = None

    @cached_property
    def speakers(self) -> frozenset[str]:
        """The names of those who speak."""
        return frozenset(turn.speaker for turn in self.turns)


class _Said(msgspec.Struct, frozen=True):
    text: str
    speaker: str = "user"
    role: str = "user"
    when: datetime = WHEN


class _Line(msgspec.Struct, frozen=True):
    id: str
    turns: tuple[_Said, ...]
    claims: tuple[LabelledClaim, ...]
    domain: str = "none"
    case: str = "none"
    health: bool = False
    never: tuple[LabelledClaim, ...] = ()


def read_talks(files: Sequence[tuple[str, bytes]]) -> list[Talk]:
    """Return the talks of some files, by name and content: `.jsonl` are labels, others LoCoMo's conversations.

    Raises ValueError that names the file, and the line, of what is neither.
    """
    talks: list[Talk] = []
    for name, raw in files:
        try:
            talks += labelled(raw) if name.endswith(".jsonl") else observed(raw)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return talks


def labelled(raw: bytes) -> list[Talk]:
    """Return the talks of labelled lines; raise ValueError with the number of a line that is none."""
    decode = msgspec.json.Decoder(_Line).decode
    talks: list[Talk] = []
    for number, line in lines_of(raw):
        try:
            talks.append(_labelled(decode(line)))
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise ValueError(f"line {number}: not a labelled talk: {error}") from None
    return talks


def _labelled(line: _Line) -> Talk:
    for claim in (*line.claims, *line.never):
        if not claim.words or not any(word.strip() for word in claim.words):
            raise ValueError(f"a claim of {line.id!r} has no words")
        if not 0 <= claim.turn < len(line.turns):
            raise ValueError(f"a claim of {line.id!r} is of turn {claim.turn}, which isn't there")
    turns = tuple(
        Turn(text=said.text, speaker=said.speaker, role=said.role, when=said.when, at=at)
        for at, said in enumerate(line.turns)
    )
    labels = Labels(line.domain, line.case, line.health, line.claims, line.never)
    return Talk(line.id, turns, labels=labels)


def observed(raw: bytes) -> list[Talk]:
    """Return LoCoMo's conversations with their observations; raise ValueError for anything else."""
    try:
        found: object = msgspec.json.decode(raw.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    documents = cast("list[object]", found) if isinstance(found, list) else [found]
    return [_observed(document) for document in documents]


def _observed(document: object) -> Talk:
    try:
        given = msgspec.convert(document, type=_Observed)
    except msgspec.ValidationError as error:
        raise ValueError(f"not a LoCoMo conversation with its observations: {error}") from None
    sample = read_locomo(cast("dict[str, Any]", document))
    places = {turn.id: at for at, turn in enumerate(sample.turns)}
    turns = tuple(
        Turn(text=turn.text, speaker=turn.speaker or "user", when=turn.when, at=at)
        for at, turn in enumerate(sample.turns)
    )
    observations: list[Observation] = []
    unresolved = 0
    for text, cited in _pairs(given):
        said = tuple(dict.fromkeys(places[id] for id in evidence_ids(cited) if id in places))
        unresolved += not said
        observations += [Observation(text, said)] if said else []
    return Talk(sample.name, turns, tuple(observations), unresolved)


class _Observed(msgspec.Struct, frozen=True):
    """What of a LoCoMo file is read here: session → speaker → a sentence, and the turns that it cites, as written."""

    observation: dict[str, dict[str, list[tuple[str, str | list[str]]]]]


def _pairs(given: _Observed) -> Iterator[tuple[str, str | list[str]]]:
    for by_speaker in given.observation.values():
        for pairs in by_speaker.values():
            yield from pairs
