"""`braid export` and `braid import`: copies that leave, records that come."""

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import reading, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.options import Adopt, DryRun, FormatOption, StoreOption
from braid.tools.cli.output import Format, line, many, put_bytes, put_fields, say
from braid.tools.cli.rejects import Skips
from braid.tools.cli.verify import log_key
from braid.wire import to_builtins

PANEL = "Move"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(export)
    app.command("import", rich_help_panel=PANEL)(import_)


def export(
    dest: Annotated[
        Path | None, typer.Argument(help="The new folder; with --subject also FILE.zip.", show_default=False)
    ] = None,
    *,
    audit: Annotated[
        bool, typer.Option("--audit", help="Leave out vault, private keys and projections.")
    ] = False,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write records as JSON lines instead; `-` writes to stdout.",
            show_default=False,
        ),
    ] = None,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="With --jsonl: the forgotten ones too.")
    ] = False,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="All that is held about one: user_id, agent_id, run_id, project_id, session_id, actor.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --subject: only count what would be given.")
    ] = False,
    pseudonymise: Annotated[
        bool,
        typer.Option("--pseudonymise", help="Tables as Parquet, names as keyed hashes, with a data card."),
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="With --pseudonymise: the key, made where there is none; else one is thrown away.",
            show_default=False,
        ),
    ] = None,
    keep_text: Annotated[
        bool, typer.Option("--keep-text", help="With --pseudonymise: texts as they are.")
    ] = False,
    dsse: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="One record's signed DSSE envelope, as it is stored.", show_default=False
        ),
    ] = None,
    in_toto: Annotated[
        str | None,
        typer.Option(
            "--in-toto", metavar="ID", help="An in-toto Statement on one record, signed.", show_default=False
        ),
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Copy the store: a backup, an auditor's copy, JSON lines, or all that is held about one person.

    It reaches as far as the signed head. With --subject (several must all hold) that person's records, what was
    derived from them, media, a page to read, and proofs that `braid check-proof` checks go into a folder or a zip; of
    other people's records, ids only. With --pseudonymise the tables go into a folder for study: docs/sql.md. --dsse and
    --in-toto give one record to tools that know nothing of Braid; `braid prove` is the third of that kind.

    \b
    Examples:
      braid export /mnt/backup/memory
      braid export --audit audit-copy
      braid export --jsonl memory.jsonl
      braid export --subject user_id=maya --dry-run
      braid export --subject user_id=maya maya.zip
      braid export --pseudonymise open-data
      braid export --dsse exp_2025-05-17T09:00:00Z_0000000300ab record.dsse.json
      braid export --in-toto exp_2025-05-17T09:00:00Z_0000000300ab statement.dsse.json
    """
    for place in (dest, jsonl if str(jsonl) != "-" else None, key_file):
        destination.outside(place, store)
    if dsse or in_toto:
        if (
            audit
            or jsonl
            or forgotten
            or subject
            or dry_run
            or pseudonymise
            or key_file
            or keep_text
            or (dsse and in_toto)
        ):
            raise ValueError(
                "--dsse and --in-toto are of one record: they go with its id and a new file alone"
            )
        _export_record(dsse, in_toto, dest, store)
        return
    if pseudonymise:
        if audit or jsonl or forgotten or subject or dry_run or dest is None:
            raise ValueError("--pseudonymise goes with a new folder, --key-file and --keep-text alone")
        _export_pseudonyms(dest, store, key_file, keep_text=keep_text)
        return
    if key_file or keep_text:
        raise ValueError("--key-file and --keep-text go with --pseudonymise")
    if subject:
        if audit or jsonl or forgotten:
            raise ValueError(
                "--subject goes alone: what is forgotten is always in it, and it has its own form"
            )
        _export_subject(subject, dest, store, dry_run=dry_run, output=output)
        return
    if (dest is None) == (jsonl is None) or dry_run:
        raise ValueError("give a new folder, or --jsonl FILE; --dry-run goes with --subject")
    if dest is not None and dest.suffix.lower() == ".zip":
        raise ValueError(
            f"--subject alone writes a zip: without it {dest} would be a folder; name it otherwise"
        )
    if jsonl is not None:
        _export_lines(jsonl, store, forgotten=forgotten)
    elif dest is not None:
        _export_copy(dest, store, audit=audit)


def _export_record(dsse: str | None, in_toto: str | None, dest: Path | None, store: Path | None) -> None:
    """Write one record as others read it, to a file or to stdout."""
    with reading(store) as opened:
        index = opened.get(dsse or in_toto or "", include_forgotten=True).index
        if dsse:
            data = opened.reader.stored_envelope(index) + b"\n"
        else:
            from braid.ledger.export.statement import signed_statement

            data = signed_statement(opened.reader, index)
    if dest is None:
        put_bytes(data)
        return
    with destination.new_file(dest) as file:
        file.write(data)


def _export_pseudonyms(dest: Path, store: Path | None, key_file: Path | None, *, keep_text: bool) -> None:
    from braid.tools.cli import pseudonymise as pseudonymising

    with reading(store) as opened:
        pseudonymising.pseudonymise(opened, dest, key_file, keep_text=keep_text)


def _export_copy(dest: Path, store: Path | None, *, audit: bool) -> None:
    with reading(store) as opened:
        files = opened.export_copy(str(dest), audit=audit)
        size = opened.reader.published.size
    say(
        f"{many(len(files), 'file')}, {many(size, 'record')}, in {dest}"
        + ("" if audit else "; it holds keys and vault: guard it well")
    )


def _export_lines(file: Path, store: Path | None, *, forgotten: bool) -> None:
    from braid.exchange import lines as exchange

    with reading(store) as opened:
        if str(file) == "-":
            count = exchange.export_jsonl(opened, sys.stdout, include_forgotten=forgotten)
        else:
            if os.path.lexists(file) and not destination.is_stream(file):
                raise FileExistsError(f"{file} exists; choose another name")
            with destination.new_file(file) as stream, TextIOWrapper(stream, "utf-8", newline="\n") as text:
                count = exchange.export_jsonl(opened, text, include_forgotten=forgotten)
    say(f"{many(count, 'record')}, in plain text")


def _export_subject(
    named: list[str], dest: Path | None, store: Path | None, *, dry_run: bool, output: Format
) -> None:
    pairs = [pair.partition("=") for pair in named]
    if bad := next((name for name, equals, value in pairs if not (equals and value)), None):
        raise ValueError(f"--subject {bad!r}: give NAME=VALUE, such as user_id=maya")
    who = {name: value for name, _, value in pairs}
    if len(who) < len(pairs):
        raise ValueError("--subject names one thing twice")
    if dest is None and not dry_run:
        raise ValueError("give a new folder, or FILE.zip")
    if unknown := set(who) - {"user_id", "agent_id", "run_id", "project_id", "session_id", "actor"}:
        raise ValueError(
            f"unknown {unknown.pop()}: a subject is named by user_id, agent_id, run_id, project_id, session_id or actor"
        )
    with reading(store) as opened:
        counts = opened.export_subject(
            None if dry_run else str(dest),
            user_id=who.get("user_id"),
            agent_id=who.get("agent_id"),
            run_id=who.get("run_id"),
            project_id=who.get("project_id"),
            session_id=who.get("session_id"),
            actor=who.get("actor"),
        )
    put_fields(to_builtins(counts), output)
    if dry_run:
        say("nothing was written (--dry-run)")
        return
    say(
        f"{dest} holds a person's words, in plain text: hand it over by a safe way",
        f"it is checked with: braid check-proof {dest} --key VKEY",
    )
    if counts.shared:
        say(
            f"{many(counts.shared, 'record')} of it also derived from other people's: look at them before handing over"
        )


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="What `export --jsonl` or `export --subject` wrote; `-` reads stdin.", show_default=False
        ),
    ],
    *,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="VKEY",
            help="The other log's public key, or a file that holds it.",
            show_default="the one in the export",
        ),
    ] = None,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Append the records of another store's export, with what shows where they are from.

    Each is checked first: that its author signed it, that the other log includes it, that its text is what was signed.
    They get new ids and keep the old ones, their times and signatures; importing them again adds nothing.

    \b
    Examples:
      braid import memory.jsonl --dry-run
      braid import memory.jsonl --key "$THEIR_VKEY"
      braid import maya.zip
    """
    from contextlib import nullcontext

    from braid.exchange import lines as exchange

    vkey = log_key(key) if key else None
    stdin = str(file) == "-"
    source = nullcontext(exchange.read_lines(sys.stdin.buffer)) if stdin else exchange.open_lines(file)
    with source as lines, reading(store) if dry_run else writing(store, adopt=adopt) as opened:
        done = opened.import_records(vkey=vkey, dry_run=dry_run, lines=lines)
    with Skips() as skips:
        for number, reason in sorted([*done.refused, *done.loose]):
            skips.tell(f"{line(str(file))}:{number}", reason)
    if skips.path:
        say(f"{many(skips.count, 'line')} {'is' if skips.count == 1 else 'are'} told of{skips.where()}")
    if vkey is None:
        say(
            "the key in the export was believed, so what it brings counts as an outsider's words; "
            "--key VKEY holds it against the one that you were given, and keeps whose words they are"
        )
    name = "would be added" if dry_run else "added"
    put_fields({name: done.added, "already known": done.known, "skipped": len(done.refused)}, output)
    if done.refused or done.loose:
        raise typer.Exit(FINDINGS)
