"""The right to be forgotten: a fact, an entity or everything goes, and no file outside the log says its words.

The log's ciphertext stays for what was not erased, and nothing else. Each trace is first shown to be findable.
"""

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from braid.ledger.errors import ErasedError, PuncturedError
from braid.ledger.record.record import Claim
from braid.store import Store
from braid.text.chat import ChatError
from tests.unit.api.test_jobs import Clock, Model, opened, say, work
from tests.unit.learn.test_extraction import says

NEEDLE = "Quetzaltown"
OTHER = "Faro"
SAID = f"I live in {NEEDLE}"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as one:
        yield one


def traces(folder: Path) -> set[str]:
    """Return the files that hold the word: as text, in UTF-16, in base64 or in hex, by their names too."""
    raw = [
        NEEDLE.encode(),
        NEEDLE.lower().encode(),
        NEEDLE.encode("utf-16-le"),
        NEEDLE.encode().hex().encode(),
    ]
    raw.append(b64encode(NEEDLE.encode())[:-4])
    found: set[str] = set()
    for path in folder.rglob("*"):
        data = os.fsencode(path.name) + (path.read_bytes() if path.is_file() else b"")
        if any(one in data for one in raw):
            found.add(str(path.relative_to(folder)))
    return found


def reads(text: str) -> str:
    """A model that reads the fact, and one that nothing bears out: it is staged."""
    if NEEDLE not in text:
        return '{"facts": []}'
    facts = json.loads(says(SAID))
    staged = json.loads(says(NEEDLE, confidence=0.3))
    return json.dumps({"facts": [*facts["facts"], *staged["facts"]]})


def lived(store: Store, clock: Clock) -> list[str]:
    """Let the word be said, read, staged, answered, doubted, corrected, embedded, snapshotted; return what said it."""
    turns = say(store, SAID, "And I like tea.")
    work(store, clock, Model(reads))
    assert NEEDLE in repr(store.staging(user_id="maya"))

    def crashes(text: str) -> str:
        raise ChatError(f"no answer to {text}")

    turns += say(store, f"{NEEDLE} is cold", session="s2")
    work(store, clock, Model(crashes))
    claim = Claim(subject="Maya", rel="lives_in", object=NEEDLE)
    turns.append(
        store.append(f"Maya lives in {NEEDLE}.", claims=[claim], user_id="maya", actor="user", name="Maya")
    )
    store.ask(f"Does Maya live in {NEEDLE}?", user_id="maya")
    store.stance("Where does Maya live?", user_id="maya")
    store.apply_lens("temporal", user_id="maya")
    store.alias_entity(NEEDLE, ["Q-town"], user_id="maya")
    turns.append(store.append(f"{NEEDLE} has a river.", user_id="maya"))
    store.correct(turns[-1], f"{NEEDLE} has two rivers.")
    store.forget(store.append(f"A secret of {NEEDLE}.", user_id="maya"))
    store.recall(NEEDLE, user_id="maya")
    store.views.search.catch_up()
    store.replay()
    store.snapshot()
    return turns


def everything_is_gone(store: Store, folder: Path, keep: set[str]) -> None:
    """Assert that no file and no operation says the word, now and when all is made again."""
    left = [
        one.body for one in store.read(include_forgotten=True) if NEEDLE.lower() in repr(one.body).lower()
    ]
    assert left == []
    assert traces(folder) <= keep
    for state in ("pending", "dead", "done", None):
        assert NEEDLE not in repr(store.jobs(state=state))
    assert NEEDLE not in repr(store.staging(user_id="maya"))
    assert NEEDLE not in repr(store.entities(user_id="maya"))
    store.session.views.drop()
    store.replay()
    store.views.search.catch_up()
    store.snapshot()
    store.backup(folder / "backup")
    assert traces(folder) <= keep
    assert store.verify(deep=True).findings == []


def test_everything_of_somebody_goes_from_every_file(store: Store, clock: Clock, tmp_path: Path) -> None:
    turns = lived(store, clock)
    before = traces(tmp_path)
    assert {path.split("/")[2] for path in before if path.startswith("memory/views/")} >= {
        "duck",
        "snapshots",
    }
    store.append("Tom likes rum.", user_id="tom")
    done = store.erase(user_id="maya", reason="asked to")
    named = {one.id for each in done for one in store.certificate(each.id).records}
    assert set(turns) <= named
    everything_is_gone(store, tmp_path, set())
    vault = store.reader.need_vault()
    for id in turns:
        with pytest.raises(ErasedError):
            store.get(id, include_forgotten=True)
        with pytest.raises(PuncturedError):
            vault.key(store.reader.index_of(id))


def test_a_fact_goes_with_all_that_was_made_of_it(store: Store, clock: Clock, tmp_path: Path) -> None:
    (turn, tea) = say(store, SAID, "And I like tea.")
    work(store, clock, Model(reads))
    store.ask("Where do I live?", user_id="maya")
    store.views.search.catch_up()
    store.replay()
    assert traces(tmp_path)
    store.erase(turn)
    everything_is_gone(store, tmp_path, set())
    assert store.get(tea).text == "And I like tea."


def test_an_entity_goes_by_its_names_whatever_was_read_of_it(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    say(store, SAID, "And I like tea.")
    work(store, clock, Model(reads))
    claim = Claim(subject="Maya", rel="lives_in", object=NEEDLE)
    store.append(f"Maya lives in {NEEDLE}.", claims=[claim], user_id="maya", actor="user", name="Maya")
    store.alias_entity(NEEDLE, [OTHER], user_id="maya")
    store.replay()
    found = store.entity(NEEDLE, user_id="maya")
    assert found.decisions
    planned = store.plan_erase(says=found.names, user_id="maya")
    assert {one.id for one in planned.erased} >= {*found.decisions, *(one.turn for one in found.mentions)}
    store.erase(says=found.names, user_id="maya")
    everything_is_gone(store, tmp_path, set())


def test_the_files_beside_the_log_never_held_a_word(store: Store, clock: Clock, tmp_path: Path) -> None:
    lived(store, clock)
    held = {path for path in traces(tmp_path) if not path.startswith("memory/views/")}
    assert held == set()
    for name in ("work.sqlite", "outbound.sqlite"):
        assert (tmp_path / "memory" / name).exists(), name


def test_a_name_is_whole_words_in_any_case_and_form_and_in_nobody_elses_memory(store: Store) -> None:
    said = [
        store.append(text, user_id="maya")
        for text in ("ZOË lives here.", "Zoe\u0308\nis a cook", "I met Zoë Maria", "(zoë)")
    ]
    kept = [store.append(text, user_id="maya") for text in ("Zoëlla is a dog.", "Zoe is another.")]
    kept.append(store.append("Zoë is mine, too.", user_id="tom"))
    hidden = store.append("Zoë, once more", user_id="maya")
    store.forget(hidden)
    store.change_setting("redacted_terms", "Zoë", reason="no model is shown her")
    assert {one.id for one in store.plan_erase(says=("zoë",), user_id="maya").asked} == {*said, hidden}
    assert {one.id for one in store.plan_erase(says=("Zoë",)).asked} == {*said, hidden, kept[-1]}
    assert [one.id for one in store.plan_erase(says=("zoë  maria",)).asked] == [said[2]]
    odd = [
        store.append(text, user_id="maya")
        for text in ("\uff2f\uff42\uff32\uff29\uff25\uff2e came", "Ob\u00adrien", "met O\u2019Brien")
    ]
    assert [one.id for one in store.plan_erase(says=("Obrien",)).asked] == odd[:2]
    assert [one.id for one in store.plan_erase(says=("O'Brien",)).asked] == odd[2:]
    tokyo = store.append("東京に住んでいます", user_id="maya")
    assert [one.id for one in store.plan_erase(says=("東京",)).asked] == [tokyo]
    for nothing in ("", "a", "..", " "):
        with pytest.raises(ValueError, match="says"):
            store.erase(says=(nothing,))
    assert store.erase(says=("Nobody",)) == ()
    store.erase(says=("Zoë",))
    assert [store.get(id).text for id in kept[:2]] == ["Zoëlla is a dog.", "Zoe is another."]
    assert [one.value for one in store.list_settings() if one.key == "redacted_terms"] == [["Zoë"]]
