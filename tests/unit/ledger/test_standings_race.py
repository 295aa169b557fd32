"""How records stand, asked while a record comes in that changes it: a moment that never was is not kept."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

import braid
from braid.ledger.read.backlinks import Backlinks


def test_a_correction_between_two_looks_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        id = store.append("Maya lives in Porto.")
        reader = store.session.reader
        assert reader.standings().lives(reader.index_of(id))
        real: Callable[[Backlinks], int] = vars(Backlinks)["superseding"].fget
        waiting = [Thread(target=store.correct, args=(id, "Maya lives in Faro."))]

        def late(self: Backlinks) -> int:
            if waiting:
                one = waiting.pop()
                one.start()
                one.join()
            return real(self)

        monkeypatch.setattr(Backlinks, "superseding", property(late))
        reader.standings().of(reader.index_of(id))
        store.append("It rains.")
        assert reader.standings().of(reader.index_of(id)).state == "replaced"
