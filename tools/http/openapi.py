"""The OpenAPI 3.1 document of a server, from the registry: a path for each operation, its schemas, its refusals."""

import inspect
import json
import re
from functools import cache
from typing import Any, Final

import braid
from braid.operation import Json, Operation
from braid.registry import operations
from braid.transport import Problem
from braid.wire import schema_of, to_builtins

_REFERENCE: Final = re.compile(r'"#/\$defs/([^"]+)"')


@cache
def document() -> dict[str, Any]:
    """Return the document; made once."""
    components = Components()
    components.take(Problem, "Problem")  # first, so that this name is its own
    paths = {
        f"/v1/{one.name}": {"post": _path(one, components)} for one in operations().values() if one.remote
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Braid", "version": braid.__version__, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _path(one: Operation, components: "Components") -> dict[str, Any]:
    asked = components.take(one.request, one.name)
    answered = components.take(one.response, one.name)
    form = "application/jsonl" if one.streams else "application/json"
    return {
        "operationId": one.name,
        "summary": one.summary,
        "description": inspect.cleandoc(one.description),
        "tags": [one.room],
        "requestBody": {
            "content": {"application/json": {"schema": asked, "example": to_builtins(one.example)}}
        },
        "responses": {
            "200": {"description": one.summary, "content": {form: {"schema": answered}}},
            "default": {
                "description": "Why it was refused (RFC 9457)",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
        },
    }


class Components:
    """The schemas that others refer to. Of two that are called alike the second bears its operation's name."""

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self._raw: dict[str, Json] = {}

    def take(self, type_: type, operation: str) -> Json:
        """Return the schema of a type, with what it refers to among the components."""
        schema, named = schema_of(type_)
        names = {name: self._free(name, one, operation) for name, one in named.items()}
        for name, one in named.items():
            self._raw[names[name]] = one
            self.schemas[names[name]] = _moved(one, names)
        return _moved(schema, names)

    def _free(self, name: str, schema: Json, operation: str) -> str:
        return name if self._raw.get(name, schema) == schema else f"{name}_{operation}"


def _moved(schema: Json, names: dict[str, str]) -> Json:
    """Return a schema whose references lead to the document's components."""
    text = _REFERENCE.sub(lambda found: f'"#/components/schemas/{names[found[1]]}"', json.dumps(schema))
    return json.loads(text)
