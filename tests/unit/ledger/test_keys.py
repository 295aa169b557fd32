"""Keys: who may sign what, from which record to which; nothing unlawful ever enters the log (SPEC §3.4, §3.5)."""

from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.bindings import crypto_sign, crypto_sign_seed_keypair

from braid.ledger.errors import IntegrityError, KeyRefusedError, LedgerError
from braid.ledger.keys.author_key import Signer, check_public_key, key_id, possession_message, save_signer
from braid.ledger.keys.control import ControlState, KeyLife
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import pae
from braid.ledger.record.ids import make_id
from braid.ledger.record.record import Body, Content, Draft, EventBody, ExperienceBody, KeyBody, Provenance
from braid.ledger.write.compose import Slot, compose, encode_body, finish
from braid.ledger.write.create import admission
from braid.ledger.write.writer import Writer

Drop = Callable[[Writer], None]

# The canonical encodings of the points of order 1, 2, 4, 4, 8, 8, 8, 8 (C2SP CCTV ed25519), and some not canonical.
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
]
NOT_CANONICAL = [
    "0100000000000000000000000000000000000000000000000000000000000080",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


def memory(text: str, actor: str = "user", name: str | None = None) -> Draft:
    """Return what somebody said."""
    body = ExperienceBody(content=Content(text=text), provenance=Provenance(actor=actor, name=name))
    return Draft(kind="experience", type="occurrence", body=body)


def revocation(key: str, since: int | None = None) -> Draft:
    """Return the draft that revokes a key."""
    public = {"op": "revoke", "id": key, "compromised_since": since}
    return Draft(kind="key", body=KeyBody(), public=public)


@pytest.mark.parametrize("size", [0, 1, 64, 640, 100_000])
def test_a_signature_is_that_of_the_librarys_own_wrapper(size: int) -> None:
    seed, message = bytes(range(32)), bytes(n % 251 for n in range(size))
    signed = crypto_sign(message, crypto_sign_seed_keypair(seed)[1])
    assert Signer(seed, "recorder").sign(message) + message == signed


def admit(store: Path, signer: Signer) -> int:
    """Admit a key and keep its private half in the store; return the index of its admission."""
    with closing(Writer(store)) as writer:
        index = writer.append([admission(writer.origin, signer)])[0].index
    save_signer(store / "keys", signer)
    return index


def plant(store: Path, drop: Drop, draft: Draft, signer: Signer) -> int:
    """Write a record that no writer of ours would: signed by any key; return its index. The writer then dies."""
    writer = Writer(store)
    index = writer.log.next_index
    created_at = writer.envelope(index - 1).created_at
    slot = Slot(
        index,
        make_id(
            {"experience": "exp", "key": "key", "tombstone": "tomb"}[draft.kind],
            created_at[:19] + "Z",
            index,
            1,
        ),
        writer.log.next_tx,
        0,
        1,
        writer.control.newest,
        created_at,
    )
    unsigned = compose(
        draft,
        encode_body(draft),
        [],
        slot,
        origin=writer.origin,
        key=writer.need_vault().key(index),
        author=signer.id,
    )
    writer.log.append([[finish(unsigned, signer.sign(pae(unsigned.payload)))]], sync=True)
    drop(writer)
    return index


def signer_of(store: Path, role: str) -> Signer:
    """Return the store's own private key of a role."""
    with closing(Writer(store)) as writer:
        return next(signer for signer in writer.signers.values() if signer.role == role)


def test_an_admitted_key_signs_its_owners_words(store: Path) -> None:
    agent = Signer.fresh("agent", "agent")
    admitted = admit(store, agent)
    with closing(Writer(store)) as writer:
        placed = writer.append([memory("my own", actor="agent")], signer=agent.id)[0]
        assert writer.envelope(placed.index).key == agent.id
        assert writer.control.keys[agent.id].admitted == admitted
        with pytest.raises(KeyRefusedError, match="signs for agent, not for user"):
            writer.append([memory("a user's", actor="user")], signer=agent.id)
        recorded = writer.append([memory("a user's", actor="user")])[0]
        assert writer.signers[writer.envelope(recorded.index).key].role == "recorder"
    with closing(Reader(store)) as reader:
        assert reader.at(placed.index).text == "my own"
        assert reader.at(admitted).body == KeyBody(actor="agent")


def test_a_users_key_signs_for_that_user_alone(store: Path) -> None:
    ann = Signer.fresh("user", "Ann")
    admit(store, ann)
    with closing(Writer(store)) as writer:
        writer.append([memory("hers", actor="user", name="Ann")], signer=ann.id)
        with pytest.raises(KeyRefusedError, match="signs for Ann"):
            writer.append([memory("his", actor="user", name="Bob")], signer=ann.id)
        with pytest.raises(KeyRefusedError, match="signs for Ann"):
            writer.append([memory("nobody's", actor="user")], signer=ann.id)


def test_a_tools_key_signs_for_that_tool_alone(store: Path) -> None:
    tool = Signer.fresh("tool", "tool(search)")
    admit(store, tool)
    with closing(Writer(store)) as writer:
        writer.append([memory("found", actor="tool(search)")], signer=tool.id)
        with pytest.raises(KeyRefusedError):
            writer.append([memory("computed", actor="tool(calculator)")], signer=tool.id)


def test_foreign_and_unadmitted_keys_are_refused(store: Path) -> None:
    stranger = Signer.fresh("agent")
    with (
        closing(Writer(store)) as writer,
        pytest.raises(KeyRefusedError, match="not a private key of this store"),
    ):
        writer.append([memory("x", actor="agent")], signer=stranger.id)
    save_signer(store / "keys", stranger)
    with closing(Writer(store)) as writer:
        size = writer.size
        with pytest.raises(KeyRefusedError, match="never admitted"):
            writer.append([memory("x", actor="agent")], signer=stranger.id)
        assert writer.size == size


@pytest.mark.parametrize(
    ("role", "draft"),
    [
        ("operator", memory("x")),
        ("root", memory("x")),
        ("recorder", Draft(kind="tombstone", body=Body(), public={"op": "forget"})),
        ("root", Draft(kind="tombstone", body=Body(), public={"op": "forget"})),
        ("operator", Draft(kind="key", body=KeyBody(), public={"op": "revoke", "id": "k_x"})),
        ("recorder", Draft(kind="event", body=EventBody(), public={"op": "clock", "behind_us": 1})),
    ],
)
def test_a_role_signs_only_its_kinds(store: Path, role: str, draft: Draft) -> None:
    signer = signer_of(store, role)
    with closing(Writer(store)) as writer:
        with pytest.raises(KeyRefusedError, match=f"of role {role} may not sign"):
            writer.append([draft], signer=signer.id)
        assert writer.size == 3
        writer.append([memory("y")])


def test_a_record_planted_under_a_wrong_role_is_refused_at_opening(store: Path, drop: Drop) -> None:
    index = plant(store, drop, memory("x"), signer_of(store, "operator"))
    for opening in (Reader, Writer):
        with pytest.raises(IntegrityError, match="role operator may not sign"):
            opening(store)
    assert index == 3


def test_a_record_planted_under_a_foreign_key_is_refused_at_opening(store: Path, drop: Drop) -> None:
    plant(store, drop, memory("x"), Signer.fresh("recorder"))
    with pytest.raises(IntegrityError, match="never admitted"):
        Reader(store)


def test_a_signature_is_judged_at_its_index(store: Path, drop: Drop) -> None:
    agent = Signer.fresh("agent", "agent")
    admit(store, agent)
    with closing(Writer(store)) as writer:
        before = writer.append([memory("before", actor="agent")], signer=agent.id)[0]
        revoked = writer.append([revocation(agent.id)])[0]
        with pytest.raises(KeyRefusedError, match=f"was revoked at {revoked.index}"):
            writer.append([memory("after", actor="agent")], signer=agent.id)
        assert not writer.control.keys[agent.id].disputed(before.index)
    with closing(Reader(store)) as reader:
        assert reader.at(before.index).text == "before"
    plant(store, drop, memory("planted", actor="agent"), agent)
    with pytest.raises(IntegrityError, match=f"was revoked at {revoked.index}"):
        Reader(store)


def test_a_key_is_of_no_use_before_its_admission(store: Path) -> None:
    agent = Signer.fresh("agent", "agent")
    admitted = admit(store, agent)
    with closing(Reader(store)) as reader:
        envelope = msgspec.structs.replace(reader.envelope(2), kind="experience", key=agent.id, public={})
        assert "admitted only at" in (reader.control.refusal(envelope) or "")
        later = msgspec.structs.replace(envelope, index=admitted + 1)
        assert reader.control.refusal(later) is None


def test_compromise_makes_records_disputed_and_never_invalid(store: Path) -> None:
    agent = Signer.fresh("agent", "agent")
    admit(store, agent)
    with closing(Writer(store)) as writer:
        placed = [writer.append([memory(str(n), actor="agent")], signer=agent.id)[0].index for n in range(4)]
        writer.append([revocation(agent.id, since=placed[2])])
    with closing(Reader(store)) as reader:
        life = reader.control.keys[agent.id]
        assert [life.disputed(index) for index in placed] == [False, False, True, True]
        assert [reader.at(index).text for index in placed] == ["0", "1", "2", "3"]
        assert (life.revoked, life.compromised_since) == (placed[3] + 1, placed[2])


def test_a_compromise_only_ever_reaches_further_back(store: Path) -> None:
    recorder = signer_of(store, "recorder")
    with closing(Writer(store)) as writer:
        for since in (5, 0, 3, None):
            writer.append([revocation(recorder.id, since=since)])
        assert writer.control.keys[recorder.id].compromised_since == 0
        assert writer.control.keys[recorder.id].revoked == 3
    with closing(Reader(store)) as reader:
        assert reader.control.keys[recorder.id].compromised_since == 0


@pytest.mark.parametrize("text", SMALL_ORDER + NOT_CANONICAL + ["", "00" * 31, "00" * 33, "02" + "00" * 31])
def test_weak_and_malformed_public_keys_are_refused(text: str) -> None:
    with pytest.raises(KeyRefusedError):
        check_public_key(bytes.fromhex(text))


def unlawful(origin: str, root: Signer) -> dict[str, Draft]:
    """Return control records that no log may hold, by what is wrong with them."""
    agent, other = Signer.fresh("agent"), Signer.fresh("agent")
    good = admission(origin, agent)

    def admitting(**changes: Any) -> Draft:
        return msgspec.structs.replace(good, public={**good.public, **changes})

    weak = bytes.fromhex(SMALL_ORDER[4])
    proof = b64encode(other.sign(possession_message(origin, agent.id, "agent"))).decode()
    return {
        "a key of small order": admitting(id=key_id(weak), key=b64encode(weak).decode()),
        "another's proof of possession": admitting(proof=proof),
        "a proof for another role": admitting(role="user"),
        "another id": admitting(id=other.id),
        "a second root": admission(origin, Signer.fresh("root")),
        "an unknown role": admitting(role="king"),
        "a key that is no base64": admitting(key="€"),
        "a key that is no text": admitting(key=7),
        "a key admitted twice": admission(origin, root),
        "revoking a key nobody knows": revocation("k_nobody"),
        "a compromise at no index": msgspec.structs.replace(
            revocation(root.id), public={"op": "revoke", "id": root.id, "compromised_since": "early"}
        ),
        "an operation of another kind": Draft(kind="key", body=KeyBody(), public={"op": "forget"}),
        "an unknown operation": Draft(kind="event", body=EventBody(), public={"op": "sing"}),
        "an unknown operation on a tombstone": Draft(kind="tombstone", body=Body(), public={"op": "bury"}),
        "a certificate of no erasure": Draft(
            kind="event",
            body=EventBody(),
            public={"op": "certify", "erase": 2, "records": 0, "done": [], "files": []},
        ),
        "an erasure without an epoch": Draft(kind="tombstone", body=Body(), public={"op": "erase"}),
        "a second genesis": Draft(kind="genesis", body=Body(), public={"op": "genesis"}),
    }


@pytest.mark.parametrize("what", sorted(unlawful("o", Signer.fresh("root"))))
def test_nothing_unlawful_ever_enters_the_log(store: Path, what: str) -> None:
    """What was appended can't be taken back: one such record would make the store unreadable for good."""
    root = signer_of(store, "root")
    with closing(Writer(store)) as writer:
        before = (store / "log" / "000000000000.seg").read_bytes()
        with pytest.raises(LedgerError):
            writer.append([unlawful(writer.origin, root)[what]])
        assert (store / "log" / "000000000000.seg").read_bytes() == before
        writer.append([memory("goes on")])
    with closing(Reader(store)) as reader:
        assert reader.size == 4


def test_a_whole_transaction_is_judged_in_order(store: Path) -> None:
    agent = Signer.fresh("agent")
    with closing(Writer(store)) as writer:
        with pytest.raises(LedgerError):
            writer.append([admission(writer.origin, agent), admission(writer.origin, agent)])
        writer.append([admission(writer.origin, agent), revocation(agent.id)])
        assert writer.control.keys[agent.id].revoked == 4
    Reader(store).close()


def test_a_planted_admission_of_a_weak_key_is_refused_at_opening(store: Path, drop: Drop) -> None:
    root = signer_of(store, "root")
    with closing(Reader(store)) as reader:
        draft = unlawful(reader.origin, root)["a key of small order"]
    plant(store, drop, draft, root)
    with pytest.raises(LedgerError):
        Reader(store)


def test_private_key_files_that_are_damaged_are_named(store: Path) -> None:
    (path,) = (store / "keys").glob("recorder-*.key")
    whole = path.read_bytes()
    other = Signer.fresh("recorder")
    for harmed in (
        b"",
        whole[:-5],
        whole.replace(b'"role":"recorder"', b'"role":"emperor"'),
        whole.replace(signer_of(store, "recorder").id.encode(), other.id.encode()),
    ):
        path.write_bytes(harmed)
        with pytest.raises(KeyRefusedError, match=path.name):
            Writer(store)
    path.unlink()
    with closing(Writer(store)) as writer:
        with pytest.raises(KeyRefusedError, match=r"no private key here may sign an? experience"):
            writer.append([memory("x")])
        assert writer.size == 3


def test_private_keys_are_never_shown() -> None:
    signer = Signer.fresh("agent", "agent")
    assert signer.seed.hex() not in repr(signer)
    assert b64encode(signer.seed).decode() not in repr(signer)


def test_the_fold_knows_a_key_by_its_life() -> None:
    state = ControlState()
    life = KeyLife("k", bytes(32), "agent", 5)
    state.keys["k"] = life
    assert not life.disputed(100)
    life.compromised_since = 7
    assert [life.disputed(index) for index in (6, 7, 8)] == [False, True, True]
    with pytest.raises(IntegrityError, match="never admitted"):
        state.public_key("other")
