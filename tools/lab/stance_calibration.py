"""Measures how sure stances are against how often they are right, on made-up questions, of which the truth is known.

    python -m braid.tools.lab.stance_calibration [--questions N] [--seed N] [--plot stance-calibration.svg]

Somebody has one home of ten, and moves: half have left a home within a year. One to six voices tell of it, one to three
times each, within two years, right as often as they say (`p`), else with another of the nine. Some of what they said is
retold; models guess, at .15; what was observed in passing is worth .3. Now and then the last word is corrected: seven
in ten are right. Each question goes through `stance.reconcile`, as a store's does.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from math import log
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from braid.ledger.record.record import Asks, Claim, Confidence, ExperienceBody, SourceType
from braid.stance.calibration import Reliability, reliability
from braid.stance.claims import Place, RecordedClaim, claims_in
from braid.stance.fold import GroundedRecord
from braid.stance.pool import HALF_LIFE_DAYS, PRIORS
from braid.stance.reconcile import reconcile
from braid.stance.voice import Backing

NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
HOMES: Final = ("Oslo", "Bergen", "Porto", "Rome", "Leeds", "Ghent", "Riga", "Kyoto", "Lima", "Quito")
QUESTIONS: Final = 2_500
_PAST_DAYS: Final = 730.0
_STATED: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_ROUNDS: Final = 400
"""How many times the questions are drawn anew for the interval."""


class Judged(NamedTuple):
    """How sure the best answer was, whether it is true, and whether it was held."""

    p: float
    right: bool
    held: bool


class Measured(NamedTuple):
    """The reliability of what was asked, and the interval in which the error of 95 in 100 redrawn sets lies."""

    diagram: Reliability
    low: float
    high: float
    held: int


def judged(count: int, seed: int) -> list[Judged]:
    """Return that many questions, asked; the same seed gives the same. Those of which nobody spoke are left out."""
    random = Random(seed)
    return [_asked(_said(random, moves), moves[-1][1]) for moves in (_moves(random) for _ in range(count))]


def measure(found: Sequence[Judged], seed: int) -> Measured:
    """Return how well calibrated answers are, with the interval by redrawing them."""
    random = Random(seed)
    errors = sorted(_diagram(random.choices(found, k=len(found))).ece for _ in range(_ROUNDS))
    cut = _ROUNDS // 40
    return Measured(_diagram(found), errors[cut], errors[-1 - cut], sum(one.held for one in found))


def _diagram(found: Sequence[Judged]) -> Reliability:
    return reliability([one.p for one in found], [one.right for one in found])


Moves = Sequence[tuple[float, str]]


def _moves(random: Random) -> Moves:
    """Return since how many days ago somebody has lived where, the first home first."""
    ago, home = _PAST_DAYS, random.choice(HOMES)
    moves = [(ago, home)]
    while (ago := ago - random.expovariate(log(2) / HALF_LIFE_DAYS["state"])) > 0:
        home = random.choice([other for other in HOMES if other != home])
        moves.append((ago, home))
    return moves


class _Source(NamedTuple):
    voice: str
    kind: SourceType
    p: float


def _said(random: Random, moves: Moves) -> list[RecordedClaim]:
    said: list[RecordedClaim] = []
    for voice in range(random.randint(1, 6)):
        source = _source(random, f"voice {voice}")
        for _ in range(random.randint(1, 3)):
            ago = random.uniform(0, _PAST_DAYS)
            home = _told(random, _home(moves, ago), source.p)
            said.append(_claimed(home, ago, source, len(said)))
            if random.random() < 0.2:  # retold by whoever heard it
                said.append(_claimed(home, ago, source, len(said)))
    last = max(said, key=lambda one: one.said).claim.object
    if random.random() < (_MADE * _WRONG if last == moves[-1][1] else _MADE):
        source = _Source("corrector", "corrected", PRIORS["corrected"])
        home = moves[-1][1] if last != moves[-1][1] else _told(random, last, 0.0)
        said.append(_claimed(home, 0.0, source, len(said)))
    return said


_MADE: Final = 0.15
_WRONG: Final = 3 / 7 * 0.8
"""Last words are true a little more often than not: so many of the true ones make three in ten corrections wrong."""


def _source(random: Random, voice: str) -> _Source:
    kind: SourceType = random.choices(
        ("explicit", "implicit_intentional", "implicit_unintentional", "inferred"), (6, 2, 1, 2)
    )[0]
    return _Source(voice, kind, random.choice(_STATED) if kind == "explicit" else PRIORS[kind])


def _home(moves: Moves, ago: float) -> str:
    return next(home for since, home in reversed(moves) if since >= ago)


def _told(random: Random, truth: str, p: float) -> str:
    return truth if random.random() < p else random.choice([other for other in HOMES if other != truth])


def _claimed(home: str, ago: float, source: _Source, index: int) -> RecordedClaim:
    body = ExperienceBody(
        symbolic=[Claim(subject="Ann", rel="lives_in", object=home, source_type=source.kind)],
        occurred_at=NOW - timedelta(days=ago),
        confidence=Confidence(p=source.p),
    )
    place = Place(index, f"exp_{index}", NOW, index)
    (said,) = claims_in(body, place, Backing(frozenset((source.voice,))))
    return said


def _asked(said: Sequence[RecordedClaim], truth: str) -> Judged:
    asks = Asks(subjects=["Ann"], rels=["lives_in"], at=NOW)
    found = reconcile("Where does Ann live?", asks, said, [GroundedRecord(one.index, one.id) for one in said])
    best = max(found.candidates, key=lambda one: one.p)
    p = 1 - found.decision.residual_uncertainty
    return Judged(p, best.said.claim.object == truth, bool(found.decision.claim))


def told(measured: Measured) -> Iterator[str]:
    """Yield what came of it, as a table."""
    diagram = measured.diagram
    yield f"questions  {diagram.count}, of these held {measured.held}"
    yield f"expected calibration error  {diagram.ece:.3f}, 95 in 100 between {measured.low:.3f} and {measured.high:.3f}"
    yield f"Brier score  {diagram.brier:.3f}"
    yield "how sure   count  mean   right"
    for one in diagram.bins:
        yield f"{one.low:.1f}–{one.high:.1f}  {one.count:8d}  {one.predicted:.3f}  {one.observed:.3f}"


def plotted(measured: Measured) -> str:
    """Return the diagram as SVG; raise ValueError where matplotlib isn't installed."""
    try:
        import matplotlib as _matplotlib
        from matplotlib.figure import Figure as _Figure
    except ImportError:
        raise ValueError(
            "--plot draws with matplotlib, which isn't here: pip install 'braid-store[notebook]'"
        ) from None
    matplotlib: Any = _matplotlib
    figure_of: Any = _Figure
    with matplotlib.rc_context({"svg.hashsalt": "braid", "font.size": 9}):
        figure = figure_of(figsize=(4.2, 3.8), layout="constrained")
        axes = figure.subplots()
        bins = measured.diagram.bins
        axes.plot([0, 1], [0, 1], color="#9ca3af", linewidth=1)
        axes.plot([one.predicted for one in bins], [one.observed for one in bins], "o-", color="#be185d")
        for one in bins:
            axes.annotate(
                str(one.count), (one.predicted, one.observed), textcoords="offset points", xytext=(4, -9)
            )
        axes.set(title=f"How sure against how right (ECE {measured.diagram.ece:.3f})")
        axes.set(xlabel="1 − residual uncertainty", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Title": "Calibration of stances"})
    return out.getvalue()


def main(argv: Sequence[str] | None = None) -> int:
    """Ask, and tell what came of it."""
    parser = ArgumentParser(prog="python -m braid.tools.lab.stance_calibration", description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, default=None)
    given = parser.parse_args(argv)
    measured = measure(judged(given.questions, given.seed), given.seed)
    sys.stdout.write("".join(f"{each}\n" for each in told(measured)))
    if given.plot is not None:
        given.plot.write_text(plotted(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
