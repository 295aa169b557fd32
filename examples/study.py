"""Makes a store to ask questions of: the three conversations, and what an agent drew from them.

    python examples/study.py study

What is added is written by hand, so that it is the same each time: inferences with claims and confidence, a
correction, a stance, a lens's view, tones, a forgotten record, an erasure, a key that was reported stolen. docs/sql.md
and explore.ipynb ask it; `tests/system/cli/test_sql_page.py` holds them to what it holds.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import braid
from braid.ledger.record.record import (
    AffectBody,
    Candidate,
    Claim,
    Confidence,
    Content,
    Decision,
    Delta,
    Draft,
    EmbeddingBody,
    Scope,
    Signature,
    StanceBody,
    ViewBody,
)
from braid.store import Store

HERE = Path(__file__).parent
WHOSE = {"shop-owner": "ines", "assistant": "jonas", "two-friends": "nadia"}


def turns(name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the sessions of a conversation, each with its turns."""
    lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    read = (json.loads(line) for line in lines)
    for session, said in groupby(read, lambda turn: turn["session"]):
        members = ("id", "timestamp", "role", "name", "content")
        yield session, [{name: turn[name] for name in members if name in turn} for turn in said]


def claim(subject: str, rel: str, object: str, start: str, end: str | None = None, **more: Any) -> Claim:
    """Return a claim that holds from one day to another."""
    days = [None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (start, end)]
    return Claim(subject=subject, rel=rel, object=object, valid_from=days[0], valid_to=days[1], **more)


class Study:
    """The store while it is made: what was said, by its id at the source, and what was drawn from it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.said: dict[str, str] = {}
        self.times: dict[str, datetime] = {}
        self.extractor = store.admit("agent", "extractor").id
        self.scanner = store.admit("tool", "tool(scanner)").id

    def take_in(self) -> None:
        """Remember the conversations, a transaction a session."""
        for name, user in WHOSE.items():
            for session, said in turns(name):
                ids = self.store.remember(said, user_id=user, session_id=session)
                self.said |= {turn["id"]: str(id) for turn, id in zip(said, ids, strict=True)}
                self.times |= {turn["id"]: datetime.fromisoformat(turn["timestamp"]) for turn in said}

    def infer(self, text: str, *parents: str, p: float, user: str = "jonas", **more: Any) -> str:
        """Append what the extractor concludes, an hour later, from turns (by their ids at the source) or records."""
        times = [self.times[parent] for parent in parents if parent in self.times]
        fields: dict[str, Any] = {
            "type": "inference",
            "actor": "agent",
            "name": "extractor",
            "method": "extraction",
            "confidence": Confidence(p=p, method="calibrated"),
            "parents": [self.said.get(parent, parent) for parent in parents],
            "user_id": user,
            "occurred_at": max(times, default=datetime(2025, 6, 23, 8, tzinfo=UTC)) + timedelta(hours=1),
        }
        return str(self.store.append(text, signer=self.extractor, **(fields | more)))

    def link(self, kind: str, body: Any, *links: tuple[str, str]) -> str:
        """Append a record of another kind."""
        named = [(role, self.said.get(target, target)) for role, target in links]
        draft = Draft(kind=kind, body=body, links=named)
        return str(self.store.session.append_drafts([draft], signer=self.extractor)[0].id)


def conclude(study: Study) -> None:
    """What the extractor draws from the conversations."""
    infer = study.infer
    leeds = infer(
        "Jonas lives in Leeds.", "asst-002", p=0.95,
        claims=[claim("Jonas", "lives in", "Leeds", "2025-03-24", quote="I live in Leeds, in Meanwood")],
    )  # fmt: skip
    edinburgh = infer(
        "Jonas lives in Edinburgh.", "asst-127", p=0.97,
        claims=[claim("Jonas", "lives in", "Edinburgh", "2025-05-17", quote="I live in Edinburgh now")],
    )  # fmt: skip
    infer(
        "Jonas drinks coffee.", "asst-006", p=0.9,
        claims=[claim("Jonas", "drinks", "coffee", "2025-03-24", quote="Coffee is sacred")],
    )  # fmt: skip
    infer(
        "Jonas drinks no coffee any more.", "asst-063", p=0.92,
        claims=[claim("Jonas", "drinks", "coffee", "2025-04-24", polarity=False, quote="No more coffee for me")],
    )  # fmt: skip
    infer(
        "Jonas works for Craig at Fernhill.", "asst-004", "asst-016", p=0.85,
        claims=[claim("Jonas", "works for", "Craig", "2025-03-24", "2025-06-07", source_type="inferred")],
    )  # fmt: skip
    work = infer(
        "Jonas works for Annelise at Northlight.", "asst-074", "asst-179", p=0.9,
        claims=[claim("Jonas", "works for", "Annelise", "2025-06-16")],
    )  # fmt: skip
    invoice = infer(
        "The café's invoice is INV-2043.", "shop-059", p=0.8, user="ines",
        claims=[claim("Harbour Lane Café", "has invoice", "INV-2043", "2025-03-11")],
    )  # fmt: skip
    study.store.correct(invoice, "The café's invoice is INV-2034.", reason="Ines misread the number")
    infer(
        "Harbour Lane Café owes INV-2034.", "shop-064", p=0.95, user="ines",
        claims=[claim("Harbour Lane Café", "has invoice", "INV-2034", "2025-03-11", source_type="corrected")],
    )  # fmt: skip
    near = infer("Jonas can walk to work.", edinburgh, work, p=0.55)
    infer("Jonas needs no car.", near, p=0.4)
    infer("Jonas lives in Edinburgh.", "asst-127", p=0.93)  # a second pass says the same again
    infer("Jonas likes the sea.", p=0.3)  # from nowhere
    infer("Jonas cooks without shellfish.", "asst-025", p=0.7)
    infer("No prawns at dinner.", "asst-025", "asst-026", p=0.8)
    study.link(
        "stance",
        StanceBody(
            question="Where does Jonas live?",
            candidates=[Candidate(claim="Leeds", p=0.06), Candidate(claim="Edinburgh", p=0.94)],
            decision=Decision(claim="Edinburgh", residual_uncertainty=0.06),
            scope=Scope(user_id="jonas"),
        ),
        ("candidate", leeds), ("candidate", edinburgh), ("support", "asst-127"),
    )  # fmt: skip
    study.store.stance("Does Jonas drink coffee?", user_id="jonas", at=datetime(2025, 6, 20, tzinfo=UTC))
    study.link(
        "view",
        ViewBody(
            lens="causal",
            version="1",
            delta_from_raw=Delta(added="the offer led to the move"),
            content=Content(text="He moved because of the job."),
            scope=Scope(user_id="jonas"),
        ),
        ("applied_to", "asst-074"), ("applied_to", "asst-127"),
    )  # fmt: skip
    tones = (("asst-074", 0.8, 0.7, "joy"), ("asst-088", -0.7, 0.8, "anger"), ("asst-090", -0.1, 0.2, "calm"))
    for turn, valence, arousal, emotion in tones:
        tone = AffectBody(
            actor="user",
            stage="input",
            valence=valence,
            arousal=arousal,
            dominance=0.1,
            primary_emotion=emotion,
        )
        study.link("affect", tone, ("experience", turn))
    homes = ("asst-002", "asst-101", "asst-127")
    signatures = [Signature(role="semantic", model="letters-26") for _ in homes]
    study.link("embedding", EmbeddingBody(signatures=signatures), *(("experience", turn) for turn in homes))


def take_back(study: Study) -> None:
    """What was hidden, erased and disputed since."""
    store = study.store
    for text in ("Receipt: kettle, 24.99", "Receipt: van, 214.00"):
        store.append(
            text,
            type="observation",
            actor="tool(scanner)",
            method="ocr",
            user_id="jonas",
            signer=study.scanner,
        )
    index = store.reader.size - 1
    store.revoke(study.scanner, compromised_since=index, reason="the scanner was stolen")
    store.forget(study.said["asst-113"], reason="for that day only")
    store.erase(study.said["asst-025"], reason="said in error, about somebody's health")


def make(folder: Path, guard_dir: Path | None = None) -> None:
    """Make the store in a new folder; its fork guard goes to `guard_dir`, else to the user's state folder."""
    if folder.exists():
        raise SystemExit(f"{folder} exists; choose another folder")
    with braid.open(folder, guard_dir=guard_dir) as store:
        store.set_learning(health=True, finance=True)  # they speak of both
        study = Study(store)
        study.take_in()
        conclude(study)
        take_back(study)
        store.views.catch_up(publish=True)
        print(f"{folder}: {len(store)} records")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/study.py FOLDER")
    make(Path(sys.argv[1]))
