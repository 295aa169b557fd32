"""Whoever pinned a key of a log that has another one now: mirrors and monitors follow its records to it, or refuse."""

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from braid.ledger.errors import RefusedLogError
from braid.ledger.keys.logkeys import load_log_key, load_log_keys
from braid.ledger.publish.folder import Folder, Outlet
from braid.ledger.publish.mirror import copy_log, current_head, finish_copy
from braid.ledger.publish.offer import KeylessReader
from braid.ledger.publish.remote import ServedLog, open_head
from braid.ledger.record.envelope import unwrap, wrap
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import parse_checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import VerifierKey, parse_note, parse_vkey, signing_key
from braid.ledger.witness.monitor import AlertLimits, MonitorState, compare, look, read_state
from braid.ledger.write.ceremony import retire_log_key, rotate_log_key
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.tools.tlog.sources import own_log
from tests.unit.ledger.made_log import MadeLog, fetch_from

NOW = 1_700_000_000


class Scene:
    """A store that publishes, a mirror and a monitor that pinned its first key."""

    def __init__(self, home: Path) -> None:
        self.home, self.store, self.served, self.copy = home, home / "memory", home / "served", home / "copy"
        create_store(self.store, now=datetime.now(UTC), guard_folder=home / "guard")
        self.guard = Guard.of_store(load_settings(self.store).store_id, home / "guard")
        self.old = load_log_key(self.store)
        self.state: MonitorState | None = None

    def write(self, act: Callable[[Writer], object] = lambda writer: None) -> None:
        with closing(Writer(self.store, guard=self.guard)) as writer:
            body = ExperienceBody(content=Content(text="said"))
            writer.append([Draft(kind="experience", type="occurrence", body=body)])
            act(writer)
        with own_log(self.store, self.guard) as log, closing(Outlet(self.served)) as outlet:
            head = log.head()
            copy_log(log, outlet, head)
            finish_copy(log, outlet, head)

    def rotate(self) -> None:
        self.write(rotate_log_key)

    def retire(self, key: VerifierKey | None = None) -> None:
        vkey = str(key or self.old.verifier)
        self.write(lambda writer: retire_log_key(writer, vkey))

    def mirror(
        self, fetch: Callable[[str], bytes] | None = None, pinned: VerifierKey | None = None
    ) -> VerifierKey:
        with closing(Outlet(self.copy)) as outlet:
            served = ServedLog(fetch or Folder(self.served).fetch, pinned or self.old.verifier)
            log, head = current_head(served, outlet)
            copy_log(log, outlet, head)
            finish_copy(log, outlet, head)
        return log.vkey

    def look(self, fetch: Callable[[str], bytes] | None = None) -> list[str]:
        pinned = parse_vkey(self.state.vkey) if self.state else self.old.verifier
        seen = look(ServedLog(fetch or Folder(self.served).fetch, pinned), self.state, AlertLimits(), NOW)
        self.state = seen.state
        return [alarm.kind for alarm in seen.alarms]

    def entries(self) -> list[bytes]:
        with closing(KeylessReader(self.store, guard=self.guard)) as reader:
            return [reader.stored_envelope(index) for index in range(reader.published.size)]

    @property
    def newest(self) -> VerifierKey:
        with closing(KeylessReader(self.store, guard=self.guard)) as reader:
            return reader.vkey


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.write()
    made.mirror()
    assert made.look() == []
    return made


def signers(folder: Path) -> int:
    return len(parse_note((folder / "checkpoint").read_bytes())[1])


def test_while_both_sign_either_pin_is_enough(scene: Scene) -> None:
    scene.rotate()
    assert signers(scene.served) == 2
    assert scene.mirror() == scene.old.verifier
    assert signers(scene.copy) == 2, "a mirror's mirror may have pinned the new one"
    for key in (scene.old.verifier, scene.newest):
        assert open_head(Folder(scene.copy).fetch("checkpoint"), key).vkey == key
    assert scene.look() == ["key"]


def test_the_pinned_key_is_followed_to_the_one_that_signs_now(scene: Scene) -> None:
    scene.rotate()
    scene.mirror()
    scene.retire()
    assert signers(scene.served) == 1
    assert scene.mirror() == scene.newest != scene.old.verifier
    assert open_head(Folder(scene.copy).fetch("checkpoint"), scene.newest).vkey == scene.newest
    scene.write()
    assert scene.mirror() == scene.newest, "still under the old pin: the folder keeps what leads on"
    assert scene.mirror(pinned=scene.newest) == scene.newest
    assert scene.look() == ["key", "key"]
    assert scene.state
    assert scene.state.vkey == str(scene.newest)
    assert read_state(msgspec.json.encode(scene.state)) == scene.state
    scene.write()
    assert scene.look() == []
    assert compare(scene.state, scene.state).conflict is None


def test_several_changes_are_followed_at_once(scene: Scene) -> None:
    for _ in range(2):
        before = scene.newest
        scene.rotate()
        scene.retire(before)
    assert scene.mirror() == scene.newest
    assert scene.look() == ["key"] * 4
    before = scene.newest
    scene.write(lambda writer: rotate_log_key(writer, lost=True))
    assert before != scene.newest
    assert scene.mirror() == scene.newest
    assert scene.look() == ["key"] * 2


def test_a_first_copy_under_a_retired_key_is_refused(scene: Scene) -> None:
    scene.rotate()
    scene.retire()
    shutil.rmtree(scene.copy)
    with pytest.raises(RefusedLogError, match="signature"):
        scene.mirror()
    scene.state = None
    assert scene.look() == ["signature"]


def refused(scene: Scene, fetch: Callable[[str], bytes], reason: str) -> None:
    """Mirror and monitor refuse, under this name, and stand where they stood."""
    before, state = (scene.copy / "checkpoint").read_bytes(), scene.state
    with pytest.raises(RefusedLogError) as told:
        scene.mirror(fetch)
    assert told.value.reason == reason, told.value
    assert (scene.copy / "checkpoint").read_bytes() == before
    assert scene.look(fetch) == [reason]
    assert scene.state
    assert state
    assert (scene.state.vkey, scene.state.trail) == (state.vkey, state.trail)


def forged(scene: Scene, entries: list[bytes], *, own: bool = True) -> Callable[[str], bytes]:
    """Serve these entries under a key of the forger's, named like the log's."""
    key = signing_key(scene.old.name, bytes(32)) if own else scene.old
    made = MadeLog(entries, key)
    return fetch_from(made.files(len(entries)))


def test_a_head_under_a_key_that_no_record_names_is_refused(scene: Scene) -> None:
    refused(scene, forged(scene, scene.entries()), "succession")


def test_a_record_that_nobody_signed_names_no_key(scene: Scene) -> None:
    """The forger writes the record that names its key, and can't sign it as the root key does."""
    scene.rotate()
    stored = scene.entries()
    at = next(k for k, one in enumerate(stored) if b'"op":"log_key"' in unwrap(one).payload)
    named = unwrap(stored[at])
    forger = signing_key(scene.old.name, bytes(32)).verifier
    payload = named.payload.replace(str(scene.newest).encode(), str(forger).encode())
    assert payload != named.payload
    lie = [*stored[:at], wrap(payload, named.signature)]
    refused(scene, forged(scene, lie), "succession")


def test_the_new_key_alone_is_not_enough_while_both_must_sign(scene: Scene) -> None:
    scene.rotate()
    old, new = (load_log_keys(scene.store)[str(key)] for key in (scene.old.verifier, scene.newest))
    note = (scene.served / "checkpoint").read_bytes()
    head = parse_checkpoint(parse_note(note)[0])
    for key, reason in ((new, "succession"), (old, None)):
        (scene.served / "checkpoint").write_bytes(sign_checkpoint(head, [key]))
        if reason:
            refused(scene, Folder(scene.served).fetch, reason)
    assert scene.mirror() == scene.old.verifier


def test_not_even_the_new_key_may_show_another_past(scene: Scene) -> None:
    scene.rotate()
    scene.mirror()
    scene.look()
    scene.retire()
    entries = scene.entries()
    entries[3] = wrap(unwrap(entries[4]).payload, unwrap(entries[4]).signature)
    key = load_log_keys(scene.store)[str(scene.newest)]
    made = MadeLog(entries, key)
    refused(scene, fetch_from(made.files(len(entries))), "succession")


def test_an_older_head_under_the_new_key_is_refused(scene: Scene) -> None:
    scene.rotate()
    key = load_log_keys(scene.store)[str(scene.newest)]
    entries = scene.entries()
    scene.mirror()
    scene.look()
    made = MadeLog(entries, key)
    refused(scene, fetch_from(made.files(3)), "succession")
