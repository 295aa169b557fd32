"""What a sentence asserts of what is asked: by its parse, and in a store."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.agent.answer.assertion.assertion import assertion
from braid.agent.answer.assertion.verdict import replied, verdict
from braid.models.spacy_parser import SpacyParser
from braid.recall.decompose import decompose
from braid.text.parse import Parser

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
BEGUN = datetime(2026, 10, 5, 10, tzinfo=UTC)
SETS = Path(__file__).parents[2] / "data" / "verdicts"
OPEN = (
    ("Please book the hotel.", "Did we book the hotel?"),
    ("I have to renew my passport.", "Did I renew my passport?"),
    ("We tried to book the ferry.", "Did we book the ferry?"),
    ("Kim offered to pay the bill.", "Did Kim pay the bill?"),
    ("Kim asked me to sell the car.", "Did I sell the car?"),
    ("The doctor advised me to stop taking ibuprofen.", "Did I stop taking ibuprofen?"),
    ("I doubt that Marta has paid.", "Has Marta paid?"),
    ("Greta is leaving in May.", "Did Greta leave?"),
    ("Either Paula or Gus has the spare key.", "Does Gus have the spare key?"),
    ("Jo married Al, whose sister lives in Rome.", "Does Jo live in Rome?"),
    ("We didn't move to Devon for the weather.", "Did we move to Devon?"),
    ("Provided the survey is clean, the sale will complete.", "Did the sale complete?"),
    ("The hotel will be booked by Tom.", "Is the hotel booked?"),
    ("I hate to cancel the trip.", "Is the trip cancelled?"),
    ("I like Tom to cook dinner.", "Did Tom cook dinner?"),
    ("I'm worried that Ana failed the exam.", "Did Ana fail the exam?"),
    ("I don't see that Ben pays rent.", "Does Ben pay rent?"),
    ("My old car has a tow bar, the new one doesn't.", "Does my new car have a tow bar?"),
    ("When the fence is painted we sell.", "Is the fence painted?"),
    ("Deploy of 901 is on hold.", "Is 901 deployed?"),
)
NO = (
    ("The bank refused to lend us the money.", "Did the bank lend us the money?"),
    ("Marta forgot to pay the rent.", "Did Marta pay the rent?"),
    ("Neither Eva nor Karl eats fish.", "Does Karl eat fish?"),
    ("Everyone but Sam has signed the card.", "Has Sam signed the card?"),
    ("Everyone but Sam has signed the card.", "Has everyone signed the card?"),
    ("Not everyone got a bonus.", "Did everyone get a bonus?"),
    ("It is not true that Bertram was dismissed.", "Was Bertram dismissed?"),
    ("Ana is too ill to travel.", "Can Ana travel?"),
    ("I quit smoking in June.", "Do I smoke?"),
    ("We have no garden.", "Do we have a garden?"),
    ("My knee hurts, so no running until May.", "Can I run?"),
)
YES = (
    ("I'm not happy that Greta is leaving.", "Is Greta leaving?"),
    ("It's no secret that Ben smokes.", "Does Ben smoke?"),
    ("I didn't know that Lea is pregnant.", "Is Lea pregnant?"),
    ("Nobody but Omar knows the code.", "Does Omar know the code?"),
    ("Ben didn't just apply for the job, he got it.", "Did Ben apply for the job?"),
    ("I managed to fix the boiler.", "Did I fix the boiler?"),
    ("Both parties signed the agreement.", "Was the agreement signed?"),
)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return SpacyParser()


@pytest.mark.parametrize(
    ("said", "asked", "wanted"),
    [(*pair, wanted) for wanted, pairs in (("open", OPEN), ("no", NO), ("yes", YES)) for pair in pairs],
)
def test_what_a_sentence_asserts(parser: Parser, said: str, asked: str, wanted: str) -> None:
    question, sentence = parser.parse([asked, said])
    assert assertion(question, sentence) == wanted


def test_who_says_i(parser: Parser) -> None:
    question, said = parser.parse(["Is Marcus allergic to nuts?", "I'm allergic to nuts."])
    assert assertion(question, said, "Marcus") == "yes"
    assert assertion(question, said, "Dana") == "open"
    mine, _ = parser.parse(["Am I allergic to nuts?", ""])
    assert assertion(mine, said) == "yes"
    assert assertion(mine, said, "Dana") == "open"


def test_what_is_not_in_it_is_not_found(parser: Parser) -> None:
    question, said = parser.parse(["Does Ben smoke?", "Ben lives in Hull."])
    assert assertion(question, said) is None


def test_without_a_parser_a_request_still_says_nothing() -> None:
    asked = decompose("Is the hotel booked?", NOW)
    assert verdict(asked, "Please book the hotel.") is None
    assert verdict(asked, "TODO: book the hotel") is None
    assert verdict(asked, "The hotel is booked.") == "yes"


def test_words_that_end_in_jest_say_nothing(parser: Parser) -> None:
    asked = decompose("Do I love doing my taxes?", NOW)
    said = "Oh sure, I love doing my taxes"
    assert verdict(asked, said, parser.parse, whole=f"{said}. Not.") is None
    assert verdict(asked, said, parser.parse, whole=f"{said}.") == "yes"


def test_a_reply_answers_what_it_was_asked() -> None:
    asked = decompose("Did I feed the rabbits?", NOW)
    assert replied(asked, "did you feed the rabbits?", "yep, both of em") == "yes"
    assert replied(asked, "did you feed the rabbits?", "Not yet.") == "no"
    assert replied(asked, "did you feed the rabbits?", "The vet came.") is None
    assert replied(asked, "did you lock the shed?", "yep") is None
    assert replied(asked, "didn't you feed the rabbits?", "No.") is None


def answered(items: list[dict[str, object]], home: Path) -> Iterator[tuple[str, str]]:
    """Yield what each small memory is expected to say, and says: all in one store, each as a user of its own."""
    with braid.open(home / "memory", guard_dir=home / "guard") as store:
        for at, item in enumerate(items):
            soon = item["kind"] == "short-reply"
            for step, (who, text) in enumerate(item["turns"]):  # type: ignore[var-annotated,arg-type]
                when = BEGUN + (timedelta(minutes=step) if soon else timedelta(weeks=step))
                message = {"role": "user", "content": text, "timestamp": when.isoformat()}
                session = f"{at}" if soon else f"{at}-{step}"
                store.remember(
                    message if who == "me" else {**message, "name": who}, user_id=f"u{at}", session_id=session
                )
        store.learn()
        for at, item in enumerate(items):
            answer = store.ask(str(item["q"]), user_id=f"u{at}", write=False, now=NOW)
            yield str(item["expect"]), answer.short if answer.short in ("yes", "no") else "neither"


def counts(name: str, home: Path, step: int = 1) -> Counter[str]:
    items = [json.loads(line) for line in (SETS / f"{name}.jsonl").read_text().splitlines()][::step]
    return Counter(
        "right" if said == wanted else "untold" if said == "neither" else "wrong"
        for wanted, said in answered(items, home)
    )


@pytest.mark.soak
@pytest.mark.parametrize(("name", "most_wrong", "least_right"), [("dev", 2, 117), ("held", 12, 121)])
def test_small_memories(name: str, most_wrong: int, least_right: int, tmp_path: Path) -> None:
    found = counts(name, tmp_path)
    assert found["wrong"] <= most_wrong
    assert found["right"] >= least_right


def test_a_later_turn_of_whom_is_asked_is_shown_and_neither_is_said(tmp_path: Path) -> None:
    said = ("My sister Lea is pregnant.", "Lea had the baby, a girl called Mina!", "Tom smokes.")
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for week, text in enumerate(said):
            when = (BEGUN + timedelta(weeks=week)).isoformat()
            store.remember({"role": "user", "content": text, "timestamp": when}, user_id="u")
        store.learn()
        answer = store.ask("Is Lea pregnant?", user_id="u", write=False, now=NOW)
        assert answer.short not in ("yes", "no")
        assert said[1].rstrip("!") in answer.plain
        assert store.ask("Does Tom smoke?", user_id="u", write=False, now=NOW).short == "yes"


def test_what_is_near_has_no_short_answer(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for text in ("My wife is allergic to nuts.", "Wish I lived in Lisbon."):
            store.remember({"role": "user", "content": text}, user_id="u")
        for question in ("Am I allergic to nuts?", "Where do I live?"):
            answer = store.ask(question, user_id="u", write=False)
            assert (answer.rung, answer.short) == ("near", "")


def test_what_a_list_of_numbers_comes_to_is_nobodys_word(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        listed = "Spent so far on the party: cake 68, gazebo hire 45, food 130, presents 60."
        store.remember({"role": "user", "content": listed}, user_id="u")
        answer = store.ask("How much have I spent on the party altogether?", user_id="u", write=False)
        assert answer.rung == "near"
        assert "cake 68" in answer.plain


DEPLOY = "We deploy to production on Tuesdays, never on Fridays."


@pytest.mark.parametrize("with_parse", [True, False])
@pytest.mark.parametrize(
    ("said", "asked", "answer"),
    [
        (DEPLOY, "Can we deploy on Friday?", "no"),
        (DEPLOY, "Do we deploy on Tuesdays?", "yes"),
        ("I eat fish but not meat.", "Do I eat meat?", "no"),
        ("I eat fish but not meat.", "Do I eat fish?", "yes"),
        ("The meeting is on Tuesday, not Wednesday.", "Is the meeting on Wednesday?", "no"),
        ("The meeting is on Tuesday, not Wednesday.", "Is the meeting on Tuesday?", "yes"),
        ("It's open daily except Sundays.", "Is it open on Sundays?", "no"),
        ("I live in Leeds, not far from the station.", "Do I live in Leeds?", "yes"),
        ("I like jazz, not just at night.", "Do I like jazz?", "yes"),
        ("We use Valkey and not Redis since May.", "Do we use Redis?", "no"),
        ("I don't drink coffee after noon.", "Do I drink coffee after noon?", "no"),
        ("I don't drink coffee after noon.", "Do I drink coffee?", None),
        ("You can't park here on Sundays.", "Can you park here?", None),
        ("I can't smoke at work.", "Can I smoke?", None),
        ("I don't eat meat.", "Do I eat meat?", "no"),
        ("I've never been to Peru before.", "Have I ever been to Peru?", "no"),
        ("I like short commit messages without emojis.", "Do I like emojis in commit messages?", "no"),
        ("I drink tea without milk.", "Do I drink tea?", "yes"),
        ("I can't sleep without music.", "Do I sleep with music?", None),
    ],
)
def test_what_a_sentence_leaves_out_in_few_words_is_denied_and_nothing_else(
    said: str, asked: str, answer: str | None, *, with_parse: bool, parser: Parser
) -> None:
    question = decompose(asked, NOW)
    assert verdict(question, said, parser.parse if with_parse else None) == answer
