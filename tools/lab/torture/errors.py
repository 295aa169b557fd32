"""What torture is looking for."""


class TortureError(AssertionError):
    """The store lost, kept, showed, accepted or refused what it must not."""
