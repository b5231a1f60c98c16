"""What a caller can ask a library, as LLVM IR: texts of errors, names, dtypes and shapes, sizes of outputs, version; and the descriptor
that the Python loader reads."""
from __future__ import annotations

from typing import Mapping, Sequence

from ...dialect.status import Blank
from ..specs import Message, Spec
from .binding import dlpack_dtype
from .calls import NO_MEMORY, NO_OUTPUT, NO_WEIGHTS, OLD_PROCESSOR, OTHER_WEIGHTS
from .emitter import Constants

DESCRIPTOR_VERSION = 1


def fixed_text(message: Message) -> str:
    """A message without the values of a run, which stand in the detail record."""
    return message.text.format(found=Blank("<found>"), expected=Blank("<expected>"), index=Blank("<index>"))


def error_function(name: str, constants: Constants, messages: Mapping[int, Message], processors: str) -> str:
    """`const char *NAME_error(int32_t code)`."""
    numbers = range(1, max(messages, default=0) + 1)
    texts = ["success"] + [fixed_text(messages[code]) if code in messages else "unknown error" for code in numbers]
    table = constants.table("om_errors", "ptr", [constants.string(text) for text in texts])
    special = {
        NO_MEMORY: "not enough memory",
        OLD_PROCESSOR: f"this processor lacks instructions that the library was compiled for ({processors})",
        NO_WEIGHTS: "the weights of this library are in a file beside it: map the file and hand it in with the options",
        NO_OUTPUT: "the model has no output of this number", OTHER_WEIGHTS: "these are not the weights that the library was compiled with",
    }  # fmt: skip
    cases = " ".join(f"i32 {code}, label %case{-code}" for code in special)
    returned = "\n".join(f"case{-code}:\n  ret ptr {constants.string(text)}" for code, text in special.items())
    return f"""
define ptr @{name}_error(i32 %code) {{
  switch i32 %code, label %other [ {cases} ]
{returned}
other:
  %known = icmp ult i32 %code, {len(texts)}
  br i1 %known, label %look, label %unknown
look:
  %wide = zext i32 %code to i64
  %at = getelementptr ptr, ptr {table}, i64 %wide
  %text = load ptr, ptr %at
  ret ptr %text
unknown:
  ret ptr {constants.string("unknown error")}
}}
"""


def signature_functions(name: str, constants: Constants, kind: str, specs: Sequence[Spec]) -> str:
    """NAME_KIND_count, _name, _dtype, _ndim, _shape, _axis for inputs or outputs."""
    shapes = [constants.table(f"om_{kind}_shape_{i}", "i64", [str(s) if isinstance(s, int) else "-1" for s in spec.sizes])
              for i, spec in enumerate(specs)]  # fmt: skip
    axes = [constants.table(f"om_{kind}_axes_{i}", "ptr", [constants.string("" if isinstance(s, int) else str(s)) for s in spec.sizes])
            for i, spec in enumerate(specs)]  # fmt: skip
    packed = [code | bits << 8 | lanes << 16 for code, bits, lanes in (dlpack_dtype(spec.dtype) for spec in specs)]
    tables = {
        "names": constants.table(f"om_{kind}_names", "ptr", [constants.string(spec.name) for spec in specs]),
        "dtypes": constants.table(f"om_{kind}_dtypes", "i32", [str(p) for p in packed]),
        "ndims": constants.table(f"om_{kind}_ndims", "i32", [str(len(spec.sizes)) for spec in specs]),
        "shapes": constants.table(f"om_{kind}_shapes", "ptr", shapes), "axes": constants.table(f"om_{kind}_axes", "ptr", axes),
    }  # fmt: skip
    text = f"define i32 @{name}_{kind}_count() {{\n  ret i32 {len(specs)}\n}}\n"
    functions = (("name", "names", "ptr", "null"), ("dtype", "dtypes", "i32", "0"), ("ndim", "ndims", "i32", "-1"),
                 ("shape", "shapes", "ptr", "null"))  # fmt: skip
    for function, table, type, missing in functions:
        text += _lookup(f"{name}_{kind}_{function}", tables[table], type, missing, len(specs))
    return text + _axis_lookup(f"{name}_{kind}_axis", tables["axes"], tables["ndims"], len(specs))


def _lookup(function: str, table: str, type: str, missing: str, count: int) -> str:
    return f"""
define {type} @{function}(i32 %i) {{
  %known = icmp ult i32 %i, {count}
  br i1 %known, label %look, label %unknown
look:
  %wide = zext i32 %i to i64
  %at = getelementptr {type}, ptr {table}, i64 %wide
  %value = load {type}, ptr %at
  ret {type} %value
unknown:
  ret {type} {missing}
}}
"""


def _axis_lookup(function: str, axes: str, ndims: str, count: int) -> str:
    """The name or formula of a size that is not fixed, an empty text for one that is."""
    return f"""
define ptr @{function}(i32 %i, i32 %axis) {{
  %known = icmp ult i32 %i, {count}
  br i1 %known, label %measure, label %unknown
measure:
  %wide = zext i32 %i to i64
  %ndim_at = getelementptr i32, ptr {ndims}, i64 %wide
  %ndim = load i32, ptr %ndim_at
  %inside = icmp ult i32 %axis, %ndim
  br i1 %inside, label %look, label %unknown
look:
  %table_at = getelementptr ptr, ptr {axes}, i64 %wide
  %table = load ptr, ptr %table_at
  %wide_axis = zext i32 %axis to i64
  %at = getelementptr ptr, ptr %table, i64 %wide_axis
  %value = load ptr, ptr %at
  ret ptr %value
unknown:
  ret ptr null
}}
"""


def other_functions(name: str, constants: Constants, version: str, inputs: Sequence[Spec], outputs: Sequence[Spec], axes: int,
                    threads: int) -> str:  # fmt: skip
    """Sizes of outputs for given inputs, giving back outputs, workspaces, version, threads."""
    total = sum(len(spec.sizes) for spec in outputs)
    starts = [str(sum(len(spec.sizes) for spec in outputs[:i])) for i in range(len(outputs))]
    ndims = constants.table("om_output_sizes_count", "i64", [str(len(spec.sizes)) for spec in outputs])
    first = constants.table("om_output_sizes_first", "i64", starts)
    slots = max(1, sum(not isinstance(s, int) for spec in (*inputs, *outputs) for s in spec.sizes))
    return f"""
define ptr @{name}_version() {{
  ret ptr {constants.string(version)}
}}
define i32 @{name}_threads() {{
  %n = call i64 @om_thread_count(ptr null, i64 {threads})
  %r = trunc i64 %n to i32
  ret i32 %r
}}
define i32 @{name}_supported() {{
  %level = load i32, ptr @om_level
  %r = icmp sge i32 %level, 0
  %wide = zext i1 %r to i32
  ret i32 %wide
}}
define void @{name}_free(ptr %data) {{
  call void @om_level_0_onemlir_free(ptr %data)
  ret void
}}
define ptr @{name}_workspace_create() {{
  %p = call ptr @aligned_alloc(i64 64, i64 128)
  %null = icmp eq ptr %p, null
  br i1 %null, label %none, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 128, i1 false)
  br label %none
none:
  ret ptr %p
}}
define void @{name}_workspace_destroy(ptr %p) {{
  %null = icmp eq ptr %p, null
  br i1 %null, label %done, label %give
give:
  call void @om_level_0_onemlir_release(ptr %p)
  call void @free(ptr %p)
  br label %done
done:
  ret void
}}
define i32 @{name}_output_sizes(ptr %tensors, i32 %i, ptr %sizes) {{
  %pointers = alloca [{len(inputs) + len(outputs) + 1} x i64], align 8
  %slots = alloca [{slots} x i64], align 8
  %axes = alloca [{max(axes, 1)} x i64], align 8
  %all = alloca [{max(total, 1)} x i64], align 8
  %known = icmp ult i32 %i, {len(outputs)}
  br i1 %known, label %bind, label %unknown
unknown:
  ret i32 {NO_OUTPUT}
bind:
  %bound = call i32 @om_bind_inputs(ptr %tensors, ptr %pointers, ptr %slots, ptr %axes, ptr null)
  %good = icmp eq i32 %bound, 0
  br i1 %good, label %compute, label %refused
refused:
  ret i32 %bound
compute:
  %status = call i32 @om_output_sizes(ptr %axes, ptr %all, ptr null)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %copy, label %negative
negative:
  ret i32 %status
copy:
  %wide = zext i32 %i to i64
  %count_at = getelementptr i64, ptr {ndims}, i64 %wide
  %count = load i64, ptr %count_at
  %first_at = getelementptr i64, ptr {first}, i64 %wide
  %first = load i64, ptr %first_at
  %from = getelementptr i64, ptr %all, i64 %first
  %bytes = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %sizes, ptr %from, i64 %bytes, i1 false)
  ret i32 0
}}
"""


def descriptor(constants: Constants, metadata: str, levels: int, parallel: bool, weights: str | None) -> str:
    """`onemlir_library`: what the Python loader needs. Weak, so that several models can be linked into one program."""
    text = constants.string(metadata)
    fields = [f"i64 {DESCRIPTOR_VERSION}", f"ptr {text}", "ptr @om_level", f"ptr @{weights}" if weights else "ptr null",
              "ptr @om_level_0_onemlir_free", "ptr @om_level_0_onemlir_release",
              "ptr @onemlir_parallel_for" if parallel else "ptr null", "ptr @om_pool" if parallel else "ptr null"]  # fmt: skip
    fields += [f"ptr @om_level_{n}_entry" for n in range(levels)]
    kinds = ", ".join(field.split(" ")[0] for field in fields)
    return f"@onemlir_library = weak constant {{ {kinds} }} {{ {', '.join(fields)} }}\n"
