"""Small ONNX models for tests, and running them in onnxruntime."""
from __future__ import annotations

from typing import Sequence

import numpy as np
import onnx
from onnx import helper, TensorProto

import onemlir as om

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, shape, element: int = F32) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes: Sequence[onnx.NodeProto], inputs, outputs, initializers=(), opset: int = 21, extra=(), functions=(), ir_version: int = 10) -> onnx.ModelProto:
    """A model of one graph; `extra`: further operator sets as (domain, version)."""
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), [onnx.numpy_helper.from_array(a, n) for n, a in dict(initializers).items()])
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(*e) for e in extra)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=ir_version)


def node(op_type: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    """Names separated by spaces; ``_`` stands for an input that is left out."""
    names = ["" if n == "_" else n for n in inputs.split()]
    return helper.make_node(op_type, names, ["" if n == "_" else n for n in outputs.split()], **attributes)


def peer(proto: onnx.ModelProto, inputs: dict) -> list[np.ndarray]:
    """onnxruntime's outputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    return onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, {name: np.asarray(array) for name, array in inputs.items()})


def same_as_peer(proto: onnx.ModelProto, *runs: dict, rtol: float = 1e-5, atol: float = 1e-6) -> "om.TracedModel":
    """Compile once, and compare every run with onnxruntime."""
    traced = om.from_onnx(proto)
    session = traced.session()
    for inputs in runs:
        for (name, got), want in zip(session.run({name: np.asarray(array) for name, array in inputs.items()}).items(), peer(proto, inputs)):
            assert got.dtype == want.dtype and got.shape == want.shape, (name, got.dtype, got.shape, want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=name)
    return traced


def microsoft(op_type: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    """A node of com.microsoft."""
    return node(op_type, inputs, outputs, domain="com.microsoft", **attributes)


def same_node_as_peer(proto: onnx.NodeProto, inputs: dict, constants=(), symbolic: bool = False, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Compare one node with onnxruntime; `symbolic`: all sizes of the inputs are unknown."""
    infos = [value(n, [None] * a.ndim if symbolic else a.shape, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in inputs.items()]
    outputs = [onnx.ValueInfoProto(name=o) for o in proto.output if o]
    same_as_peer(model([proto], infos, outputs, constants, extra=[("com.microsoft", 1)]), inputs, rtol=rtol, atol=atol)
