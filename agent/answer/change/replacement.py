"""A later turn that may stand in the place of what would be told. Pure.

It isn't certain, so both are told and neither as what holds. Three kinds are read. One names what is told,
and says that something else stands in its place: "the cough comes from the ramipril. She switched me to candesartan",
or that it failed, ended or can't be: "can't do the 27th, tuesday?". What its speaker puts right at once counts as such.
Another is a short clause that only brings a value of the same kind, with a word of change and no topic of its own,
close behind what it may mean: "leaving 5 then", "Henne Strand instead" (ADR 87).
The last answers nearly as well, on the same topic, with another value of the kind: "list stands at 65 people".
"""

import re
from collections.abc import Iterator, Sequence, Set
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec

from braid.agent.answer.change.former_value import CANNOT, IS_OUT
from braid.agent.answer.change.variants import MENDED_WITHIN, OF_ONE
from braid.agent.answer.change.wording import CLAUSE, FOR_ONCE, PROPOSED, of_another, telling_clause
from braid.agent.answer.choice.matching import LIGHT
from braid.agent.answer.question.reading import AskedQuestion, Wants
from braid.agent.answer.relevance.mismatch import mismatch
from braid.agent.answer.turn.bearing import ROLE, Bearing, spelt_names
from braid.agent.answer.turn.spans import AnswerSpan, kind_of
from braid.agent.answer.turn.turn import is_agent, when_of
from braid.ledger.record.record import ExperienceBody
from braid.recall.decompose import Question
from braid.recall.hits import Hit, is_soon_after, speaker
from braid.text.calendar import MONTH_NAME, MONTHS, WEEKDAYS
from braid.text.numbers import VALUES, codes
from braid.text.numbers import WORD as NUMBER_WORD
from braid.text.sentences import sentences
from braid.text.words import STOP, stem, stems, telling, telling_stems, words

NEXT: Final = 2
"""How many turns behind one on the topic a turn may still mean it."""
WITHIN: Final = timedelta(days=7)
"""How long after it in one session, where a clause is of nothing but its value."""
MOST_OTHERS: Final = 1
"""How many words a clause may have besides its value and those of the topic: more would name a topic of its own."""
ON_TOPIC: Final = 0.5
"""What share of the question's words a turn on the topic has at least."""
_MAKING_IT: Final = (
    r"(?<!can )(?<!['’]t )(?<!not )(?<!could )(?<!will )(?<!['’]ll )(?<!to )\bmake (?:it|that)\b"
)
"""Not who can or can't make it."""
_IS_BETTER: Final = r"\b(?:works?|is|are|was|were) (?:much |even |way |a lot )?better(?! than\b)\b"
_MARK: Final = re.compile(
    r"\bthen\W*$|^(?:ok(?:ay)?,? )?then\b(?! (?:it|that|this|there|he|she|they|we|you|i|not|no)\b)"
    rf"|\binstead\b(?! of\b)|\bnow\b|\bfrom (?:\w+ )?\w+ on(?:wards)?\b|{_MAKING_IT}|\brather\b"
    rf"|{_IS_BETTER}|\bcan (?:now )?only\b"
    r"|\b(?:down|up|back) to\b|\bit is\W*$|\b(?:it|that|they)(?:['’]ll| will) be\b",
    re.IGNORECASE,
)
_AGREES: Final = re.compile(
    r"\W*(?:yes|yeah|yep|yup|ok(?:ay)?|sure|fine|perfect|great|good|lovely|deal|done|agreed|works|sounds|me too"
    r"|no problem)\b",
    re.IGNORECASE,
)
"""Opens the reply of somebody who takes up what was proposed."""
_DECLINES: Final = re.compile(
    r"\b(?:no(?! problem\b| worries\b)|nope|not(?! what\b)|never|declined|refused"
    r"|rejected|turned down)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Says in a reply that what was proposed isn't taken up."""
_BESIDES: Final = re.compile(r"\b(?:extra|also|as well|another)\b", re.IGNORECASE)
_BETTER: Final = re.compile(_IS_BETTER, re.IGNORECASE)
_MAKE_IT: Final = re.compile(_MAKING_IT, re.IGNORECASE)
_NUMBER: Final = re.compile(
    rf"(?<![\w.:-])[$€£]?\d(?:[\d.,:]*\d)?|\b(?!one\b){NUMBER_WORD}|\bnoon\b", re.IGNORECASE
)
_DAY: Final = re.compile(
    rf"\b(?:{'|'.join(WEEKDAYS)})s?\b|\b\d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|\b\d{{1,2}} {MONTH_NAME}\b|\b{MONTH_NAME} \d{{1,2}}\b",
    re.IGNORECASE,
)
_KINDS: Final[dict[Wants, tuple[str, ...]]] = {
    "money": ("number",), "number": ("number",), "clock": ("number",), "time": ("day",), "person": ("name",),
    "place": ("name", "number"), "value": ("number", "day", "name"),
}  # fmt: skip
"""Of which kinds the value may be; the first that the older sentence has counts."""
_OF_FIGURES: Final = frozenset(("clock", "money", "number"))
"""Of what only another figure takes the place."""
MOST_TIMES: Final = 4
"""How many times the older value the newer one may be, or the other way round."""
_ORDINAL_ENDS: Final = ("st", "nd", "rd", "th")
_ORDINAL: Final = re.compile(rf"(?<=\d)(?:{'|'.join(_ORDINAL_ENDS)})$")
_CAPITALS: Final = re.compile(r"\b[A-Z]{2,}\b")
_TENS: Final = frozenset(word for word, worth in VALUES.items() if worth in range(20, 100, 10))
"""Of "thirty six" and "thirty seven" the last words differ."""
NOON: Final = 12.0
MOST_DAYS: Final = 31
_WORD: Final = re.compile(r"[^\W_]+")
_UNITS: Final = frozenset(("", "now", "euros", "euro", "pounds", "quid", "dollars", "o'clock", "sharp"))
_IDLE: Final = frozenset(map(stem, (
    "ok", "okay", "same", "let", "lets", "works", "better", "make", "take", "now", "then", "instead", "rather", "yes",
    "well",
)))  # fmt: skip
_REFUSES: Final = rf"{CANNOT}|{IS_OUT}|\bfell through\b"
_REPLACES: Final = re.compile(
    r"\binstead\b(?! of\b)|\b(?:switch(?:ed|es|ing)?|swap(?:ped|s)?|chang(?:ed|es|ing)|mov(?:ed|es|ing)"
    r"|push(?:ed|es)|postponed|shift(?:ed|s)|rescheduled|slip(?:s|ped)|delayed)"
    r"(?: (?:me|him|her|us|them|it|over|back|up|down|forward))* (?:to|for|until|till)\b"
    r"|\bin favou?r of\b"
    r"|\b(?:replac(?:ed|es|ing)|t(?:akes?|ook|aken|aking) (?:over|(?:his|her|their|my) place))\b"
    r"|\b(?:offer(?:ed|s)?|found|got|gave|booked|took) (?:(?:me|us|him|her|them) )?(?:one|another)\b"
    rf"|\bno longer\b|\bany ?more\b|\bfrom now on\b|\bafter all\b|{_REFUSES}",
    re.IGNORECASE,
)
"""Says of something that is named that something else stands in its place, or that it is over."""
_OVER: Final = re.compile(
    r"\b(?:off(?! to\b)|away|ill|sick|bad|gone|full|over(?! (?:from|here|there|to|for|at|the)\b)"
    r"|closed|shut|dead|broken?|retired|left|leav(?:es|ing)|quit|cancell?ed|sold"
    r"|lost|dropped|ditched|returned|resigned|died|fired|failed|stopped|gave up|fell through"
    r"|let (?:me|us|him|her|them) down|on (?:\w+ )?(?:holiday|leave)|too [a-z]+)\b",
    re.IGNORECASE,
)
_NONE: Final = re.compile(
    r"(?:\b(?:no one|nobody|no|not|never|neither)\b|n['’]t\b)(?:\W+\w+){0,3}\W*$", re.IGNORECASE
)
"""Say of what stands beside them, or behind them, that it failed, ended or isn't wanted."""
_TAKEN_BACK: Final = re.compile(
    rf"\b(?:no|not|never|without)\b|n['’]t\b|\bafter all\b|\bany ?more\b|\bno longer\b|{_REFUSES}"
    r"|\bin favou?r of\b|\b(?:cancell?ed|scrapped|called off|gave|given away|sold|died|lost|returned|dropped|replaced"
    r"|instead)\b",
    re.IGNORECASE,
)
"""Says of something that there is none, or no more."""
_OF_KIND: Final = frozenset(("place", "person", "clock"))
_SO: Final = re.compile(
    r"[,;] (?:and )?so (?P<what>(?!that\b|much\b|many\b|far\b|good\b)[^;]+)", re.IGNORECASE
)
"""What follows from what was said before it."""
_STEPS_IN: Final = re.compile(r"replac|t(?:akes?|ook|aken|aking) ", re.IGNORECASE)
_ENDS: Final = re.compile(r"no longer|any ?more", re.IGNORECASE)
"""What is over is what stands with these, and not who is spoken of."""
_IF: Final = re.compile(r"^\W*(?:if|unless|had)\b", re.IGNORECASE)
"""Begins what is only supposed."""
_RETURNS: Final = re.compile(r"\bafter all\b", re.IGNORECASE)
"""Says of what is told that it holds again."""
_IS_REFUSED: Final = re.compile(_REFUSES, re.IGNORECASE)
_ACCEPTS: Final = re.compile(
    r"(?:\bis|\bwould be|['’]s) (?:fine|ok(?:ay)?|good|great|better|perfect)\b|\b(?:works|suits)\b",
    re.IGNORECASE,
)
"""Behind a turn that refuses what is told: "tuesday's fine"."""
_CORRECTS: Final = re.compile(
    r"^\W*(?:(?:argh|oh|ah|ugh|hm+)\b\W*)*(?:sorry|wait|no|nope|correction|i mean|oops|hang on|hold on|scratch that)\b",
    re.IGNORECASE,
)
"""Opens a turn that puts right what its speaker said right before."""
_CALENDAR: Final = frozenset(map(stem, (*MONTHS, *WEEKDAYS)))
_CALENDAR_WORDS: Final = frozenset((*MONTHS, *WEEKDAYS))
BESIDE: Final = 5
"""How many words may stand between what is told and what says that it is over."""
MOST_WORDS: Final = 40
"""How long a turn is at most that names what is told and what stands in its place: in a page all is of something."""


class Replacement(NamedTuple):
    """The turn, and its sentence that brings the value."""

    hit: Hit
    sentence: str


def replacement(
    question: Question,
    asked: AskedQuestion,
    older: Hit,
    span: AnswerSpan,
    hits: Sequence[Hit],
    *,
    answering: Set[str] = frozenset(),
    rivals: Set[str] = frozenset(),
    only_named: bool = False,
) -> Replacement | None:
    """Return the last turn that may bring another value in place of the one that a span of `older` tells. `answering`:
    the ids of the turns that read as answers too; `rivals`: of those that do nearly as well. `only_named`: no turn that
    doesn't name what is told."""
    if not may_be_replaced(asked):
        return None
    span = _with_day(asked, older, span)
    kind = _kind_of_value(asked, span)
    if kind is None and "name" not in _KINDS[asked.wants]:
        return None
    told = _Told(question, kind or "name", older, span, answering)
    found = [
        Replacement(hit, said)
        for hit in hits
        if told.may_be_changed_by(hit)
        for said in [
            *(told.sentences_of_change(hit, hits) if kind and not only_named else ()),
            *told.replaced_in(hit),
            *(told.sentences_of_rival(hit, hits) if kind and hit.id in rivals else ()),
        ]
    ]
    return max(found, key=lambda one: when_of(one.hit), default=None)


def taken_back(what: str, older: Hit, hits: Sequence[Hit]) -> Replacement | None:
    """Return the last turn that denies what `older` says there is, or says that it is off: "so no cat after all"."""
    of = telling_stems(what)
    found = [
        Replacement(hit, hit.text[part.start : part.stop])
        for hit in hits
        if when_of(hit) > when_of(older) and hit.source in (older.source, "owner") and not is_agent(hit)
        for part in sentences(hit.text)
        for clause in CLAUSE.split(hit.text[part.start : part.stop])
        if "?" not in part.mark
        and of
        and of <= stems(clause)
        and _TAKEN_BACK.search(clause)
        and not _IF.match(clause)
    ]
    return max(found, key=lambda one: when_of(one.hit), default=None)


def may_be_replaced(asked: AskedQuestion) -> bool:
    """Whether a question asks for a value as it is by now: of what was, for one that is as it was put last."""
    was = asked.past and asked.era != "now" and asked.wants not in ("time", "clock", "money")
    return asked.wants in _KINDS and not was and asked.era not in ("first", "before", "last")


def has_replaceable(asked: AskedQuestion, older: Hit, span: AnswerSpan) -> bool:
    """Whether any turn at all may take the place of what a span of `older` tells: else none need be looked for."""
    if not may_be_replaced(asked):
        return False
    kinds = _KINDS[asked.wants]
    return "name" in kinds or _kind_of_value(asked, _with_day(asked, older, span)) is not None


def _with_day(asked: AskedQuestion, older: Hit, span: AnswerSpan) -> AnswerSpan:
    """Return the span, where a day is asked for that its sentence lacks with the whole turn: "film on Thursday? the
    Odeon"."""
    if asked.wants != "time" or _values("day", span.sentence) or len(words(older.text)) > MOST_WORDS:
        return span
    return msgspec.structs.replace(span, sentence=older.text)


def _kind_of_value(asked: AskedQuestion, span: AnswerSpan) -> str | None:
    """Return of which kind the value is that is told; None where none is."""
    texts = (span.short, span.sentence)
    return next((one for text in texts for one in _KINDS[asked.wants] if _values(one, text)), None)


class _Told:
    """What would be told, and of which kind its value is."""

    def __init__(
        self, question: Question, kind: str, older: Hit, span: AnswerSpan, answering: Set[str]
    ) -> None:
        self.question = question
        self.wants = kind_of(question).wants
        self.kind = kind
        self.older = older
        self.span = span
        self.answering = answering
        asked, said = {*question.stems}, span.sentence
        self._said = telling_clause(asked, said) if self.wants == "person" else said
        self._asked = asked
        self._names = _values("name", self._said)
        self._days = _values("day", said)
        self._value = _values(kind, self._said)
        self._topic = asked | stems(said)
        self._named_stems = {stem(word) for word in self._names}
        self._may_be_over = {stem(word) for word in self._names | self._days} - asked
        self._worths = [one for one in map(_worth, _values("number", span.short)) if one]

    def may_be_changed_by(self, hit: Hit) -> bool:
        """Whether a turn is a later one, of somebody who may tell of it."""
        may = hit.source in (self.older.source, "owner") and not is_agent(hit)
        own = speaker(hit) == speaker(self.older) or not OF_ONE.search(self.span.sentence)
        return when_of(hit) > when_of(self.older) and may and (own or self.kind != "name")

    def sentences_of_change(self, hit: Hit, hits: Sequence[Hit]) -> Iterator[str]:
        """Yield the sentences of a turn that bring another value, and name no topic of their own."""
        for part in sentences(hit.text):
            said = hit.text[part.start : part.stop]
            proposed = "?" in part.mark or PROPOSED.match(said) is not None
            if (
                any(self._brings(clause, hit, hits, proposed=proposed) for clause in CLAUSE.split(said))
                and FOR_ONCE.search(said) is None
                and (not proposed or self._is_taken_up(said, hit, hits))
                and not of_another(self.question, self.span.sentence, said)
            ):
                yield said

    def sentences_of_rival(self, hit: Hit, hits: Sequence[Hit]) -> Iterator[str]:
        """Yield the sentences of a turn that answers nearly as well, with another value and no word of change: "list
        stands at 65 people". They speak of what is told or asked, and it is not for once, or besides."""
        about = {stem(word) for name in self.question.entities for word in words(name)}
        if self.wants == "time" and self.question.text.lower().startswith("when did"):
            return  # what happened stays when it was
        topic = (self._asked | telling_stems(self.older.text) - LIGHT) - _IDLE - _CALENDAR
        if not about <= stems(hit.text) or topic.isdisjoint(stems(hit.text)):
            return
        for part in sentences(hit.text):
            said = hit.text[part.start : part.stop]
            value = _values(self.kind, said) - _TENS
            if self.kind == "name":
                value |= {one.lower() for one in _CAPITALS.findall(said)}
                value -= _CALENDAR_WORDS | _written_small(said, hits)
            if (
                "?" not in part.mark
                and self._is_new(value)
                and not any(one.search(said) for one in (PROPOSED, FOR_ONCE, _DECLINES, _BESIDES))
                and (self.kind != "number" or (self._may_replace(said) and not self._counts_another(said)))
                and not mismatch(self.question, said, hit, hits)
            ):
                yield said

    def _is_taken_up(self, proposal: str, hit: Hit, hits: Sequence[Hit]) -> bool:
        """Whether somebody else agrees right behind a proposal: "the 28th?", and "28th it is"."""
        value = _values(self.kind, proposal)
        return any(
            is_soon_after(one, hit)
            and speaker(one) != speaker(hit)
            and (
                _AGREES.match(one.text) is not None
                or (_DECLINES.search(one.text) is None and not value.isdisjoint(_words(one.text)))
            )
            for one in hits
        )

    def replaced_in(self, hit: Hit) -> Iterator[str]:
        """Yield the sentences of a turn that say that something else stands in place of what is told, which they name:
        "the cough comes from the ramipril. She switched me to candesartan"."""
        if self._corrects(hit):
            yield from self._first_with_value(hit)
            return
        if len(words(hit.text)) > MOST_WORDS:
            return
        if (said := self._follows(hit)) is not None:
            yield said
            return
        about = {stem(word) for name in self.question.entities for word in words(name)}
        names_who = not about or not about.isdisjoint(stems(hit.text))
        before = stems(self.older.text) | {*self.question.stems}
        begins = 0  # the sentence before the one that is looked at
        since: int | None = None  # where what says so begins
        over = False
        for part in sentences(hit.text):
            sentence = hit.text[part.start : part.stop]
            if any(one.search(sentence) for one in (_IF, PROPOSED, FOR_ONCE)) or of_another(
                self.question, self.span.sentence, sentence
            ):
                continue
            mark = _REPLACES.search(sentence)
            if since is None and self._is_over(sentence):
                since, over = part.start, True
            elif since is None and "?" not in part.mark and mark is not None and names_who:
                ahead = hit.text[begins : part.start + (mark.end() if _leads(mark) else len(sentence))]
                if _ENDS.fullmatch(mark[0]):  # "Rex no longer eats Pedigree" says nothing of his name
                    ahead = sentence.lstrip().partition(" ")[2]
                since = part.start if self._names_told(ahead, mark) else None
            of_kind = self.wants in _OF_FIGURES or (over and self.wants != "value")
            new = {stem(word) for word in _values(self.kind, sentence)} if of_kind else self._new(sentence)
            if since is not None and (_RETURNS.search(sentence) or new - before):
                yield hit.text[since : part.stop]
                return
            begins = part.start

    def _follows(self, hit: Hit) -> str | None:
        """Return the sentence that says why what is asked for is now so: "the library is shut, so we meet at Ruth's".
        It has a word of the question behind its "so", and a value of the kind that is asked for."""
        if self.wants not in _OF_KIND:
            return None
        for part in sentences(hit.text):
            said = hit.text[part.start : part.stop]
            so = _SO.search(said)
            if so is None or "?" in part.mark or of_another(self.question, self.span.sentence, said):
                continue
            heard = telling_stems(so["what"])
            about = {stem(word) for name in self.question.entities for word in words(name)}
            is_of_it = about <= stems(said) and bool(heard & self._asked - LIGHT)
            if is_of_it and heard - self._topic and Bearing(kind_of(self.question)).bears(so["what"]):
                return said
        return None

    def _is_over(self, sentence: str) -> bool:
        """Whether a clause says of what is told, by its name or day, that it failed, ended or isn't wanted."""
        named = self._may_be_over
        for clause in () if not named else CLAUSE.split(sentence):
            said = list(_WORD.finditer(clause))
            found = [at for at, one in enumerate(said) if not named.isdisjoint(map(stem, _words(one[0])))]
            if found and _NONE.search(clause[: said[found[0]].start()]):
                return True
            for at in found:
                first, last = said[max(at - BESIDE, 0)], said[min(at + BESIDE, len(said) - 1)]
                if _OVER.search(clause, first.start(), last.end()):
                    return True
        return False

    def _names_told(self, text: str, mark: re.Match[str]) -> bool:
        """Whether a text names what is told: by its name or day; any word of it will do where one thing was put for
        another."""
        told = self._said
        # Who takes over on a Thursday takes over no Thursday.
        named = self._names if _STEPS_IN.match(mark[0]) else self._names | self._days
        if _IS_REFUSED.fullmatch(mark[0]):
            named = named | self._value
            of_what = telling_stems(CLAUSE.split(mark.string[: mark.start()])[-1])
            if of_what and of_what <= stems(told):
                return True  # "lifeboat station is off"
        if _leads(mark):
            if any(not one.isdisjoint(other) for one, other in zip(codes(told), codes(text), strict=True)):
                return True
            named = named | {word for word in telling(told) if word.isalpha()}
        return not ({stem(word) for word in named} - self._asked - LIGHT).isdisjoint(map(stem, _words(text)))

    def _corrects(self, hit: Hit) -> bool:
        """Whether somebody puts right what they said right before: "argh no. 1pm"."""
        return (
            speaker(hit) == speaker(self.older)
            and is_soon_after(hit, self.older)
            and when_of(hit) - when_of(self.older) <= MENDED_WITHIN
            and _CORRECTS.match(hit.text) is not None
        )

    def _first_with_value(self, hit: Hit) -> Iterator[str]:
        """Yield the first sentence of a turn that brings another value."""
        for part in sentences(hit.text):
            said = hit.text[part.start : part.stop]
            if self._values_of(said) - self._value:
                yield said
                return

    def _new(self, sentence: str) -> set[str]:
        """Return what may be a value in a sentence, and what something was changed to."""
        mark = _REPLACES.search(sentence)
        behind = telling(sentence[mark.end() :]) if mark is not None and _leads(mark) else []
        refused = mark is not None and _IS_REFUSED.fullmatch(mark[0])
        values = (
            _values(kind, sentence) for kind in ((self.kind,) if refused else ("number", "day", "name"))
        )
        return {stem(word) for some in (*values, behind) for word in some}

    def _brings(self, clause: str, hit: Hit, hits: Sequence[Hit], *, proposed: bool) -> bool:
        if not proposed and not self._is_marked(clause, hit, hits):
            return False
        value = self._values_of(clause)
        if self.kind == "name":
            value -= _CALENDAR_WORDS | _written_small(clause, hits)
        if not self._is_new(value):
            return False
        if self.kind == "number" and not self._may_replace(clause):
            return False
        others = telling_stems(clause) - {stem(word) for word in value} - _IDLE - _CALENDAR
        if _values("name", clause) - value - self._topic or len(others - self._topic) > MOST_OTHERS:
            return False
        if _BETTER.search(clause) is not None and others.isdisjoint(self._asked):
            return False  # more butter is better, and the flour stays
        shares = bool(others & (self._asked | self._named_stems) - LIGHT) or hit.id in self.answering
        return shares or self._is_close(hit, hits) or (not others and _is_of_talk(self.older, hit))

    def _is_new(self, value: Set[str]) -> bool:
        """Whether some values are others than what is told: of days 8 May and 1 May share their month alone."""
        shared = value & self._value
        return bool(value) and (
            not shared or (self.kind == "day" and not shared - {*MONTHS} and shared < value)
        )

    def _values_of(self, clause: str) -> set[str]:
        """Return the values of a clause; where a day is told, a number alone may be one: "ok, 27 then"."""
        found = _values(self.kind, clause)
        if found or self.kind != "day":
            return found
        return {one for one in _values("number", clause) if one.isdigit() and 0 < int(one) <= MOST_DAYS}

    def _is_marked(self, clause: str, hit: Hit, hits: Sequence[Hit]) -> bool:
        """Whether a clause says that its value stands in another's place, or takes one behind a turn that refuses what
        is told."""
        if _MARK.search(clause) is not None:
            return True
        return _ACCEPTS.search(clause) is not None and any(
            is_soon_after(hit, one, NEXT) and self._refuses(one) for one in hits
        )

    def _refuses(self, hit: Hit) -> bool:
        mark = _IS_REFUSED.search(hit.text)
        return mark is not None and when_of(hit) > when_of(self.older) and self._names_told(hit.text, mark)

    def _names_value(self, hit: Hit) -> bool:
        return bool(self._value) and self._value <= _values(self.kind, hit.text)

    def _may_replace(self, clause: str) -> bool:
        """Whether a number of a clause may stand in place of the one that is told: it counts no other things, and is
        about as much; of an hour one that there is."""
        told = self._worths
        for match in _NUMBER.finditer(_DAY.sub(" ", clause)):
            behind = clause[match.end() :]
            counts = next(iter(words(behind)), "") if behind.startswith(" ") else ""
            if counts not in STOP | _UNITS and stem(counts) not in self._topic | _IDLE:
                continue  # ten kids
            worth = _worth(match[0])
            if self.wants == "clock":
                fits = worth is None or "." in match[0] or worth <= max([NOON, *told])
            else:
                alike = any(1 / MOST_TIMES <= worth / one <= MOST_TIMES for one in told) if worth else True
                fits = not told or alike or _MAKE_IT.search(clause) is not None
            if fits:
                return True
        return False

    def _counts_another(self, said: str) -> bool:
        """Whether a number of a sentence is of another thing that was told with it: the butter beside the flour."""
        others = stems(self.span.sentence) - stems(self.span.short) - self._asked
        behind = (words(said[match.end() :])[:2] for match in _NUMBER.finditer(said))
        return any(not others.isdisjoint(map(stem, some)) for some in behind)

    def _is_close(self, hit: Hit, hits: Sequence[Hit]) -> bool:
        """Whether a turn stands close behind the older one, or behind a later one on the topic."""
        return any(
            is_soon_after(hit, one, NEXT)
            for one in hits
            if one.index == self.older.index
            or (
                when_of(one) > when_of(self.older)
                and (_is_on_topic(self.question, one) or self._names_value(one))
            )
        )


def _written_small(clause: str, hits: Sequence[Hit]) -> set[str]:
    """Return the word that opens a clause, where others have it within a sentence and not as a name: "standup"."""
    opening = words(clause)[:1]
    is_small = opening and any(re.search(rf"\s{re.escape(opening[0])}\b", hit.text) for hit in hits)
    return {*opening} if is_small else set()


def _leads(mark: re.Match[str]) -> bool:
    """Whether what stands behind a word of change is what was changed to."""
    return mark[0].lower().endswith((" to", " for", " of"))


def _worth(number: str) -> float | None:
    """Return what a number in figures is worth; None for one in words."""
    try:
        return float(number.strip("$€£").replace(",", ""))
    except ValueError:
        return None


def _values(kind: str, text: str) -> set[str]:
    """Return the values of a kind in a text, in lower case."""
    if kind == "name":
        named = {word for match in spelt_names(f"so {text}") for word in words(match[0])} - STOP
        return named | {match[0].lower() for match in ROLE.finditer(text)}
    pattern = _DAY if kind == "day" else _NUMBER
    bare = text if kind == "day" else _DAY.sub(" ", text)
    return {word for match in pattern.finditer(bare) for word in _words(match[0])}


def _words(text: str) -> list[str]:
    """Return the words of a text, days as their numbers: the 9th is 9 October."""
    return [_ORDINAL.sub("", word) if word[-2:] in _ORDINAL_ENDS else word for word in words(text)]


def _is_on_topic(question: Question, hit: Hit) -> bool:
    asked = {*question.stems} - LIGHT
    return bool(asked) and len(asked & stems(hit.text)) / len(asked) >= ON_TOPIC


def _is_of_talk(older: Hit, hit: Hit) -> bool:
    """Whether two turns are of one session, and not long apart."""
    one, other = (each.record.body for each in (older, hit))
    if not (isinstance(one, ExperienceBody) and isinstance(other, ExperienceBody)) or one.scope is None:
        return False
    return (
        one.scope.session_id is not None
        and one.scope == other.scope
        and when_of(hit) - when_of(older) <= WITHIN
    )
