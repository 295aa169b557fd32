"""Forget, recover, erase: tombstones, the cascade, and the steps after which nothing remains (SPEC §9)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import msgspec

from braid.ledger.erase.cascade import Cascade, doomed_blobs, erasable, plan_whole
from braid.ledger.errors import InvalidRecordError, UnpurgedError
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import MAX_LINKS, Envelope, Link, digest_text
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Body, Draft, EventBody
from braid.ledger.write.create import reserve_space
from braid.ledger.write.sequence import Placed
from braid.ledger.write.writer import Writer
from braid.wal.durable import is_full
from braid.wal.failpoint import failpoint

Purge = Callable[[], list[str]]
"""Rebuilds every projection, cache and snapshot without the erased; returns the files it rebuilt or removed."""
_T = TypeVar("_T")
_NOTHING: Mapping[str, str] = {}
_FILES_NAMED = 400
"""Names of files (a blob's has 71 characters) that fit into one certificate's envelope."""


class UnfinishedErasureWarning(UserWarning):
    """An erasure is announced and can't be finished yet: something keeps the projections from being purged."""


class Certificate(msgspec.Struct, frozen=True):
    """What an erasure did, as its signed certificate says.

    Beside it `stands_again`: what the erased stood in the place of, and stands itself now; empty where an erasure that
    was cut short is finished later.
    """

    id: RecordId
    tombstone: RecordId
    records: int
    kept: int
    done: list[str]
    files: list[str]
    stands_again: list[RecordId] = []


def forget(
    writer: Writer, ids: Sequence[str], reason: str | None = None, said: Mapping[str, str] = _NOTHING
) -> RecordId:
    """Hide records from recall, views and reads; `recover` brings them back within the retention window.

    `said`: what the tombstone's body says besides.
    """
    targets = [erasable(writer, writer.get(id).index) for id in ids]
    return _mark(writer, "forget", [target.id for target in targets], reason, said)


def recover(
    writer: Writer,
    ids: Sequence[str],
    now: datetime,
    reason: str | None = None,
    said: Mapping[str, str] = _NOTHING,
) -> RecordId:
    """Bring forgotten records back; raise InvalidRecordError for one that is not forgotten or past its window."""
    limit = timedelta(days=writer.control.retention_days)
    for id in ids:
        index = writer.get(id, include_forgotten=True).index
        hidden = writer.control.hidden.get(index)
        if hidden is None:
            raise InvalidRecordError(f"{id} is not forgotten")
        if now - datetime.fromisoformat(hidden[1]) > limit:
            window = f"{limit.days} day{'' if limit.days == 1 else 's'}"
            raise InvalidRecordError(
                f"{id} was forgotten at {hidden[1]}, more than {window} ago: past recovery"
            )
    return _mark(writer, "recover", ids, reason, said)


def _mark(
    writer: Writer, op: str, ids: Sequence[str], reason: str | None, said: Mapping[str, str]
) -> RecordId:
    """Append a tombstone of these records, or several in one transaction where there are more than one can name."""
    drafts = [
        Draft(
            kind="tombstone",
            body=Body(reason=reason),
            public={"op": op},
            links=[("target", id) for id in ids[first : first + MAX_LINKS]],
            extra=dict(said),
        )
        for first in range(0, len(ids), MAX_LINKS)
    ]
    return writer.append(drafts)[0].id


def due(reader: Reader, now: datetime) -> list[int]:
    """Return the forgotten records that are past their retention window at `now`."""
    limit = timedelta(days=reader.control.retention_days)
    return sorted(
        index
        for index, (_, since) in reader.control.hidden.items()
        if now - datetime.fromisoformat(since) > limit
    )


def retain(writer: Writer, now: datetime, purge: Purge) -> list[Certificate]:
    """Erase what is past the retention window, under a logged sweep that says at what time it looked."""
    return erase(writer, lambda: due(writer, now), purge, reason="retention", prelude=[sweep(now)])


def sweep(now: datetime, **said: object) -> Draft:
    """Return the event of a sweep: at what time it looked, and what else is `said` of it."""
    data = {"at": now.isoformat(), **said}
    return Draft(kind="event", body=EventBody(name="sweep", data=data), public={"name": "sweep"})


def erase(
    writer: Writer,
    chosen: Cascade | Callable[[], Iterable[int]],
    purge: Purge,
    *,
    reason: str | None = None,
    prelude: Sequence[Draft] = (),
) -> list[Certificate]:
    """Erase what was chosen and its cascade: durable tombstone, keys destroyed, bodies blanked, projections
    rebuilt, certificate.

    Chosen (by a function) and planned (a cascade from before is planned again) under the writer's lock, in one turn
    with the tombstone: what others derive or append meanwhile is in the cascade or comes after it. From the
    tombstone on every read refuses. Dying anywhere, `finish` does the rest at the next open. Raises UnpurgedError where
    all is done but what `purge` does.
    """
    with writer.turn():
        asked = [one.index for one in chosen.asked] if isinstance(chosen, Cascade) else chosen()
        epoch, cascade = writer.need_vault().epoch, plan_whole(writer, asked)
        tombstones = [
            Draft(
                kind="tombstone",
                body=Body(reason=reason),
                public={"op": "erase", "epoch": epoch + place},
                links=links,
            )
            for place, links in enumerate(_link_lists(cascade), 1)
        ]
        if not tombstones:
            return []
        # One transaction: of a cascade that takes several, a crash leaves none that nobody announced.
        placed = _with_reserve(writer, partial(writer.append, [*prelude, *tombstones]))[-len(tombstones) :]
        announced = [(one.index, *_destroy(writer, one.index)) for one in placed]
    certificates = [_conclude(writer, index, purge, done, files) for index, done, files in announced]
    again = [one.id for one in cascade.again]
    return [msgspec.structs.replace(certificates[0], stands_again=again), *certificates[1:]]


def _link_lists(cascade: Cascade) -> Iterator[list[tuple[str, str]]]:
    """Yield the links of each tombstone that the cascade needs: one, up to a million records."""
    links = [("target", str(one.id)) for one in cascade.erased] + [
        ("kept", str(one.id)) for one in cascade.kept
    ]
    for start in range(0, len(links), MAX_LINKS):
        yield links[start : start + MAX_LINKS]


def finish(writer: Writer, purge: Purge) -> list[Certificate]:
    """Complete the erasures that a crash interrupted; the same steps as `erase`, each harmless to repeat.

    Raises UnpurgedError where what `purge` does can't be done.
    """
    certificates: list[Certificate] = []
    for index in writer.control.unfinished():
        with writer.turn():
            if writer.control.erasures[index][1] is not None:  # another process was faster
                continue
            done, files = _destroy(writer, index)
        certificates.append(_conclude(writer, index, purge, done, files))
    return certificates


def _destroy(writer: Writer, tombstone: int) -> tuple[list[str], list[str]]:
    """Take the steps behind a durable erase tombstone (SPEC §9.2); return what was done and in which files.

    Called in one turn with the tombstone: two processes that change one vault at once could bring keys back.
    """
    envelope = writer.envelope(tombstone)
    targets = [link.index for link in writer.links(tombstone) if link.role == "target"]
    # The head is published first: from here no tail recovery will compare the bodies that are about to be blanked.
    _with_reserve(writer, writer.checkpoint)
    failpoint("erase.announced")
    vault = writer.need_vault()
    left = [index for index in targets if not vault.is_erased(index)]
    if left or vault.epoch < int(envelope.public["epoch"]):
        _with_reserve(writer, lambda: vault.puncture(targets))
    failpoint("erase.punctured")
    done, files = ["key"], writer.log.blank(targets, partial(is_body, writer))
    done.append("body")
    failpoint("erase.blanked")
    blobs = _erase_blobs(writer, targets)
    if blobs:
        done.append("media")
        files += blobs
    return done, files


def is_body(reader: Reader, index: int, data: bytes) -> bool:
    """Whether bytes are the record's sealed body, or the zeros that an erasure has left of it."""
    digest, size = reader.envelope(index).body
    return len(data) == size and (not any(data) or digest_text(data) == digest)


def _conclude(writer: Writer, tombstone: int, purge: Purge, done: list[str], files: list[str]) -> Certificate:
    """Rebuild the projections and certify. Reads refuse already: others may write meanwhile."""
    envelope = writer.envelope(tombstone)
    links = writer.links(tombstone)
    try:
        files += purge()
    except Exception as error:  # of whatever keeps projections: reads refuse the targets all the same
        raise UnpurgedError(tombstone, error) from error
    done.append("projections")
    failpoint("erase.purged")
    with writer.turn():
        certified = writer.control.erasures[tombstone][1]  # by another process that met it unfinished?
        if certified is None:
            certified = _with_reserve(writer, lambda: _certify(writer, envelope, links, done, files)).index
        _with_reserve(writer, writer.checkpoint)
    certificate = RecordId(writer.envelope(certified).id)
    _restore_reserve(writer)
    targets = sum(link.role == "target" for link in links)
    return Certificate(certificate, RecordId(envelope.id), targets, len(links) - targets, done, files)


def _certify(
    writer: Writer, envelope: Envelope, links: list[Link], done: list[str], files: list[str]
) -> Placed:
    """Append the certificate; where it names more files than an envelope holds, several that share them."""
    drafts = [
        Draft(
            kind="event",
            body=EventBody(name="certificate"),
            public={
                "op": "certify",
                "erase": envelope.index,
                "records": sum(link.role == "target" for link in links),
                "done": done,
                "files": files[start : start + _FILES_NAMED],
            },
            links=[("target", envelope.id)],
        )
        for start in range(0, max(len(files), 1), _FILES_NAMED)
    ]
    return writer.append(drafts)[0]


def _erase_blobs(writer: Writer, targets: list[int]) -> list[str]:
    blobs = BlobStore(writer.path / "blobs", writable=False)
    names = doomed_blobs(writer, targets)
    for name in names:
        blobs.erase(name)
    return [f"blobs/{name[:2]}/{name[2:]}" for name in names]


def _with_reserve(writer: Writer, act: Callable[[], _T]) -> _T:
    """Do `act`; on a full disk free the reserve and do it once more: an erasure must not wait for space."""
    try:
        return act()
    except OSError as error:
        reserve = writer.path / "reserve"
        if not is_full(error) or not reserve.exists():
            raise
        reserve.unlink()
        return act()


def _restore_reserve(writer: Writer) -> None:
    if not (writer.path / "reserve").exists():
        try:
            reserve_space(writer.path)
        except OSError:  # still full: `braid doctor` says that the reserve is missing
            return


def compact(writer: Writer) -> int:
    """Give back the space of blanked bodies; return bytes. Envelopes, digests, tiles and roots stay as they are.

    Raises NoRoomError where a segment's new file has no room beside the old one; the reserve stays for erasures.
    """
    with writer.turn():
        certified = {
            index
            for index, tombstone in writer.control.erased.items()
            if writer.control.erasures[tombstone][1] is not None
        }
        writer.checkpoint()
        return writer.log.compact(certified.__contains__)
