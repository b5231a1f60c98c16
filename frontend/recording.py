"""The recorder: turns the ops of one run on an example into IR."""
from __future__ import annotations

import warnings
from collections import Counter
from contextlib import contextmanager
from typing import Any, Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import func

from ..dialect import bindings, symbolic
from ..dialect.build import create, mlir_type
from ..dialect.declare import Op, REGISTRY
from ..dialect.graph import GraphBuilder, Node
from ..dialect.interpreter import Interpreter
from ..dialect.program import Program
from ..dialect.shapes import size_policy, SizePolicy, TensorType
from ..dialect.symbolic import Dim, Size
from ..errors import OnemlirError, TraceError
from . import dispatch, mutation, reading
from .arguments import argument_attributes, axis_range
from .locations import user_line, UserLine
from .size_rules import axis_dim, emit_check, emit_entry_checks, forced_axis_message, known_at_entry, literal, RecordingPolicy, SizeCheck
from .symbolic_int import size_of, SymbolicInt, wrap
from .tensor import Tensor

WEAK = ("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "negative", "abs")  # what Python computes of numbers
UNROLLED = 10_000  # ops from one line of which a warning says that a loop can be recorded as one
SMALL = 16  # elements up to which a captured array is a literal in the IR


class Scope:
    """Marks what is made in a recording, or in one body of control flow in it."""


class Recorder(GraphBuilder):
    """Adds ops to the function ``@main`` of a new module. Use within `recording`; `finish` gives the program."""

    def __init__(self, on_read: str = "error", replay: reading.Answers | None = None):
        if on_read not in reading.RULES:
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
        self.example_objects: dict[int, str] = {}
        self.lifted: dict[int, tuple[object, int, Node]] = {}
        self.examples: dict[str, int] = {}
        self.inputs: list[tuple[str, np.ndarray, Sequence[str]]] = []
        self.given_axes: list[list] = []
        self.ranges: dict[str, list[int]] = {}
        self.program: Program | None = None
        self.size_checks: list[SizeCheck] = []
        self.facts: dict[str, int] = {}  # sizes of axes that reads have frozen or guarded
        self.assumptions: list[dict] = []
        self.path: list[str] = []
        self.line_counts: Counter = Counter()
        self.blocks: list[ir.Block] = [self.block]  # the function's, then those of the regions that are being recorded
        self.scopes: list[Scope] = [Scope()]
        self.has_regions = False
        self.answers = reading.Answers(replay)
        self.warned: set = set()
        self.refusal: TraceError | None = None  # the last one; a program that has caught it is not what runs eagerly
        self.user_line: UserLine | None = None
        self._interpreter: Interpreter | None = None

    @property
    def scope(self) -> Scope:
        """The mark of what is made now."""
        return self.scopes[-1]

    # Locations and errors.
    def _location(self) -> ir.Location:
        line = self.user_line or user_line()
        self._count(line)
        place = ir.Location.file(line.filename, line.line, 0, context=self.context)
        return ir.Location.name(".".join(self.path), place, context=self.context) if self.path else place

    def _count(self, line: UserLine) -> None:
        """Warn once of a line that records so many ops for one module that it is the body of a Python loop, most likely."""
        key = (line.filename, line.line, *self.path)
        self.line_counts[key] += 1
        if self.line_counts[key] == UNROLLED and self.answers.replay is None:
            warnings.warn(f"{line}\n  {UNROLLED:,} operations are recorded from this line. A Python loop is recorded step by step, and compiling takes "
                          "as long as the loop has steps: ops.fori_loop, ops.scan and ops.while_loop record the body once", stacklevel=2)

    def refuse(self, what: str, advice: str):
        """Raise TraceError for something that cannot be recorded, naming it, the user's line and the module."""
        where = f" in module '{'.'.join(self.path)}'" if self.path else ""
        self.refusal = TraceError(f"{what} cannot be recorded{where}, at {user_line()}\n  {advice}")
        raise self.refusal

    # Inputs and captured tensors.
    def add_input(self, name: str, example: np.ndarray, axes: Sequence[str | None] | None) -> Tensor:
        """An argument of the function. `axes` names the axes whose size stays symbolic."""
        shape = []
        self.given_axes.append(list(axes or [None] * example.ndim))
        for size, axis in zip(example.shape, self.given_axes[-1]):
            if axis is None:
                shape.append(size)
                continue
            known = self.examples.setdefault(str(axis), size)
            if known != size:
                raise TraceError(f"axis '{axis}' is {known} in an earlier input but {size} in '{name}'")
            shape.append(axis_dim(axis))
            self.ranges.update(axis_range(axis, size, name, self.ranges))
        type = TensorType(tuple(shape), example.dtype)
        with self.context, self.unknown:
            value = self.block.add_argument(mlir_type(type), self.unknown)
        self.inputs.append((name, example, ["" if isinstance(s, int) else str(s) for s in shape]))
        return Tensor._recorded(self.node(value, type))

    def lift(self, tensor: Tensor) -> Node:
        """An eager tensor as a value of the graph: a parameter by its name, a literal when small, else a named constant."""
        version = mutation.root_of(tensor)._version
        found = self.lifted.get(id(tensor))
        if found is not None and found[1] == version:
            return found[2]
        name = self.parameter_names.get(id(tensor))
        if name is None:
            self._refuse_example(tensor)
        if name is None and tensor._array.size <= SMALL:
            if tensor._scope is None:
                self.assume("captured", "a tensor", f"a tensor with the elements {short_array(tensor._array)}")
            return self.constant(tensor._array.copy())
        if name is None:
            name, array = self._captured(tensor._array)
        else:
            array = tensor._array
            self.versions.append((name, tensor, version))
        self.weights[name] = array
        node = self._parameter(name, array)
        self.lifted[id(tensor)] = (tensor, version, node)
        return node

    def _refuse_example(self, value) -> None:
        """TraceError for the object that was given as an example, used in the program: its data would be constant."""
        if id(value) in self.example_objects:
            name = self.example_objects[id(value)]
            self.refuse(f"a use of the example that was given for '{name}'",
                        f"its data would be a constant of the recording: use the argument '{name}' in its place, or give a copy as the example")

    def _captured(self, array: np.ndarray) -> tuple[str, np.ndarray]:
        """A name and a copy of an array from outside; later changes of it do not change the model."""
        name = f"constant_{sum(k.startswith('constant_') for k in self.weights)}"
        self.assume("captured", name, f"a tensor of shape {array.shape} and dtype {array.dtype}")
        return name, np.ascontiguousarray(array).reshape(array.shape).copy()

    def _parameter(self, name: str, array: np.ndarray) -> Node:
        type = TensorType(tuple(array.shape), array.dtype)
        with self.outermost():
            operation = create(REGISTRY["om.parameter"], [], {"name": name}, [mlir_type(type)], (), self._location())
        return self.node(operation.results[0], type)

    def lift_array(self, array: np.ndarray):
        """A numpy array as an operand; a large one as a named constant, found again while its elements are the same."""
        found = self.lifted.get(id(array))
        self._refuse_example(array)
        if array.size <= SMALL:
            return array
        if found is not None and np.array_equal(self.weights[found[1]], array, equal_nan=array.dtype.kind in "fc"):
            return found[2]
        name, copy = self._captured(array)
        self.weights[name] = copy
        node = self._parameter(name, copy)
        self.lifted[id(array)] = (array, name, node)
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
        """Whether a call belongs to this recording: an operand is recorded or a named weight, or a size is symbolic."""
        for operand in operands:
            for value in _each(operand):
                if isinstance(value, Tensor) and value._view is not None:
                    mutation.refresh(value)
                if _is_recorded(value) or id(value) in self.parameter_names:
                    return True
        return any(_is_recorded(v) for a in attributes.values() for v in _each(a))

    def apply(self, op: type[Op], operands: Sequence, attributes: Mapping[str, Any]):
        """Record one call of an op on tensors."""
        try:
            nodes = [self._as_node(o) for o in operands]
            weak = op.opname in WEAK and all(map(_is_number, nodes))
            if weak:
                nodes = [Node(n.value, n.type, self) if isinstance(n, Node) else n for n in nodes]
            outputs = self.emit(op, nodes, {k: _plain_attribute(v) for k, v in attributes.items()})
        except TraceError:
            raise
        except OnemlirError as error:
            raise self.located(error) from None
        if outputs is None:
            return None
        if isinstance(outputs, tuple):
            return tuple(Tensor._recorded(o, self.scope) for o in outputs)
        outputs.weak = weak
        return self.computed(op, operands, attributes, Tensor._recorded(outputs, self.scope))

    def located(self, error: OnemlirError) -> OnemlirError:
        """The error with the module and the user's line."""
        where = f" in module '{'.'.join(self.path)}'" if self.path else ""
        return type(error)(f"{error}{where}, at {user_line()}")

    def computed(self, op: type[Op], operands: Sequence, attributes: Mapping[str, Any], result):
        """The result of an op; where it shares elements with its operand, the two are linked."""
        if op.qualified_name() in mutation.VIEWS:
            mutation.remember_view(op, operands, attributes, result)
        return result

    def _as_node(self, value):
        value = value.symbolic_size if isinstance(value, SymbolicInt) else dispatch.normalize(value)
        if isinstance(value, np.ndarray):
            return self.lift_array(value)
        if not isinstance(value, Tensor):
            return value
        if value._view is not None:
            mutation.refresh(value)
        if value._node is None:
            return self.lift(value)
        if value._node.builder is not self:
            raise TraceError(f"a tensor of another recording is used, at {user_line()}\n  a recorded tensor has no meaning outside of its recording: "
                             "do not keep it in a module, a global or a closure")
        if self.has_regions and self.defined_elsewhere(value._node):
            raise TraceError(f"a tensor made in a branch or loop body is used outside of it, at {user_line()}\n  let the body return it")
        return value._node

    def defined_elsewhere(self, node: Node) -> bool:
        """Whether a value is that of a body of control flow that is not being recorded."""
        return block_of(node.value) not in self.blocks

    def defined_inside(self, node: Node) -> bool:
        """Whether a value is that of a body of control flow."""
        return self.has_regions and block_of(node.value) != self.block

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
            if symbol.name not in self.origins or block_of(self.origins[symbol.name][0]) != self.block:
                self.refuse(f"the value of the size {symbol} of a body of control flow",
                            "the body runs when the model runs: compute with the size as a tensor")
            value, axis = self.origins[symbol.name]
            with size_policy(SizePolicy()):
                found = self.interpreter().value(value)
            return found if axis is None else found.shape[axis]
        return symbolic.evaluate(size, value_of)

    def read_size(self, what: str, answer, condition):
        """The rule for deciding on, or converting, a symbolic size; see `reading.read_size`."""
        return reading.read_size(self, what, answer, condition)

    def require_size(self, kind: str, left: Size, right: Size, why: str) -> None:
        """A shape rule holds only if `left kind right`: an error for axes that the user named, else a guard."""
        symbols = symbolic.symbols_of(left) | symbolic.symbols_of(right)
        implied = symbolic.equal(symbolic.substitute(left, self.facts), symbolic.substitute(right, self.facts))
        if kind == "eq" and not any(s.anonymous for s in symbols) and not implied:
            raise TraceError(forced_axis_message(left, right, why))
        self.guard_size(kind, left, right, literal(f"{why}, at {user_line()}"), "ShapeError")

    def guard_size(self, kind: str, left: Size, right: Size, message: str, error: str = "GuardError") -> None:
        """Check a condition on sizes on every run; where they are sizes of inputs, before any other work, unless a branch alone needs it."""
        check = SizeCheck(kind, left, right, message, error, None)
        if self.in_branch() or not known_at_entry(self, left, right):
            emit_check(self, check)
        elif check not in [SizeCheck(c.kind, c.left, c.right, c.message, c.error, None) for c in self.size_checks]:
            self.size_checks.append(SizeCheck(kind, left, right, message, error, user_line()))

    def in_branch(self) -> bool:
        """Whether the branch of a condition is being recorded: what it requires holds only where it is taken."""
        return any(block.owner.name == "scf.if" for block in self.blocks[1:])

    # Reading data.
    def read(self, tensor: Tensor, what: str) -> np.ndarray:
        """The value of a recorded tensor, by the rule for reads; see `reading.read_value`."""
        if dispatch.current_recorder() is not self:
            self.refusal = TraceError(f"{what} of a tensor outside of its recording, which has ended or is that of another thread; it has no data. "
                                      "Return it from the recorded function instead")
            raise self.refusal
        return reading.read_value(self, tensor, what)

    def assume(self, kind: str, name: str, text: str, line: UserLine | None = None) -> None:
        """Note something that the recording depends on, once."""
        line = line or user_line()
        entry = {"kind": kind, "name": name, "text": text, "line": f"{line.filename}:{line.line}"}
        if entry not in self.assumptions:
            self.assumptions.append(entry)

    def interpreter(self) -> Interpreter:
        """Computes values of the example."""
        if self._interpreter is None:
            self._interpreter = Interpreter(self.weights)
        for argument, (_, example, _) in zip(self.block.arguments, self.inputs):
            self._interpreter.values[argument] = example
        return self._interpreter

    # Changes in place.
    def set_item(self, tensor: Tensor, key, value) -> None:
        mutation.set_item(self, tensor, key, value)

    def update(self, tensor: Tensor, function: str, other) -> Tensor:
        return mutation.update(self, tensor, function, other)

    def refresh(self, tensor: Tensor) -> None:
        mutation.refresh(tensor)

    def copied(self, tensor: Tensor) -> Tensor:
        """A tensor of the same value that does not follow changes of the first."""
        return Tensor._recorded(self._as_node(tensor), self.scope)

    # The end.
    def finish(self, outputs: Sequence[tuple[str, Tensor]], structure=None) -> Program:
        """The program whose results are `outputs`, verified unless it is a repeat."""
        nodes = [self._as_node(t) for _, t in outputs]
        func.ReturnOp([n.value for n in nodes], loc=self.unknown)
        emit_entry_checks(self, self.size_checks)
        argument_types = [a.type for a in self.block.arguments]
        function = self.function.operation
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(argument_types, [n.value.type for n in nodes]))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([argument_attributes(name, dims, self.ranges) for name, _, dims in self.inputs])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"om.name": ir.StringAttr.get(name)}) for name, _ in outputs])
        from ..dialect.verify import check

        if self.answers.replay is None:
            with size_policy(SizePolicy()):  # what the ops required is recorded already
                check(self.ir_module)
        return Program(self.ir_module, self.weights, structure, self.assumptions)


def short_array(array: np.ndarray) -> str:
    """A few elements in one line."""
    return np.array2string(array, separator=", ", threshold=8).replace("\n", "")


def block_of(value: ir.Value) -> ir.Block:
    """The block in which a value is defined."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _each(value) -> Sequence:
    return value if isinstance(value, (tuple, list)) else (value,)


def _is_recorded(value) -> bool:
    return isinstance(value, (SymbolicInt, Dim)) or (isinstance(value, Tensor) and value._node is not None)


def _is_number(value) -> bool:
    """Whether an operand is a Python number, a size, or computed from such alone."""
    return isinstance(value, (int, float, Dim)) or (isinstance(value, Node) and value.weak)


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
        recorder.lifted.clear()
        recorder.ops = recorder.locate = None  # they refer back: weights and IR would stay until the collector comes
