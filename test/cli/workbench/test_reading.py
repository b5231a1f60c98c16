"""The short form for reading."""
import subprocess

import numpy as np

import onemlir as om
from onemlir import nn, ops
from onemlir.cli.reading import short_form


def lines(program):
    return [line.split(" #")[0].rstrip() if not line.lstrip().startswith("#") else line for line in short_form(program).splitlines()]


def test_modules_and_weights():
    traced = nn.Sequential(nn.Linear(4, 8), nn.Softmax(dim=-1)).trace(om.zeros((2, 4)), axes=("batch", None))
    found = lines(traced.program)
    assert found[0] == "input %input" and found[1] == "# 0" and found[3] == "# 1"
    assert found[2].endswith("= linear(%input, 0.weight, 0.bias)") and "softmax(" in found[4] and "axis=1" in found[4]
    assert found[-1].startswith("return(%")
    assert "# batch x 8 float32" in short_form(traced.program)


def test_symbolic_sizes_stand_where_they_are_used():
    traced = om.trace(lambda x: ops.reshape(x, shape=(x.shape[0] * 2, 2)), om.zeros((3, 4)), axes=("n", None))
    assert any("reshape(%input, shape=(2*n, 2))" in line for line in lines(traced.program))


def test_literals_and_defaults():
    traced = om.trace(lambda x: x + om.tensor(np.float32([1, 2])), om.zeros((2,)))
    text = short_form(traced.program)
    assert "= [1.0, 2.0]" in text and "add(%input, %" in text


def test_graphs_are_pictures(tool, tmp_path):
    result = subprocess.run([tool("onemlir"), "show", "m.onnx", "--graph", "g.png"], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 1 and "a graph is written as .svg, and 'g.png' has another suffix" in result.stderr


def test_command(tool, tmp_path):
    nn.Linear(4, 8).trace(om.zeros((2, 4))).save(tmp_path / "m.onemodel")
    result = subprocess.run([tool("onemlir"), "show", str(tmp_path / "m.onemodel"), "--short"], capture_output=True, text=True)
    assert result.returncode == 0 and "= linear(%input, weight, bias)" in result.stdout, result.stdout
    picture = subprocess.run([tool("onemlir"), "show", str(tmp_path / "m.onemodel"), "--graph", str(tmp_path / "m.svg")])
    assert picture.returncode == 0 and (tmp_path / "m.svg").read_text().startswith("<svg")
