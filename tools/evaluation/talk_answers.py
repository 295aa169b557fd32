"""Talks with questions, asked of a real store at its front door: each answer judged, and how many are right by kind.

Each talk goes into a store of its own, turn by turn, each learnt before the next, as an agent remembers. It is asked
without writing, a week after its last turn: by its owner, as of the whole talk. No question bears on another.
"""

from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.agent.cite import bare, cited
from braid.tools.evaluation.answer_scores import quantile
from braid.tools.evaluation.answer_verdict import Given, Rung, TalkQuestion, Verdict, judge
from braid.tools.evaluation.extraction_scores import wilson

if TYPE_CHECKING:
    from braid.agent.composer import Composer
    from braid.answers.reply import Reply
    from braid.store import Store

LATER: Final = timedelta(days=7)
"""How long after its last turn a talk is asked about: its questions are worded as of weeks later."""
Progress = Callable[[int, int], None]
_ACTORS: Final = {"assistant": "agent"}
_ANSWERABLE: Final[dict[str, tuple[Verdict, ...]]] = {
    "right": ("right",), "wrong": ("wrong",), "in_part": ("in part",), "near_with": ("near with it",),
    "near_without": ("near without",), "silent": ("silent",), "right_or_near_right": ("right", "near with it"),
}  # fmt: skip


class TalkTurn(msgspec.Struct, frozen=True):
    """What somebody said; `role` is user or assistant."""

    id: str
    speaker: str
    role: str
    at: datetime
    text: str


class QuestionedTalk(msgspec.Struct, frozen=True):
    """A talk with its questions. `health`: whether its owner lets claims of health be kept."""

    kind: str
    name: str
    user_id: str
    turns: tuple[TalkTurn, ...]
    questions: tuple[TalkQuestion, ...]
    health: bool = False


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question, what was answered, and the verdict on it, with why. `told` is without citations; `p` in [0, 1]."""

    talk: str
    kind: str
    id: str
    asks: str
    change: bool
    never_said: bool
    question: str
    expected: str
    rung: Rung
    told: str
    short: str
    cited: tuple[str, ...]
    turns: tuple[str, ...]
    verdict: Verdict
    why: str
    p: float
    ms: float
    fallback: str | None = None


def read_questioned(files: Sequence[tuple[str, bytes]]) -> list[QuestionedTalk]:
    """Return the talks of some files, by name and content; raise ValueError that names a file that is none."""
    talks: list[QuestionedTalk] = []
    for name, raw in files:
        try:
            talk = msgspec.json.decode(raw.removeprefix(BOM_UTF8), type=QuestionedTalk)
        except msgspec.DecodeError as error:
            raise ValueError(f"{name}: not a talk with questions: {error}") from None
        known = {turn.id for turn in talk.turns}
        if not known:
            raise ValueError(f"{name}: it has no turn")
        for asked in talk.questions:
            if strange := sorted(set(asked.turns) - known):
                raise ValueError(f"{name}: {asked.id} names the turn {strange[0]}, which isn't there")
            if not asked.never_said and not (asked.accept and asked.turns):
                raise ValueError(f"{name}: {asked.id} has an answer, but nothing to know it by")
        talks.append(talk)
    return talks


def ask_talks(
    talks: Sequence[QuestionedTalk], *, composer: "Composer | None" = None, progress: Progress | None = None
) -> list[AskedQuestion]:
    """Ask every question of a store that holds its talk, and judge what is answered."""
    asked: list[AskedQuestion] = []
    total = sum(len(talk.questions) for talk in talks)
    for talk in talks:
        texts = {turn.id: turn.text for turn in talk.turns}
        now = max(turn.at for turn in talk.turns) + LATER
        with store_of(talk) as (store, turn_of):
            for question in talk.questions:
                began = perf_counter()
                reply = store.ask(
                    question.question, user_id=talk.user_id, now=now, write=False, composer=composer
                )
                ms = 1000 * (perf_counter() - began)
                ids = dict.fromkeys([*cited(reply.plain), *(str(one.id) for one in reply.citations)])
                given = Given(
                    rung=rung_of(reply),
                    text=bare(reply.plain),
                    short="" if reply.abstained else reply.short,
                    cited=tuple(turn_of[id] for id in ids if id in turn_of),
                )
                found = judge(question, given, texts, talk.user_id)
                asked.append(
                    AskedQuestion(
                        talk=talk.name, kind=talk.kind, id=question.id, asks=question.asks, change=question.change,
                        never_said=question.never_said, question=question.question, expected=question.answer,
                        rung=given.rung, told=given.text, short=given.short, cited=given.cited,
                        turns=question.turns, verdict=found.verdict, why=found.why,
                        p=round(1.0 - reply.residual_uncertainty, 4), ms=round(ms, 1), fallback=reply.fallback,
                    )
                )  # fmt: skip
                if progress is not None:
                    progress(len(asked), total)
    return asked


def rung_of(reply: "Reply") -> Rung:
    """Return whether something was told, only shown as near, or neither. What a model writes is told."""
    if reply.abstained:
        return "silent"
    return "near" if reply.rung == "near" else "told"


@contextmanager
def store_of(talk: QuestionedTalk) -> "Generator[tuple[Store, dict[str, str]]]":
    """Yield a store that holds a talk and has learnt of it, and which turn each record is."""
    import braid
    from braid.log import drafts

    with TemporaryDirectory(prefix="braid-evaluate-") as folder:
        place = Path(folder)
        with braid.open(place / "store", guard_dir=place / "guard") as store:
            within = drafts.scope(user_id=talk.user_id, session_id=talk.name)
            store.set_learning(health=talk.health, finance=talk.health)
            turn_of: dict[str, str] = {}
            for turn in talk.turns:
                made = drafts.experience(
                    turn.text, actor=_ACTORS.get(turn.role, turn.role), name=turn.speaker, occurred_at=turn.at,
                    within=within, external_id=turn.id,
                )  # fmt: skip
                turn_of[str(store.session.append_drafts([made])[0].id)] = turn.id
                store.learn()
            store.views.search.index(wait_s=60.0)
            yield store, turn_of


def summary(asked: Sequence[AskedQuestion]) -> dict[str, Any]:
    """Return counts and shares with Wilson's intervals of 95 %: of all, by kind, by what is asked, of what changed."""
    times = [one.ms for one in asked]
    return {
        "all": measures(asked),
        "kinds": _by(asked, "kind"),
        "asks": _by(asked, "asks"),
        "changed": measures([one for one in asked if one.change]),
        "why": _counted([one.why for one in asked if one.verdict == "wrong"]),
        "latency_ms": {"p50": quantile(times, 0.5), "p95": quantile(times, 0.95)} if times else None,
    }


def measures(asked: Sequence[AskedQuestion]) -> dict[str, Any]:
    """Return the shares of some questions. Those that were never said count in `never_said_told` alone."""
    said = [one.verdict for one in asked if not one.never_said]
    never = [one.verdict for one in asked if one.never_said]
    shares = {
        name: wilson(sum(one in meant for one in said), len(said)) for name, meant in _ANSWERABLE.items()
    }
    shares["never_said_told"] = wilson(never.count("told never said"), len(never))
    return {"questions": len(asked), **{name: msgspec.to_builtins(one) for name, one in shares.items()}}


def _by(asked: Sequence[AskedQuestion], name: str) -> dict[str, Any]:
    groups = sorted({getattr(one, name) for one in asked})
    return {group: measures([one for one in asked if getattr(one, name) == group]) for group in groups}


def _counted(reasons: Sequence[str]) -> dict[str, int]:
    short = [reason.partition(":")[0] for reason in reasons]
    return {reason: short.count(reason) for reason in sorted(set(short), key=lambda each: -short.count(each))}
