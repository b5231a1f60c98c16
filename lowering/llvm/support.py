"""Functions that compiled code carries with it: checked allocation, the arena, the list of what a run has allocated.

The runtime context is an array of i64 words, one for each thread of the caller that runs the function. Pointers are words too.
"""
from __future__ import annotations

import functools
import io

from mlir import ir
from mlir.passmanager import PassManager

PARALLEL_FOR, POOL, THREADS, ARENA, ARENA_BYTES, MEMORY_LIMIT, STATUS, FIRST, LOCK = range(9)
CONTEXT_WORDS = 16
OUT_OF_MEMORY = -1
PASSES = "convert-scf-to-cf,convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize"
EXPORTED = ("onemlir_free", "onemlir_release")

# A block from `om_alloc` has 64 bytes before it: {previous, next, context, size}. The list makes an early return leak nothing. Large blocks
# that were freed are kept for later ones of equal size, of this run or the next, as fresh memory costs a page fault every 4 KiB: their sizes
# are rounded up by at most an eighth, and what is kept and in use is never more than what was in use at once. A context's words: 7 the first
# block in use, 8 the lock, 9 the first kept block, 10 bytes kept, 11 in use, 12 the most that was in use.
TEXT = r"""
func.func private @aligned_alloc(i64, i64) -> !llvm.ptr
func.func private @free(!llvm.ptr)


func.func private @om_out_of_memory(%context: !llvm.ptr, %bytes: i64) {
  %code = llvm.mlir.constant(-1 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %slot = llvm.getelementptr %context[6] : (!llvm.ptr) -> !llvm.ptr, i64
  %status = llvm.load %slot : !llvm.ptr -> !llvm.ptr
  %pair = llvm.cmpxchg %status, %zero, %code seq_cst seq_cst : !llvm.ptr, i64
  %first = llvm.extractvalue %pair[1] : !llvm.struct<(i64, i1)>
  scf.if %first {
    %found = llvm.getelementptr %status[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %bytes, %found : i64, !llvm.ptr
  }
  // Nothing is kept of such a run.
  %most_at = llvm.getelementptr %context[12] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %zero, %most_at : i64, !llvm.ptr
  func.call @om_drop(%context) : (!llvm.ptr) -> ()
  return
}

// Memory of the system, or null; `%bytes` is at most 2^62.
func.func private @om_system_alloc(%context: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %slot = llvm.getelementptr %context[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %limit = llvm.load %slot : !llvm.ptr -> i64
  %fits = arith.cmpi ule, %bytes, %limit : i64
  %p = scf.if %fits -> !llvm.ptr {
    %q = func.call @om_aligned(%bytes) : (i64) -> !llvm.ptr
    %failed = llvm.icmp "eq" %q, %null : !llvm.ptr
    %again = scf.if %failed -> !llvm.ptr {
      func.call @om_drop(%context) : (!llvm.ptr) -> ()
      %r = func.call @om_aligned(%bytes) : (i64) -> !llvm.ptr
      scf.yield %r : !llvm.ptr
    } else {
      scf.yield %q : !llvm.ptr
    }
    scf.yield %again : !llvm.ptr
  } else {
    scf.yield %null : !llvm.ptr
  }
  %none = llvm.icmp "eq" %p, %null : !llvm.ptr
  scf.if %none {
    func.call @om_out_of_memory(%context, %bytes) : (!llvm.ptr, i64) -> ()
  }
  return %p : !llvm.ptr
}

func.func private @om_aligned(%bytes: i64) -> !llvm.ptr {
  %c63 = llvm.mlir.constant(63 : i64) : i64
  %mask = llvm.mlir.constant(-64 : i64) : i64
  %c64 = llvm.mlir.constant(64 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %some = arith.maxui %bytes, %one : i64
  %more = arith.addi %some, %c63 : i64
  %rounded = arith.andi %more, %mask : i64
  %q = func.call @aligned_alloc(%c64, %rounded) : (i64, i64) -> !llvm.ptr
  return %q : !llvm.ptr
}

// The arena of this context, grown when it is too small.
func.func private @om_arena(%context: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %slot = llvm.getelementptr %context[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.getelementptr %context[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %old = llvm.load %slot : !llvm.ptr -> !llvm.ptr
  %capacity = llvm.load %size : !llvm.ptr -> i64
  %enough = arith.cmpi ule, %bytes, %capacity : i64
  %there = llvm.icmp "ne" %old, %null : !llvm.ptr
  %keep = arith.andi %enough, %there : i1
  %p = scf.if %keep -> !llvm.ptr {
    scf.yield %old : !llvm.ptr
  } else {
    func.call @free(%old) : (!llvm.ptr) -> ()
    llvm.store %null, %slot : !llvm.ptr, !llvm.ptr
    llvm.store %zero, %size : i64, !llvm.ptr
    %new = func.call @om_system_alloc(%context, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
    %got = llvm.icmp "ne" %new, %null : !llvm.ptr
    scf.if %got {
      llvm.store %new, %slot : !llvm.ptr, !llvm.ptr
      llvm.store %bytes, %size : i64, !llvm.ptr
    }
    scf.yield %new : !llvm.ptr
  }
  return %p : !llvm.ptr
}

func.func private @om_lock(%context: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %lock = llvm.getelementptr %context[8] : (!llvm.ptr) -> !llvm.ptr, i64
  scf.while : () -> () {
    %old = llvm.atomicrmw xchg %lock, %one acquire : !llvm.ptr, i64
    %busy = arith.cmpi ne, %old, %zero : i64
    scf.condition(%busy)
  } do {
    scf.yield
  }
  return
}

func.func private @om_unlock(%context: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %lock = llvm.getelementptr %context[8] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %zero, %lock atomic release {alignment = 8 : i64} : i64, !llvm.ptr
  return
}

// The size of a block of so many bytes: that of a large one is rounded up, where the limit of memory allows it.
func.func private @om_block_size(%context: !llvm.ptr, %bytes: i64) -> i64 {
  %small = llvm.mlir.constant(32768 : i64) : i64
  %bits = llvm.mlir.constant(60 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %no = llvm.mlir.constant(false) : i1
  %slot = llvm.getelementptr %context[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %limit = llvm.load %slot : !llvm.ptr -> i64
  %large = arith.cmpi uge, %bytes, %small : i64
  %size = scf.if %large -> i64 {
    %zeros = "llvm.intr.ctlz"(%bytes) <{is_zero_poison = false}> : (i64) -> i64
    %shift = arith.subi %bits, %zeros : i64
    %step = arith.shli %one, %shift : i64
    %last = arith.subi %step, %one : i64
    %more = arith.addi %bytes, %last : i64
    %whole = arith.shrui %more, %shift : i64
    %rounded = arith.shli %whole, %shift : i64
    %fits = arith.cmpi ule, %rounded, %limit : i64
    %chosen = arith.select %fits, %rounded, %bytes : i64
    scf.yield %chosen : i64
  } else {
    scf.yield %bytes : i64
  }
  return %size : i64
}

// A kept block of this size, or null.
func.func private @om_kept(%context: !llvm.ptr, %size: i64) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %first = llvm.getelementptr %context[9] : (!llvm.ptr) -> !llvm.ptr, i64
  func.call @om_lock(%context) : (!llvm.ptr) -> ()
  %place = scf.while (%slot = %first) : (!llvm.ptr) -> !llvm.ptr {
    %block = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    %some = llvm.icmp "ne" %block, %null : !llvm.ptr
    %other = scf.if %some -> i1 {
      %size_at = llvm.getelementptr %block[3] : (!llvm.ptr) -> !llvm.ptr, i64
      %its = llvm.load %size_at : !llvm.ptr -> i64
      %differs = arith.cmpi ne, %its, %size : i64
      scf.yield %differs : i1
    } else {
      scf.yield %some : i1
    }
    scf.condition(%other) %slot : !llvm.ptr
  } do {
  ^bb0(%slot: !llvm.ptr):
    %block = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    %next_at = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, i64
    scf.yield %next_at : !llvm.ptr
  }
  %found = llvm.load %place : !llvm.ptr -> !llvm.ptr
  %some = llvm.icmp "ne" %found, %null : !llvm.ptr
  scf.if %some {
    func.call @om_take_kept(%context, %place) : (!llvm.ptr, !llvm.ptr) -> ()
  }
  func.call @om_unlock(%context) : (!llvm.ptr) -> ()
  return %found : !llvm.ptr
}

// Take the block that a place in the list of kept ones names out of it; the lock is held.
func.func private @om_take_kept(%context: !llvm.ptr, %place: !llvm.ptr) {
  %block = llvm.load %place : !llvm.ptr -> !llvm.ptr
  %next_at = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size_at = llvm.getelementptr %block[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %kept_at = llvm.getelementptr %context[10] : (!llvm.ptr) -> !llvm.ptr, i64
  %next = llvm.load %next_at : !llvm.ptr -> !llvm.ptr
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %kept = llvm.load %kept_at : !llvm.ptr -> i64
  %left = arith.subi %kept, %size : i64
  llvm.store %next, %place : !llvm.ptr, !llvm.ptr
  llvm.store %left, %kept_at : i64, !llvm.ptr
  return
}

// Keep a freed block, and give back those kept longest until what is kept and in use is at most what was in use at once.
func.func private @om_keep(%context: !llvm.ptr, %block: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %first = llvm.getelementptr %context[9] : (!llvm.ptr) -> !llvm.ptr, i64
  %kept_at = llvm.getelementptr %context[10] : (!llvm.ptr) -> !llvm.ptr, i64
  %used_at = llvm.getelementptr %context[11] : (!llvm.ptr) -> !llvm.ptr, i64
  %most_at = llvm.getelementptr %context[12] : (!llvm.ptr) -> !llvm.ptr, i64
  %next_at = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size_at = llvm.getelementptr %block[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %size_at : !llvm.ptr -> i64
  func.call @om_lock(%context) : (!llvm.ptr) -> ()
  %next = llvm.load %first : !llvm.ptr -> !llvm.ptr
  %kept = llvm.load %kept_at : !llvm.ptr -> i64
  %more = arith.addi %kept, %size : i64
  llvm.store %next, %next_at : !llvm.ptr, !llvm.ptr
  llvm.store %block, %first : !llvm.ptr, !llvm.ptr
  llvm.store %more, %kept_at : i64, !llvm.ptr
  scf.while : () -> () {
    %now = llvm.load %kept_at : !llvm.ptr -> i64
    %used = llvm.load %used_at : !llvm.ptr -> i64
    %most = llvm.load %most_at : !llvm.ptr -> i64
    %all = arith.addi %now, %used : i64
    %over = arith.cmpi ugt, %all, %most : i64
    scf.condition(%over)
  } do {
    %oldest = scf.while (%slot = %first) : (!llvm.ptr) -> !llvm.ptr {
      %b = llvm.load %slot : !llvm.ptr -> !llvm.ptr
      %behind_at = llvm.getelementptr %b[1] : (!llvm.ptr) -> !llvm.ptr, i64
      %behind = llvm.load %behind_at : !llvm.ptr -> !llvm.ptr
      %later = llvm.icmp "ne" %behind, %null : !llvm.ptr
      scf.condition(%later) %slot : !llvm.ptr
    } do {
    ^bb0(%slot: !llvm.ptr):
      %b = llvm.load %slot : !llvm.ptr -> !llvm.ptr
      %behind_at = llvm.getelementptr %b[1] : (!llvm.ptr) -> !llvm.ptr, i64
      scf.yield %behind_at : !llvm.ptr
    }
    %last = llvm.load %oldest : !llvm.ptr -> !llvm.ptr
    func.call @om_take_kept(%context, %oldest) : (!llvm.ptr, !llvm.ptr) -> ()
    func.call @free(%last) : (!llvm.ptr) -> ()
    scf.yield
  }
  func.call @om_unlock(%context) : (!llvm.ptr) -> ()
  return
}

// Give back all kept blocks.
func.func private @om_drop(%context: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %first = llvm.getelementptr %context[9] : (!llvm.ptr) -> !llvm.ptr, i64
  func.call @om_lock(%context) : (!llvm.ptr) -> ()
  scf.while : () -> () {
    %block = llvm.load %first : !llvm.ptr -> !llvm.ptr
    %some = llvm.icmp "ne" %block, %null : !llvm.ptr
    scf.if %some {
      func.call @om_take_kept(%context, %first) : (!llvm.ptr, !llvm.ptr) -> ()
      func.call @free(%block) : (!llvm.ptr) -> ()
    }
    scf.condition(%some)
  } do {
    scf.yield
  }
  func.call @om_unlock(%context) : (!llvm.ptr) -> ()
  return
}

// Count the bytes of large blocks in use; the lock is held.
func.func private @om_count(%context: !llvm.ptr, %change: i64) {
  %used_at = llvm.getelementptr %context[11] : (!llvm.ptr) -> !llvm.ptr, i64
  %most_at = llvm.getelementptr %context[12] : (!llvm.ptr) -> !llvm.ptr, i64
  %used = llvm.load %used_at : !llvm.ptr -> i64
  %most = llvm.load %most_at : !llvm.ptr -> i64
  %now = arith.addi %used, %change : i64
  %greatest = arith.maxui %now, %most : i64
  llvm.store %now, %used_at : i64, !llvm.ptr
  llvm.store %greatest, %most_at : i64, !llvm.ptr
  return
}

// A block of its own, linked into the context's list; null where there is no memory.
func.func private @om_alloc(%context: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %c64 = llvm.mlir.constant(64 : i64) : i64
  %small = llvm.mlir.constant(32768 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %total = arith.addi %bytes, %c64 : i64
  %size = func.call @om_block_size(%context, %total) : (!llvm.ptr, i64) -> i64
  %large = arith.cmpi uge, %size, %small : i64
  %found = scf.if %large -> !llvm.ptr {
    %kept = func.call @om_kept(%context, %size) : (!llvm.ptr, i64) -> !llvm.ptr
    scf.yield %kept : !llvm.ptr
  } else {
    scf.yield %null : !llvm.ptr
  }
  %new = llvm.icmp "eq" %found, %null : !llvm.ptr
  %head = scf.if %new -> !llvm.ptr {
    %fresh = func.call @om_system_alloc(%context, %size) : (!llvm.ptr, i64) -> !llvm.ptr
    scf.yield %fresh : !llvm.ptr
  } else {
    scf.yield %found : !llvm.ptr
  }
  %none = llvm.icmp "eq" %head, %null : !llvm.ptr
  %p = scf.if %none -> !llvm.ptr {
    scf.yield %null : !llvm.ptr
  } else {
    %counted = arith.select %large, %size, %zero : i64
    func.call @om_lock(%context) : (!llvm.ptr) -> ()
    func.call @om_count(%context, %counted) : (!llvm.ptr, i64) -> ()
    %first = llvm.getelementptr %context[7] : (!llvm.ptr) -> !llvm.ptr, i64
    %next = llvm.load %first : !llvm.ptr -> !llvm.ptr
    %head_next = llvm.getelementptr %head[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %head_context = llvm.getelementptr %head[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %head_size = llvm.getelementptr %head[3] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %null, %head : !llvm.ptr, !llvm.ptr
    llvm.store %next, %head_next : !llvm.ptr, !llvm.ptr
    llvm.store %context, %head_context : !llvm.ptr, !llvm.ptr
    llvm.store %counted, %head_size : i64, !llvm.ptr
    %some = llvm.icmp "ne" %next, %null : !llvm.ptr
    scf.if %some {
      llvm.store %head, %next : !llvm.ptr, !llvm.ptr
    }
    llvm.store %head, %first : !llvm.ptr, !llvm.ptr
    func.call @om_unlock(%context) : (!llvm.ptr) -> ()
    %data = llvm.getelementptr %head[64] : (!llvm.ptr) -> !llvm.ptr, i8
    scf.yield %data : !llvm.ptr
  }
  return %p : !llvm.ptr
}

// Take a block out of its context's list: it now belongs to the caller. Null is nobody's.
func.func private @om_detach(%data: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %there = llvm.icmp "ne" %data, %null : !llvm.ptr
  scf.if %there {
    %head_context = llvm.getelementptr %data[-48] : (!llvm.ptr) -> !llvm.ptr, i8
    %context = llvm.load %head_context : !llvm.ptr -> !llvm.ptr
    %listed = llvm.icmp "ne" %context, %null : !llvm.ptr
    scf.if %listed {
      func.call @om_unlink(%data, %context) : (!llvm.ptr, !llvm.ptr) -> ()
      llvm.store %null, %head_context : !llvm.ptr, !llvm.ptr
    }
  }
  return
}

func.func private @om_unlink(%data: !llvm.ptr, %context: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %head = llvm.getelementptr %data[-64] : (!llvm.ptr) -> !llvm.ptr, i8
  %head_next = llvm.getelementptr %head[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %head_size = llvm.getelementptr %head[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %head_size : !llvm.ptr -> i64
  %less = arith.subi %zero, %size : i64
  func.call @om_lock(%context) : (!llvm.ptr) -> ()
  func.call @om_count(%context, %less) : (!llvm.ptr, i64) -> ()
  %previous = llvm.load %head : !llvm.ptr -> !llvm.ptr
  %next = llvm.load %head_next : !llvm.ptr -> !llvm.ptr
  %first = llvm.getelementptr %context[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %previous_next = llvm.getelementptr %previous[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %is_first = llvm.icmp "eq" %previous, %null : !llvm.ptr
  %slot = llvm.select %is_first, %first, %previous_next : i1, !llvm.ptr
  llvm.store %next, %slot : !llvm.ptr, !llvm.ptr
  %some = llvm.icmp "ne" %next, %null : !llvm.ptr
  scf.if %some {
    llvm.store %previous, %next : !llvm.ptr, !llvm.ptr
  }
  func.call @om_unlock(%context) : (!llvm.ptr) -> ()
  return
}

func.func private @om_free(%data: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %some = llvm.icmp "ne" %data, %null : !llvm.ptr
  scf.if %some {
    %head = llvm.getelementptr %data[-64] : (!llvm.ptr) -> !llvm.ptr, i8
    %head_context = llvm.getelementptr %head[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %head_size = llvm.getelementptr %head[3] : (!llvm.ptr) -> !llvm.ptr, i64
    %context = llvm.load %head_context : !llvm.ptr -> !llvm.ptr
    %size = llvm.load %head_size : !llvm.ptr -> i64
    func.call @om_detach(%data) : (!llvm.ptr) -> ()
    %large = arith.cmpi ne, %size, %zero : i64
    %listed = llvm.icmp "ne" %context, %null : !llvm.ptr
    %keep = arith.andi %large, %listed : i1
    scf.if %keep {
      func.call @om_keep(%context, %head) : (!llvm.ptr, !llvm.ptr) -> ()
    } else {
      func.call @free(%head) : (!llvm.ptr) -> ()
    }
  }
  return
}

// At the end of a run: free what an early return has left.
func.func private @om_sweep(%context: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %first = llvm.getelementptr %context[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %used_at = llvm.getelementptr %context[11] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %zero, %used_at : i64, !llvm.ptr
  scf.while : () -> () {
    %head = llvm.load %first : !llvm.ptr -> !llvm.ptr
    %some = llvm.icmp "ne" %head, %null : !llvm.ptr
    scf.if %some {
      %head_next = llvm.getelementptr %head[1] : (!llvm.ptr) -> !llvm.ptr, i64
      %next = llvm.load %head_next : !llvm.ptr -> !llvm.ptr
      llvm.store %next, %first : !llvm.ptr, !llvm.ptr
      func.call @free(%head) : (!llvm.ptr) -> ()
    }
    scf.condition(%some)
  } do {
    scf.yield
  }
  return
}

// For the caller: give back an output that compiled code has allocated.
func.func @onemlir_free(%data: !llvm.ptr) {
  func.call @om_free(%data) : (!llvm.ptr) -> ()
  return
}

// For the caller: give back what a context holds.
func.func @onemlir_release(%context: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %slot = llvm.getelementptr %context[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.getelementptr %context[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %arena = llvm.load %slot : !llvm.ptr -> !llvm.ptr
  func.call @free(%arena) : (!llvm.ptr) -> ()
  llvm.store %null, %slot : !llvm.ptr, !llvm.ptr
  llvm.store %zero, %size : i64, !llvm.ptr
  func.call @om_drop(%context) : (!llvm.ptr) -> ()
  return
}
"""


@functools.cache
def _lowered() -> bytes:
    """The functions in the LLVM dialect, as bytecode: they are the same in all modules."""
    code = io.BytesIO()
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        library = ir.Module.parse(TEXT)
        PassManager.parse(f"builtin.module({PASSES})").run(library.operation)
        library.operation.write_bytecode(code)
    return code.getvalue()


def add_support(module: ir.Module) -> None:
    """Append these functions to a module in the LLVM dialect; declarations of them are dropped first."""
    library = ir.Module.parse(_lowered(), module.context)
    defined = {ir.StringAttr(op.attributes["sym_name"]).value for op in library.body.operations}
    for op in list(module.body.operations):
        if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value in defined:
            op.operation.erase()
    with ir.InsertionPoint(module.body):
        for op in library.body.operations:
            op.operation.clone()
