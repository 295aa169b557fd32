"""The OpenAPI 3.1 document of a server: every operation, by POST and by GET, and the other names; with their refusals.

`/mcp` and `/hook` speak protocols of their own, and are not in it.
"""

import inspect
import json
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import braid
from braid.operation import Json, Operation
from braid.operation import Request as Asked
from braid.paging import MOST, USUAL_SIZE
from braid.registry import find, operations
from braid.tools.http.aliases import ALIASES, PREFIX, Alias
from braid.tools.http.bounds import usual_bounds
from braid.tools.http.pages import CURSOR, SIZE
from braid.tools.http.problem import MEDIA_TYPE, status_of
from braid.tools.http.schemas import Components
from braid.transport import Problem
from braid.wire import to_builtins

_Doc = dict[str, Any]
_ANY: Final = (400, 401, 403, 404, 409, 421, 429, 500, 503)
"""What any request may be refused with: what it says, who asks, how often, how the store or the server stands.

404 is among them, since a caller of a scope may name another's record in any text (`isolation`).
"""
_BODY: Final = (408, 413, 415)
"""What only a body may be refused with."""
_WRITES: Final = (423, 507)
"""What only a change may be refused with: the store is frozen, the disk is full."""
_SOME: Final = (410, 412)
"""What only some operations are refused with, by the errors that they name."""
_IN_HEADERS: Final = {
    "idempotency_key": ("Idempotency-Key", {"type": "string"}),
    "if_version": ("If-Match", {"type": "string", "pattern": '^"?[1-9][0-9]{0,17}"?$'}),
    "start": ("Last-Event-ID", {"type": "string", "pattern": "^[0-9]{1,18}$"}),
}
"""Headers that stand for a member of a request; the last where an answer is a stream."""


@cache
def document() -> _Doc:
    """Return the document; made once."""
    components = Components()
    components.take(Problem, "Problem")  # first, so that this name is its own
    paths = _plain_paths()
    for one in operations().values():
        if one.remote:
            paths[f"/v1/{one.name}"] = _path(one, components)
    for each in ALIASES:
        paths.setdefault(PREFIX + each.path, {})[each.method.lower()] = _other_name(each, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Braid", "version": braid.__version__, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "responses": {str(one): _refusal(one) for one in sorted({*_ANY, *_BODY, *_WRITES, *_SOME})},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _plain_paths() -> _Doc:
    """Return the routes that ask no operation."""
    listed = {name: {"type": "string"} for name in ("name", "access", "summary")}
    offered = _plain(
        "listed", "List the operations that you may ask.", {"type": "array", "items": _object(listed)}
    )
    offered["responses"] |= _refused((), (401, 403, 421, 429))
    state = _object({"status": {"enum": ["ready", "stopping"]}})
    ready = _plain("readyz", "Say whether operations are answered.", state)
    ready["security"] = []
    ready["responses"]["503"] = ready["responses"]["200"] | {"description": "The server is being stopped."}
    health = _plain("healthz", "Say that the process is there.", _object({"status": {"const": "ok"}}))
    return {
        "/healthz": {"get": health | {"security": []}},
        "/readyz": {"get": ready},
        "/v1": {"get": offered},
    }


def _object(members: _Doc) -> _Doc:
    return {"type": "object", "properties": members, "required": list(members)}


def _plain(name: str, summary: str, schema: _Doc) -> _Doc:
    good = {"description": summary, "content": {"application/json": {"schema": schema}}}
    return {"operationId": name, "summary": summary, "tags": ["server"], "responses": {"200": good}}


def _path(one: Operation, components: Components) -> _Doc:
    asked = components.take(one.request, one.name)
    posted: _Doc = _answered(one, components, (*_ANY, *_BODY)) | {
        "operationId": one.name,
        "parameters": [*_pages(one), *_headers(one.request, streams=one.streams)],
        "requestBody": {
            "required": bool(components.named(asked).get("required")),
            "content": {"application/json": {"schema": asked, "example": to_builtins(one.example)}},
        },
    }
    if not one.only_reads:
        return {"post": posted}
    got: _Doc = _answered(one, components, _ANY) | {
        "operationId": f"get_{one.name}",
        "parameters": [
            *_queries(one, components.named(asked)),
            *_pages(one),
            *_headers(one.request, streams=one.streams),
        ],
    }
    if not one.streams:
        got["responses"]["304"] = {"description": "What If-None-Match names is what would be answered"}
    return {"post": posted, "get": got}


def _answered(one: Operation, components: Components, refusals: Iterable[int]) -> _Doc:
    """Return what an operation's way by POST and the one by GET have in common."""
    bounds = usual_bounds(one)
    said = f"\n\nBounds, where you name no others: {bounds}." if bounds else ""
    schema = components.take(one.response, one.name)
    forms: _Doc = {
        "application/json": {"schema": schema},
        "text/event-stream": {"schema": {"type": "string"}},
    }
    if one.streams:  # the schema is that of a line
        forms = {"application/jsonl": {"schema": schema}, "text/event-stream": {"schema": {"type": "string"}}}
    headers: _Doc = {}
    if bounds:
        headers["Braid-Limits"] = {"schema": {"type": "string"}, "description": "The bounds of the answer."}
    if one.pages:
        said += f"\n\nAsked with page_size or cursor, `{one.pages}` holds a page of the list."
        if one.table:
            said += f" In SQL its rows are those of `{one.table}` (docs/schema.md)."
        headers["Link"] = {"schema": {"type": "string"}, "description": 'The next page, as rel="next".'}
    good = {"description": one.summary, "content": forms} | ({"headers": headers} if headers else {})
    return {
        "summary": one.summary,
        "description": inspect.cleandoc(one.description) + said,
        "tags": [one.room],
        "responses": {"200": good} | _refused([one], refusals),
    }


def _refused(asked: Iterable[Operation], usual: Iterable[int]) -> _Doc:
    """Return the refusals that operations may end in, beside the usual ones."""
    found = set(usual)
    for one in asked:
        found.update(status_of(error) for error in one.errors)
        if not one.only_reads:
            found.update(_WRITES)
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(found)}


def _refusal(status: int) -> _Doc:
    """Return the response that says why something was refused (RFC 9457)."""
    found: _Doc = {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in (429, 503):
        found["headers"] = {
            "Retry-After": {"schema": {"type": "string"}, "description": "In how many seconds to ask again."}
        }
    return found


def _pages(one: Operation) -> list[_Doc]:
    """Return what a URL says of a page, of an operation that is answered in pages."""
    if one.pages is None:
        return []
    size = {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL_SIZE}
    return [
        {"name": SIZE, "in": "query", "schema": size, "description": "How many items a page has."},
        {
            "name": CURSOR,
            "in": "query",
            "schema": {"type": "string"},
            "description": "What the last page's Link gave.",
        },
    ]


def _headers(asked: type[Asked], *, streams: bool = False) -> list[_Doc]:
    """Return the headers that stand for members of a request."""
    fields = asked.__struct_fields__
    return [
        {"name": name, "in": "header", "schema": schema, "description": f"Stands for `{member}`."}
        for member, (name, schema) in _IN_HEADERS.items()
        if member in fields and (member != "start" or streams)
    ]


def _queries(one: Operation, asked: _Doc) -> list[_Doc]:
    """Return the members of a request as a query says them: a list repeats its name, what holds objects is JSON."""
    needed, example = asked.get("required", ()), to_builtins(one.example)
    return [
        {"name": name, "in": "query", "required": name in needed, **_in_query(schema)}
        | ({"example": example[name]} if name in needed else {})
        for name, schema in asked["properties"].items()
    ]


def _in_query(schema: Json) -> _Doc:
    written = json.dumps(schema)
    holds_objects = not schema or '"$ref"' in written or '"object"' in written
    return {"content": {"application/json": {"schema": schema}}} if holds_objects else {"schema": schema}


def _other_name(one: Alias, components: Components) -> _Doc:
    """Return the description of a route of the other names."""
    known = [find(name) for name in one.operations]
    names = [name[1:-1] for name in one.path.split("/") if name[:1] == "{"]
    text = {"type": "string", "minLength": 1}
    found: _Doc = {
        "operationId": f"memory_{one.answer}",
        "summary": f"Another name of {' and '.join(one.operations)}.",
        "tags": ["other names"],
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": text} for name in names),
            *({"name": name, "in": "query", "schema": text} for name in one.query),
            *(_headers(one.asks) if one.asks else ()),
        ],
        "responses": {
            "200": {
                "description": inspect.cleandoc(one.answers.__doc__ or "").partition("\n")[0],
                "content": {"application/json": {"schema": components.take(one.answers, one.answer)}},
            },
            **_refused(known, _ANY if one.asks is None else (*_ANY, *_BODY)),
        },
    }
    if one.asks is not None:
        found["requestBody"] = {
            "content": {"application/json": {"schema": components.take(one.asks, one.answer)}}
        }
    return found
