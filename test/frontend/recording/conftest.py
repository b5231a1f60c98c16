"""Ways to run a recording: op by op, compiled, and as ONNX."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from onemlir.dialect.interpreter import Interpreter


def run_interpreted(traced, *arrays) -> list[np.ndarray]:
    """The outputs by the ops' numpy meaning."""
    program = traced.program
    with program.context:
        return Interpreter(program.weights).run(program.main, [np.asarray(a) for a in arrays])


def in_onnxruntime(traced, path, *arrays) -> list[np.ndarray]:
    """The outputs of the exported model."""
    import onnxruntime

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced.save_onnx(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(traced.input_names, map(np.asarray, arrays))))


@pytest.fixture
def interpret():
    """interpret(traced, *arrays): the outputs by the ops' numpy meaning."""
    return run_interpreted


@pytest.fixture
def export():
    """export(traced, path, *arrays): the outputs of the exported model in onnxruntime."""
    return in_onnxruntime


@pytest.fixture
def everywhere(tmp_path):
    """Check a recording against expected outputs: interpreted, compiled, and in onnxruntime."""
    def check(traced, *cases, onnx: bool = True, session: bool = True):
        compiled = traced.session() if session else None
        for number, (arrays, expected) in enumerate(cases):
            expected = expected if isinstance(expected, (list, tuple)) else [expected]
            found = {"interpreter": run_interpreted(traced, *arrays)}
            if session:
                found["session"] = list(compiled.run(dict(zip(traced.input_names, arrays))).values())
            if onnx:
                found["onnxruntime"] = in_onnxruntime(traced, tmp_path / f"{number}.onnx", *arrays)
            for where, outputs in found.items():
                assert len(outputs) == len(expected), where
                for a, b in zip(outputs, expected):
                    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=where)
                    assert np.shape(a) == np.shape(b), where
    return check
