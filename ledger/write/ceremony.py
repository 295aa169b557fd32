"""The ceremony of keys: others take their place, in the log and in `keys/` (SPEC §3.7).

A private key is on disk before the record that names it is in the log: dying in between leaves a file that nothing
uses. A log key that has been retired is wiped once a head without it has been published.
"""

from pathlib import Path

from nacl.utils import random

from braid.ledger.crypto.passphrase import KdfCost
from braid.ledger.errors import KeyRefusedError
from braid.ledger.keys.author_key import Signer, save_signer
from braid.ledger.keys.control import refuse_shared
from braid.ledger.keys.keyfile import is_sealed, seal_folder, seal_secret, wipe
from braid.ledger.keys.logkeys import key_files, log_key_path
from braid.ledger.record.record import Draft, KeyBody
from braid.ledger.tree.note import SigningKey, format_skey, signing_key
from braid.ledger.write.create import admission
from braid.ledger.write.writer import Writer
from braid.wal.durable import replace_file
from braid.wal.errors import OutcomeUnknownError


def rotate_signer(writer: Writer, id: str, *, overlap: bool = False, reason: str | None = None) -> Signer:
    """Let a fresh key of the same role and actor take an author key's place, in one transaction.

    With `overlap` the old one stays in force until it is revoked. Raises KeyRefusedError for a key that was never
    admitted, is revoked, or is a root key.
    """
    life = writer.control.keys.get(id)
    if life is None:
        raise KeyRefusedError(f"{id} was never admitted to this log")
    if life.role == "root":
        raise KeyRefusedError(
            "a root key stands in genesis: it is revoked, but no other takes its place in this log than the spare one "
            "that genesis names (`braid init --spare-root`); docs/keys.md says what to do"
        )
    if life.revoked is not None:
        raise KeyRefusedError(
            f"{id} was revoked at {life.revoked}: admit another with `braid key admit {life.role}`"
        )
    signer = Signer.fresh(life.role, writer.signers[id].actor if id in writer.signers else None)
    drafts = [admission(writer.origin, signer)]
    if not overlap:
        public = {"op": "revoke", "id": id, "compromised_since": None}
        drafts.append(Draft(kind="key", body=KeyBody(reason=reason), public=public))
    take_in(writer, signer, drafts)
    return signer


def take_in(writer: Writer, signer: Signer, drafts: list[Draft]) -> None:
    """Append the drafts that admit a key, its private half on disk before: none is ever admitted and lost.

    Raises KeyRefusedError for a key that is or was the log's.
    """
    refuse_shared([signer.public], writer.control.log_keys)
    path = save_signer(writer.path / "keys", signer, *sealing(writer))
    try:
        writer.append(drafts)
    except OutcomeUnknownError:
        raise  # it may be in the log
    except BaseException:
        wipe(path)
        raise
    writer.signers[signer.id] = signer


def rotate_log_key(writer: Writer, *, lost: bool = False, reason: str | None = None) -> str:
    """Let a fresh key sign the log's heads too, and return its verifier key; the old one signs beside it.

    With `lost` those in force are retired in the same transaction: heads behind it have the new signature alone.
    """
    old = writer.control.signing(writer.size)
    key = signing_key(writer.origin, random(32))
    vkey = str(key.verifier)
    refuse_shared([life.public for life in writer.control.keys.values()], [vkey])
    _save(writer, key)
    ops = [{"op": "log_key", "vkey": vkey}]
    if lost:
        ops += [{"op": "retire_log_key", "vkey": one} for one in old]
    writer.add_log_key(key)
    writer.append([Draft(kind="key", body=KeyBody(reason=reason), public=op) for op in ops])
    writer.checkpoint()
    return vkey


def retire_log_key(writer: Writer, vkey: str, *, reason: str | None = None) -> None:
    """End the overlap: this key signs no head behind the record, and its private half is wiped.

    A head that both have signed is published first: who pinned the old key can walk from it to the new one.
    Raises KeyRefusedError for a key that isn't in force.
    """
    if vkey not in writer.control.signing(writer.size):
        raise KeyRefusedError(f"{vkey} is no key in force of this log: `braid key list` names them")
    writer.checkpoint()
    public = {"op": "retire_log_key", "vkey": vkey}
    writer.append([Draft(kind="key", body=KeyBody(reason=reason), public=public)])
    writer.checkpoint()
    # Dying here: the retired key's file lies about; a head that it signs is no head of this log.
    for path, text in key_files(writer.path, writer.passphrase):
        if text == vkey:
            wipe(path)


def seal_keys(writer: Writer) -> list[Path]:
    """Seal every private key of the store under the vault's passphrase; return the files that were in the clear.

    Raises KeyRefusedError where the vault has no passphrase.
    """
    passphrase, kdf = writer.passphrase, writer.need_vault().kdf
    if passphrase is None or kdf is None:
        raise KeyRefusedError(
            "the vault has no passphrase, and keys are sealed under the vault's: `braid --passphrase-file FILE init` "
            "makes a store that has one"
        )
    return seal_folder(writer.path / "keys", passphrase, kdf)


def sealing(writer: Writer) -> tuple[str | None, tuple[KdfCost, bytes] | None]:
    """Return what new key files are sealed with: the vault's passphrase where the others are; else nothing."""
    kdf = writer.need_vault().kdf
    if not any(map(is_sealed, (writer.path / "keys").glob("*.key"))):
        return None, None
    return writer.passphrase, kdf


def _save(writer: Writer, key: SigningKey) -> None:
    path, data = log_key_path(writer.path, key), format_skey(key).encode() + b"\n"
    passphrase, kdf = sealing(writer)
    if passphrase is not None and kdf is not None:
        data = seal_secret(path, data, passphrase, kdf)
    replace_file(path, data, "keys.write")
