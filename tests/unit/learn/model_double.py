"""A language model that says what it is told to say, keeps what it was asked, and polices the contract."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from braid.learn.turn import Turn
from braid.text.chat import ChatMessage, ChatTimeoutError, Completion

Says = str | Completion | Exception


class SaysInTurn:
    """Says each of its answers once, the last one for ever; an exception is raised."""

    def __init__(self, *answers: Says, name: str = "small") -> None:
        self.name = name
        self.remote = False
        self._answers = list(answers)
        self.asked: list[Sequence[ChatMessage]] = []

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        assert [each.role for each in messages] == ["system", "user"]
        assert max_tokens > 0
        assert timeout_s > 0
        assert schema is not None
        self.asked.append(messages)
        said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Completion) else Completion(said, 100, 20, f"{self.name}-1")

    @property
    def told(self) -> str:
        """All that it was last told."""
        return "\n".join(each.text for each in self.asked[-1])


LATE = ChatTimeoutError("too late")


def turn(text: str, *, at: int = 0, role: str = "user", speaker: str = "Maya") -> Turn:
    return Turn(text, speaker=speaker, role=role, when=datetime(2026, 3, 1, tzinfo=UTC), at=at)
