"""What no store can beat on this machine: raw signing, verifying, sealing, hashing, syncing and reading."""

import os
import time
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
    crypto_sign,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)

from braid.tools.bench.measure import Floor, rate_for

MESSAGE_BYTES: Final = 1024
CORES: Final = os.cpu_count() or 1
_SEED: Final = bytes(range(32))
_READ_BYTES: Final = 1 << 20


def _message() -> bytes:
    return (bytes(range(256)) * (MESSAGE_BYTES // 256))[:MESSAGE_BYTES]


def _sign() -> Callable[[], object]:
    return partial(crypto_sign, _message(), crypto_sign_seed_keypair(_SEED)[1])


def _verify() -> Callable[[], object]:
    public, secret = crypto_sign_seed_keypair(_SEED)
    return partial(crypto_sign_open, crypto_sign(_message(), secret), public)


def _seal() -> Callable[[], object]:
    return partial(crypto_aead_xchacha20poly1305_ietf_encrypt, _message(), None, bytes(24), _SEED)


def _unseal() -> Callable[[], object]:
    sealed = crypto_aead_xchacha20poly1305_ietf_encrypt(_message(), None, bytes(24), _SEED)
    return partial(crypto_aead_xchacha20poly1305_ietf_decrypt, sealed, None, bytes(24), _SEED)


def _sha256() -> Callable[[], object]:
    message = _message()
    return lambda: sha256(message).digest()


def _leaf() -> Callable[[], object]:
    """One leaf of a kilobyte and the one inner node that each leaf costs."""
    message, pair = b"\x00" + _message(), b"\x01" + bytes(64)

    def leaf_and_node() -> None:
        sha256(message).digest()
        sha256(pair).digest()

    return leaf_and_node


ACTS: Final = {
    "sign": _sign,
    "verify": _verify,
    "aead.seal": _seal,
    "aead.open": _unseal,
    "sha256": _sha256,
    "leaf": _leaf,
}
"""What is repeated, by name: made again in each process."""


def raw(act: str, seconds: float) -> float:
    """Return how often a second one core does it."""
    return rate_for(ACTS[act](), seconds)


def _raw_at(act: str, start: float, seconds: float) -> float:
    run = ACTS[act]()
    while time.monotonic() < start:  # CLOCK_MONOTONIC is the machine's, the same in every process
        run()
    return rate_for(run, seconds)


class AllCores:
    """One process for each core, all busy at the same time."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def rate(self, act: str, seconds: float) -> float:
        """Return how often a second all cores do it together."""
        start = time.monotonic() + 0.02
        busy = [self._pool.submit(_raw_at, act, start, seconds) for _ in range(CORES)]
        return sum(one.result() for one in busy)


@contextmanager
def all_cores() -> Generator[AllCores, None, None]:
    """Give processes that last as long as the block, started and warm."""
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        cores = AllCores(pool)
        for _ in range(2):
            cores.rate("sha256", 0.01)
        yield cores


class Disk(NamedTuple):
    """The file system under test."""

    folder: Path

    @contextmanager
    def scratch(self) -> Generator[int, None, None]:
        """Give a descriptor open for appending to a file that goes afterwards."""
        path = self.folder / "scratch"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            yield fd
        finally:
            os.close(fd)
            path.unlink()

    def synced_writes(self, size: int, seconds: float, *, signing: bool, delay_s: float = 0.0) -> float:
        """Return how many appends of `size` bytes, each with one fdatasync (and one signature), go into a second.

        `delay_s`: how much longer a sync takes than the disk needs.
        """
        data, sign = os.urandom(size), _sign()
        with self.scratch() as fd:

            def append() -> None:
                if signing:
                    sign()
                os.write(fd, data)
                if delay_s:
                    time.sleep(delay_s)
                os.fdatasync(fd)

            return rate_for(append, seconds)

    def read_rate(self, path: Path) -> float:
        """Return MB/s of reading a file front to back (from the page cache where it lies there)."""
        done, start = 0, time.perf_counter()
        with path.open("rb", buffering=0) as file:
            while data := file.read(_READ_BYTES):
                done += len(data)
        return done / (time.perf_counter() - start) / 1e6


def signing(seconds: float) -> Floor:
    """Raw ed25519 signatures on one core."""
    return Floor("raw sign, one core", partial(raw, "sign", seconds))


def durable(disk: Disk, size: int, seconds: float) -> Floor:
    """One signature, one write, one fdatasync."""
    return Floor(
        f"sign + write and fdatasync of {size} bytes",
        partial(disk.synced_writes, size, seconds, signing=True),
    )
