"""A server that is killed again and again while clients append through its socket; and its log at the end."""

import random
import signal
import time
from collections import Counter
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final, NamedTuple

import braid
from braid.client import Client
from braid.errors import RemoteError, UnreachableError
from braid.log.operations import Append, append
from tests.system.server.running import Process

CLIENTS: Final = 6
AGAIN: Final = 0.1
"""How many of the acknowledged records are sent once more under their key, though they needn't be."""
PATIENCE_S: Final = 90.0


class Report(NamedTuple):
    """What became of the records. `known`: sent again, and told that they were there already."""

    kills: int
    acknowledged: int
    retried: int
    known: int


class Clients:
    """Threads that append, each under keys of its own, and send again what they have no answer to."""

    def __init__(self, store: Path, seed: int) -> None:
        self._store = store
        self._stopped = Event()
        self._turn = Lock()
        self._failures: list[BaseException] = []
        self._threads = [Thread(target=self._run, args=(at, seed)) for at in range(CLIENTS)]
        self.told: dict[str, str] = {}
        """Text → the id that was acknowledged for it."""
        self.retried = self.known = 0

    def start(self) -> None:
        """Let them begin."""
        for one in self._threads:
            one.start()

    def wait_for(self, count: int) -> None:
        """Wait until so many records are acknowledged."""
        deadline = time.monotonic() + PATIENCE_S
        while len(self.told) < count and not self._failures:
            assert time.monotonic() < deadline, f"{len(self.told)} of {count} records were acknowledged"
            time.sleep(0.005)

    def stop(self) -> None:
        """Let each get the answer that it waits for, and end. Raises what a client failed with."""
        self._stopped.set()
        for one in self._threads:
            one.join(PATIENCE_S)
        if self._failures:
            raise self._failures[0]
        assert not any(one.is_alive() for one in self._threads)

    def _run(self, at: int, seed: int) -> None:
        chance = random.Random(f"{seed} {at}")
        try:
            with braid.connect(self._store) as client:
                number = 0
                while not self._stopped.is_set():
                    text = f"Client {at} saw number {number}."
                    first = self._sent(client, text, f"{at}-{number}")
                    if chance.random() < AGAIN:
                        assert self._sent(client, text, f"{at}-{number}") == first
                    number += 1
        except BaseException as error:  # raised by `stop`, in the thread of the test
            self._failures.append(error)

    def _sent(self, client: Client, text: str, key: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                done = client.call(append, Append(text=text, user_id="maya", idempotency_key=key))
            except (UnreachableError, RemoteError, OSError):
                assert time.monotonic() < deadline
                with self._turn:
                    self.retried += 1
                time.sleep(0.01)
                continue
            with self._turn:
                self.known += done.known
                assert self.told.setdefault(text, done.id) == done.id
            return done.id


def kill_under_load(folder: Path, kills: int, *, seed: int = 1) -> Report:
    """Kill a server so often at random moments, hold its log to what it acknowledged, and return the figures."""
    chance = random.Random(seed)
    store = folder / "memory"
    braid.init(store)
    server, clients = Process(store), Clients(store, seed)
    running = server.start()
    clients.start()
    try:
        for _ in range(kills):
            clients.wait_for(len(clients.told) + chance.choice((0, 1, 20)))
            time.sleep(chance.uniform(0.0, 0.4))
            running.send_signal(signal.SIGKILL)
            assert running.wait(30) == -signal.SIGKILL
            running = server.start()
        clients.stop()
        running.terminate()
        assert running.wait(60) == 0
    finally:
        running.kill()
        clients.stop()
    _hold(store, clients.told)
    return Report(kills, len(clients.told), clients.retried, clients.known)


def _hold(store: Path, told: dict[str, str]) -> None:
    """Each record that was acknowledged is in the log once, under its id; no other is; and the log verifies."""
    with braid.open(store, create=False, server=None) as opened:
        found = [(record.text, record.id) for record in opened.read() if record.kind == "experience"]
        texts = Counter(text for text, _ in found)
        assert [text for text, count in texts.items() if count > 1] == []
        assert dict(found) == told
        assert opened.verify(deep=True).exit_code == 0
