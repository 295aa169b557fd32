"""Who is who in a store: mentions of its living claims, resolved; and the decisions that people and models record.

A decision is an event `entity`; what it is about are events `entity_name` above which it stands, each of which rests on
the turns that say the name (SPEC §19, ADR 57). Nothing else of entities is kept: they are made again of the log.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from braid.caller import asking
from braid.claims.entity_decisions import WITHHELD, decisions_in, joined_by
from braid.claims.finder import ClaimFinder
from braid.errors import AccessDeniedError, UnknownEntityError
from braid.learn.resolve.compare import Similarity
from braid.learn.resolve.resolution import (
    Entity,
    Node,
    Resolution,
    Spoken,
    base_of,
    resolve,
)
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import (
    ENTITY,
    ENTITY_NAME,
    Draft,
    EventBody,
    ExperienceBody,
    Record,
    Scope,
    Target,
)
from braid.ledger.record.scope import SCOPES, in_scope, owner_of
from braid.ledger.record.source import BELIEVED, SourceClass, is_least
from braid.session import Session
from braid.stance.claims import RecordedClaim
from braid.stance.mentions import MentionRole, mentions_of
from braid.stance.relations import name_of
from braid.stance.review import Earlier
from braid.text.words import normal
from braid.views.embedder import embedded

_MOST_TOLD: Final = 6
"""Of so many that have one name an error tells."""
_AROUND: Final = 240
"""So many characters before and behind a quote are what is said of a name."""
MAX_TURNS: Final = 200
"""On so many turns, the newest, the name of an entity rests."""


class EntityReader:
    """Entities of one scope, of a log at one moment of it. Reads each record once."""

    def __init__(
        self,
        session: Session,
        scope: Scope | None,
        size: int | None = None,
        *,
        trust: SourceClass = BELIEVED,
    ) -> None:
        """`trust`: the lowest source class whose claims are told. None beneath `BELIEVED` tells who is who."""
        self._session = session
        self._finder = ClaimFinder(session, scope, size, trust=trust)
        self._least: SourceClass = trust if is_least(trust, BELIEVED) else BELIEVED
        self._scope = scope
        self._records: dict[int, Record | None] = {}
        self.decisions = decisions_in(session, self._finder, self.record)
        """The living decisions, by log index."""

    def resolution(self, similarity: Similarity | None = None) -> Resolution:
        """Return who is who."""
        return resolve(self.spoken(), list(self.decisions.values()), similarity)

    def record(self, index: int) -> Record | None:
        """Return a living record, verified; None for one that is gone, or has been replaced."""
        if index not in self._records:
            self._records[index] = self._read(index)
        return self._records[index]

    def living(self, index: int, *, instead: int | None = None) -> Record:
        """Return a record that was living when it was looked at: that of a mention; `instead`, where it is gone."""
        record = self.record(index)
        if record is None and instead is not None:
            record = self.record(instead)
        if record is None:
            raise ForgottenError(f"record {index} is gone")
        return record

    def _read(self, index: int) -> Record | None:
        if not self._finder.lives(index):
            return None
        try:
            return self._session.reader.at(index)
        except (ErasedError, ForgottenError):
            return None  # gone since we looked

    # -- mentions ----------------------------------------------------------------------------------

    def spoken(self) -> Iterator[Spoken]:
        """Yield the mentions of living records in the scope."""
        for index in self._finder.named(None):
            record = self.record(index)
            body = record.body if record is not None and record.raw is not None else None
            if (
                record is None
                or not isinstance(body, ExperienceBody)
                or not in_scope(body.scope, self._scope)
            ):
                continue
            turn = self.record(_turn_of(record))
            classes = self._session.reader.source_classes
            if turn is not None:
                classes.note(turn)  # what was read above it is judged by it: it isn't read again for that
            if is_least(classes.note(record), self._least):
                yield from self._mentions(record, body, turn.text if turn is not None else "")

    def claims(self) -> list[RecordedClaim]:
        """Return what living records in the scope claim, in the order of the log, as they say it."""
        return [said for said in self._finder.claims(self._finder.named(None)) if not said.derived]

    def _mentions(self, record: Record, body: ExperienceBody, text: str) -> Iterator[Spoken]:
        """Yield what a record's claims speak of; `text`: that of its turn."""
        turn = _turn_of(record)
        found = list(mentions_of(body.symbolic))
        keys = {(one.k, one.role): one.key for one in found}
        for one in found:
            claim = body.symbolic[one.k]
            other = keys.get((one.k, "object" if one.role == "subject" else "subject"), "")
            yield Spoken(
                at=record.index,
                k=one.k,
                role=one.role,
                name=one.name,
                key=one.key,
                canonical=one.canonical,
                type=one.type,
                turn=turn,
                owner=owner_of(body.scope),
                context=_around(text, claim.quote, claim.at) or claim.quote or "",
                rel=name_of(claim.rel),
                other=other if one.role in ("subject", "object") else "",
                polarity=claim.polarity,
            )


def _turn_of(record: Record) -> int:
    """Return the turn that a record was read of; itself, where it was read of none."""
    return next((link.index for link in record.targets("parent")), record.index)


def _around(text: str, quote: str | None, at: int | None) -> str:
    """Return a turn's words around a quote."""
    start = at if at is not None else max(text.find(quote or ""), 0)
    first = max(start - _AROUND, 0)
    return text[first : start + len(quote or "") + _AROUND]


# -- finding ---------------------------------------------------------------------------------------


def entity_ids(known: Resolution) -> dict[tuple[int, int, MentionRole], str]:
    """Return which entity each name is of: by record, claim, and which of its names it is."""
    return {(said.at, said.k, said.role): one.id for one in known.entities for said in one.mentions}


def found(known: Resolution, wanted: str) -> Entity:
    """Return the entity of an id, or of a name; ValueError where there is none, or more than one."""
    key = normal(wanted)
    named = [one for one in known.entities if wanted == one.id]
    named = named or [one for one in known.entities if key in {normal(name) for name in one.names}]
    if not named:
        raise UnknownEntityError(f"no entity is called {wanted!r} here")
    if len(named) > 1:
        owned = len({one.owner for one in named}) > 1
        told = [f"{one.id} ({_told_apart(one, owned=owned)})" for one in named[:_MOST_TOLD]]
        more = f" and {len(named) - _MOST_TOLD} more" if len(named) > _MOST_TOLD else ""
        raise ValueError(f"{wanted!r} is the name of several: say which by its id: {', '.join(told)}{more}")
    return named[0]


def _told_apart(one: Entity, *, owned: bool) -> str:
    """Return what parts an entity from others of its name, but none of the words: an error stands behind no fence."""
    of = f" of {one.owner}" if owned and one.owner else ""
    return f"{one.name}, {one.type}{of}, mentions: {len(one.mentions)}"


# -- deciding --------------------------------------------------------------------------------------


class Decider:
    """Writes decisions on entities as records, each in one transaction with the names that it is about."""

    def __init__(self, session: Session, reader: EntityReader, *, reason: str | None, by: str | None) -> None:
        self._session = session
        self._reader = reader
        self._reason = reason
        self._by = by

    def merge(self, one: Entity, other: Entity) -> str:
        """Record that two entities are one; return the record's id."""
        overruled = self._crossing({*one.nodes}, {*other.nodes}, ("apart",))
        names = [self._name(one, one.nodes[0]), self._name(other, other.nodes[0])]
        return self._append(one.owner, {"op": "merge"}, names, supersedes=overruled)

    def confirm(self, entity: Entity, one: str, other: str) -> str | None:
        """Record that two names of an entity are one's, which only a rule says; return the record's id.

        None where it was decided already, and for what are no two names of it.
        """
        mine, theirs = (
            [node for node in entity.nodes if base_of(node) == normal(name)] for name in (one, other)
        )
        decided = joined_by(self._reader.decisions.values(), mine)
        if not mine or not theirs or not decided.isdisjoint(theirs):
            return None
        names = [self._name(entity, mine[0]), self._name(entity, theirs[0])]
        return self._append(entity.owner, {"op": "merge"}, names)

    def alias(self, entity: Entity, called: str, aliases: Sequence[str]) -> str | None:
        """Record that an entity, which is `called` so, has other names, too; None where it was decided already."""
        keys = {normal(alias) for alias in aliases}
        named = [node for node in entity.nodes if base_of(node) == normal(called)]
        node = next((one for one in (*named, *entity.nodes) if base_of(one) not in keys), entity.nodes[0])
        decided = {base_of(one) for one in joined_by(self._reader.decisions.values(), [node])}
        new = [alias for alias in aliases if normal(alias) not in decided]
        if not new:
            return None
        data = {"op": "alias", "aliases": new, "keys": [normal(alias) for alias in new]}
        return self._append(entity.owner, data, [self._name(entity, node)])

    def dictionary(self, owner: str, name: str, aliases: Sequence[str]) -> str:
        """Record other names of what nobody has mentioned yet."""
        keys = [normal(each) for each in (name, *aliases)]
        return self._append(owner, {"op": "alias", "aliases": [name, *aliases], "keys": keys}, [])

    def part(self, entity: Entity, away: Iterable[Node]) -> str:
        """Record that some of an entity's names are another's; what a person joined across is taken back.

        Raises ValueError where they are all of its names, or none.
        """
        gone = {*away}
        rest = {*entity.nodes} - gone
        if not gone or not rest:
            raise ValueError(f"{entity.name} has no other names to be parted from")
        overruled = self._crossing(gone, rest, ("merge", "alias"))
        names = [
            self._name(entity, node, side=side)
            for side, nodes in enumerate((gone, rest))
            for node in sorted(nodes)
        ]
        return self._append(entity.owner, {"op": "apart"}, names, supersedes=overruled)

    def take_back(self, entity: Entity) -> str:
        """Record that the decisions which joined an entity's names hold no longer; ValueError where there is none.

        Raises AccessDeniedError where all of them are outside of the caller's scope.
        """
        overruled = [
            one.id
            for one in self._reader.decisions.values()
            if one.op in ("merge", "alias") and not {*entity.nodes}.isdisjoint(one.nodes)
        ]
        if not overruled:
            raise ValueError(
                f"nobody has decided what {entity.name} is called: say which names, or which turns, are of another"
            )
        return self._append(
            entity.owner, {"op": "retract"}, [], supersedes=[*filter(None, overruled)] or _own(overruled)
        )

    def split(self, entity: Entity, turns: Collection[int]) -> str:
        """Record that in some turns the entity's names mean another.

        Raises ValueError where all of it is said there, or none.
        """
        meant = [one for one in entity.mentions if one.turn in turns]
        if not 0 < len(meant) < len(entity.mentions):
            some = "all" if meant else "none"
            raise ValueError(
                f"{some} of what is said of {entity.name} stands in these turns: nothing is to be parted"
            )
        keys = {one.key for one in meant}
        names = [self._name(entity, node) for node in entity.nodes if base_of(node) in keys]
        return self._append(entity.owner, {"op": "split"}, names, evidence=[one.turn for one in meant])

    def _crossing(self, one: set[Node], other: set[Node], ops: tuple[str, ...]) -> list[str]:
        """Return the decisions that are about names of both sides.

        Raises AccessDeniedError where one of them is outside of the caller's scope.
        """
        return _own(
            each.id
            for each in self._reader.decisions.values()
            if each.op in ops and not one.isdisjoint(each.nodes) and not other.isdisjoint(each.nodes)
        )

    def _append(
        self,
        owner: str,
        data: dict[str, Any],
        names: Sequence[Draft],
        *,
        supersedes: Sequence[str] = (),
        evidence: Iterable[int] = (),
    ) -> str:
        """Append a decision above its names, as one transaction; return its id."""
        links: list[tuple[str, Target]] = [("parent", Earlier(place)) for place in range(len(names))]
        links += [("evidence", self._id(at)) for at in sorted({*evidence})]
        links += [("supersedes", id) for id in supersedes]
        told = data | ({"by": self._by} if self._by else {})
        body = EventBody(name=ENTITY, data=told, reason=self._reason, scope=decided_in(owner))
        return self._session.append_drafts([*names, Draft(kind="event", body=body, links=links)])[-1].id

    def _name(self, entity: Entity, node: Node, *, side: int = 0) -> Draft:
        """Return the draft of an entity's name: it rests on the turns that say it, and is gone with them."""
        base, _, parted = node.name.partition("@")
        turns = sorted({one.turn for one in entity.mentions if one.key == base_of(node)})[-MAX_TURNS:]
        links: list[tuple[str, Target]] = [("evidence", self._id(at)) for at in turns]
        links += [("target", self._id(int(parted)))] if parted else []
        data: dict[str, Any] = {"node": base} | ({"side": side} if side else {})
        body = EventBody(name=ENTITY_NAME, data=data, scope=decided_in(entity.owner))
        return Draft(kind="event", body=body, links=links)

    def _id(self, index: int) -> str:
        return str(self._session.reader.envelope(index).id)


def scope_of(owner: str) -> Scope | None:
    """Return the scope that owns a memory."""
    name, _, id = owner.partition(":")
    return Scope(**{name: id}) if name else None


def decided_in(owner: str) -> Scope | None:
    """Return the scope of a decision on a memory's names: the memory, or the part of it that its caller is held to."""
    caller, whole = asking(), scope_of(owner)
    if caller is None or not caller.scope:
        return whole
    own = {} if whole is None else {name: id for name in SCOPES if (id := getattr(whole, name)) is not None}
    return Scope(**own | caller.scope)


def _own(decisions: Iterable[str]) -> list[str]:
    """Return decisions that may be overruled. Raises AccessDeniedError for one outside of the caller's scope."""
    found = list(decisions)
    if WITHHELD in found:
        raise AccessDeniedError(
            "it was decided for more than you are held to: only there can it be taken back"
        )
    return found


def similarity_of(session: Session) -> Callable[[str, str], float] | None:
    """Return the cosine of two texts by the store's own model; None where it has none."""
    embedder, _, _ = session.embedding()
    if embedder is None:
        return None

    def cosine(one: str, other: str) -> float:
        first, second = embedded(embedder, [one, other])
        return float(first @ second)

    return cosine
