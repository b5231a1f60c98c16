"""The op eager, compiled, saved, loaded, exported; and the fusion inside of a whole model."""
import numpy as np
import pytest

import onemlir as om
from onemlir import nn
from onemlir_swiglu import swiglu

RNG = np.random.default_rng(0)
X, G = RNG.standard_normal((2, 5, 8)).astype(np.float32)


def expected(x, g, beta=1.0):
    x, g = x.astype(np.float64), g.astype(np.float64)
    return x * g / (1 + np.exp(-beta * g))


@pytest.mark.parametrize("beta", [1.0, 1.7])
def test_eager_and_compiled(beta):
    np.testing.assert_allclose(swiglu(om.tensor(X), om.tensor(G), beta).numpy(), expected(X, G, beta), rtol=1e-5, atol=1e-6)
    traced = om.trace(lambda x, g: swiglu(x, g, beta), om.tensor(X), om.tensor(G), axes={"x": ("n", None), "g": ("n", None)})
    assert "swiglu.gate" in traced.mlir()
    np.testing.assert_allclose(traced.session()(X[:3], G[:3]), expected(X[:3], G[:3], beta), rtol=1e-5, atol=1e-6)


def test_saved_and_loaded(tmp_path):
    om.trace(lambda x, g: swiglu(x, g), om.tensor(X), om.tensor(G)).save(tmp_path / "m.onemodel")
    np.testing.assert_allclose(om.load(tmp_path / "m.onemodel").session()(X, G), expected(X, G), rtol=1e-5, atol=1e-6)


def test_onnx(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    om.trace(lambda x, g: swiglu(x, g, 1.7), om.tensor(X), om.tensor(G)).save_onnx(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    np.testing.assert_allclose(session.run(None, {"x": X, "g": G})[0], expected(X, G, 1.7), rtol=1e-5, atol=1e-6)


def custom_model(version=1):
    """A model with an operator of the package's own domain."""
    from onnx import helper, TensorProto

    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 8]) for name in ("x", "g")]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8])
    node = helper.make_node("Gate", ["x", "g"], ["y"], domain="com.example.swiglu", beta=1.7)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example.swiglu", version)]
    return helper.make_model(helper.make_graph([node], "gate", inputs, [output]), opset_imports=opsets)


def test_an_onnx_operator_of_ones_own_is_read():
    traced = om.from_onnx(custom_model().SerializeToString())
    assert "swiglu.gate" in traced.mlir()
    np.testing.assert_allclose(traced.session()(X, G), expected(X, G, 1.7), rtol=1e-5, atol=1e-6)


def test_the_fusion_takes_part_in_compilation():
    model = nn.Sequential(nn.Linear(8, 8), nn.SiLU())
    traced = om.trace(lambda x: x * model(x), om.tensor(X))
    seen = []
    from onemlir.lowering import lower

    lower(traced.program, until="linalg", observe_pass=lambda name, module: seen.append("swiglu.gate" in str(module)))
    assert any(seen)
    np.testing.assert_allclose(traced.session()(X), (om.tensor(X) * model(om.tensor(X))).numpy(), rtol=1e-4, atol=1e-5)


def test_the_target_table():
    from onemlir.lowering.registry import known_passes
    from onemlir.lowering.targets import lowering_for, TARGETS

    known_passes()
    a, b = RNG.standard_normal((2, 64, 64)).astype(np.float32)
    with lowering_for(TARGETS["narrow"]):
        session = om.trace(lambda x, y: x @ y, om.tensor(a), om.tensor(b)).session()
    np.testing.assert_allclose(session(a, b), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)
