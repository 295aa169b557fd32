"""Which language a text is in, where its letters or its small words leave no doubt. Pure.

Not a classifier: a short answer is often names and numbers alone, and a wrong guess would throw a good answer away.
None means that nothing can be said.
"""

import re
import unicodedata
from collections import Counter
from typing import Final

_SMALL_WORDS: Final = {
    "en": "the and is are was were of to in that it with for not this have has you your she he they her"
    " his from at by been"
    " would will on be i my we what where when who how does did",
    "de": "der die das und ist sind war nicht ein eine einen einem zu mit von für auf den dem im ich du"
    " er sie wir ihr sich"
    " auch hat haben wird wurde wohnt jetzt wo wer was wann wie warum welche heißt",
    "fr": "le la les et est sont était pas un une des du de que qui dans pour avec sur je tu il elle nous"
    " vous ils ce cette"
    " au aux mais ne se son sa ses où quand quel quelle comment pourquoi habite",
    "es": "el la los las y es son era no un una de que en por para con se su sus yo tú él ella pero muy"
    " está fue del al como"
    " vive ahora dónde cuándo qué quién cómo",
    "pt": "o a os as e é são era não um uma de que em por para com se seu sua eu você ele ela mas muito"
    " está foi do da no na"
    " ao agora onde quando quem mora",
    "it": "il lo la i gli le e è sono era non un una di che in per con si suo sua io tu lui lei ma molto"
    " della del nel alla"
    " anche adesso dove quando chi come abita",
    "nl": "de het een en is zijn was niet van te dat die in op met voor ik je hij zij wij ook maar aan"
    " bij heeft wordt nu waar wie wanneer woont",
}
_WORDS_OF: Final = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
_SCRIPTS: Final = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh", "CYRILLIC": "ru", "ARABIC": "ar",
    "HEBREW": "he", "DEVANAGARI": "hi", "THAI": "th", "GREEK": "el",
}  # fmt: skip
_WORD: Final = re.compile(r"[^\W\d_]+")
_ENOUGH: Final = 3
"""Small words, or letters of another script, from which on a text is long enough."""


def guess(text: str) -> str | None:
    """Return the two letters of a text's language, None where there is doubt."""
    letters = Counter(_script(c) for c in text if c.isalpha())
    others = {name: count for name, count in letters.items() if name is not None}
    if sum(others.values()) > letters[None]:
        return _by_script(others)
    scores = _scores(text)
    best, second = sorted(scores, key=lambda name: -scores[name])[:2]
    # Neighbours share small words: the best must say clearly more than the next.
    return best if scores[best] >= _ENOUGH and scores[best] >= 2 * scores[second] - 1 else None


def _script(letter: str) -> str | None:
    """Return the language that a letter's script stands for, None for Latin."""
    return _SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0].partition("-")[0])


def _by_script(letters: dict[str, int]) -> str | None:
    if "ja" in letters:  # written with Chinese characters too
        letters = {"ja": letters["ja"] + letters.get("zh", 0)}
    best = max(letters, key=lambda name: letters[name])
    return best if letters[best] >= _ENOUGH else None


def clashes(asked: str, language: str, answer: str) -> str | None:
    """Return the language of an answer where it is clearly neither the one stated nor that of the
    question."""
    found = guess(answer)
    if found is None or found in (language[:2].lower(), guess(asked)):
        return None
    leaning = _scores(asked)  # a question is short: one small word of the answer's language is enough
    return None if leaning.get(found, 0) == max(leaning.values()) > 0 else found


def _scores(text: str) -> dict[str, int]:
    words = _WORD.findall(text.lower())
    return {name: sum(word in small for word in words) for name, small in _WORDS_OF.items()}
