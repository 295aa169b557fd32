"""What can't be the answer is near and no answer: somebody else's, only wished for, of another kind, over."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.agent.answer.relevance.mismatch import (
    _is_of_another_number,  # pyright: ignore[reportPrivateUsage]
    _is_of_another_period,  # pyright: ignore[reportPrivateUsage]
    _is_of_other_days,  # pyright: ignore[reportPrivateUsage]
    _is_of_other_kind,  # pyright: ignore[reportPrivateUsage]
    _is_of_other_months,  # pyright: ignore[reportPrivateUsage]
    _is_over,  # pyright: ignore[reportPrivateUsage]
    _is_what_came_or_went,  # pyright: ignore[reportPrivateUsage]
    _is_wished,  # pyright: ignore[reportPrivateUsage]
    _leaves_open,  # pyright: ignore[reportPrivateUsage]
    _names_another,  # pyright: ignore[reportPrivateUsage]
    _tells_what_they_do,  # pyright: ignore[reportPrivateUsage]
    is_of_another_kind,
)
from braid.recall.decompose import decompose
from braid.store import Store

NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)
SAID = """
My brother Tom lives in Bath.
Our cat Biscuit weighs 4 kilos.
I'm thinking of buying an electric car.
I had dinner with Ravi at the Thai place.
Ravi wants to move to Berlin.
My passport expires in June 2028.
I used to play the violin.
My daughter Mila is afraid of spiders.
The wifi at the office is called Heron.
Tom's wife Ida teaches physics.
Biscuit is 9 years old and likes tuna.
""".strip().splitlines()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    place = tmp_path_factory.mktemp("mismatch")
    ticks = (datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(hours=n) for n in range(10_000))
    with braid.open(place / "store", guard_dir=place / "guard", clock=lambda: next(ticks)) as opened:
        for text in SAID:
            opened.append(text, actor="user", name="Maya", user_id="maya", session_id="one")
        opened.views.search.index(wait_s=60.0)
        yield opened


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "Where does Tom work?",
        "When does Ravi's passport expire?",
        "Is Tom afraid of spiders?",
        "Where does Ravi live?",
        "Does Ravi live in Berlin?",
        "What car do I drive?",
        "Did I buy an electric car?",
        "What is the wifi password?",
        "What is Ida's surname?",
    ],
)
def test_it_is_no_answer(store: Store, question: str) -> None:
    found = store.ask(question, user_id="maya", write=False)
    assert found.rung in ("near", "silent"), found.plain


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Where does Tom live?", "Bath"),
        ("When does my passport expire?", "June 2028"),
        ("How much does Biscuit weigh?", "4 kilos"),
        ("Is Mila afraid of spiders?", "yes"),
    ],
)
def test_what_fits_is_told(store: Store, question: str, short: str) -> None:
    found = store.ask(question, user_id="maya", write=False)
    assert (found.rung, found.short) == ("said", short), found.plain


def test_what_somebody_used_to_do_they_do_no_more(store: Store) -> None:
    found = store.ask("Do I play the violin?", user_id="maya", write=False)
    assert (found.rung, found.short) == ("said", "no"), found.plain
    ever = store.ask("Did I ever play the violin?", user_id="maya", write=False)
    assert ever.short != "no", ever.plain
    assert store.ask("How old is Biscuit?", user_id="maya", write=False).short != "4 kilos"


@pytest.fixture
def wishes(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        opened.append("I want to go to Peru next year.", actor="user", name="Maya", user_id="maya")
        yield opened


def test_a_wish_answers_what_asks_for_one(wishes: Store) -> None:
    found = wishes.ask("Where do I want to go?", user_id="maya", write=False)
    assert "Peru" in found.plain
    assert found.rung != "near"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("text", "question", "short"),
    [
        ("Maya lives in Leeds.", "Where do I live?", "Leeds"),
        ("My doctor prescribed 20 mg of lisinopril.", "How much lisinopril do I take?", "20 mg"),
        ("They offered me the job at 52k.", "What job was I offered?", ""),
        ("Thinking of you, my locker code is 4471.", "What is my locker code?", "4471"),
        (
            "Wishes aside, the budget for the fair is 900 pounds.",
            "What is the budget for the fair?",
            "900 pounds",
        ),
    ],
)
def test_what_only_looks_like_it_is_told(tmp_path: Path, text: str, question: str, short: str) -> None:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        opened.append(text, actor="user", name="Maya", user_id="maya")
        found = opened.ask(question, user_id="maya", write=False)
    assert found.rung == "said", found.plain
    assert short in found.short


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("said", "question"),
    [
        (["I work at Siemens.", "I used to work at Siemens."], "Where do I work?"),
        (["I used to live in Leeds."], "Where do I live?"),
        (["Jonas used to drive a Volvo."], "What does Jonas drive?"),
    ],
)
def test_what_somebody_used_to_do_is_not_told_as_now(tmp_path: Path, said: list[str], question: str) -> None:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        for text in said:
            opened.append(text, actor="user", name="Maya", user_id="maya")
        opened.learn()
        found = opened.ask(question, user_id="maya", write=False)
    assert found.rung in ("near", "silent") or found.plain.startswith(("Earlier", "This may have changed")), (
        found.plain
    )


@pytest.mark.parametrize(
    ("question", "sentence", "lacks"),
    [
        ("What's the Grafana password?", "Grafana for Priit, password on paper.", True),
        ("What's the Grafana password?", "The Grafana password is heron.", False),
        ("What's my merchant number?", "It's the last four digits of your merchant number.", True),
        ("What is my phone number?", "My phone number is 5512.", False),
        ("Which flight number did Femke have?", "There's one to Santander.", True),
        ("Where do I keep my passwords?", "I keep my passwords in Bitwarden.", False),
        ("Who knows the wifi password?", "Only Tomas knows the wifi password.", False),
        ("What is my phone number?", "My phone number is five five one two.", False),
        ("What do I pay for every month?", "Every month I pay for Netflix.", False),
        ("What does the oven man charge?", "The oven man charges a hundred.", False),
        ("How old is the cat?", "Only the one cat can stay.", True),
        ("How old is Hala?", "My cousin Hala gets real ones, 2 quid each.", True),
        ("How old is Hala?", "Hala is 31.", False),
        ("What does Carsten pay for the page?", "I'll use what my friend Carsten uses.", True),
        ("What does Carsten pay for the page?", "Carsten pays twelve a month.", False),
    ],
)
def test_a_code_a_number_an_age_or_a_sum_is_there_or_it_is_no_answer(
    question: str, sentence: str, lacks: bool
) -> None:
    assert is_of_another_kind(question, sentence) is lacks


@pytest.mark.parametrize(
    ("question", "lacks", "has"),
    [
        ("what percentage does Stelios pay?", "Yes: 50 pounds for each of you", "he pays 1.75 per cent"),
        (
            "what's written on the brass plate?",
            "you can have a little brass plate on it",
            "the plate says For Gerti",
        ),
        (
            "what did Mr Feldt write on the card?",
            "Old Mr Feldt sent a card",
            "Mr Feldt wrote get well on the card",
        ),
        ("what does Piet do at work?", "Piet has a hut on Skarrey", "Piet is a baker"),
        ("what is the alarm code of the dairy?", "Alarm code is with Ingrid", "the alarm code is 4471"),
        ("how far is it to the lake?", "I found one on Lake Tarn, sleeps 6", "it's 40 minutes to the lake"),
        (
            "how big is my flat?",
            "my new flat is on Lindenweg 14, third floor",
            "the flat is 64 square metres",
        ),
        ("how far is the school from here", "the school has 300 pupils", "the school is 2 km away"),
    ],
)
def test_what_a_question_asks_for_stands_in_what_answers(question: str, lacks: str, has: str) -> None:
    assert is_of_another_kind(question, lacks)
    assert not is_of_another_kind(question, has)


def test_a_name_in_another_part_of_the_sentence_answers_for_that_part_alone() -> None:
    said = "slew speed is capped until the brake test in June; Tadeusz writes the operator manual"
    now = datetime(2026, 6, 1, tzinfo=UTC)
    assert _names_another(decompose("who does the brake test in June?", now), said)
    assert not _names_another(decompose("who writes the operator manual?", now), said)


@pytest.mark.parametrize(
    ("question", "sentence", "is_other"),
    [
        ("What is my cat called?", "My dog is called Rex.", True),
        ("What is my mum called?", "My mother is called Ana.", False),
        ("What is my sister called?", "My brother is called Tom.", True),
        ("What is my dog called?", "Our labrador is called Rex.", False),
        ("What is my cat called?", "My dog chases our cat Miso.", False),
        ("Does the dog like the cat?", "My dog hates him.", False),
    ],
)
def test_what_is_said_of_a_dog_says_nothing_of_the_cat(question: str, sentence: str, is_other: bool) -> None:
    asked = decompose(question, datetime(2026, 3, 2, tzinfo=UTC))
    assert _is_of_other_kind(asked, sentence) == is_other


@pytest.mark.parametrize(
    ("question", "sentence", "is_of_another"),
    [
        ("What is order 4471?", "Order 4472 is for Jo, a walnut desk.", True),
        ("What is order 4471?", "Order 4471 is for Ida: two shelves.", False),
        ("Who sits in room 12?", "Ben sits in room #14.", True),
        ("Who sits in room 12?", "Ben sits in 12, not in room 14.", False),
        ("What do we do in May 2026?", "In May 2025 we sail.", False),
        ("Is order 4471 paid?", "Order 4472 is paid.", True),
        ("Does the flat cost 900?", "It does cost 950.", False),
    ],
)
def test_another_of_several_is_told_by_its_number(
    question: str, sentence: str, *, is_of_another: bool
) -> None:
    assert _is_of_another_number(decompose(question, NOW), sentence) is is_of_another


@pytest.mark.parametrize(
    ("question", "sentence", "is_of_another"),
    [
        ("Who is on call in May?", "This week Tomas is on call.", True),
        ("Who is on call this week?", "Next week it's Ruth.", True),
        ("Who is on call this week?", "This week Tomas is on call.", False),
        ("Who is on call in March?", "This week Tomas is on call.", False),
        ("How much does she charge this year?", "Last year she charged 380.", True),
        ("What do we pay in May?", "This year we pay 40.", False),
        ("Who is on call in May?", "Tomas is on call.", False),
        ("Who is on call in May?", "From today until 8 May it's Tomas.", False),
        ("When is the fair this week?", "The fair is tomorrow.", False),
    ],
)
def test_a_week_is_of_the_day_it_was_named_on(question: str, sentence: str, *, is_of_another: bool) -> None:
    assert _is_of_another_period(decompose(question, NOW), sentence, NOW) is is_of_another


@pytest.mark.parametrize(
    ("question", "sentence", "is_another"),
    [
        ("How many nodes does west have?", "We added 4 nodes to west.", True),
        ("How many nodes are there?", "We lost two nodes.", True),
        ("How many nodes did we add?", "We added 4 nodes to west.", False),
        ("How many nodes does west have?", "West has 12 nodes.", False),
        ("How many hens do we have?", "The fox got two hens last night.", True),
        ("How many hens do we have?", "The barn holds nine hens.", False),
        ("How many hens do we have?", "We keep nine hens.", False),
    ],
)
def test_what_came_to_it_is_not_how_many_there_are(question: str, sentence: str, *, is_another: bool) -> None:
    assert _is_what_came_or_went(decompose(question, NOW), sentence) is is_another


@pytest.mark.parametrize(
    ("question", "sentence", "is_of_another"),
    [
        ("What do we read in April?", "Our book club reads Emma in March.", True),
        ("What do we read in April?", "For April we chose Emma.", False),
        ("Who leads in May?", "Kim leads from March to June.", False),
        ("When do we meet in May?", "We meet on 3 June.", False),
        ("Did we read Emma in April?", "We read Emma in March.", False),
    ],
)
def test_another_month_is_another(question: str, sentence: str, *, is_of_another: bool) -> None:
    assert _is_of_other_months(decompose(question, NOW), sentence) is is_of_another


@pytest.mark.parametrize(
    ("question", "sentence", "is_no_name"),
    [
        ("Who is our vet?", "Nori is pregnant, the vet counts four kittens.", True),
        ("Who is our vet?", "The vet is Dr. Haas on Mill Lane.", False),
        ("Who is our vet?", "The vet Dr. Haas came by.", False),
        ("Who is the dog sitter?", "The puppy chewed the couch while the dog sitter slept.", True),
        ("Who is at the door?", "The vet counts four kittens.", False),
    ],
)
def test_what_somebody_does_is_not_who_they_are(question: str, sentence: str, *, is_no_name: bool) -> None:
    assert _tells_what_they_do(decompose(question, NOW), sentence) is is_no_name


@pytest.mark.parametrize(
    ("question", "sentence", "is_of_another"),
    [
        ("When do we close on Saturdays?", "From April we close at 17 on weekdays.", True),
        ("When do we close on Saturdays?", "Our hours are 10 to 18, Saturdays until 16.", False),
        ("When do we close on Wednesdays?", "Monday to Friday we close at 18.", False),
        ("When do we close on Sunday?", "Monday to Friday we close at 18.", True),
        ("When do we close on Sunday?", "We close at 18 every day.", False),
        ("Where do I go at the weekend?", "On Tuesdays I go to the pool.", True),
        ("When do we close?", "We close at 17 on weekdays.", False),
        ("Do we close on Sundays?", "We close on Mondays.", False),
    ],
)
def test_another_day_of_the_week_is_another(question: str, sentence: str, *, is_of_another: bool) -> None:
    assert _is_of_other_days(decompose(question, NOW), sentence) is is_of_another


@pytest.mark.parametrize(
    ("question", "sentence", "is_proposed"),
    [
        ("What colour is the kitchen going to be?", "I think we should paint the kitchen blue.", True),
        ("What colour should the kitchen be?", "I think we should paint the kitchen blue.", False),
        ("Where do we eat?", "We could eat at Nori.", True),
        ("What is the code?", "The code that we should use is 4471.", False),
    ],
)
def test_what_is_proposed_is_not_so(question: str, sentence: str, *, is_proposed: bool) -> None:
    assert _is_wished(decompose(question, NOW), sentence) is is_proposed


@pytest.mark.parametrize(
    ("question", "sentence", "is_over"),
    [
        ("Where are we going in July?", "We planned to go to Crete in July.", True),
        ("Where did we plan to go?", "We planned to go to Crete.", False),
        ("What is the code?", "I wanted to tell you that the code is 4471.", False),
        ("Where do we meet?", "We were going to meet at Kim's.", True),
    ],
)
def test_what_was_meant_to_be_is_not_so(question: str, sentence: str, *, is_over: bool) -> None:
    assert _is_over(decompose(question, NOW), sentence) is is_over


def test_what_is_of_another_is_passed_over_for_what_has_every_word(tmp_path: Path) -> None:
    said = (
        "Order 4471 is for Ida Berg: two oak shelves.",
        "Order 4472 is for Jo Lund, a walnut desk, 640 euros.",
    )
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        for text in said:
            opened.append(text, actor="user", name="Maya", user_id="maya")
        found = opened.ask("What is order 4471?", user_id="maya", write=False)
    assert (found.rung, found.short) == ("said", "two oak shelves"), found.plain


def test_what_takes_it_back_is_not_passed_over(tmp_path: Path) -> None:
    said = ("I work at Monzo as an analyst.", "I don't work at Monzo anymore.")
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        for days, text in enumerate(said):
            opened.append(
                text, actor="user", name="Maya", user_id="maya", occurred_at=NOW + timedelta(days=days)
            )
        found = opened.ask("Where do I work?", user_id="maya", write=False, now=NOW + timedelta(days=9))
    assert "anymore" in found.plain


@pytest.mark.parametrize(
    ("question", "sentence", "is_open"),
    [
        ("did we buy or rent the repeater", "59 to buy or 3 a month to rent", True),
        ("did we buy or rent the repeater", "we bought it, renting was no cheaper", False),
        ("is the party on Saturday or Sunday?", "Saturday or Sunday, I don't mind", True),
        ("what does he drink", "tea or coffee", False),
    ],
)
def test_what_offers_both_tells_neither(question: str, sentence: str, is_open: bool) -> None:
    assert _leaves_open(decompose(question, NOW), sentence) is is_open


@pytest.mark.parametrize(
    ("question", "sentence", "is_other"),
    [
        ("What am I allergic to?", "Marie is allergic to latex.", True),
        ("What am I allergic to?", "I'm allergic to nuts.", False),
        ("Where does Priya work?", "Priya moved to Cardiff.", True),
        ("Where does Priya work?", "Priya moved to Cardiff and works at the docks.", False),
        ("Where does Priya live?", "Priya moved to Cardiff.", False),
    ],
)
def test_what_is_said_of_another_or_of_a_home_says_nothing_of_me_or_of_work(
    tmp_path: Path, question: str, sentence: str, is_other: bool
) -> None:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", server=None) as it:
        it.remember([{"role": "user", "content": sentence, "name": "Ana"}], user_id="ana")
        told = it.ask(question, user_id="ana", write=False)
    assert (told.rung in ("near", "silent")) == is_other, told.plain
