"""`braid append` and `braid correct`: single records."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    DryRun,
    ProjectId,
    Reason,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import many, put, say

PANEL = "Write"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(append)
    app.command(rich_help_panel=PANEL)(correct)


def append(
    text: Annotated[
        str | None, typer.Argument(help="What to remember; `-` reads stdin.", show_default=False)
    ] = None,
    *,
    type_: Annotated[
        Literal["occurrence", "observation", "inference", "reconciliation"],
        typer.Option("--type", help="Where it stands in the lattice."),
    ] = "occurrence",
    actor: Annotated[str, typer.Option(help="user, agent, system or tool(name).")] = "user",
    name: Annotated[str | None, typer.Option(help="The speaker's name.", show_default=False)] = None,
    method: Annotated[str, typer.Option(help="How it came here.")] = "capture",
    parent: Annotated[
        list[str] | None, typer.Option(help="Id of a record it derives from.", show_default=False)
    ] = None,
    evidence: Annotated[
        list[str] | None, typer.Option(help="Id or URI that supports it.", show_default=False)
    ] = None,
    supersedes: Annotated[
        list[str] | None, typer.Option(help="Id of what it replaces.", show_default=False)
    ] = None,
    source: Annotated[list[str] | None, typer.Option(help="URI it is from.", show_default=False)] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Probability in 0 to 1.", show_default=False)
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag.", show_default=False)] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    occurred_at: Annotated[
        str | None, typer.Option(help="When it happened: RFC 3339 with offset.", show_default=False)
    ] = None,
    external_id: Annotated[str | None, typer.Option(help="Its id elsewhere.", show_default=False)] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help="Idempotency key: the same record adds nothing twice, another is refused.",
            show_default=False,
        ),
    ] = None,
    signer: Annotated[
        str | None, typer.Option(help="Id of the author key.", show_default="the recorder's")
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Records as JSON, one or a list; `-` reads stdin.",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Append a record and print its id.

    With --json, any kind in the schema's shape: experience, view, stance, affect, embedding, event. A list goes
    in as one transaction.

    \b
    Examples:
      braid append "Maya moved to Porto." --user-id maya --occurred-at 2025-05-17T10:00:00+01:00
      braid append "Prefers tea" --type inference --parent exp_2025-05-17T09:00:00Z_0000000300ab --confidence 0.8
      braid append --json stance.json
    """
    from braid.log.drafts import checked_key
    from braid.log.operations import Append, draft_of
    from braid.log.operations import append as appending

    asked: Append | None = None
    if json_file is not None:
        if text is not None:
            raise ValueError("give a text or --json, not both")
        from braid.tools.cli.draft_json import drafts_from

        batch = drafts_from(_read(json_file))
    else:
        if text is None:
            raise ValueError("nothing to append: give a text, `-` for stdin, or --json FILE")
        asked = Append(
            text=stdin_text() if text == "-" else text,
            type=type_,
            actor=actor,
            name=name,
            method=method,
            parents=tuple(parent or ()),
            evidence=tuple(evidence or ()),
            supersedes=tuple(supersedes or ()),
            sources=tuple(source or ()),
            confidence=confidence,
            tags=tuple(tag or ()),
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session,
            occurred_at=moment(occurred_at),
            external_id=external_id,
            idempotency_key=None if key is None else checked_key(key),
            signer=signer,
        )
        batch = [draft_of(asked)]
    if dry_run:
        known = _check(batch, store, None if asked is None else asked.user_id)
        say(f"{many(len(batch) - known, 'record')} would be appended (--dry-run)")
        if known:
            say(f"{known} of {len(batch)} are in the log already: nothing would be added for them")
        return
    with writing(store, adopt=adopt, shared=shared) as opened:
        if asked is not None:  # as any program asks it: within the user's own keys
            at = opened.session.call(appending, asked)
            ids, known = [at.id], int(at.known)
        else:
            keys = [draft.body.once for draft in batch]
            placed = opened.writer.append(batch, keys=keys, signer=signer, held=len(batch))
            ids, known = [one.id for one in placed], sum(one.known for one in placed)
        for id in ids:
            put(id)
    if known:
        say(f"{known} of {len(ids)} were in the log already: nothing was added for them")


def correct(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="The experience that is wrong.", show_default=False)
    ],
    text: Annotated[str, typer.Argument(help="What is right; `-` reads stdin.", show_default=False)],
    *,
    reason: Reason = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            help="Idempotency key: the same correction is made once, another is refused.",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Append what is right in place of a record.

    Prints the new id; the old record stays, superseded.

    \b
    Examples:
      braid correct exp_2025-05-17T09:00:00Z_0000000300ab "Maya moved to Lisbon." --reason "misheard"
    """
    from braid.log import drafts

    right = stdin_text() if text == "-" else text
    if dry_run:
        with reading(store) as opened:
            draft = drafts.correction([opened.get(id)], right, by_owner=True)
        _check([draft], store)
        say(f"{id} would be corrected (--dry-run)")
        return
    with writing(store, adopt=adopt, shared=shared) as opened:
        put(opened.correct(id, right, reason=reason, idempotency_key=key))


def moment(text: str | None) -> datetime | None:
    """Return a time that a person typed; ValueError names what is wrong."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an RFC 3339 time (such as 2025-05-17T10:00:00+01:00)") from None


def _read(path: Path) -> bytes:
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def stdin_text() -> str:
    """Return what stdin holds, without its last line end; ValueError for what is no UTF-8."""
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"stdin is not valid UTF-8 (byte {error.start}); nothing was appended") from None


def _check(batch: list[Any], store: Path | None, user_id: str | None = None) -> int:
    """Raise what appending would refuse, as far as it can be seen without writing; return how many are there already.

    `user_id`: whose keys the records come under.
    """
    from braid.ledger.record.validate import check_draft
    from braid.ledger.write.compose import encode_body
    from braid.ledger.write.repetition import refuse_another
    from braid.ledger.write.replacement import check_unsigned
    from braid.ledger.write.writer import utc_now
    from braid.own_key import users_key

    known = 0
    with reading(store) as opened:
        for draft in batch:
            check_draft(draft, utc_now())
            encode_body(draft)
            for _, target in draft.links:
                if isinstance(target, str):
                    opened.get(target, include_forgotten=True)
            check_unsigned(opened.reader, draft)
            if (key := draft.body.once) is None:
                continue
            own = key if user_id is None else users_key(opened.session, user_id, key)
            if (at := opened.reader.key_index.find([own]).get(own)) is not None:
                refuse_another(opened.reader, at, draft, [])
                known += 1
    return known
