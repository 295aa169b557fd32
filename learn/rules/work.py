"""Jobs, employers, bosses, study."""

import re
from typing import Final

from braid.learn.phrases import organisation, phrase
from braid.learn.rules.rule import Rule, rule
from braid.learn.words import TRADES, listed

_TRADE: Final = re.compile(
    r"(?:(?:a|an|the|my|head|lead|chief)\s+)?((?:[\w/-]+ ){0,3}?)("
    + "|".join(sorted((re.escape(trade) for trade in TRADES), key=len, reverse=True))
    + (
        r")(?![\w'-])( of [a-z]+(?: [a-z]+)?)?(?=[,.;:!?)]|\s+(?:at|for|in|with|here|there|by|now|and"
        r"|who|on|these|from|because|since|until|again|starting|so|but|too)\b|$)"
    ),
    flags=re.IGNORECASE,
)
_HEAD_OF: Final = re.compile(
    (
        r"(?:(?:the|a) )?((?:head|director|vice president|vp|president|chief) of (?:[\w&-]+ "
        r"?){1,2}?)(?=[,.;:!?]|\s+(?:at|for|in|now|and)\b|$)"
    ),
    flags=re.IGNORECASE,
)
_NOT_OF_A_TRADE: Final = listed(
    "huge big great terrible bad good real total complete better best avid keen true such not amateur "
    "lousy dreadful frustrated hobby home aspiring wannabe born natural careful slow fast fellow like "
    "more"
)


def subject_of_study(text: str) -> list[str]:
    """Return what is studied, where left out."""
    return phrase(re.split(r"\s(?:at|in|with|from)\s", text, maxsplit=1)[0])


def trade(text: str) -> list[str]:
    """Return the trade that a text begins with: `senior data engineer`, `head of sound`."""
    match = _HEAD_OF.match(text)
    if match is not None:
        return [match[1].strip()]
    match = _TRADE.match(text)
    if match is None:
        return []
    before = match[1].lower().split()
    if any(
        word in _NOT_OF_A_TRADE or word in ("a", "an", "the", "and", "of", "in", "to", "for", "about", "with")
        for word in before
    ):
        return []
    return [f"{match[1]}{match[2]}{match[3] or ''}".strip()]


_AS: Final = (
    r"(?:here |there |now |full[- ]time |part[- ]time |remotely |mostly |nights |from home )*as "
    r"(?:a |an |the )?"
)
_TITLE_AT: Final = (
    r"(?:as )?(?:a |an |the )?(?:[\w/-]+ ){0,4}(?:"
    + "|".join(sorted(map(re.escape, TRADES), key=len, reverse=True))
    + r") (?:here )?(?:at|for) "
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "be",
        r"(?=(?:a|an|the|head|director|now|chief|lead)\s)(?:now )?",
        "works_as",
        trade,
        tenses="present perfect",
    ),
    rule("be", rf"{_TITLE_AT}", "works_at", organisation, tenses="present", denied=False),
    rule("be", r"(?=(?:a|an) )", "worked_as", trade, tenses="past", denied=False, dated="past"),
    rule("work", _AS, "works_as", trade),
    rule("work", _AS, "worked_as", trade, tenses="past used", denied=False, dated="past"),
    rule(
        "work",
        (
            r"(?:here |now |full[- ]time |part[- ]time |remotely |nights |as (?:a |an |the "
            r")?[^,.;]{3,40}? )*(?:at|for) (?!home|night|it\b|me\b|a living|\d|least|myself|that\b)"
        ),
        "works_at",
        organisation,
    ),
    rule(
        "work",
        r"(?:as (?:a |an )?[^,.;]{3,40}? )?(?:at|for) ",
        "worked_at",
        organisation,
        tenses="past used",
        denied=False,
        dated="past",
    ),
    rule(
        "start begin get land take accept find",
        (
            r"(?:a |my |the )?(?:new |first |great |dream |part[- ]time |full[- ]time |summer |my new "
            r")*(?:job|role|position|post|internship) (?:(?:as (?:a |an |the )?[^,.;]{3,40}? )?)(?:at"
            r"|with) "
        ),
        "works_at",
        organisation,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "start begin get land take accept find",
        (
            r"(?:a |my |the )?(?:new |first |great |dream |part[- ]time |full[- ]time |summer )*(?:job"
            r"|role|position|post|internship) as (?:a |an |the )?"
        ),
        "works_as",
        trade,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "start begin",
        r"(?:work(?:ing)? |out )?(?:here |there )?as (?:a |an |the )?",
        "works_as",
        trade,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule("promote", r"to (?:the )?", "works_as", trade, tenses="past perfect", denied=False, dated="past"),
    rule(
        "get", r"(?:just )?promoted to ", "works_as", trade, tenses="past perfect", denied=False, dated="past"
    ),
    rule(
        "start begin",
        r"(?:work(?:ing)? )?at ",
        "works_at",
        organisation,
        tenses="past perfect future",
        denied=False,
        dated="ahead",
    ),
    rule(
        "quit leave",
        r"(?:my|the) (?:old |previous |current )?(?:job|post|position|role) (?:at|with) ",
        "works_at",
        organisation,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "resign retire",
        r"from (?:my (?:job|post|position) at )?",
        "works_at",
        organisation,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "study",
        r"(?!hard|for\b|at\b|in\b|to\b|abroad|together|late|all\b|every\b|with\b|and\b|here\b)",
        "studies",
        subject_of_study,
        tenses="present",
        denied=False,
    ),
    rule("study", r"(?:[\w ]{3,30} )?at ", "studies_at", organisation, tenses="present", denied=False),
    rule(
        "study",
        r"(?!hard|for\b|at\b|in\b|to\b|abroad|together|late|all\b|every\b|with\b|and\b|here\b)",
        "studied",
        subject_of_study,
        tenses="past used",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule("graduate", r"from ", "studied_at", organisation, tenses="past perfect", denied=False, dated="past"),
    rule(
        "graduate",
        r"(?:from [^,]{3,40} )?with (?:a |my )?(?:degree|master's|masters|bachelor's) in ",
        "studied",
        phrase,
        tenses="past perfect",
        denied=False,
    ),
    rule("volunteer", r"(?:at|for|with) ", "volunteers_at", organisation, denied=False),
    rule(
        "volunteer",
        r"(?:at|for|with) ",
        "volunteered_at",
        organisation,
        tenses="past",
        denied=False,
        dated="past",
    ),
    rule("earn", r"(?=(?:about |around )?[£$€\d])", "earns", phrase, denied=False),
)
