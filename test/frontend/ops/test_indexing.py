"""``x[...]`` against numpy: every kind of key, mixed; symbolic bounds with Python's clamping; errors."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as numpy_strategies

import onemlir as om
from onemlir import ops
from onemlir.errors import IndexRangeError, OnemlirError, ShapeError, TraceError

X = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
shapes = numpy_strategies.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def check(x, key, as_tensors=False):
    found = om.tensor(x)[_tensors(key) if as_tensors else key]
    expected = x[key]
    assert found.shape == expected.shape, key
    np.testing.assert_array_equal(found.numpy(), expected)


def _tensors(key):
    if isinstance(key, tuple):
        return tuple(map(_tensors, key))
    return om.tensor(key) if isinstance(key, np.ndarray) else key


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_basic_keys(data):
    shape = data.draw(shapes)
    key = data.draw(numpy_strategies.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    check(np.arange(int(np.prod(shape))).reshape(shape), key)


@st.composite
def mixed_keys(draw):
    """A shape and a key of ints, slices, None, an Ellipsis, masks, and index arrays that broadcast."""
    shape = draw(numpy_strategies.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    common = draw(st.sampled_from([(), (1,), (3,), (2, 3), (2, 1)]))
    items, axis, ellipsis = [], 0, False
    while axis < len(shape):
        kind = draw(st.sampled_from(["int", "slice", "array", "array", "none", "ellipsis", "end"]))
        if kind == "end":
            break
        if kind == "none":
            items.append(None)
            if len(items) > 6:
                break
            continue
        if kind == "ellipsis":
            if not ellipsis:
                items.append(Ellipsis)
                axis += draw(st.integers(0, len(shape) - axis))
            ellipsis = True
            continue
        size = shape[axis] if not ellipsis else min(shape)
        low, high = -size, size - 1
        if kind == "int":
            items.append(draw(st.integers(low, high)))
        elif kind == "slice":
            items.append(draw(st.slices(5)))
        else:
            part = draw(st.sampled_from([common, common[-1:], (1,) * len(common)]))
            items.append(np.array(draw(st.lists(st.integers(low, high), min_size=int(np.prod(part)),
                max_size=int(np.prod(part))))).reshape(part))
        axis += 1
    return shape, tuple(items)


@settings(max_examples=400, deadline=None)
@given(mixed_keys(), st.booleans())
def test_mixed_keys(drawn, as_tensors):
    shape, key = drawn
    check(np.arange(int(np.prod(shape))).reshape(shape), key, as_tensors)


MASK = X > 50
KEYS = [
    MASK, MASK[..., 0], (MASK[:, 0, 0, 0],), (slice(None), MASK[0, :, :, 0]), (Ellipsis, MASK[0, 0, 0]), (MASK[:, 0, 0, 0], 1),
    (MASK[:, 0, 0, 0], [0]),
    (slice(None), np.array([False, True, True]), 1, [0, 1]), np.zeros((2, 3), bool), True, False, (True, 0), (None, True),
    (0, Ellipsis, True),
    [0, 1, 1], [[0, 1], [1, 0]], (0, [1, 2]), ([0, 1], slice(None), [0, 1]), ([0, 1], [1, 2], slice(None)), (slice(None), [0, 1], [1, 2]),
    (0, slice(None), [1, 2]),
    (slice(None), 0, [1, 2]), ([0], None, [1]), ([0], Ellipsis, [1]), (np.int64(1), np.int32(0)), (np.array(1), slice(1)),
    (np.uint8([1, 0]),), (np.array([], int),), ([],),
    (), Ellipsis, None, (slice(None, None, -1), slice(10, -10, -2)), (slice(-100, 100, 3),), (slice(2, 1),),
]


@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_masks_and_corner_cases(key):
    check(X, key)


def test_a_tensor_is_an_index():
    np.testing.assert_array_equal(om.tensor(X)[:, om.tensor(2)].numpy(), X[:, 2])
    np.testing.assert_array_equal(om.tensor(X)[om.tensor(MASK)].numpy(), X[MASK])
    np.testing.assert_array_equal(om.tensor(X)[:, om.tensor(1):om.tensor(3)].numpy(), X[:, 1:3])


@pytest.mark.parametrize("key, error, words", [
    (2, IndexRangeError, ["index 2", "axis 0", "size 2"]), ((0, -4), IndexRangeError, ["index -4", "axis 1", "size 3"]),
    (([0, 5],), IndexRangeError, ["index 5", "axis 0", "size 2"]), (([0, 1], [0, 3]), IndexRangeError, ["index 3", "size 3"]),
    ((0, 0, 0, 0, 0), ShapeError, ["too many", "5", "4"]), ((Ellipsis, Ellipsis), OnemlirError, ["Ellipsis"]),
    (np.zeros(3, bool), ShapeError, ["mask", "3"]), (([0, 1], [0, 1, 2]), ShapeError, ["broadcast"]),
    (slice(None, None, 0), OnemlirError, ["step"]), ("a", OnemlirError, ["str"]), (1.5, OnemlirError, ["float"]),
    (np.array([1.0]), OnemlirError, ["float64"])],
    ids=range(12))
def test_errors(key, error, words):
    with pytest.raises(error) as found:
        om.tensor(X)[key]
    assert all(word in str(found.value) for word in words), found.value


def test_setitem_is_numpys():
    for key, value in [(0, 1), ((slice(None), 1), 7), (MASK, -1), (([0, 1], [0, 1]), 5), ((Ellipsis, slice(None, None, -1)), np.arange(5))]:
        x, expected = om.tensor(X), X.copy()
        x[_tensors(key)] = value
        expected[key] = value
        np.testing.assert_array_equal(x.numpy(), expected)


# Recorded: the recording on one size is run on others.
BOUNDS = [None, 0, 1, 3, 9, -1, -2, -9]


def recorded(function, example, *sizes, axes=("n", None), **options):
    program = om.trace(function, om.tensor(example), axes=axes, **options)
    return program.program if hasattr(program, "program") else program


def run(program, x):
    from onemlir.dialect.interpreter import Interpreter

    return Interpreter(program.weights).run(program.main, [x])[0]


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slices_of_a_symbolic_axis_clamp(step):
    for start in BOUNDS:
        for stop in BOUNDS:
            program = recorded(lambda x: x[start:stop:step], np.zeros((4, 2)))
            for size in (0, 1, 2, 3, 4, 10):
                x = np.random.default_rng(size).standard_normal((size, 2))
                np.testing.assert_array_equal(run(program, x), x[start:stop:step], err_msg=f"[{start}:{stop}:{step}] of {size}")


@pytest.mark.parametrize("function", [
    lambda x: x[:x.shape[0]], lambda x: x[:, None, ::-1], lambda x: x[x.shape[0] // 2:], lambda x: x[:x.shape[0] // 3],
    lambda x: x[-2:, -1],
    lambda x: x[1:x.shape[0] * 2:2], lambda x: x[..., 1], lambda x: x[x[:, 0] > 0], lambda x: x[x > 0], lambda x: x[[0, -1, 1]],
    lambda x: x[[0, 1], [1, 0]], lambda x: x[om.tensor(1)], lambda x: x[x.shape[0] - 1], lambda x: x[x.shape[0] - 1, [0, 1]],
    lambda x: x[-1]], ids=range(15))
def test_recorded_keys_on_other_sizes(function):
    program = recorded(function, np.random.default_rng(0).standard_normal((4, 3)))
    for size in (2, 3, 7):
        x = np.random.default_rng(size).standard_normal((size, 3))
        np.testing.assert_array_equal(run(program, x), function(om.tensor(x)).numpy())


def test_a_prefix_of_a_symbolic_axis_keeps_its_name():
    program = recorded(lambda x: x[:x.shape[0]] + x[0:], np.zeros((4, 2)))
    assert [str(s) for s in program.outputs[0].shape] == ["n", "2"]


def test_an_int_on_a_symbolic_axis_is_checked_on_every_run():
    program = recorded(lambda x: x[2], np.zeros((4, 2)))
    with pytest.raises(OnemlirError, match="index 2"):
        run(program, np.zeros((2, 2)))


def test_a_recorded_tensor_cannot_be_a_slice_bound():
    with pytest.raises((TraceError, OnemlirError), match="dynamic_slice"):
        recorded(lambda x: x[: ops.sum(x).astype("int64")], np.zeros((4, 2)))


def test_sizes_of_slices_are_as_simple_as_they_can_be():
    program = recorded(lambda x: (x[:1], x[1:], x[-3:], x[::-1]), np.zeros((4, 2)))
    assert [str(spec.shape[0]) for spec in program.outputs] == ["min(1, n)", "max(0, n - 1)", "min(3, n)", "n"]
