"""What is to come: plans, goals, moves and starts that are fixed."""

from typing import Final

from braid.learn.phrases import action, organisation, place
from braid.learn.rules.rule import Rule, rule

_NOT_PLANS: Final = (
    r"(?!be\b|go to (?:bed|sleep)\b|miss\b|need\b|have\b|say\b|tell\b|ask\b|think\b|give (?:it"
    r"|up)\b|keep\b|do\b|know\b|see if\b|check\b|let\b|try\b|let's\b|stop\b|say\b|feel\b|take "
    r"(?:it|that|this|your)\b|make (?:it|sure|that)\b|get (?:it|that|back to)\b|help you\b|send "
    r"you\b|call you\b|see you\b|remember\b|love\b|enjoy\b|like\b|show\b|look\b|find\b|put\b"
    r"|believe\b|hear\b|continue\b|use\b|become\b|come\b)"
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "plan",
        r"(?:on )?(?=to )to ",
        "plans_to",
        action,
        tenses="present perfect",
        denied=False,
        dated="ahead",
    ),
    rule(
        "plan",
        r"(?:a|our|my) (?:\w+ )?(?=(?:trip|holiday|vacation|visit|party|wedding|move)\b)",
        "plans_to",
        action,
        tenses="present",
        denied=False,
        dated="ahead",
    ),
    rule(
        "hope",
        r"to (?!see\b|hear\b|be\b|get\b)",
        "goal",
        action,
        tenses="present",
        denied=False,
        dated="ahead",
    ),
    rule(
        "want",
        (
            rf"to {_NOT_PLANS}(?=(?:run|learn|visit|write|open|start|build|travel|move|study|climb|publish"
            rf"|buy|adopt|finish)\b)"
        ),
        "goal",
        action,
        tenses="present perfect",
        denied=False,
        dated="ahead",
        first_only=True,
    ),
    rule(
        "go",
        r"(?:back |over |out |away )?to (?!bed\b|sleep\b)",
        "going_to",
        place,
        tenses="progressive future intended",
        denied=False,
        dated="ahead",
    ),
    rule("visit", r"", "going_to", place, tenses="progressive intended", denied=False, dated="ahead"),
    rule(
        "start begin",
        r"(?:work(?:ing)? )?at ",
        "works_at",
        organisation,
        tenses="progressive intended future",
        denied=False,
        dated="ahead",
    ),
    rule(
        "move relocate",
        r"(?:back |over |out |in )?to ",
        "moving_to",
        place,
        tenses="future progressive intended",
        denied=False,
        dated="ahead",
    ),
    rule(
        "fly travel",
        r"(?:back |out |over )?to ",
        "going_to",
        place,
        tenses="progressive intended future",
        denied=False,
        dated="ahead",
    ),
    rule(
        "decide",
        rf"to (?!stop\b|quit\b){_NOT_PLANS}",
        "plans_to",
        action,
        tenses="past perfect",
        denied=False,
        dated="ahead",
        first_only=True,
    ),
)
