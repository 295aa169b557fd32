"""A record for tools that know nothing of Braid: its DSSE envelope, and an in-toto Statement about it (SPEC §13).

The stored envelope is DSSE v1 already: it goes out as it is. The Statement says which bytes the record is, by digest,
and carries its payload and its proof; it is signed as DSSE by a key that the log has admitted.
"""

from base64 import b64encode, urlsafe_b64decode
from hashlib import sha256
from typing import Any, Final

import msgspec

from braid.ledger.export.dsse import pae
from braid.ledger.read.reader import Reader
from braid.ledger.read.signatory import operator
from braid.ledger.record.envelope import Envelope, payload_of
from braid.ledger.tree.proof import format_proof, parse_proof

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
PREDICATE_TYPE: Final = "urn:braid:record:v1"


def statement(reader: Reader, index: int) -> dict[str, Any]:
    """Return the in-toto Statement of a record: subjects are its envelope, its sealed body and its sealed media."""
    stored, envelope = reader.stored_envelope(index), reader.envelope(index)
    read = parse_proof(reader.prove(index))
    proof = format_proof(read.index, read.hashes, read.checkpoint, stored)
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": envelope.id, "digest": {"sha256": sha256(stored).hexdigest()}},
            *_sealed(envelope),
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "record": msgspec.Raw(payload_of(stored)),
            "log": {"origin": reader.origin, "vkey": str(reader.vkey)},
            "proof": proof.decode(),
        },
    }


def _sealed(envelope: Envelope) -> list[dict[str, Any]]:
    digest = urlsafe_b64decode(f"{envelope.body[0]}=").hex()
    blobs = [
        {"name": f"{envelope.id}/blobs/{name}", "digest": {"sha256": name}} for name, _ in envelope.blobs
    ]
    return [{"name": f"{envelope.id}/body", "digest": {"sha256": digest}}, *blobs]


def signed_statement(reader: Reader, index: int) -> bytes:
    """Return the Statement in a DSSE envelope; raise KeyRefusedError where no operator's key is here to sign it."""
    payload = msgspec.json.encode(statement(reader, index))
    signer = operator(reader, "a Statement")
    envelope = {
        "payload": b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [
            {"keyid": signer.id, "sig": b64encode(signer.sign(pae(PAYLOAD_TYPE, payload))).decode()}
        ],
    }
    return msgspec.json.encode(envelope) + b"\n"
