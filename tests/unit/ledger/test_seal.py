"""Sealed bodies: sizes, fixed values, and everything that is not opened (SPEC §4.1, §4.2)."""

import pytest
from blake3 import blake3
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt

from braid.ledger.crypto.seal import MAX_BODY_BYTES, RecordKey, padme, record_key, seal_body, unseal_body
from braid.ledger.errors import BodyTooLargeError, UnsealError

KEY = record_key(bytes(range(32)))
ORIGIN = "braid.local/abcdefghijklmnop"
ID = "exp_2026-01-02T03:04:05Z_000000070abc"
NONCE = bytes(range(100, 124))
AAD = f"braid/v1/body\n{ORIGIN}\n{ID}\nexperience\n".encode()


def seal(body: bytes, nonce: bytes | None = NONCE) -> bytes:
    """Seal as the record of the tests."""
    return seal_body(KEY, body, origin=ORIGIN, id=ID, kind="experience", nonce=nonce)


def unseal(sealed: bytes, *, key: RecordKey = KEY, names: dict[str, str] | None = None) -> bytes:
    """Unseal as the record of the tests, or as one of other names."""
    given = {"origin": ORIGIN, "id": ID, "kind": "experience"} | (names or {})
    return unseal_body(key, sealed, **given)


def seal_plain(plain: bytes) -> bytes:
    """Seal any plain text, as a faulty or hostile holder of the key could."""
    return NONCE + encrypt(plain, AAD, NONCE, KEY.sealing)


def test_record_key_is_one_blake3_output_in_three() -> None:
    out = blake3(b"braid/v1/record", key=bytes(range(32))).digest(length=96)
    assert (KEY.sealing, KEY.commitment, KEY.row) == (out[:32], out[32:64], out[64:])
    assert len({KEY.sealing, KEY.commitment, KEY.row}) == 3


# L, then ceil to a multiple of 2^(E - S) with E = floor(log2 L), S = floor(log2 E) + 1; worked out by hand.
@pytest.mark.parametrize(
    ("length", "padded"),
    [
        (0, 256),
        (1, 256),
        (255, 256),
        (256, 256),
        (257, 272),
        (272, 272),
        (273, 288),
        (511, 512),
        (512, 512),
        (513, 544),
        (1000, 1024),
        (1025, 1088),
        (1_000_000, 1_015_808),
        (65_536, 65_536),
        (65_537, 67_584),
        (2**20 + 1, 1_081_344),
        (2**24, 2**24),
        (2**24 + 1, 2**24 + 2**19),
    ],
)
def test_padme_reference_values(length: int, padded: int) -> None:
    assert padme(length) == padded


def test_padme_is_idempotent_monotonic_and_cheap() -> None:
    last = 0
    for length in [*range(256, 5000), *range(10**6, 10**6 + 500)]:
        padded = padme(length)
        assert length <= padded <= length * 1.12
        assert padme(padded) == padded
        assert padded >= last
        last = padded


@pytest.mark.parametrize("size", [0, 1, 2, 211, 212, 213, 1000, 70_000])
def test_round_trip_at_every_kind_of_size(size: int) -> None:
    body = b"x" * size
    sealed = seal(body)
    assert len(sealed) == padme(44 + size)
    assert unseal(sealed) == body


def test_layout_is_the_specified_one() -> None:
    body = b'{"text":"hello"}'
    plain = len(body).to_bytes(4, "little") + body
    plain += bytes(256 - 24 - 16 - len(plain))
    assert seal(body) == NONCE + encrypt(plain, AAD, NONCE, KEY.sealing)


def test_known_answer() -> None:
    assert (
        blake3(seal(b'{"text":"hello"}')).hexdigest()
        == "7ba54f3537b706c6575512fa52eeba0e78308cab6701ee83d5baaa7225910cc2"
    )


def test_nonces_are_random_when_none_is_given() -> None:
    first, second = seal(b"{}", None), seal(b"{}", None)
    assert first[:24] != second[:24]
    assert unseal(first) == unseal(second) == b"{}"


def test_every_flipped_bit_is_refused() -> None:
    sealed = seal(b'{"text":"hello"}')
    for bit in range(len(sealed) * 8):
        altered = bytearray(sealed)
        altered[bit // 8] ^= 1 << bit % 8
        with pytest.raises(UnsealError, match="tag"):
            unseal(bytes(altered))


def test_every_truncation_and_an_extension_are_refused() -> None:
    sealed = seal(b"x" * 300)
    for size in range(len(sealed)):
        with pytest.raises(UnsealError, match=r"tag|too short"):
            unseal(sealed[:size])
    with pytest.raises(UnsealError, match="tag"):
        unseal(sealed + b"\0")


@pytest.mark.parametrize(
    "names",
    [
        {"origin": "braid.local/abcdefghijklmnoq"},
        {"id": "exp_2026-01-02T03:04:05Z_000000080abc"},
        {"kind": "stance"},
    ],
)
def test_a_body_opens_only_under_its_own_names(names: dict[str, str]) -> None:
    with pytest.raises(UnsealError, match="tag"):
        unseal(seal(b"{}"), names=names)


def test_a_body_opens_only_under_its_own_key() -> None:
    with pytest.raises(UnsealError, match=f"^{ID}: "):
        unseal(seal(b"{}"), key=record_key(bytes(32)))


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        (b"\x02\0\0\0{}" + bytes(209) + b"\x01", "padding is not zero"),
        (b"\x01\0\0\0{}" + bytes(210), "padding is not zero"),
        (b"\xd5\0\0\0" + b"x" * 212, "does not fit"),
        (b"\xff\xff\xff\xff" + b"x" * 212, "does not fit"),
        (b"\x02\0\0\0{}" + bytes(211), "does not fit"),
        (b"\x02\0\0\0{}" + bytes(226), "does not fit"),
    ],
)
def test_what_seal_would_not_have_written_is_refused(plain: bytes, reason: str) -> None:
    with pytest.raises(UnsealError, match=reason):
        unseal(seal_plain(plain))


def test_the_limit_is_sixteen_mebibytes_of_json() -> None:
    sealed = seal(b" " * MAX_BODY_BYTES)
    assert len(unseal(sealed)) == MAX_BODY_BYTES == 16 * 1024 * 1024
    with pytest.raises(BodyTooLargeError, match="16777217 bytes is above the limit of 16777216"):
        seal(b" " * (MAX_BODY_BYTES + 1))
    over = MAX_BODY_BYTES + 1
    plain = over.to_bytes(4, "little") + b" " * over
    with pytest.raises(UnsealError, match="does not fit"):
        unseal(seal_plain(plain + bytes(padme(44 + over) - 44 - over)))


def test_nothing_prints_a_key() -> None:
    assert f"{KEY} {KEY!r}" == "RecordKey(…) RecordKey(…)"
