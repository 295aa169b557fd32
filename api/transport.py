"""Requests and answers as bytes between a client and a server of Braid: MessagePack, which loses nothing of either.

JSON is for everybody else (`braid.wire`): it has no bytes, no tables and no records as they are signed. Pure.
"""

from importlib import import_module
from pathlib import PurePath
from typing import Any, Final

import msgspec

from braid.ledger.record.envelope import Envelope, Link
from braid.ledger.record.record import Record
from braid.operation import ArrowTable, Vector
from braid.severity import Severity

CONTENT_TYPE: Final = "application/vnd.braid+msgpack"
ITEM, FAILED, ENDED = b"i", b"e", b"z"
"""What the frames of a stream are: one item, the problem that ended it, and its end. Without one of the two last it was
cut off."""


HINTED: Final = "hint: "
"""How the note begins that an exception of a client has of a problem's hint."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why something was refused, as RFC 9457 writes it. `error`: the exception's class; `members`: what it carries.

    `severity`: how bad it is; left out where it is silent.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    hint: str | None = None
    error: str = ""
    severity: Severity = Severity.SILENT
    members: dict[str, Any] = {}


def encode(value: object) -> bytes:
    """Return a request, an answer or an item of a stream as MessagePack."""
    return msgspec.msgpack.encode(value, enc_hook=_out)


def decode(raw: bytes, type_: Any) -> Any:
    """Return what `encode` was given; msgspec.DecodeError for what it never wrote."""
    return msgspec.msgpack.decode(raw, type=type_, dec_hook=_in)


def framed(kind: bytes, raw: bytes = b"") -> bytes:
    """Return one frame of a stream: its kind, its length as four bytes, and what it holds."""
    return kind + len(raw).to_bytes(4, "big") + raw


def _out(value: Any) -> object:
    if isinstance(value, Record):
        return [value.envelope, value.links, value.raw, value.stored]
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "column_names"):  # a table of Arrow, which isn't imported for the sake of the question
        return _ipc(value)
    if hasattr(value, "tolist"):
        return value.astype("<f4").tobytes()
    raise NotImplementedError(f"an answer may not hold {type(value).__name__}")


def _ipc(table: Any) -> bytes:
    pa: Any = import_module("pyarrow")  # ships no types
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _in(type_: type, value: Any) -> Any:
    if type_ is Record:
        envelope, links, raw, stored = value
        return Record(msgspec.convert(envelope, Envelope), msgspec.convert(links, list[Link]), raw, stored)
    if issubclass(type_, PurePath):
        return type_(value)
    if type_ is ArrowTable:
        pa: Any = import_module("pyarrow")
        return pa.ipc.open_stream(value).read_all()
    if type_ is Vector:
        np: Any = import_module("numpy")
        return np.frombuffer(value, dtype="<f4")
    raise NotImplementedError(f"an answer may not hold {type_.__name__}")
