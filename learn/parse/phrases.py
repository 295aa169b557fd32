"""Spans of a parse: noun phrases, their joined parts, what a verb says with all that hangs on it. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from braid.text.parse import Parse, Token
from braid.text.sentences import TextPart

_LEFT_OUT: Final = frozenset(
    ("relcl", "advcl", "parataxis", "punct", "ccomp", "intj", "dep", "discourse", "meta")
)
_JOINS: Final = frozenset(("conj", "cc", "preconj"))
_FIRST: Final = {
    "my": "their",
    "our": "their",
    "me": "them",
    "myself": "themselves",
    "us": "them",
    "ourselves": "themselves",
    "i": "they",
    "we": "they",
    "i'm": "they're",
    "we're": "they're",
    "i've": "they've",
    "we've": "they've",
    "i'd": "they'd",
    "i'll": "they'll",
    "we'll": "they'll",
    "mine": "theirs",
}
_AM: Final = re.compile(r"\bI (am|was|'m)\b")
_PLURAL: Final = {"am": "they are", "was": "they were", "'m": "they're"}
_NEARLY: Final = frozenset(("basically", "practically", "virtually", "essentially", "nearly", "almost"))
_THANKS: Final = frozenset(("thanks", "cheers", "ta", "thx", "lads", "guys", "folks", "dude", "bro"))
"""Said to who listens, at the end of what is said, behind a number, an adverb or a comma."""
_SMALL: Final = frozenset(("the", "a", "an", "this", "that", "these", "those", "my", "our", "some", "any"))


def subtree(parse: Parse, at: int, leave: frozenset[str] = frozenset()) -> Iterator[int]:
    """Yield a token and all that hangs on it, but for branches that hang in one of the ways `leave`; in no order."""
    tokens, stack = parse.tokens, [at]
    while stack:
        number = stack.pop()
        yield number
        hanging = parse.children(number)
        stack += [child for child in hanging if tokens[child].dep not in leave] if leave else hanging


def phrase_of(parse: Parse, at: int, leave: frozenset[str] = frozenset()) -> tuple[int, int]:
    """Return the first and the last token of the noun phrase that a token heads, articles and what is joined left
    out.
    """
    found = sorted(subtree(parse, at, _LEFT_OUT | _JOINS | leave | {"appos"}))
    first = last = at
    wanted = set(found)
    while first - 1 in wanted:
        first -= 1
    while last + 1 in wanted or (last + 2 in wanted and _is_tie(parse.tokens[last + 1])):
        last += 1
    while first < at and parse.word(first) in _SMALL:
        first += 1
    while last > at and parse.tokens[last].pos in ("PUNCT", "ADP", "CCONJ", "SPACE"):
        last -= 1
    return first, last


def _is_tie(token: Token) -> bool:
    """Whether a mark holds two words together: a hyphen, a slash, an apostrophe."""
    return token.text in ("-", "/", "'", "’", "–", "&", "@", ".")


def shown(parse: Parse, first: int, last: int) -> str:
    """Return the words from one token to another, as they were written; a full stop that ends the sentence is none."""
    if first > last:
        return ""
    text = parse.text[parse.tokens[first].start : parse.tokens[last].stop].replace("\x00", " ")
    if last == len(parse.tokens) - 1 and text.endswith(".") and text.count(".") == 1:
        text = text[:-1]
    return text.strip(" ,;:-–—\n")


def part_of(sentence: TextPart, parse: Parse, first: int, last: int) -> TextPart:
    """Return the part of a sentence from one token of its parse to another."""
    start, stop = parse.tokens[first].start, parse.tokens[last].stop
    return TextPart(parse.text[start:stop], sentence.start + start, sentence.start + stop, sentence.mark)


def noun(parse: Parse, at: int, *, bare: bool = False) -> str:
    """Return the noun phrase that a token heads, without its article. `bare`: without what is tied on by
    prepositions.
    """
    leave = frozenset(("prep", "acl", "npadvmod", "advmod")) if bare else frozenset[str]()
    return shown(parse, *phrase_of(parse, at, leave))


def joined(parse: Parse, at: int) -> list[int]:
    """Return a token and those joined to it by "and", commas or "or", in order."""
    found = [at]
    for one in found:
        found += [child for child in parse.children(one, "conj") if child not in found]
        # What looks like an apposition is one more of a list where it is itself joined to something.
        found += [child for child in parse.children(one, "appos") if parse.child(child, "conj") is not None]
    return sorted(set(found))


def is_figurative(parse: Parse, at: int) -> bool:
    """Whether a verb is only nearly so: I'm basically married to my job; we nearly called her Ivy."""
    return bool(parse.words_on(at) & _NEARLY)


def is_name(parse: Parse, at: int) -> bool:
    """Whether a noun phrase is a name."""
    return parse.tokens[at].pos == "PROPN" and parse.tokens[at].text[:1].isupper()


def said_of(parse: Parse, verb: int) -> tuple[int, int]:
    """Return the first and last token of what a verb says: itself, its objects, and what is tied on behind it."""
    tokens = parse.tokens
    others = {
        child
        for child in parse.children(verb, "conj", "parataxis", "advcl", "cc", "punct", "intj", "meta", "dep")
        if not (
            tokens[child].dep == "advcl"
            and child > verb
            and (
                _shares_subject(parse, child)
                or _is_purpose(parse, child)
                or _is_condition(parse, verb, child)
            )
        )
        and not _is_second_thing(parse, verb, child)
    }
    right = [
        number
        for child in parse.children(verb)
        if child > verb and child not in others
        for number in subtree(parse, child, frozenset(("parataxis",)))
        if number > verb
    ]
    right = _close(parse, right)
    last = verb
    wanted = {verb, *right}
    while last + 1 < len(tokens) and (
        last + 1 in wanted
        or (last + 2 in wanted and tokens[last + 1].pos == "PUNCT" and last + 2 - verb < 40)
    ):
        last += 1
    while last > verb and (
        tokens[last].pos in ("PUNCT", "CCONJ", "SPACE")
        or (tokens[last].pos == "INTJ" and tokens[last - 1].lemma != "say")
        or (tokens[last].text.lower() in _THANKS and tokens[last - 1].pos in ("NUM", "ADV", "PUNCT"))
    ):
        last -= 1
    return verb, last


def _shares_subject(parse: Parse, at: int) -> bool:
    """Whether a verb in -ing says how it is done: came off the wall laughing; not: has a cold so we're staying."""
    around = parse.around(at)
    own = any(one.dep == "nsubj" and one.pos == "PRON" for one in around)
    return parse.tokens[at].tag == "VBG" and (
        not own or any(one.dep == "mark" or one.tag == "WRB" for one in around)
    )


def _is_second_thing(parse: Parse, verb: int, at: int) -> bool:
    """Whether what is joined to a verb is one more thing of it: the one in the car and the one after supper."""
    tokens = parse.tokens
    return (
        tokens[at].dep == "conj"
        and tokens[at].pos in ("NOUN", "PROPN", "NUM")
        and parse.child(at, "nsubj", "nsubjpass") is None
        and any(verb < child < at for child in parse.children(verb, "attr", "dobj"))
        and any(child < at for child in parse.children(verb, "cc"))
    )


def _close(parse: Parse, found: list[int]) -> list[int]:
    """Return tokens without relative clauses behind a comma: who does, of "my sister, who does the accounts"."""
    loose = {
        at
        for at in found
        if parse.tokens[at].dep == "relcl" and parse.tokens[min(subtree(parse, at)) - 1].pos == "PUNCT"
    }
    left = {number for at in loose for number in subtree(parse, at)}
    last = max(found, default=0)
    tokens = parse.tokens
    if (
        last > 1
        and tokens[last].dep in ("npadvmod", "appos", "vocative")
        and is_name(parse, last)
        and tokens[last - 1].text == ","
        and tokens[tokens[last].head].pos not in ("PROPN", "NOUN")
    ):
        left.add(last)  # happy for you, Caroline
    return [at for at in found if at not in left]


def _is_condition(parse: Parse, verb: int, at: int) -> bool:
    """Whether a clause says when it is so, of what is so each time: my face gets puffy when I'm around cats."""
    tokens = parse.tokens
    if tokens[verb].tag not in ("VBZ", "VBP") or any(one.tag == "MD" for one in parse.around(verb)):
        return False
    first = tokens[min(subtree(parse, at))]
    return first.text.lower() in ("when", "whenever") and tokens[at].tag in ("VBZ", "VBP")


def _is_purpose(parse: Parse, at: int) -> bool:
    """Whether a clause says what for, without a comma before it: to show their path."""
    first = min(subtree(parse, at))
    return parse.tokens[first].tag == "TO" and parse.tokens[first - 1].pos != "PUNCT"


def from_outside(text: str) -> str:
    """Return a speaker's words as others would say them: my kids, their kids; who I am, who they are."""
    text = _AM.sub(lambda match: _PLURAL[match[1]], text)
    return " ".join(_FIRST.get(word.lower(), word) for word in text.split())


def from_beside(text: str, speaker: str) -> str:
    """Return what a speaker says of somebody else as others would say it: with me, with Ana; my bike, Ana's bike."""
    own = {
        "my": f"{speaker}'s",
        "me": speaker,
        "i": speaker,
        "i'm": f"{speaker} is",
        "i've": f"{speaker} has",
        "mine": f"{speaker}'s",
        "myself": speaker,
    }
    return " ".join(own.get(word.lower(), word) for word in text.split())


def words_of(parse: Parse, first: int, last: int) -> list[Token]:
    """Return the tokens from one to another that are words."""
    return [token for token in parse.tokens[first : last + 1] if token.pos not in ("PUNCT", "SPACE", "SYM")]
