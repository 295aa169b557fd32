"""The preference lens: who likes, dislikes or prefers what, by what they said last of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from braid.ledger.record.record import ExperienceBody, Record
from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens, is_spoken
from braid.text.sentences import gist, statements
from braid.text.words import normal

_I: Final = (
    r"(?:^|[,;:.] |\b(?:and|but|so|because|though) )(?:i|we)"
    r"(?: (?:really|still|also|just|actually|absolutely|do|now|always))*"
)
_NOT: Final = (
    r"(?: (?:really|just|actually))? (?:don['’]t|do not|never|can['’]t say i)(?: (?:really|even|actually))*"
)
_OBJECT: Final = r" (?P<object>[^.,;:!?()\n]{2,80})"
_STATED: Final = tuple(
    (polarity, verb, re.compile(source + _OBJECT, re.IGNORECASE))
    for polarity, verb, source in (
        ("dislikes", "dislikes", _I + _NOT + r" (?:like|love|enjoy|want)(?! to know)\b"),
        (
            "dislikes",
            "dislikes",
            _I + r"(?: (?:hate|loathe|detest|dislike|can['’]t (?:stand|bear))|['’]m (?:allergic to|sick of))",
        ),
        ("likes", "prefers", _I + r"(?:['’]d| would)? (?:rather|prefer)(?: to| have)?\b"),
        ("likes", "likes", _I + r"(?: (?:like|love|adore|enjoy)|['’]m (?:fond of|into|a fan of))\b"),
        ("likes", "favourite", r"\bmy (?:absolute )?favou?rite (?:[\w ]{2,30} )?(?:is|are)\b"),
        (
            "likes",
            "now",
            _I + r" (?:drink|eat|take|use|read|play|listen to)(?= [^.,;!?]*\b(?:now|these days|instead)\b)",
        ),
    )
)
_CUT: Final = re.compile(
    r"\s+(?:because|when|if|while|since|so|but|and (?:i|we|it|that|then)|that|which|who|anyway|actually|now|anymore"
    r"|any more|these days|instead|though|too|as well|at all|better|best|more than|to be honest)\b.*$",
    re.IGNORECASE,
)
_WORDS: Final = "it this that them him her you to being how what one me us there these those the idea already"
_EMPTY: Final = frozenset(_WORDS.split())
_CLAIMED: Final = {
    "likes": "likes",
    "loves": "likes",
    "prefers": "likes",
    "dislikes": "dislikes",
    "hates": "dislikes",
}


class Preference(NamedTuple):
    """One statement: whose, of what, which way, and its words."""

    who: str
    object: str
    polarity: str
    verb: str
    words: str


class PreferenceLens(Lens):
    """Keeps the records that state a preference. A later statement of the same person about the same thing replaces the
    earlier one, and says since when it is otherwise."""

    name: ClassVar[str] = "preference"
    version: ClassVar[str] = "2"
    about: ClassVar[str] = "who likes, dislikes or prefers what, by what was said last"

    def takes(self, record: Record) -> bool:
        """Take what was said, and what was read from it as claims."""
        body = record.body
        return is_spoken(record) or (
            isinstance(body, ExperienceBody) and any(c.rel in _CLAIMED for c in body.symbolic)
        )

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        weights, items = dict(form.weights), dict(form.items)
        for entry in entries:
            found = list(_stated(entry))
            if not found:
                del weights[entry.place]
            for one in found:
                key = f"{normal(one.who)}/{normal(one.object)}"
                items[key] = _taken_in(items.get(key), one, entry)
        return Form(weights, items)

    def ranking(self, form: Form) -> list[int]:
        """Return places, the newest first: what was said last holds."""
        return sorted(form.weights, reverse=True)


def _taken_in(known: Item | None, one: Preference, entry: Entry) -> Item:
    changed = known is not None and known.data["polarity"] != one.polarity
    day = entry.at.date().isoformat()  # of the change: that the other was said last before is no end of it
    before = {"before": known.data["polarity"], "until": day} if known is not None and changed else {}
    told = f" (until {day}: {known.data['polarity']})" if known is not None and changed else ""
    places = (known.places[-7:] if known is not None else ()) + (entry.place,)
    return Item(
        text=f"{one.who} {one.polarity} {one.object}{told}: {one.words}",
        places=tuple(dict.fromkeys(places)),
        at=day,
        data={"who": one.who, "object": one.object, "polarity": one.polarity, "verb": one.verb, **before},
    )


def _stated(entry: Entry) -> Iterator[Preference]:
    for claim in entry.claims:
        polarity = _CLAIMED.get(claim.rel)
        if polarity is not None:
            other = "dislikes" if polarity == "likes" else "likes"
            yield Preference(
                claim.subject,
                claim.object,
                polarity if claim.polarity else other,
                claim.rel,
                gist(claim.quote or entry.text),
            )
    if entry.actor == "user":
        for sentence in statements(entry.text):
            yield from _worded(entry.who, sentence)


def _worded(who: str, sentence: str) -> Iterator[Preference]:
    if sentence.rstrip("\"'”’) ").endswith("?") or re.search(
        r"\b(?:would|might|could|if) (?:i|we)\b", sentence, re.I
    ):
        return
    for polarity, verb, pattern in _STATED:
        if match := pattern.search(sentence):
            object_ = _CUT.sub("", match["object"]).strip(" '\"“”’-")
            if len(normal(object_)) > 1 and _EMPTY.isdisjoint(
                (object_.split()[0].lower(), normal(object_).split()[0])
            ):
                yield Preference(who, object_, polarity, verb, gist(sentence))
            return
