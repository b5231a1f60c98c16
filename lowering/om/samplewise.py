"""Which ops compute each entry of the first axis by itself (a sample of a batch), and what they are for one entry."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

from ...dialect.build import OpView
from ...dialect.declare import Elementwise
from ...dialect.ops import activation, convolution, normalization, pooling, quantization, reduction, resampling, shape
from ...dialect.shapes import TensorType
from ...dialect.symbolic import Size


@dataclass(frozen=True)
class OneSample:
    """An op for one entry: which of its operands are cut along the first axis (the others are taken whole), and its attributes."""

    cut: tuple[bool, ...]
    attributes: dict


def one_sample(op: OpView, types: Sequence[TensorType | None], attributes: Mapping, count: Size) -> OneSample | None:
    """The op for one of `count` entries of its first axis; None where it does not compute them one by one."""
    declaration = op.declaration
    if len(op.results) != 1 or not types or types[0] is None:
        return None
    if Elementwise in declaration.traits:
        return _elementwise(types, attributes, count)
    rule = RULES.get(declaration) or next((rule for base, rule in BASES.items() if issubclass(declaration, base)), None)
    if rule is None or not _is_cut(types[0], count):
        return None
    changed = rule(types, attributes, count)
    return None if changed is None else OneSample((True, *changed[0]), {**attributes, **changed[1]})


def _is_cut(type_: TensorType | None, count: Size) -> bool:
    return type_ is not None and type_.rank > 0 and type_.shape[0] == count


def _elementwise(types, attributes, count) -> OneSample | None:
    """Operands of the result's rank lie along the batch; others are broadcast along it."""
    rank = max(type_.rank for type_ in types if type_ is not None)
    cut = tuple(type_ is not None and type_.rank == rank and _is_cut(type_, count) for type_ in types)
    if not any(cut) or any(type_ is not None and type_.rank == rank and not own and type_.shape[0] != 1 for type_, own in zip(types, cut)):
        return None
    return OneSample(cut, dict(attributes))


def _first_operand(types, attributes, count):
    """x is cut, weights and the like are whole."""
    return [False] * (len(types) - 1), {}


def _windows(types, attributes, count):
    return _first_operand(types, attributes, count) if types[0].rank > len(attributes["kernel_size"]) else None


def _last_axes(types, attributes, count):
    return _first_operand(types, attributes, count) if types[0].rank > attributes["axes_count"] else None


def _reduction(types, attributes, count):
    axes = attributes["axis"]
    return None if axes is None or 0 in (axes if isinstance(axes, tuple) else (axes,)) else ([], {})


def _along_axis(types, attributes, count):
    return _first_operand(types, attributes, count) if attributes["axis"] not in (0, None) and not attributes.get("block_size") else None


def _resize(types, attributes, count):
    scales, sizes = attributes["scales"], attributes["sizes"]
    kept = sizes[0] == count and attributes["roi"] is None and (scales is None or scales[0] == 1)
    return ([], {"sizes": (1, *sizes[1:])}) if kept else None


def _concat(types, attributes, count):
    return ([True] * (len(types) - 1), {}) if attributes["axis"] != 0 else None


def _transpose(types, attributes, count):
    return ([], {}) if attributes["axes"][0] == 0 else None


def _reshape(types, attributes, count):
    new = attributes["shape"]
    return ([], {"shape": (1, *new[1:])}) if new and new[0] == count else None


def _slice(types, attributes, count):
    whole = attributes["starts"][0] == 0 and attributes["steps"][0] == 1 and attributes["shape"][0] == count
    return ([], {"shape": (1, *attributes["shape"][1:])}) if whole else None


def _pad(types, attributes, count):
    return _first_operand(types, attributes, count) if attributes["low"][0] == 0 and attributes["high"][0] == 0 else None


RULES: dict[type, Callable] = {
    convolution.Conv: _first_operand, convolution.ConvInteger: _first_operand, convolution.ConvTranspose: _first_operand,
    normalization.BatchNorm: _first_operand, normalization.GroupNorm: _first_operand, normalization.InstanceNorm: _first_operand,
    normalization.LocalResponseNorm: _first_operand, normalization.LayerNorm: _last_axes, normalization.RmsNorm: _last_axes,
    quantization.QuantizeLinear: _along_axis, quantization.DequantizeLinear: _along_axis,
    activation.Softmax: _along_axis, activation.LogSoftmax: _along_axis,
    resampling.Resize: _resize, shape.Concat: _concat, shape.Transpose: _transpose, shape.Reshape: _reshape, shape.Slice: _slice,
    shape.PadConstant: _pad, shape.Pad: _pad,
}  # fmt: skip
BASES: dict[type, Callable] = {pooling.Pool: _windows, reduction.Reduction: _reduction}
