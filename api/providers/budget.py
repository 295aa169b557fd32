"""What models may take in a day, by tier, and what they have taken: counted from what left, so no restart resets it."""

import logging
import sqlite3
from datetime import datetime
from typing import Final, get_args

import msgspec

from braid.event_log import note
from braid.providers.outbound import outbound
from braid.providers.policy import WARN_AT, budget_of
from braid.session import Session
from braid.settings import Tier, settings

TIERS: Final[tuple[Tier, ...]] = get_args(Tier)


class BudgetState(msgspec.Struct, frozen=True, kw_only=True):
    """What a tier has taken of the day's tokens (UTC). `limit`: None for none; `percent` of it, None without one."""

    tier: Tier
    spent: int
    limit: int | None
    percent: int | None = None

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.limit is not None and self.spent >= self.limit

    @property
    def runs_out(self) -> bool:
        """Whether so much is taken that it is warned of."""
        return self.limit is not None and self.spent >= WARN_AT * self.limit


class _Warned:
    """Of which day and tier it was warned in this process."""

    def __init__(self) -> None:
        self.of: set[tuple[str, Tier]] = set()


class Budgets:
    """The budgets of one store."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._log = outbound(session)

    def of(self, tier: Tier, now: datetime) -> BudgetState:
        """Return how a tier stands. Raises OSError, sqlite3.Error."""
        limit = budget_of(settings(self._session), tier)
        spent = self._log.spent(now).get(tier, 0)
        percent = None if limit is None else 100 if not limit else min(100 * spent // limit, 10_000)
        return BudgetState(tier=tier, spent=spent, limit=limit, percent=percent)

    def every(self, now: datetime) -> tuple[BudgetState, ...]:
        """Return how each tier stands. Raises OSError, sqlite3.Error."""
        return tuple(self.of(tier, now) for tier in TIERS)

    def warn(self, tier: Tier, now: datetime) -> None:
        """Note in the log of events, once a day, that a tier's tokens run out. Raises OSError, sqlite3.Error."""
        state = self.of(tier, now)
        warned = self._session.kept(_Warned, _Warned).of
        mark = (now.date().isoformat(), tier)
        if not state.runs_out or mark in warned:
            return
        warned.add(mark)
        outcome = "spent" if state.is_spent else "runs_out"
        note("budget_runs_out", level=logging.WARNING, tier=tier, percent=state.percent, outcome=outcome)

    def warnings(self, now: datetime) -> tuple[str, ...]:
        """Return in plain words which tiers run out or have; none where the count can't be read."""
        limits = settings(self._session)
        if limits.tokens_small is None and limits.tokens_larger is None:
            return ()
        try:
            states = self.every(now)
        except (OSError, sqlite3.Error):
            return ()
        return tuple(
            f"the {one.tier} models have taken {one.percent} % of the day's tokens"
            + (": what they would read waits for the next day (UTC)" if one.is_spent else "")
            for one in states
            if one.runs_out
        )
