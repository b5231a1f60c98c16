"""A graph as SVG, complete in itself: for papers, and inside the page of `onemlir explore`."""
from __future__ import annotations

from html import escape

from .layout import HEIGHT, Layout, layout, WIDTH
from .model_graph import Graph, GraphNode

FILLS = {"input": "#dbeafe", "output": "#dbeafe", "op": "#f8fafc", "module": "#fef3c7"}
STYLE = "font: 12px system-ui, sans-serif"


def svg(graph: Graph, arrow: str = "arrow") -> str:
    """The picture. `arrow` names its arrow head, where several are on a page. Each node is a group with the class of its kind and
    ``data-ops``, the numbers of its ops."""
    places = layout(graph)
    edges = "\n".join(_edge(places, source, target, label, arrow) for (source, target), label in graph.edges.items())
    nodes = "\n".join(_node(node, *places.places[number]) for number, node in enumerate(graph.nodes))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {places.width:.0f} {places.height:.0f}" width="{places.width:.0f}" '
            f'height="{places.height:.0f}" style="{STYLE}">\n'
            f'<defs><marker id="{arrow}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0L8 4L0 8z" fill="#64748b"/></marker></defs>\n{edges}\n{nodes}\n</svg>\n')


def _node(node: GraphNode, x: float, y: float) -> str:
    title = escape("\n".join([node.path or node.label, *node.detail[:40], *(["…"] if len(node.detail) > 40 else [])]))
    count = f"{len(node.numbers)} operation{'s' * (len(node.numbers) != 1)}"
    below = count if node.kind == "module" else node.path or (node.detail[0] if node.detail else "")
    numbers = " ".join(map(str, node.numbers))
    return (f'<g class="node {node.kind}" data-ops="{numbers}" data-path="{escape(node.path)}"><title>{title}</title>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{FILLS[node.kind]}" stroke="#64748b"/>'
            f'<text x="{x + WIDTH / 2:.1f}" y="{y + 18:.1f}" text-anchor="middle" font-weight="600" fill="#0f172a">'
            f'{escape(_short(node.label, 26))}</text>'
            f'<text x="{x + WIDTH / 2:.1f}" y="{y + 35:.1f}" text-anchor="middle" fill="#475569" font-size="11">'
            f'{escape(_short(below, 30))}</text></g>')


def _short(text: str, limit: int) -> str:
    """The end of a long text, which tells more of a path than its beginning."""
    return text if len(text) <= limit else "…" + text[1 - limit:]


def _edge(places: Layout, source: int, target: int, label: str, arrow: str) -> str:
    (x1, y1), (x2, y2) = places.places[source], places.places[target]
    x1, y1, x2 = x1 + WIDTH / 2, y1 + HEIGHT, x2 + WIDTH / 2
    bend = max(20, (y2 - y1) / 2)
    path = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
    text = f'<text x="{(x1 + x2) / 2 + 6:.1f}" y="{(y1 + y2) / 2 + 4:.1f}" fill="#64748b" font-size="10">{escape(label)}</text>'
    return f'<path d="{path}" fill="none" stroke="#94a3b8" marker-end="url(#{arrow})"/>{text}'
