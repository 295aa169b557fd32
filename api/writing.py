"""What is put into the log: experiences, chat messages and what they state, corrections, media."""

from typing import TYPE_CHECKING

from braid.ledger.blobs import BlobRef, BlobStore, Readable
from braid.ledger.record import Media
from braid.reading import Reading

if TYPE_CHECKING:
    from braid.learning import Learned, Learner, Told


class Writing(Reading):
    """A store as whoever remembers in it sees it."""

    _learner: "Learner | None" = None

    def learn(self, *, dry_run: bool = False, told: "Told | None" = None) -> "Learned":
        """Read what has not been read yet for plain statements; append these as inference records above their turns.

        Follows the log; repeating it adds nothing. `told` is shown each record that states something, and the draft.
        """
        from braid.learning import Learner

        self.refresh()
        if dry_run:
            return Learner(self).learn(dry_run=True, told=told)
        self.writer  # noqa: B018 - refuses a store that is open for reading only, before it is read
        with self._learning_turn:  # a learner follows the log: two would trip over each other
            if self._learner is None:
                self._learner = Learner(self)
            return self._learner.learn(told=told)

    def attach(
        self,
        content: bytes | Readable,
        *,
        media_type: str,
        name: str | None = None,
        caption: str | None = None,
    ) -> Media:
        """Seal media into a blob and return what an experience's `media` takes."""
        from base64 import b64encode

        _refuse_no_media(content)
        ref: BlobRef = BlobStore(self.writer.path / "blobs", writable=False).put(content)
        return Media(
            blob=ref.sha256,
            size=ref.size,
            key=b64encode(ref.key).decode(),
            media_type=media_type,
            name=name,
            caption=caption,
        )


def _refuse_no_media(content: object) -> None:
    if not isinstance(content, bytes) and not hasattr(content, "read"):
        raise TypeError(f"media is bytes or an open file, not {type(content).__name__}")
