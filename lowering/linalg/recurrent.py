"""Lowerings of recurrent layers: the inputs' product for all steps at once, then a loop over time.

One kernel runs all steps. A GRU that resets the state before its product needs two products a step: there the loop carries y and the states,
and a step is the products and passes over (batch, hidden) that compute the new states in place.
"""
from __future__ import annotations

from typing import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, math

from ...dialect.ops import recurrent as om
from ...dialect.shapes import TensorType
from ...dialect.symbolic import floordiv, Size
from ..kernels import build as b
from ..kernels.recurrent import emit_recurrent, RecurrentLayer, units_of_panel
from .builder import compute_dtype, element_type, PARALLEL
from .linear_algebra import multiply, operands, pack_weight, right_operand
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
        build, (x, weight) = self.build, operands(self.build, self.op.x, self.op.weight_ih, self.dtype)
        rows = TensorType((self.time * self.batch, x.shape[2]), x.dtype)
        flat = TensorValue(build.reshape(x.value, x.type, rows), rows, x.constant)
        type = TensorType((rows.shape[0], weight.shape[0]), self.dtype)
        product = TensorValue(multiply(build, flat, weight, type, columns=True), type)
        for bias in filter(None, map(self.operand, biases)):
            product = TensorValue(build.elementwise([product, bias], type, self.scalar.add), type)
        result = TensorType((self.time, self.batch, weight.shape[0]), self.dtype)
        return TensorValue(build.reshape(product.value, type, result), result)

    def recurrent_product(self, first: Size, rows: Size) -> Callable[[ir.Value], TensorValue]:
        """A function that multiplies a state with `rows` rows of weight_hh from `first`; packing is done here, outside of the loop."""
        build, weight = self.build, right_operand(self.build, self.op.weight_hh, self.dtype)
        part = TensorType((rows, self.hidden), weight.dtype)
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


class Vectors(Scalar):
    """The same instructions on vectors."""

    def __init__(self, build, dtype):
        super().__init__(build, dtype)
        element = element_type(compute_dtype(dtype))
        self.kind = b.vector_type(units_of_panel(element), element)

    def const(self, value) -> ir.Value:
        return b.splat(self.kind, float(value))


class Fused(Layer):
    """A layer whose steps one kernel runs: the product with weight_hh, then the cell on its sums."""

    def __init__(self, build, op):
        super().__init__(build, op)
        self.scalar = Vectors(build, self.dtype)
        self.outside = Layer(build, op)

    def packed_weight(self, gates: int) -> TensorValue:
        """weight_hh by units: [panels of units][steps][gate, unit], zero beyond the last unit."""
        build, weight = self.build, self.op.weight_hh
        element = element_type(self.dtype)
        lanes, hidden = units_of_panel(element), build.size(self.hidden)
        type = TensorType((floordiv(self.hidden + (lanes - 1), lanes), self.hidden, gates * lanes), weight.dtype)
        zero = build.constant(0, weight.dtype)

        def value(panel, step, place):
            width = build.const_index(lanes)
            unit = arith.AddIOp(arith.MulIOp(panel, width).result, arith.RemUIOp(place, width).result).result
            exists = arith.CmpIOp(arith.CmpIPredicate.ult, unit, hidden).result
            unit = arith.SelectOp(exists, unit, build.const_index(0)).result
            row = arith.AddIOp(arith.MulIOp(arith.DivUIOp(place, width).result, hidden).result, unit).result
            return arith.SelectOp(exists, build.read(weight, [row, step]), zero).result
        return TensorValue(build.gather(type, value), type)

    def run_cell(self, gates: int, states: Sequence[str], biases: Sequence[str], extra: Sequence[TensorValue], cell: Callable) -> tuple[ir.Value, ...]:
        """All steps; `cell(inputs, products, states, parts)` gives new states, `parts[i](n)` being part n of extra[i]."""
        build = self.build
        starts = [TensorValue(self.outside.initial(name), self.state) for name in states]
        lengths = [] if self.op.sequence_lens is None else [self.op.sequence_lens]
        y, scratch = (TensorType((size, self.batch, self.hidden), self.dtype) for size in (self.time, 2))

        def body(inputs, weight, *buffers):
            buffers = list(buffers)
            begin, length = [buffers.pop(0) for _ in starts], buffers.pop(0) if lengths else None
            more = [buffers.pop(0) for _ in extra]
            y_buffer, h, *lasts = buffers
            parts = lambda read: [lambda number, buffer=buffer: read(buffer, number) for buffer in more]
            layer = RecurrentLayer(gates, lambda xs, hs, old, read: cell(xs, hs, old, parts(read)), self.op.reverse)
            emit_recurrent(layer, inputs, weight, begin, length, h, y_buffer, lasts)
        results = [y, scratch, *[self.state] * len(states)]
        values = build.imperative([self.outside.inputs(*biases), self.packed_weight(gates), *starts, *lengths, *extra], results, body)
        return tuple(converted(build, TensorValue(v, t), self.op.x.dtype).value for v, t in zip(values, results) if t is not scratch)


@lowers(om.RnnLayer)
def rnn_layer(build, op):
    layer = Fused(build, op)
    activation = layer.activation(op.activation)

    def cell(xs, hs, old, parts):
        return [activation(layer.scalar.add(xs[0], hs[0]))]
    return layer.run_cell(1, ["initial_h"], ["bias_ih", "bias_hh"], [], cell)


@lowers(om.LstmLayer)
def lstm_layer(build, op):
    layer = Fused(build, op)
    s, peephole = layer.scalar, layer.operand("peephole")
    gate, cell_input = layer.activation(op.gate_activation), layer.activation(op.activation)

    def cell(xs, hs, old, parts):
        peep = lambda number, c, value: s.add(value, s.multiply(parts[0](number), c)) if parts else value
        i, f, g, o = map(s.add, xs, hs)
        c = old[1]
        i = gate(peep(0, c, i))
        f = s.subtract(s.const(1), i) if op.input_forget else gate(peep(2, c, f))
        c = s.add(s.multiply(f, c), s.multiply(i, cell_input(g)))
        return [s.multiply(gate(peep(1, c, o)), ACTIVATIONS[op.hidden_activation](s, c)), c]
    return layer.run_cell(4, ["initial_h", "initial_c"], ["bias_ih", "bias_hh"], [] if peephole is None else [peephole], cell)


@lowers(om.GruLayer)
def gru_layer(build, op):
    return _gru(Fused(build, op)) if op.linear_before_reset else _gru_reset_first(Layer(build, op))


def _gru(layer: Fused):
    """The reset gate applies to the product."""
    op, s, bias = layer.op, layer.scalar, layer.operand("bias_hh")
    gate, candidate = layer.activation(op.gate_activation), layer.activation(op.activation)

    def cell(xs, hs, old, parts):
        hs = [s.add(h, parts[0](number)) for number, h in enumerate(hs)] if parts else hs
        r, z = (gate(s.add(xs[number], hs[number])) for number in range(2))
        n = candidate(s.add(xs[2], s.multiply(r, hs[2])))
        return [s.add(s.multiply(s.subtract(s.const(1), z), n), s.multiply(z, old[0]))]
    return layer.run_cell(3, ["initial_h"], ["bias_ih"], [] if bias is None else [bias], cell)


def _gru_reset_first(layer: Layer):
    """The reset gate applies to the state, which is then multiplied with the candidate's part of the weight."""
    build, op = layer.build, layer.op
    s, inputs, bias = layer.scalar, layer.inputs("bias_ih"), layer.operand("bias_hh")
    gate, candidate = layer.activation(op.gate_activation), layer.activation(op.activation)
    gates, last = layer.recurrent_product(0, 2 * layer.hidden), layer.recurrent_product(2 * layer.hidden, layer.hidden)

    def biased(value, number):
        return value if bias is None else s.add(value, layer.gate(bias, number))

    def opened(t, b, number):
        """The reset gate (0) or the update gate (1)."""
        return gate(s.add(layer.gate(inputs, number, t), biased(layer.gate(b, number), number)))

    def step(t, h):
        b = gates(h)
        reset = build.elementwise([TensorValue(h, layer.state)], layer.state, lambda old: s.multiply(opened(t, b, 0), old))
        product = last(reset)

        def cell(old):
            z = opened(t, b, 1)
            n = candidate(s.add(layer.gate(inputs, 2, t), biased(layer.gate(product, 0), 2)))
            return [s.add(s.multiply(s.subtract(s.const(1), z), n), s.multiply(z, old))]
        return layer.update(t, [h], cell)
    return layer.run(["initial_h"], step)
