"""One turn while it is being read: the claims so far, who was spoken of, what "it" is, which records were needed."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from braid.learn import dates
from braid.learn.dates import NEVER, Validity
from braid.learn.source import TurnText
from braid.learn.turn import KnownClaims, Turn, TurnNote, TurnReading
from braid.learn.voice import Voice
from braid.learn.words import FEMALE, MALE
from braid.ledger.record.record import Claim
from braid.text.parse import Parse
from braid.text.sentences import TextPart

MAX_CLAIMS: Final = 40
"""A turn that seems to state more is a list of something else."""
_NAMING: Final = frozenset(("went_to", "visited", "bought", "uses", "decided_on", "owns", "drives", "joined"))
"""What is named as the object of these may be "it" in the next clause."""


_NO_OBJECT: Final = re.compile(r"(?:not|is|are|was|were) ", re.IGNORECASE)
"""How no object begins: what is denied is a denial, and a verb has been misread."""


class Page:
    """What is known while a turn is read; `reading` is the end of it."""

    def __init__(self, turn: Turn, known: KnownClaims, source: TurnText) -> None:
        self.turn = turn
        self.known = known
        self.source = source
        self.text = source.shown
        """What is read of the turn; places in it are not the places in the turn's own text."""
        self.is_over = False
        """Whether something was left because the turn seems to state more than `MAX_CLAIMS`."""
        self.wry = self.angry = False
        self.thing: str | None = None
        """What "it" means: the last thing with a name."""
        self.before: Parse | None = None
        """The sentence before, which "it" and "she" may lead back to."""
        self._claims: list[Claim] = []
        self._used: set[int] = set()
        self._notes: list[TurnNote] = []
        self._people: set[str] = set()
        self._may_be: dict[str, set[str]] = {"f": set(), "m": set()}
        """Whom "she" and "he" may mean."""
        self._called: dict[str, str] = {}
        """By which pronoun somebody has been spoken of."""
        self._longer: dict[str, set[str]] = {}
        """The people whose names begin with these words and go on."""
        self._roles: dict[str, str] = {}
        self._quoted: TextPart | None = None
        self._withdrawn: list[Claim] = []

    def claim(
        self,
        part: TextPart,
        voice: Voice,
        subject: str,
        rel: str,
        object: str,
        *,
        polarity: bool = True,
        held: Validity = NEVER,
        type: str = "fact",
    ) -> None:
        """Take a claim, its quote the words of its part as they stand in the turn; none that cuts a word in two."""
        part = self._quoted or part
        part, object = self.source.with_titles(part, object, self.turn.speaker)
        quote = self.source.quote(part)
        if not quote or not object.strip() or not subject.strip() or _NO_OBJECT.match(object):
            return
        claim = Claim(
            subject=subject,
            rel=rel,
            object=object,
            polarity=polarity != voice.flipped,
            valid_from=held.since,
            valid_to=held.until,
            source_type=voice.source_type or "explicit",
            quote=quote,
            hedge=voice.hedge,
            said_by=voice.said_by,
            at=self.source.place(part.start),
            type=type,
        )
        same = (claim.subject, claim.rel, claim.object, claim.polarity)
        if any((one.subject, one.rel, one.object, one.polarity) == same for one in self._claims):
            return
        if len(self._claims) >= MAX_CLAIMS:
            self.is_over = True
            return
        if rel in _NAMING and polarity:
            self.thing = object if object[:1].isupper() else None
        self._claims.append(claim)

    def of_role(self, role: str, owner: str | None = None) -> str:
        """Return who is the owner's `role`: a name that was told, else "Maya's sister"."""
        owner = owner or self.turn.speaker
        name = self._roles.get(role) if owner == self.turn.speaker else None
        if name is None:
            note = self.known.person(owner, role)
            if note is not None:
                self.use(note)
                name = note.name
        name = name or f"{owner}'s {role}"
        self.seen(name, role)
        return name

    def by_pronoun(self, pronoun: str) -> str | None:
        """Return whom "she" or "he" means; None where nobody, or more than one, may be meant."""
        fitting = self._may_be["f" if pronoun == "she" else "m"]
        return next(iter(fitting)) if len(fitting) == 1 else None

    def agrees(self, name: str, pronoun: str) -> bool:
        """Whether nobody has called one of this name by another pronoun in the turn."""
        return self._called.setdefault(name, pronoun) == pronoun

    def is_person(self, name: str) -> bool:
        """Whether a person of this name has been spoken of in the turn."""
        return name in self._people

    def known_name(self, name: str) -> str | None:
        """Return the whole name of a person that has been spoken of by this one; None where nobody has."""
        if name in self._people:
            return name
        whole = self._longer.get(name, ())
        if len(whole) == 1:
            return next(iter(whole))
        note = self.known.named(name)
        if note is None:
            return None
        self.use(note)
        self.seen(note.name)
        return note.name

    def introduce(self, role: str, name: str, owner: str | None = None) -> None:
        """Note who is the owner's `role`, for this turn and the ones after it."""
        owner = owner or self.turn.speaker
        if owner == self.turn.speaker:
            self._roles[role] = name
        self._notes.append(TurnNote("person", self.turn.at, owner, role, name))
        self.seen(name, role)

    def seen(self, name: str, role: str = "") -> None:
        """Note a person that is spoken of, whom "she" or "he" may mean."""
        if name in self._people:
            return
        self._people.add(name)
        if role not in MALE:
            self._may_be["f"].add(name)
        if role not in FEMALE:
            self._may_be["m"].add(name)
        for at in (place for place, mark in enumerate(name) if mark == " "):
            self._longer.setdefault(name[:at], set()).add(name)

    def note_topic(self, role: str, name: str) -> None:
        """Note what later words of this conversation may mean."""
        self._notes.append(TurnNote("topic", self.turn.at, self.turn.speaker, role, name))

    def topic(self, role: str, owner: str | None = None) -> TurnNote | None:
        """Return what was noted so, and that it was needed."""
        owner = owner or self.turn.speaker
        own = [note for note in self._notes if (note.kind, note.owner, note.role) == ("topic", owner, role)]
        note = own[-1] if own else self.known.topic(owner, role)
        if note is not None:
            self.use(note)
        return note

    def use(self, note: TurnNote) -> None:
        """Say that a note was needed, and what it needed itself."""
        self._used.update(note.needs, (note.at,))

    def use_turn(self, turn: Turn) -> None:
        """Say that the words of another turn were needed."""
        self._used.add(turn.at)

    @contextmanager
    def quoting(self, part: TextPart) -> Generator[None]:
        """Quote these words for all that is claimed meanwhile: what is read was put together from them."""
        self._quoted = part
        try:
            yield
        finally:
            self._quoted = None

    def withdraw(self, claim: Claim) -> None:
        """Take back a claim of this very turn that the turn itself corrects; what it quoted is kept for the
        correction.
        """
        self._withdrawn.append(claim)
        self._claims.remove(claim)

    def replace(self, old: Claim, new: Claim) -> None:
        """Put one claim of this turn in the place of another."""
        self._claims[self._claims.index(old)] = new

    def claims_before(self, claim: Claim) -> bool:
        """Whether a claim was one of this turn's, before it was taken back."""
        return claim in self._withdrawn

    def whole(self, claim: Claim, rest: TextPart) -> TextPart:
        """Return the words from those of a claim to those that correct it."""
        start = self.source.shown.find(claim.quote or "")
        start = min(start, rest.start) if start >= 0 else rest.start
        return TextPart(self.source.shown[start : rest.stop], start, rest.stop, rest.mark)

    def day(self, text: str, lean: str) -> str | None:
        """Return the day that words name, as a claim has it; None where they name none."""
        held = (
            dates.past(text, self.turn.when) if lean == "past" else dates.ahead(f"on {text}", self.turn.when)
        )
        return held.since.date().isoformat() if held.since is not None else None

    def valued(self, rel: str, text: str) -> str | None:
        """Return a new value as its relation writes it: a day as a date; None for what is none."""
        if rel in ("is_on", "due_on"):
            held = dates.ahead(text, self.turn.when)
            return held.since.date().isoformat() if held.since is not None else None
        return text or None

    @property
    def claims(self) -> list[Claim]:
        """The claims so far; to be changed in place by what comes to light later in the turn."""
        return self._claims

    def reading(self, claims: Sequence[Claim], left: int = 0) -> TurnReading:
        """Return what was read, `claims` being those that may be kept, and of how many characters nothing was."""
        used = frozenset(self._used - {self.turn.at})
        facts = [TurnNote("fact", self.turn.at, self.turn.speaker, claim=claim) for claim in claims]
        notes = (
            msgspec.structs.replace(note, needs=used) if used else note for note in (*self._notes, *facts)
        )
        return TurnReading(tuple(claims), used, tuple(notes), left)
