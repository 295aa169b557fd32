"""The signed settings of decisions, forgetting, emergencies, remembering and models: typed, each with its default.

Each change is a notice in the log (SPEC §3.5) with who signed it and why; the newest of a key counts. What this release
can't read in one is passed over.
"""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from braid.caller import Caller
from braid.errors import FrozenError
from braid.notices import notice_count, notices

if TYPE_CHECKING:
    from braid.operation import Access
    from braid.session import Session

EVENT: Final = "setting"
Phase = Literal["shadow", "add_only", "full"]
Mode = Literal["sync", "async", "auto"]
Tier = Literal["small", "larger"]
_MODEL: Final = r"^(?!.*//[^/]*@)(?:|(?:ollama|anthropic):\S+|openai:https?://\S+#\S+)$"
_HOST: Final = r"^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+)$"
ModelName = Annotated[str, Meta(max_length=300, pattern=_MODEL)]
"""As `--model` takes it; empty for none. A name or password before an address's host is refused."""
_BY_ITSELF: Final = ("autonomous", "model")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every key with its type and its default."""

    phase: Annotated[
        Phase,
        Meta(
            description="How far decisions go that no person made; full once enough of them were judged right."
        ),
    ] = "shadow"
    allow_update_delete: Annotated[
        bool, Meta(description="Whether such decisions may update and delete, once the phase is full.")
    ] = False
    canary_share: Annotated[
        float, Meta(ge=0, le=1, description="For which share of the users decisions are carried out.")
    ] = 0.1
    mutations_frozen: Annotated[
        bool, Meta(description="Nobody modifies, corrects or forgets; recover and erase go on.")
    ] = False
    freeze_on_alarm: Annotated[
        bool, Meta(description="A caller who changes or forgets too much in a minute sets mutations_frozen.")
    ] = False
    autonomous_frozen: Annotated[
        bool, Meta(description="Callers that act by themselves (autonomous, model) can only read.")
    ] = False
    forget_dry_run_only: Annotated[
        bool, Meta(description="Forgetting by query shows what is meant, and does no more.")
    ] = False
    forget_confirm_above: Annotated[
        int,
        Meta(ge=0, le=100, description="Above so many, who forgets by query says how many they are."),
    ] = 10
    forget_max: Annotated[
        int, Meta(ge=1, le=100, description="So many are forgotten by one query at most.")
    ] = 100
    forget_pinned: Annotated[
        Literal["force", "never"],
        Meta(description="Whether an operator can forget what is pinned, with force."),
    ] = "force"
    remember_mode: Annotated[Mode, Meta(description="How remember works where the call doesn't say.")] = (
        "auto"
    )
    remember_auto_ms: Annotated[
        int, Meta(ge=1, le=60_000, description="How long remember reads in mode auto.")
    ] = 2_000
    remember_sync_ms: Annotated[
        int, Meta(ge=1, le=60_000, description="How long remember reads in mode sync.")
    ] = 30_000
    dedup: Annotated[bool, Meta(description="What a living memory says already is not added once more.")] = (
        True
    )
    history_days: Annotated[
        Annotated[int, Meta(ge=1, le=36_525)] | None,
        Meta(description="After so many days retain erases what was corrected; none: it is kept for ever."),
    ] = None
    jobs_days: Annotated[
        int, Meta(ge=1, le=14, description="After so many days retain drops jobs that are done.")
    ] = 14
    dead_days: Annotated[
        int, Meta(ge=1, le=30, description="After so many days retain discards jobs that are dead.")
    ] = 30
    consolidation_hours: Annotated[
        int, Meta(ge=1, le=8_760, description="After so many hours what waits in staging is reviewed again.")
    ] = 6
    job_attempts: Annotated[
        int, Meta(ge=1, le=4, description="How often a job is tried before it is dead.")
    ] = 4
    model_timeout_s: Annotated[
        int, Meta(ge=1, le=600, description="How long a model may take for one answer, in seconds.")
    ] = 120
    provider_preferred: Annotated[
        ModelName, Meta(description="The model that reads sessions where no command names one.")
    ] = ""
    provider_second: Annotated[
        ModelName, Meta(description="The model that is asked where the first one fails or is left in peace.")
    ] = ""
    provider_larger: Annotated[
        ModelName, Meta(description="The larger model, asked where the first one is unsure.")
    ] = ""
    local_only: Annotated[
        bool, Meta(description="Nothing goes to a model that is not on this machine or at a private address.")
    ] = True
    remote_hosts: Annotated[
        tuple[Annotated[str, Meta(max_length=253, pattern=_HOST)], ...],
        Meta(max_length=50, description="Hosts that models may be asked at once local_only is false."),
    ] = ()
    redacted_terms: Annotated[
        tuple[Annotated[str, Meta(min_length=2, max_length=200)], ...],
        Meta(max_length=500, description="Words that no model is shown: a placeholder stands for each."),
    ] = ()
    tokens_small: Annotated[
        Annotated[int, Meta(ge=0, le=2**53)] | None,
        Meta(description="How many tokens the small models may take in a day (UTC); none: no limit."),
    ] = None
    tokens_larger: Annotated[
        Annotated[int, Meta(ge=0, le=2**53)] | None,
        Meta(description="How many tokens the larger model may take in a day (UTC); none: no limit."),
    ] = None


class SettingsFold:
    """The settings of one store; looks again when the log has more that may say so. Safe between threads."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._known: tuple[int, Settings, dict[str, int]] = (-1, Settings(), {})

    def now(self) -> tuple[Settings, dict[str, int]]:
        """Return what is set, and by which record each key was."""
        count, known, by = self._known
        if (held := notice_count(self._session)) != count:
            said: dict[str, Any] = {}
            by = {}
            for index, body in notices(self._session, EVENT):
                key: Any = body.data.get("key")
                value: Any = body.data.get("value")
                if fits({**said, key: value}):
                    said[key], by[key] = value, index
            known = msgspec.convert(said, Settings)
            self._known = (held, known, by)
        return known, by


def fits(said: dict[Any, Any]) -> bool:
    """Whether these keys and values can be set together."""
    try:
        msgspec.convert(said, Settings)
    except msgspec.ValidationError:
        return False
    return True


def settings(session: "Session") -> Settings:
    """Return what is set in the log as the session has followed it."""
    return fold_of(session).now()[0]


def fold_of(session: "Session") -> SettingsFold:
    """Return the fold of a session's settings, kept while it is open."""
    return session.kept(SettingsFold, lambda: SettingsFold(session))


def require_unfrozen(
    session: "Session", access: "Access", caller: Caller | None, what: str, *, reads: bool = False
) -> None:
    """Raise FrozenError where a setting stops this. `reads`: it may read alone, such as a preview."""
    mutates = access == "modify" or (access == "forget" and not reads)
    by_itself = caller is not None and caller.kind in _BY_ITSELF
    if access == "read" or not (mutates or by_itself):
        return
    session.refresh()  # another process may have set it
    now = settings(session)
    if mutates and now.mutations_frozen:
        raise FrozenError(
            f"{what} would change a memory, and mutations_frozen is set: an operator sets it back to false"
        )
    if by_itself and now.autonomous_frozen:
        raise FrozenError(f"{what} is asked by a caller of its own accord, and autonomous_frozen is set")
