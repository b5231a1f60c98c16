"""Normalizations over channels, layers, groups, instances. Statistics are computed in f32 at least.

Channels are axis 1: x is (batch, channels, ...).
"""
from __future__ import annotations

import numpy as np

from ...errors import OnemlirError, ShapeError
from .. import symbolic
from ..declare import Attr, Composite, Floating, Op, Operand, OptionalOperand, Pure, Result
from ..shapes import require_equal, show, TensorType
from .elementwise import rounded_once


class Normalization(Op, abstract=True):
    """Base: x, and optional scale and shift."""

    x: Operand[Floating, "T"]
    weight: OptionalOperand[Floating, "T"]
    bias: OptionalOperand[Floating, "T"]
    result: Result["x"]
    traits = (Pure, Composite)


def per_channel(array: np.ndarray, rank: int) -> np.ndarray:
    """An array of one value a channel, shaped to broadcast over (batch, channels, ...)."""
    return array.reshape((1, -1) + (1,) * (rank - 2))


def check_channels(name: str, x: TensorType, **operands: TensorType | None) -> None:
    """ShapeError unless x has channels and each operand one value for each of them."""
    if x.rank < 2:
        raise ShapeError(f"{name}: x must be (batch, channels, ...), found {show(x.shape)}")
    for word, operand in operands.items():
        if operand is None:
            continue
        why = f"{name}: {word} must have shape ({x.shape[1]},), one for each channel of x {show(x.shape)}; found {show(operand.shape)}"
        if operand.rank != 1:
            raise ShapeError(why)
        require_equal(operand.shape[0], x.shape[1], why)


def check_last_axes(name: str, x: TensorType, count: int, **operands: TensorType | None) -> None:
    """ShapeError unless x has `count` axes and each operand the sizes of the last of them."""
    if not 1 <= count <= x.rank:
        raise ShapeError(f"{name}: axes_count {count} does not fit x of shape {show(x.shape)}")
    for word, operand in operands.items():
        if operand is None:
            continue
        why = f"{name}: {word} must have shape {show(x.shape[-count:])}, the last axes of x {show(x.shape)}; found {show(operand.shape)}"
        if operand.rank != count:
            raise ShapeError(why)
        for a, b in zip(operand.shape, x.shape[-count:]):
            require_equal(a, b, why)


def standardize(x: np.ndarray, axes: tuple[int, ...], eps: float) -> np.ndarray:
    """(x - mean) / sqrt(var + eps) over axes."""
    centered = x - x.mean(axes, keepdims=True)
    return centered / np.sqrt((centered * centered).mean(axes, keepdims=True) + x.dtype.type(eps))


def scale_and_shift(y: np.ndarray, weight, bias) -> np.ndarray:
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


class LayerNorm(Normalization):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last `axes_count` axes, whose sizes weight and bias have.

    Source: Ba, Kiros, Hinton 2016; torch's layer_norm.
    """

    axes_count: Attr[int] = 1
    eps: Attr[float] = 1e-5

    def verify(x, weight, bias, axes_count, eps):
        check_last_axes("layer_norm", x, axes_count, weight=weight, bias=bias)

    @rounded_once
    def reference(x, weight, bias, axes_count, eps):
        return scale_and_shift(standardize(x, tuple(range(x.ndim - axes_count, x.ndim)), eps), weight, bias)


class RmsNorm(Op):
    """x / sqrt(mean(x^2) + eps) * weight over the last `axes_count` axes, whose sizes weight has.

    eps None: the machine epsilon of the dtype of the computation, as in torch. Source: Zhang and Sennrich 2019.
    """

    x: Operand[Floating, "T"]
    weight: OptionalOperand[Floating, "T"]
    axes_count: Attr[int] = 1
    eps: Attr[float | None] = None
    result: Result["x"]
    traits = (Pure, Composite)

    def verify(x, weight, axes_count, eps):
        check_last_axes("rms_norm", x, axes_count, weight=weight)

    @rounded_once
    def reference(x, weight, axes_count, eps):
        axes = tuple(range(x.ndim - axes_count, x.ndim))
        eps = np.finfo(x.dtype).eps if eps is None else eps
        return scale_and_shift(x / np.sqrt((x * x).mean(axes, keepdims=True) + x.dtype.type(eps)), weight, None)


class BatchNorm(Op):
    """(x - mean) / sqrt(var + eps) * weight + bias, each of one value a channel (axis 1): the form for inference.

    x: (batch, channels, ...); mean, var, weight, bias: (channels,). Result: the type of x. Source: Ioffe and Szegedy 2015.
    """

    x: Operand[Floating]
    mean: Operand[Floating]
    var: Operand[Floating]
    weight: OptionalOperand[Floating]
    bias: OptionalOperand[Floating]
    eps: Attr[float] = 1e-5
    result: Result["x"]
    traits = (Pure, Composite)

    def verify(x, mean, var, weight, bias, eps):
        check_channels("batch_norm", x, mean=mean, var=var, weight=weight, bias=bias)

    @rounded_once
    def reference(x, mean, var, weight, bias, eps):
        mean, var, weight, bias = (None if a is None else per_channel(a, x.ndim) for a in (mean, var, weight, bias))
        return scale_and_shift((x - mean) / np.sqrt(var + var.dtype.type(eps)), weight, bias)


class GroupNorm(Normalization):
    """(x - mean) / sqrt(var + eps) * weight + bias with the statistics of one group of channels of one sample.

    x: (batch, channels, ...), channels divisible by num_groups; weight, bias: (channels,). Source: Wu and He 2018.
    """

    num_groups: Attr[int]
    eps: Attr[float] = 1e-5

    def verify(x, weight, bias, num_groups, eps):
        check_channels("group_norm", x, weight=weight, bias=bias)
        if num_groups < 1:
            raise OnemlirError(f"group_norm: num_groups must be positive, found {num_groups}")
        require_equal(symbolic.mod(x.shape[1], num_groups), 0, f"group_norm: {x.shape[1]} channels do not divide into {num_groups} groups")

    @rounded_once
    def reference(x, weight, bias, num_groups, eps):
        return grouped(x, weight, bias, num_groups, eps)


def grouped(x, weight, bias, num_groups, eps):
    """Normalization over groups of channels, then scale and shift by channel."""
    if not x.size:
        return x
    groups = x.reshape(x.shape[0], num_groups, -1)
    weight, bias = (None if a is None else per_channel(a, x.ndim) for a in (weight, bias))
    return scale_and_shift(standardize(groups, (2,), eps).reshape(x.shape), weight, bias)


class InstanceNorm(Normalization):
    """(x - mean) / sqrt(var + eps) * weight + bias with the statistics of one channel of one sample.

    x: (batch, channels, ...) with at least one axis after the channels; weight, bias: (channels,). Source: Ulyanov et al. 2016.
    """

    eps: Attr[float] = 1e-5

    def verify(x, weight, bias, eps):
        check_channels("instance_norm", x, weight=weight, bias=bias)
        if x.rank < 3:
            raise ShapeError(f"instance_norm: x must be (batch, channels, ...) with a further axis, found {show(x.shape)}")

    @rounded_once
    def reference(x, weight, bias, eps):
        return grouped(x, weight, bias, x.shape[1], eps)


class LocalResponseNorm(Op):
    """x / (k + alpha / size * s)^beta, where s sums x^2 over `size` neighbouring channels: size // 2 before, (size - 1) // 2 after.

    x: (batch, channels, ...). Source: Krizhevsky et al. 2012; torch's window (ONNX's differs for even sizes: the other half is longer).
    """

    x: Operand[Floating]
    size: Attr[int]
    alpha: Attr[float] = 1e-4
    beta: Attr[float] = 0.75
    k: Attr[float] = 1.0
    result: Result["x"]
    traits = (Pure, Composite)

    def verify(x, size, alpha, beta, k):
        check_channels("local_response_norm", x)
        if size < 1:
            raise OnemlirError(f"local_response_norm: size must be positive, found {size}")

    @rounded_once
    def reference(x, size, alpha, beta, k):
        padding = [(0, 0)] * x.ndim
        padding[1] = size // 2, (size - 1) // 2
        squares = np.pad(x * x, padding)
        total = sum(np.take(squares, range(i, i + x.shape[1]), axis=1) for i in range(size))
        return x / (total * x.dtype.type(alpha / size) + x.dtype.type(k)) ** x.dtype.type(beta)


OPS = (LayerNorm, RmsNorm, BatchNorm, GroupNorm, InstanceNorm, LocalResponseNorm)
