"""Lenses that a person defines in TOML: which records, which sentences or claims. Data alone: no code, no patterns.

A definition is kept as an event of the log, and a lens is made of that: so its views can be made again from the
log alone.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any, Final, cast, get_args

import msgspec

from braid.ledger.record.record import Claim, EventBody, ExperienceBody, Record
from braid.lenses.entry import Entry
from braid.lenses.errors import DefinitionError
from braid.lenses.form import Form, Item
from braid.lenses.lens import SPOKEN, Lens
from braid.text.sentences import gist, statements
from braid.text.words import normal

EVENT: Final = "lens_definition"
"""The name of the event that holds a definition."""
MAX_BYTES: Final = 64 << 10
MAX_PHRASES: Final = 200
MAX_CHARS: Final = 200
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_VERSION: Final = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}")
_TYPES: Final = ("occurrence", "observation", "inference", "reconciliation")
_ACTORS: Final = ("user", "agent", "system", "tool")
_QUESTION: Final = re.compile(r"\?[\"'”’)]*\s*$")
_GIST: Final = 300


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of the file."""


class Records(_Table, frozen=True):
    """Which records it looks at: every member that is given must fit."""

    types: tuple[str, ...] = ()
    """Default: occurrence and observation; inference too where claims are asked for."""
    actors: tuple[str, ...] = ("user", "agent")
    """user, agent, system, tool (any tool)."""
    speakers: tuple[str, ...] = ()
    """Names; default: everybody."""
    since: date | None = None
    until: date | None = None
    """Of days on which it happened: from the first on, before the second; UTC."""


class Sentences(_Table, frozen=True):
    """Which sentences it keeps: words and phrases, in any case; `deploy*` stands for every word that begins so."""

    any: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    questions: bool = True


class Claims(_Table, frozen=True):
    """Which claims it keeps: every member that is given must fit."""

    subjects: tuple[str, ...] = ()
    rels: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


class Definition(_Table, frozen=True):
    """A lens as a person defines it. Without sentences and claims it keeps every record that it looks at."""

    name: str
    version: str
    about: str
    newest_first: bool = False
    records: Records = Records()
    sentences: Sentences | None = None
    claims: Claims | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """What versions are compared by."""
        return tuple(map(int, self.version.split(".")))


def parse(text: str) -> Definition:
    """Return the definition that a TOML file holds; raise DefinitionError, naming the member."""
    if len(text.encode()) > MAX_BYTES:
        raise DefinitionError(f"a definition has at most {MAX_BYTES >> 10} KiB")
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DefinitionError(f"the definition is not TOML: {error}") from None
    if isinstance(version := given.get("version"), int):
        given["version"] = str(version)
    return checked(given)


def checked(given: Mapping[str, Any]) -> Definition:
    """Return the definition that these members make; raise DefinitionError for what no lens can be made of."""
    _refuse_unknown(given, Definition, "")
    try:
        found = msgspec.convert(given, Definition)
    except msgspec.ValidationError as error:
        raise DefinitionError(f"the definition: {error}") from None
    if problem := next(filter(None, _problems(found)), None):
        raise DefinitionError(problem)
    return found


def _refuse_unknown(given: Mapping[str, Any], table: type[_Table], where: str) -> None:
    known = {field.name: field.type for field in msgspec.structs.fields(table)}
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise DefinitionError(
                f"{where or 'a definition'} has no member {name!r}{hint} It has: {', '.join(known)}"
            )
        inner = next((one for one in (known[name], *get_args(known[name])) if _is_table(one)), None)
        if inner is not None and isinstance(value, Mapping):
            _refuse_unknown(cast("Mapping[str, Any]", value), inner, f"[{name}]")


def _is_table(given: object) -> bool:
    return isinstance(given, type) and issubclass(given, _Table)


def _problems(given: Definition) -> Iterable[str | None]:
    """Yield what is wrong with a definition; the first is told."""
    if not _NAME.fullmatch(given.name):
        yield f"a lens's name is a small letter, then up to 39 of a-z, 0-9, _ and -, not {given.name!r}"
    if not _VERSION.fullmatch(given.version):
        yield f'a version is a number, or up to four with dots between, such as "2" or "1.2", not {given.version!r}'
    if not given.about.strip() or len(given.about) > MAX_CHARS or "\n" in given.about:
        yield f"`about` is one line that says what the lens shows, at most {MAX_CHARS} characters"
    yield _unlike("types", given.records.types, _TYPES)
    yield _unlike("actors", given.records.actors, _ACTORS)
    since, until = given.records.since, given.records.until
    if since and until and since >= until:
        yield f"[records] begins on {since} and ends before {until}: there is no day between"
    for table in (given.records, given.sentences, given.claims):
        for name, phrases in () if table is None else msgspec.structs.asdict(table).items():
            if isinstance(phrases, tuple):
                yield _phrase_problem(name, cast("tuple[str, ...]", phrases))
    if given.sentences is not None and not (given.sentences.any or given.sentences.all):
        yield "[sentences] names in `any` or `all` what it keeps; without that table every record is kept"
    if given.claims is not None and given.claims == Claims():
        yield "[claims] names subjects, rels or objects"


def _unlike(name: str, given: Sequence[str], known: Sequence[str]) -> str | None:
    unknown = next((one for one in given if one not in known), None)
    return None if unknown is None else f"`{name}` has no {unknown!r}; there are: {', '.join(known)}"


def _phrase_problem(name: str, phrases: Sequence[str]) -> str | None:
    if len(phrases) > MAX_PHRASES:
        return f"`{name}` has {len(phrases)} entries; at most {MAX_PHRASES} are taken"
    for phrase in phrases:
        if not phrase.strip("* ") or len(phrase) > MAX_CHARS:
            return f"an entry of `{name}` is text of 1 to {MAX_CHARS} characters, not {phrase[:40]!r}"
        if "*" in phrase.removesuffix("*"):
            return f"* stands at the end of a word alone, not as in {phrase!r}"
    return None


class DefinedLens(Lens):
    """A lens of a definition; `lens_of` makes its class, which has its name and version."""

    folds = True

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        said = definition.sentences
        self._any = _matcher(said.any) if said is not None and said.any else None
        self._all = [_matcher((one,)) for one in said.all] if said is not None else []
        self._none = _matcher(said.none) if said is not None and said.none else None
        self._types = definition.records.types or (
            SPOKEN if definition.claims is None else (*SPOKEN, "inference")
        )
        self._speakers = frozenset(map(normal, definition.records.speakers))

    def takes(self, record: Record) -> bool:
        """Take the records that `[records]` names."""
        body, wanted = record.body, self._definition.records
        if not isinstance(body, ExperienceBody) or record.type not in self._types:
            return False
        said_by = body.provenance
        if said_by.actor.partition("(")[0] not in wanted.actors:
            return False
        if self._speakers and normal(said_by.name or said_by.actor) not in self._speakers:
            return False
        day = (body.occurred_at or record.created_at).astimezone(record.created_at.tzinfo).date()
        return (wanted.since is None or day >= wanted.since) and (wanted.until is None or day < wanted.until)

    def fold(self, form: Form, entries: Sequence[Entry], params: Mapping[str, Any]) -> Form:
        del params
        weights, items = dict(form.weights), dict(form.items)
        for entry in entries:
            found = list(dict.fromkeys(self._found(entry)))
            if not found:
                del weights[entry.place]
            for number, text in enumerate(found):
                items[f"{entry.place:07d}/{number:03d}"] = Item(
                    text=f"{entry.who}: {gist(text, _GIST)}",
                    places=(entry.place,),
                    at=entry.at.date().isoformat(),
                )
        return Form(weights, items)

    def order(self, form: Form) -> list[str]:
        """Return the keys in the order of the records, or the newest first."""
        return sorted(form.items, reverse=self._definition.newest_first)

    def ranking(self, form: Form) -> list[int]:
        """Return places in the same order."""
        return sorted(form.weights, reverse=self._definition.newest_first)

    def _found(self, entry: Entry) -> Iterable[str]:
        if self._definition.sentences is None and self._definition.claims is None:
            yield entry.text
        if self._definition.sentences is not None:
            yield from (one for one in statements(entry.text) if self._keeps(one, self._definition.sentences))
        if self._definition.claims is not None:
            yield from (_in_words(one) for one in entry.claims if _fits(one, self._definition.claims))

    def _keeps(self, sentence: str, wanted: Sentences) -> bool:
        if (self._any is not None and not self._any.search(sentence)) or not all(
            one.search(sentence) for one in self._all
        ):
            return False
        if self._none is not None and self._none.search(sentence):
            return False
        return wanted.questions or not _QUESTION.search(sentence)


def _matcher(phrases: Sequence[str]) -> re.Pattern[str]:
    """Return what finds any of some phrases as whole words, in any case: alternatives of plain text, in linear time."""
    parts: list[str] = []
    for phrase in phrases:
        words = r"\s".join(
            re.escape(word) for word in phrase.removesuffix("*").split()
        )  # sentences are of one space
        parts.append(words + (r"\w*" if phrase.endswith("*") else ""))
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", re.IGNORECASE)


def _fits(claim: Claim, wanted: Claims) -> bool:
    pairs = ((claim.subject, wanted.subjects), (claim.rel, wanted.rels), (claim.object, wanted.objects))
    return all(not names or normal(said) in set(map(normal, names)) for said, names in pairs)


def _in_words(claim: Claim) -> str:
    return f"{claim.subject} {'' if claim.polarity else 'not '}{claim.rel} {claim.object}"


def lens_of(definition: Definition, id: str = "") -> Lens:
    """Return the lens of a definition. `id`: of the record that holds it, which its views will name."""
    said = {
        "name": definition.name,
        "version": definition.version,
        "about": definition.about,
        "defined_by": id,
    }
    made: type[DefinedLens] = type("Defined", (DefinedLens,), said)
    return made(definition)


def definition_of(record: Record) -> Definition:
    """Return the definition that a record holds; raise DefinitionError for another record."""
    body = record.body
    if not isinstance(body, EventBody) or body.name != EVENT:
        raise DefinitionError(f"{record.id} defines no lens")
    return checked(body.data)
