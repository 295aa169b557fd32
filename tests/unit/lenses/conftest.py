"""Another package with lenses of its own, as pip would have installed it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from braid.lenses.registry import installed

MODULE = """
import sys
import time
from braid.lenses.form import Form, Item
from braid.lenses.lens import Lens

class Shouts(Lens):
    name, version, about = "shouts", "1", "what was shouted"

    def fold(self, form, entries, params):
        loud = {e.place for e in entries if e.text.endswith("!")}
        items = {f"{e.place:07d}": Item(text=e.text.upper(), places=(e.place,)) for e in entries if e.place in loud}
        quiet = {e.place for e in entries} - loud
        weights = {place: weight for place, weight in form.weights.items() if place not in quiet}
        return Form(weights, {**form.items, **items})

class Later(Shouts):
    version = "2"

    def fold(self, form, entries, params):
        made = super().fold(form, entries, params)
        return Form({place: 2.0 for place in made.weights}, made.items)

class Oracle(Shouts):
    name, model_backed = "oracle", True
    asked = 0

    def fold(self, form, entries, params):
        Oracle.asked += 1
        return Form(form.weights, {**form.items, f"said/{Oracle.asked}": Item(text=f"answer {Oracle.asked}")})

class Whole(Shouts):
    name, folds = "whole", False

    def fold(self, form, entries, params):
        return Form(form.weights, {"count": Item(text=f"{len(entries)} records")})

class Bad(Shouts):
    name = "bad"
    params = {"how": "raises"}

    def fold(self, form, entries, params):
        how = params["how"]
        if how == "raises":
            raise RuntimeError("no idea")
        if how == "sleeps":
            time.sleep(30)
        if how == "exits":
            sys.exit(0)
        if how == "prints":
            print("so much to say")
        if how == "params":
            params["how"] = "raises"
        if how in ("prints", "params", "order", "long"):
            return Form(form.weights, {"x": Item(text=how)})
        return {
            "place": Form({0.0: 1.0}), "key": Form({}, {1: Item(text="x")}), "no item": Form({}, {"x": "x"}),
            "weight": Form({0: True}), "surrogate": form, "none": Form(None, None),
            "item place": Form({}, {"x": Item(text="x", places=("0",))}),
            "type": {"a": 1}, "outside": Form({len(entries): 1.0}),
            "item": Form({}, {"x": Item(text="x", places=(99,))}),
            "nan": Form({0: float("nan")}), "json": Form({}, {"x": Item(text="x", data={"when": object()})}),
            "number": Form({}, {"x": Item(text="x", data={"n": float("inf")})}), "text": form,
        }.get(how)

    def render(self, form, params):
        return {"text": None, "surrogate": chr(0xd800), "long": "x" * 2_000_000}.get(params["how"], "")

    def order(self, form):
        return ["who?"] if "x" in form.items and form.items["x"].text == "order" else super().order(form)

class Picky(Shouts):
    name = "picky"
    how = "raises"

    def takes(self, record):
        if Picky.how == "sleeps":
            time.sleep(30)
        if Picky.how == "raises":
            raise RuntimeError("no taste")
        return super().takes(record)

class Meddler(Shouts):
    name = "meddler"

    def fold(self, form, entries, params):
        for item in form.items.values():
            item.data["n"] += len(entries)
        return form if form.items else Form(form.weights, {"x": Item(text="x", data={"n": len(entries)})})

class NoLens:
    name = "none"
"""
ENTRIES = """[braid.lenses]
shouts = shouting:Shouts
oracle = shouting:Oracle
whole = shouting:Whole
bad = shouting:Bad
picky = shouting:Picky
meddler = shouting:Meddler
"""


@pytest.fixture
def shouting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """A function that writes what the other package registers; it begins with `ENTRIES`."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "shouting.py").write_text(MODULE)
    about = folder / "shouting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(folder)

    def register(entries: str) -> None:
        (about / "entry_points.txt").write_text(entries)
        installed.cache_clear()

    register(ENTRIES)
    yield register
    sys.modules.pop("shouting", None)
    installed.cache_clear()
