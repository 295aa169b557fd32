"""The card that goes with data that is given away: what it is, how it was made, what it does not protect from. Pure."""

from datetime import datetime
from typing import Final

import msgspec

FORMAT: Final = "braid-datacard/1"
LIMITS: Final = (
    "Pseudonymised is not anonymous: times, order, the graph of links, confidences and habits remain, and may tell who"
    " somebody is.",
    "Words for relations, methods, lenses, models, roles and emotions are kept: see that none of them names anybody.",
    "Whoever has the log, even without its vault, can match rows with records by `log_index` and times.",
    "Whoever has the key can compute the pseudonym of any name that they think of. Keep it away from the data.",
    "What is erased from the store later stays in this copy. Note to whom it went, and ask them to delete it.",
    "That something was said does not make it true; rows marked `disputed` were signed by a stolen key.",
)
KEPT_TEXT: Final = "Texts were kept as they are: they name people, places and things."


class CardColumn(msgspec.Struct, frozen=True):
    """A column of a table that is given away."""

    name: str
    type: str
    treatment: str
    comment: str


class CardTable(msgspec.Struct, frozen=True):
    """A table: its file, with what shows that it is whole, its columns, and the names of those left out."""

    name: str
    file: str
    rows: int
    bytes: int
    sha256: str
    comment: str
    columns: list[CardColumn]
    dropped: list[str]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What `datacard.json` holds."""

    format: str = FORMAT
    made_at: datetime
    made_by: str
    position: int
    root: str
    """Root of the log's tree at that position, hex: a later proof shows that this is of that log."""
    earliest: datetime | None
    latest: datetime | None
    pseudonyms: str
    key: str
    text: str
    tables: list[CardTable]
    limits: list[str]


def to_json(card: Card) -> bytes:
    """Return the card for programs."""
    return msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n"


def to_markdown(card: Card) -> str:
    """Return the card for people."""
    span = f"{card.earliest:%Y-%m-%d} to {card.latest:%Y-%m-%d}" if card.earliest and card.latest else "–"
    lines = [
        "# Data card",
        "",
        "What an AI agent experienced, taken from its log: who said what when, what was concluded from it, how sure,"
        " and what was corrected. Texts and names are treated as said below.",
        "",
        f"- made: {card.made_at:%Y-%m-%d %H:%M} UTC, by {card.made_by}",
        f"- from: the first {card.position} records of a log; the root of its tree there is `{card.root}`",
        f"- what happened in it: {span}",
        "- what was forgotten or erased by then is not in it",
        "",
        "## What was done",
        "",
        f"- **ids and names**: {card.pseudonyms}",
        f"- **key**: {card.key}",
        f"- **texts**: {card.text}",
        "- **left out**: files and addresses outside, data of events, keys for repeating, public keys, signed heads",
        "",
        "## What it does not protect from",
        "",
        *(f"- {limit}" for limit in card.limits),
        "",
        "## Tables",
        "",
        "| file | rows | what it is |",
        "|---|---|---|",
        *(f"| `{table.file}` | {table.rows} | {table.comment} |" for table in card.tables),
        "",
        "Parquet; times are UTC. `datacard.json` holds the same for programs, with the SHA-256 of each file.",
    ]
    for table in card.tables:
        lines += [
            "",
            f"### {table.name}",
            "",
            "| column | type | treatment | what it is |",
            "|---|---|---|---|",
        ]
        lines += [f"| `{one.name}` | {one.type} | {one.treatment} | {one.comment} |" for one in table.columns]
        if table.dropped:
            lines += ["", f"Left out: {', '.join(f'`{name}`' for name in table.dropped)}."]
    return "\n".join([*lines, ""])
