"""`init`, `ingest`, `append`, `correct`: what goes in comes out, twice the same adds nothing, a bad line stays out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

EXAMPLES = Path(__file__).parents[3] / "examples"
TURN = (
    '{"role": "user", "content": "I drink tea.", "id": "t-1", "conversation": "c", "session": "s1", '
    '"timestamp": "2025-03-01T09:00:00+01:00"}'
)


def records(session: Session, *words: str) -> list[dict[str, Any]]:
    """What the log shows, as JSON, without the store's own first records."""
    shown: list[dict[str, Any]] = json.loads(
        session.well("log", "--since-index", "3", "-n", "0", "-o", "json", *words).out
    )
    return shown


def report(session: Session, *words: str | Path, code: int = 0, stdin: str | bytes = b"") -> dict[str, Any]:
    """What ingest says it did."""
    done = session.braid("ingest", *words, "-o", "json", stdin=stdin)
    assert done.code == code, done
    said: dict[str, Any] = json.loads(done.out)
    return said


# -- init -----------------------------------------------------------------------------------------


def test_init_says_what_to_pin_and_where_things_are(empty: Session) -> None:
    done = empty.well("init", "-o", "json")
    made = json.loads(done.out)
    assert re.fullmatch(r"braid\.local/[a-z2-7]{16}\+[0-9a-f]{8}\+\S+", made["vkey"])
    assert made["root keys"].startswith("k_")
    assert Path(made["guard"]).is_file()
    assert Path(made["vault"]).is_file()
    for words in ("pin the vkey", "back up the vault", "take the root key offline"):
        assert words in done.err


@pytest.mark.soak
def test_init_takes_all_its_options(empty: Session) -> None:
    empty.write("secret", "open sesame\n")
    empty.well(
        "init", "here", "--origin", "example.org/m", "--durability", "none", "--retention-days", "7",
        "--vault", "there.vault", "--passphrase-file", "secret", "--guard-dir", "guards",
    )  # fmt: skip
    assert (empty.folder / "there.vault").is_file()
    assert list((empty.folder / "guards").glob("*.guard"))
    words = ("--store", "here", "--passphrase-file", "secret", "--guard-dir", "guards")
    status = json.loads(empty.well(*words, "status", "-o", "json").out)
    assert (status["origin"], status["durability"], status["retention"]["days"]) == (
        "example.org/m",
        "none",
        7,
    )
    assert "passphrase" in empty.refused("--store", "here", "--guard-dir", "guards", "append", "x")
    empty.write("wrong", "close sesame\n")
    assert "passphrase" in empty.refused(
        "--store", "here", "--guard-dir", "guards", "--passphrase-file", "wrong", "log"
    )


def test_init_touches_nothing_that_is_there(empty: Session) -> None:
    folder = empty.folder / "full"
    folder.mkdir()
    (folder / "letter").write_text("dear all", encoding="utf-8")
    assert "not empty" in empty.refused("init", "full")
    assert (folder / "letter").read_text(encoding="utf-8") == "dear all"
    empty.well("init")
    assert "not empty" in empty.refused("init")
    assert empty.is_clean()


@pytest.mark.parametrize("origin", ["two words", "a+b", ""])
def test_init_refuses_an_origin_that_no_note_can_name(empty: Session, origin: str) -> None:
    empty.refused("init", "--origin", origin) if origin else empty.well("init", "--origin", origin)
    assert empty.store.exists() == (not origin)


# -- ingest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["assistant", "shop-owner", "two-friends"])
def test_an_example_goes_in_whole_and_only_once(session: Session, name: str) -> None:
    path = EXAMPLES / f"{name}.jsonl"
    turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    first = report(session, path, "--user-id", "u", "--agent-id", "a", "--run-id", "r", "--no-learn")
    assert (first["taken"], first["already known"], first["skipped"]) == (len(turns), 0, 0)
    assert first["tree size"] == len(turns) + 3
    assert re.fullmatch(r"[0-9a-f]{64}", first["root"])
    assert [record["content"]["text"] for record in records(session)] == [turn["content"] for turn in turns]
    again = report(session, path, "--no-learn")
    assert (again["taken"], again["already known"], again["root"]) == (0, len(turns), first["root"])
    assert session.is_clean()


def test_a_turn_keeps_what_its_source_says(session: Session) -> None:
    turn = TURN[:-1] + ', "name": "Maya", "metadata": {"mood": "calm"}}'
    session.well("ingest", "-", "--user-id", "maya", "--no-learn", stdin=turn + "\n")
    (record,) = records(session)
    assert record["content"] == {"text": "I drink tea.", "media": [], "structured": {"mood": "calm"}}
    assert record["provenance"]["name"] == "Maya"
    assert record["provenance"]["actor"] == "user"
    assert record["provenance"]["sources"][0]["hash"].startswith("sha256:")
    assert record["scope"] == {"user_id": "maya", "session_id": "s1"}
    assert record["occurred_at"] == "2025-03-01T09:00:00+01:00"
    assert record["external_id"] == "t-1"


def test_roles_become_actors(session: Session) -> None:
    lines = [
        json.dumps({"role": role, "content": role, "name": "calendar" if role == "tool" else None})
        for role in ("system", "user", "assistant", "tool")
    ]
    session.well("ingest", "-", stdin="\n".join(lines))
    actors = [record["provenance"]["actor"] for record in records(session)]
    assert actors == ["system", "user", "agent", "tool(calendar)"]


def test_captions_are_kept(session: Session) -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}, "caption": "a cat"}
    session.well("ingest", "-", stdin=json.dumps({"role": "user", "content": ["look", part]}))
    (record,) = records(session)
    media = record["content"]["structured"]["media"]
    assert media == [{"kind": "image", "uri": "https://example.org/cat.png", "caption": "a cat"}]


def test_bad_lines_are_named_and_the_rest_goes_in(session: Session) -> None:
    bad = {
        b"not json": "not JSON",
        b'{"role": "user", "content": "caf\xe9"}': "UTF-8",
        b'{"role": "user", "content": "x", "score": NaN}': "NaN",
        b'{"role": "user", "content": "x", "score": 1e999}': "range",
        b'{"role": "user", "content": "x", "timestamp": "2025-03-01T09:00:00"}': "no offset",
        b'{"role": "user", "content": "x", "timestamp": "0900-03-01T09:00:00Z"}': "1900",
        b'{"role": "user", "role": "tool", "content": "x"}': "duplicate",
        b'{"role": "user"}': "content",
        b'{"role": "robot", "content": "x"}': "role",
        b'{"role": "user", "content": "\\ud800"}': "surrogate",
        b'{"role": "user", "content": "x", "timestamp": "2031-03-01T09:00:00Z"}': "future",
    }
    good = b'{"role": "user", "content": "good"}'
    session.write("mixed.jsonl", b"\n".join([good, *bad, good]) + b"\n")
    done = session.braid("ingest", "mixed.jsonl", "-o", "json", TMPDIR=str(session.folder))
    assert done.code == 1
    said = json.loads(done.out)
    assert (said["taken"], said["skipped"]) == (2, len(bad))
    for number, reason in enumerate(bad.values(), 2):
        (told,) = [
            each["reason"] for each in said["skipped lines"] if each["place"] == f"mixed.jsonl:{number}"
        ]
        assert reason in told
    assert session.is_clean()


def test_another_turn_under_a_known_id_is_no_duplicate(session: Session) -> None:
    session.well("ingest", "-", "--no-learn", stdin=TURN)
    done = session.braid("ingest", "-", "--no-learn", "-o", "json", stdin=TURN.replace("tea", "coffee"))
    assert done.code == 1
    assert json.loads(done.out)["skipped"] == 1
    assert "under this id" in done.err
    assert len(records(session)) == 1


def test_the_same_id_twice_in_one_file(session: Session) -> None:
    session.write("twice.jsonl", "\n".join([TURN, TURN, TURN.replace("tea", "milk")]))
    said = report(session, "twice.jsonl", code=1)
    assert (said["taken"], said["already known"], said["skipped"]) == (1, 1, 1)


def test_a_moved_and_grown_file_adds_only_what_is_new(session: Session) -> None:
    lines = [json.dumps({"role": "user", "content": f"turn {n}"}) for n in range(5)]
    session.write("a.jsonl", "\n".join(lines[:3]) + "\n")
    session.well("ingest", "a.jsonl")
    session.write("b.jsonl", "\n".join(lines) + "\n")
    said = report(session, "b.jsonl")
    assert (said["taken"], said["already known"]) == (2, 3)


def test_a_dry_run_counts_and_writes_nothing(session: Session) -> None:
    session.well("ingest", "-", stdin=TURN)
    size = json.loads(session.well("status", "-o", "json").out)["records"]
    session.write("more.jsonl", "\n".join([TURN, TURN.replace("t-1", "t-2"), "{"]))
    done = session.braid("ingest", "more.jsonl", "--dry-run", "-o", "json")
    assert done.code == 1
    said = json.loads(done.out)
    assert said.pop("skipped lines")[0]["place"] == "more.jsonl:3"
    assert said == {
        "would be taken": 1, "from user": 1, "already known": 1, "skipped": 1, "text bytes": 12,
    }  # fmt: skip
    assert json.loads(session.well("status", "-o", "json").out)["records"] == size


@pytest.mark.soak
def test_more_turns_than_a_transaction_holds(session: Session) -> None:
    lines = "\n".join(json.dumps({"role": "user", "content": f"turn {n}"}) for n in range(2_500))
    said = report(session, "-", stdin=lines)
    assert (said["taken"], said["tree size"]) == (2_500, 2_503)
    assert json.loads(session.well("status", "-o", "json").out)["transactions"] == 4
    assert session.is_clean()


def test_an_unknown_format_names_the_known_ones(session: Session) -> None:
    session.write("notes.bin", b"dear diary\x00")
    said = session.refused("ingest", "notes.bin")
    assert "jsonl" in said
    assert "locomo" in said
    assert "no known format" in said
    session.write("empty", "")
    assert "is empty" in session.refused("ingest", "empty")
    assert "No such file" in session.refused("ingest", "nowhere.jsonl")
    assert "unknown format" in session.refused("ingest", "notes.bin", "--format", "eml")


# -- append ---------------------------------------------------------------------------------------


def test_append_takes_every_field(session: Session) -> None:
    parent = session.well("append", "Maya lives in Porto.").id
    id = session.well(
        "append", "Maya lives in Portugal.", "--type", "inference", "--actor", "agent", "--name", "planner",
        "--method", "reasoning", "--parent", parent, "--evidence", parent, "--evidence", "https://example.org/porto",
        "--confidence", "0.9", "--tag", "home", "--tag", "country", "--user-id", "maya",
        "--agent-id", "a", "--run-id", "r", "--project-id", "p",
        "--session", "s", "--occurred-at", "2025-05-17T10:00:00+01:00", "--external-id", "x-1",
        "--source", "mailto:m@example.org",
    ).id  # fmt: skip
    record = json.loads(session.well("show", id, "-o", "json").out)
    assert record["type"] == "inference"
    assert record["parents"] == [parent]
    assert record["evidence_ptrs"] == [parent, "https://example.org/porto"]
    assert record["confidence"] == {"method": "stated", "p": 0.9}
    assert record["tags"] == ["home", "country"]
    assert record["scope"] == {
        "user_id": "maya",
        "agent_id": "a",
        "run_id": "r",
        "project_id": "p",
        "session_id": "s",
    }
    assert record["provenance"]["name"] == "planner"
    assert record["occurred_at"] == "2025-05-17T10:00:00+01:00"


def test_append_reads_stdin(session: Session) -> None:
    id = session.well("append", "-", stdin="two\nlines\n").id
    assert json.loads(session.well("show", id, "-o", "json").out)["content"]["text"] == "two\nlines"
    assert "UTF-8" in session.refused("append", "-", stdin=b"caf\xe9")


def test_a_key_adds_nothing_twice(session: Session) -> None:
    first = session.well("append", "once", "--key", "k-1")
    second = session.well("append", "once", "--key", "k-1")
    assert first.id == second.id
    assert "in the log already" in second.err
    assert len(records(session)) == 1


def test_a_key_with_something_else_to_say_is_refused(session: Session) -> None:
    first = session.well("append", "once", "--key", "k-1", "--user-id", "maya")
    for words in (("twice", "--user-id", "maya"), ("once",)):
        said = session.refused("append", *words, "--key", "k-1")
        assert f"the key 'k-1' is that of {first.id}" in said
        assert "use another key" in said
    assert len(records(session)) == 1


def test_a_key_that_is_empty_is_refused(session: Session) -> None:
    assert "idempotency key" in session.refused("append", "x", "--key", "")
    assert records(session) == []


def test_a_dry_run_appends_nothing(session: Session) -> None:
    session.well("append", "x", "--dry-run")
    session.refused("append", "x", "--confidence", "2", "--dry-run")
    assert records(session) == []


def signature(of: str) -> dict[str, object]:
    """A signature of a batch, as it is shown."""
    return {
        "experience_id": of,
        "role": "response_semantic",
        "embedding_model": "m-1",
        "vector": f"vec://response_semantic/{of}",
        "label": None,
        "hash": None,
        "salience": 1.0,
        "metadata": {},
    }


def test_records_of_every_kind_in_the_schemas_shape(session: Session) -> None:
    a = session.well("append", "It rose by 4 %.").id
    b = session.well("append", "It rose by 5 %.").id
    shapes: list[dict[str, Any]] = [
        {
            "type": "observation",
            "content": {"text": "Two figures differ.", "media": [], "structured": {"seen": 2}},
            "provenance": {
                "sources": [{"uri": "urn:example:r", "hash": "sha256:00"}],
                "actor": "user",
                "method": "capture",
            },
            "evidence_ptrs": [a, "https://example.org/q"],
            "confidence": {"p": 0.78, "method": "calibrated_logit"},
            "embeddings": {
                "semantic": "vec://sem/x",
                "symbolic": [
                    {
                        "subject": "X",
                        "rel": "causes",
                        "object": "Y",
                        "polarity": True,
                        "source_type": "explicit",
                    }
                ],
            },
            "affect": {
                "vad": {"v": 0.15, "a": 0.62, "d": 0.4},
                "labels": ["frustration"],
                "intensity": 0.7,
                "confidence": 0.66,
            },
            "parents": [a, b],
            "supersedes": [a],
            "diffs": [{"id": b, "added": "more", "reweighted": [{"exp": a, "w_old": 0.3, "w_new": 0.5}]}],
        },
        {
            "lens": "causal_v2",
            "applied_to": [a, b],
            "delta_from_raw": {
                "added": "a cause",
                "removed": None,
                "reweighted": [{"exp": b, "w_old": 0.3, "w_new": 0.5}],
            },
            "affect_delta": {"from": {"v": 0.1, "a": 0.6, "d": 0.4}, "to": {"v": 0.2, "a": 0.45, "d": 0.55}},
        },
        {
            "question": "Which figure holds?",
            "candidates": [{"exp": a, "claim": "4 %", "p": 0.62}, {"exp": b, "claim": "5 %", "p": 0.31}],
            "method": "justified_truth_maintenance+bayes_pool",
            "decision": {"claim": "4 %", "support": [a], "residual_uncertainty": 0.22},
        },
        {
            "experience_id": a,
            "actor": "user",
            "stage": "input",
            "primary_emotion": "joy",
            "valence": 0.5,
            "arousal": 0.2,
            "dominance": 0.1,
            "confidence": 0.8,
            "notes": "an exclamation mark",
            "signals": {"marks": 1},
        },
        {
            "experience_id": a,
            "role": "prompt_semantic",
            "embedding_model": "m-1",
            "vector": f"vec://prompt_semantic/{a}",
            "label": "critical",
            "hash": "aa",
            "salience": 0.5,
            "metadata": {"k": 1},
        },
        {"signatures": [signature(a), signature(b)]},
        {"kind": "event", "name": "review", "data": {"n": 1}, "evidence": [a]},
    ]
    read_elsewhere = json.dumps(shapes[0]).replace("urn:example:r", "https://example.org/r")
    said = session.refused("append", "--json", "-", stdin=read_elsewhere)
    assert "an outsider's words can't take the place of" in said
    session.write("records.json", json.dumps(shapes))
    ids = session.well("append", "--json", "records.json").out.split()
    assert [id.partition("_")[0] for id in ids] == ["exp", "view", "stance", "aff", "emb", "emb", "evt"]
    shown = [json.loads(session.well("show", id, "-o", "json").out) for id in ids]
    for given, one in zip(shapes, shown, strict=True):
        assert {name: one.get(name) for name in given} == given
    again = session.well("append", "--json", "-", stdin=json.dumps(shown)).out.split()
    for id, one in zip(again, shown, strict=True):  # what is shown goes in again as it was
        twin = json.loads(session.well("show", id, "-o", "json").out)
        own = ("id", "index", "created_at", "sign")
        assert {n: v for n, v in twin.items() if n not in own} == {
            n: v for n, v in one.items() if n not in own
        }
    assert session.is_clean()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("{", "not JSON"),
        ('{"content": {"text": "x"}}\n{"content": {"text": "y"}}\n', "one a line into a list (jq -s .)"),
        ("[]", "empty"),
        ("[1]", "not a JSON object"),
        ('{"kind": "tombstone"}', "can't be appended"),
        ('{"kind": "dream"}', "can't be appended"),
        ('{"question": 1}', "not the body of a stance"),
        ('{"content": 1}', "not the body of an experience"),
        ('{"content": {"text": "x", "mood": 1}}', 'content: unknown member "mood"'),
        (
            '{"embeddings": {"symbolic": [{"subject": "s", "rel": "r", "object": "o", "p": 1}]}}',
            'symbolic[0]: unknown member "p"',
        ),
        ('{"lens": "l", "delta_from_raw": {"kept": []}}', 'delta_from_raw: unknown member "kept"'),
        ('{"type": "hunch", "content": {"text": "x"}}', "unknown type"),
        ('{"affect": {"vad": {"v": 2, "a": 0, "d": 0}}}', "valence is 2"),
        ('{"content": {"text": "x"}, "confidence": {"p": -0.1}}', "confidence.p"),
        (
            '{"lens": "l", "applied_to": [], "delta_from_raw": {"reweighted": [{"exp": "e", "w_old": 0, "w_new": 1}]}}',
            "has no link",
        ),
        ('{"content": {"text": "x"}, "diffs": [{"id": "e", "added": "a"}]}', "has no link"),
        ('{"content": {"text": "x"}, "parents": "exp_x"}', "parents: a list"),
        ('{"content": {"text": "x"}, "embeddings": []}', "embeddings: an object"),
        ('{"lens": "l", "delta_from_raw": {"reweighted": [5]}}', "reweighted: an object"),
        ('{"question": "q", "candidates": [5]}', "candidates: an object"),
        ('{"signatures": 5}', "signatures: a list"),
        ('{"content": {"text": ""}}', "nothing to remember"),
        ('{"content": {"text": " "}}', "nothing to remember"),
        ('{"contnet": {"text": "x"}}', 'record 1: unknown member "contnet": did you mean "content"?'),
        ('{"content": {"text": "x"}, "occured_at": "2025-05-17"}', 'did you mean "occurred_at"?'),
        ('{"content": {"text": "x"}, "timestamp": "2025-05-17"}', 'did you mean "occurred_at"?'),
        (
            '{"content": {"text": "x"}, "user_id": "maya"}',
            '"user_id" belongs into the scope: {"scope": {"user_id"',
        ),
        (
            '{"content": {"text": "x"}, "scope": {"usr_id": "maya"}}',
            'scope: unknown member "usr_id": did you mean',
        ),
        ('{"content": {"text": "x"}, "symbolic": []}', '{"embeddings": {"symbolic": […]}}'),
        (
            '{"content": {"text": "x"}, "mood": 1}',
            'unknown member "mood": what is your own goes under "metadata"',
        ),
        ('{"content": {"text": "x"}, "metadata": 1}', "metadata: an object is wanted"),
        ('{"role": "user", "content": "x"}', '"role" is of a chat message: `braid ingest`'),
        ('{"text": "x"}', '"text" belongs into the content'),
    ],
)
def test_a_wrong_document_says_why_and_adds_nothing(session: Session, document: str, reason: str) -> None:
    assert reason in session.refused("append", "--json", "-", stdin=document)
    assert records(session) == []


def test_what_is_the_writers_own_stands_under_metadata(session: Session) -> None:
    """An experience's can be filtered by; both go out and in again as they are shown."""
    given = [
        {"content": {"text": "x", "structured": {"n": 1}}, "metadata": {"n": 2, "mood": "calm"}},
        {"kind": "event", "name": "review", "metadata": {"mood": "calm"}},
    ]
    ids = session.well("append", "--json", "-", stdin=json.dumps(given)).out.split()
    shown = [json.loads(session.well("show", id, "-o", "json").out) for id in ids]
    assert shown[0]["content"]["structured"] == {"n": 1, "mood": "calm"}
    assert shown[1]["metadata"] == {"mood": "calm"}
    session.well("append", "--json", "-", "--dry-run", stdin=json.dumps(shown))


def test_a_text_that_begins_with_a_dash_goes_behind_two(session: Session) -> None:
    assert "goes behind --: braid append -- '-…'" in session.refused("append", "-1+1")
    assert "--" not in session.refused("log", "-x").partition("hint: ")[2].removesuffix("--help\n")
    assert "did you mean --user-id?" in (said := session.refused("append", "--user-di", "maya", "x"))
    assert "behind --" not in said
    session.well("append", "--user-id", "maya", "--", "-1+1")
    assert records(session)[-1]["content"]["text"] == "-1+1"


def test_a_kind_that_no_record_has_is_told_of(session: Session) -> None:
    assert session.well("log", "--kind", "key").err == ""
    assert session.well("log", "--kind", "stance").err == "braid: no record is of kind 'stance'\n"
    assert "kinds are experience, view, stance" in session.well("log", "--kind", "stances").err
    assert "is a type of experience: braid sql" in session.well("log", "--kind", "observation").err


def test_append_needs_one_thing_to_append(session: Session) -> None:
    assert "nothing to append" in session.refused("append")
    session.write("r.json", "{}")
    assert "not both" in session.refused("append", "x", "--json", "r.json")


# -- correct --------------------------------------------------------------------------------------


def test_a_dry_run_corrects_nothing(session: Session) -> None:
    old = session.well("append", "Maya moved to Porto.").id
    assert "would be corrected" in session.well("correct", old, "Maya moved to Lisbon.", "--dry-run").err
    event = session.well("append", "--json", "-", stdin='{"kind": "event", "name": "n"}').id
    for words in ((event, "x"), (old, "")):
        assert session.refused("correct", *words, "--dry-run") == session.refused("correct", *words)
    assert len(records(session)) == 2


def test_a_correction_supersedes_and_keeps(session: Session) -> None:
    old = session.well("append", "Maya moved to Porto.", "--user-id", "maya").id
    new = session.well("correct", old, "Maya moved to Lisbon.", "--reason", "misheard").id
    shown = json.loads(session.well("show", new, "-o", "json").out)
    assert shown["supersedes"] == [old]
    assert shown["scope"] == {"user_id": "maya"}
    assert (
        json.loads(session.well("show", old, "-o", "json").out)["content"]["text"] == "Maya moved to Porto."
    )
    assert "supersedes" in session.well("trace", old).out


def test_an_agents_words_in_a_persons_name_are_shown_as_the_agents(session: Session) -> None:
    session.well("append", "I live in Braga.", "--user-id", "maya", "--name", "Maya")
    session.well("append", "I live in Porto.", "--user-id", "maya", "--name", "Maya", "--tag", "words:agent")
    listed = session.well("log", "-n", "1").out
    assert re.search(r"an agent for Maya +I live in Porto\.", listed)
    table = session.well("recall", "where do I live").out.splitlines()
    assert any("an agent for Maya: I live in Porto." in line for line in table)
    assert any("  Maya: I live in Braga." in line for line in table)


def test_a_dry_run_knows_whose_place_nobody_takes(session: Session) -> None:
    said = session.well("append", "I live in Braga.", "--user-id", "maya").out.strip()
    refused = session.refused(
        "append", "Maya lives in Porto.", "--actor", "agent", "--supersedes", said, "--dry-run"
    )
    assert "an agent's words can't take the place of" in refused
    session.well("append", "I live in Porto.", "--supersedes", said, "--dry-run")


def test_a_store_takes_no_folder_that_somebody_is_in(empty: Session) -> None:
    assert "name a new one in it" in empty.refused("init", ".")
    assert [one.name for one in empty.folder.iterdir() if "init" in one.name] == []
