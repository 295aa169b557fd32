"""What somebody said, as a sentence of ours: who, when, word for word, cited by its id. Pure."""

import re
from datetime import datetime
from typing import Final

from braid.agent.answer.address import spoken_by
from braid.agent.answer.confidence import speaker, when_of
from braid.agent.answer.spans import day
from braid.agent.cite import marks
from braid.agent.parts import Support
from braid.recall.hits import Hit
from braid.text.sentences import sentences

MAX_QUOTE_CHARS: Final = 240
MAX_NEXT_CHARS: Final = 200
"""How long a sentence may be with the next, so that both are quoted."""
_MARKS: Final = str.maketrans({"“": "\u2018", "”": "’", "[": "(", "]": ")", '"': "’", "`": "’"})


def with_next(text: str, sentence: str) -> str:
    """Return a sentence of a text with the one behind it, where that tells something and both are short."""
    start = text.find(sentence)
    stop = start + len(sentence)
    for part in sentences(text[stop : stop + MAX_NEXT_CHARS]):
        if not part.text.strip(" .!?…"):
            continue
        end = stop + part.stop
        whole = end < len(text) or stop + MAX_NEXT_CHARS >= len(text)
        if start >= 0 and "?" not in part.mark and whole and end - start <= MAX_NEXT_CHARS:
            return text[start:end]
        break
    return sentence


def report_of(support: Support, said: str) -> str:
    """Return who said something when, quoted and cited, as a sentence."""
    return f"{quotable(spoken_by(support.speaker))} said on {date(support.when)}: {quote(said)}{marks([support.id])}."


def support_of(hit: Hit, sentence: str) -> Support:
    """Return a hit as what an answer rests on; whoever has no name is "you" or "I"."""
    who = spoken_by(speaker(hit)) or "somebody"
    return Support(
        id=hit.id,
        index=hit.index,
        text=hit.text,
        quote=sentence,
        when=when_of(hit),
        speaker=who,
        source=hit.source,
    )


def quote(text: str) -> str:
    """Return stored text as a quotation of one line, in which nothing ends the quotation or looks like a citation."""
    line = quotable(text)
    if len(line) > MAX_QUOTE_CHARS:
        line = line[:MAX_QUOTE_CHARS].rsplit(" ", 1)[0] + " …"
    return f"“{line}”"


def quotable(text: str) -> str:
    """Return stored text as one line without control characters, quotation marks or brackets of ours."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).translate(_MARKS).split())


def date(when: datetime) -> str:
    """Return the day of a time as people write it."""
    return day(when.date().isoformat())


def capital(text: str) -> str:
    """Return a text that begins with a capital."""
    return text[:1].upper() + text[1:]


def clause(claim: str) -> str:
    """Return a claim in words, its ISO dates as people write them."""
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", lambda match: day(match[0]), quotable(claim))
