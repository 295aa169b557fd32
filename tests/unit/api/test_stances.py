"""`store.stance` and its kin: appended once, superseding, within a scope, as of then, and nothing half-written."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid import Claim
from braid.admin.rederivation import rederive
from braid.ledger.errors import InvalidRecordError, ReadOnlyError, UnknownRecordError
from braid.ledger.record.record import (
    Asks,
    Confidence,
    Content,
    Decision,
    Draft,
    EventBody,
    ExperienceBody,
    Provenance,
    SourceType,
    StanceBody,
)
from braid.stance.reconcile import VERSION, reconcile
from braid.store import Store
from braid.views.errors import ViewBusyError

HOME = "Where does Jonas live?"


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def lives(store: Store, where: str, when: str, **more: Any) -> str:
    claim = Claim(
        subject="Jonas", rel="lives_in", object=where, source_type=more.pop("source_type", "explicit")
    )
    more.setdefault("user_id", "jonas")
    return str(store.append(f"I live in {where}.", claims=[claim], occurred_at=day(when), **more))


def test_deciding_appends_a_stance_and_its_reconciliation_in_one_transaction(store: Store) -> None:
    leeds, edinburgh = lives(store, "Leeds", "2025-03-24"), lives(store, "Edinburgh", "2025-05-17")
    size = len(store)
    found = store.stance(HOME, user_id="jonas")
    assert len(store) == size + 2
    stance, above = store.read(size)
    assert (stance.kind, above.type, above.text) == ("stance", "reconciliation", "Jonas lives in Edinburgh")
    assert stance.envelope.tx[0] == above.envelope.tx[0]
    assert [(link.role, link.id) for link in stance.links] == [
        ("candidate", leeds), ("candidate", edinburgh), ("support", edinburgh),
    ]  # fmt: skip
    assert [(link.role, link.id) for link in above.links] == [("parent", edinburgh), ("evidence", found.id)]
    body = stance.body
    assert isinstance(body, StanceBody)
    assert [(one.candidate, one.held, one.out) for one in body.justifications] == [
        (0, False, [1]),
        (1, True, []),
    ]
    assert store.why(above.id).id == found.id


def test_it_stands_until_something_that_was_weighed_has_changed(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24")
    first = store.stance(HOME, user_id="jonas")
    size = len(store)
    again = store.stance("  where does jonas live", user_id="jonas")
    assert (again.id, again.is_new, len(store)) == (first.id, False, size)
    store.append("Something else.", user_id="jonas")
    assert store.stance(HOME, user_id="jonas").id == first.id
    lives(store, "Edinburgh", "2025-05-17")
    second = store.stance(HOME, user_id="jonas")
    assert (second.is_new, second.supersedes) == (True, first.id)
    assert [one.superseded_by for one in store.stances(HOME)] == [second.id, None]
    assert store.stance(HOME, user_id="jonas", at=day("2025-04-01")).supersedes is None  # another question
    assert store.stances("What is this?") == ()


def test_what_was_held_before_may_be_held_again(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24")
    second = lives(store, "Edinburgh", "2025-05-17")
    seen = [store.stance(HOME).id]
    store.forget(second)
    seen.append(store.stance(HOME).id)
    store.recover(second)
    seen.append(store.stance(HOME).id)
    assert len(set(seen)) == 3
    assert [one.claim for one in store.stances(HOME)] == [
        "Jonas lives in Edinburgh", "Jonas lives in Leeds", "Jonas lives in Edinburgh",
    ]  # fmt: skip


def test_nothing_is_appended_when_nothing_is_known_or_nothing_should_be(store: Store) -> None:
    size = len(store)
    assert store.stance(HOME).undecided == "nothing is known of it"
    lives(store, "Leeds", "2025-03-24")
    assert store.stance(HOME, append=False).claim == "Jonas lives in Leeds"
    assert len(store) == size + 1


def test_a_scope_binds(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24", user_id="jonas")
    lives(store, "Rome", "2025-06-01", user_id="eve")
    assert store.stance(HOME, user_id="jonas").claim == "Jonas lives in Leeds"
    assert store.stance(HOME, user_id="eve").claim == "Jonas lives in Rome"
    both = store.stance(HOME)  # without a scope, all of it: one word against another's
    assert both.undecided == "nothing says which gives way: Jonas lives in Rome, or Jonas lives in Leeds"
    assert len(store.stances(HOME, user_id="eve")) == 1
    assert store.contradictions(user_id="eve") == ()
    assert len(store.contradictions()) == 1


def test_who_i_am(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24", name="Jonas")
    assert store.stance("Where do I live?", user_id="jonas").claim == "Jonas lives in Leeds"
    store.append("Hi", name="Eve", user_id="jonas")  # a second voice, for which the scope is not named
    assert store.stance("Where do I live?", user_id="jonas", append=False).claim == "Jonas lives in Leeds"


def test_as_of_the_log_as_it_was(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24")
    then = len(store) - 1
    late = lives(store, "Edinburgh", "2025-05-17")
    assert store.stance(HOME, as_of=then).claim == "Jonas lives in Leeds"
    now = store.stance(HOME)
    assert (now.claim, now.supersedes) == ("Jonas lives in Edinburgh", None)  # a past supersedes nothing
    store.forget(late)
    assert store.contradictions() == ()


def test_a_correction_of_the_record_takes_its_claims(store: Store) -> None:
    """What was read from a turn falls with it, and comes back when the correction is forgotten."""
    turn = store.append("I live in Leeds.", user_id="jonas", occurred_at=day("2025-03-24"))
    claim = Claim(subject="Jonas", rel="lives_in", object="Leeds")
    read = store.append(
        "Jonas lives in Leeds",
        type="inference",
        actor="agent",
        parents=[turn],
        claims=[claim],
        user_id="jonas",
    )
    assert store.stance(HOME).claim == "Jonas lives in Leeds"
    new = store.correct(turn, "I live in Leith.")
    assert store.stance(HOME).undecided == "nothing is known of it"
    for gone, why, by in ((read, "what it rested on was replaced", turn), (turn, "it was replaced", new)):
        found = store.why(gone)
        assert (found.reasons, found.unclaimed, found.by) == ((), f"claims nothing any more: {why}", by)
    store.forget(new, only=True)
    assert store.stance(HOME).claim == "Jonas lives in Leeds"
    store.forget(turn)
    assert store.stance(HOME).undecided == "nothing is known of it"


def test_erased_evidence_is_left_out(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24")
    gone = lives(store, "Edinburgh", "2025-05-17")
    decided = store.stance(HOME)
    store.erase(gone)
    assert store.stance(HOME).claim == "Jonas lives in Leeds"
    found = rederive(store.reader)
    assert found.findings == []
    assert decided.id is not None
    assert "Edinburgh" not in str([one for one in store.stances(HOME) if one.supersedes])


def test_a_contradiction_in_one_batch_is_kept_marked_and_reviewed(store: Store) -> None:
    born = [Claim(subject="Ann", rel="born_on", object=f"{n} May 1990") for n in (1, 2)]
    size = len(store)
    with store.transaction() as together:
        one = together.append("Ann's birthday is the 1st.", claims=[born[0]], idempotency_key="a")
        other = together.append("Ann's birthday is the 2nd.", claims=[born[1]], idempotency_key="b")
    assert len(store) == size + 3
    review = list(store.read(size))[-1]
    assert isinstance(review.body, EventBody)
    assert review.body.name == "review"
    assert [link.id for link in review.links] == [one.id, other.id]
    (found,) = store.contradictions()
    assert (found.stands, found.review) == ("neither", review.id)
    held = store.stance("When was Ann born?")
    assert held.undecided is not None
    assert {choice.held for choice in held.candidates} == {False}
    with store.transaction() as again:  # a retry adds nothing
        again.append("Ann's birthday is the 1st.", claims=[born[0]], idempotency_key="a")
        again.append("Ann's birthday is the 2nd.", claims=[born[1]], idempotency_key="b")
    assert len(list(store.read(size))) == 4
    rows = store.sql("SELECT one_batch, review_id FROM contradictions").to_pylist()
    assert rows == [{"one_batch": True, "review_id": review.id}]


def test_what_the_order_decides_is_not_reviewed(store: Store) -> None:
    size = len(store)
    with store.transaction() as together:
        for where, when in (("Leeds", "2025-03-24"), ("Edinburgh", "2025-05-17")):
            claim = Claim(subject="Jonas", rel="lives_in", object=where)
            together.append(where, claims=[claim], occurred_at=day(when))
    assert len(store) == size + 2


def test_a_log_that_a_key_holder_has_lied_in_is_found(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24")
    lives(store, "Edinburgh", "2025-05-17")
    found = store.stance(HOME)
    record = store.get(str(found.id))
    assert rederive(store.reader).findings == []
    body = record.body
    assert isinstance(body, StanceBody)
    assert body.decision is not None
    lie = msgspec.structs.replace(
        body, decision=msgspec.structs.replace(body.decision, claim="Jonas lives in Leeds"), once=None
    )
    store.session.append_drafts(
        [Draft(kind="stance", body=lie, links=[(link.role, link.id) for link in record.links])]
    )
    (finding,) = rederive(store.reader).findings
    assert "decision" in finding.message


@pytest.mark.sample(3)
@pytest.mark.parametrize("lie", ["words", "weight", "scope", "parents", "no stance"])
def test_a_reconciliation_that_its_stance_never_gave_is_found(store: Store, lie: str) -> None:
    leeds = lives(store, "Leeds", "2025-03-24")
    lives(store, "Edinburgh", "2025-05-17")
    store.stance(HOME, user_id="jonas")
    honest = list(store.read())[-1]
    found = rederive(store.reader)
    assert (found.findings, found.same["reconciliation"]) == ([], 1)
    body = honest.body
    assert isinstance(body, ExperienceBody)
    assert body.diffs
    links = [(link.role, link.id) for link in honest.links]
    forged = msgspec.structs.replace(body, once=None)
    if lie == "words":
        forged = msgspec.structs.replace(forged, content=Content(text="Jonas lives in Moscow"))
    elif lie == "weight":
        forged = msgspec.structs.replace(forged, confidence=Confidence(p=0.999, method="pooled"))
    elif lie == "scope":
        forged = msgspec.structs.replace(forged, scope=None)
    elif lie == "parents":
        links = [("parent", leeds), links[-1]]
    else:
        links, forged = links[:-1], msgspec.structs.replace(forged, diffs=[])
    id = store.session.append_drafts(
        [Draft(kind="experience", type="reconciliation", body=forged, links=links)]
    )[0].id
    assert store.verify(deep=True).findings == []  # signed and well-formed: nothing else finds it
    (finding,) = rederive(store.reader).findings
    assert (finding.kind, finding.id) == ("derived", id)
    assert "Moscow" not in finding.message


def test_a_reconciliation_stands_or_falls_with_what_was_known_not_with_a_forged_stance(store: Store) -> None:
    leeds = lives(store, "Leeds", "2025-03-24")
    lives(store, "Edinburgh", "2025-05-17")
    record = store.get(str(store.stance(HOME).id))
    body = record.body
    assert isinstance(body, StanceBody)
    assert body.decision is not None
    lie = msgspec.structs.replace(
        body, decision=msgspec.structs.replace(body.decision, claim="Jonas lives in Leeds"), once=None
    )
    forged = store.session.append_drafts(
        [Draft(kind="stance", body=lie, links=[(link.role, link.id) for link in record.links])]
    )[0].id
    above = ExperienceBody(
        content=Content(text="Jonas lives in Leeds"),
        provenance=Provenance(actor="agent", method="reconcile"),
        confidence=Confidence(p=0.9, method="pooled"),
    )
    links = [("parent", leeds), ("evidence", forged)]
    second = store.session.append_drafts(
        [Draft(kind="experience", type="reconciliation", body=above, links=links)]
    )[0].id
    assert [one.id for one in rederive(store.reader).findings] == [forged, second]


@pytest.mark.parametrize("label", ["explicit", "inferred"])
def test_inferences_give_way_to_a_stated_claim_whatever_they_say_of_their_source(
    store: Store, label: SourceType
) -> None:
    lives(store, "Edinburgh", "2025-03-24", confidence=0.9)
    for k in range(15):
        base = store.append(f"Jonas greeted neighbour {k} in Rome.", user_id="jonas", name=f"witness {k}")
        claim = Claim(subject="Jonas", rel="lives_in", object="Rome", source_type=label)
        store.append(
            "Jonas may live in Rome.", claims=[claim], type="inference", parents=[base], actor="system",
            confidence=0.15, user_id="jonas", occurred_at=day("2025-05-01"),
        )  # fmt: skip
    found = store.stance(HOME, user_id="jonas", at=day("2025-05-02"))
    assert found.claim == "Jonas lives in Edinburgh"
    assert found.residual_uncertainty == pytest.approx(0.157, abs=0.02)
    assert rederive(store.reader).findings == []


def test_a_correction_in_an_inference_stays_a_correction(store: Store) -> None:
    base = lives(store, "Edinburgh", "2025-03-24")
    claim = Claim(subject="Jonas", rel="lives_in", object="Rome", source_type="corrected")
    store.append("Not so: Rome.", claims=[claim], type="inference", parents=[base], user_id="jonas")
    assert store.stance(HOME, user_id="jonas").claim == "Jonas lives in Rome"


def test_a_question_without_a_subject_is_told_without_one(store: Store) -> None:
    asks = Asks(subjects=["the"], rels=["lives_in"], at=day("2025-05-01"))
    (would,) = reconcile("Where does the live?", asks, [], []).would_change
    assert would == "a claim that holds at that time"


def test_stances_of_others_are_not_made_again(store: Store) -> None:
    id = lives(store, "Leeds", "2025-03-24")
    by_hand = StanceBody(question=HOME, method="by hand")
    store.session.append_drafts([Draft(kind="stance", body=by_hand, links=[("candidate", id)])])
    found = rederive(store.reader)
    assert (found.findings, found.same.get("stance", 0)) == ([], 0)
    assert [len(ids) for reason, ids in found.unmade.items() if "not made by" in reason] == [1]
    assert not store.verify(rederive=True).verdict.startswith("clean")
    with pytest.raises(ValueError, match="can't be explained"):
        store.why(list(store.read())[-1].id)
    mine = store.stance(HOME)  # and ours supersedes it
    assert mine.supersedes is not None


def test_without_a_projection_the_log_itself_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lives(store, "Leeds", "2025-03-24")
    first = store.stance(HOME, user_id="jonas")

    def busy(**_: object) -> None:
        raise ViewBusyError("another process is at work on it")

    monkeypatch.setattr(store.views, "tables", busy)
    assert store.stance(HOME, user_id="jonas").id == first.id
    assert [one.id for one in store.stances(HOME)] == [first.id]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Rene\u0301e", "Renée"), ("Straße 5", "STRASSE 5"), ("田中", "田中"), ("\uff2aonas", "Jonas"),
        ("William", "Williams"), ("Ирина", "ИРИНА"),
    ],
)  # fmt: skip
def test_a_name_is_found_however_it_is_written(store: Store, written: str, asked: str) -> None:
    store.append("x", claims=[Claim(subject=written, rel="lives_in", object="Lyon")])
    store.append("x", claims=[Claim(subject="Somebody else", rel="lives_in", object="Hull")])
    found = store.stance(f"Where does {asked} live?", append=False)
    assert found.claim == f"{written} lives in Lyon"
    assert len(found.candidates) == 1


def test_what_it_would_take_is_said_of_nobody_in_particular(store: Store) -> None:
    found = store.stance("¿Dónde vive Jonas?")
    assert (found.claim, found.would_change) == (None, ("a claim that holds at that time",))


def test_a_question_that_no_rule_reads_is_asked_of_recall(store: Store) -> None:
    claim = Claim(subject="Owen", rel="has_condition", object="broken wrist", quote="I broke my left wrist")
    store.append(
        "I broke my left wrist on the ice.", claims=[claim], user_id="owen", occurred_at=day("2025-01-05")
    )
    found = store.stance("Tell me about Owen and the broken wrist", user_id="owen")
    assert found.claim is not None
    assert "broken wrist" in found.claim


@pytest.mark.parametrize("question", ["", "  ", None, 3])
def test_what_is_no_question(store: Store, question: Any) -> None:
    with pytest.raises(ValueError, match="question is text"):
        store.stance(question)


def test_what_claims_nothing_is_explained_too(store: Store) -> None:
    found = store.why(store.append("Hello."))
    assert (found.says, found.reasons, found.by) == ("Hello.", (), None)
    assert found.unclaimed is not None
    assert found.unclaimed in list(found.lines())[-1]


def test_refusals(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a genesis"):
        store.why(next(store.read()).id)
    with pytest.raises(UnknownRecordError):
        store.why("exp_2025-01-01T00:00:00Z_0000009900ab")
    with pytest.raises(ValueError, match="has no time zone"):
        store.stance(HOME, at=datetime(2025, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="has no time zone"):
        store.contradictions(at=datetime(2025, 1, 1))  # noqa: DTZ001
    lives(store, "Leeds", "2025-03-24")
    store.close()
    with braid.open(tmp_path / "memory", read_only=True, guard_dir=tmp_path / "guard") as reader:
        assert reader.stance(HOME, append=False).claim == "Jonas lives in Leeds"
        with pytest.raises(ReadOnlyError):
            reader.stance(HOME)


def test_a_stance_that_names_what_it_has_not_is_refused(store: Store) -> None:
    from braid.ledger.record.record import Candidate, Justification

    body = StanceBody(question="?", justifications=[Justification(candidate=0, held=True)])
    with pytest.raises(InvalidRecordError, match="names candidate 0; the stance has 0"):
        store.session.append_drafts([Draft(kind="stance", body=body)])
    id = store.append("x")
    body = StanceBody(
        question="?", candidates=[Candidate(claim="x", p=1)],
        justifications=[Justification(candidate=0, held=True, out=[7])],
    )  # fmt: skip
    with pytest.raises(InvalidRecordError, match="names link 7; the record has 1"):
        store.session.append_drafts([Draft(kind="stance", body=body, links=[("candidate", id)])])


def test_the_async_twin(tmp_path: Path) -> None:
    async def ask() -> None:
        async with await braid.open_async(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
            lives(store.sync, "Leeds", "2025-03-24")
            lives(store.sync, "Rome", "2025-04-24")
            found = await store.stance(HOME)
            assert found.claim == "Jonas lives in Rome"
            assert [one.id for one in await store.stances(HOME)] == [found.id]
            assert (await store.why(str(found.id))).kind == "stance"
            assert len(await store.contradictions()) == 1
            await store.append("I live in Hull.", name="Ana")
            assert (await store.learn()).claims == 3

    asyncio.run(ask())


def test_a_time_in_the_question_bounds_what_may_answer_it(store: Store) -> None:
    for when, rel, what in (
        ("2023-06-20", "did", "went camping"),
        ("2023-08-21", "did", "went camping"),
        ("2023-09-01", "plans_to", "go camping"),
    ):
        claim = Claim(subject="Mel", rel=rel, object=what, valid_from=day(when))
        store.append("x", claims=[claim], occurred_at=day("2023-08-25"))
    assert store.stance("When did Mel go camping?", append=False).undecided is not None
    june = store.stance("When did Mel go camping in June 2023?", append=False)
    assert june.claim == "Mel went camping on 2023-06-20"
    plan = store.stance("When is Mel going camping?", append=False)
    assert plan.claim == "Mel plans to go camping on 2023-09-01"


def test_a_thing_of_something_is_found_however_it_is_named(store: Store) -> None:
    question = "When is the launch of Heron?"
    store.append("x", claims=[Claim(subject="Egret's launch", rel="is_on", object="2026-01-01")])
    assert store.stance(question, append=False).undecided == "nothing is known of it"
    store.append("x", claims=[Claim(subject="launch", rel="is_on", object="2026-06-03")])
    assert store.stance(question, append=False).claim == "launch is on 2026-06-03"
    store.append("x", claims=[Claim(subject="Heron's launch", rel="is_on", object="2026-05-14")])
    assert store.stance(question, append=False).claim == "Heron's launch is on 2026-05-14"


def test_corrected_twice_the_last_text_is_held(store: Store) -> None:
    """nuts, no: cats, no: dogs; each reading falls with its turn, and comes back with it."""
    store.set_learning(health=True)
    turn = store.remember("I am allergic to nuts.", user_id="ann")[0]
    cats = store.correct(turn, "I am allergic to cats.")
    dogs = store.correct(cats, "I am allergic to dogs.")
    store.learn()

    def held() -> str | None:
        return store.stance("What am I allergic to?", user_id="ann").claim

    assert held() == "user is allergic to dogs"
    store.forget(cats, only=True)
    assert held() == "user is allergic to dogs"
    store.forget(dogs, only=True)
    assert held() == "user is allergic to nuts"
    store.recover(cats)
    assert held() == "user is allergic to cats"
    store.recover(dogs)
    assert held() == "user is allergic to dogs"
    assert rederive(store.reader).findings == []


def test_what_is_forgotten_takes_its_share_with_it(store: Store) -> None:
    """Two people say it, and something was put together of both: with one of them forgotten, .30 is left."""
    claim = Claim(subject="Jonas", rel="lives_in", object="Leeds")
    now = store.now()
    ann, bob = (
        store.append("Jonas lives in Leeds.", name=name, claims=[claim], occurred_at=now)
        for name in ("Ann", "Bob")
    )
    store.append(
        "Both say Leeds.",
        type="inference",
        actor="agent",
        parents=[ann, bob],
        claims=[claim],
        occurred_at=now,
    )
    assert store.stance(HOME).residual_uncertainty == pytest.approx(1 / 50, abs=1e-3)
    store.forget(bob)
    assert store.stance(HOME).residual_uncertainty == pytest.approx(0.3, abs=1e-3)
    store.recover(bob)
    store.erase(bob)
    assert store.stance(HOME).residual_uncertainty == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("hours", [-12, 12])
def test_an_instant_beyond_the_calendar_is_refused(store: Store, hours: int) -> None:
    there = timezone(timedelta(hours=hours))
    at = datetime(9999, 12, 31, 23, tzinfo=there) if hours < 0 else datetime(1, 1, 1, tzinfo=there)
    lives(store, "Leeds", "2025-03-24")
    with pytest.raises(ValueError, match="in UTC it lies outside the years 1 to 9999"):
        store.stance(HOME, at=at)
    with pytest.raises(ValueError, match="in UTC it lies outside the years 1 to 9999"):
        store.contradictions(at=at)


def test_a_stance_is_made_again_of_all_that_was_known(store: Store) -> None:
    """A key holder weighs one record of two, and signs what that gives: byte for byte what its own inputs give."""
    leeds = lives(store, "Leeds", "2025-03-24")
    later = lives(store, "Edinburgh", "2025-05-17")
    store.forget(later)
    honest = store.get(str(store.stance(HOME).id))
    store.recover(later)
    assert rederive(store.reader).findings == []
    body = honest.body
    assert isinstance(body, StanceBody)
    assert [link.id for link in honest.targets("candidate")] == [leeds]
    forged = msgspec.structs.replace(body, known=len(store), once=None)
    links = [(link.role, link.id) for link in honest.links]
    id = store.session.append_drafts([Draft(kind="stance", body=forged, links=links)])[0].id
    (finding,) = rederive(store.reader).findings
    assert finding.id == id
    ahead = msgspec.structs.replace(body, known=len(store) + 9, once=None)
    store.session.append_drafts([Draft(kind="stance", body=ahead, links=links)])
    assert "which were not there yet" in rederive(store.reader).findings[-1].message


def test_a_stance_of_an_older_version_behind_a_newer_one_is_found(store: Store) -> None:
    lives(store, "Leeds", "2025-03-24")
    old = StanceBody(
        question=HOME, version="1", decision=Decision(claim="Jonas lives in Moscow", residual_uncertainty=0)
    )
    store.session.append_drafts([Draft(kind="stance", body=old)])
    found = rederive(store.reader)
    assert found.findings == []
    assert sum(map(len, found.unmade.values())) == 1  # nothing says that it is wrong, nor that it is right
    store.stance(HOME)
    for version in ("1", "", "x", "2", "3"):
        id = store.session.append_drafts(
            [Draft(kind="stance", body=msgspec.structs.replace(old, version=version))]
        )[0].id
        finding = rederive(store.reader).findings[-1]
        assert finding.id == id
        assert f"behind one of version {VERSION}" in finding.message


def test_a_favourite_is_not_whatever_else_is_liked(store: Store) -> None:
    store.remember("My favourite colour is green.", user_id="u")
    store.remember("I like jazz.", user_id="u")
    assert (
        store.stance("What is my favourite colour?", user_id="u").claim == "user's favourite colour is green"
    )


@pytest.mark.parametrize(
    ("turns", "differing"),
    [
        ([["green"], ["teal"]], 1),  # a favourite of a kind is one
        ([["Alien", "Brazil"]], 0),  # said in one breath, both are
        ([["Alien", "Brazil"], ["Heat"]], 2),
    ],
)
def test_favourites_of_a_kind_exclude_each_other_unless_one_breath_names_them(
    store: Store, turns: list[list[str]], differing: int
) -> None:
    for objects in turns:
        text = f"My favourite is {' and '.join(objects)}."
        claims = [
            Claim(subject="Ann", rel="favourite_kind", object=one, quote=text.rstrip(".")) for one in objects
        ]
        store.append(text, actor="user", claims=claims)
    assert len(store.contradictions()) == differing
    assert store.sql("SELECT count(*) AS n FROM contradictions").to_pylist() == [{"n": differing}]
