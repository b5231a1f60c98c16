"""Convolution over two or three axes, any strategy, and the packing of its filter."""

from mlir import ir

from ..targets import Target, host
from . import build as b
from .conv_depthwise import PlaneDepthwise
from .conv_grouped import emit_pack_grouped, GroupedConvolution
from .conv_pairs import PairConvolution
from .conv_pixels import PixelConvolution
from .conv_plan import conv_strategy
from .conv_transposed import emit_transposed
from .conv_winograd import emit_winograd_filter, WinogradConvolution
from .matmul import emit_matmul
from .pack import emit_pack_b
from .pair_matmul import emit_pair_matmul
from .place import Place, RowPlace
from .shapes import ConvShape, MatmulShape


def emit_conv(x, filter, y, shape: ConvShape, epilogue=None, target: Target | None = None, scratch=None, rolled: bool = False):
    """Emit y = epilogue(x * filter) at the insertion point; `filter` was packed by `emit_pack_filter`. A `rolled` epilogue is long: it is
    emitted once, in a loop, by the kernels that `rolls_epilogue` names.

    x and y are [n, c, h, w], or [n, h, w, c] where the shape says `"nhwc"`, with a depth before h where the shape has one; y is then NHWC.
    `scratch` is a buffer of `scratch_shape`, where that is not None.
    """
    target = target or host()
    strategy = conv_strategy(shape, target)
    if strategy == "winograd":
        WinogradConvolution(x, filter, y, scratch, shape, target, epilogue).emit()
        return
    emitters = {"rows": _rows, "planes": _planes, "pixels": _pixels, "depthwise": _depthwise, "grouped": _grouped}
    emitters[strategy](x, filter, y, shape, epilogue, target, rolled)


def rolls_epilogue(shape: ConvShape, target: Target | None = None) -> bool:
    """Whether the kernel for this shape takes a `rolled` epilogue."""
    strategy = conv_strategy(shape, target or host())
    return strategy in ("rows", "planes", "winograd", "grouped") or (strategy == "pixels" and shape.layout_out == "nhwc" and not shape.transposed)


def can_read(x, shape: ConvShape, target: Target | None = None) -> bool:
    """Whether the kernel for this shape reads a view as it lies: pixels of one plane or image in a row where the kernel takes them as one."""
    strategy = conv_strategy(shape, target or host())
    joined = {"rows": [[0, 1, 2], [3]] if shape.layout_in == "nhwc" else [[0], [1, 2, 3]], "planes": [[0], [1], [2, 3]]}
    return b.collapses(x, joined.get(strategy, [[axis] for axis in range(b.rank(x))]))


def emit_pack_filter(filter, packed, strategy: str, transposed: bool = False):
    """Emit packed = pack(filter) for the strategy's kernel, `packed` of `packed_filter_shape`.

    The filter is [filters, channels / groups, ...taps], or [channels, filters / groups, ...taps] if `transposed`.
    """
    if strategy == "rows":
        emit_pack_b(b.collapse(filter, [[0], [1, 2, 3]]), packed, transposed=True)
    elif strategy == "winograd":
        emit_winograd_filter(filter, packed)
    elif strategy == "grouped":
        emit_pack_grouped(filter, packed)
    elif strategy == "depthwise":
        _copy_filter(filter, packed)
    else:
        _pack_pixels(filter, packed, transposed)


def _pixels(x, filter, y, shape, epilogue, target, rolled):
    kind = PairConvolution if shape.pairs else PixelConvolution
    if shape.transposed:
        emit_transposed(x, filter, y, shape, epilogue, target, kind)
        return
    kind(x, filter, y, shape, epilogue, target, rolled=rolled).emit()


def _depthwise(x, filter, y, shape, epilogue, target, rolled):
    PlaneDepthwise(x, filter, y, shape, epilogue, target).emit()


def _grouped(x, filter, y, shape, epilogue, target, rolled):
    GroupedConvolution(x, filter, y, shape, epilogue, target, rolled).emit()


def _rows(x, filter, y, shape, epilogue, target, rolled):
    """A row for each pixel: y[row, f] = x[row, c] filter[c, f]."""
    channels_last = shape.layout_out == "nhwc"
    groups = [[0, 1, 2], [3]] if channels_last else [[0], [1, 2, 3]]
    size = b.dim(y, 1), b.dim(y, 2)

    def at(vec, place):
        row, filter = place.indices
        if not channels_last:
            return epilogue(vec, Place((row, filter, 0, 0), 1, place.lanes, place.mask))
        return epilogue(vec, RowPlace((row, filter), 1, place.lanes, place.mask, size=size))

    flat_x, flat_y = b.collapse(x, groups), b.collapse(y, groups)
    rows = b.dim(flat_y, 0)
    product = MatmulShape(rows if b.known(rows) else None, shape.filters, shape.channels)
    emit = emit_pair_matmul if shape.pairs else emit_matmul
    emit(flat_x, filter, flat_y, product, epilogue and at, target, rolled)


def _planes(x, filter, y, shape, epilogue, target, rolled):
    """One image: y[f, pixel] = filter[f, c] x[c, pixel]."""
    planes = [[0], [1], [2, 3]]
    flat_x, flat_y = b.collapse(x, planes), b.collapse(y, planes)

    def at(vec, place):
        return epilogue(vec, Place(place.indices, 2, place.lanes, place.mask, pixels=True, width=b.dim(y, 3)))

    size = b.dim(flat_y, 2)
    product = MatmulShape(shape.filters, size if b.known(size) else None, shape.channels, batch=1, b="rows", a_shared=True)
    weights = filter if ir.MemRefType(filter.type).rank == 2 else b.collapse(filter, [[0], [1, 2, 3]])
    emit_matmul(weights, flat_x, flat_y, product, epilogue and at, target, rolled)


def _copy_filter(filter, packed):
    """[channel][ky][kx], as it is."""
    channels, rows, columns = ir.MemRefType(packed.type).shape
    b.parallel(channels, lambda channel: b.loop(0, rows, 1, lambda ky: b.loop(
        0, columns, 1, lambda kx: b.store(b.load(filter, [channel, 0, ky, kx]), packed, [channel, ky, kx]))))  # fmt: skip


def _pack_pixels(filter, packed, transposed):
    """[group][panel][channel block][...taps][channel][filter], zeros after the last filter of a group."""
    groups, panels, blocks, *taps, inner, width = ir.MemRefType(packed.type).shape
    sizes = ir.MemRefType(filter.type).shape
    per_group = sizes[1] if transposed else sizes[0] // groups
    zero = b.zero(b.element_type(packed))

    def chunk(index):
        group, panel, block = b.split(index, groups, panels, blocks)
        first = b.mul(panel, width)
        count = width if per_group % width == 0 else b.minimum(width, b.sub(per_group, first))

        def each_tap(body):
            def axis(place):
                if len(place) == len(taps):
                    b.loop(0, inner, 1, lambda lane: body(place, lane))
                else:
                    b.loop(0, taps[len(place)], 1, lambda k: axis([*place, k]))

            axis([])

        def copy(j):
            number = b.add(first, j)

            def one(tap, lane):
                channel = b.add(b.mul(block, inner), lane)
                at = [b.add(b.mul(group, per_group), number), channel]
                if transposed:
                    at = [b.add(b.mul(group, blocks * inner), channel), number]
                b.store(b.load(filter, [*at, *tap]), packed, [group, panel, block, *tap, lane, j])

            each_tap(one)

        b.loop(0, count, 1, copy)
        b.loop(count, width, 1, lambda j: each_tap(lambda tap, lane: b.store(zero, packed, [group, panel, block, *tap, lane, j])))

    b.parallel(groups * panels * blocks, chunk)
