"""What a model is asked for: a struct a type of knowledge. The JSON Schema that is sent is made from these.

Members are described where they are declared, so that the schema is the prompt. Lengths and bounds hold what comes
back; they are left out of what is sent, since not every server takes them.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any, Final, Literal, cast

import msgspec

from braid.learn.candidate import Category, Modality, Temporal
from braid.ledger.record.schemas import components

MAX_QUOTE: Final = 1_000
_Stated = Literal["explicit", "implicit_intentional", "implicit_unintentional", "inferred"]
_Sign = Literal["positive", "negative"]

_Turn = Annotated[int, msgspec.Meta(ge=1, le=100_000, description="n of the turn that says it")]
_Quote = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=MAX_QUOTE,
        description="the words of that turn that say it, copied exactly, all of them: with negations and conditions",
    ),
]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1, description="how sure you are, from 0 to 1")]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]
_Subject = Annotated[
    str,
    msgspec.Meta(
        min_length=1, max_length=120, description="who or what it is of; user for the turn's own speaker"
    ),
]
_Rel = Annotated[
    str,
    msgspec.Meta(
        min_length=1, max_length=60, description="snake_case verb: lives_in, works_at, owns, moved_to"
    ),
]
_Object = Annotated[
    str, msgspec.Meta(min_length=1, max_length=300, description="what is said of it, in words of the quote")
]
_Day = Annotated[str, msgspec.Meta(max_length=40, description="YYYY-MM-DD, or null")]


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    """What every item has."""

    turn: _Turn
    quote: _Quote
    confidence: _Share = 0.5


class _Said(_Item, frozen=True, kw_only=True):
    """What every statement has."""

    subject: _Subject = "user"
    source: Annotated[
        _Stated,
        msgspec.Meta(
            description="explicit: stated; implicit: shown by a choice, or by habit; inferred: concluded"
        ),
    ] = "explicit"
    modality: Annotated[
        Modality,
        msgspec.Meta(
            description="actual only of what is so now; if, would, suppose: hypothetical; a question: asked"
        ),
    ] = "actual"
    said_by: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=120, description="whose word the speaker only reports; null: the speaker's own"
            ),
        ]
        | None
    ) = None
    hedge: (
        Annotated[
            str, msgspec.Meta(max_length=80, description="the words that soften it: I think, maybe; or null")
        ]
        | None
    ) = None
    sarcastic: Annotated[
        bool, msgspec.Meta(description="true where it is irony, and the opposite is meant")
    ] = False


class EntityItem(_Item, frozen=True, kw_only=True):
    """Somebody or something that is named."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=120, description="as the turn names it")]
    kind: Literal[
        "person",
        "organization",
        "place",
        "service",
        "tool",
        "product",
        "project",
        "concept",
        "animal",
        "other",
    ]
    aliases: Annotated[list[_Name], msgspec.Meta(max_length=8)] = []


class FactItem(_Said, frozen=True, kw_only=True):
    """A statement of somebody or something."""

    relation: _Rel
    object: _Object
    polarity: Annotated[_Sign, msgspec.Meta(description="negative where the quote denies it")] = "positive"
    temporal: Annotated[
        Temporal,
        msgspec.Meta(description="trait: lasting nature; state: so for a time; episode: happened once"),
    ] = "state"
    valid_from: _Day | None = None
    valid_to: _Day | None = None


class RelationItem(FactItem, frozen=True, kw_only=True):
    """What ties two named entities together."""


class PreferenceItem(_Said, frozen=True, kw_only=True):
    """A taste, a wish for how things be done. A question or a request for once is none."""

    relation: Literal["prefers", "likes", "dislikes", "uses", "avoids"]
    object: _Object
    polarity: Annotated[
        Literal["positive", "negative", "neutral"], msgspec.Meta(description="for it, against it, neither")
    ]
    category: Category = "domain"
    key: (
        Annotated[
            str, msgspec.Meta(max_length=80, description="snake_case topic: dispute_notification_method")
        ]
        | None
    ) = None
    strength: Annotated[float, msgspec.Meta(ge=0, le=1, description="0 slight, 1 absolute")] | None = None
    context: (
        Annotated[str, msgspec.Meta(max_length=120, description="when it holds; null: always")] | None
    ) = None


class SkillItem(_Said, frozen=True, kw_only=True):
    """What somebody can do."""

    skill: _Object
    proficiency: Annotated[
        Literal["novice", "beginner", "intermediate", "advanced", "expert"],
        msgspec.Meta(
            description="novice: asks what it is; beginner: follows steps; intermediate: has done it alone;"
            " advanced: has done it often, in several settings; expert: teaches it"
        ),
    ]


class InterestItem(_Said, frozen=True, kw_only=True):
    """A topic that somebody keeps coming back to."""

    topic: _Object
    engagement: Literal["low", "moderate", "high"] = "low"


class GoalItem(_Said, frozen=True, kw_only=True):
    """What somebody wants to reach, or plans."""

    goal: _Object
    due: _Day | None = None


class EpisodeItem(_Said, frozen=True, kw_only=True):
    """What happened once."""

    relation: _Rel
    object: _Object
    when: _Day | None = None


class CorrectionItem(_Said, frozen=True, kw_only=True):
    """What the speaker puts right, or takes back."""

    relation: _Rel
    was: (
        Annotated[str, msgspec.Meta(max_length=300, description="what no longer holds; null if not said")]
        | None
    )
    now: (
        Annotated[str, msgspec.Meta(max_length=300, description="what holds instead; null: only taken back")]
        | None
    )


class StepItem(_Said, frozen=True, kw_only=True):
    """A step of a procedure that the speaker teaches."""

    procedure: _Name
    order: Annotated[int, msgspec.Meta(ge=1, le=100)]
    action: _Object


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """All that a session states. Leave a list empty rather than guess."""

    entities: list[EntityItem]
    relations: list[RelationItem]
    facts: list[FactItem]
    preferences: list[PreferenceItem]
    skills: list[SkillItem]
    interests: list[InterestItem]
    goals: list[GoalItem]
    episodes: list[EpisodeItem]
    corrections: list[CorrectionItem]
    steps: list[StepItem]


Item = (
    EntityItem
    | FactItem
    | PreferenceItem
    | SkillItem
    | InterestItem
    | GoalItem
    | EpisodeItem
    | CorrectionItem
    | StepItem
)
ITEMS: Final[Mapping[str, type[Item]]] = {
    "entities": EntityItem,
    "relations": RelationItem,
    "facts": FactItem,
    "preferences": PreferenceItem,
    "skills": SkillItem,
    "interests": InterestItem,
    "goals": GoalItem,
    "episodes": EpisodeItem,
    "corrections": CorrectionItem,
    "steps": StepItem,
}
"""By the member of an answer that lists them."""
_OF_REFERENCE: Final = "#/$defs/"


def _sent(schema: Any, named: Mapping[str, Any]) -> Any:
    """Return a schema with its references put in, every member required, and no bounds."""
    if isinstance(schema, list):
        return [_sent(each, named) for each in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, Any]", schema)
    if "$ref" in given:
        return _sent(named[str(given["$ref"]).removeprefix(_OF_REFERENCE)], named)
    made: dict[str, Any] = {}
    for name in ("description", "type", "enum", "anyOf", "items"):
        if name in given:
            made[name] = _sent(given[name], named)
    if "properties" in given:
        members = cast("dict[str, Any]", given["properties"])
        made["properties"] = {name: _sent(each, named) for name, each in members.items()}
        made |= {"required": list(members), "additionalProperties": False}
    return made


def _schema() -> Mapping[str, Any]:
    (top,), named = components((Extracted,), ref_template=f"{_OF_REFERENCE}{{name}}")
    sent: dict[str, Any] = _sent(top, named)
    return sent


SCHEMA: Final[Mapping[str, Any]] = _schema()
"""What is sent. Every member is required and none other allowed, as strict servers want it."""


def outline() -> str:
    """Return the schema in words: a line a type, what all have in common once. For models that are held to a schema
    without being shown it, and for those that aren't held to it."""
    kinds: dict[str, Any] = SCHEMA["properties"]
    common = kinds["facts"]["items"]["properties"]
    shared = [name for name in _Said.__struct_fields__ if name in common]
    lines = [f"  every item: {'; '.join(_member(name, common[name]) for name in shared)}"]
    for kind, listed in kinds.items():
        item: dict[str, Any] = listed["items"]
        own = [_member(name, each) for name, each in item["properties"].items() if name not in shared]
        lines.append(f"  {kind}: {item['description']} {'; '.join(own)}")
    return "\n".join(lines)


def _member(name: str, schema: Mapping[str, Any]) -> str:
    """Return a member with what it may hold: `polarity (negative|positive; negative where …)`."""
    branches: list[Mapping[str, Any]] = schema.get("anyOf") or [schema]
    values = "|".join(str(value) for branch in branches for value in branch.get("enum", ()))
    about = next((str(each["description"]) for each in branches if "description" in each), "")
    told = "; ".join(filter(None, (values, about)))
    return f"{name} ({told})" if told else name


def read(kind: str, given: object) -> Item:
    """Return an item of a kind; ValueError for one that lacks something, or whose values are none of theirs."""
    try:
        found = msgspec.convert(given, ITEMS[kind], strict=False)
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        raise ValueError(type(error).__name__) from None
    figures = (found.confidence, found.strength if isinstance(found, PreferenceItem) else 0.0)
    try:
        msgspec.json.encode(found).decode()
    except UnicodeEncodeError:
        raise ValueError("half a character") from None
    if not all(figure is None or (isfinite(figure) and 0 <= figure <= 1) for figure in figures):
        raise ValueError("not a number from 0 to 1")
    return found


_DAY: Final = re.compile(r"[12]\d{3}-\d\d-\d\d")


def day(said: str | None) -> datetime | None:
    """Return the beginning of a day, UTC; None where none is said, or what is said is none."""
    if said is None or not _DAY.match(said):
        return None
    try:
        return datetime.fromisoformat(said[:10]).replace(tzinfo=UTC)
    except ValueError:
        return None
