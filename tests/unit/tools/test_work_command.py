"""`braid work`: what it says and exits with when a job died, or waits for what isn't here."""

from collections.abc import Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from braid.jobs.operations import Worked
from braid.tools.cli import work as command
from braid.tools.cli.errors import FINDINGS

NOTHING = Worked(done=1, settled=0, retried=0, dead=0, released=0, lost=0, unserved=0, next_s=None)


def ran(monkeypatch: pytest.MonkeyPatch, done: Worked) -> None:
    """Run the command over a store where that was done."""

    @contextmanager
    def opened(*_: Any, **__: Any) -> Generator[Any]:
        yield SimpleNamespace(work=lambda **_: done, checkpoint=lambda: None)

    monkeypatch.setattr(command, "writing", opened)
    monkeypatch.setattr(command, "chosen_models", lambda *_, **__: SimpleNamespace(small=None))
    command.work()


def test_a_job_that_died_gives_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(monkeypatch, NOTHING)
    assert capsys.readouterr().err == ""
    dead = Worked(done=1, settled=0, retried=3, dead=1, released=0, lost=0, unserved=0, next_s=None)
    with pytest.raises(typer.Exit) as left:
        ran(monkeypatch, dead)
    assert left.value.exit_code == FINDINGS
    assert "braid jobs list --state dead" in capsys.readouterr().err


def test_what_waits_for_a_model_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(
        monkeypatch, Worked(done=0, settled=0, retried=0, dead=0, released=0, lost=0, unserved=1, next_s=None)
    )
    said = capsys.readouterr().err
    assert "1 job" in said
    assert "--model" in said
