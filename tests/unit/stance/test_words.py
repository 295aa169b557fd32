"""What somebody has or does is told with its own verb alone: not "does has judo"."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.ledger.record.record import Claim
from braid.stance.words import words_of

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("plays chess", "Ben plays chess"),
        ("has judo", "Ben has judo"),
        ("does choir", "Ben does choir"),
        ("judo", "Ben does judo"),
    ],
)
def test_no_does_before_a_verb_of_its_own(what: str, told: str) -> None:
    assert words_of(Claim(subject="Ben", rel="does", object=what)) == told


@pytest.mark.parametrize(
    ("rel", "what", "told"),
    [
        ("did", "finished the new fence", "Ben did not finish the new fence"),
        ("does", "plays chess", "Ben does not play chess"),
        ("does", "judo", "Ben does not do judo"),
        ("is", "included", "Ben is not included"),
        ("was", "there", "Ben was not there"),
    ],
)
def test_what_is_denied_has_one_verb(rel: str, what: str, told: str) -> None:
    assert words_of(Claim(subject="Ben", rel=rel, object=what, polarity=False)) == told


def test_it_is_told(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        store.append("Emil has judo on Tuesdays", actor="user", name="Ann", user_id="u", occurred_at=NOW)
        store.learn()
        found = store.ask("what does Emil do?", user_id="u", write=False, now=NOW)
    assert "does has" not in found.plain
