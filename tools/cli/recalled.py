"""What `braid recall` shows of an answer, whoever gave it: the store, or a server before any command was built."""

from collections.abc import Sequence
from typing import Any, Final

from braid.tools.cli.output import line, many, put, say

SHOWN_CHARS: Final = 200
"""Of a hit's text, on a terminal."""


def put_hits(results: Sequence[dict[str, Any]]) -> None:
    """Write the hits of an answer, one a line."""
    for hit in results:
        who = hit.get("said_by") or hit.get("name")
        said = f"{line(who)[:78]}: " if who else ""
        was = f"(superseded by {by}) " if (by := hit.get("superseded_by")) else ""
        put(f"{hit['score']:8.3f}  {hit['id']}  {was}{said}{line(hit['text'])}")


def say_completeness(answer: dict[str, Any]) -> None:
    """Say how complete an answer is."""
    if (why := answer.get("rebuilt")) is not None:
        say(f"the search index was rebuilt: {why}")
    for lack in answer["degraded"]:
        say(f"degraded: {lack}")
    if behind := answer["behind_by"]:
        say(f"the projection is {many(behind, 'record')} behind the log")
    if not answer["results"]:
        say("nothing fits", "ask in other words, or of a wider scope")
