"""Clauses that the parse has seen where there is none, or with another's subject: nothing is read of them. Pure.

Each check has its example. They look at what a reader of English sees at once and a small model does not: a number
that doesn't agree, a verb taken for a name, a denial that goes no further than its comma.
"""

import re
from collections.abc import Callable
from typing import Final

from braid.learn.parse.clauses import Clause
from braid.learn.parse.phrases import is_figurative, subtree
from braid.learn.words import LIMBS
from braid.text.numbers import ORDINAL
from braid.text.words import listed

_DEEDS: Final = listed(
    "sat felt slept lay stood fell left kept got went came took gave saw ate drank drove wrote lost met paid ran said "
    "sent told thought tried used woke won had did made"
)
"""Deeds that open a diary's line, and are taken for a name there."""
_ORDINAL: Final = re.compile(ORDINAL, re.IGNORECASE)
_SIDES: Final = LIMBS | listed("side ear eye lung breast temple")
_ALIKE: Final = listed(
    "set put cut let hit shut cost read cast split quit beat bet burst hurt rid shed spread thrust wed bid forecast "
    "broadcast upset input output knit fit wet sweat come become run overcome slit"
)
"""Verbs whose past may be the same word."""
_PARTS: Final = frozenset((":", "-", "–", "—", "--"))
_PARTS_OF_TEXT: Final = frozenset(":-–—")
_OF_MACHINES: Final = listed("stop reach arrive fail break crash fit last happen die")
_SEEMING: Final = frozenset(("stay", "feel", "get", "be", "keep", "look", "seem", "sound", "remain"))
_MOODS: Final = listed(
    "pleased tired worried delighted relieved excited bored scared annoyed thrilled exhausted"
)
_SEVERAL: Final = listed(
    "team staff family crew board committee company band police people couple class council club half number lot "
    "majority rest group firm army government public press media choir orchestra shop union office most all some "
    "plenty bunch pair folk party"
)
"""What may be many: the team are late."""
_RARE: Final = frozenset(("hardly", "barely", "rarely", "seldom", "scarcely"))
_CONVINCED: Final = frozenset(
    ("convinced", "sure", "certain", "adamant", "positive", "confident", "afraid", "worried")
)
_BARE_FORMS: Final = frozenset(("VB", "VBP"))
_PAST_FORMS: Final = frozenset(("VBD", "VBZ", "VBN"))


def _is_deed_for_name(clause: Clause) -> bool:
    """Sat facing forward; 32 keys instead, fits rev C."""
    if clause.subject is None:
        return False
    subject = clause.parse.tokens[clause.subject]
    return subject.tag in ("VBZ", "VBD", "VBP") or (clause.subject == 0 and subject.text.lower() in _DEEDS)


def _is_number_for_name(clause: Clause) -> bool:
    """Two stops not one; twenty-fifth, went like clockwork."""
    if clause.subject is None or clause.lemma in ("be", "cost"):
        return False
    subject = clause.parse.tokens[clause.subject]
    if clause.parse.child(clause.subject, "prep", "nummod") is not None:
        return False  # two of the four
    return subject.pos == "NUM" or _ORDINAL.fullmatch(subject.text) is not None


def _is_of_who_comes_later(clause: Clause) -> bool:
    """The part came late, fitted today, Marek rode up the hill: who fitted it isn't said."""
    tokens, subject = clause.parse.tokens, clause.subject
    if subject is None or subject < clause.verb or tokens[subject].head == clause.verb:
        return False
    return any(
        token.pos == "VERB" and clause.parse.child(at, "nsubj") is not None
        for at, token in enumerate(tokens[: clause.verb])
    )


def _is_parted(clause: Clause) -> bool:
    """Dr Holm: sumatriptan up to 100; gaming has been my focus - practicing a lot: a colon or a dash stands between."""
    if clause.subject is None or _PARTS_OF_TEXT.isdisjoint(clause.parse.text):
        return False
    return any(token.text in _PARTS for token in clause.parse.tokens[clause.subject + 1 : clause.verb])


def _is_alternative(clause: Clause) -> bool:
    """3,960, or I go to court."""
    tokens, subject = clause.parse.tokens, clause.subject
    if subject is None or subject > clause.verb or tokens[subject].head != clause.verb:
        return False
    lead = min(subtree(clause.parse, subject))
    return lead > 0 and tokens[lead - 1].text.lower() == "or"


def _is_other_form(clause: Clause) -> bool:
    """She doesn't want tablets yet, repeat in three months; he found a mistake, braille for lift: no verbs of hers or
    his, since no word joins them, and their form is another.
    """
    tokens, verb = clause.parse.tokens, clause.verb
    above = clause.token.head
    if clause.token.dep != "conj" or clause.token.tag not in _BARE_FORMS or above >= verb:
        return False
    if clause.child("nsubj", "nsubjpass", "aux", "auxpass") is not None:
        return False
    if any(token.dep == "cc" for token in tokens[above + 1 : verb]):
        return False
    denied = clause.parse.child(above, "neg") is not None
    return denied or tokens[above].tag in _PAST_FORMS


def _is_cut_short(clause: Clause) -> bool:
    """I've burned my, you know."""
    return any(one.dep == "dobj" and one.tag == "PRP$" for one in clause.around())


def _is_side(clause: Clause) -> bool:
    """Fractured a finger, left hand; left knee blue."""
    tokens = clause.parse.tokens
    at = clause.child("dobj")
    return (
        clause.token.text.lower() == "left"
        and at is not None
        and (_is_unsaid(clause) or not clause.parse.children(at))
        and any(token.text.lower() in _SIDES for token in tokens[clause.verb + 1 : at + 1])
    )


def _is_likened(clause: Clause) -> bool:
    """Like being transported to a different world; green, like a swimming pool: nobody likes it."""
    tokens, verb = clause.parse.tokens, clause.verb
    if (
        clause.lemma != "like"
        or verb + 1 >= len(tokens)
        or tokens[verb + 1].text.lower() not in ("being", "a", "an")
    ):
        return False
    return _is_unsaid(clause)


def _is_unsaid(clause: Clause) -> bool:
    """Whether a clause has no subject of its own, or one that only everybody hears."""
    if clause.subject is None:
        return True
    subject = clause.parse.tokens[clause.subject]
    return subject.start == subject.stop


def _is_no_past(clause: Clause) -> bool:
    """Checks the board rev first; tomatoes have blight: a noun for the past of a verb whose past is another word."""
    token = clause.token
    auxes = {one.lemma.lower() for one in clause.around() if one.dep in ("aux", "auxpass")}
    alike = token.text.lower() == token.lemma.lower() and token.text.isalpha()
    past = (token.tag == "VBD" and not auxes) or (token.tag == "VBN" and auxes == {"have"})
    return past and alike and token.text.lower() not in _ALIKE


def _is_count_of_speakers(clause: Clause) -> bool:
    """We're three people; we are four: not what the speaker is."""
    if clause.subject is None or clause.lemma != "be":
        return False
    tokens, at = clause.parse.tokens, clause.child("attr")
    if tokens[clause.subject].text.lower() not in ("we", "they") or at is None:
        return False
    counted = [at, *clause.parse.children(at)]
    if tokens[at].tag == "NN" and any(name == "of" for name in (tokens[one].text for one in counted)):
        return True  # we're a team of six
    return any(tokens[one].pos == "NUM" for one in counted)


def _is_of_another_form(clause: Clause) -> bool:
    """The teacher Kev says do the next level in September: one teacher does, and doesn't do."""
    tokens, token = clause.parse.tokens, clause.token
    if clause.subject is None or token.tag not in _BARE_FORMS or token.pos == "AUX":
        return False
    subject = tokens[clause.subject]
    joined = clause.parse.child(clause.subject, "conj", "cc") is not None
    return (
        subject.tag == "NN"
        and subject.text.lower() not in _SEVERAL
        and not joined
        and clause.child("aux", "auxpass") is None
        and clause.under is None
        and clause.mode == "actual"
        and token.text.lower() == token.lemma.lower()
        and token.text.lower() not in _ALIKE
    )


def _is_adjective(clause: Clause) -> bool:
    """I'm hopeful and inspired; reminders can help in staying motivated; Mr Abara pleased: no deeds."""
    tokens, token = clause.parse.tokens, clause.token
    if token.tag not in ("VBN", "VBD") or clause.child("dobj", "aux", "auxpass", "nsubjpass") is not None:
        return False
    before = tokens[clause.verb - 1] if clause.verb else None
    if before is not None and before.tag == "VBG" and before.lemma in _SEEMING:
        return True
    if token.dep == "conj" and tokens[token.head].pos == "ADJ" and clause.child("nsubj") is None:
        return True
    return token.text.lower() in _MOODS


def _is_between_verbs(clause: Clause) -> bool:
    """Work said yes to August; ingest converts everything; love is magical: a noun, with the verb right behind it."""
    tokens, verb = clause.parse.tokens, clause.verb
    if clause.token.tag not in _BARE_FORMS or verb + 1 >= len(tokens) or clause.token.pos == "AUX":
        return False
    behind = tokens[verb + 1]
    if behind.tag not in ("VBD", "VBZ"):
        return False
    shared = tokens[clause.subject or 0].head != clause.verb
    return _is_unsaid(clause) or (behind.pos == "VERB" and shared)


def _is_of_machine(clause: Clause) -> bool:
    """Stopped after 18 minutes this time; reached 1230 last night: it isn't said what did."""
    tokens = clause.parse.tokens
    at = clause.child("dobj")
    counted = at is None or tokens[at].pos == "NUM"
    return (
        clause.token.lemma
        in ("stop", "reach", "arrive", "fail", "break", "crash", "fit", "last", "happen", "die")
        and _is_unsaid(clause)
        and counted
        and clause.child("xcomp", "prt") is None
    )


def _is_owned_without_thing(clause: Clause) -> bool:
    """Mum's birthday is in June, dad's is in November: not dad."""
    if clause.subject is None or clause.lemma != "be" or clause.token.tag == "VBN":
        return False
    text, subject = clause.parse.text, clause.parse.tokens[clause.subject]
    owns = text[subject.start : subject.stop + 2].endswith(("'s", "’s"))
    return owns and clause.subject + 1 < clause.verb


def _is_option(clause: Clause) -> bool:
    """So either we go on Sunday, or somewhere else; then we add a field: weighed, and not yet done."""
    tokens = clause.parse.tokens
    lead = {tokens[child].text.lower() for child in clause.parse.children(clause.verb) if child < clause.verb}
    if clause.tense != "present" or clause.token.pos == "AUX" or clause.progressive:
        return False
    return bool(lead & {"either", "then"})


def _is_not_sure(clause: Clause) -> bool:
    """I'm not sure I'll ever understand it."""
    tokens, above = clause.parse.tokens, clause.token.head
    if clause.token.dep != "ccomp" or tokens[above].lemma not in ("sure", "certain"):
        return False
    return clause.parse.child(tokens[above].head, "neg") is not None


def _is_rare(clause: Clause) -> bool:
    """I hardly ever eat meat; we rarely cook: neither done nor left undone."""
    parse = clause.parse
    low = parse.text.lower()
    if not any(word in low for word in _RARE):
        return False
    around = [one for child in parse.children(clause.verb) for one in (child, *parse.children(child))]
    return any(parse.word(one) in _RARE and parse.tokens[one].pos == "ADV" for one in around) and (
        not clause.denied or any(parse.word(one) == "ever" for one in around)
    )


def _is_belief_of_another(clause: Clause) -> bool:
    """Ed is convinced the neighbours stole his bins: not so for being his belief."""
    tokens, over = clause.parse.tokens, clause.token.head
    if clause.token.dep != "ccomp" or tokens[over].text.lower() not in _CONVINCED:
        return False
    near = (*clause.parse.children(over), *clause.parse.children(tokens[over].head))
    who = [
        tokens[one].text.lower() for one in near if tokens[one].dep in ("nsubj", "nsubjpass") and one < over
    ]
    return not set(who) & {"i", "we"}


def _is_figurative(clause: Clause) -> bool:
    """I'm basically living at the office; I almost bought a boat; I'm dying for a coffee."""
    is_dying = clause.lemma == "die" and clause.progressive and clause.child("prep", "xcomp") is not None
    return is_dying or is_figurative(clause.parse, clause.verb)


Check = Callable[[Clause], bool]
_BY_DEP: Final[dict[str, tuple[Check, ...]]] = {
    "conj": (_is_other_form,),
    "ccomp": (_is_not_sure, _is_belief_of_another),
}
_BY_TAG: Final[dict[str, tuple[Check, ...]]] = {
    "VB": (_is_of_another_form, _is_between_verbs),
    "VBP": (_is_of_another_form, _is_between_verbs),
    "VBD": (_is_no_past, _is_adjective),
    "VBN": (_is_no_past, _is_adjective),
}
_BY_LEMMA: Final[dict[str, tuple[Check, ...]]] = {
    "be": (_is_count_of_speakers, _is_owned_without_thing),
    "like": (_is_likened,),
    "leave": (_is_side,),
    "left": (_is_side,),
    **dict.fromkeys(_OF_MACHINES, (_is_of_machine,)),
}
_ANY: Final[tuple[Check, ...]] = (
    _is_deed_for_name,
    _is_number_for_name,
    _is_of_who_comes_later,
    _is_parted,
    _is_alternative,
    _is_cut_short,
    _is_option,
    _is_figurative,
    _is_rare,
)


def is_misread(clause: Clause) -> bool:
    """Whether a clause is none, or of another subject than the parse says."""
    token = clause.token
    for checks in (
        _BY_DEP.get(token.dep, ()),
        _BY_TAG.get(token.tag, ()),
        _BY_LEMMA.get(token.lemma.lower(), ()),
        _ANY,
    ):
        for check in checks:
            if check(clause):
                return True
    return False
