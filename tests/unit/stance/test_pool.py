"""Pooling: the formula, and the properties that make it safe to use."""

import math
from fractions import Fraction
from random import Random
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record.record import SourceType
from braid.stance.pool import (
    BASE,
    HALF_LIFE_DAYS,
    PRIORS,
    Evidence,
    decayed,
    exclusive,
    logit,
    pool,
    prior_of,
    sigmoid,
)
from braid.stance.voice import occurrences

probability = st.floats(0, 1)
ancestry = st.frozensets(st.integers(0, 12), max_size=4)
piece = st.builds(Evidence, probability, ancestry)
pieces = st.lists(piece, max_size=12)
open_prior = st.floats(0.001, 0.999)


def of(p: float, *indexes: int) -> Evidence:
    return Evidence(p, frozenset(indexes))


# The formula.


@given(pieces, open_prior)
def test_the_result_is_the_formula_with_the_weights_it_names(evidence: list[Evidence], prior: float) -> None:
    pooled = pool(evidence, prior)
    steps = [w * (logit(one.p) - logit(prior)) for w, one in zip(pooled.weights, evidence, strict=True)]
    assert pooled.p == pytest.approx(sigmoid(logit(prior) + math.fsum(steps)), abs=1e-12)
    assert all(0 <= weight <= 1 + 1e-12 for weight in pooled.weights)


def test_independent_pieces_multiply_their_odds() -> None:
    """0.7 against 0.1 multiplies the odds by 21: twice, from 1:9 to 49:1."""
    assert pool([of(0.7, 1)], 0.1).p == pytest.approx(0.7)
    assert pool([of(0.7, 1), of(0.7, 2)], 0.1).p == pytest.approx(49 / 50)
    assert pool([], 0.1).p == pytest.approx(0.1)
    assert pool([of(0.7, 1), of(0.3, 2)], 0.5).p == pytest.approx(0.5)


def test_shared_ancestry_counts_once() -> None:
    once = pool([of(0.7, 5)], 0.1)
    retold = pool([of(0.7, 5), of(0.7, 5), of(0.4, 5)], 0.1)
    assert (retold.p, retold.effective_n) == (once.p, 1.0)
    assert retold.weights == (0.5, 0.5, 0.0)
    half = pool([of(0.7, 5, 6), of(0.7, 6, 7)], 0.1)
    assert half.effective_n == pytest.approx(1.5)
    assert half.p == pytest.approx(sigmoid(logit(0.1) + 1.5 * (logit(0.7) - logit(0.1))))
    assert half.weights == pytest.approx((0.75, 0.75))


def test_what_names_no_occurrence_counts_as_one() -> None:
    assert pool([of(0.7)], 0.1).p == pool([of(0.7), of(0.7), of(0.6)], 0.1).p
    assert pool([of(0.7), of(0.7, 1)], 0.1).effective_n == 2.0


def test_for_and_against_from_one_occurrence_both_count() -> None:
    pooled = pool([of(0.8, 1), of(0.2, 1)], 0.5)
    assert pooled.p == pytest.approx(0.5)
    assert (pooled.weights, pooled.effective_n) == ((1.0, 1.0), 1.0)


# The properties.


@given(pieces, open_prior, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(evidence: list[Evidence], prior: float, random: Random) -> None:
    order = list(range(len(evidence)))
    random.shuffle(order)
    one, other = pool(evidence, prior), pool([evidence[k] for k in order], prior)
    assert (one.p, one.effective_n) == (other.p, other.effective_n)
    assert [one.weights[k] for k in order] == list(other.weights)


@given(st.lists(piece, min_size=1, max_size=8), open_prior, st.data())
def test_duplicates_do_not_add(evidence: list[Evidence], prior: float, data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(evidence), max_size=8))
    one, other = pool(evidence, prior), pool([*evidence, *again], prior)
    assert (one.p, one.effective_n) == (other.p, other.effective_n)


@given(pieces, open_prior, piece)
def test_support_never_lowers_and_doubt_never_raises(
    evidence: list[Evidence], prior: float, further: Evidence
) -> None:
    before, after = pool(evidence, prior).p, pool([*evidence, further], prior).p
    assert after >= before if further.p >= prior else after <= before


@given(st.lists(piece, min_size=1, max_size=12), open_prior, st.data())
def test_surer_evidence_never_lowers(evidence: list[Evidence], prior: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(evidence) - 1))
    p = data.draw(st.floats(evidence[k].p, 1))
    surer = [*evidence[:k], Evidence(p, evidence[k].sources), *evidence[k + 1 :]]
    assert pool(surer, prior).p >= pool(evidence, prior).p


@given(pieces, probability)
def test_probabilities_stay_in_range(evidence: list[Evidence], prior: float) -> None:
    pooled = pool(evidence, prior)
    assert 0 < pooled.p < 1
    distinct = {index for one in evidence for index in one.sources or {-1}}
    assert 0 <= pooled.effective_n <= min(len(evidence), len(distinct)) + 1e-9


def test_certainty_can_be_outweighed() -> None:
    doubts = [of(0.01, k) for k in range(5)]
    assert pool([of(1.0, 9)], 0.5).p == pytest.approx(1, abs=1e-5)
    assert pool([of(1.0, 9), *doubts], 0.5).p < 0.01
    assert pool([of(0.0, 1), of(1.0, 2)], 0.5).p == pytest.approx(0.5)


@pytest.mark.soak
@pytest.mark.parametrize("p", [1.0, 0.0])
def test_a_hundred_thousand_pieces(p: float) -> None:
    """All independent, in pairs, and all of one occurrence: nothing overflows."""
    many = 100_000
    apart = pool([of(p, k) for k in range(many)], 0.1)
    assert 0 < apart.p < 1
    assert apart.effective_n == many
    paired = pool([of(p, k // 2) for k in range(many)], 0.1)
    assert paired.effective_n == many / 2
    together = pool([of(p, 7)] * many, 0.1)
    assert together.p == pool([of(p, 7)], 0.1).p
    assert math.fsum(together.weights) == pytest.approx(1)


@pytest.mark.parametrize("p", [math.nan, math.inf, -math.inf, -0.01, 1.01])
def test_no_probability_is_refused(p: float) -> None:
    for refused in (
        lambda: Evidence(p),
        lambda: pool([], p),
        lambda: exclusive([0.5, p]),
        lambda: decayed(p, 0.1, 1, 1),
        lambda: decayed(0.1, p, 1, 1),
        lambda: prior_of("explicit", p),
    ):
        with pytest.raises(ValueError, match="probability from 0 to 1"):
            refused()


# Priors.


def test_priors_by_source() -> None:
    assert set(PRIORS) == set(get_args(SourceType))
    floors = {"explicit": 0.7, "corrected": 0.7, "implicit_intentional": 0.4, "implicit_unintentional": 0.3}
    for name, floor in (floors | {"inferred": 0.15}).items():
        assert PRIORS[cast("SourceType", name)] >= floor
    assert PRIORS["corrected"] == PRIORS["explicit"]
    assert min(PRIORS.values()) > BASE


@given(st.sampled_from(sorted(PRIORS)), probability)
def test_a_models_own_confidence_only_lowers(source: SourceType, own: float) -> None:
    assert prior_of(source, own) == min(PRIORS[source], own)
    assert prior_of(source) == PRIORS[source]


# Ancestry.


def test_occurrences_are_the_ends_of_the_braid() -> None:
    parents = {5: [3, 4], 4: [2], 3: [2, 1], 2: [], 1: [], 6: [5, 2]}
    assert occurrences(5, parents.__getitem__) == {1, 2}
    assert occurrences(6, parents.__getitem__) == {1, 2}
    assert occurrences(1, parents.__getitem__) == {1}
    deep = occurrences(50_000, lambda index: [index - 1] if index else [])
    assert deep == {0}


@given(st.dictionaries(st.integers(1, 30), st.lists(st.integers(0, 29), max_size=3), max_size=30))
def test_occurrences_of_a_record_are_those_of_its_parents(braid: dict[int, list[int]]) -> None:
    links = {index: [parent for parent in parents if parent < index] for index, parents in braid.items()}

    def up(index: int) -> list[int]:
        return links.get(index, [])

    for index in range(31):
        above = [occurrences(parent, up) for parent in up(index)]
        assert occurrences(index, up) == (frozenset().union(*above) if above else {index})


# Claims that exclude each other.


@given(st.lists(probability, max_size=20))
def test_exclusive_shares_add_up_to_one(ps: list[float]) -> None:
    result = exclusive(ps)
    assert math.fsum((*result.shares, result.none)) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in (*result.shares, result.none))
    assert result.residual == pytest.approx(1 - max(result.shares, default=0.0), abs=1e-9)
    for share, p in zip(result.shares, ps, strict=True):
        assert share <= p + 1e-5


def test_exclusive_is_conditioning_on_at_most_one() -> None:
    """By counting worlds: of independent claims, keep those worlds where at most one holds."""
    ps = [Fraction(7, 10), Fraction(3, 10), Fraction(1, 2)]
    alone = [
        p * math.prod((1 - q for j, q in enumerate(ps) if j != k), start=Fraction(1))
        for k, p in enumerate(ps)
    ]
    none = math.prod((1 - p for p in ps), start=Fraction(1))
    result = exclusive([float(p) for p in ps])
    assert result.shares == pytest.approx([float(one / (none + sum(alone))) for one in alone])
    assert result.none == pytest.approx(float(none / (none + sum(alone))))


def test_exclusive_alone_and_of_nothing() -> None:
    assert exclusive([0.7]).shares == pytest.approx((0.7,))
    assert (exclusive([]).shares, exclusive([]).residual) == ((), 1.0)


@given(st.lists(probability, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_exclusive_keeps_the_order_of_claims(ps: list[float], random: Random) -> None:
    shares = exclusive(ps).shares
    by_p = sorted(range(len(ps)), key=lambda k: ps[k])
    assert [shares[k] for k in by_p] == sorted(shares)
    order = list(range(len(ps)))
    random.shuffle(order)
    assert exclusive([ps[k] for k in order]).shares == tuple(shares[k] for k in order)


def test_ten_to_the_fifth_rivals() -> None:
    result = exclusive([1.0] * 100_000)
    assert result.shares[0] == pytest.approx(1e-5)
    assert result.residual == pytest.approx(1 - 1e-5)


# Decay.


@given(probability, open_prior, st.floats(0, 1e6), st.floats(0.01, 1e5))
def test_decay_leads_to_the_prior(p: float, prior: float, age: float, half_life: float) -> None:
    later = decayed(p, prior, age, half_life)
    low, high = sorted((p, prior))
    assert low - 1e-9 <= later <= high + 1e-9
    assert decayed(p, prior, math.inf, half_life) == pytest.approx(prior)
    further = decayed(p, prior, age * 2 + 1, half_life)
    assert abs(further - prior) <= abs(later - prior) + 1e-12


def test_half_of_the_distance_is_left_after_a_half_life() -> None:
    assert decayed(0.7, 0.1, 365, 365) == pytest.approx(0.4)
    assert decayed(0.7, 0.1, 0, 365) == pytest.approx(0.7)
    assert decayed(0.7, 0.1, -5, 365) == pytest.approx(0.7), "what lies ahead has not aged"
    assert decayed(0.7, 0.1, 365, math.inf) == pytest.approx(0.7)


def test_traits_last_longer_than_states_and_states_than_episodes() -> None:
    year = {name: decayed(0.7, 0.1, 365, half_life) for name, half_life in HALF_LIFE_DAYS.items()}
    assert year["trait"] > year["state"] > year["episode"] > 0.1


def test_what_can_not_decay_is_refused() -> None:
    with pytest.raises(ValueError, match="an age is a number of days"):
        decayed(0.5, 0.1, math.nan, 1)
    for half_life in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="half-life is a positive number"):
            decayed(0.5, 0.1, 1, half_life)
