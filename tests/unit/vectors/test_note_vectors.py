"""Signed notes, checkpoints and cosignatures: values of C2SP, tessera, sunlight and transparency-dev/formats."""

from base64 import b64decode, b64encode
from hashlib import sha256

import pytest

from braid.ledger.errors import LedgerError, NoteError
from braid.ledger.tree.checkpoint import (
    Checkpoint,
    format_checkpoint,
    open_checkpoint,
    parse_checkpoint,
    sign_checkpoint,
)
from braid.ledger.tree.merkle import EMPTY_ROOT
from braid.ledger.tree.note import (
    COSIGNATURE,
    ED25519,
    NoteSignature,
    VerifierKey,
    cosign,
    cosignature_time,
    format_note,
    format_skey,
    key_id,
    open_note,
    parse_note,
    parse_signature,
    parse_skey,
    parse_vkey,
    sign_note,
    signing_key,
    verifier_key,
    verify_ed25519,
)

FOO = parse_vkey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
FOO_LINE = (
    "— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
FOO_NOTE = f"This is an example message.\n\n{FOO_LINE}".encode()
SKEY = "PRIVATE+KEY+example.com/log/testdata+33d7b496+AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg"
VKEY = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"
ORIGIN = "example.com/log/testdata"
LOG = parse_skey(SKEY)
SMALL_LOG = {
    0: (
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "M9e0lhxJACzE1KoUdqKuPa+9p6R7dSW8BlEvrg/noo8FkGg6PbJoRNOcdjqjOq89wVvTA60eubCc4oufo5BvIVEgtQc=",
    ),
    1: (
        "0Nc2CrefWKseHj/mStd+LqC8B+NrX0btIiPt2SmN+ek=",
        "M9e0lhr9kuLxGdAtaUrhm84TQffVsLdcy808sN0a3WyniNlfcr9+bywoiIke1YYciCNjJGkCgIlQ8b16jhsmg/SChAM=",
    ),
    2: (
        "T1X2GdkhUjV3iyufF9b0kVsWFxIU0VI4EpNml2Teci4=",
        "M9e0llH4NKmlf0u7C8tkJioQOmi7l5ELqljXgKRg6R3G5JJ7vx7emDWo5fpqKuA/Dk/jRrI6il+7QCVirNhyUAWGoAk=",
    ),
    3: (
        "Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk=",
        "M9e0lvAQRtH832pk2RTbeSeZMkp4FZSdJYFBUjO5SKxuRbywPUF3cx+HUrb50kjd3rUWW/fj53Wj1dwcwh9bGQnqVAg=",
    ),
    15: (
        "rKbDipCvhuX1GZ7g5BBe8sA6BbJ7ja/1nk427v383cs=",
        "M9e0luh4jTG+UMBqOUo9/q+yAEvx1ilBEniMvjf1zfcBOhg+CKubMt53MvIt/uEWP6zdkdIQzd/fmwlM/dlPWF74ewI=",
    ),
}
WITNESS = parse_vkey("witness.example.org+b8a2cf20+BFLN3yikSfFkVAJtrnh/CiY3Zozkoy7clp+P7XB28qUN")
WITNESSED = """\
rome2026h1.example.org
300
lCkHUpkmVBEms2r2T1K6Og69+wUuuN3MIEW1/ezu2v0=

— witness.example.org \
uKLPIAAAAABpVGeAhm2bOvKc3LaB9PFN1ruG19Y5yqslmcAAbhftnn1Zznmo0LXFZq4LGvqKqLX8jWlwLKasxEGTLIqAVusneCBmBw==
""".encode()
TEST1 = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
SIGSUM = "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562"


def small_log(size: int) -> bytes:
    root, signature = SMALL_LOG[size]
    return f"{ORIGIN}\n{size}\n{root}\n\n— {ORIGIN} {signature}\n".encode()


# Signed notes


def test_the_note_of_the_specification() -> None:
    note = open_note(FOO_NOTE, [FOO])
    assert note.text == "This is an example message.\n"
    assert [str(signature) for signature in note.verified] == [FOO_LINE]
    assert note.unknown == ()
    assert str(FOO) == "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"


def test_the_last_empty_line_separates() -> None:
    key = signing_key("a", TEST1)
    for text in ("one\n\ntwo\n", "\n", "\n\n\n", "— a AAAAAAAA\n", "a\n\n— a AAAAAAAA\n"):
        note = open_note(sign_note(text, [key]), [key.verifier])
        assert note.text == text


def test_unknown_keys_are_ignored() -> None:
    other = signing_key("example.com/other", TEST1)
    note = sign_note("text\n", [other]) + FOO_LINE.encode()
    opened = open_note(note, [other.verifier])
    assert [signature.name for signature in opened.verified] == ["example.com/other"]
    assert [signature.name for signature in opened.unknown] == ["example.com/foo"]
    # The same name under another key ID is unknown too.
    same_name = verifier_key("example.com/foo", other.verifier.public)
    with pytest.raises(NoteError, match="no trusted key"):
        open_note(FOO_NOTE, [same_name])


def test_a_wrong_signature_of_a_trusted_key_refuses_the_note() -> None:
    other = signing_key("example.com/other", TEST1)
    note = sign_note("text\n", [other]) + FOO_LINE.encode()
    with pytest.raises(NoteError, match=r"the signature by example\.com/foo \(key 530d903a\) is wrong"):
        open_note(note, [other.verifier, FOO])


def test_a_note_that_no_trusted_key_signed_is_refused() -> None:
    for keys in ([], [signing_key("example.com/other", TEST1).verifier]):
        with pytest.raises(NoteError, match="no trusted key"):
            open_note(FOO_NOTE, keys)


def test_every_flipped_bit_is_refused() -> None:
    for at in range(len(FOO_NOTE)):
        for bit in range(8):
            spoilt = FOO_NOTE[:at] + bytes([FOO_NOTE[at] ^ 1 << bit]) + FOO_NOTE[at + 1 :]
            with pytest.raises(NoteError):
                open_note(spoilt, [FOO])


def test_sixteen_signatures_and_more_are_accepted() -> None:
    for count in (16, 100):
        keys = [signing_key(f"key{i}", sha256(b"%d" % i).digest()) for i in range(count)]
        note = open_note(sign_note("text\n", keys), [keys[-1].verifier])
        assert len(note.verified) + len(note.unknown) == count
    with pytest.raises(NoteError, match="101 signatures"):
        sign_note("text\n", [signing_key(f"key{i}", sha256(b"%d" % i).digest()) for i in range(101)])


def test_a_note_has_a_bounded_size() -> None:
    key = signing_key("a", TEST1)
    with pytest.raises(NoteError, match="more than 1000000"):
        sign_note("x" * 1_000_000 + "\n", [key])


def test_two_signatures_by_one_key_are_refused() -> None:
    key = signing_key("a", TEST1)
    note = sign_note("text\n", [key])
    line = note.split(b"\n\n")[1]
    for doubled in (note + line, FOO_NOTE + FOO_LINE.encode()):
        with pytest.raises(NoteError, match="two signatures by one key"):
            open_note(doubled, [key.verifier, FOO])


GOOD = b64encode(FOO.id + bytes(64)).decode()
MALFORMED = {
    "empty": b"",
    "no signature": b"text\n",
    "no signature line": b"text\n\n",
    "no empty line": f"text\n— a {GOOD}\n".encode(),
    "no newline at the end": f"text\n\n— a {GOOD}".encode(),
    "no text": f"\n— a {GOOD}\n".encode(),
    "empty line at the end": f"text\n\n— a {GOOD}\n\n".encode(),
    "line that is no signature": f"text\n\n— a {GOOD}\nfoo\n".encode(),
    "hyphen": f"text\n\n- a {GOOD}\n".encode(),
    "en dash": f"text\n\n\u2013 a {GOOD}\n".encode(),
    "no space after the dash": f"text\n\n—a {GOOD}\n".encode(),
    "no name": f"text\n\n—  {GOOD}\n".encode(),
    "no base64": "text\n\n— a\n".encode(),
    "empty base64": "text\n\n— a \n".encode(),
    "two spaces": f"text\n\n— a  {GOOD}\n".encode(),
    "space at the end": f"text\n\n— a {GOOD} \n".encode(),
    "more after the base64": f"text\n\n— a {GOOD} x\n".encode(),
    "plus in the name": f"text\n\n— a+b {GOOD}\n".encode(),
    "unicode space in the name": f"text\n\n— a\u2003b {GOOD}\n".encode(),
    "no-break space in the name": f"text\n\n— a\u00a0b {GOOD}\n".encode(),
    "line separator in the name": f"text\n\n— a\u2028b {GOOD}\n".encode(),
    "key ID alone": "text\n\n— a AAAAAA==\n".encode(),
    "short key ID": "text\n\n— a AAAA\n".encode(),
    "no padding": f"text\n\n— a {GOOD.rstrip('=')}\n".encode(),
    "too much padding": f"text\n\n— a {GOOD}=\n".encode(),
    "url-safe base64": "text\n\n— a -_-_AAAA\n".encode(),
    "bits after the end": "text\n\n— a AAAAAAB=\n".encode(),
    "not base64": "text\n\n— a AAAA!AAA\n".encode(),
    "carriage return": f"text\r\n\n— a {GOOD}\n".encode(),
    "carriage return in a signature": f"text\n\n— a {GOOD}\r\n".encode(),
    "tab": f"te\txt\n\n— a {GOOD}\n".encode(),
    "nul": f"te\0xt\n\n— a {GOOD}\n".encode(),
    "escape": f"te\x1bxt\n\n— a {GOOD}\n".encode(),
    "not UTF-8": b"te\xffxt\n\n" + f"— a {GOOD}\n".encode(),
    "overlong UTF-8": b"te\xc0\xafxt\n\n" + f"— a {GOOD}\n".encode(),
    "surrogate": b"te\xed\xa0\x80xt\n\n" + f"— a {GOOD}\n".encode(),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_note_is_refused(what: str) -> None:
    with pytest.raises(NoteError):
        parse_note(MALFORMED[what])
    with pytest.raises(NoteError):
        open_note(MALFORMED[what], [FOO])


def test_a_text_that_no_note_can_hold_is_not_signed() -> None:
    key = signing_key("a", TEST1)
    for text in ("", "no newline", "tab\t\n", "\r\n"):
        with pytest.raises(NoteError):
            sign_note(text, [key])
    with pytest.raises(ValueError, match="one Ed25519 key or more"):
        sign_note("text\n", [])
    with pytest.raises(ValueError, match="one Ed25519 key or more"):
        sign_note("text\n", [signing_key("a", TEST1, COSIGNATURE)])
    with pytest.raises(NoteError):
        format_note("text\n", [NoteSignature("a b", b"1234", b"x")])


def test_trusted_keys_that_cannot_be_told_apart_are_misuse() -> None:
    twin = VerifierKey(FOO.name, FOO.id, FOO.type, signing_key("a", TEST1).verifier.public)
    with pytest.raises(ValueError, match="two different keys") as caught:
        open_note(FOO_NOTE, [FOO, twin])
    assert not isinstance(caught.value, LedgerError)
    assert open_note(FOO_NOTE, [FOO, FOO]).verified


# Keys


def test_the_keys_of_the_small_log() -> None:
    assert str(LOG.verifier) == VKEY
    assert parse_vkey(VKEY) == LOG.verifier
    assert format_skey(LOG) == SKEY
    assert (LOG.name, LOG.type, LOG.verifier.id.hex()) == (ORIGIN, ED25519, "33d7b496")
    assert repr(LOG) == "SigningKey(name='example.com/log/testdata', type=1)"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2", COSIGNATURE),
        ("TEST+7997405c+AQcC+FTVKf0jlTdHDY3rbevmnKxxPjigCXlVtGe6RIr6", ED25519),
        ("witness.example/w1+eb762cc2+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea", COSIGNATURE),
    ],
)
def test_other_people_s_keys(text: str, type_: int) -> None:
    key = parse_vkey(text)
    assert (str(key), key.type) == (text, type_)


def test_one_key_has_an_id_for_each_type() -> None:
    public = signing_key("witness.example/w1", TEST1).verifier.public
    assert key_id("witness.example/w1", COSIGNATURE, public).hex() == "eb762cc2"
    assert key_id("witness.example/w1", ED25519, public).hex() == "6d141fc1"


def vkey(name: str, hex_id: str, data: bytes) -> str:
    return f"{name}+{hex_id}+{b64encode(data).decode()}"


WEAK_KEYS = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "0200000000000000000000000000000000000000000000000000000000000000",
]


@pytest.mark.parametrize("type_", [ED25519, COSIGNATURE])
@pytest.mark.parametrize("weak", WEAK_KEYS)
def test_a_weak_public_key_is_refused(weak: str, type_: int) -> None:
    """Of small order, not canonical, not on the curve."""
    public = bytes.fromhex(weak)
    with pytest.raises(NoteError, match="not a sound Ed25519 public key"):
        parse_vkey(vkey("a", key_id("a", type_, public).hex(), bytes([type_]) + public))
    with pytest.raises(NoteError, match="not a sound Ed25519 public key"):
        verifier_key("a", public, type_)


MATERIAL = VKEY.split("+", 2)[2]
PUBLIC = b64decode(MATERIAL)[1:]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "++",
        "bananas.sigstore.dev+12344556",
        "rekor.sigstore.dev+12345678+THIS_IS_NOT_BASE64!",
        f"{ORIGIN}+NOT_A_NUMBER+{MATERIAL}",
        f"{ORIGIN}+00000000+{MATERIAL}",
        f"{ORIGIN}+33d7b497+{MATERIAL}",
        f"{ORIGIN}+33D7B496+{MATERIAL}",
        f"{ORIGIN}+033d7b496+{MATERIAL}",
        f"{ORIGIN}+33d7b49+{MATERIAL}",
        f"{ORIGIN}x+33d7b496+{MATERIAL}",
        f"{ORIGIN} +33d7b496+{MATERIAL}",
        f"+33d7b496+{MATERIAL}",
        f"{ORIGIN}+33d7b496+{MATERIAL}\n",
        f"{ORIGIN}+33d7b496+{MATERIAL}=",
        f"{ORIGIN}+33d7b496+",
        f"{ORIGIN}+33d7b496+AQ==",
        f"{ORIGIN}+33d7b496+{MATERIAL[:-4]}",
        vkey(ORIGIN, key_id(ORIGIN, ED25519, PUBLIC[:-1]).hex(), b"\x01" + PUBLIC[:-1]),
        vkey(ORIGIN, key_id(ORIGIN, ED25519, PUBLIC + b"\0").hex(), b"\x01" + PUBLIC + b"\0"),
        vkey(ORIGIN, "33d7b496", b"\x04" + PUBLIC),
        vkey(ORIGIN, "33d7b496", b"\x02" + PUBLIC),
        SKEY,
        "a\ud800" + VKEY,
    ],
)
def test_a_bad_vkey_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        parse_vkey(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        VKEY,
        "PRIVATE+KEY+",
        SKEY.replace("33d7b496", "33d7b497"),
        SKEY.replace("testdata", "testdate"),
        SKEY[:-4],
        SKEY + "AAAA",
        SKEY.replace("+Aey", "+Aux"),
        f"PRIVATE+KEY+{ORIGIN}+33d7b496+",
        f"PRIVATE+KEY+{ORIGIN}+33d7b496+BuymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg",
        SKEY.lower(),
        " " + SKEY,
    ],
)
def test_a_bad_skey_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(NoteError) as caught:
        parse_skey(text)
    assert "ZcJ8enZ5FY1Dz" not in str(caught.value)


def test_keys_of_other_types_are_read_and_verify_nothing() -> None:
    ecdsa = vkey("log", sha256(b"any SPKI").digest()[:4].hex(), b"\x02any SPKI")
    sth = vkey("log", "01020304", b"\x05" + bytes(32))
    unassigned = vkey("log", "0a0b0c0d", b"\xffexample\0key")
    keys = [parse_vkey(text) for text in (ecdsa, sth, unassigned)]
    assert [str(key) for key in keys] == [ecdsa, sth, unassigned]
    note = FOO_NOTE + b"".join(str(NoteSignature(key.name, key.id, b"whatever")).encode() for key in keys)
    opened = open_note(note, [FOO, *keys])
    assert (len(opened.verified), len(opened.unknown)) == (1, 3)
    with pytest.raises(NoteError, match="no trusted key"):
        open_note(note, keys)


def test_a_seed_has_32_bytes() -> None:
    for seed in (b"", TEST1[:-1], TEST1 + TEST1):
        with pytest.raises(NoteError, match="32 bytes"):
            signing_key("a", seed)
    with pytest.raises(NoteError, match="type 0x02"):
        signing_key("a", TEST1, 2)
    for name in ("", "a b", "a+b", "a\n", "a\u2003"):
        with pytest.raises(NoteError, match="not the name of a key"):
            signing_key(name, TEST1)


def test_a_malleable_signature_is_refused() -> None:
    """S + L signs the same message under the equations of RFC 8032 without its bound on S."""
    order = 2**252 + 27742317777372353535851937790883648493
    key = signing_key("a", TEST1)
    signature = parse_note(sign_note("text\n", [key]))[1][0].blob
    assert verify_ed25519(key.verifier.public, b"text\n", signature)
    s = int.from_bytes(signature[32:], "little") + order
    assert not verify_ed25519(key.verifier.public, b"text\n", signature[:32] + s.to_bytes(32, "little"))
    for wrong in (b"", signature[:-1], signature + b"\0", bytes(64)):
        assert not verify_ed25519(key.verifier.public, b"text\n", wrong)


# Checkpoints


@pytest.mark.parametrize("size", SMALL_LOG)
def test_the_checkpoints_of_the_small_log(size: int) -> None:
    checkpoint = Checkpoint(ORIGIN, size, b64decode(SMALL_LOG[size][0]))
    assert sign_checkpoint(checkpoint, [LOG]) == small_log(size)
    opened, note = open_checkpoint(small_log(size), [LOG.verifier], ORIGIN)
    assert opened == checkpoint
    assert len(note.verified) == 1


WITNESS_LOG_KEY = bytes.fromhex("ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f")
WITNESS_LOG = {
    1: (
        "KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=",
    ),
    3: (
        "RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=",
        "UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=",
    ),
    5: (
        "QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=",
        "UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=",
    ),
}


@pytest.mark.parametrize("size", WITNESS_LOG)
def test_the_checkpoints_of_the_witness_conversation(size: int) -> None:
    root, signature = WITNESS_LOG[size]
    key = verifier_key(SIGSUM, WITNESS_LOG_KEY)
    assert key.id.hex() == "5202289b"
    note = f"{SIGSUM}\n{size}\n{root}\n\n— {SIGSUM} {signature}\n".encode()
    assert open_checkpoint(note, [key], SIGSUM)[0] == Checkpoint(SIGSUM, size, b64decode(root))
    bad = f"{SIGSUM}\n{size}\n{root}\n\n— {SIGSUM} {WITNESS_LOG[4 - size if size < 5 else 1][1]}\n".encode()
    with pytest.raises(NoteError, match="is wrong"):
        open_checkpoint(bad, [key], SIGSUM)
    with pytest.raises(NoteError, match="signature lines"):
        open_checkpoint(note.split(b"\xe2\x80\x94")[0], [key], SIGSUM)


ROOT1 = SMALL_LOG[1][0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        f"{ORIGIN}\n",
        f"{ORIGIN}\n1\n",
        f"{ORIGIN}\n1\n{ROOT1}",
        f"\n1\n{ROOT1}\n",
        f"{ORIGIN}\n\n{ROOT1}\n",
        f"{ORIGIN}\n01\n{ROOT1}\n",
        f"{ORIGIN}\n00\n{ROOT1}\n",
        f"{ORIGIN}\n+1\n{ROOT1}\n",
        f"{ORIGIN}\n-1\n{ROOT1}\n",
        f"{ORIGIN}\n 1\n{ROOT1}\n",
        f"{ORIGIN}\n1 \n{ROOT1}\n",
        f"{ORIGIN}\n0x1\n{ROOT1}\n",
        f"{ORIGIN}\nfive\n{ROOT1}\n",
        f"{ORIGIN}\n1_0\n{ROOT1}\n",
        f"{ORIGIN}\n\u0661\n{ROOT1}\n",
        f"{ORIGIN}\n9223372036854775808\n{ROOT1}\n",
        f"{ORIGIN}\n{'9' * 5000}\n{ROOT1}\n",
        f"{ORIGIN}\n1\n\n",
        f"{ORIGIN}\n1\n{ROOT1[:-1]}\n",
        f"{ORIGIN}\n1\n{ROOT1}=\n",
        f"{ORIGIN}\n1\n{ROOT1} \n",
        f"{ORIGIN}\n1\n{b64encode(bytes(31)).decode()}\n",
        f"{ORIGIN}\n1\n{b64encode(bytes(33)).decode()}\n",
        f"{ORIGIN}\n1\n{b64encode(bytes(64)).decode()}\n",
        f"{ORIGIN}\n1\n{'A' * 42}B=\n",
        f"{ORIGIN}\n1\n{'-' * 43}=\n",
        f"{ORIGIN}\n1\n{ROOT1}\n\n",
        f"{ORIGIN}\n1\n{ROOT1}\nextension\n\n",
        f"{ORIGIN}\n1\n{ROOT1}\n\nextension\n",
        f"{ORIGIN}\n0\n{ROOT1}\n",
        f"{ORIGIN}\n0\n{b64encode(bytes(32)).decode()}\n",
    ],
)
def test_a_malformed_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        parse_checkpoint(text)
    if text.endswith("\n") and text:
        with pytest.raises(NoteError):
            open_checkpoint(sign_note(text, [LOG]), [LOG.verifier], ORIGIN)


def test_extension_lines_are_surfaced() -> None:
    text = f"{ORIGIN}\n1\n{ROOT1}\nfirst\nsecond +x\n"
    checkpoint = parse_checkpoint(text)
    assert checkpoint.extensions == ("first", "second +x")
    assert format_checkpoint(checkpoint) == text


def test_a_checkpoint_that_no_one_could_read_is_not_written() -> None:
    root = bytes(32)
    for wrong in (
        Checkpoint("", 1, root),
        Checkpoint("a\n5", 1, root),
        Checkpoint("a", -1, root),
        Checkpoint("a", 2**63, root),
        Checkpoint("a", 0, root),
        Checkpoint("a", 1, root[:-1]),
        Checkpoint("a", 1, root, ("",)),
        Checkpoint("a", 1, root, ("x\ny",)),
    ):
        with pytest.raises(NoteError):
            format_checkpoint(wrong)
    assert parse_checkpoint(format_checkpoint(Checkpoint("a", 0, EMPTY_ROOT))).root == EMPTY_ROOT


def test_a_checkpoint_is_of_the_log_that_was_asked_for() -> None:
    with pytest.raises(NoteError, match="is of the log"):
        open_checkpoint(small_log(1), [LOG.verifier], "example.com/log")
    # A key of another name, trusted for its own log, signs a checkpoint in this log's name.
    stranger = signing_key("example.com/stranger", TEST1)
    forged = sign_note(f"{ORIGIN}\n1\n{ROOT1}\n", [stranger])
    with pytest.raises(NoteError, match="no trusted key of the log"):
        open_checkpoint(forged, [LOG.verifier, stranger.verifier], ORIGIN)
    # Nor does it help that the 4 bytes of its key ID are those of the log's key.
    twin = VerifierKey(stranger.name, LOG.verifier.id, ED25519, stranger.verifier.public)
    text, [signature] = parse_note(forged)
    forged = format_note(text, [NoteSignature(twin.name, twin.id, signature.blob)])
    with pytest.raises(NoteError, match="no trusted key of the log"):
        open_checkpoint(forged, [LOG.verifier, twin], ORIGIN)
    with pytest.raises(ValueError, match="keys of that name"):
        sign_checkpoint(Checkpoint(ORIGIN, 1, b64decode(ROOT1)), [LOG, stranger])
    with pytest.raises(ValueError, match="one Ed25519 key or more"):
        sign_checkpoint(Checkpoint(ORIGIN, 1, b64decode(ROOT1)), [])


def test_old_and_new_key_sign_while_keys_are_changed() -> None:
    new = signing_key(ORIGIN, TEST1)
    checkpoint = Checkpoint(ORIGIN, 15, b64decode(SMALL_LOG[15][0]))
    note = sign_checkpoint(checkpoint, [LOG, new])
    for keys, verified in (([LOG.verifier], 1), ([new.verifier], 1), ([LOG.verifier, new.verifier], 2)):
        opened, signatures = open_checkpoint(note, keys, ORIGIN)
        assert (opened, len(signatures.verified)) == (checkpoint, verified)


# Cosignatures


def test_a_real_cosignature() -> None:
    note = open_note(WITNESSED, [WITNESS])
    assert cosignature_time(note.verified[0]) == 1_767_139_200
    assert parse_checkpoint(note.text).size == 300
    origin = sha256(b"rome2026h1.example.org").hexdigest()
    assert origin == "000de184301123b9278c086a7d9f68c9577e83872224c197058fd90784ea9706"


def test_a_cosignature_alone_does_not_make_a_checkpoint() -> None:
    with pytest.raises(NoteError, match="no trusted key of the log"):
        open_checkpoint(WITNESSED, [WITNESS], "rome2026h1.example.org")
    # Not even that of a cosigner who is called like the log.
    twin = signing_key(ORIGIN, TEST1, COSIGNATURE)
    text = f"{ORIGIN}\n1\n{ROOT1}\n"
    with pytest.raises(NoteError, match="no trusted key of the log"):
        open_checkpoint(format_note(text, [cosign(text, twin, 1)]), [twin.verifier, LOG.verifier], ORIGIN)


def test_the_cosignature_of_the_small_log() -> None:
    key = signing_key("witness.example/w1", TEST1, COSIGNATURE)
    assert str(key.verifier) == "witness.example/w1+eb762cc2+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"
    assert parse_skey(format_skey(key)) == key
    text, signatures = parse_note(small_log(15))
    cosignature = cosign(text, key, 1_700_000_000)
    assert str(cosignature) == (
        "— witness.example/w1 63YswgAAAABlU/EA4v0cV4DQ6bp095Uz5hMt/nfebMX5+KeD1CrNI87b04aHkKdYlIPYnhU+"
        "N0K6Tz705UQmG5iE+ZnLsKeZy2ZvBw==\n"
    )
    note = format_note(text, [*signatures, cosignature])
    assert note == small_log(15) + str(cosignature).encode()
    checkpoint, opened = open_checkpoint(note, [LOG.verifier, key.verifier], ORIGIN)
    assert (checkpoint.size, opened.verified) == (15, (*signatures, cosignature))
    assert open_checkpoint(note, [LOG.verifier], ORIGIN)[1].unknown == (cosignature,)


def test_a_cosignature_binds_its_time_and_its_text() -> None:
    key = signing_key("w", TEST1, COSIGNATURE)
    right = cosign("text\n", key, 1_700_000_000)
    moved = NoteSignature(right.name, right.id, (1_700_000_001).to_bytes(8, "big") + right.blob[8:])
    for text, signature in (("text\n", moved), ("test\n", right)):
        with pytest.raises(NoteError, match="is wrong"):
            open_note(format_note(text, [signature]), [key.verifier])
    for blob in (right.blob[8:], right.blob[:-1], right.blob + b"\0", b"x"):
        with pytest.raises(NoteError, match="is wrong"):
            open_note(format_note("text\n", [NoteSignature(right.name, right.id, blob)]), [key.verifier])


def test_types_of_signature_are_not_confused() -> None:
    plain, timed = signing_key("w", TEST1), signing_key("w", TEST1, COSIGNATURE)
    cosignature = cosign("text\n", timed, 5)
    note = format_note("text\n", [cosignature])
    with pytest.raises(NoteError, match="no trusted key"):
        open_note(note, [plain.verifier])
    renamed = format_note("text\n", [NoteSignature("w", plain.verifier.id, cosignature.blob)])
    with pytest.raises(NoteError, match="is wrong"):
        open_note(renamed, [plain.verifier])
    with pytest.raises(ValueError, match="doesn't cosign"):
        cosign("text\n", plain, 5)


def test_the_time_of_a_cosignature() -> None:
    line = (
        "— w ZGhGuQAAAABm/qTPeyKXD+R2rzyQsxPiP8mXum7qq/iF0u4vanlqJyocWODBt97w9uL+8qT7S5gxEHWWOworDcFiEBYJ"
        "XORmnFBOBA=="
    )
    assert cosignature_time(parse_signature(line)) == 1_727_964_367
    plain = "— w eQjRQm6eSKzFoiYalgwCPXu2y3ijtg68is9M46JKxuZB+dRfTmeQeDBoXnvxZx2ugnkyV+MUMLXpWs1hPb/W/4xkNQY="
    with pytest.raises(NoteError, match="isn't a cosignature"):
        cosignature_time(parse_signature(plain))
    with pytest.raises(NoteError, match="base64"):
        parse_signature("— w 5%/$!")
