"""What an erasure would take, and what it took, as a person reads it."""

from typing import TYPE_CHECKING, Any

from braid.tools.cli.output import Format, many, put_fields, put_json, put_rows, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from braid.admin.retention import Overdue
    from braid.ledger.erase.cascade import Cascade
    from braid.ledger.erase.erasure import Certificate
    from braid.store import Store

_COLUMNS = ("fate", "index", "id", "type", "why")
_WHY: dict[str, str] = {
    "forgotten": "was forgotten",
    "history": "was corrected",
    "jobs": "is done",
    "dead": "is dead",
}
_SHOWN = 5
"""How many ids a sentence names."""


def _rows(store: "Store", cascade: "Cascade") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for fate, why, named in (
        ("erase", "asked for", cascade.asked),
        ("erase", "derived from these alone", cascade.derived),
        ("keep", "has other support", cascade.kept),
        ("again", "what stands in its place goes", cascade.again),
        ("stay", "corrects what goes", cascade.goes_on),
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
    """Write what an erasure takes, what it weakens, and what stays of its memories, a record a row."""
    put_rows(_COLUMNS, _rows(store, cascade), output)


def put_due(store: "Store", due: "Sequence[Overdue]", cascade: "Cascade", output: Format) -> None:
    """Write what is past its window: the records with all that goes with them, then the jobs."""
    why = {one.index: _WHY[one.what] for one in due if one.index is not None}
    rows = [{**row, "why": why.get(row["index"], row["why"])} for row in _rows(store, cascade)]
    jobs = [
        {"fate": "drop", "index": None, "id": one.id, "type": "job", "why": _WHY[one.what]}
        for one in due
        if one.index is None
    ]
    put_rows(_COLUMNS, [*rows, *jobs], output)


def weight_of(cascade: "Cascade") -> str:
    """Return how much an erasure takes, in words."""
    erased, derived, kept = len(cascade.erased), len(cascade.derived), len(cascade.kept)
    taken = f"{many(erased, 'record')} to erase ({derived} of them derived)"
    return f"{taken}, {kept} kept but weakened{_standing(cascade)}"


def _standing(cascade: "Cascade") -> str:
    said = (again_of([one.id for one in cascade.again]), goes_on_of(cascade))
    return "".join(f"; {one}" for one in said if one)


def goes_on_of(cascade: "Cascade") -> str:
    """Return what of the memories stays, in words; nothing where nothing does."""
    named = [one.id for one in cascade.goes_on]
    if not named:
        return ""
    if len(named) == 1:
        return f"{named[0]} corrects what goes, and stays: name it too, or give --whole"
    return f"{_listed(named)} correct what goes, and stay: name them too, or give --whole"


def again_of(ids: "Sequence[str]") -> str:
    """Return what stands again, in words; nothing where nothing does."""
    if not ids:
        return ""
    those = "it" if len(ids) == 1 else "them"
    return f"{_listed(ids)} {'stands' if len(ids) == 1 else 'stand'} again, since what replaced {those} goes"


def _listed(ids: "Sequence[str]") -> str:
    return ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if ids[_SHOWN:] else "")


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
        if again := again_of(one.stands_again):
            say(again)
