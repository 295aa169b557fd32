"""The models of a store as an operator sees them: which are set, what they were asked, what is left of the day."""

import sqlite3
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from braid.job_state import job_state
from braid.operation import Request, Response, operation
from braid.providers.budget import Budgets, BudgetState
from braid.providers.outbound import ModelUse, OutboundCall, outbound
from braid.session import Session
from braid.settings import settings
from braid.work.breaker import State

Role = Literal["preferred", "second", "larger"]
_BREAKERS: Final[dict[Role, str]] = {
    "preferred": "chat_small",
    "second": "chat_second",
    "larger": "chat_large",
}


class ProviderState(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the order of models. `named`: what the settings put there, None where nothing; a command may name
    another. `breaker`: whether this process asks it.
    """

    role: Role
    named: str | None
    breaker: State


class AskProviders(Request, frozen=True, kw_only=True):
    """The question how the models of a store stand."""


class Providers(Response, frozen=True, kw_only=True):
    """The models in their order, what each was asked today (UTC), and the budgets of the day.

    `budgets` and `today` are None where the outbound log can't be read. `withheld_terms`: how many words no model is
    shown. Of `remote_hosts` models may be asked once `local_only` is false.
    """

    providers: tuple[ProviderState, ...]
    budgets: tuple[BudgetState, ...] | None
    today: tuple[ModelUse, ...] | None
    local_only: bool
    remote_hosts: tuple[str, ...]
    withheld_terms: int


@operation(AskProviders, Providers, access="operate", cost="record", example=AskProviders())
def providers(session: Session, asked: AskProviders) -> Providers:
    """Return which models are set, which are left in peace, what they were asked today, and what is left of the day."""
    del asked
    session.refresh()
    now = settings(session)
    return Providers(
        providers=provider_states(session),
        budgets=budget_states(session),
        today=_today(session),
        local_only=now.local_only,
        remote_hosts=now.remote_hosts,
        withheld_terms=len(now.redacted_terms),
    )


def provider_states(session: Session) -> tuple[ProviderState, ...]:
    """Return the models that the settings name, in their order."""
    now, breakers = settings(session), job_state(session).breakers
    named: dict[Role, str] = {
        "preferred": now.provider_preferred,
        "second": now.provider_second,
        "larger": now.provider_larger,
    }
    return tuple(
        ProviderState(role=role, named=name or None, breaker=breakers[_BREAKERS[role]].state().state)
        for role, name in named.items()
    )


def budget_states(session: Session) -> tuple[BudgetState, ...] | None:
    """Return how the budgets of the day stand; None where what was spent can't be read."""
    try:
        return Budgets(session).every(session.now())
    except (OSError, sqlite3.Error):
        return None


def _today(session: Session) -> tuple[ModelUse, ...] | None:
    try:
        return tuple(outbound(session).uses(session.now()))
    except (OSError, sqlite3.Error):
        return None


class AskOutbound(Request, frozen=True, kw_only=True):
    """How many calls are shown: the newest."""

    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100


class OutboundCalls(Response, frozen=True, kw_only=True):
    """Calls of models, the newest first."""

    calls: tuple[OutboundCall, ...]


@operation(
    AskOutbound,
    OutboundCalls,
    access="operate",
    cost="record",
    returns="calls",
    example=AskOutbound(limit=10),
    errors=(OSError,),
)
def outbound_calls(session: Session, asked: AskOutbound) -> OutboundCalls:
    """Return what left for models: when, which model, how many tokens and bytes, how it ended, and no word of it.

    A row is kept for 90 days at least. Raises OSError where the file can't be read.
    """
    try:
        found = outbound(session).newest(asked.limit)
    except (OSError, sqlite3.Error) as error:
        raise OSError(f"{outbound(session).path} can't be read: {error}") from error
    return OutboundCalls(calls=tuple(found))
