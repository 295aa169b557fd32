"""From a question to a cited answer in a fitting manner: the pipeline, over whatever remembers. It writes nothing.

decompose → recall → lens → stance → compose → cite → affect → reflect. What is said, on what it rests and how sure it
is are fixed before tone has a word: style is put over the finished text, which keeps its facts (`affect.facts`).
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Final, NamedTuple, Protocol

import msgspec

from braid.affect.blend import Felt, blend, of_memory
from braid.affect.restyle import restyle
from braid.affect.style import Style, style
from braid.affect.vad import ToneReading
from braid.agent import cite
from braid.agent.answer.compose import Extractive
from braid.agent.answer.lists.request import ListRequest, list_request
from braid.agent.answer.question.apart import asked_apart
from braid.agent.answer.question.asker import is_of_asker, with_own_words
from braid.agent.answer.question.bridge import bridged
from braid.agent.answer.question.followup import asked_anew, asks_of_answer
from braid.agent.answer.question.presupposition import presumed
from braid.agent.answer.reflection import Reflection, reflect
from braid.agent.answer.together import together
from braid.agent.answer.turn.spans import MAX_CHARS
from braid.agent.composer import (
    Caution,
    Composed,
    Composer,
    EarlierAnswer,
    HeldStance,
    ListFindings,
    Nearness,
    Overtaken,
    QuestionContext,
    Support,
)
from braid.agent.language import guess
from braid.ledger.record.record import Vad
from braid.ledger.record.source import corrected_at, voice
from braid.lenses.errors import LensError
from braid.recall.context import block
from braid.recall.decompose import Question, decompose, entities
from braid.recall.hits import Hit
from braid.recall.hits import RecallResult as Found
from braid.recall.passage import span
from braid.recall.recall import Lens
from braid.text.parse import Parses
from braid.text.rerank import AnswerScores
from braid.text.sentences import sentences
from braid.text.words import MAX_QUERY_CHARS, telling, telling_stems, words
from braid.views.errors import ViewError, told

_BACK: Final = """
he she they it him her them his their its that this these those there then one ones
"""
_POINTS_BACK: Final = frozenset(_BACK.split())
_ADVICE: Final = frozenset(("should", "shall", "could", "would", "can", "may", "might", "must"))
"""Who asks what to do asks of what was told before."""
TOP_K: Final = 12
"""How many records an answer may draw on."""
FOUND: Final = 2 * TOP_K
"""Among how many the turn that answers is looked for."""


class Mind(Protocol):
    """What answering needs of whatever remembers."""

    def find(self, question: str) -> Found:
        """Return what recall finds, best first."""
        ...

    def hold(self, question: str) -> HeldStance | None:
        """Return what is held of the question; None where that was said later than now.

        Raises ValueError where it can't be said.
        """
        ...

    def nearest(self) -> Nearness | None:
        """Return what tells how near two words are in meaning; None without a model."""
        ...

    def answers(self, trouble: list[str]) -> AnswerScores | None:
        """Return what tells how surely each of some turns answers a question; None without a cross-encoder. It never
        raises: where it fails it returns None, and says so in `trouble`."""
        ...

    def parses(self, trouble: list[str]) -> Parses | None:
        """Return what takes sentences apart; None without a parser. It never raises: where it fails it returns None,
        and says so in `trouble`."""
        ...

    def overtaken(self, index: int) -> Sequence[Overtaken]:
        """Return what was read of a turn, by its log index, and no longer has a say. Raises ValueError where that can't
        be said."""
        ...

    def facts(self, wanted: ListRequest) -> ListFindings:
        """Return what has changed, or is known, of what a list is asked for. Raises ValueError where that can't be
        said."""
        ...

    def feel(self, texts: Sequence[str]) -> list[ToneReading]:
        """Return the tone of each text."""
        ...

    def felt(self, hits: Sequence[Hit]) -> list[Felt]:
        """Return the tone of each hit's text, and how sure it is."""
        ...

    def own_tone(self) -> Felt | None:
        """Return the agent's own tone of late."""
        ...


class Step(msgspec.Struct, frozen=True):
    """A stage of an answer, how many milliseconds it took (`ms`), and what it came to, in a few words."""

    name: str
    ms: float
    what: str = ""


class Toned(msgspec.Struct, frozen=True, kw_only=True):
    """The tones that an answer met, and the manner that they came to."""

    input: ToneReading
    draft: ToneReading
    augmented: ToneReading
    blended: Vad
    style: Style


class CitedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with everything that it came from. `text` is `composed.text` in its manner."""

    question: str
    text: str
    composed: Composed
    citations: Sequence[Support]
    hits: Sequence[Hit]
    held: HeldStance | None
    tone: Toned | None
    degraded: Sequence[str]
    steps: Sequence[Step]
    reflection: Reflection


def answer(
    question: str,
    mind: Mind,
    *,
    now: datetime,
    composer: Composer | None = None,
    lens: Lens | None = None,
    top_k: int = TOP_K,
    affect: bool = True,
    caution: Caution = "default",
    after: EarlierAnswer | None = None,
) -> CitedAnswer:
    """Return the answer, of the `top_k` best hits; with a `lens`, of what that keeps alone. `caution`: how sure it must
    be to be told.

    Raises what reading the log raises: damage is never an empty answer.
    """
    clock = _Steps()
    trouble: list[str] = []
    core = core_of(question)
    if after is not None:
        core = asked_anew(core, after)
    if after is not None and asks_of_answer(core) is not None:
        composer = None  # the last answer's own citations answer it, and no model
    put = partial(
        _answered, mind=mind, now=now, composer=composer or Extractive(), lens=lens, top_k=top_k, caution=caution,
        after=after, language=guess(question) or "en", trouble=trouble, clock=clock,
    )  # fmt: skip
    parts = asked_apart(core) if composer is None or isinstance(composer, Extractive) else ()
    each = [put(part) for part in parts]
    if any(one.composed.claims for one in each):
        found = _Answered(
            composed=together(parts, [one.composed for one in each]),
            citations=list({cited.id: cited for one in each for cited in one.citations}.values()),
            hits=list({hit.id: hit for one in each for hit in one.hits}.values()),
            held=next((one.held for one in each if one.composed.rung == "held"), each[0].held),
        )
    else:
        found = put(core)
    composed, citations, hits, held = found
    trouble = list(dict.fromkeys(trouble))  # each part may have met the same
    # Nothing below may change what is said, what it rests on, or how sure it is.
    tone, text = _toned(mind, question, composed, hits) if affect else (None, composed.text)
    clock.done("affect", tone.style.words() if tone is not None else "off")
    reflection = reflect(
        hits=[hit.id for hit in hits],
        citations=[one.id for one in citations],
        abstained=composed.abstained,
        reason=composed.reason,
        degraded=trouble,
        fallback=composed.fallback,
        stance=held.outcome.decision.claim if held is not None and _decided(held, citations) else None,
    )
    clock.done("reflect")
    return CitedAnswer(
        question=question,
        text=text,
        composed=composed,
        citations=citations,
        hits=hits,
        held=held,
        tone=tone,
        degraded=trouble,
        steps=clock.steps,
        reflection=reflection,
    )


class _Answered(NamedTuple):
    """What was composed of a question, and of what."""

    composed: Composed
    citations: Sequence[Support]
    hits: Sequence[Hit]
    held: HeldStance | None


def _answered(
    core: str,
    mind: Mind,
    *,
    now: datetime,
    composer: Composer,
    lens: Lens | None,
    top_k: int,
    caution: Caution,
    after: EarlierAnswer | None,
    language: str,
    trouble: list[str],
    clock: "_Steps",
) -> _Answered:
    """Return what a question is answered by, before its manner."""
    parts = decompose(core, now)
    clock.done("decompose", parts.intent)
    found = mind.find(core)
    trouble += found.degraded
    clock.done("recall", f"{len(found.results)} found")
    kept = [_parted(hit, core) for hit in _own(_through(lens, found.results, trouble), parts)]
    hits = _best(kept, top_k)
    clock.done("lens", f"{len(kept)} kept" if lens is not None else "none")
    held = _held(mind, core, trouble)
    if lens is not None:
        held = _seen(held, kept)
    clock.done("stance", _stance_in_words(held))
    via = held.via if held is not None else None
    shown = msgspec.structs.replace(found, results=hits)
    asked = QuestionContext(
        question=core,
        hits=hits,
        context=""
        if isinstance(composer, Extractive)  # it quotes the hits themselves
        else block(parts, shown, now),
        now=now,
        stance=held.outcome if held is not None else None,
        support=held.support if held is not None else (),
        via=via,
        given=1.0 if via is None else 1.0 - via.outcome.decision.residual_uncertainty,
        language=language,
        more=[hit for hit in kept if hit not in hits] if top_k == TOP_K else (),
        nearest=mind.nearest(),
        overtaken=partial(_overtaken, mind, trouble),
        find=lambda words: _own(_through(lens, mind.find(words).results, trouble), parts),
        answers=mind.answers(trouble),
        parses=mind.parses(trouble),
        caution=caution,
        listed=_listed(mind, core, kept, trouble, through=lens is not None),
        after=after,
    )
    composed = _composed(asked, composer, trouble)
    clock.done("compose", composed.model or "extractive")
    citations = _cited(asked, composed)
    clock.done("cite", f"{len(citations)} cited")
    return _Answered(composed, citations, hits, held)


def core_of(question: str) -> str:
    """Return the one sentence that asks, where the others tell a mood or nothing that it needs; else the whole.

    What is asked for must not hang on the mood it is asked in: "I'm furious. How much was the deposit?" is the question
    of the deposit. Others that name somebody, count, or tell of a thing that the question points back to are kept.
    """
    text = question[:MAX_QUERY_CHARS]
    parts = [(text[part.start : part.stop], part.mark) for part in sentences(text)]
    asking = [said for said, mark in parts if "?" in mark]
    others = [(said, mark) for said, mark in parts if "?" not in mark]
    if len(asking) != 1 or not others or any(_tells(said, mark) for said, mark in others):
        return question
    core = f"{asking[0]}?"
    is_whole = bool(entities(asking[0]) or presumed(core))
    if any(presumed(said) for said, _ in others):
        shared = telling_stems(core) & {each for said, _ in others for each in telling_stems(said)}
        alone = is_whole and not shared and _POINTS_BACK.isdisjoint(words(core))
    else:  # there is nothing among them to point back to
        alone = is_whole or len(telling_stems(core)) >= (1 if _ADVICE.isdisjoint(words(core)) else 2)
    return core if alone else question


def _tells(said: str, mark: str) -> bool:
    """Whether a sentence names somebody or something, or counts; words in capitals before a ! are only loud."""
    names = entities(said[:1].lower() + said[1:])
    return any(map(str.isdigit, said)) or any(not (name.isupper() and "!" in mark) for name in names)


class _Steps:
    """Times the stages, one after the other."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._since = perf_counter()

    def done(self, name: str, what: str = "") -> None:
        now = perf_counter()
        self.steps.append(Step(name, round(1000 * (now - self._since), 3), what))
        self._since = now


def _parted(hit: Hit, question: str) -> Hit:
    """Return a hit, of a long text with the part that the question is about: what answers is looked for in no more."""
    if len(hit.text) <= MAX_CHARS:
        return hit
    start, stop = span(hit.text, telling(question), MAX_CHARS)
    return msgspec.structs.replace(hit, part=hit.text[start:stop])


def _through(lens: Lens | None, hits: Sequence[Hit], trouble: list[str]) -> Sequence[Hit]:
    """Return the hits as a lens shows them; none of them where it fails: nobody knows what it would keep."""
    if lens is None:
        return hits
    try:
        return lens(hits)
    except LensError as error:
        trouble.append(f"lens: {error}")
        return []


def _own(hits: Sequence[Hit], question: Question) -> Sequence[Hit]:
    """Return the hits without what was pasted into them, where the question is about the one who asks."""
    if not is_of_asker(question):
        return hits
    return [own for hit in hits if (own := with_own_words(hit)) is not None]


def _best(hits: Sequence[Hit], most: int) -> Sequence[Hit]:
    """Return the best of some hits by score, in the order in which they stand."""
    if len(hits) <= most:
        return hits
    best = {hit.id for hit in sorted(hits, key=lambda hit: -hit.score)[:most]}
    return [hit for hit in hits if hit.id in best]


def _seen(held: HeldStance | None, kept: Sequence[Hit]) -> HeldStance | None:
    """Return what is held where a lens keeps all that it rests on; else nothing is: it would say what the lens leaves
    out."""
    ids = {hit.id for hit in kept}
    if held is None or not held.support:
        return None
    via = held.via.support if held.via is not None else ()
    return held if all(one.id in ids for one in (*held.support, *via)) else None


def _held(mind: Mind, question: str, trouble: list[str]) -> HeldStance | None:
    """Return what is held, None where nothing was claimed of it, or it can't be said."""
    try:
        held = mind.hold(question)
        if held is None or held.outcome.candidates or held.outcome.others:
            return held
        return bridged(question, mind.hold)
    except (ValueError, ViewError) as error:
        trouble.append(f"stance: {told(error)}")
        return None


def _overtaken(mind: Mind, trouble: list[str], index: int) -> Sequence[Overtaken]:
    try:
        return mind.overtaken(index)
    except (ValueError, ViewError) as error:
        trouble.append(f"what came later: {told(error)}")
        return ()


def _listed(
    mind: Mind, question: str, kept: Sequence[Hit], trouble: list[str], *, through: bool
) -> ListFindings | None:
    """Return what a list is made of, None where the question asks for none; through a lens only of what it keeps."""
    wanted = list_request(question)
    if wanted is None:
        return None
    try:
        found = ListFindings() if through else mind.facts(wanted)
    except (ValueError, ViewError) as error:
        trouble.append(f"list: {told(error)}")
        found = ListFindings()
    return msgspec.structs.replace(found, hits=kept)


def _stance_in_words(held: HeldStance | None) -> str:
    if held is None:
        return "nothing claimed"
    return "decided" if held.outcome.decision.claim else "undecided"


def _decided(held: HeldStance, citations: Sequence[Support]) -> bool:
    return any(one.id == cited.id for one in held.support for cited in citations)


def _composed(asked: QuestionContext, composer: Composer, trouble: list[str]) -> Composed:
    """Return what a composer writes; the extractive answer where it fails, or cites what it wasn't given."""
    try:
        composed = composer.compose(asked)
    except Exception as error:  # anybody's composer: its failure must cost no answer
        trouble.append(f"composer: {type(error).__name__}")
        return msgspec.structs.replace(Extractive().compose(asked), fallback=f"{composer.name} failed")
    given = (
        {hit.id for hit in (*asked.hits, *asked.more)}
        | {one.id for one in asked.grounds}
        | set(_behind(asked))
    )
    if isinstance(composer, Extractive):
        given |= {one.id for one in composed.beside}
    if {*composed.citations, *cite.cited(composed.text)} <= given:
        return composed
    return msgspec.structs.replace(
        Extractive().compose(asked),
        fallback="cites what was not given",
        said=composed.said,
        model=composed.model,
    )


def _cited(asked: QuestionContext, composed: Composed) -> list[Support]:
    """Return what is cited, in the order of the text."""
    known = _behind(asked) | {hit.id: _support(hit) for hit in reversed([*asked.hits, *asked.more])}
    known |= {one.id: one for one in (*composed.beside, *asked.grounds)}
    order = dict.fromkeys([*cite.cited(composed.text), *composed.citations])
    return [known[id] for id in order]


def _behind(asked: QuestionContext) -> dict[str, Support]:
    """Return what only a list may cite, or what follows an answer."""
    earlier = (
        {one.id: one for one in (*asked.after.citations, *asked.after.put_right)}
        if asked.after is not None
        else {}
    )
    if asked.listed is None:
        return earlier
    return (
        earlier
        | {hit.id: _support(hit) for hit in asked.listed.hits}
        | {one.id: one for one in asked.listed.turns()}
    )


def _support(hit: Hit) -> Support:
    body = hit.record.body
    when = body.occurred_at or hit.record.created_at
    return Support(
        id=hit.id,
        index=hit.index,
        text=hit.text,
        quote="",
        when=when,
        speaker=voice(hit.record),
        source=hit.source,
        corrected=corrected_at(hit.record),
    )


def _toned(mind: Mind, question: str, composed: Composed, hits: Sequence[Hit]) -> tuple[Toned, str]:
    """Return the tones and the text in the manner that fits the user's, that of what was remembered and the agent's.

    What claims nothing is left plain: "here it is" before "I can't say for certain" would be a promise.
    """
    text = composed.text
    bare = cite.bare(text)
    user, draft = mind.feel([question, bare])
    memory = of_memory([(felt, hit.score) for felt, hit in zip(mind.felt(hits), hits, strict=True)])
    blended = blend(Felt(user.vad, user.confidence), memory, mind.own_tone())
    manner = style(blended)
    said = restyle(text, manner) if composed.claims else text
    augmented = draft if said == text else mind.feel([cite.bare(said)])[0]
    return Toned(input=user, draft=draft, augmented=augmented, blended=blended, style=manner), said
