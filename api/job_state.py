"""What an open store knows of its jobs: what carries them, and the breakers of what they depend on."""

from braid.session import Session
from braid.work.breaker import Breakers
from braid.work.embedded import FILE, EmbeddedQueue
from braid.work.transport import Transport


class JobState:
    """One for an open store: `transport` may be put in place of the embedded one before work begins."""

    def __init__(self, session: Session) -> None:
        self.transport: Transport = EmbeddedQueue(session.path / FILE)
        self.breakers = Breakers()


def job_state(session: Session) -> JobState:
    """Return the one of a session."""
    return session.kept(JobState, lambda: JobState(session))
