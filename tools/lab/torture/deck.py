"""The cells of the matrix in the order they are played: of each act in turn, shuffled by the seed, none left out."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from braid.tools.lab.torture.acts import ACTS
from braid.tools.lab.torture.matrix import Cell, Matrix
from braid.tools.lab.torture.strace import why_not


class Deck:
    """All faults of all acts; when the last one was played the first comes again."""

    def __init__(self, home: Path, seed: int) -> None:
        """Make no world yet: the first play does."""
        self._home, self._chance = home, random.Random(seed)
        self._matrix: Matrix | None = None
        self._waiting: Iterator[Cell] = iter(())
        self._played = self._all = 0

    def __str__(self) -> str:
        return f"{self._played:,} of the matrix's {self._all:,} so far"

    def play(self) -> Counter[str]:
        """Play the next cell; return how often each word was said. Raises TortureError for what must not be."""
        if self._matrix is None:
            self._matrix = Matrix(self._home)
        cell = next(self._waiting, None)
        if cell is None:
            self._waiting = iter(self._shuffled(self._matrix))
            cell = next(self._waiting)
        self._played += 1
        return self._matrix.play(cell).counts

    def _shuffled(self, matrix: Matrix) -> list[Cell]:
        traced = why_not() is None
        hands = [matrix.cells(act, traced=traced) for act in ACTS]
        for hand in hands:
            self._chance.shuffle(hand)
        self._all = sum(map(len, hands))
        return [cell for turn in zip_longest(*hands) for cell in turn if cell is not None]

    def close(self) -> None:
        """End the process that plays."""
        if self._matrix is not None:
            self._matrix.close()
