"""The content digest: what a projection holds, in 32 bytes that reveal nothing once keys are gone (SPEC §10.4). Pure.

Each record's rows are hashed under the record's own row key, so that after an erasure nobody can test a guess
against an old digest. 256 log indexes share a bucket; a commit recomputes only the buckets that it touched.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from blake3 import blake3

from braid.ledger.tree.merkle import leaf_hash, root_of
from braid.views.values import Numbered

BUCKET: Final = 256
NO_KEY: Final = bytes(32)
"""Stands in for the key of a record that is erased, or whose vault is not here: its rows are public then."""

_encode = msgspec.msgpack.Encoder().encode


class Digest(msgspec.Struct, frozen=True):
    """A content digest (hex) and the head of the log that it belongs to."""

    content: str
    origin: str
    size: int
    root: str


def hash_rows(rows: Sequence[Numbered], row_key: bytes | None) -> bytes:
    """Return the hash of a record's rows, in table order and in their order within a table."""
    return blake3(_encode(rows), key=row_key or NO_KEY).digest()


def bucket_root(hashes: Iterable[bytes]) -> bytes:
    """Return the root of a bucket: the tree of RFC 6962 whose leaf hashes are the hashes present, by log index."""
    return root_of(list(hashes))


def content_digest(bucket_roots: Iterable[bytes]) -> str:
    """Return the digest (hex): the root of the tree whose leaves are the roots of all buckets."""
    return root_of([leaf_hash(root) for root in bucket_roots]).hex()
