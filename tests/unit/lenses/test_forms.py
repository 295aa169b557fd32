"""Forms and deltas: what is between two forms makes the one of the other, and nothing else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.lenses.form import Form, FormDelta, Item, delta, joined, patched, places_of, problem, raw, runs

weights = st.dictionaries(st.integers(0, 30), st.floats(0, 10), max_size=20)
items = st.dictionaries(
    st.text(max_size=3),
    st.builds(Item, text=st.text(max_size=5), places=st.lists(st.integers(0, 30), max_size=3).map(tuple)),
    max_size=8,
)
forms = st.builds(Form, weights, items)


@given(forms, forms)
def test_a_delta_makes_one_form_of_the_other(old: Form, new: Form) -> None:
    assert patched(old, delta(old, new)) == new


@given(forms)
def test_nothing_lies_between_a_form_and_itself(form: Form) -> None:
    assert delta(form, form) == FormDelta()


@given(forms, forms)
def test_a_delta_says_only_what_changes(old: Form, new: Form) -> None:
    change = delta(old, new)
    assert not change.records.keys() & old.weights.keys()
    assert all(old.items.get(key) != item for key, item in change.items.items())
    assert all(before != after for before, after in change.reweighted.values())


@given(st.sets(st.integers(0, 200)))
def test_runs_are_the_places(places: set[int]) -> None:
    found = runs(sorted(places))
    assert places_of(found) == tuple(sorted(places))
    assert all(end < first for (_, end), (first, _) in pairwise(found))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (FormDelta(lost_records=(7,)), "removes the record at place 7"),
        (FormDelta(lost_items=("x",)), "removes the item 'x'"),
        (FormDelta(reweighted={0: (0.5, 1.0)}), "changes the weight 0.5 at place 0; it is 1.0"),
        (FormDelta(records={0: 1.0}), "adds the record at place 0, which is there"),
    ],
)
def test_a_delta_of_another_form_is_refused(change: FormDelta, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        patched(raw(range(3)), change)


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (Form({3: 1.0}), "claims the record at place 3; it was given 3"),
        (Form({-1: 1.0}), "claims the record at place -1"),
        (Form({0: float("nan")}), "the weight nan"),
        (Form({0: -1.0}), "the weight -1.0"),
        (Form({}, {"a": Item(places=(9,))}), "item 'a' rests on the record at place 9"),
    ],
)
def test_what_no_view_can_be_is_named(form: Form, why: str) -> None:
    assert why in str(problem(form, 3))


def test_the_raw_form_is_every_record_at_weight_one() -> None:
    assert raw(range(2)) == Form({0: 1.0, 1: 1.0}, {})
    assert problem(joined(raw(range(2)), raw(range(2, 3))), 3) is None
