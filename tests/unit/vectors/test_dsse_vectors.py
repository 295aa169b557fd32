"""DSSE envelopes: the vectors of secure-systems-lab/dsse, and envelopes that must be refused."""

import json
from base64 import b64decode, b64encode, urlsafe_b64decode
from typing import Any

import pytest
from nacl import bindings

from braid.ledger.errors import EnvelopeError, LedgerError
from braid.ledger.export.dsse import Verified, pae, verify_envelope

SEED_A = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
SEED_B = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
A, PRIVATE_A = bindings.crypto_sign_seed_keypair(SEED_A)
B, _ = bindings.crypto_sign_seed_keypair(SEED_B)
STATEMENT = b'{"_type":"https://in-toto.io/Statement/v1"}'
IN_TOTO = "application/vnd.in-toto+json"
UMLAUT = "application/vnd.exämple+json"
SIG_A = "2WAfaHm5jluo0w+0rk8uVkluELJYWjSmU9x7EUzx+AyteDGJ4/nqyJXfmAUVFIAoQafWm7AxBZNw5M9ixNHiCA=="
SIG_B = "c1+67/aT0yqEpwx8PsVY3MLHsj9D0CZ014/Fv/QlG59P+9CobUZ7xECJ/V3USG0Ob9CiE5LjReEZUzNF2l7eBw=="
SIG_URL_SAFE = "P-_KHICeR7tI6S_YyejJTRtrXhcQyQ2LYPaL8h90KjC9qN8HU_svOQ6TuDOT1HIrsGW886DbWNWcCmX5twLrAw=="
SIG_UMLAUT = "xmSk/ug66ysT7ayhkCIjhAq42zgZXSsEWuzUaNL7w2eGAdF/NU6/fRXPtmfN+5DNSAs5/i2lUnHjbbjPsu0tAw=="
SIG_EMPTY = "gSggCAaTLTYyRH6FIDBem6meyIynsYy8RTHVzwx9tnTb7Bg/1jMWnuVgI/gffqmbsC2VX5/jHfkkDqsj7CDbDg=="


def envelope(payload: bytes | str, payload_type: str, *signatures: str, keyid: str | None = None) -> bytes:
    text = payload if isinstance(payload, str) else b64encode(payload).decode()
    hint = {} if keyid is None else {"keyid": keyid}
    listed = [{**hint, "sig": signature} for signature in signatures]
    return json.dumps({"payload": text, "payloadType": payload_type, "signatures": listed}).encode()


def with_member(name: str, value: Any) -> bytes:
    return json.dumps(json.loads(envelope(STATEMENT, IN_TOTO, SIG_A)) | {name: value}).encode()


def signed_by_a(payload_type: str, payload: bytes) -> str:
    return b64encode(bindings.crypto_sign(pae(payload_type, payload), PRIVATE_A)[:64]).decode()


def test_the_encoding_of_the_specification() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae(UMLAUT, b"") == f"DSSEv1 29 {UMLAUT} 0 ".encode()
    assert pae("", b"") == b"DSSEv1 0  0 "


@pytest.mark.parametrize(
    ("payload", "payload_type", "signature"),
    [
        (STATEMENT, IN_TOTO, SIG_A),
        (b64decode("+/+/Pj8="), IN_TOTO, b64encode(urlsafe_b64decode(SIG_URL_SAFE)).decode()),
        (STATEMENT, UMLAUT, SIG_UMLAUT),
        (b"", IN_TOTO, SIG_EMPTY),
    ],
    ids=["single-signature", "url-safe-base64", "non-ascii-payload-type", "empty-payload"],
)
def test_the_signatures_of_the_vectors(payload: bytes, payload_type: str, signature: str) -> None:
    assert signed_by_a(payload_type, payload) == signature
    assert verify_envelope(envelope(payload, payload_type, signature), [A]) == Verified(
        payload_type, payload, frozenset([A])
    )


def test_url_safe_base64() -> None:
    verified = verify_envelope(envelope("-_-_Pj8=", IN_TOTO, SIG_URL_SAFE), [A])
    assert verified.payload == b64decode("+/+/Pj8=")


def test_payload_type_swapped() -> None:
    with pytest.raises(EnvelopeError, match="0 trusted keys"):
        verify_envelope(envelope(STATEMENT, "application/vnd.example.other+json", SIG_A), [A])


@pytest.mark.parametrize("keyid", ["A", "", None])
def test_threshold_two_distinct_keys(keyid: str | None) -> None:
    verified = verify_envelope(envelope(STATEMENT, IN_TOTO, SIG_A, SIG_B, keyid=keyid), [A, B], 2)
    assert verified.keys == {A, B}


def test_threshold_two_one_key_twice() -> None:
    for keys in ([A, B], [B, A, A]):
        with pytest.raises(EnvelopeError, match="1 trusted keys signed the envelope, 2 are asked for"):
            verify_envelope(envelope(STATEMENT, IN_TOTO, SIG_A, SIG_A), keys, 2)


def test_empty_payload_type() -> None:
    with pytest.raises(EnvelopeError, match="empty payload type"):
        verify_envelope(envelope(STATEMENT, "", signed_by_a("", STATEMENT)), [A])


def test_unknown_and_wrong_signatures_do_not_count_and_do_not_harm() -> None:
    garbage = b64encode(bytes(64)).decode()
    verified = verify_envelope(envelope(STATEMENT, IN_TOTO, garbage, "", "AAAA", SIG_B, SIG_A), [A])
    assert verified.keys == {A}
    with pytest.raises(EnvelopeError, match="0 trusted keys"):
        verify_envelope(envelope(STATEMENT, IN_TOTO, SIG_B), [A])


def test_a_keyid_is_not_believed() -> None:
    """It names a trusted key, but another one signed; or another type of value."""
    with pytest.raises(EnvelopeError, match="0 trusted keys"):
        verify_envelope(envelope(STATEMENT, IN_TOTO, SIG_B, keyid=A.hex()), [A])
    assert verify_envelope(envelope(STATEMENT, IN_TOTO, SIG_A, keyid=B.hex()), [A, B]).keys == {A}


def test_unknown_members_are_ignored() -> None:
    assert verify_envelope(with_member("extra", {"a": [1]}), [A]).payload == STATEMENT


def test_every_changed_byte_of_payload_type_and_signature_is_refused() -> None:
    for at in range(len(STATEMENT)):
        spoilt = STATEMENT[:at] + bytes([STATEMENT[at] ^ 1]) + STATEMENT[at + 1 :]
        with pytest.raises(EnvelopeError):
            verify_envelope(envelope(spoilt, IN_TOTO, SIG_A), [A])
    for at in range(64):
        raw = bytearray(b64decode(SIG_A))
        raw[at] ^= 1
        with pytest.raises(EnvelopeError):
            verify_envelope(envelope(STATEMENT, IN_TOTO, b64encode(raw).decode()), [A])


def test_what_the_encoding_separates_stays_separate() -> None:
    """Moving bytes between type and payload, which a plain concatenation wouldn't notice."""
    moved = signed_by_a("a", b"b c")
    for payload_type, payload in (("a b", b"c"), ("a 3 b", b"c"), ("", b"a b c")):
        with pytest.raises(EnvelopeError):
            verify_envelope(envelope(payload, payload_type, moved), [A])


PAYLOAD = b64encode(STATEMENT).decode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"not JSON",
        b"\xff",
        envelope(STATEMENT, IN_TOTO, SIG_A)[:-1],
        envelope(STATEMENT, IN_TOTO, SIG_A) + b"{}",
        envelope(STATEMENT, IN_TOTO),
        envelope(STATEMENT, IN_TOTO, *[SIG_A] * 101),
        with_member("payload", 5),
        with_member("payloadType", None),
        with_member("signatures", {}),
        with_member("signatures", [{"keyid": "a"}]),
        with_member("signatures", [SIG_A]),
        envelope(STATEMENT, "\ud800 ", SIG_A),
        envelope("AA", IN_TOTO, signed_by_a(IN_TOTO, b"\0")),
        envelope(PAYLOAD + "=", IN_TOTO, SIG_A),
        envelope(PAYLOAD + "\n", IN_TOTO, SIG_A),
        envelope(" " + PAYLOAD, IN_TOTO, SIG_A),
        envelope("+/-_", IN_TOTO, SIG_A),
        envelope("AB==", IN_TOTO, signed_by_a(IN_TOTO, b"\0")),
        envelope("é", IN_TOTO, SIG_A),
        envelope(STATEMENT, IN_TOTO, SIG_A, "not base64"),
    ],
)
def test_a_malformed_envelope_is_refused(data: bytes) -> None:
    with pytest.raises(EnvelopeError):
        verify_envelope(data, [A])


def test_misuse_is_not_a_bad_envelope() -> None:
    good = envelope(STATEMENT, IN_TOTO, SIG_A)
    for keys, threshold in (([A], 0), ([A], -1), ([A], 2), ([A, A], 2), ([], 1)):
        with pytest.raises(ValueError, match="threshold") as caught:
            verify_envelope(good, keys, threshold)
        assert not isinstance(caught.value, LedgerError)
    for key in (bytes(32), A[:-1], A + b"\0", b"\x01" + bytes(31)):
        with pytest.raises(ValueError, match="Ed25519 public key"):
            verify_envelope(good, [A, key])
