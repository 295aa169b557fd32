"""Amounts that a sentence lists: each with what it is of, and none of what isn't among them."""

import pytest

from braid.agent.answer.turn.counts import amount_of, listed_amounts, lists_another

LISTS = [
    ("bathroom will cost 5k, kitchen 12k", "how much is the kitchen?", "12k"),
    ("rent 900, gym 40 a month, phone 15", "what do I pay for the gym", "40"),
    ("flour 200 g, butter 150 g and sugar 3 cups", "how much butter", "150 g"),
    ("the deposit is £500 and the rent £900", "how much is the deposit", "£500"),
]


@pytest.mark.parametrize(("sentence", "question", "amount"), LISTS)
def test_the_amount_of_what_is_named(sentence: str, question: str, amount: str) -> None:
    assert amount_of(question, sentence) == amount
    assert not lists_another(question, sentence)


@pytest.mark.parametrize(("sentence", "question", "amount"), LISTS)
def test_what_is_not_among_them_has_none(sentence: str, question: str, amount: str) -> None:
    assert amount_of("how much is the internet?", sentence) is None
    assert lists_another("how much is the internet?", sentence)
    assert not lists_another("who pays for it?", sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "I paid 50 for the shoes, 20 for socks",
        "we need 3 eggs, 2 onions",
        "the rent is 900",
        "900, 40",
        "a, b",
    ],
)
def test_what_is_no_list_of_them(sentence: str) -> None:
    assert listed_amounts(sentence) == []
    assert not lists_another("how much is it?", sentence)
