"""What was pasted is blanked; what only looks alike stays."""

from time import thread_time

import pytest

from braid.text.pasted import own, pasted
from braid.text.sentences import BLANK, readable


def left(text: str, speaker: str = "Maya") -> str:
    return " ".join(own(text, speaker).split())


@pytest.mark.parametrize(
    ("text", "mine"),
    [
        ("Look.\n---- Forwarded message ----\nI live in Lima.", "Look."),
        ("Hm.\n\nOn 5 May 2026, Bob wrote:\nI live in Lima.", "Hm."),
        ("Hm.\n\nOn Mon, 5 May 2026 at 10:31, Bob Hale <b@x.org>\nwrote:\n\nI live in Lima.", "Hm."),
        (
            "On 5 May 2026, Bob wrote:\n> I live in Oslo.\n\nI live in Lima.",
            "I live in Lima.",
        ),
        (">> On Mon, Joyce wrote:\n>> hi\nI live in Lima.", "I live in Lima."),
        ("> I live in Lima.", ""),
        ("Sure.\nOn Fri, 2 May 2025 at 10:31, Bo Hale <bo@x.org>\nwrote:\n\n> I live in Lima.", "Sure."),
        (
            "Sure.\n\nOn Fri, 2 May 2025, Bo <bo@x.org> wrote:\n> I live in Lima.",
            "Sure.",
        ),
        ("Hm.\nFrom: Bob\nSubject: x\n\nI live in Lima.", "Hm."),
        ("Von: Jo\nBetreff: x\n\nI live in Lima.", ""),
        ("Hi Maya,\nI live in Lima.\nBob", ""),
        ("Dear Sir,\nI live in Lima.\nKind regards,\nBob Hale", ""),
        ("Translate into French:\nI live in Lima.", "Translate into French:"),
        ("Please translate this: I live in Lima.", "Please translate this:"),
        ("Rewrite my email:\n\nI live in Lima.", "Rewrite my email:"),
        ("Can you fix the grammar of this?\n\nI lives in Lima.", "Can you fix the grammar of this?"),
        ("I live in Lima.\n\nTranslate the text above.", "Translate the text above."),
        ("My boss wrote:\nI live in Lima.", ""),
        ("A message from my landlord:\nI live in Lima.", "A message from my landlord:"),
        ("Bob: I live in Lima.", ""),
        ("**Bob:** I live in Lima.", ""),
        ("Bob (10:31): I live in Lima.", ""),
        ("Bob says: I live in Lima.", ""),
        ("bob: i live in lima\nann: i don't", ""),
        ("Maya: I sing.\nBob: I live in Lima.\nAnd I dance.\n\nI sing.", "Maya: I sing. I sing."),
        ("Will: I live in Lima.\nBob: I don't.", ""),
        ("Q: Where?\nA: I live in Lima.", ""),
        ("x();\n# I live in Lima.", "x();"),
        ("// I live in Lima.\nWhy?", "Why?"),
        ("2026-05-01 10:00:00 INFO I live in Lima\nWhy?", "Why?"),
    ],
)
def test_what_was_pasted_is_blanked(text: str, mine: str) -> None:
    assert left(text) == mine


@pytest.mark.parametrize(
    "text",
    [
        "Update: I moved to Lima.",
        "PS: I'm vegetarian.",
        "Note to self: I sing on Mondays.",
        "Correction: it's 5pm.",
        "Allergies: nuts",
        "Summary of my day: I ran 5k.",
        "Summary: I ran 5k.",
        "Fix: I take 20 mg now.",
        "Me: I live in Lima.",
        "Check this out:\nI got the job!",
        "Remember this:\nI live in Lima.",
        "To answer your question:\nI live in Lima.",
        "As I said:\nI live in Lima.",
        "Guess what happened this morning:\nI got the job.",
        "Job: I bake.\nCity: I live in Lima.",
        "Sam: allergic to nuts\nElla: vegan",
        "May: I moved to Lima.\nJune: we married.",
        "Can you fix it?\nI live in Lima.",
        "On 5 May 2026 I moved to Lima.",
        "Dear diary,\nI moved to Lima.",
        "Hi,\nI live in Lima.\nThanks,\nMaya",
        "See http://x.org/y: I live in Lima.",
        "I have a question about my CV:\nI worked in Lima, should I list it?",
    ],
)
def test_what_looks_alike_stays(text: str) -> None:
    assert own(text, "Maya") == text


def test_every_other_character_keeps_its_place() -> None:
    text = "Hm.\n\nOn 5 May 2026, Bob wrote:\nI live in Lima."
    shown = own(text, "Maya", BLANK)
    assert len(shown) == len(text)
    assert shown.startswith("Hm.\n\n\x00")
    assert readable(text, "Maya") == shown
    assert readable(text) == text, "of what no person said nothing was pasted"


@pytest.mark.parametrize(
    "run", ["a: ", "From: ", "\n", "Bob: I\n", "/*", "On 5 ", "-- ", "this ", "[1", "Translate "]
)
def test_a_long_text_takes_no_square_of_its_length(run: str) -> None:
    text = run * (100_000 // len(run))
    began = thread_time()
    pasted(text, "Maya")
    assert thread_time() - began < 2
