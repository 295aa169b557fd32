"""What somebody said, as a sentence of ours: who, when, word for word, cited by its id. Pure.

Whoever has no name in a store is its user, and is spoken to: "user likes tea" is "you like tea".
"""

import re
from datetime import datetime
from typing import Final

from braid.agent.answer.question.asker import is_pasted
from braid.agent.answer.turn.moments import day
from braid.agent.answer.turn.turn import when_of
from braid.agent.cite import marks
from braid.agent.composer import Support
from braid.ledger.record.source import corrected_at, voice
from braid.recall.hits import Hit
from braid.text.sentences import sentences
from braid.text.verbs import plain

MAX_QUOTE_CHARS: Final = 320
_MARKS: Final = str.maketrans({"“": "\u2018", "”": "’", "[": "(", "]": ")", '"': "’", "`": "’"})
_SPEAKERS: Final = {"user": "you", "agent": "I"}
_USER: Final = re.compile(r"\Auser(?P<own>'s)?\b(?P<rest>.*)", re.DOTALL)
_BETWEEN: Final = "; "
"""Stands between the claims of a stance that holds several (`stance.reconcile`)."""
_TURNED: Final = {"is": "are", "was": "were"}


def excerpt(text: str, sentence: str) -> str:
    """Return a text, or where it is long the sentences of it that stand around one, whole, as many as fit."""
    if len(text) <= MAX_QUOTE_CHARS or not sentence:
        return text.rstrip(" .")
    start = max(text.find(sentence), 0)
    stop = start + len(sentence)
    parts = [(part.start, part.stop) for part in sentences(text)]
    ahead = [begin for begin, _ in parts if begin < start][::-1]
    behind = [end for _, end in parts if end > stop]
    while ahead or behind:  # one behind, one before, and so on
        if behind and behind[0] - start <= MAX_QUOTE_CHARS:
            stop = behind.pop(0)
        elif ahead and stop - ahead[0] <= MAX_QUOTE_CHARS:
            start = ahead.pop(0)
        else:
            break
    return text[start:stop].strip().rstrip(" .")


def report_of(support: Support, said: str) -> str:
    """Return who said something when, quoted and cited, as a sentence; what they pasted they didn't say."""
    pasted = support.source == "owner" and is_pasted(support.text, said, support.speaker)
    did = "pasted" if pasted else "said"
    when = date(support.when)
    if support.corrected is not None and (put_right := date(support.corrected)) != when:
        when = f"{when}, put right on {put_right}"
    who = spoken_by(support.speaker)
    if support.source == "outsider":  # it is no word of whoever asks, nor of whoever answers
        who = {"you": "somebody", "I": "an agent"}.get(who, who)
    return f"{quotable(who)} {did} on {when}: {quote(said)}{marks([support.id])}."


def support_of(hit: Hit, sentence: str) -> Support:
    """Return a hit as what an answer rests on; whoever has no name is "you" or "I"."""
    who = spoken_by(voice(hit.record))
    return Support(
        id=hit.id,
        index=hit.index,
        text=hit.text,
        quote=sentence,
        when=when_of(hit),
        speaker=who,
        source=hit.source,
        corrected=corrected_at(hit.record),
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


def spoken_by(speaker: str) -> str:
    """Return who said something, as the one who answers says it."""
    return _SPEAKERS.get(speaker, speaker)


def addressed(held: str) -> str:
    """Return what a stance holds as it is said to its user: each claim about them; any other as it is."""
    return _BETWEEN.join(map(_addressed, held.split(_BETWEEN)))


def _addressed(claim: str) -> str:
    found = _USER.match(claim)
    if found is None:
        return claim
    if found["own"]:
        return f"your{found['rest']}"
    verb, space, rest = found["rest"].removeprefix(" ").partition(" ")
    plural = _TURNED.get(verb) or (plain(verb) if verb.endswith("s") and not verb.endswith("ss") else verb)
    return f"you {plural}{space}{rest}"
