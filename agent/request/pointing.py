"""What a request points to, where no set form reads it: by the words that a memory shares with it. Pure.

"Lose the alarm code hint" names what is meant by three words; "bought the kettle already, so you can wipe that" by what
stands in front. A memory is meant that has every word of what is named, or of those it shares the most with what stands
in front; where two have as many, none is.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeVar

from braid.agent.request.naming import LABELS, STATED, THINGS, has_word, initials, naming_stems
from braid.agent.request.opening import LEAD, Opening, is_asked, openings
from braid.agent.request.removal import VERB
from braid.agent.request.slots import restated_in, slots
from braid.text.wording import denies
from braid.text.words import stem, telling, words

T = TypeVar("T")
Pointing = Literal["forget", "change"]
_KEEP_NOT: Final = (
    r"(?:do(?:n['’]?t| not)|i['’]?d rather (?:you|u) did(?:n['’]?t| not)|(?:you|u) (?:need|must)n['’]?t)"
    r" (?:keep|store|remember|hold on to)"
)
_OFF: Final = r"(?:out|off|away|down)\b"
_FORGET: Final = re.compile(
    rf"{LEAD}(?P<verb>{VERB}|(?:tak(?:e|ing)|throw(?:ing)?|cross|chuck)(?= .+ {_OFF})|rm|del|{_KEEP_NOT})\b(?P<of>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CHANGE: Final = re.compile(
    rf"{LEAD}(?:chang|mov|updat|up|rais|lower|mak|set|switch|push|shift|reschedul|bump|amend|adjust|correct|edit"
    r"|fix|replac)"
    r"(?:e|ing|ting)?\b(?P<of>.*)",
    re.IGNORECASE | re.DOTALL,
)
_BESIDE: Final = re.compile(
    rf" {_OFF}\W*$|,? (?:since|because|as (?:we|i|he|she|it|they))\b.*", re.IGNORECASE | re.DOTALL
)
"""What stands behind what is named: "throw that out", "since we're moving"."""
_POLITE: Final = r"(?:please|pls|now|from now on|thanks|thank you|instead|for (?:me|us|him|her|them|it))"
_VALUE: Final = re.compile(
    r"(?P<of>.*)(?:\b(?:to|until|till|into)\b|:|,? ?\b(?:it|that)(?:['’]?s| is)(?: now)?\b|^ ?(?:it|that)\b) "
    rf"(?P<value>(?!{_POLITE}\b)[^,;]+?)(?:,? {_POLITE})*[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_POLITE_END: Final = re.compile(rf"(?:,? {_POLITE})*[\s.!]*$", re.IGNORECASE)
_BARE: Final = re.compile(r"\W*(?:about )?(?:it|that|this)(?: lol| then| now)?\W*", re.IGNORECASE)
_NEVER_MIND: Final = frozenset(("forget", "ignore", "drop", "lose"))
"""With nothing in front and nothing behind these say "never mind": "forget it"."""
_BACK: Final = re.compile(
    r"\W*(?:that|this) (?P<noun>\w+)(?: (?:out of|from|off|in) (?:your|the|my) (?:memory|notes?|list|records?|head))?"
    rf"(?: (?:{_POLITE}|then))*\W*",
    re.IGNORECASE,
)
"""What points to what stands in front by a word: "that booking"."""
_OF_IT: Final = re.compile(
    r"\W*(?:how \w+|when|where|what|who|which \w+) (?:it|he|she|they|that) (?:is|are|was|were|has|had)\W*",
    re.IGNORECASE,
)
"""Asks of what stands in front: "how long it was"."""
_WEAK: Final = re.compile(
    r"(?:drop|lose|kill|clear|tak|throw|undo|strike|ignore|ditch|dump|bin|axe|scratch|chuck|zap|nix|cross)\w*\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""Verbs of everyday, which ask only of what is named by more than one word, or as a note."""
_IS: Final = re.compile(r" (?:is called|is|are|was|were|has|wants) (?!not\b)", re.IGNORECASE)
_CODE: Final = re.compile(r"(?=\S*[a-z])(?=\S*\d)\S+", re.IGNORECASE)
OWN: Final = frozenset(("my", "i", "our", "we"))
"""Words for whoever speaks."""
_MOST_VALUE: Final = 4
"""A value in words has no more of them."""
_MOST_WORDS: Final = 20
"""A longer clause tells something, whatever it begins with."""


class Pointed(NamedTuple):
    """What is to go or to change, in stems.

    `of`: what it must have; `near`: what stands in front, of which it has the most; `denies`: whether it must say that
    something is not so, None where it may; `is_own`: whether "my" is said of it; `value`: what is to stand in it.
    """

    kind: Pointing
    of: frozenset[str]
    near: frozenset[str]
    denies: bool | None
    is_own: bool
    value: str

    @property
    def is_of_last(self) -> bool:
        """Whether it is of the last thing that was told: "make it 9:30"."""
        return not self.of and not self.near


def pointed(line: str) -> Pointed | None:
    """Return what a line points to; None where it asks for nothing, or names nothing."""
    for opening in openings(line):
        if len(opening.clause.split()) > _MOST_WORDS:
            continue
        found = _to_forget(opening) or _to_change(opening)
        if found is not None:
            return found
    return None


def _to_forget(opening: Opening) -> Pointed | None:
    found = _FORGET.fullmatch(opening.clause)
    if found is None or not is_asked(found["lead"], opening):
        return None
    of, verb = _BESIDE.sub("", found["of"]), found["verb"]
    if _BARE.fullmatch(first := re.split("[,;] ", of)[0]):
        of = first
    stems, back = naming_stems(of), _BACK.fullmatch(of)
    if back is not None or not stems or _OF_IT.fullmatch(of):
        is_bare = _BARE.fullmatch(of) and not found["lead"].strip() and not THINGS.search(opening.before)
        if is_bare and verb.lower() in _NEVER_MIND:
            return None
        noun = back["noun"] or "" if back is not None else ""
        return _pointed("forget", noun, opening.before, denied=denies(of) or None)
    if _WEAK.fullmatch(verb) and len(stems) < 2 and not THINGS.search(of):
        return None
    is_stated = STATED.match(of) is not None
    return _pointed("forget", of, "", denied=denies(of) if is_stated else denies(of) or None)


def _to_change(opening: Opening) -> Pointed | None:
    found = _CHANGE.fullmatch(opening.clause)
    if found is None or not is_asked(found["lead"], opening):
        return None
    parts = _VALUE.fullmatch(found["of"])
    of, value = (parts["of"], parts["value"]) if parts is not None else _ending(found["of"])
    if not value:
        return None
    return _pointed("change", of, "" if naming_stems(of) else opening.before, value=value)


def _ending(text: str) -> tuple[str, str]:
    """Return what a text names and the value that it ends with: "the retro 11:00"."""
    text = _POLITE_END.sub("", text.partition(", ")[0])
    for one in slots(text):
        if one.start and len(text[one.stop :].split()) < 2:
            return text[: one.start], text[one.start :]
    return text, ""


def _pointed(
    kind: Pointing, of: str, near: str, *, denied: bool | None = None, value: str = ""
) -> Pointed | None:
    wanted, beside = naming_stems(of), naming_stems(near)
    if kind == "forget" and not wanted and not beside:
        return None
    text = f"{near} {of}"
    is_own = not OWN.isdisjoint(words(text))
    return Pointed(kind, wanted, beside - wanted, denied, is_own, value.strip())


def meant_by(asked: Pointed, said: Iterable[tuple[T, str]]) -> list[T]:
    """Return those of some texts that are pointed to as much: one, several that can't be told apart, or none."""
    rated = [(rank, one) for one, text in said if (rank := _rank(asked, text)) is not None]
    best = max((rank for rank, _ in rated), default=None)
    return [one for rank, one in rated if rank == best]


def _rank(asked: Pointed, text: str) -> tuple[int, int, int, bool, bool] | None:
    """Return how much a text is pointed to; None where it isn't."""
    said = telling(text)
    own, short = frozenset(map(stem, said)), initials(said)
    missing = {word for word in asked.of if word not in short and not has_word(own, word)}
    shared = sum(has_word(own, word) for word in asked.near)
    is_named = not missing - LABELS and len(missing) < len(asked.of) if asked.of else shared > 0
    if not is_named or asked.denies not in (None, denies(text)):
        return None
    if asked.kind == "change" and (denies(text) or words(changed_to(text, asked) or text) == words(text)):
        return None
    is_own = asked.is_own and not OWN.isdisjoint(words(text))
    is_alike = len(asked.of) == 1 or denies(text) == bool(asked.denies)  # one word alone tells nothing of it
    return shared, len(asked.near & own), -len(missing), is_alike, is_own


def changed_to(text: str, asked: Pointed) -> str | None:
    """Return a text with the value that is asked for: in the place of one of its kind, else behind its one "is"."""
    if (put := restated_in(text, asked.value, of=asked.of)) is not None:
        return put
    verbs = list(_IS.finditer(text))
    value = asked.value
    if len(verbs) != 1 or len(value.split()) > _MOST_VALUE:
        return None
    is_code = [_CODE.fullmatch(one) is not None for one in (value, text[verbs[0].end() :].rstrip(" ."))]
    if any(char.isdigit() for char in value) and not all(is_code):
        return None
    subject = frozenset(map(stem, telling(text[: verbs[0].start()])))
    is_subject = all(has_word(subject, word) for word in asked.of - LABELS)
    return f"{text[: verbs[0].end()]}{value}." if is_subject else None
