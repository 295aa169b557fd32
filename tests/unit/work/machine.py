"""Random histories of workers, against a model: whatever happens, each record has one effect or is dead with a trail.

append, work, die at a point, fail, lose the file, let time pass, two at once
"""

import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from braid.work.worker import Worker
from tests.unit.work.world import World, failing

POINTS = [
    "work.leased", "work.ran", "log.append", "log.append.done", "work.settled", "work.buried",
]  # fmt: skip


class Histories(RuleBasedStateMachine):
    """The world, and how many records were appended: the model of what must be done in the end."""

    @initialize(seed=st.integers(0, 2**16))
    def begin(self, seed: int) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.world = World(self.folder, seed)
        self.slow: tuple[Worker[int], object] | None = None

    @rule(count=st.integers(1, 4))
    def append(self, count: int) -> None:
        self.world.log.size += count

    @rule()
    def work(self) -> None:
        self.world.step()

    @rule(point=st.sampled_from(POINTS))
    def die(self, point: str) -> None:
        self.world.step(point)

    @rule(numbers=st.lists(st.integers(0, 12), max_size=3))
    def trouble_with(self, numbers: list[int]) -> None:
        self.world.trouble = failing(*numbers)

    @rule()
    def all_is_well(self) -> None:
        self.world.trouble = failing()

    @rule(seconds=st.sampled_from([0.5, 2.0, 31.0, 61.0]))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds

    @rule()
    def lose_the_file(self) -> None:
        self.world.transport.drop()

    @rule()
    def begin_slowly(self) -> None:
        worker = self.world.worker()
        worker.offer()
        lease = self.world.transport.lease(["reading@1"], worker.owner, self.world.now, 60.0)
        if lease is not None:
            self.slow = (worker, lease)

    @rule()
    def end_slowly(self) -> None:
        if self.slow is not None:
            worker, lease = self.slow
            self.slow = None
            worker.attempt(lease)  # type: ignore[arg-type]

    @invariant()
    def nothing_is_doubled(self) -> None:
        log = self.world.log
        assert all(count == 1 for count in log.effects.values())
        assert not log.dead & set(log.effects)

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self.world.trouble = failing()
        self.world.drain()
        self.nothing_is_doubled()
        assert not self.world.log.remaining()
        assert set(self.world.log.effects) | self.world.log.dead == set(range(self.world.log.size))
        shutil.rmtree(self.folder)
