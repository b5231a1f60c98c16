"""`onemlir-translate`, there and back, against onnxruntime and the reader of files."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn
from onemlir.cli import translate


@pytest.fixture(scope="module")
def model():
    om.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3)).trace(om.zeros((2, 4)), axes=("batch", None))


def run(*arguments):
    """The exit status."""
    try:
        translate.main(list(map(str, arguments)))
    except SystemExit as end:
        return end.code
    return 0


def test_onemodel_to_om_to_onnx(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model.save(tmp_path / "m.onemodel")
    weights = f"--weights={tmp_path / 'w.safetensors'}"
    assert run("--onemodel-to-om", tmp_path / "m.onemodel", weights, "-o", tmp_path / "m.mlir") == 0
    assert (tmp_path / "m.mlir").read_text().strip() == model.mlir().strip()
    assert run("--om-to-onnx", tmp_path / "m.mlir", weights, "-o", tmp_path / "m.onnx") == 0
    x = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    found, = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, {"input": x})
    np.testing.assert_allclose(found, model.session()(x), rtol=1e-4, atol=1e-5)


def test_onnx_to_om(model, tmp_path):
    model.save_onnx(tmp_path / "m.onnx")
    assert run("--onnx-to-om", tmp_path / "m.onnx", "-o", tmp_path / "m.mlir") == 0
    assert "om.parameter" in (tmp_path / "m.mlir").read_text()


def test_missing_weights(model, tmp_path, capsys):
    (tmp_path / "m.mlir").write_text(model.mlir())
    assert run("--om-to-onnx", tmp_path / "m.mlir") == 1
    assert "0.bias" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "status", "message"), [
    ([], 2, "which translation?"),
    (["--onnx-to-om", "--om-to-onnx"], 2, "one translation at a time"),
    (["--onnx-to-om", "--fast"], 2, "no option '--fast'"),
    (["--onnx-to-om", "missing.onnx"], 1, "missing.onnx"),
])
def test_wrong_command_lines(arguments, status, message, capsys):
    assert run(*arguments) == status
    assert message in capsys.readouterr().err
