"""Which words of a request name what is meant: not those of asking, nor "note" and "bit". Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from braid.text.words import STOP, listed, stem, telling, words

THING: Final = (
    r"(?:notes?|entry|entries|lines?|ones?|memory|memories|records?|bits?|parts?|things?|facts?|items?|points?|info"
    r"|information|statements?|instructions?|rules?|stuff|details?|mentions?|sentences?|remarks?)"
)
THINGS: Final = re.compile(rf"\b{THING}\b", re.IGNORECASE)
SAYING: Final = frozenset(
    map(
        stem,
        listed("""
i you u we he she it they say says said saying state states tell told mention mentioned write wrote re about regarding
concerning keep kept know knew remember remembered hold held store stored have has got had get gone let so too also just
already now any more anymore longer please pls thanks lol haha true right wrong old outdated memory memories note notes
list records head mind need needn be being none there having isn isnt doesn doesnt aren wasn weren hasn haven hadn won
wouldn couldn don dont didn bit bits thing things stuff one ones entry yesterday today will ya
plz teh kindly dear
"""),
    )
)
"""Words of asking, which say nothing of what is meant."""
LABELS: Final = frozenset(
    map(
        stem,
        listed("""
name names date dates day days time times number numbers price cost costs amount value hint address place details info
rate rates fee charge deadline salary size colour color wage length age level due data
"""),
    )
)
"""Words for a kind of value, which a memory that has one needn't say."""
_LONG: Final = 5
"""A word that may be mistyped has so many letters; with fewer than two more no other letter stands in it."""
_VERY_LONG: Final = 9
_SAME: Final = 5
"""So many letters, and all but the shorter one's last, make two words one: allergy and allergic, not grandma."""
_SHORT: Final = 3
"""A word that is short for another has no more letters."""
STATED: Final = re.compile(r"(?:.*\s|\W*)(?:that|says?|saying|states?|stating) \S+ \S+ \S", re.IGNORECASE)
"""What is named by a statement says as well whether it is so."""
_OWNED: Final = re.compile(r"\bmy (?P<who>\w+?)['’]?s(?= \w)", re.IGNORECASE)


def mended(text: str, said: Iterable[str], *, but: str = "") -> str:
    """Return a text with a word that none of some others has as it is spelt there: "gym memebrship"; none of `but`.

    A word is short for another, too, where it has no vowel behind its first letter ("appt"), and "my sister's" is the
    name of whom one of them says that she is.
    """
    said = [*said]
    known = {word for one in said for word in words(one)} - {*words(but)} - STOP
    stems = {*map(stem, known)}

    def put(found: re.Match[str]) -> str:
        word = found[0].lower()
        if word in STOP or stem(word) in SAYING or stem(word) in stems or word in known:
            return found[0]
        near = {
            stem(one): one
            for one in known
            if one[0] == word[0] and (_is_typo(word, one) or _is_short(word, one))
        }
        return next(iter(near.values())) if len(near) == 1 else found[0]

    return re.sub(r"[^\W\d_]{3,}", put, _OWNED.sub(lambda one: _name(one, text, said), text))


def _name(owner: re.Match[str], text: str, said: Iterable[str]) -> str:
    who = re.escape(owner["who"])
    told = re.compile(
        rf"(?:(?P<one>\w+) is (?:my|our) {who}|(?:my|our) {who} is (?:called )?(?P<other>\w+))\W*",
        re.IGNORECASE,
    )
    names = {found["one"] or found["other"] for each in said if (found := told.fullmatch(each)) is not None}
    name = names.pop() if len(names) == 1 else None
    return owner[0] if name is None or name.lower() in words(text) else f"{name}'s"


def _is_typo(word: str, other: str) -> bool:
    """Whether a word is another, mistyped: "coach" and "couch" are two, "plummer" and "plumber" one."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - loaded only where a word isn't known

    if min(len(word), len(other)) < _LONG:
        return False
    is_long = len(word) > _LONG + 1 or len(word) != len(other) or sorted(word) == sorted(other)
    return is_long and OSA.distance(word, other) <= 1 + (len(word) >= _VERY_LONG)


def _is_short(word: str, other: str) -> bool:
    letters = iter(other)
    is_part = len(other) > len(word) + 2 and all(letter in letters for letter in word)
    return is_part and len(word) <= _LONG and not re.search(r"[aeiou]", word[1:])


def naming_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that name something: none of "the bit that says it isn't"."""
    return frozenset(map(stem, telling(THINGS.sub(" ", text)))) - SAYING


def initials(said: Sequence[str]) -> frozenset[str]:
    """Return what two or three words in a row are in short: "prs" of "pull requests"."""
    found = [
        "".join(word[0] for word in said[at : at + count]) for count in (2, 3) for at in range(len(said))
    ]
    return frozenset(f"{one}{end}" for one in found if one.isalpha() and len(one) > 1 for end in ("", "s"))


def has_word(stems: Iterable[str], wanted: str) -> bool:
    """Whether some stems have a word, be it bent otherwise or in short."""
    return any(_is_same(one, wanted) for one in stems)


def _is_same(one: str, other: str) -> bool:
    """Whether two words are one: bent otherwise (allergy, allergic), in short (db, u10s of "under-10s")."""
    if not (one.isalpha() or other.isalpha()):
        one, other = one.rstrip("s"), other.rstrip("s")
    short, whole = sorted((one, other), key=len)
    if one == other or (len(short) >= _SAME and whole.startswith(short[: max(_SAME, len(short) - 1)])):
        return True
    if short.isalpha():
        letters = iter(whole)
        is_short = len(short) <= _SHORT and len(whole) >= 2 * len(short) and whole[0] == short[0]
        return is_short and len(short) > 1 and all(letter in letters for letter in short)
    return whole.endswith(short) and whole[: -len(short)].isalpha()
