"""Blending and style: ranges, order, monotony, and the formulas as they are specified."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.affect.blend import NEUTRAL, Felt, blend, delta, mean, of_memory, of_self
from braid.affect.style import LEAST_WORDS, Base, style
from braid.ledger.record.record import AffectDelta, Vad
from tests.unit.affect.inputs import SHARES, VALENCES, bases, felts, vads

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCORES = st.floats(-50, 50)


def in_range(vad: Vad) -> bool:
    return -1 <= vad.v <= 1 and 0 <= vad.a <= 1 and -1 <= vad.d <= 1


def test_sure_tones_are_weighed_a_half_three_tenths_a_fifth() -> None:
    user, memory, self = Vad(v=1, a=1, d=-1), Vad(v=-1, a=0, d=0), Vad(v=0.5, a=0.5, d=0.5)
    found = blend(user, memory, self)
    assert (found.v, found.a, found.d) == pytest.approx((0.5 - 0.3 + 0.1, 0.5 + 0.1, -0.5 + 0.1))


def test_an_unsure_tone_says_less() -> None:
    glad, sore = Vad(v=0.8, a=0.5, d=0), Vad(v=-0.8, a=0.5, d=0)
    sure, unsure = blend(Felt(glad, 0.9), sore, None), blend(Felt(glad, 0.1), sore, None)
    assert sure.v > 0 > unsure.v


def test_nobody_is_neutral_and_one_alone_is_heard() -> None:
    assert blend(None, None, None) == NEUTRAL
    assert blend(None, Vad(v=0.4, a=0.2, d=0.1), None) == Vad(v=0.4, a=0.2, d=0.1)
    assert blend(Felt(Vad(v=1, a=1, d=1), 0.0), None, None) == NEUTRAL


@pytest.mark.parametrize("weights", [(1, 2), (-1, 1, 1), (float("nan"), 1, 1), (float("inf"), 1, 1)])
def test_weights_that_are_none_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="three finite numbers"):
        blend(NEUTRAL, NEUTRAL, NEUTRAL, weights)


@given(felts() | st.none(), felts() | st.none(), felts() | st.none(), st.tuples(*[st.floats(0, 1e6)] * 3))
def test_a_blend_lies_in_range_and_between_its_sources(
    user: Felt | None, memory: Felt | None, self: Felt | None, weights: tuple[float, float, float]
) -> None:
    found = blend(user, memory, self, weights)
    assert in_range(found)
    sources = [felt.vad for felt in (user, memory, self) if felt]
    for name in ("v", "a", "d"):
        held = [getattr(vad, name) for vad in (*sources, NEUTRAL)]
        assert min(held) - 1e-4 <= getattr(found, name) <= max(held) + 1e-4


@given(st.lists(st.tuples(vads(), st.floats(0, 1)), max_size=8), st.randoms(use_true_random=False))
def test_order_plays_no_part_in_a_mean(weighed: list[tuple[Vad, float]], random: object) -> None:
    mixed = list(weighed)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert mean(mixed) == mean(weighed)


@given(st.lists(st.tuples(felts(), SCORES), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_memorys_tone_is_in_range_whatever_the_scores_and_the_order(
    hits: list[tuple[Felt, float]], random: object
) -> None:
    mixed = list(hits)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    found = of_memory(hits)
    assert found == of_memory(mixed)
    assert found is None or (in_range(found.vad) and 0 <= found.confidence <= 1)


def test_the_best_hits_set_memorys_tone() -> None:
    glad, sore = Felt(Vad(v=0.8, a=0.5, d=0)), Felt(Vad(v=-0.8, a=0.5, d=0))
    found = of_memory([(glad, 3.0), (sore, 1.0)])
    assert found is not None
    assert found.vad.v == pytest.approx(0.4)
    assert of_memory([]) is None


def test_the_agents_tone_fades() -> None:
    glad, sore = Felt(Vad(v=0.8, a=0.5, d=0)), Felt(Vad(v=-0.8, a=0.5, d=0))
    hour = timedelta(hours=1)
    found = of_self([(glad, NOW - hour), (sore, NOW)], NOW, half_life_s=3600)
    assert found is not None
    assert found.vad.v == pytest.approx((0.4 - 0.8) / 1.5, abs=1e-4)
    later = of_self([(glad, NOW - hour), (sore, NOW)], NOW + 10 * hour, half_life_s=3600)
    assert later is not None
    assert later.vad == found.vad
    assert later.confidence == pytest.approx(found.confidence / 1024)
    assert of_self([], NOW) is None
    with pytest.raises(ValueError, match="longer than 0"):
        of_self([(glad, NOW)], NOW, half_life_s=0)


@given(st.lists(st.tuples(felts(), st.timedeltas(timedelta(-1), timedelta(900))), max_size=6))
def test_snapshots_of_any_age_are_in_range(aged: list[tuple[Felt, timedelta]]) -> None:
    found = of_self([(felt, NOW - age) for felt, age in aged], NOW)
    assert found is None or (in_range(found.vad) and 0 <= found.confidence <= 1)


@given(vads(), bases())
def test_style_is_in_range_and_as_specified(vad: Vad, base: Base) -> None:
    found = style(vad, base)
    assert found.warmth == min(1.0, max(0.0, 0.5 + 0.5 * vad.v))
    assert found.sentence_words == max(LEAST_WORDS, base.sentence_words - 6 * vad.a)
    assert found.urgent == (vad.a >= 0.6)
    assert found.hedge_rate == min(1.0, max(0.0, base.hedge_rate - 0.4 * vad.d))
    assert 0 <= found.imperative_rate <= 1
    assert found.words()


@given(vads(), VALENCES, SHARES, VALENCES)
def test_style_moves_one_way_with_each_dimension(vad: Vad, v: float, a: float, d: float) -> None:
    one, other = style(vad), style(Vad(v=max(vad.v, v), a=max(vad.a, a), d=max(vad.d, d)))
    assert other.warmth >= one.warmth
    assert other.sentence_words <= one.sentence_words
    assert other.hedge_rate <= one.hedge_rate
    assert other.imperative_rate >= one.imperative_rate
    assert other.urgent or not one.urgent


def test_a_shift_has_two_sides() -> None:
    glad, sore = Vad(v=0.5, a=0.5, d=0), Vad(v=-0.5, a=0.7, d=0)
    assert delta([glad, sore], [sore]) == AffectDelta(before=Vad(v=0.0, a=0.6, d=0.0), after=sore)
    assert delta([], [sore]) is None
    assert delta([glad], []) is None
