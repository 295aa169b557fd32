"""Plays requests to change or forget through the product, and says which memories each of them touched."""

import contextlib
import io
import json
from collections.abc import Generator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from braid.caller import Caller, asked_by
from braid.errors import AccessDeniedError, ConfirmationError, PinnedError, VersionConflictError
from braid.ledger.errors import ForgottenError, UnknownRecordError
from braid.log.chain import EVENT, chain_of
from braid.store import Store
from braid.tools.cli.chat import Conversation

FOLDER: Final = Path(__file__).parents[2] / "data" / "mutations"
REFUSALS: Final = (
    AccessDeniedError, ConfirmationError, ForgottenError, PinnedError, UnknownRecordError, VersionConflictError,
)  # fmt: skip
CHANGING: Final = ("c_right", "c_change", "c_nolonger", "c_ask_change", "c_update")
"""Kinds of lines in a chat that ask for other words; the others ask that something goes."""
Line = dict[str, Any]


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.now = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Played(NamedTuple):
    """What became of a request. `wrong`: memories that were touched and not meant; `left`: meant, and still there."""

    asked: Line
    wrong: tuple[str, ...]
    left: tuple[str, ...]
    said: str

    @property
    def right(self) -> bool:
        """Whether just what was meant changed."""
        return not self.wrong and not self.left


def requests(half: str) -> tuple[dict[str, list[Line]], list[Line]]:
    """Return the scenes of a file by name, and its requests."""
    lines: list[Line] = [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text().splitlines()]
    scenes = {one["scene"]: one["memories"] for one in lines if "memories" in one}
    return scenes, [one for one in lines if "id" in one]


def play(store: Store, clock: Clock, half: str) -> Iterator[Played]:
    """Yield what becomes of each request of a file, in a store that holds the memories of all of them."""
    scenes, asked = requests(half)
    owned: dict[str, dict[str, str]] = {}
    for one in asked:
        drafts = [
            (memory["key"], memory["text"], _user(one, memory["of"])) for memory in scenes[one["scene"]]
        ]
        owned[one["id"]] = {key: store.append(text, user_id=user) for key, text, user in drafts}
    everything = {store.get(id).index: (name, key) for name, ids in owned.items() for key, id in ids.items()}
    for one in asked:
        yield _Player(store, clock, one, owned[one["id"]], everything).played()


def table(played: list[Played]) -> str:
    """Return how many requests went right by kind, what was wrong, and what was left."""
    rows: dict[str, list[Played]] = {}
    for one in played:
        rows.setdefault(one.asked["kind"], []).append(one)
    lines = [
        f"{kind:<15} {sum(one.right for one in rows[kind]):>2} of {len(rows[kind]):>2}"
        for kind in sorted(rows)
    ]
    lines += [
        f"{one.asked['id']} {one.asked['kind']}: wrong {one.wrong}, left {one.left}; {one.said[-300:]!r}"
        for one in played
        if not one.right
    ]
    return "\n".join(lines)


def _user(asked: Mapping[str, Any], whose: str) -> str:
    return f"{asked['id']}-{whose}"


class _Player:
    """One request; `ids`: its memories by key, `everything`: (request, key) of each memory of the store, by index."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        asked: Line,
        ids: dict[str, str],
        everything: dict[int, tuple[str, str]],
    ) -> None:
        self.store, self.clock, self.asked, self.ids, self.everything = store, clock, asked, ids, everything
        self._spans: list[range] = []

    def played(self) -> Played:
        for act in self.asked.get("before", ()):
            self._act(*act)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                {"query": self._query, "modify": self._modify, "forget": self._forget, "chat": self._chat}[
                    self.asked["way"]
                ]()
            except REFUSALS as error:
                out.write(f"{type(error).__name__}: {error}")
        touched = self._touched()
        meant = {(self.asked["id"], key) for key in self.asked["changes"]}
        left = [key for _, key in meant if (self.asked["id"], key) not in touched or self._stands(key)]
        return Played(
            self.asked,
            tuple(sorted(f"{one} {key}" for one, key in touched - meant)),
            tuple(sorted(left)),
            out.getvalue(),
        )

    def _stands(self, key: str) -> bool:
        """Whether something of a memory still holds that was to be forgotten."""
        if self.asked["way"] == "modify" or self.asked["kind"].startswith(CHANGING):
            return False
        reader = self.store.reader
        return chain_of(reader, reader.index_of(self.ids[key])).current is not None

    def _touched(self) -> set[tuple[str, str]]:
        reader = self.store.reader
        found = set[tuple[str, str]]()
        for at in (at for span in self._spans for at in span if self._changes(at)):
            for link in reader.links(at):
                if link.role in ("target", "supersedes") and reader.envelope(link.index).kind == "experience":
                    members = chain_of(reader, link.index).members
                    found |= {self.everything[one] for one in members if one in self.everything}
        return found

    def _changes(self, at: int) -> bool:
        """Whether a record changes others: an answer or a reading only names them."""
        envelope = self.store.reader.envelope(at)
        return envelope.kind in ("tombstone", "experience") or envelope.public.get("name") == EVENT

    @contextlib.contextmanager
    def _asking(self, whose: str) -> Generator[None]:
        """Note what is appended in here as done by the request; `whose`: who asks."""
        begins, user = len(self.store), _user(self.asked, whose)
        try:
            with asked_by(Caller(name=user, kind="person", user_id=user)):
                yield
        finally:
            self._spans.append(range(begins, len(self.store)))

    def _act(self, what: str, key: Any, text: str = "") -> None:
        if what == "pin":
            self.store.modify(self.ids[key], pinned=True, reason="kept")
        elif what == "modify":
            self.store.modify(self.ids[key], text=text, reason="changed")
        elif what == "forget":
            self.store.forget(self.ids[key])
        elif what == "recover":
            self.store.recover(self.ids[key])
        else:
            self.clock.now += timedelta(minutes=key)

    def _query(self) -> None:
        asks = str(self.asked.get("asks", "owner"))
        scope = _user(self.asked, self.asked.get("scope", "owner"))
        with self._asking(asks):
            shown = self.store.preview_forget(self.asked["query"], user_id=scope)
        for act in self.asked.get("between", ()):
            self._act(*act)
        only = self.asked.get("only")
        for _ in range(self.asked.get("times", 1)):
            with self._asking(str(self.asked.get("executes", asks))):
                ids = [self.ids[only]] if only else None
                self.store.forget_previewed(shown.token, reason="asked", ids=ids, user_id=scope)

    def _modify(self) -> None:
        id = self.ids[self.asked["target"]]
        with self._asking(self.asked.get("asks", "owner")):
            if "found_by" in self.asked:
                user, text = _user(self.asked, "owner"), self.store.get(id).text
                hits = self.store.recall(text, user_id=user).results
                id = next(hit.id for hit in hits if hit.text == text)
            version = self.asked.get("if_version")
            self.store.modify(id, text=self.asked["text"], reason="asked", if_version=version)

    def _forget(self) -> None:
        with self._asking(self.asked.get("asks", "owner")):
            self.store.forget(self.ids[self.asked["target"]], reason="asked")

    def _chat(self) -> None:
        lines = iter(self.asked["lines"])

        def read(prompt: str) -> str:
            del prompt
            for line in lines:
                return str(line)
            raise EOFError

        begins = len(self.store)
        whose = {"user_id": _user(self.asked, self.asked.get("scope", "owner"))}
        Conversation(self.store, whose, session_id=None, name=None, composer=None, read=read).go()
        self._spans.append(range(begins, len(self.store)))
