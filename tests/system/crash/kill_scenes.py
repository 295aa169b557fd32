"""What the kill tests' children do: a warmed process that forks one child for each scene it is told to play.

Each line on stdin is a JSON object {scene, store, guard, kill}; the answer is one line {status, said}: the child's
wait status and what it said before it ended: acknowledgements, and without `kill` the failpoints it passed.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from braid.ledger.backup.backup import back_up
from braid.ledger.backup.restore import Secrets
from braid.ledger.backup.restore import restore as restore_store
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.read.blobs import BlobStore
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal import append as logs
from braid.wal import failpoint

Say = Callable[..., None]


def memory(text: str, *links: tuple[str, str], type: str = "occurrence") -> Draft:
    """Return an experience that says `text`."""
    return Draft(kind="experience", type=type, body=ExperienceBody(content=Content(text=text)), links=links)


def purge(store: Path) -> list[str]:
    """Stand for the projections: one file, thrown away."""
    (store / "views" / "projection").unlink(missing_ok=True)
    return ["views/projection"]


def append(writer: Writer, say: Say, *texts: str) -> None:
    """Append the texts as one transaction and say so once it is acknowledged."""
    placed = writer.append([memory(text) for text in texts])
    say(kept={one.id: text for one, text in zip(placed, texts, strict=True)})


def init(store: Path, say: Say) -> None:
    create_store(store, now=datetime.now(UTC))
    say(made=True)


def appends(store: Path, say: Say) -> None:
    with closing(Writer(store)) as writer:
        append(writer, say, "one")
        append(writer, say, "two", "three", "four")
        writer.checkpoint()
        append(writer, say, "five")
    say(closed=True)


def tiles(store: Path, say: Say) -> None:
    """Cross the first full tile (the base has 250 records), twice publishing what lies above it."""
    with closing(Writer(store)) as writer:
        append(writer, say, *[f"first {n}" for n in range(10)])
        writer.checkpoint()
        append(writer, say, "second")
        writer.checkpoint()
        append(writer, say, "third")


def roll(store: Path, say: Say) -> None:
    setattr(logs, "SEGMENT_LIMIT", 3_000)  # noqa: B010 - imported by name there
    with closing(Writer(store)) as writer:
        for number in range(6):
            append(writer, say, f"{number} one", f"{number} two")


def forget(store: Path, say: Say) -> None:
    with closing(Writer(store)) as writer:
        target = next(id for id in ids_of(writer) if id.startswith("exp"))
        erasure.forget(writer, [target])
        say(forgotten=target)
        erasure.recover(writer, [target], datetime.now(UTC))
        say(recovered=target)


def ids_of(writer: Writer) -> list[str]:
    """Return the ids of all records."""
    return [envelope.id for envelope, _ in writer.envelopes()]


def erase(store: Path, say: Say) -> None:
    """Erase the base's first memory (index 3) and what is derived from it alone."""
    with closing(Writer(store)) as writer:
        certificates = erasure.erase(writer, cascades.plan(writer, [3]), lambda: purge(store))
        say(certified=[certificate.id for certificate in certificates])
        append(writer, say, "behind the erasure")


def retain(store: Path, say: Say) -> None:
    with closing(Writer(store)) as writer:
        erasure.retain(writer, datetime(2100, 1, 1, tzinfo=UTC), lambda: purge(store))
        say(certified=True)


def keep(store: Path, say: Say) -> None:
    """Let go of each class of what is no longer in force, as if many years had gone by."""
    from braid.entry import open as open_store

    with open_store(store, parser=None) as opened:
        setattr(opened.session, "_clock", lambda: datetime(2100, 1, 1, tzinfo=UTC))  # noqa: B010 - the log's clock goes on
        done = opened.retain()
        say(certified=[one.id for one in (*done.forgotten, *done.history)])


def finish(store: Path, say: Say) -> None:
    """Open as anybody does: what a crash left undone is done."""
    with closing(Writer(store)) as writer:
        erasure.finish(writer, lambda: purge(store))
        append(writer, say, "behind the recovery")


def compact(store: Path, say: Say) -> None:
    with closing(Writer(store)) as writer:
        append(writer, say, "before the compaction")
        erasure.compact(writer)
        say(compacted=True)
        append(writer, say, "behind the compaction")


def backup(store: Path, say: Say) -> None:
    """Back up, erase the base's first memory, back up again what is new; and with the vault, elsewhere."""
    with closing(Writer(store)) as writer:
        back_up(writer, store.parent / "backup", now=datetime.now(UTC))
        say(first=True)
        append(writer, say, "behind the first backup")
        erasure.erase(writer, cascades.plan(writer, [3]), lambda: purge(store))
        back_up(writer, store.parent / "backup", now=datetime.now(UTC))
        say(second=True)


def restore(store: Path, say: Say) -> None:
    """Come back from the backup beside the store's place; the guard remembers more than it holds."""
    secrets = Secrets(store.parent / "vault", store.parent / "keys")
    done = restore_store(store.parent / "backup", store, secrets=secrets, fork="a test")
    say(fork=done.fork)


SCENES: dict[str, Callable[[Path, Say], None]] = {
    scene.__name__: scene
    for scene in (init, appends, tiles, roll, forget, erase, retain, keep, finish, compact, backup, restore)
}


def base(store: Path, *, durability: str = "always", records: int = 0) -> None:
    """Make the store that a scene begins with: memories, one derived from another, one with media, one with both."""
    create_store(store, now=datetime.now(UTC), durability=durability)  # type: ignore[arg-type]
    (store / "views" / "projection").write_text("the needle in a projection")
    with closing(Writer(store)) as writer:
        reference = BlobStore(store / "blobs").put(b"the needle in media")
        needle = Draft(
            kind="experience",
            type="occurrence",
            body=ExperienceBody(content=Content(text="the needle")),
            blobs=[(reference.sha256, reference.size)],
        )
        one = writer.append([needle, memory("a straw")])
        derived = memory("from the needle", ("parent", one[0].id), type="inference")
        both = memory("from both", ("parent", one[0].id), ("parent", one[1].id), type="inference")
        writer.append([derived, both])
        if records:
            writer.append([memory(f"straw {number}") for number in range(records)])


def play(order: dict[str, str]) -> tuple[int, list[dict[str, object]]]:
    """Fork a child that plays one scene, killed where the order says; return its status and what it said."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        os._exit(perform(order, sending))
    os.close(sending)
    with os.fdopen(receiving) as said:
        lines = said.readlines()
    return os.waitpid(child, 0)[1], [json.loads(line) for line in lines if line.endswith("\n")]


def perform(order: dict[str, str], sending: int) -> int:
    """Play the scene in the child; return its exit code."""

    def say(**what: object) -> None:
        os.write(sending, json.dumps(what).encode() + b"\n")

    os.environ["BRAID_GUARD_DIR"] = order["guard"]
    try:
        failpoint.arm(
            failpoint.kill_at(order["kill"]) if order.get("kill") else lambda name: say(passed=name)
        )
        SCENES[order["scene"]](Path(order["store"]), say)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    for line in sys.stdin:
        status, said = play(json.loads(line))
        sys.stdout.write(json.dumps({"status": status, "said": said}) + "\n")
        sys.stdout.flush()
