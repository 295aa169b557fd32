"""Whether two names are of one thing: yes, no, or open. Pure; the embedder, where there is one, is handed in.

What differs in surname, generation, number or version, branch or place, or in whose relative it is, is never one by
being alike. Two that are alike need something that bears it out: a word that both are spoken of with, or the meaning.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from braid.learn.resolve.names import (
    SHARED_ROLES,
    NameParts,
    alias_of,
    folded,
    gender_of,
    initials_of,
    is_short_form,
    parts_of,
    role_of,
)
from braid.stance.mentions import EntityType
from braid.text.words import CHAT, normal, stem, stems, words

Sameness = Literal["exact", "close", "open", "other", "apart"]
"""`exact` and `close` are one; `open` is for somebody to say; `other`: nothing in common; `apart`: never one."""
Similarity = Callable[[str, str], float]
"""The cosine of two texts, in [-1, 1]."""
ALIKE: Final = 0.6
"""From this cosine of what is said of both on, they are spoken of alike."""
_WIDE: Final = 30
"""Of more words than these one in common says nothing."""
_WEAK_WORDS: Final = """
still already always never today tomorrow yesterday week month year day time morning evening night
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december need want got thing something new old good bad use used run get give take make work
    says said ask asked tell told come came back call three two one"""
_WEAK: Final = frozenset(_WEAK_WORDS.split())
"""Words that two things may be spoken of with by chance."""
_WHENCE: Final = r"\s*,?\s+(?:from|at|in|near)\s+(?P<whence>[\w'’-]+(?:\s+[A-Z][\w'’-]*)*)"
_BEHIND: Final = re.compile(
    r"^(?:,|\s+is|\s*['’]s|\s+was|.{0,40}?,\s+(?:s?he|they)(?:['’]s|\s+is))\s+(?:my|our|his|her|an?|the|\w+['’]s)\s+"
    r"((?:[\w-]+[\s,.]*){1,3})",
    re.IGNORECASE,
)
"""Behind a name: `, my sister`; ` is our vet`; ` drives a van, he's Ann's husband`."""
_CAPITAL: Final = r"[A-ZÀ-Þ][\w'’-]+"


_ONLY: Final = frozenset(("wife", "husband", "mother", "father", "girlfriend", "boyfriend", "fiance"))
"""Roles that one person has at a time."""


class _Near(NamedTuple):
    """How near two names are, in which way, and what must bear it out."""

    score: float
    why: str
    needs: Literal["nothing", "support", "person"] = "support"
    """`person`: nothing that is said is enough; somebody must say so."""


class Cues(NamedTuple):
    """What the words around a name tell of it."""

    roles: frozenset[str] = frozenset()
    """Who it is to somebody, for certain: the words stand beside it."""
    whence: frozenset[str] = frozenset()
    """Where it is from, or belongs to."""
    names: frozenset[str] = frozenset()
    """Longer or other names that stand beside it as its own, folded."""
    words: frozenset[str] = frozenset()
    """Stems of what is said of it."""
    mine: frozenset[str] = frozenset()
    """Who it is to the speaker."""
    part_of: frozenset[str] = frozenset()
    """Of a place: what stands before it and a comma."""


class Described(NamedTuple):
    """A name, of which type it is, what is said of it, and what it was spoken of with (relation and other name)."""

    name: str
    type: EntityType = "thing"
    contexts: tuple[str, ...] = ()
    related: frozenset[tuple[str, str]] = frozenset()

    @property
    def parts(self) -> NameParts:
        """The name taken apart."""
        return parts_of(self.name, self.type)

    @property
    def cues(self) -> Cues:
        """What its contexts tell."""
        return cues_of(self.name, self.contexts)


class Verdict(NamedTuple):
    """Whether two names are of one thing, why, and how near they are, in [0, 1]."""

    sameness: Sameness
    why: str
    score: float = 0.0

    @property
    def is_one(self) -> bool:
        """Whether they are joined without anybody's asking."""
        return self.sameness in ("exact", "close")


@lru_cache(maxsize=20_000)
def cues_of(name: str, contexts: tuple[str, ...]) -> Cues:
    """Return what the words around a name tell of it."""
    roles: set[str] = set()
    whence: set[str] = set()
    names: set[str] = set()
    telling: set[str] = set()
    to_me: set[str] = set()
    part_of: set[str] = set()
    own = stems(name)
    for context in contexts:
        telling |= {
            stem(folded(word)) for word in words(context)
            if word not in CHAT and word not in _WEAK and (len(word) > 2 or word.isupper()) and not word.isdigit()
        }  # fmt: skip
        found = re.search(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", context, re.IGNORECASE)
        if found is not None:
            beside = _roles_beside(context, found.start(), found.end())
            roles |= beside
            to_me |= beside if re.search(r"\b(?:my|our)\b", context, re.IGNORECASE) else set()
            part_of |= {folded(one) for one in re.findall(rf"({_CAPITAL}), $", context[: found.start()])}
            names |= _names_beside(name, context, found.start(), found.end())
            if from_ := re.match(_WHENCE, context[found.end() :]):
                whence.add(folded(from_["whence"]))
    first, *rest = name.split() or [""]
    if rest and (role := role_of(first)) is not None:
        roles.add(role)
    return Cues(*map(frozenset, (roles, whence, names, telling - own, to_me, part_of)))


def _roles_beside(context: str, start: int, stop: int) -> set[str]:
    """Return the roles that stand beside a name: my sister Ana; Ana, my sister; Ana is my sister; our cat Felix."""
    before, behind = context[:start], context[stop:]
    found: set[str] = set()
    if (
        ahead := re.search(r"\b(?:my|our|his|her|their|the)\s+((?:[\w-]+\s+){1,3})$", before, re.IGNORECASE)
    ) is not None:
        found |= {role for word in ahead[1].split() if (role := role_of(word))}
    if (after := _BEHIND.match(behind)) is not None:
        found |= {role for word in re.findall(r"[\w-]+", after[1]) if (role := role_of(word))}
    if (pet := re.search(r"\b(kitty|kitten|puppy|cat|dog)\b", context, re.IGNORECASE)) and not found:
        found.add(role_of(pet[1]) or "cat")
    return found


def _names_beside(name: str, context: str, start: int, stop: int) -> set[str]:
    """Return names that stand beside a name as its own: Beppe *Ferraro*; my ex *Nick*; *Anneke*, my wife; the car, the
    *Skoda*.
    """
    found: set[str] = set()
    behind, before = context[stop:], context[:start]
    is_role = role_of((name.split() or [""]).pop()) is not None
    if more := re.match(rf"^ ({_CAPITAL}(?: {_CAPITAL})?)", behind):
        found.add(folded(more[1] if is_role else f"{name} {more[1]}"))
    if is_role and (ahead := re.search(rf"({_CAPITAL}(?: {_CAPITAL})?), $", before)):
        found.add(folded(ahead[1]))
    if apposed := re.match(rf"^, (?:the |my |our )?({_CAPITAL}(?: {_CAPITAL})?),", behind):
        found.add(folded(apposed[1]))
    return found


def compare(one: Described, other: Described, similarity: Similarity | None = None) -> Verdict:
    """Return whether two names are of one thing, as far as the names and what is said of them tell."""
    a, b = one.parts, other.parts
    if len({one.type, other.type} - {"thing"}) == 2:
        return Verdict("apart", "they are of different types")
    if normal(one.name) != normal(other.name) and alias_of(one.name) == alias_of(other.name):
        return Verdict("exact", "an alias", 1.0)
    if (why := _apart(a, b)) is not None:
        return Verdict("apart", why)
    if a.key == b.key or (a.words and a.words == b.words and a.kin == b.kin):
        return _named_alike(one, other)
    return _named_otherwise(one, other, similarity)


def _named_otherwise(one: Described, other: Described, similarity: Similarity | None) -> Verdict:
    """Judge two of different names: they are one where the names are near, and what they need bears it out."""
    a, b = one.parts, other.parts
    tied = _is_tied(one, b) or _is_tied(other, a)
    near = _Near(0.95, "one is said to be the other", "nothing") if tied else _near(one, other, a, b)
    if near is None:
        return Verdict("other", "the names have nothing in common")
    if near.needs == "nothing":
        return Verdict("close", near.why, near.score)
    borne = _borne_out(one, other, similarity) if near.needs == "support" else None
    if borne is None:
        return Verdict("open", f"{near.why}; nothing else supports it", near.score)
    return Verdict("close", f"{near.why}; {borne}", near.score)


def _apart(a: NameParts, b: NameParts) -> str | None:
    """Return why two names are not of one thing, whatever else they share; None where nothing forbids it."""
    return next((why for why, forbids in _FORBIDS if forbids(a, b)), None)


def _are_different_relatives(a: NameParts, b: NameParts) -> bool:
    return bool(a.kin and b.kin and set(a.kin).isdisjoint(b.kin) and not a.words and not b.words)


def _are_of_others(a: NameParts, b: NameParts) -> bool:
    """Whether one is somebody's whose relative the other is not."""
    return a.owner != b.owner and bool((a.kin and b.kin) or not {a.owner, b.owner} <= {"", "me"})


def _are_elsewhere(a: NameParts, b: NameParts) -> bool:
    return bool(a.place and b.place) and a.place != b.place and not _is_initialled(a.place, b.place)


_FORBIDS: Final[tuple[tuple[str, Callable[[NameParts, NameParts], bool]], ...]] = (
    ("their numbers differ", lambda a, b: a.numbers != b.numbers),
    ("their doses differ", lambda a, b: bool(a.doses and b.doses) and a.doses != b.doses),
    ("generations differ", lambda a, b: a.generation != b.generation),
    ("one is the former, or another", lambda a, b: a.former != b.former),
    ("their titles differ", lambda a, b: {gender_of(a.honorific), gender_of(b.honorific)} >= {"m", "f"}),
    ("they are somebody else's", _are_of_others),
    ("they are different relatives", _are_different_relatives),
    ("branch or place differs", _are_elsewhere),
)
"""Why names that are alike are never one."""


def _named_alike(one: Described, other: Described) -> Verdict:
    """Judge two of one name: it is one thing, unless what is said beside the names excludes it."""
    mine, theirs = one.cues, other.cues
    if _are_rivals(mine.roles, theirs.roles):
        return Verdict("open", "one name, but different roles", 0.9)
    bare = len(one.parts.words) == 1 and {one.type, other.type} & {"person", "place"}
    told = mine.whence | mine.roles | mine.part_of
    theirs_told = theirs.whence | theirs.roles | theirs.part_of
    if bare and told and theirs_told and not told & theirs_told and not mine.words & theirs.words:
        return Verdict("open", "one name, told apart by what is said beside it", 0.9)
    if bool(one.parts.place) != bool(other.parts.place):
        return Verdict("open", "one name, of which one is told by its place", 0.8)
    return Verdict("exact", "one name", 1.0)


def _are_rivals(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether nobody has these roles at once."""
    return bool(mine and theirs) and not mine & theirs and not (mine | theirs) & SHARED_ROLES


def _is_tied(one: Described, name: NameParts) -> bool:
    """Whether what is said beside one name is the other: my ex Nick, and Nick; Anneke, my wife, and my wife."""
    mine = one.parts
    if not name.words:
        is_only = set(name.kin) <= _ONLY and bool(name.kin) and not name.former
        return is_only and name.owner == "me" and set(name.kin) <= one.cues.mine and bool(mine.words)
    beside = (parts_of(told, one.type) for told in one.cues.names)
    return not name.kin and any(told.words == name.words for told in beside)


def _near(one: Described, other: Described, a: NameParts, b: NameParts) -> _Near | None:
    """Return how near two names are; None where they aren't."""
    if not a.words or not b.words:
        return _near_wordless(a, b)
    is_person = "person" in (one.type, other.type)
    if a.squashed == b.squashed:
        return _Near(0.97, "written alike", "support" if is_person and a.kin != b.kin else "nothing")
    if (found := _initialled(one, a, b) or _initialled(other, b, a)) is not None:
        return found
    return _near_people(one, other, a, b) if is_person else _near_things(one, other, a, b)


def _near_wordless(a: NameParts, b: NameParts) -> _Near | None:
    """Return how near two names are of which one is only a role, or only a number: Nana; #55130."""
    if a.kin and a.kin == b.kin:
        return _Near(0.95, "words for one relative", "nothing" if a.words == b.words else "support")
    if (
        a.numbers and max(map(len, a.numbers)) >= 4
    ):  # they are the same in both, or the two were told apart before
        return _Near(0.95, "one number", "nothing")
    return None


def _is_initialled(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(
        len(short) == 1 and short[0] in initials_of(long) for short, long in ((one, other), (other, one))
    )


def _initialled(one: Described, short: NameParts, long: NameParts) -> _Near | None:
    """Return how near a name, `one`, is to another's first letters: IBM; M&S; VS Code; MS Teams."""
    written = one.name.removeprefix("the ").strip()
    if not written[:2].replace("&", "A").replace(".", "A").isupper():
        return None
    if len(short.words) == 1 and len(long.words) + len(long.place) > 1:
        letters = "".join(filter(str.isalpha, short.words[0]))
        whole = initials_of((*long.words, *long.place)) | initials_of(long.words)
        if len(letters) >= 2 and letters in whole:
            return _Near(
                0.9, "first letters", "support" if len(letters) < 3 and "&" not in written else "nothing"
            )
    if 1 < len(short.words) < len(long.words):
        parts = len(long.words) - len(short.words) + 1
        if short.words[0] in initials_of(long.words[:parts]) and short.words[1:] == long.words[parts:]:
            return _Near(0.9, "first letters", "nothing")
    if len(short.words) == len(long.words) > 1 and short.words[1:] == long.words[1:]:
        word, full = short.words[0], long.words[0]
        if len(word) == 2 and len(full) > 5 and full[0] == word[0] and word[1] in full[2:]:
            return _Near(0.85, "written short")
    return None


def _near_people(one: Described, other: Described, a: NameParts, b: NameParts) -> _Near | None:
    names, others = _full(one, a), _full(other, b)
    found = [near for mine in names for theirs in others if (near := _near_names(mine, theirs)) is not None]
    return max(found, key=lambda near: (near.needs == "nothing", near.score), default=None)


def _full(one: Described, parts: NameParts) -> list[tuple[str, ...]]:
    """Return the name's words, and those of the longer names that stand beside it as its own."""
    longer = [parts_of(name, one.type).words for name in one.cues.names]
    told = [
        name for name in longer if len(name) > len(parts.words) and name[: len(parts.words)] == parts.words
    ]
    return [tuple(word.replace("'", "") for word in name) for name in told or [parts.words]]


def _near_names(a: tuple[str, ...], b: tuple[str, ...]) -> _Near | None:
    """Return how near two names of people are: the surname never by being alike."""
    if len(a) > 1 and len(b) > 1:
        if a[-1] == b[-1]:
            return _near_given("".join(a[:-1]), "".join(b[:-1]), surname=True)
        return _Near(0.8, "an initial") if a[:-1] == b[:-1] and _is_initial(a[-1], b[-1]) else None
    short, long = sorted(([*a], [*b]), key=len)
    if len(long) == 1:
        return _near_given(short[0], long[0], surname=False)
    if short[0] == long[-1]:
        return _Near(0.7, "one has the surname alone")
    found = _near_given(short[0], "".join(long[:-1]), surname=False) or _near_given(
        short[0], long[0], surname=False
    )
    return None if found is None else _Near(found.score - 0.1, f"one has the given name alone, {found.why}")


def _is_initial(one: str, other: str) -> bool:
    short, long = sorted((one.rstrip("."), other.rstrip(".")), key=len)
    return len(short) == 1 < len(long) and long.startswith(short)


def _near_given(one: str, other: str, *, surname: bool) -> _Near | None:
    """Return how near two given names are; `surname`: the rest of the names is the same."""
    needs: Literal["nothing", "support"] = "nothing" if surname else "support"
    if one == other:
        return _Near(0.95, "the same", needs)
    if is_short_form(one, other):
        return _Near(0.9, "a short form", needs)
    if _is_initial(one, other):
        return _Near(0.8, "an initial")
    if _is_swapped(one, other):
        return _Near(0.9, "two letters swapped", needs)
    short, long = sorted((one, other), key=len)
    if len(short) >= 3 and long.startswith(short) and surname:
        return _Near(0.8, "its beginning")
    return None


def _is_swapped(one: str, other: str) -> bool:
    """Whether two words differ by two neighbouring letters that changed places: no word but a slip of the hand."""
    if len(one) != len(other) or len(one) < 5 or one == other or sorted(one) != sorted(other):
        return False
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - loaded only where two names are nearly alike

    return OSA.distance(one, other) == 1


def _near_things(one: Described, other: Described, a: NameParts, b: NameParts) -> _Near | None:
    """Return how near two names of organisations, products, places or things are."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - loaded only where names are compared

    if _is_swapped(a.squashed, b.squashed):
        return _Near(0.9, "two letters swapped", "nothing")
    if alias_of(" ".join(a.words)) == alias_of(" ".join(b.words)):
        return _Near(0.95, "an alias", "nothing")
    sizes = sorted((len(a.squashed), len(b.squashed)))
    if sizes[0] >= 6 and sizes[1] - sizes[0] == 1 and OSA.distance(a.squashed, b.squashed) == 1:
        return _Near(0.85, "one letter more")
    if not (set(a.words) < set(b.words) or set(b.words) < set(a.words)):
        return None
    is_product = "product" in (one.type, other.type)
    # A word behind a product's name makes another product of it (React Native), unless a number says which is meant.
    same = not is_product or (a.numbers and a.words[-1] == b.words[-1])
    return _Near(0.75, "one name within the other", "support" if same else "person")


def _borne_out(one: Described, other: Described, similarity: Similarity | None) -> str | None:
    """Return what else says that two are one; None where nothing does."""
    mine, theirs = one.cues, other.cues
    if _are_rivals(mine.roles, theirs.roles):
        return None
    if one.related & other.related:
        return "both are spoken of with the same other"
    names = {stem(word) for part in (one.parts, other.parts) for word in part.words}
    shared = (mine.words & theirs.words) - names
    if shared and (len(shared) >= 3 or max(len(mine.words), len(theirs.words)) <= _WIDE):
        return "spoken of with the same words"
    if similarity is None or not one.contexts or not other.contexts:
        return None
    return (
        "spoken of alike" if similarity(" ".join(one.contexts), " ".join(other.contexts)) >= ALIKE else None
    )
