"""Models as people name them: the one that searches by meaning (`braid --model`), the one that answers (`ask --model`).

Each is loaded when it is first asked. Keys come from the environment or a file, and never stand on a command line.
"""

import os
import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

if TYPE_CHECKING:
    from braid.agent.composer import Composer
    from braid.jobs.running import Models
    from braid.store import Store
    from braid.text.chat import ChatModel
    from braid.views.embedder import Embedder
    from braid.views.lance.folder import Embedding

KEY_VARIABLE: Final = "BRAID_MODEL_KEY"
"""Where the key of an endpoint is looked for; it never stands on a command line."""
_REMOTE: Final = re.compile(
    r"(ollama|openai):(?P<name>[^@]+)/(?P<dimensions>[1-9]\d{0,4})(?:@(?P<url>https?://.+))?"
)
_FORMS: Final = (
    "static, none, onnx, sentence-transformers:FOLDER, ollama:NAME/DIMENSIONS[@URL]"
    " or openai:NAME/DIMENSIONS@URL"
)

_CHAT: Final = re.compile(
    r"openai:(?P<url>https?://[^#\s]+)#(?P<served>\S.*)|ollama:(?P<ollama>[^@\s]+)(?:@(?P<at>https?://\S+))?"
    r"|anthropic:(?P<anthropic>[^\s@]+)"
)
_CHAT_FORMS: Final = "openai:URL#NAME, ollama:NAME[@URL] or anthropic:NAME"
ChatOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        envvar="BRAID_CHAT_MODEL",
        help=f"Let a language model write: {_CHAT_FORMS}.",
        show_default="none: words of the memories themselves",
    ),
]
SecondOption = Annotated[
    str | None,
    typer.Option(
        "--second",
        metavar="MODEL",
        help="A model that is asked where --model gives no answer.",
        show_default="provider_second",
    ),
]
LargerOption = Annotated[
    str | None,
    typer.Option(
        "--larger",
        metavar="MODEL",
        help="A larger model, asked where --model is unsure.",
        show_default="provider_larger",
    ),
]
AllowRemote = Annotated[
    bool, typer.Option("--allow-remote", help="Let memories go to a model that is not on this machine.")
]


def chat_model(named: str, *, allow_remote: bool = False) -> "ChatModel":
    """Return the language model that is named; raise ValueError for a name that means none, and for one too far away.

    Its key is the one of BRAID_CHAT_KEY (ANTHROPIC_API_KEY for Anthropic's), or in the file of BRAID_CHAT_KEY_FILE.
    """
    from braid.models import keys

    found = _CHAT.fullmatch(named)
    if found is None:
        raise ValueError(f"--model is {_CHAT_FORMS}; {_shown(named)!r} is not one of these")
    if found["url"]:
        from braid.models.openai import OpenaiChat

        return OpenaiChat(found["url"], found["served"], key=keys.key(os.environ), allow_remote=allow_remote)
    if found["ollama"]:
        from braid.models.ollama import HERE, OllamaChat

        return OllamaChat(found["ollama"], url=found["at"] or HERE, allow_remote=allow_remote)
    from braid.models.anthropic import AnthropicChat

    key = keys.key(os.environ, "ANTHROPIC_API_KEY")
    model = AnthropicChat(found["anthropic"], key=key, allow_remote=allow_remote)
    if key is None:
        raise ValueError(
            "Anthropic's models need a key: set ANTHROPIC_API_KEY, or BRAID_CHAT_KEY_FILE to a file of yours"
        )
    return model


class ChosenModels(NamedTuple):
    """The models that read sessions: as a command names them, else as the store's settings do."""

    small: "ChatModel | None"
    second: "ChatModel | None"
    larger: "ChatModel | None"


def chosen_models(
    opened: "Store", small: str | None, second: str | None, larger: str | None, *, allow_remote: bool
) -> ChosenModels:
    """Return the models that are named, and for those that aren't, the ones that the signed settings name.

    Where a server has the store it reads by itself, and the settings choose nothing here. Raises ValueError as
    `chat_model`.
    """
    named = {"provider_preferred": small, "provider_second": second, "provider_larger": larger}
    if opened.server is None:
        set_so = {one.key: one.value for one in opened.list_settings()}
        named = {key: given or set_so[key] or None for key, given in named.items()}
    if not named["provider_preferred"]:
        return ChosenModels(None, None, None)
    return ChosenModels(
        *(chat_model(each, allow_remote=allow_remote) if each else None for each in named.values())
    )


class ServerModels:
    """What a server's workers ask: looked up again where the settings have changed. Safe between threads."""

    def __init__(
        self,
        opened: "Store",
        small: str | None,
        second: str | None,
        larger: str | None,
        *,
        allow_remote: bool,
    ) -> None:
        """Names as a command has them; None for what the settings name."""
        self._opened = opened
        self._names = (small, second, larger)
        self._allow_remote = allow_remote
        self._known: tuple[object, Models] | None = None

    def __call__(self) -> "Models":
        """Return the models. Raises ValueError for a name that means none, and for one too far away."""
        from braid.jobs.running import Models
        from braid.settings import settings

        now = settings(self._opened.session)
        mark = (now.provider_preferred, now.provider_second, now.provider_larger)
        if self._known is None or self._known[0] != mark:
            found = chosen_models(self._opened, *self._names, allow_remote=self._allow_remote)
            parser = self._opened.session.parser if found.small is not None else None
            self._known = (
                mark,
                Models(small=found.small, second=found.second, larger=found.larger, parser=parser),
            )
        return self._known[1]


def require_small(small: str | None, second: str | None, larger: str | None) -> None:
    """Raise ValueError where a model is named that stands behind another, and that one isn't."""
    for option, given, when in (("--larger", larger, "is unsure"), ("--second", second, "gives no answer")):
        if given and not small:
            raise ValueError(f"{option} is asked where --model {when}: name that one, too")


def composer_of(named: str | None, *, allow_remote: bool) -> "Composer | None":
    """Return what writes with the model that is named, None where none is; raise ValueError as `chat_model`."""
    if (written := writing_with(named, allow_remote=allow_remote)) is None:
        return None
    from braid.agent.answer.compose import Extractive

    return written(Extractive())


def writing_with(named: str | None, *, allow_remote: bool) -> "Callable[[Composer], Composer] | None":
    """Return what puts the model that is named before another composer, None where none is named."""
    if named is None:
        return None
    from braid.agent.answer.model_composer import ModelComposer

    return partial(ModelComposer, chat_model(named, allow_remote=allow_remote))


def _shown(named: str) -> str:
    """Return a name as it may be told: what stands before the @ of an address may be a password."""
    return re.sub(r"//[^/\s]*@", "//…@", named)


def embedding(named: str) -> "Embedding":
    """Return what brings the model that is named; raise ValueError for a name that means none."""
    kind, _, rest = named.partition(":")
    if not rest and kind in _LOCAL:
        return cache(_LOCAL[kind])
    if kind == "sentence-transformers" and rest:
        return cache(partial(_sentence_transformers, rest))
    found = _REMOTE.fullmatch(named)
    if found is None or (found[1] == "openai" and found["url"] is None):
        raise ValueError(f"--model is {_FORMS}; {named!r} is not one of these")
    return cache(partial(_remote, found[1], found["name"], int(found["dimensions"]), found["url"]))


def _static() -> "Embedder":
    from braid.models.static import StaticEmbedder

    return StaticEmbedder()


def _none() -> None:
    return None


def _onnx() -> "Embedder":
    from braid.models.onnx import OnnxEmbedder

    return OnnxEmbedder()


_LOCAL: "Final[dict[str, Callable[[], Embedder | None]]]" = {"static": _static, "none": _none, "onnx": _onnx}


def _sentence_transformers(model: str) -> "Embedder":
    from braid.models.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(model)


def _remote(kind: str, name: str, dimensions: int, url: str | None) -> "Embedder":
    if kind == "ollama":
        from braid.models.ollama import OllamaEmbedder

        options: dict[str, Any] = {"url": url} if url else {}
        return OllamaEmbedder(name, dimensions, **options)
    from braid.models.openai import OpenaiEmbedder

    return OpenaiEmbedder(str(url), name, dimensions, key=os.environ.get(KEY_VARIABLE))
