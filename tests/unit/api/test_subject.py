"""Everything held about one person: what is in it, what is not, its format, and that tampering shows."""

import gc
import hashlib
import json
import shutil
import stat
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import networkx
import pytest

import braid
from braid.exchange.check import check_export
from braid.exchange.intake import import_jsonl
from braid.exchange.lines import open_lines
from braid.exchange.subject import export_subject, plan_subject
from braid.ledger.errors import EvidenceError, NoVaultError
from braid.ledger.export.evidence import check_imported
from braid.ledger.read.scopechain import check_scope
from braid.ledger.subject.collection import gather
from braid.ledger.subject.format import Holding, Manifest, json_schema
from braid.ledger.tree.note import parse_vkey
from tests.unit.api.subject_scene import HOSTILE, SECRET, Ids, build

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "data" / "subject-v1"
MADE = datetime(2025, 7, 1, 9, tzinfo=UTC)
MAYA = {"user_id": "maya"}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[braid.Store, Ids]]:
    store, ids = build(tmp_path_factory.mktemp("scene"))
    yield store, ids
    store.close()


@pytest.fixture(scope="module")
def given(scene: tuple[braid.Store, Ids], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Maya's export."""
    folder = tmp_path_factory.mktemp("given") / "maya"
    export_subject(scene[0], folder, MAYA, now=MADE)
    return folder


def holding(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "records.json").read_bytes())
    return found


def by_id(folder: Path) -> dict[str, dict[str, Any]]:
    return {record["id"]: record for record in holding(folder)["records"]}


# What is in it


def test_own_and_derived_records_are_in_it_and_marked(scene: tuple[braid.Store, Ids], given: Path) -> None:
    _, ids = scene
    records = by_id(given)
    own = {ids[name] for name in ("own", "hostile", "forgotten", "new")}
    assert {
        id for id, one in records.items() if one["belongs"] == "own" and one["kind"] == "experience"
    } == own
    derived = {ids[name] for name in ("derived", "shared", "stance", "affect", "embedding")}
    assert {id for id, one in records.items() if one["belongs"] == "derived"} == derived
    assert {id for id, one in records.items() if one["shared"]} == {ids["shared"]}
    correction = next(one for one in records.values() if one["kind"] == "event")
    assert correction["record"]["reason"] == "misheard"
    assert holding(given)["counts"] == {
        "own": 5, "derived": 5, "shared": 1, "forgotten": 1, "others": 3, "media": 2, "claims": 1,
    }  # fmt: skip


WHOSE = [
    # kept under, made from, belongs, shared
    ("maya", "", "own", False),
    ("maya", "own", "own", False),
    ("maya", "derived", "own", False),
    ("maya", "shared", "own", True),
    ("maya", "his", "own", True),
    ("maya", "own his", "own", True),
    ("maya", "own shared", "own", True),
    ("maya", "own from his", "own", True),
    (None, "", None, False),
    (None, "own", "derived", False),
    (None, "derived", "derived", False),
    (None, "shared", "derived", True),
    (None, "his", None, False),
    (None, "own his", "derived", True),
    (None, "own from his", "derived", True),
    ("jonas", "own", "other", False),
    ("jonas", "shared", "other", False),
    ("jonas", "his", None, False),
    ("jonas", "own his", "other", False),
]


@pytest.fixture(scope="module")
def made_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[str | None, bool]]]:
    """What each row of WHOSE belongs as, and whether it is shared."""
    folder = tmp_path_factory.mktemp("whose")
    with braid.open(folder / "memory", guard_dir=folder / "guard") as store:
        ids = {"own": store.append("a", user_id="maya"), "his": store.append("b", user_id="jonas")}
        ids["derived"] = store.append("c", type="inference", parents=[ids["own"]])
        ids["shared"] = store.append("d", type="inference", parents=[ids["own"], ids["his"]])
        ids["own from his"] = store.append("e", type="inference", parents=[ids["his"]], user_id="maya")
        rows: list[int] = []
        for user, names, *_ in WHOSE:
            words = ["own from his"] if names == "own from his" else names.split()
            parents = [ids[name] for name in words]
            id = store.append(
                "x", type="inference" if parents else "occurrence", parents=parents, user_id=user
            )
            rows.append(store.reader.index_of(id))
        store.checkpoint()
        found = gather(store.reader, MAYA, rows[-1] + 1)
        yield [
            (found.belongs.get(row, "other" if row in found.others else None), row in found.shared)
            for row in rows
        ]


@pytest.mark.parametrize("row", range(len(WHOSE)))
def test_what_went_into_a_record_says_whether_it_is_shared(
    row: int, made_of: list[tuple[str | None, bool]]
) -> None:
    assert made_of[row] == WHOSE[row][2:], WHOSE[row][:2]


def test_the_page_marks_an_own_record_that_came_from_others(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        his = store.append("b", user_id="jonas")
        store.append("e", type="inference", parents=[his], user_id="maya")
        assert export_subject(store, tmp_path / "maya", MAYA).shared == 1
    assert "derived from others&#x27; records, too" in (tmp_path / "maya" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("who", [{"user_id": "nobody"}, {"user_id": "maya", "session_id": "s9"}])
def test_a_subject_of_whom_nothing_is_held_is_refused(
    who: dict[str, str], scene: tuple[braid.Store, Ids], tmp_path: Path
) -> None:
    named = ", ".join(f"{name}={value}" for name, value in who.items())
    with pytest.raises(ValueError, match=f"nothing is held about {named}"):
        plan_subject(scene[0], who)
    for dest in ("given", "given.zip"):
        with pytest.raises(ValueError, match=f"nothing is held about {named}"):
            export_subject(scene[0], tmp_path / dest, who)
    assert list(tmp_path.iterdir()) == []


def test_other_peoples_content_is_nowhere_in_it(scene: tuple[braid.Store, Ids], given: Path) -> None:
    _, ids = scene
    for path in given.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    others = {one["id"] for one in holding(given)["others"]}
    assert others == {ids["jonas"], ids["his"], ids["gone"]}
    assert ids["his heir"] not in (given / "records.json").read_text(encoding="utf-8")
    assert ids["unrelated"] not in (given / "records.json").read_text(encoding="utf-8")


def test_the_forgotten_are_in_it_and_the_erased_are_named(
    scene: tuple[braid.Store, Ids], given: Path
) -> None:
    store, ids = scene
    hidden = by_id(given)[ids["forgotten"]]
    assert hidden["record"]["content"]["text"] == "Maya dislikes rain."
    assert hidden["forgotten"]["at"] == store.reader.control.hidden[hidden["index"]][1]
    gone = next(one for one in holding(given)["others"] if one["id"] == ids["gone"])
    assert gone["erased"]["id"].startswith("tomb_")
    assert gone["type"] == "inference"


def test_what_was_changed_is_told_but_no_reason_that_concerns_others(
    scene: tuple[braid.Store, Ids], given: Path
) -> None:
    _, ids = scene
    told = [(one["action"], one["records"], one["reason"]) for one in holding(given)["changes"]]
    assert told == [
        ("forget", [ids["forgotten"]], "she asked"),
        ("forget", [ids["hostile"]], None),
        ("recover", [ids["hostile"]], "asked by the owner"),
    ]


def test_links_say_whether_the_other_end_is_in_it(scene: tuple[braid.Store, Ids], given: Path) -> None:
    _, ids = scene
    records = by_id(given)
    shared = {(link["role"], link["id"]): link["content"] for link in records[ids["shared"]]["links"]}
    assert shared == {("parent", ids["derived"]): True, ("parent", ids["jonas"]): False}
    back = {link["id"]: link["content"] for link in records[ids["own"]]["linked_from"]}
    assert back[ids["derived"]] is True
    assert back[ids["his"]] is back[ids["gone"]] is False
    assert records[ids["own"]]["superseded_by"] == [ids["new"]]


def test_media_are_files_named_by_us(scene: tuple[braid.Store, Ids], given: Path) -> None:
    _, ids = scene
    png, html = by_id(given)[ids["hostile"]]["media"]
    assert (given / png["path"]).read_bytes() == b"\x89PNG not really"
    assert png["path"].endswith(".png")
    assert png["name"] == "../../door.png"
    assert html["path"].endswith(".bin"), "nothing that a browser would run"
    assert hashlib.sha256((given / html["path"]).read_bytes()).hexdigest() == html["sha256"]


@pytest.mark.parametrize(
    ("subject", "names"),
    [
        ({"session_id": "s1"}, {"own", "new"}),
        ({"user_id": "maya", "session_id": "s2"}, {"hostile", "forgotten"}),
        ({"actor": "Maya"}, {"own", "new", "affect"}),
    ],
)
def test_who_is_meant(
    subject: dict[str, str], names: set[str], scene: tuple[braid.Store, Ids], tmp_path: Path
) -> None:
    store, ids = scene
    export_subject(store, tmp_path / "one", subject)
    own = {one["id"] for one in by_id(tmp_path / "one").values() if one["belongs"] == "own"}
    assert own - {one["id"] for one in by_id(tmp_path / "one").values() if one["kind"] == "event"} == {
        ids[name] for name in names
    }


def test_an_actor_that_a_body_leaves_out_is_the_user(scene: tuple[braid.Store, Ids]) -> None:
    assert plan_subject(scene[0], {"actor": "user"}).own == 10


def test_a_dry_run_counts_the_same(scene: tuple[braid.Store, Ids], given: Path) -> None:
    assert msgspec.to_builtins(plan_subject(scene[0], MAYA)) == holding(given)["counts"]


# For people, and for machines


class Page(HTMLParser):
    """What a browser would meet."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        assert not [name for name in given if name.startswith("on")]
        self.anchors |= {given["id"] or ""} if "id" in given else set()
        self.links += [str(given[name]) for name in ("href", "src") if name in given]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_self_contained_and_holds_hostile_text_as_text(given: Path) -> None:
    page = Page()
    page.feed((given / "index.html").read_text(encoding="utf-8"))
    assert not page.tags & {"script", "img", "iframe", "object", "form", "base", "embed"}
    assert HOSTILE in page.text
    for link in page.links:
        assert link.startswith("#") or (given / link).is_file(), link
        assert not link.startswith("#") or link[1:] in page.anchors
    assert "forgotten on 2025" in page.text
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'' in (
        given / "index.html"
    ).read_text(encoding="utf-8")


def test_graphml_is_read_by_networkx(scene: tuple[braid.Store, Ids], given: Path) -> None:
    _, ids = scene
    graph = networkx.read_graphml(given / "graph.graphml")
    assert graph.is_directed()
    assert set(graph.nodes) == {*by_id(given), *(one["id"] for one in holding(given)["others"])}
    assert graph.edges[ids["derived"], ids["own"]]["role"] == "parent"
    assert graph.edges[ids["his"], ids["own"]]["role"] == "parent"
    assert graph.nodes[ids["jonas"]] == {
        "index": 6, "kind": "experience", "type": "occurrence", "created_at": graph.nodes[ids["jonas"]]["created_at"],
        "belongs": "other", "shared": False, "forgotten": True, "erased": False, "text": "",
    }  # fmt: skip
    assert graph.nodes[ids["shared"]]["shared"] is True
    assert "alert(1)" in graph.nodes[ids["hostile"]]["text"]
    assert networkx.ancestors(graph, ids["own"]) >= {ids["derived"], ids["shared"], ids["stance"]}


def test_the_schema_is_the_documented_one_and_holds(given: Path) -> None:
    documented = json.loads((ROOT / "docs" / "access.schema.json").read_bytes())
    assert documented == json_schema()
    for folder in (given, GOLDEN):
        for name in ("records.json", "manifest.json"):
            jsonschema.validate(json.loads((folder / name).read_bytes()), documented)


def test_every_member_is_documented() -> None:
    page = (ROOT / "docs" / "access.md").read_text(encoding="utf-8")
    for part in json_schema()["$defs"].values():
        for member in part["properties"]:
            assert f"`{member}`" in page, member


def outline(value: Any) -> Any:
    """The members and types of JSON, without its values: what a reader of the format relies on."""
    if isinstance(value, dict):
        return {name: outline(member) for name, member in value.items()}
    if isinstance(value, list):
        return [outline(value[0])] if value else []
    return type(value).__name__


def test_version_1_is_what_it_was(given: Path) -> None:
    """The golden export was made by the release that introduced the format; what is made today has its outline."""
    for name, type_ in (("records.json", Holding), ("manifest.json", Manifest)):
        golden, today = ((folder / name).read_bytes() for folder in (GOLDEN, given))
        msgspec.json.decode(golden, type=type_)
        assert outline(json.loads(golden)) == outline(json.loads(today))
    assert [one["kind"] for one in holding(GOLDEN)["records"]] == [
        one["kind"] for one in holding(given)["records"]
    ]


def test_an_export_of_version_1_is_still_checked_and_imported(tmp_path: Path) -> None:
    vkey = (GOLDEN / "log.vkey").read_text(encoding="utf-8")
    assert check_export(GOLDEN, vkey)["records"] == 10
    with braid.open(tmp_path / "new", guard_dir=tmp_path / "guard") as store, open_lines(GOLDEN) as lines:
        done = import_jsonl(store, lines, vkey=vkey)
        assert (done.added, done.refused) == (10, [])
        assert store.sql("SELECT count(*) AS n FROM experiences").to_pylist() == [{"n": 5}]


# Where it lies


def test_folder_and_files_are_private_and_nothing_is_overwritten(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    for path in [given, *given.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    (tmp_path / "taken.zip").write_bytes(b"mine")
    for taken in (given, tmp_path / "taken.zip"):
        with pytest.raises(FileExistsError):
            export_subject(scene[0], taken, MAYA)
    assert (tmp_path / "taken.zip").read_bytes() == b"mine"
    check_export(given, scene[0].vkey)


def test_a_zip_is_the_same_folder(scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path) -> None:
    store, _ = scene
    path = tmp_path / "maya.zip"
    export_subject(store, path, MAYA, now=MADE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            assert archive.read(name) == (given / name.removeprefix("maya/")).read_bytes()
    assert check_export(path, store.vkey) == check_export(given, store.vkey)


def test_an_export_that_fails_leaves_nothing(
    scene: tuple[braid.Store, Ids], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("braid.exchange.subject.to_graphml", full)
    for name in ("maya", "maya.zip"):
        with pytest.raises(OSError, match="No space"):
            export_subject(scene[0], tmp_path / name, MAYA)
    assert list(tmp_path.iterdir()) == []


def test_a_flush_is_not_paid_for_each_proof(
    scene: tuple[braid.Store, Ids], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []

    def fsync(fd: int) -> None:
        flushed.append(fd)

    monkeypatch.setattr("braid.exchange.subject.os.fsync", fsync)
    export_subject(scene[0], tmp_path / "maya", MAYA)
    files = [path for path in (tmp_path / "maya").iterdir() if path.is_file()]
    folders = [path for path in (tmp_path / "maya").iterdir() if path.is_dir()]
    assert len(list((tmp_path / "maya" / "proofs").iterdir())) > 3
    assert len(flushed) == len(files) + len(folders) + 1


@pytest.mark.parametrize("subject", [{}, {"user_id": ""}, {"colour": "red"}])
def test_a_subject_that_names_nobody(
    subject: dict[str, str], scene: tuple[braid.Store, Ids], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="user_id"):
        export_subject(scene[0], tmp_path / "one", subject)
    assert list(tmp_path.iterdir()) == []


def test_an_auditors_copy_has_nothing_to_give(scene: tuple[braid.Store, Ids], tmp_path: Path) -> None:
    from braid.exchange.copies import export_store

    export_store(scene[0], tmp_path / "copy", audit=True)
    with (
        braid.open(tmp_path / "copy", read_only=True, guard_dir=tmp_path) as copy,
        pytest.raises(NoVaultError),
    ):
        export_subject(copy, tmp_path / "one", MAYA)


# Checking it


def copied(given: Path, tmp_path: Path) -> Path:
    shutil.copytree(given, tmp_path / "copy")
    return tmp_path / "copy"


def remanifest(folder: Path) -> None:
    """Make the manifest right again, as whoever tampers with a file would."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for file in manifest["files"]:
        data = (folder / file["path"]).read_bytes()
        file["sha256"], file["size"] = hashlib.sha256(data).hexdigest(), len(data)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_any_changed_file_shows(scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path) -> None:
    folder = copied(given, tmp_path)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"):
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(EvidenceError, match="was changed"):
            check_export(folder, scene[0].vkey)
        path.unlink()
        with pytest.raises(EvidenceError, match="is missing"):
            check_export(folder, scene[0].vkey)
        path.write_bytes(data)
    check_export(folder, scene[0].vkey)


@pytest.mark.parametrize("file", ["records.json", "evidence.jsonl"])
def test_changed_words_show_even_under_a_new_manifest(
    file: str, scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    text = (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text(text.replace("Maya moved to Porto.", "Maya moved to Paris."), encoding="utf-8")
    remanifest(folder)
    with pytest.raises(EvidenceError, match="what was signed"):
        check_export(folder, scene[0].vkey)


def test_changed_media_show_even_under_a_new_manifest(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    picture = next((folder / "media").glob("*.png"))
    picture.write_bytes(b"another picture")
    held = (folder / "records.json").read_text(encoding="utf-8")
    old = hashlib.sha256(b"\x89PNG not really").hexdigest()
    held = held.replace(old, hashlib.sha256(b"another picture").hexdigest())
    (folder / "records.json").write_text(held, encoding="utf-8")
    remanifest(folder)
    with pytest.raises(EvidenceError, match="its media are not what was signed"):
        check_export(folder, scene[0].vkey)


def test_a_record_left_out_or_put_elsewhere_shows(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    held = holding(folder)
    held["records"].pop()
    (folder / "records.json").write_text(json.dumps(held), encoding="utf-8")
    remanifest(folder)
    with pytest.raises(EvidenceError, match="the same records"):
        check_export(folder, scene[0].vkey)
    (folder / "records.json").write_bytes((given / "records.json").read_bytes())
    one, other, *_ = sorted((folder / "proofs").iterdir())
    one.write_bytes(other.read_bytes())
    remanifest(folder)
    with pytest.raises(EvidenceError, match="does not hold"):
        check_export(folder, scene[0].vkey)


# What is left out


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[braid.Store, Path]]:
    """A store that counts its scopes, with erased memories in them, and what maya is given of it."""
    home = tmp_path_factory.mktemp("counted")
    braid.init(home / "memory", scope_chains=True, durability="none", guard_dir=home / "guard")
    with braid.open(home / "memory", guard_dir=home / "guard") as store:
        ids = [
            store.append(f"n {n}", user_id=("maya", "maya", "jonas")[n % 3], session_id="s")
            for n in range(12)
        ]
        store.forget(ids[9])
        store.erase(ids[3], ids[4])  # two of maya's, behind each other
        store.append("after", user_id="maya")
        export_subject(store, home / "maya", MAYA, now=MADE)
        yield store, home / "maya"


def without(given: Path, to: Path, id: str) -> Path:
    """Give the export as one would who holds a record back: no file of it says that there was one."""
    shutil.copytree(given, to)
    held = holding(to)
    held["records"] = [one for one in held["records"] if one["id"] != id]
    (to / "records.json").write_text(json.dumps(held), encoding="utf-8")
    lines = (to / "evidence.jsonl").read_bytes().splitlines(keepends=True)
    (to / "evidence.jsonl").write_bytes(
        b"".join(line for line in lines if b'"id":"%s","kind"' % id.encode() not in line)
    )
    remanifest(to)
    return to


def test_a_memory_that_is_left_out_of_a_scope_shows(
    counted: tuple[braid.Store, Path], tmp_path: Path
) -> None:
    store, given = counted
    shown = check_export(given, store.vkey)["left out"]
    own = [one for one in holding(given)["records"] if one["belongs"] == "own"]
    assert shown == f"nothing of user_id=maya up to record {own[-1]['index']} but 2 erased"
    for one in own[:-1]:
        with pytest.raises(EvidenceError, match="memories of user_id=maya are left out"):
            check_export(without(given, tmp_path / one["id"][-12:], one["id"]), store.vkey)
    last = without(given, tmp_path / "last", own[-1]["id"])  # nothing names it, which is documented
    assert f"up to record {own[-2]['index']}" in check_export(last, store.vkey)["left out"]


def test_an_erasure_excuses_only_with_its_tombstone(
    counted: tuple[braid.Store, Path], tmp_path: Path
) -> None:
    store, given = counted
    (tombstone,) = {store.reader.envelope(index).id for index in store.reader.control.erased.values()}
    with pytest.raises(EvidenceError, match="are left out"):
        check_export(without(given, tmp_path / "given", tombstone), store.vkey)
    assert b'"reason"' not in next(
        line for line in (given / "evidence.jsonl").read_bytes().splitlines() if tombstone.encode() in line
    )


def test_where_an_omission_would_not_show_it_is_said(
    scene: tuple[braid.Store, Ids], given: Path, counted: tuple[braid.Store, Path], tmp_path: Path
) -> None:
    assert "keeps no scope chains" in check_export(given, scene[0].vkey)["left out"]
    both = {"user_id": "maya", "session_id": "s"}
    export_subject(counted[0], tmp_path / "both", both)
    assert "of one user_id" in check_export(tmp_path / "both", counted[0].vkey)["left out"]
    export_subject(counted[0], tmp_path / "session", {"session_id": "s"})
    assert "nothing of session_id=s" in check_export(tmp_path / "session", counted[0].vkey)["left out"]


def test_what_explains_a_gap_is_no_memory_for_another_store(
    counted: tuple[braid.Store, Path], tmp_path: Path
) -> None:
    """Nor is the other log's count: here another one counts, or none, and what was signed there still shows."""
    store, given = counted
    for chained in (False, True):
        home = tmp_path / str(chained)
        braid.init(home / "mine", scope_chains=chained, guard_dir=home / "guard")
        with braid.open(home / "mine", guard_dir=home / "guard") as mine:
            with open_lines(given) as lines:
                outcome = import_jsonl(mine, lines)
            assert (outcome.added, outcome.refused) == (len(holding(given)["records"]), [])
            brought = [record for record in mine.read() if "imported" in record.members]
            for record in brought:
                assert "scope_chain" in check_imported(record.members, parse_vkey(store.vkey)).was
                assert ("scope_chain" in record.members) is chained
            assert check_scope(mine.reader, "user_id", "maya").problems == []


def test_a_count_of_here_is_none_of_there(given: Path, tmp_path: Path) -> None:
    """From a log that does not count into one that does: the first body is still had."""
    braid.init(tmp_path / "mine", scope_chains=True, guard_dir=tmp_path / "guard")
    with braid.open(tmp_path / "mine", guard_dir=tmp_path / "guard") as mine, open_lines(given) as lines:
        assert import_jsonl(mine, lines).refused == []
        brought = [record for record in mine.read() if "imported" in record.members]
        assert any("scope_chain" in record.members for record in brought)
        for record in brought:
            check_imported(record.members)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "media/../../secret", "proofs/x/y", "a\\b"])
def test_a_manifest_that_leads_elsewhere(
    path: str, scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["files"][0]["path"] = path
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(EvidenceError, match="which no export holds"):
        check_export(folder, scene[0].vkey)


def test_a_link_to_a_file_elsewhere_is_no_file_of_it(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    (folder / "index.html").unlink()
    (folder / "index.html").symlink_to(given / "index.html")
    with pytest.raises(EvidenceError, match="is missing"):
        check_export(folder, scene[0].vkey)


def test_another_logs_key_and_a_later_version(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    with pytest.raises(EvidenceError, match="the key is of"):
        check_export(given, (GOLDEN / "log.vkey").read_text(encoding="utf-8"))
    folder = copied(given, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": 2}), encoding="utf-8")
    with pytest.raises(EvidenceError, match="this release reads braid-subject 1"):
        check_export(folder, scene[0].vkey)
    (folder / "manifest.json").unlink()
    with pytest.raises(EvidenceError, match="not whole"):
        check_export(folder, scene[0].vkey)


def test_an_archive_that_would_swell(scene: tuple[braid.Store, Ids], tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("maya/manifest.json", bytes(20 * 2**20))
    with pytest.raises(EvidenceError, match="would swell"):
        check_export(path, scene[0].vkey)
    path.write_bytes(b"no archive")
    with pytest.raises(EvidenceError, match="no zip"):
        check_export(path, scene[0].vkey)


# Into a store of one's own


def test_a_person_can_take_it_to_another_store(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    store, ids = scene
    with braid.open(tmp_path / "mine", guard_dir=tmp_path / "guard") as mine, open_lines(given) as lines:
        done = import_jsonl(mine, lines, vkey=store.vkey)
        assert (done.added, done.refused, done.loose) == (10, [], [])
        here = {
            r.members["imported"]["id"]: r
            for r in mine.read(include_forgotten=True)
            if "imported" in r.members
        }
        assert set(here) == set(by_id(given))
        assert here[ids["forgotten"]].index in mine.reader.control.hidden
        (link,) = here[ids["shared"]].links
        assert link.id == here[ids["derived"]].id, "somebody else's record stays a name in the evidence"
        assert b"".join(mine.media(here[ids["hostile"]].body.content.media[0])) == b"\x89PNG not really"  # type: ignore[attr-defined]


def test_what_no_checkpoint_covers_yet_is_named_as_such(tmp_path: Path) -> None:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as store:
        store.append("I drink tea.", user_id="noor")
        with (
            braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", read_only=True) as beside,
            pytest.raises(ValueError, match="run `braid checkpoint`, then export"),
        ):
            export_subject(beside, tmp_path / "early", {"user_id": "noor"}, now=MADE)
        store.checkpoint()
        with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", read_only=True) as beside:
            assert export_subject(beside, tmp_path / "later", {"user_id": "noor"}, now=MADE).own == 1


def test_an_export_is_checked_in_the_memory_of_one_record(tmp_path: Path) -> None:
    """Four times as many records take a few hundred bytes more each, not another time what each of them says."""
    text = "It rained all day in Porto. " * 2_000
    peaks: list[int] = []
    for count in (10, 40):
        kept = tmp_path / str(count)
        with braid.open(kept, guard_dir=tmp_path / "guard") as store:
            for number in range(count):
                store.append(f"{number}: {text}", user_id="maya")
            store.export_subject(tmp_path / f"to{count}", user_id="maya")
            vkey = store.vkey
        gc.collect()
        tracemalloc.start()
        try:
            assert check_export(tmp_path / f"to{count}", vkey)["records"] == count
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 30 < len(text) / 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda held: held[:-40], "cut off"),
        (lambda held: held + b"{}", "more stands behind its end"),
        (lambda held: held.replace(b'"records"', b'"others"', 1), "required field"),
        (lambda held: held.replace(b'"version":', b'"records":[],"version":', 1), "records stands twice"),
        (lambda held: held.replace(b'"version":1', b'"version":1,"later":[{"x":[NaN]}]', 1), None),
        (lambda held: b"[" * 100_000 + held, "is wanted"),
        (lambda held: held.replace(b'"version":1', b'"version":' + b"[" * 200_000, 1), "records.json is not"),
        (lambda held: held.replace(b'"origin":', b'"origins":', 1), "origin"),
        (lambda held: b"\xff" + held, "records.json is not"),
    ],
)
def test_records_that_are_no_such_file_are_refused(
    change: Any, says: str | None, scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    path = folder / "records.json"
    plain = json.dumps(json.loads(path.read_bytes()), separators=(",", ":")).encode()
    path.write_bytes(change(plain))
    assert path.read_bytes() != plain
    remanifest(folder)
    if says is None:
        check_export(folder, scene[0].vkey)
        return
    with pytest.raises(EvidenceError, match=says):
        check_export(folder, scene[0].vkey)


def test_a_record_that_is_held_twice_is_refused(
    scene: tuple[braid.Store, Ids], given: Path, tmp_path: Path
) -> None:
    folder = copied(given, tmp_path)
    held = holding(folder)
    held["records"].append(held["records"][0])
    (folder / "records.json").write_text(json.dumps(held), encoding="utf-8")
    remanifest(folder)
    with pytest.raises(EvidenceError, match="the same records"):
        check_export(folder, scene[0].vkey)
