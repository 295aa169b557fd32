"""The README, the documents and the examples are in plain English: short sentences, and none of a dialect's words.

What counts is prose: fenced code, tables, headings, quotes and HTML comments don't. A list item is a paragraph.
"""

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LONGEST = 40
MEDIAN = 18
README_LINES = 150
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "examples" / "README.md",
        *(ROOT / "docs").glob("*.md"),
    )
)
# Written from the operations: Store and AsyncStore.
PRODUCT = sorted(
    path.relative_to(ROOT)
    for room in ROOT.iterdir()
    if (room / "__init__.py").exists() and room.name not in ("tests", "build")
    for path in room.rglob("*.py")
    if path.name not in ("store.py", "async_store.py") and "lab" not in path.parts
)
# Words and phrases that plain English has another word for; each with one to use instead.
DIALECT = {
    r"told": "said, shown, reported",
    r"tells of": "shows, reports",
    r"is none": "isn't one, doesn't count",
    r"whoever": "anyone who, you",
    r"anew": "again",
    r"none the (?:less|worse)": "still",
    r"thereof": "of it",
    r"therein": "in it",
    r"bears? out": "supports",
    r"borne out": "supported",
    r"reckon(?:s|ed)?": "calculate",
}
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FIGURES = re.compile(r"<!-- (\w+): begin.*?<!-- \1: end -->", re.DOTALL)
_NOT_PROSE = re.compile(r"^\s*(?:[|#>]|!\[|</?\w)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]+`")
_QUOTE = re.compile(r'"[^"]*"')
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[)*_]*\s+(?=[\"(*_]*[A-Z0-9`«])")


def _paragraphs(text: str) -> Iterator[str]:
    for pattern in (_FIGURES, _FENCE, _COMMENT):
        text = pattern.sub("\n\n", text)
    held: list[str] = []
    for line in [*text.splitlines(), ""]:
        if not line.strip() or _NOT_PROSE.match(line) or _ITEM.match(line):
            if held:
                yield " ".join(held)
            held = []
        if line.strip() and not _NOT_PROSE.match(line):
            held.append(_ITEM.sub("", line).strip())


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose: code is a word, a quotation is a word, a link is its text."""
    found: list[str] = []
    for paragraph in _paragraphs(text):
        plain = _LINK.sub(r"\1", _CODE.sub("Code", paragraph))
        found.extend(part for part in _END.split(_QUOTE.sub("Quote", plain)) if part.strip())
    return found


def words(sentence: str) -> int:
    """Return how many words a sentence has; a figure is one, a lone sign none."""
    return len(re.findall(r"\w[\w.,'’/×%-]*", sentence))


def messages(source: str) -> list[tuple[int, str]]:
    """Return the texts of errors that are raised and of `help=`, each with its line."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        said = node.exc if isinstance(node, ast.Raise) else None
        if isinstance(node, ast.keyword) and node.arg == "help":
            said = node.value
        found += [
            (part.lineno, part.value)
            for part in (ast.walk(said) if said is not None else ())
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
    return sorted(found)


def page(name: str) -> list[str]:
    return sentences((ROOT / name).read_text(encoding="utf-8"))


def test_what_counts_as_a_sentence() -> None:
    text = (
        "# A head\n\nOne `a. B` is here. Two\ngoes [on](x.md) (e.g. so).\n\n```sh\nno. No.\n```\n"
        '| a. B | c |\n- "Who? I." said she\n- last\n'
    )
    assert sentences(text) == ["One Code is here.", "Two goes on (e.g. so).", "Quote said she", "last"]
    assert [words(sentence) for sentence in sentences(text)] == [4, 5, 3, 1]


@pytest.mark.parametrize("name", PAGES)
def test_sentences_are_short(name: str) -> None:
    prose = page(name)
    long = [f"{words(one)} words: {one}" for one in prose if words(one) > LONGEST]
    assert not long, "\n".join(long)
    assert statistics.median(map(words, prose)) <= MEDIAN


@pytest.mark.parametrize("name", PAGES)
def test_no_word_is_of_the_dialect(name: str) -> None:
    found = [
        f"{word!r} (say: {instead}): {one}"
        for one in page(name)
        for word, instead in DIALECT.items()
        if re.search(rf"\b{word}\b", one, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


ROOMS = sorted({path.parts[0] for path in PRODUCT})


@pytest.mark.sample(4)
@pytest.mark.parametrize("room", ROOMS)
def test_no_message_is_of_the_dialect(room: str) -> None:
    """What errors and `--help` say; "there is none" is plain."""
    found = [
        f"{path}:{line}: {word!r} (say: {instead}): {text}"
        for path in PRODUCT
        if path.parts[0] == room
        for line, text in messages((ROOT / path).read_text(encoding="utf-8"))
        for word, instead in DIALECT.items()
        if re.search(rf"(?<!there )\b{word}\b", text, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


def test_a_message_is_found() -> None:
    source = 'raise ValueError(f"{x} is none of these")\nOption("--a", help="Told.")\nsay("told")\n'
    assert messages(source) == [(1, " is none of these"), (2, "Told.")]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES
