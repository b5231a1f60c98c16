"""The thread pool as MLIR text.

The state is an array of i32 words on pages of its own, which read as zero in a forked child (the child starts its own workers). A
caller takes the lock; where it is taken (a nested call, another thread's call) it runs its steps itself. It publishes a job by a new
`SEQUENCE` number and opens the door: `DOOR` holds OPEN plus the number of workers inside. Workers enter by compare-and-exchange, so none
can enter a job that is over. Each thread has a range of the job's chunks, the same share of every job, so that what a thread wrote in one
job it reads from its own cache in the next; a thread whose range is empty takes chunks from the ends of others'. At the end the caller
closes the door and waits for it to be 0.
Waiting is a bounded spin, then sleep on a futex. What a worker does is in `worker`, how it rests in `spares`, what differs between systems in
`system`. A library
that is unloaded ends its workers first (`onemlir_pool_destroy`).
"""
from __future__ import annotations

import platform
import sys

from .ranges import RANGES
from .spares import spares_text
from .system import system_text
from .worker import SPINS, worker_text

PASSES = ("convert-scf-to-cf,arith-expand,convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
          "reconcile-unrealized-casts,canonicalize,cse")

PAUSE = {
    "x86_64": 'llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()',
    "aarch64": '%hint = llvm.mlir.constant(1 : i32) : i32\n    llvm.call_intrinsic "llvm.aarch64.hint"(%hint) : (i32) -> ()',
}

POOL = """
func.func private @mmap(!llvm.ptr, i64, i32, i32, i32, i64) -> !llvm.ptr
func.func private @{inherit}(!llvm.ptr, i64, i32) -> i32
func.func private @pthread_create(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
func.func private @pthread_join({thread}, !llvm.ptr) -> i32
func.func private @getpid() -> i32

// Words: 0 lock, 1 workers, 2 sequence, 4 workers shall end, 5 process, 6 workers that have a number, 7 resting workers, 8 those called, 16
// door, 17 caller sleeps, 18 limit (workers that may enter), 19 the caller's processor; 64-bit words: 16 body, 17 context, 18 count, 19 chunk,
// 20 ranges, 21 ns for which workers were missing, 22 the time up to which that is known, 64 and on the workers' threads, 512 and on the
// ranges, each on a line of 64 bytes: the first chunk in the lower half, the end in the upper one.
func.func @onemlir_pool_create() -> !llvm.ptr {{
  %null = llvm.mlir.zero : !llvm.ptr
  %size = llvm.mlir.constant({size} : i64) : i64
  %access = llvm.mlir.constant(3 : i32) : i32
  %flags = llvm.mlir.constant({anonymous} : i32) : i32
  %file = llvm.mlir.constant(-1 : i32) : i32
  %offset = llvm.mlir.constant(0 : i64) : i64
  %wipe = llvm.mlir.constant({wipe} : i32) : i32
  %page = func.call @mmap(%null, %size, %access, %flags, %file, %offset) : (!llvm.ptr, i64, i32, i32, i32, i64) -> !llvm.ptr
  %r = func.call @{inherit}(%page, %size, %wipe) : (!llvm.ptr, i64, i32) -> i32
  return %page : !llvm.ptr
}}

// Start workers until there are as many as wanted; the lock is held. One that cannot be started is done without.
func.func private @om_pool_start(%state: !llvm.ptr, %wanted: i32) {{
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %workers_at = llvm.getelementptr %state[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %process_at = llvm.getelementptr %state[5] : (!llvm.ptr) -> !llvm.ptr, i32
  %threads_at = llvm.getelementptr %state[64] : (!llvm.ptr) -> !llvm.ptr, i64
  %process = func.call @getpid() : () -> i32
  llvm.store %process, %process_at : i32, !llvm.ptr
  %function = func.constant @om_pool_worker : (!llvm.ptr) -> !llvm.ptr
  %worker = builtin.unrealized_conversion_cast %function : (!llvm.ptr) -> !llvm.ptr to !llvm.ptr
  scf.while : () -> () {{
    %now = llvm.load %workers_at : !llvm.ptr -> i32
    %fewer = arith.cmpi slt, %now, %wanted : i32
    %started = scf.if %fewer -> i1 {{
      %thread = llvm.getelementptr %threads_at[%now] : (!llvm.ptr, i32) -> !llvm.ptr, i64
      %r = func.call @pthread_create(%thread, %null, %worker, %state) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
      %ok = arith.cmpi eq, %r, %zero : i32
      scf.if %ok {{
        %more = arith.addi %now, %one : i32
        llvm.store %more, %workers_at : i32, !llvm.ptr
      }}
      scf.yield %ok : i1
    }} else {{
      %no = llvm.mlir.constant(false) : i1
      scf.yield %no : i1
    }}
    scf.condition(%started)
  }} do {{
    scf.yield
  }}
  return
}}

// `pool` is the handle of a session: {{state, threads}}. Runs body(context, begin, end) over 0..count.
func.func @onemlir_parallel_for(%pool: !llvm.ptr, %body: !llvm.ptr, %context: !llvm.ptr, %count: i64, %grain: i64) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero64 = llvm.mlir.constant(0 : i64) : i64
  %one64 = llvm.mlir.constant(1 : i64) : i64
  %state = llvm.load %pool : !llvm.ptr -> !llvm.ptr
  %threads_at = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %threads = llvm.load %threads_at : !llvm.ptr -> i64
  %long = arith.cmpi sgt, %count, %grain : i64
  %many = arith.cmpi sgt, %threads, %one64 : i64
  %shared = arith.andi %long, %many : i1
  %locked = scf.if %shared -> i1 {{
    %pair = llvm.cmpxchg %state, %zero, %one acq_rel monotonic : !llvm.ptr, i32
    %got = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    scf.yield %got : i1
  }} else {{
    %no = llvm.mlir.constant(false) : i1
    scf.yield %no : i1
  }}
  scf.if %locked {{
    func.call @om_pool_run(%state, %threads, %body, %context, %count, %grain) : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.store %zero, %state atomic release {{alignment = 4 : i64}} : i32, !llvm.ptr
  }} else {{
    %some = arith.cmpi sgt, %count, %zero64 : i64
    scf.if %some {{
      llvm.call %body(%context, %zero64, %count) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
    }}
  }}
  return
}}

func.func private @om_pool_run(%state: !llvm.ptr, %threads: i64, %body: !llvm.ptr, %context: !llvm.ptr, %count: i64, %grain: i64) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero64 = llvm.mlir.constant(0 : i64) : i64
  %one64 = llvm.mlir.constant(1 : i64) : i64
  %chunks = llvm.mlir.constant(8 : i64) : i64
  %open = llvm.mlir.constant(65536 : i32) : i32
  %no = llvm.mlir.constant(false) : i1
  %workers_at = llvm.getelementptr %state[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %sequence_at = llvm.getelementptr %state[2] : (!llvm.ptr) -> !llvm.ptr, i32
  %door_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i32
  %waiting_at = llvm.getelementptr %state[17] : (!llvm.ptr) -> !llvm.ptr, i32
  %limit_at = llvm.getelementptr %state[18] : (!llvm.ptr) -> !llvm.ptr, i32
  %most = llvm.mlir.constant({most} : i64) : i64
  %others = arith.subi %threads, %one64 : i64
  %wanted64 = arith.minsi %others, %most : i64
  %wanted = arith.trunci %wanted64 : i64 to i32
  %workers = llvm.load %workers_at : !llvm.ptr -> i32
  %fewer = arith.cmpi slt, %workers, %wanted : i32
  scf.if %fewer {{
    func.call @om_pool_start(%state, %wanted) : (!llvm.ptr, i32) -> ()
  }}
  // The job: chunks of at least the grain, about eight for each thread.
  %parts = arith.muli %threads, %chunks : i64
  %even = arith.ceildivsi %count, %parts : i64
  %chunk = arith.maxsi %even, %grain : i64
  %body_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i64
  %context_at = llvm.getelementptr %state[17] : (!llvm.ptr) -> !llvm.ptr, i64
  %count_at = llvm.getelementptr %state[18] : (!llvm.ptr) -> !llvm.ptr, i64
  %chunk_at = llvm.getelementptr %state[19] : (!llvm.ptr) -> !llvm.ptr, i64
  %ranges_at = llvm.getelementptr %state[20] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %body, %body_at : !llvm.ptr, !llvm.ptr
  llvm.store %context, %context_at : !llvm.ptr, !llvm.ptr
  llvm.store %count, %count_at : i64, !llvm.ptr
  llvm.store %chunk, %chunk_at : i64, !llvm.ptr
  %ranges = arith.addi %wanted64, %one64 : i64
  llvm.store %ranges, %ranges_at : i64, !llvm.ptr
  %number = arith.ceildivsi %count, %chunk : i64
  func.call @om_pool_share(%state, %number, %ranges) : (!llvm.ptr, i64, i64) -> ()
  %cpu_at = llvm.getelementptr %state[19] : (!llvm.ptr) -> !llvm.ptr, i32
  %cpu = func.call @om_pool_cpu() : () -> i32
  llvm.store %cpu, %cpu_at atomic monotonic {{alignment = 4 : i64}} : i32, !llvm.ptr
  llvm.store %wanted, %limit_at atomic release {{alignment = 4 : i64}} : i32, !llvm.ptr
  llvm.store %open, %door_at atomic seq_cst {{alignment = 4 : i64}} : i32, !llvm.ptr
  %old = llvm.atomicrmw add %sequence_at, %one seq_cst : !llvm.ptr, i32
  %resting_at = llvm.getelementptr %state[7] : (!llvm.ptr) -> !llvm.ptr, i32
  %started = llvm.load %workers_at : !llvm.ptr -> i32
  %resting = llvm.load %resting_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %active = arith.subi %started, %resting : i32
  %missing = arith.subi %wanted, %active : i32
  %called = func.call @om_pool_call(%state, %missing) : (!llvm.ptr, i32) -> i1
  func.call @om_pool_relieve(%state, %wanted, %zero) : (!llvm.ptr, i32, i32) -> ()
  %since_at = llvm.getelementptr %state[22] : (!llvm.ptr) -> !llvm.ptr, i64
  %now = func.call @om_pool_time() : () -> i64
  llvm.store %now, %since_at : i64, !llvm.ptr
  scf.while : () -> () {{
    %some = func.call @om_pool_take(%state, %zero64) : (!llvm.ptr, i64) -> i1
    scf.if %some {{
      func.call @om_pool_watch(%state, %wanted) : (!llvm.ptr, i32) -> ()
    }}
    scf.condition(%some)
  }} do {{
    scf.yield
  }}
  // Close the door and wait for those inside.
  %closing = arith.subi %zero, %open : i32
  %was = llvm.atomicrmw add %door_at, %closing seq_cst : !llvm.ptr, i32
  %spins = llvm.mlir.constant({spins} : i32) : i32
  func.call @om_pool_spin(%door_at, %zero, %no, %spins) : (!llvm.ptr, i32, i1, i32) -> ()
  %inside_now = llvm.load %door_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %still = arith.cmpi ne, %inside_now, %zero : i32
  scf.if %still {{
    llvm.store %one, %waiting_at atomic seq_cst {{alignment = 4 : i64}} : i32, !llvm.ptr
    %last = scf.while : () -> i32 {{
      %inside = llvm.load %door_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
      %some = arith.cmpi ne, %inside, %zero : i32
      scf.condition(%some) %inside : i32
    }} do {{
    ^bb0(%inside: i32):
      func.call @om_pool_wait(%door_at, %inside) : (!llvm.ptr, i32) -> ()
      scf.yield
    }}
    llvm.store %zero, %waiting_at atomic seq_cst {{alignment = 4 : i64}} : i32, !llvm.ptr
  }}
  return
}}
"""

# When the code is unloaded. A run that goes on (the process ends meanwhile) keeps the lock, and with it its workers. A child of fork has no
# workers to wait for. The pages stay, empty: a run of another thread may still read them.
DESTROY = """
func.func @onemlir_pool_destroy(%state: !llvm.ptr) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %size = llvm.mlir.constant({size} : i64) : i64
  %unneeded = llvm.mlir.constant(4 : i32) : i32
  %process_at = llvm.getelementptr %state[5] : (!llvm.ptr) -> !llvm.ptr, i32
  %pair = llvm.cmpxchg %state, %zero, %one acq_rel monotonic : !llvm.ptr, i32
  %idle = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
  %here = func.call @getpid() : () -> i32
  %owner = llvm.load %process_at : !llvm.ptr -> i32
  %mine = arith.cmpi eq, %here, %owner : i32
  %join = arith.andi %idle, %mine : i1
  scf.if %join {{
    func.call @om_pool_join(%state) : (!llvm.ptr) -> ()
  }}
  scf.if %idle {{
    llvm.store %zero, %state atomic release {{alignment = 4 : i64}} : i32, !llvm.ptr
    %r = func.call @madvise(%state, %size, %unneeded) : (!llvm.ptr, i64, i32) -> i32
  }}
  return
}}

func.func private @om_pool_join(%state: !llvm.ptr) {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %null = llvm.mlir.zero : !llvm.ptr
  %workers_at = llvm.getelementptr %state[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %sequence_at = llvm.getelementptr %state[2] : (!llvm.ptr) -> !llvm.ptr, i32
  %stop_at = llvm.getelementptr %state[4] : (!llvm.ptr) -> !llvm.ptr, i32
  %called_at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i32
  %threads_at = llvm.getelementptr %state[64] : (!llvm.ptr) -> !llvm.ptr, i64
  %workers = llvm.load %workers_at : !llvm.ptr -> i32
  llvm.store %one, %stop_at atomic seq_cst {{alignment = 4 : i64}} : i32, !llvm.ptr
  %old = llvm.atomicrmw add %sequence_at, %one seq_cst : !llvm.ptr, i32
  %calls = llvm.atomicrmw add %called_at, %workers seq_cst : !llvm.ptr, i32
  func.call @om_pool_wake(%called_at, %workers) : (!llvm.ptr, i32) -> ()
  scf.for %i = %zero to %workers step %one : i32 {{
    %at = llvm.getelementptr %threads_at[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i64
    %thread = llvm.load %at : !llvm.ptr -> {thread}
    %r = func.call @pthread_join(%thread, %null) : ({thread}, !llvm.ptr) -> i32
  }}
  %numbered_at = llvm.getelementptr %state[6] : (!llvm.ptr) -> !llvm.ptr, i32
  llvm.store %zero, %numbered_at : i32, !llvm.ptr
  llvm.store %zero, %workers_at : i32, !llvm.ptr
  llvm.store %zero, %stop_at : i32, !llvm.ptr
  return
}}
"""

MOST_WORKERS = 448  # whose threads the first page has room for
SIZE = 4096 + 64 * (MOST_WORKERS + 1)
EXPORTED = ("onemlir_pool_create", "onemlir_parallel_for", "onemlir_pool_destroy")


def pool_source(machine: str = "", system: str = "") -> str:
    """The module's text for a machine (`x86_64` or `aarch64`) and a system (`linux` or `darwin`), this one's unless given."""
    machine = (machine or platform.machine()).lower().replace("arm64", "aarch64").replace("amd64", "x86_64")
    system = system or sys.platform
    own, names = system_text(machine, system)
    shared = (POOL + RANGES + DESTROY).format(spins=SPINS, most=MOST_WORKERS, size=SIZE, **names)
    return shared + spares_text(MOST_WORKERS) + worker_text(pause=PAUSE[machine], **names) + own


def pool_module(context, machine: str = "", system: str = ""):
    """The pool as a module in the LLVM dialect, ready for the engine or for a library; only `EXPORTED` is visible outside."""
    from mlir import ir
    from mlir.passmanager import PassManager

    module = ir.Module.parse(pool_source(machine, system), context)
    PassManager.parse(f"builtin.module({PASSES})", context).run(module.operation)
    internal = ir.Attribute.parse("#llvm.linkage<internal>", context)
    for op in module.body.operations:
        if len(op.regions[0].blocks) and ir.StringAttr(op.attributes["sym_name"]).value not in EXPORTED:
            op.attributes["linkage"] = internal
    return module
