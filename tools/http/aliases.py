"""Names that another API of memories uses, answered by the operations that mean the same.

`/api/memory/…`: what it asks and answers is that API's; who may, limits and refusals are those of `/v1`.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from braid import text_budget
from braid.errors import ConfirmationError, InvalidRequestError
from braid.ledger.record.scope import SCOPES
from braid.operation import Request as Asked
from braid.refusal import refusal
from braid.settings import settings
from braid.tools.http.alias_forms import (
    CandidateAlias,
    ChangedAlias,
    DeleteAlias,
    EventAlias,
    ForgetAlias,
    ForgottenAlias,
    HistoryAlias,
    JobAlias,
    ModifyAlias,
    PatchAlias,
    ReasonAlias,
    RememberAlias,
    RememberedAlias,
    ResultAlias,
    ResultsAlias,
)
from braid.tools.http.headers import with_headers

if TYPE_CHECKING:
    from braid.memories.operations import Change, Outcome
    from braid.tools.http.app import Server

PREFIX: Final = "/api/memory"
CUT: Final = "Braid-Cut"
"""The header that says how many texts of an answer were cut (`text_budget`)."""
_Answer = Callable[[Request], Awaitable[Response]]


class Alias(NamedTuple):
    """A route of the other names: the method of `Aliases` that answers it, and by which operations."""

    method: str
    path: str
    answer: str
    operations: tuple[str, ...]
    answers: type
    asks: type[Asked] | None = None
    query: tuple[str, ...] = ()
    """Names that its query may hold."""


ALIASES: Final = (
    Alias("POST", "/remember", "remember", ("remember",), RememberedAlias, RememberAlias),
    Alias(
        "POST",
        "/forget",
        "forget",
        ("preview_forget", "forget_previewed", "forget"),
        ForgottenAlias,
        ForgetAlias,
    ),
    Alias("POST", "/modify", "modify_all", ("modify_all",), ResultsAlias, ModifyAlias),
    Alias("GET", "/jobs/{id}", "job", ("job_progress",), JobAlias),
    Alias("GET", "/{id}/history", "history", ("history",), HistoryAlias),
    Alias("POST", "/{id}/recover", "recover", ("recover",), ChangedAlias, ReasonAlias),
    Alias("DELETE", "/{id}", "delete", ("forget",), ChangedAlias, DeleteAlias, ("reason", "force")),
    Alias("PATCH", "/{id}", "modify", ("modify",), ChangedAlias, PatchAlias),
)
"""The routes, the fixed names before those that hold an id."""


class Aliases:
    """The routes of the other names."""

    def __init__(self, server: "Server") -> None:
        self._server = server

    def routes(self) -> list[Route]:
        """Return the routes, one for each path."""
        by_path: dict[str, dict[str, _Answer]] = {}
        for one in ALIASES:
            by_path.setdefault(one.path, {})[one.method] = getattr(self, one.answer)
        return [Route(PREFIX + path, _by_method(ways), methods=list(ways)) for path, ways in by_path.items()]

    async def remember(self, request: Request) -> Response:
        """Remember a text."""
        asked = await self._body(request, RememberAlias)
        said = {
            "messages": asked.content,
            "mode": asked.mode,
            "raw": asked.raw,
            "tags": asked.tags,
            "idempotency_key": asked.idempotency_key,
            "pipeline_timeout_ms": asked.pipeline_timeout_ms,
        }
        done = await self._server.ask(request, "remember", _scope(asked) | said)
        return _json(
            RememberedAlias(
                memory_id=done.memory_id,
                status=done.status,
                warnings=done.warnings,
                job_id=done.job_id or None,
            )
        )

    async def job(self, request: Request) -> Response:
        """Return how a job stands: its state, attempts, when it is tried again, and the class of the last error."""
        said = await self._server.ask(request, "job_progress", {"id": request.path_params["id"]})
        return _json(
            JobAlias(
                id=said.id,
                status=said.state,
                attempts=said.attempts,
                last_error=said.error,
                next_retry=said.next_retry,
            )
        )

    async def history(self, request: Request) -> Response:
        """Return every change of a memory, in order."""
        id = request.path_params["id"]
        told = await self._server.ask(request, "history", {"id": id})
        events = tuple(_event(one) for one in told.changes)
        return _json(HistoryAlias(memory_id=id, version=told.version, events=events))

    async def modify(self, request: Request) -> Response:
        """Change a memory; a version that it no longer has is a conflict."""
        asked = await self._body(request, PatchAlias)
        id = request.path_params["id"]
        done = await self._server.ask(request, "modify", _change(id, asked))
        return _json(ChangedAlias(memory_id=id, status="modified", event_id=done.id, version=done.version))

    async def modify_all(self, request: Request) -> Response:
        """Change several memories, each on its own; what became of each."""
        asked = await self._body(request, ModifyAlias)
        changes = [_change(one.id, one) for one in asked.patches]
        done = await self._server.ask(request, "modify_all", {"changes": changes})
        return _json(ResultsAlias(results=tuple(_result(one) for one in done.outcomes)))

    async def recover(self, request: Request) -> Response:
        """Bring a forgotten memory back."""
        asked = await self._body(request, ReasonAlias)
        id = request.path_params["id"]
        done = await self._server.ask(request, "recover", {"ids": [id], "reason": asked.reason})
        return _json(ChangedAlias(memory_id=id, status="recovered", event_id=done.id))

    async def delete(self, request: Request) -> Response:
        """Forget a memory; the reason, and force, may stand in the query."""
        asked = await self._body(request, DeleteAlias)
        id, reason = request.path_params["id"], request.query_params.get("reason") or asked.reason
        force = _flag(request, "force") or asked.force
        members = {"ids": [id], "reason": _needed(reason), "force": force}
        done = await self._server.ask(request, "forget", members)
        return _json(ChangedAlias(memory_id=id, status="forgotten", event_id=done.id))

    async def forget(self, request: Request) -> Response:
        """Show what could be forgotten, or forget what was shown or is named."""
        asked = await self._body(request, ForgetAlias)
        if asked.mode == "execute":
            return _json(
                await (self._forget_shown if asked.confirm_token else self._forget_named)(request, asked)
            )
        if not asked.query:
            raise InvalidRequestError("a preview needs a query")
        members = {"query": asked.query, "match": "topic", "filters": _filters(asked), "limit": asked.limit}
        shown = await self._server.ask(request, "preview_forget", _scope(asked) | members)
        return _json(
            ForgottenAlias(
                candidates=tuple(
                    CandidateAlias(id=one.id, text=one.text, score=one.score) for one in shown.memories
                ),
                confirm_token=shown.token,
                confirm=shown.confirm,
                expires_at=shown.expires_at,
            )
        )

    async def _forget_shown(self, request: Request, asked: ForgetAlias) -> ForgottenAlias:
        """Forget what a preview has shown, or those of it that are named."""
        members = {
            "token": asked.confirm_token,
            "reason": _needed(asked.reason),
            "ids": asked.ids or None,
            "confirm": asked.confirm,
        }
        done = await self._server.ask(request, "forget_previewed", _scope(asked) | members)
        return ForgottenAlias(
            forgotten=done.forgotten,
            skipped=tuple(one.id for one in done.skipped),
            event_id=done.tombstone,
        )

    async def _forget_named(self, request: Request, asked: ForgetAlias) -> ForgottenAlias:
        """Forget a few that are named. Raises ConfirmationError for more than the settings let pass unseen."""
        if not asked.ids:
            raise InvalidRequestError("execute takes the confirm_token of a preview, or ids")
        now = await run_in_threadpool(settings, self._server.session)
        if now.forget_dry_run_only:
            raise ConfirmationError("forget_dry_run_only is set: nothing was changed")
        if len(asked.ids) > now.forget_confirm_above:
            raise ConfirmationError(
                f"{len(asked.ids)} memories would be forgotten: preview them, and give its confirm_token"
            )
        done = await self._server.ask(request, "forget", {"ids": asked.ids, "reason": _needed(asked.reason)})
        return ForgottenAlias(forgotten=asked.ids, event_id=done.id)

    async def _body(self, request: Request, type_: Any) -> Any:
        raw = await self._server.body(request)
        try:
            asked = msgspec.json.decode(raw or b"{}", type=type_)
        except RecursionError:
            raise InvalidRequestError("what is asked is nested too deep") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidRequestError(refusal(str(error), type_)) from None
        return with_headers(request, asked, f"{request.method} {request.url.path}")


def _by_method(ways: dict[str, _Answer]) -> _Answer:
    async def answer(request: Request) -> Response:
        return await ways["GET" if request.method == "HEAD" else request.method](request)

    return answer


def _scope(asked: RememberAlias | ForgetAlias) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in SCOPES}


def _flag(request: Request, name: str) -> bool:
    """Return a flag of the query. Raises InvalidRequestError for what is neither true nor false."""
    said = request.query_params.get(name, "false")
    if said not in ("true", "false"):
        raise InvalidRequestError(f"{name} is true or false")
    return said == "true"


def _filters(asked: ForgetAlias) -> dict[str, Any] | None:
    """Return the filters of recall that a request's own are."""
    parts: list[dict[str, Any]] = [{"tags": {"contains": tag}} for tag in asked.tags]
    if asked.type:
        parts.append({"type": {"eq": asked.type}})
    if asked.who:
        parts.append({"OR": [{"name": {"eq": asked.who}}, {"actor": {"eq": asked.who}}]})
    if asked.source_type:
        parts.append({"method": {"eq": asked.source_type}})
    if asked.since:
        parts.append({"created_at": {"gte": asked.since.isoformat()}})
    if asked.until:
        parts.append({"created_at": {"lt": asked.until.isoformat()}})
    return {"AND": parts} if parts else None


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


def _result(one: "Outcome") -> ResultAlias:
    done = one.done
    if done is None:
        return ResultAlias(id=one.asked, success=False, error=one.error, reason=one.message)
    return ResultAlias(id=one.asked, success=True, event_id=str(done.id), version=done.version)


def _event(one: "Change") -> EventAlias:
    return EventAlias(
        event=one.change,
        id=str(one.id),
        version=one.version,
        created_at=one.at,
        actor_type=one.actor,
        actor_id=one.asked_by or one.by,
        old_content=one.old,
        new_content=one.new,
        method=one.method,
        model=one.model,
        reason=one.reason,
        session_id=one.session_id,
    )


def _json(answer: object) -> Response:
    encoded, cut = text_budget.to_json(answer)
    return Response(encoded, media_type="application/json", headers={CUT: str(cut)} if cut else None)
