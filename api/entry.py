"""The front door: a store is made, or opened, here."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft
from braid.ledger.settings import Durability, Settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.create import create_store
from braid.ledger.write.sequence import Clock
from braid.ledger.write.writer import Writer, utc_now
from braid.log.operations import Earlier
from braid.notices import notice
from braid.providers.near import keep_near
from braid.session import Session
from braid.settings import EVENT, fits
from braid.store import Store

if TYPE_CHECKING:
    from braid.async_store import AsyncStore
    from braid.text.parse import Parsing
    from braid.text.rerank import Reranking
    from braid.views.lance.folder import Embedding

DEFAULT_PATH = "memory"
STRICT_DAYS: Final = (90, 180)
"""How long a store of strict privacy may keep what was corrected."""


class Here(NamedTuple):
    """What belongs to the process that opens a store which a server has."""

    reader: Callable[[], Reader]
    only_reads: bool
    clock: Clock
    embedder: "Embedding | None"
    parser: "Parsing | None"
    reranker: "Reranking | None" = None


FindServer = Callable[[Path, Here], Store | None]
"""Returns a store as a server has it; None where no server answers."""


def init(
    path: str | Path = DEFAULT_PATH,
    *,
    origin: str | None = None,
    durability: Durability = "always",
    retention_days: int = 30,
    vault: str | Path | None = None,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
    clock: Clock = utc_now,
    scope_chains: bool = False,
    spare_root: bool = False,
    privacy: Literal["standard", "strict"] = "standard",
    history_days: int | None = None,
) -> Settings:
    """Create a store with fresh keys; raise FileExistsError where something is already, ValueError for an empty path.

    `scope_chains`: each record names the one before it in its scopes and their count, so that an omission shows.
    `spare_root`: two root keys, each of which can revoke the other and go on; a log takes in none later.
    `history_days`: after so many days `retain` erases what was corrected; for ever it is kept without it. With
    `privacy` strict it must be 90 or 180: ValueError else. The choice is a signed setting of the first transaction.
    """
    return create_store(
        _folder(path),
        now=clock(),
        origin=origin,
        durability=durability,
        retention_days=retention_days,
        vault=Path(vault) if vault else None,
        passphrase=passphrase,
        guard_folder=Path(guard_dir) if guard_dir else None,
        scope_chains=scope_chains,
        spare_root=spare_root,
        choices=_kept_for(privacy, history_days),
    )


def _kept_for(privacy: Literal["standard", "strict"], history_days: int | None) -> list[Draft]:
    """Return the event that says how long what was corrected is kept; ValueError for what can't be chosen."""
    if privacy == "strict" and history_days not in STRICT_DAYS:
        raise ValueError(
            "privacy strict needs a choice of how long what was corrected is kept: "
            "history_days (--history-days) 90 or 180, "
            + ("and none was made" if history_days is None else f"not {history_days}")
        )
    if history_days is None:
        return []
    if not fits({"history_days": history_days}):
        raise ValueError(f"what was corrected is kept for 1 to 36,525 days, not {history_days:,}")
    value = {"key": "history_days", "value": history_days}
    return [notice(EVENT, value, f"chosen when the store was made, privacy {privacy}", Earlier(0))]


def open(
    path: str | Path = DEFAULT_PATH,
    *,
    create: bool = True,
    read_only: bool = False,
    shared: bool = False,
    adopt: bool = False,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
    wait_s: float = 10.0,
    clock: Clock = utc_now,
    embedder: "Embedding | None" = None,
    parser: "Parsing | None" = None,
    reranker: "Reranking | None" = None,
    headless: bool = False,
    server: FindServer | None = None,
) -> Store:
    """Open a store, creating it where there is none (unless `create=False` or `read_only`).

    `shared` lets several processes write, each taking the lock for a transaction and waiting up to `wait_s` seconds.
    `adopt` accepts a store whose fork guard is missing. `embedder` returns the model that searches by meaning, when
    one is first needed; `parser` the one that takes sentences apart, so that what is said is learned; `reranker` the
    one that reads a question and a turn together. `braid.open` passes those that come with Braid. `headless` opens
    without the log's private key, which is lost, so that another can take its place. `server` finds a running server,
    which is asked in the log's place (docs/serve.md); `braid.open` finds it by the socket in the store's folder, with
    `server=None` none.
    Raises LogLockedError, UnwritableError, GuardError, RollbackError, IntegrityError, FileNotFoundError; ValueError for
    an empty path.
    """
    store = _folder(path)
    guard_folder = Path(guard_dir) if guard_dir else None
    if create and not read_only and not (store / "store.json").exists():
        try:
            create_store(store, now=clock(), passphrase=passphrase, guard_folder=guard_folder)
        except FileExistsError:
            if not (store / "store.json").exists():
                raise
            # Another has made it meanwhile: it is opened as any store is.
    settings_guard = None
    if guard_folder is not None:
        from braid.ledger.settings import load_settings

        settings_guard = Guard.of_store(load_settings(store).store_id, guard_folder)
    read = partial(Reader, store, guard=settings_guard, passphrase=passphrase)
    if server is not None and clock is utc_now and not headless:
        found = server(store, Here(read, read_only, clock, embedder, parser, reranker))
        if found is not None:
            return found
    reader: Reader
    if read_only:
        reader = read()
    else:
        reader = Writer(
            store,
            guard=settings_guard,
            passphrase=passphrase,
            adopt=adopt,
            shared=shared,
            wait_s=wait_s,
            clock=clock,
            headless=headless,
        )
    try:
        opened = Store(reader, clock, embedder, parser, reranker)
    except BaseException:
        reader.close()
        raise
    opened.session.followers.append(_learn)
    keep_near(opened.session)
    return opened


def _learn(session: Session, corrected: Sequence[str]) -> None:
    """Read what was appended for claims; of a correction only where something was read of what it corrects."""
    from braid.knowledge.learner import follow

    follow(session, corrected)


async def open_async(path: str | Path = DEFAULT_PATH, **options: Any) -> "AsyncStore":
    """Open a store without blocking the event loop; options as for `open`."""
    from asyncio import to_thread

    from braid.async_store import AsyncStore

    return AsyncStore(await to_thread(open, path, **options))


def _folder(path: str | Path) -> Path:
    if path == "":  # a Path of it would be the folder that one stands in
        raise ValueError(f"name the store's folder, such as {DEFAULT_PATH!r}: '' names none")
    return Path(path)
