"""What a line of a chat asks of a memory."""

import pytest

from braid.agent.request.aim import aimed
from braid.agent.request.change import ChangeRequest, change_request, changed
from braid.agent.request.meant import righted
from braid.agent.request.naming import mended
from braid.agent.request.pointing import changed_to, meant_by, pointed
from braid.agent.request.removal import removal
from braid.agent.request.righting import corrected, fitting, righting
from braid.agent.request.wish import Wish, wish


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
        ("No, I meant Lisbon.", Wish("meant", "Lisbon.")),
        ("I meant that I live in Faro.", Wish("meant", "I live in Faro.")),
        ("No, Lisbon.", Wish("perhaps_meant", "Lisbon")),
        ("nope - 14 May", Wish("perhaps_meant", "14 May")),
        ("Oops, it's Ana Lima!", Wish("perhaps_meant", "Ana Lima")),
        (
            "No, I live in Lisbon with Ana and two cats.",
            Wish("tell", "No, I live in Lisbon with Ana and two cats."),
        ),
        ("No idea.", Wish("tell", "No idea.")),
        ("I mentioned Lisbon.", Wish("tell", "I mentioned Lisbon.")),
        ("Did you forget that I live in Porto?", Wish("ask", "Did you forget that I live in Porto?")),
        ("How do I delete a branch?", Wish("ask", "How do I delete a branch?")),
    ],
)
def test_a_line_is_taken_as_it_is_meant(line: str, wanted: Wish) -> None:
    assert wish(line) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "forget everything",
        "Please delete everything you know about me.",
        "forget me",
        "Forget it all.",
        "Delete everything.",
        "Erase all my data.",
        "wipe my memory!",
        "erase all that I've told you",
    ],
)
def test_everything_is_asked_to_go(line: str) -> None:
    assert wish(line) == Wish("forget_all", line)


@pytest.mark.parametrize(
    "line",
    [
        "I forget everything",
        "Don't forget that I live in Porto.",
        "I always forget that.",
        "Don't forget about the milk.",
        "I'll never forget that trip.",
        "Don't let me forget that the report is due.",
        "Jo told me to forget that the gate is shut.",
        "She said: delete the note about Porto.",
        "He forgot that we had met.",
        "If I move, delete the note that I live in Porto.",
        "Whatever you do, don't delete the note about Porto.",
        "Remind me to remove the note on the door.",
        "Remember to delete the old branches.",
        "I keep forgetting that it is shut.",
        "We removed the note that was on the fridge.",
        "It does not work on Mondays.",
        "It is not raining today.",
        "It took me a while, but I do not like tea.",
        "It was not my fault.",
        "Italy is not my favourite place.",
        "Items are not in stock",
        "Yes, that's right, it's Faro, not Porto.",
        "That's correct, the call is at 9:30, not 10:30.",
        "I want to change jobs.",
        "We moved the sofa to the attic.",
        "I'll move the dentist to Friday.",
        "The customer wants us to close her account and forget about the refund.",
    ],
)
def test_what_only_looks_like_a_request_is_told(line: str) -> None:
    assert wish(line).kind == "tell"


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("forget that", "forget_last", None),
        ("Please forget what I said.", "forget_last", None),
        ("hang on, take that back", "forget_last", None),
        ("scrap that one please", "forget_last", None),
        ("Forget what I said about Porto.", "forget_about", "Porto"),
        ("forget everything about my cat, please", "forget_about", "my cat"),
        ("You can forget everything I said about Ana.", "forget_about", "Ana"),
        ("We broke up. Purge all entries mentioning Kim.", "forget_about", "Kim"),
        ("it's sold, so you can drop anything on the van", "forget_about", "the van"),
        ("chuck all of the van info", "forget_about", "van"),
        ("please forget where Miso sleeps", "forget_about", "Miso sleeps"),
        ("pls forget evrything about tea", "forget_about", "tea"),
        ("Forget that I live in Porto, please.", "forget_that", "I live in Porto"),
        ("You can forget that I live in Porto.", "forget_that", "I live in Porto"),
        ("delete the fact that Jo smokes", "forget_that", "Jo smokes"),
        ("Can you get rid of the note saying Jo smokes?", "forget_that", "Jo smokes"),
        ("Kindly take out the entry that says Jo smokes.", "forget_that", "Jo smokes"),
        ("Would you mind deleting the note that Jo smokes?", "forget_that", "Jo smokes"),
        ("u can bin anything about Ana", "forget_about", "Ana"),
        ("Please be so good as to erase that Jo smokes.", "forget_that", "Jo smokes"),
    ],
)
def test_it_is_read_what_is_to_go(line: str, kind: str, text: str | None) -> None:
    found = removal(line)
    assert found is not None
    assert (found.kind, found.texts[-1] if found.texts else None) == (kind, text)


def test_what_may_be_a_reason_is_left_out_of_what_is_to_go_and_the_rest_is_kept() -> None:
    found = removal("I was wrong. Scrap the note that Jo smokes, it could do harm.")
    assert found is not None
    assert found.texts == ("Jo smokes, it could do harm", "Jo smokes")
    assert found.rest == "I was wrong."


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("It's Faro, not Porto.", "I live in Porto.", "I live in Faro."),
        ("correct: it's Faro, not Porto", "I live in Porto.", "I live in Faro."),
        ("That's wrong, it is Faro and not Porto.", "I live in Porto.", "I live in Faro."),
        ("sorry, I meant Faro, not Porto", "I live in Porto.", "I live in Faro."),
        ("not Porto, I meant Faro", "I live in Porto.", "I live in Faro."),
        ("I said Porto but it's Faro", "I live in Porto.", "I live in Faro."),
        ("Porto should be Faro, please fix that", "I live in Porto.", "I live in Faro."),
        ("change Porto to Faro please, they got it wrong", "I live in Porto.", "I live in Faro."),
        ("wrong: Porto. It's Faro", "I live in Porto.", "I live in Faro."),
        ("Porto is wrong, it's Faro", "I live in Porto.", "I live in Faro."),
        ("nah mate its Faro, not Porto", "I live in Porto.", "I live in Faro."),
        ("The figure is off. It's 1550, not 1520.", "My rent is 1520 euros.", "My rent is 1550 euros."),
        ("it's 7:52, not 7:40", "The train leaves at 7:40.", "The train leaves at 7:52."),
        ("No, his name is Gren, not Berg", "The teacher is Mr Berg.", "The teacher is Mr Gren."),
        ("it's Ilse who approves, not Marek", "Deploys need Marek.", "Deploys need Ilse."),
        (
            "We moved it: the retro is at 10 now, not 9.",
            "The retro with Oslo is at 9.",
            "The retro with Oslo is at 10.",
        ),
        (
            "the forecast is due on 11 May, not 9 May",
            "The forecast is due on 9 May.",
            "The forecast is due on 11 May.",
        ),
        (
            "he comes on Saturday, not Thursday",
            "The plumber comes on Thursday.",
            "The plumber comes on Saturday.",
        ),
        (
            "I take 850 mg in the morning. Not 500.",
            "I take 500 mg in the morning.",
            "I take 850 mg in the morning.",
        ),
        ("it's in Epping, not Harlow", "Our course is in Harlow in may.", "Our course is in Epping in may."),
        ("It's Faro, not Porto.", "Porto to Porto takes no time.", None),
    ],
)
def test_what_is_denied_is_put_right_where_it_stands_once(line: str, before: str, after: str | None) -> None:
    found = righting(line)
    assert found is not None
    assert corrected(before, found) == after


def test_a_whole_sentence_tells_which_of_several_is_meant() -> None:
    said = [("cake", "The carrot cake needs 180 grams."), ("bread", "The banana bread needs 180 grams.")]
    found = righting("I misread it: the carrot cake needs 150 grams, not 180.")
    assert found is not None
    assert fitting(said, found.statement, but=found.wrong) == ["cake"]
    assert fitting(said, "it should be 200", but="180") == []


@pytest.mark.parametrize(
    ("line", "of", "before", "after"),
    [
        (
            "She's on 7 mg. Please update what you have for Grandma.",
            "Grandma",
            "Grandma takes 5 mg of ramipril.",
            "Grandma takes 7 mg of ramipril.",
        ),
        (
            "The peppers get watered daily, so overwrite what you had for the peppers.",
            "the peppers",
            "The peppers get watered every second day.",
            "The peppers get watered daily.",
        ),
        (
            "pottery is run by Hamish now, change that for me",
            "",
            "My pottery class is run by Odile.",
            "My pottery class is run by Hamish.",
        ),
    ],
)
def test_what_a_line_says_takes_the_place_of_what_was_kept(
    line: str, of: str, before: str, after: str | None
) -> None:
    found = change_request(line)
    assert isinstance(found, ChangeRequest)
    assert (found.of, changed(before, found)) == (of, after)


@pytest.mark.parametrize(
    ("right", "object_", "meant"),
    [
        ("Lisbon.", "Porto", "I live in Lisbon."),
        ("Vila Nova.", "Porto", "I live in Vila Nova."),
        ("I live in Faro", "Porto", "I live in Faro."),
        ("my sister lives in Porto", "Porto", "My sister lives in Porto."),
        ("Lisbon", None, None),
        ("Lisbon", "Braga", None),
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


KEPT = (
    "The alarm code hint at home is Gran's year.",
    "The cabin has no alarm.",
    "Mum wants a kettle for her birthday.",
    "Biscuit eats 80 grams of kibble a day.",
    "Pepper eats 80 grams of kibble a day.",
    "Maja is allergic to penicillin.",
    "The Fiat is not insured.",
    "My dentist appointment is on Tuesday at 3.",
    "Leo's dentist appointment is on Tuesday at 3.",
    "Ella's teacher is Mrs Obi.",
    "My pool locker is number 58.",
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("lose the alarm code hint", KEPT[0]),
        ("delete the note on the cabin alarm pls", KEPT[1]),
        ("bought the kettle already so you can wipe that", KEPT[2]),
        ("pls delete what i said re maja's penicillin allergy", KEPT[5]),
        ("The Fiat's insured now so bin the one saying it isn't.", KEPT[6]),
        ("the Fiat is insured, remove that it isn't", KEPT[6]),
        ("you needn't keep my dentist appointment", KEPT[7]),
        ("no longer need to know who ella's teacher is, remove it", KEPT[9]),
        ("dont need to know who ella's teacher is, bin it", KEPT[9]),
        ("I'd rather you didn't keep the pool locker, since I left", KEPT[10]),
        ("the cabin got an alarm, so throw that one about it having no alarm out", KEPT[1]),
        ("the pool locker thing, forget it", KEPT[10]),
        ("i not need my pool locker more, please to delete", KEPT[10]),
        ("delete the PN", KEPT[5]),  # short for two words in a row
    ],
)
def test_what_is_to_go_is_what_has_the_words_that_name_it(line: str, meant: str) -> None:
    asked = pointed(line)
    assert asked is not None
    assert asked.kind == "forget"
    assert meant_by(asked, [(text, text) for text in KEPT]) == [meant]


@pytest.mark.parametrize(
    "line",
    [
        "scrap the kibble note",  # of two
        "forget that Biscuit is allergic to penicillin",  # of nobody
        "forget Uncle Paul's birthday",
        "delete that the Fiat is insured",  # it says that it isn't
        "delete all emails from Bob",
    ],
)
def test_of_several_or_none_nothing_is_meant(line: str) -> None:
    asked = pointed(line)
    assert asked is not None
    assert len(meant_by(asked, [(text, text) for text in KEPT])) != 1


@pytest.mark.parametrize(
    "line",
    [
        "forget it, I'm done",
        "Spotify raised the price again, forget it",
        "lose weight",
        "take the bus at 8",
        "drop by later",
        "The kids can go",
    ],
)
def test_an_everyday_verb_points_to_nothing(line: str) -> None:
    assert pointed(line) is None


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("biscuit's on a diet, make it 65 grams for him", KEPT[3], "Biscuit eats 65 grams of kibble a day."),
        ("change my pool locker to 141", "My pool locker is number 58.", "My pool locker is number 141."),
        ("Ella's teacher's changed. Please make it Mr Dunn.", KEPT[9], "Ella's teacher is Mr Dunn."),
        ("change the alarm code hint to first bike", KEPT[0], "The alarm code hint at home is first bike."),
        ("Would you mind updating the kibble for Pepper to 90 grams? Thanks", KEPT[4], None),
    ],
)
def test_what_is_to_stand_there_takes_the_place_of_its_kind_or_what_is_said_to_be(
    line: str, before: str, after: str | None
) -> None:
    asked = pointed(line)
    assert asked is not None
    assert asked.kind == "change"
    found = meant_by(asked, [(text, text) for text in KEPT])
    assert found == [before]
    if after is not None:
        assert changed_to(before, asked) == after


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("Please move my dentist to Friday.", "My dentist is on Monday at 9.", "My dentist is on Friday at 9."),
        (
            "The dentist has moved, please change it to Friday.",
            "The dentist is on Monday.",
            "The dentist is on Friday.",
        ),
        (
            "Actually make the retro with Oslo 11:00.",
            "The retro with Oslo is at 9:30.",
            "The retro with Oslo is at 11:00.",
        ),
        ("make the valve 28 mm from now on", "The valve is 22 mm wide.", "The valve is 28 mm wide."),
        ("change the train to Nice to 9:15", "Our train to Nice leaves at 8:05.", "Our train to Nice leaves at 9:15."),
        ("move the retro from Monday to Friday", "The retro is on Monday.", "The retro is on Friday."),
        ("Set the limit to 85", "The limit is 600 or 60.", None),
        ("change the insulin to 9", "Bed 4 does not get insulin.", None),
    ],
)  # fmt: skip
def test_a_value_takes_the_place_of_one_of_its_kind(line: str, before: str, after: str | None) -> None:
    asked = pointed(line)
    assert asked is not None
    assert meant_by(asked, [(1, before)]) == ([1] if after else [])
    assert after is None or changed_to(before, asked) == after


def test_it_is_the_last_thing_told_where_nothing_else_is_named() -> None:
    asked = pointed("actually make it 11:00")
    assert asked is not None
    assert asked.is_of_last
    assert changed_to("The retro is at 9:30.", asked) == "The retro is at 11:00."


MEMORIES = (
    "My parking space at work is on level 2.",
    "The gym membership costs 29 euros a month.",
    "Spin class is on Mondays at 18:30.",
    "Nika reviews the pull requests for the website.",
    "The wifi password at the cabin is heron-42.",
    "Grandma takes her heart pills at 8.",
    "Grandpa takes his heart pills at 9.",
    "Ana is my sister.",
    "Ana's flat is on the third floor.",
    "My physio appointment is on 14 March.",
    "The plumber is called Rasmussen.",
)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("delete the memebrship", "delete the membership"),
        ("lose the plummer", "lose the plumber"),
        ("bin my physio appt", "bin my physio appointment"),
        ("my sister's flat", "Ana's flat"),
        ("my brother's flat", "my brother's flat"),  # nothing says who he is
        ("forget the couch", "forget the couch"),
        ("forget the plane", "forget the plane"),  # another word than "place", though a letter away
    ],
)
def test_a_word_that_nothing_has_as_it_is_spelt_is_the_one_that_it_is_nearly(line: str, after: str) -> None:
    assert mended(line, (*MEMORIES, "The coach has a place in town.")) == after


def test_what_was_wrong_is_no_typo_of_what_is_right() -> None:
    line = "the plummer is Rasmusen, not Rasmussen"
    assert mended(line, MEMORIES, but="Rasmussen") == "the plumber is Rasmusen, not Rasmussen"


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        (
            "7.2 freezes on 19 June, not 18 June",
            "Release 7.2 freezes on 18 June.",
            "Release 7.2 freezes on 19 June.",
        ),
        (
            "under the green pot, not the blue one",
            "The key is under the blue pot.",
            "The key is under the green pot.",
        ),
    ],
)
def test_a_number_with_a_point_and_a_bare_one_are_read_in_what_is_put_right(
    line: str, before: str, after: str
) -> None:
    asked = righting(line)
    assert asked is not None
    assert corrected(before, asked) == after


def test_what_somebody_does_is_what_they_say_that_they_do() -> None:
    asked = removal("remove what you hold about my taking the brown inhaler")
    assert asked is not None
    assert (asked.kind, asked.texts) == ("forget_that", ("I taking the brown inhaler",))


def test_what_something_was_is_one_thing_and_what_was_said_of_it_may_be_many() -> None:
    for line, is_one in (("forget what size it was", True), ("forget what I said about bees", False)):
        found = removal(line)
        assert found is not None
        assert found.is_one is is_one


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("the thing about the clutch, please forget it", "The van has a new clutch."),
        ("You've got a note that Jo smokes a pipe. Please throw it out.", "Jo smokes a pipe."),
        ("Jo doesn't smoke a pipe any more, take that off your list", "Jo smokes a pipe."),
        ("I'm off the pills, I don't take them now. Delete that.", "I take two pills at noon."),
        ("We've stopped selling soy milk, please delete that one", "Soy milk comes from Brandt."),
        ("brakes on the van are done, bin that", "The brakes on the van are worn."),
    ],
)
def test_what_stands_in_front_of_that_is_what_is_to_go(line: str, gone: str) -> None:
    said = ("The van has a new clutch.", "The brakes on the van are worn.", "Jo smokes a pipe.", "Jo's van is blue.",
            "I take two pills at noon.", "Soy milk comes from Brandt.", "Oat milk comes from Voss.")  # fmt: skip
    near, asked = [(text, text) for text in said], pointed(line)
    found = meant_by(asked, near) if asked is not None else []
    if not found:
        aim = aimed(line, near)
        found = [*aim.found] if aim is not None else []
    assert removal(line) is None
    assert found == [gone]
