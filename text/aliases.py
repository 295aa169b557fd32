"""Names that mean one thing: a dictionary that comes with the release, and whatever is added to it. Pure.

A line is one thing: `quickbooks [product]: QB, QBO, QuickBooks Online`. A file of such lines can be added to a store
(`braid entity alias --file`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from braid.text.words import normal

_LINE: Final = re.compile(r"^(?P<name>[^\[\]:]+?)(?: *\[(?P<type>\w+)\])? *: *(?P<others>.+)$")
MAX_NAME: Final = 120
"""Characters of a name; what is longer is a sentence."""


class AliasLine(NamedTuple):
    """One thing: its name, of which type it is, and what else it is called."""

    name: str
    type: str | None
    others: tuple[str, ...]


def lines_of(text: str) -> Iterator[AliasLine]:
    """Yield the lines of an alias file; blank ones and those that begin with # say nothing.

    Raises ValueError, with its number, for a line of another form.
    """
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.match(stripped)
        others = tuple(filter(None, (one.strip() for one in found["others"].split(",")))) if found else ()
        if found is None or not others or max(map(len, (found["name"], *others))) > MAX_NAME:
            raise ValueError(f"line {number} is no `name [type]: other name, other name`")
        yield AliasLine(found["name"].strip(), found["type"], others)


class Aliases:
    """A dictionary of names, each in its normal form → the name it is told by."""

    def __init__(self, lines: Iterable[AliasLine]) -> None:
        """Raises ValueError for a name that stands for two things."""
        self.canonical: dict[str, str] = {}
        self.types: dict[str, str] = {}
        for line in lines:
            key = normal(line.name)
            for name in (line.name, *line.others):
                if self.canonical.setdefault(normal(name), key) != key:
                    raise ValueError(f"{name!r} stands for {self.canonical[normal(name)]!r} and for {key!r}")
            if line.type:
                self.types[key] = line.type

    def of(self, name: str) -> str:
        """Return the normal form of the name that this one is told by: its own, where none is known."""
        key = normal(name)
        return self.canonical.get(key, key)

    def type_of(self, name: str) -> str | None:
        """Return of which type a known thing is."""
        return self.types.get(self.of(name))

    def groups(self) -> Mapping[str, list[str]]:
        """Return the names of each thing."""
        found: dict[str, list[str]] = {}
        for key, canonical in self.canonical.items():
            found.setdefault(canonical, []).append(key)
        return found


_PACKAGED: Final = """
quickbooks [product]: QB, QBO, QuickBooks Online, Quick Books, Intuit QuickBooks
paypal [organisation]: PP, Pay Pal
usps [organisation]: United States Postal Service, US Postal Service, U.S. Postal Service
fedex [organisation]: Federal Express, FedEx Ground, Fed Ex
ups [organisation]: United Parcel Service
csv [thing]: CSV file, CSV export, spreadsheet export
dhl [organisation]: DHL Express
woocommerce [product]: Woo Commerce, WooComm
shopify [organisation]: Shopify store
github [organisation]: Git Hub
gitlab [organisation]: Git Lab
postgresql [product]: Postgres, PSQL, Postgre SQL
kubernetes [product]: K8s, Kube
javascript [product]: JS, Java Script
typescript [product]: TS, Type Script
mongodb [product]: Mongo, Mongo DB
elasticsearch [product]: Elastic Search
amazon web services [organisation]: AWS
google cloud platform [organisation]: GCP, Google Cloud
microsoft [organisation]: MSFT
visual studio code [product]: VS Code, VSCode
google docs [product]: GDocs
google sheets [product]: GSheets
internal revenue service [organisation]: IRS
european union [place]: EU
united kingdom [place]: UK, U.K., Great Britain
united states [place]: USA, U.S.A., U.S., United States of America
new york city [place]: NYC, New York, NY
los angeles [place]: L.A.
san francisco [place]: SF, San Fran
washington dc [place]: Washington D.C., Washington, D.C.
united arab emirates [place]: UAE
"""
"""Each name stands in one line. What could mean two things (GA, MS, Mercury) is left out."""


@cache
def packaged() -> Aliases:
    """Return the dictionary of this release."""
    return Aliases(lines_of(_PACKAGED))
