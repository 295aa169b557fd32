"""The OpenAPI of a server names each schema once, and `dispatch` is fuzzed: depth, size, types."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from braid.errors import AccessDeniedError
from braid.registry import dispatch
from braid.tools.http.openapi import document
from braid.tools.http.problem import problem
from braid.wire import schema_of
from tests.unit.api.test_operations import ALL, Scene, asked, scene  # noqa: F401 - a fixture


def test_things_of_one_name_have_schemas_of_their_own() -> None:
    described = document()
    components = described["components"]["schemas"]
    assert {"title", "status", "detail"} <= set(components["Problem"]["required"])
    for name, known in ALL.items():
        path = f"/v1/{name}"
        assert (path in described["paths"]) == known.remote
        if not known.remote:
            continue
        methods = described["paths"][path]
        assert ("get" in methods) == known.only_reads
        answered = methods["post"]["responses"]["200"]["content"]
        form = next(iter(answered.values()))
        schema = form["schema"].get("$ref", "").removeprefix("#/components/schemas/")
        _, named = schema_of(known.response)
        if schema:
            own = named[schema.removesuffix(f"_{known.name}")]
            assert set(components[schema].get("properties", {})) == set(own.get("properties", {})), path


def test_every_refusal_that_is_named_is_described() -> None:
    described = document()
    told = described["components"]["responses"]
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            for status, answer in one["responses"].items():
                assert answer.get("$ref", f"#/components/responses/{status}").rpartition("/")[2] == status
                assert "$ref" not in answer or status in told, (path, method)
    assert {"404", "410", "423"} <= set(described["paths"]["/api/memory/{id}"]["delete"]["responses"])
    assert "423" not in described["paths"]["/v1/get"]["post"]["responses"]


def odd(chance: random.Random, depth: int = 0) -> Any:
    """Return a JSON value that nobody would send."""
    plain: list[Any] = [
        None, True, -1, 0, 2**63, 2**64, -(2**70), 1.5, 1e308, float("inf"), "", "x" * 10_000, "\x00", "\ud800",
        "exp_2025-05-17T09:00:00Z_0000000300ab", "../../etc/passwd", "2025-13-45T99:99:99Z", "$0", "9" * 5000,
    ]  # fmt: skip
    kind = chance.randrange(8)
    if depth < 6 and kind == 0:
        return [odd(chance, depth + 1) for _ in range(chance.randrange(4))]
    if depth < 6 and kind == 1:
        return {str(odd(chance, 9))[:20]: odd(chance, depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice(plain)


def deep(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", ALL)
def test_no_odd_request_is_an_unforeseen_error(name: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    known, mine, chance = ALL[name], scene.copy(tmp_path / "mine"), random.Random(name)
    fields = known.request.__struct_fields__
    plain = asked(known, mine)
    requests = [b"", b"null", b"[]", b"{", b'{"a":1}', b"\xff", deep(100), deep(100_000), b"[" * 100_000]
    if "seconds" in fields:  # what waits for records to come waits for half a minute unless it is told
        plain |= {"seconds": 0}
        requests = requests[1:]  # nothing at all is what the defaults say
    for field in set(fields) - {
        "path",
        "dest",
        "seconds",
    }:  # the first two would be written where the test stands
        requests += [json.dumps(plain | {field: odd(chance)}).encode() for _ in range(3)]
    with mine.open() as store:
        store.session.allowed -= {known.access} if known.access in ("erase", "operate") else set()
        for request in requests:
            try:
                dispatch(store.session, name, request)
            except AccessDeniedError:
                continue
            except Exception as error:
                if problem(error).status == 500:
                    pytest.fail(f"{request[:300]!r}: {type(error).__name__}: {error}")
