"""A store as an agent with a plan sees it: programs that are run, go on, and are told."""

from typing import TYPE_CHECKING, Any

from braid.answering import Answering
from braid.log import drafts

if TYPE_CHECKING:
    from braid.agent.events import Recorded
    from braid.agent.plan import Plan
    from braid.programs import Listed
    from braid.running import Program


class Programming(Answering):
    """A store as an agent with a plan sees it."""

    def program(
        self,
        question: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        plan: "Plan | str | None" = None,
        **how: Any,
    ) -> "Program":
        """Run a plan for a question until it has answered, or waits: each step is in the log before the next.

        `plan`: one, its JSON, a default's name (question, multihop, comparison, reckoning), or None for what fits.
        `how`: planner (a model that writes the plan), composer, tools, allow (permissions), samples (the majority of so
        many answers), now, affect, key (which makes repeating harmless). Raises PlanError before anything is written.
        """
        from braid.planning import start

        self.refresh()
        _ = self.writer
        scope = drafts.scope(user_id, agent_id, run_id, session_id)
        return start(self, question, scope, plan=plan, **how)

    def resume(self, id: str, **how: Any) -> "Program":
        """Go on with a program from its records, in this process or any other, on whatever day.

        `how`: result (what it waits for), again (a call that may have been made is made again), take_over (of a run on
        another machine), composer, tools, affect. Raises ProgramTakenError, ProgramStateError, ToolRefusedError.
        """
        from braid.planning import go_on

        self.refresh()
        _ = self.writer
        return go_on(self, id, **how)

    def programs(self) -> "list[Listed]":
        """Return every program, oldest first, and how it stands."""
        from braid.programs import listed

        self.refresh()
        return listed(self)

    def program_trace(self, id: str) -> "list[Recorded]":
        """Return what happened in a program, in order, each with its record and those that it came from."""
        from braid.programs import history

        self.refresh()
        return history(self, id)
