"""Plays the scenes and prints what is told wrong: `python -m tests.truth [--keep] [--held] [PART OF A NAME …]`."""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

from tests.truth import board
from tests.truth.play import play
from tests.truth.scenes import load
from tests.truth.world import Template


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.truth", description=__doc__)
    parser.add_argument(
        "--keep", action="store_true", help="take what is right now off the list, and say the figure"
    )
    parser.add_argument("--rise", action="store_true", help="with --keep: take in what is wrong and new, too")
    parser.add_argument("--held", action="store_true", help="only the scenes that were held back")
    parser.add_argument("--open", action="store_true", help="only the others")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    scenes = [
        scene
        for scene in load()
        if not asked.names or any(name in scene.name for name in asked.names)
        if not (asked.held and not scene.held) and not (asked.open and scene.held)
    ]
    listed, wrong, played, themes = board.known(), set[str](), list[str](), Counter[str]()
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        template = Template(Path(folder) / "template")
        for number, scene in enumerate(scenes):
            found = play(scene, template.copy(Path(folder) / str(number)))
            played += found
            for name, why in found.items():
                if why is not None:
                    wrong.add(name)
                    themes[scene.name.partition("/")[0]] += 1
                    print(f"{'known' if name in listed else 'NEW'}  {name}: {why}")  # noqa: T201
        template.sandbox.end()
    for theme, count in themes.most_common():
        print(f"{count:5}  {theme}")  # noqa: T201
    print(f"{board.in_words(len(wrong), len(played), len(scenes))} ({perf_counter() - began:.0f} s)")  # noqa: T201
    rest = listed - set(played)
    fresh = wrong - listed
    if asked.keep:
        board.keep((rest | wrong) if asked.rise else (rest | (wrong & listed)))
    return 1 if fresh and not asked.rise else 0


sys.exit(main())
