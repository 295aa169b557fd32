"""What this room raises.

WorkError
├── LogAwayError           the log takes nothing now
├── LeaseLostError         somebody else has the job by now, or nobody knows of it
├── NotNowError            a job can't be done now, for no fault of its own
│   ├── BreakerOpenError   a dependency is left in peace for a while
│   └── BudgetSpentError   what may be spent in a day is spent
├── TransportError         the transport gave no answer
│   └── FullError          its file has no room on the disk
└── UnknownJobError        there is no such job (a LookupError)
"""


class WorkError(Exception):
    """Base of what goes wrong with jobs."""


class LogAwayError(WorkError):
    """The log takes nothing now, for no fault of the job's. Another job would fare no better."""

    def __init__(self, why: Exception) -> None:
        """`why`: what the log said."""
        super().__init__(f"the log takes nothing now: {why}")
        self.why = why


class LeaseLostError(WorkError):
    """A lease is not in force any more: what was made under it must not be appended."""


class NotNowError(WorkError):
    """A job can't be done now, for no fault of its own: it costs no attempt."""

    def __init__(self, message: str, why: str, wait_s: float) -> None:
        """`why`: what stands in its way, in a word. `wait_s`: seconds until it is worth another look."""
        super().__init__(message)
        self.why = why
        self.wait_s = wait_s


class BreakerOpenError(NotNowError):
    """A dependency has failed too often and is not asked now."""

    def __init__(self, dependency: str, wait_s: float) -> None:
        """`wait_s`: seconds until one is let through."""
        super().__init__(
            f"{dependency} has failed too often; it is asked again in {wait_s:.0f} s", dependency, wait_s
        )


class BudgetSpentError(NotNowError):
    """What a tier of models may take in a day is spent: the job waits."""


class TransportError(WorkError):
    """What carries the jobs gave no answer. Nothing is lost: the log says what is to be done."""


class FullError(TransportError):
    """The file that carries the jobs has no room on its disk."""


class UnknownJobError(WorkError, LookupError):
    """No job has this id."""
