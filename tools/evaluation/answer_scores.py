"""How good answers are: words shared with the right one, citations against the evidence, silence where it is due. Pure.

F1 and exact match as SQuAD has them (Rajpurkar et al., 2016): lower case, without punctuation and articles.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from braid.agent.composer import RungName
from braid.stance.calibration import Reliability, reliability

_NO_MARKS: Final = str.maketrans("", "", string.punctuation + "“”\u2018’…")


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One question, what was answered, and how that compares. F1 and exact match are None where no answer is given for
    the question, or it has none."""

    conversation: str
    category: str
    question: str
    gold: str | None
    answerable: bool
    abstained: bool
    rung: RungName | None
    """Which rung of the ladder answered; None of what a model wrote, which is told."""
    short: str
    text: str
    p: float
    f1: float | None
    exact: float | None
    f1_text: float | None
    cited: int
    right: int
    """Citations that are among the evidence."""
    near: int
    """Citations that are, or are the turn beside one that is."""
    evidence: int
    found: int
    """Evidence that is cited."""
    supported: int
    """Citations whose record bears out what it is cited for."""
    borne: int
    """Quotations whose record holds the words that are quoted from it."""
    quoted: int
    degraded: bool
    fallback: str | None
    """Why a model's answer was not taken."""
    tokens: tuple[int, int]
    ms: dict[str, float]


def normal(text: str) -> list[str]:
    """Return the words of an answer as they are compared."""
    return re.sub(r"\b(?:a|an|the)\b", " ", text.lower().translate(_NO_MARKS)).split()


def f1(given: str, gold: str) -> float:
    """Return the harmonic mean of how many words of each are in the other; 1 for two that are both empty."""
    one, other = normal(given), normal(gold)
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other)) if shared else float(one == other)


def exact(given: str, gold: str) -> float:
    """Return 1 where both are the same, else 0."""
    return float(normal(given) == normal(gold))


def summary(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the measures over all, by category and by conversation, with how well p is calibrated."""
    return {
        "all": measures(judged),
        "categories": _by(judged, lambda one: one.category),
        "conversations": _by(judged, lambda one: one.conversation),
        "calibration": _calibration(judged),
        "latency_ms": latency(judged),
        "tokens": {"compose": {"in": _spent(judged, 0), "out": _spent(judged, 1)}},
        "fallbacks": dict(Counter(one.fallback.partition(":")[0] for one in judged if one.fallback)),
    }


def _spent(judged: Sequence[Judged], way: int) -> dict[str, int]:
    """Return the tokens of all answers and the median answer: composing alone asks a model."""
    spent = [one.tokens[way] for one in judged]
    return {"all": sum(spent), "p50": int(quantile(spent, 0.5)) if spent else 0}


def _by(judged: Sequence[Judged], key: Callable[[Judged], str]) -> dict[str, dict[str, Any]]:
    names = sorted({key(one) for one in judged})
    return {name: measures([one for one in judged if key(one) == name]) for name in names}


def measures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the means of some judged answers. A question that was abstained on counts as 0 in F1; in the citations it
    counts in recall alone. Precision counts every citation of what was told, to the unanswerable too; not of what was
    only shown as near."""
    answerable = [one for one in judged if one.answerable]
    unanswerable = [one for one in judged if not one.answerable]
    told = [one for one in judged if not is_unclaimed(one)]
    shown = [one for one in answerable if is_unclaimed(one) and not one.abstained]
    cited = sum(one.cited for one in told)
    return {
        "questions": len(judged),
        "f1": _mean([one.f1 for one in answerable if one.f1 is not None]),
        "exact": _mean([one.exact for one in answerable if one.exact is not None]),
        "f1_text": _mean([one.f1_text for one in answerable if one.f1_text is not None]),
        "f1_answered": _mean([one.f1 for one in answerable if one.f1 is not None and not one.abstained]),
        "citations": cited,
        "citation_support": _share(sum(one.supported for one in told), cited),
        "citation_precision": _share(sum(one.right for one in told), cited),
        "citation_precision_answerable": _share(
            sum(one.right for one in told if one.answerable), sum(one.cited for one in told if one.answerable)
        ),
        "citation_precision_near": _share(sum(one.near for one in told), cited),
        "near": _share(len(shown), len(answerable)),
        "near_with_it": _share(sum(one.right > 0 for one in shown), len(answerable)),
        "citation_recall": _share(
            sum(one.found for one in answerable), sum(one.evidence for one in answerable)
        ),
        "quotations_borne_out": _share(sum(one.borne for one in judged), sum(one.quoted for one in judged)),
        "unanswerable": len(unanswerable),
        "abstained_on_unanswerable": _mean([float(one.abstained) for one in unanswerable]),
        "abstained_on_answerable": _mean([float(one.abstained) for one in answerable]),
        "unclaimed_on_unanswerable": _mean([float(is_unclaimed(one)) for one in unanswerable]),
        "unclaimed_on_answerable": _mean([float(is_unclaimed(one)) for one in answerable]),
        "degraded": sum(one.degraded for one in judged),
        "tokens_in": sum(one.tokens[0] for one in judged),
        "tokens_out": sum(one.tokens[1] for one in judged),
        "fallbacks": sum(one.fallback is not None for one in judged),
    }


def is_unclaimed(one: Judged) -> bool:
    """Whether nothing was put as an answer: nothing said, or only pointed at as the nearest there is."""
    return one.abstained or one.rung == "near"


def is_right(one: Judged) -> bool:
    """Whether an answer that was given is borne out: the question has one, and evidence is cited."""
    return one.answerable and one.right > 0


def calibrated(judged: Sequence[Judged]) -> Reliability | None:
    """Return how p compares with how often answers that were given are borne out; None without any."""
    given = [one for one in judged if not one.abstained]
    return reliability([one.p for one in given], [is_right(one) for one in given]) if given else None


def _calibration(judged: Sequence[Judged]) -> Any:
    found = calibrated(judged)
    return msgspec.to_builtins(found) if found is not None else None


def latency(judged: Sequence[Judged]) -> dict[str, dict[str, float]]:
    """Return the median and the 95th percentile of each stage, in milliseconds, and of all together."""
    stages = {name: [one.ms[name] for one in judged if name in one.ms] for one in judged for name in one.ms}
    stages["all"] = [sum(one.ms.values()) for one in judged]
    return {
        name: {"p50": round(quantile(times, 0.5), 2), "p95": round(quantile(times, 0.95), 2)}
        for name, times in stages.items()
        if times
    }


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of them lies; there is at least one."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
