"""What is set in a store: listed, and changed by a signed event each."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from braid.errors import InvalidRequestError
from braid.ledger.errors import KeyRefusedError, ReadOnlyError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import EventBody
from braid.ledger.record.schemas import components
from braid.notices import put_notice
from braid.operation import Json, Request, Response, operation
from braid.refusal import wanted_at
from braid.session import Session
from braid.settings import EVENT, Settings, fold_of
from braid.wal.errors import OutcomeUnknownError

_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)
_ABOUT: Final[dict[str, dict[str, Any]]] = components([Settings])[1]["Settings"]["properties"]


class AskSettings(Request, frozen=True, kw_only=True):
    """The question what is set."""


class SettingState(msgspec.Struct, frozen=True, kw_only=True):
    """A key, what it is set to, its default; `record` set it, by `signed_by`, for `reason`: None where none did."""

    key: str
    value: Json
    default: Json
    about: str
    record: RecordId | None = None
    signed_by: str | None = None
    reason: str | None = None


class SettingStates(Response, frozen=True, kw_only=True):
    """Every key."""

    settings: tuple[SettingState, ...]


@operation(
    AskSettings, SettingStates, access="read", cost="record", returns="settings", example=AskSettings()
)
def list_settings(session: Session, asked: AskSettings) -> SettingStates:
    """Return every setting with its value, its default, and the signed record that set it."""
    del asked
    session.refresh()
    return SettingStates(settings=tuple(_state(session, name) for name in Settings.__struct_fields__))


class ChangeSetting(Request, frozen=True, kw_only=True):
    """Which key, its value as text (`true`, `10`, `shadow`), and why.

    A list is parted by commas, or is JSON; `none` is the empty list, the empty name, or no limit.
    """

    key: Annotated[str, Meta(min_length=1)]
    value: Annotated[str, Meta(min_length=1)]
    reason: Annotated[str, Meta(min_length=1, description="Why; it stays in the log.")]


class SettingChanged(Response, frozen=True, kw_only=True):
    """The setting as it is now. `is_new`: whether a record was appended for it."""

    setting: SettingState
    is_new: bool


@operation(
    ChangeSetting,
    SettingChanged,
    access="admin",
    cost="log",
    repeatable=True,
    positional=("key", "value"),
    example=ChangeSetting(key="mutations_frozen", value="true", reason="an agent forgets too much"),
    errors=(InvalidRequestError, *_WRITES),
)
def change_setting(session: Session, asked: ChangeSetting) -> SettingChanged:
    """Set a key by a signed event; what is set so already adds nothing.

    Raises InvalidRequestError for an unknown key, a value that isn't of its type, and the phase `full` where people
    have not judged enough changes to be right; KeyRefusedError without an operator's key.
    """
    value = _value(asked.key, asked.value)
    with session.writer.turn():
        session.refresh()
        before = getattr(fold_of(session).now()[0], asked.key)
        if value == "full" != before:
            _require_figures(session)
        if before != value:
            put_notice(session, EVENT, {"key": asked.key, "value": _json(value)}, asked.reason, "a setting")
            session.refresh()
        return SettingChanged(setting=_state(session, asked.key), is_new=before != value)


def _require_figures(session: Session) -> None:
    """Refuse the phase `full` where this store's own figures don't bear it (ADR 88)."""
    from braid.claims.judgements import shortfall

    if lacking := shortfall(session):
        raise InvalidRequestError(lacking)


def _check_terms(terms: Sequence[str], text: str) -> None:
    """Refuse a term that says nothing, which the type allows: a list in the log that has one such term would be passed
    over with all its others.
    """
    from braid.text.terms import says_something

    if not all(map(says_something, terms)):
        raise InvalidRequestError(f"redacted_terms: {_FORMS['redacted_terms']}, not {text!r}")


def _value(key: str, text: str) -> Any:
    """Return a value of a key's type."""
    known = Settings.__struct_fields__
    if key not in known:
        near = get_close_matches(key, known, n=1)
        raise InvalidRequestError(
            f"no setting is called {key!r}: "
            + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")
        )
    try:
        found = getattr(msgspec.convert({key: _said(key, text)}, Settings, strict=False), key)
    except msgspec.ValidationError:
        why = _FORMS.get(key) or f"{wanted_at(Settings, key)}{_or_none(key)}"
        given = re.sub(r"//[^/\s]*@", "//…@", text)  # what stands there may be a password
        raise InvalidRequestError(f"{key}: {why}, not {given!r}") from None
    if key == "redacted_terms":
        _check_terms(found, text)
    return found


_MODEL: Final = "a model is openai:URL#NAME, ollama:NAME[@URL] or anthropic:NAME"
_FORMS: Final = {
    "provider_preferred": _MODEL,
    "provider_second": _MODEL,
    "provider_larger": _MODEL,
    "remote_hosts": "hosts stand by name or address alone, without https://, port, or a dot at their end",
    "redacted_terms": "each term has two letters or digits at least",
}
"""What is wanted, in plain words, where the type says it by a pattern."""


def _or_none(key: str) -> str:
    return ", or none" if getattr(Settings(), key) is None else ""


def _said(key: str, text: str) -> Any:
    """Return what a text says for a key, before its type is looked at."""
    default = getattr(Settings(), key)
    if text.strip().lower() == "none" and default in (None, "", ()):
        return default
    if not isinstance(default, tuple):
        return text
    if text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise InvalidRequestError(f"{key}: {text!r} is no list of JSON") from None
    return [one for each in re.split(r"[,\n]", text) if (one := each.strip())]


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _state(session: Session, key: str) -> SettingState:
    now, by = fold_of(session).now()
    index = by.get(key)
    value, default = _json(getattr(now, key)), _json(getattr(Settings(), key))
    about = _ABOUT[key]["description"]
    if index is None:
        return SettingState(key=key, value=value, default=default, about=about)
    body = session.reader.at(index, include_forgotten=True).body
    envelope = session.reader.envelope(index)
    return SettingState(
        key=key,
        value=value,
        default=default,
        about=about,
        record=RecordId(envelope.id),
        signed_by=envelope.key,
        reason=body.reason if isinstance(body, EventBody) else None,
    )
