"""What an operator has signed about the store itself: events that link to genesis, found without a walk.

Tokens, the freeze switch and a server's summaries are such notices. Only what an operator's key has signed counts.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from braid.ledger.errors import ErasedError
from braid.ledger.read.signatory import operator
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, EventBody, Target

if TYPE_CHECKING:
    from braid.session import Session


def put_notice(
    session: "Session", name: str, data: dict[str, Any], reason: str | None, what: str
) -> RecordId:
    """Append a notice under an operator's key; `what` says what it is for where there is no such key."""
    draft = notice(name, data, reason, session.reader.envelope(0).id)
    signer = operator(session.writer, what)
    return session.append_drafts([draft], signer=signer.id)[0].id


def notice(name: str, data: dict[str, Any], reason: str | None, genesis: Target) -> Draft:
    """Return the draft of a notice."""
    return Draft(
        kind="event",
        body=EventBody(name=name, data=data, reason=reason),
        links=[("target", genesis)],
        public={"name": name},
    )


def notices(session: "Session", name: str) -> Iterator[tuple[int, EventBody]]:
    """Yield the notices of a name with their index, in log order."""
    reader = session.reader
    for index, role in reader.backlinks.of(0):
        envelope = reader.envelope(index)
        if role != "target" or envelope.kind != "event" or envelope.public.get("name") != name:
            continue
        if reader.control.keys[envelope.key].role != "operator":
            continue
        try:
            body = reader.at(index, include_forgotten=True).body
        except (ErasedError, ValueError):
            continue
        if isinstance(body, EventBody):
            yield index, body


def notice_count(session: "Session") -> int:
    """Return a number that rises with each notice: what was found stays true while it stands."""
    return len(session.reader.backlinks.of(0))
