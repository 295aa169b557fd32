"""Lineage: what is kept of it finds what reading the log finds, is never believed without its MAC, and only saves time
(SPEC §9.6).
"""

import errno
import os
import random
import shutil
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from blake3 import blake3
from msgspec import structs

from braid.ledger.erase import cascade
from braid.ledger.erase.erasure import erase
from braid.ledger.errors import IntegrityError
from braid.ledger.read import gathered as edges
from braid.ledger.read import lineage, spans
from braid.ledger.read import reader as reading
from braid.ledger.read.backlinks import Backlinks
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.idempotency import key_hash
from braid.ledger.read.lineage import Lineage
from braid.ledger.read.reader import Reader
from braid.ledger.read.spans import FOLDER, SPAN_BITS
from braid.ledger.record.envelope import DERIVATION_ROLES, LINK_ROLES, Envelope, Link, decode_payload
from braid.ledger.record.record import Content, Draft, EmbeddingBody, ExperienceBody, Signature, Target
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal import failpoint

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
SPAN = 16
RECORDS = 200
TEXT = ExperienceBody(content=Content(text="of a test"))


class Before(NamedTuple):
    """A draft that went earlier into the transaction."""

    place: int


@pytest.fixture(autouse=True)
def short_spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Spans of sixteen records; leave no failpoint armed behind."""
    monkeypatch.setattr(spans, "SPAN_BITS", 4)
    yield
    failpoint.arm(None)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose records rest on each other at random, across spans and within."""
    world = tmp_path_factory.mktemp("lineage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(world / "guard"))
        create_store(world / "memory", now=NOON)
        with closing(Writer(world / "memory")) as writer:
            _fill(writer)
    return world


@pytest.fixture
def store(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(template, tmp_path / "world")
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "world" / "guard"))
    return tmp_path / "world" / "memory"


def _fill(writer: Writer) -> None:
    dice = random.Random(3)
    blobs = BlobStore(writer.path / "blobs")
    pictures = [blobs.put(bytes([k]) * 40) for k in range(3)]
    first = writer.size
    while writer.size < first + RECORDS or writer.size % SPAN != SPAN // 2:
        drafts: list[Draft] = []
        for k in range(dice.choice((1, 1, 3, 40)) if writer.size < first + RECORDS else 1):
            earlier = range(max(first, writer.size - 60), writer.size)
            links: list[tuple[str, Target]] = [
                (dice.choice(("parent", "evidence", "supersedes")), writer.envelope(at).id)
                for at in dice.sample(earlier, min(len(earlier), dice.choice((0, 0, 1, 1, 2))))
            ]
            if k and dice.random() < 0.3:
                links.append(("parent", Before(k - 1)))
            picture = [dice.choice(pictures)] if dice.random() < 0.1 else []
            drafts.append(
                Draft(
                    kind="experience",
                    type="inference",
                    body=ExperienceBody(content=Content(text=f"{writer.size}.{k}")),
                    links=links,
                    blobs=[(one.sha256, one.size) for one in picture],
                )
            )
        ids = [placed.id for placed in writer.append(drafts)]
        if dice.random() < 0.1:
            said = [Signature(role="prompt_semantic", model="m@1") for _ in ids]
            links = [("experience", id) for id in ids]
            writer.append([Draft(kind="embedding", body=EmbeddingBody(signatures=said), links=links)])


def memories(reader: Reader) -> list[int]:
    return [envelope.index for envelope, _ in reader.envelopes() if envelope.kind == "experience"]


def by_reading(reader: Reader, targets: list[int], monkeypatch: pytest.MonkeyPatch) -> cascade.Cascade:
    """Plan by the log alone."""
    with monkeypatch.context() as patch:
        patch.setattr(Lineage, "at", lambda _self, _n: None)
        patch.setattr(Lineage, "keep", lambda *_: None)
        return cascade.plan(reader, targets)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Have every stretch of envelopes that is read through noted: where it begins and ends."""
    stretches: list[tuple[int, int]] = []
    read = Reader.envelopes

    def noted(self: Reader, start: int = 0, stop: int | None = None, **more: tuple[str, ...]) -> object:
        stretches.append((start, self.size if stop is None else stop))
        return read(self, start, stop, **more)

    monkeypatch.setattr(Reader, "envelopes", noted)
    return stretches


@pytest.mark.sample(2)
@pytest.mark.parametrize("dense", [256, 2, 0])
def test_it_finds_what_reading_the_log_finds(
    store: Path, monkeypatch: pytest.MonkeyPatch, dense: int
) -> None:
    monkeypatch.setattr(lineage, "DENSE", dense)
    dice = random.Random(5)
    with closing(Reader(store)) as reader:
        those = memories(reader)
        derived = 0
        for _ in range(40):
            targets = dice.sample(those, dice.choice((1, 1, 2, 5, 30)))
            expected = by_reading(reader, targets, monkeypatch)
            assert cascade.plan(reader, targets) == expected  # some spans kept by now, some not
            assert cascade.plan(reader, targets) == expected
            derived += len(expected.derived) + len(expected.kept)
        assert derived > 100  # there was something to find
        assert sorted(path.name for path in (store / FOLDER).iterdir()) == [
            f"{n:08d}" for n in range(reader.size // SPAN)
        ]


def test_what_was_read_once_is_not_read_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Reader(store)) as reader:
        target, size = memories(reader)[2], reader.size
        stretches = counted(monkeypatch)
        cascade.plan(reader, [target])
        assert stretches == [(0, size)]
        stretches.clear()
        cascade.plan(reader, [target])
        assert stretches == [(size - size % SPAN, size)]  # the last span is not whole yet


def test_media_go_with_their_last_record(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Writer(store)) as writer:
        holders: dict[str, list[int]] = {}
        for envelope, _ in writer.envelopes(members=("blobs",)):
            for name, _size in envelope.blobs:
                holders.setdefault(name, []).append(envelope.index)
        gone, left = list(holders)[:2]
        erased = [*holders[gone], *holders[left][:-1]]
        erase(writer, lambda: erased, list)
        targets = [index for index in writer.control.erased if index < writer.size]
        stretches = counted(monkeypatch)
        doomed = cascade.doomed_blobs(writer, targets)
        assert gone in doomed
        assert (left in doomed) == (holders[left][-1] in writer.control.erased)
        assert {start for start, _ in stretches} <= {writer.size - writer.size % SPAN}
        monkeypatch.setattr(Lineage, "at", lambda _self, _n: None)
        assert cascade.doomed_blobs(writer, targets) == doomed


def test_it_grows_with_the_log(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Writer(store)) as writer:
        target = memories(writer)[2]
        cascade.plan(writer, [target])
        before = writer.size
        _fill(writer)
        stretches = counted(monkeypatch)
        found = cascade.plan(writer, [target])
        assert stretches == [(before - before % SPAN, writer.size)]
        assert found == by_reading(writer, [target], monkeypatch)


def edits(data: bytes, other: bytes) -> Iterator[bytes]:
    yield from (data[:k] for k in (0, 8, 59, 60, len(data) - 33, len(data) - 1))
    yield data + b"\0"
    yield other
    for place in range(len(data)):
        yield data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_no_byte_of_it_is_believed_without_its_mac(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Reader(store)) as reader:
        target = memories(reader)[2]
        expected = cascade.plan(reader, [target])
        path = store / FOLDER / "00000002"
        data, other = path.read_bytes(), (store / FOLDER / "00000003").read_bytes()
        kept = Lineage(reader)
        assert kept.at(2) is not None
        for edited in edits(data, other):
            path.write_bytes(edited)
            assert kept.at(2) is None
        stretches = counted(monkeypatch)
        assert cascade.plan(reader, [target]) == expected
        assert stretches[0] == (2 * SPAN, 3 * SPAN)  # only what is not believed is read
        assert path.read_bytes() == data  # and made anew


def test_who_has_no_vault_can_leave_nothing_out(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the right form, for the right records, under another key: an erasure goes by the log."""
    with closing(Reader(store)) as reader:
        target = next(index for index in memories(reader) if by_reading(reader, [index], monkeypatch).derived)
        expected = cascade.plan(reader, [target])
        for path in (store / FOLDER).iterdir():
            head = bytearray(path.read_bytes()[:60])
            head[20:28] = bytes(8)  # no links, no blobs
            path.write_bytes(bytes(head) + blake3(bytes(head), key=bytes(32)).digest())
        assert cascade.plan(reader, [target]) == expected


def test_another_logs_is_not_believed_though_the_vault_is_the_same(store: Path, tmp_path: Path) -> None:
    """A store that was restored and went on otherwise has the same key, and other records behind the fork."""
    with closing(Reader(store)) as reader:
        behind = reader.size
    shutil.copytree(store.parent, tmp_path / "fork")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(tmp_path / "fork" / "guard"))
        with closing(Writer(tmp_path / "fork" / "memory")) as writer:
            _fill(writer)
            cascade.plan(writer, memories(writer)[:1])
    with closing(Writer(store)) as writer:
        _fill(writer)
        n = behind // SPAN + 1
        (store / FOLDER).mkdir(parents=True)
        shutil.copy(tmp_path / "fork" / "memory" / FOLDER / f"{n:08d}", store / FOLDER)
        assert Lineage(writer).at(n) is None


def full(_name: str) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_costs_time_only(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Reader(store)) as reader:
        target = memories(reader)[2]
        expected = by_reading(reader, [target], monkeypatch)
        failpoint.arm(lambda name: full(name) if name == "lineage.write" else None)
        assert cascade.plan(reader, [target]) == expected
        assert list((store / FOLDER).iterdir()) == []


def test_without_a_vault_nothing_is_kept(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store / "vault").unlink()
    with closing(Reader(store)) as reader:
        target = memories(reader)[2]
        assert cascade.plan(reader, [target]) == by_reading(reader, [target], monkeypatch)
    assert not (store / FOLDER).exists()


def test_a_span_of_too_many_edges_is_read_each_time(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges, "MOST_EDGES", 9)
    with closing(Reader(store)) as reader:
        target = memories(reader)[2]
        expected = by_reading(reader, [target], monkeypatch)
        assert cascade.plan(reader, [target]) == expected
        kept = len(list((store / FOLDER).iterdir()))
        assert 0 < kept < reader.size // SPAN
        assert cascade.plan(reader, [target]) == expected


def test_a_chain_within_a_span_is_not_read_link_by_link(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One record of the span leads on to all the others: beyond DENSE they are read in one go."""
    monkeypatch.setattr(lineage, "DENSE", 4)
    with closing(Writer(store)) as writer:
        ids = [memories(writer)[-1]]
        for _ in range(3 * SPAN):
            links: list[tuple[str, Target]] = [("parent", writer.envelope(ids[-1]).id)]
            ids.append(
                writer.append([Draft(kind="experience", type="inference", body=TEXT, links=links)])[0].index
            )
        expected = by_reading(writer, ids[:1], monkeypatch)
        assert {one.index for one in expected.derived} >= set(ids[1:])
        assert cascade.plan(writer, ids[:1]) == expected
        alone: Counter[int] = Counter()
        read = Reader.links

        def noted(self: Reader, index: int) -> list[Link]:
            alone[index // SPAN] += 1
            return read(self, index)

        monkeypatch.setattr(Reader, "links", noted)
        assert cascade.plan(writer, ids[:1]) == expected
        assert set(alone.values()) == {4}


def test_a_long_transaction_is_read_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other span of it is a chain: to begin in its middle costs as much as to read it all."""
    monkeypatch.setattr(lineage, "DENSE", 2)
    with closing(Writer(store)) as writer:
        drafts = [Draft(kind="experience", type="inference", body=TEXT)]
        for k in range(1, 8 * SPAN):
            links: list[tuple[str, Target]] = [("parent", Before(k - 1 if k % SPAN else 0))]
            chained = links if k // SPAN % 2 else []
            drafts.append(Draft(kind="experience", type="inference", body=TEXT, links=chained))
        first = writer.append(drafts)[0].index
        expected = by_reading(writer, [first], monkeypatch)
        assert len(expected.derived) > 3 * SPAN
        assert cascade.plan(writer, [first]) == expected
        stretches = counted(monkeypatch)
        assert cascade.plan(writer, [first]) == expected
        assert len(stretches) == 1


def test_a_blob_whose_name_is_no_digest_hinders_no_erasure(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Writer(store)) as writer:
        target = memories(writer)[2]
        for name in ("no digest", "-1", "\u00e9" * 64, ""):
            writer.append(
                [
                    Draft(
                        kind="experience",
                        type="inference",
                        body=TEXT,
                        blobs=[(name, 1)],
                        public={"name": "x"},
                    )
                ]
            )
        assert cascade.plan(writer, [target]) == by_reading(writer, [target], monkeypatch)


def test_what_a_full_disk_has_left_is_for_the_erasure(store: Path) -> None:
    """Its reserve is spent: a megabyte that the certificate needs more than the next erasure needs its lineage."""
    (store / "reserve").unlink()
    with closing(Reader(store)) as reader:
        cascade.plan(reader, [memories(reader)[2]])
    assert not (store / FOLDER).exists()


def test_a_span_of_many_edges_takes_no_memory_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges, "MOST_EDGES", 1000)
    links = [Link("parent", 1, "m") for _ in range(500)]
    envelope = Envelope(
        braid=1,
        origin="o",
        index=2,
        id="m",
        kind="experience",
        created_at="",
        tx=(0, 0, 1),
        control=0,
        key="",
        commit="",
        body=("", 0),
    )
    gathered = edges.Gathered()
    tracemalloc.start()
    try:
        for _ in range(500):
            gathered.add(envelope, links)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000  # 250,000 edges would be 2.5 MB
    assert gathered.is_too_much


def test_a_record_that_states_another_index_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds keys of log and author, but no vault, could sign one: its span would be kept without its neighbours."""
    with closing(Reader(store)) as reader:
        moved = memories(reader)[2]
        target = memories(reader)[0]

        def decoded(payload: bytes) -> Envelope:
            envelope = decode_payload(payload)
            return structs.replace(envelope, index=moved + SPAN) if envelope.index == moved else envelope

        monkeypatch.setattr(reading, "decode_payload", decoded)
        with pytest.raises(IntegrityError, match="it was moved"):
            list(reader.envelopes())
        with pytest.raises(IntegrityError, match="it was moved"):
            cascade.plan(reader, [target])
    assert not (store / FOLDER / f"{moved // SPAN:08d}").exists()


def test_its_key_is_no_hash_of_a_text_that_somebody_may_choose(store: Path) -> None:
    """The catalogue holds halves of hashes under the lookup key, of external ids: none may be half of this key."""
    with closing(Reader(store)) as reader:
        lookup_key = reader.need_vault().lookup_key
        cascade.plan(reader, [memories(reader)[2]])
    data = (store / FOLDER / "00000002").read_bytes()
    key = blake3(lookup_key, derive_key_context="braid/v1/lineage").digest()
    assert data[-32:] == blake3(data[:-32], key=key).digest()
    assert key[:8] != key_hash(lookup_key, "braid/v1/lineage").to_bytes(8, "little")


class Unread(set[int]):
    """A set that may be asked, but not read through."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("read through")


def test_a_span_costs_by_its_edges_however_much_is_erased() -> None:
    """Or an erasure of half a log would cost the square of it."""
    table = np.zeros(100, lineage._BLOB)
    table["child"], table["target"] = np.arange(100) // 2, np.arange(100) * 3
    wanted = set(range(0, 10_000, 5))
    assert lineage._naming(table, Unread(wanted)) == sorted({k // 2 for k in range(100) if 3 * k in wanted})
    few = {15, 3, 297}
    assert lineage._naming(table, few) == [0, 2, 49]


def test_only_its_owner_can_read_it(store: Path) -> None:
    with closing(Reader(store)) as reader:
        cascade.plan(reader, [memories(reader)[2]])
    assert {path.stat().st_mode & 0o777 for path in (store / FOLDER).iterdir()} == {0o600}
    assert (store / FOLDER).stat().st_mode & 0o777 == 0o700


def test_what_is_kept_is_a_function_of_the_span() -> None:
    """What SPEC §9.6 says of the sizes: a change of one would need another magic."""
    assert SPAN_BITS == 12
    assert edges.number_of("00" * 32) == int.from_bytes(blake3(b"00" * 32).digest()[:8], "little")
    assert sorted(DERIVATION_ROLES) == [
        "applied_to",
        "candidate",
        "evidence",
        "experience",
        "parent",
        "support",
    ]
    assert (lineage._LINK.itemsize, lineage._BLOB.itemsize) == (11, 10)
    assert set(edges.ROLES) == LINK_ROLES


def linking(reader: Reader) -> dict[int, list[tuple[int, str]]]:
    """Who links to what, by the log alone."""
    found: dict[int, list[tuple[int, str]]] = {}
    for envelope, links in reader.envelopes():
        for link in links:
            found.setdefault(link.index, []).append((envelope.index, link.role))
    return found


def test_who_links_to_a_record_is_what_the_log_says(store: Path) -> None:
    with closing(Writer(store)) as writer:
        for _ in range(3):  # nothing kept, all kept, and behind what grew meanwhile
            backlinks, expected = Backlinks(writer), linking(writer)
            assert [backlinks.of(at) for at in range(writer.size)] == [
                expected.get(at, []) for at in range(writer.size)
            ]
            _fill(writer)
            grown = linking(writer)
            assert [backlinks.of(at) for at in range(writer.size)] == [
                grown.get(at, []) for at in range(writer.size)
            ]
        assert len(list((store / FOLDER).iterdir())) == writer.size // SPAN


@pytest.mark.parametrize("damage", ["gone", "flipped", "another span", "no vault", "too many"])
def test_who_links_is_never_told_by_a_file_that_was_edited(
    store: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    with closing(Reader(store)) as reader:
        Backlinks(reader).of(0)
        expected = linking(reader)
    for n, path in enumerate(sorted((store / FOLDER).iterdir())):
        if damage == "gone" and n % 2:
            path.unlink()
        elif damage == "flipped":
            data = path.read_bytes()
            path.write_bytes(data[:64] + bytes([data[64] ^ 1]) + data[65:])
        elif damage == "another span" and n:
            path.write_bytes((store / FOLDER / "00000000").read_bytes())
    if damage == "no vault":
        (store / "vault").unlink()
    elif damage == "too many":
        shutil.rmtree(store / FOLDER)
        monkeypatch.setattr(edges, "MOST_EDGES", 9)
    with closing(Reader(store)) as reader:
        backlinks = Backlinks(reader)
        assert [backlinks.of(at) for at in range(reader.size)] == [
            expected.get(at, []) for at in range(reader.size)
        ]


def test_following_reads_only_what_is_new(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Writer(store)) as writer:
        backlinks = Backlinks(writer)
        backlinks.of(0)
        size = writer.size
        stretches = counted(monkeypatch)
        writer.append([Draft(kind="experience", type="occurrence", body=TEXT)])
        backlinks.of(0)
        backlinks.of(1)
        assert stretches == [(size, size + 1)]


@pytest.mark.parametrize("fails_at", [1, 2, 5])
def test_a_question_that_broke_off_leaves_nothing_half_known(
    store: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    with closing(Writer(store)) as writer:
        expected = linking(writer)
        reads, count = Reader.envelopes, [0]

        def failing(self: Reader, *asked: Any, **more: Any) -> Iterator[tuple[Envelope, list[Link]]]:
            for found in reads(self, *asked, **more):
                count[0] += 1
                if count[0] == 20 * fails_at:
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
                yield found

        backlinks = Backlinks(writer)
        with monkeypatch.context() as patch:
            patch.setattr(Reader, "envelopes", failing)
            with pytest.raises(OSError, match="open files"):
                backlinks.of(0)
        for each in (backlinks, Backlinks(writer)):
            assert [each.of(at) for at in range(writer.size)] == [
                expected.get(at, []) for at in range(writer.size)
            ]
