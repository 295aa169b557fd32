"""Measures the check of a model's sentences: `python -m braid.tools.lab.sentence_check FILE… [--list]`."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from braid.agent.guard.prompt import PromptMemory
from braid.agent.guard.support import Support, support

NOW = datetime(2027, 1, 1, tzinfo=UTC)


class Turn(msgspec.Struct, frozen=True):
    """What was cited."""

    speaker: str
    at: datetime
    text: str


class Sentence(msgspec.Struct, frozen=True):
    """A sentence over cited turns, and whether they bear it out; see tests/data/sentences/README.md."""

    id: str
    kind: str
    question: str
    turns: tuple[Turn, ...]
    sentence: str
    true: bool
    wrong: str = ""


def read(files: Sequence[Path]) -> list[Sentence]:
    """Return the sentences of some files; raise msgspec.DecodeError for what is none."""
    decode = msgspec.json.Decoder(Sentence).decode
    return [decode(row) for file in files for row in file.read_bytes().splitlines()]


def check(one: Sentence) -> Support:
    """Return what the check says of a sentence."""
    given = [PromptMemory(turn.text, turn.speaker, turn.at) for turn in one.turns]
    return support(one.sentence, given, one.question, NOW)


def main(arguments: Sequence[str]) -> None:
    """Print how the true and the false come out; with --list those that come out wrongly."""
    said = read([Path(name) for name in arguments if name != "--list"])
    found = [(one, check(one)) for one in said]
    for true in (True, False):
        counts = Counter(held.outcome for one, held in found if one.true is true)
        total = sum(counts.values())
        print(
            "true" if true else "false", {name: f"{n}/{total} {n / total:.3f}" for name, n in counts.items()}
        )
    print("false by kind, borne out:", dict(Counter(
        one.wrong for one, held in found if not one.true and held.outcome == "borne out")))  # fmt: skip
    if "--list" in arguments:
        for one, held in found:
            if one.true != (held.outcome == "borne out"):
                print(
                    one.true, held.outcome, held.detail, "|", one.sentence, "|", [t.text for t in one.turns]
                )


if __name__ == "__main__":
    main(sys.argv[1:])
