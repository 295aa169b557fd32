"""Braid's parsers and those of strangers read the same bytes the same way: the corpus, and seeded harm to it.

`make fuzz` lets a coverage-guided fuzzer go on from here; what it finds goes into the corpus.
"""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.system.fuzz.mutate import mutated
from tests.system.fuzz.node import READS, disagreements
from tests.system.fuzz.seeds import CORPUS, samples
from tests.system.fuzz.targets import KEY, TARGETS, DisagreementError, Target, run

FILES = sorted(path.relative_to(CORPUS) for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("file", FILES, ids=str)
def test_the_corpus_is_read_alike(file: Path) -> None:
    run(file.parts[0], (CORPUS / file).read_bytes())


def test_the_corpus_has_what_seeds_makes() -> None:
    for target, named in samples().items():
        for name, data in named.items():
            assert (CORPUS / target / f"seed-{name}").read_bytes() == data, (
                "run `python -m tests.system.fuzz.seeds`"
            )


def test_every_target_reads_its_seeds() -> None:
    """A seed that everybody refuses would show nothing."""
    assert {path.parts[0] for path in FILES} == set(TARGETS) == set(samples())
    for file in FILES:
        if file.name.startswith("seed-"):
            assert run(file.parts[0], (CORPUS / file).read_bytes()) is not None, file


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
def test_harmed_samples_are_read_alike(name: str, data: st.DataObject) -> None:
    seeds = sorted((CORPUS / name).iterdir())
    sample = data.draw(st.sampled_from(seeds), label="seed").read_bytes()
    chance = random.Random(data.draw(st.integers(0, 2**32), label="chance"))
    run(name, mutated(sample, chance))


@pytest.mark.parametrize("name", TARGETS)
@given(
    data=st.binary(max_size=200)
    | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_read_alike(name: str, data: bytes) -> None:
    run(name, data)


def test_node_reads_them_alike() -> None:
    chance = random.Random(5)
    files = [file for file in FILES if file.parts[0] in READS]
    inputs = [(file.parts[0], (CORPUS / file).read_bytes()) for file in files]
    inputs += [(name, mutated(data, chance)) for _ in range(40) for name, data in inputs]
    found = disagreements(inputs)
    assert not found, "\n".join(found[:5])


def test_a_disagreement_is_a_finding() -> None:
    first = next(iter(TARGETS["bundle"].others))
    made = Target(TARGETS["bundle"].braid, {first: lambda data: [data]}, TARGETS["bundle"].variants)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TARGETS, "bundle", made)
        with pytest.raises(DisagreementError, match="by hand says"):
            run("bundle", b"\x00\x01x")
    assert KEY.verifier.name
