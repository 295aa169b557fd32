"""A store as the pipeline of answers asks it, for one question: what is found, what is held, how it feels."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec
import numpy as np

from braid.affect.blend import Felt
from braid.affect.vad import ToneReading
from braid.agent.answer.change import former_state as predecessor
from braid.agent.answer.choice.chooser import weights
from braid.agent.answer.lists.request import ListRequest, list_request
from braid.agent.answer.pipeline import CitedAnswer
from braid.agent.composer import FactChange, HeldStance, KnownFact, ListFindings, Nearness, Overtaken, Support
from braid.claims.changed import ChangedClaim, KnowledgeChange
from braid.claims.changes import changes_of
from braid.claims.decision import Resolved, resolve
from braid.claims.finder import ClaimFinder
from braid.claims.merged_names import merged_names
from braid.claims.question import utc
from braid.claims.topics import is_about, turn_index, weighed
from braid.ledger.record.record import Record, Scope
from braid.ledger.record.source import BELIEVED, SourceClass, corrected_at, is_least, voice
from braid.recall.hits import Hit
from braid.recall.hits import RecallResult as Found
from braid.search.audience import flags_in, may_hear
from braid.search.operations import Flag
from braid.search.parsing import parses_of
from braid.search.question import MARKED, Audience, Question
from braid.search.reranking import answers_of
from braid.search.retrieval import NOT_OWN, find
from braid.session import Session
from braid.stance.mentions import SELF
from braid.stance.reconcile import Reconciliation
from braid.text.parse import Parses
from braid.text.rerank import AnswerScores, Reranker, RerankError
from braid.text.words import normal
from braid.tone import snapshots as feeling
from braid.views.embedder import EmbeddingError


def nearness_of(session: Session) -> Nearness | None:
    """Return how near words are by the model of a session; words that it can't be asked for are near to none."""
    _, vocabulary, _ = session.embedding()
    if vocabulary is None:
        return None

    def nearest(asked: Sequence[str], spoken: Sequence[Sequence[str]]) -> object:
        try:
            return vocabulary.nearest(asked, spoken)
        except (EmbeddingError, TimeoutError):
            return np.full((len(spoken), len(asked)), -1.0)

    return nearest


READ_WITHIN_S: Final = 5.0
"""How long a cross-encoder may take, its loading included; then the features alone decide."""


def _refuse_unfitted(model: Reranker) -> None:
    """Raise RerankError for a cross-encoder whose word the weights of answers were not fitted to."""
    fitted = weights().reading
    if fitted is None or model.name != fitted.by:
        raise RerankError(f"{model.name} is not what this release's weights are for")


LIST_HITS: Final = 100
"""Among how many of the best hits the pieces of a list are looked for, unless all are asked for."""
ALL_HITS: Final = 1000
MOST_PIECES: Final = 12
"""How many pieces of a list are told, unless all are asked for."""


class Tones:
    """How texts and the agent itself feel, by a store."""

    def __init__(self, session: Session, scope: Scope | None) -> None:
        self._session = session
        self._scope = scope

    def nearest(self) -> Nearness | None:
        """See `Mind.nearest`."""
        return nearness_of(self._session)

    def answers(self, trouble: list[str]) -> AnswerScores | None:
        """See `Mind.answers`."""
        return answers_of(self._session, trouble, READ_WITHIN_S, _refuse_unfitted)

    def parses(self, trouble: list[str]) -> Parses | None:
        """See `Mind.parses`."""
        return parses_of(self._session, trouble)

    def feel(self, texts: Sequence[str]) -> list[ToneReading]:
        return feeling.sense(self._session, texts)

    def felt(self, hits: Sequence[Hit]) -> list[Felt]:
        return feeling.felt(self._session, hits)

    def own_tone(self) -> Felt | None:
        return feeling.own(self._session, self._session.now(), self._scope)


class StoreMind(Tones):
    """What a store remembers, as `agent.answer` asks for it."""

    def __init__(
        self,
        session: Session,
        scope: Scope | None,
        *,
        as_of: int | None = None,
        as_of_time: datetime | None = None,
        now: datetime | None = None,
        top_k: int,
        trust: SourceClass = BELIEVED,
        audience: Audience = "owner",
        all_pieces: bool = False,
    ) -> None:
        """`trust`: the lowest source class that an answer rests on; `audience`: before whom it is given."""
        super().__init__(session, scope)
        self._trust: SourceClass = trust
        self._audience: Audience = audience
        self.beneath = 0
        """How many records were met that are not trusted."""
        self.lower = False
        """Whether some that were found are of another class than the owner's."""
        self._all = all_pieces
        self._as_of = as_of
        self._as_of_time = as_of_time
        self._given_now = now
        self._top_k = top_k
        self.size = session.size_at(as_of, as_of_time)
        self.now = now or self._then()
        self._resolved: dict[str, Resolved] = {}
        """What `hold` came to, by question."""
        self._records: dict[int, Record] = {}
        """What was read for this answer, by log index: another search for it meets the same records."""
        self._seen: tuple[str, Sequence[Hit]] | None = None
        """The question that was recalled for last, and the hits that stand."""

    def _then(self) -> datetime:
        if self.size is None:
            return self._session.now()
        return datetime.fromisoformat(self._session.reader.envelope(self.size - 1).created_at)

    def find(self, question: str) -> Found:
        """See `Mind.find`: nothing is found that the store wrote about itself, nor what is not trusted."""
        found = self._found(question, self._trust)
        self.beneath += found.beneath
        self._seen = (question, [hit for hit in found.results if hit.superseded_by is None])
        self.lower = self.lower or any(hit.source != "owner" for hit in found.results)
        return found

    def of_outsiders(self, question: str) -> Found:
        """Return what outsiders said that fits a question."""
        found = self._found(question, "outsider")
        others = [hit for hit in found.results if hit.source == "outsider"]
        return msgspec.structs.replace(found, results=others)

    def _found(self, question: str, trust: SourceClass) -> Found:
        scope = msgspec.structs.asdict(self._scope) if self._scope else {}
        asked = Question(
            query=question,
            as_of=self._as_of,
            as_of_time=self._as_of_time,
            superseded=MARKED if predecessor.wanted(question) else None,
            now=self._given_now,  # what happened later is not known yet
            top_k=max(self._top_k, ALL_HITS if self._all else LIST_HITS)
            if list_request(question)
            else self._top_k,
            filters=NOT_OWN,
            trust=trust,
            audience=self._audience,
            **scope,
        )
        return find(self._session, asked, records=self._records)

    def hold(self, question: str) -> HeldStance | None:
        """See `Mind.hold`."""
        past = self._as_of if self._as_of_time is None else self._as_of_time
        hits = self._seen[1] if self._seen is not None and self._seen[0] == question else None
        resolved = resolve(
            self._session,
            question,
            self._scope,
            as_of=past,
            now=self._given_now,
            trust=self._trust,
            hits=hits,
        )
        outcome = resolved.outcome
        known = ClaimFinder(self._session, self._scope, self.size, trust=self._trust)
        support = tuple(grounds_of(outcome, known, self._session))
        if self._audience != "owner" and not self._is_for_all(support):
            raise ValueError("what is held isn't for this audience")
        if self._given_now is not None and any(
            utc(one.corrected or one.when) > utc(self._given_now) for one in support
        ):
            return None  # a trait holds at all times, and was known at none before it was said
        self._resolved[outcome.question] = resolved
        return HeldStance(outcome, support)

    def resolved(self, held: HeldStance | None) -> Resolved | None:
        """Return what would have to be appended for what is held, by `hold`."""
        return None if held is None else self._resolved.get(held.outcome.question)

    def overtaken(self, index: int) -> list[Overtaken]:
        """See `Mind.overtaken`: by the claims that were drawn from the turn."""
        reader = self._session.reader
        drawn = [child for child, role in reader.backlinks.of(index) if role == "parent"]
        finder = ClaimFinder(self._session, self._scope, self.size, trust=self._trust)
        own = [said for said in finder.claims([index, *drawn]) if said.claim.polarity] if drawn else []
        if not own:
            return []
        subjects = [said.claim.subject for said in own]
        folded = weighed(self._session, self._scope, subjects, utc(self.now), self.size, own=own).folded
        found: list[Overtaken] = []
        for said in own:
            for other, _ in folded.taken.get(said.node, ()):
                turn = turn_index(self._session, other.index)
                if turn == index or not folded.stands(other.node) or folded.stands(said.node):
                    continue
                record = reader.at(turn)
                if self._is_told(record, self._trust):
                    by = support_of(record, other.claim.quote or "", other.source)
                    found.append(Overtaken(said.claim.object, by))
        return found

    def facts(self, wanted: ListRequest) -> ListFindings:
        """See `Mind.facts`: as of the time that is asked about; what was forgotten or erased is in none."""
        most = None if self._all else MOST_PIECES
        if wanted.kind == "changes":
            past = self._as_of if self._as_of_time is None else self._as_of_time
            changed = changes_of(self._session, None, self._scope, as_of=past)
            found = [
                FactChange(was=self._fact(one.was, one), now=self._fact(one.now, one), when=one.when)
                for one in changed
                if one.now.said <= utc(self.now) and self._is_given(one.was) and self._is_given(one.now)
            ]
            return ListFindings(changes=found, most=most)
        if wanted.kind == "known" and wanted.about:
            return ListFindings(known=list(self._known(wanted.about)), most=most)
        return ListFindings(most=most)

    def _is_given(self, one: ChangedClaim) -> bool:
        """Whether what a claim was read from is trusted, and for the audience."""
        return self._is_told(self._session.reader.get(one.turn), self._trust)

    def may_repeat(self, record: Record) -> bool:
        """Whether what an earlier answer cited may be cited again: an outsider's too, as a quotation, by default."""
        return self._is_told(record, "outsider" if self._trust == BELIEVED else self._trust)

    def _is_told(self, record: Record, trust: SourceClass) -> bool:
        source = self._session.reader.source_classes.note(record)
        return is_least(source, trust) and may_hear(self._session, record, self._audience)

    def _fact(self, one: ChangedClaim, change: KnowledgeChange) -> KnownFact:
        record = self._session.reader.get(one.turn)
        turn = support_of(record, one.quote or "", self._session.reader.source_classes.note(record))
        about = f"{change.subject} {change.rel.replace('_', ' ')}"
        return KnownFact(
            says=one.says, about=about, turn=turn, said_by=one.said_by or turn.speaker, when=one.said
        )

    def _known(self, topic: str) -> Iterator[KnownFact]:
        """Yield the claims about a topic that stand, in the order in which they were said; each claim once."""
        finder = ClaimFinder(self._session, self._scope, self.size, trust=self._trust)
        topics = [topic, *finder.speakers] if normal(topic) in SELF else [topic]
        names = merged_names(self._session, finder)
        topics = [every for one in topics for every in names.topics(one)]
        meant = {
            said.node: said
            for said in finder.claims(finder.named(None))
            if any(is_about(said, one) for one in topics)
        }
        at = utc(self.now)
        subjects = (said.claim.subject for said in meant.values())
        folded = weighed(self._session, self._scope, subjects, at, self.size, names=names).folded
        # Names that are one's exclude each other's claims; each claim is told under the name that it was made of.
        standing = [meant[said.node] for said in folded.standing() if said.node in meant and said.said <= at]
        seen: set[str] = set()
        for said in sorted(standing, key=lambda said: (said.said, said.index, said.k)):
            record = self._session.reader.at(turn_index(self._session, said.index))
            if said.text not in seen and may_hear(self._session, record, self._audience):
                seen.add(said.text)
                turn = support_of(record, said.claim.quote or "", said.source)
                who = said.claim.said_by or turn.speaker
                yield KnownFact(
                    says=said.text, about=said.claim.subject, turn=turn, said_by=who, when=utc(said.said)
                )

    def _is_for_all(self, support: Sequence[Support]) -> bool:
        read = self._session.reader.at
        return all(may_hear(self._session, read(one.index), self._audience) for one in support)


def flagged(session: Session, given: CitedAnswer, audience: Audience) -> tuple[Flag, ...]:
    """Return what is personal in what an answer cites, where it isn't for the owner."""
    if audience == "owner":
        return ()
    return tuple(flags_in(session, (session.reader.at(one.index) for one in given.citations), audience))


class OutsidersMind(Tones):
    """What outsiders said, for the one question that nothing else answers: nothing is held of it."""

    def __init__(self, mind: StoreMind, session: Session, scope: Scope | None) -> None:
        super().__init__(session, scope)
        self._mind = mind

    def find(self, question: str) -> Found:
        """See `Mind.find`."""
        return self._mind.of_outsiders(question)

    def hold(self, question: str) -> HeldStance:
        """See `Mind.hold`: of an outsider's words nothing is."""
        raise ValueError(f"nothing is held of what only outsiders say: {question[:80]}")

    def overtaken(self, index: int) -> list[Overtaken]:
        """See `Mind.overtaken`: of an outsider's words nothing was read."""
        del index
        return []

    def facts(self, wanted: ListRequest) -> ListFindings:
        """See `Mind.facts`: nothing that outsiders say is one."""
        del wanted
        return ListFindings()


def grounds_of(outcome: Reconciliation, known: ClaimFinder, session: Session) -> Iterator[Support]:
    """Yield the turns that the support was read from, each once; a record that was drawn from none is its own."""
    seen: set[int] = set()
    for said in outcome.support:
        above = [at for at in known.source(said.index).parents if known.lives(at)] or [said.index]
        for at in above:
            if at not in seen:
                seen.add(at)
                yield support_of(session.reader.at(at), said.claim.quote or "", said.source)


def support_of(record: Record, quote: str = "", source: SourceClass = "owner") -> Support:
    """Return a record as what an answer rests on."""
    body = record.body
    return Support(
        id=record.id,
        index=record.index,
        text=record.text,
        quote=quote,
        when=body.occurred_at or record.created_at,
        speaker=voice(record),
        source=source,
        corrected=corrected_at(record),
    )
