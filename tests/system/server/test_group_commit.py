"""Many who wait for the disk share one sync: the log grows faster by many clients than by one."""

import json
import os
import time
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

import braid
from braid.client.remote import Remote
from braid.wal import durable
from tests.system.server.running import served

CLIENTS: Final = 32
EACH: Final = 15
SYNC_S: Final = 0.005
"""A sync of a middling disk. Here one takes a fifth of a millisecond, which hides what sharing it is worth."""


def append(store: Path, who: int, ids: list[str]) -> None:
    connection = Remote(store).connection()
    try:
        for number in range(EACH):
            connection.request("POST", "/v1/append", json.dumps({"text": f"{number} of {who}"}).encode())
            answer = connection.getresponse()
            said = json.loads(answer.read())
            assert answer.status == 200, said
            ids.append(said["id"])
    finally:
        connection.close()


def test_clients_that_wait_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "guard"))
    sync = os.fdatasync

    def slow(fd: int) -> None:
        time.sleep(SYNC_S)
        sync(fd)

    monkeypatch.setattr(os, "fdatasync", slow)
    with braid.open(tmp_path / "memory", server=None) as store, served(store):
        ids: list[str] = []
        began = durable.counts["wal.sync"]
        append(store.path, 0, ids)
        alone = durable.counts["wal.sync"] - began
        threads = [Thread(target=append, args=(store.path, who, ids)) for who in range(1, CLIENTS + 1)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        together = durable.counts["wal.sync"] - began - alone
        assert len(set(ids)) == (CLIENTS + 1) * EACH
        assert {store.get(id).id for id in ids} == set(ids)
        assert EACH <= alone <= 2 * EACH
        assert together * 5 <= CLIENTS * EACH
