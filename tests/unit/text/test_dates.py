"""Times that words name, relative to a given now. What one of the readers of old read, and another didn't, is here."""

from datetime import UTC, datetime

import pytest

from braid.text.calendar import SEASONS
from braid.text.dates import Partial, ahead, day, iso_dates, partial, span, times
from braid.text.meanings import HOLIDAYS, NEAR, Lean

NOW = datetime(2023, 6, 15, 12, tzinfo=UTC)  # a Thursday
SAID = datetime(2025, 5, 14, tzinfo=UTC).date()  # a Wednesday


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("this morning", "2023-06-15", "2023-06-16"),
        ("just now", "2023-06-15", "2023-06-16"),
        ("a couple of weekends ago", "2023-06-03", "2023-06-05"),
        ("two weekends ago", "2023-06-03", "2023-06-05"),
        ("twenty-two days ago", "2023-05-24", "2023-05-25"),
        ("eleven months ago", "2022-07-01", "2022-08-01"),
        ("a dozen years ago", "2011-01-01", "2012-01-01"),
        ("last Fri I went", "2023-06-09", "2023-06-10"),
        ("on Sun, late", "2023-06-11", "2023-06-12"),
        ("May 8,2023", "2023-05-08", "2023-05-09"),
        ("8  May 2023", "2023-05-08", "2023-05-09"),
        ("on May the 8th, 2023", "2023-05-08", "2023-05-09"),
        ("5 May 1066", "1066-05-05", "1066-05-06"),
        ("on 3 Sept", "2022-09-03", "2022-09-04"),
        ("on 29 February", "2020-02-29", "2020-03-01"),
        ("in March, not next March", "2023-03-01", "2023-04-01"),
    ],
)
def test_a_past_time(text: str, since: str, until: str) -> None:
    found = span(text, NOW)
    assert found is not None
    assert (found.since, found.until) == (at(since), at(until))


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow", "next week", "next Friday", "coming weekend", "in three days", "next March", "on June",
        "2.5 years ago", "half a year ago", "1,500 days ago", "on May 8:30", "on May 5,000 people", "this may be",
        "how long I last sat down", "some advice on sun protection", "at 8\nMay I ask", "We sat in the sun",
    ],
)  # fmt: skip
def test_no_past_time(text: str) -> None:
    assert span(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("tomorrow", "2023-06-16"),
        ("the day after tomorrow", "2023-06-17"),
        ("next week", "2023-06-19"),
        ("next weekend", "2023-06-17"),
        ("Friday", "2023-06-16"),
        ("this Thursday", "2023-06-15"),
        ("on Thursday", "2023-06-22"),
        ("coming Monday", "2023-06-19"),
        ("in a couple of weeks", "2023-06-29"),
        ("in twelve days", "2023-06-27"),
        ("in a year's time", "2024-06-15"),
        ("by March", "2024-03-01"),
        ("next June", "2024-06-01"),
        ("in 2027", "2027-01-01"),
        ("next summer", "2024-06-01"),
        ("on 29 February", "2024-02-29"),
        ("I told you tomorrow, not next week", "2023-06-16"),
        ("see you on the 3rd", "2023-07-03"),
    ],
)
def test_a_time_to_come(text: str, since: str) -> None:
    found = ahead(text, NOW)
    assert found is not None
    assert found.since == at(since)


@pytest.mark.parametrize(
    "text", ["last Friday", "yesterday", "last week", "in 2019", "this may be", "two days ago"]
)
def test_what_is_past_is_nothing_to_come(text: str) -> None:
    assert ahead(text, NOW) is None


def test_on_a_sunday_the_weekend_is_this_one() -> None:
    sunday = at("2023-06-18")
    this, following = ahead("this weekend", sunday), ahead("next weekend", sunday)
    assert this is not None
    assert following is not None
    assert (this.since, following.since) == (at("2023-06-17"), at("2023-06-24"))


@pytest.mark.parametrize(
    ("text", "lean", "since"),
    [
        ("8 May", "past", "2023-05-08"),
        ("8 May", "ahead", "2024-05-08"),
        ("8 May", "near", "2023-05-08"),
        ("1 December", "near", "2023-12-01"),
        ("1 December", "past", "2022-12-01"),
        ("the 14th", "past", "2023-06-14"),
        ("the 14th", "ahead", "2023-07-14"),
        ("Friday the 13th", "near", "2023-06-13"),
        ("29 February", "near", "2024-02-29"),
    ],
)
def test_a_day_without_a_year_lies_where_it_leans(text: str, lean: Lean, since: str) -> None:
    found = day(text, NOW, lean)
    assert found is not None
    assert found.since == at(since)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It was fixed this afternoon.", ["2025-05-14"]),
        ("Back on 3 Sept, or Sept. 5.", ["2025-09-03", "2025-09-05"]),
        ("She came twenty days ago.", ["2025-04-24"]),
        ("In late 2021 we left.", ["2021"]),
        ("The previous month was dull.", ["2025-04"]),
        ("The past Friday, the coming Monday.", ["2025-05-09", "2025-05-19"]),
        ("On May 5,000 people came.", []),
        ("A few days ago, on Friday, last weekend, last summer.", []),
        ("An hour ago.", []),
        ("On 31 February pigs fly.", []),
    ],
)
def test_what_is_placed_to_a_day_a_month_or_a_year(sentence: str, found: list[str]) -> None:
    assert iso_dates(sentence, SAID) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2025-06-21", Partial(2025, 6, 21)),
        ("on 21st of June, 2025", Partial(2025, 6, 21)),
        ("June the 21st, 2025", Partial(2025, 6, 21)),
        ("21 June", Partial(None, 6, 21)),
        ("Sept. 21", Partial(None, 9, 21)),
        ("June 2025", Partial(2025, 6, None)),
        ("2025-13-40", None),
        ("a janitor 5 years old", None),
        ("next Friday", None),
    ],
)
def test_as_much_of_a_date_as_is_said(text: str, found: Partial | None) -> None:
    assert partial(text) == found


def test_a_day_of_the_month_in_words_and_what_is_only_counted() -> None:
    found = day("monday the sixteenth", datetime(2026, 3, 1, 9, tzinfo=UTC), "ahead")
    assert found is not None
    assert found.since == at("2026-03-16")
    for text in ("in the 4th quarter", "on the 4th floor", "for the 3rd time"):
        assert day(text, NOW, "past") is None


MONDAY = at("2026-10-05")


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("on the first Monday in December", "2026-12-07"),
        ("the last Friday of next month", "2026-11-27"),
        ("the second Saturday in September 2027", "2027-09-11"),
        ("a week on Tuesday", "2026-10-13"),
        ("Thursday week", "2026-10-15"),
        ("a fortnight on Friday", "2026-10-23"),
        ("a week today", "2026-10-12"),
        ("Tuesday next week", "2026-10-13"),
        ("next week, on Tuesday", "2026-10-13"),
        ("next Tuesday, not this one", "2026-10-13"),
        ("next Monday", "2026-10-12"),
        ("the Saturday after 19 November", "2026-11-21"),
        ("the day before 14 May", "2027-05-13"),
        ("on Christmas Eve", "2026-12-24"),
        ("on New Year’s Day", "2027-01-01"),
        ("the twenty-first of October", "2026-10-21"),
        ("on Tuesday 10 November", "2026-11-10"),
    ],
)
def test_words_that_name_a_day_together(text: str, since: str) -> None:
    found = ahead(text, MONDAY)
    assert found is not None
    assert found.since == at(since)


@pytest.mark.parametrize(
    "text",
    [
        "next Tuesday", "the Saturday after", "on the Friday after Easter", "on Easter Sunday", "every Sunday",
        "every first Sunday", "the second Tuesday of the holidays", "the first Monday of the month", "on a Thursday",
        "in the week of 9 November", "the Friday after next", "the fifth Monday in February 2027",
        "a couple of weeks after 5 December",
    ],
)  # fmt: skip
def test_words_that_name_no_day_for_certain(text: str) -> None:
    assert ahead(text, MONDAY) is None


def test_a_day_beside_the_only_one_that_its_sentence_names() -> None:
    said = MONDAY.date()
    assert iso_dates("Born on 19 November, a Thursday, we meet the Saturday after.", said) == [
        "2026-11-19",
        "2026-11-21",
    ]
    assert iso_dates("It's on 3 November and he comes two days later.", said) == ["2026-11-03", "2026-11-05"]
    assert iso_dates("It's on 3 or 4 November, or on 9 November, and he comes the day after.", said) == [
        "2026-11-04",
        "2026-11-09",
    ]
    assert iso_dates("It's on 3 November. He comes the day after.", said) == ["2026-11-03"]


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("the release moved to Tuesday the 17th", "2026-03-04", "2026-03-17"),
        ("the release moved to Tuesday 17th", "2026-03-04", "2026-03-17"),
        ("it is on Friday, the 1st", "2026-03-04", "2026-05-01"),
        ("see you Monday the 2nd", "2026-03-04", "2026-03-02"),
        ("the clinic on Tuesday the 3rd quarter report", "2026-03-04", "2026-03-10"),
        ("Wednesday the 17th", "2026-03-04", "2026-06-17"),
        ("Friday the 9th of May", "2025-04-01", "2025-05-09"),
    ],
)
def test_the_number_of_a_weekday_says_which(text: str, said: str, day: str) -> None:
    found = next(times(text, at(said), "ahead"))
    assert found.iso == day


@pytest.mark.parametrize(
    "text", [*NEAR, *HOLIDAYS, *(f"last {season}" for season in SEASONS), "in two fortnights"]
)
def test_a_text_of_a_single_word_of_time_is_looked_at(text: str) -> None:
    assert any(list(times(text, NOW, lean)) for lean in ("past", "near", "ahead"))


def test_a_text_without_such_a_word_names_no_time() -> None:
    assert list(times("We painted the hall with Priya, and it looks great.", NOW)) == []
