"""What is written from the registry of operations is as the registry says."""

from pathlib import Path

import pytest

from braid.tools.lab import faces


def test_a_stale_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faces.main(["--check"]) == 0, "run python -m braid.tools.lab.faces"
    monkeypatch.setattr(faces, "ROOT", tmp_path)
    monkeypatch.setattr(faces, "files", lambda: {tmp_path / "store.py": "as it should be"})
    (tmp_path / "store.py").write_text("as it was", "utf-8")
    assert faces.main(["--check"]) == 1
    assert faces.main([]) == 0
    assert (tmp_path / "store.py").read_text("utf-8") == "as it should be"
    assert faces.main(["--check"]) == 0
