"""REALTALK however it is spelled → as it was published: `session_N` lists of turns, `session_N_date_time`, `qa`. Pure.

Copies of the data set differ in the names of members, and in whether sessions stand in the document itself, in a list,
or in an object of their own. What has neither turns nor questions is refused, with the members that were seen.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

_SESSION: Final = re.compile(r"session[ _-]?(\d{1,6})", flags=re.IGNORECASE)
_ID: Final = re.compile(r"\s*D:?(\d{1,6}):")
_SHOWN: Final = 12
_DOCUMENTS: Final = ("data", "conversations", "chats", "dialogues")
_INNER: Final = ("conversation", "sessions", "session", "dialogue", "dialog", "chat")
_TURNS: Final = ("turns", "messages", "dialogue", "dialog", "utterances", "chat", "conversation")
_QUESTIONS: Final = ("qa", "questions", "qas", "qa_pairs", "memory_probing", "QA")
_TURN: Final = {
    "clean_text": ("clean_text", "text", "content", "message", "utterance"),
    "speaker": ("speaker", "author", "sender", "name", "from"),
    "dia_id": ("dia_id", "id", "turn_id", "message_id"),
    "date_time": ("date_time", "timestamp", "datetime", "time", "date"),
    "blip_caption": ("blip_caption", "caption", "captions", "image_caption"),
}
_QUESTION: Final = {
    "question": ("question", "q"),
    "evidence": ("evidence", "evidences", "evidence_ids", "dia_ids", "supporting"),
    "category": ("category", "type", "question_type"),
}
_IMAGES: Final = ("images", "image", "media", "attachments")

Members = Mapping[str, Any]


def as_published(given: object) -> list[dict[str, Any]]:
    """Return the conversations of a file; raise ValueError saying what it holds instead."""
    if isinstance(given, dict):
        members = cast("dict[str, Any]", given)
        inside = next((members[name] for name in _DOCUMENTS if _objects(members.get(name))), None)
        if inside is None or _sessions(members):
            return [_conversation(members)]
        given = inside
    documents = _objects(given)
    if not documents or len(documents) < len(cast("list[object]", given)):
        raise ValueError(f"it holds something that is no conversation: not an object but {_kind(given)}")
    return [_conversation(each) for each in documents]


def _conversation(document: Members) -> dict[str, Any]:
    sessions = _sessions(document)
    if not any(turns for _, _, turns in sessions):
        raise ValueError(f'not a REALTALK conversation: no turns in "session_1"; {_seen(document)}')
    asked = next((found for name in _QUESTIONS if (found := _listed(document.get(name))) is not None), None)
    if asked is None:
        raise ValueError(f'not a REALTALK conversation: no questions in "qa"; {_seen(document)}')
    plain: dict[str, Any] = {"name": document.get("name"), "qa": [_renamed(one, _QUESTION) for one in asked]}
    for number, begun, turns in sessions:
        plain[f"session_{number}"] = _turns(turns, number)
        plain[f"session_{number}_date_time"] = begun
    return plain


def _sessions(document: Members) -> list[tuple[int, Any, list[Members]]]:
    """Return number, begin and turns of each session, in order: named ones, or those of a list by their places."""
    held: object = next(
        (document[name] for name in _INNER if isinstance(document.get(name), dict | list)), None
    )
    found = list(_named(document))
    if not found and isinstance(held, dict):
        found = list(_named(cast("Members", held)))
    if not found and isinstance(held, list):
        listed = cast("list[object]", held)
        apart = [each for each in listed if _spoken(each) is not None]
        found = [(at, _begun(each), _spoken(each) or []) for at, each in enumerate(apart, 1)]
        found = found or _parted(_objects(listed))
    return sorted(found, key=lambda one: one[0])


def _parted(turns: Sequence[Members]) -> list[tuple[int, Any, list[Members]]]:
    """Return the sessions of a list of turns, as their ids tell them apart (`D2:7`); all are one where they don't."""
    apart: dict[int, list[Members]] = {}
    for turn in turns:
        match = _ID.match(str(_first(turn, _TURN["dia_id"])))
        apart.setdefault(int(match[1]) if match else 1, []).append(turn)
    return [(number, None, spoken) for number, spoken in apart.items()]


def _named(members: Members) -> Iterator[tuple[int, Any, list[Members]]]:
    for name, value in members.items():
        match = _SESSION.fullmatch(name)
        if match and (spoken := _spoken(value)) is not None:
            yield int(match[1]), members.get(f"{name}_date_time", _begun(value)), spoken


def _spoken(value: object) -> list[Members] | None:
    """Return the turns of a session: a list, or an object with a list of them; None for anything else."""
    if isinstance(value, dict):
        members = cast("Members", value)
        value = next((members[name] for name in _TURNS if isinstance(members.get(name), list)), None)
    return _objects(cast("object", value)) if isinstance(value, list) else None


def _begun(session: object) -> Any:
    """Return when a session says that it began, where it is an object."""
    return _first(cast("Members", session), _TURN["date_time"]) if isinstance(session, dict) else None


def _turns(turns: Sequence[Members], number: int) -> list[dict[str, Any]]:
    """Return turns as published; where none of them has an id, their places are their ids: `D1:1`, `D1:2` …"""
    plain = [{"blip_caption": _captions(turn)} | _renamed(turn, _TURN) for turn in turns]
    if all(turn.get("dia_id") is None for turn in plain):
        return [turn | {"dia_id": f"D{number}:{at}"} for at, turn in enumerate(plain, 1)]
    for turn in plain:
        if isinstance(turn.get("dia_id"), int) and "clean_text" in turn:
            turn["dia_id"] = str(turn["dia_id"])
    return plain


def _captions(turn: Members) -> list[str]:
    """Return what images that are objects of their own show."""
    images = [each for name in _IMAGES for each in _objects(turn.get(name)) or _objects([turn.get(name)])]
    found = [_first(image, _TURN["blip_caption"]) for image in images]
    return [caption for caption in found if isinstance(caption, str)]


def _renamed(given: object, names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    members: Members = cast("Members", given) if isinstance(given, dict) else {}
    found = {name: _first(members, spellings) for name, spellings in names.items()}
    return {name: value for name, value in found.items() if value is not None}


def _first(members: Members, names: Sequence[str]) -> Any:
    """Return the first of these members that says something."""
    return next((members[name] for name in names if members.get(name) not in (None, "", [])), None)


def _listed(value: object) -> list[object] | None:
    """Return a list, or the values of an object, whose names are numbers or sessions."""
    if isinstance(value, dict):
        members = cast("Members", value)
        if _first(members, _QUESTION["question"]) is not None:
            return [members]
        return [one for each in members.values() for one in _listed(each) or [each]]
    return cast("list[object]", value) if isinstance(value, list) else None


def _objects(value: object) -> list[Members]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Members", each) for each in items if isinstance(each, dict)]


def _seen(document: Members) -> str:
    names = ", ".join(f'"{name[:40]}": {_kind(value)}' for name, value in list(document.items())[:_SHOWN])
    more = f" and {len(document) - _SHOWN} more" if len(document) > _SHOWN else ""
    return f"it has {names or 'no members'}{more}"


def _kind(value: object) -> str:
    match value:
        case dict():
            return f"an object of {len(cast('Members', value))}"
        case list():
            return f"a list of {len(cast('list[object]', value))}"
        case str():
            return "text"
        case None:
            return "null"
        case _:
            return "a number or truth value"
