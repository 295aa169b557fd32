"""What the tasks came to when they were last looked at: a verdict for each, and how far the present differs. Pure.

Of the held part only sums are kept: who reads the baseline, or what is printed of it, learns nothing to tune against.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from braid.tools.gold.judge import Judged
from braid.tools.gold.scores import COMPARED, by_class, scores
from braid.tools.gold.tasks import PARTS

NAME: Final = "baseline.json"
BAND: Final = 0.03
"""How far a share may fall (the calibration error: rise) over a part: of a hundred tasks, three."""


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was measured: the verdicts of the development part by task, the right ones of the held part by class, and
    the compared measures by part."""

    verdicts: Mapping[str, str]
    held: Mapping[str, int]
    measures: Mapping[str, Mapping[str, float]]


class Difference(msgspec.Struct, frozen=True):
    """How answers differ from a baseline. `fell`: part, measure, before and now of what left the band."""

    lost: Sequence[tuple[str, str, str]]
    """Tasks that were right and aren't: id, before, now."""
    gained: Sequence[tuple[str, str, str]]
    other: Sequence[tuple[str, str, str]]
    held: Sequence[tuple[str, int, int]]
    """Classes of the held part with another number of right answers."""
    fell: Sequence[tuple[str, str, float, float]]
    unknown: Sequence[str]
    """Tasks that the baseline doesn't have."""


def baseline_of(judged: Sequence[Judged]) -> Baseline:
    """Return what is to be kept of all tasks; raise ValueError where a part is missing."""
    parts = _parts(judged)
    if set(parts) != set(PARTS):
        raise ValueError("a baseline holds all tasks: run them without --part and --class")
    return Baseline(
        verdicts={one.id: one.verdict for one in parts["dev"]},
        held={kind: found.right for kind, found in by_class(parts["held"]).items() if kind != "all"},
        measures={part: _measures(some) for part, some in parts.items()},
    )


def encode(baseline: Baseline) -> bytes:
    """Return the file: one line a verdict, so that a change of it reads as one."""
    return msgspec.json.format(msgspec.json.encode(baseline, order="sorted"), indent=1) + b"\n"


def decode(raw: bytes) -> Baseline:
    """Return what a file holds; raise ValueError for one that is no baseline."""
    try:
        return msgspec.json.decode(raw, type=Baseline)
    except msgspec.DecodeError as error:
        raise ValueError(f"it is no baseline of gold tasks: {error}") from None


def compare(baseline: Baseline, judged: Sequence[Judged], *, whole: Sequence[str]) -> Difference:
    """Return how answers differ. `whole`: the parts of which every task was asked; only these are held to the band."""
    parts = _parts(judged)
    changed = [
        (one.id, baseline.verdicts[one.id], one.verdict)
        for one in parts.get("dev", [])
        if baseline.verdicts.get(one.id, one.verdict) != one.verdict
    ]
    held = by_class(parts["held"]) if "held" in parts and "held" in whole else {}
    return Difference(
        lost=[each for each in changed if each[1] == "right"],
        gained=[each for each in changed if each[2] == "right"],
        other=[each for each in changed if "right" not in each[1:]],
        held=[
            (kind, baseline.held.get(kind, 0), found.right)
            for kind, found in held.items()
            if kind != "all" and baseline.held.get(kind, 0) != found.right
        ],
        fell=[
            each for part in whole if part in parts for each in _fell(part, baseline, _measures(parts[part]))
        ],
        unknown=[one.id for one in parts.get("dev", []) if one.id not in baseline.verdicts],
    )


def _parts(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    found = {part: [one for one in judged if one.part == part] for part in PARTS}
    return {part: some for part, some in found.items() if some}


def _measures(judged: Sequence[Judged]) -> dict[str, float]:
    found = msgspec.structs.asdict(scores(judged))
    return {name: found[name] for name in COMPARED if found[name] is not None}


def _fell(part: str, baseline: Baseline, now: Mapping[str, float]) -> list[tuple[str, str, float, float]]:
    before = baseline.measures.get(part, {})
    return [
        (part, name, before[name], now.get(name, 0.0))
        for name in COMPARED
        if name in before
        and (now.get(name, 0.0) - before[name]) * (-1 if name == "ece" else 1) < -BAND - 1e-9
    ]


def told(found: Difference) -> list[str]:
    """Return a difference in lines, as a diff: what was lost with -, what was gained with +."""
    return [
        *(f"- {id}: {before} → {now}" for id, before, now in found.lost),
        *(f"+ {id}: {before} → {now}" for id, before, now in found.gained),
        *(f"~ {id}: {before} → {now}" for id, before, now in found.other),
        *(f"? {id}: not in the baseline" for id in found.unknown),
        *(
            f"{'+' if now > before else '-'} held, {kind}: {before} → {now} right"
            for kind, before, now in found.held
        ),
        *(
            f"! {part}: {name} {before:.3f} → {now:.3f}, beyond the band of {BAND:g}"
            for part, name, before, now in found.fell
        ),
    ]
