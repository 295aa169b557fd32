"""The records of an answer, which enter the log in one transaction, or not at all.

In front the stance, where a new one was taken; then the question as the user's words, the answer as the agent's, above
the records that it cites, the tones of both, a reflection, and below it what retrieval shall learn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from braid.agent.answer.pipeline import CitedAnswer
from braid.agent.answer.reflection import METHOD as REFLECT
from braid.agent.answer.reflection import lesson
from braid.claims.decision import Resolved
from braid.ledger.record.record import ANSWER, ASK, Draft, EventBody, Scope
from braid.log import drafts
from braid.recall.salience import NAME as SALIENCE
from braid.recall.salience import taught
from braid.stance.review import Earlier


def batch_of(
    given: CitedAnswer, resolved: Resolved | None, scope: Scope | None, *, after: str | None = None
) -> tuple[list[Draft], dict[str, int]]:
    """Return the transaction, and the places in it of what the caller is told of.

    `after`: the answer that this one follows; a link of role `target` names it, which derives nothing from it.
    """
    batch = list(resolved.batch) if resolved is not None else []
    names = {"stance": 0} if batch else {}

    def add(name: str, draft: Draft) -> Earlier:
        names[name] = len(batch)
        batch.append(draft)
        return Earlier(names[name])

    asked = add("question", drafts.experience(given.question, method=ASK, within=scope))
    cited = [one.id for one in given.citations]
    draft = drafts.experience(
        given.text,
        actor="agent",
        method=ANSWER,
        within=scope,
        evidence=cited,
        parents=[] if cited else [asked],
        structured={"answer": _told(given, cited)},
    )
    if after is not None:
        draft = msgspec.structs.replace(draft, links=[*draft.links, ("target", after)])
    answered = add("answer", draft)
    if given.tone is not None:
        for name, record, actor, reading in (
            ("input", asked, "user", given.tone.input),
            ("draft", answered, "agent", given.tone.draft),
            ("augmented", answered, "agent", given.tone.augmented),
        ):
            body = reading.body(actor, name, scope=scope)
            add(name, Draft(kind="affect", body=body, links=[("experience", record)]))
    reflected = add(
        "reflection",
        drafts.experience(
            given.reflection.text,
            type="observation",
            actor="agent",
            method=REFLECT,
            within=scope,
            parents=[answered],
            evidence=[asked, *cited],
            structured=given.reflection.structured(),
        ),
    )
    if steps := lesson(given.reflection, given.composed):
        add("lesson", _lesson(steps, reflected, scope))
    return batch, names


def _lesson(steps: Mapping[str, float], reflected: Earlier, scope: Scope | None) -> Draft:
    """Return what retrieval shall learn, below the reflection: its links after the first are the records."""
    body = EventBody(name=SALIENCE, data=taught(enumerate(steps.values(), 1)), scope=scope)
    return Draft(kind="event", body=body, links=[("parent", reflected), *(("target", id) for id in steps)])


def _told(given: CitedAnswer, cited: Sequence[str]) -> dict[str, Any]:
    """Return what a program may want to know of an answer later."""
    composed = given.composed
    told = {
        "plain": composed.text if composed.text != given.text else None,
        "citations": list(cited),
        "p": round(composed.p, 4),
        "abstained": composed.abstained,
        "reason": composed.reason,
        "rung": composed.rung,
        "model": composed.model,
        "said": composed.said,
        "fallback": composed.fallback,
        "unsupported": list(composed.unsupported),
    }
    return {name: value for name, value in told.items() if value not in (None, [])}
