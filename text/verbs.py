"""English verbs as questions and claims need them: the form that stands with "did" and "does". Pure."""

import re
from typing import Final

_FORMS: Final = """
became become began begin bit bite blew blow bought buy broke break brought bring broken break built build came come
caught catch chose choose did do drank drink drew draw drove drive ate eat fell fall felt feel fought fight found find
flew fly forgot forget gave give given give got get grew grow had have heard hear held hold hid hide kept keep knew know
known know led lead left leave lent lend lost lose made make meant mean met meet paid pay ran run rang ring rode ride
said say sang sing sat sit saw see seen see sent send slept sleep sold sell spent spend spoke speak stole steal
stood stand swam swim taken take taught teach thought think threw throw told tell took take understood understand
went go gone go woke wake won win wore wear wrote write written write
"""
_PLAIN: Final = """
answer arrive ask attend become begin believe belong bite book borrow break bring build buy call carry catch celebrate
change choose clean collect come cook cost count cut dance decide deliver die dislike do draw dream drink drive earn
eat enjoy expire fall feel fight find finish fix fly forget get give go grow happen hate have hear help hide hire hit
hold hope hurt invite join keep know last launch lead learn leave lend let like listen live lose love make marry mean
meet mend move need open order own paint pass pay phone plan plant play prefer promise pull put reach read recommend
rent repair return ride ring run say see sell send serve share show sign sing sit sleep smoke speak spend stand start
stay steal stop study suggest swim take talk teach tell think throw train translate travel try turn understand use
visit wait wake walk want wash watch wear win wish work write
"""
_IRREGULAR: Final = dict(zip(_FORMS.split()[::2], _FORMS.split()[1::2], strict=True))
_COMMON: Final = frozenset(_PLAIN.split())
_PAST: Final = "ed"
_THIRD: Final = re.compile(r"(?P<ies>(?<=..)ies)\Z|(?<=ch|sh|ss|zz)es\Z|(?<=[xo])es\Z|(?<!s)s\Z")
"""How the verb of "she …" ends."""


def is_base(word: str) -> bool:
    """Whether a word is the plain form of a common verb."""
    return word in _COMMON


def base(word: str) -> str | None:
    """Return the plain form of a common verb; None for what is none."""
    if word in _COMMON:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in ("ied", "ies", "ed", "es", "d", "s"):
        root = word.removesuffix(ending)
        if root == word:
            continue
        single = root[:-1] if root[-1:] == root[-2:-1] else root
        for tried in (f"{root}y" if ending in ("ied", "ies") else root, single):
            if tried in _COMMON:
                return tried
    return None


def plain(word: str) -> str:
    """Return the form of any verb that stands with "does" and "did": of one that isn't common by how it ends."""
    if word == "has":
        return "have"
    return base(word) or _THIRD.sub(lambda found: "y" if found["ies"] else "", word)


def is_past(word: str) -> bool:
    """Whether a form of a verb tells of the past."""
    return word in _IRREGULAR or (word.endswith(_PAST) and base(word) not in (None, word))
