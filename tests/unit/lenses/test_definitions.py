"""Lenses that a person defines: what they keep, what is refused, and how their views stand in the log."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import braid
from braid.agent.program.plan import AnswerStep, LensStep, Plan, Retrieve, Step
from braid.ledger.record.record import Claim, Draft, EventBody, ViewBody
from braid.lenses.definition import lens_of, parse
from braid.lenses.errors import DefinitionError, UnknownLensError
from braid.lenses.form import joined, raw
from braid.store import Store
from tests.unit.lenses.sayings import BEGUN, claiming, entry, look

DEPLOYS = """
name = "deploys"
version = "1"
about = "what is said of deployments"

[sentences]
any = ["deploy*", "roll back"]
none = ["bakery"]
questions = false
"""
NEXT = DEPLOYS.replace('version = "1"', 'version = "2"').replace('"roll back"', '"roll back", "release*"')


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def kept(definition: str, *texts: str) -> list[str]:
    lens = lens_of(parse(definition))
    form = look(lens, [entry(at, text) for at, text in enumerate(texts)])
    return [form.items[key].text for key in lens.order(form)]


def test_words_and_phrases_are_found_whole_in_any_case_and_with_an_open_end() -> None:
    found = kept(
        DEPLOYS,
        "The DEPLOYMENT took an hour. We had tea.",
        "We must roll back.",
        "Redeploy it.",
        "Deploys of the bakery are on Friday.",
        "Who deploys today?",
    )
    assert found == ["Maya: The DEPLOYMENT took an hour.", "Maya: We must roll back."]


def test_what_is_no_word_finds_itself_and_nothing_is_a_pattern() -> None:
    one = 'name="x"\nversion="1"\nabout="x"\n[sentences]\nany=["c++", "a.c", "force-push"]'
    assert kept(one, "I write C++ here.", "abc", "Never force-push.", "a.c is a file") == [
        "Maya: I write C++ here.", "Maya: Never force-push.", "Maya: a.c is a file",
    ]  # fmt: skip


def test_all_of_some_words_and_the_newest_first() -> None:
    one = 'name="x"\nversion=3\nabout="x"\nnewest_first=true\n[sentences]\nall=["red", "door"]'
    assert kept(one, "The red door.", "A red car.", "That door is red.") == [
        "Maya: That door is red.", "Maya: The red door.",
    ]  # fmt: skip


def test_claims_are_kept_by_relation_and_without_either_every_record_is() -> None:
    homes = parse('name="homes"\nversion="1"\nabout="x"\n[claims]\nrels=["lives_in"]')
    said = [
        claiming(0, Claim(subject="Maya", rel="lives_in", object="Porto")),
        claiming(1, Claim(subject="Maya", rel="likes", object="tea")),
    ]
    form = look(lens_of(homes), said)
    assert [item.text for item in form.items.values()] == ["Maya: Maya lives_in Porto"]
    assert set(form.weights) == {0}
    assert kept('name="all"\nversion="1"\nabout="x"', "One. Two.") == ["Maya: One. Two."]


def test_however_the_records_are_cut_the_view_is_the_same() -> None:
    lens = lens_of(parse(DEPLOYS))
    entries = [entry(at, text) for at, text in enumerate(["Deploy it.", "Tea.", "Roll back! Deploy again."])]
    first = lens.fold(raw(range(1)), entries[:1], {})
    assert lens.fold(joined(first, raw(range(1, 3))), entries[1:], {}) == look(lens, entries)


def test_records_are_chosen_by_type_actor_speaker_and_day(store: Store) -> None:
    day = datetime(2025, 3, 3, 23, tzinfo=UTC)
    for name, actor, when in (
        ("Maya", "user", day), ("Owen", "user", day), ("Maya", "user", day.replace(day=4)), ("Maya", "tool(x)", day),
    ):  # fmt: skip
        store.append("We deploy.", actor=actor, name=name, occurred_at=when)
    store.append("We deploy.", actor="tool(x)", name="maya", occurred_at=day)
    store.define_lens(
        'name="one"\nversion="1"\nabout="x"\n[records]\nactors=["user"]\nspeakers=["maya"]\nsince=2025-03-03\n'
        "until=2025-03-04"
    )
    assert store.apply_lens("one").records == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("any =", "words ="), r"\[sentences\] has no member 'words'"),
        (("none =", "non ="), "did you mean 'none'"),
        (('about = "what is said of deployments"\n', ""), "missing required field `about`"),
        (("[sentences]", 'sql = "DELETE FROM records"\n[sentences]'), "has no member 'sql'"),
        (("[sentences]", "[sentences"), "is not TOML"),
        (('"deploys"', '"De ploys"'), "a lens's name is a small letter"),
        (('version = "1"', 'version = "one"'), "a version is a number"),
        (('version = "1"', "version = 1.5"), "Expected `str`, got `float`"),
        (('"deploy*", "roll back"', ""), "names in `any` or `all`"),
        (('"deploy*"', '"dep*loy"'), "at the end of a word alone"),
        (('"deploy*"', '"*"'), "text of 1 to 200"),
        (('"deploy*"', "3"), "Expected `str`, got `int`"),
        (('"deploy*"', ", ".join(['"x"'] * 200)), "at most 200"),
        (("[sentences]", '[records]\ntypes=["dream"]\n[sentences]'), "`types` has no 'dream'"),
        (("[sentences]", '[records]\nactors=["god"]\n[sentences]'), "`actors` has no 'god'"),
        (("[sentences]", "[records]\nsince=2025-03-03\nuntil=2025-03-03\n[sentences]"), "no day between"),
        (("[sentences]", "[claims]\n[sentences]"), "names subjects, rels or objects"),
        (("[sentences]", f"# {'x' * 70_000}\n[sentences]"), "at most 64 KiB"),
        (('"deploys"', '"policy"'), "the name of an installed lens"),
    ],
)
def test_what_can_not_be_a_lens_is_refused_and_nothing_is_written(
    store: Store, change: tuple[str, str], why: str
) -> None:
    size = len(store)
    with pytest.raises(DefinitionError, match=why):
        store.define_lens(DEPLOYS.replace(*change))
    assert len(store) == size


def test_a_definition_is_a_signed_record_and_the_same_again_writes_nothing(store: Store) -> None:
    id = store.define_lens(DEPLOYS)
    assert store.get(id).kind == "event"
    size = len(store)
    assert store.define_lens(DEPLOYS) == id
    assert len(store) == size
    assert [one.defined_by for one in store.lenses().lenses if one.name == "deploys"] == [id]


@pytest.mark.parametrize("version", ["1", "0", "0.9"])
def test_a_version_that_goes_back_or_says_something_else_is_refused(store: Store, version: str) -> None:
    store.define_lens(DEPLOYS)
    other = NEXT.replace('version = "2"', f'version = "{version}"')
    with pytest.raises(DefinitionError, match="is defined in version 1 already; a change needs a version"):
        store.define_lens(other)


def test_its_views_are_kept_listed_found_stale_made_anew_and_rederived(store: Store) -> None:
    defined = store.define_lens(DEPLOYS)
    one = store.append("We deploy on Monday.")
    store.append("We had tea.")
    view = store.apply_lens("deploys")
    assert (view.version, list(view.weights)) == ("1", [one])
    assert [link.id for link in store.get(view.id).targets("evidence")][-2] == defined
    assert store.verify(rederive=True).findings == []
    assert "1 views" in store.verify(rederive=True).checked[-1]
    two = store.append("Deployment is done.")
    assert store.lens_standings()[0].stale == ("1 more record in its scope",)
    store.refresh_lenses()
    store.define_lens(NEXT)
    (standing,) = store.lens_standings()
    assert (standing.version, standing.stale) == ("2", ("not applied yet in version 2",))
    three = store.append("The release is out.")
    (again,) = store.refresh_lenses()
    assert list(again.weights) == [one, two, three]
    assert store.lens_standings()[0].stale == ()
    assert store.verify(rederive=True).findings == []
    assert [row.version for row in store.lens_views()] == ["1", "1", "2"]
    assert store.lens_view(view.id).items == view.items
    assert store.apply_lens("deploys", version="1").version == "1"


def test_a_view_that_its_definition_never_gave_is_a_finding(store: Store) -> None:
    store.define_lens(DEPLOYS)
    store.append("We deploy.")
    view = store.get(store.apply_lens("deploys").id)
    other = store.define_lens(NEXT)
    links = [(link.role, link.id) for link in view.links]
    links[-2] = ("evidence", other)
    body = view.body
    assert isinstance(body, ViewBody)
    store.session.append_drafts(
        [Draft(kind="view", body=msgspec.structs.replace(body, once="x"), links=links)]
    )
    (finding,) = store.verify(rederive=True).findings
    assert "names the definition of deploys 2" in finding.message


def test_a_definition_that_is_forgotten_is_none_and_one_that_is_erased_takes_its_views(store: Store) -> None:
    id = store.define_lens(DEPLOYS)
    store.append("We deploy.")
    view = store.apply_lens("deploys")
    store.forget(id)
    with pytest.raises(UnknownLensError, match="no lens 'deploys'"):
        store.apply_lens("deploys")
    assert "no lens 'deploys'" in store.lens_standings()[0].stale[0]
    store.recover(id)
    assert store.apply_lens("deploys").id == view.id
    store.erase(id)
    with pytest.raises(UnknownLensError):
        store.apply_lens("deploys")
    assert store.lens_views() == ()


def test_recall_and_ask_look_through_it(store: Store) -> None:
    store.define_lens(DEPLOYS)
    store.append("The deploy of the shop takes four minutes.", occurred_at=BEGUN)
    store.append("The tea of the shop takes three minutes.", occurred_at=BEGUN)
    found = store.recall("How long does the shop take?", lens="deploys").results
    assert [hit.text for hit in found] == ["The deploy of the shop takes four minutes."]
    answer = store.ask("How long does the deploy of the shop take?", lens="deploys", write=False)
    assert "four minutes" in answer.text
    with pytest.raises(UnknownLensError, match="there are: causal"):
        store.recall("x", lens="nothing")


def test_an_event_of_that_name_that_is_no_definition_is_passed_over(store: Store) -> None:
    store.session.append_drafts(
        [Draft(kind="event", body=EventBody(name="lens_definition", data={"name": "x"}))]
    )
    assert all(one.defined_by is None for one in store.lenses().lenses)


def test_a_plan_may_look_through_it(store: Store) -> None:
    store.define_lens(DEPLOYS)
    store.append("The deploy of the shop takes four minutes.", occurred_at=BEGUN)
    store.append("The tea of the shop takes three minutes.", occurred_at=BEGUN)
    steps: list[Step] = [
        Retrieve(name="found", query="{question}"),
        LensStep(name="seen", lens="deploys", of="found"),
        AnswerStep(name="said", of=["seen"]),
    ]
    done = store.run_program("How long does the deploy of the shop take?", plan=Plan(steps=steps))
    assert len(done.state.values["seen"].records) == 1
    assert done.answer is not None
    assert "four minutes" in done.answer.text
