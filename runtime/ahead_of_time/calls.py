"""The functions that run the model, as LLVM IR: one for each level that fills the table of the compiled code, and the public ones."""
from __future__ import annotations

from typing import Sequence

from ..specs import Spec
from .emitter import Function

CONTEXT_WORDS = 16
PARALLEL_FOR, POOL, THREADS, MEMORY_LIMIT = 0, 1, 2, 5
STATUS_WORDS = 4
NO_MEMORY, OLD_PROCESSOR, NO_WEIGHTS, NO_OUTPUT, OTHER_WEIGHTS = -1, -2, -3, -4, -5


def level_function(number: int, offsets: Sequence[int], inputs: Sequence[Spec], outputs: Sequence[Spec], sizes: int) -> str:
    """`om_run_level_N(pointers, sizes, context, weights, detail)`: 0 or the status of the compiled code."""
    code = Function(f"internal i32 @om_run_level_{number}(ptr %pointers, ptr %sizes, ptr %context, ptr %weights, ptr %detail)")
    first_output = len(inputs) + len(offsets)
    first_size = first_output + len(outputs) + 1
    status = first_size + sizes
    code.line(f"%table = alloca [{status + STATUS_WORDS} x i64], align 8")
    for i in range(len(inputs)):
        code.store(code.load("ptr", "%pointers", i), "%table", i, "ptr")
    for i, offset in enumerate(offsets):
        code.store(code.value(f"getelementptr i8, ptr %weights, i64 {offset}"), "%table", len(inputs) + i, "ptr")
    for i in range(len(outputs)):
        code.store(code.load("ptr", "%pointers", len(inputs) + i), "%table", first_output + i, "ptr")
    code.store("%context", "%table", first_size - 1, "ptr")
    for i in range(sizes):
        code.store(code.load("i64", "%sizes", i), "%table", first_size + i)
    for i in range(STATUS_WORDS):
        code.store("0", "%table", status + i)
    result = code.value(f"call i32 @om_level_{number}_entry(ptr %table)")
    for i, spec in enumerate(outputs):
        if spec.data_dependent:
            code.store(code.load("ptr", "%table", first_output + i), "%pointers", len(inputs) + i, "ptr")
    for i in range(sizes):
        code.store(code.load("i64", "%table", first_size + i), "%sizes", i)
    found = [code.load("i64", "%table", status + i) for i in range(STATUS_WORDS)]
    bad = code.value(f"icmp ne i32 {result}, 0")
    code.line(f"br i1 {bad}, label %refused, label %done")
    note = f"  call void @om_note(ptr %detail, i32 {result}, i64 {found[1]}, i64 {found[2]}, i64 {found[3]})"
    code.lines += ["refused:", note, "  br label %done", "done:"]
    return code.text(f"ret i32 {result}")


def run_function(levels: int, inputs: Sequence[Spec], outputs: Sequence[Spec], axes: int, slots: dict, *, parallel: bool,
                 threads: int) -> str:  # fmt: skip
    """`om_run(options, detail, tensors)`, behind all public calls."""
    count = len(inputs) + len(outputs)
    code = Function("internal i32 @om_run(ptr %options, ptr %detail, ptr %tensors)")
    for name, size in (("pointers", count), ("sizes", len(slots)), ("axes", axes), ("owned", len(outputs)), ("local", CONTEXT_WORDS)):
        code.line(f"%{name} = alloca [{max(size, 1)} x i64], align 8")
        code.line(f"call void @llvm.memset.p0.i64(ptr %{name}, i8 0, i64 {8 * max(size, 1)}, i1 false)")
    code.line("call void @om_note(ptr %detail, i32 0, i64 0, i64 0, i64 0)")
    code.line("%level = load i32, ptr @om_level")
    code.require(code.value("icmp sge i32 %level, 0"), OLD_PROCESSOR)
    code.line("%weights = call ptr @om_weights_of(ptr %options)")
    code.require(code.value("icmp ne ptr %weights, null"), NO_WEIGHTS)
    code.return_nonzero(code.value("call i32 @om_bind_inputs(ptr %tensors, ptr %pointers, ptr %sizes, ptr %axes, ptr %detail)"))
    code.line(f"%results = getelementptr ptr, ptr %tensors, i64 {len(inputs)}")
    code.line(f"%destinations = getelementptr ptr, ptr %pointers, i64 {len(inputs)}")
    bound = code.value("call i32 @om_bind_outputs(ptr %tensors, ptr %pointers, ptr %sizes, ptr %axes, ptr %owned, ptr %detail)")
    _stop_unless_zero(code, bound, "bound", len(outputs))
    _fill_context(code, parallel, threads)
    result = _switch(code, levels)
    code.lines += ["  br i1 %temporary, label %release, label %kept", "release:",
                   "  call void @om_level_0_onemlir_release(ptr %local)", "  br label %kept", "kept:"]  # fmt: skip
    _stop_unless_zero(code, result, "ran", len(outputs))
    _take_sizes(code, inputs, outputs, slots)
    code.line(f"call void @om_settle(ptr %results, ptr %destinations, ptr %owned, i64 {len(outputs)}, i1 true)")
    return code.text()


def _stop_unless_zero(code: Function, status: str, name: str, outputs: int) -> None:
    good = code.value(f"icmp eq i32 {status}, 0")
    code.lines += [
        f"  br i1 {good}, label %{name}, label %{name}_not", f"{name}_not:",
        f"  call void @om_settle(ptr %results, ptr %destinations, ptr %owned, i64 {outputs}, i1 false)", f"  ret i32 {status}", f"{name}:",
    ]  # fmt: skip


def _fill_context(code: Function, parallel: bool, threads: int) -> None:
    """The caller's workspace or one of this run; the caller's parallel_for or the pool."""
    code.line("%workspace = call ptr @om_option(ptr %options, i64 3)")
    code.line("%temporary = icmp eq ptr %workspace, null")
    code.line("%context = select i1 %temporary, ptr %local, ptr %workspace")
    code.store(str(1 << 62), "%context", MEMORY_LIMIT)
    code.line(f"%threads = call i64 @om_thread_count(ptr %options, i64 {threads})")
    code.store("%threads", "%context", THREADS)
    if not parallel:
        return
    code.lines += [
        "  %theirs = call ptr @om_option(ptr %options, i64 1)",
        "  %own = icmp eq ptr %theirs, null",
        "  %their_pool = call ptr @om_option(ptr %options, i64 2)",
        "  %handle = alloca [2 x i64], align 8",
        "  %pool_state = load ptr, ptr @om_pool",
        "  store ptr %pool_state, ptr %handle",
        "  %handle_threads = getelementptr i64, ptr %handle, i64 1",
        "  store i64 %threads, ptr %handle_threads",
        "  %loop = select i1 %own, ptr @onemlir_parallel_for, ptr %theirs",
        "  %pool = select i1 %own, ptr %handle, ptr %their_pool",
    ]
    code.store("%loop", "%context", PARALLEL_FOR, "ptr")
    code.store("%pool", "%context", POOL, "ptr")


def _switch(code: Function, levels: int) -> str:
    cases = " ".join(f"i32 {n}, label %level{n}" for n in range(1, levels))
    code.line(f"switch i32 %level, label %level0 [ {cases} ]")
    for n in range(levels):
        call = f"call i32 @om_run_level_{n}(ptr %pointers, ptr %sizes, ptr %context, ptr %weights, ptr %detail)"
        code.lines += [f"level{n}:", f"  %status{n} = {call}", "  br label %after"]
    code.lines.append("after:")
    return code.value("phi i32 " + ", ".join(f"[ %status{n}, %level{n} ]" for n in range(levels)))


def _take_sizes(code: Function, inputs: Sequence[Spec], outputs: Sequence[Spec], slots: dict) -> None:
    """Shapes of outputs that depend on data."""
    for position, spec in enumerate(outputs):
        if not spec.data_dependent:
            continue
        shape = code.load("ptr", code.load("ptr", "%results", position), 3)
        for axis, size in enumerate(spec.sizes):
            known = str(size) if isinstance(size, int) else code.load("i64", "%sizes", slots[len(inputs) + position, axis])
            code.store(known, shape, axis)


OPTIONS = r"""
; Field %index (in words) of the options, null without options.
define internal ptr @om_option(ptr %options, i64 %index) {
  %none = icmp eq ptr %options, null
  br i1 %none, label %no, label %read
no:
  ret ptr null
read:
  %at = getelementptr ptr, ptr %options, i64 %index
  %value = load ptr, ptr %at
  ret ptr %value
}

; Threads of a run: the option, else the number that was compiled in, else what was found when the library was loaded.
define internal i64 @om_thread_count(ptr %options, i64 %compiled) {
  %none = icmp eq ptr %options, null
  br i1 %none, label %default, label %read
read:
  %wanted = load i32, ptr %options
  %given = icmp sgt i32 %wanted, 0
  %wide = sext i32 %wanted to i64
  br i1 %given, label %use, label %default
use:
  ret i64 %wide
default:
  %fixed = icmp sgt i64 %compiled, 0
  br i1 %fixed, label %known, label %count
known:
  ret i64 %compiled
count:
  %n = load i64, ptr @om_default_threads
  ret i64 %n
}
"""

WEIGHTS_INSIDE = """
define internal ptr @om_weights_of(ptr %options) {{
  ret ptr @{symbol}
}}
"""

WEIGHTS_BESIDE = """
define internal ptr @om_weights_of(ptr %options) {
  %weights = call ptr @om_option(ptr %options, i64 4)
  ret ptr %weights
}
"""

# See weights.checksum.
WEIGHTS_CHECK = """
define i32 @{name}_weights_check(ptr %data, i64 %size) {{
  %null = icmp eq ptr %data, null
  %same_size = icmp eq i64 %size, {size}
  %there = xor i1 %null, true
  %start = and i1 %there, %same_size
  br i1 %start, label %next, label %bad
next:
  %i = phi i64 [ 0, %0 ], [ %after, %next ]
  %sum = phi i64 [ 0, %0 ], [ %total, %next ]
  %at = getelementptr i64, ptr %data, i64 %i
  %word = load i64, ptr %at
  %twice = shl i64 %i, 1
  %factor = or i64 %twice, 1
  %product = mul i64 %word, %factor
  %total = add i64 %sum, %product
  %after = add i64 %i, 1
  %more = icmp ult i64 %after, {words}
  br i1 %more, label %next, label %end
end:
  %same = icmp eq i64 %total, {checksum}
  br i1 %same, label %good, label %bad
good:
  ret i32 0
bad:
  ret i32 {code}
}}
"""

# The pool's page is mapped when the library is loaded; its workers start with the first loop that is long enough, and end when the
# library is unloaded.
POOL_STATE = """
@om_pool = internal global ptr null
define internal void @om_start_pool() {
  %page = call ptr @onemlir_pool_create()
  store ptr %page, ptr @om_pool
  ret void
}
define internal void @om_stop_pool() {
  %page = load ptr, ptr @om_pool
  call void @onemlir_pool_destroy(ptr %page)
  ret void
}
declare ptr @onemlir_pool_create()
declare void @onemlir_pool_destroy(ptr)
declare void @onemlir_parallel_for(ptr, ptr, ptr, i64, i64)
"""


def public_functions(name: str, inputs: int, outputs: int) -> str:
    """NAME_run and NAME_run_with, with one parameter for each tensor."""
    count = inputs + outputs
    tensors = ", ".join(f"ptr %t{i}" for i in range(count))
    packed = [f"  %tensors = alloca [{max(count, 1)} x ptr], align 8"]
    for i in range(count):
        packed += [f"  %at{i} = getelementptr ptr, ptr %tensors, i64 {i}", f"  store ptr %t{i}, ptr %at{i}"]
    body = "\n".join(packed)
    separator = ", " if tensors else ""
    return f"""
define i32 @{name}_run({tensors}) {{
{body}
  %r = call i32 @om_run(ptr null, ptr null, ptr %tensors)
  ret i32 %r
}}
define i32 @{name}_run_with(ptr %options, ptr %detail{separator}{tensors}) {{
{body}
  %r = call i32 @om_run(ptr %options, ptr %detail, ptr %tensors)
  ret i32 %r
}}
define i32 @{name}_run_tensors(ptr %options, ptr %detail, ptr %tensors) {{
  %r = call i32 @om_run(ptr %options, ptr %detail, ptr %tensors)
  ret i32 %r
}}
"""
