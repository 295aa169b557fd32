"""Every refusal as one `braid: …` line with what to do next, and the exit code that goes with it."""

import errno
import os
import re
import sys
import traceback
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from braid.errors import LISTED_BY
from braid.ledger.record.scope import SCOPES
from braid.tools.cli.output import say

OK, FINDINGS, REFUSED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
_KNOWN = frozenset(
    (
        "LedgerError",
        "WalError",
        "ViewError",
        "EmbeddingError",
        "ChatError",
        "ParserError",
        "WorkError",
        "RemoteError",
        "TooOftenError",
    )
)
_OPTION = re.compile(r"--[A-Za-z][\w-]*")
"""What was meant for an option; else it may be a text."""
_NO_COMMAND = re.compile(r"No such command '([\w-]+)'")
_MEANT: Final = {
    "get": "show ID",
    "read": "show ID",
    "add": "append TEXT",
    "store": "append TEXT",
    "search": "recall QUESTION",
    "query": "recall QUESTION",
    "list": "memories",
    "delete": "forget ID",
    "update": "correct ID TEXT",
    "mcp-server": "mcp",
    "server": "serve",
}
"""Commands by the names that other programs have for them."""
HINTS: Final = {
    "LogLockedError": "wait for the other program to end, or start both with --shared, where they have it",
    "ObstructedError": "what stands there was left: move it away; in `views/` `braid replay` does, but for a link",
    "UnwritableError": "`braid recall`, `sql`, `verify` and `ask` only read",
    "NoRoomError": "free that much: `rm -r` of the store's views/ does no harm, while nobody has it open",
    "GuardError": "only when you are sure that this is the newest copy: run the command again with --adopt",
    "RestoreRefusedError": "docs/operate.md says under “The backup is older” which ways lead on",
    "RollbackError": "bring the newest copy of the store and its vault back; `braid doctor` says what it sees",
    "VaultMissingError": "bring the vault back to its place; without it a store can only be verified",
    "VaultPassphraseError": "name a file that holds the passphrase: braid --passphrase-file FILE …",
    "VaultError": "`braid doctor` says what is wrong; a backup of the vault must be the newest one",
    "NoVaultError": "bring the vault back to its place (`braid doctor` says where it is looked for)",
    "UnknownTokenError": "`braid token list` shows those there are",
    "UnknownKeyError": "`braid key list` shows those there are",
    "UnknownSnapshotError": "`braid snapshot list` shows those there are",
    "UnknownJobError": "`braid jobs list` shows those there are",
    "UnknownRecordError": "`braid log` lists what there is",
    "UnknownEntityError": "`braid entity list` shows whom and what there is, with the same scope",
    "ErasedError": "what was erased can't be brought back; `braid show --envelope ID` shows what remains",
    "ForgottenError": "`braid show --forgotten ID` shows it; `braid recover ID` brings it back",
    "RefusedLogError": "nothing of it was taken over; docs/audit.md says what each reason means and what to do",
    "PolicyError": "docs/audit.md shows what a policy looks like",
    "TileError": "`braid doctor --fix` derives tiles again from the log",
    "NoteError": "`braid doctor` says what is wrong with the signed head",
    "CorruptLogError": "`braid verify` lists all that is affected; restore the named file from a backup",
    "IntegrityError": "`braid verify` lists all that is affected; nothing was changed",
    "EnvelopeError": "`braid verify` lists all that is affected; nothing was changed",
    "UnsealError": "`braid verify --deep` lists all that is affected; restore the segment or the vault from a backup",
    "IdempotencyConflictError": "`braid show ID` shows that record; `braid correct ID TEXT` says what is right instead",
    "VersionConflictError": "`braid history ID` shows what has changed; then name the version that it has now",
    "PinnedError": "an operator: `braid forget --force ID`, or `braid modify ID --unpin --reason …`",
    "RemoteModelError": "an operator: `braid settings set local_only false`, and the host in remote_hosts",
    "ConfirmationError": "`braid forget --query TEXT` shows what would be forgotten, and gives a token",
    "KeyRefusedError": "`braid key list` shows the keys and what they may sign",
    "PlanError": "docs/programs.md shows what a plan looks like; --dry-run checks one",
    "ProgramTakenError": "`braid program show ID` says how it stands now",
    "BrokenProgramError": "`braid program trace ID` shows what is left of it; ask the question again",
    "EvidenceError": "ask for the export again; `--key` holds it against the log's key that you were given",
    "FrozenError": "an operator looks into it, and lifts it: `braid unfreeze`, or `braid settings set`",
    "ClockError": "set the clock right, or accept it once: braid doctor --accept-clock",
    "OutcomeUnknownError": "with --key, and with `braid ingest`, run the same command again: nothing is added twice; "
    "else look first in `braid log` whether it is there",
    "UnpurgedError": "once that is mended, `braid retain` finishes it",
    "UnpublishedError": "once that is mended, `braid checkpoint` publishes it, and so does the next that writes",
    "WriterPoisonedError": "check the disk, then run the command again",
    "LogFormatError": "upgrade: pip install --upgrade braid-store",
    "UnknownFormatError": "docs/ingest.md shows the formats that ingest reads",
    "DamagedViewError": "`braid replay` rebuilds the projections from the log",
    "ChatError": "start the model, or answer without one: leave --model out",
    "ParserError": "the rest of Braid works without it: recall, ask and verify need no parse",
    "EmbeddingError": "start the model, or name another: braid --model MODEL …; what it gave before is kept",
    "TransportError": "start what carries the jobs, or leave --queue out; the log says what is to be done",
    "ViewBusyError": "wait for the other program, then run the command again",
}


LISTS: Final = {
    "reviews": "braid review list",
    "staging": "braid staging list",
    "programs": "braid program list",
    "decision_report": "braid decisions report",
    "lens_views": "braid lens list --views",
}
"""By which command one sees what an operation lists, where an error names that (`braid.errors.listed_by`)."""


def report(error: BaseException) -> int:
    """Say what went wrong and return the exit code; a traceback only when BRAID_DEBUG is set."""
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    stopped = _is_interruption(error)
    if os.environ.get("BRAID_DEBUG") and not stopped:
        traceback.print_exception(error, file=sys.stderr)
    if stopped:
        say("stopped; what was acknowledged is in the log")
        return INTERRUPTED
    if (usage := usage_of(error)) is not None:
        say(*usage)
        return REFUSED
    say(*explain(error))
    return REFUSED


def _is_interruption(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: DuckDB, which looks for it within a statement, raises one of its own."""
    behind: BaseException | None = error
    passed: set[int] = set()
    while behind is not None and id(behind) not in passed:  # what is raised again may be behind itself
        passed.add(id(behind))
        if isinstance(behind, KeyboardInterrupt) or (
            isinstance(behind, RuntimeError) and str(behind) == "Query interrupted"
        ):
            return True
        behind = behind.__cause__ or behind.__context__
    return False


def usage_of(error: BaseException) -> tuple[str, str] | None:
    """Return message and hint of an error in how the command was typed, None for other errors."""
    form = getattr(error, "format_message", None)
    if form is None:
        return None
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "braid")
    said = " ".join(str(form()).split())  # choices come line by line
    said = said.replace(": Value error, ", ": ", 1)  # the validator's word, not the person's
    hint = f"{command} --help"
    if (unknown := _NO_COMMAND.match(said)) and command == "braid" and unknown[1] in _MEANT:
        return f"No such command {unknown[1]!r}", f"`braid {_MEANT[unknown[1]]}` does that; {hint}"
    if type(error).__name__ == "NoSuchOption":
        name = str(getattr(error, "option_name", ""))
        said, hint = f"No such option: {name}", _instead_of(name, context, command)
    return said or "something is missing", hint


_GRAVE = frozenset(("--adopt", "--shared", "--force", "--yes"))
"""Options that nobody shall type because a message says so."""


def _instead_of(name: str, context: object, command: str) -> str:
    """Return what to type instead of an option that there is none of: one that is near, or a text behind `--`."""
    if _OPTION.fullmatch(name):
        safe = [one for one in _options_of(context) if one not in _GRAVE]
        scope = name.removeprefix("--").replace("-", "_")
        if "--where" in safe and scope in SCOPES:
            return f"a scope is given as --where {scope}=…; {command} --help"
        near = get_close_matches(name, safe, n=1, cutoff=0.75)
        return f"did you mean {near[0]}? {command} --help" if near else f"{command} --help"
    if _takes_text(context):
        return f"a text that begins with a dash goes behind --: {command} -- '-…' (options before it; {command} --help)"
    return f"{command} --help"


def _options_of(context: object) -> list[str]:
    parameters = getattr(getattr(context, "command", None), "params", ())
    return [
        name
        for one in parameters
        if getattr(one, "param_type_name", "") == "option"
        for name in (*getattr(one, "opts", ()), *getattr(one, "secondary_opts", ()))
    ]


def _takes_text(context: object) -> bool:
    """Whether a command has arguments, and so may have been given a text that was taken for an option."""
    parameters = getattr(getattr(context, "command", None), "params", ())
    return any(getattr(one, "param_type_name", "") == "argument" for one in parameters)


def explain(
    error: BaseException, hints: Mapping[str, str] = HINTS, lists: Mapping[str, str] = LISTS
) -> tuple[str, str | None]:
    """Return what to say of an error, and a hint: `hints` has one for a class, `lists` what lists what there is.

    What a server hinted at, for those who ask it by operations, counts where there is no other.
    """
    names = [kind.__name__ for kind in type(error).__mro__]
    noted, served = _notes_of(error)
    hint = next((hints[name] for name in names if name in hints), served)
    if listing := lists.get(getattr(error, LISTED_BY, "")):
        hint = f"`{listing}` shows what there is"
    if is_full_file(error):
        hint = "free some space and run the same command again"
    if noted:  # what this command has besides
        hint = "; ".join([*noted, *([hint] if hint else [])])
    if isinstance(error, OSError) and not _KNOWN.intersection(names):
        said, advice = _explain_system(error)
        return said, "; ".join([*noted, advice]) if noted and advice else advice or hint
    if "SqlError" in names:
        return getattr(error, "reason", str(error)), getattr(error, "hint", None)
    if _KNOWN.intersection(names) or (
        isinstance(error, (ValueError, LookupError)) and not isinstance(error, KeyError)
    ):
        return str(error) or type(error).__name__, hint
    if isinstance(error, MemoryError):
        return "out of memory", "ask for less at a time"
    if isinstance(error, RuntimeError) and type(error).__name__ == "Abort":
        return "stopped: no answer", None
    return (
        f"unexpected {type(error).__name__}: {error}",
        "this is a defect of braid: BRAID_DEBUG=1 shows where it arose",
    )


_BENEATH: Final = frozenset(("WalError", "LedgerError", "ViewError", "WorkError", "OSError"))
_FOLDERS: Final = re.compile(r"(?<![\w:/.])/(?:[^/\s:;,'\"][^/:;,'\"\n]*/)+(?=[^/\s])")


def for_elsewhere(error: BaseException, said: str) -> str:
    """Return what is said of an error to those who ask from another machine: files by name, without their folders.

    Only of what arose at files: elsewhere a slash may belong to what was asked for.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    asked = isinstance(error, ValueError | LookupError)
    return said if asked or not _BENEATH & names else _FOLDERS.sub("", said)


def is_full_file(error: BaseException) -> bool:
    """Whether the file that carries jobs found no room."""
    return type(error).__name__ == "FullError"


def _notes_of(error: BaseException) -> tuple[list[str], str | None]:
    """Return the notes of an error, and apart from them what a server hinted at."""
    notes: list[str] = getattr(error, "__notes__", [])
    if not notes:
        return [], None
    from braid.transport import HINTED

    served = next((note.removeprefix(HINTED) for note in notes if note.startswith(HINTED)), None)
    return [note for note in notes if not note.startswith(HINTED)], served


def _arose_in_store(error: OSError) -> bool:
    """Whether an error came from below the command line, which alone writes what a command shows."""
    names = [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(name.startswith("braid.") and not name.startswith("braid.tools.") for name in names)


def _explain_room(error: OSError, about: str) -> tuple[str, str]:
    """Return what to say where a disk, a quota or a file's limit has no room."""
    if not _arose_in_store(error):
        return (
            f"{about}there is no room where the output goes",
            "free some space there, or send the output elsewhere",
        )
    if error.errno == errno.EFBIG:
        return (
            f"{about}the file may not grow any longer; nothing half-written remains in the log",
            "raise the limit (`ulimit -f` shows it in blocks; a file system has one, too), then run the same command "
            "again",
        )
    return (
        f"{about}the disk is full; nothing half-written remains in the log",
        "free some space and run the same command again; `braid erase` works on a full disk, and docs/operate.md "
        "says what takes the room",
    )


def _explain_system(error: OSError) -> tuple[str, str | None]:
    about = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _explain_room(error, about)
    if error.errno in (errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY) and _arose_in_store(error):
        at: object = error.filename2 or error.filename
        found = (
            "a file stands where a folder" if error.errno == errno.ENOTDIR else "a folder stands where a file"
        )
        return f"{at}: {found} belongs", HINTS["ObstructedError"]
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return (
            f"{about}{error.strerror}",
            "`braid recall`, `sql`, `verify` and `ask` need read access alone; the others write",
        )
    if error.errno is None:
        return str(error) or type(error).__name__, None
    return f"{about}{error.strerror or error}", None
