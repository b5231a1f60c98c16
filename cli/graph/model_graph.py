"""A model as nodes and edges; ops of modules below a chosen depth are folded into one node a module."""
from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from ...dialect.bindings import module_path

HIDDEN = ("om.parameter", "om.dim", "arith.constant")


@dataclass
class GraphNode:
    """An input, an op, a folded module, or an output. `numbers` are the places of its ops in the function."""

    label: str
    kind: str
    path: str = ""
    detail: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


@dataclass
class Graph:
    nodes: list[GraphNode] = field(default_factory=list)
    edges: dict[tuple[int, int], str] = field(default_factory=dict)
    """Label (the type of the value) by source and target."""


def depth_of(function: ir.Operation) -> int:
    """The number of levels that the module paths of a function have."""
    return max((len(parts(op.operation.location)) for op in function.regions[0].blocks[0].operations), default=0)


def parts(location: ir.Location) -> list[str]:
    """The module path of an op as a list of names."""
    path = module_path(location)
    return path.split(".") if path else []


def graph_of(function: ir.Operation, depth: int | None = None) -> Graph:
    """The graph of a function's top-level ops. depth: how many levels of modules are unfolded; None for all."""
    return _Folder(function, depth).graph


class _Folder:
    def __init__(self, function: ir.Operation, depth: int | None):
        self.graph, self.depth = Graph(), depth
        self._nodes: dict[str, int] = {}
        self._makers: dict[ir.Value, int] = {}
        block = function.regions[0].blocks[0]
        attributes = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else []
        names = [ir.DictAttr(a) for a in attributes]
        for number, argument in enumerate(block.arguments):
            given = number < len(names) and "om.name" in names[number]
            name = ir.StringAttr(names[number]["om.name"]).value if given else f"input {number}"
            self._makers[argument] = self._add(GraphNode(name, "input", detail=[short_type(argument.type)]))
        for number, operation in enumerate(op.operation for op in block.operations):
            self._operation(number, operation)

    def _add(self, node: GraphNode) -> int:
        self.graph.nodes.append(node)
        return len(self.graph.nodes) - 1

    def _operation(self, number: int, operation: ir.Operation) -> None:
        if operation.name in HIDDEN:
            return
        if operation.name == "func.return":
            target = self._add(GraphNode("output", "output", detail=[short_type(v.type) for v in operation.operands]))
        else:
            target = self._node_of(number, operation)
        for value in _used(operation):
            source = self._makers.get(value)
            if source is not None and source != target:
                self.graph.edges.setdefault((source, target), short_type(value.type))
        for result in operation.results:
            self._makers[result] = target

    def _node_of(self, number: int, operation: ir.Operation) -> int:
        path = parts(operation.location)
        name = operation.name.removeprefix("om.")
        if self.depth is None or len(path) <= self.depth:
            folded, node = False, self._add(GraphNode(name, "op", ".".join(path)))
        else:
            folded, key = True, ".".join(path[:self.depth + 1])
            if key not in self._nodes:
                self._nodes[key] = self._add(GraphNode(key, "module", key))
            node = self._nodes[key]
        self.graph.nodes[node].numbers.append(number)
        types = ", ".join(short_type(r.type) for r in operation.results)
        self.graph.nodes[node].detail.append(f"{name} -> {types}" if folded else types)
        return node


def _used(operation: ir.Operation) -> list[ir.Value]:
    """Operands of an op and of all ops inside it."""
    found = []

    def visit(inner):
        found.extend(inner.operands)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    return found


def short_type(type_: ir.Type) -> str:
    """``?x768 f32`` for ``tensor<?x768xf32>``."""
    if not isinstance(type_, ir.RankedTensorType):
        return str(type_)
    shaped = ir.RankedTensorType(type_)
    sizes = "x".join("?" if shaped.is_dynamic_dim(i) else str(shaped.get_dim_size(i)) for i in range(shaped.rank))
    return f"{sizes} {shaped.element_type}".strip()
