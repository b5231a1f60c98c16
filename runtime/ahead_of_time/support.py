"""LLVM IR that every library has: checks of one tensor, memory of outputs, `cpuid`.

A DLTensor is {data, device type and number, axes, dtype, shape, strides, byte offset}; see dlpack.h 1.0. The detail record is
{i32 code, i64 found, i64 expected, i64 index}.
"""
from __future__ import annotations

CHECKS = r"""
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.ctpop.i64(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @om_note(ptr %detail, i32 %code, i64 %found, i64 %expected, i64 %index) {
  %some = icmp ne ptr %detail, null
  br i1 %some, label %write, label %done
write:
  %wide = zext i32 %code to i64
  store i64 %wide, ptr %detail
  %f = getelementptr i64, ptr %detail, i64 1
  %e = getelementptr i64, ptr %detail, i64 2
  %i = getelementptr i64, ptr %detail, i64 3
  store i64 %found, ptr %f
  store i64 %expected, ptr %e
  store i64 %index, ptr %i
  br label %done
done:
  ret void
}

define internal i64 @om_floordiv(i64 %a, i64 %b) {
  %zero = icmp eq i64 %b, 0
  br i1 %zero, label %none, label %divide
none:
  ret i64 0
divide:
  %q = sdiv i64 %a, %b
  %r = srem i64 %a, %b
  %rest = icmp ne i64 %r, 0
  %x = xor i64 %r, %b
  %differ = icmp slt i64 %x, 0
  %less = and i1 %rest, %differ
  %one = zext i1 %less to i64
  %floor = sub i64 %q, %one
  ret i64 %floor
}

define internal i64 @om_mod(i64 %a, i64 %b) {
  %q = call i64 @om_floordiv(i64 %a, i64 %b)
  %whole = mul i64 %q, %b
  %rest = sub i64 %a, %whole
  %zero = icmp eq i64 %b, 0
  %mod = select i1 %zero, i64 0, i64 %rest
  ret i64 %mod
}

define internal i64 @om_broadcast(i64 %a, i64 %b) {
  %one = icmp eq i64 %a, 1
  %r = select i1 %one, i64 %b, i64 %a
  ret i64 %r
}

define internal i1 @om_without_data(ptr %tensor) {
  %null = icmp eq ptr %tensor, null
  br i1 %null, label %no, label %read
no:
  ret i1 false
read:
  %data = load ptr, ptr %tensor
  %r = icmp eq ptr %data, null
  ret i1 %r
}

; Device, axes and dtype; the codes from %first are in the order of binding.REFUSALS.
define internal i32 @om_check_described(ptr %tensor, i32 %axes, i32 %dtype, i32 %first, ptr %detail) {
  %null = icmp eq ptr %tensor, null
  br i1 %null, label %bad0, label %device
device:
  %device_at = getelementptr i8, ptr %tensor, i64 8
  %device_type = load i32, ptr %device_at
  %cpu = icmp eq i32 %device_type, 1
  br i1 %cpu, label %count, label %bad1
count:
  %axes_at = getelementptr i8, ptr %tensor, i64 16
  %found_axes = load i32, ptr %axes_at
  %same_axes = icmp eq i32 %found_axes, %axes
  br i1 %same_axes, label %kind, label %bad2
kind:
  %dtype_at = getelementptr i8, ptr %tensor, i64 20
  %found_dtype = load i32, ptr %dtype_at
  %same_dtype = icmp eq i32 %found_dtype, %dtype
  br i1 %same_dtype, label %shape, label %bad3
shape:
  %shape_at = getelementptr i8, ptr %tensor, i64 24
  %shape_pointer = load ptr, ptr %shape_at
  %no_shape = icmp eq ptr %shape_pointer, null
  %some_axes = icmp ne i32 %axes, 0
  %missing = and i1 %no_shape, %some_axes
  br i1 %missing, label %bad0, label %good
good:
  ret i32 0
bad0:
  call void @om_note(ptr %detail, i32 %first, i64 0, i64 0, i64 0)
  ret i32 %first
bad1:
  %code1 = add i32 %first, 1
  %wide_device = zext i32 %device_type to i64
  call void @om_note(ptr %detail, i32 %code1, i64 %wide_device, i64 1, i64 0)
  ret i32 %code1
bad2:
  %code2 = add i32 %first, 2
  %wide_found = sext i32 %found_axes to i64
  %wide_axes = sext i32 %axes to i64
  call void @om_note(ptr %detail, i32 %code2, i64 %wide_found, i64 %wide_axes, i64 0)
  ret i32 %code2
bad3:
  %code3 = add i32 %first, 3
  %wide_dtype = zext i32 %found_dtype to i64
  %wide_wanted = zext i32 %dtype to i64
  call void @om_note(ptr %detail, i32 %code3, i64 %wide_dtype, i64 %wide_wanted, i64 0)
  ret i32 %code3
}

; All checks of a tensor that has data, whose address is stored at %place.
define internal i32 @om_check_tensor(ptr %tensor, i32 %axes, i32 %dtype, i64 %item, i32 %first, ptr %place, ptr %detail) {
  %status = call i32 @om_check_described(ptr %tensor, i32 %axes, i32 %dtype, i32 %first, ptr %detail)
  %fits = icmp eq i32 %status, 0
  br i1 %fits, label %sizes, label %refused
refused:
  ret i32 %status
sizes:
  %shape_at = getelementptr i8, ptr %tensor, i64 24
  %shape = load ptr, ptr %shape_at
  %strides_at = getelementptr i8, ptr %tensor, i64 32
  %strides = load ptr, ptr %strides_at
  %strided = icmp ne ptr %strides, null
  %last = sext i32 %axes to i64
  br label %next
next:
  %axis_after = phi i64 [ %last, %sizes ], [ %axis, %step ]
  %count = phi i64 [ 1, %sizes ], [ %product, %step ]
  %dense = phi i1 [ true, %sizes ], [ %still, %step ]
  %more = icmp sgt i64 %axis_after, 0
  br i1 %more, label %measure, label %whole
measure:
  %axis = sub i64 %axis_after, 1
  %size_at = getelementptr i64, ptr %shape, i64 %axis
  %size = load i64, ptr %size_at
  %negative = icmp slt i64 %size, 0
  br i1 %negative, label %bad6, label %stride
stride:
  br i1 %strided, label %compare, label %step
compare:
  %stride_at = getelementptr i64, ptr %strides, i64 %axis
  %found = load i64, ptr %stride_at
  %equal = icmp eq i64 %found, %count
  %single = icmp eq i64 %size, 1
  %either = or i1 %equal, %single
  br label %step
step:
  %row_major = phi i1 [ true, %stride ], [ %either, %compare ]
  %still = and i1 %dense, %row_major
  %product = mul i64 %count, %size
  br label %next
whole:
  %empty = icmp eq i64 %count, 0
  %contiguous = or i1 %empty, %dense
  br i1 %contiguous, label %data, label %bad4
data:
  %base = load ptr, ptr %tensor
  %offset_at = getelementptr i8, ptr %tensor, i64 40
  %offset = load i64, ptr %offset_at
  %begin = getelementptr i8, ptr %base, i64 %offset
  %address = ptrtoint ptr %begin to i64
  %mask = sub i64 %item, 1
  %low = and i64 %address, %mask
  %aligned = icmp eq i64 %low, 0
  %there = icmp ne ptr %base, null
  %usable = and i1 %aligned, %there
  %fine = or i1 %usable, %empty
  br i1 %fine, label %good, label %bad5
good:
  store ptr %begin, ptr %place
  ret i32 0
bad4:
  %code4 = add i32 %first, 4
  call void @om_note(ptr %detail, i32 %code4, i64 0, i64 0, i64 0)
  ret i32 %code4
bad5:
  %code5 = add i32 %first, 5
  call void @om_note(ptr %detail, i32 %code5, i64 %low, i64 0, i64 0)
  ret i32 %code5
bad6:
  %code6 = add i32 %first, 6
  call void @om_note(ptr %detail, i32 %code6, i64 %size, i64 0, i64 %axis)
  ret i32 %code6
}

; Memory for an output with the same head as that of compiled code has, so that one function gives back both.
define internal ptr @om_output_memory(i64 %bytes) {
  %large = icmp ugt i64 %bytes, 4611686018427387904
  br i1 %large, label %none, label %take
none:
  ret ptr null
take:
  %more = add i64 %bytes, 191
  %rounded = and i64 %more, -64
  %head = call ptr @aligned_alloc(i64 64, i64 %rounded)
  %null = icmp eq ptr %head, null
  br i1 %null, label %none, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %head, i8 0, i64 64, i1 false)
  %data = getelementptr i8, ptr %head, i64 64
  ret ptr %data
}

; After a run: give back the outputs that it has allocated, or tell the caller where they are.
define internal void @om_settle(ptr %tensors, ptr %pointers, ptr %owned, i64 %count, i1 %success) {
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %after, %done ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %look, label %end
look:
  %flag_at = getelementptr i64, ptr %owned, i64 %i
  %flag = load i64, ptr %flag_at
  %mine = icmp ne i64 %flag, 0
  br i1 %mine, label %decide, label %done
decide:
  %pointer_at = getelementptr ptr, ptr %pointers, i64 %i
  %pointer = load ptr, ptr %pointer_at
  br i1 %success, label %hand_over, label %give_back
give_back:
  call void @om_level_0_onemlir_free(ptr %pointer)
  br label %done
hand_over:
  %tensor_at = getelementptr ptr, ptr %tensors, i64 %i
  %tensor = load ptr, ptr %tensor_at
  %offset_at = getelementptr i8, ptr %tensor, i64 40
  %strides_at = getelementptr i8, ptr %tensor, i64 32
  store ptr %pointer, ptr %tensor
  store i64 0, ptr %offset_at
  store ptr null, ptr %strides_at
  br label %done
done:
  %after = add i64 %i, 1
  br label %next
end:
  ret void
}
"""

_ASK = 'asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"'
CPUID = r"""
; One bit of what `cpuid` says; false where the leaf does not exist.
define internal i1 @om_cpuid(i32 %leaf, i32 %subleaf, i32 %register, i32 %bit) {
  %group = and i32 %leaf, -2147483648
  %top = call { i32, i32, i32, i32 } ASK(i32 %group, i32 0)
  %most = extractvalue { i32, i32, i32, i32 } %top, 0
  %there = icmp uge i32 %most, %leaf
  br i1 %there, label %ask, label %no
no:
  ret i1 false
ask:
  %all = call { i32, i32, i32, i32 } ASK(i32 %leaf, i32 %subleaf)
  %words = alloca { i32, i32, i32, i32 }, align 4
  store { i32, i32, i32, i32 } %all, ptr %words
  %at = getelementptr i32, ptr %words, i32 %register
  %word = load i32, ptr %at
  %shifted = lshr i32 %word, %bit
  %r = trunc i32 %shifted to i1
  ret i1 %r
}

; The system saves these registers of the vector units (XCR0).
define internal i1 @om_saved(i32 %mask) {
  %has = call i1 @om_cpuid(i32 1, i32 0, i32 2, i32 27)
  br i1 %has, label %read, label %no
no:
  ret i1 false
read:
  %pair = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)
  %low = extractvalue { i32, i32 } %pair, 0
  %set = and i32 %low, %mask
  %r = icmp eq i32 %set, %mask
  ret i1 %r
}
""".replace("ASK", _ASK)
