"""Whom and what claims speak of, and of which type the relation says that is."""

import pytest

from braid.ledger.record.record import Claim
from braid.stance.mentions import mentions_of, owned


def named(subject: str, rel: str, object_: str, **how: str) -> list[tuple[str, str, str]]:
    """What one claim mentions: role, name, type."""
    claim = Claim(subject=subject, rel=rel, object=object_, **how)  # type: ignore[arg-type]
    return [(one.role, one.name, one.type) for one in mentions_of([claim])]


@pytest.mark.parametrize(
    ("claim", "mentions"),
    [
        (("Maya", "sibling", "Nadia"), [("subject", "Maya", "person"), ("object", "Nadia", "person")]),
        (
            ("user", "uses", "QuickBooks"),
            [("subject", "user", "person"), ("object", "QuickBooks", "product")],
        ),
        (("Maya", "works_at", "Acme"), [("subject", "Maya", "person"), ("object", "Acme", "organisation")]),
        (("Maya", "uses", "PayPal"), [("subject", "Maya", "thing"), ("object", "PayPal", "organisation")]),
        (("Dr. Feld", "treats", "knees"), [("subject", "Dr. Feld", "person")]),
        (("Maya", "likes", "going out late"), [("subject", "Maya", "person")]),
        (("Maya", "likes", "Thai food"), [("subject", "Maya", "person"), ("object", "Thai food", "thing")]),
        (("Maya", "birthday", "21 June"), [("subject", "Maya", "person")]),
        (("launch", "is_on", "2025-05-01"), [("subject", "launch", "thing")]),
        (("Maya", "email_is", "maya@example.org"), [("subject", "Maya", "thing")]),
        (("Maya", "sibling", "June"), [("subject", "Maya", "person"), ("object", "June", "person")]),
        (
            ("Jonas's sister", "lives_in", "Ghent"),
            [
                ("subject", "Jonas's sister", "person"),
                ("owner", "Jonas", "thing"),
                ("object", "Ghent", "place"),
            ],
        ),
    ],
)
def test_what_a_claim_mentions(claim: tuple[str, str, str], mentions: list[tuple[str, str, str]]) -> None:
    assert named(*claim) == mentions


def test_whose_word_it_is_is_a_mention() -> None:
    assert ("said_by", "Tom", "person") in named("Ana", "likes", "tea", said_by="Tom")


def test_names_have_their_normal_form_and_that_of_the_dictionary() -> None:
    (one, *_) = mentions_of([Claim(subject="the  QBO", rel="is", object="slow")])
    assert (one.name, one.key, one.canonical) == ("the QBO", "qbo", "quickbooks")


def test_whose_what_a_name_is() -> None:
    assert owned("Jonas’s sister") == ("jonas", "sister")
    assert owned("Jonas") is None
