"""Recurrent networks: torch's functions of flat weight lists."""
from __future__ import annotations

from ... import ops
from ..registry import handles


def _grouped(params, has_biases: bool) -> list[tuple]:
    count = 4 if has_biases else 2
    return [tuple(params[i:i + count]) for i in range(0, len(params), count)]


def _packed(batch_first) -> bool:
    """torch's form for packed sequences has the sizes of the batches where the other has the states."""
    return not isinstance(batch_first, bool)


@handles("lstm")
def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first=None):
    if _packed(batch_first):
        return _refuse_packed("lstm")
    y, (h, c) = ops.lstm(input, _grouped(params, has_biases), tuple(hx), num_layers=num_layers, bidirectional=bidirectional, batch_first=batch_first,
                         dropout=dropout, training=train)
    return y, h, c


@handles("gru")
def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first=None):
    if _packed(batch_first):
        return _refuse_packed("gru")
    return ops.gru(input, _grouped(params, has_biases), hx, num_layers=num_layers, bidirectional=bidirectional, batch_first=batch_first,
                   dropout=dropout, training=train, linear_before_reset=True)


def _rnn(activation: str):
    def handler(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first=None):
        if _packed(batch_first):
            return _refuse_packed(f"rnn_{activation}")
        return ops.rnn(input, _grouped(params, has_biases), hx, activation=activation, num_layers=num_layers, bidirectional=bidirectional,
                       batch_first=batch_first, dropout=dropout, training=train)
    return handler


handles("rnn_tanh")(_rnn("tanh"))
handles("rnn_relu")(_rnn("relu"))


def _refuse_packed(name: str):
    from ....errors import UnsupportedOpError
    from ...locations import user_line

    raise UnsupportedOpError(f"{name} of a packed sequence cannot be recorded, at {user_line()}\n  give the padded tensor; its lengths are data")


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
