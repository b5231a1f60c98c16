"""Compiles small graphs of om ops into sessions and compares them with the references of the ops."""
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from mlir import ir
from mlir.dialects import func

from onemlir.dialect import bindings, dtypes
from onemlir.dialect.build import mlir_type
from onemlir.dialect.graph import GraphBuilder
from onemlir.dialect.interpreter import Interpreter
from onemlir.dialect.program import entry_function, Program
from onemlir.dialect.shapes import TensorType
from onemlir.dialect.symbolic import Dim
from onemlir.errors import OnemlirError
from onemlir.runtime.jit import jit_session


def graph(build, types) -> ir.Module:
    """A module whose @main is `build(ops, *nodes)`."""
    with bindings.new_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", ir.FunctionType.get([mlir_type(t) for t in types], []))
        block = function.add_entry_block()
        builder = GraphBuilder()
        nodes = [builder.node(v, t) for v, t in zip(block.arguments, types)]
        with ir.InsertionPoint(block):
            results = build(builder.ops, *nodes)
            results = [r for r in (results if isinstance(results, (tuple, list)) else (results,))]
            func.ReturnOp([r.value for r in results])
        operation = function.operation
        operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in block.arguments], [r.value.type for r in results]))
        dims = [ir.ArrayAttr.get([ir.StringAttr.get("" if isinstance(s, int) else str(s)) for s in t.shape]) for t in types]
        operation.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"om.dims": d}) for d in dims])
        names = [ir.StringAttr.get(f"output_{i}") for i in range(len(results))]
        operation.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({"om.name": name}) for name in names])
        return module


class Compiled:
    """A graph as a session; `reference` computes the same with the declarations' numpy functions."""

    def __init__(self, build, types):
        self.program = Program(graph(build, types), {}, structure=None)
        self.session = jit_session(self.program, threads=1)

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        return list(self.session.run(dict(zip(self.program.input_names, arrays))).values())

    def error(self, *arrays: np.ndarray) -> str:
        """Class and message of the error that these inputs raise."""
        with pytest.raises(OnemlirError) as found:
            self(*arrays)
        return f"{type(found.value).__name__}: {found.value}"

    def reference(self, *arrays: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(r) for r in Interpreter({}).run(entry_function(self.program.module), list(arrays))]


TOLERANCE = {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 1.6e-2, np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-12}


def assert_same(found: np.ndarray, expected: np.ndarray, scale: float = 1, what: str = "") -> None:
    """Equal shapes, dtypes and elements; floats within `scale` times the tolerance of their dtype."""
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    assert found.dtype == expected.dtype, f"{what}: dtype {found.dtype}, expected {expected.dtype}"
    if not dtypes.is_floating(expected.dtype):
        np.testing.assert_array_equal(found, expected, what)
        return
    tolerance = TOLERANCE[expected.dtype] * scale
    wide = (lambda a: a.astype(np.float64))
    np.testing.assert_allclose(wide(found), wide(expected), rtol=tolerance, atol=tolerance, err_msg=what)


def type_of(array: np.ndarray, axes=()) -> TensorType:
    """The type of an array; `axes` names axes that are symbolic (None or "" for fixed ones)."""
    names = list(axes) + [None] * (array.ndim - len(axes))
    return TensorType(tuple(Dim.symbol(name) if name else size for size, name in zip(array.shape, names)), array.dtype)


@pytest.fixture(scope="session")
def compiled():
    """`compiled(build, *examples, axes=[...])` with examples that are arrays."""
    def compile_graph(build, *examples, axes=()):
        axes = list(axes) + [()] * (len(examples) - len(axes))
        return Compiled(build, [type_of(np.asarray(x), a) for x, a in zip(examples, axes)])
    return compile_graph


@pytest.fixture(scope="session")
def agrees(compiled):
    """Compile once and compare with the reference on the examples and on further sets of inputs."""
    def check(build, *examples, axes=(), more=(), scale: float = 1):
        code = compiled(build, *examples, axes=axes)
        for arrays in (examples, *more):
            found, expected = code(*arrays), code.reference(*arrays)
            for number, (f, e) in enumerate(zip(found, expected)):
                assert_same(f, e, scale, f"result {number} of {len(expected)} for shapes {[np.shape(a) for a in arrays]}")
        return code
    return check


@pytest.fixture
def same():
    """`same(found, expected, scale)`."""
    return assert_same


@pytest.fixture
def rng():
    return np.random.default_rng(0)
