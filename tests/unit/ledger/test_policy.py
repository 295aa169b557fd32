"""Policies as C2SP tlog-policy has them: what is read, what is refused, and what a quorum is."""

import pytest

from braid.ledger.errors import PolicyError
from braid.ledger.publish.policy import Policy, parse_policy
from braid.ledger.tree.note import (
    COSIGNATURE,
    ED25519,
    NoteSignature,
    SigningKey,
    cosign,
    format_note,
    open_note,
    parse_note,
    sign_note,
    signing_key,
)

LOG = signing_key("log.example/a", bytes([1] * 32))
KEYS = {name: signing_key(f"witness.example/{name}", bytes([number] * 32), COSIGNATURE)
        for number, name in enumerate(("X1", "X2", "X3", "Y1", "Y2", "Y3"), 2)}  # fmt: skip
EXAMPLE = f"""\
# two levels, as in the specification
log {LOG.verifier}

witness X1 {KEYS["X1"].verifier} https://x1.example/
witness X2 {KEYS["X2"].verifier}
  witness\tX3   {KEYS["X3"].verifier}
group X-witnesses 2 X1 X2 X3

witness Y1 {KEYS["Y1"].verifier}
witness Y2 {KEYS["Y2"].verifier}
witness Y3 {KEYS["Y3"].verifier}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
"""


@pytest.fixture
def policy() -> Policy:
    """The example of the specification, with keys."""
    return parse_policy(EXAMPLE.encode())


def test_what_a_policy_says(policy: Policy) -> None:
    assert [log.name for log in policy.logs] == ["log.example/a"]
    assert policy.log_key("log.example/a") == LOG.verifier
    assert policy.log_key("log.example/b") is None
    assert [witness.name for witness in policy.witnesses] == list(KEYS)
    assert policy.witnesses[0].url == "https://x1.example/"
    assert [group.least for group in policy.groups] == [2, 1, 2]


@pytest.mark.parametrize(
    ("cosigned", "enough"),
    [
        ("X1 X2 Y1", True),
        ("X1 X2 X3 Y1 Y2 Y3", True),
        ("X1 X3 Y3", True),
        ("X1 X2 X3", False),
        ("X1 Y1 Y2 Y3", False),
        ("Y1", False),
        ("", False),
    ],
)
def test_who_is_a_quorum(policy: Policy, cosigned: str, *, enough: bool) -> None:
    text = "log.example/a\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    lines = [cosign(text, KEYS[name], 1_700_000_000) for name in cosigned.split()]
    stranger = cosign(text, signing_key("witness.example/Z", bytes([99] * 32), COSIGNATURE), 1)
    signer = signing_key("log.example/a", bytes([1] * 32))
    note = format_note(text, [_own(text, signer), *lines, stranger])
    opened = open_note(note, [LOG.verifier, *policy.cosigners])
    assert policy.signed_by(opened) == set(cosigned.split())
    assert (policy.lacking(opened) == "") is enough
    assert policy.met(cosigned.split()) is enough


def _own(text: str, signer: SigningKey) -> NoteSignature:
    return parse_note(sign_note(text, [signer]))[1][0]


def test_no_witness_may_be_asked_for() -> None:
    assert parse_policy(b"quorum none\n").met([])


def test_one_witness_may_be_the_quorum() -> None:
    policy = parse_policy(f"witness w {KEYS['X1'].verifier}\nquorum w\n".encode())
    assert policy.met(["w"])
    assert not policy.met([])


def test_names_are_octets() -> None:
    kelvin, key = b"\xe2\x84\xaa", str(KEYS["X1"].verifier).encode()
    assert parse_policy(b"witness %b %b\nquorum %b\n" % (kelvin, key, kelvin)).met([kelvin.decode()])
    with pytest.raises(PolicyError, match="quorum names"):
        parse_policy(b"witness K %b\nquorum %b\n" % (key, kelvin))
    raw = b"\xff\xfe"
    assert parse_policy(b"witness %b %b\nquorum %b\n" % (raw, key, raw)).quorum


def test_thirty_two_of_each_are_read() -> None:
    lines = [f"log {signing_key(f'log.example/{n}', bytes([n] * 32)).verifier}" for n in range(32)]
    for n in range(32):
        key = signing_key(f"w.example/{n}", bytes([n] * 32), COSIGNATURE)
        lines += [f"witness w{n} {key.verifier}", f"group g{n} any w{n}"]
    lines += ["group all all " + " ".join(f"g{n}" for n in range(32)), "quorum all", ""]
    policy = parse_policy("\n".join(lines).encode())
    assert len(policy.logs) == len(policy.witnesses) == 32
    assert policy.met({f"w{n}" for n in range(32)})
    assert not policy.met({f"w{n}" for n in range(31)})


W1, W2 = f"witness a {KEYS['X1'].verifier}", f"witness b {KEYS['X2'].verifier}"
BAD = {
    "nothing": ("", "no quorum"),
    "no quorum": (f"{W1}\n", "no quorum"),
    "two quorums": ("quorum none\nquorum none\n", "line 2: there is a second"),
    "a quorum of nobody": ("quorum\n", "quorum names"),
    "a quorum of two": (f"{W1}\n{W2}\nquorum a b\n", "quorum names"),
    "a quorum that comes later": (f"quorum a\n{W1}\n", "line 1: the quorum names"),
    "a group that comes later": (f"group g any a\n{W1}\nquorum g\n", "not defined before"),
    "a group of itself": ("group g any g\nquorum g\n", "not defined before"),
    "a group of none": (f"{W1}\ngroup g any none\nquorum g\n", "not defined before"),
    "a group without members": ("group g any\nquorum g\n", "at least one member"),
    "a threshold of none": (f"{W1}\ngroup g 0 a\nquorum g\n", "threshold"),
    "a threshold above": (f"{W1}\ngroup g 2 a\nquorum g\n", "threshold"),
    "a threshold with a zero": (f"{W1}\ngroup g 01 a\nquorum g\n", "threshold"),
    "a member twice": (f"{W1}\ngroup g any a a\nquorum g\n", "member twice"),
    "a member of two groups": (f"{W1}\ngroup g any a\ngroup h any a\nquorum h\n", "member twice"),
    "a name twice": (f"{W1}\n{W1}\nquorum a\n", "taken"),
    "a group with a witness's name": (f"{W1}\ngroup a any a\nquorum a\n", "taken"),
    "a witness called none": (f"witness none {KEYS['X1'].verifier}\nquorum none\n", "taken"),
    "a key twice": (f"{W1}\nwitness b {KEYS['X1'].verifier}\nquorum a\n", "same key"),
    "a log twice": (f"log {LOG.verifier}\nlog {LOG.verifier}\nquorum none\n", "same key"),
    "a log's key as a witness": (f"witness a {LOG.verifier}\nquorum a\n", "type 0x04"),
    "a witness's key as a log": (f"log {KEYS['X1'].verifier}\nquorum none\n", "type 0x01"),
    "a key that is none": ("witness a b\nquorum a\n", "line 1"),
    "a word that is none": ("witnesses a\nquorum none\n", "is not log"),
    "a log with more": (f"log {LOG.verifier} u v\nquorum none\n", "perhaps a URL"),
    "a witness with less": ("witness a\nquorum none\n", "perhaps a URL"),
    "a carriage return": ("quorum none\r\n", "control characters"),
    "a cut file": ("quorum none", "no newline"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_policy_that_is_none_is_refused(what: str) -> None:
    text, said = BAD[what]
    with pytest.raises(PolicyError, match=said):
        parse_policy(text.encode())


def test_the_log_s_own_key_is_of_another_type() -> None:
    assert LOG.verifier.type == ED25519
