"""The answers of the questions that one consists of, as one answer. Pure."""

from collections.abc import Sequence
from typing import Final

from braid.agent.composer import Composed, RungName

_LOWEST_FIRST: Final[tuple[RungName, ...]] = ("silent", "near", "said", "held")


def together(questions: Sequence[str], answers: Sequence[Composed]) -> Composed:
    """Return one answer of several: each once, in the order of their questions. What isn't told says of what.

    At least one is told. It is as sure as the least sure of those that are, and stands on the lowest of their rungs.
    """
    told = [one for one in answers if one.claims]
    texts = [
        one.text if one.claims else f"Of “{question}”: {one.text}"
        for question, one in zip(questions, answers, strict=True)
    ]
    return Composed(
        text=" ".join(dict.fromkeys(texts)),
        citations=tuple(dict.fromkeys(id for one in answers for id in one.citations)),
        short="; ".join(dict.fromkeys(one.short for one in told if one.short)),
        p=min(one.p for one in told),
        rung=next((rung for rung in _LOWEST_FIRST if any(one.rung == rung for one in told)), None),
        quoted=all(one.quoted for one in told),
        beside=[each for one in answers for each in one.beside],
    )
