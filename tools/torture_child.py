"""What a process under torture does: write or read one store at random until it is killed (see `torture`)."""

import random
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import braid
from braid.ledger.errors import ClockError, ErasedError, ForgottenError
from braid.views.errors import ViewError


class StrangeTextError(AssertionError):
    """A record reads what was never written."""


def child(role: str, path: Path, seed: int, skew_s: float) -> None:
    """Write or read at random until killed; each line on stdout says what has been acknowledged."""
    chance = random.Random(seed)

    def clock() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=skew_s)

    while True:
        try:
            with braid.open(path, read_only=role == "read", shared=True, wait_s=20, clock=clock) as store:
                for _ in range(chance.randrange(5, 60)):
                    (_read if role == "read" else _write)(store, chance)
        except ClockError:
            with braid.open(path, shared=True, wait_s=20, clock=clock) as store:
                store.writer.accept_clock("torture")
        except OSError as error:
            _say("refused", type(error).__name__)
            time.sleep(0.05)


def _write(store: "braid.Store", chance: random.Random) -> None:
    act = chance.random()
    if act < 0.55:
        _say("append", store.append(text_of(chance)))
    elif act < 0.8:
        with store.transaction() as transaction:
            places = [transaction.append(text_of(chance)) for _ in range(chance.randrange(1, 40))]
        _say("append", *[place.id for place in places])
    elif act < 0.85:
        store.checkpoint()
    elif act < 0.88:
        with suppress(ViewError):  # another process is at work on the view
            store.views.sql("SELECT count(*) FROM experiences")
    elif act < 0.89:
        store.compact()
    else:
        _forget(store, chance, act)


def _forget(store: "braid.Store", chance: random.Random, act: float) -> None:
    index = chance.randrange(3, len(store)) if len(store) > 3 else 0
    envelope = store.reader.envelope(index)
    if envelope.kind != "experience":
        return
    try:
        if act < 0.93:
            _say("hiding", envelope.id)
            store.forget(envelope.id)
        elif act < 0.96:
            store.recover(envelope.id)
        else:
            _say("erasing", envelope.id)
            store.erase(envelope.id)
            _say("erased", envelope.id)
    except (ErasedError, ForgottenError, ValueError, ViewError):
        return  # another process was first, or is at work on the view


def _read(store: "braid.Store", chance: random.Random) -> None:
    store.refresh()
    index = chance.randrange(len(store))
    try:
        record = store.reader.at(index, include_forgotten=True)
    except ErasedError:
        return
    if record.kind == "experience" and not record.text.startswith("torture "):
        raise StrangeTextError(f"record {index} reads {record.text[:40]!r}")


def text_of(chance: random.Random) -> str:
    """Return what a tormented process remembers; anything else read back is damage."""
    return f"torture {chance.getrandbits(64):016x} " + "x" * chance.choice((0, 10, 1_000, 20_000))


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    child(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
