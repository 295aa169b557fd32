"""What a later turn ends or puts in another light: it is told with what it ends, and never as if it still were so."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import braid
from braid.answers.reply import Reply
from braid.store import Store

BEGIN = datetime(2026, 6, 1, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("over")
    with braid.open(
        folder / "store", guard_dir=folder / "guard", clock=lambda: BEGIN + timedelta(days=60)
    ) as opened:
        yield opened


def told(store: Store, turns: list[str], question: str) -> Reply:
    user = f"{turns} {question}"[-1_000:]
    for number, text in enumerate(turns):
        at = (BEGIN + timedelta(days=5 * number)).isoformat()
        store.remember(
            [{"role": "user", "content": text, "name": "Ana", "timestamp": at}], user_id=user, session_id=user
        )
    store.learn()
    return store.ask(question, user_id=user, write=False, affect=False)


def known(store: Store, turns: list[str]) -> set[tuple[str, str, bool]]:
    told(store, turns, "What do you know?")
    found = store.sql(
        "SELECT rel, object, polarity FROM claims JOIN experiences USING (log_index) WHERE user_id = $user",
        parameters={"user": f"{turns} What do you know?"},
    ).to_pylist()
    return {(row["rel"], row["object"], row["polarity"]) for row in found}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("turns", "question", "later"),
    [
        (["Marcus is my boyfriend.", "me and Marcus are done"], "Who is my boyfriend?", "are done"),
        (["I work at Siemens.", "I quit."], "Where do I work?", "I quit"),
        (["I work at Siemens as a welder.", "I was laid off."], "Where do I work?", "laid off"),
        (["Sam is my flatmate.", "Sam moved out"], "Who is my flatmate?", "moved out"),
        (
            ["I have a dog called Rex.", "we had to put Rex down last week"],
            "What is my dog called?",
            "put Rex down",
        ),
        (["I got the job at Siemens!", "jk, still waiting"], "Did I get the job?", "still waiting"),
    ],
)
def test_what_is_over_is_told_with_what_ended_it(
    store: Store, turns: list[str], question: str, later: str
) -> None:
    answer = told(store, turns, question)
    assert later in answer.text
    assert later in answer.short
    assert {one.text for one in answer.citations} == {*turns}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("turns", "question", "short"),
    [
        (["I live in Porto.", "I moved to Braga last month."], "Where do I live?", "Braga"),
        (["I live in Porto.", "I moved to Ghent in 2010."], "Where do I live?", "Porto"),
        (["I love coffee", "gone off coffee, tea person now"], "Do I like coffee?", "no"),
        (["I have a dog called Rex.", "Rex died on Monday"], "Do I have a dog?", "no"),
        (["I work at Siemens.", "I quit smoking."], "Where do I work?", "Siemens"),
        (["I was born in 1990"], "When was I born?", "in 1990"),
        (["my wife was born on 3 March"], "When was my wife born?", "3 March"),
    ],
)
def test_what_holds_now(store: Store, turns: list[str], question: str, short: str) -> None:
    assert told(store, turns, question).short == short


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm basically living at the office this week", set()),
        ("we nearly called our daughter Ivy", set()),
        ("my brother isn't called Dave", {("sibling", "Dave", False)}),
        ("our holiday is from 3 to 17 August", {("is", "from 3 to 17 August", True)}),
        ("my sister's ring size is M, mine is K", {("is", "M", True)}),
    ],
)
def test_what_is_read_of_it(store: Store, text: str, claims: set[tuple[str, str, bool]]) -> None:
    assert known(store, [text]) == claims


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("turns", "question"),
    [
        (["My car is a red Volvo.", "I washed the car instead of cooking."], "What is my car?"),
        (["My dentist is Dr Okafor.", "Dr Okafor moved my check-up to Friday."], "Who is my dentist?"),
        (
            ["new address: 17 Tanner Lane", "landlady of the new place is Mrs Abernathy-Voss"],
            "What's my address?",
        ),
    ],
)
def test_what_only_speaks_of_the_same_thing_unsettles_nothing(
    store: Store, turns: list[str], question: str
) -> None:
    answer = told(store, turns, question)
    assert "may have changed" not in answer.plain


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("turns", "question", "later"),
    [
        (["we're going to Paris in June", "changed our minds, it's Madrid"], "where are we going in June", "Madrid"),
        (["we're staying at the Hilton", "switched hotels, it's the Ibis now"], "which hotel are we in?", "Ibis"),
        (["my brother drives a red Fiesta", "he sold it, drives a van now"], "what does my brother drive", "van"),
        (["dinner with Lea on Friday at 6", "Lea can only do 4, so 4 it is"], "what time is dinner", "4 it is"),
        (["my flight leaves from gate B12", "gate change, B20"], "which gate is my flight", "B20"),
        (["I live at 12 Elm Road", "moved last week"], "where do I live", "moved"),
        (["we're getting married in May", "wedding's been pushed to September"], "what month do we marry", "September"),
        (["the plumber is coming Tuesday", "plumber can't make it"], "when is the plumber coming", "can't make it"),
        (["My password for the router is plum-9", "I reset the router, it's fig-3 now"], "router password?", "fig-3"),
        (["I take 20 mg of citalopram", "doctor put me down to 10"], "how much citalopram do I take", "down to 10"),
        (["Tom's birthday is 4 May", "no it's 5 May, he says"], "when is Tom's birthday", "5 May"),
        (["we're at a cottage in Wales for Easter", "had to cancel the cottage"], "where are we at Easter", "cancel"),
    ],
)  # fmt: skip
def test_what_takes_back_the_turn_before_is_told_with_it(
    store: Store, turns: list[str], question: str, later: str
) -> None:
    assert later in told(store, turns, question).plain


@pytest.mark.parametrize(
    ("turns", "question", "right", "not_told"),
    [
        (
            ["we're going to Paris in June", "the curtains will be red", "changed our minds, blue it is"],
            "where are we going in June?", "Paris", "blue",
        ),
        (
            ["we picked oak for the floor", "changed our minds about the kitchen tiles, grey now"],
            "what wood is the floor?", "oak", "grey",
        ),
        (
            ["Our cat Miso is 9 and on a kidney diet.", "I used to play the cello but I sold it in 2021."],
            "How old is the cat?", "9", "cello",
        ),
        (
            ["Anna works mornings, Piet does the afternoons.", "Piet is off sick until the 15th, Mira covers for him."],
            "Who works in the mornings?", "Anna", "Mira",
        ),
    ],
)  # fmt: skip
def test_what_takes_back_another_turn_changes_nothing(
    store: Store, turns: list[str], question: str, right: str, not_told: str
) -> None:
    answer = told(store, turns, question).plain
    assert right in answer
    assert not_told not in answer


@pytest.mark.parametrize(
    ("question", "rung", "short"),
    [
        ("how much will the kitchen cost", "said", "12k"),
        ("what does the bathroom cost", "said", "5k"),
        ("how much will the bedroom cost", "near", None),
    ],
)
def test_of_listed_amounts_the_one_that_is_asked_for(
    store: Store, question: str, rung: str, short: str | None
) -> None:
    answer = told(store, ["bathroom will cost 5k, kitchen 12k"], question)
    assert answer.rung == rung
    assert short is None or answer.short == short


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("My passport doesn't expire in 2031.", "When does my passport expire?"),
        ("I do not weigh 81 kg.", "How much do I weigh?"),
        ("I never paid 300 euros for the bike.", "How much did I pay for the bike?"),
        ("The launch isn't on 5 July.", "When is the launch?"),
    ],
)
def test_what_is_denied_is_no_answer(store: Store, turn: str, question: str) -> None:
    assert told(store, [turn], question).rung in ("near", "silent")


@pytest.mark.parametrize(
    ("turn", "question", "value"),
    [
        ("The rent isn't due until the 5th.", "When is the rent due?", "5th"),
        ("The launch is not on 5 July but on 9 July.", "When is the launch?", "9 July"),
    ],
)
def test_what_holds_behind_a_denial_is_told(store: Store, turn: str, question: str, value: str) -> None:
    answer = told(store, [turn], question)
    assert answer.rung == "said"
    assert value in answer.plain


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        ("The rent is 900 euros.", "The rent is not 900 euros, it is 950.", "How much is the rent?"),
        ("The budget is 4000 euros.", "Not 4000, they only approved 2500.", "How much is the budget?"),
        ("I take 20 mg of lisinopril.", "Dr Braun halved my lisinopril.", "How much lisinopril do I take?"),
        ("My backup contact is Rui.", "Rui can't do it any longer, ask Marta.", "Who is my backup contact?"),
    ],
)
def test_a_denial_of_what_was_said_is_told_with_it(
    store: Store, first: str, second: str, question: str
) -> None:
    answer = told(store, [first, "The cat is asleep.", second], question)
    assert second.rstrip(".") in answer.plain
    assert answer.residual_uncertainty >= 0.49


def test_a_long_note_answers_with_what_stands_at_its_end(store: Store) -> None:
    key = "The spare key of the boathouse is under the blue pot."
    whole = "It rained for hours and nobody came. " * 4_000 + key
    answer = told(store, [whole], "Where is the spare key of the boathouse?")
    assert "blue pot" in answer.plain
    assert answer.citations[0].text in whole
