"""`onemlir bisect` finds a pass that is made wrong on purpose."""
import os

import numpy as np
import pytest
from mlir import ir

import onemlir as om
from onemlir import nn
from onemlir.cli.bisect import bisect, optional_passes
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


@pytest.mark.parametrize("after", ["om-simplify", "om-dce"])
def test_a_wrong_pass_on_om(model, register, after):
    def approximate(module):
        for op in om.dialect.walk(module):
            if op.operation.name == "om.gelu":
                op.operation.attributes["approximate"] = ir.StringAttr.get("tanh")

    register("wrong-gelu", approximate, after=after)
    culprit, trials = bisect(model.program, INPUTS, 1e-6, 1e-7)
    assert "'wrong-gelu'" in culprit and len(trials) <= 2 + len(optional_passes()).bit_length()


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
