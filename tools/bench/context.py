"""What every figure is taken with: the stores, the cores, how long a slice lasts."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from braid.tools.bench.floors import AllCores, Disk
from braid.tools.bench.measure import Figure
from braid.tools.bench.stores import Stores, Told


class Bench(NamedTuple):
    """One run."""

    stores: Stores
    cores: AllCores
    disk: Disk
    told: Told
    seed: int
    slice_s: float
    """Seconds that a slice of a floor lasts; measured slices take about as long."""
    rounds: int

    def times(self, rate: int) -> int:
        """Return how many acts of about `rate` a second fill a slice; at least one."""
        return max(1, int(rate * self.slice_s))


class Measure(NamedTuple):
    """Figures that are taken together, by name; `sized` when they depend on the size of the store."""

    names: tuple[str, ...]
    take: Callable[[Bench, int], Iterator[Figure]]
    sized: bool = True

    def wanted(self, only: list[str] | None) -> bool:
        """Whether one of its names is, or begins with, one that is asked for."""
        return not only or any(
            name == one or name.startswith(f"{one}.") for name in self.names for one in only
        )
