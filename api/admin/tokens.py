"""Tokens: who may ask a server, for what, and until when. Each is issued and revoked by a signed event.

The log keeps a token's SHA-256, never the token: it has 256 random bits, so the hash needs no salt and no stretching.
An event of a token links to genesis, by which all of them are found without a walk through the log.
"""

import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

import msgspec

from braid.admin.erasure import Noted
from braid.caller import Caller, CallerKind, asking, narrowed
from braid.errors import AccessDeniedError, InvalidRequestError
from braid.ledger.errors import KeyRefusedError, ReadOnlyError, UnknownTokenError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.scope import SCOPES
from braid.notices import notice_count, notices, put_notice
from braid.operation import Access, Instant, Name, Request, Response, Scoped, declared, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

EVENT: Final = "token"
PREFIX: Final = "braid_"
_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)
_ID: Final = "tok_5m2kq7xw"
Seconds = Annotated[float, msgspec.Meta(gt=0, le=10 * 366 * 86_400.0)]


class IssueToken(Scoped, frozen=True, kw_only=True):
    """For whom a token is made. Ids hold it to that scope; `allowed` and `operations` narrow what its kind may do."""

    name: Name
    kind: CallerKind = "person"
    allowed: tuple[Access, ...] | None = None
    operations: tuple[Name, ...] | None = None
    expires_s: Seconds | None = None


class IssuedToken(Response, frozen=True, kw_only=True):
    """A token, `secret`, which is shown this once, and the id by which it is listed and revoked."""

    id: str
    secret: str
    record: str
    expires_at: Instant | None


class TokenView(Response, frozen=True, kw_only=True):
    """A token as it is listed. `issued_by`: the token that it was issued with; None: by the owner."""

    id: str
    name: str
    kind: CallerKind
    allowed: tuple[Access, ...]
    operations: tuple[str, ...] | None
    scope: dict[str, str]
    issued_at: Instant
    expires_at: Instant | None
    state: Literal["valid", "expired", "revoked"]
    record: str
    issued_by: str | None = None


class TokenList(Response, frozen=True, kw_only=True):
    """Every token that was issued, oldest first."""

    tokens: tuple[TokenView, ...]


@operation(
    IssueToken,
    IssuedToken,
    access="keys",
    cost="record",
    positional=("name",),
    example=IssueToken(name="claude-code", kind="agent", user_id="maya", expires_s=2_592_000.0),
    errors=_WRITES,
)
def issue_token(session: Session, asked: IssueToken) -> IssuedToken:
    """Issue a token by a signed event, and return it: it can't be shown again.

    It is given what its kind may do (`braid.caller.GRANTS`) or less. Who asks with a token issues none that may do more
    than that one, or lives longer; it falls with that one. Raises AccessDeniedError for more, and InvalidRequestError
    for an operation without that name.
    """
    if unknown := set(asked.operations or ()) - set(declared()):
        raise InvalidRequestError(f"issue_token: no operation is called {sorted(unknown)[0]!r}")
    issuer = _own_token(session)
    id = f"tok_{secrets.token_hex(4)}"
    secret = f"{PREFIX}{secrets.token_urlsafe(32)}"
    expires = _expiry(session.now(), asked.expires_s, issuer)
    operations = _operations(asked.operations, issuer)
    data: dict[str, Any] = {
        "op": "issue",
        "token": id,
        "sha256": _digest(secret),
        "name": asked.name,
        "kind": asked.kind,
        "allowed": sorted(_allowed(asked, issuer)),
        "held_to": {name: value for name in SCOPES if (value := getattr(asked, name)) is not None},
    }
    if operations is not None:
        data["operations"] = list(operations)
    if expires is not None:
        data["expires_at"] = expires.isoformat()
    if issuer is not None:
        data["issued_by"] = issuer.id
    return IssuedToken(id=id, secret=secret, record=_note(session, data), expires_at=expires)


def _own_token(session: Session) -> TokenView | None:
    """Return the token that is asked with; None at the socket, and in process. Raises AccessDeniedError."""
    caller = asking()
    if caller is None or caller.token is None:
        return None
    found = next((one for one in listed(session) if one.id == caller.token), None)
    if found is None:  # nothing would bound what it issues
        raise AccessDeniedError(f"the token of {caller.name} isn't in the log: it issues none")
    return found


def _allowed(asked: IssueToken, issuer: TokenView | None) -> frozenset[Access]:
    given = narrowed(asked.kind, asked.allowed)
    if issuer is None:
        return given
    if asked.allowed is not None and (over := sorted(given - set(issuer.allowed))):
        raise AccessDeniedError(f"{issuer.name} may not {', '.join(over)}, so neither may what it issues")
    return given & set(issuer.allowed)


def _operations(asked: tuple[str, ...] | None, issuer: TokenView | None) -> tuple[str, ...] | None:
    if issuer is None or issuer.operations is None:
        return asked
    if over := sorted(set(asked or ()) - set(issuer.operations)):
        raise AccessDeniedError(f"{issuer.name} may not ask {', '.join(over)}, so neither may what it issues")
    return issuer.operations if asked is None else asked


def _expiry(now: datetime, seconds: float | None, issuer: TokenView | None) -> datetime | None:
    """Return until when a token counts; AccessDeniedError where that is longer than the one it is issued with."""
    wanted = None if seconds is None else now + timedelta(seconds=seconds)
    last = None if issuer is None else issuer.expires_at
    if issuer is None or last is None:
        return wanted
    if wanted is not None and wanted > last:
        raise AccessDeniedError(
            f"{issuer.name} ends at {last:%Y-%m-%dT%H:%M:%SZ}, so what it issues ends by then"
        )
    return last if wanted is None else wanted


class RevokeToken(Request, frozen=True, kw_only=True):
    """Which token is revoked, and why."""

    id: Name
    reason: str | None = None


@operation(
    RevokeToken,
    Noted,
    access="keys",
    cost="record",
    positional=("id",),
    returns="id",
    example=RevokeToken(id=_ID, reason="the laptop was stolen"),
    errors=(UnknownTokenError, InvalidRequestError, *_WRITES),
)
def revoke_token(session: Session, asked: RevokeToken) -> Noted:
    """Revoke a token, and all that were issued with it, by a signed event, and return the event's id.

    It counts from the next request on, and ends streams that are open.

    Raises UnknownTokenError for a token that was never issued, InvalidRequestError for one that was revoked before.
    """
    found = next((one for one in listed(session) if one.id == asked.id), None)
    if found is None:
        raise UnknownTokenError(f"no token is called {asked.id}")
    if found.state == "revoked":
        raise InvalidRequestError(f"{asked.id} was revoked before")
    return Noted(id=_note(session, {"op": "revoke", "token": asked.id}, asked.reason))


class ListTokens(Request, frozen=True, kw_only=True):
    """All tokens, revoked ones too."""


@operation(
    ListTokens,
    TokenList,
    access="keys",
    cost="record",
    pages="tokens",
    page_key=("id",),
    repeatable=True,
    returns="tokens",
    example=ListTokens(),
)
def tokens(session: Session, asked: ListTokens) -> TokenList:
    """Return every token that was issued, oldest first, and whether it still counts. Secrets are nowhere kept."""
    del asked
    return TokenList(tokens=tuple(listed(session)))


def listed(session: Session) -> Iterator[TokenView]:
    """Yield every token that was issued, as it is now."""
    revoked = {data["token"] for _, data in _events(session) if data["op"] == "revoke"}
    for index, data in _events(session):
        if data["op"] == "issue":
            if data.get("issued_by") in revoked:  # the issuer stands earlier in the log
                revoked.add(data["token"])
            yield _view(session, index, data, is_revoked=data["token"] in revoked)


class Callers:
    """Whom a secret stands for; looks again when the log has more that may speak of tokens. Safe between threads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: tuple[int, Mapping[str, TokenView]] = (-1, {})
        """How many records link to genesis, and each token by its digest, as they were then."""

    def find(self, secret: str) -> Caller | None:
        """Return who asks with a secret; None for one that is unknown, revoked or expired.

        The secret's hash alone is compared, so the time that it takes says nothing of a secret.
        """
        found = self._tokens().get(_digest(secret))
        if found is None or not self._counts(found):
            return None
        caller = Caller(
            name=found.name,
            kind=found.kind,
            allowed=frozenset(found.allowed),
            operations=None if found.operations is None else frozenset(found.operations),
            token=found.id,
        )
        return msgspec.structs.replace(caller, **found.scope)

    def stands(self, caller: Caller) -> bool:
        """Whether who asks may still: the token that they came with counts, or they came without."""
        if caller.token is None:
            return True
        return any(one.id == caller.token and self._counts(one) for one in self._tokens().values())

    def _counts(self, token: TokenView) -> bool:
        return token.state != "revoked" and not _is_past(token.expires_at, self._session.now())

    def _tokens(self) -> Mapping[str, TokenView]:
        count, known = self._known
        now = notice_count(self._session)
        if now != count:
            digests = {
                data["token"]: data["sha256"] for _, data in _events(self._session) if data["op"] == "issue"
            }
            known = {digests[one.id]: one for one in listed(self._session) if one.id in digests}
            self._known = (now, known)
        return known


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _is_past(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


def _note(session: Session, data: dict[str, Any], reason: str | None = None) -> RecordId:
    return put_notice(session, EVENT, data, reason, "a token")


def _events(session: Session) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, body in notices(session, EVENT):
        if body.data.get("op") in ("issue", "revoke"):
            yield index, body.data


def _view(session: Session, index: int, data: Mapping[str, Any], *, is_revoked: bool) -> TokenView:
    expires = data.get("expires_at")
    until = None if expires is None else datetime.fromisoformat(expires)
    operations = data.get("operations")
    envelope = session.reader.envelope(index)
    return TokenView(
        id=data["token"],
        name=data["name"],
        kind=data["kind"],
        allowed=tuple(data["allowed"]),
        operations=None if operations is None else tuple(operations),
        scope=dict(data["held_to"]),
        issued_at=datetime.fromisoformat(envelope.created_at),
        expires_at=until,
        state="revoked" if is_revoked else "expired" if _is_past(until, session.now()) else "valid",
        record=envelope.id,
        issued_by=data.get("issued_by"),
    )
