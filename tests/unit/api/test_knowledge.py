"""What is known, why and why not; what waits until somebody accepts it; retired readers; the tables of it all."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.caller import Caller, asked_by
from braid.errors import InvalidRequestError
from braid.knowledge.operations import PlaybookStep
from braid.knowledge.retirement import retire, retire_replaced
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody, Provenance, Scope
from braid.store import Store

NOW = datetime(2025, 6, 1, tzinfo=UTC)
OLD, NEW = "read:plain@1", "read:model@7"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=lambda: NOW)
    with braid.open(
        tmp_path / "store",
        guard_dir=tmp_path / "guard",
        clock=lambda: NOW + timedelta(seconds=next(ticks)),
    ) as opened:
        opened.followers.clear()  # nothing is read here but what a test says
        yield opened


def say(store: Store, text: str, at: datetime | None = None) -> str:
    """Append a turn of Maya's; return its id."""
    return store.append(text, user_id="maya", actor="user", name="Maya", session_id="s", occurred_at=at)


def claim(rel: str, object: str, quote: str | None = None, at: int | None = None, **more: Any) -> Claim:
    return Claim(subject="Maya", rel=rel, object=object, quote=quote, at=at, **more)


def read(
    store: Store,
    turn: str,
    *claims: Claim,
    method: str = NEW,
    staged: Sequence[dict[str, Any]] = (),
    warnings: Sequence[Any] = (),
) -> str:
    """Append what a reader found in a turn; return its id."""
    structured: dict[str, Any] = {"model": "small-1"}
    structured |= {"staged": list(staged)} if staged else {}
    structured |= {"warnings": list(warnings)} if warnings else {}
    body = ExperienceBody(
        content=Content(text="; ".join(one.object for one in claims), structured=structured),
        provenance=Provenance(actor="agent", method=method),
        symbolic=list(claims),
        scope=Scope(user_id="maya", session_id="s"),
        occurred_at=store.get(turn).body.occurred_at,
    )
    draft = Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])
    return store.session.append_drafts([draft])[0].id


def rows(store: Store, statement: str, **how: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.sql(statement, **how).to_pylist()
    return found


def objects(store: Store, view: str, **how: Any) -> list[str]:
    return [row["object"] for row in rows(store, f"SELECT object FROM {view} ORDER BY log_index, k", **how)]


GIN = {"subject": "Maya", "rel": "likes", "object": "gin", "why": "safety"}
TEA = {"subject": "Maya", "rel": "likes", "object": "tea", "quote": "tea", "at": 7, "why": "confidence"}


# -- tables -----------------------------------------------------------------------------------------


TYPES = ("preference", "skill", "interest", "goal", "episode", "relation", "decision", "fact", "health")


def test_each_type_has_its_table_and_each_row_names_its_record_and_turn(store: Store) -> None:
    turn = say(store, "A lot.")
    details = {"category": "tool", "key": "editor", "strength": "0.75", "proficiency": "expert"}
    made = [claim("is", name, type=name, quote="A lot", at=0, details=details) for name in TYPES]
    reading = read(store, turn, *made)
    for name in TYPES[:-2]:
        table = {"skill": "skills"}.get(name, f"{name}s")
        (row,) = rows(store, f"SELECT * FROM {table}")
        assert (row["object"], row["id"], row["turn_id"], row["quote_at"]) == (name, reading, turn, 0)
        assert row["log_index"] == store.reader.index_of(reading)
        assert row["turn_index"] == store.reader.index_of(turn)
    assert objects(store, "facts") == ["fact", "health"]
    (likes,) = rows(store, "SELECT category, key, strength FROM preferences")
    assert likes == {"category": "tool", "key": "editor", "strength": 0.75}
    assert rows(store, "SELECT proficiency AS p FROM skills") == [{"p": "expert"}]
    assert rows(
        store, "SELECT DISTINCT type, quote_at, details ->> '$.key' AS key FROM claims WHERE type = 'goal'"
    ) == [{"type": "goal", "quote_at": 0, "key": "editor"}]


def test_tables_hold_what_is_living_and_what_was_then(store: Store) -> None:
    first = say(store, "I know Rust.")
    read(store, first, claim("can", "Rust", type="skill"))
    second = say(store, "I know Go.")
    read(store, second, claim("can", "Go", type="skill"))
    size = len(store)
    assert objects(store, "skills") == ["Rust", "Go"]
    store.forget(first)
    assert objects(store, "skills") == ["Go"]
    store.recover(first)
    assert objects(store, "skills") == ["Rust", "Go"]
    store.correct(second, "I know Zig.")
    assert objects(store, "skills") == ["Rust"]
    assert objects(store, "skills", as_of=size - 1) == ["Rust", "Go"]
    store.erase(first)
    assert objects(store, "skills") == []
    assert objects(store, "skills", as_of=size - 1) == ["Go"]
    assert rows(store, "SELECT * FROM derivations WHERE object = 'Rust'") == []


def test_of_what_was_valid_at_an_instant(store: Store) -> None:
    turn = say(store, "I sail.", NOW - timedelta(days=30))
    read(store, turn, claim("can", "sail", type="skill", valid_to=NOW - timedelta(days=10)))
    assert objects(store, "skills", valid_at=NOW - timedelta(days=20)) == ["sail"]
    assert objects(store, "skills", valid_at=NOW - timedelta(days=5)) == []
    assert objects(store, "skills", valid_at=NOW - timedelta(days=40)) == []


def profile(store: Store) -> dict[str, str]:
    return {
        row["item"]: row["value"]
        for row in rows(store, "SELECT item, value FROM profiles ORDER BY log_index, k")
    }


def test_a_profile_is_the_newest_of_each_item(store: Store) -> None:
    days = [NOW - timedelta(days=n) for n in (50, 40, 30, 20, 10)]
    read(
        store, say(store, "one", days[0]), claim("name_is", "Maya Ortiz"), claim("lives_in", "Porto"),
        claim("works_at", "Acme"), claim("works_as", "nurse"), claim("likes", "long mails"),
        claim("prefers", "email", type="preference", details={"key": "contact"}),
    )  # fmt: skip
    assert profile(store) == {
        "name": "Maya Ortiz", "home": "Porto", "work": "Acme", "role": "nurse", "preference": "email",
    }  # fmt: skip
    read(store, say(store, "two", days[1]), claim("moved_to", "Ghent"))
    read(
        store, say(store, "three", days[2]), claim("left_job", "Acme"),
        claim("prefers", "phone", type="preference", details={"key": "contact"}),
    )  # fmt: skip
    assert profile(store) == {"name": "Maya Ortiz", "home": "Ghent", "role": "nurse", "preference": "phone"}
    last = say(store, "four", days[3])
    read(store, last, claim("lives_in", "Ghent", polarity=False))
    assert profile(store)["home"] == "Porto"  # nobody said that this ended
    store.forget(last)
    assert profile(store)["home"] == "Ghent"
    read(store, say(store, "five", days[4]), claim("prefers", "phone", type="preference", polarity=False))
    told = rows(store, "SELECT value, polarity FROM profiles WHERE item = 'preference' ORDER BY log_index, k")
    assert told == [{"value": "email", "polarity": True}, {"value": "phone", "polarity": False}]


def test_turns_have_an_order_causes_keywords_and_importance(store: Store) -> None:
    one, two, three = say(store, "The cat sleeps."), say(store, "The zebra sleeps."), say(store, "Fine.")
    reading = read(store, two, claim("owns", "a zebra"))
    told = rows(store, "SELECT id, after_id FROM follows ORDER BY log_index")
    assert told == [{"id": two, "after_id": one}, {"id": three, "after_id": two}]
    assert rows(store, "SELECT id, cause_id, role FROM caused_by") == [
        {"id": reading, "cause_id": two, "role": "parent"}
    ]
    words = [row["word"] for row in rows(store, "FROM keywords($id)", parameters={"id": two})]
    assert words == ["zebra", "sleeps", "the"]
    scored = rows(
        store,
        "SELECT id, score - 0.2 * abs(coalesce(valence, 0)) AS s"
        " FROM importance JOIN experiences USING (log_index, id)",
    )
    scores = {row["id"]: round(row["s"], 6) for row in scored}
    assert scores == {one: 0.2, two: 0.3, three: 0.2}
    hinted = store.append("x", structured={"importance_hint": 0.875})
    assert rows(store, f"SELECT score FROM importance WHERE id = '{hinted}'") == [{"score": 0.875}]


# -- how it came to be known ------------------------------------------------------------------------


def test_why_known_names_reader_words_and_gates(store: Store) -> None:
    turn = say(store, "So, I live in Porto now.")
    quoted = claim("lives_in", "Porto", "I live in Porto", 4)
    reading = read(
        store, turn, quoted, claim("likes", "Rome", "I love Rome", 4),
        warnings=[{"gate": "hallucination", "class": "flat", "maker": "model"}, "nonsense"],
    )  # fmt: skip
    for asked in (reading, turn):
        lives, likes = store.why_known(asked)
        assert (lives.method, lives.maker, lives.version, lives.model) == (NEW, "model", "7", "small-1")
        assert (lives.turn, lives.quote, lives.starts, lives.ends) == (turn, "I live in Porto", 4, 19)
        assert lives.standing == "living"
        assert [(one.gate, one.outcome) for one in lives.gates] == [
            ("evidence", "the words stand there"), ("hallucination", "warned: flat"),
        ]  # fmt: skip
        assert likes.gates[0].outcome == "the words do not stand there"
    row = rows(store, "SELECT * FROM derivations WHERE rel = 'lives_in'")[0]
    assert (row["method"], row["maker"], row["version"], row["model"]) == (NEW, "model", "7", "small-1")
    assert (row["turn_id"], row["quote"], row["starts"], row["ends"]) == (turn, "I live in Porto", 4, 19)
    assert rows(
        store, "SELECT id, k, gate, class, maker, turn_id FROM extraction_warnings WHERE gate IS NOT NULL"
    ) == [
        {"id": reading, "k": 0, "gate": "hallucination", "class": "flat", "maker": "model", "turn_id": turn}
    ]
    assert store.why_known(say(store, "Nothing.")) == ()
    with pytest.raises(ValueError, match="is a stance"):
        store.why_known(store.stance("Where does Maya live?", user_id="maya").id or "")
    with pytest.raises(UnknownRecordError):
        store.why_known("exp_2025-05-17T09:00:00Z_0000000300ab")


def test_about_tells_who_has_a_say_and_what_each_replaced(store: Store) -> None:
    first = say(store, "I live in Porto.", NOW - timedelta(days=90))
    read(store, first, claim("lives_in", "Porto", "I live in Porto", 0))
    second = say(store, "I live in Ghent.", NOW - timedelta(days=30))
    size = len(store)
    read(store, second, claim("lives_in", "Ghent", "I live in Ghent", 0))
    (ghent,) = store.about("Maya")
    assert (ghent.says, ghent.quote, ghent.turn, ghent.at) == (
        "Maya lives in Ghent",
        "I live in Ghent",
        second,
        0,
    )
    assert ghent.since == NOW - timedelta(days=30)
    assert [one.says for one in ghent.replaced] == ["Maya lives in Porto"]
    assert [one.id for one in store.about("ghent")] == [ghent.id]
    assert store.about("Porto") == ()
    assert [one.object for one in store.about("Maya", as_of=size - 1)] == ["Porto"]
    assert [one.object for one in store.about("Maya", at=NOW - timedelta(days=60))] == ["Porto"]
    assert store.about("Maya", user_id="somebody") == ()
    fixed = store.correct(second, "I live in Genk.")
    one, two = (read(store, fixed, claim("lives_in", "Genk"), method=method) for method in (OLD, NEW))
    (genk,) = store.about("Maya")
    assert (genk.object, genk.id, genk.also) == ("Genk", two, (one,))  # two readers found one claim
    assert {("Maya lives in Ghent", "put right")} <= {(one.says, one.why) for one in genk.replaced}
    store.forget(second, fixed)
    assert [one.object for one in store.about("Maya")] == ["Porto"]


# -- what changed -----------------------------------------------------------------------------------


def changed(store: Store, *topic: str, **how: Any) -> list[tuple[str, str]]:
    return [(one.was.object, one.now.object) for one in store.changes(*topic, **how).changes]


def test_each_change_names_what_it_was_what_it_is_and_whose_words(store: Store) -> None:
    towns = ("Porto", "Ghent", "Genk")
    turns = [
        say(store, f"I live in {town}.", NOW - timedelta(days=90 - 30 * n)) for n, town in enumerate(towns)
    ]
    for turn, town in zip(turns, towns, strict=True):
        read(store, turn, claim("lives_in", town, f"I live in {town}", 0))
    assert changed(store) == changed(store, "Maya") == [("Porto", "Ghent"), ("Ghent", "Genk")]
    assert changed(store, "Genk") == [("Ghent", "Genk")]
    assert changed(store, user_id="somebody") == changed(store, "Zoe") == []
    assert changed(store, since=NOW - timedelta(days=40)) == [("Ghent", "Genk")]
    latest = store.changes(limit=1)
    (one,) = latest.changes
    assert (latest.count, one.was.turn, one.now.turn) == (2, turns[1], turns[2])
    assert (one.now.quote, one.now.said_by, one.when) == ("I live in Genk", "Maya", NOW - timedelta(days=30))


def test_a_change_goes_with_what_is_forgotten_and_comes_back(store: Store) -> None:
    first, second = (say(store, f"I live in {town}.") for town in ("Porto", "Ghent"))
    read(store, first, claim("lives_in", "Porto"))
    read(store, second, claim("lives_in", "Ghent"))
    size = len(store)
    store.forget(second)
    assert changed(store) == []
    assert changed(store, as_of=size) == []  # what is hidden is hidden of the past, too
    store.recover(second)
    assert changed(store) == [("Porto", "Ghent")]
    store.erase(first)
    assert changed(store) == []


def test_what_is_put_right_is_a_change_too(store: Store) -> None:
    turn = say(store, "I live in Ghent.")
    read(store, turn, claim("lives_in", "Ghent", "I live in Ghent", 0))
    fixed = store.correct(turn, "I live in Genk.")
    read(store, fixed, claim("lives_in", "Genk", "I live in Genk", 0))
    (one,) = store.changes("Maya").changes
    assert (one.was.object, one.now.object, one.why, one.was.turn) == ("Ghent", "Genk", "put right", turn)


def test_what_is_mayas_is_about_maya(store: Store) -> None:
    turn = say(store, "My rent is 900 euros.")
    read(store, turn, Claim(subject="Maya's rent", rel="costs", object="900 euros"))
    assert [one.subject for one in store.about("Maya")] == ["Maya's rent"]
    assert store.about("May") == ()


# -- why it isn't -----------------------------------------------------------------------------------


def outcomes(store: Store, text: str, **how: Any) -> tuple[dict[str, PlaybookStep], str]:
    found = store.why_not_known(text, **how)
    return {step.step: step for step in found.steps}, found.conclusion


def test_why_not_known_finds_each_place_where_it_may_have_ended(store: Store) -> None:
    steps, end = outcomes(store, "Maya lives in Porto")
    assert (steps["said"].outcome, end) == ("no", "nobody said it, as far as recall finds")
    turn = say(store, "I live in Porto.")
    steps, end = outcomes(store, "Maya lives in Porto")
    assert (steps["said"].outcome, steps["said"].ids, steps["read"].outcome) == ("yes", (turn,), "no")
    assert end == "it was said and not read"
    waits = {"subject": "Maya", "rel": "lives_in", "object": "Porto", "why": "confidence"}
    staged = read(store, turn, staged=[waits])
    steps, end = outcomes(store, "Maya lives in Porto")
    assert steps["gates"].ids == (staged,)
    assert steps["gates"].detail == "staged by confidence: Maya lives in Porto"
    assert end == "a gate let it wait or refused it"
    reading = read(store, turn, claim("lives_in", "Porto"), method=OLD)
    steps, end = outcomes(store, "Maya lives in Porto")
    assert (steps["read"].outcome, steps["read"].ids, end) == ("yes", (reading,), "it is known")
    event = store.retire_reader(OLD).id
    steps, end = outcomes(store, "Maya lives in Porto")
    assert (steps["retired"].outcome, steps["retired"].ids) == ("yes", (event,))
    assert end == "the reader that read it was retired"
    store.forget(event)
    moved = say(store, "I live in Ghent.")
    newer = read(store, moved, claim("lives_in", "Ghent"))
    steps, end = outcomes(store, "Maya lives in Porto")
    assert (steps["superseded"].outcome, steps["superseded"].ids) == ("yes", (newer,))
    store.forget(moved)
    assert outcomes(store, "Maya lives in Porto")[1] == "it is known"
    store.forget(turn)
    steps, end = outcomes(store, "Maya lives in Porto")
    assert (steps["forgotten"].outcome, steps["forgotten"].ids, end) == ("yes", (turn,), "it was forgotten")
    assert "Porto" not in steps["forgotten"].detail
    assert outcomes(store, "Maya lives in Porto", user_id="somebody")[0]["forgotten"].outcome == "no"
    store.erase(turn)
    steps, _ = outcomes(store, "Maya lives in Porto")
    assert (steps["forgotten"].outcome, steps["erased"].outcome) == ("no", "unknown")


@pytest.mark.parametrize(
    ("said", "asked", "is_said"),
    [
        ("Kevin has a parrot called Loro.", "Kevin has a parrot called Bruno.", False),
        ("Kevin has a parrot called Loro.", "Kevin has a parrot called Loro.", True),
        ("The café's invoice is INV-2034.", "The café's invoice is INV-2043.", False),
        ("The rent of the room is 450 a month.", "The rent of the room is 480 a month.", False),
        ("I have a parrot called Loro.", "Maya has a parrot called Loro", True),
    ],
)
def test_another_name_or_number_was_not_said(store: Store, said: str, asked: str, *, is_said: bool) -> None:
    turn = say(store, said)
    steps, end = outcomes(store, asked)
    assert (steps["said"].outcome, steps["said"].ids) == ("yes" if is_said else "no", (turn,))
    assert ("these are near" in steps["said"].detail) is not is_said
    assert end == ("it was said and not read" if is_said else "nobody said it, as far as recall finds")


def test_who_is_held_to_a_scope_learns_nothing_of_erasures(store: Store) -> None:
    caller = Caller(name="some", kind="person", user_id="maya")
    told: list[PlaybookStep] = []
    for _ in range(2):
        with asked_by(caller):
            told.append(outcomes(store, "Maya lives in Porto", user_id="maya")[0]["erased"])
        store.erase(store.append("A secret.", user_id="noor"))
    assert told[0] == told[1]
    assert not any(char.isdigit() for char in told[0].detail)


def test_why_not_known_sees_ends_age_and_rank(store: Store) -> None:
    ago = NOW - timedelta(days=4_000)
    turn = say(store, "I play the bassoon.", ago)
    read(store, turn, claim("plays", "the bassoon"))
    steps, end = outcomes(store, "Maya plays the bassoon")
    assert (steps["decayed"].outcome, end) == ("yes", "it has grown too old to be relied on")
    over = say(store, "I rent in Leeds until May.")
    read(store, over, claim("stays_in", "Leeds", "I rent in Leeds", valid_to=NOW - timedelta(days=1)))
    steps, end = outcomes(store, "Maya rents in Leeds")
    assert (steps["ended"].outcome, end) == ("yes", "it does not hold any more")
    for n in range(4):
        say(store, f"The blue kettle whistles, kettle number {n}, the blue kettle.")
    low = say(store, "A kettle that is blue, among many other things of which I spoke.")
    read(store, low, claim("owns", "a blue kettle among other things"))
    steps, _ = outcomes(store, "blue kettle among many things", top_k=1)
    assert steps["ranked"].detail.endswith("of which 1 are told")
    with pytest.raises(ValueError, match="says nothing"):
        store.why_not_known("the of and")


# -- staging ----------------------------------------------------------------------------------------


def test_a_staged_claim_has_no_say_until_it_is_accepted(store: Store) -> None:
    turn = say(store, "Yes to tea.")
    reading = read(store, turn, staged=[TEA, GIN])
    tea, _gin = store.staging(user_id="maya")
    assert (tea.id, tea.place, tea.says, tea.why, tea.turn, tea.state) == (
        reading, 0, "Maya likes tea", "confidence", turn, "waiting",
    )  # fmt: skip
    assert store.staging(user_id="somebody") == ()
    assert store.stance("Does Maya like tea?", append=False).claim is None
    assert store.about("Maya") == ()
    assert objects(store, "known_claims") == []
    done = store.accept_staged(reading)
    assert (done.is_new, done.state, done.says) == (True, "accepted", "Maya likes tea")
    again = store.accept_staged(reading, 0)
    assert (again.id, again.is_new) == (done.id, False)
    record = store.get(done.id)
    assert [(link.role, link.id) for link in record.links] == [("parent", turn), ("evidence", reading)]
    assert [one.says for one in store.about("Maya")] == ["Maya likes tea"]
    (how,) = store.why_known(done.id)
    assert (how.staged, how.turn, how.gates[-1].gate) == (reading, turn, "confidence")
    assert rows(store, "SELECT staged_id FROM derivations") == [{"staged_id": reading}]
    with pytest.raises(ValueError, match="it was accepted by"):
        store.reject_staged(reading, 0)
    no = store.reject_staged(reading, 1, reason="she never drinks")
    assert (no.state, no.is_new) == ("rejected", True)
    assert store.reject_staged(reading, 1).id == no.id
    with pytest.raises(ValueError, match="it was rejected by"):
        store.accept_staged(reading, 1)
    assert [(one.state, one.decided) for one in store.staging(state=None)] == [
        ("accepted", done.id),
        ("rejected", no.id),
    ]
    assert store.staging() == ()
    for nothing in (2, 99):
        with pytest.raises(ValueError, match="no staged claim"):
            store.accept_staged(reading, nothing)
    with pytest.raises(ValueError, match="no staged claim"):
        store.accept_staged(turn)


def test_what_was_decided_goes_with_its_turn_and_comes_back(store: Store) -> None:
    turn = say(store, "Yes to tea.")
    reading = read(store, turn, staged=[TEA])
    done = store.accept_staged(reading)
    store.forget(done.id)
    assert [one.state for one in store.staging()] == ["waiting"]
    with pytest.raises(ForgottenError, match="brings it back"):
        store.accept_staged(reading)
    store.recover(done.id)
    store.forget(turn)
    assert store.staging(state=None) == ()
    assert store.about("Maya") == ()
    with pytest.raises(ForgottenError):
        store.accept_staged(reading)
    store.recover(turn)
    assert [one.says for one in store.about("Maya")] == ["Maya likes tea"]
    store.erase(turn)
    assert rows(store, "SELECT * FROM staging") == []
    with pytest.raises(ErasedError):
        store.get(done.id)


def test_a_retired_reader_has_nothing_staged(store: Store) -> None:
    turn = say(store, "Yes to tea.")
    reading = read(
        store, turn, staged=[TEA], warnings=[{"gate": "schema", "class": "type", "maker": "model"}]
    )
    assert rows(store, "SELECT gate FROM extraction_warnings") == [{"gate": "schema"}]
    store.retire_reader(NEW)
    assert store.staging() == ()
    assert rows(store, "SELECT gate FROM extraction_warnings") == []
    with pytest.raises(ValueError, match="no say any more"):
        store.accept_staged(reading)


@pytest.mark.sample(4)
@pytest.mark.parametrize("staged", [7, {"0": TEA}, ["tea", TEA], [{"subject": 5}, TEA], [{}, TEA]])
def test_what_is_staged_may_be_anything(store: Store, staged: Any) -> None:
    """Whoever may append may write anything there: what is no claim can't be accepted, and breaks nothing."""
    turn = say(store, "Yes to tea.")
    draft = Draft(
        kind="experience", type="inference", links=[("parent", turn)],
        body=ExperienceBody(
            content=Content(structured={"staged": staged, "warnings": staged}),
            provenance=Provenance(actor="agent", method=NEW),
        ),
    )  # fmt: skip
    reading = store.session.append_drafts([draft])[0].id
    listed = store.staging()
    assert len(listed) == (len(staged) if isinstance(staged, list) else 0)
    with pytest.raises(ValueError, match="no staged claim 0"):
        store.accept_staged(reading, 0)
    if listed:
        assert store.accept_staged(reading, 1).says == "Maya likes tea"
    assert outcomes(store, "Maya likes tea")[0]["said"].outcome in ("yes", "no")


# -- retiring ---------------------------------------------------------------------------------------


def test_retiring_takes_the_say_of_all_that_a_reader_read(store: Store) -> None:
    turn = say(store, "I live in Porto.")
    read(store, turn, claim("lives_in", "Porto"), method=OLD)
    size = len(store)
    assert store.stance("Where does Maya live?").claim is not None
    done = store.retire_reader(OLD, reason="a parse reads better")
    assert (done.method, done.readings, done.is_new) == (OLD, 1, True)
    assert store.retire_reader(OLD).id == done.id
    assert not store.retire_reader(OLD).is_new
    assert store.stance("Where does Maya live?").claim is None
    assert objects(store, "known_claims") == []
    assert rows(store, "SELECT standing FROM derivations") == [{"standing": "retired"}]
    assert objects(store, "known_claims", as_of=size - 1) == ["Porto"]
    (how,) = store.why_known(turn)
    assert (how.standing, how.standing_by) == ("retired", done.id)
    why = store.why(how.id)
    assert (why.unclaimed, why.by) == (
        "claims nothing any more: the reader that read it was retired",
        done.id,
    )
    store.forget(done.id)
    assert store.stance("Where does Maya live?", append=False).claim == "Maya lives in Porto"
    assert objects(store, "known_claims") == ["Porto"]
    again = store.retire_reader(OLD)
    assert again.is_new
    assert objects(store, "known_claims") == []
    store.erase(done.id)
    assert store.retire_reader(OLD).id == again.id
    assert not store.verify(deep=True).findings


def test_a_reader_that_was_replaced_is_retired_once_and_only_where_it_read(store: Store) -> None:
    turn = say(store, "I live in Porto.")
    assert retire_replaced(store, [OLD]) == []
    read(store, turn, claim("lives_in", "Porto"), method=OLD)
    (event,) = retire_replaced(store, [OLD, NEW])
    assert retire_replaced(store, [OLD, NEW]) == []
    store.forget(event)
    assert retire_replaced(store, [OLD]) == []  # somebody wanted the readings back
    assert objects(store, "known_claims") == ["Porto"]
    assert retire(store, OLD).known is False


@pytest.mark.parametrize("method", ["", "plain@1", "read:plain", "read:@1", "capture"])
def test_only_a_readers_method_is_retired(store: Store, method: str) -> None:
    with pytest.raises(InvalidRequestError):
        store.retire_reader(method)


def test_about_tells_the_state_that_an_episode_began(store: Store) -> None:
    read(store, say(store, "I live in Leeds.", NOW - timedelta(days=90)), claim("lives_in", "Leeds"))
    day = NOW - timedelta(days=10)
    moved = claim("moved_to", "Hull", valid_from=day, valid_to=day + timedelta(days=1))
    read(store, say(store, "I moved to Hull.", day), moved)
    (hull,) = store.about("Maya")
    assert (hull.says, [one.says for one in hull.replaced]) == ("Maya lives in Hull", ["Maya lives in Leeds"])
