"""One turn while it is being read: the claims so far, who was spoken of, what "it" is, which records were needed."""

import re
from typing import Final, NamedTuple

import msgspec

from braid.learn.clause import Subject
from braid.learn.dates import NEVER, Held
from braid.learn.sentences import Part
from braid.learn.turn import Known, Note, Reading, Turn
from braid.learn.voice import Voice
from braid.learn.words import FEMALE, MALE, NOT_NAMES
from braid.ledger.record import Claim, SourceType

MAX_CLAIMS: Final = 40
"""A turn that seems to state more is a list of something else."""
_THING: Final = re.compile(
    r"(?:(?<=[a-z,] )|^(?=[A-Z][\w'-]+ [A-Z]))((?:the )?[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})"
)


class _Person(NamedTuple):
    name: str
    gender: str


class Page:
    """What is known while a turn is read; `reading` is the end of it."""

    def __init__(self, turn: Turn, known: Known, text: str) -> None:
        self.turn = turn
        self.known = known
        self.text = text
        self.wry = self.angry = False
        self.thing: str | None = None
        """What "it" means: the last thing with a name."""
        self.went: str | None = None
        """Where the speaker has just told to have been."""
        self.offer: str | None = None
        """Whose offer was taken."""
        self.moment: Held | None = None
        """When what the turn tells of was, where its beginning says so."""
        self.here: str | None = None
        self.matter: str | None = None
        """What a date or an amount that is told next is of."""
        self._claims: list[Claim] = []
        self._used: set[int] = set()
        self._notes: list[Note] = []
        self._people: list[_Person] = []
        self._roles: dict[str, str] = {}

    def claim(
        self,
        part: Part,
        voice: Voice,
        subject: str,
        rel: str,
        object: str,
        *,
        polarity: bool = True,
        held: Held = NEVER,
        hedge: str | None = None,
        source_type: SourceType = "explicit",
    ) -> None:
        """Take a claim, its quote the words of its part as they stand in the text."""
        claim = Claim(
            subject=subject,
            rel=rel,
            object=object,
            polarity=polarity != voice.flipped,
            valid_from=held.since,
            valid_to=held.until,
            source_type=voice.source_type or source_type,
            quote=self.text[part.start : part.stop],
            hedge=hedge or voice.hedge,
            said_by=voice.said_by,
        )
        same = (claim.subject, claim.rel, claim.object, claim.polarity)
        if len(self._claims) >= MAX_CLAIMS or any(
            (one.subject, one.rel, one.object, one.polarity) == same for one in self._claims
        ):
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
        fitting = {
            person.name for person in self._people if person.gender in ("", "f" if pronoun == "she" else "m")
        }
        return fitting.pop() if len(fitting) == 1 else None

    def _by_name(self, name: str, *, trusted: bool) -> str | None:
        if name == self.turn.speaker or name in self.turn.speaker.split():
            return None  # nobody says their own name so: a signature, or another of that name
        if any(person.name == name for person in self._people):
            return name
        whole = [person.name for person in self._people if person.name.startswith(f"{name} ")]
        if len(whole) == 1:
            return whole[0]
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
        if any(person.name == name for person in self._people):
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
        self._notes.append(Note("person", self.turn.at, owner, role, name))
        self.seen(name, role)

    def seen(self, name: str, role: str = "") -> None:
        """Note a person that is spoken of, whom "she" or "he" may mean."""
        gender = "f" if role in FEMALE else "m" if role in MALE else ""
        if not any(person.name == name for person in self._people):
            self._people.append(_Person(name, gender))

    def note_topic(self, role: str, name: str, claim: Claim | None = None) -> None:
        """Note what later words of this conversation may mean."""
        self._notes.append(Note("topic", self.turn.at, self.turn.speaker, role, name, claim))

    def topic(self, role: str, owner: str | None = None) -> Note | None:
        """Return what was noted so, and that it was needed."""
        note = self.known.topic(owner or self.turn.speaker, role)
        if note is not None:
            self.use(note)
        return note

    def use(self, note: Note) -> None:
        """Say that a note was needed, and what it needed itself."""
        self._used.update(note.needs, (note.at,))

    def use_turn(self, turn: Turn) -> None:
        """Say that the words of another turn were needed."""
        self._used.add(turn.at)

    def note_things(self, text: str) -> None:
        """Note the last thing with a name in a sentence: what "it" may mean in the next."""
        for match in _THING.finditer(text):
            if match[1].split()[0] not in NOT_NAMES and match[1] not in self._named():
                self.thing = match[1]

    def _named(self) -> set[str]:
        """Names that are a person's: no thing's."""
        return {self.turn.speaker, *self.turn.speaker.split(), *(person.name for person in self._people)}

    @property
    def claims(self) -> list[Claim]:
        """The claims so far; to be changed in place by what comes to light later in the turn."""
        return self._claims

    def reading(self) -> Reading:
        """Return what was read."""
        used = frozenset(self._used - {self.turn.at})
        facts = [Note("fact", self.turn.at, self.turn.speaker, claim=claim) for claim in self._claims]
        notes = (
            msgspec.structs.replace(note, needs=used) if used else note for note in (*self._notes, *facts)
        )
        return Reading(tuple(self._claims), used, tuple(notes))
