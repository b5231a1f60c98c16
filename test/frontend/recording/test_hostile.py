"""Programs that try to make a recording silently wrong, and values that stand for Python numbers."""
import copy
import math
import pickle

import numpy as np
import pytest

import onemlir as om
from onemlir import ops

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 1
OTHER = np.linspace(-2, 3, 15, dtype=np.float32).reshape(5, 3)


def reads_and_goes_on(x):
    try:
        return x * x[0, 0].item()
    except Exception:
        return x * 2


def decides_and_goes_on(x):
    try:
        return x * (2 if x.shape[0] > 2 else 1)
    except om.OnemlirError:
        return x * 100


def changes_and_goes_on(x):
    try:
        x += 1
    except om.TraceError:
        x = x * 3
    return x


@pytest.mark.parametrize("function", [reads_and_goes_on, decides_and_goes_on, changes_and_goes_on])
def test_a_refusal_that_the_program_catches_is_raised_in_the_end(function):
    with pytest.raises(om.TraceError, match="caught this error and went on.*cannot be recorded.*test_hostile.py"):
        om.trace(function, om.tensor(X), axes=("n", None))


NUMBERS = {  # in an eager run these are Python numbers, which leave a tensor its dtype
    "n ** 0.5": lambda x: x / x.shape[0]**0.5, "1 / n": lambda x: x * (1 / x.shape[0]), "n / 2 + 1": lambda x: x * (x.shape[0] / 2 + 1),
    "2 ** n": lambda x: x * 2**x.shape[0], "-(n * 0.5)": lambda x: x - -(x.shape[0] * 0.5), "n % 1.5": lambda x: x + x.shape[0] % 1.5,
    "n / n": lambda x: x + x.shape[0] / x.shape[1], "in half": lambda x: x.astype(om.float16) * (x.shape[0] / 3),
    "~n": lambda x: x * ~x.shape[0], "n << 2": lambda x: x * (x.shape[0] << 2), "n >> 1": lambda x: x * (x.shape[0] >> 1), "n & 3": lambda x: x * (x.shape[0] & 3),
    "floor": lambda x: x * math.floor(x.shape[0]), "ceil": lambda x: x * math.ceil(x.shape[0]), "round": lambda x: x * round(x.shape[0]),
    "tensor of it": lambda x: ops.sqrt(x.shape[0] / 2) * x,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_computed_from_sizes_leave_dtypes_alone(name, interpret):
    traced = om.trace(NUMBERS[name], om.tensor(X), axes=("n", None))
    for x in (X, OTHER):
        found, expected = interpret(traced, x)[0], NUMBERS[name](om.tensor(x)).numpy()
        assert found.dtype == expected.dtype == (np.float16 if name == "in half" else np.float32)
        np.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == np.float32 else 1e-3)


def test_slices_that_count_from_the_end_by_a_size(everywhere):
    traced = om.trace(lambda mask, x: (mask[-x.shape[0]:] * 2, x.sum()), om.zeros((7,)), om.tensor(X), axes={"mask": ("total",), "x": ("n", None)})
    mask = np.arange(9, dtype=np.float32)
    everywhere(traced, *[((mask[:m], x), [mask[:m][-len(x):] * 2, x.sum()]) for m, x in [(9, OTHER), (3, OTHER), (7, X)]])
    with pytest.raises(om.ShapeError, match="slice bound -n must be negative"):
        traced.session()(mask, X[:0])


def test_squeeze_without_axes_decides_on_sizes():
    with pytest.raises(om.TraceError, match="== of the symbolic size n"):
        om.trace(lambda x: ops.squeeze(x), om.tensor(X[:1]), axes=("n", None))
    om.trace(lambda x: ops.squeeze(x), om.tensor(X[:, :1]), axes=(om.Axis("n", min=2), None))
    om.trace(lambda x: ops.squeeze(x, axis=1), om.tensor(X[:, :1]), axes=("n", None))


@pytest.mark.parametrize("function", [lambda x: sum(ops.unbind(x)), lambda x: ops.concat(ops.chunk(x, 2)), lambda x: x @ x])
def test_every_error_of_ours_has_the_users_line(function):
    with pytest.raises(om.OnemlirError, match="test_hostile.py"):
        om.trace(function, om.tensor(X), axes=("n", None))


def test_outputs_that_are_sizes_and_arrays():
    table = np.arange(3.0)
    traced = om.trace(lambda x: (x.shape[0] * 2, table, np.float32(7), x), om.tensor(X), axes=("n", None))
    table[0] = 9
    size, array, scalar, _ = traced.session()(OTHER)
    assert (size, size.dtype, scalar) == (10, np.int64, 7) and array.tolist() == [0, 1, 2]
    with pytest.raises(om.TraceError, match="returned set.*test_hostile.py"):
        om.trace(lambda x: {1, 2}, om.tensor(X))


def test_copies_of_recorded_tensors(interpret):
    def changed(x):
        y = copy.copy(x * 1)
        return y * 2

    np.testing.assert_array_equal(interpret(om.trace(changed, om.tensor(X)), X)[0], X * 2)
    for function in (copy.deepcopy, pickle.dumps):
        with pytest.raises(om.TraceError, match=r"x\.copy\(\).*(.|\n)*test_hostile.py"):
            om.trace(lambda x, function=function: function(x), om.tensor(X))
    kept = om.tensor(X)
    assert copy.deepcopy(kept).tolist() == copy.copy(kept).tolist() == pickle.loads(pickle.dumps(kept)).tolist() == X.tolist()
