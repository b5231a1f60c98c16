"""Random chains around products of transposed rows: the same numbers, bit for bit, with and without sinking."""
import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st

import onemlir as om
from onemlir import ops
from onemlir.dialect.interpreter import Interpreter
from onemlir.lowering.compilation import copy_module
from onemlir.lowering.om.sink import sink_transposes


@st.composite
def chains(draw):
    """A function of x (2, 3, 4), w (4, 12) and a bias, as a list of steps."""
    axes = draw(st.sampled_from([(1, 0, 2), (0, 1, 2), (2, 1, 0), (0, 2, 1)]))
    steps = draw(st.lists(st.sampled_from(["bias", "column", "relu", "twice", "split", "slice", "transpose", "flatten", "product", "unsqueeze"]), max_size=6))
    return axes, steps


def run(axes, steps, x, w, bias):
    y = ops.transpose(x, axes)
    y = y @ w[: y.shape[-1]]
    first = y
    for step in steps:
        last = y.shape[-1]
        if step == "bias":
            y = y + bias[:last]
        elif step == "column":
            y = y * ops.sum(y, axis=-1, keepdims=True)
        elif step == "relu":
            y = ops.relu(y)
        elif step == "twice":
            y = y + (first if y.shape == first.shape else y)
        elif step == "split" and last % 2 == 0:
            y = ops.reshape(y, (*y.shape[:-1], 2, last // 2))
        elif step == "slice":
            y = y[..., : max(1, last - 1)]
        elif step == "transpose" and y.ndim > 1:
            y = ops.transpose(y, (1, 0, *range(2, y.ndim)))
        elif step == "flatten":
            y = ops.reshape(y, (-1, last))
        elif step == "product":
            y = y @ w[:1, :6] if last == 1 else y @ ops.transpose(w[:1, :last], (1, 0))
        elif step == "unsqueeze":
            y = ops.reshape(y, (1, *y.shape))
    return y, first


@given(chains())
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("symbolic", [False, True])
def test_no_bit_changes(symbolic, chain):
    rng = np.random.default_rng(0)
    x, w, bias = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((2, 3, 4), (4, 12), (12,)))
    eager = run(*chain, *map(om.tensor, (x, w, bias)))
    try:
        traced = om.trace(lambda x, w, bias: run(*chain, x, w, bias), *map(om.tensor, (x, w, bias)), check=False,
                          axes={"x": ("a", None, None)} if symbolic else None)
    except om.TraceError:  # the chain reads the symbolic size
        reject()
    module = copy_module(traced.program.module)
    with module.context, module.operation.location:
        sink_transposes(module)
        assert module.operation.verify()
    results = Interpreter({}).run(module.body.operations[0].operation, [x, w, bias])
    for found, expected in zip(results, eager):
        np.testing.assert_array_equal(found, expected.numpy())
