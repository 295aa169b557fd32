"""What speaks for each turn that it answers a question: one row a turn, one column a feature. Pure.

What recall found, how far the turn speaks of the question, whether it bears what is asked for, who speaks, and where it
stands among the turns on the same topic.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from braid.agent.answer.choice.matching import Matching
from braid.agent.answer.question.reading import AskedQuestion
from braid.agent.answer.turn.bearing import Bearing, spelt_names
from braid.agent.answer.turn.spans import MAX_CHARS
from braid.agent.answer.turn.turn import is_agent, named_speakers
from braid.agent.composer import Nearness
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.recall.pool import Floats
from braid.text.sentences import sentences
from braid.text.words import STOP, stem, stems, words

CANDIDATES: Final = 24
"""Among how many of the best hits the answering turn is looked for."""
_RECALLED: Final = (
    "words", "meaning", "meaning_1", "meaning_after", "near_before", "near_after", "index_words", "date", "speaker",
    "other_speaker", "times", "opens", "causal", "number_wanted", "time_wanted", "plan_wanted", "first_person",
    "answers",
)  # fmt: skip
"""Signals of recall that are features as they are."""
_KINDS: Final = ("money", "number", "time", "clock", "person", "place", "reason", "check")
_CORRECTS: Final = re.compile(
    r"\b(?:scrap that|actually|no wait|wait,? no|sorry|correction|i meant|instead|chang(?:ed?|ing)|moved?|moving|now"
    r"|any ?more|no longer|after all|cancel+ed|called off|update|new|switch(?:ed|ing)?|replaced?|swapp?(?:ed)?|down to"
    r"|up to|raised|bumped|forget)\b",
    re.IGNORECASE,
)
_MAY_BE: Final = re.compile(
    r"\b(?:if|maybe|might|could|would|perhaps|thinking|thought|wish|hope|should|was going to|or)\b",
    re.IGNORECASE,
)
_PLANS: Final = re.compile(
    r"\b(?:will|going to|gonna|plan(?:ning)?|want|let['’]?s|(?:i|we)['’]?ll)\b", re.IGNORECASE
)
_SHARE: Final = 0.6
"""What share of the best cover makes a turn one on the topic."""


class Features(msgspec.Struct, frozen=True):
    """float64[n, len(NAMES)], and of each of n turns what the ladder looks at again."""

    table: Floats
    bears: Floats
    plainly: Floats
    cover: Floats
    in_context: Floats
    spoken_of: Floats
    context: Floats
    asks: Floats


def features(
    question: Question, asked: AskedQuestion, hits: Sequence[Hit], nearest: Nearness | None = None
) -> Features:
    """Return the features of some hits, best first and at least one."""
    spoken = [words(hit.text) for hit in hits]
    matching = Matching(words(asked.core), spoken, _before(hits), nearest)
    bearing = Bearing(asked, _names(hits), nearest)
    best, borne = _by_sentence(matching, bearing, hits)
    bears = np.array([float(bearing.bears(hit.text)) for hit in hits])
    plainly = np.array([float(bearing.plainly(hit.text)) for hit in hits])
    asks = np.array([float(hit.text.rstrip().endswith("?")) for hit in hits])
    corrects = _has(_CORRECTS, hits)
    columns = _recalled(hits) | _spoken_of(matching, best, borne)
    columns |= {f"bears_{kind}": bears * (asked.wants == kind) for kind in _KINDS}
    columns |= {f"plainly_{kind}": plainly * (asked.wants == kind) for kind in _KINDS}
    numbers = np.array([float(bearing.numbers(hit.text) > 0) for hit in hits])
    names = np.array([float(bearing.names(hit.text) > 0) for hit in hits])
    columns |= {
        "counts": np.array([float(bearing.counts(hit.text)) for hit in hits]),
        "number_of_value": numbers * (asked.wants == "value"),
        "name_of_value": names * (asked.wants == "value"),
        "number_of_time": numbers * (asked.wants in ("time", "clock")),
        "number_of_other": numbers * (asked.wants in ("person", "place", "reason")),
        "new": np.array([math.log1p(len({*each} - STOP - {*words(asked.core)})) / 3 for each in spoken]),
        "short": np.array([float(len(each) < 4) for each in spoken]),
        "asks": asks,
        "asks_within": np.array([float("?" in hit.text) for hit in hits]) - asks,
        "behind_question": matching.around(asks, 1),
        "replies": matching.around(asks * matching.cover, 1),
        "may_be": _has(_MAY_BE, hits),
        "plans": _has(_PLANS, hits),
        "agent": np.array([float(is_agent(hit)) for hit in hits]),
    }
    on_topic = (matching.in_context >= _SHARE * matching.in_context.max(initial=0.0)).astype(float)
    columns |= _in_time(asked, hits, on_topic, corrects)
    columns |= _who(question, hits, spoken)
    spoken_of = matching.apart_from({stem(word) for hit in hits for word in words(speaker(hit))})
    return Features(
        np.column_stack([columns[name] for name in NAMES]),
        bears, plainly, matching.cover, matching.in_context, spoken_of, matching.context, asks,
    )  # fmt: skip


def _names(hits: Sequence[Hit]) -> frozenset[str]:
    """Return in lower case who speaks, and what any turn spells as a name."""
    spelt = {match[0].lower() for hit in hits for match in spelt_names(hit.text)}
    return frozenset(spelt | {word for hit in hits for word in words(speaker(hit))})


def _before(hits: Sequence[Hit]) -> list[int]:
    places = {hit.index: at for at, hit in enumerate(hits)}
    return [places.get(next(iter(hit.before), -1), -1) for hit in hits]


def _has(pattern: re.Pattern[str], hits: Sequence[Hit]) -> Floats:
    return np.array([float(pattern.search(hit.text) is not None) for hit in hits])


def _recalled(hits: Sequence[Hit]) -> dict[str, Floats]:
    scores = np.array([hit.score for hit in hits])
    found = {f"recall_{name}": np.array([hit.signals.get(name, 0.0) for hit in hits]) for name in _RECALLED}
    return found | {
        "score": (scores - scores.max(initial=0.0)) / 3,
        "score_apart": (scores - scores.mean()) / (2 * scores.std() + 1e-6),
        "rank": -np.log1p(np.arange(len(hits))) / 2,
    }


def _by_sentence(matching: Matching, bearing: Bearing, hits: Sequence[Hit]) -> tuple[Floats, Floats]:
    """Return float64[n] twice: how much of the question one sentence of a turn has, and one that bears an answer."""
    best, borne = np.zeros(len(hits)), np.zeros(len(hits))
    for row, hit in enumerate(hits):
        for part in sentences(hit.text[:MAX_CHARS]):
            said = stems(part.text)
            share = sum(
                weight
                for each, weight in zip(matching.stems, matching.weight.tolist(), strict=True)
                if each in said
            )
            best[row] = max(best[row], share)
            if share > borne[row] and bearing.bears(part.text):
                borne[row] = share
    return best, borne


def _spoken_of(matching: Matching, best: Floats, borne: Floats) -> dict[str, Floats]:
    cover = matching.cover
    least = matching.context.min(axis=1, initial=1.0)
    return {
        "cover": cover,
        "cover_to_best": cover / max(float(cover.max(initial=0.0)), 1e-9),
        "exactly": matching.exactly,
        "before_adds": matching.with_before - cover,
        "context_adds": matching.in_context - matching.with_before,
        "context_to_best": matching.in_context / max(float(matching.in_context.max(initial=0.0)), 1e-9),
        "least_met": least,
        "sentence": best,
        "borne": borne,
        "borne_to_best": borne / max(float(borne.max(initial=0.0)), 1e-9),
    }


def _in_time(
    asked: AskedQuestion, hits: Sequence[Hit], on_topic: Floats, corrects: Floats
) -> dict[str, Floats]:
    """Return where each turn stands among those on the topic, and among all, by what time is asked for."""
    index = np.array([hit.index for hit in hits])
    later = (index[None, :] > index[:, None]) @ on_topic / max(float(on_topic.sum()), 1.0)
    earlier = (index[None, :] < index[:, None]) @ on_topic / max(float(on_topic.sum()), 1.0)
    place = index.argsort().argsort() / max(len(hits) - 1, 1)
    of_now = float(asked.era in ("any", "now", "last"))
    return {
        "later_any": later * (asked.era == "any"),
        "later_now": later * (asked.era == "now"),
        "later_before": later * (asked.era == "before"),
        "earlier_first": earlier * (asked.era == "first"),
        "place_any": place * (asked.era == "any"),
        "place_now": place * (asked.era == "now"),
        "place_before": place * (asked.era == "before"),
        "place_first": place * (asked.era == "first"),
        "place_last": place * (asked.era == "last"),
        "place_past": place * asked.past,
        "corrects": corrects * of_now,
        "corrects_old": corrects * (1 - of_now),
    }


def _who(question: Question, hits: Sequence[Hit], spoken: Sequence[Sequence[str]]) -> dict[str, Floats]:
    named = named_speakers(question, hits)
    one = len(named) == 1
    own = np.array([float(one and speaker(hit) in named) for hit in hits])
    meant = {word for each in named for word in words(each)} if one else set[str]()
    low = [hit.text.lower() for hit in hits]
    return {
        "own": own,
        "other": np.array([float(one)] * len(hits)) - own,
        "names_speaker": np.array([float(not meant.isdisjoint(each)) for each in spoken]),
        "names_entity": np.array(
            [float(any(name.lower() in each for name in question.entities)) for each in low]
        ),
    }


NAMES: Final = (
    *(f"recall_{name}" for name in _RECALLED), "score", "score_apart", "rank",
    "cover", "cover_to_best", "exactly", "before_adds", "context_adds", "context_to_best", "least_met", "sentence",
    "borne", "borne_to_best",
    *(f"bears_{kind}" for kind in _KINDS if kind != "check"), *(f"plainly_{kind}" for kind in _KINDS),
    "counts", "number_of_value", "name_of_value", "number_of_time", "number_of_other", "new", "short", "asks",
    "asks_within", "behind_question", "replies", "may_be", "plans", "agent",
    "later_any", "later_now", "later_before", "earlier_first", "place_any", "place_now", "place_before", "place_first",
    "place_last", "place_past", "corrects", "corrects_old", "own", "other", "names_speaker", "names_entity",
)  # fmt: skip
"""The columns, in order."""
