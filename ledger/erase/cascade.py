"""What an erasure takes: the cascade of records that rest on what goes, and the media that go with them (SPEC §9.2).
Reads only.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from braid.ledger.errors import ErasedError, InvalidRecordError, UnknownRecordError
from braid.ledger.read.gathered import number_of
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import DERIVATION_ROLES, Envelope, Link
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import ANSWER, CORRECTION, QUOTING, EventBody, ExperienceBody
from braid.ledger.record.standing import SUPERSEDES, Standings


class Named(msgspec.Struct, frozen=True):
    """A record by index and id."""

    index: int
    id: RecordId


class Cascade(msgspec.Struct, frozen=True):
    """What an erasure takes: the records asked for and what is derived from them alone; and what it weakens.

    `again`: what one of them stands in the place of, and will stand itself once they are gone. `goes_on`: corrections
    of one of them, which stay: an erasure can't be taken back, so it takes no more than was named.
    """

    asked: list[Named]
    derived: list[Named]
    kept: list[Named]
    again: list[Named] = []
    goes_on: list[Named] = []

    @property
    def erased(self) -> list[Named]:
        """Everything that goes."""
        return sorted(self.asked + self.derived, key=lambda named: named.index)


def plan(reader: Reader, targets: Iterable[int]) -> Cascade:
    """Return the cascade of erasing `targets`: one pass forward over what rests on them, since links point back.

    Raises InvalidRecordError for what is no memory (keys, tombstones, genesis, other control records), ErasedError,
    UnknownRecordError.
    """
    asked: dict[int, Named] = {}
    for index in sorted(set(targets)):
        envelope = erasable(reader, index)
        asked[index] = Named(index, RecordId(envelope.id))
    gone = set(reader.control.erased) | asked.keys()
    new = set(asked)
    derived: list[Named] = []
    kept: list[Named] = []
    from braid.ledger.read.lineage import Lineage  # noqa: PLC0415 - numpy is loaded with it

    for envelope, links in Lineage(reader).naming("support", new, min(asked, default=reader.size)):
        index = envelope.index
        if index in gone or envelope.is_control:
            continue
        verdict = _verdict(reader, envelope, links, gone, new)
        if verdict == "erase":
            gone.add(index)
            new.add(index)
            derived.append(Named(index, RecordId(envelope.id)))
        elif verdict == "keep":
            kept.append(Named(index, RecordId(envelope.id)))
    return Cascade(list(asked.values()), derived, kept)


def plan_whole(reader: Reader, targets: Iterable[int]) -> Cascade:
    """Return the cascade of erasing `targets`, what will stand again, and what of their memories stays."""
    found = plan(reader, targets)
    going = {one.index for one in found.erased}
    again = stands_again(reader, going)
    return msgspec.structs.replace(found, again=again, goes_on=_goes_on(reader, found.asked, going))


def _goes_on(reader: Reader, asked: Iterable[Named], going: Collection[int]) -> list[Named]:
    """Return the corrections of these records, and of those in turn, that stay: forgotten ones too, which come back."""
    found, waiting = set[int](), [one.index for one in asked]
    while waiting:
        for child, role in reader.backlinks.of(waiting.pop()):
            if role == SUPERSEDES and child not in found and reader.envelope(child).kind == "experience":
                found.add(child)
                waiting.append(child)
    staying = sorted(found.difference(going, reader.control.erased))
    return [Named(at, RecordId(reader.envelope(at).id)) for at in staying]


def stands_again(reader: Reader, going: Collection[int]) -> list[Named]:
    """Return what these records stand in the place of, and will stand itself once they are forgotten or erased."""
    older = _replaced_by(reader, going)
    if not older:
        return []
    from braid.ledger.read.backlinks import SignedEdges  # noqa: PLC0415 - numpy is loaded with it

    control = reader.control
    erased = frozenset({*control.erased, *going})
    facts = reader.standing_facts(reader.size, frozenset(control.hidden), erased)
    now, then = reader.standings(), Standings(facts, SignedEdges(reader, reader.backlinks))
    back = [at for at in sorted(older) if not now.lives(at) and then.lives(at)]
    return [Named(at, RecordId(reader.envelope(at).id)) for at in back]


def _replaced_by(reader: Reader, indexes: Iterable[int]) -> set[int]:
    """Return what these records supersede, directly or behind others."""
    found: set[int] = set()
    waiting = list(indexes)
    while waiting:
        for link in reader.links(waiting.pop()):
            if link.role == SUPERSEDES and link.index not in found:
                found.add(link.index)
                waiting.append(link.index)
    return found


def erasable(reader: Reader, index: int) -> Envelope:
    """Return the envelope of a memory that is not erased; raise as `plan` does."""
    if not 0 <= index < reader.size:
        raise UnknownRecordError(f"the log has no record {index} (it holds {reader.size})")
    envelope = reader.envelope(index)
    if envelope.is_control or envelope.kind in ("genesis", "key", "tombstone"):
        raise InvalidRecordError(
            f"{envelope.id}: only memories can be forgotten or erased, not a {envelope.kind} of this kind"
        )
    if index in reader.control.erased:
        raise ErasedError(f"{envelope.id} is erased already")
    return envelope


def _verdict(
    reader: Reader, envelope: Envelope, links: list[Link], gone: set[int], new: set[int]
) -> str | None:
    """Return `erase` for a record left without support, `keep` for one that lost some, None for one untouched.

    `gone` is all that was ever erased, `new` what this erasure takes: only that can change a record's standing.
    """
    if any(link.role == SUPERSEDES and link.index in new for link in links) and _says_why(reader, envelope):
        return "erase"
    supports = [link.index for link in links if link.role in DERIVATION_ROLES]
    if not any(index in new for index in supports):
        return None
    lost = sum(index in gone for index in supports)
    parents = [link.index for link in links if link.role == "parent"]
    if parents and all(index in gone for index in parents):
        return "erase"  # what it is derived from is gone; evidence only bore it out
    # What describes each of its records or may quote any says something of the erased one, and can be made again.
    return "erase" if lost == len(supports) or not new.isdisjoint(quoted(reader, envelope, links)) else "keep"


def quoted(reader: Reader, envelope: Envelope, links: list[Link]) -> list[int]:
    """Return the records whose words another may hold: a view, stance, embedding batch or answer, a program's step or a
    map of placeholders.
    """
    if envelope.kind in ("view", "embedding"):
        roles: Collection[str] = DERIVATION_ROLES
    elif envelope.kind == "stance":
        roles = ("candidate", "support")
    else:
        roles = ("evidence",) if _quotes_evidence(reader, envelope) else ()
    return [link.index for link in links if link.role in roles]


def _quotes_evidence(reader: Reader, envelope: Envelope) -> bool:
    """Whether a record is an answer that this store gave, or an event that holds words of what it cites."""
    body = _body(reader, envelope) if envelope.kind in ("experience", "event") else None
    if isinstance(body, EventBody):
        return body.name in QUOTING
    return isinstance(body, ExperienceBody) and body.provenance.method == ANSWER


def _says_why(reader: Reader, envelope: Envelope) -> bool:
    """Whether a record is the event that says why another was replaced: in words of that one, maybe."""
    body = _body(reader, envelope) if envelope.kind == "event" else None
    return isinstance(body, EventBody) and body.name == CORRECTION


def _body(reader: Reader, envelope: Envelope) -> object:
    """Return what a record says, None where nobody can tell."""
    if reader.vault is None:
        return None
    try:
        return reader.at(envelope.index, include_forgotten=True).body
    except (ErasedError, msgspec.MsgspecError):
        return None


def doomed_blobs(reader: Reader, targets: Sequence[int]) -> list[str]:
    """Return the names of the blobs that go with these records; one that a living record names too stays."""
    names = {name for index in targets for name, _ in reader.envelope(index).blobs}
    if names:
        erased = reader.control.erased
        from braid.ledger.read.lineage import Lineage  # noqa: PLC0415 - numpy is loaded with it

        for envelope, _ in Lineage(reader).naming("blob", {number_of(name) for name in names}):
            if envelope.index not in erased:
                names -= {name for name, _ in envelope.blobs}
    return sorted(names)
