"""A view's shift of tone: of what it applies to and of what it says, made again by auditors, no lens's business."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import braid
from braid.affect.vad import read
from braid.ledger.record.record import AffectDelta, Draft, ViewBody
from braid.lens import tone_shift as shift
from braid.lens.operations import View
from braid.store import Store

GLAD = "I love the garden, it is wonderful!"
SORE = "You must never call that horrible liar again, I hate him!"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory") as opened:
        for text in (GLAD, GLAD, SORE):
            opened.append(text, user_id="maya")
        yield opened


def delta_of(store: Store, id: str) -> AffectDelta:
    body = store.get(id).body
    assert isinstance(body, ViewBody)
    assert body.affect_delta is not None
    return body.affect_delta


def test_it_goes_from_the_tone_of_the_records_to_that_of_the_view(store: Store) -> None:
    view = store.apply_lens("policy", user_id="maya")
    found = delta_of(store, view.id)
    sources = [one.vad.v for one in read([GLAD, GLAD, SORE])]
    assert found.before.v == pytest.approx(sum(sources) / 3, abs=1e-3)
    lines = [one.vad.v for one in read([line for line in view.text.splitlines() if line.strip()])]
    assert found.after.v == pytest.approx(sum(lines) / len(lines), abs=1e-3)
    assert found.after.v < found.before.v
    assert view.affect_delta == found


def test_a_view_that_continues_one_is_of_what_it_applies_to(store: Store) -> None:
    store.apply_lens("policy", user_id="maya")
    store.append(GLAD, user_id="maya")
    view = store.apply_lens("policy", user_id="maya")
    applied = [store.get(link.id).text for link in store.get(view.id).targets("applied_to")]
    tones = [one.vad.v for one in read(applied)]
    assert delta_of(store, view.id).before.v == pytest.approx(sum(tones) / len(tones), abs=1e-3)


def test_where_nothing_is_said_there_is_none(store: Store) -> None:
    with store.transaction() as together:
        together.append("", structured={"steps": 4000}, user_id="zoe")
    body = store.get(store.apply_lens("temporal", user_id="zoe").id).body
    assert isinstance(body, ViewBody)
    assert body.affect_delta is None


def _forge(store: Store, id: str, **members: Any) -> str:
    record = store.get(id)
    body = record.body
    assert isinstance(body, ViewBody)
    assert body.affect_delta is not None
    told = msgspec.structs.replace(body.affect_delta, **members)
    forged = msgspec.structs.replace(body, once=None, affect_delta=told)
    links: list[tuple[str, Any]] = [(link.role, link.id) for link in record.links]
    return store.session.append_drafts([Draft(kind="view", body=forged, links=links)])[0].id


def test_it_is_made_again_and_a_forged_one_found(store: Store) -> None:
    view = store.apply_lens("policy", user_id="maya")
    assert store.verify(rederive=True).findings == []
    found = delta_of(store, view.id)
    near = msgspec.structs.replace(found.after, v=found.after.v + shift.NEAR / 2)
    _forge(store, view.id, after=near)  # what another machine's sums may give
    assert store.verify(rederive=True).findings == []
    far = msgspec.structs.replace(found.after, v=found.after.v + 0.1)
    forged = _forge(store, view.id, after=far)
    (finding,) = store.verify(rederive=True).findings
    assert (finding.id, "affect_delta" in finding.message) == (forged, True)


def test_what_other_weights_read_cannot_be_made_again_here(store: Store) -> None:
    view = store.apply_lens("policy", user_id="maya")
    _forge(store, view.id, by="0123456789abcdef")
    report = store.verify(rederive=True)
    assert report.findings == []
    assert any("its tone was read by 0123456789abcdef" in note for note in report.notes)


def test_no_lens_hears_of_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read of tone may be anything: all else that a view says of the same words is the same."""
    for text in (GLAD, GLAD, SORE):
        store.append(text, user_id="zoe")
    calm = read([GLAD])[0].vad
    views: list[View] = []
    for who, v in (("maya", -1.0), ("zoe", 1.0)):
        monkeypatch.setattr(shift, "_tones", lambda texts, v=v: [msgspec.structs.replace(calm, v=v)])
        views.append(store.apply_lens("policy", user_id=who))
    one, other = views
    assert one.text == other.text
    assert list(one.weights.values()) == list(other.weights.values())
    assert one.affect_delta != other.affect_delta
