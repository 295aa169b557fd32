"""What callers say, turned into drafts: experiences, messages, corrections. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import msgspec

from braid.ledger.errors import InvalidRecordError
from braid.ledger.record.ids import parse_id
from braid.ledger.record.record import (
    Affect,
    Claim,
    Confidence,
    Content,
    Draft,
    ExperienceBody,
    LinkDiff,
    Media,
    Provenance,
    Record,
    Reweighted,
    Scope,
    Source,
    Target,
    is_reading,
    with_article,
)
from braid.ledger.record.scope import MOST_CHARS, NO_CONTROL, OWNERS, SAID, SCOPES, Ids
from braid.ledger.record.source import CORRECT, WORDS, at_first_hand
from braid.log import members
from braid.log.content import text_of
from braid.text.visible import shows

_ACTORS = {
    "user": "user", "human": "user", "assistant": "agent", "agent": "agent", "system": "system", "developer": "system",
}  # fmt: skip
_TOOLS = ("tool", "function")
_ID = re.compile(NO_CONTROL)
_EMPTY = "there is nothing to remember: the text is empty"
MESSAGE_MEMBERS = frozenset(
    ("role", "content", "timestamp", "name", "id", "session", "tool", members.METADATA)
)
_TAKEN = MESSAGE_MEMBERS | members.CARRIED | {"conversation", "parent"}
_BESIDE = {
    name: f"does not stand in a message: whose memory it is, is said beside it, remember(…, {name}=…)"
    for name in OWNERS
}


def scope(
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    project_id: str | None = None,
    session_id: str | None = None,
) -> Scope | None:
    """Return the scope of a memory, None when nothing is said of it; InvalidRecordError for no such id."""
    given = Scope(
        user_id=user_id, agent_id=agent_id, run_id=run_id, project_id=project_id, session_id=session_id
    )
    return None if given == Scope() else checked_scope(given)


def scope_of(asked: Ids) -> Scope | None:
    """Return the scope that a request names, as `scope` does."""
    return scope(asked.user_id, asked.agent_id, asked.run_id, asked.project_id, asked.session_id)


def checked_scope(given: Scope) -> Scope:
    """Return a scope that a caller gives; InvalidRecordError for an id that is empty, too long, or moves a cursor.

    Older logs have such records, and what is drawn from them keeps their scope: so the log itself takes them.
    """
    for name in SCOPES:
        id: str | None = getattr(given, name)
        if id == "":  # it would name nobody's memory
            raise InvalidRecordError(f"{name} is text that isn't empty, not ''")
        if id is not None and (len(id) > MOST_CHARS or not _ID.match(id)):
            raise InvalidRecordError(f"{name} is {SAID}")
    return given


def checked_key(key: object) -> str:
    """Return an idempotency key that a caller gives; InvalidRecordError for one that is no such text.

    Older logs have others. What Braid names by itself, such as an imported turn, isn't judged by this.
    """
    if not isinstance(key, str) or not key:
        raise InvalidRecordError(f"an idempotency key is text and not empty, not {key!r}")
    if len(key) > MOST_CHARS or not _ID.match(key):
        raise InvalidRecordError(f"an idempotency key is {SAID}")
    return key


def is_id(text: str) -> bool:
    """Whether `text` has the form of a record id."""
    try:
        parse_id(text)
    except ValueError:
        return False
    return True


def experience(
    text: str = "",
    *,
    type: str = "occurrence",
    actor: str = "user",
    method: str = "capture",
    name: str | None = None,
    parents: Sequence[Target] = (),
    evidence: Sequence[Target] = (),
    supersedes: Sequence[Target] = (),
    sources: Sequence[Source | str] = (),
    confidence: Confidence | float | None = None,
    affect: Affect | None = None,
    claims: Sequence[Claim] = (),
    structured: Mapping[str, Any] | None = None,
    media: Sequence[Media] = (),
    within: Scope | None = None,
    tags: Sequence[str] = (),
    external_id: str | None = None,
    occurred_at: datetime | str | None = None,
    once: str | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Draft:
    """Return the draft of an experience; evidence is record ids (links) or external URIs (kept in the body).

    Raises TypeError for what would be taken apart, or kept as something that nobody said; InvalidRecordError for an
    empty key or a time that isn't RFC 3339.
    """
    _refuse_text(text)
    _refuse_single(
        parents=parents, evidence=evidence, supersedes=supersedes, sources=sources, tags=tags, claims=claims
    )
    _refuse_unlike(claims, confidence)
    if isinstance(confidence, (int, float)):
        confidence = Confidence(p=float(confidence))
    internal = [target for target in evidence if not isinstance(target, str) or is_id(target)]
    external = [target for target in evidence if isinstance(target, str) and not is_id(target)]
    body = ExperienceBody(
        content=Content(text=text, structured=dict(structured or {}), media=list(media)),
        provenance=Provenance(
            actor=actor,
            method=method,
            name=name,
            sources=[Source(uri=source) if isinstance(source, str) else source for source in sources],
        ),
        evidence_uris=external,
        confidence=confidence,
        affect=affect,
        symbolic=list(claims),
        scope=within,
        tags=list(tags),
        external_id=external_id,
        occurred_at=_moment(occurred_at, "occurred_at"),
        once=once,
    )
    links = [("parent", target) for target in parents]
    links += [("evidence", target) for target in internal]
    links += [("supersedes", target) for target in supersedes]
    return Draft(
        kind="experience",
        type=type,
        body=body,
        links=links,
        blobs=[(one.blob, one.size) for one in media],
        extra=dict(extra or {}),
    )


def telling(draft: Draft) -> Draft:
    """Return the draft of an experience that says something; InvalidRecordError for one that says nothing.

    This holds for each text that is told to Braid itself, a user's message too. What a conversation elsewhere held is
    kept as it was: its empty turns, too.
    """
    body = draft.body
    if isinstance(body, ExperienceBody):
        content = body.content
        says = shows(content.text) or content.structured or content.media or body.symbolic or body.affect
        if not says:
            raise InvalidRecordError(_EMPTY)
        _refuse_nul(content.text)
        if (empty := next((tag for tag in body.tags if not tag.strip() or "\0" in tag), None)) is not None:
            raise InvalidRecordError(f"a tag is text that isn't empty and has no NUL, not {empty!r}")
    return draft


def correction(replaced: Sequence[Record], text: str, *, by_owner: bool) -> Draft:
    """Return the draft of what is right in place of records; InvalidRecordError where the first is no experience.

    Whoever puts right what the owner said, or changes no word, leaves the speaker as they are; else it is the word of
    whoever does so: the owner's, or an agent's.

    The new text counts from when the old one did: it is no news, and what was said in between stays the later word.
    """
    old = next((one for one in replaced if _is_owners(one)), replaced[0])
    body = old.body
    if not isinstance(body, ExperienceBody):
        raise InvalidRecordError(
            f"{old.id} is {with_article(old.kind)}: only experiences are memories that change"
        )
    source, tags = body.provenance, list(body.tags)
    actor, name = source.actor, source.name
    is_same = text == body.content.text and not is_reading(body)
    if by_owner and not (is_same or _is_owners(old)):
        actor, name, tags = "user", None, [tag for tag in tags if not tag.startswith(WORDS)]
    elif not is_same and actor.partition("(")[0] not in ("user", "agent", "system"):
        actor, name = "agent", None
    draft = telling(
        experience(
            text,
            type=old.type,
            actor=actor,
            name=name,
            method=CORRECT,
            supersedes=[one.id for one in replaced],
            within=body.scope,
            occurred_at=body.occurred_at or old.created_at,
            tags=tags,
        )
    )
    new = cast("ExperienceBody", draft.body)
    diffs = [_replaced(link, one.body, new) for link, one in enumerate(replaced)]
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(new, raw=body.raw, diffs=diffs))


def _is_owners(record: Record) -> bool:
    """Whether a record is the owner's own word, and not what was read of it."""
    body = record.body
    return isinstance(body, ExperienceBody) and not is_reading(body) and at_first_hand("", body) == "owner"


def _replaced(link: int, old: object, new: ExperienceBody) -> LinkDiff:
    """Return what a correction changes along a link: the names of members, and that the old weighs nothing.

    No word of either: a correction outlives an erasure of what it corrects, and which words are new would tell the
    others.
    """
    assert isinstance(old, ExperienceBody)  # noqa: S101 - nothing else is in the place of one
    one, other = _said(old), _said(new)
    changed = [name for name in one if one[name] != other[name]]
    return LinkDiff(
        link=link,
        added=", ".join(name for name in changed if other[name]) or None,
        removed=", ".join(name for name in changed if one[name]) or None,
        reweighted=[Reweighted(link=link, w_old=old.confidence.p if old.confidence else 1.0, w_new=0.0)],
    )


def _said(body: ExperienceBody) -> dict[str, object]:
    """Return what an experience says, by the members of the schema."""
    content = body.content
    return {
        "text": content.text, "media": content.media, "structured": content.structured, "symbolic": body.symbolic,
        "confidence": body.confidence, "affect": body.affect, "evidence_uris": body.evidence_uris,
        "sources": body.provenance.sources,
    }  # fmt: skip


def message(
    said: Mapping[str, Any] | str, within: Scope | None, metadata: Mapping[str, Any], once: str | None
) -> Draft:
    """Return the draft of one chat message `{role, content, timestamp?, name?, id?, session?, …}` or plain text.

    Roles and content are as chat APIs have them: `developer` is the system, `function` a tool; parts are joined.
    InvalidRecordError for a member that is unknown (the caller's own go under `metadata`), and for a user's message
    that says nothing: an agent's may, where it called a tool.
    """
    _refuse_no_message(said)
    given = {"role": "user", "content": said} if isinstance(said, str) else dict(said)
    if wrong := members.refusal(given, _TAKEN, places=_BESIDE):
        raise InvalidRecordError(wrong)
    role, content = given.get("role"), given.get("content")
    if (
        content is None
        and "content" in given
        and _ACTORS.get(str(role)) == "agent"
        and set(given) - MESSAGE_MEMBERS
    ):
        content = ""  # as chat APIs say of an agent that only calls a tool
    content = text_of(content)
    actor = _ACTORS.get(str(role)) or (
        f"tool({given.get('name') or given.get('tool') or 'tool'})" if role in _TOOLS else None
    )
    if actor is None:
        raise InvalidRecordError(f"a message's role is user, assistant, system or tool, not {role!r}")
    rest = {name: value for name, value in given.items() if name not in MESSAGE_MEMBERS} | _own(given)
    if actor == "user" and not shows(content) and not rest:
        raise InvalidRecordError(_EMPTY)
    _refuse_nul(content)
    if session := given.get("session"):
        within = checked_scope(msgspec.structs.replace(within or Scope(), session_id=str(session)))
    return experience(
        content,
        actor=actor,
        name=given.get("name"),
        within=within,
        external_id=given.get("id"),
        occurred_at=_moment(given.get("timestamp"), "timestamp"),
        structured={**metadata, **rest},
        once=once,
    )


def _own(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a message carries of its caller's own, under `metadata`."""
    own = given.get(members.METADATA)
    if not isinstance(own, Mapping | None):
        raise InvalidRecordError(f"a message's metadata is an object, not {own!r:.60}")
    return dict(cast("Mapping[str, Any]", own or {}))


def _refuse_text(text: object) -> None:
    if not isinstance(text, str):
        remedy = "; decode it first" if isinstance(text, bytes) else ""
        raise TypeError(f"what is remembered is text (str), not {type(text).__name__}{remedy}")


def _refuse_nul(text: str) -> None:
    """Refuse a NUL in what is said to Braid itself: it is in no text that somebody wrote."""
    if (at := text.find("\0")) >= 0:
        raise InvalidRecordError(f"the text has a NUL character at place {at}: leave it out")


def _refuse_no_message(said: object) -> None:
    if not isinstance(said, str | Mapping):
        raise TypeError(f"a message is text or an object with role and content, not {type(said).__name__}")


def _refuse_single(**several: object) -> None:
    for name, given in several.items():
        if isinstance(given, (str, bytes)):
            raise TypeError(f"{name} takes several: give a list, {name}=[{given!r}]")


def _refuse_unlike(claims: Sequence[object], confidence: object) -> None:
    for claim in claims:
        if not isinstance(claim, Claim):
            raise TypeError(f"claims takes Claim, not {type(claim).__name__}")
    if not isinstance(confidence, int | float | Confidence | None):
        raise TypeError(f"confidence is a number in [0, 1] or a Confidence, not {confidence!r:.60}")


def _moment(value: Any, member: str) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        at = None
    if at is None or at.tzinfo is None:
        raise InvalidRecordError(
            f"the {member} {value!r} is no RFC 3339 time with its zone: write it as 2025-05-17T10:00:00Z"
        )
    return at
