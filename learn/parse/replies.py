"""What a short reply states by the question before it: "Any allergies?" "Only dust." Pure.

Only a reply that isn't a clause of its own is read so, and only of the turn right before, by somebody else. The
question and the reply are made one sentence ("I am allergic to dust."), which is read like any other; its quote is
the reply.
"""

import re
from datetime import timedelta
from typing import Final

from braid.learn.source import TurnText
from braid.learn.turn import Turn
from braid.learn.words import HEDGES
from braid.text.sentences import TextPart

MAX_WORDS: Final = 10
"""A longer reply says itself what it speaks of."""
_NEAR: Final = 4
"""Between a question and its reply may stand the record of what was read of it."""
_SOON: Final = timedelta(days=1)
_YES: Final = re.compile(
    r"(?:oh |haha |well |hell )?(?:yes|yeah|yep|yup|yea|sure do|sure am|i do|i am|i sure do|of course"
    r"|absolutely|definitely|indeed)\b(?! and no\b)"
    r"(?:[,.! ]+(?:i (?:do|am|did|really do|sure do)|a lot|very much|every day|all the time|too|indeed"
    r"|definitely|absolutely)\b)*[,.! ]*$",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"(?:oh |haha |well )?(?:no|nope|nah|never|not really|not any ?more|not at all|i do not|i am not|i "
    r"don't|i'm not|no more)\b"
    r"(?:[,.! ]+(?:i (?:do not|am not|don't|never do)|i'm not|not really|not any ?more|not at all|never"
    r"|sorry|actually)\b)*[,.! ]*$",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(r"(?:no|nope|nah|none|never|nothing|not|neither|nobody)\b", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"(?:(?:yes|yeah|yep|yup|oh|ah|well|um|hmm|haha|hi|hey|sure|thanks|just|only|mostly|mainly|actually"
    r"|definitely|currently|now|usually|always"
    r"|it is|it's|they are|he is|she is|that is|that would be|has to be|have to be|my name is|the name "
    r"is|allergic to|as)[,.!]* )+",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r",? (?:sadly|mostly|mainly|usually|unfortunately|luckily|actually|always|though|lol|haha|really"
    r"|for now|these days|at the moment)[.! ]*$",
    re.IGNORECASE,
)
_HEDGE: Final = re.compile(rf"(?:{'|'.join(sorted(HEDGES))}|i guess|i think),? ", re.IGNORECASE)
_YOU: Final = r"(?:do|are|have|did) (?:you|y'all|you guys)"
_OPEN: Final = (
    (
        rf"any (?:food )?allergies|{_YOU} (?:have )?(?:any (?:food )?allergies|allergic to anything)"
        rf"|what(?: specifically| exactly)? {_YOU} allergic to",
        "I am allergic to {}",
    ),
    (
        rf"(?:where(?:abouts)?|(?:what|which) (?:city|town|country|place)) {_YOU} (?:live|living|based"
        rf"|stay|staying)",
        "I live in {}",
    ),
    (rf"where {_YOU} (?:originally )?(?:come )?from\b", "I come from {}"),
    (
        rf"what {_YOU} do for (?:a living|work)|what(?:'s| is) your (?:job|profession|occupation|line "
        rf"of work)",
        "I work as a {}",
    ),
    (rf"where {_YOU} work(?:ing)?\b", "I work at {}"),
    (
        r"(?:do|have) you (?:have |got )?(?:any )?(?:pets|animals|cats|dogs)\b|(?:any|got any) pets",
        "I have {}",
    ),
    (r"(?:do|have) you (?:have |got )?(?:any )?(?:kids|children|siblings|brothers|sisters)\b", "I have {}"),
    (r"what(?:'s| is) your name\b", "My name is {}"),
    (r"how old are you\b", "I am {} years old"),
    (r"when(?:'s| is) your birthday", "My birthday is on {}"),
    (r"what(?: kind of| sort of)? languages? do you speak", "I speak {}"),
    (r"(?:what|which)(?: kind of)? instruments? do you play", "I play {}"),
    (
        r"(?:what are your|(?:do you have )?any) hobbies|what do you (?:like to )?do (?:for fun|in "
        r"your (?:free|spare) time|to relax)",
        "My hobbies are {}",
    ),
    (
        r"(?:what|who|which)(?:'s| is| are) your (?:all[- ]time |absolute )?favou?rite (?:kind of "
        r"|type of |sort of )?(?P<kind>[a-z]+(?: [a-z]+)?)\?*$",
        "My favourite {kind} is {}",
    ),
)
_QUESTIONS: Final = tuple(
    (re.compile(rf"(?:^|.*?[,;] ?|.*?\b(?:and|so|but) )(?:{asked})", re.IGNORECASE), made)
    for asked, made in _OPEN
)
_CLOSED: Final = re.compile(
    r"(?:^|.*?[,;] ?|.*?\b(?:and|so|but) )(?P<verb>do|are|have|can|did) you (?:still |ever |even "
    r"|really |also )?(?P<rest>(?!(?:have |got )?any\b)[^?]+)\??$",
    re.IGNORECASE,
)
_IT: Final = re.compile(r"\b(?:it|that|this|them|me|my|mine|us|anything)\b", re.IGNORECASE)


def asked_before(turn: Turn) -> tuple[Turn, str] | None:
    """Return the turn right before, where somebody else ended it with one question; and that question."""
    before = turn.previous[-1] if turn.previous else None
    if before is None or not 0 < turn.at - before.at <= _NEAR or abs(turn.when - before.when) > _SOON:
        return None
    if (before.speaker, before.role) == (turn.speaker, turn.role) or "?" not in before.text:
        return None
    found = [sentence for sentence in TurnText(before.text).sentences() if "?" in sentence.mark]
    return None if len(found) != 1 or " or " in found[0].text else (before, found[0].text)


def made_whole(first: TextPart, question: str) -> str | None:
    """Return the sentence that a reply makes with its question; None where it is no reply to it."""
    said = first.text
    if "?" in first.mark or len(said.split()) > MAX_WORDS:
        return None
    yes, no = _YES.match(said), _NO.match(said)
    if yes or no:
        match = _CLOSED.match(question)
        if match is None or _IT.search(match["rest"]):
            return None
        verb = {"do": "", "did": "did ", "are": "am ", "have": "have ", "can": "can "}[match["verb"].lower()]
        if no:
            verb = {
                "": "do not ",
                "did ": "did not ",
                "am ": "am not ",
                "have ": "have not ",
                "can ": "can not ",
            }[verb]
        return f"I {verb}{match['rest'].strip(' ?!')}."
    hedged = _HEDGE.match(said)
    text = _TAIL.sub("", _LEAD.sub("", said[hedged.end() :] if hedged else said)).strip(" .!,")
    if not text or _DENIES.match(text):
        return None
    for asked, made in _QUESTIONS:
        if (match := asked.match(question)) is not None:
            text = _fitted(text, made)
            whole = (
                made.format(text, kind=match.groupdict().get("kind"))
                if "{kind}" in made
                else made.format(text)
            )
            return f"{'Maybe ' if hedged else ''}{whole}."
    return None


def _fitted(text: str, made: str) -> str:
    """Return a reply without what the sentence says already: in Leeds, a nurse, on 3 June."""
    if made.startswith(("I live", "I work at", "I come")):
        return re.sub(r"^(?:in|at|near|just outside|from|for)\s+", "", text, flags=re.IGNORECASE)
    if made.startswith("I work as"):
        return re.sub(r"^(?:an?|the)\s+", "", text, flags=re.IGNORECASE)
    if "birthday" in made:
        return re.sub(r"^on\s+", "", text, flags=re.IGNORECASE)
    if made.startswith("I am {} years"):
        return re.sub(r"\s*years?(?: old)?$", "", text, flags=re.IGNORECASE)
    return text
