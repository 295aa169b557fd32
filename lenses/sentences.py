"""Text as the lenses read it: sentences without code, words that say something. Pure."""

import re
from typing import Final

_FENCE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_END: Final = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[\"'“(]*[A-Z0-9])|\n+")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
GIST_CHARS: Final = 160
_STOP: Final = """a about above after again all also am an and any are as at be because been before being below both but
by can could did do does doing don down during each few for from further get go going got had has have having he her
here hers him his how i if in into is it its just know let like ll m me more most my no nor not now of off oh ok okay on
once one only or other our ours out over own re really s same say says see she should so some such t than that the
their theirs them then there these they think this those through to too under until up us ve very want was we well were
what when where which while who whom why will with would yeah yes you your yours"""
STOP: Final = frozenset(_STOP.split())


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without code."""
    prose = _FENCE.sub(" ", text)
    return [found for part in _END.split(prose) if (found := " ".join(part.split()))]


def words(text: str) -> list[str]:
    """Return the words of a text in order, lower case, without what follows an apostrophe."""
    return [word.replace("’", "'").partition("'")[0] for word in _WORD.findall(text.lower())]


def telling(text: str) -> list[str]:
    """Return the words that say something, in order."""
    return [word for word in words(text) if word not in STOP and (len(word) > 1 or word.isdigit())]


def gist(text: str, limit: int = GIST_CHARS) -> str:
    """Return the beginning of a text as one line, cut at a word."""
    line = " ".join(_FENCE.sub(" ", text).split())
    if len(line) <= limit:
        return line
    return f"{line[:limit].rsplit(' ', 1)[0]} …"


def normal(text: str) -> str:
    """Return what equal names have in common: lower case, single spaces, no article in front."""
    line = " ".join(text.casefold().replace("’", "'").split()).strip(" .,;:!?\"'“”()")
    return re.sub(r"^(?:the|a|an|my|our|your|his|her|their)\s+", "", line)
