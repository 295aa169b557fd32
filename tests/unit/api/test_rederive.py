"""`verify(rederive=True)`: a view that its lens never gave is found, though its signature holds."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid.admin import rederivation as again
from braid.exchange.intake import import_jsonl
from braid.exchange.lines import export_jsonl
from braid.ledger.audit.findings import Finding
from braid.ledger.record.record import Body, Content, Draft, Record, Reweighted, ViewBody
from braid.lens.operations import View
from braid.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with a view of two rules among three records."""
    with braid.open(tmp_path / "memory") as opened:
        opened.append("You must ask first.", user_id="maya")
        opened.append("It rains.", user_id="maya")
        opened.append("Never call before nine.", user_id="maya")
        yield opened


@pytest.fixture
def view(store: Store) -> View:
    """The view."""
    return store.apply_lens("policy", user_id="maya")


def forge(store: Store, record: Record, change: Callable[[ViewBody], Body], links: int | None = None) -> str:
    """Append a view like this one, changed, signed by a key that may."""
    body = record.body
    assert isinstance(body, ViewBody)
    given: list[tuple[str, Any]] = [(link.role, link.id) for link in record.links][:links]
    return store.session.append_drafts(
        [Draft(kind="view", body=change(msgspec.structs.replace(body, once=None)), links=given)]
    )[0].id


def findings(store: Store) -> list[Finding]:
    assert store.verify(deep=True).findings == []  # signed and well-formed: nothing else finds it
    return store.verify(rederive=True).findings


def test_honest_views_are_counted(store: Store, view: View) -> None:
    report = store.verify(rederive=True)
    assert report.exit_code == 0
    assert report.checked[-1] == again.CHECKED + "1 views, 0 claim records, 0 stances, 0 reconciliations"
    assert store.verify().checked == report.checked[:-1]
    assert view.appended


def _delta(**members: Any) -> Callable[[ViewBody], Body]:
    return lambda body: msgspec.structs.replace(
        body, delta_from_raw=msgspec.structs.replace(body.delta_from_raw, **members)
    )


def _said(text: str, body: ViewBody) -> Content:
    assert body.content is not None
    return Content(text=text, structured=body.content.structured)


@pytest.mark.parametrize(
    ("change", "members"),
    [
        (_delta(removed=None), "delta_from_raw"),
        (_delta(added=None), "delta_from_raw"),
        (_delta(reweighted=[Reweighted(link=0, w_old=1.0, w_new=0.1)]), "delta_from_raw"),
        (lambda body: msgspec.structs.replace(body, content=_said("You may.", body)), "content"),
    ],
)  # fmt: skip
def test_a_view_that_its_lens_never_gave_is_found(
    store: Store, view: View, change: Callable[[ViewBody], Body], members: str
) -> None:
    forged = forge(store, store.get(view.id), change)
    (finding,) = findings(store)
    assert (finding.kind, finding.id) == ("derived", forged)
    assert members in finding.message
    assert "ask first" not in str(finding)
    assert store.verify(rederive=True).state is None


def test_one_of_other_records_is_found(store: Store, view: View) -> None:
    forged = forge(store, store.get(view.id), lambda body: body, links=2)
    (finding,) = findings(store)
    assert finding.id == forged
    assert finding.message.startswith(("its links", "its body"))


def test_an_input_that_is_gone_is_counted(store: Store, view: View) -> None:
    del view
    ids = [record.id for record in store.read() if record.kind == "experience"]
    store.forget(ids[0])
    assert store.verify(rederive=True).checked[-1].startswith(again.CHECKED + "1 views")
    store.erase(ids[1])
    report = store.verify(rederive=True)
    assert report.exit_code == 0
    assert report.checked[-1].startswith(again.CHECKED + "0 views")


def test_a_view_on_a_forged_view_is_judged_for_itself(store: Store, view: View) -> None:
    store.append("From now on we pay at once.", user_id="maya")
    later = store.apply_lens("policy", user_id="maya")
    assert later.stands_on == (view.id,)
    body = store.get(later.id).body
    assert isinstance(body, ViewBody)
    bad = msgspec.structs.replace(
        body, delta_from_raw=msgspec.structs.replace(body.delta_from_raw, added=None), once=None
    )
    store.session.append_drafts(
        [Draft(kind="view", body=bad, links=[(link.role, link.id) for link in store.get(later.id).links])]
    )
    assert len(findings(store)) == 1


# -- after an import --------------------------------------------------------------------------------


def taken_over(store: Store, place: Path) -> Store:
    """Export a store and import it elsewhere."""
    out = io.StringIO()
    export_jsonl(store, out)
    other = braid.open(place / "memory", guard_dir=place / "guard")
    assert import_jsonl(other, out.getvalue().encode().splitlines(keepends=True)).refused == []
    return other


def derive(store: Store) -> None:
    """Have derived what quotes ids and times of its own log: readings, a stance that another would change, views."""
    for session, text in (("one", "I live in Porto."), ("two", "I moved to Lisbon.")):
        said = {"role": "user", "name": "Maya", "content": text}
        store.remember([said], user_id="maya", session_id=session)
    store.learn()
    stance = store.stance("Where does Maya live?", user_id="maya")
    assert stance.id
    store.apply_lens("stance", user_id="maya")


def test_what_was_imported_is_what_its_inputs_gave_at_home(store: Store, tmp_path: Path) -> None:
    derive(store)
    first = store.verify(rederive=True)
    assert first.findings == []
    with taken_over(store, tmp_path / "second") as second, taken_over(second, tmp_path / "third") as third:
        for other in (second, third):
            report = other.verify(rederive=True)
            assert report.findings == []
            assert report.checked[-1] == first.checked[-1]
            assert "0 stances" not in report.checked[-1]


@pytest.mark.usefixtures("view")
def test_evidence_of_another_record_makes_no_view_true(store: Store, tmp_path: Path) -> None:
    """A view that says what its inputs never gave, under the evidence of an honest one."""
    with taken_over(store, tmp_path / "second") as second:
        (honest,) = [one for one in second.read() if one.kind == "view"]
        body = honest.body
        assert isinstance(body, ViewBody)
        assert body.content
        told = Content(text="Something else.", structured=body.content.structured)
        links = [(link.role, link.id) for link in honest.links]
        forged = msgspec.structs.replace(body, content=told, once=None)
        kept = {"imported": honest.members["imported"]}
        id = second.session.append_drafts([Draft(kind="view", body=forged, links=links, extra=kept)])[0].id
        (finding,) = second.verify(rederive=True).findings
        assert finding.id == id
        assert "is not what was signed" in finding.message


@pytest.mark.usefixtures("view")
def test_an_input_that_did_not_come_along_is_counted(store: Store, tmp_path: Path) -> None:
    with taken_over(store, tmp_path / "second") as second:
        (honest,) = [one for one in second.read() if one.kind == "view"]
        native = [("applied_to", second.append(f"Of this log, {k}.")) for k in range(len(honest.links))]
        kept = {"imported": honest.members["imported"]}
        body = msgspec.structs.replace(honest.body, once=None)
        id = second.session.append_drafts([Draft(kind="view", body=body, links=native, extra=kept)])[0].id
        report = second.verify(rederive=True)
        assert report.findings == []
        assert [note for note in report.notes if "did not come with it" in note] == [
            f"1 not made again: views: an input did not come with it: {id}"
        ]
        assert not report.verdict.startswith("clean")
