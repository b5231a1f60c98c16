"""The HTML page."""
from __future__ import annotations

import json
import pathlib
from html import escape

from ..graph import Graph
from .highlight import highlighted
from .machine import functions
from .record import Line, PassRecord, Recording

FOLDER = pathlib.Path(__file__).parent


def page(title: str, recording: Recording) -> str:
    """One file: style, script and pictures are inside."""
    tabs = "".join(f'<button class="tab" data-stage="{escape(name)}">{escape(name)}</button>' for name in recording.stages)
    panes = "".join(stage_pane(name, lines, recording.omitted[name]) for name, lines in recording.stages.items())
    labels = enumerate(depth_labels(recording.depth + 1))
    depths = "".join(f'<button class="depth" data-depth="{n}">{label}</button>' for n, label in labels)
    read = lambda name: (FOLDER / name).read_text(encoding="utf-8")
    data = json.dumps(graph_data(recording.graph)).replace("<", "\\u003c")
    views = "".join(f'<button class="view" data-view="{name}">{name.capitalize()}</button>' for name in ("stages", "passes", "times"))
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title><style>{read("page.css")}</style></head>'
    header = f'<header><h1>{escape(title)}</h1><nav>{views}</nav><span id="chosen"></span></header>'
    graph = (f'<section id="graph"><div class="bar">Unfold {depths}<button id="fit">Fit</button></div>'
             '<div id="canvas"><div id="picture"></div></div></section>')
    sections = (f'<section id="stages"><div class="bar">{tabs}</div>{panes}</section>'
                f'<section id="passes">{passes_table(recording.passes)}</section>'
                f'<section id="times">{times_table(recording.times)}</section>')
    scripts = f'<script type="application/json" id="data">{data}</script><script>{read("graph.js")}{read("page.js")}</script>'
    return f'<!doctype html>\n<html lang="en">{head}<body>{header}<main>{graph}{sections}</main>{scripts}</body></html>\n'


def graph_data(graph: Graph) -> dict:
    """The unfolded graph for the page's script."""
    path = lambda node: node.path.split(".") if node.path else []
    fields = lambda node: {"label": node.label, "kind": node.kind, "path": path(node), "detail": node.detail, "numbers": node.numbers}
    nodes = [fields(node) for node in graph.nodes]
    return {"nodes": nodes, "edges": [[source, target, label] for (source, target), label in graph.edges.items()]}


def depth_labels(count: int) -> list[str]:
    return [*(f"{n + 1}" for n in range(count - 1)), "all"]


def stage_pane(name: str, lines: list[Line], omitted: int) -> str:
    parts = functions(lines) if name == "assembly" else [("", lines)]
    rows = "".join(function_block(title, part) for title, part in parts)
    rest = f'<p class="note">{omitted} more lines; onemlir show --stage {escape(name)} prints all.</p>' if omitted else ""
    return f'<div class="pane" data-stage="{escape(name)}">{rows}{rest}</div>'


def function_block(title: str, lines: list[Line]) -> str:
    """A function of the assembly folds away under its name; other text stands as it is."""
    rows = "".join(line_row(line) for line in lines)
    if not title:
        return f"<pre>{rows}</pre>"
    return f'<details class="function" open><summary>{escape(title)}, {len(lines)} lines</summary><pre>{rows}</pre></details>'


def line_row(line: Line) -> str:
    op = "" if line.op is None else f' data-op="{line.op}"'
    return f"<i{op}>{highlighted(line.text) or '&nbsp;'}</i>"


def passes_table(passes: list[PassRecord]) -> str:
    """Passes in order with their time and what they changed."""
    longest = max((p.seconds for p in passes), default=0) or 1
    rows = "".join(pass_row(p, longest) for p in passes)
    total = sum(p.seconds for p in passes)
    return f'<p class="note">{len(passes)} passes, {total * 1e3:.0f} ms</p>{rows}'


def times_table(rows: list) -> str:
    """The operations of a run by their time, slowest first."""
    longest = max((row.seconds for row in rows), default=0) or 1
    lines = "".join(
        f'<div class="pass unchanged"><span class="time">{row.seconds * 1e6:.1f} µs</span><span class="time">{row.share:.1%}</span>'
        f'<span class="meter"><span style="width:{100 * row.seconds / longest:.0f}%"></span></span>'
        f'<span class="time">{f"{row.gflops:.1f} GFLOP/s" if row.gflops else ""}</span><span class="name">{escape(row.what)}</span>'
        f'<span class="note">{escape(row.where)}</span></div>' for row in rows)
    return f'<p class="note">One thread, random inputs, the fastest of several runs.</p>{lines}'


def pass_row(record: PassRecord, longest: float) -> str:
    width = 100 * record.seconds / longest
    head = (f'<span class="name">{escape(record.name)}</span><span class="stage">{escape(record.stage)}</span>'
            f'<span class="time">{record.seconds * 1e3:.1f} ms</span><span class="meter"><span style="width:{width:.0f}%"></span></span>')
    if not record.changes:
        return f'<div class="pass unchanged">{head}<span class="note">no change</span></div>'
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = "".join(f'<i class="{kinds.get(line[:1], "")}">{highlighted(line)}</i>' for line in record.changes)
    summary = f'<summary>{head}<span class="note">{len(record.changes)} lines</span></summary>'
    return f'<details class="pass">{summary}<pre>{lines}</pre></details>'
