"""Where the turns of a source stand in the log: by their keys, or by their ids if their file has no lasting name."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from braid.tools.cli.duplicates import KeyPlace, KnownTurn, KnownTurns
from braid.tools.cli.sources import speaker_of
from braid.tools.importers.message import Message

FIRST_LINE: Final = frozenset({"csv", "jsonl", "parquet"})
"""Formats with ids whose files have no name but a hash of what they begin with."""


class Standing(NamedTuple):
    """Under which key a turn is recorded, at which log index it is already, and what stands there."""

    key: str
    at: int | None
    there: KnownTurn = KnownTurn()


class Locator:
    """Finds the turns of one source, a batch at a time, from its first."""

    def __init__(self, known: KnownTurns, *, is_nameless: bool = False, begun_at: int = 0) -> None:
        """`is_nameless`: nothing but its first line names the source. `begun_at`: how long the log was before it."""
        self._known = known
        self.is_nameless = is_nameless
        self._begun_at = begun_at
        self._goes_on: bool | None = None
        """Whether the source begins with a line that is known; None before it was looked up."""

    def locate(self, batch: Sequence[tuple[str, Message]]) -> list[Standing]:
        """Return where each turn stands by its key, or by its id in whatever file it came before."""
        ids = [self._key_by_id(message) for _, message in batch]
        keys = [id or key for id, (key, _) in zip(ids, batch, strict=True)]
        found = self._known.find(keys)
        standing = self._read([found[key] for key in keys], [message for _, message in batch])
        unsure = [
            place
            for place, (_, at, there) in enumerate(standing)
            if ids[place] and (at is None or there.words != words_of(batch[place][1]))
        ]
        elsewhere = self._elsewhere([batch[place] for place in unsure])
        for place, one in zip(unsure, elsewhere, strict=True):
            standing[place] = one if one.at is not None else standing[place]
        if self._goes_on is None and batch:
            self._goes_on = standing[0].there.hash == batch[0][1].source_hash
        for place, one in zip(unsure, elsewhere, strict=True):
            if one.at is None and self._is_another(standing[place].at):
                standing[place] = one
        return standing

    def _key_by_id(self, message: Message) -> str | None:
        has_lone_id = message.external_id is not None and message.conversation is None
        return message.key_by_id() if self.is_nameless and has_lone_id else None

    def _read(self, places: Sequence[KeyPlace], messages: Sequence[Message]) -> list[Standing]:
        """Return what stands at places. The key of a turn without an id has its hash: such a one isn't read."""
        with_id = [message.external_id is not None for message in messages]
        turns = self._known.turns(
            at for (_, at), is_id in zip(places, with_id, strict=True) if at is not None and is_id
        )
        nothing = KnownTurn()
        return [Standing(key, at, nothing if at is None else turns.get(at, nothing)) for key, at in places]

    def _elsewhere(self, batch: Sequence[tuple[str, Message]]) -> list[Standing]:
        """Return where turns stand by the key in their source, else by their id and words."""
        pairs = [(key, message.key_by_words()) for key, message in batch]
        found = self._known.find([key for pair in pairs for key in pair])
        places = [found[own] if found[own].at is not None else found[words] for own, words in pairs]
        return self._read(places, [message for _, message in batch])

    def _is_another(self, at: int | None) -> bool:
        """Whether a turn is another than the one at `at`, which has its id and other words.

        Many files count their turns from 1. But where a source goes on with what is known, or was begun just now, it
        is the turn of that id that has changed.
        """
        return at is not None and at < self._begun_at and not self._goes_on


def words_of(message: Message) -> tuple[str, str | None, datetime | None, str]:
    """Return the words of a turn with who says them when, as `KnownTurn` has them."""
    return (*speaker_of(message), message.occurred_at, message.text)
