"""Where a turn says what a model quotes of it: as the gates look for it, escaped markup undone. Pure."""

from html import unescape

from braid.learn.candidate import Evidence
from braid.learn.gates.evidence import located
from braid.learn.gates.outcome import GateError
from braid.learn.turn import Turn


def evidence_of(quote: str, turn: Turn) -> Evidence | None:
    """Return the turn's own words that say a quote; None where it doesn't say it."""
    for said in dict.fromkeys((quote, unescape(quote))):
        try:
            found = located(turn.text, said)
        except GateError:
            continue
        return Evidence(turn.at, found.start, found.quote)
    return None
