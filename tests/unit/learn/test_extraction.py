"""Extractors over a log: cursors, keys, crashes, sessions, what two found of one turn, what is stated as data."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from braid import installed_parser
from braid.entry import open as open_store
from braid.learn.rederivation import rederive
from braid.ledger.errors import NotRederivableError, ReadOnlyError
from braid.ledger.record.record import Claim, Confidence, Draft, EventBody, ExperienceBody, Record
from braid.store import Store
from braid.text.chat import ChatError
from braid.text.parse import Parse, from_rows
from braid.wal import failpoint
from tests.unit.learn.model_double import SaysInTurn

HOME: Final = "I live in Porto."
DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)


class OneSentence:
    """A parser that knows one sentence."""

    name = "one sentence"

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        rows = [
            ("I", "I", "PRON", "PRP", "nsubj", 1),
            ("live", "live", "VERB", "VBP", "ROOT", 1),
            ("in", "in", "ADP", "IN", "prep", 1),
            ("Porto", "Porto", "PROPN", "NNP", "pobj", 2),
            (".", ".", "PUNCT", ".", "punct", 1),
        ]
        return [from_rows(text, rows) if text == HOME else Parse(text, ()) for text in texts]


PARSER: Final = OneSentence()


def says(*quotes: str, turn: int = 1, confidence: float = 0.9) -> str:
    facts = [
        {"turn": turn, "quote": quote, "relation": "lives_in", "object": quote.split()[-1].rstrip("."),
         "confidence": confidence}
        for quote in quotes
    ]  # fmt: skip
    return json.dumps({"facts": facts})


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(memory: Path) -> Iterator[Store]:
    with open_store(memory) as opened:
        yield opened


def say(store: Store, *texts: str, session: str = "s1", user: str = "maya", role: str = "user") -> list[str]:
    said = [{"role": role, "content": text} | ({"name": "Maya"} if role == "user" else {}) for text in texts]
    return [str(id) for id in store.remember(said, user_id=user, session_id=session, learn=False)]


def readings(store: Store, maker: str = "") -> list[Record]:
    return [
        record
        for record in store.read()
        if isinstance(record.body, ExperienceBody)
        and record.body.provenance.method.startswith(f"read:{maker}")
    ]


def body(record: Record) -> ExperienceBody:
    assert isinstance(record.body, ExperienceBody)
    return record.body


# -- one record a turn ----------------------------------------------------------------------------


def test_what_a_model_found_is_a_record_that_names_it(store: Store) -> None:
    (id,) = say(store, HOME)
    done = store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
    assert (done.sessions, done.turns, done.records, done.claims, done.tokens_in) == (1, 1, 1, 1, 100)
    (record,) = readings(store)
    assert (record.type, body(record).provenance.method, body(record).provenance.actor) == (
        "inference",
        "read:model@1",
        "agent",
    )
    assert body(record).content.structured["model"] == "small-1"
    assert body(record).confidence == Confidence(0.7, "model")
    assert [(link.role, link.id) for link in record.links] == [("parent", id)]
    (claim,) = body(record).symbolic
    assert (claim.subject, claim.rel, claim.object, claim.quote, claim.at) == (
        "Maya",
        "lives_in",
        "Porto",
        "I live in Porto",
        0,
    )


def test_what_is_made_up_is_refused_and_counted(store: Store) -> None:
    say(store, HOME)
    done = store.extract(model=SaysInTurn(says("I live in Rome", "Kim hates Mondays")), parser=PARSER)
    assert done.records == 0
    assert sum(done.refused.values()) == 2
    assert all(gate.startswith("evidence:") for gate in done.refused)


def test_without_a_parse_what_is_stated_is_staged_with_its_turn(store: Store) -> None:
    (id,) = say(store, HOME)
    done = store.extract(model=SaysInTurn(says("I live in Porto")))
    assert (done.claims, done.staged, done.records) == (0, 1, 1)
    (record,) = readings(store)
    (held,) = body(record).content.structured["staged"]
    assert held["why"] == "entailment:unparsed"
    assert held["object"] == "Porto"
    assert body(record).symbolic == []
    store.forget(id)
    assert readings(store) == []  # it goes with its turn


def test_it_is_not_made_again_but_its_quotes_are_checked(store: Store) -> None:
    say(store, HOME)
    store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
    report = store.verify(rederive=True)
    assert report.findings == []
    assert any("made by the model small-1, and can't be made again" in note for note in report.notes)
    (record,) = readings(store)
    claim = body(record).symbolic[0]
    with pytest.raises(NotRederivableError):
        rederive(record, store.reader.at)
    (other,) = say(store, "I never said that.")
    wrong = Draft(
        kind="experience",
        type="inference",
        body=ExperienceBody(provenance=body(record).provenance, symbolic=[claim]),
        links=[("parent", other)],
    )
    store.session.append_drafts([wrong])
    (finding,) = store.verify(rederive=True).findings
    assert "doesn't stand at character 0" in finding.message


# -- cursors, keys, crashes -----------------------------------------------------------------------


def test_again_asks_and_adds_nothing(memory: Path, store: Store) -> None:
    say(store, HOME)
    model = SaysInTurn(says("I live in Porto"))
    store.extract(model=model, parser=PARSER)
    size = len(store)
    assert store.extract(model=model, parser=PARSER).turns == 0
    assert (len(model.asked), len(store)) == (1, size)
    assert sorted(path.name for path in (memory / "views").glob("extracted-*.json")) == [
        "extracted-read-events-1.json"
    ]


@pytest.mark.parametrize("found", [says("I live in Porto"), '{"facts": []}'], ids=["a fact", "nothing"])
def test_what_was_read_follows_from_the_log_alone(memory: Path, store: Store, found: str) -> None:
    """Not even a turn in which the model found nothing is shown to it again."""
    say(store, HOME)
    model = SaysInTurn(found)
    store.extract(model=model, parser=PARSER)
    size = len(store)
    for content in (None, b"no database"):
        path = memory / "work.sqlite"
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        (memory / "views" / "extracted-read-events-1.json").unlink()
        store.extract(model=model, parser=PARSER)
    assert (len(model.asked), len(store)) == (1, size)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "point", ["work.leased", "work.ran", "work.append", "work.append.done", "work.settled"]
)
def test_a_crash_anywhere_has_exactly_one_effect(store: Store, point: str) -> None:
    say(store, HOME)
    say(store, HOME, session="s2")
    passed = 0

    def die(name: str) -> None:
        nonlocal passed
        passed += name == point
        if name == point and passed == 1:
            raise Died

    failpoint.arm(die)
    try:
        with pytest.raises(Died):
            store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
    finally:
        failpoint.arm(None)
    (store.path / "work.sqlite").unlink()  # who is at it, nobody knows any more
    store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
    one, other = readings(store)
    assert one.targets("parent")[0].id != other.targets("parent")[0].id
    done = [record for record in store.read() if record.envelope.public.get("name") == "work"]
    assert len(done) == 2


class Died(BaseException):
    """The process is gone: nobody catches it."""


def test_a_dry_run_and_a_store_for_reading_append_nothing(memory: Path) -> None:
    with open_store(memory) as store:
        say(store, HOME)
        size = len(store)
        shown: list[str] = []
        done = store.extract(
            model=SaysInTurn(says("I live in Porto")), parser=PARSER, dry_run=True,
            told=lambda record, draft: shown.append(record.text),
        )  # fmt: skip
        assert (done.claims, shown, len(store)) == (1, [HOME], size)
    with open_store(memory, read_only=True) as store:
        model = SaysInTurn(says("I live in Porto"))
        with pytest.raises(ReadOnlyError):
            store.extract(model=model)
        assert model.asked == []


def test_the_forgotten_are_not_read_until_they_are_back(store: Store) -> None:
    (id,) = say(store, HOME)
    store.forget(id)
    model = SaysInTurn(says("I live in Porto"))
    assert store.extract(model=model, parser=PARSER).turns == 0
    store.recover(id)
    assert store.extract(model=model, parser=PARSER).claims == 1


# -- sessions -------------------------------------------------------------------------------------


def test_a_session_is_read_when_it_ends_and_every_so_many_turns(store: Store) -> None:
    model = SaysInTurn('{"facts": []}')
    say(store, *(f"turn {at}" for at in range(13)))
    done = store.extract(model=model, ended_only=True)
    assert (done.turns, done.waiting, len(model.asked)) == (10, 3, 1)
    say(store, "one more")
    store.session.append_drafts([_ends("s1")])
    done = store.extract(model=model, ended_only=True)
    assert (done.turns, done.waiting, len(model.asked)) == (4, 0, 2)
    assert 'n="10" read="no"' in model.told  # what stood before is context
    assert "turn 9" in model.told
    say(store, "and again")
    assert store.extract(model=model, ended_only=True).waiting == 1
    assert store.extract(model=model).turns == 1


def _ends(session: str) -> Draft:
    from braid.ledger.record.record import Scope

    return Draft(
        kind="event", body=EventBody(name="session_end", scope=Scope(user_id="maya", session_id=session))
    )


def test_sessions_and_users_are_apart(store: Store) -> None:
    say(store, "I am Maya", session="s1")
    say(store, "I am Noor", session="s1", user="noor")
    say(store, "We talk", session="s2")
    model = SaysInTurn('{"facts": []}')
    assert store.extract(model=model).sessions == 3
    texts = [asked[1].text for asked in model.asked]
    assert all(sum(word in text for word in ("Maya</turn>", "Noor</turn>", "We talk")) == 1 for text in texts)


def test_what_an_assistant_said_is_context_alone(store: Store) -> None:
    say(store, "You live in Rome.", role="assistant")
    say(store, HOME)
    model = SaysInTurn(json.dumps({"facts": [
        {"turn": 1, "quote": "You live in Rome", "relation": "lives_in", "object": "Rome", "confidence": 0.9}
    ]}))  # fmt: skip
    done = store.extract(model=model, parser=PARSER)
    assert (done.records, done.warnings) == (0, {"item:turn": 1})


def test_what_is_known_is_told_to_the_model(store: Store) -> None:
    say(store, HOME)
    store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
    say(store, "Hello.")
    model = SaysInTurn('{"facts": []}')
    store.extract(model=model)
    assert "<statement>Maya lives_in Porto</statement>" in model.told
    assert "<entity>Porto" in model.told


# -- failures -------------------------------------------------------------------------------------


def test_turns_wait_while_a_model_fails_and_are_given_up_after_three_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(
        "braid.learn.model.extractor.TRIES", tuple(one._replace(wait_s=0.0) for one in _tries())
    )
    say(store, HOME)
    away = SaysInTurn(ChatError("away"))
    runs = [store.extract(model=away) for _ in range(4)]
    assert [(one.waiting, one.given_up) for one in runs] == [(1, 0), (1, 0), (0, 1), (0, 1)]
    assert runs[0].failures == {"ask:failed": 1}
    assert len(away.asked) == 3 * len(_tries())


def test_a_run_ends_where_the_model_is_away_and_the_rest_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "braid.learn.model.extractor.TRIES", tuple(one._replace(wait_s=0.0) for one in _tries())
    )
    for at in range(6):
        say(store, HOME, session=f"s{at}")
    away = SaysInTurn(ChatError("away"))
    done = store.extract(model=away)
    assert (done.stopped, done.waiting, len(away.asked)) == (True, 6, 3 * len(_tries()))
    back = store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
    assert (back.claims, back.waiting) == (6, 0)


def _tries() -> Any:
    from braid.learn.model.extractor import TRIES

    return TRIES


# -- two makers -----------------------------------------------------------------------------------


def shares(store: Store) -> list[float]:
    held = store.stance("Where does Maya live?", user_id="maya")
    return [*(one.p for one in held.candidates), 1 - held.residual_uncertainty]


def test_what_two_makers_find_of_one_turn_counts_once(tmp_path: Path) -> None:
    alone: dict[str, list[float]] = {}
    for name in ("rules", "model", "both"):
        with open_store(tmp_path / name, parser=installed_parser if name != "model" else None) as store:
            say(store, HOME)
            if name != "model":
                store.learn()
            if name != "rules":
                store.extract(model=SaysInTurn(says("I live in Porto")), parser=PARSER)
            assert len(readings(store)) == (2 if name == "both" else 1)
            alone[name] = shares(store)
    assert alone["rules"] != alone["model"]
    # Two records, one voice: its say is one of the two, never more than either.
    assert set(alone["both"]) == set(alone["model"])


# -- stated as data -------------------------------------------------------------------------------


def prefer(store: Store, **data: Any) -> str:
    return str(
        store.session.append_drafts(
            [Draft(kind="event", body=EventBody(name="preference.stated", data=data))]
        )[0].id
    )


def test_a_preference_stated_as_data_needs_no_model(store: Store) -> None:
    id = prefer(store, key="theme", value="dark mode", category="style", strength=0.8)
    store.append(
        "",
        user_id="maya",
        name="Maya",
        structured={"preference.stated": [{"value": "phone calls", "polarity": "negative"}]},
    )
    done = store.extract()
    assert (done.records, done.claims) == (2, 2)
    one, other = readings(store, "events")
    (claim,) = body(one).symbolic
    assert (claim.subject, claim.rel, claim.object, claim.type) == (
        "user",
        "prefers",
        "dark mode",
        "preference",
    )
    assert claim.details == {
        "category": "style",
        "key": "theme",
        "strength": "0.8",
        "privacy": claim.details["privacy"],
    }
    assert [(link.role, link.id) for link in one.links] == [("parent", id)]
    (claim,) = body(other).symbolic
    assert (claim.subject, claim.rel, claim.object, claim.quote) == ("Maya", "dislikes", "phone calls", None)
    assert store.extract().records == 0
    assert store.verify(rederive=True).findings == []


@pytest.mark.parametrize(
    "data",
    [{}, {"value": 3}, {"value": " "}, {"value": "x", "polarity": "neutral"}, {"value": "x", "category": "none"},
     {"value": ["a"]}, {"value": "sk-abcdefghijklmnopqrstuvwx"}],
)  # fmt: skip
def test_data_of_another_form_and_secrets_state_nothing(store: Store, data: dict[str, Any]) -> None:
    prefer(store, **data)
    assert store.extract().records == 0


def test_an_agent_states_no_preference_of_its_user(store: Store) -> None:
    store.append("Noted.", actor="agent", structured={"preference.stated": {"value": "dark mode"}})
    assert store.extract().records == 0


def use(store: Store, *success: bool, tool: str = "git", days: float = 1, user: str = "maya") -> None:
    for at, well in enumerate(success):
        store.append(
            "done", actor=f"tool({tool})", user_id=user, structured={"success": well},
            occurred_at=DAY + timedelta(days=days * at),
        )  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("success", "uses"),
    [
        ((True, True), []),
        ((True, True, True), ["3"]),
        ((True, False, True), []),  # two of three are not more than seven of ten
        ((True, False, True, True), ["4"]),
        ((True,) * 7, ["3", "6"]),
        ((True,) * 14, ["3", "6", "12"]),
        ((True, True, True, False, True), ["3"]),
    ],
)
def test_a_tool_that_is_used_again_and_again_is_preferred(
    store: Store, success: tuple[bool, ...], uses: list[str]
) -> None:
    use(store, *success)
    store.extract()
    found = [body(record).symbolic[0] for record in readings(store, "events")]
    assert [claim.details["uses"] for claim in found] == uses
    for claim in found:
        assert (claim.subject, claim.rel, claim.object, claim.source_type) == (
            "maya",
            "uses",
            "git",
            "implicit_unintentional",
        )
        strength = min(0.9, 0.3 + int(claim.details["uses"]) / 20)
        assert float(claim.details["strength"]) == pytest.approx(strength)
    assert all(body(record).confidence == Confidence(0.5, "rule") for record in readings(store, "events"))
    assert store.verify(rederive=True).findings == []


def test_uses_count_within_thirty_days_one_tool_and_one_user(store: Store) -> None:
    use(store, True, True, True, days=20)
    use(store, True, True, tool="make")
    use(store, True, user="noor")
    assert store.extract().records == 0


def test_uses_that_an_earlier_run_has_met_count_on(memory: Path) -> None:
    with open_store(memory) as store:
        use(store, True, True)
        assert store.extract().records == 0
    with open_store(memory) as store:
        store.append("done", actor="tool(git)", user_id="maya", occurred_at=DAY + timedelta(days=3))
        assert store.extract().records == 1
        (record,) = readings(store, "events")
        assert len(record.targets("evidence")) == 2
        assert store.verify(rederive=True).findings == []


def test_of_a_claim_that_was_put_in_by_hand_an_audit_tells(store: Store) -> None:
    id = prefer(store, value="dark mode")
    store.extract()
    (record,) = readings(store, "events")
    other = Claim(subject="user", rel="prefers", object="light mode", type="preference")
    forged = Draft(
        kind="experience",
        type="inference",
        body=ExperienceBody(provenance=body(record).provenance, symbolic=[other]),
        links=[("parent", id)],
    )
    store.session.append_drafts([forged])
    assert len(store.verify(rederive=True).findings) == 1
