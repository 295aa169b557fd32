"""Which time of a sentence answers: what holds, not what it was moved from; no year that nobody has said."""

from datetime import UTC, datetime

import pytest

from braid.agent.answer.turn.moments import during, time_of
from braid.recall.decompose import decompose

SAID = datetime(2026, 6, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "sentence", "answer"),
    [
        ("When is the meeting?", "meeting moved from 9:30 to 10:15", "10:15"),
        ("What time is the meeting?", "It runs from 9:30 to 10:15", "9:30 to 10:15"),
        ("What time was it?", "on Wednesday the 10th, at 10 - sorry, at 11, ten is gone", "at 11"),
        ("what time is the dentist", "dentist is Tuesday 10 March at half past eight", "half past eight"),
        ("What time is the swimming?", "swimming is on Fridays at four", "at four"),
        ("What time does it start?", "on Monday, three thirty, in the gym", "three thirty"),
        ("What time of the year do we go?", "we go in May 2027", "May 2027"),
        ("What time is the call?", "it's at one of the offices on Tuesday", None),
        ("When does my holiday end?", "our holiday is from 3 to 17 August", "17 August 2026"),
        ("When does my holiday start?", "our holiday is from 3 to 17 August", "3 August 2026"),
        ("When is my holiday?", "our holiday is from 3 to 17 August", "3 August 2026 to 17 August 2026"),
        ("when do I fly back", "Flying to Tallinn on June 11, back on June 18", "18 June 2026"),
        ("what day is the film", "the film is at 8.15", None),
        ("When does the fair end?", "the fair runs July 12-14", "14 July 2026"),
        ("When am I coming?", "can't come this Sunday, coming Saturday instead", "6 June 2026"),
        ("When do we go?", "we go on the 5th not the 4th", "the 5th"),
        (
            "When does v3 ship?",
            "v3 ships on 5 March instead of 16 March, he is away from 9 to 20 March",
            "5 March 2027",
        ),
        ("When was the review?", "the review was on Monday 25 May", "25 May 2026"),
        ("When is the essay due?", "essay is due 1 december, 2500 words", "1 December 2026"),
        ("When was it due?", "it was due 1 December, 2024", "1 December 2024"),
        ("When is the conference?", "conference is 14-18 sept", "14 September 2026 to 18 September 2026"),
        ("When does Shell get married?", "Shell gets married on 8 april", "8 April 2027"),
        ("When does she get married?", "my cousin is getting married on 9 april", "9 April 2027"),
        ("When did they get married?", "they got married on 9 april", "9 April 2026"),
        ("When did nan die?", "nan died on 30 November", "30 November 2025"),
        ("When was the party?", "we held the party on 20 December", "20 December 2025"),
        ("When is the party?", "the party is held on 20 December", "20 December 2026"),
        ("When is my birthday?", "my birthday is 3 March", "3 March"),
        ("When was my wife born?", "my wife was born on 3 March", "3 March"),
        ("When was my wife born?", "my wife was born on 3 March 1981", "3 March 1981"),
        ("When does he want it?", "He wants it by 1 April", "1 April 2027"),
        ("When did he want it?", "He wanted it by 1 April", "1 April 2026"),
        ("When was that?", "we flew last month", "May 2026"),
        ("When does 3.2 ship?", "we postponed 3.2 to 13 August", "13 August 2026"),
        ("When is it?", "somewhere nice", None),
        ("When is rowing?", "Saturdays 15:00 till the end of September, the weir is shut", "Saturdays 15:00"),
        ("Until when is rowing?", "Saturdays 15:00 till the end of September", "by 30 September 2026"),
        ("when is practice", "band practice every wednesday at 7.30 at Zelda's", "wednesday at 7.30"),
        ("what time is practice", "band practice every wednesday at 7.30 at Zelda's", "7.30"),
        (
            "When is the party?",
            "the party is on 20 November and the lunch the day before",
            "20 November 2026",
        ),
        (
            "When is the lunch?",
            "the party is on 20 November and the lunch the day before",
            "19 November 2026",
        ),
        ("When do we fly?", "the wedding is on 14 March and we fly the day after", "15 March 2027"),
        ("When is the gig?", "the gig was moved from the 9th to the 16th of November", "16 November 2026"),
        ("When is the gig?", "moved from Tuesday 10 November to Thursday 19 November", "19 November 2026"),
        ("When is it closed?", "it is closed from 3 to 9 July", "3 July 2026 to 9 July 2026"),
        ("When must we be out?", "we have to be out by the end of January", "by 31 January 2027"),
        ("When is the launch?", "the launch won't be before 12 December", None),
        ("When does it come?", "it comes between 3 and 5 November", None),
        ("When is the review?", "the review is on 3 November or 4 November", None),
        ("When does he come?", "he is coming on the 3rd", "3 June 2026"),
    ],
)
def test_the_time_that_holds(question: str, sentence: str, answer: str | None) -> None:
    assert time_of(decompose(question, SAID), sentence, SAID) == answer


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [
        ((1990, 1, 1), (1991, 1, 1), "in 1990"),
        ((1990, 1, 1), (1992, 1, 1), "from 1990 to 1991"),
        ((2026, 5, 1), (2026, 6, 1), "in May 2026"),
        ((2026, 5, 1), (2026, 5, 2), "on 1 May 2026"),
        ((2026, 5, 25), (2026, 6, 1), "from 25 May 2026 to 31 May 2026"),
    ],
)
def test_a_time_is_told_no_more_closely_than_it_was_said(
    since: tuple[int, int, int], until: tuple[int, int, int], told: str
) -> None:
    assert during(datetime(*since, tzinfo=UTC), datetime(*until, tzinfo=UTC)) == told
