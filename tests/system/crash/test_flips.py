"""Every bit of a small store's log, tiles, checkpoint, guard and vault: none can change and be accepted in silence.

In CI one seeded bit of each byte of the log is flipped, every bit of what is smaller; BRAID_TORTURE=1 flips all.
"""

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import GuardError, LedgerError, NoteError, StoreFormatError, TileError, VaultError
from braid.ledger.keys.vault import Vault
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import (
    KINDS,
    AffectBody,
    Body,
    Candidate,
    Content,
    Decision,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    Signature,
    StanceBody,
    ViewBody,
)
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal.errors import CorruptLogError, WalError

ALL_BITS = bool(os.environ.get("BRAID_TORTURE"))
SEED = 7
Finding = tuple[str, bytes, bytes]
"""Id, stored envelope, unsealed body (empty for an erased one)."""


def everything(store: Path) -> list[Finding]:
    """Open the store as a stranger would and read all of it, each record in both ways."""
    with closing(Reader(store)) as reader:
        return read_all(reader)


def read_all(reader: Reader) -> list[Finding]:
    """Read all records through the batches of a replay, and each by its index."""
    found: list[Finding] = [
        (entry.record.id, reader.stored_envelope(entry.record.index), entry.record.raw or b"")
        for batch in reader.entries()
        for entry in batch
    ]
    for index, (id, _, raw) in enumerate(found):
        if index not in reader.control.erased:
            record = reader.at(index, include_forgotten=True)
            assert (record.id, record.raw) == (id, raw)
    return found


def refusal_of(work: Callable[[], object]) -> str | None:
    """Return what the store says in refusing, None when it doesn't refuse; any other error is one."""
    try:
        work()
    except (LedgerError, WalError) as error:
        return str(error)
    return None


def build(store: Path) -> None:
    """Write a store of all kinds, one erased record among them, and close it cleanly."""

    def memory(text: str, *links: tuple[str, str], type: str = "occurrence") -> Draft:
        return Draft(
            kind="experience", type=type, body=ExperienceBody(content=Content(text=text)), links=links
        )

    create_store(store, now=datetime.now(UTC))
    with closing(Writer(store)) as writer:
        one, two = (placed.id for placed in writer.append([memory("the first"), memory("the second")]))
        three = writer.append([memory("a third", ("parent", one), type="inference")])[0].id
        writer.append(
            [
                Draft(kind="view", body=ViewBody(lens="plain"), links=[("applied_to", one)]),
                Draft(
                    kind="stance",
                    body=StanceBody(
                        question="is it?",
                        candidates=[Candidate(claim="yes", p=0.75)],
                        decision=Decision(claim="yes", residual_uncertainty=0.25),
                    ),
                    links=[("candidate", three)],
                ),
                Draft(
                    kind="affect",
                    body=AffectBody(actor="user", stage="input", valence=0.5, arousal=0.25, dominance=0),
                    links=[("experience", one)],
                ),
                Draft(
                    kind="embedding",
                    body=EmbeddingBody(signatures=[Signature(role="content", model="m")]),
                    links=[("experience", one)],
                ),
                Draft(kind="event", body=EventBody(name="review")),
            ]
        )
        erasure.forget(writer, [three])
        erasure.erase(writer, cascades.plan(writer, [writer.index_of(two)]), list)
        writer.append([memory("the last")])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a small store, built once; every test leaves it as it was."""
    path = tmp_path_factory.mktemp("flips") / "memory"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(path.parent / "guard"))
        build(path)
        yield path


@pytest.fixture(autouse=True)
def guarded(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for the guard beside the store, not in each test's own surroundings."""
    monkeypatch.setenv("BRAID_GUARD_DIR", str(store.parent / "guard"))


@contextmanager
def flipped(path: Path) -> Iterator[Callable[[int], None]]:
    """Yield what flips the n-th bit of a file, its last flip undone; at the end the file is as it was."""
    whole = path.read_bytes()
    fd = os.open(path, os.O_WRONLY)
    place = 0

    def flip(bit: int) -> None:
        nonlocal place
        os.pwrite(fd, whole[place : place + 1], place)
        place = bit // 8
        os.pwrite(fd, bytes([whole[place] ^ 1 << bit % 8]), place)

    try:
        yield flip
    finally:
        os.pwrite(fd, whole[place : place + 1], place)
        os.close(fd)
        assert path.read_bytes() == whole


def every_bit(path: Path) -> Iterable[int]:
    """Return the numbers of all bits of a file."""
    return range(8 * path.stat().st_size)


def one_bit_a_byte(path: Path) -> Iterable[int]:
    """Return one bit of each byte, always the same ones; all of them under BRAID_TORTURE."""
    if ALL_BITS:
        return every_bit(path)
    chance = random.Random(SEED)
    return [8 * byte + chance.randrange(8) for byte in range(path.stat().st_size)]


def test_the_store_is_whole_and_holds_every_kind(store: Path) -> None:
    with closing(Reader(store)) as reader:
        kinds = {entry.record.kind for batch in reader.entries() for entry in batch}
        assert kinds == set(KINDS)
        assert reader.size == reader.published.size < 20
        assert reader.control.erased
        assert reader.control.hidden


@pytest.mark.soak(first=True)
@pytest.mark.timeout(3600)
def test_no_bit_of_the_log_can_change_unseen(store: Path) -> None:
    """A reader that is open reads all again for each flip; where it sees nothing, a new one must refuse to open."""
    (segment,) = (store / "log").glob("*.seg")
    truth = everything(store)
    unseen: list[int] = []
    with closing(Reader(store)) as reader, flipped(segment) as flip:
        blanked = set(blanked_bytes(reader))
        for bit in one_bit_a_byte(segment):
            flip(bit)
            refusal = refusal_of(lambda: list(reader.entries()))
            if refusal is None:
                unseen.append(bit)
            else:
                assert segment.name in refusal or any(id in refusal for id, _, _ in truth)
        for bit in unseen:
            flip(bit)
            if bit // 8 not in blanked:
                with pytest.raises((LedgerError, WalError), match=re.escape(segment.name)):
                    everything(store)
    assert {bit // 8 for bit in unseen} == blanked | set(range(64))


def blanked_bytes(reader: Reader) -> Iterator[int]:
    """Yield the places of blanked bodies: their bytes mean nothing, and nothing reads them."""
    for index in reader.control.erased:
        _, extent = reader.log.locate(index)
        yield from range(extent.body_at, extent.body_at + extent.body_len)


@pytest.mark.soak
def test_opening_anew_refuses_too_and_never_cuts(store: Path) -> None:
    """A flip in what a head covers is no torn tail: neither a reader nor a writer may go on with less."""
    (segment,) = (store / "log").glob("*.seg")
    with closing(Reader(store)) as reader:
        blanked = set(blanked_bytes(reader))
    before = segment.stat().st_size
    chance = random.Random(SEED)
    with flipped(segment) as flip:
        for byte in range(0, before, 1 if ALL_BITS else 23):
            if byte in blanked:
                continue
            flip(8 * byte + chance.randrange(8))
            with pytest.raises((LedgerError, WalError)):
                everything(store)
    refused = 0
    guard = Guard.of_store(load_settings(store).store_id).path
    for byte in range(before - 1100, before, 1 if ALL_BITS else 50):
        remembered = guard.read_bytes()
        with flipped(segment) as flip:
            flip(8 * byte)
            try:
                Writer(store).close()  # a body below the head is looked at when it is read
            except (LedgerError, WalError):
                refused += 1
            with pytest.raises((LedgerError, WalError)):
                everything(store)
        assert segment.stat().st_size == before
        assert guard.read_bytes() == remembered
    assert refused


@pytest.mark.soak(first=True)
def test_no_bit_of_the_tiles_can_change_unseen(store: Path) -> None:
    tiles = [path for path in (store / "tile").rglob("*") if path.is_file()]
    assert tiles
    for tile in tiles:
        with flipped(tile) as flip:
            for bit in every_bit(tile):
                flip(bit)
                with pytest.raises(TileError, match=re.escape(str(tile.relative_to(store)))):
                    Reader(store)


def test_no_bit_of_the_checkpoint_can_change_unseen(store: Path) -> None:
    with flipped(store / "checkpoint") as flip:
        for bit in every_bit(store / "checkpoint"):
            flip(bit)
            with pytest.raises(NoteError, match=re.escape(f"{store}/checkpoint")):
                Reader(store)


def test_no_bit_of_the_guard_can_change_unseen(store: Path) -> None:
    guard = Guard.of_store(load_settings(store).store_id).path
    with flipped(guard) as flip:
        for bit in every_bit(guard):
            flip(bit)
            with pytest.raises(GuardError, match=re.escape(str(guard))):
                Reader(store)


@pytest.mark.soak
def test_no_bit_of_the_vault_can_change_unseen(store: Path) -> None:
    vault = store / "vault"
    store_id = load_settings(store).store_id
    with flipped(vault) as flip:
        for bit in every_bit(vault):
            flip(bit)
            with pytest.raises(VaultError, match=re.escape(str(vault))):
                Vault.open(vault, store_id=store_id, writable=False)
        for bit in range(0, 8 * vault.stat().st_size, 1 if ALL_BITS else 97):
            flip(bit)
            with pytest.raises(VaultError, match=re.escape(str(vault))):
                Reader(store)


@pytest.mark.soak
def test_a_flip_in_the_derived_index_is_made_good_or_refused(store: Path) -> None:
    (index,) = (store / "log").glob("*.idx")
    truth = everything(store)
    refused = 0
    found: list[Finding] = []
    with flipped(index) as flip:
        for bit in one_bit_a_byte(index):
            flip(bit)
            refusal = refusal_of(lambda: found.extend(everything(store)))
            if refusal is None:
                assert found == truth
            else:
                refused += 1
                assert ".seg" in refusal
            found.clear()
    assert refused
    before = index.read_bytes()
    for harmed in (before[:-1], before[:24], b"", before + before[:24]):
        index.write_bytes(harmed)
        assert everything(store) == truth
    index.write_bytes(bytes(len(before)))
    with pytest.raises(LedgerError, match="the segment's index is wrong"):
        everything(store)
    index.write_bytes(before)


def test_no_bit_of_the_stores_identity_can_change_unseen(store: Path) -> None:
    path = store / "store.json"
    text = path.read_text()
    spans = [
        match.span()
        for name in ("format", "store_id", "origin")
        if (match := re.search(f'"{name}": .*,', text))
    ]
    assert len(spans) == 3
    with flipped(path) as flip:
        for start, end in spans:
            for bit in range(8 * start, 8 * end):
                if bit % 8 != 7:  # see below
                    flip(bit)
                    with pytest.raises((LedgerError, WalError)):
                        everything(store)


def test_settings_that_are_not_utf8_are_refused(store: Path) -> None:
    path = store / "store.json"
    with flipped(path) as flip:
        flip(8 * (path.read_text().index("braid.local") + 3) + 7)
        with pytest.raises(StoreFormatError, match=re.escape(str(path))):
            everything(store)


def test_no_hash_of_a_full_tile_can_change_unseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "guard"))
    store = tmp_path / "memory"
    create_store(store, now=datetime.now(UTC))
    with closing(Writer(store)) as writer:
        writer.append([Draft(kind="event", body=Body())] * 300)
    tile = store / "tile" / "0" / "000"
    chance = random.Random(SEED)
    with flipped(tile) as flip:
        for number in range(256):
            flip(8 * 32 * number + chance.randrange(256))
            with pytest.raises(TileError, match="tile/0/000"):
                Reader(store)
    everything(store)


def test_a_file_cut_short_or_emptied_is_refused_and_named(store: Path) -> None:
    (segment,) = (store / "log").glob("*.seg")
    guard = Guard.of_store(load_settings(store).store_id).path
    tile = next(path for path in (store / "tile").rglob("*") if path.is_file())
    chance = random.Random(SEED)
    for path in (segment, guard, tile, store / "checkpoint", store / "vault", store / "store.json"):
        whole = path.read_bytes()
        for length in {0, 1, len(whole) - 2, *(chance.randrange(len(whole) - 1) for _ in range(20))}:
            path.write_bytes(whole[:length])
            with pytest.raises((LedgerError, CorruptLogError), match=re.escape(path.name)):
                everything(store)
        path.write_bytes(whole)
    everything(store)
