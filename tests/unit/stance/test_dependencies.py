"""What a decided label rests on: recorded, holding, and older than the label. From that its keeping follows."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from braid.stance.dependencies import Dependencies
from braid.stance.wellfounded import IN, OUT, RETRACTED


def check(rests: Dependencies) -> None:
    label, stamp = rests.label, rests.stamp
    for node, believed in enumerate(label):
        age = stamp[node]
        if believed == IN:
            support = rests.support[node]
            assert rests.head[support] == node
            assert rests.blocker[support] != RETRACTED
            assert all(label[one] == IN and stamp[one] < age for one in rests.inn[support])
            assert all(label[one] == OUT and stamp[one] < age for one in rests.out[support])
        elif believed == OUT:
            for rule in rests.concluding[node]:
                blocker = rests.blocker[rule]
                if blocker == RETRACTED:
                    continue
                if label[blocker] == OUT:
                    assert blocker in rests.inn[rule]
                    assert stamp[blocker] <= age, "those that only support one another go together"
                else:
                    assert blocker in rests.out[rule]
                    assert (label[blocker], stamp[blocker] < age) == (IN, True)


@given(st.integers(0, 2**32))
def test_reasons_are_recorded_and_older(seed: int) -> None:
    random = Random(seed)
    rests = Dependencies()
    nodes = [rests.add_node() for _ in range(random.randint(3, 40))]
    widest = random.randint(1, 3)

    def some(most: int) -> list[int]:
        return random.choices(nodes, k=random.randint(0, most))

    rules = [
        rests.justify(random.choice(nodes), some(widest), some(2))
        for _ in range(random.randint(1, 3 * len(nodes)))
    ]
    for _ in range(15):
        rests.settle()
        check(rests)
        for rule in random.choices(rules, k=random.choice([1, 1, 4])):
            rests.switch(rule, on=rests.blocker[rule] == RETRACTED)
        if random.random() < 0.2:
            rests.unless(random.choice(rules), rests.add_node())


def test_a_new_node_is_out_and_free() -> None:
    rests = Dependencies()
    node = rests.add_node()
    assert rests.label[node] == OUT
    assert list(rests.settle()) == []
    assert rests.visited == 0
