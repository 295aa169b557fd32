"""When an append is on disk is what the log has signed: `store.json` alone loosens nothing (SPEC §1.1)."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.errors import KeyRefusedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.repair.derived_files import examine
from braid.ledger.settings import STRICTNESS, Durability, load_settings
from braid.ledger.write.create import create_store
from braid.ledger.write.durability import EVENT, choose, draft
from braid.ledger.write.writer import Writer
from braid.wal import durable

LOOSE: tuple[Durability, ...] = ("interval", "none")


def edit(store: Path, mode: Durability, record: str = "") -> None:
    """Change `store.json` as anybody can who may write the file."""
    msgspec.structs.replace(load_settings(store), durability=mode, durability_record=record).save(store)


def syncs_of_an_append(store: Path) -> int:
    """Return how often one append waits for the disk."""
    with closing(Writer(store)) as writer:
        writer.checkpoint()
        before = durable.counts["wal.sync"]
        writer.append([Draft(kind="event", body=EventBody(name="said"))])
        return durable.counts["wal.sync"] - before


def in_force(store: Path) -> Durability:
    with closing(Reader(store)) as reader:
        return reader.durability


def test_every_durability_has_its_place() -> None:
    assert get_args(Durability) == STRICTNESS


@pytest.mark.parametrize("mode", LOOSE)
def test_an_edited_setting_loosens_nothing_and_is_told(store: Path, mode: Durability) -> None:
    edit(store, mode)
    assert syncs_of_an_append(store) == 1
    with pytest.warns(braid.DurabilityWarning, match=rf"`{mode}`.*no signed record.*braid durability {mode}"):
        opened = braid.open(store)
    with opened:
        status = opened.status()
        assert (status.durability, status.durability_unsigned) == ("always", mode)
    (problem,) = examine(store)
    assert (problem.name, f"braid durability {mode}" in problem.remedy) == ("settings", True)


@pytest.mark.parametrize("mode", LOOSE)
def test_a_store_made_so_is_so_by_a_signed_record(tmp_path: Path, mode: Durability) -> None:
    store = tmp_path / "memory"
    create_store(store, now=datetime.now(UTC), durability=mode)
    assert in_force(store) == mode
    assert syncs_of_an_append(store) == 0
    assert examine(store) == []
    assert verify(store, workers=1).exit_code == 0
    edit(store, "none")
    assert in_force(store) == "always"


def test_it_is_changed_by_a_signed_event(store: Path) -> None:
    with closing(Writer(store)) as writer:
        id = choose(writer, "interval", "a faster import")
        assert writer.durability == "interval"
        assert writer.get(id).body.reason == "a faster import"
    assert in_force(store) == "interval"
    edit(store, "none", load_settings(store).durability_record)
    assert in_force(store) == "interval"  # what was signed, no looser
    with pytest.warns(braid.DurabilityWarning, match="`interval` counts"):
        opened = braid.open(store)
    with opened:
        opened.set_durability("always")
    assert (in_force(store), load_settings(store).durability_record) == ("always", "")
    edit(store, "interval")
    assert in_force(store) == "always"


def test_only_an_operators_event_of_this_log_bears_it_out(store: Path) -> None:
    with closing(Writer(store)) as writer:
        recorder = next(id for id, one in writer.signers.items() if one.role == "recorder")
        forged = writer.append([draft("none")], signer=recorder)[0].id
        other = writer.append([Draft(kind="event", body=EventBody(), public={"durability": "none"})])[0].id
        odd = writer.append([Draft(kind="event", body=EventBody(), public={"name": EVENT, "durability": 7})])[
            0
        ].id
        operators = next(iter((store / "keys").glob("operator-*.key")))
    for id in (forged, other, odd, f"{forged[:-1]}0", "nonsense", "evt_2026-01-01T00:00:00Z_00000fffuujn"):
        edit(store, "none", id)
        assert in_force(store) == "always", id
    edit(store, "always")
    operators.unlink()
    with closing(Writer(store)) as writer, pytest.raises(KeyRefusedError, match="a change of durability"):
        choose(writer, "none")
    assert in_force(store) == "always"
