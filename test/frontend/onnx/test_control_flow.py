"""If, Loop and Scan whose conditions and counts are data, against onnxruntime."""
import numpy as np
import onnx
import pytest
from onnx import helper

import onemlir as om
from models import BOOL, F32, I64, model, node, same_as_peer, value

rng = np.random.default_rng(1)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def graph(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def test_if_by_data():
    then = graph([node("Mul", "x two", "a")], [], [value("a", [None])])
    other = graph([node("Concat", "x x", "b", axis=0)], [], [value("b", [None])])
    proto = model([node("If", "c", "y", then_branch=then, else_branch=other)], [value("x", ["n"]), value("c", [], BOOL)], [value("y", [None])],
                  {"two": np.float32(2).reshape(())})
    same_as_peer(proto, {"x": normal(3), "c": np.array(True)}, {"x": normal(3), "c": np.array(False)})


def test_if_that_gives_one_element_of_two_ranks():
    then, other = (graph([node("Identity", name, name + "_out")], [], [value(name + "_out", None)]) for name in ("one", "first"))
    proto = model([node("If", "c", "s", then_branch=then, else_branch=other), node("Mul", "s x", "y")],
                  [value("x", [3]), value("first", [1]), value("c", [], BOOL)], [value("y", None)], {"one": np.float32(1).reshape(())})
    same_as_peer(proto, *({"x": normal(3), "first": normal(1), "c": np.array(c)} for c in (True, False)))


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_counted_loop(steps):
    """s = s * 2 + x; the rows are s of each step, and the counter."""
    body = graph([node("Identity", "go", "go_out"), node("Mul", "s two", "d"), node("Add", "d x", "s_out"), node("Identity", "s_out", "row"), node("Identity", "i", "number")],
                 [value("i", [], I64), value("go", [], BOOL), value("s", [2])], [value("go_out", [], BOOL), value("s_out", [2]), value("row", [2]), value("number", [], I64)])
    proto = model([node("Loop", "m _ x", "last rows numbers", body=body)], [value("x", [2]), value("m", [], I64)],
                  [value("last", [2]), value("rows", [None, 2]), value("numbers", [None], I64)], {"two": np.float32(2).reshape(())})
    same_as_peer(proto, {"x": normal(2), "m": np.array(steps)})


@pytest.mark.parametrize("limit, most", [(10.0, 100), (1000.0, 3), (0.0, 5)])
def test_loop_with_a_condition(limit, most):
    body = graph([node("Add", "s one", "s_out"), node("Less", "s_out limit", "go_out"), node("Identity", "s_out", "row")],
                 [value("i", [], I64), value("go", [], BOOL), value("s", [])], [value("go_out", [], BOOL), value("s_out", []), value("row", [])])
    proto = model([node("Loop", "m c x", "last rows", body=body)], [value("x", []), value("m", [], I64), value("c", [], BOOL), value("limit", [])],
                  [value("last", []), value("rows", [None])], {"one": np.float32(1).reshape(())})
    run = {"x": np.float32(4).reshape(()), "m": np.array(most), "limit": np.float32(limit).reshape(())}
    same_as_peer(proto, run | {"c": np.array(True)}, run | {"c": np.array(False)})


def test_loop_that_grows_a_tensor():
    body = graph([node("Identity", "go", "go_out"), node("Concat", "s x", "s_out", axis=0)],
                 [value("i", [], I64), value("go", [], BOOL), value("s", [None])], [value("go_out", [], BOOL), value("s_out", [None])])
    proto = model([node("Loop", "m _ x", "y", body=body)], [value("x", ["n"]), value("m", [], I64)], [value("y", [None])])
    same_as_peer(proto, {"x": normal(2), "m": np.array(3)}, {"x": normal(2), "m": np.array(0)})


@pytest.mark.parametrize("options", [{}, {"scan_input_directions": [1]}, {"scan_output_directions": [1]}, {"scan_input_axes": [1], "scan_output_axes": [1]}])
def test_scan(options):
    body = graph([node("Add", "s x", "t"), node("Tanh", "t", "s_out"), node("Identity", "t", "row")], [value("s", [3]), value("x", [3])], [value("s_out", [3]), value("row", [3])])
    along = options.get("scan_input_axes", [0])[0]
    shape, run = (["n", 3], normal(5, 3)) if along == 0 else ([3, "n"], normal(3, 5))
    proto = model([node("Scan", "s0 xs", "last rows", body=body, num_scan_inputs=1, **options)], [value("s0", [3]), value("xs", shape)], [value("last", [3]), value("rows", None)])
    same_as_peer(proto, {"s0": normal(3), "xs": run})


def test_loop_in_a_loop():
    inner = graph([node("Identity", "go2", "go2_out"), node("Add", "t i2f", "t_out"), node("Cast", "i2", "i2f", to=F32)],
                  [value("i2", [], I64), value("go2", [], BOOL), value("t", [])], [value("go2_out", [], BOOL), value("t_out", [])])
    inner.node.insert(0, inner.node.pop(2))
    body = graph([node("Identity", "go", "go_out"), node("Loop", "i _ s", "s_out", body=inner)], [value("i", [], I64), value("go", [], BOOL), value("s", [])],
                 [value("go_out", [], BOOL), value("s_out", [])])
    proto = model([node("Loop", "m _ x", "y", body=body)], [value("x", []), value("m", [], I64)], [value("y", [])])
    same_as_peer(proto, {"x": np.float32(1).reshape(()), "m": np.array(5)})


def squeezed_where_one(then_first: bool, output_axes):
    """What torch's exporter writes for ``x.squeeze(1)``, then something that takes one rank alone."""
    squeeze = graph([node("Squeeze", "x one", "s")], [], [value("s", None)])
    same = graph([node("Identity", "x", "t")], [], [value("t", None)])
    branches = {"then_branch": squeeze, "else_branch": same} if then_first else {"then_branch": same, "else_branch": squeeze}
    nodes = [node("Shape", "x", "shape", start=1, end=2), node("Equal" if then_first else "Greater", "shape one", "c"), node("If", "c", "u", **branches),
             node("Transpose", "u", "y", perm=[1, 0])]
    return model(nodes, [value("x", [None, None, None])], [value("y", output_axes)], {"one": np.array([1])}, opset=21)


@pytest.mark.parametrize("then_first", [True, False])
def test_branches_of_different_ranks(then_first):
    """The branch that fits what follows is read; another condition at run time is an error, since the ranks would not fit then."""
    traced = same_as_peer(squeezed_where_one(then_first, [None, None]), {"x": normal(3, 1, 4)}, {"x": normal(2, 1, 1)})
    with pytest.raises((om.GuardError, om.ShapeError)):
        traced(normal(3, 2, 4))


@pytest.mark.parametrize("rank", [2, 3])
def test_declared_ranks_choose_the_branch(rank):
    proto = squeezed_where_one(True, None)
    proto.graph.node.pop()
    proto.graph.node.append(node("Neg", "u", "y"))
    proto.graph.output[0].CopyFrom(value("y", [None] * rank))
    traced = same_as_peer(proto, {"x": normal(3, 1 if rank == 2 else 5, 4)})
    assert [a["kind"] for a in traced.assumptions] == ["branch"]
    with pytest.raises((om.GuardError, om.ShapeError), match="different ranks.*read with the else|squeeze: axis 1"):
        traced(normal(3, 5 if rank == 2 else 1, 4))


def test_what_a_branch_requires_of_sizes_holds_in_it_alone():
    """The first branch needs 4 columns, the second 2: each is checked where it is taken."""
    first = graph([node("MatMul", "x four", "a")], [], [value("a", [None, 1])])
    second = graph([node("MatMul", "x two", "b")], [], [value("b", [None, 1])])
    proto = model([node("If", "c", "y", then_branch=first, else_branch=second)], [value("x", [None, None]), value("c", [], BOOL)], [value("y", None)],
                  {"four": normal(4, 1), "two": normal(2, 1)})
    traced = same_as_peer(proto, {"x": normal(3, 4), "c": np.array(True)}, {"x": normal(3, 2), "c": np.array(False)})
    with pytest.raises(om.ShapeError):
        traced(normal(3, 4), np.array(False))


@pytest.mark.parametrize("new_axis, axis", [(1, 0), (1, -1), (0, 0), (0, 1)])
def test_a_list_that_a_loop_appends_to(new_axis, axis):
    """As a scripted module writes it: the list is joined, counted and indexed after the loop."""
    body = helper.make_graph([node("Add", "h x", "h2"), node("SequenceInsert", "list h2", "list2"), node("Identity", "c", "c2")], "body",
                             [value("i", [], I64), value("c", [], BOOL), value("h", [2, 3]), onnx.ValueInfoProto(name="list")],
                             [value("c2", [], BOOL), value("h2", [2, 3]), onnx.ValueInfoProto(name="list2")])
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(F32, [2, 3]))
    body.input[3].type.CopyFrom(sequence), body.output[2].type.CopyFrom(sequence)
    nodes = [node("SequenceEmpty", "", "none"), node("Loop", "n true x none", "last list", body=body), node("ConcatFromSequence", "list", "y", new_axis=new_axis, axis=axis),
             node("SequenceLength", "list", "count"), node("SequenceAt", "list k", "element")]
    proto = model(nodes, [value("n", [], I64), value("x", [2, 3]), value("k", [], I64)], [value("y", None), value("count", [], I64), value("element", [2, 3])],
                  {"true": np.array(True)})
    same_as_peer(proto, *({"n": np.array(n), "x": normal(2, 3), "k": np.array(k)} for n, k in ((3, 1), (1, -1))))
