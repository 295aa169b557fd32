"""Readings: ranges, what the signs say, how sure, and how near the raters of EmoBank's dev split they come."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from braid.affect.agency import agency
from braid.affect.confidence import BANDS, band
from braid.affect.cues import read_cues
from braid.affect.emotions import PLACES, emotion, intensity
from braid.affect.lexicon import lexicon
from braid.affect.model import EMBEDDER, scaled
from braid.affect.vad import ToneReading, read
from braid.affect.words import MAX_CHARS, grams
from braid.ledger.record.record import Vad
from braid.models.static import StaticEmbedder
from tests.unit.affect.inputs import vads

EMOBANK = Path(__file__).parents[4] / "shared" / "data" / "emobank" / "emobank-train-dev.csv"
MODEL = StaticEmbedder()


def tone(text: str) -> ToneReading:
    return read([text], MODEL.embed([text]))[0]


def test_the_weights_are_for_the_packaged_embedder() -> None:
    assert f"{MODEL.name}@{MODEL.version}" == EMBEDDER


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("I love it, thank you so much! ❤", {"joy"}),
        ("A quiet evening by the lake, warm and peaceful.", {"calm"}),
        ("wow, I did not expect that at all!", {"surprise"}),
        ("I am furious. You lied to me and ruined everything, you idiots!", {"anger"}),
        ("ugh, this is so frustrating, every single time the build fails", {"frustration"}),
        ("I'm so scared, what if they never come back?", {"fear"}),
        ("I miss her so much, I feel lonely and sad.", {"sadness"}),
        ("The meeting is at 10 on Tuesday.", {"neutral"}),
    ],
)
def test_a_word_for_the_tone(text: str, named: set[str]) -> None:
    assert {tone(text).emotion} == named


def test_the_dimensions_tell_texts_apart() -> None:
    glad, sore = tone("This is wonderful, I am so happy!"), tone("This is horrible, I feel awful.")
    assert glad.vad.v > 0.3 > -0.3 > sore.vad.v
    assert tone("HURRY, the house is on FIRE!!!").vad.a > tone("The table is made of oak.").vad.a + 0.2
    assert tone("I love it").vad.v > tone("I do not love it").vad.v
    strong, helpless = tone("We are strong and we will win."), tone("I am helpless, please help me.")
    assert strong.vad.d > helpless.vad.d + 0.3


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("take the money", 1),
        ("don't touch it", 2),
        ("do not touch it", 3),
        ("it was stolen", 1),
        ("stolen by night", 1),
        ("why here", 1),
        ("if only", 2),
        ("i'll see", 2),
        ("table", 0),
        ("", 0),
    ],
)
def test_who_acts_shows_in_numbers(text: str, changed: int) -> None:
    row = agency(text.split())
    assert len(row) == len(agency([]))
    assert sum(number > 0 for number in row) == changed


def test_words_pairs_and_how_long_words_begin() -> None:
    assert grams("Helpless again!") == ["helpless", "again", "!", "helpless again", "again !", "helpl*"]


def test_several_signals_make_sure() -> None:
    sure = tone("I love it, thank you so much! ❤")
    assert band(sure.confidence) == "high"
    assert set(sure.signals["agreeing"]) >= {"model", "lexical", "emoji", "discourse"}


def test_sarcasm_and_venting_make_less_sure() -> None:
    plain, sarcastic = tone("It broke again."), tone("Oh great, it broke again. Thanks for nothing.")
    assert sarcastic.confidence < plain.confidence
    assert "may be sarcasm" in sarcastic.notes
    assert tone("I love it :(").signals["sarcasm"] == ["face against words"]
    vented = tone("I'm sick of this, it fails")
    assert vented.signals["venting"] == ["had it"]
    assert "venting" in vented.notes


@pytest.mark.parametrize(
    "text",
    ["Ужасный день!", "彼女は悲しい。", "مرحبا بالعالم", "", " \n", "Ik ben zo verdrietig vandaag"],
)
def test_what_is_not_understood_is_unsure_and_near_neutral(text: str) -> None:
    found = tone(text)
    assert band(found.confidence) == "low"
    assert intensity(found.vad) < 0.45


@given(st.text(max_size=200))
def test_any_text_has_a_tone_within_its_ranges(text: str) -> None:
    for found in (tone(text), read([text])[0]):
        assert -1 <= found.vad.v <= 1
        assert 0 <= found.vad.a <= 1
        assert -1 <= found.vad.d <= 1
        assert 0 <= found.confidence <= 1
        assert 0 <= found.intensity <= 1
        assert found.emotion in PLACES
        assert found.notes
        if band(found.confidence) == "high":
            assert len(found.signals["agreeing"]) > 1
            assert not found.signals.get("sarcasm")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6))
def test_a_reading_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    together = read(texts, MODEL.embed(texts)) if texts else read([])
    for text, found in zip(texts, together, strict=True):
        alone = tone(text)
        assert (found.emotion, found.signals) == (alone.emotion, alone.signals)
        assert found.vad.v == pytest.approx(alone.vad.v, abs=2e-3)


def test_a_long_text_is_read_in_part_and_at_once() -> None:
    found = tone("I am happy. " * 100_000)
    assert len(read_cues("x" * 10**6).text) == MAX_CHARS
    assert found.vad.v > 0.2
    assert len(found.signals["lexical"]) <= 12


def test_a_snapshot_has_what_the_record_asks_for() -> None:
    found = tone("I love it!")
    body = found.body("user", "input")
    assert (body.valence, body.primary_emotion, body.confidence) == (
        found.vad.v,
        found.emotion,
        found.confidence,
    )
    assert found.affect().vad == found.vad


@pytest.mark.parametrize(
    ("text", "cue", "sign"),
    [
        ("good", "good", 1),
        ("not good", "good", -1),
        ("very good", "good", 1),
        ("a 👎 for it", "👎", -1),
        ("fine :(", ":(", -1),
    ],
)
def test_the_lexicons_rules(text: str, cue: str, sign: int) -> None:
    weights = dict(read_cues(text).scores.cues)
    assert math.copysign(1, weights[cue]) == sign


def test_degree_capitals_and_but_weigh() -> None:
    def weight(text: str) -> float:
        return dict(read_cues(text).scores.cues)["good"]

    assert (
        weight("slightly good") < weight("it is good") < weight("really good") < weight("it is really GOOD")
    )
    assert weight("good but slow") < weight("slow but good")
    assert len(lexicon()) > 7_000


@given(vads())
def test_an_emotion_that_is_named_outright_is_never_further(vad: Vad) -> None:
    plain = emotion(vad)
    assert emotion(vad, [plain]) == plain
    assert emotion(PLACES[plain]) == plain


def test_bands_cover_everything() -> None:
    assert [band(p) for p in (1.0, 0.8, 0.79, 0.6, 0.59, 0.0)] == [
        "high",
        "high",
        "middle",
        "middle",
        "low",
        "low",
    ]
    assert BANDS[-1][1] == 0.0


def test_three_is_neutral() -> None:
    assert scaled(np.array([[3.0, 3.0, 3.0], [1, 1, 1], [5, 5, 5]])).tolist() == [
        [0, 0.5, 0],
        [-1, 0, -1],
        [1, 1, 1],
    ]


@pytest.mark.soak(first=True)
@pytest.mark.skipif(not EMOBANK.exists(), reason="EmoBank is not at hand")
def test_the_dev_split_is_read_as_its_raters_did() -> None:
    with EMOBANK.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "dev"]
    texts = [row["text"] for row in rows]
    rated = scaled(np.array([[float(row[name]) for name in "VAD"] for row in rows]))
    for vectors, least in ((MODEL.embed(texts), (0.635, 0.52, 0.315)), (None, (0.6, 0.495, 0.3))):
        found = np.array([[one.vad.v, one.vad.a, one.vad.d] for one in read(texts, vectors)])
        for at, floor in enumerate(least):
            assert np.corrcoef(found[:, at], rated[:, at])[0, 1] >= floor
    sure = np.array([one.confidence for one in read(texts, MODEL.embed(texts))])
    assert np.mean(sure >= 0.8) >= 0.3
