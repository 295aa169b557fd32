"""Conversations of several kinds, with questions and the turns that answer them, to fit the weights of recall to.

LoCoMo as published, QMSum's meetings (Zhong et al., NAACL 2021) as published, and talks of our own (tests/data/talks).
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from braid.recall.samples import Sample, SampleQuestion, SampleTurn, lines_of, read_locomo
from braid.tools.evaluation.talk_answers import LATER, QuestionedTalk, read_questioned

LOCOMO: Final = "locomo"
NOW: Final = datetime(2030, 1, 1, tzinfo=UTC)
"""When LoCoMo's conversations are asked about."""
_MET: Final = datetime(2025, 6, 2, 12, tzinfo=UTC)
"""When a meeting begins that doesn't say it; ten seconds pass from turn to turn."""


class Conversation(NamedTuple):
    """A conversation, of which kind it is, and when it is asked about."""

    kind: str
    sample: Sample
    now: datetime


class _Said(msgspec.Struct, frozen=True):
    speaker: str
    content: str


class _Asked(msgspec.Struct, frozen=True):
    query: str
    relevant_text_span: list[tuple[str, str]]


class _Meeting(msgspec.Struct, frozen=True):
    meeting_transcripts: list[_Said]
    specific_query_list: list[_Asked]


def conversations(
    locomo: Path, meetings: Path | None = None, talks: Path | None = None
) -> list[Conversation]:
    """Return all conversations: of LoCoMo's folder, QMSum's file, and a folder of talks. Raises what reading raises."""
    found = [
        Conversation(LOCOMO, read_locomo(msgspec.json.decode(path.read_bytes())), NOW)
        for path in sorted(locomo.glob("*.json"))
    ]
    if meetings is not None:
        found += [Conversation("qmsum", sample, NOW) for sample in read_meetings(meetings.read_bytes())]
    if talks is not None:
        files = [(path.name, path.read_bytes()) for path in sorted(talks.glob("*.json"))]
        found += [of_talk(talk) for talk in read_questioned(files)]
    return found


def read_meetings(raw: bytes) -> list[Sample]:
    """Return QMSum's meetings, each a session, with their specific questions; the turns of a span all answer it."""
    decode = msgspec.json.Decoder(_Meeting).decode
    return [_meeting(f"meeting-{number}", decode(line)) for number, line in lines_of(raw)]


def _meeting(name: str, meeting: _Meeting) -> Sample:
    turns = [
        SampleTurn(str(at), said.speaker, said.content, None, name, _MET + timedelta(seconds=10 * at))
        for at, said in enumerate(meeting.meeting_transcripts)
    ]
    asked = [
        SampleQuestion(one.query, "meeting", _spanned(one.relevant_text_span, len(turns)))
        for one in meeting.specific_query_list
    ]
    return _sample(name, turns, asked)


def _spanned(spans: Sequence[tuple[str, str]], turns: int) -> tuple[int, ...]:
    """Return the places within spans, whose ends are counted from 0 and belong to them."""
    places = {at for first, last in spans for at in range(int(first), min(int(last) + 1, turns))}
    return tuple(sorted(places))


def of_talk(talk: QuestionedTalk) -> Conversation:
    """Return a talk of our own, one session, with the questions that it answers."""
    places = {turn.id: at for at, turn in enumerate(talk.turns)}
    turns = [SampleTurn(one.id, one.speaker, one.text, None, talk.name, one.at) for one in talk.turns]
    asked = [
        SampleQuestion(one.question, one.asks, tuple(places[turn] for turn in one.turns))
        for one in talk.questions
        if not one.never_said
    ]
    return Conversation(
        talk.kind, _sample(talk.name, turns, asked), max(one.at for one in talk.turns) + LATER
    )


def _sample(name: str, turns: Sequence[SampleTurn], asked: Sequence[SampleQuestion]) -> Sample:
    questions = [one for one in asked if one.evidence]
    return Sample(name, turns, questions, 0, len(asked) - len(questions), [turn.session for turn in turns])
