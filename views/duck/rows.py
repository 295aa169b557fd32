"""Records → rows: the pure function that every DuckDB table comes from (SPEC §10.3)."""

from typing import Final

import msgspec

from braid.ledger.read.reader import LogEntry
from braid.ledger.record.record import BODY_TYPES
from braid.views.duck.kinds import MAKERS, link_rows, transaction_row
from braid.views.duck.schema import TABLES
from braid.views.projection import HeadFacts
from braid.views.values import Numbered

_DECODERS: Final = {kind: msgspec.json.Decoder(body).decode for kind, body in BODY_TYPES.items()}
_CONTENT: Final = frozenset(number for number, table in enumerate(TABLES) if table.content)


class MadeRows(msgspec.Struct, frozen=True):
    """What became of a record: its rows in table order, and whether it was skipped or only half read."""

    rows: list[Numbered]
    unknown: bool = False
    unreadable: bool = False


def make_rows(entry: LogEntry, standing: HeadFacts) -> MadeRows:
    """Return the rows of a record as it stands: none but public ones when it is erased or forgotten."""
    record = entry.record
    envelope = record.envelope
    index = envelope.index
    maker = MAKERS.get(envelope.kind)
    rows: list[Numbered] = []
    body, unreadable = None, False
    if record.raw is not None and maker is not None:
        try:
            body = _DECODERS[envelope.kind](record.raw)
        except (
            msgspec.MsgspecError
        ):  # signed by a key of this log, but no body of its kind: its envelope is shown
            unreadable = True
    if maker is not None and index not in standing.erased:
        rows = maker(record, body, standing)
        if record.links:
            rows += link_rows(record, body)
        if index in standing.hidden:
            rows = [row for row in rows if row[0] not in _CONTENT]
    if envelope.tx[1] == 0:
        rows.append(transaction_row(envelope))
    if len(rows) > 1:
        rows.sort(key=_table_of)  # stable: within a table the order stays
    return MadeRows(rows, maker is None, unreadable)


def _table_of(row: Numbered) -> int:
    return row[0]
