"""For which users decisions are carried out: a stable choice by a key of the store. The others are the control."""

from hashlib import blake2b

from braid.session import Session
from braid.settings import settings


def is_in_canary(session: Session, user_id: str | None) -> bool:
    """Whether decisions about a user's claims are carried out: while the share stands, a user's answer is the same.

    A larger share keeps all whom a smaller one took in. Claims of no user are those of one.
    """
    key = session.reader.envelope(0).id.encode()
    place = blake2b((user_id or "").encode(), key=key, digest_size=8).digest()
    return int.from_bytes(place, "big") < settings(session).canary_share * 2**64
