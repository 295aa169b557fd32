"""The OpenAPI 3.1 document of a server, from the registry: a path for each operation, its schemas, its refusals."""

import inspect
import json
from functools import cache
from typing import Any

import braid
from braid.operation import Json, Operation
from braid.registry import operations
from braid.transport import Problem
from braid.wire import schema_of, to_builtins


@cache
def document() -> dict[str, Any]:
    """Return the document; made once."""
    components: dict[str, Any] = {}
    paths = {
        f"/v1/{one.name}": {"post": _path(one, components)} for one in operations().values() if one.remote
    }
    _, named = schema_of(Problem)
    components |= {name: _moved(schema) for name, schema in named.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Braid", "version": braid.__version__, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _path(one: Operation, components: dict[str, Any]) -> dict[str, Any]:
    asked, named = schema_of(one.request)
    answered, others = schema_of(one.response)
    components |= {name: _moved(schema) for name, schema in (named | others).items()}
    form = "application/jsonl" if one.streams else "application/json"
    return {
        "operationId": one.name,
        "summary": one.summary,
        "description": inspect.cleandoc(one.description),
        "tags": [one.room],
        "requestBody": {
            "content": {"application/json": {"schema": _moved(asked), "example": to_builtins(one.example)}}
        },
        "responses": {
            "200": {"description": one.summary, "content": {form: {"schema": _moved(answered)}}},
            "default": {
                "description": "Why it was refused (RFC 9457)",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
        },
    }


def _moved(schema: Json) -> Json:
    """Return a schema whose references lead to the document's components."""
    return json.loads(json.dumps(schema).replace('"#/$defs/', '"#/components/schemas/'))
