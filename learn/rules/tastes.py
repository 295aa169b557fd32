"""Likes and dislikes, food and drink, hobbies, languages."""

import re
from typing import Final

from braid.learn.phrases import action, phrase, phrases
from braid.learn.rules.rule import Rule, rule
from braid.learn.words import LANGUAGES

_NOT_TASTE: Final = (
    r"(?!to\b|it\b|that\b|this\b|how\b|what\b|the (?:idea|way|sound|look|thought|fact)\b|you\b"
    r"|your\b|when\b|being put\b|being able\b|having you\b|hearing\b|seeing\b|getting\b|a (?:lot"
    r"|bit|fool)|where\b|feeling\b|these\b|those\b|them\b|everyone\b|every\b|knowing\b|being\b"
    r"|all\b|both\b|one\b|him\b|her\b|my life\b|each\b|the same\b|his\b|their\b|myself\b|ya\b|u\b"
    r"|so\b|crazy\b|I\b|the (?!(?:ocean|sea|seaside|mountains|outdoors|beach|rain|snow|sun"
    r"|sunshine|cold|heat|dark|city|countryside|country|theatre|theater|cinema|gym|woods|forest"
    r"|smell of|taste of|sound of)\b|(?-i:[A-Z])))"
)
_SPORTS: Final = (
    "tennis|football|soccer|basketball|baseball|volleyball|badminton|squash|rugby|hockey|cricket"
    "|golf|chess|cards|poker|bridge"
    "|darts|snooker|pool|table tennis|ping pong|video games|board games|computer games|water "
    "polo|padel|handball|dungeons"
)


def languages(text: str) -> list[str]:
    """Return the languages that a text lists first."""
    found: list[str] = []
    for word in re.split(r"\s*,\s*(?:and )?|\s+and\s+|\s+", re.split(r"[.;:!?]", text)[0]):
        if word.lower() in LANGUAGES:
            found.append(word)
        elif word.lower() not in (
            "a",
            "little",
            "bit",
            "of",
            "some",
            "fluent",
            "good",
            "basic",
            "both",
            "fluently",
            "native",
        ):
            break
    return found


def game(text: str) -> list[str]:
    """Return the game or instrument that is played."""
    match = re.match(rf"(?:a lot of |some |lots of )?({_SPORTS})\b", text, flags=re.IGNORECASE)
    if match:
        return [match[1]]
    match = re.match(
        (
            r"(?:the |my )?((?:(?:acoustic|electric|bass|classical|upright|double|french) )?(?:guitar"
            r"|piano|violin|viola|cello|drums|drum|bass|flute|clarinet|saxophone|sax|trumpet|trombone"
            r"|tuba|harp|oboe|accordion|ukulele|banjo|mandolin|organ|keyboard|keyboards|harmonica"
            r"|recorder|horn|bagpipes|fiddle|double bass))\b"
        ),
        text,
        flags=re.IGNORECASE,
    )
    return [match[1]] if match else []


def activity(text: str) -> list[str]:
    """Return what is done for pleasure: `hiking`, `cooking for friends`, a list of such."""
    return [found for found in phrases(text) if found.split()[0].lower().endswith("ing")]


def infinitive(text: str) -> list[str]:
    """Return an action said with "to"."""
    found = action(text)
    if found:
        return found
    match = re.match(
        r"([a-z]{3,})(?=[,.;!?]|$| (?:and|in|on|at|with|when|too|a lot)\b)", text, flags=re.IGNORECASE
    )
    return (
        [match[1]]
        if match
        and match[1].lower()
        not in ("say", "think", "see", "hear", "know", "help", "chat", "talk", "imagine", "believe")
        else []
    )


RULES: Final[tuple[Rule, ...]] = (
    rule("love like enjoy adore", rf"{_NOT_TASTE}", "likes", phrases, tenses="present"),
    rule("love like enjoy", rf"{_NOT_TASTE}", "likes", phrases, tenses="perfect", denied=False),
    rule(
        "love like",
        (
            r"to (?!see\b|hear\b|know\b|think\b|say\b|help\b|have you\b|be\b|get\b|hang\b|do\b|try\b"
            r"|believe\b|imagine\b)"
        ),
        "likes",
        infinitive,
        tenses="present",
        denied=False,
    ),
    rule(
        "hate dislike detest loathe despise",
        rf"{_NOT_TASTE}",
        "dislikes",
        phrases,
        tenses="present",
        denied=False,
    ),
    rule(
        "stand",
        rf"{_NOT_TASTE}(?!up\b|in\b|by\b|for\b|on\b|out\b)",
        "dislikes",
        phrases,
        tenses="can",
        polarity=True,
    ),
    rule(
        "be",
        (
            r"(?:still )?(?:a )?(?:huge|big|massive|great|real|total|lifelong)? ?fan of (?!this\b|that\b"
            r"|it\b|the (?!(?-i:[A-Z])))"
        ),
        "likes",
        phrases,
        tenses="present",
    ),
    rule(
        "be",
        (
            r"(?:really |very |super |so |totally |completely |quite )?(?:into|fond of|keen on|crazy "
            r"about|passionate about|obsessed with|mad about|hooked on|addicted to) (?=[^\s])(?!it\b"
            r"|this\b|that\b|you\b|these\b|the (?!(?-i:[A-Z]))|helping\b)"
        ),
        "likes",
        phrases,
        tenses="present perfect",
    ),
    rule(
        "be",
        r"(?:really |very |super |so |always )?interested in ",
        "interested_in",
        phrases,
        tenses="present perfect",
        denied=False,
    ),
    rule(
        "be",
        r"(?:really |very |terribly |so |absolutely |deathly )?(?:afraid|scared|terrified) of ",
        "afraid_of",
        phrases,
        tenses="present",
    ),
    rule("prefer", rf"{_NOT_TASTE}", "prefers", phrase, tenses="present", denied=False),
    rule(
        "eat",
        (
            r"(?!it\b|that\b|out\b|at\b|in\b|with\b|too\b|so\b|a lot\b|more\b|less\b|breakfast|lunch"
            r"|dinner|cereal|on\b|well\b|healthy\b|when\b|the\b|my\b|this\b)"
        ),
        "eats",
        phrases,
        tenses="present can",
    ),
    rule(
        "stop quit avoid",
        r"eating ",
        "eats",
        phrases,
        tenses="past perfect present",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "decide",
        r"to (?:stop|quit) eating ",
        "eats",
        phrases,
        tenses="past perfect",
        polarity=False,
        denied=False,
    ),
    rule("be", r"not eating ", "eats", phrases, tenses="present", polarity=False),
    rule(
        "drink",
        (
            r"(?!it\b|that\b|too\b|to\b|a lot\b|more\b|less\b|with\b|at\b|in\b|when\b|the\b|my\b|this\b"
            r"|much\b|on\b|any ?more\b)"
        ),
        "drinks",
        phrases,
        tenses="present can",
    ),
    rule(
        "stop quit",
        r"drinking ",
        "drinks",
        phrases,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "give",
        r"up (?=(?:alcohol|coffee|beer|wine|caffeine|soda|spirits)\b)",
        "drinks",
        phrases,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "give",
        r"up (?=(?:meat|dairy|sugar|gluten|bread|chocolate|fish|pork|beef|cheese|wheat|sweets)\b)",
        "eats",
        phrases,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "give",
        r"up (?=smoking|drinking|gambling|vaping)",
        "does",
        phrase,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "quit stop",
        r"(?=(?:smoking|drinking$|drinking[.,!]|vaping|gambling))",
        "does",
        phrase,
        tenses="past perfect",
        polarity=False,
        denied=False,
        dated="past",
    ),
    rule(
        "switch",
        (
            r"(?:over )?(?:from [\w ]+ )?to (?=(?:tea|coffee|decaf|oat milk|soy milk|water|herbal|green "
            r"tea|rooibos|beer|wine)\b)"
        ),
        "drinks",
        phrase,
        tenses="past perfect present",
        denied=False,
    ),
    rule(
        "speak",
        r"(?:fluent |good |some |a little |a bit of |only |both |basic )?",
        "speaks",
        languages,
        tenses="present can",
    ),
    rule("be", r"fluent in ", "speaks", languages, tenses="present"),
    rule("learn study", r"", "learning", languages, tenses="present perfect", denied=False),
    rule(
        "learn", r"(?:how )?to (?:play )?(?:the )?", "learning", game, tenses="present perfect", denied=False
    ),
    rule("teach", r"", "teaches", languages, tenses="present", denied=False),
    rule("play", r"", "plays", game, tenses="present perfect can"),
    rule("play", r"", "played", game, tenses="used", denied=False),
    rule("take", r"up ", "hobby", phrase, tenses="past perfect", denied=False, dated="past"),
    rule(
        "start begin",
        (
            r"(?=(?:painting|running|knitting|cycling|climbing|surfing|skiing|hiking|swimming|gardening"
            r"|baking|cooking|dancing|boxing|rowing|drawing|writing poetry|bouldering|sewing|pottery|yoga"
            r"|karate|judo|pilates|birdwatching|fishing|sailing|skating|skateboarding|woodworking"
            r"|crocheting|meditating|journaling|kickboxing)\b)"
        ),
        "hobby",
        phrase,
        tenses="past perfect",
        denied=False,
        dated="past",
    ),
    rule(
        "go",
        (
            r"(?=(?:running|swimming|climbing|cycling|hiking|fishing|surfing|skiing|bouldering|sailing"
            r"|camping|dancing)\b)"
        ),
        "hobby",
        phrase,
        tenses="present",
        denied=False,
        first_only=True,
    ),
    rule(
        "collect",
        r"(?!it\b|the\b|my\b|data\b|them\b)",
        "collects",
        phrases,
        tenses="present perfect",
        denied=False,
    ),
    rule(
        "do",
        (
            r"(?=(?:yoga|karate|judo|pilates|pottery|crossfit|ballet|gymnastics|taekwondo|boxing|martial "
            r"arts|archery)\b)"
        ),
        "hobby",
        phrase,
        tenses="present",
        denied=False,
    ),
)
