"""Taking a head to the witnesses of a policy: the posts that `ledger/witness/cosignature.py` asks for, and their
answers.
"""

import time
from collections.abc import Callable
from contextlib import closing

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.policy import Policy
from braid.ledger.publish.remote import SignedHead
from braid.ledger.tree.merkle import prove_consistency, range_root
from braid.ledger.tree.tiles import TileTree
from braid.ledger.witness.cosignature import (
    MAX_ANSWER_BYTES,
    CosignatureResult,
    OwnLog,
    ask_all,
    with_cosignatures,
)
from braid.tools.tlog.client import Site

TIMEOUT_S = 10.0


def cosigned(
    policy: Policy,
    head: SignedHead,
    tree: TileTree,
    *,
    known: SignedHead | None = None,
    timeout_s: float = TIMEOUT_S,
    told: Callable[[CosignatureResult], None] = lambda asked: None,
) -> SignedHead:
    """Return the head with the cosignatures of the policy's witnesses, asked all at once.

    Raises RefusedLogError: `rollback` or `fork` where a witness shows it by a head that this log's key signed, whatever
    the quorum; `quorum` where too few cosigned.
    """

    def post(url: str, path: str, body: bytes | None) -> tuple[int, str, bytes]:
        method = "GET" if body is None else "POST"
        with closing(Site(url, timeout_s=timeout_s)) as site:
            return site.ask(method, path, body, limit=MAX_ANSWER_BYTES)

    def prove(old: int) -> list[bytes]:
        return prove_consistency(old, head.size, tree.subtree)

    def root_at(size: int) -> bytes:
        return range_root(0, size, tree.subtree)

    own = OwnLog(head, prove, root_at)
    asked = ask_all(policy, own, post, now_s=int(time.time()), known=known)
    for one in asked:
        told(one)
    for one in asked:
        if one.reason in ("rollback", "fork"):  # a quorum of others does not make this right
            raise RefusedLogError(one.reason, one.what)
    return with_cosignatures(head, policy, asked)
