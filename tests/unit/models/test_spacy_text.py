"""What spaCy is shown of a text, where it stood, and which parses are kept: without spaCy."""

from hypothesis import given
from hypothesis import strategies as st

from braid.models.spacy_parser import MAX_CHARS, _KeptParses, _shown
from braid.text.parse import Parse, from_rows
from braid.text.sentences import BLANK

TEXT = st.text(alphabet=st.sampled_from(f"aB.  \n\t{BLANK}\x1f\u00a0é😀\ud83d"), max_size=60)


@given(text=TEXT)
def test_what_is_shown_is_the_text_with_single_blanks(text: str) -> None:
    shown, places = _shown(text)
    words = "".join(
        " " if one.isspace() or one < " " else "\ufffd" if "\ud800" <= one < "\ue000" else one for one in text
    )
    assert shown == " ".join(words.split())
    assert "".join(words[at] for at in (range(len(text)) if places is None else places)) == shown


def test_a_text_without_runs_of_blanks_stays_as_it_is() -> None:
    assert _shown("I live in Porto 😀.") == ("I live in Porto 😀.", None)
    assert _shown("a\nb") == ("a b", [0, 1, 2])
    assert _shown(f" a{BLANK}{BLANK}b ") == ("a b", [1, 3, 4])
    assert _shown("") == _shown(BLANK * 4) == ("", [])


def test_a_long_text_is_cut_at_a_blank() -> None:
    assert _shown("tea " * 1_000)[0] == ("tea " * (MAX_CHARS // 4)).rstrip()
    assert _shown("x" * (MAX_CHARS - 1) + " y")[0] == "x" * (MAX_CHARS - 1)
    assert _shown("x" * MAX_CHARS + " y")[0] == "x" * MAX_CHARS
    assert _shown("a " + "x" * MAX_CHARS)[0] == "a"


def parse(text: str) -> Parse:
    return from_rows(text, [(text, text, "NOUN", "NN", "ROOT", 0)])


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    kept = _KeptParses(6)
    for text in ("aa", "bb", "cc"):
        kept.put(parse(text))
    assert kept.get("aa") == parse("aa")
    kept.put(parse("dddd"))
    assert [kept.get(text) is not None for text in ("aa", "bb", "cc", "dddd")] == [True, False, False, True]
    kept.put(parse("eeeeeee"))  # longer than all that is kept
    assert kept.get("eeeeeee") is None
    assert kept.get("dddd") is not None
