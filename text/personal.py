"""What in a text finds or names a person: names that are known, birth dates, addresses, mail, telephones. Pure.

Shapes and a list of names, no model. They miss what has no shape ("the red house behind the church"), and now and then
take an order number for a telephone.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

Kind = Literal["name", "birth_date", "address", "email", "phone"]

_DATE: Final = (
    r"(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    r"|\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:,?\s+\d{4})?"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?)"
)
_SHAPES: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "birth_date",
        re.compile(
            rf"\b(?:born|birthday|birth ?date|date of birth|d\.?o\.?b\.?|né|née|geboren)\b.{{0,30}}?{_DATE}"
            rf"|{_DATE}.{{0,30}}?\b(?:birthday|birth ?date|was born)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "address",
        re.compile(
            r"\b\d{1,5}[a-z]?,? (?:[\w'’.-]+ ){1,3}(?:street|st|road|rd|avenue|ave|lane|ln|drive|way|close|court|square"
            r"|place|terrace|crescent|boulevard|blvd|row|gardens|hill)\b"
            r"|\b(?:[\w-]+(?:straße|strasse|gasse|platz)|(?:rue|via|calle|rua|avenida|avenue) (?:[\w'’-]+ ){1,3}?)"
            r"\s*\d{1,5}\b|\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b",
            re.IGNORECASE,
        ),
    ),
    (
        "phone",
        re.compile(
            r"(?<![\w-])(?!\d{4}-\d\d-\d\d)(?:\+\d{1,3}[ -]?)?(?:\(\d{1,5}\)[ -]?)?"
            r"\d{2,5}(?:[ -]\d{2,5}){2,4}(?![\w-])"
        ),
    ),
)
IDENTIFYING: Final[frozenset[Kind]] = frozenset(("birth_date", "address", "email", "phone"))
"""What finds or identifies a person: level L3 of privacy (docs/learning.md)."""


class Personal(NamedTuple):
    """What of a text is personal, and where it stands."""

    kind: Kind
    start: int
    end: int


def personal(text: str, names: Iterable[str] = ()) -> Iterator[Personal]:
    """Yield what is personal in a text: shapes, then those of these names that stand in it, as words of their own."""
    for kind, shape in _SHAPES:
        yield from (Personal(kind, *match.span()) for match in shape.finditer(text))
    for name in dict.fromkeys(names):
        if len(name) > 1 and name[:1].isupper():
            for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                yield Personal("name", *match.span())
