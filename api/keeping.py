"""What an operator sees to: keys, signed heads, audits, and how the store stands."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from braid.forgetting import Forgetting
from braid.ledger import asof
from braid.ledger.ceremony import take_in
from braid.ledger.create import admission
from braid.ledger.errors import UnknownRecordError
from braid.ledger.ids import RecordId
from braid.ledger.record import Draft, KeyBody
from braid.ledger.sign import Signer
from braid.ledger.writer import Writer

if TYPE_CHECKING:
    from braid.agent.stage import Stage
    from braid.ledger.audit.findings import Report
    from braid.ledger.backup.backup import Backup
    from braid.ledger.settings import Durability
    from braid.views.past import Past
    from braid.views.snapshot.folder import Snapshot


class Keeping(Forgetting):
    """A store as whoever runs it sees it."""

    def admit(self, role: str, actor: str | None = None) -> Signer:
        """Make a key for one role and actor, admit it to the log and keep its private half in `keys/`."""
        signer = Signer.fresh(role, actor)
        take_in(self.writer, signer, [admission(self.origin, signer)])
        return signer

    def revoke(
        self, key_id: str, *, compromised_since: int | None = None, reason: str | None = None
    ) -> RecordId:
        """Revoke a key from here on; records it signed from `compromised_since` (a log index) on become disputed."""
        if key_id not in self._reader.control.keys:
            raise UnknownRecordError(f"{key_id} was never admitted to this log")
        self.refresh()
        if compromised_since is not None and not 0 <= compromised_since <= len(self):
            raise ValueError(
                f"compromised since {compromised_since} disputes nothing: the log has {len(self)} records"
            )
        public = {"op": "revoke", "id": key_id, "compromised_since": compromised_since}
        return self.append_drafts([Draft(kind="key", body=KeyBody(reason=reason), public=public)])[0].id

    def set_durability(self, mode: "Durability", *, reason: str | None = None) -> RecordId:
        """Choose when an append is on disk (`always`, `interval`, `none`) by a signed event; return its id.

        It counts here at once, in other handles when they are opened again. Raises KeyRefusedError without an
        operator's key.
        """
        from braid.ledger.durability import choose

        return choose(self.writer, mode, reason)

    def checkpoint(self) -> None:
        """Sign and publish the present head now."""
        self.writer.checkpoint()

    def verify(self, *, deep: bool = False, rederive: bool = False, **options: Any) -> "Report":
        """Verify the whole log from its files; `deep` also unseals bodies and compares projections, `rederive`
        makes every view, claim and stance again from what it names and compares."""
        from braid.ledger.audit.verify import verify

        if isinstance(self._reader, Writer):
            self._reader.checkpoint()
        options.setdefault("passphrase", self._reader.passphrase)
        report = verify(
            self.path,
            deep=deep,
            guard=self._reader.guard,
            projections=self.views.check if deep else None,
            **options,
        )
        if not rederive:
            return report
        from braid import rederive as again

        return again.with_rederived(report, again.rederive(self._reader))

    def snapshot(self, *, keep: int = 2) -> "Snapshot":
        """Write down what the projections hold, signed and bound to the log's size and root; the `keep` newest stay.

        Raises KeyRefusedError where no operator's key is here, ViewBusyError.
        """
        if isinstance(self._reader, Writer):
            self._reader.checkpoint()
        self.refresh()
        return self.views.snapshot(keep=keep)

    def backup(self, dest: str | Path, *, with_vault: bool = False) -> "Backup":
        """Bring the backup in `dest` to this store's published head, copying what is new; `braid.restore` reads it.

        Neither vault nor private keys go along unless `with_vault`. Raises BackupError.
        """
        from braid.ledger.backup.backup import back_up

        return back_up(self._reader, Path(dest), now=self._clock(), with_vault=with_vault)

    def snapshots(self) -> "list[Snapshot]":
        """Return every snapshot, the newest first."""
        self.refresh()
        return self.views.snapshots.all()

    def status(
        self, *, as_of: int | datetime | None = None, valid_at: datetime | None = None
    ) -> dict[str, Any]:
        """Return size, head, what was cut from the log's end when this handle opened it (`torn`), lag of the
        projections, what is forgotten and due, and the space used.

        With `as_of` or `valid_at`: size, root and time of the log then, and how many rows its projection has.
        """
        self.refresh()
        past = self.past(as_of, valid_at)
        return self._status() if past is None else self._status_then(past)

    def stage(self) -> "Stage":
        """Return how far the memory has come, from empty to expert, and what it lacks to the next stage.

        Counted in the projection, which is caught up. Raises as `sql`; ViewUnreadableError without a vault.
        """
        from braid.agent.stage import COUNTS, SAID, Counts, stage

        self._reader.need_vault()
        row = self.sql(SAID + COUNTS).to_pylist()[0]
        return stage(Counts(**row))

    def _status_then(self, past: "Past") -> dict[str, Any]:
        reader = self._reader
        then = asof.control_at(reader, past.size)
        last = reader.envelope(past.size - 1)
        counts = self.views.count(past)
        return {
            "store": str(self.path),
            "origin": self.origin,
            "records": past.size,
            "since_then": reader.size - past.size,
            "transactions": last.tx[0] + 1,
            "root": asof.root_at(reader, past.size),
            "created_at": last.created_at,
            "valid_at": past.valid_at,
            "forgotten": len(then.hidden),
            "erased": sum(index < past.size for index in reader.control.erased),
            "keys": sum(life.revoked is None for life in then.keys.values()),
            "rows": counts,
        }

    def _status(self) -> dict[str, Any]:
        reader = self._reader
        asked = reader.settings.durability
        return {
            "store": str(self.path),
            "origin": self.origin,
            "vkey": self.vkey,
            "durability": reader.durability,
            "records": reader.size,
            "transactions": reader.log.next_tx,
            "log_bytes": reader.log.bytes_on_disk,
            "checkpoint": {"size": reader.published.size, "root": reader.published.root.hex()},
            "guard": str(reader.guard.path) if reader.guarded else None,
            "vault_epoch": reader.vault.epoch if reader.vault else None,
            "forgotten": len(reader.control.hidden),
            "erased": len(reader.control.erased),
            "retention": {
                "days": reader.control.retention_days,
                "due": len(self.retention_due()),
                "next": self._next_due(),
            },
            "views": self.views.status(),
            "snapshot": self.views.newest_snapshot(),
            "contradiction": reader.contradiction or None,
            "durability_unsigned": None if reader.durability == asked else asked,
            "torn": reader.torn._asdict() if isinstance(reader, Writer) and reader.torn else None,
        }

    def _next_due(self) -> str | None:
        control = self._reader.control
        first = min((since for _, since in control.hidden.values()), default=None)
        return (
            (datetime.fromisoformat(first) + timedelta(days=control.retention_days)).isoformat()
            if first
            else None
        )
