"""What each lens sees, in small conversations whose meaning is plain."""

from datetime import date

import pytest

from braid.ledger.record.record import Claim
from braid.lenses.causal import reason
from braid.lenses.entity import names
from braid.lenses.form import Form
from braid.lenses.lens import SHOWN_LINES, checked_params, lines
from braid.lenses.registry import by_name
from braid.text.dates import iso_dates
from tests.unit.lenses.sayings import claiming, entry, look

SAID = date(2025, 5, 14)  # a Wednesday


def told(name: str, form: Form) -> list[str]:
    """What a lens shows, line by line."""
    lens = by_name(name)
    return [form.items[key].text for key in lens.order(form)]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("We moved yesterday.", ["2025-05-13"]),
        ("The van is booked for 17 May.", ["2025-05-17"]),
        ("She was born on the 3rd of January 1990.", ["1990-01-03"]),
        ("Due September 3, back by 1 October.", ["2025-09-03", "2025-10-01"]),
        ("Happy new year! See you on 2 January.", ["2025-01-02"]),
        ("I left Fernhill in June 2024.", ["2024-06"]),
        ("We met in 2019.", ["2019"]),
        ("It broke two weeks ago.", ["2025-04-30"]),
        ("In 3 days we leave.", ["2025-05-17"]),
        ("Last Friday he called, next Monday he comes.", ["2025-05-09", "2025-05-19"]),
        ("Last month was hard, next year is better.", ["2025-04", "2026"]),
        ("Paid on 2025-02-28.", ["2025-02-28"]),
        ("On 31 February pigs fly.", []),
        ("It may rain, and March on.", []),
        ("I have 1200 records.", []),
    ],
)
def test_days_are_placed_by_the_day_on_which_they_are_named(sentence: str, found: list[str]) -> None:
    assert iso_dates(sentence, SAID) == found


def test_a_timeline_stands_in_the_order_of_what_happened() -> None:
    form = look(
        by_name("temporal"),
        [
            entry(0, "The lease of the flat ends on 30 April, we'll be gone by then."),
            entry(1, "ok"),
            entry(2, "Two weeks ago the boiler broke, and nobody came."),
            entry(3, "The neighbours downstairs practise the trombone at night."),
        ],
    )
    view = [form.items[key] for key in by_name("temporal").order(form)]
    assert [(item.at, item.places[0]) for item in view] == [
        ("2025-02-19", 2),
        ("2025-03-06", 3),
        ("2025-04-30", 0),
    ]
    assert by_name("temporal").ranking(form) == [2, 3, 0]
    assert 1 not in form.weights


def test_a_timeline_of_named_days_alone_leaves_out_the_rest() -> None:
    entries = [entry(0, "The neighbours practise the trombone."), entry(1, "They moved in on 1 March.")]
    assert set(look(by_name("temporal"), entries, named_only=True).weights) == {1}


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("You must ask before you book anything.", "must"),
        ("Never call me before nine.", "never"),
        ("Please don't send full account numbers here.", "never"),
        ("Always reply in English.", "always"),
        ("From now on, invoices go to books@nettle.example.", "from now on"),
        ("I'll never sign that again, I promise.", "never"),
        ("I promise that it will be there on Friday.", "promise"),
        ("You no longer have to send the tracking page.", "ends"),
        ("Make sure that the door is locked.", "must"),
        ("House rule: never force-push to main", "never"),
        ("Reminder to all: don't park in the yard.", "never"),
        ("Rule 3: shoes off at the door.", "must"),
        ("Team policy – deploys need two reviews.", "must"),
        ("- Never push on a Friday", "never"),
        ("2. Always run the tests first.", "always"),
        ("Note: the bakery never opens before nine.", None),
        ("Rule of thumb: two cups of water.", None),
        ("The story so far: never had we seen such rain.", None),
        ("House rule: any pets?", None),
        ("Do I have to? Must I really?", None),
        ("They must have clicked on the link.", None),
        ("I've never been to Ghent.", None),
        ("Rent is always tight.", None),
        ("Don't worry, you have time.", None),
    ],
)
def test_rules_are_told_from_talk(text: str, force: str | None) -> None:
    form = look(by_name("policy"), [entry(0, text)])
    assert [item.data["force"] for item in form.items.values()] == ([force] if force else [])
    assert set(form.weights) == ({0} if force else set())


def test_what_is_said_last_of_a_thing_is_the_preference() -> None:
    form = look(
        by_name("preference"),
        [
            entry(0, "I love green tea."),
            entry(1, "I don't like green tea any more."),
            entry(2, "I love green tea.", "Owen"),
            entry(3, "My favourite colour is blue."),
            entry(4, "I'd rather have coffee than beer."),
            entry(5, "Would you like some cake?"),
            entry(6, "I like her already."),
        ],
    )
    maya = form.items["maya/green tea"]
    assert (maya.data["polarity"], maya.data["before"], maya.places) == ("dislikes", "likes", (0, 1))
    assert form.items["owen/green tea"].data["polarity"] == "likes"
    assert form.items["maya/blue"].data["verb"] == "favourite"
    assert {5, 6}.isdisjoint(form.weights)


def test_a_preference_ends_when_its_change_is_said() -> None:
    said = ["I love green tea.", "I love green tea.", "I don't like green tea any more."]
    entries = [entry(place, text) for place, text in enumerate(said)]
    item = look(by_name("preference"), entries).items["maya/green tea"]
    day = entries[2].at.date().isoformat()
    assert day != entries[1].at.date().isoformat()
    assert (item.data["before"], item.data["until"]) == ("likes", day)
    assert f"(until {day}: likes)" in item.text


def test_claims_that_were_read_are_preferences_too() -> None:
    liked = Claim(subject="Maya", rel="likes", object="green tea")
    form = look(
        by_name("preference"),
        [claiming(0, liked), claiming(1, Claim(subject="Maya", rel="owns", object="tea"))],
    )
    assert form.items["maya/green tea"].data["polarity"] == "likes"
    assert set(form.weights) == {0}


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("I met Ana Moreira in Porto.", ["Ana Moreira", "Porto"]),
        ("Duarte's cot is done.", ["Duarte"]),
        ("Hello Owen!", ["Owen"]),
        ("Then we went home.", []),
        ("On Monday it rained.", []),
        ("The Bank of Ghent wrote.", ["Bank of Ghent"]),
        ("Biscuit has claimed four of them.", ["Biscuit"]),
        ("Lovely.", []),
    ],
)
def test_names_are_told_from_words_that_open_a_sentence(sentence: str, found: list[str]) -> None:
    assert list(names(sentence)) == found


def test_what_is_known_of_a_name_is_gathered() -> None:
    form = look(
        by_name("entity"),
        [
            entry(0, "My brother Duarte builds boats in the harbour."),
            entry(1, "Nothing new here."),
            entry(2, "Yesterday Duarte sold one to Ana."),
        ],
    )
    duarte = form.items["duarte"]
    assert (duarte.data["mentions"], duarte.places) == (2, (0, 2))
    assert "builds boats" in duarte.text
    assert form.items["ana"].text == ""  # once only: held, not shown
    assert set(form.weights) == {0, 2}


@pytest.mark.parametrize(
    ("sentence", "pair"),
    [
        ("I moved because the rent was too high.", ("the rent was too high", "I moved")),
        ("Because the bus was cancelled, we walked home.", ("the bus was cancelled", "we walked home")),
        ("The boiler broke, so we slept at my sister's.", ("The boiler broke", "we slept at my sister's")),
        ("The plaster came off, which is why I can write.", ("The plaster came off", "I can write")),
        ("Is it because of the rent?", None),
        ("It was so cold.", None),
    ],
)
def test_reasons_are_read(sentence: str, pair: tuple[str, str] | None) -> None:
    assert reason(sentence) == pair


def test_causes_are_joined_into_chains() -> None:
    lens = by_name("causal")
    form = look(
        lens,
        [
            entry(0, "The old boiler broke on Sunday, so we had no hot water."),
            entry(1, "It rained."),
            entry(2, "I missed the train because we had no hot water."),
            entry(3, "Boilers don't last here.", type="inference", links=(("parent", 0), ("parent", 1))),
        ],
    )
    shown = lens.render(form, lens.params).splitlines()
    assert any("boiler broke on Sunday → we had no hot water → I missed the train" in line for line in shown)
    assert len(shown) == 2
    assert form.items["0000003/link"].places == (0, 1, 3)
    assert set(form.weights) == {0, 1, 2, 3}  # 1 gives no reason, but something rests on it


def test_a_summary_says_what_the_others_say_too() -> None:
    lens = by_name("summary")
    about_boats = [entry(at, f"The boat needs a new mast before race number {at}.") for at in range(6)]
    form = look(lens, [*about_boats, entry(6, "My aunt collects porcelain frogs from Limoges.")])
    first = lens.render(form, {"sentences": 1})
    assert "boat" in first
    assert len(first.splitlines()) == 1


LIVES = Claim(subject="Maya", rel="lives_in", object="Leeds")
MOVED = Claim(subject="Maya", rel="lives_in", object="Porto")


def test_claims_that_exclude_each_other_are_found_with_the_one_that_gives_way() -> None:
    form = look(
        by_name("contradiction"),
        [
            claiming(0, LIVES),
            claiming(1, Claim(subject="Maya", rel="likes", object="tea")),
            claiming(2, MOVED),
        ],
    )
    (line,) = told("contradiction", form)
    assert "Leeds" in line
    assert "the first gives way (newer" in line
    assert set(form.weights) == {0, 2}


def test_what_holds_is_weighed() -> None:
    form = look(by_name("stance"), [claiming(0, LIVES), claiming(1, MOVED)])
    (line,) = told("stance", form)
    assert "Porto" in line
    assert form.weights[1] > form.weights[0]


def test_a_long_view_is_told_in_part() -> None:
    form = look(by_name("policy"), [entry(at, f"You must pay bill {at}.") for at in range(100)])
    shown = by_name("policy").render(form, {}).splitlines()
    assert len(shown) == SHOWN_LINES + 1
    assert shown[-1] == "… and 40 more"
    assert lines([]) == ""


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"length": 3}, ValueError, "has no parameter 'length'; it has: sentences"),
        ({"sentences": "3"}, TypeError, "sentences of the lens summary is int, not str"),
    ],
)
def test_parameters_that_a_lens_does_not_have_are_refused(
    given: dict[str, object], error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        checked_params(by_name("summary"), given)
