"""Shapes of text that are made to keep a reader busy, each of about as many characters as it is asked for."""

from collections.abc import Callable, Iterable
from typing import Final

Shape = Callable[[int], str]


def _filled(before: str, filler: str, after: str = "") -> Shape:
    return lambda size: f"{before}{filler * (size // len(filler))}{after}"


def _sentences(sentence: Callable[[int], str]) -> Shape:
    """Each sentence is other than the one before, and nearly as long as a sentence may be."""

    def shape(size: int) -> str:
        made: list[str] = []
        length = 0
        while length < size:
            made.append(sentence(len(made)))
            length += len(made[-1]) + 1
        return " ".join(made)

    return shape


def _name(number: int) -> str:
    letters = "abcdefghij"
    return "Q" + "".join(letters[int(digit)] for digit in f"{number:04}")


def _repeated(unit: str, before: str = "", after: str = ".", most: int = 960) -> Shape:
    """Sentences that each hold as much of a unit as fits."""
    return _sentences(lambda _: f"{before}{unit * (most // len(unit))}{after}")


def _named(words: Iterable[str]) -> Shape:
    several = list(words)
    return _sentences(lambda at: several[at % len(several)].format(_name(at)))


SHAPES: Final[dict[str, Shape]] = {
    # One run in one sentence.
    "spaces": _filled("I live in", " ", "Porto"),
    "tabs": _filled("I live in", "\t", "Porto"),
    "odd blanks": _filled("I live in", "\u2003\u00a0\x0b", "Porto"),
    "newlines": _filled("I live in", "\n", "Porto"),
    "spaces and newlines": _filled("I live in", " \n", "Porto"),
    "commas": _filled("I live in Porto", ",", " and so on"),
    "commas and spaces": _filled("I live in Porto", ", ", "and so on"),
    "full stops": _filled("I live in Porto", ".", "x"),
    "marks of all sorts": _filled("I live in Porto", "?!…", "x"),
    "dashes": _filled("I live in Porto", " - ", "x"),
    "quotes": _filled("I said ", '"', "x"),
    "opened quotes": _filled("I said ", "“a ", "x"),
    "nested quotes": lambda size: "“«" * (size // 4) + "I live in Porto" + "»”" * (size // 4),
    "single quotes": _filled("I said", " 'Aa", "x"),
    "backticks": _filled("I said ", "`a\n", "x"),
    "opened tags": _filled("I said ", "<a", "x"),
    "brackets": lambda size: "(" * (size // 2) + "I live in Porto" + ")" * (size // 2),
    "open brackets": _filled("I live in Porto ", "[({", "x"),
    "ands": _filled("I like tea", " and", " coffee"),
    "and I": _filled("Ana", " and I", " live in Porto"),
    "digits": _filled("My number is ", "7", "x"),
    "digits and commas": _filled("It costs £", "1,", "x"),
    "one word": _filled("I live in P", "o", "rto"),
    "capitals": _filled("I live in ", "P", ""),
    "capital words": _filled("I live in ", "Porto "),
    "mixed scripts": _filled("I live in ", "P\u043e\u0440to東京 ", "x"),
    "combining marks": _filled("I live in Porto", "\u0301", ""),
    "letters with marks": _filled("I live in ", "e\u0301", ""),
    "addresses": _filled("See ", "https://example.org/a?b=c ", "I live in Porto"),
    "one address": _filled("See https://example.org/", "a/", " I live in Porto"),
    "nots": _filled("I do", " not", " live in Porto"),
    "dates": _filled("I live in Porto since", " 2 March 2025", ""),
    "ordinals": _filled("I was born on the", " 1st", " of March"),
    "emoji": _filled("I live in Porto ", "🎉 ", "x"),
    "apostrophes": _filled("I", "'m", " living in Porto"),
    "zeros": _filled("I live in", "\x00", "Porto"),
    "since": _filled("I live in Porto", " since last", " year"),
    "hyphens": _filled("my well", "-known", " dog Rex"),
    # Many sentences, each as long as a sentence may be.
    "long ands": _repeated(" and I", "Ana", " live in Porto."),
    "long likes": _repeated("tea, ", "I like ", "coffee."),
    "long clauses": _repeated("I live in Porto and ", "", "I like tea."),
    "long names": _repeated("Porto ", "I live in ", "now."),
    "long kin": _repeated("my friend ", "I met ", "Ana."),
    "long pets": _repeated("my small brown ", "We have ", "dog."),
    "long dates": _repeated("the 1st of March ", "I was born on ", "."),
    "long moments": _repeated("so, well, ", "", "last week my cat died."),
    "long openings": _repeated("well, ", "", "I live in Porto."),
    "long corrections": _repeated("sorry, ", "wait, ", "I meant Porto."),
    "long retractions": _repeated("forget what I said about me being ", "", "in Porto."),
    "long nots": _repeated("not ", "I do ", "live in Porto."),
    "long adverbs": _repeated("really ", "I am ", "living in Porto."),
    "long quotes": _repeated("'s", "my wife", " name is Ana."),
    "long addresses": _repeated("a@b.c ", "I use ", "."),
    "long amounts": _repeated("1,000 ", "It costs £", "."),
    "long questions": _repeated("do you like tea and ", "", "coffee?"),
    "long breaks": _repeated(" but ", "I", "."),
    "long events": _repeated("the wedding ", "There will be a party at ", "on Friday."),
    # Many short ones, that say ever more.
    "homes": _named(("I live in {0}.", "I moved to {0} last week.")),
    "people": _named(("My friend {0} likes tea.", "She met {0}.", "My brother {0} said he likes it.")),
    "offers": _named(("{0} made me an offer.", "I applied for a job at a {0}.", "I got an offer from {0}.")),
    "things": _named(("Then {0} Tower was closed.", "We saw the {0} House.")),
    "tales": _named(
        ("Last week was wild.", "I took {0} to a pottery workshop.", "It's her brother {0} who is.")
    ),
}
