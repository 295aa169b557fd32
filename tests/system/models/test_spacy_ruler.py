"""spaCy's attribute ruler with a memory: it sets what the ruler itself sets, on parsed texts and on nonsense."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.models.spacy_parser import shared
from braid.models.spacy_ruler import RememberingRuler

TALKS = Path(__file__).parents[2] / "data" / "talks"
TWO_TOKENS = [
    "There is a dog, and there's a cat: there were three.",
    "I ain't going. Let's go, c'm on, y'all gonna see what I gotta do.",
    "Nothin' to see, nuthin' at all; he gets it, she got it.",
    "It was it that it saw, and they had had enough of what did not do.",
    "there",
    "is",
]


def nlp() -> Any:
    return shared()._model()._nlp


def shown(docs: list[Any]) -> list[list[tuple[Any, ...]]]:
    return [
        [(one.text, one.tag, one.dep, one.pos, one.lemma, str(one.morph), one.head.i) for one in doc]
        for doc in docs
    ]


def as_found(texts: list[str], *, remembering: bool) -> list[list[tuple[Any, ...]]]:
    return [
        each for docs in shared()._model().docs(texts, remembering=remembering) for each in shown(list(docs))
    ]


def turns(pattern: str) -> list[str]:
    paths = sorted(TALKS.glob(pattern))
    return [turn["text"] for path in paths for turn in json.loads(path.read_text())["turns"]]


def test_a_text_is_parsed_as_spacy_parses_it() -> None:
    texts = [*TWO_TOKENS, *turns("far/*.json")[:300], *TWO_TOKENS]
    assert as_found(texts, remembering=True) == as_found(texts, remembering=False)


@pytest.mark.soak
def test_all_talks_are_parsed_as_spacy_parses_them() -> None:
    texts = turns("*/*.json")
    assert len(texts) > 3_000
    assert as_found(texts, remembering=True) == as_found(texts, remembering=False)


def named(key: str) -> set[str]:
    """The values of an attribute that the rules speak of; not their regular expressions."""
    found: set[str] = set()
    for rule in nlp().get_pipe("attribute_ruler").patterns:
        for value in (token[key] for pattern in rule["patterns"] for token in pattern if key in token):
            several = [value] if isinstance(value, str) else next(iter(value.values()))
            found.update(several if isinstance(several, list) else ())
    return found


WORDS = sorted(named("LOWER") | {"Nothin'", "nuthin'", "n't", "y'", "y", "tree", "WAS", " ", "\n", "😀"})
TAGS = sorted(named("TAG") | {"NN", "VBD", ""})
DEPS = sorted(named("DEP") | {"nsubj", "ROOT", ""})
ALONE = RememberingRuler(nlp().get_pipe("attribute_ruler"))
TOKEN = st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS), st.sampled_from(DEPS))


@given(texts=st.lists(st.lists(TOKEN, max_size=6), max_size=4))
def test_any_tokens_get_what_the_rules_give_them(texts: list[list[tuple[str, str, str]]]) -> None:
    ours, theirs = [made(each) for each in texts], [made(each) for each in texts]
    ALONE(ours)
    for doc in theirs:
        nlp().get_pipe("attribute_ruler")(doc)
    assert shown(ours) == shown(theirs)


def made(tokens: list[tuple[str, str, str]]) -> Any:
    from spacy.tokens import Doc

    doc: Any = Doc(nlp().vocab, words=[word for word, _, _ in tokens])
    for token, (_, tag, dep) in zip(doc, tokens, strict=True):
        token.tag_, token.dep_ = tag, dep
    return doc
