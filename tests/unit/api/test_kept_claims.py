"""Claims that are kept from one question to the next are gone once a record stands otherwise."""

from pathlib import Path
from typing import Any

import pytest

import braid
from braid.claims import reader as claims
from braid.claims.finder import ClaimFinder

WHERE = "Where does Maya live?"


def claim(place: str) -> braid.Claim:
    return braid.Claim(subject="Maya", rel="lives_in", object=place)


def test_a_question_reads_each_record_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        store.append("I live in Porto.", claims=[claim("Porto")], user_id="maya")
        assert store.stance(WHERE, user_id="maya", append=False).claim == "Maya lives in Porto"
        read: list[int] = []
        whole = ClaimFinder._read

        def counted(finder: ClaimFinder, at: int) -> Any:
            read.append(at)
            return whole(finder, at)

        monkeypatch.setattr(ClaimFinder, "_read", counted)
        store.append("It rains.", user_id="maya")
        assert store.stance(WHERE, user_id="maya", append=False).claim == "Maya lives in Porto"
        assert not read
        assert (
            store.stance(WHERE, user_id="jonas", append=False).claim is None
        )  # another scope is shown none of it


@pytest.mark.sample(2)
@pytest.mark.parametrize("how", ["forget", "erase", "correct"])
def test_what_no_longer_stands_is_not_kept(tmp_path: Path, how: str) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        id = store.append("I live in Porto.", claims=[claim("Porto")], user_id="maya")
        assert store.stance(WHERE, user_id="maya", append=False).claim == "Maya lives in Porto"
        if how == "correct":
            store.correct(id, "I don't say where I live.")
        else:
            getattr(store, how)(id)
        assert store.stance(WHERE, user_id="maya", append=False).claim is None
        known = store.session.reader.standings().kept[claims._Known]
        assert "Porto" not in repr([found for _, found in known.claims.values()])


def test_no_more_are_kept_than_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "MOST_KEPT", 3)
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for place in ("Porto", "Faro", "Braga", "Lagos", "Sines"):
            store.append(f"I live in {place}.", claims=[claim(place)], user_id="maya")
        for _ in range(2):
            assert store.stance(WHERE, user_id="maya", append=False).claim == "Maya lives in Sines"
            assert len(store.session.reader.standings().kept[claims._Known].claims) <= 5
        store.stance("Where does Jonas live?", user_id="jonas", append=False)
        assert not store.session.reader.standings().kept[claims._Known].claims
