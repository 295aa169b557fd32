"""What a run of a program has at hand: a store, for a scope; what composes; tools. It writes nothing.

Records that steps gave are read again each time, as the log has them now.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import msgspec

from braid.agent.answer.compose import Extractive
from braid.agent.composer import Composer, HeldStance, QuestionContext
from braid.agent.language import guess
from braid.agent.program.state import State, Value, value
from braid.agent.program.tool import Toolbox
from braid.answers.mind import grounds_of, nearness_of
from braid.claims.explanation import weighed_again
from braid.claims.finder import ClaimFinder
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Draft, Scope, Target
from braid.recall.context import block
from braid.recall.decompose import decompose
from braid.recall.hits import Hit, beside
from braid.recall.hits import RecallResult as Found
from braid.session import Session
from braid.views.errors import ViewError

SIGNAL_DIGITS: Final = 6


class StepResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a step: the records that it was made of, what is to be written in front of it, and the rest of its
    event."""

    evidence: Sequence[Target] = ()
    before: Sequence[Draft] = ()
    told: dict[str, Any] = {}


class Resources:
    """What a run has at hand."""

    def __init__(
        self,
        session: Session,
        scope: Scope | None,
        composer: Composer | None,
        tools: Toolbox,
        *,
        affect: bool = True,
    ) -> None:
        self.session = session
        self.scope = scope
        self.composer = composer or Extractive()
        self.tools = tools
        self.affect = affect

    def hits(self, state: State, names: Sequence[str]) -> tuple[list[Hit], list[str]]:
        """Return the records that steps gave, each once, as the log has them now, and what is gone of them."""
        found: dict[str, Hit] = {}
        trouble: list[str] = []
        for given in (value(state, name) for name in names):
            trouble += given.trouble
            if given.data is not None:
                continue  # a tool's: it is no hit
            for id, score, signals in zip(given.records, given.scores, given.signals, strict=False):
                try:
                    record = self.session.reader.get(id)
                except (ErasedError, ForgottenError):
                    trouble.append("a record that was found is gone since")
                    continue
                if id not in found or found[id].score < score:
                    found[id] = Hit(record, score, signals, {})
        hits = sorted(found.values(), key=lambda hit: -hit.score)
        with suppress(ViewError):  # as recall does, it goes without
            hits = beside(hits, self.session.views.catalog.before)
        return hits, trouble

    def held(self, state: State, name: str | None) -> HeldStance | None:
        """Return the stance that a step took, made again from what it names. Raises ValueError where it can't be."""
        given = value(state, name) if name is not None else Value()
        if not given.records:
            return None
        try:
            outcome = weighed_again(self.session, self.session.reader.get(given.records[0]))
        except (ErasedError, ForgottenError, ValueError) as error:
            raise ValueError(f"the stance of {name!r} can't be had any more: {error}") from None
        return HeldStance(
            outcome, tuple(grounds_of(outcome, ClaimFinder(self.session, self.scope, None), self.session))
        )

    def asked(
        self, question: str, hits: Sequence[Hit], now: datetime, held: HeldStance | None
    ) -> QuestionContext:
        """Return a question with what was gathered for it, as composers take it."""
        shown = Found(results=hits, position=self.session.reader.size, behind_by=0)
        return QuestionContext(
            question=question,
            hits=hits,
            context=block(decompose(question, now), shown, now),
            now=now,
            stance=held.outcome if held is not None else None,
            support=held.support if held is not None else (),
            language=guess(question) or "en",
            nearest=nearness_of(self.session),
        )
