"""Whether one sentence says in other words that what another says has changed. Pure.

"My boss is Hannah" … "I have a new boss, Ravi". A word of change alone is not enough, it must stand with the thing that
is asked about: "a new boss" changes who the boss is, "my boss has a new car" doesn't.
"""

import re
from collections.abc import Iterable
from typing import Final

from braid.agent.answer.turn.bearing import Bearing
from braid.agent.answer.turn.spans import elliptic, kind_of
from braid.recall.decompose import Question, entities
from braid.text.calendar import MONTH_NAME, WEEKDAY_NAME
from braid.text.numbers import WORD as NUMBER_WORD
from braid.text.words import STOP, stem, stems, telling, words

_LIGHT: Final = frozenset(map(stem, """
go goes live lives work works call called name named take takes come comes many much long old currently now today still
start starts new want used use like day time date place pay cost costs kind sort
""".split()))  # fmt: skip # noqa: SIM905
"""Words of a question that name no thing."""
CLAUSE: Final = re.compile(r"[,;:!?]+\s+|\.\s+|\s+[–—-]\s+|\n+|\s+(?:but|because|so)\s+")
"""Where a clause ends."""
PROPOSED: Final = re.compile(
    r"^\W*(?:(?:and|but|so|well|oh|or|maybe|perhaps|i think|i guess|i feel"
    r"|(?:he|she|they|(?-i:[A-Z])[\w-]+) thinks?)\W+(?:that )?)*"
    r"(?:(?:i|we) (?:should|could|might|ought to)\b(?! have\b)"
    r"|(?:should|could|shall|can) (?:i|we)\b|(?:what if|how about)\b)",
    re.IGNORECASE,
)
"""What somebody proposes, and nobody decided."""
FOR_ONCE: Final = re.compile(
    r"\b(?:just|only|except) (?:for |on )?(?:this|once|today|tomorrow|next)\b|\b(?:this|for) once\b"
    r"|\bfor (?:this|one|the) (?:week|day|time)\b|\bthat (?:week|day|time)\b|\bfills? in\b",
    re.IGNORECASE,
)
"""Says that something is so for one time."""
_HANGS_ON: Final = re.compile(
    r"\W*(?:since|because|as|if|when|while|so|unless|after|before|until)\b", re.IGNORECASE
)
_TOKEN: Final = re.compile(r"[\w£$€%+#@&-]+(?:[:.'’][\w-]+)*|[,;]")
_NAME_FIRST: Final = re.compile(r"\W*[A-Z][\w'’-]*(?: and I\b| (?:is|was|moved|has)\b| [A-Z])")
"""A name that opens a sentence is told from another word by what follows."""

_MOVES: Final = re.compile(
    r"\b([A-Z][\w-]+)(?: and [\w-]+)?(?: has| have|['’]s)? moved (?:back )?(?:in|to|into)\b"
    rf"(?! (?:the )?(?:(?i:{WEEKDAY_NAME})|\d))"
)
"""Somebody who moves house; what moves to a day doesn't."""

# A sentence is looked at with its words put as letters: `A` a thing that the question names, `P` whom it names and who
# moves house, which changes nothing else of theirs; `V` a name or number that the older sentence answers with, `S`
# another word that these two have, `N` a name or number that is new.
_WORD: Final = r"[\w'-]+"
_DET: Final = (
    rf"(?:(?:my|our|the|that|this|a|an|his|her|their|going to|drinking|eating|being) )*(?:{_WORD} )?"
)
_BE: Final = r"(?:is|are|was|were|has|have|had|been|got|just|now|finally|'s|'ve)"
_OF_IT: Final = r"(?:be |have |own |use |at |in |S |A )"
_RENEWED: Final = (
    r"\b(?:new|another|different) A"
    r"(?= [,;N]| (?:who|called|named|at|in|for|on|and|from|since|now|is|starts)\b|$)"
)
_MOVED: Final = (
    r"moved|changed|switched|pushed|postponed|shifted|rescheduled|raised|put|bumped|updated|replaced|swapped|exchanged"
    r"|traded|given|handed|passed|brought|rose|grew|shrank|climbed|fell|jumped|dropped|upped|increased|lowered|reduced|cut|doubled|halved|extended"
    r"|(?:go|goes|went|gone|going) (?:up|down)|upgraded|downgraded|migrated"
)
_SHIFTED: Final = re.compile(
    rf"\bA(?: {_WORD}){{0,2}}? (?:{_MOVED}|slip(?:s|ped)|delayed)(?: back| forward| out)?(?: by)? (?:about )?"
    rf"(?:an?|another|\d+|{NUMBER_WORD}) (?:days?|weeks?|months?|hours?|minutes?)\b"
    rf"|\bA(?: {_WORD}){{0,2}}? (?:is|are|will be|comes?|starts?) (?:an?|\d+|{NUMBER_WORD})"
    r" (?:days?|weeks?|months?|hours?|minutes?) (?:later|earlier)\b"
)
_REPRICED: Final = re.compile(
    rf"\b(?:{_MOVED})(?: {_WORD}){{0,2}}? (?:price|fee|rate|cost|charge)s?(?: {_WORD}){{0,3}}? (?:to|by) "
)
_OF_THINGS: Final = re.compile(
    rf"(?<![\w:.,])\d[\d.,]* (?!(?:sharp|hours?|days?|weeks?|months?|minutes?|{MONTH_NAME})\b)(?P<what>[a-z]{{3,}})\b"
    r"|\binstead of [^,;.!?]+",
    re.IGNORECASE,
)
"""So many of something, and what something stands in the place of: 250 filters are no day."""
_JOINING: Final = STOP | {"because", "since", "instead", "from", "until", "till", "now", "already", "though"}
_CHANGE_WORD: Final = re.compile(_MOVED)
_CHANGED: Final = (
    r"\b(?:switched|swapped|changed) (?:my |our )?A(?= [,;]|$)"
    r"|\bA(?: [^ ]+){0,3}? it['’]s (?:(?:the|a|an|in|at|on) )?[\w-]+ now\b"
    rf"|\b(?:{_MOVED})(?: {_WORD}){{0,4}}? [AV]\b(?: (?!and\b|because\b){_WORD}){{0,4}}?"
    r" (?:to|into|onto|for|with|by|until|till) [\w'-]"
    rf"|\bA(?: {_WORD}){{0,3}}? (?:{_MOVED})(?: {_WORD}){{0,2}}? (?:to|by|until|till) [\w'-]"
)
_ENDED: Final = (
    r"\b(?:sold|quit|cancell?ed|gave up|given up|got rid of|(?:broke|split) up with|split (?:from|with)|divorced"
    r"|stopped|closed|gave away|moved away from|resigned from|withdrew from|(?:moved|got|dropped|pulled|backed) out of)"
    rf" {_DET}[APV]\b"
    r"|\b(?:left|lost|dropped|finished|completed|done with) (?:my |our |the )?V\b|\bno more [APV]\b"
    rf"|\bno longer {_OF_IT}(?:{_WORD} ){{0,3}}?[AV]\b"
    rf"|\b(?:(?:do|does|is|are|have)n't|(?:am|is|are|'m)(?: not)?) {_OF_IT}(?:{_WORD} ){{0,6}}?any ?(?:more|longer)\b"
)
_OVER: Final = (
    rf"\b[APV](?: and (?:i|me))?(?: {_BE}){{0,3}} (?:divorced|separated|split(?: up)?|broken? up)\b"
    rf"|\bV(?: {_WORD})? (?:moved (?:out|away)|quit|resigned|retired|died|passed away|went bust)\b"
    rf"|\b(?:cancell?(?:ed|ing)?|called off|scrapped) {_DET}S\b"
    r"|\bS (?:is|are|was|were|got) (?:gone|sold|stolen|thrown)\b"
    r"|\b(?:halved|doubled|stopped|upped|raised|lowered|increased|reduced) (?:my |the |our )?A\b"
    rf"|\b(?<!there's )(?<!there is )(?<!have )(?<!got )V(?: {_WORD})? left(?= [,;]| me\b| us\b|$)"
    rf"|\b[AV](?: {_WORD}){{0,2}}? {_BE}(?: been)? (?:off|over|gone|dead|cancell?ed|called off|closed|shut|sold|stolen"
    r"|scrapped|discontinued)\b"
)
_CANNOT: Final = (
    r"(?: [\w'-]+)? (?:can['’]?t|cannot|couldn['’]?t|won['’]?t) (?:make it|come|do (?:it|that))\b"
)
_CANNOT_LINE: Final = re.compile(rf"\b[APV]{_CANNOT}")
_VALUE_CANNOT: Final = re.compile(rf"\bV{_CANNOT}")
"""Of where somebody works, or who somebody is, it changes nothing that they can't come."""
_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|[a-z]+n['’]t)"
    r"(?: (?:on|at|in|to|for|from|with|the|a|an|my|our|said|is|was|coming|going|take)){0,3} V\b"
)
_ASK_VALUES: Final = frozenset(("time", "count", "duration", "place", "person"))
"""What a denial of the value changes; it is no change to who asks whether, why or how."""
_ASK_NO_AMOUNT: Final = frozenset(("place", "person", "time", "reason", "manner"))
"""What another amount changes nothing of: where the party is, by how many come."""
_KINDS_TOLD: Final = frozenset(("time", "clock", "place", "person"))
_ASKS_WHICH: Final = re.compile(r"^\W*(?:(?:and|so|ok|hey)\W+)*(?:what|which)\b", re.IGNORECASE)
"""What a denial beside another value changes, too: we go to 15, not 16."""
_MEND_OPENING: Final = r"(?:hang on|hold on|scratch that|wait|no|nope|actually|sorry|oops|correction|i mean)"
_MENDED: Final = (
    rf"^(?:(?:{_MEND_OPENING}|make that)(?: ,)? )+"
    r"(?:(?:it's|it is|that's|make it|make that) )?(?:(?:in|at|on|to) )?(?:(?:the|my|our) )?[AS] N(?: now)?$"
)
_BARE_MEND: Final = re.compile(
    rf"(?:{_MEND_OPENING}[ ,:.]+)*(?:make (?:it|that)|i mean[ ,]+|i meant) ?"
    rf"(?:[£$€]?\d[\d.,:]*\w*|{NUMBER_WORD})[.!]?$"
)
_IT_IS: Final = r"(?:it's|that's|it is|that is) (?:actually )?"
_SHORT_MEND: Final = re.compile(
    rf"(?:(?:{_MEND_OPENING}[ ,:.]+)+(?:{_IT_IS})?|{_IT_IS})"
    rf"(?:[£$€]?\d[\d.,:]*\w*|(?!one\b|zero\b){NUMBER_WORD})[.!]?$"
)
_OPENS: Final = frozenset(
    ("ok", "so", "and", "but", "well", "btw", "oh", "hey", "sorry", "now", "new", "update", "fyi")
)
_FOR_ANOTHER: Final = re.compile(r"\bfor [A-Z]")
_THEY: Final = r"(?:i|we|he|she|they)(?: have| has|['’](?:ve|s|d))?(?: just| finally| now)*"
_TAKES_BACK: Final = re.compile(
    r"\bchanged (?:my|our|his|her|their) minds?\b(?! (?:about|on)\b)|\bscratch that\b"
    r"|^\W*(?:no|nope|wait|sorry|oops|correction)\b[, ]*(?:(?:wait|sorry|actually),? )*it['’]?s"
    r" (?:(?:the|on|at|in) )*(?-i:[\dA-Z])"
    r"|^\W*(?:no|nope|wait)\b[\w ,]{0,12}\b[\w:.]+(?: \w+)? actually\W*$"
    r"|\bso (?:it['’]?s )?[\w:.]+(?: \w+)? it is\b"
    r"|^\W*(?:(?:ok|so|and|but|well),? )*it['’]?s (?:(?:the|a|an|in|at|on) )?[\w:.]+(?: \w+)? (?:now|instead)\b"
    r"|^\W*(?:gate|room|date|time|venue|place|plan|platform|seat|table) change\b",
    re.IGNORECASE,
)
"""What takes back whatever was said right before it, and names nothing of it."""
_GOT_RID: Final = re.compile(
    rf"\b{_THEY} (?:sold|returned|ditched|cancell?ed|scrapped|quit|left|dropped|lost|got rid of) (?:it|that|them)\b",
    re.IGNORECASE,
)
_LONG: Final = 5
"""From how many letters one stem that begins with another is a form of it."""
_SENTENCES_END: Final = re.compile(r"[.!?]\s")
_MOVED_HOUSE: Final = re.compile(
    rf"(?:^\W*|\b{_THEY} )moved(?: (?:in|out|house|home|flat|places?|last \w+|this \w+|yesterday|today|at last))*\W*$",
    re.IGNORECASE,
)
_FAMILIES: Final = tuple(frozenset(map(stem, words(one))) for one in (
    "marry married marrying wedding wed", "live address home flat apartment", "work job employer",
    "drive drives car van", "stay staying hotel hostel", "doctor gp", "boss manager",
))  # fmt: skip
"""Words of one thing: who is asked where she lives is answered by an address."""
_HOME: Final = _FAMILIES[1]
_NUMBERS: Final = re.compile(rf"\d[\d.,:]*|\b{NUMBER_WORD}")
_RENEWED_LINE: Final = re.compile(_RENEWED)
_ENDED_LINE: Final = re.compile("|".join((_ENDED, _OVER, _MENDED)))
_CHANGED_TO: Final = re.compile(_CHANGED)
_TO_ANOTHER: Final = re.compile(
    rf"\b(?:{_MOVED})(?: (?:me|us|him|her|it|them))? (?:to|into|onto) (?:(?:the|a|an) )?A N\b"
)
"""To another one of several: we moved to berth 31."""
_DAY_ALONE: Final = re.compile(
    rf"\b(?:to|on|until|till|for) (?:(?:the|next|every) )*"
    rf"(?:{WEEKDAY_NAME}s?|(?:\d{{1,2}} )?{MONTH_NAME}|\d{{1,2}}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_AMOUNT: Final = rf"(?:\d[\d.,]*|\b(?!one\b){NUMBER_WORD})"
_MEASURE: Final = re.compile(rf"(?P<count>{_AMOUNT}) ?(?P<unit>[a-z%£$€]+)")
_MEASURED_NOW: Final = re.compile(
    rf"\b(?:(?:down|up|back) to|now(?: at)?) (?P<count>{_AMOUNT}) ?(?P<unit>[a-z%£$€]+)"
    rf"|^\W*(?P<alone>{_AMOUNT}) ?(?P<of>[a-z%£$€]+) now\b"
)
_DOSE: Final = re.compile(r"\d ?(?:mg|mcg|µg|ml|g|units?|tablets?|pills?|puffs?|drops?)\b")
_DOSED: Final = re.compile(
    r"\b(?:put|moved|bumped|brought|took|got) (?:me|us) (?:back )?(?:up|down|back) to \d|\bwants (?:me|us) on \d"
)
_TO_AMOUNT: Final = re.compile(
    r"\b(?:to|by) (?:[£$€]|\d[\d.,]* ?(?:mg|mcg|µg|ml|g|kg|[kmgt]b|units?|tablets?|pills?|puffs?|drops?|per ?cent"
    r"|euros?|pounds?|quid|dollars?|people)\b|\d[\d.,]* ?[%€$£])",
    re.IGNORECASE,
)
_OWES: Final = re.compile(
    r"\b(?:ow(?:e[sd]?|ing)|debts?|lend|lent|loan(?:ed)?|borrow(?:ed|s)?)\b", re.IGNORECASE
)
_SETTLES: Final = re.compile(
    r"\b(?:paid|pays|gave|given|sent|transferred|returned)\b[^.;!?]{0,40}?\bback\b"
    r"|\b(?:paid|settled)\b[^.;!?]{0,30}?\b(?:off|up)\b|\bwe(?: are|['’]re) (?:even|quits|square)\b",
    re.IGNORECASE,
)
_OF_SPEAKER: Final = re.compile(
    r"(?:\W*\b(?:i|i'm|im|i've|we|we're|it|it's|is|am|are|have|got|now|and|so|yay|finally|already|just|so far|gone"
    r"|went)\b)*\W*"
)
_ADVERB: Final = r"(?:still|now|also|just|already|always|usually)"
_ASKER_ACTS: Final = re.compile(
    rf"\b(?:do|did|am|was|will|can|have) i(?: {_ADVERB})? (?P<act>[a-z]+)", re.IGNORECASE
)
"""What whoever asks does or did themselves."""
_CUES: Final = frozenset(("now", "nowadays", "instead"))
_NOW: Final = re.compile(
    r"\b(?:now|nowadays|these days|from now on|since (?:last|this|yesterday|today)|as of|instead(?! of))\b"
    r"|\binstead of (?:the |my )?V\b"
)


def is_change(question: Question, older: str, newer: str, *, by_value: bool = False) -> bool:
    """Whether one sentence says that what another says in answer to a question has changed; `by_value`: to another
    value. That the van was sold changes nothing of what it cost."""
    if of_another(question, older, newer) or FOR_ONCE.search(newer):
        return False
    line = _Line(question, older, newer)
    if by_value and not line.brings_value:
        return False
    cannot = _VALUE_CANNOT if kind_of(question).wants in ("place", "person", "reason") else _CANNOT_LINE
    is_renewed = _RENEWED_LINE.search(line.text) is not None and not kind_of(question).past
    is_told = (
        any(one.search(line.text) for one in (_ENDED_LINE, cannot))
        or is_renewed
        or (_CHANGED_TO.search(line.text) is not None and _brings_kind(question, newer))
    )
    # Who lives at number 9 is not changed by who moves to number 11.
    is_told = is_told or (
        _TO_ANOTHER.search(line.text) is not None and not any(map(str.isdigit, question.text))
    )
    is_of_no_amount = question.intent == "check" and not any(map(str.isdigit, question.text))
    if (is_of_no_amount or question.intent in _ASK_NO_AMOUNT) and _TO_AMOUNT.search(newer):
        is_told = False
    if (
        is_told
        or _settles(question, older, newer)
        or (_DENIED.search(line.text) and _wants_value(question, line))
        or (question.intent not in _ASK_NO_AMOUNT and _measured_again(older, newer))
        or _moved_house(question, newer)
        or (kind_of(question).wants in ("time", "clock") and _SHIFTED.search(line.text))
        or (kind_of(question).wants == "money" and line.shares_some and _REPRICED.search(line.text))
    ):
        return True
    cue = _NOW.search(line.text)
    if cue is None or not line.brings_value or not _brings_kind(question, newer):
        return False
    return line.shares_all or (line.shares_some and cue[0].startswith("instead"))


def _wants_value(question: Question, line: "_Line") -> bool:
    """Whether a question wants a value that a denial changes: of which one it is, only beside another."""
    return question.intent in _ASK_VALUES or (
        question.intent == "fact" and line.brings_value and _ASKS_WHICH.search(question.text) is not None
    )


def takes_back(newer: str) -> bool:
    """Whether a sentence takes back what its speaker said right before: "changed our minds, it's Madrid"."""
    rid = _GOT_RID.search(newer)
    # "I used to play the cello but I sold it" says itself what "it" is
    return _TAKES_BACK.search(newer) is not None or (
        rid is not None and not telling(_SENTENCES_END.split(newer[: rid.start()])[-1])
    )


def _brings_kind(question: Question, newer: str) -> bool:
    """Whether what something was changed to may be of the kind that is asked for: a gate is no hour, a day no place."""
    asked = kind_of(question)
    if question.intent in ("count", "duration"):
        return _NUMBERS.search(newer.lower()) is not None
    if asked.wants not in _KINDS_TOLD:
        return asked.wants != "reason"
    if asked.wants == "place":
        newer = _DAY_ALONE.sub(" ", newer)
    elif asked.wants != "person":
        newer = _OF_THINGS.sub(lambda one: one[0] if one["what"] in _JOINING else " ", newer)
    return Bearing(asked).bears(newer)


def _settles(question: Question, older: str, newer: str) -> bool:
    """Whether it is asked what somebody owes, and the one whom both sentences name was paid back."""
    if _OWES.search(question.text) is None or _SETTLES.search(newer) is None:
        return False
    named = {word for name in entities(f"so {newer}") for word in words(name)} & set(words(older))
    return bool(named)


def _moved_house(question: Question, newer: str) -> bool:
    """Whether it is asked where somebody lives, and they moved."""
    return not _HOME.isdisjoint(question.stems) and _MOVED_HOUSE.search(newer) is not None


def is_mend(newer: str, behind: str | None = None) -> bool:
    """Whether a sentence puts right what was said before it, and names nothing else: "actually make that 14".

    `behind`: what the same speaker said right before, where nobody spoke between. Only of its one number "no, 14" is a
    mend: behind somebody else's words it may be a reply.
    """
    low = newer.strip().lower().replace("’", "'")
    if _BARE_MEND.match(low):
        return True
    one_number = behind is not None and len(_NUMBERS.findall(behind.lower())) == 1
    return one_number and _SHORT_MEND.match(low) is not None


def _measured_again(older: str, newer: str) -> bool:
    """Whether both give a measure in one unit, the newer one as it is by now: down to 81 kg; or a dose: put me down to
    10."""
    low = newer.lower().replace("’", "'")
    if _DOSED.search(low) and _DOSE.search(older.lower()):
        return True
    found = _MEASURED_NOW.search(low)
    if found is None or _OF_SPEAKER.fullmatch(low, 0, found.start()) is None:
        return False  # somebody else's: Lea is down to 60 kg
    units = {one["unit"] for one in _MEASURE.finditer(older.lower())}
    return (found["unit"] or found["of"]) in units


def of_another(question: Question, older: str, newer: str) -> bool:
    """Whether a sentence speaks of somebody else's: "my sister has a new boss" beside "my boss is Hannah"."""
    if "whose" in words(question.text):
        return False  # whose it is, is what is asked
    known = {stem(word) for word in (*words(question.text), *words(older))}
    topic = _topic(question)
    low = newer.lower().replace("’", "'")
    for found in re.finditer(r"\b([\w-]+)(?:'s|(?<=s)') (?:new )?([\w-]+)", low):
        if stem(found[2]) in topic and stem(found[1]) not in known and found[1] not in STOP:
            return True
    owners = re.finditer(
        r"\b(?:my|our|his|her|their) ([\w-]+) (?:(?:has|had|got|'s got|is getting)\b|[\w-]+ (?:his|her|their)\b)"
        r"([^,;.!?]*)",
        low,
    )
    if any(stem(found[1]) not in known and _is_of(found[2], topic) for found in owners):
        return True
    asks_of_asker = _ASKER_ACTS.search(question.text)
    if asks_of_asker is None:
        return False
    acts = re.finditer(rf"\b(?:my|our|his|her|their) ([\w-]+)(?: {_ADVERB})? ([\w-]+)", low)
    act = stem(asks_of_asker["act"].lower())
    return any(stem(found[2]) == act and stem(found[1]) not in known for found in acts)


def _is_of(what: str, topic: frozenset[str]) -> bool:
    """Whether words speak of a topic, if only as "one"."""
    return any(word in ("one", "it") or stem(word) in topic for word in words(what)) or not topic


def values(sentence: str) -> set[str]:
    """Return the words of the names and numbers of a sentence, lower case."""
    bare = sentence.strip()
    found = [name for name in entities(bare[:1].lower() + bare[1:]) if name.lower() not in STOP]
    tokens = [each[0] for each in _TOKEN.finditer(bare)]
    if tokens and _NAME_FIRST.match(bare):
        found.append(tokens[0])
    found += [one for one in tokens if any(map(str.isdigit, one)) or any(map(str.isupper, one[1:]))]
    return {word for each in found for word in words(each) if word not in STOP}


def telling_clause(asked: Iterable[str], said: str) -> str:
    """Return the clause of a sentence that speaks most of what is asked: "Anna works mornings, Piet afternoons".

    All of it where none does so alone, or where one says why or when the other is so.
    """
    wanted, clauses = {*asked}, CLAUSE.split(said)
    met = [len(wanted & stems(clause)) for clause in clauses]
    if (at := elliptic(wanted, clauses)) is not None:
        return clauses[at]
    most = max(met, default=0)
    is_one = most and met.count(most) == 1 and not any(map(_HANGS_ON.match, clauses))
    return clauses[met.index(most)] if is_one else said


def _topic(question: Question) -> frozenset[str]:
    return frozenset(question.stems) - _LIGHT


def _is_form_of(root: str, topic: Iterable[str]) -> bool:
    """Whether a stem is another form of one of a topic's: the delivery, of what is delivered."""
    return any(
        min(len(root), len(one)) >= _LONG and (root.startswith(one) or one.startswith(root)) for one in topic
    )


class _Line:
    """A sentence with its words put as letters, beside the older one and the question."""

    def __init__(self, question: Question, older: str, newer: str) -> None:
        topic = _topic(question)
        asked = frozenset(question.stems)
        earlier = {stem(word) for word in words(older)}
        told = telling_clause(asked, older) if question.intent == "person" else older
        answers = {stem(word) for word in values(told)} - asked
        new = values(newer)
        movers = {stem(word) for found in _MOVES.finditer(newer) for word in words(found[1])}
        asks_of = movers if topic - movers else frozenset[str]()
        topic |= {one for each in _FAMILIES if not each.isdisjoint(asked) for one in each}

        of_check = question.intent == "check"  # "is it bed 5?" names what is new

        def put(token: str) -> str:
            bare = words(token)
            root = stem(bare[0]) if bare else ""
            if of_check and root and bare[0] in new and root not in earlier:
                return "N"
            if not root or root in topic or _is_form_of(root, topic):
                return ("P" if root in asks_of else "A") if root else token
            if root in answers:
                return "V"
            if bare[0] in new and root not in earlier and not _CHANGE_WORD.fullmatch(bare[0]):
                return "N"
            idle = bare[0] in STOP or bare[0] in _CUES
            return "S" if root in earlier | asked and not idle else token.lower()

        letters = [put(found[0].replace("’", "'")) for found in _TOKEN.finditer(newer)]
        # "team meeting", "Castle Street": one thing each.
        self.text = re.sub(r"\b([AV])(?: \1\b)+", r"\1", " ".join(letters))
        said = {stem(word) for word in words(newer)}
        about = topic & earlier
        names = {stem(word) for name in question.entities for word in words(name)}
        thing = about - names
        self.shares_some = not about.isdisjoint(said)
        self.shares_all = bool(about) and about <= said
        if bool(thing) and thing <= said and names.isdisjoint(said):
            # "Lotte has swimming on Wednesdays" … "swimming's on Fridays now": whose it is goes without saying.
            ahead = self.text.split(" A", 1)[0] if not self.text.startswith("A") else ""
            alone = all(word in STOP or word in _OPENS for word in words(ahead))
            self.shares_all = self.shares_all or (alone and _FOR_ANOTHER.search(newer) is None)
        self.brings_value = "N" in letters
