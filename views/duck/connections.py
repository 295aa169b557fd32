"""Views of how records hang together: what follows on what, comes from what, speaks of whom, and means nearly the same.

Each row names the records that it is made of, and is there as long as both its ends are.
"""

from typing import Final

from braid.views.duck.definition import ID, INDEX, READINGS, SESSION, USER, ViewDefinition
from braid.views.duck.schema import Column
from braid.views.duck.vectors import SIMILAR_TO

_KINDS: Final = "FOLLOWS, CAUSED_BY, REFERENCES or SIMILAR_TO."

CONNECTION_VIEWS: Final = (
    ViewDefinition(
        "follows",
        "The order of turns, by when they happened: each with the one before it in its session.",
        (
            INDEX, ID, Column("after_index", "BIGINT", "Log index of the turn before it."),
            Column("after_id", "VARCHAR", "Its id."), USER, SESSION,
        ),
        f"""
        WITH turns AS (
          SELECT e.log_index, e.id, e.user_id, e.session_id, lag(e.log_index) OVER told AS after_index,
            lag(e.id) OVER told AS after_id
          FROM experiences e
          WHERE e.type IN ('occurrence', 'observation') AND e.session_id IS NOT NULL AND NOT {READINGS}
            AND e.method <> 'reflect'
          WINDOW told AS (PARTITION BY e.user_id, e.agent_id, e.run_id, e.project_id, e.session_id
            ORDER BY e.happened_at, e.log_index)
        )
        SELECT t.log_index, t.id, t.after_index, t.after_id, t.user_id, t.session_id
        FROM turns t WHERE t.after_index IS NOT NULL
        """,  # noqa: S608 - our own words
    ),
    ViewDefinition(
        "caused_by",
        "Which record gave rise to which: links to parents and to evidence.",
        (
            INDEX, ID, Column("cause_index", "BIGINT", "Log index of the record that it comes from."),
            Column("cause_id", "VARCHAR", "Its id."), Column("role", "VARCHAR", "parent or evidence."),
        ),
        """
        SELECT l.log_index, l.id, l.target_index AS cause_index, l.target_id AS cause_id, l.role
        FROM links l WHERE l.role IN ('parent', 'evidence')
        """,
    ),
    ViewDefinition(
        "refers_to",
        "Of whom and what a turn speaks: the entities in living claims that were read from it.",
        (
            Column("log_index", "BIGINT", "Index in the log of the turn."),
            Column("id", "VARCHAR", "Its id; `braid show ID` reads it, verified."),
            Column("entity_id", "VARCHAR", "Id of the entity, as in `entities`."),
            Column("name", "VARCHAR", "Its name, as the turn has it first."),
            Column("mentions", "BIGINT", "How often claims from the turn mention it."),
            Column("by_ids", "VARCHAR[]", "Ids of the records that claim so."), USER, SESSION,
        ),
        """
        SELECT e.log_index, e.id, m.entity_id, arg_min(m.name, (m.log_index, m.claim_k)) AS name,
          count(*) AS mentions, list_sort(list(DISTINCT m.id)) AS by_ids, e.user_id, e.session_id
        FROM entity_mentions m JOIN experiences e ON e.log_index = m.turn_index
        GROUP BY e.log_index, e.id, m.entity_id, e.user_id, e.session_id
        """,
    ),
    ViewDefinition(
        "similar_to",
        "Records that mean nearly the same as an earlier one of the same memory, by the vectors that search keeps: a"
        " cosine above .85 with one of the 4,096 before it, the five nearest. What search has not come to is left out.",
        (
            INDEX, ID, Column("other_index", "BIGINT", "Log index of the earlier record."),
            Column("other_id", "VARCHAR", "Its id."), Column("cosine", "DOUBLE", "How near they are, in [.85, 1]."),
            Column("model", "VARCHAR", "Model and version that made the vectors."), USER, SESSION,
        ),
        SIMILAR_TO,
    ),
    ViewDefinition(
        "connections",
        "How experiences hang together, in one table: `follows`, `caused_by`, `refers_to` and `similar_to`, as far as"
        " both ends are there.",
        (
            INDEX, ID, Column("kind", "VARCHAR", _KINDS),
            Column("to_index", "BIGINT", "Log index of the record at the other end; NULL for an entity."),
            Column("to_id", "VARCHAR", "Id of that record, or of the entity."),
            Column("weight", "DOUBLE", "SIMILAR_TO: the cosine. REFERENCES: how many mentions. Else 1."),
            Column("how", "VARCHAR", "CAUSED_BY: the link's role. REFERENCES: the name. SIMILAR_TO: the model."),
            Column("made_of", "VARCHAR[]", "Ids of the records that the row is made of."), USER, SESSION,
        ),
        """
        SELECT f.log_index, f.id, 'FOLLOWS' AS kind, f.after_index AS to_index, f.after_id AS to_id,
          1.0::DOUBLE AS weight, NULL::VARCHAR AS how, [f.id, f.after_id] AS made_of, f.user_id, f.session_id
        FROM follows f
        UNION ALL
        SELECT c.log_index, c.id, 'CAUSED_BY', c.cause_index, c.cause_id, 1.0, c.role, [c.id, c.cause_id],
          r.user_id, r.session_id
        FROM caused_by c JOIN experiences r ON r.log_index = c.log_index
        WHERE c.cause_index IN (SELECT o.log_index FROM records o)
        UNION ALL
        SELECT t.log_index, t.id, 'REFERENCES', NULL, t.entity_id, t.mentions::DOUBLE, t.name,
          list_prepend(t.id, t.by_ids), t.user_id, t.session_id
        FROM refers_to t
        UNION ALL
        SELECT s.log_index, s.id, 'SIMILAR_TO', s.other_index, s.other_id, s.cosine, s.model, [s.id, s.other_id],
          s.user_id, s.session_id
        FROM similar_to s
        """,
    ),
)  # fmt: skip
