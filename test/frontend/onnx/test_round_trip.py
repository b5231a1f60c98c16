"""Models of ONNX's suite read, written again, and run in onnxruntime: the outputs are those of the references, op by op."""
import warnings

import numpy as np
import onnx
import pytest

import onemlir as om
from onemlir.dialect.interpreter import Interpreter
from onemlir.frontend.onnx import backend, read_onnx
from onemlir.traced import TracedModel
from refused import reason_of

PART = 12  # of the suite's cases every so many are tried
UNKNOWN_THERE = ("NOT_IMPLEMENTED", "bfloat16", "Numpy_type 256", "NotImplemented")  # what onnxruntime says of dtypes that it does not have


def cases():
    warnings.simplefilter("ignore")
    from onnx.backend.test.loader import load_model_tests

    found = load_model_tests(kind="node")[::PART]
    return [c for c in found if reason_of(c.name) is None and all(isinstance(x, np.ndarray) for x in c.data_sets[0][0])]




def program_of(model, inputs):
    """The program that the backend would compile for these inputs, and what it would be run on."""
    prepared, programs = backend.CompiledModel(model), []
    prepared._compiled = lambda *options: programs.append(read_onnx(model, *options))
    _, flat = prepared._session(dict(zip([info.name for info in prepared.inputs], inputs)))
    return programs[-1], [np.asarray(x) for x in flat]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_round_trip(case, tmp_path):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    program, inputs = program_of(case.model, case.data_sets[0][0])
    with program.context:
        expected = Interpreter(program.weights).run(program.main, inputs)
    path = tmp_path / "again.onnx"
    try:
        TracedModel(program).save_onnx(path)
    except om.UnsupportedOpError as error:
        assert "bitcast" in str(error)
        return
    onnx.checker.check_model(str(path), full_check=True)
    try:
        outputs = onnxruntime.InferenceSession(path).run(None, dict(zip(program.input_names, inputs)))
    except Exception as error:
        assert any(text in str(error) for text in UNKNOWN_THERE), error
        pytest.skip("onnxruntime does not have this dtype")
    for got, want in zip(outputs, expected):
        assert got.shape == np.shape(want)
        half = got.dtype.itemsize == 2
        np.testing.assert_allclose(got.astype(np.float64), np.asarray(want).astype(np.float64), rtol=1e-2 if half else 1e-3, atol=1e-3 if half else 1e-5)
