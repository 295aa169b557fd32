"""The store against a list: whatever is done, in whatever order, crashes included, it holds what the list holds."""

import os
import shutil
import tempfile
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from braid.ledger.audit.verify import verify
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import ErasedError, ForgottenError, RollbackError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.merkle import leaf_hash, root_of
from braid.ledger.tree.proof import check_proof
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal import failpoint
from braid.wal.errors import OutcomeUnknownError
from braid.wal.log import LogReader

STEPS = 100 if os.environ.get("BRAID_TORTURE") else 25
EXAMPLES = 100 if os.environ.get("BRAID_TORTURE") else 40
NOON = datetime(2100, 1, 1, 12, tzinfo=UTC)


class DeathError(BaseException):
    """Stands for the process dying."""


class Said:
    """What the model knows of a memory."""

    def __init__(self, index: int, id: str, text: str, parents: list[int]) -> None:
        self.index = index
        self.id = id
        self.text = text
        self.parents = parents
        self.hidden = False
        self.erased = False


class StoreMachine(RuleBasedStateMachine):
    """A Writer and a Reader on one store, and a plain list of what was said."""

    def __init__(self) -> None:
        super().__init__()
        # What must survive here is a process's death, not the machine's: memory will do, and is faster.
        memory_disk = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="braid-machine-", dir=memory_disk))
        self.lag = 0
        self.store = self.folder / "memory"
        self.now = NOON
        self.said: list[Said] = []
        self.leaves: list[bytes] = []
        self.proofs: list[tuple[bytes, bytes]] = []
        self.copies = 0

    @initialize(durability=st.sampled_from(["always", "interval", "none"]))
    def create(self, durability: Any) -> None:
        """Begin with a new store."""
        settings = create_store(
            self.store,
            now=self.now,
            durability=durability,
            retention_days=30,
            guard_folder=self.folder / "guard",
        )
        self.guard = Guard.of_store(settings.store_id, self.folder / "guard")
        self.writer = self.open()
        self.reader = Reader(self.store, guard=self.guard)
        self.append(["one", "two", "three"])
        self.derive([0])
        self.derive([0, 1])

    def teardown(self) -> None:
        failpoint.arm(None)
        if hasattr(self, "writer"):
            self.reader.close()
            self.writer.close()
            report = verify(self.store, deep=True, workers=1, guard=self.guard)
            assert ([str(finding) for finding in report.findings], report.could_not_look) == ([], [])
        shutil.rmtree(self.folder)

    def open(self) -> Writer:
        """Open for writing, finishing what a crash left."""
        writer = Writer(self.store, guard=self.guard, clock=lambda: self.now)
        erasure.finish(writer, list)
        return writer

    def note_leaves(self) -> None:
        """Remember the leaves that were added: none may ever change."""
        self.leaves += [
            leaf_hash(self.writer.stored_envelope(index))
            for index in range(len(self.leaves), self.writer.size)
        ]

    def of(self, number: int, *, readable: bool = True) -> Said | None:
        """Return the n-th newest memory of those that may be linked to (or are in any state but erased)."""
        living = [one for one in self.said if not one.erased and not (readable and one.hidden)]
        return living[-1 - number % len(living)] if living else None

    # -- what can be done -------------------------------------------------------------------------

    @rule(texts=st.lists(st.text(max_size=40), min_size=1, max_size=4), unseen=st.integers(0, 4))
    def append(self, texts: list[str], unseen: int = 0) -> None:
        """Say something; the reader looks away for some steps."""
        self.lag = max(self.lag, unseen)
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        placed = self.writer.append([memory(text) for text in texts])
        self.said += [Said(one.index, one.id, text, []) for one, text in zip(placed, texts, strict=True)]
        self.note_leaves()

    @rule(numbers=st.lists(st.integers(0, 50), min_size=1, max_size=3))
    def derive(self, numbers: list[int]) -> None:
        """Conclude something from what was said; one record of the same transaction among it."""
        parents = [one for number in numbers if (one := self.of(number))]
        if not parents:
            return
        text = "from " + ",".join(str(one.index) for one in parents)
        placed = self.writer.append(
            [memory("beside"), memory(text, *[one.id for one in parents], type="inference")]
        )
        self.said.append(Said(placed[0].index, placed[0].id, "beside", []))
        self.said.append(Said(placed[1].index, placed[1].id, text, [one.index for one in parents]))
        self.note_leaves()

    @rule(count=st.integers(200, 300))
    @precondition(lambda self: len(self.leaves) < 700)
    def append_many(self, count: int) -> None:
        """Fill tiles."""
        placed = self.writer.append([memory(f"many {n}") for n in range(count)])
        self.said += [Said(one.index, one.id, f"many {n}", []) for n, one in enumerate(placed)]
        self.note_leaves()

    @rule(number=st.integers(0, 50))
    def forget(self, number: int) -> None:
        """Hide a memory."""
        if one := self.of(number):
            erasure.forget(self.writer, [one.id])
            one.hidden = True
            self.note_leaves()

    @rule(number=st.integers(0, 50))
    def recover(self, number: int) -> None:
        """Bring a hidden memory back."""
        hidden = [one for one in self.said if one.hidden]
        if hidden:
            one = hidden[number % len(hidden)]
            erasure.recover(self.writer, [one.id], self.now)
            one.hidden = False
            self.note_leaves()

    @rule(days=st.integers(0, 20))
    def wait(self, days: int) -> None:
        """Let time pass, and sweep."""
        self.now += timedelta(days=days)
        due = [self.writer.envelope(index).index for index in erasure.due(self.writer, self.now)]
        erasure.retain(self.writer, self.now, list)
        self.cascade(set(due))
        self.note_leaves()

    @rule(number=st.integers(0, 50))
    def erase_something(self, number: int) -> None:
        """Erase a memory."""
        self.erase(number, None)

    @rule(number=st.integers(0, 50), death=st.integers(0, 60))
    def erase_and_die(self, number: int, death: int) -> None:
        """Die while a memory is erased; opening again must do the rest."""
        self.erase(number, death)

    def erase(self, number: int, death: int | None) -> None:
        """Erase a memory and what the model says goes with it."""
        one = self.of(number, readable=False)
        if one is None:
            return
        plan = cascades.plan(self.writer, [one.index])
        if death is None:
            erasure.erase(self.writer, plan, list)
        else:
            failpoint.arm(dying_after(death))
            with suppress(DeathError, OutcomeUnknownError):
                erasure.erase(self.writer, plan, list)
            failpoint.arm(None)
            self.drop()
            self.writer = self.open()
        if self.writer.control.erased.get(one.index) is not None:
            assert {named.index for named in plan.erased} == self.cascade({one.index})
        self.note_leaves()

    def cascade(self, gone: set[int]) -> set[int]:
        """Mark as erased what the model says goes; return the indexes."""
        for one in self.said:
            erased = {other.index for other in self.said if other.erased}
            if one.index in gone or (
                not one.erased
                and one.parents
                and set(one.parents) & gone
                and set(one.parents) <= gone | erased
            ):
                gone.add(one.index)
        for one in self.said:
            if one.index in gone:
                one.erased, one.hidden = True, False
        return gone

    @rule()
    def compact(self) -> None:
        """Give space back."""
        erasure.compact(self.writer)

    @rule()
    def checkpoint(self) -> None:
        """Publish a head, and keep a proof under it."""
        self.writer.checkpoint()
        index = len(self.leaves) // 2
        self.proofs.append((self.writer.prove(index), self.leaves[index]))

    @rule()
    def reopen(self) -> None:
        """Close cleanly and open again."""
        self.writer.close()
        self.writer = self.open()
        assert self.writer.torn is None

    @rule()
    def reopen_the_reader(self) -> None:
        """Look with fresh eyes."""
        self.reader.close()
        self.reader = Reader(self.store, guard=self.guard)

    def drop(self) -> None:
        """Let go of the writer as a dying process does."""
        self.writer._stop.set()
        if self.writer._thread:
            self.writer._thread.join()
        self.writer.log._close_active()
        LogReader.close(self.writer.log)
        self.writer._lock.release()

    @rule(garbage=st.binary(max_size=200))
    def crash(self, garbage: bytes) -> None:
        """Die between two acts, half a frame behind the last one."""
        size = self.writer.size
        segment = self.writer.log.segments[-1].path
        self.drop()
        with segment.open("ab") as file:
            file.write(b"BRF1"[: len(garbage)] + garbage)
        self.writer = self.open()
        assert (self.writer.torn is not None) == bool(garbage)
        assert self.writer.size == size

    @rule(text=st.text(alphabet="abc", max_size=5), death=st.integers(0, 12))
    def crash_while_appending(self, text: str, death: int) -> None:
        """Die somewhere in an append or the head behind it; both or neither of its records are there."""
        size = self.writer.size
        failpoint.arm(dying_after(death))
        with suppress(DeathError, OutcomeUnknownError):
            self.writer.append([memory(text), memory(text)])
            self.writer.checkpoint()
        failpoint.arm(None)
        self.drop()
        self.writer = self.open()
        assert self.writer.size in (size, size + 2)
        for index in range(size, self.writer.size):
            self.said.append(Said(index, self.writer.envelope(index).id, text, []))
        self.note_leaves()

    @rule()
    def roll_back(self) -> None:
        """Put an older copy of the whole store in place: refused; then put the newest back."""
        self.writer.close()
        self.reader.close()
        older, newest = self.folder / "older", self.folder / "newest"
        shutil.copytree(self.store, older)
        self.writer = self.open()
        self.append(["newer"])
        self.writer.close()
        self.store.rename(newest)
        older.rename(self.store)
        with pytest.raises(RollbackError):
            Writer(self.store, guard=self.guard)
        with closing(Reader(self.store, guard=self.guard)) as older_reader:
            assert older_reader.contradiction
        shutil.rmtree(self.store)
        newest.rename(self.store)
        self.writer = self.open()
        self.reader = Reader(self.store, guard=self.guard)

    # -- what must hold ---------------------------------------------------------------------------

    @invariant()
    def nothing_is_lost_or_changed(self) -> None:
        """Writer and reader agree with the list, record by record."""
        if not self.leaves:
            return
        self.lag -= 1
        if self.lag < 0:
            self.reader.refresh()
        handles = [self.writer] if self.lag >= 0 else [self.writer, self.reader]
        sample = self.said if len(self.said) < 30 else self.said[:5] + self.said[-20:]
        for handle in handles:
            assert handle.size == len(self.leaves)
            for one in sample:
                if one.erased:
                    with pytest.raises(ErasedError):
                        handle.get(one.id)
                elif one.hidden:
                    with pytest.raises(ForgottenError):
                        handle.get(one.id)
                else:
                    record = handle.get(one.id)
                    assert (record.text, [link.index for link in record.links]) == (one.text, one.parents)

    @invariant()
    def the_tree_is_that_of_the_leaves(self) -> None:
        """Roots are those of the definition; every proof ever given still holds."""
        if not self.leaves:
            return
        root = root_of(self.leaves)
        assert self.writer.frontier.root() == root
        assert self.lag >= 0 or self.reader.frontier.root() == root
        published = self.writer.published
        assert published.size <= len(self.leaves)
        assert root_of(self.leaves[: published.size]) == published.root
        head = self.guard.read()
        assert head
        assert root_of(self.leaves[: head.size]).hex() == head.root
        for proof, leaf in self.proofs[-3:]:
            check_proof(proof, leaf, self.writer.vkey)


def memory(text: str, *parents: str, type: str = "occurrence") -> Draft:
    """Return an experience that says `text`."""
    links = [("parent", id) for id in parents]
    return Draft(kind="experience", type=type, body=ExperienceBody(content=Content(text=text)), links=links)


def dying_after(count: int) -> Any:
    """Return a hook that dies at the n-th failpoint."""
    left = [count]

    def hook(_name: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise DeathError

    return hook


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_store_holds_what_the_list_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Writer, "_start_background", lambda _: None
    )  # what the clock does has tests of its own
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not os.environ.get("BRAID_TORTURE"),
            suppress_health_check=list(HealthCheck),
        ),
    )
