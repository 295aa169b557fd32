"""`trace` in its forms: one at a time, from envelopes alone, and with words where they are asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Tree

import pytest
from prov.model import ProvDocument

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

FORMS = ("--prov", "--dot", "--mermaid", "--svg")
NEEDLE = "xylophone-4711-quetzal"


@pytest.fixture
def braided(session: Session) -> tuple[Session, str]:
    """A session with a record that another was derived from."""
    id = session.well("append", NEEDLE, "--user-id", "maya").id
    session.well("append", f"more of {NEEDLE}", "--type", "inference", "--parent", id)
    return session, id


def test_every_form_is_whole(braided: tuple[Session, str]) -> None:
    session, id = braided
    document = json.loads(session.well("trace", id, "--prov").out)
    assert len(document["entity"]) == 2
    assert ProvDocument.deserialize(content=json.dumps(document), format="json").get_provn()
    assert session.well("trace", id, "--dot").out.startswith("digraph")
    assert session.well("trace", id, "--mermaid").out.startswith("flowchart")
    assert Tree.fromstring(session.well("trace", id, "--svg").out).tag.endswith("svg")


def test_an_auditors_copy_draws_the_same_without_a_word(braided: tuple[Session, str]) -> None:
    session, id = braided
    session.well("export", "--audit", "copy")
    for form in FORMS:
        here = session.well("trace", id, form).out
        assert session.well("--store", "copy", "trace", id, form, "--text").out == here
        assert NEEDLE not in here


@pytest.mark.parametrize("form", [*FORMS, "-ojson", "-otable"])
def test_words_are_shown_when_they_are_asked_for(braided: tuple[Session, str], form: str) -> None:
    session, id = braided
    assert NEEDLE not in session.well("trace", id, form).out
    assert "xylophone" in session.well("trace", id, form, "--text").out.replace("<br/>", "")


def test_one_form_at_a_time(braided: tuple[Session, str]) -> None:
    session, id = braided
    assert "one form at a time" in session.refused("trace", id, "--svg", "--dot")
    assert "one form at a time" in session.refused("trace", id, "--svg", "-o", "json")


def test_what_is_not_followed_is_counted(braided: tuple[Session, str]) -> None:
    session, id = braided
    last = session.well("append", "z", "--type", "inference", "--parent", id).id
    deeper = session.well("append", "zz", "--type", "inference", "--parent", last).id
    done = session.well("trace", deeper, "--up", "--depth", "1", "--dot")
    assert "1 link not followed" in done.err
    assert "1 link not shown" in done.out


def test_a_form_cant_steer_the_terminal(session: Session) -> None:
    id = session.well("append", "a\x1b[31mb\u202ec").id
    for form in (*FORMS, "-otable", "-ojson"):
        shown = session.well("trace", id, form, "--text").out
        assert "\x1b" not in shown, form
        assert "\u202e" not in shown, form
