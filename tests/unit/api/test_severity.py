"""Every error of Braid is of one class of badness, and the page for operators says which."""

import errno
import re
from importlib import import_module
from pathlib import Path
from typing import Final

import msgspec
import pytest

import braid
from braid.errors import InvalidRequestError, UnreachableError
from braid.ledger.errors import ErasedError, IntegrityError, RollbackError, UnknownRecordError
from braid.registry import operations
from braid.severity import ERRORS, Severity, severity_of
from braid.tools.cli.errors import HINTS
from braid.tools.http.problem import problem
from braid.transport import Problem
from braid.views.errors import UnsealedError, ViewBusyError
from braid.wal.errors import CorruptLogError, NoRoomError

OPERATE: Final = Path(__file__).parents[3] / "docs" / "operate.md"
ROOMS: Final = ("", ".agent", ".ledger", ".lenses", ".views", ".wal", ".work", ".tools.importers")


def public() -> set[str]:
    """Return the names of the errors that a caller can meet: of each room's list, of `braid`, and of operations."""
    every = [braid, *(import_module(f"braid{room}.errors") for room in ROOMS)]
    kinds = [getattr(module, name) for module in every for name in dir(module) if not name.startswith("_")]
    kinds += [error for one in operations().values() for error in one.errors]
    return {
        kind.__name__
        for kind in kinds
        if isinstance(kind, type)
        and issubclass(kind, Exception)
        and not issubclass(kind, Warning)
        and kind.__module__.startswith("braid.")
        and kind.__name__.endswith("Error")
    }


def test_every_public_error_is_of_exactly_one_class() -> None:
    named = [name for names in ERRORS.values() for name in names]
    assert sorted(set(named)) == sorted(named)
    assert set(ERRORS) == set(Severity)
    assert public() | HINTS.keys() <= set(named)


def test_the_page_for_operators_names_the_same() -> None:
    part = OPERATE.read_text().split("## How bad it is")[1].split("\n## ")[0]
    first, second = (table.split("\n\n")[0].splitlines()[2:] for table in part.split("\n| class |")[1:])
    assert [re.findall(r"`(\w+)`", line)[0] for line in second] == list(Severity)
    assert [re.findall(r"`(\w+)`", line)[0] for line in first] == list(Severity)
    for line in second[1:]:
        severity, *names = re.findall(r"`(\w+)`", line)
        assert names == sorted(ERRORS[Severity(severity)])


@pytest.mark.parametrize(
    ("error", "severity"),
    [
        (InvalidRequestError("x"), "silent"),
        (ErasedError("x"), "silent"),
        (ValueError("x"), "silent"),
        (ViewBusyError("x"), "degraded"),
        (UnreachableError("x"), "failed"),
        (OSError(errno.ENOSPC, "x"), "failed"),
        (NoRoomError(Path("x"), 1, OSError(errno.ENOSPC, "x")), "failed"),
        (KeyError("x"), "failed"),
        (AssertionError("x"), "failed"),
        (CorruptLogError("x", 0, "y"), "corrupt"),
        (RollbackError("x"), "corrupt"),
        (UnsealedError("x"), "corrupt"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_an_error_is_of_its_nearest_class(error: Exception, severity: str) -> None:
    assert severity_of(error) == severity


def test_what_derives_from_an_error_is_as_bad() -> None:
    class _OwnError(IntegrityError):
        pass

    assert severity_of(_OwnError("x")) is Severity.CORRUPT


def test_a_refusal_carries_it_unless_it_is_silent() -> None:
    told = msgspec.json.decode(msgspec.json.encode(problem(IntegrityError("x"))))
    assert (told["severity"], told["error"]) == ("corrupt", "IntegrityError")
    assert "severity" not in msgspec.json.decode(msgspec.json.encode(problem(UnknownRecordError("x"))))
    assert problem(RuntimeError("x")).severity == "failed"
    raw = msgspec.json.encode(problem(ViewBusyError("x")))
    assert msgspec.json.decode(raw, type=Problem).severity is Severity.DEGRADED


def test_an_observer_sees_it(store: Path) -> None:
    seen: list[Severity | None] = []
    with braid.open(store) as opened:
        opened.session.observers.append(lambda called: seen.append(called.severity))
        opened.status()
        with pytest.raises(UnknownRecordError):
            opened.get("exp_2025-05-17T09:00:00Z_0000000300ab")
    assert seen == [None, Severity.SILENT]
