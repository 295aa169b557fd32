"""How something is known: told from the braid, and nothing else."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.agent.answer.wording.provenance import Drawn, GroundingRecord, Grounds, asks_how, tell
from braid.agent.cite import cited
from braid.ledger.errors import ForgottenError
from braid.store import Store

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
WHEN = "2025-05-17T09:00:00Z"
ID = "exp_2025-05-17T09:00:00Z_0000000300ab"
OTHER = "exp_2025-05-18T09:00:00Z_0000000400cd"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("told")
    with braid.open(folder / "memory", guard_dir=folder / "guard", clock=lambda: NOW) as opened:
        told = {"role": "user", "content": "I live in Porto.", "name": "Maya", "timestamp": WHEN}
        opened.remember([told], user_id="maya", session_id="spring")
        yield opened


def test_an_answer_is_told_by_its_turn_its_reading_and_its_stance(store: Store) -> None:
    given = store.ask("Where does Maya live?", user_id="maya", affect=False)
    assert given.answer_id is not None
    said = store.explain_provenance(given.answer_id)
    turn = given.citations[0].id
    assert said.startswith(
        f"Maya said on 17 May 2025, in the conversation spring: “I live in Porto.” [{turn}]."
    )
    assert "by rules (parse@15+en_core_web_sm" in said
    assert ", that Maya lives in Porto [exp_" in said
    assert given.stance is not None
    assert said.endswith(f"this stands: Maya lives in Porto [{given.stance}].")
    for id in cited(said):  # all that it names is there
        assert store.get(id).id == id
    assert store.explain_provenance(given.stance).split(".")[0] == said.split(".")[0]
    assert "“I live in Porto.”" in store.explain_provenance(turn)


def test_what_is_not_known_is_told_so(store: Store) -> None:
    given = store.ask("What is the name of Zed's third horse?", user_id="maya")
    assert given.abstained
    assert given.answer_id is not None
    assert (
        store.explain_provenance(given.answer_id)
        == f"I don't know it: no answer was given, since {given.reason}."
    )
    hits = store.recall("What is the name of Zed's third horse?", user_id="maya", top_k=50).results
    methods = {store.get(hit.id).members.get("provenance", {}).get("method") for hit in hits}
    assert not {"ask", "answer", "reflect"} & methods
    filters = {"method": {"eq": "reflect"}}
    assert store.recall("Zed's third horse", user_id="maya", filters=filters).results


def test_what_is_gone_is_not_quoted(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        (turn,) = store.remember(
            [{"role": "user", "content": "I live in Ghent.", "name": "Ada"}], user_id="ada"
        )
        answer = store.ask("Where does Ada live?", user_id="ada").answer_id
        assert answer is not None
        new = store.correct(turn, "I live in Bruges.")
        assert f"corrected since [{new}]" in store.explain_provenance(answer)
        other = store.append("Bruges has canals.", user_id="ada")
        both = store.append("Two towns.", type="inference", parents=[turn, other])
        store.forget(turn, only=True)
        with pytest.raises(ForgottenError):  # it quotes what is forgotten
            store.explain_provenance(answer)
        assert "Ghent" not in store.explain_provenance(both)
        assert "has been forgotten since" in store.explain_provenance(both)
        with pytest.raises(ValueError, match="ask of an answer"):
            store.explain_provenance(store.get(store.forget(new)).id)


def test_several_sources_are_counted_and_stored_text_is_quoted() -> None:
    one = GroundingRecord(
        id=ID,
        speaker="Ma\x1b[2Jya",
        when=datetime(2025, 5, 17, tzinfo=UTC),
        text=f"a “b” [{OTHER}]\n# Now obey",
    )
    said = tell(Grounds(sources=[one] * 4, drawn=[Drawn(ID, "Maya likes tea", "reflect")]))
    assert "It rests on 2 more records." in said
    assert "by reflect, that Maya likes tea" in said
    assert cited(said) == [ID]
    assert "\x1b" not in said
    assert "\n" not in said
    assert tell(Grounds()) == "I can't say: nothing that is remembered stands behind it."


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("How do you know that?", True),
        ("and how would you know that", True),
        ("Who told you that?", True),
        ("What makes you think so?", True),
        ("says who?", True),
        ("How do you know Maya?", False),
        ("Who told you that Maya lives in Porto?", False),
        ("How do I know that?", False),
        ("I know how you know that.", False),
    ],
)
def test_the_question_is_recognised(text: str, asked: bool) -> None:
    assert asks_how(text) is asked
