"""What a process under torture does: write, read, or lead its clock astray, until it is killed or told to end.

Started as `python -m braid.tools.lab.torture.child ROLE STORE SEED`. Each line on stdout is a word and ids
(`Told.hear`).
"""

import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Final

import braid
from braid.ledger.errors import ClockError, ErasedError, ForgottenError
from braid.ledger.read.prefix import size_at
from braid.ledger.tree.guard import guard_folder
from braid.tools.lab.torture import onlookers
from braid.tools.lab.torture.clock import Clock, clock_of
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.words import is_whole, text_of
from braid.views.errors import ViewError

WAIT_S: Final = 60.0
TOLERANCE: Final = timedelta(minutes=5)
_JUMPS_S: Final = (-86_400, -3_600, -310, -290, -2, 0, 0.5, 2, 200, 290, 310, 3_600, 86_400)
_KEYS: Final = 40
_ended = Event()


def _end(signal_: int, frame: FrameType | None) -> None:
    _ended.set()


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def write(path: Path, chance: random.Random, clock: Clock) -> None:
    """Append, forget, erase, compact, replay and ask, sharing the store with others that do."""
    while not _ended.is_set():
        try:
            with braid.open(path, create=False, shared=True, wait_s=WAIT_S, clock=clock) as store:
                _say("ready")
                for _ in range(chance.randrange(5, 60)):
                    if _ended.is_set():
                        break
                    _act(store, chance)
        except ClockError:
            _say("refused", "ClockError")
            with suppress(OSError), braid.open(path, shared=True, wait_s=WAIT_S, clock=clock) as store:
                store.writer.accept_clock("torture")
                _say("accepted")
        except OSError as error:
            _say("refused", type(error).__name__)
            time.sleep(0.05)


def _act(store: "braid.Store", chance: random.Random) -> None:
    acts: list[tuple[float, Callable[[braid.Store, random.Random], None]]] = [
        (0.46, _append), (0.06, _append_once), (0.20, _append_several), (0.05, _checkpoint), (0.04, _ask),
        (0.02, _ask_the_past), (0.01, _replay), (0.015, _compact), (0.045, _forget), (0.04, _recover), (0.06, _erase),
    ]  # fmt: skip
    act = chance.choices([act for _, act in acts], [weight for weight, _ in acts])[0]
    act(store, chance)


def _append(store: "braid.Store", chance: random.Random) -> None:
    _say("appended", store.append(text_of(chance)))


def _append_once(store: "braid.Store", chance: random.Random) -> None:
    key = f"key-{chance.randrange(_KEYS)}"
    _say("once", key, store.append(text_of(random.Random(key)), idempotency_key=key))


def _append_several(store: "braid.Store", chance: random.Random) -> None:
    count = chance.randrange(2, 40)
    with store.transaction() as transaction:
        pending = [transaction.append(text_of(chance, place, count)) for place in range(count)]
    _say("appended", *[one.id for one in pending])


def _checkpoint(store: "braid.Store", chance: random.Random) -> None:
    store.checkpoint()


def _ask(store: "braid.Store", chance: random.Random) -> None:
    with suppress(ViewError):  # another process is at work on the view
        store.sql("SELECT count(*) FROM experiences")
        _say("asked")


def _ask_the_past(store: "braid.Store", chance: random.Random) -> None:
    """What the log held with some record in it, less what has been erased since: nothing that came later."""
    at = chance.randrange(len(store))
    size = size_at(store.reader, at)  # a transaction is in it whole
    with suppress(ViewError):
        found = store.sql("SELECT count(*) AS n, max(log_index) AS last FROM experiences", as_of=at)
        (row,) = found.to_pylist()
        if row["n"] > size or (row["last"] or 0) >= size:
            raise TortureError(
                f"as of record {at} the past holds {row}, though the log had {size} records then"
            )
        _say("past")


def _replay(store: "braid.Store", chance: random.Random) -> None:
    with suppress(ViewError):
        store.replay()
        _say("replayed")


def _compact(store: "braid.Store", chance: random.Random) -> None:
    store.compact()
    _say("compacted")


def _some_memory(store: "braid.Store", chance: random.Random) -> str | None:
    envelope = store.reader.envelope(chance.randrange(len(store)))
    return envelope.id if envelope.kind == "experience" else None


def _forget(store: "braid.Store", chance: random.Random) -> None:
    if id := _some_memory(store, chance):
        with suppress(ErasedError, ForgottenError):
            _say("hiding", id)
            store.forget(id)
            _say("hidden", id)


def _recover(store: "braid.Store", chance: random.Random) -> None:
    hidden = sorted(store.reader.control.hidden)
    if hidden:
        id = store.reader.envelope(chance.choice(hidden)).id
        with suppress(ErasedError, ValueError):  # another process was first
            _say("recovering", id)
            store.recover(id)
            _say("recovered", id)


def _erase(store: "braid.Store", chance: random.Random) -> None:
    if id := _some_memory(store, chance):
        with suppress(ErasedError, ViewError):  # another process was first, or is at work on the view
            _say("erasing", id)
            store.erase(id)
            _say("erased", id)


def read(path: Path, chance: random.Random, clock: Clock) -> None:
    """Follow the store, look at records, and say which heads are seen."""
    while not _ended.is_set():
        try:
            with braid.open(path, read_only=True, clock=clock) as store:
                _say("ready")
                for _ in range(chance.randrange(20, 200)):
                    if _ended.is_set():
                        break
                    _look(store, chance)
        except OSError as error:
            _say("refused", type(error).__name__)
            time.sleep(0.05)


def _look(store: "braid.Store", chance: random.Random) -> None:
    size = len(store)
    store.refresh()
    if len(store) < size:
        raise TortureError(f"a reader saw {size} records, then {len(store)}")
    head = store.reader.published
    _say("head", str(head.size), head.root.hex())
    if chance.random() < 0.02:
        with suppress(ViewError):
            store.sql("SELECT count(*) FROM experiences")
            _say("asked")
    index = chance.randrange(len(store))
    with suppress(ErasedError):
        record = store.reader.at(index, include_forgotten=True)
        _, place, count = record.envelope.tx
        if record.kind == "experience" and not is_whole(record.text, place, count):
            raise TortureError(f"record {index} reads {record.text[:60]!r}")
        _say("read")


def stray(path: Path, chance: random.Random, clock: Clock) -> None:
    """Write alone under a clock of this process's own, which jumps; refusals must be those that SPEC §8.2 promises."""
    added = timedelta()

    def led_astray() -> datetime:
        return clock() + added

    accepted = False
    first = True
    while not _ended.is_set():
        with braid.open(path, create=False, clock=led_astray) as store:
            _say("ready")
            for _ in range(chance.randrange(3, 30)):
                last = _last_time(store)
                # The first step goes ahead of the log: whether a lag was accepted before this process is then past.
                added = (
                    last - clock() + timedelta(seconds=1)
                    if first
                    else added + timedelta(seconds=chance.choice(_JUMPS_S))
                )
                behind = last - led_astray()
                if abs(behind - TOLERANCE) < timedelta(seconds=3):
                    continue  # which side of five minutes the append itself is on can't be told
                accepted = _step(store, chance, late=behind > TOLERANCE, accepted=accepted)
                first = False
                if _ended.is_set():
                    break


def _step(store: "braid.Store", chance: random.Random, *, late: bool, accepted: bool) -> bool:
    """Append once; return whether a lag stands accepted behind it."""
    before = _last_time(store)
    try:
        _say("appended", store.append(text_of(chance)))
    except ClockError:
        _say("refused", "ClockError")
        if not late or accepted:
            raise TortureError(
                "an append was refused for a clock that is not behind, or was accepted"
            ) from None
        if chance.random() < 0.5:
            store.writer.accept_clock("torture")
            _say("accepted")
            return True
        return False
    if late and not accepted:
        raise TortureError("an append was taken though the clock is more than five minutes behind")
    return accepted and _last_time(store) - before == timedelta(microseconds=1)


def _last_time(store: "braid.Store") -> datetime:
    return datetime.fromisoformat(store.reader.envelope(len(store) - 1).created_at)


def scan(path: Path, chance: random.Random, clock: Clock) -> None:
    """Read everything, over and over."""
    onlookers.scan(path, guard_folder(), _say, _ended)


def follow(path: Path, chance: random.Random, clock: Clock) -> None:
    """Copy the log as it grows, into a folder beside the store."""
    onlookers.follow(path, guard_folder(), path.with_name("served"), _say, _ended)


ROLES: Final = {role.__name__: role for role in (write, read, scan, follow, stray)}


def main(role: str, path: str, seed: str) -> None:
    """Play a role; SIGTERM ends it in good order."""
    signal.signal(signal.SIGTERM, _end)
    if limit := os.environ.get("BRAID_TORTURE_FILE_BYTES"):  # where no small disk can be had
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    ROLES[role](Path(path), random.Random(seed), clock_of(os.environ))


if __name__ == "__main__":
    main(*sys.argv[1:])
