"""Where the records of a drawn braid stand: layers in time, few crossings, links around the boxes. Pure.

A layered drawing after Sugiyama, Tagawa and Toda (1981), made simpler by a log's own order: links lead back in time, so
taking the records as they come gives layers that are both free of links within and in order of time.
"""

from collections import defaultdict
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from braid.tools.draw.graph import Edge, Graph

MAX_ACROSS: Final = 5
"""Boxes side by side in a layer."""
_SWEEPS: Final = 8


class Point(NamedTuple):
    """A place in the drawing, in pixels from its upper left."""

    x: float
    y: float


class Size(NamedTuple):
    """What a box, and the space about it, takes, in pixels."""

    width: float
    height: float
    gap_x: float
    gap_y: float
    lane: float
    """Width of a link that passes a layer."""


class Route(NamedTuple):
    """A link's way: from the box of the older record, past the layers between, to that of the newer one."""

    edge: Edge
    points: list[Point]


class Layout(msgspec.Struct, frozen=True):
    """The centre of each box, the way of each link, the records of each layer, and the whole size."""

    places: dict[int, Point]
    routes: list[Route]
    layers: list[list[int]]
    width: float
    height: float


class _Cell(NamedTuple):
    """What stands in a layer: a record (`passing` is -1), or the k-th link on its way past it."""

    layer: int
    record: int
    passing: int = -1


def lay_out(graph: Graph, size: Size) -> Layout:
    """Return where everything stands. The same graph gives the same layout."""
    layers = layers_of(graph)
    level = {index: at for at, layer in enumerate(layers) for index in layer}
    edges = [edge for edge in graph.edges if edge.source in level and edge.target in level]
    ways = [_way(k, edge, level) for k, edge in enumerate(edges)]
    rows: list[list[_Cell]] = [[_Cell(at, index) for index in layer] for at, layer in enumerate(layers)]
    for way in ways:
        for cell in way[1:-1]:
            rows[cell.layer].append(cell)
    near: dict[_Cell, list[_Cell]] = defaultdict(list)
    for way in ways:
        for above, below in pairwise(way):
            near[above].append(below)
            near[below].append(above)
    _order(rows, near)
    across = _spread(rows, near, size)
    left = min((across[cell] - _width(cell, size) / 2 for row in rows for cell in row), default=0.0)
    right = max((across[cell] + _width(cell, size) / 2 for row in rows for cell in row), default=0.0)
    step = size.height + size.gap_y
    point = {
        cell: Point(across[cell] - left, cell.layer * step + size.height / 2) for row in rows for cell in row
    }
    routes = [Route(edge, _points(way, point, size)) for edge, way in zip(edges, ways, strict=True)]
    places = {cell.record: at for cell, at in point.items() if cell.passing < 0}
    return Layout(places, routes, layers, right - left, max(len(rows) * step - size.gap_y, 0.0))


def layers_of(graph: Graph) -> list[list[int]]:
    """Return the records in layers, oldest first, each layer later than the last and without links among its own."""
    targets: dict[int, set[int]] = defaultdict(set)
    for edge in graph.edges:
        targets[edge.source].add(edge.target)
    layers: list[list[int]] = []
    for index in sorted(graph.nodes):
        here = layers[-1] if layers else []
        day = graph.nodes[index].created_at[:10]
        apart = not here or graph.nodes[here[0]].created_at[:10] != day
        if apart or len(here) >= MAX_ACROSS or not targets[index].isdisjoint(here):
            layers.append([index])
        else:
            here.append(index)
    return layers


def _way(k: int, edge: Edge, level: dict[int, int]) -> list[_Cell]:
    """Return the cells that a link goes through, from the older record down to the newer."""
    top, bottom = level[edge.target], level[edge.source]
    between = [_Cell(at, edge.source, k) for at in range(top + 1, bottom)]
    return [_Cell(top, edge.target), *between, _Cell(bottom, edge.source)]


def _order(rows: list[list[_Cell]], near: dict[_Cell, list[_Cell]]) -> None:
    """Put each row in the order of its neighbours' means, down and up again: few crossings (barycentre method)."""
    place = {cell: k for row in rows for k, cell in enumerate(row)}
    for sweep in range(_SWEEPS):
        side = 1 if sweep % 2 else -1
        for row in rows[::-1] if sweep % 2 else rows:
            mean = {
                cell: _mean([place[other] for other in near[cell] if other.layer == cell.layer + side], k)
                for k, cell in enumerate(row)
            }
            row.sort(key=mean.__getitem__)
            place |= {cell: k for k, cell in enumerate(row)}


def _mean(values: list[float] | list[int], default: float) -> float:
    return sum(values) / len(values) if values else float(default)


def _width(cell: _Cell, size: Size) -> float:
    return size.lane if cell.passing >= 0 else size.width


def _spread(rows: list[list[_Cell]], near: dict[_Cell, list[_Cell]], size: Size) -> dict[_Cell, float]:
    """Return x of each cell's centre: as near to its neighbours' mean as the order of its row lets it."""
    across: dict[_Cell, float] = {}
    for row in rows:
        _place(row, [0.0] * len(row), across, size)
    for sweep in range(2 * _SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            wanted = [_mean([across[other] for other in near[cell]], across[cell]) for cell in row]
            _place(row, wanted, across, size)
    return across


def _place(row: list[_Cell], wanted: list[float], across: dict[_Cell, float], size: Size) -> None:
    """Set x for a row, cells kept apart, at the least squared distance from what is wanted (pooled violators)."""
    offset, offsets = 0.0, [0.0]
    for left, right in pairwise(row):
        offset += (_width(left, size) + _width(right, size)) / 2 + size.gap_x
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []
    for want, at in zip(wanted, offsets, strict=False):
        blocks.append((want - at, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, n), (other, m) = blocks[-2:]
            blocks[-2:] = [((one * n + other * m) / (n + m), n + m)]
    starts = [start for start, count in blocks for _ in range(count)]
    for cell, start, at in zip(row, starts, offsets, strict=False):
        across[cell] = start + at


def _points(way: list[_Cell], point: dict[_Cell, Point], size: Size) -> list[Point]:
    """Return a link's points: out of one box's lower edge, straight past each layer between, into the other's top."""
    half = size.height / 2
    first, last = point[way[0]], point[way[-1]]
    points = [Point(first.x, first.y + half)]
    for cell in way[1:-1]:
        points += [Point(point[cell].x, point[cell].y - half), Point(point[cell].x, point[cell].y + half)]
    return [*points, Point(last.x, last.y - half)]
