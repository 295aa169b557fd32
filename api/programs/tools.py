"""Tools as steps of a program: a call of one, and what its result is in the log. They write nothing."""

from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import Any

import msgspec

from braid.agent.errors import ToolRefusedError
from braid.agent.program.plan import GIVEN, ToolStep, references, strings
from braid.agent.program.state import State, value
from braid.agent.program.tool import Tool, told, use
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record.record import RESULT
from braid.log import drafts
from braid.programs.resources import SIGNAL_DIGITS, Resources, StepResult
from braid.stance.review import Earlier


class Calling(msgspec.Struct, frozen=True):
    """What a tool is called with: its arguments, the key of this one call, and the seconds that are left."""

    args: msgspec.Struct
    key: str
    left_s: float


def call(resources: Resources, step: ToolStep, state: State, tool: Tool, called: Calling) -> StepResult:
    """Call a tool; where it fails, the step gives nothing, and says why."""
    try:
        result = use(tool, called.args, called.key, called.left_s)
    except ToolRefusedError as error:
        return StepResult(told={"trouble": [str(error)]})
    return result_of(resources, step, state, tool, result)


def result_of(
    resources: Resources, step: ToolStep, state: State, tool: Tool, result: dict[str, Any]
) -> StepResult:
    """Return a tool's result as a step's, with the experience that it is: who said it, what, and made of what.

    It is no surer than the notes that the tool was given, and rests on the records that they were read from. What a
    person says is their own.
    """
    text = told(result)
    person = tool.asks == "person"
    given = [] if person else [value(state, name) for name in _given(step)]
    behind = list(dict.fromkeys(id for one in given for id in _living(resources, one.records)))
    sure = [one.p for one in given if one.p is not None]
    draft = drafts.experience(
        text,
        actor="user" if person else f"tool({tool.name})",
        method="capture" if person else RESULT,
        within=resources.scope,
        evidence=behind,
        structured={"result": result},
    )
    p = {"p": round(prod(sure), SIGNAL_DIGITS)} if sure else {}
    return StepResult(
        evidence=[Earlier(0), *behind], before=[draft], told={"text": text, "data": result, **p}
    )


def _given(step: ToolStep) -> list[str]:
    """Return the steps that the arguments of a tool were made of."""
    named = [name for text in strings(step.args) for name in references(text)]
    return [name for name in dict.fromkeys(named) if name not in GIVEN]


def _living(resources: Resources, ids: Sequence[str]) -> list[str]:
    """Return those of some records that are experiences and still there."""
    found: list[str] = []
    for id in ids:
        with suppress(ErasedError, ForgottenError, UnknownRecordError):
            if resources.session.reader.get(id).kind == "experience":
                found.append(id)
    return found
