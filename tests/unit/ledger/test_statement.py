"""A record for other tools: DSSE as it is stored, and an in-toto Statement that any DSSE verifier checks."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from braid.ledger.errors import EnvelopeError, KeyRefusedError
from braid.ledger.export.dsse import verify_envelope
from braid.ledger.export.statement import signed_statement
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.proof import check_proof
from braid.ledger.write.writer import Writer


@pytest.fixture
def reader(store: Path) -> Reader:
    writer = Writer(store)
    body = ExperienceBody(content=Content(text="said"))
    blob = (sha256(b"media").hexdigest(), 5)
    writer.append([Draft(kind="experience", type="occurrence", body=body, blobs=[blob])])
    writer.close()
    return Reader(store)


def test_the_stored_envelope_is_dsse(reader: Reader) -> None:
    author = reader.control.keys[reader.envelope(3).key].public
    read = verify_envelope(reader.stored_envelope(3), [author])
    assert read.payload_type == "application/vnd.braid.record+json"
    assert json.loads(read.payload)["index"] == 3


def test_the_statement_is_signed_by_the_operator_and_matches_by_digest(reader: Reader) -> None:
    operator = next(life for life in reader.control.keys.values() if life.role == "operator")
    said = signed_statement(reader, 3)
    read = verify_envelope(said, [operator.public])
    assert read.payload_type == "application/vnd.in-toto+json"
    statement = json.loads(read.payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    envelope = reader.envelope(3)
    digests = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert digests == {
        envelope.id: sha256(reader.stored_envelope(3)).hexdigest(),
        f"{envelope.id}/body": sha256(reader.log.body(3)).hexdigest(),
        f"{envelope.id}/blobs/{envelope.blobs[0][0]}": envelope.blobs[0][0],
    }
    assert statement["predicate"]["record"]["id"] == envelope.id
    proof = statement["predicate"]["proof"].encode()
    assert check_proof(proof, leaf_hash(reader.stored_envelope(3)), reader.vkey).index == 3
    others = [life.public for life in reader.control.keys.values() if life.role != "operator"]
    with pytest.raises(EnvelopeError):
        verify_envelope(said, others)
    edited = json.loads(said)
    edited["payload"] = b64encode(read.payload.replace(b'"index":3', b'"index":4')).decode()
    with pytest.raises(EnvelopeError):
        verify_envelope(json.dumps(edited).encode(), [operator.public])


def test_without_an_operators_key_there_is_no_statement(reader: Reader) -> None:
    for path in (reader.path / "keys").glob("operator-*"):
        path.unlink()
    with pytest.raises(KeyRefusedError, match="operator"):
        signed_statement(reader, 3)
