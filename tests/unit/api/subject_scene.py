"""Two people and what was made of what they said: the scene of the subject exports, and of their golden fixture."""

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import braid
from braid.ledger.record.record import (
    AffectBody,
    Candidate,
    Claim,
    Decision,
    Draft,
    EmbeddingBody,
    Signature,
    StanceBody,
)

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
HOSTILE = '</p><script>alert(1)</script> & "quotes" \x1b[31m \u202egnp'
SECRET = "xylophone-4711-quetzal"
Ids = dict[str, str]


def build(folder: Path) -> tuple[braid.Store, Ids]:
    """Make the store in a new folder; its clock goes by itself."""
    ticks = count()
    store = braid.open(
        folder / "memory", guard_dir=folder / "guard", clock=lambda: NOW + timedelta(minutes=next(ticks))
    )
    ids: Ids = {}
    picture = store.attach(
        b"\x89PNG not really", media_type="image/png", name="../../door.png", caption="the door"
    )
    page = store.attach(b"<script>alert(1)</script>", media_type="text/html", name="page.html")
    claim = Claim(subject="maya", rel="lives_in", object="Porto")
    ids["own"] = store.append(
        "Maya moved to Porto.", user_id="maya", session_id="s1", name="Maya", claims=[claim], confidence=0.9
    )
    ids["hostile"] = store.append(HOSTILE, user_id="maya", session_id="s2", media=[picture, page])
    ids["forgotten"] = store.append("Maya dislikes rain.", user_id="maya", session_id="s2")
    ids["jonas"] = store.append(f"Jonas said {SECRET}.", user_id="jonas", name="Jonas")
    ids["derived"] = store.append("Somebody lives in Portugal.", type="inference", parents=[ids["own"]])
    ids["shared"] = store.append(
        "They travel together.", type="inference", parents=[ids["derived"], ids["jonas"]]
    )
    ids["his"] = store.append(
        f"Jonas knows where she lives, {SECRET}.", type="inference", parents=[ids["own"]], user_id="jonas"
    )
    ids["his heir"] = store.append(f"More of Jonas, {SECRET}.", type="inference", parents=[ids["his"]])
    stance = StanceBody(
        question="Where does Maya live?",
        candidates=[Candidate(claim="Porto", p=0.9)],
        decision=Decision(claim="Porto", residual_uncertainty=0.1),
    )
    ids["stance"] = store.session.append_drafts(
        [Draft(kind="stance", body=stance, links=[("candidate", ids["own"]), ("support", ids["derived"])])]
    )[0].id
    mood = AffectBody(actor="Maya", stage="after", valence=0.4, arousal=0.3, dominance=0.2)
    ids["affect"] = store.session.append_drafts(
        [Draft(kind="affect", body=mood, links=[("experience", ids["own"])])]
    )[0].id
    batch = EmbeddingBody(signatures=[Signature(role="text", model="m")])
    ids["embedding"] = store.session.append_drafts(
        [Draft(kind="embedding", body=batch, links=[("experience", ids["own"])])]
    )[0].id
    ids["new"] = store.correct(ids["own"], "Maya moved to Lisbon.", reason="misheard")
    ids["gone"] = store.append("It was derived, and erased.", type="inference", parents=[ids["own"]])
    ids["unrelated"] = store.append(f"Nothing to do with anybody: {SECRET}.")
    store.forget(ids["forgotten"], reason="she asked")
    store.forget(ids["hostile"], ids["jonas"], reason=f"for both, {SECRET}")
    store.recover(ids["hostile"])
    store.erase(ids["gone"], reason="wrong")
    return store, ids
