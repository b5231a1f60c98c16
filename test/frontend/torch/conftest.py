"""Recordings of torch programs against torch itself, run by the reference interpreter (or compiled, on request)."""
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install onemlir[torch]")

import onemlir as om  # noqa: E402
from onemlir.dialect.interpreter import Interpreter  # noqa: E402
from onemlir.dialect.shapes import size_policy, SizePolicy  # noqa: E402


def interpreted(traced, arrays) -> list[np.ndarray]:
    """The outputs of a recording by the ops' references."""
    with traced.program.context, size_policy(SizePolicy()):
        return Interpreter(traced.program.weights).run(traced.program.main, arrays)


def leaves(value) -> list:
    """Tensors of a result, in order."""
    from onemlir.frontend.torch.outputs import plain_outputs

    return [t for t in torch.utils._pytree.tree_leaves(plain_outputs(value)) if isinstance(t, torch.Tensor)]


def in_onnxruntime(traced, path):
    """The recording as an ONNX file, run by onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    traced.save_onnx(path)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options)
    return lambda arrays: session.run(None, dict(zip([i.name for i in session.get_inputs()], arrays)))


def assert_agrees(model, examples, axes=None, others=(), compiled=False, onnx=None, rtol=1e-4, atol=1e-5, **options):
    """Record on `examples`; compare with torch on them and on each of `others` (tuples of tensors of other sizes)."""
    traced = om.trace(model, *examples, axes=axes, **options)
    run = (lambda arrays: list(traced.session().run(dict(zip(traced.input_names, arrays))).values())) if compiled else (lambda arrays: interpreted(traced, arrays))
    run = in_onnxruntime(traced, onnx) if onnx else run
    if isinstance(model, torch.nn.Module) and model.training and not isinstance(model, torch.fx.GraphModule):
        model.eval()
    for inputs in (examples, *others):
        with torch.no_grad():
            expected = leaves(model(*inputs))
        found = run([t.numpy() for t in leaves(inputs)])
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected):
            assert ours.shape == tuple(theirs.shape) and ours.dtype == theirs.numpy().dtype
            np.testing.assert_allclose(ours, theirs.numpy(), rtol=rtol, atol=atol)
    return traced


@pytest.fixture
def agrees():
    return assert_agrees


@pytest.fixture(name="interpreted")
def interpreted_fixture():
    return interpreted
