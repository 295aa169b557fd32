"""spaCy's model behind the parser: the same parse however it is asked, places that point into the text, refusals."""

import re
import shutil
import subprocess
import sys
import weakref
from base64 import urlsafe_b64decode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from unittest.mock import patch

import pytest

from braid.models import spacy_parser
from braid.models.spacy_parser import DIGEST, KEPT_CHARS, MAX_CHARS, SpacyParser, digest_of, shared
from braid.text.parse import Parse, Parser, ParserError, ParserMissingError
from braid.text.sentences import BLANK, readable
from braid.tools.cli.errors import explain

OURS = shared()
HARD = [
    "I moved to Porto in May, and my sister doesn't like it.",
    "",
    "   \n\t ",
    BLANK * 12,
    f"we use {BLANK * 7} for mail{BLANK}  and  Slack \n\n for talk ",
    "😀 👩‍👩‍👧 love it 🇵🇹!!!",
    "half of a pair: \ud83d",
    "\x07\u200b\ufeff\u202e",
    "日本語 テスト 한국어 שלום مرحبا",
    "Ça va? Je m'appelle Zoë et j'habite à Porto depuis trois ans.",
    "(" * 1_000,
    "a." * 500,
    "and then we went to the market, " * 31,
    "x" * MAX_CHARS + " y",
    "tea " * 2_000,
    '{"name": "half", "json',
    "IT'S\u2028a\u00a0line",
]


def check(parse: Parse, text: str) -> None:
    assert parse.text == text
    end = 0
    for token in parse.tokens:
        assert end <= token.start < token.stop <= len(text)
        assert text[token.start : token.stop] == token.text
        assert text[end : token.start].strip(" \n\t\x00\x07\u2028\u00a0") == ""
        assert not re.search(r"[\s\x00]", token.text)
        assert 0 <= token.head < len(parse.tokens)
        assert token.pos != "SPACE"
        end = token.stop


def test_every_token_points_into_its_text() -> None:
    for text, parse in zip(HARD, OURS.parse(HARD), strict=True):
        check(parse, text)
        rest = text[parse.tokens[-1].stop if parse.tokens else 0 :]
        assert len(text) > MAX_CHARS or rest.strip(" \n\t\x00") == ""


def test_a_sentence_is_taken_apart() -> None:
    parse = OURS.parse([HARD[0]])[0]
    moved, like = (
        next(n for n, one in enumerate(parse.tokens) if one.text == word) for word in ("moved", "like")
    )
    assert (parse.tokens[moved].lemma, parse.tokens[moved].dep, parse.tokens[moved].head) == (
        "move",
        "ROOT",
        moved,
    )
    assert {(parse.tokens[at].text, parse.tokens[at].dep) for at in parse.children(like)} >= {
        ("sister", "nsubj"), ("n't", "neg"), ("it", "dobj"),
    }  # fmt: skip
    assert [one.tag for one in parse.tokens][:2] == ["PRP", "VBD"]


def test_blanks_change_no_parse() -> None:
    plain, blanked, spaced = OURS.parse(
        ["We use Slack for mail.", f"We use{BLANK * 5}Slack for mail.", "  We\nuse  Slack   for mail.\n"]
    )
    bare = [one._replace(start=0, stop=0) for one in plain.tokens]
    assert [one._replace(start=0, stop=0) for one in blanked.tokens] == bare
    assert [one._replace(start=0, stop=0) for one in spaced.tokens] == bare
    assert (blanked.tokens[2].start, spaced.tokens[2].start) == (11, 10)
    shown = readable("I said `rm -rf x` to “Mo and left” and she's happy")
    check(OURS.parse([shown])[0], shown)


def test_of_a_text_that_is_too_long_the_beginning_is_parsed() -> None:
    words, run = OURS.parse(["tea " * 2_000, "x" * (MAX_CHARS + 1)])
    assert len(words.tokens) == MAX_CHARS // 4
    assert [one.stop for one in run.tokens] == [MAX_CHARS]


def forgetful() -> SpacyParser:
    """A parser with the model of this process, words that it has met included, that keeps no parse."""
    parser = SpacyParser()
    parser._loaded = shared()._model()
    return parser


@pytest.mark.soak
def test_neither_batch_nor_company_nor_order_changes_a_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{text} {number}" for number in range(4) for text in HARD]
    whole = SpacyParser().parse(texts)
    assert forgetful().parse(texts[::-1])[::-1] == whole
    assert [SpacyParser.parse(shared(), [text])[0] for text in texts] == whole
    monkeypatch.setattr(spacy_parser, "_BATCH", 3)
    monkeypatch.setattr(spacy_parser, "_ZONE", 5)
    monkeypatch.setattr(spacy_parser, "_LEMMAS", 4)
    assert forgetful().parse(texts) == whole


@pytest.mark.soak
def test_another_process_gives_the_same_parse() -> None:
    code = (
        "import sys; from braid.models.spacy_parser import SpacyParser; assert 'spacy' not in sys.modules;"
        "print(SpacyParser().parse([sys.argv[1]])[0])"
    )
    done = subprocess.run([sys.executable, "-c", code, HARD[0]], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(OURS.parse([HARD[0]])[0])
    assert done.stderr == ""


def test_a_text_that_comes_again_is_not_parsed_again() -> None:
    parser = forgetful()
    first = parser.parse(["I live in Porto.", "I live in Porto."])
    assert first[0] is first[1] is parser.parse(["I live in Porto."])[0]
    for number in range(
        0, 2 * KEPT_CHARS, 1_000
    ):  # the blanks are kept with the text, and cost nothing to parse
        parser.parse([f"{number}{BLANK * 1_000}"])
    assert parser.parse(["I live in Porto."])[0] is not first[0]
    assert parser.parse(["I live in Porto."]) == first[:1]


def test_threads_share_a_parser() -> None:
    parser = forgetful()
    texts = [f"Person {number} moved to town {number}." for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: parser.parse([text])[0], texts * 2))
    assert found == OURS.parse(texts * 2)


def test_it_says_how_much_the_model_alone_reads() -> None:
    assert OURS.run_alone(HARD) == sum(len(parse.tokens) for parse in OURS.parse(HARD))


def test_the_name_holds_all_that_a_parse_depends_on() -> None:
    parser: Parser = OURS
    assert parser.name == f"en_core_web_sm-3.8.0+spacy-{metadata.version('spacy')}"


# -- refusals -------------------------------------------------------------------------------------

OFFICIAL = """
LICENSE OTPBdpebaLxtC8yQLH1sEw8dEn9Hbxe6XNuo2Zz9ABI
LICENSES_SOURCES INnfrNIVESJR8VNB7dGkex-Yvzk6IS8Q8ZT_3H7pipA
accuracy.json 51ctfy88GOmSFHH50LNCT4z38akJrkhPoQt4ChP0xnY
attribute_ruler/patterns -Ll_fr75uFNrul8Pwec69hg1Y-luIyW8uwIbjG28ZoM
config.cfg ZcVFyi2lvUuHsi1JFzGGBTYLN97m7WsYUWoDb4cxn3k
lemmatizer/lookups/lookups.bin 62T0DA-DltF2JzDA3fTa0qUtE49aOJ9xoaHQiBc7dzc
ner/cfg pxcu2tr7qfRy6awPJmDuwEtkBeRxvp4gJnt5xnKI0i0
ner/model zZPpypEmxp8dEKEDnvZ8PZ7BIjtE0HmFZwWXDw8Z_04
ner/moves 2CsTRz69M-A5YATdIvAMcf48ElF0K_H3xFVPI_07CvQ
parser/cfg 4qJA7wH5Xlj13UydbpDWH1l7jZmJZlcNMAndgeiHl4A
parser/model 4AmJEFNahj1DAILs5XRV1foHHNTKOgBU6AWCB2x1Kx4
parser/moves 7EExjDLrf55NjwULLoRm7meVTS00VcGuxzq_Rsgt1n8
senter/cfg Kk20pym2Rp2h-H1xzHzT7SpzNgzIUyaCHoUINsRnEQM
senter/model tp5xdKC2MHc5rew8gFOsRf261xccTT2L_NlxPsvAH4w
tagger/cfg 1ITD2TkfN7-ccnqi60xHeiTLEDAg-V5S3DeEKBi1ARg
tagger/model HsPZPzjOvhcvK1yJ2EvnKFbOQsjxpk8WmfHZincfNrc
tok2vec/cfg -KWibjBW62-wbe6z28z9iK50kAIAyYxwtZZru37J1N4
tok2vec/model 6E_AbrMZyU0o5GD8M04pISCwHxi6pdyLUMl3RZggoJA
tokenizer sBTou6SVixIK8tDBxj6rt8ADefK6yvEN98UyXv0upGc
vocab/key2row dr6LUo0Adfeq6Y1vpXptPIOuSAqEaeZo17CvlomVrHE
vocab/lookups.bin _OnIg8VhZfKVc8yTjCocnUF6xhvY9WtnHdX3mW3nBoI
vocab/strings.json sZZtHwegW2hXbfB_Q_QCA7ThESStgsyDnoMSrY1_2uc
vocab/vectors FHcraD5yZDbVlIrT__K0PQNu8uu-NFiq_tYATgWkBwY
vocab/vectors.cfg _0NZCRlSyM0W8fBIL1dw-4LRcHNo1cyjxGqlAfVS48U
"""
"""The RECORD of the wheel en_core_web_sm-3.8.0 of github.com/explosion/spacy-models: three copies agree."""


def installed() -> Path:
    return next(spacy_parser._installed())


def test_the_digest_is_that_of_the_official_wheel_too() -> None:
    lines = [line.split() for line in OFFICIAL.strip().splitlines()]
    text = "".join(f"{urlsafe_b64decode(digest + '=').hex()}  {path}\n" for path, digest in sorted(lines))
    assert sha256(text.encode()).hexdigest() == DIGEST == digest_of(installed())


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(installed(), tmp_path / "en_core_web_sm-3.8.0"))


@pytest.mark.parametrize("change", ["a bit", "one more", "one less", "a name"])
def test_files_that_are_not_the_pinned_ones_are_not_loaded(copy: Path, change: str) -> None:
    weights = copy / "tagger" / "model"
    match change:
        case "a bit":
            raw = bytearray(weights.read_bytes())
            raw[-9] ^= 1
            weights.write_bytes(raw)
        case "one more":
            (copy / "tagger" / "more.py").write_text("")
        case "one less":
            (copy / "accuracy.json").unlink()
        case _:
            weights.rename(copy / "tagger" / "weights")
    with (
        patch("spacy.util.load_model_from_path", side_effect=AssertionError("loaded")),
        pytest.raises(ParserError) as caught,
    ):
        SpacyParser(copy).parse(["I live in Porto."])
    said = str(caught.value)
    assert DIGEST in said
    assert digest_of(copy) in said
    assert str(copy) in said
    assert "pip install --force-reinstall" in said


def test_what_names_the_package_is_not_read(copy: Path) -> None:
    (copy / "meta.json").write_text("{")
    (copy / "README.md").unlink()
    assert SpacyParser(copy).parse(HARD) == OURS.parse(HARD)


def test_one_sound_package_is_enough(copy: Path) -> None:
    (copy / "config.cfg").write_text("")
    sound = installed()
    with patch.object(spacy_parser, "_installed", lambda: iter([copy, sound])):
        assert SpacyParser().parse(HARD[:1]) == OURS.parse(HARD[:1])


def test_without_the_extra_it_says_what_to_install() -> None:
    with patch.object(metadata, "version", side_effect=metadata.PackageNotFoundError("spacy")):
        spacy_parser._spacy_version.cache_clear()
        with pytest.raises(ParserMissingError, match=r'spaCy .* pip install "braid-store\[learn\]"'):
            SpacyParser().parse(["I live in Porto."])
        with pytest.raises(ParserMissingError):
            _ = SpacyParser().name
    with (
        patch.object(spacy_parser, "PACKAGES", ("no_such_model",)),
        pytest.raises(ParserMissingError, match=r'the model .* pip install "braid-store\[learn\]"'),
    ):
        SpacyParser().parse([""])


def test_the_command_line_says_so_as_a_refusal() -> None:
    said, hint = explain(ParserMissingError("spaCy is not installed: pip install it"))
    assert said == "spaCy is not installed: pip install it"
    assert hint is not None
    assert "works without it" in hint


@pytest.mark.sample(4)
@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.5])
def test_a_program_may_end_while_a_thread_parses(seconds: float) -> None:
    """Without care it is aborted where the thread is in the model's algebra: "libblis: Aborting", one time in three."""
    code = (
        "import threading, time; from braid.models.spacy_parser import shared; shared().parse(['It is loaded.'])\n"
        "texts = [f'I moved to town {n} with my sister, since it was cheap there.' for n in range(20_000)]\n"
        "threading.Thread(target=shared().parse, args=(texts,), daemon=True).start()\n"
        f"time.sleep({seconds})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_parser_that_nobody_uses_is_let_go() -> None:
    parser = forgetful()
    spacy_parser._LOADED.add(parser)
    gone = weakref.ref(parser)
    del parser
    assert gone() is None


@pytest.mark.soak
def test_a_fork_of_a_program_that_parses_may_end() -> None:
    """It has the lock of a thread that it hasn't."""
    code = (
        "import os, threading, time; from braid.models.spacy_parser import shared; shared().parse(['It is loaded.'])\n"
        "texts = [f'I moved to town {n} with my sister, since it was cheap there.' for n in range(20_000)]\n"
        "threading.Thread(target=shared().parse, args=(texts,), daemon=True).start(); time.sleep(0.3)\n"
        "child = os.fork()\n"
        "if child: assert os.waitpid(child, 0)[1] == 0"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
