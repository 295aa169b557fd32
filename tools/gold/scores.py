"""How good the answers to the gold tasks are, over some of them: figures. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

from braid.stance.calibration import Reliability, reliability
from braid.tools.evaluation.answer_scores import quantile
from braid.tools.gold.judge import Judged
from braid.tools.gold.tasks import CLASSES


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Shares in [0, 1], None where there is nothing to share; of no tasks at all there are no scores."""

    tasks: int
    right: int
    wrong: int
    silent: int
    pointed: int
    accuracy: float
    """Right of all tasks; where there is no answer, saying none is right."""
    citation_precision: float | None
    """Turns cited that are evidence, of all that are cited for what was said, also where there is nothing to be said;
    what was only pointed at claims nothing."""
    citation_recall: float | None
    """Evidence that is cited."""
    stance: float
    """Tasks of whose question is held what should be held, or nothing where nothing should."""
    stance_other: float
    """Tasks of whose question something else is held."""
    ece: float | None
    """How far the sureness of what is said is from how often it is right, over ten bins; of few, mostly chance."""
    brier: float | None
    uncertainty_right: float | None
    """Mean uncertainty of what is said and right."""
    uncertainty_wrong: float | None
    tokens_in: float
    """Mean, of a model's."""
    tokens_out: float
    p50_ms: float
    p95_ms: float
    degraded: int


COMPARED: Final = ("accuracy", "citation_precision", "citation_recall", "stance", "ece")
"""What a baseline holds; of the last, less is better."""


def scores(judged: Sequence[Judged]) -> Scores:
    """Return the scores of some answers; there is at least one."""
    verdicts = [one.verdict for one in judged]
    said = [one for one in judged if one.said]
    claimed = [one for one in judged if one.claimed]
    times = [one.given.ms for one in judged]
    sure = calibrated(judged)
    return Scores(
        tasks=len(judged),
        right=verdicts.count("right"),
        wrong=verdicts.count("wrong"),
        silent=verdicts.count("silent"),
        pointed=verdicts.count("pointed"),
        accuracy=_share(verdicts.count("right"), len(judged)) or 0.0,
        citation_precision=_share(sum(one.cited_right for one in claimed), sum(one.cited for one in claimed)),
        citation_recall=_share(sum(one.found for one in judged), sum(one.evidence for one in judged)),
        stance=_share(sum(one.stance == "as expected" for one in judged), len(judged)) or 0.0,
        stance_other=_share(sum(one.stance == "other" for one in judged), len(judged)) or 0.0,
        ece=round(sure.ece, 4) if sure is not None else None,
        brier=round(sure.brier, 4) if sure is not None else None,
        uncertainty_right=_mean([1.0 - one.given.p for one in said if one.fits]),
        uncertainty_wrong=_mean([1.0 - one.given.p for one in said if not one.fits]),
        tokens_in=_mean([one.given.tokens[0] for one in judged]) or 0.0,
        tokens_out=_mean([one.given.tokens[1] for one in judged]) or 0.0,
        p50_ms=round(quantile(times, 0.5), 1),
        p95_ms=round(quantile(times, 0.95), 1),
        degraded=sum(bool(one.given.degraded) for one in judged),
    )


def calibrated(judged: Sequence[Judged]) -> Reliability | None:
    """Return how sureness compares with being right, over what was said; None where nothing was."""
    said = [one for one in judged if one.said]
    return reliability([one.given.p for one in said], [one.fits for one in said]) if said else None


def by_class(judged: Sequence[Judged]) -> dict[str, Scores]:
    """Return the scores of each class, in the order of `CLASSES`, and of `all`."""
    groups = {kind: [one for one in judged if one.kind == kind] for kind in CLASSES}
    return {kind: scores(group) for kind, group in groups.items() if group} | {"all": scores(judged)}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
