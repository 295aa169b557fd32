"""Claims about whoever has no name, as they are said to them."""

import pytest

from braid.agent.answer.wording.report import addressed, spoken_by


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("user likes coffee", "you like coffee"),
        ("user is allergic to nuts", "you are allergic to nuts"),
        ("user's dog is Bello", "your dog is Bello"),
        ("user does not like tea", "you do not like tea"),
        ("user did not move to Rome", "you did not move to Rome"),
        ("user has a cat", "you have a cat"),
        ("user teaches maths", "you teach maths"),
        ("user was born in Split", "you were born in Split"),
        ("users like tea", "users like tea"),
        ("user likes tea; user likes coffee", "you like tea; you like coffee"),
        (
            "user's dog is Rex; Maya likes tea; user has a cat",
            "your dog is Rex; Maya likes tea; you have a cat",
        ),
        ("Maya likes tea", "Maya likes tea"),
        ("", ""),
    ],
)
def test_a_claim_about_the_user_is_said_to_them(claim: str, said: str) -> None:
    assert addressed(claim) == said


def test_who_spoke_is_said_as_the_one_who_answers_says_it() -> None:
    assert [spoken_by(name) for name in ("user", "agent", "Ann", "")] == ["you", "I", "Ann", ""]
