"""`braid lens` and `verify --rederive` as a person types them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session


@pytest.fixture
def told(session: Session) -> Session:
    """A session whose store remembers rules."""
    session.well("append", "You must ask \x1b[31mfirst.", "--user-id", "maya")
    session.well("append", "It rains.", "--user-id", "maya")
    return session


def test_lenses_are_listed(session: Session) -> None:
    names = [row["name"] for row in json.loads(session.well("lens", "list", "-o", "json").out)]
    assert names == [
        "causal", "policy", "temporal", "preference", "entity", "summary", "contradiction", "stance",
    ]  # fmt: skip
    assert "a timeline" in session.well("lens", "list").out
    assert "apply" in session.well("lens").out


def test_a_view_is_made_shown_compared_and_made_anew(told: Session) -> None:
    first = told.well("lens", "apply", "policy", "--user-id", "maya")
    assert "1 kept of 2" in first.out
    assert "\x1b" not in first.out
    assert "the view was appended" in first.err
    again = told.well("lens", "apply", "policy", "--user-id", "maya")
    assert again.id == first.id
    assert "nothing has changed" in again.err
    rule = told.well("append", "Never call before nine.", "--user-id", "maya").id
    assert "1 more record in its scope" in told.well("lens", "stale").out
    done = told.well("lens", "refresh")
    assert "1 view made again" in done.err
    assert told.well("lens", "stale", "-o", "csv").out.count("\n") == 1
    assert json.loads(told.well("lens", "stale", "--all", "-o", "json").out)[0]["view"] == done.id
    shown = told.well("lens", "diff", first.id, done.id).out
    assert "+ user: Never call before nine." in shown
    assert f"+ {rule}" in shown
    view = json.loads(told.well("lens", "show", done.id, "-o", "json").out)
    assert view["stands_on"] == [first.id]
    assert len(view["items"]) == 2
    delta = json.loads(told.well("lens", "show", done.id, "--delta").out)
    assert delta["applied_to"] == [rule]
    assert delta["delta_from_raw"]["removed"] is None
    assert f"{done.id} came after it" in told.well("lens", "show", first.id).out
    rows = json.loads(told.well("lens", "list", "--views", "-o", "json").out)
    assert [row["id"] for row in rows] == [first.id, done.id]


def test_everything_derived_is_made_again(told: Session) -> None:
    told.well("lens", "apply", "policy")
    assert "1 views" in told.well("verify", "--rederive").out
    assert "derived records" not in told.well("verify").out


def test_a_forged_view_is_a_finding(told: Session) -> None:
    view = told.well("lens", "apply", "policy", "--user-id", "maya").id
    shaped = json.loads(told.well("lens", "show", view, "--delta").out)
    shaped["delta_from_raw"]["removed"] = None
    told.write("forged.json", json.dumps({name: shaped[name] for name in _WRITTEN}))
    told.well("append", "--json", "forged.json")
    done = told.braid("verify", "--rederive")
    assert done.code == 1
    assert "derived: record" in done.out
    assert "delta_from_raw" in done.out
    assert (
        json.loads(told.braid("verify", "--rederive", "-o", "json").out)["findings"][0]["kind"] == "derived"
    )


_WRITTEN = ("lens", "version", "applied_to", "delta_from_raw", "content", "scope", "evidence")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("apply", "rosy"), "no lens 'rosy' is installed"),
        (("apply", "policy", "--version", "9"), "installed in version 2, not 9"),
        (("apply", "policy", "--user-id", "nobody"), "nothing that the lens policy looks at"),
        (("apply", "policy", "--params", "{"), "--params is not JSON"),
        (("apply", "policy", "--params", "[]"), "--params is an object"),
        (("apply", "policy", "--params", '{"x": 1}'), "has no parameter 'x'; it has: none"),
        (("apply", "policy", "exp_2025-05-17T09:00:00Z_0000000300ab", "--user-id", "maya"), "not both"),
        (("show", "view_2025-05-17T09:00:00Z_0000000300ab"), "no such record"),
        (("refresh", "nonsense"), "nonsense: no such record"),
    ],
)
def test_what_cannot_be_meant_is_refused(told: Session, words: tuple[str, ...], why: str) -> None:
    assert why in told.refused("lens", *words)


def test_a_view_of_something_forgotten_is_not_shown(told: Session) -> None:
    rule = told.well("append", "Never call before nine.", "--user-id", "maya").id
    view = told.well("lens", "apply", "policy", "--user-id", "maya").id
    told.well("forget", rule)
    said = told.refused("lens", "show", view)
    assert "is forgotten" in said
    assert "Never call" in told.well("lens", "show", view, "--forgotten").out
    assert "Never call" not in told.well("lens", "refresh").out


def test_recall_looks_through_a_lens(told: Session) -> None:
    shown = told.well("recall", "rain or ask", "--lens", "policy").out
    assert "You must ask" in shown
    assert "It rains" not in shown
    assert "no lens 'rosy'" in told.refused("recall", "rain", "--lens", "rosy")


def test_a_lens_is_defined_by_a_file(told: Session) -> None:
    text = 'name="rain"\nversion="1"\nabout="weather"\n[sentences]\nany=["rain*"]\n'
    definition = told.write("rain.toml", text)
    id = told.well("lens", "define", str(definition)).id
    assert id.startswith("evt_")
    assert "weather" in told.well("lens", "list").out
    assert "user: It rains." in told.well("lens", "apply", "rain").out
    refused = told.refused("lens", "define", "-", stdin=text.replace("any", "some"))
    assert "[sentences] has no member 'some'" in refused
