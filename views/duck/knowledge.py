"""Views of what is known: living claims by type, profiles, how each was come by, what is staged or warned of.

They read claims of living records, each with the turn that it was read from; which of two that exclude each other
stands is a stance's to say. What is staged or warned of stands in a reading's structured content (SPEC §19).
"""

from collections.abc import Sequence
from typing import Final

from braid.ledger.record.record import READING
from braid.stance.relations import RELATIONS
from braid.views.duck.definition import (
    HAPPENED,
    ID,
    INDEX,
    NORMAL,
    OBJECT,
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
    Macro,
    ViewDefinition,
)  # fmt: skip
from braid.views.duck.schema import Column, quoted

STAGED_KEY: Final = "staging/"
"""Under this key and `id/k` stands what was decided of a staged claim; a rejection's has `/rejected` behind it."""
_TYPED: Final = ("preference", "skill", "interest", "goal", "episode", "relation", "decision")

_K: Final = Column("k", "INTEGER", "Place among the record's claims, from 0.")
_TURN: Final = (
    Column("turn_index", "BIGINT", "Log index of the record that it was read from, else of the record itself."),
    Column("turn_id", "VARCHAR", "Its id."),
)  # fmt: skip
_QUOTE: Final = Column("quote", "VARCHAR", "The words it was taken from.")
_AT: Final = Column(
    "quote_at", "BIGINT", "From which character of the turn on they stand; NULL where nothing says."
)
_TYPE: Final = Column("type", "VARCHAR", "fact, preference, skill, interest, goal, episode, relation …")
_DETAILS: Final = Column("details", "JSON", "What its type adds, as text; NULL when empty.")
_STATED: Final = (SUBJECT, REL, OBJECT, POLARITY, SINCE, UNTIL)
_GROUNDS: Final = (SURE, SOURCE, _QUOTE, _AT, USER, SESSION, INDEX, ID, _K, *_TURN)
_NAMES: Final = ", ".join(f"c.{column.name}" for column in _GROUNDS)
_WHAT: Final = ", ".join(f"c.{column.name}" for column in _STATED)


def _typed(name: str, comment: str, where: str, details: Sequence[Column] = ()) -> ViewDefinition:
    """Return the view of the living claims of some types; `details`: members of theirs that are columns."""
    added = "".join(f", {_detail(column)} AS {column.name}" for column in details)
    return ViewDefinition(
        name,
        comment,
        (*_STATED, *details, *_GROUNDS),
        f"SELECT {_WHAT}{added}, {_NAMES} FROM known_claims c WHERE {where} ORDER BY c.log_index, c.k",  # noqa: S608 - our own words
    )


def _detail(column: Column) -> str:
    text = f"(c.details ->> '$.{column.name}')"
    return f"TRY_CAST({text} AS DOUBLE)" if column.type == "DOUBLE" else text


_ITEMS: Final = {
    "name_is": "name", "works_as": "role", "lives_in": "home", "works_at": "work", "works_for": "work",
}  # fmt: skip
"""Relation → the item of a profile that it says."""


def _items() -> str:
    """Return as rows of SQL which relations say, begin or end an item of a profile."""
    said = [(rel, item, "holds") for rel, item in _ITEMS.items()]
    for one in RELATIONS.values():
        for state, what in ((one.begins, "holds"), (one.ends, "ends")):
            if state in _ITEMS:
                said.append((one.name, _ITEMS[state], what))
    return ", ".join(f"({quoted(rel)}, {quoted(item)}, {quoted(what)})" for rel, item, what in said)


_KNOWN: Final = ViewDefinition(
    "known_claims",
    "Claims of living records, each with the turn that it was read from; those of reconciliations, and outsiders'"
    " words, left out.",
    (_TYPE, *_STATED, Column("said_at", "TIMESTAMP", "When it was said, UTC."), _DETAILS,
     Column("hedge", "VARCHAR", "The words that soften it."),
     Column("said_by", "VARCHAR", "Whose word it is, where the record only reports it."), *_GROUNDS),
    """
    SELECT c.type, c.subject, c.rel, c.object, c.polarity, coalesce(c.valid_from, e.happened_at) AS since,
      c.valid_to AS until, e.happened_at AS said_at, c.details, c.hedge, c.said_by, e.confidence_p, c.source_type,
      c.quote, c.quote_at, e.user_id, e.session_id, c.log_index, c.id, c.k,
      coalesce(t.target_index, c.log_index) AS turn_index, coalesce(t.target_id, c.id) AS turn_id
    FROM claims c JOIN experiences e ON e.log_index = c.log_index
    LEFT JOIN links t ON t.log_index = c.log_index AND t.k = 0 AND t.role = 'parent'
    WHERE e.standing = 'living' AND e.method <> 'reconcile' AND c.source_class <> 'outsider'
    """,
)  # fmt: skip

KNOWLEDGE_VIEWS: Final = (
    _KNOWN,
    _typed(
        "facts",
        "Living claims of type fact, and of types that have no view of their own.",
        f"c.type NOT IN ({', '.join(map(quoted, _TYPED))})",
    ),
    _typed("relations", "Living claims that relate two entities.", "c.type = 'relation'"),
    _typed(
        "preferences",
        "Living claims of what somebody prefers.",
        "c.type = 'preference'",
        (
            Column("category", "VARCHAR", "tool, workflow, communication, domain, environment or style."),
            Column("key", "VARCHAR", "What the preference is about: `dispute_notification_method`."),
            Column("strength", "DOUBLE", "How strong it is, in [0, 1]."),
        ),
    ),
    _typed(
        "skills",
        "Living claims of what somebody can do.",
        "c.type = 'skill'",
        (Column("proficiency", "VARCHAR", "novice, beginner, intermediate, advanced or expert."),),
    ),
    _typed("interests", "Living claims of what interests somebody.", "c.type = 'interest'"),
    _typed("goals", "Living claims of what somebody wants to reach.", "c.type = 'goal'",
           (Column("modality", "VARCHAR", "planned, wanted, possible …"),)),
    _typed("episodes", "Living claims of what happened once.", "c.type = 'episode'"),
    _typed("decisions", "Living claims of what was decided.", "c.type = 'decision'"),
    ViewDefinition(
        "profiles",
        "Who each subject is, by its living claims: name, role, home, work, standing preferences; of each the newest."
        " What was denied or ended later is left out; a dislike is a preference that is denied, or its own relation.",
        (SUBJECT, Column("item", "VARCHAR", "name, role, home, work or preference."),
         REL, Column("value", "VARCHAR", "What holds."), *_STATED[3:], *_GROUNDS),
        f"""
        WITH items(rel, item, what) AS (VALUES {_items()}),
        said AS (
          SELECT c.*, i.item, i.what, '' AS topic, {NORMAL.format("c.subject")} AS whose,
            {NORMAL.format("c.object")} AS of_what, greatest(c.since, c.said_at) AS newest
          FROM known_claims c JOIN items i ON i.rel = {REL_NAME}
          UNION ALL
          SELECT c.*, 'preference', 'holds', coalesce(c.details ->> '$.key', {NORMAL.format("c.object")}),
            {NORMAL.format("c.subject")}, {NORMAL.format("c.object")}, greatest(c.since, c.said_at)
          FROM known_claims c WHERE c.type = 'preference'
        )
        SELECT c.subject, c.item, c.rel, c.object AS value, c.polarity, c.since, c.until, {_NAMES}
        FROM said c
        WHERE c.what = 'holds' AND (c.polarity OR c.item = 'preference') AND NOT EXISTS (
          SELECT 1 FROM said d WHERE d.whose = c.whose AND d.item = c.item AND d.of_what = c.of_what
            AND (d.what = 'ends' OR NOT d.polarity) AND c.polarity
            AND (d.newest, d.log_index, d.k) > (c.newest, c.log_index, c.k))
        QUALIFY row_number() OVER (PARTITION BY c.user_id, c.whose, c.item, c.topic
          ORDER BY c.newest DESC, c.log_index DESC, c.k DESC) = 1
        """,  # noqa: S608 - our own words
    ),
    ViewDefinition(
        "derivations",
        "How each claim of a reading was come by; those that have no say any more, too.",
        (
            INDEX, ID, _K, SUBJECT, REL, OBJECT, POLARITY,
            Column("method", "VARCHAR", "How it was come by: `read:<maker>@<version>`."),
            Column("maker", "VARCHAR", "What read it: parse, model, events …"),
            Column("version", "VARCHAR", "The version of its rules; of a model, of its prompt."),
            Column("model", "VARCHAR", "The model that was asked; NULL where none was."),
            *_TURN, _QUOTE,
            Column("starts", "BIGINT", "From which character of the turn on the quote stands; NULL where none says."),
            Column("ends", "BIGINT", "Before which character it ends."),
            SURE,
            Column("confidence_method", "VARCHAR", "How that probability was come by."),
            Column("standing", "VARCHAR", "How the reading stands: living, replaced, retired or fallen."),
            Column("staged_id", "VARCHAR", "Id of the reading that had it staged; NULL for what nobody had to accept."),
        ),
        f"""
        SELECT c.log_index, c.id, c.k, c.subject, c.rel, c.object, c.polarity, e.method,
          regexp_extract(e.method, '^{READING}([^@]*)', 1) AS maker, regexp_extract(e.method, '@(.*)$', 1) AS version,
          e.structured ->> '$.model' AS model, t.target_index AS turn_index, t.target_id AS turn_id, c.quote,
          c.quote_at AS starts, c.quote_at + length(c.quote) AS ends, e.confidence_p, e.confidence_method, e.standing,
          if(starts_with(e.once, {quoted(STAGED_KEY)}), s.target_id, NULL) AS staged_id
        FROM claims c JOIN experiences e ON e.log_index = c.log_index
        LEFT JOIN links t ON t.log_index = c.log_index AND t.k = 0 AND t.role = 'parent'
        LEFT JOIN links s ON s.log_index = c.log_index AND s.k = 1 AND s.role = 'evidence'
        WHERE {READINGS}
        """,  # noqa: S608 - our own words
    ),
    ViewDefinition(
        "staging",
        "What was read and not believed: claims without a say, until somebody accepts them.",
        (
            INDEX, ID, Column("k", "BIGINT", "Place among what the reading staged, from 0."), _TYPE,
            SUBJECT, REL, OBJECT, POLARITY,
            Column("why", "VARCHAR", "The gate that let it wait, or why it did."), _QUOTE, _AT, USER, SESSION,
            *_TURN,
            Column("state", "VARCHAR", "waiting, accepted or rejected."),
            Column("decided_id", "VARCHAR", "Id of the record that accepts or rejects it; NULL while it waits."),
        ),
        f"""
        WITH places AS (
          SELECT e.log_index, e.id, e.user_id, e.session_id, e.structured,
            unnest(range(json_array_length(e.structured, '$.staged')::BIGINT)) AS k
          FROM experiences e WHERE e.standing = 'living' AND {READINGS} AND e.structured IS NOT NULL
        ),
        staged AS (
          SELECT p.*, json_extract(p.structured, '$.staged[' || p.k || ']') AS one,
            {quoted(STAGED_KEY)} || p.id || '/' || p.k AS key
          FROM places p
        )
        SELECT p.log_index, p.id, p.k, coalesce(p.one ->> '$.type', 'fact') AS type, p.one ->> '$.subject' AS subject,
          p.one ->> '$.rel' AS rel, p.one ->> '$.object' AS object,
          coalesce(TRY_CAST(p.one ->> '$.polarity' AS BOOLEAN), true) AS polarity, p.one ->> '$.why' AS why,
          p.one ->> '$.quote' AS quote, TRY_CAST(p.one ->> '$.at' AS BIGINT) AS quote_at, p.user_id, p.session_id,
          t.target_index AS turn_index, t.target_id AS turn_id,
          CASE WHEN a.id IS NOT NULL THEN 'accepted' WHEN r.id IS NOT NULL THEN 'rejected' ELSE 'waiting' END AS state,
          coalesce(a.id, r.id) AS decided_id
        FROM staged p
        LEFT JOIN links t ON t.log_index = p.log_index AND t.k = 0 AND t.role = 'parent'
        LEFT JOIN experiences a ON a.once = p.key
        LEFT JOIN events r ON r.once = p.key || '/rejected'
        ORDER BY p.log_index, p.k
        """,  # noqa: S608 - our own words
    ),
    ViewDefinition(
        "extraction_warnings",
        "What gates warned of while a turn was read: of living readings.",
        (
            INDEX, ID, Column("k", "BIGINT", "Place among the reading's warnings, from 0."),
            Column("gate", "VARCHAR", "The gate: evidence, entailment, schema, confidence, hallucination, safety …"),
            Column("class", "VARCHAR", "Which of its warnings."),
            Column("maker", "VARCHAR", "What had found the candidate."), USER, SESSION, *_TURN,
        ),
        f"""
        WITH places AS (
          SELECT e.log_index, e.id, e.user_id, e.session_id, e.structured,
            unnest(range(json_array_length(e.structured, '$.warnings')::BIGINT)) AS k
          FROM experiences e WHERE e.standing = 'living' AND {READINGS} AND e.structured IS NOT NULL
        ),
        warned AS (SELECT p.*, json_extract(p.structured, '$.warnings[' || p.k || ']') AS one FROM places p)
        SELECT p.log_index, p.id, p.k, p.one ->> '$.gate' AS gate, p.one ->> '$.class' AS class,
          p.one ->> '$.maker' AS maker, p.user_id, p.session_id, t.target_index AS turn_index, t.target_id AS turn_id
        FROM warned p LEFT JOIN links t ON t.log_index = p.log_index AND t.k = 0 AND t.role = 'parent'
        ORDER BY p.log_index, p.k
        """,  # noqa: S608 - our own words
    ),
    ViewDefinition(
        "extraction_counts",
        "What reading came to by the hour, counted from signed outcomes: what was found, warned of and refused, and"
        " which stages failed. `braid work` and a server's workers sign outcomes; what `remember` and `learn` read"
        " themselves has none.",
        (
            Column("hour", "TIMESTAMP", "The hour in which the outcomes were signed, UTC."),
            Column("consumer", "VARCHAR", "What did the work."), Column("version", "VARCHAR", "Its version."),
            Column("model", "VARCHAR", "The model that was asked; NULL without one."),
            Column("what", "VARCHAR", "counts, warnings, refused, failures, or dead."),
            Column("name", "VARCHAR", "Its name, or gate or stage and class: `evidence:absent`, `ask:failed`."),
            Column("n", "HUGEINT", "How often."),
        ),
        """
        WITH ended AS (
          SELECT date_trunc('hour', e.created_at) AS hour, e.data ->> '$.consumer' AS consumer,
            e.data ->> '$.version' AS version, e.data ->> '$.spent.model' AS model, e.data
          FROM events e WHERE e.name = 'work' AND e.op IS NULL AND json_type(e.data, '$.spans') = 'ARRAY'
        ),
        counted AS (
          SELECT e.hour, e.consumer, e.version, e.model, g.what,
            unnest(map_entries(TRY_CAST(json_extract(e.data, '$.spent.' || g.what) AS MAP(VARCHAR, BIGINT)))) AS one
          FROM ended e, (VALUES ('counts'), ('warnings'), ('refused'), ('failures')) AS g(what)
        )
        SELECT c.hour, c.consumer, c.version, c.model, c.what, c.one.key AS name, sum(c.one.value) AS n
        FROM counted c GROUP BY ALL
        UNION ALL
        SELECT e.hour, e.consumer, e.version, e.model, 'dead',
          concat_ws(':', e.data ->> '$.stage', e.data ->> '$.error'), count(*)
        FROM ended e WHERE e.data ->> '$.ended' = 'dead' GROUP BY ALL
        ORDER BY ALL
        """,
    ),
    ViewDefinition(
        "importance",
        "How much a living turn matters, by rule. `importance_hint` of its structured content counts alone, where it is"
        " a number in [0, 1]. Else: .2 for a person's word; .1 a claim read from it, three at most; .1 a record"
        " that rests on it, three at most. A correction adds .2, its tone .2 × its strength. The sum is 1 at most.",
        (INDEX, ID, HAPPENED, USER, SESSION, Column("score", "DOUBLE", "In [0, 1]."),
         Column("claims", "BIGINT", "How many living claims were read from it."),
         Column("rests", "BIGINT", "How many other records rest on it, decisions aside.")),
        f"""
        WITH read AS (SELECT c.turn_index, count(*) AS n FROM known_claims c GROUP BY c.turn_index),
        resting AS (
          SELECT s.target_index, count(DISTINCT s.log_index) AS n FROM strands s
          WHERE s.log_index NOT IN (SELECT e.log_index FROM experiences e WHERE {READINGS})
            AND s.log_index NOT IN (SELECT v.log_index FROM events v WHERE v.name = 'decision')
          GROUP BY s.target_index
        ),
        correcting AS (SELECT DISTINCT l.log_index FROM links l WHERE l.role = 'supersedes')
        SELECT e.log_index, e.id, e.happened_at, e.user_id, e.session_id,
          CASE WHEN TRY_CAST(e.structured ->> '$.importance_hint' AS DOUBLE) BETWEEN 0 AND 1
            THEN TRY_CAST(e.structured ->> '$.importance_hint' AS DOUBLE)
            ELSE least(1.0::DOUBLE, if(e.actor = 'user', 0.2::DOUBLE, 0.0::DOUBLE)
              + 0.1::DOUBLE * least(coalesce(r.n, 0), 3) + 0.1::DOUBLE * least(coalesce(b.n, 0), 3)
              + if(k.log_index IS NULL, 0.0::DOUBLE, 0.2::DOUBLE) + 0.2::DOUBLE * coalesce(abs(e.valence), 0))
          END AS score,
          coalesce(r.n, 0) AS claims, coalesce(b.n, 0) AS rests
        FROM experiences e LEFT JOIN read r ON r.turn_index = e.log_index
        LEFT JOIN resting b ON b.target_index = e.log_index LEFT JOIN correcting k ON k.log_index = e.log_index
        WHERE e.standing = 'living' AND e.type IN ('occurrence', 'observation') AND NOT {READINGS}
        """,  # noqa: S608 - our own words
    ),
)  # fmt: skip

_WORDS: Final = r"list_distinct(regexp_extract_all(lower(e.text), '[\p{L}][\p{L}\d''’-]{2,}'))"

KNOWLEDGE_MACROS: Final = (
    Macro(
        "keywords",
        "The ten words that set a record apart: those that fewest other records have. Reads every text once.",
        (Column("id", "VARCHAR", "Id of the record."),),
        (
            Column("word", "VARCHAR", "The word, in small letters."),
            Column("records", "BIGINT", "How many records have it."),
            Column("weight", "DOUBLE", "ln (records in all ÷ records that have it)."),
        ),
        f"""
        WITH texts AS (SELECT e.id AS of_id, {_WORDS} AS words FROM experiences e WHERE NOT {READINGS}),
        spread AS (SELECT t.of_id, unnest(t.words) AS word FROM texts t)
        SELECT s.word, count(*) AS records, ln((SELECT count(*) FROM texts)::DOUBLE / count(*)) AS weight
        FROM spread s WHERE s.word IN (SELECT o.word FROM spread o WHERE o.of_id = id)
        GROUP BY s.word ORDER BY weight DESC, s.word LIMIT 10
        """,  # noqa: S608 - our own words
    ),
)  # fmt: skip
