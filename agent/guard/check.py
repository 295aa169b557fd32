"""A model's answer held against what it was given: what cited memory contradicts is dropped, what it bears out stands,
and what can't be checked is marked.

Where nothing is left, or the whole can't be used, there is a reason, and the caller falls back. Pure.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from braid.agent.composer import QuestionContext
from braid.agent.guard.prompt import Prompt, PromptMemory
from braid.agent.guard.support import support
from braid.agent.language import clashes
from braid.stance.reconcile import Reconciliation
from braid.text.chat import Completion
from braid.text.orders import gives_orders
from braid.text.words import plain, words

Reason = Literal[
    "refused",
    "cut off",
    "malformed",
    "empty",
    "other language",
    "uncited",
    "cites what was not given",
    "not borne out",
    "rests on orders",
    "not what is held",
]
"""Why an answer, or a sentence of it, is not taken."""
MOST_SENTENCES: Final = 12
MAX_SENTENCE_CHARS: Final = 600
_REFUSAL: Final = re.compile(
    r"\bI(?:'m| am) (?:sorry|unable)|\bI (?:can(?:not|'t|’t)|won(?:'t|’t)|must decline)\b"
    r".{0,20}\b(?:help|assist|comply|answer|provide|do)"
    r"|\bas an AI\b",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_INLINE: Final = re.compile(r"\s*\[((?:\s*[a-z]{1,12}_[\w:-]+\s*,?)+)\]")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|「[^」]*」")


class _Sentence(msgspec.Struct):
    text: str
    cites: list[str]


class _Said(msgspec.Struct):
    known: bool
    sentences: list[_Sentence]


class SupportedSentence(msgspec.Struct, frozen=True):
    """A sentence that its citations don't contradict; `checked`: that they bear it out."""

    text: str
    citations: tuple[str, ...]
    checked: bool = True


class Dropped(msgspec.Struct, frozen=True):
    """A sentence that was not taken, and why."""

    text: str
    reason: Reason
    detail: str = ""


class Checked(msgspec.Struct, frozen=True):
    """What is left of an answer. `known` is false where the model said that it doesn't know."""

    kept: tuple[SupportedSentence, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    known: bool = True
    reason: Reason | None = None
    """Why nothing of it is taken."""
    detail: str = ""


def check(completion: Completion, prompt: Prompt, asked: QuestionContext) -> Checked:
    """Return what of an answer may be said. Never raises for what a model says."""
    said = _read(completion)
    if isinstance(said, Checked):
        return said
    whole = " ".join(one.text for one in said)
    if _REFUSAL.search(whole):
        return Checked(reason="refused", detail=plain(whole, 200))
    if (other := clashes(asked.question, asked.language, _QUOTED.sub(" ", whole))) is not None:
        return Checked(reason="other language", detail=other)
    judged = [_judged(one, prompt, asked) for one in said[:MOST_SENTENCES]]
    kept = tuple(one for one in judged if isinstance(one, SupportedSentence))
    dropped = tuple(one for one in judged if isinstance(one, Dropped))
    if not kept:
        return Checked(dropped=dropped, reason=dropped[0].reason, detail=dropped[0].detail)
    if asked.stance is not None and not _follows(kept, asked.stance, asked):
        against = tuple(Dropped(one.text, "not what is held") for one in kept)
        return Checked(dropped=(*dropped, *against), reason="not what is held")
    return Checked(kept, dropped)


def _read(completion: Completion) -> "list[_Sentence] | Checked":
    """Return the sentences of an answer, at least one, or why there are none."""
    text = completion.text
    if completion.finish != "stop":
        reason: Reason = "refused" if completion.finish == "refused" else "cut off"
        return Checked(reason=reason, detail=plain(text, 200))
    if not text.strip():
        return Checked(reason="empty")
    block = _BLOCK.fullmatch(text)
    try:
        said = msgspec.json.decode(block[1] if block else text, type=_Said)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        if _REFUSAL.search(text[:2_000]):
            return Checked(reason="refused", detail=plain(text, 200))
        return Checked(reason="malformed", detail=str(error))
    if not said.known:
        return Checked(known=False)
    return [one for one in said.sentences if one.text.strip()] or Checked(reason="empty")


def _judged(one: _Sentence, prompt: Prompt, asked: QuestionContext) -> SupportedSentence | Dropped:
    inline = [id.strip() for match in _INLINE.finditer(one.text) for id in match[1].split(",")]
    text = plain(_INLINE.sub("", one.text), MAX_SENTENCE_CHARS)
    cites = [id for id in (*one.cites, *inline) if id.strip()]
    if not cites:
        return Dropped(text, "uncited")
    found = dict.fromkeys(id for cite in cites if (id := _resolved(cite, prompt.given)) is not None)
    if not found:
        return Dropped(text, "cites what was not given", plain(cites[0], 60))
    sound = {id: prompt.given[id] for id in found if not gives_orders(prompt.given[id].text)}
    if not sound:
        return Dropped(text, "rests on orders", next(iter(found)))
    if asked.stance is not None and set(sound) <= _beaten(asked.stance):
        return Dropped(text, "not what is held", next(iter(sound)))
    found_out = support(text, list(sound.values()), prompt.question, asked.now)
    if found_out.outcome == "contradicted":
        return Dropped(text, "not borne out", found_out.detail)
    return SupportedSentence(text, tuple(sound), found_out.outcome == "borne out")


def _resolved(cite: str, given: Mapping[str, PromptMemory]) -> str | None:
    """Return the id that a citation means: as it was given, or by its last part where that is one memory's alone."""
    bare = cite.strip().strip("[]()<>`'\"").strip()
    if bare in given:
        return bare
    last = bare.rpartition("_")[2]
    alike = [id for id in given if len(last) >= 8 and id.rpartition("_")[2] == last]
    return alike[0] if len(alike) == 1 and bare == last else None


def _beaten(outcome: Reconciliation) -> set[str]:
    """Return the records whose claims were weighed and don't stand."""
    weighed = {one.said.id for one in outcome.candidates}
    standing = {one.said.id for one in outcome.candidates if one.held} | {said.id for said in outcome.support}
    return weighed - standing


def _follows(kept: tuple[SupportedSentence, ...], outcome: Reconciliation, asked: QuestionContext) -> bool:
    """Whether an answer says what is held: it cites what supports that, or names it."""
    if not outcome.decision.claim:
        return True
    support = {said.id for said in outcome.support} | {one.id for one in asked.support}
    if any(support.intersection(one.citations) for one in kept):
        return True
    said = set(words(" ".join(one.text for one in kept)))
    return any(said.issuperset(words(claim.object)) for claim in outcome.claims)
