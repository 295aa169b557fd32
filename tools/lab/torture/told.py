"""What the processes said: what was acknowledged to them, and what they had only begun when they died."""

from collections import Counter
from collections.abc import Iterable


class Told:
    """Words and ids that the processes of one store have said, over all its rounds.

    A process says `erasing ID` before the call and `erased ID` behind it: between the two, either is right.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ids: dict[str, set[str]] = {}
        self.once: dict[str, set[str]] = {}
        """Ids by the key under which a record may exist once."""
        self.heads: set[tuple[int, str]] = set()
        """Sizes and roots that were signed for others to see."""

    def hear(self, out: Iterable[str]) -> None:
        """Read one process's lines to the end; a last line that was cut short was not said."""
        for line in out:
            if not line.endswith("\n"):
                return
            what, *words = line.split()
            if what in ("head", "published"):
                self.heads.add((int(words[0]), words[1]))
                self.counts[what] += 1
            elif what == "refused":
                self.counts[f"refused: {words[0]}"] += 1
            else:
                if what == "once":
                    self.once.setdefault(words[0], set()).add(words[1])
                    what, words = "appended", words[1:]
                self.counts[what] += len(words) or 1
                self.ids.setdefault(what, set()).update(words)

    def said(self, *words: str) -> set[str]:
        """Return the ids that were said with any of these words."""
        return set[str]().union(*(self.ids.get(word, set()) for word in words))
