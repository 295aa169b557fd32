"""What holds of every lens, whatever the records: raw and delta give the view, cuts don't matter, nor does the hour."""

import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from braid.lenses.entry import Entry
from braid.lenses.form import delta, joined, patched, problem, raw
from braid.lenses.registry import OURS, by_name, installed
from tests.unit.lenses.sayings import conversations, entry, look, look_in_pieces

lenses = pytest.mark.parametrize("name", OURS)


def test_these_are_the_lenses() -> None:
    assert tuple(installed().lenses)[: len(OURS)] == OURS
    for lens in installed().lenses.values():
        assert lens.about
        assert lens.version


@pytest.mark.sample(3)
@lenses
@given(entries=conversations())
@settings(max_examples=30)
def test_raw_and_delta_give_the_view(name: str, entries: list[Entry]) -> None:
    lens = by_name(name)
    view = look(lens, entries)
    assert problem(view, len(entries)) is None
    assert patched(raw(range(len(entries))), delta(raw(range(len(entries))), view)) == view
    assert isinstance(lens.render(view, lens.params), str)
    assert set(lens.ranking(view)) <= set(view.weights)


@pytest.mark.sample(3)
@lenses
@given(entries=conversations(), data=st.data())
@settings(max_examples=30)
def test_however_the_records_are_cut_the_view_is_the_same(
    name: str, entries: list[Entry], data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(entries)), max_size=4))
    lens = by_name(name)
    assert look_in_pieces(lens, entries, cuts) == look(lens, entries)


@pytest.mark.sample(2)
@lenses
@given(entries=conversations(), cut=st.integers(0, 12))
@settings(max_examples=20)
def test_a_delta_to_an_earlier_view_gives_the_later_one(name: str, entries: list[Entry], cut: int) -> None:
    lens, cut = by_name(name), min(cut, len(entries))
    base = joined(look(lens, entries[:cut]), raw(range(cut, len(entries))))
    later = lens.fold(base, entries[cut:], lens.params)
    assert patched(base, delta(base, later)) == later == look(lens, entries)


@pytest.mark.parametrize("size", [64, 65, 129])
def test_a_summary_of_several_blocks_is_the_same_however_it_is_cut(size: int) -> None:
    lens = by_name("summary")
    entries = [
        entry(at, f"The {at % 7} boats of harbour {at % 5} came back with fish.") for at in range(size)
    ]
    whole = look(lens, entries)
    assert look_in_pieces(lens, entries, [cut for cut in (1, 63, 64, 65) if cut <= size]) == whole
    closed = [key for key in lens.order(whole) if int(key[:7]) < size // 64 * 64]
    assert len(closed) == 3 * (size // 64)
    assert all(place >= size // 64 * 64 or whole.weights[place] > 1 for place in whole.weights)


def test_another_process_gives_the_same_bytes() -> None:
    code = """
import msgspec
from braid.lenses.form import delta, raw
from braid.lenses.registry import OURS, by_name
from tests.unit.lenses.sayings import _PHRASES, claiming, entry, look
from braid.ledger.record.record import Claim
entries = [entry(at, text) for at, text in enumerate(_PHRASES)]
entries += [claiming(len(entries), Claim(subject="Maya", rel="lives_in", object="Porto"))]
entries += [claiming(len(entries), Claim(subject="Maya", rel="lives_in", object="Leeds"))]
for name in OURS:
    form = look(by_name(name), entries)
    print(msgspec.json.encode(msgspec.to_builtins(delta(raw(range(len(entries))), form), str_keys=True)).hex())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".", "PATH": ""},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert len(msgspec.json.decode(bytes.fromhex(next(iter(found)).split()[0]))["items"]) > 1
