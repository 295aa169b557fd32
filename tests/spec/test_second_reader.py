"""SPEC.md says enough to write a second implementation: one was written, and here it agrees with the first."""

import importlib.util
import json
import shutil
import struct
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import duckdb
import pytest

import braid
from braid.ledger.record import (
    AffectBody,
    Candidate,
    Content,
    Decision,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    Signature,
    StanceBody,
    ViewBody,
)
from braid.tools.cli.main import run

PASSPHRASE = "cafe\u0301 au lait"  # NFD: it is the composed form that opens the vault
TABLES = (
    "experiences links claims views stances candidates justifications affect_snapshots signatures events tombstones "
    "transactions keys"
)


def _load() -> ModuleType:
    path = Path(__file__).with_name("second_reader.py")
    spec = importlib.util.spec_from_file_location("second_reader", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


second = _load()


class Made(NamedTuple):
    """A store and where its guard is."""

    path: Path
    guards: Path
    passphrase: str | None = None

    @property
    def guard(self) -> Path:
        return next(self.guards.glob("*.guard"))

    def open(self, **options: Any) -> braid.Store:
        return braid.open(self.path, guard_dir=self.guards, passphrase=self.passphrase, **options)

    def read(self, **options: Any) -> dict[str, Any]:
        options = {"guard": self.guard, "passphrase": self.passphrase} | options
        facts: dict[str, Any] = second.read_store(self.path, **options)
        return facts


class Clock:
    """A clock that can be set ahead."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def fill(store: braid.Store, clock: Clock) -> None:
    """Write every kind of record, forget, recover, erase; leave media, derived and superseded records."""
    said = [str(store.append(f"said {n} – ἀλήθεια {'x' * 7 * n}", user_id="maya")) for n in range(12)]
    words = [
        braid.Draft(
            kind="experience", type="occurrence", body=ExperienceBody(content=Content(text=f"turn {n}"))
        )
        for n in range(300)
    ]
    turns = [str(placed.id) for placed in store.session.append_drafts(words)]
    far = str(store.append("all of it", type="reconciliation", parents=turns, confidence=0.5))
    one = str(
        store.append(
            "a reading", type="inference", parents=[said[1]], evidence=[said[2], "https://example.org/a"]
        )
    )
    store.append("a reading of that", type="inference", parents=[one])
    store.correct(said[3], "said otherwise", reason="misheard")
    store.session.append_drafts(
        [
            braid.Draft(
                kind="view",
                body=ViewBody(lens="kind"),
                links=[("applied_to", said[4]), ("applied_to", said[0])],
            ),
            braid.Draft(
                kind="stance",
                body=StanceBody(
                    question="which?",
                    candidates=[Candidate(claim="this", p=0.7), Candidate(claim="that", p=0.3)],
                    decision=Decision(claim="this", residual_uncertainty=0.25),
                ),
                links=[("candidate", said[4]), ("candidate", said[5]), ("support", said[4])],
            ),
            braid.Draft(
                kind="affect",
                body=AffectBody(actor="user", stage="input", valence=-0.5, arousal=0.25, dominance=0.125),
                links=[("experience", said[6])],
            ),
            braid.Draft(
                kind="embedding",
                body=EmbeddingBody(signatures=[Signature(role="semantic", model="m", salience=0.5)] * 2),
                links=[("experience", said[7]), ("experience", said[8])],
            ),
            braid.Draft(
                kind="event", body=EventBody(name="review", data={"deep": [1, -1, 2**40, 1.5, None]})
            ),
        ]
    )
    small = store.attach(b"", media_type="text/plain")
    large = store.attach(bytes(range(256)) * 600, media_type="image/png", name="a.png")
    gone = store.attach(b"never seen", media_type="text/plain")
    store.append("with media", media=[small, large])
    shown = str(store.append("with media that goes", media=[gone]))
    signer = store.admit("agent", "planner")
    store.append("planned", actor="agent", name="planner", signer=signer.id)
    store.revoke(signer.id, compromised_since=len(store) - 1, reason="lost")
    store.forget(said[9], said[10], reason="asked to")
    store.recover(said[9])
    store.forget(turns[0])
    store.erase(said[1], shown, reason="asked to")
    store.erase(said[7])
    store.erase(*turns[1:280])
    clock.ahead = timedelta(days=31)
    store.retain()
    store.compact()
    store.erase(said[4], said[2])
    store.forget(far, said[11])
    store.append("the last word", tags=["a", "b"], occurred_at=datetime(2025, 5, 17, 10, tzinfo=UTC))
    store.replay()


def make(folder: Path, write: Callable[[braid.Store, Clock], None], passphrase: str | None = None) -> Made:
    """Create a store and write into it."""
    made, clock = Made(folder / "memory", folder / "guards", passphrase), Clock()
    braid.init(made.path, guard_dir=made.guards, passphrase=passphrase, durability="none")
    with made.open(clock=clock) as store:
        write(store, clock)
    return made


Command = Callable[..., int]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return what runs `braid` here and returns its exit code."""

    def call(*arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["braid", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        return int(ended.value.code or 0)

    return call


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a store with everything in it."""
    return make(tmp_path_factory.mktemp("whole"), fill)


def _few(store: braid.Store, _: Clock) -> None:
    said = [str(store.append(f"said {n}", user_id="maya")) for n in range(4)]
    store.append("from two", type="inference", parents=said[:2])
    store.append("with a picture", media=[store.attach(b"picture", media_type="image/png")])
    store.erase(said[1])
    store.forget(said[2])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a store of few records, to be damaged in copies."""
    return make(tmp_path_factory.mktemp("small"), _few)


@pytest.fixture
def copy(small: Made, tmp_path: Path) -> Made:
    """Return a copy of the small store and its guard."""
    shutil.copytree(small.path.parent, tmp_path / "copy")
    return Made(tmp_path / "copy/memory", tmp_path / "copy/guards")


def agree(made: Made) -> dict[str, Any]:
    """Hold what the second reader says to what the first one says; return it."""
    facts = made.read()
    assert facts["findings"] == []
    with made.open(read_only=True) as store:
        report = store.verify(deep=True)
        assert report.exit_code == 0, report.findings
        assert (facts["records"], facts["origin"], facts["vkey"]) == (len(store), store.origin, store.vkey)
        assert facts["head"] == (report.size, facts["root"])
        assert facts["root"].hex() == report.root
        read = list(store.read())
        texts = {str(record.id): record.text for record in read if record.kind == "experience"}
        assert facts["texts"] == texts
        assert {
            str(record.id): [(a.role, a.index, str(a.id)) for a in record.links] for record in read
        }.items() <= (facts["links"].items())
        assert {record.index: record.members for record in read}.items() <= facts["bodies"].items()
        shown = {str(record.id) for record in store.read(include_forgotten=True)}
        assert facts["erased"] == set(facts["ids"]) - shown
        assert facts["forgotten"] == shown - {str(record.id) for record in read}
        for id, envelope in zip(facts["ids"], facts["envelopes"], strict=True):
            assert second.check_proof(store.prove(id), store.vkey, envelope)["id"] == id
    return facts


def test_it_agrees_on_a_store_with_everything_in_it(whole: Made) -> None:
    facts = agree(whole)
    assert {envelope["kind"] for envelope in _payloads(facts)} == set(second.PREFIXES)
    assert max(map(len, facts["links"].values())) > 256
    assert len(facts["erased"]) > 280
    assert facts["forgotten"]
    assert facts["disputed"]
    assert len(facts["media"]) == 2
    assert bytes(range(256)) * 600 in facts["media"].values()
    assert facts["vault"].epoch == 5


def test_it_agrees_on_a_store_whose_vault_has_a_passphrase(tmp_path: Path) -> None:
    agree(make(tmp_path, _few, PASSPHRASE))
    made = Made(tmp_path / "memory", tmp_path / "guards")
    for passphrase in (None, "another"):
        facts = made.read(passphrase=passphrase)
        assert ("vault", None) in {finding[:2] for finding in facts["findings"]}
        assert facts["texts"] == {}


def test_it_reads_what_an_auditor_gets(whole: Made, tmp_path: Path, command: Command) -> None:
    said = command(
        "--store", whole.path, "--guard-dir", whole.guards, "export", "--audit", tmp_path / "audit"
    )
    assert said == 0
    facts = second.read_store(tmp_path / "audit")
    assert facts["findings"] == []
    assert (facts["root"], facts["bodies"]) == (whole.read()["root"], {})


def _payloads(facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for stored in facts["envelopes"]:
        yield second.Envelope.parse(stored).members


def test_the_projections_digest_is_that_of_its_rows(whole: Made) -> None:
    facts, tables = whole.read(), []
    with duckdb.connect(str(whole.path / "views/duck/work.duckdb"), read_only=True) as db:
        for name in TABLES.split():
            rows = db.execute(f"SELECT * FROM main.{name}")
            columns = [column[0] for column in rows.description or ()]
            tables.append([dict(zip(columns, row, strict=True)) for row in rows.fetchall()])
        (stated,) = db.execute("SELECT stamp, digest FROM view_state.meta").fetchall()
    assert json.loads(stated[0])["root"] == facts["root"].hex()
    assert second.content_digest(tables, facts["row_keys"], facts["records"]).hex() == stated[1]


def test_a_torn_tail_is_no_record(copy: Made) -> None:
    segment, before = next((copy.path / "log").glob("*.seg")), copy.read()
    with segment.open("ab") as file:
        file.write(segment.read_bytes()[64:400])
    facts = copy.read()
    assert (facts["torn"], facts["findings"]) == (336, [])
    assert (facts["records"], facts["root"]) == (before["records"], before["root"])
    with copy.open(read_only=True) as store:
        assert len(store) == facts["records"]


def _flip(path: Path, at: int, mask: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= mask
    path.write_bytes(data)


def _frame(made: Made, number: int) -> tuple[Path, int, int, int]:
    """Return a segment, and in it the offsets of a frame, of its envelopes and of its bodies."""
    segment, at = next((made.path / "log").glob("*.seg")), 64
    data = segment.read_bytes()
    for _ in range(number):
        at += 96 + sum(struct.unpack_from("<QQ", data, at + 32))
    n, head = struct.unpack_from("<I", data, at + 4)[0], struct.unpack_from("<Q", data, at + 32)[0]
    return segment, at, at + 96 + 12 * n, at + 96 + head


def _in_frame(part: int, at: int, number: int = 2) -> Callable[[Made], None]:
    def edit(made: Made) -> None:
        segment, *places = _frame(made, number)
        _flip(segment, places[part] + at)

    return edit


def _blank(made: Made) -> None:
    segment, _, _, body = _frame(made, 3)
    data = bytearray(segment.read_bytes())
    data[body : body + 256] = bytes(256)
    segment.write_bytes(data)


def _swap(made: Made) -> None:
    segment, *a = _frame(made, 1)
    _, *b = _frame(made, 3)
    data = segment.read_bytes()
    one, two = data[a[0] : a[2] + 256], data[b[0] : b[2] + 256]
    assert len(one) == len(two)
    data = data.replace(one, bytes(len(one))).replace(two, one).replace(bytes(len(one)), two)
    segment.write_bytes(data)


def _reseal(made: Made) -> None:
    """Edit an envelope and make the frame's check fit it."""
    segment, at, envelope, _ = _frame(made, 2)
    data = bytearray(segment.read_bytes())
    data[envelope + 40] ^= 1
    head = struct.unpack_from("<Q", data, at + 32)[0]
    data[at + 64 : at + 96] = second.blake3(data[at : at + 64] + data[at + 96 : at + 96 + head]).digest()
    segment.write_bytes(data)


def _shorten(made: Made) -> None:
    segment, *_ = _frame(made, 0)
    segment.write_bytes(segment.read_bytes()[:-100])


def _old_vault(made: Made) -> None:
    vault = made.path / "vault"
    data = bytearray(vault.read_bytes())
    data[32:40] = bytes(8)
    data[96:128] = second.blake3(data[:96] + data[128:]).digest()
    vault.write_bytes(data)


def _settings(made: Made) -> None:
    path = made.path / "store.json"
    path.write_text(path.read_text().replace('"origin": "braid.local/', '"origin": "braid.lokal/'))


def _at(pattern: str, at: int, mask: int = 1) -> Callable[[Made], None]:
    return lambda made: _flip(
        next(path for path in made.path.parent.rglob(pattern) if path.is_file()), at, mask
    )


EDITS: dict[str, Callable[[Made], None]] = {
    "segment magic": _at("*.seg", 3),
    "segment first index": _at("*.seg", 16),
    "segment store id": _at("*.seg", 25),
    "segment check": _at("*.seg", 50),
    "frame magic": _in_frame(0, 0),
    "frame count": _in_frame(0, 4),
    "frame tx": _in_frame(0, 16),
    "frame body length": _in_frame(0, 41),
    "frame header check": _in_frame(0, 50),
    "frame content check": _in_frame(0, 70),
    "table": _in_frame(0, 96),
    "envelope": _in_frame(1, 60),
    "signature": _in_frame(2, -20),
    "body": _in_frame(2, 100),
    "last byte": _in_frame(2, 255),
    "blank body without an erasure": _blank,
    "two frames exchanged": _swap,
    "edit under a fresh frame check": _reseal,
    "log cut short": _shorten,
    "tile": _at("tile/0/**/*", 40),
    "checkpoint size": _at("checkpoint", 34),
    "checkpoint signature": _at("checkpoint", -20),
    "history signature": _at("checkpoints", 150),
    "guard": _at("*.guard", 30),
    "guard check": _at("*.guard", -5),
    "vault magic": _at("vault", 0),
    "vault format": _at("vault", 8),
    "vault store id": _at("vault", 20),
    "vault seed": _at("vault", 200),
    "vault of an earlier epoch": _old_vault,
    "blob": _at("blobs/*/*", 30),
    "blob's name": lambda made: next(made.path.glob("blobs/*/*")).unlink(),
    "store.json": _settings,
    "place index": _at("*.idx", 24),
}


def braid_refuses(made: Made) -> bool:
    """Say whether `braid` refuses a store when it is opened, read or verified."""
    try:
        with made.open(read_only=True) as store:
            for _ in store.read(include_forgotten=True):
                pass
            return bool(store.verify(deep=True).exit_code)
    except (braid.LedgerError, braid.WalError, OSError, ValueError):
        return True


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_both_refuse_an_edit(copy: Made, edit: Callable[[Made], None]) -> None:
    edit(copy)
    assert copy.read()["findings"]
    assert braid_refuses(copy)


def test_both_refuse_an_edited_proof(small: Made, tmp_path: Path, command: Command) -> None:
    file, facts = tmp_path / "record.tlog-proof", small.read()
    id, vkey = facts["ids"][6], facts["vkey"]
    where = ["--store", small.path, "--guard-dir", small.guards]
    assert command(*where, "prove", id, "--out", file) == 0
    assert command("check-proof", file, "--key", vkey) == 0
    proof = file.read_bytes()
    assert second.check_proof(proof, vkey)["id"] == id
    first = next(line for line in proof.split(b"\n") if len(line) == 44)
    for edited in (
        proof.replace(b"\nindex 6\n", b"\nindex 5\n"),
        proof.replace(b"@v1", b"@v2"),
        proof.replace(first + b"\n", b"", 1),
        proof.replace(first, bytes([first[0] ^ 1]) + first[1:], 1),
        proof[:-20] + bytes([proof[-20] ^ 1]) + proof[-19:],
    ):
        assert edited != proof
        with pytest.raises(second.RefusedError):
            second.check_proof(edited, vkey)
        file.write_bytes(edited)
        assert command("check-proof", file, "--key", vkey) in {1, 2}
