"""A parsed sentence as clauses: a verb with its subject, what hangs on it, and how it is meant. Pure.

A clause is meant as it stands ("actual"), or is planned, possible, wished for, supposed: only what is actual or
planned is ever claimed. Verbs that share a subject ("lives in Malmö and works as a vet") are clauses of their own.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from braid.learn.parse.phrases import said_of
from braid.learn.words import HEDGES
from braid.text.parse import Parse, Token
from braid.text.words import listed

Tense = Literal["present", "past", "perfect", "future", "bare"]
Mode = Literal["actual", "planned", "able", "possible", "supposed", "asked", "ordered"]

_VERBAL: Final = frozenset(("VERB", "AUX"))
_HEADS: Final = frozenset(("ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis", "acl", "pcomp"))
_OPENERS: Final = listed("whether until till lest provided supposing like")
_TENSES: Final[dict[str, Tense]] = {"VBD": "past", "VBN": "past", "VB": "bare"}
"""Of a verb without auxiliaries, by its tag; of others, the present."""
_IN_CASE: Final = frozenset(("if", "unless", "whenever", "otherwise"))
_ONLY_IF: Final = re.compile(r"\bonly if\b|\bon condition that\b", re.IGNORECASE)
_UNREAL: Final = frozenset(
    ("wish", "imagine", "pretend", "suppose", "dream", "wonder", "doubt", "ask", "assume", "fantasize")
)
_WILL: Final = frozenset(("will", "'ll", "’ll", "wo", "shall"))
_CAN: Final = frozenset(("can", "ca", "could"))
_MAY: Final = frozenset(("would", "'d", "’d", "might", "may", "should", "must", "could", "ought"))
_REFUSES: Final = frozenset(("wo", "will"))
_HABITS: Final = frozenset(("have", "eat", "drink", "touch", "wear", "use"))
"""What somebody would rather do, or won't, with things is what they do."""
_NEVER: Final = frozenset(("not", "n't", "n’t", "never", "nt", "neither", "nor", "hardly", "barely"))
_NO_LONGER: Final = frozenset(("longer", "anymore"))
REPORTS: Final = listed("say tell announce think claim reckon believe mention hear swear insist text write")
_ASKING: Final = frozenset(
    ("can", "could", "do", "does", "did", "will", "would", "shall", "should", "are", "is", "am", "have")
)
_UNTRUE: Final = frozenset(
    ("false", "untrue", "wrong", "possible", "impossible", "unlikely", "likely", "doubtful")
)
_THINKS: Final = frozenset(
    ("think", "believe", "guess", "suppose", "reckon", "assume", "feel", "hear", "expect", "gather")
)
_SEES_TO: Final = frozenset(("mind", "ensure", "check", "see", "watch", "verify", "confirm"))
"""Orders to bring about, or to look whether, what stands behind them."""


class Clause(NamedTuple):
    """One verb and what hangs on it; all numbers are of tokens. `verb` is the one whose objects count: of "I want to
    learn Italian" there are two clauses, the second `under` the first.
    """

    parse: Parse
    verb: int
    lemma: str
    """With its particle: `set up`, `look after`."""
    subject: int | None
    tense: Tense
    mode: Mode
    denied: bool
    progressive: bool
    passive: bool
    under: int | None
    """The verb that this one completes: `want`, of "want to learn"."""
    reporter: int | None
    """Who says or thinks so, where it isn't the speaker's own word."""
    hedge: str | None
    no_more: bool
    """Whether it held until now: "no longer", "not any more", "used to"."""
    said: tuple[int, int]
    """The first and the last token of what the verb says (`said_of`)."""

    @property
    def token(self) -> Token:
        """The verb."""
        return self.parse.tokens[self.verb]

    def child(self, *deps: str) -> int | None:
        """Return the first token that hangs on the verb in one of these ways."""
        return self.parse.child(self.verb, *deps)

    def around(self) -> list[Token]:
        """Return the tokens that hang on the verb directly."""
        return self.parse.around(self.verb)

    def preps(self) -> Iterator[tuple[str, int, int]]:
        """Yield each preposition of the verb, its place, and what it governs."""
        tokens = self.parse.tokens
        for at in self.parse.children(self.verb, "prep", "agent", "dative"):
            if tokens[at].pos not in ("ADP", "SCONJ", "PART", "ADV"):
                continue
            for inner in self.parse.children(at, "pobj", "pcomp", "prep"):
                if tokens[inner].dep != "prep":
                    yield tokens[at].lemma.lower(), at, inner
                    continue
                for last in self.parse.children(inner, "pobj", "pcomp"):
                    yield f"{tokens[at].lemma} {tokens[inner].lemma}".lower(), at, last


def clauses(parse: Parse) -> list[Clause]:
    """Return the clauses of a sentence, outer ones first."""
    found: list[Clause] = []
    by_verb: dict[int, Clause] = {}
    on_terms = _ONLY_IF.search(parse.text) is not None
    for at in _outer_first(parse):
        clause = _clause(parse, at, by_verb, on_terms=on_terms)
        found.append(clause)
        by_verb[at] = clause
    if any(_is_apart(parse, clause.verb) for clause in found):
        found.sort(key=lambda clause: _sentence_of(parse, clause.verb))
    return found


def _sentence_of(parse: Parse, at: int) -> int:
    """Return the verb of the sentence that a clause belongs to, of those that only commas part: they are read as they
    stand.
    """
    tokens = parse.tokens
    steps = 0
    while not _is_apart(parse, at) and tokens[at].head != at and steps < len(tokens):
        at, steps = tokens[at].head, steps + 1
    return at


def _is_apart(parse: Parse, at: int) -> bool:
    """Whether a verb is that of a sentence before a comma: Dad is retiring, he wants to build a boat."""
    token = parse.tokens[at]
    return token.dep in ("ccomp", "advcl") and at < token.head and _stands_by_itself(parse, at)


def _outer_first(parse: Parse) -> list[int]:
    tokens = parse.tokens

    def depth(at: int) -> int:
        steps = 0
        while tokens[at].head != at and steps < len(tokens):
            at, steps = tokens[at].head, steps + 1
        return steps

    verbs = [at for at in range(len(tokens)) if is_verb(parse, at)]
    return sorted(verbs, key=lambda at: (depth(at), at))


def is_verb(parse: Parse, at: int) -> bool:
    """Whether a token heads a clause."""
    token = parse.tokens[at]
    if token.pos not in _VERBAL or token.dep in ("aux", "auxpass", "amod", "compound", "prep", "mark", "cc"):
        return False
    if (
        token.dep == "conj"
        and token.tag == "VBG"
        and parse.tokens[token.head].dep in ("dobj", "pobj", "xcomp", "nsubj", "attr", "csubj")
    ):
        return False
    return token.dep in _HEADS or token.dep == "xcomp" or parse.child(at, "nsubj", "nsubjpass") is not None


def _clause(parse: Parse, at: int, known: dict[int, Clause], *, on_terms: bool) -> Clause:  # noqa: PLR0912, PLR0915 - one decision a line
    tokens = parse.tokens
    token = tokens[at]
    above = known.get(token.head) if token.head != at else None
    if _is_apart(parse, at):
        above = None
    around = parse.around(at)
    low = [one.text.lower() for one in around]
    subject = _subject(parse, at)
    joined = token.dep == "conj" and above is not None
    own = subject is not None
    of_deed = not own and parse.child(at, "csubj") is not None
    if subject is None and above is not None and not of_deed:
        if joined or token.dep == "xcomp":
            subject = above.subject
            controller = above.child("dobj", "dative") if token.dep == "xcomp" else None
            if controller is not None and above.lemma not in ("promise", "use", "need", "take", "have"):
                subject = controller
        elif token.dep == "advcl" and token.tag in ("VBG", "VBN"):
            subject = above.subject
        elif token.dep == "ccomp":
            subject = None if above.subject is None else subject
    elif (subject is not None and token.dep == "relcl" and tokens[subject].tag in ("WP", "WDT")) or (
        subject is None and token.dep in ("relcl", "acl") and token.tag not in ("TO", "VB")
    ):
        subject = token.head
    auxes = [one for one in around if one.dep in ("aux", "auxpass")]
    auxes += [  # are getting married
        one for by in parse.children(at, "auxpass") for one in parse.around(by) if one.dep == "aux"
    ]
    words = {one.text.lower() for one in auxes}
    tense = _tense(token, auxes, words)
    mode = "supposed" if on_terms else _mode(parse, at, words, tense)
    denied = False
    hedge: str | None = None
    for child, one, word in zip(parse.children(at), around, low, strict=True):
        if (one.dep == "neg" or word in _NEVER) and one.pos != "CCONJ":
            denied = denied or not _is_outside(parse, at, child, subject)
        elif word in HEDGES and hedge is None:
            hedge = one.text
    no_more = denied and any(word in _NO_LONGER or word == "more" for word in _shallow_words(parse, at))
    if "longer" in low and ("no longer" in " ".join(low) or _says_no_longer(parse, at)):
        denied = no_more = True
    reporter: int | None = None
    under: int | None = None
    if above is not None:
        if joined and not own:
            aux_free = all(
                one.lemma == "get" and one.tag == "VB" for one in auxes
            )  # will win and get noticed
            if aux_free and token.tag in ("VB", "VBG", "VBN", "VBP"):
                mode, tense = (
                    above.mode if above.mode != "actual" else mode,
                    above.tense if token.tag != "VBG" else tense,
                )
            denied = denied or (above.denied and aux_free and token.tag == "VB")
            hedge, reporter, under = hedge or above.hedge, above.reporter, above.under
        elif token.dep == "xcomp":
            under, reporter, hedge = token.head, above.reporter, hedge or above.hedge
            mode = above.mode if mode in ("actual", "ordered") else mode
            if token.tag in ("VB", "VBG") or any(one.tag == "VB" for one in auxes):  # don't want to be stuck
                tense, denied = above.tense, denied or above.denied
        elif token.dep == "ccomp" and not _stands_before(parse, at, above):
            hedge, reporter, mode = _reported(parse, above, hedge, mode, denied)
        elif joined:
            apart = any(
                tokens[one].text.lower() == "but"
                for one in range(above.verb + 1, at)
                if tokens[one].dep == "cc"
            )
            reporter = above.reporter
            hedge = hedge or (None if apart else above.hedge)  # maybe he left, but I heard it from Jo
            mode = above.mode if above.mode in ("supposed", "asked") and not own else mode
        elif token.dep == "parataxis":
            hedge, reporter = hedge or above.hedge, above.reporter
        if above.mode in ("supposed", "asked") and token.dep != "conj":
            mode = above.mode
        if above.mode == "ordered" and token.dep == "ccomp" and above.lemma in _SEES_TO:
            mode = "ordered"  # mind that he eats his greens
        if token.dep == "advcl" and _opens_with(parse, at, "so") and not _is_under_fact(parse, at, known):
            mode = "supposed"  # leave it in, so the cells balance
        if _goes_on_with_plan(token, above, own=own, auxes=auxes):
            mode = "planned"
        elif joined and not own and _is_another_sentence(parse, at, above, subject, auxes):
            mode = "supposed"
    if _is_unfinished(parse, at, subject if own else None, auxes):
        mode = "supposed"
    if (
        own
        and subject is not None
        and any(
            child < subject < at and tokens[child].text.lower() in _ASKING
            for child in parse.children(at, "aux")
        )
    ):
        mode = "asked"  # mum can I put it on the list
    if not own and denied and token.tag == "VB" and "please" in low:
        mode = "ordered"  # Luis has the phone, and please don't touch the cron
    if subject is None and token.dep in ("ROOT", "ccomp", "parataxis") and token.tag == "VB" and not auxes:
        mode = "ordered"
    used_to = (
        token.lemma == "use"
        and parse.child(at, "xcomp") is not None
        and parse.child(at, "dobj") is None  # used half of it to pay off the card
        and token.tag in ("VBD", "VBN")
    )
    particle = next((one.text.lower() for one in around if one.dep == "prt"), None)
    lemma = token.lemma.lower() if not particle else f"{token.lemma.lower()} {particle}"
    has_object = any(one.dep == "dobj" for one in around)
    if token.lemma in _HABITS and has_object and not any(one.dep == "npadvmod" for one in around):
        if mode == "possible" and "rather" in low:
            lemma, mode, tense = "prefer", "actual", "present"  # I'd rather have tea than coffee
        elif mode == "planned" and denied and words & _REFUSES:
            mode, tense = "actual", "present"  # I won't eat fish
    if mode == "planned" and denied and token.lemma != "be" and _is_third(parse, subject):
        mode, tense = "actual", "present"  # he won't take any money; the car won't start
    return Clause(
        parse=parse,
        verb=at,
        lemma="used" if used_to else lemma,
        subject=subject,
        tense=tense,
        mode=mode,
        denied=denied,
        progressive=token.tag == "VBG",
        passive=any(one.dep in ("nsubjpass", "auxpass") for one in around),
        under=under,
        reporter=reporter,
        hedge=hedge,
        no_more=no_more,
        said=said_of(parse, at),
    )


def _subject(parse: Parse, at: int) -> int | None:
    """Return the subject of a verb: of two that stand before it the nearer, for the other is who is spoken to (Hi Ana,
    since we met, I'm …). A name behind the verb and a comma is none: sounds great, Ana.
    """
    tokens = parse.tokens
    found = [
        one
        for one in parse.children(at, "nsubj", "nsubjpass", "expl")
        if one < at or (tokens[one - 1].text != "," and tokens[at].lemma in ("be", "come", "go", "say", "do"))
    ]
    before = [one for one in found if one < at]
    return before[-1] if before else found[0] if found else None


def _is_under_fact(parse: Parse, at: int, known: dict[int, Clause]) -> bool:
    """Whether all clauses above one are meant as they stand."""
    steps = 0
    while parse.tokens[at].head != at and steps < len(parse.tokens):
        at, steps = parse.tokens[at].head, steps + 1
        if at in known and known[at].mode != "actual":
            return False
    return True


def _opens_with(parse: Parse, at: int, word: str) -> bool:
    return any(
        child < at and parse.word(child) == word for child in parse.children(at, "mark", "advmod", "cc")
    )


def _goes_on_with_plan(token: Token, above: Clause, *, own: bool, auxes: list[Token]) -> bool:
    """Whether a verb is one more of what is planned: I'm going to chat with them, get support and gather ideas."""
    is_going = above.lemma == "go" and above.progressive and above.child("xcomp") is not None
    return token.dep == "conj" and is_going and not own and not auxes and token.tag in ("VB", "VBP")


def _is_another_sentence(
    parse: Parse, at: int, above: Clause, subject: int | None, auxes: list[Token]
) -> bool:
    """Whether a verb that seems joined to another can't share its subject: I'm so busy, and look at the time; if we pay
    and collects the old one; life is precious and to cherish; did nothing, threw up.
    """
    tokens, token = parse.tokens, parse.tokens[at]
    of = tokens[subject].text.lower() if subject is not None else ""
    if token.tag == "VBZ" and not auxes and of in ("i", "we", "you", "they"):
        return True
    if any(one.tag == "TO" for one in auxes):
        return above.under is None and above.mode != "planned"
    if not auxes and token.tag == "VB":
        return above.lemma == "be" or above.passive
    if not auxes and token.tag == "VBG":
        return above.token.tag != "VBG"
    if not auxes and token.tag == "VBN":
        return not above.passive and above.tense == "past" and above.token.tag != "VBN"
    linked = any(above.verb < one < at for one in parse.children(above.verb, "cc"))
    return not linked and of not in ("i", "we", "he", "she", "they") and not _is_named(tokens, subject)


def _is_third(parse: Parse, subject: int | None) -> bool:
    """Whether a subject is neither who speaks nor who is spoken to."""
    return subject is not None and parse.word(subject) not in ("i", "we", "you")


def _is_named(tokens: tuple[Token, ...], at: int | None) -> bool:
    return at is not None and tokens[at].pos == "PROPN"


def _is_unfinished(parse: Parse, at: int, subject: int | None, auxes: list[Token]) -> bool:
    """Whether a verb with a subject of its own says no more than that something might be, or was parsed amiss: for me
    to show it, made me think, the shelter getting ready; the answer drop.
    """
    if subject is None:
        return False
    token, head = parse.tokens[at], parse.tokens[subject]
    if not auxes:
        joined = any(parse.tokens[child].dep == "conj" for child in parse.children(subject))
        if (head.text.lower() in ("me", "us", "him", "them") and not joined) or (
            (head.pos in ("ADJ", "ADV", "INTJ") or head.text == "Super")
            and not parse.children(subject)
            and token.lemma.lower() != "be"
        ):
            return True
        if token.tag == "VBG" and token.dep in ("pcomp", "acl", "ccomp", "advcl"):
            return True
        if token.lemma.lower() not in ("have", "be", "do") and not joined:
            return (head.tag == "NN" and token.tag == "VBP") or (head.tag == "NNS" and token.tag == "VBZ")
    if any(one.text.lower() == "do" for one in auxes) and head.tag in ("NN", "NNP"):
        return parse.child(subject, "conj") is None  # Lena don't shout
    return any(one.text.lower() == "to" and one.tag == "TO" for one in auxes)


def _is_outside(parse: Parse, verb: int, at: int, subject: int | None) -> bool:
    """Whether a "not" belongs to other words: okay not now I'm cooking; they live 6 hours, not 24; I can
    drive, just not with Noor."""
    if at > verb and parse.word(at - 1) in (",", "just", "but", "only"):
        return True
    if subject is None or not at < subject:
        return False
    behind = parse.tokens[at + 1]
    return parse.word(at) == "not" and behind.pos == "ADV" and at + 1 < subject


def _stands_by_itself(parse: Parse, at: int) -> bool:
    return (
        parse.child(at, "mark") is None
        and parse.child(at, "nsubj", "nsubjpass") is not None
        and not any(one.tag in ("WDT", "WP", "WRB") for one in parse.around(at))
    )


def _shallow_words(parse: Parse, at: int) -> Iterator[str]:
    for child in parse.children(at):
        yield parse.word(child)
        if parse.tokens[child].dep == "advmod":
            yield from parse.words_on(child)


def _says_no_longer(parse: Parse, at: int) -> bool:
    return any(
        parse.word(child) == "longer"
        and "no" in parse.words_on(child)
        and not _is_joined_on(parse, at, child)
        for child in parse.children(at)
    )


def _is_joined_on(parse: Parse, at: int, child: int) -> bool:
    """Whether "and" stands between a verb and what hangs on it: we close at 5, and no longer at 6."""
    return any(one.pos == "CCONJ" for one in parse.tokens[at + 1 : child])


def _tense(token: Token, auxes: list[Token], words: set[str]) -> Tense:  # noqa: PLR0911 - one decision a line
    if not words:
        return _TENSES.get(token.tag, "present")
    if words & _WILL:
        return "future"
    tags = {one.tag for one in auxes}
    if "VBD" in tags and any(one.text.lower() in ("had", "'d") and one.tag == "VBD" for one in auxes):
        return "past"
    if token.tag in ("VBN", "VBG", "VBD") and any(
        one.lemma.lower() in ("have", "'ve") and one.tag in ("VB", "VBP", "VBZ", "VBD") for one in auxes
    ):
        return "perfect"
    if token.tag == "VBD" or "VBD" in tags:
        return "past"
    if token.tag in ("VBP", "VBZ") or tags & {"VBP", "VBZ"}:
        return "present"
    return _TENSES.get(token.tag, "present")


def _mode(parse: Parse, at: int, words: set[str], tense: Tense) -> Mode:  # noqa: PLR0911 - one decision a line
    """Return how a clause is meant by what hangs on its verb; `words`: its auxiliaries."""
    nearly = False
    for child in parse.children(at, "mark", "advmod", "advcl"):
        low, dep = parse.word(child), parse.tokens[child].dep
        if dep == "advcl":
            if any(parse.word(inner) in ("if", "unless") for inner in parse.children(child, "mark")):
                return "supposed"
        elif low in _IN_CASE or (dep == "mark" and low in _OPENERS):
            return "supposed"
        nearly = nearly or low in ("almost", "nearly")
    if nearly:
        return "possible"
    if _is_inverted(parse, at):
        return "supposed"
    if words & _CAN and "could" not in words:
        return "able"
    if words & _MAY:
        return "possible"
    return "planned" if tense == "future" else "actual"


def _stands_before(parse: Parse, at: int, above: Clause) -> bool:
    """Whether a clause only stands before one that says something else: my boss is Ann, she asked whether I'd eaten."""
    tokens = parse.tokens
    behind = parse.children(above.verb, "ccomp", "dobj", "xcomp", "acomp", "attr", "prep")
    others = any(child > above.verb for child in behind)
    return (
        at < above.verb
        and others
        and any(tokens[one].text in (",", ";", ":") for one in range(at, above.verb))
    )


def _is_inverted(parse: Parse, at: int) -> bool:
    """Whether a clause begins with its auxiliary, as a condition does: had I known."""
    first = parse.tokens[0]
    return first.text.lower() in ("had", "were", "should") and at in (0, first.head) and len(parse.tokens) > 2


def _reported(
    parse: Parse, above: Clause, hedge: str | None, mode: Mode, denied: bool
) -> tuple[str | None, int | None, Mode]:
    """Return the hedge, the reporter and the mode of what stands below a verb of saying or thinking."""
    tokens = parse.tokens
    lemma = tokens[above.verb].lemma.lower()
    by_first = above.subject is not None and tokens[above.subject].text.lower() in ("i", "we")
    if any(tokens[child].lemma.lower() in _UNTRUE for child in parse.children(above.verb, "acomp")):
        return hedge, above.reporter, "supposed"
    if lemma in _UNREAL or lemma in ("hope", "want") or above.denied:
        return hedge, above.reporter, "supposed"
    if lemma in _THINKS and by_first:
        if above.tense == "past" and lemma != "hear":
            return hedge, above.reporter, "supposed"
        words = f"{tokens[above.subject or 0].text} {tokens[above.verb].text}"
        return hedge or words, above.reporter, mode
    if lemma in REPORTS and not by_first and above.subject is not None:
        return hedge, above.subject, mode
    return hedge or above.hedge, above.reporter, above.mode if above.mode in ("supposed", "asked") else mode
