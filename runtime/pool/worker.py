"""A worker of the pool as MLIR text: it waits for jobs, takes chunks, and takes turns with a thread that holds its processor.

A worker whose processor another thread holds (another library's worker that spins, say) would lose it within a chunk, for milliseconds,
and the caller would wait for that chunk. A worker that has lost time within a job therefore works for at most `TURN`, leaves the job, and
sleeps as long and a little longer: a fair scheduler has no cause then to stop it within its turn. It does so for `FIRST`, and twice as
long each time that it loses time again within `WINDOW` after that.

While it takes turns it wakes by its own timer, since a thread that the caller wakes is put on the caller's processor where no other is
free; on the caller's processor it would only be in the caller's way, so a worker that finds itself there moves to another one.
"""
from __future__ import annotations

SPINS = 4000  # pauses, of 20 to 60 ns each, in which a job is awaited before the worker sleeps: waking takes longer where processors halt
GLANCE = 400  # the same for a worker that takes turns
LOST = 300_000  # ns within a job in which a worker did not run
TURN = 80_000  # ns of work; the scheduler's turn is longer
NAP, LONGEST, MARGIN = 60_000, 2_000_000, 10_000  # ns of sleep: least, most, and over the time awake
FIRST, MOST = 8_000_000, 512_000_000  # ns for which it takes turns
WINDOW = 30_000_000  # ns
PATIENCE = 1_000_000  # ns without a job, after which a worker that takes turns sleeps until it is woken

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

// Take a chunk and run it; false where none is left.
func.func private @om_pool_take(%state: !llvm.ptr) -> i1 {{
  %body_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i64
  %context_at = llvm.getelementptr %state[17] : (!llvm.ptr) -> !llvm.ptr, i64
  %count_at = llvm.getelementptr %state[18] : (!llvm.ptr) -> !llvm.ptr, i64
  %chunk_at = llvm.getelementptr %state[19] : (!llvm.ptr) -> !llvm.ptr, i64
  %next_at = llvm.getelementptr %state[24] : (!llvm.ptr) -> !llvm.ptr, i64
  %body = llvm.load %body_at : !llvm.ptr -> !llvm.ptr
  %context = llvm.load %context_at : !llvm.ptr -> !llvm.ptr
  %count = llvm.load %count_at : !llvm.ptr -> i64
  %chunk = llvm.load %chunk_at : !llvm.ptr -> i64
  %begin = llvm.atomicrmw add %next_at, %chunk acq_rel : !llvm.ptr, i64
  %some = arith.cmpi slt, %begin, %count : i64
  scf.if %some {{
    %stop = arith.addi %begin, %chunk : i64
    %end = arith.minsi %stop, %count : i64
    llvm.call %body(%context, %begin, %end) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  }}
  return %some : i1
}}

// Nanoseconds of a clock.
func.func private @om_pool_clock(%clock: i32) -> i64 {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %billion = llvm.mlir.constant(1000000000 : i64) : i64
  %time = llvm.alloca %one x !llvm.array<2 x i64> : (i64) -> !llvm.ptr
  %r = func.call @clock_gettime(%clock, %time) : (i32, !llvm.ptr) -> i32
  %nanoseconds_at = llvm.getelementptr %time[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %seconds = llvm.load %time : !llvm.ptr -> i64
  %nanoseconds = llvm.load %nanoseconds_at : !llvm.ptr -> i64
  %whole = arith.muli %seconds, %billion : i64
  %now = arith.addi %whole, %nanoseconds : i64
  return %now : i64
}}

// Sleep as long as this thread has been awake, and a little longer.
func.func private @om_pool_rest(%awake_since: i64) {{
  %wall_clock = llvm.mlir.constant({wall} : i32) : i32
  %eight = llvm.mlir.constant(8 : i64) : i64
  %margin = llvm.mlir.constant({margin} : i64) : i64
  %longest = llvm.mlir.constant({longest} : i64) : i64
  %nap = llvm.mlir.constant({nap} : i64) : i64
  %now = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
  %awake = arith.subi %now, %awake_since : i64
  %part = arith.divui %awake, %eight : i64
  %longer = arith.addi %awake, %part : i64
  %enough = arith.addi %longer, %margin : i64
  %at_least = arith.maxui %enough, %nap : i64
  %nanoseconds = arith.minui %at_least, %longest : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %time = llvm.alloca %one x !llvm.array<2 x i64> : (i64) -> !llvm.ptr
  %billion = llvm.mlir.constant(1000000000 : i64) : i64
  %seconds = arith.divui %nanoseconds, %billion : i64
  %rest = arith.remui %nanoseconds, %billion : i64
  %rest_at = llvm.getelementptr %time[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %seconds, %time : i64, !llvm.ptr
  llvm.store %rest, %rest_at : i64, !llvm.ptr
  %r = func.call @nanosleep(%time, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  return
}}

// A worker has found that it shares its processor: until when, and for how long, it takes turns. The time doubles where the other thread
// was still there soon after the last one; a loss within the time changes nothing.
func.func private @om_pool_shares(%now: i64, %until: i64, %period: i64) -> (i64, i64) {{
  %two = llvm.mlir.constant(2 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %first = llvm.mlir.constant({first} : i64) : i64
  %window = llvm.mlir.constant({window} : i64) : i64
  %most = llvm.mlir.constant({most_period} : i64) : i64
  %twice = arith.muli %period, %two : i64
  %since = arith.subi %now, %until : i64
  %already = arith.cmpi slt, %since, %zero : i64
  %again = arith.cmpi slt, %since, %window : i64
  %bounded = arith.minsi %twice, %most : i64
  %next = arith.select %again, %bounded, %first : i64
  %end = arith.addi %now, %next : i64
  %new_end = arith.select %already, %until, %end : i64
  %new_period = arith.select %already, %period, %next : i64
  return %new_end, %new_period : i64, i64
}}

// A worker's part of a job: chunks until none is left, or until its turn is over where it shares its processor. Gives the end of the time
// in which it shares it, and the length of that time.
func.func private @om_pool_work(%state: !llvm.ptr, %shares_until: i64, %shares_for: i64, %awake_since: i64) -> (i64, i64) {{
  %wall_clock = llvm.mlir.constant({wall} : i32) : i32
  %own_clock = llvm.mlir.constant({own} : i32) : i32
  %lost_limit = llvm.mlir.constant({lost} : i64) : i64
  %turn = llvm.mlir.constant({turn} : i64) : i64
  %wall = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
  %own = func.call @om_pool_clock(%own_clock) : (i32) -> i64
  %done:3 = scf.while (%before = %wall, %until = %shares_until, %period = %shares_for) : (i64, i64, i64) -> (i64, i64, i64) {{
    %some = func.call @om_pool_take(%state) : (!llvm.ptr) -> i1
    %now = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
    %took = arith.subi %now, %before : i64
    %long = arith.cmpi sgt, %took, %lost_limit : i64
    %seen:2 = scf.if %long -> (i64, i64) {{
      %own_now = func.call @om_pool_clock(%own_clock) : (i32) -> i64
      %passed = arith.subi %now, %wall : i64
      %ran = arith.subi %own_now, %own : i64
      %lost = arith.subi %passed, %ran : i64
      %preempted = arith.cmpi sgt, %lost, %lost_limit : i64
      %result:2 = scf.if %preempted -> (i64, i64) {{
        %next:2 = func.call @om_pool_shares(%now, %until, %period) : (i64, i64, i64) -> (i64, i64)
        scf.yield %next#0, %next#1 : i64, i64
      }} else {{
        scf.yield %until, %period : i64, i64
      }}
      scf.yield %result#0, %result#1 : i64, i64
    }} else {{
      scf.yield %until, %period : i64, i64
    }}
    %worked = arith.subi %now, %awake_since : i64
    %alone = arith.cmpi sge, %now, %seen#0 : i64
    %short = arith.cmpi slt, %worked, %turn : i64
    %may = arith.ori %alone, %short : i1
    %go = arith.andi %some, %may : i1
    scf.condition(%go) %now, %seen#0, %seen#1 : i64, i64, i64
  }} do {{
  ^bb0(%before: i64, %until: i64, %period: i64):
    scf.yield %before, %until, %period : i64, i64, i64
  }}
  return %done#1, %done#2 : i64, i64
}}

// Wait for the job after number `last`: spin, then sleep.
func.func private @om_pool_next(%state: !llvm.ptr, %last: i32, %pauses: i32) {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %true = llvm.mlir.constant(true) : i1
  %sequence_at = llvm.getelementptr %state[2] : (!llvm.ptr) -> !llvm.ptr, i32
  %sleepers_at = llvm.getelementptr %state[3] : (!llvm.ptr) -> !llvm.ptr, i32
  func.call @om_pool_spin(%sequence_at, %last, %true, %pauses) : (!llvm.ptr, i32, i1, i32) -> ()
  %a = llvm.atomicrmw add %sleepers_at, %one seq_cst : !llvm.ptr, i32
  scf.while : () -> () {{
    %now = llvm.load %sequence_at atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %same = arith.cmpi eq, %now, %last : i32
    scf.condition(%same)
  }} do {{
    func.call @om_pool_wait(%sequence_at, %last) : (!llvm.ptr, i32) -> ()
    scf.yield
  }}
  %b = llvm.atomicrmw add %sleepers_at, %minus seq_cst : !llvm.ptr, i32
  return
}}

// Enter if the door is open and there is room.
func.func private @om_pool_enter(%state: !llvm.ptr) -> i1 {{
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
  return %tried#1 : i1
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
      func.call @om_pool_wake(%door_at) : (!llvm.ptr) -> ()
    }}
  }}
  return
}}

// A worker. One that shares its processor works for a turn, then sleeps as long and a little longer: the other thread has had its share
// then and does not take the processor within a chunk, for whose end the caller would wait. It wakes by itself, for a worker that the
// caller wakes is put on the caller's processor where no other is free.
func.func @om_pool_worker(%state: !llvm.ptr) -> !llvm.ptr {{
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %zero64 = llvm.mlir.constant(0 : i64) : i64
  %spins = llvm.mlir.constant({spins} : i32) : i32
  %wall_clock = llvm.mlir.constant({wall} : i32) : i32
  %turn = llvm.mlir.constant({turn} : i64) : i64
  %glance = llvm.mlir.constant({glance} : i32) : i32
  %true = llvm.mlir.constant(true) : i1
  %patience = llvm.mlir.constant({patience} : i64) : i64
  %sequence_at = llvm.getelementptr %state[2] : (!llvm.ptr) -> !llvm.ptr, i32
  %stop_at = llvm.getelementptr %state[4] : (!llvm.ptr) -> !llvm.ptr, i32
  %cpu_at = llvm.getelementptr %state[19] : (!llvm.ptr) -> !llvm.ptr, i32
  func.call @om_pool_slice() : () -> ()
  %begin = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
  %ended:5 = scf.while (%last = %zero, %until = %zero64, %period = %zero64, %awake_since = %begin, %latest = %zero64)
      : (i32, i64, i64, i64, i64) -> (i32, i64, i64, i64, i64) {{
    %now = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
    %shares = arith.cmpi slt, %now, %until : i64
    %idle = arith.subi %now, %latest : i64
    %recent = arith.cmpi slt, %idle, %patience : i64
    %by_itself = arith.andi %shares, %recent : i1
    %awake = scf.if %by_itself -> i64 {{
      %so_far = arith.subi %now, %awake_since : i64
      %tired = arith.cmpi sge, %so_far, %turn : i64
      %look = arith.select %tired, %zero, %glance : i32
      func.call @om_pool_spin(%sequence_at, %last, %true, %look) : (!llvm.ptr, i32, i1, i32) -> ()
      %number = llvm.load %sequence_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
      %same = arith.cmpi eq, %number, %last : i32
      %rests = arith.ori %tired, %same : i1
      %since = scf.if %rests -> i64 {{
        func.call @om_pool_rest(%awake_since) : (i64) -> ()
        %woken = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
        scf.yield %woken : i64
      }} else {{
        scf.yield %awake_since : i64
      }}
      scf.yield %since : i64
    }} else {{
      %pauses = arith.select %shares, %zero, %spins : i32
      func.call @om_pool_next(%state, %last, %pauses) : (!llvm.ptr, i32, i32) -> ()
      %woken = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
      scf.yield %woken : i64
    }}
    %sequence = llvm.load %sequence_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %cpu = llvm.load %cpu_at atomic monotonic {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %moved = func.call @om_pool_move(%cpu) : (i32) -> i1
    %found:2 = scf.if %moved -> (i64, i64) {{
      %later = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
      %next:2 = func.call @om_pool_shares(%later, %until, %period) : (i64, i64, i64) -> (i64, i64)
      scf.yield %next#0, %next#1 : i64, i64
    }} else {{
      scf.yield %until, %period : i64, i64
    }}
    %in = func.call @om_pool_enter(%state) : (!llvm.ptr) -> i1
    %after:3 = scf.if %in -> (i64, i64, i64) {{
      %result:2 = func.call @om_pool_work(%state, %found#0, %found#1, %awake) : (!llvm.ptr, i64, i64, i64) -> (i64, i64)
      func.call @om_pool_leave(%state) : (!llvm.ptr) -> ()
      %end = func.call @om_pool_clock(%wall_clock) : (i32) -> i64
      scf.yield %result#0, %result#1, %end : i64, i64, i64
    }} else {{
      scf.yield %found#0, %found#1, %latest : i64, i64, i64
    }}
    %stop = llvm.load %stop_at atomic acquire {{alignment = 4 : i64}} : !llvm.ptr -> i32
    %stay = arith.cmpi eq, %stop, %zero : i32
    scf.condition(%stay) %sequence, %after#0, %after#1, %awake, %after#2 : i32, i64, i64, i64, i64
  }} do {{
  ^bb0(%sequence: i32, %until: i64, %period: i64, %awake_since: i64, %latest: i64):
    scf.yield %sequence, %until, %period, %awake_since, %latest : i32, i64, i64, i64, i64
  }}
  return %null : !llvm.ptr
}}
"""


def worker_text(**names) -> str:
    """The worker's functions for the names of the pool's machine and system."""
    return WORKER.format(spins=SPINS, glance=GLANCE, lost=LOST, turn=TURN, nap=NAP, longest=LONGEST, margin=MARGIN, first=FIRST,
                         most_period=MOST, window=WINDOW, patience=PATIENCE, **names)
