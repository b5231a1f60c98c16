"""Ops that move elements, and matrix products, compiled, against numpy."""
import ml_dtypes
import numpy as np
import pytest


def test_reshapes(agrees, rng):
    x = rng.standard_normal((2, 3, 4)).astype(np.float32)

    def build(ops, x):
        return (ops.reshape(x, shape=(6, 4)), ops.reshape(x, shape=(24,)), ops.reshape(x, shape=(4, 3, 2)), ops.reshape(x, shape=(2, 1, 12, 1)),
                ops.reshape(ops.sum(x), shape=(1, 1)), ops.reshape(ops.reshape(ops.sum(x), shape=(1, 1)), shape=()))
    agrees(build, x)


def test_reshapes_of_dynamic_axes(agrees, rng):
    """Axes in a group of their own stay; several dynamic axes may come out of one."""
    x = rng.standard_normal((2, 3, 4)).astype(np.float32)

    def build(ops, x):
        a, b, _ = x.shape
        return (ops.reshape(x, shape=(a * b, 4)), ops.reshape(x, shape=(a, b, 2, 2)), ops.reshape(x, shape=(a * b * 4,)),
                ops.reshape(x, shape=(b, a, 4)), ops.reshape(ops.reshape(x, shape=(-1,)), shape=(b, 4, a)), ops.reshape(x, shape=(1, a, 1, b * 4)))
    more = [(rng.standard_normal(s).astype(np.float32),) for s in ((1, 1, 4), (5, 2, 4), (0, 3, 4))]
    agrees(build, x, axes=[("a", "b")], more=more)


def test_moves(agrees, rng):
    x, b = rng.standard_normal((2, 3, 4)).astype(np.float32), rng.random((2, 3, 4)) > 0.5

    def build(ops, x, b):
        return (ops.transpose(x, axes=(1, 2, 0)), ops.transpose(b), ops.concat([x, ops.exp(x), x], axis=1), ops.concat([b, b], axis=2),
                ops.broadcast_to(ops.sum(x, axis=0, keepdims=True), shape=x.shape), ops.slice(x, starts=(0, 2, 3), shape=(1, 2, 2), steps=(1, -1, -2)),
                ops.slice(x, starts=(0, 1, 0), shape=(1, 2, 2), steps=(1, 1, 3)), ops.pad_constant(x, 1.5, low=(1, 0, 2), high=(0, 0, 1)),
                ops.pad_constant(b, True, low=(0, 1, 0), high=(0, 0, 0)))
    agrees(build, x, b, scale=4)
    agrees(build, x, b, axes=[("n",), ("n",)], more=[(x[:1], b[:1])], scale=4)


def test_bf16_is_moved_as_bits(agrees, rng):
    """LLVM's code generator ends the process at shuffles of bf16 that it makes of such a transposition."""
    x = rng.standard_normal((2, 4, 5)).astype(ml_dtypes.bfloat16)
    agrees(lambda ops, x: [ops.transpose(x, axes=(2, 0, 1)), ops.pad_constant(x, 1.5, low=(0, 0, 1), high=(0, 1, 0))], x)


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.uint8), ids=lambda d: np.dtype(d).name)
def test_matmul_with_any_number_of_rows(agrees, rng, dtype):
    """Small tiles sum along k with several accumulators; each depth from 1 to 17 cuts k otherwise."""
    make = lambda *s: (rng.standard_normal(s) * 4).astype(np.int8).astype(dtype)
    depths = (1, 2, 5, 6, 7, 11, 17)
    pairs = [make(3, k) for k in depths] + [make(k, 7) for k in depths]

    def build(ops, *operands):
        xs, ys = operands[:len(depths)], operands[len(depths):]
        return [ops.matmul(x, y) for x, y in zip(xs, ys)]
    more = [(*(make(m, k) for k in depths), *pairs[len(depths):]) for m in (1, 2, 4, 5, 7, 13, 0)]
    agrees(build, *pairs, axes=[("m",)] * len(depths), more=more, scale=2)


def test_matmul_shapes(agrees, rng):
    x, y, v = (rng.standard_normal(s).astype(np.float32) for s in ((2, 1, 3, 4), (5, 4, 6), (4,)))

    def build(ops, x, y, v):
        return ops.matmul(x, y), ops.matmul(x, v), ops.matmul(v, y), ops.matmul(v, v)
    agrees(build, x, y, v, scale=10)
    agrees(build, x, y, v, axes=[("n", None, "m"), ("b",)], more=[(x[:1, :, :1], y[:2], v)], scale=10)
