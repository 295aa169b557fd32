"""A log server that lies on demand: every lie is refused under its name, by the mirror and by the monitor alike.

A real server, started by the test on this machine. After each lie the mirror still publishes what it had, holds no byte
of the lie, and goes on when the server tells the truth again; the monitor remembers what was good.
"""

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.folder import Folder, Outlet
from braid.ledger.publish.mirror import copy_log, finish_copy
from braid.ledger.publish.remote import ServedLog, open_head
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import root_of
from braid.ledger.tree.note import signing_key
from braid.ledger.tree.tiles import pack_entries, unpack_entries
from braid.ledger.witness.monitor import AlertLimits, MonitorState, look
from braid.tools.tlog.client import RemoteLog, Site
from braid.tools.tlog.routes import answer_from
from braid.tools.tlog.server import HttpReply, LogServer
from tests.unit.ledger.made_log import KEY, ORIGIN, MadeLog, counted, fetch_from

SMALL, LARGE = 200, 300
LOG = MadeLog(counted(400))
OTHER = MadeLog([*counted(150), *counted(250, "another")])
STRANGER = MadeLog(counted(400), signing_key(ORIGIN, bytes(32)))
FOREIGN = MadeLog(counted(400), signing_key("log.example/other", bytes(range(32))))

Lie = Callable[[dict[str, bytes]], None]


class Liar:
    """Serves files; `raw` answers some paths with replies of its own."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.raw: dict[str, HttpReply] = {}
        self.server = LogServer(("127.0.0.1", 0), self._answer)
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def _answer(self, method: str, path: str, body: bytes, zips: bool) -> HttpReply:
        return self.raw.get(path) or answer_from(fetch_from(self.files))(method, path, body, zips)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def serving() -> Iterator[Liar]:
    liar = Liar()
    yield liar
    liar.close()


@pytest.fixture
def liar(serving: Liar) -> Liar:
    """The server, telling the truth about the small log."""
    serving.files, serving.raw = LOG.files(SMALL), {}
    return serving


class Consumer(NamedTuple):
    """Something that follows a log: `follow` refuses or takes it, `stands` says where it is."""

    follow: Callable[[], None]
    stands: Callable[[], int]


def mirror_of(liar: Liar, folder: Path) -> Consumer:
    def follow() -> None:
        remote, outlet = RemoteLog(Site(liar.server.url, timeout_s=2)), Outlet(folder)
        try:
            log = ServedLog(remote.fetch, LOG.vkey)
            head = log.head()
            copy_log(log, outlet, head, gather=remote.gather)
            finish_copy(log, outlet, head)
        finally:
            outlet.close()
            remote.close()

    return Consumer(follow, lambda: open_head(Folder(folder).fetch("checkpoint"), LOG.vkey).size)


def monitor_of(liar: Liar, folder: Path) -> Consumer:
    del folder
    states: list[MonitorState | None] = [None]

    def follow() -> None:
        remote = RemoteLog(Site(liar.server.url, timeout_s=2))
        try:
            seen = look(
                ServedLog(remote.fetch, LOG.vkey), states[0], AlertLimits(), 1_700_000_000, remote.gather
            )
        finally:
            remote.close()
        states[0] = seen.state
        for alarm in seen.alarms:
            if alarm.kind not in ("record", "author"):  # the made log's entries are no records of Braid
                raise RefusedLogError(alarm.kind, alarm.what)

    def stands() -> int:
        assert states[0]
        return states[0].trail.size

    return Consumer(follow, stands)


@pytest.fixture(params=[mirror_of, monitor_of], ids=["mirror", "monitor"])
def consumer(request: pytest.FixtureRequest, liar: Liar, tmp_path: Path) -> Consumer:
    """A consumer that has followed the honest log to its small size."""
    made: Consumer = request.param(liar, tmp_path / "mirror")
    made.follow()
    assert made.stands() == SMALL
    return made


def flipped(data: bytes, at: int = -1) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def change(path: str, act: Callable[[bytes], bytes]) -> Lie:
    def lie(files: dict[str, bytes]) -> None:
        files[path] = act(files[path])

    return lie


def drop(path: str) -> Lie:
    return lambda files: files.__delitem__(path)


def swap(path: str, other: str) -> Lie:
    def lie(files: dict[str, bytes]) -> None:
        files[path] = files[other]

    return lie


def entries(act: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    return lambda data: pack_entries(act(unpack_entries(data)))


def sized(line: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(b"\n300\n", line)


def say(data: bytes) -> Lie:
    return change("checkpoint", lambda _: data)


def signed(size: int, root: bytes) -> bytes:
    return sign_checkpoint(Checkpoint(ORIGIN, size, root), [KEY])


EDGE, EDGE_ENTRIES = "tile/0/001.p/44", "tile/entries/001.p/44"
LIES: dict[str, tuple[str, Lie]] = {
    "another key under the log's name": ("signature", say(STRANGER.head(LARGE))),
    "a bit of the signature": ("signature", change("checkpoint", lambda data: flipped(data, -20))),
    "a size that was not signed": ("signature", change("checkpoint", sized(b"\n301\n"))),
    "another log": ("origin", say(FOREIGN.head(LARGE))),
    "a page of HTML": ("malformed", say(b"<html>\n\nlog in first\n</html>\n")),
    "nothing": ("malformed", say(b"")),
    "bytes": ("malformed", say(b"\xff\xfe\x00" * 50)),
    "line ends of another system": ("malformed", change("checkpoint", lambda data: data.replace(b"\n", b"\r\n"))),
    "a size with a zero before it": ("malformed", change("checkpoint", sized(b"\n0300\n"))),
    "a head of a megabyte": ("oversize", say(b"x" * 1_000_001)),
    "an older head": ("rollback", lambda files: files.update(LOG.files(SMALL - 1))),
    "a head of no records": ("rollback", say(signed(0, root_of([])))),
    "another head of the same size": ("fork", lambda files: files.update(OTHER.files(SMALL))),
    "another history, longer": ("fork", lambda files: files.update(OTHER.files(LARGE))),
    "a root that nothing gives": ("tile", say(signed(LARGE, bytes(32)))),
    "a bit of the right edge": ("tile", change(EDGE, flipped)),
    "a bit of a full tile": ("tile", change("tile/0/000", flipped)),
    "a bit of the level above": ("tile", change("tile/1/000.p/1", flipped)),
    "a tile of another place": ("tile", swap("tile/0/000", EDGE)),
    "a tile without its end": ("tile", change("tile/0/000", lambda data: data[:-1])),
    "an empty tile": ("tile", change(EDGE, lambda _: b"")),
    "a tile with more behind it": ("oversize", change("tile/0/000", lambda data: data + bytes(32))),
    "no tile": ("missing", drop("tile/0/000")),
    "no right edge": ("missing", drop(EDGE)),
    "a head ahead of its tiles": ("missing", say(LOG.head(LARGE + 1))),
    "a bit of an entry": ("entry", change("tile/entries/000", flipped)),
    "a bit of the last entry": ("entry", change(EDGE_ENTRIES, flipped)),
    "an entry left out": ("entry", change("tile/entries/000", entries(lambda some: some[:9] + some[10:]))),
    "an entry twice": ("entry", change(EDGE_ENTRIES, entries(lambda some: some[:1] + some))),
    "two entries changed about": ("entry", change("tile/entries/000", entries(lambda some: some[1::-1] + some[2:]))),
    "a bundle of another place": ("entry", swap("tile/entries/000", EDGE_ENTRIES)),
    "a bundle cut within an entry": ("entry", change("tile/entries/000", lambda data: data[:-3])),
    "an empty bundle": ("entry", change("tile/entries/000", lambda _: b"")),
    "a length that reaches beyond": ("entry", change("tile/entries/000", lambda data: b"\xff\xff" + data[2:])),
    "no bundle": ("missing", drop("tile/entries/000")),
    "no last bundle": ("missing", drop(EDGE_ENTRIES)),
}  # fmt: skip


@pytest.mark.sample(8)
@pytest.mark.parametrize("what", LIES)
def test_a_lie_is_refused_by_name(what: str, liar: Liar, consumer: Consumer, tmp_path: Path) -> None:
    reason, lie = LIES[what]
    liar.files = LOG.files(LARGE)
    lie(liar.files)
    with pytest.raises(RefusedLogError) as refused:
        consumer.follow()
    assert refused.value.reason == reason, refused.value
    assert consumer.stands() == SMALL
    liar.files = LOG.files(LARGE)
    consumer.follow()
    assert consumer.stands() == LARGE
    mirror = tmp_path / "mirror"
    for path, data in LOG.files(LARGE).items() if mirror.exists() else ():
        assert (mirror / path).read_bytes() == data, path


def zipped(data: bytes) -> HttpReply:
    return HttpReply(200, "application/octet-stream", data, zipped=True)


RAW: dict[str, tuple[str, str, HttpReply]] = {
    "gzip that unfolds to a gigabyte": (
        "oversize",
        "tile/entries/000",
        zipped(gzip.compress(bytes(1 << 26))),
    ),
    "gzip that is none": ("malformed", "tile/entries/000", zipped(b"not gzip")),
    "gzip without its end": ("malformed", "tile/entries/000", zipped(gzip.compress(b"x" * 999)[:-4])),
    "gzip with more behind it": ("malformed", "tile/entries/000", zipped(gzip.compress(b"x") + b"y")),
    "a redirect": ("unreachable", "checkpoint", HttpReply(302, "text/plain", b"")),
    "an error": ("unreachable", "tile/0/000", HttpReply(500, "text/plain", b"no")),
    "part of the content": ("unreachable", "tile/entries/000", HttpReply(206, "text/plain", b"no")),
}


@pytest.mark.parametrize("what", RAW)
def test_an_answer_that_is_none_is_refused(what: str, liar: Liar, consumer: Consumer) -> None:
    reason, path, reply = RAW[what]
    liar.files = LOG.files(LARGE)
    liar.raw = {path: reply}
    with pytest.raises((RefusedLogError, ConnectionError)) as refused:
        consumer.follow()
    told = refused.value.reason if isinstance(refused.value, RefusedLogError) else "unreachable"
    assert told == reason
    assert consumer.stands() == SMALL


class Drip(threading.Thread):
    """Answers one connection with `head`, then a byte at a time, or with all of `body` and silence."""

    def __init__(self, head: bytes, body: bytes, pause_s: float) -> None:
        import socket

        super().__init__(daemon=True)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._head, self._body, self._pause_s = head, body, pause_s
        self.start()

    def run(self) -> None:
        connection, _ = self._listening.accept()
        with connection, self._listening:
            connection.recv(4096)
            try:
                connection.sendall(self._head)
                for at in range(0, len(self._body), 1 << 16):
                    connection.sendall(self._body[at : at + (1 << 16)])
                    time.sleep(self._pause_s)
            except OSError:
                return


def ask(url: str, path: str, timeout_s: float) -> bytes:
    remote = RemoteLog(Site(url, timeout_s=timeout_s))
    try:
        return remote.fetch(path)
    finally:
        remote.close()


def test_a_silent_server_is_given_up() -> None:
    drip = Drip(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b"x", 1.0)
    with pytest.raises(TimeoutError):
        ask(drip.url, "checkpoint", 0.2)


def test_an_answer_that_ends_early_is_none() -> None:
    drip = Drip(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b"x", 0.0)
    with pytest.raises(ConnectionError):
        ask(drip.url, "checkpoint", 2)


def test_an_answer_without_an_end_is_cut() -> None:
    drip = Drip(b"HTTP/1.1 200 OK\r\n\r\n", bytes(3_000_000), 0.0)
    with pytest.raises(RefusedLogError, match="oversize"):
        ask(drip.url, "checkpoint", 2)


def test_an_answer_that_is_no_http_is_none() -> None:
    drip = Drip(b"SSH-2.0-OpenSSH\r\n\r\n", b"", 0.0)
    with pytest.raises(ConnectionError):
        ask(drip.url, "checkpoint", 2)


def test_nobody_there_is_said() -> None:
    with pytest.raises(OSError, match=r"127\.0\.0\.1:1/"):
        ask("http://127.0.0.1:1", "checkpoint", 2)


@pytest.mark.parametrize(
    "url", ["ftp://x", "file:///etc/passwd", "http://", "http://u:p@x", "http://x/?a", "x"]
)
def test_a_url_that_is_no_log_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        Site(url)
