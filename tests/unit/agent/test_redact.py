"""Secrets become placeholders, ordinary words and numbers stay, and what returns has its secrets again."""

import time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.text.redact import Redactor, placeholders
from braid.text.terms import Terms

PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"
SECRETS = [
    ("key sk-proj-abcdefghijklmnopqrstuvwx", "sk-proj-abcdefghijklmnopqrstuvwx"),
    ("sk-ant-api03-AbCdEfGhIjKlMnOpQrSt_uv", "sk-ant-api03-AbCdEfGhIjKlMnOpQrSt_uv"),
    ("stripe sk_live_4eC39HqLyjWDarjtT1zdp7dc now", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
    ("it is ghp_" + "a1B2" * 9, "ghp_" + "a1B2" * 9),
    ("github_pat_11ABCDEFG0123456789_abc", "github_pat_11ABCDEFG0123456789_abc"),
    ("glpat-abcdefghij0123456789", "glpat-abcdefghij0123456789"),
    ("slack xoxb-1234567890-abcdefGHIJ", "xoxb-1234567890-abcdefGHIJ"),
    ("aws AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("maps AIza" + "Sy0_-" * 7, "AIza" + "Sy0_-" * 7),
    ("hf_" + "abcDEF1234" * 4, "hf_" + "abcDEF1234" * 4),
    ("AGE-SECRET-KEY-1" + "QPZRY9X8GF" * 5, "AGE-SECRET-KEY-1" + "QPZRY9X8GF" * 5),
    ("bot 123456789:AAF-abcdefghijklmnopqrstuvwxyz01234", "123456789:AAF-abcdefghijklmnopqrstuvwxyz01234"),
    ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"),
    ("Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"),
    ("postgres://maya:s3cr3t-pw@db.local/x", "s3cr3t-pw"),
    (f"my key:\n{PEM}\nkeep it", "b3BlbnNzaC1rZXktdjEAAAAA"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEcut", "MIIEcut"),
    ("API_KEY=abcd1234efgh5678", "abcd1234efgh5678"),
    ('{"client_secret": "zz-top-1234"}', "zz-top-1234"),
    ("my password is hunter2", "hunter2"),
    ("My wifi password is swordfish.", "swordfish"),
    ('the passphrase is "correct horse battery"', "correct horse battery"),
    ("password: Winter-77!x", "Winter-77!x"),
    ("Das Passwort lautet Geheim123!", "Geheim123!"),
    ("mot de passe : Soleil2024", "Soleil2024"),
    ("la contraseña es perro99", "perro99"),
    ("a senha é gato-88", "gato-88"),
    ("пароль: qwerty12", "qwerty12"),
    ("密码是abc12345", "abc12345"),
    ("パスワードは tora77 です", "tora77"),
    ("card 4111 1111 1111 1111 exp 09/27", "4111 1111 1111 1111"),
    ("amex 378282246310005.", "378282246310005"),
    ("5500-0000-0000-0004", "5500-0000-0000-0004"),
    ("IBAN DE89 3704 0044 0532 0130 00 is mine", "DE89 3704 0044 0532 0130 00"),
    ("GB29NWBK60161331926819", "GB29NWBK60161331926819"),
    ("fr1420041010050500013m02606", "fr1420041010050500013m02606"),
    ("Your verification code is 482913", "482913"),
    ("482 913 is your Google code", "482 913"),
    ("code: 482913", "482913"),
    ("The PIN is 4821", "4821"),
    ("the gate code is 7714", "7714"),
    ("Ihr Bestätigungscode: 551204", "551204"),
    ("验证码\uff1a582910", "582910"),
    ("SSN 078-05-1120", "078-05-1120"),
]
ORDINARY = [
    "I forgot my password again.",
    "The password is wrong",
    "Mein Passwort ist sicher",
    "Password manager: good ones cost money",
    "The secret is out: we are moving!",
    "A token of my appreciation",
    "My zip code is 90210, the area code is 415",
    "We moved in 2024, on the 17th of May.",
    "The code review took 2024 lines",
    "We pin 2024 as the year",
    "Order 1234567890123 is late",
    "exp_2026-11-22T00:42:27Z_0000000rvmnu",
    "Call me at +44 20 7946 0958",
    "ISBN 978-3-16-148410-0",
    "a basic understanding of things, and bearers of good news",
    "He stays in room 4821; flight LH 1234 at 18:05",
    "4111 1111 1111 1112 has the wrong check digit",
    "DE88 3704 0044 0532 0130 00 too",
    "Tickets cost 1,200 euros",
    "https://example.org/path?x=1 and mail maya@example.org",
    "sk-8 is a skateboard; ghp is no token",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_replaced_and_comes_back(text: str, secret: str) -> None:
    redactor = Redactor()
    redacted = redactor.redact(text)
    assert secret not in redacted
    assert redactor.count == 1
    assert redactor.restore(redacted) == text


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_secret_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.redact(text) == text
    assert redactor.count == 0


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_invisible_characters_hide_no_secret(text: str, secret: str) -> None:
    parted = text.replace(secret, "\u200b".join(secret))
    assert secret not in Redactor().redact(parted).replace("\u200b", "")


def test_one_secret_has_one_placeholder() -> None:
    redactor = Redactor()
    assert (
        redactor.redact("PIN is 4821, PIN is 9944; PIN is 4821")
        == ("PIN is REDACTED_CODE_1, PIN is REDACTED_CODE_2; PIN is REDACTED_CODE_1")
        or redactor.count == 2
    )
    assert redactor.redact("The PIN is 4821") in ("The PIN is REDACTED_CODE_1", "The PIN is REDACTED_CODE_2")


def test_a_placeholder_that_nobody_made_stays() -> None:
    assert Redactor().restore("REDACTED_TOKEN_9 and REDACTED_X") == "REDACTED_TOKEN_9 and REDACTED_X"


@given(st.lists(st.sampled_from([text for text, _ in SECRETS] + ORDINARY), max_size=6), st.text(max_size=40))
def test_twice_is_as_good_as_once(texts: list[str], more: str) -> None:
    redacted = Redactor().redact("\n".join([*texts, more]))
    assert Redactor().redact(redacted) == redacted


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    redactor = Redactor()
    restored = redactor.restore(redactor.redact(text))
    assert [c for c in restored if c.isalnum()] == [c for c in text if c.isalnum()]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "text",
    [
        "1" * 60_000,
        "4 " * 30_000,
        "DE89 " * 12_000,
        "password is " * 5_000,
        "a:" * 30_000,
        "-----BEGIN " * 6_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    began = time.monotonic()
    Redactor().redact(text)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("王小明", "我叫王小明。"),
        ("สมชาย", "ผมชื่อสมชายครับ"),
        (normalize("NFC", "Müller"), normalize("NFD", "Ask Müller.")),
        (normalize("NFD", "Müller"), normalize("NFC", "Ask Müller.")),
        ("Night\u200bingale", "The Nightingale sings."),
        ("Nightingale", "The \uff2e\uff29\uff27\uff28\uff34\uff29\uff2e\uff27\uff21\uff2c\uff25 sings."),
        ("\uff2eightingale", "The Nightingale sings."),
        ("Strauß", "Herr STRAUSS calls."),
        ("STRAUSS", "Herr Strauß calls."),
        ("Afﬁna", "It is AFFINA's."),
        ("Lệ", normalize("NFD", "Cô Lệ đến.")),
        ("지훈", "지훈이는 어디에 살아요?"),
        (normalize("NFD", "지훈"), "김지훈이에요"),
        ("Ada", "我叫Ada住在这里"),
        ("Ada", "저는Ada예요"),
        ("Ada", "ada_lovelace@x"),
        ("Acme", "Acme™ is theirs"),
        ("Acme", "Acme¹ and so on"),
        ("Acme", "№Acme"),
        ("O'Brien", "ask O’Brien"),
        ("Jean-Luc", "with Jean\u2011Luc"),
        ("\u05d3\u05d5\u05d3", "\u05d3\u05bc\u05d5\u05b4\u05d3 \u05d2\u05e8"),
        ("\u0645\u062d\u0645\u062f", "\u0645\u064f\u062d\u064e\u0645\u064e\u0651\u062f"),
    ],
)
def test_a_term_is_found_however_it_is_written(term: str, text: str) -> None:
    one = Terms([term])
    shown = one.redact(text)
    assert "WITHHELD_1" in shown
    assert one.restore(shown) == text


def test_a_term_that_says_nothing_replaces_nothing() -> None:
    assert Terms(["  ", "\u200b", "-"]).redact("a b - c") == "a b - c"
    assert Terms(["Ida"]).redact("Idaho and Ida") == "Idaho and WITHHELD_1"
    assert Terms(["cafe"]).redact(normalize("NFD", "café")) == normalize("NFD", "café")


def test_what_only_looks_like_a_placeholder_stays_what_it_is() -> None:
    texts = ["Nightingale is here.", "They typed WITHHELD_1."]
    one = Terms(["Nightingale"], texts)
    shown = [one.redact(text) for text in texts]
    assert shown == ["WITHHELD_2 is here.", "They typed WITHHELD_1."]
    assert [one.restore(text) for text in shown] == texts


def test_a_hostile_text_takes_time_in_proportion() -> None:
    def cased(number: int) -> str:
        return "".join(mark.upper() if number >> at & 1 else mark for at, mark in enumerate("nightingales"))

    def took(count: int) -> float:
        text = " ".join(f"WITHHELD_{number} {cased(number)}" for number in range(count))
        one, began = Terms(["nightingales"]), time.perf_counter()
        assert one.restore(one.redact(text)) == text
        return time.perf_counter() - began

    took(100)
    assert min(took(2_000) for _ in range(3)) < 20 * min(took(500) for _ in range(3)) + 0.05


LETTERS = st.sampled_from("aAäÄsSßẞﬁ\uff21\u3000 -…'ıİ한국지王ก\u0301\u0308\u1175")


@given(st.lists(st.text(LETTERS, max_size=5), max_size=3), st.text(LETTERS, max_size=40))
def test_what_is_restored_is_what_was_there(terms: list[str], text: str) -> None:
    one = Terms(terms)
    assert one.restore(one.redact(text)) == text


def test_a_placeholder_that_stands_for_one_secret_never_stands_for_another() -> None:
    first, other = "4111 1111 1111 1111", "5500 0000 0000 0004"
    one = Redactor()
    shown = one.redact(f"Pay with {first}.")
    again = Redactor(placeholders(shown))
    both = again.redact(f"{shown} Or with {other}.")
    assert len(placeholders(both)) == 2
    assert one.replaced.keys().isdisjoint(again.replaced)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("They know Nightingal…", "They know WITHHELD_1…"),
        ("It is of Blue Her… and more", "It is of WITHHELD_1… and more"),
        ("我叫王小…", "我叫WITHHELD_1…"),
        ("They wait…", "They wait…"),
        ("Anightingal…", "Anightingal…"),
    ],
)
def test_the_beginning_of_a_term_in_front_of_a_cut_is_not_shown(text: str, shown: str) -> None:
    terms = Terms(["Nightingale", "Blue Heron", "王小明"])
    assert terms.redact(text) == shown
    assert terms.restore(shown) == text
