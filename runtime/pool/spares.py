"""Spare workers of the pool, as MLIR text.

Where another library's threads spin, a worker has a part of a processor only. A caller that misses a worker for some chunks calls a spare
one, which the scheduler gives a turn of its own; a worker that comes back and finds its place taken is a spare from then on. No more
threads than wanted work at once.
"""
from __future__ import annotations

SPARES = 5  # more than the workers a job wants
MISSED = 2  # chunks that the caller takes without a worker before it calls a spare one

TEXT = """
// Give a spare worker leave to work; false where there is none.
func.func private @om_pool_call(%state: !llvm.ptr) -> i1 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %spares_at = llvm.getelementptr %state[7] : (!llvm.ptr) -> !llvm.ptr, i32
  %called_at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i32
  %spares = llvm.load %spares_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %some = arith.cmpi sgt, %spares, %zero : i32
  scf.if %some {{
    %a = llvm.atomicrmw add %spares_at, %minus seq_cst : !llvm.ptr, i32
    %b = llvm.atomicrmw add %called_at, %one seq_cst : !llvm.ptr, i32
    func.call @om_pool_wake(%called_at) : (!llvm.ptr) -> ()
  }}
  return %some : i1
}}

// The caller has taken a chunk: call a spare worker where one that does not sleep has been missing for some chunks. Of many workers a few are
// always between two chunks, so that a quarter is not missed.
func.func private @om_pool_watch(%state: !llvm.ptr, %wanted: i32) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %inside_mask = llvm.mlir.constant(65535 : i32) : i32
  %patience = llvm.mlir.constant({missed} : i32) : i32
  %door_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i32
  %missed_at = llvm.getelementptr %state[9] : (!llvm.ptr) -> !llvm.ptr, i32
  %door = llvm.load %door_at atomic monotonic {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %inside = arith.andi %door, %inside_mask : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %quarter = arith.shrui %wanted, %two : i32
  %enough = arith.subi %wanted, %quarter : i32
  %out = arith.cmpi ult, %inside, %enough : i32
  %sleepers_at = llvm.getelementptr %state[3] : (!llvm.ptr) -> !llvm.ptr, i32
  %sleepers = llvm.load %sleepers_at atomic monotonic {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %awake = arith.cmpi eq, %sleepers, %zero : i32
  %fewer = arith.andi %out, %awake : i1
  %missed = llvm.load %missed_at : !llvm.ptr -> i32
  %more = arith.addi %missed, %one : i32
  %count = arith.select %fewer, %more, %zero : i32
  %late = arith.cmpi sge, %count, %patience : i32
  %left = arith.select %late, %zero, %count : i32
  llvm.store %left, %missed_at : i32, !llvm.ptr
  scf.if %late {{
    func.call @om_pool_replace(%state, %wanted, %inside) : (!llvm.ptr, i32, i32) -> ()
  }}
  return
}}

// Call a spare worker if there is a processor for it and a chunk; start one where all that were started have their places.
func.func private @om_pool_replace(%state: !llvm.ptr, %wanted: i32, %inside: i32) {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %processors = func.call @om_pool_processors() : () -> i32
  %others = arith.subi %processors, %one : i32
  %free = arith.cmpi slt, %inside, %others : i32
  %left = func.call @om_pool_left(%state) : (!llvm.ptr) -> i1
  %may = arith.andi %free, %left : i1
  scf.if %may {{
    %called = func.call @om_pool_call(%state) : (!llvm.ptr) -> i1
    scf.if %called {{
    }} else {{
      %spare = llvm.mlir.constant({spares} : i32) : i32
      %most = llvm.mlir.constant({most} : i32) : i32
      %workers_at = llvm.getelementptr %state[1] : (!llvm.ptr) -> !llvm.ptr, i32
      %numbered_at = llvm.getelementptr %state[6] : (!llvm.ptr) -> !llvm.ptr, i32
      %workers = llvm.load %workers_at : !llvm.ptr -> i32
      %numbered = llvm.load %numbered_at atomic monotonic {{alignment = 4 : i64}} : !llvm.ptr -> i32
      %running = arith.cmpi eq, %workers, %numbered : i32
      %next = arith.addi %workers, %one : i32
      %all = arith.addi %wanted, %spare : i32
      %room = arith.minsi %all, %most : i32
      %more = arith.minsi %next, %room : i32
      %started = arith.select %running, %more, %workers : i32
      func.call @om_pool_start(%state, %started) : (!llvm.ptr, i32) -> ()
    }}
  }}
  return
}}

// Sleep as a spare worker until called, or until the workers shall end.
func.func private @om_pool_rest(%state: !llvm.ptr) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %spares_at = llvm.getelementptr %state[7] : (!llvm.ptr) -> !llvm.ptr, i32
  %called_at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i32
  %stop_at = llvm.getelementptr %state[4] : (!llvm.ptr) -> !llvm.ptr, i32
  %a = llvm.atomicrmw add %spares_at, %one seq_cst : !llvm.ptr, i32
  scf.while : () -> () {{
    %stop = llvm.load %stop_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %ended = arith.cmpi ne, %stop, %zero : i32
    %called = llvm.load %called_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %took = scf.if %ended -> i1 {{
      scf.yield %ended : i1
    }} else {{
      %ticket = func.call @om_pool_ticket(%called_at, %called) : (!llvm.ptr, i32) -> i1
      scf.yield %ticket : i1
    }}
    %true = llvm.mlir.constant(true) : i1
    %again = arith.xori %took, %true : i1
    scf.condition(%again)
  }} do {{
    scf.yield
  }}
  return
}}

// Take one of the calls seen; where there is none sleep until there may be.
func.func private @om_pool_ticket(%called_at: !llvm.ptr, %called: i32) -> i1 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %some = arith.cmpi sgt, %called, %zero : i32
  %took = scf.if %some -> i1 {{
    %fewer = arith.subi %called, %one : i32
    %pair = llvm.cmpxchg %called_at, %called, %fewer seq_cst seq_cst : !llvm.ptr, i32
    %success = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    scf.yield %success : i1
  }} else {{
    func.call @om_pool_wait(%called_at, %called) : (!llvm.ptr, i32) -> ()
    scf.yield %some : i1
  }}
  return %took : i1
}}
"""


def spares_text(most: int) -> str:
    """The functions, where `most` workers can be started."""
    return TEXT.format(spares=SPARES, missed=MISSED, most=most)
