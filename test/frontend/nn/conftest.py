"""Random inputs, and running a recording with the reference interpreter."""
import numpy as np
import pytest

from onemlir.dialect.interpreter import Interpreter
from onemlir.frontend import tracer
from onemlir.frontend.tensor import Tensor


def leaves(value) -> list:
    """Arrays in nested tuples of tensors of ours or torch's, without None."""
    if value is None:
        return []
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in leaves(item)]
    return [value.numpy() if isinstance(value, Tensor) else value.detach().numpy()]


@pytest.fixture
def arrays_of():
    return leaves


@pytest.fixture
def record_and_run():
    """record(function, examples, axes) gives a function of arrays that runs the recording through the interpreter."""
    def record(function, examples, axes):
        traced = tracer.record(function, [Tensor(e) for e in examples], {}, axes, "error", {})
        program = getattr(traced, "program", traced)

        def run(*arrays):
            with program.context:
                return Interpreter(program.weights).run(program.main, arrays)
        run.program = program
        return run
    return record


@pytest.fixture
def make_input():
    """An array for a description: a shape (normal floats), or (shape, "int", count) for integers below count."""
    def make(description, seed=0):
        rng = np.random.default_rng(seed)
        if isinstance(description, np.ndarray):
            return description
        if len(description) == 3 and description[1] == "int":
            return rng.integers(0, description[2], description[0])
        return rng.standard_normal(description).astype(np.float32)
    return make


@pytest.fixture
def randomize():
    """Other values than the defaults, some of which (ones, zeros) would hide errors, for a torch module's parameters and statistics."""
    def change(peer):
        import torch

        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for name, tensor in [*peer.named_parameters(), *peer.named_buffers()]:
                if tensor.is_floating_point() and (tensor.ndim < 2 or "in_proj" in name):
                    tensor.copy_(torch.rand(tensor.shape, generator=generator) * 0.8 + 0.3)
        return peer
    return change
