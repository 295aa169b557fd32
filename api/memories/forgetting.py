"""Forgetting by what memories say: shown first, and then just what was shown (`003_` §14.7, §22.2, §22.3).

A token names by index and version what was shown, who asked, in which scope, and until when; a key of the vault's
holder makes it. So whoever forgets can't forget anything else, and what has changed since is left.
"""

from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from typing import Final

import msgspec
from blake3 import blake3
from pybase64 import b64decode, urlsafe_b64encode

from braid.admin.erasure import Forget, PlanForget, forget, plan_forget
from braid.caller import asking
from braid.errors import AccessDeniedError, ConfirmationError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.scope import ids_of
from braid.log.chain import Chain, chain_of, kept, present
from braid.memories.operations import (
    ForgetPreviewed,
    Forgotten,
    Meant,
    Preview,
    PreviewForget,
    Skipped,
    SkippedWhy,
)
from braid.operation import Scoped
from braid.search.question import MAX_TOP_K, Question
from braid.session import Session
from braid.settings import settings
from braid.text.wording import denies, named, says, states
from braid.text.words import stem, telling, words

VALID: Final = timedelta(minutes=10)
"""How long a token counts."""
_CONTEXT: Final = "braid 2026-11 token of a preview of what is forgotten"
_MAC_BYTES: Final = 16
_LOOKED_AT: Final = 200
"""Among how many of what recall finds the words are looked for."""


class _Shown(msgspec.Struct, frozen=True, array_like=True):
    """What a token says: (index, version) of each memory, who asked, in which scope, and until when."""

    memories: tuple[tuple[int, int], ...]
    caller: str
    scope: tuple[str | None, ...]
    until: int
    near: bool = False
    """Whether none of them says what was asked for word for word."""


def preview(session: Session, asked: PreviewForget) -> Preview:
    """See `memories.operations.preview_forget`."""
    _require_scope(asked)
    session.reader.need_vault()
    (found, near), now = _found(session, asked), settings(session)
    most = min(asked.limit, now.forget_max)
    shown, chains = found[:most], [chain for chain, _, _ in found[:most]]
    memories = [_meant(session, *one) for one in shown]
    leaving = [one.id for one in memories if not one.pinned]
    whole = [
        RecordId(session.reader.envelope(at).id)
        for chain, one in zip(chains, memories, strict=True)
        if not one.pinned
        for at in present(session.reader, chain)
    ]
    falls = plan_forget(session, PlanForget(ids=tuple(whole))).ids if whole else ()
    until = session.now() + VALID
    token = _Shown(
        memories=tuple((chain.current or 0, chain.version) for chain in chains),
        caller=_caller(),
        scope=_scope(asked),
        until=int(until.timestamp()),
        near=near,
    )
    return Preview(
        token=_signed(session, token),
        expires_at=until,
        memories=tuple(memories),
        falls=len(falls),
        confirm=len(leaving) if leaving and (near or len(leaving) > now.forget_confirm_above) else None,
        near=near,
        more=len(found) > most,
    )


def forget_shown(session: Session, asked: ForgetPreviewed) -> Forgotten:
    """See `memories.operations.forget_previewed`."""
    _require_scope(asked)
    shown = _opened(session, asked)
    with session.writer.turn():
        session.refresh()
        now = settings(session)
        if now.forget_dry_run_only:
            raise ConfirmationError("forget_dry_run_only is set: nothing was changed")
        chosen = _chosen(session, shown, asked.ids)
        left, skipped = list[RecordId](), list[Skipped]()
        for index, version in chosen:
            id = RecordId(session.reader.envelope(index).id)
            if (why := _why_not(session, index, version)) is not None:
                skipped.append(Skipped(id=id, why=why))
            else:
                left.append(id)
        if len(left) > now.forget_max:
            raise ConfirmationError(
                f"{len(left)} memories would be forgotten, and forget_max is {now.forget_max}; nothing was changed"
            )
        if len(left) > now.forget_confirm_above and asked.confirm != len(left):
            raise ConfirmationError(
                f"{len(left)} memories would be forgotten: say so with confirm={len(left)}; nothing was changed"
            )
        if left and shown.near and asked.ids is None and asked.confirm != len(left):
            raise ConfirmationError(
                f"none of them says it word for word: name ids, or say confirm={len(left)}; nothing was changed"
            )
        tombstone = forget(session, Forget(ids=tuple(left), reason=asked.reason)).id if left else None
    return Forgotten(tombstone=tombstone, forgotten=tuple(left), skipped=tuple(skipped))


def _require_scope(asked: Scoped) -> None:
    """Refuse what would forget in every scope; AccessDeniedError, but to an operator."""
    caller = asking()
    if caller is not None and caller.kind != "operator" and not any(_scope(asked)):
        raise AccessDeniedError("forgetting by what memories say needs a scope: give user_id, or another id")


def _found(session: Session, asked: PreviewForget) -> tuple[list[tuple[Chain, str, float]], bool]:
    """Return the memories that fit, best first, each with its text and score; one more than are shown, if there are.

    And whether they only come near: by words, what is stated is looked for word for word first. "I like tea" and "I
    don't like tea" have the same telling words, so nothing that has only those is forgotten without a word more.
    """
    fitting = _fitting(session, asked)
    if asked.match != "words" or not states(asked.query):
        return fitting, False
    if saying := [one for one in fitting if says(one[1], asked.query)]:
        return saying, False
    return [one for one in fitting if denies(one[1]) == denies(asked.query)], True


def _fitting(session: Session, asked: PreviewForget) -> list[tuple[Chain, str, float]]:
    """Return the memories that recall finds, by words those that have every telling one."""
    from braid.search.retrieval import find

    wanted = _wanted(asked.query)
    by_words = asked.match != "meaning"
    top_k = min(_LOOKED_AT if by_words else asked.limit + 1, MAX_TOP_K)
    question = Question(
        query=asked.query,
        top_k=top_k,
        filters=asked.filters,
        user_id=asked.user_id,
        agent_id=asked.agent_id,
        run_id=asked.run_id,
        project_id=asked.project_id,
        session_id=asked.session_id,
    )
    found: dict[int, tuple[Chain, str, float]] = {}
    for hit in find(session, question).results:
        for index in (hit.index, *(also.index for also in hit.also)):
            text = hit.text
            if hit.record.kind != "experience" or (by_words and not _has(text, wanted)):
                continue
            chain = chain_of(session.reader, index)
            if chain.current is not None:
                found.setdefault(chain.current, (chain, text, hit.score))
    return list(found.values())


def _wanted(query: str) -> set[str]:
    """Return the stems of the words that a memory must have; a name is telling, though it be "Will" or "May"."""
    told = {*telling(query), *named(query)} or set(words(query))
    return {stem(word) for word in told}


def _has(text: str, wanted: set[str]) -> bool:
    return bool(wanted) and wanted <= {stem(word) for word in words(text)}


def _meant(session: Session, chain: Chain, text: str, score: float) -> Meant:
    record = session.reader.envelope(chain.current or 0)
    how = kept(session.reader, chain)
    return Meant(
        id=RecordId(record.id), version=chain.version, text=text, score=round(score, 6), pinned=how.pinned
    )


def _why_not(session: Session, index: int, version: int) -> SkippedWhy | None:
    """Return why a memory that was shown is not forgotten; None where it is."""
    control = session.reader.control
    if index in control.erased:
        return "erased"
    if index in control.hidden:
        return "forgotten"
    chain = chain_of(session.reader, index)
    if chain.current != index or chain.version != version:
        return "changed"
    return "pinned" if kept(session.reader, chain).pinned else None


def _chosen(session: Session, shown: _Shown, ids: tuple[str, ...] | None) -> list[tuple[int, int]]:
    """Return which of those shown are meant. Raises ConfirmationError for one that was not shown."""
    if ids is None:
        return list(shown.memories)
    versions = dict(shown.memories)
    chosen: list[tuple[int, int]] = []
    for id in dict.fromkeys(ids):
        index = session.reader.index_of(id)
        if index not in versions or session.reader.envelope(index).id != id:
            raise ConfirmationError(f"{id} was not shown: preview again; nothing was changed")
        chosen.append((index, versions[index]))
    return chosen


def _signed(session: Session, shown: _Shown) -> str:
    said = msgspec.msgpack.encode(shown)
    return urlsafe_b64encode(_mac(session, said) + said).decode().rstrip("=")


def _opened(session: Session, asked: ForgetPreviewed) -> _Shown:
    """Return what a token says. Raises ConfirmationError for one that this caller can't use now."""
    again = "preview again; nothing was changed"
    try:
        raw = b64decode(asked.token.encode() + b"=" * (-len(asked.token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise ConfirmationError(f"that is no token: {again}") from None
    mac, said = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
    if not compare_digest(mac, _mac(session, said)):
        raise ConfirmationError(f"the token is not one of this store's, or was altered: {again}")
    shown = msgspec.msgpack.decode(said, type=_Shown)
    if shown.caller != _caller() or shown.scope != _scope(asked):
        raise ConfirmationError(f"the token was given to another caller, or for another scope: {again}")
    if session.now() >= datetime.fromtimestamp(shown.until, UTC):
        raise ConfirmationError(f"the token has expired: {again}")
    return shown


def _mac(session: Session, said: bytes) -> bytes:
    key = blake3(session.reader.need_vault().lookup_key, derive_key_context=_CONTEXT).digest()
    return blake3(said, key=key).digest(_MAC_BYTES)


def _caller() -> str:
    caller = asking()
    return "operator" if caller is None or caller.kind == "operator" else f"{caller.kind} {caller.name}"


def _scope(asked: Scoped) -> tuple[str | None, ...]:
    return ids_of(asked)
