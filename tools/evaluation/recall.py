"""Measuring recall through the product: conversations go into a real store, and are asked through its front door."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from braid.recall.evaluate import CUTS, QuestionMeasures, measure, summary
from braid.recall.samples import Sample

if TYPE_CHECKING:
    from braid.store import Store

BATCH: Final = 500
DEPTH: Final = CUTS[-1]
Progress = Callable[[int, int], None]


def evaluate(
    samples: Sequence[Sample], *, top_k: int = DEPTH, progress: Progress | None = None, **how: Any
) -> dict[str, Any]:
    """Return the measures over all samples, by category and by conversation; of `top_k` hits, at least ten.

    `how` goes to `Store.recall`.
    """
    from time import perf_counter

    from braid.recall.rank import weights_name

    begun = perf_counter()
    answered: list[QuestionMeasures] = []
    by_sample: dict[str, Any] = {}
    asked, degraded = 0, 0
    questions = sum(len(sample.questions) for sample in samples)
    with store_of(samples) as (store, places):
        filled = perf_counter() - begun
        for number, sample in enumerate(samples):
            own: list[QuestionMeasures] = []
            now = max((turn.when for turn in sample.turns), default=datetime.now(UTC))
            for question in sample.questions:
                answer = store.recall(
                    question.text, user_id=scope_of(number, sample), top_k=top_k, now=now, **how
                )
                degraded += bool(answer.degraded)
                own.append(_judged(question, sample, [places[hit.id][1] for hit in answer.results], top_k))
                asked += 1
                if progress is not None:
                    progress(asked, questions)
            by_sample[scope_of(number, sample)] = {"questions": len(own), **_short(own)}
            answered += own
        model = store.views.search.index().model
    return {
        **summary(answered),
        "conversations": by_sample,
        "questions": asked,
        "unscorable": sum(sample.unscorable for sample in samples),
        "unresolved_evidence": sum(sample.unresolved for sample in samples),
        "turns": sum(len(sample.turns) for sample in samples),
        "degraded": degraded,
        "top_k": top_k,
        "model": model,
        "weights": weights_name(),
        "seconds": {"filling": round(filled, 2), "all": round(perf_counter() - begun, 2)},
    }


def _judged(question: Any, sample: Sample, ranked: Sequence[int], depth: int) -> QuestionMeasures:
    right: set[object] = set(question.evidence)
    sessions: set[object] = {sample.sessions[at] for at in question.evidence}
    return QuestionMeasures(
        question.category,
        measure(ranked, right, depth),
        measure([sample.sessions[at] for at in ranked], sessions, depth),
    )


def _short(answered: Sequence[QuestionMeasures]) -> dict[str, Any]:
    whole = summary(answered)
    return {level: whole[level]["all"] for level in ("turn", "session")}


def scope_of(number: int, sample: Sample) -> str:
    """Return whose memory a sample is in the store: its name, told apart from others of the same name."""
    return f"{sample.name}/{number}"


@contextmanager
def store_of(samples: Sequence[Sample]) -> "Generator[tuple[Store, dict[str, tuple[str, int]]]]":
    """Yield a store that holds the samples, each in a scope of its own, and where each record comes from."""
    import braid

    with TemporaryDirectory(prefix="braid-evaluate-") as folder:
        place = Path(folder)
        with braid.open(place / "store", guard_dir=place / "guard") as store:
            places: dict[str, tuple[str, int]] = {}
            for number, sample in enumerate(samples):
                name = scope_of(number, sample)
                for start in range(0, len(sample.turns), BATCH):
                    some = range(start, min(start + BATCH, len(sample.turns)))
                    placed = store.session.append_drafts([_draft(sample, name, at) for at in some])
                    places |= {each.id: (name, at) for each, at in zip(placed, some, strict=True)}
            store.views.search.index(wait_s=60.0)
            yield store, places


def _draft(sample: Sample, scope: str, at: int) -> Any:
    from braid.log import drafts

    turn = sample.turns[at]
    structured: dict[str, Any] = {"ordinal": at}
    if turn.caption:
        structured["media"] = [{"kind": "image", "caption": turn.caption}]
    return drafts.experience(
        turn.text,
        name=turn.speaker or None,
        structured=structured,
        occurred_at=turn.when,
        within=drafts.scope(user_id=scope, session_id=f"{scope}/{turn.session}"),
        external_id=turn.id,
    )
