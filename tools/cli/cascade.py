"""What an erasure would take, and what it took, as a person reads it."""

from typing import TYPE_CHECKING, Any

from braid.tools.cli.output import Format, many, put_fields, put_json, put_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from braid.ledger.erase.cascade import Cascade
    from braid.ledger.erase.erasure import Certificate
    from braid.store import Store


def _rows(store: "Store", cascade: "Cascade") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for fate, why, named in (
        ("erase", "asked for", cascade.asked),
        ("erase", "derived from these alone", cascade.derived),
        ("keep", "has other support", cascade.kept),
    ):
        for one in named:
            envelope = store.reader.envelope(one.index)
            rows.append(
                {
                    "fate": fate,
                    "index": one.index,
                    "id": one.id,
                    "type": envelope.type or envelope.kind,
                    "why": why,
                }
            )
    return rows


def put_cascade(store: "Store", cascade: "Cascade", output: Format) -> None:
    """Write what an erasure takes and what it weakens, a record a row."""
    put_rows(("fate", "index", "id", "type", "why"), _rows(store, cascade), output)


def weight_of(cascade: "Cascade") -> str:
    """Return how much an erasure takes, in words."""
    erased, derived, kept = len(cascade.erased), len(cascade.derived), len(cascade.kept)
    return f"{many(erased, 'record')} to erase ({derived} of them derived), {kept} kept but weakened"


def put_certificates(certificates: "Sequence[Certificate]", output: Format) -> None:
    """Write what was erased, as its certificates say."""
    if output == "json":
        from braid.wire import to_builtins

        put_json(to_builtins(certificates))
        return
    for one in certificates:
        fields = {
            "certificate": one.id,
            "tombstone": one.tombstone,
            "erased": one.records,
            "kept, weakened": one.kept,
            "done": ", ".join(one.done),
            "files": len(one.files),
        }
        put_fields(fields, output)
