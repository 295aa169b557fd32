"""What reading a turn may cost, whatever it says; what is left of a long one, and that no word of it is cut in two."""

from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Final
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid import open as open_store
from braid.knowledge.learner import Learner
from braid.learn.inference import MAX_EVIDENCE, settled
from braid.learn.page import MAX_CLAIMS
from braid.learn.parse.reader import ParseReader
from braid.learn.source import MAX_SENTENCE, MAX_TEXT, TurnText
from braid.learn.turn import KnownClaims, Turn, TurnReading
from braid.models.spacy_parser import shared
from tests.unit.learn.hostile import SHAPES

READER: Final = ParseReader(shared())
WHEN: Final = datetime(2025, 3, 10, 12, tzinfo=UTC)
SMALL, LARGE = 3_000, 12_000
UNSEEN: Final = 0.015
"""Seconds below which a growth isn't worth a look: the square of `LARGE` takes far longer."""


def read(text: str) -> TurnReading:
    return READER.read(Turn(text, speaker="Ana", when=WHEN), KnownClaims())


def seconds(text: str) -> float:
    """The processor's time: a busy machine takes none of it away."""
    began = process_time()
    read(text)
    return process_time() - began


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", SHAPES)
def test_what_reading_costs_grows_with_the_length(name: str) -> None:
    """Four times the text takes some four times as long; the square would be sixteen. The best of a few counts."""
    small, large = SHAPES[name](SMALL), SHAPES[name](LARGE)
    least, most = seconds(small), seconds(large)
    for _ in range(6):
        if most < max(UNSEEN, 8 * least):
            return
        least, most = min(least, seconds(small)), min(most, seconds(large))
    assert most < 8 * least


def test_there_are_shapes_enough() -> None:
    assert len(SHAPES) >= 30
    assert all(LARGE / 2 < len(shape(LARGE)) < 2 * LARGE for shape in SHAPES.values())


def test_blanks_between_words_are_read_over_and_quoted() -> None:
    text = f"I live in{' ' * 19_000}Porto"
    (claim,) = read(text).claims
    assert (claim.rel, claim.object, claim.quote) == ("lives_in", "Porto", text)


@pytest.mark.parametrize(
    ("text", "object"),
    [
        ("I live \t in   Leeds,  and I like  tea.", "Leeds"),
        ("“No!!!!!!!!!!!!!!” she said.  I live in Leeds!!!!!!!!!!!!!!!!!! Well.", "Leeds"),
        ("Caf\u0065\u0301 at noon.   I live in San Jos\u0065\u0301.", "San José"),
    ],
)
def test_a_quote_is_the_words_as_they_were_written(text: str, object: str) -> None:
    claim = next(claim for claim in read(text).claims if claim.rel == "lives_in")
    assert claim.object == object
    assert claim.quote is not None
    assert claim.quote in text
    assert claim.quote.endswith(text[text.index("L") :][:5] if "Leeds" in text else "Jos\u0065\u0301")


def test_a_question_is_one_however_many_marks_close_it() -> None:
    assert read(f"So I live in Leeds{'!' * 20}?{'!' * 20} Funny.").claims == ()


# -- long turns -----------------------------------------------------------------------------------

FILLER: Final = "It was a fine day. "


@pytest.mark.soak
def test_a_long_turn_is_read_on_behind_its_twenty_thousandth_character() -> None:
    for shift in range(0, 20, 3):
        before = (FILLER * 1_100)[: 20_000 - shift]
        text = f"{before}. My sister Ann lives in New York. I'm allergic to shellfish. {FILLER * 100}"
        found = {claim.rel: claim.object for claim in read(text).claims}
        assert found["lives_in"] == "New York"
        assert found["allergic_to"] == "shellfish"


@pytest.mark.soak
def test_a_turn_ends_for_the_reader_where_a_sentence_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is read ends, no claim of half a sentence is made, and what is behind is counted."""
    most = 2_000
    monkeypatch.setattr("braid.learn.source.MAX_TEXT", most)
    claimed = "I live in New York and I work at Green Hills Farm. "
    for shift in range(len(claimed) + 2):
        before = (FILLER * (most // len(FILLER) + 1))[: most - shift - 2] + "! "
        text = f"{before}{claimed}{FILLER * 100}I live in Leeds."
        reading = read(text)
        assert [claim.object for claim in reading.claims] in ([], ["New York", "Green Hills Farm"])
        assert 0 < reading.left <= len(text) - most + len(claimed)


def test_a_quotation_that_is_closed_behind_the_end_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("braid.learn.source.MAX_TEXT", 2_000)
    before = (FILLER * 200)[:1_940]
    assert read(f"{before}. She said: “I live in Leeds. {FILLER * 15}” {FILLER * 50}").claims == ()


def test_a_sentence_that_is_too_long_is_left_and_counted() -> None:
    long = f"I like {'tea, ' * (MAX_SENTENCE // 5)}and coffee."
    reading = read(f"I live in Leeds. {long} I like cake.")
    assert [claim.object for claim in reading.claims] == ["Leeds", "cake"]
    assert reading.left == len(long) - 1


def test_what_states_too_much_is_left_and_counted() -> None:
    hills = [f"{first}{second}town" for first in "ABCDEFGHIJ" for second in "abcdefg"]
    reading = read(" ".join(f"I like tea from Hill {hill}." for hill in hills))
    assert len(reading.claims) == MAX_CLAIMS
    assert reading.left > 0
    assert read("I like tea.").left == 0


WORDS: Final = (
    "I", "we", "my", "wife", "sister", "Ann", "live", "lives", "in", "New", "York", "San", "Jos\u0065\u0301", "not",
    ",", ".", "!", "?", ";", "never", "forget what I said about", "am allergic to", "shellfish", "a cat called",
    "Bis\u0301cuit", "was born on", "1st of March", "and", "-", "“", "”", '"', "'s", "`", "\n", "  ", "\t", "…", "🎉",
    "東京", "\u043a", "(", ")", "it costs £", "1,000", "works at", "Green Hills", "https://a.b", "\x00", "\u0301",
    "......",
)  # fmt: skip


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=60), st.sampled_from((" ", "")))
def test_a_quote_is_of_whole_words(words: list[str], between: str) -> None:
    text = f"My sister Ann lives in New York. {between.join(words)}"
    for claim in read(text).claims:
        assert claim.quote
        assert any(_is_whole(text, at, claim.quote) for at in _places(text, claim.quote)), claim


def _places(text: str, quote: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(quote, at)]


def _is_whole(text: str, at: int, quote: str) -> bool:
    return not any(
        0 < edge < len(text) and _joins(text[edge - 1 : edge + 1]) for edge in (at, at + len(quote))
    )


def _joins(pair: str) -> bool:
    return all(one.isalnum() or one == "_" or category(one)[0] == "M" for one in pair)


def test_the_places_of_what_is_shown_are_those_of_the_source() -> None:
    text = "  Well...........  so \t I\n\n\nlive `here` `there`  in Jos\u0065\u0301   now. "
    source = TurnText(text)
    for sentence in source.sentences():
        quote = source.quote(sentence)
        assert quote is not None
        assert quote.split()[0].startswith(sentence.text.split()[0][:3])
        assert quote.strip() == quote


# -- the store ------------------------------------------------------------------------------------


def say(text: str) -> dict[str, str]:
    return {"role": "user", "name": "Ana", "content": text, "timestamp": "2025-05-01T10:00:00Z"}


@pytest.mark.soak
def test_a_megabyte_is_read_in_part_and_learning_says_so(tmp_path: Path) -> None:
    text = f"My sister Ann lives in New York. {FILLER * 55_000}"
    with open_store(tmp_path / "memory") as store:
        store.remember([say(text[:MAX_TEXT])], learn=False)
        began = process_time()
        store.learn()
        floor = process_time() - began
        store.remember([say(text), say("I live in Leeds.")], learn=False)
        began = process_time()
        done = store.learn()
        took = process_time() - began
        assert (done.read, done.partly) == (2, 1)
        assert len(text) - MAX_TEXT <= done.left < len(text) - MAX_TEXT + 2 * len(FILLER)
        assert "Ann lives_in New York" in " ".join(record.text for record in store.read())
        again = store.learn()
        assert (again.read, again.left) == (0, 0)
    assert took < 4 * floor, "more is read of a long text than of one that is as long as may be"


def test_other_turns_are_read_again_within_a_bound() -> None:
    """A turn that needs many long ones is settled with the newest of them."""
    turns = [
        Turn(
            f"My sister {name} is well. {FILLER * (MAX_EVIDENCE // 2 // len(FILLER))}",
            speaker="Ana",
            when=WHEN,
            at=at,
        )
        for at, name in enumerate(("Ada", "Bea", "Cleo"))
    ]
    turn = Turn("My sister lives in Leeds.", speaker="Ana", when=WHEN, at=3)
    asked: list[int] = []

    def at(index: int) -> Turn:
        asked.append(index)
        return turns[index]

    found = settled(READER, turn, TurnReading(used=frozenset((0, 1, 2))), at)
    assert [claim.subject for claim in found.claims] == ["Cleo"]
    assert found.evidence == (2,)


def test_a_store_of_long_turns_is_read_again_within_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back, long = 2_000, FILLER * 20
    monkeypatch.setattr("braid.knowledge.learner.BACK", back)
    with open_store(tmp_path / "memory") as store:
        store.remember([*(say(f"{long}{at}.") for at in range(8)), say("My sister Ann is well.")])
    read_again: list[Turn] = []
    plain = ParseReader.read

    def counted(self: ParseReader, turn: Turn, known: KnownClaims) -> TurnReading:
        read_again.append(turn)
        return plain(self, turn, known)

    monkeypatch.setattr(ParseReader, "read", counted)
    with open_store(tmp_path / "memory") as store:
        store.remember(say("My sister lives in Leeds."), learn=False)
        Learner(store).learn()
        assert sum(len(turn.text) for turn in read_again[:-2]) <= back
        assert "Ann lives_in Leeds" in " ".join(record.text for record in store.read())


def test_what_a_turn_needs_is_kept_while_later_ones_are_shown_to_the_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = 20
    monkeypatch.setattr("braid.knowledge.learner.WINDOW", window)
    monkeypatch.setattr("braid.knowledge.learner.AHEAD", 8)
    fillers = [say(f"The kettle boiled {at} times.") for at in range(60)]
    talk = [*fillers, say("My sister Ann is well."), *fillers[: window - 3], say("My sister lives in Leeds.")]
    with open_store(tmp_path / "memory") as store:
        store.remember([*talk, *fillers], learn=False)
        store.learn()
        assert "Ann lives_in Leeds" in " ".join(record.text for record in store.read())
