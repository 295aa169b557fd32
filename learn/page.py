"""One turn while it is being read: the claims so far, who was spoken of, what "it" is, which records were needed."""

import re
from typing import Final

import msgspec

from braid.learn.clause import Subject
from braid.learn.dates import NEVER, Validity
from braid.learn.source import TurnText
from braid.learn.turn import KnownClaims, Turn, TurnNote, TurnReading
from braid.learn.voice import Voice
from braid.learn.words import FEMALE, MALE, NOT_NAMES
from braid.ledger.record.record import Claim, SourceType
from braid.text.sentences import TextPart

MAX_CLAIMS: Final = 40
"""A turn that seems to state more is a list of something else."""
_THING: Final = re.compile(
    r"(?:(?<=[a-z,] )|^(?=[A-Z][\w'-]+ [A-Z]))((?:the )?[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})"
)


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
        self.went: str | None = None
        """Where the speaker has just told to have been."""
        self.offer: str | None = None
        """Whose offer was taken."""
        self.moment: Validity | None = None
        """When what the turn tells of was, where its beginning says so."""
        self.here: str | None = None
        self.matter: str | None = None
        """What a date or an amount that is told next is of."""
        self._claims: list[Claim] = []
        self._used: set[int] = set()
        self._notes: list[TurnNote] = []
        self._people: set[str] = set()
        self._may_be: dict[str, set[str]] = {"f": set(), "m": set()}
        """Whom "she" and "he" may mean."""
        self._longer: dict[str, set[str]] = {}
        """The people whose names begin with these words and go on."""
        self._says: dict[re.Pattern[str], bool] = {}
        self._roles: dict[str, str] = {}

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
        hedge: str | None = None,
        source_type: SourceType = "explicit",
    ) -> None:
        """Take a claim, its quote the words of its part as they stand in the turn; none that cuts a word in two."""
        quote = self.source.quote(part)
        if quote is None:
            return
        claim = Claim(
            subject=subject,
            rel=rel,
            object=object,
            polarity=polarity != voice.flipped,
            valid_from=held.since,
            valid_to=held.until,
            source_type=voice.source_type or source_type,
            quote=quote,
            hedge=hedge or voice.hedge,
            said_by=voice.said_by,
        )
        same = (claim.subject, claim.rel, claim.object, claim.polarity)
        if any((one.subject, one.rel, one.object, one.polarity) == same for one in self._claims):
            return
        if len(self._claims) >= MAX_CLAIMS:
            self.is_over = True
            return
        if rel in ("went_to", "visited") and polarity:
            self.went = self.thing = object
        self._claims.append(claim)

    def who(self, subject: Subject, *, trusted: bool = False) -> str | None:
        """Return the person that a clause is about, by name where one is known; None where it is doubtful."""
        if subject.first:
            return self.turn.speaker
        if subject.pronoun:
            return self._by_pronoun(subject.pronoun)
        if subject.role:
            if subject.name:
                self.introduce(subject.role, subject.name)
                return subject.name
            return self.of_role(subject.role)
        return self._by_name(subject.name, trusted=trusted)

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

    def _by_pronoun(self, pronoun: str) -> str | None:
        fitting = self._may_be["f" if pronoun == "she" else "m"]
        return next(iter(fitting)) if len(fitting) == 1 else None

    def _by_name(self, name: str, *, trusted: bool) -> str | None:
        if name == self.turn.speaker or name in self.turn.speaker.split():
            return None  # nobody says their own name so: a signature, or another of that name
        if name in self._people:
            return name
        whole = self._longer.get(name, ())
        if len(whole) == 1:
            return next(iter(whole))
        note = self.known.named(name)
        if note is not None:
            self.use(note)
            name = note.name
        elif not trusted:
            return None
        self.seen(name)
        return name

    def is_person(self, name: str) -> bool:
        """Whether somebody of this name has been spoken of."""
        if name in self._people:
            return True
        note = self.known.named(name)
        if note is not None:
            self.use(note)
        return note is not None or name not in NOT_NAMES

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

    def note_topic(self, role: str, name: str, claim: Claim | None = None) -> None:
        """Note what later words of this conversation may mean."""
        self._notes.append(TurnNote("topic", self.turn.at, self.turn.speaker, role, name, claim))

    def topic(self, role: str, owner: str | None = None) -> TurnNote | None:
        """Return what was noted so, and that it was needed."""
        note = self.known.topic(owner or self.turn.speaker, role)
        if note is not None:
            self.use(note)
        return note

    def use(self, note: TurnNote) -> None:
        """Say that a note was needed, and what it needed itself."""
        self._used.update(note.needs, (note.at,))

    def use_turn(self, turn: Turn) -> None:
        """Say that the words of another turn were needed."""
        self._used.add(turn.at)

    def note_things(self, text: str) -> None:
        """Note the last thing with a name in a sentence: what "it" may mean in the next."""
        for match in _THING.finditer(text):
            if match[1].split()[0] not in NOT_NAMES and not self._is_of_person(match[1]):
                self.thing = match[1]

    def _is_of_person(self, name: str) -> bool:
        return name in self._people or name in (self.turn.speaker, *self.turn.speaker.split())

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern stands anywhere in the turn; it is looked for once."""
        if pattern not in self._says:
            self._says[pattern] = pattern.search(self.text) is not None
        return self._says[pattern]

    @property
    def claims(self) -> list[Claim]:
        """The claims so far; to be changed in place by what comes to light later in the turn."""
        return self._claims

    def reading(self, left: int = 0) -> TurnReading:
        """Return what was read, and of how many characters nothing was."""
        used = frozenset(self._used - {self.turn.at})
        facts = [TurnNote("fact", self.turn.at, self.turn.speaker, claim=claim) for claim in self._claims]
        notes = (
            msgspec.structs.replace(note, needs=used) if used else note for note in (*self._notes, *facts)
        )
        return TurnReading(tuple(self._claims), used, tuple(notes), left)
