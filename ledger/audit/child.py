"""What an audit's child process runs: given the terms, then stretches, it answers with their facts (SPEC §11.1).

A module of its own, so that a worker imports nothing that only its parent needs: it starts in the time of 500 records.
"""

from collections.abc import Callable

import msgspec

from braid.ledger.audit.chunk import examine
from braid.ledger.audit.facts import AuditTerms, Chunk
from braid.ledger.worker import serve

_TERMS = msgspec.msgpack.Decoder(AuditTerms)
_CHUNK = msgspec.msgpack.Decoder(Chunk)
_encode = msgspec.msgpack.Encoder().encode


def _begin(data: bytes) -> Callable[[bytes], bytes]:
    terms = _TERMS.decode(data)
    return lambda chunk: _encode(examine(_CHUNK.decode(chunk), terms))


if __name__ == "__main__":
    serve(_begin)
