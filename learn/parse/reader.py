"""The reader of English on a dependency parse: sentences, clauses, a table of relations. When in doubt it reads
nothing.

Pure but for the parser that it is handed: the same turn, with the same known and the same parser, gives the same
reading.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Final

from braid.learn import moods
from braid.learn.gates.outcome import Sensitivity, suffix_of
from braid.learn.page import Page
from braid.learn.parse import changes, fragments, offers, partings, questions, replies
from braid.learn.parse.clauses import Clause, clauses
from braid.learn.parse.decisions import proposed
from braid.learn.parse.guarded import guarded
from braid.learn.parse.mended import mended
from braid.learn.parse.people import mentioned
from braid.learn.parse.said import quoted
from braid.learn.parse.spelling import parsed
from braid.learn.parse.statement import state
from braid.learn.source import TurnText
from braid.learn.turn import KnownClaims, Turn, TurnReading
from braid.learn.voice import Voice
from braid.text.parse import Parse, Parser
from braid.text.sentences import TextPart

_DASH: Final = re.compile(
    r"\s+[-–—]+\s+(?!\w{2,}ing\b)|\s*[;—]\s*|\.{3,}\s*|…\s*|(?<=\w)--+\s+"
    r"|\s+(?=(?:no wait|wait no|no,? sorry|sorry,? no)\b)"
    r"|,\s+(?=(?:sorry|i mean|or rather|make that|wait),? (?:(?:on|at|in|to|the)\b|\d|[A-Z]\w))"
    r"|(?<=\w)(?<!^\w)(?<=\w\w):\s+(?=[\w'’])"
)
_BREAKS: Final = frozenset("-–—;…:")
_SLIPS: Final = ("...", "sorry", "wait", "i mean", "or rather", "make that")
"""A sentence with none of these has no piece that `_DASH` would part: most have none."""
_LAUGHS: Final = re.compile(r"(?<=\w),? (?:lo+l+|lmf?ao+|rofl|(?:ha|he|hi){2,}h?|x+d+)$", re.IGNORECASE)
_LABEL: Final = 3
"""Before a colon, fewer words than these are a label of what follows."""


def pieces(sentences: Iterable[TextPart]) -> Iterator[TextPart]:
    """Yield sentences, those with a dash or a semicolon in pieces: each is parsed alone, the last has the mark. What a
    question states beside what it asks is a piece of its own.
    """
    for piece in _dashed(sentences):
        yield from questions.parts(_without_laughter(piece))


def _without_laughter(sentence: TextPart) -> TextPart:
    """Going with his mum haha: nothing of his mum's."""
    laugh = _LAUGHS.search(sentence.text)
    if laugh is None:
        return sentence
    text = sentence.text[: laugh.start()]
    return TextPart(text, sentence.start, sentence.start + len(text), sentence.mark)


def _dashed(sentences: Iterable[TextPart]) -> Iterator[TextPart]:
    for sentence in sentences:
        text = sentence.text
        if _BREAKS.isdisjoint(text) and not any(slip in text for slip in _SLIPS):
            yield sentence
            continue
        start = 0
        for match in _DASH.finditer(sentence.text):
            lead = sentence.text[start : match.start()].split()
            is_label = match[0].startswith(":") and (  # "Correction: 20th" is one
                len(lead) < _LABEL
                or changes.opens_with_new_value(sentence)
                or fragments.opens_with_label(sentence)
            )
            if match.end() < len(sentence.text) and lead and not is_label:
                yield sentence.piece(start, match.start(), ".")
                start = match.end()
        yield sentence.piece(start, len(sentence.text), sentence.mark) if start else sentence


class ParseReader:
    """Reads claims from turns on the parse of their sentences.

    `of`: claims of health, of money, of both, or (empty) of neither are given, no others; all are noted, since later
    words may mean them. What a store keeps of each is so a reader's, which can be retired alone. None: all are given.
    """

    name = "parse"
    looks_back = 2  # an assistant may have spoken between

    def __init__(self, parser: Parser, of: Sensitivity | None = None) -> None:
        self._parser = parser
        self._of = of
        self._ahead: dict[str, Parse] = {}
        """The sentences that were parsed last, by `prepare`."""
        self._parts: dict[tuple[str, str], tuple[TurnText, list[TextPart]]] = {}
        """The turns that were prepared last with their sentences, by speaker and text; only where all is read."""

    @property
    def version(self) -> str:
        """The version of these rules, and of what they stand on."""
        return f"15{'+all' if self._of is None else suffix_of(self._of)}+{self._parser.name}"

    def prepare(self, turns: Iterable[Turn]) -> None:
        """Parse the sentences of many turns at once, where that is quicker; their readings are the same without it."""
        self._parts = {}
        texts: list[str] = []
        for turn in turns:
            if turn.role != "user":
                continue
            source = TurnText(turn.text, turn.speaker)
            parts = list(pieces(source.sentences()))
            texts += [
                f"{sentence.text}{sentence.mark.strip()[:1]}"
                for sentence in parts
                if "?" not in sentence.mark
            ]  # of a question nothing is read
            if not source.left:
                self._parts[turn.speaker, turn.text] = source, parts
        self._ahead = {
            text: mended(parse) for text, parse in zip(texts, parsed(self._parser, texts), strict=True)
        }

    def read(self, turn: Turn, known: KnownClaims) -> TurnReading:
        """Return what a turn states. What a person says only: an assistant's words are no evidence."""
        if turn.role != "user" or not turn.text.strip():
            return TurnReading()
        prepared = self._parts.get((turn.speaker, turn.text))
        # A copy, for it counts what of this reading is left.
        source = TurnText(turn.text, turn.speaker) if prepared is None else copy(prepared[0])
        if moods.is_fleeting(source.shown):
            return TurnReading()
        page = Page(turn, known, source)
        page.wry = moods.is_ironic(source.shown)
        page.angry = moods.is_angry(source.shown)
        parts = pieces(source.sentences()) if prepared is None else prepared[1]
        for place, sentence in enumerate(parts):
            if moods.is_foreign(sentence.text):
                source.pass_over(sentence)
                continue
            if place or not self._reply(page, sentence):
                self._sentence(page, sentence)
            if page.is_over:
                source.leave(sentence)
                break
        changes.moved_home(page)
        kept = guarded(turn, page.claims)
        reading = page.reading([one.claim for one in kept], source.left)
        if self._of is None:
            return reading
        return reading._replace(claims=tuple(one.claim for one in kept if one.kinds == self._of))

    def _parse(self, text: str) -> Parse:
        ahead = self._ahead.get(text)
        return mended(parsed(self._parser, [text])[0]) if ahead is None else ahead

    def _reply(self, page: Page, sentence: TextPart) -> bool:
        """Read the first sentence of a turn as a reply; True where it was one that stated something."""
        asked = replies.asked_before(page.turn)
        whole = replies.made_whole(sentence, asked[1]) if asked else None
        if asked is None or whole is None or self._is_clause(sentence):
            return False
        told = len(page.claims)
        with page.quoting(sentence):
            self._statement(page, sentence, self._parse(whole), Voice())
        if len(page.claims) == told:
            return False
        page.use_turn(asked[0])
        return True

    def _is_clause(self, sentence: TextPart) -> bool:
        return any(
            clause.subject is not None and clause.under is None
            for clause in clauses(self._parse(f"{sentence.text}."))
        )

    def _sentence(self, page: Page, sentence: TextPart) -> None:
        """Read one sentence: corrections first, for they say what the rest is."""
        taken = changes.retraction(sentence)
        if taken is not None:
            with page.quoting(sentence):
                self._statement(
                    page, sentence, self._parse(f"{taken}."), Voice(source_type="corrected", flipped=True)
                )
            return
        plain = changes.new_value(sentence)
        if plain is not None:
            with page.quoting(sentence):
                self._statement(page, sentence, self._parse(f"{plain}."), Voice())
            return
        left = changes.takes_back(page, sentence)
        if left is None:
            return
        sentence = left
        if changes.instead(page, sentence):
            return
        rest = changes.opens_with_correction(sentence)
        if rest is not None and not moods.is_no_statement(rest):
            parse = self._parse(f"{rest.text}.")
            if not changes.fragment(page, sentence, rest, parse):
                changes.unsay(page, sentence)
                self._statement(page, rest, parse, changes.CORRECTED)
            return
        asked, is_real = moods.is_no_statement(sentence), not moods.names_nobody(sentence)
        if asked and not is_real:
            return
        parse = self._parse(f"{sentence.text}{sentence.mark.strip()[:1]}")
        if is_real:
            mentioned(page, sentence, parse)
        if not asked and not fragments.read(page, sentence, found := clauses(parse)):
            self._clauses(page, sentence, found, Voice())
        page.before = parse

    def _statement(self, page: Page, sentence: TextPart, parse: Parse, voice: Voice) -> None:
        """Read a sentence that states something."""
        mentioned(page, sentence, parse)
        self._clauses(page, sentence, clauses(parse), voice)

    def _clauses(self, page: Page, sentence: TextPart, found: Sequence[Clause], plain: Voice) -> None:
        hedge = moods.hedge_behind(sentence)
        last = max((one.verb for one in found if hedge is None or one.token.text not in hedge), default=0)
        for clause in found:
            voice = plain._replace(hedge=hedge) if hedge is not None and clause.verb == last else plain
            told = len(page.claims)
            if proposed(page, sentence, clause, voice):
                changes.set_apart(page, quoted(sentence, clause), clause, told)
                continue
            if clause.mode in ("supposed", "asked", "ordered"):
                continue
            part = quoted(sentence, clause)
            offers.offered(page, clause)
            if offers.taken_up(page, part, clause, voice):
                continue
            if not changes.changed(page, part, clause) and not partings.parted(page, part, clause):
                changes.ended(page, part, clause)
            state(page, part, clause, voice)
            changes.set_apart(page, part, clause, told)
