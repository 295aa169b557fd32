"""Family, marriage, age, name, pets, health, belongings."""

import re
from typing import Final

from braid.learn.phrases import number, person, persons, phrase, phrases
from braid.learn.rules.rule import Rule, rule
from braid.learn.words import AILMENTS, DIETS, LIMBS, MANY_PETS, PETS, STATUSES
from braid.text.numbers import WORD

_COUNT: Final = rf"{WORD}|\d{{1,2}}"


def ailment(text: str) -> list[str]:
    """Return the illness that a text begins with."""
    match = re.match(
        (
            r"(?:a |an |my |severe |mild |chronic |bad |really bad |pretty bad )*((?:type [12] |high |low "
            r"|chronic |seasonal |generalized )?(?:[\w'-]+ )?(?:"
        )
        + "|".join(map(re.escape, AILMENTS))
        + (
            r"|blood pressure|heart condition|heart murmur|bad back|bad knee|hay fever|panic attacks"
            r"|sleep apnea|sleep apnoea|hernia|slipped disc|anxiety disorder))\b"
        ),
        text,
        flags=re.IGNORECASE,
    )
    return [re.sub(r"^(?:the|a|an|and|with) ", "", match[1])] if match else []


def broken(text: str) -> list[str]:
    """Return a broken limb as a condition: of `my left ankle`, `broken left ankle`."""
    match = re.match(
        r"(?:my|his|her|a|the) ((?:(?:left|right|big|little) )?(?:" + "|".join(LIMBS) + r"))\b",
        text,
        flags=re.IGNORECASE,
    )
    return [f"broken {match[1]}"] if match else []


def sprained(text: str) -> list[str]:
    """Return a sprained limb as a condition."""
    return [found.replace("broken", "sprained") for found in broken(text)]


def status(text: str) -> list[str]:
    """Return a marital or working status where it is all that is said, or ends the clause."""
    match = re.match(
        (
            r"([\w-]+)(?=[,.;:!?]|$|\s+(?:and|now|again|with|since|at|for|so|but|these|last|yesterday"
            r"|today|this|in|on)\b)"
        ),
        text,
    )
    return [match[1].lower()] if match and match[1].lower() in STATUSES else []


def diet(text: str) -> list[str]:
    """Return a diet."""
    match = re.match(r"(?:a |an )?(?:strict |strictly |lifelong |fully |100% )?([\w-]+)", text)
    return [match[1].lower()] if match and match[1].lower() in DIETS else []


def counted(text: str) -> list[str]:
    """Return children or siblings by number: `three kids`."""
    match = re.match(
        (
            rf"((?:{_COUNT}) (?:(?:little|young|grown|grown-up|small|wonderful|beautiful|older|younger"
            rf"|adult|teenage) )?(?:kids|children|sons|daughters|boys|girls))\b"
        ),
        text,
        flags=re.IGNORECASE,
    )
    return [match[1]] if match else []


def siblings(text: str) -> list[str]:
    """Return siblings by number."""
    found = re.match(
        (
            rf"((?:an?|{_COUNT}|no) (?:(?:older|younger|little|big|twin|half) ?-?)?(?:brothers?|sisters?"
            rf"|siblings?))(?: and ((?:an?|{_COUNT}) (?:(?:older|younger|little|big|twin) )?(?:brothers?"
            rf"|sisters?)))?(?![\w'])(?! (?:who|named|called|in))"
        ),
        text,
        flags=re.IGNORECASE,
    )
    if not found:
        return []
    return [re.sub(r"^an? ", "", item) for item in found.groups() if item and not item.startswith("no ")]


def pet(text: str) -> list[str]:
    """Return pets without names: `two cats`, `puppy`."""
    match = re.match(
        (
            rf"(?:an? )?((?:(?:{_COUNT}|[\w-]+) )?(?:[\w-]+ "
            rf")?({'|'.join(sorted(map(re.escape, MANY_PETS | PETS), key=len, reverse=True))}))(?![\w'-])(?"
            rf"! (?:called|named|person|people|lover|food|toy|bed|shelter|show|park|allergy|film|video))"
        ),
        text,
        flags=re.IGNORECASE,
    )
    if match is None or re.search(
        r"\b(?:the|that|this|no|any|your|and|with|of|bad|hot|to|my|for|been|fun|lot)\b",
        match[1],
        flags=re.IGNORECASE,
    ):
        return []
    return [match[1]]


_THINGS: Final = (
    "car|bike|bicycle|boat|motorbike|motorcycle|scooter|van|caravan|camper|guitar|piano|violin"
    "|cello|viola|camera|laptop|garden|allotment"
    "|greenhouse|house|cottage|farm|shop|café|cafe|restaurant|bakery|studio|gallery|telescope"
    "|kayak|canoe|kiln|loom|sewing machine"
    "|tent|drone|printer|3d printer|record player|record collection|fireplace|hot tub|sauna|pool"
    "|tractor|truck|sailboat|tesla|beehive|hives|bees"
)


def thing(text: str) -> list[str]:
    """Return a belonging of the sort that people say they have."""
    match = re.match(
        (
            rf"(?:an? |two |three |my own |our own )((?:[\w'-]+ ){{0,3}}(?:{_THINGS}))(?![\w'-])(?! "
            rf"(?:accident|trouble|crash|lesson|class|problem|to sell))"
        ),
        text,
        flags=re.IGNORECASE,
    )
    if match is None or re.search(
        r"\b(?:of|to|that|lot|in|great|rental|hire|hired|chance|good|bit|nice day|talk|look|big|quick|for)\b",
        match[1],
        flags=re.IGNORECASE,
    ):
        return []
    return [match[1]]


def bought(text: str) -> list[str]:
    """Return what was bought: one thing, not food for the evening."""
    if not re.match(
        r"(?:an?|some|my first|my own|our first|two|three|new|the|this|tickets|myself an?) ",
        text,
        flags=re.IGNORECASE,
    ):
        return []
    return phrase(re.sub(r"^(?:myself|ourselves) ", "", text))


RULES: Final[tuple[Rule, ...]] = (
    rule("be", r"married to ", "married_to", person, tenses="present perfect"),
    rule("marry", r"(?:to )?", "married_to", person, tenses="past perfect", denied=False, dated="past"),
    rule("get", r"married to ", "married_to", person, tenses="past perfect", denied=False, dated="past"),
    rule("be", r"engaged to ", "engaged_to", person, tenses="present"),
    rule("get", r"engaged to ", "engaged_to", person, tenses="past perfect", denied=False, dated="past"),
    rule("be", r"(?:dating|seeing|going out with) ", "partner_is", person, tenses="present perfect"),
    rule(
        "be",
        r"(?:happily |still |newly |recently )?",
        "relationship_status",
        status,
        tenses="present",
        dated="",
    ),
    rule(
        "get",
        r"(?:happily )?(?=engaged|divorced)",
        "relationship_status",
        status,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "be",
        (
            r"(?:only |just |already |almost |about )?(?=[\w-]+(?:[ -]\w+)? years? old|[\w-]+(?:[,.!]"
            r"|$))(?!one\b)"
        ),
        "age_is",
        number,
        tenses="present",
        denied=False,
        dated="",
    ),
    rule(
        "turn",
        r"(?=[\w-]+(?: \w+)?(?: today| yesterday| last| this| in| on|[,.!]|$))",
        "age_is",
        number,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule("have", r"", "child", counted, tenses="present", denied=False, dated=""),
    rule("have", r"", "sibling", siblings, tenses="present", denied=False, dated=""),
    rule("have", r"", "has_condition", ailment, tenses="present perfect"),
    rule("suffer", r"from ", "has_condition", ailment, tenses="present perfect"),
    rule("diagnose", r"with ", "has_condition", ailment, tenses="past perfect", denied=False, dated="past"),
    rule("break", r"", "has_condition", broken, tenses="past perfect", denied=False, dated="past"),
    rule("fracture", r"", "has_condition", broken, tenses="past perfect", denied=False, dated="past"),
    rule("sprain", r"", "has_condition", sprained, tenses="past perfect", denied=False, dated="past"),
    rule(
        "be",
        (
            r"(?:very |severely |quite |super |really |deathly |mildly |badly |highly |also )?allergic to "
            r"(?!it\b|that\b|them\b|mornings\b|mondays\b|work\b|most\b|any\b|anything\b)"
        ),
        "allergic_to",
        phrases,
        tenses="present perfect",
        dated="",
    ),
    rule(
        "have",
        r"(?:a |an )?(?:severe |bad |mild |terrible )?(?=[\w ]{3,20} allergy\b)",
        "allergic_to",
        phrase,
        tenses="present",
        dated="",
    ),
    rule("be", r"(?:now |actually |still |mostly )?", "diet", diet, tenses="present perfect"),
    rule(
        "go turn",
        r"(?=vegan|vegetarian|keto)",
        "diet",
        diet,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule("get", r"", "pet", pet, tenses="perfect past", denied=False, dated=""),
    rule("have", r"(?:got )?", "pet", pet, tenses="present perfect", denied=False, dated=""),
    rule("adopt", r"", "pet", pet, tenses="past perfect", denied=False, dated="past"),
    rule("have", r"", "owns", thing, tenses="present", denied=False, dated="", first_only=True),
    rule("own", r"(?!it\b|that\b|up\b)", "owns", phrases, tenses="present", dated="", first_only=True),
    rule(
        "sell",
        r"(?=(?:my|our|the) )(?!the (?:first|last)\b)",
        "owns",
        phrase,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule("buy", r"", "bought", bought, tenses="past perfect", denied=False, dated="past"),
    rule(
        "get",
        (
            r"(?=an? (?:new |old |used |second-hand |brand new |electric )*(?:car|bike|phone|laptop"
            r"|camera|guitar|piano|house|flat|apartment)\b)"
        ),
        "bought",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule(
        "drive ride",
        (
            r"(?=an? |my )(?!an? lot)(?!my (?:kids|son|daughter|wife|husband|mum|mom|dad|parents"
            r"|friends?)\b)"
        ),
        "drives",
        phrase,
        tenses="present",
        denied=False,
        first_only=True,
    ),
    rule(
        "name call",
        r"(?:our|my|the) (?:new )?(?:baby|daughter|son|baby girl|baby boy) ",
        "child",
        person,
        tenses="past perfect",
        denied=False,
    ),
    rule("join", r"(?=a |an |the |my )", "joined", phrase, tenses="past perfect", denied=False, dated="past"),
    rule(
        "sign",
        r"up for (?=a |an |the |my )",
        "signed_up_for",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="",
    ),
    rule(
        "pass",
        r"(?:my|the|all my) (?=(?:\w+ ){0,2}(?:test|exams?|finals|bar|interview|driving)\b)",
        "passed",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "win",
        r"(?=(?:a|an|my|the|first|second|third) )(?!the lottery of)",
        "won",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "finish complete",
        r"(?:writing |reading |recording )?(?=my |the |a )",
        "finished",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule(
        "publish",
        r"(?=my |a |our |an )",
        "published",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule(
        "launch",
        r"(?=my |a |our |an )",
        "launched",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule(
        "open",
        (
            r"(?=my |a |our |an )(?!(?:a|an|my) (?:door|window|box|letter|bottle|tab|account|file|package"
            r"|mind)\b)"
        ),
        "opened",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule(
        "host",
        r"(?=my |a |our |an )",
        "hosted",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
        first_only=True,
    ),
    rule(
        "run",
        r"(?=(?:a |my |the )(?:\w+ ){0,2}(?:marathon|10k|5k|race|triathlon|ultra)\b)",
        "ran",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule("meet", r"", "met", persons, tenses="past", denied=False, dated="past", first_only=True),
)
