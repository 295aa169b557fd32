"""What is put into the log: experiences, chat messages and what they state, corrections, media."""

from braid.ledger.blobs import BlobRef, BlobStore, Readable
from braid.ledger.record import Media
from braid.reading import Reading


class Writing(Reading):
    """A store as whoever remembers in it sees it."""

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
