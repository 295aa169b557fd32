"""Random changes of a store, as people, agents and operators make them, for what must follow the log row for row."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from braid.errors import PinnedError
from braid.ledger.errors import ErasedError, ForgottenError, InvalidRecordError, LedgerError
from braid.store import Store

USERS: Final = ("maya", "tom", "ines")
NAMES: Final = (
    "Bob Kinsella",
    "Robert Kinsella",
    "Priya Nair",
    "P. Nair",
    "Jonas Brandt",
    "Jo Brandt",
    "Elif Aydin",
)
PLACES: Final = ("Porto", "Faro", "Leeds", "Oslo", "Ghent", "Lisbon")
SAYINGS: Final = (
    "I live in {place}.", "I moved to {place} in {year}.", "{name} works in {place}.", "My sister is called {name}.",
    "I don't like {place}.", "{name} and I met in {place} in {year}.", "I am allergic to nuts.", "The code is {year}.",
)  # fmt: skip
REFUSED: Final = (
    PinnedError,
    ForgottenError,
    ErasedError,
    InvalidRecordError,
    ValueError,
    LookupError,
    LedgerError,
)
"""What a random change may run into: it is refused then, and the next one is made."""


class Drift:
    """A seeded hand that changes a store; `done` counts what it did, by name."""

    def __init__(self, store: Store, seed: int, pass_on: Callable[[timedelta], None]) -> None:
        self.store, self.chance, self.pass_on = store, random.Random(seed), pass_on
        self.ids: list[str] = []
        self.gone: list[str] = []
        self.done: dict[str, int] = {}
        self._acts: dict[Callable[[], None], int] = {
            self.append: 30, self.modify: 20, self.correct: 6, self.forget: 10, self.recover: 8, self.pin: 8,
            self.weigh: 4, self.forget_by_words: 3, self.learn: 2, self.merge: 2, self.erase: 1, self.ask: 3,
        }  # fmt: skip

    def change(self) -> None:
        """Make one change, or run into a refusal."""
        act = self.chance.choices(list(self._acts), list(self._acts.values()))[0]
        try:
            act()
        except REFUSED as error:
            self._count(f"{act.__name__} refused: {type(error).__name__}")
        else:
            self._count(act.__name__)

    def _count(self, name: str) -> None:
        self.done[name] = self.done.get(name, 0) + 1

    def _text(self) -> str:
        return self.chance.choice(SAYINGS).format(
            place=self.chance.choice(PLACES),
            name=self.chance.choice(NAMES),
            year=self.chance.randrange(1990, 2025),
        )

    def _one(self) -> str:
        return self.chance.choice(self.ids[-200:])

    def append(self) -> None:
        """Say something."""
        user = self.chance.choice(USERS)
        session = f"s{self.chance.randrange(9)}"
        self.ids.append(
            self.store.append(self._text(), user_id=user, session_id=session, actor="user", name=user)
        )

    def modify(self) -> None:
        """Change a memory's text, or its tags."""
        new = {"text": self._text()} if self.chance.random() < 0.7 else {"tags": [self.chance.choice(PLACES)]}
        self.ids.append(self.store.modify(self._one(), reason="changed", **new).id)

    def correct(self) -> None:
        """Put a record right."""
        self.ids.append(self.store.correct(self._one(), self._text()))

    def forget(self) -> None:
        """Forget a record, now and then two."""
        ids = list(dict.fromkeys(self._one() for _ in range(self.chance.choice((1, 1, 2)))))
        self.store.forget(*ids)
        self.gone += ids

    def recover(self) -> None:
        """Bring back something that was forgotten."""
        if self.gone:
            self.store.recover(self.gone.pop(self.chance.randrange(len(self.gone))))

    def pin(self) -> None:
        """Pin a memory, or unpin it."""
        self.store.modify(self._one(), pinned=self.chance.random() < 0.4, reason="kept")

    def weigh(self) -> None:
        """Make a memory more or less important."""
        self.store.modify(self._one(), importance=round(self.chance.random(), 2), reason="weighed")

    def forget_by_words(self) -> None:
        """Forget up to three memories by what they say."""
        user = self.chance.choice(USERS)
        shown = self.store.preview_forget(self.chance.choice(PLACES), limit=3, user_id=user)
        self.gone += self.store.forget_previewed(shown.token, reason="asked", user_id=user).forgotten

    def learn(self) -> None:
        """Read what was said since."""
        self.store.learn()

    def merge(self) -> None:
        """Join two names of one user's memories."""
        self.store.merge_entities(*self.chance.sample(NAMES, 2), user_id=self.chance.choice(USERS))

    def erase(self) -> None:
        """Erase a record; now and then what was forgotten long ago, too."""
        if self.chance.random() < 0.2:
            self.pass_on(timedelta(days=31))
            self.store.retain()
        self.store.erase(self._one())

    def ask(self) -> None:
        """Ask, so that the projections follow."""
        self.store.recall(self._text(), user_id=self.chance.choice(USERS))
        self.store.sql("SELECT count(*) FROM experiences")
