"""Torch's own samples of its core ATen ops (OpInfo), run through a recording and by torch."""
from __future__ import annotations

import sys
import types
import unittest

import numpy as np
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

import onemlir as om

sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))  # torch's test code imports it; it is not needed here
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

UNDEFINED = ("empty", "rand", "normal", "bernoulli", "multinomial", "dropout", "native_dropout_backward")  # results are arbitrary
TIED = ("topk", "sort")  # which of equal elements comes first is torch's choice: values are compared alone


def core_names() -> set[str]:
    """Names of ATen ops that have an overload with torch's tag `core`."""
    packets = {name: getattr(torch.ops.aten, name) for name in dir(torch.ops.aten)}
    packets = {name: p for name, p in packets.items() if isinstance(p, torch._ops.OpOverloadPacket)}
    return {name for name, p in packets.items() if any(torch.Tag.core in getattr(p, o).tags for o in p.overloads())}


def core_ops() -> list:
    """torch's OpInfos of the core ops, found by their name or by the ATen name that they give."""
    core = {name.strip("_") for name in core_names()}
    names = lambda op: {name.strip("_") for name in (op.name.replace(".", "_"), op.name.rpartition(".")[2], op.aten_name)}
    return [op for op in op_db if names(op) & core and not any(word in op.name for word in UNDEFINED)]


def samples_of(op, dtype, count: int) -> list:
    """A few of an op's samples, spread over all that torch has."""
    torch.manual_seed(0)
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    if len(samples) <= count:
        return samples
    return [samples[round((i + 0.5) * (len(samples) - 1) / count)] for i in range(count)]


def outcome(op, sample, run, as_method: bool = False) -> str:
    """"right", "refused" (UnsupportedOpError or TraceError), or "skipped" for what torch refuses or the dialect has no dtype for.

    run(traced, arrays): the outputs of a recording. as_method: the op is called as a method of the first tensor, where it is one.
    AssertionError where they differ; any other error is one of the recorder.
    """
    arguments, named = (sample.input, *sample.args), dict(sample.kwargs)
    function = (op.method_variant if as_method else None) or op.op
    inputs = [t for t in tree_leaves((arguments, named)) if isinstance(t, torch.Tensor)]

    def program(*tensors):
        rest = iter(tensors)
        args, kwargs = tree_map_only(torch.Tensor, lambda t: next(rest), (arguments, named))
        return function(*args, **kwargs)

    try:
        expected = [t for t in tree_leaves(program(*(t.clone() for t in inputs))) if isinstance(t, torch.Tensor)]
    except (RuntimeError, ValueError, IndexError):
        return "skipped"
    if not inputs or not expected or any(t.is_complex() or t.layout != torch.strided for t in (*inputs, *expected)):
        return "skipped"
    try:
        traced = om.trace(program, *(t.clone() for t in inputs), check=False)
    except (om.UnsupportedOpError, om.TraceError) as error:
        assert __file__ in str(error), f"the error names no line: {error}"
        return "refused"
    compare(run(traced, [t.numpy() for t in inputs]), expected, 1 if op.name in TIED else None)
    return "right"


def compare(found, expected, count: int | None) -> None:
    """AssertionError where the first `count` outputs differ in shape, dtype or value."""
    assert len(found) == len(expected)
    for ours, theirs in list(zip(found, expected))[:count]:
        ours = np.asarray(ours)
        assert ours.shape == tuple(theirs.shape) and ours.dtype == theirs.numpy().dtype, (ours.shape, ours.dtype, theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-4, atol=1e-5)
