"""What a clause states: by the first row of the table that fits, else as a copula, else in the speaker's own words.
Pure.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse import changes, copula
from braid.learn.parse.clauses import Clause
from braid.learn.parse.misread import is_misread
from braid.learn.parse.people import Whom, whom
from braid.learn.parse.phrases import (
    from_beside,
    from_outside,
    is_name,
    joined,
    noun,
    said_of,
    shown,
    subtree,
    words_of,
)
from braid.learn.parse.said import Said
from braid.learn.parse.sorts import is_empty, kin_of, objects
from braid.learn.parse.table import JOBS, ROWS, Row
from braid.learn.voice import Voice
from braid.learn.words import LIMBS, listed
from braid.text.dates import places
from braid.text.sentences import TextPart

_BY_VERB: Final[dict[str, list[Row]]] = defaultdict(list)
for _row in ROWS:
    for _verb in _row.verbs.split():
        _BY_VERB[_verb].append(_row)
_PHRASAL: Final = {"grow up": "grow up", "sign up": "sign up", "pull back": "pull back", "give up": "give"}
for _row in ROWS:
    if _row.verbs in _PHRASAL:
        _BY_VERB[_row.verbs].append(_row)
_BY_VERB["give up"] = [row for row in ROWS if row.verbs.startswith("give")]
del _BY_VERB["give"]  # whoever gives up coffee drinks none; whoever gives somebody a tea does

_SAYS_NOTHING: Final = listed(
    "be know mean guess thank hope see hear say tell think wonder ask believe suppose bet agree forget "
    "remember wait let seem "
    "look sound appear try need understand matter happen talk chat call appreciate welcome excuse "
    "apologise apologize promise "
    "swear joke kid worry care mind stand wish want like love enjoy hate prefer go come get have do "
    "stay keep can't check "
    "feel find imagine fancy please depend"
)
"""Verbs that state nothing of their own without a noun behind them."""
_MANNERS: Final = listed(
    "mention claim reckon insist know mean guess thank hope say tell think wonder ask bet agree suppose wait let "
    "seem imagine wish promise swear joke kid"
)
_BARE: Final = frozenset(("quit", "resign", "retire", "graduate", "divorce", "relocate", "separate"))
"""Deeds that need no object."""
_LONGEST: Final = 240
_GOALS: Final = frozenset(("want", "hope", "aim", "dream", "wish", "aspire"))
_NO_DEEDS: Final = frozenset(("need", "miss", "know", "love", "like", "want", "own", "cost", "depend"))
"""Nobody plans these: I'll need the recipe."""
_PLANS: Final = frozenset(("go", "plan", "intend", "decide", "arrange", "agree", "mean", "prepare", "expect"))
_EMPTY_PLANS: Final = listed(
    "be have do miss need say tell ask think keep know see check let try feel make get help send call "
    "remember love enjoy like "
    "show look find put believe hear continue use come take give sleep bed go talk stay"
)
_LIKINGS: Final = frozenset(("likes", "dislikes", "prefers", "interested_in"))
_CAUSES: Final = frozenset(("make", "let", "help", "have", "see", "watch", "keep", "get", "feel"))
"""Verbs that take a deed as their object: made me realise."""
_SEEMS: Final = listed(
    "look sound seem feel smell taste show highlight add help make bring mean remind represent stand"
)
"""What a thing does in somebody's eyes."""
_GOVERNS: Final = listed(
    "hear say know realize realise find think hope learn see notice feel decide love like remember forget "
    "figure explain show mean understand believe wish promise tell ask guess wonder read discover worry agree prove "
    "ensure expect appreciate make let help watch have get keep want need hate suggest imagine remind"
)
"""Verbs that take a clause as their object."""
_SETS: Final = listed("book reserve move change plan schedule arrange agree postpone shift push rebook set")
"""Deeds whose day is another's: what was set, not when."""
_ENTERS: Final = listed("sign register enrol enroll")
_TO_DAY: Final = re.compile(r"\b(?:to|for) (?:the )?\d")
_SUM: Final = re.compile(
    r"[£$€]|\b(?:pounds?|euros?|dollars?|quid|bucks|grand|kr|kroner|francs?)\b|\d ?k\b|\d,\d{3}"
    r"|\b(?:an?|per|each|every) (?:hour|day|week|month|year)\b",
    re.IGNORECASE,
)
_FOR_DAY: Final = re.compile(
    r"\bfrom (?:today|tomorrow|tonight|now)\b"
    r"|\b(?:for|until|till) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)\b"
    r"|(?:\d{1,2} (?:of )?)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]*\b)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\w+(?:th|rd|st|nd) of \w+)",
    re.IGNORECASE,
)
"""Put me on the rota for 5 July: the day of what was put, not of the putting."""
_PLEASE: Final = frozenset(("pls", "plz", "please"))
_BARE_AUX: Final = listed("do does did can could have has had is are was were will would should might must")
_RUN_ON: Final = 20
"""So many words without a mark among them are speech as it was heard: what stands behind may be another sentence."""
_NEAR: Final = 8
_SOMETIMES: Final = re.compile(
    r"^\W*(?:sometimes|at times|occasionally|some days|every now and then)\b", re.IGNORECASE
)
_FRAMED: Final = re.compile(
    r"(?:\bi say|\bi wish|(?:^|[,.;] ?)wish|\bchance(?: that)?|\b(?:feel|feels|felt|feeling)\b.{0,40}\blike"
    r"|\bas (?:if|though))\s*$",
    re.IGNORECASE,
)
"""Behind these nothing is so: I say we drive; wish I had a day off; there's a chance I'll come."""
_OFTEN: Final = re.compile(r"\b(?:sometimes|at times|occasionally|some days)\W*$", re.IGNORECASE)
_CROSSED: Final = re.compile(r"\W*(?:my )?fingers crossed\b", re.IGNORECASE)
_THIRD: Final = re.compile(r"\b(?:he|she|his|her(?= \w))\b", re.IGNORECASE)
_FOR_ANOTHER: Final = re.compile(r"\bfor (?:you|u|him|her|them)\b", re.IGNORECASE)
_SPANS: Final = frozenset(
    ("while", "ages", "time", "now", "long", "years", "hours", "days", "weeks", "months")
)
_YOURS: Final = frozenset(("you", "your", "yours", "yourself", "u", "ur"))


def state(page: Page, part: TextPart, clause: Clause, voice: Voice) -> bool:  # noqa: PLR0911, PLR0912 - one decision a line
    """Claim what a clause states, in the words `part`; True where it stated something."""
    if clause.mode in ("supposed", "asked", "ordered"):
        return False
    if clause.mode == "possible" and not (clause.token.lemma == "like" and clause.under is None):
        return False
    tokens = clause.parse.tokens
    if not _stands_alone(clause) or is_misread(clause):
        return False
    if (clause.token.dep == "relcl" and not _is_told_of_head(clause)) or _is_of_which(clause):
        return False
    above = tokens[clause.under].lemma.lower() if clause.under is not None else ""
    if above == "use" and not _is_past_habit(clause):
        return False
    if above and above not in _GOALS | _PLANS | {"use", "start", "begin"}:
        return False
    if clause.token.dep == "ccomp" and tokens[clause.token.head].lemma.lower() in _CAUSES:
        return False
    who = whom(page, clause.parse, clause.subject)
    if not who or (who[0].sort == "first" and _is_done_to_speaker(clause)):
        return False
    if _is_severed(clause) or _is_of_what(clause) or _is_left_open(page, clause, part):
        return False
    if who[0].name[:1].isdigit() and clause.lemma not in ("be", "cost"):
        return False
    if clause.reporter is not None and not whom(page, clause.parse, clause.reporter):
        return False  # everyone thinks so: nobody whose word it is
    said = Said(page, part, clause, _voiced(page, clause, voice))
    told = len(page.claims)
    if above:
        _under(said, above, who)
    elif copula.called(said) or copula.parted(said, who) or copula.expires(said, who[0]):
        pass
    elif clause.lemma == "be" and clause.mode != "able":
        if not _by_rows(said, who):
            copula.state(said, who)
    elif not _by_rows(said, who):
        in_own_words(said, who)
    return len(page.claims) > told


def _is_past_habit(clause: Clause) -> bool:
    """Whether "used" stands bare before "to": I used my contacts to make friends tells of no habit."""
    parse, at = clause.parse, clause.under or 0
    has_object = any(parse.tokens[child].dep == "dobj" for child in parse.children(at))
    return parse.tokens[at].text.lower() == "used" and not has_object


def _is_severed(clause: Clause) -> bool:
    """Whether one comma parts a verb from what is taken for its subject: attack today, had to be driven home; Nate, my
    favourite treat is this.
    """
    parse = clause.parse
    if (
        clause.subject is None
        or clause.subject > clause.verb
        or parse.tokens[clause.subject].head != clause.verb
    ):
        return False
    if len(joined(parse, clause.subject)) > 1:
        return False
    commas = [at for at, token in enumerate(parse.tokens[: clause.verb]) if token.text == ","]
    return len(commas) == 1 and commas[0] > clause.subject


def _is_of_what(clause: Clause) -> bool:
    """Whether a clause is the inside of "what …", of "for when …", or of "make sure that …"."""
    tokens = clause.parse.tokens
    over = tokens[clause.token.head]
    if (
        clause.token.dep == "ccomp"
        and over.text.lower() in ("sure", "certain")
        and tokens[over.head].lemma == "make"
    ):
        return True
    lead = clause.verb if clause.subject is None else min(clause.subject, clause.verb)
    before = tokens[lead - 1].text.lower() if lead else ""
    return (before == "what" and tokens[lead - 1].tag == "WP") or (
        before == "when" and clause.token.dep == "pcomp"
    )


def _is_left_open(page: Page, clause: Clause, part: TextPart) -> bool:
    """Whether it is open who does it, or how often: went mental, said of somebody else; sometimes I'm relieved."""
    if _SOMETIMES.match(part.text):
        return True
    if clause.subject is None:
        return False
    subject = clause.parse.tokens[clause.subject]
    before = clause.parse.text[: subject.start]
    if _FRAMED.search(before) or _OFTEN.search(before) or _CROSSED.match(clause.parse.text):
        return True
    if subject.text != "I" or subject.start != subject.stop:
        return False  # the speaker says who
    said = [claim.subject for claim in page.claims]
    return _THIRD.search(page.text) is not None or (bool(said) and said[-1] != page.turn.speaker)


def _stands_alone(clause: Clause) -> bool:
    """Whether a clause says something by itself: not "named Rex", not "since I was a child", nothing of "a friend
    who …".
    """
    parse = clause.parse
    token = clause.token
    if token.dep == "acl" and token.tag == "VBN":
        return token.lemma == "bear" and clause.subject is not None and is_name(parse, clause.subject)
    marks = {
        parse.tokens[child].text.lower()
        for child in parse.children(clause.verb)
        if parse.tokens[child].dep in ("mark", "advmod")
    }
    if token.dep == "advcl" and marks & {
        "when",
        "whenever",
        "while",
        "since",
        "before",
        "after",
        "until",
        "as",
        "till",
        "once",
        "whether",
    }:
        return clause.tense in ("past", "perfect") and clause.lemma != "be" and "before" not in marks
    if token.dep == "advcl" and token.tag == "VBG" and not _own_subject(clause):
        return False  # what the clause above says with it: rolled my ankle coming off the wall
    if clause.subject is None:
        return True
    head = parse.tokens[clause.subject]
    if token.dep in ("relcl", "acl") and clause.subject == token.head:
        return head.pos == "PROPN" or any(
            parse.tokens[child].dep == "poss" for child in parse.children(clause.subject)
        )
    return head.pos != "NOUN" or not any(
        parse.tokens[child].text.lower() in ("a", "an", "no", "every", "each", "any")
        for child in parse.children(clause.subject)
    )


def _is_done_to_speaker(clause: Clause) -> bool:
    """Whether the speaker can't be who does it: it was awesome, made me think of you."""
    tokens = clause.parse.tokens
    return any(
        child > clause.verb
        and tokens[child].text.lower() in ("me", "us")
        and tokens[child].dep in ("dobj", "dative")
        for child in clause.parse.children(clause.verb)
    ) or (
        clause.lemma in _CAUSES
        and clause.verb + 1 < len(tokens)
        and tokens[clause.verb + 1].text.lower() in ("me", "us")
    )


def _own_subject(clause: Clause) -> bool:
    return clause.subject is not None and clause.parse.tokens[clause.subject].head == clause.verb


def _voiced(page: Page, clause: Clause, voice: Voice) -> Voice:
    said_by = voice.said_by
    source = voice.source_type
    if clause.reporter is not None:
        teller = whom(page, clause.parse, clause.reporter)
        said_by = teller[0].name if teller and teller[0].sort != "first" else said_by
        source = source or ("inferred" if said_by else None)
    return Voice(said_by, source, clause.hedge or voice.hedge, voice.flipped)


def quoted(sentence: TextPart, clause: Clause) -> TextPart:
    """Return the words of a clause: from its subject, where that stands before it, to the last word of what it says."""
    parse = clause.parse
    first, last = clause.said
    leads = [
        child
        for child in parse.children(clause.verb)
        if child < clause.verb and parse.tokens[child].dep in ("aux", "auxpass", "neg", "advmod")
    ]
    first = min([first, *leads])
    if clause.subject is not None and clause.subject < clause.verb:
        lead = clause.subject
        grown = {clause.subject}
        while (
            lead > 0
            and parse.tokens[lead - 1].head in grown | {lead, clause.subject}
            and parse.tokens[lead - 1].pos != "PUNCT"
        ):
            lead -= 1
            grown.add(lead)
        first = min(first, lead)
    start, stop = parse.tokens[first].start, parse.tokens[last].stop
    return TextPart(parse.text[start:stop], sentence.start + start, sentence.start + stop, sentence.mark)


# -- rows of the table --------------------------------------------------------------------------------


def _by_rows(said: Said, who: list[Whom]) -> bool:
    rows = _BY_VERB.get(said.clause.lemma) or _BY_VERB.get(said.clause.token.lemma.lower()) or []
    done: set[str] = set()
    for row in rows:
        slot = "object" if row.slot in ("dobj", "xcomp", "gerund", "broken") else row.slot
        if slot in done or not _may(said.page, said.clause, row, said.part):
            continue
        found = _objects(said.clause, row)
        if found:
            _claim(said, row, who, found)
            done.add(slot)
    return bool(done)


def _may(page: Page, clause: Clause, row: Row, part: TextPart) -> bool:  # noqa: PLR0911, PLR0912 - one decision a line
    """Whether a row's time and mood are those of the clause."""
    if row.only == "not" and not (clause.denied and clause.mode in ("able", "possible")):
        return False
    if row.only == "can" and not (clause.denied and clause.mode in ("able", "possible")):
        return False
    if (
        row.rel == "decided_on"
        and clause.lemma == "go"
        and clause.parse.tokens[clause.verb + 1 :][:1]
        and (clause.parse.tokens[clause.verb + 1].text.lower() != "with")
    ):
        return False  # went on a trip with colleagues
    if row.rel == "decided_on" and clause.child("prt") is not None:
        return False  # picked up new skills
    if ("move" in row.verbs.split() or row.rel == "signed_up_for") and clause.child("dobj") is not None:
        return False  # dad signed me up
    if row.rel == "earns" and clause.token.lemma == "make" and not _SUM.search(part.text):
        return False  # we make 260 of them
    if clause.mode == "able" and row.rel not in ("speaks", "plays", "eats", "drinks", "dislikes"):
        return False
    if row.rel in _LIKINGS and (page.wry or (page.angry and row.rel == "dislikes")):
        return False
    tense, when = clause.tense, row.when
    if when == "any":
        return True
    if when == "past":
        return tense in ("past", "perfect") and clause.mode != "planned"
    if when == "ahead":
        is_on = clause.progressive and clause.tense == "present"
        return (
            clause.mode == "planned"
            or (is_on and dates.ahead(part.text, page.turn.when) != dates.NEVER)
            or (is_on and row.rel in ("going_to", "moving_to"))
        )
    if when == "progress":
        return clause.progressive and tense in ("present", "perfect")
    if when == "habit":
        return (tense == "present" or clause.mode == "able") and (not clause.progressive or clause.denied)
    return tense in ("present", "perfect") or clause.mode == "able"


def _objects(clause: Clause, row: Row) -> list[str]:
    parse = clause.parse
    if row.slot in ("gerund", "broken"):
        return _special(clause, row)
    if row.slot == "xcomp":
        return _deed(clause)
    found: list[str] = []
    for slot in row.slot.split():
        if slot == "dobj":
            at = clause.child("dobj", "attr", "oprd") if clause.lemma != "be" else None
            if at is not None and _is_only(clause, row, at):
                found = objects(parse, at, row.sort)
        elif slot != "xcomp":
            found = found or _governed(clause, row, slot)
    return found


def _is_only(clause: Clause, row: Row, at: int) -> bool:
    if not row.only or row.only in ("can", "not"):
        return True
    return clause.token.lemma.lower() in row.only.split()


def _governed(clause: Clause, row: Row, prep: str) -> list[str]:
    """Return what a preposition governs: of the verb itself, or of the noun or adjective that `only` names."""
    parse = clause.parse
    for name, place, at in clause.preps():
        if (
            name.replace(" ", "_") == prep
            and (place > clause.verb or row.rel != "likes")
            and parse.tokens[at].dep == "pobj"
            and (not row.only or _has_only(clause, row))
        ):
            return objects(parse, at, row.sort)
    for middle in parse.children(clause.verb):
        token = parse.tokens[middle]
        if token.dep not in ("acomp", "attr", "dobj", "advmod", "oprd", "prt", "conj"):
            continue
        if row.only and not (
            token.lemma.lower() in row.only.split() or (row.only == "job" and token.lemma.lower() in JOBS)
        ):
            continue
        if not row.only and row.rel not in ("works_at", "works_as", "likes", "lives_in", "decided_on"):
            continue
        for inner in parse.children(middle):
            if prep == "to" and parse.tokens[inner].dep == "xcomp" and row.rel == "allergic_to":
                return [
                    parse.tokens[inner].text
                ]  # a noun that the parse takes for a verb: allergic to shellfish
            if parse.tokens[inner].dep == "prep" and parse.tokens[inner].lemma.lower() == prep:
                for last in parse.children(inner):
                    if parse.tokens[last].dep in ("pobj", "pcomp"):
                        return objects(parse, last, row.sort)
    return []


def _has_only(clause: Clause, row: Row) -> bool:
    words = {clause.parse.tokens[child].lemma.lower() for child in clause.parse.children(clause.verb)}
    return bool(words & set(row.only.split())) or (row.only == "job" and bool(words & JOBS))


def _deed(clause: Clause) -> list[str]:
    """Return what is done, of "enjoys baking bread and painting": a verb in -ing with what it says."""
    parse = clause.parse
    at = clause.child("xcomp")
    if at is None or parse.tokens[at].tag != "VBG":
        return []
    found: list[str] = []
    for one in joined(parse, at):
        if parse.tokens[one].tag in ("VBG", "NN", "NNS"):
            first, last = said_of(parse, one)
            found.append(
                _without_time(shown(parse, first, last))
                if parse.tokens[one].tag == "VBG"
                else noun(parse, one)
            )
    return [one for one in found if not any(word.lower() in _YOURS for word in one.split())]


def _without_time(text: str) -> str:
    """Return a deed without when it is done: baking bread, on Sundays."""
    for mark in (" on ", " every ", " at the ", " in the "):
        head, found, tail = text.partition(mark)
        if found and len(tail.split()) <= 2 and len(head.split()) > 1:
            return head
    return text


def _special(clause: Clause, row: Row) -> list[str]:
    parse = clause.parse
    if row.slot == "gerund":
        at = clause.child("xcomp", "dobj", "advcl", "npadvmod", "pcomp", "ccomp", "acomp", "attr", "advmod")
        habit = clause.tense in ("present", "perfect") and any(
            word.text.lower()
            in ("every", "often", "regularly", "usually", "always", "weekly", "most", "each")
            for word in parse.tokens
        )
        if (
            at is None
            or not parse.tokens[at].text.lower().endswith("ing")
            or not habit
            or at != clause.verb + 1
        ):
            return []
        return [parse.tokens[at].text]
    at = clause.child("dobj")
    if at is None or parse.tokens[at].lemma.lower() not in LIMBS:
        return []
    done = {"break": "broken", "tear": "torn"}.get(clause.lemma, f"{clause.lemma}ed".replace("eed", "ed"))
    return [f"{done} {noun(parse, at)}"]


def _claim(said: Said, row: Row, who: list[Whom], found: list[str]) -> None:
    if row.rel in ("works_at", "works_for"):
        found = [one for one in found if one.lower().rpartition(" ")[2] not in _SPANS]  # on for a while
    if row.rel in ("pet", "owns", "has") and _FOR_ANOTHER.search(said.part.text):
        return  # I got this pup for you
    polarity = row.polarity != (said.clause.denied and row.only not in ("not",))
    if row.only == "not":
        polarity = True
    if row.only == "can":
        polarity = False
    held = dates.NEVER if row.sort == "date" else held_of(said.page, said.part, said.clause, row.type)
    if row.sort == "day":
        lean = "past" if said.clause.tense == "past" else "ahead"
        found = [day for what in found if (day := said.page.day(what, lean)) is not None]
        held, who = dates.NEVER, [one for one in who if one.sort == "thing"]
    for one in who:
        for what in found:
            said.page.claim(
                said.part,
                said.voice,
                one.name,
                row.rel,
                from_outside(what) if one.sort == "first" else what,
                polarity=polarity and not said.clause.no_more,
                held=held,
                type=row.type,
            )


def held_of(page: Page, part: TextPart, clause: Clause, type: str = "fact") -> dates.Validity:
    """Return when a clause holds by its own words: a state from "since" on, a deed on its day, a plan ahead."""
    text, when = part.text, page.turn.when
    lemma = clause.token.lemma.lower()
    is_set = type == "episode" and lemma in _SETS
    if (
        lemma in _ENTERS
        or (is_set and (clause.child("dobj", "nsubjpass") is not None or _TO_DAY.search(text) is not None))
        or (type == "episode" and _FOR_DAY.search(text) is not None)
    ):
        return dates.NEVER  # booked for the 9th, signed up for June: when it will be, not when that was done
    if clause.tense == "past" and type == "episode":
        return dates.NEVER if _is_of_object(page, clause) else dates.past(text, when)
    bounds = dates.bounds(text, when, lasted=clause.tense == "perfect" or clause.progressive)
    if bounds != dates.NEVER:
        return bounds
    if clause.mode == "planned" or type == "goal":
        return dates.ahead(text, when)
    if clause.tense in ("past", "perfect"):
        held = dates.past(text, when)
        return held if type == "episode" else dates.Validity(held.since)
    return dates.NEVER


def _is_of_object(page: Page, clause: Clause) -> bool:
    """Whether a time belongs to what is spoken of, not to the deed: replayed the night of the 7th; had the 24th from
    Luton; wrote a scene that was shown yesterday.
    """
    parse, at = clause.parse, clause.child("dobj")
    if at is None:
        return False
    within = [at] if parse.tokens[at].text[:1].isdigit() else []
    for child in parse.children(at):
        if parse.tokens[child].dep == "relcl" or parse.tokens[child].text.lower() == "of":
            within += subtree(parse, child)
    if not within:
        return False
    first, last = parse.tokens[min(within)].start, parse.tokens[max(within)].stop
    return dates.past(f"{parse.text[:first]} {parse.text[last:]}", page.turn.when) == dates.NEVER


# -- plans, goals, what used to be ----------------------------------------------------------------------


def _under(said: Said, above: str, who: list[Whom]) -> None:  # noqa: PLR0911, PLR0912 - one decision a line
    """Claim what a plan or a wish is for, or what used to be so."""
    own = _in_others_words(said, who[0])
    if above == "go" and said.clause.parse.tokens[said.clause.under or 0].dep == "xcomp":
        return  # started going to boot camps
    if above == "use":
        if said.clause.denied:
            return
        first, last = said.clause.said
        what = own(shown(said.clause.parse, first, last))
        for one in who:
            changes.used_to(said.page, said.part, one.name, what)
            said.page.claim(said.part, said.voice, one.name, "used_to", what, type="episode")
        return
    if above in ("start", "begin") or _given_up(said, who):
        return
    rel = "goal" if above in _GOALS else "plans_to"
    if said.clause.denied or (rel == "plans_to" and said.clause.token.tag not in ("VB",)):
        return
    if said.clause.child("dobj", "prep", "xcomp", "prt", "advmod", "npadvmod") is None:
        return
    first, last = said.clause.said
    what = own(shown(said.clause.parse, first, last))
    if not _is_telling(said.clause, first, last) or (
        said.clause.token.lemma.lower() in _EMPTY_PLANS and last - first < 2
    ):
        return
    held = dates.ahead(said.part.text, said.page.turn.when)
    what = without_when(said.page, what, held)
    if above == "go":
        by_rows = [
            (row, found)
            for row in _BY_VERB.get(said.clause.lemma, ())
            if row.when == "ahead" and (found := _objects(said.clause, row))
        ]
        if by_rows:
            row, found = by_rows[0]
            for one in who:
                said.page.claim(said.part, said.voice, one.name, row.rel, found[0], held=held, type="goal")
            return
        if held == dates.NEVER and said.clause.lemma in _EMPTY_PLANS:
            return
    for one in who:
        said.page.claim(said.part, said.voice, one.name, rel, what, held=held, type="goal")


def _in_others_words(said: Said, who: Whom) -> Callable[[str], str]:
    """Return what puts a clause's words as others would say them: the speaker's own, or the speaker's of somebody."""
    return from_outside if who.sort == "first" else lambda text: from_beside(text, said.page.turn.speaker)


def _given_up(said: Said, who: list[Whom]) -> bool:
    """We decided to stop eating meat from 1 July: what is eaten or drunk no longer."""
    parse = said.clause.parse
    inner = said.clause.child("xcomp")
    if said.clause.token.lemma.lower() not in ("stop", "quit", "give") or inner is None or said.clause.denied:
        return False
    rel = {"eat": "eats", "drink": "drinks"}.get(parse.tokens[inner].lemma.lower())
    at = next((child for child in parse.children(inner) if parse.tokens[child].dep == "dobj"), None)
    if rel is None or at is None:
        return False
    held = dates.bounds(said.part.text, said.page.turn.when)
    for one in who:
        for what in objects(parse, at, "food"):
            said.page.claim(
                said.part, said.voice, one.name, rel, what, polarity=False, held=held, type="preference"
            )
    return True


# -- in the speaker's own words -------------------------------------------------------------------------


def in_own_words(said: Said, who: list[Whom]) -> None:
    """Claim what no row knows as it was said: did, does, is (done to it), plans_to."""
    first, last = said.clause.said
    lemma = said.clause.token.lemma.lower()
    if (
        (lemma in _MANNERS and not _is_considered(said.clause, who[0]))
        or said.clause.mode == "possible"
        or said.page.wry
        or _is_pep_talk(said.clause, who[0])
        or _is_elliptic(said.clause)
        or not _is_worth_saying(said.clause, who[0], first, last)
    ):
        return
    last = _end_of_clause(said.clause, last)
    what = _words(said.clause, who[0], first, last, said.page.turn.speaker)
    if (
        not what
        or len(what) > _LONGEST
        or what.endswith(" to")
        or what.lower() in _BARE_AUX
        or _is_cut(said.clause, who[0], first, last)
    ):
        return
    named = _named(said.page, said.part, said.clause, who[0])
    if named is None or (
        named[0] == "plans_to"
        and (said.clause.denied or (lemma in _EMPTY_PLANS and last - first < 3) or lemma in _NO_DEEDS)
    ):
        return
    rel, type = named
    if said.page.angry and rel == "does":
        return  # what somebody who lets off steam says of the present doesn't last
    if (
        said.clause.token.text.lower() == "got"
        and said.clause.tense == "perfect"
        and said.clause.child("prt", "acomp", "auxpass") is None
    ):
        what, rel, type = f"have {what.partition(' ')[2]}", "does", "fact"  # I've got choir on Thursdays
    if rel == "plans_to" and said.clause.mode != "planned":
        what = f"{lemma} {what.partition(' ')[2]}".strip()
    held = held_of(said.page, said.part, said.clause, type)
    if said.clause.mode == "planned" and _is_common(said.clause) and held == dates.NEVER:
        return  # all that work will shine through: a prediction
    what = without_when(said.page, what, held)
    for one in who:
        said.page.claim(
            said.part, said.voice, one.name, rel, what, polarity=not said.clause.denied, held=held, type=type
        )


def _is_common(clause: Clause) -> bool:
    """Whether something without a name of its own is spoken of."""
    return clause.subject is not None and clause.parse.tokens[clause.subject].tag in ("NN", "NNS")


def _is_elliptic(clause: Clause) -> bool:
    """Whether "did" stands for another verb: Yvonne did, my wife."""
    at = clause.child("dobj", "prep", "advmod", "nummod", "npadvmod", "attr")
    is_bare = at is None or at < clause.verb or clause.parse.tokens[clause.verb + 1].text == ","
    return clause.token.lemma == "do" and is_bare


def _end_of_clause(clause: Clause, last: int) -> int:
    """Return where a clause ends: before one that only stands behind it. Gus does the stall, Femke packs."""
    parse, tokens = clause.parse, clause.parse.tokens
    governs = clause.token.lemma.lower() in _GOVERNS or clause.lemma == "be"
    for at in range(clause.verb + 1, last + 1):
        if tokens[at].text.lower() in _PLEASE:
            return max(clause.verb, at - 1)
        if (
            tokens[at].tag == "VBG"
            and tokens[at - 1].text == ","
            and tokens[at].dep in ("advcl", "conj", "acl")
        ):
            last = at - 1  # does Sundays, ringing now: who rings isn't said
            break
        verb = tokens[at].head
        if (
            governs
            or tokens[at].dep not in ("nsubj", "nsubjpass")
            or tokens[verb].head != clause.verb
            or verb > last
        ):
            continue
        marked = any(
            tokens[child].dep == "mark" or tokens[child].tag in ("WRB", "WP", "WDT")
            for child in parse.children(verb)
        )
        if tokens[verb].dep in ("ccomp", "advcl", "parataxis", "conj") and not marked:
            last = min(subtree(parse, at)) - 1
            break
    while last > clause.verb and (
        tokens[last].pos in ("PUNCT", "CCONJ") or tokens[last].text.lower() in ("so", "then")
    ):
        last -= 1
    return last


def _is_cut(clause: Clause, who: Whom, first: int, last: int) -> bool:
    """Whether what a verb says lacks its end, or runs into what was said next: what we believe in; I counted."""
    tokens = clause.parse.tokens
    end = tokens[last]
    if end.pos == "ADP" and end.dep == "prep" and _gap(clause) is None and not clause.parse.children(last):
        return True
    if who.sort == "first" and first == last and clause.token.lemma.lower() not in _BARE:
        return True
    heard = len(tokens) > _RUN_ON and not any(token.pos == "PUNCT" for token in tokens[:-1])
    return heard and last - first > _NEAR


def _is_considered(clause: Clause, who: Whom) -> bool:
    """I'm thinking about starting a project: not yet a plan, and said as it is."""
    tokens = clause.parse.tokens
    deeds = any(name in ("about", "of") and tokens[at].tag == "VBG" for name, _, at in clause.preps())
    return clause.token.tag == "VBG" and clause.token.lemma == "think" and who.sort != "thing" and deeds


def _is_pep_talk(clause: Clause, who: Whom) -> bool:
    """We'll keep going; I'll do my best; the colours look great: nobody knows more for it."""
    tokens, lemma = clause.parse.tokens, clause.token.lemma.lower()
    behind = {token.lemma.lower() for token in tokens[clause.verb + 1 :]}
    if clause.mode == "planned" and who.sort == "first":
        return lemma in ("keep", "see", "try") or (lemma == "do" and "best" in behind)
    own = any(
        token.text.lower() in ("me", "my", "us", "our") or token.pos in ("NUM", "PROPN")
        for token in tokens[clause.verb + 1 :]
    )
    return who.sort == "thing" and clause.tense == "present" and lemma in _SEEMS and not own


def _is_worth_saying(clause: Clause, who: Whom, first: int, last: int) -> bool:  # noqa: PLR0911 - one decision a line
    """Whether a clause says something about its subject to those who weren't there."""
    parse, lemma = clause.parse, clause.token.lemma.lower()
    if (clause.child("xcomp") is not None and _is_only_lead(clause, lemma)) or _only_sets_out(clause):
        return False
    if not _is_telling(clause, first, last) and not (clause.no_more and who.sort != "first"):
        return False
    has_object = any(token.pos in ("NOUN", "PROPN", "NUM") for token in parse.tokens[first + 1 : last + 1])
    has_object = (
        has_object
        or _gap(clause) is not None
        or clause.child("dobj", "prep", "xcomp", "prt", "ccomp", "acomp") is not None
    )
    if lemma in _SAYS_NOTHING and not has_object and not (clause.progressive and who.sort != "first"):
        return False
    is_past = clause.tense in ("past", "perfect")
    if who.sort == "thing":
        if clause.tense == "present" and copula.is_general(clause):
            return False
        return has_object or clause.passive or is_past or clause.progressive
    if not has_object and who.sort == "first" and lemma not in _BARE:
        return False
    at = clause.child("dobj")
    return at is None or not is_empty(parse, at) or clause.child("prep", "xcomp", "ccomp") is not None


def _only_sets_out(clause: Clause) -> bool:
    """Whether the verb only says that somebody sets out for the deed that is told next: I went out and got a copy."""
    behind = clause.parse.tokens[clause.verb + 1 : clause.verb + 3]
    return (
        clause.token.lemma == "go"
        and len(behind) == 2
        and behind[0].text.lower() in ("out", "ahead", "back", "off", "over", "up", "down")
        and behind[1].text.lower() == "and"
    )


def _is_only_lead(clause: Clause, lemma: str) -> bool:
    """Whether the verb only leads to the one that it governs, which is read for itself: want to, used to, have to."""
    if lemma in ("have", "need"):
        return clause.tense not in ("past", "perfect")
    return lemma in _GOALS | _PLANS | {"seem", "be", "try"} or clause.lemma == "used"


def _words(clause: Clause, who: Whom, first: int, last: int, speaker: str) -> str:
    """Return what a verb says, as others would say it."""
    parse = clause.parse
    what = shown(parse, first, last)
    gap = _gap(clause)
    if gap is not None:
        rest = shown(parse, first + 1, last) if last > first else ""
        verb, thing = shown(parse, first, first), noun(parse, gap)
        what = f"{verb} {rest} {thing}" if parse.tokens[last].pos == "ADP" else f"{verb} {thing} {rest}"
    what = " ".join(what.split())
    return from_outside(what) if who.sort == "first" else from_beside(what, speaker)


def _named(page: Page, part: TextPart, clause: Clause, who: Whom) -> tuple[str, str] | None:  # noqa: PLR0911 - one decision a line
    """Return the relation and the type of what is said in the speaker's own words; None for what isn't to be kept."""
    if clause.mode == "able" and clause.passive:
        return None
    if clause.passive:
        return ("is", "fact") if clause.tense != "past" else ("was", "episode")
    if clause.mode == "planned":
        return "plans_to", "goal"
    if clause.mode == "able":
        is_we = clause.subject is not None and clause.parse.tokens[clause.subject].text.lower() == "we"
        nothing = who.sort == "thing" or is_we or clause.token.lemma.lower() in _SAYS_NOTHING
        return None if nothing else ("can", "skill")
    ahead = clause.progressive and clause.tense == "present" and who.sort != "thing"
    if ahead and dates.ahead(part.text, page.turn.when) != dates.NEVER:
        return "plans_to", "goal"
    if clause.tense in ("past", "perfect") and not (clause.tense == "perfect" and clause.progressive):
        return "did", "episode"
    return "does", "fact"


def _is_of_which(clause: Clause) -> bool:
    """Whether what is done is done to "which" or "what": which I take as advice."""
    tokens = clause.parse.tokens
    return any(
        tokens[child].tag in ("WDT", "WP") and tokens[child].dep in ("dobj", "pobj", "attr")
        for child in clause.parse.children(clause.verb)
    )


def _is_told_of_head(clause: Clause) -> bool:
    """Whether a relative clause whose object is its head has it right beside, and says what was done with it: the book
    I read last year; not: a reminder of all the love I get, one I did, the baseline we measure against.
    """
    tokens = clause.parse.tokens
    if clause.subject == clause.token.head:
        first = min(subtree(clause.parse, clause.verb))
        is_loose = first > 0 and tokens[first].text.lower() == "that" and tokens[first - 1].text == ","
        return not is_loose or _is_kin_said(clause)  # wow, Ana, that sounds great
    around = [tokens[child] for child in clause.parse.children(clause.verb)]
    _, last = clause.said
    if tokens[last].pos == "ADP" and tokens[last].dep == "prep":
        return False
    if clause.child("dobj", "ccomp", "xcomp", "acomp", "attr") is not None or any(
        one.tag == "WRB" for one in around
    ):
        return True
    first = min(subtree(clause.parse, clause.verb))
    if first and tokens[first - 1].pos == "PUNCT" and tokens[first].tag not in ("WDT", "WP"):
        return True  # a sentence of its own behind a comma: I'm Ana, I live in Leeds
    return (
        clause.token.head in (first - 1, first - 2)
        and tokens[clause.token.head].pos in ("NOUN", "PROPN")
        and clause.tense in ("past", "perfect")
    )


def _is_kin_said(clause: Clause) -> bool:
    """Craig, that's my boss."""
    at = clause.child("attr")
    return at is not None and kin_of(clause.parse, at) is not None


def _gap(clause: Clause) -> int | None:
    """Return what a relative clause is about, where it is its object: these figurines I bought yesterday."""
    token = clause.token
    if (
        token.dep != "relcl"
        or clause.subject == token.head
        or clause.child("dobj") is not None
        or clause.passive
        or any(clause.parse.tokens[child].tag == "WRB" for child in clause.parse.children(clause.verb))
    ):
        return None
    head = clause.parse.tokens[token.head]
    named = head.pos in ("NOUN", "PROPN") and head.lemma not in ("way", "reason", "time", "moment")
    return token.head if named else None


def without_when(page: Page, what: str, held: dates.Validity) -> str:
    """Return words without the time at their end, which the claim has as its validity."""
    if held == dates.NEVER:
        return what
    for first, stop in (
        *places(what, page.turn.when, calendar=True),
        *places(what, page.turn.when, calendar=False),
    ):
        if stop >= len(what.rstrip(" .!,")) and first > 0:
            words = what[:first].rstrip(" ,").split()
            while words and words[-1].lower() in (
                "on",
                "in",
                "at",
                "by",
                "this",
                "next",
                "last",
                "the",
                "for",
                "until",
                "since",
                "to",
                "till",
                "from",
                "of",
                "weekend",
            ):
                words.pop()
            return " ".join(words) if len(words) > 0 else what
    return what


def _is_telling(clause: Clause, first: int, last: int) -> bool:
    """Whether words say something to those who weren't there: not "you", not only pronouns."""
    words = words_of(clause.parse, first, last)
    if any(token.text.lower() in _YOURS for token in words):
        return False
    nouns = [
        token
        for token in words[1:]
        if token.pos in ("NOUN", "PROPN", "NUM", "ADJ") or (token.pos in ("VERB", "ADV") and len(words) > 2)
    ]
    return bool(nouns) or len(words) <= 2
