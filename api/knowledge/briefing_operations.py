"""What to know at the start of a conversation, before anything is asked in it."""

from typing import Annotated

import msgspec

from braid.ledger.errors import IntegrityError
from braid.operation import Name, Scoped, operation
from braid.search.operations import ContextBlock
from braid.search.question import Audience
from braid.session import Session


class Briefing(Scoped, frozen=True, kw_only=True):
    """Whose memory, and how much of it. `besides`: a session that is not told of: the one that begins, or goes on.

    `audience`: before whom it is said, as in `context`.
    """

    budget: Annotated[int, msgspec.Meta(ge=100, description="Tokens, by a cautious estimate.")] = 800
    besides: Name | None = None
    audience: Audience = "owner"


@operation(
    Briefing,
    ContextBlock,
    access="read",
    cost="index",
    returns="text",
    example=Briefing(user_id="maya", budget=400),
    errors=(ValueError, IntegrityError),
)
def briefing(session: Session, asked: Briefing) -> ContextBlock:
    """Return an `<experience_context>` block to begin with: what is known of the user, preferences, the sentences
    that stand for the last day, recent words.

    At most `budget` tokens by a cautious estimate, fenced and with secrets as placeholders, as `context` does. An empty
    text where nothing is remembered. Raises IntegrityError.
    """
    from braid.knowledge.briefing import brief

    return ContextBlock(text=brief(session, asked))
