"""How a claim came to be known: what read it, from which words of which turn, and what gates said of it."""

from collections.abc import Iterator

import msgspec

from braid.claims.topics import readings_of, turn_index
from braid.knowledge.operations import ClaimDerivation, GateOutcome
from braid.knowledge.staging import METHOD, Staged, staged_in
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import READING, Claim, ExperienceBody, Record, is_reading
from braid.session import Session
from braid.stance.words import words_of


class Warned(msgspec.Struct, frozen=True, rename={"name": "class"}):
    """What a gate warned of, as a reading keeps it."""

    gate: str = ""
    name: str = ""
    maker: str = ""


def warnings_in(record: Record) -> list[Warned]:
    """Return what gates warned of while a reading was made; what is no warning is left out."""
    body = record.body
    held = body.content.structured.get("warnings") if isinstance(body, ExperienceBody) else None
    found: list[Warned] = []
    for one in held if isinstance(held, list) else ():  # pyright: ignore[reportUnknownVariableType]
        try:
            found.append(msgspec.convert(one, Warned))
        except msgspec.ValidationError:
            continue
    return found


def derivations(session: Session, id: str) -> tuple[ClaimDerivation, ...]:
    """See `knowledge.operations.why_known`."""
    record = session.reader.get(id)
    body = record.body
    if not isinstance(body, ExperienceBody):
        raise ValueError(f"{id} is a {record.kind}: ask of an experience that claims something, or of a turn")
    holders = [record] if body.symbolic else readings_of(session, record.index)
    return tuple(one for holder in holders for one in _derived(session, holder))


def _derived(session: Session, record: Record) -> Iterator[ClaimDerivation]:
    body = record.body
    assert isinstance(body, ExperienceBody)  # noqa: S101 - the caller's
    method = body.provenance.method
    maker, _, version = method.removeprefix(READING).partition("@") if is_reading(body) else ("", "", "")
    model = body.content.structured.get("model")
    standing = session.reader.standings().of(record.index)
    turn = turn_index(session, record.index)
    text = _text(session, turn)
    staged = next((link.id for link in record.targets("evidence")), None) if method == METHOD else None
    for place, claim in enumerate(body.symbolic):
        yield ClaimDerivation(
            id=record.id,
            place=place,
            says=words_of(claim),
            method=method,
            maker=maker,
            version=version,
            model=model if isinstance(model, str) else None,
            turn=session.reader.envelope(turn).id,
            turn_index=turn,
            quote=claim.quote,
            starts=claim.at,
            ends=None if claim.at is None or claim.quote is None else claim.at + len(claim.quote),
            p=None if body.confidence is None else body.confidence.p,
            confidence_method=None if body.confidence is None else body.confidence.method,
            standing=standing.state,
            standing_by=None if standing.by is None else session.reader.envelope(standing.by).id,
            staged=staged,
            gates=tuple(_gates(session, record, claim, text, staged)),
        )


def _gates(
    session: Session, record: Record, claim: Claim, text: str | None, staged: str | None
) -> Iterator[GateOutcome]:
    """Yield what can be told of the gates: the evidence is looked at again, the others left what the reading keeps."""
    yield GateOutcome(gate="evidence", outcome=_evidence(claim, text))
    for warned in warnings_in(record):
        yield GateOutcome(gate=warned.gate, outcome=f"warned: {warned.name}")
    if staged is not None:
        for one in _staged_of(session, staged):
            if one.claim == claim:
                yield GateOutcome(gate=one.why or "staging", outcome="let it wait; it was accepted")


def _staged_of(session: Session, id: str) -> list[Staged]:
    try:
        return staged_in(session.reader.get(id))
    except (ErasedError, ForgottenError):
        return []


def _evidence(claim: Claim, text: str | None) -> str:
    if claim.quote is None:
        return "no words are named"
    if text is None:
        return "its turn can't be read any more"
    if claim.at is not None:
        stands = text[claim.at : claim.at + len(claim.quote)] == claim.quote
        return "the words stand there" if stands else "the words do not stand there"
    return "the words stand in the turn" if claim.quote in text else "the words do not stand in the turn"


def _text(session: Session, index: int) -> str | None:
    try:
        return session.reader.at(index).text
    except (ErasedError, ForgottenError):
        return None
