"""What a memory is for: the records that fit a question, a prompt's block of them, a cited answer, a tone."""

from typing import TYPE_CHECKING

from braid.judging import Judging
from braid.ledger.ids import RecordId

if TYPE_CHECKING:
    from braid.affect.vad import Reading


class Answering(Judging):
    """A store as an agent with a question sees it."""

    def sense(self, text: str) -> "Reading":
        """Return a text's tone: valence, arousal, dominance, a word for it, how sure and why. Writes nothing."""
        from braid.feeling import sense

        return sense(self, [text])[0]

    def feel(self, *ids: str, stage: str = "input", actor: str | None = None) -> list[RecordId]:
        """Append a snapshot of the tone of each experience, as one transaction, and return their ids.

        `stage`: input, draft or augmented; `actor`: user or agent, by default who the experience is from. Repeating it
        adds nothing. Raises InvalidRecordError for a record without words, and what `get` and `append` raise.
        """
        from braid.feeling import drafts as snapshots

        self.refresh()
        batch = [draft for draft, _ in snapshots(self, ids, stage, actor)]
        return [placed.id for placed in self.append_drafts(batch)] if batch else []
