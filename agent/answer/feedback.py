"""What retrieval shall learn from an answer: a step of salience for each record that helped or stood in the way. Pure.

Only an answer that was given teaches, as much as it is more likely right than wrong: what was left unsaid, or only
pointed at, says nothing of what was found. Tone has no part in it: a lesson is a function of what was cited, what was
passed over, and how sure the answer was.
"""

from collections.abc import Mapping
from typing import Final

from braid.agent.answer.reflect import Reflection
from braid.agent.parts import Composed

HINDRANCE: Final = 0.5
"""What passing a record over weighs, where citing one weighs 1: it did not serve this question, but may the next."""


def lesson(reflection: Reflection, composed: Composed) -> Mapping[str, float]:
    """Return a step in [-1, 1] by record id; empty where there is nothing to learn."""
    gain = 2 * composed.p - 1
    if composed.abstained or gain <= 0:
        return {}
    helped = dict.fromkeys(reflection.helped, gain)
    hindered = dict.fromkeys(reflection.passed_over, -HINDRANCE * gain)
    return {id: round(step, 4) for id, step in (helped | hindered).items()}
