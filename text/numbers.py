"""Number words and what they are worth: "twelve", "twenty-two", "two hundred", "a dozen", "a couple of". Pure."""

import re
from collections.abc import Iterator
from typing import Final

ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VALUES: Final = {word: at for at, word in enumerate(ONES)} | {
    word: 10 * at for at, word in enumerate(TENS, 2)
}
"""The words that stand for a number by themselves."""
SCALES: Final = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
VAGUE: Final = {"a couple of": 2, "couple of": 2, "a couple": 2, "couple": 2, "a few": 3, "few": 3}
"""What is read as a number where nothing closer is said."""
ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
ORDINAL: Final = (
    rf"(?:(?:twenty|thirty)[ -])?(?:{'|'.join(ORDINALS)}|eleventh|twelfth"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teenth)|twentieth|thirtieth"
)
"""A regular expression, without groups, of the days of a month in words."""
_OTHERS: Final = """
hundreds thousands millions billion billions trillion dozens half halves thirds quarter quarters once twice thrice
single double triple pair couple percent
"""
NAMES: Final = frozenset((*VALUES, *SCALES, *ORDINALS, *_OTHERS.split()))
"""Every word that speaks of a number: cardinals, ordinals, parts and multiples."""
_SMALL: Final = (
    r"(?:one|two|three|four(?:teen)?|five|(?:six|seven|nine)(?:teen|ty)?|eight(?:een|y)?|ten|eleven|twelve|zero"
    r"|(?:thir|fif)teen|(?:twen|thir|for|fif)ty)"
)
"""The words of `VALUES`, folded: dozens of patterns are compiled with it."""
_SCALE: Final = "(?:dozen|hundred|thousand)"
WORD: Final = (
    rf"(?:an?(?= {_SCALE}\b)|{_SMALL})"
    # Behind a "twenty" or a "hundred and" another follows; behind any, a scale.
    rf"(?:(?:(?<=ty)(?:-| )|(?<=d) (?:and )?){_SMALL}\b| {_SCALE}\b){{0,6}}\b"
)
"""A regular expression, without groups, of a number in words, to be used with IGNORECASE and after a \\b."""
COUNT: Final = rf"(?:\d{{1,4}}\b|{WORD}|(?:(?:a )?(?:couple(?: of)?|few)|an?)\b)"
"""A regular expression, without groups, of how many of something there are, also vaguely."""
_SPOKEN: Final = re.compile(rf"\b(?:{WORD}|{_SCALE}\b)", re.IGNORECASE)


_CODES: Final = (
    re.compile(r"(?<![\w.:,])v?(\d+(?:\.\d+)+)(?![\w.:]*\w)"),
    re.compile(r"(?<![\w-])([A-Za-z]{1,6}-?\d+)(?![\w-]|\.\d)"),
)


def value(text: str) -> int | None:
    """Return the whole number that a text is, in digits or words; None where it is no number.

    "a" is 1, "a couple of" 2, "a few" 3. Digits may be grouped by commas.
    """
    low = " ".join(text.lower().replace("-", " ").split())
    digits = low.replace(",", "")
    if digits.isascii() and digits.isdigit():
        return int(digits)
    return VAGUE[low] if low in VAGUE else _composed(low.split())


def _composed(words: list[str]) -> int | None:
    """Return what words come to: ones after tens, each scale times what stands before it."""
    total, group, said = 0, 0, False
    for word in words:
        if word in VALUES and _may_follow(group, VALUES[word]):
            group += VALUES[word]
        elif word in ("a", "an") and not said:
            group = 1
        elif word in SCALES and (group or not said):
            group = max(group, 1) * SCALES[word]
            if SCALES[word] >= 1000:
                total, group = total + group, 0
        elif word != "and" or not said:
            return None
        said = True
    return total + group if said else None


def _may_follow(group: int, number: int) -> bool:
    below = group % 100
    return below == 0 if number >= 10 or number == 0 else below in (0, *range(20, 100, 10))


def spoken(text: str) -> Iterator[int]:
    """Yield the numbers that a text says in words, in order."""
    yield from (number for match in _SPOKEN.finditer(text) if (number := value(match[0])) is not None)


def codes(text: str) -> tuple[set[str], set[str]]:
    """Return the versions of a text (2.4, v1.10.2), and its codes of letters with digits (B12, INC-71), lower case."""
    versions, mixed = ({found.lower() for found in code.findall(text)} for code in _CODES)
    return versions, mixed
