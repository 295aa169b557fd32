"""Makes the stores of this folder: one of each kind that the released format has, small, with something of everything.

    python tests/data/stores/make.py            those that are not there yet

A store that has been released is never made again: it must open for ever
(tests/system/spec/test_released_stores.py). A new format version
gets a folder of its own here, made by the release that writes it. The keys and the vault lie open on
purpose: nothing in these stores is anybody's.
"""

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import braid
from braid.ledger.erase import erasure as erasing
from braid.ledger.settings import FORMAT
from braid.ledger.write.ceremony import retire_log_key, rotate_log_key
from braid.views.duck.schema import VERSION
from braid.wal import append as logs

HERE = Path(__file__).parent
PHRASE = "kept open on purpose"
VARIANTS: dict[str, dict[str, Any]] = {
    f"format-{FORMAT}": {},
    f"format-{FORMAT}-sealed": {"passphrase": PHRASE, "scope_chains": True},
}


def fill(path: Path, guard: Path, **choices: Any) -> None:
    """Write a store: every kind of record that a person can cause, two segments, a rotation, an erasure."""
    braid.init(path, guard_dir=guard, origin=f"braid.test/{path.parent.name}", **choices)
    limit, logs.SEGMENT_LIMIT = logs.SEGMENT_LIMIT, 24_000  # type: ignore[attr-defined]
    try:
        with braid.open(path, guard_dir=guard, passphrase=choices.get("passphrase")) as store:
            _speak(store, straws=20 if choices else 300)
            old = store.vkey
            rotate_log_key(store.writer)
            store.append("Under both keys of the log.", user_id="maya")
            retire_log_key(store.writer, old)
            store.append("Under the new key alone.", user_id="maya")
            erasing.compact(store.writer)
    finally:
        logs.SEGMENT_LIMIT = limit  # type: ignore[attr-defined]
    (path / "reserve").unlink()  # a megabyte of nothing, made again by the next writer
    shutil.rmtree(path / "views", ignore_errors=True)


def _speak(store: "braid.Store", straws: int) -> None:
    media = store.attach(
        b"\x89PNG not really", media_type="image/png", name="porto.png", caption="Porto at dusk"
    )
    porto = store.append(
        "Maya moved to Porto. 🌊",
        user_id="maya",
        session_id="s1",
        confidence=0.9,
        tags=["home"],
        media=[media],
    )
    store.remember(
        [{"role": "user", "content": "I drink tea now."}, {"role": "assistant", "content": "Noted."}],
        user_id="maya",
        session_id="s1",
    )
    lisbon = store.correct(porto, "Maya moved to Lisbon.", reason="misheard")
    with store.transaction() as transaction:
        many = [transaction.append(f"Straw {number}.", user_id="jonas") for number in range(straws)]
    store.append(
        "All the straws.", type="inference", parents=[one.id for one in many]
    )  # a list of links of its own
    store.append("Maya likes the sea.", type="inference", parents=[lisbon], user_id="maya")
    store.append("Said once.", idempotency_key="k1", user_id="jonas")
    store.feel(lisbon)
    hidden, back, gone = (
        store.append(text, user_id="jonas") for text in ("Hidden.", "Hidden, and back.", "Gone.")
    )
    store.append("Drawn from what is gone.", type="inference", parents=[gone])
    store.forget(hidden, back)
    store.recover(back)
    store.erase(gone, reason="asked for")
    store.checkpoint()


def state_of(path: Path, guard: Path, passphrase: str | None) -> dict[str, Any]:
    """Return what must be true of a store for ever: its head, its texts, and the digest of its projection."""
    with braid.open(path, guard_dir=guard, passphrase=passphrase) as store:
        store.replay("duck")
        head = store.reader.published
        texts = {record.id: record.text for record in store.read() if record.kind == "experience"}
        digest = store.views.status()[0].digest
        report = store.verify(deep=True)
        pinned = store.reader.control.log_vkey
    assert digest
    assert not report.findings, report.findings
    return {
        "vkey": pinned,
        "size": head.size,
        "root": head.root.hex(),
        "texts": sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest(),
        "readable": len(texts),
        "digests": {str(VERSION): digest.content},
    }


def main(told: Callable[[str], None] = print) -> None:
    """Make the stores that are missing."""
    for name, choices in VARIANTS.items():
        folder = HERE / name
        if folder.exists():
            continue
        folder.mkdir()
        fill(folder / "memory", folder / "guard", **choices)
        expected = {"format": FORMAT, "passphrase": choices.get("passphrase")}
        with closing(_Copy(folder)) as copy:
            expected |= state_of(copy.path / "memory", copy.path / "guard", choices.get("passphrase"))
        (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")
        told(f"made {name}")


class _Copy:
    """A copy to look at: looking writes projections."""

    def __init__(self, folder: Path) -> None:
        import tempfile

        self._home = tempfile.TemporaryDirectory()
        self.path = Path(shutil.copytree(folder, Path(self._home.name) / "copy"))

    def close(self) -> None:
        self._home.cleanup()


if __name__ == "__main__":
    main()
