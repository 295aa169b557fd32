"""Questions taken apart: intent, names, times relative to a given now, events, persons; and questions that are none."""

import re
import time
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.recall.decompose import MAX_TERMS, decompose
from braid.recall.traits import TRAITS, traits
from braid.text.calendar import Span
from braid.text.dates import span
from braid.text.ranges import asked_time
from braid.text.words import MAX_QUERY_CHARS, words

NOW = datetime(2023, 6, 15, 12, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What happened last month?", "2023-05-01", "2023-06-01"),
        ("What did I say in May 2023?", "2023-05-01", "2023-06-01"),
        ("on 8 May, 2023", "2023-05-08", "2023-05-09"),
        ("on May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("who won two weeks ago", "2023-05-29", "2023-06-05"),
        ("yesterday", "2023-06-14", "2023-06-15"),
        ("the day before yesterday", "2023-06-13", "2023-06-14"),
        ("last Friday", "2023-06-09", "2023-06-10"),
        ("this week", "2023-06-12", "2023-06-19"),
        ("last weekend", "2023-06-10", "2023-06-12"),
        ("last summer", "2022-06-01", "2022-09-01"),
        ("in 2021", "2021-01-01", "2022-01-01"),
        ("in March", "2023-03-01", "2023-04-01"),
        ("in December", "2022-12-01", "2023-01-01"),
        ("since March", "2023-03-01", None),
        ("before 2022", None, "2022-01-01"),
        ("after 8 May 2023", "2023-05-09", None),
    ],
)
def test_times_relative_to_now(text: str, since: str | None, until: str | None) -> None:
    found = span(text, NOW)
    assert found is not None
    assert found.since == (day(since) if since else None)
    assert found.until == (day(until) if until else None)


def test_a_month_without_a_year_is_of_any_year() -> None:
    found = span("in March", NOW)
    assert found is not None
    assert (found.exact, found.month) == (False, 3)


@pytest.mark.parametrize(
    "text", ["What may have happened?", "I march on", "a quick question", "", "on 99 June 20233"]
)
def test_no_time_is_read_where_none_is_named(text: str) -> None:
    assert span(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What happened between March and May 2023?", "2023-03-01", "2023-06-01"),
        ("from March to May 2023", "2023-03-01", "2023-06-01"),
        ("March through May 2023", "2023-03-01", "2023-06-01"),
        ("in March–May 2023", "2023-03-01", "2023-06-01"),
        ("from November to February 2023", "2022-11-01", "2023-03-01"),
        ("from November 2021 to February", "2021-11-01", "2022-03-01"),
        ("from 3 March 2022 to 7 May 2023", "2022-03-03", "2023-05-08"),
        ("from 7 May 2023 to 3 March 2023", "2023-03-03", "2023-05-08"),
        ("from May 5 to May 9, 2023", "2023-05-05", "2023-05-10"),
        ("from May 5 to 9, 2023", "2023-05-05", "2023-05-10"),
        ("between the 3rd and the 7th of May 2023", "2023-05-03", "2023-05-08"),
        ("from 2023-05-03 to 2023-05-07", "2023-05-03", "2023-05-08"),
        ("since March until May 2022", "2022-03-01", "2022-06-01"),
        ("In 2021, what happened between March and May?", "2021-03-01", "2021-06-01"),
        ("between late March and early May in 2021", "2021-03-01", "2021-06-01"),
        ("Between 2019 and 2021 I lived where?", "2019-01-01", "2022-01-01"),
        ("Who called between 2020 and 2022?", "2020-01-01", "2023-01-01"),
        ("Where did Maya live from 2020 to May 2022?", "2020-01-01", "2022-06-01"),
        ("between spring and autumn 2022", "2022-03-01", "2022-12-01"),
        ("from the 1st quarter to the 3rd quarter of 2022", "2022-01-01", "2022-10-01"),
        ("Q2 2023", "2023-04-01", "2023-07-01"),
        ("in the second quarter of 2022", "2022-04-01", "2022-07-01"),
        ("2022 Q4", "2022-10-01", "2023-01-01"),
        ("before Q2 2022", None, "2022-04-01"),
        ("in the spring of 2023", "2023-03-01", "2023-06-01"),
        ("since summer 2022", "2022-06-01", None),
        ("in winter 2022/23", "2022-12-01", "2023-03-01"),
        ("Who came the week before last?", "2023-05-29", "2023-06-05"),
        ("the month before last", "2023-04-01", "2023-05-01"),
        ("the summer before last", "2021-06-01", "2021-09-01"),
        ("over the winter of 2022-2023", "2022-12-01", "2023-03-01"),
        ("2022 Q1 to Q3", "2022-01-01", "2022-10-01"),
        ("2022 Q1 to 2022 Q3", "2022-01-01", "2022-10-01"),
        ("the Q1 and Q2 2022 numbers", "2022-01-01", "2022-07-01"),
        ("in spring and summer 2022", "2022-03-01", "2022-09-01"),
        ("spring to fall 2022", "2022-03-01", "2022-12-01"),
        ("fall 2022", "2022-09-01", "2022-12-01"),
        ("the fall of 2022", "2022-09-01", "2022-12-01"),
        ("What did I read in Berlin summer 2022?", "2022-06-01", "2022-09-01"),
        ("Did the Q2 2022 numbers please Anna?", "2022-04-01", "2022-07-01"),
        ("12-14 May 2022", "2022-05-12", "2022-05-15"),
        ("from 3 - 8 May 2022", "2022-05-03", "2022-05-09"),
        ("3 - 8 May 2022", "2022-05-03", "2022-05-09"),
        ("What did we say last month about the trip from May 5 to May 9, 2021?", "2021-05-05", "2021-05-10"),
    ],
)
def test_a_range_is_read_at_both_ends(text: str, since: str | None, until: str | None) -> None:
    found = decompose(text, NOW).time
    assert found == Span(day(since) if since else None, day(until) if until else None)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("between March and May", "2023-03-01", "2023-06-01"),
        ("from November to February", "2022-11-01", "2023-03-01"),
        ("from the 10th to the 12th of July", "2022-07-10", "2022-07-13"),
    ],
)
def test_a_range_without_a_year_is_the_latest_and_not_exact(text: str, since: str, until: str) -> None:
    assert decompose(text, NOW).time == Span(day(since), day(until), exact=False)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("on 12-14 May", "2023-05-12", "2023-05-15"),
        ("What did we do May 5-9?", "2023-05-05", "2023-05-10"),
        ("on July 5–9", "2022-07-05", "2022-07-10"),
        ("in March-May", "2023-03-01", "2023-06-01"),
        ("during July–August, what did I read?", "2022-07-01", "2022-09-01"),
    ],
)
def test_a_dash_joins_ends_where_one_names_a_month(text: str, since: str, until: str) -> None:
    assert decompose(text, NOW).time == Span(day(since), day(until), exact=False)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What happened between March and May last year?", "2022-03-01", "2022-06-01"),
        ("Last year, what happened between March and May?", "2022-03-01", "2022-06-01"),
        ("from June to August of last year", "2022-06-01", "2022-09-01"),
        ("between May 5 and May 9 the previous year", "2022-05-05", "2022-05-10"),
        ("from May 5 to 9 last year", "2022-05-05", "2022-05-10"),
        ("from May to July this year", "2023-05-01", "2023-08-01"),
        ("from May to July next year", "2024-05-01", "2024-08-01"),
        ("between March and May two years ago", "2021-03-01", "2021-06-01"),
        ("between March and May, 3 years ago", "2020-03-01", "2020-06-01"),
        ("between March and May of the year before last", "2021-03-01", "2021-06-01"),
        ("The year before last, between March and May", "2021-03-01", "2021-06-01"),
        ("the year before last between March and May", "2021-03-01", "2021-06-01"),
    ],
)
def test_a_year_told_from_now_is_that_of_the_range_beside_it(text: str, since: str, until: str) -> None:
    assert decompose(text, NOW).time == Span(day(since), day(until))


@pytest.mark.parametrize(
    ("text", "since", "exact"),
    [
        ("What happened from May 2022 until now?", "2022-05-01", True),
        ("between March 2022 and today", "2022-03-01", True),
        ("from 2020 to the present", "2020-01-01", True),
        ("since the spring of 2022 until now", "2022-03-01", True),
        ("from August to today", "2022-08-01", False),
    ],
)
def test_a_range_may_end_now(text: str, since: str, exact: bool) -> None:
    assert decompose(text, NOW).time == Span(day(since), NOW, exact)


@pytest.mark.parametrize(
    "text",
    [
        "What did we decide last week about the Q2 2022 numbers?",
        "What did Anna say yesterday about the summer 2022 trip?",
        "What did I write on 2023-05-20 about Q3 2022?",
        "What did Tom say on Monday about the spring 2022 collection?",
        "my spring 2022 semester grades, which I told you last week",
        "What did we say yesterday about the May–June 2022 trip?",
        "What did we decide in May 2021 about the Q2 2022 numbers?",
        "What did we decide in May 2021 about the Q1 and Q2 2022 numbers?",
        "What did I pay for the Audi Q3 2021?",
    ],
)
def test_a_topic_that_sounds_like_a_time_displaces_no_time(text: str) -> None:
    assert decompose(text, NOW).time == span(text, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "Did Grandma fall in 2021?",
        "How much did prices fall in 2022?",
        "Did prices fall 2021 to 2022?",
        "How much did prices fall 2022?",
        "Who did Summer in 2022 marry?",
        "Did Autumn in 2022 call?",
    ],
)
def test_a_fall_and_a_name_are_no_season(text: str) -> None:
    assert decompose(text, NOW).time == span(text, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "between you and me",
        "from Paris to Rome",
        "a letter from May to me",
        "the letters from May to 2023 people",
        "between 1900 and 2000 calories",
        "between 1900 and 2000 Euros",
        "between 1900 and 2000 €",
        "between 1990 and 2000 Watts",
        "between 1990 and 2000 W",
        "from 2000 to 2010 USD",
        "Did the rent go up from 1950 to 2020 a month?",
        "session 3 - 8 May 2022",
        "Which iPhone 12 - 14 May 2022 deals were there?",
        "March-May",
        "between March and May of that year",
        "between March and May the year before last Christmas",
        "between March and May a few years ago",
        "In 2021 or, say, in 2022, between March and May?",
        "from November to February last year",
        "from 2030 until now",
        "from May 2022 to present the results",
        "from May 2022 to today's",
        "from 3 to 7 apples",
        "from spring to autumn",
        "the spring in the second quarter",
        "numbers 2021-2023",
        "the week before last Christmas",
        "between 30 and 31 February 2023",
    ],
)
def test_what_is_no_range_is_read_as_before(text: str) -> None:
    assert decompose(text, NOW).time == span(text, NOW)


@given(
    st.text(alphabet="0123", min_size=1, max_size=4),
    st.sampled_from(["", " May", " February 2023", "-02-31", " 9999", " quarter 2023"]),
    st.sampled_from([" to ", " and ", "-"]),
)
def test_no_range_is_too_strange(number: str, rest: str, join: str) -> None:
    for earliest in (datetime(1, 1, 1, tzinfo=UTC), NOW, datetime(9999, 12, 31, tzinfo=UTC)):
        decompose(f"between {number}{rest}{join}{rest}{number}, the year before last", earliest)


@pytest.mark.parametrize("hours", [-5, 5])
@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize(
    "text", ["Where do I live?", "yesterday", "from May to July", "the week before last"]
)
def test_the_ends_of_the_calendar_are_a_legal_now(text: str, year: int, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    for now in (datetime(year, 1, 1, tzinfo=zone), datetime(year, 12, 31, 23, 59, tzinfo=zone)):
        asked_time(text, now)


@pytest.mark.soak(first=True)
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "text",
    [
        "early ",
        "between 1 and early ",
        "last year 2022 to ",
        "fall 2022 ",
        "q1 and q2 2023 in may ",
        "on 5-9 may yesterday ",
        "spring of 2022-2023 last week ",
    ],
)
def test_reading_takes_time_in_proportion_to_the_text(text: str) -> None:
    def seconds(characters: int) -> float:
        began = time.process_time()
        asked_time((text * characters)[:characters], NOW)
        return time.process_time() - began

    assert seconds(100_000) < 8 * max(seconds(25_000), 0.05)  # four times as much, and not sixteen


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("When did Maya move?", "time"),
        ("How long did it take?", "duration"),
        ("How many cats?", "count"),
        ("Where is it?", "place"),
        ("Which city was it?", "place"),
        ("Who came?", "person"),
        ("Why did she go?", "reason"),
        ("How did he do it?", "manner"),
        ("Did she go?", "check"),
        ("the cat's name", "fact"),
    ],
)
def test_what_kind_of_answer_is_wanted(text: str, intent: str) -> None:
    assert decompose(text, NOW).intent == intent


def test_names_quotes_and_exclusions() -> None:
    question = decompose('What did Maya Santos say in "The Salt Atlas", other than the map?', NOW)
    assert question.entities == ("The Salt Atlas", "Maya Santos", "Salt Atlas")
    assert question.constraints == ("the map",)


def test_an_event_is_a_bound_to_be_found() -> None:
    assert decompose("What did we eat before we moved to Lisbon?", NOW).event == (
        "before",
        "we moved to Lisbon",
    )
    assert decompose("Who called after the party ended?", NOW).event == ("after", "the party ended")
    assert decompose("Who called?", NOW).event is None


def test_who_is_spoken_of() -> None:
    assert decompose("What is my cat called?", NOW).first_person
    assert decompose("What did you tell them?", NOW).second_person


def test_a_very_long_question_is_cut() -> None:
    question = decompose("wombat " * 20_000 + "x" * 100_000, NOW)
    assert len(question.text) <= MAX_QUERY_CHARS
    assert len(decompose(" ".join(f"w{n}" for n in range(9_999)), NOW).words) == MAX_TERMS


@given(st.text(max_size=300))
def test_any_text_is_a_legal_question(text: str) -> None:
    question = decompose(text, NOW)
    assert question.text.isprintable()
    assert len(question.words) <= MAX_TERMS


@given(st.binary(max_size=300))
def test_binary_is_a_legal_question(raw: bytes) -> None:
    decompose(raw.decode("latin-1"), NOW)


@given(
    st.from_regex(
        r"(in|last|on|since|before) [0-9]{1,4} (may|february|days|weeks) ?[0-9]{0,6}( ago)?", fullmatch=True
    )
)
def test_no_date_is_too_strange(text: str) -> None:
    span(text, NOW)


def test_what_is_worked_out_of_a_question_is_worked_out_once() -> None:
    asked = decompose("Which kayaks did the kayakers say they bought?", NOW)
    assert asked.stems is asked.stems
    assert asked.topic is asked.topic
    assert msgspec.structs.replace(asked, words=("rain",)).stems == ("rain",)


# -- the words of a turn, and what kind of thing it says -------------------------------------------------

SAID = st.text() | st.text(alphabet="aZb 1_'’é,?.ʼİ²٣", max_size=30)


@given(SAID)
def test_words_are_runs_of_letters_and_digits_without_what_follows_an_apostrophe(text: str) -> None:
    found = re.findall(r"[^\W_]+(?:['’][^\W\d_]+)?", text.lower())
    assert words(text) == [re.split("['’]", word)[0] for word in found]


@given(SAID)
def test_names_stand_amid_a_sentence_and_numbers_anywhere(text: str) -> None:
    told = dict(zip(TRAITS, traits(text, words(text)), strict=True))
    assert told["names"] == min(len(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", text)), 3) / 3
    assert told["numbers"] >= any(word.isdecimal() for word in words(text))
