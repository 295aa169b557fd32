"""A small memory to ask, in an index that lives in memory, with the packaged model."""

from datetime import UTC, datetime, timedelta

from braid.models.static import StaticEmbedder
from braid.recall.memory import MemoryIndex
from braid.views.search import Row

NOW = datetime(2023, 6, 15, 12, tzinfo=UTC)
EMBEDDER = StaticEmbedder()
SAID = (
    ("Maya", "s1", "I moved to Porto in the spring, the flat looks over the river."),
    ("Owen", "s1", "Lovely! What do you call the cat now?"),
    ("Maya", "s1", "She answers to Miso, at least at meals."),
    ("Maya", "s2", "My brother Duarte built a cot for the baby."),
    ("Owen", "s2", "I broke my left wrist on the stairs."),
    ("Owen", "s2", "The plaster comes off in 6 weeks."),
)


def row(at: int, text: str, name: str | None = None, **given: object) -> Row:
    """Return a row as the projection lays it out."""
    fields: dict[str, object] = {
        "id": f"exp_{at}", "text": f"{name}: {text}" if name else text, "kind": "experience", "speaker": "user",
        "name": name, "user_id": "u", "agent_id": None, "run_id": None, "project_id": None, "session_id": "s",
        "turn": None,
        "happened_us": int(NOW.timestamp() * 1e6), "salience": 1.0, "label": None, "pending": False,
    }  # fmt: skip
    return Row(index=at, **(fields | given))  # type: ignore[arg-type]


def rows() -> list[Row]:
    """Return the turns of two sessions, a week apart."""
    begun = datetime(2023, 5, 1, 9, tzinfo=UTC)
    return [
        row(at, text, name, session_id=session, turn=at,
            happened_us=int((begun + timedelta(days=7 * (session == "s2"))).timestamp() * 1e6))
        for at, (name, session, text) in enumerate(SAID)
    ]  # fmt: skip


def index(held: list[Row] | None = None) -> MemoryIndex:
    """Return an index of these rows (of the scene's)."""
    held = rows() if held is None else held
    vectors = EMBEDDER.embed([each.text for each in held])
    by_index = {each.index: vector for each, vector in zip(held, vectors, strict=True)}
    name = f"{EMBEDDER.name}@{EMBEDDER.version}"
    return MemoryIndex(
        held, by_index, position=max((each.index for each in held), default=-1) + 1, model=name
    )
