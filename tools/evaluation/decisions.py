"""Labelled decisions: what a decider does with a candidate claim, held against what should be done.

A file is JSON Lines. A line with `known` is a scene, the living claims in the order in which they were said; a line
with `id` is a case of the scene above it: one candidate, and what should be done with it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, Final, NamedTuple

import msgspec

from braid.ledger.record.record import Claim, Confidence, ExperienceBody, Provenance, SourceType
from braid.ledger.record.source import SourceClass
from braid.stance.claims import Place, RecordedClaim, claims_in
from braid.stance.decide import Decider, decide
from braid.stance.precedence import backdated
from braid.stance.proposal import CHANGES, Action, Proposal
from braid.stance.voice import Backing, person
from braid.tools.evaluation.entities import wilson

ASKS: Final = "ADD, asks"
"""`ADD` where a person is asked, too."""
_STATED: Final = 0.9
"""What a reading of plain words is worth."""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim as it was said. `source_class`: whose words they are; `said_by`: whose word it reports, where it does."""

    by: str
    said: date
    subject: str
    rel: str
    object: str
    polarity: bool = True
    source: SourceType = "explicit"
    source_class: SourceClass = msgspec.field(default="owner", name="class")
    said_by: str | None = None
    valid_from: date | None = None
    valid_to: date | None = None


class Scene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The living claims that some candidates meet."""

    scene: str
    domain: str
    known: tuple[Said, ...]


class Labelled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A candidate, and what should be done with it. `targets`: places among the known claims, any of which is right."""

    id: str
    kind: str
    candidate: Said
    action: Action
    targets: tuple[int, ...] = ()
    review: bool = False

    @property
    def label(self) -> str:
        """The action, and whether a person is asked."""
        return ASKS if self.review else self.action


class Case(NamedTuple):
    """A labelled candidate with its scene."""

    scene: Scene
    labelled: Labelled


class Judged(NamedTuple):
    """What was decided of a case. `label` is None where nothing could be used; `place`: of the target in the scene."""

    case: Case
    label: str | None
    place: int | None
    reason: str

    @property
    def is_change(self) -> bool:
        """Whether something known would be superseded."""
        return self.label in CHANGES

    @property
    def is_right(self) -> bool:
        """Whether this is what should be done, with a right target where it matters: an `ADD` has none."""
        wanted = self.case.labelled
        if self.label != wanted.label:
            return False
        return not wanted.targets or self.place in wanted.targets


def cases_of(raw: bytes, name: str) -> list[Case]:
    """Return the cases of a file. Raises ValueError, with the line, for what is none."""
    found: list[Case] = []
    scene: Scene | None = None
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = _line(line)
        except msgspec.MsgspecError as error:
            raise ValueError(f"{name}, line {number}: {error}") from None
        if isinstance(one, Scene):
            scene = one
        elif scene is None:
            raise ValueError(f"{name}, line {number}: a case without a scene above it")
        elif any(not 0 <= place < len(scene.known) for place in one.targets):
            raise ValueError(f"{name}, line {number}: a target that the scene doesn't hold")
        else:
            found.append(Case(scene, one))
    if not found:
        raise ValueError(f"{name} holds no cases")
    return found


def _line(line: bytes) -> Scene | Labelled:
    try:
        raw: Any = msgspec.json.decode(line)
    except RecursionError:
        raise msgspec.DecodeError("this is nested too deep") from None
    if isinstance(raw, dict) and "known" in raw:
        return msgspec.convert(raw, Scene)
    return msgspec.convert(raw, Labelled)


def unlabelled(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return the lines of the cases without their labels, for a second reader."""
    lines: list[dict[str, Any]] = []
    before: Scene | None = None
    for case in cases:
        if case.scene is not before:
            lines.append(msgspec.to_builtins(case.scene))
            before = case.scene
        lines.append({"id": case.labelled.id, "candidate": msgspec.to_builtins(case.labelled.candidate)})
    return lines


def judged(case: Case, decider: Decider | None = None) -> Judged:
    """Return what a decider does with a case; the rules where none is given.

    The rules are asked about the states that follow from a claim, too. A model is asked once.
    """
    said = [*case.scene.known, case.labelled.candidate]
    every = backdated([one for index, each in enumerate(said) for one in recorded(each, index)])
    last = len(case.scene.known)
    candidate = [one for one in every if one.index == last]
    living = [one for one in every if one.index != last]
    found = decide(candidate if decider is None else candidate[:1], living, decider)
    made = found.proposal
    if made is None:
        return Judged(case, None, None, ", ".join(found.warnings))
    return Judged(case, _label(made), None if found.target is None else found.target.index, made.reason)


def recorded(said: Said, index: int) -> list[RecordedClaim]:
    """Return a claim, and the states that follow from it, as a reading of somebody's words at a place in the log."""
    stated = said.source != "inferred"
    claim = Claim(
        subject=said.subject,
        rel=said.rel,
        object=said.object,
        polarity=said.polarity,
        valid_from=_midnight(said.valid_from),
        valid_to=_midnight(said.valid_to),
        source_type=said.source,
        said_by=said.said_by,
    )
    when = datetime.combine(said.said, time(), UTC)
    body = ExperienceBody(
        symbolic=[claim],
        occurred_at=when,
        confidence=Confidence(p=_STATED, method="rule") if stated else None,
        provenance=Provenance(actor="user", name=said.by),
    )
    speaks = (
        person(said.by) if said.source_class in ("owner", "outsider") else f"{said.source_class} {said.by}"
    )
    found = claims_in(
        body,
        Place(index, f"exp_{index}", when, index),
        Backing(frozenset((speaks,))),
        lambda _: said.source_class,
    )
    return [msgspec.structs.replace(one, spoken=True) for one in found]


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _label(made: Proposal) -> str:
    return ASKS if made.action == "ADD" and made.review_needed else made.action


def scores(found: Sequence[Judged]) -> dict[str, Any]:
    """Return how often a decider is right, as JSON has it.

    A figure is [count, of, share, lower, upper]: Wilson's interval of 95 %. `changes`: of what it would supersede, how
    much is right, target and all; `recall`: of what should be superseded, how much it does rightly. `reviews`,
    `reviews_found`: the same of the pairs that a person is asked about, since nothing decides between them.
    """
    changes = [one for one in found if one.is_change]
    wanted = [one for one in found if one.case.labelled.action in CHANGES]
    confusion = Counter((one.case.labelled.label, one.label or "discarded") for one in found)
    return {
        "cases": len(found),
        "right": _figure(found),
        "changes": _figure(changes),
        "precision": {action: _figure([one for one in found if one.label == action]) for action in CHANGES},
        "recall": _figure(wanted),
        "reviews": _figure([one for one in found if one.label == ASKS]),
        "reviews_found": _figure([one for one in found if one.case.labelled.label == ASKS]),
        "wrong_targets": sum(one.label == one.case.labelled.label and not one.is_right for one in found),
        "kinds": {
            kind: _figure([one for one in found if one.case.labelled.kind == kind])
            for kind in sorted({one.case.labelled.kind for one in found})
        },
        "confusion": [
            {"label": label, "decided": decided, "count": count}
            for (label, decided), count in sorted(confusion.items())
        ],
    }


def errors(found: Iterable[Judged]) -> list[dict[str, Any]]:
    """Return the cases that were decided wrongly: what should be done, what would be, and why."""
    return [
        {
            "id": one.case.labelled.id,
            "kind": one.case.labelled.kind,
            "label": one.case.labelled.label,
            "targets": list(one.case.labelled.targets),
            "decided": one.label or "discarded",
            "target": one.place,
            "reason": one.reason,
        }
        for one in found
        if not one.is_right
    ]


def _figure(found: Sequence[Judged]) -> list[float] | None:
    return wilson(sum(one.is_right for one in found), len(found)) if found else None
