"""Whether a sentence asserts what a yes/no question asks, by the parse of both. Pure.

The words of "Please book the hotel" are those of "Did we book the hotel?", and say neither yes nor no. What is asked
must stand in a clause that its sentence asserts: no request, no wish, no "if", under no verb that leaves it open
("offered to pay"). What denies it turns it ("refused to pay"), and what denies only the clause above doesn't ("I'm
not happy that Greta is leaving").
"""

from collections.abc import Iterator
from typing import Final, Literal

from braid.agent.answer.assertion.governors import ENDING, SPEAKING, Effect, after, behind
from braid.text.parse import Parse, Token
from braid.text.words import stem, words

Assertion = Literal["yes", "no", "open"]
"""Whether it is so, isn't, or is left open."""

_LIGHT: Final = frozenset(("be", "have", "do", "get", "go", "come"))
"""Verbs that say little: what is asked for is with them."""
_LIKE: Final = {
    "be": frozenset(("be", "become", "remain", "stay", "get", "feel", "look", "turn", "go", "keep")),
    "have": frozenset(("have", "get", "own", "keep", "hold", "be")),
    "get": frozenset(("get", "have", "receive", "buy", "be")),
    "do": frozenset(("do",)),
    "go": frozenset(("go", "come", "be", "get", "travel")),
    "come": frozenset(("come", "go", "be")),
}
"""Beside which verbs what is asked for with a light one is as it was asked: "I quit the gym" isn't going there."""
_DENYING: Final = frozenset(("not", "never", "n't", "n’t", "nt", "hardly", "scarcely", "barely", "nowhere"))
_NOBODY: Final = frozenset(("nobody", "none", "nothing", "noone", "neither"))
_ALL: Final = frozenset(("everyone", "everybody", "all", "everything"))
_BUT: Final = frozenset(("but", "except", "save", "besides", "apart", "excluding", "bar"))
_ONLY: Final = frozenset(("just", "only", "merely", "simply"))
_FIRST: Final = frozenset(("i", "we", "me", "us"))
_OPEN_MODALS: Final = frozenset((
    "could", "may", "might", "would", "should", "must", "ought", "will", "shall", "'d", "’d", "'ll", "’ll",
))  # fmt: skip
_OPENING: Final = frozenset((
    "if", "unless", "whether", "until", "till", "before", "lest", "provided", "supposing", "once", "case", "though",
))  # fmt: skip
_SO: Final = frozenset((
    "because", "since", "although", "while", "after", "when", "as", "that", "whereas", "where",
))  # fmt: skip
_NOT_DONE: Final = frozenset(("without", "instead"))
_DONE: Final = frozenset(("after", "by", "from", "since", "for", "upon", "on", "while"))
_CLAUSES: Final = frozenset((
    "ROOT", "conj", "ccomp", "xcomp", "advcl", "relcl", "acl", "pcomp", "parataxis", "csubj", "csubjpass", "dep",
))  # fmt: skip
_SUBJECTS: Final = frozenset(("nsubj", "nsubjpass", "csubj", "expl"))
_NAMING: Final = ("acomp", "attr", "oprd")
_ALREADY: Final = frozenset((
    "ever", "still", "already", "now", "yet", "always", "usually", "also", "really", "actually",
))  # fmt: skip
_MOST_STEPS: Final = 12


def assertion(question: Parse, said: Parse, speaker: str = "") -> Assertion | None:
    """Return what a sentence asserts of what is asked; None where that isn't found in it.

    `speaker`: the name of who said it, for whom "I" stands there; empty where that is who asks. Where it is said more
    than once, it is what all agree on, else open.
    """
    asked = _predicate(question)
    if asked is None:
        return None
    wanted = {stem(question.tokens[asked].lemma), stem(question.word(asked))}
    judge = _Asserted(question, asked, said, speaker)
    found: set[Assertion] = {
        judge.of(at)
        for at, token in enumerate(said.tokens)
        if token.pos not in ("DET", "PRON")
        and {stem(token.lemma), stem(token.text.lower())} & wanted
        and judge.is_so_put(at)
    }
    if not found:
        return None
    return found.pop() if len(found) == 1 else "open"


def _predicate(question: Parse) -> int | None:
    """Return the token of a question that says what is asked: its verb, or what stands with a light one."""
    root = _root(question)
    if root is None or question.tokens[root].lemma not in _LIGHT:
        return root
    for wanted in (_NAMING, ("dobj",), ("xcomp", "ccomp"), ("prep", "agent"), ("advmod",)):
        for child in question.children(root, *wanted):
            token = question.tokens[child]
            if token.lemma.lower() in _ALREADY:
                continue
            return _object_of(question, child) if token.dep in ("prep", "agent") else child
    subject = _subject(question)
    within = question.children(subject, "prep") if subject is not None else ()
    return _object_of(question, within[-1]) if within else root


def _root(parse: Parse) -> int | None:
    return next((at for at, one in enumerate(parse.tokens) if one.head == at and one.pos != "PUNCT"), None)


def _object_of(parse: Parse, preposition: int) -> int:
    found = parse.child(preposition, "pobj")
    return preposition if found is None else found


def _subject(parse: Parse) -> int | None:
    return next((at for at, one in enumerate(parse.tokens) if one.dep in ("nsubj", "nsubjpass")), None)


class _Asserted:
    """What a sentence asserts of one word of it, for one question."""

    def __init__(self, question: Parse, asked: int, said: Parse, speaker: str) -> None:
        self._question = question
        self._asked = asked
        self._said = said
        self._speaker = frozenset(words(speaker))
        first = next((one for one in question.tokens if one.pos in ("AUX", "VERB")), None)
        self._of_done = first is not None and first.lemma == "do" and first.tag == "VBD"
        self._of_ever = any(one.lemma == "ever" for one in question.tokens)
        self._modals = {one.lemma.lower() for one in question.tokens if one.tag == "MD"}

    def of(self, at: int) -> Assertion:
        """Return what is said of a word, from its clause up to the whole sentence."""
        said = self._said
        if said.tokens[at].pos == "NOUN" and said.tokens[at].dep in _SUBJECTS and self._asks_of_act():
            return "open"  # the deploy is on hold
        clause = _clause(said, at)
        turned = self._turned(clause)
        if turned is None:
            return "open"
        denied = turned != _lacks(said, at, clause)
        ends = self._ends(at, clause)
        if ends == "open" or (denied and any(one.lemma in ("for", "because") for one in said.around(clause))):
            return "open"  # "we didn't move for the weather"
        denied ^= ends == "turned"
        for _ in range(_MOST_STEPS):
            here = said.tokens[clause]
            if self._is_open(clause):
                return "open"
            if here.head == clause or (here.dep == "relcl" and here.tag != "VB"):
                break
            outer, effect = _clause(said, here.head), self._under(clause)
            if effect == "open":
                return "open"
            if effect == "factive":
                break
            denied ^= effect == "turned"
            denied ^= effect != "beside" and _is_denied(said, outer)
            clause = outer
        return "no" if denied else "yes"

    def _asks_of_act(self) -> bool:
        return self._question.tokens[self._asked].pos == "VERB"

    def _ends(self, at: int, clause: int) -> Effect:
        """Return what "I quit smoking" makes of smoking, where that is read as a noun."""
        said = self._said
        if said.tokens[at].dep != "dobj" or self._question.tokens[self._asked].pos != "VERB":
            return "so"
        lemma = said.lemma(clause)
        given_up = lemma == "give" and any(
            one.dep == "prt" and one.lemma == "up" for one in said.around(clause)
        )
        return self._after("quit" if given_up else lemma) if given_up or lemma in ENDING else "so"

    def is_so_put(self, at: int) -> bool:
        """Whether a word stands by the verb that it is asked with: "hired him as her assistant" says not who is one."""
        said, root = self._said, _root(self._question)
        light = self._question.tokens[root].lemma if root is not None and root != self._asked else ""
        if light not in _LIKE or said.tokens[at].dep in ("ROOT", "appos"):
            return True
        if light == "be" and said.tokens[at].tag in ("VBG", "VBN"):  # "leaving" may have been read as a noun
            return True
        return said.tokens[_clause(said, at)].lemma in _LIKE[light]

    def _is_open(self, clause: int) -> bool:
        """Whether a clause asserts nothing: a request, a "might", what goes on where it is asked what was done."""
        own = self._said.around(clause)
        verb = self._said.tokens[clause]
        modals = _OPEN_MODALS - self._modals
        if any(one.tag == "MD" and one.lemma.lower() in modals for one in own):
            return True
        if any(one.dep == "mark" and one.lemma.lower() in _OPENING for one in own):
            return True
        helped = any(one.dep in ("aux", "auxpass") for one in own)
        has_subject = any(one.dep in _SUBJECTS and one.text.upper() != "TODO" for one in own)
        if verb.tag == "VB" and not helped and not has_subject and verb.dep not in ("xcomp", "ccomp", "conj"):
            return True  # Book it!
        goes_on = verb.tag == "VBG" and any(one.lemma == "be" and one.tag in ("VBZ", "VBP") for one in own)
        return self._of_done and goes_on

    def _under(self, clause: int) -> Effect:
        """Return what a clause becomes under the one that it hangs on."""
        said = self._said
        here = said.tokens[clause]
        above = said.tokens[here.head]
        own = said.around(clause)
        own_subject = any(one.dep in _SUBJECTS for one in own)
        to = any(one.tag == "TO" for one in own)
        if here.dep in ("conj", "pcomp", "advcl"):
            return self._joined(clause, own_subject=own_subject, to=to)
        if (to or here.tag in ("VB", "VBG")) and not (own_subject and here.tag == "VBG"):
            too = any(one.lemma == "too" for one in said.around(here.head))
            whom = to and said.child(here.head, "dobj", "dative") is not None
            return "turned" if too else self._after(above.lemma.lower(), to=to, of_other=own_subject or whom)
        if here.tag == "VBG" and not any(one.dep == "aux" for one in own):
            return "open"  # "I see Tom moving out"
        is_first = clause < here.head and not any(one.dep == "mark" for one in own)
        if here.dep == "ccomp" and own_subject and is_first:  # "it broke, we think"
            return "open" if above.lemma.lower() in SPEAKING else "beside"
        if here.dep in ("ccomp", "xcomp", "acl", "csubj"):
            beside = [above, *(one for one in said.around(here.head) if one.dep in _NAMING)]
            known_by = {word for one in beside for word in (one.lemma.lower(), one.text.lower())}
            return behind(known_by, denied=_is_denied(said, _clause(said, here.head)))
        return "beside"

    def _joined(self, clause: int, *, own_subject: bool, to: bool) -> Effect:
        """Return what becomes of a clause that is joined to another by a word: "or", "without", "because"."""
        said = self._said
        here = said.tokens[clause]
        if here.dep == "conj":
            either = said.words_on(here.head) & {"or", "nor"}
            return "so" if either or (here.tag == "VB" and not own_subject) else "beside"
        if here.dep == "pcomp":
            lemma = said.lemma(here.head)
            return "turned" if lemma in _NOT_DONE else "so" if lemma in _DONE else "open"
        own = said.around(clause)
        marks = {one.lemma.lower() for one in own if one.dep in ("mark", "advmod")}
        if "when" in marks and not any(one.tag == "VBD" for one in (here, *own)):
            return "open"  # "when it is painted we sell"
        return "beside" if marks & _SO and not to else "open"

    def _after(self, lemma: str, *, to: bool = False, of_other: bool = False) -> Effect:
        return after(lemma, to=to, of_other=of_other, of_ever=self._of_ever, of_done=self._of_done)

    def _turned(self, clause: int) -> bool | None:
        """Return whether a clause denies what is asked by its own words and by whom it is said of; None where that is
        of somebody else than whom is asked of."""
        question, said = self._question, self._said
        subjects = said.children(clause, "nsubj", "nsubjpass")
        asked = _subject(question)
        denied = _is_denied(said, clause)
        if asked is None or not subjects:
            return denied
        if _is_either(said, subjects[-1]) or self._is_told_apart(asked, subjects[-1]):
            return None
        of = question.tokens[asked]
        if said.lemma(subjects[-1]) in _ALL and said.text.lower().startswith("not "):
            return True if of.lemma.lower() in _ALL else None
        if out := _left_out(said):
            if stem(of.lemma.lower()) in out or (of.text.lower() in _FIRST and out & _FIRST):
                return not any(said.lemma(at) in _NOBODY or _is_nobody(said, at) for at in subjects)
            if of.lemma.lower() in _ALL:
                return True
        return denied if self._is_same(asked, subjects[-1], clause) else None

    def _is_told_apart(self, asked: int, subject: int) -> bool:
        """Whether what is asked of and what is spoken of are marked differently: my new car, my old car."""
        one, other = (
            {token.lemma.lower() for token in parse.around(at) if token.dep == "amod"}
            for parse, at in ((self._question, asked), (self._said, subject))
        )
        return bool(one) and bool(other) and one.isdisjoint(other)

    def _is_same(self, asked: int, subject: int, clause: int) -> bool:
        """Whether a clause may be of whom a question asks: of the same head, or of a word that may stand for it."""
        question, said = self._question, self._said
        of = question.tokens[asked]
        low = of.text.lower()
        heads = [said.tokens[at] for at in _heads(said, subject)]
        spoken = {one.text.lower() for one in heads}
        if low in _FIRST:
            return not self._speaker and (bool(spoken & _FIRST) or self._acted_on(of, subject, clause))
        if self._speaker and low in self._speaker and spoken & _FIRST:
            return True
        if of.pos == "PRON":
            return not spoken & _FIRST
        if any(one.pos == "PRON" or one.tag in ("WDT", "WP", "EX") for one in heads[:1]) and not spoken & {
            *_FIRST,
            "you",
        }:
            return True
        if stem(of.lemma.lower()) in {stem(one.lemma.lower()) for one in heads} or spoken & (_ALL | _NOBODY):
            return True
        return self._acted_on(of, subject, clause)

    def _acted_on(self, of: Token, subject: int, clause: int) -> bool:
        """Whether a question asks in the passive of what a clause says in the active, or the other way."""
        asks = self._question.tokens[self._asked]
        be = any(one.lemma == "be" and one.dep in ("aux", "auxpass") for one in self._question.tokens)
        passive = be and asks.tag in ("VBN", "VBD")
        here = self._said.tokens[subject].dep == "nsubjpass"
        if passive == here:
            return False
        wanted = ("dobj", "pobj") if passive else ("nsubjpass", "nsubj")
        own = (
            one for one in self._said.tokens if _clause(self._said, one.head) == clause and one.dep in wanted
        )
        return (
            of.pos == "PRON"
            or stem(of.lemma.lower()) in {stem(one.lemma.lower()) for one in own}
            or not passive
        )


def _clause(said: Parse, at: int) -> int:
    """Return the verb, or what stands for one, of the clause that a token is in."""
    for _ in range(len(said.tokens)):
        token = said.tokens[at]
        if token.head == at or (token.pos in ("VERB", "AUX") and token.dep in _CLAUSES):
            break
        at = token.head
    return at


def _is_denied(said: Parse, clause: int) -> bool:
    """Whether a clause is denied by a word with its verb: not, never, nobody; "not just" denies nothing."""
    own = said.children(clause)
    below = [at for one in said.children(clause, "aux") for at in said.children(one)]
    for child in (*own, *below):
        token = said.tokens[child]
        if token.dep == "neg" or token.text.lower() in _DENYING:
            after = said.word(child + 1) if child + 1 < len(said.tokens) else ""
            if after not in _ONLY:
                return True
        if token.dep in _SUBJECTS and _is_nobody(said, child):
            return True
    return False


def _is_nobody(said: Parse, at: int) -> bool:
    return said.lemma(at) in _NOBODY or bool(said.words_on(at) & {"no", "neither", "none"})


def _is_either(said: Parse, at: int) -> bool:
    """Whether it is said of one of two, and not of which."""
    below = [at, *said.children(at)]
    below += [child for one in below[1:] for child in said.children(one)]
    return any(said.word(child) in ("either", "or") for child in below)


def _lacks(said: Parse, at: int, clause: int) -> bool:
    """Whether what is asked for is said to be lacking: "no parking", "without sugar"."""
    if at == clause:
        return "no" in said.words_on(at) and not _is_denied(said, clause)
    while at != clause:
        token = said.tokens[at]
        if said.words_on(at) & {"no", "neither"}:
            return token.dep not in _SUBJECTS  # there the clause is denied
        if token.text.lower() == "without":
            return True
        if token.head == at:
            break
        at = token.head
    return False


def _left_out(said: Parse) -> set[str]:
    """Return the stems of whom a sentence leaves out: everyone but Sam."""
    found: set[str] = set()
    for at, token in enumerate(said.tokens):
        before = said.lemma(at - 1) if at else ""
        if token.text.lower() in _BUT and (token.text.lower() != "but" or before in _ALL | _NOBODY | {"one"}):
            after = said.tokens[at + 1 : at + 4]
            found |= {stem(one.lemma.lower()) for one in after if one.pos in ("PROPN", "NOUN", "X")}
            found |= {one.text.lower() for one in after[:1]} & {"me", "us"}
    return found


def _heads(said: Parse, at: int) -> Iterator[int]:
    """Yield a noun and those that stand beside it: Eva and Karl, my dentist Ben."""
    yield at
    for child in said.children(at, "conj", "appos", "compound", "nmod"):
        yield from _heads(said, child)
