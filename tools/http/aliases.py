"""Names that another API of memories uses, answered by the operations that mean the same.

`/api/memory/…`: what it asks and answers is that API's; who may, limits and refusals are those of `/v1`.
"""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from braid.errors import InvalidRequestError
from braid.ledger.record.scope import SCOPES
from braid.operation import Json
from braid.operation import Request as Asked
from braid.refusal import refusal

if TYPE_CHECKING:
    from braid.memories.operations import Change, Outcome
    from braid.tools.http.app import Server

PREFIX: Final = "/api/memory"
_Scope = Annotated[str, msgspec.Meta(min_length=1)] | None


class RememberAlias(Asked, frozen=True, kw_only=True):
    """What is remembered; `raw` reads nothing out of it."""

    content: Annotated[str, msgspec.Meta(min_length=1)]
    mode: Literal["auto", "sync", "async"] = "auto"
    raw: bool = False
    idempotency_key: str | None = None
    pipeline_timeout_ms: Annotated[int, msgspec.Meta(ge=1)] | None = None
    user_id: _Scope = None
    agent_id: _Scope = None
    run_id: _Scope = None
    project_id: _Scope = None
    session_id: _Scope = None


class ReasonAlias(Asked, frozen=True, kw_only=True):
    """Why; kept with the record."""

    reason: str | None = None


class PatchAlias(Asked, frozen=True, kw_only=True):
    """What changes in a memory; what isn't given stays as it is."""

    content: str | None = None
    tags: tuple[str, ...] | None = None
    importance: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    pinned: bool | None = None
    reason: str | None = None
    if_version: Annotated[int, msgspec.Meta(ge=1)] | None = None


class PatchOfAlias(PatchAlias, frozen=True, kw_only=True):
    """What changes in which memory."""

    id: str


class ModifyAlias(Asked, frozen=True, kw_only=True):
    """Changes of several memories."""

    patches: Annotated[tuple[PatchOfAlias, ...], msgspec.Meta(min_length=1, max_length=100)]


class ForgetAlias(Asked, frozen=True, kw_only=True):
    """What is forgotten: a preview finds candidates by `query`, and `execute` forgets those that you name in `ids`."""

    query: str | None = None
    ids: tuple[str, ...] = ()
    type: str | None = None
    mode: Literal["preview", "execute"] = "preview"
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    reason: str | None = None
    user_id: _Scope = None
    agent_id: _Scope = None
    run_id: _Scope = None
    project_id: _Scope = None
    session_id: _Scope = None


class Aliases:
    """The routes of the other names."""

    def __init__(self, server: "Server") -> None:
        self._server = server

    def routes(self) -> list[Route]:
        """Return them, the fixed names before those that hold an id."""
        return [
            Route(f"{PREFIX}/remember", self.remember, methods=["POST"]),
            Route(f"{PREFIX}/forget", self.forget, methods=["POST"]),
            Route(f"{PREFIX}/modify", self.modify_all, methods=["POST"]),
            Route(f"{PREFIX}/jobs/{{id}}", self.job, methods=["GET"]),
            Route(f"{PREFIX}/{{id}}/history", self.history, methods=["GET"]),
            Route(f"{PREFIX}/{{id}}/recover", self.recover, methods=["POST"]),
            Route(f"{PREFIX}/{{id}}", self.delete, methods=["DELETE"]),
            Route(f"{PREFIX}/{{id}}", self.modify, methods=["PATCH"]),
        ]

    async def remember(self, request: Request) -> Response:
        """Remember a text."""
        asked = await self._body(request, RememberAlias)
        scope = {name: getattr(asked, name) for name in SCOPES}
        said = {
            "messages": asked.content,
            "mode": asked.mode,
            "raw": asked.raw,
            "idempotency_key": asked.idempotency_key,
            "pipeline_timeout_ms": asked.pipeline_timeout_ms,
        }
        done = await self._server.ask(request, "remember", scope | said)
        answer = {"memory_id": done.memory_id, "status": done.status, "warnings": list(done.warnings)}
        return JSONResponse(answer | ({"job_id": done.job_id} if done.job_id else {}))

    async def job(self, request: Request) -> Response:
        """Return how a job stands: its state, attempts, when it is tried again, and the class of the last error."""
        id = request.path_params["id"]
        shown = await self._server.ask(request, "job", {"id": id})
        one = shown.job
        if one is None:  # only the log knows of it
            ended = shown.outcomes[-1]
            said = {"status": ended.ended, "attempts": ended.attempts, "last_error": ended.error}
        else:
            said = {"status": one.state, "attempts": one.attempts, "last_error": one.error}
        due = one.due_at if one is not None else None
        return JSONResponse({"id": id, **said, "next_retry": due.isoformat() if due is not None else None})

    async def history(self, request: Request) -> Response:
        """Return every change of a memory, in order."""
        id = request.path_params["id"]
        told = await self._server.ask(request, "history", {"id": id})
        events = [_event(one) for one in told.changes]
        return JSONResponse({"memory_id": id, "version": told.version, "events": events})

    async def modify(self, request: Request) -> Response:
        """Change a memory; a version that it no longer has is a conflict."""
        asked = await self._body(request, PatchAlias)
        id = request.path_params["id"]
        done = await self._server.ask(request, "modify", _change(id, asked))
        return JSONResponse(
            {"memory_id": id, "status": "modified", "event_id": done.id, "version": done.version}
        )

    async def modify_all(self, request: Request) -> Response:
        """Change several memories, each on its own; what became of each."""
        asked = await self._body(request, ModifyAlias)
        changes = [_change(one.id, one) for one in asked.patches]
        done = await self._server.ask(request, "modify_all", {"changes": changes})
        return JSONResponse({"results": [_result(one) for one in done.outcomes]})

    async def recover(self, request: Request) -> Response:
        """Bring a forgotten memory back."""
        asked = await self._body(request, ReasonAlias)
        id = request.path_params["id"]
        done = await self._server.ask(request, "recover", {"ids": [id], "reason": asked.reason})
        return JSONResponse({"memory_id": id, "status": "recovered", "event_id": done.id})

    async def delete(self, request: Request) -> Response:
        """Forget a memory; the reason may stand in the query."""
        asked = await self._body(request, ReasonAlias)
        id, reason = request.path_params["id"], request.query_params.get("reason") or asked.reason
        done = await self._server.ask(request, "forget", {"ids": [id], "reason": _needed(reason)})
        return JSONResponse({"memory_id": id, "status": "forgotten", "event_id": done.id})

    async def forget(self, request: Request) -> Response:
        """Show what could be forgotten, or forget what is named."""
        asked = await self._body(request, ForgetAlias)
        if asked.mode == "execute":
            if not asked.ids:
                raise InvalidRequestError("execute forgets the ids that a preview gave: name them in ids")
            members = {"ids": list(asked.ids), "reason": _needed(asked.reason)}
            done = await self._server.ask(request, "forget", members)
            return JSONResponse({"forgotten": list(asked.ids), "event_id": done.id})
        if not asked.query:
            raise InvalidRequestError("a preview needs a query")
        scope = {name: getattr(asked, name) for name in SCOPES}
        filters = {"filters": {"type": {"eq": asked.type}}} if asked.type else {}
        members = scope | filters | {"query": asked.query, "top_k": asked.limit}
        found = await self._server.ask(request, "recall", members)
        return JSONResponse({"candidates": [{"id": hit.id, "score": hit.score} for hit in found.results]})

    async def _body(self, request: Request, type_: Any) -> Any:
        raw = await self._server.body(request)
        try:
            return msgspec.json.decode(raw or b"{}", type=type_)
        except RecursionError:
            raise InvalidRequestError("what is asked is nested too deep") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidRequestError(refusal(str(error), type_.__struct_fields__)) from None


def _needed(reason: str | None) -> str:
    if not reason:
        raise InvalidRequestError("reason is needed: it is kept with the record")
    return reason


def _change(id: str, asked: PatchAlias) -> dict[str, Any]:
    return {
        "id": id,
        "reason": _needed(asked.reason),
        "text": asked.content,
        "tags": asked.tags,
        "pinned": asked.pinned,
        "importance": asked.importance,
        "if_version": asked.if_version,
    }


def _result(one: "Outcome") -> dict[str, Json]:
    done = one.done
    if done is None:
        return {"id": one.asked, "success": False, "error": one.error, "reason": one.message}
    return {"id": one.asked, "success": True, "event_id": str(done.id), "version": done.version}


def _event(one: "Change") -> dict[str, Json]:
    return {
        "event": one.change,
        "id": str(one.id),
        "version": one.version,
        "created_at": one.at.isoformat(),
        "actor_type": one.actor,
        "actor_id": one.asked_by or one.by,
        "old_content": one.old,
        "new_content": one.new,
        "method": one.method,
        "model": one.model,
        "reason": one.reason,
        "session_id": one.session_id,
    }
