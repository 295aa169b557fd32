"""What "it", "they", "he" and "she" stand for: the nearest clause's subject before its objects, of the same number and
sex. Pure.

Where two in one clause fit, none does. Source: Lappin and Leass (1994), of whose weights only the order is used.
"""

from collections.abc import Iterator
from typing import Final

from braid.learn.parse.phrases import is_name, joined
from braid.learn.parse.sorts import is_empty, kin_of
from braid.learn.words import FEMALE, MALE, NOT_NAMES, PETS, TRADES
from braid.text.calendar import TIME_WORDS
from braid.text.parse import Parse
from braid.text.words import listed

_PERSONAL: Final = {"he": FEMALE, "she": MALE}
"""Pronouns of one person, and the words for whom they don't stand."""
_OF_NOTHING: Final = listed(
    "rain snow pour take seem turn look appear feel sound mean depend matter help happen go"
)
"""Verbs whose "it" often means no thing: it rains, it takes an hour."""
TIMES: Final = TIME_WORDS | {"time", "moment", "minute", "second", "name"}
_PEOPLE: Final = listed(
    "man woman guy bloke lad lass boy girl kid baby child toddler person student pupil client customer patient guest"
)
_SOMEBODY: Final = PETS | TRADES | _PEOPLE
_CLAUSES: Final = frozenset(("ROOT", "conj", "ccomp", "parataxis"))
"""How a verb hangs whose nouns are spoken of; what "who" and "that" add isn't."""
_CAUSES: Final = listed(
    "make remind show keep drive push inspire motivate change help give bring let teach get"
)
"""What a whole story does to who tells it: it made me realise."""
_FURTHEST: Final = 3
"""So many clauses back, what is meant is named again."""


def antecedent(parse: Parse, at: int, before: Parse | None) -> tuple[Parse, int] | None:
    """Return the noun that a pronoun stands for, with the parse that it is in: this one, or the one `before`; None
    where none fits, or more than one.
    """
    word = parse.word(at)
    if word not in ("it", "they", *_PERSONAL) or (word == "it" and _is_of_nothing(parse, at)):
        return None
    clauses = [(parse, verb) for verb in _verbs(parse, at)]
    if before is not None:
        clauses += [(before, verb) for verb in _verbs(before, len(before.tokens))]
    for one, verb in clauses[:_FURTHEST]:
        for nouns in _by_rank(one, verb, at if one is parse else len(one.tokens)):
            found = [noun for noun in nouns if _fits(one, noun, word)]
            if found:
                is_open = len(found) > 1 or (word in _PERSONAL and _is_of_somebody(one, found[0]))
                return None if is_open else (one, found[0])
    return None


def _verbs(parse: Parse, stop: int) -> Iterator[int]:
    """Yield the verbs of the clauses that stand before a token, the nearest first."""
    own = parse.tokens[stop].head if stop < len(parse.tokens) else None
    for at in range(stop - 1, -1, -1):
        token = parse.tokens[at]
        is_clause = token.pos in ("VERB", "AUX") and token.dep in _CLAUSES
        if is_clause and at != own:
            yield at


def _by_rank(parse: Parse, verb: int, stop: int) -> Iterator[list[int]]:
    """Yield the nouns of a clause that stand before a token: its subject, what it is done to, whose and with whom."""
    tokens = parse.tokens
    subjects = [one for one in parse.children(verb, "nsubj", "nsubjpass") if one < stop]
    objects = [one for one in parse.children(verb, "dobj", "dative") if one < stop]
    governed = [
        inner
        for prep in parse.children(verb, "prep")
        if parse.word(prep) in ("about", "on", "for")
        for inner in parse.children(prep, "pobj")
        if inner < stop
    ]
    yield subjects[-1:]
    yield objects
    if not objects and all(tokens[one].pos == "PRON" for one in subjects):
        yield governed
    yield [
        inner
        for one in (*subjects, *objects)
        for inner in parse.children(one, "poss", "appos")
        if inner < stop
    ]


def _fits(parse: Parse, at: int, word: str) -> bool:
    token = parse.tokens[at]
    low = token.text.lower()
    if (
        token.pos not in ("NOUN", "PROPN")
        or is_empty(parse, at)
        or low in TIMES
        or token.lemma.lower() in TIMES
    ):
        return False
    several = len(joined(parse, at)) > 1
    if word == "they":
        return token.tag == "NNS" or several
    if several or token.tag in ("NNS", "NNPS"):
        return False
    if word == "it":
        return token.tag == "NN" and not is_somebody(parse, at) and token.text[:1].islower()
    return is_somebody(parse, at) and low not in _PERSONAL[word]


def _is_of_somebody(parse: Parse, at: int) -> bool:
    """Mother's doctor stopped them, she was dizzy: either may be meant; but not of "Nabil's son"."""
    return kin_of(parse, at) is None and any(is_somebody(parse, one) for one in parse.children(at, "poss"))


def is_somebody(parse: Parse, at: int) -> bool:
    """Whether a noun is of a person or a pet, by its word or by how its name is used."""
    token = parse.tokens[at]
    if kin_of(parse, at) is not None or token.lemma.lower() in _SOMEBODY:
        return True
    named = [one for one in parse.children(at, "appos") if is_name(parse, one)]
    if named:
        return True
    if at == 0 and token.tag == "NN" and token.text[:1].isupper() and not parse.children(at):
        return not token.text.endswith("ing")  # Theo broke his wrist: no article, and he
    by_place = (
        token.dep in ("nsubj", "nsubjpass", "dobj", "dative", "poss") or parse.word(token.head) == "with"
    )
    return by_place and is_name(parse, at) and token.text not in NOT_NAMES and parse.child(at, "det") is None


def _is_of_nothing(parse: Parse, at: int) -> bool:
    """Whether "it" means no thing, what is said behind it, or a whole story: it rains; it's great to see you; it's the
    stairs; it made me think.
    """
    tokens, verb = parse.tokens, parse.tokens[at].head
    lemma = tokens[verb].lemma.lower()
    if lemma in _OF_NOTHING or tokens[at].dep == "expl":
        return True
    if lemma in _CAUSES and any(
        one.text.lower() in ("me", "us", "you") for one in parse.tokens[verb + 1 : verb + 3]
    ):
        return True
    said = [verb, *parse.children(verb, "acomp", "attr")]
    is_be = lemma == "be" or any(one.lemma == "be" for one in parse.around(verb))
    if is_be and any(
        child > verb for one in said for child in parse.children(one, "ccomp", "xcomp", "advcl", "csubj")
    ):
        return True
    shown = parse.child(verb, "attr")
    if lemma != "be" or shown is None:
        return False
    return bool(
        tokens[shown].pos in ("PRON", "PROPN")
        or parse.words_on(shown) & {"a", "an", "the", "this", "that", "my", "our", "your", "such"}
        or tokens[shown].lemma.lower() in TIMES
        or parse.child(shown, "relcl", "acl") is not None
    )
