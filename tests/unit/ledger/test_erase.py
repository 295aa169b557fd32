"""Forget, recover, erase, compact: what goes, what stays, and that no byte of it is left (SPEC §9)."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from braid.ledger.audit.verify import verify
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    InvalidRecordError,
    PuncturedError,
    UnknownRecordError,
)
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import (
    Body,
    Content,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    Signature,
    StanceBody,
    ViewBody,
)
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.proof import check_proof
from braid.ledger.write.writer import Writer
from braid.wal import append as logs
from braid.wal import failpoint

NOON = datetime(2100, 1, 1, 12, tzinfo=UTC)


class FakeClock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


def memory(text: str, *parents: str, type: str = "occurrence", role: str = "parent") -> Draft:
    """Return an experience that says `text`."""
    links = [(role, id) for id in parents]
    return Draft(kind="experience", type=type, body=ExperienceBody(content=Content(text=text)), links=links)


def remember(writer: Writer, *drafts: Draft) -> list[str]:
    """Append the drafts as one transaction; return their ids."""
    return [placed.id for placed in writer.append(drafts)]


def plan(writer: Reader, *ids: str) -> cascades.Cascade:
    """Return the cascade of erasing the ids."""
    return cascades.plan_whole(writer, [writer.index_of(id) for id in ids])


def ids(named: list[cascades.Named]) -> list[str]:
    """Return the ids."""
    return [one.id for one in named]


def texts(reader: Reader) -> list[str]:
    """Return the text of every memory that can be read, forgotten ones too."""
    return [
        entry.record.text
        for batch in reader.entries()
        for entry in batch
        if entry.record.kind == "experience" and entry.record.raw is not None
    ]


def audit(store: Path) -> list[str]:
    """Return what a deep audit finds."""
    report = verify(store, deep=True, workers=1)
    return [str(finding) for finding in report.findings] + report.could_not_look


# -- the cascade ----------------------------------------------------------------------------------


def test_what_is_derived_from_it_alone_goes_and_what_has_other_support_stays(store: Path) -> None:
    with closing(Writer(store)) as writer:
        needle, straw = remember(writer, memory("needle"), memory("straw"))
        (alone,) = remember(writer, memory("alone", needle, type="inference"))
        (both,) = remember(writer, memory("both", needle, straw, type="inference"))
        (grandchild,) = remember(writer, memory("grandchild", alone, type="inference"))
        (cousin,) = remember(writer, memory("cousin", grandchild, both, type="inference"))
        (only_kept,) = remember(writer, memory("of a kept one", both, type="inference"))
        (twice,) = remember(writer, memory("twice the same", needle, needle, type="inference"))
        (correction,) = remember(writer, memory("a correction", needle, role="supersedes"))
        cascade = plan(writer, needle)
        assert ids(cascade.asked) == [needle]
        assert ids(cascade.derived) == [alone, grandchild, twice]
        assert ids(cascade.kept) == [both, cousin]
        assert ids(cascade.erased) == [needle, alone, grandchild, twice]
        assert writer.get(needle).text == "needle"  # planning changes nothing
        (certificate,) = erasure.erase(writer, cascade, list, reason="asked to")
        assert (certificate.records, certificate.kept) == (4, 2)
        for id in (needle, alone, grandchild, twice):
            with pytest.raises(ErasedError):
                writer.get(id)
        for id in (straw, both, cousin, only_kept, correction):
            assert writer.get(id).text
        weakened = {writer.envelope(index).id for index in writer.control.weakened}
        assert weakened == {both, cousin}
        second = plan(writer, straw)
        assert ids(second.derived) == [both, cousin, only_kept]  # the last support goes now
    assert audit(store) == []


def test_what_a_correction_replaced_stands_again_and_the_answer_names_it(store: Path) -> None:
    with closing(Writer(store)) as writer:
        (first,) = remember(writer, memory("first"))
        (second,) = remember(writer, memory("second", first, role="supersedes"))
        (third,) = remember(writer, memory("third", second, role="supersedes"))
        assert ids(plan(writer, first).again) == []
        assert ids(plan(writer, second).again) == []  # the third stands in the place of both
        assert ids(plan(writer, third).again) == [second]
        assert ids(plan(writer, second, third).again) == [first]
        (certificate,) = erasure.erase(writer, plan(writer, third), list)
        assert certificate.stands_again == [second]
        erasure.forget(writer, [second])
        (certificate,) = erasure.erase(writer, plan(writer, second), list)
        assert certificate.stands_again == []  # the first stood already
    assert audit(store) == []


def test_no_key_derived_ahead_outlives_its_record(store: Path) -> None:
    """Keys are derived many at a time, and those in use are among them: the memory of a process is a copy too."""
    with closing(Writer(store)) as writer:
        needle, _ = remember(writer, memory("needle"), memory("straw"))
        index = writer.index_of(needle)
        key = writer.need_vault().key(index)
        assert key in writer._sequencer._ahead[-1]
        erasure.erase(writer, plan(writer, needle), list)
        assert key not in writer._sequencer._ahead[-1]


@pytest.mark.parametrize("role", ["parent", "evidence", "applied_to", "support", "candidate", "experience"])
def test_every_derivation_link_carries_a_cascade(store: Path, role: str) -> None:
    kinds = {
        "applied_to": Draft(kind="view", body=ViewBody(lens="l")),
        "candidate": Draft(kind="stance", body=StanceBody(question="q")),
    }
    with closing(Writer(store)) as writer:
        (needle,) = remember(writer, memory("needle"))
        base = kinds.get(role, memory("derived", type="inference"))
        draft = Draft(kind=base.kind, type=base.type, body=base.body, links=[(role, needle)])
        (derived,) = remember(writer, draft)
        assert ids(plan(writer, needle).derived) == [derived]


def test_an_embedding_batch_goes_with_any_of_its_records(store: Path) -> None:
    with closing(Writer(store)) as writer:
        one, two = remember(writer, memory("one"), memory("two"))
        body = EmbeddingBody(
            signatures=[Signature(role="content", model="m"), Signature(role="content", model="m")]
        )
        (batch,) = remember(
            writer, Draft(kind="embedding", body=body, links=[("experience", one), ("experience", two)])
        )
        cascade = plan(writer, one)
        assert ids(cascade.derived) == [batch]
        erasure.erase(writer, cascade, list)
        with pytest.raises(ErasedError):
            writer.get(batch)
        assert writer.get(two).text == "two"
    assert audit(store) == []


def test_a_cascade_over_more_links_than_an_envelope_holds(store: Path) -> None:
    with closing(Writer(store)) as writer:
        many = remember(writer, *[memory(f"needle {n}") for n in range(400)])
        (straw,) = remember(writer, memory("straw"))
        (kept,) = remember(writer, memory("kept", *many, straw, type="inference"))
        (certificate,) = erasure.erase(writer, plan(writer, *many), list)
        assert (certificate.records, certificate.kept) == (400, 1)
        assert len(writer.get(certificate.tombstone).links) == 401
        assert writer.get(kept).text == "kept"
        assert erasure.compact(writer) > 0
    with closing(Reader(store)) as reader:
        assert texts(reader) == ["straw", "kept"]
        assert len(reader.control.erased) == 400
    assert audit(store) == []


def test_only_memories_can_be_forgotten_or_erased(store: Path) -> None:
    with closing(Writer(store)) as writer:
        (needle,) = remember(writer, memory("needle"))
        tombstone = erasure.forget(writer, [needle])
        (event,) = remember(writer, Draft(kind="event", body=EventBody(name="review")))
        clock = writer.accept_clock()
        for id in [*(writer.envelope(index).id for index in range(3)), tombstone, clock]:
            with pytest.raises(InvalidRecordError, match="only memories"):
                plan(writer, id)
            with pytest.raises(InvalidRecordError, match="only memories"):
                erasure.forget(writer, [id])
        with pytest.raises(UnknownRecordError, match="the log has no record 999"):
            cascades.plan(writer, [999])
        (certificate,) = erasure.erase(writer, plan(writer, needle, event), list)
        for id in (needle, event):
            with pytest.raises(ErasedError, match="erased already"):
                plan(writer, id)
        with pytest.raises(InvalidRecordError, match="only memories"):
            plan(writer, certificate.id)
    assert audit(store) == []


def test_nothing_to_erase_is_no_erasure(store: Path) -> None:
    with closing(Writer(store)) as writer:
        assert erasure.erase(writer, cascades.plan(writer, []), list) == []
        assert erasure.finish(writer, list) == []
        assert erasure.compact(writer) == 0
        assert writer.size == 3


# -- forgetting -----------------------------------------------------------------------------------


def test_what_is_forgotten_is_hidden_and_comes_back(store: Path) -> None:
    with closing(Writer(store)) as writer:
        one, two = remember(writer, memory("one"), memory("two"))
        tombstone = erasure.forget(writer, [one], "embarrassing")
        with pytest.raises(ForgottenError, match=f"^{one} is forgotten; `recover` brings it back$"):
            writer.get(one)
        with pytest.raises(ForgottenError):
            erasure.forget(writer, [one])
        assert writer.get(one, include_forgotten=True).text == "one"
        assert writer.get(two).text == "two"
        assert writer.get(tombstone).body == Body(reason="embarrassing")
    with closing(Writer(store)) as writer:
        with pytest.raises(ForgottenError):
            writer.get(one)
        assert texts(writer) == ["one", "two"]  # projections are told by the tombstone
        erasure.recover(writer, [one], datetime.now(UTC))
        assert writer.get(one).text == "one"
        with pytest.raises(InvalidRecordError, match="is not forgotten"):
            erasure.recover(writer, [one], datetime.now(UTC))
    with closing(Reader(store)) as reader:
        assert reader.get(one).text == "one"
    assert audit(store) == []


def test_the_retention_window_and_its_sweep(store: Path) -> None:
    clock = FakeClock()
    with closing(Writer(store, clock=clock)) as writer:
        early, late, kept, derived = *remember(writer, memory("early"), memory("late"), memory("kept")), ""
        (derived,) = remember(writer, memory("derived", early, type="inference"))
        erasure.forget(writer, [early])
        clock.now += timedelta(days=20)
        erasure.forget(writer, [late])
        clock.now = NOON + timedelta(days=30)
        assert erasure.due(writer, clock.now) == []
        assert erasure.retain(writer, clock.now, list) == []
        assert writer.get(early, include_forgotten=True).text == "early"
        clock.now += timedelta(minutes=1)
        assert erasure.due(writer, clock.now) == [writer.index_of(early)]
        with pytest.raises(InvalidRecordError, match="more than 30 days ago: past recovery"):
            erasure.recover(writer, [early], clock.now)
        size = writer.size
        (certificate,) = erasure.retain(writer, clock.now, list)
        assert certificate.records == 2
        sweep = writer.at(size)
        assert isinstance(sweep.body, EventBody)
        assert (sweep.body.name, sweep.body.data) == ("sweep", {"at": clock.now.isoformat()})
        assert sweep.envelope.tx[1:] == (0, 2)
        assert writer.get(certificate.tombstone).body == Body(reason="retention")
        for id in (early, derived):
            with pytest.raises(ErasedError):
                writer.get(id)
        with pytest.raises(ErasedError):
            erasure.recover(writer, [early], clock.now)
        erasure.recover(writer, [late], clock.now)
        assert [writer.get(id).text for id in (late, kept)] == ["late", "kept"]
        assert erasure.retain(writer, clock.now + timedelta(days=400), list) == []
    assert audit(store) == []


# -- the certificate ------------------------------------------------------------------------------


def test_the_certificate_claims_what_was_done_and_no_more(store: Path) -> None:
    with closing(Writer(store)) as writer:
        (needle,) = remember(writer, memory("needle"))
        (certificate,) = erasure.erase(writer, plan(writer, needle), lambda: ["views/one", "views/two"])
        tombstone = writer.get(certificate.tombstone)
        assert tombstone.envelope.public == {"op": "erase", "epoch": 1}
        assert [(link.role, link.id) for link in tombstone.links] == [("target", needle)]
        record = writer.get(certificate.id)
        assert record.envelope.public == {
            "op": "certify",
            "erase": tombstone.index,
            "records": 1,
            "done": ["key", "body", "projections"],
            "files": ["log/000000000000.seg", "views/one", "views/two"],
        }
        assert certificate.files == record.envelope.public["files"]
        assert writer.control.erasures == {tombstone.index: (1, record.index)}
        assert writer.published.size == writer.size
    with closing(Reader(store)) as reader:
        assert reader.control.erasures == {tombstone.index: (1, record.index)}
        assert reader.control.unfinished() == []
    assert audit(store) == []


def test_a_certificate_names_more_files_than_an_envelope_holds(store: Path) -> None:
    """Many media, many files: an erasure that could not be certified would stay unfinished for ever."""
    with closing(Writer(store)) as writer:
        (needle,) = remember(writer, memory("needle"))
        files = [f"blobs/{n:02x}/{'0' * 62}" for n in range(1500)]
        (certificate,) = erasure.erase(writer, plan(writer, needle), lambda: files)
        assert certificate.files == ["log/000000000000.seg", *files]
        assert writer.control.unfinished() == []
        named = [
            file
            for envelope, _ in writer.envelopes()
            if envelope.public.get("op") == "certify"
            for file in envelope.public["files"]
        ]
        assert named == certificate.files
    assert audit(store) == []


@pytest.mark.parametrize(
    "point",
    [
        "erase.announced",
        "erase.punctured",
        "erase.blanked",
        "erase.purged",
        "vault.new-written",
        "vault.renamed",
    ],
)
def test_what_was_interrupted_is_finished_once(
    store: Path, drop: Callable[[Writer], None], point: str
) -> None:
    writer = Writer(store)
    (needle,) = remember(writer, memory("needle"))

    def die(name: str) -> None:
        if name == point:
            raise KeyboardInterrupt

    failpoint.arm(die)
    with pytest.raises(KeyboardInterrupt):
        erasure.erase(writer, plan(writer, needle), list)
    failpoint.arm(None)
    with pytest.raises(ErasedError):  # refused from the tombstone on, whatever is still to be done
        writer.get(needle)
    drop(writer)
    with closing(Reader(store)) as reader, pytest.raises(ErasedError):
        reader.get(needle)
    with closing(Writer(store)) as writer:
        assert len(writer.control.unfinished()) == 1
        (certificate,) = erasure.finish(writer, list)
        assert certificate.records == 1
        assert erasure.finish(writer, list) == []
        assert writer.vault
        assert writer.vault.epoch == 1
        assert not any(writer.log.body(writer.index_of(needle)))
    assert audit(store) == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("which", [1, 2, 3])
@pytest.mark.parametrize("point", ["erase.announced", "erase.punctured", "erase.blanked", "erase.purged"])
def test_a_cascade_of_several_tombstones_is_finished_wherever_it_died(
    store: Path, drop: Callable[[Writer], None], monkeypatch: pytest.MonkeyPatch, point: str, which: int
) -> None:
    monkeypatch.setattr(erasure, "MAX_LINKS", 2)
    writer = Writer(store)
    needles = remember(writer, *[memory(f"needle {n}") for n in range(3)])
    needles += remember(writer, *[memory(f"from {n}", id, type="inference") for n, id in enumerate(needles)])
    (straw,) = remember(writer, memory("straw"))
    passed = list[str]()

    def die(name: str) -> None:
        passed.append(name)
        if passed.count(point) == which:
            raise KeyboardInterrupt

    failpoint.arm(die)
    with pytest.raises(KeyboardInterrupt):
        erasure.erase(writer, plan(writer, *needles[:3]), list)
    failpoint.arm(None)
    drop(writer)
    with closing(Writer(store)) as writer:
        for id in needles:  # also those that the tombstones behind the first name
            with pytest.raises(ErasedError):
                writer.get(id)
        erasure.finish(writer, list)
        assert writer.control.unfinished() == []
        assert not any(any(writer.log.body(writer.index_of(id))) for id in needles)
        assert writer.get(straw).text == "straw"
    assert audit(store) == []


# -- what is left ---------------------------------------------------------------------------------


def test_older_proofs_still_verify(store: Path) -> None:
    with closing(Writer(store)) as writer:
        (needle,) = remember(writer, memory("needle"))
        writer.checkpoint()
        index = writer.index_of(needle)
        proof, leaf = writer.prove(index), leaf_hash(writer.stored_envelope(index))
        erasure.erase(writer, plan(writer, needle), list)
        erasure.compact(writer)
        check_proof(proof, leaf, writer.vkey)
        check_proof(writer.prove(index), leaf_hash(writer.stored_envelope(index)), writer.vkey)
    with closing(Reader(store)) as reader:
        check_proof(reader.prove(index), leaf, reader.vkey)


def test_compaction_gives_space_back_and_changes_nothing_else(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 20_000)
    with closing(Writer(store)) as writer:
        needles = [remember(writer, memory(f"needle {n} " + "x" * 2_000))[0] for n in range(20)]
        straws = [remember(writer, memory(f"straw {n}"))[0] for n in range(20)]
        before = [writer.stored_envelope(index) for index in range(writer.size)]
        root = writer.frontier.root()
        cascade = plan(writer, *needles)
        disk = writer.log.bytes_on_disk
        assert erasure.compact(writer) == 0  # nothing is erased yet
        assert writer.frontier.root() == root
        erasure.erase(writer, cascade, list)
        given_back = erasure.compact(writer)
        assert given_back > 20 * 2_000
        assert writer.log.bytes_on_disk < disk
        assert erasure.compact(writer) == 0
        assert [writer.stored_envelope(index) for index in range(len(before))] == before
        assert [writer.get(id).text for id in straws] == [f"straw {n}" for n in range(20)]
        remember(writer, memory("behind"))
        assert texts(writer) == [*(f"straw {n}" for n in range(20)), "behind"]
    with closing(Reader(store)) as reader:
        assert [reader.stored_envelope(index) for index in range(len(before))] == before
        assert texts(reader) == [*(f"straw {n}" for n in range(20)), "behind"]
        for id in needles:
            with pytest.raises(ErasedError):
                reader.get(id)
    assert audit(store) == []
    with closing(Writer(store)) as writer:
        erasure.erase(writer, plan(writer, *straws), list)
        assert erasure.compact(writer) > 0
        assert texts(writer) == ["behind"]
    assert audit(store) == []


def holders(store: Path, *needles: bytes) -> set[str]:
    """Return the files under the store (names count too) that hold any of the byte strings."""
    found: set[str] = set()
    for path in store.rglob("*"):
        data = str(path.relative_to(store)).encode() + (path.read_bytes() if path.is_file() else b"")
        if any(needle in data for needle in needles):
            found.add(str(path.relative_to(store)))
    return found


def test_no_byte_of_an_erased_memory_is_left(store: Path) -> None:
    """Each kind of trace is first shown to be findable, by the same search."""
    needle = b"the needle in the haystack"
    projection = store / "views" / "projection"
    blobs = BlobStore(store / "blobs")
    with closing(Writer(store)) as writer:
        reference = blobs.put(needle * 100)
        draft = Draft(
            kind="experience",
            type="occurrence",
            body=ExperienceBody(content=Content(text=needle.decode())),
            blobs=[(reference.sha256, reference.size)],
        )
        (id,) = remember(writer, draft)
        (derived,) = remember(writer, memory("says " + needle.decode(), id, type="inference"))
        (straw,) = remember(writer, memory("a straw"))
        projection.write_bytes(b"rows: " + needle)
        writer.checkpoint()
        vault = writer.need_vault()
        indexes = [writer.index_of(one) for one in (id, derived)]
        traces: dict[str, set[str]] = {}
        for index in indexes:
            body, key = writer.log.body(index), vault.key(index)
            for name, trace in (
                ("body", body[24:]),
                ("start of body", body[:40]),
                ("sealing key", key.sealing),
                ("leaf seed", vault._state.tree.derive(index)),
            ):
                traces[f"{name} {index}"] = {trace.hex()}
        root_seeds = [node.seed for node in vault._state.tree.nodes()]
        assert holders(store, needle) == {"views/projection"}
        for index in indexes:
            assert holders(store, writer.log.body(index)) == {"log/000000000000.seg"}
        assert holders(store, *root_seeds) == {"vault"}
        blob_path = f"blobs/{reference.sha256[:2]}/{reference.sha256[2:]}"
        assert holders(store, reference.sha256[2:].encode()) == {blob_path}
        sealed_blob = (store / blob_path).read_bytes()
        key_id = writer.envelope(indexes[0]).key

        def purge() -> list[str]:
            projection.unlink()
            return ["views/projection"]

        (certificate,) = erasure.erase(writer, plan(writer, id), purge)
        assert certificate.done == ["key", "body", "media", "projections"]
        assert certificate.files == ["log/000000000000.seg", blob_path, "views/projection"]
        forbidden = [bytes.fromhex(one) for some in traces.values() for one in some]
        forbidden += [
            needle,
            b64encode(needle),
            needle.hex().encode(),
            sealed_blob[:64],
            sealed_blob[-64:],
            *root_seeds,
        ]
        assert holders(store, *forbidden) == set()
        assert not (store / blob_path).exists()
        assert writer.get(straw).text == "a straw"
        for index in indexes:
            with pytest.raises(PuncturedError):
                vault.key(index)
        assert writer.envelope(indexes[0]).key == key_id
        erasure.compact(writer)
        assert holders(store, *forbidden) == set()
    assert holders(store, *forbidden) == set()
    with closing(Reader(store)) as reader:
        assert texts(reader) == ["a straw"]
        for entry in (entry for batch in reader.entries() for entry in batch):
            if entry.record.index in indexes:
                assert (entry.record.raw, entry.row_key) == (None, None)
    assert audit(store) == []


def test_the_front_door_leaves_no_byte_in_any_projection(tmp_path: Path) -> None:
    """The same search over DuckDB files, generations, catalog and whatever else projections keep."""
    import braid

    needle = "xylophonic-quetzal"
    store = tmp_path / "memory"
    with braid.open(store) as memories:
        id = memories.append(f"the {needle} sings", session_id=needle)
        straw = memories.append("a plain straw")
        memories.replay()
        assert any(needle in str(row) for row in memories.sql("SELECT * FROM experiences").to_pylist())
        found = holders(store / "views", needle.encode())
        assert found  # it can be found before
        memories.erase(id)
        assert holders(store, needle.encode()) == set()
        assert not any(needle in str(row) for row in memories.sql("SELECT * FROM experiences").to_pylist())
        assert memories.get(straw).text == "a plain straw"
    assert holders(store, needle.encode()) == set()
