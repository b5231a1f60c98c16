"""Modules compiled in several parts, and object files joined to one piece of data."""
import numpy as np
import pytest
from mlir import ir

from onemlir.errors import CompileError
from onemlir.runtime import code_generator
from onemlir.runtime.engine import load
from onemlir.runtime.object_loader import LoadedObject
from onemlir.runtime.objects import join_objects, split_objects

CHAIN = """
llvm.mlir.global internal constant @table(dense<[3, 5]> : tensor<2xi64>) : !llvm.array<2 x i64>
llvm.func internal @first(%x: i64) -> i64 attributes {no_inline} {
  %a = llvm.mlir.addressof @table : !llvm.ptr
  %p = llvm.getelementptr %a[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %five = llvm.load %p : !llvm.ptr -> i64
  %r = llvm.mul %x, %five : i64
  llvm.return %r : i64
}
llvm.func internal @second(%x: i64) -> i64 attributes {no_inline} {
  %y = llvm.call @first(%x) : (i64) -> i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %r = llvm.add %y, %one : i64
  llvm.return %r : i64
}
llvm.func @entry(%x: i64) -> i64 {
  %r = llvm.call @second(%x) : (i64) -> i64
  llvm.return %r : i64
}
"""


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(code_generator, "LARGE", 3)
    monkeypatch.setattr(code_generator, "PART", 4)


def called(address: int, x: int) -> int:
    import ctypes

    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(x)


@pytest.mark.parametrize("pieces", ["one", "several"])
def test_calls_and_globals_across_parts(pieces, request):
    if pieces == "several":
        request.getfixturevalue("small_parts")
    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(CHAIN)
        before = str(module)
        assert (len(code_generator.parts_of(module)) > 1) == (pieces == "several")
        loaded, (entry,) = load(module, ["entry"])
        assert str(module) == before
    assert called(entry, 7) == 7 * 5 + 1
    again = LoadedObject(loaded.data)
    assert called(again.addresses(["entry"])[0], 2) == 11


def test_code_is_the_same_each_time(small_parts):
    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(CHAIN)
        assert code_generator.object_code(module) == code_generator.object_code(module)


KINDS = """
llvm.func internal @om_sweep() { llvm.return }
llvm.func internal @om_body_0() attributes {no_inline, passthrough = ["om-kernel"]} { llvm.return }
llvm.func internal @om_body_1() attributes {no_inline} { llvm.return }
llvm.func internal @prepare() attributes {passthrough = ["minsize", "optsize"]} { llvm.return }
llvm.func @prepare_entry() attributes {passthrough = ["minsize", "optsize"]} { llvm.call @prepare() : () -> ()
  llvm.call @om_body_0() : () -> ()
  llvm.return }
llvm.func @entry() {
  llvm.call @om_body_1() : () -> ()
  llvm.call @om_sweep() : () -> ()
  llvm.return }
"""


def test_each_kind_of_function_has_its_part(monkeypatch):
    monkeypatch.setattr(code_generator, "LARGE", 1)
    with ir.Context() as context:
        context.enable_multithreading(False)
        module = ir.Module.parse(KINDS)
        parts = code_generator.parts_of(module)
        efforts = [code_generator.FULL, code_generator.KERNELS, code_generator.FULL, code_generator.RUNS_ONCE, code_generator.SUPPORT]
        assert [code_generator._effort(part) for part in parts] == efforts
        LoadedObject(join_objects(code_generator.object_code(module))).addresses(["entry", "prepare_entry"])
        code_generator._support[str(parts[-1])] = b"kept"
        assert code_generator.object_code(module)[-1] == b"kept"
        del code_generator._support[str(parts[-1])]


def test_objects_are_joined_and_split():
    objects = [b"\x7fELF one", b"", b"\x7fELF three"]
    assert split_objects(join_objects(objects)) == objects
    assert join_objects(objects[:1]) == objects[0]


@pytest.mark.parametrize("cut", [1, 12, 20])
def test_damaged_data_is_an_error(cut):
    data = join_objects([np.random.default_rng(0).bytes(8), b"second"])
    with pytest.raises(ValueError):
        split_objects(data[:-cut])
    with pytest.raises(CompileError, match="sizes say|cut off"):
        LoadedObject(data[:-cut])
