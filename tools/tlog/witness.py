"""A witness over HTTP: `POST add-checkpoint`, and for monitors `GET <sha256 of the origin>/checkpoint` (SPEC §17.1)."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from braid.ledger.witness.witness import Witness
from braid.tools.tlog.server import Answer, HttpReply

_TEXT: Final = "text/plain; charset=utf-8"
_MONITORED: Final = re.compile(r"([0-9a-f]{64})/checkpoint")


def answer_as(witness: Witness, now_s: Callable[[], int]) -> Answer:
    """Return what answers for a witness, whose clock gives Unix seconds."""

    def answer(method: str, path: str, body: bytes, zips: bool) -> HttpReply:
        del zips
        if path == "add-checkpoint":
            if method != "POST":
                return HttpReply(HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"checkpoints are posted\n")
            return HttpReply(*witness.add_checkpoint(body, now_s()))
        match = _MONITORED.fullmatch(path)
        stored = witness.latest(match[1]) if match and method in ("GET", "HEAD") else None
        if stored is None:
            return HttpReply(HTTPStatus.NOT_FOUND, _TEXT, b"nothing here\n")
        return HttpReply(HTTPStatus.OK, _TEXT, stored)

    return answer
