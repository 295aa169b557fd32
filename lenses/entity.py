"""The entity lens: what is known of each name that is mentioned, with the sentences that say most of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens
from braid.text.calendar import MONTHS, WEEKDAYS
from braid.text.sentences import gist, statements
from braid.text.words import CHAT, normal, spoken

_NAME: Final = re.compile(
    r"(?<![\w.@/-])[A-Z][\w'’&.-]*\w(?: (?:(?:of|the|de|da|van|von|&) )?[A-Z][\w'’&.-]*\w){0,4}"
)
_OPENS: Final = re.compile(r"^[\"'“(]*$")
_WORDS: Final = """hello hi hey thanks thank yes ok okay please sorry happy good morning evening afternoon night well
dear great sure right wow haha ha lol god omg mr mrs ms dr bye also maybe perhaps today tomorrow yesterday tonight here
nothing everything something someone everyone nobody never always first second last next two three four five"""
_IDLE: Final = frozenset((*WEEKDAYS, *MONTHS, *_WORDS.split()))
SENTENCES: Final = 6
"""How many sentences are kept of each name."""


class EntityLens(Lens):
    """Keeps the records that name somebody or something. `least`: how often a name must occur to be shown."""

    name: ClassVar[str] = "entity"
    version: ClassVar[str] = "1"
    about: ClassVar[str] = "what is said of each person, place and thing that has a name"
    params: ClassVar[Mapping[str, Any]] = {"least": 2}

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        weights, items = dict(form.weights), dict(form.items)
        for entry in entries:
            named = False
            for sentence in statements(entry.text):
                for name in dict.fromkeys(names(sentence)):
                    named = True
                    key = normal(name)
                    items[key] = _told(items.get(key), name, sentence, entry, params["least"])
            if not named:
                del weights[entry.place]
        return Form(weights, items)

    def order(self, form: Form) -> list[str]:
        """Return the names, those that are mentioned most first."""
        shown = [key for key, item in form.items.items() if item.text]
        return sorted(shown, key=lambda key: (-form.items[key].data["mentions"], key))


def _told(known: Item | None, name: str, sentence: str, entry: Entry, least: int) -> Item:
    """Return a name's item with one more mention; of all sentences those that say most stay, the newest of equals."""
    data: dict[str, Any] = {"mentions": 0, "first": entry.at.isoformat(), "said": []}
    if known is not None:
        data = known.data
    said: list[list[Any]] = [*data["said"], [entry.place, len(set(spoken(sentence))), gist(sentence, 240)]]
    if len(said) > SENTENCES:
        said.remove(min(said, key=lambda one: (one[1], one[0])))
    mentions = data["mentions"] + 1
    shown = known.data["name"] if known is not None else name
    words = " / ".join(text for _, _, text in said)
    return Item(
        text=f"{shown} ({mentions}×): {words}" if mentions >= least else "",
        places=tuple(dict.fromkeys(place for place, _, _ in said)),
        at=max(entry.at.isoformat(), known.at or "") if known is not None else entry.at.isoformat(),
        data={
            "name": shown,
            "mentions": mentions,
            "first": min(data["first"], entry.at.isoformat()),
            "said": said,
        },
    )


def names(sentence: str) -> Iterator[str]:
    """Yield what a sentence names: runs of capitalised words. A single word that opens it is a name only where nothing
    says that it is an ordinary one."""
    for match in _NAME.finditer(sentence):
        parts = re.sub(r"['’](?:s|m|ve|ll|re|d)\b", "", match[0]).split()
        opens = bool(_OPENS.match(sentence[: match.start()]))
        while parts and (parts[0].lower() in CHAT or parts[0].lower() in _IDLE):
            parts.pop(0)
            opens = False
        if not parts or (opens and len(parts) == 1 and not _certain(parts[0], sentence)):
            continue
        yield " ".join(parts)


def _certain(word: str, sentence: str) -> bool:
    """Whether a word that opens a sentence is a name: it has capitals within, or a form that only names have here."""
    follows = sentence.partition(word)[2]
    return word[1:] != word[1:].lower() or bool(
        re.match(r"['’]s\b| (?:is|was|has|had|said|says|wants|works|lives|moved|will|and [A-Z])\b", follows)
    )
