"""Sealed media: sizes, what is refused, and what dying leaves (SPEC §4.5)."""

import errno
import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nacl import bindings as sodium

from braid.ledger.crypto.seal import padme
from braid.ledger.errors import BlobCorruptError, BlobError, BlobMissingError, LedgerError
from braid.ledger.read.blobs import CONTENT_BYTES, BlobRef, BlobStore
from braid.wal import failpoint

SEALED_CHUNK = 65_536 + 17


class DeathError(BaseException):
    """Stands for the process dying: nothing of ours catches it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the blobs lie."""
    return tmp_path / "blobs"


@pytest.fixture
def store(folder: Path) -> BlobStore:
    """Return an empty store of blobs."""
    return BlobStore(folder)


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


def die_at(name: str) -> Callable[[str], None]:
    """Return a hook that dies at the named point."""

    def hook(passed: str) -> None:
        if passed == name:
            raise DeathError

    return hook


def content_of(size: int) -> bytes:
    """Return bytes that repeat at no chunk's length."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def files(folder: Path) -> list[Path]:
    """Return every file below the folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def put_raw(store: BlobStore, raw: bytes, key: bytes) -> BlobRef:
    """Store any bytes under their right name, as a faulty or hostile holder of the key could."""
    ref = BlobRef(hashlib.sha256(raw).hexdigest(), len(raw), key)
    store.path(ref.sha256).parent.mkdir(exist_ok=True)
    store.path(ref.sha256).write_bytes(raw)
    return ref


def seal_chunks(chunks: list[tuple[bytes, bool]], key: bytes) -> bytes:
    """Seal plain chunks as they are given, each with its mark of being the last."""
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    out = [sodium.crypto_secretstream_xchacha20poly1305_init_push(state, key)]
    for plain, last in chunks:
        out.append(sodium.crypto_secretstream_xchacha20poly1305_push(state, plain, None, 3 if last else 0))
    return b"".join(out)


class Dribble:
    """A stream that gives less than it is asked for."""

    def __init__(self, content: bytes) -> None:
        self._inner = io.BytesIO(content)

    def read(self, size: int, /) -> bytes:
        """Return at most 1,000 bytes."""
        return self._inner.read(min(size, 1000))


SIZES = [0, 1, 251, 252, 253, 65_531, 65_532, 65_533, 131_063, 131_064, 131_065, 17 * 65_532, 17 * 65_532 + 1]


@pytest.mark.parametrize("size", SIZES)
def test_round_trip_and_padded_size_at_every_edge(store: BlobStore, size: int) -> None:
    content = content_of(size)
    ref = store.put(content)
    chunks = max(1, -(-size // CONTENT_BYTES))
    plain = padme(size + 4 * chunks)
    assert ref.size == 24 + plain + 17 * -(-plain // 65_536)
    given = list(store.open(ref))
    assert b"".join(given) == content
    assert all(0 < len(part) <= CONTENT_BYTES for part in given)
    raw = store.path(ref.sha256).read_bytes()
    assert (hashlib.sha256(raw).hexdigest(), len(raw)) == (ref.sha256, ref.size)
    assert store.verify(ref.sha256, ref.size) == "whole"


def test_streams_may_give_less_than_asked(store: BlobStore) -> None:
    content = content_of(200_000)
    assert b"".join(store.open(store.put(Dribble(content)))) == content


def test_content_of_zeros_is_not_taken_for_padding(store: BlobStore) -> None:
    for size in (10, 65_532, 200_000):
        assert b"".join(store.open(store.put(bytes(size)))) == bytes(size)


def test_each_blob_has_a_key_and_a_name_of_its_own(store: BlobStore, folder: Path) -> None:
    one, two = store.put(b"same"), store.put(b"same")
    assert one.key != two.key
    assert one.sha256 != two.sha256
    assert files(folder) == sorted(folder / ref.sha256[:2] / ref.sha256[2:] for ref in (one, two))


def test_files_and_folders_are_private(store: BlobStore, folder: Path) -> None:
    ref = store.put(b"media")
    path = store.path(ref.sha256)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(place.stat().st_mode) for place in (path.parent, folder)} == {0o700}


def test_every_flipped_bit_is_refused_before_a_byte_is_given(store: BlobStore) -> None:
    ref = store.put(b"media")
    path = store.path(ref.sha256)
    raw = path.read_bytes()
    for bit in range(len(raw) * 8):
        altered = bytearray(raw)
        altered[bit // 8] ^= 1 << bit % 8
        path.write_bytes(altered)
        with pytest.raises(BlobCorruptError, match="wrong digest"):
            next(store.open(ref))
        assert store.verify(ref.sha256, ref.size) == "wrong digest"


def test_truncation_extension_and_reordering_are_refused(store: BlobStore) -> None:
    ref = store.put(content_of(300_000))
    path = store.path(ref.sha256)
    raw = path.read_bytes()
    first, second = raw[24 : 24 + SEALED_CHUNK], raw[24 + SEALED_CHUNK : 24 + 2 * SEALED_CHUNK]
    swapped = raw[:24] + second + first + raw[24 + 2 * SEALED_CHUNK :]
    cuts = [raw[:size] for size in (0, 23, 24, 100, 24 + SEALED_CHUNK, len(raw) - 1)]
    for altered in [*cuts, raw + b"\0", swapped]:
        path.write_bytes(altered)
        expected = "wrong digest" if len(altered) == len(raw) else "wrong size"
        assert store.verify(ref.sha256, ref.size) == expected
        with pytest.raises(BlobCorruptError, match=expected):
            next(store.open(ref))


def test_the_tags_refuse_what_the_digest_was_made_to_allow(store: BlobStore) -> None:
    ref = store.put(content_of(300_000))
    raw = store.path(ref.sha256).read_bytes()
    first, second = raw[24 : 24 + SEALED_CHUNK], raw[24 + SEALED_CHUNK : 24 + 2 * SEALED_CHUNK]
    rest = raw[24 + 2 * SEALED_CHUNK :]
    altered = [
        raw[:24] + second + first + rest,
        raw[:24] + first + rest,
        raw[: 24 + SEALED_CHUNK],
        raw[:20],
        b"",
        raw + b"\0",
        raw + first,
    ]
    for each in altered:
        with pytest.raises(BlobCorruptError, match="does not open"):
            list(store.open(put_raw(store, each, ref.key)))
    full = store.put(content_of(CONTENT_BYTES))  # one whole chunk: what follows is no part of it
    with pytest.raises(BlobCorruptError, match="bytes follow its last chunk"):
        list(store.open(put_raw(store, store.path(full.sha256).read_bytes() + b"\0", full.key)))


def test_another_key_opens_nothing(store: BlobStore) -> None:
    ref = store.put(b"media")
    with pytest.raises(BlobCorruptError, match="does not open under this key"):
        next(store.open(BlobRef(ref.sha256, ref.size, bytes(32))))
    with pytest.raises(BlobCorruptError, match="does not open under this key"):
        next(store.open(BlobRef(ref.sha256, ref.size, b"short")))


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([(b"\x02\0\0\0hi" + bytes(249) + b"\x01", True)], "length or padding"),
        ([(b"\xff\0\0\0" + bytes(252), True)], "length or padding"),
        ([(b"\x02\0", True)], "length or padding"),
        ([(b"\x02\0\0\0hi" + bytes(251), True)], "wrong length"),
        ([(b"\x02\0\0\0hi" + bytes(65_530), False), (bytes(256), True)], "wrong length"),
        ([(b"\x02\0\0\0hi" + bytes(65_530), False), (b"\x02\0\0\0hi" + bytes(250), True)], "not zero"),
    ],
)
def test_what_put_would_not_have_written_is_refused(
    store: BlobStore, chunks: list[tuple[bytes, bool]], reason: str
) -> None:
    key = bytes(range(32))
    with pytest.raises(BlobCorruptError, match=reason):
        list(store.open(put_raw(store, seal_chunks(chunks, key), key)))


def test_a_missing_blob_is_its_own_refusal(store: BlobStore) -> None:
    name = "ab" * 32
    assert store.verify(name, 1) == "missing"
    with pytest.raises(BlobMissingError, match=f"^blob {name}: ") as refusal:
        next(store.open(BlobRef(name, 297, bytes(32))))
    assert isinstance(refusal.value, BlobError)
    assert isinstance(refusal.value, LedgerError)


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "AB" * 32, "ab" * 31, "ab" * 32 + "\n", "ab/" + "c" * 61]
)
def test_names_that_are_no_digest_never_reach_the_disk(store: BlobStore, name: str) -> None:
    with pytest.raises(ValueError, match="64 lower-case hex"):
        store.erase(name)
    with pytest.raises(ValueError, match="64 lower-case hex"):
        store.verify(name, 1)
    with pytest.raises(ValueError, match="64 lower-case hex"):
        next(store.open(BlobRef(name, 1, bytes(32))))


def test_erasing_overwrites_unlinks_and_may_be_repeated(store: BlobStore, folder: Path) -> None:
    ref, other = store.put(b"media"), store.put(b"other")
    seen: list[bytes] = []
    failpoint.arm(
        lambda name: seen.append(store.path(ref.sha256).read_bytes()) if name == "blob.zeroed" else None
    )
    assert store.erase(ref.sha256)
    failpoint.arm(None)
    assert seen == [bytes(ref.size)]
    assert not store.erase(ref.sha256)
    assert not store.erase("ab" * 32)
    assert files(folder) == [store.path(other.sha256)]
    assert store.verify(ref.sha256, ref.size) == "missing"


@pytest.mark.parametrize("point", ["blob.wipe", "blob.zeroed", "blob.erased"])
def test_dying_while_erasing_is_finished_by_erasing_again(store: BlobStore, folder: Path, point: str) -> None:
    ref = store.put(b"media")
    failpoint.arm(die_at(point))
    with pytest.raises(DeathError):
        store.erase(ref.sha256)
    failpoint.arm(None)
    again = BlobStore(folder)
    assert (
        again.verify(ref.sha256, ref.size)
        == {
            "blob.wipe": "whole",
            "blob.zeroed": "wrong digest",
            "blob.erased": "missing",
        }[point]
    )
    again.erase(ref.sha256)
    assert files(folder) == []


@pytest.mark.parametrize("point", ["blob.write", "blob.write.done", "blob.written", "blob.renamed"])
def test_dying_while_putting_leaves_a_whole_blob_or_a_leftover_that_opening_removes(
    store: BlobStore, folder: Path, point: str
) -> None:
    failpoint.arm(die_at(point))
    with pytest.raises(DeathError):
        store.put(b"media")
    failpoint.arm(None)
    (left,) = files(folder)
    BlobStore(folder, writable=False)
    assert files(folder) == [left]
    BlobStore(folder)
    if point == "blob.renamed":
        assert store.verify(left.parent.name + left.name, left.stat().st_size) == "whole"
    else:
        assert files(folder) == []


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_a_full_or_failing_disk_leaves_nothing(
    store: BlobStore, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(OSError, match="No space left"):
            store.put(b"media")
    assert files(folder) == []


def test_a_stream_that_fails_leaves_nothing(store: BlobStore, folder: Path) -> None:
    class Broken:
        def read(self, size: int, /) -> bytes:
            raise ConnectionError(f"gone before {size} bytes")

    with pytest.raises(ConnectionError):
        store.put(Broken())
    assert files(folder) == []


def test_a_reader_makes_no_folder(folder: Path) -> None:
    BlobStore(folder, writable=False)
    assert not folder.exists()


def test_nothing_prints_a_key() -> None:
    ref = BlobRef("ab" * 32, 297, b"\xee" * 32)
    assert f"{ref} {ref!r}".count("ee") == 0
    assert repr(ref) == f"BlobRef({'ab' * 32}, 297 bytes)"
