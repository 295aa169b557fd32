"""The queries of the SQL views `embeddings` and `similar_to`: which vectors LanceDB holds, by the rules that
`lance/rows.py` follows, and which of them are near each other.

What only LanceDB can tell (how far it has come, of which model, what waits for it, what is near) are variables of the
connection, which `Views.sql` sets. Without them, as in another DuckDB client, everything is pending and nothing near.
"""

from typing import Final

from braid.ledger.record.record import READING
from braid.views.duck.schema import quoted
from braid.views.search import PROMPT, RESPONSE

POSITION, MODEL, WAITING = "braid_vectors", "braid_model", "braid_waiting"
"""How many records LanceDB has taken in; whose vectors it holds; log indexes of the rows that wait for that model."""
LATER, EARLIER, COSINES = "braid_later", "braid_earlier", "braid_cosines"
"""Log indexes of records and of earlier ones that they are near to, and how near: three lists of one length."""
_CAPTIONS: Final = """list_concat(
          json_extract_string(e.media, '$[*].caption'), json_extract_string(e.structured, '$.media[*].caption'),
          json_extract_string(e.structured, '$.media_of_turn[*].caption'))"""

EMBEDDINGS: Final = f"""
    WITH said AS (
      SELECT e.log_index, e.id,
        if(split_part(e.actor, '(', 1) = 'user', {quoted(PROMPT)}, {quoted(RESPONSE)}) AS semantic,
        e.text <> '' OR coalesce(list_bool_or([one <> '' FOR one IN {_CAPTIONS}]), false) AS tells
      FROM experiences e WHERE NOT starts_with(e.method, {quoted(READING)})
    ),
    vectors AS (
      SELECT s.log_index, s.id, s.semantic AS role, getvariable('{MODEL}')::VARCHAR AS model,
        list_contains(coalesce(getvariable('{WAITING}')::BIGINT[], []), s.log_index) AS waits
      FROM said s WHERE s.tells
    ),
    held AS (
      SELECT v.*, v.waits OR v.model IS NULL OR v.log_index >= coalesce(getvariable('{POSITION}')::BIGINT, 0) AS pending
      FROM vectors v
    ),
    newest AS (
      FROM signatures
      QUALIFY row_number() OVER (PARTITION BY experience_index, role ORDER BY log_index DESC, k DESC) = 1
    )
    SELECT h.log_index, h.id, h.role, concat('vec://', h.role, '/', h.id) AS uri, if(h.pending, NULL, h.model) AS model,
      h.pending, n.label, coalesce(n.salience, 1.0) AS salience, n.hash, n.metadata
    FROM held h LEFT JOIN newest n ON n.experience_index = h.log_index AND n.role = h.role
"""  # noqa: S608 - our own words

SIMILAR_TO: Final = f"""
    WITH pairs AS (
      SELECT unnest(getvariable('{LATER}')::BIGINT[]) AS later, unnest(getvariable('{EARLIER}')::BIGINT[]) AS earlier,
        unnest(getvariable('{COSINES}')::DOUBLE[]) AS cosine
    )
    SELECT e.log_index, e.id, o.log_index AS other_index, o.id AS other_id, p.cosine,
      getvariable('{MODEL}')::VARCHAR AS model, e.user_id, e.session_id
    FROM pairs p JOIN experiences e ON e.log_index = p.later JOIN experiences o ON o.log_index = p.earlier
"""  # noqa: S608 - our own words
