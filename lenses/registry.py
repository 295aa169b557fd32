"""Finds the lenses that are installed: this package's, and those of other packages in the entry-point group."""

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from braid.lenses.errors import UnknownLensError
from braid.lenses.lens import Lens

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "braid.lenses"
"""The entry-point group: name of the lens → a subclass of `Lens`."""
OURS: Final = (
    "causal", "policy", "temporal", "preference", "entity", "summary", "contradiction", "stance",
)  # fmt: skip
_OWNER: Final = "braid.lenses."


class InstalledLenses(NamedTuple):
    """The lenses by name, and what was left out, with the reason."""

    lenses: dict[str, Lens]
    troubles: tuple[str, ...]


@cache
def installed() -> InstalledLenses:
    """Every lens: this package's first, then those of other packages in the order of their names."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - a lens is asked for less often than this is imported

    found: dict[str, Lens] = {}
    troubles: list[str] = []
    for entry in sorted(entry_points(group=GROUP), key=_place):
        ours = entry.value.startswith(_OWNER)
        if entry.name in found or (entry.name in OURS and not ours):
            if not ours:
                troubles.append(f"the lens {entry.value} is left out: {entry.name!r} is taken")
            continue
        try:
            found[entry.name] = _loaded(entry)
        except Exception as error:
            troubles.append(f"the lens {entry.value} is left out: {type(error).__name__}: {error}")
    return InstalledLenses(found, tuple(troubles))


def _loaded(entry: "EntryPoint") -> Lens:
    lens = entry.load()()
    if not isinstance(lens, Lens):
        raise TypeError("it is no Lens")
    if lens.name != entry.name:
        raise ValueError(f"it calls itself {lens.name!r}, and is registered as {entry.name!r}")
    if not lens.version:
        raise ValueError("it has no version")
    return lens


def _place(entry: "EntryPoint") -> tuple[int, str, str]:
    ours = entry.value.startswith(_OWNER) and entry.name in OURS
    return (OURS.index(entry.name) if ours else len(OURS), entry.name, entry.value)


def by_name(name: str, version: str | None = None) -> Lens:
    """Return the lens of a name, and of a version where one is asked for. UnknownLensError if there is none."""
    lens = installed().lenses.get(name)
    if lens is None:
        known = ", ".join(installed().lenses)
        raise UnknownLensError(f"no lens {name!r} is installed; installed: {known}")
    if version is not None and lens.version != version:
        raise UnknownLensError(f"the lens {name} is installed in version {lens.version}, not {version}")
    return lens
