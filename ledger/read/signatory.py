"""The key that speaks for the store where no record does: a Statement about one, a snapshot, the note of a fork."""

from braid.ledger.errors import KeyRefusedError
from braid.ledger.keys.author_key import Signer, load_signers
from braid.ledger.read.reader import Reader


def operator(reader: Reader, signed: str) -> Signer:
    """Return a private key in force of role operator; raise KeyRefusedError where none is here to sign `signed`,
    RollbackError in a copy that the guard contradicts.
    """
    reader.refuse_contradicted()
    lives = reader.control.keys
    for signer in load_signers(reader.path / "keys", reader.passphrase).values():
        life = lives.get(signer.id)
        if signer.role == "operator" and life is not None and life.revoked is None:
            return signer
    raise KeyRefusedError(f"{signed} is signed by an operator's key, and none in force is here")
