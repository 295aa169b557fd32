"""What a server answers is what its OpenAPI document says: schemathesis asks it everything, valid and not."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from braid.caller import CallerKind
from braid.tools.http.limits import Limits, read_rates
from braid.tools.http.openapi import document
from tests.system.server.running import served
from tests.system.server.test_manners import Asker, operator
from tests.unit.api.test_operations import ALL, Scene, asked, scene  # noqa: F401 - a fixture

CHECKS: Final = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance",
)  # fmt: skip
"""Not `positive_data_acceptance`: what no schema says, such as two pasts at once, is refused with a hint."""
LEFT_OUT: Final = "^/v1/tail$"
"""It waits half a minute for records to come, unless it is told not to; test_manners.py asks it."""
ORDER: Final = ("read", "write", "modify", "recover", "operate", "forget", "erase", "keys", "admin")
"""What takes away, or freezes, comes last."""
NOT_FROZEN: Final = {"change_setting": {"key": "forget_max", "value": "50"}}
"""In place of an example that would stop every change that is asked for behind it."""
RATES: Final = ",".join(f"{weight}=1000000/second" for weight in ("read", "write", "destroy", "wrong token"))


def of_the_scene(made: Scene) -> dict[str, Any]:
    """Return the document with examples that can be asked of a scene, in an order in which they can."""
    told: dict[str, Any] = json.loads(json.dumps(document()))
    for path, methods in told["paths"].items():
        if (known := ALL.get(path.removeprefix("/v1/"))) is None:
            continue
        real = asked(known, made) | NOT_FROZEN.get(known.name, {})
        methods["post"]["requestBody"]["content"]["application/json"]["example"] = real
        for one in methods.get("get", {}).get("parameters", ()):
            if "example" in one:
                one["example"] = real[one["name"]]
    told["paths"] = dict(sorted(told["paths"].items(), key=lambda each: _rank(each[0])))
    return told


def _rank(path: str) -> int:
    known = ALL.get(path.removeprefix("/v1/"))
    return ORDER.index(known.access) if known is not None else ORDER.index("forget")


def run_against(made: Scene, *options: str, scope: str | None = None) -> None:
    """Ask a server over a scene all that its document says; fail with what was answered otherwise.

    An operator asks, or with `scope` a person who is held to that user's memory.
    """
    told = made.folder / "openapi.json"
    told.write_text(json.dumps(of_the_scene(made)), "utf-8")
    with made.open() as store:
        kind: CallerKind = "person" if scope else "operator"
        secret = store.issue_token("laptop", kind=kind, user_id=scope).secret
        with served(store, port=True, limits=Limits(read_rates(RATES))) as port:
            command = [
                str(Path(sys.executable).parent / "schemathesis"), "run", str(told), "--url", f"http://127.0.0.1:{port}",
                "--header", f"Authorization: Bearer {secret}", "--checks", ",".join(CHECKS), "--seed", "1",
                "--exclude-path-regex", LEFT_OUT, "--request-timeout", "60", "--warnings", "off", "--no-color",
                "--generation-database", "none", "--no-shrink", *options,
            ]  # fmt: skip
            done = subprocess.run(
                command,
                check=False,
                cwd=made.folder,
                env=os.environ | {"COLUMNS": "160"},
                capture_output=True,
                text=True,
            )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]


@pytest.mark.soak
def test_a_server_answers_what_its_document_says(scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    run_against(scene.copy(tmp_path / "mine"), "--phases", "examples", "--max-examples", "1")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["read", "media", "export_records"])
def test_each_line_of_a_stream_is_as_described(name: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    """Schemathesis reads no JSON lines."""
    mine, told = scene.copy(tmp_path / "mine"), document()
    good = told["paths"][f"/v1/{name}"]["post"]["responses"]["200"]["content"]["application/jsonl"]["schema"]
    validator = jsonschema.Draft202012Validator(good | {"components": told["components"]})
    with mine.open() as store, served(store, port=True) as port:
        ask = Asker(port, operator(store))
        status, answer, _ = ask("POST", f"/v1/{name}", asked(ALL[name], mine))
    lines = answer.splitlines()
    assert status == 200
    assert lines
    for line in lines:
        validator.validate(json.loads(line))


@pytest.mark.soak
def test_what_is_refused_to_a_caller_of_another_scope_is_described(scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    run_against(scene.copy(tmp_path / "mine"), "--phases", "examples", "--max-examples", "1", scope="tom")


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_server_answers_what_its_document_says_at_length(scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    run_against(
        scene.copy(tmp_path / "mine"), "--phases", "examples,coverage,fuzzing", "--max-examples", "20"
    )
