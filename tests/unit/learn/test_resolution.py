"""Who is who: what is joined, what is left apart, what is only proposed, and how much is compared for it."""

import random
from itertools import count

import pytest

from braid.learn.resolve.compare import Described, compare
from braid.learn.resolve.resolution import Decision, Node, Resolution, Spoken, resolve
from braid.ledger.record.record import Claim
from braid.stance.mentions import mentions_of

_TURNS = count(1)


def said(
    *triples: tuple[str, str, str], context: str = "", owner: str = "maya", turn: int | None = None
) -> list[Spoken]:
    """What one record claims, as mentions."""
    at = next(_TURNS) if turn is None else turn
    claims = [
        Claim(subject=subject, rel=rel, object=object_, quote=context) for subject, rel, object_ in triples
    ]
    found = list(mentions_of(claims))
    keys = {(one.k, one.role): one.key for one in found}
    other = {"subject": "object", "object": "subject"}
    return [
        Spoken(
            at, one.k, one.role, one.name, one.key, one.canonical, one.type, at, owner, context,
            rel=claims[one.k].rel, other=keys.get((one.k, other.get(one.role, "")), ""),  # type: ignore[arg-type]
        )
        for one in found
    ]  # fmt: skip


def together(found: Resolution, *names: str) -> bool:
    """Whether all these names are of one entity."""
    return any(set(names) <= set(one.names) for one in found.entities)


@pytest.mark.parametrize(
    ("one", "other", "type_", "is_one"),
    [
        ("QuickBooks", "QBO", "product", True),
        ("the UK", "United Kingdom", "place", True),
        ("Münster", "Muenster", "place", True),
        ("GitHub", "Git Hub", "organisation", True),
        ("Shopify", "Shopfiy", "organisation", True),
        ("World Health Organization", "WHO", "organisation", True),
        ("Elizabeth Crane", "Liz Crane", "person", True),
        ("Siobhan Reilly", "Siobahn Reilly", "person", True),
        ("Mum", "my mother", "person", True),
        ("Harbour Road 88", "88 Harbour Rd", "place", True),
        ("Lena Vogel", "Lena Vogt", "person", False),
        ("Dr. Feld", "Dr. Field", "person", False),
        ("George Whitaker", "George Whitaker jr.", "person", False),
        ("Tom Bell Sr.", "Tom Bell Jr.", "person", False),
        ("Ravi", "Ravi's dad", "person", False),
        ("my sister", "his sister", "person", False),
        ("my first wife", "my wife", "person", False),
        ("Mr. Osei", "Mrs. Osei", "person", False),
        ("Windows 10", "Windows 11", "product", False),
        ("iPhone", "iPhone 12", "product", False),
        ("release 4.2.0", "release 4.20.0", "thing", False),
        ("Paris", "Paris, Texas", "place", False),
        ("Portland, Oregon", "Portland, Maine", "place", False),
        ("Barclays Leeds", "Barclays York", "organisation", False),
        ("React", "React Native", "product", False),
        ("Lublin", "Dublin", "place", False),
        ("amlodipine", "amiodarone", "product", False),
    ],
)
def test_what_a_name_alone_tells(one: str, other: str, type_: str, is_one: bool) -> None:
    verdict = compare(Described(one, type_), Described(other, type_))  # type: ignore[arg-type]
    assert verdict.is_one is is_one, verdict
    assert compare(Described(other, type_), Described(one, type_)).is_one is is_one  # type: ignore[arg-type]


def test_a_given_name_needs_something_that_bears_it_out() -> None:
    full = Described("Priya Raman", "person", ("Priya Raman speaks Portuguese, so Lisbon was easy",))
    assert compare(full, Described("Priya", "person", ("Priya came to Lisbon with us.",))).sameness == "close"
    assert compare(full, Described("Priya", "person", ("Priya has a new bike.",))).sameness == "open"


def test_an_embedder_bears_out_what_no_word_does() -> None:
    pair = (
        Described("Priya Raman", "person", ("Priya Raman runs.",)),
        Described("Priya", "person", ("Priya jogs.",)),
    )
    assert compare(*pair).sameness == "open"
    assert compare(*pair, similarity=lambda one, other: 0.9).sameness == "close"
    assert compare(*pair, similarity=lambda one, other: 0.1).sameness == "open"
    apart = (pair[0], Described("Priya Rao", "person", ("Priya Rao jogs.",)))
    assert not compare(*apart, similarity=lambda one, other: 1.0).is_one


def test_one_name_of_two_types_is_two_things() -> None:
    assert compare(Described("Jordan", "person"), Described("Jordan", "place")).sameness == "apart"
    found = resolve([*said(("Ann", "sibling", "Jordan")), *said(("Ann", "visited", "Jordan"))])
    assert [one.type for one in found.entities if one.name == "Jordan"] == ["person", "place"]


def test_aliases_names_that_were_stated_and_relatives_are_one() -> None:
    found = resolve([
        *said(("user", "uses", "QuickBooks")),
        *said(("user", "uses", "QBO")),
        *said(("user", "name_is", "Maya")),
        *said(("Maya", "sibling", "Nadia"), context="Maya's sister is Nadia"),
        *said(("Maya's sister", "lives_in", "Ghent")),
    ])  # fmt: skip
    assert together(found, "QuickBooks", "QBO")
    assert together(found, "user", "Maya")
    assert together(found, "Maya's sister", "Nadia")
    assert not together(found, "Maya", "Nadia")
    tiers = {tier for one in found.entities for *_, tier, _ in one.joined}
    assert tiers == {"alias", "stated"}


def test_of_two_full_names_a_given_name_means_neither() -> None:
    two = [
        *said(("Sarah Chen", "works_at", "Acme"), context="Sarah Chen runs payroll"),
        *said(("Sarah Lee", "works_at", "Acme"), context="Sarah Lee runs payroll too"),
    ]
    bare = said(("Sarah", "works_at", "Acme"), context="Sarah does payroll")
    assert together(resolve([*two[:2], *bare]), "Sarah Chen", "Sarah")
    found = resolve([*two, *bare])
    assert not together(found, "Sarah Chen", "Sarah")
    assert not together(found, "Sarah Lee", "Sarah")
    assert {frozenset(one.names) for one in found.proposals} >= {
        frozenset(("Sarah Chen", "Sarah")), frozenset(("Sarah Lee", "Sarah")),
    }  # fmt: skip


def test_one_name_with_two_descriptions_is_two_people_and_more_of_it_changes_nothing_before() -> None:
    spoken = [
        *said(("Nadia", "does", "approvals"), context="Nadia from finance approves refunds."),
        *said(("Nadia", "does", "the budget"), context="Nadia did the budget."),
        *said(("Nadia", "does", "yoga"), context="my yoga teacher Nadia is away"),
        *said(("Nadia", "does", "cakes"), context="Nadia bakes."),
    ]
    found = [one for one in resolve(spoken).entities if "Nadia" in one.names]
    assert [len(one.mentions) for one in found] == [2, 1, 1]
    before = [one for one in resolve(spoken[:2]).entities if "Nadia" in one.names]
    assert before[0].id == found[0].id
    assert before[0].mentions == found[0].mentions


def test_memories_of_two_people_never_meet() -> None:
    found = resolve([*said(("Ana", "likes", "Tea House")), *said(("Ana", "likes", "Tea House"), owner="bob")])
    assert len(found.entities) == 4
    assert len({one.id for one in found.entities}) == 4


def test_a_decision_joins_what_nothing_else_does_and_parts_what_was_joined() -> None:
    spoken = [
        *said(("Bob", "likes", "tea")),
        *said(("Robert Kinsella", "likes", "tea")),
        *said(("a", "uses", "QBO")),
    ]
    spoken += said(("a", "uses", "QuickBooks"))
    assert not together(resolve(spoken), "Bob", "Robert Kinsella")
    merged = Decision(9, "evt", "merge", (Node("maya", "bob"), Node("maya", "robert kinsella")))
    assert together(resolve(spoken, [merged]), "Bob", "Robert Kinsella")
    apart = Decision(10, "evt", "apart", (Node("maya", "qbo"), Node("maya", "quickbooks")), (0, 1))
    assert together(resolve(spoken), "QBO", "QuickBooks")
    assert not together(resolve(spoken, [apart]), "QBO", "QuickBooks")


def test_a_split_parts_the_mentions_of_some_turns() -> None:
    spoken = [*said(("Alex", "likes", "tea"), turn=901), *said(("Alex", "likes", "rum"), turn=902)]
    split = Decision(950, "evt", "split", (Node("maya", "alex"),), turns=frozenset((902,)))
    found = [one for one in resolve(spoken, [split]).entities if one.names == ("Alex",)]
    assert [[one.turn for one in each.mentions] for each in found] == [[901], [902]]
    joined = Decision(960, "evt", "merge", (Node("maya", "alex"), Node("maya", "alex@950")))
    again = [one for one in resolve(spoken, [split, joined]).entities if one.names == ("Alex",)]
    assert [len(one.mentions) for one in again] == [2]


def test_order_changes_nothing() -> None:
    spoken = [
        one
        for turn, name in enumerate(
            ("Liz Crane", "Elizabeth Crane", "QBO", "QuickBooks", "Sam Ortega", "Sam Wu")
        )
        for one in said((name, "likes", "Tea House"), context=f"{name} likes the Tea House", turn=500 + turn)
    ]
    first = resolve(spoken)
    assert together(first, "Liz Crane", "Elizabeth Crane")
    assert not together(first, "Sam Ortega", "Sam Wu")
    for seed in range(5):
        shuffled = random.Random(seed).sample(spoken, len(spoken))
        assert resolve(shuffled) == first


def test_blocking_keeps_the_comparisons_far_below_all_pairs() -> None:
    given = [f"{chr(65 + a)}{chr(97 + b)}{c}nor" for a in range(20) for b in range(10) for c in "aeiou"]
    spoken = [
        one for name in given for one in said((f"{name.title()} {name[::-1].title()}", "likes", "Tea House"))
    ]
    found = resolve(spoken)
    nodes = len(found.entities)
    assert nodes > 900
    assert found.comparisons < 30 * nodes < nodes * (nodes - 1) / 2


def test_an_entity_is_called_by_its_name_and_not_by_a_phrase() -> None:
    spoken = [
        *said(("Tim", "likes", "tea"), turn=903),
        *said(("Tim", "lives_in", "Leeds"), turn=904),
        *said(("goldmines of ideas for Tim", "lives_in", "Leeds"), turn=905),
    ]
    keys = {one.name: one.key for one in spoken}
    nodes = (Node("maya", keys["Tim"]), Node("maya", keys["goldmines of ideas for Tim"]))
    found = resolve(spoken, [Decision(950, "evt", "merge", nodes)])
    assert [one.name for one in found.entities if "Tim" in one.names] == ["Tim"]
    spoken = [
        *said(("Marta van Dyk", "likes", "tea")),
        *said(("Marta", "likes", "rum")),
        *said(("Marta", "has", "a dog")),
    ]
    nodes = (Node("maya", "marta van dyk"), Node("maya", "marta"))
    found = resolve(spoken, [Decision(960, "evt", "merge", nodes)])
    assert [one.name for one in found.entities if "Marta" in one.names] == ["Marta van Dyk"]
