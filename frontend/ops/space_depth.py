"""Moving channels into the plane and back: functions of the shape family composed of reshape and transpose."""
from __future__ import annotations

from ...dialect import symbolic
from ...errors import OnemlirError, ShapeError
from ..tensor import Tensor
from .declared import ops
from .shape import as_tensor, sizes

__all__ = ["depth_to_space", "space_to_depth", "pixel_shuffle", "pixel_unshuffle"]


def _blocks(x: Tensor, block: int, name: str) -> tuple:
    if x.ndim != 4:
        raise ShapeError(f"{name} takes x (n, c, height, width), found rank {x.ndim}")
    return sizes(x)


def depth_to_space(x: Tensor, block_size: int, mode: str = "DCR") -> Tensor:
    """Channels moved into blocks of the plane: (n, c * b * b, h, w) to (n, c, h * b, w * b).

    mode: "DCR" takes channels as (b, b, c), "CRD" as (c, b, b), which is `pixel_shuffle`. Source: ONNX DepthToSpace.
    """
    x = as_tensor(x)
    n, channels, height, width = _blocks(x, block_size, "depth_to_space")
    if mode not in ("DCR", "CRD"):
        raise OnemlirError(f"depth_to_space: 'mode' must be 'DCR' or 'CRD', found {mode!r}")
    if isinstance(channels, int) and channels % block_size**2:
        raise ShapeError(f"depth_to_space: {channels} channels do not divide into blocks of {block_size} x {block_size}")
    depth = symbolic.floordiv(channels, block_size**2)
    if mode == "DCR":
        y = ops.transpose(ops.reshape(x, shape=(n, block_size, block_size, depth, height, width)), axes=(0, 3, 4, 1, 5, 2))
    else:
        y = ops.transpose(ops.reshape(x, shape=(n, depth, block_size, block_size, height, width)), axes=(0, 1, 4, 2, 5, 3))
    return ops.reshape(y, shape=(n, depth, height * block_size, width * block_size))


def space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """Blocks of the plane moved into channels, taken as (b, b, c): (n, c, h * b, w * b) to (n, b * b * c, h, w). Source: ONNX SpaceToDepth."""
    return _space_to_depth(as_tensor(x), block_size, (0, 3, 5, 1, 2, 4))


def _space_to_depth(x: Tensor, block: int, order) -> Tensor:
    n, channels, height, width = _blocks(x, block, "space_to_depth")
    for size in (height, width):
        if isinstance(size, int) and size % block:
            raise ShapeError(f"space_to_depth: a plane of {height} x {width} does not divide into blocks of {block}")
    rows, columns = symbolic.floordiv(height, block), symbolic.floordiv(width, block)
    y = ops.transpose(ops.reshape(x, shape=(n, channels, rows, block, columns, block)), axes=order)
    return ops.reshape(y, shape=(n, channels * block**2, rows, columns))


def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    """Channels, taken as (c, r, r), moved into the plane: (n, c * r * r, h, w) to (n, c, h * r, w * r). Source: torch's pixel_shuffle."""
    return depth_to_space(x, upscale_factor, "CRD")


def pixel_unshuffle(x: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`: (n, c, h * r, w * r) to (n, c * r * r, h, w). Source: torch's pixel_unshuffle."""
    return _space_to_depth(as_tensor(x), downscale_factor, (0, 1, 3, 5, 2, 4))
