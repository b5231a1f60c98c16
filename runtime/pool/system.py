"""What the pool asks of the operating system, as MLIR text: waiting, waking, short turns, and leaving the caller's processor."""
from __future__ import annotations

SLICE = 1_000_000  # ns; shorter than the scheduler's own, which is 1.4 ms or more
ACCOUNT = 50_000  # ns; short beside a slice, and long beside a system call

TIME = """
// Nanoseconds of the monotonic clock.
func.func private @om_pool_time() -> i64 {{
  %monotonic = llvm.mlir.constant({monotonic} : i32) : i32
  %one = llvm.mlir.constant(1 : i64) : i64
  %billion = llvm.mlir.constant(1000000000 : i64) : i64
  %time = llvm.alloca %one x !llvm.array<2 x i64> : (i64) -> !llvm.ptr
  %r = func.call @clock_gettime(%monotonic, %time) : (i32, !llvm.ptr) -> i32
  %rest_at = llvm.getelementptr %time[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %seconds = llvm.load %time : !llvm.ptr -> i64
  %rest = llvm.load %rest_at : !llvm.ptr -> i64
  %whole = arith.muli %seconds, %billion : i64
  %sum = arith.addi %whole, %rest : i64
  return %sum : i64
}}
func.func private @clock_gettime(i32, !llvm.ptr) -> i32
"""

WAIT_LINUX = """
// Sleep while the word is as expected.
func.func private @om_pool_wait(%word: !llvm.ptr, %expected: i32) {{
  %number = llvm.mlir.constant({futex} : i64) : i64
  %wait = llvm.mlir.constant(128 : i32) : i32
  %null = llvm.mlir.zero : !llvm.ptr
  %r = llvm.call @syscall(%number, %word, %wait, %expected, %null) vararg(!llvm.func<i64 (i64, ...)>)
       : (i64, !llvm.ptr, i32, i32, !llvm.ptr) -> i64
  return
}}
// Wake those that have waited longest.
func.func private @om_pool_wake(%word: !llvm.ptr, %most: i32) {{
  %number = llvm.mlir.constant({futex} : i64) : i64
  %wake = llvm.mlir.constant(129 : i32) : i32
  %r = llvm.call @syscall(%number, %word, %wake, %most) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr, i32, i32) -> i64
  return
}}
llvm.func @syscall(i64, ...) -> i64

// Short turns on the processor for this thread ({slice} ns), so that it takes it from another one when it wakes (sched_setattr's runtime,
// which Linux 6.12 and newer heed).
func.func private @om_pool_slice() {{
  %size = llvm.mlir.constant(56 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %zero64 = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %normal = llvm.mlir.constant(0 : i32) : i32
  %length = llvm.mlir.constant(56 : i32) : i32
  %turn = llvm.mlir.constant({slice} : i64) : i64
  %attributes = llvm.alloca %one x !llvm.array<7 x i64> : (i64) -> !llvm.ptr
  %nothing = llvm.mlir.zero : !llvm.array<7 x i64>
  llvm.store %nothing, %attributes : !llvm.array<7 x i64>, !llvm.ptr
  %get = llvm.mlir.constant({getattr} : i64) : i64
  %set = llvm.mlir.constant({setattr} : i64) : i64
  %r = llvm.call @syscall(%get, %zero, %attributes, %length, %zero) vararg(!llvm.func<i64 (i64, ...)>)
       : (i64, i32, !llvm.ptr, i32, i32) -> i64
  %policy_at = llvm.getelementptr %attributes[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %runtime_at = llvm.getelementptr %attributes[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %policy = llvm.load %policy_at : !llvm.ptr -> i32
  %known = arith.cmpi eq, %r, %zero64 : i64
  %shared = arith.cmpi eq, %policy, %normal : i32
  %may = arith.andi %known, %shared : i1
  scf.if %may {{
    llvm.store %turn, %runtime_at : i64, !llvm.ptr
    %t = llvm.call @syscall(%set, %zero, %attributes, %zero) vararg(!llvm.func<i64 (i64, ...)>) : (i64, i32, !llvm.ptr, i32) -> i64
  }}
  return
}}

func.func private @om_pool_cpu() -> i32 {{
  %cpu = func.call @sched_getcpu() : () -> i32
  return %cpu : i32
}}
func.func private @sched_getcpu() -> i32

// Have the time that this thread ran added to its account: where its turn is over, another thread runs now. The system call is dearer than
// a small chunk, so it is made where {account} ns have passed since the last one, whose time is at %last.
func.func private @om_pool_account(%last: !llvm.ptr) {{
  %own = llvm.mlir.constant(3 : i32) : i32
  %one = llvm.mlir.constant(1 : i64) : i64
  %clock = llvm.mlir.constant({clock_gettime} : i64) : i64
  %least = llvm.mlir.constant({account} : i64) : i64
  %time = llvm.alloca %one x !llvm.array<2 x i64> : (i64) -> !llvm.ptr
  %now = func.call @om_pool_time() : () -> i64
  %before = llvm.load %last : !llvm.ptr -> i64
  %passed = arith.subi %now, %before : i64
  %due = arith.cmpi sge, %passed, %least : i64
  scf.if %due {{
    llvm.store %now, %last : i64, !llvm.ptr
    %r = llvm.call @syscall(%clock, %own, %time) vararg(!llvm.func<i64 (i64, ...)>) : (i64, i32, !llvm.ptr) -> i64
  }}
  return
}}

// The processors that this thread may run on.
func.func private @om_pool_processors() -> i32 {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0 : i32) : i32
  %none = llvm.mlir.constant(0 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %size = llvm.mlir.constant(1024 : i64) : i64
  %mask = llvm.alloca %one x !llvm.array<128 x i64> : (i64) -> !llvm.ptr
  %get = llvm.mlir.constant({getaffinity} : i64) : i64
  %length = llvm.call @syscall(%get, %zero, %size, %mask) vararg(!llvm.func<i64 (i64, ...)>) : (i64, i32, i64, !llvm.ptr) -> i64
  %known = arith.maxsi %length, %none : i64
  %words = arith.divui %known, %word : i64
  %count = scf.for %i = %none to %words step %one iter_args(%sum = %none) -> (i64) : i64 {{
    %at = llvm.getelementptr %mask[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %bits = llvm.load %at : !llvm.ptr -> i64
    %some = llvm.intr.ctpop(%bits) : (i64) -> i64
    %more = arith.addi %sum, %some : i64
    scf.yield %more : i64
  }}
  %result = arith.trunci %count : i64 to i32
  return %result : i32
}}

// Leave the caller's processor; false where this thread may run on no other one. Its affinity is as before afterwards.
func.func private @om_pool_move(%caller: i32) -> i1 {{
  %mine = func.call @sched_getcpu() : () -> i32
  %apart = arith.cmpi ne, %mine, %caller : i32
  %may = scf.if %apart -> i1 {{
    scf.yield %apart : i1
  }} else {{
    %one = llvm.mlir.constant(1 : i64) : i64
    %zero = llvm.mlir.constant(0 : i32) : i32
    %none = llvm.mlir.constant(0 : i64) : i64
    %size = llvm.mlir.constant(1024 : i64) : i64
    %mask = llvm.alloca %one x !llvm.array<128 x i64> : (i64) -> !llvm.ptr
    %three = llvm.mlir.constant(3 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %bit1 = llvm.mlir.constant(1 : i8) : i8
    %set = llvm.mlir.constant({setaffinity} : i64) : i64
    %get = llvm.mlir.constant({getaffinity} : i64) : i64
    %length = llvm.call @syscall(%get, %zero, %size, %mask) vararg(!llvm.func<i64 (i64, ...)>) : (i64, i32, i64, !llvm.ptr) -> i64
    %known = arith.cmpi sgt, %length, %none : i64
    %moved = scf.if %known -> i1 {{
      %byte = arith.shrui %mine, %three : i32
      %place = arith.andi %mine, %seven : i32
      %place8 = arith.trunci %place : i32 to i8
      %bit = arith.shli %bit1, %place8 : i8
      %at = llvm.getelementptr %mask[%byte] : (!llvm.ptr, i32) -> !llvm.ptr, i8
      %old = llvm.load %at : !llvm.ptr -> i8
      %without = arith.xori %old, %bit : i8
      llvm.store %without, %at : i8, !llvm.ptr
      %r = llvm.call @syscall(%set, %zero, %length, %mask) vararg(!llvm.func<i64 (i64, ...)>) : (i64, i32, i64, !llvm.ptr) -> i64
      llvm.store %old, %at : i8, !llvm.ptr
      %t = llvm.call @syscall(%set, %zero, %length, %mask) vararg(!llvm.func<i64 (i64, ...)>) : (i64, i32, i64, !llvm.ptr) -> i64
      %ok = arith.cmpi eq, %r, %none : i64
      scf.yield %ok : i1
    }} else {{
      %unknown = llvm.mlir.constant(true) : i1
      scf.yield %unknown : i1
    }}
    scf.yield %moved : i1
  }}
  return %may : i1
}}
"""

WAIT_MACOS = """
func.func private @om_pool_slice() {
  return
}
func.func private @om_pool_cpu() -> i32 {
  %unknown = llvm.mlir.constant(-1 : i32) : i32
  return %unknown : i32
}
func.func private @om_pool_processors() -> i32 {
  %many = llvm.mlir.constant(65536 : i32) : i32
  return %many : i32
}
func.func private @om_pool_account(%last: !llvm.ptr) {
  return
}
func.func private @om_pool_move(%caller: i32) -> i1 {
  %yes = llvm.mlir.constant(true) : i1
  return %yes : i1
}
func.func private @__ulock_wait(i32, !llvm.ptr, i64, i32) -> i32
func.func private @__ulock_wake(i32, !llvm.ptr, i64) -> i32
func.func private @om_pool_wait(%word: !llvm.ptr, %expected: i32) {
  %operation = llvm.mlir.constant(16777217 : i32) : i32
  %forever = llvm.mlir.constant(0 : i32) : i32
  %wide = arith.extui %expected : i32 to i64
  %r = func.call @__ulock_wait(%operation, %word, %wide, %forever) : (i32, !llvm.ptr, i64, i32) -> i32
  return
}
// All that wait, as the system cannot be told how many.
func.func private @om_pool_wake(%word: !llvm.ptr, %most: i32) {
  %operation = llvm.mlir.constant(16777473 : i32) : i32
  %zero = llvm.mlir.constant(0 : i64) : i64
  %r = func.call @__ulock_wake(%operation, %word, %zero) : (i32, !llvm.ptr, i64) -> i32
  return
}
"""

LINUX = {"inherit": "madvise", "wipe": 18, "anonymous": 0x22, "thread": "i64"}
MACOS = {"inherit": "minherit", "wipe": 3, "anonymous": 0x1002, "thread": "!llvm.ptr"}
SYSCALLS = {
    "x86_64": {"futex": 202, "clock_gettime": 228, "setattr": 314, "getattr": 315, "setaffinity": 203, "getaffinity": 204},
    "aarch64": {"futex": 98, "clock_gettime": 113, "setattr": 274, "getattr": 275, "setaffinity": 122, "getaffinity": 123},
}


def system_text(machine: str, system: str) -> tuple[str, dict]:
    """The functions of a machine and system, and the system's numbers and type names for the rest of the pool."""
    if system == "darwin":
        return WAIT_MACOS + TIME.format(monotonic=6) + "func.func private @madvise(!llvm.ptr, i64, i32) -> i32\n", MACOS
    return WAIT_LINUX.format(slice=SLICE, account=ACCOUNT, **SYSCALLS[machine]) + TIME.format(monotonic=1), LINUX
