"""Consolidation: when a round is due, what it makes of what waits, what stops it, and that it is done once."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import braid
from braid import Claim
from braid.errors import InvalidRequestError
from braid.jobs.consolidation import CONSOLIDATION, REASON
from braid.learn.consolidate import RULES
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import ASKED_BY, Content, Draft, EventBody, ExperienceBody, Provenance
from braid.outcomes import outcomes
from braid.store import Store
from braid.wal import failpoint
from tests.unit.learn.test_extraction import Died

HOUR: Final = 3600.0
MODEL: Final = "read:model@7"
UNSURE: Final = "confidence:unsure"


class Clock:
    """Time that passes when somebody looks, and may be set."""

    def __init__(self) -> None:
        self.at = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(folder: Path, clock: Clock) -> Store:
    one = braid.open(folder / "memory", guard_dir=folder / "guard", clock=clock, parser=None)
    one.followers.clear()  # nothing is read here but what a test says
    return one


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    braid.init(tmp_path / "memory", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with opened(tmp_path, clock) as one:
        yield one


def say(store: Store, text: str, session: str = "s", user: str = "maya", **more: Any) -> str:
    more = {"actor": "user", "name": user.title()} | more
    return str(store.append(text, user_id=user, session_id=session, **more))


def read(
    store: Store, turn: str, *claims: Claim, staged: Sequence[dict[str, Any]] = (), method: str = MODEL
) -> str:
    """Append what a reader found in a turn; return its id."""
    body = store.get(turn).body
    draft = Draft(
        kind="experience",
        type="inference",
        body=ExperienceBody(
            content=Content(
                text="; ".join(one.object for one in claims), structured={"staged": list(staged)}
            ),
            provenance=Provenance(actor="agent", method=method),
            symbolic=list(claims),
            scope=body.scope,
            occurred_at=body.occurred_at or store.get(turn).created_at,
        ),
        links=[("parent", turn)],
    )
    return str(store.session.append_drafts([draft])[0].id)


def likes(object: str, why: str = UNSURE, rel: str = "likes", **more: Any) -> dict[str, Any]:
    return {"subject": "Maya", "rel": rel, "object": object, "why": why, **more}


def waits(store: Store, text: str, *staged: dict[str, Any], **where: Any) -> tuple[str, str]:
    """Let a turn's reading wait; return the ids of both."""
    turn = say(store, text, **where)
    return turn, read(store, turn, staged=staged)


def twice(store: Store) -> tuple[str, str, str, str]:
    """Let the same wait that was said in two sessions."""
    return (
        *waits(store, "Tea, I guess.", likes("tea"), session="one"),
        *waits(store, "Some tea again.", likes("tea"), session="two"),
    )


def due(store: Store) -> bool:
    store.session.refresh()
    return bool(store.jobs(consumer=CONSOLIDATION, state="pending").jobs)


def work(store: Store) -> int:
    return store.work(consumers=[CONSOLIDATION]).done


def consolidate(store: Store, clock: Clock) -> dict[str, int]:
    """Let the hours pass and a round be done; return its counts."""
    clock.move(6 * HOUR)
    assert work(store) == 1
    return counts(store)


def counts(store: Store) -> dict[str, int]:
    last = outcomes(store.session).newest(CONSOLIDATION, RULES)
    assert last is not None
    return {name: n for name, n in last.outcome.spent.counts.items() if n}


def states(store: Store, **how: Any) -> list[str]:
    return [one.state for one in store.staging(state=None, **how)]


def known(store: Store) -> list[str]:
    rows: list[dict[str, Any]] = store.sql(
        "SELECT object FROM known_claims ORDER BY log_index, k"
    ).to_pylist()
    return [row["object"] for row in rows]


def reflect(store: Store) -> None:
    body = ExperienceBody(
        content=Content(text="That went well."), provenance=Provenance(actor="agent", method="reflect")
    )
    store.session.append_drafts([Draft(kind="experience", type="observation", body=body)])


# -- when it is due ---------------------------------------------------------------------------------


def test_a_round_is_due_when_the_hours_have_passed_and_something_was_said(store: Store, clock: Clock) -> None:
    clock.move(7 * HOUR)
    assert not due(store), "nothing was said"
    say(store, "Tea, I guess.")
    assert due(store)
    assert work(store) == 1
    assert not due(store)
    clock.move(7 * HOUR)
    assert not due(store), "nothing was said since"
    say(store, "Rain.")
    assert due(store)


def test_before_the_hours_have_passed_none_is_due(store: Store, clock: Clock) -> None:
    twice(store)
    clock.move(5 * HOUR)
    assert not due(store)
    assert work(store) == 0
    clock.move(HOUR)
    assert work(store) == 1
    twice(store)
    clock.move(5.9 * HOUR)
    assert not due(store)


def test_the_hours_are_a_signed_setting(store: Store, clock: Clock) -> None:
    store.change_setting("consolidation_hours", "2", reason="often")
    twice(store)
    clock.move(1.9 * HOUR)
    assert not due(store)
    clock.move(0.2 * HOUR)
    assert due(store)
    with pytest.raises(InvalidRequestError):
        store.change_setting("consolidation_hours", "0", reason="always")


def test_a_reflection_starts_a_round_where_there_is_something_to_review(store: Store) -> None:
    say(store, "Tea, I guess.")
    reflect(store)
    assert not due(store), "nothing is claimed or waits"
    twice(store)
    assert due(store), "the reflection stands behind the last round"
    assert work(store) == 1
    assert not due(store)
    reflect(store)
    assert not due(store), "nothing was learnt since"


def test_what_weighs_enough_starts_a_round(store: Store) -> None:
    twice(store)
    for number in range(15):
        store.append(f"It matters {number}.", user_id="maya", structured={"importance_hint": 1.0})
    assert not due(store), "the projection has not come so far"
    store.work(consumers=["projection"])
    assert due(store)
    assert work(store) == 1
    store.work(consumers=["projection"])
    assert not due(store)


def test_a_clock_that_was_ahead_neither_stops_it_nor_runs_it_in_a_loop(store: Store, clock: Clock) -> None:
    twice(store)
    clock.move(8760 * HOUR)
    assert work(store) == 1
    say(store, "Rain.")
    clock.move(-8760 * HOUR)
    assert not due(store), "the log takes nothing yet"
    store.writer.accept_clock("it was a year ahead")
    assert due(store)
    assert work(store) == 1
    for _ in range(3):
        say(store, "More rain.")
        assert not due(store)
        clock.move(HOUR)
    clock.move(3 * HOUR)
    assert work(store) == 1
    assert not due(store)


def test_a_step_back_of_a_minute_is_none(store: Store, clock: Clock) -> None:
    twice(store)
    consolidate(store, clock)
    clock.move(-60)
    say(store, "Rain.")
    assert not due(store)


def test_a_process_that_starts_again_comes_to_the_same(tmp_path: Path, store: Store, clock: Clock) -> None:
    twice(store)
    assert not due(store)
    reflect(store)
    store.close()
    with opened(tmp_path, clock) as again:
        assert due(again)
        assert work(again) == 1
    with opened(tmp_path, clock) as again:
        assert not due(again)


# -- what it does -----------------------------------------------------------------------------------


def test_what_is_said_again_in_other_words_is_accepted_with_both_as_evidence(
    store: Store, clock: Clock
) -> None:
    one, first, other, second = twice(store)
    assert consolidate(store, clock) == {"accepted": 2}
    every = store.staging(state=None)
    assert [(made.id, made.state) for made in every] == [(first, "accepted"), (second, "accepted")]
    for made, turn, own, borne_out_by in zip(
        every, (one, other), (first, second), (second, first), strict=True
    ):
        record = store.get(str(made.decided))
        links = [(link.role, link.id) for link in record.links]
        assert links == [("parent", turn), ("evidence", own), ("evidence", borne_out_by)]
        assert record.members[ASKED_BY] == f"autonomous {RULES}"
        assert store.why_known(record.id)[0].staged == own
    assert known(store) == ["tea", "tea"]
    assert store.stance("Does Maya like tea?", user_id="maya", append=False).claim is not None
    assert store.verify(deep=True).findings == []
    consolidate_again = consolidate_after(store, clock)
    assert consolidate_again == {}


def consolidate_after(store: Store, clock: Clock) -> dict[str, int]:
    say(store, "Rain.")
    return consolidate(store, clock)


def test_a_claim_that_is_known_bears_it_out(store: Store, clock: Clock) -> None:
    _, first = waits(store, "Tea, I guess.", likes("tea", "entailment:unparsed"), likes("gin"))
    turn = say(store, "I like tea.")
    clear = read(store, turn, Claim(subject="Maya", rel="likes", object="tea", quote="tea", at=7))
    assert consolidate(store, clock) == {"accepted": 1, "left": 1}
    tea, gin = store.staging(state=None)
    assert (tea.state, gin.state) == ("accepted", "waiting")
    assert [link.id for link in store.get(str(tea.decided)).links][1:] == [first, clear]


STAYS: Final[dict[str, Callable[[Store], object]]] = {
    "said once": lambda store: waits(store, "Tea, I guess.", likes("tea")),
    "the same message twice": lambda store: [
        waits(store, "Tea, I guess.", likes("tea")) for _ in range(2)
    ],
    "a turn that was copied into another session": lambda store: [
        waits(store, "Tea, I guess.", likes("tea"), session=n, occurred_at=datetime(2025, 5, 1, tzinfo=UTC))
        for n in "ab"
    ],
    "one turn read twice": lambda store: [
        read(store, turn, staged=[likes("tea")]) for turn in [say(store, "Tea, I guess.")] for _ in range(2)
    ],
    "another user": lambda store: [
        waits(store, f"Tea, says {user}.", likes("tea"), user=user) for user in ("maya", "jonas")
    ],
    "another agent's memory": lambda store: [
        waits(store, f"Tea {agent}.", likes("tea"), agent_id=agent) for agent in ("a", "b")
    ],
    "nobody's": lambda store: [
        waits(store, "Tea, I guess.", likes("tea")),
        read(store, str(store.append("Maya: tea", actor="user")), staged=[likes("tea")]),
    ],
    "a right that is claimed": lambda store: [
        waits(store, f"Admin {n}.", likes("admin", "safety:privilege", "is"), session=n) for n in "ab"
    ],
    "what no parse has looked at, twice": lambda store: [
        waits(store, f"Tea {n}.", likes("tea", "entailment:unparsed")) for n in "ab"
    ],
    "an agent that repeats itself": lambda store: [
        waits(store, f"Tea {n}.", likes("tea"), actor="agent", name=None, session=n) for n in "ab"
    ],
    "letters": lambda store: [
        waits(store, f"Tea {n}.", likes("tea"), actor="tool(mail)", session=n, name=None) for n in "ab"
    ],
    "the other way round": lambda store: [
        waits(store, f"Tea {no}.", likes("tea", polarity=no)) for no in (True, False)
    ],
    "of health": lambda store: [
        read(store, say(store, f"Ill {n}."), staged=[likes("asthma", rel="has")], method=f"{MODEL}+health")
        for n in "ab"
    ],
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("how", STAYS)
def test_what_is_not_borne_out_by_words_of_its_own_stays(store: Store, clock: Clock, how: str) -> None:
    STAYS[how](store)
    assert {"accepted", "rejected"}.isdisjoint(consolidate(store, clock))
    assert set(states(store)) == {"waiting"}
    assert known(store) == []


def test_what_a_stated_claim_contradicts_is_rejected_with_a_reason(store: Store, clock: Clock) -> None:
    _, guess = waits(store, "Lisbon is fine.", likes("Lisbon", "consistency:outranked", "lives_in"))
    turn = say(store, "I live in Porto.")
    stated = read(
        store, turn, Claim(subject="Maya", rel="lives_in", object="Porto", quote="live in Porto", at=2)
    )
    assert consolidate(store, clock) == {"rejected": 1}
    (one,) = store.staging(state=None)
    record = store.get(str(one.decided))
    assert isinstance(record.body, EventBody)
    assert (one.state, record.body.reason) == ("rejected", REASON)
    assert [(link.role, link.id) for link in record.links] == [("evidence", guess), ("evidence", stated)]
    assert known(store) == ["Porto"]


NO_CONTRADICTION: Final[dict[str, dict[str, Any]]] = {
    "another user says so": {"user": "jonas"},
    "it is only guessed": {"source_type": "inferred"},
    "it was said before": {"occurred_at": datetime(2024, 1, 1, tzinfo=UTC)},
    "a letter says so": {"actor": "tool(mail)", "name": None},
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("how", NO_CONTRADICTION)
def test_what_has_no_say_over_it_rejects_nothing(store: Store, clock: Clock, how: str) -> None:
    more = dict(NO_CONTRADICTION[how])
    source = more.pop("source_type", "explicit")
    waits(store, "Lisbon is fine.", likes("Lisbon", rel="lives_in"))
    turn = say(store, "I live in Porto.", **more)
    read(store, turn, Claim(subject="Maya", rel="lives_in", object="Porto", source_type=source))
    assert consolidate(store, clock) == {"left": 1}


def test_what_is_said_again_and_contradicted_is_left_for_a_person(store: Store, clock: Clock) -> None:
    for session in ("one", "two"):
        waits(store, f"Lisbon is fine, {session}.", likes("Lisbon", rel="lives_in"), session=session)
    read(store, say(store, "I live in Porto."), Claim(subject="Maya", rel="lives_in", object="Porto"))
    assert consolidate(store, clock) == {"left": 2}


PEOPLE: Final[dict[str, Callable[[Store, str, str], object]]] = {
    "accepted": lambda store, turn, reading: store.accept_staged(reading),
    "rejected": lambda store, turn, reading: store.reject_staged(reading, reason="a joke"),
    "accepted and forgotten": lambda store, turn, reading: store.forget(str(store.accept_staged(reading).id)),
    "rejected and taken back": lambda store, turn, reading: store.forget(
        str(store.reject_staged(reading).id)
    ),
    "accepted and erased": lambda store, turn, reading: store.erase(str(store.accept_staged(reading).id)),
    "locked": lambda store, turn, reading: store.modify(turn, lock_days=30, reason="hers"),
    "pinned": lambda store, turn, reading: store.modify(turn, pinned=True, reason="hers"),
    "forgotten": lambda store, turn, reading: store.forget(turn),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("how", PEOPLE)
def test_what_a_person_decided_or_holds_is_not_touched(store: Store, clock: Clock, how: str) -> None:
    turn, first, _, _ = twice(store)
    PEOPLE[how](store, turn, first)
    before = [one for one in store.staging(state=None) if one.id == first]
    consolidate(store, clock)
    assert [one for one in store.staging(state=None) if one.id == first] == before


def test_jobs_past_their_window_are_let_go_of_and_what_is_to_be_erased_is_counted(
    store: Store, clock: Clock
) -> None:
    twice(store)
    consolidate(store, clock)
    store.forget(say(store, "Not this."))
    clock.move(20 * 24 * HOUR)
    assert work(store) == 1
    assert counts(store) == {"purged": 1}
    say(store, "Rain.")
    clock.move(11 * 24 * HOUR)
    assert work(store) == 1
    assert counts(store) == {"overdue": 1}
    assert len(store.jobs(consumer=CONSOLIDATION, state="done").jobs) == 2
    assert [one.what for one in store.retention_due()] == ["forgotten"], "an operator's sweep erases it"


# -- what stops it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["mutations_frozen", "autonomous_frozen"])
def test_a_freeze_stops_it_and_it_goes_on_after(store: Store, clock: Clock, key: str) -> None:
    twice(store)
    clock.move(6 * HOUR)
    store.change_setting(key, "true", reason="stop")
    assert not due(store)
    assert work(store) == 0
    store.change_setting(key, "false", reason="go on")
    assert work(store) == 1
    assert counts(store) == {"accepted": 2}


def test_a_frozen_store_consolidates_nothing(store: Store, clock: Clock) -> None:
    twice(store)
    clock.move(6 * HOUR)
    store.freeze(reason="an audit")
    assert work(store) == 0
    store.unfreeze(reason="done")
    assert work(store) == 1


def test_a_freeze_that_comes_meanwhile_costs_no_attempt(store: Store, clock: Clock) -> None:
    twice(store)
    clock.move(6 * HOUR)

    def freeze(name: str) -> None:
        if name == "work.ran":
            failpoint.arm(None)
            store.change_setting("mutations_frozen", "true", reason="stop")

    failpoint.arm(freeze)
    try:
        worked = store.work(consumers=[CONSOLIDATION])
    finally:
        failpoint.arm(None)
    assert (worked.done, worked.released, set(states(store))) == (0, 1, {"waiting"})
    store.change_setting("mutations_frozen", "false", reason="go on")
    clock.move(HOUR)
    store.work(consumers=[CONSOLIDATION])
    assert states(store) == ["accepted", "accepted"]


# -- once -------------------------------------------------------------------------------------------


def test_what_is_decided_or_gone_meanwhile_is_not_decided_again(store: Store, clock: Clock) -> None:
    _, first, other, _ = twice(store)
    clock.move(6 * HOUR)

    def decide(name: str) -> None:
        if name == "work.ran":
            failpoint.arm(None)
            store.reject_staged(first, reason="a joke")
            store.forget(other)

    failpoint.arm(decide)
    try:
        assert work(store) == 1
    finally:
        failpoint.arm(None)
    assert counts(store) == {"left": 2}
    assert states(store) == ["rejected"]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "point", ["work.leased", "work.ran", "work.append", "work.append.done", "work.settled"]
)
def test_a_worker_that_dies_anywhere_has_one_effect(
    tmp_path: Path, store: Store, clock: Clock, point: str
) -> None:
    twice(store)
    clock.move(6 * HOUR)

    def die(name: str) -> None:
        if name == point:
            raise Died

    failpoint.arm(die)
    try:
        with pytest.raises(Died):
            work(store)
    finally:
        failpoint.arm(None)
    store.close()
    clock.move(120)
    with opened(tmp_path, clock) as again:
        work(again)
        assert states(again) == ["accepted", "accepted"]
        assert known(again) == ["tea", "tea"]
        ended = [one for one in outcomes(again.session).every() if one.outcome.consumer == CONSOLIDATION]
        assert len(ended) == 1
        assert not due(again)


def test_a_dead_round_can_be_done_again(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    twice(store)
    clock.move(6 * HOUR)
    with monkeypatch.context() as patched:
        patched.setattr("braid.jobs.consolidation.reviewed", lambda _: 1 / 0)
        worked = store.work(consumers=[CONSOLIDATION], until_idle=True, wait=clock.move)
    assert worked.dead == 1
    assert not due(store)
    (dead,) = store.jobs(consumer=CONSOLIDATION, state="dead").jobs
    store.retry_job(dead.id, reason="mended")
    assert work(store) == 1
    assert states(store) == ["accepted", "accepted"]


def test_more_than_a_round_decides_is_left_to_the_next_at_once(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("braid.jobs.consolidation.MOST", 2)
    for name in ("tea", "gin", "rye"):
        for session in ("one", "two"):
            waits(store, f"{name}, I guess.", likes(name), session=session)
    clock.move(6 * HOUR)
    assert work(store) == 4, "the last of them finds nothing"
    assert states(store) == ["accepted"] * 6
    assert not due(store)


# -- undone, erased, made again ---------------------------------------------------------------------


def test_forgetting_takes_the_acceptance_back_for_good(store: Store, clock: Clock) -> None:
    _, first, _, _ = twice(store)
    consolidate(store, clock)
    accepted = next(str(one.decided) for one in store.staging(state=None) if one.id == first)
    store.forget(accepted)
    assert known(store) == ["tea"]
    consolidate_after(store, clock)
    assert known(store) == ["tea"]
    with pytest.raises(ForgottenError):
        store.accept_staged(first)


def test_an_erased_turn_takes_what_rests_on_it_alone(store: Store, clock: Clock) -> None:
    one, first, other, second = twice(store)
    consolidate(store, clock)
    decided = {made.id: str(made.decided) for made in store.staging(state=None)}
    store.erase(one)
    for gone in (one, first, decided[first]):
        with pytest.raises(ErasedError):
            store.get(gone)
    assert [made.id for made in store.staging(state="accepted")] == [second]
    assert known(store) == ["tea"]
    consolidate_after(store, clock)
    assert known(store) == ["tea"]
    store.erase(other)
    assert known(store) == []
    assert store.staging(state=None) == ()
    assert store.verify(deep=True).findings == []


def test_a_replay_gives_the_same(tmp_path: Path, store: Store, clock: Clock) -> None:
    twice(store)
    waits(store, "Lisbon is fine.", likes("Lisbon", rel="lives_in"))
    read(store, say(store, "I live in Porto."), Claim(subject="Maya", rel="lives_in", object="Porto"))
    consolidate(store, clock)
    before = store.staging(state=None), known(store)
    store.replay(from_scratch=True)
    assert (store.staging(state=None), known(store)) == before
    store.close()
    with opened(tmp_path, clock) as again:
        assert (again.staging(state=None), known(again)) == before
        assert not due(again)


def test_it_can_be_seen(store: Store, clock: Clock) -> None:
    twice(store)
    clock.move(6 * HOUR)
    (job,) = store.jobs(consumer=CONSOLIDATION).jobs
    assert (job.consumer, job.version, job.state) == (CONSOLIDATION, RULES, "pending")
    assert work(store) == 1
    (outcome,) = store.job(job.id).outcomes
    assert outcome.counts == {"accepted": 2, "rejected": 0, "left": 0, "purged": 0, "overdue": 0}
    assert (store.status().jobs or {}).get("done") == 1
