"""The callbacks of a harness, by Braid's own names. Standard library alone, as all that a hook needs to start."""

from typing import Any, Final

SESSION_START, PROMPT, TURN_END = "session_start", "user_prompt_submit", "turn_end"
PRE_COMPACTION, COMPACTED, SESSION_END = "pre_compaction", "compaction_complete", "session_end"
EVENTS: Final = (SESSION_START, PROMPT, TURN_END, PRE_COMPACTION, COMPACTED, SESSION_END)
HARNESS: Final = "claude-code"
CLAUDE_CODE: Final = {
    "SessionStart": SESSION_START,
    "UserPromptSubmit": PROMPT,
    "Stop": TURN_END,
    "PreCompact": PRE_COMPACTION,
    "PostCompact": COMPACTED,
    "SessionEnd": SESSION_END,
}
"""Claude Code's name of an event → Braid's. That compaction is done it says as a start with the source `compact`."""
TELLS: Final = (SESSION_START, PROMPT, COMPACTED)
"""Events at which context is given."""


class Callback:
    """One call of the harness: which event of which session, and where its transcript is."""

    def __init__(self, event: str, said: dict[str, Any]) -> None:
        """`said`: the JSON that the harness gives. Raises ValueError for one that names no session."""
        self.name = str(said.get("hook_event_name") or "")
        self.event = _event(event, said)
        self.session = _text(said, "session_id")
        self.transcript = _text(said, "transcript_path", needed=False)
        self.prompt = _text(said, "prompt", needed=False)
        self.source = _text(said, "source", needed=False)
        self.prompt_id = _text(said, "prompt_id", needed=False)

    @property
    def key(self) -> str:
        """What tells this event from the session's others where two paths bring it."""
        from zlib import crc32

        words = (self.event, self.source, self.prompt_id, self.prompt)
        return f"{self.event}:{crc32(chr(0).join(words).encode('utf-8', 'replace')):08x}"

    @property
    def request(self) -> str:
        """What a captured turn says of the callback that brought it."""
        return f"{self.event}:{self.prompt_id}" if self.prompt_id else self.event


def event_named(word: str) -> str | None:
    """Return an event by Braid's name or the harness's, with `-` or `_`; None for no event."""
    if word in CLAUDE_CODE:
        return CLAUDE_CODE[word]
    plain = word.replace("-", "_")
    return plain if plain in EVENTS else None


def _event(word: str, said: dict[str, Any]) -> str:
    found = event_named(word or str(said.get("hook_event_name") or ""))
    if found is None:
        raise ValueError(f"no event is called {word!r}: one of {', '.join(EVENTS)}")
    return COMPACTED if found == SESSION_START and said.get("source") == "compact" else found


def _text(said: dict[str, Any], name: str, *, needed: bool = True) -> str:
    value = said.get(name)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or (needed and not value):
        raise ValueError(f"the harness gave no {name}")
    return value
