"""`braid export --pseudonymise`: the tables as Parquet without names, with a data card."""

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from braid.tools.cli.destination import new_folder
from braid.tools.cli.output import many, say

if TYPE_CHECKING:
    from braid.store import Store
    from braid.tools.datacard import CardTable
    from braid.views.duck.pseudonym import Pseudonyms
    from braid.views.duck.schema import Table
    from braid.views.duck.tables import OpenTables


def pseudonymise(store: "Store", folder: Path, key_file: Path | None, *, keep_text: bool) -> None:
    """Write tables and card into a new folder, which is there whole or not at all. Raises ValueError, OSError."""
    from braid.views.duck.pseudonym import Pseudonyms

    if key_file is not None and folder.resolve() in key_file.resolve().parents:
        raise ValueError(f"{key_file} would go along with the data; keep the key elsewhere")
    with new_folder(folder) as partial, store.views.tables() as opened:
        key = os.urandom(32) if key_file is None else _key_in(key_file)
        rows = _write(opened, partial, Pseudonyms(key), thrown_away=key_file is None, keep_text=keep_text)
    say(
        f"{many(rows, 'row')} in {folder}; read {folder / 'DATACARD.md'} before you give it away",
        None
        if key_file
        else "the key was thrown away: no later export will have the same pseudonyms (--key-file)",
    )


def _key_in(path: Path) -> bytes:
    """Return the key in a file, 64 hexadecimal digits; where there is no file, make one with a new key."""
    try:
        text = path.read_text("ascii").strip()
    except FileNotFoundError:
        text = os.urandom(32).hex()
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{text}\n")
        say(f"{path} holds a new key: who has it can test guesses; keep it away from the data")
    except UnicodeDecodeError:
        text = ""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise ValueError(f"{path} holds no key: 64 hexadecimal digits, as `openssl rand -hex 32` makes them")
    return key


def _write(
    opened: "OpenTables", folder: Path, names: "Pseudonyms", *, thrown_away: bool, keep_text: bool
) -> int:
    """Write every table, then the card; return the number of rows."""
    import braid
    from braid.tools.datacard import KEPT_TEXT, LIMITS, Card, to_json, to_markdown
    from braid.views.duck.pseudonym import GIVEN

    span = _Span()
    tables = [_write_table(opened, table, folder, names, span, keep_text=keep_text) for table in GIVEN]
    card = Card(
        made_at=datetime.now(UTC).replace(microsecond=0),
        made_by=f"braid {braid.__version__}",
        position=opened.stamp.position,
        root=opened.stamp.root,
        earliest=span.earliest,
        latest=span.latest,
        pseudonyms="kind_ and 128 bits of BLAKE3(key, kind, value): a name has the same pseudonym in every table",
        key=f"mark {names.mark}; "
        + ("made for this export and thrown away" if thrown_away else "kept in a file"),
        text="kept" if keep_text else "left out",
        tables=tables,
        limits=[*LIMITS, *([KEPT_TEXT] if keep_text else [])],
    )
    (folder / "datacard.json").write_bytes(to_json(card))
    (folder / "DATACARD.md").write_text(to_markdown(card), encoding="utf-8")
    return sum(table.rows for table in tables)


class _Span:
    """When the first and the last thing happened."""

    earliest: datetime | None = None
    latest: datetime | None = None

    def take(self, batch: Any) -> None:
        import pyarrow.compute as _pc

        pc: Any = _pc
        if "happened_at" not in batch.schema.names or not batch.num_rows:
            return
        found = pc.min_max(batch.column("happened_at")).as_py()
        if found["min"] is not None:
            first, last = found["min"].replace(tzinfo=UTC), found["max"].replace(tzinfo=UTC)
            self.earliest = min(first, self.earliest or first)
            self.latest = max(last, self.latest or last)


def _write_table(
    opened: "OpenTables", table: "Table", folder: Path, names: "Pseudonyms", span: _Span, *, keep_text: bool
) -> "CardTable":
    import pyarrow.parquet as _pq

    from braid.tools.datacard import CardColumn, CardTable
    from braid.views.duck.arrow import pa, schema_of
    from braid.views.duck.pseudonym import left

    pq: Any = _pq
    columns = left(table, keep_text=keep_text)
    schema = pa.schema([schema_of(table).field(column.name) for column, _ in columns])
    path = folder / f"{table.name}.parquet"
    rows = 0
    with pq.ParquetWriter(str(path), schema) as writer:
        for batch in opened.batches(table):
            span.take(batch)
            writer.write_batch(names.conceal(table, batch, keep_text=keep_text).cast(schema))
            rows += batch.num_rows
    stay = {column.name for column, _ in columns}
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return CardTable(
        table.name,
        path.name,
        rows,
        path.stat().st_size,
        sha256,
        table.comment,
        [
            CardColumn(column.name, column.type, " ".join(treatment).strip(), column.comment)
            for column, treatment in columns
        ],
        [column.name for column in table.columns if column.name not in stay],
    )
