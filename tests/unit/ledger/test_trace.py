"""The braid of a record, up and down, without loops and without blow-up."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from braid.ledger.erase.cascade import plan
from braid.ledger.erase.erasure import erase, forget
from braid.ledger.errors import UnknownRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.read.trace import MAX_DEPTH, TraceNode, trace
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from tests.system.ledger.test_verify import memory


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    create_store(tmp_path / "store", now=datetime.now(UTC))
    with_writer = Writer(tmp_path / "store")
    yield with_writer
    with_writer.close()


def chain(writer: Writer, length: int) -> list[str]:
    ids: list[str] = [writer.append([memory("start")])[0].id]
    for _ in range(length):
        ids.append(writer.append([memory("next", "inference", parents=(ids[-1],))])[0].id)
    return ids


def walk(node: TraceNode) -> Iterator[TraceNode]:
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        stack += [*at.up, *at.down]


def test_up_and_down(writer: Writer) -> None:
    ids = chain(writer, 4)
    tree = trace(writer, ids[2])
    assert (tree.id, tree.direction, tree.role) == (ids[2], "self", "")
    assert (tree.up[0].id, tree.up[0].up[0].id, tree.up[0].role) == (ids[1], ids[0], "parent")
    assert (tree.down[0].id, tree.down[0].down[0].id) == (ids[3], ids[4])
    assert tree.up[0].type == "inference"
    assert tree.key.startswith("k_")


def test_one_direction_only(writer: Writer) -> None:
    ids = chain(writer, 2)
    assert trace(writer, ids[1], down=False).down == []
    assert trace(writer, ids[1], up=False).up == []


def test_depth_counts_what_it_leaves_out(writer: Writer) -> None:
    ids = chain(writer, 4)
    tree = trace(writer, ids[4], depth=2, down=False)
    cut = tree.up[0].up[0]
    assert (cut.up, cut.more) == ([], 1)


def test_diamonds_do_not_multiply(writer: Writer) -> None:
    """Twenty layers of two, each linked to both below: a million paths, two links a record."""
    layer = [placed.id for placed in writer.append([memory("a"), memory("b")])]
    for _ in range(20):
        drafts = [memory("x", "inference", parents=tuple(layer)) for _ in range(2)]
        layer = [placed.id for placed in writer.append(drafts)]
    tree = trace(writer, layer[0], down=False)
    nodes = list(walk(tree))
    assert len(nodes) == 1 + 2 * (1 + 2 * 19)
    assert sum(node.seen_above for node in nodes) == 2 * 19
    assert len({node.index for node in nodes if not node.seen_above}) == 41


def test_most_nodes(writer: Writer) -> None:
    ids = chain(writer, 1)
    for _ in range(8):
        writer.append([memory("x", "inference", parents=(ids[0],))])
    tree = trace(writer, ids[0], max_nodes=5)
    assert (len(tree.down), tree.more) == (4, 5)


def test_given_children_are_asked(writer: Writer) -> None:
    ids = chain(writer, 2)
    asked: list[int] = []

    def children(index: int) -> list[tuple[int, str]]:
        asked.append(index)
        return [(index + 1, "parent")] if index < writer.size - 1 else []

    tree = trace(writer, ids[0], children=children)
    assert tree.down[0].down[0].id == ids[2]
    assert asked == [3, 4, 5]


def test_forgotten_and_erased_are_marked_and_need_no_vault(writer: Writer) -> None:
    ids = chain(writer, 2)
    other = writer.append([memory("other")])[0].id
    last = writer.append([memory("sum", "inference", parents=(ids[2], other))])[0].id
    forget(writer, [ids[2]])
    erase(writer, plan(writer, [writer.index_of(other)]), lambda: [])
    writer.checkpoint()
    (writer.path / "vault").rename(writer.path / "elsewhere")
    reader = Reader(writer.path)
    assert reader.vault is None
    tree = trace(reader, last)
    assert [(node.id, node.forgotten, node.erased) for node in tree.up] == [
        (ids[2], True, False),
        (other, False, True),
    ]
    assert [node.role for node in tree.down] == ["kept"]
    reader.close()
    (writer.path / "elsewhere").rename(writer.path / "vault")


def test_json_and_text(writer: Writer) -> None:
    ids = chain(writer, 2)
    tree = trace(writer, ids[1])
    decoded = msgspec.json.decode(tree.to_json())
    assert (decoded["id"], decoded["up"][0]["id"], decoded["down"][0]["id"]) == (ids[1], ids[0], ids[2])
    assert list(tree.lines()) == [
        f"{ids[1]} (inference)",
        f"└─↑ parent: {ids[0]} (occurrence)",
        f"└─↓ parent: {ids[2]} (inference)",
    ]


def test_long_chains_are_cut(writer: Writer) -> None:
    first = writer.append([memory("start")])[0]
    writer.append([memory(f"{i}", "inference") for i in range(1500)])

    def children(index: int) -> list[tuple[int, str]]:
        return [(index + 1, "parent")] if index < writer.size - 1 else []

    tree = trace(writer, first.id, children=children, up=False)
    lines = list(tree.lines())
    assert len(lines) == 1 + MAX_DEPTH
    assert lines[-1].endswith("[1 more]")
    assert tree.to_json().count(b'"index"') == 1 + MAX_DEPTH


def test_unknown_record(writer: Writer) -> None:
    (id,) = chain(writer, 0)
    with pytest.raises(UnknownRecordError):
        trace(writer, id[:-1] + ("0" if id[-1] != "0" else "1"))
    with pytest.raises(UnknownRecordError):
        trace(writer, "nonsense")
