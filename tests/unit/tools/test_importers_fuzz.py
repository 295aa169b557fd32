"""Whatever bytes an importer is given, it yields messages and bad lines, and ends: nothing else leaves it."""

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from braid.tools.importers.detect import detect, installed
from braid.tools.importers.errors import UnknownFormatError
from braid.tools.importers.message import BadLine, Message
from tests.unit.tools.samples import EXPORTS, FILES, piped, read_bytes

JSON_FORMATS = ("chatgpt", "claude", "locomo", "realtalk", "discord")
LINE_FORMATS = ("claude-code", "openai", "jsonl")
ODD: list[Any] = [
    None, True, 0, -1, 10**30, 1e308, 1.5, "", "x", "\x00", "\u202e", "9" * 30, "2025-05-17T09:30:00", [], {}, [[]],
    [None, 1, "x", {}], {"a": {"b": []}}, [{"type": []}], {"type": "text"}, "\U0001f600",
    [{"type": "text", "text": None}],
]  # fmt: skip
"""Values that a member may have in place of its own."""


def check(found: list[Message | BadLine]) -> None:
    """What is yielded can be stored: text is Unicode, JSON is JSON."""
    for each in found:
        if isinstance(each, BadLine):
            assert each.line >= 1
            assert each.reason
        else:
            json.dumps(
                [each.text, each.extra, each.name, each.parent], ensure_ascii=False, allow_nan=False
            ).encode()
            assert each.key("s")


@pytest.mark.parametrize("name", FILES, ids=str)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_arbitrary_bytes(name: str, data: bytes) -> None:
    check(read_bytes(name, data))


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FILES, ids=str)
@given(seed=st.integers(0, 2**32))
def test_mutated_samples(name: str, seed: int) -> None:
    check(read_bytes(name, mutated((EXPORTS / FILES[name]).read_bytes(), random.Random(seed))))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut out, doubled, moved or replaced by what parsers trip over."""
    for _ in range(chance.randint(1, 6)):
        at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        end = min(end, at + 40)
        piece = chance.choice(
            [
                b"",
                data[at:end] * 3,
                b"\x00",
                b"\xff\xfe",
                b'"',
                b"\\",
                b"[" * 50,
                b"{",
                b"\n",
                b"\r\n\r\n",
                b"From x 2025\n",
                b"\\ud800",
                b"1e999",
                b",",
                b"---\n",
                b"<",
            ]
        )
        data = data[:at] + piece + data[end:]
    return data


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", JSON_FORMATS + LINE_FORMATS, ids=str)
@given(seed=st.integers(0, 2**32))
def test_members_of_other_types(name: str, seed: int) -> None:
    chance = random.Random(seed)
    data = (EXPORTS / FILES[name]).read_bytes()
    documents = (
        [json.loads(line) for line in data.splitlines()] if name in LINE_FORMATS else [json.loads(data)]
    )
    spoilt = [spoil(copy.deepcopy(each), chance) for each in documents]
    check(read_bytes(name, b"\n".join(json.dumps(each).encode() for each in spoilt)))


def spoil(value: Any, chance: random.Random) -> Any:
    """Put odd values in place of a few members, and leave some out."""
    places = list(places_in(value))
    for container, key in chance.sample(places, min(len(places), chance.randint(1, 4))):
        if chance.random() < 0.3 and isinstance(container, dict):
            container.pop(key, None)
        else:
            container[key] = copy.deepcopy(chance.choice(ODD))
    return value


def places_in(value: Any) -> Any:
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from places_in(value[key])
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield value, place
            yield from places_in(each)


@given(seed=st.integers(0, 2**32))
def test_choosing_never_fails_but_with_the_known_formats(seed: int) -> None:
    chance = random.Random(seed)
    data = mutated((EXPORTS / FILES[chance.choice(sorted(FILES))]).read_bytes(), chance)
    source = piped("csv", data)
    for importer in installed().importers:
        assert importer.recognises(source) in (True, False)
        assert importer.source_id(source)
    try:
        chosen = detect(source)
    except UnknownFormatError:
        return
    check(list(chosen.read(source)))
