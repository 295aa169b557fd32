"""LanceDB's extension module without the package around it (docs/adr/0052-lancedb-by-its-extension.md).

`import lancedb` takes two seconds, nearly all of them for the client of a service that is not used here. The extension
alone takes some milliseconds. Its functions return awaitables of asyncio; one thread of this process waits for them.
"""

import _imp
import os
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")
PACKAGE: Final = "lancedb"
NAME: Final = f"{PACKAGE}._lancedb"


@cache
def extension() -> Any:
    """Return the module `lancedb._lancedb`: the one there is, else loaded now. Raises ImportError.

    It stands in `sys.modules` under its own name, so that a later `import lancedb` finds it and goes on with it: it
    can be loaded once a process. Where that package is imported already, or being imported, this waits for it.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")  # else its warnings go to our terminal
    _imp.acquire_lock()  # meanwhile no other thread can begin to import the package
    try:
        if NAME in sys.modules or PACKAGE not in sys.modules:
            return sys.modules.get(NAME) or _load()
    finally:
        _imp.release_lock()
    return import_module(NAME)


def _load() -> Any:
    package = find_spec(PACKAGE)
    spec = package and PathFinder.find_spec(NAME, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise ImportError(f"{NAME} is not there: reinstall lancedb", name=NAME)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[NAME] = module
    return module


class Waiter:
    """The thread whose event loop waits for the extension. It starts when it is first needed, and ends with the
    process; a forked child starts its own.
    """

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._turn = Lock()
        self._loop: AbstractEventLoop | None = None

    def run(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Call `ask` in that thread and return what it is awaited for; what interrupts the wait cancels it."""
        import asyncio

        async def awaited() -> T:
            return await ask()

        waiting = asyncio.run_coroutine_threadsafe(awaited(), self._running())
        try:
            return waiting.result()
        except BaseException:
            waiting.cancel()
            raise

    def _running(self) -> "AbstractEventLoop":
        with self._turn:
            if self._loop is None:
                import asyncio

                self._loop = asyncio.new_event_loop()
                Thread(target=self._loop.run_forever, name="braid-lance-loop", daemon=True).start()
            return self._loop


run: Final = Waiter().run
