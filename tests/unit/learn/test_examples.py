"""What is read of the project's own examples: most facts that examples/README.md lists, none that it warns of."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid import open as open_store
from braid.ledger.record.record import READING, Claim, ExperienceBody
from braid.tools.cli.intake import Intake
from braid.tools.cli.progress import progress
from braid.tools.cli.sources import open_source

EXAMPLES = Path(__file__).parents[3] / "examples"
Read = dict[str, list[Claim]]
OPEN = frozenset(("did", "does", "is", "was", "goal", "needs"))
"""What was said of the day in the speaker's own words: no lasting fact of the table."""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """What is read of each turn, by its id, after all three conversations were taken into one store."""
    home = tmp_path_factory.mktemp("examples")
    found: Read = {}
    with open_store(home / "memory", guard_dir=home / "guard") as store:
        store.set_learning(health=True, finance=True)
        intake = Intake(store, lambda session: None)
        for name in ("assistant", "shop-owner", "two-friends"):
            with open_source(str(EXAMPLES / f"{name}.jsonl"), None, {}) as opened, progress("") as bar:
                intake.take(opened, opened.source_id, bar)
        store.learn()
        for record in store.read():
            body = record.body
            if isinstance(body, ExperienceBody) and body.provenance.method.startswith(READING):
                parent = store.reader.at(record.targets("parent")[0].index).body
                found.setdefault(str(parent.external_id), []).extend(body.symbolic)
    return found


def said(read: Read, turn: str) -> list[tuple[str, str, str]]:
    return [(claim.subject, claim.rel, claim.object) for claim in read.get(turn, []) if claim.polarity]


def denied(read: Read, turn: str) -> list[tuple[str, str, str]]:
    return [(claim.subject, claim.rel, claim.object) for claim in read.get(turn, []) if not claim.polarity]


def the(read: Read, turn: str, rel: str) -> Claim:
    return next(claim for claim in read[turn] if claim.rel == rel)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


JONAS, NADIA, OWEN = "Jonas Adeyemi", "Nadia Ferreira", "Owen Blackwood"


@pytest.mark.sample(16)
@pytest.mark.parametrize(
    ("turn", "claim"),
    [
        ("asst-002", (JONAS, "lives_in", "Leeds")),
        ("asst-002", (JONAS, "partner_is", "Mireille")),
        ("asst-002", (JONAS, "pet", "Biscuit")),
        ("asst-004", (JONAS, "works_as", "data engineer")),
        ("asst-004", (JONAS, "works_at", "Fernhill Logistics")),
        ("asst-014", (JONAS, "boss_is", "Craig")),
        ("asst-025", ("Mireille", "allergic_to", "shellfish")),
        ("asst-051", ("Loïc", "allergic_to", "shellfish")),
        ("asst-051", ("Mireille", "sibling", "Loïc")),
        ("asst-063", (JONAS, "drinks", "tea")),
        ("asst-074", (JONAS, "works_at", "Northlight Energy")),
        ("asst-074", (JONAS, "works_as", "senior data engineer")),
        ("asst-115", (f"{JONAS}'s passport", "expires_on", "2025-09-03")),
        ("asst-127", (JONAS, "lives_in", "Edinburgh")),
        ("asst-148", (JONAS, "likes", "Baan Suk")),
        ("asst-154", (JONAS, "likes", "tea")),
        ("shop-064", ("café's invoice", "number_is", "INV-2034")),
        ("asst-164", ("Mireille", "birthday", "21 June")),
        ("asst-179", (JONAS, "boss_is", "Annelise")),
        ("duo-001", (NADIA, "lives_in", "Porto")),
        ("duo-030", ("Alice", "born_on", "3 March")),
        ("duo-043", (OWEN, "engaged_to", "Sam")),
        ("duo-076", (NADIA, "works_at", "De Kade")),
        ("duo-076", (NADIA, "works_as", "head of sound")),
        ("duo-084", (OWEN, "has_condition", "broken wrist")),
    ],
)
def test_a_key_fact_is_read(read: Read, turn: str, claim: tuple[str, str, str]) -> None:
    assert claim in said(read, turn)


@pytest.mark.parametrize(
    ("turn", "claim"),
    [
        ("asst-051", ("Mireille", "allergic_to", "shellfish")),
        ("asst-063", (JONAS, "drinks", "coffee")),
        ("asst-198", (JONAS, "eats", "meat")),
        ("asst-198", ("Mireille", "eats", "meat")),
        ("duo-134", (OWEN, "owns", "Fiesta")),
        ("shop-064", ("café's invoice", "number_is", "INV-2043")),
    ],
)
def test_a_denial_is_read(read: Read, turn: str, claim: tuple[str, str, str]) -> None:
    assert claim in denied(read, turn)


def test_when_they_hold(read: Read) -> None:
    assert the(read, "asst-127", "lives_in").valid_from == day("2025-05-17")
    assert the(read, "asst-074", "works_at").valid_from == day("2025-06-16")
    assert the(read, "asst-063", "drinks").valid_from == day("2025-04-24")
    assert the(read, "asst-198", "eats").valid_from == day("2025-07-01")
    assert the(read, "duo-076", "works_at").valid_from == day("2024-09-09")


def test_what_is_only_seen_is_marked(read: Read) -> None:
    assert the(read, "duo-001", "lives_in").source_type == "implicit_unintentional"


def not_facts() -> list[str]:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([\w-]+)` \| \*\*not a fact\*\*", page, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "turn", [*not_facts(), "asst-036", "asst-096", "asst-113", "asst-123", "duo-060", "shop-109"]
)
def test_what_is_not_a_fact_is_not_read(read: Read, turn: str) -> None:
    claims = [
        claim for claim in read.get(turn, []) if claim.said_by is None and claim.rel not in {"sibling", *OPEN}
    ]
    assert claims == []


def test_nothing_is_read_of_assistants(read: Read) -> None:
    assert not {"shop-006", "asst-064", "asst-128"} & read.keys()
