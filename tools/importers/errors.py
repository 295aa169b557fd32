"""What can be wrong with a source.

ValueError
  SourceError           the source can't be opened, or breaks off: nothing (more) of it can be read
    UnknownFormatError  no importer recognises it, or none has that name
    ArchiveError        a zip that is damaged, or beyond the limits, or plays tricks with names
  Refused               one line or turn is refused; it never leaves an importer: it becomes a `BadLine`
"""


class SourceError(ValueError):
    """A source that can't be read. The message says why, and what to do where something can be done."""


class UnknownFormatError(SourceError):
    """No importer recognises the source, or none has the name. The message lists the known formats."""


class ArchiveError(SourceError):
    """A zip that is damaged, or refused: too many members, too large, a path out of it, a link, a bomb."""


class Refused(ValueError):  # noqa: N818 - not an error of the program: it becomes a BadLine
    """A line or turn is refused; the argument is the reason, in words for whoever imports."""
