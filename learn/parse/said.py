"""What readers of a clause are handed: the page, the words they quote, the clause itself, on whose word. Pure."""

from typing import NamedTuple

from braid.learn import dates
from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.parse.people import Whom, whom
from braid.learn.parse.phrases import from_beside, from_outside, part_of
from braid.learn.parse.validity import timed
from braid.learn.voice import Voice
from braid.text.sentences import TextPart


class Said(NamedTuple):
    """One clause of a turn as it is being read. `part`: its words, which become a claim's quote."""

    page: Page
    part: TextPart
    clause: Clause
    voice: Voice

    @property
    def speaker(self) -> str:
        """Whose turn it is."""
        return self.page.turn.speaker

    def by_others(self, words: str, who: Whom) -> str:
        """Return words of the clause as others would say them: the speaker's of themselves, or of somebody else."""
        return from_outside(words) if who.sort == "first" else from_beside(words, self.speaker)

    def claim(
        self,
        subject: str,
        rel: str,
        object: str,
        *,
        polarity: bool = True,
        held: dates.Validity = dates.NEVER,
        type: str = "fact",
    ) -> None:
        """Claim something in the words of the part, on the clause's own word."""
        self.page.claim(self.part, self.voice, subject, rel, object, polarity=polarity, held=held, type=type)


def quoted(sentence: TextPart, clause: Clause) -> TextPart:
    """Return the words of a clause: from its subject, where that stands before it, to the last word of what it says."""
    parse = clause.parse
    first, last = clause.said
    first = min([first, *parse.children(clause.verb, "aux", "auxpass", "neg", "advmod")])
    if clause.subject is not None and clause.subject < clause.verb:
        lead = clause.subject
        grown = {clause.subject}
        while (
            lead > 0
            and parse.tokens[lead - 1].head in grown | {lead, clause.subject}
            and parse.tokens[lead - 1].pos != "PUNCT"
        ):
            lead -= 1
            grown.add(lead)
        first = min(first, lead)
    return part_of(sentence, parse, first, last)


def voiced(page: Page, clause: Clause, voice: Voice) -> Voice:
    """Return on whose word a clause is said, and how surely: its own reporter and hedge, else those of `voice`."""
    said_by = voice.said_by
    source = voice.source_type
    if clause.reporter is not None:
        teller = whom(page, clause.parse, clause.reporter)
        said_by = teller[0].name if teller and teller[0].sort != "first" else said_by
        source = source or ("inferred" if said_by else None)
    return Voice(said_by, source, clause.hedge or voice.hedge, voice.flipped)


def _when(said: Said, *, lasted: bool) -> dates.Validity:
    """Return when what "be" says holds: of Thursday morning I'm at the dentist, on Thursday."""
    text, now = timed(said.part, said.clause), said.page.turn.when
    found = dates.bounds(text, now, lasted=lasted)
    is_led = found == dates.NEVER and text != said.part.text and said.clause.tense == "present"
    return dates.ahead(text.removeprefix(said.part.text), now) if is_led else found


def say(
    said: Said,
    name: str,
    rel: str,
    what: str,
    type: str = "fact",
    *,
    held: dates.Validity | None = None,
) -> bool:
    """Claim what "be" says of `name`: a past fact as `was`, but for prices, days and numbers. Always True."""
    past = said.clause.tense == "past" and type == "fact"
    if past and rel not in ("costs", "is_on", "number_is"):
        rel = "was"
    lasted = said.clause.tense != "past"  # we were teammates for four years: not since when
    bounds = _when(said, lasted=lasted) if held is None else held
    said.claim(name, rel, what, polarity=not said.clause.denied, held=bounds, type=type)
    return True
