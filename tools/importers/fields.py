"""Members of decoded JSON, by type, and what stands for them as a hash."""

import hashlib
import json

from braid.tools.importers.errors import Refused
from braid.tools.importers.strict import as_list, as_object

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def text(members: dict[str, object], name: str) -> str | None:
    """A member that is text; None if it is absent, null or empty. Refused for another type."""
    value = members.get(name)
    if value is not None and not isinstance(value, str):
        raise Refused(f'"{name}" is not text')
    return value or None


def word(members: dict[str, object], name: str) -> str | None:
    """A member if it is text, for comparing with what is known; None for anything else."""
    value = members.get(name)
    return value if isinstance(value, str) else None


def label(members: dict[str, object], name: str) -> str | None:
    """A member that is an id: text or an integer, as text."""
    value = members.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(members, name)


def objects(value: object) -> list[dict[str, object]]:
    """The objects in a list; none for what is no list."""
    return [found for each in as_list(value) or () if (found := as_object(each)) is not None]


def only(members: dict[str, object], *names: str) -> dict[str, object]:
    """The named members that are there and not null."""
    return {name: members[name] for name in names if members.get(name) is not None}


def hash_of(value: object) -> str:
    """`sha256:<64 hex>` of the canonical JSON: members sorted, no white space, UTF-8."""
    return f"sha256:{hashlib.sha256(canonical(value)).hexdigest()}"


def canonical(value: object) -> bytes:
    """The bytes that are hashed."""
    return _encode(value).encode("utf-8")
