"""The ceremony of keys: others take their place, heads are signed by all in force, and old pins lead to the new key."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.ledger.audit.verify import verify
from braid.ledger.crypto.passphrase import KdfCost
from braid.ledger.errors import IntegrityError, InvalidRecordError, KeyRefusedError, LedgerError
from braid.ledger.keys import author_key, control
from braid.ledger.keys.author_key import Signer, key_id, load_signers
from braid.ledger.keys.control import refuse_shared
from braid.ledger.keys.keyfile import is_sealed
from braid.ledger.keys.logkeys import load_log_keys
from braid.ledger.keys.vault import Vault
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody, KeyBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import parse_checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import SigningKey, parse_note, parse_vkey, signing_key
from braid.ledger.write import ceremony, create
from braid.ledger.write.ceremony import retire_log_key, rotate_log_key, rotate_signer, seal_keys, take_in
from braid.ledger.write.create import admission, create_store
from braid.ledger.write.writer import Writer
from tests.system.spec.auditors import Job, ask_node, ask_python

CHEAP = KdfCost(1, 8)


@contextmanager
def writing(store: Path, passphrase: str | None = None, *, headless: bool = False) -> Iterator[Writer]:
    writer = Writer(store, passphrase=passphrase, headless=headless)
    try:
        yield writer
    finally:
        writer.close()


def say(writer: Writer, text: str = "said") -> str:
    body = ExperienceBody(content=Content(text=text))
    return str(writer.append([Draft(kind="experience", type="occurrence", body=body)])[0].id)


def guard_of(store: Path) -> Guard:
    return Guard.of_store(load_settings(store).store_id)


def signers_of(note: bytes) -> int:
    return len(parse_note(note)[1])


def clean(store: Path, pinned: str) -> None:
    """All three audits find nothing, with this key pinned."""
    report = verify(store, vkey=pinned)
    assert (report.findings, report.could_not_look) == ([], [])
    job = Job(store, pinned, guard_of(store).path)
    assert ask_python(job).findings == []
    assert ask_node([job])[0].findings == []


@pytest.fixture
def rotated(store: Path) -> tuple[Path, str, str]:
    """A store whose log key has been rotated: records under the old key, under both, under the new one."""
    with writing(store) as writer:
        old = str(writer.vkey)
        say(writer)
        new = rotate_log_key(writer)
        say(writer)
        writer.checkpoint()
        retire_log_key(writer, old)
        say(writer)
    return store, old, new


def test_old_and_new_sign_for_an_overlap(store: Path) -> None:
    with writing(store) as writer:
        old = str(writer.vkey)
        assert signers_of(writer.checkpoint_note) == 1
        new = rotate_log_key(writer)
        assert signers_of(writer.checkpoint_note) == 2
        assert str(writer.vkey) == new != old
        say(writer)
    clean(store, old)
    clean(store, new)
    head = guard_of(store).read()
    assert head
    assert (head.vkey, head.log_keys) == (new, [old, new])
    with writing(store) as writer:  # and again
        say(writer)
        writer.checkpoint()
        assert signers_of(writer.checkpoint_note) == 2
        assert str(Reader(store).vkey) == new


def test_an_old_pin_leads_to_the_new_key(rotated: tuple[Path, str, str]) -> None:
    store, old, new = rotated
    clean(store, old)
    clean(store, new)
    with writing(store) as writer:
        assert signers_of(writer.checkpoint_note) == 1
        assert [str(key) for key in writer.log_keys] == [old, new]
        assert list(load_log_keys(store)) == [new], "the retired key's private half is wiped"
    other = str(signing_key(Reader(store).origin, bytes(32)).verifier)
    report = verify(store, vkey=other)
    assert ("checkpoint", 0) in {(one.kind, one.index) for one in report.findings}


def test_a_store_without_its_guard_still_opens_for_reading(rotated: tuple[Path, str, str]) -> None:
    store, old, new = rotated
    guard_of(store).path.unlink()
    reader = Reader(store)
    assert (reader.guarded, str(reader.vkey)) == (None, new)
    report = verify(store, vkey=old)
    assert report.findings == []
    with pytest.raises(LedgerError, match="missing"):
        Writer(store)


def test_since_goes_on_across_a_rotation(store: Path) -> None:
    state = verify(store).state
    assert state
    with writing(store) as writer:
        old = str(writer.vkey)
        rotate_log_key(writer)
        retire_log_key(writer, old)
        say(writer)
    report = verify(store, since=state)
    assert (report.findings, report.verified_from) == ([], state.size)
    assert report.state
    assert verify(store, since=report.state).findings == []


def test_dying_between_guard_and_head(store: Path, tmp_path: Path) -> None:
    """The guard knows the new key, the published head is of before: opening takes it in and publishes."""
    for path in ("checkpoint", "checkpoints", "tile"):
        source = store / path
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / path)
    with writing(store) as writer:
        rotate_log_key(writer, lost=True)
        new = str(writer.vkey)
    shutil.rmtree(store / "tile")
    shutil.copytree(tmp_path / "tile", store / "tile")
    for path in ("checkpoint", "checkpoints"):
        shutil.copy(tmp_path / path, store / path)
    assert str(Reader(store).vkey) == new
    with writing(store) as writer:
        say(writer)
    assert verify(store, vkey=new).findings == []


def test_a_lost_log_key_is_replaced(store: Path) -> None:
    old = str(Reader(store).vkey)
    (store / "keys" / "log.key").unlink()
    with pytest.raises(KeyRefusedError, match="key rotate log --lost"):
        Writer(store)
    with writing(store, headless=True) as writer:
        new = rotate_log_key(writer, lost=True, reason="disk broke")
        assert signers_of(writer.checkpoint_note) == 1
        say(writer)
    clean(store, new)
    clean(store, old)
    with writing(store) as writer:
        assert str(writer.vkey) == new


def _publish(store: Path, *keys: SigningKey) -> None:
    """Sign the present tree with these keys alone, as their holder might."""
    head = parse_checkpoint(parse_note((store / "checkpoint").read_bytes())[0])
    (store / "checkpoint").write_bytes(sign_checkpoint(head, keys))


def test_a_head_without_one_of_its_signatures_is_refused(store: Path) -> None:
    with writing(store) as writer:
        rotate_log_key(writer)
    old, new = load_log_keys(store).values()
    for key in (old, new):
        _publish(store, key)
        report = verify(store)
        assert [one.kind for one in report.findings] == ["checkpoint"]
        assert "lacks a signature" in report.findings[0].message
        job = Job(store, None, guard_of(store).path)
        assert ask_python(job).findings == ask_node([job])[0].findings == [("checkpoint", None)]
        with pytest.raises(LedgerError, match="lacks a signature"):
            Reader(store)


def test_a_retired_key_signs_no_head(store: Path) -> None:
    with writing(store) as writer:
        old = load_log_keys(store)[str(writer.vkey)]
        rotate_log_key(writer)
        retire_log_key(writer, str(old.verifier))
        say(writer)
    _publish(store, old)
    assert "checkpoint" in {one.kind for one in verify(store).findings}
    with pytest.raises(LedgerError, match="lacks a signature"):
        Reader(store)


def test_what_is_no_lawful_ceremony(store: Path) -> None:
    with writing(store) as writer:
        vkey = str(writer.vkey)
        other = str(signing_key("elsewhere.example", bytes(32)).verifier)
        for public in (
            {"op": "log_key", "vkey": vkey},
            {"op": "log_key", "vkey": other},
            {"op": "log_key", "vkey": "nonsense"},
            {"op": "log_key"},
            {"op": "retire_log_key", "vkey": vkey},
            {"op": "retire_log_key", "vkey": other},
        ):
            with pytest.raises(InvalidRecordError, match="nothing was written"):
                writer.append([Draft(kind="key", body=KeyBody(), public=public)])
        with pytest.raises(KeyRefusedError, match="no key in force"):
            retire_log_key(writer, other)
        assert writer.size == 3


def _admits(writer: Writer, key: SigningKey) -> Draft:
    return admission(writer.origin, Signer(key.seed, "agent"))


def test_no_key_of_the_log_becomes_an_authors(rotated: tuple[Path, str, str]) -> None:
    """Neither the present one nor one that is retired: what it signs as an author could pass for a head."""
    store, old, new = rotated
    with writing(store) as writer:
        present = load_log_keys(store)[new]
        with pytest.raises(KeyRefusedError, match=r"signs heads and nothing else.*key admit"):
            take_in(writer, Signer(present.seed, "agent"), [_admits(writer, present)])
        assert not list((store / "keys").glob("agent-*")), "its private half was not left there"
        with pytest.raises(KeyRefusedError, match=r"nothing was written.*heads and nothing else.*key admit"):
            writer.append([_admits(writer, present)])
        size = writer.size
        say(writer)
        assert writer.size == size + 1, "the handle goes on"
    assert old in Reader(store).control.log_keys
    with pytest.raises(KeyRefusedError, match="signs heads and nothing else"):
        refuse_shared([parse_vkey(old).public], Reader(store).control.log_keys)


def test_a_log_that_holds_such_a_record_is_told_what_is_wrong_alone(
    rotated: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who reads it, opens it or audits it can make no fresh key: the record is there."""
    store, _, new = rotated
    present = load_log_keys(store)[new]
    with monkeypatch.context() as lax:
        lax.setattr(control, "need_two_keys", lambda authors, log_keys: None)
        with writing(store) as writer:
            (made,) = writer.append([_admits(writer, present)])
    author = key_id(present.verifier.public)
    with pytest.raises(IntegrityError) as told:
        Reader(store)
    (finding,) = verify(store).findings
    for message in (str(told.value), finding.message):
        assert message == (
            f"{made.id}: the key {author} is an author's and the log's, and the log's signs heads and nothing else: "
            "unlawful in format 1 (SPEC §3.4)"
        )


def test_no_authors_key_becomes_the_logs(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with writing(store) as writer:
        recorder = next(one for one in writer.signers.values() if one.role == "recorder")
        rotate_signer(writer, recorder.id)  # revoked since: it was an author's, and that is enough
        monkeypatch.setattr(ceremony, "random", lambda size: recorder.seed)
        size, files = writer.size, sorted((store / "keys").iterdir())
        with pytest.raises(KeyRefusedError, match=r"signs heads and nothing else.*key rotate log"):
            rotate_log_key(writer)
        vkey = str(signing_key(writer.origin, recorder.seed).verifier)
        with pytest.raises(KeyRefusedError, match="signs heads and nothing else"):
            writer.append([Draft(kind="key", body=KeyBody(), public={"op": "log_key", "vkey": vkey})])
        assert (writer.size, sorted((store / "keys").iterdir())) == (size, files)
    assert verify(store).findings == []


def test_no_store_begins_with_a_key_of_two_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of randomness that repeats itself is all that it takes."""
    for module in (author_key, create):
        monkeypatch.setattr(module, "random", bytes)
    with pytest.raises(KeyRefusedError, match="signs heads and nothing else"):
        create_store(tmp_path / "new", now=datetime.now(UTC), guard_folder=tmp_path / "guards")
    assert not (tmp_path / "new").exists()


# -- authors ----------------------------------------------------------------------------------------


def test_an_author_key_is_replaced(store: Path) -> None:
    with writing(store) as writer:
        old = next(one for one in writer.signers.values() if one.role == "recorder")
        before = say(writer)
        new = rotate_signer(writer, old.id, reason="laptop replaced")
        after = say(writer)
        lives = writer.control.keys
        assert (lives[old.id].revoked, lives[new.id].admitted) == (5, 4)
        assert writer.envelope(writer.index_of(before)).key == old.id
        assert writer.envelope(writer.index_of(after)).key == new.id
        with pytest.raises(KeyRefusedError, match="revoked at 5"):
            rotate_signer(writer, old.id)
        with pytest.raises(KeyRefusedError, match="never admitted"):
            rotate_signer(writer, "k_nobody")
        root = next(one for one in writer.signers.values() if one.role == "root")
        with pytest.raises(KeyRefusedError, match="genesis"):
            rotate_signer(writer, root.id)
    assert verify(store).findings == []
    assert new.id in load_signers(store / "keys")


def test_an_author_key_may_stay_for_an_overlap(store: Path) -> None:
    with writing(store) as writer:
        agent = Signer.fresh("agent", "planner")
        writer.append([admission(writer.origin, agent)])
        writer.signers[agent.id] = agent
        new = rotate_signer(writer, agent.id, overlap=True)
        assert (new.role, new.actor) == ("agent", "planner")
        assert writer.control.keys[agent.id].revoked is None
    assert verify(store).findings == []


def test_a_lost_author_key_is_revoked_and_another_admitted(store: Path) -> None:
    lost = next(one for one in load_signers(store / "keys").values() if one.role == "recorder")
    (store / "keys" / f"recorder-{lost.id}.key").unlink()
    with writing(store) as writer:
        with pytest.raises(KeyRefusedError, match="no private key here may sign"):
            say(writer)
        new = rotate_signer(writer, lost.id, reason="lost")
        say(writer)
        assert writer.control.keys[lost.id].revoked is not None
        assert writer.signers[new.id].role == "recorder"
    assert verify(store).findings == []


# -- roots ------------------------------------------------------------------------------------------


def test_the_spare_root_goes_on_where_the_first_was_stolen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thief admits a key of his own; the spare, alone at hand, revokes both. Every audit takes the log as it is."""
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "guard"))
    store = tmp_path / "memory"
    create_store(store, now=datetime.now(UTC), spare_root=True)
    first, spare = (one for one in load_signers(store / "keys").values() if one.role == "root")
    (store / "keys" / f"root-{spare.id}.key").rename(tmp_path / "spare")
    with writing(store) as writer:
        thief = Signer.fresh("recorder")
        writer.append([admission(writer.origin, thief)])
        pinned = str(writer.vkey)
    (store / "keys" / f"root-{first.id}.key").unlink()
    with writing(store) as writer, pytest.raises(KeyRefusedError, match="only a root key"):
        revoke(writer, first.id)
    (tmp_path / "spare").rename(store / "keys" / f"root-{spare.id}.key")
    with writing(store) as writer:
        for stolen in (first, thief):
            revoke(writer, stolen.id, since=3)
        operator = next(one for one in writer.signers.values() if one.role == "operator")
        new = rotate_signer(writer, operator.id)
        assert writer.envelope(writer.size - 2).key == spare.id
        say(writer)
        writer.signers[first.id] = first  # who still has it
        for id in (spare.id, new.id):
            with pytest.raises(KeyRefusedError, match=f"{first.id} was revoked"):
                revoke(writer, id, signer=first.id)
        lives = writer.control.keys
        assert [lives[one].revoked is None for one in (first.id, thief.id, spare.id)] == [False, False, True]
    clean(store, pinned)


def test_a_root_without_a_spare_ends_itself_and_the_log_goes_on(store: Path) -> None:
    with writing(store) as writer:
        root = next(one for one in writer.signers.values() if one.role == "root")
        pinned = str(writer.vkey)
        revoke(writer, root.id)
        say(writer)
        with pytest.raises(KeyRefusedError, match="was revoked"):
            writer.append([admission(writer.origin, Signer.fresh("agent", "planner"))])
    clean(store, pinned)


def test_no_root_is_ever_admitted(store: Path) -> None:
    """Readers of format 1 refuse it, and so must writers: a log that some can't read is no log."""
    with writing(store) as writer, pytest.raises(InvalidRecordError, match="not lawful"):
        writer.append([admission(writer.origin, Signer.fresh("root"))])


def revoke(writer: Writer, id: str, *, since: int | None = None, signer: str | None = None) -> None:
    public = {"op": "revoke", "id": id, "compromised_since": since}
    writer.append([Draft(kind="key", body=KeyBody(reason="stolen"), public=public)], signer=signer)


# -- at rest ----------------------------------------------------------------------------------------


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose vault has a passphrase, at a cost that tests can pay."""
    create = Vault.create
    monkeypatch.setattr(
        Vault, "create", lambda path, store_id, phrase=None: create(path, store_id, phrase, cost=CHEAP)
    )
    create_store(tmp_path / "locked", now=datetime.now(UTC), passphrase="open")
    return tmp_path / "locked"


def test_private_keys_are_sealed_at_rest(locked: Path) -> None:
    files = sorted((locked / "keys").glob("*.key"))
    seeds = [path.read_bytes() for path in files]
    with writing(locked, "open") as writer:
        assert [path.name for path in seal_keys(writer)] == [path.name for path in files]
        assert seal_keys(writer) == []
        admitted = rotate_signer(
            writer, next(id for id, one in writer.signers.items() if one.role == "recorder")
        )
        rotate_log_key(writer)
    for path in (locked / "keys").iterdir():
        assert is_sealed(path), path
        assert path.stat().st_mode & 0o777 == 0o600
    assert len(files) + 2 == len(list((locked / "keys").iterdir()))
    everything = b"".join(path.read_bytes() for path in locked.rglob("*") if path.is_file())
    assert not any(seed in everything for seed in seeds)
    with writing(locked, "open") as writer:
        say(writer)
        assert admitted.id in writer.signers
    assert verify(locked, passphrase="open").findings == []


def test_sealed_keys_open_with_their_passphrase_alone(locked: Path) -> None:
    with writing(locked, "open") as writer:
        seal_keys(writer)
    for phrase, reason in ((None, "sealed under a passphrase"), ("other", "does not open it")):
        with pytest.raises(KeyRefusedError, match=reason):
            load_signers(locked / "keys", phrase)
    one, two, *_ = sorted((locked / "keys").glob("r*.key"))
    one_bytes = one.read_bytes()
    one.write_bytes(two.read_bytes())  # a sealed file is bound to its name
    with pytest.raises(KeyRefusedError, match="does not open it"):
        load_signers(locked / "keys", "open")
    for damaged in (
        one_bytes[:-9],
        one_bytes.replace(b'"operations":1', b'"operations":99'),
        b'{"braid_sealed_key":2}',
    ):
        one.write_bytes(damaged)
        with pytest.raises(KeyRefusedError, match=r"damaged|not a sealed key"):
            load_signers(locked / "keys", "open")


def test_sealing_goes_on_where_it_died(locked: Path) -> None:
    path = next((locked / "keys").glob("log*.key"))
    left = path.with_name(f"{path.name}.old")
    left.write_bytes(path.read_bytes())
    with writing(locked, "open") as writer:
        seal_keys(writer)
    assert not left.exists()
    assert is_sealed(path)


def test_keys_are_sealed_under_the_vaults_passphrase_or_not_at_all(store: Path) -> None:
    with writing(store) as writer, pytest.raises(KeyRefusedError, match="the vault has no passphrase"):
        seal_keys(writer)
