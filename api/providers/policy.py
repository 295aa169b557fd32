"""Whether a model may be asked: the signed settings are a ceiling, and whoever builds a far model consents besides."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from braid.errors import RemoteModelError
from braid.settings import Settings, Tier, settings
from braid.text.chat import host_of

if TYPE_CHECKING:
    from braid.session import Session
    from braid.text.chat import ChatModel

WARN_AT: Final = 0.9
"""From this share of a day's tokens on it is said that they run out."""


def refusal_of(model: "ChatModel", now: Settings) -> str | None:
    """Return why the settings keep a model from being asked; None where they don't."""
    return refusal_of_host(host_of(model), now) if model.remote else None


def refusal_of_host(host: str | None, now: Settings) -> str | None:
    """Return why the settings keep a host that is far away from being asked; None where they don't."""
    if now.local_only:
        return f"{host or 'it'} is not on this machine, and local_only is set"
    if host is None or host not in {one.lower() for one in now.remote_hosts}:
        return f"{host or 'it'} is not on this machine, and is none of remote_hosts"
    return None


def require_allowed(session: "Session", models: "Sequence[ChatModel | None]") -> None:
    """Raise RemoteModelError where the settings keep one of these from being asked."""
    now = settings(session)
    for model in models:
        if model is not None and (why := refusal_of(model, now)) is not None:
            raise RemoteModelError(f"{why}: nothing was sent")


def budget_of(now: Settings, tier: Tier) -> int | None:
    """Return how many tokens a tier may take in a day; None for no limit."""
    return now.tokens_small if tier == "small" else now.tokens_larger
