"""`braid log` and `show`: what the log holds, each record verified before it is shown."""

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.instants import AsOf, ValidAt, index_or_instant, instant
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import clean, line, put, put_bytes, put_json, put_rows, say, to_json
from braid.tools.cli.past import narrow, successors
from braid.tools.cli.record_list import first_of, records_of, row_of, transactions_of

if TYPE_CHECKING:
    from datetime import datetime

    from braid.ledger.record.record import Record
    from braid.store import Store

PANEL = "Read"
_COLUMNS = ("index", "id", "type", "occurred_at", "actor", "text")
_WAL = re.compile(r"wal_(\d{6,})")


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(log)
    app.command(rich_help_panel=PANEL)(show)


def log(
    *,
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="How many; 0 shows all.")] = 20,
    since_index: Annotated[
        int | None, typer.Option(min=0, help="From this log index on, oldest first.", show_default=False)
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind.", show_default=False)] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="The forgotten ones too.")] = False,
    wal: Annotated[bool, typer.Option("--wal", help="Transactions with their operations.")] = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List records, the newest last.

    Of an erased one you see what is left of it.

    \b
    Examples:
      braid log -n 5
      braid log --since-index 100 --kind stance -o jsonl
      braid log --wal -o json
    """
    with reading(store) as opened:
        if wal:
            transactions = transactions_of(opened, count, since_index)
            put_rows(("wal_id", "ops"), _ordered(transactions, reverse), output)
            return
        records = records_of(opened, count, since_index, kind, forgotten)
        if kind is not None and not records:
            _tell_kinds(kind)
        if output in ("json", "jsonl"):
            from braid.ledger.record.shape import shape_whole

            put_rows((), [shape_whole(record) for record in _ordered(records, reverse)], output)
        else:
            put_rows(_COLUMNS, [row_of(opened, record) for record in _ordered(records, reverse)], output)


def _tell_kinds(kind: str) -> None:
    """Say that no record is of a kind, and where it is a type, or no kind at all, what was meant."""
    from braid.ledger.record.lattice import TYPES
    from braid.ledger.record.record import BODY_TYPES

    hint = f"kinds are {', '.join(BODY_TYPES)}" if kind not in BODY_TYPES else None
    if kind in TYPES:
        hint = f"{kind} is a type of experience: braid sql \"FROM experiences WHERE type = '{kind}'\""
    say(f"no record is of kind {kind!r}", hint)


def _ordered(items: list[Any], reverse: bool) -> list[Any]:
    return items[::-1] if reverse else items


def show(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A record's id, or wal_000042.", show_default=False)
    ],
    *,
    forgotten: Annotated[
        bool,
        typer.Option("--include-forgotten", "--forgotten", help="Show it even when it is forgotten."),
    ] = False,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    envelope: Annotated[
        bool, typer.Option("--envelope", help="Its signed envelope, byte for byte; erased ones too.")
    ] = False,
    output: Annotated[
        Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")
    ] = "table",
    store: StoreOption = None,
) -> None:
    """Show a record, verified; or a transaction.

    With --valid-at, of its claims those that held then; what supersedes it is told on stderr.

    \b
    Examples:
      braid show exp_2025-05-17T09:00:00Z_0000000300ab
      braid show exp_2025-05-17T09:00:00Z_0000000300ab --as-of 2025-06-01 --valid-at 2025-05-20
      braid show exp_2025-05-17T09:00:00Z_0000000300ab -o json
      braid show wal_000002 -o json
    """
    from braid.ledger.record.shape import shape_transaction, shape_whole

    with reading(store) as opened:
        if match := _WAL.fullmatch(id):
            start = first_of(opened, int(match[1]))
            batch = next(iter(opened.reader.entries(start)))
            shown = shape_transaction(int(match[1]), [entry.record for entry in batch])
        elif envelope:
            index = opened.reader.index_of(id)
            _check_names(opened, index, id)
            put_bytes(opened.reader.stored_envelope(index))
            return
        else:
            when = None if as_of is None else index_or_instant(as_of)
            record = _record(opened, id, when, forgotten)
            shown = shape_whole(record)
            if when is None:
                _tell_standing(opened, record)
            if valid_at is not None:
                narrow(record, shown, instant(valid_at))
                _tell_successors(opened, record, when)
        if output == "json":
            put_json(shown)
        else:
            _put_members(shown)


def _record(store: "Store", id: str, when: "int | datetime | None", forgotten: bool) -> "Record":
    if isinstance(when, int):
        return store.get(id, as_of=when, include_forgotten=forgotten)
    return store.get(id, as_of_time=when, include_forgotten=forgotten)


def _tell_standing(store: "Store", record: "Record") -> None:
    """Say what later records made of this one: a support of it erased, its key compromised."""
    control = store.reader.control
    if by := control.weakened.get(record.index):
        say(f"something that it rested on was erased by {store.reader.envelope(by).id}")
    life = control.keys.get(record.envelope.key)
    if life and life.disputed(record.index):
        say(f"{record.id} is disputed: {life.id} was compromised since {life.compromised_since}")


def _tell_successors(store: "Store", record: "Record", when: "int | datetime | None") -> None:
    from braid.ledger.read.prefix import size_at

    size = len(store) if when is None else size_at(store.reader, when)
    for id in successors(store, record, size):
        say(f"it was corrected: {id} stands in its place")


def _check_names(store: "Store", index: int, id: str) -> None:
    from braid.ledger.errors import UnknownRecordError

    named = store.reader.envelope(index).id
    if named != id:
        raise UnknownRecordError(f"{id}: no such record; index {index} is {named}")


def _put_items(items: Any, pad: str) -> None:
    for item in items:
        put(f"{pad}  - {line(item) if isinstance(item, str) else to_json(item)}")


def _put_members(members: dict[str, Any], depth: int = 0) -> None:
    """Write nested members as indented lines; empty ones are left out."""
    pad = "  " * depth
    for name, value in members.items():
        if value in (None, "", [], {}):
            continue
        label = line(str(name))
        if isinstance(value, dict):
            put(f"{pad}{label}:")
            _put_members(cast("dict[str, Any]", value), depth + 1)
        elif isinstance(value, list):
            put(f"{pad}{label}:")
            _put_items(value, pad)
        elif isinstance(value, str):
            text = clean(value).replace("\n", f"\n{pad}  ")
            put(f"{pad}{label}: " + (f"\n{pad}  {text}" if "\n" in text else text))
        else:
            put(f"{pad}{label}: {to_json(value)}")
