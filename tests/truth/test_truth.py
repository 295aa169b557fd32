"""Every scene, played: what is told is true, but for what is listed in wrong.txt, and that list only shrinks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.truth import board
from tests.truth.play import play
from tests.truth.scenes import Scene, load
from tests.truth.world import Template


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    made = Template(tmp_path_factory.mktemp("truth"))
    yield made
    made.sandbox.end()


@pytest.mark.sample(16)
@pytest.mark.parametrize("scene", board.parameters(load()))
def test_what_is_told_is_true(
    scene: Scene, template: Template, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    found = play(scene, template.copy(tmp_path))
    record_property(board.PROPERTY, (sum(why is not None for why in found.values()), len(found)))
    assert board.against(scene, found, board.known()) == []
