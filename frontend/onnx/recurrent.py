"""RNN, LSTM and GRU: one recurrent layer for each direction."""
from __future__ import annotations

from ...dialect import dtypes
from ...errors import UnsupportedOpError
from ..ops.declared import declared as om
from ..ops.shape import expand_dims, squeeze
from ..tensor import Tensor
from .registry import reads

_ACTIVATIONS = {"tanh": "tanh", "relu": "relu", "sigmoid": "sigmoid", "hardsigmoid": "hard_sigmoid", "softsign": "softsign", "softplus": "softplus",
                "elu": "elu", "leakyrelu": "leaky_relu"}
_DEFAULTS = {"RNN": ("Tanh",), "LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh")}
_NAMES = {"RNN": ("activation",), "LSTM": ("gate_activation", "activation", "hidden_activation"), "GRU": ("gate_activation", "activation")}
_ORDERS = {"RNN": (0,), "LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2)}  # where torch's gates are in ONNX's order (iofc, zrh)


@reads("RNN", "LSTM", "GRU")
def read_recurrent(node, ops):
    direction = node.text("direction", "forward")
    reverses = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    x = node.tensor(0)
    batch_first = bool(node.int("layout", 0))
    x = ops.transpose(x, axes=(1, 0, 2)) if batch_first else x
    results = [_direction(node, x, number, reverse, len(reverses), batch_first) for number, reverse in enumerate(reverses)]
    y = _joined([r[0] for r in results], 1)
    states = [_joined(list(s), 0) for s in zip(*(r[1:] for r in results))]
    if batch_first:
        y = ops.transpose(y, axes=(2, 0, 1, 3))
        states = [ops.transpose(s, axes=(1, 0, 2)) for s in states]
    return (y, *states)


def _joined(parts: list[Tensor], axis: int) -> Tensor:
    parts = [expand_dims(p, axis) for p in parts]
    return parts[0] if len(parts) == 1 else om.concat(parts, axis=axis)


def _direction(node, x: Tensor, number: int, reverse: bool, count: int, batch_first: bool):
    kind = node.op_type
    pick = lambda i: None if not node.has(i) else _picked(node.tensor(i), number)
    weight_ih, weight_hh = (_ordered(pick(i), _ORDERS[kind]) for i in (1, 2))
    bias = pick(3)
    bias_ih, bias_hh = (None, None) if bias is None else (_ordered(_half(bias, h), _ORDERS[kind]) for h in range(2))
    state = lambda i: None if not node.has(i) else _picked(node.tensor(i), number, 1 if batch_first else 0)
    options = _options(node, number, count) | {"reverse": reverse}
    lengths = node.optional(4)
    if kind == "RNN":
        return om.rnn_layer(x, weight_ih, weight_hh, bias_ih, bias_hh, state(5), lengths, **options)
    if kind == "GRU":
        linear = bool(node.int("linear_before_reset", 0))
        return om.gru_layer(x, weight_ih, weight_hh, bias_ih, bias_hh, state(5), lengths, linear_before_reset=linear, **options)
    return om.lstm_layer(x, weight_ih, weight_hh, bias_ih, bias_hh, state(5), lengths, state(6), pick(7), input_forget=bool(node.int("input_forget", 0)), **options)


def _options(node, number: int, count: int) -> dict:
    """The activations of one direction by the layer's attribute names, and clip."""
    names = _NAMES[node.op_type]
    given = node.texts("activations", _DEFAULTS[node.op_type] * count)[number * len(names):(number + 1) * len(names)]
    alphas = node.floats("activation_alpha", ()) + node.floats("activation_beta", ())
    options = {}
    for name, activation in zip(names, given):
        if activation.lower() not in _ACTIVATIONS:
            raise UnsupportedOpError(f"the activation '{activation}' is not one of {', '.join(_ACTIVATIONS)}")
        options[name] = _ACTIVATIONS[activation.lower()]
    if alphas and any(a in ("hard_sigmoid", "elu", "leaky_relu") for a in options.values()):
        raise UnsupportedOpError("activations with parameters of their own (activation_alpha, activation_beta) cannot be read")
    clip = node.float("clip", 0.0)
    return options | ({"clip": clip} if clip else {})


def _picked(x: Tensor, number: int, axis: int = 0) -> Tensor:
    from ..ops.shape import slice_along

    return squeeze(slice_along(x, axis, number, 1), axis)


def _half(bias: Tensor, half: int) -> Tensor:
    from ..ops.shape import slice_along

    size = bias.shape[0] // 2
    return slice_along(bias, 0, half * size, size)


def _ordered(weight: Tensor, order: tuple) -> Tensor:
    """The gates' rows in torch's order."""
    from ..ops.shape import slice_along

    if len(order) == 1:
        return weight
    size = weight.shape[0] // len(order)
    return om.concat([slice_along(weight, 0, gate * size, size) for gate in order], axis=0)


__all__ = ["dtypes"]
