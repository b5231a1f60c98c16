"""The model as a whole: names, axes, weights, files, errors, and that every op of the dialect is covered."""
import os
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest

import onemlir.errors as errors
from onemlir.dialect.declare import REGISTRY
from onemlir.dialect.onnx import DEFAULT_OPSET, save_onnx, to_onnx, WRITERS
from onemlir.dialect.onnx.export import UPSTREAM
from onemlir.frontend import nn, ops
from onemlir.frontend.ops.declared import ops as om
from onemlir.frontend.tensor import Tensor
from onemlir.lowering.decompositions import DECOMPOSITIONS
from onemlir.lowering.om.decompose import decompose

from .conftest import checked, recorded

X = np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32)
UNCOVERED: dict[str, str] = {}  # ops that are neither written nor decomposed, with the reason


def test_every_op_is_written_or_decomposed():
    holes = {op.qualified_name() for op in REGISTRY.values() if op.namespace == "om" and op not in WRITERS and op not in DECOMPOSITIONS
             and op.qualified_name() not in UPSTREAM}
    assert holes == set(UNCOVERED)


def two_layers():
    model = nn.Sequential(nn.Linear(40, 30), nn.ReLU(), nn.Linear(30, 2))
    return model, recorded(model, (X,), ("batch", None))


def test_names_axes_and_weights():
    model, program = two_layers()
    written = checked(to_onnx(program))
    assert written.producer_name == "onemlir" and written.opset_import[0].version == DEFAULT_OPSET
    assert [i.name for i in written.graph.input] == ["input"] and [o.name for o in written.graph.output] == ["output"]
    assert [d.dim_param or d.dim_value for d in written.graph.input[0].type.tensor_type.shape.dim] == ["batch", 40]
    assert [d.dim_param or d.dim_value for d in written.graph.output[0].type.tensor_type.shape.dim] == ["batch", 2]
    assert {"0.weight", "0.bias", "2.weight", "2.bias"} == {t.name for t in written.graph.initializer}
    assert [n.op_type for n in written.graph.node] == ["Gemm", "Relu", "Gemm"] and written.graph.node[0].name.startswith("0/")


def test_derived_sizes_are_text():
    written = to_onnx(recorded(lambda x: om.concat([x, x], axis=0), (X,), ("n", None)))
    assert written.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "2*n"


def test_outputs_that_are_inputs_weights_or_twice_the_same():
    w = Tensor(X)
    program = recorded(lambda a: {"a": a, "b": a, "w": w, "c": a + 1, "d": a + 1}, (X,))
    with pytest.warns(UserWarning, match="'a_output'"):
        written = checked(to_onnx(recorded(lambda a, b: {"a": a + b, "b_": b}, (X, X))))
    assert [o.name for o in written.graph.output] == ["a_output", "b_"]
    session = onnxruntime.InferenceSession(checked(to_onnx(program)).SerializeToString())
    for name, value in zip("abwcd", session.run(list("abwcd"), {program.input_names[0]: X * 2})):
        np.testing.assert_array_equal(value, X if name == "w" else X * 2 + (name in "cd"))


@pytest.mark.parametrize("external", [None, True, "weights.bin"])
def test_files(tmp_path, external):
    model, program = two_layers()
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    save_onnx(program, path, external_data=external)
    expected = {None: {"model.onnx"}, True: {"model.onnx", "model.onnx.data"}, "weights.bin": {"model.onnx", "weights.bin"}}[external]
    assert set(os.listdir(tmp_path)) == expected
    onnx.checker.check_model(str(path), full_check=True)
    found = onnxruntime.InferenceSession(path).run(None, {"input": X})[0]
    np.testing.assert_allclose(found, model(Tensor(X)).numpy(), rtol=1e-5, atol=1e-6)
    if external is None:
        assert onnx.load(path) == onnx.load_from_string(onnx.load(path).SerializeToString())
        assert {t.name: onnx.numpy_helper.to_array(t).sum() for t in onnx.load(path).graph.initializer} == {n: w.sum() for n, w in program.weights.items()}


def test_many_weights_go_beside_the_model_by_themselves(tmp_path, monkeypatch):
    from onemlir.dialect.onnx import save

    _, program = two_layers()
    monkeypatch.setattr(save, "EXTERNAL_FROM", sum(w.nbytes for w in program.weights.values()))
    save_onnx(program, tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx.data").stat().st_size >= 40 * 30 * 4 > (tmp_path / "m.onnx").stat().st_size - 1000


def test_all_dtypes_of_weights(tmp_path):
    from onemlir.dialect import dtypes

    weights = [Tensor(np.arange(3000).reshape(3, 1000) % 2 if d == dtypes.bool_ else np.arange(3000).reshape(3, 1000), d) for d in dtypes.ALL]
    program = recorded(lambda x: [om.where(x, w, w) for w in weights], (np.array(True),))
    save_onnx(program, tmp_path / "m.onnx")
    whole = onnx.load(tmp_path / "m.onnx")
    save_onnx(program, tmp_path / "e.onnx", external_data=True)
    external = onnx.load(tmp_path / "e.onnx")
    for a, b, w in zip(whole.graph.initializer, external.graph.initializer, weights, strict=True):
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(a), w.numpy())
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(b), w.numpy())


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    _, program = two_layers()
    with pytest.raises(errors.OnemlirError, match="beside"):
        save_onnx(program, path, external_data="../elsewhere.bin")
    program.weights["2.bias"] = object()
    with pytest.raises(Exception):
        save_onnx(program, path)
    assert os.listdir(tmp_path) == ["model.onnx"] and path.read_bytes() == b"old"


def test_all_that_cannot_be_said_is_listed_at_once():
    def function(x):
        return [om.local_response_norm(ops.reshape(x, (1, 4, 30)), size=4), om.grid_sample(ops.reshape(x, (1, 1, 12, 10)), ops.reshape(x[:, :4], (1, 3, 2, 2)))]
    with pytest.raises(errors.UnsupportedOpError) as caught:
        to_onnx(recorded(function, (X,)), opset=18)
    for text in ("om.local_response_norm (1x, first at", "test_export.py", "even size", "om.grid_sample (1x", "needs opset 20, found 18"):
        assert text in str(caught.value)
    with pytest.raises(errors.OnemlirError, match="between 18 and 24, found 12"):
        to_onnx(recorded(function, (X,)), opset=12)


def test_what_has_no_writer_is_decomposed():
    program = recorded(lambda x: om.local_response_norm(ops.reshape(x, (1, 4, 30)), size=4), (X,))
    before = program.mlir()
    checked(to_onnx(program, decompose=decompose))
    assert program.mlir() == before, "the program itself stays as it was"


def test_guards_are_dropped_with_a_warning_or_refused():
    from onemlir.frontend.tracer import record

    found = record(lambda x: x * 2 if ops.sum(x) > 0 else x, [abs(X)], {}, None, "guard", {})
    program = getattr(found, "program", found)
    with pytest.warns(UserWarning, match="bool"):
        model = checked(to_onnx(program))
    assert [n.op_type for n in model.graph.node] == ["Mul"], "what only the guard needed is gone"
    with warnings.catch_warnings(), pytest.raises(errors.UnsupportedOpError, match="om.guard"):
        warnings.simplefilter("error")
        to_onnx(program, guards="error")
