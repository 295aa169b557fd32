"""Affect in every form that a store can be given, for tests that vary it and hold everything else still."""

from hypothesis import strategies as st

from braid.affect.blend import Felt
from braid.affect.style import Base
from braid.ledger.record.record import Affect, AffectBody, Vad

VALENCES = st.floats(-1, 1)
AROUSALS = st.floats(0, 1)
SHARES = st.floats(0, 1)
LABELS = st.sampled_from(["neutral", "joy", "calm", "surprise", "anger", "frustration", "fear", "sadness"])


def vads() -> st.SearchStrategy[Vad]:
    """Return any tone within its ranges."""
    return st.builds(Vad, v=VALENCES, a=AROUSALS, d=VALENCES)


def felts() -> st.SearchStrategy[Felt]:
    """Return any tone with any confidence."""
    return st.builds(Felt, vads(), SHARES)


def affects() -> st.SearchStrategy[Affect | None]:
    """Return what an experience may carry: nothing, or any tone, with or without the rest."""
    share = st.none() | SHARES
    return st.none() | st.builds(
        Affect, vad=vads(), labels=st.lists(LABELS, max_size=3), intensity=share, confidence=share
    )


def snapshots() -> st.SearchStrategy[AffectBody]:
    """Return any snapshot of anybody at any stage."""
    return st.builds(
        AffectBody,
        actor=st.sampled_from(["user", "agent"]),
        stage=st.sampled_from(["input", "draft", "augmented"]),
        valence=VALENCES,
        arousal=AROUSALS,
        dominance=VALENCES,
        primary_emotion=LABELS,
        intensity=st.none() | SHARES,
        confidence=st.none() | SHARES,
        notes=st.none() | st.text(max_size=40),
        signals=st.dictionaries(st.text(max_size=8), st.integers(0, 9) | st.text(max_size=8), max_size=3),
    )


def bases() -> st.SearchStrategy[Base]:
    """Return any manner to start from."""
    return st.builds(Base, sentence_words=st.floats(4, 60), hedge_rate=SHARES, imperative_rate=SHARES)
