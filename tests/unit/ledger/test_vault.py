"""The vault file: what is refused, and what every interrupted change leaves (SPEC §4.3, §4.4)."""

import errno
import os
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from braid.ledger.crypto import ggm
from braid.ledger.crypto.passphrase import KdfCost
from braid.ledger.errors import (
    LedgerError,
    PuncturedError,
    VaultCorruptError,
    VaultError,
    VaultMissingError,
    VaultPassphraseError,
    VaultStoreMismatchError,
)
from braid.ledger.keys.vault import HEADER_BYTES, Vault
from braid.wal import failpoint

STORE = "abcdefghijklmnop"
CHEAP = KdfCost(1, 8)
SECRET = "correct horse battery staple"


class DeathError(BaseException):
    """Stands for the process dying: nothing of ours catches it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the vault lies, alone in its folder."""
    return tmp_path / "store" / "vault"


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


def points_of(work: Callable[[], object]) -> list[str]:
    """Return the failpoints that the work passes, in order."""
    passed: list[str] = []
    failpoint.arm(passed.append)
    work()
    failpoint.arm(None)
    return passed


def die_at(place: int) -> Callable[[str], None]:
    """Return a hook that dies at the n-th point passed."""
    left = [place]

    def hook(_: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise DeathError

    return hook


def names(path: Path) -> list[str]:
    """Return the names in the vault's folder, sorted."""
    return sorted(file.name for file in path.parent.iterdir())


def folder_bytes(path: Path) -> bytes:
    """Return the bytes of every file beside the vault, itself included."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()))


def seeds_above(root: bytes, leaf: int) -> list[bytes]:
    """Return every seed from which the leaf follows, the root's first."""
    seeds = [root]
    for bit in range(39, -1, -1):
        pair = blake3(b"braid/v1/ggm", key=seeds[-1]).digest(length=64)
        seeds.append(pair[32:] if leaf >> bit & 1 else pair[:32])
    return seeds


def forge(path: Path, at: int, field: bytes) -> None:
    """Alter the file and set its check right, as only a hostile writer would."""
    raw = bytearray(path.read_bytes())
    raw[at : at + len(field)] = field
    raw[96:128] = blake3(bytes(raw[:96]) + bytes(raw[128:])).digest()
    path.write_bytes(raw)


def test_a_vault_comes_back_as_it_was(path: Path) -> None:
    vault = Vault.create(path, STORE)
    assert (vault.epoch, vault.store_id, vault.node_count, vault.has_passphrase) == (0, STORE, 1, False)
    assert vault.puncture([3, 5, 2**40 - 1]) == 1
    assert vault.puncture(range(100, 200)) == 2
    again = Vault.open(path, store_id=STORE)
    assert (again.epoch, again.store_id, again.lookup_key) == (2, STORE, vault.lookup_key)
    assert again.node_count == vault.node_count
    assert again.keys(0, 300) == vault.keys(0, 300)
    assert [i for i, key in enumerate(again.keys(0, 300)) if key is None] == [3, 5, *range(100, 200)]
    assert again.key(4) == again.keys(4, 1)[0]
    assert again.is_erased(150)
    assert not again.is_erased(99)
    with pytest.raises(PuncturedError, match="record 150"):
        again.key(150)
    assert names(path) == ["vault"]


def test_the_file_is_laid_out_as_specified(path: Path) -> None:
    vault = Vault.create(path, STORE)
    raw = path.read_bytes()
    assert len(raw) == 128 + 48 + 40
    assert raw[:16] == b"BRAIDVLT" + struct.pack("<HHI", 1, 0, 0)
    assert raw[16:48] == STORE.encode() + struct.pack("<QQ", 0, 88)
    assert raw[48:96] == bytes(48)
    assert raw[96:128] == blake3(raw[:96] + raw[128:]).digest()
    assert raw[128:160] == vault.lookup_key
    assert raw[160:184] == struct.pack("<IIQQ", 40, 0, 1, 1)


def test_two_vaults_share_nothing(tmp_path: Path) -> None:
    one, two = Vault.create(tmp_path / "one", STORE), Vault.create(tmp_path / "two", STORE)
    assert one.lookup_key != two.lookup_key
    assert one.key(0) != two.key(0)


def test_files_are_private_through_every_change(path: Path) -> None:
    modes: set[int] = set()
    previous = os.umask(0)
    try:
        vault = Vault.create(path, STORE)

        def note_modes(_: str) -> None:
            modes.update(stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir())

        failpoint.arm(note_modes)
        vault.puncture([1])
    finally:
        os.umask(previous)
    assert modes == {0o600}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.sample(2)
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("passphrase", [None, SECRET])
def test_every_flipped_bit_is_refused_and_nothing_is_touched(
    path: Path, passphrase: str | None, step: int
) -> None:
    """Each byte has one of its bits flipped at the least, and each place in a byte is met; in a soak all of them."""
    Vault.create(path, STORE, passphrase, cost=CHEAP).puncture([2**39])
    raw = path.read_bytes()
    for bit in sorted({*range(0, len(raw) * 8, step), *(8 * byte + byte % 8 for byte in range(len(raw)))}):
        altered = bytearray(raw)
        altered[bit // 8] ^= 1 << bit % 8
        path.write_bytes(altered)
        with pytest.raises(VaultCorruptError, match=f"^vault {path}: "):
            Vault.open(path, passphrase)
        assert path.read_bytes() == altered


@pytest.mark.parametrize("passphrase", [None, SECRET])
def test_every_truncation_and_an_extension_are_refused(path: Path, passphrase: str | None) -> None:
    Vault.create(path, STORE, passphrase, cost=CHEAP).puncture([2**39])
    raw = path.read_bytes()
    for altered in [*(raw[:size] for size in range(len(raw))), raw + b"\0"]:
        path.write_bytes(altered)
        with pytest.raises(VaultCorruptError, match=f"^vault {path}: "):
            Vault.open(path, passphrase)


@pytest.mark.parametrize(
    ("at", "field"),
    [
        (10, b"\x02"),  # a mode that is none
        (10, b"\x01"),  # passphrase mode without a cost
        (12, b"\x01"),
        (16, b"\xff"),
        (40, b"\x00"),
        (48, b"\x01"),
        (56, b"\x01"),
        (72, b"\x01"),
        (160, b"\x29"),
        (164, b"\x01"),
        (168, b"\x02"),
        (176, b"\x00"),  # node 0
        (176, b"\x00\x00\x00\x00\x00\x02"),  # a node below the leaves
    ],
)
def test_a_forged_check_does_not_make_nonsense_pass(path: Path, at: int, field: bytes) -> None:
    Vault.create(path, STORE)
    forge(path, at, field)
    with pytest.raises(VaultCorruptError, match="contradicts itself"):
        Vault.open(path)


@pytest.mark.parametrize(
    ("at", "field"), [(48, b"\xff"), (52, b"\xff\xff\xff\xff"), (52, bytes(4)), (48, bytes(4))]
)
def test_an_absurd_key_derivation_is_refused_before_it_runs(path: Path, at: int, field: bytes) -> None:
    Vault.create(path, STORE, SECRET, cost=CHEAP)
    forge(path, at, field)
    with pytest.raises(VaultCorruptError, match="contradicts itself"):
        Vault.open(path, SECRET)


def test_a_newer_format_is_refused_before_anything_else(path: Path) -> None:
    Vault.create(path, STORE)
    forge(path, 8, b"\x02")
    with pytest.raises(VaultCorruptError, match="format 2 is unknown"):
        Vault.open(path)


def test_a_missing_vault_says_what_that_means(path: Path) -> None:
    with pytest.raises(VaultMissingError, match="without it no record can be read") as refusal:
        Vault.open(path)
    assert refusal.value.path == path
    assert isinstance(refusal.value, VaultError)
    assert isinstance(refusal.value, LedgerError)


def test_a_vault_of_another_store_is_refused_before_its_passphrase_is_asked(path: Path) -> None:
    Vault.create(path, STORE, SECRET, cost=CHEAP)
    with pytest.raises(VaultStoreMismatchError, match=f"belongs to store {STORE}, not qrstuvwxyzabcdef"):
        Vault.open(path, store_id="qrstuvwxyzabcdef")


def test_creating_never_replaces_a_vault(path: Path) -> None:
    Vault.create(path, STORE)
    raw = path.read_bytes()
    with pytest.raises(VaultError, match="never overwritten"):
        Vault.create(path, STORE)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("store_id", ["", "short", "abcdefghijklmnopq", "abcdefghijklmnoé"])
def test_store_ids_that_are_none_are_misuse(path: Path, store_id: str) -> None:
    with pytest.raises(ValueError, match=r"16 characters|ascii"):
        Vault.create(path, store_id)
    assert not path.exists()


def test_passphrases(path: Path) -> None:
    vault = Vault.create(path, STORE, "café", cost=CHEAP)
    vault.puncture([9])
    assert vault.has_passphrase
    assert vault.lookup_key not in path.read_bytes()
    assert Vault.open(path, "cafe\u0301").key(1) == vault.key(1)  # the same word in another Unicode form
    for wrong in (None, "cafe"):
        with pytest.raises(VaultPassphraseError, match=r"wrong|needs") as refusal:
            Vault.open(path, wrong)
        assert refusal.value.path == path
        assert "caf" not in str(refusal.value)
    with pytest.raises(ValueError, match="empty"):
        Vault.create(path.with_name("other"), STORE, "", cost=CHEAP)


def test_a_passphrase_for_a_vault_without_one_is_refused(path: Path) -> None:
    Vault.create(path, STORE)
    with pytest.raises(VaultPassphraseError, match="has no passphrase"):
        Vault.open(path, SECRET)


def test_each_rewrite_under_a_passphrase_has_a_fresh_nonce(path: Path) -> None:
    vault = Vault.create(path, STORE, SECRET, cost=CHEAP)
    first = path.read_bytes()
    vault.puncture([1])
    second = path.read_bytes()
    assert first[56:72] == second[56:72]  # the salt: the passphrase is not asked again
    assert first[72:96] != second[72:96]


def puncture_points(tmp_path: Path) -> list[str]:
    """Return the points that a puncture passes."""
    vault = Vault.create(tmp_path / "probe" / "vault", STORE)
    return points_of(lambda: vault.puncture([77]))


def test_a_puncture_passes_the_documented_points(tmp_path: Path) -> None:
    assert puncture_points(tmp_path) == [
        "vault.write",
        "vault.write.done",
        "vault.new-written",
        "vault.link",
        "vault.linked",
        "vault.linked.done",
        "vault.rename",
        "vault.renamed",
        "vault.renamed.done",
        "vault.wipe",
        "vault.old-zeroed",
        "vault.old-wiped",
        "vault.old-wiped.done",
    ]


@pytest.mark.parametrize("passphrase", [None, SECRET])
def test_dying_anywhere_leaves_the_old_vault_or_the_new_whole(tmp_path: Path, passphrase: str | None) -> None:
    points = puncture_points(tmp_path)
    for place, name in enumerate(points):
        path = tmp_path / f"{place}" / "vault"
        vault = Vault.create(path, STORE, passphrase, cost=CHEAP)
        root = path.read_bytes()[-32:]
        key, neighbour = vault.key(77), vault.key(78)
        failpoint.arm(die_at(place))
        with pytest.raises(DeathError):
            vault.puncture([77])
        failpoint.arm(None)
        renamed = place >= points.index("vault.renamed")
        # A reader changes nothing, and already sees one of the two.
        before = names(path)
        reader = Vault.open(path, passphrase, writable=False)
        assert names(path) == before
        assert reader.epoch == int(renamed), name
        writer = Vault.open(path, passphrase, store_id=STORE)
        assert names(path) == ["vault"], name
        assert (writer.epoch, writer.is_erased(77)) == (int(renamed), renamed), name
        assert writer.key(78) == neighbour
        if renamed:
            assert passphrase is not None or not any(
                s in folder_bytes(path) for s in seeds_above(root, 77)
            ), name
        else:
            assert writer.key(77) == key, name
        assert writer.puncture([77]) == writer.epoch == 1 + renamed  # and life goes on


def test_dying_while_creating_leaves_no_vault_or_a_whole_one(tmp_path: Path) -> None:
    points = points_of(lambda: Vault.create(tmp_path / "probe" / "vault", STORE))
    for place, name in enumerate(points):
        path = tmp_path / f"{place}" / "vault"
        failpoint.arm(die_at(place))
        with pytest.raises(DeathError):
            Vault.create(path, STORE)
        failpoint.arm(None)
        if path.exists():
            assert place >= points.index("vault.renamed"), name
            Vault.open(path)
        else:
            Vault.create(path, STORE)
        assert names(path) == ["vault"]


def test_dying_while_finishing_a_change_is_finished_by_the_next_opening(path: Path) -> None:
    vault = Vault.create(path, STORE)
    points = points_of(lambda: vault.puncture([1]))
    failpoint.arm(die_at(points.index("vault.renamed.done")))
    with pytest.raises(DeathError):
        vault.puncture([2])
    for place in range(3):
        failpoint.arm(die_at(place))
        with pytest.raises(DeathError):
            Vault.open(path)
    failpoint.arm(None)
    assert Vault.open(path).epoch == 2
    assert names(path) == ["vault"]


def test_the_replaced_file_is_zeros_before_it_is_unlinked(path: Path) -> None:
    vault = Vault.create(path, STORE)
    size = path.stat().st_size
    old: list[bytes] = []

    def look(name: str) -> None:
        if name == "vault.old-zeroed":
            old.append(path.with_name("vault.old").read_bytes())

    failpoint.arm(look)
    vault.puncture([1])
    assert old == [bytes(size)]


def test_leftovers_stay_while_the_live_vault_is_not_known_to_be_whole(path: Path) -> None:
    Vault.create(path, STORE)
    path.with_name("vault.old").write_bytes(path.read_bytes())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(VaultCorruptError):
        Vault.open(path)
    assert names(path) == ["vault", "vault.old"]


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, code: int, spare: int = 0) -> None:
    """Make `os.<name>` fail, after `spare` calls that work."""
    real = getattr(os, name)
    left = [spare]

    def failing(*args: object, **kwargs: object) -> object:
        left[0] -= 1
        if left[0] == -1:
            raise OSError(code, os.strerror(code))
        return real(*args, **kwargs)

    monkeypatch.setattr(os, name, failing)


# fsync: 0 is the new file's, 1 the folder's after the link, 2 after the rename, 3 the wiped file's, 4 the last.
@pytest.mark.parametrize(
    ("call", "spare", "done"),
    [
        ("write", 0, False),
        ("fsync", 0, False),
        ("link", 0, False),
        ("fsync", 1, False),
        ("rename", 0, False),
        ("fsync", 2, True),
        ("write", 1, True),
        ("fsync", 3, True),
        ("unlink", 0, True),
        ("fsync", 4, True),
    ],
)
def test_a_full_or_failing_disk_leaves_one_whole_vault(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str, spare: int, done: bool
) -> None:
    vault = Vault.create(path, STORE)
    raw, key = path.read_bytes(), vault.key(8)
    with monkeypatch.context() as patch:
        refuse(patch, call, errno.ENOSPC, spare)
        with pytest.raises(OSError, match="No space left"):
            vault.puncture([8])
    assert (vault.epoch, vault.is_erased(8)) == (int(done), done)
    if not done:
        assert path.read_bytes() == raw
        assert names(path) == ["vault"]
        assert vault.key(8) == key
    assert vault.puncture([9]) == 1 + done
    assert names(path) == ["vault"]
    assert Vault.open(path).keys(8, 3) == vault.keys(8, 3)
    assert Vault.open(path).is_erased(8) == done


def test_misuse_of_puncture_changes_nothing(path: Path) -> None:
    vault = Vault.create(path, STORE)
    raw = path.read_bytes()
    with pytest.raises(ValueError, match="not within"):
        vault.puncture([1, 2**40])
    with pytest.raises(VaultError, match="read-only"):
        Vault.open(path, writable=False).puncture([1])
    assert path.read_bytes() == raw
    assert vault.epoch == 0
    assert not vault.is_erased(1)


def test_two_handles_never_bring_back_what_the_other_erased(path: Path) -> None:
    one = Vault.create(path, STORE)
    two, reader = Vault.open(path), Vault.open(path, writable=False)
    reader.key(5)
    one.puncture([5])
    assert two.puncture([6]) == 2
    assert [Vault.open(path).is_erased(i) for i in (5, 6, 7)] == [True, True, False]
    assert reader.refresh()
    assert not reader.refresh()
    assert reader.is_erased(5)
    assert (reader.epoch, one.epoch) == (2, 1)


def test_a_vault_that_goes_back_in_time_is_refused(path: Path) -> None:
    vault = Vault.create(path, STORE)
    old = path.read_bytes()
    vault.puncture([5])
    path.write_bytes(old)
    with pytest.raises(VaultCorruptError, match="back from epoch 1 to 0"):
        vault.refresh()
    with pytest.raises(VaultCorruptError, match="back from epoch 1 to 0"):
        vault.puncture([6])
    assert vault.is_erased(5)


def test_a_vault_that_becomes_another_is_refused(path: Path) -> None:
    vault = Vault.create(path, STORE)
    Vault.create(path.with_name("other"), "qrstuvwxyzabcdef").puncture([1])
    path.with_name("other").replace(path)
    with pytest.raises(VaultStoreMismatchError, match="belongs to store qrst"):
        vault.refresh()
    path.unlink()
    with pytest.raises(VaultMissingError):
        vault.refresh()
    Vault.create(path, STORE, SECRET, cost=CHEAP)
    with pytest.raises(VaultPassphraseError, match="open it again"):
        vault.refresh()


def test_a_reader_that_meets_a_rewrite_reads_the_new_vault(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = Vault.create(path, STORE)
    real, left = os.fstat, [1]

    def rewrite_first(fd: int) -> os.stat_result:
        if left[0]:
            left[0] = 0
            vault.puncture([1])  # between the reader's read and its look at the name
        return real(fd)

    monkeypatch.setattr(os, "fstat", rewrite_first)
    assert Vault.open(path, writable=False).epoch == 1


def test_a_linked_path_is_followed_to_the_file_itself(path: Path, tmp_path: Path) -> None:
    Vault.create(path, STORE)
    link = tmp_path / "link"
    link.symlink_to(path)
    Vault.open(link).puncture([4])
    assert link.is_symlink()
    assert names(path) == ["vault"]
    assert Vault.open(path).is_erased(4)


def test_a_second_thread_never_disturbs_a_derivation(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = Vault.create(path, STORE)
    right = vault.keys(0, 256)
    intruders: list[threading.Thread] = []
    derived: dict[int, object] = {}

    def intrude(index: int) -> None:
        derived[index] = vault.key(index)

    def interrupted(data: bytes, *, key: bytes) -> blake3:
        if len(intruders) < 35 and threading.current_thread() is threading.main_thread():
            intruders.append(threading.Thread(target=intrude, args=(7 * len(intruders),)))
            intruders[-1].start()
            intruders[-1].join(0.002)  # it runs through here unless it has to wait for its turn
        return blake3(data, key=key)

    monkeypatch.setattr(ggm, "blake3", interrupted)
    assert [vault.key(index) for index in (255, 128, 127, 3)] == [
        right[index] for index in (255, 128, 127, 3)
    ]
    for thread in intruders:
        thread.join()
    assert derived == {index: right[index] for index in range(0, 7 * 35, 7)}
    assert [vault.key(index) for index in range(256)] == right


def test_nothing_prints_a_secret(path: Path) -> None:
    vault = Vault.create(path, STORE, SECRET, cost=CHEAP)
    shown = " ".join(f"{part!r} {part}" for part in (vault, *vars(vault).values()))
    assert SECRET not in shown
    assert repr(vault.lookup_key)[2:-1] not in shown
    assert HEADER_BYTES == 128
