"""Errors of programs.

ProgramError
├── PlanError           a plan that must not run: its form, its references, its bounds, what it may call
├── ToolRefusedError    a tool that is unknown, forbidden, changed, or given what it doesn't take
├── ProgramTakenError   another process runs this program, or has gone on with it since
├── ProgramStateError   what is asked of a program doesn't fit how it stands
└── BrokenProgramError  the records of a program don't tell how it stands: one was erased, or is no record of ours

UnitError               a sum that mixes what can't be put together: the caller's misuse, and no program's end
"""


class ProgramError(ValueError):
    """Root of what a program is refused for. What it had done before stays in the log."""


class PlanError(ProgramError):
    """A plan that must not run. Nothing of it was run."""


class ToolRefusedError(ProgramError):
    """A tool that is unknown, forbidden, changed since the program paused, or given what it doesn't take."""


class ProgramTakenError(ProgramError):
    """Another process runs this program, or has gone on with it since it was read."""


class ProgramStateError(ProgramError):
    """What is asked of a program doesn't fit how it stands."""


class BrokenProgramError(ProgramError):
    """The records of a program don't tell how it stands any more."""


class UnitError(ValueError):
    """Quantities that can't be put together: two currencies, kilometres and days. Nothing was reckoned."""
