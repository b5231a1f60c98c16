"""In-place changes in a recording, compared with the same statements on numpy arrays."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn, ops

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
INDEX = np.array([2, 0])


def view_of_view(y):
    v = y[1:]
    w = v.reshape(8)
    w[::3] = 7
    v += 1
    return w


def siblings(y):
    a, b, c = y[0], y.reshape(12), y.T
    a *= 10
    b[5] = -1
    c[2] += 100
    y -= 1
    return a + b[:4] + c[:, 0].sum()


def copies_do_not_share(y):
    z = y.copy()
    transposed = y.T.reshape(12)  # numpy copies here
    transposed += 5
    z[0] = 9
    y += 1
    return z, transposed


def fancy(y):
    y[INDEX] = y[INDEX] * 2
    y[INDEX, INDEX + 1] = 50
    y[:, [1, 3]] -= 1
    picked = y[[0, 1]]  # a copy
    picked += 1000


def masks(y):
    y[y > 3] = 0
    y[y[:, 0] < 0, 1] = -7
    y[y < -2] *= 2


def slices(y):
    y[0] = 1
    y[..., -1] = [1, 2, 3]
    y[::-2, 1:3] = 5
    y[None, 2, 2:] = y[0, :2]
    y[1:1] = 3
    y[:, ::-1] = y * 2
    y[:] = y + 1
    y[-1, -1] = 4.5


def operators(y):
    y += 1
    y *= 2
    y -= y / 4
    z = y
    z /= 3
    y **= 2
    return z


def swapped_rows(y):
    y[0], y[1] = y[1].copy(), y[0].copy()
    row = y[2]
    y[2] = y[0]
    return row  # a view: it shows the new row


@pytest.mark.parametrize("change", [view_of_view, siblings, copies_do_not_share, fancy, masks, slices, operators, swapped_rows])
@pytest.mark.parametrize("axes", [None, ("n", None)])
def test_changes_of_a_tensor_made_in_the_recording(change, axes, interpret):
    def function(x):
        y = x * 1
        extra = change(y)
        return (y, *(extra if isinstance(extra, tuple) else () if extra is None else (extra,)))

    if axes and change in (view_of_view, copies_do_not_share, siblings, slices):
        pytest.skip("uses sizes of its own")
    expected = [np.array(a) for a in function(X)]
    for a, b in zip(function(om.tensor(X)), expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-6)
    traced = om.trace(function, om.tensor(X), axes=axes)
    for a, b in zip(interpret(traced, X), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_changes_compile(everywhere):
    def function(x):
        y = x * 1
        slices(y)
        masks(y)
        return y, y.sum(axis=0)

    traced = om.trace(function, om.tensor(X))
    everywhere(traced, *[((x,), [np.array(a) for a in function(x.copy())]) for x in (X, -X)])


@pytest.mark.parametrize("view", [False, True])
def test_a_tensor_of_zeros_is_filled(view, interpret):
    def function(x, module):
        out = module.zeros((3, 4), dtype=np.float32)
        out[1] = 5
        if view:
            row = out[2]
            row += x[0]
            out[0] += 1
            row[0] = -3
        out[0, 1:] = x[1, :3]
        out[2] += x[2]
        return out

    traced = om.trace(function, om.tensor(X), om)
    np.testing.assert_array_equal(interpret(traced, X)[0], function(X, np))
    np.testing.assert_array_equal(function(om.tensor(X), om).numpy(), function(X, np))


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(np.ones(4, np.float32))
        self.register_buffer("count", om.tensor([0.0]))


OUTSIDE = om.tensor(np.zeros(4, np.float32))


def _in_branch(x):
    y = x * 1

    def change():
        y[0] = 1
        return y
    return ops.cond(x.sum() > 0, change, lambda: y * 2)


def _carried(x):
    def step(total, row):
        total += row
        return total, total
    return ops.scan(step, x[0] * 0, x)[0]


REFUSED = {
    "in-place add of an input": lambda x, m: _iadd(x),
    "in-place add of the parameter 'weight'": lambda x, m: _iadd(m.weight) + x,
    "in-place add of a tensor from outside": lambda x, m: _iadd(OUTSIDE) + x,
    "setitem .* of an input": lambda x, m: _set(x),
    "setitem .* of an input.*": lambda x, m: _set(x.reshape((12,))),
    "setitem .* of the parameter 'count'": lambda x, m: _set(m.count) + x,
    "setitem .* of the parameter 'weight'.*": lambda x, m: _set(m.weight[1:]) + x[:, 1:],
    "outside the body": lambda x, m: _in_branch(x),
    "body of control flow": lambda x, m: _carried(x),
}


def _iadd(x):
    x += 1
    return x


def _set(x):
    x[0] = 0.0
    return x


@pytest.mark.parametrize("words", REFUSED)
def test_changes_of_what_is_not_made_in_the_recording(words):
    class Model(Weighted):
        def forward(self, x):
            return REFUSED[words](x, self)

    with pytest.raises(om.TraceError, match=words) as error:
        Model().trace(om.tensor(X))
    assert "test_mutation.py" in str(error.value)
    assert OUTSIDE.tolist() == [0] * 4


def test_a_change_that_needs_another_dtype_or_shape():
    with pytest.raises(om.TraceError, match="changes"):
        om.trace(lambda x: _iadd_by(x.astype(om.int64), 0.5), om.tensor(X))
    with pytest.raises(om.TraceError, match="changes"):
        om.trace(lambda x: _iadd_by(x[0] * 1, x), om.tensor(X))
    with pytest.raises(om.OnemlirError):
        om.trace(lambda x: _iadd(ops.broadcast_to(x[0] * 2, (3, 4))), om.tensor(X))


def _iadd_by(x, y):
    x += y
    return x


def test_captured_arrays_may_change_afterwards(interpret):
    array = np.arange(20, dtype=np.float32)
    tensor = om.tensor(array)

    def function(x):
        return x + array, x * tensor

    traced = om.trace(function, om.zeros((20,)))
    array += 100
    tensor[0] = 100
    found = interpret(traced, np.ones(20, np.float32))
    np.testing.assert_array_equal(found[0], np.arange(20) + 1)
    np.testing.assert_array_equal(found[1], np.arange(20))


def test_an_array_that_changes_between_two_uses(interpret):
    def function(x):
        table = np.zeros(20, np.float32)
        y = x + table
        table += 3
        acc = om.zeros((20,))
        z = x * acc
        acc += 2
        return y, x + table, z, x * acc

    x = np.ones(20, np.float32)
    for a, b in zip(interpret(om.trace(function, om.tensor(x)), x), [1, 4, 0, 2]):
        np.testing.assert_array_equal(a, np.full(20, b, np.float32))
