"""How well recall finds what answers a question: data sets as samples, and the measures. Pure.

LoCoMo (Maharana et al., ACL 2024), REALTALK (Lee et al., 2025), and JSON Lines of one's own.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

import msgspec

CUTS: Final = (1, 5, 10, 20, 50)
_SESSION: Final = re.compile(r"session_(\d{1,6})")
_ID: Final = re.compile(r"D:?(\d+):0*(\d+)")


class Turn(msgspec.Struct, frozen=True):
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


class Asked(msgspec.Struct, frozen=True):
    """A question and the places of the turns that answer it."""

    text: str
    category: str
    evidence: tuple[int, ...]


class Sample(msgspec.Struct, frozen=True):
    """A conversation with its questions, and what of its evidence couldn't be resolved."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Asked]
    unresolved: int
    """Evidence ids that name no turn."""
    unscorable: int
    """Questions left without evidence."""
    sessions: Sequence[str]


class Answered(msgspec.Struct, frozen=True):
    """The measures of one question, by name."""

    category: str
    turn: Mapping[str, float]
    session: Mapping[str, float]


def measure(ranked: Sequence[object], right: set[object]) -> dict[str, float]:
    """Return recall@k (the share of the evidence found), ndcg@10, mrr and all@10 of a ranking. `right` isn't empty."""
    ranks = [rank for rank, item in enumerate(dict.fromkeys(ranked)) if item in right]
    found = {f"recall@{cut}": sum(rank < cut for rank in ranks) / len(right) for cut in CUTS}
    gain = sum(1 / math.log2(rank + 2) for rank in ranks if rank < 10)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(right), 10)))
    return found | {
        "ndcg@10": gain / ideal,
        "mrr": 1 / (ranks[0] + 1) if ranks else 0.0,
        "all@10": float(sum(rank < 10 for rank in ranks) == len(right)),
    }


def summary(answered: Sequence[Answered]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the means at both levels, over all and by category."""
    categories = sorted({each.category for each in answered})
    groups = {"all": list(answered)} | {
        name: [each for each in answered if each.category == name] for name in categories
    }
    return {
        level: {
            name: {"questions": len(group), **mean([getattr(each, level) for each in group])}
            for name, group in groups.items()
        }
        for level in ("turn", "session")
    }


def mean(measures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure; nothing for nothing."""
    if not measures:
        return {}
    return {name: math.fsum(each[name] for each in measures) / len(measures) for name in measures[0]}


def evidence_ids(given: object) -> Iterator[str]:
    """Yield the turn ids that a citation means: brackets off, split, zeros and stray colons put right."""
    items = cast("list[object]", given) if isinstance(given, list) else [given]
    for item in items:
        for part in re.split(r"[;,\s]+", str(item)):
            bare = part.strip("[](){}\"'")
            match = _ID.fullmatch(bare)
            if match is not None:
                yield f"D{int(match[1])}:{int(match[2])}"
            elif bare:
                yield bare


def read_locomo(document: Mapping[str, Any]) -> Sample:
    """Return a LoCoMo conversation as a sample; raise ValueError for anything else."""
    conversation = document.get("conversation")
    if not isinstance(conversation, dict) or not isinstance(document.get("qa"), list):
        raise ValueError('not a LoCoMo conversation: it has no "conversation" and "qa"')
    turns: list[Turn] = []
    for number, spoken in _sessions(conversation):
        when = _when(conversation.get(f"session_{number}_date_time"))
        turns += [_turn(each, f"session_{number}", when) for each in spoken if isinstance(each.get("dia_id"), str)]
    name = str(document.get("sample_id") or "conversation")
    return _sample(name, turns, document["qa"])


def _sessions(conversation: Mapping[str, Any]) -> list[tuple[int, list[dict[str, Any]]]]:
    found = (( _SESSION.fullmatch(name), value) for name, value in conversation.items())
    return sorted((int(match[1]), value) for match, value in found if match and isinstance(value, list))


def _turn(turn: Mapping[str, Any], session: str, when: datetime) -> Turn:
    text = turn.get("clean_text", turn.get("text"))
    caption = turn.get("blip_caption")
    return Turn(
        turn["dia_id"], str(turn.get("speaker", "")), str(text or ""),
        caption if isinstance(caption, str) else None, session, when,
    )  # fmt: skip


def _sample(name: str, turns: Sequence[Turn], asked: Sequence[Mapping[str, Any]]) -> Sample:
    places = {turn.id: at for at, turn in enumerate(turns)}
    questions: list[Asked] = []
    unresolved = unscorable = 0
    for each in asked:
        ids = list(dict.fromkeys(evidence_ids(each.get("evidence", []))))
        right = tuple(sorted(places[id] for id in ids if id in places))
        unresolved += sum(id not in places for id in ids)
        unscorable += not right
        if right:
            questions.append(Asked(str(each["question"]), str(each.get("category", "none")), right))
    sessions = [turn.session for turn in turns]
    return Sample(name, turns, questions, unresolved, unscorable, sessions)


_WHENS: Final = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S")


def _when(given: object) -> datetime:
    for form in _WHENS:
        try:
            return datetime.strptime(str(given).strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime(1970, 1, 1, tzinfo=UTC)


def json_lines(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return the objects of JSON Lines; raise ValueError naming the line that is none."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number}: not JSON: {error}") from None
            if not isinstance(value, dict):
                raise ValueError(f"line {number}: not an object")
            found.append(cast("dict[str, Any]", value))
    return found
