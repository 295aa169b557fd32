"""The name of what a question describes, among what was found: who "the neighbour upstairs" is. Pure.

A name fits by what stands around it: people aren't lived in, places are. Whoever speaks is meant only by others: "the
woman who lives above me" is not the one who says "I live in Durham".
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from braid.affect.facts import is_ordinary
from braid.agent.program.composers import names_in
from braid.agent.program.selection import NoteCandidate, Picked, Stated, known, pick, stated
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.words import words

Sort = Literal["person", "place", "group", "thing"]
_PLACE: Final = """
city town village place country street island hall house flat café cafe bar restaurant hotel park school university
hospital station hut beach airport church theatre museum library market
"""
_PLACES: Final = frozenset(_PLACE.split())
_GROUPS: Final = frozenset(
    ("company", "firm", "shop", "bank", "band", "team", "club", "agency", "business", "paper")
)
_ANYBODY: Final = frozenset(("man", "woman", "person", "guy", "lady", "girl", "boy", "one", "thing"))
_SORTS: Final = (*_PLACES, *_GROUPS, *_ANYBODY)
"""Words for what is described that nobody need use of it."""
_IN: Final = frozenset(
    ("in", "near", "on", "around", "through", "into", "towards", "across", "outside", "inside")
)
_FROM: Final = frozenset(("from", "at", "for", "with", "by", "joined"))
_CALLED: Final = re.compile(r"(?:\b(?:called|named|name is|name's|is|it's|she's|he's)|[:,–-])\s*$")
_DOES: Final = re.compile(
    r"['’]s\b|\s(?:is|was|has|had|does|did|told|said|says|paid|went|came|gave|got|took|made|ran|wrote|sold|bought|left"
    r"|will|would|can|[a-z]{2,}(?:ed|s))\b"
)
_LIVED_IN: Final = re.compile(r"\b(?:in|near) ([A-Z][\w’'-]+)")
_CALL: Final = re.compile(r"^[\s,!.…]*$")
_FITS: Final = 1.0
_MAY: Final = 0.5


def sort_of(question: Question) -> Sort:
    """Return what sort of thing a question asks for."""
    if question.intent == "person":
        return "person"
    head = next((word for word in words(question.text)[1:4] if word in _PLACES | _GROUPS), "")
    if head in _GROUPS:
        return "group"
    return "place" if head or question.intent == "place" else "thing"


def name(question: Question, hits: Sequence[Hit]) -> Picked | None:
    """Return the name that answers, None where none does."""
    found = list(_names(question, hits))
    return pick([_shorter(one, found) for one in found], known(question, hits))


def _names(question: Question, hits: Sequence[Hit]) -> Iterator[NoteCandidate]:
    sort = sort_of(question)
    speakers = {speaker(hit) for hit in hits}
    inside = {each for hit in hits for each in _inside(hit.text)}
    plain = {each for hit in hits for each in hit.text.split() if each.islower()}
    places = (
        {each for hit in hits for each in _LIVED_IN.findall(hit.text)}
        if sort in ("person", "group")
        else set[str]()
    )
    for one in stated(question, hits, sorts=_SORTS):
        text = one.part.text
        found: list[tuple[str, int, float]] = []
        for each in names_in(text, question.text):
            at = text.find(each)
            if is_ordinary(each) or each.lower() in plain or _opens(text, each, at, inside):
                continue
            if each in places or _is_called(text, each, at, speakers):
                continue
            if fit := _fit(sort, each, text[:at]):
                found.append((each, at, fit))
        if sort == "person" and not question.first_person and _tells_of_self(one):
            found.append((speaker(one.hit), 0, _MAY))
        for each, at, fit in found:
            # Of several that a sentence lists none is meant as surely as one that stands alone.
            yield one.candidate(each, each.lower(), fit - 0.5 * (len(found) - 1), at)


def _inside(text: str) -> list[str]:
    """Return the words with a capital inside the sentences of a text."""
    return re.findall(r"(?<=[a-z,;:] )[A-Z][\w’'-]+", text)


def _opens(text: str, name: str, at: int, inside: set[str]) -> bool:
    """Whether a word has its capital from the beginning of the sentence alone, as far as that can be told."""
    if at != 0 or " " in name or any(map(str.isdigit, name)):
        return False
    return name not in inside and _DOES.match(text, len(name)) is None


def _is_called(text: str, name: str, at: int, speakers: set[str]) -> bool:
    """Whether somebody who takes part is spoken to: "Congratulations, Jonas!"."""
    spoken = {part for each in speakers for part in words(each)}
    if not set(words(name)) <= spoken:
        return False
    behind = text[at + len(name) :]
    return behind.startswith(",") or _CALL.fullmatch(behind) is not None


def _fit(sort: Sort, name: str, before: str) -> float:
    """Return how well a name fits behind the words before it: 1, less, or 0."""
    last = words(before[-40:])[-1:]
    if sort != "thing" and (any(map(str.isdigit, name)) or (sort == "person" and name.isupper())):
        return 0.0
    if sort == "person":
        return 0.0 if last and last[0] in _IN | {"at"} else _FITS if _CALLED.search(before) else _MAY + 0.25
    if sort == "place":
        return _FITS if (last and last[0] in _IN | {"at", "to", "from"}) or _CALLED.search(before) else _MAY
    if sort == "group":
        return _MAY / 2 if last and last[0] in _IN else _FITS if last and last[0] in _FROM else _MAY
    return _FITS if _CALLED.search(before) else _MAY


def _tells_of_self(one: Stated) -> bool:
    return bool(re.search(r"\bI\b", one.part.text)) and speaker(one.hit)[:1].isupper()


def _shorter(one: NoteCandidate, others: Sequence[NoteCandidate]) -> NoteCandidate:
    """Return a candidate under the shortest name that its own begins with: Loom Street Studio is Loom Street."""
    parts = one.key.split()
    keys = [other.key for other in others if parts[: len(other.key.split())] == other.key.split()]
    return NoteCandidate(one.text, min(keys, key=len), one.id, one.worth, one.cover, one.at)
