"""Which turn answers a question, and how sure it is that telling it would be right. Pure, deterministic.

A linear model over `features` orders the turns, beside a cross-encoder where one is installed (`rereading`); a logistic
one over what came of that says how probably the best of them is told rightly. A table fitted by isotonic regression
makes of it the share that was right in talks of a kind that taught nothing. `tools/lab/fit_ladder.py` fits all three,
`fit_reading.py` what the cross-encoder counts.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from braid.agent.answer.change.variants import later, variants
from braid.agent.answer.change.wording import is_change, of_another
from braid.agent.answer.choice.attribution import SIGNALS as VOICES
from braid.agent.answer.choice.confidence import SIGNALS, probability, speaking
from braid.agent.answer.choice.features import CANDIDATES, NAMES, Features, features
from braid.agent.answer.choice.matching import LIGHT
from braid.agent.answer.choice.quotes import choices
from braid.agent.answer.choice.rereading import BACKS, CLEARLY, likeliest, read_signals, reread, surest
from braid.agent.answer.choice.rereading import SIGNALS as READ_SIGNALS
from braid.agent.answer.question.presupposition import unheard
from braid.agent.answer.question.reading import AskedQuestion, in_full, tells_of_first
from braid.agent.answer.turn.bearing import Bearing
from braid.agent.answer.turn.doer import speaker_meant
from braid.agent.answer.turn.spans import kind_of
from braid.agent.answer.turn.turn import when_of
from braid.agent.composer import Caution, Nearness
from braid.recall.decompose import Question
from braid.recall.hits import Hit, are_near, speaker
from braid.recall.pool import Floats
from braid.recall.rerank import TURN_CHARS, stretch
from braid.text.orders import gives_orders
from braid.text.rerank import AnswerScores
from braid.text.words import stem, stems, words

WEIGHTS: Final = Path(__file__).parent / "ladder.json"
REPLIES: Final = 2
"""How many turns before one may be what it replies to."""
REPLIES_WITHIN: Final = timedelta(days=1)
SECOND: Final = 0.1
"""How probable a question, a reply or a change must be to be told beside the best turn."""
OF_LONG: Final = 0.88
"""What the sureness of a turn that is too long to be read whole is multiplied by: it was fitted to short turns, and a
long one holds several values (ten talks of long turns; the half that this is made by)."""
SOLE: Final = 2.0
"""How far ahead the only turn that was found is taken to be."""
RIVALS: Final = 4
"""Among how many of the first turns another may be meant as well as the first."""
_PLAINLY: Final = frozenset(("money", "number", "person"))
"""Of what a value must stand plainly to be told."""
_SHOWN_BEARING: Final = frozenset(("place", "clock", "person"))
"""Of what only turns that bear a value are near, where any does: another would be taken for the answer."""
_TYPED: Final = frozenset(("money", "number", "time", "clock", "person", "place", "reason", "check"))


class ReadWeights(msgspec.Struct, frozen=True):
    """What takes the place of `tell`, `table` and `least` where a cross-encoder read the turns. `features`: what the
    features' score is multiplied by; `read`: what the cross-encoder's is, before the two are added. `by`: the model."""

    by: str
    features: float
    read: float
    tell: dict[str, float]
    table: tuple[tuple[float, float], ...]
    least: dict[Caution, float]


class LadderWeights(msgspec.Struct, frozen=True):
    """`turn`: weights of `features.NAMES`; `tell`: of `TELLING`, with `bias`, on columns as they are. `table`: pairs of
    a logistic's probability and the share that was right; `least`: how sure an answer must be to be told."""

    about: str
    turn: dict[str, float]
    tell: dict[str, float]
    table: tuple[tuple[float, float], ...]
    least: dict[Caution, float]
    reading: ReadWeights | None = None


NOTHING: Final = LadderWeights(
    about="By hand, for where nothing was fitted: nothing is told.",
    turn={"score": 1.0, "cover": 1.0},
    tell={"bias": -5.0},
    table=(),
    least={"careful": 1.0, "default": 1.0, "eager": 1.0},
)


@cache
def weights() -> LadderWeights:
    """Return the weights of this release."""
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=LadderWeights)


def name_of(given: LadderWeights) -> str:
    """Return what names some weights: a hash over them."""
    return "sha256:" + hashlib.sha256(msgspec.json.encode(given)).hexdigest()[:16]


class Chosen(msgspec.Struct, frozen=True):
    """The turns by how probably each answers, best first; those to tell, oldest first; and how sure that is: `p` in
    [0, 1], from `signals`, numbers on the scales of `TELLING`."""

    ranked: Sequence[Hit]
    told: Sequence[Hit]
    p: float
    near: Sequence[Hit]
    """Of those ranked, what may be shown."""
    asked: AskedQuestion
    signals: dict[str, float]
    bears: bool
    """Whether what is told bears what is asked for."""
    changed: bool
    """Whether what is told says otherwise on different days."""
    instead: Hit | None
    """Of what is told, the turn that says in words of change that the best is no longer so, and what holds instead."""
    speaks: float
    """How much of the question the best that was found speaks of, in [0, 1]."""
    likeliest: float
    """How likely the likeliest turn answers, as it was read, in [0, 1]; 0 where none was."""
    answering: frozenset[str]
    """The ids of the turns that were read as answers."""
    least: dict[Caution, float]
    """How sure it must be to be told."""

    @property
    def next_best(self) -> Sequence[Hit]:
        """The few turns behind the best."""
        return self.ranked[1:RIVALS]


def choose(
    question: Question,
    hits: Sequence[Hit],
    given: LadderWeights,
    nearest: Nearness | None = None,
    answers: AnswerScores | None = None,
) -> Chosen:
    """Return what of some hits, at least one, answers a question; `p` is how probably what is told is right."""
    some = [hit for hit in hits[:CANDIDATES] if not gives_orders(hit.text)]
    hits = [hit for hit in some if not of_another(question, speaker(hit), hit.text)] or some or hits[:1]
    asked = kind_of(question)
    found = features(question, asked, hits, nearest)
    alone = found.table @ np.array([given.turn.get(name, 0.0) for name in NAMES])
    read_once_more = (
        reread(in_full(question.text), hits, alone, answers) if given.reading is not None else None
    )
    scores = alone
    if given.reading is not None and read_once_more is not None:
        scores = _mixed(hits, alone, read_once_more, given.reading)
        if asked.at_first:
            scores = _earliest(hits, scores, read_once_more, found)
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    likely = np.exp(scores - scores.max())
    likely = likely / likely.sum()
    changing = _changing(question, hits, order[0])
    second = changing
    if second is None:
        second = _second(question, order, likely, found, hits)
    told = order[:1] if second is None else sorted((order[0], second), key=lambda at: _when(hits[at]))
    first = order[:1] if changing is None else sorted({order[0], changing}, key=lambda at: _when(hits[at]))
    otherwise = _otherwise(question, hits, order[0])
    told = otherwise or told
    over = speaking(question, hits[:12])
    signals = telling(question, hits, found, scores, over, second=second)
    signals |= read_signals(read_once_more, order[0], order[min(1, len(order) - 1)])
    alone_says = signals if scores is alone else telling(question, hits, found, alone, over, second=second)
    p, least = calibrated(probability(alone_says, given.tell), given.table), given.least
    if given.reading is not None and read_once_more is not None:
        p, least = (
            surest(
                p if otherwise or order[0] == int(alone.argmax()) else 0.0,
                calibrated(probability(signals, given.reading.tell), given.reading.table),
                float(read_once_more[order[0]]),
                is_check=asked.wants == "check",
            ),
            given.reading.least,
        )
    if len(hits[order[0]].text) > TURN_CHARS:
        p *= OF_LONG
    return Chosen(
        ranked=[hits[at] for at in order],
        told=[hits[at] for at in told],
        near=_near(asked, found, hits, [*first, *order[1:]]),
        p=p,
        asked=asked,
        signals=signals,
        bears=_bears(asked, found, hits, order[0], told)
        or bool(speaker_meant(question, hits[order[0]]))
        or _reads_as_answer(asked, found, read_once_more, hits, order[0]),
        changed=changing is not None or len(otherwise) > 1,
        instead=hits[changing] if changing is not None and not otherwise and found.bears[changing] else None,
        speaks=max(float(found.spoken_of.max(initial=0.0)), _heard(question, hits)),
        likeliest=likeliest(read_once_more),
        answering=frozenset(
            hit.id
            for at, hit in enumerate(hits)
            if read_once_more is not None and read_once_more[at] >= BACKS
        ),
        least=least,
    )


def _mixed(hits: Sequence[Hit], alone: Floats, read_once_more: Floats, given: ReadWeights) -> Floats:
    """Return the features' score and the reading's together. A cross-encoder knows nothing of time: what the features
    put first stays so where it is later than what would take its place, and reads as an answer too."""
    scores = given.features * alone + given.read * read_once_more
    first, best = int(alone.argmax()), int(scores.argmax())
    if _when(hits[first]) > _when(hits[best]) and read_once_more[first] > 0.0:
        scores[first] = scores[best] + 1e-9
    return scores


def _earliest(hits: Sequence[Hit], scores: Floats, read_once_more: Floats, found: Features) -> Floats:
    """Return the scores with the turn first that tells of how it was at first: one that says so of itself, else the
    earliest, of those that read as answers and bear what is asked for."""
    meant = [at for at in range(len(hits)) if read_once_more[at] >= BACKS and found.bears[at]]
    if not meant:
        return scores
    first = min(meant, key=lambda at: (not tells_of_first(hits[at].text), _when(hits[at])))
    raised = scores.copy()
    raised[first] = scores.max() + 1e-9
    return raised


def _when(hit: Hit) -> tuple[datetime, int]:
    """Return when a hit was said: an imported history comes late into the log."""
    return when_of(hit), hit.index


def _heard(question: Question, hits: Sequence[Hit]) -> float:
    """Return the share of the question's telling words, the names of who speaks aside, that one of the hits has; where
    there is nothing else, who said it counts."""
    names = {stem(word) for hit in hits for word in words(speaker(hit))}
    asked = set(question.stems) - names - LIGHT or set(question.stems)
    said = [stems(f"{hit.text} {speaker(hit)}") for hit in hits]
    return max(len(asked & each) for each in said) / max(len(asked), 1)


def _second(
    question: Question, order: Sequence[int], likely: Floats, found: Features, hits: Sequence[Hit]
) -> int | None:
    """Return another turn that belongs with the best, nearly as probable: the question that it replies to, its reply,
    or what one of the two says has changed of the other. That both are of one topic is not enough."""
    best = order[0]
    for at in order[1:3]:
        if likely[at] < SECOND or hits[at].text == hits[best].text:
            continue
        first, last = sorted((at, best), key=lambda one: _when(hits[one]))
        soon = are_near(hits[last], hits[first], REPLIES)
        soon = soon and when_of(hits[last]) - when_of(hits[first]) <= REPLIES_WITHIN
        replies = soon and bool(found.asks[first])
        said = [stretch(question.text, hits[one].text) for one in (first, last)]
        if replies or is_change(question, *said):
            return at
    return None


def _bears(
    asked: AskedQuestion, found: Features, hits: Sequence[Hit], best: int, told: Sequence[int]
) -> bool:
    """Whether the best turn bears what is asked for, or the one right beside it that is told with it; a sum, a number
    and a name plainly, but for who said something, which the turn itself shows."""
    bears = found.plainly if asked.wants in _PLAINLY and not asked.said else found.bears
    return bool(bears[best]) or any(bool(bears[at]) for at in told if are_near(hits[at], hits[best], REPLIES))


def _reads_as_answer(
    asked: AskedQuestion, found: Features, read_once_more: Floats | None, hits: Sequence[Hit], best: int
) -> bool:
    """Whether a turn reads as a reason, as of somebody, or as the one number that it has, beyond doubt: few reasons are
    given with a "because", whoever does something says so as "I", and of "January was nine" it is clear what is
    counted."""
    if read_once_more is None or float(read_once_more[best]) < CLEARLY:
        return False
    of_doer = asked.wants == "person" and "whose" not in words(asked.core)
    of_number = asked.wants == "number" and Bearing(asked).is_sole(hits[best].text)
    return asked.wants == "reason" or of_number or (of_doer and bool(found.bears[best]))


def _near(asked: AskedQuestion, found: Features, hits: Sequence[Hit], order: Sequence[int]) -> list[Hit]:
    """Return what may be shown, best first: of a place, a time of day and a person what bears one, where any does."""
    bearing = [hits[at] for at in order if found.bears[at]] if asked.wants in _SHOWN_BEARING else []
    return bearing or [hits[at] for at in order]


def _otherwise(question: Question, hits: Sequence[Hit], best: int) -> list[int]:
    """Return the turns that say the same as the best but in one place, with it, oldest first; of a time that is named
    only the last that was said by then."""
    found = choices(question, hits)
    of_best = next((one for one in found if one.hit.id == hits[best].id), None)
    both = variants(question, of_best, found) if of_best is not None else []
    if question.time is not None:
        until = question.time.until
        both = [one for one in both if until is not None and when_of(one.hit) < until][-1:]
    places = {hit.id: at for at, hit in enumerate(hits)}
    return [places[one.hit.id] for one in both]


def _changing(question: Question, hits: Sequence[Hit], best: int) -> int | None:
    """Return the turn that says last that what the best says is no longer so."""
    hit = hits[best]
    said = stretch(question.text, hit.text)
    since = later(question, hits, sentence=said, when=when_of(hit), who=speaker(hit))
    return next((at for at, one in enumerate(hits) if since and one.id == since[-1].hit.id), None)


_TELLING: Final = (
    "likely", "ahead", "two_likely", "cover", "in_context", "met", "plainly", "bears_not", "reason", "check", "value",
    "unspoken", "asks", "then", "now", "unheard", "other_speaker", "borne", "score", "best", "beside", "date", "dated",
    "changes", "second",
)  # fmt: skip
TELLING: Final = (*_TELLING, *(f"hits_{name}" for name in SIGNALS))
"""What says how sure an answer is, in order."""
READ_TELLING: Final = (*TELLING, *READ_SIGNALS)
"""The same where a cross-encoder read the turns."""
assert set(VOICES) <= set(SIGNALS)  # noqa: S101 - what a person said of themselves is among them


def telling(
    question: Question,
    hits: Sequence[Hit],
    found: Features,
    scores: Floats,
    over: Mapping[str, float],
    *,
    second: int | None,
) -> dict[str, float]:
    """Return what says how probably the best turn is told rightly, by name. `over`: what all that was found says of
    it."""
    asked = kind_of(question)
    order = np.argsort(-scores, kind="stable")
    best, next_ = int(order[0]), int(order[min(1, len(order) - 1)])
    likely = np.exp(scores - scores.max())
    likely = likely / likely.sum()
    ahead = float(scores[best] - scores[next_]) if len(order) > 1 else SOLE
    typed = float(asked.wants in _TYPED)
    row = dict(zip(NAMES, found.table[best].tolist(), strict=True))
    near = [hit.text for hit in hits if are_near(hit, hits[best], REPLIES)]
    unspoken = unheard(question.text, near, set(words(speaker(hits[best]))))
    names = {word for hit in hits for word in words(speaker(hit))}
    own = (
        math.log(float(likely[best])), ahead, float(likely[best] + likely[next_]),
        float(found.cover[best]), float(found.in_context[best]), math.log1p(float(found.context[best].sum())),
        typed * float(found.plainly[best]), typed * (1.0 - float(found.bears[best])), float(asked.wants == "reason"),
        float(asked.wants == "check"), float(asked.wants == "value"), min(len(unspoken), 3) / 3,
        float(found.asks[best]), float(asked.era in ("first", "before")), float(asked.era == "now"),
        float(bool(unheard(question.text, [hit.text for hit in hits], names))),
        row["recall_other_speaker"], row["borne"],
        hits[best].score / 5, max(hit.score for hit in hits) / 5,
        float(next_ != best and are_near(hits[next_], hits[best])), row["recall_date"], float(asked.dated),
        float(asked.changes), float(second is not None),
    )  # fmt: skip
    return dict(zip(TELLING, (*own, *(over[name] for name in SIGNALS)), strict=True))


def calibrated(p: float, table: Sequence[tuple[float, float]]) -> float:
    """Return what a table makes of a probability, between its steps linearly; as it is without a table."""
    if not table:
        return p
    if p <= table[0][0]:
        return table[0][1]
    for (low, below), (high, above) in pairwise(table):
        if p <= high:
            return below + (above - below) * (p - low) / max(high - low, 1e-9)
    return table[-1][1]
