"""What a line of a chat wants."""

import pytest

from braid.agent.answer.question.wish import Wish, righted, wish


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("I live in Porto.", Wish("tell", "I live in Porto.")),
        ("Where do I live?", Wish("ask", "Where do I live?")),
        ("where do I live", Wish("ask", "where do I live")),
        ("私はどこに住んでいますか\uff1f", Wish("ask", "私はどこに住んでいますか\uff1f")),
        ("أين أسكن؟", Wish("ask", "أين أسكن؟")),
        ("Tell me about Miso", Wish("ask", "Tell me about Miso")),
        ("My cat is ill. What is her name?", Wish("ask", "What is her name?", "My cat is ill.")),
        ("When I was young I lived in Faro.", Wish("tell", "When I was young I lived in Faro.")),
        ("How do you know that?", Wish("how", "How do you know that?")),
        ("No, I meant Lisbon.", Wish("correct", "Lisbon.")),
        ("sorry, I meant Lisbon, not Porto", Wish("correct", "Lisbon, not Porto")),
        ("I meant that I live in Faro.", Wish("correct", "I live in Faro.")),
        ("I mentioned Lisbon.", Wish("tell", "I mentioned Lisbon.")),
        ("forget that", Wish("forget_last", "forget that")),
        ("Please forget what I said.", Wish("forget_last", "Please forget what I said.")),
        ("Forget what I said about Porto.", Wish("forget_about", "Porto")),
        ("forget everything about my cat, please", Wish("forget_about", "my cat")),
        ("Forget that I live in Porto, please.", Wish("forget_that", "I live in Porto")),
        ("You can forget that I live in Porto.", Wish("forget_that", "I live in Porto")),
        ("delete the fact that Jo smokes", Wish("forget_that", "Jo smokes")),
        ("forget everything", Wish("forget_all", "forget everything")),
        (
            "Please delete everything you know about me.",
            Wish("forget_all", "Please delete everything you know about me."),
        ),
        ("forget me", Wish("forget_all", "forget me")),
        ("Forget it all.", Wish("forget_all", "Forget it all.")),
        ("Delete everything.", Wish("forget_all", "Delete everything.")),
        ("Erase all my data.", Wish("forget_all", "Erase all my data.")),
        ("You can forget everything I said about Ana.", Wish("forget_about", "Ana")),
        ("wipe my memory!", Wish("forget_all", "wipe my memory!")),
        ("erase all that I've told you", Wish("forget_all", "erase all that I've told you")),
        ("I forget everything", Wish("tell", "I forget everything")),
        ("delete all emails from Bob", Wish("tell", "delete all emails from Bob")),
        ("Did you forget that I live in Porto?", Wish("ask", "Did you forget that I live in Porto?")),
        ("Don't forget that I live in Porto.", Wish("tell", "Don't forget that I live in Porto.")),
        ("correct: it's Faro, not Porto", Wish("correct", "Faro, not Porto")),
        ("That's wrong, it is Faro and not Porto.", Wish("correct", "Faro and not Porto.")),
        ("It's Faro, not Porto.", Wish("put_right", "It's Faro, not Porto.")),
        ("no, it is Faro, not Porto", Wish("put_right", "no, it is Faro, not Porto")),
        ("It does not work on Mondays.", Wish("tell", "It does not work on Mondays.")),
        ("It is not raining today.", Wish("tell", "It is not raining today.")),
        (
            "It took me a while, but I do not like tea.",
            Wish("tell", "It took me a while, but I do not like tea."),
        ),
        ("It was not my fault.", Wish("tell", "It was not my fault.")),
        ("Italy is not my favourite place.", Wish("tell", "Italy is not my favourite place.")),
        ("Items are not in stock", Wish("tell", "Items are not in stock")),
        ("It has rained and not stopped", Wish("tell", "It has rained and not stopped")),
        ("I live in Faro, not Porto.", Wish("tell", "I live in Faro, not Porto.")),
        ("I always forget that.", Wish("tell", "I always forget that.")),
        ("Don't forget about the milk.", Wish("tell", "Don't forget about the milk.")),
    ],
)
def test_a_line_is_taken_as_it_is_meant(line: str, wanted: Wish) -> None:
    assert wish(line) == wanted


@pytest.mark.parametrize(
    ("right", "object_", "meant"),
    [
        ("Lisbon.", "Porto", "I live in Lisbon."),
        ("Lisbon, not Porto", None, "I live in Lisbon."),
        ("Vila Nova.", "Porto", "I live in Vila Nova."),
        ("I live in Faro", "Porto", "I live in Faro."),
        ("my sister lives in Porto", "Porto", "My sister lives in Porto."),
        ("Lisbon", None, None),
        ("Lisbon", "Braga", None),
        ("Lisbon, not Braga", "Porto", None),
    ],
)
def test_what_was_meant_is_a_whole(right: str, object_: str | None, meant: str | None) -> None:
    assert righted("I live in Porto.", right, object_) == meant


@pytest.mark.parametrize(
    ("before", "right", "object_", "meant"),
    [
        ("The bus leaves at 9.", "locker 14", "9", None),
        ("The bus leaves at 9.", "Sam", "9", None),
        ("The bus leaves at 9.", "10:30", "9", "The bus leaves at 10:30."),
        ("The bus leaves at 9.", "10 pm", "9", "The bus leaves at 10 pm."),
        ("The bus leaves at 9.", "my locker is number 14", "9", None),
        ("The bus leaves at 9.", "the bus leaves at 10", "9", "The bus leaves at 10."),
        ("My locker is 12.", "14", "12", "My locker is 14."),
        ("I have 2 cats.", "3", "2 cats", "I have 3 cats."),
        ("I run 5 km a day.", "6", "5 km", "I run 6 km a day."),
        ("I live at 12 Elm Street.", "14", "12 Elm Street", "I live at 14 Elm Street."),
        ("We meet at 3.", "4", "meet at 3", "We meet at 4."),
        ("My train leaves at 9.", "I am leaving my keys at home", "9", None),
        ("My boss is Ravi.", "14", "Ravi", None),
    ],
)
def test_what_is_of_another_kind_or_about_something_else_puts_nothing_right(
    before: str, right: str, object_: str, meant: str | None
) -> None:
    assert righted(before, right, object_) == meant
