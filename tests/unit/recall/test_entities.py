"""Entities as a way into memories: a name, what is said of it, and who is one hop away."""

from pathlib import Path

from braid.entry import open as open_store
from braid.ledger.record.record import Claim, Scope
from braid.recall.entities import EntityIndex, MentionRow, entity_index

ROWS = [
    MentionRow("e1", "Nadia Novak", "person", 3, 4, 0),
    MentionRow("e2", "Ghent", "place", 3, 4, 0),
    MentionRow("e3", "QuickBooks", "product", 7, 8, 0),
    MentionRow("e4", "Alex", "person", 9, 10, 0),
    MentionRow("e5", "Alex", "person", 11, 12, 0),
    MentionRow("e6", "user", "person", 7, 8, 0),
    MentionRow("e1", "Nadia", "person", 13, 14, 0),
]


def test_a_name_means_whom_it_names_and_an_ambiguous_one_nobody() -> None:
    index = EntityIndex(ROWS)
    found = index.resolve("nadia")
    assert found is not None
    assert (found.id, found.type, found.turns) == ("e1", "person", (3, 13))
    qbo = index.resolve("QBO")
    assert qbo is not None
    assert qbo.id == "e3"
    assert index.resolve("Alex") is None
    assert index.resolve("Zoe") is None
    assert index.resolve("user") is None
    assert index.resolve("") is None


def test_a_text_names_entities_in_its_order_and_the_longest_name_counts() -> None:
    index = EntityIndex(ROWS)
    found = index.entities_in("Does Alex know whether Nadia Novak's QuickBooks is in Ghent, or Nadia's?")
    assert [one.id for one in found] == ["e1", "e3", "e2"]
    assert index.entities_in("nothing of that") == []


def test_one_hop_is_whom_a_claim_names_together() -> None:
    index = EntityIndex(ROWS)
    assert [one.id for one in index.neighbours("e1")] == ["e2"]
    assert list(index.neighbours("e4")) == []


def test_it_is_made_of_the_projection_within_a_scope(tmp_path: Path) -> None:
    with open_store(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        turn = store.append(
            "Nadia lives in Ghent.",
            user_id="maya",
            claims=[Claim(subject="Nadia", rel="lives_in", object="Ghent")],
        )
        store.append("Zoe is here.", user_id="ines", claims=[Claim(subject="Zoe", rel="is", object="here")])
        with store.views.tables() as tables:
            index = entity_index(tables, Scope(user_id="maya"))
        found = index.resolve("Nadia")
        assert found is not None
        assert found.turns == (store.reader.index_of(turn),)
        assert [one.name for one in index.neighbours(found.id)] == ["Ghent"]
        assert index.resolve("Zoe") is None
