"""The fence: a restyled text has the facts of the text, each in its place; and tone does move."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.affect.facts import facts
from braid.affect.restyle import PHRASES, _styled, is_english, restyle, sentences  # pyright: ignore[reportPrivateUsage]
from braid.affect.style import Style, style
from braid.ledger.record.record import Vad
from tests.unit.affect.inputs import SHARES, vads

ID = "exp_2025-05-17T09:00:00Z_0000000300ab"
NAMES = [
    "Maya",
    "Porto",
    "The Hague",
    "Dr. Ines Moreau",
    "May",
    "IT",
    "iPhone",
    "McDonald's",
    "Will",
    "US",
    "A. J. Cook",
]
NUMBERS = [
    "3",
    "1,250",
    "€40",
    "17:30",
    "4.5%",
    "-12",
    "seventeen",
    "two",
    "12 kg",
    "1/2",
    "9 am",
    "the third",
]
DATES = ["May 2025", "17 March", "2025-05-17", "last Tuesday", "yesterday", "two weeks ago", "in June"]
DENIALS = [
    "does not like",
    "never saw",
    "has no",
    "isn't",
    "can't find",
    "lives without",
    "hardly knows",
    "denies",
]
QUOTES = ['"nice, but cold"', "“It is late; go.”", "'so it goes'", "`rm -rf`", "«non»"]
CITES = [f"[{ID}]", "[1]", "https://example.org/a?b=1.", "maya@example.org", "@maya", f"({ID})"]
GLUE = [
    "; it is",
    ", and it is",
    ", but she has",
    ", so they were",
    " because it was",
    " that it is",
    ". It is",
    ". The",
]
ENDS = [".", "!", "?", "...", " [2]."]
SUBJECTS = ["She", "It", "The flat", "There", "I", "They", "You", "In summer the cat", "A friend"]
VERBS = ["moved to", "is", "has", "costs", "was near", "said that", "may be"]


def text_of(seed: int) -> str:
    """Return a text full of facts, in one to four sentences, over one or two paragraphs."""
    chance = random.Random(seed)
    facts_ = [*NAMES, *NUMBERS, *DATES, *QUOTES, *CITES, "grey", "the river", "tea in the morning"]
    found: list[str] = []
    for _ in range(chance.randint(1, 4)):
        parts = [chance.choice([*SUBJECTS, *NAMES]), chance.choice([*VERBS, *DENIALS]), chance.choice(facts_)]
        for _ in range(chance.randint(0, 3)):
            parts[-1] += chance.choice(GLUE)
            parts.append(chance.choice(facts_))
        found.append(" ".join(parts) + chance.choice(ENDS))
        found.append(chance.choice([" ", " ", " ", "\n", "\n\n- "]))
    return "".join(found).strip()


def texts() -> st.SearchStrategy[str]:
    """Texts of `text_of`: one draw each, for a thousand draws a text would be what the test does."""
    return st.integers(0, 2**32).map(text_of)


def styles() -> st.SearchStrategy[Style]:
    """Return any manner, within reach of a tone or not."""
    return vads().map(style) | st.builds(Style, SHARES, st.floats(4, 40), st.booleans(), SHARES, SHARES)


@pytest.mark.soak
@given(texts(), styles())
def test_facts_are_what_they_were(text: str, manner: Style) -> None:
    """Before `restyle` would fall back on the text itself: the rules alone keep them."""
    assert facts(_styled(text, manner)) == facts(text)


@given(texts(), styles())
def test_no_word_is_lost_or_moved(text: str, manner: Style) -> None:
    added = Counter(word for phrase in PHRASES for word in _words(phrase))
    before, after = _words(text), _words(restyle(text, manner))
    at = 0
    for word in after:
        if at < len(before) and word == before[at]:
            at += 1
        else:
            assert word in added, word
    assert at == len(before)


def _words(text: str) -> list[str]:
    return [bare for word in text.casefold().split() if (bare := word.strip(".,;"))]


@given(st.text(max_size=300), styles())
def test_any_text_survives(text: str, manner: Style) -> None:
    assert facts(restyle(text, manner)) == facts(text)
    assert restyle(text, manner) == restyle(text, manner)


@pytest.mark.parametrize(
    "text",
    [
        "Ik was in de stad en het was koud.", "Ich bin in Porto, und es ist kalt.", "Maya vive en Porto con un gato.",
        "Je suis content que tu sois là.", "Привет, как дела?", "彼女はポルトに住んでいます。", "مايا تعيش في بورتو.",
        "", "   ", "👍", "```\nThe code. It is here.\n```", "- a list\n- of things", "x = 1", "no\x00pe. It is.",
    ],
)  # fmt: skip
def test_what_is_not_english_prose_goes_through_unchanged(text: str) -> None:
    for v in (-1.0, 0.0, 1.0):
        assert restyle(text, style(Vad(v=v, a=0.9, d=-v))) == text


@pytest.mark.parametrize("phrase", PHRASES)
def test_what_is_added_states_no_fact(phrase: str) -> None:
    assert not facts(phrase)
    assert is_english(phrase)


ANSWER = (
    f"Maya moved to Porto in May 2025 [{ID}]. She has a flat near the river, and it is above the bakery on the corner"
    " of the old street; it costs €1,250 a month. It is warm. It is dry."
)


def manner(
    warmth: float = 0.5, words: float = 18, *, urgent: bool = False, hedges: float = 0.0, firm: float = 0.0
) -> Style:
    return Style(warmth, words, urgent, hedges, firm)


def test_tone_moves() -> None:
    assert restyle(ANSWER, manner()).endswith("It is warm; it is dry.")
    warm = restyle(ANSWER, manner(0.9))
    assert warm.startswith(ANSWER[:4])  # what is asked for stands first
    assert not warm.endswith("dry.")
    assert restyle(ANSWER, manner(0.2)) not in (warm, ANSWER)
    quick = restyle(ANSWER, manner(words=5, urgent=True))
    assert len(sentences(quick)) > len(sentences(ANSWER))
    assert "And it is above the bakery" in quick
    assert quick.startswith(ANSWER[:4])
    careful = restyle(ANSWER, manner(hedges=0.6))
    assert any(
        hedge in careful for hedge in ("As far as I can tell", "It seems", "From what I", "To the best")
    )
    assert restyle(ANSWER, manner(firm=0.5)).endswith(
        ("Ask me for more.", "Check it with me whenever you like.")
    )


def test_most_answers_are_restyled_not_fallen_back_on() -> None:
    tones = [Vad(v=v, a=a, d=d) for v in (-0.6, 0.6) for a in (0.2, 0.8) for d in (-0.6, 0.6)]
    assert all(restyle(ANSWER, style(vad)) != ANSWER for vad in tones)


def test_a_semicolon_under_a_denial_is_split_but_not_a_comma() -> None:
    short = manner(words=4)
    assert restyle("It is not the cold; it is the rain.", short) == "It is not the cold. It is the rain."
    kept = "It is not the cold here, and it is not the rain."
    assert restyle(kept, short) == kept
    said = "She said that it is cold; it is the rain that she likes."
    assert restyle(said, short) == said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs €40.", "It costs €400."), ("Maya left.", "Mary left."), ("It is in May.", "It is in June."),
        ("She is not here.", "She is here."), ('He said "yes".', 'He said "no".'), (f"It is [{ID}].", "It is."),
        ("Two cats.", "Three cats."), ("It isn't.", "It is."), ("It is 5 am.", "It is 5 pm."),
        ("the US office", "the us office"), ("yesterday", "today"), ("-3 degrees", "3 degrees"),
    ],
)  # fmt: skip
def test_facts_tell_texts_apart(one: str, other: str) -> None:
    assert facts(one) != facts(other)


def test_facts_are_named_by_kind() -> None:
    found = facts(f'On 17 May 2025 Maya did not say "never, Owen" [{ID}] at https://example.org/x.')
    assert found.numbers == ("17", "2025")
    assert found.names == ("May", "Maya")
    assert found.negations == ("not",)
    assert found.quotations == ('"never, Owen"',)
    assert found.citations == (f"[{ID}]", "https://example.org/x")


@pytest.mark.timeout(10)
def test_a_citation_behind_the_full_stop_costs_no_time() -> None:
    cited = "It is 4711. [exp_2025-06-01T12:00:00Z_0000000a01cd]"
    assert "".join(sentences(cited)) == cited
    assert sentences(f"{cited} The dog is well.")[1:] == ["The dog is well."]
