"""The type lattice: occurrence ⊑ observation ⊑ inference ⊑ reconciliation; derivation goes up or stays. Pure."""

from collections.abc import Iterable
from typing import Final

TYPES: Final = ("occurrence", "observation", "inference", "reconciliation")
RANK: Final = {name: rank for rank, name in enumerate(TYPES)}


def join(types: Iterable[str]) -> str:
    """Return the least type that all of `types` may be derived to; `occurrence` for none."""
    return TYPES[max((RANK[name] for name in types), default=0)]


def may_derive(parent: str, child: str) -> bool:
    """Whether a record of type `child` may have a parent of type `parent`; an unknown parent type is no bar."""
    return RANK[child] >= RANK.get(parent, 0)
