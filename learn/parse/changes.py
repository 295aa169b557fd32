"""What ends, takes back or puts right what was said before: "scrap that", "wait no, one", "X instead of Y". Pure.

What is ended or replaced is looked for among the claims of this turn, then among those of the conversation that are
newest: on the same topic, whatever words it was given. The claim that follows from it names both.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import topic, whom
from braid.learn.parse.phrases import is_name, noun, said_of, shown
from braid.learn.parse.sorts import number
from braid.learn.turn import TurnNote
from braid.learn.voice import Voice
from braid.learn.words import KIN
from braid.ledger.record.record import Claim
from braid.stance.relations import FAVOURITE
from braid.text.parse import Parse
from braid.text.sentences import TextPart
from braid.text.words import STOP, listed, stem, stems, words

CORRECTED: Final = Voice(source_type="corrected")
_PREFIX: Final = re.compile(
    r"^(?:(?:(?:a |one )?(?:small |quick )?correction|typo|edit|hm+|sorry typo|not (?!(?:an?|keen|into|big)\b)\w+"
    r"|what am i saying"
    r"|scratch that|strike that|scrap that|wait|no wait|wait no|hang on"
    r"|sorry(?! (?:i|we|my|our|about|for|to|that|if)\b)|my mistake|my bad"
    r"|or rather|i misspoke|i was wrong|that was wrong|to correct myself|let me correct that|oops|actually no"
    r"|no,? sorry|no,? actually|i mean|make that"
    r"|no(?=[,.] )|nope)\b[,:;.! …-]*)+(?:i (?:actually )?meant(?: to say)?(?: that)? |it was |it is "
    r"|it's |that's |make it )?(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_RETRACTION: Final = re.compile(
    r"\b(?:forget|ignore|disregard|scratch|strike|delete|drop) (?:what|everything|that|the thing|the "
    r"part) (?:i |we )?"
    r"(?:said |told you |mentioned |wrote )?(?:earlier |before |yesterday )?(?:about )(?P<what>[^,.;!]+)",
    re.IGNORECASE,
)
_PLAIN: Final = {
    "being": ("am", "is"), "having": ("have", "has"), "moving": ("moved", "moved"), "living": ("live", "lives"),
    "working": ("work", "works"), "liking": ("like", "likes"), "loving": ("love", "loves"),
    "hating": ("hate", "hates"), "eating": ("eat", "eats"), "using": ("use", "uses"), "drinking": ("drink", "drinks"),
    "owning": ("own", "owns"), "playing": ("play", "plays"), "preferring": ("prefer", "prefers"),
    "wanting": ("want", "wants"),
}  # fmt: skip
"""What is taken back, as the speaker says it, and as it is said of others."""
_BEING: Final = re.compile(
    rf"^(?:(?P<who>[A-Z][\w-]+|me|my [\w-]+)(?:'s)? )?(?P<verb>{'|'.join(_PLAIN)}) (?P<rest>.+)$"
)
_NEW_VALUE: Final = re.compile(
    r"^(?:i|we)(?:['’]ve| have| got| now have)(?: now)?(?: got)? a new "
    r"(?P<what>(?:(?:phone|mobile|mobile phone) )?number|e-?mail(?: address)?|address|postcode)"
    r"(?::|,? (?:and )?(?:it['’]s|it is|which is)|,? now) ?"
    r"(?P<new>\+?\d[\d ()./-]{3,}\d|[^\s@]+@[^\s@]+\.[^\s@,;]*\w"
    r"|(?-i:\d+\w?,? [A-Z]|[A-Z][^,.]* \d)[^.;!?]*)\W*$",
    re.IGNORECASE,
)
_TAKES_BACK: Final = re.compile(
    r"^(?:(?:hm+|no|nah|nope|ok|oh|wait|actually|sorry|hang on|on second thou?ght|well)[,. ]+)*"
    r"(?:please )?(?:forget|ignore|scratch|scrap|disregard|delete|strike|never ?mind|undo|drop) (?:that"
    r"|it|this|what i (?:just )?said|my last \w+)(?: last (?:bit|one|part|message))?"
    r"(?: please)?[,.! ]*(?:after all)?",
    re.IGNORECASE,
)
_NEVER_MIND: Final = re.compile(
    r"^(?:(?:oh|no|nah|ok|actually|wait)[,. ]+)*never ?mind\b[,.! ]*", re.IGNORECASE
)
_JOKED: Final = re.compile(
    r"^(?:(?:lol|lmao|hah|ha(?:ha)+|ok|no|nah|nope)[,.! ]+)*(?:jk|j/k|(?:(?:i['’]?m |im )?(?:just |only )?"
    r"(?:kidding|joking)))\b(?! (?:aside|apart|around|with|about|of)\b)[,.!; …-]*",
    re.IGNORECASE,
)
_LEAD_WORDS: Final = 3
"""Fewer words before "forget that" say nothing: oh, no wait."""
_ELLIPSIS: Final = re.compile(
    r"^it(?:'s| is) (?P<whose>her|his|my) (?P<role>[\w-]+),? (?P<name>[A-ZÀ-Þ][\w-]+) who (?:is|does|has)\b",
    re.IGNORECASE,
)
_ENDS: Final = listed(
    "cancel scrap drop ditch abandon end stop finish postpone shelve axe bin scratch abort kill retire "
    "decommission deprecate"
)
_ENDS_UP: Final = frozenset((
    "call off", "give up", "break up", "split up", "back out", "pull out", "drop out", "fall through",
    "shut down", "close down", "turn down",
))  # fmt: skip
_LEAVES_OFF: Final = frozenset(("stop", "quit", "give up", "pack in"))
_MOVED_IN: Final = re.compile(r"\b(?:we|i)(?:'ve)? moved(?: in| house| here)? ([^,.;!?]+)", re.IGNORECASE)
_MOVES: Final = frozenset((
    "move", "push", "push back", "postpone", "reschedule", "change", "raise", "lower", "bump",
    "bring forward", "increase", "switch", "go up", "go down", "shift", "slip", "delay", "set", "extend",
    "cut", "drop", "rise", "reduce", "update", "up", "double", "halve",
))  # fmt: skip
_SET_APART: Final = frozenset(("decided_on", "prefers", "likes", "number_is", "uses"))
_USED: Final = frozenset((
    "lives_in", "works_at", "works_for", "works_as", "studies_at", "drives", "plays", "uses", "member_of", "drinks",
    "eats", "speaks", "working_on",
))  # fmt: skip
"""What is over where somebody says that they used to."""
_DEEDS: Final = frozenset(("does", "has", "did", "can", "was"))
"""What somebody does isn't over because something with them is cancelled."""
_MEATS: Final = listed("meat chicken beef pork lamb turkey ham bacon steak sausages")
_FISH: Final = listed("fish salmon tuna prawns seafood")
_RETURNED: Final = re.compile(r"\b(?:back|again)\b", re.IGNORECASE)
_LOOSE: Final = STOP | listed("new old date time day next one thing plan plans")


def opens_with_correction(sentence: TextPart) -> TextPart | None:
    """Return what stands behind "wait no", "Correction:", "scratch that", None where a sentence begins otherwise."""
    match = _PREFIX.match(sentence.text)
    if match is None or "?" in sentence.mark:
        return None
    start = sentence.start + match.start("rest")
    return TextPart(match["rest"], start, sentence.stop, sentence.mark)


def retraction(sentence: TextPart) -> str | None:
    """Return as a plain sentence what is taken back by "forget what I said about Mireille being allergic to
    shellfish".
    """
    match = _RETRACTION.search(sentence.text) if "about" in sentence.text.lower() else None
    inner = _BEING.match(match["what"].strip()) if match else None
    if inner is None:
        return None
    who = "I" if (inner["who"] or "me") == "me" else inner["who"]
    verb = _PLAIN[inner["verb"]][who != "I"]
    return f"{who} {verb} {inner['rest']}"


def opens_with_new_value(sentence: TextPart) -> bool:
    """Whether a sentence gives a new number or address behind a colon: it is one piece."""
    return _NEW_VALUE.match(sentence.text) is not None


def new_value(sentence: TextPart) -> str | None:
    """Return as a plain sentence which value took the place of another: I've got a new number, it's 0113 496 0777."""
    match = _NEW_VALUE.match(sentence.text)
    return None if match is None or "?" in sentence.mark else f"My {match['what']} is {match['new']}"


def takes_back(page: Page, sentence: TextPart) -> TextPart | None:
    """Deny what the speaker said last, of "ignore that", "never mind" and "jk"; return what else the sentence says, or
    itself.

    None where it says nothing else.
    """
    match = next(
        (found for form in (_TAKES_BACK, _NEVER_MIND, _JOKED) if (found := form.match(sentence.text))), None
    )
    if match is None or "?" in sentence.mark:
        return sentence
    said = list(page.claims)
    for claim in said:
        page.withdraw(claim)
    if not said and _means_last_turn(page, sentence):
        before = next((one for one in reversed(page.turn.previous) if one.speaker == page.turn.speaker), None)
        last = [note for note in page.known.facts() if note.owner == page.turn.speaker][:6]
        for note in last:
            if before is not None and note.at == before.at and note.claim is not None and note.claim.polarity:
                page.use(note)
                _put_right(page, sentence, note.claim, note.claim.object, polarity=False)
    rest = sentence.text[match.end() :]
    if not rest.strip(" ,.;:-"):
        return None
    start = sentence.start + match.end() + len(rest) - len(rest.lstrip(" ,.;:-"))
    return TextPart(rest.lstrip(" ,.;:-"), start, sentence.stop, sentence.mark)


def _means_last_turn(page: Page, sentence: TextPart) -> bool:
    """Whether "forget that" is of what was said a turn ago: it opens its turn. Behind other words it is of those, even
    where nothing was read of them; "never mind" is of an errand more often than of a fact."""
    opens = len(page.text[: sentence.start].split()) < _LEAD_WORDS
    return opens and re.search(r"\bnever ?mind\b", sentence.text, re.IGNORECASE) is None


def instead(page: Page, sentence: TextPart) -> bool:
    """Read `it's her brother Loïc who is`: what has just been taken back of one holds of another."""
    match = _ELLIPSIS.match(sentence.text)
    if (
        match is None
        or not page.claims
        or page.claims[-1].polarity
        or page.claims[-1].source_type != "corrected"
    ):
        return False
    taken = page.claims[-1]
    role, pronoun = match["role"].lower(), match["whose"].lower()
    owner = page.turn.speaker if pronoun == "my" else page.by_pronoun("she" if pronoun == "her" else "he")
    if owner is not None and KIN.get(role):
        page.introduce(role, match["name"], owner)
        page.claim(sentence, Voice(), owner, KIN[role], match["name"], type="relation")
    page.claim(sentence, CORRECTED, match["name"], taken.rel, taken.object)
    return True


def fragment(page: Page, sentence: TextPart, rest: TextPart, parse: Parse) -> bool:
    """Put right by a few words what was said last: "two tablets. wait no, one"; True where that could be done."""
    if len(rest.text.split()) > 9:
        return False
    if any(
        token.dep in ("nsubj", "nsubjpass")
        and token.text.lower() not in ("it", "that")
        and not (token.text.lower() == "i" and parse.tokens[token.head].lemma == "mean")
        for token in parse.tokens
        if "," not in parse.text[: token.start]
    ):
        return False
    candidates = page.claims or [note.claim for note in page.known.facts() if note.claim is not None][:6]
    for claim in reversed(candidates) if page.claims else candidates:
        new = _substituted(page, claim, rest.text, parse)
        if new is None:
            continue
        if page.claims:
            page.withdraw(claim)
        else:
            _use_fact(page, claim)
        part = page.whole(claim, rest) if page.claims_before(claim) else sentence
        _put_right(page, part, claim, new)
        return True
    return False


def unsay(page: Page, sentence: TextPart) -> None:
    """Take back what was read before a comma, where what puts it right doesn't say which word: on Friday, sorry, the
    9th.
    """
    before = page.text[: sentence.start].rstrip()
    if before.endswith(",") and page.claims and before[:-1].endswith(page.claims[-1].quote or "\n"):
        page.withdraw(page.claims[-1])


_SHAPE: Final = re.compile(r"[£$€]?\d[\d.,:/-]*\d|[£$€]?\d+")


def _substituted(page: Page, claim: Claim, rest: str, parse: Parse) -> str | None:
    """Return an object with the corrected value in the place of the like one: number for number, name for name."""
    old, rest = claim.object, rest.strip(" .,!")
    rest = re.sub(r"(?:,? (?:i mean|sorry|actually|not \S+))+$", "", rest, flags=re.IGNORECASE)
    if claim.rel in ("is_on", "due_on", "birthday"):
        day = rest.partition(",")[0].removeprefix("on ")
        return page.valued("is_on", f"on the {day}" if day[:1].isdigit() else f"on {day}")
    tokens = [token for token in parse.tokens if token.pos not in ("PUNCT", "SPACE", "INTJ")]
    olds, news = _SHAPE.findall(old), _SHAPE.findall(rest)
    if len(olds) == 1 and news and len(tokens) <= 4 + len(news):
        return old.replace(olds[0], news[0])
    numbers = [word for word in old.split() if number(word.strip(".,")) is not None]
    given = [token.text for token in tokens if number(token.text) is not None]
    if len(numbers) == 1 and len(given) == 1:
        return old.replace(numbers[0], given[0])
    if tokens and tokens[0].tag == "IN":
        tokens, rest = tokens[1:], rest.partition(" ")[2]  # in Cork, no wait, in Cobh
    names = [token for token in tokens if token.pos == "PROPN"]
    if names and len(names) == len(tokens) and (len(old.split()) <= 3 and old[:1].isupper()):
        return rest
    return None


# -- ends and changes of a clause ---------------------------------------------------------------------


def ended(page: Page, part: TextPart, clause: Clause) -> bool:
    """Deny what is ended by a clause: the trip is cancelled, we scrapped the plan, I've packed in the gym; True where
    something living is.
    """
    if clause.denied or clause.mode in ("possible", "able"):
        return False
    at, deed = _what_ends(clause)
    if at is None or clause.parse.tokens[at].pos == "PRON":
        return False
    who = whom(page, clause.parse, at)
    if who and who[0].sort == "person":
        return False  # Mo has stopped; nothing that Mo does is ended by it
    name = topic(noun(clause.parse, at))
    doers = (
        {one.name for one in whom(page, clause.parse, clause.subject)} if at != clause.subject else set[str]()
    )
    before = (
        claim
        for claim in _about(page, name, 3)
        if claim.quote and claim.quote not in part.text and part.text not in claim.quote
        if claim.rel not in _DEEDS or (claim.subject in doers and claim.rel in ("does", "has"))
        if not deed or stem(deed) in (stem(claim.rel), stem(claim.object.partition(" ")[0]))
    )
    return bool(name) and deny(page, part, islice(before, 1))


def _what_ends(clause: Clause) -> tuple[int | None, str]:
    """Return what a clause says is over, and the deed with it that is: stopped going / to the gym."""
    parse, tokens = clause.parse, clause.parse.tokens
    inner = clause.child("xcomp")
    if inner is not None:
        if clause.lemma not in _LEAVES_OFF or tokens[inner].tag != "VBG":
            return None, ""
        near = [one for child in parse.children(inner) for one in (child, *parse.children(child))]
        return next((one for one in near if tokens[one].dep in ("dobj", "pobj")), None), tokens[inner].lemma
    governed = {name: at for name, _, at in clause.preps()}
    if clause.token.lemma in ("pack", "jack"):
        thing = clause.child("dobj")
        return (thing if clause.lemma.endswith(" in") else None if thing else governed.get("in")), ""
    if clause.lemma not in _ENDS | _ENDS_UP:
        return None, ""
    thing = clause.child("dobj") or (governed.get("on") if clause.lemma == "give up" else None)
    return (clause.subject if clause.passive or thing is None else thing), ""


def used_to(page: Page, part: TextPart, who: str, what: str) -> None:
    """Deny what is over: I used to work at Siemens."""
    if _RETURNED.search(page.text):
        return
    verb, _, rest = what.partition(" ")
    rest = re.sub(r"^(?:(?:in|at|for|as|an?|the) )+", "", rest)
    over = (
        claim
        for claim in living(page)
        if claim.subject == who
        and claim.rel in _USED
        and stem(claim.rel.partition("_")[0]) == stem(verb)
        and re.fullmatch(
            rf"{re.escape(claim.object)}(?: (?:before|until|till|back then|years ago)\b.*)?", rest
        )
        and claim.quote
        and claim.quote not in part.text
    )
    deny(page, part, over)


def eats_again(page: Page, part: TextPart, who: str, food: str) -> None:
    """End a diet that a food is none of: I started eating chicken."""
    found = set(words(food))
    if not found & (_MEATS | _FISH):
        return
    diets = ("vegetarian", "vegan", *(("pescatarian", "pescetarian") if found & _MEATS else ()))
    deny(
        page,
        part,
        (one for one in living(page) if one.subject == who and one.rel == "diet" and one.object in diets),
    )


_NUMBER_OF_DAY: Final = re.compile(r",? (?:the )?[0-3]?\d(?:st|nd|rd|th)\b")


def changed(page: Page, part: TextPart, clause: Clause) -> bool:
    """Read a new value of what was known: the launch has been moved to Friday; they raised the limit to 800."""
    if clause.lemma not in _MOVES or clause.denied or clause.mode in ("supposed", "possible"):
        return False
    parse = clause.parse
    to = next((at for name, _, at in clause.preps() if name in ("to", "until", "till", "from to")), None)
    at = clause.child("nsubjpass") or clause.child("dobj") or clause.subject
    if to is None or at is None:
        return False
    name = topic(noun(parse, at))
    _, last = said_of(parse, to)
    value = shown(parse, to, max(last, to))
    value = noun(parse, to) or value
    if (number := _NUMBER_OF_DAY.match(part.text.partition(value)[2])) is not None:
        value += number[0]  # Tuesday, and of these the 17th
    for claim in _about(page, name, 3):
        if (
            claim.rel in ("is_on", "value_is", "costs", "number_is", "due_on", "owner_is")
            and page.valued(claim.rel, value) is not None
        ):
            _use_fact(page, claim)
            page.claim(part, CORRECTED, claim.subject, claim.rel, page.valued(claim.rel, value) or value)
            return True
    return False


def set_apart(page: Page, sentence: TextPart, clause: Clause, told: int) -> None:
    """Deny what a clause sets apart: lives in Perth, not Adelaide; with NATS instead of Kafka."""
    parse = clause.parse
    new = page.claims[told:]
    if not new or not new[-1].polarity or new[-1].rel in _DEEDS:
        return
    tokens = parse.tokens
    for at, token in enumerate(tokens):
        low = token.text.lower()
        if low == "instead" and at + 2 < len(tokens) and tokens[at + 1].text.lower() == "of":
            first = at + 2
        elif (
            low == "not"
            and at + 1 < len(tokens)
            and at > 0
            and tokens[at - 1].text in (",", "and", "–", "-", "—")
        ) or (low == "than" and new[-1].rel == "prefers"):
            first = at + 1
        else:
            continue
        of_taste = new[-1].rel.startswith(FAVOURITE)
        passed = ("DET",) if of_taste else ("ADP", "DET")
        while first < len(tokens) and tokens[first].pos in passed and tokens[first].text.lower() != "me":
            first += 1
        kinds = ("PROPN", "NOUN", "NUM", *(("ADJ",) if of_taste else ()))  # green is a favourite colour
        within = range(
            first, min(first + (1 if of_taste else 5), len(tokens))
        )  # "not far from home" sets no home apart
        head = next((k for k in within if tokens[k].pos in kinds), None)
        if head is None:
            continue
        while (
            head + 1 < len(tokens) and tokens[head].dep in ("compound", "nmod") and tokens[head].head > head
        ):
            head += 1
        if is_name(parse, head) or of_taste or new[-1].rel in _SET_APART:
            page.claim(
                sentence,
                Voice(),
                new[-1].subject,
                new[-1].rel,
                noun(parse, head, bare=True).removeprefix("not "),
                polarity=False,
                type=new[-1].type,
            )
        return


def living(page: Page) -> Iterator[Claim]:
    """Yield what stands of what was said, the newest first: of this turn, then of the conversation."""
    yield from (claim for claim in reversed(page.claims) if claim.polarity)
    seen: set[tuple[str, str, str]] = set()
    for note in page.known.facts():
        claim = note.claim
        if claim is None or (claim.subject, claim.rel, claim.object) in seen:
            continue
        seen.add((claim.subject, claim.rel, claim.object))
        if claim.polarity:
            yield claim


def _about(page: Page, name: str, most: int) -> Iterator[Claim]:
    """Yield the newest living claims that speak of what a noun phrase names: all its telling words are among theirs."""
    wanted = {stem(word) for word in words(name) if word not in _LOOSE}
    if not wanted:
        return
    for claim in living(page):
        held = stems(f"{claim.subject} {claim.object}")
        if wanted <= held:
            yield claim
            most -= 1
            if not most:
                return


def deny(page: Page, part: TextPart, claims: Iterator[Claim]) -> bool:
    """Deny claims in the words of a part, three at most; False where there are none."""
    found = list(claims)[:3]
    for claim in found:
        _use_fact(page, claim)
        _put_right(page, part, claim, claim.object, polarity=False)
    return bool(found)


def _put_right(page: Page, part: TextPart, claim: Claim, what: str, *, polarity: bool = True) -> None:
    page.claim(part, CORRECTED, claim.subject, claim.rel, what, polarity=polarity, type=claim.type)


def _use_fact(page: Page, claim: Claim) -> None:
    note: TurnNote | None = next((one for one in page.known.facts() if one.claim == claim), None)
    if note is not None:
        page.use(note)


def moved_home(page: Page) -> None:
    """Date a new home by the move that the same turn tells of: we moved yesterday, so I live in Edinburgh now."""
    homes = [
        claim
        for claim in page.claims
        if claim.rel == "lives_in" and claim.polarity and claim.valid_from is None
    ]
    move = _MOVED_IN.search(page.text) if len(homes) == 1 else None
    since = dates.past(move[1], page.turn.when).since if move is not None else None
    if since is not None:
        page.replace(homes[0], msgspec.structs.replace(homes[0], valid_from=since))
