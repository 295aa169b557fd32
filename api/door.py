"""What operations are asked through: a function and its request go in, its answer comes out."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from braid.operation import Request

if TYPE_CHECKING:
    from braid.session import Session

_Asked = TypeVar("_Asked", bound=Request)
_Answered = TypeVar("_Answered")
_Local = ParamSpec("_Local")


class Door(Protocol):
    """The session of an open store, or one that sends what is asked to a server."""

    def call(
        self,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        request: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Return what an operation answers. Raises what the operation raises."""
        ...

    def items(
        self, function: Callable[["Session", _Asked], _Answered], request: _Asked, page_size: int
    ) -> Iterator[Any]:
        """Yield the items of an operation's list, all of them; of a table, tables of at most `page_size` rows."""
        ...
