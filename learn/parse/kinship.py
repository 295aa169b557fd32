"""Who somebody is to whom, and by what name: kin, partners, pets, status, nationality. Pure."""

from braid.learn import dates
from braid.learn.parse.people import Whom, has_former, is_person, owner_of
from braid.learn.parse.phrases import is_name, joined, noun, shown
from braid.learn.parse.said import Said, say
from braid.learn.parse.sorts import kin_of
from braid.learn.parse.traits import HOBBIES
from braid.learn.words import KIN, NOT_NAMES, PEOPLES, PETS, STATUSES
from braid.stance.relations import relation
from braid.text.parse import Parse


def called(said: Said) -> bool:
    """Our cats are called Miso and Tofu; my new boss is called Annelise; Jonas's mother is called Ingrid."""
    parse = said.clause.parse
    at = said.clause.child("oprd", "attr", "dobj")
    if (
        said.clause.token.lemma.lower() not in ("call", "name")
        or not said.clause.passive
        or at is None
        or said.clause.subject is None
        or not is_name(parse, at)
    ):
        return False
    owner = owner_of(said.page, parse, said.clause.subject)
    role = _role_of(parse, said.clause.subject)
    if owner is None or role is None:
        return False
    if _is_former(said, said.clause.subject):
        return True
    for one in joined(parse, at):
        _introduced(said, owner, role, noun(parse, one, bare=True))
    return True


def _role_of(parse: Parse, at: int) -> str | None:
    """Return the word for kin, friend, office or pet that a noun is."""
    pet = parse.lemma(at)
    return kin_of(parse, at) or (pet if pet in PETS else None)


def _introduced(said: Said, owner: str, role: str, name: str) -> None:
    """Claim that somebody's brother, boss or dog is of this name."""
    rel = "pet" if role in PETS else KIN[role]
    if not rel:
        return
    if said.clause.denied:
        said.claim(owner, rel, name, polarity=False, type="relation")
        return
    said.page.introduce(role, name, owner)
    said.claim(owner, rel, name, type="relation")
    if role in PETS:
        said.claim(name, "is_a", role)


def parted(said: Said, who: list[Whom]) -> bool:
    """We got engaged last night; my sister's getting married in May; my hobby is beekeeping."""
    parse = said.clause.parse
    low = said.clause.token.text.lower()
    if (
        said.clause.subject is not None
        and parse.word(said.clause.subject) in HOBBIES
        and said.clause.token.tag == "VBG"
        and said.clause.child("dobj") is None
    ):
        said.claim(said.speaker, "hobby", shown(parse, *said.clause.said), type="interest")
        return True
    if not said.clause.passive or low not in STATUSES or who[0].sort == "thing":
        return False
    to = next((inner for name, _, inner in said.clause.preps() if name == "to"), None)
    ahead = dates.ahead(said.part.text, said.page.turn.when)
    getting = any(
        token.text.lower() == "getting"
        for token in parse.tokens[max(0, said.clause.verb - 2) : said.clause.verb]
    )
    for one in who:
        if getting and low == "married":
            said.claim(one.name, "plans_to", "get married", held=ahead, type="goal")
        elif to is not None and is_name(parse, to):
            say(
                said._replace(clause=said.clause._replace(tense="present")),
                one.name,
                f"{low}_to",
                noun(parse, to, bare=True),
                "relation",
            )
        else:
            said.claim(
                one.name,
                "relationship_status",
                low,
                polarity=not said.clause.denied,
                held=dates.Validity(dates.past(said.part.text, said.page.turn.when).since),
            )
    return True


def named(said: Said, subject: Whom, at: int) -> bool:
    """My name is Kofi; hi, I'm Beatriz; my brother's name is Felix; Ida is Greek."""
    parse = said.clause.parse
    word = parse.tokens[at].text
    if subject.sort != "thing" and word[:1].isupper() and word.lower() in PEOPLES and not parse.children(at):
        return say(said, subject.name, "nationality", word)
    if not is_name(parse, at) or parse.tokens[at].text in NOT_NAMES or said.clause.subject is None:
        return False
    name = noun(parse, at, bare=True)
    if not name[:1].isupper():
        return False  # we're closed Mondays
    head = parse.tokens[said.clause.subject]
    if head.text.lower() == "name":
        return _name_of(said, said.clause.subject, name)
    if subject.sort == "first" and len(name.split()) <= 3 and len(parse.tokens) <= 12:
        opener = parse.text[: parse.tokens[said.clause.subject].start].strip(" ,.!").lower()
        if opener in ("", "hi", "hello", "hey", "hi there", "hello there"):
            return say(said, subject.name, "name_is", name)
    return False


def _name_of(said: Said, subject: int, name: str) -> bool:
    """My name is Kofi; my dog's name is Rufus; Tom's brother's name is Felix."""
    parse = said.clause.parse
    owner = parse.child(subject, "poss")
    role = _role_of(parse, owner) if owner is not None else None
    if owner is None or role is None:
        mine = owner is not None and parse.word(owner) in ("my", "our")
        return mine and say(said, said.speaker, "name_is", name)
    whose = owner_of(said.page, parse, owner)
    if whose is None and role in PETS:
        return False  # the dog's name is Moss: somebody's
    if whose is not None and not _is_former(said, owner):
        _introduced(said, whose, role, name)
    return True


def kin(said: Said, subject: Whom, at: int) -> bool:
    """Sam is my boyfriend; my boss is Anna Stone; Craig, that's my boss; I'm married."""
    parse = said.clause.parse
    if _named_kin(said, at):
        return True
    role = kin_of(parse, at)
    mine = _is_mine(parse, at)
    if role is not None and KIN[role] and mine and subject.sort == "person":
        if not is_person(subject.name):
            return True
        said.page.introduce(role, subject.name)
        return say(said, said.speaker, KIN[role], subject.name, "relation")
    low = parse.word(at)
    if low in STATUSES and subject.sort != "thing":
        to = next((inner for name, _, inner in said.clause.preps() if name == "to"), None) or next(
            (
                last
                for prep in parse.children(at)
                if parse.tokens[prep].lemma == "to"
                for last in parse.children(prep)
            ),
            None,
        )
        if low in ("married", "engaged") and to is not None and is_name(parse, to):
            return say(said, subject.name, f"{low}_to", noun(parse, to, bare=True), "relation")
        return say(said, subject.name, "relationship_status", low)
    return False


def _named_kin(said: Said, at: int) -> bool:
    """My boss is Anna Stone; Jonas's mother is Ingrid. True where the name is whole, and where it is no name at all."""
    parse, subject = said.clause.parse, said.clause.subject
    role = kin_of(parse, subject) if subject is not None else None
    if subject is None or role is None or not KIN[role] or not is_name(parse, at):
        return False
    owner = owner_of(said.page, parse, subject)
    if owner is None:
        return False
    name = noun(parse, at, bare=True)
    if is_person(name) and not _is_former(said, subject):
        said.page.introduce(role, name, owner)
        say(said, owner, KIN[role], name, "relation")
    return True


def _is_mine(parse: Parse, at: int) -> bool:
    return bool(parse.words_on(at) & {"my", "our"})


def _is_former(said: Said, at: int) -> bool:
    """My former boss was Hannah; my partner's name was Jonas: who may be it no more. A mother stays one."""
    role = kin_of(said.clause.parse, at)
    lasts = role is not None and relation(KIN[role]).temporal == "trait"
    return (said.clause.tense == "past" and not lasts) or has_former(said.clause.parse, at)
