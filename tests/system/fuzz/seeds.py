"""Where fuzzing begins: one good sample of each form, made here from a log of the fuzzer's own key.

    python -m tests.system.fuzz.seeds        writes those that are missing into tests/system/fuzz/corpus

What a fuzzer finds is added by hand under a name that says what it was; the corpus is replayed by every test run.
"""

import json
from pathlib import Path

from braid.ledger.record.envelope import wrap
from braid.ledger.record.ids import make_id, prefix_of
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import leaf_hash, prove_inclusion, root_of, subtrees_of
from braid.ledger.tree.multiproof import MultiProof, format_multiproof, prove_inclusions
from braid.ledger.tree.note import COSIGNATURE, cosign, format_note, parse_note, signing_key
from braid.ledger.tree.proof import format_proof
from braid.ledger.tree.tiles import entries_path, pack_entries, tile_path
from braid.wal.frame import Stored, encode_frame
from tests.system.fuzz.targets import KEY, ORIGIN

CORPUS = Path(__file__).with_name("corpus")
SECOND = "2026-01-31T09:30:00"


def payload(index: int, kind: str = "experience", **members: object) -> bytes:
    """Return a record's payload."""
    record: dict[str, object] = {
        "braid": 1,
        "origin": ORIGIN,
        "index": index,
        "id": make_id(prefix_of(kind), f"{SECOND}Z", index, 7 * index),
        "kind": kind,
    }
    record |= {"type": "occurrence"} if kind == "experience" else {}
    record |= {
        "created_at": f"{SECOND}.000001Z",
        "tx": [index, 0, 1],
        "control": 0,
        "key": "k_" + "a2" * 10,
        "commit": "A" * 43,
        "body": ["b" * 43, 256],
    }
    return json.dumps(record | members, ensure_ascii=False, separators=(",", ":")).encode()


def samples() -> dict[str, dict[str, bytes]]:
    """Return the first samples of each target, by name."""
    earlier = make_id("exp", f"{SECOND}Z", 1, 7)
    payloads = {
        "plain": payload(1),
        "links": payload(4, links=[["parent", 1, earlier], ["evidence", 1, earlier]]),
        "many-links": payload(9, links={"count": 300, "root": "c" * 43, "bytes": 9000}),
        "blobs": payload(2, blobs=[["0f" * 32, 1234]]),
        "control": payload(5, "tombstone", public={"op": "forget"}),
        "unknown": payload(6, "experience", public={"a": [1, {"b": None}]}, later="x", more=[True, 1.5]),
    }
    stored = [wrap(payload(index), bytes([index]) * 64) for index in range(5)]
    leaves = [leaf_hash(one) for one in stored]
    note = sign_checkpoint(Checkpoint(ORIGIN, 5, root_of(leaves)), [KEY])
    witness = signing_key("witness.example", bytes(32), COSIGNATURE)
    text, signatures = parse_note(note)
    cosigned = format_note(text, [*signatures, cosign(text, witness, 1_700_000_000)])
    subtree = subtrees_of(leaves)
    several = (1, 2, 4)
    frames = {
        "one": [Stored(b"envelope", b"", b"body")],
        "three": [Stored(b"e", b"links\n", b""), Stored(b"", b"", b"b" * 40), Stored(b"ee", b"", b"x")],
    }
    return {
        "note": {
            "head": note,
            "cosigned": cosigned,
            "longer": b"a\n\nb\n\n" + cosigned.partition(b"\n\n")[2],
        },
        "head": {"head": note, "cosigned": cosigned, "extended": text.encode() + b"extension line\n"},
        "envelope": {**payloads, "stored": stored[1]},
        "frame": {name: b"".join(encode_frame(7, 3, 64, records)) for name, records in frames.items()},
        "path": {
            "tile": tile_path(0, 1).encode(),
            "partial": tile_path(2, 1_234_067, 255).encode(),
            "entries": entries_path(70_000, 9).encode(),
        },
        "bundle": {"few": pack_entries([b"one", b"", b"three"]), "full": pack_entries([b"x"] * 256)},
        "proof": {
            "one": format_proof(3, prove_inclusion(3, 5, subtree), cosigned, stored[3]),
            "several": format_multiproof(
                MultiProof(
                    tuple((at, stored[at]) for at in several),
                    tuple(prove_inclusions(several, 5, subtree)),
                    note,
                )
            ),
        },
    }


def main() -> None:
    """Write the samples that are missing."""
    for target, named in samples().items():
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        for name, data in named.items():
            path = CORPUS / target / f"seed-{name}"
            if not path.exists():
                path.write_bytes(data)


if __name__ == "__main__":
    main()
