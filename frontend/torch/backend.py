"""The backend "onemlir" of torch.compile: inference graphs run as sessions; what cannot be recorded runs in torch, with a message."""
from __future__ import annotations

import warnings

import torch

from ...errors import OnemlirError, TraceError
from ..axis import Axis

UNBOUNDED = 2**31  # what torch gives as a size's upper bound when it knows none is above this


def compile_backend(graph_module: torch.fx.GraphModule, example_inputs):
    """For ``torch.compile(model, backend="onemlir")``: a function of the graph's inputs that gives its outputs.

    Sizes that torch holds dynamic (``dynamic=True``, ``mark_dynamic``, a second size of the same axis) are symbolic axes of one session.
    """
    reason = unsuitable(graph_module, example_inputs)
    if reason is None:
        try:
            return CompiledGraph(graph_module, example_inputs)
        except Exception as error:  # whatever it is, torch can run the graph
            reason = f"{type(error).__name__}: {error}"
    warnings.warn(f"onemlir leaves this graph to torch: {reason}", stacklevel=2)
    return graph_module.forward


def unsuitable(graph_module, example_inputs) -> str | None:
    """Why a graph is not for us, if it is not."""
    tensors = [*(t for t in example_inputs if isinstance(t, torch.Tensor)), *graph_module.parameters()]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return "it computes gradients; call the model under torch.no_grad()"
    return None


class CompiledGraph:
    """The graph as a session of its tensors besides the weights; made anew when other or changed weights come.

    What the graph changes in place among its inputs (`changed`, by number) are further outputs of the session, which each call copies back.
    """

    def __init__(self, graph_module, example_inputs):
        self.graph_module = graph_module
        nodes = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
        self.placeholders = [node.meta.get("example_value") for node in nodes]
        self.kinds = [kind_of(value, node) for value, node in zip(example_inputs, nodes)]
        self.axes = [axes_of(meta) for meta, kind in zip(self.placeholders, self.kinds) if kind == "input"]
        self.key, self.weights, self.traced = None, None, None
        try:
            self.prepare(example_inputs)  # what cannot be compiled is found here, not at the first call
        except OnemlirError:
            if not any(axis for axes in self.axes for axis in axes):
                raise
            self.axes = [(None,) * len(axes) for axes in self.axes]  # it holds for these sizes: a session for each
            self.prepare(example_inputs)

    def __call__(self, *inputs):
        self.prepare(inputs)
        tensors = self.of_kind("input", inputs)
        if self.changed and overlap(tensors):
            return self.graph_module(*inputs)
        outputs = self.traced(*tensors)
        for number, value in zip(self.changed, outputs[len(self.size_outputs):]):
            tensors[number].copy_(value)
        return tuple(int(o) if is_size else o for o, is_size in zip(outputs, self.size_outputs))

    def of_kind(self, kind: str, inputs) -> list:
        return [value for value, found in zip(inputs, self.kinds) if found == kind]

    def prepare(self, inputs) -> None:
        weights = self.of_kind("weight", inputs)
        numbers = self.of_kind("number", inputs)
        fixed = [tuple(int(s) for s, axis in zip(t.shape, axes) if axis is None) for t, axes in zip(self.of_kind("input", inputs), self.axes)]
        key = *((id(t), t._version) for t in weights), *(t.item() for t in numbers), *fixed
        if self.key != key:
            self.traced = self.recorded(weights, [t.clone() for t in numbers], inputs)
            self.key, self.weights = key, weights  # kept, so that no other tensor gets their identities

    def recorded(self, weights, numbers, inputs):
        """The traced model of the graph with these weights and numbers, recorded on zeros of the shapes of the other inputs, and compiled."""
        from ...traced import trace

        examples = [torch.zeros(example_shape(t, axes), dtype=t.dtype) for t, axes in zip(self.of_kind("input", inputs), self.axes)]

        def program(*tensors):
            places = [t._place for t in tensors]
            outputs = self.graph_module(*self.arguments(weights, numbers, tensors, inputs))
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            self.size_outputs = [isinstance(o, torch.SymInt) for o in outputs]
            if any(t._place is not place for t, place in zip(tensors, places)):
                raise TraceError("the shape of an input is changed in place")
            self.changed = [i for i, place in enumerate(places) if place.cell.version]
            return *(torch.tensor(o) if isinstance(o, torch.SymInt) else o for o in outputs), *(tensors[i] for i in self.changed)

        traced = trace(program, *examples, axes=dict(zip(input_names(len(examples)), self.axes)), check=False)
        traced._session = traced.session()
        return traced

    def arguments(self, weights, numbers, tensors, inputs) -> list:
        """The graph's arguments in order; a size is that of the axis of its name, or what it is now."""
        sizes = {str(axis): tensor.shape[place] for tensor, axes in zip(tensors, self.axes) for place, axis in enumerate(axes) if axis is not None}
        given = {"weight": iter(weights), "number": iter(numbers), "input": iter(tensors)}
        return [next(given[kind]) if kind in given else sizes[str(meta)] if str(meta) in sizes else int(now)
                for kind, meta, now in zip(self.kinds, self.placeholders, inputs)]


def overlap(tensors) -> bool:
    """Whether some of the tensors may share memory."""
    return len({t.untyped_storage().data_ptr() for t in tensors}) < len(tensors)


def input_names(count: int) -> list[str]:
    """The names that `trace` gives the inputs of ``program(*tensors)``."""
    return [f"tensors_{i}" for i in range(count)]


def kind_of(value, node) -> str:
    """What an input of a graph is: a weight, a Python float (torch makes it a tensor of which it takes the item), another tensor, or a symbolic size."""
    if isinstance(value, torch.nn.Parameter):
        return "weight"
    if isinstance(value, torch.Tensor):
        is_number = value.ndim == 0 and value.dtype == torch.float64 and node.users and all(user.target == "item" for user in node.users)
        return "number" if is_number else "input"
    if isinstance(value, (torch.SymInt, int)):
        return "size"
    raise TypeError(f"an input of type {type(value).__name__}")


def axes_of(tensor) -> tuple:
    """An axis per symbolic size of a placeholder, None where the size is fixed."""
    return tuple(axis_of(s) if isinstance(s, torch.SymInt) else None for s in tensor.shape)


def axis_of(size: torch.SymInt) -> Axis | None:
    """The axis of a symbolic size, with the range that torch guards; None for one that is a number."""
    expression = size.node.expr
    if expression.is_number:
        return None
    if not expression.is_Symbol:
        raise ValueError(f"the size {expression} of an input is computed from others")
    known = size.node.shape_env.var_to_range.get(expression)
    low, high = (int(known.lower), known.upper) if known is not None else (0, None)
    return Axis(str(expression), min=max(low, 0), max=int(high) if high is not None and high.is_finite and high < UNBOUNDED else None)


def example_shape(tensor, axes) -> tuple[int, ...]:
    """The sizes of an input in the first call."""
    return tuple(int(s) if axis is None else s.node.hint if isinstance(s, torch.SymInt) else s for s, axis in zip(tensor.shape, axes))
