"""What runs when a library is loaded and unloaded, and which level is chosen then, by asking the processor what it has."""
from __future__ import annotations

from typing import Sequence

from .features import BITS
from .support import CPUID

AVX_STATE, AVX512_STATE = 0x6, 0xE6


def constructors(functions: Sequence[str]) -> str:
    """What runs when the library is loaded."""
    return _called("llvm.global_ctors", functions)


def destructors(functions: Sequence[str]) -> str:
    """What runs when the library is unloaded, or the process ends."""
    return _called("llvm.global_dtors", functions)


def _called(name: str, functions: Sequence[str]) -> str:
    if not functions:
        return ""
    kind = "{ i32, ptr, ptr }"
    entries = ", ".join(f"{kind} {{ i32 65535, ptr @{function}, ptr null }}" for function in functions)
    return f"@{name} = appending global [{len(functions)} x {kind}] [{entries}]\n"


def choice(features: Sequence[Sequence[str]], needs_check: bool) -> str:
    """`om_level` holds the number of the best level, -1 where the processor has none; a constant where there is no question."""
    if not needs_check:
        return "@om_level = internal constant i32 0\n"
    parts = [CPUID, "@om_level = internal global i32 -1\n"]
    parts += [_test(number, names) for number, names in enumerate(features)]
    lines = ["define internal void @om_choose() {"]
    previous = "-1"
    for number in range(len(features)):
        lines += [f"  %has{number} = call i1 @om_has_{number}()", f"  %best{number} = select i1 %has{number}, i32 {number}, i32 {previous}"]
        previous = f"%best{number}"
    lines += [f"  store i32 {previous}, ptr @om_level", "  ret void", "}\n"]
    return "".join(parts) + "\n".join(lines)


def _test(number: int, names: Sequence[str]) -> str:
    """A function that is true where the processor has all features."""
    lines = [f"define internal i1 @om_has_{number}() {{", "begin:"]
    checks = [f"call i1 @om_cpuid({', '.join(f'i32 {part}' for part in BITS[name])})" for name in names]
    if any(name.startswith(("avx", "f16c", "fma", "xop")) for name in names):
        state = AVX512_STATE if any(name.startswith("avx512") for name in names) else AVX_STATE
        checks.insert(0, f"call i1 @om_saved(i32 {state})")
    for place, check in enumerate(checks):
        lines += [f"  %c{place} = {check}", f"  br i1 %c{place}, label %next{place}, label %no", f"next{place}:"]
    no = ["no:", "  ret i1 false"] if checks else []
    return "\n".join([*lines, "  ret i1 true", *no, "}\n"])
