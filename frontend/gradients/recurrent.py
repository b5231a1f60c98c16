"""Gradients of recurrent layers: the steps are run again one by one. The number of steps must be fixed."""
from __future__ import annotations

from typing import Callable

from ...dialect.ops import recurrent as om
from ...errors import UnsupportedOpError
from ..ops.declared import declared as ops
from ..ops.shape import sizes
from .broadcasting import zeros
from .composed import composed_gradient


def _function(name: str, clip: float | None) -> Callable:
    options = {"alpha": 0.2, "beta": 0.5} if name == "hard_sigmoid" else {}
    function = getattr(ops, name)
    return lambda x: function(x if clip is None else ops.minimum(ops.maximum(x, -clip), clip), **options)


def _parts(x, count: int) -> list:
    """x in equal parts along its last axis."""
    shape = sizes(x)
    width = shape[-1] // count
    starts = [(*(0,) * (x.ndim - 1), width * i) for i in range(count)]
    return [ops.slice(x, starts=s, shape=(*shape[:-1], width), steps=(1,) * x.ndim) for s in starts]


def _rows(x, start: int, count: int):
    return ops.slice(x, starts=(start, *(0,) * (x.ndim - 1)), shape=(count, *sizes(x)[1:]), steps=(1,) * x.ndim)


def _scan(call, step: Callable, x, weight_ih, bias_ih, states, hidden: int, lengths):
    """Run ``step(inputs, *states)`` over time: every first state, then the last states."""
    time, batch = sizes(x)[:2]
    if not isinstance(time, int):
        raise UnsupportedOpError(f"the gradient of {call.op.opname} needs a fixed number of steps, found x {x.shape}")
    inputs = ops.linear(x, weight_ih, bias_ih)
    states = [zeros((batch, hidden), x.dtype) if s is None else s for s in states]
    rows: list = [None] * time
    for t in range(time)[::-1 if call.reverse else 1]:
        new = step(ops.reshape(_rows(inputs, t, 1), shape=sizes(inputs)[1:]), *states)
        alive = None if lengths is None else ops.reshape(lengths > t, shape=(batch, 1))
        first = new[0] if alive is None else ops.where(alive, new[0], 0.0)
        rows[t] = ops.reshape(first, shape=(1, *sizes(first)))
        states = list(new) if alive is None else [ops.where(alive, a, b) for a, b in zip(new, states)]
    y = ops.concat(rows, axis=0) if rows else zeros((0, batch, hidden), x.dtype)
    return (y, *states)


@composed_gradient(om.RnnLayer)
def rnn_layer(call, x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens):
    function = _function(call.activation, call.clip)
    step = lambda inputs, h: (function(inputs + ops.linear(h, weight_hh, bias_hh)),)
    return _scan(call, step, x, weight_ih, bias_ih, (initial_h,), sizes(weight_hh)[1], sequence_lens)


@composed_gradient(om.GruLayer)
def gru_layer(call, x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens):
    gate, candidate = _function(call.gate_activation, call.clip), _function(call.activation, call.clip)
    hidden = sizes(weight_hh)[1]

    def step(inputs, h):
        a_r, a_z, a_n = _parts(inputs, 3)
        b_r, b_z, b_n = _parts(ops.linear(h, weight_hh, bias_hh), 3)
        r, z = gate(a_r + b_r), gate(a_z + b_z)
        if call.linear_before_reset:
            reset = r * b_n
        else:
            reset = ops.linear(r * h, _rows(weight_hh, 2 * hidden, hidden), None if bias_hh is None else _rows(bias_hh, 2 * hidden, hidden))
        return ((1 - z) * candidate(a_n + reset) + z * h,)

    return _scan(call, step, x, weight_ih, bias_ih, (initial_h,), hidden, sequence_lens)


@composed_gradient(om.LstmLayer)
def lstm_layer(call, x, weight_ih, weight_hh, bias_ih, bias_hh, initial_h, sequence_lens, initial_c, peephole):
    gate, cell_input = _function(call.gate_activation, call.clip), _function(call.activation, call.clip)
    output = _function(call.hidden_activation, None)
    p_i, p_o, p_f = (0.0, 0.0, 0.0) if peephole is None else _parts(peephole, 3)

    def step(inputs, h, c):
        i, f, g, o = _parts(inputs + ops.linear(h, weight_hh, bias_hh), 4)
        i = gate(i + c * p_i)
        f = 1 - i if call.input_forget else gate(f + c * p_f)
        c = f * c + i * cell_input(g)
        return gate(o + c * p_o) * output(c), c

    return _scan(call, step, x, weight_ih, bias_ih, (initial_h, initial_c), sizes(weight_hh)[1], sequence_lens)
