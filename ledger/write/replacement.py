"""In whose place a record may stand: nobody puts a higher class right (SPEC §4.9)."""

from collections.abc import Iterable

from braid.ledger.errors import InvalidRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.record import IMPORTED, Draft, with_article
from braid.ledger.record.source import OUTSIDER, SourceClass, at_first_hand, is_least, lowest
from braid.ledger.record.standing import SUPERSEDES


def check_replacement(reader: Reader, own: SourceClass, replaced: Iterable[int]) -> None:
    """Raise InvalidRecordError where words of a class are to stand in the place of a higher class's, by log index.

    In whose place those stand counts as well.
    """
    if own == "owner":
        return
    standings = reader.standings()
    beneath = {at for one in replaced for at in (one, standings.of(one).by) if at is not None}
    for at in sorted(beneath):
        other = reader.source_classes.to_be_replaced(at)
        if not is_least(own, other):
            raise InvalidRecordError(
                f"{with_article(own)}'s words can't take the place of {reader.envelope(at).id}, which is"
                f" {with_article(other)}'s: append them beside it, or let a person correct it"
            )


def is_judged(draft: Draft) -> bool:
    """Whether it matters whose place a draft takes: what another log took in was judged there, if that log is known."""
    return draft.kind == "experience" and (IMPORTED not in draft.extra or OUTSIDER in draft.body.tags)


def check_unsigned(reader: Reader, draft: Draft) -> None:
    """Raise InvalidRecordError for a draft that would be refused, whoever signs it; its targets are in the log."""
    targets = [(role, reader.index_of(target)) for role, target in draft.links if isinstance(target, str)]
    replaced = [index for role, index in targets if role == SUPERSEDES]
    if not replaced or not is_judged(draft):
        return
    found: list[SourceClass] = [at_first_hand("", draft.body)]
    if "owner" not in found:
        found.extend(reader.source_classes.of(index) for role, index in targets if role in DERIVATION_ROLES)
    check_replacement(reader, lowest(found), replaced)
