"""What is held of what was said, and why; and how the past looks through a lens."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from braid.log import drafts
from braid.writing import Writing

if TYPE_CHECKING:
    from braid.deciding import Conflict, Explained, Stance
    from braid.lens_definitions import Defined
    from braid.lens_views import Standing
    from braid.lensing import View


class Judging(Writing):
    """A store as whoever asks what holds sees it."""

    def stance(
        self,
        question: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        at: datetime | None = None,
        as_of: int | datetime | None = None,
        append: bool = True,
    ) -> "Stance":
        """Return what is held of a question: one claim, or undecided, with what was weighed and what would change it.

        `at`: when it should hold (else what the question says: "before September"; else now). `as_of`: as the log was
        with that record in it, or at that time. Appends the stance and the reconciliation that it is, superseding the
        stance before; where nothing that was weighed has changed, returns that one. `append=False` writes nothing.
        Raises ValueError, TypeError, ReadOnlyError, and what reading the log raises.
        """
        from braid.deciding import decide

        self.refresh()
        scope = drafts.scope(user_id, agent_id, run_id, session_id)
        if append:
            _ = self.writer
        return decide(self, question, scope, at=at, as_of=as_of, append=append)

    def stances(self, question: str | None = None, **scope: str | None) -> "list[Stance]":
        """Return the stances on a question, or on every one, oldest first, with what superseded each."""
        from braid.deciding import history

        self.refresh()
        return history(self, question, drafts.scope(**scope))

    def why(self, id: str) -> "Explained":
        """Return why a stance holds what it holds, or why what a record claims stands or doesn't, down to records.

        Raises ValueError for a record that claims nothing, and as `get`.
        """
        from braid.deciding import why

        self.refresh()
        return why(self, id)

    def contradictions(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        at: datetime | None = None,
        as_of: int | datetime | None = None,
    ) -> "list[Conflict]":
        """Return claims that exclude another while both hold, each with the one that came next, and which of the two
        has more for it now, or `at`: a chain of what followed what, not every pair.

        With `at` only those that both hold at that time; `as_of`: among what was known then.
        """
        from braid.deciding import find_contradictions

        self.refresh()
        return find_contradictions(
            self, drafts.scope(user_id, agent_id, run_id, session_id), at=at, as_of=as_of
        )

    def apply_lens(
        self,
        name: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        ids: Sequence[str] | None = None,
        version: str | None = None,
        params: Mapping[str, Any] | None = None,
        limit_s: float = 60.0,
    ) -> "View":
        """Return a lens's view of a scope's records (of all without one, or of those with these ids), and keep it.

        Where nothing has changed since the last one, that is returned and nothing is written; else what came since is
        read, and the new view supersedes it. Raises UnknownLensError, LensFailedError, ValueError, TypeError.
        """
        from braid.lens_definitions import lens_named
        from braid.lensing import apply_lens
        from braid.looking import request_of

        self.refresh()
        within = drafts.scope(user_id, agent_id, run_id, session_id)
        request = request_of(lens_named(self, name), within, params, ids)
        return apply_lens(self, request, version=version, limit_s=limit_s)

    def define_lens(self, definition: str) -> str:
        """Keep a lens that a TOML text defines (docs/lenses.md), as a signed record; return that record's id.

        The same text again writes nothing; a change needs a version above the newest. Raises DefinitionError (nothing
        was written), and what appending raises.
        """
        from braid.lens_definitions import define

        self.refresh()
        return define(self, definition)

    def lens_definitions(self) -> "dict[str, Defined]":
        """Return the newest definition of each lens that was defined here, by name."""
        from braid.lens_definitions import newest

        self.refresh()
        return newest(self)

    def lens_views(self) -> list[dict[str, Any]]:
        """Return every view that a lens made, oldest first, of all versions, with why it is stale."""
        from braid.lens_views import all_views

        self.refresh()
        return all_views(self)

    def lens_view(self, id: str, *, include_forgotten: bool = False) -> "View":
        """Return a view in full, with what it stands on, and why it is stale. Raises ViewUnreadableError, and as `get`;
        ForgottenError also when something that it rests on is forgotten."""
        from braid.lens_views import show

        self.refresh()
        return show(self, id, include_forgotten=include_forgotten)

    def lens_standings(self) -> "list[Standing]":
        """Return how each thing that was asked of a lens stands: its newest view, and why that is stale."""
        from braid.lens_views import standings

        self.refresh()
        return list(standings(self))

    def refresh_lenses(self, *ids: str, limit_s: float = 60.0) -> "list[View]":
        """Make these views anew (or all that are stale); return those that were appended. Errors as for
        `apply_lens`."""
        from braid.lens_views import refresh

        self.refresh()
        return refresh(self, ids, limit_s=limit_s)

    def lens_difference(self, one: str, other: str) -> dict[str, Any]:
        """Return what makes one view of another: items added and removed, records, weights."""
        from braid.lens_views import difference

        self.refresh()
        return difference(self, one, other)
