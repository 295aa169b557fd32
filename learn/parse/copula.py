"""What a thing or a person is said to be: name, age, trade, kin, a date, a sum, a value, else as it was said. Pure."""

import re
from typing import Final

from braid.learn import dates
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import Whom, has_former, is_person, owner_of, topic
from braid.learn.parse.phrases import (
    from_beside,
    from_outside,
    is_name,
    joined,
    noun,
    said_of,
    shown,
    subtree,
    words_of,
)
from braid.learn.parse.said import Said
from braid.learn.parse.sorts import SORTS, kin_of, number, objects
from braid.learn.words import AILMENTS, DIETS, KIN, NOT_NAMES, PEOPLES, PETS, STATUSES, listed
from braid.stance.relations import FAVOURITE, relation
from braid.text.calendar import MONTHS, SHORT_MONTHS
from braid.text.parse import Parse

_FAVOURITE: Final = re.compile(r"^(?:.*\b)?favou?rites? (?P<kind>[a-z]+(?: [a-z]+)?)$", re.IGNORECASE)
_MONEY: Final = re.compile(
    r"[£$€]\s?\d|\d[\d,.]* ?(?:k )?(?:pounds|dollars|euros?|quid|bucks|eur|usd|gbp)\b", re.IGNORECASE
)
_CODE: Final = re.compile(r"#?(?=[\w./:@-]*\d)[A-Za-z0-9][\w./:@-]{1,40}")
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_COUNTED: Final = listed(
    "invoice booking order reference ticket tracking policy account customer case flight confirmation "
    "member membership code id ref"
)
_MOODS: Final = listed(
    "happy glad sorry sure ready fine good great okay ok back here there late busy off out done true "
    "right wrong nice awesome amazing cool "
    "funny weird crazy lovely wonderful best lucky welcome able afraid over up down away home kidding "
    "joking important easy hard"
)
_NOT: Final = re.compile(r"^(?:now )?not ", re.IGNORECASE)
_ALSO: Final = re.compile(r"\b(?:too|also|as well|other|another)\b", re.IGNORECASE)
"""With these a favourite stands beside another one."""
_MONTH: Final = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d\s?[./-]\s?\d", re.IGNORECASE
)
_HOBBIES: Final = listed("hobby hobbies pastime pastimes passion passions")
_PRAISE: Final = listed(
    "awesome amazing great wonderful fantastic cool incredible lovely beautiful nice good special "
    "important inspiring sweet cute fun perfect best "
    "brilliant super exciting gorgeous stunning impressive powerful rewarding priceless hilarious "
    "adorable key true hard tough bold vivid bright chill breathtaking stunning calming peaceful "
    "rewarding fulfilling meaningful resilient welcoming pretty fancy vibrant soothing therapeutic "
    "memorable unforgettable relaxing delicious tasty rough wild hectic crazy insane epic magical "
    "majestic serene cozy cosy invaluable priceless worthwhile worth difficult easy challenging "
    "captivating lucky infectious lovable empowering motivating encouraging fascinating interesting "
    "boring refreshing delightful heartwarming touching moving"
)
_YOURS: Final = listed("you your yours yourself")
_LINE: Final = re.compile(
    r"(?:(?:new|old|work|home|mobile|cell|phone) )*(?:e-?mail|phone|number|address)\b", re.IGNORECASE
)
_HOMELY: Final = listed("balcony kitchen sofa couch terrace bathtub porch")
_GOOD: Final = listed(
    "excellent brilliant fantastic amazing wonderful superb delicious lovely great outstanding gorgeous"
)
_BAD: Final = listed("terrible awful horrible dreadful disgusting dire rubbish appalling atrocious abysmal")


def state(said: Said, who: list[Whom]) -> None:
    """Claim what a clause with "be" says of its subject."""
    parse = said.clause.parse
    if said.clause.token.tag == "VBG" and said.clause.token.dep in ("advcl", "acl", "pcomp"):
        return  # so happy, just being around people
    at = said.clause.child("attr", "acomp", "oprd") or said.clause.child("advmod", "ccomp")
    if _off(said, who):
        return
    if at is None or (parse.tokens[at].dep == "advmod" and parse.tokens[at].pos != "ADJ"):
        _placed(said, who)
        return
    subject = who[0]
    for read in (_favourite, _hobbies, _judged, _named, _aged, _kin, _office, _body, _dated, _priced, _coded):
        if read(said, subject, at):
            return
    _as_said(said, who, at)


def _off(said: Said, who: list[Whom]) -> bool:
    """I'm off to bake some cakes."""
    parse, inner = said.clause.parse, said.clause.child("xcomp")
    leaves = any(parse.tokens[child].text.lower() == "off" for child in parse.children(said.clause.verb))
    if not leaves or inner is None or said.clause.denied or said.clause.tense != "present":
        return False
    held = dates.ahead(said.part.text, said.page.turn.when)
    what = from_outside(shown(parse, *said_of(parse, inner)))
    for one in who:
        said.page.claim(said.part, said.voice, one.name, "plans_to", what, held=held, type="goal")
    return True


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
    role = kin_of(parse, said.clause.subject)
    pet = parse.tokens[said.clause.subject].lemma.lower()
    if owner is None or (role is None and pet not in PETS):
        return False
    if _is_former(said, said.clause.subject):
        return True
    for one in joined(parse, at):
        name = noun(parse, one, bare=True)
        if said.clause.denied:
            rel = "pet" if pet in PETS else KIN[role or ""]
            if rel:
                said.page.claim(said.part, said.voice, owner, rel, name, polarity=False, type="relation")
        elif pet in PETS:
            said.page.introduce(pet, name, owner)
            said.page.claim(said.part, said.voice, owner, "pet", name, type="relation")
            said.page.claim(said.part, said.voice, name, "is_a", pet)
        elif role is not None and KIN[role]:
            said.page.introduce(role, name, owner)
            said.page.claim(said.part, said.voice, owner, KIN[role], name, type="relation")
    return True


def _is_former(said: Said, at: int) -> bool:
    """My former boss was Hannah; my partner's name was Jonas: who may be it no more. A mother stays one."""
    role = kin_of(said.clause.parse, at)
    lasts = role is not None and relation(KIN[role]).temporal == "trait"
    return (said.clause.tense == "past" and not lasts) or has_former(said.clause.parse, at)


def parted(said: Said, who: list[Whom]) -> bool:
    """We got engaged last night; my sister's getting married in May; my hobby is beekeeping."""
    parse = said.clause.parse
    low = said.clause.token.text.lower()
    if (
        said.clause.subject is not None
        and parse.tokens[said.clause.subject].text.lower() in _HOBBIES
        and said.clause.token.tag == "VBG"
        and said.clause.child("dobj") is None
    ):
        said.page.claim(
            said.part,
            said.voice,
            said.page.turn.speaker,
            "hobby",
            shown(parse, *said.clause.said),
            type="interest",
        )
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
            said.page.claim(
                said.part, said.voice, one.name, "plans_to", "get married", held=ahead, type="goal"
            )
        elif to is not None and is_name(parse, to):
            _say(
                said._replace(clause=said.clause._replace(tense="present")),
                one.name,
                f"{low}_to",
                noun(parse, to, bare=True),
                "relation",
            )
        else:
            said.page.claim(
                said.part,
                said.voice,
                one.name,
                "relationship_status",
                low,
                polarity=not said.clause.denied,
                held=dates.Validity(dates.past(said.part.text, said.page.turn.when).since),
            )
    return True


def _say(
    said: Said,
    name: str,
    rel: str,
    what: str,
    type: str = "fact",
    *,
    held: dates.Validity | None = None,
) -> bool:
    past = said.clause.tense == "past" and type == "fact"
    if past and rel not in ("costs", "is_on", "number_is"):
        rel = "was"
    lasted = said.clause.tense != "past"  # we were teammates for four years: not since when
    bounds = dates.bounds(said.part.text, said.page.turn.when, lasted=lasted) if held is None else held
    said.page.claim(
        said.part, said.voice, name, rel, what, polarity=not said.clause.denied, held=bounds, type=type
    )
    return True


def _favourite(said: Said, subject: Whom, at: int) -> bool:
    """My favourite film is Amélie; blue is my favourite colour."""
    parse = said.clause.parse
    sides = (
        shown(parse, *_whole(parse, said.clause.subject)) if said.clause.subject is not None else "",
        shown(parse, *_whole(parse, at)),
    )
    for side, other in ((0, at), (1, said.clause.subject)):
        if said.clause.tense == "past":
            break  # as a child my favourite colour was green
        match = _FAVOURITE.match(
            re.sub(r"\b(?:at the moment|of all time|right now|ever|so far)$", "", sides[side]).strip()
        )
        mine = re.match(r"(?:my|our)\b", sides[side], re.IGNORECASE)
        if match and mine and other is not None:
            kind = re.sub(r"\W+", "_", match["kind"].lower())
            for what in _favourites(parse, other, several=said.clause.token.text.lower() == "are"):
                said.page.claim(
                    said.part,
                    said.voice,
                    said.page.turn.speaker,
                    "likes" if _ALSO.search(said.part.text) else f"{FAVOURITE}{kind}",
                    what,
                    polarity=not said.clause.denied,
                    type="preference",
                )
            return True
    return False


def _favourites(parse: Parse, at: int, *, several: bool) -> list[str]:
    """Return what somebody's favourite is; of favourites that "are", each of a list."""
    if parse.tokens[at].tag == "VBG":
        return [shown(parse, *said_of(parse, at))]
    if not several:
        return objects(parse, at, "")
    return [text for one in joined(parse, at) if (text := noun(parse, one))]


def _hobbies(said: Said, subject: Whom, at: int) -> bool:
    parse = said.clause.parse
    if said.clause.tense == "past":
        return False  # acting was my first passion
    if said.clause.subject is not None and parse.tokens[said.clause.subject].text.lower() in _HOBBIES:
        side = at
    elif parse.tokens[at].text.lower() in _HOBBIES and said.clause.subject is not None:
        side = said.clause.subject
    else:
        return False
    for one in joined(parse, side):
        what = shown(parse, *said_of(parse, one)) if parse.tokens[one].tag == "VBG" else noun(parse, one)
        said.page.claim(
            said.part,
            said.voice,
            said.page.turn.speaker,
            "hobby",
            what[:1].lower() + what[1:],
            type="interest",
        )
    return True


def _judged(said: Said, subject: Whom, at: int) -> bool:
    """My sister says that it's terrible; it was excellent: whoever says so likes the place, or doesn't."""
    word = said.clause.parse.tokens[at].text.lower()
    is_good = word in _GOOD
    if (
        subject.sort != "thing"
        or subject.name != said.page.thing
        or said.page.wry
        or not (is_good or word in _BAD)
    ):
        return False
    if said.clause.mode == "planned" or (said.clause.denied and is_good):
        return False
    holder = said.voice.said_by or said.page.turn.speaker
    rel = "likes" if is_good or said.clause.denied else "dislikes"
    said.page.claim(said.part, said.voice, holder, rel, subject.name, type="preference")
    return True


def _whole(parse: Parse, at: int) -> tuple[int, int]:
    found = sorted(subtree(parse, at, frozenset(("relcl", "conj", "cc", "punct"))))
    return found[0], found[-1]


def _named(said: Said, subject: Whom, at: int) -> bool:
    """My name is Kofi; hi, I'm Beatriz; my brother's name is Felix; Ida is Greek."""
    parse = said.clause.parse
    word = parse.tokens[at].text
    if subject.sort != "thing" and word[:1].isupper() and word.lower() in PEOPLES and not parse.children(at):
        return _say(said, subject.name, "nationality", word)
    if not is_name(parse, at) or parse.tokens[at].text in NOT_NAMES or said.clause.subject is None:
        return False
    name = noun(parse, at, bare=True)
    head = parse.tokens[said.clause.subject]
    if head.text.lower() == "name":
        return _name_of(said, said.clause.subject, name)
    if subject.sort == "first" and len(name.split()) <= 3 and len(parse.tokens) <= 12:
        opener = parse.text[: parse.tokens[said.clause.subject].start].strip(" ,.!").lower()
        if opener in ("", "hi", "hello", "hey", "hi there", "hello there"):
            return _say(said, subject.name, "name_is", name)
    return False


def _name_of(said: Said, subject: int, name: str) -> bool:
    """My name is Kofi; my brother's name is Felix; Tom's brother's name is Felix."""
    parse = said.clause.parse
    owner = next((one for one in parse.children(subject) if parse.tokens[one].dep == "poss"), None)
    role = kin_of(parse, owner) if owner is not None else None
    if owner is None or role is None:
        mine = owner is not None and parse.tokens[owner].text.lower() in ("my", "our")
        return mine and _say(said, said.page.turn.speaker, "name_is", name)
    whose = owner_of(said.page, parse, owner)
    if whose is not None and not _is_former(said, owner):
        said.page.introduce(role, name, whose)
        _say(said, whose, KIN[role] or role, name, "relation")
    return True


def _aged(said: Said, subject: Whom, at: int) -> bool:
    parse = said.clause.parse
    token = parse.tokens[at]
    if subject.sort == "thing":
        return False
    who = said.clause.subject
    if token.pos == "NUM" and who is not None and parse.tokens[who].text.lower() in ("we", "they"):
        return True  # "we're five" counts heads: nobody's age, and nobody is five
    text = token.text
    if text.lower() == "one" or len(joined(parse, at)) > 1:
        return False  # my children are 9 and 12
    if token.lemma.lower() == "old":
        years = [word for word in words_of(parse, said.clause.verb + 1, at) if number(word.text)]
        text = (
            years[0].text
            if years and any(word.lemma == "year" for word in words_of(parse, said.clause.verb + 1, at))
            else ""
        )
    behind = parse.tokens[at + 1].text.lower() if at + 1 < len(parse.tokens) else ""
    found = number(text) if token.pos == "NUM" or token.lemma.lower() == "old" else None
    if (
        found is None
        or behind in ("of", "minutes", "hours", "percent", "%", "am", "pm")
        or float(found.replace(",", "")) > 120
    ):
        return False
    return _say(said, subject.name, "age_is", found)


def _kin(said: Said, subject: Whom, at: int) -> bool:
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
        return _say(said, said.page.turn.speaker, KIN[role], subject.name, "relation")
    low = parse.tokens[at].text.lower()
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
            return _say(said, subject.name, f"{low}_to", noun(parse, to, bare=True), "relation")
        return _say(said, subject.name, "relationship_status", low)
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
        _say(said, owner, KIN[role], name, "relation")
    return True


def _is_mine(parse: Parse, at: int) -> bool:
    return any(parse.tokens[child].text.lower() in ("my", "our") for child in parse.children(at))


def _office(said: Said, subject: Whom, at: int) -> bool:
    """I'm a data engineer at Fernhill Logistics."""
    parse = said.clause.parse
    if subject.sort == "thing" or parse.tokens[at].pos not in ("NOUN", "PROPN"):
        return False
    what = SORTS["trade"](parse, at)
    if what is None or re.match(
        r"(?:terrible|bad|good|great|big|best|huge|real|born)\b", what, re.IGNORECASE
    ):
        return False
    _say(said, subject.name, "works_as", what)
    for prep in (*parse.children(at), *parse.children(said.clause.verb)):
        if parse.tokens[prep - 1].text == ",":
            continue  # an electrician, with papers
        if parse.tokens[prep].dep == "prep" and parse.tokens[prep].lemma in ("at", "for", "with"):
            for inner in parse.children(prep):
                for place in (
                    objects(parse, inner, "organisation") if parse.tokens[inner].dep == "pobj" else []
                ):
                    _say(said, subject.name, "works_at", place)
    return True


def _body(said: Said, subject: Whom, at: int) -> bool:
    parse = said.clause.parse
    low = parse.tokens[at].text.lower()
    if subject.sort == "thing":
        return False
    words = " ".join(token.text.lower() for token in words_of(parse, said.clause.verb + 1, at))
    if low in DIETS or parse.tokens[at].lemma.lower() in DIETS:
        return _say(said, subject.name, "diet", parse.tokens[at].lemma.lower(), "preference")
    if low == "intolerant" and at > said.clause.verb + 1:
        return _say(
            said,
            subject.name,
            "has_condition",
            f"{words.removesuffix(' intolerant')} intolerance",
            "health",
        )
    if parse.tokens[at].lemma.lower() in PETS and subject.sort == "person":
        return _say(said, subject.name, "is_a", parse.tokens[at].lemma.lower())
    if low in AILMENTS:
        return _say(said, subject.name, "has_condition", low, "health")
    return False


def expires(said: Said, subject: Whom) -> bool:
    """My passport runs out on 3 September."""
    if said.clause.lemma not in ("expire", "run out") or subject.sort != "thing" or said.clause.denied:
        return False
    first, last = said.clause.said
    held = dates.ahead(shown(said.clause.parse, first, last), said.page.turn.when)
    if held.since is None or held.until is None or (held.until - held.since).days > 1:
        return False
    said.page.claim(said.part, said.voice, subject.name, "expires_on", held.since.date().isoformat())
    return True


_NOW: Final = re.compile(r"[^.!?]*\bnow\b", re.IGNORECASE)
_MONTHS: Final = "|".join((*MONTHS, *SHORT_MONTHS))
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_UP_TO: Final = r"(?: ?[-–—] ?| (?:to|until|till|and) (?:the )?)"
_SPAN: Final = re.compile(
    rf"\b{_DAY}(?: (?:{_MONTHS}))?{_UP_TO}{_DAY} (?:of )?(?:{_MONTHS})\b"
    rf"|\b(?:{_MONTHS}) {_DAY}{_UP_TO}(?:(?:{_MONTHS}) )?{_DAY}\b(?![:.]\d)",
    re.IGNORECASE,
)


def _dated(said: Said, subject: Whom, at: int) -> bool:
    """The concert is tomorrow; my birthday is June 3rd. Not: retention is 90 days from today."""
    if subject.sort != "thing" or said.clause.parse.tokens[at].lemma in ("day", "week", "month", "year"):
        return False
    return _dated_by(
        said,
        subject,
        shown(said.clause.parse, said.clause.verb + 1, said.clause.said[1]),
    )


def _dated_by(said: Said, subject: Whom, words: str) -> bool:
    when = said.page.turn.when
    if subject.name.lower().endswith("birthday"):
        owner = (
            subject.name[: -len("birthday")].strip().removesuffix("'s").removesuffix("’s")
            or said.page.turn.speaker
        )
        held = dates.day(words, dates.LEAP)
        if held.since is None or not _MONTH.search(words):
            return False  # my birthday is the 21st: of which month isn't said
        return _say(
            said,
            owner,
            "birthday",
            f"{held.since.day} {MONTHS[held.since.month - 1].title()}",
        )
    if _SPAN.search(words):
        return False  # from 3 to 17 August: neither day is that of the whole
    if said.clause.tense == "past" and _NOW.match(said.page.text, said.part.stop):
        return False  # the review was on Monday, it's now on Wednesday
    held = dates.past(words, when) if said.clause.tense == "past" else dates.ahead(words, when)
    if held.since is None or held.until is None or (held.until - held.since).days > 1:
        return False
    return _say(said, subject.name, "is_on", held.since.date().isoformat(), held=dates.NEVER)


def _priced(said: Said, subject: Whom, at: int) -> bool:
    text = shown(said.clause.parse, said.clause.verb + 1, said.clause.said[1])
    found = _MONEY.search(text)
    if subject.sort != "thing" or found is None or len(text.split()) > 6 or "," in text[: found.start()]:
        return False
    return _say(said, subject.name, "costs", text)


def _coded(said: Said, subject: Whom, at: int) -> bool:
    """My email is kofi@mail.example; the invoice is INV-2034; the limit is 500."""
    parse = said.clause.parse
    if subject.sort != "thing":
        return False
    name = subject.name
    text = shown(parse, said.clause.verb + 1, said.clause.said[1]).partition(", not ")[0]
    mail = _MAIL.search(text)
    for word, rel in (
        ("email", "email_is"),
        ("e-mail", "email_is"),
        ("phone", "phone_is"),
        ("number", "phone_is"),
        ("address", "address_is"),
    ):
        if (
            name.startswith(f"{said.page.turn.speaker}'s ")
            and _LINE.match(name.removeprefix(f"{said.page.turn.speaker}'s "))
            and word in name.removeprefix(f"{said.page.turn.speaker}'s ").split()[:2]
        ):
            what = mail[0] if mail and rel == "email_is" else text
            return _say(said, said.page.turn.speaker, rel, what)
    code = _CODE.search(text)
    if code is None or len(text.split()) > 8:
        return False
    if set(name.lower().split()) & _COUNTED and text.startswith(code[0]) and len(code[0]) > 2:
        return _say(said, name, "number_is", code[0])
    if text.startswith(code[0]) or (len(text.split()) <= 4 and "," not in text[: code.start()]):
        return _say(said, name, "value_is", text)
    return False


def _placed(said: Said, who: list[Whom]) -> None:
    """The interview is on Thursday; my flat is on the third floor."""
    parse = said.clause.parse
    _, last = said.clause.said
    if last <= said.clause.verb or said.clause.child("prep", "npadvmod") is None:
        return
    words = shown(parse, said.clause.verb + 1, last)
    if who[0].sort == "thing" and _dated_by(said, who[0], words):
        return
    if _coded(said, who[0], last):
        return
    if any(word.lower() in _YOURS for word in words.split()) or len(words) > 200:
        return
    if not any(
        token.pos in ("NOUN", "PROPN", "NUM") for token in parse.tokens[said.clause.verb + 1 : last + 1]
    ) or words.lower().startswith("at it "):
        return
    for one in who:
        own = from_outside(words) if one.sort == "first" else from_beside(words, said.page.turn.speaker)
        _say(said, one.name, "is", own)
        if one.sort == "first" and (town := _at_home(said.clause)) is not None and not said.clause.denied:
            seen = said.voice._replace(source_type="implicit_unintentional")
            said.page.claim(said.part, seen, one.name, "lives_in", town)


def _at_home(clause: Clause) -> str | None:
    """Return the town of somebody who is where people are at home: I'm on the balcony in Porto."""
    tokens = clause.parse.tokens
    if clause.tense != "present":
        return None
    homely = [at for _, _, at in clause.preps() if tokens[at].lemma.lower() in _HOMELY]
    for at in homely:
        around = {at, clause.verb}
        for prep in (
            place for place, token in enumerate(tokens) if token.text == "in" and token.head in around
        ):
            for inner in clause.parse.children(prep):
                if prep > at and is_name(clause.parse, inner):
                    return noun(clause.parse, inner, bare=True)
    return None


def is_general(clause: Clause) -> bool:
    """Whether a clause speaks of a kind, not of one thing: pets are awesome. Numbers and names make it one."""
    if clause.subject is None:
        return True
    parse = clause.parse
    first, last = clause.said
    if any(
        token.pos in ("NUM", "PROPN") or token.text.lower() in ("me", "my", "us")
        for token in parse.tokens[first + 1 : last + 1]
    ):
        return False
    deps = {parse.tokens[child].dep for child in parse.children(clause.subject)}
    return parse.tokens[clause.subject].pos != "PROPN" and not deps & {"det", "poss", "nummod"}


def _as_said(said: Said, who: list[Whom], at: int) -> None:  # noqa: PLR0911 - one decision a line
    parse = said.clause.parse
    _, last = said.clause.said
    start = next(
        (
            number
            for number in range(said.clause.verb + 1, last + 1)
            if parse.tokens[number].dep not in ("neg", "punct")
            and (parse.tokens[number].pos != "DET" or parse.tokens[number].text.lower() == "no")
            and parse.tokens[number].text.lower()
            not in (
                "so",
                "really",
                "just",
                "very",
                "also",
                "still",
                "such",
                "n't",
                "n’t",
                "quite",
            )
        ),
        None,
    )
    if start is None or start > last:
        return
    words = _NOT.sub("", shown(parse, start, last)) if said.clause.denied else shown(parse, start, last)
    token = parse.tokens[at]
    if (
        any(word.lower() in _YOURS for word in words.split())
        or len(words) > 200
        or said.page.wry
        or said.page.angry
    ):
        return
    if token.lemma.lower() in _MOODS and last == at:
        return
    if (
        who[0].sort == "thing"
        and (token.pos == "ADJ" or token.lemma.lower() in _PRAISE)
        and last - start < 2
        and (token.lemma.lower() in _PRAISE or is_general(said.clause))
    ):
        return
    if (
        who[0].sort == "thing"
        and (is_general(said.clause) or parse.tokens[said.clause.subject or 0].pos == "PRON")
        and (
            token.lemma.lower() in _PRAISE
            or any(parse.tokens[child].lemma.lower() in _PRAISE for child in parse.children(at))
        )
    ):
        return
    if token.pos == "PRON" or said.clause.mode == "planned":
        return
    if topic(words) == who[0].name:
        return
    for one in who:
        own = from_outside(words) if one.sort == "first" else from_beside(words, said.page.turn.speaker)
        _say(said, one.name, "is", own)
