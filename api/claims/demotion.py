"""When decisions stop by themselves: the phase goes back to `add_only` by a signed notice that names the figures.

Only the phase can be lowered so, and nothing here raises it.
"""

import logging
from itertools import islice, takewhile
from math import ceil
from typing import Final, Literal

import msgspec

from braid.claims.decided import decisions, is_contradicted, rounds
from braid.event_log import note
from braid.ledger.errors import KeyRefusedError
from braid.notices import put_notice
from braid.outcomes import Signed
from braid.session import Session
from braid.settings import EVENT, settings

LATEST: Final = 20
"""Of so many decisions that were carried out, or rounds, the newest are looked at."""
MOST_UNDONE: Final = 1
"""So many of them a person may undo."""
MOST_FAILED: Final = 4
"""So many rounds may fail one behind the other: dead, or all that they would change was stale."""
MOST_MS: Final = 2_000.0
"""How long the 95th percentile of the rounds may take, in milliseconds."""
AGAIN_S: Final = 300.0
"""So long decisions wait for an operator's key where the phase must be lowered and none is here to sign it."""
ALARM: Final = "alarm"


class Breach(msgspec.Struct, frozen=True):
    """Why decisions stop: a name, and in words with the figures."""

    name: str
    why: str


def breach(session: Session) -> Breach | None:
    """Return why decisions must stop, by what was signed since the phase was set; None where nothing says so."""
    held = rounds(session)
    latest = list(islice((one for one in decisions(session, held) if one.applied), LATEST))
    undone = sum(is_contradicted(session.reader, one) for one in latest)
    if undone > MOST_UNDONE:
        return Breach("decisions_undone", f"people have undone {undone} of the last {len(latest)} decisions")
    failed = sum(1 for _ in takewhile(_failed, held))
    if failed > MOST_FAILED:
        return Breach("decisions_failed", f"the last {failed} rounds of decisions have failed")
    times = sorted(sum(one.outcome.spent.ms.values()) for one in held[:LATEST])
    if len(times) == LATEST and (slow := percentile(times, 0.95)) > MOST_MS:
        return Breach("decisions_slow", f"deciding takes {slow:.0f} ms (p95 of {LATEST} rounds)")
    return None


def _failed(one: Signed) -> bool:
    counts = one.outcome.spent.counts
    return one.outcome.ended == "dead" or (counts.get("stale", 0) > 0 and not counts.get("applied", 0))


def percentile(ordered: list[float], share: float) -> float:
    """Return the value that so great a share of some, given in order, is not above; 0 of none."""
    return ordered[ceil(share * len(ordered)) - 1] if ordered else 0.0


def lower_if_breached(session: Session) -> Literal["stands", "lowered", "unsigned"]:
    """Set the phase back to `add_only` where figures are broken, and say what became of it; under the writer's lock.

    `stands`: nothing says that decisions must stop. `unsigned`: they must, and no operator's key is here to sign it:
    the log of events says so, nothing may be carried out, and the next round tries again.
    """
    if settings(session).phase != "full" or (found := breach(session)) is None:
        return "stands"
    try:
        put_notice(session, EVENT, {"key": "phase", "value": "add_only"}, found.why, "a demotion")
    except KeyRefusedError:
        note("demotion_unsigned", level=logging.ERROR, outcome=found.name)
        return "unsigned"
    put_notice(session, ALARM, {"what": found.name}, found.why, "an alarm")
    note("alarm", level=logging.WARNING, outcome=found.name)
    session.refresh()
    return "lowered"
