"""The notebooks of examples/ run from top to bottom, in a kernel and without a screen, and draw what they say."""

from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "drawings", "said"),
    [
        ("explore.ipynb", 3, ("'depth': [0, 1, 2, 3]", "Jonas needs no car.")),
        (
            "loop.ipynb",
            5,
            (
                "201 turns, ",  # ingest
                "vec://prompt_semantic/exp_",  # embed
                "We're in! We moved yesterday",  # recall
                "lives in Leeds / Jonas Adeyemi lives in Edinburgh",  # lens
                "in April: Jonas Adeyemi lives in Leeds",  # stance
                "asst-148  joy",  # affect
                "Jonas Adeyemi lives in Edinburgh. Jonas Adeyemi said on 18 May 2025",  # answer
                "Reflection: the answer rests on",  # reflection
                "the log verifies: True",
            ),
        ),
    ],
)
def test_a_notebook_runs_headless(
    name: str, drawings: int, said: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nbformat: Any = pytest.importorskip("nbformat", reason="nbformat comes with the extra `notebook`")
    nbclient: Any = pytest.importorskip("nbclient", reason="nbclient is the extra `notebook`")
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    assert all(cell.get("outputs", []) == [] for cell in notebook.cells), "outputs are not committed"
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == drawings
    shown = "".join(
        output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs
    )
    assert [words for words in said if words not in shown] == []
