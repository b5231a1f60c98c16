"""The HTML page."""
from __future__ import annotations

import pathlib
from html import escape

from .highlight import highlighted
from .record import Line, PassRecord, Recording

FOLDER = pathlib.Path(__file__).parent


def page(title: str, recording: Recording) -> str:
    """One file: style, script and pictures are inside."""
    tabs = "".join(f'<button class="tab" data-stage="{escape(name)}">{escape(name)}</button>' for name in recording.stages)
    panes = "".join(stage_pane(name, lines, recording.omitted[name]) for name, lines in recording.stages.items())
    depths = "".join(f'<button class="depth" data-depth="{n}">{label}</button>' for n, label in enumerate(depth_labels(len(recording.pictures))))
    pictures = "".join(f'<div class="picture" data-depth="{n}">{text}</div>' for n, text in enumerate(recording.pictures))
    read = lambda name: (FOLDER / name).read_text(encoding="utf-8")
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{read("page.css")}</style></head><body>'
            f'<header><h1>{escape(title)}</h1><nav><button class="view" data-view="stages">Stages</button><button class="view" data-view="passes">Passes</button><button class="view" data-view="times">Times</button></nav>'
            f'<span id="chosen"></span></header><main><section id="graph"><div class="bar">Unfold {depths}<button id="fit">Fit</button></div>'
            f'<div id="canvas">{pictures}</div></section><section id="stages"><div class="bar">{tabs}</div>{panes}</section>'
            f'<section id="passes">{passes_table(recording.passes)}</section><section id="times">{times_table(recording.times)}</section></main><script>{read("page.js")}</script></body></html>\n')


def depth_labels(count: int) -> list[str]:
    return [*(f"{n + 1}" for n in range(count - 1)), "all"]


def stage_pane(name: str, lines: list[Line], omitted: int) -> str:
    rows = "".join(line_row(line) for line in lines)
    rest = f'<p class="note">{omitted} more lines; onemlir show --stage {escape(name)} prints all.</p>' if omitted else ""
    return f'<div class="pane" data-stage="{escape(name)}"><pre>{rows}</pre>{rest}</div>'


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
    lines = "".join(f'<i class="{ {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "") }">{highlighted(line)}</i>' for line in record.changes)
    return f'<details class="pass"><summary>{head}<span class="note">{len(record.changes)} lines</span></summary><pre>{lines}</pre></details>'
