"""How well claims were read: against observations of the same turns, and against labels, claim by claim. Pure.

A claim is a labelled one if it is of the same subject, denies or not as the label does, and its relation, object or
quote hold all words of the label. Words are compared by their stems, common irregular forms by their base. To dislike
is not to like, and to quit is not to do. A relation may be told from either end: "Kim sister_is Bridget" is said of
Bridget too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, Final

import msgspec

from braid.learn.turn import Turn
from braid.ledger.record.record import Claim
from braid.text.words import normal, stem, telling, words
from braid.tools.evaluation.talks import LabelledClaim, Talk

_Z: Final = 1.959964
"""Of a normal distribution, .95 lies within so many deviations."""
_POINTS: Final = 40
CUTS: Final = (1, 2, 3)
_POSSESSIVE: Final = re.compile(r"['’]s?(?=\s|$)")
_OTHERS: Final = frozenset(("second_hand", "several_people"))
"""Cases in which a claim may be another's word, though its label doesn't say whose."""
_DENYING: Final = frozenset(
    map(stem, ("dislike", "hate", "detest", "loathe", "avoid", "quit", "stop", "cancel", "scrap", "end"))
)
_FORMS: Final = """
be: am is are was were been; become: became; begin: began begun; break: broke broken; bring: brought; build:
built; buy: bought; catch: caught; choose: chose chosen; come: came; do: did done; draw: drew drawn; drink:
drank drunk; drive: drove driven; eat: ate eaten; fall: fell fallen; feel: felt; fight: fought; find: found;
fly: flew flown; forget: forgot forgotten; get: got gotten; give: gave given; go: went gone; grow: grew grown;
have: had has; hear: heard; hold: held; keep: kept; know: knew known; lead: led; leave: left; lend: lent;
lose: lost; make: made; mean: meant; meet: met; pay: paid; rebuild: rebuilt; ride: rode ridden; ring: rang
rung; run: ran; say: said; see: saw seen; sell: sold; send: sent; shoot: shot; sing: sang sung; sit: sat;
sleep: slept; speak: spoke spoken; spend: spent; stand: stood; steal: stole stolen; stick: stuck; swim: swam
swum; take: took taken; teach: taught; tell: told; think: thought; throw: threw thrown; understand:
understood; wake: woke woken; wear: wore worn; win: won; write: wrote written; child: children; foot: feet;
man: men; mouse: mice; person: people; tooth: teeth; wife: wives; woman: women; busy: busiest
"""
_BASES: Final[Mapping[str, str]] = {
    form: base.strip()
    for base, _, forms in (entry.partition(":") for entry in _FORMS.split(";"))
    for form in forms.split()
}


class Shares(msgspec.Struct, frozen=True):
    """What came of a reading, against observations. Shares are in [0, 1]; None where there is nothing to divide by."""

    claims: int
    claims_per_turn: float | None
    turns_with_claim: int
    touched: float | None
    """Observations of which a turn bears a claim."""
    content: float | None
    """Observations of which a turn bears a claim that has a content word in common with them."""
    turn_precision: float | None
    """Turns with a claim that have an observation."""


class Interval(msgspec.Struct, frozen=True):
    """A share of `of`, and Wilson's interval of .95; None of nothing."""

    share: float | None
    low: float | None
    high: float | None
    of: int


def wilson(part: int, whole: int) -> Interval:
    """Return a share with its interval (Wilson, 1927)."""
    if not whole:
        return Interval(None, None, None, 0)
    share = part / whole
    middle = share + _Z**2 / (2 * whole)
    width = _Z * sqrt(share * (1 - share) / whole + _Z**2 / (4 * whole**2))
    below = 1 + _Z**2 / whole
    low, high = max(0.0, (middle - width) / below), min(1.0, (middle + width) / below)
    return Interval(round(share, 4), round(low, 4), round(high, 4), whole)


# -- against observations -------------------------------------------------------------------------


class Scored(msgspec.Struct, frozen=True):
    """A claim with how high it ranks among all that were read."""

    claim: Claim
    score: float


Read = Sequence[Sequence[Scored]]
"""The claims of each turn of a talk."""


def content_words(text: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the stems of a text's words, without stop words and the words of these names."""
    out = {stem(word) for name in names for word in words(name)}
    return frozenset(stem(word) for word in telling(text)) - out


def at_most(read: Read, most: int | None) -> Read:
    """Return the claims of each turn that rank highest, in their order: at most so many."""
    if most is None:
        return read
    kept: list[list[Scored]] = []
    for claims in read:
        best = sorted(range(len(claims)), key=lambda at: (-claims[at].score, at))[:most]
        kept.append([claims[at] for at in sorted(best)])
    return kept


def shares(talks: Sequence[Talk], reads: Sequence[Read], least: float | None = None) -> Shares:
    """Return the measures over some talks, of the claims that score at least `least`."""
    turns = claims = bearing = right = observed = touched = content = 0
    for talk, read in zip(talks, reads, strict=True):
        kept = [[one.claim for one in each if least is None or one.score >= least] for each in read]
        noted = {at for one in talk.observations for at in one.turns}
        turns += len(talk.turns)
        claims += sum(map(len, kept))
        bearing += sum(bool(each) for each in kept)
        right += sum(bool(each) and at in noted for at, each in enumerate(kept))
        observed += len(talk.observations)
        said = [frozenset[str]().union(*(_content(claim, talk) for claim in each)) for each in kept]
        for one in talk.observations:
            touched += any(kept[at] for at in one.turns)
            wanted = content_words(one.text, talk.speakers)
            content += any(wanted & said[at] for at in one.turns)
    return Shares(
        claims=claims,
        claims_per_turn=_share(claims, turns),
        turns_with_claim=bearing,
        touched=_share(touched, observed),
        content=_share(content, observed),
        turn_precision=_share(right, bearing),
    )


def _content(claim: Claim, talk: Talk) -> frozenset[str]:
    """Return the content words of a claim: of its subject, relation and object, not of its quote."""
    return content_words(f"{claim.subject} {claim.rel} {claim.object}", talk.speakers)


def base_rate(talks: Sequence[Talk]) -> float | None:
    """Return the share of turns that have an observation: the turn precision of a claim in every turn."""
    noted = sum(len({at for one in talk.observations for at in one.turns}) for talk in talks)
    return _share(noted, sum(len(talk.turns) for talk in talks))


def curve(talks: Sequence[Talk], reads: Sequence[Read]) -> list[dict[str, Any]]:
    """Return the measures for one limit of the score after the other, the lowest first: `at` and what is above it."""
    scores = sorted({one.score for read in reads for each in read for one in each})
    if len(scores) > _POINTS:
        every = sorted(one.score for read in reads for each in read for one in each)
        scores = sorted({every[at * len(every) // _POINTS] for at in range(_POINTS)})
    return [{"at": at, **msgspec.to_builtins(shares(talks, reads, at))} for at in scores]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


# -- against labels -------------------------------------------------------------------------------


class Counted(msgspec.Struct, frozen=True):
    """Of one labelled talk, or of several: how many claims, and how many of them as they should be."""

    extracted: int = 0
    right: int = 0
    """Extracted claims that a label expects, or allows."""
    must: int = 0
    found: int = 0
    """Labels that must be found, and are."""
    alone: int = 0
    """The same, where each extracted claim stands for one label only."""
    worded: int = 0
    """Extracted claims that hold the words of a label, whomever they are said of."""
    attributed: int = 0
    """Of these, the ones of the right subject, and of the right one's word."""
    typed: int = 0
    """Of the right ones, those of the label's type."""
    never: int = 0
    never_hit: int = 0
    """Labels of what must not be extracted, and was."""

    def plus(self, other: "Counted") -> "Counted":
        """Return the sums of both."""
        return Counted(*(getattr(self, name) + getattr(other, name) for name in Counted.__struct_fields__))

    def measures(self) -> dict[str, Any]:
        """Return the counts, and the shares with their intervals."""
        found = {
            "precision": wilson(self.right, self.extracted),
            "recall": wilson(self.found, self.must),
            "recall_alone": wilson(self.alone, self.must),
            "attribution": wilson(self.attributed, self.worded),
            "type": wilson(self.typed, self.right),
            "never_hit": wilson(self.never_hit, self.never),
        }
        return {"claims": self.extracted, **{name: msgspec.to_builtins(one) for name, one in found.items()}}


class Judgement(msgspec.Struct, frozen=True):
    """The counts of one labelled talk, and what went wrong in it."""

    counted: Counted
    wrong: tuple[Claim, ...]
    missed: tuple[LabelledClaim, ...]
    misattributed: tuple[Claim, ...]
    never: tuple[Claim, ...]


def judged(talk: Talk, claims: Sequence[tuple[Turn, Claim]]) -> Judgement:
    """Return how the claims of a labelled talk, each with its turn, compare with its labels."""
    labels = talk.labels
    if labels is None:
        raise ValueError(f"{talk.name!r} has no labels")
    held = [_held(claim) for _, claim in claims]
    worded = [[label for label in labels.claims if _has_words(one, label)] for one in held]
    fits = [
        [label for label in each if _agrees(claim, label) and is_of(claim, label, talk)]
        for (_, claim), each in zip(claims, worded, strict=True)
    ]
    attributed = [
        any(is_of(claim, label, talk) and _is_word_of(turn, claim, label, labels.case) for label in each)
        for (turn, claim), each in zip(claims, worded, strict=True)
    ]
    must = [label for label in labels.claims if label.must]
    missed = [label for label in must if not any(_among(label, each) for each in fits)]
    hits = [
        (label, claim)
        for label in labels.never
        for (_, claim), one in zip(claims, held, strict=True)
        if _has_words(one, label) and _agrees(claim, label) and is_of(claim, label, talk)
    ]
    return Judgement(
        Counted(
            extracted=len(claims),
            right=sum(map(bool, fits)),
            must=len(must),
            found=len(must) - len(missed),
            alone=_assigned(must, fits),
            worded=sum(map(bool, worded)),
            attributed=sum(attributed),
            typed=sum(
                any(label.type == claim.type for label in each)
                for (_, claim), each in zip(claims, fits, strict=True)
            ),
            never=len(labels.never),
            never_hit=sum(any(label is other for other, _ in hits) for label in labels.never),
        ),
        wrong=tuple(claim for (_, claim), each in zip(claims, fits, strict=True) if not each),
        missed=tuple(missed),
        misattributed=tuple(
            claim
            for (_, claim), each, well in zip(claims, worded, attributed, strict=True)
            if each and not well
        ),
        never=tuple(claim for _, claim in hits),
    )


def is_of(claim: Claim, label: LabelledClaim, talk: Talk) -> bool:
    """Whether a claim is said of whom, or what, a label names; a relation between two is said of both.

    `user` is who speaks, by whatever name; a possession of a speaker's is named with or without the speaker; a person
    by the first name, the last, or all of them; a thing by its noun, or by that and what describes it. What a team
    decided is told as its speaker's; a thing of the speaker's ("my busiest season") is the speaker's own.
    """
    wanted = [label.subject]
    speaker = talk.turns[label.turn].speaker
    if normal(label.subject) in ("user", "team"):
        wanted.append(speaker)
    if _is_possession(claim.subject, label.subject, speaker):
        return True
    given = [claim.subject]
    if label.type == "relation" and claim.object[:1].isupper():
        given.append(claim.object)
    return any(_is_same(one, other, talk) for one in given for other in wanted)


def _is_possession(given: str, wanted: str, speaker: str) -> bool:
    """Whether a claim is of something that the labelled one has: the user's support line, Ana's rent."""
    owner, possessive, thing = normal(given).partition("'s ")
    return bool(possessive and thing) and owner in {
        normal(wanted),
        normal(speaker) if normal(wanted) == "user" else normal(wanted),
    }


def _is_same(given: str, wanted: str, talk: Talk) -> bool:
    (one, owned), (other, other_owned) = _subject(given, talk), _subject(wanted, talk)
    if one == other:
        return bool(one)
    (short, _), (long, of_another) = sorted(
        ((one, owned), (other, other_owned)), key=lambda each: len(each[0])
    )
    if not short or of_another:  # "brother's wife" is not "wife"
        return False
    are_names = given[:1].isupper() and wanted[:1].isupper()
    if not are_names and set(short) <= set(long):  # "rent" is "rent on the workshop"
        return True
    return long[-len(short) :] == short or (are_names and len(short) == 1 and long[:1] == short)


def _subject(name: str, talk: Talk) -> tuple[tuple[str, ...], bool]:
    """Return the stems of a name, without the speaker whose it is, and whether it is another's."""
    parts = words(_POSSESSIVE.sub(" ", normal(name)))
    owners = {"user", *(words(speaker)[0] for speaker in talk.speakers if words(speaker))}
    possessives = len(_POSSESSIVE.findall(name))
    if len(parts) > 1 and possessives and parts[0] in owners:
        parts, possessives = parts[1:], possessives - 1
    return tuple(stem(part) for part in parts), possessives > 0


def _agrees(claim: Claim, label: LabelledClaim) -> bool:
    """Whether both deny, or neither does, by a "not" or by a verb that denies."""
    denies = any(stem(word) in _DENYING for word in words(claim.rel))
    expected = f"{label.gloss} {' '.join(label.words)}"
    affirmed = label.polarity and not any(stem(word) in _DENYING for word in words(expected))
    return (claim.polarity != denies) == affirmed or (claim.polarity == label.polarity and not denies)


def _is_word_of(turn: Turn, claim: Claim, label: LabelledClaim, case: str) -> bool:
    """Whether a claim is the word of whom the label says; of the speaker where it says nothing."""
    if label.said_by is not None:
        return claim.said_by is not None and normal(claim.said_by) == normal(label.said_by)
    return claim.said_by is None or claim.said_by == turn.speaker or case in _OTHERS


def _held(claim: Claim) -> frozenset[str]:
    """Return the stems of all that a claim's subject, relation, object and quote say."""
    return frozenset(
        _base(word) for word in words(f"{claim.subject} {claim.rel} {claim.object} {claim.quote or ''}")
    )


def _base(word: str) -> str:
    return stem(_BASES.get(word, word))


def _has_words(held: frozenset[str], label: LabelledClaim) -> bool:
    return all(
        _base(word) in held or (word.isdigit() and any(_number(one) == word for one in held))
        for given in label.words
        for word in words(given)
    )


def _number(word: str) -> str:
    """Return the number that a word begins with: `90` of `90s`, of `4k` the 4."""
    return word[: len(word) - len(word.lstrip("0123456789"))]


def _among(label: LabelledClaim, labels: Iterable[LabelledClaim]) -> bool:
    return any(label is one for one in labels)


def _assigned(must: Sequence[LabelledClaim], fits: Sequence[Sequence[LabelledClaim]]) -> int:
    """Return to how many labels a claim of its own can be given (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(label: int, tried: set[int]) -> bool:
        for claim, each in enumerate(fits):
            if claim not in tried and _among(must[label], each):
                tried.add(claim)
                if claim not in taken or place(taken[claim], tried):
                    taken[claim] = label
                    return True
        return False

    return sum(place(label, set()) for label in range(len(must)))
