"""Places of nodes: layers by the longest way from an input, in each layer ordered by where the predecessors stand."""
from __future__ import annotations

from dataclasses import dataclass

from .model_graph import Graph

WIDTH, HEIGHT, GAP_X, GAP_Y = 190, 44, 24, 46


@dataclass(frozen=True)
class Layout:
    """Left upper corners of the nodes, and the size of the picture."""

    places: list[tuple[float, float]]
    width: float
    height: float


def layout(graph: Graph) -> Layout:
    """A layered drawing from top to bottom. An edge that would close a circle (of a module used twice) has no say in the layers."""
    layers = _layers(graph)
    rows: dict[int, list[int]] = {}
    for node, layer in enumerate(layers):
        rows.setdefault(layer, []).append(node)
    order = {node: float(place) for row in rows.values() for place, node in enumerate(row)}
    before: dict[int, list[int]] = {}
    for source, target in graph.edges:
        before.setdefault(target, []).append(source)
    for layer in sorted(rows):
        rows[layer].sort(key=lambda node: _mean([order[s] for s in before.get(node, [])], order[node]))
        for place, node in enumerate(rows[layer]):
            order[node] = place - (len(rows[layer]) - 1) / 2
    widest = max((len(row) for row in rows.values()), default=1)
    middle = widest * (WIDTH + GAP_X) / 2
    places = [(middle + order[n] * (WIDTH + GAP_X) - WIDTH / 2, layers[n] * (HEIGHT + GAP_Y) + GAP_Y / 2) for n in range(len(graph.nodes))]
    return Layout(places, widest * (WIDTH + GAP_X), (max(layers, default=0) + 1) * (HEIGHT + GAP_Y))


def _layers(graph: Graph) -> list[int]:
    layers = [0] * len(graph.nodes)
    for source, target in sorted(graph.edges, key=lambda edge: edge[1]):
        if source < target:
            layers[target] = max(layers[target], layers[source] + 1)
    return layers


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
