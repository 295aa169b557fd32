"""Data sets that recall is measured by, as samples: turns to find, questions, and the turns that answer them. Pure.

LoCoMo (Maharana et al., ACL 2024) and REALTALK (Lee et al., 2025) as published, and JSON Lines of one's own. The member
`query` of LoCoMo's images is never read: it leaks what was asked.
"""

import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

import msgspec

from braid.recall.realtalk import as_published

_SESSION: Final = re.compile(r"session_(\d{1,6})")
_ID: Final = re.compile(r"(?<![^\W_])D:?(\d+):0*(\d+)(?![^\W_])")


class SampleTurn(msgspec.Struct, frozen=True):
    """One item to be found: `whole` is what is searched."""

    id: str
    speaker: str
    text: str
    caption: str | None
    session: str
    when: datetime

    @property
    def whole(self) -> str:
        """`speaker: text`, and what its image shows."""
        return f"{self.speaker}: {self.text}" + (f"\n{self.caption}" if self.caption else "")


class SampleQuestion(msgspec.Struct, frozen=True):
    """A question and the places of the turns that answer it."""

    text: str
    category: str
    evidence: tuple[int, ...]


class Sample(msgspec.Struct, frozen=True):
    """A conversation with its questions, and what of its evidence couldn't be resolved."""

    name: str
    turns: Sequence[SampleTurn]
    questions: Sequence[SampleQuestion]
    unresolved: int
    """Evidence ids that name no turn."""
    unscorable: int
    """Questions without text, or left without evidence."""
    sessions: Sequence[str]
    """The session of each turn."""


def evidence_ids(given: object) -> Iterator[str]:
    """Yield the turn ids that a citation names, zeros and stray colons put right: of a range its two ends, since
    nothing tells whether what lies between was meant. What else is written is yielded as it is, to be counted.
    """
    for item in _listed(given):
        cited = item
        if isinstance(item, dict):
            members = cast("dict[str, object]", item)
            cited = members.get("dia_id", members.get("id", ""))
        text = str(cited)
        yield from (f"D{int(match[1])}:{int(match[2])}" for match in _ID.finditer(text))
        left = (part.strip("[](){}\"'-–—.") for part in re.split(r"[;,\s]+", _ID.sub(" ", text)))
        yield from (part for part in left if part)


def _listed(given: object) -> list[object]:
    if given is None:
        return []
    return cast("list[object]", given) if isinstance(given, list) else [given]


def read_locomo(document: Mapping[str, Any]) -> Sample:
    """Return a LoCoMo conversation as a sample; raise ValueError for anything else."""
    if not isinstance(document.get("conversation"), dict) or not isinstance(document.get("qa"), list):
        raise ValueError('not a LoCoMo conversation: it has no "conversation" and "qa"')
    conversation = cast("dict[str, Any]", document["conversation"])
    turns: list[SampleTurn] = []
    for number, spoken in _sessions(conversation):
        when = _when(conversation.get(f"session_{number}_date_time"))
        turns += [
            _turn(each, f"session_{number}", when) for each in spoken if isinstance(each.get("dia_id"), str)
        ]
    name = str(document.get("sample_id") or "conversation")
    return _sample(name, turns, document["qa"])


def _sessions(conversation: Mapping[str, Any]) -> list[tuple[int, list[dict[str, Any]]]]:
    found = ((_SESSION.fullmatch(name), value) for name, value in conversation.items())
    listed = [
        (int(match[1]), cast("list[object]", value))
        for match, value in found
        if match and isinstance(value, list)
    ]
    return [
        (number, [cast("dict[str, Any]", each) for each in spoken if isinstance(each, dict)])
        for number, spoken in sorted(listed, key=lambda one: one[0])
    ]


def _turn(turn: Mapping[str, Any], session: str, when: datetime) -> SampleTurn:
    text = turn.get("clean_text", turn.get("text"))
    caption = turn.get("blip_caption")
    if isinstance(caption, list):
        caption = "\n".join(str(each) for each in cast("list[object]", caption) if each)
    return SampleTurn(
        turn["dia_id"].strip(), str(turn.get("speaker") or ""), str(text or ""),
        caption if caption and isinstance(caption, str) else None, session, when,
    )  # fmt: skip


def _sample(
    name: str, turns: Sequence[SampleTurn], asked: Iterable[object], *, as_is: bool = False
) -> Sample:
    places = {turn.id: at for at, turn in enumerate(turns)}
    questions: list[SampleQuestion] = []
    unresolved = unscorable = 0
    for one in asked:
        each = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        if not isinstance(each.get("question"), str) or not each["question"].strip():
            unscorable += 1
            continue
        cited = each.get("evidence", [])
        ids = list(dict.fromkeys(map(str, _listed(cited)) if as_is else evidence_ids(cited)))
        right = tuple(sorted(places[id] for id in ids if id in places))
        unresolved += sum(id not in places for id in ids)
        unscorable += not right
        if right:
            questions.append(SampleQuestion(str(each["question"]), str(each.get("category", "none")), right))
    sessions = [turn.session for turn in turns]
    return Sample(name, turns, questions, unresolved, unscorable, sessions)


_WHENS: Final = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%d.%m.%Y, %H:%M", "%Y-%m-%d %H:%M:%S")


_UNKNOWN: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _when(given: object, otherwise: datetime = _UNKNOWN) -> datetime:
    """Return a time as the data sets write it, or as ISO 8601."""
    for form in _WHENS:
        try:
            return datetime.strptime(str(given).strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        found = datetime.fromisoformat(str(given).strip())
    except ValueError:
        return otherwise
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read(kind: str, raw: bytes) -> list[Sample]:
    """Return the samples of a file of this kind: `locomo`, `realtalk` or `jsonl`; `raw` is its bytes.

    Raises ValueError, which says what is wrong.
    """
    if kind == "jsonl":
        return read_jsonl(raw)
    try:
        found = msgspec.json.decode(raw.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if kind == "realtalk":
        return [read_realtalk(each) for each in as_published(found)]
    documents = cast("list[object]", found) if isinstance(found, list) else [found]
    return [read_locomo(_object(each)) for each in documents]


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("it holds something that is no conversation: not an object")
    return cast("dict[str, Any]", value)


def read_realtalk(document: Mapping[str, Any]) -> Sample:
    """Return a REALTALK conversation, as published; raise ValueError where none of its questions can be asked."""
    turns: list[SampleTurn] = []
    for number, spoken in _sessions(document):
        begun = _when(document.get(f"session_{number}_date_time"), _first_time(spoken))
        turns += [
            _turn(each, f"session_{number}", _when(each.get("date_time"), begun))
            for each in spoken
            if isinstance(each.get("dia_id"), str)
        ]
    given = document.get("name")
    names = list(cast("dict[str, object]", given).values()) if isinstance(given, dict) else [given or ""]
    sample = _sample("-".join(map(str, names)) or "conversation", turns, document["qa"])
    if document["qa"] and not sample.questions:
        cited = next((one.get("evidence") for one in document["qa"] if one.get("evidence")), None)
        raise ValueError(
            f"none of its {len(document['qa'])} questions cites a turn: evidence such as {str(cited)[:80]!r},"
            f" turns such as {[turn.id for turn in turns[:3]]}"
        )
    return sample


def _first_time(spoken: Sequence[Mapping[str, Any]]) -> datetime:
    """Return the first time that a turn of a session gives."""
    given = (_when(turn.get("date_time")) for turn in spoken)
    return next((when for when in given if when != _UNKNOWN), _UNKNOWN)


def read_jsonl(raw: bytes) -> list[Sample]:
    """Return samples from the bytes of JSON Lines: turns and questions, each with its `conversation`, in any order.

    Turns are `{"id", "speaker", "text", "session"?, "when"?, "caption"?}`, questions `{"question", "evidence": [id …],
    "category"?}`. Raises ValueError with the number of a line that is neither, or a turn whose id its conversation has
    already.
    """
    turns: defaultdict[str, list[SampleTurn]] = defaultdict(list)
    asked: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    known: dict[tuple[str, str], int] = {}
    for number, line in lines_of(raw):
        try:
            members = _object(msgspec.json.decode(line))
            name = str(members.get("conversation", "conversation"))
            turn = None if "question" in members else _own_turn(members)
        except (msgspec.DecodeError, ValueError, KeyError, RecursionError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"line {number}: neither a turn nor a question: {why}") from None
        if turn is None:
            asked[name].append(members)
            continue
        first = known.setdefault((name, turn.id), number)
        if first != number:
            raise ValueError(
                f"line {number}: the turn {turn.id!r} of {name!r} is there already, in line {first}"
            )
        turns[name].append(turn)
    if not asked:
        raise ValueError('there is no question in it: lines with "question" and "evidence"')
    return [_sample(name, turns[name], questions, as_is=True) for name, questions in asked.items()]


def lines_of(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of these bytes that are not blank, with their numbers. Each joined file may begin with a BOM."""
    for number, line in enumerate(raw.splitlines(), 1):
        said = line.removeprefix(BOM_UTF8)
        if said.strip():
            yield number, said


def _own_turn(members: Mapping[str, Any]) -> SampleTurn:
    """Read a turn; the names that chat exports use (`content`, `name`, `role`, `timestamp`) serve too."""
    given = members.get("when") or members.get("timestamp")
    when = datetime.fromisoformat(str(given)) if given else _UNKNOWN
    text = members["text"] if "text" in members else members["content"]
    speaker = members.get("speaker") or members.get("name") or members.get("role") or ""
    return SampleTurn(
        id=str(members["id"]),
        speaker=str(speaker),
        text=str(text),
        caption=members.get("caption"),
        session=str(members.get("session", "session")),
        when=when if when.tzinfo else when.replace(tzinfo=UTC),
    )
