"""Measuring a reader of claims: it is shown talks turn by turn, as learning shows them, and what it reads is scored.

evaluate(PlainReader(), read_talks([(path.name, path.read_bytes())]), alone=shared().run_alone)
"""

from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

import msgspec

from braid.learn.inference import settled
from braid.learn.parse.guarded import guarded
from braid.learn.reading import in_words, method_of
from braid.learn.turn import KnownClaims, Turn, TurnReader
from braid.ledger.record.record import Claim
from braid.stance.readings import certainty
from braid.tools.evaluation.extraction_scores import (
    CUTS,
    Counted,
    Judgement,
    Read,
    Scored,
    at_most,
    base_rate,
    curve,
    judged,
    shares,
)
from braid.tools.evaluation.talks import Talk

WINDOW: Final = 2_000
BATCH: Final = 500
"""Turns of a talk that a reader may prepare itself for at a time."""

Score = Callable[[Claim], float]
Prepare = Callable[[Sequence[Turn]], object]
"""Is given the next turns before they are read one by one: a parser takes many sentences at a time faster."""
Gate = Callable[[Turn, Sequence[Claim], bool], Sequence[Claim]]
"""A turn, what was read of it, whether claims of health and money are kept → what is kept."""
Alone = Callable[[Sequence[str]], object]
"""Runs a parser's model over texts, and nothing else."""
Progress = Callable[[int, int], None]


def sureness(claim: Claim) -> float:
    """Return how sure a claim is: what ranks claims where nothing else does."""
    return certainty(claim).p


def as_signed(turn: Turn, claims: Sequence[Claim], health: bool) -> Sequence[Claim]:
    """Return the claims that a store keeps: none of health and money where a set says that neither is signed for."""
    return claims if health else [one.claim for one in guarded(turn, claims) if not one.kinds]


def evaluate(
    reader: TurnReader,
    talks: Sequence[Talk],
    *,
    most: int | None = None,
    score: Score = sureness,
    prepare: Prepare | None = None,
    gate: Gate | None = None,
    alone: Alone | None = None,
    details: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the measures of a reader over talks, as JSON has them: `observations`, `labels`, `speed`, `reader`.

    `most`: of a turn at most so many claims count, those of the highest score. `details`: with what was read wrongly,
    and what was left out. Either of the first two is None where no talk has any.
    """
    if alone is not None:
        alone(["It is loaded."])
    if talks and talks[0].turns:
        read_talk(reader, msgspec.structs.replace(talks[0], turns=talks[0].turns[:1]), prepare=prepare)
    reads: list[Read] = []
    times = _Times()
    for number, talk in enumerate(talks, 1):
        # By turns: what else the machine does, and whose caches are warm, is then the same for both.
        if number % 2:
            times.time_alone(talk, alone)
        begun = perf_counter()
        claims = read_talk(reader, talk, prepare=prepare, gate=gate)
        times.reading += perf_counter() - begun
        if not number % 2:
            times.time_alone(talk, alone)
        reads.append([[Scored(claim, score(claim)) for claim in each] for each in claims])
        if progress is not None:
            progress(number, len(talks))
    kept = [at_most(read, most) for read in reads]
    observed = [at for at, talk in enumerate(talks) if talk.observations]
    labelled = [at for at, talk in enumerate(talks) if talk.labels is not None]
    return {
        "reader": method_of(reader),
        "most_per_turn": most,
        "observations": _observations(
            [talks[at] for at in observed], [reads[at] for at in observed], [kept[at] for at in observed]
        )
        if observed
        else None,
        "labels": _labels([talks[at] for at in labelled], [kept[at] for at in labelled], details=details)
        if labelled
        else None,
        "speed": _speed(talks, times),
    }


def read_talk(
    reader: TurnReader, talk: Talk, *, prepare: Prepare | None = None, gate: Gate | None = None
) -> list[tuple[Claim, ...]]:
    """Return what is read of each turn, as learning reads it: what is known grows, and claims that needed other turns
    are those which these turns alone give.
    """
    known = KnownClaims()
    before: deque[Turn] = deque(maxlen=reader.looks_back)
    health = talk.labels is None or talk.labels.health
    found: list[tuple[Claim, ...]] = []
    for start in range(0, len(talk.turns), BATCH):
        some = talk.turns[start : start + BATCH]
        if prepare is not None:
            prepare(some)
        for said in some:
            claims: Sequence[Claim] = ()
            if said.text:
                turn = msgspec.structs.replace(said, previous=tuple(before))
                before.append(said)
                known.since = turn.at - WINDOW
                reading = reader.read(turn, known)
                known.add(reading.notes)
                claims = reading.claims
                if claims and reading.used:
                    claims = settled(reader, turn, reading, talk.turns.__getitem__).claims
                if claims and gate is not None:
                    claims = gate(turn, claims, health)
            found.append(tuple(claims))
    return found


def _observations(talks: Sequence[Talk], reads: Sequence[Read], kept: Sequence[Read]) -> dict[str, Any]:
    by_talk = {
        talk.name: msgspec.to_builtins(shares([talk], [read])) for talk, read in zip(talks, kept, strict=True)
    }
    cut = {str(most): [at_most(read, most) for read in reads] for most in CUTS} | {"all": reads}
    return {
        "conversations": len(talks),
        "turns": sum(len(talk.turns) for talk in talks),
        "observations": sum(len(talk.observations) for talk in talks),
        "unresolved": sum(talk.unresolved for talk in talks),
        "base_rate": base_rate(talks),
        **msgspec.to_builtins(shares(talks, kept)),
        "by_most_per_turn": {name: msgspec.to_builtins(shares(talks, each)) for name, each in cut.items()},
        "by_conversation": by_talk,
        "curve": curve(talks, kept),
    }


def _labels(talks: Sequence[Talk], kept: Sequence[Read], *, details: bool) -> dict[str, Any]:
    found = [
        judged(
            talk,
            standing(
                [(turn, one.claim) for turn, each in zip(talk.turns, read, strict=True) for one in each]
            ),
        )
        for talk, read in zip(talks, kept, strict=True)
    ]
    domains = [talk.labels.domain for talk in talks if talk.labels is not None]
    cases = [talk.labels.case for talk in talks if talk.labels is not None]
    return {
        "talks": len(talks),
        "all": _sum(found),
        "domains": _by(domains, found),
        "cases": _by(cases, found),
        **({"details": _details(talks, found)} if details else {}),
    }


def standing(claims: Sequence[tuple[Turn, Claim]]) -> list[tuple[Turn, Claim]]:
    """Return the claims that no later one of the same talk corrects: what would be held at its end."""
    return [
        (turn, claim)
        for place, (turn, claim) in enumerate(claims)
        if not any(
            later.source_type == "corrected"
            and not later.polarity
            and (later.subject, later.rel, later.object) == (claim.subject, claim.rel, claim.object)
            for _, later in claims[place + 1 :]
        )
        and not (
            claim.source_type == "corrected" and not claim.polarity and _is_answered(place, claim, claims)
        )
    ]


def _is_answered(place: int, claim: Claim, claims: Sequence[tuple[Turn, Claim]]) -> bool:
    """Whether a denial only clears the way for the value that takes its place."""
    return any(
        later.source_type == "corrected"
        and later.polarity
        and (later.subject, later.rel) == (claim.subject, claim.rel)
        for _, later in claims[place + 1 : place + 2]
    )


def _sum(found: Sequence[Judgement]) -> dict[str, Any]:
    total = Counted()
    for one in found:
        total = total.plus(one.counted)
    return {"talks": len(found), **total.measures()}


def _by(names: Sequence[str], found: Sequence[Judgement]) -> dict[str, dict[str, Any]]:
    return {
        name: _sum([one for own, one in zip(names, found, strict=True) if own == name])
        for name in sorted(set(names))
    }


def _details(talks: Sequence[Talk], found: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Return each talk in which something is wrong, missed, misattributed, or what must never be."""
    return [
        {
            "id": talk.name,
            "text": [turn.text for turn in talk.turns],
            "wrong": [_shown(claim) for claim in one.wrong],
            "missed": [
                f"{label.subject} {'' if label.polarity else 'not '}{list(label.words)}"
                for label in one.missed
            ],
            "misattributed": [_shown(claim) for claim in one.misattributed],
            "never": [_shown(claim) for claim in one.never],
        }
        for talk, one in zip(talks, found, strict=True)
        if one.wrong or one.missed or one.misattributed or one.never
    ]


def _shown(claim: Claim) -> str:
    said = f", says {claim.said_by}" if claim.said_by else ""
    return f"{in_words(claim)}{said} [{claim.quote or ''}]"


class _Times:
    """Seconds that reading took, and that the parser's model took alone for the same turns; None: it wasn't asked."""

    def __init__(self) -> None:
        self.reading = 0.0
        self.alone: float | None = None

    def time_alone(self, talk: Talk, alone: Alone | None) -> None:
        """Have the model parse the turns of a talk, and count the time."""
        if alone is None:
            return
        begun = perf_counter()
        alone([turn.text for turn in talk.turns])
        self.alone = (self.alone or 0.0) + perf_counter() - begun


def _speed(talks: Sequence[Talk], times: _Times) -> dict[str, Any]:
    """Return turns and words a second, and as a ratio of what the parser's model alone does with the same turns."""
    texts = [turn.text for talk in talks for turn in talk.turns]
    seconds, floor = times.reading, times.alone
    return {
        "turns": len(texts),
        "seconds": round(seconds, 3),
        "turns_per_second": _rate(len(texts), seconds),
        "words_per_second": _rate(sum(len(text.split()) for text in texts), seconds),
        "parser_alone_turns_per_second": _rate(len(texts), floor),
        "of_parser_alone": round(floor / seconds, 3) if floor is not None and seconds else None,
    }


def _rate(count: int, seconds: float | None) -> float | None:
    return round(count / seconds, 1) if seconds else None
