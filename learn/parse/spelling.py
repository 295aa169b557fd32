"""Loose spelling made plain before a sentence is parsed, each token's place still that in the source. Pure.

    parsed(parser, ["im gonna move, Dad's retiring"])

A parser that was trained on newspapers reads "Dad's retiring" as something that Dad owns, and "dont" as a noun.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from braid.learn.words import KIN
from braid.text.calendar import TIME_WORDS
from braid.text.parse import Parse, Parser, Token
from braid.text.words import listed

_SLACK: Final = {
    "im": "I'm",
    "ive": "I've",
    "ill": "I'll",
    "id": "I'd",
    "i": "I",
    "dont": "don't",
    "doesnt": "doesn't",
    "didnt": "didn't",
    "isnt": "isn't",
    "wasnt": "wasn't",
    "werent": "weren't",
    "arent": "aren't",
    "havent": "haven't",
    "hasnt": "hasn't",
    "cant": "can't",
    "couldnt": "couldn't",
    "wouldnt": "wouldn't",
    "wont": "won't",
    "shes": "she's",
    "hes": "he's",
    "thats": "that's",
    "theyre": "they're",
    "youre": "you're",
    "weve": "we've",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "have to",
    "cannot": "can not",
    "u": "you",
    "ur": "your",
    "w/": "with",
    "bc": "because",
    "cuz": "because",
    "cos": "because",
    "tho": "though",
    "ppl": "people",
    "rn": "right now",
}
_WORD: Final = re.compile(
    rf"(?<![\w'’/])(?:{'|'.join(sorted(map(re.escape, _SLACK), key=len, reverse=True))})(?![\w'’])",
    re.IGNORECASE,
)
_IS: Final = re.compile(
    r"(?<=\w)['’]s(?=\s+(?:on|a|an|the|from|in|at|with|under|behind|up|down|over|for|not|getting|going|called|allergic"
    r"|really|so|now|still|always|never|already|just|nearly|almost|about|too|quite"
    r"|(?:good|bad|fine|great|ok|okay|ready|closed|open|full|free|broken|dead|ill|sick|better|worse|late|sure|happy|keen)"
    r"(?=[,.;!]|\s+(?:at|with|in|on|for|to|and|but|now|today|again|until|till|because|since|so|after|from)\b|$)"
    r"|our|my|off|out|very"
    r"|only|scared|afraid|due|back|no|(?!\d+(?:st|nd|rd|th)\b)\d[\w.]*|(?!(?:wedding|building|painting|meeting|evening"
    r"|morning|training|clothing|hearing|reading|writing"
    r"|being|feeling|meaning|saying|beginning|ending|opening|closing|drawing|string|thing|king|ring"
    r"|wing|spring)\b)[a-z]{3,}ing|[a-z]{3,}ed(?!\s+(?:me|us|him|her|them|it|my|our)\b))\b)"
)
_HAS: Final = re.compile(
    r"(?<=\w)(?<!\bit)(?<!\blet)['’]s(?=\s+(?:got|had|been|found|bought|won"
    r"|(?:done|taken|lost|made|sold|sent|broken)\s+(?:the|an?|my|our|his|her|their|me|us|it))\b)"
)
_NAME_IS: Final = re.compile(
    r"(?:(?<=\b[Mm]y name)|(?<=\b[Hh](?:is|er) name)|(?<=\b[Oo]ur name))['’]s(?= [A-Z])"
)
"""My name's Luana: nothing of Luana's name."""
_WILL: Final = re.compile(
    r"^(ill)(?= (?:be|take|do|get|send|call|ring|bring|pick|go|come|make|have|see|ask|check|let|try|tell|book|order|pay"
    r"|buy|put|look|write|give|keep|need)\b)",
    re.IGNORECASE,
)
_DEED: Final = re.compile(r"(?!Ahmed|Mohammed|Jared|\w+fred)[A-Z][a-z]{2,}ed(?= [a-z\dA-Z])")
"""A deed that opens a line is no name: Walked Tilda at six."""
_AMBIGUOUS: Final = frozenset(("ill", "id", "cos", "rn"))
_OPENERS: Final = listed(
    "and so ok okay oh well yeah yes yep hey just also finally already still even recently literally only "
    "then anyway lol haha hi but no fyi btw omg really honestly personally"
)
_PAST: Final = re.compile(
    r"lost|left|met|won|bought|sold|found|made|took|gave|came|saw|ran|broke|spent|built|wrote|heard"
    r"|told|felt|kept|sent|brought|taught|thought|paid"
    r"|caught|chose|drove|drank|ate|fell|flew|grew|held|knew|led|rode|sang|slept|spoke|stood|swam|threw"
    r"|woke|wore|got|went|had|did"
)
_NOT_FOND: Final = re.compile(r"not (?:a (?:big |huge )?fan of|keen on|into|big on)\b", re.IGNORECASE)
_ALONE: Final = listed(
    "live love hate like work prefer need want hope miss feel think can't cant don't dont never"
)
_FORMS_ALIKE: Final = listed("set put cut let hit shut cost read cast split quit")
_NO_WORDS: Final = frozenset(("PUNCT", "SPACE", "INTJ", "SYM"))
_FIRST_DEPS: Final = listed("ROOT ccomp advcl dep nsubj compound amod aux auxpass csubj nmod conj")
"""How a verb hangs that opens a sentence, as far as the parser is right about it."""
_DONE: Final = frozenset(("been", "was"))
_TIMES: Final = listed("age ages while year long")
_NO_DEEDS: Final = listed(
    "excited stoked pumped thrilled worried bored tired pleased delighted rained snowed poured "
    "said done called named based thanks agreed noted let forget raining snowing sounding"
)
"""Moods, weather, and what is said of things."""
_LEFT: Final = frozenset(("home", "work", "school", "town", "university", "college", "hospital"))
_LEADS: Final = frozenset(("to", "back", "home", "for", "at", "about", "from", "on", "in", "with", "as"))
_OWN_STATES: Final = frozenset(("busy", "sick", "ill", "tired", "away", "off", "unwell", "poorly"))


class _Spelled(NamedTuple):
    text: str
    heres: list[int]
    theres: list[int]
    """A place at or behind `heres[k]` stands `theres[k]` and as many characters on in the source, up to the next."""
    held: list[tuple[int, int, int, int]]
    """Stretches that were written otherwise: from and to here, from and to in the source."""


def parsed(parser: Parser, texts: Sequence[str]) -> list[Parse]:
    """Return the parse of each text as if it were spelled plainly; words that everybody hears ("I") have no width."""
    spelled = [_spelled(text) for text in texts]
    first = parser.parse([one.text for one in spelled])
    again = [
        (at, _with_subject(one, parse)) for at, (one, parse) in enumerate(zip(spelled, first, strict=True))
    ]
    wanted = [(at, one) for at, one in again if one is not None]
    for (at, one), parse in zip(wanted, parser.parse([one.text for _, one in wanted]), strict=True):
        spelled[at], first[at] = one, parse
    return [_placed(text, one, parse) for text, one, parse in zip(texts, spelled, first, strict=True)]


def _spelled(text: str) -> _Spelled:
    changes = [
        (match.start(), match.end(), _SLACK[match[0].lower()])
        for match in _WORD.finditer(text)
        if match[0].lower() not in _AMBIGUOUS and match[0] != "I" and not match[0].isupper()
    ]
    if (deed := _DEED.match(text)) is not None:
        changes.append((*deed.span(), deed[0].lower()))
    if (will := _WILL.match(text)) is not None:
        changes.append((*will.span(1), "I'll"))
    if "'s" in text or "’s" in text:
        for form, said in ((_IS, " is"), (_NAME_IS, " is"), (_HAS, " has")):
            changes += [(*match.span(), said) for match in form.finditer(text)]
    return _changed(text, sorted(changes))


def _changed(text: str, changes: list[tuple[int, int, str]]) -> _Spelled:
    pieces: list[str] = []
    heres, theres, held = [0], [0], list[tuple[int, int, int, int]]()
    end = length = 0
    for start, stop, new in changes:
        if start < end:
            continue
        pieces += (text[end:start], new)
        length += start - end
        held.append((length, length + len(new), start, stop))
        length += len(new)
        end = stop
        heres.append(length)
        theres.append(stop)
    return _Spelled("".join((*pieces, text[end:])), heres, theres, held)


def _with_subject(one: _Spelled, parse: Parse) -> _Spelled | None:
    """Return a text with the "I" that chat leaves out: got a new job, been living in Hull; None where none is left
    out.
    """
    tokens = parse.tokens
    at = 0
    while at < len(tokens) and (tokens[at].pos in _NO_WORDS or tokens[at].text.lower() in _OPENERS):
        at += 1
    if at >= len(tokens) - 1:
        return None
    if _NOT_FOND.match(one.text, tokens[at].start):
        return _with(one, tokens[at].start, "I'm ")
    lead = _left_out(parse, at)
    return None if lead is None or _is_of_another(parse, at) else _with(one, tokens[at].start, lead)


def _left_out(parse: Parse, at: int) -> str | None:
    """Return what is left out before a verb that opens a sentence; None before others."""
    tokens, token = parse.tokens, parse.tokens[at]
    low, behind = token.text.lower(), tokens[at + 1]
    if token.dep not in _FIRST_DEPS or _has_subject(parse, at) or _is_no_deed(parse, at):
        return None
    is_done = token.tag == "VBN" and (token.dep in ("ROOT", "ccomp") or _has_object_behind(parse, at))
    if is_done or token.tag == "VBD" or low in _DONE or _PAST.fullmatch(low):
        if low != "been":
            return "I "
        is_state = behind.pos not in ("ADJ", "DET") or behind.text.lower() in _OWN_STATES
        return "I've " if is_state and behind.lemma not in _TIMES else None  # Been hectic, been ages
    if token.tag == "VBG" and token.dep == "ROOT" and low not in _NO_DEEDS and _is_done_to(behind):
        return "I'm "
    return "I " if low in _ALONE or low == "ca" else None


def _has_subject(parse: Parse, at: int) -> bool:
    """Whether a verb that opens a sentence has one: walked Tilda to the weir is nothing that she did."""
    subject = parse.child(at, "nsubj", "nsubjpass", "expl", "csubj")
    return subject is not None and not (subject > at and parse.tokens[at].tag == "VBD")


def _is_no_deed(parse: Parse, at: int) -> bool:
    """Living in Leeds is great; left ear's sore; carried, 4 to 1; used to be 60: nobody is said to do it."""
    token, behind = parse.tokens[at], parse.tokens[at + 1]
    is_side = (
        token.text.lower() == "left" and behind.tag in ("NN", "NNS") and behind.text.lower() not in _LEFT
    )
    is_verdict = behind.pos == "PUNCT" and token.text.endswith("ed")
    is_worth = token.text.lower() == "used" and any(one.pos == "NUM" for one in parse.tokens[at + 2 : at + 4])
    return is_side or is_verdict or is_worth or (token.dep == "csubj" and token.tag == "VBG")


def _is_done_to(behind: Token) -> bool:
    """Taking the night train; meeting Oona; not: booking app, opening Thursday, drinking loads."""
    low = behind.text.lower()
    return (behind.pos in ("DET", "PRON", "PROPN") or low in KIN or low in _LEADS) and low not in TIME_WORDS


def _is_of_another(parse: Parse, at: int) -> bool:
    """Whether a verb that opens a sentence is no word of the speaker's on themselves."""
    tokens, low, behind = parse.tokens, parse.word(at), parse.tokens[at + 1]
    if low == "love" and (behind.tag == "TO" or (len(tokens) <= 4 and behind.pos == "PROPN")):
        return True  # Love to hear more: would; Love, Mum
    if low == "was" and any(one.pos == "DET" for one in tokens[at + 1 : at + 3]):
        return True  # wasn't the cone: not the speaker
    # set it to 5 may be an order; looking forward to it says nothing
    return low in _FORMS_ALIKE or low in _NO_DEEDS or behind.text.lower() in ("free", "forward")


def _has_object_behind(parse: Parse, at: int) -> bool:
    """Baked 48 scones; used to be a waiter: a deed that seems to say what the scones are."""
    behind = parse.tokens[at + 1]
    is_described = parse.tokens[at].dep in ("nmod", "amod") and behind.pos in ("NUM", "DET")
    return is_described or (parse.tokens[at].text.lower() == "used" and behind.tag == "TO")


def _with(one: _Spelled, at: int, lead: str) -> _Spelled:
    low = one.text[at : at + 1].lower() + one.text[at + 1 :]
    there = _there(one, at)
    k = bisect_right(one.heres, at)
    heres = [*one.heres[:k], at, at + len(lead), *(here + len(lead) for here in one.heres[k:])]
    theres = [*one.theres[:k], there, there, *one.theres[k:]]
    held = [
        (first + len(lead) * (first >= at), last + len(lead) * (first >= at), start, stop)
        for first, last, start, stop in one.held
    ]
    return _Spelled(f"{one.text[:at]}{lead}{low}", heres, theres, [*held, (at, at + len(lead), there, there)])


def _there(one: _Spelled, at: int) -> int:
    k = bisect_right(one.heres, at) - 1
    return one.theres[k] + at - one.heres[k]


def _placed(text: str, one: _Spelled, parse: Parse) -> Parse:
    if not one.held:
        return parse
    tokens: list[Token] = []
    for token in parse.tokens:
        inside = next(
            (
                place
                for place in one.held
                if place[0] <= token.start < place[1] or place[0] < token.stop <= place[1]
            ),
            None,
        )
        start, stop = (
            (inside[2], inside[3])
            if inside is not None
            else (_there(one, token.start), _there(one, token.stop))
        )
        tokens.append(token._replace(start=start, stop=stop))
    return Parse(text, tuple(tokens))
