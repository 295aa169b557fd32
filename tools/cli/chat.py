"""`braid chat`: talking to a memory in the terminal: it remembers, answers with sources, corrects, and forgets."""

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from braid.tools.cli.access import braid_again, writing
from braid.tools.cli.chat_changes import Changes
from braid.tools.cli.chat_lines import Lines, Read, is_reply
from braid.tools.cli.errors import explain
from braid.tools.cli.models import AllowRemote, ChatOption, composer_of
from braid.tools.cli.options import Adopt, AgentId, ProjectId, RunId, SessionId, Shared, StoreOption, UserId
from braid.tools.cli.output import line, put, say

if TYPE_CHECKING:
    from braid.agent.composer import Composer
    from braid.answers.reply import Reply
    from braid.store import Store

PANEL = "Read"
_HELP: Final = """\
/why       why the last answer is held, down to the records
/sources   the records that it rests on
/quit      leave (so does Ctrl-D)
Say what is to be remembered, or ask. "No, I meant …" and "it's NEW, not OLD" put right, "move X to NEW" changes;
"forget that", "take out the note saying …" and "drop anything about …" hide, after asking;
"forget everything" names the command that erases it."""
_MOST_SHOWN: Final = 10
_NAMELESS: Final = "user"
"""The speaker of what somebody without a name said."""


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
        self._lines = Lines(read)
        self._changes = Changes(store, whose, tell=self._tell, lines=self._lines, braid=braid)
        self._answer: Reply | None = None
        self._about: str | None = None
        """What the line before told, or rests on of the speaker's own: what a bare "no, …" is about."""
        self._answered_by: str | None = None
        """What was answered by it, in the fewest words, where the line before asked."""

    def go(self) -> None:
        """Take one line after the other until the input ends; a line that fails is told of, and the next one taken."""
        from braid.views.errors import ViewError

        while True:
            try:
                text = self._lines.line()
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
        from braid.agent.request.wish import wish

        if text.startswith("/"):
            self._command(text)
            return
        if self._changes.chosen(text) or self._goes_on(text):
            return
        wanted = wish(text)
        if wanted.asked is not None:
            self._changes.carry_out(wanted.asked, text)
            return
        if wanted.kind in ("tell", "ask") and self._changes.aim(text):
            return
        if wanted.kind == "perhaps_meant":
            self._perhaps_meant(wanted.text, text)
            return
        if wanted.told:
            self._tell(wanted.told)
        {
            "tell": self._tell,
            "ask": self._ask,
            "how": self._how,
            "meant": self._changes.meant,
            "forget_all": self._changes.forget_all,
        }[wanted.kind](wanted.text)

    def _goes_on(self, text: str) -> bool:
        """Take a line that is nothing by itself, but with what came before it; return whether it was one."""
        from braid.agent.answer.question.followup import follows
        from braid.agent.answer.wording.provenance import asks_how

        if is_reply(text):
            put("Nothing was asked that this answers, so nothing was remembered.")
            return True
        if self._answer is None or not follows(text) or asks_how(text):
            return False
        self._ask(text)
        return True

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
        self._changes.told = self._store.remember([said], session_id=self._session_id, **self._whose)[-1]
        self._about, self._answered_by = self._changes.told, None
        put("Noted.")

    def _perhaps_meant(self, right: str, text: str) -> None:
        """Put right what the line before said. Kept as it is, "no, 10" would be read as what anything else is now."""
        if self._about is None or not self._changes.perhaps_meant(self._about, right, self._answered_by):
            put(
                f"It isn't clear what {line(text)!r} puts right, so nothing was remembered: say it as a sentence."
            )

    def _ask(self, question: str) -> None:
        from braid.agent.answer.question.followup import follows
        from braid.agent.cite import numbered

        last = self._answer.answer_id if self._answer is not None and follows(question) else None
        found = self._store.ask(question, composer=self._composer, after=last, **self._whose)
        self._answer = found
        first = next(iter(found.citations), None)
        self._answered_by = found.short
        self._about = (
            str(first.id) if first is not None and first.speaker == (self._name or _NAMELESS) else None
        )
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
