"""The one place that knows how a store is opened, what its methods are called and where its files lie.

A scene says what is done and asks what is told; when the house is rebuilt, this module alone is written anew. Each
scene plays in a copy of one store that was made beforehand, by a clock of its own.
"""

import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

import braid
from braid.exchange.lines import export_jsonl
from braid.exchange.subject import export_subject
from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody, Provenance
from braid.lenses.errors import LensError
from braid.log.drafts import scope
from braid.store import Store
from braid.tools.cli.chat import Conversation
from braid.tools.cli.intake import Intake
from braid.tools.cli.main import app
from braid.tools.cli.progress import progress
from braid.tools.cli.sources import open_source
from braid.views.duck.sql import Sandbox

BEGIN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""When every scene begins: a Monday."""
WHO: Final[Mapping[str, Any]] = {"user_id": "maya"}
NAME: Final = "Maya"
PATIENT: Final[Mapping[str, Any]] = {"limit_s": 60.0, "index_s": 60.0}
"""A busy machine must not change what is told."""


@dataclass(frozen=True)
class Line:
    """One thing that was told, by whatever door; `by` is the id of what replaced it, where it is marked so."""

    text: str
    by: str | None = None
    id: str | None = None


@dataclass
class Clock:
    """A clock that is told the time, and goes on by a millisecond whenever it is read."""

    at: datetime = BEGIN

    def __call__(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at


class SharedSandbox(Sandbox):
    """The process that runs SQL, one for all scenes: starting it costs as much as a scene. `end` ends it."""

    def close(self) -> None:
        """Keep it: the next store has other files."""

    def end(self) -> None:
        """End the process, with whatever file it has open."""
        super().close()


@dataclass
class Template:
    """A store that each scene begins with a copy of."""

    folder: Path
    until: datetime = field(default=BEGIN)
    sandbox: SharedSandbox = field(default_factory=SharedSandbox)

    def __post_init__(self) -> None:
        clock = Clock()
        with _opened(self.folder / "memory", self.folder / "guard", clock) as store:
            store.set_learning(health=True, finance=True)  # the scenes speak of both
            store.append("The museum opens at ten.", user_id="nobody", actor="system")
            store.recall("museum", **PATIENT)
            store.sql("SELECT 1")
        self.until = clock.at

    def copy(self, folder: Path) -> "World":
        """Return a world of its own."""
        for name in ("memory", "guard"):
            shutil.copytree(self.folder / name, folder / name)
        return World(folder, Clock(self.until), self.sandbox)


def _opened(path: Path, guard: Path, clock: Clock) -> Store:
    return braid.open(path, guard_dir=guard, clock=clock)


class World:
    """A store while a scene plays: `do` takes a step, `tell` asks a question through a door."""

    def __init__(self, folder: Path, clock: Clock, sandbox: SharedSandbox) -> None:
        self._folder = folder
        self._path = folder / "memory"
        self._clock = clock
        self._sandbox = sandbox
        self._ids: dict[str, str] = {}
        self._store: Store | None = None

    def close(self) -> None:
        """Close the store, if it is open."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def store(self) -> Store:
        """The store, opened when it is needed."""
        if self._store is None:
            self._store = _opened(self._path, self._folder / "guard", self._clock)
            self._store.views._sandboxes.kept = self._sandbox
        return self._store

    def id(self, name: str) -> str:
        """Return the record that a scene gave this name to."""
        return self._ids[name]

    # -- steps ------------------------------------------------------------------------------------

    def do(self, step: Mapping[str, Any]) -> None:
        """Take a step; what it wrote is known by the step's `as` from here on."""
        verb, given = next(iter(step.items()))
        rest = {name: value for name, value in step.items() if name not in (verb, "as")}
        id = getattr(self, f"_{verb}")(given, **rest)
        if "as" in step:
            self._ids[step["as"]] = id

    def _say(self, text: str, at: str | None = None, by: str = NAME, session: str | None = None) -> str:
        role = "assistant" if by == "assistant" else "user"
        said = {"role": role, "content": text} | ({} if role == "assistant" else {"name": by})
        said |= {"timestamp": _time(at).isoformat()} if at else {}
        return self.store.remember([said], session_id=session, **WHO)[-1]

    def _append(
        self, text: str, *, at: str | None = None, by: str = NAME, claim: str | None = None, key: str | None = None,
        parents: Sequence[str] = (), evidence: Sequence[str] = (),
    ) -> str:  # fmt: skip
        more: dict[str, Any] = {"occurred_at": _time(at)} if at else {}
        more |= {"name": by, "actor": "user"} if by not in ("assistant", "agent") else {"actor": "agent"}
        more |= {"idempotency_key": key} if key else {}
        if claim:
            subject, rel, object = claim.split(" | ")
            more["claims"] = [Claim(subject=subject, rel=rel, object=object, source_type="explicit")]
        more |= {"parents": [self.id(one) for one in parents]} if parents else {}
        more |= {"evidence": [self.id(one) for one in evidence]} if evidence else {}
        return self.store.append(text, **WHO, **more)

    def _ingest(self, turns: Sequence[Mapping[str, str]]) -> str:
        file = self._folder / f"turns-{self._clock():%H%M%S%f}.jsonl"
        lines = [{"role": "user", "name": NAME, **turn} for turn in turns]
        file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
        intake = Intake(self.store, lambda session: scope(session_id=session or None, **WHO))
        with open_source(str(file), None, {}) as opened, progress("") as bar:
            intake.take(opened, "turns", bar)
        self.store.learn()
        found = self.store.sql(
            "SELECT id FROM experiences WHERE text = ? ORDER BY log_index DESC LIMIT 1", [lines[0]["content"]]
        )
        return str(found.to_pylist()[0]["id"])

    def _correct(self, name: str, to: str) -> str:
        return self.store.correct(self.id(name), to)

    def _forget(self, names: Sequence[str]) -> None:
        self.store.forget(*map(self.id, names), only=True)

    def _forget_memory(self, names: Sequence[str]) -> None:
        self.store.forget(*map(self.id, names))

    def _recover(self, names: Sequence[str]) -> None:
        self.store.recover(*map(self.id, names))

    def _erase(self, names: Sequence[str]) -> None:
        self.store.erase(*map(self.id, names))

    def _merge(self, name: str, **other: str) -> str | None:
        return self.store.merge_entities(name, other["with"], **WHO).id

    def _split(self, name: str) -> str | None:
        return self.store.split_entity(name, **WHO).id

    def _learn(self, _: object) -> None:
        self.store.learn()

    def _reading(
        self,
        of: str,
        claim: str = "",
        *,
        by: str = "read:parse@1",
        staged: str = "",
        quote: str | None = None,
    ) -> str:
        """Append what a reader found in a turn: a claim, one that a gate let wait, or both."""
        made: list[dict[str, Any]] = [
            dict(zip(("subject", "rel", "object"), one.split(" | "), strict=True))
            for one in (claim, staged)
            if one
        ]
        waits = [made.pop() | {"why": "confidence"}] if staged else []
        body = ExperienceBody(
            content=Content(text=claim, structured={"staged": waits} if waits else {}),
            provenance=Provenance(actor="agent", method=by),
            symbolic=[Claim(**one, quote=quote) for one in made],
            scope=scope(**WHO),
        )
        draft = Draft(kind="experience", type="inference", body=body, links=[("parent", self.id(of))])
        return self.store.session.append_drafts([draft])[0].id

    def _retire(self, method: str) -> str:
        return self.store.retire_reader(method).id

    def _accept(self, name: str) -> str:
        return self.store.accept_staged(self.id(name)).id

    def _reject(self, name: str) -> str:
        return self.store.reject_staged(self.id(name)).id

    def _ask(self, question: str) -> str | None:
        return self.store.ask(question, **WHO).answer_id

    def _stance(self, question: str) -> str | None:
        return self.store.stance(question, **WHO).id

    def _lens(self, name: str) -> None:
        self.store.apply_lens(name, **WHO)

    def _program(self, question: str) -> None:
        self.store.run_program(question, **WHO)

    def _chat(self, lines: Sequence[str]) -> None:
        self._talked(lines)

    def _clock_(self, at: str) -> None:
        self._clock.at = _time(at)

    def _reopen(self, _: object) -> None:
        self.close()

    def _kill(self, step: Mapping[str, Any], at: str) -> None:
        """Take a step in a process of its own, and kill that at a failpoint."""
        self.close()
        done = subprocess.run(
            [sys.executable, "-c", f"from {__name__} import die; die()"],
            input=json.dumps([str(self._folder), self._clock().isoformat(), self._ids, step]),
            capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
            env={**os.environ, "BRAID_KILL_AT": at},
        )  # fmt: skip
        if done.returncode != -signal.SIGKILL:
            raise ValueError(f"{step} was not killed at {at}: {done.returncode} {done.stderr}")
        self._clock.at += timedelta(seconds=1)

    def _replay(self, name: str, *, from_scratch: bool = False) -> None:
        self.store.views.replay(None if name == "all" else name, from_scratch=from_scratch)

    def _drop(self, _: object) -> None:
        self.close()
        shutil.rmtree(self._path / "views")

    def _compact(self, _: object) -> None:
        self.store.compact()

    def _snapshot(self, _: object) -> None:
        self.store.snapshot()

    def _backup(self, name: str) -> None:
        self.store.backup(self._folder / name)

    def _restore(self, name: str) -> None:
        """Go on in a store restored from a backup, with the newest vault, as after the loss of the disk."""
        self.close()
        lost = self._path
        self._path = self._folder / f"restored-{name}"
        braid.restore(
            self._folder / name,
            self._path,
            vault=lost / "vault",
            keys=lost / "keys",
            guard_dir=self._folder / "guard",
        )
        shutil.rmtree(lost)

    # -- tampering --------------------------------------------------------------------------------

    def _tamper(self, file: str, **how: Any) -> None:
        """Edit a projection behind the store's back. SQL may name ids by `:name`, log indexes by `#name`."""
        self._sandbox.end()
        at = {name: self.store.reader.index_of(id) for name, id in self._ids.items() if id}
        self.close()
        if file == "catalog":
            self._tamper_catalog(at, **how)
        elif file == "duck":
            self._tamper_duck(at, **how)
        elif file == "lance":
            self._tamper_lance(at, **how)
        else:
            raise ValueError(f"there is no projection {file!r}")

    def _sql(self, at: Mapping[str, int], text: str) -> str:
        named = re.sub(r":(\w+)", lambda match: f"'{self._ids[match[1]]}'", text)
        return re.sub(r"#(\w+)", lambda match: str(at[match[1]]), named)

    def _tamper_catalog(self, at: Mapping[str, int], sql: str) -> None:
        with closing(sqlite3.connect(self._path / "views" / "catalog.sqlite")) as con:
            con.executescript(self._sql(at, sql))
            con.commit()

    def _tamper_duck(self, at: Mapping[str, int], sql: str) -> None:
        import duckdb

        for path in sorted((self._path / "views" / "duck").glob("*.duckdb")):
            with duckdb.connect(path) as con:
                con.execute(self._sql(at, sql))

    def _tamper_lance(
        self,
        at: Mapping[str, int],
        missing: str | None = None,
        flip: Mapping[str, str] | None = None,
        forge: Mapping[str, str] | None = None,
    ) -> None:
        import lancedb

        for folder in (self._path / "views" / "lance").glob("set-*"):
            table = lancedb.connect(folder).open_table("rows")
            if missing:
                table.delete(f"log_index = {at[missing]}")
            for name, text in (flip or {}).items():
                table.update(where=f"log_index = {at[name]}", values={"text": text})
            for name, text in (forge or {}).items():
                rows = table.search().where(f"log_index = {at[name]}").limit(1).to_arrow()
                forged = rows.to_pylist()[0] | {"text": text, "log_index": max(at.values()) + 100}
                table.add([{one: forged[one] for one in table.schema.names}])

    # -- doors ------------------------------------------------------------------------------------

    def tell(self, door: str, about: str, **how: Any) -> list[Line]:
        """Return what a door tells of a question."""
        doors: dict[str, Callable[..., Iterable[Line]]] = {
            "recall": self._by_recall, "context": self._by_context, "ask": self._by_ask, "chat": self._by_chat,
            "stance": self._by_stance, "history": self._by_history, "sql": self._by_sql, "lens": self._by_lens,
            "export": self._by_export, "log": self._by_log, "subject": self._by_subject,
            "program": self._by_program, "why": self._by_why, "verify": self._by_verify, "entity": self._by_entity,
            "about": self._by_about, "why_not_known": self._by_why_not_known,
        }  # fmt: skip
        return list(doors[door](about, **how))

    def _when(self, how: dict[str, Any]) -> dict[str, Any]:
        """Return how a question is bounded: `as_of` may be a record's name."""
        for name in ("valid_at", "now", "as_of"):
            if name in how:
                given = str(how[name])
                how[name] = self.store.reader.index_of(self.id(given)) if given in self._ids else _time(given)
        return how | {"user_id": how.pop("user", WHO["user_id"])}

    def _past(self, how: dict[str, Any]) -> dict[str, Any]:
        """Return how a question is bounded, its past by index or by time."""
        asked = self._when(how)
        if isinstance(asked.get("as_of"), datetime):
            asked["as_of_time"] = asked.pop("as_of")
        return asked

    def _by_recall(self, about: str, **how: Any) -> Iterable[Line]:
        for hit in self.store.recall(about, **self._past(how), **PATIENT).results:
            yield Line(hit.text, hit.superseded_by, hit.id)

    def _by_context(self, about: str, **how: Any) -> Iterable[Line]:
        block = self.store.context(about, clear=True, **self._past(how), **PATIENT)
        for attributes, text in re.findall(r"<memory ([^>]*)>(.*?)</memory>", block, re.DOTALL):
            named = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
            yield Line(text, named.get("superseded_by"), named.get("id"))

    def _by_ask(self, about: str, **how: Any) -> Iterable[Line]:
        found = self.store.ask(about, write=False, **self._past(how))
        yield Line("" if found.abstained else found.text)

    def _by_chat(self, about: str, lines: Sequence[str] = ()) -> Iterable[Line]:
        said = self._talked([*lines, about])
        yield Line("" if said.startswith("I don't know") else said)

    def _talked(self, lines: Sequence[str]) -> str:
        """Type these lines into a chat and return what it said to the last of them."""
        typed = iter(lines)
        said = list[str]()
        out = io.StringIO()

        def read(_: str) -> str:
            try:
                line = next(typed)
            except StopIteration:
                raise EOFError from None
            said[:] = [out.getvalue()]
            return line

        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            Conversation(self.store, dict(WHO), session_id=None, name=NAME, composer=None, read=read).go()
        return out.getvalue().removeprefix("".join(said))

    def _by_stance(self, about: str, **how: Any) -> Iterable[Line]:
        asked = self._when(how)
        if "valid_at" in asked:
            asked["at"] = asked.pop("valid_at")
        yield Line(self.store.stance(about, append=False, **asked).claim or "")

    def _by_history(self, about: str) -> Iterable[Line]:
        for one in self.store.stances(about or None, **WHO):
            yield Line(" | ".join([one.claim or "", *(each.claim for each in one.candidates)]))

    def _by_sql(self, about: str, sql: str = "SELECT text FROM experiences", **how: Any) -> Iterable[Line]:
        asked = self._when(how)
        del asked["user_id"]
        for row in self.store.sql(about or sql, **asked).to_pylist():
            yield Line(" | ".join(str(value) for value in row.values()))

    def _by_lens(self, about: str, lens: str) -> Iterable[Line]:
        try:
            view = self.store.apply_lens(lens, **WHO)
        except LensError as error:
            if "there is nothing" not in str(error):
                raise
            return
        yield Line(view.text)
        for item in view.items:
            yield Line(json.dumps(msgspec.to_builtins(item), ensure_ascii=False))

    def _by_entity(self, about: str, **how: Any) -> Iterable[Line]:
        try:
            found = self.store.entity(about, **self._past(how))
        except ValueError as error:
            if "no entity" not in str(error):
                raise
            return
        yield Line(" | ".join(found.names))
        for fact in (*found.relations, *found.facts):
            yield Line(f"{fact.subject} {fact.rel} {fact.object}")

    def _by_export(self, about: str) -> Iterable[Line]:
        out = io.StringIO()
        export_jsonl(self.store, out)
        return [Line(one) for one in out.getvalue().splitlines()]

    def _by_log(self, about: str) -> Iterable[Line]:
        return [Line(json.dumps(row)) for row in json.loads(self._command("log", "-n", "0", "-o", "json"))]

    def _by_subject(self, about: str) -> Iterable[Line]:
        """Yield what a person is given who asks what is held about them, record by record, with its state."""
        dest = self._folder / f"subject-{self._clock():%H%M%S%f}"
        export_subject(self.store, dest, WHO, now=self._clock())
        given = json.loads((dest / "records.json").read_text("utf-8"))
        return [Line(json.dumps(one, ensure_ascii=False)) for one in given["records"]]

    def _by_program(self, about: str) -> Iterable[Line]:
        answer = self.store.run_program(about, **WHO).answer
        yield Line("" if answer is None or answer.abstained else answer.text)

    def _by_about(self, about: str, **how: Any) -> Iterable[Line]:
        asked = self._past(how)
        if "valid_at" in asked:
            asked["at"] = asked.pop("valid_at")
        for one in self.store.about(about, **asked):
            yield Line(one.says, None, one.id)

    def _by_why_not_known(self, about: str) -> Iterable[Line]:
        found = self.store.why_not_known(about, **WHO)
        yield Line(found.conclusion)
        for step in found.steps:
            yield Line(f"{step.step}: {step.outcome}: {step.detail}")

    def _by_why(self, about: str) -> Iterable[Line]:
        return [Line(one) for one in self.store.why(self.id(about)).lines()]

    def _by_verify(self, about: str) -> Iterable[Line]:
        report = self.store.verify(deep=True, rederive=True)
        return [Line(str(one)) for one in report.findings] or [Line("clean")]

    def _command(self, *words: str) -> str:
        """Return what `braid WORDS` prints, in this process."""
        out, err = io.StringIO(), io.StringIO()
        given = ["--store", str(self._path), "--guard-dir", str(self._folder / "guard"), *words]
        with redirect_stdout(out), redirect_stderr(err), suppress(SystemExit):
            code = app(given, prog_name="braid", standalone_mode=False)
            if code not in (0, None):
                raise ValueError(f"braid {' '.join(words)} ended with {code}: {err.getvalue()}")
        return out.getvalue()


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def die() -> None:
    """Take the step that stdin tells of; for a process that BRAID_KILL_AT kills midway."""
    folder, at, ids, step = json.load(sys.stdin)
    world = World(Path(folder), Clock(datetime.fromisoformat(at)), SharedSandbox())
    world._ids = ids
    world.do(step)
    world.close()
