"""Who somebody is: by what calls them something, and not by where they are or what they do."""

import pytest

from braid.agent.answer.identity import described, names_beside, says_role
from braid.agent.answer.question.identity import asked_for, role_asked


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who is Lena?", "Lena"),
        ("who's Tim Kern to me?", "Tim Kern"),
        ("So who was Mrs Abara?", "Mrs Abara"),
        ("who is dana", "Dana"),
        ("Who is coming?", None),
        ("Who is my boss?", None),
        ("Who is Lena's boss?", None),
        ("Who lives in Graz?", None),
        ("Who is Lena seeing?", None),
    ],
)
def test_whom_it_is_asked_of(question: str, name: str | None) -> None:
    assert asked_for(question, ["I met Dana today."]) == name


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Lena", "My cousin Lena lives in Graz.", "My cousin"),
        ("Tim", "My boss is Tim Kern. Tim plays golf.", "My boss"),
        ("Dana", "Dana is the vet.", "the vet"),
        ("Tom", "Tom's my dentist.", "my dentist"),
        ("Rex", "We took my dog Rex out.", "my dog"),
        ("Ana", "Ana, my sister-in-law, came.", "my sister-in-law"),
        ("Nadia", "Jo's friend Nadia paints.", "Jo's friend"),
        ("Ollie", "mechanic is called Ollie. quoted me 340", "mechanic"),
        (
            "Birgit Holm",
            "the customer contact at Vodafone is Birgit Holm",
            "the customer contact at Vodafone",
        ),
        ("Mr Osei", "landlord Mr Osei put the rent up", "landlord"),
        ("Shell", "cousin Shell getting married in Tenby", "cousin"),
        ("Rob", "Rob (husband) got the job at Siemens", "husband"),
        ("Ron", "Ron's chair of the gardening club now", "chair of the gardening club now"),
        ("Farid", "IT guy Farid lent me a thinkpad", "IT guy"),
        ("Lena", "Lena moved to Linz.", ""),
        ("Lena", "The plan is Lena drives.", ""),
        ("Lena", "My idea is Lena's.", ""),
        ("Lena", "The day Lena arrived it rained.", ""),
        ("Tom", "Tom is a bit tired.", ""),
        ("Ann", "My cousin Anna lives in Graz.", ""),
    ],
)
def test_what_calls_somebody_something(name: str, text: str, words: str) -> None:
    assert described(name, text) == words


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("Who is my aunt?", "My cousin Lena lives in Graz.", False),
        ("Who is my mother?", "My mum Rita called.", True),
        ("Who is my son?", "My daughter Ida called.", False),
        ("Who is my child?", "My daughter Ida called.", True),
        ("Who is my boss?", "My boss was Tim Kern.", False),
        ("Who is my boss?", "My old boss Tim waved, and my boss Ann too.", True),
        ("Where is my aunt?", "It rained.", True),
        ("Who is my boss?", "my wife's boss is Karen", False),
        ("Who is my mum?", "Oskar's mum is Ania", False),
        ("Who is my dentist?", "Dave's my neighbour, his dentist is Dr Shaw", False),
        ("Who is my neighbour?", "Dave's my neighbour, his dentist is Dr Shaw", True),
        ("What's my cat called?", "next door's cat is called Pickle", False),
        ("Who is my ex?", "my ex Lee wants to swap weekends", True),
    ],
)
def test_a_turn_says_what_is_asked_to_be_who(question: str, text: str, says: bool) -> None:
    assert says_role(question, text) is says


@pytest.mark.parametrize(
    ("question", "text", "names"),
    [
        ("Who is our plumber?", "Our plumber is Mr Novak.", ["Mr Novak"]),
        ("Who's my dentist?", "Tom's my dentist.", ["Tom"]),
        ("What's my mother's name?", "My mum Rita called.", ["Rita"]),
        ("Who is my boss?", "My former boss Tim waved.", []),
        ("Who is my boss?", "It's not my boss Tim.", []),
        ("Who is my ex?", "my ex Lee wants to swap weekends", ["Lee"]),
        ("Who is my husband?", "Rob (husband) got the job at Siemens", ["Rob"]),
        ("What's the name of my mechanic?", "mechanic is called Ollie. quoted me 340", ["Ollie"]),
        ("What is my cat called?", "My cat is called Biscuit.", ["Biscuit"]),
        ("Who is my dentist?", "Dave's my neighbour, his dentist is Dr Shaw", []),
        ("Who is my niece?", "My little niece, Ada, is five.", ["Ada"]),
    ],
)
def test_the_name_beside_the_word(question: str, text: str, names: list[str]) -> None:
    assert list(names_beside(role_asked(question), text)) == names
