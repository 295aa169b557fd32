"""What every importer keeps, whoever wrote it: one suite over all that are installed, and every shape they take."""

import hashlib
import itertools
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from braid.tools.importers.detect import OURS, by_name, detect, installed, open_path
from braid.tools.importers.message import BadLine, Message
from braid.tools.importers.source import ImportSource
from tests.unit.tools.samples import (
    COLUMNS,
    EXPORTS,
    FILES,
    NOW,
    TREES,
    columns_of,
    piped,
    read_path,
    write_parquet,
    zip_of,
    zip_of_folder,
)

FROM_BEFORE = frozenset({"locomo"})
"""Samples with bad lines in them."""


def zipped_conversations(name: str, folder: Path) -> Path:
    data = (EXPORTS / FILES[name]).read_bytes()
    return zip_of(
        folder / f"{name}.zip", {"conversations.json": data, "user.json": b"{}", "chat.html": b"<p>"}
    )


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copy(EXPORTS / FILES[name], folder / "it"))


def tree(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(EXPORTS / TREES[name], folder / "it"))


def zipped_tree(name: str, folder: Path) -> Path:
    return zip_of_folder(folder / "it.zip", EXPORTS / TREES[name])


def zipped_channels(name: str, folder: Path) -> Path:
    return zip_of(folder / "it.zip", {"a.json": (EXPORTS / FILES[name]).read_bytes()})


def table(name: str, folder: Path) -> Path:
    return write_parquet(folder / name)


MAKERS: dict[str, tuple[str, Callable[[str, Path], Path]]] = {
    **{name: (name, copied) for name in FILES},
    **{f"{name} folder": (name, tree) for name in TREES},
    **{f"{name} zip": (name, zipped_tree) for name in TREES},
    **{f"{name} zip": (name, zipped_conversations) for name in ("chatgpt", "claude")},
    "discord zip": ("discord", zipped_channels),
    "parquet": ("parquet", table),
}


@pytest.fixture(params=MAKERS, ids=str)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A format and a source of it, which the test may change."""
    name, make = MAKERS[request.param]
    return name, make(name, tmp_path)


def opened(name: str, path: Path) -> ImportSource:
    return open_path(path, columns=columns_of(name))


def test_every_format_of_this_package_is_registered_and_has_a_sample() -> None:
    assert {each.name for each in installed().importers} >= set(OURS)
    assert {name for name, _ in MAKERS.values()} == set(OURS)
    assert installed().troubles == ()


def test_it_recognises_its_own_and_no_particular_format_recognises_anothers(sample: tuple[str, Path]) -> None:
    name, path = sample
    with opened(name, path) as source:
        assert detect(source).name == name
        others = [each.name for each in installed().importers if each.recognises(source)]
    assert set(others) <= {name, "text"}
    misnamed = path.with_name("misnamed.bin") if path.is_file() else path
    path.rename(misnamed)
    with opened(name, misnamed) as source:
        assert detect(source).name == name


def test_read_twice_it_is_the_same(sample: tuple[str, Path]) -> None:
    name, path = sample
    assert read_path(name, path) == read_path(name, path) != []


def test_a_good_sample_has_no_bad_lines(sample: tuple[str, Path]) -> None:
    name, path = sample
    bad = [each for each in read_path(name, path) if isinstance(each, BadLine)]
    assert (bad != []) == (name in FROM_BEFORE)


def test_keys_are_unique_and_stay_when_the_source_moves(sample: tuple[str, Path]) -> None:
    name, path = sample
    keys = keys_of(name, path)
    assert len(set(keys)) == len(keys) > 0
    moved = path.with_name("elsewhere")
    path.rename(moved)
    assert (keys_of(name, moved) == keys) == (
        name != "markdown"
    )  # which notes they are, only their place says
    assert keys_of(name, moved, "a lasting name") == keys_of(name, moved, "a lasting name")


def keys_of(name: str, path: Path, id: str | None = None) -> list[str]:
    with opened(name, path) as source:
        importer = by_name(name)
        source_id = id or importer.source_id(source)
        return [each.key(source_id) for each in importer.read(source) if isinstance(each, Message)]


def test_provenance_is_whole(sample: tuple[str, Path]) -> None:
    name, path = sample
    found = [each for each in read_path(name, path) if isinstance(each, Message)]
    uri = path.resolve().as_uri()
    assert all(
        each.source_uri.startswith((f"{uri}#", f"{uri}/", f"{uri}!/")) and "#" in each.source_uri
        for each in found
    )
    assert len({each.source_uri for each in found}) == len(found)
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each.source_hash) for each in found)
    assert all(each.occurred_at is None or each.occurred_at.utcoffset() is not None for each in found)
    ids = {(each.conversation, each.external_id) for each in found}
    assert all(each.parent is None or (each.conversation, each.parent) in ids for each in found)


def test_positions_go_forward(sample: tuple[str, Path]) -> None:
    name, path = sample
    found = [each for each in read_path(name, path) if isinstance(each, Message)]
    for _, together in itertools.groupby(
        found, key=lambda each: (each.conversation, each.source_uri.partition("#")[0])
    ):
        ordinals = [each.ordinal for each in together]
        assert ordinals == sorted(set(ordinals))


def test_it_streams(sample: tuple[str, Path]) -> None:
    name, path = sample
    with opened(name, path) as source:
        reading = by_name(name).read(source)
        assert iter(reading) is reading
        first = next(reading)
        assert isinstance(first, Message)


def test_stopped_after_any_number_it_begins_again_with_the_same(sample: tuple[str, Path]) -> None:
    name, path = sample
    whole = read_path(name, path)
    for count in range(len(whole)):
        with opened(name, path) as source:
            source.opened_at = NOW
            assert list(itertools.islice(by_name(name).read(source), count)) == whole[:count]


def test_a_missing_file_is_the_environments_fault(sample: tuple[str, Path]) -> None:
    name, path = sample
    with pytest.raises(FileNotFoundError), opened(name, path.with_name("missing")) as source:
        list(by_name(name).read(source))


@pytest.mark.parametrize("name", FILES, ids=str)
def test_a_path_and_a_pipe_tell_the_same(name: str) -> None:
    path = EXPORTS / FILES[name]
    told = [each for each in by_name(name).read(piped(name, path.read_bytes())) if isinstance(each, Message)]
    there = [each for each in read_path(name, path) if isinstance(each, Message)]
    assert [(each.text, each.source_hash, each.external_id) for each in told] == [
        (each.text, each.source_hash, each.external_id) for each in there
    ]


@pytest.mark.parametrize("name", FILES, ids=str)
def test_a_byte_order_mark_changes_nothing(name: str) -> None:
    data = (EXPORTS / FILES[name]).read_bytes()
    source = piped(name, b"\xef\xbb\xbf" + data)
    assert detect(source).name == name
    assert list(by_name(name).read(source)) == list(by_name(name).read(piped(name, data)))


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", FILES, ids=str)
@pytest.mark.parametrize(
    "hostile",
    [
        b"",
        b"\n\n\n",
        b"\x00" * 1000,
        b"\xff\xfe" + "two words\n".encode("utf-16-le") * 50,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'[{"mapping":{"a":{"message":' + b"[" * 5_000 + b"]" * 5_000 + b"}}}]",
        b'{"x":"\\ud800"}\n' * 3,
        b'[{"uuid":"\\udfff"}]',
        b'{"n":' + b"9" * 10_000 + b"}\n",
        b'[{"n":1e999}]',
        b'{"a":1,"a":2}\n',
        b'"' * 50_000,
        b"\\" * 50_000,
        b'"' + b"\\" * 300_000,
        b"From \n" * 1_000,
        b"<" * 50_000,
        b"---\n" * 10_000,
        b">" * 20_000,
        b",\n" * 10_000,
    ],
    ids=lambda value: hashlib.sha256(value).hexdigest()[:6],
)
def test_what_is_hostile_is_refused_with_a_place_and_a_reason(name: str, hostile: bytes) -> None:
    for data in (hostile, (EXPORTS / FILES[name]).read_bytes() + b"\n" + hostile):
        for found in by_name(name).read(piped(name, data)):
            assert isinstance(found, Message) or (found.line >= 1 and found.reason)


def test_the_columns_of_the_sample_are_those_of_the_page() -> None:
    shown = ",".join(f"{field}={column}" for field, column in COLUMNS.items())
    assert shown in (EXPORTS.parents[3] / "docs" / "ingest.md").read_text(encoding="utf-8")
