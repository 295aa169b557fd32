"""How the users for whom decisions are carried out fare, beside those for whom they are not."""

from collections.abc import Sequence
from typing import Literal

from braid.claims.applied import Decision
from braid.claims.decided import decisions, is_contradicted, rounds
from braid.claims.decision_operations import CanaryArm, CanaryReport
from braid.claims.demotion import breach, percentile
from braid.outcomes import Signed
from braid.session import Session
from braid.settings import settings


def canaried(session: Session) -> CanaryReport:
    """See `claims.decision_operations.canary_report`."""
    held = rounds(session)
    decided = list(decisions(session, held))
    broken = breach(session)
    now = settings(session)
    counts = [one.outcome.spent.counts for one in held]
    return CanaryReport(
        phase=now.phase,
        share=now.canary_share,
        rounds=len(held),
        stale=sum(each.get("stale", 0) for each in counts),
        kept=sum(each.get("kept", 0) for each in counts),
        arms=(_arm(session, "canary", decided, held), _arm(session, "control", decided, held)),
        breach=None if broken is None else broken.why,
    )


def _arm(
    session: Session, name: Literal["canary", "control"], decided: Sequence[Decision], held: Sequence[Signed]
) -> CanaryArm:
    own = [one for one in decided if one.applied == (name == "canary")]
    times = sorted(one.outcome.spent.ms[name] for one in held if name in one.outcome.spent.ms)
    return CanaryArm(
        arm=name,
        decided=len(own),
        applied=len(own) if name == "canary" else 0,
        contradicted=sum(is_contradicted(session.reader, one) for one in own),
        ms_p50=percentile(times, 0.5),
        ms_p95=percentile(times, 0.95),
    )
