"""The number in a sentence that answers "how much", "how many", "how often": of what was asked, none of a date. Pure.

Of amounts that a sentence lists ("bathroom 5k, kitchen 12k") it is the one of what is named. Money is wanted of what is
paid or costs, kilometres where these were asked for; "once" tells how often only where a time follows: "once a week",
not "once you are here".
"""

import re
from decimal import Decimal
from typing import Final, NamedTuple

from braid.agent.answer.change.former_value import of_time_asked
from braid.agent.answer.question.reading import ASKS_PAYMENT
from braid.text.calendar import MONTH_NAME, WEEKDAY_NAME
from braid.text.numbers import WORD, value
from braid.text.quantities import Quantity
from braid.text.words import STOP, stem, telling, telling_stems, words

_NO_NOUN: Final = r"(?!(?:and|or|in|on|at|to|of|more|a|an|per|each|every|for|from|by|with)\b)"
_TIME: Final = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?"
_QUANTITY: Final = re.compile(
    rf"[$€£]\s?\d[\d,.]*\d|[$€£]\d"
    # A number inside a token with letters or a hyphen is an id, not a count: INV-2034.
    rf"|(?<![\w-])\d(?:[\d,.:/]*\d)?(?![\w-]*\d|(?-i:[A-Z])\b)(?:\s?(?:%|percent|[ap]m\b|km\b|k\b|kg\b))?"
    rf"(?: (?P<noun>{_NO_NOUN}[a-z]+))?"
    rf"|\b(?:once|twice) (?:an?|every|each|per) {_TIME}\b"
    rf"|\b{WORD}(?: (?P<counted>{_NO_NOUN}[a-z]+))?",
    re.IGNORECASE,
)
_CURRENCY: Final = r"(?:euros?|pounds?|dollars?|quid|bucks|eur|gbp|usd|francs?|cents?|pence)\b"
_MONEY: Final = re.compile(
    rf"[$€£]\s?\d[\d,.]*\d|[$€£]\d|(?<![\w-])\d(?:[\d,.]*\d)?\s?(?:[$€£]|{_CURRENCY})"
    rf"|\b{WORD} {_CURRENCY}|\ban? (?:pound|euro|dollar|quid|franc)\b",
    re.IGNORECASE,
)
_PAID: Final = re.compile(
    r"\b(?:prices?|costs?|rent|salary|wages?|pay|paid|spen[dt]|earn\w*|owe[ds]?|worth|fees?|deposit|bill|fare)\b",
    re.IGNORECASE,
)
_HOW_MUCH: Final = re.compile(r"\bhow much\b", re.IGNORECASE)
_HOW_MANY: Final = re.compile(r"\bhow many (\w+)(?: (\w+))?", re.IGNORECASE)
_HOW_OFTEN: Final = re.compile(r"\bhow (?:often|many times)\b", re.IGNORECASE)
_OFTEN: Final = re.compile(
    rf"\b(?:(?:once|twice|(?:\d+|{WORD}) times) (?:an?|every|each|per) {_TIME}"
    rf"|every (?:(?:other|single|second|third|\d+|{WORD}) )?(?:{_TIME}|{WEEKDAY_NAME}s?|morning|afternoon|evening)"
    r"|hourly|daily|weekly|fortnightly|monthly|yearly)\b",
    re.IGNORECASE,
)
_TWICE: Final = re.compile(r"\btwice\b", re.IGNORECASE)
_MONTH: Final = rf"(?!(?-i:may)){MONTH_NAME}\b\.?"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?\b"
_YEAR: Final = r"(?:19|20)\d\d\b"
_DATE: Final = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b|\b{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?"
    rf"|\b{_MONTH} {_DAY}(?:,? {_YEAR})?|\b{_MONTH},? {_YEAR}|\b(?:in|since|until|by|during|of) {_YEAR}"
    r"|\b\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b|\b\d+(?:st|nd|rd|th)\b|^\s*\d{1,2}\)",
    re.IGNORECASE,
)
"""What is no amount: a date, a time, and what numbers a point of a list."""
_PIECE: Final = re.compile(
    rf"[,;.]\s+|\s+(?:(?<!hundred )(?<!thousand )and|and(?! {WORD})|but|plus)\s+", re.IGNORECASE
)
_RATE: Final = re.compile(
    rf"[£$€]?\d[\d.,]*(?: ?(?:[€£$]|{_CURRENCY}))? (?:an?|per|each|every|apiece)\b", re.IGNORECASE
)
"""So much for each, which counts nothing: "38 a tin"."""
_PER: Final = re.compile(r"\b(?:an?|per|each|every)\b", re.IGNORECASE)
_EACH: Final = re.compile(
    r"\beach\b|\bapiece\b|\b(?:per|a) (?:head|person|child|adult|night)\b", re.IGNORECASE
)
_IS_TIME: Final = re.compile(_TIME, re.IGNORECASE)
_OF_ALL: Final = re.compile(
    rf"(?:\d|\b{WORD})(?P<all> (?:out )?of (?:(?:the|our|my|all) )*(?:\d[\d.,]*|{WORD}))(?P<rest>[^,;.]*)",
    re.IGNORECASE,
)
"""How many there are in all, behind how many of them did something: 22 of the 30."""
_DENIAL: Final = re.compile(r"\b(?:not|never|cannot)\b|n['’]t\b", re.IGNORECASE)
_SHARE: Final = re.compile(r"\b(?:half|double|nothing|free)\b(?! (?:an?|past|of)\b)", re.IGNORECASE)
"""What is paid, where no number says it."""
_ONE: Final = Decimal(1)
_SEPARATOR: Final = re.compile(r"[,;]\s+|\s+and\s+|\s+/\s+|\.\s+", re.IGNORECASE)
_ITEM: Final = re.compile(
    r"(?P<label>[^\d£$€]*?[^\W\d_])\s*(?::|=|–|-)?\s+"
    r"(?P<amount>[£$€]?\d[\d.,]*(?:\s?(?:k|m|%|€|euros?|pounds?|quid|dollars?|kg|km|mg|ml|g|l|cm|cups?|tins?|bags?))?)"
    r"(?: (?:a|an|per|each|every) \w+| each)?\W*",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"^[^\d:,;]+:\s+(?=[^\d:,;]+[ :]\s*[£$€]?\d)")
"""What stands before a list, of which all of it is: "tickets: adult 12, student 8"."""
_ELIDED: Final = re.compile(rf"\W*(?P<number>\d[\d.,]*|{WORD}) (?:in|at|on|by)\b", re.IGNORECASE)
_BEGINS: Final = re.compile(r"\W*\d[\d.,]*(?!\w)")
_MOST_LABEL_WORDS: Final = 5
_OF_NOTHING: Final = frozenset(
    map(stem, ("cost", "costs", "price", "pay", "paid", "takes", "worth", "total", "about"))
)
"""Words beside an amount that say nothing of what it is of."""

_WANTS: Final = re.compile(
    r"\bhow (?:much|many|old|tall|heavy|long)\b|\b(?:price|cost|sum|amount)\b", re.IGNORECASE
)


class ListedAmount(NamedTuple):
    """What an amount is of, in stems, and the amount as it is written."""

    label: frozenset[str]
    amount: str


def listed_amounts(sentence: str) -> list[ListedAmount]:
    """Return the amounts of a sentence that is made of such pairs; empty where it isn't."""
    found: list[ListedAmount] = []
    listed = _HEADING.sub("", sentence.strip().rstrip(".!"))
    for piece in _SEPARATOR.split(listed):
        item = _ITEM.fullmatch(piece)
        if item is None or len(item["label"].split()) > _MOST_LABEL_WORDS:
            return []
        found.append(
            ListedAmount(
                frozenset(map(stem, telling(item["label"]))) - _OF_NOTHING, item["amount"].strip(" ,.")
            )
        )
    return found if len(found) > 1 and all(one.label for one in found) else []


def amount_of(question: str, sentence: str) -> str | None:
    """Return the one amount of a list that is of what a question names; None where it names none, or several."""
    asked = telling_stems(question) - _OF_NOTHING
    shared = [(len(asked & one.label), one.amount) for one in listed_amounts(sentence)]
    best = max((count for count, _ in shared), default=0)
    meant = [amount for count, amount in shared if count == best]
    return meant[0] if best and len(meant) == 1 else None


def lists_another(question: str, sentence: str) -> bool:
    """Whether a question wants an amount, and a sentence lists amounts of which none is what it names."""
    wants = _WANTS.search(question) is not None and bool(listed_amounts(sentence))
    return wants and amount_of(question, sentence) is None


def counted(asked: str, sentence: str) -> str | None:
    """Return the number that answers a question, with what it counts where that is said; None where none does."""
    if (listed := amount_of(asked, sentence)) is not None:
        return listed
    whole = _DATE.sub(lambda match: " " * len(match[0]), of_time_asked(asked, sentence))
    many = _HOW_MANY.search(asked)
    if many is not None:
        whole = without_rates(asked, _of_those_who_did(many, asked, whole))
    text = _labelled(asked, whole)
    paid = _PAID.search(asked) is not None or ASKS_PAYMENT.search(asked) is not None
    if paid and _QUANTITY.search(text) is None and (share := _SHARE.search(text)) is not None:
        return share[0]
    if paid and not has_money(text) and has_money(whole):
        text = whole  # what a sack costs: 25 kilo sacks, 31 euros each
    known = set(words(asked))
    if paid or _HOW_MUCH.search(asked):
        sums = [match[0] for match in _MONEY.finditer(text)]
        if sums:
            return next((one for one in sums if not set(words(one)) <= known), sums[0])
    if _HOW_OFTEN.search(asked) and (often := _OFTEN.search(text) or _TWICE.search(text)):
        return often[0]
    wanted = _kinds(*many.groups()) if many else set[str]()
    found = [match for match in _QUANTITY.finditer(text) if not set(words(match[0])) <= known]
    of_it = [match[0] for match in found if wanted & _kinds(_noun(match))]
    if of_it:
        return of_it[0]
    asks_no_time = paid or (
        many is not None and not any(_IS_TIME.fullmatch(word or "") for word in many.groups())
    )
    if paid or _HOW_MUCH.search(asked):
        found = [match for match in found if match[0].lower() != "one"]  # a new one for 340
    found = [match for match in found if not (asks_no_time and _IS_TIME.fullmatch(_noun(match)))]
    if paid:  # of people nothing is paid
        found.sort(key=lambda match: bool(_kinds(_noun(match))))
    return _bare(found[0][0]) if found else None


def _bare(amount: str) -> str:
    """Return an amount without a small word that stands behind it and is nothing that is counted."""
    front, _, last = amount.rpartition(" ")
    return front if front and last.lower() in STOP and value(last) is None else amount


def without_rates(asked: str, sentence: str) -> str:
    """Return a sentence, as long as before, with blanks for what is so much for each, where none of that is asked."""
    return sentence if _PER.search(asked) else _RATE.sub(lambda match: " " * len(match[0]), sentence)


def _of_those_who_did(many: re.Match[str], asked: str, sentence: str) -> str:
    """Return a sentence, as long as before, with blanks for how many there are in all, where it is asked how many of
    them did what it tells."""
    asked_of = telling_stems(asked) - {stem(many[1].lower())}
    found = _OF_ALL.search(sentence)
    if found is None or asked_of.isdisjoint(telling_stems(found["rest"])):
        return sentence
    return sentence[: found.start("all")] + " " * len(found["all"]) + sentence[found.end("all") :]


def elided(asked: str, sentence: str) -> str | None:
    """Return the number of a later piece that has no noun of its own, where a question names what only that piece is
    of: "tests take 4 minutes locally, 9 in CI"."""
    meant = telling_stems(asked)
    first, *others = _PIECE.split(sentence)
    meant -= telling_stems(first)
    found = [_ELIDED.match(piece) for piece in others if not meant.isdisjoint(telling_stems(piece))]
    return found[0]["number"] if len(found) == 1 and found[0] is not None else None


def _labelled(asked: str, sentence: str) -> str:
    """Return of a sentence with several numbers the one piece with a number that speaks most of what is asked; the
    whole where none does so alone: "fuel is 90 in all, tolls 24"."""
    meant = telling_stems(asked)
    counts = {stem(word.lower()) for found in _HOW_MANY.finditer(asked) for word in found.groups() if word}
    paid = _PAID.search(asked) is not None
    pieces = [
        piece
        for piece in _PIECE.split(sentence)
        if _QUANTITY.search(piece) or (paid and _SHARE.search(piece))
    ]
    met = [len(meant & telling_stems(piece)) for piece in pieces]
    if met.count(max(met, default=0)) > 1 and meant - counts:  # "four spaces in Python and two in YAML"
        met = [
            0 if _DENIAL.search(piece) else len((meant - counts) & telling_stems(piece)) for piece in pieces
        ]
    if len(pieces) > 1 and all(_BEGINS.match(piece) for piece in pieces[1:]):
        # "repair is 140 at iFix, 210 at Google": what stands before the first number is of all
        first = _QUANTITY.search(pieces[0])
        met[0] = len(meant & telling_stems(pieces[0][first.start() :])) if first is not None else met[0]
    if _EACH.search(asked):
        met = [
            count + (len(meant) + 1) * bool(_EACH.search(piece))
            for piece, count in zip(pieces, met, strict=True)
        ]
    most = max(met, default=0)
    return pieces[met.index(most)] if most and met.count(most) == 1 else sentence


def is_of_each(asked: str, sentence: str) -> bool:
    """Whether a question asks what each has, pays or gets, and a sentence says so of each."""
    return _EACH.search(asked) is not None and _EACH.search(sentence) is not None


def has_money(text: str) -> bool:
    """Whether a text tells an amount of money."""
    return _MONEY.search(text) is not None


def _noun(match: re.Match[str]) -> str:
    """Return what a number counts, empty where nothing is said."""
    last = match[0].rpartition(" ")[2].lstrip("0123456789.,")
    return match["noun"] or match["counted"] or last


def _kinds(*nouns: str | None) -> set[str]:
    """Return what some words count, whatever their form: kilometres, km."""
    return {Quantity(_ONE, noun).kind for noun in nouns if noun and noun.lower() not in STOP}
