"""Lenses that people define: kept as events of the log, versioned, found by name beside those that are installed."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Draft, EventBody
from braid.lens.operations import Lenses, LensInfo
from braid.lenses.definition import EVENT, Definition, definition_of, lens_of, parse
from braid.lenses.errors import DefinitionError, UnknownLensError
from braid.lenses.lens import Lens
from braid.lenses.registry import by_name, installed
from braid.session import Session

_LISTED: Final = f"SELECT log_index FROM events WHERE name = '{EVENT}' ORDER BY log_index"  # noqa: S608 - our own word


class Defined(msgspec.Struct, frozen=True):
    """A definition, and the record that holds it."""

    id: str
    definition: Definition


def define(session: Session, text: str) -> str:
    """Keep the definition that a TOML file holds; return the id of its record. The same again writes nothing.

    Raises DefinitionError: for what no lens can be made of, a name that an installed lens has, and a version that is
    not above the newest of that name.
    """
    given = parse(text)
    if given.name in installed().lenses:
        raise DefinitionError(f"{given.name!r} is the name of an installed lens: give yours another")
    before = [one for one in defined(session) if one.definition.name == given.name]
    for one in before:
        if one.definition == given:
            return one.id
    newest = max(before, key=lambda one: one.definition.order, default=None)
    if newest is not None and given.order <= newest.definition.order:
        raise DefinitionError(
            f"the lens {given.name} is defined in version {newest.definition.version} already; a change needs a version"
            f" above that, and this says {given.version}"
        )
    data: dict[str, Any] = msgspec.to_builtins(given)
    links = [("supersedes", newest.id)] if newest is not None else []
    draft = Draft(kind="event", body=EventBody(name=EVENT, data=data), links=links)
    return session.append_drafts([draft])[0].id


def defined(session: Session) -> list[Defined]:
    """Return every definition that can be read, all versions, oldest first."""
    if session.reader.vault is None:
        return []
    found: list[Defined] = []
    for index in session.views.sql(_LISTED).table.column("log_index").to_pylist():
        try:
            record = session.reader.at(index)
            found.append(Defined(record.id, definition_of(record)))
        except (ErasedError, ForgottenError, DefinitionError):
            continue
    return found


def newest(session: Session) -> dict[str, Defined]:
    """Return the newest definition of each name, in the order of names."""
    found = sorted(defined(session), key=lambda one: (one.definition.name, one.definition.order))
    return {one.definition.name: one for one in found}


def available(session: Session) -> Lenses:
    """Return the lenses that are installed, then those that are defined here in their newest versions."""
    return listed(newest(session))


def listed(defined: Mapping[str, Defined]) -> Lenses:
    """Return the lenses that are installed, then some that are defined."""
    found = installed()
    mine = [(lens_of(one.definition, one.id), one.id) for one in defined.values()]
    return Lenses(
        lenses=tuple(
            _told(lens, id) for lens, id in [*((lens, None) for lens in found.lenses.values()), *mine]
        ),
        troubles=tuple(found.troubles),
    )


def _told(lens: Lens, id: str | None) -> LensInfo:
    return LensInfo(
        name=lens.name,
        version=lens.version,
        folds=lens.folds,
        model=lens.model_backed,
        about=lens.about,
        defined_by=id,
    )


def lens_named(session: Session, name: str, version: str | None = None) -> Lens:
    """Return the lens of a name, and of a version where one is asked for: an installed one, else one that was defined.

    Raises UnknownLensError if there is none.
    """
    if name in installed().lenses:
        return by_name(name, version)
    mine = defined(session)
    fitting = [
        one for one in mine if one.definition.name == name and version in (None, one.definition.version)
    ]
    if fitting:
        best = max(fitting, key=lambda one: one.definition.order)
        return lens_of(best.definition, best.id)
    versions = [one.definition.version for one in mine if one.definition.name == name]
    if versions:
        raise UnknownLensError(f"the lens {name} is defined in version {', '.join(versions)}, not {version}")
    names = dict.fromkeys([*installed().lenses, *(one.definition.name for one in mine)])
    raise UnknownLensError(f"no lens {name!r} is installed or defined; there are: {', '.join(names)}")
