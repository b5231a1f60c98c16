"""Recurrent layers: one layer in one direction. Torch's modules and ONNX's RNN, LSTM and GRU are made of these.

x is (time, batch, features); weight_ih (gates * hidden, features), weight_hh (gates * hidden, hidden), biases (gates * hidden,) with the
gates one after the other in torch's order. `sequence_lens` (batch,) says how many steps of each sample count: later ones give 0 and
leave the state alone. `reverse` goes from the last step to the first. `clip` limits what enters the activations to [-clip, clip]
(the LSTM's hidden_activation, which takes the cell, is left out, as in onnxruntime).
f16 and bf16 are computed in f32, also from step to step.
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from ...errors import OnemlirError, ShapeError
from ..attributes import Choice
from ..declare import Attr, Floating, Index, Op, Operand, OptionalOperand, Result
from ..shapes import require_equal, show, TensorType
from .elementwise import quiet, wide

ACTIVATIONS: dict[str, Callable] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "hard_sigmoid": lambda x: np.minimum(np.maximum(x * x.dtype.type(0.2) + x.dtype.type(0.5), 0), 1),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softplus": lambda x: np.logaddexp(x, x.dtype.type(0)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, x * x.dtype.type(0.01)),
}
ActivationName = Choice(*ACTIVATIONS)


class RecurrentLayer(Op, abstract=True):
    """Base: operands and options that all recurrent layers have."""

    gates = 1
    x: Operand[Floating, "T"]
    weight_ih: Operand[Floating, "T"]
    weight_hh: Operand[Floating, "T"]
    bias_ih: OptionalOperand[Floating, "T"]
    bias_hh: OptionalOperand[Floating, "T"]
    initial_h: OptionalOperand[Floating, "T"]
    sequence_lens: OptionalOperand[Index]
    reverse: Attr[bool] = False
    clip: Attr[float | None] = None

    @classmethod
    def infer(cls, x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens, **_):
        hidden = cls.check_shapes(x, weight_ih, weight_hh, bias_ih=bias_ih, bias_hh=bias_hh)
        cls.check_batch(x, hidden, sequence_lens, initial_h=initial_h)
        return x.with_shape((*x.shape[:2], hidden)), x.with_shape((x.shape[1], hidden))

    @classmethod
    def verify(cls, clip, **_):
        if clip is not None and clip <= 0:
            raise OnemlirError(f"{cls.opname}: clip must be positive, found {clip}")

    @classmethod
    def check_shapes(cls, x, weight_ih, weight_hh, **biases):
        """ShapeError for weights that do not fit x; the size of the hidden state."""
        if x.rank != 3 or weight_ih.rank != 2 or weight_hh.rank != 2:
            raise ShapeError(f"{cls.opname}: x must be (time, batch, features) and weights matrices; "
                             f"found {show(x.shape)}, {show(weight_ih.shape)}, {show(weight_hh.shape)}")
        hidden = weight_hh.shape[1]
        rows = hidden * cls.gates
        require_equal(x.shape[2], weight_ih.shape[1], f"{cls.opname}: x {show(x.shape)} has {x.shape[2]} features "
                      f"but weight_ih {show(weight_ih.shape)} takes {weight_ih.shape[1]}")
        for name, operand in (("weight_ih", weight_ih), ("weight_hh", weight_hh), *biases.items()):
            if operand is not None:
                cls.require_shape(name, operand, (rows, *operand.shape[1:]) if name.startswith("weight") else (rows,))
        return hidden

    @classmethod
    def check_batch(cls, x, hidden, sequence_lens, **states):
        """ShapeError for states or lengths that do not fit the batch."""
        for name, operand in states.items():
            if operand is not None:
                cls.require_shape(name, operand, (x.shape[1], hidden))
        if sequence_lens is not None:
            cls.require_shape("sequence_lens", sequence_lens, (x.shape[1],))

    @classmethod
    def require_shape(cls, name: str, operand: TensorType, expected: tuple) -> None:
        why = f"{cls.opname}: {name} must have shape {show(expected)}, found {show(operand.shape)}"
        if operand.rank != len(expected):
            raise ShapeError(why)
        for a, b in zip(operand.shape, expected):
            require_equal(a, b, why)


class RnnLayer(RecurrentLayer):
    """h[t] = activation(x[t] @ weight_ih.T + bias_ih + h[t-1] @ weight_hh.T + bias_hh).

    Results: y (time, batch, hidden), every h; h (batch, hidden), the last. Source: Elman 1990; torch's RNN.
    """

    activation: Attr[ActivationName] = "tanh"
    y: Result
    h: Result

    def reference(x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens, reverse, clip, activation):
        function = clipped(ACTIVATIONS[activation], clip)

        def step(inputs, h):
            return (function(inputs + affine(h, weight_hh, bias_hh)),)

        return scan(step, x, weight_ih, bias_ih, (initial_h,), weight_hh.shape[1], sequence_lens, reverse)


class GruLayer(RecurrentLayer):
    """Gates r, z and candidate n, with a = x[t] @ weight_ih.T + bias_ih and b = h[t-1] @ weight_hh.T + bias_hh, each in three parts:

    r = gate(a_r + b_r); z = gate(a_z + b_z); n = activation(a_n + r * b_n); h[t] = (1 - z) * n + z * h[t-1].
    With linear_before_reset False (ONNX's default) the candidate is activation(a_n + (r * h[t-1]) @ weight_hh_n.T + bias_hh_n).
    Results: y (time, batch, hidden), every h; h (batch, hidden), the last. Source: Cho et al. 2014; torch's GRU.
    """

    gates = 3
    gate_activation: Attr[ActivationName] = "sigmoid"
    activation: Attr[ActivationName] = "tanh"
    linear_before_reset: Attr[bool] = True
    y: Result
    h: Result

    def reference(x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens, reverse, clip, gate_activation, activation,
                  linear_before_reset):
        gate, candidate = (clipped(ACTIVATIONS[name], clip) for name in (gate_activation, activation))
        hidden = weight_hh.shape[1]
        last = slice(2 * hidden, None)

        def step(inputs, h):
            a_r, a_z, a_n = np.split(inputs, 3, axis=-1)
            b_r, b_z, b_n = np.split(affine(h, weight_hh, bias_hh), 3, axis=-1)
            r, z = gate(a_r + b_r), gate(a_z + b_z)
            reset = r * b_n if linear_before_reset else affine(r * h, weight_hh[last], None if bias_hh is None else bias_hh[last])
            return ((1 - z) * candidate(a_n + reset) + z * h,)

        return scan(step, x, weight_ih, bias_ih, (initial_h,), hidden, sequence_lens, reverse)


class LstmLayer(RecurrentLayer):
    """Gates i, f, o and cell input g, the four parts (in the order i, f, g, o) of
    x[t] @ weight_ih.T + bias_ih + h[t-1] @ weight_hh.T + bias_hh:

    c[t] = gate(f) * c[t-1] + gate(i) * activation(g); h[t] = gate(o) * hidden_activation(c[t]).
    peephole (3 * hidden,), in the order i, o, f: c[t-1] times it is added to i and f, c[t] times it to o. input_forget: gate(f) is
    1 - gate(i). Results: y (time, batch, hidden), every h; h and c (batch, hidden), the last. Source: Hochreiter and Schmidhuber
    1997; torch's LSTM; ONNX's LSTM for peepholes.
    """

    gates = 4
    initial_c: OptionalOperand[Floating, "T"]
    peephole: OptionalOperand[Floating, "T"]
    gate_activation: Attr[ActivationName] = "sigmoid"
    activation: Attr[ActivationName] = "tanh"
    hidden_activation: Attr[ActivationName] = "tanh"
    input_forget: Attr[bool] = False
    y: Result
    h: Result
    c: Result

    @classmethod
    def infer(cls, x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens, initial_c, peephole, **_):
        hidden = cls.check_shapes(x, weight_ih, weight_hh, bias_ih=bias_ih, bias_hh=bias_hh)
        cls.check_batch(x, hidden, sequence_lens, initial_h=initial_h, initial_c=initial_c)
        if peephole is not None:
            cls.require_shape("peephole", peephole, (hidden * 3,))
        state = x.with_shape((x.shape[1], hidden))
        return x.with_shape((*x.shape[:2], hidden)), state, state

    def reference(x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens, initial_c, peephole, reverse, clip,
                  gate_activation, activation, hidden_activation, input_forget):
        gate, cell_input = (clipped(ACTIVATIONS[name], clip) for name in (gate_activation, activation))
        output = ACTIVATIONS[hidden_activation]
        hidden = weight_hh.shape[1]
        p_i, p_o, p_f = np.split(np.zeros(3 * hidden, wide(x).dtype) if peephole is None else wide(peephole), 3)

        def step(inputs, h, c):
            i, f, g, o = np.split(inputs + affine(h, weight_hh, bias_hh), 4, axis=-1)
            i = gate(i + p_i * c)
            f = 1 - i if input_forget else gate(f + p_f * c)
            c = f * c + i * cell_input(g)
            return gate(o + p_o * c) * output(c), c

        return scan(step, x, weight_ih, bias_ih, (initial_h, initial_c), hidden, sequence_lens, reverse)


def affine(x, weight, bias):
    """x @ weight.T + bias in f32 at least."""
    product = wide(x) @ wide(weight).T
    return product if bias is None else product + wide(bias)


def clipped(function: Callable, clip: float | None) -> Callable:
    """The activation of its argument limited to [-clip, clip]."""
    return function if clip is None else lambda x: function(np.clip(x, x.dtype.type(-clip), x.dtype.type(clip)))


@quiet
def scan(step: Callable, x, weight_ih, bias_ih, states, hidden: int, sequence_lens, reverse: bool):
    """Run `step(inputs, *states)` over time: every first state, then the last states."""
    time, batch = x.shape[:2]
    inputs = affine(x, weight_ih, bias_ih)
    states = tuple(np.zeros((batch, hidden), inputs.dtype) if s is None else wide(s) for s in states)
    y = np.zeros((time, batch, hidden), inputs.dtype)
    lengths = np.full(batch, time) if sequence_lens is None else sequence_lens
    for t in range(time)[::-1 if reverse else 1]:
        alive = (t < lengths)[:, None]
        new = step(inputs[t], *states)
        y[t] = np.where(alive, new[0], 0)
        states = tuple(np.where(alive, a, b) for a, b in zip(new, states))
    return tuple(a.astype(x.dtype) for a in (y, *states))


OPS = (RnnLayer, GruLayer, LstmLayer)
