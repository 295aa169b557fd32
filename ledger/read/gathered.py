"""Which records the records of a span link to, as its envelopes are read. Loads no numpy."""

from array import array
from typing import Final

from blake3 import blake3

from braid.ledger.read import spans
from braid.ledger.record.envelope import Envelope, Link

MOST_EDGES: Final = 1 << 20
"""Of one kind; a span with more is read from the log each time."""
ROLES: Final = (
    "parent", "evidence", "applied_to", "support", "candidate", "experience", "supersedes", "target", "kept",
)  # fmt: skip
"""The roles of links by the number that stands for each in a file."""
PLACES: Final = {role: place for place, role in enumerate(ROLES)}


class Gathered:
    """The edges of a span while it is read, in columns: children, roles (places in `ROLES`) and targets of links;
    children and names of blobs.
    """

    def __init__(self) -> None:
        self.links = (array("H"), array("B"), array("Q"))
        self.blobs = (array("H"), array("Q"))

    def add(self, envelope: Envelope, links: list[Link]) -> None:
        child = envelope.index & ((1 << spans.SPAN_BITS) - 1)
        children, roles, targets = self.links
        if len(targets) <= MOST_EDGES:  # what is beyond is not kept anyway: no memory for it
            children.extend([child] * len(links))
            roles.extend([PLACES[link.role] for link in links])
            targets.extend([link.index for link in links])
        holders, names = self.blobs
        if len(names) <= MOST_EDGES:
            holders.extend([child] * len(envelope.blobs))
            names.extend([number_of(name) for name, _ in envelope.blobs])

    @property
    def is_too_much(self) -> bool:
        """Whether these are more edges than are kept."""
        return max(len(self.links[2]), len(self.blobs[1])) > MOST_EDGES


def number_of(blob: str) -> int:
    """Return 64 bits for a blob's name, whatever text a writer has put there: one that is no digest must not hinder
    an erasure.
    """
    return int.from_bytes(blake3(blob.encode()).digest(8), "little")
