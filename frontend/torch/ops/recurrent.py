"""Recurrent networks: torch's functions of flat weight lists."""
from __future__ import annotations

import functools

from ... import ops
from ..registry import handles
from .packed import run_packed


def _grouped(params, has_biases: bool) -> list[tuple]:
    count = 4 if has_biases else 2
    return [tuple(params[i:i + count]) for i in range(0, len(params), count)]


def _lstm(x, weights, hx, **options):
    y, states = ops.lstm(x, weights, tuple(hx), **options)
    return (y, *states)


def _network(function):
    """torch's function of a tensor; or, in place of its last argument, of packed rows with the sizes of the batches before the states."""
    def plain(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first=False, lengths=None):
        return function(input, _grouped(params, has_biases), hx, num_layers=num_layers, bidirectional=bidirectional, batch_first=batch_first,
                        dropout=dropout, training=train, sequence_lens=lengths)

    def handler(recording, *args, **named):
        if not isinstance(args[3], (tuple, list)):
            return recording.to_theirs(tuple(plain(*map(recording.to_ours, args), **named)))
        data, sizes, *rest = args
        rest, named = [recording.to_ours(v) for v in rest], {k: recording.to_ours(v) for k, v in named.items()}
        return run_packed(recording, lambda padded, lengths: plain(padded, *rest, lengths=lengths, **named), data, sizes)
    return handler


handles("lstm", kind="raw")(_network(_lstm))
handles("gru", kind="raw")(_network(functools.partial(ops.gru, linear_before_reset=True)))
handles("rnn_tanh", kind="raw")(_network(functools.partial(ops.rnn, activation="tanh")))
handles("rnn_relu", kind="raw")(_network(functools.partial(ops.rnn, activation="relu")))


def _cell(layer):
    def handler(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        single = input.ndim == 1
        shape = (1, *input.shape) if not single else (1, 1, *input.shape)
        states = [ops.reshape(s, shape=(1, *s.shape)) if single else s for s in (hx if isinstance(hx, (tuple, list)) else (hx,))]
        _, *last = layer(ops.reshape(input, shape=shape), w_ih, w_hh, b_ih, b_hh, *states)
        last = [ops.reshape(s, shape=s.shape[1:]) if single else s for s in last]
        return tuple(last) if len(last) > 1 else last[0]
    return handler


handles("lstm_cell")(_cell(lambda x, wi, wh, bi, bh, h, c: ops.lstm_layer(x, wi, wh, bi, bh, h, initial_c=c)))
handles("gru_cell")(_cell(lambda x, wi, wh, bi, bh, h: ops.gru_layer(x, wi, wh, bi, bh, h, linear_before_reset=True)))
handles("rnn_tanh_cell")(_cell(lambda x, wi, wh, bi, bh, h: ops.rnn_layer(x, wi, wh, bi, bh, h, activation="tanh")))
handles("rnn_relu_cell")(_cell(lambda x, wi, wh, bi, bh, h: ops.rnn_layer(x, wi, wh, bi, bh, h, activation="relu")))
