"""Text in sentences: with the rules of chats and those of prose."""

import pytest

from braid.text.sentences import gist, readable, sentences, statements


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hey! so i moved to Porto. it rains", ["hey!", "so i moved to Porto.", "it rains"]),
        ("Our vet is Dr. Halloran. She is kind.", ["Our vet is Dr. Halloran.", "She is kind."]),
        ("She works at NASA. He doesn't.", ["She works at NASA.", "He doesn't."]),
        ("WOW! I did it NOW? Yes.", ["WOW!", "I did it NOW?", "Yes."]),
        ("J. Smith came. E.g. on Monday.", ["J. Smith came.", "E.g. on Monday."]),
        ("At 5 p.m. we left. At 6 p.m. They came.", ["At 5 p.m. we left.", "At 6 p.m.", "They came."]),
        (
            "They sell tea, coffee etc. in tins. Pi is 3.14.",
            ["They sell tea, coffee etc. in tins.", "Pi is 3.14."],
        ),
        ("Он здесь. Она там.", ["Он здесь.", "Она там."]),
        ("今日は雨です。明日は晴れ！", ["今日は雨です。", "明日は晴れ！"]),  # noqa: RUF001
        ("Yes 🎉 we won\nand again", ["Yes🎉", "we won", "and again"]),
        ("He said “Go.” Then he went.", ["He said “Go.”", "Then he went."]),
        ("Run `a. B` now. ```x. Y``` Done.", ["Run now.", "Done."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_where_sentences_end(text: str, found: list[str]) -> None:
    assert statements(text) == found


@pytest.mark.parametrize(
    "text", ["I like tea. She said “no. Never”, twice! WOW…", "a\x00b. c 🎉 d。e", "A. B. C"]
)
def test_a_part_is_a_slice_of_its_source(text: str) -> None:
    shown = readable(text)
    parts = list(sentences(shown))
    assert parts
    assert all(shown[part.start : part.stop] == part.text for part in parts)


def test_the_beginning_of_a_text_is_cut_at_a_word() -> None:
    assert gist("Short `code` text") == "Short text"
    assert gist("word " * 50, 12) == "word word …"
