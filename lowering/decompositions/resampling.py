"""Decompositions of resampling: gathers along axes, and sums of gathered elements times their weights."""
from __future__ import annotations

import itertools

from ...dialect import dtypes
from ...dialect.ops.resampling import changes, GridSample, reach, Resize
from ...dialect.symbolic import less_equal
from .registry import decomposes


def compute_dtype(x, mode: str):
    """Interpolation is computed in f32 at least; nearest moves elements as they are."""
    return x.dtype if mode == "nearest" or x.dtype == dtypes.float64 else dtypes.float32


@decomposes(Resize)
def resize(ops, x, sizes, scales, mode, antialias, coordinate_mode, roi, **options):
    y = ops.cast(x, dtype=compute_dtype(x, mode))
    for axis in order(x, sizes):
        old, new, scale = x.shape[axis], sizes[axis], 1.0 if scales is None else scales[axis]
        if changes(old, new, scale, axis, coordinate_mode, roi):
            y = _AxisResize(ops, y, axis, new, None if scales is None else scale, mode, coordinate_mode, roi, **options).result(antialias)
    return ops.cast(y, dtype=x.dtype)


def order(x, sizes) -> list[int]:
    """Axes that shrink first, then those that grow, the last one, whose elements are gathered, before the others: few elements on the way.
    Integers keep their order, since it may decide how they round."""
    axes = range(x.rank)
    if x.dtype.kind in "iu":
        return list(axes)
    grows = [(less_equal(x.shape[axis], sizes[axis]) is True) for axis in axes]
    return [axis for axis in axes if not grows[axis]] + [axis for axis in reversed(axes) if grows[axis]]


class _AxisResize:
    """Resizing along one axis."""

    def __init__(self, ops, x, axis, new, scale, mode, coordinate_mode, roi, nearest_mode, cubic_coeff_a, exclude_outside, extrapolation_value):
        self.ops, self.x, self.axis, self.new, self.mode = ops, x, axis, new, mode
        self.old = x.shape[axis]
        self.number = lambda size: ops.cast(x.builder.from_size(size), dtype=dtypes.float32)
        self.by_sizes = scale is None
        self.factor = scale if scale is not None else new / self.old if isinstance(new, int) and isinstance(self.old, int) else None
        self.scale = self.number(new) / self.number(self.old) if self.by_sizes else x.builder.scalar(scale, dtypes.float32)
        self.coordinate_mode, self.roi = coordinate_mode, roi
        self.nearest_mode, self.a, self.exclude_outside, self.outside_value = nearest_mode, cubic_coeff_a, exclude_outside, extrapolation_value

    def result(self, antialias: bool):
        places = self.coordinates()
        if self.mode == "nearest":
            y = self.take(self.rounded(places))
        elif antialias:
            y = self.antialiased(places)
        else:
            y = self.interpolated(places)
        if self.coordinate_mode == "tf_crop_and_resize":
            outside = self.ops.logical_or(places < 0.0, places > self.last())
            y = self.ops.where(self.along(outside), self.x.builder.scalar(self.outside_value, y.dtype), y)
        return y

    def last(self):
        return self.number(self.old - 1)

    def along(self, vector):
        """A vector as one that broadcasts along the axis."""
        return self.ops.reshape(vector, shape=tuple(self.new if i == self.axis else 1 for i in range(self.x.rank)))

    def coordinates(self):
        """Places of x for the places of the result, in f32."""
        i = self.ops.iota(size=(self.new,), dtype=dtypes.float32)
        mode, new = self.coordinate_mode, self.new
        if mode == "align_corners":
            return i * (self.last() / self.ops.maximum(self.number(new - 1), 1.0))
        if mode == "asymmetric":
            return self.source(i)
        if mode == "tf_crop_and_resize":
            return self.cropped(i)
        if mode == "pytorch_half_pixel" and new == 1:
            return i * 0.0
        y = self.source(i + 0.5) - 0.5
        if mode == "half_pixel_symmetric":
            old = self.number(self.old)
            return y + old / 2.0 * (1.0 - self.number(new) / (self.scale * old))
        if mode == "pytorch_half_pixel" and not isinstance(new, int):
            return self.ops.where(self.number(new) > 1.0, y, self.x.builder.scalar(0, dtypes.float32))
        return y

    def source(self, place):
        """A place of the result in units of x: sizes give a ratio to multiply by (torch), scales a divisor (ONNX)."""
        return place * (self.number(self.old) / self.number(self.new)) if self.by_sizes else place / self.scale

    def cropped(self, i):
        start, end = self.roi[self.axis], self.roi[self.axis + len(self.roi) // 2]
        middle = i * 0.0 + self.last() * (0.5 * (start + end))
        if self.new == 1:
            return middle
        spread = self.last() * start + i * (self.last() * (end - start) / self.ops.maximum(self.number(self.new - 1), 1.0))
        return spread if isinstance(self.new, int) else self.ops.where(self.number(self.new) > 1.0, spread, middle)

    def rounded(self, places):
        ops = self.ops
        return {"floor": lambda: ops.floor(places), "ceil": lambda: ops.ceil(places), "round_prefer_floor": lambda: ops.ceil(places - 0.5),
                "round_prefer_ceil": lambda: ops.floor(places + 0.5)}[self.nearest_mode]()

    def take(self, places):
        clipped = self.ops.minimum(self.ops.maximum(places, 0.0), self.last())
        return self.ops.gather(self.x, self.ops.cast(clipped, dtype=dtypes.int64), axis=self.axis)

    def interpolated(self, places):
        total = None
        for index, weight in self.taps(places):
            term = self.take(index) * self.along(self.ops.cast(weight, dtype=self.x.dtype))
            total = term if total is None else total + term
        return total

    def taps(self, places):
        ops = self.ops
        if self.mode == "linear":
            places = ops.minimum(ops.maximum(places, 0.0), self.last())
            low = ops.floor(places)
            return [(low, 1.0 - (places - low)), (low + 1.0, places - low)]
        low = ops.floor(places)
        taps = [(low + float(k), cubic(ops, places - low - float(k), self.a)) for k in (-1, 0, 1, 2)]
        if self.exclude_outside:
            zero = self.x.builder.scalar(0, dtypes.float32)
            taps = [(i, ops.where(ops.logical_and(i >= 0.0, i <= self.last()), w, zero)) for i, w in taps]
            total = taps[0][1] + taps[1][1] + taps[2][1] + taps[3][1]
            taps = [(i, w / total) for i, w in taps]
        return taps

    def antialiased(self, places):
        """A dense product with weights (result, x) of a kernel widened when shrinking."""
        ops = self.ops
        weights = self.widened(places, 0.0, self.old)
        if not self.exclude_outside:
            beyond, source, zero = self.beyond(), ops.iota(size=(self.old,), dtype=dtypes.float32), self.x.builder.scalar(0, dtypes.float32)
            firsts = self.number(beyond) * -1.0, self.number(self.old)
            low, high = (ops.sum(self.widened(places, first, beyond), axis=(1,), keepdims=True) for first in firsts)
            weights = weights + ops.where(ops.equal(source, 0.0), low, zero) + ops.where(ops.equal(source, self.last()), high, zero)
        weights = ops.cast(weights / ops.sum(weights, axis=(1,), keepdims=True), dtype=self.x.dtype)
        order = [i for i in range(self.x.rank) if i != self.axis] + [self.axis]
        product = ops.matmul(ops.transpose(self.x, axes=tuple(order)), ops.transpose(weights))
        return ops.transpose(product, axes=tuple(order.index(i) for i in range(self.x.rank)))

    def widened(self, places, first, count):
        """Weights (result, count) of the places of x from `first` on."""
        ops = self.ops
        source = ops.iota(size=(count,), dtype=dtypes.float32) + first
        distance = (source - ops.reshape(places, shape=(self.new, 1))) * ops.minimum(self.scale, 1.0)
        return ops.maximum(1.0 - ops.abs(distance), 0.0) if self.mode == "linear" else cubic(ops, distance, self.a)

    def beyond(self):
        """How many places beyond the edge may count; with symbolic sizes those of shrinking to one element."""
        if self.factor is not None:
            return reach(self.mode, min(self.factor, 1.0))
        return self.old * reach(self.mode, 1.0)


def cubic(ops, distance, a: float):
    """Keys' cubic convolution kernel; 0 from distance 2."""
    d = ops.abs(distance)
    near = ((d * (a + 2) - (a + 3)) * d) * d + 1.0
    far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a
    zero = d * 0.0
    return ops.where(d <= 1.0, near, ops.where(d < 2.0, far, zero))


@decomposes(GridSample)
def grid_sample(ops, x, grid, mode, padding_mode, align_corners):
    return _Sampler(ops, x, grid, mode, padding_mode, align_corners).result()


class _Sampler:
    """Sampling at points: for every combination of taps, gather and add."""

    def __init__(self, ops, x, grid, mode, padding_mode, align_corners):
        self.ops, self.mode, self.padding_mode, self.align_corners = ops, mode, padding_mode, align_corners
        self.dtype = x.dtype
        self.compute = dtypes.float64 if x.dtype == dtypes.float64 else dtypes.float32
        self.x, self.grid = ops.cast(x, dtype=self.compute), ops.cast(grid, dtype=self.compute)
        self.sizes = x.shape[2:]
        self.out = grid.shape[1:-1]
        self.number = lambda size: ops.cast(x.builder.from_size(size), dtype=self.compute)

    def result(self):
        axes = [self.unnormalized(i) for i in range(len(self.sizes))]
        if self.mode != "cubic":
            axes = [self.inside(place, size) for place, size in zip(axes, self.sizes)]
        total = None
        for taps in itertools.product(*[self.taps(place) for place in axes]):
            indices, weight = [t[0] for t in taps], taps[0][1]
            for _, other in taps[1:]:
                weight = weight * other
            if self.mode == "cubic":
                indices = [self.inside(place, size) for place, size in zip(indices, self.sizes)]
            term = self.fetch(indices, weight)
            total = term if total is None else total + term
        return self.ops.cast(total, dtype=self.dtype)

    def unnormalized(self, i: int):
        """Coordinates along spatial axis i (the grid's last coordinate is the first axis), flat per image: (n, points)."""
        ops, size = self.ops, self.number(self.sizes[i])
        last = len(self.sizes) - 1 - i
        rank = self.grid.rank
        starts, shape = (0,) * (rank - 1) + (last,), self.grid.shape[:-1] + (1,)
        points = ops.reshape(ops.slice(self.grid, starts=starts, shape=shape, steps=(1,) * rank), shape=(self.grid.shape[0], _count(self.out)))
        return (points + 1.0) / 2.0 * (size - 1.0) if self.align_corners else ((points + 1.0) * size - 1.0) / 2.0

    def inside(self, place, size):
        ops = self.ops
        if self.padding_mode == "zeros":
            return place
        if self.padding_mode == "reflection":
            place = self.reflected(place, size)
        zero = place * 0.0
        zero = ops.where(ops.isnan(zero), self.x.builder.scalar(0, self.compute), zero)
        return ops.where(place > 0.0, ops.minimum(place, self.number(size - 1)), zero)

    def reflected(self, place, size):
        ops = self.ops
        low, span = (0.0, self.number(size - 1)) if self.align_corners else (-0.5, self.number(size))
        if self.align_corners and size == 1:
            return place * 0.0 + low
        offset = ops.abs(place - low)
        turns, rest = ops.floor(offset / span), ops.fmod(offset, span)
        return ops.where(ops.equal(ops.remainder(turns, 2.0), 0.0), rest, span - rest) + low

    def taps(self, place):
        ops = self.ops
        if self.mode == "nearest":
            return [(ops.round(place), place * 0.0 + 1.0)]
        low = ops.floor(place)
        if self.mode == "linear":
            return [(low, 1.0 - (place - low)), (low + 1.0, place - low)]
        return [(low + float(k), cubic(ops, place - low - float(k), -0.75)) for k in (-1, 0, 1, 2)]

    def fetch(self, indices, weight):
        """x at the places times the weight, 0 where a place is outside: (n, c, *out)."""
        ops, valid, flat = self.ops, None, None
        for place, size in zip(indices, self.sizes):
            within = ops.logical_and(place >= 0.0, place < self.number(size))
            index = ops.cast(ops.where(within, place, self.x.builder.scalar(0, self.compute)), dtype=dtypes.int64)
            valid = within if valid is None else ops.logical_and(valid, within)
            flat = index if flat is None else flat * self.x.builder.from_size(size) + index
        n, c = self.x.shape[:2]
        points = _count(self.out)
        pixels = ops.reshape(self.x, shape=(n, c, _count(self.sizes)))
        flat = ops.broadcast_to(ops.reshape(flat, shape=(n, 1, points)), shape=(n, c, points))
        found = ops.take_along_axis(pixels, flat, axis=2) * ops.reshape(weight, shape=(n, 1, points))
        found = ops.where(ops.reshape(valid, shape=(n, 1, points)), found, self.x.builder.scalar(0, self.compute))
        return ops.reshape(found, shape=(n, c, *self.out))


def _count(sizes):
    from ...dialect.symbolic import product

    return product(sizes)
