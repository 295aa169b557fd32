"""What shows on a text's surface: words with a tone, punctuation, capitals, emoji, discourse, sarcasm. Pure."""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from braid.affect.lexicon import CueScores, marks, scores
from braid.affect.words import plain, words

MAX_SHOWN: Final = 12
"""How many cues of a kind a record keeps."""


class Kind(msgspec.Struct, frozen=True):
    """What makes a cue: words and phrases, or a pattern in the text as it is written."""

    phrases: tuple[str, ...] = ()
    pattern: "re.Pattern[str] | None" = None


def _kind(listed: str, pattern: str | None = None) -> Kind:
    """Return a kind from a comma-separated list of words and phrases."""
    phrases = tuple(" ".join(part.split()) for part in listed.split(",") if part.strip())
    return Kind(phrases, re.compile(pattern) if pattern else None)


DISCOURSE: Final = {
    "thanks": _kind("thanks, thank you, grateful, appreciate, appreciated, cheers"),
    "apology": _kind("sorry, apologise, apologize, apologies, apology, my bad, my mistake, my fault"),
    "urgency": _kind("asap, urgent, urgently, immediately, right now, right away, at once, hurry, emergency"),
    "surprise": _kind(
        "wow, omg, wtf, whoa, oh my god, no way, unbelievable, unbelievably, what the hell, what the heck"
    ),
    "doubt": _kind("maybe, perhaps, might, not sure, i guess, i think, possibly, wondering"),
    "command": _kind("must, need to, needs to, have to, has to, do it, make sure, do not, don't, stop"),
    "contrast": _kind("but, however, although, though, yet, still, instead"),
}
SARCASM: Final = {
    "yeah right": _kind("yeah right, yeah sure, sure jan, as if"),
    "oh great": _kind(
        "", r"(?i)\b(?:oh|how|just|well),? (?:great|wonderful|perfect|brilliant|lovely|fantastic|nice|joy)\b"
    ),
    "thanks for nothing": _kind(
        "thanks for nothing, thanks a lot for nothing, thanks genius, big help, so helpful"
    ),
    "tag": _kind("", r"(?i)(?:^|\s)(?:/s|#sarcasm|#not)(?=\W|$)"),
    "what a": _kind(
        "good luck with that, good for you, color me, colour me",
        r"(?i)\bwhat a (?:surprise|shock|joy|treat)\b",
    ),
    "scare quotes": _kind(
        "", r"(?i)[\"“](?:great|helpful|fixed|improved|feature|easy|simple|smart|expert)[\"”]"
    ),
    "eye roll": _kind("", "🙄|🙃"),
}
VENTING: Final = {
    "every time": _kind(
        "every single time, every single day, every damn time, every time, yet again, once again"
    ),
    "had it": _kind(
        "i've had it, i have had it, had enough, sick of, sick and tired, fed up, tired of, can't stand, can't take,"
        " can't even, i give up, over it"
    ),
    "ugh": _kind(
        "jesus, ffs, seriously, for god's sake, for heaven's sake", r"(?i)\b(?:u+gh+|a+r+gh+|grr+)\b"
    ),
    "why": _kind("", r"(?i)\bwhy (?:is|does|do|can't|won't|would|must) [^?.!]{3,80}[?!]"),
    "swearing": _kind(
        "fuck, fucking, fucked, shit, shitty, damn, damned, dammit, bullshit, crap, bloody, hell"
    ),
    "shouting": _kind("", r"(?:\b[A-Z]{2,}\b[\s,!]*){3,}|\?[?!]{3,}"),
}
_KINDS: Final = {"discourse": DISCOURSE, "sarcasm": SARCASM, "venting": VENTING}
_PATTERNS: Final = tuple(
    (group, name, kind.pattern)
    for group, kinds in _KINDS.items()
    for name, kind in kinds.items()
    if kind.pattern
)


def _by_first_word() -> dict[str, list[tuple[str, str, str]]]:
    """Return first word → (phrase, group, name): most texts have none of them, and are done at once."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for group, kinds in _KINDS.items():
        for name, kind in kinds.items():
            for phrase in kind.phrases:
                found.setdefault(phrase.partition(" ")[0], []).append((f" {phrase} ", group, name))
    return found


_PHRASES: Final = _by_first_word()
_TRAILING: Final = re.compile(r"\.{3,}|…")
_DRAWN: Final = re.compile(r"([a-zA-Z])\1{2,}")


class Cues(msgspec.Struct, frozen=True):
    """What was found. Counts, unless something else is said."""

    text: str
    """What was read."""
    words: tuple[str, ...]
    scores: CueScores
    """Words, emoticons and emoji with a tone, and what they weigh here."""
    emoji: tuple[str, ...]
    """Emoticons and emoji with a tone."""
    exclamations: int
    questions: int
    ellipses: int
    capitals: int
    """Words in capitals, where not all are."""
    drawn: int
    """Words drawn out ("sooo")."""
    discourse: tuple[str, ...]
    """Names out of DISCOURSE, as are those of SARCASM and VENTING."""
    sarcasm: tuple[str, ...]
    venting: tuple[str, ...]

    def signals(self) -> dict[str, Any]:
        """Return what a record keeps of it: kinds without a find are left out."""
        weighed = [{"cue": word, "weight": round(weight, 3)} for word, weight in self.scores.cues[:MAX_SHOWN]]
        punctuation = {
            name: count
            for name in ("exclamations", "questions", "ellipses")
            if (count := int(getattr(self, name)))
        }
        found: dict[str, Any] = {
            "lexical": weighed,
            "punctuation": punctuation,
            "capitals": self.capitals,
            "drawn_out": self.drawn,
            "emoji": list(self.emoji[:MAX_SHOWN]),
            "discourse": list(self.discourse),
            "sarcasm": list(self.sarcasm),
            "venting": list(self.venting),
        }
        return {name: value for name, value in found.items() if value}


def read_cues(text: str) -> Cues:
    """Return what shows on the surface of any text."""
    read = plain(text)
    written = words(read)
    pictures = marks(read)
    said = scores(written, pictures)
    named = _named(read, written)
    return Cues(
        text=read,
        words=tuple(written),
        scores=said,
        emoji=tuple(name for name, _ in pictures),
        exclamations=read.count("!"),
        questions=read.count("?"),
        ellipses=len(_TRAILING.findall(read)) if "…" in read or "..." in read else 0,
        capitals=sum(len(word) > 1 and word.isupper() for word in written),
        drawn=len(_DRAWN.findall(read)),
        discourse=tuple(name for name in DISCOURSE if ("discourse", name) in named),
        sarcasm=tuple(name for name in SARCASM if ("sarcasm", name) in named) + _faces(said, len(pictures)),
        venting=tuple(name for name in VENTING if ("venting", name) in named),
    )


def _named(text: str, written: Sequence[str]) -> set[tuple[str, str]]:
    joined = f" {' '.join(written).lower()} "
    found = {
        (group, name)
        for word in _PHRASES.keys() & set(joined.split())
        for phrase, group, name in _PHRASES[word]
        if phrase in joined
    }
    return found | {(group, name) for group, name, pattern in _PATTERNS if pattern.search(text)}


def _faces(said: CueScores, pictures: int) -> tuple[str, ...]:
    """Tell kind words under a sour face, such as "love it :(": what is said and what is shown disagree."""
    split = len(said.cues) - pictures
    spoken, shown = ([weight for _, weight in part] for part in (said.cues[:split], said.cues[split:]))
    sour = bool(spoken and shown) and min(spoken) > 0 > max(shown)
    return ("face against words",) if sour else ()
