"""Recurrent networks and single steps of them."""
from __future__ import annotations

import math

from .. import ops
from ...errors import OnemlirError, ShapeError
from . import init
from .module import Module
from .parameter import new_parameter
from .spatial import without_batch


class RecurrentNetwork(Module):
    """Base of RNN, LSTM and GRU.

    x: (L, N, input_size), with `batch_first` (N, L, input_size), or (L, input_size) for one sequence. States: (num_layers * D, N,
    hidden_size), D = 2 where `bidirectional`, zeros unless given. Result: every state of the last layer (L, N, D * hidden_size) in x's
    layout, and the last states. `dropout` drops between layers while training. `sequence_lens` (N,) says how many steps of each
    sequence count; the result is 0 after them.

    Parameters of layer k: weight_ih_l{k} (gates * hidden_size, inputs), weight_hh_l{k} (gates * hidden_size, hidden_size), bias_ih_l{k},
    bias_hh_l{k} (gates * hidden_size,), the same with _reverse for the other direction; all from U(-b, b), b = 1 / sqrt(hidden_size).
    """

    gates = 1

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
                 dropout: float = 0.0, bidirectional: bool = False, dtype=None):
        super().__init__()
        if hidden_size < 1 or num_layers < 1:
            raise OnemlirError(f"hidden_size and num_layers must be positive, found {hidden_size} and {num_layers}")
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                inputs = input_size if layer == 0 else hidden_size * len(self._suffixes(layer))
                add_gate_parameters(self, self.gates, inputs, hidden_size, bias, suffix, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        reset_gate_parameters(self)

    def _suffixes(self, layer: int) -> tuple[str, ...]:
        """What the names of a layer's parameters end with, by direction."""
        return (f"_l{layer}", f"_l{layer}_reverse") if self.bidirectional else (f"_l{layer}",)

    def forward(self, x, hx=None, sequence_lens=None):
        parameters = [gate_parameters(self, suffix) for layer in range(self.num_layers) for suffix in self._suffixes(layer)]
        weights = [tuple(p for p in layer.values() if p is not None) for layer in parameters]
        return self._network(x, weights, hx, num_layers=self.num_layers, bidirectional=self.bidirectional, batch_first=self.batch_first,
                         dropout=self.dropout, training=self.training, sequence_lens=sequence_lens)

    def _network(self, x, weights: list, hx, **options):
        """The function of `onemlir.ops` for this network."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        settings = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        shown = [f"{name}={getattr(self, name)}" for name, usual in settings.items() if getattr(self, name) != usual]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *shown])


class RNN(RecurrentNetwork):
    """h[t] = f(weight_ih x[t] + bias_ih + weight_hh h[t-1] + bias_hh); `nonlinearity` f is "tanh" or "relu". Source: Elman 1990."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype=None):
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, dtype)
        self.nonlinearity = checked_nonlinearity(nonlinearity)

    def _network(self, x, weights, hx, **options):
        return ops.rnn(x, weights, hx, activation=self.nonlinearity, **options)


class LSTM(RecurrentNetwork):
    """Gates i, f, g, o; the states are h and c, given and returned as a pair. Source: Hochreiter and Schmidhuber 1997."""

    gates = 4

    def _network(self, x, weights, hx, **options):
        return ops.lstm(x, weights, hx, **options)


class GRU(RecurrentNetwork):
    """Gates r, z, n, with r applied after the matrix product, as torch does. Source: Cho et al. 2014."""

    gates = 3

    def _network(self, x, weights, hx, **options):
        return ops.gru(x, weights, hx, **options)


class RecurrentCell(Module):
    """Base of RNNCell, LSTMCell, GRUCell: one step. x: (N, input_size) or (input_size,); states (N, hidden_size), zeros unless given.

    Parameters: weight_ih, weight_hh, bias_ih, bias_hh, from U(-b, b), b = 1 / sqrt(hidden_size).
    """

    gates = 1

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype=None):
        super().__init__()
        if hidden_size < 1:
            raise OnemlirError(f"hidden_size must be positive, found {hidden_size}")
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        add_gate_parameters(self, self.gates, input_size, hidden_size, bias, "", dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        reset_gate_parameters(self)

    def forward(self, x, hx=None):
        if x.ndim not in (1, 2):
            raise ShapeError(f"{type(self).__name__} takes 1 or 2 axes, found shape {x.shape}")
        if x.ndim == 2:
            return self._step(ops.expand_dims(x, 0), hx)
        add = lambda state: ops.expand_dims(state, 0)
        start = None if hx is None else tuple(map(add, hx)) if isinstance(hx, (tuple, list)) else add(hx)
        return without_batch(self._step(ops.reshape(x, (1, 1, x.shape[0])), start))

    def _step(self, x, start):
        """One step for x of (1, N, input_size)."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RecurrentCell):
    """One step of `RNN`: (x, h) to h."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", dtype=None):
        super().__init__(input_size, hidden_size, bias, dtype)
        self.nonlinearity = checked_nonlinearity(nonlinearity)

    def _step(self, x, start):
        return ops.rnn_layer(x, **gate_parameters(self, ""), initial_h=start, activation=self.nonlinearity)[1]


class LSTMCell(RecurrentCell):
    """One step of `LSTM`: (x, (h, c)) to (h, c)."""

    gates = 4

    def _step(self, x, start):
        h, c = (None, None) if start is None else start
        return tuple(ops.lstm_layer(x, **gate_parameters(self, ""), initial_h=h, initial_c=c)[1:])


class GRUCell(RecurrentCell):
    """One step of `GRU`: (x, h) to h."""

    gates = 3

    def _step(self, x, start):
        return ops.gru_layer(x, **gate_parameters(self, ""), initial_h=start)[1]


def add_gate_parameters(module: Module, gates: int, inputs: int, hidden: int, bias: bool, suffix: str, dtype) -> None:
    """Give a module the weights and biases of one layer in one direction."""
    shapes = {"weight_ih": (gates * hidden, inputs), "weight_hh": (gates * hidden, hidden), "bias_ih": (gates * hidden,),
              "bias_hh": (gates * hidden,)}
    for name, shape in shapes.items():
        if bias or name.startswith("weight"):
            module.register_parameter(name + suffix, new_parameter(shape, dtype))


def gate_parameters(module: Module, suffix: str) -> dict:
    """The weights and biases of one layer in one direction, as the ops name them."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return {name: module._parameters.get(name + suffix) for name in names}


def reset_gate_parameters(module: Module) -> None:
    bound = 1 / math.sqrt(module.hidden_size)
    for parameter in module.parameters(recurse=False):
        init.uniform_(parameter, -bound, bound)


def checked_nonlinearity(name: str) -> str:
    if name not in ("tanh", "relu"):
        raise OnemlirError(f"nonlinearity must be 'tanh' or 'relu', found {name!r}")
    return name
