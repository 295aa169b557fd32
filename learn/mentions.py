"""People and pets that are named in passing: `my partner Mireille`, `a cat called Biscuit`. Pure."""

import re
from typing import Final

from braid.learn.clause import Subject
from braid.learn.page import Page
from braid.learn.voice import Voice
from braid.learn.words import KIN, NAME, NOT_NAMES, PETS
from braid.text.numbers import WORD
from braid.text.sentences import TextPart

_ROLE: Final = "|".join(sorted((re.escape(role) for role, rel in KIN.items() if rel), key=len, reverse=True))
_PET: Final = "|".join(sorted(map(re.escape, PETS), key=len, reverse=True))
_KIND: Final = (
    r"(?:own |older |younger |elder |little |big |eldest |oldest |youngest |new |old |dear "
    r"|lovely |baby |twin |good |close |other |beloved |first |second |wonderful |amazing |late )*"
)
_MY: Final = re.compile(
    (
        rf"\b(?:my|our) {_KIND}(?P<role>{_ROLE})(?:,? (?:called |named )?| is (?:called |named "
        rf"))(?P<name>{NAME})(?P<also> and (?P<second>{NAME}))?(?!\w)(?! Day\b)"
    ),
    flags=re.IGNORECASE,
)
_IS_MY: Final = re.compile(
    (
        rf"\b(?P<name>{NAME})(?:,? (?:that's|who is|who's|is|was)|,) (?P<whose>my|our) "
        rf"{_KIND}(?P<role>{_ROLE})(?=[,.;!)]|$| (?:and|at|here|from|in|who)\b)"
    ),
    flags=re.IGNORECASE,
)
_NAME_IS: Final = re.compile(
    (
        rf"\b(?:my|our|the(?= (?:landlady|landlord|boss) is (?:called|named))) "
        rf"{_KIND}(?P<role>{_ROLE})(?:'s name)? (?:is|is called|is named|'s called|'s) (?:called "
        rf"|named )?(?P<name>{NAME})(?=[,.;!)]|$| and\b)"
    ),
    flags=re.IGNORECASE,
)
_THEIR: Final = re.compile(
    rf"\b(?P<whose>her|his) {_KIND}(?P<role>{_ROLE}),? (?P<name>{NAME})(?!\w)", flags=re.IGNORECASE
)
_OWN_PET: Final = re.compile(
    (
        rf"\b(?:my|our) (?:(?!cat\b|dog\b)[\w-]+ ){{0,2}}?(?P<kind>{_PET})(?:'s name is|,? (?:called "
        rf"|named )?| is (?:called |named ))\s?(?P<name>{NAME})(?!\w)"
    ),
    flags=re.IGNORECASE,
)
_CALLED: Final = re.compile(
    rf"\b(?:an?|the|our) (?:[\w-]+ ){{0,3}}?(?P<kind>{_PET})(?:,)? (?:called|named) (?P<name>{NAME})",
    flags=re.IGNORECASE,
)
_PAIR: Final = re.compile(
    (
        rf"\b(?:{WORD}) (?P<kind>{_PET})s,? (?:called |named )?(?P<name>{NAME})(?:, "
        rf"(?P<third>{NAME}),?)? and (?P<second>{NAME})"
    ),
    flags=re.IGNORECASE,
)
_OURS: Final = re.compile(r"\b(?:I|we)(?:'ve| have|'ve got)?\b|\bmy\b|\bour\b", flags=re.IGNORECASE)
_CAPITAL: Final = re.compile(r"([A-ZÀ-Þ][\w'’-]*)\.? $")
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|his|her|their|your|you)\b|\b(?:my|our) \w+ (?:has|have|had|got|owns)\b",
    flags=re.IGNORECASE,
)


def mentioned(page: Page, sentence: TextPart) -> None:
    """Read who is named in a sentence."""
    text = sentence.text
    low = text.lower()
    if "my " in low or "our " in low:
        _kin(page, sentence, text)
    if " her " in f" {low}" or " his " in f" {low}":
        _their_kin(page, sentence, text)
    if _OURS.search(text):
        _pets(page, sentence, text)


def _kin(page: Page, sentence: TextPart, text: str) -> None:
    for pattern in (_MY, _NAME_IS, _IS_MY):
        for match in pattern.finditer(text):
            if match.start() == match.start("name") and _is_within(text, match.start()):
                continue
            names = [name for name in (match["name"], match.groupdict().get("second")) if name]
            if names[0] in NOT_NAMES or names[0].lower() in KIN or _belongs(text, match.end()):
                continue
            role = match["role"].lower()
            if match.groupdict().get("also") and not role.endswith("s"):
                names = names[:1]
            for name in names:
                page.introduce(role, name)
                page.claim(_within(sentence, match), Voice(), page.turn.speaker, KIN[role], name)


def _their_kin(page: Page, sentence: TextPart, text: str) -> None:
    """Read `her brother Loïc` where it is clear whose."""
    for match in _THEIR.finditer(text):
        if match["name"] in NOT_NAMES:
            continue
        owner = page.who(Subject(pronoun="she" if match["whose"].lower() == "her" else "he"))
        if owner is not None:
            role = match["role"].lower()
            page.claim(_within(sentence, match), Voice(), owner, KIN[role], match["name"])
            page.introduce(role, match["name"], owner)


def _pets(page: Page, sentence: TextPart, text: str) -> None:
    for match in _OWN_PET.finditer(text):
        _pet(page, sentence, match)
    if _OTHERS.search(text) is None:
        for pattern in (_CALLED, _PAIR):
            for match in pattern.finditer(text):
                _pet(page, sentence, match)


def _pet(page: Page, sentence: TextPart, match: re.Match[str]) -> None:
    parts = match.groupdict()
    for name in (parts["name"], parts.get("third"), parts.get("second")):
        if name and name not in NOT_NAMES:
            part = _within(sentence, match)
            page.claim(part, Voice(), page.turn.speaker, "pet", name)
            page.claim(part, Voice(), name, "is_a", match["kind"].lower())
            page.introduce(match["kind"].lower(), name)


def _belongs(text: str, at: int) -> bool:
    """Whether a name is only the beginning of a longer thing: `my friend Anna's house` is fine, `my boss Day` isn't."""
    return text[at : at + 1] == "-"


def _is_within(text: str, at: int) -> bool:
    """Whether a name is only the end of a longer one."""
    before = _CAPITAL.search(text, 0, at)
    return before is not None and before[1] not in NOT_NAMES


def _within(sentence: TextPart, match: re.Match[str]) -> TextPart:
    """Return the words of a match as a part of the text."""
    return TextPart(match[0], sentence.start + match.start(), sentence.start + match.end())
