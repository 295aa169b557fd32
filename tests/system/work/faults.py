"""One memory's way from `remember` to a projection, with a fault at any point that it passes, and what has to hold."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from braid.entry import open as open_store
from braid.errors import VersionConflictError
from braid.job_state import job_state
from braid.ledger.errors import ForgottenError
from braid.ledger.record.record import Claim, Content, Draft, EventBody, ExperienceBody, Provenance, Scope
from braid.store import Store
from braid.wal import failpoint
from braid.work.breaker import Breakers
from tests.unit.api.test_jobs import Model
from tests.unit.learn.test_extraction import HOME, PARSER, Died, says

FACT: Final = says("I live in Porto")
RIGHT: Final = "I live in Faro."
KEY: Final = "told-once"
EXTRACT: Final = "session-extraction"
ASKED: Final = "model.asked"
ANSWERED: Final = "model.answered"
"""Points of the model of these tests, beside those of the product."""


class Clock:
    """Time that passes when somebody looks or waits, and may be set."""

    def __init__(self) -> None:
        self.at = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def seconds(self) -> float:
        return self.at.timestamp()


class Point(NamedTuple):
    """The nth time that a failpoint is passed."""

    name: str
    nth: int

    def __str__(self) -> str:
        return f"{self.name}@{self.nth}"


class Result(NamedTuple):
    """What is in a store: words, what was read of them, how the jobs ended; and what `verify` found."""

    memories: tuple[str, ...]
    readings: tuple[str, ...]
    ended: tuple[str, ...]
    found: tuple[str, ...]
    waiting: int
    findings: tuple[str, ...]


class World:
    """A folder with a store, a clock, and one life of a memory."""

    def __init__(self, folder: Path, transport: Callable[[], Any] | None = None) -> None:
        self.clock = Clock()
        self._folder = folder
        self._transport = transport
        self.acknowledged = False

    @contextmanager
    def opened(self) -> Iterator[Store]:
        store = open_store(
            self._folder / "memory",
            clock=self.clock,
            parser=lambda: PARSER,
            guard_dir=self._folder / "guard",
            server=None,
        )
        try:
            state = job_state(store.session)
            state.breakers = Breakers(self.clock.seconds)
            if self._transport is not None:
                state.transport = self._transport()
            yield store
        finally:
            store.close()

    def live(self, store: Store, answer: Callable[[str], str] = lambda _: FACT) -> None:
        """Remember, work it off, and ask for it."""
        store.remember(HOME, user_id="maya", mode="async", idempotency_key=KEY)
        self.acknowledged = True

        def asked(text: str) -> str:
            failpoint.failpoint(ASKED)
            said = answer(text)
            failpoint.failpoint(ANSWERED)
            return said

        store.work(
            model=Model(asked),
            parser=PARSER,
            until_idle=True,
            wait=self.clock.move,
        )
        store.recall("Where does Maya live?", user_id="maya")

    def change(self, store: Store) -> None:
        """Remember, put right, forget and recover, as whoever repeats everything with the keys that they had."""
        id = str(store.remember(HOME, user_id="maya", learn=False, idempotency_key=KEY).memory_id)
        self.acknowledged = True
        new = str(
            store.modify(id, text=RIGHT, reason="misheard", if_version=1, idempotency_key="put-right").id
        )
        with suppress(ForgottenError):  # which says that it was done
            store.forget(new, reason="asked to")
        store.recover(new)
        store.recall("Where does Maya live?", user_id="maya")

    def changed(self) -> tuple[str, ...]:
        """Open it again and repeat what was asked; return the memory, its changes that count, and what is found."""
        with self.opened() as store:
            self.change(store)
            id = str(store.remember(HOME, user_id="maya", learn=False, idempotency_key=KEY).memory_id)
            told = store.history(id)
            try:
                store.modify(id, text="I live in Bonn.", reason="late", if_version=1)
            except VersionConflictError as error:
                loser = type(error).__name__
            else:
                loser = "nobody"
            found = [hit.text for hit in store.recall("Where does Maya live?", user_id="maya").results]
            updates = [one.new or "" for one in told.changes if one.change == "UPDATE"]
            return (*memories(store), "updates", *updates, "found", *found, "loser", loser)

    def decide(self, store: Store) -> None:
        """Let programs decide, say where somebody lives and then where they live now, and have that decided."""
        held = {one.key: one.value for one in store.list_settings()}
        for key, value, text in (
            ("phase", "full", "full"),
            ("allow_update_delete", True, "true"),
            ("canary_share", 1, "1"),
        ):
            if held[key] != value:
                store.change_setting(key, text, reason="to try it")
        for place, month in (("Porto", 1), ("Lisbon", 4)):
            home = Claim(subject="Maya", rel="lives_in", object=place)
            day = datetime(2025, month, 3, tzinfo=UTC)
            store.append(
                f"I live in {place}.", claims=[home], occurred_at=day, actor="user", name="Maya", user_id="maya",
                idempotency_key=place,
            )  # fmt: skip
        store.work(consumers=["decision"], until_idle=True, wait=self.clock.move)

    def decided(self) -> tuple[str, ...]:
        """Open it again and do what is left; return what was decided, what holds by then, and what is found."""
        for _ in range(2):
            with self.opened() as store:
                self.decide(store)
                self.clock.move(3600)
        with self.opened() as store:
            made = [
                f"{one.body.data['decision']} {one.body.reason}"
                for one in store.read()
                if isinstance(one.body, EventBody) and one.body.name == "decided" and one.body.data["applied"]
            ]
            held = store.stance("Where does Maya live?", user_id="maya", append=False).claim
            left = [
                one.state for one in store.jobs().jobs if one.consumer == "decision" and one.state != "done"
            ]
            return (
                *memories(store),
                "decided",
                *made,
                "held",
                str(held),
                *left,
                *map(str, store.verify(deep=True).findings),
            )

    def consolidate(self, store: Store) -> None:
        """Let the same wait twice, in words of their own, and a guess that a statement contradicts; review it all."""
        for number, (text, rel, object_, sessions) in enumerate(
            (("Tea, I guess.", "likes", "tea", "one"), ("Some tea.", "likes", "tea", "two"),
             ("Lisbon is fine.", "lives_in", "Lisbon", "two"))
        ):  # fmt: skip
            store.append(
                text,
                user_id="maya",
                session_id=sessions,
                actor="user",
                name="Maya",
                idempotency_key=f"turn {number}",
            )
            waits = {"subject": "Maya", "rel": rel, "object": object_, "why": "confidence:unsure"}
            turn = next(
                one
                for one in store.read()
                if isinstance(one.body, ExperienceBody) and one.body.content.text == text
            )
            body = ExperienceBody(
                content=Content(text="", structured={"staged": [waits]}),
                provenance=Provenance(actor="agent", method="read:model@7"),
                scope=Scope(user_id="maya", session_id=sessions),
                occurred_at=turn.created_at,
                once=f"reading {number}",
            )
            store.session.append_drafts(
                [Draft(kind="experience", type="inference", body=body, links=[("parent", turn.id)])]
            )
        home = Claim(subject="Maya", rel="lives_in", object="Porto")
        store.append(HOME, claims=[home], user_id="maya", actor="user", name="Maya", idempotency_key="home")
        self.clock.move(6 * 3600)
        store.work(consumers=["consolidation"], until_idle=True, wait=self.clock.move)

    def consolidated(self) -> tuple[str, ...]:
        """Open it again and do what is left; return what became of what waited, and what is found."""
        for _ in range(2):
            with self.opened() as store:
                self.consolidate(store)
        with self.opened() as store:
            made = [f"{one.says}: {one.state}" for one in store.staging(state=None)]
            decided = [
                one
                for one in store.read()
                if isinstance(one.body, ExperienceBody | EventBody)
                and (one.body.once or "").startswith("staging/")
            ]
            left = [
                one.state
                for one in store.jobs().jobs
                if one.consumer == "consolidation" and one.state != "done"
            ]
            return (*made, str(len(decided)), *left, *map(str, store.verify(deep=True).findings))

    def recovered(self) -> Result:
        """Open it again, do what is left, as whoever got no answer would; return what is there then."""
        if self.acknowledged:
            with self.opened() as store:
                assert memories(store) == [HOME], (
                    "what was acknowledged is there before anything is done again"
                )
        with self.opened() as store:
            self.live(store)
            self.clock.move(3600)
            self.live(store)
            found = [hit.text for hit in store.recall("Where does Maya live?", user_id="maya").results]
            jobs = store.jobs().counts
            result = Result(
                memories=tuple(memories(store)),
                readings=tuple(sorted(readings(store))),
                ended=tuple(sorted(endings(store))),
                found=tuple(found),
                waiting=sum(
                    n for state, n in jobs.items() if state in ("pending", "leased", "retry_scheduled")
                ),
                findings=(),
            )
        with self.opened() as store:
            return result._replace(findings=tuple(str(one) for one in store.verify(deep=True).findings))


def memories(store: Store) -> list[str]:
    """The words that were remembered, as they stand in the log."""
    return [
        one.body.content.text
        for one in store.read()
        if isinstance(one.body, ExperienceBody) and one.type != "inference"
    ]


def readings(store: Store) -> list[str]:
    """What was read of them: by which reader, what."""
    return [
        f"{one.body.provenance.method}: {claim.subject} {claim.rel} {claim.object}"
        for one in store.read()
        if isinstance(one.body, ExperienceBody) and one.type == "inference"
        for claim in one.body.symbolic
    ]


def endings(store: Store) -> list[str]:
    """How each batch ended, by the signed outcomes."""
    return [
        f"{one.envelope.public['consumer']} {one.envelope.public['ended']}"
        for one in store.read()
        if one.kind == "event" and one.envelope.public.get("name") == "work"
    ]


def passed(world: World, life: Callable[[Store], None]) -> list[Point]:
    """Live once without a fault; return each point that was passed."""
    seen: list[Point] = []
    counts: dict[str, int] = {}

    def hook(name: str) -> None:
        counts[name] = counts.get(name, 0) + 1
        seen.append(Point(name, counts[name]))

    with world.opened() as store:  # making the store is another matrix's
        failpoint.arm(hook)
        try:
            life(store)
        finally:
            failpoint.arm(None)
    return seen


def armed(point: Point, act: Callable[[], None]) -> Callable[[str], None]:
    """Return a hook that acts the nth time that a point is passed, once."""
    left = point.nth

    def hook(name: str) -> None:
        nonlocal left
        if name == point.name:
            left -= 1
            if left == 0:
                act()

    return hook


def die() -> None:
    """The process is gone."""
    raise Died


def fail() -> None:
    """Something that nobody has foreseen."""
    raise RuntimeError("out of order")


def fill() -> None:
    """The disk is full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def struck(world: World, point: Point, act: Callable[[], None], life: Callable[[Store], None]) -> bool:
    """Live with a fault at a point; whether it was reached. Whatever is raised is what the caller would see."""
    reached = False

    def acts() -> None:
        nonlocal reached
        reached = True
        act()

    with suppress(Exception, Died), world.opened() as store:
        failpoint.arm(armed(point, acts))
        try:
            life(store)
        finally:
            failpoint.arm(None)
    return reached


if __name__ == "__main__":  # a process of its own, which BRAID_KILL_AT kills
    one = World(Path(sys.argv[1]))
    with one.opened() as here:
        one.live(here)
