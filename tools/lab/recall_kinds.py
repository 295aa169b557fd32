"""Conversations of several kinds, with questions and the turns that answer them, to fit the weights of recall to.

LoCoMo as published, QMSum's meetings (Zhong et al., NAACL 2021) as published, and talks of our own (tests/data/talks).
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from braid.recall.samples import Sample, read_locomo
from braid.tools.evaluation.recall_samples import of_talk, read_meetings
from braid.tools.evaluation.talk_answers import LATER, read_questioned

LOCOMO: Final = "locomo"
NOW: Final = datetime(2030, 1, 1, tzinfo=UTC)
"""When LoCoMo's conversations are asked about."""


class Conversation(NamedTuple):
    """A conversation, of which kind it is, and when it is asked about."""

    kind: str
    sample: Sample
    now: datetime


def conversations(
    locomo: Path, meetings: Path | None = None, talks: Path | None = None
) -> list[Conversation]:
    """Return all conversations: of LoCoMo's folder, QMSum's file, and a folder of talks. Raises what reading raises."""
    found = [
        Conversation(LOCOMO, read_locomo(msgspec.json.decode(path.read_bytes())), NOW)
        for path in sorted(locomo.glob("*.json"))
    ]
    if meetings is not None:
        found += [Conversation("qmsum", sample, NOW) for sample in read_meetings(meetings.read_bytes())]
    if talks is not None:
        files = [(path.name, path.read_bytes()) for path in sorted(talks.glob("*.json"))]
        for talk in read_questioned(files):
            now = max(one.at for one in talk.turns) + LATER
            found.append(Conversation(talk.kind, of_talk(talk), now))
    return found
