"""If, Loop and Scan: regions of the recording, or, where sequences are carried or a condition is known, plain graph without them."""
from __future__ import annotations

import numpy as np

from ...dialect import dtypes
from ...dialect.symbolic import symbols_of
from ...errors import FormatError, TraceError, UnsupportedOpError
from ..ops.declared import declared as om
from ..ops.joining import stack
from ..ops.repeating import flip
from ..ops.shape import moveaxis, slice_along, squeeze
from ..regions import build_for, build_if, build_while, inside, placeholder
from ..size_rules import literal
from ..symbolic_int import size_of
from ..tensor import Tensor
from .appended import with_lists, without_lists
from .registry import reads
from .sequence import run_body
from .shape import sizes_of
from .values import Missing, Sequence, Value

UNROLLED = 1024  # steps of a loop over sequences at most


def _plain(value: Value | None) -> bool:
    return value is not None and not isinstance(value, (Sequence, Missing))


def _tensors(values: list[Value]) -> list[Tensor]:
    """Tensors of what a body gives. TraceError for sequences, which no region gives."""
    if not all(map(_plain, values)):
        raise TraceError("a sequence is no result of a region")
    return [v.tensor for v in values]


@reads("If")
def read_if(node, ops):
    condition = node.value(0)
    sides = {name: (lambda name=name: run_body(node, node.subgraph(name), [], f"{name}/")) for name in ("then_branch", "else_branch")}
    if condition.array is not None:
        return tuple(sides["then_branch" if bool(condition.array.reshape(())) else "else_branch"]())
    shapes: dict[str, list] = {}
    try:
        return _both(node, condition, sides, shapes)
    except TraceError:
        if _one_element_each(shapes):
            return _both(node, condition, sides, dict(shapes))
        if node.recorder.choices is None:
            node.array(0)  # branches of different ranks: the condition must be known
            raise
        return _chosen(node, condition.tensor, sides)


def _both(node, condition: Value, sides, shapes: dict[str, list]) -> tuple:
    """The recorded If. `shapes` gets the shapes of what the branches give; where it has them, single elements get the higher rank."""
    wanted = [max(pair, key=len) for pair in zip(*shapes.values())]

    def branch(name):
        tensors = _tensors(sides[name]())
        shapes[name] = [sizes_of(t) for t in tensors]
        higher = [len(shape) > t.ndim for shape, t in zip(wanted, tensors)] or [False] * len(tensors)
        return [om.reshape(t, shape=wanted[i]) if grows else t for i, (t, grows) in enumerate(zip(tensors, higher))]

    return tuple(build_if(node.recorder, condition.tensor, lambda: branch("then_branch"), lambda: branch("else_branch"), strict=False))


def _one_element_each(shapes: dict[str, list]) -> bool:
    """Whether the branches differ in the ranks of single elements alone, as () and (1,) do."""
    pairs = list(zip(*shapes.values())) if len(shapes) == 2 else []
    different = [pair for pair in pairs if len(pair[0]) != len(pair[1])]
    return bool(different) and all(size == 1 for pair in different for shape in pair for size in shape)


def _chosen(node, condition: Tensor, sides):
    """One branch of an If whose branches give values of different ranks, with a check at run time that it is the one."""
    taken = node.recorder.choices.next()
    branch = "then_branch" if taken else "else_branch"
    found = om.reshape(condition, shape=()).astype(bool)
    text = f"{node}: the branches give values of different ranks; the model was read with the {branch}, since that fits the rest of it"
    depends = ", ".join(sorted(node.value(0).depends))
    advice = f". Read it with other shapes= or constants= for {depends}" if depends else ""
    node.recorder.call("guard", node.recorder._as_node(found if taken else om.logical_not(found)), None, None, kind="GuardError",
                       message=literal(f"{text}, but the condition is {not taken}{advice}"))
    node.recorder.assume("branch", str(node), text)
    return tuple(sides[branch]())


# Loop.
@reads("Loop")
def read_loop(node, ops):
    carried = [node.inputs[i] for i in range(2, len(node.inputs))]
    if not all(map(_plain, carried)):
        unknown = node.has(0) and node.value(0).array is None or node.has(1) and node.value(1).array is None
        appending = without_lists(node, carried) if unknown else None
        if appending is not None:
            try:
                return with_lists(read_loop(appending[0], ops), appending[1])
            except (UnsupportedOpError, TraceError):
                pass  # elements of several shapes: the number of steps must be known
        return _unrolled(node, carried)
    return _Loop(node, carried).read()


class _Loop:
    """A loop whose carried values are tensors."""

    def __init__(self, node, carried: list[Value]):
        self.node, self.recorder = node, node.recorder
        self.carried = [node.graph.lifted(v) for v in carried]
        self.count = node.inputs[0]
        self.condition = node.inputs[1] if node.has(1) else Value(Tensor._wrap(np.asarray(True)))
        self.body = node.subgraph("body")
        self.depends = frozenset().union(*(v.depends for v in node.inputs if v is not None))

    def run(self, index: Value, condition: Value, carried) -> tuple[Value, list[Tensor], list[Tensor]]:
        """Condition, carried tensors and rows that the body gives."""
        values = [Value(t, depends=self.depends) for t in carried]
        condition, *results = run_body(self.node, self.body, [index, condition, *values], "body/")
        results = _tensors(results)
        return condition, results[:len(carried)], results[len(carried):]

    def read(self):
        known = self.condition.array is not None
        if known and not bool(self.condition.array.reshape(())):
            return self._empty()
        always, rows = self.probe(self.condition if known else None)
        if always and self.count is not None:
            return self.counted()
        return self.conditional(rows)

    def probe(self, condition: Value | None):
        """Whether the body goes on for ever by itself, and the types of its rows: found by recording it once in vain."""
        known_sizes = set(self.recorder.origins)
        written = [self.recorder._as_node(t).value.type for t in self.carried]
        with placeholder(self.recorder, "scf.while", [], [written]) as (block,), inside(self.recorder, block):
            arguments = [Tensor._recorded(self.recorder.node(v, t._node.type if t.is_recorded else self.recorder._as_node(t).type))
                         for v, t in zip(block.arguments, self.carried)]
            start = Value(self._zero())
            unknown = Value(om.equal(self._zero(), self._zero()))
            goes_on, _, rows = self.run(start, condition or unknown, arguments)
            always = goes_on.array is not None and bool(goes_on.array.reshape(()))
            outside = {name for name in self.recorder.origins if name in known_sizes}
            return always, [(self._row_shape(number, sizes_of(r), outside), r.dtype) for number, r in enumerate(rows)]

    def _row_shape(self, number: int, shape: tuple, known: set) -> tuple:
        """The shape of a row; a size that only the body knows must be fixed by the type of the body's output."""
        if all(s.name in known for size in shape for s in symbols_of(size)):
            return shape
        declared = self.body.output[1 + len(self.carried) + number].type.tensor_type.shape.dim
        sizes = [d.dim_value if d.HasField("dim_value") else None for d in declared]
        if len(sizes) != len(shape) or None in sizes:
            self.node.refuse(f"the shape of output {len(self.carried) + number} of the loop is not known before it runs")
        return tuple(sizes)

    def _zero(self) -> Tensor:
        return Tensor._recorded(self.recorder.from_size(0))

    def _empty(self):
        _, rows = self.probe(None)
        return (*self.carried, *(om.full(Tensor._wrap(np.zeros((), dtype)), shape=(0, *shape)) for shape, dtype in rows))

    def counted(self):
        count, = self.node.sizes(0)
        true = Value(Tensor._wrap(np.asarray(True)))

        def step(index, carried):
            return self.run(Value.sizes(np.array(size_of(index), object)), true, carried)[1:]

        results, rows = build_for(self.recorder, max(count, 0) if isinstance(count, int) else count, self.carried, step)
        return (*results, *rows)

    def conditional(self, rows):
        """``while (i < count and condition)``; rows are joined to what there is."""
        stacks = [om.full(Tensor._wrap(np.zeros((), dtype)), shape=(0, *shape)) for shape, dtype in rows]
        limit = None if self.count is None else om.reshape(self.node.tensor(0), shape=()).astype(dtypes.int64)
        first = om.reshape(self.condition.tensor, shape=())
        split = 2 + len(self.carried)

        def holds(values):
            return values[1] if limit is None else om.logical_and(values[1], values[0] < limit)

        def step(values):
            goes_on, carried, new = self.run(Value(values[0], depends=self.depends), Value(values[1], depends=self.depends), values[2:split])
            joined = [om.concat([old, om.reshape(row, shape=(1, *shape))], axis=0)
                      for old, row, (shape, _) in zip(values[split:], new, rows)]
            return [values[0] + 1, om.reshape(goes_on.tensor, shape=()), *carried, *joined]

        start = Tensor._wrap(np.asarray(0, np.int64))
        return tuple(build_while(self.recorder, [start, first, *self.carried, *stacks], holds, step)[2:])


def _unrolled(node, carried: list[Value]):
    """A loop that carries sequences: each step is read for itself, so the number of steps must be known."""
    count = node.ints(0)[0] if node.has(0) else UNROLLED
    goes_on = Value(Tensor._wrap(np.asarray(bool(node.array(1).reshape(())) if node.has(1) else True)))
    rows: list[list[Value]] = []
    for i in range(count):
        if goes_on.array is None:
            node.refuse("a loop over sequences whose end depends on data cannot be read")
        if not bool(goes_on.array.reshape(())):
            break
        if i >= UNROLLED:
            node.refuse(f"a loop over sequences of more than {UNROLLED} steps cannot be read")
        goes_on, *results = run_body(node, node.subgraph("body"), [Value(Tensor._wrap(np.asarray(i, np.int64))), goes_on, *carried], f"{i}/")
        carried, row = results[:len(carried)], results[len(carried):]
        rows.append(row)
    if not rows and node.output_count > len(carried):
        node.refuse("the rows of a loop over sequences without steps have no shape")
    return (*carried, *(stack([row[j].tensor for row in rows]) for j in range(node.output_count - len(carried))))


# Scan.
@reads("Scan", since=9)
def read_scan(node, ops):
    scanned = node.int("num_scan_inputs")
    states = node.tensors()[:len(node.inputs) - scanned]
    return _scan(node, states, node.tensors()[len(states):])


@reads("Scan", since=8)
def read_batched_scan(node, ops):
    """Version 8: each sample of the leading axis by itself."""
    if node.has(0):
        node.refuse("Scan of version 8 with lengths of its own for each sample cannot be read")
    scanned = node.int("num_scan_inputs")
    tensors = [node.tensor(i) for i in range(1, len(node.inputs))]
    batch = sizes_of(tensors[0])[0]
    if not isinstance(batch, int):
        node.refuse("Scan of version 8 needs a fixed batch axis")
    results = []
    for sample in range(node.steps(batch, "the samples")):
        parts = [squeeze(slice_along(t, 0, sample, 1), 0) for t in tensors]
        results.append(_scan(node, parts[:len(parts) - scanned], parts[len(parts) - scanned:]))
    return tuple(stack(column) for column in zip(*results))


def _scan(node, states: list[Tensor], inputs: list[Tensor]):
    body = node.subgraph("body")
    backward = node.ints_attribute("scan_input_directions", node.ints_attribute("directions", (0,) * len(inputs)))
    axes = node.ints_attribute("scan_input_axes", (0,) * len(inputs))
    outputs = len(body.output) - len(states)
    if outputs < 0 or len(backward) != len(inputs) or len(axes) != len(inputs):
        raise FormatError("the attributes or the body do not fit the number of inputs")
    rows = [moveaxis(x, axis, 0) if axis else x for x, axis in zip(inputs, axes)]
    count = sizes_of(rows[0])[0]
    depends = frozenset().union(*(v.depends for v in node.inputs if v is not None))

    def step(index, carried):
        place = size_of(index)
        items = [squeeze(slice_along(x, 0, count - 1 - place if back else place, 1), 0) for x, back in zip(rows, backward)]
        results = _tensors(run_body(node, body, [Value(t, depends=depends) for t in (*carried, *items)], "body/"))
        return results[:len(states)], results[len(states):]

    carried, stacked = build_for(node.recorder, count, states, step)
    directions = node.ints_attribute("scan_output_directions", (0,) * outputs)
    places = node.ints_attribute("scan_output_axes", (0,) * outputs)
    stacked = [flip(y, 0) if back else y for y, back in zip(stacked, directions)]
    return (*carried, *(moveaxis(y, 0, axis) if axis else y for y, axis in zip(stacked, places)))
