"""`braid chat`: talking to a memory in the terminal: it remembers, answers with sources, corrects, and forgets."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from braid.tools.cli.access import braid_again, writing
from braid.tools.cli.errors import explain
from braid.tools.cli.models import AllowRemote, ChatOption, composer_of
from braid.tools.cli.options import Adopt, AgentId, ProjectId, RunId, SessionId, Shared, StoreOption, UserId
from braid.tools.cli.output import line, many, put, say

if TYPE_CHECKING:
    from braid.agent.composer import Composer
    from braid.answers.reply import Reply
    from braid.memories.operations import Meant
    from braid.store import Store

PANEL = "Read"
Read = Callable[[str], str]
"""Prompt → what was typed; raises EOFError at the end and KeyboardInterrupt for Ctrl-C."""
_HELP: Final = """\
/why       why the last answer is held, down to the records
/sources   the records that it rests on
/quit      leave (so does Ctrl-D)
Say what is to be remembered, or ask. "No, I meant …" and "it's NEW, not OLD" put right;
"forget that", "forget that I …" and "forget what I said about …" hide, after asking;
"forget everything" names the command that erases it."""
_MOST_SHOWN: Final = 10


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel=PANEL)(chat)


def chat(
    *,
    name: Annotated[
        str | None, typer.Option("--name", help="What you are called.", show_default=False)
    ] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Talk to a memory: it remembers what is told, answers with its sources, puts right, and forgets when told.

    A line that asks is answered as by `braid ask`; any other is remembered and read. "No, I meant …" puts the last
    thing right; "forget that" and "forget what I said about …" hide, after asking; "how do you know that?", /why and
    /sources tell where an answer is from. Lines may come from a pipe. What is typed is kept in the store alone.

    \b
    Examples:
      braid chat --user-id maya --name Maya
      echo "Where does Jonas live?" | braid chat --user-id jonas
      braid chat --model ollama:llama3.2
    """
    composer = composer_of(model, allow_remote=allow_remote)
    with writing(store, adopt=adopt, shared=shared) as opened:
        whose = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "project_id": project_id}
        Conversation(
            opened,
            whose,
            session_id=session_id,
            name=name,
            composer=composer,
            read=_reader(),
            braid=braid_again(store),
        ).go()


def _reader() -> Read:
    """Return what reads a line: prompt_toolkit where it is installed, else `input`; a pipe's lines as they come.

    Neither keeps a history: what is told must not outlive its erasure in another file.
    """
    if not sys.stdin.isatty():
        return _piped
    say("tell it something, or ask; /help says more, Ctrl-D leaves")
    try:
        from prompt_toolkit import PromptSession
    except ModuleNotFoundError:
        return input
    session: PromptSession[str] = PromptSession()
    return session.prompt


def _piped(prompt: str) -> str:
    del prompt
    if not (raw := sys.stdin.buffer.readline()):
        raise EOFError
    return raw.decode(errors="replace")


class Conversation:
    """One conversation: the last thing told, and the last answer, are what "that" means."""

    def __init__(
        self,
        store: "Store",
        whose: dict[str, Any],
        *,
        session_id: str | None,
        name: str | None,
        composer: "Composer | None",
        read: Read = input,
        braid: str = "braid",
    ) -> None:
        """`braid`: how a command on the same store begins."""
        self._store = store
        self._whose = whose
        self._session_id = session_id
        self._name = name
        self._composer = composer
        self._read = read
        self._braid = braid
        self._told: str | None = None
        self._answer: Reply | None = None

    def go(self) -> None:
        """Take one line after the other until the input ends; a line that fails is told of, and the next one taken."""
        from braid.views.errors import ViewError

        while True:
            try:
                text = self._read("> ").strip()
            except EOFError:
                return
            except KeyboardInterrupt:
                continue
            if text in ("/quit", "/exit"):
                return
            if not text:
                continue
            try:
                self._turn(text)
            except KeyboardInterrupt:
                say("stopped")
            except (ValueError, LookupError, OSError, ViewError) as error:
                say(*explain(error))
            sys.stdout.flush()

    def _turn(self, text: str) -> None:
        from braid.agent.answer.question.followup import follows
        from braid.agent.answer.question.wish import wish
        from braid.agent.answer.wording.provenance import asks_how

        if text.startswith("/"):
            self._command(text)
            return
        if self._answer is not None and follows(text) and not asks_how(text):
            self._ask(text)
            return
        wanted = wish(text)
        if wanted.told:
            self._tell(wanted.told)
        {
            "tell": self._tell,
            "ask": self._ask,
            "how": self._how,
            "correct": self._correct,
            "put_right": self._put_right,
            "forget_last": self._forget_last,
            "forget_about": self._forget_about,
            "forget_that": self._forget_that,
            "forget_all": self._forget_all,
        }[wanted.kind](wanted.text)

    def _command(self, text: str) -> None:
        if text == "/help":
            put(_HELP)
        elif text == "/why":
            self._why()
        elif text == "/sources":
            self._sources()
        else:
            raise ValueError(f"there is no command {text!r}; there are /why, /sources, /help and /quit")

    # -- telling and asking -----------------------------------------------------------------------

    def _tell(self, text: str) -> None:
        said: dict[str, Any] = {"role": "user", "content": text, "name": self._name}
        self._told = self._store.remember([said], session_id=self._session_id, **self._whose)[-1]
        put("Noted.")

    def _ask(self, question: str) -> None:
        from braid.agent.answer.question.followup import follows
        from braid.agent.cite import numbered

        last = self._answer.answer_id if self._answer is not None and follows(question) else None
        found = self._store.ask(question, composer=self._composer, after=last, **self._whose)
        self._answer = found
        put(line(numbered(found.text)[0]))
        if found.citations:
            self._sources()
        if found.fallback:
            say(f"the model's answer was not taken ({found.fallback}); this one is put together from memory")

    def _sources(self) -> None:
        from braid.agent.cite import cited

        found = self._answered()
        known = {str(one.id): one for one in found.citations}
        if not known:
            put("It rests on nothing that is remembered.")
        for number, id in enumerate([*dict.fromkeys([*cited(found.text), *known])], 1):
            one = known[id]
            put(f"  [{number}] {one.when:%Y-%m-%d}  {id}  {line(f'{one.speaker}: {one.text}')[:160]}")

    def _how(self, text: str) -> None:
        del text
        id = self._answered().answer_id
        put(line(self._store.explain_provenance(str(id))))

    def _why(self) -> None:
        found = self._answered()
        if found.stance is None:
            self._how("")
            return
        for each in self._store.why(found.stance).lines():
            put(line(each))

    def _answered(self) -> "Reply":
        if self._answer is None:
            raise ValueError("nothing has been answered yet: ask something first")
        return self._answer

    # -- putting right, forgetting ----------------------------------------------------------------

    def _correct(self, right: str) -> None:
        from braid.agent.answer.question.wish import replaced, righted

        instead = replaced(right)
        if self._told is None and instead is None:
            raise ValueError("you have said nothing yet that could be put right: say it as a whole sentence")
        before = self._store.get(self._told).text if self._told is not None else ""
        if instead is not None and before.lower().count(instead[1].lower()) != 1:
            self._correct_earlier(*instead)
            return
        meant = righted(before, right, self._object(self._told)) if self._told is not None else None
        if self._told is None or meant is None:
            raise ValueError(
                "what is to be put right isn't clear: say “I meant NEW, not OLD”, or a whole sentence"
            )
        self._told = self._store.correct(self._told, meant, reason="said in a chat")
        self._store.learn()
        put(line(f"Put right: “{meant}” stands in place of “{before}”"))

    def _put_right(self, text: str) -> None:
        """Put right what "it's Faro, not Porto" denies, where that was said; else it is something told."""
        from braid.agent.answer.question.wish import replaced

        instead = replaced(text)
        if instead is None:
            self._tell(text)
            return
        new, wrong = instead
        before = self._store.get(self._told).text if self._told is not None else ""
        if before.lower().count(wrong.lower()) == 1 or self._saying(wrong):
            self._correct(f"{new}, not {wrong}")
        else:
            self._tell(text)

    def _saying(self, wrong: str) -> "list[Meant]":
        from braid.text.wording import says

        return [one for one in self._meant(wrong) if says(one.text, wrong)]

    def _correct_earlier(self, new: str, wrong: str) -> None:
        """Put right what was said before this conversation, after asking; of several, none: they are shown."""
        from braid.agent.answer.question.wish import righted

        found = self._saying(wrong)
        if len(found) > 1:
            put("Several say that; tell which, as a whole sentence:")
            self._list([one.id for one in found])
            return
        meant = righted(found[0].text, f"{new}, not {wrong}", None) if found else None
        if meant is None:
            raise ValueError(f"nothing that is remembered says {wrong!r} once: say it as a whole sentence")
        put(line(f"Put “{meant}” in place of “{found[0].text}”? yes or no"))
        if self._answered_yes():
            self._store.modify(found[0].id, text=meant, reason="said in a chat", if_version=found[0].version)
            self._store.learn()
            put("Put right.")
        else:
            put("Kept.")

    def _meant(self, what: str) -> "Sequence[Meant]":
        from braid.memories.operations import MOST_SHOWN

        return self._store.preview_forget(what, match="topic", limit=MOST_SHOWN, **self._whose).memories

    def _answered_yes(self) -> bool:
        sys.stdout.flush()
        with suppress(EOFError, KeyboardInterrupt):
            return self._read("yes or no> ").strip().lower() in ("y", "yes")
        return False

    def _object(self, id: str) -> str | None:
        """Return what a turn states, where that is one thing: the object of the one claim that was read of it."""
        from braid.ledger.record.record import ExperienceBody

        children = self._store.trace(id, up=False, depth=1).down
        bodies = [
            self._store.get(node.id).body
            for node in children
            if node.role == "parent" and node.kind == "experience"
        ]
        claims = [claim for body in bodies if isinstance(body, ExperienceBody) for claim in body.symbolic]
        return claims[0].object if len(claims) == 1 else None

    def _forget_last(self, text: str) -> None:
        del text
        if self._told is None:
            raise ValueError("you have said nothing yet that could be forgotten: say what it was about")
        record, hidden = self._store.get(self._told), self._store.reader.control.hidden
        put_right = [link.id for link in record.targets("supersedes") if link.index not in hidden]
        if self._forget([self._told, *put_right], ""):
            self._told = None

    def _forget_about(self, what: str) -> None:
        """Hide what has every telling word of a topic: one that has only some of them is about something else."""
        meant = [one.id for one in self._meant(what)]
        if not meant:
            put(line(f"Nothing that is remembered speaks of {what}."))
            return
        self._forget(meant, what)

    def _forget_that(self, what: str) -> None:
        """Hide what states just this. What only comes near is shown and stays."""
        from braid.memories.operations import MOST_SHOWN

        found = self._store.preview_forget(what, limit=MOST_SHOWN, **self._whose)
        meant = [one.id for one in found.memories]
        if not meant:
            put(line(f"Nothing that is remembered says that {what}."))
        elif found.near:
            put("Nothing says just that. This comes near; say it in its words to forget it:")
            self._list(meant)
        else:
            self._forget(meant, what)

    def _forget_all(self, text: str) -> None:
        """Hide nothing: so much goes by a command that shows it first."""
        del text
        whose = " ".join(
            f"--where {quote(f'{name}={value}')}" for name, value in self._whose.items() if value
        )
        how = (
            f"`{self._braid} erase {whose} --dry-run` shows all that is kept; without --dry-run it is erased for good"
            if whose
            else "`braid erase --help` says how all of somebody is erased"
        )
        raise ValueError(f"a chat forgets some things at a time, and nothing was forgotten. {how}")

    def _forget(self, ids: "Sequence[str]", about: str) -> bool:
        """Show what would be hidden, ask, and hide it; return whether it was.

        With it go the answers that quote it, and the questions that say it again, unless `only` is answered.
        """
        again = self._saying_again(ids, about)
        self._list(ids)
        if again:
            put("What you asked says it again:")
            self._list(again)
        quoting = [id for id in dict.fromkeys(self._quoting([*ids, *again])) if id not in ids]
        also = f", and {many(len(quoting), 'answer')} from it" if quoting else ""
        count = len(ids) + len(again)
        choice = "yes or no" if not again else "yes, no, or only what you told"
        put(f"Forget {'this' if count == 1 else f'these {count}'}{also}? {choice}")
        sys.stdout.flush()
        said = ""
        with suppress(EOFError, KeyboardInterrupt):
            said = self._read(f"{choice}> ").strip().lower()
        if said in ("only", "only what i told", "only what you told") and again:
            self._hide(ids, self._quoting(ids))
            put("What you asked was kept: it says it again.")
            return True
        if said not in ("y", "yes"):
            put("Kept.")
            return False
        self._hide([*ids, *again], quoting)
        return True

    def _list(self, ids: "Sequence[str]") -> None:
        for id in ids[:_MOST_SHOWN]:
            record = self._store.get(id)
            put(f"  {(record.body.occurred_at or record.created_at):%Y-%m-%d}  {line(record.text)[:160]}")
        if len(ids) > _MOST_SHOWN:
            put(f"  … and {len(ids) - _MOST_SHOWN} more")

    def _hide(self, ids: "Sequence[str]", quoting: list[str]) -> None:
        self._store.forget(*dict.fromkeys([*ids, *quoting]), reason="asked for in a chat")
        days = self._store.reader.control.retention_days
        put(
            f"Forgotten. `braid recover` brings it back within {many(days, 'day')}; then `braid retain` erases it."
        )

    def _saying_again(self, ids: "Sequence[str]", about: str) -> list[str]:
        """Return the questions that were asked of this memory and give away what these records say."""
        from braid.agent.answer.pipeline import TOP_K
        from braid.agent.answer.question.wish import says_again
        from braid.ledger.record.record import ASK
        from braid.search.question import Question
        from braid.search.retrieval import find

        told = [self._store.get(id).text for id in ids[:_MOST_SHOWN]]
        asked: dict[str, str] = {}
        for query in (*told, about):
            if query.strip():
                wanted = Question(query=query, top_k=TOP_K, filters={"method": {"eq": ASK}}, **self._whose)
                hits = find(self._store.session, wanted).results
                asked |= {hit.id: hit.text for hit in hits}
        return [
            id
            for id, text in asked.items()
            if id not in ids and any(says_again(text, each, about) for each in told)
        ]

    def _quoting(self, ids: "Sequence[str]") -> list[str]:
        """Return the answers that cite these records."""
        from braid.ledger.record.record import ExperienceBody

        found = [node for id in ids for node in self._store.trace(id, up=False, depth=1).down]
        living = [
            self._store.get(node.id)
            for node in found
            if node.role == "evidence" and not (node.forgotten or node.erased)
        ]
        return [
            record.id
            for record in living
            if isinstance(record.body, ExperienceBody) and record.body.provenance.method == "answer"
        ]
