"""What a clause with "be" says of its subject: by the first reader that knows it, else as it was said. Pure."""

import re
from typing import Final

from braid.learn import dates
from braid.learn.parse import kinship, traits, values
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import Whom, topic
from braid.learn.parse.phrases import from_outside, is_name, noun, said_of, shown
from braid.learn.parse.relevance import YOURS, is_general
from braid.learn.parse.said import Said, say
from braid.text.words import listed

_MOODS: Final = listed(
    "happy glad sorry sure ready fine good great okay ok back here there late busy off out done true "
    "right wrong nice awesome amazing cool "
    "funny weird crazy lovely wonderful best lucky welcome able afraid over up down away home kidding "
    "joking important easy hard curious confused"
)
_STATES: Final = frozenset(
    ("fine", "ok", "okay", "ready", "done", "off", "out", "late", "back", "here", "busy", "bad")
)
"""What a thing or somebody else may be for now: the beans are fine."""
_NOT: Final = re.compile(r"^(?:now )?(?:not|no longer) ", re.IGNORECASE)
_PRAISE: Final = listed(
    "awesome amazing great wonderful fantastic cool incredible lovely beautiful nice good special "
    "important inspiring sweet cute fun perfect best "
    "brilliant super priority precaution exciting gorgeous stunning impressive powerful rewarding priceless hilarious "
    "adorable key true hard tough bold vivid bright chill breathtaking stunning calming peaceful "
    "rewarding fulfilling meaningful resilient welcoming pretty fancy vibrant soothing therapeutic "
    "memorable unforgettable relaxing delicious tasty rough wild hectic crazy insane epic magical "
    "majestic serene cozy cosy invaluable priceless worthwhile worth difficult easy challenging "
    "captivating lucky infectious lovable empowering motivating encouraging fascinating interesting "
    "boring refreshing delightful heartwarming touching moving"
)
_IDIOMS: Final = re.compile(
    r"(?:over the moon|on cloud nine|on top of the world|at (?:my|our) wits|up the wall"
    r"|in (?:two minds|bits|pieces))\b",
    re.IGNORECASE,
)
_YOURS: Final = re.compile(rf"\b(?:{'|'.join(YOURS)})\b", re.IGNORECASE)
_DEGREES: Final = listed("so really just very also still such n't n’t quite")
_HOMELY: Final = listed("balcony kitchen sofa couch terrace bathtub porch")


def state(said: Said, who: list[Whom]) -> None:
    """Claim what a clause with "be" says of its subject."""
    parse = said.clause.parse
    if said.clause.token.tag == "VBG" and said.clause.token.dep in ("advcl", "acl", "pcomp"):
        return  # so happy, just being around people
    at = said.clause.child("attr", "acomp", "oprd") or said.clause.child("advmod", "ccomp")
    if _off(said, who):
        return
    if at is None or (parse.tokens[at].dep == "advmod" and parse.tokens[at].pos != "ADJ"):
        _placed(said, who)
        return
    subject = who[0]
    for read in (
        traits.favourite,
        traits.hobbies,
        traits.judged,
        kinship.named,
        traits.aged,
        kinship.kin,
        traits.office,
        traits.body,
        values.dated,
        values.priced,
        values.coded,
    ):
        if read(said, subject, at):
            return
    _as_said(said, who, at)


def _off(said: Said, who: list[Whom]) -> bool:
    """I'm off to bake some cakes."""
    parse, inner = said.clause.parse, said.clause.child("xcomp")
    if (
        "off" not in parse.words_on(said.clause.verb)
        or inner is None
        or said.clause.denied
        or said.clause.tense != "present"
    ):
        return False
    held = dates.ahead(said.part.text, said.page.turn.when)
    what = from_outside(shown(parse, *said_of(parse, inner)))
    for one in who:
        said.claim(one.name, "plans_to", what, held=held, type="goal")
    return True


def _placed(said: Said, who: list[Whom]) -> None:
    """The interview is on Thursday; my flat is on the third floor."""
    parse = said.clause.parse
    _, last = said.clause.said
    if last <= said.clause.verb or said.clause.child("prep", "npadvmod") is None:
        return
    first = next(
        at for at in range(said.clause.verb + 1, last + 1) if parse.tokens[at].dep != "neg" or at == last
    )
    words = shown(parse, first, last)
    if who[0].sort == "thing" and values.dated_by(said, who[0], words):
        return
    if values.coded(said, who[0], last):
        return
    if _YOURS.search(words) or len(words) > 200 or _IDIOMS.match(words):
        return
    if not any(
        token.pos in ("NOUN", "PROPN", "NUM") for token in parse.tokens[said.clause.verb + 1 : last + 1]
    ) or words.lower().startswith("at it "):
        return
    for one in who:
        say(said, one.name, "is", said.by_others(words, one))
        if one.sort == "first" and (town := _at_home(said.clause)) is not None and not said.clause.denied:
            seen = said.voice._replace(source_type="implicit_unintentional")
            said.page.claim(said.part, seen, one.name, "lives_in", town)


def _at_home(clause: Clause) -> str | None:
    """Return the town of somebody who is where people are at home: I'm on the balcony in Porto."""
    tokens = clause.parse.tokens
    if clause.tense != "present":
        return None
    homely = [at for _, _, at in clause.preps() if tokens[at].lemma.lower() in _HOMELY]
    for at in homely:
        around = {at, clause.verb}
        for prep in (
            place for place, token in enumerate(tokens) if token.text == "in" and token.head in around
        ):
            for inner in clause.parse.children(prep):
                if prep > at and is_name(clause.parse, inner):
                    return noun(clause.parse, inner, bare=True)
    return None


def _as_said(said: Said, who: list[Whom], at: int) -> None:  # noqa: PLR0911 - one decision a line
    parse = said.clause.parse
    _, last = said.clause.said
    start = next(
        (
            number
            for number in range(said.clause.verb + 1, last + 1)
            if parse.tokens[number].dep != "punct"
            and not (parse.tokens[number].dep == "neg" and parse.tokens[number].head == said.clause.verb)
            and (parse.tokens[number].pos != "DET" or parse.word(number) == "no")
            and parse.word(number) not in _DEGREES
        ),
        None,
    )
    if start is None or start > last:
        return
    words = _NOT.sub("", shown(parse, start, last)) if said.clause.denied else shown(parse, start, last)
    token = parse.tokens[at]
    if _YOURS.search(words) or len(words) > 200 or said.page.wry or said.page.angry:
        return
    is_bare = last == at or (
        token.lemma.lower() == "sure"
        and any(parse.tokens[child].dep == "prep" for child in parse.children(at))
    )
    if token.lemma.lower() in _MOODS and is_bare and not (who[0].sort != "first" and token.lemma in _STATES):
        return
    if (
        who[0].sort == "thing"
        and (token.pos == "ADJ" or token.lemma.lower() in _PRAISE)
        and last - start < 2
        and (token.lemma.lower() in _PRAISE or is_general(said.clause))
    ):
        return
    if (
        who[0].sort == "thing"
        and (is_general(said.clause) or parse.tokens[said.clause.subject or 0].pos == "PRON")
        and (token.lemma.lower() in _PRAISE or any(one.lemma.lower() in _PRAISE for one in parse.around(at)))
    ):
        return
    if token.pos == "PRON" or said.clause.mode == "planned":
        return
    if topic(words) == who[0].name:
        return
    for one in who:
        say(said, one.name, "is", said.by_others(words, one))
