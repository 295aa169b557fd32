"""The vault is moved whole, and none of its copies outlives the move, wherever it is interrupted."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.errors import VaultError
from braid.ledger.keys.vault_place import move_vault
from braid.ledger.settings import load_settings
from braid.wal import failpoint
from braid.wal.errors import LogLockedError


@pytest.fixture
def filled(store: Path) -> Path:
    with braid.open(store) as opened:
        opened.append("the needle")
    return store


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    failpoint.arm(None)


def works(store: Path) -> bool:
    with braid.open(store) as opened:
        id = opened.append("after the move")
        opened.erase(id)
        texts = [record.text for record in opened.read() if record.kind == "experience"]
    return texts == ["the needle"] and verify(store, deep=True, workers=1).exit_code == 0


def test_it_goes_and_comes_back(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    assert move_vault(filled, tmp_path / "disk") == tmp_path / "disk" / "vault"
    assert not (filled / "vault").exists()
    assert (tmp_path / "disk" / "vault").stat().st_mode & 0o777 == 0o600
    assert works(filled)
    assert move_vault(filled, filled / "vault") == filled / "vault"
    assert load_settings(filled).vault == "vault", "in the store the path is relative: the store may be moved"
    assert not (tmp_path / "disk" / "vault").exists()
    assert works(filled)


@pytest.mark.parametrize(
    "point", ["vault.copy", "vault.copy.done", "vault.copied", "settings.write.done", "vault.moved"]
)
def test_interrupted_it_is_run_again(filled: Path, tmp_path: Path, point: str) -> None:
    def die(name: str) -> None:
        if name == point:
            raise KeyboardInterrupt

    failpoint.arm(die)
    with pytest.raises(KeyboardInterrupt):
        move_vault(filled, tmp_path / "moved")
    failpoint.arm(None)
    with braid.open(filled, read_only=True) as opened:
        assert opened.reader.vault is not None
    assert move_vault(filled, tmp_path / "moved") == tmp_path / "moved"
    assert not (filled / "vault").exists()
    assert works(filled)


def test_another_file_is_not_replaced(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"mine")
    with pytest.raises(VaultError, match="there is another file already; nothing was moved"):
        move_vault(filled, tmp_path / "taken")
    assert (tmp_path / "taken").read_bytes() == b"mine"
    assert works(filled)


def test_the_vault_by_another_name_is_not_wiped(filled: Path, tmp_path: Path) -> None:
    """A hard link, or a folder that is mounted twice: wiping "the old one" would wipe the only one."""
    data, link = (filled / "vault").read_bytes(), tmp_path / "linked"
    link.hardlink_to(filled / "vault")
    with pytest.raises(VaultError, match="it is the vault itself, under another name; nothing was moved"):
        move_vault(filled, link)
    assert (filled / "vault").read_bytes() == link.read_bytes() == data
    settings = load_settings(filled)
    msgspec.structs.replace(settings, vault=str(link)).save(filled)
    assert move_vault(filled, link) == link
    assert link.read_bytes() == data


def test_not_while_somebody_writes(filled: Path, tmp_path: Path) -> None:
    with braid.open(filled), pytest.raises(LogLockedError):
        move_vault(filled, tmp_path / "moved")
    assert not (tmp_path / "moved").exists()


def test_no_store_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no store"):
        move_vault(tmp_path / "nothing", tmp_path / "moved")
    assert list(tmp_path.iterdir()) == []
