"""Whether a clause states something, and what: a plan, by a row of the table, as a copula, else in the speaker's own
words. Pure.
"""

import re
from typing import Final

from braid.learn.page import Page
from braid.learn.parse import copula, kinship, plans, values
from braid.learn.parse.antecedents import TIMES, is_somebody
from braid.learn.parse.clauses import REPORTS, Clause
from braid.learn.parse.misread import is_misread
from braid.learn.parse.own_words import in_own_words
from braid.learn.parse.people import Whom, whom
from braid.learn.parse.phrases import is_name, joined, subtree
from braid.learn.parse.relevance import GOALS, PLANS
from braid.learn.parse.rows import by_rows
from braid.learn.parse.said import Said, voiced
from braid.learn.voice import Voice
from braid.ledger.record.record import Claim
from braid.text.parse import Parse
from braid.text.sentences import TextPart
from braid.text.words import listed

_CAUSES: Final = frozenset(("make", "let", "help", "have", "see", "watch", "keep", "get", "feel"))
"""Verbs that take a deed as their object: made me realise."""
_SUPPOSES: Final = listed("think believe reckon claim swear insist tell say hear announce joke")
_WHEN: Final = listed("when whenever while since before after until as till once whether")
_SOMETIMES: Final = re.compile(
    r"\W*(?:sometimes|at times|occasionally|(?:on )?(?:some|good|bad) days|every now and then)\b",
    re.IGNORECASE,
)
_FRAMED: Final = re.compile(
    r"(?:(?:\bi say|\bi wish|(?:^|[,.;] ?)wish|\bchance(?: that)?|\b(?:feel|feels|felt|feeling)\b.{0,40}\blike"
    r"|\bas (?:if|though)|\bdream(?:t|ed|s)?(?: that)?,?|\bin case(?: that)?(?: (?:the|my|our|his|her|an?))?)\s*"
    r"|\b(?:sometimes|at times|occasionally|some days)\W*)$"
    r"|^\W*(?:one|any) more \w+.*\band\s*$",
    re.IGNORECASE,
)
"""Behind these nothing is so, or not always: I say we drive; wish I had a day off; had a dream we met; in case we need
it; sometimes I'm relieved; one more call and I'm moving to a cave.
"""
_DOUBTED: Final = re.compile(
    r",? (?:or|at least|or at least)? ?so (?:he|she|they|it|[A-Z]\w+) (?:says?|said|claims?|claimed|reckons?)\b",
)
"""Behind what is only claimed: she had all three, or so she claims."""
_THIRD: Final = re.compile(r"\b(?:he|she|his|her(?= \w))\b", re.IGNORECASE)
_OWN: Final = frozenset(("i", "we", "it", "that", "this", "there", "you"))
_CROSSED: Final = re.compile(r"\W*(?:my )?fingers crossed\b", re.IGNORECASE)


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
    if above and above not in GOALS | PLANS | {"use", "start", "begin", "have"}:
        return False
    if above and above in PLANS and _was_meant(clause):
        return False
    if (
        clause.token.dep == "ccomp"
        and clause.token.head < clause.verb
        and tokens[clause.token.head].lemma.lower() in _CAUSES
    ):
        return False
    who = whom(page, clause.parse, clause.subject)
    if not who or (who[0].sort == "first" and _is_done_to_speaker(clause)):
        return False
    if _is_severed(clause) or _is_of_what(clause) or _is_left_open(page, clause, part):
        return False
    if who[0].name[:1].isdigit() and clause.lemma not in ("be", "cost"):
        return False
    if clause.reporter is not None and (
        not whom(page, clause.parse, clause.reporter) or _is_supposed_of_speaker(clause, who[0])
    ):
        return False  # everyone thinks so: nobody whose word it is
    said = Said(page, part, clause, voiced(page, clause, voice))
    told = len(page.claims)
    if above:
        plans.under(said, above, who)
    elif kinship.called(said) or kinship.parted(said, who) or values.expires(said, who[0]):
        pass
    elif clause.lemma == "be" and clause.mode != "able":
        if not by_rows(said, who):
            copula.state(said, who)
    elif not by_rows(said, who) or _says_more(said, page.claims[told:]):
        in_own_words(said, who)
    return len(page.claims) > told


def _says_more(said: Said, told: list[Claim]) -> bool:
    """Whether a deed was told with more than a row has kept of it: sold the Volvo to Piet's nephew for 1,900."""
    first, last = said.clause.said
    return (
        bool(told)
        and said.clause.tense in ("past", "perfect")
        and any(
            token.pos in ("NOUN", "PROPN")
            and token.dep == "pobj"
            and token.lemma.lower() not in TIMES
            and not token.text[:1].isdigit()
            and not any(token.text.lower() in one.object.lower() for one in told)
            for token in said.clause.parse.tokens[first + 1 : last + 1]
        )
    )


def _is_supposed_of_speaker(clause: Clause, who: Whom) -> bool:
    """My mum thinks I work in a bank: who knows best hasn't said so."""
    over = clause.parse.tokens[clause.parse.tokens[clause.reporter or 0].head]
    return who.sort == "first" and over.lemma.lower() in _SUPPOSES


def _was_meant(clause: Clause) -> bool:
    """We were meant to go; the part was expected to come: what was to be, and may not have been."""
    return any(one.dep == "auxpass" and one.tag == "VBD" for one in clause.parse.around(clause.under or 0))


def _is_past_habit(clause: Clause) -> bool:
    """Whether "used" stands bare before "to": I used my contacts to make friends tells of no habit."""
    parse, at = clause.parse, clause.under or 0
    return parse.word(at) == "used" and parse.child(at, "dobj") is None


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
    opens = [
        at for at in range(clause.subject) if parse.tokens[at].dep == "mark"
    ]  # because my legs ache, and do it
    first = opens[-1] if opens else 0
    commas = [at for at in range(first, clause.verb) if parse.tokens[at].text == ","]
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
    if clause.subject is None or _SOMETIMES.match(part.text):
        return True
    if _is_of_either(clause) or _is_of_no_teller(clause) or _DOUBTED.match(page.text, part.stop):
        return True
    subject = clause.parse.tokens[clause.subject]
    if _FRAMED.search(clause.parse.text[: subject.start]) or _CROSSED.match(clause.parse.text):
        return True
    if subject.text != "I" or subject.start != subject.stop:
        return False  # the speaker says who
    told = page.claims[-1].subject if page.claims else page.turn.speaker
    # won two races ever. retired cos of his wrist
    is_of_unnamed = _THIRD.search(page.text) is not None and not any(
        is_somebody(clause.parse, at) for at in range(len(clause.parse.tokens))
    )
    return is_of_unnamed or (told != page.turn.speaker and page.is_person(told)) or _is_of_others(page.before)


def _is_of_others(before: Parse | None) -> bool:
    """Whether a sentence was of others at its end: the choir paid. Left a jar of honey."""
    if before is None:
        return False
    subjects = [one for one in before.tokens if one.dep in ("nsubj", "nsubjpass")]
    return bool(subjects) and subjects[-1].text.lower() not in _OWN


def _is_of_either(clause: Clause) -> bool:
    """Whether it is open which of some does it: either Paula or Gus has the key."""
    parse = clause.parse
    named = joined(parse, clause.subject) if clause.subject is not None else []
    return any(parse.word(child) == "or" for one in named for child in parse.children(one, "cc"))


def _is_of_no_teller(clause: Clause) -> bool:
    """Whether somebody says so whom the parse doesn't see: of Rhian reckons, of which it takes Rhian for no name."""
    over = clause.parse.tokens[clause.token.head]
    reports = over.lemma.lower() in REPORTS and over.tag in ("VBZ", "VBD")
    by_speaker = clause.parse.words_on(clause.token.head) & {"i", "we"}
    return clause.token.dep == "ccomp" and reports and not by_speaker and clause.reporter is None


def _stands_alone(clause: Clause) -> bool:
    """Whether a clause says something by itself: not "named Rex", not "since I was a child", nothing of "a friend
    who …".
    """
    parse = clause.parse
    token = clause.token
    if token.dep == "acl" and token.tag == "VBN":
        return token.lemma == "bear" and clause.subject is not None and is_name(parse, clause.subject)
    over = clause.verb
    while parse.tokens[over].dep == "conj" and parse.tokens[over].head < over:
        over = parse.tokens[over].head  # when things are important and I'm nervous
    marks = {one.text.lower() for one in parse.around(over) if one.dep in ("mark", "advmod")}
    if parse.tokens[over].dep == "advcl" and marks & _WHEN:
        return clause.tense in ("past", "perfect") and clause.lemma != "be" and "before" not in marks
    if token.dep == "advcl" and token.tag == "VBG" and not _own_subject(clause):
        return False  # what the clause above says with it: rolled my ankle coming off the wall
    if clause.subject is None:
        return True
    head = parse.tokens[clause.subject]
    if token.dep in ("relcl", "acl") and clause.subject == token.head:
        return head.pos == "PROPN" or parse.child(clause.subject, "poss") is not None
    vague = parse.words_on(clause.subject) & {"a", "an", "no", "every", "each", "any"}
    return head.pos != "NOUN" or not vague


def _is_done_to_speaker(clause: Clause) -> bool:
    """Whether the speaker can't be who does it: it was awesome, made me think of you."""
    tokens = clause.parse.tokens
    return any(
        child > clause.verb and tokens[child].text.lower() in ("me", "us")
        for child in clause.parse.children(clause.verb, "dobj", "dative")
    ) or (
        clause.lemma in _CAUSES
        and clause.verb + 1 < len(tokens)
        and tokens[clause.verb + 1].text.lower() in ("me", "us")
    )


def _own_subject(clause: Clause) -> bool:
    return clause.subject is not None and clause.parse.tokens[clause.subject].head == clause.verb


def _is_of_which(clause: Clause) -> bool:
    """Whether what is done is done to "which" or "what": which I take as advice."""
    return any(
        one.tag in ("WDT", "WP") and one.dep in ("dobj", "pobj", "attr", "oprd") for one in clause.around()
    )


def _is_told_of_head(clause: Clause) -> bool:
    """Whether a relative clause whose object is its head has it right beside, and says what was done with it: the book
    I read last year; not: a reminder of all the love I get, one I did, the baseline we measure against.
    """
    tokens = clause.parse.tokens
    if clause.subject == clause.token.head:
        first = min(subtree(clause.parse, clause.verb))
        is_loose = first > 0 and tokens[first].text.lower() == "that" and tokens[first - 1].text == ","
        return not is_loose  # wow, Ana, that sounds great
    _, last = clause.said
    if tokens[last].pos == "ADP" and tokens[last].dep == "prep":
        return False
    if clause.child("dobj", "ccomp", "xcomp", "acomp", "attr") is not None:
        return True
    if any(one.tag == "WRB" for one in clause.around()):
        return True
    first = min(subtree(clause.parse, clause.verb))
    if first and tokens[first - 1].pos == "PUNCT" and tokens[first].tag not in ("WDT", "WP"):
        return True  # a sentence of its own behind a comma: I'm Ana, I live in Leeds
    return (
        clause.token.head in (first - 1, first - 2)
        and tokens[clause.token.head].pos in ("NOUN", "PROPN")
        and clause.tense in ("past", "perfect")
    )
