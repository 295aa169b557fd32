"""The extractor that asks a chat model: a session goes in as data, candidates come out.

A small model is asked first. The larger one is asked where an answer is unsure, can't be told apart or read, or where
people put things right or soften them. A model that fails is asked again after a while, each time with less to read.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from braid.learn.candidate import Candidate, Extraction, KnownEntity, Maker
from braid.learn.model import prompt as prompts
from braid.learn.model.answer import answered
from braid.learn.model.known import chosen
from braid.learn.model.schema import SCHEMA
from braid.learn.model.signals import corrects_or_hedges, is_flat, is_unsure
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim
from braid.text.chat import (
    ChatBudgetError,
    ChatError,
    ChatLeftOutError,
    ChatModel,
    ChatNotAskedError,
    ChatRefusedError,
    Completion,
)
from braid.views.embedder import Embedder

NAME: Final = "model"
MAX_TOKENS: Final = 4_000
TIMEOUT_S: Final = 120.0
MAX_CANDIDATES: Final = 1_000
"""Of one session."""
_MAX_NAME: Final = 200


_NOT_ASKED: Final = frozenset(one.reason for one in (ChatLeftOutError, ChatRefusedError, ChatBudgetError))
"""Why the larger model gave nothing: the small one's answer is taken."""


class Try(NamedTuple):
    """How long to wait before asking, and what share of the context before the turns is shown."""

    wait_s: float
    context: float
    is_bare: bool = False
    """Whether the names and statements that are known are left out."""


TRIES: Final = (Try(0.0, 1.0), Try(1.0, 1.0), Try(5.0, 0.5), Try(30.0, 0.0, is_bare=True))
"""The table of `000_` §3."""


class Asked(NamedTuple):
    """What one model made of a portion."""

    candidates: tuple[Candidate, ...] = ()
    is_readable: bool = False
    completions: tuple[Completion, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    failures: tuple[tuple[str, str], ...] = ()


class ModelExtractor:
    """Finds candidates with a chat model, and with a larger one behind it."""

    def __init__(
        self,
        model: ChatModel,
        *,
        larger: ChatModel | None = None,
        embedder: Embedder | None = None,
        max_tokens: int = MAX_TOKENS,
        timeout_s: float = TIMEOUT_S,
        tries: Sequence[Try] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`embedder` finds the known entities that a talk may mean; `tries` are `TRIES` where none are given.

        Raises ValueError for no tokens, or no time.
        """
        if max_tokens < 1 or timeout_s <= 0:
            raise ValueError("a model is given at least one token, and more than 0 s")
        self._model = model
        self._larger = larger
        self._embedder = embedder
        self._max_tokens = max_tokens
        self._timeout_s = timeout_s
        self._tries = tries
        self._sleep = sleep

    @property
    def maker(self) -> Maker:
        """The version of the prompt, and the model that is asked first; a candidate names the one that found it."""
        return Maker(NAME, prompts.VERSION, self._model.name)

    def extract(
        self, turns: Sequence[Turn], entities: Sequence[KnownEntity], known: Sequence[Claim], now: datetime
    ) -> Extraction:
        """Return what these turns state; what stood before the first of them is context. Never raises for what is
        answered, or not answered: that is among the failures.
        """
        del now
        candidates: list[Candidate] = []
        warnings: list[tuple[str, str]] = []
        failures: list[tuple[str, str]] = []
        completions: list[Completion] = []
        before = turns[0].previous if turns else ()
        for portion in prompts.portions(turns):
            if any(turn.role == "user" and turn.text.strip() for turn in portion):
                found = self._portion(portion, before, entities, known)
                candidates += found.candidates
                warnings += found.warnings
                failures += found.failures
                completions += found.completions
            before = (*before, *portion)
        if len(candidates) > MAX_CANDIDATES:
            warnings.append(("item", "too_many"))
        return Extraction(
            tuple(candidates[:MAX_CANDIDATES]),
            tuple(failures),
            sum(each.tokens_in for each in completions),
            sum(each.tokens_out for each in completions),
            tuple(warnings),
        )

    def _portion(
        self,
        turns: Sequence[Turn],
        before: Sequence[Turn],
        entities: Sequence[KnownEntity],
        known: Sequence[Claim],
    ) -> Asked:
        """Return what the small model makes of some turns, or the larger one where that is to be asked."""
        talk = [turn.text[: prompts.MAX_TURN_CHARS] for turn in turns]
        named = chosen(entities, talk, self._embedder)
        small = self._ask(self._model, turns, before, named, known)
        why = _why_larger(small, turns)
        if why is None:
            return small
        if self._larger is None:
            return small if why != "flat" else _joined(small, (("tier", "flat"),))
        large = self._ask(self._larger, turns, before, named, known)
        told = (("tier", why),)
        if small.is_readable and large.failures and large.failures[-1][1] in _NOT_ASKED:
            return _joined(small, (("tier", large.failures[-1][1]),))
        if not large.is_readable:
            return _joined(small, (*large.warnings, *told), large.completions, large.failures)
        # What the small one failed at is made good; what it cost is counted.
        return _joined(large, told, small.completions)

    def _ask(
        self,
        model: ChatModel,
        turns: Sequence[Turn],
        before: Sequence[Turn],
        entities: Sequence[KnownEntity],
        known: Sequence[Claim],
    ) -> Asked:
        """Ask one model, again with less where it fails; an answer that can't be read isn't waited for."""
        completions: list[Completion] = []
        warnings: list[tuple[str, str]] = []
        failure = "failed"
        for number, each in enumerate(self._tries or TRIES):
            if number == 1 and failure == "unreadable":
                continue  # the same question would have the same answer
            if number and failure != "unreadable":
                self._sleep(each.wait_s)
            told = prompts.prompt(
                turns,
                prompts.context(before, each.context),
                () if each.is_bare else entities,
                () if each.is_bare else known,
            )
            try:
                completion = model.complete(
                    told.messages, max_tokens=self._max_tokens, timeout_s=self._timeout_s, schema=SCHEMA
                )
            except ChatError as error:
                failure = error.reason
                if isinstance(error, ChatNotAskedError):
                    break
                continue
            completions.append(completion)
            if completion.finish == "refused":
                return Asked((), False, tuple(completions), tuple(warnings), (("ask", "refused"),))
            maker = Maker(NAME, prompts.VERSION, _plain(completion.model or model.name))
            answer = answered(completion.text, told.turns, maker)
            warnings += answer.warnings
            if answer.readable:
                if completion.finish == "length":
                    warnings.append(("ask", "cut_off"))
                if told.cut:
                    warnings.append(("turn", "cut"))
                return Asked(answer.candidates, True, tuple(completions), tuple(warnings))
            failure = "unreadable"
        stage = "answer" if failure == "unreadable" else "ask"
        return Asked((), False, tuple(completions), tuple(warnings), ((stage, failure),))


_Why = Literal["unreadable", "unsure", "flat", "signals"]


def _why_larger(found: Asked, turns: Sequence[Turn]) -> _Why | None:
    if not found.is_readable:
        return "unreadable"
    if is_unsure(found.candidates):
        return "unsure"
    if is_flat(found.candidates):
        return "flat"
    return "signals" if corrects_or_hedges(turns) else None


def _joined(
    found: Asked,
    warnings: Sequence[tuple[str, str]],
    completions: Sequence[Completion] = (),
    failures: Sequence[tuple[str, str]] = (),
) -> Asked:
    return found._replace(
        warnings=(*found.warnings, *warnings),
        completions=(*found.completions, *completions),
        failures=(*found.failures, *failures),
    )


def _plain(name: str) -> str:
    """Return a model's name, which its server says, as one short line."""
    return "".join(c for c in name if c.isprintable())[:_MAX_NAME]
