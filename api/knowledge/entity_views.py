"""Entities as operations tell them, and the decisions that operations ask for."""

from collections.abc import Iterable, Mapping
from typing import Final

from braid.knowledge.entities import Decider, EntityReader, entity_ids, found, similarity_of
from braid.knowledge.entity_operations import (
    AliasEntity,
    Decides,
    EntityDecision,
    EntityFact,
    EntityJoin,
    EntityList,
    EntityMention,
    EntityProposal,
    EntityRow,
    EntityView,
    ListEntities,
    MergeEntities,
    ShowEntity,
    SplitEntity,
)
from braid.learn.resolve.resolution import Entity, Proposal, Resolution, Spoken, base_of
from braid.ledger.errors import UnknownRecordError
from braid.ledger.record.record import ExperienceBody, Scope
from braid.ledger.record.scope import owner_of
from braid.log import drafts
from braid.operation import Scoped
from braid.session import Session
from braid.stance.mentions import RULES, MentionRole
from braid.text.aliases import MAX_NAME
from braid.text.visible import shows
from braid.text.words import normal

_Place = tuple[int, int, MentionRole]
"""Where a name stands: record, claim, which of its names."""
_SIDES: Final[tuple[MentionRole, ...]] = ("subject", "object")
MAX_MENTIONS: Final = 1_000
"""So many mentions of an entity, the newest, are shown."""


def _scope(asked: Scoped) -> Scope | None:
    return drafts.scope_of(asked)


def listing(session: Session, asked: ListEntities) -> EntityList:
    """Return the entities that a request asks for."""
    reader = EntityReader(session, _scope(asked), session.size_at(asked.as_of, asked.as_of_time))
    known = reader.resolution(similarity_of(session) if asked.meanings else None)
    wanted = normal(asked.named) if asked.named else ""
    fitting = [
        one
        for one in known.entities
        if asked.type in (None, one.type) and any(wanted in normal(name) for name in one.names)
    ]
    fitting.sort(key=lambda one: -len(one.mentions))
    ids = {one.id for one in fitting}
    proposals = [_proposal(one) for one in known.proposals if {one.one, one.other} & ids]
    return EntityList(
        entities=tuple(_row(one) for one in fitting[: asked.limit]),
        count=len(fitting),
        proposals=tuple(proposals[: asked.limit]),
        proposal_count=len(proposals),
        comparisons=known.comparisons,
        rules=RULES,
    )


def shown(session: Session, asked: ShowEntity) -> EntityView:
    """Return the entity that a request asks for, in full."""
    reader = EntityReader(session, _scope(asked), session.size_at(asked.as_of, asked.as_of_time))
    known = reader.resolution()
    return _view(reader, known, found(known, asked.entity))


def merged(session: Session, asked: MergeEntities) -> EntityDecision:
    """Record a merge."""
    reader = EntityReader(session, _scope(asked))
    known = reader.resolution()
    one, other = found(known, asked.one), found(known, asked.other)
    if one.owner != other.owner:
        raise ValueError(
            f"{one.name} and {other.name} are of two memories: what is known of one isn't known in another"
        )
    decider = _decider(session, reader, asked)
    id = decider.confirm(one, asked.one, asked.other) if one.id == other.id else decider.merge(one, other)
    return _decided(session, asked, "merge", id, (*one.names[:1], *other.names[:1]))


def parted(session: Session, asked: SplitEntity) -> EntityDecision:
    """Record a split: by turns, by names, or of all that was decided."""
    if asked.names and asked.turns:
        raise ValueError("give the names that are another's, or the turns that speak of another")
    reader = EntityReader(session, _scope(asked))
    one = found(reader.resolution(), asked.entity)
    decider = _decider(session, reader, asked)
    if asked.turns:
        id = decider.split(one, {_turn(session, turn) for turn in asked.turns})
    elif asked.names:
        unknown = [name for name in asked.names if normal(name) not in {normal(each) for each in one.names}]
        if unknown:
            raise ValueError(f"{one.name} is not called {unknown[0]!r}: {', '.join(one.names)}")
        away = {normal(name) for name in asked.names}
        id = decider.part(one, [node for node in one.nodes if base_of(node) in away])
    else:
        id = decider.take_back(one)
    return _decided(session, asked, "split", id, one.names)


def _turn(session: Session, id: str) -> int:
    """Return the index of a turn; UnknownRecordError for an id that no record has."""
    index = session.reader.index_of(id)
    if session.reader.envelope(index).id != id:
        raise UnknownRecordError(f"{id}: no such record")
    return index


def aliased(session: Session, asked: AliasEntity) -> EntityDecision:
    """Record other names."""
    long = next((name for name in asked.aliases if len(name) > MAX_NAME), None)
    if long is not None:
        raise ValueError(f"a name has at most {MAX_NAME} characters, not {len(long)}")
    empty = next(
        (name for name in (asked.entity, *asked.aliases) if not (shows(name) and normal(name))), None
    )
    if empty is not None:
        raise ValueError(f"a name has a letter or a digit, or another sign that shows, not {empty!r} alone")
    reader = EntityReader(session, _scope(asked))
    known = reader.resolution()
    decider = _decider(session, reader, asked)
    named = {normal(name) for one in known.entities for name in (*one.names, one.id)}
    if normal(asked.entity) not in named and asked.entity not in named:
        owner = owner_of(_scope(asked))
        told = {alias for one in reader.decisions.values() if one.op == "alias" for alias in one.aliases}
        new = [name for name in asked.aliases if name not in told or asked.entity not in told]
        id = decider.dictionary(owner, asked.entity, new) if new else None
        return EntityDecision(id=id, op="alias", entities=())
    one = found(known, asked.entity)
    return _decided(session, asked, "alias", decider.alias(one, asked.entity, asked.aliases), one.names)


def _decider(session: Session, reader: EntityReader, asked: Decides) -> Decider:
    return Decider(session, reader, reason=asked.reason, by=asked.by)


def _decided(
    session: Session, asked: Decides, op: str, id: str | None, names: Iterable[str]
) -> EntityDecision:
    """Return a decision with the entities that have these names now."""
    session.refresh()
    keys = {normal(name) for name in names}
    known = EntityReader(session, _scope(asked)).resolution()
    left = [one for one in known.entities if keys & {normal(name) for name in one.names}]
    return EntityDecision(id=id, op=op, entities=tuple(map(_row, left)))  # type: ignore[arg-type]  # one of three


def _row(one: Entity) -> EntityRow:
    return EntityRow(
        id=one.id, name=one.name, type=one.type, names=one.names, mentions=len(one.mentions), owner=one.owner
    )


def _proposal(one: Proposal) -> EntityProposal:
    return EntityProposal(
        one=one.one, other=one.other, names=one.names, why=one.why, score=round(one.score, 2)
    )


def _view(reader: EntityReader, known: Resolution, one: Entity) -> EntityView:
    whose = entity_ids(known)
    claims = dict.fromkeys((said.at, said.k) for said in one.mentions if said.role in ("subject", "object"))
    told = [fact for at, k in claims if (fact := _fact(reader, at, k, one.id, whose)) is not None]
    nodes = {*one.nodes}
    return EntityView(
        id=one.id,
        name=one.name,
        type=one.type,
        names=one.names,
        owner=one.owner,
        mentions=tuple(_mention(reader, said) for said in one.mentions[-MAX_MENTIONS:]),
        relations=tuple(fact for fact in told if fact.other is not None),
        facts=tuple(fact for fact in told if fact.other is None),
        joined=tuple(EntityJoin(one=a, other=b, how=tier, why=why) for a, b, tier, why in one.joined),
        decisions=tuple(
            each.id for each in reader.decisions.values() if each.id and not nodes.isdisjoint(each.nodes)
        ),
        proposals=tuple(_proposal(each) for each in known.proposals if one.id in (each.one, each.other)),
    )


def _mention(reader: EntityReader, said: Spoken) -> EntityMention:
    record, turn = reader.living(said.at), reader.living(said.turn, instead=said.at)
    body = record.body
    claim = body.symbolic[said.k] if isinstance(body, ExperienceBody) else None
    return EntityMention(
        name=said.name,
        role=said.role,
        turn=turn.id,
        record=record.id,
        said_at=record.body.occurred_at or record.created_at,
        quote=claim.quote if claim else None,
    )


def _fact(reader: EntityReader, at: int, k: int, id: str, whose: Mapping[_Place, str]) -> EntityFact | None:
    record = reader.living(at)
    body = record.body
    if not isinstance(body, ExperienceBody):
        return None
    claim = body.symbolic[k]
    other = next((whose[at, k, role] for role in _SIDES if whose.get((at, k, role), id) != id), None)
    turn = next((link.id for link in record.targets("parent")), record.id)
    return EntityFact(
        subject=claim.subject,
        rel=claim.rel,
        object=claim.object,
        polarity=claim.polarity,
        record=record.id,
        turn=turn,
        other=other,
    )
