"""How surely something is said: bands of probability, in words and never as numbers. Pure.

From .85 plainly, from .60 hedged, from .40 very carefully; below that it is left unsaid.
"""

from typing import Final, Literal

Band = Literal["plain", "hedged", "careful", "unsaid"]
PLAIN: Final = 0.85
HEDGED: Final = 0.60
CAREFUL: Final = 0.40
_MANNERS: Final[dict[Band, str]] = {
    "plain": "Say it plainly.",
    "hedged": "Say it with a natural hedge, as something remembered.",
    "careful": "Say it very carefully, as something half remembered, or ask whether it still holds.",
    "unsaid": "Don't say it; you may only keep it in mind.",
}
_STATED: Final[dict[Band, str]] = {
    "plain": "{}",
    "hedged": "I believe that {}",
    "careful": "I am not sure, but it may be that {}",
}
_WORKED_OUT: Final[dict[Band, str]] = {
    "plain": "{}",
    "hedged": "I believe that this is right: {}",
    "careful": "I am not sure, but perhaps this is right: {}",
    "unsaid": "I don't know for certain; the nearest that I can work out is this: {}",
}


def band(p: float) -> Band:
    """Return the band of a probability in [0, 1]."""
    if p >= PLAIN:
        return "plain"
    if p >= HEDGED:
        return "hedged"
    return "careful" if p >= CAREFUL else "unsaid"


def manner(p: float) -> str:
    """Return how to say something of this probability, as an instruction to a writer."""
    return _MANNERS[band(p)]


def stated(claim: str, p: float) -> str:
    """Return a claim, a clause that begins with its subject, as surely as it is; without its full stop."""
    return _STATED[band(p)].format(claim)


def worked_out(said: str, p: float) -> str:
    """Return a sentence that was made of several findings as surely as they are together."""
    return _WORKED_OUT[band(p)].format(said)
