"""The script that makes the packaged model anew: what it refuses, and what the packaged files are."""

import importlib.util
import json
from pathlib import Path

import pytest

from braid.models.static import DIMENSIONS, FOLDER, NAME
from braid.tools.lab.distill import main


def test_a_folder_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path), str(tmp_path)])
    assert "exists already" in capsys.readouterr().err


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="torch is installed: it would distil"
)
def test_what_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), str(tmp_path / "made")]) == 1
    assert "pip install 'model2vec[distill]'" in capsys.readouterr().err


def test_the_packaged_files_are_what_the_readme_says() -> None:
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    assert (config["hidden_dim"], config["embedding_dtype"]) == (DIMENSIONS, "int8")
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for said in (NAME, "Apache-2.0", "MIT", "all-MiniLM-L6-v2", "tools/lab/distill.py"):
        assert said in readme
