"""A worker of the pool as MLIR text: it waits for jobs and takes chunks.

Where another thread holds the worker's processor (another library's worker that spins, say), a worker asks for short turns, so that it gets
the processor when it wakes. A thread that wakes is put on the processor of the thread that woke it where no other is free; there it would
only be in the caller's way, so a worker that finds itself on the caller's processor moves to another one. Between chunks the worker is
outside of the job and lets the scheduler see that its turn is over: a worker that is stopped within a chunk, by the next tick, keeps the
caller waiting for milliseconds.
"""
from __future__ import annotations

SPINS = 8000  # pauses, of 20 to 60 ns each, in which a job is awaited before the worker rests: waking takes longer where processors halt

WORKER = """
// Pause a bounded number of times while the word is equal (or is not, where %equal is false) to a value.
func.func private @om_pool_spin(%word: !llvm.ptr, %value: i32, %equal: i1, %spins: i32) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %left = scf.while (%n = %spins) : (i32) -> i32 {{
    %now = llvm.load %word atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %same = arith.cmpi eq, %now, %value : i32
    %wait = arith.cmpi eq, %same, %equal : i1
    %more = arith.cmpi sgt, %n, %zero : i32
    %go = arith.andi %wait, %more : i1
    scf.condition(%go) %n : i32
  }} do {{
  ^bb0(%n: i32):
    {pause}
    %less = arith.addi %n, %minus : i32
    scf.yield %less : i32
  }}
  return
}}

// Enter if the door is open and there is room; the second result tells that there was none.
func.func private @om_pool_enter(%state: !llvm.ptr) -> (i1, i1) {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %true = llvm.mlir.constant(true) : i1
  %no = llvm.mlir.constant(false) : i1
  %open = llvm.mlir.constant(65536 : i32) : i32
  %inside_mask = llvm.mlir.constant(65535 : i32) : i32
  %door_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i32
  %limit_at = llvm.getelementptr %state[18] : (!llvm.ptr) -> !llvm.ptr, i32
  %seen = llvm.load %door_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %tried:2 = scf.while (%door = %seen, %in = %no) : (i32, i1) -> (i32, i1) {{
    %is_open = arith.cmpi uge, %door, %open : i32
    %inside = arith.andi %door, %inside_mask : i32
    %limit = llvm.load %limit_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %room = arith.cmpi ult, %inside, %limit : i32
    %may = arith.andi %is_open, %room : i1
    %out = arith.xori %in, %true : i1
    %go = arith.andi %may, %out : i1
    scf.condition(%go) %door, %in : i32, i1
  }} do {{
  ^bb0(%door: i32, %in: i1):
    %more = arith.addi %door, %one : i32
    %pair = llvm.cmpxchg %door_at, %door, %more seq_cst seq_cst : !llvm.ptr, i32
    %value = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %success = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    scf.yield %value, %success : i32, i1
  }}
  %is_open = arith.cmpi uge, %tried#0, %open : i32
  %out = arith.xori %tried#1, %true : i1
  %full = arith.andi %is_open, %out : i1
  return %tried#1, %full : i1, i1
}}

// Leave; the last one wakes a caller that sleeps.
func.func private @om_pool_leave(%state: !llvm.ptr) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %door_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i32
  %waiting_at = llvm.getelementptr %state[17] : (!llvm.ptr) -> !llvm.ptr, i32
  %before = llvm.atomicrmw add %door_at, %minus seq_cst : !llvm.ptr, i32
  %was_last = arith.cmpi eq, %before, %one : i32
  scf.if %was_last {{
    %waiting = llvm.load %waiting_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %sleeps = arith.cmpi ne, %waiting, %zero : i32
    scf.if %sleeps {{
      func.call @om_pool_wake(%door_at, %one) : (!llvm.ptr, i32) -> ()
    }}
  }}
  return
}}

// Chunks of a job until none is left; true where there was no room.
func.func private @om_pool_work(%state: !llvm.ptr, %own: i64, %accounted: !llvm.ptr) -> i1 {{
  %done = scf.while : () -> i1 {{
    func.call @om_pool_account(%accounted) : (!llvm.ptr) -> ()
    %in:2 = func.call @om_pool_enter(%state) : (!llvm.ptr) -> (i1, i1)
    %took = scf.if %in#0 -> i1 {{
      %some = func.call @om_pool_take(%state, %own) : (!llvm.ptr, i64) -> i1
      func.call @om_pool_leave(%state) : (!llvm.ptr) -> ()
      scf.yield %some : i1
    }} else {{
      scf.yield %in#0 : i1
    }}
    scf.condition(%took) %in#1 : i1
  }} do {{
  ^bb0(%full: i1):
    scf.yield
  }}
  return %done : i1
}}

// A worker waits for the job after number `last`, at first awake. One that may run on the caller's processor alone leaves the job to the
// caller, and does not stay awake.
func.func @om_pool_worker(%state: !llvm.ptr) -> !llvm.ptr {{
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %true = llvm.mlir.constant(true) : i1
  %sequence_at = llvm.getelementptr %state[2] : (!llvm.ptr) -> !llvm.ptr, i32
  %stop_at = llvm.getelementptr %state[4] : (!llvm.ptr) -> !llvm.ptr, i32
  %cpu_at = llvm.getelementptr %state[19] : (!llvm.ptr) -> !llvm.ptr, i32
  %numbered_at = llvm.getelementptr %state[6] : (!llvm.ptr) -> !llvm.ptr, i32
  %before = llvm.atomicrmw add %numbered_at, %one seq_cst : !llvm.ptr, i32
  %number = arith.addi %before, %one : i32
  %own = arith.extui %number : i32 to i64
  func.call @om_pool_slice() : () -> ()
  %one64 = llvm.mlir.constant(1 : i64) : i64
  %zero64 = llvm.mlir.constant(0 : i64) : i64
  %accounted = llvm.alloca %one64 x i64 : (i64) -> !llvm.ptr
  llvm.store %zero64, %accounted : i64, !llvm.ptr
  %spins = llvm.mlir.constant({spins} : i32) : i32
  %ended:2 = scf.while (%last = %zero, %patience = %spins) : (i32, i32) -> (i32, i32) {{
    func.call @om_pool_spin(%sequence_at, %last, %true, %patience) : (!llvm.ptr, i32, i1, i32) -> ()
    %seen = llvm.load %sequence_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %none = arith.cmpi eq, %seen, %last : i32
    scf.if %none {{
      func.call @om_pool_rest(%state) : (!llvm.ptr) -> ()
    }}
    %sequence = llvm.load %sequence_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %cpu = llvm.load %cpu_at atomic monotonic {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %apart = func.call @om_pool_move(%cpu) : (i32) -> i1
    %full = scf.if %apart -> i1 {{
      %left = func.call @om_pool_work(%state, %own, %accounted) : (!llvm.ptr, i64, !llvm.ptr) -> i1
      scf.yield %left : i1
    }} else {{
      scf.yield %apart : i1
    }}
    // One that others have replaced rests at once.
    %out = arith.xori %apart, %true : i1
    %tired = arith.ori %full, %out : i1
    %next_patience = arith.select %tired, %zero, %spins : i32
    %stop = llvm.load %stop_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %stay = arith.cmpi eq, %stop, %zero : i32
    scf.condition(%stay) %sequence, %next_patience : i32, i32
  }} do {{
  ^bb0(%sequence: i32, %patience: i32):
    scf.yield %sequence, %patience : i32, i32
  }}
  return %null : !llvm.ptr
}}
"""


def worker_text(**names) -> str:
    """The worker's functions for the names of the pool's machine and system."""
    return WORKER.format(spins=SPINS, **names)
