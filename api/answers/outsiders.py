"""A question that only outsiders' words answer: these are quoted as theirs, and nothing is concluded from them."""

from typing import Final

import msgspec

from braid.agent.answer.compose import Extractive
from braid.agent.answer.pipeline import CitedAnswer, answer
from braid.answers.mind import OutsidersMind, StoreMind
from braid.ledger.record.record import Scope
from braid.session import Session
from braid.text.orders import asks_to_send, gives_orders

SAID: Final = "I don't know it. Others say, and nobody who owns this memory does:"
MOST_SURE: Final = 0.3
"""How sure an answer of outsiders' words is at most: it is a quotation, not what is so."""


def quoted_answer(
    question: str, before: CitedAnswer, mind: StoreMind, session: Session, scope: Scope | None, *, top_k: int
) -> CitedAnswer:
    """Return what outsiders say, quoted with who says it and when; the answer before, where they say nothing of it, or
    give orders.

    No model sees it, and its short form is empty: what a program would take for a value is nobody's here.
    """
    found = answer(
        question,
        OutsidersMind(mind, session, scope),
        now=mind.now,
        composer=Extractive(),
        top_k=top_k,
        affect=False,
        caution="eager",
    )
    composed = found.composed
    if not composed.claims or any(
        gives_orders(one.text) or asks_to_send(one.text) for one in found.citations
    ):
        return before
    text = f"{SAID} {composed.text}"
    return msgspec.structs.replace(
        before,
        text=text,
        composed=msgspec.structs.replace(
            composed, text=text, short="", p=min(composed.p, MOST_SURE), rung="near", quoted=True
        ),
        citations=found.citations,
        hits=found.hits,
        reflection=found.reflection,
        steps=[*before.steps, *found.steps],
    )
