"""What readers of a clause are handed: the page, the words they quote, the clause itself, on whose word. Pure."""

from typing import NamedTuple

from braid.learn.page import Page
from braid.learn.parse.clauses import Clause
from braid.learn.voice import Voice
from braid.text.sentences import TextPart


class Said(NamedTuple):
    """One clause of a turn as it is being read. `part`: its words, which become a claim's quote."""

    page: Page
    part: TextPart
    clause: Clause
    voice: Voice
