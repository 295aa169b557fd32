"""Questions with right answers, and some without any: LoCoMo's files, and JSON Lines of one's own. Pure.

LoCoMo's category 5 asks for what was never said, or of the wrong person: the right answer is silence. In JSON Lines a
question with `"answer": null` has none; one without the member is judged by its citations alone.
"""

from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from braid.recall.samples import Sample, evidence_ids, lines_of, read_jsonl, read_locomo

UNANSWERABLE: Final = "5"


class Gold(msgspec.Struct, frozen=True):
    """A question, whether it has an answer, that answer where it is given, and the places of the turns it stands in."""

    text: str
    category: str
    answerable: bool
    answer: str | None
    evidence: tuple[int, ...]


class Exam(msgspec.Struct, frozen=True):
    """A conversation, and what is asked of it. `learnt_from`: whether the weights of this release were fitted to it."""

    sample: Sample
    questions: Sequence[Gold]
    learnt_from: bool


def read_exams(files: Sequence[tuple[str, bytes]]) -> list[Exam]:
    """Return the conversations of some files, by name and content; raise ValueError for what is none.

    All `.jsonl` are one, so that questions may stand apart from turns.
    """
    exams: list[Exam] = []
    for name, raw in files:
        if not name.endswith(".jsonl"):
            try:
                found: Any = msgspec.json.decode(raw.removeprefix(BOM_UTF8))
            except (msgspec.DecodeError, RecursionError) as error:
                raise ValueError(f"{name}: it is not JSON: {error}") from None
            documents = cast("Sequence[Any]", found) if isinstance(found, list) else (found,)
            exams += [locomo(document) for document in documents]
    lines = b"\n".join(raw for name, raw in files if name.endswith(".jsonl"))
    return exams + (jsonl(lines) if lines.strip() else [])


def locomo(document: Mapping[str, Any]) -> Exam:
    """Return a LoCoMo conversation; raise ValueError for anything else."""
    sample = read_locomo(document)
    places = {turn.id: at for at, turn in enumerate(sample.turns)}
    questions = [
        _gold(asked, [places[id] for id in evidence_ids(asked.get("evidence", [])) if id in places])
        for asked in cast("list[dict[str, Any]]", document["qa"])
        if isinstance(asked.get("question"), str) and asked["question"].strip()
    ]
    return Exam(sample, questions, learnt_from=True)


def _gold(asked: Mapping[str, Any], evidence: Sequence[int]) -> Gold:
    category = str(asked.get("category", "none"))
    answerable = category != UNANSWERABLE
    answer = str(asked["answer"]) if answerable and "answer" in asked else None
    return Gold(str(asked["question"]), category, answerable, answer, tuple(dict.fromkeys(evidence)))


def jsonl(raw: bytes) -> list[Exam]:
    """Return conversations from JSON Lines (see `recall.samples.read_jsonl`), the unanswerable questions too."""
    samples = {sample.name: sample for sample in read_jsonl(raw)}
    asked: dict[str, list[Gold]] = {name: [] for name in samples}
    places = {name: {turn.id: at for at, turn in enumerate(sample.turns)} for name, sample in samples.items()}
    for _, line in lines_of(raw):
        members = cast("dict[str, Any]", msgspec.json.decode(line))
        name = str(members.get("conversation", "conversation"))
        if "question" in members and name in asked:
            known = places[name]
            evidence = [known[str(id)] for id in members.get("evidence", []) if str(id) in known]
            answer = members.get("answer")
            answerable = "answer" not in members or answer is not None
            asked[name].append(
                Gold(
                    str(members["question"]),
                    str(members.get("category", "none")),
                    answerable,
                    None if answer is None else str(answer),
                    tuple(evidence),
                )
            )
    return [Exam(sample, asked[name], learnt_from=False) for name, sample in samples.items()]
