"""Whose words a record is: at first hand by key, actor and where it was read; else by what it needs."""

from collections.abc import Sequence
from typing import Any

import pytest

from braid.ledger.record.record import Content, ExperienceBody, Provenance, Source, StanceBody
from braid.ledger.record.source import SourceClasses, at_first_hand, needs


def said(
    actor: str = "user", *, method: str = "capture", uri: str = "", tags: Sequence[str] = ()
) -> ExperienceBody:
    sources = [Source(uri=uri)] if uri else []
    return ExperienceBody(
        content=Content(text="x"),
        provenance=Provenance(actor=actor, method=method, sources=sources),
        tags=list(tags),
    )


@pytest.mark.parametrize(
    ("role", "body", "found"),
    [
        ("recorder", said(), "owner"),
        ("user", said(), "owner"),
        ("agent", said("agent"), "agent"),
        ("tool", said("tool(mail)"), "tool"),  # a key of its own admits a tool that brings others' text
        ("recorder", said("agent"), "agent"),
        ("recorder", said("system"), "agent"),
        ("recorder", said("tool(calendar)"), "tool"),
        ("recorder", said("tool(web_search)"), "outsider"),
        ("recorder", said("tool(WebFetch)"), "outsider"),
        ("recorder", said("tool(weblog_counter)"), "tool"),
        ("recorder", said("ghost"), "outsider"),
        ("recorder", said(uri="https://example.org/page"), "outsider"),
        ("user", said(uri="mailto:bob@example.org"), "outsider"),
        ("tool", said("tool(clock)", uri="https://example.org"), "outsider"),
        ("recorder", said(uri="file:///home/ida/notes.md"), "owner"),
        ("recorder", said(uri="notes.md"), "owner"),
        ("recorder", said(method="import", uri="file:///chat.jsonl#L3"), "owner"),
        ("recorder", said(method="import", uri="file:///box.mbox#mail3"), "outsider"),
        ("recorder", said(method="import", uri="file:///box.mbox#mail3", tags=["words:owner"]), "owner"),
        ("recorder", said(tags=["words:outsider"]), "outsider"),
        ("recorder", said(tags=["words:agent"]), "agent"),
        ("recorder", said("tool(mail)", tags=["words:owner"]), "outsider"),  # a tag only lowers
        ("recorder", StanceBody(question="?"), "agent"),
    ],
)
def test_at_first_hand(role: str, body: Any, found: str) -> None:
    assert at_first_hand(role, body) == found


class Link:
    def __init__(self, role: str, index: int) -> None:
        self.role, self.index, self.id = role, index, f"r{index}"


class Made:
    """A record as the rule sees it."""

    def __init__(self, index: int, body: Any, *links: tuple[str, int]) -> None:
        self.index, self.body, self.raw = index, body, b"{}"
        self.links = [Link(*one) for one in links]
        self.envelope = self
        self.key = "k"


def classes(*records: Made) -> SourceClasses:
    held: dict[int, Any] = {one.index: one for one in records}
    return SourceClasses(held.get, lambda _: "recorder")


def test_what_rests_on_several_is_of_the_lowest() -> None:
    mine, mail = Made(0, said()), Made(1, said("tool(mail)"))
    note = Made(2, said("agent"), ("parent", 0), ("evidence", 1))
    reading = Made(3, said("agent", method="read:plain@2"), ("parent", 0), ("evidence", 1))
    own = Made(4, said("agent"), ("parent", 0))
    stance = Made(5, StanceBody(question="?"), ("candidate", 1), ("support", 0))
    put_right = Made(6, said(), ("supersedes", 1))
    of = classes(mine, mail, note, reading, own, stance, put_right).of
    assert [of(at) for at in range(7)] == [
        "owner",
        "outsider",
        "outsider",
        "owner",
        "agent",
        "owner",
        "owner",
    ]


def test_laundering_by_a_long_chain_and_by_an_erasure() -> None:
    chain = [
        Made(0, said("tool(mail)")),
        *(Made(at, said("agent"), ("parent", at - 1)) for at in range(1, 5_000)),
    ]
    assert classes(*chain).of(4_999) == "outsider"
    assert classes(Made(1, said("agent"), ("parent", 0))).of(1) == "outsider"  # what 0 was, nobody can tell


def test_a_reading_needs_its_parent_alone() -> None:
    links: Any = [Link("parent", 3), Link("evidence", 2), Link("supersedes", 1)]
    assert needs(links, said("agent", method="read:plain@2")) == [3]
    assert needs(links, said("agent")) == [3, 2]


@pytest.mark.parametrize(
    ("role", "body", "links", "found"),
    [
        ("user", said(), [("supersedes", 0), ("parent", 1)], "owner"),
        ("user", said(), [("supersedes", 0), ("evidence", 1)], "owner"),
        (
            "recorder",
            said(),
            [("supersedes", 0), ("parent", 1)],
            "outsider",
        ),  # a program said that the owner did
        ("user", said(), [("parent", 1)], "outsider"),  # puts nothing right: a summary is made so
        ("user", said(tags=["words:agent"]), [("supersedes", 0), ("parent", 1)], "outsider"),
        ("user", said(uri="mailto:bob@example.org"), [("supersedes", 0), ("parent", 1)], "outsider"),
        ("agent", said("agent"), [("supersedes", 0), ("parent", 1)], "outsider"),
        ("user", said(method="read:plain@2"), [("supersedes", 0), ("parent", 1)], "outsider"),
    ],
)
def test_a_correction_that_the_owner_signed_is_theirs_on_whatever_it_rests(
    role: str, body: Any, links: list[tuple[str, int]], found: str
) -> None:
    own, mail, right = Made(0, said()), Made(1, said("tool(mail)")), Made(2, body, *links)
    right.key = "signed"
    held: dict[int, Any] = {0: own, 1: mail, 2: right}
    roles = {"k": "recorder", "signed": role}
    assert SourceClasses(held.get, roles.__getitem__).of(2) == found
    del held[0], held[1]  # erased: what was signed stays as it is
    assert SourceClasses(held.get, roles.__getitem__).of(2) == found
