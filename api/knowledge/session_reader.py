"""An extractor that reads sessions, as a consumer of the log: a portion of a session is a batch.

What is found in a turn enters the log as one record above it, with what made it, in one transaction with the outcome of
the portion. A replay needs neither extractor nor model.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any, Final, NamedTuple

import msgspec

from braid.claims.finder import ClaimFinder
from braid.event_log import name_session
from braid.knowledge.portions import Planner, Portion, PortionPlan
from braid.knowledge.range_consumer import EXTRACTION
from braid.knowledge.setting import setting
from braid.knowledge.tally import Tally
from braid.knowledge.turns import Whose, living, whose
from braid.learn.candidate import Extraction, Extractor, KnownEntity, Maker
from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.gate import judge
from braid.learn.gates.outcome import EVERY_SENSITIVITY, GateSettings, Judged, Kept, Sensitivity, suffix_of
from braid.learn.reading import BY_MODEL, made_of, method_of, once_key, reading
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim, Confidence, Draft, Record, Scope
from braid.ledger.record.scope import OWNERS, SCOPES, in_scope
from braid.outcomes import Spent, bury, outcomes, settle
from braid.providers import placeholders
from braid.providers.gate import Gate
from braid.session import Session
from braid.text.parse import Parse, Parser
from braid.work.job import Batch, Death
from braid.work.worker import JobFailedError

MAX_CLAIMS: Final = 500
"""Known claims of one person that an extractor is told of, the newest."""
ALONE: Final = 4
"""The attempt in which each turn is read alone (`000_` §3): what fails then is that turn."""
_Part = tuple[int, Sensitivity]
"""A turn, and of what the claims of it are that stand in one record."""
Found = Sequence[tuple[Record, Draft]]


class Read(NamedTuple):
    """What reading a portion gave: a record a turn, counts, and turns that failed alone, with stage and class."""

    found: Found
    tally: Tally
    spent: Spent
    failed: tuple[tuple[Batch, str, str], ...] = ()
    replaced: tuple[Draft, ...] = ()
    """What was shown to a model as placeholders, to be kept."""


class SessionReader:
    """Reads sessions with one extractor. Implements `Consumer`; not safe between threads."""

    name = EXTRACTION

    def __init__(
        self,
        session: Session,
        extractor: Callable[[int], Extractor],
        *,
        gate: Gate | None = None,
        parser: Parser | None,
        settings: GateSettings | None,
        turns_each: int,
        ended_only: bool = False,
        alone: bool = True,
        within: Scope | None = None,
        needs: tuple[str, ...] = ("chat_small",),
        done: Callable[[Read, Found], None] = lambda read, added: None,
        failed: Callable[[Tally], None] = lambda tally: None,
    ) -> None:
        """`gate`: the one before its models; `settings`: other than the signed ones. `extractor` is given the number of
        the attempt. `alone`: the last attempt reads turn by turn. `within`: other scopes' sessions are left to others.

        `done` takes what was settled, and what of it is new; `failed`, what an attempt took that found nothing.
        """
        self._session = session
        self._extractor = extractor
        self._maker = extractor(1).maker
        self._gate = gate
        self._parser = parser
        self._settings = settings
        self._alone = alone
        self._within = within
        self.needs = needs
        self._done = done
        self._failed = failed
        self._planner = Planner(
            session,
            turns_each=turns_each,
            ended_only=ended_only,
            is_read=self._read_before,
        )
        self._planned: dict[str, Portion] = {}
        self._plan: PortionPlan | None = None
        self._known: dict[Whose, list[Claim]] = {}

    @property
    def version(self) -> str:
        """The method of what it finds, which names the version of its prompt: `read:model@1`."""
        return method_of(self._maker)

    def plan(self, most: int, besides: frozenset[str] = frozenset()) -> list[Batch]:
        """See `Consumer.plan`. `besides`: ids of jobs that are passed over."""
        plan = self.portions(most, besides)
        self._plan = plan
        self._planned = {self._batch(one).id: one for one in plan.portions}
        return [self._batch(one) for one in plan.portions]

    def portions(self, most: int, besides: frozenset[str] = frozenset()) -> PortionPlan:
        """Return what is to be read next, and what goes on."""
        progress = outcomes(self._session).progress(self.name, self.version)
        return self._planner.plan(
            progress, most, lambda one: not self._is_own(one) or self._batch(one).id in besides
        )

    def _is_own(self, portion: Portion) -> bool:
        return in_scope(Scope(**dict(zip(SCOPES, portion.key, strict=True))), self._within)

    def _batch(self, portion: Portion) -> Batch:
        return Batch(self.name, self.version, portion.spans)

    def run(self, batch: Batch, attempt: int) -> Read | None:
        """Do a batch, holding no lock; nothing is appended. None for a batch that is not to be done any more."""
        self._session.refresh()  # another handle may have offered what was appended since this one last looked
        if batch.id not in self._planned:
            self.plan(2**31)
        portion = self._planned.get(batch.id)
        if portion is None:
            return None
        name_session(portion.key[SCOPES.index("session_id")])
        if self._alone and attempt >= ALONE and len(portion.turns) > 1:
            return self._read_alone(portion, attempt)
        return self.read(portion, attempt)

    def settle(self, batch: Batch, made: Read | None, attempt: int, fence: Callable[[], None]) -> bool:
        """Append what was made with its outcome; False where the log has one. `fence` raises LeaseLostError."""
        if made is None or self._plan is None:
            return False
        size = self._session.reader.size
        is_new = settle(
            self._session,
            batch,
            seen=self._plan.seen,
            drafts=[*(draft for _, draft in made.found), *made.replaced],
            spent=made.spent,
            fence=fence,
            attempts=attempt if made.failed else None,
            also_dead=made.failed,
        )
        if is_new:
            reader = self._session.reader
            self._done(
                made,
                [one for one in made.found if reader.key_index.find([_key(one[1])])[_key(one[1])] >= size],
            )
        return is_new

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        """Append that a batch is dead; False where the log has an outcome."""
        if batch.id not in self._planned:
            self.plan(2**31)
        if batch.id not in self._planned or self._plan is None:
            return False
        return bury(self._session, batch, died, seen=self._plan.seen, fence=fence)

    # -- one portion ------------------------------------------------------------------------------

    def read(self, portion: Portion, attempt: int) -> Read:
        """Return what an extractor finds in a portion. Raises JobFailedError where it only fails."""
        began = perf_counter()
        tally = Tally()
        if self._gate is not None:
            self._gate.taken()  # of an attempt that failed: what it was shown is shown again
        found, records, new = self._extracted(portion, attempt)
        tally.extracted(found)
        asked = perf_counter()
        if found.failures and not found.candidates:
            self._failed(tally)
            raise JobFailedError(*found.failures[-1])
        tally.sessions, tally.turns = int(bool(new)), len(new)
        known = self._known_to(portion.key)
        parses = self._parses(found, new)
        parsed = perf_counter()
        settings = self._settings or setting(self._session).allowed
        judged = judge(found.candidates, new, KnownIndex(known, entities_of(known)), parses, settings)
        tally.judged(judged)
        drafts = list(_drafts(found, judged, records, self._maker))
        tally.appended(draft for _, draft in drafts)
        known += [one.claim for one in judged.kept if not one.superseded]
        ms = {"extract": asked - began, "parse": parsed - asked, "judge": perf_counter() - parsed}
        return Read(drafts, tally, self._spent(tally, ms), replaced=self._replaced(records.values()))

    def _replaced(self, records: Iterable[Record]) -> tuple[Draft, ...]:
        """Return the events that keep what was replaced since the last portion, where these records hold it."""
        if self._gate is None or not (exchanges := self._gate.taken()):
            return ()
        return tuple(placeholders.kept(self._gate.operation, exchanges, list(records)))

    def _extracted(self, portion: Portion, attempt: int) -> tuple[Extraction, dict[int, Record], list[Turn]]:
        """Return what an extractor finds in the turns that live and of which nothing stands in the log yet."""
        held = {turn.at: living(self._session, turn.at) for turn in portion.turns}
        records = {at: record for at, record in held.items() if record is not None}
        done = self._read_before([record.id for record in records.values()])
        new = [turn for turn in portion.turns if turn.at in records and records[turn.at].id not in done]
        if not any(turn.role == "user" for turn in new):
            return Extraction(), records, []
        seen = [
            msgspec.structs.replace(turn, previous=())
            for turn in portion.turns
            if turn.at in records and turn not in new
        ]
        new[0] = msgspec.structs.replace(new[0], previous=(*portion.before, *seen))
        known = self._known_to(portion.key)
        extractor = self._extractor(attempt)
        found = extractor.extract(new, entities_of(known), known[-MAX_CLAIMS:], self._session.now())
        return found, records, new

    def _read_alone(self, portion: Portion, attempt: int) -> Read:
        """Return what is found in each turn on its own. Raises JobFailedError where every one fails."""
        found: list[tuple[Record, Draft]] = []
        failed: list[tuple[Batch, str, str]] = []
        replaced: tuple[Draft, ...] = ()
        tally, ms = Tally(), Counter[str]()
        for turn in portion.turns:
            alone = Portion(portion.key, (turn,), ())
            try:
                one = self.read(alone, attempt)
            except JobFailedError as error:
                failed.append((self._batch(alone), error.stage, error.kind))
                continue
            found += one.found
            replaced += one.replaced
            tally.add(one.tally)
            ms.update(one.spent.ms)
        if not tally.sessions:
            raise JobFailedError(*failed[-1][1:])
        return Read(
            found,
            tally,
            self._spent(tally, {name: s / 1000 for name, s in ms.items()}),
            tuple(failed),
            replaced,
        )

    def _spent(self, tally: Tally, seconds: dict[str, float]) -> Spent:
        return Spent(
            counts=tally.counts(),
            warnings=dict(tally.warnings),
            refused=dict(tally.refused),
            failures=dict(tally.failures),
            model=self._maker.model,
            prompt=self._maker.version,
            tokens_in=tally.tokens_in,
            tokens_out=tally.tokens_out,
            ms={name: round(1000 * each, 1) for name, each in seconds.items()},
        )

    def _read_before(self, parents: Sequence[str]) -> set[str]:
        """Return those of these records of which something that this maker found stands in the log."""
        makers = (made_of(self._maker, kinds) for kinds in EVERY_SENSITIVITY)
        keys = {once_key(one, id): id for one in makers for id in parents}
        return {keys[key] for key in self._session.reader.key_index.find(list(keys))}

    def _parses(self, found: Extraction, turns: Sequence[Turn]) -> dict[int, Parse]:
        """Return the parses of the turns that candidates quote."""
        if self._parser is None:
            return {}
        wanted = {one.evidence.turn for one in found.candidates}
        named = [turn for turn in turns if turn.at in wanted]
        return {
            turn.at: parse
            for turn, parse in zip(named, self._parser.parse([t.text for t in named]), strict=True)
        }

    def _known_to(self, key: Whose) -> list[Claim]:
        """Return what is known of a session's person, oldest first; it grows by what is kept."""
        scope = whose(key)
        if key[: len(OWNERS)] not in self._known:
            self._known[key[: len(OWNERS)]] = known_claims(self._session, scope)
        return self._known[key[: len(OWNERS)]]


def _key(draft: Draft) -> str:
    return draft.body.once or ""


def known_claims(session: Session, scope: Scope) -> list[Claim]:
    """Return the living claims of a scope, oldest first, the newest `MAX_CLAIMS`."""
    named = None if scope == Scope() else scope
    finder = ClaimFinder(session, named, None)
    return [one.claim for one in finder.claims(finder.named(None)[-MAX_CLAIMS:])]


def entities_of(claims: Iterable[Claim]) -> list[KnownEntity]:
    """Return who and what claims speak of by name, with how often."""
    counted = Counter(
        name for claim in claims for name in (claim.subject, claim.object) if name[:1].isupper()
    )
    return [KnownEntity(name, mentions=count) for name, count in counted.most_common()]


def _drafts(
    found: Extraction, judged: Judged, records: dict[int, Record], maker: Maker
) -> Iterator[tuple[Record, Draft]]:
    """Yield the reading of each turn in which something was found, what was staged of it, and what was warned of."""
    kept: dict[_Part, list[Kept]] = {}
    for one in judged.kept:
        kept.setdefault((one.candidate.evidence.turn, one.kinds), []).append(one)
    staged: dict[_Part, list[dict[str, Any]]] = {}
    for doubt in judged.staged:
        staged.setdefault((doubt.candidate.evidence.turn, doubt.kinds), []).append(
            {
                **msgspec.to_builtins(doubt.candidate.claim),
                "why": f"{doubt.gate}:{doubt.outcome}",
                "p": doubt.p,
            }
        )
    warned: dict[int, list[tuple[str, str]]] = {}
    for warning in judged.warnings:
        warned.setdefault(warning.turn, []).append(("hallucination", warning.kind))
    general = [*found.warnings, *warned.pop(-1, [])]
    model = next((one.maker.model for one in found.candidates), maker.model)
    made = Maker(maker.name, maker.version, model)
    for part in sorted({*kept, *staged}, key=lambda one: (one[0], suffix_of(one[1]))):
        at, kinds = part
        if at not in records:
            continue
        notes: dict[str, Any] = {}
        if part in staged:
            notes["staged"] = staged[part]
        if warnings := sorted({*general, *warned.get(at, [])}):
            notes["warnings"] = [
                {"gate": gate, "class": kind, "maker": maker.name} for gate, kind in warnings
            ]
        found_here = kept.get(part, [])
        claims = [_weighed(one) for one in found_here]
        sure = min((one.p for one in found_here if not one.superseded), default=None)
        low = min((one.p for one in found_here), default=None) if sure is None else sure
        confidence = Confidence(p=low, method=BY_MODEL) if low is not None else None
        yield records[at], reading(made_of(made, kinds), records[at], claims, confidence, notes=notes)


def _weighed(one: Kept) -> Claim:
    """Return a claim; one that the same session takes back says how little of it is left."""
    if not one.superseded:
        return one.claim
    return msgspec.structs.replace(one.claim, details={**one.claim.details, "superseded": f"{one.p:g}"})
