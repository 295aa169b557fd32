"""The gate before every model that a store asks: what the settings allow, what is left of the day, what may be shown.

settings ──allowed?──> budget ──left?──> secrets and terms out ──> model ──> terms back in
   │ no                   │ no                                        │
   └ ChatRefusedError     └ a job waits, a caller does without        └ one row in the outbound log, without words

Nothing here holds a lock of the store.
"""

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from braid.event_log import note
from braid.job_state import job_state
from braid.providers.budget import Budgets
from braid.providers.counted import BYTES_A_TOKEN, Asked, CountedCall, uncounted
from braid.providers.policy import refusal_of
from braid.session import Session
from braid.settings import Settings, Tier, settings
from braid.text.chat import (
    ChatBudgetError,
    ChatError,
    ChatLeftOutError,
    ChatMessage,
    ChatModel,
    ChatNotAskedError,
    ChatRefusedError,
    Completion,
    capabilities_of,
    host_of,
    provider_of,
)
from braid.text.redact import Redactor, placeholders
from braid.text.terms import Terms
from braid.work.breaker import Breaker
from braid.work.errors import BreakerOpenError, BudgetSpentError

Needed = str
"""What a model must be able to do: `extract`, `decide`, `compose` or `rerank`."""
LOOK_AGAIN_S: Final = 900.0
"""A job that waits for the next day looks so often whether somebody has set another limit."""
_MOST_TOKENS: Final = 10_000_000
"""More than this is no count of one answer."""


class Gate:
    """The gate of one operation. `waits`: it is a job's, which waits for the next day where a budget is spent."""

    def __init__(self, session: Session, operation: str, needed: Needed, *, waits: bool = False) -> None:
        self.session = session
        self.operation = operation
        self.needed = needed
        self.waits = waits
        self._replaced: list[Mapping[str, str]] = []

    def before(self, model: ChatModel, tier: Tier) -> "GatedModel":
        """Return a model with this gate before it."""
        return GatedModel(self, model, tier)

    def taken(self) -> list[Mapping[str, str]]:
        """Return what stood behind placeholders since the last time this was asked: a mapping each exchange."""
        found, self._replaced = self._replaced, []
        return found

    def keep(self, replaced: Mapping[str, str]) -> None:
        """Take notice of what is replaced in an exchange."""
        if replaced:
            self._replaced.append(replaced)


class GatedModel:
    """A model behind a gate. Implements `ChatModel`."""

    def __init__(self, gate: Gate, model: ChatModel, tier: Tier) -> None:
        self._gate = gate
        self._model = model
        self._tier: Tier = tier

    @property
    def name(self) -> str:
        """The model, as its maker calls it."""
        return self._model.name

    @property
    def remote(self) -> bool:
        """Whether what it is told leaves this machine."""
        return self._model.remote

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model says, its terms restored. Raises ChatError, and BudgetSpentError in a job."""
        self._gate.session.refresh()  # another process may have set it
        now = settings(self._gate.session)
        self._require(now)
        able = capabilities_of(self._model)
        taken = {name for one in messages for name in (*placeholders(one.text), *one.replaced)}
        secrets = Redactor(taken)
        terms = Terms(now.redacted_terms, (one.text for one in messages))
        sent = [_shown(one, secrets, terms) for one in messages]
        replaced = secrets.replaced | terms.replaced
        for one in messages:
            replaced |= one.replaced
        self._gate.keep(replaced)
        call = self._counted([one.text for one in sent], len(replaced))
        said: Completion | None = None
        outcome = "interrupted"
        try:
            said = self._model.complete(
                sent,
                max_tokens=min(max_tokens, able.max_tokens),
                timeout_s=min(timeout_s, now.model_timeout_s, able.timeout_s),
                schema=schema,
            )
            outcome = "ok" if said.finish == "stop" else said.finish
            text = terms.restore(said.text, in_json=schema is not None)
            return msgspec.structs.replace(said, text=text)
        except ChatError as error:
            outcome = error.reason.replace(" ", "_")
            raise
        finally:
            self._end(call, said, outcome)

    def _require(self, now: Settings) -> None:
        """Raise ChatRefusedError, ChatBudgetError or BudgetSpentError where the model is not to be asked."""
        gate = self._gate
        why = refusal_of(self._model, now)
        if why is None and not getattr(capabilities_of(self._model), gate.needed):
            why = f"{self._model.name} can't {gate.needed}"
        if why is not None:
            self._note("model_refused", "not_allowed", level=logging.WARNING)
            raise ChatRefusedError(f"{why}: nothing was sent")
        at = gate.session.now()
        try:
            state = Budgets(gate.session).of(self._tier, at)
        except (OSError, sqlite3.Error) as error:
            raise self._uncounted(error) from None
        if not state.is_spent:
            return
        self._note("budget_spent", "waits" if gate.waits else "left_out", level=logging.WARNING)
        words = f"the {self._tier} models have taken {state.spent:,} of {state.limit:,} tokens of the day"
        if gate.waits and self._tier == "small":
            wait_s = min((_next_day(at) - at).total_seconds(), LOOK_AGAIN_S)
            raise BudgetSpentError(words, "budget", wait_s)
        raise ChatBudgetError(words)

    def _counted(self, sent: Sequence[str], placeholders: int) -> CountedCall:
        """Put a call down before it is made. Raises ChatError where that can't be, and BudgetSpentError in a job."""
        model = self._model
        asked = Asked(
            tier=self._tier,
            operation=self._gate.operation,
            provider=provider_of(model),
            model=model.name,
            host=host_of(model),
            remote=model.remote,
        )
        try:
            return CountedCall(self._gate.session, asked, sent, placeholders)
        except (OSError, sqlite3.Error) as error:
            raise self._uncounted(error) from None

    def _uncounted(self, error: Exception) -> Exception:
        words = uncounted(error)
        self._note("outbound_log_failed", type(error).__name__, level=logging.ERROR)
        return BudgetSpentError(words, "uncounted", LOOK_AGAIN_S) if self._gate.waits else ChatError(words)

    def _end(self, counted: CountedCall, said: Completion | None, outcome: str) -> None:
        """Put down how a call has ended. One that failed has taken what it was begun with: it may be billed."""
        if said is None:
            counted.end(outcome)
        else:
            bytes_in = len(said.text.encode(errors="replace"))
            tokens_in, tokens_out = (
                min(max(0, one), _MOST_TOKENS) for one in (said.tokens_in, said.tokens_out)
            )
            if not tokens_in + tokens_out:
                tokens_in, tokens_out = counted.call.tokens_in, bytes_in // BYTES_A_TOKEN
            counted.end(outcome, tokens_in=tokens_in, tokens_out=tokens_out, bytes_in=bytes_in)
        with suppress(OSError, sqlite3.Error):
            Budgets(self._gate.session).warn(self._tier, counted.call.at)

    def _note(self, event: str, outcome: str, *, level: int) -> None:
        note(
            event,
            level=level,
            operation=self._gate.operation,
            provider=provider_of(self._model),
            model=self._model.name,
            tier=self._tier,
            outcome=outcome,
        )


def _shown(message: ChatMessage, secrets: Redactor, terms: Terms) -> ChatMessage:
    """Return a message as it may be sent. A program's own words hold no terms, though they may look like some."""
    text = secrets.redact(message.text)
    return ChatMessage(message.role, text if message.role == "system" else terms.redact(text))


def _next_day(at: datetime) -> datetime:
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1)


class FirstOf:
    """Models that are asked one after the other until one answers: preferred, second. Implements `ChatModel`."""

    def __init__(self, models: Sequence[tuple[ChatModel, Breaker | None]], *, is_needed: bool = True) -> None:
        """Each with the breaker that is before it, if any. `is_needed`: where all are open, the job waits for one."""
        if not models:
            raise ValueError("at least one model is asked")
        self._models = models
        self._is_needed = is_needed

    @property
    def name(self) -> str:
        """The model that is asked first, as its maker calls it."""
        return self._models[0][0].name

    @property
    def remote(self) -> bool:
        """Whether what one of them is told leaves this machine."""
        return any(model.remote for model, _ in self._models)

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the first one says that answers. Raises ChatError, and BreakerOpenError where all are open."""
        failed: ChatError | None = None
        opened: list[BreakerOpenError] = []
        for model, breaker in self._models:
            try:
                if breaker is None:
                    return model.complete(messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema)
                with breaker.passing(ChatNotAskedError, BudgetSpentError):
                    return model.complete(messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema)
            except BreakerOpenError as error:
                opened.append(error)
            except ChatBudgetError:
                raise  # the other one is of the same tier
            except ChatError as error:
                failed = error
        if failed is not None:
            raise failed
        soonest = min(opened, key=lambda one: one.wait_s)
        if self._is_needed:
            raise soonest
        raise ChatLeftOutError(str(soonest)) from soonest


def in_order(gate: Gate, small: ChatModel, second: ChatModel | None, *, with_breakers: bool) -> FirstOf:
    """Return the small models in the order in which they are asked."""
    breakers = job_state(gate.session).breakers
    both = [(small, "chat_small"), *([(second, "chat_second")] if second is not None else [])]
    return FirstOf(
        [(gate.before(model, "small"), breakers[name] if with_breakers else None) for model, name in both]
    )
