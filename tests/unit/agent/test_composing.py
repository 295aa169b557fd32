"""Without a model: bands, citations, spans, how sure it is, and reflections, by hand."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import braid
from braid.agent import bands, cite
from braid.agent.answer.assertion.verdict import verdict
from braid.agent.answer.choice.chooser import NOTHING
from braid.agent.answer.choice.confidence import SIGNALS, probability, signals, weights
from braid.agent.answer.compose import Extractive
from braid.agent.answer.ladder import NEAREST, UNKNOWN
from braid.agent.answer.pipeline import core_of
from braid.agent.answer.reflection import reflect
from braid.agent.answer.turn.moments import day
from braid.agent.answer.turn.spans import best_span
from braid.agent.answer.turn.turn import named_speakers
from braid.agent.answer.wording.report import quote, report_of
from braid.agent.composer import Composed, QuestionContext, Support
from braid.recall.decompose import decompose
from braid.recall.hits import Hit
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store

NOW = datetime(2023, 6, 9, 12, tzinfo=UTC)
ONE, OTHER = "exp_2023-06-09T12:00:00Z_00000000000a", "exp_2023-06-09T12:00:00Z_00000000000b"


@pytest.mark.parametrize(
    ("p", "band"),
    [(1.0, "plain"), (0.85, "plain"), (0.84, "hedged"), (0.6, "hedged"), (0.59, "careful"), (0.4, "careful"),
     (0.39, "unsaid"), (0.0, "unsaid")],
)  # fmt: skip
def test_bands_are_words_and_never_numbers(p: float, band: str) -> None:
    assert bands.band(p) == band
    said = [bands.manner(p), bands.worked_out("It comes to more", p)]
    if band != "unsaid":
        said += [bands.stated("Ann lives in Leeds", p)]
    assert not any(c.isdigit() for text in said for c in text)
    assert len({bands.manner(each) for each in (0.9, 0.7, 0.5, 0.1)}) == 4


def test_citations_are_ids_in_brackets_and_numbers_for_people() -> None:
    text = f"Ann lives in Leeds{cite.marks([ONE, ONE])}. Bob said so{cite.marks([OTHER, ONE])}."
    assert cite.cited(text) == [ONE, OTHER]
    assert cite.numbered(text) == ("Ann lives in Leeds [1]. Bob said so [2] [1].", [ONE, OTHER])
    assert cite.bare(text) == "Ann lives in Leeds. Bob said so."
    assert cite.unknown(text, {ONE}) == [OTHER]
    assert cite.cited("[1] [exp_x] exp_2023-06-09T12:00:00Z_00000000000a") == []


@pytest.mark.parametrize(
    ("question", "text", "short"),
    [
        ("When did Ann speak?", "I did speak at school last week. It was great!", "the week before 9 June 2023"),
        ("When did Ann run the race?", "Great day! I ran the race two days ago.", "7 June 2023"),
        ("When did Ann paint the lake?", "I painted that lake last year!", "2022"),
        ("When will Ann go camping?", "We are going camping next month.", "July 2023"),
        ("At what time does the train arrive?", "My train arrives on Thursday at 13:38.", "13:38"),
        ("How much did the van cost?", "Thanks! The van cost £214 in the end.", "£214"),
        ("How much did I pay for the book?", "On 20 April 2026 I paid 15 euros for a book.", "15 euros"),
        ("How much did I spend on shoes?", "I was in 3 shops and spent 99€ on shoes.", "99€"),
        ("How much did the roof cost?", "It took 3 weeks. The roof cost 4,200 in the end.", "4,200"),
        ("How many kilometres did I run?", "On 3 May I ran for 2 hours, 14 kilometres in all.", "14 kilometres"),
        ("How many km did I run?", "With 3 friends I ran 14 kilometres.", "14 kilometres"),
        ("How often do I swim?", "Once you are here you can swim. I swim twice a week.", "twice a week"),
        ("How many times did I swim?", "I swam in the lake twice.", "twice"),
        ("How many jars did the bees give?", "The bees gave twenty jars? No: the bees gave 23 jars.", "23 jars"),
        ("How long has Ann known them?", "I've known these friends for 4 years.", "4 years"),
        ("How long is the contract?", "The contract is 29.99 a month for two years.", "two years"),
        ("How long do I take them?", "I take three a day for seven days.", "seven days"),
        ("Where do backups go?", "Prod runs in Frankfurt, backups go to Dublin.", "Dublin"),
        ("Who speaks German?", "Aisha speaks German and some Dutch.", "Aisha"),
        ("Who owns auth?", "Priyanka owns billing, Marc owns auth.", "Marc"),
        ("Who drove the van?", "Then Hamish drove the van for us.", "Hamish"),
        ("Where did Sam propose?", "Sam asked me on Penarth pier, he did propose at Penarth.", "Penarth"),
        ("Why was it late?", "It was late because the bridge was shut.", "because the bridge was shut"),
        ("What did Ann buy?", "Oh wow, thanks! I bought a red canoe.", "I bought a red canoe"),
    ],
)  # fmt: skip
def test_what_is_wanted_is_found_in_its_own_words(question: str, text: str, short: str) -> None:
    found = best_span(decompose(question, NOW), text, NOW)
    assert found is not None
    assert found.short == short
    assert found.sentence in text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How often do I swim?", "Once your bag is here, swim."),
        ("How much did I pay for the book?", "On 20 April 2026 I paid for a book."),
        ("How many books did I buy?", "I went to buy books for 3 hours on 2026-04-20."),
    ],
)
def test_a_number_of_something_else_is_no_count(question: str, text: str) -> None:
    found = best_span(decompose(question, NOW), text, NOW)
    assert found is not None
    assert not found.wanted


@pytest.mark.parametrize("text", ["", "   ", "And you? What did you do?", "???"])
def test_a_question_states_nothing(text: str) -> None:
    assert best_span(decompose("What did Ann do?", NOW), text, NOW) is None


def test_dates_are_written_as_people_do() -> None:
    assert [day(iso) for iso in ("2025-05-07", "2025-05", "2025")] == ["7 May 2025", "May 2025", "2025"]


@pytest.mark.parametrize("hostile", ["a” b", "[x] “y”", "a\nb\x1b[31m\u202e", '`a` "b"', "w " * 500])
def test_a_quotation_is_one_line_that_only_its_end_ends(hostile: str) -> None:
    said = quote(hostile)
    assert said[0] == "“"
    assert said[-1] == "”"
    assert not set(said[1:-1]) & set('“”[]"`\n\x1b\u202e')
    assert len(said) < 340


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("Thank you, you are wonderful! Where does Jonas live?", "Where does Jonas live?"),
        ("Where does Jonas live?", None), ("I met Zoe. Where does she live?", None),
        ("I cook for Maya tonight. What should I avoid?", None), ("Who is Ann? Who is Bob?", None),
        ("I met Zoe. Where does Owen live?", None), ("tell me", None), ("", None),
        ("I hate this, it's all wrong and I'm furious. How much was the deposit for the flat?",
         "How much was the deposit for the flat?"),
        ("They need it NOW!!! What's the reference of the van?!", "What's the reference of the van?"),
        ("I feel so sad today. Which hut did they sleep in?", "Which hut did they sleep in?"),
        ("So happy! Where do I live?", "Where do I live?"),
        ("I have a cat. What is its name?", None), ("My aunt bought a house. Where is the house?", None),
        ("I cook curry tonight. What should I avoid?", None), ("We were 3. How many are left?", None),
        ("Ugh. Why?", None),
    ],
)  # fmt: skip
def test_the_sentence_that_asks_is_taken_alone_where_that_is_safe(question: str, core: str | None) -> None:
    assert core_of(question) == (core or question)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = tmp_path_factory.mktemp("composing")
    with braid.open(home / "memory", guard_dir=home / "guard") as opened:
        for name, text in (
            ("Ann", "I ran a charity race for the hospital last Saturday."),
            ("Bob", "Wow, a charity race! I only watched television."),
            ("Ann", "My necklace stands for love and faith."),
            ("Bob", "I adopted a dog called Rex in May."),
            ("Ann", "I would like to learn to sail."),
        ):
            opened.append(text, name=name, user_id="u", occurred_at=NOW)
        opened.views.search.index(wait_s=60.0)
        yield opened


def found(store: Store, question: str) -> Sequence[Hit]:
    return find(store.session, Question(query=question, user_id="u", now=NOW)).results


def test_who_is_asked_about_leads(store: Store) -> None:
    hits = found(store, "What race did Ann run?")
    own = signals(decompose("What race did Ann run?", NOW), hits)
    assert tuple(own) == SIGNALS
    assert own["one_named"] == own["own_top"] == 1.0
    assert own["own_lead"] > 0
    wrong = signals(decompose("What dog did Ann adopt?", NOW), found(store, "What dog did Ann adopt?"))
    assert wrong["own_top"] == 0.0
    assert wrong["own_lead"] < 0
    assert probability(own, weights().known) > probability(wrong, weights().known)
    both = signals(decompose("What do Ann and Bob share?", NOW), hits)
    assert (both["one_named"], both["all_named"], both["own_lead"]) == (0.0, 1.0, both["own_lead"])


def test_whoever_asks_is_meant_by_i(store: Store) -> None:
    hits = found(store, "What did I adopt?")
    assert named_speakers(decompose("What did I adopt?", NOW), hits) == {"Ann", "Bob"}
    assert named_speakers(decompose("What did Ann adopt?", NOW), hits) == {"Ann"}
    assert named_speakers(decompose("What is the capital of Peru?", NOW), hits) == set()


def test_what_the_wrong_person_did_is_shown_as_theirs_at_most(store: Store) -> None:
    def composed(question: str, composer: Extractive) -> Composed:
        hits = found(store, question)
        return composer.compose(QuestionContext(question=question, hits=hits, context="", now=NOW))

    told = composed("When did Ann run the charity race?", Extractive())
    assert (told.rung, "3 June 2023" in told.text) == ("said", True)
    assert cite.cited(told.text) == list(told.citations)
    shown = composed("What dog did Ann adopt?", Extractive())
    assert shown.rung == "near"
    assert shown.text.startswith(f"{NEAREST} Bob said")
    assert composed("When did Ann run the charity race?", Extractive(NOTHING)).rung == "near"
    unheard = composed("What colour is Zebedee's tractor?", Extractive())
    assert (unheard.text, unheard.citations, unheard.short, unheard.rung) == (UNKNOWN, (), "", "silent")


def test_without_hits_or_statements_nothing_is_known(store: Store) -> None:
    composed = Extractive().compose(QuestionContext(question="Who?", hits=[], context="", now=NOW))
    assert (composed.abstained, composed.reason) == (True, "nothing was found")
    assert Extractive().version.startswith("11/sha256:")
    assert Extractive(NOTHING).version != Extractive().version


@pytest.mark.parametrize("question", ["?", "Who?", "what where", "…"])
def test_a_question_without_a_word_of_what_it_asks_about_is_asked_back(question: str, tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        opened.append("The gate code is 4471.", user_id="u")
        found = opened.ask(question, user_id="u", write=False)
    assert (found.rung, found.reason) == (
        "silent",
        "the question has no word to look for; say what it is about",
    )


def test_an_outsiders_words_are_not_those_of_whoever_asks() -> None:
    said = Support(
        id="exp_1", index=1, text="The gate is 4471.", quote="", when=NOW, speaker="user", source="outsider"
    )
    assert report_of(said, said.text).startswith("somebody said on")
    assert report_of(msgspec.structs.replace(said, source="owner"), said.text).startswith("you said on")


def test_a_reflection_says_what_helped_and_what_hindered() -> None:
    said = reflect(
        hits=["a", "b", "c"], citations=["b"], abstained=False, reason=None, degraded=["meaning: the model is busy"],
        fallback="timed out", stance=None,
    )  # fmt: skip
    assert said.helped == ("b",)
    assert said.passed_over == ("a",)
    assert said.text == (
        "Reflection: the answer rests on 1 record of 3 found. 1 record ranked higher and did not help. The model's"
        " answer was not taken: timed out. Memory was incomplete: meaning."
    )
    assert "stance" not in said.structured()["reflection"]
    silent = reflect(
        hits=[],
        citations=[],
        abstained=True,
        reason="nothing was found",
        degraded=[],
        fallback=None,
        stance="x",
    )
    assert silent.text.startswith("Reflection: no answer was given, since nothing was found.")


def test_a_memory_of_one_turn_answers(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        opened.append("I keep bees.", user_id="u")
        assert "“I keep bees”" in opened.ask("What do I keep?", user_id="u", write=False).plain
        assert opened.ask("What do I sell?", user_id="u", write=False).rung in ("near", "silent")


@pytest.mark.parametrize(
    ("question", "text", "short"),
    [
        ("who is buying the boat?", "A man from Whitby called Len Harker is buying the boat.", "Len Harker"),
        ("who inspected us?", "We were inspected on Thursday by Mrs Graczyk.", "Mrs Graczyk"),
        ("who builds the shop?", "I want a new web shop by 1 June from Thandeka.", "Thandeka"),
        ("who is my aunt?", "I love my aunt June.", "June"),
        ("who is vegan?", "Priya is vegan and Tom is allergic to nuts.", "Priya"),
        ("who is allergic to nuts?", "Priya is vegan and Tom is allergic to nuts.", "Tom"),
        ("who has a beagle?", "Our neighbours the Hendersons have a beagle called Pluto.", "Hendersons"),
        (
            "who is moving out?",
            "The Okonkwos are moving out in May, a student called Jette gets their flat.",
            "Okonkwos",
        ),
        (
            "where was Tofu?",
            "Tofu is back, he was in the neighbour's garage.",
            "he was in the neighbour's garage",
        ),
        ("where does the choir sing?", "The choir sings at St. Anne's on Sundays.", "St. Anne's"),
        ("how long do the tests take in CI?", "Tests take 4 minutes locally, 9 in CI.", "9"),
        ("how long do the tests take?", "Tests take 4 minutes locally, 9 in CI.", "4 minutes"),
        ("who leads the backend team?", "Sara leads the mobile team, Jonas the backend.", "Jonas"),
        ("who leads the mobile team?", "Sara leads the mobile team, Jonas the backend.", "Sara"),
        ("who is our vet?", "The vet is Dr. Haas on Mill Lane.", "Dr. Haas"),
        ("who can restore it?", "Restores are done by Hamid or Greta, nobody else.", "Hamid or Greta"),
        ("who is the treasurer?", "Birgit is the treasurer, Holger the secretary.", "Birgit"),
        ("who is the secretary?", "Birgit is the treasurer, Holger the secretary.", "Holger"),
        ("who joined?", "Two new members joined: Aline and Pete.", "Aline and Pete"),
        ("who does the music?", "Pavel broke his wrist, so Otis does the music.", "Otis"),
        (
            "who takes over after Easter?",
            "Ms Okafor is on leave after Easter; Mr Lund takes over.",
            "Mr Lund",
        ),
    ],
)
def test_who_is_no_day_and_no_month(question: str, text: str, short: str) -> None:
    found = best_span(decompose(question, NOW), text, NOW)
    assert found is not None
    assert found.short == short


@pytest.mark.parametrize(
    ("question", "said", "told"),
    [
        ("Do I eat gluten?", "i dont eat gluten, coeliac", "no"),
        ("Do I eat gluten?", "I don't eat gluten, I'm coeliac", "no"),
        ("Am I coeliac?", "I don't eat gluten, I'm coeliac", None),
        ("Am I vegetarian?", "I'm not vegan, just vegetarian", None),
        ("Does Ana love jazz?", "Ana loves jazz and Ben hates it", "yes"),
        ("Does Ben love jazz?", "Ana loves jazz and Ben hates it", None),
        ("Does Carol have a bad hip?", "Sheila has a bad hip and Carol is fit as a fiddle", None),
        ("Did I get a pay rise?", "supposedly we're getting a pay rise", None),
        ("Does Tom live in Leeds?", "Tom is my brother and he lives in Leeds", "yes"),
    ],
)
def test_yes_and_no_are_of_who_is_asked_about(question: str, said: str, told: str | None) -> None:
    assert verdict(decompose(question, NOW), said) == told
