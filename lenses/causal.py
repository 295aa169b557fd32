"""The causal lens: what is said to come of what, in words and by links, joined into chains."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from braid.ledger.record.record import Record
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens, lines
from braid.text.sentences import gist, statements
from braid.text.words import spoken

_CAUSE_LAST: Final = re.compile(
    r"^(?P<effect>.{6,}?)[,;]? (?:because(?: of)?|due to|thanks to|owing to|on account of|as a result of)"
    r" (?P<cause>.{4,})$",
    re.IGNORECASE,
)
_CAUSE_FIRST: Final = re.compile(
    r"^(?:because(?: of)?|due to|thanks to|since|as a result of) (?P<cause>[^,]{4,}), (?P<effect>.{6,})$",
    re.IGNORECASE,
)
_EFFECT_LAST: Final = re.compile(
    r"^(?P<cause>.{6,}?)(?:[,;.]|,? and| –| -)? (?:(?:so )?that['’]s why|which is why|that is why|therefore"
    r"|as a result,?|which (?:means|meant)(?: that)?|led to|caused|made (?=me|us|him|her|them)) (?P<effect>.{4,})$",
    re.IGNORECASE,
)
_SO: Final = re.compile(
    r"^(?P<cause>.{12,}?), so (?!that |far |much |many |long |called |to speak)(?P<effect>.{8,})$",
    re.IGNORECASE,
)
_WAYS: Final = (_CAUSE_LAST, _CAUSE_FIRST, _EFFECT_LAST, _SO)
_ROLES: Final = ("parent", "evidence", "supersedes")
MAX_DEEP: Final = 8
SHARED_WORDS: Final = 2


class CausalLens(Lens):
    """Keeps the records that give a reason, or that hang on another by a link. A cause continues an earlier effect when
    they share two words that say something, and half of the shorter one's."""

    name: ClassVar[str] = "causal"
    version: ClassVar[str] = "1"
    about: ClassVar[str] = "chains of cause and effect, by because-clauses and by links between records"

    def takes(self, record: Record) -> bool:
        """Take experiences of every type: derivation is a link between them."""
        return bool(record.type)

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        weights, items = dict(form.weights), dict(form.items)
        effects: defaultdict[str, list[str]] = defaultdict(list)
        for key in sorted(items):
            _note(effects, key, items[key])
        for entry in entries:
            said = [pair for sentence in statements(entry.text) if (pair := reason(sentence))]
            linked = tuple(place for role, place in entry.links if role in _ROLES)
            if not said and not linked:
                del weights[entry.place]
            for number, (cause, effect) in enumerate(said):
                key = f"{entry.place:07d}/{number:03d}"
                items[key] = Item(
                    text=f"{cause} → {effect}",
                    places=(entry.place,),
                    at=entry.at.date().isoformat(),
                    data={"cause": cause, "effect": effect, "follows": _continues(cause, effects, items)},
                )
                _note(effects, key, items[key])
            if linked:
                weights |= {place: 1.0 for place in linked if place not in weights}
                items[f"{entry.place:07d}/link"] = Item(
                    text=f"{entry.type}: {gist(entry.text)} (rests on {_many(linked)})",
                    places=(*linked, entry.place),
                    at=entry.at.date().isoformat(),
                    data={"roles": [role for role, _ in entry.links if role in _ROLES]},
                )
        return Form(weights, items)

    def render(self, form: Form, params: Mapping[str, Any]) -> str:
        """Return the chains, each told once, from its first cause to its last effect; then what hangs by links."""
        del params
        keys = self.order(form)
        continued = {key for item in form.items.values() for key in item.data.get("follows", ())}
        ends = [key for key in keys if key not in continued]
        return lines([_chain(key, form.items) for key in ends])


def reason(sentence: str) -> tuple[str, str] | None:
    """Return (cause, effect) of a sentence that gives a reason, None for one that gives none, or asks for it."""
    if sentence.rstrip("\"'”’) ").endswith("?"):
        return None
    for pattern in _WAYS:
        if match := pattern.search(sentence):
            cause, effect = _clause(match["cause"]), _clause(match["effect"])
            if spoken(cause) and spoken(effect):
                return cause, effect
    return None


def _clause(text: str) -> str:
    return gist(text.strip(" .,;:!–-"), 200)


def _note(effects: dict[str, list[str]], key: str, item: Item) -> None:
    for word in sorted(set(spoken(item.data.get("effect", "")))):
        effects[word].append(key)


def _continues(cause: str, effects: Mapping[str, list[str]], items: Mapping[str, Item]) -> list[str]:
    """Return the key of the newest earlier effect that a cause takes up, as a list of at most one."""
    wanted = set(spoken(cause))
    shared: defaultdict[str, int] = defaultdict(int)
    for word in sorted(wanted):
        for key in effects.get(word, ()):
            shared[key] += 1
    fitting = [
        key
        for key, count in shared.items()
        if count >= SHARED_WORDS
        and 2 * count >= min(len(wanted), len(set(spoken(items[key].data["effect"]))))
    ]
    return [max(fitting)] if fitting else []


def _chain(key: str, items: Mapping[str, Item]) -> Item:
    path = list(_back(key, items))[::-1]
    if len(path) == 1:
        return items[key]
    words = " → ".join([items[path[0]].data["cause"], *(items[one].data["effect"] for one in path)])
    return Item(text=words, at=items[path[0]].at)


def _back(key: str, items: Mapping[str, Item]) -> Iterator[str]:
    for _ in range(MAX_DEEP):
        yield key
        before = items[key].data.get("follows")
        if not before:
            return
        key = before[0]


def _many(linked: tuple[int, ...]) -> str:
    return "an earlier record" if len(linked) == 1 else f"{len(linked)} earlier records"
