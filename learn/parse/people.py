"""Whom a clause is about, and who is introduced in passing: "my sister Tola", "our cats Miso and Tofu". Pure."""

import re
from typing import Final, Literal, NamedTuple

from braid.learn.page import Page
from braid.learn.parse.antecedents import antecedent
from braid.learn.parse.phrases import (
    from_outside,
    is_figurative,
    is_name,
    joined,
    noun,
    part_of,
    phrase_of,
    shown,
)
from braid.learn.parse.sorts import is_empty, kin_of
from braid.learn.voice import Voice
from braid.learn.words import KIN, NOT_NAMES, PETS, TITLES
from braid.text.parse import Parse
from braid.text.sentences import TextPart
from braid.text.words import listed

_MINE: Final = frozenset(("my", "our"))
_FORMER: Final = frozenset(("former", "ex", "first", "previous", "old", "late"))
_BESIDE_NAMES: Final = frozenset(
    (*_FORMER, "young", "little", "big", "poor", "dear", "lovely", "new", "good", "great")
)
_NOBODY: Final = listed(
    "you they them everyone everybody someone somebody anyone nobody none neither people who what which "
    "that this there those these one all some anybody whoever others each both many"
)
_BARE_KIN: Final = listed("mum mom dad grandma grandpa gran granny nan nana granddad mother father")
"""Whoever says "Mum" means their own."""
_OWNED: Final = frozenset(("mine", "yours", "his", "hers", "ours", "theirs"))
"""What stands for somebody's thing: of what kind, another clause says."""
_SPEAKS: Final = listed("report speak talk write chat")
_MEETS: Final = listed(
    "meet tell ask call marry invite text hug thank visit phone ring message hire pick collect fetch see"
)
"""Verbs whose object, where it is a name, is somebody."""
_TOPIC: Final = re.compile(
    r"^(?:(?:new|current|latest|final|next|old|updated|revised|actual|whole|entire)\s+)+|\s+(?:date|day"
    r"|time)$",
    re.IGNORECASE,
)


_PERSON: Final = re.compile(
    rf"(?:(?:{'|'.join(TITLES)})\.? )?(?!(?:{'|'.join(TITLES)})\b)[^\W\d_][\w'’-]*(?: "
    rf"[^\W\d_][\w'’-]+){{0,2}}"
)


class Whom(NamedTuple):
    """A subject: its name, and whether it is the speaker, another person or pet, or a thing."""

    name: str
    sort: Literal["first", "person", "thing"]


def whom(page: Page, parse: Parse, at: int | None) -> list[Whom]:
    """Return whom a subject means; empty where that is doubtful, or nobody."""
    if at is None:
        return []
    found: list[Whom] = []
    verb = parse.tokens[at].head
    for one in joined(parse, at):
        if at < verb < one:
            break  # we went with NATS, three nodes, JetStream on: no more of who went
        who = _one(page, parse, one)
        if who is None:
            return found
        found.append(who)
    return found


def _one(page: Page, parse: Parse, at: int) -> Whom | None:  # noqa: PLR0911, PLR0912 - one decision a line
    token = parse.tokens[at]
    low = token.text.lower()
    if low in ("i", "we", "me", "im", "ive"):
        return Whom(page.turn.speaker, "first")
    if low in ("he", "she", "it", "they"):
        return _meant(page, parse, at)
    if (
        low in ("that", "who", "which")
        and at > 1
        and parse.tokens[at - 1].text == ","
        and is_name(parse, at - 2)
        and (low != "that" or _is_kin(parse, token.head))
    ):
        return _named(page, parse, at - 2)  # Craig, that's my boss; not: wow, Maria, that's a nice picture
    if low in _NOBODY or low in _OWNED or token.pos in ("PRON", "DET"):
        return None
    if parse.words_on(at) & {"neither", "no", "few"}:
        return None
    owner = owner_of(page, parse, at)
    role = kin_of(parse, at)
    if role in _BARE_KIN and owner is None and parse.child(at, "det", "poss") is None:
        owner = page.turn.speaker
    if role is None and owner is not None and token.lemma.lower() in PETS:
        role = token.lemma.lower()
    if role is not None and owner is not None:
        name = _name_beside(parse, at)
        if name is not None:
            page.introduce(role, name, owner)
            return Whom(name, "person")
        return Whom(page.of_role(role, owner), "person")
    if is_name(parse, at):
        return _named(page, parse, at)
    beside = next((child for child in parse.children(at, "appos") if is_name(parse, child)), None)
    if beside is not None:  # the accountant, Mr. Osei; our new hire Bartek
        return _named(page, parse, beside)
    if is_empty(parse, at) or token.pos not in ("NOUN", "PROPN", "NUM", "X", "VERB", "ADJ"):
        return None
    if owner is None and parse.words_on(at) & {"his", "her", "their", "your", "its"}:
        return None
    first, last = phrase_of(parse, at)
    if parse.tokens[first].pos == "PRON" or any(
        one.text.lower() in ("me", "us") for one in parse.tokens[first : last + 1]
    ):
        return None  # the best film ever for me
    name = topic(noun(parse, at))
    if not name or re.fullmatch(r"\d+(?:st|nd|rd|th)?|\w", name):
        return None
    whose = [at, *parse.children(at, "poss")]  # my mum's birthday
    mine = any(parse.words_on(one) & _MINE for one in whose)
    return Whom(f"{page.turn.speaker}'s {name}" if mine else name, "thing")


def _meant(page: Page, parse: Parse, at: int) -> Whom | None:
    """Return whom or what a pronoun stands for: of this sentence; of the turn, where it is a person; else of
    the sentence before.
    """
    low = parse.word(at)
    if at > parse.tokens[at].head:
        return None  # you do the deposit, is it three hundred
    is_thing = low in ("it", "they")
    found = antecedent(parse, at, page.before if is_thing else None)
    if is_thing:
        known = Whom(page.thing, "thing") if low == "it" and page.thing else None
        return _one(page, *found) if found is not None else known
    name = page.by_pronoun(low) if found is None else None
    if name is not None and _may_be_another(parse, at, name):
        return None
    if name is None and (found := found or antecedent(parse, at, page.before)) is not None:
        who = _owner(page, *found) or _one(page, *found)
        name = who.name if who is not None else None
    return Whom(name, "person") if name is not None and page.agrees(name, low) else None


def _owner(page: Page, parse: Parse, at: int) -> Whom | None:
    """Return whose a thing is, by name: Kofi, of "Kofi's birthday"."""
    text = parse.tokens[at].text
    is_owner = parse.tokens[at].dep == "poss" and is_name(parse, at)
    return Whom(page.known_name(text) or text, "person") if is_owner else None


def _may_be_another(parse: Parse, at: int, name: str) -> bool:
    """Whether a sentence names somebody else before a pronoun: I walked Pepper, she was delighted. Or names this one
    only behind it: she wants a bath, I asked Delma.
    """
    if name not in parse.text[: parse.tokens[at].start] and name in parse.text[parse.tokens[at].stop :]:
        return True
    return any(
        is_name(parse, one)
        and parse.tokens[one].dep in ("dobj", "nsubj", "dative", "conj")
        and parse.tokens[one].text not in NOT_NAMES
        and parse.tokens[one].text not in name
        for one in range(at)
    )


def _is_kin(parse: Parse, verb: int) -> bool:
    """Whether a verb says whose kin, friend or boss somebody is."""
    return any(kin_of(parse, child) is not None for child in parse.children(verb, "attr"))


def topic(name: str) -> str:
    """Return a thing's name without what changes about it: "new launch date" and "launch" are one."""
    short = _TOPIC.sub("", _TOPIC.sub("", from_outside(name)))
    return short or name


def _is_run_together(parse: Parse, at: int) -> bool:
    """Whether a name stands behind an adjective as no name does: "bad news Laleh rang", said without marks."""
    beside = [one.text for one in parse.around(at) if one.dep == "amod"]
    return any(word.islower() and word not in _BESIDE_NAMES for word in beside)


def _named(page: Page, parse: Parse, at: int) -> Whom | None:
    name = noun(parse, at, bare=True)
    words = name.split()
    beside = next((child for child in parse.children(at, "compound", "nmod") if kin_of(parse, child)), None)
    if beside is not None and (parse.words_on(at) | parse.words_on(beside)) & _MINE:
        role = kin_of(parse, beside) or ""
        name = shown(parse, beside + 1, at)
        page.introduce(role, name)
        return Whom(name, "person")
    is_own = name == page.turn.speaker or name in page.turn.speaker.split()
    if (
        not words
        or (words[0] in NOT_NAMES and (len(words) == 1 or words[0].lower() not in _BARE_KIN))
        or name.endswith(("'s", "’s"))
        or is_own
        or _is_run_together(parse, at)
    ):
        return None
    if words[0].lower() in _BARE_KIN:
        page.introduce(words[0].lower(), name)  # Grandma Ruth
    known = page.known_name(name)
    if parse.child(at, "poss") is not None or parse.tokens[at].tag == "NNPS":
        return Whom(name, "thing")
    if known is not None:
        return Whom(known, "person")
    page.seen(name)
    return Whom(name, "person")


def is_person(name: str) -> bool:
    """Whether words are a person's whole name: a title alone is none, and of four words nobody knows where it ends."""
    return _PERSON.fullmatch(name) is not None


def owner_of(page: Page, parse: Parse, at: int) -> str | None:
    """Return whose a noun is by what stands before it: my, her, Jonas's, my sister's; None where nobody knows."""
    for child in parse.children(at, "poss"):
        token = parse.tokens[child]
        low = token.text.lower()
        if low in _MINE:
            return page.turn.speaker
        if low in ("his", "her"):
            return page.by_pronoun("she" if low == "her" else "he")
        if is_name(parse, child):
            return page.known_name(token.text) or token.text
        role = kin_of(parse, child)
        if role is not None:
            above = owner_of(page, parse, child)
            return page.of_role(role, above) if above else None
    return None


def has_former(parse: Parse, at: int) -> bool:
    """Whether a noun is of somebody who was it before: my former boss, my first wife, my ex-husband."""
    return bool(parse.words_on(at) & _FORMER)


def _name_beside(parse: Parse, at: int) -> str | None:
    """Return the name that stands behind a word for kin: my sister Tola, my son, Luca, a friend called Zoe."""
    tokens = parse.tokens
    place = at + 1
    if place < len(tokens) and tokens[place].text in (",", "called", "named"):
        place += 1
    first = place
    while (
        place < len(tokens)
        and tokens[place].pos == "PROPN"
        and tokens[place].text[:1].isupper()
        and tokens[place].text not in NOT_NAMES
    ):
        place += 1
    return shown(parse, first, place - 1) if place > first else None


def mentioned(page: Page, sentence: TextPart, parse: Parse) -> None:
    """Claim who is introduced in a sentence: kin and pets of the speaker, or of somebody who is known."""
    for at, token in enumerate(parse.tokens):
        if token.dep in ("pobj", "dobj", "conj") and is_name(parse, at) and _is_company(parse, at):
            page.seen(noun(parse, at, bare=True))
        low = token.lemma.lower() if token.lemma.lower() in PETS else token.text.lower()
        is_pet = low in PETS
        role = kin_of(parse, at)
        if not is_pet and (role is None or not KIN[role]):
            continue
        holder = at if owner_of(page, parse, at) else token.head if token.dep in ("compound", "nmod") else at
        owner = owner_of(page, parse, holder)
        if owner is None and is_pet and parse.words_on(at) & {"a", "an", "the"}:
            owner = page.turn.speaker if _has(parse, at) else None
        name = _name_beside(parse, at)
        if is_figurative(parse, token.head):
            continue  # we nearly called our daughter Ivy
        if owner is None or name is None or name.split()[0] in NOT_NAMES or has_former(parse, at):
            continue
        first, last = phrase_of(parse, holder)
        first, last = min(first, at), max(last, at + len(name.split()))
        while first > 0 and parse.word(first - 1) in ("my", "our", "his", "her", "a", "an"):
            first -= 1
        part = part_of(sentence, parse, first, _end_of_name(parse, at, name))
        kind = low if is_pet else role or ""
        page.introduce(kind, name, owner)
        page.claim(part, Voice(), owner, "pet" if is_pet else KIN[kind], name, type="relation")
        if is_pet:
            page.claim(part, Voice(), name, "is_a", kind)


def _is_company(parse: Parse, at: int) -> bool:
    """Whether a name is of somebody by what governs it: with Priya, met Priya, told Priya."""
    token, head = parse.tokens[at], parse.tokens[parse.tokens[at].head]
    if token.text in NOT_NAMES or parse.child(at, "det", "amod") is not None:
        return False
    if token.dep == "pobj":
        over = parse.tokens[head.head].lemma.lower()
        return head.text.lower() == "with" or (head.text.lower() == "to" and over in _SPEAKS)
    return token.dep == "dobj" and head.lemma.lower() in _MEETS


def _end_of_name(parse: Parse, at: int, name: str) -> int:
    stop = parse.text.index(name, parse.tokens[at].start) + len(name)
    return next(number for number, token in enumerate(parse.tokens) if token.stop >= stop)


def _has(parse: Parse, at: int) -> bool:
    """Whether a pet is the speaker's: I have a cat; I live with my partner and a cat called Biscuit."""
    head = parse.tokens[parse.tokens[at].head]
    firsts = {token.text.lower() for token in parse.tokens} & {"i", "we", "my", "our"}
    mine = parse.words_on(parse.tokens[at].head) & {"i", "we"}
    holds = head.lemma.lower() in ("have", "get", "adopt", "own") and bool(mine)
    return holds or (bool(firsts) and parse.tokens[at].dep in ("conj", "pobj") and not _others(parse))


def _others(parse: Parse) -> bool:
    return any(
        token.text.lower() in ("he", "she", "they", "his", "her", "their", "your", "you")
        for token in parse.tokens
    )
