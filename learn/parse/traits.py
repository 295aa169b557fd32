"""What a person is like: favourites, hobbies, verdicts, age, trade, diet and health. Pure."""

import re
from typing import Final

from braid.learn.parse.people import Whom
from braid.learn.parse.phrases import joined, noun, said_of, shown, subtree, words_of
from braid.learn.parse.said import Said, say
from braid.learn.parse.sorts import SORTS, number, objects
from braid.learn.words import AILMENTS, DIETS, PETS
from braid.stance.relations import FAVOURITE
from braid.text.parse import Parse
from braid.text.words import listed

_FAVOURITE: Final = re.compile(r"^(?:.*\b)?favou?rites? (?P<kind>[a-z]+(?: [a-z]+)?)$", re.IGNORECASE)
_ALSO: Final = re.compile(r"\b(?:too|also|as well|other|another)\b", re.IGNORECASE)
"""With these a favourite stands beside another one."""
HOBBIES: Final = listed("hobby hobbies pastime pastimes passion passions")
_GOOD: Final = listed(
    "excellent brilliant fantastic amazing wonderful superb delicious lovely great outstanding gorgeous"
)
_BAD: Final = listed("terrible awful horrible dreadful disgusting dire rubbish appalling atrocious abysmal")


def favourite(said: Said, subject: Whom, at: int) -> bool:
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
                said.claim(
                    said.speaker,
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


def _whole(parse: Parse, at: int) -> tuple[int, int]:
    found = sorted(subtree(parse, at, frozenset(("relcl", "conj", "cc", "punct"))))
    return found[0], found[-1]


def hobbies(said: Said, subject: Whom, at: int) -> bool:
    """My hobbies are chess and baking bread; painting is my passion."""
    parse = said.clause.parse
    if said.clause.tense == "past":
        return False  # acting was my first passion
    if said.clause.subject is not None and parse.word(said.clause.subject) in HOBBIES:
        side = at
    elif parse.word(at) in HOBBIES and said.clause.subject is not None:
        side = said.clause.subject
    else:
        return False
    for one in joined(parse, side):
        what = shown(parse, *said_of(parse, one)) if parse.tokens[one].tag == "VBG" else noun(parse, one)
        said.claim(said.speaker, "hobby", what[:1].lower() + what[1:], type="interest")
    return True


def judged(said: Said, subject: Whom, at: int) -> bool:
    """My sister says that it's terrible; it was excellent: whoever says so likes the place, or doesn't."""
    word = said.clause.parse.word(at)
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
    holder = said.voice.said_by or said.speaker
    rel = "likes" if is_good or said.clause.denied else "dislikes"
    said.claim(holder, rel, subject.name, type="preference")
    return True


def aged(said: Said, subject: Whom, at: int) -> bool:
    """I'm 34; my daughter is seven years old."""
    parse = said.clause.parse
    token = parse.tokens[at]
    if subject.sort == "thing":
        return False
    who = said.clause.subject
    if token.pos == "NUM" and who is not None and parse.word(who) in ("we", "they"):
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
    behind = parse.word(at + 1) if at + 1 < len(parse.tokens) else ""
    found = number(text) if token.pos == "NUM" or token.lemma.lower() == "old" else None
    if (
        found is None
        or behind in ("of", "minutes", "hours", "percent", "%", "am", "pm")
        or float(found.replace(",", "")) > 120
    ):
        return False
    return say(said, subject.name, "age_is", found)


def office(said: Said, subject: Whom, at: int) -> bool:
    """I'm a data engineer at Fernhill Logistics."""
    parse = said.clause.parse
    is_person = subject.sort != "thing" and not subject.name[:1].isdigit()
    if not is_person or said.clause.denied or parse.tokens[at].pos not in ("NOUN", "PROPN"):
        return False  # I'm not a monk
    what = SORTS["trade"](parse, at)
    if what is None or re.match(
        r"(?:terrible|bad|good|great|big|best|huge|real|born)\b", what, re.IGNORECASE
    ):
        return False
    say(said, subject.name, "works_as", what)
    for prep in (*parse.children(at), *parse.children(said.clause.verb)):
        if parse.tokens[prep - 1].text == ",":
            continue  # an electrician, with papers
        if parse.tokens[prep].dep == "prep" and parse.tokens[prep].lemma in ("at", "for", "with"):
            for inner in parse.children(prep, "pobj"):
                for place in objects(parse, inner, "organisation"):
                    say(said, subject.name, "works_at", place)
        if parse.tokens[prep].dep == "prep" and parse.tokens[prep].lemma == "from":
            for inner in parse.children(prep):
                if (town := SORTS["name"](parse, inner)) is not None and not said.clause.denied:
                    say(said, subject.name, "comes_from", town)  # a plumber from Gdynia
    return True


def body(said: Said, subject: Whom, at: int) -> bool:
    """I'm vegan; I'm lactose intolerant; I'm coeliac; Rex is a dog."""
    parse = said.clause.parse
    low = parse.word(at)
    if subject.sort == "thing":
        return False
    words = " ".join(token.text.lower() for token in words_of(parse, said.clause.verb + 1, at))
    if low in DIETS or parse.lemma(at) in DIETS:
        return say(said, subject.name, "diet", parse.lemma(at), "preference")
    if low == "intolerant" and at > said.clause.verb + 1:
        return say(
            said,
            subject.name,
            "has_condition",
            f"{words.removesuffix(' intolerant')} intolerance",
            "health",
        )
    if parse.lemma(at) in PETS and subject.sort == "person":
        return say(said, subject.name, "is_a", parse.lemma(at))
    if low in AILMENTS:
        return say(said, subject.name, "has_condition", low, "health")
    return False
