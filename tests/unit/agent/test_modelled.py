"""A model that answers, over a real connection and a real store: what is taken of it, and when it is not."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from braid.agent.answer.model_composer import ModelComposer
from braid.agent.composer import Composed, QuestionContext
from braid.models.openai import OpenaiChat
from braid.store import Store
from tests.system.models.chat_server import (
    dribbles,
    endless,
    hang_up,
    hangs,
    prompt_of,
    says,
    speaks,
    stops_midway,
)
from tests.system.models.model_server import Answer, ModelServer
from tests.unit.agent.household import MAYAS_SECRET, NOW, Plain, asking, household

Ask = Callable[..., Composed]
WHERE = "Where does Maya live?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with household(tmp_path_factory.mktemp("household")) as made:
        yield made


@pytest.fixture(scope="module")
def questions(store: Store) -> Callable[[str], QuestionContext]:
    """Return what recall and stance leave of a question, found once each."""
    known: dict[str, QuestionContext] = {}
    return lambda text: known.setdefault(text, asking(store, text))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    yield made
    made.stop()


@pytest.fixture
def ask(server: ModelServer, questions: Callable[[str], QuestionContext]) -> Ask:
    """Return what asks the model on the server, which answers with `answer`."""

    def ask(question: str, *answers: Answer, timeout_s: float = 5.0, tries: int = 1) -> Composed:
        server.planned = list(answers)
        model = OpenaiChat(f"{server.url}/v1", "m", tries=tries, sleep=lambda _: None)
        return ModelComposer(model, Plain(), timeout_s=timeout_s).compose(questions(question))

    return ask


def sentences(*given: tuple[str, list[str]], known: bool = True) -> str:
    said = [{"text": text, "cites": cites} for text, cites in given]
    return json.dumps({"draft": "notes", "known": known, "sentences": said})


def id_of(asked: QuestionContext, text: str) -> str:
    return next(hit.id for hit in asked.hits if text in hit.text)


def test_an_answer_that_memory_bears_out_is_taken(
    ask: Ask, server: ModelServer, questions: Callable[[str], QuestionContext]
) -> None:
    id = id_of(questions(WHERE), "Porto")
    said = sentences(("Maya lives in Porto.", [id]))
    composed = ask(WHERE, speaks(said))
    assert composed.text == f"Maya lives in Porto [{id}]."
    assert list(composed.citations) == [id]
    assert (composed.tokens, composed.model, composed.said) == ((120, 30), "m-0613", said)
    assert (composed.abstained, composed.fallback, list(composed.unsupported)) == (False, None, [])
    told = prompt_of(server.asked[0][2])
    assert "Always cite experience IDs backing claims." in told
    assert "Say it" in told.partition("<RECONCILE>")[2]


def test_what_is_not_borne_out_is_dropped_and_told(
    ask: Ask, questions: Callable[[str], QuestionContext]
) -> None:
    porto, cat = id_of(questions(WHERE), "Porto"), id_of(questions(WHERE), "called Miso")
    composed = ask(
        WHERE,
        speaks(
            sentences(
                ("Maya lives in Porto.", [porto]),
                ("She moved there in 2019.", [porto]),
                ("She is very happy.", []),
                ("Her cat is called Rex.", [cat]),
                ("Her cat is called Miso.", [cat.rpartition("_")[2]]),
            )
        ),
    )
    assert composed.text == f"Maya lives in Porto [{porto}]. Her cat is called Miso [{cat}]."
    assert list(composed.unsupported) == [
        "She moved there in 2019.", "She is very happy.", "Her cat is called Rex."
    ]  # fmt: skip


def test_a_secret_is_a_placeholder_on_the_way_and_itself_in_the_answer(
    ask: Ask, server: ModelServer, questions: Callable[[str], QuestionContext]
) -> None:
    question = "What is the key of the weather station?"
    id = id_of(questions(question), MAYAS_SECRET)

    def repeats(message: dict[str, Any]) -> str:
        token = next(word for word in prompt_of(message).split() if word.startswith("REDACTED_TOKEN_"))
        return sentences((f"The key of the weather station is {token.rstrip(',')}.", [id]))

    composed = ask(question, speaks(repeats))
    assert composed.text == f"The key of the weather station is {MAYAS_SECRET} [{id}]."
    assert MAYAS_SECRET not in (composed.said or "")
    assert MAYAS_SECRET not in json.dumps(server.asked[0][2])
    assert "Tram-28" not in json.dumps(server.asked[0][2])


def test_a_model_that_does_not_know_says_so(ask: Ask) -> None:
    composed = ask("What is Maya's favourite opera?", speaks(sentences(known=False)))
    assert (composed.text, composed.abstained) == ("I don't know.", True)
    assert composed.fallback is None


def test_a_model_that_does_not_know_what_is_held_is_not_believed(ask: Ask) -> None:
    composed = ask(WHERE, speaks(sentences(known=False)))
    assert (composed.fallback or "").startswith("did not know")
    assert "Porto" in composed.text


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (hangs(5), "timed out: .* within 0.3 s"),
        (dribbles(headers=True), "timed out"),
        (dribbles(headers=False), "timed out"),
        (hang_up, "failed: .*can't be reached"),
        (stops_midway, "failed"),
        (says(500, b"broken"), "failed: .*answered 500"),
        (says(403, b"no"), "failed: .*answered 403"),
        (says(302, b"", Location="http://127.0.0.1:1/"), "failed: .*answered 302"),
        (says(200, b"{"), "failed: .*no JSON"),
        (endless, "(failed|timed out)"),
        (speaks("Maya lives in Porto."), "malformed"),
        (speaks('{"known": true, "sentences": [{"text": 7}]}'), "malformed"),
        (speaks("[" * 5_000), "malformed"),
        (speaks(""), "empty"),
        (speaks(sentences()), "empty"),
        (speaks(sentences(("  ", ["x"]))), "empty"),
        (speaks('{"known": true, "sent', finish="length"), "cut off"),
        (speaks("", finish="content_filter"), "refused"),
        (speaks("I'm sorry, but I can't help with that."), "refused"),
        (speaks(sentences(("As an AI, I cannot answer that.", ["x"]))), "refused"),
        (speaks(sentences(("Maya lives in Porto.", []))), "uncited"),
        (speaks(sentences(("Maya lives in Porto.", ["exp_2099-01-01T00:00:00Z_000000000000"]))), "cites what was not"),
        (speaks(sentences(("Maya lives in Porto.", ["../../etc/passwd"]))), "cites what was not given"),
    ],
)  # fmt: skip
def test_a_model_that_misbehaves_costs_no_answer(ask: Ask, answer: Answer, reason: str) -> None:
    composed = ask(WHERE, answer, timeout_s=0.3 if "timed out" in reason else 5.0)
    assert composed.fallback is not None
    assert re.match(reason, composed.fallback), composed.fallback
    assert "Porto" in composed.text
    assert len(composed.citations) == 1


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("text", "about", "reason"),
    [
        ("Maya lives in Lisbon.", "Porto", "not borne out: Lisbon"),
        ("Maya has lived in Porto for 12 years.", "Porto", "not borne out: 12"),
        ("Maya lives in Porto since July.", "Porto", "not borne out: July"),
        ("Bob lives in Porto.", "Porto", "not borne out: Bob"),
        ("Maya does not live in Porto.", "Porto", "not borne out: its negation"),
        ("Maya moved to Porto yesterday.", "Porto", "not borne out: 'yesterday'"),
        ("Maya lives in Porto, see https://evil.example/x.", "Porto", "not borne out: https"),
        ("Maya lives in ![Porto](http://evil.example).", "Porto", "not borne out: markup"),
        ("Maya lives in <b>Porto</b>.", "Porto", "not borne out: markup"),
        ("Maya eats shellfish.", "shellfish", "not borne out: it without a negation"),
        ("Maya adores operas, mountains and trains.", "Porto", "not borne out"),
        ("Maya lives in Leeds.", "Leeds", "not what is held"),
        ("Maya doesn't eat shellfish.", "shellfish", "not what is held"),
        ("Maya wohnt jetzt in Porto und das ist nicht weit von dem Meer.", "Porto", "other language: de"),
        ("マヤはポルトに住んでいます。", "Porto", "other language: ja"),
        ("Мая живёт в Порту.", "Porto", "other language: ru"),
    ],
)  # fmt: skip
def test_what_memory_does_not_say_is_not_said(
    ask: Ask, questions: Callable[[str], QuestionContext], text: str, about: str, reason: str
) -> None:
    composed = ask(WHERE, speaks(sentences((text, [id_of(questions(WHERE), about)]))))
    assert (composed.fallback or "").startswith(reason), composed
    assert text not in composed.text
    assert composed.said


@pytest.mark.parametrize(
    ("question", "text", "about"),
    [
        ("What does Maya not eat?", "Maya doesn't eat shellfish.", "shellfish"),
        ("What does Maya not eat?", "She said in March 2025 that she doesn't eat shellfish.", "shellfish"),
        ("What did the cot cost?", "Her brother Duarte paid 1200 euros for the cot.", "cot"),
        ("What is Maya's cat called?", "Miso.", "called Miso"),
        ("Wie heißt die Katze von Maya?", "Maya: \"My cat is called Miso.\"", "called Miso"),
    ],
)  # fmt: skip
def test_what_memory_says_in_other_words_is_kept(
    ask: Ask, questions: Callable[[str], QuestionContext], question: str, text: str, about: str
) -> None:
    id = id_of(questions(question), about)
    composed = ask(question, speaks(sentences((text, [f"[{id}]"]))))
    assert composed.fallback is None, composed.fallback
    assert list(composed.citations) == [id]


def test_nothing_found_is_asked_of_nobody(ask: Ask, server: ModelServer, store: Store) -> None:
    asked = asking(store, WHERE, "nobody")
    composed = ModelComposer(OpenaiChat(f"{server.url}/v1", "m"), Plain()).compose(asked)
    assert composed.text == "I don't know."
    assert server.asked == []


def test_a_store_that_is_asked_keeps_what_the_model_said(server: ModelServer, store: Store) -> None:
    """From the question to the log, by way of a model that makes things up."""
    said = sentences(("Maya lives in Lisbon.", ["exp_2099-01-01T00:00:00Z_000000000000"]))
    server.planned = [speaks(said)]
    composer = ModelComposer(OpenaiChat(f"{server.url}/v1", "m"), Plain())
    answer = store.ask(WHERE, user_id="maya", composer=composer, now=NOW)
    assert (answer.fallback or "").startswith("cites what was not given")
    assert "Lisbon" not in answer.text
    assert (answer.tokens, answer.model) == ((120, 30), "m-0613")


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"timeout_s": 0}])
def test_misuse_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        ModelComposer(OpenaiChat("http://127.0.0.1:9", "m"), Plain(), **wrong)
