"""Two-dimensional convolution, any strategy, and the packing of its filter."""

from mlir import ir

from ..targets import Target, host
from . import build as b
from .conv_depthwise import BlockedDepthwise, PlaneDepthwise
from .conv_pixels import PixelConvolution
from .conv_plan import conv_strategy
from .conv_winograd import WinogradConvolution, emit_winograd_filter, winograd_plan
from .matmul import emit_matmul
from .pack import emit_pack_b
from .place import Place
from .shapes import ConvShape, MatmulShape


def emit_conv(x, filter, y, shape: ConvShape, epilogue=None, target: Target | None = None, scratch=None):
    """Emit y = epilogue(x * filter) at the insertion point; `filter` was packed by `emit_pack_filter`.

    x and y are [n, c, h, w], or [n, c / lanes, h, w, lanes] where the shape says `"blocked"`. `scratch` is a
    buffer of `scratch_shape`, where that is not None.
    """
    target = target or host()
    if conv_strategy(shape, target) == "winograd":
        WinogradConvolution(x, filter, y, scratch, shape, winograd_plan(shape, target), epilogue).emit()
        return
    emitters = {"rows": _rows, "planes": _planes, "pixels": _pixels, "depthwise": _depthwise}
    emitters[conv_strategy(shape, target)](x, filter, y, shape, epilogue, target)


def emit_pack_filter(filter, packed, shape: ConvShape, target: Target | None = None):
    """Emit packed = pack(filter) for a filter [filters, channels / groups, kernel height, kernel width]."""
    target = target or host()
    strategy = conv_strategy(shape, target)
    if strategy == "rows":
        emit_pack_b(b.collapse(filter, [[0], [1, 2, 3]]), packed, transposed=True)
    elif strategy == "winograd":
        emit_winograd_filter(filter, packed, shape)
    elif strategy == "depthwise":
        _pack_depthwise(filter, packed, shape)
    else:
        _pack_pixels(filter, packed, shape)


def _pixels(x, filter, y, shape, epilogue, target):
    PixelConvolution(x, filter, y, shape, epilogue, target).emit()


def _depthwise(x, filter, y, shape, epilogue, target):
    kind = BlockedDepthwise if shape.layout_in == "blocked" else PlaneDepthwise
    kind(x, filter, y, shape, epilogue, target).emit()


def _rows(x, filter, y, shape, epilogue, target):
    """One pixel an image: y[n, f] = x[n, c] filter[c, f]."""

    def at(vec, place):
        return epilogue(vec, Place((*place.indices, 0, 0), 1, place.lanes, place.mask))

    images = b.dim(x, 0)
    product = MatmulShape(images if b.known(images) else None, shape.filters, shape.channels)
    emit_matmul(b.collapse(x, [[0], [1, 2, 3]]), filter, b.collapse(y, [[0], [1, 2, 3]]), product, epilogue and at, target)


def _planes(x, filter, y, shape, epilogue, target):
    """One image: y[f, pixel] = filter[f, c] x[c, pixel]."""
    planes = [[0], [1], [2, 3]]
    flat_x, flat_y = b.collapse(x, planes), b.collapse(y, planes)

    def at(vec, place):
        return epilogue(vec, Place(place.indices, 2, place.lanes, place.mask, pixels=True, width=b.dim(y, 3)))

    size = b.dim(flat_y, 2)
    product = MatmulShape(shape.filters, size if b.known(size) else None, shape.channels, batch=1, b="rows", a_shared=True)
    weights = filter if ir.MemRefType(filter.type).rank == 2 else b.collapse(filter, [[0], [1, 2, 3]])
    emit_matmul(weights, flat_x, flat_y, product, epilogue and at, target)


def _pack_pixels(filter, packed, shape):
    """[group][panel][channel block][ky][kx][channel][filter], zeros after the last filter of a group."""
    groups, panels, blocks, _, _, inner, width = ir.MemRefType(packed.type).shape
    per_group = shape.filters // shape.groups
    zero = b.zero(b.element_type(packed))

    def chunk(index):
        group, panel, block = b.split(index, groups, panels, blocks)
        first = b.mul(panel, width)
        count = width if per_group % width == 0 else b.minimum(width, b.sub(per_group, first))

        def each_tap(body):
            def row(ky):
                b.loop(0, shape.kernel[1], 1, lambda kx: b.loop(0, inner, 1, lambda lane: body(ky, kx, lane)))

            b.loop(0, shape.kernel[0], 1, row)

        def copy(j):
            number = b.add(b.add(b.mul(group, per_group), first), j)

            def one(ky, kx, lane):
                tap = b.load(filter, [number, b.add(b.mul(block, inner), lane), ky, kx])
                b.store(tap, packed, [group, panel, block, ky, kx, lane, j])

            each_tap(one)

        b.loop(0, count, 1, copy)
        b.loop(count, width, 1, lambda j: each_tap(lambda ky, kx, lane: b.store(zero, packed, [group, panel, block, ky, kx, lane, j])))

    b.parallel(groups * panels * blocks, chunk)


def _pack_depthwise(filter, packed, shape):
    """[channel][ky][kx] as it is, or [channel block][ky][kx][channel]."""
    inner = ir.MemRefType(packed.type).shape[3] if shape.layout_in == "blocked" else 1

    def chunk(channel):
        def copy(ky, kx):
            at = [b.div(channel, inner), ky, kx, b.rem(channel, inner)] if shape.layout_in == "blocked" else [channel, ky, kx]
            b.store(b.load(filter, [channel, 0, ky, kx]), packed, at)

        b.loop(0, shape.kernel[0], 1, lambda ky: b.loop(0, shape.kernel[1], 1, lambda kx: copy(ky, kx)))

    b.parallel(shape.channels, chunk)
