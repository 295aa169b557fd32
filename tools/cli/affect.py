"""`braid affect`: the tone of a text or of records, shown, or appended as snapshots."""

import sys
from typing import Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.options import Adopt, Shared, StoreOption
from braid.tools.cli.output import put, put_fields, put_json, say

PANEL = "Read"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(affect)


def affect(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What is read; - reads it from stdin.", show_default=False),
    ] = None,
    *,
    record: Annotated[
        list[str] | None, typer.Option("--record", metavar="ID", help="A record to read.", show_default=False)
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Append the readings as snapshots.")] = False,
    stage: Annotated[
        Literal["input", "draft", "augmented"], typer.Option("--stage", help="What the text is.")
    ] = "input",
    actor: Annotated[
        Literal["user", "agent"] | None,
        typer.Option("--actor", help="Whose tone it is.", show_default="who the record is from"),
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")
    ] = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Read the tone of a text or of records: valence, arousal, dominance, a word for it, how sure, by what signs.

    A text needs no store. With --append each record gets a snapshot (kind affect), whose id is printed; repeating it
    adds nothing. Tone bears on manner alone: what is held true never depends on it.

    \b
    Examples:
      braid affect "I love it, thank you so much!"
      braid affect --record exp_2025-05-17T09:00:00Z_0000000300ab -o json
      braid affect --record exp_2025-05-17T09:00:00Z_0000000300ab --append
    """
    if (text is None) == (not record):
        raise ValueError("give a text, - for stdin, or --record ID (several, if wanted)")
    if text is not None:
        if append:
            raise ValueError("--append needs --record ID: a snapshot is of a record")
        _show([(None, _of_text(text))], output)
        return
    ids = record or []
    if append:
        with writing(store, adopt=adopt, shared=shared) as opened:
            before = len(opened)
            for id in opened.feel(*ids, stage=stage, actor=actor):
                put(id)
            if known := len(set(ids)) - (len(opened) - before):
                say(f"{known} of {len(set(ids))} were in the log already: nothing was added for them")
        return
    with reading(store) as opened:
        _show(list(zip(ids, opened.tones(*ids), strict=True)), output)


def _of_text(text: str) -> Any:
    import braid
    from braid.affect.vad import read

    said = sys.stdin.buffer.read().decode(errors="replace") if text == "-" else text
    return read([said], braid.packaged_embedder().embed([said]))[0]


def _show(readings: list[tuple[str | None, Any]], output: str) -> None:
    shown = [_fields(id, reading) for id, reading in readings]
    if output == "json":
        put_json(shown if shown[0].get("record") else shown[0])
        return
    for at, fields in enumerate(shown):
        if at:
            put("")
        signals = fields.pop("signals")
        put_fields(fields | {name: _told(name, value) for name, value in signals.items()})


def _fields(id: str | None, reading: Any) -> dict[str, Any]:
    """Return a reading by name, with the manner that would answer it."""
    from braid.affect.confidence import band
    from braid.affect.style import style

    named = {} if id is None else {"record": id}
    return named | {
        "valence": reading.vad.v, "arousal": reading.vad.a, "dominance": reading.vad.d, "emotion": reading.emotion,
        "intensity": reading.intensity, "confidence": reading.confidence, "band": band(reading.confidence),
        "notes": reading.notes, "manner": style(reading.vad).words(), "signals": reading.signals,
    }  # fmt: skip


def _told(name: str, value: Any) -> str:
    """Return the signals of a kind in one line."""
    if name == "lexical":
        return ", ".join(f"{one['cue']} {one['weight']:+g}" for one in value)
    if name == "punctuation":
        return ", ".join(f"{mark} {count}" for mark, count in value.items())
    return str(value) if isinstance(value, (int, float, str)) else ", ".join(value)
