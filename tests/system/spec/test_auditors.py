"""Two audits that share no code with Braid, in two languages: of any log they say what `braid verify` says."""

import ast
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import braid
from braid.ledger.audit.findings import KINDS_OF_FINDINGS
from braid.ledger.audit.verify import verify
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import parse_vkey
from tests.system.spec.auditors import (
    JS_FOLDER,
    PYTHON_AUDITOR,
    Job,
    Verdict,
    ask_node,
    ask_python,
    node,
    python_auditor,
)
from tests.system.spec.tampering import SMALL, WIDE, Made, copy_of, make_small, make_wide

FLIPS = 24
"""Bits of the log that are flipped at random, beside the edits that have a name."""


class Said(NamedTuple):
    """What the three say of one folder."""

    braid: Verdict
    python: Verdict
    node: Verdict


def ask_braid(job: Job) -> Verdict:
    assert job.guard
    report = verify(job.folder, guard=Guard(job.guard), vkey=job.vkey, workers=1)
    return Verdict(report.exit_code, [(one.kind, one.index) for one in report.findings], report.root)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """Return the two stores that everything is done to, and which stay as they are."""
    folder = tmp_path_factory.mktemp("good")
    return {"small": make_small(folder / "small"), "wide": make_wide(folder / "wide")}


def job_of(made: Made, store: Path | None = None) -> Job:
    head = made.guard.read()
    assert head
    return Job(store or made.store, head.vkey, made.guard.path)


def wanted(request: pytest.FixtureRequest) -> set[str] | None:
    """Return the copies that this run's tests ask for; None for all."""
    mine = [item for item in request.session.items if item.path == request.path]
    asked = {callspec.params.get("name") for item in mine if (callspec := getattr(item, "callspec", None))}
    return None if any(item.name == "test_there_are_ways_enough_and_they_differ" for item in mine) else asked


@pytest.fixture(scope="module")
def said(
    good: dict[str, Made], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Said]:
    """Return what is said of the stores and of each tampered copy that is asked for. Node starts once."""
    folder, jobs = tmp_path_factory.mktemp("tampered"), {name: job_of(made) for name, made in good.items()}
    names = wanted(request)
    chance = random.Random(20_240_229)
    for base, edits in (("small", SMALL), ("wide", WIDE)):
        for number, (name, edit) in enumerate(edits.items()):
            if names is not None and name not in names:
                continue
            copy = copy_of(good[base], folder / f"{base}-{number}")
            job = job_of(copy)
            edit(copy)
            jobs[name] = job
    for number in range(FLIPS):
        place, bit = chance.random(), chance.randrange(8)
        if names is not None and f"flip {number}" not in names:
            continue
        copy = copy_of(good["small"], folder / f"flip-{number}")
        (segment,) = (copy.store / "log").glob("*.seg")
        data = bytearray(segment.read_bytes())
        data[int(place * len(data))] ^= 1 << bit
        segment.write_bytes(data)
        jobs[f"flip {number}"] = job_of(copy)
    from_node = ask_node(jobs.values())
    return {
        name: Said(ask_braid(job), ask_python(job), one)
        for (name, job), one in zip(jobs.items(), from_node, strict=True)
    }


@pytest.mark.parametrize("name", ["small", "wide"])
def test_all_three_find_a_good_log_clean(said: dict[str, Said], name: str) -> None:
    assert said[name].braid == said[name].python == said[name].node
    assert (said[name].braid.exit_code, said[name].braid.findings) == (0, [])
    assert said[name].braid.root


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [*SMALL, *WIDE, *(f"flip {number}" for number in range(FLIPS))])
def test_all_three_refuse_it_and_begin_with_the_same_finding(said: dict[str, Said], name: str) -> None:
    codes = {one.exit_code for one in said[name]}
    assert len(codes) == 1
    assert codes <= {1, 2}
    first = {one.findings[0] if one.findings else None for one in said[name]}
    assert len(first) == 1, said[name]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("author key that is the log's", 12),
        ("log key that is an author's", 14),
        ("log key that is an author's, under the heads", 14),
        ("log key that is an author's, alone under the heads", 14),
        ("log key that is the root key", 0),
    ],
)
def test_all_three_name_a_key_of_two_uses_in_the_record_that_gives_it_the_second(
    said: dict[str, Said], name: str, index: int
) -> None:
    assert all(("control", index) in verdict.findings for verdict in said[name])


@pytest.mark.sample(4)
@pytest.mark.parametrize("pinned", ["the log's", "the author's", "another log's", None])
@pytest.mark.parametrize("way", ["under the heads", "alone under the heads"])
def test_all_three_name_a_guards_key_that_the_log_does_not(
    good: dict[str, Made], tmp_path: Path, way: str, pinned: str | None
) -> None:
    """The record that named it was refused: the guard remembers a key that is none of this log's."""
    copy = copy_of(good["small"], tmp_path / "copy")
    own = job_of(copy)
    SMALL[f"log key that is an author's, {way}"](copy)
    guarded = job_of(copy)
    vkey = {"the log's": own.vkey, "the author's": guarded.vkey, "another log's": job_of(good["wide"]).vkey}
    job = guarded._replace(vkey=vkey[pinned] if pinned else None)
    said = Said(ask_braid(job), ask_python(job), ask_node([job])[0])
    assert said.braid == said.python == said.node
    kinds = said.braid.findings
    assert kinds[0] == ("guard", None)
    assert (("checkpoint", 0) in kinds) == (pinned != "the log's")
    assert ("control", 14) in kinds


@pytest.mark.soak
def test_there_are_ways_enough_and_they_differ(said: dict[str, Said]) -> None:
    kinds = {verdict.braid.findings[0][0] for verdict in said.values() if verdict.braid.findings}
    assert len(SMALL) + len(WIDE) > 90
    # Found only with an option, or by a second look.
    seen_otherwise = {"since", "seal", "actor", "projection", "settings", "derived"}
    assert kinds >= set(KINDS_OF_FINDINGS) - seen_otherwise


def test_an_auditors_copy_is_enough(good: dict[str, Made], tmp_path: Path) -> None:
    from braid.exchange.copies import export_store

    with braid.open(good["small"].store, read_only=True, guard_dir=good["small"].guards) as store:
        export_store(store, tmp_path / "copy", audit=True)
        vkey = store.vkey
    job = Job(tmp_path / "copy", vkey)
    assert ask_python(job).exit_code == 0
    assert ask_node([job]) == [ask_python(job)]
    assert not (tmp_path / "copy" / "vault").exists()


def test_another_pinned_key_is_named(good: dict[str, Made]) -> None:
    head = good["wide"].guard.read()
    assert head
    job = job_of(good["small"])._replace(vkey=head.vkey)
    for verdict in (ask_python(job), *ask_node([job])):
        assert verdict.exit_code == 1
        assert ("checkpoint", 0) in verdict.findings


def test_a_torn_tail_is_a_note(good: dict[str, Made], tmp_path: Path) -> None:
    copy = copy_of(good["small"], tmp_path / "copy")
    (segment,) = (copy.store / "log").glob("*.seg")
    with segment.open("ab") as file:
        file.write(segment.read_bytes()[64:400])
    job = job_of(copy)
    assert ask_braid(job) == ask_python(job) == ask_node([job])[0]
    assert ask_python(job).exit_code == 0


def test_room_that_a_writer_kept_is_nothing(good: dict[str, Made], tmp_path: Path) -> None:
    copy = copy_of(good["small"], tmp_path / "copy")
    (segment,) = (copy.store / "log").glob("*.seg")
    with segment.open("ab") as file:
        file.write(bytes(8192))
    job = job_of(copy)
    assert ask_braid(job) == ask_python(job) == ask_node([job])[0]
    assert ask_python(job).exit_code == 0


# -- what they stand on -----------------------------------------------------------------------------


def test_the_python_auditor_imports_nothing_of_braid() -> None:
    tree = ast.parse(PYTHON_AUDITOR.read_text())
    names = {
        name.partition(".")[0]
        for node_ in ast.walk(tree)
        for name in (
            [one.name for one in node_.names]
            if isinstance(node_, ast.Import)
            else [node_.module or "."]
            if isinstance(node_, ast.ImportFrom)
            else []
        )
    }
    assert names - set(sys.stdlib_module_names) == {"nacl", "blake3"}


def test_it_needs_no_blake3(good: dict[str, Made], monkeypatch: pytest.MonkeyPatch) -> None:
    auditor = python_auditor()
    vectors = {0: "af1349b9f5f9a1a6", 1024: "42214739f095a406", 1025: "d00278ae47eb27b3", 5000: ""}
    for length, expected in vectors.items():  # the beginnings of BLAKE3's own test vectors
        data = bytes(n % 251 for n in range(length))
        assert auditor.pure_blake3(data) == auditor.blake3(data)
        assert auditor.pure_blake3(data).hex().startswith(expected)
    monkeypatch.setattr(auditor, "blake3", auditor.pure_blake3)
    assert ask_python(job_of(good["small"])).exit_code == 0


def test_the_other_auditor_imports_node_and_itself_alone() -> None:
    for path in JS_FOLDER.glob("*.mjs"):
        for name in re.findall(r'(?:from|import) "([^"]+)"', path.read_text()):
            assert name.startswith("node:") or (JS_FOLDER / name).is_file(), (path.name, name)


# -- as commands ------------------------------------------------------------------------------------

COMMANDS = {
    "python": [sys.executable, "-I", str(PYTHON_AUDITOR)],
    "node": [node(), str(JS_FOLDER / "braid-audit.mjs")],
}


def run(command: list[str], *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_as_a_command(good: dict[str, Made], tmp_path: Path, command: list[str]) -> None:
    made, job = good["small"], job_of(good["small"])
    (tmp_path / "log.vkey").write_text(f"{job.vkey}\n")
    clean = run(command, made.store, "--key", tmp_path / "log.vkey", "--guard", job.guard)
    assert (clean.returncode, clean.stderr) == (0, "")
    assert clean.stdout.splitlines()[-1].startswith("clean: 18 records of braid.local/")
    copy = copy_of(made, tmp_path / "copy")
    SMALL["below its parent"](copy)
    bad = run(command, copy.store, "--vkey", job.vkey, "--json")
    found = json.loads(bad.stdout)
    assert (bad.returncode, found["exit_code"]) == (1, 1)
    assert ("lattice", 16) in {(one["kind"], one["index"]) for one in found["findings"]}
    missing = tmp_path / "no-such-file"
    for words in ((made.store, "--key", missing), ("--proof", missing, "--key", job.vkey)):
        unread = run(command, *words)
        assert (unread.returncode, unread.stdout) == (2, ""), unread.stderr
        assert str(missing) in unread.stderr
    blind = run(command, tmp_path, "--vkey", job.vkey)
    assert blind.returncode == 2
    assert "no store.json" in blind.stdout
    assert run(command).returncode == 2


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_proofs(good: dict[str, Made], tmp_path: Path, command: list[str]) -> None:
    from braid.ledger.tree.proof import format_proof, parse_proof

    with braid.open(good["small"].store, read_only=True, guard_dir=good["small"].guards) as store:
        read = parse_proof(store.reader.prove(6))
        proof = format_proof(read.index, read.hashes, read.checkpoint, store.reader.stored_envelope(6))
        vkey, id_ = store.vkey, store.reader.envelope(6).id
    file = tmp_path / "record.tlog-proof"
    file.write_bytes(proof)
    shown = run(command, "--proof", file, "--vkey", vkey, "--json")
    assert (shown.returncode, json.loads(shown.stdout)["id"]) == (0, id_)
    first = next(line for line in proof.split(b"\n") if len(line) == 44)
    for number, edited in enumerate(
        (
            proof.replace(b"\nindex 6\n", b"\nindex 5\n"),
            proof.replace(b"@v1", b"@v2"),
            proof.replace(first + b"\n", b"", 1),
            proof.replace(first, bytes([first[0] ^ 1]) + first[1:], 1),
            proof[:-20] + bytes([proof[-20] ^ 1]) + proof[-19:],
        )
    ):
        assert edited != proof
        file.write_bytes(edited)
        assert run(command, "--proof", file, "--vkey", vkey).returncode == 1, number


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_multi_proofs(good: dict[str, Made], tmp_path: Path, command: list[str]) -> None:
    made = good["wide"]
    with braid.open(made.store, read_only=True, guard_dir=made.guards) as store:
        ids = [store.reader.envelope(index).id for index in (3, 4, 77, 255, 256, 303)]
        proof, vkey = store.prove_many(ids), store.vkey
    file = tmp_path / "records.multi-proof"
    file.write_bytes(proof)
    shown = run(command, "--proof", file, "--vkey", vkey, "--json")
    assert (shown.returncode, json.loads(shown.stdout)["ids"]) == (0, ids)
    first = next(line for line in proof.split(b"\n") if len(line) == 44)
    edits = (
        proof.replace(first + b"\n", b"", 1),
        proof.replace(first, bytes([first[0] ^ 1]) + first[1:], 1),
        proof.replace(b"leaf 77 ", b"leaf 78 "),
        re.sub(rb"leaf 4 .*\n", b"", proof),
    )
    for number, edited in enumerate(edits):
        assert edited != proof
        file.write_bytes(edited)
        assert run(command, "--proof", file, "--vkey", vkey).returncode == 1, number


def test_untrusted_text_obeys_no_terminal(good: dict[str, Made], tmp_path: Path) -> None:
    copy = copy_of(good["small"], tmp_path / "copy")
    settings = copy.store / "store.json"
    settings.write_text(settings.read_text().replace("braid.local/", "\\u001b[2Jbraid/"))
    for command in COMMANDS.values():
        said = run(command, copy.store)
        assert said.returncode == 1
        assert "\x1b" not in said.stdout


def test_a_key_that_is_no_key_is_refused_by_both() -> None:
    auditor = python_auditor()
    weak = ["01" + "00" * 31, "ec" + "ff" * 30 + "7f", "ee" + "ff" * 30 + "7f", "02" + "00" * 31, "00" * 32]
    script = (
        f'import {{ checkKey }} from "{(JS_FOLDER / "keys.mjs").as_uri()}";'
        "for (const hex of process.argv.slice(1)) { try { checkKey(Buffer.from(hex, 'hex')); console.log('sound'); }"
        " catch { console.log('refused'); } }"
    )
    sound = parse_vkey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k").public.hex()
    done = run([node(), "--input-type=module", "-e", script], *weak, sound)
    assert done.stdout.split() == ["refused"] * 5 + ["sound"], done.stderr
    for hex_ in weak:
        with pytest.raises(auditor.BadDataError):
            auditor.check_key(bytes.fromhex(hex_))
