"""Asking witnesses for their cosignatures (C2SP tlog-witness), as the log that asks. Never on the append path.

A witness remembers the last head that it cosigned. So it knows when the whole machine, store and fork guard together,
was set back: what `ask` then refuses is named `rollback` or `fork`, with the signed head that shows it.
"""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Final, NamedTuple

from braid.ledger.errors import NoteError, RefusedLogError
from braid.ledger.publish.policy import Party, Policy
from braid.ledger.publish.remote import SignedHead, open_head
from braid.ledger.tree.checkpoint import MAX_SIZE
from braid.ledger.tree.note import NoteSignature, cosignature_time, format_note, open_note, parse_signature
from braid.ledger.witness.witness import SIZE_TYPE, format_submission

MAX_ANSWER_BYTES: Final = 64 * 1024
CLOCK_TOLERANCE_S: Final = 300
_ROUNDS: Final = 3
_SIZE: Final = re.compile(rb"(0|[1-9][0-9]{0,18})\n")
_TRIES: Final = 32

Post = Callable[[str, str, bytes | None], tuple[int, str, bytes]]
"""(witness's URL, path below it, body; None reads) to (status, content type, body); OSError where nobody answers."""


class OwnLog(NamedTuple):
    """The log that asks: its head, and from its tree the consistency proof and the root of any size up to it."""

    head: SignedHead
    prove: Callable[[int], Sequence[bytes]]
    root_at: Callable[[int], bytes]


class CosignatureResult(NamedTuple):
    """How it went with one witness: its cosignature, or why there is none."""

    witness: str
    cosignature: NoteSignature | None
    reason: str = ""
    what: str = ""


def ask_all(
    policy: Policy, own: OwnLog, post: Post, *, now_s: int, known: SignedHead | None = None
) -> list[CosignatureResult]:
    """Ask every witness of the policy that has a URL, all at once; one that fails is told, not raised.

    `known`: an earlier head with cosignatures, from which it is seen where each witness stood.
    """
    stood = policy.signed_by(known.opened) if known else set[str]()
    asked = [witness for witness in policy.witnesses if witness.url]
    if not asked:
        return []

    def one(witness: Party) -> CosignatureResult:
        old = known.size if known and witness.name in stood else 0
        try:
            return CosignatureResult(witness.name, ask(witness, own, post, now_s=now_s, old=old))
        except RefusedLogError as error:
            return CosignatureResult(witness.name, None, error.reason, error.what)
        except OSError as error:
            return CosignatureResult(witness.name, None, "unreachable", str(error))

    with ThreadPoolExecutor(min(len(asked), _TRIES), thread_name_prefix="braid-cosign") as pool:
        return list(pool.map(one, asked))


def ask(witness: Party, own: OwnLog, post: Post, *, now_s: int, old: int = 0) -> NoteSignature:
    """Return a witness's cosignature of the head; RefusedLogError with the reason otherwise.

    `old` is where it is thought to stand; where it says that it stands elsewhere (409) it is asked again from there.
    """
    # The head as the log alone signed it: no witness is to judge the lines of others.
    head = own.head
    lines = [one for one in head.opened.verified if one.name == head.checkpoint.origin]
    note = format_note(head.opened.text, lines)
    for _ in range(_ROUNDS):
        body = format_submission(old, own.prove(old) if 0 < old < head.size else (), note)
        status, kind, answer = post(witness.url, "add-checkpoint", body)
        if status == 200:
            return _cosignature(witness, head, answer, now_s)
        if status != 409 or kind != SIZE_TYPE:
            raise _refusal(witness, own, status, answer, post)
        match = _SIZE.fullmatch(answer)
        if not match or int(match[1]) > MAX_SIZE:
            raise RefusedLogError("malformed", f"{witness.name} answers 409 without a size")
        if int(match[1]) > head.size:
            raise _behind(witness, head, int(match[1]), _shown(witness, head, post))
        old = int(match[1])
    raise RefusedLogError("malformed", f"{witness.name} says each time that it stands elsewhere")


def with_cosignatures(head: SignedHead, policy: Policy, asked: Sequence[CosignatureResult]) -> SignedHead:
    """Return the head with what the witnesses gave; RefusedLogError (`quorum`) where that is not enough."""
    fresh = [one.cosignature for one in asked if one.cosignature is not None]
    keys = {(one.name, one.id) for one in fresh}
    kept = [one for one in head.opened.verified if (one.name, one.id) not in keys]
    note = format_note(head.opened.text, [*kept, *fresh])
    return open_head(note, head.vkey, policy)


def _cosignature(witness: Party, head: SignedHead, answer: bytes, now_s: int) -> NoteSignature:
    """Return the cosignature in an answer, verified; lines of other keys are passed over."""
    try:
        lines = [parse_signature(line) for line in answer.decode().removesuffix("\n").split("\n")]
    except ValueError as error:
        raise RefusedLogError("malformed", f"{witness.name} answers what is no signature: {error}") from error
    mine = [line for line in lines if (line.name, line.id) == (witness.vkey.name, witness.vkey.id)]
    if not mine:
        raise RefusedLogError("signature", f"{witness.name} answers without a line of its key")
    try:
        (found,) = open_note(format_note(head.opened.text, mine), [witness.vkey]).verified
        time_s = cosignature_time(found)
    except (NoteError, ValueError) as error:
        raise RefusedLogError("signature", f"the cosignature of {witness.name} is wrong: {error}") from error
    if not 0 < time_s <= now_s + CLOCK_TOLERANCE_S:
        raise RefusedLogError("time", f"{witness.name} cosigned at {time_s}, which is no time of today")
    return found


def _refusal(witness: Party, own: OwnLog, status: int, answer: bytes, post: Post) -> RefusedLogError:
    """Return why a witness did not cosign, from the status that it gave (SPEC §17.2)."""
    said = answer[:200].decode("utf-8", "replace").strip()
    if status in (409, 422):
        return _contradiction(witness, own, said, _shown(witness, own.head, post))
    reasons = {
        400: ("malformed", "finds the request malformed"),
        403: ("signature", "does not accept the log's signature"),
        404: ("unknown", "does not know this log"),
    }
    reason, what = reasons.get(status, ("unreachable", f"answers {status}"))
    return RefusedLogError(reason, f"{witness.name} {what}" + (f" ({said})" if said else ""))


def _behind(witness: Party, head: SignedHead, stands: int, shown: SignedHead | None) -> RefusedLogError:
    """Return that this log is an older copy where the witness shows the later head; that it only says so otherwise."""
    says = f"{witness.name} has cosigned a head of {stands} records, this log has {head.size}"
    if shown is None or shown.size < stands:
        return RefusedLogError("unproven", f"{says}; it does not show that head signed by this log")
    return RefusedLogError("rollback", f"{says}: this is an older copy of the store. {_evidence(shown)}")


def _contradiction(witness: Party, own: OwnLog, said: str, shown: SignedHead | None) -> RefusedLogError:
    """Return that two histories were signed where the witness shows the other one; that it only says so otherwise."""
    says = f"{witness.name} does not see its head continued by this one of {own.head.size} records ({said})"
    if (
        shown is None
        or not 0 < shown.size <= own.head.size
        or own.root_at(shown.size) == shown.checkpoint.root
    ):
        return RefusedLogError("unproven", f"{says}; it shows no head signed by this log that contradicts it")
    return RefusedLogError("fork", f"{says}: two histories were signed. {_evidence(shown)}")


def _shown(witness: Party, head: SignedHead, post: Post) -> SignedHead | None:
    """Return the last head that the witness has cosigned, as it shows it to monitors, if this log's key signed it."""
    name = sha256(head.checkpoint.origin.encode()).hexdigest()
    try:
        status, _, note = post(witness.url, f"{name}/checkpoint", None)
        return open_head(note, head.vkey) if status == 200 else None
    except (OSError, RefusedLogError):
        return None


def _evidence(shown: SignedHead) -> str:
    return f"The log's key signed:\n{shown.note.decode()}"
