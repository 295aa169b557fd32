"""Whatever the log holds: at every transaction, catching up gives what a replay from scratch gives (SPEC §10.2)."""

import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.ledger.keys.author_key import Signer
from braid.ledger.read.prefix import size_at
from braid.ledger.record.record import (
    Affect,
    AffectBody,
    Body,
    Candidate,
    Claim,
    Confidence,
    Content,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    KeyBody,
    LinkDiff,
    Scope,
    Signature,
    StanceBody,
    Vad,
    ViewBody,
)
from braid.ledger.write.create import admission, create_store
from braid.ledger.write.writer import Writer
from braid.views import replay as driver
from braid.views.duck.past import Past
from braid.views.duck.projection import DuckView, Meta
from braid.views.duck.schema import TABLES
from braid.views.store import Views

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
UNIT = st.floats(0, 1)
SIGNED = st.floats(-1, 1)
JSON = st.dictionaries(
    TEXT,
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | SIGNED | TEXT | st.lists(TEXT, max_size=2),
    max_size=3,
)
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2025, 1, 1)).map(lambda time: time.replace(tzinfo=UTC))  # noqa: DTZ001
SHARED: dict[str, Any] = {
    "tags": st.lists(TEXT, max_size=2),
    "reason": st.none() | TEXT,
    "external_id": st.none() | TEXT,
    "occurred_at": st.none() | TIMES,
    "scope": st.none() | st.builds(Scope, user_id=st.none() | TEXT, session_id=st.none() | TEXT),
}
VADS = st.builds(Vad, v=SIGNED, a=UNIT, d=SIGNED)
CLAIMS = st.builds(
    Claim,
    subject=TEXT,
    rel=TEXT,
    object=TEXT,
    polarity=st.booleans(),
    valid_from=st.none() | TIMES,
    quote=st.none() | TEXT,
)
BODIES: dict[str, Any] = {
    "experience": st.builds(
        ExperienceBody,
        content=st.builds(Content, text=TEXT, structured=JSON),
        confidence=st.none() | st.builds(Confidence, p=UNIT),
        affect=st.none()
        | st.builds(Affect, vad=VADS, labels=st.lists(TEXT, max_size=2), intensity=st.none() | UNIT),
        symbolic=st.lists(CLAIMS, max_size=2),
        evidence_uris=st.lists(TEXT, max_size=2),
        **SHARED,
    ),
    "view": st.builds(
        ViewBody, lens=TEXT, content=st.none() | st.builds(Content, text=TEXT, structured=JSON), **SHARED
    ),
    "stance": st.builds(
        StanceBody,
        question=TEXT,
        candidates=st.lists(st.builds(Candidate, claim=TEXT, p=UNIT), max_size=2),
        **SHARED,
    ),
    "affect": st.builds(
        AffectBody,
        actor=TEXT,
        stage=TEXT,
        valence=SIGNED,
        arousal=UNIT,
        dominance=SIGNED,
        signals=JSON,
        **SHARED,
    ),
    "embedding": st.builds(
        EmbeddingBody,
        signatures=st.lists(
            st.builds(Signature, role=TEXT, model=TEXT, salience=UNIT, metadata=JSON), max_size=2
        ),
        **SHARED,
    ),
    "event": st.builds(EventBody, name=TEXT, data=JSON, **SHARED),
}
ROLES = {
    "experience": "parent",
    "view": "applied_to",
    "stance": "candidate",
    "affect": "experience",
    "embedding": "experience",
    "event": "evidence",
}
LINKED = st.sampled_from(["", "rests", "supersedes", "both"])
DRAFTS = st.sampled_from(sorted(BODIES)).flatmap(
    lambda kind: st.tuples(st.just(kind), BODIES[kind], st.lists(st.integers(0, 40), max_size=3), LINKED)
)
PICKS = st.lists(st.integers(0, 40), min_size=1, max_size=4)
STEPS = st.lists(
    st.tuples(st.just("append"), st.lists(DRAFTS, min_size=1, max_size=5))
    | st.tuples(st.sampled_from(["forget", "recover", "forget", "recover", "erase"]), PICKS)
    | st.tuples(st.sampled_from(["admit", "revoke", "compromise", "look away"]), PICKS),
    min_size=2,
    max_size=9,
)


class Model:
    """A store, one projection that only ever catches up, and one that is replayed each time."""

    def __init__(self, path: Path) -> None:
        create_store(path, now=datetime.now(UTC) - timedelta(minutes=1), durability="none")
        self.writer = Writer(path)
        self.caught = Views(path / "views", self.writer)
        self.replayed = Views(path / "replayed", self.writer)
        self.ids: list[str] = []
        self.admitted: list[str] = []

    def close(self) -> None:
        self.caught.close()
        self.replayed.close()
        self.writer.close()

    def living(self, picks: list[int]) -> list[str]:
        erased = self.writer.control.erased
        whole = [id for id in self.ids if self.writer.index_of(id) not in erased]
        return sorted({whole[pick % len(whole)] for pick in picks}) if whole else []

    def step(self, op: str, what: Any) -> None:
        if op == "append":
            drafts = [self.draft(*one) for one in what]
            self.ids += [placed.id for placed in self.writer.append(drafts)]
        elif op in ("forget", "recover", "erase"):
            self.tombstone(op, self.living(what))
        elif op == "admit":
            signer = Signer.fresh("agent")
            self.writer.append([admission(self.writer.origin, signer)])
            self.admitted.append(signer.id)
        elif op == "revoke" and self.admitted:
            self.revoke(self.admitted[what[0] % len(self.admitted)], None)
        elif op == "compromise" and self.ids:
            index = self.writer.index_of(self.ids[what[0] % len(self.ids)])
            self.compromise(index)

    def revoke(self, id: str, since: int | None) -> None:
        public = {"op": "revoke", "id": id, "compromised_since": since}
        self.writer.append([Draft(kind="key", body=KeyBody(), public=public)])

    def compromise(self, since: int) -> None:
        """Report the recorder's key, and go on with a fresh one."""
        old = next(signer for signer in self.writer.signers.values() if signer.role == "recorder")
        fresh = Signer.fresh("recorder")
        self.writer.append([admission(self.writer.origin, fresh)])
        self.revoke(old.id, since)
        del self.writer.signers[old.id]
        self.writer.signers[fresh.id] = fresh

    def draft(self, kind: str, body: Body, picks: list[int], how: str) -> Draft:
        ids = self.living(picks)
        links = [(ROLES[kind], id) for id in ids] if how in ("rests", "both") else []
        links += [("supersedes", id) for id in ids] if how in ("supersedes", "both") else []
        if links and body.reason:
            diffs = [LinkDiff(link=0, added=body.reason)]
            body = type(body)(
                **{name: getattr(body, name) for name in body.__struct_fields__} | {"diffs": diffs}
            )
        return Draft(kind=kind, type="reconciliation" if kind == "experience" else "", body=body, links=links)

    def tombstone(self, op: str, ids: list[str]) -> None:
        if not ids:
            return
        public: dict[str, Any] = {"op": op}
        links = [("target", id) for id in ids]
        if op == "erase":
            public["epoch"] = self.writer.need_vault().epoch + 1
            links += [("kept", id) for id in self.living([0]) if id not in ids]
        self.writer.append([Draft(kind="tombstone", body=Body(), public=public, links=links)])
        if op == "erase":
            self.writer.need_vault().puncture([self.writer.index_of(id) for id in ids])

    def compare(self) -> None:
        self.caught.catch_up()
        self.replayed.replay("duck")
        one, two = (contents(views, self.writer.path) for views in (self.caught, self.replayed))
        assert one == two
        assert self.caught.check() == []


def contents(views: Views, path: Path, file: Path | None = None) -> dict[str, Any]:
    view = DuckView.open(file or views._folder / "duck" / "work.duckdb", path / "checkpoints")
    try:
        con = view._con
        names = [*(table.name for table in TABLES), "view_state.row_digests", "view_state.bucket_roots"]
        found: dict[str, Any] = {name: con.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in names}
        assert isinstance(view.meta, Meta)
        found["meta"] = (view.meta.content, view.meta.stamp, view.meta.unknown, view.meta.unreadable)
        return found
    finally:
        view.close()


@pytest.mark.soak(first=True)
@settings(
    max_examples=int(os.environ.get("BRAID_EXAMPLES", "6")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(steps=STEPS, batch=st.sampled_from([1, 3, 8_192]), again=st.sampled_from([1, 4_096]))
def test_catching_up_is_replaying(steps: list[tuple[str, Any]], batch: int, again: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "BATCH_RECORDS", batch)
        patch.setattr(driver, "AGAIN_RECORDS", again)
        model = Model(Path(folder) / "store")
        try:
            away = False
            for op, what in steps:
                model.step(op, what)
                if op == "look away":  # the next steps are caught up with together
                    away = not away
                if not away:
                    model.compare()
            model.compare()
        finally:
            model.close()


@settings(
    max_examples=int(os.environ.get("BRAID_EXAMPLES", "6")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    steps=STEPS,
    pasts=st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=2, max_size=5),
    level=st.booleans(),
)
def test_a_past_is_the_same_from_whatever_it_is_made(
    steps: list[tuple[str, Any]], pasts: list[tuple[int, bool]], level: bool
) -> None:
    """From a later file, from an earlier one, or from the log alone (SPEC §10.9)."""
    with tempfile.TemporaryDirectory() as folder:
        model = Model(Path(folder) / "store")
        try:
            for op, what in steps:
                model.step(op, what)
            if level:
                model.caught.catch_up(publish=True)
            reader = model.writer
            for pick, include_forgotten in pasts:
                size = size_at(reader, pick % reader.size)
                past = Past(size, include_forgotten)
                near = model.caught.past(past)
                alone = Views(Path(folder) / f"alone-{size}-{include_forgotten}", reader)
                found = contents(model.caught, reader.path, near)
                made = contents(alone, reader.path, alone.past(past))
                alone.close()
                assert {name: rows for name, rows in found.items() if name != "meta"} == {
                    name: rows for name, rows in made.items() if name != "meta"
                }
                assert found["meta"][:2] == made["meta"][:2]
        finally:
            model.close()
