"""Models of a store: which may be asked, in which order, what they may spend in a day, and what they are shown."""

import json
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from braid.agent.answer.compose import Extractive
from braid.agent.answer.model_composer import ModelComposer
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import AccessDeniedError, RemoteModelError
from braid.job_state import job_state
from braid.ledger.record.record import EventBody, ExperienceBody, Record
from braid.providers.budget import Budgets
from braid.providers.counted import Asked, CountedCall
from braid.providers.outbound import outbound
from braid.store import Store
from braid.text.chat import Capabilities, ChatError, ChatMessage, Completion
from tests.unit.api.test_jobs import (
    EXTRACT,
    FACT,
    Clock,
    Model,
    away,
    knows,
    opened,
    readings,
    say,
    signed,
    work,
)
from tests.unit.learn.test_extraction import HOME, PARSER

FAR = "models.example"
SECRET = "sk-abcdefghijklmnopqrstuvwx"


@pytest.fixture
def clock() -> Clock:
    return Clock()


ASKED = Asked(tier="small", operation="ask", provider="own", model="m", host=None, remote=False)


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(tmp_path, clock) as one:
        yield one


class Far(Model):
    """A model that is not on this machine."""

    remote = True
    provider = "openai"

    def __init__(self, host: str | None = FAR) -> None:
        super().__init__(lambda _: FACT)
        self.host = host


def setting(store: Store, **values: str) -> None:
    for key, value in values.items():
        store.change_setting(key, value, reason="for a test")


def extracted(store: Store, model: Any, **options: Any) -> Any:
    return store.extract(model=model, parser=PARSER, **options)


def asked(store: Store, model: Any, **options: Any) -> Any:
    return store.ask(
        "Where do I live?", user_id="maya", composer=ModelComposer(model, Extractive()), **options
    )


# -- what may be asked ----------------------------------------------------------------------------

_WAYS: list[Callable[[Store, Clock, Any], Any]] = [
    lambda store, _, model: extracted(store, model),
    lambda store, _, model: extracted(store, knows(), larger=model),
    lambda store, _, model: extracted(store, knows(), second=model),
    work,
    lambda store, _, model: asked(store, model),
    lambda store, _, model: store.run_program(
        "Where do I live?", user_id="maya", composer=ModelComposer(model, Extractive())
    ),
]


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"remote_hosts": FAR},
        {"local_only": "false"},
        {"local_only": "false", "remote_hosts": "other.example"},
    ],
)
def test_a_far_model_needs_both_settings(
    store: Store, clock: Clock, way: Callable[[Store, Clock, Any], Any], settings: dict[str, str]
) -> None:
    setting(store, **settings)
    say(store, HOME)
    model = Far()
    size = len(store)
    with pytest.raises(RemoteModelError, match=FAR):
        way(store, clock, model)
    assert model.told == []
    assert len(store) == size


def test_a_far_model_that_is_allowed_is_asked(store: Store, clock: Clock) -> None:
    setting(store, local_only="false", remote_hosts="Models.Example, other.example")
    say(store, HOME)
    model = Far()
    assert work(store, clock, model).done == 1
    assert len(model.told) == 1
    with pytest.raises(RemoteModelError):
        extracted(store, Far(host=None))  # which doesn't say where it is


def test_a_setting_counts_at_once_for_a_model_that_was_allowed(store: Store, clock: Clock) -> None:
    """The gate looks again at each question, not only when the work begins."""
    setting(store, local_only="false", remote_hosts=FAR)
    say(store, HOME, session="s1")
    say(store, "I live in Leeds.", session="s2")
    model = Far()
    first = model.complete

    def complete(*args: Any, **named: Any) -> Completion:
        setting(store, local_only="true")
        return first(*args, **named)

    model.complete = complete  # type: ignore[method-assign]
    work(store, clock, model, until_idle=False)
    assert len(model.told) == 1


def test_a_model_that_cant_extract_is_passed_over(store: Store, clock: Clock) -> None:
    class Talker(Model):
        capabilities: ClassVar[Capabilities] = Capabilities(extract=False)

    say(store, HOME)
    talker, other = Talker(lambda _: FACT), knows()
    assert work(store, clock, talker, second=other).done == 1
    assert (talker.told, len(other.told)) == ([], 1)


def test_a_model_is_held_to_what_it_can_do_and_to_the_setting(store: Store, clock: Clock) -> None:
    held: list[tuple[int, float]] = []

    class Narrow(Model):
        capabilities: ClassVar[Capabilities] = Capabilities(max_tokens=500, timeout_s=90)

        def complete(
            self,
            messages: Sequence[ChatMessage],
            *,
            max_tokens: int,
            timeout_s: float,
            schema: Mapping[str, Any] | None = None,
        ) -> Completion:
            held.append((max_tokens, timeout_s))
            return super().complete(messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema)

    say(store, HOME, session="s1")
    work(store, clock, Narrow(lambda _: FACT))
    setting(store, model_timeout_s="7")
    say(store, HOME, session="s2")
    work(store, clock, Narrow(lambda _: FACT))
    assert held == [(500, 90), (500, 7)]


# -- in which order -------------------------------------------------------------------------------


def test_the_second_is_asked_where_the_first_fails(store: Store, clock: Clock) -> None:
    say(store, HOME)
    first, second = away(), knows()
    assert work(store, clock, first, second=second).done == 1
    assert (len(first.told), len(second.told)) == (1, 1)
    assert [data.get("attempts") for data in signed(store)] == [None]


def test_an_open_breaker_goes_straight_to_the_second(store: Store, clock: Clock) -> None:
    first, second = away(), knows()
    for n in range(5):
        say(store, f"{HOME} {n}", session=f"s{n}")
    assert work(store, clock, first, second=second).done == 5
    assert (len(first.told), len(second.told)) == (3, 5)
    states = {one.dependency: one.state for one in store.status().breakers}
    assert (states["chat_small"], states["chat_second"]) == ("open", "closed")


def test_with_both_down_the_words_are_kept_and_tried_again(store: Store, clock: Clock) -> None:
    (id,) = say(store, HOME)
    one, other = away(), away()
    done = work(store, clock, one, second=other, until_idle=False)
    assert (done.done, done.retried, done.dead) == (0, 1, 0)
    assert store.get(id).text == HOME
    clock.wait(60)
    assert work(store, clock, one, second=knows()).done == 1
    assert len(readings(store)) == 1


# -- what they may spend --------------------------------------------------------------------------


def test_where_the_day_is_spent_jobs_wait_and_lose_no_attempt(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        setting(store, tokens_small="150")
        for n in range(3):
            say(store, f"{HOME} {n}", session=f"s{n}")
        model = knows()  # 120 tokens each time
        done = work(store, clock, model)
        assert (done.done, done.released, done.retried, done.dead) == (2, 1, 0, 0)
        assert len(model.told) == 2
        assert done.next_s is not None
        assert done.next_s > 600
        (job,) = [one for one in store.jobs().jobs if one.state == "pending" and "model" in one.version]
        assert job.attempts == 0
    with opened(tmp_path, clock) as store:  # a restart gives nothing back
        (tmp_path / "memory" / "work.sqlite").unlink()
        model = knows()
        assert work(store, clock, model).done == 0
        assert model.told == []
        clock.wait(24 * 3600)
        assert work(store, clock, model).done == 1
        assert len(readings(store)) == 3


def test_a_limit_that_is_raised_lets_the_jobs_go_on_the_same_day(store: Store, clock: Clock) -> None:
    setting(store, tokens_small="0")
    say(store, HOME)
    assert work(store, clock, knows()).released == 1
    setting(store, tokens_small="none")
    clock.wait(15 * 60)
    assert work(store, clock, knows()).done == 1


def test_extract_that_somebody_asks_for_stops_and_says_so(store: Store) -> None:
    setting(store, tokens_small="0")
    say(store, HOME)
    model = knows()
    for _ in range(5):  # nothing is given up, however often
        done = extracted(store, model)
        assert (done.stopped, done.budget_spent, done.waiting, done.given_up) == (True, True, 1, 0)
    assert model.told == []


def test_an_answer_is_put_together_without_the_model(store: Store) -> None:
    setting(store, tokens_small="0")
    store.append(HOME, user_id="maya", actor="user")
    model = knows()
    found = asked(store, model)
    assert model.told == []
    assert found.fallback is not None
    assert found.fallback.startswith("budget_spent")
    assert "Porto" in found.text


def test_the_larger_tier_has_its_own_day_and_the_small_answer_is_taken(store: Store, clock: Clock) -> None:
    setting(store, tokens_larger="0")
    say(store, "Actually, I live in Porto.")
    larger = knows()
    assert work(store, clock, knows(), larger=larger).done == 1
    assert larger.told == []
    assert signed(store)[-1]["spent"]["warnings"]["tier:budget_spent"] == 1


def test_it_is_warned_of_from_nine_tenths_on(store: Store, clock: Clock) -> None:
    setting(store, tokens_small="130")
    assert store.remember("I like tea.", user_id="maya", raw=True).warnings == ()
    say(store, HOME)
    work(store, clock, knows())
    (state, _) = Budgets(store.session).every(clock())
    assert (state.spent, state.limit, state.percent, state.runs_out, state.is_spent) == (
        120,
        130,
        92,
        True,
        False,
    )
    (warned,) = [
        one for one in store.remember("I like rain.", user_id="maya", raw=True).warnings if "small" in one
    ]
    assert "92 %" in warned


def test_two_stores_that_share_a_folder_count_together(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock, shared=True) as one, opened(tmp_path, clock, shared=True) as other:
        setting(one, tokens_small="150")
        say(one, HOME)
        work(one, clock, knows())
        assert Budgets(other.session).of("small", clock()).spent == 120


def test_a_server_that_counts_nothing_is_estimated(store: Store, clock: Clock) -> None:
    class Silent(Model):
        def complete(self, *args: Any, **named: Any) -> Completion:
            return Completion(super().complete(*args, **named).text, 0, 0, "small-1")

    say(store, HOME)
    work(store, clock, Silent(lambda _: FACT))
    assert Budgets(store.session).of("small", clock()).spent > 100


def test_what_cant_be_counted_isnt_sent(store: Store, clock: Clock) -> None:
    (store.path / "outbound.sqlite").mkdir()
    say(store, HOME)
    model = knows()
    for _ in range(6):  # which costs the job no attempt
        assert work(store, clock, model, until_idle=False).released == 1
        clock.wait(3600)
    assert model.told == []
    (store.path / "outbound.sqlite").rmdir()
    assert work(store, clock, model, until_idle=False).done == 1


def test_while_the_count_is_locked_nothing_is_sent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound(store.session)._file, "_busy_s", 0.05)
    store.append(HOME, user_id="maya", actor="user")
    model = knows()
    asked(store, model)
    seen = len(model.told)
    with sqlite3.connect(store.path / "outbound.sqlite", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert asked(store, model).fallback is not None
        other.execute("ROLLBACK")
    other.close()
    assert len(model.told) == seen
    assert len(outbound(store.session).newest(9)) == seen


def test_a_call_that_dies_is_counted_and_nonsense_of_tokens_is_not(store: Store, clock: Clock) -> None:
    def dies(_: str) -> str:
        raise KeyboardInterrupt

    say(store, HOME)
    with pytest.raises(KeyboardInterrupt):
        work(store, clock, Model(dies), until_idle=False)
    (call,) = outbound(store.session).newest(5)
    assert call.outcome == "interrupted"
    spent = Budgets(store.session).of("small", clock()).spent
    assert spent == call.tokens_in > 0

    class Lies(Model):
        def complete(self, messages: Any, **more: Any) -> Completion:
            return msgspec.structs.replace(super().complete(messages, **more), tokens_in=-(10**9))

    assert work(store, clock, Lies(lambda _: FACT), until_idle=False).done == 1
    assert Budgets(store.session).of("small", clock()).spent > spent


def test_a_damaged_count_is_made_again_and_says_so(
    store: Store, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (store.path / "outbound.sqlite").write_bytes(b"no database, and longer than its header is" * 40)
    say(store, HOME)
    with caplog.at_level("INFO", logger="braid"):
        assert work(store, clock, knows()).done == 1
    assert "outbound_log_lost" in caplog.messages
    assert Budgets(store.session).of("small", clock()).spent == 120


def test_what_ends_is_counted_though_the_count_was_lost_meanwhile(store: Store, clock: Clock) -> None:
    log, asked = outbound(store.session), []

    def call(tokens: int) -> str:
        made = CountedCall(store.session, ASKED, ["x" * 4 * tokens], 0)
        asked.append(made)
        return made.call.outcome

    call(1_000)
    log.path.unlink()
    call(9_000)
    for one in reversed(asked):
        one.end("ok")
    assert log.spent(clock())["small"] == 1_001 + 9_001
    assert len(log.newest(9)) == 2


def test_a_clock_that_was_ahead_takes_no_count_away(store: Store, clock: Clock) -> None:
    today = clock.at
    CountedCall(store.session, ASKED, ["x" * 400], 0).end("ok")
    clock.at = today + timedelta(days=200)
    CountedCall(store.session, ASKED, ["x" * 400], 0).end("ok")
    clock.at = today
    assert outbound(store.session).spent(clock())["small"] == 101


# -- what they are shown --------------------------------------------------------------------------


def test_what_left_is_listed_without_a_word_of_it(store: Store, clock: Clock) -> None:
    setting(store, redacted_terms="Porto")
    say(store, f"{HOME} My key is {SECRET}.")
    work(store, clock, Model(lambda _: FACT.replace("Porto", "WITHHELD_1")))
    (call,) = outbound(store.session).newest(5)
    assert (call.operation, call.provider, call.model, call.tier, call.remote, call.outcome) == (
        "extract",
        "own",
        "small",
        "small",
        False,
        "ok",
    )
    assert (call.tokens_in, call.tokens_out, call.placeholders) == (100, 20, 2)
    assert call.bytes_out > 100
    assert call.bytes_in > 0
    file = store.path / "outbound.sqlite"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with sqlite3.connect(file) as con:
        rows = con.execute("SELECT * FROM calls").fetchall()
    con.close()
    for word in ("Porto", SECRET, "Maya", "live"):
        assert word not in str(rows)


def test_terms_are_placeholders_on_the_way_and_words_again_in_the_answer(store: Store, clock: Clock) -> None:
    setting(store, redacted_terms='["Porto", "AT&T"]')
    say(store, HOME)
    model = Model(lambda _: FACT.replace("Porto", "WITHHELD_1"))
    assert work(store, clock, model).done == 1
    assert "Porto" not in model.told[0]
    assert "I live in WITHHELD_1." in model.told[0]
    (found,) = readings(store)
    assert isinstance(found.body, ExperienceBody)
    (claim,) = found.body.symbolic
    assert (claim.object, claim.quote) == ("Porto", "I live in Porto")


def maps(store: Store) -> list[Record]:
    return [one for one in store.read() if one.envelope.public.get("name") == "placeholders"]


def test_the_map_is_sealed_in_the_log_and_goes_with_the_words(store: Store, clock: Clock) -> None:
    setting(store, redacted_terms="Porto")
    (id,) = say(store, f"{HOME} My key is {SECRET}.")
    work(store, clock, Model(lambda _: FACT.replace("Porto", "WITHHELD_1")))
    (kept,) = maps(store)
    assert isinstance(kept.body, EventBody)
    assert kept.body.data["operation"] == "extract"
    (exchange,) = kept.body.data["exchanges"]
    assert exchange["WITHHELD_1"] == "Porto"
    assert SECRET in exchange.values()
    assert [link.id for link in kept.targets("evidence")] == [id]
    assert kept.body.scope is not None
    assert kept.body.scope.user_id == "maya"
    assert SECRET.encode() not in b"".join(
        file.read_bytes()
        for file in sorted(store.path.rglob("*"))
        if file.is_file() and "views" not in file.parts
    )
    store.erase(id)
    assert maps(store) == []


def test_a_turn_that_is_cut_within_a_term_shows_nothing_of_it(store: Store, clock: Clock) -> None:
    setting(store, redacted_terms="Nightingale")
    say(store, "a " * 1995 + "Nightingale sings, and more is said of it.")
    model = Model(lambda _: FACT)
    work(store, clock, model)
    assert model.told
    assert not any("Nighti" in each for each in model.told)


def test_a_map_of_two_records_goes_with_either(store: Store, clock: Clock) -> None:
    setting(store, redacted_terms="Porto")
    first, second = say(store, HOME, f"My key is {SECRET}.")
    work(store, clock, Model(lambda _: FACT.replace("Porto", "WITHHELD_1")))
    (kept,) = maps(store)
    assert len(kept.targets("evidence")) == 2
    store.forget(second)
    assert maps(store) == []
    store.recover(second)
    assert [one.id for one in maps(store)] == [kept.id]
    store.erase(second)
    assert maps(store) == []
    assert store.get(first).text == HOME
    store.replay()
    assert (
        store.sql("SELECT count(*) FROM events WHERE name = 'placeholders'").to_pylist()[0].popitem()[1] == 0
    )
    assert SECRET.encode() not in b"".join(
        file.read_bytes() for file in sorted(store.path.rglob("*")) if file.is_file()
    )
    assert store.verify(deep=True).findings == []


def test_what_two_people_said_is_kept_apart(store: Store) -> None:
    setting(store, redacted_terms="Porto,Faro")
    texts = {"maya": "I live in Porto.", "ben": "I live in Faro."}
    for user, text in texts.items():
        store.append(text, user_id=user, actor="user")

    def answer(told: str) -> str:
        cited = [one.split('"', maxsplit=1)[0] for one in told.split('id="')[1:3]]
        words = sorted(one for one in ("WITHHELD_1", "WITHHELD_2") if one in told)
        return json.dumps(
            {"draft": "", "known": True, "sentences": [
                {"text": f"You live in {word}.", "cites": [id]} for word, id in zip(words, cited, strict=True)
            ]}
        )  # fmt: skip

    store.ask("Where do I live?", composer=ModelComposer(Model(answer), Extractive()))
    found = {kept.body.scope and kept.body.scope.user_id: words_of(kept) for kept in maps(store)}
    assert found == {
        "maya": {"Porto"},
        "ben": {"Faro"},
        None: {"Porto", "Faro"},
    }  # None: beside the answer itself
    store.erase(user_id="ben")
    assert [words_of(kept) for kept in maps(store)] == [{"Porto"}]


def words_of(kept: Record) -> set[str]:
    assert isinstance(kept.body, EventBody)
    return {word for each in kept.body.data["exchanges"] for word in each.values()}


def test_an_answer_keeps_its_map_and_has_its_words(store: Store) -> None:
    setting(store, redacted_terms="Porto")
    store.append(HOME, user_id="maya", actor="user")

    def answer(told: str) -> str:
        assert "Porto" not in told
        cited = told.split('id="')[1].split('"', maxsplit=1)[0]
        sentence = {"text": "You live in WITHHELD_1.", "cites": [cited]}
        return json.dumps({"draft": "", "known": True, "sentences": [sentence]})

    found = asked(store, Model(answer))
    assert found.fallback is None, found
    assert "Porto" in found.text
    (kept,) = maps(store)
    assert isinstance(kept.body, EventBody)
    assert kept.body.data["exchanges"] == [{"WITHHELD_1": "Porto"}]


def test_a_program_keeps_its_map_too(store: Store) -> None:
    setting(store, redacted_terms="Porto")
    store.append(HOME, user_id="maya", actor="user")

    def answer(told: str) -> str:
        cited = told.split('id="')[1].split('"', maxsplit=1)[0]
        sentence = {"text": "You live in WITHHELD_1.", "cites": [cited]}
        return json.dumps({"draft": "", "known": True, "sentences": [sentence]})

    model = Model(answer)
    store.run_program("Where do I live?", user_id="maya", composer=ModelComposer(model, Extractive()))
    assert model.told
    assert "Porto" not in "".join(model.told)
    (kept,) = maps(store)
    assert isinstance(kept.body, EventBody)
    assert kept.body.data["operation"] == "program"
    assert {"WITHHELD_1": "Porto"} in kept.body.data["exchanges"]


def test_with_both_left_in_peace_jobs_wait_and_lose_no_attempt(store: Store, clock: Clock) -> None:
    for n in range(4):
        say(store, f"{HOME} {n}", session=f"s{n}")
    one, other = away(), away()
    done = work(store, clock, one, second=other, until_idle=False)
    assert (done.done, done.retried, done.released, done.dead) == (0, 3, 1, 0)
    assert (len(one.told), len(other.told)) == (3, 3)
    waiting = [job for job in store.jobs().jobs if job.state == "pending" and "model" in job.version]
    assert [job.attempts for job in waiting] == [0]


def test_what_fails_is_listed_too(store: Store, clock: Clock) -> None:
    say(store, HOME)
    work(store, clock, away(), until_idle=False)
    (call,) = outbound(store.session).newest(5)
    assert call.outcome == ChatError.reason
    assert call.tokens_in == call.bytes_out // 4 + 1  # it was shown, and may be billed


def test_the_breaker_of_a_model_that_is_not_allowed_stays_closed(store: Store, clock: Clock) -> None:
    class Talker(Model):
        capabilities: ClassVar[Capabilities] = Capabilities(extract=False)

    for n in range(5):
        say(store, f"{HOME} {n}", session=f"s{n}")
    work(store, clock, Talker(lambda _: FACT), second=knows())
    assert job_state(store.session).breakers["chat_small"].state().failures == 0


def test_only_what_is_worked_on_is_asked(store: Store, clock: Clock) -> None:
    assert EXTRACT == ("session-extraction",)
    say(store, HOME)
    work(store, clock)  # no model
    assert outbound(store.session).newest(5) == []


# -- what is seen of it ---------------------------------------------------------------------------


def test_an_operator_sees_models_budgets_and_what_left(store: Store, clock: Clock) -> None:
    setting(store, provider_second="ollama:m", tokens_small="1000", redacted_terms="Porto,Leeds")
    say(store, HOME, session="s1")
    say(store, HOME, session="s2")
    work(store, clock, knows(), until_idle=False)
    work(store, clock, away(), until_idle=False)
    seen = store.providers()
    assert [(one.role, one.named, one.breaker) for one in seen.providers] == [
        ("preferred", None, "closed"),
        ("second", "ollama:m", "closed"),
        ("larger", None, "closed"),
    ]
    assert seen.budgets is not None
    assert [(one.tier, one.spent, one.limit, one.percent) for one in seen.budgets] == [
        ("small", 240, 1000, 24),
        ("larger", 0, None, None),
    ]
    assert seen.today is not None
    assert [(one.model, one.calls, one.failed, one.tokens_in, one.tokens_out) for one in seen.today] == [
        ("small", 2, 0, 200, 40)
    ]
    assert (seen.local_only, seen.remote_hosts, seen.withheld_terms) == (True, (), 2)
    status = store.status()
    assert (status.providers, status.budgets) == (seen.providers, seen.budgets)
    assert [one.outcome for one in store.outbound_calls(limit=1)] == ["ok"]


def test_what_left_is_for_operators(store: Store) -> None:
    for ask in (store.providers, store.outbound_calls):
        with (
            asked_by(Caller(name="some", kind="agent", allowed=GRANTS["agent"])),
            pytest.raises(AccessDeniedError),
        ):
            ask()


def test_a_count_that_cant_be_read_is_said(store: Store) -> None:
    (store.path / "outbound.sqlite").mkdir()
    assert (store.providers().budgets, store.providers().today, store.status().budgets) == (None, None, None)
    with pytest.raises(OSError, match="can't be read"):
        store.outbound_calls()


# -- embedders ------------------------------------------------------------------------------------


class FarEmbedder:
    """An embedder that is not on this machine."""

    name, version, dimensions, remote = "far", "1", 4, True
    leaves, host, provider = True, FAR, "openai"

    def __init__(self) -> None:
        self.told: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.told += texts
        return np.ones((len(texts), 4), dtype=np.float32) / 2


def test_an_embedder_that_is_far_away_is_under_the_same_settings(tmp_path: Path, clock: Clock) -> None:
    embedder = FarEmbedder()
    with opened(tmp_path, clock, embedder=lambda: embedder) as store:
        store.append(f"{HOME} My key is {SECRET}.", user_id="maya")
        found = store.recall("Where do I live?", user_id="maya")
        assert embedder.told == []
        assert len(found.results) == 1  # by its words
        assert found.degraded
        setting(store, local_only="false", remote_hosts=FAR, redacted_terms="Porto")
        store.replay()
        store.recall("Who lives in Porto?", user_id="maya")
        assert embedder.told
        assert not [text for text in embedder.told if SECRET in text or "Porto" in text]
        calls = store.outbound_calls(limit=5)
        assert {(one.tier, one.operation, one.host, one.outcome) for one in calls} == {
            ("embedder", "embed", FAR, "ok")
        }
        assert sum(one.placeholders for one in calls) >= 1
        assert Budgets(store.session).of("small", clock()).spent == 0
