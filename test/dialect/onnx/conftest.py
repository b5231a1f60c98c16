"""Recording a function, writing it, and comparing onnxruntime's numbers with eager ones."""
from __future__ import annotations

import warnings

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import pytest

from onemlir.dialect.onnx import to_onnx
from onemlir.frontend.tensor import Tensor
from onemlir.frontend.tracer import record
from onemlir.lowering.om.decompose import decompose

onnxruntime.set_default_logger_severity(4)


def recorded(function, arrays, axes=None):
    """The program of a function on examples."""
    found = record(function, list(arrays), {}, axes, "error", {})
    return getattr(found, "program", found)


def checked(model):
    """A model that the checker and strict shape inference accept."""
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    return model


def evaluator(model):
    """A function from inputs by name to outputs: onnxruntime, or ONNX's reference where onnxruntime has no kernel."""
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString())
    except Exception as error:
        assert "NOT_IMPLEMENTED" in str(error) or "NotImplemented" in type(error).__name__, error
        session = onnx.reference.ReferenceEvaluator(model)
    return lambda inputs: session.run(None, inputs)


def arrays_of(value):
    return [arrays for item in value for arrays in arrays_of(item)] if isinstance(value, (tuple, list)) else [value.numpy()]


def run_model(model, arrays):
    return evaluator(model)({spec.name: array for spec, array in zip(model.graph.input, arrays)})


@pytest.fixture
def agree():
    """agree(function, *inputs, axes=…, opset=…): the written function gives the eager numbers on each tuple of inputs, the first being the example."""
    def check(function, *inputs, axes=None, opset=None, rtol=1e-5, atol=1e-6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = checked(to_onnx(recorded(function, inputs[0], axes), opset, decompose=decompose))
        run = evaluator(model)
        for arrays in inputs:
            expected = arrays_of(function(*map(Tensor, arrays)))
            found = run({spec.name: array for spec, array in zip(model.graph.input, arrays)})
            for a, b in zip(found, expected, strict=True):
                assert np.asarray(a).dtype == b.dtype and np.shape(a) == b.shape
                np.testing.assert_allclose(np.asarray(a), b, rtol=rtol, atol=atol)
        return model
    return check
