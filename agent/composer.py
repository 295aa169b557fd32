"""What the steps of an answer hand to each other: what was asked and found, and what a composer makes of it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

import msgspec

from braid.affect.style import Style
from braid.ledger.record.source import SourceClass
from braid.recall.hits import Hit
from braid.stance.reconcile import Reconciliation
from braid.text.parse import Parses
from braid.text.rerank import AnswerScores

RungName = Literal["held", "said", "near", "silent"]
"""held: a claim that stands; said: a quotation that answers; near: quotations that may; silent: none of these."""
Nearness = Callable[[Sequence[str], Sequence[Sequence[str]]], Any]
"""(words, spoken) → float32[n, m]: the cosine of the nearest of n lists of words to each of m words."""
Caution = Literal["careful", "default", "eager"]
"""How sure an answer must be to be told."""


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """A record that an answer rests on. `quote` is what of its text bears on the question; `p` in [0, 1], or None."""

    id: str
    index: int
    text: str
    quote: str
    when: datetime
    speaker: str
    p: float | None = None
    source: SourceClass = "owner"
    corrected: datetime | None = None
    """When it was put in the place of what was said at `when`; None for what was said so."""


class HeldStance(msgspec.Struct, frozen=True):
    """What is held of a question, and the turns that it was read from.

    `via`: where the question describes somebody ("my partner"), what says who that is.
    """

    outcome: Reconciliation
    support: Sequence[Support] = ()
    via: "HeldStance | None" = None


class Overtaken(msgspec.Struct, frozen=True):
    """What a turn was read to say and what no longer has a say: its `object`, and the turn that says otherwise."""

    object: str
    by: Support


class KnownFact(msgspec.Struct, frozen=True, kw_only=True):
    """A claim in words, and the turn that it was read from; `said_by` is whoever said so."""

    says: str
    about: str
    """Its subject and relation."""
    turn: Support
    said_by: str
    when: datetime


class FactChange(msgspec.Struct, frozen=True, kw_only=True):
    """A claim, and the one that took its place; `when`: since when that holds, else when it was said."""

    was: KnownFact
    now: KnownFact
    when: datetime


class ListFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What lists are made of, besides what an answer may quote: `hits` of the whole search, what has changed and what
    is known of what is asked about, oldest first. `most`: how many pieces are told, None for all."""

    hits: Sequence[Hit] = ()
    changes: Sequence[FactChange] = ()
    known: Sequence[KnownFact] = ()
    most: int | None = None

    def turns(self) -> Iterator[Support]:
        """Yield the turns that stand behind changes and facts."""
        for change in self.changes:
            yield change.was.turn
            yield change.now.turn
        yield from (fact.turn for fact in self.known)


class EarlierAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that a question follows: what was asked, on what it rests, and how sure it was, in [0, 1].

    `citations` are those that can still be read; `put_right`: what stands now in place of some of them.
    """

    question: str
    citations: Sequence[Support]
    p: float
    abstained: bool = False
    put_right: Sequence[Support] = ()


class QuestionContext(msgspec.Struct, frozen=True, kw_only=True):
    """A question with what memory gave for it. `context` is the `<experience_context>` block."""

    question: str
    hits: Sequence[Hit]
    context: str
    now: datetime
    stance: Reconciliation | None = None
    support: Sequence[Support] = ()
    """The turns that the stance's claim was read from, where it holds one."""
    via: HeldStance | None = None
    """What says of whom the stance is, where the question only describes them."""
    given: float = 1.0
    """The probability that this is the question: one that a note was put into is no surer than that. An answer's p
    is of both."""
    style: Style | None = None
    more: Sequence[Hit] = ()
    """What was found beyond `hits`, best first: the answering turn is looked for in both."""
    nearest: Nearness | None = None
    """What tells how near two words are in meaning; None without a model."""
    overtaken: Callable[[int], Sequence[Overtaken]] | None = None
    """What tells of a turn, by its log index, what of it no longer holds."""
    find: Callable[[str], Sequence[Hit]] | None = None
    """What finds more that may be seen, by other words."""
    answers: AnswerScores | None = None
    """What tells how surely each of some turns answers; None without a cross-encoder."""
    parses: Parses | None = None
    """What takes sentences apart; None without a parser."""
    caution: Caution = "default"
    language: str = "en"
    listed: ListFindings | None = None
    """Where the question asks for a list: what that is made of."""
    after: EarlierAnswer | None = None
    """The answer that the question follows, where it follows one."""

    @property
    def grounds(self) -> Sequence[Support]:
        """The turns that what is held was read from, and those that say of whom it is."""
        return self.support if self.via is None else (*self.support, *self.via.support)


class Composed(msgspec.Struct, frozen=True, kw_only=True):
    """An answer before its tone: `citations` are record ids in the order of the text."""

    text: str
    """Each claim is followed by the ids that it rests on, in brackets: `[exp_…]`."""
    citations: Sequence[str]
    short: str = ""
    """The answer in the fewest words, without citations; empty where there is none."""
    p: float = 0.0
    """How probable it is that the citations bear the answer out, in [0, 1]; for phrasing and measuring, never shown."""
    abstained: bool = False
    rung: RungName | None = None
    """Which rung of the ladder it stands on; None for what another composer wrote."""
    reason: str | None = None
    """Why it abstained."""
    unsupported: Sequence[str] = ()
    """What a model said that nothing given supports; it is not part of the text."""
    tokens: tuple[int, int] = (0, 0)
    """What went into a model and came out of it."""
    model: str | None = None
    said: str | None = None
    """A model's own words, for the log; None where none was asked, or it gave none."""
    quoted: bool = False
    """Whether it only quotes what outsiders say: nothing here says that it is so."""
    beside: Sequence[Support] = ()
    """Turns that it cites and that were not among what was found."""
    fallback: str | None = None
    """Why a model's answer was not taken, where that is so."""

    @property
    def claims(self) -> bool:
        """Whether it is given as an answer: not silence, nor only shown as near."""
        return not self.abstained and self.rung != "near"


class Composer(Protocol):
    """What writes an answer from what was found."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def version(self) -> str:
        """What changes when it would write otherwise."""
        ...

    def compose(self, asked: QuestionContext) -> Composed:
        """Return an answer; that nothing is known is one. Never raises for what a model does."""
        ...
