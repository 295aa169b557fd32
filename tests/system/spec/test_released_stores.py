"""A store that some release has written opens for ever: read, verified, replayed, written to, and audited by strangers.

`tests/data/stores/make.py` made them. What is expected of each lies beside it and is never changed, but for one thing:
a new version of the projection adds its digest.
"""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.settings import FORMAT, load_settings
from braid.ledger.tree.guard import Guard
from braid.views.duck.schema import VERSION
from tests.system.spec.auditors import Job, ask_node, ask_python

STORES = Path(__file__).parents[2] / "data" / "stores"
NAMES = sorted(folder.name for folder in STORES.iterdir() if folder.is_dir())


class Released:
    """A copy of a released store, as a checkout leaves it: readable by all."""

    def __init__(self, name: str, folder: Path) -> None:
        shutil.copytree(STORES / name, folder, copy_function=shutil.copyfile)
        self.path, self.guard = folder / "memory", folder / "guard"
        self.expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())
        self.passphrase: str | None = self.expected["passphrase"]

    def open(self, *, read_only: bool = False) -> "braid.Store":
        return braid.open(
            self.path, create=False, guard_dir=self.guard, passphrase=self.passphrase, read_only=read_only
        )


@pytest.fixture(params=NAMES)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Released:
    return Released(request.param, tmp_path / "released")


def test_every_format_version_has_stores_here() -> None:
    """A release that writes another format adds its stores: `python tests/data/stores/make.py`."""
    formats = {json.loads((STORES / name / "expected.json").read_text())["format"] for name in NAMES}
    assert formats == set(range(1, FORMAT + 1))
    assert {name.removesuffix("-sealed") for name in NAMES} == {f"format-{version}" for version in formats}


def test_it_is_read_verified_and_replayed(released: Released) -> None:
    expected = released.expected
    with released.open(read_only=True) as store:
        texts = {record.id: record.text for record in store.read() if record.kind == "experience"}
        head = store.reader.published
    assert len(texts) == expected["readable"]
    assert sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest() == expected["texts"]
    assert (head.size, head.root.hex()) == (expected["size"], expected["root"])
    guard = Guard.of_store(load_settings(released.path).store_id, released.guard)
    report = verify(
        released.path,
        deep=True,
        vkey=expected["vkey"],
        guard=guard,
        passphrase=released.passphrase,
        workers=1,
    )
    assert (report.findings, report.could_not_look) == ([], [])
    with released.open() as store:
        store.replay("duck")
        digest = store.views.status()[0].digest
    assert digest
    assert str(VERSION) in expected["digests"], (
        "the projection has a new version: add its digest of each released store, once it is sure to be right"
    )
    assert digest.content == expected["digests"][str(VERSION)]
    assert (digest.size, digest.root) == (expected["size"], expected["root"])


def test_it_goes_on(released: Released) -> None:
    with released.open() as store:
        id = store.append("Said by a later release.", user_id="maya")
        store.erase(next(record.id for record in store.read() if record.text == "Straw 7."))
        assert store.get(id).text == "Said by a later release."
        report = store.verify(deep=True)
    assert (report.findings, report.could_not_look) == ([], [])


def test_strangers_find_nothing_in_it(released: Released) -> None:
    (guard,) = released.guard.iterdir()
    job = Job(released.path, released.expected["vkey"], guard)
    for verdict in (ask_python(job), ask_node([job])[0]):
        assert (verdict.findings, verdict.root) == ([], released.expected["root"])


def test_a_changed_byte_of_it_is_found(released: Released) -> None:
    segment = sorted((released.path / "log").glob("*.seg"))[0]
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    assert verify(
        released.path, vkey=released.expected["vkey"], passphrase=released.passphrase, workers=1
    ).findings
