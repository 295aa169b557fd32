"""A later turn that may stand in the place of what would be told: both are told, neither as what holds now."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.answers.mind import StoreMind
from braid.recall.hits import RecallResult as Found

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LEAVING = ("Noor", "Departure on Friday at 4.30 from my place, we take the van")
HOUSE = ("Femke", "we booked the holiday house in Ribe, 11 to 18 July")


def asked(home: Path, question: str, *said: tuple[str, str]) -> tuple[str, float]:
    """Return the shortest answer and how sure it is, where these were said, by whom, on every day."""
    with braid.open(home / "memory", guard_dir=home / "guard") as store:
        for days, (who, text) in enumerate(said):
            store.append(
                text,
                actor="agent" if who == "Bot" else "user",
                name=who,
                user_id="u",
                session_id="s",
                occurred_at=NOW + timedelta(days=days),
            )
        found = store.ask(question, user_id="u", write=False, now=NOW + timedelta(days=60))
    return found.short or "", 1.0 - found.residual_uncertainty


def test_a_time_of_what_is_closed_is_not_told_alone(tmp_path: Path) -> None:
    said = (("Zed", "The pool opens at 8 on Sundays"), ("Zed", "The pool is closed this week"))
    short, p = asked(tmp_path, "When does the pool open on Sundays?", *said)
    assert "at 8" in short
    assert p <= 0.5


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "both"),
    [
        ("what time do we leave on friday?", (LEAVING, ("Timo", "ok leaving 5 then")), ("4.30", "leaving 5")),
        ("where is our holiday house?", (HOUSE, ("Bram", "Henne Strand instead")), ("Ribe", "Henne")),
        (
            "when is the party?",
            (("Aylin", "The party is on Saturday"), ("Kerem", "ok then friday")),
            ("Saturday", "friday"),
        ),
        (
            "how many people are coming to the wedding?",
            (
                ("Aylin", "wedding is on 5 September, 80 people so far"),
                ("Kerem", "my uncles can't come. 72 now"),
            ),
            ("80", "72"),
        ),
        (
            "what's the puppy called?",
            (("Lou", "we named the puppy Biscuit"), ("Lou", "no one likes Biscuit. he's Otto")),
            ("Biscuit", "Otto"),
        ),
        (
            "who teaches Leo piano?",
            (
                ("Ines", "Mr Kovac teaches Leo piano, mondays at 5"),
                ("Ines", "Mr Kovac has broken his arm. somebody called Ms Reed steps in"),
            ),
            ("Kovac", "Reed"),
        ),
        (
            "what time does granny arrive?",
            (
                ("Ines", "Granny arrives Tuesday 14.20 at the main station"),
                ("Ines", "she missed her connection, it'll be 16.05"),
            ),
            ("14.20", "16.05"),
        ),
        (
            "when is the party for Ilse?",
            (
                ("Tarek", "party for Ilse is on saturday the 21st, our place"),
                ("Sunny", "I'm at my dad's then. the 28th?"),
                ("Tarek", "yes!!"),
            ),
            ("21st", "28th"),
        ),
    ],
)
def test_both_are_told(
    tmp_path: Path, question: str, said: tuple[tuple[str, str], ...], both: tuple[str, str]
) -> None:
    short, p = asked(tmp_path, question, *said)
    assert all(one in short for one in both)
    assert p <= 0.5


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "other"),
    [
        ("what time do we leave on friday?", (LEAVING, ("Timo", "14 people now")), "14"),
        (
            "where is the party?",
            (
                ("Dana", "Uncle Rolf is organising the party at the Lindenhof"),
                ("Dana", "Cousin Pia can't make it"),
            ),
            "Pia",
        ),
        ("what time do we leave on friday?", (LEAVING, ("Timo", "Emil is at 5 then")), "at 5"),
        ("what time do we leave on friday?", (LEAVING, ("Bot", "ok leaving 5 then")), "5 then"),
        ("where was our holiday house?", (HOUSE, ("Bram", "Henne Strand instead")), "Henne"),
        (
            "when is the party for Ilse?",
            (
                ("Tarek", "party for Ilse is on saturday the 21st, our place"),
                ("Sunny", "I'm at my dad's then. the 28th?"),
                ("Tarek", "no way"),
            ),
            "28th",
        ),
        (
            "who teaches Leo piano?",
            (
                ("Ines", "Mr Kovac teaches Leo piano, mondays at 5"),
                ("Ines", "Mr Kovac lives near Ms Reed, the baker"),
            ),
            "Reed",
        ),
        ("how much is the van?", (("Noor", "the van is 420 a week"), ("Timo", "72 now")), "72"),
    ],
)
def test_what_is_of_something_else_is_not_told_beside(
    tmp_path: Path, question: str, said: tuple[tuple[str, str], ...], other: str
) -> None:
    assert other not in asked(tmp_path, question, *said)[0]


DOCTOR = ("Marco", "saw Dr Bieri. Blood pressure 148 over 94, she put me on ramipril 2.5 mg in the morning")
RACE = ("Marco", "I want to run the half in Lucerne on the 10th of May")
CAST = ("Yusuf", "Casting: Ludo plays the miser, Fenna is Elise")
ROTA = ("Bea", "Felix works tuesdays and thursdays, Nour wednesdays and fridays. 16 an hour both")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "new"),
    [
        (
            "what's the medicine I take for blood pressure",
            (
                DOCTOR,
                (
                    "Marco",
                    "rang Bieri, the cough comes from the ramipril. She switched me to candesartan, 8 mg",
                ),
            ),
            "candesartan",
        ),
        (
            "where am I running the half?",
            (
                RACE,
                (
                    "Marco",
                    "Lucerne's full?! My spot's gone. Signed up for Biel instead, 30th of May, 75 francs",
                ),
            ),
            "Biel",
        ),
        (
            "who plays the miser",
            (CAST, ("Hedda", "Ludo has shingles, poor man. Arno takes over the part")),
            "Arno",
        ),
        (
            "what's my gym?",
            (
                ("Bo", "My gym is FitLab."),
                ("Bo", "I never go to FitLab any more. The sauna is nice at Aquarius"),
            ),
            "Aquarius",
        ),
        (  # who owns the memory may change what the agent said
            "how long do we wait between tries",
            (
                ("Bot", "Three tries, with a wait of 5 seconds between tries."),
                ("Jo", "too often, make it 30"),
            ),
            "30",
        ),
        (  # refused, and another taken behind that
            "when is the summer party?",
            (
                ("Sunil", "The summer party is on 20 June"),
                ("Sunil", "20 June doesn't work, the regatta is that day. What about the week after?"),
                ("Hanne", "ok, 27 then"),
            ),
            "27",
        ),
        (
            "where is the launch?",
            (
                ("Callum", "The launch is in the lifeboat station at Scarrow."),
                (
                    "Callum",
                    "Lifeboat station is off, they need it. I've got the upstairs of the Pilot's Rest",
                ),
            ),
            "Pilot",
        ),
        (
            "who plays music at the party?",
            (
                ("Sunil", "Party: the band would be the Kelpies, or Birte's nephew plays"),
                ("Birte", "he has broken his wrist. so it's the Kelpies after all"),
            ),
            "after all",
        ),
        (
            "when did Brockway come?",
            (("Marek", "Brockway came on 9 October"), ("Marek", "It was not the 9th, it was 23 October")),
            "23",
        ),
        (
            "where are we going on holiday?",
            (
                ("Oliver", "We're going on holiday to Blåvand, a house by the sea"),
                ("Oliver", "The house in Blåvand has water damage. They offered us one in Henne Strand"),
            ),
            "Henne",
        ),
        (
            "who is Felix's teacher?",
            (
                ("Ella", "Felix is in year 4, his teacher is Ms Okafor"),
                ("Ella", "Ms Okafor is going on maternity leave after Easter; Mr Lund takes over"),
            ),
            "Lund",
        ),
        (
            "who leads the mobile team?",
            (
                ("Pablo", "Sara leads the mobile team, Jonas the backend"),
                ("Pablo", "Sara is moving to the platform team in April, Kemal takes her place"),
            ),
            "Kemal",
        ),
        (
            "where does the chess club meet?",
            (
                ("Hana", "The chess club meets on Wednesdays in the library basement"),
                ("Hana", "The library is being renovated, so we meet in the church hall until June"),
            ),
            "church hall",
        ),
        (
            "who cooks on weekdays?",
            (
                ("Silas", "Ben cooks on weekdays and I cook at weekends"),
                ("Silas", "Ben got a new job at the port, so I cook every day now"),
            ),
            "every day",
        ),
        (
            "which message broker do we use?",
            (
                ("Sam", "We use Kafka as the message broker for orders"),
                ("Sam", "Kafka was dropped in favour of NATS"),
            ),
            "NATS",
        ),
        (
            "how much butter goes in the shortbread?",
            (
                ("Ada", "The shortbread: 150 g butter, 300 g flour, 75 g sugar"),
                ("Ada", "Tried it again, 170 g butter works better"),
            ),
            "170",
        ),
    ],
)
def test_what_stands_in_the_place_of_what_is_told_is_told_with_it(
    tmp_path: Path, question: str, said: tuple[tuple[str, str], ...], new: str
) -> None:
    short, p = asked(tmp_path, question, *said)
    assert new in short
    assert p <= 0.5


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "other"),
    [
        (  # of Nour, and Felix is asked for
            "which days does Felix work",
            (ROTA, ("Bea", "Nour can't do fridays anymore, uni. She does wednesdays and saturdays now")),
            "saturdays",
        ),
        (  # of the butter, and flour is asked for
            "how much flour goes in the shortbread?",
            (
                ("Ada", "The shortbread: 150 g butter, 300 g flour, 75 g sugar"),
                ("Ada", "Tried it again, 170 g butter works better"),
            ),
            "170",
        ),
        (  # who opens the sentence is nobody
            "who leads the backend team?",
            (
                ("Pablo", "Our daily standup is at 9:30"),
                ("Pablo", "Sara leads the mobile team, Jonas the backend team"),
                ("Pablo", "Standup is at 10 from Monday on"),
            ),
            "Standup is at 10",
        ),
        (  # what follows is of the lunch
            "where does the chess club meet?",
            (
                ("Hana", "The chess club meets on Wednesdays in the library basement"),
                ("Hana", "The kitchen is being renovated, so I eat in the church hall until June"),
            ),
            "church hall",
        ),
        (  # Thursday is what something else was moved to
            "which day can the van come?",
            (("Jo", "My van can come on Thursday"), ("Wen", "Pottery: moved to Thursday, same hours")),
            "Pottery",
        ),
        (  # it says nothing of the name
            "what is my dog called?",
            (("Bo", "My dog is called Rex."), ("Bo", "Rex no longer eats Pedigree.")),
            "Pedigree",
        ),
        (  # nothing that is told is named
            "how long is a session valid",
            (
                ("Pri", "Session lifetime is 8 hours"),
                ("Pri", "I'm taking over the CSV export. Format is UTF-8"),
            ),
            "UTF",
        ),
    ],
)
def test_what_stands_in_the_place_of_something_else_changes_nothing(
    tmp_path: Path, question: str, said: tuple[tuple[str, str], ...], other: str
) -> None:
    assert other not in asked(tmp_path, question, *said)[0]


WEDDING = ("Nia", "Wedding's at Coldbrook Barn on 12 September, about 80 people.")
REHEARSAL = ("Renate", "Rehearsals are on Tuesdays at the Methodist hall, half seven to nine.")
DEPLOYS = ("Hannah", "Deploys on Wednesdays. Staging is on Hetzner.")
SPANISH = ("Mirela", "Spanish class is Mondays at 18:30 in room B2 with Señora Campos.")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "both"),
    [
        (
            "Where is the wedding?",
            (WEDDING, ("Nia", "Barn flooded. We're at St Non's Hotel.")),
            ("Barn", "St Non"),
        ),
        (
            "How many people are coming to the wedding?",
            (WEDDING, ("Nia", "List stands at 65 people.")),
            ("80", "65"),
        ),
        (
            "what's the batch size now?",
            (("Rill", "Batch size set to 2000"), ("Kofi", "batch down to 800")),
            ("2000", "800"),
        ),
        (
            "when was the Anchor gig?",
            (("Rico", "gig is 14 march at the Anchor"), ("Rico", "the Anchor can only do 21 march")),
            ("14", "21"),
        ),
    ],
)
def test_another_value_without_a_word_of_change_is_told_beside_the_first(
    tmp_path: Path, question: str, said: tuple[tuple[str, str], ...], both: tuple[str, str]
) -> None:
    short, p = asked(tmp_path, question, *said)
    assert all(one in short for one in both)
    assert p <= 0.5


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "other"),
    [
        (
            "Which day are rehearsals?",
            (REHEARSAL, ("Oskari", "Maybe we could try Thursdays instead, half the basses have football")),
            "Thursday",
        ),
        (
            "Which day do we deploy?",
            (
                DEPLOYS,
                ("Pavel", "Could we deploy on Mondays?"),
                ("Hannah", "Turned down, Mondays are for support."),
            ),
            "Monday",
        ),
        (
            "which day is Spanish?",
            (SPANISH, ("Mirela", "Next Monday is off for the holiday, class on Tuesday instead that week.")),
            "Tuesday",
        ),
    ],
)
def test_what_is_only_proposed_or_for_once_replaces_nothing(
    tmp_path: Path, question: str, said: tuple[tuple[str, str], ...], other: str
) -> None:
    assert other not in asked(tmp_path, question, *said)[0]


def test_what_takes_its_place_is_found_by_what_is_told(tmp_path: Path) -> None:
    said = [
        "We pay Mia 12 euros an hour for babysitting",
        *(f"babysitting went well, the kids slept {'very ' * n}early" for n in range(28)),
        *(f"the tyre is {'quite ' * n}flat" for n in range(4)),
        "Mia wants 13 from May on",
        "bought a new tyre",
    ]
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for n, text in enumerate(said):
            at = NOW + timedelta(days=n)
            store.append(text, actor="user", name="Oliver", user_id="u", session_id="s", occurred_at=at)
        found = store.ask(
            "how much does the babysitter get an hour", user_id="u", write=False, now=NOW + timedelta(days=60)
        )
    assert found.fallback is None
    assert "12 euros" in found.plain
    assert "13 from May" in found.plain


def test_what_is_put_right_at_once_is_told_with_it(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for minute, text in enumerate(("i land in santander at noon", "argh no. 1pm. the clocks confuse me")):
            at = NOW + timedelta(minutes=minute)
            store.append(text, actor="user", name="Femke", user_id="u", session_id="s", occurred_at=at)
        found = store.ask("what time does femke land in santander?", user_id="u", write=False)
    assert "1pm" in found.plain


def test_what_can_t_be_replaced_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day is asked for, and none is told: no later turn could bring another."""
    searched: list[str] = []
    whole = StoreMind.find

    def counted(mind: StoreMind, question: str) -> Found:
        searched.append(question)
        return whole(mind, question)

    monkeypatch.setattr(StoreMind, "find", counted)
    question = "when did Femke paint the fence?"
    asked(tmp_path, question, ("Femke", "painted the fence green, it looks lovely"), ("Bram", "nice fence"))
    assert searched == [question]
