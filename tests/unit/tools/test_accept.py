"""What a caller takes, by the header `Accept`."""

import pytest

from braid.tools.http.accept import accepts

EVENTS = "text/event-stream"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("text/event-stream", True),
        ("application/json, Text/Event-Stream", True),
        ("text/event-stream;q=0.5, application/json", True),
        ("text/event-stream; charset=utf-8", True),
        ("text/event-stream;q=often", True),
        ("text/event-stream;q=0", False),
        ("text/event-stream ; Q=0.000, application/json", False),
        ("application/x-text/event-stream", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_only_who_asks_for_events_is_given_them(said: str, wanted: bool) -> None:
    assert accepts(said, EVENTS) is wanted
