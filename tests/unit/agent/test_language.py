"""A language is told only where there is no doubt, and an answer is held to that of its question."""

import pytest

from braid.agent.language import clashes, guess


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Maya lives in Porto and she is happy with it.", "en"),
        ("Sie wohnt jetzt in Porto und das ist nicht weit.", "de"),
        ("Elle habite à Porto et elle est dans la ville avec son frère.", "fr"),
        ("Ella vive en Porto con su hermano y está muy feliz.", "es"),
        ("Ela mora no Porto e está muito feliz com o irmão.", "pt"),
        ("Lei abita nel centro della città e non è sola.", "it"),
        ("Zij woont nu in Porto en het is niet ver van de zee.", "nl"),
        ("她现在住在波尔图。", "zh"),
        ("彼女はポルトに住んでいます。", "ja"),
        ("그녀는 포르투에 살아요.", "ko"),
        ("Она живёт в Порту.", "ru"),
        ("هي تعيش في بورتو", "ar"),
        ("वह पोर्टो में रहती है।", "hi"),
        ("Porto, 1 March 2025.", None),
        ("Miso.", None),
        ("", None),
        ("42 %", None),
    ],
)
def test_what_is_told(text: str, language: str | None) -> None:
    assert guess(text) == language


@pytest.mark.parametrize(
    ("asked", "language", "answer", "other"),
    [
        ("Where does Maya live?", "en", "Sie wohnt jetzt in Porto und das ist schön.", "de"),
        ("Wo wohnt Maya?", "en", "Sie wohnt jetzt in Porto und das ist schön.", None),
        ("Où habite Maya ?", "en", "Elle habite à Porto et elle est dans la ville.", None),
        ("¿Dónde vive Maya?", "es", "Ella vive en Porto con su hermano y está muy feliz.", None),
        ("¿Dónde vive Maya?", "es", "She lives in Porto and she is happy.", "en"),
        ("玛雅住在哪里\uff1f", "zh", "她现在住在波尔图。", None),
        ("Where does Maya live?", "en", "她现在住在波尔图。", "zh"),
        ("Where does Maya live?", "en", "Porto.", None),
    ],
)
def test_what_clashes(asked: str, language: str, answer: str, other: str | None) -> None:
    assert clashes(asked, language, answer) == other
