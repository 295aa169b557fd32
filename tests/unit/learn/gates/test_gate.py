"""Each is judged one by one: what fails, fails alone; what is found twice is one; what is taken back is marked."""

import ast
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from braid.learn.candidate import Candidate, KnownEntity, Maker
from braid.learn.gates.confidence import MIN_STORAGE_CONFIDENCE, confidence, is_enough
from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.entailment import Judgement
from braid.learn.gates.gate import judge
from braid.learn.gates.outcome import GateSettings, Judged, Level
from braid.learn.gates.safety import _HEALTH  # pyright: ignore[reportPrivateUsage]
from braid.learn.turn import Turn
from braid.ledger.record.record import Claim
from braid.stance.readings import COUNTS
from tests.unit.learn.gates.cases import EVENTS, MODEL, PARSE, made
from tests.unit.learn.gates.test_cases import outcome, parses


def judged(
    candidates: list[Candidate],
    *texts: str,
    known: KnownIndex | None = None,
    settings: GateSettings | None = None,
) -> Judged:
    turns = [Turn(text, at=at) for at, text in enumerate(texts)]
    return judge(candidates, turns, known or KnownIndex(), parses(turns), settings or GateSettings())


LEEDS = "I live in Leeds."
GHENT = "I live in Ghent."


def home(text: str, place: str, **more: object) -> Candidate:
    return made(text, "user", "lives_in", place, **more)


class TestOneByOne:
    def test_one_invented_of_four_takes_no_other_with_it(self) -> None:
        text = "I like tea, I like coffee, I like milk."
        kind = {"type": "preference"}
        found = judged(
            [
                made(text, "user", "likes", "tea", quote="I like tea", confidence=0.7, **kind),
                made(text, "user", "likes", "coffee", quote="I like coffee", confidence=0.6, **kind),
                made(text, "user", "likes", "milk", quote="I like milk", confidence=0.5, **kind),
                made(text, "user", "likes", "gin", quote="I like gin", confidence=0.4, **kind),
            ],
            text,
        )
        assert [kept.claim.object for kept in found.kept] == ["tea", "coffee", "milk"]
        assert [(one.outcome, one.gate, one.number) for one in found.refused] == [
            ("quote_differs", "evidence", 3)
        ]

    def test_a_gate_that_fails_refuses_that_one_alone(self) -> None:
        class Broken:
            name = "broken"

            def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
                raise RuntimeError("I live in Leeds")

        turns = [Turn(LEEDS), Turn(GHENT, at=1)]
        event = made(GHENT, "user", "lives_in", "Ghent", turn=1, maker=EVENTS)
        found = judge([home(LEEDS, "Leeds"), event], turns, KnownIndex(), parses(turns), nli=Broken())
        assert [(one.outcome, one.gate, one.error) for one in found.refused] == [
            ("failed", "entailment", "RuntimeError")
        ]
        assert found.failures == 1
        assert len(found.kept) == 1
        assert found.counts()["entailment", "failed", "model"] == 1

    def test_a_malformed_candidate_is_refused_and_not_raised(self) -> None:
        broken = msgspec.structs.replace(home(LEEDS, "Leeds"), evidence=None)
        found = judged([broken, home(LEEDS, "Leeds")], LEEDS)
        assert len(found.refused) == 1
        assert len(found.kept) == 1

    def test_without_a_parse_or_a_model_what_is_stated_is_staged(self) -> None:
        found = judge([home(LEEDS, "Leeds")], [Turn(LEEDS)], KnownIndex(), {})
        assert [(one.outcome, one.gate) for one in found.staged] == [("unparsed", "entailment")]

    def test_a_privilege_is_staged_at_the_highest_level_until_verified(self) -> None:
        text = "I'm the admin of this system."
        (staged,) = judged([made(text, "user", "is_a", "admin")], text).staged
        assert staged.needs_verification
        assert staged.candidate.claim.details["privacy"] == "L4"

    @pytest.mark.parametrize(
        ("text", "rel", "object_", "settings"),
        [
            ("I am allergic to shellfish.", "allergic_to", "shellfish", GateSettings(health=True)),
            ("My salary is 50,000 pounds.", "earns", "50,000 pounds", GateSettings(finance=True)),
        ],
    )
    def test_health_and_money_are_kept_where_the_setting_is_on(
        self, text: str, rel: str, object_: str, settings: GateSettings
    ) -> None:
        one = made(text, "user", rel, object_, maker=PARSE)
        (kept,) = judged([one], text, settings=settings).kept
        assert kept.level == "L3"
        assert judged([one], text).refused[0].outcome in ("health", "finance")
        crossed = GateSettings(health=settings.finance, finance=settings.health)
        assert judged([one], text, settings=crossed).refused


SAID_OF_HEALTH = [
    "my last A1c was 6.8", "BP 128/82", "quit smoking in May", "she has a new hip", "muscle pain", "the clot in 2021",
    "antidepressants", "a pacemaker", "3 mg a day", "lost 4 kilos", "got flu", "two tablets a day", "my inhaler",
]  # fmt: skip
NOT_OF_HEALTH = [
    "our main pain point", "we shipped under 40 orders", "the migration is done", "a sour apple", "api dosing",
    "the store is called Semicolon Socks", "lost the dispute", "checkout is slow", "we were clever",
]  # fmt: skip


@pytest.mark.parametrize("text", SAID_OF_HEALTH)
def test_words_of_health_are_known_behind_their_hints(text: str) -> None:
    assert _HEALTH.pattern.search(text)
    assert _HEALTH.search(text)


@pytest.mark.parametrize("text", NOT_OF_HEALTH)
def test_other_words_are_none_of_health(text: str) -> None:
    assert not _HEALTH.search(text)


class TestNli:
    class Says:
        name = "says"

        def __init__(self, *judgement: float) -> None:
            self.judgement = Judgement(*judgement)
            self.pairs: list[tuple[str, str]] = []

        def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
            self.pairs += pairs
            return [self.judgement for _ in pairs]

    @pytest.mark.parametrize(
        ("judgement", "result", "p"),
        [
            ((0.71, 0.2, 0.09), "kept", 0.7),
            ((0.7, 0.2, 0.1), "kept", 0.5),
            ((0.1, 0.89, 0.01), "kept", 0.5),
            ((0.4, 0.1, 0.5), "contradicted", 0.0),
        ],
    )
    def test_it_raises_lowers_or_refuses_what_is_stated(
        self, judgement: tuple[float, float, float], result: str, p: float
    ) -> None:
        turns, nli = [Turn(LEEDS)], self.Says(*judgement)
        found = judge([home(LEEDS, "Leeds")], turns, KnownIndex(), parses(turns), nli=nli)
        assert outcome(found) == result
        assert nli.pairs == [(LEEDS, "user lives in Leeds")]
        assert not found.kept or found.kept[0].p == p

    def test_it_can_pass_nothing_that_the_parse_refused(self) -> None:
        text = "I don't like popups."
        turns = [Turn(text)]
        one = made(text, "user", "likes", "popups", type="preference")
        found = judge([one], turns, KnownIndex(), parses(turns), nli=self.Says(0.99, 0.005, 0.005))
        assert outcome(found) == "polarity"

    def test_what_is_implied_has_only_not_to_be_contradicted(self) -> None:
        turns = [Turn(LEEDS)]
        one = home(LEEDS, "Leeds", source="implicit_intentional")
        kept = judge([one], turns, KnownIndex(), parses(turns), nli=self.Says(0.0, 0.9, 0.1)).kept
        assert [one.p for one in kept] == [0.4]


class TestConfidence:
    @pytest.mark.parametrize(
        ("source", "own", "p"),
        [
            ("explicit", 1.0, 0.7), ("explicit", 0.5, 0.5), ("implicit_intentional", 0.9, 0.4),
            ("implicit_unintentional", 0.9, 0.3), ("inferred", 0.9, 0.15), ("inferred", 0.1, 0.1),
        ],
    )  # fmt: skip
    def test_a_models_own_figure_may_only_lower_what_its_source_is_worth(
        self, source: str, own: float, p: float
    ) -> None:
        one = made(LEEDS, "user", "lives_in", "Leeds", source=source, confidence=own)
        assert confidence(one, neutral=False, vented=False, warned=False) == p

    def test_rules_and_events_are_as_sure_as_their_kind(self) -> None:
        for maker in (PARSE, EVENTS):
            one = made(LEEDS, "user", "lives_in", "Leeds", maker=maker, confidence=0.01)
            assert confidence(one, neutral=False, vented=False, warned=False) == COUNTS["state"].p

    def test_what_speaks_against_it_lowers_it(self) -> None:
        one = made(LEEDS, "user", "lives_in", "Leeds")
        assert confidence(one, neutral=True, vented=False, warned=False) == 0.5
        assert confidence(one, neutral=False, vented=False, warned=True) == 0.35
        assert confidence(one, neutral=False, vented=True, warned=False) == 0.3
        assert (
            confidence(made(LEEDS, "a", "b", "c", said_by="Kim"), neutral=False, vented=False, warned=False)
            == 0.56
        )
        hypothetical = made(LEEDS, "a", "b", "c", modality="hypothetical")
        assert confidence(hypothetical, neutral=False, vented=False, warned=False) == 0.2

    @pytest.mark.parametrize("kind", sorted(MIN_STORAGE_CONFIDENCE))
    def test_each_type_has_its_threshold(self, kind: str) -> None:
        one = msgspec.structs.replace(made(LEEDS, "user", "lives_in", "Leeds"), type=kind)
        least = MIN_STORAGE_CONFIDENCE[one.type]
        assert is_enough(one, least)
        assert not is_enough(one, least - 0.001)


class TestConsistency:
    def test_the_same_again_reinforces(self) -> None:
        known = Claim("user", "lives_in", "leeds")
        (kept,) = judged([home(LEEDS, "Leeds")], LEEDS, known=KnownIndex([known])).kept
        assert kept.reinforces == known
        assert not kept.supersedes

    def test_another_home_supersedes_the_one_that_was_known(self) -> None:
        known = Claim("user", "lives_in", "York")
        (kept,) = judged([home(LEEDS, "Leeds")], LEEDS, known=KnownIndex([known])).kept
        assert kept.supersedes == (known,)
        assert kept.reinforces is None

    def test_what_may_hold_beside_it_is_left_alone(self) -> None:
        known = [Claim("user", "likes", "York"), Claim("Lena", "lives_in", "York")]
        (kept,) = judged([home(LEEDS, "Leeds")], LEEDS, known=KnownIndex(known)).kept
        assert not kept.supersedes
        assert not kept.rivals

    def test_a_guess_does_not_override_what_was_stated(self) -> None:
        known = Claim("user", "lives_in", "York")
        one = home(LEEDS, "Leeds", source="implicit_intentional")
        (staged,) = judged([one], LEEDS, known=KnownIndex([known])).staged
        assert (staged.outcome, staged.gate) == ("outranked", "consistency")

    def test_a_correction_in_a_session_keeps_both_and_marks_the_first(self) -> None:
        found = judged([home(LEEDS, "Leeds"), home(GHENT, "Ghent", turn=1)], LEEDS, GHENT)
        first, second = found.kept
        assert (first.superseded, first.p) == (True, 0.2)
        assert second.supersedes == (first.claim,)
        assert second.p == 0.7

    def test_two_that_exclude_each_other_in_one_turn_are_both_flagged(self) -> None:
        text = "I live in Leeds. I live in Ghent."
        one = home(text, "Leeds", quote="I live in Leeds")
        other = home(text, "Ghent", quote="I live in Ghent")
        found = judged([one, other], text)
        assert [kept.rivals for kept in found.kept] == [(found.kept[1].claim,), (found.kept[0].claim,)]

    def test_what_two_makers_find_is_one_claim_with_two_derivations(self) -> None:
        found = judged([home(LEEDS, "Leeds"), home(LEEDS, "Leeds", maker=PARSE)], LEEDS)
        (kept,) = found.kept
        assert kept.also == (PARSE,)
        assert kept.p == COUNTS["state"].p


class TestHallucination:
    def test_a_name_that_is_not_there_halves(self) -> None:
        one = made(LEEDS, "Otto", "lives_in", "Leeds", source="implicit_intentional")
        found = judged([one], LEEDS)
        assert [(warning.kind, warning.numbers) for warning in found.warnings] == [("span", (0,))]
        assert [staged.p for staged in found.staged] == [0.2]

    def test_a_name_from_the_context_bleeds(self) -> None:
        one = made(LEEDS, "Otto", "lives_in", "Leeds", source="implicit_intentional")
        known = KnownIndex(entities=[KnownEntity("Otto", "person")])
        assert [warning.kind for warning in judged([one], LEEDS, known=known).warnings] == ["bleed"]

    def test_three_warnings_discard_all_that_was_found_in_that_turn(self) -> None:
        bad = [
            made(LEEDS, name, "friend", "Zoe", confidence=0.1 * at)
            for at, name in enumerate(("Otto", "Ann"), 3)
        ]
        found = judged([*bad, home(LEEDS, "Leeds"), home(GHENT, "Ghent", turn=1)], LEEDS, GHENT)
        assert {one.outcome for one in found.refused} == {"discarded"}
        assert len(found.refused) == 3
        assert [kept.claim.object for kept in found.kept] == ["Ghent"]

    def test_more_names_than_words(self) -> None:
        text = "Nice to meet you."
        found = judged(
            [made(text, name, "is_a", "person", type="entity") for name in ("Nice", "Meet", "You")], text
        )
        assert "count" in [warning.kind for warning in found.warnings]

    def test_a_relation_between_what_was_not_found(self) -> None:
        entity = made(LEEDS, "Leeds", "is_a", "place", type="entity", confidence=0.5)
        relation = made(LEEDS, "user", "knows", "Otto", type="relation", confidence=0.3)
        assert "relation" in [warning.kind for warning in judged([entity, relation], LEEDS).warnings]

    def test_sure_of_what_is_vague(self) -> None:
        text = "I think I like vim, maybe."
        one = made(
            text,
            "user",
            "likes",
            "vim",
            type="preference",
            confidence=0.95,
            hedge="maybe",
            modality="possible",
        )
        assert [warning.kind for warning in judged([one], text).warnings] == ["confidence"]

    def test_the_same_again_from_one_maker(self) -> None:
        found = judged([home(LEEDS, "Leeds"), home(LEEDS, "Leeds", confidence=0.5)], LEEDS)
        assert [(warning.kind, warning.numbers) for warning in found.warnings] == [("repetition", (0, 1))]

    def test_rules_are_not_suspected(self) -> None:
        twice = [home(LEEDS, "Leeds", maker=PARSE, confidence=0.5) for _ in range(4)]
        assert judged(twice, LEEDS).warnings == ()


class TestPrivacy:
    @pytest.mark.parametrize(
        ("text", "claim", "more", "level"),
        [
            ("staging runs on port 8443.", ("staging", "runs_on", "port 8443"), {}, "L0"),
            ("I prefer dark mode.", ("user", "prefers", "dark mode"), {"type": "preference"}, "L1"),
            ("I code in Rust.", ("user", "can", "Rust"), {"type": "skill"}, "L1"),
            ("Mireille likes red wine.", ("Mireille", "likes", "red wine"), {}, "L2"),
            ("My phone is 0113 496 0000.", ("user", "phone_is", "0113 496 0000"), {}, "L3"),
            ("My birthday is 3 May.", ("user", "birthday", "3 May"), {}, "L3"),
        ],
    )
    def test_each_level_has_its_kind(
        self, text: str, claim: tuple[str, str, str], more: dict[str, str], level: Level
    ) -> None:
        (kept,) = judged([made(text, *claim, maker=EVENTS, **more)], text).kept
        assert kept.level == level
        assert kept.claim.details["privacy"] == level


def test_makers_of_one_name_but_another_version_are_two() -> None:
    other = Maker(MODEL.name, "prompt-2", MODEL.model)
    (kept,) = judged([home(LEEDS, "Leeds"), home(LEEDS, "Leeds", maker=other)], LEEDS).kept
    assert kept.also == (other,)


def test_the_page_shows_the_tables_as_they_are() -> None:
    page = (Path(__file__).parents[4] / "docs" / "learning.md").read_text(encoding="utf-8")
    least: dict[float, list[str]] = {}
    for kind, p in MIN_STORAGE_CONFIDENCE.items():
        least.setdefault(p, []).append(kind)
    for p, kinds in least.items():
        assert f"| {', '.join(kinds)} | {p:.1f} |".replace("0.", ".") in page
    gates = page.partition("## Gates")[2].splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in gates if line.startswith("| ")][1:9] == [
        "schema", "evidence", "safety", "ontology", "hallucination", "entailment", "consistency", "confidence",
    ]  # fmt: skip


PURE = {"collections", "datetime", "functools", "math", "re", "typing", "unicodedata", "msgspec", "rapidfuzz"}


def test_the_gates_are_values_alone() -> None:
    """No files, no sockets, no clock, no parser: parses are handed in."""
    for path in (Path(__file__).parents[4] / "learn" / "gates").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in PURE | {"braid"}, (path.name, name)
                assert not name.startswith(("braid.models", "braid.views", "braid.session")), (
                    path.name,
                    name,
                )
            called = node.func if isinstance(node, ast.Call) else None
            assert not (isinstance(called, ast.Name) and called.id in ("open", "print", "eval", "exec"))
            assert not (isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today"))
