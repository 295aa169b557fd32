"""A text in another manner: warmer, quicker, more careful, by fixed rules and without a model. Pure, deterministic.

It adds phrases that claim nothing, and moves the ends of sentences; every word, number, quotation and citation of the
text stays, in its order. What can't be read as English prose (another language, a list, code) is left as it is. Hedges
of the text's own are never taken away: how sure a claim is belongs to the claim.
"""

import re
from typing import Final
from zlib import crc32

from braid.affect.facts import PLAIN_WORDS, PROTECTED, facts, is_ordinary
from braid.affect.style import Style

WARM: Final = 0.65
"""From which warmth on there is a closing, and up to 1 - WARM, for a heavy heart, a gentle one. There is no opening:
what was asked for stands first."""
LONG: Final = 1.4
SHORT: Final = 0.6
"""Sentences this many times as long as aimed at are split, and those this short joined."""
MAX_CHARS: Final = 20_000
_ADDRESSED: Final = frozenset(("i", "you", "let", "please", "here", "we", "ask", "check"))

CLOSERS: Final = ("I hope this helps.", "You are welcome to ask for more.")
GENTLE_CLOSERS: Final = ("I am here if you want more of it.", "I am here for the rest of it as well.")
FIRM_CLOSERS: Final = ("Ask me for more.", "Check it with me whenever you like.")
HEDGES: Final = (
    "As far as I can tell,",
    "It seems to me that",
    "From what I have seen,",
    "To the best of my knowledge,",
)
PHRASES: Final = CLOSERS + GENTLE_CLOSERS + FIRM_CLOSERS + HEDGES

_BREAK: Final = re.compile(r"(?<=[.!?])(?:\s*\x00++)*+\s+(?=\S)")
"""Possessive: a text that ends in a citation would else be gone over in every way that it can be cut."""
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|no|nos|fig|p|pp|vol|approx|ca|cf|al|inc|ltd|co|e\.g|i\.e|a\.m|p\.m|u\.s)"
    r"|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_ATTRIBUTED: Final = re.compile(
    r"\b(?:that|if|whether|because|when|while|unless|although|though|until|since|sa(?:y|ys|id)|thinks?|thought|"
    r"believe[sd]?|claim(?:s|ed)?|told|tells|report(?:s|ed)?|hopes?|may|might|would|could|according|who|which|where)\b",
    re.IGNORECASE,
)
"""What reaches over a whole sentence: outside it, a clause would say more than it did."""
_DENIED: Final = re.compile(
    r"\b(?:not|no|never|nor|neither|without|cannot|either|both|only|before|after|first|then)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What may reach over the comma before "and", but not over a semicolon."""
_JOINT: Final = re.compile(
    r"; (?=[a-z])|, (?=(?:and|but|so) (?:it|he|she|they|we|you|this|there) "
    r"(?:is|are|was|were|has|have|had|will|can|does|did)\b)"
)
_PROSE: Final = re.compile(r"[A-Z“\"'(].*[.!?](?:[\s\x00\])”\"']*)$", re.DOTALL)
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_OTHERS: Final = """
de het een ik zijn niet van dat wij jij maar der die das und ist nicht ich sie wir mit auf dem den ein eine
le la les et est pas je tu nous vous des du une el los las y que es por para con una il lo gli che non per
sono och att det jag ett som inte og jeg ikke em um uma nao os se si mi ti ale nie jest na ve bir bu ne ja
ei ja se
"""
_FOREIGN: Final = frozenset(_OTHERS.split())


def restyle(text: str, style: Style) -> str:
    """Return the text in another manner, or as it is where that isn't safe: its facts are the same either way."""
    if len(text) > MAX_CHARS or "\x00" in text or not is_english(text):
        return text
    styled = _styled(text, style)
    return styled if facts(styled) == facts(text) else text


def is_english(text: str) -> bool:
    """Whether a text can be taken for English prose: Latin letters, its small words, and none of other languages'."""
    bare = PROTECTED.sub(" ", text)
    words = [word.lower() for word in _LETTERS.findall(bare)]
    if not words or sum(not word.replace("’", "'").isascii() for word in words) * 20 > len(words):
        return False
    own = sum(word.replace("’", "'").partition("'")[0] in PLAIN_WORDS for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    return own > 2 * foreign and own * 12 >= len(words)


def _styled(text: str, style: Style) -> str:
    """Restyle without looking back; `restyle` compares the facts."""
    paragraphs = re.split(r"(\n+)", text)
    prose = [at for at in range(0, len(paragraphs), 2) if _is_prose(paragraphs[at])]
    if not prose:
        return text
    for at in prose:
        paragraphs[at] = _paced(paragraphs[at], style)
        paragraphs[at] = _hedged(paragraphs[at], style)
    last = prose[-1]
    seed = crc32(text.encode("utf-8", "surrogatepass"))
    paragraphs[last] = _closed(paragraphs[last], style, seed)
    return "".join(paragraphs)


def _is_prose(paragraph: str) -> bool:
    masked = _masked(paragraph)
    return (
        _PROSE.match(masked) is not None and is_english(paragraph) and "|" not in masked and "`" not in masked
    )


def _masked(text: str) -> str:
    """Return the text with every protected span, and what stands in parentheses, blotted out letter by letter."""

    def blot(match: re.Match[str]) -> str:
        return "\x00" * len(match[0])

    return re.sub(r"\([^()\n]*\)", blot, PROTECTED.sub(blot, text))


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, each with the space behind it: joined they are the paragraph."""
    masked = _masked(text)
    found: list[str] = []
    start = 0
    for match in _BREAK.finditer(masked):
        if _ABBREVIATED.search(masked[start : match.start()]) or not text[match.end()].isupper():
            continue
        found.append(text[start : match.end()])
        start = match.end()
    return [*found, text[start:]]


def _paced(text: str, style: Style) -> str:
    """Bring sentences nearer to the length that is aimed at."""
    each = sentences(text)
    mean = sum(map(_length, each)) / len(each)
    if mean > style.sentence_words:
        return "".join(_split(sentence, style.sentence_words * LONG) for sentence in each)
    return _joined(each, style.sentence_words * SHORT)


def _length(sentence: str) -> int:
    return len(sentence.split())


def _split(sentence: str, most: float) -> str:
    """Split a sentence that is too long where two main clauses meet, as often as it takes."""
    if _length(sentence) <= most or _ATTRIBUTED.search(sentence):
        return sentence
    masked = _masked(sentence)
    for match in reversed(list(_JOINT.finditer(masked))):
        first, second = sentence[: match.start()], sentence[match.end() :]
        if match[0] != "; " and _DENIED.search(first):
            continue
        word = _LETTERS.match(second)
        if word is None or word[0] not in PLAIN_WORDS or word[0] == "i":
            continue  # "iPhones sell" must not become "IPhones sell"
        if _length(first) >= 3 and _length(second) >= 3:
            return f"{_split(f'{first}.', most)} {second[0].upper()}{second[1:]}"
    return sentence


def _joined(each: list[str], most: float) -> str:
    """Join neighbours that are both short and plain statements."""
    found = [each[0]]
    for sentence in each[1:]:
        before, lowered = found[-1], _lowered(sentence)
        if lowered and before.endswith(" ") and _is_short(before, most) and _is_short(sentence, most):
            found[-1] = f"{before.rstrip()[:-1]}; {lowered}"
        else:
            found.append(sentence)
    return "".join(found)


def _is_short(sentence: str, most: float) -> bool:
    bare = sentence.strip()
    return (
        _length(bare) <= most
        and bare.endswith(".")
        and ".." not in bare
        and ";" not in bare
        and _ATTRIBUTED.search(bare) is None
        and _ABBREVIATED.search(bare) is None
    )


def _lowered(sentence: str) -> str | None:
    """Return the sentence for the middle of another; None where its capital may be a name's ("The Hague")."""
    word = _LETTERS.match(sentence)
    if word is None or not is_ordinary(word[0]) or re.match(r"I(?:['’]|$)", word[0]):
        return None
    if (
        re.match(r"[\s\x00]*[^\W\d_]", sentence[word.end() :]) is None
        or sentence[word.end() :].lstrip()[:1].isupper()
    ):
        return None
    return sentence[0].lower() + sentence[1:]


def _hedged(text: str, style: Style) -> str:
    """Put a hedge before as many statements as the rate says, spread evenly, the first ones first."""
    each = sentences(text)
    owed = 0.0
    for at, sentence in enumerate(each):
        owed += style.hedge_rate
        if owed < 1.0 and not (at == 0 and style.hedge_rate >= 0.35):
            continue
        if (hedge := _hedge(sentence, crc32(text.encode("utf-8", "surrogatepass")) + at)) is not None:
            each[at] = hedge
            owed -= 1.0
    return "".join(each)


def _hedge(sentence: str, seed: int) -> str | None:
    """Return a statement with a hedge before it; None for what is none, or is about those who speak."""
    word = _LETTERS.match(sentence)
    if word is None or _length(sentence) < 4 or re.search(r"\.(?:\s*\[[^\[\]]*\])*\s*$", sentence) is None:
        return None
    if word[0].lower().partition("'")[0] in _ADDRESSED:
        return None
    return f"{HEDGES[seed % len(HEDGES)]} {_lowered(sentence) or sentence}"


def _closed(text: str, style: Style, seed: int) -> str:
    choice: tuple[str, ...] = ()
    if style.imperative_rate >= 0.25:
        choice = FIRM_CLOSERS
    elif style.warmth >= WARM and not style.urgent:
        choice = CLOSERS
    elif style.warmth <= 1 - WARM and not style.urgent:
        choice = GENTLE_CLOSERS
    return f"{text.rstrip(' ')} {choice[seed % len(choice)]}" if choice else text
