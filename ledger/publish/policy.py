"""Policies (C2SP tlog-policy): which logs and witnesses are known, and whose cosignatures together are enough. Pure.

A policy is a file of lines: `log <vkey> [url]`, `witness <name> <vkey> [url]`, `group <name> <k|any|all> <name>…`, and
exactly one `quorum <name|none>`. It fails closed: without a quorum line, or with a key that can't be checked here,
there is no policy.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from braid.ledger.errors import NoteError, PolicyError
from braid.ledger.tree.note import COSIGNATURE, ED25519, SignedNote, VerifierKey, parse_vkey

NONE = "none"
_FORBIDDEN = re.compile(rb"[^\t\n\x20-\x7e\x80-\xff]")
_BLANK = re.compile(r"[ \t]+")
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


class Party(msgspec.Struct, frozen=True):
    """A log or a witness: its name in the policy (a log's is its origin), its key, where it can be reached."""

    name: str
    vkey: VerifierKey
    url: str = ""


class Group(msgspec.Struct, frozen=True):
    """Witnesses a head when at least `least` of its members do."""

    name: str
    least: int
    members: tuple[str, ...]


class Policy(msgspec.Struct, frozen=True):
    """What a policy file says."""

    logs: tuple[Party, ...]
    witnesses: tuple[Party, ...]
    groups: tuple[Group, ...]
    quorum: str

    @property
    def cosigners(self) -> tuple[VerifierKey, ...]:
        """The witnesses' keys."""
        return tuple(witness.vkey for witness in self.witnesses)

    def log_key(self, origin: str) -> VerifierKey | None:
        """Return the key of a log, None where the policy names none of this origin."""
        return next((log.vkey for log in self.logs if log.name == origin), None)

    def signed_by(self, note: SignedNote) -> set[str]:
        """Return the names of the witnesses whose cosignatures were verified when the note was opened."""
        seen = {(one.name, one.id) for one in note.verified}
        return {party.name for party in self.witnesses if (party.vkey.name, party.vkey.id) in seen}

    def met(self, witnessed: Iterable[str]) -> bool:
        """Whether these witnesses together are the quorum."""
        return self.quorum == NONE or self._holds(set(witnessed))[self.quorum]

    def lacking(self, note: SignedNote) -> str:
        """Return what is lacking for the quorum, in words; nothing where the opened note has it."""
        have = self.signed_by(note)
        if self.met(have):
            return ""
        absent = ", ".join(party.name for party in self.witnesses if party.name not in have)
        return f"the quorum {self.quorum}: {len(have)} of {len(self.witnesses)} witnesses cosigned it, not {absent}"

    def _holds(self, witnessed: set[str]) -> Mapping[str, bool]:
        holds = {party.name: party.name in witnessed for party in self.witnesses}
        for group in self.groups:  # each names only what stands before it
            holds[group.name] = sum(holds[name] for name in group.members) >= group.least
        return holds


class _Reading:
    """A policy while its lines are read."""

    def __init__(self) -> None:
        self.logs: list[Party] = []
        self.witnesses: list[Party] = []
        self.groups: list[Group] = []
        self.quorum: str | None = None
        self.names: set[str] = set()
        self.listed: set[str] = set()

    def log(self, words: list[str]) -> None:
        if not 1 <= len(words) <= 2:
            raise PolicyError("a log has a vkey and perhaps a URL")
        vkey = self._key(words[0], ED25519, "log", self.logs)
        self.logs.append(Party(vkey.name, vkey, *words[1:]))

    def witness(self, words: list[str]) -> None:
        if not 2 <= len(words) <= 3:
            raise PolicyError("a witness has a name, a vkey and perhaps a URL")
        self._name(words[0])
        vkey = self._key(words[1], COSIGNATURE, "witness", self.witnesses)
        self.witnesses.append(Party(words[0], vkey, *words[2:]))

    def group(self, words: list[str]) -> None:
        if len(words) < 3:
            raise PolicyError("a group has a name, a threshold and at least one member")
        name, threshold, *members = words
        self._name(name)
        for member in members:
            if member not in self.names or member == name:
                raise PolicyError(f"{member!r} is not defined before the group {name!r}")
            if member in self.listed:
                raise PolicyError(f"{member!r} is a member twice: each counts in one way only")
            self.listed.add(member)
        self.groups.append(Group(name, _threshold(threshold, len(members)), tuple(members)))

    def end(self, words: list[str]) -> None:
        if self.quorum is not None:
            raise PolicyError("there is a second quorum line")
        if len(words) != 1 or (words[0] != NONE and words[0] not in self.names):
            raise PolicyError("the quorum names one witness or group that is defined before it, or none")
        self.quorum = words[0]

    def _name(self, name: str) -> None:
        if name == NONE or name in self.names:
            raise PolicyError(f"the name {name!r} is taken")
        self.names.add(name)

    @staticmethod
    def _key(text: str, type_: int, what: str, others: list[Party]) -> VerifierKey:
        try:
            vkey = parse_vkey(text)
        except NoteError as error:
            raise PolicyError(str(error)) from error
        if vkey.type != type_:
            raise PolicyError(
                f"a {what}'s key is of type 0x{type_:02x}; one of 0x{vkey.type:02x} can't be checked"
            )
        if any(other.vkey.public == vkey.public for other in others):
            raise PolicyError(f"two {what} lines have the same key")
        return vkey


def parse_policy(data: bytes) -> Policy:
    """Return what a policy file says; PolicyError with the line that is wrong."""
    if _FORBIDDEN.search(data):
        raise PolicyError("a policy has no control characters but tabs and newlines")
    if data and not data.endswith(b"\n"):
        raise PolicyError("the last line of the policy has no newline: is the file whole?")
    reading = _Reading()
    kinds = {"log": reading.log, "witness": reading.witness, "group": reading.group, "quorum": reading.end}
    # Octets above 0x7f are opaque: names are compared as bytes, whatever they encode.
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
        words = [word for word in _BLANK.split(line) if word]
        if not words or words[0].startswith("#"):
            continue
        try:
            if words[0] not in kinds:
                raise PolicyError(f"{words[0]!r} is not log, witness, group or quorum")
            kinds[words[0]](words[1:])
        except PolicyError as error:
            raise PolicyError(f"line {number}: {error}") from error
    if reading.quorum is None:
        raise PolicyError("there is no quorum line: say `quorum none` where no witness is asked for")
    return Policy(tuple(reading.logs), tuple(reading.witnesses), tuple(reading.groups), reading.quorum)


def _threshold(text: str, members: int) -> int:
    if text in ("any", "all"):
        return 1 if text == "any" else members
    if not _NUMBER.fullmatch(text) or int(text) > members:
        raise PolicyError(f"a threshold is any, all or 1 … {members}, not {text!r}")
    return int(text)
