"""Reading: sizes, constants, external data, functions, refusals. Expected values come from onnxruntime."""
import numpy as np
import onnx
import pytest
from onnx import helper

import onemlir as om
from models import BOOL, F32, I64, model, node, same_as_peer, value

rng = np.random.default_rng(0)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_shape_subgraphs_become_sizes():
    """(batch, time, 8) to (batch, time, 2, 4) and back through Shape, Gather, Concat, Reshape: no tensor of sizes is left."""
    nodes = [node("Shape", "x", "s"), node("Gather", "s zero", "b"), node("Gather", "s one", "t"), node("Unsqueeze", "b axis", "b1"),
             node("Unsqueeze", "t axis", "t1"), node("Concat", "b1 t1 tail", "shape", axis=0), node("Reshape", "x shape", "y"),
             node("Mul", "b t", "bt"), node("Unsqueeze", "bt axis", "bt1"), node("Concat", "bt1 minus", "flat", axis=0), node("Reshape", "y flat", "z")]
    constants = {"zero": np.int64(0).reshape(()), "one": np.int64(1).reshape(()), "axis": np.array([0]), "tail": np.array([2, 4]), "minus": np.array([-1])}
    proto = model(nodes, [value("x", ["batch", "time", 8])], [value("y", None), value("z", None)], constants)
    traced = same_as_peer(proto, {"x": normal(2, 3, 8)}, {"x": normal(1, 5, 8)})
    assert traced.inputs[0].shape == ("batch", "time", 8)
    assert traced.outputs[1].shape == ("batch*time", 8)
    ops = {line.split('"')[1] for line in traced.mlir().splitlines() if '"om.' in line}
    assert ops <= {"om.reshape", "om.dim"}


def test_named_axes_are_checked():
    proto = model([node("Add", "x y", "z")], [value("x", ["n", 2]), value("y", ["n", 2])], [value("z", None)])
    session = om.from_onnx(proto).session()
    with pytest.raises(om.ShapeError, match="'n'"):
        session.run({"x": normal(2, 2), "y": normal(3, 2)})


def test_axes_without_names_are_guarded():
    proto = model([node("Add", "x y", "z")], [value("x", [None, 2]), value("y", [None, 2])], [value("z", None)])
    session = om.from_onnx(proto).session()
    x, y = normal(2, 2), normal(2, 2)
    np.testing.assert_allclose(session.run({"x": x, "y": y})["z"], x + y)
    with pytest.raises(om.ShapeError):
        session.run({"x": x, "y": normal(3, 2)})


@pytest.mark.parametrize("target", [[2, 12], [-1, 6], [4, 0, -1]])
def test_reshape_by_data(target):
    proto = model([node("Reshape", "x s", "y")], [value("x", ["n", 2, 3]), value("s", [len(target)], I64)], [value("y", None)])
    same_as_peer(proto, {"x": normal(4, 2, 3), "s": np.array(target)})


@pytest.mark.parametrize("start, end, step", [(0, 3, 1), (-4, 100, 2), (100, -100, -1), (3, 1, 1), (-2, -5, -2)])
def test_slice_by_data(start, end, step):
    nodes = [node("Slice", "x a b axis step", "y")]
    proto = model(nodes, [value("x", [2, "n"]), value("a", [1], I64), value("b", [1], I64)], [value("y", None)], {"axis": np.array([1]), "step": np.array([step])})
    same_as_peer(proto, {"x": normal(2, 7), "a": np.array([start]), "b": np.array([end])})


@pytest.mark.parametrize("start, limit, delta", [(0, 5, 1), (2, 11, 4), (5, -3, -2), (3, 3, 1), (4, 0, 1)])
def test_range_by_data(start, limit, delta):
    scalars = [value(name, [], I64) for name in "abc"]
    proto = model([node("Range", "a b c", "y")], scalars, [value("y", [None], I64)])
    same_as_peer(proto, {name: np.array(v, np.int64) for name, v in zip("abc", (start, limit, delta))})


def test_pad_and_expand_by_data():
    proto = model([node("Pad", "x p", "y"), node("Expand", "x e", "z")], [value("x", [2, 3]), value("p", [4], I64), value("e", [3], I64)],
                  [value("y", None), value("z", None)])
    same_as_peer(proto, {"x": normal(2, 3), "p": np.array([1, -1, 0, 2]), "e": np.array([4, 1, 3])}, {"x": normal(2, 3), "p": np.array([0, 0, 0, 0]), "e": np.array([1, 2, 1])})


def test_data_dependent_results():
    nodes = [node("NonZero", "x", "places"), node("Greater", "x zero", "mask"), node("Compress", "x mask1", "kept"), node("Reshape", "mask minus", "mask1"),
             node("Unique", "x", "values indices inverse counts")]
    order = [nodes[1], nodes[3], nodes[0], nodes[2], nodes[4]]
    proto = model(order, [value("x", ["n", 3])], [value("places", None, I64), value("kept", None), value("values", None), value("counts", None, I64)],
                  {"zero": np.float32(0).reshape(()), "minus": np.array([-1])})
    same_as_peer(proto, {"x": np.array([[0, 1, 2], [1, 0, -3]], np.float32)}, {"x": np.zeros((1, 3), np.float32)}, {"x": np.zeros((0, 3), np.float32)})


# Constants.
def test_initializers_may_be_listed_as_inputs():
    proto = model([node("MatMul", "x w", "y")], [value("x", [2, 3]), value("w", [3, 4])], [value("y", [2, 4])], {"w": normal(3, 4)})
    traced = om.from_onnx(proto)
    assert traced.input_names == ["x"]
    x = normal(2, 3)
    np.testing.assert_allclose(traced.session()(x), x @ onnx.numpy_helper.to_array(proto.graph.initializer[0]), rtol=1e-5)


def test_weights_keep_their_names_and_are_not_copied():
    weight = normal(100, 100)
    proto = model([node("MatMul", "x layer.weight", "y")], [value("x", [2, 100])], [value("y", [2, 100])], {"layer.weight": weight})
    traced = om.from_onnx(proto)
    assert list(traced.parameters) == ["layer.weight"]
    assert not traced.parameters["layer.weight"].flags.owndata


def test_weights_of_a_file_stay_in_it(tmp_path):
    """Mapped, whatever their place in the file; the values are those that onnxruntime sees."""
    constants = {"w": normal(64, 32), "v": normal(32, 48), "small": normal(48)}
    proto = model([node("MatMul", "x w", "t"), node("MatMul", "t v", "u"), node("Add", "u small", "y")], [value("x", [2, 64])], [value("y", [2, 48])], constants)
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    traced = om.from_onnx(path)
    for name in ("w", "v"):
        base = traced.parameters[name]
        while isinstance(base, np.ndarray) and base.base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert not isinstance(base, bytes)
        np.testing.assert_array_equal(traced.parameters[name], constants[name])
    x = normal(2, 64)
    np.testing.assert_allclose(traced.session()(x), (x @ constants["w"]) @ constants["v"] + constants["small"], rtol=1e-3, atol=1e-4)
    cut = path.read_bytes()
    for size in (len(cut) - 1, len(cut) // 2, 100, 1, 0):
        path.write_bytes(cut[:size])
        with pytest.raises(om.FormatError):
            om.from_onnx(path)


def external(folder, weight, location="weights.bin", offset=0, length=None):
    proto = model([node("MatMul", "x w", "y")], [value("x", [2, 64])], [value("y", [2, 64])], {"w": weight})
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entries = {"location": location, "offset": offset, "length": weight.nbytes if length is None else length}
    for key, entry in entries.items():
        tensor.external_data.add(key=key, value=str(entry))
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_external_data_is_mapped(tmp_path):
    weight = normal(64, 64)
    (tmp_path / "weights.bin").write_bytes(b"\0" * 128 + weight.tobytes())
    traced = om.from_onnx(external(tmp_path, weight, offset=128))
    base = traced.parameters["w"]
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert isinstance(base, np.memmap) or isinstance(base.base, __import__("mmap").mmap)
    x = normal(2, 64)
    np.testing.assert_allclose(traced.session()(x), x @ weight, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("location", ["../outside.bin", "/etc/hostname", "", "link.bin", "missing.bin", "a/../../outside.bin"])
def test_external_data_stays_in_the_folder(tmp_path, location):
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "outside.bin").write_bytes(b"\0" * 64 * 64 * 4)
    (inside / "link.bin").symlink_to(tmp_path / "outside.bin")
    with pytest.raises(om.FormatError, match="'w'"):
        om.from_onnx(external(inside, normal(64, 64), location))


@pytest.mark.parametrize("offset, length", [(1, None), (-4, None), (0, 5), (0, 1 << 40)])
def test_external_data_has_the_right_length(tmp_path, offset, length):
    weight = normal(64, 64)
    (tmp_path / "weights.bin").write_bytes(weight.tobytes())
    with pytest.raises(om.FormatError, match="'w'"):
        om.from_onnx(external(tmp_path, weight, offset=offset, length=length))


# Functions and one's own operators.
def test_functions_are_inlined():
    inner = helper.make_function("mine", "Scaled", ["a"], ["b"], [node("Constant", "", "c"), node("Mul", "a c", "b")], [helper.make_opsetid("", 21)], ["factor"])
    inner.node[0].attribute.append(onnx.AttributeProto(name="value_float", ref_attr_name="factor", type=onnx.AttributeProto.FLOAT))
    outer = helper.make_function("mine", "Twice", ["a"], ["b"], [helper.make_node("Scaled", ["a"], ["t"], domain="mine", factor=3.0), node("Add", "t a", "b")],
                                 [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)])
    proto = model([helper.make_node("Twice", ["x"], ["y"], domain="mine")], [value("x", [3])], [value("y", [3])], extra=[("mine", 1)], functions=[inner, outer])
    same_as_peer(proto, {"x": normal(3)})


def test_a_function_within_itself_is_refused():
    loop = helper.make_function("mine", "F", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="mine")], [helper.make_opsetid("mine", 1)])
    proto = model([helper.make_node("F", ["x"], ["y"], domain="mine")], [value("x", [3])], [value("y", [3])], extra=[("mine", 1)], functions=[loop])
    with pytest.raises(om.FormatError, match="itself"):
        om.from_onnx(proto)


def test_own_operators_can_be_registered():
    from onemlir.frontend.onnx import reads

    @reads("Squash", domain="test.own")
    def read_squash(node, ops):
        return ops.tanh(node.tensor(0) * node.float("gain", 1.0))

    proto = model([helper.make_node("Squash", ["x"], ["y"], domain="test.own", gain=0.5)], [value("x", [3])], [value("y", [3])], extra=[("test.own", 1)])
    x = normal(3)
    np.testing.assert_allclose(om.from_onnx(proto).session()(x), np.tanh(x * np.float32(0.5)), rtol=1e-5)


# Refusals.
def test_all_unsupported_operators_are_listed():
    nodes = [helper.make_node("Nothing", ["x"], ["a"], name="first", domain="elsewhere"), helper.make_node("Nothing", ["a"], ["b"], name="second", domain="elsewhere"),
             helper.make_node("StringNormalizer", ["x"], ["c"], name="third"), node("Add", "b c", "y")]
    with pytest.raises(om.UnsupportedOpError) as error:
        om.from_onnx(model(nodes, [value("x", [3])], [value("y", [3])], extra=[("elsewhere", 7)]))
    text = str(error.value)
    for part in ("elsewhere.Nothing version 7, 2 times: first, second", "ai.onnx.StringNormalizer version 21, 1 times: third"):
        assert part in text


def test_unused_nodes_do_not_matter():
    nodes = [helper.make_node("Nothing", ["x"], ["unused"], domain="elsewhere"), node("Relu", "x", "y")]
    same = om.from_onnx(model(nodes, [value("x", [3])], [value("y", [3])], extra=[("elsewhere", 1)]))
    assert same.output_names == ["y"]


def broken(**changes):
    proto = model([node("MatMul", "x w", "t"), node("Add", "t b", "y")], [value("x", [2, 3])], [value("y", [2, 4])], {"w": normal(3, 4), "b": normal(4)})
    proto.graph.node[1].name = "the_add"
    for change in changes.values():
        change(proto)
    return proto


def _set(path):
    def change(proto):
        exec(path, {"graph": proto.graph, "proto": proto, "node": node, "value": value})
    return change


@pytest.mark.parametrize("change, text", [
    ("graph.initializer[0].raw_data = b'123'", "'w'.*48 bytes.*3"),
    ("graph.initializer[0].dims[0] = -3", "'w'.*negative"),
    ("graph.initializer[0].dims[0] = 1 << 62", "'w'"),
    ("graph.node[1].input[1] = 'nothing'", "the_add.*'nothing'"),
    ("graph.node[0].input[0] = 'y'", "MatMul.*'y'"),
    ("graph.node[1].output[0] = 't'; graph.output[0].name = 't'", "'t' is given twice"),
    ("graph.input.append(value('x', [2, 3]))", "'x' is given twice"),
    ("graph.output[0].name = 'z'", "'z'"),
    ("graph.node[1].op_type = 'Softmax'; del graph.node[1].input[1:]; graph.node[1].attribute.add(name='axis', type=1, f=1.0)", "the_add.*'axis' must be an int, found FLOAT"),
    ("graph.input[0].type.tensor_type.shape.dim[1].dim_value = 5", "MatMul.*5 columns"),
    ("graph.input[0].type.tensor_type.shape.dim[1].dim_value = -5", "'x'.*-5"),
    ("del graph.node[1].input[1:]", "the_add.*input 1"),
    ("proto.opset_import[0].version = 99", "99"),
    ("proto.ir_version = 99", "99"),
    ("proto.ClearField('graph')", "no graph"),
    ("proto.graph.input[0].type.tensor_type.elem_type = 7", "MatMul.*of int64.*of float32.*one element type"),
    ("proto.graph.output[0].type.tensor_type.elem_type = 7", "of float32.*declares INT64"),
])
def test_damaged_models(change, text):
    with pytest.raises(om.FormatError, match=text):
        om.from_onnx(broken(change=_set(change)))


@pytest.mark.parametrize("shape", [[3, 2], [2, 3, 1]])
def test_a_wrong_shape_of_an_output_is_a_warning(shape):
    proto = model([node("Relu", "x", "y")], [value("x", [2, 3])], [value("y", shape)])
    with pytest.warns(UserWarning, match=r"'y' has the shape \(2, 3\), but the graph declares"):
        assert om.from_onnx(proto)(normal(2, 3)).shape == (2, 3)


def test_truncated_files(tmp_path):
    data = broken().SerializeToString()
    for size in range(0, len(data), 7):
        with pytest.raises((om.FormatError, om.UnsupportedOpError)):
            om.from_onnx(data[:size])
    path = tmp_path / "cut.onnx"
    path.write_bytes(data[:50])
    with pytest.raises(om.FormatError, match="cut.onnx"):
        om.from_onnx(path)
    with pytest.raises(FileNotFoundError):
        om.from_onnx(tmp_path / "none.onnx")


def test_inputs_that_decide_about_the_structure():
    proto = model([node("ReduceSum", "x axes", "y")], [value("x", [2, 3]), value("axes", [1], I64)], [value("y", None)])
    with pytest.raises(om.UnsupportedOpError, match=r"axes.*constants="):
        om.from_onnx(proto)
    traced = om.from_onnx(proto, constants={"axes": np.array([1])})
    x = normal(2, 3)
    np.testing.assert_allclose(traced.session()(x), x.sum(1, keepdims=True), rtol=1e-5)


def test_the_backend_fixes_such_inputs_by_their_values():
    from onemlir.frontend.onnx import backend

    proto = model([node("ReduceSum", "x axes", "y")], [value("x", [2, 3]), value("axes", [1], I64)], [value("y", None)])
    prepared, x = backend.prepare(proto), normal(2, 3)
    for axis in (0, 1, 0):
        np.testing.assert_allclose(prepared.run([x, np.array([axis])])[0], x.sum(axis, keepdims=True), rtol=1e-5)
    assert prepared.constants == ("axes",)
    y, = backend.run_node(node("Relu", "x", "y"), [x])
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")


__all__ = ["BOOL", "F32"]


def is_mapped(array) -> bool:
    """Whether the elements lie in a mapped file."""
    while array is not None and not isinstance(array, np.memmap):
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return array is not None


def test_weights_stay_in_the_mapped_file(tmp_path):
    """Those of initializers, of Constant nodes, of branches and of functions."""
    weights = [np.random.default_rng(i).standard_normal((64, 64)).astype(np.float32) for i in range(4)]
    constant = lambda name, number: helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(weights[number]))
    then = helper.make_graph([constant("a", 1), node("MatMul", "h a", "b")], "then", [], [value("b", None)])
    other = helper.make_graph([node("Neg", "h", "n")], "other", [], [value("n", None)])
    function = helper.make_function("own", "F", ["u"], ["v"], [constant("k", 2), node("MatMul", "u k", "v")], [helper.make_opsetid("", 21)])
    nodes = [node("MatMul", "x w", "h"), node("If", "c", "i", then_branch=then, else_branch=other), helper.make_node("F", ["i"], ["f"], domain="own"), constant("z", 3),
             node("MatMul", "f z", "y")]
    proto = model(nodes, [value("x", [1, 64]), value("c", [], BOOL)], [value("y", None)], {"w": weights[0]}, extra=[("own", 1)], functions=[function])
    onnx.save(proto, tmp_path / "m.onnx")
    traced = om.from_onnx(tmp_path / "m.onnx")
    assert len(traced.parameters) == 4 and all(map(is_mapped, traced.parameters.values()))
    x = np.ones((1, 64), np.float32)
    np.testing.assert_allclose(traced(x, np.array(True)), x @ weights[0] @ weights[1] @ weights[2] @ weights[3], rtol=1e-3)


@pytest.mark.parametrize("sizes", [(3, 4), (1, 4), (2, 1)], ids=str)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_crop_and_resize_to_sizes_that_are_data(sizes, mode):
    """An axis of one element takes the middle of the crop."""
    nodes = [node("Concat", "ones size", "sizes", axis=0),
             node("Resize", "x roi _ sizes", "y", mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0)]
    constants = {"roi": np.array([0, 0, 0.2, 0.1, 1, 1, 0.8, 1.2], np.float32), "ones": np.array([1, 1])}
    proto = model(nodes, [value("x", [1, 1, "h", "w"]), value("size", [2], I64)], [value("y", None)], constants)
    same_as_peer(proto, {"x": normal(1, 1, 5, 6), "size": np.array(sizes)})


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_crop_and_resize_of_a_region_that_is_data(mode):
    proto = model([node("Resize", "x roi _ sizes", "y", mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0)],
                  [value("x", [1, 2, "h", "w"]), value("roi", [8])], [value("y", None)], {"sizes": np.array([1, 2, 4, 1])})
    for roi in ([0, 0, 0.2, 0.1, 1, 1, 0.8, 1.2], [0, 0, 0.9, -0.3, 1, 1, 0.1, 0.4]):
        same_as_peer(proto, {"x": normal(1, 2, 5, 6), "roi": np.array(roi, np.float32)}, rtol=1e-4, atol=1e-5)


def test_regions_of_interest_that_are_data():
    """Without a sampling ratio, so that the number of samples is data too; the last region has no extent."""
    proto = model([node("RoiAlign", "x r b", "y", output_height=3, output_width=2)], [value("x", [2, 3, 12, 14]), value("r", ["k", 4]), value("b", ["k"], I64)],
                  [value("y", None)])
    rois = np.array([[0, 0, 9, 9], [1, 2, 12.5, 11], [3, 3, 3, 4]], np.float32)
    same_as_peer(proto, {"x": normal(2, 3, 12, 14), "r": rois, "b": np.array([0, 1, 1])}, {"x": normal(2, 3, 12, 14), "r": rois[:1], "b": np.array([1])},
                 rtol=1e-4, atol=1e-5)


def test_squeeze_without_axes_is_read_for_sizes_other_than_one():
    traced = same_as_peer(model([node("Squeeze", "x", "y")], [value("x", ["n", 1, 3])], [value("y", None)]), {"x": normal(2, 1, 3)}, {"x": normal(0, 1, 3)})
    with pytest.raises(om.GuardError, match="axis 0 has one element"):
        traced(normal(1, 1, 3))


@pytest.mark.parametrize("shape", [(1, 600, 1000), (3, 64, 72), (5, 700, 136)], ids=str)
def test_equal_columns_give_equal_results(shape):
    """To the last bit, wherever the columns lie: the softmax of a classifier shows it where its weights are large."""
    rows, depth, columns = shape
    weight = np.repeat(normal(depth, 1), columns, axis=1)
    y = om.from_onnx(model([node("MatMul", "x w", "y")], [value("x", [rows, depth])], [value("y", None)], {"w": weight}))(normal(rows, depth))
    np.testing.assert_array_equal(y, np.repeat(y[:, :1], columns, axis=1))


def test_results_have_the_sizes_that_their_op_tells():
    """Decomposed, the normalization takes its channels from the weights: the result is fitted where a run's input has others."""
    names, shape = "scale bias mean var", ("n", "c")
    proto = model([node("BatchNormalization", f"x {names}", "y")], [value("x", shape)], [value("y", shape)], {n: abs(normal(3)) for n in names.split()})
    traced = same_as_peer(proto, {"x": normal(2, 3)}, {"x": normal(0, 3)})
    with pytest.raises(om.ShapeError, match="mean must have shape"):
        traced.session()(normal(4, 1))


@pytest.mark.parametrize("x", [normal(2, 1, 4, 5), np.full((1, 2, 3, 3), -np.inf, np.float32)], ids=["normal", "lowest"])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_places_of_a_maximum_with_padding_by_symbolic_sizes(x, auto_pad):
    pooled = node("MaxPool", "x", "y places", kernel_shape=[3, 3], strides=[3, 2], auto_pad=auto_pad)
    outputs = [value("y", [None] * 4), value("places", [None] * 4, I64)]
    same_as_peer(model([pooled], [value("x", ["n", "c", "h", "w"])], outputs), {"x": x})


@pytest.mark.parametrize("op, arrays", [
    (node("Tile", "x r", "y"), {"x": normal(3, 2), "r": np.array([2, 1])}),
    (node("Pad", "x p", "y"), {"x": normal(3, 2), "p": np.array([1, 0, -1, 2])}),
    (node("Split", "x s", "y z", axis=1), {"x": normal(2, 6), "s": np.array([2, 4])}),
    (node("Conv", "x w", "y", kernel_shape=[2, 3]), {"x": normal(1, 2, 4, 5), "w": normal(3, 2, 2, 3)}),
    (node("GridSample", "x g", "y"), {"x": normal(1, 2, 4, 5), "g": normal(1, 3, 2, 2)}),
], ids=lambda v: v.op_type if hasattr(v, "op_type") else "")
def test_sizes_that_follow_from_the_operator_may_be_unknown(op, arrays):
    inputs = [value(n, [None] * a.ndim, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in arrays.items()]
    proto = model([op], inputs, [value(n, [None] * arrays["x"].ndim) for n in op.output])
    traced, (last, array) = same_as_peer(proto, arrays), list(arrays.items())[-1]
    with pytest.raises(om.ShapeError):
        traced.session().run(arrays | {last: np.concatenate([array] * 2, axis=-1)})


@pytest.mark.parametrize("size", [4, "n"])
def test_slices_backwards_from_before_the_first_element(tmp_path, size):
    """As the standard says, and onnxruntime: the first element, unless the end is there or later. Written, too."""
    bounds = [(s, e) for s in (-6, -5, -1, 2) for e in (-9, -4, -1, 0)]
    nodes = [node("Slice", f"x s{i} e{i} axis step", f"y{i}") for i in range(len(bounds))]
    constants = {f"{n}{i}": np.array([v]) for i, pair in enumerate(bounds) for n, v in zip("se", pair)} | {"axis": np.array([0]), "step": np.array([-2])}
    runs = [{"x": normal(n)} for n in ([4] if size == 4 else [4, 0, 1, 6])]
    traced = same_as_peer(model(nodes, [value("x", [size])], [value(f"y{i}", [None]) for i in range(len(bounds))], constants), *runs)
    traced.save_onnx(tmp_path / "slices.onnx")
    same_as_peer(onnx.load(tmp_path / "slices.onnx"), *runs)


def test_attention_of_an_unknown_width():
    q, k = normal(2, 3, 8), normal(2, 5, 8)
    attention = node("Attention", "q k k", "y", q_num_heads=2, kv_num_heads=2, softcap=2.0)
    same_as_peer(model([attention], [value(n, [None] * 3) for n in "qk"], [value("y", [None] * 3)], opset=23), {"q": q, "k": k}, rtol=1e-4)
