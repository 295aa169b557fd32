"""What the control records add up to: keys and their lives, what is forgotten, what is erased (SPEC §3.5). Pure.

The fold is the same for a writer, a reader, a replay and an audit.
"""

from base64 import b64decode
from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import IntegrityError, KeyRefusedError
from braid.ledger.keys.author_key import ROLE_KINDS, check_public_key, key_id, possession_message
from braid.ledger.record.envelope import Envelope, Link
from braid.ledger.tree.note import ED25519, parse_vkey

CONTROL_OPS = {
    "genesis": {"genesis"},
    "key": {"admit", "revoke", "log_key", "retire_log_key"},
    "tombstone": {"forget", "recover", "erase"},
    "event": {"clock", "certify"},
}
_RULED_KINDS = frozenset(kind for kinds in ROLE_KINDS.values() for kind in kinds)


class KeyLife:
    """A key from its admission to its revocation, in log indexes."""

    __slots__ = ("admitted", "compromised_since", "id", "public", "revoked", "role")

    def __init__(self, id: str, public: bytes, role: str, admitted: int) -> None:
        self.id = id
        self.public = public
        self.role = role
        self.admitted = admitted
        self.revoked: int | None = None
        self.compromised_since: int | None = None

    def disputed(self, index: int) -> bool:
        """Whether what this key signed at `index` is disputed: it may not have been its owner's doing."""
        return self.compromised_since is not None and index >= self.compromised_since


class LogKeyLife(NamedTuple):
    """Between which records a key signs heads: those of a size above `since`, up to `until`."""

    since: int
    until: int | None = None


FRESH_KEY = "make a fresh one (`braid key admit` for an author, `braid key rotate log` for the log)"
"""What a writer can do about a key of two uses; where a log holds it nothing can be done."""


class SharedKeyError(KeyRefusedError):
    """A public key is an author's and the log's."""


def need_two_keys(authors: Iterable[bytes], log_keys: Iterable[str]) -> None:
    """Raise SharedKeyError where a public key is an author's and, now or ever, the log's (SPEC §3.4).

    The log's key signs heads and nothing else: whoever may ask for an author's signature could ask for a head's.
    """
    shared = {parse_vkey(text).public for text in log_keys}.intersection(authors)
    if shared:
        raise SharedKeyError(
            f"the key {key_id(shared.pop())} is an author's and the log's, and the log's signs heads and nothing else: "
            "unlawful in format 1 (SPEC §3.4)"
        )


def refuse_shared(authors: Iterable[bytes], log_keys: Iterable[str]) -> None:
    """Raise KeyRefusedError, with what to do, for who is about to make a key an author's and the log's."""
    try:
        need_two_keys(authors, log_keys)
    except SharedKeyError as error:
        raise KeyRefusedError(f"{error}; {FRESH_KEY}") from None


class ControlState:
    """The fold of the control records up to some index."""

    def __init__(self) -> None:
        self.origin = ""
        self.log_vkey = ""
        """The key that genesis names."""
        self.log_keys: dict[str, LogKeyLife] = {}
        """Every key of the log, oldest first: its verifier key, and which heads it signs."""
        self.retention_days = 30
        self.scope_chains = False
        """Whether each record says which came before it in its scopes (SPEC §4.8): the choice of genesis."""
        self.keys: dict[str, KeyLife] = {}
        self.newest = -1
        """Index of the newest control record."""
        self.hidden: dict[int, tuple[int, str]] = {}
        """Forgotten index → (tombstone's index, its time)."""
        self.erased: dict[int, int] = {}
        """Erased index → the tombstone's index."""
        self.weakened: dict[int, int] = {}
        """Kept index → the erasure that took one of its supports."""
        self.erasures: dict[int, tuple[int, int | None]] = {}
        """Erase tombstone's index → (vault epoch after it, the certificate's index)."""
        self.clock: tuple[str, int] | None = None
        """Time and transaction of the last acceptance of a clock that is behind."""

    def public_key(self, id: str) -> bytes:
        """Return the public key that was admitted under `id`; raise IntegrityError for a foreign one."""
        life = self.keys.get(id)
        if life is None:
            raise IntegrityError(f"key {id} was never admitted to this log")
        return life.public

    def refusal(self, envelope: Envelope) -> str | None:
        """Return why the record's key may not sign it at its index, or None when it may."""
        life = self.keys.get(envelope.key)
        if life is None:
            return f"key {envelope.key} was never admitted to this log"
        if envelope.index < life.admitted:
            return f"key {envelope.key} was admitted only at {life.admitted}"
        if life.revoked is not None and envelope.index > life.revoked:
            return f"key {envelope.key} was revoked at {life.revoked}"
        if envelope.kind in _RULED_KINDS:
            kinds = ROLE_KINDS[life.role]
            if envelope.kind not in kinds or (envelope.is_control and life.role not in ("root", "operator")):
                return f"a key of role {life.role} may not sign this {envelope.kind}"
        return None

    def signing(self, size: int) -> list[str]:
        """Return the log keys that sign a head of this size, oldest first: two or more while one takes over."""
        return [
            vkey
            for vkey, (since, until) in self.log_keys.items()
            if since < size and (until is None or size <= until)
        ]

    @property
    def vault_epoch(self) -> int:
        """The least epoch that a vault must have: that of the last certified erasure."""
        return max((epoch for epoch, done in self.erasures.values() if done is not None), default=0)

    def trial(self) -> "ControlState":
        """Return a state of its own, in which it shows whether further records are lawful; what it hides
        is not copied.
        """
        trial = ControlState()
        trial.origin = self.origin
        trial.keys = {id: copy(life) for id, life in self.keys.items()}
        trial.erasures = dict(self.erasures)
        trial.log_keys = dict(self.log_keys)
        return trial

    def unfinished(self) -> list[int]:
        """Return the erase tombstones without a certificate, oldest first."""
        return [index for index, (_, done) in self.erasures.items() if done is None]

    def apply(self, envelope: Envelope, links: list[Link]) -> None:
        """Take in the next control record, whose signature has been verified; raise IntegrityError if it
        is unlawful.
        """
        op = envelope.public.get("op")
        if not isinstance(op, str) or op not in CONTROL_OPS.get(envelope.kind, ()):
            raise IntegrityError(f"{envelope.id}: a {envelope.kind} has no operation {op!r}")
        try:
            if envelope.kind == "genesis":
                self._open(envelope)
            elif envelope.kind == "key":
                self._key(envelope, envelope.public)
            elif envelope.kind == "tombstone":
                self._tombstone(envelope, links)
            elif op == "certify":
                self._certify(envelope, envelope.public)
            else:
                self.clock = (envelope.created_at, envelope.tx[0])
        except KeyRefusedError as error:
            raise IntegrityError(f"{envelope.id}: {error}") from error
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise IntegrityError(f"{envelope.id}: the public part is malformed: {error}") from error
        self.newest = envelope.index

    def _open(self, envelope: Envelope) -> None:
        public = envelope.public
        if envelope.index or self.keys:
            raise IntegrityError(f"{envelope.id}: genesis stands at index 0 alone")
        roots = [b64decode(text, validate=True) for text in public["root_keys"]]
        need_two_keys(roots, [str(public["log_vkey"])])
        self.origin = envelope.origin
        self.log_vkey = str(public["log_vkey"])
        self.log_keys = {self.log_vkey: LogKeyLife(0)}
        self.retention_days = int(public["retention_days"])
        self.scope_chains = public.get("scope_chains") is True
        for key in roots:
            check_public_key(key)
            self.keys[key_id(key)] = KeyLife(key_id(key), key, "root", 0)

    def _log_key(self, envelope: Envelope, public: dict[str, Any]) -> None:
        """Let a key of the log begin or end: heads behind this record are signed by those in force (SPEC §3.7)."""
        vkey = str(public["vkey"])
        life = self.log_keys.get(vkey)
        if public["op"] == "log_key":
            key = parse_vkey(vkey)
            if life is not None or key.type != ED25519 or key.name != self.origin or str(key) != vkey:
                raise IntegrityError(f"{envelope.id}: this is no new key of the log {self.origin}")
            need_two_keys([life.public for life in self.keys.values()], [vkey])
            self.log_keys[vkey] = LogKeyLife(envelope.index)
            return
        left = [one for one, other in self.log_keys.items() if other.until is None and one != vkey]
        if life is None or life.until is not None or not left:
            raise IntegrityError(f"{envelope.id}: the log key is not in force, or is the only one")
        self.log_keys[vkey] = LogKeyLife(life.since, envelope.index)

    def _key(self, envelope: Envelope, public: dict[str, Any]) -> None:
        if public["op"] in ("log_key", "retire_log_key"):
            self._log_key(envelope, public)
            return
        id = str(public["id"])
        if public["op"] == "revoke":
            life = self.keys[id]
            life.revoked = envelope.index if life.revoked is None else life.revoked
            since = public.get("compromised_since")
            if since is not None:
                known = life.compromised_since
                life.compromised_since = int(since) if known is None else min(int(since), known)
            return
        key, role = b64decode(public["key"], validate=True), str(public["role"])
        check_public_key(key)
        if key_id(key) != id or id in self.keys or role not in ROLE_KINDS or role == "root":
            raise IntegrityError(f"{envelope.id}: this admission is not lawful (id, role or repetition)")
        need_two_keys([key], self.log_keys)
        proof = b64decode(public["proof"], validate=True)
        if not verify_signature(key, possession_message(self.origin, id, role), proof):
            raise IntegrityError(f"{envelope.id}: the key's proof of possession does not hold")
        self.keys[id] = KeyLife(id, key, role, envelope.index)

    def _tombstone(self, envelope: Envelope, links: list[Link]) -> None:
        targets = [link.index for link in links if link.role == "target"]
        op = envelope.public["op"]
        if op == "forget":
            for index in targets:
                self.hidden.setdefault(index, (envelope.index, envelope.created_at))
        elif op == "recover":
            for index in targets:
                self.hidden.pop(index, None)
        else:
            epoch = int(
                envelope.public["epoch"]
            )  # before anything is taken in: an unlawful one changes nothing
            for index in targets:
                self.erased.setdefault(index, envelope.index)
                self.hidden.pop(index, None)
                self.weakened.pop(index, None)
            for link in links:
                if link.role == "kept" and link.index not in self.erased:
                    self.weakened[link.index] = envelope.index
            self.erasures[envelope.index] = (epoch, None)

    def _certify(self, envelope: Envelope, public: dict[str, Any]) -> None:
        erase = int(public["erase"])
        epoch, done = self.erasures[erase]
        self.erasures[erase] = (epoch, envelope.index if done is None else done)
