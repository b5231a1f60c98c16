"""Lowerings of recurrent layers: the inputs' product for all steps at once, then a loop over time that carries y and the states.

A step is the product of the state with the recurrent weight and one pass over (batch, hidden) that computes the new states in place.
"""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, math

from ...dialect.ops import recurrent as om
from ...dialect.shapes import TensorType
from ...dialect.symbolic import Size
from .builder import compute_dtype, PARALLEL
from .linear_algebra import multiply, pack_weight
from .reduction import converted
from .registry import lowers, TensorValue
from .scalar import Scalar


class Layer:
    """One layer being lowered; everything is computed in `dtype`, f32 at least."""

    def __init__(self, build, op):
        self.build, self.op = build, op
        self.dtype = compute_dtype(op.x.dtype)
        self.scalar = Scalar(build, self.dtype)
        self.time, self.batch, _ = op.x.shape
        self.hidden = op.weight_hh.shape[1]
        self.state = TensorType((self.batch, self.hidden), self.dtype)

    def operand(self, name: str) -> TensorValue | None:
        value = getattr(self.op, name)
        return None if value is None else converted(self.build, value, self.dtype)

    def inputs(self, *biases: str) -> TensorValue:
        """x @ weight_ih.T plus biases, for all steps: (time, batch, gates * hidden)."""
        build, x, weight = self.build, self.operand("x"), self.operand("weight_ih")
        rows = TensorType((self.time * self.batch, x.shape[2]), self.dtype)
        flat = TensorValue(build.reshape(x.value, x.type, rows), rows, x.constant)
        type = TensorType((rows.shape[0], weight.shape[0]), self.dtype)
        product = TensorValue(multiply(build, flat, weight, type, columns=True), type)
        for bias in filter(None, map(self.operand, biases)):
            product = TensorValue(build.elementwise([product, bias], type, self.scalar.add), type)
        result = TensorType((self.time, self.batch, weight.shape[0]), self.dtype)
        return TensorValue(build.reshape(product.value, type, result), result)

    def recurrent_product(self, first: Size, rows: Size) -> Callable[[ir.Value], TensorValue]:
        """A function that multiplies a state with `rows` rows of weight_hh from `first`; packing is done here, outside of the loop."""
        build, weight = self.build, self.operand("weight_hh")
        part = TensorType((rows, self.hidden), self.dtype)
        if part != weight.type:
            weight = TensorValue(build.extract_slice(weight, (first, 0), part, (1, 1)), part, weight.constant)
        packed = pack_weight(build, weight, columns=True)
        type = TensorType((self.batch, rows), self.dtype)

        def product(state: ir.Value) -> TensorValue:
            return TensorValue(multiply(build, TensorValue(state, self.state), weight, type, columns=True, packed=packed), type)
        return product

    def initial(self, name: str) -> ir.Value:
        value = self.operand(name)
        return self.build.filled(self.state, self.scalar.const(0)) if value is None else value.value

    def run(self, states: Sequence[str], step: Callable) -> tuple[ir.Value, ...]:
        """``step(t, *states)`` gives the new states. Results y and the last states, in the op's dtype."""
        build = self.build
        y = TensorType((self.time, self.batch, self.hidden), self.dtype)
        time, one = build.extent(self.time), build.const_index(1)

        def body(index, y_value, *old):
            t = arith.SubIOp(arith.SubIOp(time, one).result, index).result if self.op.reverse else index
            new = step(t, *old)
            return [self._store(y_value, self._visible(t, new[0]), t), *new]
        start = [build.filled(y, self.scalar.const(0)), *map(self.initial, states)]
        results = build.loop(build.const_index(0), time, body, start)
        results[0].owner.attributes["om.fixed_sizes"] = ir.UnitAttr.get()
        types = [y, *[self.state] * len(states)]
        return tuple(converted(build, TensorValue(v, t), self.op.x.dtype).value for v, t in zip(results, types))

    def _store(self, y: ir.Value, state: ir.Value, t: ir.Value) -> ir.Value:
        row = TensorType((1, self.batch, self.hidden), self.dtype)
        return self.build.insert_slice(self.build.reshape(state, self.state, row), row, y, (t, 0, 0))

    def _visible(self, t: ir.Value, state: ir.Value) -> ir.Value:
        """The state, zero for samples that have ended."""
        if self.op.sequence_lens is None:
            return state
        body = lambda h: self.scalar.select(self.alive(t), h, self.scalar.const(0))
        return self.build.elementwise([TensorValue(state, self.state)], self.state, body)

    # Within a body over (batch, hidden).
    def alive(self, t: ir.Value) -> ir.Value:
        """Whether the sample has not ended at step t."""
        length = self.build.read(self.op.sequence_lens, [linalg.IndexOp(0).result])
        return arith.CmpIOp(arith.CmpIPredicate.slt, t, arith.IndexCastOp(self.build.index, length).result).result

    def gate(self, source: TensorValue, number: int, t: ir.Value | None = None) -> ir.Value:
        """The element of gate `number` of a product (at step t), or of a vector with all gates."""
        build = self.build
        place = arith.AddIOp(linalg.IndexOp(1).result, build.size(self.hidden * number)).result
        if source.rank == 1:
            return build.read(source, [place])
        return build.read(source, [*([] if t is None else [t]), linalg.IndexOp(0).result, place])

    def update(self, t: ir.Value, states: Sequence[ir.Value], body: Callable) -> list[ir.Value]:
        """New states from `body(*old elements)`, in place; those of samples that have ended stay."""
        def keep_ended(*old):
            new = body(*old)
            if self.op.sequence_lens is None:
                return new
            alive = self.alive(t)
            return [self.scalar.select(alive, n, o) for n, o in zip(new, old)]
        identity = ir.AffineMap.get_identity(2)
        return self.build.generic_many([], [], list(states), [identity] * len(states), keep_ended, [PARALLEL] * 2)

    def activation(self, name: str) -> Callable[[ir.Value], ir.Value]:
        """The activation of its argument limited to [-clip, clip]."""
        scalar, clip = self.scalar, self.op.clip
        function = lambda x: ACTIVATIONS[name](scalar, x)
        if clip is None:
            return function
        return lambda x: function(scalar.minimum(scalar.maximum(x, scalar.const(-clip)), scalar.const(clip)))


def _sigmoid(s, x):
    one = s.const(1)
    return arith.DivFOp(one, s.add(one, math.ExpOp(s.negative(x)).result)).result


def _softplus(s, x):
    """log(1 + exp(x)) without overflow."""
    rest = math.Log1pOp(math.ExpOp(s.negative(math.AbsFOp(x).result)).result).result
    return s.add(s.maximum(x, s.const(0)), rest)


def _hard_sigmoid(s, x):
    line = s.add(s.multiply(x, s.const(0.2)), s.const(0.5))
    return s.minimum(s.maximum(line, s.const(0)), s.const(1))


def _where_positive(s, x, otherwise):
    return s.select(s.compare("gt", x, s.const(0)), x, otherwise)


ACTIVATIONS = {
    "tanh": lambda s, x: math.TanhOp(x).result,
    "relu": lambda s, x: s.maximum(x, s.const(0)),
    "sigmoid": _sigmoid,
    "hard_sigmoid": _hard_sigmoid,
    "softsign": lambda s, x: arith.DivFOp(x, s.add(s.const(1), math.AbsFOp(x).result)).result,
    "softplus": _softplus,
    "elu": lambda s, x: _where_positive(s, x, math.ExpM1Op(x).result),
    "leaky_relu": lambda s, x: _where_positive(s, x, s.multiply(x, s.const(0.01))),
}


@lowers(om.RnnLayer)
def rnn_layer(build, op):
    layer = Layer(build, op)
    inputs, product = layer.inputs("bias_ih", "bias_hh"), layer.recurrent_product(0, layer.hidden)
    activation = layer.activation(op.activation)

    def step(t, h):
        b = product(h)
        return layer.update(t, [h], lambda _: [activation(layer.scalar.add(layer.gate(inputs, 0, t), layer.gate(b, 0)))])
    return layer.run(["initial_h"], step)


@lowers(om.LstmLayer)
def lstm_layer(build, op):
    layer = Layer(build, op)
    s, inputs = layer.scalar, layer.inputs("bias_ih", "bias_hh")
    product, peephole = layer.recurrent_product(0, 4 * layer.hidden), layer.operand("peephole")
    gate, cell_input = layer.activation(op.gate_activation), layer.activation(op.activation)

    def peep(number, c, value):
        return value if peephole is None else s.add(value, s.multiply(layer.gate(peephole, number), c))

    def step(t, h, c):
        b = product(h)

        def cell(_, c):
            i, f, g, o = (s.add(layer.gate(inputs, n, t), layer.gate(b, n)) for n in range(4))
            i = gate(peep(0, c, i))
            f = s.subtract(s.const(1), i) if op.input_forget else gate(peep(2, c, f))
            c = s.add(s.multiply(f, c), s.multiply(i, cell_input(g)))
            return [s.multiply(gate(peep(1, c, o)), ACTIVATIONS[op.hidden_activation](s, c)), c]
        return layer.update(t, [h, c], cell)
    return layer.run(["initial_h", "initial_c"], step)


@lowers(om.GruLayer)
def gru_layer(build, op):
    layer = Layer(build, op)
    s, inputs, bias = layer.scalar, layer.inputs("bias_ih"), layer.operand("bias_hh")
    gate, candidate = layer.activation(op.gate_activation), layer.activation(op.activation)
    gates = layer.recurrent_product(0, (3 if op.linear_before_reset else 2) * layer.hidden)
    last = None if op.linear_before_reset else layer.recurrent_product(2 * layer.hidden, layer.hidden)

    def biased(value, number):
        return value if bias is None else s.add(value, layer.gate(bias, number))

    def opened(t, b, number):
        """The reset gate (0) or the update gate (1)."""
        return gate(s.add(layer.gate(inputs, number, t), biased(layer.gate(b, number), number)))

    def reset_state(t, b, h):
        return build.elementwise([TensorValue(h, layer.state)], layer.state, lambda old: s.multiply(opened(t, b, 0), old))

    def step(t, h):
        b = gates(h)
        reset = None if last is None else last(reset_state(t, b, h))

        def cell(old):
            z = opened(t, b, 1)
            n = biased(layer.gate(b, 2), 2) if reset is None else biased(layer.gate(reset, 0), 2)
            n = s.multiply(opened(t, b, 0), n) if reset is None else n
            n = candidate(s.add(layer.gate(inputs, 2, t), n))
            return [s.add(s.multiply(s.subtract(s.const(1), z), n), s.multiply(z, old))]
        return layer.update(t, [h], cell)
    return layer.run(["initial_h"], step)
