"""From what a model answered to candidates: each item is taken on its own, and what is wrong with one harms no other.

Bounded: of an answer of any size a few hundred items are looked at. What is refused here can't be a candidate at all:
it has the wrong form, or names a turn that was not to be read. Whether what is left was said is for the gates.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from braid.learn.candidate import Candidate, CandidateType, Evidence, Maker, Modality, Temporal
from braid.learn.model.evidence import evidence_of
from braid.learn.model.prompt import Numbered
from braid.learn.model.repair import mended
from braid.learn.model.schema import (
    ITEMS,
    CorrectionItem,
    EntityItem,
    EpisodeItem,
    FactItem,
    GoalItem,
    InterestItem,
    Item,
    PreferenceItem,
    RelationItem,
    SkillItem,
    StepItem,
    day,
    read,
)
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim
from braid.stance.relations import name_of, relation
from braid.text.redact import placeholders

MAX_ITEMS: Final = 200
"""Items of one answer that are looked at."""
_SPEAKER: Final = frozenset(("user", "the user", "i", "me", "myself", "speaker", "the speaker", "self"))
_SINGULAR: Final[Mapping[str, str]] = {
    "entity": "entities", "relation": "relations", "fact": "facts", "preference": "preferences", "skill": "skills",
    "interest": "interests", "goal": "goals", "wish": "goals", "episode": "episodes", "event": "episodes",
    "correction": "corrections", "step": "steps",
}  # fmt: skip


class Answered(NamedTuple):
    """What an answer held. `readable`: whether there was JSON in it at all; `warnings`: stage and class, of each."""

    candidates: tuple[Candidate, ...]
    warnings: tuple[tuple[str, str], ...]
    readable: bool


def answered(said: str, turns: Mapping[int, Numbered], maker: Maker) -> Answered:
    """Return the candidates of an answer. Never raises, whatever it is."""
    found = mended(said)
    warnings: list[tuple[str, str]] = [("repair", mend) for mend in found.mends]
    if found.value is None:
        return Answered((), tuple(warnings), readable=False)
    candidates: list[Candidate] = []
    refused: Counter[str] = Counter()
    items = list(islice(_items(found.value), MAX_ITEMS + 1))
    if len(items) > MAX_ITEMS:
        refused["too_many"] += 1
        items.pop()
    elif items and {"truncated", "cut"} & set(found.mends):
        refused["cut_off"] += 1  # what it lacks may be that it was only supposed
        items.pop()
    for kind, given in items:
        try:
            candidates += _candidates(read(kind, given), turns, maker, refused)
        except ValueError:
            refused["schema"] += 1
    warnings += [("item", why) for why, count in refused.items() for _ in range(count)]
    return Answered(tuple(candidates), tuple(warnings), readable=True)


def _items(value: Any) -> Iterator[tuple[str, object]]:
    """Yield the items of an answer with their kinds: lists by kind, or a list of items that say their type."""
    if isinstance(value, list):
        for each in cast("list[object]", value):
            if isinstance(each, dict):
                yield from _items(each)
        return
    members = cast("dict[Any, Any]", value)
    named = [kind for kind in ITEMS if isinstance(members.get(kind), list | dict)]
    for kind in named:
        listed = members[kind]
        yield from (
            (kind, each) for each in (cast("list[object]", listed) if isinstance(listed, list) else [listed])
        )
    if not named and (typed := _SINGULAR.get(str(members.get("type")).lower())) is not None:
        yield typed, members


def _candidates(
    item: Item, turns: Mapping[int, Numbered], maker: Maker, refused: Counter[str]
) -> Iterator[Candidate]:
    """Yield what an item states; count in `refused` why there is nothing."""
    if any(placeholders(text) for text in _texts(item)):
        refused["secret"] += 1
        return
    placed = _placed(item, turns)
    if placed is None:
        refused["turn"] += 1
        return
    turn, evidence, moved = placed
    if moved:
        refused["another_turn"] += 1  # it is kept: its words are there
    if not isinstance(item, EntityItem) and item.sarcastic:
        refused["sarcasm"] += 1
        return
    stated = list(_statements(item))
    refused["neutral"] += not stated
    yield from (_candidate(item, one, turn, evidence, maker) for one in stated)


def _texts(item: Item) -> Iterator[str]:
    """Yield the texts of an item."""
    for name in item.__struct_fields__:
        value: object = getattr(item, name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (str(each) for each in cast("list[object]", value))


def _placed(item: Item, turns: Mapping[int, Numbered]) -> tuple[Turn, Evidence, bool] | None:
    """Return the turn of an item, its words there, and whether that is another turn than it names.

    None where the turn that it names isn't to be read, and no other that is has its words.
    """
    named = turns.get(item.turn)
    if named is not None and named.is_read and (found := evidence_of(item.quote, named.turn)):
        return named.turn, found, False
    for one in turns.values():
        if one.is_read and (found := evidence_of(item.quote, one.turn)):
            return one.turn, found, True
    if named is None or not named.is_read:
        return None
    # Its words are nowhere: the gates are to see, and count, that it was made up.
    return named.turn, Evidence(named.turn.at, 0, item.quote), False


class _Statement(NamedTuple):
    """What an item states: its type, the three words of a claim, and what else it says of claim and candidate."""

    type: CandidateType
    rel: str
    object: str
    polarity: bool = True
    details: Mapping[str, str | None] = {}
    since: str | None = None
    until: str | None = None


def _statements(item: Item) -> Iterator[_Statement]:
    """Yield what an item states; nothing where it is for nothing and against nothing."""
    match item:
        case EntityItem():
            yield _Statement("entity", "is_a", item.kind, details={"aliases": ", ".join(item.aliases)})
        case FactItem():
            of: CandidateType = "relation" if isinstance(item, RelationItem) else "fact"
            is_so = item.polarity == "positive"
            yield _Statement(of, item.relation, item.object, is_so, {}, item.valid_from, item.valid_to)
        case PreferenceItem():
            details = {
                "category": item.category,
                "key": _key(item),
                "context": item.context,
                "strength": None if item.strength is None else f"{item.strength:g}",
            }
            against = item.relation in ("dislikes", "avoids")
            if item.polarity == "neutral" or (against and item.polarity == "positive"):
                return  # neither for nor against, or both
            is_so = against or item.polarity == "positive"
            yield _Statement("preference", item.relation, item.object, is_so, details)
        case SkillItem():
            yield _Statement("skill", "skilled_in", item.skill, details={"proficiency": item.proficiency})
        case InterestItem():
            yield _Statement("interest", "interested_in", item.topic, details={"engagement": item.engagement})
        case GoalItem():
            rel = "plans_to" if item.modality == "planned" else "goal"
            yield _Statement("goal", rel, item.goal, details={"due": item.due})
        case EpisodeItem():
            yield _Statement("episode", item.relation, item.object, since=item.when)
        case CorrectionItem():
            if item.now:
                yield _Statement("correction", item.relation, item.now)
            if item.was and (not item.now or relation(item.relation).many):
                # Of a relation with one object the new one says enough.
                yield _Statement("correction", item.relation, item.was, polarity=False)
        case StepItem():
            yield _Statement("step", "has_step", item.action, details={"order": str(item.order)})


def _candidate(item: Item, stated: _Statement, turn: Turn, evidence: Evidence, maker: Maker) -> Candidate:
    said = None if isinstance(item, EntityItem) else item
    said_by = None if said is None or _is_speaker(said.said_by or "", turn) else said.said_by
    subject = _subject(item)
    details = {name: value for name, value in stated.details.items() if value}
    modality: Modality = "actual" if said is None else said.modality
    claim = Claim(
        subject=turn.speaker if _is_speaker(subject, turn) else " ".join(subject.split()),
        rel=name_of(stated.rel),
        object=" ".join(stated.object.split()),
        polarity=stated.polarity,
        valid_from=day(stated.since),
        valid_to=day(stated.until),
        source_type="corrected"
        if stated.type == "correction"
        else "explicit"
        if said is None
        else said.source,
        quote=evidence.quote,
        hedge=None if said is None else said.hedge or None,
        said_by=said_by or None,
        at=evidence.start,
        type="fact" if stated.type == "correction" else stated.type,
        details=details if modality == "actual" else {**details, "modality": modality},
    )
    return Candidate(
        claim=claim,
        type=stated.type,
        evidence=evidence,
        maker=maker,
        modality=modality,
        temporal=_temporal(item, claim.rel),
        confidence=item.confidence,
        category=item.category if isinstance(item, PreferenceItem) else None,
        key=_key(item) if isinstance(item, PreferenceItem) else None,
        strength=item.strength if isinstance(item, PreferenceItem) else None,
        proficiency=item.proficiency if isinstance(item, SkillItem) else None,
    )


def _key(item: PreferenceItem) -> str | None:
    """Return the key of a preference as keys are written; its object's, where it has none that can be."""
    for said in (item.key, item.object):
        plain = unicodedata.normalize("NFKD", said or "").encode("ascii", "ignore").decode()
        if key := name_of(plain).lstrip("0123456789_")[:80].rstrip("_"):
            return key
    return None


def _subject(item: Item) -> str:
    if isinstance(item, EntityItem):
        return item.name
    return item.procedure if isinstance(item, StepItem) else item.subject


def _is_speaker(name: str, turn: Turn) -> bool:
    plain = name.strip().casefold()
    return plain in _SPEAKER or plain == turn.speaker.casefold()


def _temporal(item: Item, rel: str) -> Temporal:
    if isinstance(item, FactItem):
        return item.temporal
    return "episode" if isinstance(item, EpisodeItem) else relation(rel).temporal
