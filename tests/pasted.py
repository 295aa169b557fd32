"""Turns with pasted words, and what is claimed and told of them. `python -m tests.pasted dev` prints each fault."""

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

import braid
from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared
from braid.store import Store

FOLDER: Final = Path(__file__).parent / "data" / "pasted"
SPEAKER: Final = "Maya"
_FIRST: Final = datetime(2026, 6, 1, 9, tzinfo=UTC)


class Pasted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Turns of Maya's, what no claim may hold, what the claims must hold, and a question that pasted words answer."""

    sort: str
    turns: list[str]
    forbidden: list[str]
    wanted: list[str]
    ask: str = ""


class Score(NamedTuple):
    """Of how many items something pasted was claimed, and how many of the speaker's own facts were read."""

    claimed: list[str]
    missed: list[str]
    wanted: int


def items(half: str) -> list[Pasted]:
    """Return the items of a half, `dev` or `held`."""
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Pasted) for line in lines]


def claims_of(item: Pasted) -> list[str]:
    """Return the claims that are read of an item's turns, each as a line."""
    reader, known, found = ParseReader(shared()), KnownClaims(), list[str]()
    for place, text in enumerate(item.turns):
        turn = Turn(text, speaker=SPEAKER, when=_FIRST + timedelta(days=place), at=place)
        reading = reader.read(turn, known)
        known.add(reading.notes)
        found += [f"{one.subject} {one.rel} {one.object}" for one in reading.claims]
    return found


def answer_to(item: Pasted, store: Store, user_id: str) -> tuple[str, str]:
    """Return on which rung the question of an item is answered to somebody who said nothing yet, and the text."""
    for place, text in enumerate(item.turns):
        when = (_FIRST + timedelta(days=place)).isoformat()
        message = {"role": "user", "name": SPEAKER, "content": text, "timestamp": when}
        store.remember(message, user_id=user_id)
    reply = store.ask(item.ask, user_id=user_id, now=_FIRST + timedelta(days=9), write=False)
    return str(reply.rung), reply.text


def is_told(item: Pasted, rung: str, text: str) -> bool:
    """Whether an answer tells pasted words as the speaker's."""
    return rung in ("held", "said") and any(word.lower() in text.lower() for word in item.forbidden)


def read_score(half: str) -> Score:
    """Return what is claimed of a half, without asking."""
    claimed: list[str] = []
    missed: list[str] = []
    wanted = 0
    for item in items(half):
        claims = claims_of(item)
        lines = "\n".join(claims).lower()
        wanted += len(item.wanted)
        missed += [
            f"{word}: {item.turns[-1]!r} gave {claims}" for word in item.wanted if word.lower() not in lines
        ]
        if any(word.lower() in lines for word in item.forbidden):
            claimed.append(f"{item.sort}: {item.turns[-1]!r} gave {claims}")
    return Score(claimed, missed, wanted)


def asked_score(half: str, each: int = 1) -> list[str]:
    """Return the items of a half, or each n-th, whose question is answered with pasted words as the speaker's."""
    told: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with braid.open(folder / "memory", guard_dir=folder / "guard") as store:
            store.set_learning(health=True)
            for place, item in enumerate([one for one in items(half) if one.ask][::each]):
                rung, text = answer_to(item, store, f"user-{place}")
                if is_told(item, rung, text):
                    told.append(f"{item.sort}: {item.turns[-1]!r} {item.ask} ({rung}) {text}")
    return told


def main() -> None:
    """Print what goes wrong in a half, and the figures."""
    half = sys.argv[1]
    score, told, every = read_score(half), asked_score(half), items(half)
    lines = [f"claimed  {one}" for one in score.claimed]
    lines += [f"missed   {one}" for one in score.missed]
    lines += [f"told     {one}" for one in told]
    asks, pasted = sum(bool(one.ask) for one in every), sum(bool(one.forbidden) for one in every)
    read = score.wanted - len(score.missed)
    figures = (
        f"claimed {len(score.claimed)} of {pasted}, told {len(told)} of {asks}, read {read} of {score.wanted}"
    )
    sys.stdout.write("\n".join([*([] if "-q" in sys.argv else lines), f"{half}: {figures}", ""]))


if __name__ == "__main__":
    main()
