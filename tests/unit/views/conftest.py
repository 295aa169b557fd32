"""Small stores with a record of every kind."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid.ledger.record.record import (
    Affect,
    AffectBody,
    Body,
    Candidate,
    Claim,
    Confidence,
    Content,
    Decision,
    Delta,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    LinkDiff,
    Media,
    Provenance,
    Reweighted,
    Scope,
    Signature,
    Source,
    StanceBody,
    Vad,
    ViewBody,
)
from braid.ledger.write.create import create_store
from braid.ledger.write.sequence import Placed
from braid.ledger.write.writer import Writer
from braid.views.duck.projection import DuckView
from braid.views.duck.schema import TABLES
from braid.views.store import Views


class Bench:
    """A store that is written to, and its projections."""

    def __init__(self, path: Path) -> None:
        create_store(path, now=datetime.now(UTC))
        self.path = path
        self.writer = Writer(path)
        self.views = Views(path / "views", self.writer)
        self.duck = path / "views" / "duck"
        self.work = self.duck / "work.duckdb"

    def say(self, *texts: str, **members: Any) -> list[Placed]:
        """Append experiences as one transaction."""
        return self.writer.append([experience(text, **members) for text in texts])

    def tombstone(self, op: str, *ids: str, kept: Sequence[str] = ()) -> int:
        """Append a tombstone; erasing destroys the keys too."""
        public: dict[str, Any] = {"op": op}
        if op == "erase":
            public["epoch"] = self.writer.need_vault().epoch + 1
        links = [("target", id) for id in ids] + [("kept", id) for id in kept]
        placed = self.writer.append(
            [Draft(kind="tombstone", body=Body(reason="why not"), public=public, links=links)]
        )
        if op == "erase":
            self.writer.need_vault().puncture([self.writer.index_of(id) for id in ids])
        return placed[0].index

    def rows(self, statement: str, params: Any = None) -> list[dict[str, Any]]:
        """Ask the projection."""
        found: list[dict[str, Any]] = self.views.sql(statement, params).table.to_pylist()
        return found

    def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return all that the working file holds, digests too, in order."""
        view = DuckView.open(self.work, self.path / "checkpoints")
        try:
            con = view._con
            tables = {
                table.name: con.execute(f"FROM {table.name} ORDER BY ALL").fetchall() for table in TABLES
            }
            for name in ("row_digests", "bucket_roots"):
                tables[name] = con.execute(f"FROM view_state.{name} ORDER BY ALL").fetchall()
            tables["meta"] = con.execute(
                "SELECT stamp, digest, unknown, unreadable FROM view_state.meta"
            ).fetchall()
            return tables
        finally:
            view.close()

    def forge(self) -> None:
        """Seal the working file as it is now, whatever it holds: what only the vault's holder can do."""
        if self.work.exists():
            self.views._seals.closed(self.work, self.writer.size)
            self.views._seals.settle()

    def reopen(self) -> None:
        """Close everything and open it again."""
        self.close()
        self.writer = Writer(self.path)
        self.views = Views(self.path / "views", self.writer)

    def close(self) -> None:
        """Close everything."""
        self.views.close()
        self.writer.close()


def experience(text: str, *, type: str = "occurrence", links: Any = (), **members: Any) -> Draft:
    """Return the draft of an experience."""
    return Draft(
        kind="experience", type=type, links=links, body=ExperienceBody(content=Content(text=text), **members)
    )


def one_of_each(bench: Bench) -> dict[str, str]:
    """Append a record of every kind, with every member filled in; return their ids by name."""
    first, second = (one.id for one in bench.say("first", "second"))
    full = Draft(
        kind="experience",
        type="inference",
        links=[("parent", first), ("evidence", second)],
        body=ExperienceBody(
            content=Content(
                text="full ✓ 'quoted'",
                media=[Media(blob="ab" * 32, size=512, key="c2VjcmV0", media_type="image/png", name="a.png")],
                structured={"b": [1, 2.5, None], "a": {"x": "y"}},
            ),
            provenance=Provenance(
                actor="tool(search)",
                method="import",
                name="Finder",
                sources=[Source(uri="https://a.example", hash="sha256:0")],
            ),
            evidence_uris=["uri:1", "uri:2"],
            confidence=Confidence(p=0.5, method="calibrated"),
            affect=Affect(
                vad=Vad(v=-0.25, a=0.5, d=0.125), labels=["calm", "wry"], intensity=1, confidence=0
            ),
            symbolic=[
                Claim(
                    subject="Ann",
                    rel="lives in",
                    object="Rome",
                    valid_from=datetime(2020, 1, 2, tzinfo=UTC),
                    quote="I moved",
                ),
                Claim(subject="Ann", rel="likes", object="rain", polarity=False, source_type="inferred"),
            ],
            embeddings={"semantic": "vec://1"},
            scope=Scope(user_id="u", agent_id="a", run_id="r", project_id="p", session_id="s"),
            external_id="x1",
            once="once-1",
            tags=["t1", "t2"],
            occurred_at=datetime(2024, 5, 6, 7, 8, 9, 10, tzinfo=UTC),
            diffs=[LinkDiff(link=1, added="more", reweighted=[Reweighted(link=0, w_old=0.25, w_new=0.5)])],
            reason="because",
        ),
    )
    inferred = bench.writer.append([full])[0].id
    drafts = [
        Draft(
            kind="view",
            links=[("applied_to", first)],
            body=ViewBody(
                lens="causal",
                version="2",
                delta_from_raw=Delta(added={"why": 1}, removed="noise"),
                content=Content(text="seen"),
            ),
        ),
        Draft(
            kind="stance",
            links=[("candidate", first), ("candidate", second), ("support", inferred)],
            body=StanceBody(
                question="which?",
                candidates=[Candidate(claim="this", p=0.75), Candidate(claim="that", p=0.25)],
                decision=Decision(claim="this", residual_uncertainty=0.125),
            ),
        ),
        Draft(
            kind="affect",
            links=[("experience", first)],
            body=AffectBody(
                actor="user", stage="input", valence=0.5, arousal=0.25, dominance=0, signals={"!": 2}
            ),
        ),
        Draft(
            kind="embedding",
            links=[("experience", first), ("experience", second)],
            body=EmbeddingBody(
                signatures=[
                    Signature(role="semantic", model="m1"),
                    Signature(role="semantic", model="m1", label="l", metadata={"k": 1}),
                ]
            ),
        ),
        Draft(kind="event", body=EventBody(name="review", data={"n": 1}), public={"name": "review"}),
    ]
    rest = [one.id for one in bench.writer.append(drafts)]
    return dict(
        zip(
            ("first", "second", "inferred", "view", "stance", "affect", "embedding", "event"),
            [first, second, inferred, *rest],
            strict=True,
        )
    )


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A new store and its projections."""
    made = Bench(tmp_path / "store")
    yield made
    made.close()


@pytest.fixture(name="one_of_each")
def _one_of_each() -> Any:
    """Return the function that appends a record of every kind."""
    return one_of_each


def whole_table(store: Path) -> Any:
    """Return the table of a store's LanceDB projection, opened by LanceDB's whole package: others edit it with that."""
    import lancedb

    (folder,) = (store / "views" / "lance").glob("set-*")
    return lancedb.connect(folder).open_table("rows")
