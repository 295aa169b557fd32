"""`braid verify`, `prove` and `check-proof`: the log is what was signed, or where it is not."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import guard_of, reading, where
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import in_log, put, put_bytes, put_fields, say
from braid.tools.cli.progress import progress

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader

PANEL = "Audit"
ReportForm = Literal["table", "json"]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(verify)
    app.command(rich_help_panel=PANEL)(prove)
    app.command("check-proof", rich_help_panel=PANEL)(check_proof)


def verify(
    *,
    deep: Annotated[
        bool, typer.Option("--deep", help="Unseal every body, check actors, compare projections.")
    ] = False,
    rederive: Annotated[
        bool, typer.Option("--rederive", help="Make every view, claim and stance again, and compare.")
    ] = False,
    since: Annotated[
        bool, typer.Option("--since", help="Only what came after the last clean verification.")
    ] = False,
    hash_only: Annotated[bool, typer.Option("--hash-only", help="Hashes and tree; no signatures.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.html", help="Also write a report.", show_default=False),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where --since keeps what was verified.",
            show_default="beside the fork guard",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="VKEY",
            help="The log key that you pinned, or a file that holds it.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Only that no memory of this scope is left out (init --scope-chains).",
            show_default=False,
        ),
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Only that each snapshot is what the log gives.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes.", show_default="all cores")] = None,
    output: Annotated[ReportForm, typer.Option("--output", "-o", help="How to show it.")] = "table",
    store: StoreOption = None,
) -> None:
    """Verify the whole log from its files.

    Frames, envelopes, signatures, tree, signed heads, fork guard, links, lattice, erasures.

    Exit code 0: clean; 1: findings; 2: could not look. Nothing is changed.

    \b
    Examples:
      braid verify
      braid verify --deep --report audit.html
      braid verify --since -o json
      braid verify --rederive
      braid verify --scope user_id=maya
      braid verify --snapshot
    """
    if snapshot:
        if deep or rederive or since or hash_only or html or state or key or scope:
            raise ValueError("--snapshot goes alone: it looks at the snapshots, not at the log's signatures")
        from braid.tools.cli import snapshots

        snapshots.verify(store, output)
        return
    if scope is not None:
        if deep or since or hash_only or html or state or key:
            raise ValueError("--scope goes alone: it looks at one chain, not at the log's signatures")
        _verify_scope(scope, output, store)
        return
    from braid.tools.cli.audit import audit, keep_state, put_report, read_state

    destination.outside(html, store)
    destination.outside(state, store)
    vkey = log_key(key) if key else None
    path = where(store)
    guard = guard_of(path)
    kept = state or guard.path.with_suffix(".verified")
    with progress("verifying") as bar:
        report = audit(
            path,
            guard,
            deep=deep,
            rederive=rederive,
            hash_only=hash_only,
            since=read_state(kept) if since else None,
            workers=workers,
            vkey=vkey,
            bar=bar,
        )
    if report.state is not None and not hash_only:  # before anything is told: who reads it may have gone away
        keep_state(kept, report.state, named=since or state is not None)
    if output == "json":
        put(report.to_json().decode())
    else:
        put_report(report)
    if html:
        from braid.tools.page.audit import render_html

        with destination.new_file(html) as file:
            file.write(render_html(report).encode())
        say(f"the report is in {html}")
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _verify_scope(scope: str, output: ReportForm, store: Path | None) -> None:
    """Check the chain of one scope, and end with 1 where a record is left out."""
    from msgspec import to_builtins

    from braid.ledger.read.scopechain import check_scope

    name, equals, value = scope.partition("=")
    if not (equals and value):
        raise ValueError(f"--scope {scope!r}: give NAME=VALUE, such as user_id=maya")
    with reading(store) as opened:
        chained = opened.reader.control.scope_chains
        report = check_scope(opened.reader, name, value)
    put_fields(to_builtins(report), output)
    if not chained:
        say("this store keeps no scope chains (`braid init --scope-chains`): an omission would not show")
    if report.problems:
        raise typer.Exit(FINDINGS)


def prove(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="The records to prove.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", "-O", metavar="FILE", help="Where the proof goes.", show_default="stdout"
        ),
    ] = None,
    envelope: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the record's signed envelope.", show_default=False),
    ] = None,
    *,
    under: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Under this signed head (`cosign`).", show_default="the newest"),
    ] = None,
    original: Annotated[
        bool,
        typer.Option("--original", help="Of an imported record: that it is in the log it came from."),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write a proof that a record is in the log.

    It is a c2sp.org/tlog-proof file, checked offline, without the store.
    The record's signed envelope goes along as `extra`; it holds no content, and vouches for itself: its hash
    must lead to the signed root. Several records get one multi-proof, in which no node of the tree is twice.

    \b
    Examples:
      braid prove exp_2025-05-17T09:00:00Z_0000000300ab -O maya.tlog-proof
      braid prove exp_2025-05-17T09:00:00Z_0000000300ab exp_2025-05-17T09:00:02Z_0000000500ab -O two.multi-proof
      braid check-proof maya.tlog-proof --key "$VKEY"
      braid prove --under head.cosigned exp_2025-05-17T09:00:00Z_0000000300ab -O maya.tlog-proof
      braid prove --original exp_2026-02-01T09:00:00Z_0000000400ab -O original.tlog-proof
    """
    from braid.ledger.tree.proof import format_proof, parse_proof

    destination.outside(out, store)
    destination.outside(envelope, store)
    if len(ids) > 1:
        if original or envelope:
            raise typer.BadParameter("--original and --envelope are for one record")
        _prove_many(ids, out, under, store)
        return
    id = ids[0]
    with reading(store) as opened:
        if original:
            from braid.ledger.export.evidence import check_imported

            kept = check_imported(opened.get(id, include_forgotten=True).members)
            id, read, leaf = kept.id, parse_proof(kept.proof.encode()), kept.envelope.encode()
        else:
            read = parse_proof(opened.prove(id) if under is None else _prove_under(opened.reader, id, under))
            leaf = opened.reader.stored_envelope(read.index)
        data = format_proof(read.index, read.hashes, read.checkpoint, leaf)
    if envelope:
        with destination.new_file(envelope) as file:
            file.write(leaf)
    if out:
        with destination.new_file(out) as file:
            file.write(data)
        say(f"{out} shows anywhere that {id} is in the log: braid check-proof {out} --key VKEY")
    else:
        put_bytes(data)


def check_proof(
    file: Annotated[
        Path,
        typer.Argument(
            help="The proof, or the folder or zip of `export --subject`; `-` reads stdin.", show_default=False
        ),
    ],
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="VKEY",
            help="The log's public key, or a file that holds it.",
            show_default="that of the policy",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="Witnesses whose cosignatures the head must have.",
            show_default=False,
        ),
    ] = None,
    leaf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The record's signed envelope.", show_default="the proof's own extra"
        ),
    ] = None,
    output: FormatOption = "table",
) -> None:
    """Check a proof offline: no store, only the log's public key.

    With --policy its head must also have the cosignatures of a quorum of witnesses. Exit code 1 when it does not hold.

    \b
    Examples:
      braid check-proof maya.tlog-proof --key "braid.local/abc+0a1b2c3d+AZ..."
      braid check-proof maya.tlog-proof --key log.vkey -o json
      braid check-proof maya.tlog-proof --policy witnesses.policy
      braid check-proof maya.zip --key log.vkey
    """
    import sys

    from braid.ledger.errors import EnvelopeError, EvidenceError, NoteError, ProofError, RefusedLogError
    from braid.tools.cli.proofs import check, pinned_key, read_policy

    stated = read_policy(policy) if policy else None
    vkey = pinned_key(log_key(key) if key else None, stated)
    try:
        if str(file) != "-" and (file.is_dir() or file.suffix == ".zip"):
            from braid.exchange.check import check_export

            if stated is not None:
                raise ValueError("a policy is for one proof: check those of an export one by one")
            fields = check_export(file, str(vkey))
        else:
            proof = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
            fields = check(proof, leaf.read_bytes() if leaf else None, vkey, stated)
    except (ProofError, NoteError, EnvelopeError, EvidenceError, RefusedLogError) as error:
        say(
            f"the proof does not hold: {error}",
            "ask for a new proof (`braid prove ID`) and compare the key that is pinned",
        )
        raise typer.Exit(FINDINGS) from None
    put_fields(fields, output)


def _prove_many(ids: list[str], out: Path | None, under: Path | None, store: Path | None) -> None:
    """Write one proof of several records."""
    with reading(store) as opened:
        if under is None:
            data = opened.prove_many(ids)
        else:
            from braid.ledger.publish.remote import open_head

            head = open_head(under.read_bytes(), opened.reader.vkey, whole=True)
            indexes = {opened.get(id, include_forgotten=True).index for id in ids}
            data = opened.reader.prove_many(indexes, head.checkpoint, head.note)
    if not out:
        put_bytes(data)
        return
    with destination.new_file(out) as file:
        file.write(data)
    say(f"{out} shows anywhere that {in_log(len(set(ids)))}: braid check-proof {out} --key VKEY")


def _prove_under(reader: "Reader", id: str, under: Path) -> bytes:
    """Return the proof of a record under a head that was signed before; it must be one of this very log."""
    from braid.ledger.publish.remote import open_head

    head = open_head(under.read_bytes(), reader.vkey, whole=True)
    return reader.prove_under(reader.index_of(id), head.checkpoint, head.note)


def log_key(text: str) -> str:
    """Return the log key that --key gives, as such or in a file; a mistyped one is misuse, not a finding."""
    from braid.ledger.tree.note import parse_vkey

    given = read_key(text)
    try:
        parse_vkey(given)
    except ValueError as error:
        raise typer.BadParameter(
            f"{error}; give the log's public key (`braid status` shows it), or a file that holds it",
            param_hint="--key",
        ) from None
    return given


def read_key(text: str) -> str:
    """Return a public key that was given as such, or as the name of a file that holds it."""
    return (Path(text).read_text("utf-8") if _is_file(text) else text).strip()


def _is_file(text: str) -> bool:
    try:
        return "+" not in text and os.path.exists(text)  # noqa: PTH110 - a vkey is no path, and may be too long for one
    except ValueError:
        return False
