"""Signed heads as an audit finds them: checkpoint, history, guard; and what they must agree with (SPEC §5.3, §6)."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from braid.ledger.audit.findings import Finding
from braid.ledger.errors import GuardError, NoteError
from braid.ledger.keys.control import ControlState
from braid.ledger.record.envelope import Envelope
from braid.ledger.settings import Settings
from braid.ledger.tree.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.note import SignedNote, VerifierKey, parse_note, parse_vkey
from braid.wal.regular import GROWING_BYTES, read_regular

Signers = frozenset[tuple[str, bytes]]
"""Names and key ids of the log keys under which a head stands."""

_ASIDE: Final = (
    "this file is evidence of earlier heads alone, and `braid doctor --fix` sets the harm in it aside"
)


class HistoricHead(msgspec.Struct, frozen=True):
    """A head from the history, and where it stands in the file."""

    size: int
    root: bytes
    offset: int
    by: Signers = frozenset()


class Heads(msgspec.Struct):
    """What was signed about the log, each opened under the log's key."""

    vkey: VerifierKey | None
    """The key that the auditor goes by: the pinned one, else the guard's, else what genesis names."""
    keys: list[VerifierKey] = []
    """Every key under which a head may stand; which of them must, only the control records say."""
    published_by: Signers = frozenset()
    guard_by: Signers = frozenset()
    published: Checkpoint | None = None
    guard: Head | None = None
    history: list[HistoricHead] = []
    findings: list[Finding] = []
    notes: list[str] = []

    @property
    def floor(self) -> int:
        """Records that a signed head covers."""
        return max(self.published.size if self.published else 0, self.guard.size if self.guard else 0)

    def roots(self) -> dict[int, bytes]:
        """Return the root that the published head states, by its size."""
        return {self.published.size: self.published.root} if self.published else {}

    def sizes(self) -> list[int]:
        """Return the sizes whose roots must be derived."""
        sizes = [past.size for past in self.history]
        return [*sizes, self.published.size if self.published else 0, self.guard.size if self.guard else 0]


def read_heads(  # noqa: PLR0917 - the sources of heads  # noqa: PLR0913 - one decision a line
    store: Path, settings: Settings, guard: Guard, pinned: str | None, claimed: list[str], since: int
) -> Heads:
    """Read and open every head; those of the history below `since` stand on the earlier audit."""
    heads = Heads(None)
    _read_guard(heads, guard, settings)
    text = pinned or (heads.guard.vkey if heads.guard else "".join(claimed[:1]))
    try:
        heads.vkey = parse_vkey(text)
    except ValueError as error:
        heads.findings.append(Finding("checkpoint", f"there is no key to check heads with: {error}"))
        return heads
    if pinned is None and heads.guard is None:
        heads.notes.append("no guard and no pinned key: the log's key is believed because genesis names it")
    heads.keys = _candidates([text, *claimed], heads.guard)
    _check_guard_note(heads, str(guard.path))
    _read_checkpoint(heads, store, settings)
    _read_history(heads, store, settings, since)
    return heads


def _read_guard(heads: Heads, guard: Guard, settings: Settings) -> None:
    file = str(guard.path)
    try:
        heads.guard = guard.read()
    except GuardError as error:
        heads.findings.append(Finding("guard", str(error), file=file))
        return
    if heads.guard is None:
        heads.notes.append(f"there is no guard at {file}: nothing shows whether this is the newest copy")
        return
    if heads.guard.origin != settings.origin:
        message = f"the guard is of {heads.guard.origin}, this store is {settings.origin}"
        heads.findings.append(Finding("guard", message, file=file))


def _candidates(texts: list[str], guard: Head | None) -> list[VerifierKey]:
    keys: list[VerifierKey] = []
    remembered = [guard.vkey, *guard.log_keys] if guard else []
    for text in dict.fromkeys(texts + remembered):
        with suppress(NoteError):  # no key: what it should have signed is named
            keys.append(parse_vkey(text))
    return keys


def _signers(note: SignedNote) -> Signers:
    return frozenset((one.name, one.id) for one in note.verified)


def _check_guard_note(heads: Heads, file: str) -> None:
    head = heads.guard
    if head is None:
        return
    try:
        checkpoint, note = open_checkpoint(
            head.checkpoint.encode(), [key for key in heads.keys if key.name == head.origin], head.origin
        )
        heads.guard_by = _signers(note)
    except ValueError as error:
        heads.findings.append(Finding("guard", f"the head in the guard is not signed: {error}", file=file))
        return
    if (checkpoint.size, checkpoint.root.hex()) != (head.size, head.root):
        heads.findings.append(Finding("guard", "the guard contradicts the signed head in it", file=file))


def _read_checkpoint(heads: Heads, store: Path, settings: Settings) -> None:
    if heads.vkey is None:
        return
    try:
        note = read_regular(store / "checkpoint")
        heads.published, opened = open_checkpoint(note, heads.keys, settings.origin)
        heads.published_by = _signers(opened)
    except FileNotFoundError:
        message = "the published head is missing: `braid doctor --fix` restores it from the guard"
        heads.findings.append(Finding("checkpoint", message, file="checkpoint"))
    except ValueError as error:
        heads.findings.append(Finding("checkpoint", str(error), file="checkpoint"))


def _read_history(heads: Heads, store: Path, settings: Settings, since: int) -> None:
    try:
        data = read_regular(store / "checkpoints", GROWING_BYTES)
    except FileNotFoundError:
        heads.notes.append("there is no history of heads (checkpoints)")
        return
    for offset, note, last in split_history(data):
        try:
            text, _ = parse_note(note)
            claimed = parse_checkpoint(text)
            if claimed.size < since:
                continue
            by = _signers(open_checkpoint(note, heads.keys, settings.origin)[1]) if heads.keys else Signers()
        except NoteError as error:
            if last:
                heads.notes.append(f"the history of heads ends in an unfinished entry at offset {offset}")
            else:
                message = f"{error}; {_ASIDE}"
                heads.findings.append(Finding("checkpoint", message, file="checkpoints", offset=offset))
            continue
        heads.history.append(HistoricHead(claimed.size, claimed.root, offset, by))


def split_history(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (offset, note, whether it is cut off at the file's end) of the entries, each ended by an empty line."""
    offset = 0
    while offset < len(data):
        gap = data.find(b"\n\n", offset)
        end = data.find(b"\n\n", gap + 2) if gap >= 0 else -1
        if end < 0:
            yield offset, data[offset:], True
            return
        yield offset, data[offset : end + 1], False
        offset = end + 2


def judge_heads(
    heads: Heads, roots: dict[int, bytes], size: int, since: int, guard_path: Path
) -> Iterator[Finding]:
    """Yield where a signed head contradicts the records: `roots` by size, `size` records in the log."""
    published, guard = heads.published, heads.guard
    if published:
        yield from _judge(
            published.size,
            published.root,
            roots,
            size,
            "checkpoint",
            "the published head",
            "checkpoint",
            None,
        )
    if guard and guard.size >= since:
        what = "the head that the guard remembers"
        root = bytes.fromhex(guard.root) if len(guard.root) == 64 else b""
        yield from _judge(guard.size, root, roots, size, "guard", what, str(guard_path), None)
    for past in heads.history:
        what = "an earlier head"
        yield from _judge(past.size, past.root, roots, size, "checkpoint", what, "checkpoints", past.offset)


def _judge(  # noqa: PLR0917 - one comparison, six words to name it  # noqa: PLR0913 - one decision a line
    at: int,
    root: bytes,
    roots: dict[int, bytes],
    size: int,
    kind: str,
    what: str,
    file: str,
    offset: int | None,
) -> Iterator[Finding]:
    if at > size:
        message = f"{what} covers {at} records; the log holds {size}"
    elif at in roots and roots[at] != root:
        message = f"{what} of {at} records has another root than the records give"
    else:
        return
    yield Finding("guard" if kind == "guard" else "checkpoint", message, file=file, offset=offset)


def judge_log_keys(
    heads: Heads, control: ControlState, guard_path: Path, pinned: str | None, *, whole: bool
) -> Iterator[Finding]:
    """Yield where a head lacks the signature of a log key in force at its size, or the pinned key has signed none."""
    if not control.log_keys:
        return  # there is no genesis to go by: named
    guard = heads.guard
    if guard and not {guard.vkey, *guard.log_keys} <= control.log_keys.keys():
        yield Finding(
            "guard", "the guard remembers a log key that this log does not name", file=str(guard_path)
        )
    if heads.vkey and str(heads.vkey) not in control.log_keys:
        message = f"the log names no key {heads.vkey}: genesis names {control.log_vkey}"
        yield Finding("checkpoint", message, 0)
        if guard and guard.vkey != str(heads.vkey):
            yield Finding("guard", f"the guard names another log key than {heads.vkey}", file=str(guard_path))
        return
    stated = [(past.size, past.by, "an earlier head", "checkpoint", "checkpoints") for past in heads.history]
    if guard and heads.guard_by:
        stated.insert(0, (guard.size, heads.guard_by, "the guard's head", "guard", str(guard_path)))
    if heads.published:
        stated.insert(
            0, (heads.published.size, heads.published_by, "the published head", "checkpoint", "checkpoint")
        )
    ids = {text: (key.name, key.id) for text in control.log_keys for key in [parse_vkey(text)]}
    for size, by, what, kind, file in stated:
        if missing := [text for text in control.signing(size) if ids[text] not in by]:
            message = f"{what} of {size} records lacks a signature by {missing[0]}"
            yield Finding("guard" if kind == "guard" else "checkpoint", message, file=file)
    if pinned and whole and not any(ids[pinned] in by for _, by, _, _, _ in stated):
        yield Finding("checkpoint", "no head of this log is signed by the pinned key", file="checkpoints")


def judge_settings(settings: Settings, genesis: Envelope | None, control: ControlState) -> Iterator[Finding]:
    """Yield where store.json contradicts the genesis record."""
    if control.origin and control.origin != settings.origin:
        yield Finding(
            "settings",
            f"store.json says origin {settings.origin}, genesis {control.origin}",
            0,
            file="store.json",
        )
    if genesis is None:
        return
    public = genesis.public
    if public.get("store_id") != settings.store_id:
        message = f"store.json says store {settings.store_id}, genesis {public.get('store_id')}"
        yield Finding("settings", message, 0, genesis.id, "store.json")
    if public.get("format") != settings.format:
        message = f"store.json says format {settings.format}, genesis {public.get('format')}"
        yield Finding("settings", message, 0, genesis.id, "store.json")
