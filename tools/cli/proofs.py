"""Checking a proof file without a store: which record it is about, and that the signed head includes it. Pure."""

from typing import Any

from braid.ledger.envelope import check_structure, decode_payload, unwrap
from braid.ledger.errors import ProofError
from braid.ledger.merkle import leaf_hash
from braid.ledger.note import VerifierKey
from braid.ledger.proof import check_proof, parse_proof


def check(proof: bytes, leaf: bytes | None, vkey: VerifierKey) -> dict[str, Any]:
    """Return what the proof shows; raise ProofError, NoteError or EnvelopeError where it shows nothing.

    `leaf` is the record's stored envelope. Without it the proof's `extra` is taken for it: unauthenticated in
    itself, it counts only because its hash leads to the signed root. The author's signature is the log's own
    affair (`braid verify`).
    """
    data = leaf if leaf is not None else parse_proof(proof).extra
    if data is None:
        raise ProofError(
            "it doesn't say of which record it is: give the record's signed envelope with --leaf FILE"
        )
    proven = check_proof(proof, leaf_hash(data), vkey)
    envelope = decode_payload(unwrap(data).payload)
    check_structure(envelope, proven.checkpoint.origin)
    if envelope.index != proven.index:
        raise ProofError(
            f"the record says that it stands at {envelope.index}, the proof has it at {proven.index}"
        )
    return {
        "verdict": "the record is in the log",
        "index": envelope.index,
        "id": envelope.id,
        "kind": envelope.type or envelope.kind,
        "created_at": envelope.created_at,
        "author key": envelope.key,
        "origin": proven.checkpoint.origin,
        "tree size": proven.checkpoint.size,
        "root": proven.checkpoint.root.hex(),
    }
