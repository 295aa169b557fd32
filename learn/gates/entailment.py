"""Does the sentence say what the claim says: of whom, denied or not, as a fact or as a wish, now or then. Pure.

An explicit claim must be supported by the parse of its quote's sentences; an implicit one must not be contradicted.
An NLI model is asked as well where the user passes one. What was stated as an event was never a sentence.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from braid.learn.candidate import Candidate
from braid.learn.gates import wording
from braid.learn.gates.clauses import Clauses, Mood
from braid.learn.gates.evidence import Found
from braid.learn.gates.outcome import GateError, Outcome
from braid.learn.turn import Turn
from braid.stance.claims import of_one
from braid.stance.relations import compared_as, name_of
from braid.stance.words import words_of
from braid.text.hinted import hinted
from braid.text.sentences import BLANK, readable
from braid.text.words import STOP, listed, normal, stem, words

ENTAILED: Final = 0.7
CONTRADICTED: Final = 0.5
Verdict = Literal["entailed", "neutral"]
_SARCASM: Final = hinted(
    re.compile(wording.SARCASM, re.IGNORECASE),
    "/s yeah as_if just_what lucky thank sure right obviously clearly because",
)
_IRONY: Final = hinted(
    re.compile(wording.IRONY, re.IGNORECASE),
    "passion favo dream of_my happier thrilled excited joy treat delight pleasure wonderful lovely convenient"
    " love adore the_dream bliss great fantastic perfect brilliant awesome terrific amazing fabulous super enjoy"
    " exciting fun",
)
_FRAME: Final = hinted(
    re.compile(wording.FRAME, re.IGNORECASE | re.MULTILINE),
    "what_if hypothetical argument say_for let's_say let’s_say lets_say theory novel story game dream film movie"
    " scenario script"
    " play campaign book false untrue not_true lie myth rumo not_that example sample dummy test should were",
)
_WITHIN: Final = re.compile(
    r"\b(?:no,? wait|wait,? no|scratch that|strike that|actually,? no|correction\b|nvm|never ?mind|or rather)\b",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"[\s.!?,;:…)–—-]*(?:(?:no|oh|oops|hm+|sorry|ah)[, ]+)*(?:(?:wait|hang on|hold on|nope)\b|scratch that|strike that"
    r"|forget (?:that|it)\b|never ?mind|nvm\b|correction\b|edit:|i take (?:that|it) back|actually,? no\b"
    r"|on second thought"
    r"|no, (?:it['’]?s|make|not|that)|oops|i meant?\b|i was wrong|that['’]?s wrong)",
    re.IGNORECASE,
)
"""What follows a statement that its speaker takes back at once."""
_CODE_LINE: Final = re.compile(
    r"^\s*(?:[\w.\[\]]+\s*(?:=|:=|\+=|=="
    r"|=>)\s*[\"'\[{(\w]|[{\[]\s*[\"'{\[]|\"[\w -]+\"\s*:|[\w.]+\(.*\)\s*;?\s*$|</?\w+[^>]*>"
    r"|(?:def|class|function|const|let|var|import|from|return|public|private|static|export|select|insert|update|delete"
    r"|create table|if|for|while|else|elif|try|catch|fn|#include|curl|git|docker|kubectl|npm|pip"
    r"|sudo)\b[^.!?]*[(){};=\\]"
    r"|[-+]{1,3} ?\w+.*[=;{}]|#!|\$ |>>> )",
    re.IGNORECASE,
)
_CORRECTS: Final = re.compile(
    r"\b(?:actually|wait|no|not|instead|forget|correction|scratch|changed?|mistak\w+|wrong|meant?|sorry|rather|anymore"
    r"|any more|nvm|never ?mind|oops|ignore|retract|take (?:it|that) back|update|stopped?|quit|cancel\w*"
    r"|turns out)\b|n['’]t\b",
    re.IGNORECASE,
)
_PLAN_RELATIONS: Final = listed(
    "plans planning going moving will goal due is scheduled starts ends expires happens wants intends "
    "begins launches takes meets meeting has appointment deadline date release decided"
)
_WISH_TYPES: Final = frozenset(("preference", "goal", "step", "interest", "correction"))
_WISHES: Final = listed(
    "wants needs prefers wishes hopes likes loves should must required request asks goal decided"
)
_STATES_A_LIKING: Final = re.compile(
    r"\b(?:love|like|enjoy|favou?rite|best|highlight|great|fun|passion)\b", re.IGNORECASE
)
_ENDING_PHRASES: Final = frozenset(
    (
        ("give", "up"),
        ("turn", "off"),
        ("switch", "off"),
        ("shut", "down"),
        ("shut", "off"),
        ("call", "off"),
        ("move", "off"),
    )
)
_MOVES: Final = frozenset(["switch", "move", "migrate", "change", "transition", "go", "convert"])


class Judgement(NamedTuple):
    """Three probabilities of sum 1: that a premise entails (`entailed`), leaves open (`neutral`) or contradicts
    (`contradicted`) a hypothesis."""

    entailed: float
    neutral: float
    contradicted: float


class Nli(Protocol):
    """A model of natural language inference, handed in from above."""

    @property
    def name(self) -> str:
        """Which model, with its version."""
        ...

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """Return what each premise says of its hypothesis, in their order."""
        ...


class Spoken(NamedTuple):
    """A turn as the gates see it: its words without code and quotations, and its clauses where it was parsed."""

    turn: Turn
    shown: str
    clauses: Clauses | None


def spoken(turn: Turn, clauses: Clauses | None) -> Spoken:
    """Return a turn with what isn't its speaker's own plain speech blanked out."""
    return Spoken(turn, readable(turn.text, turn.speaker if turn.role == "user" else None), clauses)


def entailment(
    candidate: Candidate, said: Spoken, found: Found, is_known: Callable[[str], bool], nli: Nli | None = None
) -> Verdict:
    """Return whether a claim is said by its quote's sentences, or left open. `is_known`: whether a name is known.

    Raises GateError with what speaks against it.
    """
    if candidate.maker.name == "events":
        return "entailed"
    if candidate.modality == "asked":
        _stop("asked")
    _is_own_speech(candidate, said, found)
    verdict: Verdict = "neutral"
    if said.clauses is not None:
        verdict = _Sentence(candidate, said, said.clauses, found, is_known).verdict()
    elif nli is None and candidate.claim.source_type == "explicit":
        _stop("unparsed")
    return verdict if nli is None else _asked_of(nli, candidate, said, found, verdict)


def _stop(outcome: Outcome) -> None:
    raise GateError("entailment", outcome)


def _is_own_speech(candidate: Candidate, said: Spoken, found: Found) -> None:
    """Raise GateError where the quote is of a quotation or of code, or is meant the other way round."""
    text = said.turn.text
    shown = said.shown[found.start : found.stop]
    if BLANK in shown and not any(c.isalpha() for c in shown.replace(BLANK, "")):
        _stop("code" if "`" in text or text[: found.start].endswith(("\t", "    ")) else "quoted")
    start = text.rfind("\n", 0, found.start) + 1
    stop = text.find("\n", found.stop)
    line = text[start : stop if stop >= 0 else len(text)]
    if any(mark in line for mark in '=;{}()<>"$#') and _CODE_LINE.match(line):
        _stop("code")
    first = max(text.rfind(mark, 0, found.start) for mark in ".!?\n") + 1
    ends = [place for mark in ".!?\n" if (place := text.find(mark, found.stop - 1)) >= 0]
    # The irony of a sentence often stands before or behind it: "Great. Another outage."
    around = text[max(0, first - 40) : (min(ends) if ends else len(text)) + 60]
    if (
        _FRAME.search(text[first : found.start + len(found.quote) // 2 + 1])
        and candidate.modality != "hypothetical"
    ):
        _stop("hypothetical")
    if _SARCASM.search(around) or (_is_liking(candidate) and _IRONY.search(around)):
        _stop("sarcasm")


def _is_liking(candidate: Candidate) -> bool:
    if candidate.type in ("preference", "interest") or _STATES_A_LIKING.search(candidate.claim.object):
        return True
    return bool({stem(word) for word in name_of(candidate.claim.rel).split("_")} & wording.ATTITUDES)


def is_taken_back(text: str, found: Found, value: str) -> bool:
    """Whether the words right behind a claim's value, behind its quote or its sentence, take it back."""
    if _TAKEN_BACK.match(text, found.stop):
        return True
    last = value.lower().split()[-1:]
    at = found.quote.lower().rfind(last[0]) if last else -1
    if at >= 0 and _WITHIN.search(found.quote, at):
        return True
    ends = [place for mark in ".!?\n" if (place := text.find(mark, found.stop - 1)) >= 0]
    return bool(ends) and _TAKEN_BACK.match(text, min(ends)) is not None


def _asked_of(nli: Nli, candidate: Candidate, said: Spoken, found: Found, verdict: Verdict) -> Verdict:
    """Return the verdict when a model was asked too: it may raise what the parse left open, never what the parse
    refused."""
    judged = nli.judge([(_premise(said, found), words_of(candidate.claim))])[0]
    if judged.contradicted >= CONTRADICTED:
        _stop("contradicted")
    if candidate.claim.source_type != "explicit":
        return verdict
    return "entailed" if judged.entailed > ENTAILED else "neutral"


def _premise(said: Spoken, found: Found) -> str:
    if said.clauses is None:
        return found.quote
    inside = said.clauses.of(said.clauses.around(said.clauses.within(found.start, found.stop)))
    tokens = said.clauses.parse.tokens
    return said.turn.text[tokens[inside[0]].start : tokens[inside[-1]].stop] if inside else found.quote


class _Sentence:
    """One claim beside the sentences of its quote."""

    def __init__(
        self,
        candidate: Candidate,
        said: Spoken,
        clauses: Clauses,
        found: Found,
        is_known: Callable[[str], bool],
    ) -> None:
        self.candidate = candidate
        self.claim = candidate.claim
        self.turn = said.turn
        self.clauses = clauses
        self.is_known = is_known
        self.by_model = candidate.maker.name == "model"
        self.explicit = self.claim.source_type == "explicit"
        self.corrects = self.claim.source_type == "corrected" or candidate.type == "correction"
        self.inside = clauses.within(found.start, found.stop)
        self.roots = clauses.around(self.inside)
        self.rel = name_of(self.claim.rel).split("_")
        self.shown = said.shown

    def verdict(self) -> Verdict:
        if not self.inside:
            _stop("words_absent")
        anchor, met = self._anchor()
        if self.corrects:
            if self.by_model and not _CORRECTS.search(self.turn.text):
                _stop("relation_absent")
            return "entailed" if met else "neutral"
        verb = self.clauses.governing(anchor)
        clause = self.clauses.clause(verb)
        if self._is_hidden(anchor) and self._is_hidden(verb):
            _stop("quoted")
        if not self._is_presupposed(anchor):
            self._mood(clause.mood, verb)
            self._polarity(anchor, verb)
        if not self.explicit:
            return "entailed"
        self._tense(clause.past, verb)
        sure = self._subject(anchor, verb) and met
        if self.by_model:
            sure = self._relation(verb) and sure
        return "entailed" if sure else "neutral"

    # -- where ------------------------------------------------------------------------------------

    def _anchor(self) -> tuple[int, bool]:
        """Return the token of the claim's object that stands highest, and whether all its words are in the
        sentences."""
        low = [word for word in words(self.claim.object) if word]
        content = [word for word in low if word not in STOP] or low
        places: list[int] = []
        lacking = False
        span = set(self.inside)
        for word in content:
            at = self.clauses.places(word, self.roots)
            lacking = lacking or not at
            places.extend([one for one in at if one in span] or at)
        dated = compared_as(self.claim.rel).of == "date" or any(word.isdigit() for word in content)
        if lacking and self.by_model and self.explicit and not (dated and places):
            _stop("words_absent")
        if not places:
            verbs = [number for number in self.inside if self.clauses.governing(number) == number]
            return (verbs or self.inside)[0], False
        group = set(places)
        tokens = self.clauses.parse.tokens
        tops = [place for place in places if tokens[place].head not in group or tokens[place].head == place]
        return (tops or places)[-1], not lacking

    def _is_presupposed(self, anchor: int) -> bool:
        """Whether one phrase names subject and object both, whatever is said of them: "will my sister Bridget
        come?"."""
        top = self._phrase(anchor)
        if any(self._phrase(place) == top and place != anchor for place in self._places()):
            return True
        return self.candidate.type == "relation" and any(
            self.clauses.text(child) in ("my", "our") for child in self.clauses.parse.children(top)
        )

    def _is_hidden(self, number: int) -> bool:
        """Whether a word stands in a quotation or in code."""
        return self.shown[self.clauses.parse.tokens[number].start] == BLANK

    def _phrase(self, number: int) -> int:
        """Return the noun that a word belongs to as its name, its owner or its description."""
        tokens = self.clauses.parse.tokens
        for _ in range(10):
            if (
                tokens[number].dep not in ("poss", "appos", "compound", "nmod", "flat")
                or tokens[number].head == number
            ):
                break
            number = tokens[number].head
        return number

    # -- mood -------------------------------------------------------------------------------------

    def _mood(self, mood: Mood, verb: int) -> None:
        """Raise GateError where a clause says it in another mood than the claim."""
        claimed = self.candidate.modality
        rel = frozenset(self.rel)
        if mood == "hypothetical":
            fits = claimed == "hypothetical"
        elif mood == "actual" or not self.explicit:
            fits = True
        elif mood == "reported":
            fits = self.claim.said_by is not None or self._is_reporter(verb)
        elif mood == "possible":
            fits = claimed in ("possible", "hypothetical") or self.claim.hedge is not None
        elif mood == "asked":
            fits = False
        else:
            fits = (
                claimed in ("planned", "wanted", "possible", "hypothetical")
                or self.candidate.type in _WISH_TYPES
                or not rel.isdisjoint(_PLAN_RELATIONS)
                or (mood == "planned" and compared_as(self.claim.rel).of == "date")
                or (mood == "wanted" and not rel.isdisjoint(_WISHES))
            )
        if not fits and mood != "actual":
            _stop(mood)

    def _is_reporter(self, verb: int) -> bool:
        """Whether the claim is of the one who said or thought it: John, of "John thinks React is better"."""
        tokens = self.clauses.parse.tokens
        for _ in range(10):
            head = tokens[verb].head
            if head == verb or tokens[verb].dep not in ("ccomp", "xcomp", "parataxis"):
                return False
            verb = self.clauses.governing(head)
            who = self.clauses.subject_of(verb)
            if who is not None and self._names(who):
                return True
        return False

    def _names(self, who: int) -> bool:
        """Whether a token, with what hangs on it, says the claim's subject."""
        low = {stem(self.clauses.text(number)) for number in self.clauses.subtree(who)}
        return any(stem(word) in low for word in self._subject_words())

    # -- polarity ---------------------------------------------------------------------------------

    def _polarity(self, anchor: int, verb: int) -> None:
        """Raise GateError where the sentence denies what the claim states, or the other way round."""
        said = set(words(self.claim.object)) | set(self.claim.object.lower().split())
        stems = {stem(word) for word in self.rel}
        attitude = bool(stems & wording.ATTITUDES) or self.candidate.type in ("preference", "interest")
        claimed = self.claim.polarity
        if stems & (wording.AGAINST | wording.ENDED) or (
            self.rel[-1] == "from" and len(self.rel) > 1 and stem(self.rel[0]) in {"move", "switch", "migrat"}
        ):
            claimed = not claimed
        if said & wording.DENIERS or "n't" in self.claim.object:
            claimed = not claimed
        stated = len(self.clauses.denied(anchor)) % 2 == 0
        if self._is_ended(anchor, verb, {stem(word) for word in said}, attitude=attitude):
            stated = not stated
        if claimed != stated:
            _stop("polarity")

    def _is_ended(self, anchor: int, verb: int, said: set[str], *, attitude: bool) -> bool:
        """Whether the verbs above a word end, avoid or dislike what it names."""
        tokens = self.clauses.parse.tokens
        flips = 0
        place = anchor
        for _ in range(20):
            head = tokens[place].head
            if head == place:
                break
            token = tokens[head]
            lemma, dep = token.lemma.lower(), tokens[place].dep
            if token.pos in ("VERB", "AUX") and stem(lemma) not in said:
                ends = lemma in wording.ENDING or any(
                    (lemma, self.clauses.text(child)) in _ENDING_PHRASES
                    for child in self.clauses.parse.children(head)
                )
                straight = dep in ("dobj", "nsubjpass", "pcomp") and self.candidate.type != "episode"
                flips += ends and straight
                flips += lemma in wording.UNDONE and dep in ("xcomp", "ccomp")
                flips += attitude and lemma in wording.UNWANTED and dep in ("dobj", "xcomp")
                if dep == "prep" and tokens[place].text.lower() == "from" and lemma in _MOVES:
                    flips += 1
            if dep in ("advcl", "relcl", "acl", "parataxis", "csubj") or (
                dep == "conj" and tokens[place].pos == "VERB"
            ):
                break
            if dep == "ccomp" and lemma not in wording.UNDONE:
                break
            place = head
        return flips % 2 == 1

    # -- tense ------------------------------------------------------------------------------------

    def _tense(self, past: bool, verb: int) -> None:
        """Raise GateError where what was is claimed to be: "I lived in Hull" is no home."""
        if not past or self.claim.valid_to is not None or self.candidate.temporal == "episode":
            return
        lemma = self.clauses.parse.lemma(verb)
        first = self.rel[0]
        present = first.endswith("s") and first not in ("is", "was", "has") and stem(first) == stem(lemma)
        state = (
            lemma == "be"
            and compared_as(self.claim.rel).temporal == "state"
            and (first == "is" or self.rel[-1] == "is" or self.rel[:2] == ["works", "as"])
        )
        if present or state:
            _stop("tense")

    # -- subject ----------------------------------------------------------------------------------

    def _subject_words(self) -> list[str]:
        low = [
            word
            for word in words(self.claim.subject)
            if word not in ("user", "s", "the", "my", "our", "a", "an")
        ]
        return low or words(self.claim.subject)

    def _subject(self, anchor: int, verb: int) -> bool:
        """Return whether the clause is surely of the claim's subject; raise GateError where it is of another."""
        who = self.clauses.subject_of(verb)
        subject = normal(self.claim.subject)
        mine = subject in ("user", "i", "me", "we") or of_one(self.claim.subject, self.turn.speaker)
        if who is None:
            return mine or bool(self._places()) or not self.by_model
        below = set(self.clauses.subtree(who))
        if mine:
            return self._is_speakers(who, below, anchor, verb)
        return self._is_anothers(who, below, anchor, verb)

    def _places(self) -> list[int]:
        return [place for word in self._subject_words() for place in self.clauses.places(word, self.roots)]

    def _is_attitude(self) -> bool:
        return bool({stem(word) for word in self.rel} & wording.ATTITUDES)

    def _is_speakers(self, who: int, below: set[int], anchor: int, verb: int) -> bool:
        text, tokens = self.clauses.text, self.clauses.parse.tokens
        low = {text(number) for number in below}
        if text(who) in wording.FIRST or low & {"i", "we"}:
            return True
        if text(who) in wording.SECOND:
            _stop("subject")
        person = self._is_person(who)
        beside = {text(number) for number in self.clauses.subtree(verb)}
        copula = tokens[verb].lemma.lower() == "be" and not self._is_attitude()
        if anchor in below or (copula and low & wording.FIRST):
            return bool(beside & wording.FIRST) or not self.by_model
        if person:
            if self._is_attitude() or not (beside - low) & wording.FIRST:
                _stop("subject")
            return True
        if beside & wording.FIRST or self._is_in_first_person(verb):
            return True
        if (self.by_model and text(who) not in wording.THIRD) or tokens[who].pos == "PROPN":
            _stop("subject")
        return False

    def _is_person(self, who: int) -> bool:
        token = self.clauses.parse.tokens[who]
        if token.lemma.lower() in wording.PEOPLE or self.clauses.text(who) in ("he", "she", "they", "who"):
            return True
        return token.pos == "PROPN" and (self._is_attitude() or self.is_known(token.text))

    def _is_in_first_person(self, verb: int) -> bool:
        """Whether a clause above is the speaker's: "I'd love if the invoices could sync"."""
        tokens = self.clauses.parse.tokens
        for _ in range(10):
            head = tokens[verb].head
            if head == verb:
                return False
            verb = self.clauses.governing(head)
            who = self.clauses.subject_of(verb)
            if who is not None and self.clauses.text(who) in wording.FIRST:
                return True
        return False

    def _is_anothers(self, who: int, below: set[int], anchor: int, verb: int) -> bool:
        """Return whether a clause is surely of somebody other than the speaker, or of a thing."""
        text, tokens = self.clauses.text, self.clauses.parse.tokens
        places = self._places()
        if text(who) in wording.FIRST and tokens[who].dep != "poss":
            return self._is_of_whom_the_speaker_tells(places, verb)
        if below & set(places):
            owner = {place for place in places if tokens[place].dep == "poss" and tokens[place].head == who}
            if owner == below & set(places) and anchor not in below and self._is_attitude():
                _stop("subject")
            return True
        if text(who) in wording.THIRD:
            return bool(places) or self.is_known(self.claim.subject)
        if places:
            return anchor in below or self._is_reporter(verb) or self._is_beside(who, places, verb)
        if self.by_model and not self.is_known(self.claim.subject):
            _stop("subject")
        return False

    def _is_of_whom_the_speaker_tells(self, places: list[int], verb: int) -> bool:
        """Return whether "I" speak of the claim's subject here; raise GateError where I speak of myself."""
        lemma = self.clauses.parse.lemma(verb)
        if not places:
            if self.by_model or self._is_attitude() or stem(self.rel[0]) == stem(lemma):
                _stop("subject")
            return False
        if self._is_attitude() and lemma not in ("know", "think", "hear", "bet"):
            _stop("subject")
        return True

    def _is_beside(self, who: int, places: list[int], verb: int) -> bool:
        """Return whether a clause of another's is of the claim's subject too: given to it, or what the other is."""
        tokens = self.clauses.parse.tokens
        named = self._is_person(who) or tokens[who].pos == "PROPN"
        here = set(places) & set(self.clauses.subtree(verb))
        given = any(tokens[place].dep in ("dobj", "dative") for place in here)
        is_one = tokens[verb].lemma.lower() == "be"
        if self._is_attitude() or (named and not (here and (given or is_one))):
            _stop("subject")
        return bool(here)

    # -- relation ---------------------------------------------------------------------------------

    def _relation(self, verb: int) -> bool:
        """Return whether the sentence has a word of the relation; raise GateError where it only mentions the object."""
        around = self.clauses.of(self.roots)
        tokens = self.clauses.parse.tokens
        low = {stem(self.clauses.text(n)) for n in around} | {stem(tokens[n].lemma.lower()) for n in around}
        head = self.rel[1] if self.rel[0] in ("is", "has") and len(self.rel) > 1 else self.rel[0]
        stated = wording.STATED_BY.get(head)
        own = {stem(word) for word in self.rel if word not in wording.IDLE_RELATION}
        if own & low:
            return True
        if stated is not None:
            if not stated & low:
                _stop("relation_absent")
            return True
        if own and tokens[verb].pos not in ("VERB", "AUX"):
            _stop("relation_absent")  # a mention says nothing of what it mentions
        return not own
