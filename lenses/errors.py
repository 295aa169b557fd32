"""Errors of the lenses.

LensError
├── UnknownLensError   no lens of that name, or not of that version, is installed
├── DefinitionError    a definition that no lens can be made of, or that may not be kept
├── LensFailedError    a lens raised, took too long, or gave what is no view of the records that it was given
└── ViewUnreadableError   a view in the log is not one that a lens of this protocol made
"""


class LensError(ValueError):
    """Root of what a lens is refused for. Nothing was written."""


class UnknownLensError(LensError):
    """No lens of that name, or not of that version, is installed."""


class DefinitionError(LensError):
    """A definition that no lens can be made of, or that may not be kept: nothing was written."""


class LensFailedError(LensError):
    """A lens raised, took too long, or gave what is no view of the records that it was given."""


class ViewUnreadableError(LensError):
    """A view was not made by a lens of this protocol: by hand, or by another program."""
