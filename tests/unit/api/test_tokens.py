"""What a token is issued with bounds it: what it may do, how long it counts, and with whom it falls."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.admin.tokens import Callers, IssuedToken
from braid.caller import Caller, asked_by
from braid.errors import AccessDeniedError
from braid.store import Store

START = datetime(2026, 3, 2, tzinfo=UTC)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard", server=None, clock=clock) as opened:
        yield opened


def issued_with(store: Store, token: IssuedToken, name: str = "child", **asked: object) -> IssuedToken:
    caller = Callers(store.session).find(token.secret)
    assert caller is not None
    with asked_by(caller):
        return store.issue_token(name, **{"kind": "operator", **asked})  # type: ignore[arg-type]


def counts(store: Store, token: IssuedToken) -> bool:
    return Callers(store.session).find(token.secret) is not None


def test_what_a_token_issues_ends_with_it(store: Store, clock: Clock) -> None:
    parent = store.issue_token("parent", kind="operator", expires_s=60.0)
    child = issued_with(store, parent)
    assert child.expires_at == parent.expires_at == START + timedelta(seconds=60)
    assert issued_with(store, parent, expires_s=30.0).expires_at == START + timedelta(seconds=30)
    with pytest.raises(AccessDeniedError, match="ends by then"):
        issued_with(store, parent, expires_s=61.0)
    clock.now += timedelta(seconds=60)
    assert not counts(store, child)


def test_what_a_token_issued_is_revoked_with_it(store: Store) -> None:
    parent = store.issue_token("parent", kind="operator")
    child = issued_with(store, parent)
    grandchild = issued_with(store, child)
    other = store.issue_token("other", kind="operator")
    assert {one.id: one.issued_by for one in store.tokens()} == {
        parent.id: None,
        child.id: parent.id,
        grandchild.id: child.id,
        other.id: None,
    }
    store.revoke_token(parent.id)
    assert not counts(store, child)
    assert not counts(store, grandchild)
    assert counts(store, other)
    assert [one.state for one in store.tokens()] == ["revoked", "revoked", "revoked", "valid"]


def test_a_token_issues_none_that_may_do_more(store: Store) -> None:
    narrow = store.issue_token(
        "narrow", kind="operator", allowed=("keys", "read"), operations=("issue_token", "recall")
    )
    child = Callers(store.session).find(issued_with(store, narrow).secret)
    assert child is not None
    assert sorted(child.allowed) == ["keys", "read"]
    assert sorted(child.operations or ()) == ["issue_token", "recall"]
    agent = Callers(store.session).find(issued_with(store, narrow, kind="agent").secret)
    assert agent is not None
    assert sorted(agent.allowed) == ["read"]
    with pytest.raises(AccessDeniedError, match="so neither may what it issues"):
        issued_with(store, narrow, allowed=("erase",))
    with pytest.raises(AccessDeniedError, match="so neither may what it issues"):
        issued_with(store, narrow, operations=("erase",))


def test_a_token_without_a_record_issues_none(store: Store) -> None:
    with (
        asked_by(Caller(name="stray", token="tok_none")),
        pytest.raises(AccessDeniedError, match="it issues none"),
    ):
        store.issue_token("child", kind="operator")


def test_whether_a_token_still_stands(store: Store, clock: Clock) -> None:
    callers = Callers(store.session)
    token = store.issue_token("one", kind="agent", expires_s=60.0)
    other = store.issue_token("two", kind="agent")
    first, second = callers.find(token.secret), callers.find(other.secret)
    assert first is not None
    assert second is not None
    assert callers.stands(first)
    clock.now += timedelta(seconds=61)
    assert not callers.stands(first)
    assert callers.stands(second)
    store.revoke_token(other.id)
    assert not callers.stands(second)
