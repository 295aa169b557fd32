"""Which sentence says in other words that another has changed, and which only stands near a word of change."""

from datetime import UTC, datetime

import pytest

from braid.agent.answer.change.wording import is_change, of_another, values
from braid.recall.decompose import decompose

NOW = datetime(2026, 1, 5, tzinfo=UTC)
CHANGED = [
    ("What phone do I have?", "My phone is an iPhone 12", "I swapped my iPhone for a Pixel"),
    (
        "How much is the phone contract?",
        "The phone contract is 20 euros",
        "The phone contract went up to 26 euros",
    ),
    ("When does the choir rehearse?", "The choir rehearses on Wednesdays", "Rehearsal moved to Thursdays"),
    ("Which berth is the boat in?", "The boat is in Marstal, berth 22", "We moved to berth 31"),
    (
        "When is the desk delivered?",
        "The desk is to be delivered on 9 April",
        "Jo moved the delivery to 16 April",
    ),
    ("How much do I owe Marek?", "Marek lent me 60 euros", "Paid Marek back today"),
    ("How much does Ida owe me?", "Ida owes me 20 pounds", "Ida has paid up"),
    (
        "who's singing the solo",
        "I've been asked to do a solo",
        "Choirmaster has given the solo to young Daniel",
    ),
    (
        "when is Lotte's swimming",
        "Lotte has swimming on Wednesdays at four from now on",
        "Swimming's on Fridays now, three thirty",
    ),
    (
        "which postgres version do we upgrade to",
        "Postgres upgrade to 16 planned for the weekend",
        "Postgres: we go to 15, not 16",
    ),
    ("how many kids are coming", "her party is on Saturday, eight kids", "ten kids now because of the twins"),
    ("What do I drive?", "I drive a Volvo", "I sold the car"),
    ("Where do I work?", "I work at Monzo", "I quit my job"),
    ("Where do I live?", "I live in Leeds", "we moved last week"),
    ("Who is my boss?", "My boss is Hannah", "I have a new boss, Ravi"),
    ("Which gym do I go to?", "My gym is FitLab", "I quit the gym"),
    ("What do I drive?", "I drive a Volvo", "I sold the Volvo"),
    (
        "When is the grant deadline?",
        "The grant deadline is 3 June",
        "They moved the grant deadline to 17 June",
    ),
    ("Who is my husband?", "Tom is my husband", "Tom and I got divorced"),
    ("Where do I work?", "I work at Monzo", "I don’t work at Monzo anymore"),
    ("Where do I work?", "I work at Monzo", "I no longer work at Monzo"),
    ("Who is our GP?", "Dr Okafor is our GP", "Our GP is Dr Lindqvist now"),
    ("Which school does Lena go to?", "Lena goes to Hillside School", "Lena goes to Oakfield instead"),
    ("Which bed am I in?", "They put me in bed 4", "Wait no, bed 5"),
    ("What is my bed number?", "My bed is number 4", "Actually, bed 5"),
    ("Is Mum in bed 5?", "Mum is in bed 4 at the Royal", "no wait, bed 5"),
    ("Who is Hannah's partner?", "Hannah's partner is Tom", "Hannah and Tom split up"),
    ("Where does Hannah live?", "Hannah lives in York", "Hannah moved to Leeds"),
    ("How many guests do we have?", "80 guests", "the guest list grew to 96"),
    (
        "Am I in the pottery class?",
        "The pottery class starts on Monday",
        "I've dropped out of the pottery class",
    ),
    ("Which bank is my account at?", "My account is at Barclays", "I closed my Barclays account"),
    ("Where is my passport?", "passport in the top drawer", "put the passport into the safe"),
    ("How much do I weigh?", "I weigh 84 kg", "down to 81 kg now"),
    ("How much do I weigh?", "I weigh 84 kg", "I'm back to 86 kg"),
    ("How many followers do we have?", "We have 900 followers", "1200 followers now!"),
    ("What am I reading?", "I'm reading Dune", "finished Dune, started Emma"),
    ("May guests bring dogs?", "dogs are fine", "no more dogs after what the last one did"),
    (
        "When is the release?",
        "The release is planned for 18 March",
        "Release slipped a week because of a bug",
    ),
    ("Which room is Dad in?", "Dad is in room 214", "They moved him to room 118"),
    ("When is the release?", "The release is on 18 March", "The release was delayed by two weeks"),
    ("When is the maths test?", "The maths test is on 12 March", "Two are ill so the test is a week later"),
    (
        "What time does the backup run?",
        "The nightly backup runs at 02:30",
        "changed the backup time to 04:00 because it was slow",
    ),
    (
        "When does the shop open?",
        "The shop opens at 9",
        "The shop changed its opening to 8 because of the fair",
    ),
    ("Where does CI run?", "CI runs on Woodpecker", "Since last week CI runs on Forgejo Actions"),
    (
        "How much is a sack of flour?",
        "Flour comes from the Haller mill, 25 kg sacks at 31 euros",
        "Haller raised the price to 34 a sack",
    ),
    (
        "Which Postgres version do we run?",
        "Our Postgres runs on version 14",
        "Upgraded Postgres to 16 last night",
    ),
]
UNCHANGED = [
    (
        "how much of the stomach pill do I take",
        "taking 20 mg of the stomach pill in the morning",
        "gave Sam 40, so there's 20 left",
    ),
    (
        "when is Lotte's swimming",
        "Lotte has swimming on Wednesdays and Emil has judo on Tuesdays",
        "Emil doesn't like judo anymore, he's switched to handball",
    ),
    (
        "where is her party",
        "her party is at the climbing hall, eight kids",
        "ten kids now because of the twins",
    ),
    (
        "when is Lotte's swimming",
        "Lotte has swimming on Wednesdays at four",
        "Emil has swimming on Fridays now",
    ),
    (
        "when is Lotte's swimming",
        "Lotte has swimming on Wednesdays at four",
        "Swimming's on Fridays now for Emil",
    ),
    ("what sport does Emil do", "Emil has judo on Tuesdays at five", "Emil doesn't like judo anymore"),
    ("Who is my boss?", "My boss is Hannah", "I don't like my boss anymore"),
    ("Where do we rehearse?", "We rehearse in St Luke's hall", "Rehearsal moved to Thursdays"),
    (
        "Where is Dad's surgery?",
        "Dad's surgery is on 9 March at the Charité",
        "Surgery was moved to 11 March",
    ),
    ("Who lives at number 9?", "The Hendersons live at number 9", "A family with kids moved into number 11"),
    ("How much is the budget?", "Carla has the budget, 12,000 in all", "Devon has the budget now"),
    ("Which car did I sell?", "I sold the Passat for 4,200", "My new car is a Kia, it arrives in April"),
    (
        "When does Dad take amlodipine?",
        "Dad takes amlodipine at 8",
        "Dr Weiss raised the amlodipine to 10 mg on Monday",
    ),
    ("Where does Marek live?", "Marek lives in Graz", "Paid Marek back today"),
    ("How much do I owe Marek?", "Marek lent me 60 euros", "Paid Tom back today"),
    (
        "what kind of cake does Lotte want",
        "Lotte wants a unicorn cake",
        "Lotte changed her mind, she's coming with us",
    ),
    ("what version are we on", "we are on version 13", "it's not 13 degrees out there"),
    ("Where do I live?", "I live in Leeds", "we moved the piano last week"),
    ("What do I drive?", "I drive a Volvo", "my sister bought a new car park pass"),
    ("Where do I work?", "I work at Monzo", "the job was done in an hour"),
    ("Who is my boss?", "My boss is Hannah", "My boss is happy now"),
    ("How much do I weigh?", "I weigh 84 kg", "Lea is down to 60 kg"),
    ("How much do I weigh?", "I weigh 84 kg", "my sister's down to 60 kg"),
    ("How much do I weigh?", "I weigh 84 kg", "the price is down to 81 euros"),
    ("Who is my boss?", "My boss is Hannah", "My sister has a new boss, Ravi"),
    ("Who is my boss?", "My boss is Hannah", "My boss has a new car"),
    ("Who is my cleaner?", "My cleaner is Beata", "I bought a new vacuum cleaner"),
    ("How much is my rent?", "My rent is £800", "Tom's rent is now £950"),
    ("When is the team meeting?", "The team meeting is on Tuesday", "I left the team meeting early"),
    ("Which milk do I drink?", "I drink oat milk", "I bought oat milk instead of cheese"),
    ("Which band do I play in?", "I play bass in the Foxes", "My cousin quit his band"),
    ("Which bed am I in?", "They put me in bed 4", "Actually, bed linen is in the cupboard"),
    ("When is the party?", "Let's use Saturday", "I walked instead"),
    ("How old is my dad?", "He is 70, my dad", "He is 5 now, my nephew's boy"),
    ("How warm is it?", "It is 30 degrees in my room", "It is 12 now"),
    ("What did we pick for the logo?", "For the logo we picked blue", "We are going with the train instead"),
    (
        "What do we go with for the queue?",
        "Let's go with Kafka for the queue",
        "We are going with the train instead",
    ),
    ("Where does Ana live?", "Ana lives in flat 4", "Actually, flat 5, said the courier"),
    ("Which room is it?", "The meeting is in room 12", "Sorry, 14 rooms"),
    (
        "When must the filters be delivered?",
        "Orkan ordered 200 filters, delivery by the 20th",
        "Mrs Lehn asked for 250 filters instead of 200",
    ),
    ("Which room is Dad in?", "Dad is in room 214", "They moved the piano to Leeds"),
    ("What is Hannah's phone number?", "Hannah's phone is 5512", "Hannah moved to Leeds"),
    ("Who is Felix's teacher?", "His teacher is Ms Okafor", "Felix has moved up to the top maths group"),
    ("Why does Felix need lunch?", "He needs lunch because of judo", "Felix has moved up to group B"),
    ("Where does Anil work?", "Anil works for Siemens", "Anil can't come on the 21st"),
    (
        "How much is a sack of flour?",
        "A sack of flour is 31 euros",
        "They raised the price of rye to 5 a loaf",
    ),
    (
        "Where is the release party?",
        "The release party is at Kim's",
        "Release slipped a week because of a bug",
    ),
    ("Who is vegan?", "Priya is vegan", "A vegan can't make it on Friday"),
    ("Are the disk alerts live?", "The disk alerts are live now", "We doubled the disk to 200 GB"),
    ("", "", ""),
]


@pytest.mark.parametrize(("question", "older", "newer"), CHANGED)
def test_a_change_is_told_by_a_word_beside_the_thing(question: str, older: str, newer: str) -> None:
    assert is_change(decompose(question, NOW), older, newer)


@pytest.mark.parametrize(("question", "older", "newer"), UNCHANGED)
def test_a_word_of_change_alone_changes_nothing(question: str, older: str, newer: str) -> None:
    assert not is_change(decompose(question, NOW), older, newer)


def test_what_is_somebody_else_s_is_told_apart() -> None:
    question = decompose("Who is my boss?", NOW)
    assert of_another(question, "My boss is Hannah", "Tom's boss is Ines")
    assert not of_another(question, "My boss is Hannah", "My new boss is Ines")


def test_whose_it_is_is_what_is_asked() -> None:
    question = decompose("Whose kitchen is flooded?", NOW)
    assert not of_another(question, "Vera", "Hanna's kitchen is flooded")
    assert of_another(decompose("Is my kitchen flooded?", NOW), "Vera", "Hanna's kitchen is flooded")


def test_names_and_numbers_are_values() -> None:
    assert values("My GP is Dr Okafor since 2020") >= {"okafor", "2020"}
    assert values("it is so") == set()


def test_a_long_line_takes_no_longer_than_its_length() -> None:
    question = decompose("Who is my boss?", NOW)
    for piece in ("boss ", "moved boss ", "not boss ", "no longer boss ", "my boss has ", "new ", "a's b "):
        assert is_change(question, "My boss is Hannah", piece * 3_000) in (True, False)


@pytest.mark.parametrize(
    ("question", "older", "newer", "changed"),
    [
        ("How much did the van cost?", "The van cost £214.", "Hamish sold the van to a baker.", False),
        ("How much did the van cost?", "The van cost £214.", "The van is £260 now.", True),
    ],
)
def test_what_is_asked_of_the_past_is_changed_by_a_value(
    question: str, older: str, newer: str, changed: bool
) -> None:
    assert is_change(decompose(question, NOW), older, newer, by_value=True) is changed


@pytest.mark.parametrize(
    ("question", "who", "said", "other"),
    [
        ("where do I live now", "Oskar", "my mum still lives in Hafenstrasse", True),
        ("where does my mum live", "Oskar", "my mum still lives in Hafenstrasse", False),
        ("why is Yara away in august?", "Yara", "I'm away till the 16th, my sister has her baby", False),
        ("who is my boss", "Oskar", "my sister has a new boss", True),
    ],
)
def test_what_somebody_else_is_or_does(question: str, who: str, said: str, other: bool) -> None:
    assert of_another(decompose(question, NOW), who, said) is other
