"""Why a claim stands, or doesn't, in words: the network's own explanation, its nodes named as people would. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from braid.stance.explain import Failed, Why, WhyNot
from braid.stance.fold import Folded
from braid.stance.jtms import Label
from braid.stance.reason import Reason


def explain(folded: Folded, node: str, ids: Mapping[int, str], at: datetime | None) -> Reason:
    """Return why a node stands, or why it doesn't, down to records; `ids` names them by log index."""
    telling = _Telling(folded, ids, at)
    if folded.label(node) is Label.IN:
        return telling.why(folded.net.why(node))
    return telling.why_not(folded.net.why_not(node))


class _Telling:
    def __init__(self, folded: Folded, ids: Mapping[int, str], at: datetime | None) -> None:
        self._folded, self._ids, self._at = folded, ids, at

    def why(self, why: Why) -> Reason:
        needs = tuple(self.why(one) for one in why.inn if self._is_telling(one.node))
        unless = tuple(self.why_not(one) for one in why.out)
        return Reason(self._text(why.node), Label.IN.value, self._id(why.node), needs, unless)

    def why_not(self, why: WhyNot) -> Reason:
        label = Label.UNDECIDED if why.undecided else Label.OUT
        needs = tuple(reason for failed in why.failed for reason in self._lacks(failed))
        unless = tuple(
            self.why(one) if isinstance(one, Why) else self.why_not(one)
            for failed in why.failed
            for one in failed.unless
        )
        return Reason(self._text(why.node), label.value, self._id(why.node), needs, unless)

    def _lacks(self, failed: Failed) -> Iterator[Reason]:
        yield from (self.why_not(one) for one in failed.missing)

    def _is_telling(self, node: str) -> bool:
        """Whether a node says more than that a record is in the log, and that a claim holds at the time asked about."""
        return not node.startswith(("log:", "now:"))

    def _id(self, node: str) -> str:
        if node in self._folded.claims:
            return self._folded.claims[node].id
        kind, _, index = node.partition(":")
        return self._ids.get(int(index), "") if kind in ("r", "log") and index.isdigit() else ""

    def _text(self, node: str) -> str:
        said = self._folded.claims.get(node.removeprefix("now:"))
        if node.startswith("now:") and said is not None:
            return f"it holds {_span(said.since, said.until, self._at)}"
        if said is not None:
            quote = f" “{said.claim.quote}”" if said.claim.quote else ""
            return f"{said.text}{quote}"
        return "the record" if node.startswith("r:") else "it is in the log"


def _span(since: datetime, until: datetime, at: datetime | None) -> str:
    parts = [f"at {at:%Y-%m-%d}"] if at else []
    parts += [f"from {since:%Y-%m-%d}"] if since.year > 1 else []
    parts += [f"until {until:%Y-%m-%d}"] if until.year < 9999 else []
    return ", but only ".join((parts[0], " ".join(parts[1:]))) if at and len(parts) > 1 else " ".join(parts)
