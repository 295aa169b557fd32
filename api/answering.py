"""What a memory is for: the records that fit a question, a prompt's block of them, a cited answer, a tone."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from braid import recalling
from braid.log import drafts
from braid.reading import Reading

if TYPE_CHECKING:
    from braid.agent.parts import Composer
    from braid.asking import Answer as Reply


class Answering(Reading):
    """A store as an agent with a question sees it."""

    def recall(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        top_k: int = 10,
        filters: Mapping[str, Any] | None = None,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        affect: Mapping[str, Any] | None = None,
        explain: bool = False,
        prove: bool = False,
        stance: bool = False,
        **how: Any,
    ) -> dict[str, Any]:
        """Return the records that fit a question, best first: `{"results": [{"id", "index", "text", "score", …}], …}`.

        Scopes bind every way in. `filters`: `{"type": {"eq": "observation"}}` with eq, ne, in, gt, gte, lt, lte,
        contains, joined by AND, OR, NOT. `as_of`: as the log was with that record in it, or at that time.
        `valid_at`: only what had happened by then, less what has been superseded. `affect`: `{"v", "a", "d"}` and
        maybe `"within"`; tone has a say only then. `explain` adds what each signal gave, `prove` an offline
        proof, `stance` what is held of the question (as `Store.stance`; nothing is appended; None where the question is
        empty, or what it rests on can't be had in time). `how`: now, uncertainty, cross_encoder, lens, limit_s,
        index_s, decomposer. What couldn't be asked in time is told in `degraded`.
        Raises ValueError and TypeError for what can't be meant, IntegrityError.
        """
        from braid.claims.decision import decide
        from braid.recalling import LOCK_S
        from braid.views.errors import ViewError, told

        scope = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "session_id": session_id}
        asked: dict[str, Any] = scope | {"top_k": top_k, "filters": filters, "affect": affect} | how
        sent = recalling.answer(self, query, as_of=as_of, valid_at=valid_at, prove=prove, **asked).wire(
            explain=explain
        )
        if stance and query.strip():
            try:
                with suppress(OSError):  # where it can't be made, whoever needs it says so
                    self.views.catalog.follow_within(how.get("limit_s", 5.0), LOCK_S)
                held = decide(self, query, drafts.scope(**scope), at=valid_at, as_of=as_of, append=False)
                sent["stance"] = msgspec.to_builtins(held)
            except ViewError as error:
                sent["stance"] = None
                sent["degraded"].append(f"stance: it was not looked for: {told(error)}")
        elif stance:  # an empty question is legal here, and nothing is held of it
            sent["stance"] = None
        return sent

    def context(
        self,
        query: str,
        *,
        budget: int = 800,
        probe: str | None = None,
        top_k: int = 30,
        clear: bool = False,
        **asked: Any,
    ) -> str:
        """Return the `<experience_context>` block for a question, at most `budget` tokens by a cautious estimate.

        Stored text in it is data: escaped, fenced, every line with the id that it comes from. `probe`: a question that
        waits to be asked, for which room is kept. Keys, passwords, codes and card numbers are placeholders, as `ask`
        gives them to a model; `clear` leaves them. The rest as for `recall`.
        """
        from braid.agent.redact import Redactor
        from braid.recall.context import block
        from braid.recall.decompose import decompose
        from braid.recalling import is_count, now_of

        if not is_count(budget):
            raise ValueError(f"budget is a whole number of tokens, at least 1, not {budget!r}")
        answer = recalling.answer(self, query, top_k=top_k, **asked)
        now = asked.get("now") or now_of(self, asked.get("as_of"), asked.get("valid_at"))
        question = (asked.get("decomposer") or decompose)(query, now)
        redact = str if clear else Redactor().redact
        return block(question, answer, now, budget=budget, probe=probe, redact=redact)

    def ask(
        self,
        question: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        as_of: int | datetime | None = None,
        composer: "Composer | None" = None,
        affect: bool = True,
        write: bool = True,
        **how: Any,
    ) -> "Reply":
        """Return an answer that cites the records it rests on, or says that it doesn't know.

        Without a `composer` it is put together from what is held and what was said; with one, that one writes it and
        this is what it falls back to. Tone shapes its manner alone (`affect=False`: not at all). Question, answer,
        tones, a new stance and a reflection enter the log in one transaction; `write=False` writes nothing. `how`: now,
        lens, top_k. Raises ValueError and TypeError for what can't be meant, IntegrityError, and what appending raises.
        """
        from braid.asking import ask

        self.refresh()
        if write:
            _ = self.writer
        scope = drafts.scope(user_id, agent_id, run_id, session_id)
        return ask(self, question, scope, as_of=as_of, composer=composer, affect=affect, write=write, **how)

    def how(self, id: str) -> str:
        """Return in two or three sentences how an answer, a stance or what a record says is known, by its links alone.

        Ids stand in brackets behind what they bear out. Raises ValueError for another kind of record, and as `get`.
        """
        from braid.agent.provenance import tell
        from braid.grounding import ground

        self.refresh()
        return tell(ground(self, id))
