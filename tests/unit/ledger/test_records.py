"""Records: every kind goes in and comes back, links and times keep their rules, and bad input is refused in words."""

from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.crypto import seal
from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure
from braid.ledger.errors import (
    BodyTooLargeError,
    ClockError,
    EnvelopeError,
    ErasedError,
    IntegrityError,
    InvalidRecordError,
    LedgerError,
    UnknownRecordError,
)
from braid.ledger.read.reader import Reader
from braid.ledger.record import validate
from braid.ledger.record.envelope import Link, LinkSummary, pae, payload_of
from braid.ledger.record.ids import make_id, parse_id
from braid.ledger.record.lattice import TYPES, join, may_derive
from braid.ledger.record.record import (
    Affect,
    AffectBody,
    AffectDelta,
    Body,
    Candidate,
    Claim,
    Confidence,
    Content,
    Decision,
    Delta,
    Draft,
    EmbeddingBody,
    EventBody,
    ExperienceBody,
    LinkDiff,
    Media,
    Provenance,
    Reweighted,
    Scope,
    Signature,
    Source,
    StanceBody,
    Vad,
    ViewBody,
)
from braid.ledger.write.compose import Slot, compose, encode_body, finish
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal.errors import WalError

Drop = Callable[[Writer], None]
NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


class At(NamedTuple):
    """A draft that stands earlier in the same transaction."""

    place: int


def memory(text: str = "x", *links: tuple[str, Any], type: str = "occurrence", **fields: Any) -> Draft:
    """Return an experience that says `text`."""
    body = ExperienceBody(content=Content(text=text), **fields)
    return Draft(kind="experience", type=type, body=body, links=links)


FULL = ExperienceBody(
    scope=Scope(user_id="ann", agent_id="a", run_id="r", session_id="s"),
    external_id="ext-1",
    tags=["one", "two"],
    occurred_at=datetime(2025, 10, 2, 17, 1, 5, 123456, tzinfo=timezone(timedelta(hours=2))),
    diffs=[LinkDiff(link=0, added="a", removed="b", reweighted=[Reweighted(link=0, w_old=0.5, w_new=1)])],
    reason="why",
    once="key",
    content=Content(
        text="ünïcode \U0001f9f6 \u2028 \0 and\ttabs",
        media=[Media(blob="0" * 64, size=10, key="k", caption="c")],
        structured={"deep": [{"x": None, "y": -1.5e300, "z": True, "": 2**53}]},
    ),
    provenance=Provenance(
        actor="tool(search)", method="call", name="n", sources=[Source(uri="http://x", hash="h")]
    ),
    evidence_uris=["urn:x"],
    confidence=Confidence(p=1.0),
    affect=Affect(vad=Vad(v=-1, a=1, d=0), labels=["joy"], intensity=0, confidence=1),
    symbolic=[
        Claim(
            subject="s",
            rel="r",
            object="o",
            polarity=False,
            valid_from=NOON,
            valid_to=NOON + timedelta(days=1),
            source_type="implicit_unintentional",
            quote="q",
        )
    ],
    embeddings={"content": "hash"},
)

# -- there and back -------------------------------------------------------------------------------


def test_every_kind_goes_in_and_comes_back(store: Path) -> None:
    with closing(Writer(store)) as writer:
        one = writer.append([memory("one")])[0].id
        drafts = [
            Draft(kind="experience", type="inference", body=FULL, links=[("parent", one)]),
            Draft(
                kind="view",
                body=ViewBody(
                    lens="kind",
                    version="2",
                    delta_from_raw=Delta(
                        added={"a": 1}, removed=["b"], reweighted=[Reweighted(link=0, w_old=1, w_new=0)]
                    ),
                    affect_delta=AffectDelta(before=Vad(v=0, a=0, d=0), after=Vad(v=1, a=1, d=1)),
                    content=Content(text="seen kindly"),
                ),
                links=[("applied_to", one)],
            ),
            Draft(
                kind="stance",
                body=StanceBody(
                    question="q?",
                    candidates=[Candidate(claim="yes", p=1), Candidate(claim="no", p=0)],
                    decision=Decision(claim="yes", residual_uncertainty=0.5),
                ),
                links=[("candidate", one), ("candidate", At(0)), ("support", At(0))],
            ),
            Draft(
                kind="affect",
                body=AffectBody(
                    actor="user",
                    stage="input",
                    valence=-1,
                    arousal=0,
                    dominance=1,
                    signals={"caps": 0.5},
                    notes="n",
                ),
                links=[("experience", one)],
            ),
            Draft(
                kind="embedding",
                body=EmbeddingBody(
                    signatures=[Signature(role="content", model="m", salience=0, metadata={"k": [1]})]
                ),
                links=[("experience", At(0))],
            ),
            Draft(kind="event", body=EventBody(name="review", data={"score": 3}), public={"name": "review"}),
        ]
        placed = writer.append(drafts)
        tombstone = erasure.forget(writer, [one], "private")
    with closing(Reader(store)) as reader:
        for draft, at in zip(drafts, placed, strict=True):
            record = reader.get(at.id)
            assert (record.kind, record.type, record.body) == (draft.kind, draft.type, draft.body)
            assert [link.role for link in record.links] == [role for role, _ in draft.links]
            assert record.envelope.public == draft.public
            assert record.envelope.tx[1:] == (drafts.index(draft), len(drafts))
        assert reader.get(placed[2].id).links[1] == Link("candidate", placed[0].index, placed[0].id)
        assert reader.get(tombstone).body == Body(reason="private")
        assert [reader.at(index).kind for index in range(3)] == ["genesis", "key", "key"]
        assert not any(
            secret in repr(reader.envelope(index))
            for secret in ("private", "seen kindly")
            for index in range(reader.size)
        )


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    ),
    st.text(),
)
def test_what_may_be_said_is_read_back_the_same(value: Any, text: str) -> None:
    body = ExperienceBody(content=Content(text=text, structured={"value": value}))
    draft = Draft(kind="experience", type="occurrence", body=body)
    try:
        text.encode()
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        with pytest.raises(InvalidRecordError, match="Unicode"):
            encode_body(draft)
        return
    validate.check_draft(draft, NOON)
    assert msgspec.json.decode(encode_body(draft), type=ExperienceBody) == body


def test_members_that_this_release_does_not_know_survive(store: Path) -> None:
    with closing(Writer(store)) as writer:
        draft = msgspec.structs.replace(memory("x"), extra={"mood_ring": {"colour": "blue"}})
        id = writer.append([draft])[0].id
        assert writer.get(id).members["mood_ring"] == {"colour": "blue"}
        assert writer.get(id).text == "x"
        with pytest.raises(InvalidRecordError, match="content"):
            writer.append([msgspec.structs.replace(draft, extra={"content": "mine"})])


# -- ids and times --------------------------------------------------------------------------------


def test_ids_read_well_sort_by_time_and_name_their_index(store: Path) -> None:
    times = iter([NOON] * 20)
    with closing(Writer(store, clock=lambda: next(times) + timedelta(days=400))) as writer:
        ids = [writer.append([memory(), memory()])[k].id for _ in range(5) for k in range(2)]
        assert ids == sorted(ids)
        assert len(set(ids)) == len(ids)
        for id in ids:
            assert id.startswith("exp_2027-02-06T12:00:00Z_")
            assert writer.envelope(parse_id(id).index).id in (id, *ids)
            assert writer.index_of(id) == parse_id(id).index
        some = ids[-1]
        for wrong in (
            "",
            "x",
            some[:-1],
            some + "0",
            some.replace("exp", "view"),
            some[:-1] + ("0" if some[-1] != "0" else "1"),
            some.upper(),
        ):
            with pytest.raises(UnknownRecordError, match=f"^{wrong}: no such record"):
                writer.get(wrong)
        with pytest.raises(UnknownRecordError, match="the log has no record 999"):
            writer.get(make_id("exp", "2026-01-01T00:00:00Z", 999, 0))


class FakeClock:
    """A clock that tests set."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def test_time_never_stands_still_or_goes_back(store: Path) -> None:
    clock = FakeClock(datetime.now(UTC) + timedelta(hours=1))
    with closing(Writer(store, clock=clock)) as writer:
        start = clock.now
        times = []
        for shift in (0, 0, -1, -299, 1):
            clock.now = start + timedelta(seconds=shift)
            times.append(writer.get(writer.append([memory()])[0].id).created_at)
        assert times == [start + timedelta(microseconds=n) for n in range(4)] + [start + timedelta(seconds=1)]


def test_a_time_is_written_to_the_microsecond_across_seconds_and_days(store: Path) -> None:
    midnight = datetime(2099, 12, 31, tzinfo=UTC) + timedelta(days=1)
    clock = FakeClock(midnight)
    with closing(Writer(store, clock=clock)) as writer:
        for shift in (-1, 0, 1, 999_999, 1_000_000, 61_000_007, 86_400_000_000):
            clock.now = midnight + timedelta(microseconds=shift)
            written = writer.envelope(writer.append([memory()])[0].index)
            assert written.created_at == f"{clock.now:%Y-%m-%dT%H:%M:%S.%fZ}"
            assert parse_id(written.id).second == f"{clock.now:%Y-%m-%dT%H:%M:%SZ}"


def test_keys_derived_ahead_are_those_of_their_indexes(tmp_path: Path) -> None:
    """Singly, in a large transaction, and singly again: each opens under the key that the vault derives by itself."""
    create_store(tmp_path / "memory", now=datetime.now(UTC), durability="none")
    with closing(Writer(tmp_path / "memory")) as writer:
        placed = [writer.append([memory(str(n))])[0] for n in range(110)]
        placed += writer.append([memory(str(n)) for n in range(110, 180)])
        placed += [writer.append([memory(str(n))])[0] for n in range(180, 330)]
        for n, one in enumerate(placed):
            assert writer.get(one.id).text == str(n)


def test_a_clock_far_behind_is_refused_until_that_is_accepted(store: Path) -> None:
    clock = FakeClock(datetime.now(UTC) + timedelta(days=30))
    with closing(Writer(store, clock=clock)) as writer:
        last = writer.get(writer.append([memory()])[0].id).created_at
        clock.now -= timedelta(minutes=5, seconds=1)
        size = writer.size
        for _ in range(2):
            with pytest.raises(ClockError, match="accept-clock"):
                writer.append([memory()])
        assert writer.size == size
        event = writer.get(writer.accept_clock("the battery died"))
        assert event.envelope.public == {"op": "clock", "behind_us": 301_000_000}
        assert event.created_at == last + timedelta(microseconds=1)
        for n in range(2, 5):
            assert writer.get(writer.append([memory()])[0].id).created_at == last + timedelta(microseconds=n)
    with closing(Writer(store, clock=clock)) as writer:  # it was accepted for good
        clock.now += timedelta(seconds=30)
        writer.append([memory()])
        clock.now = last + timedelta(hours=1)  # caught up: the acceptance has done its work
        writer.append([memory()])
        clock.now -= timedelta(hours=1)
        with pytest.raises(ClockError):
            writer.append([memory()])
    with closing(Reader(store)) as reader:
        times = [reader.envelope(index).created_at for index in range(reader.size)]
        assert times == sorted(times)


# -- links ----------------------------------------------------------------------------------------


def test_links_must_lead_to_what_is_there(store: Path) -> None:
    with closing(Writer(store)) as writer:
        one, two = (placed.id for placed in writer.append([memory("one"), memory("two")]))
        segment = (store / "log" / "000000000000.seg").read_bytes()
        unknown = make_id("exp", "2026-01-01T00:00:00Z", 77, 0)
        other = one[:-1] + ("0" if one[-1] != "0" else "1")
        for target, message in (
            (unknown, unknown),
            (other, f"{other}: no such record; index 3 is {one}"),
            ("nonsense", "nonsense"),
            (At(0), "does not stand earlier"),
            (At(5), "does not stand earlier"),
            (At(-1), "does not stand earlier"),
            (object(), "does not stand earlier"),
        ):
            with pytest.raises(UnknownRecordError, match=message):
                writer.append([memory("x", ("evidence", target))])
        with pytest.raises(InvalidRecordError, match="unknown link role 'friend'"):
            writer.append([memory("x", ("friend", one))])
        with pytest.raises(UnknownRecordError):
            writer.append([memory("first", ("parent", At(1))), memory("second")])
        assert (store / "log" / "000000000000.seg").read_bytes() == segment
        erasure.erase(writer, cascades.plan(writer, [writer.index_of(one)]), list)
        with pytest.raises(ErasedError, match=f"{one} was erased"):
            writer.append([memory("x", ("evidence", one))])
        writer.append([memory("x", ("evidence", two))])


@pytest.mark.parametrize("parent", TYPES)
@pytest.mark.parametrize("child", TYPES)
def test_derivation_goes_up_or_stays(store: Path, parent: str, child: str) -> None:
    lawful = TYPES.index(child) >= TYPES.index(parent)
    assert may_derive(parent, child) == lawful
    assert join([parent, child]) == max(parent, child, key=TYPES.index)
    with closing(Writer(store)) as writer:
        id = writer.append([memory("low", type=parent)])[0].id
        for drafts in (
            [memory("high", ("parent", id), type=child)],
            [memory("low", type=parent), memory("high", ("parent", At(0)), type=child)],
        ):
            if lawful:
                writer.append(drafts)
            else:
                with pytest.raises(InvalidRecordError, match="derivation goes up"):
                    writer.append(drafts)
        writer.append([memory("evidence is no parent", ("evidence", id), type=child)])


@pytest.mark.sample(2)
@pytest.mark.parametrize("count", [1, 255, 256, 257, 300, 20_000])
def test_up_to_many_links(store: Path, count: int) -> None:
    with closing(Writer(store)) as writer:
        ids = [placed.id for placed in writer.append([memory(str(n)) for n in range(300)])]
        wanted = [("evidence" if n % 2 else "support", ids[n % 300]) for n in range(count)]
        placed = writer.append([memory("much", *wanted), memory("behind")])
        assert isinstance(writer.envelope(placed[0].index).links, LinkSummary) == (count > 256)
    with closing(Reader(store)) as reader:
        links = reader.get(placed[0].id).links
        assert [(link.role, link.id) for link in links] == wanted
        assert reader.links(placed[0].index) == links
        assert reader.get(placed[1].id).text == "behind"
        assert [
            list(found) for envelope, found in reader.envelopes() if envelope.index == placed[0].index
        ] == [links]


def test_a_tampered_list_of_links_is_refused(store: Path) -> None:
    with closing(Writer(store)) as writer:
        ids = [placed.id for placed in writer.append([memory(str(n)) for n in range(300)])]
        big = writer.append([memory("much", *[("evidence", id) for id in ids])])[0]
    segment = store / "log" / "000000000000.seg"
    data = segment.read_bytes()
    line = f"evidence 3 {ids[0]}\n".encode()
    assert data.count(line) == 1
    opened = Reader(store)
    for other in (
        line.replace(b"evidence 3", b"evidence 4"),
        line.replace(b"evidence", b"supports"),
        line[:-2] + b"\n\n",
    ):
        segment.write_bytes(data.replace(line, other))
        with pytest.raises(LedgerError):
            opened.get(big.id)
        with pytest.raises(WalError):
            list(opened.entries())
        with pytest.raises(WalError):
            Reader(store)
    opened.close()


def test_more_links_than_the_format_holds_are_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "MAX_LINKS", 3)
    with closing(Writer(store)) as writer:
        id = writer.append([memory()])[0].id
        with pytest.raises(InvalidRecordError, match="4 links; a record holds up to 3"):
            writer.append([memory("x", *[("evidence", id)] * 4)])


# -- what is not known ----------------------------------------------------------------------------


def plant(
    store: Path, drop: Drop, kind: str, raw: bytes, edit: Callable[[bytes], bytes] = lambda payload: payload
) -> int:
    """Write a record of any kind, signed by the recorder, its payload edited before; return its index."""
    writer = Writer(store)
    signer = next(signer for signer in writer.signers.values() if signer.role == "recorder")
    index = writer.log.next_index
    created_at = writer.envelope(index - 1).created_at
    id = make_id(kind, created_at[:19] + "Z", index, 1)
    slot = Slot(index, id, writer.log.next_tx, 0, 1, writer.control.newest, created_at)
    draft = Draft(kind=kind, body=Body())
    key = writer.need_vault().key(index)
    unsigned = compose(draft, raw, [], slot, origin=writer.origin, key=key, author=signer.id)
    unsigned = msgspec.structs.replace(unsigned, payload=edit(unsigned.payload))
    writer.log.append([[finish(unsigned, signer.sign(pae(unsigned.payload)))]], sync=True)
    drop(writer)
    return index


def test_an_unknown_kind_is_not_written_but_is_read(store: Path, drop: Drop) -> None:
    with closing(Writer(store)) as writer:
        with pytest.raises(InvalidRecordError, match="unknown kind 'weather'; known: experience"):
            writer.append([Draft(kind="weather", body=Body())])
        assert writer.size == 3
    index = plant(
        store, drop, "weather", b'{"sky":"blue"}', lambda payload: payload[:-1] + b',"wind":["NE",{"kn":3}]}'
    )
    with closing(Writer(store)) as writer:  # adopted, and signed over
        behind = writer.append([memory("behind")])[0]
    with closing(Reader(store)) as reader:
        record = reader.at(index)
        assert (record.kind, record.id[:8], record.members) == ("weather", "weather_", {"sky": "blue"})
        assert payload_of(reader.stored_envelope(index)).endswith(b',"wind":["NE",{"kn":3}]}')
        with pytest.raises(ValueError, match="doesn't know the kind weather"):
            _ = record.body
        assert reader.at(behind.index).text == "behind"
        assert reader.prove(index)
        assert sum(len(batch) for batch in reader.entries()) == reader.size


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda payload: payload.replace(b'{"braid":1,', b'{"braid":2,'), "format 2"),
        (lambda payload: payload[:-1] + b',"index":3}', "repeats a member"),
        (lambda payload: payload.replace(b'{"braid":1,', b'{"braid":1,"braid":1,'), "repeats a member"),
        (lambda payload: b'{"control":2,' + payload[1:].replace(b'"control":2,', b""), "not in order"),
        (lambda payload: payload[:-1] + b',"public":{"a":1,"a":2}}', "repeats a member"),
        (lambda payload: payload.replace(b'"index":3,', b'"index":4,'), "names another index"),
        (lambda payload: payload.replace(b'"origin":"', b'"origin":"x'), "belongs to x"),
        (lambda payload: payload.replace(b'"control":2', b'"control":1'), "another control record"),
        (lambda payload: payload.replace(b'"tx":[1,0,1]', b'"tx":[1,0,2]'), "was moved"),
        (lambda payload: payload.replace(b'"tx":[1,0,1]', b'"tx":[7,0,1]'), "was moved"),
        (lambda payload: payload[:-1] + b',"links":[["friend",0,"gen_x"]]}', "unknown role"),
        (lambda payload: payload[:-1] + b',"public":{"op":"sing"}}', "may not sign|no operation"),
    ],
)
def test_a_planted_record_that_is_not_lawful_is_refused(
    store: Path, drop: Drop, edit: Callable[[bytes], bytes], message: str
) -> None:
    plant(store, drop, "event", b"{}", lambda payload: edit(payload.replace(b"event_", b"evt_")))
    before = (store / "log" / "000000000000.seg").read_bytes()
    for opening in (Reader, Writer):
        with pytest.raises((LedgerError, WalError), match=message):
            opening(store)
    assert (store / "log" / "000000000000.seg").read_bytes() == before  # whole frames are no torn tail


# -- bad input ------------------------------------------------------------------------------------

LONE = "\ud800"
BAD: list[tuple[str, str, Draft]] = [
    ("a lone surrogate in the text", "Unicode", memory(LONE)),
    ("a lone surrogate in a name", "Unicode", memory("x", provenance=Provenance(name=LONE))),
    ("a lone surrogate in a structure", "Unicode", Draft(kind="event", body=EventBody(data={"k": LONE}))),
    ("a lone surrogate in a member's name", "Unicode", Draft(kind="event", body=EventBody(data={LONE: 1}))),
    ("a lone surrogate in an extra member", "Unicode", msgspec.structs.replace(memory(), extra={"k": LONE})),
    ("a lone surrogate in the public part", "", Draft(kind="event", body=EventBody(), public={"name": LONE})),
    ("a lone surrogate in a tag", "Unicode", memory("x", tags=[LONE])),
    ("an unknown type", "unknown type 'rumour'", memory("x", type="rumour")),
    ("an experience without a type", "unknown type ''", memory("x", type="")),
    ("a type where there is none", "has no type", Draft(kind="event", type="occurrence", body=EventBody())),
    ("another kind's body", "", Draft(kind="view", body=EventBody(name="x"))),
    ("an actor nobody knows", "provenance.actor", memory("x", provenance=Provenance(actor="ghost"))),
    ("an actor that is half a tool", "provenance.actor", memory("x", provenance=Provenance(actor="tool(x"))),
    ("a claim that ends before it begins", "before its valid_from",
     memory("x", symbolic=[Claim(subject="s", rel="r", object="o", valid_from=NOON, valid_to=NOON - timedelta(1))])),
    ("a naive valid_from", "valid_from .* no time zone",
     memory("x", symbolic=[Claim(subject="s", rel="r", object="o", valid_from=NOON.replace(tzinfo=None))])),
    ("a naive time", "occurred_at .* no time zone", memory("x", occurred_at=datetime(2026, 1, 1))),  # noqa: DTZ001
    ("a time to come", "lies in the future", memory("x", occurred_at=datetime.now(UTC) + timedelta(days=2))),
    ("the year 9999", "out of range|future", memory("x", occurred_at=datetime(9999, 1, 1, tzinfo=UTC))),
    ("the year 1", "out of range", memory("x", occurred_at=datetime(1, 1, 1, tzinfo=UTC))),
    ("a diff of no link", "names link 0; the record has 0", memory("x", diffs=[LinkDiff(link=0)])),
    ("a structure nested without end", "data is nested deeper", Draft(kind="event", body=EventBody(data={"k": [[]]}))),
]  # fmt: skip
NUMBERS = [("below", -1.001), ("above", 1.001), ("nan", nan), ("inf", inf), ("-inf", -inf)]
for _name, _value in NUMBERS:
    _stance = StanceBody(question="q", candidates=[Candidate(claim="c", p=_value)])
    _decided = StanceBody(question="q", decision=Decision(claim="c", residual_uncertainty=_value))
    BAD += [
        (f"confidence {_name}", "confidence.p", memory("x", confidence=Confidence(p=_value))),
        (f"a candidate's probability {_name}", "candidates.p", Draft(kind="stance", body=_stance)),
        (f"an uncertainty {_name}", "residual_uncertainty", Draft(kind="stance", body=_decided)),
        (f"a salience {_name}", "salience",
         Draft(kind="embedding", body=EmbeddingBody(signatures=[Signature(role="r", model="m", salience=_value)]))),
        (f"an intensity {_name}", "affect.intensity",
         memory("x", affect=Affect(vad=Vad(v=0, a=0, d=0), intensity=_value))),
        (f"an affect's confidence {_name}", "affect.confidence",
         memory("x", affect=Affect(vad=Vad(v=0, a=0, d=0), confidence=_value))),
    ]  # fmt: skip
    for _axis, _vad in (
        ("valence", Vad(v=_value, a=0, d=0)),
        ("arousal", Vad(v=0, a=_value, d=0)),
        ("dominance", Vad(v=0, a=0, d=_value)),
    ):
        _zero = Vad(v=0, a=0, d=0)
        _view = ViewBody(lens="l", affect_delta=AffectDelta(before=_zero, after=_vad))
        _snap = AffectBody(actor="user", stage="s", valence=_vad.v, arousal=_vad.a, dominance=_vad.d)
        BAD += [
            (f"{_axis} {_name}", _axis, memory("x", affect=Affect(vad=_vad))),
            (f"a view's {_axis} {_name}", _axis, Draft(kind="view", body=_view)),
            (f"a snapshot's {_axis} {_name}", _axis, Draft(kind="affect", body=_snap)),
        ]
for _value in (nan, inf, -inf):
    _snap = AffectBody(actor="user", stage="s", valence=0, arousal=0, dominance=0, signals={"k": _value})
    BAD += [
        (f"{_value} in a structure", "finite", Draft(
            kind="experience", type="occurrence", body=ExperienceBody(content=Content(structured={"k": [_value]})))),
        (f"{_value} in an event", "finite", Draft(kind="event", body=EventBody(data={"k": {"l": _value}}))),
        (f"{_value} in a signature", "finite",
         Draft(kind="embedding",
               body=EmbeddingBody(signatures=[Signature(role="r", model="m", metadata={"k": _value})]))),
        (f"{_value} in a delta", "finite",
         Draft(kind="view", body=ViewBody(lens="l", delta_from_raw=Delta(added=_value)))),
        (f"{_value} in a view", "finite",
         Draft(kind="view", body=ViewBody(lens="l", content=Content(structured={"k": _value})))),
        (f"{_value} in signals", "finite", Draft(kind="affect", body=_snap)),
        (f"{_value} in an extra member", "finite", msgspec.structs.replace(memory(), extra={"k": _value})),
        (f"{_value} in the public part", "", Draft(kind="event", body=EventBody(), public={"k": _value})),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Yield a writer that all bad input is tried on: whatever is refused must leave it as it was."""
    from braid.ledger.tree.guard import Guard

    folder = tmp_path_factory.mktemp("bad-input")
    settings = create_store(folder / "memory", now=datetime.now(UTC), guard_folder=folder / "guard")
    with closing(
        Writer(folder / "memory", guard=Guard.of_store(settings.store_id, folder / "guard"))
    ) as writer:
        yield writer
        assert writer.size == 3
        writer.append([memory("fine")])


@pytest.mark.parametrize(("message", "draft"), [pytest.param(m, d, id=name) for name, m, d in BAD])
def test_bad_input_is_refused_in_words_and_leaves_nothing(
    lasting: Writer, message: str, draft: Draft
) -> None:
    if "nested" in message:
        deep: list[Any] = []
        for _ in range(200):
            deep = [deep]
        draft = Draft(kind="event", body=EventBody(data={"k": deep}))
    segment = lasting.path / "log" / "000000000000.seg"
    before = segment.stat().st_size
    with pytest.raises(InvalidRecordError, match=message or None):
        lasting.append([memory("a good one first"), draft])
    assert segment.stat().st_size == before


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", {1: 2}, {"k": (n for n in [1])}, 1j])
def test_only_json_can_be_kept(lasting: Writer, value: Any) -> None:
    for draft in (
        Draft(kind="event", body=EventBody(data={"k": value})),
        msgspec.structs.replace(memory(), extra={"k": value}),
    ):
        with pytest.raises(InvalidRecordError):
            lasting.append([draft])


def test_the_years_at_the_ends_do_not_overflow(store: Path) -> None:
    """Times near the calendar's ends, in zones that push them over it."""
    far = timezone(timedelta(hours=14))
    with closing(Writer(store)) as writer:
        for time in (
            datetime(1, 1, 1, tzinfo=far),
            datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=12))),
        ):
            with pytest.raises(InvalidRecordError):
                writer.append([memory("x", occurred_at=time)])
        id = writer.append([memory("x", occurred_at=datetime(2, 1, 1, tzinfo=far))])[0].id
        assert writer.get(id).body.occurred_at == datetime(2, 1, 1, tzinfo=far)


def test_a_body_over_the_limit_is_refused_and_one_at_it_is_kept(store: Path) -> None:
    with closing(Writer(store)) as writer:
        overhead = len(encode_body(memory("")))
        longest = "x" * (seal.MAX_BODY_BYTES - overhead - len('{"text":""}') - len('"content":') + 200)
        while len(encode_body_or_more(memory(longest))) > seal.MAX_BODY_BYTES:
            longest = longest[: -(len(encode_body_or_more(memory(longest))) - seal.MAX_BODY_BYTES)]
        with pytest.raises(
            BodyTooLargeError, match="above the limit of 16777216; put large content into a blob"
        ):
            writer.append([memory(longest + "x" * 16)])
        id = writer.append([memory(longest)])[0].id
        assert writer.get(id).text == longest
    with closing(Reader(store)) as reader:
        assert reader.get(id).text == longest


def encode_body_or_more(draft: Draft) -> bytes:
    """Return a body's JSON whatever its length."""
    return msgspec.json.encode(draft.body)


def test_a_transaction_is_all_or_nothing_from_the_first_check(store: Path) -> None:
    with closing(Writer(store)) as writer:
        with pytest.raises(ValueError, match="at least one"):
            writer.append([])
        with pytest.raises(InvalidRecordError):
            writer.append([memory("good"), memory("bad", confidence=Confidence(p=2))])
        with pytest.raises(ValueError, match="2 keys for 1 drafts"):
            writer.append([memory()], keys=["a", "b"])
        assert writer.size == 3
        assert writer.append([memory("next")])[0].index == 3


def test_an_envelope_stays_below_its_limit(store: Path) -> None:
    with closing(Writer(store)) as writer:
        blobs: Sequence[tuple[str, int]] = [("ab" * 32, 1000)] * 1000
        with pytest.raises(InvalidRecordError, match="65535"):
            writer.append([msgspec.structs.replace(memory(), blobs=blobs)])
        with pytest.raises(InvalidRecordError, match="65535"):
            writer.append([Draft(kind="event", body=EventBody(), public={"x": "y" * 60_000})])
        writer.append([msgspec.structs.replace(memory(), blobs=blobs[:400])])
    with closing(Reader(store)) as reader:
        assert reader.envelope(3).blobs == list(blobs[:400])


def test_a_body_of_its_own_making_is_never_believed(store: Path) -> None:
    """A sealed body under another record's key, name or place does not open."""
    with closing(Writer(store)) as writer:
        one, two = writer.append([memory("one"), memory("two")])
        envelope = writer.envelope(one.index)
        vault = writer.need_vault()
        body = writer.log.body(one.index)
        assert b"one" in writer.unseal(envelope, vault.key(one.index), body)
        with pytest.raises(IntegrityError, match="commits to"):
            writer.unseal(envelope, vault.key(two.index), body)
        with pytest.raises(IntegrityError, match=r"body of .* is not what was signed"):
            writer.unseal(envelope, vault.key(one.index), writer.log.body(two.index))
        with pytest.raises(IntegrityError):
            writer.unseal(envelope, vault.key(one.index), body[:-1])


def test_errors_are_of_the_ledgers_own_kind() -> None:
    assert issubclass(InvalidRecordError, (LedgerError, ValueError))
    assert issubclass(EnvelopeError, LedgerError)
