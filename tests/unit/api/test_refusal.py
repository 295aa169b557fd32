"""What is wrong with a request is said in plain words."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from braid.claims.operations import AskStance
from braid.errors import InvalidRequestError
from braid.lens.operations import ApplyLens
from braid.log.operations import Append, Get
from braid.operation import Request
from braid.registry import find, operations


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("stance", b'{"question": ""}', "stance: question is text that isn't empty"),
        ("stance", b'{"question": 3}', "stance: question is text, not a whole number"),
        ("stance", b"{}", "stance: question is missing"),
        (
            "stance",
            b'{"question": "x", "at": "2025-05-17T10:00:00"}',
            "stance: at has no time zone: add one, such as Z",
        ),
        ("stance", b'{"question": "x", "at": "soon"}', "stance: at is a time such as 2025-05-17T10:00:00Z"),
        ("apply_lens", b'{"name": "x", "limit_s": 0}', "apply_lens: limit_s is a number above 0"),
        ("get", b'{"id": "x", "as_of": -1}', "get: as_of is a whole number of at least 0"),
        ("get", b'{"idd": "x"}', "get: there is no member idd: did you mean id?"),
        (
            "get",
            b'{"zzz": "x"}',
            "get: there is no member zzz: there are id, as_of, as_of_time, include_forgotten",
        ),
        ("status", b'{"zzz": "x"}', "status: there is no member zzz, nor any other"),
        (
            "append_all",
            b'{"records": [{"text": "x", "txet": "y"}]}',
            "append_all: there is no member txet in records[0]: did you mean text?",
        ),
        ("append", b'{"text": "x", "tags": ["a", 7]}', "append: tags[1] is text, not a whole number"),
        ("append", b'["text"]', "append: what is given is an object, not a list"),
        (
            "feel",
            b'{"ids": ["x"], "stage": "later"}',
            "feel: stage can't be 'later': it is augmented, draft or input",
        ),
        (
            "retry_job",
            b'{"id": "job_nope", "reason": "x"}',
            "retry_job: id is no id of a job: such ids are job_ and 16 hex digits, as `jobs` shows them",
        ),
        ("erase", b'{"says": [".."]}', "erase: says[0] is a name or a word: two letters or digits at least"),
        ("erase", b'{"says": ["x"]}', "erase: says[0] is text of at least 2 characters"),
        ("forget", b'{"ids": []}', "forget: ids is a list that isn't empty"),
        ("get", b"{", "get: the JSON ends too early, or has half a surrogate pair, such as \\ud800"),
        (
            "get",
            b'{"id": "\\ud800"}',
            "get: the JSON ends too early, or has half a surrogate pair, such as \\ud800",
        ),
        ("get", b'{"id": "\xff"}', "get: the JSON is not valid UTF-8"),
    ],
)
def test_a_refusal_names_the_member_and_what_it_takes(name: str, raw: bytes, said: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        find(name).decoded(raw)
    assert str(refused.value) == said


def test_each_operation_names_its_members_to_who_asks_for_another() -> None:
    for known in operations().values():
        with pytest.raises(InvalidRequestError) as refused:
            known.decoded(b'{"0": 1}')
        members = str(refused.value).partition(": there are ")[2].split(", ")
        assert sorted(filter(None, members)) == sorted(known.request.__struct_fields__), known.name
    with pytest.raises(InvalidRequestError, match="no member query: there are question, "):
        find("ask").decoded(b'{"query": "Where?"}')


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("get", Get(id="")),
        ("stance", AskStance(question=" "[:0])),
        ("apply_lens", ApplyLens(name="x", limit_s=float("nan"))),
        ("append", msgspec.structs.replace(Append(), tags="abc")),
        ("append", Get(id="x")),
    ],
)
def test_the_methods_go_through_the_same_door(name: str, request_: Request) -> None:
    with pytest.raises(InvalidRequestError):
        find(name).checked(request_)


def test_no_pattern_of_a_request_is_shown_to_a_person() -> None:
    """Each that has a pattern says what is wanted."""
    for known in operations().values():
        for path, kind in _patterned(inspect.type_info(known.request), ""):
            assert (kind.extra or {}).get("refusal"), f"{known.name}: {path}"


def _patterned(kind: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every type within a type that has a pattern."""
    inner = getattr(kind, "type", None)
    if inner is not None and getattr(inner, "pattern", None) is not None:
        yield path, kind
        return
    for field in getattr(kind, "fields", ()):
        yield from _patterned(field.type, f"{path}.{field.name}")
    assert getattr(kind, "pattern", None) is None, path
    for each in (inner, getattr(kind, "item_type", None), *getattr(kind, "types", ())):
        if each is not None:
            yield from _patterned(each, path)
