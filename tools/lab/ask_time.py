"""How long `ask` takes in a store of so many learnt turns: LoCoMo's conversations, again and again, of one user.

python -m braid.tools.lab.ask_time ../shared/data/locomo [--turns 10000] [--questions 100]
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import braid
from braid.ledger.record.record import Draft
from braid.log import drafts
from braid.recall.samples import Sample, read_locomo
from braid.tools.evaluation.answer_scores import quantile

USER = "u"
WARM = 20
"""So many questions are asked before the clock starts."""
TRANSACTION = 500


def turns(samples: Sequence[Sample]) -> Iterator[Draft]:
    """Yield the turns of all conversations, again and again, each time in sessions of their own."""
    for again in count():
        for sample in samples:
            for turn in sample.turns:
                within = drafts.scope(user_id=USER, session_id=f"{again} {sample.name} {turn.session}")
                yield drafts.experience(
                    turn.text, actor="user", name=turn.speaker, occurred_at=turn.when, within=within
                )


def measure(samples: Sequence[Sample], n: int, questions: int, seed: int = 1) -> dict[str, float]:
    """Return the milliseconds of a question: p50, p95 and the longest."""
    asked = [one.text for sample in samples for one in sample.questions]
    random.Random(seed).shuffle(asked)
    with TemporaryDirectory(prefix="braid-ask-") as folder:
        home = Path(folder)
        with braid.open(home / "memory", guard_dir=home / "guard") as store:
            made = turns(samples)
            for first in range(0, n, TRANSACTION):
                store.session.append_drafts(list(islice(made, min(TRANSACTION, n - first))))
            store.learn()
            store.views.search.index(wait_s=600.0)
            times: list[float] = []
            for question in asked[: WARM + questions]:
                began = perf_counter()
                store.ask(question, user_id=USER, write=False)
                times.append(1000 * (perf_counter() - began))
    return {
        "p50": quantile(times[WARM:], 0.5), "p95": quantile(times[WARM:], 0.95), "longest": max(times[WARM:])
    }  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    samples = [read_locomo(json.loads(file.read_bytes())) for file in sorted(given.folder.glob("*.json"))]
    if not samples:
        parser.error(f"{given.folder} holds no conversation")
    found = measure(samples, given.turns, given.questions)
    print("  ".join(f"{name} {ms:.0f} ms" for name, ms in found.items()))


if __name__ == "__main__":
    main()
