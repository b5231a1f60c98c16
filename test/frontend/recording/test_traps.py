"""Traps of other tracers as small programs: what is right for any input, and what is refused with which words.

Each program freezes, or drops, something in at least one of torch.jit.trace, torch.export, jax.jit or an ONNX exporter.
"""
import warnings

import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
OTHER = np.array([[-5.0, 1.0, 2.0], [7.0, -3.0, 0.25], [1.0, 1.0, 1.0]], np.float32)


def rows_by_constant(x):
    """jit.trace and exporters bake the batch size of the example into reshape."""
    return ops.reshape(x, (x.shape[0], -1)) * x.shape[0]


def computed_size(x):
    half = (x.shape[0] + 1) // 2
    return x[:half].sum(axis=0) / half


def slice_beyond_the_end(x):
    return x[:, 1:100]


def negative_division(x):
    """ONNX divides integers towards zero."""
    return (x * 4).astype(om.int64) // 3 + (x * 4).astype(om.int64) % 3


def size_of_a_filled_tensor(x):
    return ops.concat([ops.zeros((x.shape[0], 1)), x], axis=1) + ops.ones_like(x[:, :1])


def keeps_dtypes(x):
    """Constants in f64, and Python numbers, do not widen f32."""
    return x * 0.1 + 1, (x > 0).astype(om.int32) * 2


def keepdims_of_a_scalar(x):
    return x - x.mean(), x.sum(axis=(0, 1), keepdims=True)


def python_loop_over_fixed_axis(x):
    """Unrolled, which is right for a fixed size."""
    total = om.tensor(0.0)
    for i in range(x.shape[1]):
        total = total + x[:, i].sum() * i
    return total


def dictionary_order(x):
    return {"z": x + 1, "a": x + 2}


def aliased_change(x):
    """jit.trace once lost writes through views."""
    y = x * 1
    y[0] += 10
    y.T[1] = 0
    return y


def mask_assignment(x):
    y = x.copy() * 1
    y[y < 0] = 0
    return y


def dynamic_index(x):
    return x[ops.argmax(x[:, 0])]


def nested_function_default(x, scale=2.0):
    return x * scale


RIGHT = [rows_by_constant, computed_size, slice_beyond_the_end, negative_division, size_of_a_filled_tensor, keeps_dtypes, keepdims_of_a_scalar,
         python_loop_over_fixed_axis, dictionary_order, aliased_change, mask_assignment, dynamic_index, nested_function_default]


def leaves(value):
    return [t.numpy() for t in (value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value])]


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_right_for_another_input(function, interpret):
    traced = om.trace(function, om.tensor(X), axes=("n", None))
    for x in (OTHER, X[:1], np.concatenate([OTHER, X])):
        for a, b in zip(interpret(traced, x), leaves(function(om.tensor(x))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
            assert a.dtype == b.dtype and np.shape(a) == b.shape


def branch_on_data(x):
    return x if x.mean() > 0 else -x


def branch_on_size(x):
    return x if x.shape[0] > 1 else -x


def loop_over_named_axis(x):
    return sum((row for row in x), om.tensor(0.0))


def until_converged(x):
    while ops.abs(x).max() > 0.1:
        x = x / 2
    return x


def early_exit(x):
    for i in range(10):
        if ops.abs(x).max() < 0.1:
            break
        x = x / 2
    return x


def assertion(x):
    assert not ops.isnan(x).any()
    return x


def squeeze_by_size(x):
    """torch.export specialises on 0 and 1."""
    return x[0] if x.shape[0] == 1 else x.sum(axis=0)


def list_of_scalars(x):
    return om.tensor([float(v) for v in x[:, 0][:2]]) + x[0, 0]


def through_numpy(x):
    return om.tensor(np.cumsum(x.numpy(), axis=0))


def numpy_function(x):
    return np.where(x > 0, x, 0)


def sort_key(x):
    return sorted([x[0].sum(), x[1].sum()])[0]


def duck_shapes(x):
    """torch.export takes two axes of equal size for one."""
    return x @ x[:3]


def baked_mask(x):
    return x + om.tensor(np.tril(np.ones((2, 3), np.float32)))


def change_of_an_input(x):
    x += 1
    return x


def item_of_an_input(x):
    x[0] = 0.0
    return x


def dropout(x):
    return ops.dropout(x, 0.5)


def random_noise(x):
    return x + ops.randn(3)


def printed_value(x):
    return x * len(f"{x[0, 0]:.2f}")


REFUSED = {
    branch_on_data: ["bool", "ops.cond"], branch_on_size: ["n", "symbolic size"], loop_over_named_axis: ["iteration", "ops.scan"],
    until_converged: ["bool", "ops.while_loop"], early_exit: ["bool", "ops.while_loop"], assertion: ["bool"], squeeze_by_size: ["symbolic size n"],
    list_of_scalars: ["float"], through_numpy: ["numpy", "ops."], numpy_function: ["numpy"], sort_key: ["bool"], duck_shapes: ["3"],
    baked_mask: ["axis 'n' must be 2"], change_of_an_input: ["in-place add", "input"], item_of_an_input: ["setitem"], dropout: ["dropout"],
    random_noise: ["randn", "random"], printed_value: ["format"],
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refused_with_the_line_and_what_to_do(function):
    with pytest.raises(om.OnemlirError) as error:
        om.trace(function, om.tensor(X), axes=("n", None))
    text = str(error.value)
    assert "test_traps.py" in text
    assert all(word in text for word in REFUSED[function]), text


def test_a_tensor_kept_by_the_program():
    """A leaked tracer in jax."""
    class Caches(nn.Module):
        def forward(self, x):
            if getattr(self, "cache", None) is None:
                self.cache = x * 2
            return self.cache + 1

    model = Caches()
    with pytest.raises(om.TraceError, match="another recording"):
        model.trace(om.tensor(X))


@pytest.mark.parametrize("example", [om.tensor(X), X])
def test_the_example_itself_is_no_constant(example):
    with pytest.raises(om.TraceError, match="example that was given for 'x'.*") as error:
        om.trace(lambda x, y: x + example * y, example, om.tensor(OTHER[:2]))
    assert "test_traps.py" in str(error.value)


def test_small_captured_tensors_are_assumptions():
    holder = {"bias": om.tensor([1.0, 2.0, 3.0])}
    traced = om.trace(lambda x: x + holder["bias"] + om.tensor([7.0]), om.tensor(X))
    captured = [a["text"] for a in traced.assumptions if a["kind"] == "captured"]
    assert any("[1., 2., 3.]" in text for text in captured) and not any("7." in text for text in captured)


def test_globals_are_taken_at_the_time_of_recording_and_listed(interpret):
    global FACTOR
    FACTOR = 2.0
    traced = om.trace(lambda x: x * FACTOR, om.tensor(X))
    FACTOR = 5.0
    np.testing.assert_array_equal(interpret(traced, X)[0], X * 2)
    assert any(a["name"] == "FACTOR" and a["text"] == "FACTOR = 2.0" for a in traced.assumptions)


def test_the_mode_of_the_module_is_evaluation_and_comes_back():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.9))
    model.train()
    traced = model.trace(om.tensor(X), axes=("n", None))
    assert model[1].training
    table = traced.compare(model, {"first": om.tensor(X), "other": om.tensor(OTHER), "by name": {"input": om.tensor(OTHER)}})
    assert table.match and [row.input for row in table.rows] == ["first", "other", "by name"] and "3 of 3" in str(table)
    assert model[1].training


def test_a_row_where_one_side_raises():
    def picky(x):
        if x.is_recorded or x.shape[0] != 3:
            return x * 2
        raise ValueError("three")

    table = om.trace(picky, om.tensor(X), axes=("n", None)).compare(picky, [om.tensor(X), om.tensor(OTHER)])
    assert [row.match for row in table.rows] == [True, False] and "three" in str(table)


def test_freezing_warns_and_guards_hold_what_was_seen():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        om.trace(branch_on_data, om.tensor(X), on_read="freeze")
    assert len(caught) == 1 and "test_traps.py" in str(caught[0].message)
    session = om.trace(branch_on_data, om.tensor(X), on_read="guard").session()
    with pytest.raises(om.GuardError, match=r"mean\(input\) > 0.*found False, expected True"):
        session(-X)
    np.testing.assert_array_equal(session(X), X)
