"""The audit trail: every change of what is known, in one table, with what asked for it (`000_` §17).

It is a question to the tables, so it can't be incomplete or say other than the log. `correlation_id` is the first
record of the transaction in which something was said or asked: the turns of one call of `remember` have it, what was
read of them, the entities they brought, and what gates held back. Nothing has to be written for it, since each derived
record names what it came from. Probes, decay and background inference will add their events when they exist.
"""

from typing import Final

from braid.ledger.record.ids import PREFIXES
from braid.views.duck.definition import (
    ID,
    INDEX,
    NORMAL,
    OWNED,
    READINGS,
    REL_NAME,
    SESSION,
    USER,
    ViewDefinition,
)
from braid.views.duck.schema import Column, quoted

_COLUMNS: Final = (
    Column("timestamp", "TIMESTAMP", "When, UTC."),
    Column("correlation_id", "VARCHAR", "First record of the transaction that set it going."),
    Column("event_type", "VARCHAR", "edge_created, edge_reinforced, edge_contradicted, fact_corrected, …"),
    Column("component", "VARCHAR", "extraction, graph_diff, user, autonomous, background."),
    Column(
        "operation",
        "VARCHAR",
        "INSERT, REINFORCE, CONTRADICT, REVISE, UPDATE, DELETE, RECOVER, ERASE, MERGE, NONE.",
    ),
    Column("entity_id", "VARCHAR", "The entity, where it is of one."),
    Column("edge_id", "VARCHAR", "The claim, as `record/place`; of a contradiction, the later record alone."),
    Column("old_value", "JSON", "What was; NULL where nothing was, or where it is forgotten."),
    Column("new_value", "JSON", "What is."),
    Column("confidence_before", "DOUBLE", "Confidence in the same claim before, in [0, 1]."),
    Column("confidence_after", "DOUBLE", "Confidence in it, in [0, 1]."),
    Column("source_mechanism", "VARCHAR", "explicit, observational, inferential, user_correction."),
    SESSION,
    Column("decision_reasoning", "VARCHAR", "Why, in words, where somebody said."),
    Column(
        "metadata", "JSON", "What belongs to the event; of a record that was forgotten or erased, its kind."
    ),
    USER,
    Column(
        "target_id",
        "VARCHAR",
        "Id of what it was done to; of a reinforced claim, of the one that said it before.",
    ),
    INDEX,
    ID,
)
_CLAIM: Final = (
    "json_object('subject', {0}.subject, 'rel', {0}.rel, 'object', {0}.object, 'polarity', {0}.polarity)"
)
_SAME: Final = (
    f"{OWNED.format('e')}, e.project_id, {NORMAL.format('c.subject')}, {REL_NAME},"
    f" {NORMAL.format('c.object')}, c.polarity ORDER BY c.log_index, c.k"
)
_KINDS: Final = " ".join(f"WHEN {quoted(prefix)} THEN {quoted(kind)}" for kind, prefix in PREFIXES.items())
_KIND: Final = f"CASE split_part(t.target_id, '_', 1) {_KINDS} ELSE split_part(t.target_id, '_', 1) END"
"""The kind of the record that a tombstone `t` names, by its id: an erased one has no row that says it."""
_MECHANISM: Final = """CASE WHEN c.source_type = 'corrected' THEN 'user_correction'
            WHEN c.source_type = 'inferred' THEN 'inferential'
            WHEN starts_with(c.source_type, 'implicit') THEN 'observational' ELSE 'explicit' END"""

AUDIT_VIEW: Final = ViewDefinition(
    "audit_trail",
    "Every change of what is known: claims, contradictions, corrections, entities, what was forgotten, and what"
    " gates held back; each with what set it going. Of what is forgotten it has no values. A row `record_…` is of one"
    " record, with all its claims; whose it was is NULL where it is forgotten or erased.",
    _COLUMNS,
    f"""
        WITH placed AS (  -- of each experience, what set it going: a reading's is its turn's
          SELECT e.log_index, e.id, e.created_at, e.user_id, e.session_id, x.id AS set_by
          FROM experiences e
          LEFT JOIN links p ON p.log_index = e.log_index AND p.k = 0 AND p.role = 'parent' AND {READINGS}
          LEFT JOIN experiences turn ON turn.log_index = p.target_index
          JOIN transactions x ON x.tx = coalesce(turn.tx, e.tx)
        ),
        claimed AS (
          SELECT c.log_index, c.id, c.k, e.method, e.confidence_p, {_CLAIM.format("c")} AS said,
            {_MECHANISM} AS mechanism, row_number() OVER (PARTITION BY {_SAME}) AS nth,
            lag(e.confidence_p) OVER (PARTITION BY {_SAME}) AS before, lag(c.id) OVER (PARTITION BY {_SAME}) AS earlier
          FROM claims c JOIN experiences e ON e.log_index = c.log_index
        ),
        ended AS (  -- claims that no longer stand since their turn was corrected, each with the first correction of it
          SELECT c.id, c.k, min(l.log_index) AS log_index
          FROM claims c JOIN experiences e ON e.log_index = c.log_index
          LEFT JOIN links p ON p.log_index = c.log_index AND p.role = 'parent' AND {READINGS}
          JOIN links l ON l.role = 'supersedes' AND l.target_index = coalesce(p.target_index, c.log_index)
          WHERE e.standing != 'living'
          GROUP BY c.id, c.k
        ),
        why AS (
          SELECT n.target_index AS log_index, min(v.reason) AS reason
          FROM events v JOIN links n ON n.log_index = v.log_index AND n.role = 'evidence'
          WHERE v.name = 'correction' GROUP BY n.target_index
        ),
        told AS (
          SELECT CASE WHEN c.method = 'reconcile' THEN 'inference_created' WHEN c.nth > 1 THEN 'edge_reinforced'
              ELSE 'edge_created' END AS event_type,
            if(c.method = 'reconcile', 'background', 'graph_diff') AS component,
            if(c.nth > 1, 'REINFORCE', 'INSERT') AS operation, NULL::VARCHAR AS entity_id,
            concat(c.id, '/', c.k) AS edge_id, NULL::JSON AS old_value, c.said AS new_value,
            c.before AS confidence_before, c.confidence_p AS confidence_after, c.mechanism AS source_mechanism,
            NULL::VARCHAR AS decision_reasoning, NULL::JSON AS metadata, c.earlier AS target_id, c.log_index
          FROM claimed c
          UNION ALL
          SELECT 'edge_contradicted', 'graph_diff', 'CONTRADICT', NULL, c.later_id,
            json_object('subject', c.subject, 'rel', c.rel, 'object', c.earlier),
            json_object('subject', c.subject, 'rel', c.rel, 'object', c.later), NULL, NULL, NULL, NULL,
            json_object('how', c.how, 'review_id', c.review_id), c.earlier_id, e.log_index
          FROM contradictions c JOIN experiences e ON e.id = c.later_id
          UNION ALL
          SELECT if({READINGS}, 'edge_revised', 'fact_corrected'), if({READINGS}, 'graph_diff', 'user'), 'REVISE', NULL,
            NULL, if(o.id IS NULL, NULL, json_object('text', o.text)), json_object('text', e.text), o.confidence_p,
            e.confidence_p, if({READINGS}, NULL, 'user_correction'), coalesce(w.reason, e.reason), NULL, l.target_id,
            e.log_index
          FROM links l JOIN experiences e ON e.log_index = l.log_index
          LEFT JOIN experiences o ON o.log_index = l.target_index
          LEFT JOIN why w ON w.log_index = e.log_index
          WHERE l.role = 'supersedes'
          UNION ALL
          SELECT 'edge_ended', 'user', 'REVISE', NULL, concat(c.id, '/', c.k), c.said, NULL, c.confidence_p, NULL,
            'user_correction', coalesce(w.reason, e.reason), NULL, c.id, d.log_index
          FROM ended d JOIN claimed c ON c.id = d.id AND c.k = d.k JOIN experiences e ON e.log_index = d.log_index
          LEFT JOIN why w ON w.log_index = d.log_index
          WHERE NOT {READINGS}
          UNION ALL
          SELECT 'edge_revised', 'user', 'REVISE', NULL, concat(e.id, '/0'), NULL, json_object('text', e.text), NULL,
            e.confidence_p, 'user_correction', e.reason, NULL, l.target_id, e.log_index
          FROM links l JOIN experiences e ON e.log_index = l.log_index
          WHERE l.role = 'target' AND e.method = 'review'
          UNION ALL
          SELECT 'entity_created', 'graph_diff', 'INSERT', m.entity_id, NULL, NULL,
            json_object('name', min_by(m.name, m.log_index * 1000 + m.claim_k),
              'type', min_by(m.type, m.log_index * 1000 + m.claim_k)),
            NULL, NULL, NULL, NULL, NULL, NULL, min(m.log_index)
          FROM entity_mentions m GROUP BY m.entity_id
          UNION ALL
          SELECT if(w.gate = 'hallucination', 'hallucination_detected', 'extraction_skipped'), 'extraction', NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            json_object('gate', w.gate, 'class', w.class, 'maker', w.maker), w.turn_id, w.log_index
          FROM extraction_warnings w
        )
        SELECT p.created_at AS timestamp, p.set_by AS correlation_id, t.event_type, t.component, t.operation,
          t.entity_id, t.edge_id, t.old_value, t.new_value, t.confidence_before, t.confidence_after,
          t.source_mechanism, p.session_id, t.decision_reasoning, t.metadata, p.user_id, t.target_id, p.log_index, p.id
        FROM told t JOIN placed p ON p.log_index = t.log_index
        UNION ALL
        SELECT t.created_at, x.id, CASE t.op WHEN 'forget' THEN 'record_deleted_by_user'
            WHEN 'erase' THEN 'record_erased_by_user' ELSE 'record_recovered_by_user' END, 'user',
          CASE t.op WHEN 'forget' THEN 'DELETE' ELSE upper(t.op) END, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
          r.session_id, t.reason, json_object('kind', {_KIND}), r.user_id, t.target_id, t.log_index, t.id
        FROM tombstones t
        ASOF JOIN transactions x ON t.log_index >= x.first_index
        LEFT JOIN records r ON r.log_index = t.target_index  -- none of what is erased: whom it was about goes with it
        WHERE t.role = 'target'
        UNION ALL
        SELECT v.created_at, x.id,
          CASE v.name WHEN 'entity' THEN concat('entity_', v.data ->> '$.op') WHEN 'memory' THEN 'memory_set'
            ELSE 'duplicate_skipped' END,
          'user', CASE WHEN v.name = 'decision' THEN 'NONE' WHEN v.data ->> '$.op' IN ('merge', 'alias') THEN 'MERGE'
            ELSE 'REVISE' END, NULL, NULL, NULL, NULL, NULL, NULL, NULL, v.session_id,
          v.reason, v.data, v.user_id, l.target_id, v.log_index, v.id
        FROM events v JOIN transactions x ON x.tx = v.tx
        LEFT JOIN links l ON l.log_index = v.log_index AND l.k = 0
        WHERE v.name IN ('entity', 'memory', 'decision')
        UNION ALL
        SELECT v.created_at, x.id, if(v.data ->> '$.decision' = 'DELETE', 'edge_deleted', 'edge_revised'), 'autonomous',
          if((v.data -> '$.applied')::BOOLEAN, v.data ->> '$.decision', 'NONE'), NULL, NULL, NULL, NULL, NULL,
          (v.data ->> '$.confidence')::DOUBLE, 'inferential', v.session_id, v.reason, v.data, v.user_id, l.target_id,
          v.log_index, v.id
        FROM events v JOIN transactions x ON x.tx = v.tx
        LEFT JOIN links l ON l.log_index = v.log_index AND l.k = 0
        WHERE v.name = 'decided'
        """,  # noqa: S608 - our own words
)
