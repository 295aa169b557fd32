"""A plan: typed steps, each with a name that later steps refer to, and limits (docs/programs.md). Values only.

Text in a plan may name what came before in braces: `{question}`, or a step. What a step gives has a kind: `retrieve`
and `lens` give records, `reconcile` a stance, `draft` a note, `tool` a result. A plan runs forward: nothing in it can
name a later step but a branch, and nothing an earlier one to go back to.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast

import msgspec

from braid.agent.errors import PlanError

MAX_STEPS: Final = 32
MAX_SECONDS: Final = 600.0
MAX_TOKENS: Final = 50_000
MAX_NOTE_TOKENS: Final = 20
"""A note of a chain of drafts (Xu et al., 2025) is no longer."""
MAX_PLAN_BYTES: Final = 64 << 10
MAX_TEXT_CHARS: Final = 2_000
MAX_RECORDS: Final = 50
MAX_SAMPLES: Final = 9
QUESTION: Final = "question"
TODAY: Final = "today"
"""The day on which a program was begun, as ISO 8601 has it."""
GIVEN: Final = (QUESTION, TODAY)
"""What every plan may refer to."""
_REFERENCE: Final = re.compile(r"\{([a-z][a-z0-9_]{0,31})\}")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
Kind = Literal["records", "stance", "note", "result", "none"]


class _Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op"):
    """Base of all steps. `name` is what later steps call it."""

    name: str = msgspec.field(name="as")


class Retrieve(_Step, frozen=True, tag="retrieve"):
    """Recall what fits a question, as of a time where one is named."""

    query: str = "{question}"
    k: int = 12
    at: str | None = None
    """RFC 3339: only what had happened by then."""


class LensStep(_Step, frozen=True, tag="lens"):
    """Show records through a lens: those that it keeps, in its order."""

    lens: str
    of: str


class Reconcile(_Step, frozen=True, tag="reconcile"):
    """Decide what is held of a question, at a time where one is named."""

    question: str = "{question}"
    at: str | None = None


class ToolStep(_Step, frozen=True, tag="tool"):
    """Call a tool. Where it can't be answered here, the program pauses."""

    tool: str
    args: Mapping[str, Any] = {}


class NoteStep(_Step, frozen=True, tag="draft"):
    """Note, in at most `tokens`, what answers a question among records and stances.

    `what`: the answer; the name, the amount or the day that answers; or the names in the records that the question
    lacks. `apart`: notes of amounts that this one must not be: two parts of a sum are not one and the same.
    """

    of: Sequence[str]
    question: str = "{question}"
    what: Literal["answer", "name", "amount", "day", "names"] = "answer"
    apart: Sequence[str] = ()
    tokens: int = MAX_NOTE_TOKENS


class Branch(_Step, frozen=True, tag="branch"):
    """Go on at a later step: at `then` where something was found, else at `otherwise`; None is the next one.

    `least`: how sure it must be to count as found, in [0, 1]; what says nothing of that is sure.
    """

    found: str
    least: float = 0.0
    then: str | None = None
    otherwise: str | None = None


class AnswerStep(_Step, frozen=True, tag="answer"):
    """Answer from records and a stance, and end. `says`: a sentence made of notes and results, in their stead.

    `samples`: the majority of so many answers, each from another part of the evidence.
    """

    of: Sequence[str] = ()
    held: str | None = None
    question: str = "{question}"
    says: str | None = None
    samples: int = 1


Step = Retrieve | LensStep | Reconcile | ToolStep | NoteStep | Branch | AnswerStep
KINDS: Final[Mapping[type[_Step], Kind]] = {
    Retrieve: "records", LensStep: "records", Reconcile: "stance", ToolStep: "result", NoteStep: "note",
    Branch: "none", AnswerStep: "none",
}  # fmt: skip


class ProgramLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program may take: steps that are run, seconds at work (not those it waits), tokens of a model."""

    steps: int = 16
    seconds: float = 60.0
    tokens: int = 8_000


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Steps in order; the last one answers."""

    steps: Sequence[Step]
    limits: ProgramLimits = ProgramLimits()
    about: str = ""

    def place(self, name: str) -> int:
        """Return where a step stands; KeyError for a name that none has."""
        for at, step in enumerate(self.steps):
            if step.name == name:
                return at
        raise KeyError(name)


def read_plan(raw: bytes | str) -> Plan:
    """Return a plan from JSON; raise PlanError for what is none. Whether it may run is for `check` to say."""
    if len(raw) > MAX_PLAN_BYTES:
        raise PlanError(f"a plan has at most {MAX_PLAN_BYTES:,} bytes, this has {len(raw):,}")
    try:
        return msgspec.json.decode(raw, type=Plan)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"this is no plan: {str(error) or type(error).__name__}") from None


def texts(step: Step) -> Iterator[str]:
    """Yield each text of a step in which braces refer to something."""
    if isinstance(step, Retrieve):
        yield step.query
    elif isinstance(step, (Reconcile, NoteStep)):
        yield step.question
    elif isinstance(step, ToolStep):
        yield from strings(step.args)
    elif isinstance(step, AnswerStep):
        yield step.question
        if step.says is not None:
            yield step.says


def strings(value: Any) -> Iterator[str]:
    """Yield every text in JSON."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            stack += cast("Mapping[str, Any]", one).values()
        elif isinstance(one, (list, tuple)):
            stack += cast("Sequence[Any]", one)


def inputs(step: Step) -> Iterator[str]:
    """Yield the names of the steps whose records, stance or notes a step reads as they are."""
    if isinstance(step, LensStep):
        yield step.of
    elif isinstance(step, Branch):
        yield step.found
    elif isinstance(step, (NoteStep, AnswerStep)):
        yield from step.of
        if isinstance(step, NoteStep):
            yield from step.apart
        elif step.held is not None:
            yield step.held


def references(text: str) -> list[str]:
    """Return the names that a text refers to, each once, in order."""
    return list(dict.fromkeys(_REFERENCE.findall(text)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with what its braces refer to; what nothing is known of is left out."""
    return " ".join(_REFERENCE.sub(lambda match: values.get(match[1], ""), text).split())


def filled_all(value: Any, values: Mapping[str, str]) -> Any:
    """Return JSON with the braces in its texts filled."""
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {name: filled_all(member, values) for name, member in members.items()}
    if isinstance(value, (list, tuple)):
        return [filled_all(member, values) for member in cast("Sequence[Any]", value)]
    return value


def is_name(text: str) -> bool:
    """Whether a step may be called so."""
    return _NAME.fullmatch(text) is not None and text not in GIVEN
