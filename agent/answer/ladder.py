"""The rungs below what is held: what was said, what comes near, and silence. Pure.

Said: the turn that answers, quoted with its day, and beside it the one that it replies to or that changes it. Near: at
most three quotations, and no answer made of them. Silence says what was looked for and what would help.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from braid.agent import bands
from braid.agent.answer.assertion.verdict import asks_of_the_past, asks_of_then, replied, verdict
from braid.agent.answer.change.former_state import wanted
from braid.agent.answer.choice.chooser import Chosen
from braid.agent.answer.choice.confidence import missing
from braid.agent.answer.choice.matching import LIGHT
from braid.agent.answer.question.identity import asked_for, role_asked
from braid.agent.answer.question.reading import Wants, tells_of_first
from braid.agent.answer.turn.bearing import Bearing
from braid.agent.answer.turn.doer import speaker_meant
from braid.agent.answer.turn.spans import AnswerSpan, best_span, kind_of
from braid.agent.answer.turn.turn import is_agent, when_of
from braid.agent.answer.wording.report import capital, date, excerpt, quotable, report_of, support_of
from braid.agent.composer import Composed, QuestionContext
from braid.recall.decompose import Question
from braid.recall.hits import Hit, are_near, speaker
from braid.text.parse import Parses
from braid.text.words import stem, stems, telling_stems, words

UNKNOWN: Final = "I don't know."
NEAREST: Final = "I can't say for certain; this comes nearest."
MOST_NEAR: Final = 3
"""How many quotations are shown as near."""
MOST_NAMED: Final = 3
"""How many of the words that nobody speaks of are told."""
SPOKEN_OF: Final = 0.2
"""How much of the question, names of who speaks aside, something must speak of, so that it is shown at all."""
LIKELY: Final = 0.4
"""Or how likely it must be to answer, as it was read."""
DISPUTED: Final = 0.5
"""How sure an answer is at most that was said otherwise on another day."""
UNSAID: Final = bands.CAREFUL - 0.01
"""How sure an answer is at most that is only shown."""
_AGAIN: Final = re.compile(r"\b(?:back|again|after all|restarted|resumed)\b", re.IGNORECASE)
"""Says that what was over goes on."""
_STILL: Final = re.compile(r"\b(?:still|yet|any ?more)\b", re.IGNORECASE)
_NOW: Final = re.compile(r"\b(?:now|nowadays|these days)\b", re.IGNORECASE)
_WAS: Final = re.compile(
    r"\b(?:was|were|before|used to|from(?! now)|instead of|no longer|not)\b|n['’]t\b", re.IGNORECASE
)
_BEHIND_BEFORE: Final = re.compile(
    r"\b(?:before|until|till) (?P<what>(?!(?:i|we|you|he|she|it|they)\b)[^?.!,]{1,40}?)\W*$", re.IGNORECASE
)
_IS_OFF: Final = re.compile(r"\b(?:closed|shut|cancell?ed|called off|scrapped)\b", re.IGNORECASE)
_NOW_IS: Final = re.compile(r"\b(?:now|instead|to|until|till|from|it['’]s)\b", re.IGNORECASE)
"""Beside what is off, what holds in its place: else a time in it is that of the end."""
_LOOKED_FOR: Final[dict[Wants, str]] = {
    "money": "a sum", "number": "a number", "time": "a day or time", "clock": "a time of day", "person": "a name",
    "place": "a place", "reason": "a reason", "check": "a yes or no",
}  # fmt: skip


def unknown(reason: str, p: float) -> Composed:
    """Return the answer that nothing is known."""
    return Composed(text=UNKNOWN, citations=(), p=p, abstained=True, reason=reason, rung="silent")


def silence(question: Question, chosen: Chosen | None, hits: Sequence[Hit]) -> Composed:
    """Return that nothing is known, with what was looked for, and what would help."""
    looked = _LOOKED_FOR.get(chosen.asked.wants, "") if chosen is not None else ""
    unheard = missing(question, hits)[:MOST_NAMED]
    what = (
        f"nothing that was found speaks of {' or '.join(unheard)}"
        if unheard
        else "what was found is about something else"
    )
    where = (
        f"; {looked} was looked for in {len(hits)} record{'s' if len(hits) > 1 else ''}"
        if looked and hits
        else ""
    )
    return unknown(
        f"{what}{where}; a name, a day or another word for it would help", chosen.p if chosen else 0.0
    )


def said(question: Question, chosen: Chosen, asked: QuestionContext) -> Composed | None:
    """Return what was said that answers, quoted; None where that isn't sure enough to be told."""
    p = asked.given * chosen.p
    best = chosen.ranked[0] if chosen.ranked[0] in chosen.told else chosen.told[-1]
    is_of_then = wanted(question.text) is not None or (
        chosen.asked.era == "before" and asks_of_the_past(question)
    )
    turns = _of_time(question, chosen)
    if best not in turns and turns:
        best = turns[-1]
    if (
        chosen.p < chosen.least[asked.caution]
        or not chosen.bears
        or not turns
        or (is_of_then and not chosen.changed and _is_only_of_now(_quoted(question, best)))
    ):
        return None
    if not chosen.changed:
        answer = told(question, best, turns, max(p, bands.CAREFUL), parses=asked.parses)
        since = _since(question, best, chosen, answer.short, asked.parses)
        if since is None:
            return answer
        both = "; ".join(f"{quotable(hit.text).rstrip('.')} ({date(when_of(hit))})" for hit in (best, since))
        return told(question, best, [best, since], min(answer.p, DISPUTED), both)
    if chosen.instead is not None and is_of_then:
        p = min(max(p, bands.CAREFUL), DISPUTED)
        return told(question, chosen.told[0], chosen.told, p, parses=asked.parses)
    if chosen.instead is not None and (short := _instead(question, best, chosen.instead)) is not None:
        p = min(max(p, bands.CAREFUL), DISPUTED)
        return told(question, chosen.instead, chosen.told, p, short or None, parses=asked.parses)
    spans = [best_span(question, hit.text, when_of(hit)) for hit in chosen.told]
    both = "; ".join(
        f"{quotable(span.short)} ({date(when_of(hit))})"
        for hit, span in zip(chosen.told, spans, strict=True)
        if span is not None
    )
    return told(question, best, chosen.told, min(max(p, bands.CAREFUL), DISPUTED), both)


def _of_time(question: Question, chosen: Chosen) -> list[Hit]:
    """Return of what would be told what may be of the time that is asked for: at first what was said first, and before
    something not what tells of that alone."""
    turns = list(chosen.told)
    is_told_of_then = (tells_of_first if chosen.asked.at_first else _WAS.search)(_quoted(question, turns[0]))
    is_before = chosen.asked.era == "before" and asks_of_the_past(question)
    if (
        (chosen.asked.at_first or is_before)
        and not is_told_of_then
        and _is_another_meant(question, turns[0], chosen, before=is_before)
    ):
        return []
    if chosen.asked.at_first and not are_near(turns[0], turns[-1], 2):
        return turns[:1]
    behind = _BEHIND_BEFORE.search(question.text) if asks_of_the_past(question) else None
    since = telling_stems(behind["what"]) if behind is not None else set[str]()
    if not since:
        return turns
    said = {hit.id: _quoted(question, hit) for hit in turns}
    return [hit for hit in turns if not since <= stems(said[hit.id]) or _WAS.search(said[hit.id])]


def _is_another_meant(question: Question, turn: Hit, chosen: Chosen, *, before: bool) -> bool:
    """Whether an earlier turn on the same has a value of the kind that is asked for, too; `before`: and no later one
    has."""
    topic = ({*question.stems} | telling_stems(turn.text)) - LIGHT
    others = [
        when_of(hit) < when_of(turn)
        for hit in chosen.next_best
        if Bearing(chosen.asked).plainly(hit.text) and not topic.isdisjoint(stems(hit.text))
    ]
    return bool(others) and (all(others) if before else any(others))


def _is_only_of_now(sentence: str) -> bool:
    """Whether a sentence says how things are now, and nothing of how they were before: a sack is 34 now."""
    return _NOW.search(sentence) is not None and _WAS.search(sentence) is None


def _since(question: Question, best: Hit, chosen: Chosen, short: str, parses: Parses | None) -> Hit | None:
    """Return a later turn that may turn a yes or a no, so that both are shown and neither is said.

    One that is told beside the best and doesn't say the same, that speaks of whom the question names or of what it asks
    "still" for, or that takes up again what is no more.
    """
    is_plain = short in ("yes", "no")
    asks_still = question.intent == "check" and _STILL.search(question.text) is not None
    if not is_plain and not asks_still:
        return None
    beside = [hit for hit in chosen.told if when_of(hit) > when_of(best)] if is_plain else []
    spans = [best_span(question, hit.text, when_of(hit)) for hit in beside]
    for hit, span in zip(beside, spans, strict=True):
        if _short(question, hit, span, parses) != short:
            return hit
    if asks_of_then(question):
        return None
    named = {stem(word) for name in question.entities for word in words(name)}
    named |= {stem(word) for word in question.words} if asks_still else set()
    again = {*question.stems} if short == "no" else set[str]()
    for hit in chosen.ranked:
        if hit.source != best.source or when_of(hit) <= when_of(best) or hit in chosen.told:
            continue
        heard = stems(hit.text)
        if not named.isdisjoint(heard) or (_AGAIN.search(hit.text) and not again.isdisjoint(heard)):
            return hit
    return None


def _instead(question: Question, older: Hit, newer: Hit) -> str | None:
    """Return what a turn says holds instead: empty where that is plainly a value of what is asked for; the sentence
    where both name a number or a code, and it a new one; None where it may say only that something has gone."""
    span = best_span(question, newer.text, when_of(newer))
    if span is None:
        return None
    if span.wanted and not (_IS_OFF.search(span.sentence) and not _NOW_IS.search(span.sentence)):
        return ""
    codes = {word for word in words(span.sentence) if any(map(str.isdigit, word))}
    before = {word for word in words(older.text) if any(map(str.isdigit, word))}
    return quotable(span.sentence) if before and codes - before else None


def told(
    question: Question,
    best: Hit,
    turns: Sequence[Hit],
    p: float,
    short: str | None = None,
    *,
    parses: Parses | None = None,
) -> Composed:
    """Return some turns quoted in their order. `p` in [0, 1]: how sure that is; `short`: the answer in fewest words,
    where that isn't the best's own."""
    span = best_span(question, best.text, when_of(best))
    is_dated = short is None  # what is told as it stands is no day that could be put otherwise
    supports = [support_of(hit, _quoted(question, hit)) for hit in turns]
    reports = [capital(report_of(one, one.quote)) for one in supports]
    if len(turns) > 1 and when_of(turns[0]) < when_of(turns[-1]):
        reports[0] = f"Earlier, {report_of(supports[0], supports[0].quote)}"
    if short is None and len(turns) > 1 and best is turns[-1]:
        short = replied(question, turns[0].text, best.text)
    if short is None:
        short = speaker_meant(question, best) or None
    fewest = _short(question, best, span, parses) if short is None else short
    if (
        is_dated
        and question.intent == "time"
        and span is not None
        and span.wanted
        and fewest not in best.text
    ):
        reports.append(f"That is {fewest}.")  # what was told from the day it was said on, as a date
    elif len(turns) == 1 and short is None and is_of_then(question):
        reports[0] = f"Back then: {reports[0]}"
    lead = f"{capital(fewest)}. " if fewest in ("yes", "no") else ""
    return Composed(
        text=lead + " ".join(reports),
        citations=tuple(one.id for one in supports),
        short=fewest,
        p=p,
        rung="said",
    )


def is_of_then(question: Question) -> bool:
    """Whether a question asks how things were at a time that it names."""
    return question.time is not None and question.intent != "time" and asks_of_the_past(question)


def near(
    question: Question, chosen: Chosen, parses: Parses | None = None, since: Hit | None = None
) -> Composed:
    """Return what comes near, as quotations; `short` is what the first of them would come to. `since`: what may stand
    in its place, which is shown beside it."""
    first, *others = chosen.near
    ranked = chosen.near if since is None else [first, since, *(hit for hit in others if hit.id != since.id)]
    shown = _owners_first(_apart(ranked), ranked)
    best = shown[0]
    supports = [support_of(hit, _quoted(question, hit)) for hit in shown]
    return Composed(
        text=" ".join([NEAREST, *(capital(report_of(one, one.quote)) for one in supports)]),
        citations=tuple(one.id for one in supports),
        short=_short(question, best, best_span(question, best.text, when_of(best)), parses),
        p=min(chosen.p, UNSAID),
        rung="near",
    )


def _apart(ranked: Sequence[Hit]) -> list[Hit]:
    """Return the first few hits that don't say the same."""
    return list({hit.text: hit for hit in reversed(ranked[: MOST_NEAR + 1])}.values())[::-1][:MOST_NEAR]


def _owners_first(shown: Sequence[Hit], ranked: Sequence[Hit]) -> list[Hit]:
    """Return what is shown with the owner's words first; the best of them, too, where none is among it: nobody else's
    push them out."""
    own = [hit for hit in shown if hit.source == "owner"]
    if not own:
        own = [hit for hit in ranked if hit.source == "owner"][:1]
    others = [hit for hit in shown if hit.source != "owner"]
    return [*own, *others][:MOST_NEAR]


def _quoted(question: Question, hit: Hit) -> str:
    span = best_span(question, hit.text, when_of(hit))
    return excerpt(hit.text, span.sentence if span is not None else "")


def _short(question: Question, hit: Hit, span: AnswerSpan | None, parses: Parses | None) -> str:
    if span is None:
        return ""
    # Where somebody lives doesn't say who they are, nor "my doctor" who that is.
    if asked_for(question.text) is not None or span.short.lower() in role_asked(question.text):
        return quotable(span.sentence)
    if checked := verdict(
        question, span.sentence, parses, speaker=_of_another(question, hit), whole=hit.text
    ):
        return checked
    if question.intent == "time" and not span.wanted:
        # The day of saying is no answer to when; of what was over by then it is a bound, where no time was said.
        if Bearing(kind_of(question)).plainly(span.sentence):
            return ""
        return f"by {date(when_of(hit))}" if asks_of_the_past(question) else ""
    return quotable(span.short)


def _of_another(question: Question, hit: Hit) -> str:
    """Return who said a hit, where that isn't who asks: by name, or where a question isn't of whoever asks it."""
    named = speaker(hit)
    return "" if named == "user" or (question.first_person and not is_agent(hit)) else named


def surely(composed: Composed, p: float) -> Composed:
    """Return an answer that is so sure at most."""
    return msgspec.structs.replace(composed, p=min(composed.p, p))
