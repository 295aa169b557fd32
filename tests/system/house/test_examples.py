"""The examples: each is read without a bad line, is as large as its page says, and says what its page says it does."""

import re
from collections import Counter, defaultdict
from datetime import datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from braid.tools.importers.detect import detect, open_path
from braid.tools.importers.message import BadLine, Message

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("shop-owner", "assistant", "two-friends")
LEAST = {"shop-owner": (120, 5), "assistant": (160, 10), "two-friends": (200, 12)}
"""The least number of turns and sessions of each."""

COUNTS = re.compile(r"^\| `([a-z-]+)\.jsonl` \| [^|]+ \| (\d+) \| (\d+) \|", flags=re.MULTILINE)
FACT = re.compile(
    r"^\| `([a-z]+-\d{3})` \| ([^|]+) \| `([^`]+)` \| (–|`[a-z]+-\d{3}`) \|$", flags=re.MULTILINE
)


@cache
def page() -> str:
    return (EXAMPLES / "README.md").read_text(encoding="utf-8")


@cache
def found_in(name: str) -> tuple[Message | BadLine, ...]:
    path = EXAMPLES / f"{name}.jsonl"
    with open_path(path) as source:
        return tuple(detect(source).read(source))


@cache
def turns_of(name: str) -> dict[str, Message]:
    return {str(each.external_id): each for each in found_in(name) if isinstance(each, Message)}


@cache
def every_turn() -> dict[str, Message]:
    return {turn: message for name in NAMES for turn, message in turns_of(name).items()}


@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_bad(name: str) -> None:
    assert [each for each in found_in(name) if isinstance(each, BadLine)] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_is_as_large_as_the_page_says(name: str) -> None:
    stated = {found[0]: (int(found[1]), int(found[2])) for found in COUNTS.findall(page())}
    size = len(found_in(name)), len({message.session for message in turns_of(name).values()})
    assert stated[name] == size
    assert size[0] >= LEAST[name][0]
    assert size[1] >= LEAST[name][1]


@pytest.mark.parametrize("name", NAMES)
def test_ids_and_keys_are_unique(name: str) -> None:
    messages = [each for each in found_in(name) if isinstance(each, Message)]
    assert all(message.external_id for message in messages)
    assert len({message.external_id for message in messages}) == len(messages)
    assert len({message.key("any") for message in messages}) == len(messages)
    assert {message.conversation for message in messages} == {name}


@pytest.mark.parametrize("name", NAMES)
def test_time_goes_forward(name: str) -> None:
    sessions: defaultdict[str | None, list[datetime]] = defaultdict(list)
    for message in turns_of(name).values():
        assert message.occurred_at is not None
        sessions[message.session].append(message.occurred_at)
    for times in sessions.values():
        assert all(earlier < later for earlier, later in pairwise(times))
    firsts = [times[0] for times in sessions.values()]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_says_the_same_twice(name: str) -> None:
    said = Counter(message.text for message in turns_of(name).values())
    assert [text for text, times in said.items() if times > 1] == []


def test_who_speaks() -> None:
    friends = Counter((message.role, message.name) for message in turns_of("two-friends").values())
    assert set(friends) == {("user", "Nadia Ferreira"), ("user", "Owen Blackwood")}
    roles = {message.role for message in turns_of("assistant").values()}
    assert roles == {"system", "user", "assistant", "tool"}


def test_a_turn_holds_a_code_block_of_several_lines() -> None:
    blocks = [message.text for message in turns_of("assistant").values() if "```python\n" in message.text]
    assert any(text.count("\n") > 5 for text in blocks)


def test_the_page_names_facts_of_each() -> None:
    turns = Counter(turn.split("-")[0] for turn, *_ in FACT.findall(page()))
    assert all(turns[prefix] >= 25 for prefix in ("shop", "asst", "duo"))


def test_every_row_of_facts_is_understood() -> None:
    rows = [row for row in page().splitlines() if re.match(r"\| `(shop|asst|duo)-\d", row)]
    assert len(rows) == len(FACT.findall(page()))


@pytest.mark.parametrize(
    ("turn", "fact", "words", "until"), FACT.findall(page()), ids=lambda value: value[:12]
)
def test_the_named_turn_says_so(turn: str, fact: str, words: str, until: str) -> None:
    message = every_turn()[turn]
    assert words in message.text, fact
    if until != "–":
        end = every_turn()[until.strip("`")]
        assert end.conversation == message.conversation
        assert end.occurred_at is not None
        assert message.occurred_at is not None
        assert end.occurred_at > message.occurred_at


def test_every_turn_that_the_page_mentions_exists() -> None:
    mentioned = set(re.findall(r"`((?:shop|asst|duo)-\d{3})`", page()))
    assert mentioned <= set(every_turn())
