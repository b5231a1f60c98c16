"""Products of 8-bit integers against numpy: by bytes where the processor has them, by f32 elsewhere, for weights and for tensors."""
import numpy as np
import pytest

import onemlir as om
from onemlir import errors, ops
from onemlir.lowering import targets

rng = np.random.default_rng(7)
TARGETS = [targets.BASELINE, targets.AVX2, targets.AVX512, targets.AVX512_VNNI, targets.AVX2_VNNI]
KINDS = [(np.uint8, np.int8), (np.int8, np.int8), (np.uint8, np.uint8), (np.int8, np.uint8)]


def draw(dtype, *shape):
    """Numbers of the whole range, every third one of its ends."""
    ends = np.iinfo(dtype)
    numbers = rng.integers(ends.min, ends.max + 1, shape)
    return np.where(rng.random(shape) < 1 / 3, rng.choice([ends.min, ends.max], shape), numbers).astype(dtype)


def runs(target) -> bool:
    detected = targets._detected()
    return not target.integers or target.vector_bits <= detected.vector_bits and (detected.byte_products or not target.byte_products)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
@pytest.mark.parametrize("m, n, k", [(3, 65, 5), (17, 5, 300)])
def test_sums_are_exact(m, n, k, target):
    """All kinds of bytes and of zero points in one program, by weights and by a tensor."""
    if not runs(target):
        pytest.skip("needs byte products of this width")
    cases = []
    for number, (left, right) in enumerate(KINDS):
        zeros = [(None, None), (draw(left), draw(right)), (draw(left), draw(right, n)), (draw(left, m, 1), np.zeros((), right))][(number + m) % 4]
        cases.append((draw(left, m, k), draw(right, k, n), *zeros))

    def products(*rows):
        tensors = [[x, *(None if a is None else om.tensor(a) for a in case[1:])] for x, case in zip(rows, cases)]
        computed = [(x, y + ops.cast(x[0, 0] * 0, y.dtype)) for x, y, _, _ in tensors]
        return [ops.matmul_integer(*case) for case in tensors + computed]

    rows = [case[0] for case in cases]
    with targets.lowering_for(target):
        found = om.trace(products, *map(om.tensor, rows)).session(threads=2)(*rows)
    wide = lambda a: 0 if a is None else a.astype(np.int32)
    want = [(wide(x) - wide(p)) @ (wide(y) - wide(q)) for x, y, p, q in cases] + [wide(x) @ wide(y) for x, y, _, _ in cases]
    for a, b in zip(found, want):
        assert a.dtype == np.int32
        np.testing.assert_array_equal(a, b)


WINDOWS = [
    ((1, 8, 9, 7), (40, 8, 3, 3), dict(padding=1)), ((1, 3, 9, 9), (5, 3, 5, 5), dict(padding=2, stride=2)), ((2, 6, 5, 6), (17, 6, 1, 1), {}),
    ((1, 16, 5, 6), (32, 4, 3, 2), dict(groups=4, padding=(1, 0, 2, 1), dilation=(1, 2))), ((2, 12, 9), (17, 12, 3), dict(padding=2)),
    ((1, 24, 6, 9), (24, 1, 3, 3), dict(groups=24, padding=1)), ((1, 40, 4, 4, 4), (3, 40, 2, 2, 2), {}), ((1, 16, 7, 7), (20, 16, 1, 1), dict(stride=2)),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_convolutions_are_exact(target):
    """Windows of many kinds in one program, with all kinds of bytes and of zero points among them."""
    if not runs(target):
        pytest.skip("needs byte products of this width")
    cases = []
    for number, (image, filters, options) in enumerate(WINDOWS):
        left, right = KINDS[number % 4]
        zeros = [(None, None), (draw(left), None), (np.array(np.iinfo(left).min, left), draw(right)), (draw(left), draw(right, filters[0]))]
        cases.append((draw(left, *image), draw(right, *filters), *zeros[(number // 4 + 5 * number + 1) % 4], options))

    def convolutions(*images):
        return [ops.conv_integer(x, *(None if a is None else om.tensor(a) for a in case[1:4]), **case[4]) for x, case in zip(images, cases)]

    images = [case[0] for case in cases]
    with targets.lowering_for(target):
        found = om.trace(convolutions, *map(om.tensor, images)).session(threads=2)(*images)
    for a, b in zip(found, convolutions(*map(om.tensor, images))):
        np.testing.assert_array_equal(a, b.numpy())


def test_chain_of_convolutions():
    """What follows a convolution is written as bytes, also where it reads an image again that the convolution reads, or has open sizes."""
    w, scales = draw(np.int8, 24, 24, 3, 3), rng.uniform(0.5, 1, (24, 1, 1)).astype(np.float32)

    def chain(x):
        for _ in range(3):
            sums = ops.cast(ops.conv_integer(x, om.tensor(w), padding=1), np.float32) * om.tensor(scales)
            x = ops.quantize_linear(ops.relu(sums) * 1e-2 + ops.cast(x, np.float32), np.float32(2), np.uint8(3))
        return ops.quantize_linear(ops.cast(ops.conv_integer(x, om.tensor(w)), np.float32), np.float32(999), np.int8(-3))

    images = draw(np.uint8, 2, 24, 9, 8)
    session = om.trace(chain, om.tensor(images), axes=("n", None, "h", None)).session(threads=1)
    for x in (images, images[:1, :, :5]):
        np.testing.assert_allclose(session(x), chain(om.tensor(x)).numpy(), rtol=0, atol=1)


def test_batches_and_open_sizes():
    x, w = draw(np.uint8, 2, 3, 8), draw(np.int8, 8, 33)
    session = om.trace(lambda x: ops.matmul_integer(x, om.tensor(w)), om.tensor(x), axes=("a", "b", None)).session(threads=1)
    for rows in (x, x[:0], x[:, :1]):
        np.testing.assert_array_equal(session(rows), rows.astype(np.int32) @ w.astype(np.int32))


@pytest.mark.parametrize("axes", [(1, 0, 2), (0, 2, 1), (2, 1, 0)])
def test_permuted_rows(axes):
    x, w = draw(np.uint8, 3, 12, 8), draw(np.int8, (3, 12, 8)[axes[-1]], 33)
    found = om.trace(lambda x: ops.matmul_integer(ops.transpose(x, axes), om.tensor(w)), om.tensor(x)).session(threads=1)(x)
    np.testing.assert_array_equal(found, x.transpose(axes).astype(np.int32) @ w.astype(np.int32))


def test_long_sums_and_an_epilogue():
    """More steps than a block of k has, alone and with f32 behind the product."""
    x, w, bias = draw(np.uint8, 20, 3300), draw(np.int8, 3300, 40), rng.standard_normal(40).astype(np.float32)

    def both(x):
        numbers = ops.cast(ops.matmul_integer(x, om.tensor(w)), np.float32) * 1e-6
        return ops.matmul_integer(x, om.tensor(w[::-1])), ops.gelu(numbers + om.tensor(bias))

    found = om.trace(both, om.tensor(x)).session(threads=1)(x)
    np.testing.assert_array_equal(found[0], x.astype(np.int32) @ w[::-1].astype(np.int32))
    np.testing.assert_allclose(found[1], both(om.tensor(x))[1].numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("points, named", [(((2, 3), ()), "x_zero_point"), (((), (3,)), "y_zero_point"), (((2, 1), (4, 1)), "y_zero_point")])
def test_zero_points_of_other_shapes(points, named):
    p, q = (om.tensor(np.zeros(shape, np.uint8)) for shape in points)
    with pytest.raises(errors.ShapeError, match=named):
        ops.matmul_integer(om.tensor(draw(np.uint8, 2, 4)), om.tensor(draw(np.uint8, 4, 5)), p, q)
