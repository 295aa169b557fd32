"""The clauses of a parsed turn: which verb governs a word, who does it, whether it is denied, and in which mood. Pure.

Each clause is looked at once, when a candidate first asks of it; a turn's candidates share what was found.
"""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from braid.learn.gates import wording
from braid.text.parse import Parse, Token
from braid.text.words import stem

Mood = Literal["actual", "planned", "wanted", "possible", "reported", "hypothetical", "asked"]
MOODS: Final[tuple[Mood, ...]] = (
    "actual", "planned", "wanted", "possible", "reported", "hypothetical", "asked",
)  # fmt: skip
"""From what is said to be so to what is not said at all; of two the later counts."""
_HEADS: Final = frozenset(["ROOT", "ccomp", "xcomp", "advcl", "relcl", "acl", "csubj", "pcomp", "parataxis"])
_SUBJECTS: Final = ("nsubj", "nsubjpass", "csubj", "expl")
_MODALS: Final[dict[str, Mood]] = {
    "will": "planned", "'ll": "planned", "’ll": "planned", "shall": "planned", "wo": "planned", "ll": "planned",
    "should": "wanted", "must": "wanted", "ought": "wanted",
    "could": "possible", "might": "possible", "may": "possible",
    "would": "hypothetical", "'d": "hypothetical", "’d": "hypothetical", "d": "hypothetical",
}  # fmt: skip
_OF_NOUNS: Final[dict[str, Mood]] = {
    "plan": "planned", "intention": "planned", "aim": "planned", "goal": "planned", "idea": "planned",
    "decision": "planned", "wish": "wanted", "hope": "wanted", "dream": "wanted", "desire": "wanted",
}  # fmt: skip
_NOTHING: Final[frozenset[int]] = frozenset()
_BEFORE_A_QUESTION: Final = frozenset(("PUNCT", "SPACE", "INTJ", "CCONJ", "SYM"))
_AFTER_AN_ANSWER: Final = frozenset(
    (",", ".", "!", "-", "wait", "way", "problem", "worries", "idea", "doubt", "matter")
)
_BEFORE_A_NOUN: Final = frozenset(("DET", "ADJ", "NOUN", "PROPN", "ADP", "NUM"))
_DEPTH: Final = 60
"""Steps up a sentence; none is deeper that anybody said."""


def _stronger(one: Mood, other: Mood) -> Mood:
    return MOODS[max(MOODS.index(one), MOODS.index(other))]


class Clause(NamedTuple):
    """What a verb, or the root of a sentence without one, says of its clause. Numbers are tokens'."""

    verb: int
    mood: Mood
    deniers: frozenset[int]
    subject: int | None
    past: bool


class Clauses:
    """The clauses of one parse."""

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        tokens = parse.tokens
        self._low = [token.text.lower() for token in tokens]
        self._known: dict[int, Clause] = {}
        self._stems: dict[str, list[int]] | None = None
        self._roots = [self._root(number) for number in range(len(tokens))]

    # -- places -----------------------------------------------------------------------------------

    def within(self, start: int, stop: int) -> list[int]:
        """Return the tokens that lie in part within these characters."""
        return [n for n, token in enumerate(self.parse.tokens) if token.start < stop and token.stop > start]

    def around(self, inside: list[int]) -> frozenset[int]:
        """Return the roots of the sentences of some tokens."""
        return frozenset(self._roots[number] for number in inside)

    def of(self, roots: frozenset[int]) -> list[int]:
        """Return the tokens of these sentences."""
        return [number for number, root in enumerate(self._roots) if root in roots]

    def places(self, word: str, roots: frozenset[int]) -> list[int]:
        """Return where a word, or another form of it, stands in these sentences."""
        if self._stems is None:
            self._stems = {}
            for number, token in enumerate(self.parse.tokens):
                low = self._low[number]
                for one in {stem(low), stem(token.lemma.lower()), *(stem(part) for part in low.split("-"))}:
                    self._stems.setdefault(one, []).append(number)
        return [number for number in self._stems.get(stem(word.lower()), ()) if self._roots[number] in roots]

    def text(self, number: int) -> str:
        """Return a token in small letters."""
        return self._low[number]

    def subtree(self, number: int) -> Iterator[int]:
        """Yield a token and what hangs on it, but for clauses of their own."""
        yield number
        for child in self.parse.children(number):
            if not self._is_head(child):
                yield from self.subtree(child)

    # -- clauses ----------------------------------------------------------------------------------

    def governing(self, number: int) -> int:
        """Return the verb, or the root, whose clause a token is in."""
        for _ in range(_DEPTH):
            if self._is_head(number):
                return number
            number = self.parse.tokens[number].head
        return number

    def clause(self, verb: int) -> Clause:
        """Return the clause that a verb governs."""
        if verb not in self._known:
            # A parse that hangs in a circle ends here.
            self._known[verb] = Clause(verb, "actual", frozenset(), None, past=False)
            self._known[verb] = self._read(verb)
        return self._known[verb]

    def denied(self, number: int) -> frozenset[int]:
        """Return the words that deny a token: on the way up to its verb, beside it, and those of its clause."""
        tokens = self.parse.tokens
        found: set[int] = set()
        place, verb = number, self.governing(number)
        contrasted = joined = False
        for _ in range(_DEPTH):
            if place == verb:
                break
            before = [child for child in self.parse.children(place) if child < place]
            if not joined:
                found.update(child for child in before if self._denies(child))
            if self._low[place] in wording.INSTEAD or any(self._low[c] in wording.INSTEAD for c in before):
                found.add(place)
            head = tokens[place].head
            if tokens[place].dep in ("conj", "appos"):
                word = self._cc(head, place)
                contrasted = contrasted or word in ("but", "not")
                # "No fever, just a cough": the first noun's "no" is its own; "no cats or dogs" is both's.
                joined = joined or word not in ("or", "nor")
            place = head
        left = self._denier_left_of(number)
        if left is not None and (tokens[left].head != verb or left > verb + 1 or number == verb):
            found.add(left)
        above = self.clause(verb).deniers
        if joined and number != verb and tokens[verb].pos in ("NOUN", "PROPN", "ADJ"):
            above = frozenset(one for one in above if tokens[one].head != verb)
        return frozenset(found - above if contrasted else found | above)

    def _denies(self, number: int) -> bool:
        """Whether a token is a word that denies; the "no" of "no, wait" answers, and denies nothing."""
        low = self._low[number]
        if low == "no" and number + 1 < len(self._low):
            return self._low[number + 1] not in _AFTER_AN_ANSWER
        return low in wording.DENIERS or self.parse.tokens[number].dep == "neg"

    def _denier_left_of(self, number: int) -> int | None:
        """Return the word right before a noun, its adjectives aside, that denies it: "no sms", "not those popups"."""
        tokens = self.parse.tokens
        for left in range(number - 1, max(number - 5, -1), -1):
            if self._low[left] in ("not", "no", "without", "nor"):
                return None if tokens[left].dep == "intj" and tokens[left + 1].pos == "PUNCT" else left
            if tokens[left].pos not in _BEFORE_A_NOUN:
                return None
        return None

    def subject_of(self, verb: int) -> int | None:
        """Return who does what a verb says."""
        return self.clause(verb).subject

    # -- one clause -------------------------------------------------------------------------------

    def _root(self, number: int) -> int:
        tokens = self.parse.tokens
        for _ in range(len(tokens)):
            head = tokens[number].head
            if head == number:
                return number
            number = head
        return number

    def _is_head(self, number: int) -> bool:
        token = self.parse.tokens[number]
        if token.head == number or token.dep == "ROOT":
            return True
        if token.dep in _HEADS:
            return True
        return token.dep == "conj" and token.pos in ("VERB", "AUX")

    def _cc(self, head: int, before: int) -> str:
        """Return the last joining word that hangs on a head before a place."""
        joined = [self._low[n] for n in self.parse.children(head, "cc", "neg") if n < before]
        return joined[-1] if joined else ""

    def _read(self, verb: int) -> Clause:
        token = self.parse.tokens[verb]
        subject = self._subject(verb, token)
        deniers = self._own_deniers(verb, subject)
        mood, inherited = self._mood(verb, token)
        return Clause(verb, mood, deniers ^ inherited, subject, self._is_past(verb, token))

    def _subject(self, verb: int, token: Token) -> int | None:
        """Return who does what a verb says: its own subject, or whose it is by the words above it."""
        tokens = self.parse.tokens
        own = self.parse.child(verb, "nsubj", "nsubjpass", "csubj")
        if own is not None:
            of_noun = token.dep == "relcl" and self._low[own] in ("who", "that", "which")
            return token.head if of_noun else own
        if token.dep == "relcl":
            return token.head
        if token.head == verb or token.dep not in ("xcomp", "conj", "advcl", "pcomp", "ccomp"):
            return None
        told = self.parse.child(token.head, "dobj", "dative")
        controlled = token.dep == "xcomp" and tokens[token.head].lemma.lower() in wording.CONTROLLED
        if controlled and told is not None:
            return told
        return self.clause(self.governing(token.head)).subject

    def _own_deniers(self, verb: int, subject: int | None) -> frozenset[int]:
        tokens = self.parse.tokens
        found: set[int] = set()
        for child in self.parse.children(verb):
            dep, low = tokens[child].dep, self._low[child]
            if self._denies(child) and dep in ("neg", "advmod", "det", "preconj"):
                found.add(child)
            elif dep == "advmod" and low in ("longer", "anymore"):
                found.update(one for one in self.parse.children(child) if self._low[one] in ("no", "not"))
        if subject is not None and tokens[subject].head == verb:
            if self._low[subject] in wording.NOBODY:
                found.add(subject)
            found.update(
                one
                for one in self.parse.children(subject)
                if self._low[one] in ("no", "neither") and one < subject
            )
        return frozenset(found)

    def _is_past(self, verb: int, token: Token) -> bool:
        """Whether a verb says what was, and not that it still is."""
        if token.dep == "xcomp" and self._low[token.head] == "used":
            return True
        return token.tag == "VBD" and self.parse.child(verb, "aux", "auxpass") is None

    def _mood(self, verb: int, token: Token) -> tuple[Mood, frozenset[int]]:
        """Return the mood of a clause, and the denials that pass down to it."""
        above, deniers = self._mood_from_above(verb, token)
        mood = _stronger(self._own_mood(verb, token), above)
        return ("asked" if mood != "reported" and self._is_asked(verb, token) else mood), deniers

    def _own_mood(self, verb: int, token: Token) -> Mood:
        """Return the mood that a verb's own helpers give it, and how its sentence begins."""
        tokens = self.parse.tokens
        if self._has_mark(verb):
            polite = token.head != verb and tokens[token.head].lemma.lower() in wording.POLITE
            return "wanted" if polite else "hypothetical"
        mood: Mood = "actual"
        helped = False
        for child in self.parse.children(verb):
            low = self._low[child]
            if tokens[child].dep == "advmod" and low in ("maybe", "perhaps") and child < verb:
                mood = _stronger(mood, "possible")
            elif tokens[child].dep in ("aux", "auxpass"):
                helped = True
                mood = _stronger(mood, self._modal(child, verb, token))
        if mood == "planned" and any(map(self._has_mark, self.parse.children(verb, "advcl"))):
            mood = "possible"
        acts = self.parse.child(verb, *_SUBJECTS) is not None
        if token.tag == "VB" and token.dep == "ROOT" and not acts and not helped:
            mood = _stronger(mood, "wanted")
        if self._low[verb] in ("going", "gonna") and self._says_to(verb):
            past = self.parse.words_on(verb) & {"was", "were"}
            mood = _stronger(mood, "hypothetical" if past else "planned")
        return mood

    def _modal(self, helper: int, verb: int, token: Token) -> Mood:
        """Return the mood that a helping verb gives."""
        mood = _MODALS.get(self._low[helper], "actual")
        if mood != "hypothetical":
            return mood
        if self._low[helper] != "would" and token.tag in ("VBN", "VBD"):
            return "actual"  # "we'd budgeted": had
        rather = self.parse.words_on(verb) & {"rather", "sooner"}
        if rather or (token.lemma.lower() in wording.POLITE and not self._has_if(verb)):
            return "wanted"
        head = self.parse.lemma(token.head)
        return "planned" if token.dep == "ccomp" and head in ("say", "promise", "agree", "tell") else mood

    def _mood_from_above(self, verb: int, token: Token) -> tuple[Mood, frozenset[int]]:
        """Return what the words above a clause make of it, and the denials that reach down to it."""
        if token.head == verb or token.dep == "ROOT":
            return "actual", _NOTHING
        tokens = self.parse.tokens
        lemma = tokens[token.head].lemma.lower()
        if token.dep == "acl":
            return _OF_NOUNS.get(lemma, "actual"), _NOTHING
        up = self.clause(self.governing(token.head))
        if token.dep == "conj":
            own = self.parse.child(verb, *_SUBJECTS) is not None
            passed = up.deniers if not own and self._cc(token.head, verb) in ("or", "nor") else _NOTHING
            return ("actual" if own else up.mood), passed
        if token.dep == "pcomp":
            thought = tokens[tokens[token.head].head].lemma.lower() in ("think", "dream", "talk", "consider")
            return ("possible" if thought and lemma in ("about", "of") else up.mood), up.deniers
        if token.dep not in ("xcomp", "ccomp", "csubj", "parataxis") or self._stands_alone(verb, token):
            return "actual", _NOTHING
        return self._infinitive(token, up, lemma) if token.dep == "xcomp" else self._content(up, lemma)

    @staticmethod
    def _infinitive(token: Token, up: Clause, lemma: str) -> tuple[Mood, frozenset[int]]:
        """Return what the verb above makes of what is to be done: planned, wanted, or done."""
        made: Mood = "actual"
        if lemma in wording.WISHED:
            made = "hypothetical"
        elif lemma in wording.PLANNED:
            made = "planned"
        elif lemma in wording.PONDERED:
            made = "possible"
        elif lemma in ("like", "love", "prefer") and up.mood == "actual":
            made = "actual"  # "I like to swim" says that it is so; "I'd like to" doesn't.
        elif lemma in wording.WANTED and (token.tag == "VB" or lemma in ("want", "need")):
            made = "wanted"
        return _stronger(up.mood, made), up.deniers

    def _content(self, up: Clause, lemma: str) -> tuple[Mood, frozenset[int]]:
        """Return what the verb above makes of what is said, thought or wished."""
        if up.mood == "wanted" and lemma in wording.NOTED:
            return "actual", _NOTHING
        if lemma in wording.WISHED:
            return "hypothetical", up.deniers
        if lemma in ("hope", "want", "let", "ensure", "make", "need"):
            return _stronger(up.mood, "wanted"), up.deniers
        if lemma in wording.PONDERED:
            return "possible", _NOTHING
        if lemma not in wording.REPORTED:
            return up.mood, _NOTHING
        own = up.subject is None or self._low[up.subject] in wording.FIRST
        passed = up.deniers if lemma in wording.TRANSFERRED else _NOTHING
        return (up.mood if own else _stronger(up.mood, "reported")), passed

    def _is_asked(self, verb: int, token: Token) -> bool:
        """Whether a clause is, or is part of, a question."""
        if token.dep not in ("ROOT", "conj", "xcomp", "ccomp"):
            return False
        if token.head == verb or token.dep == "ROOT":
            return self._ends_asking(verb) or self._begins_asking(verb)
        if self._stands_alone(verb, token):
            return False
        tokens = self.parse.tokens
        own = token.dep == "conj" and self.parse.child(verb, *_SUBJECTS) is not None
        noted = token.dep == "ccomp" and tokens[token.head].lemma.lower() in wording.NOTED
        return not own and not noted and self.clause(self.governing(token.head)).mood == "asked"

    def _ends_asking(self, verb: int) -> bool:
        return any(self._low[n].startswith("?") for n in self.of(frozenset((self._roots[verb],))) if n > verb)

    def _begins_asking(self, verb: int) -> bool:
        """Whether a helping verb stands first and a pronoun behind it: "do you know"."""
        tokens = self.parse.tokens
        mine = self.of(frozenset((self._roots[verb],)))
        first = next((n for n in mine if tokens[n].pos not in _BEFORE_A_QUESTION), None)
        subject = self.parse.child(verb, *_SUBJECTS)
        return (
            first is not None
            and subject is not None
            and tokens[first].dep in ("aux", "auxpass")
            and tokens[first].head == verb
            and first < subject
            and tokens[subject].pos == "PRON"
            and self._low[first] not in ("let", "may")
        )

    def _stands_alone(self, verb: int, token: Token) -> bool:
        """Whether a clause that comes before its head is a statement of its own: "I live in Hull, do you?"."""
        if token.dep not in ("ccomp", "parataxis") or verb > token.head or self._has_mark(verb):
            return False
        tokens = self.parse.tokens
        mine, theirs = (self.parse.child(at, *_SUBJECTS) for at in (verb, token.head))
        reported = tokens[token.head].lemma.lower() in wording.REPORTED
        if mine is None or self._low[mine] in wording.FIRST:
            return True
        return (theirs is None or theirs > verb) and not reported

    def _has_mark(self, verb: int) -> bool:
        """Whether a clause is a condition; "even if" is none."""
        marks = self.parse.children(verb, "mark")
        is_even = "even" in self.parse.words_on(verb)
        return not is_even and any(self._low[mark] in wording.CONDITIONS for mark in marks)

    def _has_if(self, verb: int) -> bool:
        """Whether a condition stands before a verb."""
        return any(c < verb and self._has_mark(c) for c in self.parse.children(verb, "advcl"))

    def _says_to(self, verb: int) -> bool:
        return any(self.parse.words_on(c) & {"to", "na"} for c in self.parse.children(verb, "xcomp"))
