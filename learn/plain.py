"""The model-free reader of plain English: sentences, clauses, tables of rules. When in doubt it reads nothing. Pure."""

import re
from collections import defaultdict
from typing import Final

from braid.learn import attributes, corrections, dates, deeds, events, idioms, moods, replies
from braid.learn.clause import Clause, Subject, expanded, opened, predicate, subject_of, with_subject
from braid.learn.mentions import mentioned
from braid.learn.page import Page
from braid.learn.phrases import action
from braid.learn.rules import people, places, plans, tastes, work
from braid.learn.rules.rule import Rule
from braid.learn.source import TurnText
from braid.learn.turn import KnownClaims, Turn, TurnReading
from braid.learn.voice import Voice
from braid.learn.words import listed
from braid.text.numbers import WORD
from braid.text.sentences import TextPart, clauses

_BY_VERB: Final[dict[str, list[Rule]]] = defaultdict(list)
for _rule in (*places.RULES, *work.RULES, *tastes.RULES, *people.RULES, *plans.RULES):
    for _verb in _rule.verbs:
        _BY_VERB[_verb].append(_rule)

_REPORTS: Final = listed("say tell think claim reckon believe mention hear")
_TOLD: Final = re.compile(
    r"(?:to )?(?:me |us |her |him )?(?:yesterday |today |once |again )?(?:that )?", flags=re.IGNORECASE
)
_LIKINGS: Final = listed("likes dislikes prefers interested_in")
_ONCE: Final = listed(
    "moved_to moved_from went_to visited attended bought joined signed_up_for won passed finished "
    "launched ran met opened hosted published plans_to goal going_to moving_to lived_in worked_at "
    "worked_as"
)
_GOOD: Final = (
    "excellent|great|wonderful|amazing|delicious|fantastic|brilliant|superb|lovely|awesome|the "
    "best|terrific|incredible"
)
_BAD: Final = "terrible|awful|horrible|disgusting|dreadful|rubbish|the worst|lousy|bad|overrated|boring"
_OPINION: Final = re.compile(
    (
        rf"^(?P<what>it|that|this|they|the [\w' -]{{2,40}}?|[A-Z][\w' ]{{1,40}}?) (?:is|are|was|were) "
        rf"(?:really |so |just |absolutely |simply |pretty |very |a bit |truly )*(?:(?P<good>{_GOOD})"
        rf"|(?P<bad>{_BAD}))(?=[.,!;]|$)"
    ),
)
_GIVEN: Final = listed("lives_in works_at works_as allergic_to married_to moved_to studies_at born_in")
"""What is believed of a name that nobody has introduced."""


class PlainReader:
    """Reads plain English, by rules."""

    name = "plain"
    version = "1"
    looks_back = 1

    def read(self, turn: Turn, known: KnownClaims) -> TurnReading:
        """Return what a turn states. What a person says only: an assistant's words are no evidence."""
        if turn.role != "user" or not turn.text.strip():
            return TurnReading()
        source = TurnText(turn.text)
        if moods.is_fleeting(source.shown):
            return TurnReading()
        page = Page(turn, known, source)
        page.wry = moods.is_ironic(source.shown)
        page.angry = moods.is_angry(source.shown)
        for place, sentence in enumerate(source.sentences()):
            if place or not replies.read(page, sentence):
                _sentence(page, sentence)
            if page.is_over:
                source.leave(sentence)
                break
        corrections.moves(page)
        return page.reading(source.left)


def _sentence(page: Page, sentence: TextPart) -> None:
    """Read one sentence: corrections first, for they say what the rest is."""
    if corrections.read(page, sentence, _clause, _statement):
        return
    if not moods.names_nobody(sentence):
        mentioned(page, sentence)
    if not moods.states_nothing(sentence):
        _statement(page, sentence, Voice())


def _statement(page: Page, sentence: TextPart, voice: Voice) -> None:
    """Read a sentence that states something."""
    mentioned(page, sentence)
    before: Subject | None = None
    for part in clauses(sentence):
        page.note_things(part.text)
        before = _clause(page, part, voice, before, opens=part.start == sentence.start)
    events.read(page, sentence)


def _clause(
    page: Page, part: TextPart, voice: Voice, before: Subject | None = None, *, opens: bool = False
) -> Subject | None:
    """Read one clause; return its subject, which the next one may share. `opens`: it opens a sentence, and may leave
    out the "I" that everybody hears.
    """
    bare, hedge = opened(expanded(part.text))
    bare = with_subject(bare) if opens else bare
    deeds.note_moment(page, bare)
    if voice == Voice():
        deeds.shown(page, part, bare)
    if (
        idioms.read(page, part, bare, voice._replace(hedge=hedge or voice.hedge))
        or attributes.read(page, part, bare, voice, hedge)
        or own_opinion(page, part, bare)
    ):
        return before
    found = subject_of(bare)
    if found is None:
        deeds.thing(page, part, bare)
        return before
    subject, rest = found
    told = len(page.claims)
    clause = predicate(subject, rest, hedge or voice.hedge)
    _predicated(page, part, clause, voice, rest)
    if (
        len(page.claims) == told
        and voice == Voice()
        and not (clause and clause.denied)
        and not _MODAL.search(rest)
    ):
        deeds.read(page, part, subject, rest)
    return subject


_MODAL: Final = re.compile(r"\b(?:would|could|should|might|may)\b")


def _predicated(page: Page, part: TextPart, clause: Clause | None, voice: Voice, rest: str) -> None:
    """Read what a clause says of its subject by the tables of verbs."""
    if clause is None or clause.tense == "modal":
        return
    if clause.verb in _REPORTS and not clause.subject.first and not voice.said_by:
        _reported(page, part, clause)
    elif not _MODAL.search(rest):
        _apply(page, part, clause, voice)
        _joined(page, part, clause, voice)


_AND: Final = re.compile(
    r",?\s+and (?:also |now |then |currently )?(?=(?:works? (?:as|at|for|in)|lives? in|plays "
    rf"(?:the|an?)|speaks?|loves|likes|hates|ha(?:ve|s) (?:an?|{WORD})|moved to|started"
    r"|studies|drives an?|owns|teaches|volunteers? at|am an?|is an?|am allergic|is allergic) \w)"
)


_ANOTHER: Final = re.compile(
    r"\b(?:i|you|he|she|they|it|we|who|that|people|will|can|is|are|was|were)\b", flags=re.IGNORECASE
)
"""Another subject stands between: the second verb may be its."""


def _joined(page: Page, part: TextPart, clause: Clause, voice: Voice) -> None:
    """Read a second verb of the same subject: `lives in Malmö and works as a vet`."""
    match = _AND.search(clause.rest)
    if match is None or _ANOTHER.search(clause.rest, 0, match.start()):
        return
    further = predicate(clause.subject, clause.rest[match.end() :], clause.hedge)
    if further is not None and further.tense in ("present", "past"):
        _apply(page, part, further, voice)


_TOGETHER: Final = frozenset(("eats", "drinks", "lives_in", "moved_to", "went_to"))
"""What holds of both when it is said as "Mireille and I"."""


def _apply(page: Page, part: TextPart, clause: Clause, voice: Voice) -> None:
    """Apply the rules of a clause's verb."""
    tenses = {str(clause.tense)}
    if clause.tense == "present":
        tenses.add("progressive" if clause.progressive else "simple")
    for rule in _BY_VERB.get(clause.verb, ()):
        if rule.tenses & tenses and _may_say(page, clause, rule):
            match = rule.behind.match(clause.rest)
            objects = rule.chunk(clause.rest[match.end() :]) if match is not None else []
            if objects and not _state(page, part, clause, voice, rule=rule, objects=objects):
                return
    if clause.tense == "intended":
        _intended(page, part, clause, voice)


def _may_say(page: Page, clause: Clause, rule: Rule) -> bool:
    """Whether a rule is to be believed of this clause, in this turn."""
    if clause.denied and not rule.denied:
        return False
    if rule.first_only and not clause.subject.first:
        return False
    if clause.verb == "stand" and not clause.denied:  # "can't stand" alone
        return False
    return rule.rel not in _LIKINGS or not (page.wry or (page.angry and not rule.polarity))


def _state(
    page: Page, part: TextPart, clause: Clause, voice: Voice, *, rule: Rule, objects: list[str]
) -> bool:
    """Claim what a rule has found; False where it is in doubt of whom."""
    who = page.who(clause.subject, trusted=rule.rel in _GIVEN)
    if who is None:
        return False
    everyone = [who]
    if clause.subject.first and clause.subject.name and rule.rel in _TOGETHER:
        other = page.who(Subject(name=clause.subject.name))
        everyone += [other] if other is not None else []
    polarity = clause.verb == "stand" or rule.polarity != clause.denied
    held = _held(page, part, rule)
    for what in objects:
        for one in everyone:
            page.claim(
                part, voice, one, rule.rel, what, polarity=polarity, held=held, hedge=clause.hedge,
                source_type=rule.source_type,
            )  # fmt: skip
    if rule.rel in ("works_at", "lives_in") and clause.verb in ("live", "work"):
        corrections.not_that(page, part, voice, who, rule)
    return True


def _held(page: Page, part: TextPart, rule: Rule) -> dates.Validity:
    """Return when a claim of this rule holds, by the words of its clause."""
    text, when = part.text, page.turn.when
    if not rule.dated:
        return dates.NEVER
    bounds = dates.bounds(text, when)
    if bounds != dates.NEVER or rule.dated == "state":
        return bounds
    held = dates.past(text, when) if rule.dated == "past" else dates.ahead(text, when)
    return held if rule.rel in _ONCE else dates.Validity(held.since)


_EMPTY_PLANS: Final = listed(
    "be have do miss need say tell ask think keep know see check let try feel make get help send call "
    "remember love enjoy like show look find put believe hear continue use come take give sleep bed"
)


def _intended(page: Page, part: TextPart, clause: Clause, voice: Voice) -> None:
    """Read a plan: "going to" with a time at which."""
    if clause.form in _EMPTY_PLANS or not clause.subject.first or clause.denied:
        return
    held = dates.ahead(part.text, page.turn.when)
    objects = action(f"{clause.form} {clause.rest}") if held != dates.NEVER else []
    if objects and clause.verb not in ("move", "relocate", "go", "visit", "fly", "travel"):
        page.claim(part, voice, page.turn.speaker, "plans_to", objects[0], held=held, hedge=clause.hedge)


def _reported(page: Page, part: TextPart, clause: Clause) -> None:
    """Read what somebody is reported to say: an opinion is theirs, a fact is on their word."""
    who = page.who(clause.subject)
    if who is None or clause.denied:
        return
    told = _TOLD.match(clause.rest)
    inner = clause.rest[told.end() :] if told else clause.rest
    voice = Voice(said_by=who, source_type="inferred", hedge=clause.hedge)
    opinion = _OPINION.match(inner)
    if opinion is not None:
        _opinion(page, part, voice, who, opinion)
    elif clause.verb in ("say", "tell", "mention", "claim") and not page.angry:
        found = subject_of(inner)
        if found is not None and not re.search(r"\b(?:would|could|should|might|will|may)\b", inner):
            further = predicate(found[0], found[1], clause.hedge)
            if further is not None and further.verb not in _REPORTS and not found[0].pronoun:
                _apply(page, part, further, voice)


def _opinion(page: Page, part: TextPart, voice: Voice, who: str, match: re.Match[str]) -> None:
    what = match["what"]
    thing = page.thing if what.lower() in ("it", "that", "this", "they") else re.sub(r"^the ", "", what)
    if thing:
        page.claim(part, voice, who, "likes" if match["good"] else "dislikes", thing)


def own_opinion(page: Page, part: TextPart, text: str) -> bool:
    """Read the speaker's own judgement of what was just spoken of: `It was excellent!`"""
    match = _OPINION.match(text)
    if (
        match is None
        or page.wry
        or page.angry
        or match["what"].lower() not in ("it", "they")
        or not page.went
        or page.went.islower()
    ):
        return False
    page.claim(part, Voice(), page.turn.speaker, "likes" if match["good"] else "dislikes", page.went)
    return True
