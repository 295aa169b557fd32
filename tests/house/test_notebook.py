"""examples/explore.ipynb runs from top to bottom, in a kernel and without a screen, and draws what it says."""

from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_notebook_runs_headless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbformat: Any = pytest.importorskip("nbformat", reason="nbformat comes with the extra `notebook`")
    nbclient: Any = pytest.importorskip("nbclient", reason="nbclient is the extra `notebook`")
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    notebook = nbformat.read(EXAMPLES / "explore.ipynb", as_version=4)
    assert all(cell.get("outputs", []) == [] for cell in notebook.cells), "outputs are not committed"
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
    shown = "".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    assert "'depth': [0, 1, 2, 3]" in shown
    assert "Jonas needs no car." in shown
