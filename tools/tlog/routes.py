"""Serving a log as C2SP tlog-tiles: the paths of SPEC §16.1, their content types, and how long they may be kept."""

import gzip
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from braid.ledger.publish.folder import CHECKPOINT, is_served_path
from braid.ledger.publish.remote import Fetch
from braid.tools.tlog.server import Answer, HttpReply, LogServer

CHECKPOINT_CACHE: Final = "public, max-age=2"
FOR_EVER: Final = "public, max-age=31536000, immutable"
_TEXT: Final = "text/plain; charset=utf-8"
_BYTES: Final = "application/octet-stream"
_ZIP_LEVEL: Final = 1


def answer_from(fetch: Fetch) -> Answer:
    """Return what answers requests from `fetch`, GET and HEAD alone."""

    def answer(method: str, path: str, body: bytes, zips: bool) -> HttpReply:
        del body
        if method not in ("GET", "HEAD"):
            return HttpReply(HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"a log is only read here\n")
        if not is_served_path(path):
            return HttpReply(HTTPStatus.NOT_FOUND, _TEXT, b"no such path in a log\n")
        try:
            data = fetch(path)
        except FileNotFoundError:  # a tile that is still to come: nobody may remember that it was missing
            return HttpReply(HTTPStatus.NOT_FOUND, _TEXT, b"not in this log\n")
        if path == CHECKPOINT:
            return HttpReply(HTTPStatus.OK, _TEXT, data, CHECKPOINT_CACHE)
        if zips and path.startswith("tile/entries/"):  # hashes don't shrink, envelopes do
            return HttpReply(
                HTTPStatus.OK, _BYTES, gzip.compress(data, _ZIP_LEVEL, mtime=0), FOR_EVER, zipped=True
            )
        return HttpReply(HTTPStatus.OK, _BYTES, data, FOR_EVER)

    return answer


def log_server(
    address: tuple[str, int], fetch: Fetch, told: Callable[[str], None] = lambda line: None
) -> LogServer:
    """Return a server of the log that `fetch` gives, bound to its address."""
    return LogServer(address, answer_from(fetch), told)
