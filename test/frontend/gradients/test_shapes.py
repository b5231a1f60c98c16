"""Gradients for arbitrary shapes, axes, broadcasts and window options, by finite differences in f64."""
import importlib.util
import pathlib
import sys

import numpy as np
from hypothesis import given, settings, strategies as st

from onemlir import ops

_spec = importlib.util.spec_from_file_location("gradient_differences", pathlib.Path(__file__).with_name("differences.py"))
differences = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = differences
_spec.loader.exec_module(differences)
few = settings(max_examples=25, deadline=None, derandomize=True)
shapes = st.lists(st.integers(0, 3), min_size=0, max_size=4).map(tuple)


def real(draw, shape, low=0.4, high=2.0):
    return np.random.default_rng(draw(st.integers(0, 99))).uniform(low, high, shape)


@st.composite
def broadcast_pair(draw):
    shape = draw(shapes)
    thin = lambda: tuple(1 if draw(st.booleans()) else s for s in shape)[draw(st.integers(0, len(shape))):]
    return real(draw, thin()), real(draw, thin())


@few
@given(broadcast_pair(), st.sampled_from(["add", "subtract", "multiply", "divide", "pow", "atan2"]))
def test_broadcasting(pair, name):
    differences.check(getattr(ops, name), *pair)


@st.composite
def array_and_axes(draw):
    x = real(draw, draw(st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple)))
    return x, draw(st.none() | st.sets(st.integers(-x.ndim, -1), min_size=1).map(tuple)), draw(st.booleans())


@few
@given(array_and_axes(), st.sampled_from(["sum", "mean", "prod", "logsumexp", "norm", "var"]))
def test_reductions(chosen, name):
    x, axes, keepdims = chosen
    differences.check(lambda t: getattr(ops, name)(t, axis=axes, keepdims=keepdims), x)


@st.composite
def array_and_key(draw):
    x = real(draw, draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)))
    bound = st.none() | st.integers(-5, 5)
    entry = lambda size: st.integers(-size, size - 1) | st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, -1, -3])) | \
        st.lists(st.integers(-size, size - 1), min_size=2, max_size=2).map(np.array) | st.none()
    key = [draw(entry(size)) for size in x.shape]
    return x, tuple(key[:draw(st.integers(1, x.ndim))])


@few
@given(array_and_key())
def test_indexing(chosen):
    x, key = chosen
    try:
        x[key]
    except IndexError:
        return
    differences.check(lambda t: t[key], x)


@st.composite
def convolution(draw):
    rank, groups = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    number = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(rank))
    kernel, dilation, padding, stride = number(1, 3), number(1, 2), number(0, 2) + number(0, 2), number(1, 3)
    sizes = tuple(d * (k - 1) + 1 + extra for d, k, extra in zip(dilation, kernel, number(0, 3)))
    x = real(draw, (2, 2 * groups, *sizes))
    return x, real(draw, (2 * groups, 2, *kernel)), real(draw, (2 * groups,)), dict(stride=stride, padding=padding, dilation=dilation, groups=groups)


@few
@given(convolution())
def test_convolution(chosen):
    x, weight, bias, options = chosen
    differences.check(lambda *t: ops.conv(*t, **options), x, weight, bias)


@few
@given(convolution())
def test_transposed_convolution(chosen):
    x, weight, _, options = chosen
    try:
        ops.conv_transpose(x, weight, **options)
    except Exception as error:
        assert "leaves nothing" in str(error)
        return
    differences.check(lambda *t: ops.conv_transpose(*t, **options), x, weight)


@st.composite
def pooling(draw):
    rank = draw(st.integers(1, 2))
    number = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(rank))
    kernel = number(1, 3)
    padding = tuple(min(p, k // 2) for p, k in zip(number(0, 1), kernel))
    dilation = number(1, 2)
    sizes = tuple(d * (k - 1) + 1 + extra for d, k, extra in zip(dilation, kernel, number(0, 4)))
    count = int(np.prod(sizes)) * 2
    x = (np.random.default_rng(draw(st.integers(0, 99))).permutation(count) * 0.3).reshape(2, *sizes)
    return x, dict(kernel_size=kernel, stride=number(1, 3), padding=padding, dilation=dilation, ceil_mode=draw(st.booleans()))


@few
@given(pooling(), st.booleans())
def test_pooling(chosen, include_pad):
    from onemlir.frontend.ops.declared import declared

    x, options = chosen
    differences.check(lambda t: declared.max_pool(t, **options), x)
    differences.check(lambda t: declared.avg_pool(t, count_include_pad=include_pad, **options), x)


@few
@given(shapes.filter(lambda s: len(s) > 0 and 0 not in s), st.data())
def test_moves(shape, data):
    x = real(data.draw, shape)
    axes = data.draw(st.permutations(range(len(shape))))
    axis = data.draw(st.integers(0, len(shape) - 1))
    differences.check(lambda t: ops.transpose(t, axes).reshape(-1), x)
    differences.check(lambda t: ops.concat([t, t * 2], axis=axis).flip(axis), x)
    differences.check(lambda t: ops.cumsum(t, axis).roll(1, axis), x)
    differences.check(lambda t: ops.stack([t, t], axis).broadcast_to((2, *ops.stack([t, t], axis).shape)), x)
