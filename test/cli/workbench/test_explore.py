"""`onemlir explore` and `onemlir show --graph`: what is on the page, and that it works in a browser without a network."""
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

import onemlir as om
from onemlir import nn
from onemlir.cli.explore.highlight import highlighted
from onemlir.cli.explore.machine import functions
from onemlir.cli.explore.page import page
from onemlir.cli.explore.record import differences, Line, line_of, record
from onemlir.cli.graph import graph_of, svg
from onemlir.cli.graph.layout import layout

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SVG = "{http://www.w3.org/2000/svg}"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, input):
        return input + self.second(self.first(input).relu())


@pytest.fixture(scope="module")
def program():
    return nn.Sequential(Block(), Block(), nn.Linear(4, 3)).trace(om.zeros((2, 4)), axes=("batch", None)).program


@pytest.fixture(scope="module")
def recording(program):
    return record(program)


def labels(graph):
    return [node.label for node in graph.nodes]


def test_graph_folds_by_module(program):
    with program.context:
        assert labels(graph_of(program.main, 0)) == ["input", "0", "1", "2", "output"]
        assert labels(graph_of(program.main, 1)) == ["input", "0.first", "relu", "0.second", "add", "1.first", "relu", "1.second", "add", "linear", "output"]
        assert labels(graph_of(program.main)).count("linear") == 5


def test_edges_follow_the_values(program):
    with program.context:
        graph = graph_of(program.main)
    add = labels(graph).index("add")
    assert sorted(labels(graph)[source] for source, target in graph.edges if target == add) == ["input", "linear"]


def test_layers_go_down(program):
    with program.context:
        graph = graph_of(program.main)
    places = layout(graph).places
    assert all(places[source][1] < places[target][1] for source, target in graph.edges)
    assert len(set(places)) == len(places)


def test_svg_is_complete(program):
    with program.context:
        graph = graph_of(program.main)
    root = xml.fromstring(svg(graph))
    assert len(root.findall(f"{SVG}g")) == len(graph.nodes) and "http" not in svg(graph).replace("http://www.w3.org/2000/svg", "")


def test_an_op_is_found_in_every_stage(program, recording):
    """The first linear layer of the second block, by the number of its op."""
    with program.context:
        graph = graph_of(program.main)
    number, = next(node.numbers for node in graph.nodes if node.path == "1.first")
    for stage in ("om", "linalg", "prepare", "buffers", "loops", "llvm"):
        assert any(line.op == number for line in recording.stages[stage]), stage
    assert not any("loc(" in line.text for line in recording.stages["loops"])


def test_passes_are_recorded_in_order(recording):
    names = [p.name for p in recording.passes]
    assert names.index("om-decompose") < names.index("om-to-linalg") < names.index("om-bufferize") < names.index("om-to-llvm")
    changed = next(p for p in recording.passes if p.name == "om-to-linalg").changes
    assert any(line.startswith("+") and "linalg.generic" in line for line in changed) and any(line.startswith("-") and "om." in line for line in changed)


@pytest.mark.parametrize(("text", "expected"), [
    ('  %0 = a.b loc("om.op.7"("x":1:2))', Line("  %0 = a.b", 7)),
    ('  ^bb0(%a: f32 loc("om.op.1"("x)":1:2)), %b: f32 loc(unknown)):', Line("  ^bb0(%a: f32, %b: f32):", 1)),
    ("  return", Line("  return", None)),
    ('  a.b loc(callsite("om.op.1"("x":1:2) at "om.op.7"("x":1:2)))', Line("  a.b", 7)),
])
def test_line_of(text, expected):
    assert line_of(text) == expected


def test_differences():
    a, b = [Line("x"), Line("y")], [Line("x"), Line("z")]
    assert differences(a, a) == [] and differences(a, b)[1:] == [" x", "-y", "+z"]
    many = [Line("  %0 = tensor.empty()")] * 3000
    assert differences(many, many[1:] + [Line("  %1 = arith.addf %0")]) == ["+1 arith.addf", "-1 tensor.empty"]


def test_highlighting_escapes():
    assert highlighted("a < b & <script>") == "a &lt; b &amp; &lt;script&gt;"


def test_page_needs_no_network(recording):
    text = page("model <1>", recording)
    assert "<title>model &lt;1&gt;</title>" in text
    assert not re.search(r"""(?:src|href)=["']|url\(["']?http|@import|fetch\(""", text)


def in_browser(recording, folder, address: str) -> str:
    """The page as the browser shows it at an address within it."""
    path = folder / "page.html"
    path.write_text(page("model", recording), encoding="utf-8")
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    return subprocess.run([*command, f"{path.as_uri()}#{address}"], capture_output=True, text=True, timeout=120).stdout


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_in_a_browser(recording, tmp_path):
    """The script runs: the stage in the address is shown, its op marked in the stage and in the graph."""
    shown_page = in_browser(recording, tmp_path, "stage=linalg&op=2&depth=0")
    shown = re.findall(r'<(?:button|div) class="(?:tab|pane|depth) on" data-(\w+)="([^"]*)"', shown_page)
    assert shown.count(("stage", "linalg")) == 2 and ("depth", "0") in shown
    assert 'class="chosen"' in shown_page and re.search(r'class="node \w+ chosen"', shown_page)


@pytest.mark.skipif(BROWSER is None, reason="no browser")
def test_modules_unfold_one_by_one(recording, tmp_path):
    nodes = re.findall(r'class="node (\w+)[^"]*" data-ops="[^"]*" data-path="([^"]*)"', in_browser(recording, tmp_path, "depth=0&open=1"))
    assert ("module", "0") in nodes and ("module", "1.first") in nodes and ("op", "1") in nodes and ("module", "1") not in nodes


def test_machine_code_is_marked(recording):
    """Lines come from ops that the loops come from (equal layers share code, that of the first); no debug information is left."""
    loops = {line.op for line in recording.stages["loops"]} - {None}
    for stage in ("llvm-ir", "assembly"):
        lines = recording.stages[stage]
        assert {line.op for line in lines} - {None} <= loops and any(line.op is not None for line in lines), stage
        assert not any("!dbg" in line.text or ".loc" in line.text.split() or "debug_" in line.text for line in lines)
    names = [name for name, _ in functions(recording.stages["assembly"])]
    assert "entry" in names and "globl" in "".join(line.text for line in recording.stages["assembly"])
