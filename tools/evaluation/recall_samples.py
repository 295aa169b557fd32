"""The files that recall is measured on, as samples: by their kind, those that `recall.samples` doesn't read too.

QMSum's meetings (Zhong et al., NAACL 2021) as published, and talks with questions, as `braid evaluate answers --talks`
takes them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import msgspec

from braid.recall.samples import Sample, SampleQuestion, SampleTurn, lines_of, read
from braid.tools.evaluation.talk_answers import QuestionedTalk, read_questioned

Kind = Literal["jsonl", "locomo", "realtalk", "qmsum", "talks"]
_MET: Final = datetime(2025, 6, 2, 12, tzinfo=UTC)
"""When a meeting begins that doesn't say it; ten seconds pass from turn to turn."""


class _Said(msgspec.Struct, frozen=True):
    speaker: str
    content: str


class _Asked(msgspec.Struct, frozen=True):
    query: str
    relevant_text_span: list[tuple[str, str]]


class _Meeting(msgspec.Struct, frozen=True):
    meeting_transcripts: list[_Said]
    specific_query_list: list[_Asked]


def samples_of(kind: Kind, name: str, raw: bytes) -> list[Sample]:
    """Return the samples of a file of this kind; raise ValueError, which says what is wrong."""
    if kind == "qmsum":
        try:
            return read_meetings(raw)
        except (msgspec.DecodeError, ValueError) as error:
            raise ValueError(f"no meetings of QMSum: {error}") from None
    if kind == "talks":
        return [of_talk(talk) for talk in read_questioned([(name, raw)])]
    return read(kind, raw)


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


def of_talk(talk: QuestionedTalk) -> Sample:
    """Return a talk with questions, one session, with those that it answers; of the kind that the talk is of."""
    places = {turn.id: at for at, turn in enumerate(talk.turns)}
    turns = [SampleTurn(one.id, one.speaker, one.text, None, talk.name, one.at) for one in talk.turns]
    asked = [
        SampleQuestion(one.question, talk.kind, tuple(places[turn] for turn in one.turns))
        for one in talk.questions
        if not one.never_said
    ]
    return _sample(talk.name, turns, asked)


def _sample(name: str, turns: Sequence[SampleTurn], asked: Sequence[SampleQuestion]) -> Sample:
    questions = [one for one in asked if one.evidence]
    return Sample(name, turns, questions, 0, len(asked) - len(questions), [turn.session for turn in turns])
