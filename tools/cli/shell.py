"""The interactive half of `braid sql`: a prompt with history and completion.

With prompt_toolkit (the extra `shell`) a question is edited over several lines, coloured, and completed as it is typed;
without it the interpreter's own readline does, line by line. Either keeps the same history, in the user's state folder:
outside the store, so that what was asked is no part of the memory, and no part of what an erasure reaches. A question
that begins with a space is not kept.
"""

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from braid.tools.cli.errors import explain
from braid.tools.cli.output import line, say
from braid.tools.cli.sql_session import ASIDES, SqlSession
from braid.tools.cli.statements import is_finished, statements

Read = Callable[[str], str]
"""Prompt → what was typed; raises EOFError at the end and KeyboardInterrupt for Ctrl-C."""
_PROMPT: Final = "braid> "
_MORE: Final = "  ...> "
_KEPT: Final = 1_000
_KEYWORDS: Final = (
    "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COUNT", "DESC", "DESCRIBE", "DISTINCT",
    "ELSE", "END", "EXISTS", "EXPLAIN", "FALSE", "FROM", "GROUP", "HAVING", "ILIKE", "IN", "IS", "JOIN",
    "LAST", "LEFT", "LIKE", "LIMIT", "NOT", "NULL", "NULLS", "OFFSET", "ON", "OR", "ORDER", "OVER",
    "PARTITION", "QUALIFY", "RECURSIVE", "SELECT", "SHOW", "SUMMARIZE", "TABLES", "THEN", "TRUE", "UNION",
    "UNNEST", "USING", "VALUES", "WHEN", "WHERE", "WINDOW", "WITH",
)  # fmt: skip

_WORD_BACKWARDS: Final = re.compile(r"\w+(\.(?!\S))?")
"""A word as prompt_toolkit looks for it, from its end: a dot belongs to it where a dot command begins."""


class History:
    """What was asked before, oldest first: a JSON string a line, in a file that only its owner reads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of_user(cls) -> "History":
        """Return that of the user who runs this."""
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        return cls(Path(state) / "braid" / "sql_history")

    def load(self) -> list[str]:
        """Return what is kept; a line that can't be read is passed over."""
        asked: list[str] = []
        with suppress(OSError):
            for kept in self._path.read_bytes().splitlines():
                with suppress(ValueError):
                    asked.append(str(json.loads(kept)))
        return asked[-_KEPT:]

    def add(self, text: str) -> None:
        """Keep a question, unless it begins with a space; a history that can't be written is gone without."""
        if text.startswith(" ") or not text.strip():
            return
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept = self.load()
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            flags |= os.O_TRUNC if len(kept) >= _KEPT else os.O_APPEND
            asked = [*kept[1 - _KEPT :], text] if len(kept) >= _KEPT else [text]
            with os.fdopen(os.open(self._path, flags, 0o600), "w", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(each.strip())}\n" for each in asked)


def words() -> list[str]:
    """Return what is completed: names of tables, views, macros and columns, keywords, dot commands."""
    from braid.views.duck.macros import MACROS, VIEWS
    from braid.views.duck.schema import CHECKPOINTS, TABLES

    asked = (*TABLES, CHECKPOINTS, *VIEWS)
    names = {one.name for one in asked} | {f"{macro.name}(" for macro in MACROS}
    names |= {column.name for one in (*asked, *MACROS) for column in one.columns}
    return sorted({*names, *_KEYWORDS, *ASIDES})


def talk(asker: SqlSession) -> None:
    """Answer what is typed until the input ends; a question that fails is told of, and the next one asked for."""
    history = History.of_user()
    read = _reader(history.load())
    say("questions end with `;`, and may go over several lines; .help says more, Ctrl-D leaves")
    text = ""
    while True:
        try:
            text += read(_MORE if text else _PROMPT) + "\n"
        except EOFError:
            return
        except KeyboardInterrupt:
            text = ""
            continue
        if is_finished(text):
            history.add(text)
            _answer(asker, text)
            text = ""


def _answer(asker: SqlSession, text: str) -> None:
    for statement in statements(text.splitlines(keepends=True)):
        try:
            asker.answer(statement)
        except KeyboardInterrupt:
            say("stopped")
            return
        except (ValueError, LookupError, OSError) as error:
            say(*explain(error))
            return


def _reader(past: list[str]) -> Read:
    """Return what reads from the terminal: prompt_toolkit where it is installed, else readline."""
    try:
        return _rich_reader(past)
    except ModuleNotFoundError:
        return _plain_reader(past)


def _rich_reader(past: list[str]) -> Read:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.lexers import PygmentsLexer

    lexer: Any = import_module("pygments.lexers.sql").SqlLexer  # it comes with rich, and has no types
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(past),
        completer=WordCompleter(words(), ignore_case=True, pattern=_WORD_BACKWARDS),
        complete_while_typing=False,
        lexer=None if os.environ.get("NO_COLOR") else PygmentsLexer(lexer),
        multiline=Condition(lambda: not is_finished(get_app().current_buffer.text)),
        prompt_continuation=_MORE,
    )
    return session.prompt


def _plain_reader(past: list[str]) -> Read:
    with suppress(ModuleNotFoundError):  # an interpreter that was built without it still has a prompt
        import readline

        completions = words()
        readline.set_completer(lambda typed, state: _completed(completions, typed, state))
        readline.set_completer_delims(" \t\n,;()=<>'\"")
        editline = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if editline else "tab: complete")
        for asked in past:
            readline.add_history(line(asked))
    return input


def _completed(completions: list[str], typed: str, state: int) -> str | None:
    found = [word for word in completions if word.lower().startswith(typed.lower())]
    return found[state] if state < len(found) else None
