"""Where statements end and what parameters are: as DuckDB's own lexer has it."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.tools.cli.statements import Statement, is_finished, named_in, parameters, statements, value_of


def split(text: str) -> list[tuple[str, int]]:
    return [(each.text, each.line) for each in statements(text.splitlines(keepends=True))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n-- nothing\n/* ; */", []),
        ("SELECT 1", [("SELECT 1", 1)]),
        ("SELECT 1;SELECT 2;", [("SELECT 1", 1), ("SELECT 2", 1)]),
        ("SELECT 1;;; SELECT 2", [("SELECT 1", 1), ("SELECT 2", 1)]),
        (
            "SELECT ';' AS \"a;b\", $$;$$; -- ;\nSELECT\n 2;",
            [("SELECT ';' AS \"a;b\", $$;$$", 1), ("SELECT\n 2", 2)],
        ),
        ("\n\n-- what is there\n.tables\nSELECT 'é;✓'\n;", [(".tables", 4), ("SELECT 'é;✓'", 5)]),
        ("SELECT 1;\n.schema claims;\nSELECT 2", [("SELECT 1", 1), (".schema claims;", 2), ("SELECT 2", 3)]),
        ("/* a\n.tables */ SELECT 1;", [("SELECT 1", 2)]),
        ("SELECT 1\n.5;", [("SELECT 1\n.5", 1)]),
        ("SELECT 'open", [("SELECT 'open", 1)]),
    ],
)
def test_statements_end_where_duckdb_ends_them(text: str, expected: list[tuple[str, int]]) -> None:
    assert split(text) == expected


def test_a_statement_is_there_as_soon_as_it_has_ended() -> None:
    def lines() -> Any:
        yield "SELECT 1;\n"
        raise EOFError  # nobody may read on before the first is answered

    assert next(statements(lines())) == Statement("SELECT 1", 1)


PIECES = st.sampled_from(
    ["SELECT 1", "'a;b'", '"c;d"', "$$e;f$$", "-- g;h\n", "/* i;j */", " ", "\n", ", 2", "x"]
)


@given(st.lists(st.lists(PIECES, max_size=6), max_size=4))
def test_no_semicolon_within_anything_ends_a_statement(parts: list[list[str]]) -> None:
    texts = [" ".join(part) for part in parts]
    meant = [text for text in texts if any(kind.name != "comment" for _, kind in duckdb.tokenize(text))]
    found = split("\n;\n".join(texts))
    assert len(found) == len(meant)
    for (text, _), whole in zip(found, meant, strict=True):
        assert text in whole


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("", True), (" \n", True), (".help", True), ("SELECT 1", False), ("SELECT 1;", True), ("SELECT 1; -- x", True),
        ("SELECT ';", False), ("SELECT 1 -- ;", False), ("SELECT $$ ;", False), ("SELECT 1; SELECT", False),
    ],
)  # fmt: skip
def test_a_question_is_finished_by_a_semicolon_of_its_own(text: str, *, finished: bool) -> None:
    assert is_finished(text) is finished


def test_named_parameters_are_those_outside_of_strings_and_comments() -> None:
    assert named_in("SELECT $a, '$b', $$ $c $$, \"$d\", $Who /* $e */ -- $f") == {"a", "who"}
    assert named_in("") == set()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("007", "007"), ("00.5", "00.5"), ("0", 0), ("0.5", 0.5),
        ("7", 7), ("-7", -7), ("+351", "+351"), ("7.5", 7.5), ("1e3", 1000.0), (".5", 0.5),
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", 2.0**63),
        ("true", True), ("False", False), ("maya", "maya"), ("", ""), ("'7'", "7"), ("'it''s'", "it's"), ("'", "'"),
        ("2025-05-06", datetime(2025, 5, 6, tzinfo=UTC)),
        ("2025-05-06T07:08:09.5Z", datetime(2025, 5, 6, 7, 8, 9, 500_000, tzinfo=UTC)),
        ("2025-05-06 07:08+02:00", datetime(2025, 5, 6, 7, 8, tzinfo=timezone(timedelta(hours=2)))),
        ("2025-02-30", "2025-02-30"), ("2025-05-06-dispute", "2025-05-06-dispute"), ("1.2.3", "1.2.3"),
        ("nan", "nan"), ("0x10", "0x10"), ("\uff11\uff12", "\uff11\uff12"), ("x=y", "x=y"),
    ],
)  # fmt: skip
def test_a_value_is_what_it_looks_like(text: str, value: Any) -> None:
    found = parameters([f"p={text}"])["p"]
    assert found == value
    assert type(found) is type(value)
    assert value_of(text) == value


@pytest.mark.parametrize("word", ["p", "=1", "1p=1", "a b=1", "$p=1", "p-q=1"])
def test_a_parameter_needs_a_plain_name(word: str) -> None:
    with pytest.raises(ValueError, match="name=value"):
        parameters([word])
