"""The envelope's bytes: one way to write each, and no other way is read (SPEC §3.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.errors import EnvelopeError
from braid.ledger.record.envelope import SignedPayload, unwrap, wrap

SIGNATURE = bytes(range(64))


@given(st.binary(max_size=300), st.binary(min_size=64, max_size=64))
def test_what_is_wrapped_is_cut_out_again(payload: bytes, signature: bytes) -> None:
    assert unwrap(wrap(payload, signature)) == SignedPayload(payload, signature)


@given(st.binary(min_size=1, max_size=60), st.data())
def test_other_bytes_are_refused_or_say_something_else(payload: bytes, data: st.DataObject) -> None:
    stored = wrap(payload, SIGNATURE)
    at = data.draw(st.integers(0, len(stored) - 1))
    changed = stored[:at] + data.draw(st.binary(max_size=3)) + stored[at + 1 :]
    if changed == stored:
        return
    try:
        found = unwrap(changed)
    except EnvelopeError:
        return
    assert wrap(*found) == changed


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b"AAAA", b"AAAA===="),
        (b"AAAA", b"AAAA="),
        (b"AA==", b"AB=="),
        (b"AAA=", b"AAB="),
        (b"AAAA", b"AAAA\n"),
        (b"AAAA", b" AAAA"),
        (b"AAAA", b"AA==AAAA"),
        (b"+/AA", b"-_AA"),
        (b"AAAA", b"AAA"),
    ],
)
def test_base64_is_canonical(good: bytes, bad: bytes) -> None:
    stored = wrap(b"", SIGNATURE).replace(b'{"payload":""', b'{"payload":"' + good + b'"')
    unwrap(stored)
    with pytest.raises(EnvelopeError, match="base64"):
        unwrap(stored.replace(b'{"payload":"' + good, b'{"payload":"' + bad))
