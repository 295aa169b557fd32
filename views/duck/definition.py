"""What a view and a table macro of the DuckDB projection are, and the columns that several of them have."""

from typing import Final, NamedTuple

from braid.ledger.record.record import READING
from braid.views.duck.schema import Column, quoted

INDEX: Final = Column("log_index", "BIGINT", "Index in the log of the record.")
ID: Final = Column("id", "VARCHAR", "Its id; `braid show ID` reads it, verified.")
HAPPENED: Final = Column("happened_at", "TIMESTAMP", "When it happened, else when it was recorded, UTC.")
USER: Final = Column("user_id", "VARCHAR", "Scope: the user whose memory it is.")
SESSION: Final = Column("session_id", "VARCHAR", "Scope: the session.")
SURE: Final = Column("confidence_p", "DOUBLE", "Probability in [0, 1] of the record that says so.")
WHO: Final = Column("who", "VARCHAR", "The actor's own name, else user, agent, system or tool(name).")
SUBJECT: Final = Column("subject", "VARCHAR", "Subject.")
REL: Final = Column("rel", "VARCHAR", "Relation.")
OBJECT: Final = Column("object", "VARCHAR", "Object.")
POLARITY: Final = Column("polarity", "BOOLEAN", "False: it is denied.")
SINCE: Final = Column("since", "TIMESTAMP", "Holds from then on, UTC: `valid_from`, else when it was said.")
UNTIL: Final = Column("until", "TIMESTAMP", "Holds until before then, UTC; NULL for no end.")
SOURCE: Final = Column("source_type", "VARCHAR", "explicit, implicit_…, inferred or corrected.")
DISPUTED: Final = Column("disputed", "BOOLEAN", "The key that signed it is reported compromised.")


class ViewDefinition(NamedTuple):
    """A view: a question with a name."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    query: str


class Macro(NamedTuple):
    """A table macro: a question with parameters, asked as `FROM name(…)`.

    In the query a parameter of type TIMESTAMP stands as `:name`: it is taken as text and as TIMESTAMP WITH TIME ZONE
    too. One in `optional` may be left out. Columns
    are named with their table, here and in a view that a macro reads: a parameter of the same name would hide them.
    """

    name: str
    comment: str
    parameters: tuple[Column, ...]
    columns: tuple[Column, ...]
    query: str
    optional: frozenset[str] = frozenset()


REL_NAME: Final = "trim(regexp_replace(lower(c.rel), '[^a-z0-9]+', '_', 'g'), '_')"
"""A relation's name as the table of relations writes it, of a row `c`."""
READINGS: Final = f"starts_with(e.method, {quoted(READING)})"
"""Whether a row `e` of experiences is a reading."""
OWNED: Final = (
    "CASE WHEN {0}.user_id IS NOT NULL THEN concat('user_id:', {0}.user_id)"
    " WHEN {0}.agent_id IS NOT NULL THEN concat('agent_id:', {0}.agent_id)"
    " WHEN {0}.run_id IS NOT NULL THEN concat('run_id:', {0}.run_id)"
    " WHEN {0}.project_id IS NOT NULL THEN concat('project_id:', {0}.project_id) ELSE '' END"
)
"""Whose memory a row is of, as `scope.owner_of` says it."""
NORMAL: Final = "regexp_replace(trim(lower({})), '^(the|a|an|my|his|her|our|their) ', '')"
"""A name without case and article."""
