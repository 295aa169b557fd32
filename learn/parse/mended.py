"""What the small model often gets wrong, put right before a parse is read. Each with an example. Pure."""

from collections.abc import Sequence
from typing import Final

from braid.text.calendar import MONTHS
from braid.text.parse import Parse, Token

_MONTHS: Final = frozenset(month.title() for month in MONTHS)
_TIES: Final = frozenset("-–\u2011/")


def mended(parse: Parse) -> Parse:
    """Return a parse with these slips put right."""
    parse = tied(parse)
    tokens = list(parse.tokens)
    for at, token in enumerate(tokens):
        if token.tag in ("VB", "VBP") and _is_name_behind_to(tokens, at):
            _hang_name(tokens, at)
        elif token.lemma == "hop" and token.text.lower() in ("hoping", "hoped"):
            tokens[at] = token._replace(lemma="hope")
        elif (mend := _MENDS.get(token.dep)) is not None and mend(tokens, at):
            pass
        elif token.text in _MONTHS and _is_month_of_day(tokens, at):
            tokens[at] = token._replace(dep="nmod", head=at - 1)
    return Parse(parse.text, tuple(tokens)) if tokens != list(parse.tokens) else parse


def tied(parse: Parse) -> Parse:
    """Return a parse in which words tied by a hyphen are one: dairy-free, Anne-Sophie, chilled-out."""
    tokens = parse.tokens
    if _TIES.isdisjoint(parse.text):
        return parse
    group_of = list(range(len(tokens)))
    for at in range(1, len(tokens) - 1):
        before, tie, behind = tokens[at - 1 : at + 2]
        if (
            tie.text in _TIES
            and before.stop == tie.start
            and tie.stop == behind.start
            and before.text[-1:].isalnum()
            and behind.text[:1].isalnum()
        ):
            group_of[at] = group_of[at + 1] = group_of[at - 1]
    if group_of == list(range(len(tokens))):
        return parse
    groups: dict[int, list[int]] = {}
    for at, first in enumerate(group_of):
        groups.setdefault(first, []).append(at)
    places = {first: place for place, first in enumerate(groups)}
    made = [_one_of(parse, at, group_of) for at in groups.values()]
    return Parse(
        parse.text,
        tuple(token._replace(head=places[group_of[token.head]]) for token in made),
    )


def _one_of(parse: Parse, group: list[int], group_of: list[int]) -> Token:
    """Return a group's words as one token, hung where its last part hangs that leads out of it."""
    tokens = parse.tokens
    if len(group) == 1:
        return tokens[group[0]]
    outward = [at for at in group if _leads_out(tokens, at, group_of)]
    roots = [at for at in group if tokens[at].head == at]
    lead = tokens[(roots or outward or group)[-1]]
    return lead._replace(
        text="".join(tokens[at].text for at in group),
        lemma="".join(tokens[at].text for at in group[:-1]) + tokens[group[-1]].lemma,
        start=tokens[group[0]].start,
        stop=tokens[group[-1]].stop,
    )


def _leads_out(tokens: Sequence[Token], at: int, group_of: list[int]) -> bool:
    """Whether a word hangs on one outside its group, and that one not on the group again."""
    group, steps = group_of[at], 0
    at = tokens[at].head
    if group_of[at] == group:
        return False
    while tokens[at].head != at and steps < len(tokens):
        at, steps = tokens[at].head, steps + 1
        if group_of[at] == group:
            return False
    return True


def _is_name_behind_to(tokens: list[Token], at: int) -> bool:
    """We moved to Shopify: a name that is taken for a verb."""
    token = tokens[at]
    return (
        at > 1
        and token.tag in ("VB", "VBP")
        and token.text[:1].isupper()
        and not token.text.isupper()
        and tokens[at - 1].text.lower() == "to"
        and tokens[at - 1].pos == "PART"
    )


def _is_subject_behind_and(tokens: list[Token], at: int) -> bool:
    """I work on the studio and things are looking up: a noun that is taken for one more object."""
    if (
        not 0 < at < len(tokens) - 1
        or tokens[at].dep != "conj"
        or tokens[at].pos not in ("NOUN", "PROPN", "PRON")
    ):
        return False
    aux = tokens[at + 1]
    verb = tokens[aux.head]
    return (
        tokens[at - 1].dep == "cc"
        and aux.dep in ("aux", "auxpass")
        and aux.tag in ("VBP", "VBZ", "VBD", "MD")
        and verb.dep == "conj"
        and not any(one.head == aux.head and one.dep in ("nsubj", "nsubjpass") for one in tokens)
    )


def _named_in_front_of_comma(tokens: list[Token], at: int) -> int | None:
    """I drive a Skoda Octavia, diesel, 180k on the clock: the first of a list without "and" is what is driven."""
    if tokens[at].dep != "dobj" or not tokens[at].head < at:
        return None
    for number in range(tokens[at].head + 1, at):
        token = tokens[number]
        stands = (
            token.dep in ("nmod", "compound")
            and token.pos in ("NOUN", "PROPN")
            and tokens[number + 1].text == ","
        )
        if stands and all(
            one.dep in ("det", "nummod", "compound", "amod", "nmod", "poss")
            for one in tokens[tokens[at].head + 1 : number]
        ):
            return number
    return None


def _lead_with(tokens: list[Token], at: int, meant: int) -> None:
    """Make a noun before a comma what the verb is done to, what stands behind it no more than its apposition."""
    verb = tokens[at].head
    for number in range(verb + 1, at):
        if number < meant and tokens[number].head > meant:
            tokens[number] = tokens[number]._replace(head=meant)
        elif number > meant and tokens[number].dep in ("nmod", "compound") and tokens[number].head == at:
            tokens[number] = tokens[number]._replace(dep="appos", head=meant)
    tokens[meant] = tokens[meant]._replace(dep="dobj", head=verb)
    tokens[at] = tokens[at]._replace(dep="appos", head=meant)


def _subject_in_front(tokens: list[Token], at: int) -> int | None:
    """The beekeeper next door is called Oswin: where a second subject only says where the first one is."""
    token = tokens[at]
    if token.dep not in ("nsubj", "nsubjpass") or token.pos not in ("NOUN", "ADV"):
        return None
    start = min((n for n, one in enumerate(tokens) if one.head == at), default=at)
    first = min(start, at) - 1
    if first < 0 or tokens[first].pos != "NOUN":
        return None
    same = (tokens[first].dep, tokens[first].head) == (token.dep, token.head)
    return first if same and first < at < token.head else None


def _is_month_of_day(tokens: list[Token], at: int) -> bool:
    """The blender I bought on 2 May stopped: a month that is hung on another word than its day."""
    day = tokens[at - 1]
    return (
        at > 0
        and tokens[at].text in _MONTHS
        and day.pos == "NUM"
        and day.dep == "pobj"
        and tokens[at].head < at - 1
    )


def _mend_contrast(tokens: list[Token], at: int) -> bool:
    """My favourite colour is teal, not green: where what is meant hangs on what is not."""
    no = next((n for n in range(at) if tokens[n].head == at and tokens[n].dep == "neg"), None)
    if no is None or no < 2 or tokens[no].text.lower() != "not" or tokens[no - 1].text != ",":
        return False
    meant, token = tokens[no - 2], tokens[at]
    is_word = meant.pos in ("ADJ", "NOUN", "PROPN", "NUM", "ADV") and no - 2 > token.head
    if meant.head != at or not is_word:
        return False
    tokens[no - 2] = meant._replace(dep=token.dep, head=token.head)
    tokens[at] = token._replace(dep="appos", head=no - 2)
    return True


def _hang_name(tokens: list[Token], at: int) -> None:
    verb = tokens[at].head
    tokens[at] = tokens[at]._replace(pos="PROPN", tag="NNP", dep="pobj", head=at - 1, lemma=tokens[at].text)
    tokens[at - 1] = tokens[at - 1]._replace(pos="ADP", tag="IN", dep="prep", head=verb)
    for number, token in enumerate(tokens):
        if token.head == at and number > at and token.dep in ("prep", "npadvmod", "advmod"):
            tokens[number] = token._replace(head=verb)


def _mend_joined(tokens: list[Token], at: int) -> bool:
    if not _is_subject_behind_and(tokens, at):
        return False
    tokens[at] = tokens[at]._replace(dep="nsubj", head=tokens[at + 1].head)
    return True


def _mend_object(tokens: list[Token], at: int) -> bool:
    meant = _named_in_front_of_comma(tokens, at)
    if meant is not None:
        _lead_with(tokens, at, meant)
    return meant is not None


def _mend_subject(tokens: list[Token], at: int) -> bool:
    first = _subject_in_front(tokens, at)
    if first is not None:
        tokens[at] = tokens[at]._replace(dep="npadvmod", head=first)
    return first is not None


_MENDS: Final = {
    "conj": _mend_joined,
    "dobj": _mend_object,
    "nsubj": _mend_subject,
    "nsubjpass": _mend_subject,
    "attr": _mend_contrast,
    "acomp": _mend_contrast,
}
"""By how a word hangs on another, what may be wrong with it."""
