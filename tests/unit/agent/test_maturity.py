"""The stage of a memory by its counts."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import braid
from braid.agent.maturity import EMPTY, STAGES, StageCounts, stage

ORDER = [EMPTY, *STAGES]
COUNTS = st.builds(StageCounts, **dict.fromkeys(StageCounts.__struct_fields__, st.integers(0, 600)))


def test_stages_ask_for_ever_more() -> None:
    for one, other in pairwise(STAGES.values()):
        less, more = msgspec.structs.astuple(one), msgspec.structs.astuple(other)
        assert all(a <= b for a, b in zip(less, more, strict=True))
        assert less != more


@pytest.mark.parametrize(("at", "name"), list(enumerate(STAGES)))
def test_a_stage_is_reached_at_its_counts_and_not_one_before(at: int, name: str) -> None:
    needs = STAGES[name]
    assert stage(needs).name == name
    for field, count in msgspec.structs.asdict(needs).items():
        if count > msgspec.structs.asdict(STAGES[ORDER[at]] if at else StageCounts())[field]:
            short = stage(msgspec.structs.replace(needs, **{field: count - 1}))
            assert (short.name, short.next, short.lacks) == (ORDER[at], name, {field: 1})


@given(COUNTS)
def test_what_is_lacking_brings_the_next(counts: StageCounts) -> None:
    now = stage(counts)
    if now.next is None:
        assert now.name == ORDER[-1]
        assert not now.lacks
        return
    assert ORDER[ORDER.index(now.name) + 1] == now.next
    more = {name: getattr(counts, name) + lack for name, lack in now.lacks.items()}
    assert ORDER.index(stage(msgspec.structs.replace(counts, **more)).name) > ORDER.index(now.name)


@given(COUNTS, st.sampled_from(StageCounts.__struct_fields__))
def test_more_never_sets_back(counts: StageCounts, field: str) -> None:
    more = msgspec.structs.replace(counts, **{field: getattr(counts, field) + 1})
    assert ORDER.index(stage(more).name) >= ORDER.index(stage(counts).name)


def test_a_store_knows_its_stage(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        assert store.stage().name == EMPTY
        said = [{"role": "user", "content": "I live in Porto.", "name": "Maya"}] * 4
        store.remember(said, user_id="maya", session_id="one")
        now = store.stage()
        assert (now.name, now.next, now.lacks) == ("learning", "viable", {"experiences": 6})
        assert (now.counts.sessions, now.counts.days, now.counts.claims) == (1, 1, 4)
        store.ask("Where does Maya live?", user_id="maya")
        asked = store.stage().counts
        assert (asked.experiences, asked.answers, asked.stances) == (4, 1, 1)
