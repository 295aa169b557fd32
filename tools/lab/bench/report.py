"""The figures as the table of docs/performance.md, with the machine and the day they were taken on."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from braid.tools.bench.measure import Figure
from braid.tools.bench.table import number, verdict

BEGIN: Final = "<!-- figures: begin (written by `make bench ARGS='--report docs/performance.md'`) -->"
END: Final = "<!-- figures: end -->"
BOUND_BY: Final = {
    "append.tx1000": "signing; then sealing, encoding and the signed heads",
    "append.always": "one fdatasync and one signature",
    "append.shared": "hand-offs between threads; one fdatasync for all who wait",
    "append.interval": "signing",
    "append.none": "signing",
    "verify.full": "signature checks on all cores",
    "verify.hash": "SHA-256 and walking the frames",
    "replay.duckdb": "unsealing and decoding, then DuckDB's ingest",
    "catch_up.one": "one transaction of DuckDB and one query",
    "catch_up.record": "as replay, in a small batch",
    "recall.ingest": "signing and sealing; tokens to vectors; the word index",
    "recall.p95": "both raw queries at once, then signals of some hundred candidates in Python",
    "recall.p95.exact": "the same; one product of a matrix grows with the log",
    "recall.first": "500 turns taken into the index, and its opening; the libraries are loaded before",
    "recall.beside": "as `recall.p95`; now and then a hundred turns are taken into the index",
    "sql.beside": "one transaction of DuckDB and one query; opening and closing the file",
    "recall.rss": "LanceDB and Arrow themselves, their caches, the model",
    "open": "the right-edge tiles, the control chain, the tail",
    "open.readonly": "the same",
    "get.warm": "reading, unsealing; one leaf hash and one digest",
    "get.cold": "a tile of 256 hashes checked for one record",
    "prove": "the hashes beside the path, from tiles",
    "prove.many": "reading the envelopes; a dictionary look-up a hash",
    "prove.many.cold": "nearly every tile read and hashed",
    "publish": "a leaf hash and a node hash a record, one core; a sync a bundle of 256",
    "trace": "links that are kept by spans, one verified read a record",
    "erase.one": "syncs: vault, tombstone, blanking, certificate, heads",
    "erase.plan.first": "every envelope behind the record, once in a log's life",
    "erase.plan": "the envelopes of the span that is not whole yet; 10 bytes a link of the others",
    "erase.thousandth": "one reading of the envelopes, then syncs that all share",
    "overhead": "base64 of the envelope, padding, tiles, index",
    "stance.label": "visiting each antecedent twice: counting it, settling it",
    "stance.retract": "what rested on it, not the network",
    "stance.pool": "log-odds and one look-up for each occurrence",
    "cli.cold": "the interpreter",
    "cli.status": "imports of Typer and the ledger",
    "cli.recall": "imports of numpy, pyarrow and the extension of LanceDB; reading the model",
    "cli.ask": "the same, and DuckDB",
    "import.cold": "imports of the ledger",
}


def machine() -> str:
    """Return one line on what the figures were taken on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return ", ".join(
        (
            _processor(),
            f"{os.cpu_count()} cores",
            f"{memory:.0f} GB",
            f"{platform.system()} {platform.release()}",
            f"Python {platform.python_version()}",
            f"libsodium of PyNaCl {version('pynacl')}",
            f"DuckDB {version('duckdb')}",
        )
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(
        (line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine()
    )


def section(figures: Sequence[Figure], command: str, now: datetime) -> str:
    """Return the table in Markdown, with command, machine and date."""
    rows = [
        f"`{command}`, {now:%Y-%m-%d}, on {machine()}.",
        "",
        "| figure | n | value | floor | ratio | target, met | bounded by |",
        "|---|--:|--:|--:|--:|---|---|",
    ]
    for figure in figures:
        cells = (
            f"`{figure.name}`",
            f"{figure.n:,}" if figure.n else "",
            f"{number(figure.value)} {figure.unit}",
            f"{number(figure.floor)} ({figure.floor_name})" if figure.floor is not None else "",
            "" if figure.ratio is None else f"{figure.ratio:.2f}",
            verdict(figure),
            BOUND_BY.get(figure.name, ""),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def fill(page: Path, figures: Sequence[Figure], *, command: str, now: datetime | None = None) -> None:
    """Replace what stands between the page's markers; raise ValueError for a page without them."""
    text = page.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the figures: the lines {BEGIN!r} and {END!r}")
    table = section(figures, command, now or datetime.now(UTC))
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")
