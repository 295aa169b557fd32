"""What a sentence says to a question that wants a yes or a no: yes, no, or neither. Pure.

"Am I still taking the course?" is answered by "I've pulled out of it", whatever was said before. A sentence says yes
only where it tells all that is asked, of its own accord: no "if", no "she says", no wish.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from braid.agent.answer.assertion.assertion import assertion
from braid.recall.decompose import Question, entities
from braid.stance.claims import RecordedClaim
from braid.stance.reconcile import Reconciliation
from braid.text.parse import Parses
from braid.text.sentences import clauses, sentences
from braid.text.words import stem, stems, telling, telling_stems, words

Verdict = Literal["yes", "no"]
_UNDONE: Final = re.compile(
    r"\b(?:cancell?ed|called off|scrap(?:ped)?|forget what i said|(?:that|it) was(?:n['’]t true| wrong))\b",
    re.IGNORECASE,
)
"""What then never was."""
_ENDED: Final = re.compile(
    r"\b(?:pulled out|dropped out|backed out|gave up|given up|giving up|quit|stopped|sold"
    r"|paid (?:me |us |it )?(?:back|off)|no longer|not any ?more|broke up|split up|closed down|is over)\b",
    re.IGNORECASE,
)
"""What once was."""
USED_TO: Final = re.compile(r"\bused to\b", re.IGNORECASE)
_NOT_NOW: Final = re.compile(
    r"\b(?:do|does|am|is|are|can)(?: not|n['’]t)\b|['’](?:m|re) not\b|\bcannot\b|\bany ?(?:more|longer)\b",
    re.IGNORECASE,
)
_NEVER: Final = re.compile(
    r"\bnever\b|\b(?:did|was|were|had|has|have)(?: not|n['’]t)\b|['’]ve not\b", re.IGNORECASE
)
_PAST: Final = re.compile(
    r"^\W*(?:(?:and|so|but) )?(?:did|was|were|had|(?:has|have)\b.*\bever)\b", re.IGNORECASE
)
_WAS: Final = re.compile(r"\b(?:did|was|were|had|have|has)\b", re.IGNORECASE)
_OF_NOW: Final = re.compile(
    r"\b(?:have|has|had) to\b|\b(?:does|do|will|can|could|would|should|must) (?:[\w'’-]+ ){1,4}?have\b",
    re.IGNORECASE,
)
"""A "have" that is no past: "when does she have yoga?"."""
_EVER: Final = stem("ever")
_HOW: Final = frozenset(
    map(stem, ("ever", "still", "already", "yet", "now", "currently", "actually", "really"))
)
_ASKED_FOR: Final = re.compile(
    r"^\W*(?:(?:and|also|oh|ok|hey|hi|so)\W+)*(?:please|pls|plz|kindly|to-?dos?\b\W|remind me|reminder|remember to"
    r"|don['’]?t forget|could you|can you|would you|make sure|note to self|let['’]?s\b)",
    re.IGNORECASE,
)
"""A request, which says nothing of what was done."""
_YES: Final = re.compile(
    r"^\W*(?:yes|yep|yeah|yup|of course|course I|sure(?: did| do| am| is)|afraid so|I (?:do|did|am|have)\b(?! not))",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^\W*(?:no\b(?! worries| problem)|nope|nah|not (?:yet|any ?more|really|at all)|never|I(?: do| did| am| have) not"
    r"|(?:sadly|afraid) not)",
    re.IGNORECASE,
)
_JEST: Final = re.compile(
    r"[.!?…,]\W*(?:not|yeah right|just kidding|jk|ha(?:ha)*,? no|as if)\W*$", re.IGNORECASE
)
"""How words end that are meant otherwise."""
_OF_AN_END: Final = re.compile(
    r"\b(?:left|leav(?:e|ing)|quit(?:ting)?|stop(?:ped|ping)?|end(?:ed|ing)?|over|out|gone|sold|sell(?:ing)?|br(?:oken|oke)"
    r"|closed|cancell?ed|finish(?:ed)?|dead|died|divorced|separated|single|free|resign(?:ed)?|give[nd]? up|gave up)\b",
    re.IGNORECASE,
)
"""A question that an end answers with a yes."""
_DENIED: Final = re.compile(
    r"\b(?:not(?! (?:just|only|merely|simply)\b)|never|none|nobody|no)\b|n['’]t\b|\bwithout\b", re.IGNORECASE
)
_SAME: Final = re.compile(
    r"\b(?:it|that|this|they|them|those|these|he|him|she|her|there|one|so|any ?more|any ?longer)\b",
    re.IGNORECASE,
)
"""What takes up the sentence before."""
_OPEN: Final = re.compile(
    r"\b(?:if|unless|would|wouldn['’]t|could|might|(?-i:may)|maybe|perhaps|wish|hope|hypothetically|imagine|says?|said|claims?"
    r"|heard|mentioned|reckons?|supposedly|apparently|allegedly|reportedly|rumou?rs?|thinks?|told|as (?:though|if)"
    r"|according|should|almost|nearly|plan(?:ning)?)\b|['’]d\b|\?",
    re.IGNORECASE,
)
WISHES: Final = (
    r"want(?:s|ed)? to|would (?:like|love) to|think(?:ing|s)? (?:of|about)|considering|dream(?:s|ing|t)? of"
    r"|hop(?:es?|ing) to|wish(?:es)?"
)
_MEANT_TO: Final = re.compile(
    rf"\b(?:{WISHES}|going to (?=[a-z]+\b)(?!the|a|my|our)|about to|trying to|need(?:s|ed)? to"
    r"|intend(?:s|ing)? to|will)\b|['’]ll\b",
    re.IGNORECASE,
)
"""What is only meant to be."""
_BARE_NOT: Final = re.compile(
    r"\b(do|does|did|is|are|was|were|has|have|had|ca|wo|would|could|should|ai)nt\b", re.IGNORECASE
)
"""As it is typed: i dont eat gluten."""
_ONLY: Final = re.compile(r",\s*(?=(?:just|only|but|merely|rather)\b)", re.IGNORECASE)
_LEFT_OUT: Final = re.compile(
    r"(?:(?:[,;:–—-]|\b(?:but|and)\b)\s*(?:never|not)|\bexcept(?: for)?|\bwithout(?: any)?)\b"
    r"(?! (?:only|just|even|too|so|\w+ing)\b)"
    r"(?P<what>(?:\s+[\w'’+#&-]+){1,4}?)\s*(?=[,;.!?)]|$|\b(?:and|but|because|since|as|until|till)\b)",
    re.IGNORECASE,
)
"""What a sentence leaves out by a word of its own and no verb: "on Tuesdays, never on Fridays"."""
_EXCEPT: Final = re.compile(r"\b(?:except|but|apart from|without)\b", re.IGNORECASE)
_NOT_WITHOUT: Final = re.compile(
    r"(?:\b(?:not|never|no|cannot)\b|n['’]t\b)[^.;!?]*\bwithout\b", re.IGNORECASE
)
_CONTRARIES: Final = tuple(
    (word, re.compile(rf"\b(?:{contrary})\b(?! (?:to|by|for|off)\b)", re.IGNORECASE))
    for word, contrary in (
        ("open", "closed|shut"), ("allowed", "forbidden|banned|prohibited"), ("possible", "impossible"),
        ("married", "single|unmarried|divorced"), ("free", "fully booked|sold out"),
        ("available", "sold out|out of stock"),
    )
)  # fmt: skip
_HABIT: Final = re.compile(
    r"\b(?:do|does|can|must|may|should)(?: not|n['’]t)\b|\b(?:cannot|can['’]t|never)\b", re.IGNORECASE
)
_BOUND: Final = re.compile(
    r"\b(?:(?:after|before|past|between|during) (?!all\b|that\b|this\b)|on (?:\w+ )?(?:\w+days|weekends)\b"
    r"|at (?:night|work|home|school|weekends)\b|in the (?:morning|afternoon|evening)s?\b|without )(?:[\w:']+ ?){0,2}",
    re.IGNORECASE,
)
"""How far a denial reaches, if it says what somebody does or may."""
_TAKES_UP: Final = re.compile(r"^\W*(?:(?:and|but|so) )?(?:he|she|they|it|who)\b", re.IGNORECASE)
_MARKED: Final = re.compile(r"[\d+#£$€%]|\w-$")
_ORDINAL: Final = re.compile(r"^(\d+)(?:st|nd|rd|th|[ap]\.?m\.?)$")
MEANT: Final = 2 / 3
"""What share of a claim's words a question must have to be about it."""


def verdict(
    question: Question, said: str, parses: Parses | None = None, *, speaker: str = "", whole: str = ""
) -> Verdict | None:
    """Return what a sentence, with what follows it, says to a question; None where it isn't a plain yes or no.

    Where there is a parser, its parse says what the sentence asserts, and the words that it is of what is asked; the
    words alone say only of an end ("I've pulled out of it") that it is so no more. `speaker`: who said it, where that
    isn't who asks; `whole`: the turn that the sentence is of.
    """
    said = with_contraries(question, _BARE_NOT.sub(r"\1n't", said))
    is_asked = question.intent == "check" and not _DENIED.search(question.text)
    if not is_asked or _ASKED_FOR.search(said) or _JEST.search(whole or said) or _NOT_WITHOUT.search(said):
        return None
    left_out = _leaves_out(question, said)
    if left_out and _is_whole(question, said, speaker):
        return "no"
    if not left_out and _EXCEPT.search(question.text) is None:
        said = _LEFT_OUT.sub(" ", said)
    told = _verdict(question, said, speaker)
    read = parses((question.text, said)) if parses is not None else None
    if read is not None:
        asserts = assertion(read[0], read[1], speaker)
        if asserts == "open":
            return None
        if asserts == "no" and asks_of_then(question) and is_of_now(said):
            asserts = None  # that it is so no more says nothing of what was
        if asserts is not None:
            told = asserts if told is not None or _is_whole(question, said, speaker) else None
        elif told == "yes":
            return None
    is_meant = _values(question.text) <= _values(said) and not (left_out or _is_of_another(question, said))
    if (told == "yes" and not is_meant) or (told == "no" and is_bounded(question, said)):
        return None
    return told


def with_contraries(question: Question, said: str) -> str:
    """Return a sentence with the contrary of what is asked for as its denial: "closed on Mondays" is not open then."""
    for word, contrary in _CONTRARIES:
        if stem(word) in question.stems:
            said = contrary.sub(f"not {word}", said)
    return said


def is_bounded(question: Question, said: str) -> bool:
    """Whether a denial reaches only as far as a time or place that isn't asked of: not after noon, not at work."""
    asked = {*question.stems}
    return any(
        asked.isdisjoint(telling_stems(bound[0])) and _HABIT.search(said, 0, bound.start())
        for bound in _BOUND.finditer(said)
    )


def replied(question: Question, asked: str, reply: str) -> Verdict | None:
    """Return what a short reply says to a question that another's question asks too; None where it isn't plain."""
    has = telling_stems(asked)
    wanted = [each for each in question.stems if each not in _HOW]
    if question.intent != "check" or not wanted or _DENIED.search(f"{question.text} {asked}"):
        return None
    if not asked.rstrip().endswith("?") or len(has.intersection(wanted)) < max(len(wanted) - 1, 1):
        return None
    if _YES.match(reply):
        return "yes"
    return "no" if _NO.match(reply) else None


def _is_whole(question: Question, said: str, speaker: str) -> bool:
    """Whether a sentence tells all that is asked, of its own accord."""
    has = telling_stems(f"{said} {speaker}")
    asked = [each for each in question.stems if each not in _HOW]
    return bool(asked) and has.issuperset(asked) and not _OPEN.search(said)


def _leaves_out(question: Question, said: str) -> bool:
    """Whether what is asked of is what a sentence leaves out, and says nowhere else."""
    if _EXCEPT.search(question.text):
        return False
    left_out = {one for found in _LEFT_OUT.finditer(said) for one in telling_stems(found["what"])}
    return not (left_out - telling_stems(_LEFT_OUT.sub(" ", said))).isdisjoint(question.stems)


def _values(text: str) -> frozenset[str]:
    """Return what is told apart by a sign: B+ from B, C++ from C, £950 from $950, 8:30 from 8."""
    found: set[str] = set()
    for place, token in enumerate(text.split()):
        bare = token.strip("\"'“”()[]?!…*_\u2018\u2019").rstrip(".,;:")
        marked = _MARKED.search(bare) or (place and len(bare) == 1 and bare.isupper() and bare != "I")
        if marked:
            found.add(_ORDINAL.sub(r"\1", bare.casefold().replace(",", "")))
    return frozenset(found)


def _verdict(question: Question, said: str, speaker: str) -> Verdict | None:
    """Return what the words say."""
    has = telling_stems(f"{said} {speaker}")
    asked = [each for each in question.stems if each != _EVER]
    met = [each for each in asked if each in has]
    if not met:
        return None
    if _PAST.search(question.text):
        return _then(question, said, whole=len(met) == len(asked))
    return _now(question, said, whole=len(met) == len(asked), several=len(met) > 1)


def _now(question: Question, said: str, *, whole: bool, several: bool) -> Verdict | None:
    if _says(_ENDED, question, said) or _says(_UNDONE, question, said):
        return None if _OPEN.search(said) or _OF_AN_END.search(question.text) else "no"
    if USED_TO.search(said):
        return "no" if whole and several and not _DENIED.search(said) else None
    if _OPEN.search(said) or _says(_MEANT_TO, question, said):
        return None
    if _DENIED.search(said):
        return "no" if whole and _denies(_DENIED, question, said) else None
    return "yes" if whole and several else None


def _denies(denial: re.Pattern[str], question: Question, said: str) -> bool:
    """Whether what is denied is what is asked, by its words or as "it": "I'm vegetarian. I don't like leeks." isn't."""
    for sentence in sentences(said):
        for part in (part for one in clauses(sentence) for part in _ONLY.split(one.text)):
            told = telling_stems(part)
            of_it = not told or not told.isdisjoint(question.stems) or _SAME.search(part) is not None
            if of_it and denial.search(part):
                return True
    return False


def _is_of_another(question: Question, said: str) -> bool:
    """Whether what is asked of somebody by name is said of somebody else: Ana loves jazz and Ben hates it."""
    names = {stem(word) for name in entities(question.text) for word in words(name)} & {*question.stems}
    parts = [(stems(one.text), one.text) for each in sentences(said) for one in clauses(each)]
    rest = {*question.stems} - names - {_EVER}
    if not names or not rest or len(parts) < 2:
        return False
    if any(names <= told and rest & told for told, _ in parts):
        return False
    return any(rest & told and names.isdisjoint(told) and not _TAKES_UP.match(text) for told, text in parts)


def _says(ending: re.Pattern[str], question: Question, said: str) -> bool:
    """Whether a sentence tells of an end that the question doesn't itself ask for: "Has the shop closed down?"."""
    found = ending.search(said)
    return found is not None and telling_stems(found[0]).isdisjoint(question.stems)


def _then(question: Question, said: str, *, whole: bool) -> Verdict | None:
    """Return what a sentence says of what was: that it is no more tells that it was."""
    ever = _EVER in question.stems
    if _says(_UNDONE, question, said):
        return None if ever else "no"
    if _OPEN.search(said) or _says(_MEANT_TO, question, said) or not whole:
        return None
    if _NEVER.search(said):
        return "no" if _denies(_NEVER, question, said) else None
    own = question.first_person and re.search(r"\bI used to\b", said) is not None
    if is_of_now(said):
        was = _ENDED.search(said) or USED_TO.search(said)
        return "yes" if was and ever and (own or len(question.stems) > 2) else None
    return "yes" if not _DENIED.search(said) and len(question.stems) > 1 + ever else None


def is_of_now(said: str) -> bool:
    """Whether a sentence denies only that something still is: "I used to smoke", "I don't smoke any more"."""
    return any(pattern.search(said) for pattern in (_ENDED, USED_TO, _NOT_NOW)) and not _NEVER.search(said)


def asks_of_then(question: Question) -> bool:
    """Whether a question wants a yes or a no to what was."""
    return question.intent == "check" and _PAST.search(question.text) is not None


def asks_of_the_past(question: Question) -> bool:
    """Whether a question asks of what has been, whatever it wants to know of it."""
    return _WAS.search(_OF_NOW.sub("", question.text)) is not None


def denied(question: Question, outcome: Reconciliation | None) -> RecordedClaim | None:
    """Return a claim that stands and says no to a question; None where there is none, or it is of something else."""
    if outcome is None or question.intent != "check" or any(said.claim.polarity for said in outcome.support):
        return None
    standing = [one.said for one in outcome.candidates if one.held and not one.said.claim.polarity]
    if asks_of_then(question):
        standing = [said for said in standing if not is_of_now(said.claim.quote or "")]
    meant = [
        said
        for said in standing
        if is_about(question, said.claim.object) and not is_bounded(question, said.claim.quote or "")
    ]
    return max(meant, key=lambda said: said.said, default=None)


def is_about(question: Question, object_: str) -> bool:
    """Whether a question has most words of a claim's object, in any form."""
    return _share(question.stems, [stem(word) for word in telling(object_)]) >= MEANT


def _share(asked: Sequence[str], wanted: Sequence[str]) -> float:
    return sum(any(_alike(each, one) for one in asked) for each in wanted) / len(wanted) if wanted else 0.0


def _alike(one: str, other: str) -> bool:
    """Whether two stems are of one word, as far as their beginnings tell: broken, broke."""
    return one == other or (min(len(one), len(other)) > 3 and one[:4] == other[:4])
