"""Candidates in, and of each: kept, staged or refused. A gate that fails refuses that one candidate alone. Pure.

    judged = judge(candidates, turns, KnownIndex(claims, entities), {turn.at: parse}, GateSettings())

What must not be learned is not even staged; what is merely doubtful is.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from braid.learn.candidate import Candidate, Evidence
from braid.learn.gates import wording
from braid.learn.gates.clauses import Clauses
from braid.learn.gates.confidence import SUPERSEDED, confidence, is_enough
from braid.learn.gates.consistency import Beside, KnownIndex, consistency, excludes, is_same
from braid.learn.gates.entailment import Nli, Spoken, entailment, is_taken_back, spoken
from braid.learn.gates.evidence import Found, evidence
from braid.learn.gates.hallucination import Signs, hallucination
from braid.learn.gates.ontology import ontology
from braid.learn.gates.outcome import (
    Gate,
    GateError,
    GateSettings,
    Judged,
    Kept,
    Refused,
    Sensitivity,
    Staged,
)
from braid.learn.gates.privacy import level
from braid.learn.gates.safety import Sensitive, safety, sensitive
from braid.learn.gates.schema import schema
from braid.learn.turn import Turn
from braid.text.parse import Parse

DEFAULT: Final = GateSettings()
_TO_STAGE: Final = frozenset(("privilege", "unparsed", "unsure", "outranked"))
"""What a person may still let in."""
_WORD: Final = re.compile(r"[^\W\d_]+")


class _Seen(NamedTuple):
    """One turn, looked at once for all of its candidates."""

    said: Spoken
    care: Sensitive
    vented: bool


class _Passed(NamedTuple):
    number: int
    kept: Kept


def judge(
    candidates: Sequence[Candidate],
    turns: Sequence[Turn],
    known: KnownIndex,
    parses: Mapping[int, Parse],
    settings: GateSettings = DEFAULT,
    *,
    nli: Nli | None = None,
) -> Judged:
    """Return what becomes of each candidate, in their order.

    `turns`: those the candidates name, by `Turn.at`; `parses`: of whole turns, by the same number, their places those
    of the turn's text. `known` is not changed. Never raises for a candidate; raises what `nli` raises for none.
    """
    return _Gates(candidates, turns, known, parses, settings, nli=nli).judged()


class _Gates:
    """One call: what its candidates share, and what has become of them so far."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        turns: Sequence[Turn],
        known: KnownIndex,
        parses: Mapping[int, Parse],
        settings: GateSettings,
        *,
        nli: Nli | None,
    ) -> None:
        self._candidates = candidates
        self._turns = {turn.at: turn for turn in turns}
        self._known = known
        self._parses = parses
        self._settings = settings
        self._nli = nli
        self._seen: dict[int, _Seen] = {}
        self._passed: list[_Passed] = []
        self._staged: list[Staged] = []
        self._refused: list[Refused] = []
        self._at: Gate = "schema"
        self._kinds: Sensitivity = frozenset()
        """Of what the candidate is that is looked at."""

    def judged(self) -> Judged:
        signs = self._signs()
        for number, candidate in enumerate(self._candidates):
            try:
                self._one(number, candidate, signs)
            except Exception as error:  # whatever a gate trips over is this candidate's alone
                self._refuse(number, candidate, GateError(self._at, "failed"), type(error).__name__)
        return Judged(
            tuple(passed.kept for passed in self._passed),
            tuple(self._staged),
            tuple(self._refused),
            signs.warnings,
        )

    def _signs(self) -> Signs:
        try:
            return hallucination(self._candidates, self._turns, self._known)
        except Exception:  # a malformed candidate: its schema refuses it, the others are judged
            return Signs()

    def _one(self, number: int, candidate: Candidate, signs: Signs) -> None:
        p = 0.0
        self._kinds = frozenset()
        try:
            self._at = "schema"
            schema(candidate)
            self._at = "evidence"
            turn = self._turns.get(candidate.evidence.turn)
            at = evidence(
                turn,
                candidate.evidence.quote,
                candidate.evidence.start,
                spoken=candidate.maker.name != "events",
            )
            candidate = _grounded(candidate, at)
            seen = self._looked_at(candidate.evidence.turn)
            self._at = "safety"
            self._kinds = safety(candidate, seen.said.turn, at, seen.care, self._settings)
            self._at = "ontology"
            ontology(candidate.claim, self._known.kinds)
            self._at = "hallucination"
            if number in signs.discarded:
                raise GateError("hallucination", "discarded")
            self._at = "entailment"
            neutral = entailment(candidate, seen.said, at, self._known.is_known, self._nli) == "neutral"
            self._at = "confidence"
            p = confidence(candidate, neutral=neutral, vented=seen.vented, warned=number in signs.halved)
            if candidate.claim.source_type != "corrected" and is_taken_back(
                seen.said.turn.text, at, candidate.claim.object
            ):
                p = min(p, SUPERSEDED)
            self._at = "consistency"
            beside = consistency(candidate, self._known)
            if beside.outranked:
                raise GateError("consistency", "outranked")
            if not is_enough(candidate, p):
                raise GateError("confidence", "unsure")
            self._keep(number, candidate, p, beside)
        except GateError as stop:
            self._refuse(number, candidate, stop, p=p)

    def _looked_at(self, index: int) -> _Seen:
        if index not in self._seen:
            turn, parse = self._turns[index], self._parses.get(index)
            clauses = Clauses(parse) if parse is not None and parse.tokens else None
            self._seen[index] = _Seen(spoken(turn, clauses), sensitive(turn), is_outburst(turn.text))
        return self._seen[index]

    def _keep(self, number: int, candidate: Candidate, p: float, beside: Beside) -> None:
        """Keep a candidate, unless another maker found the same; what it replaces in this call is marked."""
        privacy = level(candidate, sensitive=bool(self._kinds))
        details = {**candidate.claim.details, "privacy": privacy}
        candidate = msgspec.structs.replace(
            candidate, claim=msgspec.structs.replace(candidate.claim, details=details)
        )
        claim = candidate.claim
        for place, (first, kept) in enumerate(self._passed):
            if is_same(claim, kept.claim):
                self._passed[place] = _Passed(first, _merged(kept, candidate, p))
                return
        rivals: list[int] = []
        for place, (_, kept) in enumerate(self._passed):
            if not kept.superseded and excludes(claim, kept.claim):
                rivals.append(place)
        supersedes, unsettled = list(beside.supersedes), list(beside.rivals)
        for place in rivals:
            first, kept = self._passed[place]
            if _replaces(candidate, kept.candidate):
                supersedes.append(kept.claim)
                self._passed[place] = _Passed(
                    first, msgspec.structs.replace(kept, p=min(kept.p, SUPERSEDED), superseded=True)
                )
            else:
                unsettled.append(kept.claim)
                self._passed[place] = _Passed(
                    first, msgspec.structs.replace(kept, rivals=(*kept.rivals, claim))
                )
        self._passed.append(
            _Passed(
                number,
                Kept(
                    candidate=candidate,
                    p=p,
                    level=privacy,
                    kinds=self._kinds,
                    reinforces=beside.reinforces,
                    supersedes=tuple(supersedes),
                    rivals=tuple(unsettled),
                ),
            )
        )

    def _refuse(
        self, number: int, candidate: Candidate, stop: GateError, error: str = "", p: float = 0.0
    ) -> None:
        if stop.outcome in _TO_STAGE:
            privileged = stop.outcome == "privilege"
            details = {
                **candidate.claim.details,
                "privacy": "L4" if privileged else level(candidate, sensitive=bool(self._kinds)),
            }
            claim = msgspec.structs.replace(candidate.claim, details=details)
            candidate = msgspec.structs.replace(candidate, claim=claim)
            self._staged.append(
                Staged(candidate, stop.outcome, stop.gate, p, self._kinds, needs_verification=privileged)
            )
            return
        self._refused.append(
            Refused(stop.outcome, stop.gate, candidate.maker, number, _turn_of(candidate), error)
        )


def _turn_of(candidate: Candidate) -> int:
    turn: object = getattr(candidate.evidence, "turn", -1)
    return turn if isinstance(turn, int) else -1


def _grounded(candidate: Candidate, at: Found) -> Candidate:
    """Return a candidate whose quote is the turn's own slice, in its evidence and in its claim."""
    claim = candidate.claim
    if claim.quote != at.quote or claim.at != at.start or claim.type != candidate.type:
        claim = msgspec.structs.replace(claim, quote=at.quote, at=at.start, type=candidate.type)
    elif candidate.evidence.start == at.start:
        return candidate
    return msgspec.structs.replace(
        candidate, claim=claim, evidence=Evidence(candidate.evidence.turn, at.start, at.quote)
    )


def _merged(kept: Kept, candidate: Candidate, p: float) -> Kept:
    """Return one claim that was found twice: as sure as the surer of its makers, each named once."""
    also = kept.also
    if candidate.maker != kept.candidate.maker and candidate.maker not in also:
        also = (*also, candidate.maker)
    return msgspec.structs.replace(kept, p=kept.p if kept.superseded else max(kept.p, p), also=also)


def _replaces(later: Candidate, earlier: Candidate) -> bool:
    """Whether one of two that exclude each other takes the other back: it corrects it, or was said after it."""
    one, other = later.claim.source_type == "corrected", earlier.claim.source_type == "corrected"
    if (one or later.type == "correction") and not other:
        return True
    if other and not one:
        return False
    # In one turn, two statements without a word of correction are to be looked at.
    return later.evidence.turn > earlier.evidence.turn


def is_outburst(text: str) -> bool:
    """Whether a turn is an outburst: three strong words or more, or two in few."""
    low = [word.lower() for word in _WORD.findall(text)]
    strong = {word for word in low if word in wording.STRONG}
    loud = sum(word.isupper() and len(word) > 3 for word in _WORD.findall(text)) >= 3 or "!!" in text
    return len(strong) >= 3 or (len(strong) == 2 and (loud or (len(low) <= 12 and "hate" in strong)))
