"""Filters on what a hit is: `{"speaker": {"eq": "user"}}`, joined by `AND`, `OR`, `NOT`. Pure.

They only ever narrow: whose memory is asked (user, agent, run, project, session) is no filter but a scope, and a
filter that names one is refused.
"""

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, cast

from braid.ledger.record.record import ExperienceBody, Record
from braid.ledger.record.scope import SCOPES

MAX_DEPTH: Final = 16
_ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
OPERATORS: Final = ("eq", "ne", "in", *_ORDERED, "contains")
FIELDS: Final = (
    "id", "index", "kind", "type", "key", "actor", "name", "method", "text", "tags", "confidence", "external_id",
    "created_at", "occurred_at",
)  # fmt: skip
TIMES: Final = ("created_at", "occurred_at")

Test = Callable[[Record], bool]


def compiled(filters: Mapping[str, Any] | None) -> Test:
    """Return the test that a filter is; raise ValueError for an unknown field, operator or form, and for a scope."""
    return _always if not filters else _test(filters, 0)


def speaks_of(filters: Mapping[str, Any] | None, names: Collection[str]) -> bool:
    """Say whether compiled filters test one of these fields. What they compare with is no matter."""
    return any(
        name in names
        or (name == "NOT" and speaks_of(value, names))
        or (name in ("AND", "OR") and any(speaks_of(each, names) for each in value))
        for name, value in (filters or {}).items()
    )


def _always(record: Record) -> bool:
    del record
    return True


def _test(filters: object, depth: int) -> Test:
    if depth > MAX_DEPTH:
        raise ValueError(f"filters are nested more than {MAX_DEPTH} deep")
    if not isinstance(filters, Mapping):
        raise ValueError(
            f"a filter is an object such as {{'type': {{'eq': 'observation'}}}}, not {filters!r:.60}"
        )
    tests = [
        _part(str(name), value, depth) for name, value in cast("Mapping[object, object]", filters).items()
    ]
    return lambda record: all(test(record) for test in tests)


def _part(name: str, value: object, depth: int) -> Test:
    if name in ("AND", "OR"):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise ValueError(f"{name} takes a list of filters")
        tests = [_test(each, depth + 1) for each in cast("Sequence[object]", value)]
        joined = all if name == "AND" else any
        return lambda record: joined(test(record) for test in tests)
    if name == "NOT":
        inner = _test(value, depth + 1)
        return lambda record: not inner(record)
    if name in SCOPES:
        raise ValueError(f"{name} is a scope, not a filter: pass {name}=… beside the question")
    if name not in FIELDS and not name.startswith("structured."):
        raise ValueError(
            f"there is no field {name!r} to filter by; there are {', '.join(FIELDS)}, structured.…"
        )
    asked = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {"eq": value}
    tests = [_compare(name, op, wanted) for op, wanted in asked.items()]
    return lambda record: all(test(record) for test in tests)


def _compare(name: str, op: str, wanted: Any) -> Test:
    if op not in OPERATORS:
        raise ValueError(f"there is no operator {op!r}; there are {', '.join(OPERATORS)}")
    if op == "in" and not _is_list(wanted):
        raise ValueError(f"{name}: `in` takes a list")
    if name in TIMES:
        if op == "contains":
            raise ValueError(f"{name}: a time contains nothing; ask with gte and lt")
        wanted = [_moment(each) for each in wanted] if op == "in" else _moment(wanted)

    def holds(record: Record) -> bool:
        found: Any = field(record, name)
        if op in ("eq", "ne"):
            return bool(found == wanted) == (op == "eq")
        if op == "in":
            return found in wanted
        if op == "contains":
            return _contains(found, wanted)
        try:
            return bool(found is not None and _ORDERED[op](found, wanted))
        except TypeError:  # a number against a text: no order, no match
            return False

    return holds


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _contains(found: object, wanted: object) -> bool:
    if isinstance(found, str):
        return str(wanted).lower() in found.lower()
    return isinstance(found, Sequence) and wanted in found


def _moment(value: object) -> datetime:
    """Return a time given as text, datetime or date: without a zone it is UTC, without an hour midnight."""
    try:
        moment = datetime.fromisoformat(value.isoformat() if isinstance(value, date) else cast("str", value))
    except (ValueError, TypeError):
        raise ValueError(f"{value!r:.60} is no time such as 2025-05-17 or 2025-05-17T09:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def field(record: Record, name: str) -> Any:
    """Return a record's field, None where it has none."""
    if name in ("id", "index", "kind", "type", "text", "created_at"):
        return getattr(record, name)
    if name == "key":
        return record.envelope.key
    body = record.body
    if name in ("tags", "external_id"):
        return getattr(body, name)
    if name == "occurred_at":
        return body.occurred_at or record.created_at
    return _of_experience(body, name) if isinstance(body, ExperienceBody) else None


def _of_experience(body: ExperienceBody, name: str) -> Any:
    if name == "confidence":
        return body.confidence.p if body.confidence else None
    if not name.startswith("structured."):
        return getattr(body.provenance, name)
    value: Any = body.content.structured
    for part in name.split(".")[1:]:
        value = cast("dict[str, Any]", value).get(part) if isinstance(value, dict) else None
    return value
