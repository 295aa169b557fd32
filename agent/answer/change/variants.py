"""Turns that tell of the same thing otherwise, so that none is told alone. Pure.

`variants` finds what is alike but in one place: "My rent is £800" … "my rent is now £950". `later` finds what says
later, in other words, that a turn is no longer so: "My boss is Hannah" … "I have a new boss, Ravi".

Which of them holds can't be told from the words: that is for learning to decide. Both rules are narrow on purpose: one
speaker, and either all words alike but one stretch, or a word of change beside the thing that is asked about. What they
miss is quoted as before; what they find is never wrong to tell, since all was said.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Final

import msgspec

from braid.agent.answer.assertion.verdict import asks_of_then
from braid.agent.answer.change.wording import PROPOSED, is_change, is_mend, takes_back
from braid.agent.answer.choice.quotes import PAST, QuoteChoice
from braid.agent.answer.turn.spans import MAX_CHARS, AnswerSpan, best_span
from braid.agent.answer.turn.turn import is_agent, when_of
from braid.recall.decompose import Question
from braid.recall.hits import Hit, is_soon_after, speaker
from braid.text.sentences import sentences
from braid.text.words import STOP, stem, words

MOST: Final = 3
"""How many are told."""
MOST_LATER: Final = 2
"""How many later turns are told beside the one that they change."""
NEXT: Final = 2
MENDED_WITHIN: Final = timedelta(minutes=10)
"""How many turns on, and how long after, "make that 14" still means what was said: with a reply between, and nothing
else by the same speaker."""
MOST_WORDS: Final = 5
"""How many words the stretch has at most, in which two sentences differ."""
OF_ONE: Final = re.compile(r"\b(?:i|me|my|mine|myself|you|your|yours)\b", re.IGNORECASE)
"""What names who speaks, or who listens."""
_BEFORE: Final = re.compile(
    r"\b(?:used to|ever|first|original(?:ly)?|initial(?:ly)?|before|ago|until|till|last|old|earlier|previous(?:ly)?"
    r"|former(?:ly)?|at the (?:very )?(?:start|beginning)|beg[iu]n(?:ning)?|back then|supposed to"
    r"|when|while)\b(?<!^when)",
    re.IGNORECASE,
)
"""What asks of an earlier state. "Did" alone doesn't: whoever asks what something cost, or when somebody came, wants
what came of it in the end."""
_IDLE: Final = frozenset("""
a an the now new newly currently presently today again still actually just instead anymore already really so well yes
ok okay oh and but
""".split())  # fmt: skip # noqa: SIM905
"""Words that make no difference."""
_BE: Final = frozenset(("am", "are", "was", "were", "s", "m", "re"))


def variants(question: Question, best: QuoteChoice, found: Sequence[QuoteChoice]) -> list[QuoteChoice]:
    """Return `best` and what was said otherwise in its place, oldest first, at most `MOST`; empty where nothing was."""
    others = list[QuoteChoice]()
    for one in found:
        if all(_differs(question, each, one) for each in (best, *others)):
            others.append(one)
    if not others:
        return []
    others.sort(key=lambda one: when_of(one.hit))
    return sorted([best, *others[1 - MOST :]], key=lambda one: when_of(one.hit))


def _differs(question: Question, best: QuoteChoice, other: QuoteChoice) -> bool:
    """Whether another turn says the same but in one place, where that isn't what the question names."""
    if best.hit.id == other.hit.id or speaker(best.hit) != speaker(other.hit):
        return False
    if best.span.wanted and not other.span.wanted:
        return False  # "My boss is happy" names no other boss.
    one, two = _words(best.span.sentence), _words(other.span.sentence)
    edits = [
        edit for edit in SequenceMatcher(None, one, two, autojunk=False).get_opcodes() if edit[0] != "equal"
    ]
    if [edit[0] for edit in edits] != ["replace"]:
        return False
    _, start, stop, other_start, other_stop = edits[0]
    if max(stop - start, other_stop - other_start) > MOST_WORDS:
        return False
    asked = set(question.stems)
    alike = {stem(word) for word in one[:start] + one[stop:] if word not in STOP}
    apart = {stem(word) for word in one[start:stop] + two[other_start:other_stop]}
    # "Is my rent £800?" names what may have changed; "Did I meet Ines?" asks of one thing that was.
    named = asked & apart
    if question.intent == "check" and not asks_of_then(question):
        names = {stem(word) for name in question.entities for word in words(name)}
        named = {one for one in named - names if one.isalpha()}  # but not what was done: "is it fixed?"
    return bool(alike & asked) and not named


def _words(sentence: str) -> list[str]:
    return ["is" if word in _BE else word for word in words(sentence) if word not in _IDLE]


def later(
    question: Question, hits: Sequence[Hit], *, sentence: str, when: datetime, who: str
) -> list[QuoteChoice]:
    """Return the turns that say later that a sentence, said `when` and by `who`, is no longer so: oldest first, at most
    `MOST_LATER`."""
    past = PAST if question.intent == "check" else _BEFORE
    # "Is it in June?" asks of no time in June.
    of_now = (question.time is None or question.intent == "check") and not past.search(question.text)
    said = next((hit for hit in hits if when_of(hit) == when and sentence in hit.text), None)
    mended = None if said is None else _mend(said, who, hits)
    found = [
        QuoteChoice(hit, span, hit.score, frozenset())
        for hit in hits
        if (speaker(hit) == who or _may_tell_of(hit, said, sentence))
        and when_of(hit) > when
        and (of_now or hit is mended)
        for span in _of_change(
            question,
            sentence,
            hit,
            mends=hit is mended,
            changes=of_now,
            by_value=PAST.search(question.text) is not None,
            behind=_behind(hit, said),
            own=speaker(hit) == who,
        )
    ]
    return sorted(found, key=lambda one: when_of(one.hit))[-MOST_LATER:]


def _may_tell_of(hit: Hit, said: Hit | None, sentence: str) -> bool:
    """Whether somebody else may tell that a sentence is no longer so: of what is the same whoever speaks of it. "My
    boss" and "I" are another's in another's mouth; what an agent says may only be proposed."""
    if said is None or is_agent(hit) or hit.source != said.source or is_agent(said) != is_agent(hit):
        return False
    return OF_ONE.search(sentence) is None


def _mend(said: Hit, who: str, hits: Sequence[Hit]) -> Hit | None:
    """Return the next that somebody says, right behind a turn of theirs, in the same talk: soon, or to take it back."""
    own = [hit for hit in hits if speaker(hit) == who and is_soon_after(hit, said, NEXT)]
    after = min(own, key=lambda hit: hit.index, default=None)
    if after is None:
        return None
    is_soon = timedelta() <= when_of(after) - when_of(said) <= MENDED_WITHIN
    return after if is_soon or takes_back(after.text) else None


def _behind(hit: Hit, said: Hit | None) -> str | None:
    """Return what was said right before a hit, where that is `said`."""
    return said.text if said is not None and is_soon_after(hit, said) else None


def _of_change(
    question: Question,
    sentence: str,
    hit: Hit,
    *,
    mends: bool,
    changes: bool,
    by_value: bool,
    behind: str | None,
    own: bool,
) -> Iterator[AnswerSpan]:
    """Yield the first sentence of a turn that tells of the change; `by_value` as for `is_change`, `behind` as for
    `is_mend`, `own`: of whoever said what it changes."""
    for part in sentences(hit.text[:MAX_CHARS]):
        said = hit.text[part.start : part.stop]
        if not own and OF_ONE.search(said):
            continue
        mend = mends and is_mend(said, behind)
        taken = mends and takes_back(said)
        if (
            "?" not in part.mark
            and PROPOSED.match(said) is None
            and (mend or taken or (changes and is_change(question, sentence, said, by_value=by_value)))
        ):
            span = best_span(question, said, when_of(hit))
            if span is not None and span.short and (span.wanted or not mend):
                yield msgspec.structs.replace(span, sentence=said)
                return
