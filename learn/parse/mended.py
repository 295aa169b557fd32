"""What the small model often gets wrong, put right before a parse is read. Each with an example. Pure."""

from collections.abc import Sequence
from typing import Final

from braid.text.calendar import MONTHS
from braid.text.parse import Parse, Token

_MONTHS: Final = frozenset(month.title() for month in MONTHS)
_VERBS_AS_AUX: Final = frozenset(
    ("lives", "works", "loves", "likes", "hates", "enjoys", "plays", "needs", "wants")
)


_TIES: Final = frozenset("-–\u2011/")


def mended(parse: Parse) -> Parse:
    """Return a parse with these slips put right."""
    parse = tied(parse)
    tokens = list(parse.tokens)
    for at, token in enumerate(tokens):
        if _is_name_behind_to(tokens, at):
            _hang_name(tokens, at)
        elif token.lemma == "hop" and token.text.lower() in ("hoping", "hoped"):
            tokens[at] = token._replace(lemma="hope")
        elif token.pos == "AUX" and token.text.lower() in _VERBS_AS_AUX and token.dep == "aux":
            _take_lead(tokens, at)
        elif _is_subject_behind_and(tokens, at):
            tokens[at] = token._replace(dep="nsubj", head=tokens[at + 1].head)
        elif _is_parted_by_and(tokens, at):
            _part(tokens, at)
        elif _is_one_more_of_list(tokens, at):
            _hang_in_list(tokens, at)
        elif (meant := _named_in_front_of_comma(tokens, at)) is not None:
            _lead_with(tokens, at, meant)
        elif (first := _subject_in_front(tokens, at)) is not None:
            tokens[at] = token._replace(dep="npadvmod", head=first)
        elif _is_noun_for_mark(tokens, at):
            over = tokens[at - 1]
            tokens[at] = token._replace(dep=over.dep, head=over.head)
            tokens[at - 1] = over._replace(dep="compound", head=at)
        elif _is_month_of_day(tokens, at):
            tokens[at] = token._replace(dep="nmod", head=at - 1)
        elif (meant := _meant_in_front_of_not(tokens, at)) is not None:
            tokens[meant] = tokens[meant]._replace(dep=token.dep, head=token.head)
            tokens[at] = token._replace(dep="appos", head=meant)
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


_FINITE: Final = frozenset(("VBZ", "VBP", "VBD", "MD"))


def _is_parted_by_and(tokens: list[Token], at: int) -> bool:
    """Our accountant is Femi and the return is due; I go for Easter but Pavel has a cold; it runs 1.29 and prod is on
    1.27: the first of two nouns ends what was said before, and only the second is the subject of what follows.
    """
    token = tokens[at]
    first = token.head
    if token.dep != "conj" or not first < at or tokens[first].pos not in _NOUNS or token.pos not in _NOUNS:
        return False
    ties = [one.text.lower() for one in tokens[first:at] if one.dep == "cc" and one.head == first]
    if not ties:
        return False
    verb = tokens[first].head
    if tokens[first].dep in ("nsubj", "nsubjpass") and verb > at:
        return _lacks_its_object(tokens, _start_of(tokens, first) - 1, verb, ties[0])
    inner = tokens[verb]
    is_verb = verb < first and inner.tag in _FINITE and inner.dep in ("nsubj", "csubj", "nsubjpass")
    behind = inner.head
    return is_verb and behind > at and tokens[behind].tag in _FINITE


_NOUNS: Final = frozenset(("NOUN", "PROPN", "PRON"))


def _lacks_its_object(tokens: list[Token], at: int, verb: int, tie: str) -> bool:
    """Whether a verb, or before "but" a preposition, that stands right before a noun has nothing else to govern."""
    if at < 0:
        return False
    token = tokens[at]
    if token.pos == "ADP" and token.dep == "prep":
        return tie == "but" and not any(one.head == at for one in tokens)
    is_above = tokens[verb].head == at and tokens[verb].dep in ("ccomp", "conj")
    governs = any(
        one.head == at and number > at and number != verb
        for number, one in enumerate(tokens)
        if one.pos != "PUNCT"
    )
    return is_above and token.lemma == "be" and token.tag in _FINITE and not governs


def _start_of(tokens: list[Token], at: int) -> int:
    start = at
    while start > 0 and tokens[start - 1].head in range(start, at + 1) and tokens[start - 1].pos != "PUNCT":
        start -= 1
    return start


def _part(tokens: list[Token], at: int) -> None:
    """Hang the first of two nouns on what stands before it, the second on the verb behind."""
    first = tokens[at].head
    verb = tokens[first].head
    if tokens[first].dep in ("nsubj", "nsubjpass"):
        before = _start_of(tokens, first) - 1
        dep = "pobj" if tokens[before].pos == "ADP" else "attr"
        tokens[at] = tokens[at]._replace(dep=tokens[first].dep, head=verb)
        tokens[first] = tokens[first]._replace(dep=dep, head=before)
        if tokens[verb].dep == "ccomp" and tokens[verb].head == before:
            tokens[verb] = tokens[verb]._replace(dep="conj")
        return
    behind = tokens[verb].head
    lead = tokens[behind]
    tokens[at] = tokens[at]._replace(dep="nsubj", head=behind)
    tokens[verb] = tokens[verb]._replace(dep=lead.dep, head=verb if lead.head == behind else lead.head)
    tokens[behind] = lead._replace(dep="conj", head=verb)


def _is_one_more_of_list(tokens: list[Token], at: int) -> bool:
    """I packed the tent, two bags and the stove: not what the subject is, but one more of what is packed."""
    token = tokens[at]
    verb = tokens[token.head].head
    return (
        token.dep == "appos"
        and token.head < verb < at
        and tokens[token.head].dep == "nsubj"
        and _object_of(tokens, verb, at) is not None
        and any(one.head == at and one.dep == "conj" for one in tokens[at:])
    )


def _object_of(tokens: list[Token], verb: int, stop: int) -> int | None:
    return next(
        (n for n in range(verb + 1, stop) if tokens[n].head == verb and tokens[n].dep == "dobj"), None
    )


def _hang_in_list(tokens: list[Token], at: int) -> None:
    found = _object_of(tokens, tokens[tokens[at].head].head, at)
    if found is not None:
        tokens[at] = tokens[at]._replace(dep="conj", head=found)


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


def _is_noun_for_mark(tokens: list[Token], at: int) -> bool:
    """Farouk is on paternity leave so I do it: a noun that is taken for a mark."""
    return (
        at > 0
        and tokens[at].dep == "punct"
        and tokens[at].pos == "NOUN"
        and tokens[at].text.isalpha()
        and tokens[at - 1].pos == "NOUN"
        and tokens[at - 1].dep in ("pobj", "dobj")
    )


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


def _meant_in_front_of_not(tokens: list[Token], at: int) -> int | None:
    """My favourite colour is teal, not green: where what is meant hangs on what is not."""
    if tokens[at].dep not in ("attr", "acomp"):
        return None
    no = next((n for n in range(at) if tokens[n].head == at and tokens[n].dep == "neg"), None)
    if no is None or no < 2 or tokens[no].text.lower() != "not" or tokens[no - 1].text != ",":
        return None
    meant = tokens[no - 2]
    is_word = meant.pos in ("ADJ", "NOUN", "PROPN", "NUM", "ADV") and no - 2 > tokens[at].head
    return no - 2 if meant.head == at and is_word else None


def _hang_name(tokens: list[Token], at: int) -> None:
    verb = tokens[at].head
    tokens[at] = tokens[at]._replace(pos="PROPN", tag="NNP", dep="pobj", head=at - 1, lemma=tokens[at].text)
    tokens[at - 1] = tokens[at - 1]._replace(pos="ADP", tag="IN", dep="prep", head=verb)
    for number, token in enumerate(tokens):
        if token.head == at and number > at and token.dep in ("prep", "npadvmod", "advmod"):
            tokens[number] = token._replace(head=verb)


def _take_lead(tokens: list[Token], at: int) -> None:
    """Ted loves fishing: a verb that is taken for an auxiliary."""
    below = tokens[at].head
    if below <= at or below == at:
        return
    lead = tokens[below]
    tokens[at] = tokens[at]._replace(
        pos="VERB",
        tag="VBZ",
        dep=lead.dep,
        head=at if lead.head == below else lead.head,
        lemma=tokens[at].text.lower().rstrip("s"),
    )
    tokens[below] = lead._replace(dep="xcomp", head=at)
    for number, token in enumerate(tokens):
        if (token.head == below and number < at and token.dep in ("nsubj", "advmod", "neg")) or (
            token.head == below and token.dep == "punct"
        ):
            tokens[number] = token._replace(head=at)
