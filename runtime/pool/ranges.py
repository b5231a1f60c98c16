"""The ranges of chunks that the threads of a job have, as MLIR text: sharing them out, and taking chunks from them.

A thread takes the first chunk of its own range, or the last one of another's, by compare-and-exchange on the range's two ends in one word.
"""
from __future__ import annotations

RANGES = """
// Chunks 0..number in as many ranges, of equal length as far as that goes.
func.func private @om_pool_share(%state: !llvm.ptr, %number: i64, %ranges: i64) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %half = llvm.mlir.constant(32 : i64) : i64
  %last = scf.for %i = %zero to %ranges step %one iter_args(%begin = %zero) -> (i64) : i64 {{
    %following = arith.addi %i, %one : i64
    %scaled = arith.muli %following, %number : i64
    %end = arith.divui %scaled, %ranges : i64
    %upper = arith.shli %end, %half : i64
    %range = arith.ori %upper, %begin : i64
    %at = func.call @om_pool_range(%state, %i) : (!llvm.ptr, i64) -> !llvm.ptr
    llvm.store %range, %at : i64, !llvm.ptr
    scf.yield %end : i64
  }}
  return
}}

func.func private @om_pool_range(%state: !llvm.ptr, %i: i64) -> !llvm.ptr {{
  %line = llvm.mlir.constant(8 : i64) : i64
  %first = llvm.mlir.constant(512 : i64) : i64
  %lines = arith.muli %i, %line : i64
  %word = arith.addi %lines, %first : i64
  %at = llvm.getelementptr %state[%word] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  return %at : !llvm.ptr
}}

// The first or the last chunk of a range, -1 where it is empty.
func.func private @om_pool_cut(%at: !llvm.ptr, %front: i1) -> i64 {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %minus = llvm.mlir.constant(-1 : i64) : i64
  %half = llvm.mlir.constant(32 : i64) : i64
  %mask = llvm.mlir.constant(4294967295 : i64) : i64
  %true = llvm.mlir.constant(true) : i1
  %no = llvm.mlir.constant(false) : i1
  %step = llvm.mlir.constant(-4294967296 : i64) : i64
  %change = arith.select %front, %one, %step : i64
  %seen = llvm.load %at atomic acquire {{alignment = 8 : i64}} : !llvm.ptr -> i64
  %cut:3 = scf.while (%range = %seen, %done = %no, %chunk = %minus) : (i64, i1, i64) -> (i64, i1, i64) {{
    %begin = arith.andi %range, %mask : i64
    %end = arith.shrui %range, %half : i64
    %some = arith.cmpi ult, %begin, %end : i64
    %open = arith.xori %done, %true : i1
    %go = arith.andi %some, %open : i1
    scf.condition(%go) %range, %done, %chunk : i64, i1, i64
  }} do {{
  ^bb0(%range: i64, %done: i1, %chunk: i64):
    %begin = arith.andi %range, %mask : i64
    %end = arith.shrui %range, %half : i64
    %before = arith.subi %end, %one : i64
    %mine = arith.select %front, %begin, %before : i64
    %new = arith.addi %range, %change : i64
    %pair = llvm.cmpxchg %at, %range, %new acq_rel acquire : !llvm.ptr, i64
    %value = llvm.extractvalue %pair[0] : !llvm.struct<(i64, i1)>
    %success = llvm.extractvalue %pair[1] : !llvm.struct<(i64, i1)>
    %taken = arith.select %success, %mine, %minus : i64
    scf.yield %value, %success, %taken : i64, i1, i64
  }}
  return %cut#2 : i64
}}

// Take a chunk for thread `own` (0 is the caller, the first range is its own) and run it; false where none is left.
func.func private @om_pool_take(%state: !llvm.ptr, %own: i64) -> i1 {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %ranges_at = llvm.getelementptr %state[20] : (!llvm.ptr) -> !llvm.ptr, i64
  %ranges = llvm.load %ranges_at : !llvm.ptr -> i64
  %of_workers = arith.subi %ranges, %one : i64
  %before = arith.subi %own, %one : i64
  %turn = arith.remui %before, %of_workers : i64
  %worker = arith.addi %turn, %one : i64
  %caller = arith.cmpi eq, %own, %zero : i64
  %home = arith.select %caller, %zero, %worker : i64
  %minus = llvm.mlir.constant(-1 : i64) : i64
  %found:2 = scf.while (%i = %zero, %chunk = %minus) : (i64, i64) -> (i64, i64) {{
    %more = arith.cmpi ult, %i, %ranges : i64
    %none = arith.cmpi slt, %chunk, %zero : i64
    %go = arith.andi %more, %none : i1
    scf.condition(%go) %i, %chunk : i64, i64
  }} do {{
  ^bb0(%i: i64, %chunk: i64):
    %front = arith.cmpi eq, %i, %zero : i64
    %other = arith.addi %home, %i : i64
    %range = arith.remui %other, %ranges : i64
    %at = func.call @om_pool_range(%state, %range) : (!llvm.ptr, i64) -> !llvm.ptr
    %cut = func.call @om_pool_cut(%at, %front) : (!llvm.ptr, i1) -> i64
    %following = arith.addi %i, %one : i64
    scf.yield %following, %cut : i64, i64
  }}
  %some = arith.cmpi sge, %found#1, %zero : i64
  scf.if %some {{
    func.call @om_pool_chunk(%state, %found#1) : (!llvm.ptr, i64) -> ()
  }}
  return %some : i1
}}

// Whether a chunk of the job is left.
func.func private @om_pool_left(%state: !llvm.ptr) -> i1 {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %half = llvm.mlir.constant(32 : i64) : i64
  %mask = llvm.mlir.constant(4294967295 : i64) : i64
  %no = llvm.mlir.constant(false) : i1
  %ranges_at = llvm.getelementptr %state[20] : (!llvm.ptr) -> !llvm.ptr, i64
  %ranges = llvm.load %ranges_at : !llvm.ptr -> i64
  %left = scf.for %i = %zero to %ranges step %one iter_args(%before = %no) -> (i1) : i64 {{
    %at = func.call @om_pool_range(%state, %i) : (!llvm.ptr, i64) -> !llvm.ptr
    %range = llvm.load %at atomic monotonic {{alignment = 8 : i64}} : !llvm.ptr -> i64
    %begin = arith.andi %range, %mask : i64
    %end = arith.shrui %range, %half : i64
    %some = arith.cmpi ult, %begin, %end : i64
    %either = arith.ori %before, %some : i1
    scf.yield %either : i1
  }}
  return %left : i1
}}

func.func private @om_pool_chunk(%state: !llvm.ptr, %i: i64) {{
  %body_at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i64
  %context_at = llvm.getelementptr %state[17] : (!llvm.ptr) -> !llvm.ptr, i64
  %count_at = llvm.getelementptr %state[18] : (!llvm.ptr) -> !llvm.ptr, i64
  %chunk_at = llvm.getelementptr %state[19] : (!llvm.ptr) -> !llvm.ptr, i64
  %body = llvm.load %body_at : !llvm.ptr -> !llvm.ptr
  %context = llvm.load %context_at : !llvm.ptr -> !llvm.ptr
  %count = llvm.load %count_at : !llvm.ptr -> i64
  %chunk = llvm.load %chunk_at : !llvm.ptr -> i64
  %begin = arith.muli %i, %chunk : i64
  %stop = arith.addi %begin, %chunk : i64
  %end = arith.minsi %stop, %count : i64
  llvm.call %body(%context, %begin, %end) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  return
}}
"""
