"""The example histories, taken in by `braid ingest` alone: each question ends in the stance a person would expect."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.store import Store
from braid.tools.cli.main import app

EXAMPLES = Path(__file__).parents[3] / "examples"
WHOSE = {"assistant": "jonas", "two-friends": "nadia", "shop-owner": "ines"}


pytestmark = pytest.mark.soak  # a month of talk is learned, and asked of


@pytest.fixture(scope="session")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("histories")
    guard = ["--guard-dir", str(folder / "guard")]
    store = ["--store", str(folder / "memory")]
    app([*guard, "init", str(folder / "memory")], standalone_mode=False)
    app([*guard, *store, "learning", "--health", "--finance"], standalone_mode=False)
    for name, user in WHOSE.items():
        app(
            [*guard, *store, "ingest", str(EXAMPLES / f"{name}.jsonl"), "--user-id", user],
            standalone_mode=False,
        )
    return folder


@pytest.fixture(scope="session")
def store(histories: Path) -> Iterator[Store]:
    with braid.open(histories / "memory", create=False, guard_dir=histories / "guard") as opened:
        yield opened


def turn(store: Store, name: str) -> str:
    """The id of a turn by its id at the source."""
    (row,) = store.sql("SELECT id FROM experiences WHERE external_id = $name", {"name": name}).to_pylist()
    return str(row["id"])


def read_from(store: Store, record: str) -> set[str]:
    """The turns that an inference was read from, by their ids at the source."""
    query = """
        SELECT e.external_id FROM links l JOIN experiences e ON e.log_index = l.target_index
        WHERE l.id = $id AND l.role = 'parent'
    """
    return {row["external_id"] for row in store.sql(query, {"id": record}).to_pylist()}


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


# (whose, question, when, what is held, the turn that it rests on)
EXPECTED = [
    ("jonas", "Where does Jonas live?", "2025-06-20", "Jonas Adeyemi lives in Edinburgh", "asst-127"),
    ("jonas", "Where did Jonas live in April 2025?", None, "Jonas Adeyemi lives in Leeds", "asst-002"),
    ("jonas", "Where do I live?", "2025-05-16", "Jonas Adeyemi lives in Leeds", "asst-002"),
    (
        "nadia",
        "Where did Nadia live before September 2024?",
        None,
        "Nadia Ferreira lives in Porto",
        "duo-001",
    ),
    ("jonas", "Does Jonas drink coffee?", "2025-04-01", "Jonas Adeyemi drinks coffee", "asst-006"),
    ("jonas", "Does Jonas drink coffee?", "2025-06-20", "Jonas Adeyemi does not drink coffee", "asst-063"),
    ("jonas", "What does Jonas drink?", "2025-06-20", "Jonas Adeyemi drinks tea", "asst-063"),
    (
        "jonas",
        "Is Mireille allergic to shellfish?",
        "2025-06-20",
        "Mireille is not allergic to shellfish",
        "asst-051",
    ),
    ("jonas", "Who is Jonas's boss?", "2025-06-20", "Jonas Adeyemi's boss is Annelise", "asst-179"),
    ("jonas", "What does Jonas think of Baan Suk?", "2025-06-20", "Jonas Adeyemi likes Baan Suk", "asst-148"),
]


@pytest.mark.sample(10)
@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected[1])
def test_what_a_person_would_expect(store: Store, expected: tuple[str, str, str | None, str, str]) -> None:
    user, question, when, held, source = expected
    found = store.stance(question, user_id=user, at=at(when) if when else None, append=False)
    assert found.claim == held
    assert source in {name for id in found.support for name in read_from(store, id)}


def test_the_move_and_its_why(store: Store) -> None:
    found = store.stance("Where does Jonas live?", user_id="jonas")
    assert found.id is not None
    beaten = [one for one in found.candidates if not one.held]
    assert [one.claim for one in beaten] == ["Jonas Adeyemi lives in Leeds"]
    assert beaten[0].why.startswith("newer: 2025-05-17 after 2025-03-24")
    told = "\n".join(store.why(found.id).lines())
    assert "I live in Edinburgh now" in told
    assert turn(store, "asst-127") in told  # down to the turn itself
    assert found.would_change[0].endswith(": Jonas Adeyemi lives in Leeds")


def test_a_retraction_defeats_and_taking_it_back_restores(store: Store) -> None:
    """Mireille and the shellfish: said, retracted; forget the retraction, and what it had defeated holds again."""
    question = "Is Mireille allergic to shellfish?"
    first = store.stance(question, user_id="jonas")
    assert first.claim == "Mireille is not allergic to shellfish"
    assert [one.why for one in first.candidates if not one.held] == [
        "corrected over stated: Mireille is not allergic to shellfish"
    ]
    assert "but Mireille is not allergic" in "\n".join(store.why(turn(store, "asst-025")).lines())
    retraction = turn(store, "asst-051")
    store.forget(retraction)
    try:
        restored = store.stance(question, user_id="jonas")
        assert restored.claim == "Mireille is allergic to shellfish"
        assert restored.supersedes is None  # what quoted the retraction is gone with it
    finally:
        store.recover(retraction)
    again = store.stance(question, user_id="jonas")
    assert again.claim == first.claim
    assert [one.claim for one in store.stances(question, user_id="jonas")] == [
        first.claim, restored.claim, again.claim,
    ]  # fmt: skip


def test_a_changed_preference_and_its_why(store: Store) -> None:
    """Coffee in March, none from April on: each is held of its time, and the later word is why."""
    found = store.stance("Does Jonas drink coffee?", user_id="jonas", at=at("2025-06-20"), append=False)
    (beaten,) = [one for one in found.candidates if one.claim == "Jonas Adeyemi drinks coffee"]
    assert (beaten.held, beaten.why[:5]) == (False, "newer")
    told = "\n".join(store.why(turn(store, "asst-006")).lines())
    assert "- Jonas Adeyemi drinks coffee" in told
    assert "but Jonas Adeyemi does not drink coffee" in told
    assert turn(store, "asst-063") in told


def test_what_is_stated_beats_what_another_says_of_it(tmp_path: Path) -> None:
    """Taken in by `ingest` and by nothing else: Kim's own word against what Lou has told Ana, a month later."""
    lines = (
        {"role": "user", "name": "Kim", "content": "I live in Leeds.", "timestamp": "2025-03-01T10:00:00Z"},
        {
            "role": "user",
            "name": "Ana",
            "content": "My friend Lou says Kim lives in Hull.",
            "timestamp": "2025-04-01T10:00:00Z",
        },
    )
    history = tmp_path / "history.jsonl"
    history.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    options = ["--guard-dir", str(tmp_path / "guard"), "--store", str(tmp_path / "memory")]
    app([*options[:2], "init", str(tmp_path / "memory")], standalone_mode=False)
    app([*options, "ingest", str(history)], standalone_mode=False)
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        found = opened.stance("Where does Kim live?", at=at("2025-05-01"))
        assert found.claim == "Kim lives in Leeds"
        (beaten,) = [one for one in found.candidates if not one.held]
        assert (beaten.claim, beaten.why) == ("Kim lives in Hull", "stated over inferred: Kim lives in Leeds")
        assert "Kim lives in Hull" in "\n".join(opened.why(beaten.id).lines())


def test_what_is_stated_beats_what_is_inferred(store: Store) -> None:
    """A model that concludes something else, later and surer, does not override what Jonas says."""
    guess = store.append(
        "Jonas must live in Glasgow.",
        type="inference",
        actor="agent",
        method="model_infer",
        parents=[turn(store, "asst-127")],
        claims=[
            braid.Claim(subject="Jonas Adeyemi", rel="lives_in", object="Glasgow", source_type="inferred")
        ],
        confidence=0.99,
        occurred_at=at("2025-06-01"),
        user_id="jonas",
    )
    found = store.stance("Where does Jonas live?", user_id="jonas", at=at("2025-06-20"), append=False)
    assert found.claim == "Jonas Adeyemi lives in Edinburgh"
    assert {one.id: one.why for one in found.candidates}[guess].startswith("stated over inferred")
    store.forget(guess)


def test_what_was_never_a_fact_never_becomes_one(store: Store) -> None:
    """A hypothetical, a pasted code block, a day's anger, sarcasm."""
    for question in ("Does Jonas live in Lisbon?", "Does Jonas live in Paris?"):
        found = store.stance(question, user_id="jonas", at=at("2025-04-10"), append=False)
        assert found.claim == "Jonas Adeyemi lives in Leeds"
    for question in ("Does Jonas hate Craig?", "Does Jonas love rain?"):
        assert store.stance(question, user_id="jonas", append=False).claim is None


def test_claims_of_one_user_never_enter_anothers_stance(store: Store) -> None:
    found = store.stance("Where does Jonas live?", user_id="nadia", append=False)
    assert found.undecided == "nothing is known of it"
    assert {one.subject for one in store.contradictions(user_id="nadia")}.isdisjoint(
        {"Jonas Adeyemi", "Mireille"}
    )


def test_contradictions_and_which_stands(store: Store) -> None:
    found = {(one.one, one.other): one for one in store.contradictions(user_id="jonas")}
    move = found["Jonas Adeyemi lives in Leeds", "Jonas Adeyemi lives in Edinburgh"]
    assert (move.how, move.stands, move.review) == ("other", "other", None)
    shellfish = found["Mireille is allergic to shellfish", "Mireille is not allergic to shellfish"]
    assert (shellfish.how, shellfish.stands) == ("denied", "other")
    then = store.contradictions(user_id="jonas", at=at("2025-04-30"))
    assert "lives_in" not in {one.rel for one in then}  # Edinburgh did not hold yet


def test_every_stance_is_made_again_byte_for_byte(store: Store) -> None:
    from braid.admin.rederivation import rederive

    for user, question, when, *_ in EXPECTED:
        store.stance(question, user_id=user, at=at(when) if when else None)
    found = rederive(store.reader)
    assert found.findings == []
    assert found.same["stance"] >= len(EXPECTED)
    assert store.verify(deep=True, workers=1).exit_code == 0
