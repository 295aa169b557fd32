"""Members of JSON that a person writes: an unknown one is refused, with the name that was probably meant. Pure.

Kept without a word, a misspelt time or a scope in the wrong place would be found only when the memory is missed.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

METADATA: Final = "metadata"
"""The member under which callers keep what is their own."""
CARRIED: Final = frozenset(
    (
        "annotations", "audio", "function_call", "images", "model", "parsed", "prefix", "reasoning",
        "reasoning_content", "refusal", "status", "stop_reason", "stop_sequence", "thinking", "tool", "tool_call_id",
        "tool_calls", "tool_name", "type", "usage", "weight",
    )
)  # fmt: skip
"""What chat APIs put beside a message's role and content: kept as it is."""
_CLOSE: Final = 0.75
_MEANT: Final = {
    "text": "content", "message": "content", "body": "content", "author": "name", "speaker": "name",
    "time": "timestamp", "date": "timestamp", "ts": "timestamp", "created": "timestamp", "created_at": "timestamp",
    "occurred_at": "timestamp", "external_id": "id", "message_id": "id", "session_id": "session",
    "conversation_id": "conversation", "parent_id": "parent",
}  # fmt: skip
"""Names that others give to members of messages."""


def refusal(
    given: Iterable[str],
    known: Collection[str],
    *,
    places: Mapping[str, str] | None = None,
    meant: Mapping[str, str] = _MEANT,
) -> str | None:
    """Return why the first unknown member is refused, and what to write instead; None where all are known.

    `places`: where members belong that are right, but elsewhere. `meant`: other names of known ones.
    """
    unknown = next((name for name in given if name not in known), None)
    if unknown is None:
        return None
    shown = json.dumps(unknown[:60], ensure_ascii=False)
    if place := (places or {}).get(unknown):
        return f"{shown} {place}"
    own = f'what is your own goes under "{METADATA}"' if METADATA in known else "it would be lost"
    near = nearest(
        unknown, {name: name for name in sorted(known)} | {n: m for n, m in meant.items() if m in known}
    )
    return (
        f'unknown member {shown}: did you mean "{near}"? {own}' if near else f"unknown member {shown}: {own}"
    )


def nearest(name: str, names: Mapping[str, str]) -> str | None:
    """Return the right name for one that is nearly spelt like a key of `names` (written → right), or None."""
    close = get_close_matches(name.lower(), names, n=1, cutoff=_CLOSE)
    return names[close[0]] if close else None
