"""The tables of the DuckDB projection, as data: names, columns, types, comments (docs/schema.md is made of it).

Times are UTC. The order of tables and of columns is that of the content digest (SPEC §10.4): a change of either
is a new `VERSION`, which makes every working file rebuild. So is a change of what a row says of the same record.
"""

from typing import Final, NamedTuple

VERSION: Final = 14


class Column(NamedTuple):
    """A column: its name, DuckDB type, and comment."""

    name: str
    type: str
    comment: str


class Table(NamedTuple):
    """A table. `content`: its rows are left out while their record is forgotten."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    content: bool = True


_PLACE = (
    Column("log_index", "BIGINT", "Index in the log of the record that the row comes from."),
    Column("id", "VARCHAR", "Id of that record; `braid show ID` reads it, verified."),
)
_K = (Column("k", "INTEGER", "Place among the record's rows of this table, from 0."),)
_RECORD = (
    Column("created_at", "TIMESTAMP", "Transaction time, UTC."),
    Column("key_id", "VARCHAR", "Author key that signed the record."),
    Column("tx", "BIGINT", "Transaction number; see `transactions`."),
    Column("sealed_bytes", "BIGINT", "Padded size of the sealed body in the log."),
    Column("disputed", "BOOLEAN", "Its key is reported compromised from this record or an earlier one on."),
    Column("support_erased", "BOOLEAN", "An erasure took one of the records that this one rests on."),
    Column(
        "standing",
        "VARCHAR",
        "living; replaced by a later record; retired with its reader; fallen: nothing that it rests on is living.",
    ),
    Column(
        "superseded_by", "VARCHAR", "Id of the newest living record in its place; NULL where there is none."
    ),
)
_BODY = (
    Column("occurred_at", "TIMESTAMP", "When it happened, UTC, where that is not when it was recorded."),
    Column("happened_at", "TIMESTAMP", "`occurred_at`, else `created_at`."),
    Column("user_id", "VARCHAR", "Scope: the user whose memory it is."),
    Column("agent_id", "VARCHAR", "Scope: the agent."),
    Column("run_id", "VARCHAR", "Scope: the run."),
    Column("project_id", "VARCHAR", "Scope: the project."),
    Column("session_id", "VARCHAR", "Scope: the session."),
    Column("external_id", "VARCHAR", "The record's id at its source."),
    Column("once", "VARCHAR", "The key that makes repeating its append harmless."),
    Column("tags", "VARCHAR[]", "Tags."),
    Column("reason", "VARCHAR", "Why it was written, in words."),
)
_VAD = (
    Column("valence", "DOUBLE", "Valence in [-1, 1]."),
    Column("arousal", "DOUBLE", "Arousal in [0, 1]."),
    Column("dominance", "DOUBLE", "Dominance in [-1, 1]."),
)

TABLES: Final = (
    Table(
        "experiences",
        "What was experienced, observed, inferred or reconciled: one row a record of kind experience.",
        (
            *_PLACE,
            Column("type", "VARCHAR", "occurrence ⊑ observation ⊑ inference ⊑ reconciliation."),
            *_RECORD,
            *_BODY,
            Column("text", "VARCHAR", "The text."),
            Column("structured", "JSON", "Structured content; NULL when empty."),
            Column("media", "JSON", "Sealed media, a list without their keys; NULL when there is none."),
            Column("actor", "VARCHAR", "Who it is from: user, agent, system or tool(name)."),
            Column("name", "VARCHAR", "The actor's own name."),
            Column("method", "VARCHAR", "How it was come by: capture, import, reflection …"),
            Column("source_class", "VARCHAR", "Whose words it is: owner, agent, tool, outsider; NULL without a body."),
            Column("sources", "JSON", "Where it came from: a list of {uri, hash}; NULL when empty."),
            Column("evidence_uris", "VARCHAR[]", "External evidence; records are in `links`."),
            Column("confidence_p", "DOUBLE", "Probability in [0, 1]."),
            Column("confidence_method", "VARCHAR", "How it was come by; `prior`: what a person's word is worth."),
            *_VAD,
            Column("affect_labels", "VARCHAR[]", "Emotions."),
            Column("affect_intensity", "DOUBLE", "Intensity in [0, 1]."),
            Column("affect_confidence", "DOUBLE", "Confidence in the affect reading, in [0, 1]."),
            Column("affect_method", "VARCHAR", "Who read it: `stated` by the record, else function and version."),
            Column("embeddings", "JSON", "Pointers to vectors, by role; NULL when empty."),
        ),
    ),
    Table(
        "links",
        "Every reference from one record to an earlier one.",
        (
            *_PLACE,
            *_K,
            Column("role", "VARCHAR", "What the target is to the record: parent, evidence, support, candidate, …"),
            Column("target_index", "BIGINT", "Log index of the record that is referred to."),
            Column("target_id", "VARCHAR", "Id of that record."),
            Column("diff", "JSON", "What changed along the link; NULL when nothing is said."),
        ),
    ),
    Table(
        "claims",
        "What experiences say in symbols.",
        (
            *_PLACE,
            *_K,
            Column("subject", "VARCHAR", "Subject."),
            Column("rel", "VARCHAR", "Relation."),
            Column("object", "VARCHAR", "Object."),
            Column("polarity", "BOOLEAN", "False: it is denied."),
            Column("valid_from", "TIMESTAMP", "Holds from this instant on, UTC."),
            Column("valid_to", "TIMESTAMP", "Holds until before this instant, UTC."),
            Column("source_type", "VARCHAR", "explicit, implicit_…, inferred or corrected."),
            Column("quote", "VARCHAR", "The words it was taken from."),
            Column("hedge", "VARCHAR", "The words that soften it, as they were said: maybe, I think …"),
            Column("said_by", "VARCHAR", "Whose word it is, where the record only reports it."),
            Column("quote_at", "BIGINT", "From which character of the turn on the quote stands; NULL: nothing says."),
            Column("type", "VARCHAR", "fact, preference, skill, interest, goal, episode, relation, decision, step …"),
            Column("details", "JSON", "What its type adds: category, key, strength …, as text; NULL when empty."),
            Column("source_class", "VARCHAR", "Whose words the span is that it cites: owner, agent, tool, outsider."),
        ),
    ),
    Table(
        "mentions",
        "Whom and what claims speak of: one row a name in a claim. `entities` joins those that mean one.",
        (
            *_PLACE,
            *_K,
            Column("claim_k", "INTEGER", "Place of the claim among those of its record: `k` of `claims`."),
            Column("role", "VARCHAR", "subject, object, owner (whose sister), said_by."),
            Column("name", "VARCHAR", "The name as it was written."),
            Column("key", "VARCHAR", "The name in normal form."),
            Column("canonical", "VARCHAR", "The same by the alias dictionary of the release."),
            Column("type", "VARCHAR", "person, organisation, product, place, or thing where nothing says which."),
            Column("owner", "VARCHAR", "Whose memory: the user's, else the agent's, the run's, the project's."),
            Column("turn_index", "BIGINT", "Log index of what was said: the record's parent, else itself."),
            Column("turn_id", "VARCHAR", "Its id."),
        ),
    ),
    Table(
        "views",
        "What a lens made of the records behind the links of role applied_to.",
        (
            *_PLACE,
            *_RECORD,
            *_BODY,
            Column("lens", "VARCHAR", "The lens."),
            Column("version", "VARCHAR", "Its version."),
            Column("added", "JSON", "What the view adds to the raw records."),
            Column("removed", "JSON", "What it leaves out."),
            Column("reweighted", "JSON", "A list of {link, w_old, w_new}; NULL when empty."),
            Column("text", "VARCHAR", "The view's own text."),
            Column("structured", "JSON", "The view's own structured content; NULL when empty."),
            Column("affect_from", "JSON", "Tone of the source: {v, a, d}."),
            Column("affect_to", "JSON", "Tone of the view: {v, a, d}."),
        ),
    ),
    Table(
        "stances",
        "Which claim was held after reconciling candidates; its support is in `links`.",
        (
            *_PLACE,
            *_RECORD,
            *_BODY,
            Column("question", "VARCHAR", "The question."),
            Column("method", "VARCHAR", "How it was decided."),
            Column("decision", "VARCHAR", "The claim that was decided for; NULL while undecided."),
            Column("residual_uncertainty", "DOUBLE", "What doubt remains, in [0, 1]."),
            Column("undecided", "VARCHAR", "Why there is no decision; NULL where there is one."),
            Column("asked_at", "TIMESTAMP", "The time that it should hold at, UTC."),
            Column("would_change", "VARCHAR[]", "What would bring another decision."),
        ),
    ),
    Table(
        "candidates",
        "The claims that a stance chose among.",
        (
            *_PLACE,
            *_K,
            Column("target_index", "BIGINT", "Log index of the record that makes the claim."),
            Column("target_id", "VARCHAR", "Its id."),
            Column("claim", "VARCHAR", "The claim."),
            Column("p", "DOUBLE", "Its probability in [0, 1]."),
        ),
    ),
    Table(
        "justifications",
        "Why each candidate of a stance stood, or didn't: what it needed, and what would have defeated it.",
        (
            *_PLACE,
            *_K,
            Column("candidate", "INTEGER", "Place among the stance's candidates, from 0."),
            Column("held", "BOOLEAN", "It stood."),
            Column("needs", "VARCHAR[]", "Ids of the records that it rests on."),
            Column("unless", "VARCHAR[]", "Ids of the records that defeat it, if they stand."),
            Column("why", "VARCHAR", "Why, in words."),
        ),
    ),
    Table(
        "affect_snapshots",
        "Records of the tone of an experience, by actor and stage; the view `affect` has what was read of turns too.",
        (
            *_PLACE,
            *_RECORD,
            *_BODY,
            Column("experience_index", "BIGINT", "Log index of the experience."),
            Column("experience_id", "VARCHAR", "Its id."),
            Column("actor", "VARCHAR", "Whose tone: user or agent."),
            Column("stage", "VARCHAR", "input, draft, augmented …"),
            *_VAD,
            Column("primary_emotion", "VARCHAR", "The emotion that stands out."),
            Column("intensity", "DOUBLE", "Intensity in [0, 1]."),
            Column("confidence", "DOUBLE", "Confidence in the reading, in [0, 1]."),
            Column("notes", "VARCHAR", "Why it was read so."),
            Column("signals", "JSON", "Raw cues; NULL when empty."),
        ),
    ),
    Table(
        "signatures",
        "What records of kind embedding say of vectors: one row a signature. `embeddings` lists the vectors.",
        (
            *_PLACE,
            *_K,
            Column("created_at", "TIMESTAMP", "Transaction time, UTC."),
            Column("experience_index", "BIGINT", "Log index of the experience whose vector it is of."),
            Column("experience_id", "VARCHAR", "Its id."),
            Column("role", "VARCHAR", "semantic, temporal, causal, affect …"),
            Column("model", "VARCHAR", "Embedding model and version."),
            Column("label", "VARCHAR", "A classifier's label."),
            Column("salience", "DOUBLE", "Weight in retrieval, in [0, 1]."),
            Column("hash", "VARCHAR", "Locality-sensitive hash."),
            Column("metadata", "JSON", "What belongs to the role; NULL when empty."),
        ),
    ),
    Table(
        "events",
        "Reviews, corrections, sweeps, lessons, certificates.",
        (
            *_PLACE,
            *_RECORD,
            *_BODY,
            Column("op", "VARCHAR", "The operation of a control event: clock or certify; NULL for others."),
            Column("name", "VARCHAR", "The event's name."),
            Column("data", "JSON", "What belongs to it; NULL when empty."),
            Column("public", "JSON", "Its public part, readable without a vault; NULL when empty."),
        ),
    ),
    Table(
        "tombstones",
        "What was forgotten, recovered or erased: one row a record that is named.",
        (
            *_PLACE,
            *_K,
            Column("created_at", "TIMESTAMP", "Transaction time, UTC."),
            Column("key_id", "VARCHAR", "Key that signed the tombstone."),
            Column("op", "VARCHAR", "forget, recover or erase."),
            Column("role", "VARCHAR", "target, or kept: it lost a support and stays."),
            Column("target_index", "BIGINT", "Log index of the record that is named."),
            Column("target_id", "VARCHAR", "Its id."),
            Column("epoch", "BIGINT", "Epoch of the vault after an erasure."),
            Column("reason", "VARCHAR", "Why, in words."),
        ),
        content=False,
    ),
    Table(
        "transactions",
        "What was appended together; the row belongs to the transaction's first record.",
        (
            *_PLACE,
            Column("tx", "BIGINT", "Transaction number, from 0."),
            Column("name", "VARCHAR", "Its printed name."),
            Column("first_index", "BIGINT", "Log index of its first record."),
            Column("records", "BIGINT", "Number of its records."),
            Column("created_at", "TIMESTAMP", "Its time, UTC."),
        ),
        content=False,
    ),
    Table(
        "keys",
        "Author keys; the row belongs to the record that admitted the key (genesis for root keys).",
        (
            *_PLACE,
            *_K,
            Column("key_id", "VARCHAR", "The key's id."),
            Column("role", "VARCHAR", "root, operator, recorder, user, agent or tool."),
            Column("actor", "VARCHAR", "Whose key it is."),
            Column("public_key", "VARCHAR", "The public key, base64."),
            Column("admitted_at", "TIMESTAMP", "When it was admitted, UTC; by the record `log_index`."),
            Column("revoked_index", "BIGINT", "Log index of the record that revoked it; NULL while it is good."),
            Column("compromised_since", "BIGINT", "Log index from which on its signatures are disputed."),
        ),
        content=False,
    ),
)  # fmt: skip

CHECKPOINTS: Final = Table(
    "checkpoints",
    "Signed heads that were published, as the store's history keeps them; not verified here, not in the digest.",
    (
        Column("log_index", "BIGINT", "Index of the last record under the head."),
        Column("id", "VARCHAR", "Always NULL: a head is not a record."),
        Column("size", "BIGINT", "Number of records under it."),
        Column("root", "VARCHAR", "Root of the log's tree, base64."),
        Column("note", "VARCHAR", "The signed note."),
    ),
    content=False,
)
NUMBER: Final = {table.name: number for number, table in enumerate(TABLES)}


def creation(table: Table) -> list[str]:
    """Return the statements that create a table and its comments."""
    columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
    return [
        f"CREATE TABLE {table.name} ({columns})",
        f"COMMENT ON TABLE {table.name} IS {quoted(table.comment)}",
        *(
            f'COMMENT ON COLUMN {table.name}."{column.name}" IS {quoted(column.comment)}'
            for column in table.columns
        ),
    ]


def quoted(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
