"""pyproject.toml names the rooms in five places; each must say what the folders say."""

import importlib
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FRONT_DOOR = "api"
NOT_ROOMS = {"build", "dist", "docs", "examples", "tests"}
LAB = "tools/lab"
"""What the makers run: found through the folder of `braid.tools`, and never installed."""

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = CONFIG["tool"]["setuptools"]
ENTRIES = [CONFIG["project"]["scripts"], *CONFIG["project"]["entry-points"].values()]


def rooms() -> list[Path]:
    """The folders at the root that hold Python and are part of the product."""
    return sorted(
        folder
        for folder in ROOT.iterdir()
        if folder.is_dir()
        and not folder.name.startswith(".")
        and folder.name not in NOT_ROOMS
        and not (folder / "pyvenv.cfg").exists()
        and any(folder.rglob("*.py"))
    )


def folders_of_packages() -> list[str]:
    """Every room and each folder below one that has an __init__.py, as a path from the root."""
    return sorted(
        init.parent.relative_to(ROOT).as_posix() for room in rooms() for init in room.rglob("__init__.py")
    )


def installed(folders: list[str]) -> list[str]:
    """All of these but the lab's."""
    return [folder for folder in folders if not f"{folder}/".startswith(f"{LAB}/")]


def name_of(folder: str) -> str:
    """The import name under which a folder is installed."""
    first, *rest = folder.split("/")
    return ".".join(["braid", *([] if first == FRONT_DOOR else [first]), *rest])


def test_the_mapping_is_the_folders_and_nothing_else() -> None:
    assert SETUPTOOLS["package-dir"] == {
        name_of(folder): folder for folder in installed(folders_of_packages())
    }


def test_what_is_kept_lies_in_a_room_or_a_folder_that_is_known() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone")
    known = {room.name for room in rooms()} | NOT_ROOMS | {".ci"}
    assert {name.split("/")[0] for name in listed.stdout.split("\0") if "/" in name} <= known


def test_the_lab_is_a_package_that_is_not_installed() -> None:
    lab = [folder for folder in folders_of_packages() if folder not in installed(folders_of_packages())]
    assert {LAB, f"{LAB}/bench", f"{LAB}/gold", f"{LAB}/torture"} <= set(lab)
    assert not [name for name in SETUPTOOLS["packages"] if name.startswith(name_of(LAB))]
    assert not [name for name in SETUPTOOLS["package-data"] if name.startswith(name_of(LAB))]


def test_nothing_that_is_installed_names_the_lab() -> None:
    """An import by its name as a string too: import-linter doesn't see those."""
    name = name_of(LAB)
    modules = [path for folder in SETUPTOOLS["package-dir"].values() for path in (ROOT / folder).glob("*.py")]
    assert len(modules) > 400
    assert [path for path in modules if name in path.read_text(encoding="utf-8")] == []
    assert not [entry for group in ENTRIES for entry in group.values() if name in entry]


def test_the_floors_forbid_what_is_installed_to_import_the_lab() -> None:
    contracts = CONFIG["tool"]["importlinter"]["contracts"]
    (protected,) = [one for one in contracts if one["type"] == "protected"]
    assert (protected["protected_modules"], protected["allowed_importers"]) == ([name_of(LAB)], [])


def test_every_mapped_package_is_installed() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(SETUPTOOLS["package-dir"])


def test_no_python_lies_outside_a_package() -> None:
    packages = set(folders_of_packages())
    strays = [
        path.relative_to(ROOT).as_posix()
        for room in rooms()
        for path in room.rglob("*.py")
        if path.parent.relative_to(ROOT).as_posix() not in packages
    ]
    assert strays == []


def subjects() -> list[str]:
    """The rooms of the front door, one a subject."""
    return sorted(init.parent.name for init in (ROOT / FRONT_DOOR).glob("*/__init__.py"))


def test_the_front_door_hides_no_room() -> None:
    modules = {path.stem for path in (ROOT / FRONT_DOOR).glob("*.py")} | set(subjects())
    assert modules.isdisjoint(room.name for room in rooms())


def test_pyright_is_shown_every_room() -> None:
    tree = "build/tree/braid"
    linked = [room.name for room in rooms() if room.name != FRONT_DOOR]
    assert CONFIG["tool"]["pyright"]["include"] == [
        tree,
        *sorted(f"{tree}/{name}" for name in (*linked, *subjects())),
    ]


def test_no_room_may_be_imported_past_braid() -> None:
    banned = CONFIG["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert sorted(banned) == [room.name for room in rooms()]


@pytest.mark.parametrize("name", SETUPTOOLS["packages"])
def test_a_package_comes_from_its_folder(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__file__ is not None
    assert Path(module.__file__).parent == ROOT / SETUPTOOLS["package-dir"][name]


def test_no_room_holds_a_link() -> None:
    """`make tree` links to the rooms; one that went into a room would be copied with it for ever."""
    assert not [path for room in rooms() for path in room.rglob("*") if path.is_symlink()]
