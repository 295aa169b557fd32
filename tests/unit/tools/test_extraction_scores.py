"""How extraction is scored, by hand-made cases: observations, labels, shares with intervals, what a reader is shown."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from braid.learn.turn import KnownClaims, Turn, TurnNote, TurnReading
from braid.ledger.record.record import Claim
from braid.tools.evaluation.extraction import evaluate, read_talk
from braid.tools.evaluation.extraction_plot import plotted
from braid.tools.evaluation.extraction_scores import (
    Counted,
    Scored,
    at_most,
    content_words,
    curve,
    is_of,
    judged,
    shares,
    wilson,
)
from braid.tools.evaluation.talks import (
    LabelledClaim,
    Labels,
    Observation,
    Talk,
    labelled,
    observed,
    read_talks,
)


def talk(
    *texts: str, labels: Labels | None = None, observations: tuple[Observation, ...] = (), name: str = "t"
) -> Talk:
    turns = tuple(Turn(text=text, speaker="user", at=at) for at, text in enumerate(texts))
    return Talk(name, turns, observations, labels=labels)


def expecting(*claims: LabelledClaim, never: tuple[LabelledClaim, ...] = (), case: str = "plain") -> Labels:
    return Labels("personal", case, health=False, claims=claims, never=never)


def counted(one: Talk, *claims: Claim) -> Counted:
    return judged(one, [(one.turns[0], claim) for claim in claims]).counted


# -- shares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (92, 100, 0.8501, 0.9589)],
)
def test_an_interval_is_wilsons(part: int, whole: int, low: float, high: float) -> None:
    found = wilson(part, whole)
    assert (found.share, found.of) == (part / whole, whole)
    assert found.low == pytest.approx(low, abs=2e-4)
    assert found.high == pytest.approx(high, abs=2e-4)


def test_nothing_has_no_share() -> None:
    assert (wilson(0, 0).share, wilson(0, 0).of) == (None, 0)


# -- observations ---------------------------------------------------------------------------------


def test_content_words_are_stems_without_stop_words_and_names() -> None:
    assert content_words("Ann is painting the lakes.", ["Ann Lee"]) == {"paint", "lake"}
    assert content_words("She lives_in Leeds") == {"live", "leed"}


@pytest.fixture
def noted() -> tuple[Talk, list[list[Scored]]]:
    """Four turns: a claim that shares a word, one that doesn't, one where nothing was noted, and none."""
    one = talk(
        "I paint lakes", "I ran", "So nice", "Bye",
        observations=(
            Observation("The user loves painting.", (0,)),
            Observation("The user won a race.", (1,)),
            Observation("The user says goodbye.", (3,)),
            Observation("The user is an athlete who paints.", (1, 0)),
        ),
    )  # fmt: skip
    return one, [
        [Scored(Claim("user", "paints", "lakes", quote="I paint lakes"), 0.9)],
        [Scored(Claim("user", "did", "ran", quote="race won"), 0.5)],  # the quote's words don't count
        [Scored(Claim("it", "is", "nice"), 0.2), Scored(Claim("it", "is", "goodbye"), 0.1)],
        [],
    ]


def test_observations_are_touched_and_share_content(noted: tuple[Talk, list[list[Scored]]]) -> None:
    one, read = noted
    found = shares([one], [read])
    assert (found.claims, found.claims_per_turn, found.turns_with_claim) == (4, 1.0, 3)
    assert (found.touched, found.content) == (0.75, 0.5)
    assert found.turn_precision == pytest.approx(2 / 3, abs=1e-4)
    higher = shares([one], [read], 0.6)
    assert (higher.touched, higher.content, higher.turn_precision, higher.claims) == (0.5, 0.5, 1.0, 1)
    assert shares([one], [[[], [], [], []]]).turn_precision is None


def test_the_curve_goes_from_all_claims_to_the_surest(noted: tuple[Talk, list[list[Scored]]]) -> None:
    one, read = noted
    points = curve([one], [read])
    assert [(each["at"], each["claims"]) for each in points] == [(0.1, 4), (0.2, 3), (0.5, 2), (0.9, 1)]


def test_of_a_turn_the_surest_claims_are_kept_in_their_order() -> None:
    claims = [Scored(Claim("user", "likes", str(n)), score) for n, score in enumerate((0.5, 0.9, 0.5, 0.7))]
    assert [[one.claim.object for one in each] for each in at_most([claims, claims[:1]], 2)] == [
        ["1", "3"],
        ["0"],
    ]
    assert [one.claim.object for one in at_most([claims], 3)[0]] == ["0", "1", "3"]  # of equals the first
    assert at_most([claims], None)[0] is claims


# -- labels ---------------------------------------------------------------------------------------


def test_a_claim_is_a_labelled_one_by_subject_words_and_polarity() -> None:
    one = talk("I moved to Leeds in May", labels=expecting(LabelledClaim("user", ("move", "leeds"))))
    right = Claim("user", "moved_to", "Leeds")
    assert counted(one, right) == Counted(
        extracted=1, right=1, must=1, found=1, alone=1, worded=1, attributed=1, typed=1
    )
    by_quote = Claim("user", "lives_in", "town", quote="I moved to Leeds")
    assert counted(one, by_quote).right == 1
    other = counted(one, Claim("Ann", "moved_to", "Leeds"))
    assert (other.right, other.found, other.worded, other.attributed) == (0, 0, 1, 0)
    denied = counted(one, Claim("user", "moved_to", "Leeds", polarity=False))
    assert (denied.right, denied.worded, denied.attributed) == (0, 1, 1)
    assert counted(one, Claim("user", "moved_to", "York")) == Counted(extracted=1, must=1)
    assert counted(one) == Counted(must=1)


def test_what_is_fair_to_extract_counts_neither_as_wrong_nor_as_missing() -> None:
    one = talk("x", labels=expecting(LabelledClaim("user", ("tea",), must=False)))
    assert counted(one) == Counted()
    found = counted(one, Claim("user", "likes", "tea"))
    assert (found.extracted, found.right, found.must) == (1, 1, 0)


def test_what_must_never_be_is_counted_on_its_own() -> None:
    labels = expecting(never=(LabelledClaim("user", ("tesla",)), LabelledClaim("user", ("yacht",))))
    found = counted(
        talk("x", labels=labels), Claim("user", "owns", "Tesla"), Claim("user", "drives", "Teslas")
    )
    assert (found.never, found.never_hit, found.extracted, found.right) == (2, 1, 2, 0)
    assert counted(talk("x", labels=labels), Claim("user", "owns", "Tesla", polarity=False)).never_hit == 0


def test_one_claim_that_says_all_finds_all_but_alone_stands_for_one() -> None:
    labels = expecting(LabelledClaim("user", ("tea",)), LabelledClaim("user", ("coffee",)))
    both = Claim("user", "drinks", "tea and coffee")
    found = counted(talk("x", labels=labels), both)
    assert (found.found, found.alone) == (2, 1)
    assert counted(talk("x", labels=labels), both, Claim("user", "drinks", "tea")).alone == 2


def test_words_are_compared_by_stems_bases_and_numbers() -> None:
    labels = expecting(
        LabelledClaim("user", ("buy", "candle")),
        LabelledClaim("ttl", ("90",)),
        LabelledClaim("bill", ("4,812.30",)),
    )
    found = counted(
        talk("x", labels=labels),
        Claim("user", "bought", "candles"),
        Claim("ttl", "is", "90s"),
        Claim("March bill", "costs", "$4,812.30"),
    )
    assert (found.right, found.found) == (3, 3)
    wrong = counted(talk("x", labels=labels), Claim("ttl", "is", "900"), Claim("bill", "costs", "$4,812.50"))
    assert wrong.right == 0


@pytest.mark.parametrize(
    ("claim", "label", "agrees"),
    [
        (Claim("user", "dislikes", "cilantro"), LabelledClaim("user", ("cilantro",), polarity=False), True),
        (Claim("user", "dislikes", "cilantro"), LabelledClaim("user", ("cilantro",)), False),
        (
            Claim("user", "dislikes", "cilantro"),
            LabelledClaim("user", ("cilantro",), gloss="dislikes it"),
            True,
        ),
        (Claim("user", "likes", "cilantro"), LabelledClaim("user", ("cilantro",), polarity=False), False),
        (
            Claim("user", "smokes", "x", polarity=False, quote="I quit"),
            LabelledClaim("user", ("quit",)),
            True,
        ),
        (Claim("user", "quit", "smoking"), LabelledClaim("user", ("quit", "smoking")), True),
    ],
)
def test_a_verb_may_deny(claim: Claim, label: LabelledClaim, agrees: bool) -> None:
    assert bool(counted(talk("x", labels=expecting(label)), claim).right) == agrees


@pytest.mark.parametrize(
    ("claimed", "labelled_as", "same"),
    [
        ("user's wife", "wife", True),
        ("wife", "my wife", True),
        ("Ann's wife", "wife", True),  # Ann speaks
        ("brother's wife", "wife", False),
        ("Bob's wife", "wife", False),
        ("Ann", "user", True),  # the label doesn't name who speaks
        ("user", "Ann", False),
        ("Hannah", "Hannah Lindqvist", True),
        ("Hannah Lindqvist", "Lindqvist", True),
        ("Mr. Halloran", "Halloran", True),
        ("Hannah Berg", "Hannah Lindqvist", False),
        ("staging servers", "staging server", True),
        ("the new launch", "launch", True),
        ("launch", "launch date", True),
        ("rent on the workshop", "rent", True),
        ("Ann's busiest season", "user", True),
        ("Ann", "team", True),
        ("it", "", False),
    ],
)
def test_subjects_are_the_same_by_their_normal_form(claimed: str, labelled_as: str, same: bool) -> None:
    one = Talk("t", (Turn(text="x", speaker="Ann"),))
    assert is_of(Claim(claimed, "is", "x"), LabelledClaim(labelled_as, ("x",)), one) == same


def test_a_relation_is_said_of_both() -> None:
    one = talk("x", labels=expecting(LabelledClaim("Bridget", ("sister",), type="relation")))
    assert counted(one, Claim("user", "sister_is", "Bridget")).right == 1
    other = talk("x", labels=expecting(LabelledClaim("Bridget", ("sister",))))
    assert counted(other, Claim("user", "sister_is", "Bridget")).right == 0


def test_whose_word_it_is_belongs_to_attribution() -> None:
    def attributed(claim: Claim, said_by: str | None, case: str = "plain") -> int:
        labels = expecting(LabelledClaim("Leo", ("move",), said_by=said_by), case=case)
        return counted(talk("x", labels=labels), claim).attributed

    own, reported = Claim("Leo", "does", "move"), Claim("Leo", "does", "move", said_by="Mum")
    assert (attributed(own, None), attributed(reported, None)) == (1, 0)
    assert (attributed(own, "mum"), attributed(reported, "mum")) == (0, 1)
    assert attributed(reported, None, case="second_hand") == 1


# -- reading --------------------------------------------------------------------------------------


class Echo:
    """States that the user said each turn's words; what it knows of earlier turns is what they made known."""

    name = "echo"
    version = "1"
    looks_back = 1

    def __init__(self) -> None:
        self.seen: list[tuple[str, tuple[str, ...], str | None]] = []

    def prepare(self, turns: Sequence[Turn]) -> None:
        """Echoes need nothing before they are asked."""

    def read(self, turn: Turn, known: KnownClaims) -> TurnReading:
        before = known.topic("", "word")
        self.seen.append(
            (turn.text, tuple(one.text for one in turn.previous), before.name if before else None)
        )
        note = TurnNote("topic", turn.at, role="word", name=turn.text)
        if turn.role != "user" or turn.text == "hm":
            return TurnReading((), frozenset(), (note,))
        if turn.text == "same" and before is not None:
            return TurnReading((Claim(turn.speaker, "says", before.name),), frozenset({before.at}), (note,))
        return TurnReading((Claim(turn.speaker, "says", turn.text),), frozenset(), (note,))


def test_a_reader_is_shown_a_talk_as_learning_shows_it() -> None:
    reader, prepared = Echo(), list[str]()
    found = read_talk(
        reader,
        talk("tea", "", "same", "hm"),
        prepare=lambda turns: prepared.extend(one.text for one in turns),
    )
    assert [[claim.object for claim in each] for each in found] == [["tea"], [], ["tea"], []]
    assert reader.seen == [
        ("tea", (), None), ("same", ("tea",), "tea"),
        ("tea", (), None), ("same", ("tea",), "tea"),  # read again from the turns it needs alone
        ("hm", ("same",), "same"),
    ]  # fmt: skip
    assert prepared == ["tea", "", "same", "hm"]


def test_what_a_gate_refuses_is_not_counted() -> None:
    def gate(turn: Turn, claims: Any, health: bool) -> Any:
        assert turn.text
        return claims if health else ()

    on = labelled(b'{"id": "1", "health": true, "turns": [{"text": "pills"}], "claims": []}')
    off = labelled(b'{"id": "1", "health": false, "turns": [{"text": "pills"}], "claims": []}')
    assert [len(each) for each in read_talk(Echo(), on[0], gate=gate)] == [1]
    assert [len(each) for each in read_talk(Echo(), off[0], gate=gate)] == [0]


LOCOMO = {
    "sample_id": "c",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"dia_id": "D1:1", "speaker": "Ann", "text": "I bought a canoe."},
            {"dia_id": "D1:2", "speaker": "Bob", "text": "hm"},
        ],
    },
    "qa": [],
    "observation": {
        "session_1_observation": {
            "Ann": [["Ann bought a canoe.", "D1:1"], ["Ann is happy.", "D9:9"]],
            "Bob": [],
        }
    },
}
LINE = {
    "id": "u1", "domain": "personal", "case": "plain", "health": False,
    "turns": [{"speaker": "user", "role": "user", "text": "tea"}, {"speaker": "a", "role": "assistant", "text": "ok"}],
    "claims": [{"subject": "user", "words": ["tea"], "polarity": True, "turn": 0, "must": True},
               {"subject": "user", "words": ["coffee"]}],
    "never": [{"subject": "user", "words": ["say"], "polarity": True, "why": "it is what anyone does"}],
}  # fmt: skip


def test_files_are_read_by_their_names() -> None:
    files = [
        ("a.json", json.dumps(LOCOMO).encode()),
        ("b.jsonl", b"\xef\xbb\xbf" + json.dumps(LINE).encode() + b"\n\n"),
    ]
    conversation, line = read_talks(files)
    assert conversation.observations == (Observation("Ann bought a canoe.", (0,)),)
    assert (conversation.unresolved, conversation.turns[1].at) == (1, 1)
    assert conversation.speakers == frozenset(("Ann", "Bob"))
    assert conversation.turns[0].when.year == 2023
    assert line.labels is not None
    assert (line.name, line.labels.case, [turn.role for turn in line.turns]) == (
        "u1",
        "plain",
        ["user", "assistant"],
    )
    assert observed(json.dumps([LOCOMO]).encode()) == [conversation]


@pytest.mark.parametrize(
    ("name", "raw", "why"),
    [
        ("a.json", b"{", r"a\.json: it is not JSON"),
        ("a.json", b"{}", r"a\.json: not a LoCoMo .*`observation`"),
        ("a.jsonl", b'{"id": "1", "claims": []}', r"a\.jsonl: line 1: not a labelled talk: .*turns"),
        (
            "a.jsonl",
            b'\n{"id": "1", "turns": [], "claims": [{"subject": "u", "words": []}]}',
            "line 2: .* no words",
        ),
        (
            "a.jsonl",
            b'{"id": "1", "turns": [], "claims": [{"subject": "u", "words": ["x"]}]}',
            "which isn't there",
        ),
    ],
)
def test_what_is_neither_is_refused(name: str, raw: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_talks([(name, raw)])


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    talks = read_talks([("a.json", json.dumps(LOCOMO).encode()), ("b.jsonl", json.dumps(LINE).encode())])
    return evaluate(Echo(), talks, alone=lambda texts: None, details=True)


def test_an_evaluation_sums_up(result: dict[str, Any]) -> None:
    found, labels, speed = result["observations"], result["labels"], result["speed"]
    assert result["reader"] == "read:echo@1"
    assert (found["turns"], found["observations"], found["unresolved"], found["base_rate"]) == (2, 1, 1, 0.5)
    assert (found["touched"], found["content"], found["turn_precision"], found["claims_per_turn"]) == (
        1,
        1,
        1,
        0.5,
    )
    assert found["by_conversation"]["c"]["touched"] == found["by_most_per_turn"]["2"]["touched"] == 1
    assert labels["all"]["precision"]["share"] == 1
    assert (labels["all"]["recall"]["share"], labels["all"]["recall"]["of"]) == (0.5, 2)
    assert labels["domains"]["personal"] == labels["cases"]["plain"] == labels["all"]
    assert labels["all"]["never_hit"]["share"] == 1
    (detail,) = labels["details"]
    assert (detail["missed"], detail["wrong"], detail["never"]) == (
        ["user ['coffee']"],
        [],
        ["user says tea []"],
    )
    assert speed["turns"] == 4
    assert speed["turns_per_second"] > 0
    assert speed["of_parser_alone"] is not None


@pytest.mark.soak
def test_an_evaluation_is_drawn_the_same_each_time(result: dict[str, Any]) -> None:
    drawn = plotted(result)
    assert drawn == plotted(result)
    assert drawn.startswith("<?xml")
    assert "<svg" in drawn
    only = plotted(result | {"observations": None})
    assert len(only) < len(drawn)
