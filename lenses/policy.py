"""The policy lens: rules and commitments as they were stated, with their force."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from braid.lenses.entry import Entry
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens
from braid.text.sentences import gist, statements

_ONE_OFF: Final = r"(?!know|think|worry|mind|panic|laugh|cry|be\b|get me|remember|you\b|say\b|tell me|ask)"
_FORCES: Final = tuple(
    (force, re.compile(source, re.IGNORECASE))
    for force, source in (
        (
            "ends",
            r"\b(?:no longer (?:have|need) to|you can ignore|forget (?:that|the) rule|that rule is off"
            r"|(?:don['’]t|doesn['’]t|do not|does not) (?:have|need) to)\b",
        ),
        (
            "never",
            r"\b(?:must(?:n['’]t| not| never)|may not|(?:is|are) not allowed|under no circumstances)\b"
            r"|(?:^(?:so |and |then )*|\b(?:you|we|please|should|shall|will)|['’]ll) never (?:ever )?[a-z]+"
            r"|^never (?:ever )?(?!mind)[a-z]+"
            r"|(?:^(?:so |and |then |also )*|[,;:] (?:so |and |but )?|please )(?:please )?(?:don['’]t|do not) "
            + _ONE_OFF,
        ),
        (
            "always",
            r"^(?:please )?always [a-z]+"
            r"|\b(?:you|we|please|should|must|shall|will|['’]ll) always (?!been|had|was|were)[a-z]+"
            r"|\bin every case\b|\bwithout exception\b",
        ),
        ("from now on", r"\b(?:from (?:now|today|tomorrow) on|as of (?:today|now|tomorrow)|going forward)\b"),
        (
            "must",
            r"\bmust (?!have\b|be (?:a|an|the|so|very|hard|nice|saints?|circling)\b)[a-z]+"
            r"|^(?:please )?(?:make sure|be sure to|remember to)\b|\bplease (?:make sure|be sure to|remember to)\b"
            r"|\b(?:is|are) (?:mandatory|required)\b|\b(?:have|has|['’]ve) got to\b"
            r"|\b(?:am|are|is|['’]re) required to\b",
        ),
        (
            "promise",
            r"\bi promise\b|\byou have my word\b|\bi(?:['’]ll| will) (?:make sure|always|never|definitely|not)\b"
            r"|\b(?:we(?:['’]ve| have) agreed|let['’]s agree|the deal is)\b",
        ),
    )
)
_BULLET: Final = re.compile(r"^(?:[-*•–]|\d{1,3}[.)]) ")
_LABEL: Final = re.compile(
    r"^(?P<label>[\w'’-]+(?: [\w'’-]+){0,4})(?::| [–—-]) (?P<rest>.+)$",
)
_LABELS: Final = re.compile(
    r"\b(?:rules?|polic(?:y|ies)|conventions?|guidelines?|agreements?|reminder|note|nb|ps|important|warning|remember)\b",
    re.IGNORECASE,
)
"""What may stand in front of a rule: "House rule: never …", "Note to all: don't …"."""
_RULE: Final = re.compile(r"\b(?:rule|policy)(?: \d+)?$", re.IGNORECASE)
_QUESTION: Final = re.compile(r"\?[\"'”’)]*\s*$")


class PolicyLens(Lens):
    """Keeps the records that state a rule, and each rule with who stated it and how strongly."""

    name: ClassVar[str] = "policy"
    version: ClassVar[str] = "2"
    about: ClassVar[str] = "rules and commitments as stated: must, never, always, from now on"

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        weights, items = dict(form.weights), dict(form.items)
        for entry in entries:
            rules = [(force, sentence) for sentence in statements(entry.text) if (force := _force(sentence))]
            if not rules:
                del weights[entry.place]
            for number, (force, sentence) in enumerate(rules):
                items[f"{entry.place:07d}/{number:03d}"] = Item(
                    text=f"{entry.who}: {gist(sentence, 300)}",
                    places=(entry.place,),
                    at=entry.at.date().isoformat(),
                    data={"force": force, "who": entry.who},
                )
        return Form(weights, items)

    def order(self, form: Form) -> list[str]:
        """Return the rules, the newest first: what is said later may lift what was said before."""
        return sorted(form.items, reverse=True)

    def ranking(self, form: Form) -> list[int]:
        """Return places, the newest first."""
        return sorted(form.weights, reverse=True)


def _force(sentence: str) -> str | None:
    """Return how a sentence binds, None for one that states no rule; a question states none."""
    if _QUESTION.search(sentence):
        return None
    said = _BULLET.sub("", sentence)
    if found := _worded(said):
        return found
    match = _LABEL.match(said)
    if match is None or not _LABELS.search(match["label"]):
        return None
    return _worded(match["rest"]) or ("must" if _RULE.search(match["label"]) else None)


def _worded(said: str) -> str | None:
    return next((force for force, pattern in _FORCES if pattern.search(said)), None)
