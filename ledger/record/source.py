"""Whose words a record is: its source class, a function of signed links, bodies and key roles (SPEC §4.9). Pure.

owner > agent > tool > outsider. At first hand it follows from the role of the key, and, for what a recorder captured,
from the actor and from where it was read. What rests on others is no higher than the lowest of these, so that a summary
of an outsider's words is an outsider's.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, get_args

from braid.ledger.record.envelope import DERIVATION_ROLES, Link
from braid.ledger.record.record import Body, ExperienceBody, Record, Source, is_reading
from braid.ledger.record.standing import SUPERSEDES

SourceClass = Literal["owner", "agent", "tool", "outsider"]
CLASSES: Final[tuple[SourceClass, ...]] = get_args(SourceClass)
"""From the highest."""
RANK: Final = {name: place for place, name in enumerate(reversed(CLASSES))}
BELIEVED: Final[SourceClass] = "tool"
"""The lowest class that updates a belief, unless who asks says another."""
WORDS: Final = "words:"
"""Begins the tag by which a record says that it is of a lower class than its actor: `words:outsider`."""
OUTSIDER: Final = f"{WORDS}outsider"
"""The tag of what is an outsider's, whoever its actor is."""
IMPORT: Final = "import"
"""The method of turns that were read from a file of another program."""
CORRECT: Final = "correct"
"""The method of what was put in the place of a memory: it counts from when that did, said as it was only later."""
_OF_ROLE: Final[dict[str, SourceClass]] = {"user": "owner", "agent": "agent", "tool": "tool"}
_OF_ACTOR: Final[dict[str, SourceClass]] = {
    "user": "owner",
    "agent": "agent",
    "system": "agent",
    "tool": "tool",
}
_BRINGS: Final = """
browser browse crawl crawler curl email fetch feed gmail http https imap inbox mail news outlook rss scrape scraper
slack url web webfetch websearch wget wikipedia
"""
_RELAYS: Final = frozenset(_BRINGS.split())
"""Words in the name of a tool that brings what others wrote."""
_NAME_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HERE: Final = frozenset(("file", "stream", "urn", "braid", "vec", "data"))
"""Schemes that say where something was read on this machine, not whose it is."""
_MAIL: Final = re.compile(r"#mail\d+$", flags=re.ASCII)


def lowest(classes: Iterable[SourceClass]) -> SourceClass:
    """Return the lowest of some classes; `owner` of none."""
    held = frozenset(classes)
    for one in reversed(CLASSES):
        if one in held:
            return one
    return "owner"


def is_least(one: SourceClass, floor: SourceClass) -> bool:
    """Whether a class is at or above a floor."""
    return RANK[one] >= RANK[floor]


def at_first_hand(role: str, body: Body) -> SourceClass:
    """Return the class of a record that rests on no other; `role` is that of its key.

    What is no experience has no words of its own: it is an agent's doing. A tag lowers that, too.
    """
    said = _tagged(body)
    if not isinstance(body, ExperienceBody):
        return lowest(("agent", *said))
    source = body.provenance
    kind, _, name = source.actor.partition("(")
    own = _OF_ROLE.get(role) or _OF_ACTOR.get(kind, "outsider")
    if source.method == IMPORT:
        mail = kind == "user" and any(_MAIL.search(one.uri) for one in source.sources)
        own = "outsider" if mail and "owner" not in said else own
    elif _is_outside(source.sources):
        own = "outsider"
    if kind == "tool" and role != "tool" and _brings(name):
        own = "outsider"
    return lowest((own, *said))


def _tagged(body: Body) -> list[SourceClass]:
    """Return the classes that a record's tags say it is of."""
    said = {tag.removeprefix(WORDS) for tag in body.tags if tag.startswith(WORDS)}
    return [one for one in CLASSES if one in said]


def corrected_at(record: Record) -> datetime | None:
    """Return when a record was put in the place of a memory, from when on anybody knew it; None for one that wasn't."""
    is_correction = isinstance(record.body, ExperienceBody) and record.body.provenance.method == CORRECT
    return record.created_at if is_correction else None


def voice(record: Record) -> str:
    """Return who says a record, as it is shown to people: a name, or what kind of actor it is; else its kind.

    What an agent says in a person's name is the agent's; what a tool brings in one is said to come by the tool.
    """
    if not isinstance(record.body, ExperienceBody):
        return record.kind
    source = record.body.provenance
    return voice_of_source(source.actor, source.name, record.body.tags)


def voice_of_source(actor: str, name: str | None, tags: Iterable[str]) -> str:
    """Return who says an experience of this actor, name and tags; see `voice`."""
    if f"{WORDS}agent" in tags and actor.partition("(")[0] == "user":
        return f"an agent for {name}" if name else "an agent"
    if name and actor.partition("(")[0] == "tool":
        return f"{name} (by {actor})"
    return name or actor


def _is_outside(sources: Sequence[Source]) -> bool:
    """Whether what is said came from an address that isn't of this machine."""
    return any(
        scheme.lower() not in _HERE
        for one in sources
        for scheme in [one.uri.partition(":")[0]]
        if ":" in one.uri
    )


def _brings(name: str) -> bool:
    return not _RELAYS.isdisjoint(word.lower() for word in _NAME_WORDS.findall(name))


def needs(links: Iterable[Link], body: Body | None) -> list[int]:
    """Return the records without which a record wouldn't say what it says, by log index.

    A reading quotes its parent; a stance holds what its support claims; anything else may have words of whatever it
    was made of or borne out by.
    """
    made_of = [link for link in links if link.role in DERIVATION_ROLES]
    roles = {link.role for link in made_of}
    if body is not None and is_reading(body) and "parent" in roles:
        made_of = [link for link in made_of if link.role == "parent"]
    elif "support" in roles:
        made_of = [link for link in made_of if link.role == "support"]
    return list(dict.fromkeys(link.index for link in made_of))


class SourceClasses:
    """The classes of a log's records: each is looked at once. A record that can't be read any more is an outsider's."""

    def __init__(
        self,
        read: Callable[[int], Record | None],
        role: Callable[[str], str],
    ) -> None:
        """`read`: a record of the log, forgotten or not; None for an erased one. `role`: that of a key, by its id."""
        self._read = read
        self._role = role
        self._known: dict[int, SourceClass] = {}

    def note(self, record: Record) -> SourceClass:
        """Return the class of a record that was read already."""
        self._judge(record.index, record)
        return self._known[record.index]

    def knows(self, index: int) -> bool:
        """Whether a record was judged already."""
        return index in self._known

    def of(self, index: int) -> SourceClass:
        """Return the class of a record."""
        if index not in self._known:
            self._judge(index, None)
        return self._known[index]

    def to_be_replaced(self, index: int) -> SourceClass:
        """Return the class beneath which nobody takes a record's place: what the owner said at first hand stays theirs
        where what it rests on has been erased."""
        of, record = self.of(index), self._read(index)
        body = None if record is None else _body(record)
        if record is None or body is None or at_first_hand(self._role(record.envelope.key), body) != "owner":
            return of
        return "owner"

    @property
    def count(self) -> int:
        """How many records were judged."""
        return len(self._known)

    def sources(self, record: Record) -> list[int]:
        """Return what a record needs."""
        return needs(record.links, _body(record))

    def _judge(self, index: int, given: Record | None) -> None:
        """Judge a record behind all that it needs, without recursion: a chain of retellings may be long."""
        held: dict[int, Record | None] = {index: given} if given is not None else {}
        stack = [index]
        while stack:
            at = stack[-1]
            if at in self._known:
                stack.pop()
                continue
            if at not in held:
                held[at] = self._read(at)
            record = held[at]
            above = [] if record is None else self.sources(record)
            if missing := [one for one in above if one not in self._known]:
                stack += missing
                continue
            self._known[at] = "outsider" if record is None else self._of(record, above)
            stack.pop()

    def _of(self, record: Record, above: Sequence[int]) -> SourceClass:
        body = _body(record)
        if body is None:
            return "outsider"
        role = self._role(record.envelope.key)
        own = at_first_hand(role, body)
        if own == "owner" and _is_signed_correction(role, record, body):
            return own
        if above and (not isinstance(body, ExperienceBody) or is_reading(body)):
            own = lowest(_tagged(body))  # it has no words of its own
        return lowest((own, *(self._known[one] for one in above)))


def _is_signed_correction(role: str, record: Record, body: Body) -> bool:
    """Whether a person's own key put something right: these are their words, on whatever they rest.

    A recorder's signature shows only that a program said so, and a stranger's text may have made it say so. Nothing of
    what is replaced is looked at: it may be erased, and no class changes by that.
    """
    return role == "user" and not is_reading(body) and any(link.role == SUPERSEDES for link in record.links)


def _body(record: Record) -> Body | None:
    if record.raw is None:
        return None
    try:
        return record.body
    except ValueError:  # no body of its kind
        return None
