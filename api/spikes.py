"""When one caller changes or takes away too much within a minute: the rule, which knows no store. Pure."""

from collections import deque
from typing import Final, Literal

SPIKE: Final = 20
"""How many memories one caller may change, take away, or aim at in vain, within a minute before it is an alarm."""
SPIKE_S: Final = 60.0
"""How long that minute is, in seconds."""

Act = Literal["changes", "deletes", "wrong targets"]


class Spikes:
    """What each caller did within the last minute."""

    def __init__(self) -> None:
        self._acts: dict[tuple[str, Act], deque[tuple[float, int]]] = {}

    def add(self, who: str, act: Act, count: int, at_s: float) -> int | None:
        """Count acts of a caller at a time in seconds; return how many they are where that is a spike, else None.

        A spike is named once: what it was made of counts no more.
        """
        acts = self._acts.setdefault((who, act), deque())
        acts.append((at_s, count))
        while acts and acts[0][0] < at_s - SPIKE_S:
            acts.popleft()
        total = sum(each for _, each in acts)
        if total <= SPIKE:
            return None
        acts.clear()
        return total
