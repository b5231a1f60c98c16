"""The recorder: turns the ops of one run on an example into IR."""
from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import Any, Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import func

from ..dialect import bindings, symbolic
from ..dialect.build import create, mlir_type
from ..dialect.calling import common_dtype
from ..dialect.declare import Op, REGISTRY
from ..dialect.graph import GraphBuilder, Node
from ..dialect.interpreter import Interpreter
from ..dialect.program import Program
from ..dialect.shapes import size_policy, SizePolicy, TensorType
from ..dialect.symbolic import Dim, Size
from ..errors import FrozenValueWarning, OnemlirError, TraceError
from . import dispatch
from .locations import user_line, UserLine
from .symbolic_int import size_of, SymbolicInt, wrap
from .tensor import Tensor

SMALL = 16  # elements up to which a captured array is a literal in the IR


class RecordingPolicy(SizePolicy):
    """Sizes that must agree: an error when a named axis is forced, a run-time guard for anonymous axes."""

    def __init__(self, recorder: "Recorder"):
        self.recorder = recorder

    def require_equal(self, left: Size, right: Size, why: str) -> None:
        super().require_equal(left, right, why)
        self.recorder.require_size("eq", left, right, why)

    def require(self, holds, condition, why) -> None:
        super().require(holds, condition, why)
        if holds is None:
            self.recorder.require_size(*condition, why)


class Recorder(GraphBuilder):
    """Adds ops to the function ``@main`` of a new module. Use within `recording`; `finish` gives the program."""

    def __init__(self, on_read: str = "error"):
        if on_read not in ("error", "freeze", "guard"):
            raise OnemlirError(f"on_read must be 'error', 'freeze' or 'guard', found {on_read!r}")
        super().__init__(self._location)
        self.on_read = on_read
        self.context = bindings.new_context()
        self.unknown = ir.Location.unknown(self.context)
        with self.context, self.unknown:
            self.ir_module = ir.Module.create()
            with ir.InsertionPoint(self.ir_module.body):
                self.function = func.FuncOp("main", ir.FunctionType.get([], []))
            self.block = self.function.add_entry_block()
        self.weights: dict[str, np.ndarray] = {}
        self.parameter_names: dict[int, str] = {}
        self.versions: list[tuple[str, Tensor, int]] = []
        self.module_paths: dict[int, str] = {}
        self.lifted: dict[int, tuple[Tensor, Node]] = {}
        self.examples: dict[str, int] = {}
        self.inputs: list[tuple[str, np.ndarray, Sequence[str]]] = []
        self.assumptions: list[dict] = []
        self.path: list[str] = []
        self.blocks: list[ir.Block] = [self.block]  # the function's, then those of the regions that are being recorded
        self.has_regions = False
        self.user_line: UserLine | None = None
        self._warned: set = set()
        self._interpreter: Interpreter | None = None

    # Locations and errors.
    def _location(self) -> ir.Location:
        line = self.user_line or user_line()
        place = ir.Location.file(line.filename, line.line, 0, context=self.context)
        return ir.Location.name(".".join(self.path), place, context=self.context) if self.path else place

    def refuse(self, what: str, advice: str):
        """Raise TraceError for something that cannot be recorded, naming it, the user's line and the module."""
        where = f" in module '{'.'.join(self.path)}'" if self.path else ""
        raise TraceError(f"{what} cannot be recorded{where}, at {user_line()}\n  {advice}")

    # Inputs and captured tensors.
    def add_input(self, name: str, example: np.ndarray, axes: Sequence[str | None] | None) -> Tensor:
        """An argument of the function. `axes` names the axes whose size stays symbolic."""
        shape = []
        for size, axis in zip(example.shape, axes or [None] * example.ndim):
            if axis is None:
                shape.append(size)
                continue
            known = self.examples.setdefault(str(axis), size)
            if known != size:
                raise TraceError(f"axis '{axis}' is {known} in an earlier input but {size} in '{name}'")
            shape.append(axis_dim(axis))
        type = TensorType(tuple(shape), example.dtype)
        with self.context, self.unknown:
            value = self.block.add_argument(mlir_type(type), self.unknown)
        self.inputs.append((name, example, ["" if isinstance(s, int) else str(s) for s in shape]))
        return Tensor._recorded(self.node(value, type))

    def lift(self, tensor: Tensor) -> Node:
        """An eager tensor as a value of the graph: a parameter by its name, a literal when small, else a named constant."""
        found = self.lifted.get(id(tensor))
        if found is not None:
            return found[1]
        array = tensor._array
        name = self.parameter_names.get(id(tensor))
        if name is None and array.size <= SMALL:
            return self.constant(array.copy())
        if name is None:
            name, array = f"constant_{sum(k.startswith('constant_') for k in self.weights)}", array.copy()
            self.assume("captured", name, f"a tensor of shape {array.shape} from outside the recording")
        self.weights[name] = array
        self.versions.append((name, tensor, tensor._version))
        type = TensorType(tuple(array.shape), array.dtype)
        with self.outermost():
            operation = create(REGISTRY["om.parameter"], [], {"name": name}, [mlir_type(type)], (), self._location())
        node = self.node(operation.results[0], type)
        self.lifted[id(tensor)] = (tensor, node)
        return node

    def outermost(self) -> ir.InsertionPoint:
        """The place in the function's own block before the op whose region is being recorded."""
        if len(self.blocks) == 1:
            return ir.InsertionPoint(self.block)
        operation = self.blocks[1].owner
        while operation.operation.block != self.block:
            operation = operation.operation.parent
        return ir.InsertionPoint(operation)

    # Ops.
    def takes(self, operands: Sequence, attributes: Mapping[str, Any]) -> bool:
        """Whether a call belongs to this recording: an operand is recorded, or a size is symbolic."""
        return any(_is_recorded(o) for o in _each(operands)) or any(_is_recorded(v) for a in attributes.values() for v in _each(a))

    def apply(self, op: type[Op], operands: Sequence, attributes: Mapping[str, Any]):
        """Record one call of an op on tensors."""
        try:
            nodes = [self._as_node(o) for o in operands]
            outputs = self.emit(op, nodes, {k: _plain_attribute(v) for k, v in attributes.items()})
        except TraceError:
            raise
        except OnemlirError as error:
            where = f" in module '{'.'.join(self.path)}'" if self.path else ""
            raise type(error)(f"{error}{where}, at {user_line()}") from None
        if outputs is None:
            return None
        return tuple(map(Tensor._recorded, outputs)) if isinstance(outputs, tuple) else Tensor._recorded(outputs)

    def _as_node(self, value):
        value = value.symbolic_size if isinstance(value, SymbolicInt) else dispatch.normalize(value)
        if not isinstance(value, Tensor):
            return value
        if value._node is None:
            return self.lift(value)
        if value._node.builder is not self:
            raise TraceError(f"a tensor of another recording is used, at {user_line()}")
        self.check_inside(value._node)
        return value._node

    def check_inside(self, node: Node) -> None:
        """TraceError for a value that a body of control flow made, used outside of it."""
        if self.has_regions and block_of(node.value) not in self.blocks:
            raise TraceError(f"a tensor made in a branch or loop body is used outside of it, at {user_line()}\n  let the body return it")

    @contextmanager
    def module(self, module):
        """Ops recorded inside belong to this module."""
        path = self.module_paths.get(id(module))
        before = self.path
        self.path = [path] if path else before
        try:
            yield
        finally:
            self.path = before

    # Sizes.
    def sizes(self, shape: Sequence[Size]) -> tuple:
        return tuple(wrap(s, self) for s in shape)

    def example_size(self, size: Size) -> int:
        """The value of a size in the example."""
        def value_of(symbol):
            if symbol.name in self.examples:
                return self.examples[symbol.name]
            value, axis = self.origins[symbol.name]
            found = self.interpreter().value(value)
            return found if axis is None else found.shape[axis]
        return symbolic.evaluate(size, value_of)

    def read_size(self, what: str, answer, condition: tuple):
        """The rule for deciding on, or converting, a symbolic size. `condition` holds in the example."""
        kind, left, right = condition
        text = f"{left} {_SIGNS[kind]} {right}"
        if self.on_read == "error":
            self.refuse(f"{what} of the symbolic size {left}",
                        f"in the example {text}; a recording would be right for such sizes alone. Leave the axis unnamed to fix its size, "
                        "use on_read='guard' to check it on every run, or on_read='freeze'")
        self.assume("guarded size" if self.on_read == "guard" else "frozen size", text, text)
        if self.on_read == "guard":
            self.guard_size(kind, left, right, f"the recording assumes {text}, at {user_line()}")
        else:
            self.warn_frozen(text)
        return answer

    def require_size(self, kind: str, left: Size, right: Size, why: str) -> None:
        """A shape rule holds only if `left kind right`: an error for axes that the user named, else a guard."""
        symbols = symbolic.symbols_of(left) | symbolic.symbols_of(right)
        if kind == "eq" and any(not s.anonymous for s in symbols):
            forced = next(s for s in sorted(symbols) if not s.anonymous)
            sides = (left, right) if str(left) == forced.name else (right, left) if str(right) == forced.name else (left, right)
            raise TraceError(f"axis '{forced}' must be such that {sides[0]} equals {sides[1]}: {why}, at {user_line()}\n"
                             "  name both axes alike, or leave the axis unnamed so that its size is fixed")
        self.guard_size(kind, left, right, f"{why}, at {user_line()}", "ShapeError")

    def guard_size(self, kind: str, left: Size, right: Size, message: str, error: str = "GuardError") -> None:
        """Check a condition on sizes on every run, before other work."""
        predicate = self.call({"eq": "equal", "ne": "not_equal", "le": "less_equal"}[kind], self.from_size(left), self.from_size(right))
        self.call("guard", predicate, message=message, kind=error)

    # Reading data.
    def read(self, tensor: Tensor, what: str) -> np.ndarray:
        """The value of a recorded tensor, by the rule for reads: an error, or the example's value, frozen or guarded."""
        node = tensor._node
        owner = node.value.owner
        producer = "an input" if isinstance(owner, ir.Block) else owner.operation.name.removeprefix("om.")
        if block_of(node.value) != self.block:
            self.refuse(f"{what} of a tensor in the body of control flow", "the body runs when the model runs: decide with ops.where, ops.cond or ops.while_loop")
        if self.on_read == "error":
            self.refuse(f"{what} of a recorded tensor (the result of {producer}, {node.type})",
                        "its value is that of the example, another input may give another. Compute with tensors (ops.where), keep the decision "
                        "in the graph (ops.cond, ops.while_loop), or use on_read='guard' or 'freeze'")
        with size_policy(SizePolicy()):
            value = np.asarray(self.interpreter().value(node.value))
        text = f"{what}({producer}) is {np.array2string(value, threshold=8)}"
        self.assume("guarded value" if self.on_read == "guard" else "frozen value", what, text)
        if self.on_read == "guard":
            self._guard_value(node, value, what, producer)
        else:
            self.warn_frozen(text)
        return value

    def _guard_value(self, node: Node, value: np.ndarray, what: str, producer: str) -> None:
        if what == "bool":
            predicate = self.cast(node, bool)
            predicate = predicate if value.reshape(()) else self.call("logical_not", predicate)
            predicate = self.call("reshape", predicate, shape=())
        else:
            other = self.call("not_equal", node, self.lift(Tensor._wrap(value)))
            predicate = self.call("equal", self.call("sum", self.cast(other, np.int64)), 0)
        self.call("guard", predicate, kind="GuardError",
                  message=f"the recording assumes that {what}({producer}) is {np.array2string(value, threshold=8)}, at {user_line()}")

    def warn_frozen(self, text: str) -> None:
        """One FrozenValueWarning per line of the user's program."""
        line = user_line()
        if (line.filename, line.line) not in self._warned:
            self._warned.add((line.filename, line.line))
            warnings.warn(f"{line}\n  {text} in the example, and is taken as constant", FrozenValueWarning, stacklevel=2)

    def assume(self, kind: str, name: str, text: str) -> None:
        line = user_line()
        self.assumptions.append({"kind": kind, "name": name, "text": text, "line": f"{line.filename}:{line.line}"})

    def interpreter(self) -> Interpreter:
        """Computes values of the example."""
        if self._interpreter is None:
            self._interpreter = Interpreter(self.weights)
        for argument, (_, example, _) in zip(self.block.arguments, self.inputs):
            self._interpreter.values[argument] = example
        return self._interpreter

    # Changes in place.
    def set_item(self, tensor: Tensor, key, value) -> None:
        self.refuse("setitem (x[...] = ...)", "build a new tensor instead, for instance with ops.where")

    def update(self, tensor: Tensor, result: Tensor, function: str) -> Tensor:
        """``x += y`` rebinds the user's variable to the new value."""
        return result

    # The end.
    def finish(self, outputs: Sequence[tuple[str, Tensor]], structure=None) -> Program:
        """The program whose results are `outputs`."""
        nodes = [self._as_node(t) for _, t in outputs]
        func.ReturnOp([n.value for n in nodes], loc=self.unknown)
        argument_types = [a.type for a in self.block.arguments]
        function = self.function.operation
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(argument_types, [n.value.type for n in nodes]))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([_argument_attributes(name, dims) for name, _, dims in self.inputs])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"om.name": ir.StringAttr.get(name)}) for name, _ in outputs])
        from ..dialect.verify import check

        with size_policy(SizePolicy()):  # what the ops required is recorded already
            check(self.ir_module)
        return Program(self.ir_module, self.weights, structure, self.assumptions)


def block_of(value: ir.Value) -> ir.Block:
    """The block in which a value is defined."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


_SIGNS = {"eq": "==", "ne": "!=", "le": "<="}


def axis_dim(axis) -> Dim:
    """The symbolic size of a named axis: a name, or an object with `name`, `min`, `max`, `multiple_of`."""
    if isinstance(axis, str):
        return Dim.symbol(axis)
    return Dim.symbol(axis.name, minimum=axis.min, maximum=axis.max, multiple_of=axis.multiple_of)


def _argument_attributes(name: str, dims: Sequence[str]) -> ir.Attribute:
    attributes = {"om.name": ir.StringAttr.get(name)}
    if any(dims):
        attributes["om.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(d) for d in dims])
    return ir.DictAttr.get(attributes)


def _each(value) -> Sequence:
    return value if isinstance(value, (tuple, list)) else (value,)


def _is_recorded(value) -> bool:
    return isinstance(value, (SymbolicInt, Dim)) or (isinstance(value, Tensor) and value._node is not None)


def _plain_attribute(value):
    if isinstance(value, (tuple, list)):
        return tuple(_plain_attribute(v) for v in value)
    return size_of(value) if isinstance(value, SymbolicInt) else value


@contextmanager
def recording(recorder: Recorder):
    """Record the ops of this thread's program into `recorder`. TraceError inside another recording."""
    if dispatch.current_recorder() is not None:
        raise TraceError(f"a recording is under way already, at {user_line()}: record the inner model alone, or call it directly")
    dispatch.set_recorder(recorder)
    try:
        with recorder.context, recorder.unknown, ir.InsertionPoint(recorder.block), size_policy(RecordingPolicy(recorder)):
            yield recorder
    finally:
        dispatch.set_recorder(None)
