"""Checking a proof file without a store: which record it is about, and that the signed head includes it. Pure."""

from pathlib import Path
from typing import Any

from braid.ledger.errors import PolicyError, ProofError, RefusedLogError
from braid.ledger.publish.policy import Policy, parse_policy
from braid.ledger.record.envelope import check_structure, decode_payload, unwrap
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.multiproof import check_multiproof, is_multiproof
from braid.ledger.tree.note import VerifierKey, parse_vkey
from braid.ledger.tree.proof import check_proof, parse_proof
from braid.tools.cli.output import in_log, many


def check(
    proof: bytes, leaf: bytes | None, vkey: VerifierKey, policy: Policy | None = None
) -> dict[str, Any]:
    """Return what the proof shows; raise ProofError, NoteError or EnvelopeError where it shows nothing.

    With a policy its head must have the quorum, or RefusedLogError is raised.

    `leaf` is the record's stored envelope. Without it the proof's `extra` is taken for it: unauthenticated in
    itself, it counts only because its hash leads to the signed root. The author's signature is the log's own
    affair (`braid verify`).
    """
    if is_multiproof(proof):
        return _check_many(proof, vkey, policy)
    data = leaf if leaf is not None else parse_proof(proof).extra
    if data is None:
        raise ProofError(
            "it doesn't say of which record it is: give the record's signed envelope with --leaf FILE"
        )
    proven = check_proof(proof, leaf_hash(data), vkey, policy.cosigners if policy else ())
    if policy and (lacking := policy.lacking(proven.note)):
        raise RefusedLogError(
            "quorum", f"its head of {many(proven.checkpoint.size, 'record')} lacks {lacking}"
        )
    witnessed = {"witnesses": sorted(policy.signed_by(proven.note))} if policy else {}
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
        **witnessed,
    }


def _check_many(proof: bytes, vkey: VerifierKey, policy: Policy | None) -> dict[str, Any]:
    """Return what a multi-proof shows: it has its records' envelopes with it."""
    proven = check_multiproof(proof, vkey, policy.cosigners if policy else ())
    if policy and (lacking := policy.lacking(proven.note)):
        raise RefusedLogError(
            "quorum", f"its head of {many(proven.checkpoint.size, 'record')} lacks {lacking}"
        )
    return {
        "verdict": in_log(len(proven.ids)),
        "ids": list(proven.ids.values()),
        "origin": proven.checkpoint.origin,
        "tree size": proven.checkpoint.size,
        "root": proven.checkpoint.root.hex(),
        **({"witnesses": sorted(policy.signed_by(proven.note))} if policy else {}),
    }


def read_policy(path: Path) -> Policy:
    """Return the policy in a file."""
    try:
        return parse_policy(path.read_bytes())
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from error


def pinned_key(text: str | None, policy: Policy | None) -> VerifierKey:
    """Return the log's key: the one that is given, which the policy must not contradict, else the policy's only one."""
    logs = [log.vkey for log in policy.logs] if policy else []
    if text is None:
        if len(logs) != 1:
            raise ValueError(
                "which log is it? Give its public key with --key VKEY, or a policy that names one log"
            )
        return logs[0]
    vkey = parse_vkey(text)
    if logs and vkey not in logs:
        raise ValueError(f"the policy names other logs than {vkey}")
    return vkey
