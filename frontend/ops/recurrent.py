"""Recurrent networks of several layers and two directions, as torch calls them, from layers of one direction.

x: (time, batch, features), with batch_first (batch, time, features), or (time, features) for one sample. `weights` has one tuple for each
layer and direction, (weight_ih, weight_hh) or (weight_ih, weight_hh, bias_ih, bias_hh), in the order layer 0 forward, layer 0 backward,
layer 1 forward, …; shapes as torch's. States are (layers * directions, batch, hidden). The result's last axis has the two directions one
after the other. dropout acts between layers when training. `options` are further attributes of the layer op.
"""
from __future__ import annotations

from typing import Callable, Sequence

from ...errors import OnemlirError, ShapeError
from ..tensor import Tensor
from .declared import as_tensor, declared as om
from .random import dropout as drop

__all__ = ["gru", "lstm", "rnn"]


def rnn(x, weights: Sequence, h0=None, *, activation: str = "tanh", num_layers: int = 1, bidirectional: bool = False,
        batch_first: bool = False, dropout: float = 0.0, training: bool = False, sequence_lens=None, **options) -> tuple[Tensor, Tensor]:
    """The outputs of the last layer and the last states: (y, h).

    h[t] = activation(W_ih x[t] + b_ih + W_hh h[t-1] + b_hh), activation "tanh" or "relu". Source: torch, ``nn.RNN``.
    """
    network = Network(om.rnn_layer, 1, num_layers, bidirectional, batch_first, dropout, training)
    return network.run(x, weights, (h0,), sequence_lens, activation=activation, **options)


def gru(x, weights: Sequence, h0=None, *, num_layers: int = 1, bidirectional: bool = False, batch_first: bool = False, dropout: float = 0.0,
        training: bool = False, sequence_lens=None, **options) -> tuple[Tensor, Tensor]:
    """The outputs of the last layer and the last states: (y, h). Formula: `gru_layer`. Source: torch, ``nn.GRU``."""
    network = Network(om.gru_layer, 1, num_layers, bidirectional, batch_first, dropout, training)
    return network.run(x, weights, (h0,), sequence_lens, **options)


def lstm(x, weights: Sequence, states=None, *, num_layers: int = 1, bidirectional: bool = False, batch_first: bool = False,
         dropout: float = 0.0, training: bool = False, sequence_lens=None, **options) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The outputs of the last layer and the last states: (y, (h, c)); states: (h0, c0). Formula: `lstm_layer`. Source: torch, ``nn.LSTM``."""
    network = Network(om.lstm_layer, 2, num_layers, bidirectional, batch_first, dropout, training)
    y, *states = network.run(x, weights, (None, None) if states is None else states, sequence_lens, **options)
    return y, tuple(states)


class Network:
    """Layers and directions around one layer op that has `state_count` states."""

    def __init__(self, layer: Callable, state_count: int, num_layers: int, bidirectional: bool, batch_first: bool, dropout: float,
                 training: bool):
        self.layer, self.state_count, self.num_layers = layer, state_count, num_layers
        self.directions = 2 if bidirectional else 1
        self.batch_first, self.dropout, self.training = batch_first, dropout, training

    def run(self, x, weights, initial, sequence_lens, **options) -> tuple[Tensor, ...]:
        """y, then the last states."""
        x = as_tensor(x)
        if x.ndim not in (2, 3):
            raise ShapeError(f"a recurrent network takes (time, batch, features) or (time, features), found shape {x.shape}")
        count = self.num_layers * self.directions
        if len(weights) != count:
            raise OnemlirError(f"a recurrent network of {self.num_layers} layers and {self.directions} directions needs {count} tuples of weights, "
                               f"found {len(weights)}")
        single = x.ndim == 2
        y = self._time_first(_with_axis(x, 1) if single else x, single)
        initial = [None if s is None else self._state(as_tensor(s), single) for s in initial]
        y, last = self._layers(y, weights, initial, sequence_lens, options)
        states = [om.concat([_with_axis(s[i], 0) for s in last], axis=0) for i in range(self.state_count)]
        if single:
            return tuple(_without_axis(t, 1) for t in (y, *states))
        return (self._time_first(y, single), *states)

    def _time_first(self, x: Tensor, single: bool) -> Tensor:
        return om.transpose(x, axes=(1, 0, 2)) if self.batch_first and not single else x

    def _state(self, state: Tensor, single: bool) -> Tensor:
        expected = self.num_layers * self.directions
        if state.ndim != (2 if single else 3) or state.shape[0] != expected:
            raise ShapeError(f"initial states must be ({expected}, {'' if single else 'batch, '}hidden), found shape {state.shape}")
        return _with_axis(state, 1) if single else state

    def _layers(self, x: Tensor, weights, initial, sequence_lens, options) -> tuple[Tensor, list]:
        last: list[tuple] = []
        for layer in range(self.num_layers):
            x = drop(x, self.dropout, self.training) if layer and self.training else x
            outputs = []
            for direction in range(self.directions):
                number = layer * self.directions + direction
                y, *states = self._layer(x, weights[number], [None if s is None else _pick(s, number) for s in initial], sequence_lens,
                                         reverse=direction == 1, **options)
                outputs.append(y)
                last.append(states)
            x = outputs[0] if len(outputs) == 1 else om.concat(outputs, axis=-1)
        return x, last

    def _layer(self, x, weights, initial, sequence_lens, **options):
        weight_ih, weight_hh, *biases = weights
        bias_ih, bias_hh = biases or (None, None)
        names = dict(zip(("initial_h", "initial_c"), initial))
        return self.layer(x, weight_ih, weight_hh, bias_ih, bias_hh, sequence_lens=sequence_lens, **names, **options)


def _with_axis(x: Tensor, axis: int) -> Tensor:
    return om.reshape(x, shape=(*x.shape[:axis], 1, *x.shape[axis:]))


def _without_axis(x: Tensor, axis: int) -> Tensor:
    return om.reshape(x, shape=(*x.shape[:axis], *x.shape[axis + 1:]))


def _pick(states: Tensor, number: int) -> Tensor:
    """The state of one layer and direction."""
    shape = states.shape[1:]
    return om.reshape(om.slice(states, starts=(number, 0, 0), shape=(1, *shape), steps=(1, 1, 1)), shape=shape)
