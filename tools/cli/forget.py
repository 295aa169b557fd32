"""`braid forget`, `recover`, `erase`, `retain` and `compact`: from hidden to gone."""

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from braid.ledger.errors import ForgottenError
from braid.ledger.record.scope import SCOPES
from braid.tools.cli.access import braid_again, reading, writing
from braid.tools.cli.cascade import again_of, goes_on_of, put_cascade, put_certificates, put_due, weight_of
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    DryRun,
    FormatOption,
    Ids,
    ProjectId,
    Reason,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import Format, many, put, put_json, put_rows, say
from braid.tools.cli.progress import progress
from braid.tools.cli.recall import json_object
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.ledger.erase.cascade import Cascade
    from braid.memories.operations import Forgotten, Preview
    from braid.store import Store

PANEL = "Forget"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command in (forget, recover, erase, retain, certificate, compact):
        app.command(rich_help_panel=PANEL)(command)


def forget(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID…]", help="Record ids; with --token, of those shown only these.", show_default=False
        ),
    ] = None,
    *,
    reason: Reason = None,
    query: Annotated[
        str | None,
        typer.Option("--query", help="Show what says this, and a token that forgets it.", show_default=False),
    ] = None,
    meaning: Annotated[
        bool, typer.Option("--meaning", help="With --query: all that fits, not only its words.")
    ] = False,
    topic: Annotated[
        bool, typer.Option("--topic", help="With --query: all that has its words, in whatever order.")
    ] = False,
    filters: Annotated[
        str | None,
        typer.Option("--filter", metavar="JSON", help="With --query: what must hold.", show_default=False),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=100, help="With --query: at most so many.")
    ] = 20,
    token: Annotated[
        str | None, typer.Option("--token", help="Forget just what --query has shown.", show_default=False)
    ] = None,
    confirm: Annotated[
        int | None,
        typer.Option("--confirm", min=1, help="With --token: how many, above ten.", show_default=False),
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="Just these records; what one of them corrected stands again.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Pinned ones too.")] = False,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Hide memories and other records from reads, recall and projections, with what was drawn from them alone and the
    answers that quote them.

    By their ids: any id of a memory names all of it, also what it said before it was corrected. --only takes back just
    that record: of a correction, so that what it corrected stands again.
    Or by what they say: --query shows them and a token, and --token forgets just these.
    `recover` brings them back within the retention window.

    \b
    Examples:
      braid forget exp_2025-05-17T09:00:00Z_0000000300ab --reason "asked to"
      braid forget --query "old flat" --user-id maya
    """
    scope = {
        "user_id": user_id,
        "agent_id": agent_id,
        "run_id": run_id,
        "project_id": project_id,
        "session_id": session,
    }
    if (query is not None) + (token is not None) + (bool(ids) and token is None) != 1:
        raise ValueError("name what is meant in one way: record ids, --query, or the --token that it gave")
    if only and not (ids and token is None):
        raise ValueError(
            "--only goes with record ids alone: what --query and --token name are whole memories"
        )
    if query is None:
        _refuse_beside({"--meaning": meaning, "--topic": topic, "--filter": filters}, "--query")
    if token is None:
        _refuse_beside({"--confirm": confirm}, "--token")
        if query is None:
            _refuse_beside(
                _scope_options(scope), "--query or --token: an id names one memory, whosever it is"
            )
    if query is not None:
        with reading(store) as opened:
            shown = opened.preview_forget(
                query,
                match="meaning" if meaning else "topic" if topic else "words",
                filters=json_object(filters, "--filter"),
                limit=limit,
                **scope,
            )
        _put_preview(shown, output, braid_again(store), _scope_again(scope))
        return
    if token is not None and not (reason or "").strip():
        raise ValueError("say why with --reason: it stays in the history; nothing was changed")
    ids = list(dict.fromkeys(ids or ()))
    with _opened(store, adopt=adopt, shared=shared, dry_run=dry_run) as opened:
        if token is not None:
            if dry_run:
                raise ValueError("--query shows what its --token would forget: leave --dry-run out")
            done = opened.forget_previewed(
                token, reason=reason or "", ids=ids or None, confirm=confirm, **scope
            )
            _put_forgotten(done)
            return
        _forget_named(opened, ids, reason=reason, force=force, only=only, dry_run=dry_run)


def _forget_named(
    opened: "Store", ids: list[str], *, reason: str | None, force: bool, only: bool, dry_run: bool
) -> None:
    """Hide records by their ids, or only say what would be hidden."""
    if dry_run:
        opened.plan_erase(*[opened.get(id).id for id in ids])
    try:
        falls = opened.plan_forget(*ids, only=only)
    except ForgottenError:
        if dry_run:
            raise
        put(opened.forget(*ids, reason=reason, only=only))  # refuses where some of them stand
        say("forgotten already: nothing was changed; `braid recover` brings back")
        return
    again = again_of(_standing_again(opened, [*ids, *falls]))
    if dry_run:
        say(f"{_with_falls(ids, falls)} would be hidden (--dry-run)")
    else:
        put(opened.forget(*ids, reason=reason, force=force, only=only))
        say(
            f"{_with_falls(ids, falls)} hidden; `braid recover` brings back within "
            f"{many(opened.reader.control.retention_days, 'day')}, after that `braid retain` erases"
        )
    if again:
        say(again)


def _standing_again(store: "Store", ids: Iterable[str]) -> list[str]:
    """Return what these records stand in the place of, and will stand itself once they are hidden."""
    from braid.ledger.erase.cascade import stands_again

    going = {store.reader.index_of(id) for id in ids}
    return [one.id for one in stands_again(store.reader, going)]


def _opened(
    store: Path | None, *, adopt: bool, shared: bool, dry_run: bool
) -> "AbstractContextManager[Store]":
    return reading(store) if dry_run else writing(store, adopt=adopt, shared=shared)


def _scope_again(scope: Mapping[str, str | None]) -> str:
    """Return the options that name the same scope once more, each quoted for a shell."""
    return "".join(f" {name} {shlex.quote(value)}" for name, value in _scope_options(scope).items())


def _scope_options(scope: Mapping[str, str | None]) -> dict[str, str]:
    """Return the options that name a scope."""
    return {
        "--session" if name == "session_id" else f"--{name.replace('_', '-')}": value
        for name, value in scope.items()
        if value is not None
    }


def _refuse_beside(given: Mapping[str, object], way: str) -> None:
    """Refuse an option that is given and would say nothing, since it goes with another way of naming what is meant."""
    for name, value in given.items():
        if value not in (None, False):
            raise ValueError(f"{name} goes with {way}")


def _put_preview(shown: "Preview", output: Format, braid: str, again: str) -> None:
    """Show what would be forgotten, and how to go on: `braid`, and the options `again` that go with the token."""
    if output == "json":
        put_json(to_builtins(shown))
        return
    put_rows(("id", "version", "pinned", "text"), [to_builtins(one) for one in shown.memories], output)
    left = sum(not one.pinned for one in shown.memories)
    if not left:
        say("nothing would be forgotten")
        return
    number = f" --confirm {shown.confirm}" if shown.confirm else ""
    also = f", and {many(shown.falls, 'record')} with them" if shown.falls else ""
    more = "; there are more: raise --limit" if shown.more else ""
    near = "; none says it word for word" if shown.near else ""
    say(
        f"{_memories(left)} would be hidden{also}{more}{near}",
        f"within ten minutes: {braid} forget --token {shown.token}{again}{number} --reason …",
    )


def _memories(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"


def _put_forgotten(done: "Forgotten") -> None:
    if done.tombstone is not None:
        put(done.tombstone)
    for one in done.skipped:
        say(f"{one.id} stays: {one.why}")
    if done.forgotten:
        say(f"{_memories(len(done.forgotten))} hidden; `braid recover` brings back")
    else:
        say("nothing was hidden: `braid forget --query TEXT` shows what it would be now")


def _with_falls(ids: list[str], falls: Sequence[str]) -> str:
    more = [id for id in falls if id not in ids]
    also = (
        f" and {len(more)} more that {'goes' if len(more) == 1 else 'go'}"
        f" with {'it' if len(ids) == 1 else 'them'}"
        if more
        else ""
    )
    return f"{many(len(ids), 'record')}{also}"


def recover(
    ids: Ids,
    *,
    reason: Reason = None,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Bring forgotten records back.

    \b
    Examples:
      braid recover exp_2025-05-17T09:00:00Z_0000000300ab
    """
    ids = list(dict.fromkeys(ids))
    if dry_run:
        with reading(store) as opened:
            hidden = opened.reader.control.hidden
            for id in ids:
                if opened.get(id, include_forgotten=True).index not in hidden:
                    raise ValueError(f"{id} is not forgotten")
            back = opened.plan_recover(*ids)
        say(f"{_with_falls(ids, back)} would be brought back (--dry-run)")
        return
    with writing(store, adopt=adopt, shared=shared) as opened:
        put(opened.recover(*ids, reason=reason))


def erase(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID…]", help="Record ids.", show_default=False)
    ] = None,
    *,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="All of a scope: user_id, agent_id, run_id, project_id, session_id.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[str | None, typer.Option(help="All of this session.", show_default=False)] = None,
    says: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only what says one of these names, as whole words.", show_default=False
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="All of each memory: what it was corrected to, and what it corrected."),
    ] = False,
    reason: Reason = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Erase records for good, with what derives from them alone.

    Keys are destroyed, bodies blanked, projections rebuilt, and a signed certificate says so.

    What is derived from them alone goes too; what has other support stays and is named. Shows all of it first and asks.
    Give ids, or --where, --session and --says. Several --where must all hold, and with --says one of its names.

    Just the records that you name go. Where that is a correction, what it corrected stands again; --whole takes both.

    Older proofs still verify; ids, times, links and sizes outlive an erasure.

    \b
    Examples:
      braid erase exp_2025-05-17T09:00:00Z_0000000300ab --dry-run
      braid erase exp_2025-05-17T09:00:00Z_0000000300ab --whole
      braid erase --where user_id=maya --reason "request of 3 June" --yes
      braid erase --session 2025-03-24
      braid erase --says "Jonas Keller" --where user_id=maya --dry-run
    """
    _require_ids(ids or ())
    scope = _scope(where or [], session)
    names = tuple(says or ())
    if not ids and not scope and not names:
        raise ValueError("nothing to erase: name record ids, --where, --session or --says")
    if dry_run:
        with reading(store) as opened:
            cascade = opened.plan_erase(*(ids or ()), **scope, says=names, whole=whole)
            put_cascade(opened, cascade, output)
        say(f"{weight_of(cascade)} (--dry-run: nothing was changed)")
        return
    with writing(store, adopt=adopt, shared=shared) as opened:
        cascade = opened.plan_erase(*(ids or ()), **scope, says=names, whole=whole)
        if not cascade.erased:
            say("nothing matches: nothing was erased")
            return
        if not yes:
            _ask(opened, cascade)
        with progress("erasing"):
            certificates = opened.erase(*(one.id for one in cascade.asked), reason=reason, whole=whole)
        put_certificates(certificates, output)
        if stays := goes_on_of(cascade):
            say(stays)


def _require_ids(ids: Iterable[str]) -> None:
    """Refuse a scope that was given where record ids are meant."""
    for id in ids:
        if id.partition("=")[0] in SCOPES:
            raise ValueError(f"{id!r} is a scope: give it as --where {shlex.quote(id)}; nothing was erased")


def _scope(where: list[str], session: str | None) -> dict[str, str]:
    scope: dict[str, str] = {}
    for pair in [*where, *([f"session_id={session}"] if session is not None else [])]:
        name, equals, value = pair.partition("=")
        if not equals or not value:
            raise ValueError(f"--where {pair!r}: give NAME=VALUE, such as user_id=maya")
        if name not in SCOPES:
            raise ValueError(f"unknown scope {name}; known: {', '.join(SCOPES)}")
        if scope.setdefault(name, value) != value:
            raise ValueError(f"{name} can't be {scope[name]!r} and {value!r}: nothing is in both")
    return scope


def _ask(store: "Store", cascade: "Cascade") -> None:
    """Show the cascade and ask; refuse where nobody can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ValueError(f"{weight_of(cascade)}: look with --dry-run, then erase with --yes")
    put_cascade(store, cascade, "table")
    if not typer.confirm(f"{weight_of(cascade)}. Erase for good?", err=True):
        raise ValueError("nothing was erased")


def retain(
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Erase what is past its window: what was forgotten, then what was corrected where the setting history_days says
    so. Then jobs that ended leave the list.

    \b
    Examples:
      braid retain --dry-run
      braid retain
    """
    from braid.ledger.erase.cascade import plan

    if dry_run:
        with reading(store) as opened:
            due = opened.retention_due()
            cascade = plan(opened.reader, [one.index for one in due if one.index is not None])
            put_due(opened, due, cascade, output)
        jobs = _jobs(sum(one.index is None for one in due))
        say(f"{weight_of(cascade)}{f', {jobs} to drop' if jobs else ''} (--dry-run: nothing was changed)")
        return
    with writing(store, adopt=adopt, shared=shared) as opened, progress("erasing"):
        done = opened.retain()
    if output == "json":
        put_json(to_builtins(done))
        return
    put_certificates([*done.forgotten, *done.history], output)
    jobs = _jobs(len({*done.jobs, *done.dead}))
    if jobs:
        say(f"{jobs} dropped from the list; the log keeps what became of them")
    elif not done.forgotten and not done.history:
        say("nothing is past its retention window")


def _jobs(count: int) -> str:
    return many(count, "job") if count else ""


def certificate(
    id: Annotated[str, typer.Argument(help="A certificate's, a tombstone's or an erased record's id.")],
    *,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show what an erasure took, each record by its id and the digest of what it held.

    \b
    Examples:
      braid certificate exp_2025-05-17T09:00:00Z_0000000300ab
    """
    with reading(store) as opened:
        shown = opened.certificate(id)
    if output == "json":
        put_json(to_builtins(shown))
        return
    put_rows(("index", "id", "kind", "digest"), [to_builtins(one) for one in shown.records], output)
    finished = f"certified by {shown.certificate}" if shown.certificate else "not finished yet"
    reason = f" ({shown.reason})" if shown.reason else ""
    say(f"{many(len(shown.records), 'record')} erased by {shown.tombstone}{reason}, {finished}")


def compact(
    dry_run: DryRun = False, adopt: Adopt = False, shared: Shared = False, store: StoreOption = None
) -> None:
    """Give back the disk space of erased bodies.

    Envelopes, digests, tiles and roots stay.

    \b
    Examples:
      braid compact --dry-run
      braid compact
    """
    if dry_run:
        with reading(store) as opened:
            log = opened.reader.log
            held = sum(log.locate(index)[1].body_len for index in opened.reader.control.erased)
        put(f"{many(held, 'byte')} would be given back")
        return
    with writing(store, adopt=adopt, shared=shared) as opened, progress("compacting"):
        given = opened.compact()
    put(f"{many(given, 'byte')} given back")
