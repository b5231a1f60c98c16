"""Resting workers of the pool, as MLIR text.

A worker that has waited a while for a job rests; the caller of the next job calls as many as it misses, those that have rested longest
first. Where another library's threads spin, a worker has a part of a processor only, and the scheduler gives it none at once after it ran.
A caller that misses workers for a while calls others in their place, and starts spare ones for that: one that has rested longer is given a
turn of its own. A worker that comes back and finds its place taken rests. No more threads than wanted work at once.
"""
from __future__ import annotations

SPARES = 5  # more than the workers a job wants
PATIENCE = 40_000  # ns for which a caller misses workers before it calls others

TEXT = """
func.func private @sched_yield() -> i32

// Have up to so many resting workers work; false where none rests.
func.func private @om_pool_call(%state: !llvm.ptr, %wanted: i32) -> i1 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %resting_at = llvm.getelementptr %state[7] : (!llvm.ptr) -> !llvm.ptr, i32
  %called_at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i32
  %resting = llvm.load %resting_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %count = arith.minsi %resting, %wanted : i32
  %some = arith.cmpi sgt, %count, %zero : i32
  scf.if %some {{
    %less = arith.subi %zero, %count : i32
    %a = llvm.atomicrmw add %resting_at, %less seq_cst : !llvm.ptr, i32
    %b = llvm.atomicrmw add %called_at, %count seq_cst : !llvm.ptr, i32
    func.call @om_pool_wake(%called_at, %count) : (!llvm.ptr, i32) -> ()
  }}
  return %some : i1
}}

// The caller has taken a chunk: call others where workers have been missing for a while, since the job began or since the first time that the
// caller saw it: a worker may just be between two chunks. Of many workers a few always are, so that a quarter is not missed.
func.func private @om_pool_watch(%state: !llvm.ptr, %wanted: i32) {{
  %none = llvm.mlir.constant(0 : i64) : i64
  %inside_mask = llvm.mlir.constant(65535 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %door_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i32
  %missed_at = llvm.getelementptr %state[21] : (!llvm.ptr) -> !llvm.ptr, i64
  %since_at = llvm.getelementptr %state[22] : (!llvm.ptr) -> !llvm.ptr, i64
  %door = llvm.load %door_at atomic monotonic {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %inside = arith.andi %door, %inside_mask : i32
  %quarter = arith.shrui %wanted, %two : i32
  %enough = arith.subi %wanted, %quarter : i32
  %fewer = arith.cmpi ult, %inside, %enough : i32
  scf.if %fewer {{
    %now = func.call @om_pool_time() : () -> i64
    %since = llvm.load %since_at : !llvm.ptr -> i64
    %missed = llvm.load %missed_at : !llvm.ptr -> i64
    %passed = arith.subi %now, %since : i64
    %first = arith.cmpi eq, %since, %none : i64
    %added = arith.select %first, %none, %passed : i64
    %more = arith.addi %missed, %added : i64
    llvm.store %now, %since_at : i64, !llvm.ptr
    llvm.store %more, %missed_at : i64, !llvm.ptr
    func.call @om_pool_relieve(%state, %wanted, %inside) : (!llvm.ptr, i32, i32) -> ()
  }} else {{
    llvm.store %none, %since_at : i64, !llvm.ptr
    llvm.store %none, %missed_at : i64, !llvm.ptr
  }}
  return
}}

// Call another worker if some were missing for long, and there are a processor and a chunk for it.
func.func private @om_pool_relieve(%state: !llvm.ptr, %wanted: i32, %inside: i32) {{
  %none = llvm.mlir.constant(0 : i64) : i64
  %patience = llvm.mlir.constant({patience} : i64) : i64
  %missed_at = llvm.getelementptr %state[21] : (!llvm.ptr) -> !llvm.ptr, i64
  %missed = llvm.load %missed_at : !llvm.ptr -> i64
  %late = arith.cmpi sge, %missed, %patience : i64
  scf.if %late {{
    %left = func.call @om_pool_left(%state) : (!llvm.ptr) -> i1
    scf.if %left {{
      llvm.store %none, %missed_at : i64, !llvm.ptr
      func.call @om_pool_replace(%state, %wanted, %inside) : (!llvm.ptr, i32, i32) -> ()
    }}
  }}
  return
}}

// Call a resting worker if there is a processor for it; start one where none rests.
func.func private @om_pool_replace(%state: !llvm.ptr, %wanted: i32, %inside: i32) {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %processors = func.call @om_pool_processors() : () -> i32
  %others = arith.subi %processors, %one : i32
  %free = arith.cmpi slt, %inside, %others : i32
  scf.if %free {{
    %called = func.call @om_pool_call(%state, %one) : (!llvm.ptr, i32) -> i1
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
      // The new one may stand behind the caller, on its processor; it leaves it as soon as it runs.
      %y = func.call @sched_yield() : () -> i32
    }}
  }}
  return
}}

// Sleep until called, or until the workers shall end.
func.func private @om_pool_rest(%state: !llvm.ptr) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %resting_at = llvm.getelementptr %state[7] : (!llvm.ptr) -> !llvm.ptr, i32
  %called_at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i32
  %stop_at = llvm.getelementptr %state[4] : (!llvm.ptr) -> !llvm.ptr, i32
  %a = llvm.atomicrmw add %resting_at, %one seq_cst : !llvm.ptr, i32
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
    return TEXT.format(spares=SPARES, patience=PATIENCE, most=most)
