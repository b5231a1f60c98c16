"""Running recorded functions before and after decomposition."""
from __future__ import annotations

import numpy as np
import pytest

from onemlir.dialect.build import view
from onemlir.dialect.interpreter import Interpreter
from onemlir.dialect.program import Program
from onemlir.frontend.tracer import record
from onemlir.lowering.decompositions import DECOMPOSITIONS
from onemlir.lowering.om.decompose import decompose


def _run(program: Program, inputs) -> list[np.ndarray]:
    return [np.asarray(a) for a in Interpreter(program.weights).run(program.main, inputs)]


def _composites(program: Program) -> set[str]:
    block = program.main.regions[0].blocks[0]
    views = [view(operation) for operation in block.operations]
    return {v.declaration.opname for v in views if v is not None and v.declaration in DECOMPOSITIONS}


@pytest.fixture
def before_and_after():
    """``before_and_after(function, inputs, examples=None, axes=None)``: the outputs of the recorded function by references, then decomposed.

    With `axes` the recording is made on `examples` and run on `inputs`, whose sizes may differ.
    """
    def run(function, inputs, examples=None, axes=None):
        program = record(function, inputs if examples is None else examples, {}, axes, "error", {}).program
        assert _composites(program), "the function must use an op that has a decomposition"
        before = _run(program, inputs)
        with program.context:
            decompose(program.main)
        assert not _composites(program)
        from onemlir.dialect.verify import check

        check(program.module)
        return before, _run(program, inputs)
    return run


@pytest.fixture
def assert_decomposes(before_and_after):
    """Assert that a function means the same after decomposition, within `rtol` and `atol`, with the same dtypes."""
    def run(function, inputs, examples=None, axes=None, rtol=1e-5, atol=1e-6):
        before, after = before_and_after(function, inputs, examples, axes)
        for a, b in zip(before, after):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(np.asarray(b, np.float64), np.asarray(a, np.float64), rtol=rtol, atol=atol, equal_nan=True)
    return run
