"""Turns that say the same but in one place: "My rent is £800" … "my rent is now £950". Pure.

Which of them holds can't be told from the words, so neither is told alone. The rule is narrow on purpose: one speaker,
one sentence each, all words alike but one stretch. What it misses is quoted as before; what it finds is never wrong to
tell, since both were said.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from braid.agent.choice import Choice
from braid.agent.sureness import speaker, when_of
from braid.agent.verdict import asks_of_then
from braid.recall.decompose import Question
from braid.text.words import STOP, stem, words

MOST: Final = 3
"""How many are told."""
MOST_WORDS: Final = 5
"""How many words the stretch has at most, in which two sentences differ."""
_IDLE: Final = frozenset("""
a an the now new newly currently presently today again still actually just instead anymore already really so well yes
ok okay oh and but
""".split())  # fmt: skip # noqa: SIM905
"""Words that make no difference."""
_BE: Final = frozenset(("am", "are", "was", "were", "s", "m", "re"))


def variants(question: Question, best: Choice, found: Sequence[Choice]) -> list[Choice]:
    """Return `best` and what was said otherwise in its place, oldest first, at most `MOST`; empty where nothing was."""
    others = list[Choice]()
    for one in found:
        if all(_differs(question, each, one) for each in (best, *others)):
            others.append(one)
    if not others:
        return []
    others.sort(key=lambda one: when_of(one.hit))
    return sorted([best, *others[1 - MOST :]], key=lambda one: when_of(one.hit))


def _differs(question: Question, best: Choice, other: Choice) -> bool:
    """Whether another turn says the same but in one place, where that isn't what the question names."""
    if best.hit.id == other.hit.id or speaker(best.hit) != speaker(other.hit):
        return False
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
    named = asked & apart and (question.intent != "check" or asks_of_then(question))
    return bool(alike & asked) and not named


def _words(sentence: str) -> list[str]:
    return ["is" if word in _BE else word for word in words(sentence) if word not in _IDLE]
