"""What a hit is as a turn of a talk: who said what, when; and whom a question means of those who speak. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from braid.ledger.record.record import ExperienceBody
from braid.recall.decompose import Question
from braid.recall.hits import Hit, speaker
from braid.text.words import words
from braid.views.lance.rows import searched_text


def text_of(hit: Hit) -> str:
    """Return what a hit says, with what its pictures show."""
    body = hit.record.body
    return searched_text(body) if isinstance(body, ExperienceBody) else hit.text


def when_of(hit: Hit) -> datetime:
    """Return when a hit was said."""
    return (hit.record.body.occurred_at or hit.record.created_at).astimezone(UTC)


def is_agent(hit: Hit) -> bool:
    """Whether a hit is what an agent or a tool said."""
    return _actor(hit) not in ("", "user")


def _actor(hit: Hit) -> str:
    body = hit.record.body
    return body.provenance.actor if isinstance(body, ExperienceBody) else ""


def named_speakers(question: Question, hits: Sequence[Hit]) -> set[str]:
    """Return those who speak in the hits and whom the question means: by name, or as "I" where it names none.

    What an agent or a tool tells whoever asks is about them as well: where one of these speaks too, "I" names nobody.
    """
    asked = set(words(question.text))
    named = {name for hit in hits if (name := speaker(hit)) and not asked.isdisjoint(words(name))}
    if named or question.first_person == question.second_person:
        return named
    if question.first_person and any(_actor(hit) != "user" for hit in hits):
        return set()
    wanted = "user" if question.first_person else "agent"
    return {speaker(hit) for hit in hits if _actor(hit) == wanted}
