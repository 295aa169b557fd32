"""After an erasure no file of the projections holds a byte of it: rows, old versions, indexes, cached vectors, sets in
the making. Each needle is shown to be findable before.
"""

import errno
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from blake3 import blake3
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt as decrypt

from braid.entry import open as open_store
from braid.ledger.erase import erasure
from braid.ledger.errors import LedgerError
from braid.models.static import StaticEmbedder
from braid.store import Store
from braid.views.embedder import Vectors
from braid.views.errors import DamagedViewError
from braid.views.lance import cache as cache_module
from braid.views.lance import folder as home_module
from braid.views.lance import view as view_module
from braid.views.lance.cache import Cache, CacheKey
from braid.views.search import PROMPT
from tests.unit.views.vectors import vector_of

MODEL = StaticEmbedder()
WORD = "zzyzxneedle"
NEEDLE = f"{WORD} in the hay"
WHOSE = "qqxneedlescope"


class Far(StaticEmbedder):
    """The packaged model, taken for one that is asked over a network."""

    remote = True


def files_with(store: Store, needle: bytes) -> list[str]:
    folder = store.path / "views"
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and needle in path.read_bytes()
    )


def kinds(names: list[str]) -> set[str]:
    """What sort of LanceDB file each name is."""
    return {
        part for name in names for part in ("data", "_indices", "_transactions") if part in Path(name).parts
    }


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "memory", embedder=lambda: MODEL)


def test_no_byte_of_an_erased_record_remains(store: Store) -> None:
    with store:
        id = store.append(NEEDLE, user_id=WHOSE)
        for n in range(30):
            store.append(f"hay {n}")
        store.views.search.index()
        store.views.search.tend()  # its words and scope are in indexes now, under a version of their own
        store.append("more hay")
        assert len(store.views.search.index().words(WORD)) == 1
        needles = {
            "text": NEEDLE.encode(),
            "scope": WHOSE.encode(),
            "id": id.encode(),
            "vector": MODEL.embed([NEEDLE])[0].tobytes()[:32],
        }
        before = {name: files_with(store, needle) for name, needle in needles.items()}
        assert all(kinds(names) >= {"data"} for names in before.values())
        assert "_indices" in kinds(before["scope"])
        old = {path for path in (store.path / "views" / "lance").rglob("*") if "set-" in str(path)}
        store.erase(id)
        assert {name for name, needle in needles.items() if files_with(store, needle)} == set()
        assert not any(
            path.exists() for path in old
        )  # what is compressed can't be looked for: no old file is left
        index = store.views.search.index()
        assert index.words(WORD) == []
        assert len(list(index.rows())) == len(index.words("hay", k=50)) == 31


def test_what_was_purged_is_named(store: Store) -> None:
    with store:
        id = store.append(NEEDLE)
        store.views.search.index()
        (old,) = (path.name for path in store.views.search.home.sets())
        store.erase(id)
        (new,) = (path.name for path in store.views.search.home.sets())
        assert old != new
        assert f"views/lance/{new}" in store.views.purge()


def test_cached_vectors_go_and_no_copy_of_them_opens(tmp_path: Path) -> None:
    far = Far()
    with open_store(tmp_path / "memory", embedder=lambda: far) as store:
        id, other = store.append(NEEDLE), store.append("hay")
        search = store.views.search
        assert search.fill() == 2
        index = store.reader.index_of(id)
        row_key = store.reader.need_vault().key(index).row
        wanted = CacheKey(index, row_key, "static-minilm-256-int8@1", NEEDLE)
        name, key = cache_module._keys(wanted)
        path = search.home.cache.path
        stolen = path.read_bytes()
        assert name in stolen
        assert path.stat().st_mode & 0o777 == 0o600
        sealed = sealed_in(path, name)
        vector = MODEL.embed([NEEDLE])[0].astype("<f4").tobytes()
        assert vector[:16] not in stolen
        assert (
            decrypt(sealed[24:], b"", sealed[:24], key) == vector
        )  # with the vault it opens, while it has the key
        store.erase(id)
        assert name not in path.read_bytes()
        assert len(search.home.cache) == 1
        assert files_with(store, name) == []
        assert files_with(store, WORD.encode()) == []
        with pytest.raises(LedgerError):
            store.reader.need_vault().key(index)  # and so nothing of the stolen copy opens
        assert [row.pending for row in search.index().rows()] == [False]
        assert np.array_equal(vector_of(store, f"vec://{PROMPT}/{other}"), MODEL.embed(["hay"])[0])


def sealed_in(path: Path, name: bytes) -> bytes:
    with closing(sqlite3.connect(path)) as con:
        return bytes(con.execute("SELECT sealed FROM vectors WHERE name = ?", [name]).fetchone()[0])


def test_a_set_in_the_making_is_purged_too(tmp_path: Path) -> None:
    first = open_store(tmp_path / "memory", embedder=lambda: MODEL)
    id = first.append(NEEDLE)
    for n in range(5):
        first.append(f"hay {n}")
    first.views.search.index()
    first.close()
    held, going = threading.Event(), threading.Event()

    class Next(StaticEmbedder):
        version = "2"

        def embed(self, texts: Sequence[str]) -> Vectors:
            if WORD in " ".join(texts):
                held.set()
                assert going.wait(30)
            return super().embed(texts)

    following = Next()
    with open_store(tmp_path / "memory", embedder=lambda: following) as store:
        store.views.search.index()
        assert held.wait(30)
        assert len(store.views.search.home.sets()) == 2
        threading.Timer(0.2, going.set).start()
        store.erase(id)
        assert files_with(store, WORD.encode()) == []
        assert files_with(store, following.version.encode() + WORD.encode()) == []
        store.views.search.settle()
        store.views.search.index()
        store.views.search.settle()
        index = store.views.search.index()
        assert index.model.endswith("@2")
        assert [row.text for row in index.rows()] == [f"hay {n}" for n in range(5)]
        assert files_with(store, WORD.encode()) == []


def test_without_room_to_rebuild_everything_is_removed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store:
        id = store.append(NEEDLE)
        store.append("hay")
        store.views.search.index()

        def full(*_: object) -> None:
            raise DamagedViewError("no space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(view_module.LanceView, "take_over", full)
            patch.setattr(view_module.LanceView, "apply", full)
            store.erase(id)
        assert files_with(store, WORD.encode()) == []
        assert store.views.search.home.sets() == []
        assert [row.text for row in store.views.search.index().rows()] == ["hay"]


def test_a_damaged_cache_is_begun_anew(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "vectors.sqlite")
    one = CacheKey(3, blake3(b"x").digest(), "m@1", "text")
    vector = MODEL.embed(["text"])[0]
    cache.put({one: vector})
    assert np.array_equal(cache.get([one], 256)[3], vector)
    assert cache.get([one._replace(text="other")], 256) == {}
    assert cache.get([one._replace(model="m@2")], 256) == {}
    assert cache.get([one._replace(row_key=blake3(b"y").digest())], 256) == {}
    assert cache.get([one], 255) == {}
    with closing(sqlite3.connect(cache.path)) as con:
        con.execute("UPDATE vectors SET sealed = zeroblob(length(sealed))")
        con.commit()
    assert cache.get([one], 256) == {}
    cache.path.write_bytes(b"no database at all" * 100)
    assert cache.get([one], 256) == {}
    cache.put({one: vector})
    assert len(cache) == 1
    cache.shed([3])
    assert len(cache) == 0


def test_what_a_model_is_asked_for_an_erased_record_is_not_kept(tmp_path: Path) -> None:
    """The record goes between the question to the model and its answer."""
    holder: dict[str, Store] = {}

    class Slow(Far):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if NEEDLE in texts and "id" not in ids_erased:
                ids_erased["id"] = id
                holder["store"].erase(id)
            return super().embed(texts)

    ids_erased: dict[str, str] = {}
    model = Slow()
    with open_store(tmp_path / "memory", embedder=lambda: model) as store:
        holder["store"] = store
        id = store.append(NEEDLE)
        store.append("hay")
        store.views.search.index()
        name, _ = cache_module._keys(
            CacheKey(
                store.reader.index_of(id),
                store.reader.need_vault().key(store.reader.index_of(id)).row,
                "static-minilm-256-int8@1",
                NEEDLE,
            )
        )
        store.views.search.fill()
        assert files_with(store, WORD.encode()) == []
        assert files_with(store, name) == []
        assert files_with(store, MODEL.embed([NEEDLE])[0].tobytes()[:32]) == []
        assert [row.pending for row in store.views.search.index().rows()] == [False]


def test_an_erasure_is_done_though_a_set_can_not_be_removed_at_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store:
        id = store.append(NEEDLE)
        store.append("hay")
        store.views.search.index()
        home = store.views.search.home
        remove, refused = (
            home.drop_strays,
            iter([OSError(errno.ENOTEMPTY, "Directory not empty: '_indices'")]),
        )

        def once(*, made: bool = False) -> list[str]:
            for error in refused:
                raise error
            return remove(made=made)

        monkeypatch.setattr(home, "drop_strays", once)
        store.erase(id)
        assert files_with(store, WORD.encode()) == []
        assert [row.text for row in store.views.search.index().rows()] == ["hay"]


def test_an_erasure_is_not_certified_while_the_set_lies_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store:
        id = store.append(NEEDLE)
        store.views.search.index()

        def refuse(_: Path) -> None:
            raise OSError(errno.ENOTEMPTY, "Directory not empty: '_indices'")

        with monkeypatch.context() as patch:
            patch.setattr(home_module, "remove_tree", refuse)
            with pytest.raises(OSError, match="not empty"):
                store.erase(id)
        assert files_with(store, WORD.encode())
        assert store.reader.control.unfinished()
        (done,) = erasure.finish(store.writer, store.views.purge)
        assert done.records == 1
        assert files_with(store, WORD.encode()) == []


def test_a_set_that_another_makes_is_not_touched_without_the_lock(store: Store) -> None:
    """It would fail over its own files, and write on in what is being removed."""
    with store:
        id = store.append(NEEDLE)
        search = store.views.search
        search.index()
        fresh = search.home.folder / "set-0123456789abcdef"
        with search._owning(0.0):
            fresh.mkdir()
            other = threading.Thread(target=store.erase, args=(id,))
            other.start()
            other.join(1.0)
            assert other.is_alive()
            assert fresh.is_dir()
        other.join()
        assert not fresh.exists()
        assert files_with(store, WORD.encode()) == []
