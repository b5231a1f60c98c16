"""The tools started with streams that are closed or full, or that nobody reads to the end: a message or nothing, never a traceback."""
import subprocess

import numpy as np
import onemlir as om
import pytest

IDENTITY = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"


@pytest.fixture
def shell(tool, tmp_path):
    (tmp_path / "m.mlir").write_text(IDENTITY)

    def run(command: str):
        return subprocess.run(["bash", "-c", command.replace("onemlir-opt", tool("onemlir-opt"))], capture_output=True, text=True, cwd=tmp_path)

    return run


@pytest.mark.parametrize(("command", "message"), [
    ("onemlir-opt <&-", "standard input is closed"),
    ("onemlir-opt m.mlir > /dev/full", "No space left on device"),
    ("onemlir-opt m.mlir -o missing/m.mlir", "onemlir-opt: 'missing/m.mlir' cannot be written: there is no folder"),
    ("onemlir-opt m.mlir -o /dev/full", "'/dev/full' cannot be written: No space left on device"),
    ("printf 'a\\n\\xff' | onemlir-opt", "-:2:1: error: byte 0xff is no UTF-8"),
    ("printf 'ML\\xefRxx' | onemlir-opt", "-:1:1: error:"),
])
def test_refused(shell, command, message):
    result = shell(command)
    assert result.returncode == 1 and message in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["onemlir-opt m.mlir >&-", "onemlir-opt m.mlir 2>&-", "onemlir-opt m.mlir | true"])
def test_accepted(shell, command):
    result = shell(command)
    assert result.returncode == 0 and result.stderr == ""


def test_names_that_the_encoding_lacks(tool, tmp_path, monkeypatch):
    """They are written as escapes; an output may have any name in a .npz file."""
    om.trace(lambda x: {"file": x * 2, "\u00df": x}, om.zeros((2,), dtype="bfloat16")).save(tmp_path / "m.onemodel")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = subprocess.run([tool("onemlir"), "run", "m.onemodel", "-o", "y.npz"], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0 and "\\xdf: bfloat16(2,)" in result.stdout
    written = np.load(tmp_path / "y.npz")
    np.testing.assert_array_equal(om.Session(tmp_path / "m.onemodel").run({"input": written["\u00df"]})["file"].view("V2"), written["file"])
