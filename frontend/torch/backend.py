"""The backend "onemlir" of torch.compile: inference graphs run as sessions; what cannot be recorded runs in torch, with a message."""
from __future__ import annotations

import warnings

import torch


def compile_backend(graph_module: torch.fx.GraphModule, example_inputs):
    """For ``torch.compile(model, backend="onemlir")``: a function of the graph's inputs that gives its outputs."""
    reason = unsuitable(graph_module, example_inputs)
    if reason is None:
        try:
            return compiled(graph_module, example_inputs)
        except Exception as error:  # whatever it is, torch can run the graph
            reason = f"{type(error).__name__}: {error}"
    warnings.warn(f"onemlir leaves this graph to torch: {reason}", stacklevel=2)
    return graph_module.forward


def unsuitable(graph_module, example_inputs) -> str | None:
    """Why a graph is not for us, if it is not."""
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors_of(graph_module, example_inputs)):
        return "it computes gradients; call the model under torch.no_grad()"
    if any(not isinstance(t, torch.Tensor) for t in example_inputs):
        return "it has symbolic sizes as inputs; use torch.compile(..., dynamic=False)"
    return None


def tensors_of(graph_module, example_inputs) -> list[torch.Tensor]:
    return [*(t for t in example_inputs if isinstance(t, torch.Tensor)), *graph_module.parameters()]


def compiled(graph_module, example_inputs):
    """The graph as a session of what it takes besides the weights; made anew when other or changed weights come."""
    is_weight = [isinstance(t, torch.nn.Parameter) for t in example_inputs]
    made: dict = {}

    def run(*inputs):
        weights = [t for t, known in zip(inputs, is_weight) if known]
        key = tuple((id(t), t._version) for t in weights)
        if key not in made:
            made.clear()
            made[key] = weights, recorded(graph_module, inputs, is_weight)
        return made[key][1](*(t for t, known in zip(inputs, is_weight) if not known))

    made[tuple((id(t), t._version) for t, known in zip(example_inputs, is_weight) if known)] = (
        [*example_inputs], recorded(graph_module, example_inputs, is_weight))  # what cannot be compiled is found here, not at the first call
    return run


def recorded(graph_module, inputs, is_weight):
    """The traced model of the graph with these weights, recorded on zeros of the shapes of the other inputs, and compiled."""
    from ...traced import trace

    weights = [t for t, known in zip(inputs, is_weight) if known]
    examples = [torch.zeros(tuple(map(int, t.shape)), dtype=t.dtype) for t, known in zip(inputs, is_weight) if not known]

    def program(*arguments):
        rest, fixed = iter(arguments), iter(weights)
        return graph_module(*(next(fixed) if known else next(rest) for known in is_weight))

    traced = trace(program, *examples)
    traced._session = traced.session()
    return traced
