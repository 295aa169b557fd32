"""Watching a log from outside: what it says now against what it said before (SPEC §18). Pure but for what `log` reads.

A monitor believes the log's pinned key and its own memory. It reads every new entry, follows the keys that may sign,
and names what a person should hear of. Bodies it never sees.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from statistics import median
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import LedgerError, RefusedLogError
from braid.ledger.keys.control import ControlState, KeyLife, LogKeyLife
from braid.ledger.publish.remote import Gather, ServedLog, SignedHead, judge_growth, judge_heads, open_head
from braid.ledger.publish.succession import follow_keys
from braid.ledger.record.envelope import Envelope, LinkSummary, check_structure, decode_payload, pae, unwrap
from braid.ledger.tree.checkpoint import Checkpoint, parse_checkpoint
from braid.ledger.tree.merkle import EMPTY_ROOT, leaf_hashes
from braid.ledger.tree.note import VerifierKey, cosignature_time, parse_note, parse_vkey
from braid.ledger.tree.tiles import TILE_WIDTH
from braid.ledger.witness.compact_range import Trail, TrailText

MAX_HEADS: Final = 256
MAX_LOOKS: Final = 64
HOUR_S: Final = 3600
_ALWAYS: Final = ("author", "record", "forked")
"""Alarms of a first look, too."""
_LOOKS_FOR_A_RATE: Final = 5

AlarmKind = Literal["erase", "key", "clock", "forked", "author", "record", "stale", "rate"] | str
"""An event, a rate or an age; or the reason for which the log was refused (`fork`, `rollback`, `signature` …)."""


class Alarm(msgspec.Struct, frozen=True):
    """Something that a person should hear of, and the record that it stands at."""

    kind: AlarmKind
    what: str
    index: int | None = None


class SeenHead(msgspec.Struct, frozen=True):
    """A signed head and when this monitor first saw it (Unix seconds)."""

    note: str
    seen: int


class SeenKey(msgspec.Struct, frozen=True):
    """An author key as the log's records tell of it."""

    id: str
    public: str
    role: str
    admitted: int
    revoked: int | None


class MonitorState(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A monitor's memory: heads (newest last), the trail of the tree, keys, looks (time, size), conflicting heads."""

    braid_monitor: Literal[1] = 1
    vkey: str
    heads: list[SeenHead]
    trail: TrailText
    keys: list[SeenKey]
    looks: list[tuple[int, int]]
    conflicts: list[str] = []
    former: list[str] = []
    """Keys of the log that signed heads before `vkey` did."""
    log_keys: dict[str, tuple[int, int | None]] = {}
    """Every key of the log and between which records it signs, as the log's records tell; empty: `vkey` alone."""

    @property
    def keys_of_heads(self) -> list[str]:
        """The keys under which the remembered heads stand, the newest first."""
        return [self.vkey, *self.former]


class AlertLimits(msgspec.Struct, frozen=True):
    """What is out of the ordinary: a head older than `age_s`; more than `per_hour` records, or `factor` × the usual."""

    age_s: int = 24 * HOUR_S
    per_hour: int | None = None
    factor: float = 20.0
    least: int = 1000
    """So many new records at least before a rate is compared with the usual one."""


class Look(NamedTuple):
    """What one look at a log gave: alarms, what is to be remembered, and how many records were new."""

    alarms: list[Alarm]
    state: MonitorState | None
    size: int
    new: int


def read_state(data: bytes) -> MonitorState:
    """Return a monitor's state; ValueError for one that is damaged or contradicts itself: its heads are verified."""
    try:
        state = msgspec.json.decode(data, type=MonitorState)
        opened = [_open_any(head.note, state.keys_of_heads) for head in state.heads]
        trail = Trail.from_text(state.trail)
    except (msgspec.MsgspecError, LedgerError, ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"not the state of a monitor: {error}") from error
    if not opened or (trail.size, trail.root()) != (opened[-1].size, opened[-1].checkpoint.root):
        raise ValueError("not the state of a monitor: its tree is not that of its newest head")
    return state


def _open_any(note: str, vkeys: Sequence[str]) -> SignedHead:
    """Open a head under the first of these keys that signed it; RefusedLogError where none has."""
    keys = [parse_vkey(text) for text in vkeys]
    for key in keys[:-1]:
        with suppress(RefusedLogError):
            return open_head(note.encode(), key, others=[other for other in keys if other != key])
    return open_head(note.encode(), keys[-1], others=keys[:-1])


def look(
    log: ServedLog,
    state: MonitorState | None,
    limits: AlertLimits,
    now_s: int,
    gather: Gather | None = None,
) -> Look:
    """Look at a log once. What is refused is an alarm, and the memory stays at what was good before; OSError passes.

    The first look takes the log as it finds it: it verifies everything, and alarms for nothing that is lawful in it
    but the note of a fork: whoever begins to watch should know that there is another history.
    """
    last = newest(state) if state else Checkpoint(log.vkey.name, 0, EMPTY_ROOT)
    shown: SignedHead | None = None
    former = state.former if state else []
    try:
        shown, keys = _shown(log, state, last)
        if keys:
            former = [str(key) for key in keys if key != shown.vkey]
        _judge_known(state, shown)
        judge_heads(last, shown.checkpoint)
        watch = _Watch(state, shown.vkey)
        watch.read(log, last, shown, gather)
    except RefusedLogError as error:
        return Look([Alarm(error.reason, error.what)], _with_conflict(state, shown, error), last.size, 0)
    alarms = watch.alarms if state else [alarm for alarm in watch.alarms if alarm.kind in _ALWAYS]
    looks = [*(state.looks if state else []), (now_s, shown.size)][-MAX_LOOKS:]
    heads = list(state.heads) if state else []
    if not heads or heads[-1].note.encode() != shown.note:
        heads.append(SeenHead(shown.note.decode(), now_s))
    fresh = MonitorState(
        vkey=str(shown.vkey),
        heads=heads[-MAX_HEADS:],
        trail=watch.trail.to_text(),
        keys=watch.keys(),
        looks=looks,
        conflicts=state.conflicts if state else [],
        former=former,
        log_keys=watch.log_keys(),
    )
    alarms += _age_alarms(fresh, shown, limits, now_s) + _rate_alarms(looks, limits)
    return Look(alarms, fresh, shown.size, shown.size - last.size)


def _shown(
    log: ServedLog, state: MonitorState | None, last: Checkpoint
) -> tuple[SignedHead, tuple[VerifierKey, ...]]:
    """Return the head that is served now; where another key took the pinned one's place, all the log's keys too."""
    try:
        return log.head(), ()
    except RefusedLogError as error:
        if state is None or error.reason != "signature":
            raise
    followed = follow_keys(log, last, log.note())
    if log.policy is not None:
        open_head(followed.head.whole, followed.head.vkey, log.policy, others=followed.keys)
    return followed.head, followed.keys


def newest(state: MonitorState) -> Checkpoint:
    """Return the newest head of a state that was read."""
    return parse_checkpoint(parse_note(state.heads[-1].note.encode())[0])


def _judge_known(state: MonitorState | None, shown: SignedHead) -> None:
    """Raise RefusedLogError (`fork`) where a head of the same size was seen with another root, however long ago."""
    for head in state.heads if state else ():
        known = parse_checkpoint(parse_note(head.note.encode())[0])
        if known.size == shown.size:
            judge_heads(known, shown.checkpoint)


def _with_conflict(
    state: MonitorState | None, shown: SignedHead | None, error: RefusedLogError
) -> MonitorState | None:
    """Keep a signed head that contradicts those seen before: together they convict the log's key."""
    if state is None or shown is None or error.reason not in ("fork", "rollback"):
        return state
    note = shown.note.decode()
    if note in state.conflicts:
        return state
    return msgspec.structs.replace(state, conflicts=[*state.conflicts, note][-MAX_HEADS:])


class _Watch:
    """One reading of new entries."""

    def __init__(self, state: MonitorState | None, vkey: VerifierKey) -> None:
        self.alarms: list[Alarm] = []
        self.trail = Trail.from_text(state.trail) if state else Trail()
        self._control = ControlState()
        self._origin = self._control.origin = vkey.name
        for key in state.keys if state else ():
            life = KeyLife(key.id, b64decode(key.public), key.role, key.admitted)
            life.revoked = key.revoked
            self._control.keys[key.id] = life
        if state:
            spans = state.log_keys or {state.vkey: (0, None)}
            self._control.log_keys = {key: LogKeyLife(*span) for key, span in spans.items()}

    def keys(self) -> list[SeenKey]:
        """Return the keys as they are remembered."""
        lives = self._control.keys.values()
        return [
            SeenKey(life.id, b64encode(life.public).decode(), life.role, life.admitted, life.revoked)
            for life in lives
        ]

    def log_keys(self) -> dict[str, tuple[int, int | None]]:
        """Return the log's own keys as they are remembered."""
        return {key: (life.since, life.until) for key, life in self._control.log_keys.items()}

    def read(self, log: ServedLog, last: Checkpoint, head: SignedHead, gather: Gather | None) -> None:
        """Read what is new, under a tree that was shown to continue the last one; RefusedLogError for any lie."""
        if head.size == last.size:
            return
        tree = log.tree(head.checkpoint)
        judge_growth(last, head.checkpoint, tree)
        for n, _, entries in log.bundles(tree, last.size // TILE_WIDTH, gather):
            first = max(last.size - n * TILE_WIDTH, 0)
            fresh = entries[first:]
            self.trail.extend(leaf_hashes(fresh))
            for index, entry in enumerate(fresh, n * TILE_WIDTH + first):
                self._hear(index, entry)
        if self.trail.root() != head.checkpoint.root:  # the old trail is this monitor's own
            raise RefusedLogError(
                "fork", f"the entries do not continue the tree of {last.size} that was seen before"
            )

    def _hear(self, index: int, entry: bytes) -> None:
        try:
            payload, signature = unwrap(entry)
            envelope = decode_payload(payload)
            check_structure(envelope, self._origin)
            if envelope.index != index:
                raise ValueError(f"it says that it stands at {envelope.index}")
        except ValueError as error:
            self.alarms.append(Alarm("record", f"entry {index} is not a record of this log: {error}", index))
            return
        try:
            if index == 0:
                self._control.apply(envelope, [])
            if refusal := self._control.refusal(envelope):
                raise ValueError(refusal)
            if not verify_signature(self._control.public_key(envelope.key), pae(payload), signature):
                raise ValueError("the author's signature does not hold")
            if envelope.kind == "key" and envelope.is_control:
                self._control.apply(envelope, [])
        except (LedgerError, ValueError) as error:
            self.alarms.append(Alarm("author", f"{envelope.id}: {error}", index))
            return
        if alarm := _event(envelope) or _fork(envelope, self._control):
            self.alarms.append(alarm)


def _event(envelope: Envelope) -> Alarm | None:
    """Return the alarm for a control record that takes something away or changes who may sign."""
    op = envelope.public.get("op")
    if op == "erase":
        links = envelope.links
        count = (
            links.count if isinstance(links, LinkSummary) else sum(link.role == "target" for link in links)
        )
        return Alarm("erase", f"{envelope.id} erases {count} record{'s' * (count != 1)}", envelope.index)
    if op == "admit":
        role, id = envelope.public.get("role"), envelope.public.get("id")
        return Alarm("key", f"{envelope.id} admits the {role} key {id}", envelope.index)
    if op == "revoke":
        since = envelope.public.get("compromised_since")
        told = "" if since is None else f", compromised since record {since}"
        return Alarm(
            "key", f"{envelope.id} revokes the key {envelope.public.get('id')}{told}", envelope.index
        )
    if op in ("log_key", "retire_log_key"):
        what = "lets another key sign the log's heads" if op == "log_key" else "retires a key of the log"
        return Alarm("key", f"{envelope.id} {what}: {envelope.public.get('vkey')}", envelope.index)
    if op == "clock":
        return Alarm("clock", f"{envelope.id} accepts a clock that is behind", envelope.index)
    return None


def _fork(envelope: Envelope, control: ControlState) -> Alarm | None:
    """Return the alarm for the note of a fork (SPEC §13.2): an operator's, since anybody else's word stops nothing."""
    public = envelope.public
    if envelope.kind != "event" or public.get("name") != "fork":
        return None
    if control.keys[envelope.key].role != "operator":
        return None
    seen = cast("dict[str, Any]", public.get("seen") or {}).get("size", "more")
    what = f"{envelope.id} notes a fork: a copy of {public.get('size')} records goes on where {seen} had been signed"
    return Alarm("forked", what, envelope.index)


def _age_alarms(state: MonitorState, head: SignedHead, limits: AlertLimits, now_s: int) -> list[Alarm]:
    """Return the alarm for a log that stands still, or whose witnesses were not asked lately: it may be frozen."""
    since = next((time for time, size in state.looks if size == head.size), now_s)
    alarms: list[Alarm] = []
    if now_s - since > limits.age_s:
        alarms.append(Alarm("stale", f"no record has come for {_hours(now_s - since)}"))
    times = [
        cosignature_time(one)
        for one in head.opened.verified
        if len(one.blob) > 64  # Ed25519 is 64, a cosignature 72
    ]
    if times and now_s - max(times) > limits.age_s:
        alarms.append(Alarm("stale", f"no witness has cosigned for {_hours(now_s - max(times))}"))
    return alarms


def _rate_alarms(looks: Sequence[tuple[int, int]], limits: AlertLimits) -> list[Alarm]:
    """Return the alarm for more records an hour than the limit, or than many times the median of earlier looks."""
    rates = [
        (size - before) * HOUR_S / max(time - earlier, 1)
        for (earlier, before), (time, size) in pairwise(looks)
    ]
    if not rates:
        return []
    rate, new = rates[-1], looks[-1][1] - looks[-2][1]
    if limits.per_hour is not None and rate > limits.per_hour:
        return [Alarm("rate", f"{rate:,.0f} records an hour, more than {limits.per_hour:,}")]
    usual = median(rates[:-1]) if len(rates) > _LOOKS_FOR_A_RATE else None
    if usual is not None and new >= limits.least and rate > limits.factor * max(usual, 1.0):
        return [Alarm("rate", f"{rate:,.0f} records an hour; the usual is {usual:,.0f}")]
    return []


def _hours(seconds: int) -> str:
    return f"{seconds / HOUR_S:.1f} h"


class Compared(NamedTuple):
    """Two monitors' memories side by side: two heads that contradict each other, or how far they are the same."""

    conflict: tuple[str, str] | None
    what: str


def compare(a: MonitorState, b: MonitorState) -> Compared:
    """Hold two monitors' states against each other, offline; ValueError where they are of different logs or keys.

    Both were read by `read_state`: every head in them is signed. Two that contradict each other convict the log's key,
    whoever shows them.
    """
    vkeys = list(dict.fromkeys([*a.keys_of_heads, *b.keys_of_heads]))
    if not {*a.keys_of_heads} & {*b.keys_of_heads}:
        raise ValueError(f"the states are of different logs or keys: {a.vkey} and {b.vkey}")
    roots: dict[int, tuple[bytes, str]] = {}
    for note in [head.note for head in (*a.heads, *b.heads)] + _signed(vkeys, [*a.conflicts, *b.conflicts]):
        stated = parse_checkpoint(parse_note(note.encode())[0])
        root, other = roots.setdefault(stated.size, (stated.root, note))
        if root != stated.root:
            return Compared(
                (other, note), f"two heads of {stated.size} records with different roots were signed"
            )
    mine, theirs = Trail.from_text(a.trail), Trail.from_text(b.trail)
    if block := mine.differ(theirs):
        what = f"the two heads cover different records between {block[0]} and {block[1] - 1}"
        return Compared((a.heads[-1].note, b.heads[-1].note), what)
    shared = mine.shared(theirs)
    return Compared(None, f"the same log, as far as both remember it: the first {shared} records")


def _signed(vkeys: Sequence[str], notes: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for note in notes:
        try:
            kept.append(_open_any(note, vkeys).note.decode())
        except RefusedLogError:
            continue
    return kept
