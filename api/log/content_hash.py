"""By what an exact duplicate is found: a hash of what a memory says and whose it is, under a key of the vault's.

It stands in a sealed body and goes with it. Without the vault it says nothing, not even to who guesses the words.
"""

import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec
from blake3 import blake3

from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, ExperienceBody, Scope
from braid.ledger.record.source import at_first_hand

_CONTEXT: Final = "braid 2026-11 content hash of a memory"
_BYTES: Final = 16


def hashed(reader: Reader, draft: Draft, memory: Iterable[int] = ()) -> Draft:
    """Return the draft of an experience with its content hash; without one where its words can't be recorded anyway.

    `memory`: the records of the memory that it belongs to, by index. Raises NoVaultError.
    """
    body = draft.body
    assert isinstance(body, ExperienceBody)  # noqa: S101 - nothing else is remembered
    try:
        hash_ = hash_of(reader, body, memory)
    except UnicodeEncodeError:  # appending says what is wrong with it
        return draft
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(body, content_hash=hash_))


def hash_of(reader: Reader, body: ExperienceBody, memory: Iterable[int] = ()) -> str:
    """Return the content hash of an experience, one of the records of `memory`, by index.

    A time that a correction has from when one of them was recorded is none that anybody gave. Raises NoVaultError,
    UnicodeEncodeError for a lone surrogate.
    """
    recorded = {datetime.fromisoformat(reader.envelope(at).created_at) for at in memory}
    scope = body.scope or Scope()
    about = () if scope.project_id is None else (scope.project_id,)
    said = (
        (scope.user_id, scope.agent_id, scope.run_id, scope.session_id, *about),
        (body.provenance.actor, body.provenance.name, at_first_hand("", body)),
        (None if body.occurred_at in recorded else body.occurred_at, body.external_id, bool(body.raw)),
        _plain(body.content.text),
        body.content.structured,
    )
    key = blake3(reader.need_vault().lookup_key, derive_key_context=_CONTEXT).digest()
    return blake3(msgspec.json.encode(said, order="deterministic"), key=key).hexdigest(_BYTES)


def _plain(text: str) -> str:
    """Return a text without what makes no other: how a letter is put together (NFC), case, white space. Compatible
    characters stay apart: 10² is not 102."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())
