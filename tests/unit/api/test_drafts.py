"""What may be said of an experience: what would be taken apart, or kept as nobody said it, is refused."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import braid
from braid import Store
from braid.errors import InvalidRequestError
from braid.ledger.errors import InvalidRecordError
from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody
from braid.log import drafts


@pytest.fixture
def opened(store: Path) -> Any:
    with braid.open(store) as it:
        yield it


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"x", "not bytes"), (None, "not nothing"), (7, "not a whole number"), (["x"], "not a list")],
)
def test_what_is_no_text_is_refused(opened: Store, text: Any, said: str) -> None:
    size = len(opened)
    with pytest.raises(InvalidRequestError, match=f"^append: text is text, {said}"):
        opened.append(text)
    assert len(opened) == size


@pytest.mark.parametrize("name", ["parents", "evidence", "supersedes", "sources", "tags"])
def test_one_where_several_are_meant_is_refused(opened: Store, name: str) -> None:
    fields: dict[str, Any] = {name: "abc"}
    with pytest.raises(InvalidRequestError, match=f"{name} is a list, not text"):
        opened.append("x", **fields)


def test_a_field_that_is_unknown_is_refused(opened: Store) -> None:
    size = len(opened)
    fields: dict[str, Any] = {"usr_id": "y"}
    with pytest.raises(TypeError, match="usr_id"):
        opened.append("x", **fields)
    with opened.transaction() as together, pytest.raises(TypeError, match="usr_id"):
        together.append("x", **fields)
    assert len(opened) == size


def test_a_time_may_be_text(opened: Store) -> None:
    at: Any = "2025-03-24T07:53:40Z"
    id = opened.append("x", occurred_at=at)
    body = opened.get(id).body
    assert isinstance(body, ExperienceBody)
    assert body.occurred_at == datetime(2025, 3, 24, 7, 53, 40, tzinfo=UTC)
    for wrong in ("last spring", True, datetime(2025, 3, 24)):  # noqa: DTZ001
        given: Any = wrong
        with pytest.raises(InvalidRequestError, match="occurred_at"):
            opened.append("x", occurred_at=given)


def test_nothing_is_not_remembered(opened: Store) -> None:
    id = opened.append("x")
    size = len(opened)
    with pytest.raises(InvalidRecordError, match="nothing to remember: the text is empty"):
        opened.append("")
    with pytest.raises(InvalidRecordError, match="the text is empty"):
        opened.correct(id, "")
    with opened.transaction() as together, pytest.raises(InvalidRecordError, match="the text is empty"):
        together.append("")
    assert len(opened) == size


@pytest.mark.parametrize(
    "nothing",
    [
        "",
        " \n\t",
        "\u200b",
        "\ufeff \u2060\x07",
        "\U000e0041\U000e0042",
        [""],
        ["I drink tea.", {"role": "user", "content": ""}],
        {"role": "user", "content": " "},
    ],
    ids=repr,
)
def test_a_text_or_a_users_message_that_says_nothing_is_refused(opened: Store, nothing: Any) -> None:
    size = len(opened)
    with pytest.raises(InvalidRecordError, match="nothing to remember: the text is empty"):
        opened.remember(nothing, metadata={"mood": "calm"})
    if isinstance(nothing, str):
        with pytest.raises(InvalidRecordError, match="nothing to remember: the text is empty"):
            opened.append(nothing)
    assert len(opened) == size


def test_what_shows_little_says_something(opened: Store) -> None:
    for said in ("?", "👩\u200d🚀", "\u200fعم\u200f", "\u0301"):
        assert opened.get(opened.append(said)).text == said


def test_an_agents_empty_turn_is_kept(opened: Store) -> None:
    calls = [{"id": "c1", "function": {"name": "now", "arguments": "{}"}}]
    said: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "assistant", "content": ""},
    ]
    first, _ = opened.remember(said)
    body = opened.get(first).body
    assert isinstance(body, ExperienceBody)
    assert body.content.structured == {"tool_calls": calls}


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "text", "text": "I keep bees."}, {"type": "text", "text": "Three hives."}],
        [{"type": "text", "text": "I keep bees.", "cache_control": {}}, {"type": "text", "text": "Three hives."}],
        ({"type": "input_text", "text": "I keep bees."}, {"type": "output_text", "text": "Three hives."}),
    ],
    ids=["a chat", "a cached chat", "responses"],
)  # fmt: skip
def test_parts_of_text_are_joined(opened: Store, parts: Any) -> None:
    (id,) = opened.remember([{"role": "user", "content": parts}], idempotency_key="k")
    assert opened.get(id).text == "I keep bees.\nThree hives."
    again = opened.remember([{"role": "user", "content": "I keep bees.\nThree hives."}], idempotency_key="k")
    assert again.ids == (id,)
    assert opened.get(opened.remember([{"role": "assistant", "content": []}])[0]).text == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}], "part 2 .* 'image_url'.*attach"),
        ([{"type": "tool_use", "id": "t", "name": "now", "input": {}}], "part 1 .* 'tool_use'"),
        ([{"type": "text", "content": "x"}], "part 1 .* no member `text`"),
        ([{"type": "text", "text": 7}], "part 1 .* no member `text`"),
        ([{"text": "x"}], "part 1 .* no text part"),
        ([["x"]], "part 1 .* no text part"),
        (7, "is text, or a list of parts"),
        ({"type": "text", "text": "x"}, "is text, or a list of parts"),
        (None, "is text, or a list of parts"),
        ([], "the text is empty"),
        ([{"type": "text", "text": " "}], "the text is empty"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_part_that_is_no_text_is_refused_by_its_place(opened: Store, content: Any, said: str) -> None:
    size = len(opened)
    with pytest.raises(InvalidRecordError, match=f"^message 2: .*{said}"):
        opened.remember(["I drink tea.", {"role": "user", "content": content}])
    assert len(opened) == size


def test_roles_are_as_chat_apis_have_them(opened: Store) -> None:
    said: list[dict[str, Any]] = [
        {"role": "developer", "content": "Answer in French."},
        {"role": "function", "name": "weather", "content": "Rain."},
        {"role": "function", "content": "Sun."},
    ]
    bodies = [opened.get(id).body for id in opened.remember(said)]
    actors = [one.provenance.actor for one in bodies if isinstance(one, ExperienceBody)]
    assert actors == ["system", "tool(weather)", "tool(tool)"]


@pytest.mark.parametrize(
    "given", [1747470000, 1747470000.5, "1747470000", "2025-05-17", "2025-05-17T10:00:00", True], ids=repr
)
def test_a_time_without_its_zone_is_refused_by_its_message(opened: Store, given: Any) -> None:
    with pytest.raises(InvalidRecordError, match=r"^message 2: the timestamp .* 2025-05-17T10:00:00Z$"):
        opened.remember(["I drink tea.", {"role": "user", "content": "x", "timestamp": given}])


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("occured_at", 'unknown member "occured_at": did you mean "timestamp"?'),
        ("timestmap", 'did you mean "timestamp"?'),
        ("session_id", 'did you mean "session"?'),
        ("contnet", 'did you mean "content"?'),
        ("mood", 'unknown member "mood": what is your own goes under "metadata"'),
        ("user_id", "remember\\(…, user_id=…\\)"),
        ("run_id", "remember\\(…, run_id=…\\)"),
    ],
)
def test_a_member_that_no_message_has_is_refused_with_the_right_one(
    opened: Store, member: str, said: str
) -> None:
    """Kept without a word, a mistyped time or a scope in the wrong place would be found when the memory is missed."""
    size = len(opened)
    with pytest.raises(InvalidRecordError, match=f"^message 2: .*{said}"):
        opened.remember(["I drink tea.", {"role": "user", "content": "x", member: "y"}])
    with pytest.raises(InvalidRecordError, match=f"^(?!message).*{said}"):
        opened.remember({"role": "user", "content": "x", member: "y"})
    assert len(opened) == size


def test_what_is_the_callers_own_stands_under_metadata(opened: Store) -> None:
    said = {"role": "user", "content": "x", "parent": "m-6", "metadata": {"mood": "calm", "source": "chat"}}
    (id,) = opened.remember(said, metadata={"source": "call", "app": 7})
    body = opened.get(id).body
    assert isinstance(body, ExperienceBody)
    assert body.content.structured == {"source": "chat", "app": 7, "parent": "m-6", "mood": "calm"}
    with pytest.raises(InvalidRecordError, match="metadata is an object, not 7"):
        opened.remember({"role": "user", "content": "x", "metadata": 7})


def test_what_says_something_without_text_is_kept(opened: Store) -> None:
    opened.append("", structured={"steps": 4000})
    opened.append("", media=[opened.attach(b"\x89PNG", media_type="image/png")])
    opened.append("", claims=[Claim(subject="maya", rel="lives_in", object="Porto")])
    opened.remember([{"role": "assistant", "content": ""}])
    assert drafts.experience("").kind == "experience"


def test_a_body_that_cannot_be_one_is_named_with_its_article(opened: Store) -> None:
    body: Any = ExperienceBody(content=Content(text=7))  # type: ignore[arg-type]
    with pytest.raises(InvalidRecordError, match="the body is not that of an experience"):
        opened.session.append_drafts([Draft(kind="experience", type="occurrence", body=body)])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"user_id": float("nan")}, "user_id is text"),
        ({"session_id": b"s1"}, "session_id is text"),
        ({"external_id": float("inf")}, "external_id is text"),
        (
            {"claims": [Claim(subject="s", rel="r", object="o", quote=float("nan"))]},  # type: ignore[arg-type]
            r"claims\[0\]\.quote is text",
        ),
        ({"actor": None}, "actor is text"),
        ({"affect": {"vad": 1}}, "affect.vad is an object"),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_refused_by_its_place(
    opened: Store, fields: dict[str, Any], said: str
) -> None:
    """JSON has no NaN and no bytes: kept as null or as base64 they would be what nobody said."""
    size = len(opened)
    with pytest.raises(InvalidRequestError, match=said):
        opened.append("x", **fields)
    assert len(opened) == size


@pytest.mark.parametrize("key", ["", 7, b"k"], ids=str)
def test_a_key_that_names_nothing_is_refused(opened: Store, key: Any) -> None:
    """An empty one would make every call a repetition of the first."""
    said = [{"role": "user", "content": "I drink tea now."}]
    size = len(opened)
    with pytest.raises(InvalidRequestError, match="idempotency_key is text"):
        opened.append("x", idempotency_key=key)
    with pytest.raises(InvalidRequestError, match="idempotency_key is text"):
        opened.remember(said, idempotency_key=key)
    assert len(opened) == size


def test_a_place_without_a_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for make in (braid.open, braid.init):
        with pytest.raises(ValueError, match="name the store's folder"):
            make("")
    assert not list(tmp_path.iterdir())
