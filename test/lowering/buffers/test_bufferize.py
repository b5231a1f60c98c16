"""Which buffers and copies bufferization leaves."""
from onemlir.lowering.buffers import bufferize
from onemlir.lowering.buffers.functions import entry_functions, roles, walk


def names(module):
    return [op.name for op in walk(module.operation)]


ADD = "%e{0} = tensor.empty({1}) : {2}\n %s{0} = linalg.add ins({3}, {4} : {2}, {2}) outs(%e{0} : {2}) -> {2}\n"


def test_results_go_to_destinations_without_a_copy(parse):
    module = parse(f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{ {ADD.format(1, '', 'tensor<4xf32>', '%x', '%x')} return %s1 : tensor<4xf32> }}")
    bufferize(module)
    (function,) = entry_functions(module)
    assert roles(function) == ["input", "output", "context"]
    assert not {"memref.alloc", "memref.copy"} & set(names(module))


LOOP = """func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%h = %x) -> tensor<?x4xf32> {{
    {body}
    scf.yield %s1 : tensor<?x4xf32>
  }}
  return %r : tensor<?x4xf32> }}"""


def test_a_dynamic_state_is_carried_in_place(parse):
    body = "%n = tensor.dim %h, %c0 : tensor<?x4xf32>\n" + ADD.format(1, "%n", "tensor<?x4xf32>", "%h", "%y")
    module = parse(LOOP.format(body=body))
    bufferize(module)
    (loop,) = walk(module.operation, "scf.for")
    assert not len(loop.results) and "memref.alloc" not in [op.name for op in walk(loop) if len(op.operands) == 0]


def test_a_state_of_unknown_size_is_not(parse):
    body = "%n = tensor.dim %y, %c0 : tensor<?x4xf32>\n" + ADD.format(1, "%n", "tensor<?x4xf32>", "%h", "%y")
    module = parse(LOOP.format(body=body))
    bufferize(module)
    (loop,) = walk(module.operation, "scf.for")
    assert len(loop.results) == 1


def test_unless_the_loop_promises_it(parse):
    body = "%n = tensor.dim %y, %c0 : tensor<?x4xf32>\n" + ADD.format(1, "%n", "tensor<?x4xf32>", "%h", "%y")
    module = parse(LOOP.format(body=body).replace("scf.yield %s1 : tensor<?x4xf32>\n  }", "scf.yield %s1 : tensor<?x4xf32>\n  } {om.fixed_sizes}"))
    bufferize(module)
    (loop,) = walk(module.operation, "scf.for")
    assert not len(loop.results)
