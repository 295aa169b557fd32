"""Views and table macros of the DuckDB projection, as data: what people ask most, by name (docs/schema.md lists them).

They are made for the question that names them, as temporary ones of its connection, and are in no file: nobody can edit
one, and a file opens in a third of the time (ADR 82). They read tables of the file that is asked and nothing else.
`braid sql .definitions` prints them for any other DuckDB client.
"""

import re
from collections.abc import Iterator, Mapping, Set
from functools import cache
from typing import Final

from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.stance.claims import LATELY
from braid.stance.mentions import NAMED
from braid.stance.precedence import SURE as SURE_SAY
from braid.stance.relations import FAVOURITE, RELATIONS, compared_as
from braid.views.duck.audit import AUDIT_VIEW
from braid.views.duck.connections import CONNECTION_VIEWS
from braid.views.duck.definition import (
    DISPUTED,
    HAPPENED,
    ID,
    INDEX,
    NORMAL,
    OBJECT,
    OWNED,
    POLARITY,
    READINGS,
    REL,
    REL_NAME,
    SESSION,
    SINCE,
    SOURCE,
    SUBJECT,
    SURE,
    UNTIL,
    USER,
    WHO,
    Macro,
    ViewDefinition,
)  # fmt: skip
from braid.views.duck.knowledge import KNOWLEDGE_MACROS, KNOWLEDGE_VIEWS
from braid.views.duck.schema import Column, quoted
from braid.views.duck.vectors import EMBEDDINGS


def _relations() -> str:
    """Return what is known of relations as rows of SQL; those that exclude only what is of one sort count as many."""
    rows: list[str] = []
    for one in RELATIONS.values():
        known = compared_as(one.name)
        opposite = quoted(known.opposite) if known.opposite else "NULL"
        many = "true" if known.many or known.rivals else "false"
        rows.append(f"({quoted(one.name)}, {quoted(known.name)}, {many}, {opposite})")
    return ", ".join(rows)


def _states() -> str:
    """Return as rows of SQL which relations begin a state, and which end one."""
    begun = [(one.name, one.begins, "true") for one in RELATIONS.values() if one.begins]
    ended = [(one.name, one.ends, "false") for one in RELATIONS.values() if one.ends]
    return ", ".join(f"({quoted(rel)}, {quoted(state)}, {says})" for rel, state, says in begun + ended)


_ENTITY_COLUMNS: Final = (
    Column("entity_id", "VARCHAR", "Id of the entity: the same for as long as its first name is mentioned."),
    Column(
        "owner",
        "VARCHAR",
        "Whose memory: the user's, else the agent's, the run's, the project's.",
    ),
)
_MENTIONED: Final = f"""
        WITH RECURSIVE living AS (
          SELECT m.*, e.happened_at, e.user_id, e.agent_id, e.run_id, e.project_id, e.session_id
          FROM mentions m JOIN experiences e USING (log_index)
          WHERE e.standing = 'living'
        ),
        decided AS (
          SELECT d.log_index, json_extract_string(d.data, '$.op') AS op, d.data,
            {OWNED.format("d")} AS owner
          FROM events d WHERE d.name = 'entity' AND d.standing = 'living'
            AND (d.user_id IS NOT NULL)::INTEGER + (d.agent_id IS NOT NULL)::INTEGER + (d.run_id IS NOT NULL)::INTEGER
              + (d.project_id IS NOT NULL)::INTEGER + (d.session_id IS NOT NULL)::INTEGER < 2  -- of a whole memory
        ),
        named AS (  -- the names that decisions are about
          SELECT d.log_index, d.op, d.owner, l.k, coalesce(json_extract(n.data, '$.side')::INTEGER, 0) AS side,
            CASE WHEN p.target_index IS NULL THEN json_extract_string(n.data, '$.node')
              ELSE concat(regexp_extract(json_extract_string(n.data, '$.node'), '^[^#~@]*'), '@', p.target_index)
            END AS node
          FROM decided d JOIN links l ON l.log_index = d.log_index AND l.role = 'parent'
          JOIN events n ON n.log_index = l.target_index AND n.standing = 'living'
          LEFT JOIN links p ON p.log_index = n.log_index AND p.role = 'target'
          UNION ALL
          SELECT d.log_index, d.op, d.owner, 1000 + generate_subscripts(json_extract_string(d.data, '$.keys[*]'), 1), 0,
            unnest(json_extract_string(d.data, '$.keys[*]'))
          FROM decided d WHERE d.op = 'alias'
        ),
        typed AS (
          SELECT m.owner, m.key, count(DISTINCT m.type) FILTER (m.type <> 'thing') AS types FROM living m
          GROUP BY m.owner, m.key
        ),
        parted AS (  -- a name that means another in some turns
          SELECT n.owner, n.node, l.target_index AS turn_index, max(n.log_index) AS by_index
          FROM named n JOIN links l ON l.log_index = n.log_index AND l.role = 'evidence'
          WHERE n.op = 'split' GROUP BY n.owner, n.node, l.target_index
        ),
        placed AS (
          SELECT m.* EXCLUDE (id), m.id, CASE WHEN p.by_index IS NULL THEN m.plain
            ELSE concat(regexp_extract(m.plain, '^[^#~@]*'), '@', p.by_index) END AS node
          FROM (
            SELECT l.*, if(t.types > 1, concat(l.key, '~', l.type), l.key) AS plain
            FROM living l JOIN typed t ON t.owner = l.owner AND t.key = l.key
          ) m LEFT JOIN parted p ON p.owner = m.owner AND p.node = m.plain AND p.turn_index = m.turn_index
        ),
        nodes AS (
          SELECT owner, node, min(log_index * 1000 + k) AS place, min(canonical) AS canonical FROM placed
          GROUP BY owner, node
        ),
        joined(owner, a, b) AS (
          SELECT x.owner, x.node, y.node FROM named x JOIN named y ON y.log_index = x.log_index AND x.k < y.k
          WHERE x.op IN ('merge', 'alias')
          UNION
          SELECT x.owner, x.node, y.node FROM nodes x JOIN nodes y ON y.owner = x.owner AND y.canonical = x.canonical
            AND x.node < y.node
          WHERE NOT contains(x.node, '@') AND NOT contains(y.node, '@')
            AND regexp_extract(x.node, '~.*$') = regexp_extract(y.node, '~.*$')
            AND NOT EXISTS (FROM named n WHERE n.op = 'apart' AND n.side = 1 AND n.owner = x.owner
              AND n.node IN (x.node, y.node))
          UNION
          SELECT s.owner, s.node, o.node FROM placed s
          JOIN placed o ON o.log_index = s.log_index AND o.claim_k = s.claim_k AND o.role = 'object'
          JOIN claims c ON c.log_index = s.log_index AND c.k = s.claim_k
          WHERE s.role = 'subject' AND c.polarity AND c.source_class <> 'outsider'
            AND c.rel IN ({", ".join(quoted(rel) for rel in sorted(NAMED))})
            AND NOT EXISTS (FROM named n WHERE n.op = 'apart' AND n.owner = s.owner AND n.node IN (s.node, o.node))
        ),
        ways(owner, a, b) AS (SELECT owner, a, b FROM joined UNION SELECT owner, b, a FROM joined),
        reach(owner, node, other) AS (
          SELECT n.owner, n.node, n.node FROM nodes n
          UNION
          SELECT r.owner, r.node, w.b FROM reach r JOIN ways w ON w.owner = r.owner AND w.a = r.other
        ),
        firsts AS (
          SELECT r.owner, r.node, arg_min(n.node, n.place) AS first
          FROM reach r JOIN nodes n ON n.owner = r.owner AND n.node = r.other GROUP BY r.owner, r.node
        )
"""  # noqa: S608 - our own names of relations
"""Names of living records, and how they are joined: exactly, by the dictionary, by what was stated and decided."""

VIEWS: Final = (
    ViewDefinition(
        "records",
        "Every record that the tables show, whatever its kind; one row each.",
        (
            INDEX,
            ID,
            Column("kind", "VARCHAR", "experience, view, stance, affect, embedding, event, tombstone, key or genesis."),
            Column("type", "VARCHAR", "Of an experience: occurrence ⊑ observation ⊑ inference ⊑ reconciliation."),
            Column("created_at", "TIMESTAMP", "Transaction time, UTC."),
            HAPPENED,
            Column("key_id", "VARCHAR", "Author key that signed it; NULL for kinds whose tables don't say."),
            Column("user_id", "VARCHAR", "Scope: the user whose memory it is."),
            SESSION,
            Column("gist", "VARCHAR", "What it says, in a few words."),
        ),
        """
        SELECT r.log_index, r.id, 'experience' AS kind, r.type, r.created_at, r.happened_at, r.key_id,
          r.user_id, r.session_id, r.text AS gist
        FROM experiences r
        UNION ALL SELECT r.log_index, r.id, 'view', NULL, r.created_at, r.happened_at, r.key_id,
          r.user_id, r.session_id, coalesce(r.text, r.lens)
        FROM views r
        UNION ALL SELECT r.log_index, r.id, 'stance', NULL, r.created_at, r.happened_at, r.key_id,
          r.user_id, r.session_id, concat_ws(' ', r.question, r.decision)
        FROM stances r
        UNION ALL SELECT r.log_index, r.id, 'affect', NULL, r.created_at, r.happened_at, r.key_id,
          r.user_id, r.session_id, concat_ws(' ', r.actor, r.stage, r.primary_emotion)
        FROM affect_snapshots r
        UNION ALL SELECT r.log_index, r.id, 'event', NULL, r.created_at, r.happened_at, r.key_id,
          r.user_id, r.session_id, coalesce(r.name, r.op)
        FROM events r
        UNION ALL SELECT r.log_index, r.id, 'embedding', NULL, r.created_at, r.created_at, NULL, NULL, NULL, r.model
        FROM signatures r WHERE r.k = 0
        UNION ALL SELECT r.log_index, r.id, 'tombstone', NULL, r.created_at, r.created_at, r.key_id, NULL, NULL, r.op
        FROM tombstones r WHERE r.k = 0
        UNION ALL SELECT r.log_index, r.id, if(r.log_index = 0, 'genesis', 'key'), NULL, r.admitted_at, r.admitted_at,
          NULL, NULL, NULL, concat_ws(' ', r.role, r.actor)
        FROM keys r WHERE r.k = 0
        """,
    ),
    ViewDefinition(
        "affect",
        "The tone of experiences, by actor and stage: snapshots, and what was stated or read of turns without one of"
        " stage input. `method` says who made it.",
        (
            INDEX,
            Column("id", "VARCHAR", "Id of the snapshot, or of the experience; `braid show ID` reads it."),
            Column("created_at", "TIMESTAMP", "Transaction time, UTC."),
            Column("user_id", "VARCHAR", "Scope: the user whose memory it is."),
            SESSION,
            Column("experience_index", "BIGINT", "Log index of the experience."),
            Column("experience_id", "VARCHAR", "Its id."),
            Column("actor", "VARCHAR", "Whose tone: user or agent."),
            Column("stage", "VARCHAR", "input, draft, augmented …"),
            Column("valence", "DOUBLE", "Valence in [-1, 1]."),
            Column("arousal", "DOUBLE", "Arousal in [0, 1]."),
            Column("dominance", "DOUBLE", "Dominance in [-1, 1]."),
            Column("primary_emotion", "VARCHAR", "The emotion that stands out."),
            Column("intensity", "DOUBLE", "Intensity in [0, 1]."),
            Column("confidence", "DOUBLE", "Confidence in the reading, in [0, 1]."),
            Column("notes", "VARCHAR", "Why it was read so."),
            Column("method", "VARCHAR", "snapshot, stated (by the experience itself), else function and version."),
        ),
        """
        SELECT s.log_index, s.id, s.created_at, s.user_id, s.session_id, s.experience_index, s.experience_id, s.actor,
          s.stage, s.valence, s.arousal, s.dominance, s.primary_emotion, s.intensity, s.confidence, s.notes,
          'snapshot' AS method
        FROM affect_snapshots s
        UNION ALL
        SELECT e.log_index, e.id, e.created_at, e.user_id, e.session_id, e.log_index, e.id,
          if(e.actor = 'agent', 'agent', 'user'), 'input', e.valence, e.arousal, e.dominance, e.affect_labels[1],
          e.affect_intensity, e.affect_confidence, NULL, e.affect_method
        FROM experiences e
        WHERE e.affect_method IS NOT NULL
          AND e.log_index NOT IN (SELECT i.experience_index FROM affect_snapshots i
            WHERE i.stage = 'input' AND i.experience_index IS NOT NULL)
        """,
    ),
    ViewDefinition(
        "embeddings",
        "The vectors that search keeps of experiences, in LanceDB: one row a vector. `store.vector(uri)` gives it.",
        (
            INDEX,
            ID,
            Column("role", "VARCHAR", "prompt_semantic or response_semantic; profiles are computed when asked for."),
            Column("uri", "VARCHAR", "Its address: vec://role/id."),
            Column("model", "VARCHAR", "Model and version that made it; NULL while it is pending."),
            Column("pending", "BOOLEAN", "It isn't there yet: search has not come so far, or waits for its model."),
            Column("label", "VARCHAR", "A classifier's label, by the newest of `signatures`."),
            Column("salience", "DOUBLE", "Weight in retrieval, in [0, 1], by the same; 1 without one."),
            Column("hash", "VARCHAR", "Locality-sensitive hash, by the same."),
            Column("metadata", "JSON", "What belongs to the role, by the same; NULL when empty."),
        ),
        EMBEDDINGS,
    ),
    ViewDefinition(
        "strands",
        "The links by which records rest on others: `links` without those of corrections and tombstones.",
        (
            INDEX,
            ID,
            Column("target_index", "BIGINT", "Log index of the record that it rests on."),
            Column("target_id", "VARCHAR", "Its id."),
            Column("role", "VARCHAR", "What that one is to it: parent, evidence, support, candidate, …"),
        ),
        "SELECT l.log_index, l.id, l.target_index, l.target_id, l.role FROM links l"  # noqa: S608 - our own words
        f" WHERE l.role IN ({', '.join(quoted(role) for role in sorted(DERIVATION_ROLES))})",
    ),
    ViewDefinition(
        "depths",
        "How deep each record lies in the braid: the longest way down to a record that rests on no other, 0 for those.",
        (INDEX, ID, Column("depth", "BIGINT", "Number of links on that way.")),
        """
        WITH RECURSIVE walk(log_index, depth) AS (
          SELECT log_index, 0::BIGINT FROM records
          WHERE log_index NOT IN (SELECT s.log_index FROM strands s JOIN records r ON r.log_index = s.target_index)
          UNION
          SELECT s.log_index, walk.depth + 1 FROM strands s JOIN walk ON s.target_index = walk.log_index
        )
        SELECT log_index, id, max(depth) AS depth FROM walk JOIN records USING (log_index) GROUP BY log_index, id
        """,
    ),
    ViewDefinition(
        "corrections",
        "What was corrected: the experience that holds now, and each in whose place it stands.",
        (
            INDEX,
            ID,
            Column("corrected_at", "TIMESTAMP", "When, UTC."),
            Column("old_index", "BIGINT", "Log index of the superseded record."),
            Column("old_id", "VARCHAR", "Its id."),
            Column("old_text", "VARCHAR", "What it said; NULL once it is forgotten or erased."),
            Column("new_text", "VARCHAR", "What holds instead."),
            Column("reason", "VARCHAR", "Why, in words."),
        ),
        """
        WITH replaced AS (
          SELECT e.log_index AS old_index, e.id AS old_id, e.text AS old_text, e.superseded_by AS new_id
          FROM experiences e WHERE e.superseded_by IS NOT NULL
          UNION  -- what is gone has no row: it is named by what superseded it
          SELECT l.target_index, l.target_id, NULL, coalesce(e.superseded_by, e.id)
          FROM links l JOIN experiences e USING (log_index)
          WHERE l.role = 'supersedes' AND e.standing <> 'fallen'
            AND l.target_index NOT IN (SELECT log_index FROM records)
        )
        SELECT new.log_index, new.id, new.created_at AS corrected_at, replaced.old_index, replaced.old_id,
          replaced.old_text, new.text AS new_text, coalesce(said.reason, new.reason) AS reason
        FROM replaced
        JOIN experiences new ON new.id = replaced.new_id
        LEFT JOIN (
          SELECT of.target_index AS log_index, min(event.reason) AS reason
          FROM events event JOIN links of ON of.log_index = event.log_index AND of.role = 'evidence'
          WHERE event.name = 'correction' GROUP BY of.target_index
        ) said ON said.log_index = new.log_index
        """,
    ),
    ViewDefinition(
        "contradictions",
        "Pairs of claims of one owner and project that exclude each other while both hold: by how many objects a"
        " relation may have, by denial, by its opposite. Which of two stands is a stance's to say.",
        (
            SUBJECT,
            REL,
            Column("how", "VARCHAR", "denied; opposite (likes, dislikes); other: two objects where there is one."),
            Column("earlier", "VARCHAR", "Object of the claim that was recorded first."),
            Column("later", "VARCHAR", "Object of the other."),
            Column("earlier_since", "TIMESTAMP", "Since when the first holds, UTC."),
            Column("later_since", "TIMESTAMP", "Since when the other holds, UTC."),
            Column("earlier_id", "VARCHAR", "Id of the record that makes the first claim."),
            Column("later_id", "VARCHAR", "Id of the other."),
            Column("one_batch", "BOOLEAN", "Both came in one transaction."),
            Column("review_id", "VARCHAR", "The event that marks them, where nothing says which gives way."),
        ),
        f"""
        WITH known(rel, means, many, opposite) AS (VALUES {_relations()}),
        said AS (
          SELECT c.log_index, c.k, c.id, c.subject, c.object, c.polarity, e.tx, r.opposite,
            {OWNED.format("e")} AS owner, coalesce(e.project_id, '') AS project,
            coalesce(r.means, {REL_NAME}) AS rel, c.quote,
            coalesce(r.many, NOT starts_with({REL_NAME}, '{FAVOURITE}')) AS many,
            {NORMAL.format("c.subject")} AS who, {NORMAL.format("c.object")} AS what,
            coalesce(c.valid_from, e.happened_at) AS since, coalesce(c.valid_to, 'infinity'::TIMESTAMP) AS until
          FROM claims c JOIN experiences e USING (log_index) LEFT JOIN known r ON r.rel = {REL_NAME}
          WHERE e.method <> 'reconcile' AND e.standing = 'living' AND c.source_class <> 'outsider'
        ),
        reviews AS (
          SELECT one.target_id AS one, other.target_id AS other, min(e.id) AS id
          FROM events e JOIN links one ON one.log_index = e.log_index AND one.role = 'evidence'
          JOIN links other ON other.log_index = e.log_index AND other.role = 'evidence'
          WHERE e.name = 'review' GROUP BY ALL
        )
        SELECT a.subject, a.rel,
          CASE WHEN a.rel <> b.rel THEN 'opposite' WHEN a.polarity <> b.polarity THEN 'denied' ELSE 'other' END AS how,
          a.object AS earlier, b.object AS later, a.since AS earlier_since, b.since AS later_since,
          a.id AS earlier_id, b.id AS later_id, a.tx = b.tx AS one_batch,
          v.id AS review_id
        FROM said a JOIN said b ON a.owner = b.owner AND a.project = b.project AND a.who = b.who
          AND (a.log_index, a.k) < (b.log_index, b.k)
          AND (a.rel = b.rel OR a.opposite = b.rel)
        LEFT JOIN reviews v ON v.one = a.id AND v.other = b.id
        WHERE a.since < b.until AND b.since < a.until AND CASE
          WHEN a.rel <> b.rel THEN a.polarity AND b.polarity AND a.what = b.what
          WHEN a.what = b.what THEN a.polarity <> b.polarity
          ELSE NOT a.many AND a.polarity AND b.polarity
            AND NOT starts_with(a.what, b.what) AND NOT starts_with(b.what, a.what)
            AND NOT (a.log_index = b.log_index AND coalesce(a.quote = b.quote AND a.quote <> '', false))
          END
        """,  # noqa: S608 - our own table of relations
    ),
    ViewDefinition(
        "entity_mentions",
        "Where entities are mentioned by claims of living records: `mentions`, each with the entity that it is of.",
        (
            *_ENTITY_COLUMNS,
            Column("name", "VARCHAR", "The name as it was written."),
            Column("type", "VARCHAR", "What this mention says of the type."),
            Column("role", "VARCHAR", "subject, object, owner (whose sister), said_by."),
            HAPPENED,
            Column("user_id", "VARCHAR", "Scope: the user whose memory it is."),
            Column("agent_id", "VARCHAR", "Scope: the agent."),
            Column("run_id", "VARCHAR", "Scope: the run."),
            Column("project_id", "VARCHAR", "Scope: the project."),
            SESSION,
            Column("turn_index", "BIGINT", "Log index of what was said."),
            Column("turn_id", "VARCHAR", "Its id."),
            INDEX,
            ID,
            Column("claim_k", "INTEGER", "Place of the claim among those of its record: `k` of `claims`."),
        ),
        f"""
        {_MENTIONED}
        SELECT concat('ent_', substr(sha256(concat(p.owner, chr(31), f.first)), 1, 12)) AS entity_id, p.owner, p.name,
          p.type, p.role, p.happened_at, p.user_id, p.agent_id, p.run_id, p.project_id, p.session_id,
          p.turn_index, p.turn_id,
          p.log_index, p.id, p.claim_k
        FROM placed p JOIN firsts f ON f.owner = p.owner AND f.node = p.node
        """,  # noqa: S608 - our own names of relations
    ),
    ViewDefinition(
        "entities",
        "Who and what living claims speak of. Names are joined exactly, by aliases, by what was stated and decided;"
        " `braid entity list` also joins close names that what was said supports.",
        (
            *_ENTITY_COLUMNS,
            Column("name", "VARCHAR", "The name that is mentioned most."),
            Column("type", "VARCHAR", "person, organisation, product, place, or thing."),
            Column("names", "VARCHAR[]", "Its names, as they were written."),
            Column("mentions", "BIGINT", "How many mentions there are."),
            Column("turns", "BIGINT", "In how many turns."),
            Column("first_at", "TIMESTAMP", "When it was first spoken of, UTC."),
            Column("last_at", "TIMESTAMP", "When it was last spoken of, UTC."),
        ),
        """
        SELECT m.entity_id, m.owner, mode(m.name) AS name,
          coalesce(mode(m.type) FILTER (m.type <> 'thing'), 'thing') AS type, list_sort(list(DISTINCT m.name)) AS names,
          count(*) AS mentions, count(DISTINCT m.turn_index) AS turns, min(m.happened_at) AS first_at,
          max(m.happened_at) AS last_at
        FROM entity_mentions m GROUP BY m.entity_id, m.owner
        """,
    ),
    ViewDefinition(
        "sessions",
        "Sessions: when they were, and how much was said in them.",
        (
            Column("user_id", "VARCHAR", "Scope: the user whose memory it is."),
            SESSION,
            Column("begun", "TIMESTAMP", "When the first of its experiences happened, UTC."),
            Column("ended", "TIMESTAMP", "When the last one did, UTC."),
            Column("experiences", "BIGINT", "How many there are."),
            Column("characters", "BIGINT", "Length of their texts together."),
        ),
        """
        SELECT user_id, session_id, min(happened_at) AS begun, max(happened_at) AS ended, count(*) AS experiences,
          sum(length(text))::BIGINT AS characters
        FROM experiences WHERE session_id IS NOT NULL GROUP BY user_id, session_id
        """,
    ),
    *KNOWLEDGE_VIEWS,
    *CONNECTION_VIEWS,
    AUDIT_VIEW,
)  # fmt: skip

_WALKED: Final = (
    INDEX,
    ID,
    Column("kind", "VARCHAR", "Its kind; NULL once it is forgotten or erased."),
    Column("type", "VARCHAR", "Of an experience: its type."),
    Column("roles", "VARCHAR[]", "Roles of the links by which it hangs on the braid."),
    Column("depth", "INTEGER", "Links on the shortest way."),
    Column("gist", "VARCHAR", "What it says, in a few words."),
)

_WHOSE: Final = Column("user_id", "VARCHAR", "Whose memory; left out: everybody's.")

MACROS: Final = (
    Macro(
        "timeline",
        "What an actor (or everybody) did and said, in the order in which it happened.",
        (Column("actor", "VARCHAR", "The actor's own name, or user, agent, system, tool(name); left out: everybody."),),
        (
            HAPPENED,
            INDEX,
            ID,
            Column("type", "VARCHAR", "occurrence ⊑ observation ⊑ inference ⊑ reconciliation."),
            WHO,
            SESSION,
            Column("standing", "VARCHAR", "living, replaced, retired or fallen: `replaced` was corrected or edited."),
            Column("text", "VARCHAR", "The text."),
            SURE,
        ),
        """
        SELECT e.happened_at, e.log_index, e.id, e.type, coalesce(e.name, e.actor) AS who, e.session_id, e.standing,
          e.text, e.confidence_p
        FROM experiences e WHERE actor IS NULL OR e.name = actor OR e.actor = actor
        ORDER BY e.happened_at, e.log_index
        """,
        frozenset(("actor",)),
    ),
    Macro(
        "ascends",
        "What a record descends from: its parents, evidence, support and candidates, and theirs, nearest first.",
        (Column("id", "VARCHAR", "Id of the record."),),
        _WALKED,
        """
        WITH RECURSIVE up(of_index, of_id, role, far) AS (
          SELECT l.target_index, l.target_id, l.role, 1 FROM strands l WHERE l.id = id
          UNION
          SELECT l.target_index, l.target_id, l.role, up.far + 1
          FROM strands l JOIN up ON l.log_index = up.of_index
        )
        SELECT up.of_index AS log_index, up.of_id AS id, r.kind, r.type, list_sort(list(DISTINCT up.role)) AS roles,
          min(up.far) AS depth, r.gist
        FROM up LEFT JOIN records r ON r.log_index = up.of_index
        GROUP BY up.of_index, up.of_id, r.kind, r.type, r.gist ORDER BY min(up.far), up.of_index
        """,
    ),
    Macro(
        "descends",
        "What descends from a record: all that was drawn from it, and from that, nearest first.",
        (Column("id", "VARCHAR", "Id of the record; also of one that was erased."),),
        _WALKED,
        """
        WITH RECURSIVE down(by_index, by_id, role, far) AS (
          SELECT l.log_index, l.id, l.role, 1 FROM strands l WHERE l.target_id = id
          UNION
          SELECT l.log_index, l.id, l.role, down.far + 1
          FROM strands l JOIN down ON l.target_index = down.by_index
        )
        SELECT down.by_index AS log_index, down.by_id AS id, r.kind, r.type,
          list_sort(list(DISTINCT down.role)) AS roles, min(down.far) AS depth, r.gist
        FROM down LEFT JOIN records r ON r.log_index = down.by_index
        GROUP BY down.by_index, down.by_id, r.kind, r.type, r.gist ORDER BY min(down.far), down.by_index
        """,
    ),
    Macro(
        "claims_at",
        "Claims that hold at an instant, by what is known now. Left out are those of records that are not living,"
        " outsiders' words, and what its own voice had denied or replaced by then; between voices a stance decides.",
        (Column("instant", "TIMESTAMP", "The instant, UTC."), _WHOSE),
        (SUBJECT, REL, OBJECT, POLARITY, SINCE, UNTIL, SOURCE, SURE, DISPUTED, USER, INDEX, ID),
        f"""
        WITH known(rel, means, many, opposite) AS (VALUES {_relations()}),
        states(rel, state, says) AS (VALUES {_states()}),
        there AS (
          SELECT c.log_index, c.id, c.k, c.subject, c.rel, c.object, c.polarity, c.source_type, c.quote, e.confidence_p,
            e.disputed, e.user_id, coalesce(c.valid_from, e.happened_at) AS since, c.valid_to AS until, e.happened_at,
            {REL_NAME} AS called, {OWNED.format("e")} AS owner, coalesce(e.project_id, '') AS project,
            {READINGS} AS spoken, coalesce(c.said_by, t.name, t.actor, e.name, e.actor) AS voice
          FROM claims c JOIN experiences e ON e.log_index = c.log_index
          LEFT JOIN links l ON l.log_index = c.log_index AND l.k = 0 AND l.role = 'parent'
          LEFT JOIN experiences t ON t.log_index = l.target_index
          WHERE coalesce(c.valid_from, e.happened_at) <= :instant AND e.standing = 'living'
            AND c.source_class <> 'outsider' AND (user_id IS NULL OR e.user_id = user_id)
        ),
        held AS (  -- what is claimed to hold, and the states that what happened has led to
          SELECT c.*, true AS own FROM there c WHERE c.until IS NULL OR c.until > :instant
          UNION ALL
          SELECT c.* REPLACE (s.state AS called, s.says AS polarity), false FROM there c
          JOIN states s ON s.rel = c.called WHERE c.polarity
        ),
        said AS (
          SELECT h.*, coalesce(r.means, h.called) AS means,
            coalesce(r.many, NOT starts_with(h.called, '{FAVOURITE}')) AS many,
            least(coalesce(r.means, h.called), coalesce(r.opposite, r.means, h.called)) AS kind,
            {NORMAL.format("h.subject")} AS who, {NORMAL.format("h.object")} AS what,
            row_number() OVER (ORDER BY h.source_type <> 'inferred', coalesce(h.confidence_p, 1) >= {SURE_SAY},
              if(h.spoken AND (h.own OR h.happened_at - h.since <= INTERVAL {LATELY.days} DAY),
                greatest(h.since, h.happened_at), h.since),
              h.happened_at, h.log_index, h.k) AS nth
          FROM held h LEFT JOIN known r ON r.rel = h.called
        ),
        last AS (  -- of each voice: what it said last of the same object, and of which object it said so last
          SELECT s.*,
            max(s.nth) FILTER (s.means = s.kind AND s.polarity) OVER of_one AS yes,
            max(s.nth) FILTER (s.means = s.kind AND NOT s.polarity) OVER of_one AS no,
            max(s.nth) FILTER (s.means <> s.kind AND s.polarity) OVER of_one AS opposite_yes,
            max(s.nth) FILTER (s.means <> s.kind AND NOT s.polarity) OVER of_one AS opposite_no,
            arg_max(s.what, s.nth) FILTER (s.polarity) OVER of_all AS newest,
            arg_max(concat(s.log_index, ':', s.quote), s.nth) FILTER (s.polarity) OVER of_all AS breath
          FROM said s
          WINDOW of_one AS (PARTITION BY s.owner, s.project, s.voice, s.who, s.kind, s.what),
            of_all AS (PARTITION BY s.owner, s.project, s.voice, s.who, s.means)
        )
        SELECT c.subject, c.rel, c.object, c.polarity, c.since, c.until, c.source_type, c.confidence_p, c.disputed,
          c.user_id AS user_id, c.log_index, c.id
        FROM last c
        WHERE c.own
          AND c.nth >= coalesce(CASE WHEN c.means = c.kind THEN if(c.polarity, greatest(c.no, c.opposite_yes), c.yes)
            ELSE if(c.polarity, greatest(c.opposite_no, c.yes), c.opposite_yes) END, 0)
          AND (c.many OR NOT c.polarity OR starts_with(c.newest, c.what) OR starts_with(c.what, c.newest)
            OR coalesce(c.quote <> '' AND c.breath = concat(c.log_index, ':', c.quote), false))
        ORDER BY c.subject, c.rel, c.since, c.log_index, c.k
        """,  # noqa: S608 - our own words
        frozenset(("user_id",)),
    ),
    Macro(
        "history",
        "All that was ever claimed of a subject, in the order in which it was recorded; the corrected too.",
        (
            Column("subject", "VARCHAR", "The subject."),
            Column("rel", "VARCHAR", "The relation; left out: every one."),
            _WHOSE,
        ),
        (
            Column("said_at", "TIMESTAMP", "When the claim was said, UTC."),
            REL,
            OBJECT,
            POLARITY,
            SINCE,
            UNTIL,
            SOURCE,
            Column("who", "VARCHAR", "Whose word it is, else who said the turn: a name, or user, agent, tool(name)."),
            SURE,
            Column("standing", "VARCHAR", "Of the record that claims it: living, replaced or fallen."),
            Column(
                "corrected_by", "VARCHAR", "Id of what holds in place of it, or of the turn that it was read from."
            ),
            USER,
            INDEX,
            ID,
        ),
        f"""
        SELECT e.happened_at AS said_at, c.rel, c.object, c.polarity, coalesce(c.valid_from, e.happened_at) AS since,
          c.valid_to AS until, c.source_type,
          coalesce(c.said_by, CASE WHEN {READINGS} THEN coalesce(t.name, t.actor) END, e.name, e.actor) AS who,
          e.confidence_p, e.standing,
          coalesce(e.superseded_by, CASE WHEN e.standing = 'fallen' THEN t.superseded_by END) AS corrected_by,
          e.user_id AS user_id, c.log_index, c.id
        FROM claims c JOIN experiences e USING (log_index)
        LEFT JOIN links l ON l.log_index = c.log_index AND l.k = 0 AND l.role = 'parent'
        LEFT JOIN experiences t ON t.log_index = l.target_index
        WHERE c.subject = subject AND (rel IS NULL OR c.rel = rel) AND (user_id IS NULL OR e.user_id = user_id)
        ORDER BY c.log_index, c.k
        """,  # noqa: S608 - our own words
        frozenset(("rel", "user_id")),
    ),
    *KNOWLEDGE_MACROS,
)  # fmt: skip

_INSTANTS: Final = {
    "TIMESTAMP": "{}",
    "VARCHAR": "{}::TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE": "({} AT TIME ZONE 'UTC')",
}
"""What a TIMESTAMP parameter is taken as, and how it becomes one: DuckDB casts nothing for a typed macro."""


_WORD: Final = re.compile(r"[a-z_][a-z0-9_]*")
_READ: Final = re.compile(r"\b(?:FROM|JOIN) (\w+)")
_OWN: Final = re.compile(r"\b(\w+)(?: ?\([^()]*\))? AS (?:NOT MATERIALIZED |MATERIALIZED )?\(")
_CATALOGUE: Final = re.compile(
    r"\b(?:show|describe|pragma\w*|query|query_table|information_schema|sqlite_\w+|pg_\w+|duckdb_\w+)\b"
    r"|(?:^|[(;])\s*desc\b"
)
"""What asks for definitions by another way than their names."""


def creation() -> list[str]:
    """Return the statements that create all views and macros, each with its comment; the tables exist already."""
    made = _definitions()
    statements = list(made.values())
    for view in VIEWS:
        statements += [
            f"COMMENT ON VIEW {view.name} IS {quoted(view.comment)}",
            *(
                f'COMMENT ON COLUMN {view.name}."{column.name}" IS {quoted(column.comment)}'
                for column in view.columns
            ),
        ]
    return statements + [
        f"COMMENT ON MACRO TABLE {macro.name} IS {quoted(macro.comment)}" for macro in MACROS
    ]


def needed(statement: str) -> list[str]:
    """Return the statements that create what a statement names, and what that names, in the order to create them.

    All, with comments, where it asks what there is. What it names by chance is made in vain, in a millisecond or two.
    """
    text = statement.lower()
    if _CATALOGUE.search(text):
        return creation()
    named = _with_theirs(_definitions().keys() & set(_WORD.findall(text)))
    return [made for name, made in _definitions().items() if name in named]


def inlined(query: str) -> str:
    """Return a query of our own with the views that it reads written out in front of it."""
    named = _with_theirs(_definitions().keys() & set(_READ.findall(query)))
    views = ", ".join(f"{view.name} AS ({view.query.strip()})" for view in VIEWS if view.name in named)
    return f"WITH {views} {query}" if views else query


def _with_theirs(named: Set[str]) -> set[str]:
    """Return views and macros with what they read, and what that reads."""
    found, waiting = set[str](), set(named)
    while waiting:
        found |= waiting
        waiting = set[str]().union(*(_uses()[name] for name in waiting)) - found
    return found


@cache
def _definitions() -> Mapping[str, str]:
    """The definition of each, by name, behind those that it names."""
    made = {view.name: f"CREATE OR REPLACE TEMP VIEW {view.name} AS {view.query.strip()}" for view in VIEWS}
    for macro in MACROS:
        made[macro.name] = f"CREATE OR REPLACE TEMP MACRO {macro.name} {', '.join(_overloads(macro))}"
    return made


@cache
def _uses() -> Mapping[str, frozenset[str]]:
    """What each reads, itself and what its own query calls by such a name aside."""
    made = _definitions()
    return {
        name: frozenset(made.keys() & set(_READ.findall(made[name])) - set(_OWN.findall(made[name])) - {name})
        for name in made
    }


def _overloads(macro: Macro) -> Iterator[str]:
    """Yield the macro's definition for each type that its instants may have."""
    instants = [parameter.name for parameter in macro.parameters if parameter.type == "TIMESTAMP"]
    for type_, cast in _INSTANTS.items() if instants else [("", "")]:
        query = macro.query.strip()
        for name in instants:
            query = query.replace(f":{name}", cast.format(name))
        parameters = (
            f"{one.name} {type_ if one.name in instants else one.type}"
            + (" := NULL" if one.name in macro.optional else "")
            for one in macro.parameters
        )
        yield f"({', '.join(parameters)}) AS TABLE ({query})"
