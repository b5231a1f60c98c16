"""DynamicQuantizeLSTM: an LSTM with integers as weights, whose inputs and states are quantized by their own range as they come."""
from __future__ import annotations

from ...ops.declared import declared as om
from ...ops.repeating import flip
from ...ops.shape import expand_dims, slice_along, squeeze
from ...regions import build_for
from ...symbolic_int import size_of
from ...tensor import Tensor
from ..linear_algebra import matmul_of_integers
from ..quantization import dynamically_quantized
from ..shape import sizes_of
from .domain import microsoft
from .quantized import scaled_product

_ACTIVATIONS = ["sigmoid", "tanh", "tanh"]
_SEQUENCE_LENS, _INITIAL_H, _INITIAL_C, _PEEPHOLE = 4, 5, 6, 7


@microsoft("DynamicQuantizeLSTM")
def read_dynamic_quantize_lstm(node, ops):
    """X (time, batch, features), W and R (directions, features or hidden, 4 * hidden) of 8-bit integers, their scales and zero points
    (directions,) or (directions, 4 * hidden). The range of X is that of all steps, that of the state h of each step by itself."""
    if node.has(_SEQUENCE_LENS) or node.has(_PEEPHOLE):
        node.refuse("sequence_lens and peepholes of DynamicQuantizeLSTM cannot be read")
    reverses = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[node.text("direction", "forward")]
    if [a.lower() for a in node.texts("activations", _ACTIVATIONS * len(reverses))] != _ACTIVATIONS * len(reverses):
        node.refuse("activations of DynamicQuantizeLSTM other than Sigmoid, Tanh and Tanh cannot be read")
    results = [_direction(node, ops, number, reverse) for number, reverse in enumerate(reverses)]
    return tuple(om.concat([expand_dims(part, axis) for part in parts], axis=axis) for parts, axis in zip(zip(*results), (1, 0, 0)))


class _Product:
    """A tensor, quantized as it comes, times one direction's weights."""

    def __init__(self, weights: Tensor, scale: Tensor, zero: Tensor):
        self.weights, self.scale, self.zero = weights, scale, zero

    def __call__(self, x: Tensor) -> Tensor:
        integers, scale, zero = dynamically_quantized(x)
        return scaled_product(matmul_of_integers(integers, self.weights, zero, self.zero), scale, self.scale, None)


def _direction(node, ops, number: int, reverse: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Every h, the last h and the last c of one direction."""
    pick = lambda i: squeeze(slice_along(node.tensor(i), 0, number, 1), 0)
    project, recur = (_Product(*map(pick, places)) for places in ((1, 8, 9), (2, 10, 11)))
    x = node.tensor(0)
    hidden, inputs = node.shape(2)[1], project(flip(x, 0) if reverse else x)
    if node.has(3):
        inputs = inputs + slice_along(pick(3), 0, 0, 4 * hidden) + slice_along(pick(3), 0, 4 * hidden, 4 * hidden)
    zeros = lambda: om.full(0.0, shape=(sizes_of(x)[1], hidden))
    start = [pick(i) if node.has(i) else zeros() for i in (_INITIAL_H, _INITIAL_C)]
    gates = _gates(node, ops, hidden)

    def step(index, carried):
        h, c = carried
        rows = squeeze(slice_along(inputs, 0, size_of(index), 1), 0)
        h, c = gates(rows + recur(h), c)
        return (h, c), (h,)

    (h, c), (y,) = build_for(node.recorder, sizes_of(x)[0], start, step)
    return flip(y, 0) if reverse else y, h, c


def _gates(node, ops, hidden):
    """h and c of a step from what enters the gates, in the order i, o, f, c."""
    clip, input_forget = node.float("clip", 0.0), bool(node.int("input_forget", 0))

    def gates(rows: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        rows = om.minimum(om.maximum(rows, -clip), clip) if clip else rows
        part = lambda gate: slice_along(rows, 1, gate * hidden, hidden)
        i = ops.sigmoid(part(0))
        c = (1.0 - i if input_forget else ops.sigmoid(part(2))) * c + i * ops.tanh(part(3))
        return ops.sigmoid(part(1)) * ops.tanh(c), c

    return gates


