"""Before a group, or a foreign program, no more is said than its level allows, and what is personal is flagged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import braid
from braid.ledger.record.record import Claim
from braid.search.question import Audience
from braid.store import Store
from braid.text.personal import personal

PRIVATE = "Maya's birthday is on 12 May 1990."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        for text, level in (
            ("Staging runs on port 8443.", "L0"),
            ("Maya prefers dark mode in the editor.", "L1"),
            ("Maya likes red wine.", "L2"),
            (PRIVATE, "L1"),  # whatever its claim says: it finds a person
        ):
            claim = Claim(subject="Maya", rel="is", object=text, details={"privacy": level})
            opened.append(text, user_id="maya", claims=[claim])
        opened.append("Maya sleeps badly.", user_id="maya")  # nothing says how private it is
        yield opened


GROUPS: Final[list[tuple[Audience, int]]] = [("owner", 5), ("group", 2), ("third_party", 1)]


@pytest.mark.parametrize(("audience", "count"), GROUPS)
def test_what_each_audience_is_given(store: Store, audience: Audience, count: int) -> None:
    found = store.recall("Maya staging port editor wine birthday sleeps", user_id="maya", audience=audience)
    assert len(found.results) == count
    block = store.context("Maya wine birthday sleeps", user_id="maya", audience=audience)
    for text in ("red wine", "birthday", "sleeps"):
        assert (text in block) == (audience == "owner")


@pytest.mark.parametrize("audience", ["owner", "group", "third_party"])
def test_a_briefing_says_no_more_than_its_audience_may_hear(store: Store, audience: Audience) -> None:
    block = store.briefing(user_id="maya", audience=audience)
    assert "8443" in block
    for text in ("red wine", "birthday", "sleeps"):
        assert (text in block) == (audience == "owner")


def test_names_that_go_out_are_flagged(store: Store) -> None:
    found = store.recall("What does Maya prefer in the editor?", user_id="maya", audience="group")
    assert ("name", "Maya") in {(one.kind, one.text) for one in found.flags}
    assert all(one.id in {hit.id for hit in found.results} for one in found.flags)
    assert store.recall("What does Maya prefer in the editor?", user_id="maya").flags == ()


def test_an_answer_before_a_group_rests_on_nothing_private(store: Store) -> None:
    store.append(
        "I live in Porto.",
        name="Maya",
        user_id="maya",
        claims=[Claim(subject="Maya", rel="lives_in", object="Porto", details={"privacy": "L2"})],
    )
    assert "Porto" in store.ask("Where does Maya live?", user_id="maya", write=False).text
    told = store.ask("Where does Maya live?", user_id="maya", write=False, audience="group")
    assert "Porto" not in told.text + told.plain + told.short + str(told.citations)
    assert told.stance is None
    wine = store.ask("Does Maya like red wine?", user_id="maya", write=False, audience="third_party")
    assert "wine" not in wine.text


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Maya was born on 12 May 1990.", {"birth_date", "name"}),
        ("Her birthday: 1990-05-12", {"birth_date"}),
        ("We meet on 12 May.", set()),
        ("Write to ana@example.org", {"email"}),
        ("12 Rose Street, Leeds LS1 4AP", {"address"}),
        ("Hauptstraße 12", {"address"}),
        ("Call +44 113 496 0000", {"phone"}),
        ("Port 8443, version 2.14.1, 10 000 rows", set()),
        ("Mayan ruins", set()),
    ],
)
def test_what_is_personal(text: str, kinds: set[str]) -> None:
    assert {one.kind for one in personal(text, ["Maya"])} == kinds
