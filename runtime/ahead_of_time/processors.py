"""How many threads a run uses unless somebody says, as LLVM IR: found once, when the library is loaded.

In this order: the number that was compiled in; ONEMLIR_NUM_THREADS or OMP_NUM_THREADS; the processors that the thread may run on, at most
the quota of its control group. `runtime.processors` is the same in Python.
"""
from __future__ import annotations

from .machines import Machine

ENVIRONMENT = ("ONEMLIR_NUM_THREADS", "OMP_NUM_THREADS")

_GIVEN = r"""
declare ptr @getenv(ptr)
declare i64 @strtol(ptr, ptr, i32)
@om_default_threads = internal global i64 0
@om_threads_name_0 = private constant [20 x i8] c"ONEMLIR_NUM_THREADS\00"
@om_threads_name_1 = private constant [16 x i8] c"OMP_NUM_THREADS\00"

; The number in an environment variable, 0 without.
define internal i64 @om_environment(ptr %name) {
  %text = call ptr @getenv(ptr %name)
  %unset = icmp eq ptr %text, null
  br i1 %unset, label %none, label %read
none:
  ret i64 0
read:
  %n = call i64 @strtol(ptr %text, ptr null, i32 10)
  %sane = icmp ult i64 %n, 65536
  %r = select i1 %sane, i64 %n, i64 0
  ret i64 %r
}

define internal void @om_count_threads() {
  %first = call i64 @om_environment(ptr @om_threads_name_0)
  %second = call i64 @om_environment(ptr @om_threads_name_1)
  %any = icmp ne i64 %first, 0
  %given = select i1 %any, i64 %first, i64 %second
  %some = icmp ne i64 %given, 0
  br i1 %some, label %keep, label %count
count:
  %n = call i64 @om_processors()
  br label %keep
keep:
  %r = phi i64 [ %given, %0 ], [ %n, %count ]
  store i64 %r, ptr @om_default_threads
  ret void
}
"""

_LINUX = r"""
declare i32 @sched_getaffinity(i32, i64, ptr)
declare ptr @fopen(ptr, ptr)
declare i32 @fclose(ptr)
declare i32 @fscanf(ptr, ptr, ...)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare ptr @strrchr(ptr, i32)
@om_read_mode = private constant [2 x i8] c"r\00"
@om_group_file = private constant [18 x i8] c"/proc/self/cgroup\00"
@om_group_format = private constant [10 x i8] c"0::%4000s\00"
@om_quota_file = private constant [25 x i8] c"/sys/fs/cgroup%s/cpu.max\00"
@om_quota_format = private constant [10 x i8] c"%lld %lld\00"
@om_old_quota_file = private constant [36 x i8] c"/sys/fs/cgroup/cpu/cpu.cfs_quota_us\00"
@om_old_period_file = private constant [37 x i8] c"/sys/fs/cgroup/cpu/cpu.cfs_period_us\00"

; Read up to two values from a file; how many there were.
define internal i32 @om_scan(ptr %path, ptr %format, ptr %a, ptr %b) {
  %file = call ptr @fopen(ptr %path, ptr @om_read_mode)
  %none = icmp eq ptr %file, null
  br i1 %none, label %no, label %read
no:
  ret i32 0
read:
  %n = call i32 (ptr, ptr, ...) @fscanf(ptr %file, ptr %format, ptr %a, ptr %b)
  %c = call i32 @fclose(ptr %file)
  ret i32 %n
}

; The lesser of %limit and the processors' time that a quota allows in its period, rounded up.
define internal i64 @om_with_quota(i64 %limit, i64 %quota, i64 %period) {
  %some = icmp sgt i64 %quota, 0
  %real = icmp sgt i64 %period, 0
  %both = and i1 %some, %real
  br i1 %both, label %apply, label %keep
apply:
  %sum = add i64 %quota, %period
  %less = sub i64 %sum, 1
  %allowed = sdiv i64 %less, %period
  %least = call i64 @llvm.smin.i64(i64 %limit, i64 %allowed)
  ret i64 %least
keep:
  ret i64 %limit
}

; The quotas of this process's control group and of those around it.
define internal i64 @om_quota(i64 %most) {
  %group = alloca [4004 x i8]
  %path = alloca [4100 x i8]
  %quota = alloca i64
  %period = alloca i64
  store i8 0, ptr %group
  %found = call i32 @om_scan(ptr @om_group_file, ptr @om_group_format, ptr %group, ptr null)
  br label %next
next:
  %limit = phi i64 [ %most, %0 ], [ %lower, %up ]
  %n = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %path, i64 4100, ptr @om_quota_file, ptr %group)
  store i64 0, ptr %quota
  store i64 0, ptr %period
  %read = call i32 @om_scan(ptr %path, ptr @om_quota_format, ptr %quota, ptr %period)
  %q = load i64, ptr %quota
  %p = load i64, ptr %period
  %lower = call i64 @om_with_quota(i64 %limit, i64 %q, i64 %p)
  %slash = call ptr @strrchr(ptr %group, i32 47)
  %last = icmp eq ptr %slash, null
  br i1 %last, label %old, label %up
up:
  store i8 0, ptr %slash
  br label %next
old:
  store i64 0, ptr %quota
  store i64 0, ptr %period
  %a = call i32 @om_scan(ptr @om_old_quota_file, ptr @om_quota_format, ptr %quota, ptr %period)
  %b = call i32 @om_scan(ptr @om_old_period_file, ptr @om_quota_format, ptr %period, ptr %path)
  %old_quota = load i64, ptr %quota
  %old_period = load i64, ptr %period
  %r = call i64 @om_with_quota(i64 %lower, i64 %old_quota, i64 %old_period)
  ret i64 %r
}

; Processors that the calling thread may run on, within the quota.
define internal i64 @om_processors() {
  %mask = alloca [128 x i64], align 8
  call void @llvm.memset.p0.i64(ptr %mask, i8 0, i64 1024, i1 false)
  %r = call i32 @sched_getaffinity(i32 0, i64 1024, ptr %mask)
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %after, %next ]
  %sum = phi i64 [ 0, %0 ], [ %total, %next ]
  %at = getelementptr i64, ptr %mask, i64 %i
  %word = load i64, ptr %at
  %bits = call i64 @llvm.ctpop.i64(i64 %word)
  %total = add i64 %sum, %bits
  %after = add i64 %i, 1
  %more = icmp slt i64 %after, 128
  br i1 %more, label %next, label %end
end:
  %allowed = call i64 @om_quota(i64 %total)
  %some = call i64 @llvm.smax.i64(i64 %allowed, i64 1)
  ret i64 %some
}
"""

_MACOS = r"""
declare i64 @sysconf(i32)
define internal i64 @om_processors() {
  %n = call i64 @sysconf(i32 58)
  %some = call i64 @llvm.smax.i64(i64 %n, i64 1)
  ret i64 %some
}
"""


def thread_count(machine: Machine) -> str:
    """`om_count_threads`, which is to run when the library is loaded, sets `om_default_threads`."""
    return _GIVEN + (_MACOS if machine.system == "darwin" else _LINUX)
