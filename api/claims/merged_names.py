"""Names that a signed decision calls one's: a claim of either is a claim of one. What a rule joins is not followed."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from braid.claims.entity_decisions import decisions_in, joined_by
from braid.claims.finder import ClaimFinder
from braid.learn.resolve.resolution import Node
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Record
from braid.ledger.record.scope import owner_of
from braid.session import Session
from braid.stance.claims import RecordedClaim, is_meant
from braid.text.words import normal

_TOLD_APART: Final = frozenset("#~@")
"""In a node's name: it is one of several that are called so, and a claim's subject doesn't say which."""


class MergedNames(NamedTuple):
    """Which names are one's, in normal form: by whose memory and name, the first of them and all of them."""

    groups: Mapping[Node, frozenset[str]]
    owner: str
    """Whose memory a claim without a user is of."""

    def topics(self, topic: str) -> list[str]:
        """Return a topic, and the other names of whom it means."""
        meant = (names for names in self.groups.values() if any(is_meant(topic, name) for name in names))
        return list(dict.fromkeys((topic, *(name for names in meant for name in sorted(names)))))

    def as_one(self, claims: Iterable[RecordedClaim]) -> list[RecordedClaim]:
        """Return claims with one subject for each group of names: as the first of them writes it."""
        first: dict[tuple[str, frozenset[str]], str] = {}
        return [self._renamed(said, first) for said in claims]

    def _renamed(self, said: RecordedClaim, first: dict[tuple[str, frozenset[str]], str]) -> RecordedClaim:
        owner = self.owner if said.user_id is None else f"user_id:{said.user_id}"
        names = self.groups.get(Node(owner, normal(said.claim.subject)))
        subject = (
            said.claim.subject if names is None else first.setdefault((owner, names), said.claim.subject)
        )
        if subject == said.claim.subject:
            return said
        return msgspec.structs.replace(said, claim=msgspec.structs.replace(said.claim, subject=subject))


def merged_names(session: Session, finder: ClaimFinder) -> MergedNames:
    """Return the names that living decisions join, in the finder's scope and at its moment of the log.

    A name that means another in some turns is left out: a split by turns is followed by entities alone.
    """

    def read(index: int) -> Record | None:
        try:
            return session.reader.at(index) if finder.lives(index) else None
        except (ErasedError, ForgottenError):
            return None  # gone since we looked

    decisions = list(decisions_in(session, finder, read).values())
    parted = {node for one in decisions if one.op == "split" for node in one.nodes}
    groups: dict[Node, frozenset[str]] = {}
    for one in decisions:
        if one.op in ("merge", "alias"):
            joined = [node for node in joined_by(decisions, one.nodes) if node not in parted]
            plain = [node for node in joined if _TOLD_APART.isdisjoint(node.name)]
            groups |= dict.fromkeys(plain, frozenset(node.name for node in plain))
    return MergedNames(groups, owner_of(finder.scope))
