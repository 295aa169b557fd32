"""Claims that gates let wait: listed, accepted as signed readings of their turn, or rejected by a signed event."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from braid.errors import listed_by
from braid.knowledge.operations import StagedClaim, StagedDecision
from braid.ledger.errors import ForgottenError
from braid.ledger.record.record import (
    READING,
    Claim,
    Content,
    Draft,
    EventBody,
    ExperienceBody,
    Provenance,
    Record,
    Scope,
    is_reading,
)
from braid.session import Session
from braid.stance.readings import certainty
from braid.stance.words import words_of
from braid.views.duck.knowledge import STAGED_KEY

METHOD: Final = f"{READING}staged@1"
"""The method of a claim that somebody accepted."""
REJECTED: Final = "staged_rejected"
_COLUMNS: Final = (
    "id, k, type, subject, rel, object, polarity, why, quote, quote_at, turn_id, state, decided_id"
)


def staged(session: Session, scope: Scope | None, state: str | None) -> list[StagedClaim]:
    """Return what is staged in a scope, in the order of the log."""
    given = {
        name: value for name, value in msgspec.structs.asdict(scope or Scope()).items() if value is not None
    }
    where = "".join(f" AND e.{name} = ${name}" for name in given)
    query = (
        f"SELECT {', '.join(f's.{name.strip()}' for name in _COLUMNS.split(','))} FROM staging s"  # noqa: S608 - our own words
        f" JOIN experiences e USING (log_index) WHERE ($state IS NULL OR s.state = $state){where}"
        " ORDER BY s.log_index, s.k"
    )
    found = session.views.sql(query, {"state": state, **given}).table.to_pylist()
    return [
        StagedClaim(
            id=row["id"], place=row["k"], type=row["type"], says=_says(row), why=row["why"] or "",
            quote=row["quote"], at=row["quote_at"], turn=row["turn_id"], state=row["state"], decided=row["decided_id"],
        )
        for row in found
    ]  # fmt: skip


def _says(row: Mapping[str, Any]) -> str:
    return words_of(
        Claim(
            subject=row["subject"] or "",
            rel=row["rel"] or "",
            object=row["object"] or "",
            polarity=row["polarity"],
        )
    )


class Staged(NamedTuple):
    """A staged claim: the reading that holds it, its place there, and why it waits."""

    record: Record
    place: int
    claim: Claim
    why: str

    @property
    def key(self) -> str:
        """The key under which it is accepted once."""
        return f"{STAGED_KEY}{self.record.id}/{self.place}"


def staged_in(record: Record) -> list[Staged]:
    """Return what a reading staged; what is no claim is left out."""
    body = record.body
    if not isinstance(body, ExperienceBody) or not is_reading(body):
        return []
    held = body.content.structured.get("staged")
    found: list[Staged] = []
    for place, one in enumerate(held if isinstance(held, list) else ()):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        try:
            claim = msgspec.convert(one, Claim)
            why = msgspec.convert(one, _Why).why
        except msgspec.ValidationError:
            continue
        found.append(Staged(record, place, claim, why))
    return found


class _Why(msgspec.Struct, frozen=True):
    why: str = ""


def accept(session: Session, id: str, place: int) -> StagedDecision:
    """See `knowledge.operations.accept_staged`."""
    one = _staged_at(session, id, place)
    _refuse(session, f"{one.key}/rejected", "rejected")
    turn = turn_of(one)
    if turn is None:
        raise ValueError(f"{id} names no turn that it was read from")
    session.reader.at(turn)  # what is forgotten or erased is not accepted
    return _decided(session, accepting(one), one, "accepted")


def turn_of(one: Staged) -> int | None:
    """Return the turn that a staged claim was read from, by log index; None where nothing names it."""
    turn = next(iter(one.record.targets("parent")), None)
    return None if turn is None else turn.index


def accepting(one: Staged, borne_out_by: Sequence[str] = ()) -> Draft:
    """Return the reading by which a staged claim is known; `borne_out_by`: more evidence, by id."""
    record = one.record
    turn = record.targets("parent")[0]
    return Draft(
        kind="experience",
        type="inference",
        body=ExperienceBody(
            content=Content(text=words_of(one.claim)),
            provenance=Provenance(actor="agent", method=METHOD),
            confidence=certainty(one.claim),
            symbolic=[one.claim],
            scope=record.body.scope,
            occurred_at=record.body.occurred_at or record.created_at,
            once=one.key,
        ),
        links=[("parent", turn.id), ("evidence", record.id), *(("evidence", id) for id in borne_out_by)],
    )


def reject(session: Session, id: str, place: int, reason: str | None) -> StagedDecision:
    """See `knowledge.operations.reject_staged`."""
    one = _staged_at(session, id, place)
    _refuse(session, one.key, "accepted")
    return _decided(session, rejecting(one, reason), one, "rejected")


def rejecting(one: Staged, reason: str | None, contradicted_by: Sequence[str] = ()) -> Draft:
    """Return the event by which a staged claim is never known; `contradicted_by`: more evidence, by id."""
    return Draft(
        kind="event",
        body=EventBody(
            name=REJECTED,
            data={"place": one.place},
            reason=reason,
            scope=one.record.body.scope,
            once=f"{one.key}/rejected",
        ),
        links=[("evidence", one.record.id), *(("evidence", id) for id in contradicted_by)],
    )


def is_decided(session: Session, one: Staged) -> bool:
    """Whether a staged claim was ever accepted or rejected, whatever has become of that.

    Of what was erased by itself nobody can tell which place it decided: it counts for all of its reading.
    """
    reader = session.reader
    if reader.key_index.find([one.key, f"{one.key}/rejected"]):
        return True
    return any(
        role == "evidence"
        and at in reader.control.erased
        and _first_evidence(session, at) == one.record.index
        for at, role in reader.backlinks.of(one.record.index)
    )


def _first_evidence(session: Session, at: int) -> int | None:
    links = session.reader.links(at)
    return next((link.index for link in links if link.role == "evidence"), None)


def _decided(session: Session, draft: Draft, one: Staged, state: str) -> StagedDecision:
    placed = session.append_drafts([draft])[0]
    if placed.index in session.reader.control.hidden:
        raise ForgottenError(f"{placed.id} is forgotten; `recover` brings it back")
    return StagedDecision(
        id=placed.id, staged=one.record.id, place=one.place, says=words_of(one.claim), state=state,
        is_new=not placed.known,
    )  # fmt: skip


def _staged_at(session: Session, id: str, place: int) -> Staged:
    record = session.reader.get(id)
    if record.kind != "experience" or record.raw is None:
        raise ValueError(f"{id} is no reading: nothing is staged in it")
    if not session.reader.standings().lives(record.index):
        raise ValueError(f"{id} has no say any more, and nothing that it staged can be decided")
    for one in staged_in(record):
        if one.place == place:
            return one
    raise listed_by(ValueError(f"{id} has no staged claim {place}"), "staging")


def _refuse(session: Session, key: str, state: str) -> None:
    """Raise ValueError where the opposite was decided, and stands."""
    found = session.reader.key_index.find([key]).get(key)
    if found is not None and found not in session.reader.control.hidden:
        id = session.reader.envelope(found).id
        raise ValueError(f"it was {state} by {id}: forget that first")
