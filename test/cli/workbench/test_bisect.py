"""`onemlir bisect` finds a pass that is made wrong on purpose."""
import os
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

import onemlir as om
from onemlir import nn, ops
from onemlir.cli.bisect import bisect, passes
from onemlir.cli.bisect.search import interpreted, run_first
from onemlir.lowering.registry import PASSES


@pytest.fixture
def model():
    om.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3)).trace(om.zeros((2, 4)), axes=("batch", None))


@pytest.fixture
def register():
    names = []

    def add(name, function, **place):
        om.lowering.register_pass(name, **place)(function)
        names.append(name)

    yield add
    for name in names:
        del PASSES[name]


INPUTS = {"input": np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)}


def test_sound_passes(model):
    culprit, trials = bisect(model.program, INPUTS, 1e-3, 1e-5)
    assert culprit is None and len(trials) == 1


@pytest.mark.parametrize("name, array, words", [
    ("input", np.zeros((3, 4)), "'input' has dtype float64, but the model takes float32"), ("input", np.zeros((3, 5), np.float32), "5"),
    ("x", INPUTS["input"], "missing: 'input'; unknown: 'x'"),
])  # fmt: skip
def test_inputs_that_a_session_refuses(model, monkeypatch, name, array, words):
    monkeypatch.setattr("onemlir.cli.bisect.search.interpreted", lambda *_: pytest.fail("something ran"))
    with pytest.raises(om.OnemlirError, match=words):
        bisect(model.program, {name: array}, 1e-3, 1e-5)


@pytest.mark.parametrize("after", ["om-simplify", "om-dce"])
def test_a_wrong_pass_on_om(model, register, after):
    def approximate(module):
        for op in om.dialect.walk(module):
            if op.operation.name == "om.gelu":
                op.operation.attributes["approximate"] = ir.StringAttr.get("tanh")

    register("wrong-gelu", approximate, after=after)
    culprit, trials = bisect(model.program, INPUTS, 1e-6, 1e-7)
    assert "'wrong-gelu'" in culprit and len(trials) <= 2 + len(passes()).bit_length()


def test_a_pass_that_ends_the_process(model, register):
    register("crash", lambda module: os.abort(), after="om-fuse-elementwise")
    culprit, trials = bisect(model.program, INPUTS, 1e-3, 1e-5)
    assert "'crash'" in culprit and "SIGABRT" in trials[0].failure


def test_a_pass_that_raises(model, register):
    def fail(module):
        raise KeyError("nothing")

    register("raises", fail, before="om-split-prepare")
    culprit, _ = bisect(model.program, INPUTS, 1e-3, 1e-5)
    assert "'raises'" in culprit


def subtract_what_is_added(module):
    """A miscompilation that every stage can have."""
    found = []

    def visit(operation):
        if operation.name == "arith.addf":
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in found:
        with ir.InsertionPoint(operation), operation.location:
            changed = ir.Operation.create("arith.subf", [operation.results[0].type], list(operation.operands)).results[0]
        operation.results[0].replace_all_uses_with(changed)
        operation.erase()


@pytest.mark.parametrize("name", ["om-to-linalg", "om-linalg-to-loops"])
def test_a_pass_that_cannot_be_left_out(model, monkeypatch, name):
    """The work of a necessary pass itself is wrong: it is named, not its neighbour."""
    sound = PASSES[name]

    def wrong(module):
        sound.apply(module)
        subtract_what_is_added(module)

    monkeypatch.setitem(PASSES, name, replace(sound, apply=wrong))
    culprit, _ = bisect(model.program, INPUTS, 1e-3, 1e-5)
    assert f"'{name}'" in culprit


LINALG = "om-to-linalg", "om-bufferize", "om-plan-memory", "om-expand-math"


def everywhere(traced, inputs):
    """No sound pass is blamed: what some prefixes of the pipeline leave gives the reference's outputs."""
    expected = interpreted(traced.program.module, traced.program, inputs)
    counts = [passes().index(name) + 1 for name in LINALG]
    return [str(t) for t in (run_first(traced.program, inputs, expected, count, 1e-3, 1e-3) for count in counts) if not t.good]


def test_every_dtype_is_executed():
    dtypes = [np.dtype(name) for name in ("float16", "int64", "uint8", "bool")] + [np.dtype(ml_dtypes.bfloat16)]
    arrays = [np.arange(6).reshape(2, 3).astype(dtype) for dtype in dtypes]
    traced = om.trace(lambda a, b, c, d, e: (ops.sort(a, axis=1), b - 1, c + c, d & d, e * 2), *map(om.tensor, arrays))
    assert everywhere(traced, dict(zip("abcde", arrays))) == []


def test_outputs_whose_size_the_data_decide():
    traced = om.trace(lambda x: (ops.nonzero(x), x + 1), om.tensor(np.float32([0, 1, 2, 0])))
    assert everywhere(traced, {"input": np.float32([3, 0, 0, 0])}) == []
