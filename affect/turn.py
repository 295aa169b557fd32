"""The tone of a captured turn by its words alone: cheap enough to be read of every record while the log is replayed.

    tone("I love it!").valence

A word has a weight for each of valence, arousal and dominance (`data/turn.tsv`, fitted by `tools/lab/fit_turn.py`); the
tone is their sum over the different words of a turn, by its length. Whole numbers and single divisions give the same
on every machine: what is made of them enters a digest. `METHOD` names function and weights: another is another.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from braid.affect import emotions
from braid.affect.vad import clamped
from braid.ledger.record.record import Affect, ExperienceBody, Provenance, Vad

METHOD: Final = "words-1"
WEIGHTS: Final = Path(__file__).parent / "data" / "turn.tsv"
HEAD: Final = 192
"""How many characters are read: a longer turn costs no more than a short one."""
CALM_WORDS: Final = 8
"""Words of no weight that are added to every turn, so that one word alone says little."""
SCALE: Final = 10_000
"""What a weight of 1 is in the file."""
STEPS: Final = 50
"""A tone is told to a fiftieth: it is known no better, and the same ones come again."""
BASE: Final = "*"
"""The line of the file that holds what is read of a turn whose words weigh nothing."""
SURE: Final = ((0.1, 0.82), (0.2, 0.71), (0.35, 0.8), (2.0, 0.88))
"""Up to which distance of valence from neutral a reading is right how often, by EmoBank's dev split (`is_right` of
`affect.confidence`): of 602, 256, 113 and 25 readings."""
STRANGE: Final = 0.3
"""Below this share of known words a turn may be of another language, and is read with as much less confidence."""
_OFFSET: Final = 1 << 16
_BITS: Final = 26
"""Room for the sum of a thousand weights; `HEAD` has far fewer words."""
_MARKS: Final = {ord("’"): "'"} | {ord(mark): " " for mark in "‘“”…–—"}  # noqa: RUF001 - as they are typed
_KEPT: Final = b"abcdefghijklmnopqrstuvwxyz'"
_LETTERS: Final = bytes(
    at if at in _KEPT or at > 127 else at + 32 if 65 <= at <= 90 else 32 for at in range(256)
)


class TurnTone(NamedTuple):
    """What a turn's tone is taken to be, and how sure that is, in [0, 1]."""

    valence: float
    arousal: float
    dominance: float
    labels: tuple[str, ...]
    """The emotion that it is nearest to."""
    intensity: float
    confidence: float
    method: str
    """Function and version: `METHOD`."""

    @property
    def vad(self) -> Vad:
        """Valence, arousal and dominance."""
        return Vad(v=self.valence, a=self.arousal, d=self.dominance)


class _Words(NamedTuple):
    weights: Mapping[bytes, int]
    """Word → its three weights in one whole number, which are so added at once (see `_packed`)."""
    known: frozenset[bytes]
    signs: frozenset[str]
    """Emoji, which may stand glued to a word."""
    base: tuple[float, float, float]


def is_captured(type_: str | None, from_: Provenance) -> bool:
    """Say whether an experience is a captured turn: an occurrence in a person's words, or in those of an agent."""
    return type_ == "occurrence" and from_.actor in ("user", "agent")


def felt(type_: str | None, body: ExperienceBody) -> Affect | TurnTone | None:
    """Return the tone of an experience: as it states it, else what is read of a captured turn."""
    if body.affect is not None:
        return body.affect
    return tone(body.content.text) if is_captured(type_, body.provenance) else None


def tone(text: str) -> TurnTone | None:
    """Return the tone of a turn's first `HEAD` characters; None where none of its words is known."""
    said = words(text)
    held = _held()
    found = held.known.intersection(said)
    if not found:
        return None
    v, a, d = _unpacked(sum(map(held.weights.__getitem__, found)), len(found))
    count = (len(said) + CALM_WORDS) * SCALE
    base = held.base
    share = min(10, 10 * len(found) // len(said))
    return _told(
        round(STEPS * (base[0] + v / count)), round(STEPS * (base[1] + a / count)),
        round(STEPS * (base[2] + d / count)), share,
    )  # fmt: skip


def words(text: str) -> list[bytes]:
    """Return what is weighed of a turn: its words in lower case, emoji, and `!` and `?` where it has any."""
    head = text[:HEAD]
    if not head.isascii():
        head = head.translate(_MARKS)
    raw = head.encode("utf-8", "ignore")
    said = raw.translate(_LETTERS).split()
    if b"!" in raw:
        said.append(b"!")
    if b"?" in raw:
        said.append(b"?")
    if len(raw) > len(head):
        said += [sign.encode() for sign in _held().signs.intersection(head)]
    return said


@lru_cache(maxsize=65_536)
def _told(v: int, a: int, d: int, share: int) -> TurnTone:
    """Return a tone in steps as numbers, named; `share` is the share of known words, in tenths."""
    vad = clamped(v / STEPS, a / STEPS, d / STEPS)
    sure = next(right for least, right in SURE if abs(vad.v) < least)
    confidence = round(sure * min(1.0, share / (10 * STRANGE)), 2)
    intensity = round(emotions.intensity(vad), 2)
    return TurnTone(vad.v, vad.a, vad.d, (emotions.emotion(vad),), intensity, confidence, METHOD)


def _packed(v: int, a: int, d: int) -> int:
    """Return three weights as one number; none is negative in it, so that sums don't borrow from one another."""
    return (v + _OFFSET) | (a + _OFFSET) << _BITS | (d + _OFFSET) << 2 * _BITS


def _unpacked(total: int, count: int) -> tuple[int, int, int]:
    """Return the three sums of `count` weights."""
    mask, off = (1 << _BITS) - 1, count * _OFFSET
    return (total & mask) - off, (total >> _BITS & mask) - off, (total >> 2 * _BITS) - off


@cache
def _held() -> _Words:
    weights: dict[bytes, int] = {}
    base = (0.0, 0.0, 0.0)
    for line in WEIGHTS.read_text(encoding="utf-8").splitlines():
        word, *numbers = line.split("\t")
        v, a, d = map(int, numbers)
        if word == BASE:
            base = (v / SCALE, a / SCALE, d / SCALE)
        else:
            weights[word.encode()] = _packed(v, a, d)
    signs = frozenset(word.decode() for word in weights if not word.isascii() and len(word.decode()) == 1)
    return _Words(weights, frozenset(weights), signs, base)


def forget_weights() -> None:
    """Read the file of weights again when it is next needed: for who has just written it."""
    _held.cache_clear()
    _told.cache_clear()
