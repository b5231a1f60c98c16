"""Places in the arena."""
import random

from onemlir.lowering.buffers import plan_memory
from onemlir.lowering.buffers.arena import apart, hull, place, Request
from onemlir.lowering.buffers.functions import walk
from onemlir.lowering.buffers.lifetimes import Interval


def test_no_two_that_meet_overlap():
    generator = random.Random(1)
    for _ in range(50):
        requests = []
        for _ in range(generator.randrange(1, 60)):
            first = generator.randrange(100)
            requests.append(Request(Interval(first, first + generator.randrange(20)), generator.randrange(1, 50) * 64))
        size = place(requests)
        for i, a in enumerate(requests):
            assert 0 <= a.offset and a.offset + a.coefficient <= size and a.offset % 64 == 0
            for b in requests[:i]:
                disjoint = a.offset + a.coefficient <= b.offset or b.offset + b.coefficient <= a.offset
                assert disjoint or not a.interval.meets(b.interval)


def test_a_chain_needs_two_buffers():
    requests = [Request(Interval(10 * i, 10 * i + 15), 640) for i in range(30)]
    assert place(requests) == 2 * 640


def test_groups_that_are_never_in_use_together_share_a_place():
    spans = {name: hull([Interval(first, first + 2), Interval(first + 5, last)]) for name, first, last in (("c", 21, 30), ("a", 0, 10), ("b", 10, 20))}
    assert apart(sorted(spans), spans) == [["a", "c"], ["b"]]


MAIN = "func.func @main(%x: memref<?xf32>, %b: i1, %context: !llvm.ptr {{om.role = \"context\"}}) {{ %c0 = arith.constant 0 : index\n {} return }}"


def planned(parse, body):
    module = parse(MAIN.format(body))
    plan_memory(module)
    module.operation.verify()
    return [op.name for op in walk(module.operation)], module


def test_static_dynamic_and_nested_buffers_share_one_arena(parse):
    names, _ = planned(parse, """
      %c1 = arith.constant 1 : index
      %f = arith.constant 1.0 : f32
      %n = memref.dim %x, %c0 : memref<?xf32>
      %m = arith.muli %n, %n : index
      %a = memref.alloc() : memref<8xf32>
      memref.store %f, %a[%c0] : memref<8xf32>
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc(%m) : memref<?xf32>
        memref.store %f, %t[%c0] : memref<?xf32>
      }
      scf.if %b {
        %t = memref.alloc(%n) : memref<?xf32>
        memref.store %f, %t[%c0] : memref<?xf32>
      }""")
    assert "memref.alloc" not in names and names.count("memref.view") == 3 and names.count("llvm.call") == 1


def test_a_size_from_data_is_allocated_and_freed(parse):
    names, module = planned(parse, """
      %f = memref.load %x[%c0] : memref<?xf32>
      %k = arith.fptosi %f : f32 to i64
      %n = arith.index_cast %k : i64 to index
      %t = memref.alloc(%n) : memref<?xf32>
      linalg.fill ins(%f : f32) outs(%t : memref<?xf32>)
      %g = memref.load %t[%c0] : memref<?xf32>
      memref.store %g, %x[%c0] : memref<?xf32>""")
    assert "memref.alloc" not in names and "memref.view" not in names
    assert "@om_alloc" in str(module) and "memref.dealloc" in names


def test_scratch_of_a_thread_is_on_its_stack(parse):
    names, _ = planned(parse, """
      %c1 = arith.constant 1 : index
      %f = arith.constant 1.0 : f32
      %n = memref.dim %x, %c0 : memref<?xf32>
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %t = memref.alloc() : memref<16xf32>
        memref.store %f, %t[%c0] : memref<16xf32>
        scf.reduce
      }""")
    assert "memref.alloca" in names and "llvm.call" not in names


def test_a_division_does_not_trap_when_hoisted(parse):
    names, _ = planned(parse, """
      %f = arith.constant 1.0 : f32
      %n = memref.dim %x, %c0 : memref<?xf32>
      scf.if %b {
        %m = arith.divsi %n, %n : index
        %t = memref.alloc(%m) : memref<?xf32>
        memref.store %f, %t[%c0] : memref<?xf32>
      }""")
    assert names.count("arith.select") >= 2 and "memref.alloc" not in names
