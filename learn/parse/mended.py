"""What the small model often gets wrong, put right before a parse is read. Each with an example. Pure."""

from collections.abc import Sequence
from typing import Final

from braid.text.parse import Parse, Token

_VERBS_AS_AUX = frozenset(("loves", "likes", "hates", "enjoys", "plays", "needs", "wants"))


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
        elif (first := _subject_in_front(tokens, at)) is not None:
            tokens[at] = token._replace(dep="npadvmod", head=first)
        elif _is_noun_for_mark(tokens, at):
            over = tokens[at - 1]
            tokens[at] = token._replace(dep=over.dep, head=over.head)
            tokens[at - 1] = over._replace(dep="compound", head=at)
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
