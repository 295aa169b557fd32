"""The shift of tone from what a view was made of to what it says. A lens knows nothing of it: it is read above.

Words and marks alone are read, without an embedder, so that whoever holds the log can read them again.
"""

from collections.abc import Callable, Sequence
from typing import Final, cast

import msgspec

from braid.affect.blend import delta
from braid.affect.model import weights_name
from braid.affect.vad import read
from braid.ledger.errors import NotRederivableError
from braid.ledger.record.envelope import Link
from braid.ledger.record.record import AffectDelta, Draft, Record, Vad, ViewBody
from braid.lenses.view import rederive as view_again

Read = Callable[[int], Record]
MOST: Final = 256
"""Of how many of the records that a view applies to the tone is read, the newest; and of how many of its lines."""
NEAR: Final = 1e-3
"""How far two machines may be apart in one number: sums of floats are not the same everywhere."""


def shifted(draft: Draft, applied: Sequence[Link], at: Read) -> Draft:
    """Return a view's draft with the shift of tone from the records that it applies to; without words there is none."""
    body = cast("ViewBody", draft.body)
    before = [record.text for link in applied[-MOST:] if (record := at(link.index)).kind == "experience"]
    after = body.content.text.splitlines() if body.content is not None else []
    found = delta(_tones(before), _tones(after[:MOST]))
    if found is None:
        return draft
    told = msgspec.structs.replace(found, by=weights_name())
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(body, affect_delta=told))


def _tones(texts: Sequence[str]) -> list[Vad]:
    return [one.vad for one in read([text for text in texts if text.strip()])]


def rederive(record: Record, at: Read) -> Draft:
    """Return a view as its lens and its tone make it again. Raises NotRederivableError, and what reading raises."""
    draft = view_again(record, at)
    told = cast("ViewBody", record.body).affect_delta
    if told is None:
        return draft
    if told.by != weights_name():
        raise NotRederivableError(f"its tone was read by {told.by}, which isn't installed")
    again = shifted(draft, record.targets("applied_to"), at)
    body = cast("ViewBody", again.body)
    if body.affect_delta is not None and _are_near(body.affect_delta, told):
        return msgspec.structs.replace(again, body=msgspec.structs.replace(body, affect_delta=told))
    return again


def _are_near(one: AffectDelta, other: AffectDelta) -> bool:
    pairs = ((one.before, other.before), (one.after, other.after))
    numbers = [(a, b) for x, y in pairs for a, b in ((x.v, y.v), (x.a, y.a), (x.d, y.d))]
    return all(abs(a - b) <= NEAR for a, b in numbers)
