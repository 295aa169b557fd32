"""Hits seen through a lens: those that it keeps, in its order, each with the weight that it gives. Pure."""

from collections.abc import Callable, Sequence

import msgspec

from braid.lenses.lens import Lens
from braid.lenses.view import Ground, folded
from braid.recall.hits import Hit


def through(lens: Lens) -> Callable[[Sequence[Hit]], list[Hit]]:
    """Return what passes hits through a lens, with its default parameters. It raises LensFailedError."""

    def seen(hits: Sequence[Hit]) -> list[Hit]:
        taken = sorted((hit for hit in hits if lens.takes(hit.record)), key=lambda hit: hit.index)
        form, _ = folded(lens, Ground(), [hit.record for hit in taken], lens.params)
        return [_weighed(taken[place], form.weights[place]) for place in lens.ranking(form)]

    return seen


def _weighed(hit: Hit, weight: float) -> Hit:
    return msgspec.structs.replace(hit, signals={**hit.signals, "lens": weight})
