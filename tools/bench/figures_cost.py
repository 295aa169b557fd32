"""What remembering and deciding cost by provider: tokens a decision, the price of a thousand, time, and bytes kept."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from braid.ledger.write.create import create_store
from braid.ledger.write.writer import utc_now
from braid.text.chat import ChatMessage, ChatModel, Completion
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, figure
from braid.tools.bench.stores import Place

if TYPE_CHECKING:
    from braid.claims.decision_operations import ModelReport
    from braid.store import Store

ROUND: Final = 10_000
"""Bytes are told of so many remembers."""
A_SECOND: Final = 25_000
"""So many memories are remembered, by the length of a slice: 10,000 in a whole one."""
ASKED: Final = 100
"""So many decisions a model is asked for at least, where there are so many."""
EACH: Final = 50
"""Memories of one user."""
MILLION: Final = 1_000_000
_PLACES: Final = ("Porto", "Faro", "Ghent", "Leeds", "Graz", "Osaka", "Lyon", "Tartu", "Perth", "Cusco")
_THINGS: Final = ("tea", "chess", "jazz", "hiking", "figs", "opera", "sailing")
_ANSWER: Final = '{"action": "UPDATE", "target": "m1", "confidence": 0.8, "reason": "said later"}'
_BYTES_A_TOKEN: Final = 4


class Prices(NamedTuple):
    """What a provider takes for a million tokens, in any currency: of those it reads, and of those it writes."""

    read: float = 0.0
    written: float = 0.0


class CountingModel:
    """A model that answers at once, and takes four bytes for a token: what a decision takes where none is asked."""

    name, remote = "counted", False

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return the same decision each time."""
        del max_tokens, timeout_s, schema
        told = sum(len(each.text.encode()) for each in messages)
        return Completion(_ANSWER, told // _BYTES_A_TOKEN, len(_ANSWER) // _BYTES_A_TOKEN, self.name)


def costs(model: ChatModel | None, prices: Prices) -> Measure:
    """Return the measure of what is remembered and decided: by the rules, and by a model if one is named."""
    shown = ["cost.remember.p95", "cost.bytes", "cost.rules"]
    provider = "model" if model is not None else "counted"
    shown += [f"cost.{provider}.{name}" for name in ("tokens", "price", "p95", "well_formed")]
    return Measure(tuple(shown), partial(_costs, model, prices), sized=False)


def _costs(model: ChatModel | None, prices: Prices, bench: Bench, n: int) -> Iterator[Figure]:
    del n
    many = max(EACH, bench.times(A_SECOND))
    place = Place(bench.stores.folder / "cost" / "memory", many)
    create_store(place.path, now=utc_now(), guard_folder=place.guard_dir)
    from braid import open as opening

    with opening(place.path, guard_dir=place.guard_dir, server=None) as store:
        bench.told(f"remembering {many:,} memories")
        took = sorted(_remembered(store, number) for number in range(many))
        yield figure("cost.remember.p95", 0, "ms", 1e3 * took[min(many - 1, many * 95 // 100)])
        yield figure("cost.bytes", 0, f"MB/{ROUND:,}", _bytes(place.path) * ROUND / many / MILLION)
        users = range(-(-many // EACH))
        began = time.perf_counter()
        claims = sum(store.decision_report(user_id=_user(one)).claims for one in islice(users, 20))
        yield figure("cost.rules", 0, "ms", 1e3 * (time.perf_counter() - began) / max(1, claims))
        bench.told("asking for decisions")
        asked = _asked(store, CountingModel() if model is None else model, users)
    yield from _of_model("counted" if model is None else "model", asked, prices)
    bench.stores.remove(place)


def _remembered(store: "Store", number: int) -> float:
    """Remember what changes a home, or adds a liking; return how many seconds it took."""
    said = (
        f"I live in {_PLACES[number // 2 % len(_PLACES)]} now."
        if number % 2
        else f"I like {_THINGS[number // 2 % len(_THINGS)]} on day {number}."
    )
    began = time.perf_counter()
    store.remember(
        {"role": "user", "content": said, "name": "Maya"}, user_id=_user(number // EACH), mode="sync"
    )
    return time.perf_counter() - began


def _user(number: int) -> str:
    return f"user-{number:05}"


def _asked(store: "Store", model: ChatModel, users: Sequence[int]) -> "list[ModelReport]":
    """Return what a model was asked about the memories of some users, one after the other."""
    found: list[ModelReport] = []
    for one in users:
        made = store.decision_report(user_id=_user(one), limit=EACH, model=model).model
        if made is not None:
            found.append(made)
        if sum(each.asked for each in found) >= ASKED or found[-1].stopped is not None:
            break
    return found


def _of_model(provider: str, found: "Sequence[ModelReport]", prices: Prices) -> Iterator[Figure]:
    questions = max(1, sum(one.asked for one in found))
    read, written = (sum(one.tokens_in for one in found), sum(one.tokens_out for one in found))
    price = 1_000 * (read * prices.read + written * prices.written) / MILLION / questions
    yield figure(f"cost.{provider}.tokens", 0, "tokens/decision", (read + written) / questions)
    yield figure(f"cost.{provider}.price", 0, "a thousand", price)
    yield figure(f"cost.{provider}.p95", 0, "ms", max((one.ms_p95 for one in found), default=0.0))
    well_formed = sum(one.well_formed for one in found) / questions
    yield figure(f"cost.{provider}.well_formed", 0, "of decisions", well_formed)


def _bytes(store: Path) -> int:
    """Return what a store's folder holds, projections and all."""
    return sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
