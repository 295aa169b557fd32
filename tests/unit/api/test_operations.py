"""Every operation through the generic door: `dispatch(name, json)` gives what the method gives.

Driven by the registry: an operation that is added is asked here without a line. Its example is asked, with ids and
paths of the scene in place of those that it names; `SCENES` says what else it needs.
"""

import ast
import inspect
import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema
import msgspec
import pytest

import braid
from braid import wire
from braid.agent.program.plan import AnswerStep, Plan, ToolStep
from braid.async_store import AsyncMethods, AsyncStore
from braid.errors import AccessDeniedError, InvalidRequestError, UnknownOperationError
from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody, Provenance, Scope
from braid.operation import ALL_ACCESS, Operation
from braid.outcomes import Seen, settle
from braid.registry import ROOMS, dispatch, find, operations
from braid.store import Records, Store
from braid.tools.lab import faces
from braid.work.job import Batch

ALL: Final = operations()
NOW: Final = datetime(2025, 6, 1, tzinfo=UTC)
_ID: Final = re.compile(r"\b[a-z]+_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-f]{12}\b")
_PATHS: Final = ("path", "dest")
VOLATILE: Final = {"seconds", "verified_at", "since", "made_at", "ms"}
"""Members that differ from one call to the next: they hold how long it took, or when."""


ASKS: Final = Plan(
    steps=[
        ToolStep(name="word", tool="person", args={"question": "{question}"}),
        AnswerStep(name="end", of=["word"]),
    ]
)
"""A plan that waits for a person."""


def reading(turn: str) -> Draft:
    """What a reader found in a turn: one claim, and one that a gate let wait."""
    content = Content(text="maya lives in Porto", structured={"staged": [
        {"subject": "maya", "rel": "likes", "object": "Porto", "why": "confidence"}
    ]})  # fmt: skip
    body = ExperienceBody(
        content=content,
        provenance=Provenance(actor="agent", method="read:parse@1"),
        symbolic=[Claim(subject="maya", rel="lives_in", object="Porto", quote="I live in Porto", at=0)],
        scope=Scope(user_id="maya"),
    )
    return Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])


def dead_job(store: Store) -> str:
    """What a model failed at until it was given up."""
    batch = Batch("session-extraction", "read:model@1", ((3, 4),))
    settle(
        store.session, batch, seen=Seen(4, batch.spans), ended="dead", stage="ask", error="failed", attempts=4
    )
    return batch.id


class Scene(NamedTuple):
    """A store to ask, and the names of what is in it."""

    folder: Path
    names: dict[str, Any]

    def copy(self, to: Path) -> "Scene":
        shutil.copytree(self.folder, to)
        return Scene(to, self.names)

    def open(self) -> Store:
        ticks = iter(range(10**6))
        return braid.open(
            self.folder / "store",
            guard_dir=self.folder / "guard",
            clock=lambda: NOW + timedelta(seconds=next(ticks)),
        )


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Facts that agree and that don't, a stance, views, a tone, media, a forgotten and an erased record."""
    made = Scene(tmp_path_factory.mktemp("scene") / "made", {})
    braid.init(made.folder / "store", guard_dir=made.folder / "guard", durability="none", clock=lambda: NOW)
    names = made.names
    with made.open() as store:
        names["said"] = store.append("I live in Porto.", user_id="maya", actor="user", name="Maya")
        for home in ("Porto", "Leeds"):
            store.append(
                f"Maya lives in {home}.",
                type="inference",
                user_id="maya",
                parents=[names["said"]],
                claims=[Claim(subject="maya", rel="lives_in", object=home)],
            )
        store.append("I love it, thank you!", user_id="maya", session_id="one")
        names["two"] = [
            store.append(text, user_id="tom", claims=[Claim(subject="Ana", rel="likes", object=what)])
            for text, what in (("Ana likes tea.", "tea"), ("Ana likes rum.", "rum"))
        ]
        names["reading"] = store.session.append_drafts([reading(names["said"])])[0].id
        names["media"] = wire.to_builtins(store.attach(b"\x89PNG and more", media_type="image/png"))
        names["program"] = store.run_program("What is the code?", user_id="maya", plan=ASKS).id
        names["stance"] = store.stance("Where does Maya live?", user_id="maya").id
        views = [store.apply_lens(name, user_id="maya").id for name in ("temporal", "causal")]
        names["view"], names["other view"] = views
        names["key"] = store.admit("tool", "tool(calendar)").id
        names["token"] = store.issue_token("calendar", kind="agent", user_id="maya").id
        names["forgotten"] = store.append("Not any more.", user_id="maya")
        store.forget(names["forgotten"])
        names["erased"] = store.append("Never said.", user_id="maya")
        store.erase(names["erased"])
        names["job"] = dead_job(store)
        for name, town in (("Ada", "Hull"), ("Bo", "Bath")):
            born = Claim(subject="Rex", rel="born_in", object=town)
            store.append(f"Rex is from {town}.", user_id="maya", actor="user", name=name, claims=[born])
        for day, town in (("2025-01-03", "Bonn"), ("2025-04-02", "Ghent")):
            when = datetime.fromisoformat(day).replace(tzinfo=UTC)
            lives = Claim(subject="Ben", rel="lives_in", object=town)
            text = f"Ben lives in {town}."
            names["moved"] = store.append(
                text, user_id="tom", actor="user", name="Tom", claims=[lives], occurred_at=when
            )
        names["review"] = store.reviews(user_id="maya")[0].id
        names["shown"] = store.preview_forget("love", user_id="maya").token
        store.views.search.catch_up()
        store.snapshot()
    with braid.open(made.folder / "other", guard_dir=made.folder / "guard", clock=lambda: NOW) as other:
        other.append("From another log.")
        other.checkpoint()
        lines = "".join(f"{line.rstrip()}\n" for line in other.export_records())
    (made.folder / "memory.jsonl").write_text(lines, "utf-8")
    return made


SCENES: Final[dict[str, Callable[[Scene], dict[str, Any]]]] = {
    "recover": lambda scene: {"ids": [scene.names["forgotten"]]},
    "plan_recover": lambda scene: {"ids": [scene.names["forgotten"]]},
    "certificate": lambda scene: {"id": scene.names["erased"]},
    "revoke": lambda scene: {"id": scene.names["key"]},
    "revoke_token": lambda scene: {"id": scene.names["token"]},
    "media": lambda scene: {"media": scene.names["media"]},
    "lens_view": lambda scene: {"id": scene.names["view"]},
    "lens_difference": lambda scene: {"one": scene.names["view"], "other": scene.names["other view"]},
    "refresh_lenses": lambda scene: {"ids": [scene.names["view"]]},
    "split_entity": lambda scene: {"entity": "Ana", "turns": scene.names["two"][:1], "user_id": "tom"},
    "resume": lambda scene: {"id": scene.names["program"]},
    "program_trace": lambda scene: {"id": scene.names["program"]},
    "why_known": lambda scene: {"id": scene.names["reading"]},
    "accept_staged": lambda scene: {"id": scene.names["reading"]},
    "reject_staged": lambda scene: {"id": scene.names["reading"]},
    "judge_decision": lambda scene: {"id": scene.names["moved"], "user_id": "tom"},
    "review": lambda scene: {"id": scene.names["review"]},
    "accept_review": lambda scene: {"id": scene.names["review"]},
    "reject_review": lambda scene: {"id": scene.names["review"]},
    "modify_all": lambda scene: {"changes": [{"id": scene.names["said"], "pinned": True, "reason": "kept"}]},
    "forget_previewed": lambda scene: {"token": scene.names["shown"], "user_id": "maya"},
    "job": lambda scene: {"id": scene.names["job"]},
    "job_progress": lambda scene: {"id": scene.names["job"]},
    "retry_job": lambda scene: {"id": scene.names["job"]},
    "discard_job": lambda scene: {"id": scene.names["job"]},
    "import_records": lambda scene: {"path": str(scene.folder / "memory.jsonl")},
}
"""What an operation's example needs that isn't any record's id, or a new path."""


def asked(known: Operation, scene: Scene) -> dict[str, Any]:
    """Return an operation's example, as JSON values, of what is in the scene."""
    text = _ID.sub(scene.names["said"], wire.to_json(known.example).decode())
    request: dict[str, Any] = json.loads(text)
    for name in _PATHS:
        if isinstance(request.get(name), str):
            request[name] = str(scene.folder / f"new {known.name}")
    return request | SCENES[known.name](scene) if known.name in SCENES else request


def by_dispatch(known: Operation, scene: Scene) -> Any:
    with scene.open() as store:
        try:
            answer = dispatch(store.session, known.name, json.dumps(asked(known, scene)).encode())
        except Exception as error:
            pytest.fail(
                f"{known.name}: its example can't be asked of the scene ({type(error).__name__}: {error}): "
                "say in SCENES what it needs"
            )
        return json.loads(answer)


def by_method(known: Operation, scene: Scene) -> Any:
    request = known.decoded(json.dumps(asked(known, scene)).encode())
    members = {name: getattr(request, name) for name in request.__struct_fields__}
    several = next((name[1:] for name in known.positional if name.startswith("*")), None)
    positional = members.pop(several) if several else ()
    with scene.open() as store:
        answer = getattr(store, known.name)(*positional, **members)
        return json.loads(wire.to_json(list(answer) if known.streams else answer))


def unlike(one: Any, other: Any, *, exact: bool, place: str = "") -> list[str]:
    """Return where two answers differ; but for `exact`, where they haven't the same members of the same kinds."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(name, one[name], other[name]) for name in one if name not in VOLATILE]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(str(at), *pair) for at, pair in enumerate(zip(one, other, strict=True))]
    elif one == other or (not exact and type(one) is type(other) and isinstance(one, str | float)):
        return []
    else:
        return [f"{place}: {one!r:.200} is not {other!r:.200}"]
    return [
        found
        for name, left, right in pairs
        for found in unlike(left, right, exact=exact, place=f"{place}.{name}")
    ]


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", ALL)
def test_dispatch_gives_what_the_method_gives(name: str, scene: Scene, tmp_path: Path) -> None:
    known = ALL[name]
    exact = known.access == "read" and known.repeatable
    if exact:
        same = scene.copy(tmp_path / "same")
        one, other = by_dispatch(known, same), by_method(known, same)
    else:  # ids and keys are random: what is written twice is alike, not the same
        one, other = (
            by_dispatch(known, scene.copy(tmp_path / "one")),
            by_method(known, scene.copy(tmp_path / "two")),
        )
    told = one[known.returns] if known.returns else one
    assert unlike(told, other, exact=exact) == []
    schema = json.loads((faces.ROOT / "docs" / "schema" / f"{name}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema["response"] | {"$defs": schema["$defs"]}).validate(one)


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", ALL)
def test_its_schema_describes_its_example(name: str) -> None:
    schema = json.loads((faces.ROOT / "docs" / "schema" / f"{name}.json").read_text("utf-8"))
    for part in ("request", "response"):
        jsonschema.Draft202012Validator.check_schema(schema[part] | {"$defs": schema["$defs"]})
    validator = jsonschema.Draft202012Validator(schema["request"] | {"$defs": schema["$defs"]})
    validator.validate(schema["example"])
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(schema["example"] | {"no such member": 1})


@pytest.mark.parametrize("name", ALL)
def test_its_example_decodes_to_itself(name: str) -> None:
    known = ALL[name]
    assert known.decoded(wire.to_json(known.example)) == known.example
    assert known.checked(known.example) == known.example
    with pytest.raises(InvalidRequestError, match=f"^{name}: there is no member nonsense"):
        known.decoded(b'{"nonsense": 1}')


@pytest.mark.parametrize("name", ALL)
def test_what_is_known_of_it_is_told(name: str) -> None:
    known = ALL[name]
    assert known.room in ROOMS
    assert known.access in ALL_ACCESS
    assert known.cost in ("record", "index", "log")
    assert known.summary.endswith(".")
    assert len(known.summary) > 15
    assert all(issubclass(error, Exception) for error in known.errors)
    assert known.repeatable or known.access != "read" or "write" in known.request.__struct_fields__
    assert not known.destructive or known.access == "erase"
    members = set(known.request.__struct_fields__)
    assert {name.removeprefix("*") for name in known.positional} <= members
    if known.returns:
        assert known.returns in {field.name for field in msgspec.structs.fields(known.response)}
    for field in msgspec.structs.fields(known.request):
        assert field.default_factory is msgspec.NODEFAULT, f"{field.name} has a default that isn't a value"
        assert not isinstance(field.default, list | dict | set), field.name


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", ALL)
def test_without_its_access_it_is_refused_and_nothing_happens(
    name: str, scene: Scene, tmp_path: Path
) -> None:
    known = ALL[name]
    mine = scene.copy(tmp_path / "mine")
    with mine.open() as store:
        size = len(store)
        store.session.allowed = ALL_ACCESS - {known.access}
        with pytest.raises(AccessDeniedError, match=f"^{name} needs the access '{known.access}'"):
            dispatch(store.session, name, json.dumps(asked(known, mine)).encode())
        assert len(store) == size
        if not known.remote:
            store.session.allowed = ALL_ACCESS
            with pytest.raises(AccessDeniedError, match="ask it there"):
                dispatch(store.session, name, json.dumps(asked(known, mine)).encode(), remote=True)
            assert len(store) == size


def test_what_takes_a_path_is_not_asked_from_another_machine() -> None:
    for name, known in ALL.items():
        if set(_PATHS) & set(known.request.__struct_fields__):
            assert not known.remote, name


def test_the_end_of_a_call_is_told(scene: Scene, tmp_path: Path) -> None:
    with scene.copy(tmp_path / "mine").open() as store:
        calls: list[Any] = []
        store.session.observers.append(calls.append)
        store.get(scene.names["said"])
        with pytest.raises(braid.LedgerError):
            store.get("exp_2025-05-17T09:00:00Z_0000000300ab")
    assert [(one.name, one.error) for one in calls] == [("get", None), ("get", "UnknownRecordError")]
    assert all(one.seconds >= 0 for one in calls)


def test_an_unknown_operation_is_told_the_near_one() -> None:
    with pytest.raises(UnknownOperationError, match="did you mean remember"):
        find("rember")


@pytest.mark.parametrize("owner", [Store, AsyncStore, AsyncMethods, Records])
def test_a_public_signature_says_what_it_takes_and_gives(owner: type) -> None:
    for name, method in vars(owner).items():
        if not inspect.isfunction(method) or (name.startswith("_") and name != "__init__"):
            continue
        signature = inspect.signature(method)
        given = [one for one in signature.parameters.values() if one.name != "self"]
        assert not [one for one in given if one.kind is inspect.Parameter.VAR_KEYWORD], f"{name} takes **"
        for hint in (signature.return_annotation, *(one.annotation for one in given)):
            assert hint is not inspect.Parameter.empty, f"{name} has a parameter without a type"
            told = hint if isinstance(hint, str) else inspect.formatannotation(hint)
            words = {node.id for node in ast.walk(ast.parse(told, mode="eval")) if isinstance(node, ast.Name)}
            assert "Any" not in words, f"{name}: {told}"
