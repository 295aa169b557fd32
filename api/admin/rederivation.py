"""Derived records made again, compared byte for byte: views and claims from the inputs that they name, stances and
their reconciliations from all that was known of their question.

A derivation without a model is a function of records, so whoever holds the log can repeat it: a key holder who
appends a view that its lens never gave is found. What can't be repeated (inputs erased, a lens that isn't
installed, a model's words, a stance of an older version) is listed with its reason: no finding, and not clean.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final, cast

import msgspec

from braid.admin.stance_audit import StanceAudit
from braid.ledger.audit.findings import Finding, Report
from braid.ledger.errors import (
    ErasedError,
    EvidenceError,
    ForgottenError,
    InvalidRecordError,
    NotRederivableError,
)
from braid.ledger.export.evidence import check_imported, original_body
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import decode_payload, payload_of
from braid.ledger.record.record import Draft, Record, is_reading
from braid.ledger.write.compose import encode_body
from braid.recall.deadline import within
from braid.stance.entry import is_reconciliation
from braid.text.parse import Parsing

Read = Callable[[int], Record]
Rederive = Callable[[Record, Read], Draft]
"""(record, read) → the draft that its named inputs give. `read(index)` gives verified records, forgotten ones too."""
FUNCTIONS: Final = {"view": "braid.lens.tone_shift:rederive"}
"""What is derived from what it names → the function that derives it again; stances and reconciliations are for
`StanceAudit`, claims for whoever can take sentences apart."""
LIMIT_S: Final = 60.0
"""How long a lens may take over one view."""
NOUNS: Final = {
    "view": "views",
    "claim": "claim records",
    "stance": "stances",
    "reconciliation": "reconciliations",
}
CHECKED: Final = "derived records against what their inputs give, byte for byte: "
_LISTED: Final = 5
"""How many ids are told of what could not be made again for one reason."""


class Rederived(msgspec.Struct, frozen=True):
    """What came of it: how many of each kind are what their inputs give, findings, and why others can't be made
    again."""

    same: dict[str, int]
    findings: list[Finding]
    unmade: dict[str, list[str]]
    """kind: reason → the ids of those that could not be made again for it."""


def rederive(reader: Reader, parsing: Parsing | None = None) -> Rederived:
    """Make every derived record of a log again and compare; claims only where `parsing` gives the parser they are read
    with. Raises NoVaultError, and IntegrityError where an input can't be trusted.
    """
    reader.need_vault()
    same: Counter[str] = Counter()
    unmade: dict[str, list[str]] = {}
    findings: list[Finding] = []
    stances = StanceAudit(reader)
    for record in _records(reader):
        kind = kind_of(record)
        if kind:
            try:
                problem = stances.misplaced(record) or _problem(
                    record, _deriver(kind, stances, parsing), reader
                )
            except (ErasedError, ForgottenError):
                unmade.setdefault(f"{NOUNS[kind]}: an input is erased", []).append(record.id)
            except NotRederivableError as error:
                unmade.setdefault(f"{NOUNS[kind]}: {error}", []).append(record.id)
            else:
                if problem is None:
                    same[kind] += 1
                else:
                    findings.append(Finding("derived", problem, record.index, record.id))
        stances.note(record)
    return Rederived(dict(same), findings, unmade)


def _deriver(kind: str, stances: StanceAudit, parsing: Parsing | None) -> Rederive:
    if kind == "claim":
        from braid.learn.rederivation import rederive as read_again

        return lambda record, read: read_again(record, read, parsing)
    if kind == "stance":
        return stances.rederive
    if kind == "reconciliation":
        return stances.rederive_reconciliation
    return _bounded(_function(kind))


def with_rederived(report: Report, found: Rederived) -> Report:
    """Return an audit's report with what this found; a log with such a finding leaves no state to stand on."""
    counts = ", ".join(f"{found.same.get(kind, 0)} {noun}" for kind, noun in NOUNS.items())
    notes = [_told(reason, ids) for reason, ids in sorted(found.unmade.items())]
    findings = sorted(
        [*report.findings, *found.findings], key=lambda one: -1 if one.index is None else one.index
    )
    return msgspec.structs.replace(
        report,
        findings=findings,
        notes=[*report.notes, *notes],
        checked=[*report.checked, CHECKED + counts],
        state=None if found.findings else report.state,
        not_rederived=sum(map(len, found.unmade.values())),
    )


def _told(reason: str, ids: list[str]) -> str:
    more = f", and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return f"{len(ids)} not made again: {reason}: {', '.join(ids[:_LISTED])}{more}"


def kind_of(record: Record) -> str:
    """Return what is derived: `view`, `stance`, `reconciliation`, `claim` (read from another record), or nothing."""
    if record.kind in ("view", "stance"):
        return record.kind
    if record.kind == "experience" and record.raw is not None:
        if is_reconciliation(record.body):
            return "reconciliation"
        return "claim" if is_reading(record.body) else ""
    return ""


def _records(reader: Reader) -> Iterator[Record]:
    """Yield the records of a log that have a body, oldest first."""
    for batch in reader.entries():
        for record, _ in batch:
            if record.raw is not None:
                yield record


@cache
def _function(kind: str) -> Rederive:
    module, _, name = FUNCTIONS[kind].partition(":")
    found: Any = getattr(import_module(module), name)
    return cast("Rederive", found)


def _bounded(function: Rederive) -> Rederive:
    """Return a function of records that a lens of another package may take part in: it must not keep an audit."""

    def made(record: Record, read: Read) -> Draft:
        try:
            return within(LIMIT_S, lambda: function(record, read))
        except TimeoutError:
            raise NotRederivableError(f"its lens took longer than {LIMIT_S:g} s") from None

    return made


def _problem(record: Record, function: Rederive, reader: Reader) -> str | None:
    """Return how a record differs from what its inputs give, None when it doesn't."""
    try:
        one, read = _at_first(record, lambda index: reader.at(index, include_forgotten=True))
        draft = function(one, read)
        raw = encode_body(draft)
    except (NotRederivableError, ErasedError, ForgottenError):
        raise
    except (EvidenceError, InvalidRecordError, ValueError, TypeError, LookupError) as error:
        return f"its inputs give nothing that could be it: {error}"
    if draft.type != one.type:
        return f"it is a {one.type}, but its inputs give a {draft.type}"
    if [(role, target) for role, target in draft.links] != [(link.role, link.id) for link in one.links]:
        return "its links are not those that its inputs give"
    if raw != one.raw:
        return f"its body is not what its inputs give: {_differing(raw, one)}"
    return None


def _at_first(record: Record, read: Read) -> tuple[Record, Read]:
    """Return a record as it was in the log that it was made in, and what reads that log for it: what is derived may
    quote ids and times, and an import changes those.
    """
    while "imported" in record.members:
        record, read = _before_import(record, read)
    return record, read


def _before_import(record: Record, read: Read) -> tuple[Record, Read]:
    """Return an imported record as it was in the log that it came from, by the evidence that it has kept (SPEC §13).

    What it names is read alike. Raises EvidenceError, and NotRederivableError where that did not come along.
    """
    places: dict[int, int] = {}

    def was(one: Record) -> Record:
        if "imported" not in one.members:
            raise NotRederivableError("an input did not come with it")
        kept = check_imported(one.members)
        if len(kept.links) == len(one.links):
            places.update(
                (there.index, here.index) for there, here in zip(kept.links, one.links, strict=True)
            )
        stored = kept.envelope.encode()
        return Record(decode_payload(payload_of(stored)), kept.links, original_body(one.members), stored)

    def read_there(index: int) -> Record:
        if index not in places:
            raise NotRederivableError("an input did not come with it")
        return was(read(places[index]))

    return was(record), read_there


def _differing(made: bytes, record: Record) -> str:
    """Return which members differ, by name, no content."""
    one: dict[str, Any] = msgspec.json.decode(made)
    other = record.members
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return ", ".join(names) or "the same, written otherwise"
