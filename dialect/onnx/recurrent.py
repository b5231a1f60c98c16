"""Writers of recurrent layers. ONNX has directions as an axis, its own order of gates, and one bias of two halves."""
from __future__ import annotations

import numpy as np

from ..ops import recurrent as om
from .graph import Graph, Value
from .registry import Unwritable, writes
from .written_op import WrittenOp

_ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu", "sigmoid": "Sigmoid", "hard_sigmoid": "HardSigmoid", "softsign": "Softsign",
                "softplus": "Softplus", "elu": "Elu", "leaky_relu": "LeakyRelu"}
_ALPHAS = {"HardSigmoid": 0.2, "Elu": 1.0, "LeakyRelu": 0.01}
_BETAS = {"HardSigmoid": 0.5}


def _reordered(graph: Graph, value: Value, order) -> Value:
    """The parts of a gate tensor in ONNX's order, with the axis of directions in front."""
    if order != tuple(range(len(order))):
        parts = graph.Split(value, outputs=len(order), axis=0, num_outputs=len(order))
        value = graph.node("Concat", [parts[i] for i in order], axis=0)
    return graph.Unsqueeze(value, [0])


def _bias(graph: Graph, op: WrittenOp, order) -> Value | None:
    if op.bias_ih is None and op.bias_hh is None:
        return None
    zeros = np.zeros((1, op.weight_hh.shape[0]), op.dtype)
    halves = [zeros if bias is None else _reordered(graph, bias, order) for bias in (op.bias_ih, op.bias_hh)]
    return graph.node("Concat", halves, axis=1)


def _inputs(graph: Graph, op: WrittenOp, order) -> list:
    if not isinstance(op.weight_hh.shape[1], int):
        raise Unwritable("the hidden size must be fixed")
    lengths = None if op.sequence_lens is None else graph.Cast(op.sequence_lens, to=np.dtype(np.int32))
    return [op.x, _reordered(graph, op.weight_ih, order), _reordered(graph, op.weight_hh, order), _bias(graph, op, order), lengths,
            None if op.initial_h is None else graph.Unsqueeze(op.initial_h, [0])]


def _options(op: WrittenOp, *activations: str) -> dict:
    names = [_ACTIVATIONS[name] for name in activations]
    alphas = [_ALPHAS[n] for n in names if n in _ALPHAS] or None
    betas = [_BETAS[n] for n in names if n in _BETAS] or None
    return {"hidden_size": op.weight_hh.shape[1], "direction": "reverse" if op.reverse else "forward", "activations": names, "clip": op.clip,
            "activation_alpha": alphas, "activation_beta": betas}


@writes(om.RnnLayer)
def write_rnn(graph: Graph, op: WrittenOp):
    y, h = graph.node("RNN", _inputs(graph, op, (0,)), outputs=2, **_options(op, op.activation))
    return graph.Squeeze(y, [1]), graph.Squeeze(h, [0])


@writes(om.GruLayer)
def write_gru(graph: Graph, op: WrittenOp):
    options = _options(op, op.gate_activation, op.activation)
    y, h = graph.node("GRU", _inputs(graph, op, (1, 0, 2)), outputs=2, linear_before_reset=op.linear_before_reset, **options)
    return graph.Squeeze(y, [1]), graph.Squeeze(h, [0])


@writes(om.LstmLayer)
def write_lstm(graph: Graph, op: WrittenOp):
    inputs = _inputs(graph, op, (0, 3, 1, 2))
    inputs.append(None if op.initial_c is None else graph.Unsqueeze(op.initial_c, [0]))
    inputs.append(None if op.peephole is None else graph.Unsqueeze(op.peephole, [0]))
    options = _options(op, op.gate_activation, op.activation, op.hidden_activation)
    y, h, c = graph.node("LSTM", inputs, outputs=3, input_forget=op.input_forget, **options)
    return graph.Squeeze(y, [1]), graph.Squeeze(h, [0]), graph.Squeeze(c, [0])
