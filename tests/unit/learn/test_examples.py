"""What is read of the project's own examples: the facts that examples/README.md lists, none that it warns of."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.entry import open as open_store
from braid.ledger.record.record import READING, Claim, ExperienceBody
from braid.tools.cli.intake import Intake
from braid.tools.cli.progress import progress
from braid.tools.cli.sources import open_source

EXAMPLES = Path(__file__).parents[3] / "examples"
Read = dict[str, list[Claim]]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """What is read of each turn, by its id, after all three conversations were taken into one store."""
    home = tmp_path_factory.mktemp("examples")
    found: Read = {}
    with open_store(home / "memory", guard_dir=home / "guard") as store:
        intake = Intake(store, lambda session: None)
        for name in ("assistant", "shop-owner", "two-friends"):
            with open_source(str(EXAMPLES / f"{name}.jsonl"), None, {}) as opened, progress("") as bar:
                intake.take(opened, opened.source_id, bar)
        store.learn()
        for record in store.read():
            body = record.body
            if isinstance(body, ExperienceBody) and body.provenance.method.startswith(READING):
                parent = store.reader.at(record.targets("parent")[0].index).body
                found[str(parent.external_id)] = body.symbolic
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


@pytest.mark.parametrize(
    ("turn", "claim"),
    [
        ("asst-002", (JONAS, "lives_in", "Leeds")),
        ("asst-002", (JONAS, "partner_is", "Mireille")),
        ("asst-002", (JONAS, "pet", "Biscuit")),
        ("asst-004", (JONAS, "works_as", "data engineer")),
        ("asst-004", (JONAS, "works_at", "Fernhill Logistics")),
        ("asst-006", (JONAS, "drinks", "coffee")),
        ("asst-014", (JONAS, "boss_is", "Craig")),
        ("asst-020", ("half marathon in Edinburgh", "is_on", "2025-05-25")),
        ("asst-025", ("Mireille", "allergic_to", "shellfish")),
        ("asst-027", ("Tola", "dislikes", "Baan Suk")),
        ("asst-051", ("Loïc", "allergic_to", "shellfish")),
        ("asst-051", ("Mireille", "sibling", "Loïc")),
        ("asst-063", (JONAS, "drinks", "tea")),
        ("asst-074", (JONAS, "works_at", "Northlight Energy")),
        ("asst-074", (JONAS, "works_as", "senior data engineer")),
        ("asst-115", (f"{JONAS}'s passport", "expires_on", "2025-09-03")),
        ("asst-127", (JONAS, "lives_in", "Edinburgh")),
        ("asst-148", (JONAS, "likes", "Baan Suk")),
        ("asst-154", (JONAS, "prefers", "tea")),
        ("asst-164", ("Mireille", "birthday", "21 June")),
        ("asst-179", (JONAS, "boss_is", "Annelise")),
        ("duo-001", (NADIA, "lives_in", "Porto")),
        ("duo-007", (NADIA, "works_as", "sound engineer")),
        ("duo-015", (f"{OWEN}'s mum's hip operation", "is_on", "2024-02-26")),
        ("duo-030", ("Alice", "born_on", "2024-03-03")),
        ("duo-043", (OWEN, "engaged_to", "Sam")),
        ("duo-047", (f"{OWEN}'s wedding", "is_on", "2025-04-12")),
        ("duo-076", (NADIA, "works_at", "De Kade")),
        ("duo-076", (NADIA, "works_as", "head of sound")),
        ("duo-084", (OWEN, "has_condition", "broken wrist")),
        ("duo-086", (OWEN, "has_condition", "broken left wrist")),
        ("duo-114", (NADIA, "lives_in", "Ghent")),
        ("duo-174", (f"{OWEN}'s wedding", "is_on", "2025-05-10")),
        ("shop-059", ("Harbour Lane Café's invoice", "number_is", "INV-2043")),
        ("shop-064", ("Harbour Lane Café's invoice", "number_is", "INV-2034")),
        ("shop-072", ("refund for order 1195", "costs", "£45")),
        ("shop-074", ("refund for order 1195", "costs", "£54")),
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
        ("duo-086", (OWEN, "has_condition", "broken right wrist")),
        ("duo-134", (OWEN, "owns", "Fiesta")),
        ("duo-170", (f"{OWEN}'s wedding", "is_on", "2025-04-12")),
        ("shop-064", ("Harbour Lane Café's invoice", "number_is", "INV-2043")),
        ("shop-074", ("refund for order 1195", "costs", "£45")),
    ],
)
def test_a_denial_is_read(read: Read, turn: str, claim: tuple[str, str, str]) -> None:
    assert claim in denied(read, turn)


def test_when_they_hold(read: Read) -> None:
    assert the(read, "asst-127", "lives_in").valid_from == day("2025-05-17")
    assert the(read, "asst-074", "works_at").valid_from == day("2025-06-16")
    assert the(read, "asst-078", "works_at").valid_to == day("2025-06-07")
    assert the(read, "asst-078", "works_at").object == "Fernhill Logistics"
    assert the(read, "asst-063", "drinks").valid_from == day("2025-04-24")
    assert the(read, "asst-198", "eats").valid_from == day("2025-07-01")
    assert the(read, "duo-114", "lives_in").valid_from == day("2024-09-01")
    assert the(read, "duo-076", "works_at").valid_from == day("2024-09-09")


def test_what_is_only_seen_is_marked(read: Read) -> None:
    assert the(read, "duo-001", "lives_in").source_type == "implicit_unintentional"
    assert the(read, "asst-027", "dislikes").said_by == "Tola"


def not_facts() -> list[str]:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([\w-]+)` \| \*\*not a fact\*\*", page, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "turn", [*not_facts(), "asst-036", "asst-096", "asst-113", "asst-123", "duo-060", "shop-109"]
)
def test_what_is_not_a_fact_is_not_read(read: Read, turn: str) -> None:
    claims = [claim for claim in read.get(turn, []) if claim.said_by is None and claim.rel != "sibling"]
    assert claims == []


def test_nothing_is_read_of_assistants(read: Read) -> None:
    assert not {"shop-006", "asst-064", "asst-128"} & read.keys()
