"""Shows what each stage of recall is worth: the stage switched off, the rest as it is; as a table and as a picture.

    python -m braid.tools.lab.ablate_recall FOLDER_OF_LOCOMO [--plot FILE.svg]

Each conversation is ranked by weights that the others taught, with the stage and without: what is left learns to do
without it. The stages that no weight of the fit speaks for (uncertainty) are measured through a store by
`braid evaluate recall --uncertainty 0`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import typer

from braid.models.static import StaticEmbedder
from braid.recall.decompose import Decomposer, decompose
from braid.recall.evaluate import QuestionMeasures, mean
from braid.recall.samples import read_locomo
from braid.recall.vocabulary import Vocabulary
from braid.tools.lab.fit_recall import Case, cases, fit, judge, names

STAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "words (BM25)": ("words", "words_", "cover", "index_words"),
    "meaning": ("meaning", "meaning_"),
    "topic of the question": ("topic_",),
    "meaning of single words": ("near_",),
    "neighbours (window)": (
        "words_1", "words_2", "words_before", "words_after", "cover_1", "meaning_1", "meaning_2", "meaning_before",
        "meaning_after", "near_before", "near_after",
    ),
    "session": ("words_session", "cover_session", "meaning_session"),
    "dates": ("date",),
    "who speaks": ("speaker", "other_speaker"),
    "kind of answer": ("time_wanted", "number_wanted", "name_wanted", "reason_wanted", "plan_wanted"),
    "form of the turn": (
        "times", "names", "first_person", "future", "asks", "ends_asking", "answers", "length", "short", "opens",
    ),
}  # fmt: skip
"""Stage → its signals, by name or by beginning (with `_` at the end)."""
HAND: Final = {
    "words": 0.35, "words_2": 0.35, "meaning": 0.5, "meaning_2": 0.5, "speaker": 0.2, "words_session": 0.2, "date": 1.0,
}  # fmt: skip
"""Weights as one would set them by hand: the four-signal fusion, the speaker, the session, the date."""
TAKEN_APART: Final[Mapping[str, Mapping[str, Any]]] = {
    "entity expansion": {"entities": ()},
    "time in the question": {"time": None, "event": None},
}
"""Stage → what of a question is not read, so that its way into the index stays shut."""
BY_COLUMN: Final = ("recall@10", "mrr", "ndcg@10", "session recall@5")


def signals_of(stage: str) -> frozenset[str]:
    """Return the signals of a stage."""
    return frozenset(
        name
        for name in names()
        if any(name == one or (one.endswith("_") and name.startswith(one)) for one in STAGES[stage])
    )


def reading_less(gone: Mapping[str, Any]) -> Decomposer:
    """Return what takes questions apart without these parts."""
    return lambda text, now: msgspec.structs.replace(decompose(text, now), **gone)


def without(by_sample: Mapping[str, Sequence[Case]], gone: frozenset[str]) -> list[QuestionMeasures]:
    """Return the measures of every question, its conversation left out of what taught the weights."""
    kept = [place for place, name in enumerate(names()) if name not in gone]
    narrow = {
        name: [case._replace(signals=case.signals[:, kept]) for case in own]
        for name, own in by_sample.items()
    }
    answered: list[QuestionMeasures] = []
    for name, own in narrow.items():
        answered += judge(
            own, fit([case for other, each in narrow.items() if other != name for case in each])
        )
    return answered


def by_hand(by_sample: Mapping[str, Sequence[Case]]) -> list[QuestionMeasures]:
    """Return the measures of every question under weights that nothing taught."""
    import numpy as np

    weights: Any = np.array([HAND.get(name, 0.0) for name in names()])
    return [one for own in by_sample.values() for one in judge(own, weights)]


def row(answered: Sequence[QuestionMeasures]) -> list[float]:
    """Return the columns of one line."""
    turn, session = mean([one.turn for one in answered]), mean([one.session for one in answered])
    return [turn["recall@10"], turn["mrr"], turn["ndcg@10"], session["recall@5"]]


def draw(rows: Mapping[str, Sequence[float]], path: Path) -> None:
    """Draw what each stage is worth as SVG; raises ModuleNotFoundError without matplotlib (the extra `notebook`)."""
    import matplotlib as _matplotlib

    matplotlib: Any = _matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot as _pyplot

    pyplot: Any = _pyplot
    whole, *others = rows.items()
    style = {"svg.hashsalt": "braid", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False}
    with matplotlib.rc_context(style | {"axes.spines.right": False}):
        page, panels = pyplot.subplots(1, len(BY_COLUMN), figsize=(10, 2.6), sharey=True)
        for column, (axes, title) in enumerate(zip(panels, BY_COLUMN, strict=True)):
            values = [each[column] for _, each in others]
            axes.barh([name for name, _ in others], values, color="#2563eb")
            axes.axvline(whole[1][column], color="#111827", linewidth=1)
            axes.set_xlim(max(min(values) - 0.1, 0), whole[1][column] + 0.02)
            axes.set_title(
                f"{title} (line: {whole[1][column]:.3f})", loc="left", fontsize=8, fontweight="bold"
            )
            axes.invert_yaxis()
        page.tight_layout()
        page.savefig(
            path, format="svg", metadata={"Date": None, "Title": "Recall without each of its stages"}
        )
        pyplot.close(page)


def main() -> None:
    """Print the table, draw the picture where one is asked for."""
    embedder = StaticEmbedder()
    vocabulary = Vocabulary(embedder)
    samples = [read_locomo(json.loads(path.read_text())) for path in sorted(Path(sys.argv[1]).glob("*.json"))]

    def all_cases(decomposer: Decomposer) -> dict[str, Sequence[Case]]:
        return {one.name: cases(one, embedder, vocabulary, decomposer) for one in samples}

    by_sample = all_cases(decompose)
    rows: dict[str, list[float]] = {}
    typer.echo(f"| without | {' | '.join(BY_COLUMN)} |\n|---|{'--:|' * len(BY_COLUMN)}")
    for stage in ("(everything there)", *STAGES, *TAKEN_APART, "learning: weights by hand"):
        if stage.startswith("learning"):
            answered = by_hand(by_sample)
        elif stage in TAKEN_APART:
            answered = without(all_cases(reading_less(TAKEN_APART[stage])), frozenset())
        else:
            answered = without(by_sample, signals_of(stage) if stage in STAGES else frozenset())
        rows[stage] = row(answered)
        typer.echo(f"| {stage} | {' | '.join(f'{value:.3f}' for value in rows[stage])} |")
    if "--plot" in sys.argv:
        draw(rows, Path(sys.argv[sys.argv.index("--plot") + 1]))


if __name__ == "__main__":
    main()
