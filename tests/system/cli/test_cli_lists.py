"""Long lists by the command line: `--all` gives what `--limit` leaves out, alike with a server and without."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

import braid
from braid.ledger.record.record import Claim
from tests.system.cli.conftest import Session
from tests.system.server.running import served

TOWNS = 130
"""More than the usual limit of a list, and more than a page."""


@pytest.fixture(params=["alone", "beside a server"])
def towns(session: Session, request: pytest.FixtureRequest) -> Iterator[Session]:
    place, guard = session.folder / "memory", session.folder / "guard"
    with braid.open(place, guard_dir=guard) as store, store.transaction() as many:
        for k in range(TOWNS):
            near = Claim(subject=f"Town {k}", rel="lies_near", object=f"Town {k + 1}")
            many.append(f"Town {k} lies near town {k + 1}.", user_id="maya", claims=[near])
    if request.param == "alone":
        yield session
        return
    with braid.open(place, guard_dir=guard) as store, served(store):
        yield session


def rows(session: Session, *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.well(*words, "-o", "jsonl").out.splitlines()]


def test_all_gives_what_the_limit_leaves_out(towns: Session) -> None:
    usual = towns.well("entity", "list", "-o", "csv")
    assert len(usual.out.splitlines()) == 101
    assert f"{TOWNS + 1} entities, of which 100 are shown" in usual.err
    every = rows(towns, "entity", "list", "--all")
    assert len({one["id"] for one in every}) == len(every) == TOWNS + 1
    told = list(csv.DictReader(io.StringIO(towns.well("entity", "list", "--all", "-o", "csv").out)))
    assert [one["id"] for one in told] == [one["id"] for one in every]
    assert len(json.loads(towns.well("entity", "list", "--all", "-o", "json").out)) == TOWNS + 1
    assert rows(towns, "entity", "list", "--limit", "7") == every[:7]


@pytest.mark.sample(2)
def test_other_lists_take_it_too(towns: Session) -> None:
    assert len(rows(towns, "knowledge", "central")) == 20
    assert len(rows(towns, "knowledge", "central", "--all")) == TOWNS + 1
    assert rows(towns, "changes", "--all") == []
    assert towns.well("changes", "--all").err == "braid: nothing changed\n"
    usual, every = (rows(towns, "jobs", "list", *words) for words in ((), ("--all",)))
    assert usual == every[:100]
    assert json.loads(towns.well("jobs", "list", "--all", "-o", "json").out)["jobs"]
