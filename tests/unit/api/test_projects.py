"""A project is a part of a scope as a user, an agent, a run and a session are: as mandatory a filter."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import AccessDeniedError
from braid.ledger.errors import UnknownRecordError
from braid.ledger.read.scopechain import check_scope
from braid.ledger.record.record import Scope
from braid.ledger.record.scope import SCOPES, memory_of, owner_of
from braid.store import Store
from tests.unit.api.test_operations import NOW

ATLAS: Final = Caller(
    name="atlas agent", kind="agent", allowed=GRANTS["agent"], user_id="maya", project_id="atlas"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    clock = lambda: NOW + timedelta(seconds=next(ticks))  # noqa: E731
    braid.init(
        tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock, scope_chains=True
    )
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        opened.append("The Atlas release is on 3 June.", user_id="maya", project_id="atlas", name="Maya")
        opened.append(
            "The Borealis release is on 9 July.", user_id="maya", project_id="borealis", name="Maya"
        )
        opened.append("My release of the month is a record by Nina.", user_id="maya", name="Maya")
        yield opened


def texts(store: Store, query: str, user_id: str | None = None, project_id: str | None = None) -> set[str]:
    return {hit.text for hit in store.recall(query, user_id=user_id, project_id=project_id).results}


def test_a_project_bounds_what_is_recalled(store: Store) -> None:
    assert texts(store, "release", project_id="atlas") == {"The Atlas release is on 3 June."}
    assert texts(store, "release", user_id="maya", project_id="atlas") == {"The Atlas release is on 3 June."}
    assert texts(store, "release", user_id="tom", project_id="atlas") == set()
    assert texts(store, "release", project_id="nothing") == set()
    assert len(texts(store, "release", user_id="maya")) == 3


def test_whoever_is_held_to_a_project_sees_and_writes_no_other(store: Store) -> None:
    with asked_by(ATLAS):
        assert texts(store, "release") == {"The Atlas release is on 3 June."}
        with pytest.raises(AccessDeniedError):
            store.recall("release", project_id="borealis")
        with pytest.raises(AccessDeniedError):
            store.append("It rained.", project_id="borealis")
        said = store.ask("When is the release of Borealis?")
        assert "July" not in said.text
        id = store.append("The Atlas launch has a rehearsal.")
    assert store.get(id).members["scope"] == {"user_id": "maya", "project_id": "atlas"}
    (other,) = store.recall("Borealis", project_id="borealis").results
    with asked_by(ATLAS), pytest.raises(UnknownRecordError):
        store.get(other.id)


def test_what_is_said_in_one_project_corrects_and_repeats_nothing_in_another(store: Store) -> None:
    one = store.remember("The build takes nine minutes.", user_id="maya", project_id="atlas", learn=False)
    two = store.remember("The build takes nine minutes.", user_id="maya", project_id="borealis", learn=False)
    again = store.remember("The build takes nine minutes.", user_id="maya", project_id="atlas", learn=False)
    assert one.ids != two.ids
    assert again.ids == one.ids


def test_a_project_has_a_chain_of_its_own(store: Store) -> None:
    report = check_scope(store.reader, "project_id", "atlas")
    assert (report.records, report.problems) == (1, [])


def test_the_subject_of_an_export_may_be_a_project(store: Store) -> None:
    assert store.export_subject(project_id="atlas").own == 1


def test_a_project_stands_in_the_tables(store: Store) -> None:
    rows = store.sql(
        "SELECT project_id, count(*) FROM experiences WHERE project_id IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    assert rows.to_pydict()["project_id"] == ["atlas", "borealis"]


def test_whose_memory_it_is() -> None:
    assert SCOPES[-1] == "session_id"
    assert owner_of(Scope(project_id="atlas")) == "project_id:atlas"
    assert owner_of(Scope(user_id="maya", project_id="atlas")) == "user_id:maya"
    assert memory_of(Scope(user_id="maya", session_id="s")) == ("maya", None, None, None)
