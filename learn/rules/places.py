"""Homes, moves, origins, travels."""

from typing import Final

from braid.learn.phrases import action, organisation, phrase, place
from braid.learn.rules.rule import Rule, rule

_GONE: Final = (
    r"(?:(?:back|over|out|down|up|away|all the way|on (?:a|another) \w+ trip|on (?:holiday|vacation)) )?"
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "live",
        r"(?:here |back |over |out |up |down |just outside |alone |together )?(?:in|at|near) ",
        "lives_in",
        place,
    ),
    rule("live", r"in ", "lived_in", place, tenses="past used", denied=False, dated="past"),
    rule("settle", r"(?:down )?in ", "lives_in", place, tenses="past present perfect", denied=False),
    rule(
        "move relocate",
        rf"{_GONE}(?:here )?(?:from [^,]{{2,30}}? )?(?:in)?to ",
        "moved_to",
        place,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "move relocate",
        r"(?:here |away |out )?(?:all the way )?from ",
        "moved_from",
        place,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "leave",
        r"",
        "moved_from",
        place,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
        source_type="inferred",
    ),
    rule("be", r"(?:originally |actually )?from ", "comes_from", place, tenses="present"),
    rule("be", r"(?:originally )?from ", "comes_from", place, tenses="past", denied=False),
    rule("come", r"(?:originally )?from ", "comes_from", place),
    rule("be", r"based in ", "lives_in", place),
    rule("bear", r"(?:and raised )?(?:here )?in ", "born_in", place, tenses="past", dated=""),
    rule("grow", r"up (?:here )?in ", "grew_up_in", place, tenses="past", dated=""),
    rule(
        "go",
        rf"{_GONE}to (?!bed|sleep|work\b|school\b)",
        "went_to",
        place,
        tenses="past perfect",
        dated="past",
    ),
    rule(
        "go", rf"{_GONE}to (?:a|an|my first) ", "went_to", phrase, tenses="past", denied=False, dated="past"
    ),
    rule(
        "travel fly drive",
        rf"{_GONE}(?:back )?to ",
        "went_to",
        place,
        tenses="past",
        denied=False,
        dated="past",
    ),
    rule("be", r"to (?!be\b|a\b)", "went_to", place, tenses="perfect", dated="past"),
    rule("visit", r"", "visited", place, tenses="past perfect", dated="past"),
    rule(
        "attend",
        r"(?=a|an|the|my|our)",
        "attended",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule("attend", r"", "studies_at", organisation, tenses="present", denied=False),
    rule(
        "be",
        r"(?:on the|in (?:my|our|the)) (?:balcony|kitchen|garden|flat|apartment|living room) in ",
        "lives_in",
        place,
        tenses="present",
        denied=False,
        dated="",
        source_type="implicit_unintentional",
        first_only=True,
    ),
    rule("stay", r"with (?=you until)", "plans_to", action, tenses="future"),
)
