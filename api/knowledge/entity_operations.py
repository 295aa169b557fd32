"""Who is who: people, organisations, products, places and things that were spoken of, and what is decided of them."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from braid.ledger.errors import IntegrityError, ReadOnlyError, UnknownRecordError
from braid.operation import Id, Name, Response, Scoped, ScopedAsOf, operation
from braid.session import Session
from braid.stance.mentions import EntityType
from braid.wal.errors import OutcomeUnknownError

EntityRef = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=400, description="An entity's id (ent_…), or one of its names."),
]
_WRITES = (ValueError, ReadOnlyError, IntegrityError, OutcomeUnknownError)


class ListEntities(ScopedAsOf, frozen=True, kw_only=True):
    """Which entities. `named`: with this in a name. `meanings`: the store's model may support close names, too."""

    type: EntityType | None = None
    named: Name | None = None
    meanings: bool = False
    limit: Annotated[
        int, msgspec.Meta(ge=1, le=100_000, description="How many at most of each, the likeliest first.")
    ] = 100


class EntityRow(Response, frozen=True, kw_only=True):
    """An entity in short. `names`: as they were written. `mentions`: how often claims speak of it."""

    id: str
    name: str
    type: str
    names: tuple[str, ...]
    mentions: int
    owner: str
    """Whose memory it is of: `user_id:ana`; empty for nobody's."""


class EntityProposal(Response, frozen=True, kw_only=True):
    """Two entities that may be one: a person or a model is to say. `score` in [0, 1]: how near their names are."""

    one: str
    other: str
    names: tuple[str, str]
    why: str
    score: float


class EntityList(Response, frozen=True, kw_only=True):
    """Entities, those mentioned most first, of `count` that fit, and what may be one: at most `limit` of each.

    `comparisons`: how many pairs of names were compared.
    """

    entities: tuple[EntityRow, ...]
    count: int
    proposals: tuple[EntityProposal, ...]
    proposal_count: int
    comparisons: int
    rules: str
    """The version of the rules: the same log and the same rules give the same entities."""


@operation(
    ListEntities,
    EntityList,
    access="read",
    cost="log",
    pages="entities",
    table="entities",
    page_key=("id",),
    example=ListEntities(user_id="maya", type="person"),
    errors=(ValueError, IntegrityError),
)
def entities(session: Session, asked: ListEntities) -> EntityList:
    """Return who and what is spoken of: names that mean one thing are one entity, and what stays open is proposed.

    Made of the claims of living records: by what people and models decided, by names, aliases and statements, then by
    close names that what was said supports. Entities of two people's memories are never one.
    """
    from braid.knowledge.entity_views import listing

    session.refresh()
    return listing(session, asked)


class ShowEntity(ScopedAsOf, frozen=True, kw_only=True):
    """Which entity."""

    entity: EntityRef


class EntityMention(Response, frozen=True, kw_only=True):
    """Where an entity is spoken of: by which name, in which turn, by which record's claim."""

    name: str
    role: str
    turn: str
    record: str
    said_at: datetime
    quote: str | None = None


class EntityFact(Response, frozen=True, kw_only=True):
    """What is claimed of an entity. `other`, the id of the entity that it is related to, where that is one."""

    subject: str
    rel: str
    object: str
    polarity: bool
    record: str
    turn: str
    other: str | None = None


class EntityJoin(Response, frozen=True, kw_only=True):
    """How two of its names were joined: alias, stated, close or decided; and why, or by which record."""

    one: str
    other: str
    how: str
    why: str


class EntityView(Response, frozen=True, kw_only=True):
    """An entity in full. Mentions are in the order of the log, the newest 1,000."""

    id: str
    name: str
    type: str
    names: tuple[str, ...]
    owner: str
    mentions: tuple[EntityMention, ...]
    relations: tuple[EntityFact, ...]
    facts: tuple[EntityFact, ...]
    joined: tuple[EntityJoin, ...]
    decisions: tuple[str, ...]
    """Ids of the records by which somebody decided on its names."""
    proposals: tuple[EntityProposal, ...]


@operation(
    ShowEntity,
    EntityView,
    access="read",
    cost="log",
    positional=("entity",),
    example=ShowEntity(entity="Maya", user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def entity(session: Session, asked: ShowEntity) -> EntityView:
    """Return an entity: its names, where it is mentioned, what it is related to, what is claimed of it.

    Raises ValueError for what no entity is called, and for a name that several have.
    """
    from braid.knowledge.entity_views import shown

    session.refresh()
    return shown(session, asked)


class Decides(Scoped, frozen=True, kw_only=True):
    """A decision on entities. `by`: who decides, a person or a model; `reason`: why. Both are sealed with it."""

    by: Name | None = None
    reason: str | None = None


class EntityDecision(Response, frozen=True, kw_only=True):
    """The record of a decision, None where there was nothing to decide; and the entities that it leaves."""

    id: str | None
    op: Literal["merge", "split", "alias"]
    entities: tuple[EntityRow, ...]


class MergeEntities(Decides, frozen=True, kw_only=True):
    """Two entities that are one."""

    one: EntityRef
    other: EntityRef


@operation(
    MergeEntities,
    EntityDecision,
    access="modify",
    reads=True,
    cost="log",
    repeatable=True,
    positional=("one", "other"),
    example=MergeEntities(one="maya", other="Porto", user_id="maya", reason="an example"),
    errors=_WRITES,
)
def merge_entities(session: Session, asked: MergeEntities) -> EntityDecision:
    """Record that two entities are one. Splitting them, or forgetting the record, gives both back.

    It is written also where only a rule says so; nothing is where it was decided already. Raises ValueError for what
    no entity is called, for a name that several have, and for entities of two people's memories.
    """
    from braid.knowledge.entity_views import merged

    session.refresh()
    _ = session.writer
    return merged(session, asked)


class SplitEntity(Decides, frozen=True, kw_only=True):
    """What is another: some of its names, or its names in some turns. Without either, what was decided is undone."""

    entity: EntityRef
    names: tuple[Name, ...] = ()
    turns: tuple[Id, ...] = ()


@operation(
    SplitEntity,
    EntityDecision,
    access="modify",
    reads=True,
    cost="log",
    repeatable=False,
    positional=("entity",),
    example=SplitEntity(entity="maya", turns=("exp_2025-05-17T09:00:00Z_0000000300ab",), user_id="maya"),
    errors=(*_WRITES, UnknownRecordError),
)
def split_entity(session: Session, asked: SplitEntity) -> EntityDecision:
    """Record that an entity is two: some of its names are another's, or its names mean another in some turns.

    Without names and turns, takes back the decisions that joined its names, so that each is what it was. Raises
    ValueError where there is nothing to part, and as `merge_entities`.
    """
    from braid.knowledge.entity_views import parted

    session.refresh()
    _ = session.writer
    return parted(session, asked)


class AliasEntity(Decides, frozen=True, kw_only=True):
    """Other names of an entity, mentioned or not; or of what nobody has mentioned yet."""

    entity: EntityRef
    aliases: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=100)]


@operation(
    AliasEntity,
    EntityDecision,
    access="modify",
    reads=True,
    cost="log",
    repeatable=True,
    positional=("entity", "aliases"),
    example=AliasEntity(entity="Porto", aliases=("Oporto",), user_id="maya"),
    errors=_WRITES,
)
def alias_entity(session: Session, asked: AliasEntity) -> EntityDecision:
    """Record other names of an entity: who is called so, now or later, is the same. Repeating it writes nothing.

    Raises ValueError for a name that several entities have.
    """
    from braid.knowledge.entity_views import aliased

    session.refresh()
    _ = session.writer
    return aliased(session, asked)
