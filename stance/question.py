"""A question in plain English, read by rules into subject, relation and object. Pure.

"Where does Jonas live?" asks for the object of `lives_in`, "Is Mireille allergic to shellfish?" for a yes or no, "When
did Caroline go to Rome?" for the time of something. What time it speaks of is for others to read (`text/dates.py`).
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from braid.text.calendar import MONTH_NAME

MAX_CHARS: Final = 300
"""A plain question is shorter; the rules would go over a long text again and again."""
SPEAKER: Final = "user"
"""The subject of claims in the first person, where nobody knows the speaker's name."""
Wants = Literal["object", "check", "time"]


class ParsedQuestion(msgspec.Struct, frozen=True):
    """What a question asks for; `rels` may be empty where any relation will do."""

    subject: str
    rels: tuple[str, ...] = ()
    object: str | None = None
    wants: Wants = "object"
    kind: str | None = None
    """Of which kind the object is to be, where the relation doesn't say so: which cache we use, what music I like."""

    @property
    def first_person(self) -> bool:
        """Whether whoever asks is the subject."""
        return self.subject == SPEAKER


_VERBS: Final[dict[str, tuple[str, ...]]] = {
    "drink": ("drinks",), "drinking": ("drinks",), "eat": ("eats",), "eating": ("eats",), "play": ("plays",),
    "like": ("likes",), "love": ("likes",), "enjoy": ("likes",), "hate": ("dislikes",), "dislike": ("dislikes",),
    "prefer": ("prefers",), "speak": ("speaks",), "own": ("owns",), "use": ("uses",), "study": ("studies", "studied"),
    "want": ("wants",), "need": ("needs",), "drive": ("drives",), "read": ("reads",), "watch": ("watches",),
    "learn": ("learning",), "do": ("works_as", "does"), "believe": ("believes",), "have": ("owns", "pet", "has"),
    "keep": ("pet",), "cost": ("costs",), "earn": ("earns",), "plan to": ("plans_to", "goal"), "have to": ("has_to",),
    "need to": ("has_to",),
}  # fmt: skip
_NOUNS: Final[dict[str, tuple[str, ...]]] = {
    "boss": ("boss_is",), "manager": ("boss_is",), "supervisor": ("boss_is",), "partner": ("partner_is", "married_to"),
    "wife": ("partner_is", "married_to"), "husband": ("partner_is", "married_to"), "girlfriend": ("partner_is",),
    "boyfriend": ("partner_is",), "fiancé": ("engaged_to",), "fiancée": ("engaged_to",), "spouse": ("married_to",),
    "sister": ("sibling",), "brother": ("sibling",), "sibling": ("sibling",), "mother": ("mother_is", "parent"),
    "mum": ("mother_is", "parent"), "mom": ("mother_is", "parent"), "father": ("father_is", "parent"),
    "dad": ("father_is", "parent"), "parent": ("parent",), "son": ("child",), "daughter": ("child",),
    "child": ("child",), "friend": ("friend",), "colleague": ("colleague",), "pet": ("pet",), "cat": ("pet",),
    "dog": ("pet",), "job": ("works_as",), "profession": ("works_as",), "occupation": ("works_as",),
    "work": ("works_as", "works_at"), "employer": ("works_at", "works_for"), "company": ("works_at", "works_for"),
    "name": ("name_is",), "email": ("email_is",), "email address": ("email_is",), "phone number": ("phone_is",),
    "number": ("number_is", "phone_is"), "address": ("address_is", "lives_in"), "home": ("lives_in",),
    "age": ("age_is",), "birthday": ("birthday", "born_on"), "nationality": ("nationality",), "diet": ("diet",),
    "hobby": ("hobby",), "salary": ("earns",), "rent": ("costs",), "price": ("costs",), "car": ("drives", "owns"),
    "relationship status": ("relationship_status", "status"), "status": ("status", "relationship_status"),
    "goal": ("goal", "plans_to"), "allergy": ("allergic_to",), "school": ("studies_at",),
    "university": ("studies_at",),
}  # fmt: skip
_OF_KIND: Final = {
    **dict.fromkeys(
        ("cousin", "aunt", "uncle", "niece", "nephew", "grandma", "grandmother", "grandpa", "grandfather", "gran",
         "granddad", "grandson", "granddaughter", "nan", "sister-in-law", "brother-in-law", "mother-in-law",
         "father-in-law"), ("relative",)),
    "sister": ("sibling",), "brother": ("sibling",), "son": ("child",), "daughter": ("child",),
}  # fmt: skip
"""Relatives whose relation has others, too: the word must be said of them."""
_IMPLIED: Final = {
    "drives": "car cars vehicle", "speaks": "language languages", "reads": "book books", "eats": "food foods",
    "drinks": "drink drinks", "learning": "language languages", "costs": "price",
}  # fmt: skip
"""Of which kind the objects of a relation are anyway."""
_ANY_KIND: Final = frozenset(
    ("one", "ones", "thing", "things", "stuff", "kind", "kinds", "type", "sort", "else", "all", "exactly")
)
_PLURALS: Final = {
    "hobbies": "hobby", "children": "child", "allergies": "allergy", "companies": "company", "kids": "child",
    "parents": "parent", "activities": "hobby",
}  # fmt: skip

_S: Final = r"(?P<s>[\w'’.&-]+(?: [\w'’.&-]+){0,7}?)"
_O: Final = r"(?P<o>[^?]+)"
_V: Final = "(?P<v>" + "|".join(sorted(_VERBS, key=len, reverse=True)) + ")"
_AUX: Final = r"(?:does|do|did|has|have|had|is|are|was|were|will|would|should|could|can)"
_DO: Final = r"(?:does|do|did|has|have|will|would)"
_BE: Final = r"(?:is|are|was|were|'s|’s|will be)"
_OPINION: Final = ("likes", "dislikes")
_WORK: Final = ("works_at", "works_for")
_DATES: Final = ("happened_on", "is_on", "due_on")

_NOW: Final = r"(?:still |really |actually |currently |now |usually |ever )?"
_NEW: Final = r"(?:current |new |present )?"
_N: Final = r"(?P<n>[\w-]+(?: [\w-]+)?)"
_PLACE: Final = r"(?:city|town|country|place|state|street)"

_Made = tuple[str, Wants, tuple[str, ...]]
_SOURCES: Final[tuple[_Made, ...]] = (
    (rf"where {_AUX} {_S} {_NOW}(?:live|living|lived|reside|stay|based)(?: in| at)?", "object", ("lives_in",)),
    (rf"(?:in )?(?:what|which) {_PLACE} {_AUX} {_S} {_NOW}(?:live|living|reside)(?: in)?", "object", ("lives_in",)),
    (rf"where {_BE} {_S} from", "object", ("comes_from", "born_in")),
    (rf"where {_AUX} {_S} {_NOW}(?:work|working|employed)(?: at| for)?", "object", _WORK),
    (rf"(?:what|which|who) (?:company |firm )?{_AUX} {_S} {_NOW}work(?:ing)? (?:at|for)", "object", _WORK),
    (rf"where {_AUX} {_S} (?:study|studying|go to school|go to university)", "object", ("studies_at",)),
    (rf"where {_AUX} {_S} (?:move|moved|moving)(?: to)?", "object", ("lives_in", "moved_to")),
    (rf"where {_AUX} {_S} (?:move|moved|moving) from", "object", ("moved_from", "comes_from")),
    (rf"what {_AUX} {_S} do(?: for (?:a living|work))?", "object", ("works_as",)),
    (rf"what {_BE} {_S} allergic to", "object", ("allergic_to",)),
    (rf"{_BE} {_S} {_NOW}allergic to {_O}", "check", ("allergic_to",)),
    (rf"who {_BE} {_S} (?:married|engaged) to", "object", ("married_to", "engaged_to", "partner_is")),
    (rf"{_BE} {_S} {_NOW}(?:married|engaged) to {_O}", "check", ("married_to", "engaged_to")),
    (rf"{_AUX} {_S} {_NOW}(?:live|living) (?:in|at) {_O}", "check", ("lives_in",)),
    (rf"{_AUX} {_S} {_NOW}work(?:ing)? (?:at|for) {_O}", "check", _WORK),
    (rf"{_AUX} {_S} {_NOW}work(?:ing)? as {_O}", "check", ("works_as",)),
    (rf"what {_AUX} {_S} {_NOW}think (?:of|about) {_O}", "check", _OPINION),
    (rf"{_BE} {_S} {_NOW}(?:fond of|a fan of|keen on|into) {_O}", "check", _OPINION),
    (rf"how old {_BE} {_S}", "object", ("age_is",)),
    (rf"how much {_AUX} {_S} (?:cost|pay)", "object", ("costs",)),
    (rf"how much {_AUX} {_S} earn", "object", ("earns",)),
    (rf"how much {_BE} {_S}", "object", ("costs", "number_is", "count_is")),
    (rf"when {_BE} {_S} born", "object", ("born_on", "birthday")),
    (rf"when {_BE} {_S}['’]s birthday", "object", ("birthday", "born_on")),
    (rf"when {_BE} {_S} due", "object", ("due_on",)),
    (rf"when {_BE} {_S} (?P<o>\w+ing [^?]+)", "time", ()),
    (rf"when {_BE} (?P<s>[\w'’ -]+)", "object", _DATES),
    (rf"(?:when|(?:in |on )?(?:what|which) (?:day|date|month|year)) {_AUX} {_S} (?P<o>\w+ ?[^?]*)", "time", ()),
    (rf"(?:who|what|which) {_BE} {_S}['’]s? {_NEW}{_N}", "object", ()),
    (rf"(?:who|what|which) {_BE} (?P<s>my|his|her|their|our) {_NEW}{_N}", "object", ()),
    (rf"what {_BE} the {_N} of {_S}", "object", ()),
    (rf"(?:what|which|who)(?: (?P<kind>[\w-]+))? {_DO} {_S} {_NOW}{_V}(?: now)?", "object", ()),
    (rf"{_DO} {_S} {_NOW}{_V} {_O}", "check", ()),
)  # fmt: skip
_RULES: Final[tuple[tuple[re.Pattern[str], Wants, tuple[str, ...]], ...]] = tuple(
    (re.compile(rf"{source}", re.IGNORECASE), wants, rels) for source, wants, rels in _SOURCES
)
_LEAD: Final = re.compile(
    r"^(?:(?:so|and|but|well|ok|okay|please|now|hey),? |(?:(?:can|could) you )?tell me |do you (?:know|remember) )+",
    re.IGNORECASE,
)
_YEAR: Final = r"(?:19|20)\d\d"
_MONTH: Final = rf"(?:early |late |mid[ -])?{MONTH_NAME}"
_DAY: Final = r"(?:the )?\d{1,2}(?:st|nd|rd|th)?"
_UNIT: Final = r"(?:week|month|year|spring|summer|autumn|winter|night)"
_TIME: Final = (
    rf"{_YEAR}(?:-\d\d(?:-\d\d)?)?|{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?|{_MONTH}(?: {_DAY})?(?:,? {_YEAR})?"
    rf"|(?:the )?(?:last|this|next|previous) \w+|that|then|(?:spring|summer|autumn|winter)(?: {_YEAR})?"
)
_TAIL: Final = re.compile(
    r"[ ,]+(?:(?:right )?now|nowadays|currently|today|yesterday|these days|at (?:the moment|present|that time)"
    r"|any ?more|any longer|then|again|back then"
    r"|(?:(?:back )?(?:in|on|at|during|before|after|since|until|till|as of|by|around) )?"
    rf"(?:{_TIME})|(?:last|this) {_UNIT}|\w+ (?:days|weeks|months|years) ago)$",
    re.IGNORECASE,
)
_FIRST: Final = frozenset(("i", "me", "my", "we", "our", "us"))


def read(question: str) -> ParsedQuestion | None:
    """Return what a question asks for; None where no rule can tell."""
    return next(readings(question), None)


def readings(question: str) -> Iterator[ParsedQuestion]:
    """Yield each reading that a rule gives, the likeliest first; none of what is too long for a plain question."""
    if len(question) > MAX_CHARS:
        return
    asked = _LEAD.sub("", " ".join(question.split())).strip(" ?!.")
    for text in dict.fromkeys((_without_time(asked), asked)):
        for pattern, wants, rels in _RULES:
            match = pattern.fullmatch(text)
            found = _made(match, wants, rels) if match else None
            if found is not None:
                yield found


def _without_time(asked: str) -> str:
    """Return a question without the words that only say when."""
    while (shorter := _TAIL.sub("", asked)) != asked:
        asked = shorter
    return asked


def _made(match: re.Match[str], wants: Wants, rels: tuple[str, ...]) -> ParsedQuestion | None:
    parts = match.groupdict()
    if noun := parts.get("n"):
        named = _noun(noun.casefold())
        if not named:
            return None
        rels = named
        parts["kind"] = noun if noun.casefold() in _OF_KIND else None
    kind = (parts.get("kind") or "").casefold()
    if verb := parts.get("v"):
        rels = _VERBS[verb.casefold()]
        if "has" in rels and kind:  # which model do I have: not all that I have
            rels = _known_noun(kind)
            if not rels:
                return None
            kind = ""
    subject = _subject(parts["s"])
    object_ = (parts.get("o") or "").strip(" ?!.,") or None
    if wants == "check" and rels in (("likes",), ("dislikes",), _OPINION):
        rels = ("dislikes", "likes") if rels == ("dislikes",) else _OPINION
    if kind in _ANY_KIND or any(kind in _IMPLIED.get(rel, "").split() for rel in rels):
        kind = ""
    object_ = _bare(object_) if wants == "check" and object_ else object_
    return ParsedQuestion(subject, rels, object_, wants, kind or None)


def _known_noun(noun: str) -> tuple[str, ...]:
    """Return the relations that a noun is known by; none of another."""
    names = (noun, _PLURALS.get(noun, ""), noun.removesuffix("s"))
    return next((_NOUNS[name] for name in names if name in _NOUNS), ())


def _noun(noun: str) -> tuple[str, ...]:
    if known := _OF_KIND.get(noun) or _known_noun(noun):
        return known
    if noun.startswith(("favourite", "favorite")):
        of = f"favourite_{noun.partition(' ')[2]}".rstrip("_")
        return tuple(
            dict.fromkeys((of, "favourite", "likes"))
        )  # who likes jazz hasn't said what colour is dearest
    return (f"{noun.replace(' ', '_')}_is", noun.replace(" ", "_"))


def _subject(text: str) -> str:
    """Return a subject without the possessive and the article; whoever asks is `user`."""
    bare = re.sub(r"['’]s?$", "", text.strip()) if text.strip().endswith(("'s", "’s")) else text.strip()
    bare = re.sub(r"^(?:the) ", "", bare, flags=re.IGNORECASE)
    words = bare.casefold().split()
    if words and words[0] in _FIRST:
        rest = bare.split(maxsplit=1)[1:]
        return f"{SPEAKER}'s {rest[0]}" if rest else SPEAKER
    return bare


def _bare(object_: str) -> str:
    return re.sub(r"^(?:a|an|the|any|some) ", "", object_, flags=re.IGNORECASE)
