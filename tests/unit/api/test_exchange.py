"""Exports with evidence and their import: what is kept, and that nothing tampered with is believed."""

import io
import json
import re
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.exchange import intake
from braid.exchange.intake import Outcome, import_jsonl
from braid.exchange.lines import export_jsonl, open_lines, read_lines
from braid.ledger.errors import EvidenceError, ForgottenError, InvalidRecordError
from braid.ledger.export.evidence import check_imported
from braid.ledger.keys.author_key import Signer, load_signers
from braid.ledger.record import validate
from braid.ledger.record.envelope import pae, unwrap, wrap
from braid.ledger.record.record import Claim, Content, Draft, LinkDiff, ViewBody
from braid.ledger.tree.checkpoint import parse_checkpoint, sign_checkpoint
from braid.ledger.tree.note import parse_note, parse_vkey, signing_key
from braid.ledger.write import sequence
from braid.log.drafts import experience

Lines = list[dict[str, Any]]
MEDIA = bytes(range(256)) * 700


class Source:
    """A store to export from, and its records by name."""

    def __init__(self, folder: Path) -> None:
        self.store = braid.open(folder / "source", guard_dir=folder / "guard")
        store, ids = self.store, dict[str, str]()
        ids["a"] = store.append("Maya moved to Porto.", user_id="maya", name="Maya", tags=["home"])
        claim = Claim(subject="maya", rel="lives_in", object="Porto")
        ids["b"] = store.append("She lives there.", type="inference", parents=[ids["a"]], claims=[claim])
        view = ViewBody(lens="years", content=Content(text="2025"), diffs=[LinkDiff(link=0, added="a year")])
        ids["view"] = store.session.append_drafts(
            [Draft(kind="view", body=view, links=[("applied_to", ids["b"])])]
        )[0].id
        ids["picture"] = store.append("A picture.", media=[store.attach(MEDIA, media_type="image/png")])
        keyed = experience("Once.", once="k1", extra={"mood": "calm"})
        ids["keyed"] = store.session.append_drafts([keyed])[0].id
        ids["forgotten"] = store.append("Not any more.")
        ids["heir"] = store.append(
            "From what is hidden.", type="inference", parents=[ids["forgotten"], ids["a"]]
        )
        ids["gone"] = store.append("Erased.")
        ids["left"] = store.append("From both.", type="inference", parents=[ids["gone"], ids["a"]])
        ids["new"] = store.correct(ids["a"], "Maya moved to Lisbon.")
        store.forget(ids["forgotten"])
        store.erase(ids["gone"])
        self.ids = ids

    def lines(self, *, include_forgotten: bool = False) -> Lines:
        """The export as decoded lines."""
        out = io.StringIO()
        export_jsonl(self.store, out, include_forgotten=include_forgotten)
        return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    made = Source(tmp_path_factory.mktemp("source"))
    yield made
    made.store.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[braid.Store]:
    with braid.open(tmp_path / "other", guard_dir=tmp_path / "guard") as store:
        yield store


def dumped(lines: Lines) -> list[bytes]:
    return [json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines]


def take(store: braid.Store, lines: Lines, **options: Any) -> Outcome:
    return import_jsonl(store, dumped(lines), **options)


def memories(store: braid.Store) -> dict[str, braid.Record]:
    """The imported records by the id that they had."""
    found = store.read(include_forgotten=True)
    return {r.members["imported"]["id"]: r for r in found if "imported" in r.members}


def at(lines: Lines, id: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("id") == id)


# What is kept


def test_an_imported_record_keeps_all_that_shows_where_it_is_from(source: Source, other: braid.Store) -> None:
    done = take(other, source.lines(), vkey=source.store.vkey)
    assert (done.refused, done.loose, done.known) == ([], [], 0)
    here = memories(other)
    for name in ("a", "b", "view", "picture", "keyed", "heir", "left", "new"):
        old, new = source.store.get(source.ids[name]), here[source.ids[name]]
        kept = new.members["imported"]
        assert (kept["id"], kept["origin"]) == (old.id, source.store.origin)
        assert kept["created_at"] == old.envelope.created_at
        assert kept["envelope"].encode() == old.stored
        assert kept.get("links", []) == [[link.role, link.index, link.id] for link in old.links]
        assert (new.kind, new.type) == (old.kind, old.type)
        assert check_imported(new.members, parse_vkey(source.store.vkey)).id == old.id
    assert here[source.ids["a"]].text == "Maya moved to Porto."
    assert (
        here[source.ids["a"]].members["occurred_at"] == source.store.get(source.ids["a"]).envelope.created_at
    )
    assert here[source.ids["keyed"]].members["mood"] == "calm"
    assert other.verify(deep=True).findings == []


def test_links_lead_to_the_new_ids(source: Source, other: braid.Store) -> None:
    take(other, source.lines())
    here = memories(other)
    for name, role, target in (("b", "parent", "a"), ("view", "applied_to", "b"), ("new", "supersedes", "a")):
        (link,) = here[source.ids[name]].targets(role)
        assert link.id == here[source.ids[target]].id
    (left,) = here[source.ids["left"]].targets("parent")
    assert left.id == here[source.ids["a"]].id, "the link to what was erased is kept as evidence only"


def test_media_come_along_as_they_were_sealed(source: Source, other: braid.Store) -> None:
    take(other, source.lines())
    record = memories(other)[source.ids["picture"]]
    assert record.envelope.blobs == source.store.get(source.ids["picture"]).envelope.blobs
    (media,) = record.body.content.media  # type: ignore[attr-defined]
    assert b"".join(other.media(media)) == MEDIA


def test_importing_twice_adds_nothing(source: Source, other: braid.Store) -> None:
    first = take(other, source.lines())
    size = len(other)
    again = take(other, source.lines())
    assert (again.added, again.known) == (0, first.added)
    assert len(other) == size


def test_the_forgotten_stay_forgotten_until_they_are_recovered_here(
    source: Source, other: braid.Store
) -> None:
    lines = source.lines(include_forgotten=True)
    take(other, lines)
    id = memories(other)[source.ids["forgotten"]].id
    with pytest.raises(ForgottenError):
        other.get(id)
    other.recover(id)
    assert take(other, lines).added == 0
    assert other.get(id).text == "Not any more."


def test_a_dry_run_checks_all_and_changes_nothing(source: Source, other: braid.Store) -> None:
    size = len(other)
    done = take(other, source.lines(), dry_run=True)
    assert (done.added, done.refused) == (8 + 1, []), "nine memories and events"
    assert len(other) == size
    assert not list((other.path / "blobs").rglob("*/*"))


def test_a_third_store_keeps_the_whole_way(source: Source, other: braid.Store, tmp_path: Path) -> None:
    take(other, source.lines())
    out = io.StringIO()
    export_jsonl(other, out)
    with braid.open(tmp_path / "third", guard_dir=tmp_path / "guard") as third:
        done = import_jsonl(third, out.getvalue().encode().splitlines(keepends=True))
        assert done.refused == []
        here = memories(third)
        middle = memories(other)[source.ids["a"]]
        kept = here[middle.id].members["imported"]
        assert kept["origin"] == other.origin
        assert kept["imported"]["id"] == source.ids["a"]
        check_imported(here[middle.id].members)
        check_imported({**middle.members, "imported": kept["imported"]})
    home = import_jsonl(source.store, out.getvalue().encode().splitlines(keepends=True), dry_run=True)
    assert (home.added, home.refused) == (0, []), "what comes home is known there"


def test_what_was_kept_is_checked_again_later(source: Source, other: braid.Store) -> None:
    take(other, source.lines())
    members = memories(other)[source.ids["b"]].members
    check_imported(members)
    for name, value in (("author", b64encode(bytes(32)).decode()), ("links", []), ("id", source.ids["a"])):
        with pytest.raises(EvidenceError):
            check_imported({**members, "imported": {**members["imported"], name: value}})
    with pytest.raises(EvidenceError, match="not what was signed"):
        check_imported({**members, "content": {"text": "She lives elsewhere."}})
    with pytest.raises(EvidenceError):
        check_imported(members, parse_vkey(other.vkey))


# What is refused

Change = Callable[[dict[str, Any]], object]


def _edit_text(line: dict[str, Any]) -> None:
    line["body"]["content"]["text"] = line["record"]["content"]["text"] = "Maya moved to Paris."


def _edit_signature(line: dict[str, Any]) -> None:
    signed = unwrap(line["envelope"].encode())
    line["envelope"] = wrap(signed.payload, bytes(64)).decode()


def _edit_envelope(line: dict[str, Any]) -> None:
    signed = unwrap(line["envelope"].encode())
    payload = signed.payload.replace(b'"occurrence"', b'"inference"')
    line["envelope"] = wrap(payload, signed.signature).decode()


def _sign_anew(line: dict[str, Any]) -> None:
    signed, signer = unwrap(line["envelope"].encode()), Signer(bytes(32), "recorder")
    line["envelope"] = wrap(signed.payload, signer.sign(pae(signed.payload))).decode()


def _edit_path(line: dict[str, Any]) -> None:
    line["path"][0] = b64encode(bytes(32)).decode()


def _edit_nonce(line: dict[str, Any]) -> None:
    line["opening"]["nonce"] = b64encode(bytes(24)).decode()


TAMPERED: dict[str, tuple[Change, str]] = {
    "text": (_edit_text, "its text is not what was signed"),
    "record alone": (lambda line: line["record"]["content"].update(text="x"), "what it is said to say"),
    "an added member": (lambda line: line["body"].update(mood="merry"), "its text is not what was signed"),
    "signature": (_edit_signature, "doesn't lead|does not lead|root"),
    "envelope": (_edit_envelope, "its envelope is that of"),
    "another author": (_sign_anew, "root"),
    "proof": (_edit_path, "root"),
    "shorter proof": (lambda line: line["path"].pop(), "hash|root"),
    "not base64": (lambda line: line.update(path=["!"]), "not 32 bytes in base64"),
    "nonce": (_edit_nonce, "its text is not what was signed"),
    "seed": (lambda line: line["opening"].update(seed=b64encode(bytes(32)).decode()), "commits to"),
    "no opening": (lambda line: line.pop("opening"), "nothing shows"),
    "id": (lambda line: line.update(id="exp_2025-01-01T00:00:00Z_00000003abcd"), "its envelope is that of"),
    "kind": (lambda line: line.update(kind="event"), "its envelope is that of"),
    "an invented link": (
        lambda line: line.update(links=[["parent", 1, "exp_2025-01-01T00:00:00Z_00000001abcd"]]),
        "its links are not those that were signed",
    ),
    "a link to itself": (
        lambda line: line.update(links=[["parent", 3, line["id"]]]),
        "its links are not those that were signed",
    ),
}


def test_lines_that_another_program_wrote_anew_are_told_to_be(source: Source, other: braid.Store) -> None:
    lines = source.lines()
    spaced = [json.dumps(line).encode() + b"\n" for line in lines]
    done = import_jsonl(other, spaced)
    assert done.added == 0
    reasons = [reason for _, reason in done.refused if "its text is not what was signed" in reason]
    assert reasons
    assert all("was written again by another program: get the file again" in reason for reason in reasons)
    _edit_text(at(lines, source.ids["a"]))
    assert "written again" not in take(other, lines).refused[0][1]


def test_an_import_after_an_erasure_brings_the_erased_back(source: Source, other: braid.Store) -> None:
    """As docs/access.md says: what was erased is not known any more."""
    take(other, source.lines())
    before = memories(other)[source.ids["keyed"]].id
    other.erase(before)
    assert take(other, source.lines()).added == 1
    assert memories(other)[source.ids["keyed"]].id != before


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_record_is_refused_and_the_rest_goes_in(
    what: str, source: Source, other: braid.Store
) -> None:
    change, reason = TAMPERED[what]
    lines = source.lines()
    change(at(lines, source.ids["a"]))
    done = take(other, lines)
    assert len(done.refused) == 1, done.refused
    assert re.search(reason, done.refused[0][1]), done.refused
    here = memories(other)
    assert source.ids["a"] not in here
    assert source.ids["b"] in here
    assert here[source.ids["b"]].links == []


def test_a_missing_record_shows_by_the_links_to_it(source: Source, other: braid.Store) -> None:
    lines = [line for line in source.lines() if line.get("id") != source.ids["b"]]
    done = take(other, lines)
    assert [reason for _, reason in done.refused] == [
        f"{source.ids['view']}: it speaks of records that are not in this export (--forgotten exports those, too)"
    ]
    lines = [line for line in source.lines() if line.get("id") != source.ids["a"]]
    done = take(other, lines, dry_run=True)
    assert len(done.loose) == 5
    assert all(source.ids["a"] in reason for _, reason in done.loose)


def test_a_missing_control_record_shows(source: Source, other: braid.Store) -> None:
    lines = source.lines()
    key = next(line for line in lines if line.get("kind") == "key")
    done = take(other, [line for line in lines if line is not key])
    assert "a control record before it is missing" in done.refused[0][1]
    assert done.added == 0


def test_records_out_of_order_or_twice(source: Source, other: braid.Store) -> None:
    lines = source.lines()
    a, b = (next(k for k, line in enumerate(lines) if line.get("id") == source.ids[name]) for name in "ab")
    lines[a], lines[b] = lines[b], lines[a]
    done = take(other, lines)
    assert "out of order" in done.refused[0][1]
    assert source.ids["a"] not in memories(other), "no record is linked to a later one"


def test_a_truncated_export_is_told(source: Source, other: braid.Store) -> None:
    lines = dumped(source.lines())
    for cut in (lines[:-1], [*lines[:-2], lines[-2][: len(lines[-2]) // 2]]):
        done = import_jsonl(other, cut, dry_run=True)
        assert "the export ends early" in done.refused[-1][1]


def test_a_head_that_does_not_hold_refuses_everything(source: Source, other: braid.Store) -> None:
    lines = source.lines()
    size = len(other)
    head = lines[0]
    forged = {**head, "checkpoint": head["checkpoint"].replace("\n" + str(len(source.store)), "\n9")}
    for changed in (
        forged,
        {**head, "vkey": other.vkey},
        {**head, "origin": "example.org/log"},
        {**head, "vkey": "x"},
    ):
        with pytest.raises(EvidenceError, match="line 1"):
            take(other, [changed, *lines[1:]])
    with pytest.raises(EvidenceError, match="line 1"):
        take(other, lines, vkey=other.vkey)
    assert len(other) == size


def test_records_by_the_key_that_signed_the_head_are_refused(source: Source, other: braid.Store) -> None:
    """A head under an author's key vouches for nothing that this author signed: the log's key signs heads alone."""
    lines = source.lines()
    signers = load_signers(source.store.path / "keys").values()
    recorder = next(one for one in signers if one.role == "recorder")
    key = signing_key(source.store.origin, recorder.seed)
    stated = parse_checkpoint(parse_note(lines[0]["checkpoint"].encode())[0])
    lines[0]["vkey"], lines[0]["checkpoint"] = str(key.verifier), sign_checkpoint(stated, [key]).decode()
    done = take(other, lines)
    assert done.added == 0
    assert [id for id, reason in done.refused if "author's key is the log's" in reason]


def test_records_of_another_log_are_refused(source: Source, other: braid.Store, tmp_path: Path) -> None:
    with braid.open(tmp_path / "foreign", guard_dir=tmp_path / "guard") as foreign:
        for _ in range(6):
            foreign.append("foreign")
        out = io.StringIO()
        foreign.checkpoint()
        export_jsonl(foreign, out)
    strange = json.loads(out.getvalue().splitlines()[-2])
    lines = source.lines()
    done = take(other, [*lines[:-1], strange, lines[-1]])
    assert len(done.refused) == 1
    assert "it belongs to" in done.refused[0][1]


def test_an_export_of_this_very_log_is_refused(source: Source) -> None:
    with pytest.raises(EvidenceError, match="very log"):
        take(source.store, source.lines())


def test_the_former_format_is_named(other: braid.Store) -> None:
    with pytest.raises(EvidenceError, match="export format 1; this release reads 2"):
        import_jsonl(other, [b'{"braid_export":1,"origin":"x","record":{}}\n'])


@pytest.mark.parametrize(
    "text", [b"", b"not json\n", b"[1]\n", b"{}\n", b'{"line":"end","records":0}\n', b"\xff\xfe\n"]
)
def test_what_is_no_export_is_refused(text: bytes, other: braid.Store) -> None:
    with pytest.raises(EvidenceError, match="not an export that can be believed"):
        import_jsonl(other, io.BytesIO(text))


def test_deep_nesting_is_refused(source: Source, other: braid.Store) -> None:
    lines = dumped(source.lines())
    deep = b'{"line":"record","record":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n"
    done = import_jsonl(other, [lines[0], deep, *lines[1:]], dry_run=True)
    assert [number for number, _ in done.refused] == [2]


def test_a_line_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("braid.exchange.lines.MAX_LINE_BYTES", 100)
    with pytest.raises(EvidenceError, match="more than 100 bytes"):
        list(read_lines(io.BytesIO(b"x" * 1_000)))


# Media


def media_lines(lines: Lines) -> list[int]:
    return [k for k, line in enumerate(lines) if line["line"] == "media"]


@pytest.mark.parametrize("what", ["altered", "missing", "too many", "not base64"])
def test_media_that_are_not_what_was_signed(what: str, source: Source, other: braid.Store) -> None:
    lines = source.lines()
    places = media_lines(lines)
    assert len(places) > 2
    piece = lines[places[1]]
    if what == "altered":
        piece["data"] = b64encode(bytes(len(b64decode(piece["data"])))).decode()
    elif what == "missing":
        del lines[places[-1]]
    elif what == "too many":
        lines.insert(places[0], dict(lines[places[0]]))
    else:
        piece["data"] = "!"
    done = take(other, lines)
    assert done.refused
    assert source.ids["picture"] not in memories(other)
    assert not [path for path in (other.path / "blobs").rglob("*") if path.is_file()], "nothing of it stays"


def test_media_that_nobody_named(source: Source, other: braid.Store) -> None:
    lines = source.lines()
    stray = {"line": "media", "blob": "../../../../tmp/evil", "data": "AAAA"}
    done = take(other, [lines[0], stray, *lines[1:]])
    assert [number for number, _ in done.refused] == [2]


# Archives


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


def test_an_archive_is_read_and_never_unpacked(source: Source, other: braid.Store, tmp_path: Path) -> None:
    data = b"".join(dumped(source.lines()))
    path = archive(tmp_path / "in.zip", {"../../evil": b"x", "/etc/evil": b"x", "maya/evidence.jsonl": data})
    before = sorted(tmp_path.iterdir())
    with open_lines(path) as lines:
        assert import_jsonl(other, lines).refused == []
    assert sorted(tmp_path.iterdir()) == before


def test_an_archive_that_would_swell_is_refused(tmp_path: Path) -> None:
    bomb = archive(tmp_path / "bomb.zip", {"evidence.jsonl": bytes(200 * 2**20)})
    assert bomb.stat().st_size < 2**20
    with pytest.raises(EvidenceError, match="would swell"), open_lines(bomb):
        pass


def test_archives_without_their_file_or_with_two(tmp_path: Path) -> None:
    none = archive(tmp_path / "none.zip", {"readme": b"x"})
    two = archive(tmp_path / "two.zip", {"a/evidence.jsonl": b"x", "b/evidence.jsonl": b"x"})
    for path in (none, two):
        with pytest.raises(EvidenceError, match="one evidence"), open_lines(path):
            pass


def test_a_damaged_archive_is_refused(source: Source, other: braid.Store, tmp_path: Path) -> None:
    path = archive(tmp_path / "in.zip", {"evidence.jsonl": b"".join(dumped(source.lines()))})
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(EvidenceError), open_lines(path) as lines:
        import_jsonl(other, lines, dry_run=True)


# Many records


def test_batches_link_across_and_within(
    source: Source, other: braid.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH", 2)
    done = take(other, source.lines())
    assert done.refused == []
    here = memories(other)
    (link,) = here[source.ids["view"]].targets("applied_to")
    assert link.id == here[source.ids["b"]].id


def test_one_record_that_may_not_enter_keeps_out_no_other(
    source: Source, other: braid.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that this store refuses: its neighbours of the transaction go in all the same."""
    check = validate.check_draft

    def refuse(draft: Draft, now: Any) -> None:
        if isinstance(draft.body, ViewBody):
            raise InvalidRecordError("no views here")
        check(draft, now)

    monkeypatch.setattr(sequence, "check_draft", refuse)
    done = take(other, source.lines())
    assert [reason for _, reason in done.refused] == [f"{source.ids['view']}: no views here"]
    assert source.ids["new"] in memories(other)
