"""Reading follows the log: what is appended, once; what happens to it when its turn is forgotten, erased, corrected."""

import io
from pathlib import Path
from typing import Any

import pytest

from braid import open as open_store
from braid.exchange.intake import import_jsonl
from braid.exchange.lines import export_jsonl
from braid.learn.inference import rederive
from braid.learn.parse.reader import ParseReader
from braid.learn.reading import method_of
from braid.ledger.errors import ReadOnlyError
from braid.ledger.record.record import READING, ExperienceBody, Record
from braid.ledger.write.compose import encode_body
from braid.models.spacy_parser import shared
from braid.stance.readings import COUNTS
from braid.store import Store

READER = ParseReader(shared(), frozenset())


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def readings(store: Store, **options: Any) -> list[Record]:
    """The inference records that were read, oldest first."""
    return [
        record
        for record in store.read(**options)
        if isinstance(record.body, ExperienceBody) and record.body.provenance.method.startswith(READING)
    ]


def words(store: Store) -> list[str]:
    return [record.text for record in readings(store)]


def say(store: Store, text: str, user_id: str = "ana", session_id: str | None = None) -> str:
    """Remember what Ana says; return its id."""
    message = {"role": "user", "name": "Ana", "content": text, "timestamp": "2025-05-01T10:00:00Z"}
    return store.remember(message, user_id=user_id, session_id=session_id)[0]


def test_what_is_remembered_is_read(memory: Path) -> None:
    with open_store(memory) as store:
        id = say(store, "I live in Leeds with my partner Mo.", session_id="s1")
        (record,) = readings(store)
        body = record.body
        assert isinstance(body, ExperienceBody)
        assert record.type == "inference"
        assert record.text == "Ana partner_is Mo; Ana lives_in Leeds"
        assert [(link.role, link.id) for link in record.links] == [("parent", id)]
        assert body.scope == store.get(id).body.scope
        assert body.occurred_at == store.get(id).body.occurred_at
        assert (body.provenance.actor, body.provenance.method) == ("agent", method_of(READER))
        assert body.confidence is not None
        assert body.confidence.p == COUNTS["state"].p


def test_a_softened_claim_is_less_sure(memory: Path) -> None:
    with open_store(memory) as store:
        store.set_learning(health=True)
        say(store, "I think I'm allergic to cats.")
        body = readings(store)[0].body
        assert isinstance(body, ExperienceBody)
        assert body.confidence is not None
        assert body.confidence.p < 0.7
        assert body.symbolic[0].hedge == "I think"


def test_without_reading_nothing_is_read_until_asked(memory: Path) -> None:
    with open_store(memory) as store:
        store.remember("I live in Leeds.", learn=False)
        assert words(store) == []
        done = store.learn()
        assert (done.read, done.records, done.claims) == (1, 1, 1)
        assert words(store) == ["user lives_in Leeds"]


def test_again_adds_nothing_even_without_its_position(memory: Path) -> None:
    with open_store(memory) as store:
        say(store, "I live in Leeds.")
        size = len(store)
        assert store.learn().read == 0
    (memory / "views" / "learned.json").unlink()
    with open_store(memory) as store:
        done = store.learn()
        assert (done.read, done.records) == (1, 0)
        assert len(store) == size
    (memory / "views" / "learned.json").write_text("not JSON")
    with open_store(memory) as store:
        assert store.learn().records == 0


def test_a_dry_run_appends_nothing(memory: Path) -> None:
    with open_store(memory) as store:
        store.remember("I live in Leeds.", learn=False)
        size = len(store)
        shown: list[str] = []
        done = store.learn(dry_run=True, told=lambda record, draft: shown.append(record.text))
        assert (done.records, done.claims, shown) == (1, 1, ["I live in Leeds."])
        assert len(store) == size
        assert store.learn().records == 1


def test_for_reading_only_it_is_refused(memory: Path) -> None:
    with open_store(memory) as store:
        store.remember("I live in Leeds.", learn=False)
    with open_store(memory, read_only=True) as store:
        assert store.learn(dry_run=True).records == 1
        with pytest.raises(ReadOnlyError):
            store.learn()


def test_a_name_is_known_after_reopening_and_named_as_evidence(memory: Path) -> None:
    with open_store(memory) as store:
        first = say(store, "My wife Dora is here.")
    with open_store(memory) as store:
        second = say(store, "My wife works at Shell.")
        record = readings(store)[-1]
        assert record.text == "Dora works_at Shell"
        assert [(link.role, link.id) for link in record.links] == [("parent", second), ("evidence", first)]


def test_what_is_known_of_one_memory_is_not_known_in_another(memory: Path) -> None:
    with open_store(memory) as store:
        say(store, "My wife Dora is here.", user_id="one")
        say(store, "My wife works at Shell.", user_id="two")
        assert words(store)[-1] == "Ana's wife works_at Shell"


def test_what_is_forgotten_takes_its_reading_along_and_brings_it_back(memory: Path) -> None:
    with open_store(memory) as store:
        id = say(store, "I live in Leeds.")
        store.forget(id)
        assert words(store) == []
        assert store.sql("SELECT count(*) AS n FROM experiences").to_pylist() == [{"n": 0}]
        store.recover(id)
        assert words(store) == ["Ana lives_in Leeds"]


def test_a_reading_that_was_forgotten_alone_stays_so(memory: Path) -> None:
    with open_store(memory) as store:
        id = say(store, "I live in Leeds.")
        reading = readings(store)[0].id
        store.forget(reading)
        store.forget(id)
        store.recover(id)
        assert words(store) == []
        store.recover(reading)
        assert words(store) == ["Ana lives_in Leeds"]


def test_what_was_forgotten_before_it_was_read_is_read_when_it_comes_back(memory: Path) -> None:
    with open_store(memory) as store:
        (id,) = store.remember("I live in Leeds.", learn=False)
        store.forget(id)
        assert store.learn().records == 0
        store.recover(id)
        assert store.learn().records == 1


def test_erasing_a_turn_erases_what_was_read_of_it_whatever_bore_it_out(memory: Path) -> None:
    with open_store(memory) as store:
        say(store, "My wife Dora is here.")
        id = say(store, "My wife works at Shell.")
        reading = readings(store)[-1]
        assert [named.id for named in store.plan_erase(id).derived] == [reading.id]
        store.erase(id)
        assert words(store) == ["Ana partner_is Dora"]
        assert store.learn().records == 0
        assert store.verify(deep=True).exit_code == 0


@pytest.mark.parametrize("act", ["erase", "forget"])
def test_what_is_gone_lends_nothing_to_what_is_said_later_in_the_same_process(memory: Path, act: str) -> None:
    with open_store(memory) as store:
        id = say(store, "My wife Dora is here.")
        getattr(store, act)(id)
        said = store.remember(
            {"role": "user", "name": "Ana", "content": "My wife works at Shell."}, user_id="ana"
        )
        assert (said.status, said.warnings) == ("processed", ())
        assert not any("Dora" in text for text in words(store))
        assert store.learn().records == 0


def test_a_reading_that_was_erased_alone_does_not_come_back(memory: Path) -> None:
    with open_store(memory) as store:
        say(store, "I live in Leeds.")
        store.erase(readings(store)[0].id)
    (memory / "views" / "learned.json").unlink()
    with open_store(memory) as store:
        assert store.learn().records == 0
        assert words(store) == []


def test_a_correction_is_read(memory: Path) -> None:
    with open_store(memory) as store:
        id = say(store, "I live in Leeds.")
        new = store.correct(id, "I live in Luton.")
        assert words(store) == ["Ana lives_in Leeds", "Ana lives_in Luton"]
        assert readings(store)[-1].targets("parent")[0].id == new
        unread = store.append("I live in Hull.", name="Ana", user_id="ana")
        store.correct(unread, "I live in Hove.")
        assert len(words(store)) == 2, "what was never read is not read by correcting it"


def test_each_reading_is_made_again_byte_for_byte(memory: Path) -> None:
    with open_store(memory) as store:
        say(store, "My wife Dora is here, and my brother Leo.", session_id="s1")
        say(store, "My wife works at Shell. Leo lives in Rome since 3 March.")
        say(store, "Forget what I said about Leo living in Rome.")
        assert len(readings(store)) == 3
        for record in readings(store):
            draft = rederive(record, store.reader.at, (READER,))
            assert encode_body(draft) == record.raw
            assert list(draft.links) == [(link.role, link.id) for link in record.links]


def test_another_readers_words_are_not_made_again(memory: Path) -> None:
    from braid.ledger.errors import NotRederivableError

    with open_store(memory) as store:
        id = store.append("I live in Leeds.")
        other = store.append("user lives_in Leeds", type="inference", parents=[id], method="read:other@9")
        with pytest.raises(NotRederivableError, match="no reader other@9"):
            rederive(store.get(other), store.reader.at, (READER,))


def test_many_turns_cost_what_they_are(memory: Path) -> None:
    """Each is read once: the log isn't read anew for each message."""
    with open_store(memory) as store:
        done = [
            store.learn().read
            for text in ("I live in Leeds.",) * 20
            if store.remember(text, session_id="s1", learn=False)
        ]
        assert done == [1] * 20


def asked(store: Store, question: str, reply: str, days: int = 0) -> list[Record]:
    """Remember a question of an assistant's and Ana's reply; return what was read."""
    messages = [
        {"role": "assistant", "content": question, "timestamp": "2025-05-01T10:00:00Z"},
        {"role": "user", "name": "Ana", "content": reply, "timestamp": f"2025-05-{1 + days:02d}T10:00:30Z"},
    ]
    store.remember(messages, user_id="ana")
    return readings(store)


def test_a_short_reply_is_read_by_its_question(memory: Path) -> None:
    with open_store(memory) as store:
        store.set_learning(health=True)
        (record,) = asked(store, "Thanks! Do you have any allergies?", "Only dust.")
        body = record.body
        assert isinstance(body, ExperienceBody)
        assert [(one.subject, one.rel, one.object, one.quote) for one in body.symbolic] == [
            ("Ana", "allergic_to", "dust", "Only dust")
        ]
        question = next(link.id for link in record.links if link.role == "evidence")
        assert store.get(question).text == "Thanks! Do you have any allergies?"
        assert store.verify(rederive=True).exit_code == 0
        store.erase(question)
        assert store.verify(rederive=True).exit_code == 0


@pytest.mark.parametrize(
    ("question", "reply", "days"),
    [
        ("Do you have any allergies?", "Only dust.", 3),
        ("Do you have any allergies? And where do you live?", "Leeds.", 0),
        ("Do you drink tea or coffee?", "Yes.", 0),
        ("Does Kim have any allergies?", "Only dust.", 0),
        ("You live in Leeds.", "Yes.", 0),
        ("Do you have any allergies?", "None that I know of.", 0),
    ],
)
def test_a_reply_to_something_else_states_nothing(memory: Path, question: str, reply: str, days: int) -> None:
    with open_store(memory) as store:
        assert asked(store, question, reply, days) == []


def test_what_was_called_off_and_what_was_taken_up_again(memory: Path) -> None:
    with open_store(memory) as store:
        for day, text in enumerate(
            (
                "I've signed up for the beekeeping course.",
                "I've pulled out of the beekeeping course.",
                "I don't drink green tea.",
                "I drink green tea every morning now.",
            ),
            1,
        ):
            when = f"2025-05-{day:02d}T10:00:00Z"
            message = {"role": "user", "name": "Ana", "content": text, "timestamp": when}
            store.remember(message, user_id="ana")
        held = [one.other for one in store.contradictions(user_id="ana") if one.stands == "other"]
        assert held == ["Ana did not sign up for beekeeping course", "Ana drinks green tea"]


def test_what_came_with_an_imported_record_is_not_read_again(memory: Path, tmp_path: Path) -> None:
    out = io.StringIO()
    with open_store(memory) as store:
        say(store, "I live in Leeds with my partner Mo.")
        store.remember("I like tea.", user_id="ana", learn=False)
        export_jsonl(store, out)
        key = store.vkey
    with open_store(tmp_path / "other") as store:
        import_jsonl(store, out.getvalue().encode().splitlines(keepends=True), vkey=key)
        assert words(store) == ["Ana partner_is Mo; Ana lives_in Leeds"]
        store.forget(readings(store)[0].id)
        assert store.learn(dry_run=True).records == 1
        say(store, "I have a dog called Rex.", user_id="bo")
        came, *read_here = readings(store, include_forgotten=True)
        assert came.text == "Ana partner_is Mo; Ana lives_in Leeds"
        assert len({record.links[0].index for record in [came, *read_here]}) == 1 + len(read_here)
        assert any("tea" in record.text for record in read_here)
        size = len(store)
        (store.path / "views" / "learned.json").unlink()
    with open_store(tmp_path / "other") as store:
        assert (store.learn().records, len(store)) == (0, size)
