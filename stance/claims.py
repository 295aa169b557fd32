"""Claims of records as truth maintenance sees them, and when two of them contradict each other. Pure.

A contradiction: same subject and relation, another object (or the same one denied, or under the opposite relation),
both holding at the same time, both known. Which of the two has a say is for `stance.precedence`.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Final, Literal

import msgspec

from braid.ledger.record.record import Asks, Claim, ExperienceBody, Record, is_reading
from braid.ledger.record.source import RANK, SourceClass
from braid.stance.culprit import STANDING
from braid.stance.pool import prior_of
from braid.stance.readings import BY_RULE
from braid.stance.relations import Relation, compared_as, relation
from braid.stance.values import akin, same, telling
from braid.stance.voice import Backing, person, voice_of
from braid.stance.words import words_of
from braid.text.words import normal

How = Literal["other", "denied", "opposite", "number", "date"]
ALWAYS: Final = datetime.min.replace(tzinfo=UTC)
FOREVER: Final = datetime.max.replace(tzinfo=UTC)
_HEARSAY: Final = "implicit_unintentional"
LATELY: Final = timedelta(days=120)
"""What began so long ago is told of as it is now; before that it may be a tale."""
_INFERENCE: Final = "inference"
OWN_METHOD: Final = "reconcile"
"""How reconciliations are made: what they say is a stance's, and never evidence for the next one."""


class RecordedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that a record makes, as the fold sees it; `kept` is the part of its worth that is left, in [0, 1]."""

    index: int
    k: int
    id: str
    claim: Claim
    known: datetime
    """Transaction time."""
    said: datetime
    """When it was said: `occurred_at`, else transaction time."""
    since: datetime
    """Holds from here."""
    until: datetime
    """Holds until before here."""
    tx: int
    p: float | None
    """The record's confidence, where it states one."""
    by_model: bool = False
    """Whether that confidence is a model's own, which may lower what the claim is worth, never raise it."""
    guessed: bool = False
    """Whether its record is an inference and no reading: it gives way as what is inferred does, whatever it says."""
    spoken: bool = False
    """Whether it was read from a sentence: what it says of the present, it says of the time at which it was said."""
    user_id: str | None = None
    derived: str = ""
    """The relation of an episode that this state was drawn from."""
    voices: frozenset[str] = frozenset()
    """Whose word it is; several where what they said was put together."""
    kept: float = 1.0
    """What part of all that it rests on is still there."""
    source: SourceClass = "owner"
    """Whose words it is, by class."""

    @property
    def node(self) -> str:
        """Its name in the network."""
        return f"r:{self.index}/{self.k}" + (f">{self.claim.rel}" if self.derived else "")

    @property
    def relation(self) -> Relation:
        """What it is compared as."""
        return compared_as(self.claim.rel)

    @property
    def rank(self) -> int:
        """Where its source stands in the culprit order; hearsay counts as observed at most."""
        standing = STANDING[self.claim.source_type]
        if self.source == "agent" or (self.guessed and standing < STANDING["corrected"]):
            return STANDING["inferred"]
        observed = self.is_hearsay or RANK[self.source] <= RANK["tool"]
        return min(standing, STANDING["implicit_unintentional"]) if observed else standing

    @property
    def recency(self) -> datetime:
        """The latest time of which it speaks: of "I've been in Hull since 2020" the time at which that was said; so of
        what an episode of late has led to, too: "I moved to Braga last month"."""
        if not self.spoken or (self.derived and self.said - self.since > LATELY):
            return self.since
        return max(self.since, self.said)

    @property
    def is_hearsay(self) -> bool:
        """Whether the record only reports it: another's word, and not of themselves."""
        by = self.claim.said_by
        if by is None or normal(by) == normal(self.claim.subject):
            return False
        return not of_one(by, self.claim.subject)

    @property
    def worth(self) -> float:
        """What it is worth in [0, 1] when it is made: what its source is, or its record states.

        Hearsay and models are worth at most what their kind is.
        """
        prior = prior_of(_HEARSAY if self.is_hearsay else self.claim.source_type)
        if self.p is None:
            return prior
        return min(prior, self.p) if self.by_model or self.is_hearsay else self.p

    @property
    def text(self) -> str:
        """The claim in words."""
        return words_of(self.claim)


def claims_of(
    record: Record, backing: Backing | None = None, source_of: Callable[[Claim], SourceClass] | None = None
) -> Iterator[RecordedClaim]:
    """Yield what a record claims, and the states that its episodes begin or end (`moved_to` Ghent: `lives_in` Ghent).

    `backing`: whose words it rests on; without it they are its own. `source_of`: the class of each claim's words;
    without it they are the owner's. Nothing of records that aren't experiences, nor of reconciliations, which repeat a
    stance. Raises ValueError for a body that can't be had.
    """
    body = record.body if record.kind == "experience" else None
    if isinstance(body, ExperienceBody) and body.provenance.method != OWN_METHOD:
        place = Place(record.index, record.id, record.created_at, record.envelope.tx[0], record.type)
        yield from claims_in(body, place, backing, source_of)


class Place(msgspec.Struct, frozen=True):
    """Where in the log a claim stands, and since when."""

    index: int
    id: str
    known: datetime
    tx: int
    type: str | None = None
    """The type of the experience, where there is a record."""


def claims_in(
    body: ExperienceBody,
    place: Place,
    backing: Backing | None = None,
    source_of: Callable[[Claim], SourceClass] | None = None,
) -> Iterator[RecordedClaim]:
    """Yield what the body of a record at some place claims."""
    said = body.occurred_at or place.known
    own = backing or Backing(frozenset((voice_of(body),)))
    for k, claim in enumerate(body.symbolic):
        source: SourceClass = "owner" if source_of is None else source_of(claim)
        speaks_for = claim.said_by if RANK[source] > RANK["tool"] else None  # a tool has no voice but its own
        yield from _held(
            RecordedClaim(
                index=place.index,
                k=k,
                id=place.id,
                claim=claim,
                known=place.known,
                said=said,
                since=claim.valid_from or _beginning(claim, said),
                until=claim.valid_to or FOREVER,
                tx=place.tx,
                p=None if body.confidence is None else body.confidence.p,
                by_model=body.provenance.actor == "agent" and not _is_by_rule(body),
                guessed=place.type == _INFERENCE and not is_reading(body),
                spoken=is_reading(body),
                user_id=body.scope.user_id if body.scope else None,
                voices=frozenset((person(speaks_for),)) if speaks_for else own.voices,
                kept=own.kept,
                source=source,
            )
        )


def _is_by_rule(body: ExperienceBody) -> bool:
    """Whether rules read it: their certainty is a count of how often they are right, no model's own."""
    return is_reading(body) and body.confidence is not None and body.confidence.method in BY_RULE


def check(said: RecordedClaim, known: Container[int]) -> RecordedClaim:
    """Return a claim as it is; raise ValueError for a probability that is none, and for a record that isn't known."""
    if said.p is not None and not (isfinite(said.p) and 0 <= said.p <= 1):
        raise ValueError(f"{said.id}: its p is {said.p}; a probability lies in [0, 1]")
    if said.index not in known:
        raise ValueError(f"{said.id}: its record is not among those given: unknown, forgotten or erased")
    return said


def _beginning(claim: Claim, said: datetime) -> datetime:
    """Return since when a claim holds that doesn't say: a trait always, anything else since it was said."""
    return ALWAYS if relation(claim.rel).temporal == "trait" else said


def _held(said: RecordedClaim) -> Iterator[RecordedClaim]:
    yield said
    known = relation(said.claim.rel)
    if (state := known.begins) and said.claim.polarity:
        yield _from_then_on(said, state, polarity=True)
    if (state := known.ends) and said.claim.polarity:
        yield _from_then_on(said, state, polarity=False)


def _from_then_on(episode: RecordedClaim, state: str, *, polarity: bool) -> RecordedClaim:
    """Return the state that an episode leads to: it outlasts the days of the episode ("moved to Ghent last week")."""
    claim = msgspec.structs.replace(episode.claim, rel=state, polarity=polarity, valid_to=None)
    return msgspec.structs.replace(
        episode, claim=claim, derived=relation(episode.claim.rel).name, until=FOREVER
    )


def clash(one: RecordedClaim, other: RecordedClaim) -> How | None:
    """Return how two claims exclude each other if they hold at the same time; None where both may hold."""
    a, b = one.claim, other.claim
    rel, rival = one.relation, other.relation
    opposed = rel.opposite is not None and rel.opposite == rival.name
    if (rel.name != rival.name and not opposed) or not of_one(a.subject, b.subject):
        return None
    if opposed:
        both = a.polarity and b.polarity and same(a.object, b.object)
        return "opposite" if both else None
    broad = not rel.many
    equal = same(a.object, b.object, rel.of, broad=broad and a.polarity == b.polarity)
    if a.polarity != b.polarity:
        return "denied" if equal else None
    if equal or not a.polarity or rel.many or (rel.rivals and not akin(a.object, b.object)):
        return None
    if one.index == other.index and a.quote and a.quote == b.quote:
        return None  # said in one breath: my favourite films are Alien and Brazil
    return "other" if rel.of == "text" else rel.of


def of_one(one: str, other: str) -> bool:
    """Whether two names are of one person or thing: equal, or a given name and the same with its surname."""
    if one == other or same(one, other):
        return True
    short, long = sorted((one.split(), other.split()), key=len)
    more = long[len(short) :]
    return (
        0 < len(short) < len(long) <= len(short) + 2
        and all(word[:1].isupper() and "'" not in word and "’" not in word for word in (*short, *more))
        and same(" ".join(short), " ".join(long[: len(short)]))
    )


def overlap(one: RecordedClaim, other: RecordedClaim) -> bool:
    """Whether there is an instant at which both hold."""
    return max(one.since, other.since) < min(one.until, other.until)


def holds(said: RecordedClaim, at: datetime) -> bool:
    """Whether a claim's own times take in an instant."""
    return said.since <= at < said.until


def relevant(claims: Iterable[RecordedClaim], asks: Asks) -> list[RecordedClaim]:
    """Return the claims that bear on a question: of its subjects, its relations or their opposites, and its object."""
    of_them = _most_fitting(claims, asks.subjects)
    if not asks.rels:
        return _alike(of_them, asks.object or "")
    wanted = {compared_as(rel).name for rel in asks.rels}
    wanted |= {opposite for rel in tuple(wanted) if (opposite := relation(rel).opposite)}
    found = [said for said in of_them if said.relation.name in wanted]
    if asks.object is None or any(not relation(rel).many for rel in wanted):
        return found
    return [said for said in found if same(said.claim.object, asks.object, said.relation.of, broad=True)]


def is_meant(name: str, subject: str) -> bool:
    """Whether a name in a question may mean a subject: it is of one, or somebody's (the wedding: Owen's wedding); of
    "the launch of Heron", Heron's launch, or the launch.
    """
    return _fit(name, subject) > 0


def _fit(name: str, subject: str) -> int:
    """Return how well a name fits a subject: 2, 1 where the subject says less than the name, or 0."""
    if of_one(subject, name) or normal(subject).endswith(f"'s {normal(name)}"):
        return 2
    thing, of, whose = normal(name).partition(" of ")
    if not of:
        return 0
    return 2 if same(subject, f"{whose}'s {thing}") else int(same(subject, thing))


def _most_fitting(claims: Iterable[RecordedClaim], names: Sequence[str]) -> list[RecordedClaim]:
    """Return the claims of the subjects that some names mean, those that fit best."""
    held = list(claims)
    fits = {
        subject: max((_fit(name, subject) for name in names), default=0)
        for subject in {said.claim.subject for said in held}
    }
    best = max(fits.values(), default=0)
    return [said for said in held if fits[said.claim.subject] == best > 0]


def _alike(claims: Sequence[RecordedClaim], words: str) -> list[RecordedClaim]:
    """Return the claims whose words share most with those given, at least two in three of them, and not names alone:
    whose wedding it is tells an engagement of theirs from it as little as it tells anything.
    """
    asked = telling(words)
    plain = telling(" ".join(word for word in words.split() if word[:1].islower()))
    told = [
        telling(f"{said.claim.rel.replace('_', ' ')} {said.claim.object} {said.claim.quote or ''}")
        for said in claims
    ]
    shared = [len(asked & said) if not plain or plain & said else 0 for said in told]
    least = max(shared, default=0)
    if not asked or 3 * least < 2 * len(asked):
        return []
    return [said for said, count in zip(claims, shared, strict=True) if count == least]
