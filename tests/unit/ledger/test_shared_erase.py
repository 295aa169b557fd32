"""Several writers share a store: what one has compacted, another must not erase by the old file's places."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import braid
from braid.ledger.audit.verify import verify


@pytest.fixture
def two(store: Path) -> Iterator[tuple[braid.Store, braid.Store]]:
    with braid.open(store, shared=True) as one, braid.open(store, shared=True) as other:
        yield one, other


def test_a_body_is_blanked_where_it_lies_since_another_compacted(
    store: Path, two: tuple[braid.Store, braid.Store]
) -> None:
    one, other = two
    ids = [one.append(f"memory {n} " + "x" * 900) for n in range(6)]
    other.erase(ids[0])
    assert other.compact() > 0
    one.erase(ids[3])
    report = verify(store, workers=1)
    assert [str(finding) for finding in report.findings] == []
    assert one.get(ids[4]).text.startswith("memory 4")


def test_a_compaction_by_another_is_compacted_again(
    store: Path, two: tuple[braid.Store, braid.Store]
) -> None:
    one, other = two
    ids = [one.append(f"memory {n} " + "x" * 900) for n in range(6)]
    other.erase(ids[0])
    other.compact()
    other.erase(ids[3])
    assert one.compact() > 0
    assert [str(finding) for finding in verify(store, workers=1).findings] == []


def test_an_index_is_derived_from_the_file_that_is_there(
    store: Path, two: tuple[braid.Store, braid.Store]
) -> None:
    """The one that compacted died between the swap and the new index: another derives it, and not from the old file."""
    one, other = two
    ids = [one.append(f"memory {n} " + "x" * 900) for n in range(6)]
    other.erase(ids[0])
    other.compact()
    (store / "log" / "000000000000.idx").unlink()
    one.append("later")
    assert [str(finding) for finding in verify(store, workers=1).findings] == []
    with braid.open(store, read_only=True) as reader:
        assert reader.get(ids[5]).text.startswith("memory 5")
