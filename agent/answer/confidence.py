"""How sure it is that memory answers a question, by what recall found: a small calibrated model. Pure.

Two probabilities. `known`: that memory holds an answer at all, by whether what fits was said by whom the question
names; below a limit the answer is "I don't know". `right`: that the record quoted is the one that answers, which says
how surely to put it. The weights are fitted by `tools/lab/fit_answers.py`; without their file a rule decides.
"""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from braid.agent.answer.attribution import SIGNALS as VOICES
from braid.agent.answer.attribution import voices
from braid.agent.answer.presupposition import unheard
from braid.agent.answer.spans import best_span
from braid.ledger.record.record import ExperienceBody
from braid.recall.decompose import Question
from braid.recall.hits import Hit
from braid.text.words import stem, words
from braid.views.lance.rows import searched_text

WEIGHTS: Final = Path(__file__).parent / "weights.json"
MOST_HITS: Final = 12
MOST_WANTED: Final = 3
"""In how many of the own hits the kind of thing that was asked for is looked for."""
SIGNALS: Final = (
    "mass", "own_top", "own_lead", "own_share", "own_near", "near_lead", "own_cover", "cover_lead", "words_lead",
    "one_named", "all_named", "margin", "disagreement", "unheard", "own_wanted", *VOICES,
)  # fmt: skip


class Sureness(msgspec.Struct, frozen=True):
    """Probabilities in [0, 1]."""

    known: float
    right: float


class ConfidenceWeights(msgspec.Struct, frozen=True):
    """Logistic weights by signal, with `bias`, for each probability of `Sureness`: `known` and `right`.

    Below a `known` of `limit` nothing is said; `unnamed` is that limit where a question names nobody who speaks.
    """

    about: str
    known: dict[str, float]
    right: dict[str, float]
    limit: float
    unnamed: float

    def least(self, found: Mapping[str, float]) -> float:
        """Return the probability below which a question with these signals is not answered."""
        return self.limit if found["one_named"] or found["all_named"] else self.unnamed


RULE: Final = ConfidenceWeights(
    about="By hand, for where nothing was fitted: who speaks, and how many of the question's words are met.",
    known={"bias": -2.0, "own_lead": 0.6, "own_top": 1.0, "own_cover": 2.5, "unheard": -1.5},
    right={"bias": -2.5, "own_top": 0.7, "own_cover": 2.0, "margin": 0.7},
    limit=0.5,
    unnamed=0.5,
)


@cache
def weights() -> ConfidenceWeights:
    """Return the weights of this release, or the rule where their file isn't there."""
    try:
        return msgspec.json.decode(WEIGHTS.read_bytes(), type=ConfidenceWeights)
    except FileNotFoundError:
        return RULE


def name_of(given: ConfidenceWeights) -> str:
    """Return what names some weights: a hash over them."""
    return "sha256:" + hashlib.sha256(msgspec.json.encode(given)).hexdigest()[:16]


def sureness(found: Mapping[str, float], given: ConfidenceWeights) -> Sureness:
    """Return how sure it is."""
    return Sureness(_logistic(found, given.known), _logistic(found, given.right))


def _logistic(found: Mapping[str, float], given: Mapping[str, float]) -> float:
    total = given["bias"] + math.fsum(given[name] * found[name] for name in given if name != "bias")
    return 1.0 / (1.0 + math.exp(-max(min(total, 40.0), -40.0)))


def signals(
    question: Question,
    hits: Sequence[Hit],
    disagreement: float = 0.0,
    *,
    named: Collection[str] | None = None,
) -> dict[str, float]:
    """Return what speaks for an answer being there, by name, in the order of `SIGNALS`; `hits` is not empty.

    "Own" are the hits said by the one person whom the question names (whoever asks, where it says "I"), where that is
    one of those who speak; "lead" is how far the best of these is ahead of the best of the others. Where it names
    nobody, or everybody, all are own and nothing leads. "Unheard" is 1 where the question takes something for granted
    that none of the hits speaks of; `own_wanted` where one of the best own hits says what kind of thing was asked for.
    `named`: who is meant, where the question shall not say.
    """
    some = sorted(hits[:MOST_HITS], key=lambda hit: -hit.score)
    if named is None:
        named = named_speakers(question, some)
    one = len(named) == 1
    own = [hit for hit in some if speaker(hit) in named] if one else some
    others = [hit for hit in some if speaker(hit) not in named] if one else some
    low = some[-1].score
    # Nearness is told among several; a hit that stands alone is near by what it covers.
    near = "near_words" if len(some) > 1 else "cover"
    found = (
        _mass(own, low) - _mass(others, low),
        float(some[0] in own),
        _best(own, low) - _best(others, low),
        sum(hit in own for hit in some[:5]) / len(some[:5]),
        _signal(own, near),
        _signal(own, near) - _signal(others, near),
        _signal(own, "cover"),
        _signal(own, "cover") - _signal(others, "cover"),
        _signal(own, "words") - _signal(others, "words"),
        float(one),
        float(len(named) > 1),
        some[0].score - some[1].score if len(some) > 1 else 1.0,
        disagreement,
        float(bool(missing(question, some))),
        float(any(_is_wanted(question, hit) for hit in own[:MOST_WANTED])),
    )
    names = frozenset(stem(word) for hit in some for word in words(speaker(hit)))
    heard = voices(question, [text_of(hit) for hit in own], [text_of(hit) for hit in others], names)
    return dict(zip(SIGNALS, (*found, *heard.values()), strict=True))


def _is_wanted(question: Question, hit: Hit) -> bool:
    span = best_span(question, text_of(hit), when_of(hit))
    return span is not None and span.wanted


def text_of(hit: Hit) -> str:
    """Return what a hit says, with what its pictures show."""
    body = hit.record.body
    return searched_text(body) if isinstance(body, ExperienceBody) else hit.text


def when_of(hit: Hit) -> datetime:
    """Return when a hit was said."""
    return (hit.record.body.occurred_at or hit.record.created_at).astimezone(UTC)


def missing(question: Question, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return what the question takes for granted and no hit speaks of, its speakers' names aside."""
    texts = [text_of(hit) for hit in hits]
    return unheard(question.text, texts, {word for hit in hits for word in words(speaker(hit))})


def named_speakers(question: Question, hits: Sequence[Hit]) -> set[str]:
    """Return those who speak in the hits and whom the question means: by name, or as "I" where it names none.

    What an agent or a tool tells whoever asks is about them as well: where one of these speaks too, "I" names nobody.
    """
    asked = set(words(question.text))
    named = {name for hit in hits if (name := speaker(hit)) and not asked.isdisjoint(words(name))}
    if named or question.first_person == question.second_person:
        return named
    if question.first_person and any(_actor(hit) != "user" for hit in hits):
        return set()
    wanted = "user" if question.first_person else "agent"
    return {speaker(hit) for hit in hits if _actor(hit) == wanted}


def speaker(hit: Hit) -> str:
    """Return who said a hit: a name, or what kind of actor it is."""
    body = hit.record.body
    return (body.provenance.name or body.provenance.actor) if isinstance(body, ExperienceBody) else ""


def _actor(hit: Hit) -> str:
    body = hit.record.body
    return body.provenance.actor if isinstance(body, ExperienceBody) else ""


def _mass(hits: Sequence[Hit], low: float) -> float:
    """Return the logarithm of what the scores come to together: they are log-odds of a softmax over candidates."""
    if not hits:
        return low - 1.0
    top = max(hit.score for hit in hits)
    return top + math.log(math.fsum(math.exp(hit.score - top) for hit in hits))


def _best(hits: Sequence[Hit], low: float) -> float:
    return max((hit.score for hit in hits), default=low)


def _signal(hits: Sequence[Hit], name: str) -> float:
    return max((hit.signals.get(name, 0.0) for hit in hits), default=0.0)
